/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The levels of a PCGRIDMG: which directions are halved, their operators from exact entries, and these rounded to codes.
*/

#include "gridmgimpl.h"

#define GRIDMG_RATIO  4   /* two directions are halved at once where they differ by less */
#define GRIDMG_COARSE 0.1 /* a level whose faces would change by more takes 16 bits in place of 8 */

/* Arrays of a level, 0. block[1] holds those of the other direction, of matrices that may be nonsymmetric */
PetscErrorCode PCGridMGFacesCreate_Private(GridMGBlock block[2], const GridMGGrid *grid, PetscBool symmetric, GridMGFaces *f)
{
  const size_t cells  = (size_t)grid->cells;
  size_t       arrays = 0;
  double      *memory[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  f->grid      = *grid;
  f->symmetric = symmetric;
  for (int d = 0; d < 3; d++) arrays += grid->n[d] > 1;
  PetscCall(PCGridMGBlockGet_Private(&block[0], (arrays * cells + cells + (size_t)grid->wells) * sizeof(double), (void **)&memory[0]));
  if (!symmetric) PetscCall(PCGridMGBlockGet_Private(&block[1], arrays * cells * sizeof(double), (void **)&memory[1]));
  f->sigma = memory[0];
  memory[0] += cells + (size_t)grid->wells;
  for (int d = 0; d < 3; d++) {
    if (grid->n[d] < 2) continue;
    f->up[d] = f->down[d] = memory[0];
    memory[0] += cells;
    if (symmetric) continue;
    f->down[d] = memory[1];
    memory[1] += cells;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ coarsening */

/* Which directions are halved: by[d] is 2 or 1 */
static PetscErrorCode ChooseDirections_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const PetscInt     *n    = l->op.grid.n;
  PCGridMGCoarsenType type = mg->opt.coarsen;
  double              g[3], count;
  int                 first = 0, second = -1;

  PetscFunctionBegin;
  PetscCall((*mg->kernels->means)(&l->faces, g, &count));
  for (int d = 0; d < 3; d++) {
    g[d]     = n[d] < 2 ? 0 : exp(count > 0 ? g[d] / count : 0);
    l->by[d] = 1;
  }
  if (type == PCGRIDMG_COARSEN_AUTO) type = mg->opt.cycle == PCGRIDMG_CYCLE_K ? PCGRIDMG_COARSEN_SEMI : PCGRIDMG_COARSEN_TWO;
  if (type == PCGRIDMG_COARSEN_FULL) {
    for (int d = 0; d < 3; d++) l->by[d] = n[d] < 2 ? 1 : 2;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (int d = 1; d < 3; d++) {
    if (g[d] > g[first]) first = d;
  }
  for (int d = 0; d < 3; d++) {
    if (d != first && g[d] > 0 && (second < 0 || g[d] > g[second])) second = d;
  }
  l->by[first] = 2;
  if (type == PCGRIDMG_COARSEN_TWO && second >= 0 && GRIDMG_RATIO * g[second] >= g[first]) l->by[second] = 2;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static GridMGGrid Halved(const GridMGGrid *grid, int d)
{
  GridMGGrid coarse = *grid;

  coarse.n[d]  = (grid->n[d] + 1) / 2;
  coarse.cells = coarse.n[0] * coarse.n[1] * coarse.n[2];
  return coarse;
}

/* The faces of the next level, direction by direction: what lies between is in blocks of its own */
static PetscErrorCode CoarsenFaces_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  GridMGFaces between[2], *from = &l->faces;
  int         left = 0;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) left += l->by[d] > 1;
  for (int d = 0, k = 0; d < 3; d++) {
    GridMGFaces *to;
    GridMGGrid   grid;

    if (l->by[d] == 1) continue;
    grid = Halved(&from->grid, d);
    to   = --left ? &between[k] : &c->faces;
    PetscCall(PCGridMGFacesCreate_Private(!left ? c->block : (k ? c->half : l->half), &grid, mg->symmetric, to));
    PetscCall((*mg->kernels->pair)(from, d, to));
    from = to;
    k    = 1;
  }
  PetscCall(PCGridMGCoarsenEdges_Private(&l->faces, l->by, &c->faces, &mg->edges));
  PetscCall(PCGridMGEdgesToList_Private(&c->faces.grid, &mg->edges, c->list, &c->faces.list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGCoarsen_Private(PC pc)
{
  PC_GridMG     *mg  = (PC_GridMG *)pc->data;
  const PetscInt max = mg->opt.levels == PETSC_DECIDE ? GRIDMG_LEVELS_MAX : mg->opt.levels;

  PetscFunctionBegin;
  mg->n = 1;
  while (PETSC_TRUE) {
    GridMGLevel *l = &mg->level[mg->n - 1], *c = l + 1;

    if (l->op.grid.cells + l->op.grid.wells <= mg->opt.coarsesize) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "it has at most %" PetscInt_FMT " unknowns", mg->opt.coarsesize));
      break;
    }
    if (l->op.grid.cells == 1) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "it has one cell"));
      break;
    }
    if (mg->n == max) {
      PetscCall(PetscSNPrintf(mg->why, sizeof(mg->why), "there are %" PetscInt_FMT, max));
      break;
    }
    PetscCall(PCGridMGBlockGet_Private(&l->mark, (size_t)l->op.grid.cells, (void **)&l->faces.alive));
    PetscCall((*mg->kernels->mark)(&l->faces, l->faces.alive, &l->dead));
    if (!l->dead) l->faces.alive = NULL;
    PetscCall(ChooseDirections_Private(mg, l));
    PetscCall(CoarsenFaces_Private(mg, l, c));
    c->op.grid = c->faces.grid;
    mg->n++;
  }
  PetscCheck(mg->level[mg->n - 1].op.grid.cells + mg->level[mg->n - 1].op.grid.wells <= GRIDMG_DENSE_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: the coarsest of %" PetscInt_FMT " levels has %" PetscInt_FMT
             " unknowns, too many for a dense inverse. Use more levels (-pc_gridmg_levels)",
             mg->n, mg->level[mg->n - 1].op.grid.cells + mg->level[mg->n - 1].op.grid.wells);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays of the cycle */

