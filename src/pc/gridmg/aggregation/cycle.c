/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   V, W and K cycles of a PCGRIDMG.

   Reference:
   Y. Notay, P. S. Vassilevski: recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15 (2008)
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../boxes/boxes.h"

#define GRIDMG_PATCH_MAX 4096 /* rows of a list that are updated after all other rows */

/* Sums over the vertices of all processes */
static PetscErrorCode Dots_Private(PC_GridMG *mg, GridMGLevel *l, const void *x, int n, const void *const y[], double *sums)
{
  double mine[GRIDMG_SUMS];

  PetscFunctionBegin;
  if (l->shared && mg->place.overlap) {
    PetscCall(PCGridMGOverlapOwn_Private(mg, l, x, l->vector.w));
    PetscCall((*mg->place.kernels->cycle.dots)(&l->op, l->vector.w, n, y, sums));
    PetscCall(PCGridMGSum_Private(mg, n, 1., sums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->place.kernels->cycle.dots)(&l->op, x, n, y, l->shared ? mine : sums));
  if (l->shared) PetscCallMPI(MPIU_Allreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, mg->domain.team.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two steps of flexible conjugate gradients on a level, with a cycle each. The right-hand side is overwritten */
static PetscErrorCode KSteps_Private(PC_GridMG *mg, PetscInt level)
{
  const GridMGKernels *kernels = mg->place.kernels;
  GridMGLevel         *l       = &mg->aggregation.level[level];
  const size_t         bytes   = (size_t)(l->op.grid.cells + l->op.grid.wells) * GridMGNumberBytes(mg->found.precision);
  double              *first = l->vector.sums, *second = l->vector.sums + GRIDMG_SUMS;
  const void          *y[GRIDMG_SUMS];

  PetscFunctionBegin;
  PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE, NULL));
  PetscCall((*kernels->memory.copy)(bytes, l->vector.x[l->iterate.cur], l->vector.c));
  PetscCall(PCGridMGExchange_Private(mg, l, l->vector.c));
  PetscCall((*kernels->cycle.residual)(&l->op, NULL, l->vector.c, l->vector.v));
  y[0] = l->vector.v;
  y[1] = l->vector.b;
  PetscCall(Dots_Private(mg, l, l->vector.c, 2, y, first));
  PetscCall((*kernels->cycle.kfirst)(&l->op, first, l->vector.v, l->vector.b));
  if (l->shared && mg->place.overlap) PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->vector.b));

  PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE, NULL));
  PetscCall(PCGridMGRefresh_Private(mg, l));
  PetscCall((*kernels->cycle.residual)(&l->op, NULL, l->vector.x[l->iterate.cur], l->vector.x[1 - l->iterate.cur]));
  y[1] = l->vector.x[1 - l->iterate.cur];
  y[2] = l->vector.b;
  PetscCall(Dots_Private(mg, l, l->vector.x[l->iterate.cur], 3, y, second));
  PetscCall((*kernels->cycle.ksecond)(&l->op, first, second, l->vector.c, l->vector.x[l->iterate.cur]));
  l->iterate.fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of the coarsest level for its right-hand side */
static PetscErrorCode CoarseSolve_Private(PC_GridMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  if (mg->aggregation.small.from && level == mg->aggregation.small.from) {
    mg->aggregation.level[level].iterate.cur = 0;
    PetscCall(
      (*mg->place.kernels->cycle.smallsolve)(mg->aggregation.small.kernel, mg->aggregation.level[level].vector.b, mg->aggregation.level[level].vector.x[0]));
  } else if (level == mg->state.n - 1 || mg->opt.cycle == PCGRIDMG_CYCLE_V) PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE, NULL));
  else if (mg->opt.cycle == PCGRIDMG_CYCLE_W) {
    mg->aggregation.level[level].iterate.again = PETSC_TRUE;
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE, NULL));
    mg->aggregation.level[level].iterate.again = PETSC_FALSE;
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_FALSE, NULL));
  } else if (level <= mg->opt.klevels) PetscCall(KSteps_Private(mg, level));
  else PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The right-hand side of the coarse level: all of it if each process has the whole coarse level, else the part of this
   process
