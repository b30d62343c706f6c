/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids of MATSBPSAT with their ghosts, and coefficients from coordinates */

#include "sbpsatimpl.h"

#define SBP_VALUE   PetscReal
#define SBP_REAL    PetscReal
#define SBP_NAME(f) f##_Metrics
#include "sbpnode.h"

/*
   The nodes of da with ghosts in a box as far as width, whatever ghosts da has: a DMDA with its ranges, and the same as
   plain data
*/
PetscErrorCode SBPGridCreate_Private(DM da, int order, PetscInt width, DM *grid, SBPGrid *g)
{
  MPI_Comm        comm = PetscObjectComm((PetscObject)da);
  const PetscInt *ranges[2];
  PetscInt        nodes[2], processes[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, &processes[0], &processes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &ranges[0], &ranges[1], NULL));
  for (int d = 0; d < 2; d++) {
    for (PetscInt k = 0; k < processes[d] && processes[d] > 1; k++) {
      PetscCheck(ranges[d][k] >= width, comm, PETSC_ERR_ARG_SIZ,
                 "A process has %" PetscInt_FMT " of the %" PetscInt_FMT " nodes along %s, order %d needs at least %" PetscInt_FMT
                 " on each of the %" PetscInt_FMT " processes; use fewer processes, -da_processors_%s, or in a multigrid fewer levels",
                 ranges[d][k], nodes[d], d ? "y" : "x", order, width, processes[d], d ? "y" : "x");
    }
  }
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, nodes[0], nodes[1], processes[0], processes[1], 1, width, ranges[0],
                         ranges[1], grid));
  PetscCall(DMSetUp(*grid));

  PetscCall(PetscMemzero(g, sizeof(*g)));
  g->order = order;
  g->reach = (int)width;
  for (int d = 0; d < 2; d++) {
    g->n[d] = nodes[d] - 1;
    g->h[d] = (PetscReal)2.0 / (nodes[d] - 1);
  }
  PetscCall(DMDAGetCorners(*grid, &g->own.start[0], &g->own.start[1], NULL, &g->own.count[0], &g->own.count[1], NULL));
  PetscCall(DMDAGetGhostCorners(*grid, &g->ghosted.start[0], &g->ghosted.start[1], NULL, &g->ghosted.count[0], &g->ghosted.count[1], NULL));
  g->pitch            = g->own.count[0];
  g->ghostpitch       = g->ghosted.count[0];
  g->coefficientpitch = g->ghosted.count[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The ghosted array of one component of a vector of the nodes, which has bs */
PetscErrorCode SBPGridScatter_Private(SBPHalo halo, const SBPGrid *g, Vec v, PetscInt bs, PetscInt component, PetscReal *ghosted)
{
  const PetscScalar *from;
  const PetscInt     nodes = g->own.count[0] * g->own.count[1];
  const PetscBool    alone = (PetscBool)(g->own.count[0] == g->ghosted.count[0] && g->own.count[1] == g->ghosted.count[1]);
  PetscReal         *owned = ghosted;

  PetscFunctionBegin;
  if (!alone) PetscCall(PetscMalloc1(nodes, &owned));
  PetscCall(VecGetArrayRead(v, &from));
  for (PetscInt k = 0; k < nodes; k++) owned[k] = PetscRealPart(from[k * bs + component]);
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscCall(SBPHaloBegin(halo, SBP_REAL_PRECISION, PETSC_MEMTYPE_HOST, owned, ghosted));
  PetscCall(SBPHaloEnd(halo, SBP_REAL_PRECISION, PETSC_MEMTYPE_HOST, owned, ghosted));
  if (!alone) PetscCall(PetscFree(owned));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Coordinates and coefficient of the matrix, for metrics at the owned nodes or, if ghosts, at the ghosted ones; collective */
PetscErrorCode SBPGeometryCreate_Private(Mat A, PetscBool ghosts, SBPGeometry *geometry)
{
  Mat_SBPSAT     *ctx = (Mat_SBPSAT *)A->data;
  const SBPTable *t   = SBPTableOf((int)ctx->settings.order);
  DM              da, grid;
  Vec             coordinates;
  SBPHalo         halo;
  PetscInt        bs, nodes;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(geometry, sizeof(*geometry)));
  PetscCall(MatGetDM(A, &da));
  PetscCall(SBPGridCreate_Private(da, t->order, SBPTableReach(t) + (ghosts ? PetscMax(t->half, t->norms - 1) : 0), &grid, &geometry->grid));
  PetscCall(SBPHaloCreate(PetscObjectComm((PetscObject)A), grid, LITHE_TRANSPORT_AUTO, &halo));
  nodes = geometry->grid.ghosted.count[0] * geometry->grid.ghosted.count[1];
  PetscCall(DMGetCoordinates(da, &coordinates));
  if (coordinates) {
    PetscCall(VecGetBlockSize(coordinates, &bs));
    PetscCheck(bs == 2, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
               "The DMDA has coordinates in %" PetscInt_FMT " dimensions; a matrix of type sbpsat needs x and y", bs);
    PetscCall(PetscMalloc2(nodes, &geometry->x, nodes, &geometry->y));
    PetscCall(SBPGridScatter_Private(halo, &geometry->grid, coordinates, 2, 0, geometry->x));
    PetscCall(SBPGridScatter_Private(halo, &geometry->grid, coordinates, 2, 1, geometry->y));
  }
  if (ctx->settings.mu) {
    PetscCall(PetscMalloc1(nodes, &geometry->mu));
    PetscCall(SBPGridScatter_Private(halo, &geometry->grid, ctx->settings.mu, 1, 0, geometry->mu));
  }
  PetscCall(SBPHaloDestroy(&halo));
  PetscCall(DMDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to has nothing yet */
PetscErrorCode SBPGeometryCopy_Private(const SBPGeometry *from, SBPGeometry *to)
{
  const PetscInt nodes = from->grid.ghosted.count[0] * from->grid.ghosted.count[1];

  PetscFunctionBegin;
  to->grid = from->grid;
  if (from->x) {
    PetscCall(PetscMalloc2(nodes, &to->x, nodes, &to->y));
    PetscCall(PetscArraycpy(to->x, from->x, nodes));
    PetscCall(PetscArraycpy(to->y, from->y, nodes));
  }
  if (from->mu) {
    PetscCall(PetscMalloc1(nodes, &to->mu));
    PetscCall(PetscArraycpy(to->mu, from->mu, nodes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPGeometryDestroy_Private(SBPGeometry *geometry)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(geometry->x, geometry->y));
  PetscCall(PetscFree(geometry->mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* d = H^-1 Q f/h at the nodes i0 <= i < i1 of row j, along r (direction 0) or s; f is the array of the geometry */
static void SBPGeometryDerivative(const SBPGrid *g, const SBPTable *t, int direction, const PetscReal *f, PetscInt i0, PetscInt i1, PetscInt j,
                                  PetscReal *PETSC_RESTRICT d)
{
  const PetscReal *row    = f + (PetscInt64)(j - g->ghosted.start[1]) * g->ghostpitch - g->ghosted.start[0];
  const PetscReal  factor = 1 / g->h[direction];
  PetscInt         left = i1, right = i1; /* between them no closure reaches */

  if (direction == 0) {
    left  = PetscMin(PetscMax(i0, t->norms), i1);
    right = PetscMax(PetscMin(i1, g->n[0] - t->norms + 1), left);
  } else if (j >= t->norms && j <= g->n[1] - t->norms) left = i0;
  {
    const PetscInt   stride = direction ? g->ghostpitch : 1;
    const PetscReal *at     = row + left;
    PetscReal       *to     = d + (left - i0);

    if (t->order == 2) {
      for (PetscInt k = 0; k < right - left; k++) to[k] = factor * SBPInteriorQ2_Metrics(at + k, stride);
    } else if (t->order == 4) {
      for (PetscInt k = 0; k < right - left; k++) to[k] = factor * SBPInteriorQ4_Metrics(at + k, stride);
    } else {
      for (PetscInt k = 0; k < right - left; k++) to[k] = factor * SBPInteriorQ6_Metrics(at + k, stride);
    }
  }
  for (PetscInt i = i0; i < i1; i++) {
    const PetscInt at = direction ? j : i;

    if (i >= left && i < right) continue;
    d[i - i0] = factor / (PetscReal)SBPTableNorm(t, g->n[direction], at) * SBPNodeQ_Metrics(t, g->n[direction], at, row + i, direction ? g->ghostpitch : 1);
  }
}

/*
   Coefficients and J at the nodes of a box, node (i, j) at (j - box->start[1]) pitch + i - box->start[0]; any of the four
   may be NULL
*/
PetscErrorCode SBPGeometryMetrics_Private(const SBPGeometry *geometry, const SBPBox *box, PetscInt pitch, PetscReal *rr, PetscReal *ss, PetscReal *rs,
                                          PetscReal *jacobian)
{
  const SBPGrid  *g  = &geometry->grid;
  const SBPTable *t  = SBPTableOf(g->order);
  const PetscInt  i0 = box->start[0], n = box->count[0];
  PetscReal      *xr, *yr, *xs, *ys;

  PetscFunctionBegin;
  PetscCall(PetscMalloc4(n, &xr, n, &yr, n, &xs, n, &ys));
  for (PetscInt j = box->start[1]; j < box->start[1] + box->count[1]; j++) {
    const PetscInt64 to = (PetscInt64)(j - box->start[1]) * pitch;
    const PetscReal *mu = geometry->mu ? geometry->mu + (PetscInt64)(j - g->ghosted.start[1]) * g->ghostpitch + i0 - g->ghosted.start[0] : NULL;

    if (geometry->x) {
      SBPGeometryDerivative(g, t, 0, geometry->x, i0, i0 + n, j, xr);
      SBPGeometryDerivative(g, t, 0, geometry->y, i0, i0 + n, j, yr);
      SBPGeometryDerivative(g, t, 1, geometry->x, i0, i0 + n, j, xs);
      SBPGeometryDerivative(g, t, 1, geometry->y, i0, i0 + n, j, ys);
    } else {
      for (PetscInt i = 0; i < n; i++) {
        xr[i] = ys[i] = 1;
        yr[i] = xs[i] = 0;
      }
    }
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal J = xr[i] * ys[i] - xs[i] * yr[i], scale = (mu ? mu[i] : 1) / J;

      if (rr) rr[to + i] = scale * (xs[i] * xs[i] + ys[i] * ys[i]);
      if (ss) ss[to + i] = scale * (xr[i] * xr[i] + yr[i] * yr[i]);
      if (rs) rs[to + i] = -scale * (xr[i] * xs[i] + yr[i] * ys[i]);
      if (jacobian) jacobian[to + i] = J;
    }
  }
  PetscCall(PetscFree4(xr, yr, xs, ys));
  PetscFunctionReturn(PETSC_SUCCESS);
}