static PetscBool IsK(const PC_GridMG *mg, PetscInt k)
{
  return (PetscBool)(mg->opt.cycle == PCGRIDMG_CYCLE_K && k >= 1 && k <= mg->opt.klevels && k < mg->n - 1);
}

/* The arrays of a level; the same sequence with and without memory */
static void TakeLevel(PC_GridMG *mg, PetscInt k, GridMGPool *pool)
{
  GridMGLevel      *l      = &mg->level[k];
  GridMGOperator   *op     = &l->op;
  const GridMGGrid *g      = &op->grid;
  const size_t      number = GridMGNumberBytes(mg->precision), cells = (size_t)g->cells, n = cells + (size_t)g->wells, code = (size_t)op->bits / 8;

  l->b = PCGridMGTake_Private(pool, n * number);
  for (int x = 0; x < 2; x++) l->x[x] = PCGridMGTake_Private(pool, n * number);
  l->d = mg->smoother == PCGRIDMG_SMOOTHER_CHEBYSHEV4 ? PCGridMGTake_Private(pool, n * number) : NULL;
  if (IsK(mg, k)) {
    l->c    = PCGridMGTake_Private(pool, n * number);
    l->v    = PCGridMGTake_Private(pool, n * number);
    l->sums = (double *)PCGridMGTake_Private(pool, 2 * GRIDMG_SUMS * sizeof(double));
  }
  for (int d = 0; d < 3; d++) {
    op->up[d] = op->down[d] = l->faces.up[d] ? PCGridMGTake_Private(pool, cells * code) : NULL;
    if (!mg->symmetric && l->faces.up[d]) op->down[d] = PCGridMGTake_Private(pool, cells * code);
  }
  op->zero  = PCGridMGTake_Private(pool, (size_t)g->n[0] * code);
  op->table = op->bits < 32 ? PCGridMGTake_Private(pool, 512 * number) : NULL;
  op->sigma = PCGridMGTake_Private(pool, n * number);
  op->dinv  = PCGridMGTake_Private(pool, n * number);
  op->alive = l->faces.alive ? (const unsigned char *)PCGridMGTake_Private(pool, cells) : NULL;

  op->list.n = l->faces.list.n;
  for (int p = 0; p < 2; p++) op->list.part[p] = l->faces.list.part[p];
  op->list.row  = (PetscInt *)PCGridMGTake_Private(pool, (size_t)op->list.n * sizeof(PetscInt));
  op->list.i    = (PetscInt *)PCGridMGTake_Private(pool, ((size_t)op->list.n + 1) * sizeof(PetscInt));
  op->list.j    = (PetscInt *)PCGridMGTake_Private(pool, (size_t)l->faces.list.i[op->list.n] * sizeof(PetscInt));
  op->list.t    = PCGridMGTake_Private(pool, (size_t)l->faces.list.i[op->list.n] * number);
  op->list.work = PCGridMGTake_Private(pool, (size_t)op->list.n * number);
}

