/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Levels of stencils on several processes. The points of the processes are boxes, a tensor product. A coarse point
   belongs to the process of its fine point. Each process has a larger box, of all own points and some remote points,
   and works on the whole larger box with the operations of a single process.

   A larger box begins at an even number, and ends at an even number or at the end of the grid, two or three points away
   from the own points. The box therefore has the weights of all points, and the coarse stencils and scales of codes of
   own points. Remote points receive stencils and codes from their processes.

   Iterates and right-hand sides are correct on the whole larger box. A smoothing step and a restriction spoil remote
   points, which are then exchanged. Residuals are correct up to one point away from the own points, as restriction
   needs. All numbers equal the numbers on a single process, to the last bit.

   A level of few points is gathered: each process has the whole level, and all later levels.

   With rows on devices, all arrays and exchanges are there. Only the entries between boxes of the finest level pass
   through the host. For other matrices with CUDA vectors, the levels are made on the host and moved.
*/

#include <lithe/private/gridmg/parts.h>
#include "../boxes/boxes.h"
#include "stencil.h"
#include "gridmgparts.h"

/* ------------------------------------------------------------ boxes */

/* The process of a point. part: where the search begins, and the place of the process */
static PetscMPIInt RankOf(const GridMGStencilShare *s, const PetscInt at[3], PetscInt part[3])
{
  for (int d = 0; d < 3; d++) {
    while (at[d] < s->start[d][part[d]]) part[d]--;
    while (at[d] >= s->start[d][part[d] + 1]) part[d]++;
  }
  return (PetscMPIInt)(part[0] + s->parts[0] * (part[1] + s->parts[1] * part[2]));
}

/* The exchange that sends the values of own points to all copies of the points. Own points of a line are skipped */
static PetscErrorCode MakeExchange_Private(PC_GridMG *mg, GridMGStencilShare *s)
{
  const int         dim = s->box.dim;
  const PetscMPIInt own = mg->domain.team.rank;
  const GridMGPart  box = GridMGLargeBox(s, dim, own);
  const PetscInt    max = s->box.cells - GridMGOwnCells(s);
  PetscInt         *leaf, n = 0, part[3] = {0, 0, 0};
  PetscSFNode      *root;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(max, &leaf));
  PetscCall(PetscMalloc1(max, &root));
  for (PetscInt line = 0; line < box.n[1] * box.n[2]; line++) {
    PetscInt at[3] = {box.low[0], box.low[1] + line % box.n[1], box.low[2] + line / box.n[1]};

    while (at[0] < box.low[0] + box.n[0]) {
      const PetscMPIInt rank  = RankOf(s, at, part);
      const PetscInt    end   = PetscMin(box.low[0] + box.n[0], s->start[0][part[0] + 1]);
      const GridMGPart  there = GridMGLargeBox(s, dim, rank);

      for (; rank != own && at[0] < end; at[0]++) {
        leaf[n]   = at[0] - box.low[0] + box.n[0] * line;
        root[n++] = (PetscSFNode){.rank = rank, .index = GridMGPlaceOn(&there, at[0], at[1], at[2])};
      }
      at[0] = end;
    }
  }
  PetscCall(PCGridMGExchangeCreate_Private(mg, s->box.cells, n, leaf, root, &s->remote));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Completes a share with known start, parts and size; grid: gives the number of directions, and the neighbours */
