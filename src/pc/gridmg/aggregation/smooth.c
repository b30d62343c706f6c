/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The smoother of aggregation: red-black Gauss-Seidel. Cells are smoothed with fixed pressures of wells; then each well
   solves its row. After a coarse correction the order is reversed, which keeps a cycle symmetric.
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../boxes/boxes.h"

/* The ghosts of the iterate, if the iterate has changed */
PetscErrorCode PCGridMGRefresh_Private(PC_GridMG *mg, GridMGLevel *l)
{
  PetscFunctionBegin;
  if (!l->iterate.fresh) PetscCall(PCGridMGExchange_Private(mg, l, l->vector.x[l->iterate.cur]));
  l->iterate.fresh = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RedBlack_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool post, PetscBool zero)
{
  const int parity = (int)PCGridMGParity_Private(mg, l); /* colours of the whole grid */
  void     *x      = l->vector.x[l->iterate.cur];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const int colour = (post ? 1 - k : k) ^ parity;

    if (zero && k == 0) PetscCall((*mg->place.kernels->cycle.start)(&l->op, colour, l->vector.b, x));
    else {
      PetscCall(PCGridMGRefresh_Private(mg, l));
      PetscCall((*mg->place.kernels->cycle.colour)(&l->op, colour, l->vector.b, x));
    }
    l->iterate.fresh = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gauss-Seidel on the wells of this level */
static PetscErrorCode Wells_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool backwards)
{
  PetscFunctionBegin;
  if (!(l->shared ? mg->domain.team.wells : l->op.grid.wells)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGRefresh_Private(mg, l));
  PetscCall((*mg->place.kernels->cycle.wells)(&l->op, backwards, l->vector.b, l->vector.x[l->iterate.cur]));
  l->iterate.fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the iterate, or from zero */
PetscErrorCode PCGridMGSmooth_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool post, PetscBool zero)
{
  const PetscInt steps = mg->opt.smooths[post ? 1 : 0];

  PetscFunctionBegin;
  if (zero) {
    l->iterate.cur   = 0;
    l->iterate.fresh = PETSC_FALSE;
    if (!steps) PetscCall((*mg->place.kernels->cycle.start)(&l->op, -1, l->vector.b, l->vector.x[0]));
  }
  for (PetscInt k = 0; k < steps; k++) {
    if (post) PetscCall(Wells_Private(mg, l, PETSC_TRUE));
    PetscCall(RedBlack_Private(mg, l, post, (PetscBool)(zero && k == 0)));
    if (!post) PetscCall(Wells_Private(mg, l, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
