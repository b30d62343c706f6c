/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   V, W and K cycles of a PCGRIDMG.

   Reference:
   Y. Notay, P. S. Vassilevski: recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15 (2008)
*/

#include "gridmgimpl.h"

/* Two steps of flexible conjugate gradients on a level, each with a cycle. The right side is used up */
static PetscErrorCode KSteps_Private(PC_GridMG *mg, PetscInt level)
{
  const GridMGKernels *kernels = mg->kernels;
  GridMGLevel         *l       = &mg->level[level];
  const size_t         bytes   = (size_t)(l->op.grid.cells + l->op.grid.wells) * GridMGNumberBytes(mg->precision);
  double              *first = l->sums, *second = l->sums + GRIDMG_SUMS;
  const void          *y[GRIDMG_SUMS];

  PetscFunctionBegin;
  PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  PetscCall((*kernels->copy)(bytes, l->x[l->cur], l->c));
  PetscCall((*kernels->residual)(&l->op, NULL, l->c, l->v));
  y[0] = l->v;
  y[1] = l->b;
  PetscCall((*kernels->dots)(&l->op, l->c, 2, y, first));
  PetscCall((*kernels->kfirst)(&l->op, first, l->v, l->b));

  PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  PetscCall((*kernels->residual)(&l->op, NULL, l->x[l->cur], l->x[1 - l->cur]));
  y[1] = l->x[1 - l->cur];
  y[2] = l->b;
  PetscCall((*kernels->dots)(&l->op, l->x[l->cur], 3, y, second));
  PetscCall((*kernels->ksecond)(&l->op, first, second, l->c, l->x[l->cur]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of a level for its right side, as the cycle has it */
static PetscErrorCode CoarseSolve_Private(PC_GridMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  if (level == mg->n - 1 || mg->opt.cycle == PCGRIDMG_CYCLE_V) PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  else if (mg->opt.cycle == PCGRIDMG_CYCLE_W) {
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_FALSE));
  } else if (level <= mg->opt.klevels) PetscCall(KSteps_Private(mg, level));
  else PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right side of the coarse level */
static PetscErrorCode RestrictResidual_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  const GridMGKernels *kernels = mg->kernels;

  PetscFunctionBegin;
  if (kernels->residualrestrict) PetscCall((*kernels->residualrestrict)(&l->op, &c->op.grid, l->by, l->b, l->x[l->cur], c->b));
  else {
    PetscCall((*kernels->residual)(&l->op, l->b, l->x[l->cur], l->x[1 - l->cur]));
    PetscCall((*kernels->restrict_)(&l->op, &c->op.grid, l->by, l->x[1 - l->cur], c->b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on a level for its right side b, from the iterate or from zero */
PetscErrorCode PCGridMGCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero)
{
  const GridMGKernels *kernels = mg->kernels;
  GridMGLevel         *l = &mg->level[level], *c = l + 1;

  PetscFunctionBegin;
  if (level == mg->n - 1) {
    l->cur = 0;
    PetscCall((*kernels->dense)(&l->op, mg->inverse, mg->inversescale, l->b, l->x[1], l->x[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGSmooth_Private(mg, l, PETSC_FALSE, zero));
  PetscCall(RestrictResidual_Private(mg, l, c));
  PetscCall(CoarseSolve_Private(mg, level + 1));
  PetscCall((*kernels->prolong)(&l->op, &c->op.grid, l->by, mg->overcorrection, c->x[c->cur], l->x[l->cur]));
  PetscCall(PCGridMGSmooth_Private(mg, l, PETSC_TRUE, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
