/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The edges of a level that are no faces of the grid: edges of wells and faults, and entries of the wrong sign */

#include "boxes.h"
#include "../base/base.h"

/* No edges */
void PCGridMGEdgesClear_Private(GridMGEdges *edges)
{
  edges->n = 0;
}

void PCGridMGEdgesScale_Private(GridMGEdges *edges, double factor)
{
  for (PetscInt e = 0; e < edges->n; e++) edges->edge[e].t *= factor;
}

/* Place for n more edges, which the caller fills in */
PetscErrorCode PCGridMGEdgesAppend_Private(GridMGEdges *edges, PetscInt n, GridMGEdge **more)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGEdgesReserve_Private(edges, edges->n + n));
  *more = edges->edge + edges->n;
  edges->n += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes room for at least max edges */
PetscErrorCode PCGridMGEdgesReserve_Private(GridMGEdges *edges, PetscInt max)
{
  GridMGEdge *more = NULL;

  PetscFunctionBegin;
  if (max <= edges->max) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(max, &more));
  PetscCall(PetscArraycpy(more, edges->edge, edges->n));
  PetscCall(PetscFree(edges->edge));
  edges->edge = more;
  edges->max  = max;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGEdgeAdd_Private(GridMGEdges *edges, PetscInt i, PetscInt j, double t)
{
  PetscFunctionBegin;
  if (edges->n == edges->max) PetscCall(PCGridMGEdgesReserve_Private(edges, PetscMax(64, 2 * edges->max)));
  edges->edge[edges->n++] = (GridMGEdge){i, j, t};
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Addition_Private(GridMGAdditions *additions, PetscInt array, PetscInt at, double t)
{
  PetscFunctionBegin;
  if (additions->n == additions->max) {
    const PetscInt  max  = PetscMax(64, 2 * additions->max);
    GridMGAddition *more = NULL;

    PetscCall(PetscMalloc1(max, &more));
    PetscCall(PetscArraycpy(more, additions->addition, additions->n));
    PetscCall(PetscFree(additions->addition));
    additions->addition = more;
    additions->max      = max;
  }
  additions->addition[additions->n++] = (GridMGAddition){array, at, t};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which part of the list a row is in */
static inline int PartOf(const GridMGGrid *grid, PetscInt i)
{
  const PetscInt line = i / grid->n[0];

  if (i >= grid->cells) return 2;
  return (int)((i % grid->n[0] + line % grid->n[1] + line / grid->n[1]) % 2);
}

/* The row of a vertex in a list, or -1 */
PetscInt PCGridMGListFind_Private(const GridMGGrid *grid, const GridMGList *list, PetscInt vertex)
{
  const int part = PartOf(grid, vertex);
  PetscInt  low = part ? list->part[part - 1] : 0, end = part < 2 ? list->part[part] : list->n, high = end;

  while (low < high) {
    const PetscInt middle = low + (high - low) / 2;

    if (list->row[middle] < vertex) low = middle + 1;
    else high = middle;
  }
  return low < end && list->row[low] == vertex ? low : -1;
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

/* Sorts the edges, sums up duplicates, and makes a list with a row for every well */
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

/* The vertex of the next level for a vertex of this level; share has the coarse vertices of ghosts */
static inline PetscInt CoarseOf(const GridMGGrid *fine, const GridMGGrid *coarse, const int by[3], const GridMGShare *share, PetscInt i)
{
  const PetscInt line = i / fine->n[0];

  if (i >= fine->cells + fine->wells) return coarse->cells + coarse->wells + share->coarse[i - fine->cells - fine->wells];
  if (i >= fine->cells) return coarse->cells + i - fine->cells;
  return i % fine->n[0] / by[0] + coarse->n[0] * (line % fine->n[1] / by[1] + coarse->n[1] * (line / fine->n[1] / by[2]));
}

/*
   The face of the coarse grid that an edge is added to: its array, as in GridMGAddition, and its place; -1 if the edge
   is no face
*/
static int FaceOfEdge(const GridMGGrid *grid, PetscBool symmetric, PetscInt ci, PetscInt cj, PetscInt *where)
{
  const PetscInt low = PetscMin(ci, cj), line = low / grid->n[0], at[3] = {low % grid->n[0], line % grid->n[1], line / grid->n[1]};

  if (PetscMax(ci, cj) >= grid->cells) return -1;
  for (int d = 0; d < 3; d++) {
    if (grid->n[d] < 2 || at[d] == grid->n[d] - 1 || PetscAbsInt(ci - cj) != GridMGStride(grid, d)) continue;
    *where = low;
    return ci < cj || symmetric ? d : 3 + d;
  }
  return -1;
}

static int CompareAdditions(const void *pa, const void *pb, PETSC_UNUSED void *ctx)
{
  const GridMGAddition *a = (const GridMGAddition *)pa, *b = (const GridMGAddition *)pb;

  if (a->array != b->array) return a->array < b->array ? -1 : 1;
  if (a->at != b->at) return a->at < b->at ? -1 : 1;
  return 0;
}

/* Applies the additions, sorted by place */
static PetscErrorCode Add_Private(PC_GridMG *mg, const GridMGFaces *f)
{
  PetscFunctionBegin;
  if (mg->aggregation.additions.n > 1)
    PetscCall(PetscTimSort(mg->aggregation.additions.n, mg->aggregation.additions.addition, sizeof(GridMGAddition), CompareAdditions, NULL));
  if (mg->aggregation.additions.n) PetscCall((*mg->place.kernels->setup.add)(f, mg->aggregation.additions.n, mg->aggregation.additions.addition));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns edges between neighbours into faces. Edges of the wrong sign and all other edges stay in the list */
PetscErrorCode PCGridMGEdgesToFaces_Private(PC_GridMG *mg, const GridMGFaces *f)
{
  GridMGEdge    *edge = mg->aggregation.edges.edge;
  const PetscInt n    = mg->aggregation.edges.n;

  PetscFunctionBegin;
  mg->aggregation.edges.n = mg->aggregation.additions.n = 0;
  for (PetscInt e = 0; e < n; e++) {
    PetscInt  at    = 0;
    const int array = edge[e].t > 0 ? FaceOfEdge(&f->grid, f->symmetric, edge[e].i, edge[e].j, &at) : -1;

    if (array < 0) edge[mg->aggregation.edges.n++] = edge[e];
    else if (edge[e].i < edge[e].j || !f->symmetric) PetscCall(Addition_Private(&mg->aggregation.additions, array, at, edge[e].t));
  }
  PetscCall(Add_Private(mg, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   P^T A P of the list. Edges within an aggregate vanish, and edges between neighbours are added to their face. Entries
   of the wrong sign are left out together with their part of the diagonal: the exact P^T A P is at most as large as the
   result. share: of the fine level, if there are ghosts.
*/
PetscErrorCode PCGridMGCoarsenEdges_Private(PC_GridMG *mg, const GridMGFaces *f, const int by[3], const GridMGShare *share, const GridMGFaces *coarse)
{
  const GridMGList *list  = &f->list;
  const double     *t     = (const double *)list->t;
  const PetscInt    edges = list->i[list->n], own = f->grid.cells + f->grid.wells;
  unsigned char    *alive = NULL; /* of rows, then of the end vertices of edges */

  PetscFunctionBegin;
  mg->aggregation.edges.n = mg->aggregation.additions.n = 0;
  if (!edges) PetscFunctionReturn(PETSC_SUCCESS);
  if (f->alive) {
    PetscCall(PetscMalloc1(list->n + edges, &alive));
    PetscCall((*mg->place.kernels->setup.aliveof)(f, list->n, list->row, alive));
    PetscCall((*mg->place.kernels->setup.aliveof)(f, edges, list->j, alive + list->n));
    for (PetscInt e = 0; e < edges && f->grid.ghosts; e++) {
      if (list->j[e] >= own) alive[list->n + e] = share->alive[list->j[e] - own];
    }
  }
  for (PetscInt r = 0; r < list->n; r++) {
    const PetscInt i = list->row[r], ci = CoarseOf(&f->grid, &coarse->grid, by, share, i);

    if (alive && !alive[r]) continue;
    for (PetscInt e = list->i[r]; e < list->i[r + 1]; e++) {
      const PetscInt cj = CoarseOf(&f->grid, &coarse->grid, by, share, list->j[e]);
      PetscInt       at = ci;
      int            array;

      if (t[e] <= 0) continue;
      if (alive && !alive[list->n + e]) PetscCall(Addition_Private(&mg->aggregation.additions, -1, ci, t[e]));
      else if (ci != cj) {
        array = FaceOfEdge(&coarse->grid, coarse->symmetric, ci, cj, &at);
        if (array < 0) PetscCall(PCGridMGEdgeAdd_Private(&mg->aggregation.edges, ci, cj, t[e]));
        else if (ci < cj || !coarse->symmetric) PetscCall(Addition_Private(&mg->aggregation.additions, array, at, t[e]));
      }
    }
  }
  PetscCall(PetscFree(alive));
  PetscCall(Add_Private(mg, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGEdgesFree_Private(PC_GridMG *mg)
{
  GridMGEdges     *edges     = &mg->aggregation.edges;
  GridMGAdditions *additions = &mg->aggregation.additions;

  PetscFunctionBegin;
  PetscCall(PetscFree(edges->edge));
  edges->n = edges->max = 0;
  PetscCall(PetscFree(additions->addition));
  additions->n = additions->max = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
