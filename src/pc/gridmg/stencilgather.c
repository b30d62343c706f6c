/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels of stencils on several processes: coarse stencils and codes, gathered levels, and vectors between levels. See
   stencilshare.c
*/

#include "gridmgparts.h"

/* ------------------------------------------------------------ entries */

/* Gathers the points of a level from all processes: units of bytes, from own points to the whole grid */
static PetscErrorCode GatherUnits_Private(PC_GridMG *mg, const GridMGStencilShare *s, size_t bytes, const void *part, void *all, void *whole)
{
  const GridMGPart to = GridMGWholeBox(s);
  MPI_Datatype     unit;
  PetscMPIInt      length;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast((PetscCount)bytes, &length));
  PetscCallMPI(MPI_Type_contiguous(length, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCallMPI(MPI_Allgatherv(part, mg->team.count[mg->team.rank], unit, all, mg->team.count, mg->team.from, unit, mg->team.comm));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscMPIInt r = 0; r < mg->team.size; r++) {
    const GridMGPart box = GridMGOwnBox(s, r);

    GridMGCopyBox(&box, &box, (const char *)all + (size_t)mg->team.from[r] * bytes, &to, whole, bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the exact entries of a level on each process */
PetscErrorCode PCGridMGGatherStencils_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilShare *s     = &l->share;
  const GridMGStencils      part  = l->f;
  const GridMGPart          large = GridMGBoxOfLevel(l), own = GridMGOwnBox(s, mg->team.rank);
  const size_t              value = GRIDMG_PARTS * sizeof(double), row = (size_t)part.grid.points * value, mine = (size_t)GridMGOwnCells(s) * row;
  GridMGPoints              grid = part.grid;
  PetscInt                  from = 0;
  char                     *buffer;

  PetscFunctionBegin;
  grid.cells = PCGridMGStencilGrid_Private(l, grid.n);
  if (!mg->team.count) PetscCall(PetscMalloc2(mg->team.size, &mg->team.count, mg->team.size, &mg->team.from));
  for (PetscMPIInt r = 0; r < mg->team.size; r++) {
    const GridMGPart box = GridMGOwnBox(s, r);

    PetscCall(PetscMPIIntCast(GridMGCellsOf(&box), &mg->team.count[r]));
    PetscCall(PetscMPIIntCast(from, &mg->team.from[r]));
    from += GridMGCellsOf(&box);
  }
  PetscCall(PCGridMGStencilsCreate_Private(mg, &l->share.entries, &grid, part.symmetric, &l->f));
  PetscCall(PCGridMGBlockGet_Private(&mg->work, mine + (size_t)grid.cells * row, (void **)&buffer));
  GridMGCopyBox(&own, &large, part.a, &own, buffer, row);
  PetscCall(GatherUnits_Private(mg, s, row, buffer, buffer + mine, l->f.a));
  GridMGCopyBox(&own, &large, part.sigma, &own, buffer, value);
  PetscCall(GatherUnits_Private(mg, s, value, buffer, buffer + mine, l->f.sigma));
  l->op.grid = grid;
  l->shared  = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P of a level: the next level, on larger boxes. The weights are known */
PetscErrorCode PCGridMGShareProduct_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *work)
{
  const size_t        value = GRIDMG_PARTS * sizeof(double), row = (size_t)l->f.grid.points * value;
  GridMGStencilLevel *c    = l + 1;
  const GridMGPart    from = GridMGNextBox(&l->share);
  GridMGStencils      product;
  GridMGPart          own, to;

  PetscFunctionBegin;
  PetscCall(PCGridMGStencilsCreate_Private(mg, &l->share.entries, &l->share.next, mg->symmetric, &product));
  PetscCall((*mg->stencilkernels->product)(&l->f, work, &product));
  PetscCall(PCGridMGStencilShareCoarsen_Private(mg, &l->share, &c->share));
  c->shared  = PETSC_TRUE;
  c->op.grid = c->share.box;
  PetscCall(PCGridMGStencilsCreate_Private(mg, &c->block, &c->share.box, mg->symmetric, &c->f));
  own = GridMGOwnBox(&c->share, mg->team.rank);
  to  = GridMGBoxOfLevel(c);
  GridMGCopyBox(&own, &from, product.a, &to, c->f.a, row);
  GridMGCopyBox(&own, &from, product.sigma, &to, c->f.sigma, value);
  PetscCall(PCGridMGExchangeEntries_Private(c));
  PetscCall(PCGridMGStencilExchange_Private(&c->share, value, c->f.sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Remote points receive their codes. bad: the first own point without a factor, or -1. On the finest level bad is a
   matrix row, on a coarse level a number in the whole grid
*/
PetscErrorCode PCGridMGExchangeCodes_Private(const PC_GridMG *mg, GridMGStencilLevel *l, PetscInt *bad)
{
  const GridMGStencilOperator *op     = &l->op;
  const GridMGStencilShare    *s      = &l->share;
  const size_t                 number = GridMGNumberBytes(op->precision), value = number * GRIDMG_PARTS, code = op->bits == 32 ? number : (size_t)op->bits / 8;
  const GridMGPart             own = GridMGOwnBox(s, mg->team.rank), box = GridMGBoxOfLevel(l);

  PetscFunctionBegin;
  for (int k = 0; k < op->grid.points; k++)
    PetscCall(PCGridMGStencilExchange_Private(s, code * GRIDMG_PARTS, (char *)op->code + (size_t)k * (size_t)op->pitch * code * GRIDMG_PARTS));
  PetscCall(PCGridMGStencilExchange_Private(s, number, (void *)op->scale));
  PetscCall(PCGridMGStencilExchange_Private(s, value, (void *)op->sigma));
  PetscCall(PCGridMGStencilExchange_Private(s, value, (void *)op->factor));
  *bad = -1;
  for (PetscInt i = 0; i < GridMGCellsOf(&own) && *bad < 0; i++) {
    const PetscInt line = i / own.n[0], at[3] = {own.low[0] + i % own.n[0], own.low[1] + line % own.n[1], own.low[2] + line / own.n[1]};
    const PetscInt place = GridMGPlaceOn(&box, at[0], at[1], at[2]);
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

static inline size_t ValueBytes(const PC_GridMG *mg)
{
  return GridMGNumberBytes(mg->precision) * GRIDMG_PARTS;
}

/*
   The vectors of transfers: own points and all points of the finest or of a whole level, coarse points of the larger
   box; the same sequence with and without memory
*/
void PCGridMGTakeShare_Private(PC_GridMG *mg, GridMGPool *pool, GridMGStencilLevel *l)
{
  GridMGStencilShare *s = &l->share;

  s->part   = l->shared && l != mg->stencil ? NULL : PCGridMGTake_Private(pool, (size_t)GridMGOwnCells(s) * ValueBytes(mg));
  s->all    = l->shared ? NULL : PCGridMGTake_Private(pool, (size_t)l->op.grid.cells * ValueBytes(mg));
  s->coarse = l->shared ? PCGridMGTake_Private(pool, (size_t)s->next.cells * ValueBytes(mg)) : NULL;
}

/* Copies the values of a box of points between two vectors, where the levels are */
static PetscErrorCode CopyValues_Private(const PC_GridMG *mg, const GridMGPart *box, const GridMGPart *from, const void *f, const GridMGPart *to, void *t)
{
  PetscInt  first[2][3];
  GridMGBox copy;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    first[0][d] = box->low[d] - from->low[d];
    first[1][d] = box->low[d] - to->low[d];
  }
  copy = PCGridMGBoxOf(box->n, from->n, first[0], to->n, first[1]);
  PetscCall((*mg->kernels->copybox)(ValueBytes(mg), &copy, f, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Points of other processes in a vector of a level receive the values of their processes */
PetscErrorCode PCGridMGExchangeValues_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *x)
{
  const size_t bytes = ValueBytes(mg);

  PetscFunctionBegin;
  if (l->shared)
    PetscCall(PCGridMGRemote_Private(mg, &l->share.remote, bytes == 16 ? GRIDMG_WORD_FOUR : (bytes == 8 ? GRIDMG_WORD_TWO : GRIDMG_WORD_WHOLE), x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The exchange that brings own points of all processes to the whole grid, in its order */
static PetscErrorCode CreateGather_Private(PC_GridMG *mg, GridMGStencilShare *s)
{
  const GridMGPart whole = GridMGWholeBox(s);
  const PetscInt   cells = GridMGCellsOf(&whole);
  PetscSFNode     *remote;

  PetscFunctionBegin;
  if (s->gather.sf) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(cells, &remote));
  for (PetscMPIInt r = 0; r < mg->team.size; r++) {
    const GridMGPart own = GridMGOwnBox(s, r);

    for (PetscInt i = 0; i < GridMGCellsOf(&own); i++) {
      const PetscInt line = i / own.n[0], place = GridMGPlaceOn(&whole, own.low[0] + i % own.n[0], own.low[1] + line % own.n[1], own.low[2] + line / own.n[1]);

      remote[place] = (PetscSFNode){.rank = r, .index = i};
    }
  }
  PetscCall(PCGridMGExchangeCreate_Private(mg, GridMGOwnCells(s), cells, NULL, remote, &s->gather));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of a whole level from part, the own points of each process */
static PetscErrorCode GatherValues_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  GridMGStencilShare *s = &l->share;
  const void         *whole;

  PetscFunctionBegin;
  if (!mg->device) {
    PetscCall(GatherUnits_Private(mg, s, ValueBytes(mg), s->part, s->all, l->b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CreateGather_Private(mg, s));
  PetscCall(PCGridMGReceive_Private(mg, &s->gather, ValueBytes(mg), s->part, &whole));
  PetscCall((*mg->kernels->copy)((size_t)l->op.grid.cells * ValueBytes(mg), whole, l->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of a level from values on a part of the grid that has the own points of the level */
static PetscErrorCode Put_Private(PC_GridMG *mg, GridMGStencilLevel *l, const GridMGPart *from, const void *values)
{
  const GridMGPart own = GridMGOwnBox(&l->share, mg->team.rank), box = GridMGBoxOfLevel(l);

  PetscFunctionBegin;
  if (l->shared) {
    PetscCall(CopyValues_Private(mg, &own, from, values, &box, l->b));
    PetscCall(PCGridMGExchangeValues_Private(mg, l, l->b));
  } else {
    if (values != l->share.part) PetscCall(CopyValues_Private(mg, &own, from, values, &own, l->share.part));
    PetscCall(GatherValues_Private(mg, l));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes the restricted residual as the right-hand side of the next level */
PetscErrorCode PCGridMGShareDown_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGPart from = GridMGNextBox(&l->share);

  PetscFunctionBegin;
  PetscCall(Put_Private(mg, l + 1, &from, l->share.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the next level on the coarse points of the larger box */
PetscErrorCode PCGridMGShareUp_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilLevel *c    = l + 1;
  const GridMGPart          from = GridMGBoxOfLevel(c), to = GridMGNextBox(&l->share);

  PetscFunctionBegin;
  PetscCall(CopyValues_Private(mg, &to, &from, c->x[c->cur], &to, l->share.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level, of own points only */
static GridMGStencilOperator OwnOperator(const PC_GridMG *mg)
{
  GridMGStencilOperator op = mg->stencil[0].op;

  op.grid.cells = GridMGOwnCells(&mg->stencil[0].share);
  return op;
}

/*
   The right-hand side of the finest level, with the same scale on all processes: on a device from a mean of the largest
   numbers of the processes
*/
PetscErrorCode PCGridMGShareEnter_Private(PC_GridMG *mg, const PetscScalar *x)
{
  GridMGStencilLevel         *l   = &mg->stencil[0];
  const GridMGStencilOperator op  = OwnOperator(mg);
  const GridMGPart            own = GridMGOwnBox(&l->share, mg->team.rank);

  PetscFunctionBegin;
  PetscCall((*mg->stencilkernels->largest)(&op, x, mg->scale));
  if (mg->device) PetscCall(PCGridMGSum_Private(mg, 1, 1. / (double)mg->team.size, mg->scale));
  else {
    const double mine = PetscIsNanReal((PetscReal)*mg->scale) ? (double)PETSC_INFINITY : *mg->scale; /* MPI_MAX is undefined for NaN */

    PetscCallMPI(MPIU_Allreduce(&mine, mg->scale, 1, MPI_DOUBLE, MPI_MAX, mg->team.comm));
  }
  PetscCall((*mg->stencilkernels->enter)(&op, x, mg->scale, l->share.part));
  PetscCall(Put_Private(mg, l, &own, l->share.part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGShareLeave_Private(PC_GridMG *mg, PetscScalar *y)
{
  GridMGStencilLevel         *l   = &mg->stencil[0];
  const GridMGStencilOperator op  = OwnOperator(mg);
  const GridMGPart            own = GridMGOwnBox(&l->share, mg->team.rank), box = GridMGBoxOfLevel(l);

  PetscFunctionBegin;
  PetscCall(CopyValues_Private(mg, &own, &box, l->x[l->cur], &own, l->share.part));
  PetscCall((*mg->stencilkernels->leave)(&op, mg->factor, mg->scale, l->share.part, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
