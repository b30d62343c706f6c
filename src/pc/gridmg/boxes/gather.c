/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   From a level with few cells on, each process has the whole level and all levels after it, and all processes compute
   the same. One all-to-all message then replaces many small messages. Cells have the order of the whole grid, and wells
   the order of processes.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"
#include "../base/base.h"

/* The lines of a box: line k, of `length` cells, begins at there + k length in the box */
typedef struct {
  PetscInt n[3], lines, start[3];
} Box;

static Box BoxOf(const PC_GridMG *mg, const GridMGShare *s, PetscInt rank)
{
  Box box;

  (void)PCGridMGBoxIn(s->start, mg->domain.team.parts, rank, box.start, box.n);
  box.lines = box.n[1] * box.n[2];
  return box;
}

/* Where a line of a box begins in the whole grid */
static inline PetscInt LineOf(const GridMGGrid *whole, const Box *box, PetscInt line)
{
  return box->start[0] + whole->n[0] * (box->start[1] + line % box->n[1] + whole->n[1] * (box->start[2] + line / box->n[1]));
}

/* The number of wells on the processes before a process; offset counts cells as well */
static PetscInt FirstWell(const PC_GridMG *mg, const GridMGShare *s, PetscInt rank)
{
  PetscInt first = 0, n[3];

  for (PetscInt r = 0; r < rank; r++) first += s->offset[r + 1] - s->offset[r] - PCGridMGBoxCells_Private(mg, s, r, n);
  return first;
}

/* ------------------------------------------------------------ the whole level */

/* The number of the first whole level, 0 for one process; box: the own part of its cells, or NULL */
void PCGridMGWholeSet_Private(PC_GridMG *mg, PetscInt level, const GridMGGrid *box)
{
  mg->domain.whole.first = level;
  if (box) mg->domain.whole.box = *box;
}

/* Memory for numbers of the own part, and for numbers of all processes */
void PCGridMGWholeTake_Private(PC_GridMG *mg, GridMGPool *pool)
{
  const GridMGGrid *box = &mg->domain.whole.box, *whole = &mg->aggregation.level[mg->domain.whole.first].op.grid;
  const size_t      number = GridMGNumberBytes(mg->found.precision);

  mg->domain.whole.part = PCGridMGTake_Private(pool, (size_t)(box->cells + box->wells) * number);
  mg->domain.whole.all  = PCGridMGTake_Private(pool, (size_t)(whole->cells + whole->wells) * number);
}

