/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Boxes of several processes that overlap. Each process has its own cells, and two layers of neighbour cells, including
   the faces of both. In the layers, the process computes all numbers that own cells need. A visit of a level therefore
   consists of the same two kernels as on one process.

   Processes exchange numbers twice per visit, and not between half steps:

     the right-hand side of a level, before a visit   for red cells of the first layer; black cells next to the box need
                                                      red cells two layers away
     the iterate of a level, after a visit            for the correction of the finer level in both layers, and for a
                                                      second visit

   Set-up: the exact entries in layers are 0, except faces towards own cells. Levels are made of these entries as on one
   process. Codes and diagonals in layers come from their processes. Surveys count own cells only.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"
#include "../base/base.h"

#define GRIDMG_LAYERS 2

/* ------------------------------------------------------------ grids */

/* The grid of a process, with the layers */
static void GridOf(const PC_GridMG *mg, const GridMGShare *s, PetscInt rank, GridMGGrid *grid, PetscInt lo[3], PetscInt origin[3])
{
  PetscInt first[3], n[3];

  (void)PCGridMGBoxIn(s->start, mg->domain.team.parts, rank, first, n);
  *grid = (GridMGGrid){{0, 0, 0}, 1, 0, 0};
  for (int d = 0; d < 3; d++) {
    const PetscInt begin = first[d], end = first[d] + n[d];

    lo[d]      = begin > 0 ? GRIDMG_LAYERS + begin % 2 : 0;
    origin[d]  = begin - lo[d];
    grid->n[d] = lo[d] + end - begin + PetscMin(GRIDMG_LAYERS, s->start[d][mg->domain.team.parts[d]] - end);
    grid->cells *= grid->n[d];
  }
}

/* A piece of a line of cells, in the whole grid: n cells on one process, which begin at cell index of its grid */
typedef struct {
  PetscMPIInt rank;
  PetscInt    index, n;
} Piece;

static PetscInt PartOf(const PetscInt start[], PetscInt at)
{
  PetscInt part = 0;

  while (start[part + 1] <= at) part++;
  return part;
}

static Piece PieceOf(const PC_GridMG *mg, const GridMGShare *s, const PetscInt at[3], PetscInt n)
{
  const PetscInt *parts = mg->domain.team.parts;
  PetscInt        part[3], lo[3], origin[3];
  GridMGGrid      grid;
  Piece           piece;

  for (int d = 0; d < 3; d++) part[d] = PartOf(s->start[d], at[d]);
  piece.rank = (PetscMPIInt)(part[0] + parts[0] * (part[1] + parts[1] * part[2]));
  GridOf(mg, s, piece.rank, &grid, lo, origin);
  piece.index = at[0] - origin[0] + grid.n[0] * (at[1] - origin[1] + grid.n[1] * (at[2] - origin[2]));
  piece.n     = PetscMin(n, s->start[0][part[0] + 1] - at[0]);
  return piece;
}

/*
   Counts remote cells on a line of the own grid, from x = begin to end - 1; with at and remote, stores the cells as
   well
*/
static PetscInt AddLine(const PC_GridMG *mg, const GridMGShare *s, PetscInt begin, PetscInt end, PetscInt j, PetscInt k, PetscInt count, PetscInt *at,
                        PetscSFNode *remote)
{
  const GridMGOverlap *o     = &s->over;
  PetscInt             there = PetscMax(begin, -o->origin[0]);

  if (o->origin[1] + j < 0 || o->origin[2] + k < 0) return 0;
  if (!at) return PetscMax(end - there, 0);
  begin = there;
  while (there < end) {
    const PetscInt cell[3] = {o->origin[0] + there, o->origin[1] + j, o->origin[2] + k};
    const Piece    piece   = PieceOf(mg, s, cell, end - there);

    for (PetscInt i = 0; i < piece.n; i++, there++) {
      at[count]       = there + o->grid.n[0] * (j + o->grid.n[1] * k);
      remote[count++] = (PetscSFNode){.rank = piece.rank, .index = piece.index + i};
    }
  }
  return PetscMax(end - begin, 0);
}

