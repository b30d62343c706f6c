/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The levels of a PCGRIDMG: the choice of the directions that are halved, exact operators, and their rounding to codes
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../base/base.h"
#include "../boxes/boxes.h"

#define GRIDMG_RATIO  4    /* two directions are halved at once if their couplings differ by less than this factor */
#define GRIDMG_ALIKE  0.31 /* three are halved at once where the geometric means are as large: where coefficients hardly jump */
#define GRIDMG_LARGE  1000000
#define GRIDMG_SLOW   0.8     /* a level that shrinks by less than this factor is gathered on each process */
#define GRIDMG_GATHER 2097152 /* unknowns up to which each device has all of a level */
#define GRIDMG_WHOLE  4194304
#define GRIDMG_FEW    50000 /* a level of fewer unknowns is small: three directions are halved if a level is saved */
#define GRIDMG_FIRST  2     /* the finest levels never count as small */
#define GRIDMG_COARSE 0.1   /* a level whose faces would change by more takes 16 bits in place of 8 */
#define GRIDMG_FLOAT  1e-37 /* a level with smaller faces takes 16 bits in place of 32 */

/* ------------------------------------------------------------ coarsening */

static inline PetscInt CoarseSize(const PC_GridMG *mg)
{
  return PCGridMGCoarseSize(mg, (PetscBool)(mg->place.kernels->setup.invert && mg->found.symmetric));
}

/* The cells of a level along each direction, of all processes. Returns the number of unknowns with all wells */
static PetscInt GetSize(const PC_GridMG *mg, const GridMGLevel *l, PetscInt n[3])
{
  for (int d = 0; d < 3; d++) n[d] = l->shared ? l->boxes->start[d][mg->domain.team.parts[d]] : l->exact.faces.grid.n[d];
  return n[0] * n[1] * n[2] + (l->shared ? mg->domain.team.wells : l->exact.faces.grid.wells);
}

/* The number of levels below one with n unknowns, if each has an eighth of the unknowns of the level before */
static PetscInt LevelsAfter(const PC_GridMG *mg, PetscInt n)
{
  PetscInt levels = 0;

  for (; n > CoarseSize(mg); n = (n + 7) / 8) levels++;
  return levels;
}

/* Which directions are halved: by[d] is 2 or 1 */
static void ChooseDirections(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGSurvey *s = &l->exact.survey;
  PetscInt            n[3];
  PCGridMGCoarsenType type = mg->opt.coarsen;
  double              g[3];
  int                 first = 0, second = -1;
  const PetscInt      size = GetSize(mg, l, n);

  for (int d = 0; d < 3; d++) {
    g[d]     = n[d] < 2 ? 0 : exp(s->count > 0 ? s->logs[d] / s->count : 0);
    l->by[d] = 1;
  }
  /* small levels below the steps of a K cycle run V cycles, where larger aggregates cost no iterations */
  if (type == PCGRIDMG_COARSEN_AUTO)
    type = mg->opt.cycle == PCGRIDMG_CYCLE_K && (l - mg->aggregation.level < mg->opt.klevels || size > GRIDMG_FEW) ? PCGRIDMG_COARSEN_SEMI
                                                                                                                   : PCGRIDMG_COARSEN_TWO;
  if (type == PCGRIDMG_COARSEN_FULL) {
    for (int d = 0; d < 3; d++) l->by[d] = n[d] < 2 ? 1 : 2;
    return;
  }
  for (int d = 1; d < 3; d++) {
    if (g[d] > g[first]) first = d;
  }
  for (int d = 0; d < 3; d++) {
    if (d != first && g[d] > 0 && (second < 0 || g[d] > g[second])) second = d;
  }
  l->by[first] = 2;
  if (type == PCGRIDMG_COARSEN_TWO && second >= 0 && GRIDMG_RATIO * g[second] >= g[first]) l->by[second] = 2;
  if (mg->opt.coarsen == PCGRIDMG_COARSEN_AUTO && l->by[0] + l->by[1] + l->by[2] == 5) {
    const int       third = 3 - first - second;
    const PetscBool few   = (PetscBool)(l - mg->aggregation.level >= GRIDMG_FIRST && size <= GRIDMG_FEW && GRIDMG_RATIO * g[third] >= g[first]);

    if (g[third] >= GRIDMG_ALIKE || (few && LevelsAfter(mg, (size + 3) / 4) == LevelsAfter(mg, size))) l->by[third] = 2;
  }
}

