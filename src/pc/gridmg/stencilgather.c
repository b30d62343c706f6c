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
  PetscCall(PCGridMGStencilExchange_Private(&c->share, MPI_DOUBLE, GRIDMG_PARTS, c->f.sigma));
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
    PetscCall(
      PCGridMGStencilExchange_Private(s, MPI_BYTE, (PetscMPIInt)code * GRIDMG_PARTS, (char *)op->code + (size_t)k * (size_t)op->pitch * code * GRIDMG_PARTS));
  PetscCall(PCGridMGStencilExchange_Private(s, MPI_BYTE, (PetscMPIInt)number, (void *)op->scale));
  PetscCall(PCGridMGStencilExchange_Private(s, MPI_BYTE, (PetscMPIInt)value, (void *)op->sigma));
  PetscCall(PCGridMGStencilExchange_Private(s, MPI_BYTE, (PetscMPIInt)value, (void *)op->factor));
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

/*
   The vectors of transfers: own points, all points, coarse points of the larger box; the same sequence with and without
   memory
*/
void PCGridMGTakeShare_Private(PC_GridMG *mg, GridMGPool *pool, GridMGStencilLevel *l)
{
  const size_t        value = GridMGNumberBytes(mg->precision) * GRIDMG_PARTS;
  GridMGStencilShare *s     = &l->share;

  s->part   = PCGridMGTake_Private(pool, (size_t)GridMGOwnCells(s) * value);
  s->all    = l->shared ? NULL : PCGridMGTake_Private(pool, (size_t)l->op.grid.cells * value);
  s->coarse = l->shared ? PCGridMGTake_Private(pool, (size_t)s->next.cells * value) : NULL;
}

/* Points of other processes in a vector of a level receive the values of their processes */
PetscErrorCode PCGridMGExchangeValues_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *x)
{
  PetscFunctionBegin;
  if (l->shared) PetscCall(PCGridMGStencilExchange_Private(&l->share, mg->precision == GRIDMG_SINGLE ? MPI_FLOAT : MPI_DOUBLE, GRIDMG_PARTS, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of a level from part, the own points of each process */
static PetscErrorCode Put_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const size_t     value = GridMGNumberBytes(mg->precision) * GRIDMG_PARTS;
  const GridMGPart own = GridMGOwnBox(&l->share, mg->team.rank), box = GridMGBoxOfLevel(l);

  PetscFunctionBegin;
  if (l->shared) {
    GridMGCopyBox(&own, &own, l->share.part, &box, l->b, value);
    PetscCall(PCGridMGExchangeValues_Private(mg, l, l->b));
  } else PetscCall(GatherUnits_Private(mg, &l->share, value, l->share.part, l->share.all, l->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes the restricted residual as the right-hand side of the next level */
PetscErrorCode PCGridMGShareDown_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  GridMGStencilLevel *c    = l + 1;
  const GridMGPart    from = GridMGNextBox(&l->share), own = GridMGOwnBox(&c->share, mg->team.rank);

  PetscFunctionBegin;
  GridMGCopyBox(&own, &from, l->share.coarse, &own, c->share.part, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
  PetscCall(Put_Private(mg, c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the next level on the coarse points of the larger box */
void PCGridMGShareUp_Private(const PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilLevel *c    = l + 1;
  const GridMGPart          from = GridMGBoxOfLevel(c), to = GridMGNextBox(&l->share);

  GridMGCopyBox(&to, &from, c->x[c->cur], &to, l->share.coarse, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
}

/* The right-hand side of the finest level, with the same scale on all processes */
PetscErrorCode PCGridMGShareEnter_Private(PC_GridMG *mg, const PetscScalar *x)
{
  GridMGStencilLevel *l    = &mg->stencil[0];
  const PetscReal    *real = (const PetscReal *)x;
  const PetscInt      n    = GridMGOwnCells(&l->share) * GRIDMG_PARTS;
  double              mine = 0, most;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < n; i++) {
    const double v = fabs((double)real[i]);

    mine = v <= mine ? mine : v;
  }
  /* MPI_MAX is undefined for NaN */
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
  const GridMGPart      own = GridMGOwnBox(&l->share, mg->team.rank), box = GridMGBoxOfLevel(l);
  GridMGStencilOperator op = l->op;

  PetscFunctionBegin;
  GridMGCopyBox(&own, &box, l->x[l->cur], &own, l->share.part, GridMGNumberBytes(mg->precision) * GRIDMG_PARTS);
  op.grid.cells = GridMGCellsOf(&own);
  PetscCall((*mg->stencilkernels->leave)(&op, mg->factor, mg->scale, l->share.part, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