static PetscErrorCode SetBoxes_Private(PC_GridMG *mg, const GridMGPoints *grid, GridMGStencilShare *s)
{
  const GridMGPart own = GridMGOwnBox(s, mg->domain.team.rank), box = GridMGLargeBox(s, grid->dim, mg->domain.team.rank);

  PetscFunctionBegin;
  s->box       = *grid;
  s->box.cells = GridMGCellsOf(&box);
  s->next      = s->box;
  for (int d = 0; d < 3; d++) {
    s->own[d]    = own.n[d];
    s->low[d]    = box.low[d];
    s->box.n[d]  = box.n[d];
    s->next.n[d] = GridMGCoarseSize(box.n[d]);
  }
  s->next.cells = s->next.n[0] * s->next.n[1] * s->next.n[2];
  PetscCall(MakeExchange_Private(mg, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level: the boxes of cells, without directions of one point. grid becomes the larger box */
PetscErrorCode PCGridMGStencilShareFirst_Private(PC_GridMG *mg, GridMGPoints *grid)
{
  GridMGStencilLevel *l     = &mg->stencils.stencil[0];
  GridMGStencilShare *s     = &l->split;
  const GridMGShare  *cells = &mg->domain.share[0];
  int                 to    = 0;

  PetscFunctionBegin;
  if (!s->remote.sf) {
    for (int pass = 0; pass < 2; pass++) {
      for (int d = 0; d < 3; d++) {
        const PetscInt parts = mg->domain.team.parts[d];

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

/* The boxes of the next level: the owner of a coarse point owns its fine point, twice its number or the last point */
PetscErrorCode PCGridMGStencilShareCoarsen_Private(PC_GridMG *mg, const GridMGStencilShare *s, GridMGStencilShare *c)
{
  PetscFunctionBegin;
  if (c->remote.sf) PetscFunctionReturn(PETSC_SUCCESS);
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
    GridMGStencilShare *s = &mg->stencils.stencil[k].split;

    for (int d = 0; d < 3; d++) PetscCall(PetscFree(s->start[d]));
    PetscCall(PCGridMGExchangeFree_Private(&s->remote));
    PetscCall(PCGridMGExchangeFree_Private(&s->gather));
    PetscCall(PetscMemzero(s, sizeof(*s)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The whole grid of a level; grid: of this process */
PetscInt PCGridMGStencilGrid_Private(const GridMGStencilLevel *l, const GridMGPoints *grid, PetscInt n[3])
{
  for (int d = 0; d < 3; d++) n[d] = l->shared ? l->split.size[d] : grid->n[d];
  return n[0] * n[1] * n[2];
}

/* ------------------------------------------------------------ exchanges */

/* Copies a box of points between two arrays on parts of the grid, where the levels are: 1 to 16 bytes per point */
PetscErrorCode PCGridMGCopyPart_Private(const PC_GridMG *mg, size_t bytes, const GridMGPart *box, const GridMGPart *from, const void *f, const GridMGPart *to,
                                        void *t)
{
  PetscInt  first[2][3];
  GridMGBox copy;

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    first[0][d] = box->low[d] - from->low[d];
    first[1][d] = box->low[d] - to->low[d];
  }
  copy = PCGridMGBoxOf(box->n, from->n, first[0], to->n, first[1]);
  PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &copy, f, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set-up, on the host: updates all remote points, some bytes per point */
PetscErrorCode PCGridMGStencilExchange_Private(const GridMGStencilShare *s, size_t bytes, void *x)
{
  const GridMGExchange *e = &s->remote;
  MPI_Datatype          unit;
  PetscMPIInt           n;
  char                 *received;

  PetscFunctionBegin;
  PetscCall(PetscMPIIntCast((PetscCount)bytes, &n));
  PetscCall(PetscMalloc1((size_t)e->n * bytes, &received));
  PetscCallMPI(MPI_Type_contiguous(n, MPI_BYTE, &unit));
  PetscCallMPI(MPI_Type_commit(&unit));
  PetscCall(PetscSFBcastBegin(e->sf, unit, x, received, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(e->sf, unit, x, received, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&unit));
  for (PetscInt k = 0; k < e->n; k++) memcpy((char *)x + (size_t)e->at[k] * bytes, received + (size_t)k * bytes, bytes);
  PetscCall(PetscFree(received));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries of a level, without row sums: on a device neighbour by neighbour */
PetscErrorCode PCGridMGExchangeEntries_Private(PC_GridMG *mg, GridMGStencilLevel *l)
{
  const size_t value = GRIDMG_PARTS * sizeof(double), points = (size_t)l->full.f.grid.points;

  PetscFunctionBegin;
  if (!mg->place.device) PetscCall(PCGridMGStencilExchange_Private(&l->split, points * value, l->full.f.a));
  for (size_t s = 0; s < points && mg->place.device; s++) {
    void *a = (char *)l->full.f.a + s * (size_t)l->full.f.grid.cells * value;

    PetscCall(PCGridMGRemote_Private(mg, &l->split.remote, PCGridMGWordOf(value), a, a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