*/
static PetscErrorCode RestrictResidual_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  const GridMGKernels *kernels = mg->place.kernels;
  const PetscBool      gather  = (PetscBool)(l->shared && !c->shared);
  const GridMGGrid    *coarse  = gather ? &mg->domain.whole.box : &c->op.grid;
  void                *b       = gather ? mg->domain.whole.part : c->vector.b;

  PetscFunctionBegin;
  PetscCall(PCGridMGRefresh_Private(mg, l));
  if (kernels->cycle.residualrestrict) PetscCall((*kernels->cycle.residualrestrict)(&l->op, coarse, l->by, l->vector.b, l->vector.x[l->iterate.cur], b));
  else {
    PetscCall((*kernels->cycle.residual)(&l->op, l->vector.b, l->vector.x[l->iterate.cur], l->vector.x[1 - l->iterate.cur]));
    PetscCall((*kernels->cycle.restrict_)(&l->op, coarse, l->by, l->vector.x[1 - l->iterate.cur], b));
  }
  if (gather) PetscCall(PCGridMGGather_Private(mg, c->vector.b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The correction of the coarse level */
static PetscErrorCode Prolong_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  const PetscBool gathered = (PetscBool)(l->shared && !c->shared);

  PetscFunctionBegin;
  if (gathered) PCGridMGScatter_Private(mg, c->vector.x[c->iterate.cur]);
  PetscCall((*mg->place.kernels->cycle.prolong)(&l->op, gathered ? &mg->domain.whole.box : &c->op.grid, l->by, mg->found.overcorrection,
                                                gathered ? mg->domain.whole.part : c->vector.x[c->iterate.cur], l->vector.x[l->iterate.cur]));
  l->iterate.fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a visit of a level is two kernels */
PetscBool PCGridMGIsFused_Private(const PC_GridMG *mg, PetscInt level)
{
  const GridMGOperator *op = &mg->aggregation.level[level].op;

  if (!mg->place.device && !(mg->place.overlap && mg->aggregation.level[level].shared)) return PETSC_FALSE;
  return (PetscBool)(mg->place.kernels->cycle.down && level < mg->state.n - 1 && mg->opt.smooths[0] == 1 && mg->opt.smooths[1] == 1 &&
                     op->precision == GRIDMG_SINGLE && op->bits < 32 && op->list.n <= GRIDMG_PATCH_MAX);
}

/*
   The level whose coarse solve is recorded as a graph: the finest level, or on several processes the last shared level,
   because exchanges cannot be recorded
*/
static PetscInt GraphLevel(const PC_GridMG *mg)
{
  return mg->aggregation.level[0].shared ? mg->domain.whole.first - 1 : 0;
}

static PetscErrorCode RecordedSolve_Private(void *ctx)
{
  PC_GridMG *mg = (PC_GridMG *)ctx;

  PetscFunctionBegin;
  PetscCall(CoarseSolve_Private(mg, GraphLevel(mg) + 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coarse solve below GraphLevel() */
static PetscErrorCode PlayCoarseSolve_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(LitheMGPlay(LitheMemoryOf(mg->place.device), &mg->record, mg->opt.graph, RecordedSolve_Private, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Between the two kernels of a visit of a shared level with overlapping boxes: the coarse solution e, with the
   exchanges
*/
static PetscErrorCode SharedCoarseSolve_Private(PC_GridMG *mg, PetscInt level, const void **e)
{
  GridMGLevel *c = &mg->aggregation.level[level + 1];

  PetscFunctionBegin;
  if (c->shared) {
    PetscCall(PCGridMGOverlapExchange_Private(mg, c, c->vector.b));
    PetscCall(CoarseSolve_Private(mg, level + 1));
    *e = c->vector.x[c->iterate.cur];
  } else {
    PetscCall(PCGridMGOverlapToWhole_Private(mg, c->vector.b));
    PetscCall(PlayCoarseSolve_Private(mg));
    PetscCall(PCGridMGOverlapFromWhole_Private(mg, c->vector.x[c->iterate.cur]));
    *e = mg->domain.whole.part;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A visit as two kernels. The pointers to the coarse level are shifted to the place of the first cell of the fine grid
   with its layers
*/
static PetscErrorCode OverlapCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero)
{
  GridMGLevel   *l = &mg->aggregation.level[level], *c = l + 1;
  const PetscInt shift = PCGridMGOverlapShift_Private(l, c);
  const void    *e     = NULL;
  GridMGVisit    visit = {.op     = &l->op,
                          .coarse = &c->boxes->over.grid,
                          .b      = l->vector.b,
                          .bc     = (float *)(c->shared ? c->vector.b : mg->domain.whole.part) + shift,
                          .factor = mg->found.overcorrection,
                          .again  = l->iterate.again};

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) visit.by[d] = l->by[d];
  if (zero) l->iterate.cur = 1;
  else visit.x = l->vector.x[l->iterate.cur];
  visit.work  = l->vector.x[1 - l->iterate.cur];
  visit.shape = l->shape[0];
  PetscCall((*mg->place.kernels->cycle.down)(&visit));
  PetscCall(SharedCoarseSolve_Private(mg, level, &e));
  visit.e        = (const float *)e + shift;
  l->iterate.cur = 1 - l->iterate.cur;
  visit.out      = l->vector.x[l->iterate.cur];
  visit.shape    = l->shape[1];
  PetscCall((*mg->place.kernels->cycle.up)(&visit));
  if (level > 0) PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->vector.x[l->iterate.cur]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FusedCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero, const GridMGOuter *outer)
{
  GridMGLevel    *l = &mg->aggregation.level[level], *c = l + 1;
  const PetscBool again = l->iterate.again, list = (PetscBool)(l->op.list.n > 0);
  GridMGVisit     visit = {.op = &l->op, .coarse = &c->op.grid, .b = l->vector.b, .bc = c->vector.b, .factor = mg->found.overcorrection, .again = again};

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) visit.by[d] = l->by[d];
  if (outer) {
    visit.rows      = &mg->domain.team.rows;
    visit.part      = outer->part;
    visit.in        = outer->in;
    visit.result    = outer->result;
    visit.outfactor = mg->found.factor;
    visit.scale     = mg->application.scale;
  }
  if (zero) l->iterate.cur = 1;
  else visit.x = l->vector.x[l->iterate.cur];
  if (list) {
    l->iterate.cur = 1 - l->iterate.cur;
    visit.out      = l->vector.x[l->iterate.cur];
  }
  visit.shape = l->shape[0];
  PetscCall((*mg->place.kernels->cycle.down)(&visit));
  if (list) visit.x = l->vector.x[l->iterate.cur];
  if (level == GraphLevel(mg)) PetscCall(PlayCoarseSolve_Private(mg));
  else PetscCall(CoarseSolve_Private(mg, level + 1));
  visit.e        = c->vector.x[c->iterate.cur];
  l->iterate.cur = 1 - l->iterate.cur;
  visit.out      = l->vector.x[l->iterate.cur];
  visit.shape    = l->shape[1];
  PetscCall((*mg->place.kernels->cycle.up)(&visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One cycle on a level for its right-hand side b, from the iterate or from zero. outer, for a fused visit of the finest
   level without a list: vectors of the matrix in place of b and the iterate
*/
PetscErrorCode PCGridMGCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero, const GridMGOuter *outer)
{
  const GridMGKernels *kernels = mg->place.kernels;
  GridMGLevel         *l = &mg->aggregation.level[level], *c = l + 1;

  PetscFunctionBegin;
  if (level == mg->state.n - 1) {
    l->iterate.cur = 0;
    PetscCall((*kernels->cycle.dense)(&l->op, mg->coarsest.inverse, mg->coarsest.scale, l->vector.b, l->vector.x[1], l->vector.x[0]));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (PCGridMGIsFused_Private(mg, level)) {
    PetscCall(l->shared ? OverlapCycle_Private(mg, level, zero) : FusedCycle_Private(mg, level, zero, outer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGSmooth_Private(mg, l, PETSC_FALSE, zero));
  PetscCall(RestrictResidual_Private(mg, l, c));
  if (level == GraphLevel(mg)) PetscCall(PlayCoarseSolve_Private(mg));
  else PetscCall(CoarseSolve_Private(mg, level + 1));
  PetscCall(Prolong_Private(mg, l, c));
  PetscCall(PCGridMGSmooth_Private(mg, l, PETSC_TRUE, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle on the finest level for another right-hand side, which is only read. x stays until the next cycle */
PetscErrorCode PCGridMGCycleOf_Private(PC_GridMG *mg, const void *b, const void **x)
{
  GridMGLevel *l   = &mg->aggregation.level[0];
  void        *own = l->vector.b;

  PetscFunctionBegin;
  l->vector.b = (void *)b;
  PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE, NULL));
  l->vector.b = own;
  *x          = l->vector.x[l->iterate.cur];
  PetscFunctionReturn(PETSC_SUCCESS);
}
