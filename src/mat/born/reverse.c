/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Backgrounds that run backwards. Without a sponge, a step with new and old exchanged is the step back. In whole numbers
   the step back is exact to the last bit. In single precision u is therefore in whole numbers.

   -mat_born_background random: instead of the sponge, a random velocity that scatters incoming waves (R. Clapp, Reverse
   time migration with random boundaries, SEG 2009). w keeps the sponge.

   -mat_born_background ring: with the sponge. The inside runs backwards. The surrounding nodes within reach of the
   stencil are stored at each step. Each slab stores its own nodes.

   Nodes in the sponge are columns of zeros in both.
*/

#include "bornimpl.h"

static PetscErrorCode BornReverseCreate(Mat_Born *ctx)
{
  PetscFunctionBegin;
  if (ctx->store.number == BORN_INT32)
    PetscCall((*ctx->kernels->create)((size_t)BornShots(&ctx->grids.stack) * sizeof(unsigned), (void **)&ctx->fields.largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ random */

static PetscErrorCode BornRandomCreate(Mat_Born *ctx)
{
  const size_t bytes = ctx->tuning.velocitybits == 16 ? sizeof(uint16_t) : BornBytes(ctx->grids.real);

  PetscFunctionBegin;
  PetscCall(BornReverseCreate(ctx));
  PetscCall((*ctx->kernels->create)((size_t)ctx->grids.stack.size * bytes, &ctx->fields.Vrandom));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornRandomStart(PETSC_UNUSED BornSweep *s)
{
  return PETSC_SUCCESS;
}

static PetscErrorCode BornRandomBack(BornSweep *s, PETSC_UNUSED PetscInt n, PetscBool image)
{
  PetscFunctionBegin;
  PetscCall(BornStepBoth_Private(s, PETSC_TRUE, image, 0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornRandomBytes(const Mat_Born *ctx)
{
  return (PetscLogDouble)ctx->grids.stack.size * (ctx->tuning.velocitybits == 16 ? 2 : (PetscLogDouble)BornBytes(ctx->grids.real));
}

const BornBackground BornRandom = {.reversed = PETSC_TRUE,
                                   .sponge   = PETSC_FALSE,
                                   .rounds   = PETSC_FALSE,
                                   .create   = BornRandomCreate,
                                   .start    = BornRandomStart,
                                   .back     = BornRandomBack,
                                   .bytes    = BornRandomBytes};

/* ------------------------------------------------------------ ring */

static inline size_t BornRingBytesAStep(const Mat_Born *ctx)
{
  int         boxes;
  BornRingBox box[6];

  return (size_t)BornRing(&ctx->grids.stack, &boxes, box) * BornBytes(ctx->store.number);
}

static PetscErrorCode BornRingCreate(Mat_Born *ctx)
{
  PetscFunctionBegin;
  PetscCall(BornReverseCreate(ctx));
  ctx->store.slot = BornRingBytesAStep(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slot k belongs to state k; the slot of the first state is zeros */
static PetscErrorCode BornRingStart(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  if (!ctx->store.data) PetscCall((*ctx->kernels->createstore)(ctx->store.onhost, (size_t)ctx->run.steps * ctx->store.slot, &ctx->store.data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornRingNote(BornSweep *s, PetscInt n)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  if (n + 1 < ctx->run.steps) PetscCall((*ctx->kernels->ringsave)(&s->grid, s->number, s->u.u, (char *)ctx->store.data + (size_t)(n + 1) * ctx->store.slot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornRingBack(BornSweep *s, PetscInt n, PetscBool image)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(ctx, &ctx->fields.q));
  BornStateSwap_Private(&s->u); /* u of step n is the previous field */
  /* the step neither reads nor writes the nodes round the inside of old */
  if (n > 0) PetscCall((*ctx->kernels->ringload)(&s->grid, s->number, (char *)ctx->store.data + (size_t)(n - 1) * ctx->store.slot, s->u.old));
  PetscCall(BornStepInside_Private(s, n, image ? ctx->fields.q : NULL));
  s->u.step--;
  if (image) PetscCall((*ctx->kernels->image)(&s->grid, ctx->grids.real, 0, ctx->fields.q, s->w.u, s->image));
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornRingBytes(const Mat_Born *ctx)
{
  return (PetscLogDouble)ctx->run.steps * (PetscLogDouble)BornRingBytesAStep(ctx);
}

const BornBackground BornRingBackground = {.reversed = PETSC_TRUE,
                                           .sponge   = PETSC_TRUE,
                                           .rounds   = PETSC_FALSE,
                                           .create   = BornRingCreate,
                                           .start    = BornRingStart,
                                           .note     = BornRingNote,
                                           .back     = BornRingBack,
                                           .bytes    = BornRingBytes};
