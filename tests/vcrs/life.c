/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The life of a MATVCRS: after the same operations a MATVCRS equals a MATAIJ.\n\
  -every <n>, -first <i> : of the cases, every n-th from case i\n\n";

#include "vcrstest.h"

/* An operation on a matrix and on a twin of type aij. other: a matrix of the same kind and type with different
   values */
typedef PetscErrorCode (*TestDeed)(Mat A, Mat other, Vec left, Vec right);

static PetscErrorCode DoNothing(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern, and a row twice */
static PetscErrorCode DoSetValues(Mat A, Mat other, Vec left, Vec right)
{
  PetscInt     begin, end, len, *cols;
  PetscScalar *vals;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(TEST_LONGEST, &cols, TEST_LONGEST, &vals));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(TestSetRows(A, TEST_RESERVOIR, 1, MAT_FLUSH_ASSEMBLY));
  if (end > begin) {
    const PetscInt i = end - 1;

    TestKindRow(TEST_RESERVOIR, i, 2, &len, cols, vals);
    PetscCall(MatSetValues(A, 1, &i, len, cols, vals, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscFree2(cols, vals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries outside of the pattern */
static PetscErrorCode DoGrow(Mat A, Mat other, Vec left, Vec right)
{
  PetscInt begin, end, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i += 3) PetscCall(MatSetValue(A, i, (i * 31 + 5) % N, TestScalar(40, (uint64_t)i, 0), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoZeroEntries(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Assembled again from nothing, as a nonlinear solver does */
static PetscErrorCode DoZeroAndSet(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatZeroEntries(A));
  PetscCall(DoSetValues(A, other, left, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoScale(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatScale(A, -2.5));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoScaleByZero(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatScale(A, 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoShift(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatShift(A, 0.75));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoDiagonalScale(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatDiagonalScale(A, left, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoDiagonalScaleLeft(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatDiagonalScale(A, left, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoDiagonalSet(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatDiagonalSet(A, left, INSERT_VALUES));
  PetscCall(MatDiagonalSet(A, right, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoAXPYSame(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatAXPY(A, 0.5, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoAXPYUnknown(Mat A, Mat other, Vec left, Vec right)
{
  Mat T;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(other, MAT_COPY_VALUES, &T));
  PetscCall(DoGrow(T, other, left, right));
  PetscCall(MatAXPY(A, 0.5, T, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoAYPX(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatAYPX(A, -1.5, other, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoCopySame(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoCopyFromAIJ(Mat A, Mat other, Vec left, Vec right)
{
  Mat T;

  PetscFunctionBegin;
  PetscCall(TestCreateMatrix(PetscObjectComm((PetscObject)A), TEST_RESERVOIR, 3, &T));
  PetscCall(MatCopy(T, A, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoConjugate(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatConjugate(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoTranspose(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatTranspose(A, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoZeroRows(Mat A, Mat other, Vec left, Vec right)
{
  PetscInt rows[3] = {0, 5, 17}, begin, end, n = 0;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  while (n < 3 && rows[n] + begin < end) {
    rows[n] += begin;
    n++;
  }
  PetscCall(MatZeroRows(A, n, rows, 3.5, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoZeroRowsColumns(Mat A, Mat other, Vec left, Vec right)
{
  const PetscInt rows[3] = {2, 6, 30};
  PetscMPIInt    rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &rank));
  PetscCall(MatZeroRowsColumns(A, rank ? 0 : 3, rows, 1.25, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoFilter(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatFilter(A, 0.05, PETSC_TRUE, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two changes with a product in between: the second must not be missed */
static PetscErrorCode DoTwice(Mat A, Mat other, Vec left, Vec right)
{
  Vec y;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(left, &y));
  PetscCall(MatScale(A, 3.0));
  PetscCall(MatMult(A, right, y));
  PetscCall(DoSetValues(A, other, left, right));
  PetscCall(MatMult(A, right, y));
  PetscCall(DoGrow(A, other, left, right));
  PetscCall(MatMult(A, right, y));
  PetscCall(MatShift(A, 1.0));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Through the arrays. A parallel matrix uses the arrays of the diagonal block, where only the block's state records the
   change */
static PetscErrorCode DoArray(Mat A, Mat other, Vec left, Vec right)
{
  Mat          block;
  PetscBool    isseq;
  PetscScalar *a;
  PetscInt     m;

  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATSEQAIJ, &isseq));
  block = A;
  {
    PetscBool is;

    /* a request for the arrays does not reach the matrix, so the matrix must be told in advance */
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
    if (is) PetscCall(MatVCRSMaterializeAIJ(A));
  }
  if (!isseq) PetscCall(MatMPIAIJGetSeqAIJ(A, &block, NULL, NULL));
  PetscCall(MatGetSize(block, &m, NULL));
  PetscCall(MatSeqAIJGetArray(block, &a));
  for (PetscInt k = 0; k < m; k++) a[k] *= 7.0;
  PetscCall(MatSeqAIJRestoreArray(block, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries by coordinates, each twice; then again with new values */
static PetscErrorCode DoCOO(Mat A, Mat other, Vec left, Vec right)
{
  PetscInt     begin, end, *i, *j, n = 0, N;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscMalloc3(6 * (end - begin), &i, 6 * (end - begin), &j, 6 * (end - begin), &v));
  for (PetscInt r = begin; r < end; r++) {
    for (PetscInt k = 0; k < 6; k++, n++) {
      i[n] = k == 5 ? (r + N / 2) % N : r; /* some of another process */
      j[n] = (r + (k / 2) * 13) % N;
      v[n] = TestScalar(50, (uint64_t)r, (uint64_t)k);
    }
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(MatMult(A, right, left));
  for (PetscInt k = 0; k < n; k++) v[k] += 0.5;
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(MatMult(A, right, left));
  PetscCall(MatSetValuesCOO(A, v, ADD_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoDrop(Mat A, Mat other, Vec left, Vec right)
{
  PetscBool is;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &is, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (is) {
    PetscCall(MatVCRSDropAIJ(A));
    PetscCall(MatVCRSDropAIJ(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Thrown away and built again in the same object */
static PetscErrorCode DoResetPreallocation(Mat A, Mat other, Vec left, Vec right)
{
  PetscFunctionBegin;
  PetscCall(MatResetPreallocation(A));
  PetscCall(DoSetValues(A, other, left, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  TestDeed    deed;
} deeds[] = {{"nothing", DoNothing},
             {"MatSetValues()", DoSetValues},
             {"new entries", DoGrow},
             {"MatZeroEntries()", DoZeroEntries},
             {"zeroed and set", DoZeroAndSet},
             {"MatScale()", DoScale},
             {"MatScale() by 0", DoScaleByZero},
             {"MatShift()", DoShift},
             {"MatDiagonalScale()", DoDiagonalScale},
             {"MatDiagonalScale() left", DoDiagonalScaleLeft},
             {"MatDiagonalSet()", DoDiagonalSet},
             {"MatAXPY() same", DoAXPYSame},
             {"MatAXPY() different", DoAXPYUnknown},
             {"MatAYPX()", DoAYPX},
             {"MatCopy()", DoCopySame},
             {"MatCopy() from aij", DoCopyFromAIJ},
             {"MatConjugate()", DoConjugate},
             {"MatTranspose() in place", DoTranspose},
             {"MatZeroRows()", DoZeroRows},
             {"MatZeroRowsColumns()", DoZeroRowsColumns},
             {"MatFilter()", DoFilter},
             {"changed twice", DoTwice},
             {"arrays", DoArray},
             {"COO", DoCOO},
             {"dropped twice", DoDrop},
             {"MatResetPreallocation()", DoResetPreallocation}};

int main(int argc, char **argv)
{
  PetscInt count = 0, number = 0, every = 1, first = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  for (size_t d = 0; d < PETSC_STATIC_ARRAY_LENGTH(deeds); d++) {
    /* 0: AIJ kept; 1: dropped before; 2: dropped at each compression, by option */
    for (int dropped = 0; dropped < 3; dropped++) {
      Mat          A, B, otherA, otherB, C;
      Vec          left, right, y;
      TestProducts t;
      PetscBool    is;
      char         where[128];
      PetscReal    norms[2][3];

      if (number++ % every != first) continue;
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s, AIJ %s", deeds[d].name, dropped ? (dropped == 2 ? "dropped by option" : "dropped") : "kept"));
      PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_RESERVOIR, 0, &B));
      PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_RESERVOIR, 1, &otherB));
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatConvert(otherB, MATVCRS, MAT_INITIAL_MATRIX, &otherA));
      PetscCall(TestCreateVec(B, PETSC_TRUE, "x_", 20, &left));
      PetscCall(TestCreateVec(B, PETSC_FALSE, "x_", 21, &right));
      PetscCall(VecDuplicate(left, &y));
      if (dropped == 2) {
        PetscCall(PetscOptionsSetValue(NULL, "-mat_vcrs_drop_aij", "true"));
        PetscCall(MatSetFromOptions(A));
        PetscCall(PetscOptionsClearValue(NULL, "-mat_vcrs_drop_aij"));
      }

      /* use the matrix before the operation */
      PetscCall(MatMult(A, right, y));
      if (dropped == 1) {
        PetscCall(MatVCRSDropAIJ(A));
        PetscCall(MatVCRSDropAIJ(otherA));
      }
      PetscCall((*deeds[d].deed)(A, otherA, left, right));
      PetscCall(TestFillVec(left, 20));
      PetscCall((*deeds[d].deed)(B, otherB, left, right));

      /* the type is unchanged, and all results are equal */
      PetscCall(PetscObjectTypeCompare((PetscObject)A, size == 1 ? MATSEQAIJVCRS : MATMPIAIJVCRS, &is));
      if (!is) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: the matrix has become one of another type\n", where));
      failures += is ? 0 : 1;
      PetscCall(TestProductsCreate(B, PETSC_FALSE, &t));
      PetscCall(TestCompareProducts(A, &t, where, &failures));
      PetscCall(TestCompareRows(A, B, where, "the matrix itself", &failures));
      for (int k = 0; k < 3; k++) {
        static const NormType types[] = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};

        PetscCall(MatNorm(A, types[k], &norms[0][k]));
        PetscCall(MatNorm(B, types[k], &norms[1][k]));
        if (!(PetscAbsReal(norms[0][k] - norms[1][k]) <= 100.0 * PETSC_MACHINE_EPSILON * norms[1][k])) {
          PetscCall(
            PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: the norm %s is %g, of aij %g\n", where, NormTypes[types[k]], (double)norms[0][k], (double)norms[1][k]));
          failures++;
        }
      }

      /* the copy has the same type and gives equal results */
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
      PetscCall(PetscObjectTypeCompare((PetscObject)C, size == 1 ? MATSEQAIJVCRS : MATMPIAIJVCRS, &is));
      if (!is) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: its duplicate has another type\n", where));
      failures += is ? 0 : 1;
      PetscCall(PetscStrlcat(where, ", duplicate", sizeof(where)));
      PetscCall(TestCompareProducts(C, &t, where, &failures));
      PetscCall(MatDestroy(&C));
      PetscCall(TestProductsDestroy(&t));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
      PetscCall(MatDestroy(&otherA));
      PetscCall(MatDestroy(&otherB));
      PetscCall(VecDestroy(&left));
      PetscCall(VecDestroy(&right));
      PetscCall(VecDestroy(&y));
      count++;
    }
  }
  return TestReport("%" PetscInt_FMT " matrices live as AIJ does\n", count);
}

/*TEST

  test:
    nsize: {{1 2}}

  test:
    suffix: 2
    nsize: 3
    args: -every 8

  testset:
    requires: cuda
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda
    output_file: output/life_3.out
    test:
      suffix: cuda_n1_0
      args: -every 2 -first 0
    test:
      suffix: cuda_n1_1
      args: -every 2 -first 1
    test:
      suffix: cuda_n2_0
      nsize: 2
      args: -every 2 -first 0
    test:
      suffix: cuda_n2_1
      nsize: 2
      args: -every 2 -first 1

TEST*/