static PetscInt AddGhosts(const PC_GridMG *mg, const GridMGShare *s, const PetscInt own[3], PetscInt *at, PetscSFNode *remote)
{
  const GridMGOverlap *o     = &s->over;
  PetscInt             count = 0;

  for (PetscInt k = 0; k < o->grid.n[2]; k++) {
    for (PetscInt j = 0; j < o->grid.n[1]; j++) {
      const PetscBool mine = (PetscBool)(j >= o->lo[1] && j < o->lo[1] + own[1] && k >= o->lo[2] && k < o->lo[2] + own[2]);

      if (!mine) count += AddLine(mg, s, 0, o->grid.n[0], j, k, count, at, remote);
      else {
        count += AddLine(mg, s, 0, o->lo[0], j, k, count, at, remote);
        count += AddLine(mg, s, o->lo[0] + own[0], o->grid.n[0], j, k, count, at, remote);
      }
    }
  }
  return count;
}

/* The own grid and the places of remote cells, unless they are known */
static PetscErrorCode Create_Private(PC_GridMG *mg, GridMGShare *s)
{
  GridMGOverlap *o = &s->over;
  PetscInt       own[3], ghosts, *at;
  PetscSFNode   *remote;

  PetscFunctionBegin;
  if (o->remote.sf) PetscFunctionReturn(PETSC_SUCCESS);
  (void)PCGridMGBoxCells_Private(mg, s, mg->domain.team.rank, own);
  GridOf(mg, s, mg->domain.team.rank, &o->grid, o->lo, o->origin);
  ghosts = AddGhosts(mg, s, own, NULL, NULL);
  PetscCall(PetscMalloc1(ghosts, &at));
  PetscCall(PetscMalloc1(ghosts, &remote));
  (void)AddGhosts(mg, s, own, at, remote);
  PetscCall(PCGridMGExchangeCreate_Private(mg, o->grid.cells, ghosts, at, remote, &o->remote));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ exchanges */

/* A vector of a level, which is shared */
PetscErrorCode PCGridMGOverlapExchange_Private(PC_GridMG *mg, GridMGLevel *l, void *x)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGRemote_Private(mg, &l->boxes->over.remote, GRIDMG_WORD_WHOLE, x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for longer numbers; scratch: one word per cell */
static PetscErrorCode ExchangeNumbers_Private(PC_GridMG *mg, GridMGShare *s, GridMGWord word, void *x, void *scratch)
{
  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->vectors.words)(word, s->over.grid.cells, x, scratch));
  PetscCall(PCGridMGRemote_Private(mg, &s->over.remote, word, scratch, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole grid from the boxes of all processes */
static PetscErrorCode Collect_Private(PC_GridMG *mg, GridMGShare *s, const void *x, void *whole)
{
  GridMGOverlap *o = &s->over;

  PetscFunctionBegin;
  PetscCall(PCGridMGCollect_Private(mg, &o->gather, s->start, mg->domain.team.parts, sizeof(float), o->grid.n, o->lo, x, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers team.part of all processes into a vector of the first whole level */
PetscErrorCode PCGridMGOverlapToWhole_Private(PC_GridMG *mg, void *x)
{
  PetscFunctionBegin;
  PetscCall(Collect_Private(mg, mg->aggregation.level[mg->domain.whole.first].boxes, mg->domain.whole.part, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ boxes */

/* A box of n cells: from first[] of one grid to first[] of another grid */
static GridMGBox BoxOf(const PetscInt n[3], const GridMGGrid *from, const PetscInt fromfirst[3], const GridMGGrid *to, const PetscInt tofirst[3])
{
  return PCGridMGBoxOf(n, from->n, fromfirst, to->n, tofirst);
}

/* Copies the own part, with the layers, from a vector of the whole grid to team.part */
PetscErrorCode PCGridMGOverlapFromWhole_Private(PC_GridMG *mg, const void *x)
{
  const GridMGLevel   *l = &mg->aggregation.level[mg->domain.whole.first];
  const GridMGOverlap *o = &l->boxes->over;
  PetscInt             n[3], from[3], to[3];
  GridMGBox            box;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    from[d] = PetscMax(o->origin[d], 0);
    to[d]   = from[d] - o->origin[d];
    n[d]    = o->grid.n[d] - to[d];
  }
  box = BoxOf(n, &l->op.grid, from, &o->grid, to);
  PetscCall((*mg->place.kernels->vectors.copybox)(sizeof(float), &box, x, mg->domain.whole.part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The aggregate of cell (i, j, k) is (i/by[0], j/by[1], k/by[2]) of the next level, shifted by the returned number of
   cells
*/
PetscInt PCGridMGOverlapShift_Private(const GridMGLevel *l, const GridMGLevel *c)
{
  const GridMGOverlap *fine = &l->boxes->over, *coarse = &c->boxes->over;
  PetscInt             shift[3];

  for (int d = 0; d < 3; d++) shift[d] = coarse->lo[d] - fine->lo[d] / l->by[d];
  return shift[0] + coarse->grid.n[0] * (shift[1] + coarse->grid.n[1] * shift[2]);
}

/* ------------------------------------------------------------ vectors of the matrix */

static GridMGBox OwnBox(const PC_GridMG *mg, PetscBool leave)
{
  static const PetscInt zero[3] = {0, 0, 0};
  const GridMGOverlap  *o       = &mg->domain.share[0].over;
  const GridMGGrid     *own     = &mg->domain.team.own;

  return leave ? BoxOf(own->n, &o->grid, o->lo, own, zero) : BoxOf(own->n, own, zero, &o->grid, o->lo);
}

/* Copies the own cells of a vector of a shared level */
PetscErrorCode PCGridMGOverlapOwn_Private(PC_GridMG *mg, GridMGLevel *l, const void *x, void *y)
{
  const GridMGOverlap *o = &l->boxes->over;
  PetscInt             n[3];
  GridMGBox            box;

  PetscFunctionBegin;
  (void)PCGridMGBoxCells_Private(mg, l->boxes, mg->domain.team.rank, n);
  box = BoxOf(n, &o->grid, o->lo, &o->grid, o->lo);
  PetscCall((*mg->place.kernels->vectors.copybox)(sizeof(float), &box, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The own cells of a vector of the finest level, by the scale of the application */
PetscErrorCode PCGridMGOverlapEnterScaled_Private(PC_GridMG *mg, int part, const PetscScalar x[], void *b)
{
  const GridMGBox box = OwnBox(mg, PETSC_FALSE);

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->vectors.enterbox)(&box, part, x, b, mg->application.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The right-hand side of the finest level, with the same scale on all processes: on a device from a mean of the largest
   numbers of the processes
*/
PetscErrorCode PCGridMGOverlapEnter_Private(PC_GridMG *mg, int part, const PetscScalar x[])
{
  const GridMGKernels *kernels = mg->place.kernels;
  GridMGLevel         *l       = &mg->aggregation.level[0];
  const GridMGOperator own     = {.grid = mg->domain.team.own, .precision = mg->found.precision};

  PetscFunctionBegin;
  if (kernels->vectors.largest) {
    PetscCall((*kernels->vectors.largest)(&own, &mg->domain.team.rows, part, x, mg->application.scale));
    PetscCall(PCGridMGSum_Private(mg, 1, 1. / (double)mg->domain.team.size, mg->application.scale));
  } else {
    double mine;

    PetscCall((*kernels->vectors.most)(&own, part, x, &mine));
    PetscCall(PCGridMGScaleAgree_Private(mg, mine));
  }
  PetscCall(PCGridMGOverlapEnterScaled_Private(mg, part, x, l->vector.b));
  PetscCall(PCGridMGOverlapExchange_Private(mg, l, l->vector.b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGOverlapLeave_Private(PC_GridMG *mg, int part, const void *x, PetscScalar y[])
{
  const GridMGBox box = OwnBox(mg, PETSC_TRUE);

  PetscFunctionBegin;
  PetscCall((*mg->place.kernels->vectors.leavebox)(&box, part, mg->found.factor, mg->application.scale, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ exact entries */

#define GRIDMG_ARRAYS 7

/* sigma, up or down; NULL: no such array */
static double *ArrayOf(const GridMGFaces *f, int a)
{
  if (a == 0) return f->sigma;
  if (a < 4) return f->up[a - 1];
  return f->symmetric ? NULL : f->down[a - 4];
}

/* The arrays of a level with the layers, not zeroed */
static PetscErrorCode CreateFaces_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGShare *s   = l->boxes;
  GridMGOwn          own = {.is = PETSC_TRUE};
  PetscInt           n[3];

  PetscFunctionBegin;
  (void)PCGridMGBoxCells_Private(mg, s, mg->domain.team.rank, n);
  for (int d = 0; d < 3; d++) {
    own.first[d] = s->over.lo[d];
    own.end[d]   = s->over.lo[d] + n[d];
  }
  PetscCall(PCGridMGExactCreate_Private(mg, l, &s->over.grid, mg->found.symmetric, &own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies own cells of a level from another grid, where own cells begin at first[]; remote cells become 0 */
static PetscErrorCode CopyOwn_Private(PC_GridMG *mg, const GridMGFaces *f, int a, const GridMGGrid *grid, const PetscInt first[3], const double *from)
{
  const PetscInt  n[3] = {f->own.end[0] - f->own.first[0], f->own.end[1] - f->own.first[1], f->own.end[2] - f->own.first[2]};
  const GridMGBox box  = BoxOf(n, grid, first, &f->grid, f->own.first);
  double         *to   = ArrayOf(f, a);

  PetscFunctionBegin;
  if (!to) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->place.kernels->memory.clear)((size_t)f->grid.cells * sizeof(*to), to));
  if (from) PetscCall((*mg->place.kernels->vectors.copybox)(sizeof(*to), &box, from, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds the faces of one plane between boxes; sums: also to the row sums of own cells */
static PetscErrorCode AddPlane_Private(PC_GridMG *mg, const GridMGFaces *f, int d, int side, PetscBool sums)
{
  static const PetscInt zero[3] = {0, 0, 0};
  const GridMGCrossing *c       = &mg->aggregation.crossing;
  const double         *up = side ? c->mine[d][side] : c->theirs[d][side], *down = side ? c->theirs[d][side] : c->mine[d][side];
  const PetscInt        plane = PCGridMGPlane_Private(&mg->domain.team.own, d);
  const GridMGArenaMark mark  = PCGridMGArenaGetMark_Private(mg);
  GridMGGrid            grid  = {{0, 0, 0}, plane, 0, 0};
  PetscInt              first[3];
  GridMGBox             box;
  double               *there;

  PetscFunctionBegin;
  for (int e = 0; e < 3; e++) {
    grid.n[e] = e == d ? 1 : mg->domain.team.own.n[e];
    first[e]  = e == d && side ? f->own.end[e] - 1 : f->own.first[e];
  }
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)plane * sizeof(double), (void **)&there));
  if (sums) {
    box = BoxOf(grid.n, &grid, zero, &f->grid, first);
    PetscCall((*mg->place.kernels->memory.put)((size_t)plane * sizeof(double), c->mine[d][side], there));
    PetscCall((*mg->place.kernels->vectors.addbox)(&box, -1., there, f->sigma));
  }
  first[d] -= side ? 0 : 1; /* faces are with the lower cell */
  box = BoxOf(grid.n, &grid, zero, &f->grid, first);
  for (int which = 0; which < (f->symmetric ? 1 : 2); which++) {
    PetscCall((*mg->place.kernels->memory.put)((size_t)plane * sizeof(double), which ? down : up, there));
    PetscCall((*mg->place.kernels->vectors.copybox)(sizeof(double), &box, there, which ? f->down[d] : f->up[d]));
  }
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Extends the finest level from own cells by the layers and the faces between boxes; sums: also the row sums */
PetscErrorCode PCGridMGOverlapFinest_Private(PC_GridMG *mg, PetscBool sums)
{
  static const PetscInt zero[3] = {0, 0, 0};
  GridMGLevel          *l       = &mg->aggregation.level[0];
  const GridMGFaces     own     = l->exact.faces;

  PetscFunctionBegin;
  PetscCall(Create_Private(mg, l->boxes));
  PetscCall(CreateFaces_Private(mg, l));
  for (int a = 0; a < GRIDMG_ARRAYS; a++) PetscCall(CopyOwn_Private(mg, &l->exact.faces, a, &own.grid, zero, ArrayOf(&own, a)));
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < 2; side++) {
      if (side ? mg->domain.team.place[d] < mg->domain.team.parts[d] - 1 : mg->domain.team.place[d] > 0)
        PetscCall(AddPlane_Private(mg, &l->exact.faces, d, side, sums));
    }
  }
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(PCGridMGExactSetList_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The survey of a level over all processes, and which own and remote cells have a place on the next level */
PetscErrorCode PCGridMGOverlapSurvey_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGArenaMark mark = PCGridMGArenaGetMark_Private(mg);
  void                 *words;

  PetscFunctionBegin;
  PetscCall(PCGridMGSurvey_Private(mg, l));
  if (!l->exact.survey.dead) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)l->exact.faces.grid.cells * sizeof(float), &words));
  PetscCall(ExchangeNumbers_Private(mg, l->boxes, GRIDMG_WORD_BYTE, l->exact.alive, words));
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exact entries of the next level: own cells, and faces between own and remote cells */
static PetscErrorCode CopyCoarse_Private(PC_GridMG *mg, const GridMGFaces *raw, const GridMGOverlap *fine, const int by[3], const GridMGFaces *f)
{
  PetscInt first[3];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) first[d] = fine->lo[d] / by[d];
  for (int a = 0; a < GRIDMG_ARRAYS; a++) {
    const int d       = (a - 1) % 3;
    PetscInt  from[3] = {first[0], first[1], first[2]}, to[3], n[3];

    PetscCall(CopyOwn_Private(mg, f, a, &raw->grid, first, ArrayOf(raw, a)));
    if (!a || !ArrayOf(f, a) || !ArrayOf(raw, a) || !f->own.first[d]) continue;
    for (int e = 0; e < 3; e++) {
      to[e] = f->own.first[e];
      n[e]  = e == d ? 1 : f->own.end[e] - f->own.first[e];
    }
    from[d]--;
    to[d]--;
    {
      const GridMGBox box = BoxOf(n, &raw->grid, from, &f->grid, to);

      PetscCall((*mg->place.kernels->vectors.copybox)(sizeof(double), &box, ArrayOf(raw, a), ArrayOf(f, a)));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGOverlapCoarsen_Private(PC_GridMG *mg, PetscInt level)
{
  GridMGLevel    *l = &mg->aggregation.level[level], *c = l + 1;
  GridMGFaces     raw;
  GridMGGrid      grid = {{0, 0, 0}, 1, 0, 0};
  GridMGArenaMark mark;

  PetscFunctionBegin;
  PetscCall(PCGridMGShareCoarsen_Private(mg, level, l->by));
  PetscCall(Create_Private(mg, c->boxes));
  PetscCall(CreateFaces_Private(mg, c));
  PetscCall(PCGridMGExactAlive_Private(mg, c));
  mark = PCGridMGArenaGetMark_Private(mg);
  for (int d = 0; d < 3; d++) {
    grid.n[d] = (l->exact.faces.grid.n[d] + l->by[d] - 1) / l->by[d];
    grid.cells *= grid.n[d];
  }
  PetscCall(PCGridMGFacesCreate_Private(mg, &grid, mg->found.symmetric, &raw));
  PetscCall((*mg->place.kernels->setup.coarsen)(&l->exact.faces, l->by, &raw));
  PetscCall(CopyCoarse_Private(mg, &raw, &l->boxes->over, l->by, &c->exact.faces));
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(PCGridMGExactSetList_Private(mg, c));
  PetscCall(PCGridMGOverlapSurvey_Private(mg, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the exact entries of a level on all processes */
PetscErrorCode PCGridMGOverlapGather_Private(PC_GridMG *mg, PetscInt level)
{
  GridMGLevel      *l     = &mg->aggregation.level[level];
  GridMGShare      *s     = l->boxes;
  const GridMGFaces part  = l->exact.faces;
  GridMGGrid        whole = {{0, 0, 0}, 0, 0, 0};
  GridMGArenaMark   mark;
  void             *words, *all;

  PetscFunctionBegin;
  PCGridMGWholeSize(mg, s, whole.n);
  whole.cells = whole.n[0] * whole.n[1] * whole.n[2];
  PCGridMGWholeSet_Private(mg, level, &s->over.grid);
  PetscCall(PCGridMGExactCreate_Private(mg, l, &whole, mg->found.symmetric, NULL));
  mark = PCGridMGArenaGetMark_Private(mg);
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)part.grid.cells * sizeof(float), &words));
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)whole.cells * sizeof(float), &all));
  for (int a = 0; a < GRIDMG_ARRAYS; a++) {
    if (!ArrayOf(&l->exact.faces, a)) continue;
    for (int half = 0; half < 2; half++) {
      const GridMGWord word = half ? GRIDMG_WORD_HIGH : GRIDMG_WORD_LOW;

      PetscCall((*mg->place.kernels->vectors.words)(word, part.grid.cells, ArrayOf(&part, a), words));
      PetscCall(Collect_Private(mg, s, words, all));
      PetscCall((*mg->place.kernels->vectors.place)(word, whole.cells, NULL, all, ArrayOf(&l->exact.faces, a)));
    }
  }
  PCGridMGArenaGiveBack_Private(mg, &mark);
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  PetscCall(PCGridMGExactSetList_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ codes */

/* Zeros for faces that would lead out of the grid */
static PetscErrorCode ClearLast_Private(PC_GridMG *mg, const GridMGGrid *grid, int d, size_t unit, void *codes)
{
  PetscInt  first[3] = {0, 0, 0}, n[3] = {grid->n[0], grid->n[1], grid->n[2]};
  GridMGBox box;

  PetscFunctionBegin;
  first[d] = n[d] - 1;
  n[d]     = 1;
  box      = BoxOf(n, grid, first, grid, first);
  PetscCall((*mg->place.kernels->vectors.copybox)(unit, &box, NULL, codes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Remote cells receive codes, diagonals and row sums from their processes */
PetscErrorCode PCGridMGOverlapCodes_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGOperator *op   = &l->op;
  const size_t          unit = (size_t)op->bits / 8;
  const GridMGWord      word = op->bits == 8 ? GRIDMG_WORD_BYTE : GRIDMG_WORD_SHORT;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    for (int side = 0; side < (op->symmetric ? 1 : 2); side++) {
      void *codes = (void *)(side ? op->down[d] : op->up[d]);

      if (!codes) continue;
      PetscCall(ExchangeNumbers_Private(mg, l->boxes, word, codes, l->vector.x[0]));
      PetscCall(ClearLast_Private(mg, &op->grid, d, unit, codes));
    }
  }
  PetscCall(PCGridMGRemote_Private(mg, &l->boxes->over.remote, GRIDMG_WORD_WHOLE, op->dinv, (void *)op->dinv));
  PetscCall(PCGridMGRemote_Private(mg, &l->boxes->over.remote, GRIDMG_WORD_WHOLE, op->sigma, (void *)op->sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}