/* How many numbers each process has, times of a vertex */
PetscErrorCode PCGridMGWholeCounts_Private(PC_GridMG *mg, const PetscInt offset[], PetscInt times)
{
  PetscFunctionBegin;
  if (!mg->domain.whole.count) PetscCall(PetscMalloc2(mg->domain.team.size, &mg->domain.whole.count, mg->domain.team.size, &mg->domain.whole.from));
  for (PetscMPIInt r = 0; r < mg->domain.team.size; r++) {
    PetscCall(PetscMPIIntCast(times * (offset[r + 1] - offset[r]), &mg->domain.whole.count[r]));
    PetscCall(PetscMPIIntCast(times * offset[r], &mg->domain.whole.from[r]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGWholeReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(mg->domain.whole.count, mg->domain.whole.from));
  PetscCall(PetscMemzero(&mg->domain.whole, sizeof(mg->domain.whole)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up */

#define ROW_NUMBERS 7 /* per vertex: row sum, and faces downwards and upwards along each direction, without faces to other processes */

static void GetRows(const GridMGFaces *f, double row[])
{
  const GridMGGrid *g = &f->grid;

  for (PetscInt i = 0; i < g->cells + g->wells; i++) row[ROW_NUMBERS * i] = f->sigma[i];
  for (int d = 0; d < 3; d++) {
    const PetscInt stride = GridMGStride(g, d);

    for (PetscInt c = 0; f->up[d] && c + stride < g->cells; c++) {
      row[ROW_NUMBERS * c + 2 + 2 * d]            = f->up[d][c];
      row[ROW_NUMBERS * (c + stride) + 1 + 2 * d] = f->down[d][c];
    }
  }
}

/* Puts the rows of all processes into faces and row sums of the whole grid. Faces between boxes are added later */
static void PutRows(const PC_GridMG *mg, const GridMGShare *s, const double row[], const GridMGFaces *f)
{
  const GridMGGrid *g    = &f->grid;
  PetscInt          well = g->cells;

  for (PetscInt r = 0; r < mg->domain.team.size; r++) {
    const Box      box   = BoxOf(mg, s, r);
    const PetscInt cells = box.n[0] * box.lines;

    for (PetscInt c = 0; c < cells; c++) {
      const PetscInt to = LineOf(g, &box, c / box.n[0]) + c % box.n[0], line = to / g->n[0], at[3] = {to % g->n[0], line % g->n[1], line / g->n[1]};
      const double  *from = row + ROW_NUMBERS * (s->offset[r] + c);

      f->sigma[to] = from[0];
      for (int d = 0; d < 3; d++) {
        if (!f->up[d]) continue;
        f->up[d][to] = from[2 + 2 * d];
        if (f->down[d] == f->up[d]) continue;
        if (at[d] > 0) f->down[d][to - GridMGStride(g, d)] = from[1 + 2 * d];
        if (at[d] == g->n[d] - 1) f->down[d][to] = 0;
      }
    }
    for (PetscInt v = s->offset[r] + cells; v < s->offset[r + 1]; v++) f->sigma[well++] = row[ROW_NUMBERS * v];
  }
}

/* The vertex of the whole grid for a vertex of this process or a ghost */
static PetscInt WholeOf(const PC_GridMG *mg, const GridMGLevel *l, const GridMGGrid *whole, PetscInt firstwell, PetscInt v)
{
  const GridMGShare *s = l->boxes;
  const PetscInt     n = l->exact.faces.grid.cells + l->exact.faces.grid.wells, number = v < n ? s->offset[mg->domain.team.rank] + v : s->ghost[v - n];
  PetscInt           at[3], cells[3];
  const PetscInt     rank = PCGridMGWhere_Private(mg, s, number, at);

  if (at[0] >= 0) return at[0] + whole->n[0] * (at[1] + whole->n[1] * at[2]);
  if (rank != mg->domain.team.rank) firstwell = FirstWell(mg, s, rank);
  return whole->cells + firstwell + number - s->offset[rank] - PCGridMGBoxCells_Private(mg, s, rank, cells);
}

/* The lists of all processes, as edges of the whole grid */
static PetscErrorCode GatherEdges_Private(PC_GridMG *mg, const GridMGLevel *l, const GridMGGrid *whole)
{
  const GridMGList *list  = &l->exact.faces.list;
  const double     *t     = (const double *)list->t;
  const PetscInt    first = FirstWell(mg, l->boxes, mg->domain.team.rank);
  PetscInt         *offset, mine = list->i[list->n], *ends, *allends;
  double           *all;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mg->domain.team.size + 1, &offset));
  offset[0] = 0;
  PetscCallMPI(MPI_Allgather(&mine, 1, MPIU_INT, offset + 1, 1, MPIU_INT, mg->domain.team.comm));
  for (PetscInt r = 0; r < mg->domain.team.size; r++) offset[r + 1] += offset[r];
  PetscCall(PetscMalloc3(2 * mine, &ends, 2 * offset[mg->domain.team.size], &allends, offset[mg->domain.team.size], &all));
  for (PetscInt r = 0; r < list->n; r++) {
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      ends[2 * e]     = WholeOf(mg, l, whole, first, list->row[r]);
      ends[2 * e + 1] = WholeOf(mg, l, whole, first, list->j[e]);
    }
  }
  PetscCall(PCGridMGWholeCounts_Private(mg, offset, 2));
  PetscCallMPI(MPI_Allgatherv(ends, mg->domain.whole.count[mg->domain.team.rank], MPIU_INT, allends, mg->domain.whole.count, mg->domain.whole.from, MPIU_INT,
                              mg->domain.team.comm));
  PetscCall(PCGridMGWholeCounts_Private(mg, offset, 1));
  PetscCallMPI(MPI_Allgatherv(t, mg->domain.whole.count[mg->domain.team.rank], MPI_DOUBLE, all, mg->domain.whole.count, mg->domain.whole.from, MPI_DOUBLE,
                              mg->domain.team.comm));
  PCGridMGEdgesClear_Private(&mg->aggregation.edges);
  for (PetscInt e = 0; e < offset[mg->domain.team.size]; e++)
    PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, allends[2 * e], allends[2 * e + 1], all[e]));
  PetscCall(PetscFree(offset));
  PetscCall(PetscFree3(ends, allends, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gathers the exact entries of a level from all processes on each process */
PetscErrorCode PCGridMGGatherLevel_Private(PC_GridMG *mg, PetscInt level)
{
  GridMGLevel *l       = &mg->aggregation.level[level];
  GridMGShare *s       = l->boxes;
  GridMGGrid   whole   = {.wells = mg->domain.team.wells};
  const size_t numbers = (size_t)ROW_NUMBERS * sizeof(double), own = (size_t)(l->exact.faces.grid.cells + l->exact.faces.grid.wells) * numbers;
  double      *row;

  PetscFunctionBegin;
  PCGridMGWholeSize(mg, s, whole.n);
  whole.cells = whole.n[0] * whole.n[1] * whole.n[2];
  PCGridMGWholeSet_Private(mg, level, &l->exact.faces.grid);

  PetscCall(PCGridMGGetWork_Private(mg, PETSC_TRUE, own + (size_t)s->offset[mg->domain.team.size] * numbers, (void **)&row));
  GetRows(&l->exact.faces, row);
  PetscCall(PCGridMGWholeCounts_Private(mg, s->offset, ROW_NUMBERS));
  PetscCallMPI(MPI_Allgatherv(row, mg->domain.whole.count[mg->domain.team.rank], MPI_DOUBLE, (char *)row + own, mg->domain.whole.count, mg->domain.whole.from,
                              MPI_DOUBLE, mg->domain.team.comm));
  PetscCall(GatherEdges_Private(mg, l, &whole));
  PetscCall(PCGridMGExactCreate_Private(mg, l, &whole, mg->found.symmetric, NULL));
  PutRows(mg, s, (const double *)((char *)row + own), &l->exact.faces);
  PetscCall(PCGridMGEdgesToFaces_Private(mg, &l->exact.faces));
  PetscCall(PCGridMGExactSetList_Private(mg, l));
  PetscCall(PCGridMGWholeCounts_Private(mg, s->offset, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ application */

/* Copies numbers of one process between the order of its box and a vector of the whole level */
static void CopyBox(const PC_GridMG *mg, PetscInt rank, PetscInt well, PetscBool out, char *part, char *all)
{
  const GridMGLevel *l     = &mg->aggregation.level[mg->domain.whole.first];
  const Box          box   = BoxOf(mg, l->boxes, rank);
  const size_t       bytes = GridMGNumberBytes(mg->found.precision), length = (size_t)box.n[0] * bytes;
  const size_t       wells = (size_t)(l->boxes->offset[rank + 1] - l->boxes->offset[rank] - box.n[0] * box.lines) * bytes;

  for (PetscInt line = 0; line <= box.lines; line++) {
    const PetscBool last = (PetscBool)(line == box.lines);
    char           *a    = all + (size_t)(last ? l->op.grid.cells + well : LineOf(&l->op.grid, &box, line)) * bytes;
    char           *p    = part + (size_t)line * length;

    if (out) memcpy(p, a, last ? wells : length);
    else memcpy(a, p, last ? wells : length);
  }
}

/* Gathers team.part of all processes into a vector of the whole level */
PetscErrorCode PCGridMGGather_Private(PC_GridMG *mg, void *all)
{
  const MPI_Datatype number = mg->found.precision == GRIDMG_SINGLE ? MPI_FLOAT : MPI_DOUBLE;
  const GridMGShare *s      = &mg->domain.share[mg->domain.whole.first];
  PetscInt           well   = 0, n[3];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Allgatherv(mg->domain.whole.part, mg->domain.whole.count[mg->domain.team.rank], number, mg->domain.whole.all, mg->domain.whole.count,
                              mg->domain.whole.from, number, mg->domain.team.comm));
  for (PetscInt r = 0; r < mg->domain.team.size; r++) {
    CopyBox(mg, r, well, PETSC_FALSE, (char *)mg->domain.whole.all + (size_t)s->offset[r] * GridMGNumberBytes(mg->found.precision), (char *)all);
    well += s->offset[r + 1] - s->offset[r] - PCGridMGBoxCells_Private(mg, s, r, n);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the part of this process from a vector of the whole level to team.part */
void PCGridMGScatter_Private(PC_GridMG *mg, const void *all)
{
  const GridMGShare *s = &mg->domain.share[mg->domain.whole.first];

  CopyBox(mg, mg->domain.team.rank, mg->domain.team.wells ? FirstWell(mg, s, mg->domain.team.rank) : 0, PETSC_TRUE, (char *)mg->domain.whole.part, (char *)all);
}
