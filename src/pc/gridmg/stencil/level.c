/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The levels of a PCGRIDMG with de Zeeuw's interpolation: exact Galerkin products, and their rounding to codes */

#include <lithe/private/gridmg/parts.h>
#include "../base/base.h"
#include "../boxes/boxes.h"
#include "stencil.h"

#define GRIDMG_PACK   4      /* the most codes per point that a device reads at once */
#define GRIDMG_GATHER 524288 /* unknowns up to which each device has all of a level: exact stencils take 27 numbers */

static inline PetscInt CoarseSize(const PC_GridMG *mg)
{
  return PCGridMGCoarseSize(mg, PETSC_FALSE);
}

/* The next grid; returns whether it has fewer points */
static PetscBool Coarser(const GridMGStencilLevel *l, GridMGPoints *coarse)
{
  PetscInt       n[3];
  const PetscInt cells = PCGridMGStencilGrid_Private(l, &l->full.f.grid, n);

  *coarse       = l->full.f.grid;
  coarse->cells = 1;
  for (int d = 0; d < 3; d++) {
    coarse->n[d] = GridMGCoarseSize(n[d]);
    coarse->cells *= coarse->n[d];
  }
  return (PetscBool)(coarse->cells < cells);
}

PetscErrorCode PCGridMGCoarsenStencils_Private(PC pc, PetscInt *levels)
{
  PC_GridMG     *mg  = (PC_GridMG *)pc->data;
  const PetscInt max = mg->opt.levels == PETSC_DECIDE ? GRIDMG_LEVELS_MAX : mg->opt.levels;

  PetscFunctionBegin;
  for (*levels = 1;; ++*levels) {
    GridMGStencilLevel *l = &mg->stencils.stencil[*levels - 1], *c = l + 1;
    GridMGPoints        grid;
    PetscInt            n[3];
    const PetscInt      cells = PCGridMGStencilGrid_Private(l, &l->full.f.grid, n);
    void               *work;

    if (l->shared && (cells <= PCGridMGGatherSize(mg, GRIDMG_GATHER) || cells <= CoarseSize(mg) || *levels == max || !Coarser(l, &grid))) {
      PetscCall(PCGridMGGatherStencils_Private(mg, l));
      l->shared = PETSC_FALSE;
      PCGridMGWholeSet_Private(mg, *levels - 1, NULL);
    }
    if (cells <= CoarseSize(mg)) {
      PetscCall(PCGridMGStop_Private(mg, "it has at most %" PetscInt_FMT " unknowns", CoarseSize(mg)));
      break;
    }
    if (!Coarser(l, &grid)) {
      PetscCall(PCGridMGStop_Private(mg, "it has two points in all directions"));
      break;
    }
    if (*levels == max) {
      PetscCall(PCGridMGStop_Private(mg, "there are %" PetscInt_FMT, max));
      break;
    }
    PetscCall((*mg->stencils.kernels->weights)(&l->full.f));
    PetscCall(
      PCGridMGGetWork_Private(mg, PETSC_FALSE, GridMGProductWork(&l->full.f.grid, mg->stencils.kernels->planes) * GRIDMG_PARTS * sizeof(double), &work));
    c->shared = l->shared;
    if (l->shared) PetscCall(PCGridMGShareProduct_Private(mg, l, work));
    else {
      PetscCall(PCGridMGStencilExactCreate_Private(mg, c, PETSC_FALSE, &grid, mg->found.symmetric));
      PetscCall((*mg->stencils.kernels->product)(&l->full.f, work, &c->full.f));
    }
  }
  PetscCheck(mg->stencils.stencil[*levels - 1].full.f.grid.cells <= GRIDMG_DENSE_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_type gridmg: the coarsest of %" PetscInt_FMT " levels has %" PetscInt_FMT
             " unknowns, too many for a dense inverse. Use more levels (-pc_gridmg_levels)",
             *levels, mg->stencils.stencil[*levels - 1].full.f.grid.cells);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of all levels; the same sequence with and without memory */
void PCGridMGTakeStencils_Private(PC_GridMG *mg, GridMGPool *pool)
{
  const size_t number = GridMGNumberBytes(mg->found.precision), value = number * GRIDMG_PARTS;

  PCGridMGSweepStart_Private(&mg->stencils.one, mg->stencils.kernels);
  for (PetscInt k = 0; k < mg->state.n; k++) {
    GridMGStencilLevel    *l     = &mg->stencils.stencil[k];
    GridMGStencilOperator *op    = &l->op;
    const size_t           cells = (size_t)op->grid.cells, code = op->bits == 32 ? number : (size_t)op->bits / 8;
    void                  *vector[3];

    for (int v = 0; v < 3; v++) vector[v] = PCGridMGTake_Private(pool, cells * value);
    PCGridMGSweepVectors_Private(&mg->stencils.one, k, vector[0], vector[1], vector[2]);
    op->code  = PCGridMGTake_Private(pool, (size_t)((op->grid.points + GRIDMG_PACK - 1) / GRIDMG_PACK * GRIDMG_PACK) * (size_t)op->pitch * code * GRIDMG_PARTS);
    op->scale = PCGridMGTake_Private(pool, cells * number);
    op->sigma = PCGridMGTake_Private(pool, cells * value);
    op->factor = PCGridMGTake_Private(pool, cells * value);
    op->weight = k < mg->state.n - 1 ? PCGridMGTake_Private(pool, (size_t)op->grid.corners * cells * number) : NULL;
    if (l->split.remote.sf && (l->shared || k == mg->domain.whole.first)) PCGridMGTakeShare_Private(mg, pool, l);
  }
  PCGridMGCoarsestTake_Private(mg, pool, mg->stencils.stencil[mg->state.n - 1].op.grid.cells, GRIDMG_PARTS);
  PCGridMGScaleTake_Private(mg, pool);
}

PetscErrorCode PCGridMGEncodeStencils_Private(PC pc)
{
  PC_GridMG *mg   = (PC_GridMG *)pc->data;
  GridMGPool pool = {NULL, 0, 0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < mg->state.n; k++) {
    GridMGStencilOperator *op = &mg->stencils.stencil[k].op;

    op->grid      = mg->stencils.stencil[k].full.f.grid;
    op->precision = mg->found.precision;
    op->symmetric = mg->found.symmetric;
    op->pitch     = (op->grid.cells + GRIDMG_GROUP - 1) / GRIDMG_GROUP * GRIDMG_GROUP;
    /* 8 bits are too few for a Galerkin product */
    op->bits = (int)mg->opt.bits;
    if (k) op->bits = (int)(mg->opt.coarsebits == PETSC_DECIDE ? PetscMax(mg->opt.bits, 16) : mg->opt.coarsebits);
  }
  PCGridMGTakeStencils_Private(mg, &pool);
  PetscCall(PCGridMGPoolGet_Private(mg, &pool, PETSC_FALSE));
  PCGridMGTakeStencils_Private(mg, &pool);
  for (PetscInt k = 0; k < mg->state.n; k++) {
    GridMGStencilLevel *l = &mg->stencils.stencil[k];
    PetscInt            bad;

    PetscCall((*mg->stencils.kernels->encode)(&l->full.f, mg->found.smoother == PCGRIDMG_SMOOTHER_DAMPED ? GRIDMG_DAMP : GRIDMG_DIVIDE, &l->op, &bad));
    if (l->shared) PetscCall(PCGridMGExchangeCodes_Private(mg, l, &bad));
    if (mg->found.zeros) bad = 0;
    if (bad < 0 || k == mg->state.n - 1) continue;
    if (k) PetscCall(PCGridMGFail_Private(pc, "row %" PetscInt_FMT " of level %" PetscInt_FMT " has the diagonal entry 0", bad, k));
    else PetscCall(PCGridMGFail_Private(pc, "row %" PetscInt_FMT " has the diagonal entry 0", bad));
    if (!PCGridMGIsParallel(mg)) break;
  }
  PetscCall(PCGridMGAgree_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the finest level is read */
void PCGridMGStencilsBegin_Private(PC_GridMG *mg)
{
  mg->stencils.stencil[0].shared = PCGridMGIsParallel(mg);
}

void PCGridMGStencilsReset_Private(PC_GridMG *mg)
{
  memset(mg->stencils.stencil, 0, sizeof(mg->stencils.stencil));
}
