/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The begin and the end of a sweep. Shots that are computed together are a stack: include/lithe/private/born/born.h.
   Each shot keeps its own units, scale, random velocity and image. A stack thus changes no bit of a result.
*/

#include <lithe/private/born/parts.h>

#define BORN_RANDOM 0.5 /* how much a velocity is lowered at most */

/* A power of two near the largest of n numbers, or 1: quotients by it are neither too large nor too small for single
   precision */
PetscErrorCode BornUnit_Private(const BornParts *in, size_t n, const PetscReal *x, double *unit)
{
  double largest;

  PetscFunctionBegin;
  PetscCall((*in->kernels->largest)(n, x, &largest));
  PetscCall(BornGroupLargest_Private(&in->parallel->split, &largest));
  *unit = largest > 0 && !PetscIsInfOrNanReal((PetscReal)largest) ? ldexp(1, ilogb(largest)) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The factors of the sources follow from the units of the fields */
PetscErrorCode BornSweepSetSource_Private(BornSweep *s)
{
  double *factor;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &factor));
  for (PetscInt m = 0; m < s->n; m++) factor[m] = s->in.source->force / s->unit[m];
  PetscCall(BornGetFactors_Private(s, 0, factor, &s->sources));
  PetscCall(PetscFree(factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random velocity per shot */
static PetscErrorCode BornRandomVelocity(BornSweep *s)
{
  const BornKernels *k     = s->in.kernels;
  const BornGrid    *g     = &s->in.grids->one;
  const BornModel   *model = s->in.model;
  const BornNumber   real  = s->in.grids->real;
  const PetscBool    small = (PetscBool)(s->in.tuning->velocitybits == 16);
  const size_t       bytes = small ? sizeof(uint16_t) : BornBytes(real);
  void              *all, *field;

  PetscFunctionBegin;
  PetscCall(BornGetRandom_Private(s, &all));
  if (small) PetscCall(BornGetField_Private(s, BORN_FIELD_IMAGE, &field));
  for (PetscInt m = 0; m < s->n; m++) {
    const uint64_t seed = (uint64_t)s->in.tuning->seed * 0x100000001b3ULL + (uint64_t)s->shot[m];
    void          *V    = BornFieldOf(&s->grid, all, bytes, m);

    if (small) {
      PetscCall((*k->randomise)(g, real, BORN_RANDOM, seed, model->Vreal, field));
      PetscCall((*k->quantise)(g, real, model->Vunit, field, (uint16_t *)V));
    } else PetscCall((*k->randomise)(g, real, BORN_RANDOM, seed, model->V, V));
  }
  s->V            = all;
  s->grid.sharedV = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources and receivers where fields are */
static PetscErrorCode BornSweepPoints(BornSweep *s)
{
  const BornKernels *k = s->in.kernels;
  const BornPoints **points[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(s->n, &points[0], s->n, &points[1]));
  for (PetscInt m = 0; m < s->n; m++) {
    points[0][m] = s->in.places->at + s->shot[m];
    points[1][m] = s->in.places->to + s->shot[m];
  }
  for (int p = 0; p < 2 && s->n > 1; p++) {
    PetscCall(BornPointsJoin_Private(s->n, points[p], s->in.grids->one.nodes, &s->joined[p]));
    points[p][0] = &s->joined[p];
  }
  PetscCall((*k->points)(points[0][0], &s->at));
  PetscCall((*k->points)(points[1][0], &s->to));
  PetscCall(PetscFree2(points[0], points[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* V, and points where fields are. pair: with the background of the pair, else with u as MatBornModel() has it */
PetscErrorCode BornSweepBegin_Private(const BornParts *in, PetscInt n, const PetscInt shot[], PetscBool pair, BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->in     = *in;
  s->n      = n;
  s->shot   = shot;
  s->number = pair ? in->store->number : in->grids->real;
  s->sponge = (PetscBool)(!pair || in->store->background->sponge);
  s->V      = in->model->V;
  BornStackOf(&in->grids->one, n, &s->grid);
  PetscCall(PetscMalloc1(n, &s->unit));
  for (PetscInt m = 0; m < n; m++) s->unit[m] = in->source->unit;
  PetscCall(BornSweepSetSource_Private(s));
  if (!s->sponge) PetscCall(BornRandomVelocity(s));
  PetscCall(BornSweepPoints(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSweepEnd_Private(BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall((*s->in.kernels->pointsdestroy)(&s->at));
  PetscCall((*s->in.kernels->pointsdestroy)(&s->to));
  for (int p = 0; p < 2; p++) PetscCall(BornPointsDestroy_Private(&s->joined[p]));
  PetscCall(PetscFree(s->unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields at rest, at step 0 */
PetscErrorCode BornSweepStart_Private(BornSweep *s)
{
  PetscFunctionBegin;
  PetscCall(BornStateStart_Private(s, PETSC_FALSE, 0));
  if (s->x) PetscCall(BornStateStart_Private(s, PETSC_TRUE, 0));
  if (s->number == BORN_INT32) PetscCall((*s->in.kernels->zero)((size_t)s->n * sizeof(unsigned), s->in.integers->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}
