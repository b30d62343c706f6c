/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels of stencils on several processes: coarse stencils and codes, gathered levels, and vectors between levels. See
   share.c
*/

#include <lithe/private/gridmg/parts.h>
#include "../base/base.h"
#include "../boxes/boxes.h"
#include "stencil.h"
#include "gridmgparts.h"

/* ------------------------------------------------------------ entries */

/* The whole grid from the own points of all processes; x: an array on a part of the grid */
static PetscErrorCode Collect_Private(PC_GridMG *mg, GridMGStencilShare *s, size_t bytes, const GridMGPart *part, const void *x, void *whole)
{
  const GridMGPart own = GridMGOwnBox(s, mg->domain.team.rank);
  PetscInt         at[3];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) at[d] = own.low[d] - part->low[d];
  PetscCall(PCGridMGCollect_Private(mg, &s->gather, s->start, s->parts, bytes, part->n, at, x, whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies exact values of a box of points, `count` values per point: on the host point by point, on a device in turn */
static PetscErrorCode CopyExact_Private(const PC_GridMG *mg, int count, const GridMGPart *box, const GridMGPart *from, const void *f, const GridMGPart *to,
                                        void *t)
{
  const size_t value = GRIDMG_PARTS * sizeof(double), cells[2] = {(size_t)GridMGCellsOf(from), (size_t)GridMGCellsOf(to)};

  PetscFunctionBegin;
  if (!mg->place.device) GridMGCopyBox(box, from, f, to, t, (size_t)count * value);
  for (size_t k = 0; k < (size_t)count && mg->place.device; k++)
    PetscCall(PCGridMGCopyPart_Private(mg, value, box, from, (const char *)f + k * cells[0] * value, to, (char *)t + k * cells[1] * value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCallMPI(
    MPI_Allgatherv(part, mg->domain.whole.count[mg->domain.team.rank], unit, all, mg->domain.whole.count, mg->domain.whole.from, unit, mg->domain.team.comm));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscMPIInt r = 0; r < mg->domain.team.size; r++) {
    const GridMGPart box = GridMGOwnBox(s, r);

    GridMGCopyBox(&box, &box, (const char *)all + (size_t)mg->domain.whole.from[r] * bytes, &to, whole, bytes);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers exact values of a level, `count` values per point in the order of a device */
static PetscErrorCode GatherExact_Private(PC_GridMG *mg, GridMGStencilLevel *l, int count, const GridMGPart *large, const void *part, void *whole)
{
  GridMGStencilShare *s     = &l->split;
  const size_t        value = GRIDMG_PARTS * sizeof(double), from = (size_t)GridMGCellsOf(large) * value;
  const GridMGPart    all = GridMGWholeBox(s);
  const size_t        to  = (size_t)GridMGCellsOf(&all) * value;

  PetscFunctionBegin;
  for (size_t k = 0; k < (size_t)count; k++) PetscCall(Collect_Private(mg, s, value, large, (const char *)part + k * from, (char *)whole + k * to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the exact entries of a level on each process */
PetscErrorCode PCGridMGGatherStencils_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilShare *s     = &l->split;
  const GridMGStencils      part  = l->full.f;
  const GridMGPart          large = GridMGBoxOfLevel(l), own = GridMGOwnBox(s, mg->domain.team.rank);
  const size_t              value = GRIDMG_PARTS * sizeof(double), row = (size_t)part.grid.points * value, mine = (size_t)GridMGOwnCells(s) * row;
  GridMGPoints              grid = part.grid;
  PetscInt                 *offset;
  char                     *buffer;

  PetscFunctionBegin;
  grid.cells = PCGridMGStencilGrid_Private(l, &part.grid, grid.n);
  if (mg->place.device) {
    PetscCall(PCGridMGStencilExactCreate_Private(mg, l, PETSC_TRUE, &grid, part.symmetric));
    PCGridMGStencilExactRead_Private(l, part.factor, part.symmetric);
    PetscCall(GatherExact_Private(mg, l, grid.points, &large, part.a, l->full.f.a));
    PetscCall(GatherExact_Private(mg, l, 1, &large, part.sigma, l->full.f.sigma));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscMalloc1(mg->domain.team.size + 1, &offset));
  offset[0] = 0;
  for (PetscMPIInt r = 0; r < mg->domain.team.size; r++) {
    const GridMGPart box = GridMGOwnBox(s, r);

    offset[r + 1] = offset[r] + GridMGCellsOf(&box);
  }
  PetscCall(PCGridMGWholeCounts_Private(mg, offset, 1));
  PetscCall(PetscFree(offset));
  PetscCall(PCGridMGStencilExactCreate_Private(mg, l, PETSC_TRUE, &grid, part.symmetric));
  PetscCall(PCGridMGGetWork_Private(mg, PETSC_TRUE, mine + (size_t)grid.cells * row, (void **)&buffer));
  GridMGCopyBox(&own, &large, part.a, &own, buffer, row);
  PetscCall(GatherUnits_Private(mg, s, row, buffer, buffer + mine, l->full.f.a));
  GridMGCopyBox(&own, &large, part.sigma, &own, buffer, value);
  PetscCall(GatherUnits_Private(mg, s, value, buffer, buffer + mine, l->full.f.sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Remote points receive numbers of 4, 8 or 16 bytes in the set-up */
static PetscErrorCode ExchangeNumbers_Private(PC_GridMG *mg, GridMGStencilShare *s, size_t bytes, void *x)
{
  PetscFunctionBegin;
  if (mg->place.device) PetscCall(PCGridMGRemote_Private(mg, &s->remote, PCGridMGWordOf(bytes), x, x));
  else PetscCall(PCGridMGStencilExchange_Private(s, bytes, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P of a level: the next level, on larger boxes. The weights are known */
PetscErrorCode PCGridMGShareProduct_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *work)
{
  GridMGStencilLevel *c    = l + 1;
  const GridMGPart    from = GridMGNextBox(&l->split);
  GridMGStencils      product;
  GridMGPart          own, to;

  PetscFunctionBegin;
  PetscCall(PCGridMGStencilExactNext_Private(mg, l, &product));
  PetscCall((*mg->stencils.kernels->product)(&l->full.f, work, &product));
  PetscCall(PCGridMGStencilShareCoarsen_Private(mg, &l->split, &c->split));
  PetscCall(PCGridMGStencilExactCreate_Private(mg, c, PETSC_FALSE, &c->split.box, mg->found.symmetric));
  own = GridMGOwnBox(&c->split, mg->domain.team.rank);
  to  = GridMGBoxOfLevel(c);
  PetscCall(CopyExact_Private(mg, c->full.f.grid.points, &own, &from, product.a, &to, c->full.f.a));
  PetscCall(CopyExact_Private(mg, 1, &own, &from, product.sigma, &to, c->full.f.sigma));
  PetscCall(PCGridMGExchangeEntries_Private(mg, c));
  PetscCall(ExchangeNumbers_Private(mg, &c->split, GRIDMG_PARTS * sizeof(double), c->full.f.sigma));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes in the order of a device: those of a point that lie together are one number */
static PetscErrorCode ExchangeGroups_Private(PC_GridMG *mg, GridMGStencilLevel *l, size_t code)
{
  const GridMGStencilOperator *op    = &l->op;
  const PetscInt               count = GRIDMG_CODES_OF(code), groups = (op->grid.points + count - 1) / count;
  const size_t                 bytes = (size_t)count * code;
  void                        *numbers;

  PetscFunctionBegin;
  PetscCall(PCGridMGGetWork_Private(mg, PETSC_FALSE, (size_t)op->pitch * bytes, &numbers));
  for (PetscInt g = 0; g < groups; g++) {
    GridMGBox box = {{GRIDMG_GROUP, op->pitch / GRIDMG_GROUP, 1}, {g * GRIDMG_GROUP, 0}, {{groups * GRIDMG_GROUP, 0}, {GRIDMG_GROUP, 0}}};

    PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &box, op->code, numbers));
    PetscCall(PCGridMGRemote_Private(mg, &l->split.remote, PCGridMGWordOf(bytes), numbers, numbers));
    box = (GridMGBox){{GRIDMG_GROUP, op->pitch / GRIDMG_GROUP, 1}, {0, g * GRIDMG_GROUP}, {{GRIDMG_GROUP, 0}, {groups * GRIDMG_GROUP, 0}}};
    PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &box, numbers, (void *)op->code));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The first own point without a factor, or -1. On the finest level a matrix row, on a coarse level a number in the
   whole grid
*/
static PetscInt FirstBad(const PC_GridMG *mg, const GridMGStencilLevel *l, const void *factors)
{
  const GridMGStencilShare *s   = &l->split;
  const GridMGPart          own = GridMGOwnBox(s, mg->domain.team.rank), box = GridMGBoxOfLevel(l);

  for (PetscInt i = 0; i < GridMGCellsOf(&own); i++) {
    const PetscInt line = i / own.n[0], at[3] = {own.low[0] + i % own.n[0], own.low[1] + line % own.n[1], own.low[2] + line / own.n[1]};
    const PetscInt place = GridMGPlaceOn(&box, at[0], at[1], at[2]);
    PetscBool      zero  = PETSC_TRUE;

    for (int p = 0; p < GRIDMG_PARTS; p++) {
      const PetscInt k = place * GRIDMG_PARTS + p;

      if (l->op.precision == GRIDMG_SINGLE ? ((const float *)factors)[k] != 0 : ((const double *)factors)[k] != 0) zero = PETSC_FALSE;
    }
    if (zero) return l == mg->stencils.stencil ? mg->domain.team.begin + i : at[0] + s->size[0] * (at[1] + s->size[1] * at[2]);
  }
  return -1;
}

/*
   Remote points receive their codes. bad: on input the first point of the larger box without a factor, on output the
   first own point, or -1
*/
PetscErrorCode PCGridMGExchangeCodes_Private(PC_GridMG *mg, GridMGStencilLevel *l, PetscInt *bad)
{
  const GridMGStencilOperator *op     = &l->op;
  GridMGStencilShare          *s      = &l->split;
  const size_t                 number = GridMGNumberBytes(op->precision), value = number * GRIDMG_PARTS;
  const size_t                 code = (op->bits == 32 ? number : (size_t)op->bits / 8) * GRIDMG_PARTS;

  PetscFunctionBegin;
  if (mg->place.device) PetscCall(ExchangeGroups_Private(mg, l, code));
  for (int k = 0; k < op->grid.points && !mg->place.device; k++)
    PetscCall(PCGridMGStencilExchange_Private(s, code, (char *)op->code + (size_t)k * (size_t)op->pitch * code));
  PetscCall(ExchangeNumbers_Private(mg, s, number, (void *)op->scale));
  PetscCall(ExchangeNumbers_Private(mg, s, value, (void *)op->sigma));
  PetscCall(ExchangeNumbers_Private(mg, s, value, (void *)op->factor));
  if (*bad < 0) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->place.device) {
    const size_t bytes = (size_t)op->grid.cells * value;
    char        *factors;

    PetscCall(PetscMalloc1(bytes, &factors));
    PetscCall((*mg->place.kernels->memory.get)(bytes, op->factor, factors));
    *bad = FirstBad(mg, l, factors);
    PetscCall(PetscFree(factors));
  } else *bad = FirstBad(mg, l, op->factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors */

static inline size_t ValueBytes(const PC_GridMG *mg)
{
  return GridMGNumberBytes(mg->found.precision) * GRIDMG_PARTS;
}

/* The vectors of transfers: own points of the finest level, coarse points of the larger box; the same sequence with and
   without memory */
void PCGridMGTakeShare_Private(PC_GridMG *mg, GridMGPool *pool, GridMGStencilLevel *l)
{
  GridMGStencilShare *s = &l->split;

  l->carry.part   = l == mg->stencils.stencil ? PCGridMGTake_Private(pool, (size_t)GridMGOwnCells(s) * ValueBytes(mg)) : NULL;
  l->carry.coarse = l->shared ? PCGridMGTake_Private(pool, (size_t)s->next.cells * ValueBytes(mg)) : NULL;
}

/* Points of other processes in a vector of a level receive the values of their processes */
PetscErrorCode PCGridMGExchangeValues_Private(PC_GridMG *mg, GridMGStencilLevel *l, void *x)
{
  PetscFunctionBegin;
  if (l->shared) PetscCall(PCGridMGRemote_Private(mg, &l->split.remote, PCGridMGWordOf(ValueBytes(mg)), x, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of a level from values on a part of the grid that has the own points of the level */
static PetscErrorCode Put_Private(PC_GridMG *mg, GridMGStencilLevel *l, const GridMGPart *from, const void *values)
{
  const GridMGPart own = GridMGOwnBox(&l->split, mg->domain.team.rank), box = GridMGBoxOfLevel(l);
  void            *b = mg->stencils.one.b[l - mg->stencils.stencil];

  PetscFunctionBegin;
  if (l->shared) {
    PetscCall(PCGridMGCopyPart_Private(mg, ValueBytes(mg), &own, from, values, &box, b));
    PetscCall(PCGridMGExchangeValues_Private(mg, l, b));
  } else PetscCall(Collect_Private(mg, &l->split, ValueBytes(mg), from, values, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Distributes the restricted residual as the right-hand side of the next level */
PetscErrorCode PCGridMGShareDown_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGPart from = GridMGNextBox(&l->split);

  PetscFunctionBegin;
  PetscCall(Put_Private(mg, l + 1, &from, l->carry.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The solution of the next level on the coarse points of the larger box */
PetscErrorCode PCGridMGShareUp_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const GridMGStencilLevel *c    = l + 1;
  const PetscInt            k    = c - mg->stencils.stencil;
  const GridMGPart          from = GridMGBoxOfLevel(c), to = GridMGNextBox(&l->split);

  PetscFunctionBegin;
  PetscCall(PCGridMGCopyPart_Private(mg, ValueBytes(mg), &to, &from, mg->stencils.one.x[k][mg->stencils.one.cur[k]], &to, l->carry.coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level, of own points only */
static GridMGStencilOperator OwnOperator(const PC_GridMG *mg)
{
  GridMGStencilOperator op = mg->stencils.stencil[0].op;

  op.grid.cells = GridMGOwnCells(&mg->stencils.stencil[0].split);
  return op;
}

/*
   The right-hand side of the finest level, with the same scale on all processes: on a device from a mean of the largest
   numbers of the processes
*/
PetscErrorCode PCGridMGShareEnter_Private(PC_GridMG *mg, const PetscScalar *x)
{
  GridMGStencilLevel         *l   = &mg->stencils.stencil[0];
  const GridMGStencilOperator op  = OwnOperator(mg);
  const GridMGPart            own = GridMGOwnBox(&l->split, mg->domain.team.rank);

  PetscFunctionBegin;
  PetscCall((*mg->stencils.one.kernels->largest)(&op, x, mg->application.scale));
  if (mg->place.device) PetscCall(PCGridMGSum_Private(mg, 1, 1. / (double)mg->domain.team.size, mg->application.scale));
  else {
    const double mine = PetscIsNanReal((PetscReal)*mg->application.scale) ? (double)PETSC_INFINITY : *mg->application.scale; /* MPI_MAX is undefined for NaN */

    PetscCallMPI(MPIU_Allreduce(&mine, mg->application.scale, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  }
  PetscCall((*mg->stencils.one.kernels->enter)(&op, x, mg->application.scale, l->carry.part));
  PetscCall(Put_Private(mg, l, &own, l->carry.part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGShareLeave_Private(PC_GridMG *mg, PetscScalar *y)
{
  GridMGStencilLevel         *l   = &mg->stencils.stencil[0];
  const GridMGStencilOperator op  = OwnOperator(mg);
  const GridMGPart            own = GridMGOwnBox(&l->split, mg->domain.team.rank), box = GridMGBoxOfLevel(l);

  PetscFunctionBegin;
  PetscCall(PCGridMGCopyPart_Private(mg, ValueBytes(mg), &own, &box, mg->stencils.one.x[0][mg->stencils.one.cur[0]], &own, l->carry.part));
  PetscCall((*mg->stencils.one.kernels->leave)(&op, mg->found.factor, mg->application.scale, l->carry.part, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
