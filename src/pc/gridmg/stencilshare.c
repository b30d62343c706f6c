/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels of stencils on several processes. The points of the processes are boxes, a tensor product. A coarse point belongs to the process that has its fine
   point. Each process has a larger box, its own points and some of others, and works on all of it with the operations of one process.

   A larger box begins at an even number and ends at one, or at the end of the grid, two or three points away from the own points. It therefore has the
   weights of all its points, and, of its own points, the coarse stencils and the scales of codes. Stencils and codes of the other points come from their processes.

   Iterates and right sides are right on the whole larger box. A smoothing step and a restriction spoil points of others, which are exchanged then. Residuals
   are right one point away from the own points: restriction needs these. All numbers are those of one process, to the last bit.

   A level of few points is gathered: each process has all of it, and of all levels after it.
*/

#include "gridmgimpl.h"

#define GRIDMG_AROUND 2 /* points of others on each side, at least */

/* A part of the grid of a level */
typedef struct {
  PetscInt low[3], n[3];
} Box;

/* ------------------------------------------------------------ boxes */

static inline PetscInt OwnCells(const GridMGStencilShare *s)
{
  return s->own[0] * s->own[1] * s->own[2];
}

static Box OwnBox(const GridMGStencilShare *s, PetscInt rank)
{
  const PetscInt line = rank / s->parts[0], place[3] = {rank % s->parts[0], line % s->parts[1], line / s->parts[1]};
  Box            box;

  for (int d = 0; d < 3; d++) {
    box.low[d] = s->start[d][place[d]];
    box.n[d]   = s->start[d][place[d] + 1] - box.low[d];
  }
  return box;
}

/* The larger box */
static Box LargeBox(const GridMGStencilShare *s, int dim, PetscInt rank)
{
  Box box = OwnBox(s, rank);

  for (int d = 0; d < dim; d++) {
    const PetscInt begin = box.low[d], last = begin + box.n[d] - 1 + GRIDMG_AROUND, end = last + (last & 1) + 1;

    box.low[d] = PetscMax(0, begin - begin % 2 - GRIDMG_AROUND);
    box.n[d]   = PetscMin(end, s->size[d]) - box.low[d];
  }
  return box;
}

/* The whole grid */
static Box WholeBox(const GridMGStencilShare *s)
{
  Box box;

  for (int d = 0; d < 3; d++) {
    box.low[d] = 0;
    box.n[d]   = s->size[d];
  }
  return box;
}

/* What an array of a level is on */
static Box BoxOfLevel(const GridMGStencilLevel *l)
{
  Box box = WholeBox(&l->share);

  for (int d = 0; d < 3 && l->shared; d++) {
    box.low[d] = l->share.low[d];
    box.n[d]   = l->share.box.n[d];
  }
  return box;
}

/* The coarse points of the larger box of a level */
static Box NextBox(const GridMGStencilShare *s)
{
  Box box;

  for (int d = 0; d < 3; d++) {
    box.low[d] = s->low[d] / 2;
    box.n[d]   = s->next.n[d];
  }
  return box;
}

/* The points of a box from one array to another, of so many bytes each */
static void CopyBox(const Box *box, const Box *from, const void *f, const Box *to, void *t, size_t bytes)
{
  for (PetscInt line = 0; line < box->n[1] * box->n[2]; line++) {
    const PetscInt j = box->low[1] + line % box->n[1], k = box->low[2] + line / box->n[1];
    const size_t   a = (size_t)(box->low[0] - from->low[0] + from->n[0] * (j - from->low[1] + from->n[1] * (k - from->low[2])));
    const size_t   b = (size_t)(box->low[0] - to->low[0] + to->n[0] * (j - to->low[1] + to->n[1] * (k - to->low[2])));

    memcpy((char *)t + b * bytes, (const char *)f + a * bytes, (size_t)box->n[0] * bytes);
  }
}

static inline PetscInt CellsOf(const Box *box)
{
  return box->n[0] * box->n[1] * box->n[2];
}

