/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The choice of kept states of a run over time, for visiting all states backwards with few kept ones: binomial
   checkpointing, A. Griewank, A. Walther, Algorithm 799: revolve, ACM TOMS 26, 2000.
*/

#include "bornimpl.h"
#include <lithe/private/litheimpl.h>

/* Steps that s states can take back if none is made more than r times: (s + r)! / s! / r!, or the most that is wanted */
static PetscInt BornReach(PetscInt s, PetscInt r, PetscInt most)
{
  double reach = 1;

  for (PetscInt k = 1; k <= r && reach < (double)most; k++) reach *= (double)(s + k) / (double)k;
  return reach < (double)most ? (PetscInt)(reach + .5) : most;
}

/* The fewest states with which no step is made more than three times: two of these before the step is taken back */
PetscInt BornCheckpointsDefault(PetscInt steps)
{
  PetscInt s = 1;

  while (BornReach(s, 2, steps) < steps) s++;
  return s;
}

/* The distance in steps from a kept state to the next one to keep. count >= 2 steps are to be taken back with these
   states, states in all */
PetscInt BornCheckpointsAdvance(PetscInt count, PetscInt states)
{
  PetscInt r = 1;

  if (states < 2) return count - 1;
  while (BornReach(states, r, count) < count) r++;
  return PetscMax(1, PetscMin(BornReach(states, r - 1, count), count - 1));
}

/* ------------------------------------------------------------ a background */

static PetscErrorCode BornStateKeep(const BornSweep *s, const BornState *state, PetscInt slot)
{
  Mat_Born  *ctx = s->ctx;
  BornState *to  = &ctx->store.saved[slot];

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(ctx, &to->u));
  PetscCall(BornGetField_Private(ctx, &to->old));
  PetscCall(BornStateCopy_Private(s, state, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The distance from a kept state to the next state to keep; step is to come back next */
static PetscInt BornCheckpointNext(const Mat_Born *ctx, PetscInt from, PetscInt step)
{
  return step > from ? from + BornCheckpointsAdvance(step + 1 - from, ctx->store.nsaved - ctx->store.kept + 1) : from;
}

static PetscInt BornCheckpointStates(const Mat_Born *ctx)
{
  return ctx->tuning.checkpoints == PETSC_DECIDE ? BornCheckpointsDefault(ctx->run.steps) : PetscMin(ctx->tuning.checkpoints, ctx->run.steps);
}

static PetscErrorCode BornCheckpointCreate(Mat_Born *ctx)
{
  PetscFunctionBegin;
  PetscCall(LitheCite(LITHE_CITE_CHECKPOINTS));
  ctx->store.nsaved = BornCheckpointStates(ctx);
  PetscCall(PetscCalloc1(ctx->store.nsaved, &ctx->store.saved));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornCheckpointStart(BornSweep *s)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  ctx->store.kept = 0;
  PetscCall(BornStateKeep(s, &s->u, ctx->store.kept++));
  ctx->store.next = BornCheckpointNext(ctx, 0, ctx->run.steps - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornCheckpointNote(BornSweep *s, PetscInt n)
{
  Mat_Born *ctx = s->ctx;

  PetscFunctionBegin;
  if (n + 1 != ctx->store.next || n + 1 >= ctx->run.steps - 1 || ctx->store.kept >= ctx->store.nsaved) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BornStateKeep(s, &s->u, ctx->store.kept++));
  ctx->store.next = BornCheckpointNext(ctx, n + 1, ctx->run.steps - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* q of a step; each call asks for a step before the step of the previous call */
static PetscErrorCode BornCheckpointBack(BornSweep *s, PetscInt step, PetscBool image)
{
  Mat_Born  *ctx = s->ctx;
  BornState *u   = &s->u;

  PetscFunctionBegin;
  if (image) {
    while (ctx->store.saved[ctx->store.kept - 1].step > step) ctx->store.kept--;
    PetscCall(BornGetField_Private(ctx, &ctx->fields.q));
    PetscCall(BornStateCopy_Private(s, &ctx->store.saved[ctx->store.kept - 1], u));
    while (u->step < step) {
      const PetscInt to = BornCheckpointNext(ctx, u->step, step);

      while (u->step < to) PetscCall(BornStepBackground_Private(s, u, NULL, NULL));
      if (u->step < step && ctx->store.kept < ctx->store.nsaved) PetscCall(BornStateKeep(s, u, ctx->store.kept++));
    }
    PetscCall(BornStepBackground_Private(s, u, ctx->fields.q, NULL));
    PetscCall((*ctx->kernels->image)(&s->grid, ctx->grids.real, 0, ctx->fields.q, s->w.u, s->image));
  }
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornCheckpointBytes(const Mat_Born *ctx)
{
  return 2 * (PetscLogDouble)BornCheckpointStates(ctx) * (PetscLogDouble)ctx->grids.stack.size * (PetscLogDouble)BornBytes(ctx->grids.real);
}

const BornBackground BornCheckpoint = {.reversed = PETSC_FALSE,
                                       .sponge   = PETSC_TRUE,
                                       .rounds   = PETSC_FALSE,
                                       .create   = BornCheckpointCreate,
                                       .start    = BornCheckpointStart,
                                       .note     = BornCheckpointNote,
                                       .back     = BornCheckpointBack,
                                       .bytes    = BornCheckpointBytes};
