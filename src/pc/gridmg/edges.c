/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The edges of a level that are no faces of its grid: of wells, faults, and entries of the wrong sign */

#include "gridmgimpl.h"

PetscErrorCode PCGridMGEdgeAdd_Private(GridMGEdges *edges, PetscInt i, PetscInt j, double t)
{
  PetscFunctionBegin;
  if (edges->n == edges->max) {
    const PetscInt max  = PetscMax(64, 2 * edges->max);
    GridMGEdge    *more = NULL;

    PetscCall(PetscMalloc1(max, &more));
    PetscCall(PetscArraycpy(more, edges->edge, edges->n));
    PetscCall(PetscFree(edges->edge));
    edges->edge = more;
    edges->max  = max;
  }
  edges->edge[edges->n++] = (GridMGEdge){i, j, t};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which part of the list a row is in */
static inline int PartOf(const GridMGGrid *grid, PetscInt i)
{
  const PetscInt line = i / grid->n[0];

  if (i >= grid->cells) return 2;
  return (int)((i % grid->n[0] + line % grid->n[1] + line / grid->n[1]) % 2);
}

static int CompareEdges(const void *pa, const void *pb, void *ctx)
{
  const GridMGGrid *grid = (const GridMGGrid *)ctx;
  const GridMGEdge *a = (const GridMGEdge *)pa, *b = (const GridMGEdge *)pb;

  if (a->i != b->i) {
    const int difference = PartOf(grid, a->i) - PartOf(grid, b->i);

    if (difference) return difference;
    return a->i < b->i ? -1 : 1;
  }
  if (a->j != b->j) return a->j < b->j ? -1 : 1;
  return 0;
}

/* Sorts the edges and adds those up that occur several times; every well has a row */
PetscErrorCode PCGridMGEdgesToList_Private(const GridMGGrid *grid, GridMGEdges *edges, GridMGBlock block[2], GridMGList *list)
{
  GridMGEdge *edge = edges->edge;
  PetscInt    n = 0, rows = 0, well = 0, *integers;

  PetscFunctionBegin;
  if (edges->n > 1) PetscCall(PetscTimSort(edges->n, edge, sizeof(*edge), CompareEdges, (void *)grid));
  for (PetscInt e = 0; e < edges->n; e++) {
    if (n && edge[n - 1].i == edge[e].i && edge[n - 1].j == edge[e].j) edge[n - 1].t += edge[e].t;
    else edge[n++] = edge[e];
  }
  edges->n = n;
  for (PetscInt e = 0; e < n; e++) rows += edge[e].i < grid->cells && (!e || edge[e - 1].i != edge[e].i);
  rows += grid->wells;

  PetscCall(PetscMemzero(list, sizeof(*list)));
  PetscCall(PCGridMGBlockGet_Private(&block[0], (size_t)(2 * rows + 1 + n) * sizeof(PetscInt), (void **)&integers));
  PetscCall(PCGridMGBlockGet_Private(&block[1], (size_t)n * sizeof(double), &list->t));
  list->row = integers;
  list->i   = integers + rows;
  list->j   = integers + 2 * rows + 1;
  for (PetscInt e = 0; e < n; e++) {
    if (!e || edge[e - 1].i != edge[e].i) {
      /* wells without edges come between */
      while (edge[e].i >= grid->cells && grid->cells + well < edge[e].i) {
        list->i[list->n]     = e;
        list->row[list->n++] = grid->cells + well++;
      }
      if (edge[e].i >= grid->cells) well++;
      if (PartOf(grid, edge[e].i) == 0) list->part[0]++;
      if (PartOf(grid, edge[e].i) <= 1) list->part[1]++;
      list->i[list->n]     = e;
      list->row[list->n++] = edge[e].i;
    }
    list->j[e]             = edge[e].j;
    ((double *)list->t)[e] = edge[e].t;
  }
  while (well < grid->wells) {
    list->i[list->n]     = n;
    list->row[list->n++] = grid->cells + well++;
  }
  list->i[list->n] = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vertex of the next level that a vertex belongs to */
static inline PetscInt CoarseOf(const GridMGGrid *fine, const GridMGGrid *coarse, const int by[3], PetscInt i)
{
  const PetscInt line = i / fine->n[0];

  if (i >= fine->cells) return coarse->cells + i - fine->cells;
  return i % fine->n[0] / by[0] + coarse->n[0] * (line % fine->n[1] / by[1] + coarse->n[1] * (line / fine->n[1] / by[2]));
}

/* A face of the coarse grid takes the edge over */
static PetscBool AddToFace(GridMGFaces *coarse, PetscInt ci, PetscInt cj, double t)
{
  const GridMGGrid *grid = &coarse->grid;
  const PetscInt    low = PetscMin(ci, cj), line = low / grid->n[0], at[3] = {low % grid->n[0], line % grid->n[1], line / grid->n[1]};

  if (PetscMax(ci, cj) >= grid->cells) return PETSC_FALSE;
  for (int d = 0; d < 3; d++) {
    if (grid->n[d] < 2 || at[d] == grid->n[d] - 1 || PetscAbsInt(ci - cj) != GridMGStride(grid, d)) continue;
    if (!coarse->symmetric) (ci < cj ? coarse->up : coarse->down)[d][low] += t;
    else if (ci < cj) coarse->up[d][low] += t;
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/*
   P^T A P of the list: edges within an aggregate are gone, those between neighbours are part of their face. Entries of the wrong sign
   are left out, with their part of the diagonal: there is less of the coarse level than that
*/
PetscErrorCode PCGridMGCoarsenEdges_Private(const GridMGFaces *f, const int by[3], GridMGFaces *coarse, GridMGEdges *edges)
{
  const double *t = (const double *)f->list.t;

  PetscFunctionBegin;
  edges->n = 0;
  for (PetscInt r = 0; r < f->list.n; r++) {
    const PetscInt i = f->list.row[r], ci = CoarseOf(&f->grid, &coarse->grid, by, i);

    if (i < f->grid.cells && f->alive && !f->alive[i]) continue;
    for (PetscInt e = f->list.i[r]; e < f->list.i[r + 1]; e++) {
      const PetscInt j = f->list.j[e], cj = CoarseOf(&f->grid, &coarse->grid, by, j);

      if (t[e] <= 0) continue;
      if (j < f->grid.cells && f->alive && !f->alive[j]) coarse->sigma[ci] += t[e];
      else if (ci != cj && !AddToFace(coarse, ci, cj, t[e])) PetscCall(PCGridMGEdgeAdd_Private(edges, ci, cj, t[e]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
