/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "MATVCRS from a program's own rows, in the memory of the host or of a device: the same matrix to the last bit, and none of the arrays is kept.\n\
  -device : arrays on the device\n\n";

#include <lithe.h>
#include <petscdevice.h>
#include <tests/refused.h>
#include <tests/vcrs/vcrstest.h>

/* Arrays of a program: copies on the host, or the arrays of a MATSEQAIJCUSPARSE on a device */
typedef struct {
  PetscInt           m, n, *i, *j;
  PetscScalar       *a;
  const PetscInt    *ri, *rj;
  const PetscScalar *ra;
  Mat                device;
} Rows;

static PetscErrorCode RowsCreate(Mat A, PetscBool device, Rows *rows)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           n;
  PetscBool          done;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscCall(MatGetSize(A, &rows->m, &rows->n));
  if (device && rows->m && rows->n) {
#if PetscDefined(HAVE_CUDA)
    PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &rows->device));
    PetscCall(MatSeqAIJCUSPARSEGetIJ(rows->device, PETSC_FALSE, &rows->ri, &rows->rj));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(rows->device, &rows->ra));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  n = rows->m ? i[rows->m] : 0;
  PetscCall(PetscCalloc1(rows->m + 1, &rows->i));
  PetscCall(PetscMalloc2(n, &rows->j, n, &rows->a));
  if (rows->m) PetscCall(PetscArraycpy(rows->i, i, rows->m + 1));
  PetscCall(PetscArraycpy(rows->j, j, n));
  PetscCall(PetscArraycpy(rows->a, a, n));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &n, &i, &j, &done));
  rows->ri = rows->i;
  rows->rj = rows->j;
  rows->ra = rows->a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsDestroy(Rows *rows)
{
  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (rows->device) {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(rows->device, &rows->ra));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(rows->device, PETSC_FALSE, &rows->ri, &rows->rj));
  }
#endif
  PetscCall(MatDestroy(&rows->device));
  PetscCall(PetscFree(rows->i));
  PetscCall(PetscFree2(rows->j, rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A copy of B has no arrays and the same entries. Changing the copy does not change B. The copy outlives B, which is
   destroyed here */
static PetscErrorCode CheckCopy(Mat A, Mat *B, TestProducts *products, const char where[])
{
  const PetscScalar *a;
  PetscInt           m, n;
  Mat                C[2], twice;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) PetscCall(MatDuplicate(k ? C[0] : *B, MAT_COPY_VALUES, &C[k]));
  PetscCall(MatGetSize(A, &m, &n));
  PetscCall(MatSeqAIJGetArrayRead(C[1], &a));
  if (WRONG(m && n && a)) FAIL("%s: a copy has AIJ arrays", where);
  PetscCall(MatSeqAIJRestoreArrayRead(C[1], &a));
  checks += 4;
  PetscCall(TestCompareRows(C[1], A, where, "copy", &failures));
  PetscCall(TestCompareProducts(C[1], products, where, &failures));
  PetscCall(MatScale(C[0], 2.0));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &twice));
  PetscCall(MatScale(twice, 2.0));
  PetscCall(TestCompareRows(C[0], twice, where, "changed copy", &failures));
  PetscCall(MatDestroy(&C[0]));
  PetscCall(TestCompareProducts(*B, products, where, &failures));
  PetscCall(MatDestroy(B));
  PetscCall(TestCompareProducts(C[1], products, where, &failures));
  PetscCall(TestCompareRows(C[1], A, where, "copy that is left", &failures));
  PetscCall(MatDestroy(&C[1]));
  PetscCall(MatDestroy(&twice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix made from the rows of A, which no longer exist when the matrix is checked */
static PetscErrorCode CheckMatrix(Mat A, PetscBool device, PetscBool exact, const char where[])
{
  Rows         rows;
  MatVCRSInfo  info;
  PetscBool    isours;
  TestProducts products;
  Mat          B, other;

  PetscFunctionBeginUser;
  PetscCall(RowsCreate(A, device, &rows));
  PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, rows.m, rows.n, rows.ri, rows.rj, rows.ra, &B));
  PetscCall(RowsDestroy(&rows));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATSEQAIJVCRS, &isours));
  if (WRONG(!isours)) FAIL("%s: the type is another one", where);
  checks++;
  if (exact) PetscCall(TestCompareRows(B, A, where, "compressed", &failures));
  PetscCall(TestProductsCreate(A, PETSC_FALSE, &products));
  checks++;
  if (exact) PetscCall(TestCompareProducts(B, &products, where, &failures));
  PetscCall(MatVCRSGetInfo(B, &info));
  if (WRONG(exact && info.maxabserror != 0)) FAIL("%s: a lossless matrix is off by %g", where, (double)info.maxabserror);
  if (exact) PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &other));
  PetscCall(MatVCRSMaterializeAIJ(B));
  checks++;
  if (exact) PetscCall(TestCompareRows(B, A, where, "AIJ", &failures));
  PetscCall(MatDestroy(&B));
  if (exact) PetscCall(CheckCopy(A, &other, &products, where));
  PetscCall(TestProductsDestroy(&products));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same from the rows of each process, with columns of the whole matrix */
