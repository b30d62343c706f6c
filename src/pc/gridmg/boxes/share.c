/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Data of each process of a PCGRIDMG about all processes: the boxes, and the remote vertices of edges. Boxes are a
   tensor product on all levels, since aggregates end where boxes end. The number of a vertex gives its place: coarse
   levels need no messages for places.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"

/* ------------------------------------------------------------ numbers and places */

/* The box of a process: cells along each direction. Returns their product */
PetscInt PCGridMGBoxCells_Private(const PC_GridMG *mg, const GridMGShare *s, PetscInt rank, PetscInt n[3])
{
  PetscInt first[3];

  return PCGridMGBoxIn(s->start, mg->domain.team.parts, rank, first, n);
}

/* The process of a global number: the last process with the offset, since earlier processes have no vertices */
static PetscInt OwnerOf(const PC_GridMG *mg, const PetscInt offset[], PetscInt number)
{
  PetscInt low = 0, high = mg->domain.team.size - 1;

  while (low < high) {
    const PetscInt middle = high - (high - low) / 2;

    if (offset[middle] <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

/* The process of a global number, and the place of the vertex in the whole grid; negative: a well */
PetscInt PCGridMGWhere_Private(const PC_GridMG *mg, const GridMGShare *s, PetscInt number, PetscInt at[3])
{
  const PetscInt rank = OwnerOf(mg, s->offset, number), vertex = number - s->offset[rank];
  PetscInt       first[3], n[3];

  if (vertex >= PCGridMGBoxIn(s->start, mg->domain.team.parts, rank, first, n)) at[0] = at[1] = at[2] = -1;
  else {
    const PetscInt line = vertex / n[0], in[3] = {vertex % n[0], line % n[1], line / n[1]};

    for (int d = 0; d < 3; d++) at[d] = first[d] + in[d];
  }
  return rank;
}

/* 1 if the first cell of the own box is black in the whole grid */
PetscInt PCGridMGParity_Private(const PC_GridMG *mg, const GridMGLevel *l)
{
  PetscInt sum = 0;

  if (!l->shared) return 0;
  for (int d = 0; d < 3; d++) sum += l->boxes->start[d][mg->domain.team.place[d]];
  return sum % 2;
}

/* The global number of a matrix row on the finest level */
static PetscInt NumberOfRow(const PC_GridMG *mg, PetscInt row)
{
  const GridMGShare *s    = &mg->domain.share[0];
  const PetscInt     rank = OwnerOf(mg, s->offset, row), begin = s->offset[rank], n = s->offset[rank + 1] - begin;
  const GridMGRows   rows = {.first = PetscClipInterval(mg->domain.team.before - begin, 0, n)};
  GridMGGrid         grid;

  grid.cells = PCGridMGBoxCells_Private(mg, s, rank, grid.n);
  return begin + GridMGVertexOf(&grid, &rows, row - begin);
}

/* The own vertex or the ghost of a matrix row; for any other row -1 - number, with the global number */
PetscInt PCGridMGVertexOfRow_Private(const PC_GridMG *mg, PetscInt row)
{
  const GridMGGrid  *grid = &mg->domain.team.own;
  const GridMGShare *s    = &mg->domain.share[0];
  const PetscInt     mine = row - mg->domain.team.begin;
  PetscInt           number, ghost;

  if (mine >= 0 && mine < grid->cells + grid->wells) return GridMGVertexOf(grid, &mg->domain.team.rows, mine);
  number = NumberOfRow(mg, row);
  return PetscFindInt(number, s->ghosts, s->ghost, &ghost) == PETSC_SUCCESS && ghost >= 0 ? grid->cells + grid->wells + ghost : -1 - number;
}

/* ------------------------------------------------------------ levels */

/* Sets the ghosts of a level, ascending; offset and start are known */
PetscErrorCode PCGridMGShareSetGhosts_Private(PC_GridMG *mg, GridMGShare *s, PetscInt n, const PetscInt number[])
{
  PetscSFNode *remote;

  PetscFunctionBegin;
  s->ghosts = n;
  PetscCall(PetscMalloc4(n, &s->ghost, 3 * n, &s->at, n, &s->alive, n, &s->coarse));
  PetscCall(PetscArraycpy(s->ghost, number, n));
  PetscCall(PetscMalloc1(n, &remote));
  for (PetscInt g = 0; g < n; g++) {
    const PetscInt rank = PCGridMGWhere_Private(mg, s, number[g], &s->at[3 * g]);

    remote[g] = (PetscSFNode){.rank = rank, .index = number[g] - s->offset[rank]};
  }
  PetscCall(PetscSFCreate(mg->domain.team.comm, &s->sf));
  PetscCall(
    PetscSFSetGraph(s->sf, s->offset[mg->domain.team.rank + 1] - s->offset[mg->domain.team.rank], n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(s->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeShare_Private(GridMGShare *s)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(s->start[d]));
  PetscCall(PetscFree(s->offset));
  PetscCall(PetscFree4(s->ghost, s->at, s->alive, s->coarse));
  PetscCall(PetscFree2(s->bordering.faces.cell, s->bordering.faces.t));
  PetscCall(PetscSFDestroy(&s->sf));
  PetscCall(PCGridMGExchangeFree_Private(&s->over.remote));
  PetscCall(PCGridMGExchangeFree_Private(&s->over.gather));
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data about all processes for a level and all later levels */
PetscErrorCode PCGridMGShareFree_Private(PC_GridMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  for (PetscInt k = level; k < GRIDMG_LEVELS_MAX; k++) PetscCall(FreeShare_Private(&mg->domain.share[k]));
  if (level > 0) PetscCall(PetscMemzero(mg->domain.share[level - 1].by, sizeof(mg->domain.share[0].by)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The boxes of the next level, and the numbers of wells per process, which stay the same */
static PetscErrorCode CoarsenBoxes_Private(PC_GridMG *mg, const GridMGShare *s, const int by[3], GridMGShare *c)
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscMalloc1(mg->domain.team.parts[d] + 1, &c->start[d]));
    c->start[d][0] = 0;
    for (PetscInt p = 0; p < mg->domain.team.parts[d]; p++) c->start[d][p + 1] = c->start[d][p] + (s->start[d][p + 1] - s->start[d][p] + by[d] - 1) / by[d];
  }
  PetscCall(PetscMalloc1(mg->domain.team.size + 1, &c->offset));
  c->offset[0] = 0;
  for (PetscInt r = 0; r < mg->domain.team.size; r++) {
    PetscInt       n[3];
    const PetscInt wells = s->offset[r + 1] - s->offset[r] - PCGridMGBoxCells_Private(mg, s, r, n);

    c->offset[r + 1] = c->offset[r] + PCGridMGBoxCells_Private(mg, c, r, n) + wells;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosts of the next level: the aggregates of this level's ghosts */
static PetscErrorCode CoarsenGhosts_Private(PC_GridMG *mg, GridMGShare *s, const int by[3], GridMGShare *c)
{
  PetscInt *number, ghosts = s->ghosts;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(ghosts, &number));
  for (PetscInt g = 0; g < ghosts; g++) {
    const PetscInt rank = OwnerOf(mg, s->offset, s->ghost[g]), vertex = s->ghost[g] - s->offset[rank];
    PetscInt       n[3], N[3];
    const PetscInt cells = PCGridMGBoxCells_Private(mg, s, rank, n), coarse = PCGridMGBoxCells_Private(mg, c, rank, N);

    if (vertex >= cells) number[g] = c->offset[rank] + coarse + vertex - cells;
    else {
      const PetscInt line = vertex / n[0];

      number[g] = c->offset[rank] + vertex % n[0] / by[0] + N[0] * (line % n[1] / by[1] + N[1] * (line / n[1] / by[2]));
    }
    s->coarse[g] = number[g];
  }
  PetscCall(PetscSortRemoveDupsInt(&ghosts, number));
  PetscCall(PCGridMGShareSetGhosts_Private(mg, c, ghosts, number));
  for (PetscInt g = 0; g < s->ghosts; g++) PetscCall(PetscFindInt(s->coarse[g], ghosts, number, &s->coarse[g]));
  PetscCall(PetscFree(number));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The data about all processes for the next level, with aggregates of by[] cells: kept, or made anew */
PetscErrorCode PCGridMGShareCoarsen_Private(PC_GridMG *mg, PetscInt level, const int by[3])
{
  GridMGShare *s = &mg->domain.share[level], *c = &mg->domain.share[level + 1];

  PetscFunctionBegin;
  if (s->by[0] == by[0] && s->by[1] == by[1] && s->by[2] == by[2]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGShareFree_Private(mg, level + 1));
  PetscCall(CoarsenBoxes_Private(mg, s, by, c));
  if (!mg->place.overlap) PetscCall(CoarsenGhosts_Private(mg, s, by, c)); /* overlapping boxes have separate exchanges */
  for (int d = 0; d < 3; d++) s->by[d] = by[d];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ values */

/* The ghosts of a vector of a level receive the values of their processes */
PetscErrorCode PCGridMGExchange_Private(PC_GridMG *mg, GridMGLevel *l, void *x)
{
  const MPI_Datatype number = mg->found.precision == GRIDMG_SINGLE ? MPI_FLOAT : MPI_DOUBLE;
  char              *ghosts = (char *)x + (size_t)(l->op.grid.cells + l->op.grid.wells) * GridMGNumberBytes(mg->found.precision);

  PetscFunctionBegin;
  if (!l->shared || mg->place.overlap) PetscFunctionReturn(PETSC_SUCCESS); /* overlapping boxes have separate exchanges */
  PetscCall(PetscSFBcastBegin(l->boxes->sf, number, x, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(l->boxes->sf, number, x, ghosts, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