/* Scratch of the list, and the survey of a level with exact entries */
static PetscErrorCode Survey_Private(PC_GridMG *mg, GridMGLevel *l)
{
  GridMGArenaMark mark;

  PetscFunctionBegin;
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  mark = PCGridMGArenaGetMark_Private(mg);
  PetscCall(PCGridMGExactWork_Private(mg, l));
  PetscCall(PCGridMGSurvey_Private(mg, l));
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exact entries of the next level */
static PetscErrorCode CoarsenFaces_Private(PC_GridMG *mg, GridMGLevel *l, GridMGLevel *c)
{
  GridMGGrid grid = l->exact.faces.grid;

  PetscFunctionBegin;
  c->shared = l->shared;
  if (l->shared) {
    PetscCall(PCGridMGShareCoarsen_Private(mg, (PetscInt)(l - mg->aggregation.level), l->by));
    grid.ghosts = c->boxes->ghosts;
  }
  for (int d = 0; d < 3; d++) grid.n[d] = (grid.n[d] + l->by[d] - 1) / l->by[d];
  grid.cells = grid.n[0] * grid.n[1] * grid.n[2];
  PetscCall(PCGridMGExactCreate_Private(mg, c, &grid, mg->found.symmetric, NULL));
  PetscCall((*mg->place.kernels->setup.coarsen)(&l->exact.faces, l->by, &c->exact.faces));
  PetscCall(PCGridMGCoarsenEdges_Private(mg, &l->exact.faces, l->by, l->boxes, &c->exact.faces));
  PetscCall(PCGridMGExactSetList_Private(mg, c));
  PetscCall(Survey_Private(mg, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a level has been gathered, each process has all of it */
static PetscErrorCode Gathered_Private(PC_GridMG *mg, GridMGLevel *l)
{
  PetscFunctionBegin;
  l->shared = PETSC_FALSE;
  PetscCall(PCGridMGExactAlive_Private(mg, l));
  PetscCall(PCGridMGSurvey_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a level hardly shrinks, because aggregates end at boxes: a small level along one halved direction, a large
   level in total
*/
static PetscBool IsSlow(const PC_GridMG *mg, const GridMGLevel *l)
{
  PetscReal ratio = 1, most = 0;
  PetscInt  n[3];

  for (int d = 0; d < 3; d++) {
    const PetscInt *start = l->boxes->start[d], parts = mg->domain.team.parts[d];
    PetscInt        after = 0;

    for (PetscInt p = 0; p < parts; p++) after += (start[p + 1] - start[p] + l->by[d] - 1) / l->by[d];
    ratio *= (PetscReal)after / (PetscReal)start[parts];
    if (l->by[d] > 1) most = PetscMax(most, (PetscReal)after / (PetscReal)start[parts]);
  }
  return (PetscBool)((GetSize(mg, l, n) > GRIDMG_LARGE ? ratio : most) > (PetscReal)GRIDMG_SLOW);
}

/* Whether aggregates of a level are pairs on all processes, as overlapping boxes need */
static PetscBool IsEven(const PC_GridMG *mg, const GridMGLevel *l)
{
  for (int d = 0; d < 3; d++) {
    for (PetscInt p = 0; l->by[d] > 1 && mg->domain.team.parts[d] > 1 && p < mg->domain.team.parts[d]; p++) {
      if ((l->boxes->start[d][p + 1] - l->boxes->start[d][p]) % 2) return PETSC_FALSE;
    }
  }
  return PETSC_TRUE;
}

/*
   Overlapping boxes: as CoarsenShared_Private(), but for a level that is gathered earlier. Refused if a large level
   would be gathered
*/
static PetscErrorCode CoarsenOverlap_Private(PC_GridMG *mg, PetscInt max, PetscInt *levels)
{
  PetscInt n[3];

  PetscFunctionBegin;
  if (!IsEven(mg, &mg->aggregation.level[0])) PCGridMGRefuse_Private(mg);
  while (mg->aggregation.level[*levels - 1].shared && !mg->place.refused) {
    GridMGLevel *l = &mg->aggregation.level[*levels - 1], *c = l + 1;
    PetscInt     size;

    PCGridMGExactUseAlive_Private(l, PETSC_TRUE);
    c->shared = PETSC_TRUE;
    PetscCall(PCGridMGOverlapCoarsen_Private(mg, *levels - 1));
    ChooseDirections(mg, c);
    size = GetSize(mg, c, n);
    if (size <= PCGridMGGatherSize(mg, GRIDMG_GATHER) || size <= CoarseSize(mg) || size <= 1 || *levels == max - 1 || IsSlow(mg, c) || !IsEven(mg, c)) {
      if (size > GRIDMG_WHOLE) PCGridMGRefuse_Private(mg);
      else {
        PetscCall(PCGridMGOverlapGather_Private(mg, *levels));
        PetscCall(Gathered_Private(mg, c));
      }
    }
    ++*levels;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shared levels, and the first gathered level */
static PetscErrorCode CoarsenShared_Private(PC pc, PetscInt max, PetscInt *levels)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscInt   n[3];

  PetscFunctionBegin;
  PetscCheck(max > 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_gridmg_levels 1 is for one process. On several processes the coarsest level is whole on each: use at least 2 levels");
  ChooseDirections(mg, &mg->aggregation.level[0]);
  if (mg->place.overlap) {
    PetscCall(CoarsenOverlap_Private(mg, max, levels));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  while (mg->aggregation.level[*levels - 1].shared) {
    GridMGLevel *l = &mg->aggregation.level[*levels - 1], *c = l + 1;
    PetscInt     size;

    PCGridMGExactUseAlive_Private(l, PETSC_TRUE);
    PetscCall(CoarsenFaces_Private(mg, l, c));
    ChooseDirections(mg, c);
    size = GetSize(mg, c, n);
    if (size <= PCGridMGGatherSize(mg, GRIDMG_GATHER) || size <= CoarseSize(mg) || size - mg->domain.team.wells <= 1 || *levels == max - 1 || IsSlow(mg, c)) {
      PetscCall(PCGridMGGatherLevel_Private(mg, *levels));
      PetscCall(Gathered_Private(mg, c));
    }
    ++*levels;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGCoarsen_Private(PC pc, PetscInt *levels)
{
  PC_GridMG     *mg  = (PC_GridMG *)pc->data;
  const PetscInt max = mg->opt.levels == PETSC_DECIDE ? GRIDMG_LEVELS_MAX : mg->opt.levels;

  PetscFunctionBegin;
  *levels = 1;
  if (PCGridMGIsParallel(mg)) PetscCall(CoarsenShared_Private(pc, max, levels));
  if (mg->place.refused) PetscFunctionReturn(PETSC_SUCCESS);
  while (PETSC_TRUE) {
    GridMGLevel *l = &mg->aggregation.level[*levels - 1], *c = l + 1;

    if (l->exact.faces.grid.cells + l->exact.faces.grid.wells <= CoarseSize(mg)) {
      PetscCall(PCGridMGStop_Private(mg, "it has at most %" PetscInt_FMT " unknowns", CoarseSize(mg)));
      break;
    }
    if (l->exact.faces.grid.cells == 1) {
      PetscCall(PCGridMGStop_Private(mg, "it has one cell"));
      break;
    }
    if (*levels == max) {
      PetscCall(PCGridMGStop_Private(mg, "there are %" PetscInt_FMT, max));
      break;
    }
    PCGridMGExactUseAlive_Private(l, PETSC_TRUE);
    ChooseDirections(mg, l);
    PetscCall(CoarsenFaces_Private(mg, l, c));
    ++*levels;
  }
  PCGridMGExactUseAlive_Private(&mg->aggregation.level[*levels - 1], PETSC_FALSE);
  PetscCheck(mg->aggregation.level[*levels - 1].exact.faces.grid.cells + mg->aggregation.level[*levels - 1].exact.faces.grid.wells <= GRIDMG_DENSE_MAX,
             PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: the coarsest of %" PetscInt_FMT " levels has %" PetscInt_FMT
             " unknowns, too many for a dense inverse. Use more levels (-pc_gridmg_levels)",
             *levels, mg->aggregation.level[*levels - 1].exact.faces.grid.cells + mg->aggregation.level[*levels - 1].exact.faces.grid.wells);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays of the cycle */

static PetscBool IsK(const PC_GridMG *mg, PetscInt k)
{
  return (PetscBool)(mg->opt.cycle == PCGRIDMG_CYCLE_K && k >= 1 && k <= mg->opt.klevels && k < mg->state.n - 1);
}

/* The arrays of a level; the same sequence with and without memory */
static void TakeLevel(PC_GridMG *mg, PetscInt k, GridMGPool *pool)
{
  GridMGLevel      *l      = &mg->aggregation.level[k];
  GridMGOperator   *op     = &l->op;
  const GridMGGrid *g      = &op->grid;
  const size_t      number = GridMGNumberBytes(mg->found.precision), cells = (size_t)g->cells, n = cells + (size_t)g->wells + (size_t)g->ghosts;
  const size_t      code = (size_t)op->bits / 8;

  l->vector.b = PCGridMGTake_Private(pool, n * number);
  for (int x = 0; x < 2; x++) l->vector.x[x] = PCGridMGTake_Private(pool, n * number);
  if (IsK(mg, k)) {
    l->vector.c    = PCGridMGTake_Private(pool, n * number);
    l->vector.v    = PCGridMGTake_Private(pool, n * number);
    l->vector.w    = l->shared && mg->place.overlap ? PCGridMGTake_Private(pool, n * number) : NULL;
    l->vector.sums = (double *)PCGridMGTake_Private(pool, 2 * GRIDMG_SUMS * sizeof(double));
  }
  for (int d = 0; d < 3; d++) {
    op->up[d] = op->down[d] = g->n[d] > 1 ? PCGridMGTake_Private(pool, cells * code) : NULL;
    if (!mg->found.symmetric && g->n[d] > 1) op->down[d] = PCGridMGTake_Private(pool, cells * code);
  }
  op->zero  = PCGridMGTake_Private(pool, (size_t)g->n[0] * code);
  op->table = op->bits < 32 ? PCGridMGTake_Private(pool, 512 * number) : NULL;
  op->sigma = PCGridMGTake_Private(pool, n * number);
  op->dinv  = PCGridMGTake_Private(pool, n * number);
  op->alive = l->exact.survey.dead ? (const unsigned char *)PCGridMGTake_Private(pool, cells) : NULL;

  op->list.work = PCGridMGTake_Private(pool, (size_t)op->list.n * number);
}

/* The finest level for products of a KSP: other codes */
static void TakeFine(PC_GridMG *mg, GridMGPool *pool)
{
  GridMGOperator *op = &mg->aggregation.fine.op, *finest = &mg->aggregation.level[0].op;
  const size_t    code = (size_t)op->bits / 8;

  if (!op->bits) return;
  for (int d = 0; d < 3; d++) op->up[d] = op->down[d] = op->grid.n[d] > 1 ? PCGridMGTake_Private(pool, (size_t)op->grid.cells * code) : NULL;
  op->zero  = PCGridMGTake_Private(pool, (size_t)op->grid.n[0] * code);
  op->table = op->bits < 32 ? PCGridMGTake_Private(pool, 512 * sizeof(float)) : NULL;
  op->sigma = finest->sigma;
  op->dinv  = finest->dinv;
  op->alive = finest->alive;
  op->list  = finest->list;
  if (PetscDefined(USE_COMPLEX)) mg->aggregation.fine.z = (float *)PCGridMGTake_Private(pool, 2 * PCGridMGFineStride(mg) * sizeof(float));
}

/* The lists of all levels, one behind the other, in memory of the kernels */
typedef struct {
  void  *there;
  size_t bytes;
} Lists;

/* The arrays of a list, which the host fills */
static void TakeList(PC_GridMG *mg, PetscInt k, GridMGPool *pool)
{
  GridMGList  *list  = &mg->aggregation.level[k].op.list;
  const size_t edges = (size_t)mg->aggregation.level[k].nedges;

  list->row = (PetscInt *)PCGridMGTake_Private(pool, (size_t)list->n * sizeof(PetscInt));
  list->i   = (PetscInt *)PCGridMGTake_Private(pool, ((size_t)list->n + 1) * sizeof(PetscInt));
  list->j   = (PetscInt *)PCGridMGTake_Private(pool, edges * sizeof(PetscInt));
  list->t   = PCGridMGTake_Private(pool, edges * GridMGNumberBytes(mg->found.precision));
}

/*
   Takes the arrays of all levels from a pool, or counts them if the pool has no memory. The levels keep their sizes
   after set-up
*/
static void TakeLevels(PC_GridMG *mg, GridMGPool *pool, Lists *lists)
{
  const GridMGGrid *g = &mg->aggregation.level[mg->state.n - 1].op.grid;

  for (PetscInt k = 0; k < mg->state.n; k++) TakeLevel(mg, k, pool);
  PCGridMGCoarsestTake_Private(mg, pool, g->cells + g->wells, 1);
  PCGridMGScaleTake_Private(mg, pool);
  if (mg->domain.whole.first) PCGridMGWholeTake_Private(mg, pool);
  lists->there = pool->memory ? pool->memory + pool->taken : NULL;
  lists->bytes = pool->taken;
  for (PetscInt k = 0; k < mg->state.n; k++) TakeList(mg, k, pool);
  lists->bytes = pool->taken - lists->bytes;
  TakeFine(mg, pool);
}

/* Copies the lists, which lie one behind the other, to the memory of the levels */
static PetscErrorCode PutLists_Private(PC_GridMG *mg, const Lists *lists)
{
  GridMGPool host = {NULL, 0, 0};
  char      *memory;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(lists->bytes, &memory));
  PCGridMGPoolStart_Private(&host, memory);
  for (PetscInt k = 0; k < mg->state.n; k++) {
    const GridMGList *from  = &mg->aggregation.level[k].exact.faces.list;
    const PetscInt    edges = mg->aggregation.level[k].nedges;
    GridMGList       *list = &mg->aggregation.level[k].op.list, there = *list;

    TakeList(mg, k, &host);
    PetscCall(PetscArraycpy(list->row, from->row, from->n));
    PetscCall(PetscArraycpy(list->i, from->i, from->n + 1));
    PetscCall(PetscArraycpy(list->j, from->j, edges));
    if (mg->found.precision == GRIDMG_DOUBLE) PetscCall(PetscArraycpy((double *)list->t, (double *)from->t, edges));
    for (PetscInt e = 0; e < edges && mg->found.precision == GRIDMG_SINGLE; e++) ((float *)list->t)[e] = (float)((double *)from->t)[e];
    *list = there;
  }
  PetscCall((*mg->place.kernels->memory.put)(lists->bytes, memory, lists->there));
  PetscCall(PetscFree(memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Bits of the codes of a level: as requested, but 16 if 8 bits are too coarse. On the host also 16 if a face is too
   small for a float, which 32 bits are
*/
static int BitsOf(const PC_GridMG *mg, PetscInt k, double min, double max)
{
  const int    bits  = (int)(k && mg->opt.coarsebits != PETSC_DECIDE ? mg->opt.coarsebits : mg->opt.bits);
  const double least = mg->aggregation.level[k].exact.least; /* on all processes */

  if (bits == 32 && !mg->place.device && least > 0 && least < GRIDMG_FLOAT) return 16;
  return bits == 8 && min > 0 && .5 * log(max / min) / 254. > GRIDMG_COARSE ? 16 : bits;
}

/* Codes of 32 bits, on the host of 16 if faces are too small for a float */
static void FineOf(PC_GridMG *mg)
{
  GridMGLevel *l = &mg->aggregation.level[0];

  mg->aggregation.fine = (GridMGFine){.z = NULL};
  if (!PCGridMGHasFine(mg)) return;
  mg->aggregation.fine.op      = l->op;
  mg->aggregation.fine.op.bits = !mg->place.device && l->exact.least > 0 && l->exact.least < GRIDMG_FLOAT ? 16 : 32;
}

/* Adds all scalar arguments of the kernels, and the pattern of the edges, to a hash */
static void HashLevel(const GridMGLevel *l, GridMGPool *pool)
{
  const GridMGList *list = &l->exact.faces.list;

  for (int d = 0; d < 3; d++) {
    PCGridMGPoolHash_Private(pool, (size_t)l->op.grid.n[d]);
    PCGridMGPoolHash_Private(pool, (size_t)l->by[d]);
  }
  PCGridMGPoolHash_Private(pool, (size_t)l->op.bits);
  PCGridMGPoolHash_Private(pool, (size_t)l->op.symmetric);
  for (PetscInt r = 0; r < list->n; r++) {
    PCGridMGPoolHash_Private(pool, (size_t)list->row[r]);
    PCGridMGPoolHash_Private(pool, (size_t)list->i[r]);
  }
  for (PetscInt e = 0; e < list->i[list->n]; e++) PCGridMGPoolHash_Private(pool, (size_t)list->j[e]);
}

/* On several processes, all take the largest number of bits and the largest bound for a level */
static PetscErrorCode AgreeOnBits_Private(PC_GridMG *mg)
{
  int mine[GRIDMG_LEVELS_MAX], all[GRIDMG_LEVELS_MAX];

  PetscFunctionBegin;
  if (!mg->domain.whole.first) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->domain.whole.first; k++) mine[k] = mg->aggregation.level[k].op.bits;
  PetscCallMPI(MPIU_Allreduce(mine, all, (PetscMPIInt)mg->domain.whole.first, MPI_INT, MPI_MAX, mg->domain.team.comm));
  for (PetscInt k = 0; k < mg->domain.whole.first; k++) mg->aggregation.level[k].op.bits = all[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReduceBounds_Private(PC_GridMG *mg)
{
  double mine[GRIDMG_LEVELS_MAX], all[GRIDMG_LEVELS_MAX];

  PetscFunctionBegin;
  if (!mg->domain.whole.first) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->domain.whole.first; k++) mine[k] = mg->aggregation.level[k].bound;
  PetscCallMPI(MPIU_Allreduce(mine, all, (PetscMPIInt)mg->domain.whole.first, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  for (PetscInt k = 0; k < mg->domain.whole.first; k++) mg->aggregation.level[k].bound = all[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After coarsening: one allocation, or the existing one, and the codes of all levels */
PetscErrorCode PCGridMGEncode_Private(PC pc)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  GridMGPool pool = {NULL, 0, 0};
  Lists      lists;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->state.n; k++) {
    GridMGLevel *l = &mg->aggregation.level[k];

    l->op.grid      = l->exact.faces.grid;
    l->op.precision = mg->found.precision;
    l->op.symmetric = mg->found.symmetric;
    l->op.bits      = BitsOf(mg, k, l->exact.survey.min, l->exact.survey.max);
    l->nedges       = l->exact.faces.list.i[l->exact.faces.list.n];
    l->op.list.n    = l->exact.faces.list.n;
    for (int p = 0; p < 2; p++) l->op.list.part[p] = l->exact.faces.list.part[p];
  }
  PetscCall(AgreeOnBits_Private(mg));
  FineOf(mg);
  TakeLevels(mg, &pool, &lists);
  for (PetscInt k = 0; k < mg->state.n; k++) HashLevel(&mg->aggregation.level[k], &pool);
  PetscCall(PCGridMGPoolGet_Private(mg, &pool, PETSC_TRUE));
  TakeLevels(mg, &pool, &lists);
  PetscCall(PutLists_Private(mg, &lists));
  if (mg->aggregation.fine.op.bits) {
    GridMGLevel *l = &mg->aggregation.level[0];

    /* before the codes of the level, whose inverse diagonal stays */
    PetscCall((*mg->place.kernels->setup.encode)(&l->exact.faces, l->exact.survey.min, l->exact.survey.max, &mg->aggregation.fine.op, &l->bound));
  }
  for (PetscInt k = 0; k < mg->state.n; k++) {
    GridMGLevel *l = &mg->aggregation.level[k];

    if (l->op.alive) PetscCall((*mg->place.kernels->memory.copy)((size_t)l->op.grid.cells, l->exact.faces.alive, (void *)l->op.alive));
    PetscCall((*mg->place.kernels->setup.encode)(&l->exact.faces, l->exact.survey.min, l->exact.survey.max, &l->op, &l->bound));
    if (mg->place.overlap && l->shared) PetscCall(PCGridMGOverlapCodes_Private(mg, l));
  }
  PetscCall(ReduceBounds_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ after the set-up */

/* Copies the levels of a set-up on the host to the device */
PetscErrorCode PCGridMGMoveLevels_Private(PC_GridMG *mg)
{
  const char *host = (const char *)mg->memory.pool.memory;
  GridMGPool  pool = {NULL, 0, 0};
  Lists       lists;
  char       *there;

  PetscFunctionBegin;
  TakeLevels(mg, &pool, &lists);
  PetscCall(PCGridMGMove_Private(mg, pool.taken, host, &there));
  PCGridMGPoolStart_Private(&pool, there);
  TakeLevels(mg, &pool, &lists);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next cycles divide their work anew */
void PCGridMGLevelsForget_Private(PC_GridMG *mg)
{
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) memset(mg->aggregation.level[k].shape, 0, sizeof(mg->aggregation.level[k].shape));
}

/* No levels; each has a share of the domain */
void PCGridMGLevelsStart_Private(PC_GridMG *mg)
{
  memset(mg->aggregation.level, 0, sizeof(mg->aggregation.level));
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) mg->aggregation.level[k].boxes = &mg->domain.share[k];
}

/* Before the finest level is read */
void PCGridMGLevelsBegin_Private(PC_GridMG *mg)
{
  mg->aggregation.level[0].shared = PCGridMGIsParallel(mg);
}
