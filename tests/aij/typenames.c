/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PETSc functions which use a MATAIJ by type name or by array addresses, with the matrix types derived from MATAIJ.\n\
  -type <vcrs,hybmgpu> - the type; with the usual options of the type\n\n";

#include <tests/failures.h>
#include <tests/vcrs/vcrstest.h>
#include <petscpc.h>

/* z and y are the same but for rounding; z is changed */
static PetscErrorCode TestNear(Vec z, Vec y, const char what[])
{
  PetscReal error, norm;

  PetscFunctionBeginUser;
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &error));
  if (WRONG(!(error <= 100 * PETSC_MACHINE_EPSILON * norm))) FAIL("%s: results differ by %g of %g", what, (double)error, (double)norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x of both */
static PetscErrorCode TestProduct(Mat A, Mat B, const char what[])
{
  Vec x, y, z;

  PetscFunctionBeginUser;
  PetscCall(TestCreateVec(B, PETSC_FALSE, NULL, 3, &x));
  PetscCall(TestCreateVec(B, PETSC_TRUE, NULL, 4, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(MatMult(A, x, z));
  PetscCall(MatMult(B, x, y));
  PetscCall(TestNear(z, y, what));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All rows and columns, extracted again after the values have changed */
static PetscErrorCode TestSubmatrices(Mat A, Mat B)
{
  Mat     *subA, *subB;
  PetscInt m, n;
  IS       is[2];

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(B, &m, &n));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, m, 0, 1, &is[0]));
  PetscCall(ISCreateStride(PETSC_COMM_SELF, n, 0, 1, &is[1]));
  PetscCall(MatCreateSubMatrices(A, 1, &is[0], &is[1], MAT_INITIAL_MATRIX, &subA));
  PetscCall(MatCreateSubMatrices(B, 1, &is[0], &is[1], MAT_INITIAL_MATRIX, &subB));
  PetscCall(TestProduct(subA[0], subB[0], "all rows and columns"));
  PetscCall(MatScale(A, 2.0));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatCreateSubMatrices(A, 1, &is[0], &is[1], MAT_REUSE_MATRIX, &subA));
  PetscCall(MatCreateSubMatrices(B, 1, &is[0], &is[1], MAT_REUSE_MATRIX, &subB));
  PetscCall(TestProduct(subA[0], subB[0], "all rows and columns again"));
  PetscCall(MatDestroySubMatrices(1, &subA));
  PetscCall(MatDestroySubMatrices(1, &subB));
  PetscCall(ISDestroy(&is[0]));
  PetscCall(ISDestroy(&is[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A preconditioner which keeps an address inside of the matrix is set up before the first product. A MATVCRS may free
   its arrays at the first product. The AIJ matrix is new each time: in PETSc 3.24 and 3.25 it keeps the inverses of its
   first values.
*/
static PetscErrorCode TestBlockInverses(Mat A, Mat B)
{
  Mat both[2] = {A, B}, fresh;
  Vec x, y, z[2];
  PC  pc[2];

  PetscFunctionBeginUser;
  PetscCall(TestCreateVec(B, PETSC_FALSE, NULL, 3, &x));
  PetscCall(VecDuplicate(x, &y));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDuplicate(x, &z[k]));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc[k]));
    PetscCall(PCSetType(pc[k], PCPBJACOBI));
    PetscCall(PCSetOperators(pc[k], both[k], both[k]));
  }
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < 2; k++) {
      if (round) PetscCall(MatScale(both[k], 3.0));
      if (k) {
        PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &fresh));
        PetscCall(PCSetOperators(pc[k], fresh, fresh));
        PetscCall(MatDestroy(&fresh));
      }
      PetscCall(PCSetUp(pc[k]));
      PetscCall(MatMult(both[k], x, y));
      PetscCall(PCApply(pc[k], x, z[k]));
    }
    PetscCall(TestNear(z[0], z[1], round ? "pbjacobi, after the values have changed" : "pbjacobi"));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(VecDestroy(&z[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Conversion to MATSBAIJ: refused if AIJ refuses, otherwise the same result */
static PetscErrorCode TestSymmetric(Mat A, Mat B)
{
  PetscErrorCode ierr[2];
  Mat            both[2] = {A, B}, S[2] = {NULL, NULL};

  PetscFunctionBeginUser;
  for (int known = 0; known < 2; known++) {
    for (int k = 0; k < 2; k++) {
      if (known) PetscCall(MatSetOption(both[k], MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
      ierr[k] = MatConvert(both[k], MATSBAIJ, MAT_INITIAL_MATRIX, &S[k]);
      PetscCall(PetscPopErrorHandler());
    }
    if (WRONG(!ierr[0] != !ierr[1] || (known && ierr[1]))) FAIL("to MATSBAIJ: error %d, from AIJ %d", (int)ierr[0], (int)ierr[1]);
    if (!ierr[0] && !ierr[1]) PetscCall(TestProduct(S[0], S[1], "MATSBAIJ"));
    for (int k = 0; k < 2; k++) {
      if (!ierr[k]) PetscCall(MatDestroy(&S[k]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A dense matrix with mostly zeros, which are not stored */
static PetscErrorCode TestDense(Mat B, MatType type)
{
  static const MatReuse reuse[] = {MAT_INITIAL_MATRIX, MAT_REUSE_MATRIX, MAT_INPLACE_MATRIX};
  Mat                   D, A = NULL;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(B, MATDENSE, MAT_INITIAL_MATRIX, &D));
  for (size_t r = 0; r < PETSC_STATIC_ARRAY_LENGTH(reuse); r++) {
    MatInfo info, want;

    if (reuse[r] == MAT_INPLACE_MATRIX) {
      PetscCall(MatDestroy(&A));
      PetscCall(MatDuplicate(D, MAT_COPY_VALUES, &A));
    }
    if (reuse[r] == MAT_REUSE_MATRIX) PetscCall(MatScale(D, 0.5));
    PetscCall(MatConvert(reuse[r] == MAT_INPLACE_MATRIX ? A : D, type, reuse[r], &A));
    PetscCall(TestProduct(A, D, "from MATDENSE"));
    PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
    PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &want));
    if (WRONG(info.nz_used != want.nz_used)) FAIL("from MATDENSE, %d: %g entries, not %g", (int)r, info.nz_used, want.nz_used);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[32] = MATVCRS;
  Mat  A, B;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR7, 0, &B));
  PetscCall(MatConvert(B, type, MAT_INITIAL_MATRIX, &A));
  PetscCall(TestBlockInverses(A, B));
  PetscCall(TestSubmatrices(A, B));
  PetscCall(TestSymmetric(A, B));
  PetscCall(TestDense(B, type));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  return TestEnd(10, "all is right\n");
}

/*TEST

  test:
    nsize: {{1 2 3}}
    args: -type {{vcrs hybmgpu}}
    output_file: output/right.out

  test:
    suffix: drop
    nsize: {{1 2}}
    args: -mat_vcrs_drop_aij
    output_file: output/right.out

  test:
    suffix: sell
    nsize: 2
    args: -type hybmgpu -mat_hybmgpu_format sell
    output_file: output/right.out

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -type {{vcrs hybmgpu}} -vec_type cuda
    output_file: output/right.out

TEST*/
