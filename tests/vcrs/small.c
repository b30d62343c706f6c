/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products on the host of small matrices: from the plan, and from plain rows which replace or accompany the plan.\n\
  -then_vec_type cuda - without AIJ arrays once more on a device\n\
  -plain <bool>       - let products use plain rows\n\
  -bound <bool>       - bind the matrices to the CPU before compression\n\n";

#include "vcrstest.h"
#include <tests/options.h>

/*
   Rows of 30 to 39 entries, or of all columns. Index sets change from row to row and yet repeat, so slices of L1 and L2
   have many short runs. Every 50th row is empty, and row 33 has "longest" entries if longest is not 0
*/
static PetscErrorCode TestCreateChanging(PetscInt m, PetscInt n, PetscInt longest, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, PetscMax(40, longest), NULL, A));
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt length = i == 33 && longest ? longest : 30 + i * 7 % 10;

    for (PetscInt k = 0; k < length && i % 50 != 20; k++) {
      const PetscInt col = i - 20 + k + (k > 25 ? i % 3 : 0);

      if (col >= 0 && col < n) PetscCall(MatSetValue(*A, i, col, TestScalar(91, (uint64_t)i, (uint64_t)k) + (col == i ? 40.0 : 0.0), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 7 points on an n^3 grid, all coefficients different. At the ends of lines, rows of a slice have different index
   sets */
static PetscErrorCode TestCreateGrid(PetscInt n, Mat *A)
{
  const PetscInt N = n * n * n;

  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, N, N, 7, NULL, A));
  for (PetscInt i = 0; i < N; i++) {
    const PetscInt at[3] = {i % n, i / n % n, i / (n * n)}, step[3] = {1, n, n * n};

    PetscCall(MatSetValue(*A, i, i, 6.0 + TestRandom(92, (uint64_t)i, 0), INSERT_VALUES));
    for (int d = 0; d < 3; d++) {
      if (at[d] > 0) PetscCall(MatSetValue(*A, i, i - step[d], -TestRandom(93, (uint64_t)i, (uint64_t)d), INSERT_VALUES));
      if (at[d] < n - 1) PetscCall(MatSetValue(*A, i, i + step[d], -TestRandom(94, (uint64_t)i, (uint64_t)d), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n numbers on the diagonal, all different */
static PetscErrorCode TestCreateDiagonal(PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 1, NULL, A));
  for (PetscInt i = 0; i < n; i++) PetscCall(MatSetValue(*A, i, i, TestScalar(95, (uint64_t)i, 0), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Nodes of 1 to 7 rows with the same 1 to 19 columns; every fourth node is empty */
static PetscErrorCode TestCreateNodes(PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 20, NULL, A));
  for (PetscInt first = 0, node = 0; first < n; first += 1 + node % 7, node++) {
    const PetscInt length = node % 4 == 3 ? 0 : 1 + node * 5 % 19;

    for (PetscInt i = first; i < PetscMin(n, first + 1 + node % 7); i++) {
      for (PetscInt k = 0; k < length; k++)
        PetscCall(MatSetValue(*A, i, (first + 13 * k) % n, TestScalar(97, (uint64_t)i, (uint64_t)k) + (k == 0 ? 30.0 : 0.0), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of 5 to 16 entries, in columns all over a wide matrix */
static PetscErrorCode TestCreateScattered(PetscInt m, PetscInt n, Mat *A)
{
  PetscFunctionBegin;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, n, 16, NULL, A));
  for (PetscInt i = 0; i < m; i++) {
    for (PetscInt k = 0; k < 5 + i * 7 % 12; k++)
      PetscCall(MatSetValue(*A, i, (PetscInt)(n * TestRandom(98, (uint64_t)i, (uint64_t)k)), TestScalar(99, (uint64_t)i, (uint64_t)k), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* max |y - r| up to rounding of sums of 40 entries of modulus up to 42, or of 300 smaller entries */
static PetscErrorCode TestSame(Vec y, Vec r, const char name[], const char what[], PetscInt *failures)
{
  PetscReal difference, size;
  Vec       d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(y, &d));
  PetscCall(VecWAXPY(d, -1.0, r, y));
  PetscCall(VecNorm(d, NORM_INFINITY, &difference));
  PetscCall(VecNorm(r, NORM_INFINITY, &size));
  if (!(difference <= 4000.0 * PETSC_MACHINE_EPSILON) || size == 0.0) {
    (*failures)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %s is off by %g\n", name, what, (double)difference));
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x, A x + z and A^T x (+ z), by the own functions of A, against the exact matrix */
static PetscErrorCode TestAllProducts(Mat A, Mat exact, const char name[], PetscInt *failures)
{
  Vec x[2], y[2], r[2], z[2];

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(exact, &x[0], &x[1]));
  for (int k = 0; k < 2; k++) {
    PetscScalar *a;
    PetscInt     n;

    PetscCall(VecDuplicate(x[1 - k], &y[k]));
    PetscCall(VecDuplicate(x[1 - k], &r[k]));
    PetscCall(VecDuplicate(x[1 - k], &z[k]));
    PetscCall(VecGetLocalSize(x[k], &n));
    PetscCall(VecGetArrayWrite(x[k], &a));
    for (PetscInt i = 0; i < n; i++) a[i] = TestScalar(95, (uint64_t)i, (uint64_t)k);
    PetscCall(VecRestoreArrayWrite(x[k], &a));
    PetscCall(VecSet(z[k], 0.5));
  }
  PetscCall(MatMult(exact, x[0], r[0]));
  PetscCall(VecSet(y[0], PETSC_MAX_REAL));
  PetscCall(MatMult(A, x[0], y[0]));
  PetscCall(TestSame(y[0], r[0], name, "A x", failures));
  PetscCall(VecAXPY(r[0], 1.0, z[0]));
  PetscCall(MatMultAdd(A, x[0], z[0], y[0]));
  PetscCall(TestSame(y[0], r[0], name, "A x + z", failures));
  PetscCall(MatMultAdd(A, x[0], z[0], z[0]));
  PetscCall(TestSame(z[0], r[0], name, "z += A x", failures));
  PetscCall(MatMultTranspose(exact, x[1], r[1]));
  PetscCall(MatMultTranspose(A, x[1], y[1]));
  PetscCall(TestSame(y[1], r[1], name, "A^T x", failures));
  PetscCall(VecAXPY(r[1], 1.0, z[1]));
  PetscCall(MatMultTransposeAdd(A, x[1], z[1], y[1]));
  PetscCall(TestSame(y[1], r[1], name, "A^T x + z", failures));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
    PetscCall(VecDestroy(&r[k]));
    PetscCall(VecDestroy(&z[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x with vectors on a device */
static PetscErrorCode TestOnDevice(Mat A, Mat exact, const char name[], PetscInt *failures)
{
  Vec      x, y, xhost, yhost;
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(exact, &m, &n));
  PetscCall(MatCreateVecs(exact, &xhost, &yhost));
  PetscCall(VecSetRandom(xhost, NULL));
  PetscCall(MatMult(exact, xhost, yhost));
  PetscCall(VecCreate(PETSC_COMM_SELF, &x));
  PetscCall(VecSetSizes(x, n, n));
  PetscCall(VecSetType(x, VECCUDA));
  PetscCall(VecCreate(PETSC_COMM_SELF, &y));
  PetscCall(VecSetSizes(y, m, m));
  PetscCall(VecSetType(y, VECCUDA));
  PetscCall(VecCopy(xhost, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(TestSame(y, yhost, name, "A x on a device", failures));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&xhost));
  PetscCall(VecDestroy(&yhost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with five columns of x */
static PetscErrorCode TestColumns(Mat A, Mat exact, const char name[], PetscInt *failures)
{
  Mat       X, Y, R;
  PetscInt  n;
  PetscReal difference;

  PetscFunctionBegin;
  PetscCall(MatGetSize(exact, NULL, &n));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, 5, NULL, &X));
  for (PetscInt i = 0; i < 5 * n; i++) PetscCall(MatSetValue(X, i % n, i / n, TestScalar(96, (uint64_t)i, 0), INSERT_VALUES));
  PetscCall(MatAssemblyBegin(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(X, MAT_FINAL_ASSEMBLY));
  PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &Y));
  PetscCall(MatMatMult(exact, X, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &R));
  PetscCall(MatAXPY(Y, -1.0, R, SAME_NONZERO_PATTERN));
  PetscCall(MatNorm(Y, NORM_INFINITY, &difference));
  if (!(difference <= 20000.0 * PETSC_MACHINE_EPSILON)) {
    (*failures)++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: A X is off by %g\n", name, (double)difference));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(MatDestroy(&R));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    MatVCRSLoss loss;
    PetscInt    bits;
    PetscBool   rowsums;
  } modes[] = {{MATVCRS_LOSS_NONE, 16, PETSC_TRUE},      {MATVCRS_LOSS_SINGLE, 16, PETSC_TRUE}, {MATVCRS_LOSS_SINGLE, 16, PETSC_FALSE},
               {MATVCRS_LOSS_FIXED, 16, PETSC_TRUE},     {MATVCRS_LOSS_FIXED, 8, PETSC_FALSE},  {MATVCRS_LOSS_LOG, 16, PETSC_TRUE},
               {MATVCRS_LOSS_LOG, 8, PETSC_TRUE},        {MATVCRS_LOSS_BINS, 16, PETSC_FALSE},  {MATVCRS_LOSS_CLASSES, 16, PETSC_TRUE},
               {MATVCRS_LOSS_BINCLASSES, 16, PETSC_TRUE}};
  static const MatVCRSLayout layouts[] = {MATVCRS_LAYOUT_AUTO, MATVCRS_LAYOUT_L1, MATVCRS_LAYOUT_L2, MATVCRS_LAYOUT_L3};
  static const char *const   kinds[]   = {"changing", "changing, tall",  "changing, wide",  "grid", "nodes", "changing, a row too long for a byte",
                                          "diagonal", "changing, large", "scattered, large"};
  PetscInt                   count = 0, plain = 0;
  PetscBool                  cuda, may = PETSC_TRUE, bound = PETSC_FALSE;
  char                       type[64] = VECSTANDARD;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-then_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, VECCUDA, &cuda));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-plain", &may, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-bound", &bound, NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat A;

    if (k < 3) PetscCall(TestCreateChanging(k == 1 ? 411 : 339, k == 1 ? 339 : (k == 2 ? 411 : 339), 0, &A));
    else if (k == 3) PetscCall(TestCreateGrid(13, &A));
    else if (k == 4) PetscCall(TestCreateNodes(341, &A));
    else if (k == 5) PetscCall(TestCreateChanging(400, 411, 300, &A));
    else if (k == 6) PetscCall(TestCreateDiagonal(1001, &A));
    else if (k == 7) PetscCall(TestCreateChanging(9000, 9000, 0, &A));
    else PetscCall(TestCreateScattered(30000, 90000, &A));
    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(layouts); l++) {
      for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(modes); t++) {
        char        name[128];
        Mat         B, exact, before, after;
        MatVCRSInfo info, stored;
        PetscBool   used, whole, inplace, same;

        /* L2 holds fixed point only */
        if (layouts[l] == MATVCRS_LAYOUT_L2 && modes[t].loss != MATVCRS_LOSS_FIXED) continue;
        if (layouts[l] == MATVCRS_LAYOUT_L1 && modes[t].loss == MATVCRS_LOSS_FIXED) continue;

        /* large matrices test the columns and ends of plain rows */
        if (k >= 7 && (layouts[l] != MATVCRS_LAYOUT_AUTO || (t && modes[t].loss != MATVCRS_LOSS_LOG))) continue;
        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s, %s %" PetscInt_FMT "%s", kinds[k], MatVCRSLayouts[layouts[l]], MatVCRSLosses[modes[t].loss],
                                modes[t].bits, modes[t].rowsums ? "" : ", row sums not kept"));
        PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, &B));
        PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
        PetscCall(MatVCRSSetLayout(B, layouts[l]));
        PetscCall(MatVCRSSetLoss(B, modes[t].loss));
        PetscCall(MatVCRSSetBits(B, modes[t].bits));
        PetscCall(MatVCRSSetPreserveRowSums(B, modes[t].rowsums));
        PetscCall(TestSetOptions(B, "-mat_vcrs_plain_rows %d", may));

        /* reads the stored form without changing it */
        {
          Mat C;

          PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
          PetscCall(MatVCRSGetInfo(C, &stored));
          PetscCall(MatVCRSDropAIJ(C));
          PetscCall(MatConvert(C, MATAIJ, MAT_INITIAL_MATRIX, &exact));
          PetscCall(MatDestroy(&C));
        }
        if (bound) PetscCall(MatBindToCPU(B, PETSC_TRUE));
        PetscCall(TestAllProducts(B, exact, name, &failures));
        PetscCall(TestColumns(B, exact, name, &failures));
        PetscCall(MatVCRSGetInfo(B, &info));
        used = info.plainrows;
        if (used) plain++;

        /* next to the plan, or instead of a plan with whole entries in slices */
        PetscCall(PetscStrcmp(stored.values, "full", &whole));
        whole = (PetscBool)(whole && modes[t].loss == MATVCRS_LOSS_NONE && stored.layout == MATVCRS_LAYOUT_L3);
        if (!used || (whole && layouts[l] == MATVCRS_LAYOUT_AUTO) ? info.plainbytes != 0.0 : !(info.plainbytes > 0.0)) {
          failures++;
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %g bytes of plain rows beside the plan\n", name, info.plainbytes));
        }

        /* values change, and so does the copy */
        PetscCall(MatScale(B, 2.0));
        PetscCall(MatScale(exact, 2.0));
        PetscCall(TestAllProducts(B, exact, name, &failures));

        /* from the plan, by the faster way */
        PetscCall(MatVCRSDropAIJ(B));
        PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &before));
        PetscCall(TestAllProducts(B, exact, name, &failures));
        PetscCall(TestColumns(B, exact, name, &failures));
        PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &after));
        PetscCall(MatEqual(before, after, &same));
        PetscCall(MatDestroy(&before));
        PetscCall(MatDestroy(&after));
        PetscCall(MatVCRSGetInfo(B, &info));
        inplace = (PetscBool)(!PetscDefined(HAVE_CUDA) || bound || modes[t].loss == MATVCRS_LOSS_NONE); /* a device may need the rounded values */
        if (!same || (inplace && info.plainbytes != 0.0) || info.plainrows != (PetscBool)(used && layouts[l] == MATVCRS_LAYOUT_AUTO)) {
          failures++;
          PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: without AIJ arrays it holds %s, %s plain rows, %g bytes beside the plan\n", name,
                                same ? "the same" : "other entries", info.plainrows ? "in" : "not in", info.plainbytes));
        }

        /* a device has kernels for other forms */
        if (cuda) {
          if (bound) PetscCall(MatBindToCPU(B, PETSC_FALSE));
          PetscCall(TestOnDevice(B, exact, name, &failures));
          PetscCall(MatVCRSGetInfo(B, &info));
          if (bound && modes[t].loss != MATVCRS_LOSS_NONE) stored = info; /* only the plain rows were left */
          if (info.layout != stored.layout || info.values != stored.values || info.bytes != stored.bytes) {
            failures++;
            PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %s %s of %g bytes on a device, not %s %s of %g\n", name, MatVCRSLayouts[info.layout], info.values,
                                  info.bytes, MatVCRSLayouts[stored.layout], stored.values, stored.bytes));
          }
          PetscCall(TestAllProducts(B, exact, name, &failures));
        }
        PetscCall(MatDestroy(&B));
        PetscCall(MatDestroy(&exact));
        count++;
      }
    }
    PetscCall(MatDestroy(&A));
  }
  if (may ? !plain && !PetscDefined(USE_COMPLEX) : plain) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %" PetscInt_FMT " matrices used plain rows\n", plain));
  }
  return TestReport("%" PetscInt_FMT " matrices multiply as what they hold\n", count);
}

/*TEST

  test:

  test:
    suffix: 2
    args: -plain 0
    output_file: output/small_1.out

  test:
    suffix: 3
    requires: double !complex
    args: -plain 0 -mat_vcrs_avx512 0
    output_file: output/small_1.out

  test:
    suffix: cuda
    requires: cuda
    args: -then_vec_type cuda
    output_file: output/small_1.out

  test:
    suffix: cuda_bound
    requires: cuda
    args: -then_vec_type cuda -bound
    output_file: output/small_1.out

TEST*/
