/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What the tests of PCVCRS share: preconditioners from a line of options, comparisons of two preconditioners on the
   same vectors, and a line which begins with FAIL per failure.
*/

#include <lithepc.h>
#include <petscksp.h>
#include <tests/failures.h>

/* Options of a comparison into the database; @ is the prefix */
static inline PetscErrorCode SetOptions(const char text[], const char prefix[])
{
  char   all[2048];
  size_t length = 0;

  PetscFunctionBeginUser;
  for (const char *c = text; *c; c++) {
    if (*c == '@') {
      for (const char *p = prefix; *p; p++) all[length++] = *p;
    } else all[length++] = *c;
  }
  all[length] = 0;
  PetscCall(PetscOptionsInsertString(NULL, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve; -1 iterations if not converged */
static inline PetscErrorCode SolveIterations(KSP ksp, Vec b, Vec x, PetscInt *its)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (reason < 0) *its = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new database with options of the prefix t_, and with options of the inner preconditioner, unless NULL */
static inline PetscErrorCode PushOptions(const char options[], const char inside[], PetscOptions *database)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(database));
  PetscCall(PetscOptionsPush(*database));
  PetscCall(SetOptions(options, "t_"));
  if (inside) PetscCall(SetOptions(inside, "t_vcrs_"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PopOptions(PetscOptions *database)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up preconditioner of A: options with @ for its prefix; inside: options of PCVCRS's inner preconditioner or
   NULL, with @ too */
static inline PetscErrorCode CreatePC(Mat A, const char options[], const char inside[], PC *pc)
{
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, inside, &database));
  PetscCall(PCCreate(PetscObjectComm((PetscObject)A), pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetOptionsPrefix(*pc, "t_"));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PCSetUpOnBlocks(*pc));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ways to apply a preconditioner */
typedef enum {
  APPLY,
  APPLY_TRANSPOSE,
  APPLY_MAT,
  APPLY_LEFT,
  APPLY_RIGHT,
  APPLY_WAYS
} Way;

static const char *const WayNames[APPLY_WAYS] = {"apply", "transpose", "several", "left", "right"};

/* y = op(pc) x; several right-hand sides: the second of three, which are multiples of x */
static inline PetscErrorCode Apply(PC pc, Way way, Vec x, Vec y)
{
  Mat      X, Y;
  Vec      column;
  PetscInt n, N;

  PetscFunctionBeginUser;
  switch (way) {
  case APPLY_TRANSPOSE:
    PetscCall(PCApplyTranspose(pc, x, y));
    break;
  case APPLY_LEFT:
    PetscCall(PCApplySymmetricLeft(pc, x, y));
    break;
  case APPLY_RIGHT:
    PetscCall(PCApplySymmetricRight(pc, x, y));
    break;
  case APPLY_MAT:
    PetscCall(VecGetLocalSize(x, &n));
    PetscCall(VecGetSize(x, &N));
    PetscCall(MatCreateDense(PetscObjectComm((PetscObject)x), n, PETSC_DECIDE, N, 3, NULL, &X));
    PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
    for (PetscInt k = 0; k < 3; k++) {
      PetscCall(MatDenseGetColumnVecWrite(X, k, &column));
      PetscCall(VecCopy(x, column));
      PetscCall(VecScale(column, (PetscScalar)(PetscReal)k));
      PetscCall(MatDenseRestoreColumnVecWrite(X, k, &column));
    }
    PetscCall(PCMatApply(pc, X, Y));
    PetscCall(MatDenseGetColumnVecRead(Y, 1, &column));
    PetscCall(VecCopy(column, y));
    PetscCall(MatDenseRestoreColumnVecRead(Y, 1, &column));
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&Y));
    break;
  default:
    PetscCall(PCApply(pc, x, y));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* || op(B) x - op(C) x || / || op(B) x || */
static inline PetscErrorCode Difference(PC B, PC C, Way way, Vec x, PetscReal *difference)
{
  Vec       y[2];
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &y[0]));
  PetscCall(VecDuplicate(x, &y[1]));
  PetscCall(Apply(B, way, x, y[0]));
  PetscCall(Apply(C, way, x, y[1]));
  PetscCall(VecNorm(y[0], NORM_2, &norm));
  PetscCall(VecAXPY(y[1], -1.0, y[0]));
  PetscCall(VecNorm(y[1], NORM_2, difference));
  if (norm > 0.0) *difference /= norm;
  PetscCall(VecDestroy(&y[0]));
  PetscCall(VecDestroy(&y[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
