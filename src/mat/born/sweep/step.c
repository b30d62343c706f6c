/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The steps of sweeps: a step of the background u, a step of the second field w, and a step of both fields, which reads
   V once and never stores q. A source is added afterwards, to all results that depend on the source. Backwards the data
   are added. Then slabs exchange planes: parallel/exchange.c.
*/

#include <lithe/private/born/parts.h>

void BornStateSwap_Private(BornState *state)
{
  void *u = state->u;

  state->u   = state->old;
  state->old = u;
}

/* The source at a step: the force names the arrays to which the source is added. Returns the number of forces, 0 or 1
   */
static PetscInt BornSourceAt(const BornSweep *s, PetscInt step, BornForce *force)
{
  if (step >= s->in.source->samples) return 0;
  force->number  = s->number;
  force->sponge  = s->sponge;
  force->Vbits   = (int)s->in.tuning->velocitybits;
  force->Vunit   = s->in.model->Vunit;
  force->V       = s->V;
  force->points  = &s->at;
  force->values  = s->in.source->wave + step;
  force->stride  = 0;
  force->factor  = s->sources.one;
  force->factors = s->sources.each;
  return 1;
}

/* The source at a finished step */
PetscErrorCode BornForceBackground_Private(BornSweep *s, PetscInt step, BornForce force)
{
  PetscFunctionBegin;
  if (BornSourceAt(s, step, &force)) PetscCall((*s->in.kernels->force)(&s->grid, &force));
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

/* A step of the background; q = L u + f, if not NULL. L u, without f, goes to a store of tuning->bits bits per
   node, unless the store is NULL */
PetscErrorCode BornStepBackground_Private(BornSweep *s, BornState *state, void *q, void *store)
{
  const BornStep step  = {.number  = s->number,
                          .sponge  = s->sponge,
                          .Vbits   = (int)s->in.tuning->velocitybits,
                          .Vunit   = s->in.model->Vunit,
                          .V       = s->V,
                          .u       = state->u,
                          .old     = state->old,
                          .out     = q,
                          .bits    = store ? (int)s->in.tuning->bits : 0,
                          .store   = store,
                          .largest = s->in.integers->largest};
  BornForce      force = {.u = state->old, .out = q};

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(&s->in, &s->grid, &step, BornSourceAt(s, state->step, &force), &force));
  BornStateSwap_Private(state);
  state->step++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of both fields. Forwards, x q is the force of w, if asked, with L u rounded to bits, and stored,
   unless the store is NULL. Backwards, image += q w. q goes to out, unless out is NULL */
PetscErrorCode BornStepBoth_Private(BornSweep *s, PetscBool back, PetscBool active, int bits, void *store, void *out)
{
  PetscInt  n        = back ? s->u.step - 1 : s->u.step;
  BornStep  step     = {.number  = s->number,
                        .sponge  = s->sponge,
                        .Vbits   = (int)s->in.tuning->velocitybits,
                        .Vunit   = s->in.model->Vunit,
                        .V       = s->V,
                        .w       = s->w.u,
                        .wold    = s->w.old,
                        .bits    = bits,
                        .store   = store,
                        .out     = out,
                        .largest = s->in.integers->largest};
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
  PetscCall(BornAdvance_Private(&s->in, &s->grid, &step, forces, force));
  if (!back) BornStateSwap_Private(&s->u);
  BornStateSwap_Private(&s->w);
  s->u.step += back ? -1 : 1;
  s->w.step += back ? -1 : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step back of the nodes without a sponge, from u to old; nodes of old round the inside are set. q = L u + f of step
   n, if not NULL */
PetscErrorCode BornStepInside_Private(BornSweep *s, PetscInt n, void *q)
{
  const BornStep step  = {.number  = s->number,
                          .inside  = PETSC_TRUE,
                          .Vbits   = (int)s->in.tuning->velocitybits,
                          .Vunit   = s->in.model->Vunit,
                          .V       = s->V,
                          .u       = s->u.u,
                          .old     = s->u.old,
                          .out     = q,
                          .largest = s->in.integers->largest};
  BornForce      force = {.inside = PETSC_TRUE, .u = s->u.old, .out = q};

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(&s->in, &s->grid, &step, BornSourceAt(s, n, &force), &force));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step of the second field alone */
PetscErrorCode BornStepSecond_Private(BornSweep *s)
{
  const BornStep step = {.number = s->in.grids->real,
                         .sponge = PETSC_TRUE,
                         .Vbits  = (int)s->in.tuning->velocitybits,
                         .Vunit  = s->in.model->Vunit,
                         .V      = s->V,
                         .u      = s->w.u,
                         .old    = s->w.old};
  BornForce      force;

  PetscFunctionBegin;
  PetscCall(BornAdvance_Private(&s->in, &s->grid, &step, BornData(s, s->w.old, &force), &force));
  BornStateSwap_Private(&s->w);
  PetscFunctionReturn(PETSC_SUCCESS);
}
