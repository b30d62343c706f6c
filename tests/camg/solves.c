/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCCAMG: iterations for all kinds of matrices; symmetry; units; graphs whose rows are scattered, have hubs, or stand
   apart; odd matrices. With -device matrices have the type aijcusparse.
*/

static char help[] = "PCCAMG: iterations, symmetry, units, odd matrices\n\n";

#include <tests/camg/solvetest.h>

/* Iterations of each kind */
static PetscErrorCode TestKinds(void)
{
  const PetscInt most[CAMG_KINDS] = {12, 16, 16, 18, 14, 16, 12, 12, 14, 18, 20, 24, 20};

  PetscFunctionBeginUser;
  for (int kind = 0; kind < CAMG_KINDS; kind++) {
    Result result;
    Mat    A;

    PetscCall(CAMGCreate((CAMGKind)kind, 15, &A));
    PetscCall(ToDevice(A));
    PetscCall(Solve(A, CAMGIsSymmetric((CAMGKind)kind), "-pc_camg_coarse_eq_limit 100", &result));
    PetscCall(PetscInfo(NULL, "%s: %" PetscInt_FMT " iterations\n", CAMGKindNames[kind], result.its));
    PetscCall(Check(CAMGKindNames[kind], &result, most[kind]));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y^T M x = x^T M y, x^T M x > 0 */
static PetscErrorCode TestSymmetry(CAMGKind kind, const char options[], PetscReal rounding)
{
  PetscScalar form[2], *a;
  PetscReal   norm[2];
  PetscInt    begin, end;
  Mat         A;
  KSP         ksp;
  PC          pc;
  Vec         x[2], y[2];

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(kind, 12, &A));
  PetscCall(ToDevice(A));
  PetscCall(CreateSolver(A, PETSC_TRUE, options, &ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  for (int v = 0; v < 2; v++) PetscCall(MatCreateVecs(A, &x[v], &y[v]));
  for (PetscInt sample = 0; sample < 20; sample++) {
    for (int v = 0; v < 2; v++) {
      PetscCall(VecGetOwnershipRange(x[v], &begin, &end));
      PetscCall(VecGetArray(x[v], &a));
      for (PetscInt k = begin; k < end; k++) a[k - begin] = PetscPowReal(CAMGRandom(k, 2 * sample + v), 1 + 2 * (sample % 3));
      PetscCall(VecRestoreArray(x[v], &a));
      PetscCall(PCApply(pc, x[v], y[v]));
      PetscCall(VecNorm(x[v], NORM_2, &norm[0]));
      PetscCall(VecDot(y[v], x[v], &form[0]));
      if (WRONG(!(PetscRealPart(form[0]) > 0))) FAIL("%s %s: a vector with energy %g", CAMGKindNames[kind], options, (double)PetscRealPart(form[0]));
    }
    PetscCall(VecDot(y[0], x[1], &form[0]));
    PetscCall(VecDot(y[1], x[0], &form[1]));
    PetscCall(VecNorm(y[0], NORM_2, &norm[0]));
    PetscCall(VecNorm(x[1], NORM_2, &norm[1]));
    if (WRONG(!(PetscAbsScalar(form[0] - PetscConj(form[1])) <= rounding * norm[0] * norm[1])))
      FAIL("%s %s: not symmetric by %g", CAMGKindNames[kind], options, (double)(PetscAbsScalar(form[0] - PetscConj(form[1])) / norm[0] / norm[1]));
  }
  for (int v = 0; v < 2; v++) {
    PetscCall(VecDestroy(&x[v]));
    PetscCall(VecDestroy(&y[v]));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix times a power of two, or -1: the same bits of the application times its inverse */
static PetscErrorCode TestPower(CAMGKind kind, PetscReal factor)
{
  Mat         A;
  KSP         ksp;
  PC          pc;
  Vec         x, y[2];
  PetscBool   same;
  PetscScalar scale = 1;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(kind, 12, &A));
  PetscCall(ToDevice(A));
  PetscCall(MatCreateVecs(A, &x, &y[0]));
  PetscCall(VecDuplicate(y[0], &y[1]));
  PetscCall(RightHandSide(A, x));
  for (int v = 0; v < 2; v++) {
    PetscCall(CreateSolver(A, PETSC_TRUE, "-pc_camg_coarse_eq_limit 100", &ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCApply(pc, x, y[v]));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatScale(A, factor));
    if (v) scale = factor;
  }
  PetscCall(VecScale(y[1], scale));
  PetscCall(VecEqual(y[0], y[1], &same));
  if (WRONG(!same)) FAIL("%s times %g: other bits", CAMGKindNames[kind], (double)factor);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y[0]));
  PetscCall(VecDestroy(&y[1]));
  PetscCall(MatDestroy(&A));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes keep zero of either sign: products of complex numbers have imaginary parts of -0. */
static PetscErrorCode TestZeros(void)
{
  PetscFunctionBeginUser;
  checks++;
  if (WRONG(CAMGDecode8(CAMGEncode8(-0.F)) != 0 || CAMGDecode16(CAMGEncode16(-0.F)) != 0)) FAIL("-0. has a code that is not zero");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Neighbours in the grid are far from each other in the order of rows: columns of a slice of rows need 4 bytes */
static PetscErrorCode TestScattered(void)
{
  const PetscInt n = 300, rows = n * n, stride = 7919; /* a prime that does not divide the number of rows */
  PetscInt       begin, end;
  Result         result;
  KSP            ksp;
  Mat            A;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 5, NULL, 5, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    /* row = stride * cell modulo rows, by the inverse of the stride */
    static PetscInt inverse = 0;
    PetscInt        cell, next[4];

    while (!inverse || (PetscInt64)inverse * stride % rows != 1) inverse++;
    cell    = (PetscInt)((PetscInt64)row * inverse % rows);
    next[0] = cell % n ? cell - 1 : -1;
    next[1] = cell % n < n - 1 ? cell + 1 : -1;
    next[2] = cell - n;
    next[3] = cell + n < rows ? cell + n : -1;
    PetscCall(MatSetValue(A, row, row, 4, INSERT_VALUES));
    for (int k = 0; k < 4; k++) {
      if (next[k] >= 0) PetscCall(MatSetValue(A, row, (PetscInt)((PetscInt64)next[k] * stride % rows), -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ToDevice(A));
  for (int bits = 8; bits <= 32; bits *= 2) {
    char option[64];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-pc_camg_bits %d", bits));
    PetscCall(CreateSolver(A, PETSC_TRUE, option, &ksp));
    PetscCall(SolveWith(ksp, &result));
    PetscCall(Check("rows in another order", &result, 20));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values of a graph with hubs, whose interpolation is constant on pairs of pairs */
static PetscErrorCode TestHubs(void)
{
  Mat A;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_HUBS, 15, &A));
  PetscCall(ToDevice(A));
  PetscCall(CreateSolver(A, PETSC_TRUE, "-pc_camg_coarse_eq_limit 100", &ksp));
  for (int set = 0; set < 5; set++) {
    Result result;

    PetscCall(SolveWith(ksp, &result));
    PetscCall(Check("a graph with hubs, new values", &result, 16));
    PetscCall(MatScale(A, 1.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Grids of 40 x 30 points, one on each process but the last; that of the first process touches no other one. New values
   keep exchanges, of which some processes have none
*/
static PetscErrorCode TestApart(void)
{
  const PetscInt n = 40, own = 30 * n;
  PetscMPIInt    rank;
  PetscInt       rows, begin, end;
  Mat            A;
  KSP            ksp;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  rows = processes > 1 && rank == processes - 1 ? 0 : own;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, 5, NULL, 2, NULL, &A));
  PetscCall(MatGetSize(A, &end, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, NULL));
  for (PetscInt r = begin; r < begin + rows; r++) {
    const PetscInt next[4] = {r % n ? r - 1 : -1, r % n < n - 1 ? r + 1 : -1, r >= own && r - n < own ? -1 : r - n, r + n >= own && r < own ? -1 : r + n};

    PetscCall(MatSetValue(A, r, r, 4, INSERT_VALUES));
    for (int k = 0; k < 4; k++) {
      if (next[k] >= 0 && next[k] < end) PetscCall(MatSetValue(A, r, next[k], -1, INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(ToDevice(A));
  PetscCall(CreateSolver(A, PETSC_TRUE, "-pc_camg_coarse_eq_limit 50", &ksp));
  for (int set = 0; set < 4; set++) {
    Result result;

    PetscCall(SolveWith(ksp, &result));
    PetscCall(Check("a process apart", &result, 14));
    PetscCall(MatScale(A, 1.5));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Diagonal, dense, one row, no row */
static PetscErrorCode TestOdd(void)
{
  PetscFunctionBeginUser;
  for (int odd = 0; odd < 5; odd++) {
    const char *const what[] = {"diagonal", "dense", "one row", "no row", "diagonal of large and small entries"};
    const PetscInt    n[]    = {900, 300, 1, 0, 3000};
    Result            result = {.reason = KSP_CONVERGED_RTOL};
    PetscInt          begin, end;
    Mat               A;

    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n[odd], n[odd], odd == 1 ? n[odd] : 1, NULL, odd == 1 ? n[odd] : 0, NULL, &A));
    PetscCall(MatGetOwnershipRange(A, &begin, &end));
    for (PetscInt r = begin; r < end; r++) {
      for (PetscInt c = odd == 1 ? 0 : r; c < (odd == 1 ? n[odd] : r + 1); c++) {
        PetscReal v = r == c ? 2 * n[odd] : -1;

        if (odd == 4) v = PetscPowReal(10, (PetscDefined(USE_REAL_SINGLE) ? 15 : 150) * CAMGRandom(r, 9));
        PetscCall(MatSetValue(A, r, c, v, INSERT_VALUES));
      }
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(ToDevice(A));
    PetscCall(Solve(A, PETSC_TRUE, "-pc_camg_coarse_eq_limit 100", &result));
    PetscCall(Check(what[odd], &result, odd == 4 ? 20 : 12));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscBool wide = PetscDefined(USE_REAL_DOUBLE);

  PetscFunctionBeginUser;
  PetscCall(TestSolvesBegin(&argc, &argv, help));
  PetscCall(TestKinds());
  PetscCall(TestSymmetry(CAMG_JUMPS, "-pc_camg_coarse_eq_limit 100", (PetscReal)2e-6));
  PetscCall(TestSymmetry(CAMG_UNITS, "-pc_camg_coarse_eq_limit 100", (PetscReal)2e-6));
  PetscCall(TestSymmetry(CAMG_ELASTIC, "-pc_camg_coarse_eq_limit 100", (PetscReal)2e-6));
  PetscCall(TestSymmetry(CAMG_HUBS, "-pc_camg_coarse_eq_limit 100 -pc_camg_precision double", (PetscReal)1e-6));
  PetscCall(TestPower(CAMG_JUMPS, 8));
  PetscCall(TestPower(CAMG_ELASTIC, 64));
  PetscCall(TestPower(CAMG_JUMPS, -1));
  if (wide) PetscCall(TestPower(CAMG_ELEMENTS, PetscPowReal(2, 900)));
  if (wide) PetscCall(TestPower(CAMG_ELEMENTS, PetscPowReal(2, -900)));
  PetscCall(TestApart());
  PetscCall(TestHubs());
  if (processes < 3) {
    PetscCall(TestZeros());
    PetscCall(TestScattered());
    PetscCall(TestOdd());
  }
  return TestEnd(processes < 3 ? 325 : 300, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    requires: !single
    test:
    test:
      suffix: 2
      nsize: 2
    test:
      suffix: 3
      nsize: 3
    test:
      suffix: cuda
      requires: cuda
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: 2
      args: -device

TEST*/
