/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   V, W and K cycles of a PCGRIDMG.

   Reference:
   Y. Notay, P. S. Vassilevski: recursive Krylov-based multigrid cycles, Numer. Linear Algebra Appl. 15 (2008)
*/

#include "../gridmgimpl.h"

#define GRIDMG_PATCH_MAX 4096 /* rows of a list that are updated after all other rows */

/* Sums over the vertices of all processes */
static PetscErrorCode Dots_Private(PC_GridMG *mg, GridMGLevel *l, const void *x, int n, const void *const y[], double *sums)
{
  double mine[GRIDMG_SUMS];

  PetscFunctionBegin;
  if (l->shared && mg->overlap) {
    PetscCall(PCGridMGOverlapOwn_Private(mg, l, x, l->w));
    PetscCall((*mg->kernels->dots)(&l->op, l->w, n, y, sums));
    PetscCall(PCGridMGSum_Private(mg, n, 1., sums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->kernels->dots)(&l->op, x, n, y, l->shared ? mine : sums));
  if (l->shared) PetscCallMPI(MPIU_Allreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, mg->team.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two steps of flexible conjugate gradients on a level, with a cycle each. The right-hand side is overwritten */
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
  PetscCall(PCGridMGExchange_Private(mg, l, l->c));
  PetscCall((*kernels->residual)(&l->op, NULL, l->c, l->v));
  y[0] = l->v;
  y[1] = l->b;
  PetscCall(Dots_Private(mg, l, l->c, 2, y, first));
  PetscCall((*kernels->kfirst)(&l->op, first, l->v, l->b));
  if (l->shared && mg->overlap) PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->b));

  PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  PetscCall(PCGridMGRefresh_Private(mg, l));
  PetscCall((*kernels->residual)(&l->op, NULL, l->x[l->cur], l->x[1 - l->cur]));
  y[1] = l->x[1 - l->cur];
  y[2] = l->b;
  PetscCall(Dots_Private(mg, l, l->x[l->cur], 3, y, second));
  PetscCall((*kernels->ksecond)(&l->op, first, second, l->c, l->x[l->cur]));
  l->fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The iterate of the coarsest level for its right-hand side */
static PetscErrorCode CoarseSolve_Private(PC_GridMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  if (mg->smallfrom && level == mg->smallfrom) {
    mg->level[level].cur = 0;
    PetscCall((*mg->kernels->smallsolve)(mg->small, mg->level[level].b, mg->level[level].x[0]));
  } else if (level == mg->n - 1 || mg->opt.cycle == PCGRIDMG_CYCLE_V) PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  else if (mg->opt.cycle == PCGRIDMG_CYCLE_W) {
    mg->level[level].again = PETSC_TRUE;
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
    mg->level[level].again = PETSC_FALSE;
    PetscCall(PCGridMGCycle_Private(mg, level, PETSC_FALSE));
  } else if (level <= mg->opt.klevels) PetscCall(KSteps_Private(mg, level));
  else PetscCall(PCGridMGCycle_Private(mg, level, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The right-hand side of the coarse level: all of it if each process has the whole coarse level, else the part of this
   process
*/
static PetscErrorCode RestrictResidual_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  const GridMGKernels *kernels = mg->kernels;
  const PetscBool      gather  = (PetscBool)(l->shared && !c->shared);
  const GridMGGrid    *coarse  = gather ? &mg->team.box : &c->op.grid;
  void                *b       = gather ? mg->team.part : c->b;

  PetscFunctionBegin;
  PetscCall(PCGridMGRefresh_Private(mg, l));
  if (kernels->residualrestrict) PetscCall((*kernels->residualrestrict)(&l->op, coarse, l->by, l->b, l->x[l->cur], b));
  else {
    PetscCall((*kernels->residual)(&l->op, l->b, l->x[l->cur], l->x[1 - l->cur]));
    PetscCall((*kernels->restrict_)(&l->op, coarse, l->by, l->x[1 - l->cur], b));
  }
  if (gather) PetscCall(PCGridMGGather_Private(mg, c->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The correction of the coarse level */
static PetscErrorCode Prolong_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  const PetscBool gathered = (PetscBool)(l->shared && !c->shared);

  PetscFunctionBegin;
  if (gathered) PCGridMGScatter_Private(mg, c->x[c->cur]);
  PetscCall(
    (*mg->kernels->prolong)(&l->op, gathered ? &mg->team.box : &c->op.grid, l->by, mg->overcorrection, gathered ? mg->team.part : c->x[c->cur], l->x[l->cur]));
  l->fresh = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a visit of a level is two kernels */
PetscBool PCGridMGIsFused_Private(const PC_GridMG *mg, PetscInt level)
{
  const GridMGOperator *op = &mg->level[level].op;

  if (!mg->device && !(mg->overlap && mg->level[level].shared)) return PETSC_FALSE;
  return (PetscBool)(mg->kernels->down && level < mg->n - 1 && mg->smoother == PCGRIDMG_SMOOTHER_REDBLACK && mg->opt.smooths[0] == 1 &&
                     mg->opt.smooths[1] == 1 && op->precision == GRIDMG_SINGLE && op->bits < 32 && op->list.n <= GRIDMG_PATCH_MAX);
}

/*
   The level whose coarse solve is recorded as a graph: the finest level, or on several processes the last shared level,
   because exchanges cannot be recorded
*/
static PetscInt GraphLevel(const PC_GridMG *mg)
{
  return mg->level[0].shared ? mg->team.whole - 1 : 0;
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
  PetscCall(LitheMGPlay(LitheMemoryOf(mg->device), &mg->record, mg->opt.graph, RecordedSolve_Private, mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Between the two kernels of a visit of a shared level with overlapping boxes: the coarse solution e, with the
   exchanges
*/
static PetscErrorCode SharedCoarseSolve_Private(PC_GridMG *mg, PetscInt level, const void **e)
{
  GridMGLevel *c = &mg->level[level + 1];

  PetscFunctionBegin;
  if (c->shared) {
    PetscCall(PCGridMGOverlapExchange_Private(mg, c, c->b));
    PetscCall(CoarseSolve_Private(mg, level + 1));
    *e = c->x[c->cur];
  } else {
    PetscCall(PCGridMGOverlapToWhole_Private(mg, c->b));
    PetscCall(PlayCoarseSolve_Private(mg));
    PetscCall(PCGridMGOverlapFromWhole_Private(mg, c->x[c->cur]));
    *e = mg->team.part;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A visit as two kernels. The pointers to the coarse level are shifted to the place of the first cell of the fine grid
   with its layers
*/
static PetscErrorCode OverlapCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero)
{
  GridMGLevel   *l = &mg->level[level], *c = l + 1;
  const PetscInt shift = PCGridMGOverlapShift_Private(l, c);
  const void    *e     = NULL;
  GridMGVisit    visit = {.op     = &l->op,
                          .coarse = &c->share.over.grid,
                          .b      = l->b,
                          .bc     = (float *)(c->shared ? c->b : mg->team.part) + shift,
                          .factor = mg->overcorrection,
                          .again  = l->again};

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) visit.by[d] = l->by[d];
  if (zero) l->cur = 1;
  else visit.x = l->x[l->cur];
  visit.work  = l->x[1 - l->cur];
  visit.shape = l->shape[0];
  PetscCall((*mg->kernels->down)(&visit));
  PetscCall(SharedCoarseSolve_Private(mg, level, &e));
  visit.e     = (const float *)e + shift;
  l->cur      = 1 - l->cur;
  visit.out   = l->x[l->cur];
  visit.shape = l->shape[1];
  PetscCall((*mg->kernels->up)(&visit));
  if (level > 0) PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->x[l->cur]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FusedCycle_Private(PC_GridMG *mg, PetscInt level, PetscBool zero)
{
  GridMGLevel    *l = &mg->level[level], *c = l + 1;
  const PetscBool again = l->again, list = (PetscBool)(l->op.list.n > 0);
  GridMGVisit     visit = {.op = &l->op, .coarse = &c->op.grid, .b = l->b, .bc = c->b, .factor = mg->overcorrection, .again = again};

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) visit.by[d] = l->by[d];
  if (level == 0 && !list) {
    visit.rows      = &mg->rows;
    visit.part      = mg->outer.part;
    visit.in        = mg->outer.in;
    visit.result    = mg->outer.result;
    visit.outfactor = mg->factor;
    visit.scale     = mg->scale;
  }
  if (zero) l->cur = 1;
  else visit.x = l->x[l->cur];
  if (list) {
    l->cur    = 1 - l->cur;
    visit.out = l->x[l->cur];
  }
  visit.shape = l->shape[0];
  PetscCall((*mg->kernels->down)(&visit));
  if (list) visit.x = l->x[l->cur];
  if (level == GraphLevel(mg)) PetscCall(PlayCoarseSolve_Private(mg));
  else PetscCall(CoarseSolve_Private(mg, level + 1));
  visit.e     = c->x[c->cur];
  l->cur      = 1 - l->cur;
  visit.out   = l->x[l->cur];
  visit.shape = l->shape[1];
  PetscCall((*mg->kernels->up)(&visit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One cycle on a level for its right-hand side b, from the iterate or from zero */
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
  if (PCGridMGIsFused_Private(mg, level)) {
    PetscCall(l->shared ? OverlapCycle_Private(mg, level, zero) : FusedCycle_Private(mg, level, zero));
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
