/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCCAMG: iterations for all kinds of matrices; symmetry; units; types of matrices; blocks; options; new values; odd
   matrices. With -device matrices have the type aijcusparse.
*/

static char help[] = "PCCAMG: iterations, symmetry, units, types, blocks, options, values\n\n";

#include <lithe.h>
#include <lithe/private/camg.h>
#include <tests/failures.h>
#include <tests/camg/camgtest.h>

static PetscBool   device = PETSC_FALSE;
static PetscMPIInt processes;

typedef struct {
  PetscInt           its;
  PetscReal          residual; /* the true one */
  KSPConvergedReason reason;
} Result;

static PetscErrorCode ToDevice(Mat A)
{
  PetscFunctionBeginUser;
  if (device) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pseudorandom numbers, in the range of A */
static PetscErrorCode RightHandSide(Mat A, Vec b)
{
  PetscScalar *a;
  PetscInt     begin, end;
  Vec          x;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = begin; k < end; k++) a[k - begin] = CAMGRandom(k, 8);
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(Mat A, PetscBool symmetric, const char options[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "test_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, symmetric ? KSPCG : KSPFGMRES));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, 1e-8, 0, 1e30, 200));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, PCCAMG));
  PetscCall(PetscOptionsPrefixPush(NULL, "test_"));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(PetscOptionsPrefixPop(NULL));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClearOptions(void)
{
  static const char *const names[] = {"-test_pc_camg_coarse_eq_limit",
                                      "-test_pc_camg_reuse_interpolation",
                                      "-test_pc_camg_bits",
                                      "-test_pc_camg_precision",
                                      "-test_pc_camg_smooths",
                                      "-test_pc_camg_agg_nsmooths",
                                      "-test_pc_camg_levels",
                                      "-test_pc_camg_truncate",
                                      "-test_pc_camg_near_null",
                                      "-test_pc_camg_threshold",
                                      "-test_pc_camg_threshold_scale",
                                      "-test_ksp_type"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) PetscCall(PetscOptionsClearValue(NULL, names[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveWith(KSP ksp, Result *result)
{
  Mat       A;
  Vec       x, b, r;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(RightHandSide(A, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &result->its));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(r, NORM_2, &result->residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0) result->residual /= norm;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, PetscBool symmetric, const char options[], Result *result)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, symmetric, options, &ksp));
  PetscCall(SolveWith(ksp, result));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check(const char what[], const Result *r, PetscInt most)
{
  PetscFunctionBeginUser;
  if (WRONG(r->reason <= 0)) FAIL("%s: %s after %" PetscInt_FMT " iterations", what, KSPConvergedReasons[r->reason], r->its);
  if (WRONG(!(r->residual <= 1e-7))) FAIL("%s: residual %g", what, (double)r->residual);
  if (WRONG(r->its > most)) FAIL("%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " are expected", what, r->its, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* Types of matrices: the same iterations; dense matrices have other sums */
static PetscErrorCode TestTypes(void)
{
  const MatType types[] = {MATBAIJ, MATSBAIJ, "vcrs", "hybmgpu", MATSEQDENSE};

  PetscFunctionBeginUser;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    for (int k = 0; k < 2; k++) {
      const CAMGKind kind = k ? CAMG_ELASTIC : CAMG_ELEMENTS;
      MatNullSpace   space;
      Result         result[2];
      Mat            A, B;

      PetscCall(CAMGCreate(kind, k ? 6 : 9, &A));
      PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
      PetscCall(MatConvert(A, types[t], MAT_INITIAL_MATRIX, &B));
      PetscCall(MatGetNearNullSpace(A, &space));
      PetscCall(MatSetNearNullSpace(B, space));
      PetscCall(Solve(A, PETSC_TRUE, "-pc_camg_coarse_eq_limit 60", &result[0]));
      PetscCall(Solve(B, PETSC_TRUE, "-pc_camg_coarse_eq_limit 60", &result[1]));
      if (WRONG(result[1].reason <= 0 || PetscAbsInt(result[0].its - result[1].its) > (t == 4)))
        FAIL("%s of type %s: %" PetscInt_FMT " iterations, aij %" PetscInt_FMT, CAMGKindNames[kind], types[t], result[1].its, result[0].its);
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocks of 1 to 6 components, coupled at points, without a near null space */
static PetscErrorCode TestBlocks(void)
{
  PetscFunctionBeginUser;
  for (PetscInt b = 1; b <= 6; b++) {
    Result result;
    Mat    A, B, C;

    PetscCall(CAMGCreate(CAMG_FLUXES, 9, &A));
    PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, b, b, b, NULL, &B));
    for (PetscInt r = 0; r < b; r++) {
      for (PetscInt c = 0; c < b; c++) PetscCall(MatSetValue(B, r, c, r == c ? 1 + r : (PetscReal)0.3, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSeqAIJKron(A, B, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatSetBlockSize(C, b));
    PetscCall(ToDevice(C));
    PetscCall(Solve(C, PETSC_TRUE, "-pc_camg_coarse_eq_limit 100", &result));
    PetscCall(Check("blocks", &result, 22));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&C));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options do what they say */
static PetscErrorCode TestOptions(void)
{
  static const struct {
    const char *options;
    CAMGKind    kind;
    PetscInt    most;
  } cases[] = {{"-pc_camg_bits 16", CAMG_JUMPS, 16},
               {"-pc_camg_bits 32", CAMG_JUMPS, 16},
               {"-pc_camg_bits 8", CAMG_JUMPS, 16},
               {"-pc_camg_precision double", CAMG_JUMPS, 16},
               {"-pc_camg_smooths 1,1", CAMG_ELEMENTS, 22},
               {"-pc_camg_smooths 3", CAMG_ELEMENTS, 12},
               {"-pc_camg_agg_nsmooths 0", CAMG_FLUXES, 40},
               {"-pc_camg_levels 1", CAMG_HUBS, 200},
               {"-pc_camg_levels 2", CAMG_FLUXES, 16},
               {"-pc_camg_truncate 0", CAMG_ELEMENTS, 14},
               {"-pc_camg_threshold 0.02", CAMG_ELEMENTS, 20},
               {"-ksp_type bcgs", CAMG_UPWIND, 20},
               {"-ksp_type gmres", CAMG_UPWIND, 30},
               {"-pc_camg_coarse_eq_limit 5000", CAMG_FLUXES, 2}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Result result;
    Mat    A;

    PetscCall(CAMGCreate(cases[k].kind, 13, &A));
    PetscCall(ToDevice(A));
    PetscCall(Solve(A, CAMGIsSymmetric(cases[k].kind), cases[k].options, &result));
    PetscCall(Check(cases[k].options, &result, processes > 1 ? cases[k].most + 6 : cases[k].most));
    PetscCall(MatDestroy(&A));
  }
  {
    Result result;
    Mat    A;

    /* the near null vector is found, or many more iterations are needed */
    PetscCall(CAMGCreate(CAMG_UNITS, 13, &A));
    PetscCall(Solve(A, PETSC_TRUE, "-pc_camg_near_null constant -pc_camg_coarse_eq_limit 100", &result));
    if (WRONG(result.its < 25)) FAIL("-pc_camg_near_null constant: only %" PetscInt_FMT " iterations", result.its);
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up with other values, then other sizes, gives the iterations of a new solver; nothing of NaN stays */
static PetscErrorCode TestValues(void)
{
  const CAMGKind kinds[] = {CAMG_FLUXES, CAMG_JUMPS, CAMG_ELEMENTS};
  Result         result;
  KSP            ksp;
  Mat            A[3];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(CAMGCreate(kinds[k], k < 2 ? 12 : 11, &A[k]));
    PetscCall(ToDevice(A[k]));
  }
  PetscCall(CreateSolver(A[0], PETSC_TRUE, "-pc_camg_coarse_eq_limit 100", &ksp));
  for (int pass = 0; pass < 6; pass++) {
    const int k = pass % 3;

    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, A[k], A[k]));
    PetscCall(SolveWith(ksp, &result));
    PetscCall(Check("new values", &result, 16));
  }
  if (device) PetscCall(MatBindToCPU(A[2], PETSC_TRUE));
  PetscCall(MatSetValue(A[2], 5, 5, NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A[2], MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A[2], MAT_FINAL_ASSEMBLY));
  PetscCall(SolveWith(ksp, &result));
  if (WRONG(result.reason > 0)) FAIL("NaN: %s", KSPConvergedReasons[result.reason]);
  PetscCall(KSPReset(ksp));
  PetscCall(KSPSetOperators(ksp, A[0], A[0]));
  PetscCall(SolveWith(ksp, &result));
  PetscCall(Check("after NaN", &result, 16));
  for (int k = 0; k < 3; k++) PetscCall(MatDestroy(&A[k]));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of times that aggregates have been found */
static PetscErrorCode Aggregations(PetscInt *n)
{
  PetscLogEvent      event;
  PetscEventPerfInfo info;

  PetscFunctionBeginUser;
  PetscCall(PetscLogEventGetId("PCCAMGAggregate", &event));
  PetscCall(PetscLogEventGetPerfInfo(0, event, &info));
  *n = (PetscInt)info.count;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* New values in the same pattern: the third set-up uses the interpolation of the second one, until iterations grow */
static PetscErrorCode TestReuse(PetscBool reuse)
{
  PetscInt before, now, last;
  Result   result, anew;
  KSP      ksp;
  Mat      A, other;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_FLUXES, 14, &A));
  PetscCall(CAMGCreate(CAMG_STRETCHED, 14, &other));
  PetscCall(ToDevice(A));
  PetscCall(ToDevice(other));
  PetscCall(CreateSolver(A, PETSC_TRUE, reuse ? "-pc_camg_coarse_eq_limit 60" : "-pc_camg_coarse_eq_limit 60 -pc_camg_reuse_interpolation 0", &ksp));
  for (int pass = 0; pass < 4; pass++) {
    PetscCall(Aggregations(&before));
    PetscCall(SolveWith(ksp, &result));
    PetscCall(Check("values of the same pattern", &result, 16));
    PetscCall(Aggregations(&now));
    if (WRONG((now == before) != (reuse && pass > 1))) FAIL("set-up %d: aggregates found %d times, reuse %d", pass, (int)(now - before), (int)reuse);
    PetscCall(MatScale(A, pass % 2 ? (PetscScalar)0.25 : (PetscScalar)3));
  }
  /* a matrix for which the interpolation is not made: a slow solve is followed by a set-up of its own */
  PetscCall(MatCopy(other, A, SAME_NONZERO_PATTERN));
  PetscCall(SolveWith(ksp, &result));
  PetscCall(Check("other values", &result, 200));
  PetscCall(MatScale(A, 2));
  PetscCall(Aggregations(&before));
  PetscCall(SolveWith(ksp, &anew));
  PetscCall(Check("other values again", &anew, 24));
  PetscCall(Aggregations(&last));
  if (WRONG(reuse && (last == before || anew.its >= result.its)))
    FAIL("%d iterations with the old interpolation, %d after; aggregates found %d times", (int)result.its, (int)anew.its, (int)(last - before));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&other));
  PetscCall(KSPDestroy(&ksp));
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
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin()); /* counts of events */
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
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
  if (processes == 1) PetscCall(TestTypes());
  if (processes == 1) PetscCall(TestBlocks());
  PetscCall(TestApart());
  PetscCall(TestHubs());
  if (processes < 3) {
    PetscCall(TestOptions());
    PetscCall(TestValues());
    PetscCall(TestReuse(PETSC_TRUE));
    PetscCall(TestReuse(PETSC_FALSE));
    PetscCall(TestZeros());
    PetscCall(TestScattered());
    PetscCall(TestOdd());
  }
  return TestEnd(processes < 3 ? 250 : 200, "all is right\n");
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