/* The points of others get what their processes have */
static PetscErrorCode MakeForest_Private(PC_GridMG *mg, GridMGStencilShare *s)
{
  const int      dim = s->box.dim;
  const Box      box = LargeBox(s, dim, mg->team.rank);
  const PetscInt max = s->box.cells - OwnCells(s);
  PetscInt      *leaf, n = 0, part[3] = {0, 0, 0};
  PetscSFNode   *root;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(max, &leaf));
  PetscCall(PetscMalloc1(max, &root));
  for (PetscInt i = 0; i < s->box.cells; i++) {
    const PetscInt line = i / box.n[0], at[3] = {box.low[0] + i % box.n[0], box.low[1] + line % box.n[1], box.low[2] + line / box.n[1]};
    PetscInt       rank;
    Box            there;

    for (int d = 0; d < 3; d++) {
      while (at[d] < s->start[d][part[d]]) part[d]--;
      while (at[d] >= s->start[d][part[d] + 1]) part[d]++;
    }
    rank = part[0] + s->parts[0] * (part[1] + s->parts[1] * part[2]);
    if (rank == mg->team.rank) continue;
    there     = LargeBox(s, dim, rank);
    leaf[n]   = i;
    root[n++] = (PetscSFNode){.rank = rank, .index = at[0] - there.low[0] + there.n[0] * (at[1] - there.low[1] + there.n[1] * (at[2] - there.low[2]))};
  }
  PetscCall(PetscSFCreate(mg->team.comm, &s->sf));
  PetscCall(PetscSFSetGraph(s->sf, s->box.cells, n, leaf, PETSC_OWN_POINTER, root, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(s->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All of a share whose start, parts and size are there; grid: how many directions there are, and neighbours */
static PetscErrorCode SetBoxes_Private(PC_GridMG *mg, const GridMGPoints *grid, GridMGStencilShare *s)
{
  const Box own = OwnBox(s, mg->team.rank), box = LargeBox(s, grid->dim, mg->team.rank);

  PetscFunctionBegin;
  s->box       = *grid;
  s->box.cells = CellsOf(&box);
  s->next      = s->box;
  for (int d = 0; d < 3; d++) {
    s->own[d]    = own.n[d];
    s->low[d]    = box.low[d];
    s->box.n[d]  = box.n[d];
    s->next.n[d] = GridMGCoarseSize(box.n[d]);
  }
  s->next.cells = s->next.n[0] * s->next.n[1] * s->next.n[2];
  PetscCall(MakeForest_Private(mg, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of the finest level: the boxes of cells. Directions of one point are left out. grid becomes the larger box */
PetscErrorCode PCGridMGStencilShareFirst_Private(PC_GridMG *mg, GridMGPoints *grid)
{
  GridMGStencilLevel *l     = &mg->stencil[0];
  GridMGStencilShare *s     = &l->share;
  const GridMGShare  *cells = &mg->level[0].share;
  int                 to    = 0;

  PetscFunctionBegin;
  l->shared = PETSC_TRUE;
  if (!s->sf) {
    for (int pass = 0; pass < 2; pass++) {
      for (int d = 0; d < 3; d++) {
        const PetscInt parts = mg->team.parts[d];

        if ((cells->start[d][parts] < 2) != pass) continue;
        PetscCall(PetscMalloc1(parts + 1, &s->start[to]));
        PetscCall(PetscArraycpy(s->start[to], cells->start[d], parts + 1));
        s->parts[to]  = parts;
        s->size[to++] = cells->start[d][parts];
      }
    }
    PetscCall(SetBoxes_Private(mg, grid, s));
  }
  *grid = s->box;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes of the next level: a coarse point belongs to whom its fine point, twice its number or the last one, belongs to */
static PetscErrorCode ShareCoarsen_Private(PC_GridMG *mg, const GridMGStencilShare *s, GridMGStencilShare *c)
{
  PetscFunctionBegin;
  if (c->sf) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 3; d++) {
    c->parts[d] = s->parts[d];
    c->size[d]  = GridMGCoarseSize(s->size[d]);
    PetscCall(PetscMalloc1(c->parts[d] + 1, &c->start[d]));
    for (PetscInt p = 0; p <= c->parts[d]; p++) c->start[d][p] = s->start[d][p] == s->size[d] ? c->size[d] : (s->start[d][p] + 1) / 2;
  }
  PetscCall(SetBoxes_Private(mg, &s->box, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGStencilShareFree_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) {
    GridMGStencilShare *s = &mg->stencil[k].share;

    for (int d = 0; d < 3; d++) PetscCall(PetscFree(s->start[d]));
    PetscCall(PetscSFDestroy(&s->sf));
    PetscCall(PetscMemzero(s, sizeof(*s)));
    mg->stencil[k].shared = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of a level, all of it */
PetscInt PCGridMGStencilGrid_Private(const GridMGStencilLevel *l, PetscInt n[3])
{
  for (int d = 0; d < 3; d++) n[d] = l->shared ? l->share.size[d] : l->op.grid.n[d];
  return n[0] * n[1] * n[2];
}

/* ------------------------------------------------------------ entries */

/* Units of n numbers, of all points that are another process's */
static PetscErrorCode Exchange_Private(const GridMGStencilShare *s, MPI_Datatype number, PetscMPIInt n, void *x)
{
  MPI_Datatype unit;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Type_contiguous(n, number, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(s->sf, unit, x, x, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(s->sf, unit, x, x, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries of a level, without row sums */
PetscErrorCode PCGridMGExchangeEntries_Private(GridMGStencilLevel *l)
{
  PetscFunctionBegin;
  PetscCall(Exchange_Private(&l->share, MPI_DOUBLE, l->f.grid.points * GRIDMG_PARTS, l->f.a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes' points of a level: units of bytes, from own points to the whole grid */
static PetscErrorCode GatherUnits_Private(PC_GridMG *mg, const GridMGStencilShare *s, size_t bytes, const void *part, void *all, void *whole)
{
  const Box    to = WholeBox(s);
  MPI_Datatype unit;
  PetscMPIInt  length;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast((PetscCount)bytes, &length));
  PetscCallMPI(MPI_Type_contiguous(length, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCallMPI(MPI_Allgatherv(part, mg->team.count[mg->team.rank], unit, all, mg->team.count, mg->team.from, unit, mg->team.comm));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscMPIInt r = 0; r < mg->team.size; r++) {
    const Box box = OwnBox(s, r);

    CopyBox(&box, &box, (const char *)all + (size_t)mg->team.from[r] * bytes, &to, whole, bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exact entries of a level, of which this process has its part, as all of them */
PetscErrorCode PCGridMGGatherStencils_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilShare *s     = &l->share;
  const GridMGStencils      part  = l->f;
  const Box                 large = BoxOfLevel(l), own = OwnBox(s, mg->team.rank);
  const size_t              value = GRIDMG_PARTS * sizeof(double), row = (size_t)part.grid.points * value, mine = (size_t)OwnCells(s) * row;
  GridMGPoints              grid = part.grid;
  PetscInt                  from = 0;
  char                     *buffer;

  PetscFunctionBegin;
  grid.cells = PCGridMGStencilGrid_Private(l, grid.n);
  if (!mg->team.count) PetscCall(PetscMalloc2(mg->team.size, &mg->team.count, mg->team.size, &mg->team.from));
  for (PetscMPIInt r = 0; r < mg->team.size; r++) {
    const Box box = OwnBox(s, r);

    PetscCall(PetscMPIIntCast(CellsOf(&box), &mg->team.count[r]));
    PetscCall(PetscMPIIntCast(from, &mg->team.from[r]));
    from += CellsOf(&box);
  }
  PetscCall(PCGridMGStencilsCreate_Private(mg, &l->share.entries, &grid, part.symmetric, &l->f));
  PetscCall(PCGridMGBlockGet_Private(&mg->work, mine + (size_t)grid.cells * row, (void **)&buffer));
  CopyBox(&own, &large, part.a, &own, buffer, row);
  PetscCall(GatherUnits_Private(mg, s, row, buffer, buffer + mine, l->f.a));
  CopyBox(&own, &large, part.sigma, &own, buffer, value);
  PetscCall(GatherUnits_Private(mg, s, value, buffer, buffer + mine, l->f.sigma));
  l->op.grid = grid;
  l->shared  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P of a level: the next one, on larger boxes. Weights are there */
PetscErrorCode PCGridMGShareProduct_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *work)
{
  const size_t        value = GRIDMG_PARTS * sizeof(double), row = (size_t)l->f.grid.points * value;
  GridMGStencilLevel *c    = l + 1;
  const Box           from = NextBox(&l->share);
  GridMGStencils      product;
  Box                 own, to;

  PetscFunctionBegin;
  PetscCall(PCGridMGStencilsCreate_Private(mg, &l->share.entries, &l->share.next, mg->symmetric, &product));
  PetscCall((*mg->stencilkernels->product)(&l->f, work, &product));
  PetscCall(ShareCoarsen_Private(mg, &l->share, &c->share));
  c->shared  = PETSC_TRUE;
  c->op.grid = c->share.box;
  PetscCall(PCGridMGStencilsCreate_Private(mg, &c->block, &c->share.box, mg->symmetric, &c->f));
  own = OwnBox(&c->share, mg->team.rank);
  to  = BoxOfLevel(c);
  CopyBox(&own, &from, product.a, &to, c->f.a, row);
  CopyBox(&own, &from, product.sigma, &to, c->f.sigma, value);
  PetscCall(PCGridMGExchangeEntries_Private(c));
  PetscCall(Exchange_Private(&c->share, MPI_DOUBLE, GRIDMG_PARTS, c->f.sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was rounded, of other processes' points, too. bad: the first own point without a factor, or -1: its row of the matrix, or its number on a coarse level */
PetscErrorCode PCGridMGExchangeCodes_Private(const PC_GridMG *mg, GridMGStencilLevel *l, PetscInt *bad)
{
  const GridMGStencilOperator *op     = &l->op;
  const GridMGStencilShare    *s      = &l->share;
  const size_t                 number = GridMGNumberBytes(op->precision), value = number * GRIDMG_PARTS, code = op->bits == 32 ? number : (size_t)op->bits / 8;
  const Box                    own = OwnBox(s, mg->team.rank), box = BoxOfLevel(l);

  PetscFunctionBegin;
  for (int k = 0; k < op->grid.points; k++)
    PetscCall(Exchange_Private(s, MPI_BYTE, (PetscMPIInt)code * GRIDMG_PARTS, (char *)op->code + (size_t)k * (size_t)op->pitch * code * GRIDMG_PARTS));
  PetscCall(Exchange_Private(s, MPI_BYTE, (PetscMPIInt)number, (void *)op->scale));
  PetscCall(Exchange_Private(s, MPI_BYTE, (PetscMPIInt)value, (void *)op->sigma));
  PetscCall(Exchange_Private(s, MPI_BYTE, (PetscMPIInt)value, (void *)op->factor));
  *bad = -1;
  for (PetscInt i = 0; i < CellsOf(&own) && *bad < 0; i++) {
    const PetscInt line = i / own.n[0], at[3] = {own.low[0] + i % own.n[0], own.low[1] + line % own.n[1], own.low[2] + line / own.n[1]};
    const PetscInt place = at[0] - box.low[0] + box.n[0] * (at[1] - box.low[1] + box.n[1] * (at[2] - box.low[2]));
    PetscBool      zero  = PETSC_TRUE;

    for (int p = 0; p < GRIDMG_PARTS; p++) {
      const PetscInt k = place * GRIDMG_PARTS + p;

      if (op->precision == GRIDMG_SINGLE ? ((const float *)op->factor)[k] != 0 : ((const double *)op->factor)[k] != 0) zero = PETSC_FALSE;
    }
    if (zero) *bad = l == mg->stencil ? mg->team.begin + i : at[0] + s->size[0] * (at[1] + s->size[1] * at[2]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors */

/* The vectors of transfers: own points, all points, coarse points of the larger box; the same sequence with and without memory */
void PCGridMGTakeShare_Private(PC_GridMG *mg, GridMGPool *pool, GridMGStencilLevel *l)
{
  const size_t        value = GridMGNumberBytes(mg->precision) * GRIDMG_PARTS;
  GridMGStencilShare *s     = &l->share;

  s->part   = PCGridMGTake_Private(pool, (size_t)OwnCells(s) * value);
  s->all    = l->shared ? NULL : PCGridMGTake_Private(pool, (size_t)l->op.grid.cells * value);
  s->coarse = l->shared ? PCGridMGTake_Private(pool, (size_t)s->next.cells * value) : NULL;
}

/* The points of other processes of a vector of a level get what these have */
PetscErrorCode PCGridMGExchangeValues_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *x)
{
  PetscFunctionBegin;
  if (l->shared) PetscCall(Exchange_Private(&l->share, mg->precision == GRIDMG_SINGLE ? MPI_FLOAT : MPI_DOUBLE, GRIDMG_PARTS, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right side of a level from part, the own points of each process */
static PetscErrorCode Put_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const size_t value = GridMGNumberBytes(mg->precision) * GRIDMG_PARTS;
  const Box    own = OwnBox(&l->share, mg->team.rank), box = BoxOfLevel(l);

  PetscFunctionBegin;
  if (l->shared) {
    CopyBox(&own, &own, l->share.part, &box, l->b, value);
    PetscCall(PCGridMGExchangeValues_Private(mg, l, l->b));
  } else PetscCall(GatherUnits_Private(mg, &l->share, value, l->share.part, l->share.all, l->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What restriction has made of a residual is the right side of the next level */
PetscErrorCode PCGridMGShareDown_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  GridMGStencilLevel *c    = l + 1;
  const Box           from = NextBox(&l->share), own = OwnBox(&c->share, mg->team.rank);

  PetscFunctionBegin;
  CopyBox(&own, &from, l->share.coarse, &own, c->share.part, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
  PetscCall(Put_Private(mg, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the next level on the coarse points of the larger box */
void PCGridMGShareUp_Private(const PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilLevel *c    = l + 1;
  const Box                 from = BoxOfLevel(c), to = NextBox(&l->share);

  CopyBox(&to, &from, c->x[c->cur], &to, l->share.coarse, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
}

/* The right side of the finest level, with a scale that is the same on all processes */
PetscErrorCode PCGridMGShareEnter_Private(PC_GridMG *mg, const PetscScalar *x)
{
  GridMGStencilLevel *l    = &mg->stencil[0];
  const PetscReal    *real = (const PetscReal *)x;
  const PetscInt      n    = OwnCells(&l->share) * GRIDMG_PARTS;
  double              mine = 0, most;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const double v = fabs((double)real[i]);

    mine = v <= mine ? mine : v;
  }
  /* the largest of several numbers is not defined where one of them is none */
  if (PetscIsNanReal((PetscReal)mine)) mine = PETSC_INFINITY;
  PetscCallMPI(MPIU_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mg->team.comm));
  *mg->scale = GridMGScaleOf(most);
  for (PetscInt i = 0; i < n; i++) {
    const double v = *mg->scale * (double)real[i];

    if (mg->precision == GRIDMG_SINGLE) ((float *)l->share.part)[i] = (float)v;
    else ((double *)l->share.part)[i] = v;
  }
  PetscCall(Put_Private(mg, l));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGShareLeave_Private(PC_GridMG *mg, PetscScalar *y)
{
  GridMGStencilLevel   *l   = &mg->stencil[0];
  const Box             own = OwnBox(&l->share, mg->team.rank), box = BoxOfLevel(l);
  GridMGStencilOperator op = l->op;

  PetscFunctionBegin;
  CopyBox(&own, &box, l->x[l->cur], &own, l->share.part, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
  op.grid.cells = CellsOf(&own);
  PetscCall((*mg->stencilkernels->leave)(&op, mg->factor, mg->scale, l->share.part, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
