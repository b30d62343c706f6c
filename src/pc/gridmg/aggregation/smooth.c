/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Smoothers of a PCGRIDMG. Cells are smoothed with fixed pressures of wells; then each well solves its row. After a
   coarse correction the order is reversed, which keeps a cycle symmetric.

   Reference: J. Lottes: optimal polynomial smoothers for multigrid V-cycles, Numer. Linear Algebra Appl. 30 (2023), for
   Chebyshev's method of the fourth kind
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../boxes/boxes.h"

#define GRIDMG_DAMPING 0.8
#define GRIDMG_LARGEST 2.0 /* no eigenvalue of D^-1 A is larger, where row sums are not negative: Gershgorin */

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

    if (zero && k == 0) PetscCall((*mg->place.kernels->cycle.start)(&l->op, colour, 1., l->vector.b, x));
    else {
      PetscCall(PCGridMGRefresh_Private(mg, l));
      PetscCall((*mg->place.kernels->cycle.colour)(&l->op, colour, l->vector.b, x));
    }
    l->iterate.fresh = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step_Private(PC_GridMG *mg, GridMGLevel *l, double c1, double c2, void *d)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGRefresh_Private(mg, l));
  PetscCall((*mg->place.kernels->cycle.step)(&l->op, c1, c2, l->vector.b, l->vector.x[l->iterate.cur], d, l->vector.x[1 - l->iterate.cur]));
  l->iterate.cur   = 1 - l->iterate.cur;
  l->iterate.fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobi_Private(PC_GridMG *mg, GridMGLevel *l, PetscInt steps, PetscBool zero)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < steps; k++) {
    if (zero && k == 0) PetscCall((*mg->place.kernels->cycle.start)(&l->op, -1, GRIDMG_DAMPING, l->vector.b, l->vector.x[l->iterate.cur]));
    else PetscCall(Step_Private(mg, l, 0, GRIDMG_DAMPING, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = 4/(3 lambda) D^-1 r at first, then z = (2k-1)/(2k+3) z + (8k+4)/(2k+3)/lambda D^-1 r */
static PetscErrorCode Chebyshev_Private(PC_GridMG *mg, GridMGLevel *l, PetscInt steps)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < steps; k++) {
    const double c1 = k ? (2. * (double)k - 1.) / (2. * (double)k + 3.) : 0., c2 = k ? (8. * (double)k + 4.) / (2. * (double)k + 3.) : 4. / 3.;

    PetscCall(Step_Private(mg, l, c1, c2 / GRIDMG_LARGEST, l->vector.d));
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
  }
  switch (mg->found.smoother) {
  case PCGRIDMG_SMOOTHER_REDBLACK:
    if (zero && !steps) PetscCall((*mg->place.kernels->cycle.start)(&l->op, -1, 0., l->vector.b, l->vector.x[0]));
    for (PetscInt k = 0; k < steps; k++) {
      if (post) PetscCall(Wells_Private(mg, l, PETSC_TRUE));
      PetscCall(RedBlack_Private(mg, l, post, (PetscBool)(zero && k == 0)));
      if (!post) PetscCall(Wells_Private(mg, l, PETSC_FALSE));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  case PCGRIDMG_SMOOTHER_JACOBI:
    if (zero && !steps) PetscCall((*mg->place.kernels->cycle.start)(&l->op, -1, 0., l->vector.b, l->vector.x[0]));
    if (post) PetscCall(Wells_Private(mg, l, PETSC_TRUE));
    PetscCall(Jacobi_Private(mg, l, steps, zero));
    break;
  case PCGRIDMG_SMOOTHER_CHEBYSHEV4:
    if (zero) PetscCall((*mg->place.kernels->cycle.start)(&l->op, -1, 0., l->vector.b, l->vector.x[0]));
    if (post) PetscCall(Wells_Private(mg, l, PETSC_TRUE));
    PetscCall(Chebyshev_Private(mg, l, steps));
    break;
  default: /* is not for aggregation */
    break;
  }
  if (!post) PetscCall(Wells_Private(mg, l, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
