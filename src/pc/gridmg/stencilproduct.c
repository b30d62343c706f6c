/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The Galerkin product of stencils on host memory, in two stages: T = A P row by row, three planes at a time, then P^T
   T, gathered by coarse points. Sums have a fixed order, the order of the fine points.

   If the weights of all neighbours sum up to one, the row sums of T are sigma, without cancellation. A point without
   coarse neighbours has no weights.
*/

#include "gridmgstencilhost.h"

#define GRIDMG_COMPLETE 1e-12 /* rounding tolerance of a sum of weights that is one */

/* A row times P: entry t belongs to the coarse point at offset t from at/2. The row sum comes last */
static void TimesP(const GridMGStencils *f, PetscInt i, const PetscInt at[3], GridMGValue product[])
{
  const GridMGPoints *g       = &f->grid;
  const GridMGValue  *stencil = (const GridMGValue *)f->a + i * g->points;

  for (int t = 0; t < g->points; t++) product[t] = 0;
  product[g->points] = ((const GridMGValue *)f->sigma)[i];
  for (int s = 0; s < g->points; s++) {
    const double *there;
    PetscInt      to[3];
    int           t    = g->centre;
    double        lack = -1;

    if (stencil[s] == 0 || !GridMGNeighbour(g, at, s, to)) continue;
    there = f->weight + GridMGPointOf(g, to) * g->corners;
    for (int d = 0; d < g->dim; d++) t += (int)(to[d] / 2 - at[d] / 2) * GridMGThree(d);
    for (int c = 0; c < g->corners; c++) {
      lack += there[c];
      if (there[c] > 0) product[t + (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2)] += stencil[s] * there[c];
    }
    if (fabs(lack) > GRIDMG_COMPLETE) product[g->points] += stencil[s] * lack;
  }
}

static void TimesPPlane(const GridMGStencils *f, PetscInt k, GridMGValue planes[])
{
  const GridMGPoints *g    = &f->grid;
  const PetscInt      size = g->n[0] * g->n[1];

  for (PetscInt l = 0; l < size; l++) {
    const PetscInt at[3] = {l % g->n[0], l / g->n[0], k};

    TimesP(f, k * size + l, at, planes + (k % 3 * size + l) * (g->points + 1));
  }
}

/* P^T T in the row of a coarse point: a sum over the fine points around twice its number */
static void Gather(const GridMGStencils *f, const GridMGValue planes[], const PetscInt to[3], GridMGValue sum[], GridMGValue *sigma)
{
  const GridMGPoints *g = &f->grid;

  for (int s = 0; s < g->points; s++) {
    const GridMGValue *product;
    PetscInt           at[3] = {2 * to[0], 2 * to[1], 2 * to[2]}, fine[3];
    int                c     = 0, shift;
    double             weight;

    if (!GridMGNeighbour(g, at, s, fine)) continue;
    for (int d = 0; d < 3; d++) c |= (fine[d] / 2 < to[d]) << d;
    weight = f->weight[GridMGPointOf(g, fine) * g->corners + c];
    if (weight == 0) continue;
    shift   = (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2);
    product = planes + (fine[2] % 3 * g->n[0] * g->n[1] + fine[0] + g->n[0] * fine[1]) * (g->points + 1);
    *sigma += weight * product[g->points];
    for (int t = 0; t < g->points; t++) {
      if (product[t] != 0) sum[t - shift] += weight * product[t];
    }
  }
}

PetscErrorCode GridMGProduct_Host(const GridMGStencils *f, void *work, GridMGStencils *coarse)
{
  const GridMGPoints *g = &f->grid, *c = &coarse->grid;
  GridMGValue        *a = (GridMGValue *)coarse->a, *sigma = (GridMGValue *)coarse->sigma;
  PetscInt            done = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < c->cells; i++) {
    PetscInt to[3];

    GridMGAt(c, i, to);
    while (done < g->n[2] && done <= 2 * to[2] + 1) TimesPPlane(f, done++, (GridMGValue *)work);
    Gather(f, (const GridMGValue *)work, to, a + i * c->points, sigma + i);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
