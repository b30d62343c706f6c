/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products of MATVCRS with sparse and dense matrices, and with interpolations of several fields, against MATAIJ.\n\n";

#include "vcrstest.h"
#include <petscdmda.h>

static PetscInt comparisons = 0;

/* C = op(A, P) has the entries of D to within rounding */
static PetscErrorCode TestNear(Mat C, Mat D, const char where[], const char what[])
{
  Mat       X, Y;
  PetscReal difference, norm;

  PetscFunctionBegin;
  PetscCall(MatConvert(C, MATDENSE, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatConvert(D, MATDENSE, MAT_INITIAL_MATRIX, &Y));
  PetscCall(MatNorm(Y, NORM_FROBENIUS, &norm));
  PetscCall(MatAXPY(X, -1.0, Y, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(X, NORM_FROBENIUS, &difference));
  PetscCall(TestIsRounding(difference, norm, where, what, &failures));
  comparisons++;
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense matrix of random entries whose rows are distributed as x */
static PetscErrorCode TestCreateDense(Mat B, PetscBool rowspace, PetscInt n, MatType type, Mat *X)
{
  PetscInt m, local, begin, end;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(B, rowspace ? &m : NULL, rowspace ? NULL : &m));
  local = PETSC_DECIDE;
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, m, local, PETSC_DECIDE, n, NULL, X));
  PetscCall(MatGetOwnershipRange(*X, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < n; j++) PetscCall(MatSetValue(*X, i, j, TestScalar(60, (uint64_t)i, (uint64_t)j), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*X, MAT_FINAL_ASSEMBLY));
  if (type) PetscCall(MatConvert(*X, type, MAT_INPLACE_MATRIX, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product of A and X equals the product of the twins B and Y, also when computed again into the same result */
typedef PetscErrorCode (*TestProductFunction)(Mat, Mat, MatReuse, PetscReal, Mat *);
static PetscErrorCode TestProduct(TestProductFunction product, Mat A, Mat X, Mat B, Mat Y, const char where[], const char what[])
{
  Mat  C, D;
  char again[64];

  PetscFunctionBegin;
  PetscCall((*product)(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall((*product)(B, Y, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestNear(C, D, where, what));
  PetscCall((*product)(A, X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(PetscSNPrintf(again, sizeof(again), "%s again", what));
  PetscCall(TestNear(C, D, where, again));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several right-hand sides: by MatMatMult(), by MatProduct with A^T, into an existing result, and after a change of
   A */
static PetscErrorCode TestDense(Mat A, Mat B, PetscInt n, MatType type, const char where[])
{
  Mat X, Y, C, D;

  PetscFunctionBegin;
  PetscCall(TestCreateDense(B, PETSC_FALSE, n, type, &X));
  PetscCall(TestCreateDense(B, PETSC_FALSE, n, NULL, &Y));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(B, Y, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestNear(C, D, where, "A X"));
  PetscCall(MatScale(X, 2.0));
  PetscCall(MatScale(Y, 2.0));
  PetscCall(MatMatMult(A, X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(B, Y, MAT_REUSE_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestNear(C, D, where, "A X again"));
  PetscCall(MatScale(A, 0.5));
  PetscCall(MatScale(B, 0.5));
  PetscCall(MatMatMult(A, X, MAT_REUSE_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMult(B, Y, MAT_REUSE_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestNear(C, D, where, "A X after a change of A"));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));

  PetscCall(TestCreateDense(B, PETSC_TRUE, n, type, &X));
  PetscCall(TestCreateDense(B, PETSC_TRUE, n, NULL, &Y));
  PetscCall(TestProduct(MatTransposeMatMult, A, X, B, Y, where, "A^T X"));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sparse products of A and P, of which each may be vcrs or aij; Q are the same in aij */
static PetscErrorCode TestSparse(Mat A, Mat P, Mat B, Mat Q, const char where[])
{
  Mat C, D, PT, QT, R, S;

  PetscFunctionBegin;
  PetscCall(TestProduct(MatMatMult, A, P, B, Q, where, "A P"));
  PetscCall(TestProduct(MatTransposeMatMult, A, P, B, Q, where, "A^T P"));
  PetscCall(TestProduct(MatPtAP, A, P, B, Q, where, "P^T A P"));

  PetscCall(MatTranspose(P, MAT_INITIAL_MATRIX, &PT));
  PetscCall(MatTranspose(Q, MAT_INITIAL_MATRIX, &QT));
  PetscCall(MatMatMatMult(PT, A, P, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &C));
  PetscCall(MatMatMatMult(QT, B, Q, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &D));
  PetscCall(TestNear(C, D, where, "R A P"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));

  PetscCall(MatRARt(A, PT, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &R));
  PetscCall(MatRARt(B, QT, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &S));
  PetscCall(TestNear(R, S, where, "R A R^T"));
  PetscCall(MatDestroy(&R));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&PT));
  PetscCall(MatDestroy(&QT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The Galerkin product with a DMDA's interpolation, which is MATMAIJ for several fields */
static PetscErrorCode TestFields(PetscInt dof, PetscBool dropped, const char where[])
{
  DM       coarse, fine;
  Mat      A, B, P, D;
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(
    DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 5, 5, PETSC_DECIDE, PETSC_DECIDE, dof, 1, NULL, NULL, &coarse));
  PetscCall(DMSetUp(coarse));
  PetscCall(DMRefine(coarse, PETSC_COMM_WORLD, &fine));
  PetscCall(DMSetMatType(fine, MATVCRS));
  PetscCall(DMCreateMatrix(fine, &A));
  PetscCall(DMCreateInterpolation(coarse, fine, &P, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));

  /* every place of the pattern gets a different value */
  PetscCall(DMSetMatType(fine, MATAIJ));
  PetscCall(DMCreateMatrix(fine, &B));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &D));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt        len;
    const PetscInt *cols;

    PetscCall(MatGetRow(D, i, &len, &cols, NULL));
    for (PetscInt k = 0; k < len; k++) {
      PetscCall(MatSetValue(A, i, cols[k], TestScalar(70, (uint64_t)i, (uint64_t)cols[k]), INSERT_VALUES));
      PetscCall(MatSetValue(B, i, cols[k], TestScalar(70, (uint64_t)i, (uint64_t)cols[k]), INSERT_VALUES));
    }
    PetscCall(MatRestoreRow(D, i, NULL, &cols, NULL));
  }
  PetscCall(MatDestroy(&D));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  if (dropped) PetscCall(MatVCRSDropAIJ(A));

  PetscCall(TestProduct(MatPtAP, A, P, B, P, where, "P^T A P"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&P));
  PetscCall(DMDestroy(&coarse));
  PetscCall(DMDestroy(&fine));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatAXPY() changes the blocks of a parallel matrix, and does not raise the state of the matrix */
static PetscErrorCode TestChanged(const char dense[], const char where[])
{
  Mat matrix[2], other, X[2], C[2];

  PetscFunctionBegin;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_FEM, 0, &matrix[1]));
  PetscCall(MatConvert(matrix[1], MATVCRS, MAT_INITIAL_MATRIX, &matrix[0]));
  for (int k = 0; k < 2; k++) {
    PetscCall(TestCreateDense(matrix[1], PETSC_FALSE, 3, k ? NULL : dense, &X[k]));
    PetscCall(MatMatMult(matrix[k], X[k], MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C[k]));
  }
  PetscCall(TestNear(C[0], C[1], where, "A X"));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDuplicate(matrix[k], MAT_COPY_VALUES, &other));
    PetscCall(MatAXPY(matrix[k], 2.0, other, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&other));
    PetscCall(MatMatMult(matrix[k], X[k], MAT_REUSE_MATRIX, PETSC_DETERMINE, &C[k]));
  }
  PetscCall(TestNear(C[0], C[1], where, "A X after MatAXPY()"));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatDestroy(&matrix[k]));
    PetscCall(MatDestroy(&C[k]));
    PetscCall(MatDestroy(&X[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind kinds[]   = {TEST_STAR7, TEST_FEM, TEST_WIDE, TEST_LONGROWS};
  char                  dense[64] = "";
  PetscBool             set;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dense", dense, sizeof(dense), &set));

  /* dense: no, one, few, and many columns; arrays kept and freed; every layout */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat A, B;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kinds[k], 0, &B));
    for (int layout = MATVCRS_LAYOUT_AUTO; layout <= MATVCRS_LAYOUT_L3; layout++) {
      char where[128];

      if (layout == MATVCRS_LAYOUT_L2 && !TestKindIsFixedPoint(kinds[k])) continue;
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatVCRSSetLayout(A, (MatVCRSLayout)layout));
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s in layout %s", TestKindNames[kinds[k]], MatVCRSLayouts[layout]));
      PetscCall(TestDense(A, B, layout == MATVCRS_LAYOUT_AUTO ? 1 : 5, set ? dense : NULL, where));
      PetscCall(MatVCRSDropAIJ(A));
      PetscCall(PetscStrlcat(where, ", AIJ dropped", sizeof(where)));
      PetscCall(TestDense(A, B, 11, set ? dense : NULL, where));
      PetscCall(MatDestroy(&A));
    }
    PetscCall(MatDestroy(&B));
  }

  PetscCall(TestChanged(set ? dense : NULL, "changed"));

  /* sparse: both factors compressed, or one with an aij partner; P is square here, and an interpolation below */
  for (int mix = 0; mix < 5; mix++) {
    static const char *const names[] = {"vcrs vcrs", "vcrs aij", "aij vcrs", "vcrs vcrs, AIJ dropped", "vcrs aij, AIJ dropped"};
    Mat                      A, P, B, Q;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_FEM, 0, &B));
    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_FEM, 1, &Q));
    PetscCall(MatConvert(B, mix == 2 ? MATAIJ : MATVCRS, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatConvert(Q, mix == 1 || mix == 4 ? MATAIJ : MATVCRS, MAT_INITIAL_MATRIX, &P));
    if (mix >= 3) PetscCall(MatVCRSDropAIJ(A));
    if (mix == 3) PetscCall(MatVCRSDropAIJ(P));
    PetscCall(TestSparse(A, P, B, Q, names[mix]));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&Q));
  }

  PetscCall(TestFields(1, PETSC_FALSE, "one field"));
  PetscCall(TestFields(3, PETSC_FALSE, "three fields"));
  PetscCall(TestFields(3, PETSC_TRUE, "three fields, AIJ dropped"));
  return TestReport("%" PetscInt_FMT " products are as AIJ's\n", comparisons);
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/matproducts_1.out

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -dense densecuda
    output_file: output/matproducts_1.out

TEST*/