static PetscErrorCode CheckParallel(Mat A, PetscBool device, PetscBool exact, const char where[])
{
  Rows         rows;
  MatVCRSInfo  info;
  PetscInt     m, n, M, N, state;
  PetscBool    isours;
  TestProducts products;
  Mat          B, C, local;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  if (size > 1) PetscCall(MatMPIAIJGetLocalMat(A, MAT_INITIAL_MATRIX, &local));
  else {
    local = A;
    PetscCall(PetscObjectReference((PetscObject)local));
  }
  PetscCall(RowsCreate(local, device, &rows));
  PetscCall(MatDestroy(&local));
  PetscCall(MatCreateVCRSFromCSR(PETSC_COMM_WORLD, m, n, PETSC_DETERMINE, PETSC_DETERMINE, rows.ri, rows.rj, rows.ra, &B));
  PetscCall(RowsDestroy(&rows));
  PetscCall(PetscObjectTypeCompare((PetscObject)B, size > 1 ? MATMPIAIJVCRS : MATSEQAIJVCRS, &isours));
  if (WRONG(!isours)) FAIL("%s: the type is another one", where);
  PetscCall(MatGetSize(B, &state, NULL));
  if (WRONG(state != M)) FAIL("%s: %" PetscInt_FMT " rows", where, state);
  PetscCall(MatGetSize(B, NULL, &state));
  if (WRONG(state != N)) FAIL("%s: %" PetscInt_FMT " columns", where, state);
  PetscCall(MatVCRSGetInfo(B, &info));
  if (WRONG(exact && info.maxabserror != 0)) FAIL("%s: a lossless parallel matrix is off by %g", where, (double)info.maxabserror);
  PetscCall(TestProductsCreate(A, PETSC_FALSE, &products));
  if (exact) {
    checks += 4;
    PetscCall(TestCompareRows(B, A, where, "parallel", &failures));
    PetscCall(TestCompareProducts(B, &products, where, &failures));
    PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
    PetscCall(TestCompareRows(C, A, where, "parallel copy", &failures));
    PetscCall(MatDestroy(&C));
    PetscCall(MatVCRSMaterializeAIJ(B));
    PetscCall(TestCompareRows(B, A, where, "parallel AIJ", &failures));
  }
  PetscCall(TestProductsDestroy(&products));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of all magnitudes, Inf, NaN, rows without entries */
static PetscErrorCode CreateExtreme(Mat *A)
{
  const PetscScalar value[] = {(PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e-37 : 1e-300),
                               (PetscReal)(PetscDefined(USE_REAL_SINGLE) ? 1e37 : 1e300),
                               0.0,
                               -1.0,
                               (PetscReal)INFINITY,
                               (PetscReal)NAN};
  const PetscInt    n       = 200;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 3, NULL, A));
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt k = 0; k < (i % 5 == 2 ? 0 : 3); k++) PetscCall(MatSetValue(*A, i, (i + 37 * k) % n, value[(i / 3 + k) % 6], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckRefusals(PetscBool device)
{
  const PetscInt    i[] = {0, 1}, j[] = {0}, far[] = {7};
  const PetscScalar a[] = {1.0};
  Mat               B;

  PetscFunctionBeginUser;
  TEST_REFUSED("negative", MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, -1, 1, i, j, a, &B), "-1 rows");
  TEST_REFUSED("no rows", MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, 1, 1, NULL, j, a, &B), "needs i[]");
  if (size > 1) TEST_REFUSED("many", MatCreateSeqVCRSFromCSR(PETSC_COMM_WORLD, 1, 1, i, j, a, &B), "not of 2 processes", "MatCreateVCRSFromCSR()");
  TEST_REFUSED("negative, parallel", MatCreateVCRSFromCSR(PETSC_COMM_WORLD, -1, 1, PETSC_DETERMINE, PETSC_DETERMINE, i, j, a, &B), "-1 rows");
  TEST_REFUSED("no rows, parallel", MatCreateVCRSFromCSR(PETSC_COMM_WORLD, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE, NULL, j, a, &B), "needs i[]");
  if (size > 1)
    TEST_REFUSED("column", MatCreateVCRSFromCSR(PETSC_COMM_WORLD, 1, 1, PETSC_DETERMINE, PETSC_DETERMINE, i, far, a, &B), "column 7", "of 2 columns");
  if (device) {
    Rows rows;
    Mat  A;

    PetscCall(TestCreateMatrix(PETSC_COMM_SELF, TEST_STAR5, 0, &A));
    PetscCall(RowsCreate(A, device, &rows));
    TEST_REFUSED("places", MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, rows.m, rows.n, rows.ri, j, rows.ra, &B), "in one place");
    if (size > 1 && rank) PetscCall(RowsDestroy(&rows));
    if (size > 1 && rank) PetscCall(RowsCreate(A, PETSC_FALSE, &rows));
    if (size > 1)
      TEST_REFUSED("two places", MatCreateVCRSFromCSR(PETSC_COMM_WORLD, rows.m, rows.m, PETSC_DETERMINE, PETSC_DETERMINE, rows.ri, rows.rj, rows.ra, &B),
                   "memory of one kind");
    PetscCall(RowsDestroy(&rows));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool device = PETSC_FALSE, exact = PETSC_TRUE;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));
  if (device) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    PetscCall(TestCreateMatrix(PETSC_COMM_SELF, (TestKind)kind, 0, &A));
    PetscCall(CheckMatrix(A, device, exact, TestKindNames[kind]));
    PetscCall(MatDestroy(&A));
    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 0, &A));
    PetscCall(CheckParallel(A, device, exact, TestKindNames[kind]));
    PetscCall(MatDestroy(&A));
  }
  if (exact) {
    PetscCall(CreateExtreme(&A));
    PetscCall(CheckMatrix(A, device, exact, "extreme"));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(CheckRefusals(device));
  return TestEnd(9 * TEST_KINDS, "matrices are made from rows\n");
}

/*TEST

  testset:
    output_file: output/fromrows_1.out
    test:
      nsize: {{1 2}}
      args: -mat_vcrs_drop_aij {{0 1}}
    test:
      suffix: lossy
      args: -mat_vcrs_loss single -exact 0
    test:
      suffix: lossy_2
      nsize: 2
      args: -mat_vcrs_loss fixed -exact 0
    test:
      suffix: cuda
      nsize: {{1 2}}
      requires: cuda
      args: -device -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda
    test:
      suffix: cuda_host
      requires: cuda
      nsize: {{1 2}}
      args: -device
    test:
      suffix: cuda_lossy
      requires: cuda
      nsize: 2
      args: -device -mat_vcrs_loss fixed -exact 0

TEST*/
