/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sweeps over time of one shot. With lambda the adjoint of the recursion, V lambda / (1 + s) obeys the recursion itself,
   backwards, with the data as its force: so the transpose is the same step, and exact but for rounding.
*/

#include "bornimpl.h"

/* ------------------------------------------------------------ steps */

static PetscErrorCode BornStateStart(Mat_Born *ctx, PetscReal *fields[2], PetscInt step, BornState *state)
{
  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    if (!fields[t]) PetscCall((*ctx->kernels->create)(ctx->grid.size, &fields[t]));
    else PetscCall((*ctx->kernels->zero)(ctx->grid.size, fields[t]));
  }
  state->u    = fields[0];
  state->old  = fields[1];
  state->step = step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void BornStateSwap(BornState *state)
{
  PetscReal *u = state->u;

  state->u   = state->old;
  state->old = u;
}

/* The background, a step on; q = L u + f, if not NULL */
static PetscErrorCode BornBackground(Mat_Born *ctx, const BornShot *shot, BornState *state, PetscReal *q)
{
  const BornStep step = {.V = ctx->V, .u = state->u, .old = state->old, .out = q};

  PetscFunctionBegin;
  PetscCall((*ctx->kernels->step)(&ctx->grid, &step));
  if (state->step < ctx->nwavelet) PetscCall((*ctx->kernels->inject)(&ctx->grid, &shot->at, ctx->V, ctx->wavelet + state->step, 0, ctx->force, state->old, q));
  BornStateSwap(state);
  state->step++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which sample of a trace a step is, or -1 */
static PetscInt BornSample(const Mat_Born *ctx, PetscInt step)
{
  return step > 0 && step % ctx->every == 0 ? step / ctx->every - 1 : -1;
}

static PetscErrorCode BornRecord(Mat_Born *ctx, const BornShot *shot, const PetscReal *u, PetscInt step, PetscReal *data)
{
  const PetscInt sample = BornSample(ctx, step);

  PetscFunctionBegin;
  if (sample >= 0) PetscCall((*ctx->kernels->extract)(&ctx->grid, &shot->to, u, 1, data + sample, ctx->samples));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornGetScatter(Mat_Born *ctx)
{
  PetscFunctionBegin;
  if (!ctx->q) PetscCall((*ctx->kernels->create)(ctx->grid.nodes, &ctx->q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ forward */

/* data = R u */
PetscErrorCode BornSweepModel_Private(Mat_Born *ctx, const BornShot *shot, PetscReal *data)
{
  BornState u;

  PetscFunctionBegin;
  PetscCall(BornStateStart(ctx, ctx->u, 0, &u));
  while (u.step < ctx->steps) {
    PetscCall(BornBackground(ctx, shot, &u, NULL));
    PetscCall(BornRecord(ctx, shot, u.u, u.step, data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* data = R w, where x q is the force of w, and x = dV/V */
PetscErrorCode BornSweepForward_Private(Mat_Born *ctx, const BornShot *shot, const PetscReal *x, PetscReal *data)
{
  BornState u, w;

  PetscFunctionBegin;
  PetscCall(BornGetScatter(ctx));
  PetscCall(BornStateStart(ctx, ctx->u, 0, &u));
  PetscCall(BornStateStart(ctx, ctx->w, 0, &w));
  while (u.step < ctx->steps) {
    const BornStep step = {.V = ctx->V, .u = w.u, .old = w.old, .scatter = x, .in = ctx->q};

    PetscCall(BornBackground(ctx, shot, &u, ctx->q));
    PetscCall((*ctx->kernels->step)(&ctx->grid, &step));
    BornStateSwap(&w);
    PetscCall(BornRecord(ctx, shot, w.u, u.step, data));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ backward */

static PetscErrorCode BornStateCopy(Mat_Born *ctx, const BornState *from, BornState *to)
{
  PetscFunctionBegin;
  PetscCall((*ctx->kernels->copy)(ctx->grid.size, from->u, to->u));
  PetscCall((*ctx->kernels->copy)(ctx->grid.size, from->old, to->old));
  to->step = from->step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornStateKeep(Mat_Born *ctx, const BornState *state, PetscInt slot)
{
  BornState *to = &ctx->saved[slot];

  PetscFunctionBegin;
  if (!to->u) PetscCall((*ctx->kernels->create)(ctx->grid.size, &to->u));
  if (!to->old) PetscCall((*ctx->kernels->create)(ctx->grid.size, &to->old));
  PetscCall(BornStateCopy(ctx, state, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* q of a step, each before the one that was asked for before; *kept states are there, of steps up to this one */
static PetscErrorCode BornBackgroundBackwards(Mat_Born *ctx, const BornShot *shot, PetscInt step, BornState *u, PetscInt *kept)
{
  PetscFunctionBegin;
  PetscCall(BornStateCopy(ctx, &ctx->saved[*kept - 1], u));
  while (u->step < step) {
    const PetscInt to = u->step + BornCheckpointsAdvance(step + 1 - u->step, ctx->nsaved - *kept + 1);

    while (u->step < to) PetscCall(BornBackground(ctx, shot, u, NULL));
    if (u->step < step && *kept < ctx->nsaved) PetscCall(BornStateKeep(ctx, u, (*kept)++));
  }
  if (ctx->saved[*kept - 1].step == step) (*kept)--;
  PetscCall(BornBackground(ctx, shot, u, ctx->q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* image += the transpose of BornSweepForward_Private() times the data */
PetscErrorCode BornSweepAdjoint_Private(Mat_Born *ctx, const BornShot *shot, const PetscReal *data, PetscReal *image)
{
  BornState u, w;
  PetscInt  kept = 1;

  PetscFunctionBegin;
  PetscCall(BornGetScatter(ctx));
  PetscCall(BornStateStart(ctx, ctx->u, 0, &u));
  PetscCall(BornStateStart(ctx, ctx->w, ctx->steps, &w));
  PetscCall(BornStateKeep(ctx, &u, 0));
  /* w is at steps + 1 to begin with, where it is 0 */
  for (PetscInt n = ctx->steps; n > 0; n--) {
    const PetscInt sample = BornSample(ctx, n);
    BornStep       step   = {.V = ctx->V, .in = ctx->q};

    if (sample >= 0) PetscCall((*ctx->kernels->inject)(&ctx->grid, &shot->to, ctx->V, data + sample, ctx->samples, 1, w.u, NULL));
    PetscCall(BornBackgroundBackwards(ctx, shot, n - 1, &u, &kept));
    step.u     = w.u;
    step.old   = w.old;
    step.image = image;
    PetscCall((*ctx->kernels->step)(&ctx->grid, &step));
    BornStateSwap(&w);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
