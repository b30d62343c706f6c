/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The steps of sweeps: a step of the background u, a step of the second field w, and a step of both fields, which reads V
   once and never stores q. A source is added afterwards, to all results that depend on the source. Backwards the data
   are added. Then slabs exchange planes: exchange.c.
*/

#include "bornimpl.h"

/* Two fields of zeros */
PetscErrorCode BornStateStart_Private(BornSweep *s, void *fields[2], BornNumber number, PetscInt step, BornState *state)
{
  const Mat_Born *ctx   = s->ctx;
  const size_t    bytes = BornBytes(number);

  PetscFunctionBegin;
  for (int t = 0; t < 2; t++) {
    if (!fields[t]) PetscCall((*ctx->kernels->create)((size_t)ctx->grids.stack.size * bytes, &fields[t]));
    else PetscCall((*ctx->kernels->zero)((size_t)s->grid.size * bytes, fields[t]));
  }
  state->u    = fields[0];
  state->old  = fields[1];
  state->step = step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornStateCopy_Private(const BornSweep *s, const BornState *from, BornState *to)
{
  const size_t bytes = (size_t)s->grid.size * BornBytes(s->ctx->grids.real);

  PetscFunctionBegin;
  PetscCall((*s->ctx->kernels->copy)(bytes, from->u, to->u));
  PetscCall((*s->ctx->kernels->copy)(bytes, from->old, to->old));
  to->step = from->step;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void BornStateSwap_Private(BornState *state)
{
  void *u = state->u;

  state->u   = state->old;
  state->old = u;
}

/* A real field, which is created by the first request, for as many shots as are computed together */
PetscErrorCode BornGetField_Private(Mat_Born *ctx, void **field)
{
  PetscFunctionBegin;
  if (!*field) PetscCall((*ctx->kernels->create)((size_t)ctx->grids.stack.size * BornBytes(ctx->grids.real), field));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The source at a step: the force names the arrays to which the source is added. Returns the number of forces, 0 or 1 */
static PetscInt BornSourceAt(const BornSweep *s, PetscInt step, BornForce *force)
{
  const Mat_Born *ctx = s->ctx;

  if (step >= ctx->survey.nwavelet) return 0;
  force->number  = s->number;
  force->sponge  = s->sponge;
  force->Vbits   = (int)ctx->tuning.velocitybits;
  force->Vunit   = ctx->model.Vunit;
  force->V       = s->V;
  force->points  = &s->at;
  force->values  = ctx->source.wave + step;
  force->stride  = 0;
  force->factor  = s->source.one;
  force->factors = s->source.each;
  return 1;
}

/* The source at a finished step */
PetscErrorCode BornForceBackground_Private(BornSweep *s, PetscInt step, BornForce force)
{
  PetscFunctionBegin;
  if (BornSourceAt(s, step, &force)) PetscCall((*s->ctx->kernels->force)(&s->grid, &force));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data at a step of w backwards. Returns the number of forces, 0 or 1 */
static PetscInt BornData(const BornSweep *s, void *w, BornForce *force)
{
  if (!s->data) return 0;
  *force   = *s->data;
  force->u = w;
  return 1;
}

/* A step of the background; q = L u + f, if not NULL. L u, without f, goes to a store of ctx->tuning.bits bits per node, unless
   the store is NULL */
PetscErrorCode BornStepBackground_Private(BornSweep *s, BornState *state, void *q, void *store)
{
  Mat_Born      *ctx   = s->ctx;
  const BornStep step  = {.number  = s->number,
                          .sponge  = s->sponge,
                          .Vbits   = (int)ctx->tuning.velocitybits,
                          .Vunit   = ctx->model.Vunit,
                          .V       = s->V,
                          .u       = state->u,
                          .old     = state->old,
                          .out     = q,
                          .bits    = store ? (int)ctx->tuning.bits : 0,
                          .store   = store,
                          .largest = ctx->fields.largest};
  BornForce      force = {.u = state->old, .out = q};

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(ctx, &s->grid, &step, BornSourceAt(s, state->step, &force), &force));
  BornStateSwap_Private(state);
  state->step++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of both fields. Forwards, x q is the force of w, if asked, with L u rounded to bits, and stored,
   unless the store is NULL. Backwards, image += q w. q goes to out, unless out is NULL */
PetscErrorCode BornStepBoth_Private(BornSweep *s, PetscBool back, PetscBool active, int bits, void *store, void *out)
{
  Mat_Born *ctx      = s->ctx;
  PetscInt  n        = back ? s->u.step - 1 : s->u.step;
  BornStep  step     = {.number  = s->number,
                        .sponge  = s->sponge,
                        .Vbits   = (int)ctx->tuning.velocitybits,
                        .Vunit   = ctx->model.Vunit,
                        .V       = s->V,
                        .w       = s->w.u,
                        .wold    = s->w.old,
                        .bits    = bits,
                        .store   = store,
                        .out     = out,
                        .largest = ctx->fields.largest};
  BornForce force[2] = {{.out = out}};
  PetscInt  forces;

  PetscFunctionBegin;
  if (back) BornStateSwap_Private(&s->u); /* u of step n is the previous field */
  step.u   = s->u.u;
  step.old = force[0].u = s->u.old;
  if (active && back) step.image = force[0].image = s->image;
  if (active && back) force[0].with = s->w.u;
  if (active && !back) step.scatter = force[0].scatter = s->x;
  if (active && !back) force[0].w = s->w.old;
  forces = BornSourceAt(s, n, &force[0]);
  forces += BornData(s, s->w.old, &force[forces]);
  PetscCall(BornAdvance_Private(ctx, &s->grid, &step, forces, force));
  if (!back) BornStateSwap_Private(&s->u);
  BornStateSwap_Private(&s->w);
  s->u.step += back ? -1 : 1;
  s->w.step += back ? -1 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step back of the nodes without a sponge, from u to old; nodes of old round the inside are set. q = L u + f of step n, if not NULL */
PetscErrorCode BornStepInside_Private(BornSweep *s, PetscInt n, void *q)
{
  Mat_Born      *ctx   = s->ctx;
  const BornStep step  = {.number  = s->number,
                          .inside  = PETSC_TRUE,
                          .Vbits   = (int)ctx->tuning.velocitybits,
                          .Vunit   = ctx->model.Vunit,
                          .V       = s->V,
                          .u       = s->u.u,
                          .old     = s->u.old,
                          .out     = q,
                          .largest = ctx->fields.largest};
  BornForce      force = {.inside = PETSC_TRUE, .u = s->u.old, .out = q};

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(ctx, &s->grid, &step, BornSourceAt(s, n, &force), &force));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of the second field alone */
PetscErrorCode BornStepSecond_Private(BornSweep *s)
{
  Mat_Born      *ctx  = s->ctx;
  const BornStep step = {.number = ctx->grids.real,
                         .sponge = PETSC_TRUE,
                         .Vbits  = (int)ctx->tuning.velocitybits,
                         .Vunit  = ctx->model.Vunit,
                         .V      = s->V,
                         .u      = s->w.u,
                         .old    = s->w.old};
  BornForce      force;

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(ctx, &s->grid, &step, BornData(s, s->w.old, &force), &force));
  BornStateSwap_Private(&s->w);
  PetscFunctionReturn(PETSC_SUCCESS);
}
