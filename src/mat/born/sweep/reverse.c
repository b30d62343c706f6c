/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Backgrounds that run backwards. Without a sponge, a step with new and old exchanged is the step back. In whole
   numbers the step back is exact to the last bit. In single precision u is therefore in whole numbers.

   -mat_born_background random: instead of the sponge, a random velocity that scatters incoming waves (R. Clapp, Reverse
   time migration with random boundaries, SEG 2009). w keeps the sponge.

   -mat_born_background ring: with the sponge. The inside runs backwards. The surrounding nodes within reach of the
   stencil are stored at each step. Each slab stores its own nodes.

   Nodes in the sponge are columns of zeros in both.
*/

#include <lithe/private/born/parts.h>

/* ------------------------------------------------------------ random */

static PetscErrorCode BornRandomBack(BornSweep *s, PETSC_UNUSED PetscInt n, PetscBool image)
{
  PetscFunctionBegin;
  PetscCall(BornStepBoth_Private(s, PETSC_TRUE, image, 0, NULL, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornRandomBytes(const BornParts *in)
{
  return (PetscLogDouble)in->grids->stack.size * (in->tuning->velocitybits == 16 ? 2 : (PetscLogDouble)BornBytes(in->grids->real));
}

const BornBackground BornRandom =
  {.name = MATBORN_BACKGROUND_RANDOM, .reversed = PETSC_TRUE, .sponge = PETSC_FALSE, .rounds = PETSC_FALSE, .back = BornRandomBack, .bytes = BornRandomBytes};

/* ------------------------------------------------------------ ring */

/* Slot k belongs to state k; the slot of the first state is zeros */
static PetscInt BornRingSlots(const BornParts *in)
{
  return in->run->steps;
}

static size_t BornRingSlot(const BornParts *in)
{
  int         boxes;
  BornRingBox box[6];

  return (size_t)BornRing(&in->grids->stack, &boxes, box) * BornBytes(in->store->number);
}

static inline char *BornRingAt(const BornSweep *s, PetscInt state)
{
  return (char *)s->in.store->data + (size_t)state * s->in.store->slot;
}

static PetscErrorCode BornRingNote(BornSweep *s, PetscInt n)
{
  PetscFunctionBegin;
  if (n + 1 < s->in.run->steps) PetscCall((*s->in.kernels->ring)(&s->grid, s->number, PETSC_TRUE, s->u.u, BornRingAt(s, n + 1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BornRingBack(BornSweep *s, PetscInt n, PetscBool image)
{
  void *q;

  PetscFunctionBegin;
  PetscCall(BornGetField_Private(s, BORN_FIELD_Q, &q));
  BornStateSwap_Private(&s->u); /* u of step n is the previous field */
  /* the step neither reads nor writes the nodes round the inside of old */
  if (n > 0) PetscCall((*s->in.kernels->ring)(&s->grid, s->number, PETSC_FALSE, s->u.old, BornRingAt(s, n - 1)));
  PetscCall(BornStepInside_Private(s, n, image ? q : NULL));
  s->u.step--;
  if (image) PetscCall((*s->in.kernels->image)(&s->grid, s->in.grids->real, 0, q, s->w.u, s->image));
  PetscCall(BornStepSecond_Private(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscLogDouble BornRingBytes(const BornParts *in)
{
  return (PetscLogDouble)BornRingSlots(in) * (PetscLogDouble)BornRingSlot(in);
}

const BornBackground BornRingBackground = {.name     = MATBORN_BACKGROUND_RING,
                                           .reversed = PETSC_TRUE,
                                           .sponge   = PETSC_TRUE,
                                           .rounds   = PETSC_FALSE,
                                           .slot     = BornRingSlot,
                                           .slots    = BornRingSlots,
                                           .note     = BornRingNote,
                                           .back     = BornRingBack,
                                           .bytes    = BornRingBytes};
