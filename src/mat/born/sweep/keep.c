/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   -mat_born_background keep: q of each interval-th step is stored, in 32, 16 or 8 bits per node. J scatters the stored
   numbers, so J and J^T have the same numbers. Once the source is silent, q is L u, and the step itself rounds and
   stores q. The remainder of the source is added apart. Before, the source cancels most of L u near the source, and q
   is rounded when both terms are known.
*/

#include <lithe/private/born/parts.h>

static PetscInt BornKeepSlots(const BornParts *in)
{
  return (in->run->steps + in->tuning->interval - 1) / in->tuning->interval;
}

static size_t BornKeepSlot(const BornParts *in)
{
  return BornStoreBytes(&in->grids->stack, (int)in->tuning->bits);
}

static PetscErrorCode BornKeepBack(BornSweep *s, PetscInt n, PetscBool image)
{
  const BornStore *store = s->in.store;

  PetscFunctionBegin;
  if (image) {
    const BornForce force = {.image = s->image, .with = s->w.u};
    const char     *slot  = (const char *)store->data + (size_t)(n / s->in.tuning->interval) * store->slot;

    PetscCall((*s->in.kernels->image)(&s->grid, s->in.grids->real, (int)s->in.tuning->bits, slot, s->w.u, s->image));
    if (n >= s->in.source->loud) PetscCall(BornForceBackground_Private(s, n, force));
  }
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornKeepBytes(const BornParts *in)
{
  return (PetscLogDouble)BornKeepSlots(in) * (PetscLogDouble)BornKeepSlot(in);
}

const BornBackground BornKeep = {.name     = MATBORN_BACKGROUND_KEEP,
                                 .reversed = PETSC_FALSE,
                                 .sponge   = PETSC_TRUE,
                                 .rounds   = PETSC_TRUE,
                                 .slot     = BornKeepSlot,
                                 .slots    = BornKeepSlots,
                                 .back     = BornKeepBack,
                                 .bytes    = BornKeepBytes};
