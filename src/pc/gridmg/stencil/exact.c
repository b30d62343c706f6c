/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The exact stencils of a level during set-up: memory, and what is known of all of them. Other files fill in numbers */

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include "../base/base.h"

/* The arrays of a level, on the host 0 */
PetscErrorCode PCGridMGStencilsCreate_Private(PC_GridMG *mg, GridMGBlock *block, const GridMGPoints *grid, PetscBool symmetric, GridMGStencils *f)
{
  const size_t cells = (size_t)grid->cells, values = cells * GRIDMG_PARTS;
  const size_t bytes = (values * (size_t)(grid->points + 1) + cells * (size_t)grid->corners) * sizeof(double);
  double      *memory;

  PetscFunctionBegin;
  PetscCall(PCGridMGReserve_Private(mg, block, bytes, (void **)&memory));
  if (!mg->place.device) PetscCall(PetscMemzero(memory, bytes));
  f->grid      = *grid;
  f->symmetric = symmetric;
  f->factor    = 1;
  f->a         = memory;
  f->sigma     = memory + values * (size_t)grid->points;
  f->weight    = memory + values * (size_t)(grid->points + 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for a level; whole: of all points of the grid, while the part of this process still exists */
PetscErrorCode PCGridMGStencilExactCreate_Private(PC_GridMG *mg, GridMGStencilLevel *l, PetscBool whole, const GridMGPoints *grid, PetscBool symmetric)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGStencilsCreate_Private(mg, whole ? &l->full.second : &l->full.block, grid, symmetric, &l->full.f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P^T A P on the coarse points of the larger box of a level, before own points are copied to the next level */
PetscErrorCode PCGridMGStencilExactNext_Private(PC_GridMG *mg, GridMGStencilLevel *l, GridMGStencils *product)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGStencilsCreate_Private(mg, &l->full.second, &l->split.next, mg->found.symmetric, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays have been filled in. factor: of all numbers, see GridMGStencils */
void PCGridMGStencilExactRead_Private(GridMGStencilLevel *l, double factor, PetscBool symmetric)
{
  l->full.f.factor    = factor;
  l->full.f.symmetric = symmetric;
}

PetscErrorCode PCGridMGStencilExactFree_Private(GridMGStencilLevel *l)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGBlockFree_Private(&l->full.block));
  PetscCall(PCGridMGBlockFree_Private(&l->full.second));
  PetscCall(PetscMemzero(&l->full.f, sizeof(l->full.f)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries of a level on the host, point by point: the entries themselves, or a copy in a block */
PetscErrorCode PCGridMGGetStencils_Private(PC_GridMG *mg, const GridMGStencils *f, GridMGBlock *block, GridMGStencils *host)
{
  const GridMGPoints *g     = &f->grid;
  const size_t        cells = (size_t)g->cells, values = cells * GRIDMG_PARTS, points = (size_t)g->points, all = values * (points + 1);
  double             *memory, *a;

  PetscFunctionBegin;
  *host = *f;
  if (!mg->place.device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGBlockGet_Private(block, (all + values * points) * sizeof(double), (void **)&memory));
  PetscCall((*mg->place.kernels->memory.get)(values * points * sizeof(double), f->a, memory));
  PetscCall((*mg->place.kernels->memory.get)(values * sizeof(double), f->sigma, memory + values * points));
  a = memory + all;
  for (size_t i = 0; i < cells; i++) {
    for (size_t s = 0; s < points; s++) {
      for (size_t p = 0; p < GRIDMG_PARTS; p++) a[(i * points + s) * GRIDMG_PARTS + p] = f->factor * memory[(s * cells + i) * GRIDMG_PARTS + p];
    }
  }
  for (size_t k = 0; k < values; k++) memory[values * points + k] *= f->factor;
  host->factor = 1;
  host->a      = a;
  host->sigma  = memory + values * points;
  host->weight = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
