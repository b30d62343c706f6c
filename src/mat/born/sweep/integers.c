/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The scales of a background in whole numbers, of which each shot has one */

#include <lithe/private/born/parts.h>

#define BORN_INT_MOST   1073741824. /* limit of 2 u - old: 2^30 */
#define BORN_INT_WANTED 268435456.  /* lower limit of the scaled largest |u| while the source emits: 2^28 */

PetscErrorCode BornIntegersCreate_Private(const BornParts *in)
{
  BornIntegers *integers = in->integers;

  PetscFunctionBegin;
  if (in->store->number != BORN_INT32) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc1(in->survey->nshots, &integers->scale));
  PetscCall((*in->kernels->create)(PETSC_FALSE, (size_t)BornShots(&in->grids->stack) * sizeof(unsigned), (void **)&integers->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornIntegersDestroy_Private(const BornKernels *k, BornIntegers *integers)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(integers->scale));
  PetscCall((*k->destroy)(PETSC_FALSE, (void **)&integers->largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the groups that found scales to all: another group may get the shot in the next product */
PetscErrorCode BornIntegersShare_Private(const BornParts *in)
{
  const PetscInt   n     = in->survey->nshots;
  const BornSplit *split = &in->parallel->split;
  double          *scale = in->integers->scale;

  PetscFunctionBegin;
  if (in->store->number != BORN_INT32 || split->group.groups == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt s = 0; s < n; s++) scale[s] = scale[s] > 0 ? scale[s] : INFINITY;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, scale, (PetscMPIInt)n, MPI_DOUBLE, MPI_MIN, split->all));
  for (PetscInt s = 0; s < n; s++) scale[s] = isfinite(scale[s]) ? scale[s] : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest whole number of the background until now, per shot */
static PetscErrorCode BornGetLargest(const BornSweep *s, double largest[])
{
  unsigned *value;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(s->n, &value));
  PetscCall((*s->in.kernels->copy)((size_t)s->n * sizeof(*value), s->in.integers->largest, value));
  for (PetscInt m = 0; m < s->n; m++) {
    largest[m] = value[m];
    PetscCall(BornGroupLargest_Private(&s->in.parallel->split, &largest[m]));
  }
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The units of the fields follow from the scales. trial: the scale of shots without one, or 0 */
static PetscErrorCode BornSetUnits(BornSweep *s, double trial)
{
  PetscFunctionBegin;
  for (PetscInt m = 0; m < s->n; m++) {
    const double scale = s->in.integers->scale[s->shot[m]];

    s->unit[m] = s->in.source->unit / (scale > 0 ? scale : trial);
  }
  PetscCall(BornSweepSetSource_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scales of shots without one: powers of two, found by a run while the source emits, where u is largest */
PetscErrorCode BornIntegersScale_Private(BornSweep *s)
{
  double *scale = s->in.integers->scale, *largest;

  PetscFunctionBegin;
  if (s->number != BORN_INT32) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(s->n, &largest));
  for (int turn = 0; turn < 64; turn++) {
    const double trial = ldexp(BORN_INT_WANTED, -8 * turn);
    PetscInt     left  = 0;

    for (PetscInt m = 0; m < s->n; m++) left += !(scale[s->shot[m]] > 0);
    if (!left) break;
    PetscCall(BornSetUnits(s, trial));
    PetscCall(BornSweepStart_Private(s));
    while (s->u.step < s->in.source->busy) PetscCall(BornStepBackground_Private(s, &s->u, NULL, NULL));
    PetscCall(BornGetLargest(s, largest));
    for (PetscInt m = 0; m < s->n; m++) {
      if (scale[s->shot[m]] > 0 || largest[m] > BORN_INT_MOST) continue;
      scale[s->shot[m]] = largest[m] > 0 ? ldexp(trial, ilogb(BORN_INT_WANTED) - ilogb(largest[m])) : trial;
    }
  }
  PetscCall(PetscFree(largest));
  PetscCall(BornSetUnits(s, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A smaller scale for shots whose whole numbers have been too large. Whether there are any */
PetscErrorCode BornIntegersRescale_Private(BornSweep *s, PetscBool *again)
{
  double *largest;

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  if (s->number != BORN_INT32) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(s->n, &largest));
  PetscCall(BornGetLargest(s, largest));
  for (PetscInt m = 0; m < s->n; m++) {
    if (!(largest[m] > BORN_INT_MOST)) continue;
    s->in.integers->scale[s->shot[m]] /= 4;
    *again = PETSC_TRUE;
  }
  PetscCall(PetscFree(largest));
  if (*again) PetscCall(BornSetUnits(s, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}