void PCGridMGTakeLevels_Private(PC_GridMG *mg, GridMGPool *pool)
{
  const GridMGGrid *g      = &mg->level[mg->n - 1].op.grid;
  const size_t      number = GridMGNumberBytes(mg->precision), n = (size_t)g->cells + (size_t)g->wells;

  for (PetscInt k = 0; k < mg->n; k++) TakeLevel(mg, k, pool);
  mg->inverse      = PCGridMGTake_Private(pool, n * n * number);
  mg->inversescale = PCGridMGTake_Private(pool, n * number);
  mg->scale        = (double *)PCGridMGTake_Private(pool, sizeof(double));
}

/* The list to where the level is */
static PetscErrorCode PutList_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGKernels *kernels = mg->kernels;
  const GridMGList    *from = &l->faces.list, *to = &l->op.list;
  const PetscInt       n = from->n, edges = from->i[n];
  float               *single = NULL;

  PetscFunctionBegin;
  if (mg->precision == GRIDMG_SINGLE) {
    PetscCall(PetscMalloc1(edges, &single));
    for (PetscInt e = 0; e < edges; e++) single[e] = (float)((double *)from->t)[e];
  }
  PetscCall((*kernels->put)((size_t)n * sizeof(PetscInt), from->row, to->row));
  PetscCall((*kernels->put)((size_t)(n + 1) * sizeof(PetscInt), from->i, to->i));
  PetscCall((*kernels->put)((size_t)edges * sizeof(PetscInt), from->j, to->j));
  PetscCall((*kernels->put)((size_t)edges * GridMGNumberBytes(mg->precision), single ? (const void *)single : from->t, to->t));
  PetscCall(PetscFree(single));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bits of the codes of a level: as asked for, but for 8 where these would be too coarse */
static int BitsOf(const PC_GridMG *mg, PetscInt k, double min, double max)
{
  const int bits = (int)(k && mg->opt.coarsebits != PETSC_DECIDE ? mg->opt.coarsebits : mg->opt.bits);

  return bits == 8 && min > 0 && .5 * log(max / min) / 254. > GRIDMG_COARSE ? 16 : bits;
}

/* All levels are known: one allocation, or the one that is there, and their codes */
PetscErrorCode PCGridMGEncode_Private(PC pc)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  GridMGPool pool = {NULL, 0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->n; k++) {
    GridMGLevel *l = &mg->level[k];

    PetscCall((*mg->kernels->range)(&l->faces, &l->min, &l->max));
    l->op.precision = mg->precision;
    l->op.symmetric = mg->symmetric;
    l->op.bits      = BitsOf(mg, k, l->min, l->max);
  }
  PCGridMGTakeLevels_Private(mg, &pool);
  PetscCall(PCGridMGPoolGet_Private(mg, &pool));
  PCGridMGTakeLevels_Private(mg, &pool);
  for (PetscInt k = 0; k < mg->n; k++) {
    GridMGLevel *l = &mg->level[k];

    PetscCall(PutList_Private(mg, l));
    if (l->op.alive) PetscCall((*mg->kernels->put)((size_t)l->op.grid.cells, l->faces.alive, (void *)l->op.alive));
    PetscCall((*mg->kernels->encode)(&l->faces, l->min, l->max, &l->op, &l->bound));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
