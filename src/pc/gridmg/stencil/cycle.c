/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* V and W cycles of a PCGRIDMG with de Zeeuw's interpolation, and their smoothers */

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"

#define GRIDMG_DAMPING 0.8

/* ------------------------------------------------------------ the vectors of a sweep */

void PCGridMGSweepStart_Private(GridMGSweep *w, const GridMGStencilKernels *kernels)
{
  w->kernels = kernels;
}

void PCGridMGSweepVectors_Private(GridMGSweep *w, PetscInt level, void *b, void *x0, void *x1)
{
  w->b[level]    = b;
  w->x[level][0] = x0;
  w->x[level][1] = x1;
}

/* After a cycle that was replayed: which x of the finest level is the iterate */
void PCGridMGSweepEnded_Private(GridMGSweep *w, int cur)
{
  w->cur[0] = cur;
}

/* ------------------------------------------------------------ cycles */

/* Gauss-Seidel by colours, after a coarse correction backwards. last: own points are enough afterwards */
static PetscErrorCode Colours_Private(PC_GridMG *mg, GridMGSweep *w, PetscInt level, PetscBool post, PetscBool zero, PetscBool last)
{
  GridMGStencilLevel *l       = &mg->stencils.stencil[level];
  const int           colours = l->op.grid.corners;

  PetscFunctionBegin;
  for (int k = 0; k < colours; k++) {
    const int colour = post ? colours - 1 - k : k;

    if (zero && k == 0) PetscCall((*w->kernels->start)(&l->op, colour, 1, w->b[level], w->x[level][w->cur[level]]));
    else {
      PetscCall((*w->kernels->colour)(&l->op, colour, w->b[level], w->x[level][w->cur[level]]));
      if (!last || k < colours - 1) PetscCall(PCGridMGExchangeValues_Private(mg, l, w->x[level][w->cur[level]]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The damping factor of a Jacobi step */
double PCGridMGStencilDamping_Private(const PC_GridMG *mg)
{
  return mg->found.smoother == PCGRIDMG_SMOOTHER_DAMPED ? 1 : GRIDMG_DAMPING; /* the factors of each point already contain the damping */
}

/* Smoothing from the iterate, or from zero, without the last `without` steps */
static PetscErrorCode Smooth_Private(PC_GridMG *mg, GridMGSweep *w, PetscInt level, PetscBool post, PetscBool zero, PetscInt without)
{
  GridMGStencilLevel *l       = &mg->stencils.stencil[level];
  const PetscInt      steps   = mg->opt.smooths[post ? 1 : 0] - without;
  const double        damping = PCGridMGStencilDamping_Private(mg);

  PetscFunctionBegin;
  if (zero) w->cur[level] = 0;
  if (zero && !steps) PetscCall((*w->kernels->start)(&l->op, -1, 0, w->b[level], w->x[level][0]));
  for (PetscInt k = 0; k < steps; k++) {
    const PetscBool last = (PetscBool)(post && k == steps - 1 && level == 0); /* nobody reads remote points afterwards */

    if (mg->found.smoother == PCGRIDMG_SMOOTHER_REDBLACK) PetscCall(Colours_Private(mg, w, level, post, (PetscBool)(zero && k == 0), last));
    else if (zero && k == 0) PetscCall((*w->kernels->start)(&l->op, -1, damping, w->b[level], w->x[level][w->cur[level]]));
    else {
      PetscCall((*w->kernels->step)(&l->op, damping, w->b[level], w->x[level][w->cur[level]], w->x[level][1 - w->cur[level]]));
      w->cur[level] = 1 - w->cur[level];
      if (!last) PetscCall(PCGridMGExchangeValues_Private(mg, l, w->x[level][w->cur[level]]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on a level for its right-hand side b, from the iterate or from zero, without the last `without` steps */
PetscErrorCode PCGridMGStencilCycle_Private(PC_GridMG *mg, GridMGSweep *w, PetscInt level, PetscBool zero, PetscInt without)
{
  const GridMGStencilKernels *kernels = w->kernels;
  GridMGStencilLevel         *l = &mg->stencils.stencil[level], *c = l + 1;
  const GridMGPoints         *coarse = l->shared ? &l->split.next : &c->op.grid;
  const void                 *e;
  PetscBool                   again;

  PetscFunctionBegin;
  if (level == mg->state.n - 1) {
    w->cur[level] = 0;
    PetscCall((*kernels->dense)(&l->op, mg->coarsest.inverse, mg->coarsest.scale, w->b[level], w->x[level][1], w->x[level][0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* a single step from zero is cheap: each reader recomputes the iterate */
  again = (PetscBool)(kernels->down && zero && mg->opt.smooths[0] == 1 && mg->found.smoother != PCGRIDMG_SMOOTHER_REDBLACK);
  if (again) {
    w->cur[level] = 0;
    PetscCall((*kernels->down)(&l->op, PCGridMGStencilDamping_Private(mg), w->b[level], w->x[level][0], w->x[level][1]));
  } else {
    PetscCall(Smooth_Private(mg, w, level, PETSC_FALSE, zero, 0));
    PetscCall((*kernels->residual)(&l->op, w->b[level], w->x[level][w->cur[level]], w->x[level][1 - w->cur[level]]));
  }
  PetscCall((*kernels->restrict_)(&l->op, coarse, w->x[level][1 - w->cur[level]], l->shared ? l->carry.coarse : w->b[level + 1]));
  if (l->shared) PetscCall(PCGridMGShareDown_Private(mg, l));
  PetscCall(PCGridMGStencilSolve_Private(mg, w, level + 1));
  if (l->shared) PetscCall(PCGridMGShareUp_Private(mg, l));
  e = l->shared ? l->carry.coarse : w->x[level + 1][w->cur[level + 1]];
  if (again) PetscCall((*kernels->up)(&l->op, coarse, mg->found.overcorrection, e, PCGridMGStencilDamping_Private(mg), w->b[level], w->x[level][0]));
  else PetscCall((*kernels->prolong)(&l->op, coarse, mg->found.overcorrection, e, w->x[level][w->cur[level]]));
  PetscCall(Smooth_Private(mg, w, level, PETSC_TRUE, PETSC_FALSE, without));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All visits of a level for its right-hand side, from zero */
static PetscErrorCode Visits_Private(PC_GridMG *mg, GridMGSweep *w, PetscInt level)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGStencilCycle_Private(mg, w, level, PETSC_TRUE, 0));
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W && level > 0 && level < mg->state.n - 1) PetscCall(PCGridMGStencilCycle_Private(mg, w, level, PETSC_FALSE, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RecordedVisits_Private(void *ctx)
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall(Visits_Private(mg, &mg->stencils.one, mg->domain.whole.first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The solution of a level. On a device the visits of the first whole level, on one process the finest level, are
   recorded as a graph: exchanges cannot be recorded
*/
PetscErrorCode PCGridMGStencilSolve_Private(PC_GridMG *mg, GridMGSweep *w, PetscInt level)
{
  PetscFunctionBegin;
  if (level == mg->domain.whole.first) PetscCall(LitheMGPlay(LitheMemoryOf(mg->place.device), &mg->record, mg->opt.graph, RecordedVisits_Private, mg));
  else PetscCall(Visits_Private(mg, w, level));
  PetscFunctionReturn(PETSC_SUCCESS);
}
