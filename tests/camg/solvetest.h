/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* For tests of PCCAMG: solves with options of their own, and what is expected of them */

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

static inline PetscErrorCode ToDevice(Mat A)
{
  PetscFunctionBeginUser;
  if (device) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pseudorandom numbers, in the range of A */
static inline PetscErrorCode RightHandSide(Mat A, Vec b)
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

static inline PetscErrorCode CreateSolver(Mat A, PetscBool symmetric, const char options[], KSP *ksp)
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

static inline PetscErrorCode ClearOptions(void)
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

static inline PetscErrorCode SolveWith(KSP ksp, Result *result)
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

static inline PetscErrorCode Solve(Mat A, PetscBool symmetric, const char options[], Result *result)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateSolver(A, symmetric, options, &ksp));
  PetscCall(SolveWith(ksp, result));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode Check(const char what[], const Result *r, PetscInt most)
{
  PetscFunctionBeginUser;
  if (WRONG(r->reason <= 0)) FAIL("%s: %s after %" PetscInt_FMT " iterations", what, KSPConvergedReasons[r->reason], r->its);
  if (WRONG(!(r->residual <= 1e-7))) FAIL("%s: residual %g", what, (double)r->residual);
  if (WRONG(r->its > most)) FAIL("%s: %" PetscInt_FMT " iterations, at most %" PetscInt_FMT " are expected", what, r->its, most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestSolvesBegin(int *argc, char ***argv, const char help[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(PetscLogDefaultBegin()); /* counts of events */
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
  PetscFunctionReturn(PETSC_SUCCESS);
}
