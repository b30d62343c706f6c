/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The vectors of TSUNIFORMIZATION, and a step with them. */

#include "uniformizationimpl.h"

PetscErrorCode TSUniformizationVectorsCreate_Private(TSUniformizationVectors *vectors, Vec like)
{
  PetscFunctionBegin;
  if (vectors->v) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(like, &vectors->v));
  PetscCall(VecDuplicate(like, &vectors->work));
  PetscCall(VecDuplicate(like, &vectors->base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationVectorsReset_Private(TSUniformizationVectors *vectors)
{
  PetscFunctionBegin;
  while (vectors->nfree) PetscCall(VecDestroy(&vectors->free[--vectors->nfree]));
  PetscCall(VecDestroy(&vectors->v));
  PetscCall(VecDestroy(&vectors->work));
  PetscCall(VecDestroy(&vectors->base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more vector */
PetscErrorCode TSUniformizationVectorsGet_Private(TSUniformizationVectors *vectors, Vec *vec)
{
  PetscFunctionBegin;
  if (vectors->nfree) *vec = vectors->free[--vectors->nfree];
  else PetscCall(VecDuplicate(vectors->v, vec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector, which may be NULL, is no longer used */
PetscErrorCode TSUniformizationVectorsPut_Private(TSUniformizationVectors *vectors, Vec *vec)
{
  PetscFunctionBegin;
  if (*vec) {
    if (vectors->nfree < TS_UNIFORMIZATION_MAX_OPEN) vectors->free[vectors->nfree++] = *vec;
    else PetscCall(VecDestroy(vec));
    *vec = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector becomes v */
PetscErrorCode TSUniformizationVectorsReplace_Private(TSUniformizationVectors *vectors, Vec *vec)
{
  Vec v = vectors->v;

  PetscFunctionBegin;
  vectors->v = *vec;
  *vec       = NULL;
  PetscCall(TSUniformizationVectorsPut_Private(vectors, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   v <- P^T v = v + A v / alpha, then sum += w v for each of the sums. change, if not NULL: || P^T v - v ||_1. All work
   of a step on long vectors is in this function; v and work may be exchanged. Without change, the step is one sweep if
   the matrix provides such a sweep.
*/
PetscErrorCode TSUniformizationStep_Private(Mat A, PetscReal alpha, const LitheStepRows *rows, Vec *v, Vec *work, PetscInt nsums, const LitheStepSum sums[],
                                            PetscReal *change)
{
  Vec x = *v, y = *work;

  PetscFunctionBegin;
  if (change) {
    PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(y, NORM_1, change));
    *change /= alpha;
    PetscCall(LitheStepVectors(1 / alpha, PETSC_FALSE, x, y, nsums, sums));
  } else PetscCall(LitheMatStep(A, 1 / alpha, rows, x, y, nsums, sums));
  *v    = y;
  *work = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of the pass: from v_k to v_(k+1), in the active rows */
PetscErrorCode TSUniformizationVectorsStep_Private(TS_Uniformization *un, PetscInt nsums, const LitheStepSum sums[], PetscReal *change)
{
  TSUniformizationVectors *vectors = &un->vectors;

  PetscFunctionBegin;
  PetscCall(TSUniformizationStep_Private(un->generator.A, un->generator.alpha, &un->active.rows, &vectors->v, &vectors->work, nsums, sums, change));
  PetscFunctionReturn(PETSC_SUCCESS);
}
