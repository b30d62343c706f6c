/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   -mat_born_background keep: q of each interval-th step is stored, in 32, 16 or 8 bits per node. J scatters the stored
   numbers, so J and J^T have the same numbers. Once the source is silent, q is L u, and the step itself rounds and
   stores q. The remainder of the source is added apart. Before, the source cancels most of L u near the source, and q
   is rounded when both terms are known.
*/

#include "bornimpl.h"

static inline size_t BornKeepSlots(const Mat_Born *ctx)
{
  return (size_t)((ctx->run.steps + ctx->tuning.interval - 1) / ctx->tuning.interval);
}

static PetscErrorCode BornKeepCreate(Mat_Born *ctx)
{
  PetscFunctionBegin;
  ctx->store.slot = BornStoreBytes(&ctx->grids.stack, (int)ctx->tuning.bits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornKeepStart(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  if (!ctx->store.data) PetscCall((*ctx->kernels->create)(BornKeepSlots(ctx) * ctx->store.slot, &ctx->store.data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornKeepBack(BornSweep *s, PetscInt n, PetscBool image)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  if (image) {
    const BornForce force = {.image = s->image, .with = s->w.u};
    const char     *slot  = (const char *)ctx->store.data + (size_t)(n / ctx->tuning.interval) * ctx->store.slot;

    PetscCall((*ctx->kernels->image)(&s->grid, ctx->grids.real, (int)ctx->tuning.bits, slot, s->w.u, s->image));
    if (n >= ctx->source.loud) PetscCall(BornForceBackground_Private(s, n, force));
  }
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornKeepBytes(const Mat_Born *ctx)
{
  return (PetscLogDouble)BornKeepSlots(ctx) * (PetscLogDouble)BornStoreBytes(&ctx->grids.stack, (int)ctx->tuning.bits);
}

const BornBackground BornKeep = {.reversed = PETSC_FALSE,
                                 .sponge   = PETSC_TRUE,
                                 .rounds   = PETSC_TRUE,
                                 .create   = BornKeepCreate,
                                 .start    = BornKeepStart,
                                 .back     = BornKeepBack,
                                 .bytes    = BornKeepBytes};
