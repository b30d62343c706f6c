/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCCAMG: types of matrices, blocks, options, other values, reuse\n\n";

#include <tests/camg/solvetest.h>

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

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestSolvesBegin(&argc, &argv, help));
  if (processes == 1) PetscCall(TestTypes());
  if (processes == 1) PetscCall(TestBlocks());
  PetscCall(TestOptions());
  PetscCall(TestValues());
  PetscCall(TestReuse(PETSC_TRUE));
  PetscCall(TestReuse(PETSC_FALSE));
  return TestEnd(processes == 1 ? 130 : 105, "all is right\n");
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
      suffix: cuda
      requires: cuda
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: 2
      args: -device

TEST*/
