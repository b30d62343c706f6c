/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The Galerkin product of stencils on host memory, in two stages: T = A P row by row, three planes at a time, then P^T
   T, gathered by coarse points. Sums have a fixed order, the order of the fine points.

   If the weights of all neighbours sum up to one, the row sums of T are sigma, without cancellation. A point without
   coarse neighbours has no weights.

   Which entries of a row and which weights contribute to an entry of T depends only on which numbers of the point are
   odd. Tables have these terms for points with all neighbours.
*/

#include "gridmgstencilhost.h"

#define GRIDMG_COMPLETE 1e-12 /* rounding tolerance of a sum of weights that is one */
#define GRIDMG_TERMS    125   /* the most terms of a row of T: 5 per direction of an even number, 4 of an odd number */

/* The terms of a row of T, for the points with bit d set if the number in direction d is odd */
typedef struct {
  int      n, t[GRIDMG_POINTS_MAX], end[GRIDMG_POINTS_MAX]; /* entries of T; where the terms of an entry end */
  int      s[GRIDMG_TERMS];                                 /* the entry of the row */
  PetscInt w[GRIDMG_TERMS];                                 /* how far the weight is from the weights of the point */
} Terms;

typedef struct {
  GridMGNeighbours near;
  Terms            row[GRIDMG_CORNERS_MAX];
} Tables;

static void SetTerms(const GridMGPoints *g, const GridMGNeighbours *near, int odd, Terms *terms)
{
  int n = 0;

  terms->n = 0;
  for (int t = 0; t < g->points; t++) {
    const int begin = n;

    for (int s = 0; s < g->points; s++) {
      int c = 0;

      /* a neighbour with an even number has the coarse point at half the number, with an odd number two of them */
      for (int d = 0; d < g->dim && c >= 0; d++) {
        const int o = odd >> d & 1, to = o + GridMGOffset(s, d), half = to < 0 ? -1 : to / 2, high = GridMGOffset(t, d) - half;

        if (high < 0 || high > (to & 1)) c = -1;
        else c |= high << d;
      }
      if (c < 0) continue;
      terms->s[n]   = s;
      terms->w[n++] = near->away[s] * g->corners + c;
    }
    if (n == begin) continue;
    terms->t[terms->n]     = t;
    terms->end[terms->n++] = n;
  }
}

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

/* The same for a point with all neighbours, whose weights sum up to one */
static inline void TimesPInner(const GridMGStencils *f, const Terms *terms, PetscInt i, GridMGValue product[])
{
  const GridMGPoints *g       = &f->grid;
  const GridMGValue  *stencil = (const GridMGValue *)f->a + i * g->points;
  const double       *weight  = f->weight + i * g->corners;

  for (int t = 0; t < g->points; t++) product[t] = 0;
  product[g->points] = ((const GridMGValue *)f->sigma)[i];
  for (int k = 0, e = 0; k < terms->n; k++) {
    GridMGValue sum = 0;

    for (; e < terms->end[k]; e++) sum += stencil[terms->s[e]] * weight[terms->w[e]];
    product[terms->t[k]] = sum;
  }
}

/* Whether the weights of all points of a plane sum up to one */
static PetscBool IsComplete(const GridMGStencils *f, PetscInt k)
{
  const GridMGPoints *g    = &f->grid;
  const PetscInt      size = g->n[0] * g->n[1];
  const double       *w    = f->weight + k * size * g->corners;

  for (PetscInt l = 0; l < size; l++, w += g->corners) {
    double lack = -1;

    for (int c = 0; c < g->corners; c++) lack += w[c];
    if (fabs(lack) > GRIDMG_COMPLETE) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* complete: whether the weights of this plane and of the planes beside it sum up to one */
static void TimesPPlane(const GridMGStencils *f, const Tables *tables, PetscInt k, PetscBool complete, GridMGValue planes[])
{
  const GridMGPoints *g       = &f->grid;
  const PetscInt      size    = g->n[0] * g->n[1];
  GridMGValue        *product = planes + k % 3 * size * (g->points + 1);

  for (PetscInt j = 0, i = k * size; j < g->n[1]; j++) {
    const PetscBool inner = (PetscBool)(complete && GridMGIsInner(g, j, k));

    for (PetscInt x = 0; x < g->n[0]; x++, i++, product += g->points + 1) {
      const PetscInt at[3] = {x, j, k};

      if (inner && x > 0 && x < g->n[0] - 1) TimesPInner(f, &tables->row[(x & 1) | (j & 1) << 1 | (k & 1) << 2], i, product);
      else TimesP(f, i, at, product);
    }
  }
}

/*
   P^T T in the row of a coarse point: a sum over the fine points around twice its number. A point with an odd number
   has entries of T only at the two coarse points beside it
*/
static void Gather(const GridMGStencils *f, const Tables *tables, const GridMGValue planes[], const PetscInt to[3], GridMGValue sum[], GridMGValue *sigma)
{
  const GridMGPoints *g = &f->grid;

  for (int s = 0; s < g->points; s++) {
    const GridMGValue *product;
    const Terms       *terms;
    PetscInt           at[3] = {2 * to[0], 2 * to[1], 2 * to[2]}, fine[3];
    int                c     = 0, shift;
    double             weight;

    if (!GridMGNeighbour(g, at, s, fine)) continue;
    for (int d = 0; d < 3; d++) c |= (fine[d] / 2 < to[d]) << d;
    weight = f->weight[GridMGPointOf(g, fine) * g->corners + c];
    if (weight == 0) continue;
    shift   = (c & 1) + 3 * (c >> 1 & 1) + 9 * (c >> 2);
    product = planes + (fine[2] % 3 * g->n[0] * g->n[1] + fine[0] + g->n[0] * fine[1]) * (g->points + 1);
    terms   = &tables->row[tables->near.bits[s]];
    *sigma += weight * product[g->points];
    for (int k = 0; k < terms->n; k++) sum[terms->t[k] - shift] += weight * product[terms->t[k]];
  }
}

PetscErrorCode GridMGProduct_Host(const GridMGStencils *f, void *work, const GridMGStencils *coarse)
{
  const GridMGPoints *g = &f->grid, *c = &coarse->grid;
  GridMGValue        *a = (GridMGValue *)coarse->a, *sigma = (GridMGValue *)coarse->sigma;
  PetscInt            done        = 0;
  PetscBool           complete[3] = {PETSC_TRUE, PETSC_TRUE, IsComplete(f, 0)}; /* of three planes */
  Tables             *tables;

  PetscFunctionBegin;
  PetscCall(PetscNew(&tables));
  GridMGSetNeighbours(g, &tables->near);
  for (int odd = 0; odd < g->corners; odd++) SetTerms(g, &tables->near, odd, &tables->row[odd]);
  for (PetscInt i = 0; i < c->cells; i++) {
    PetscInt to[3];

    GridMGAt(c, i, to);
    for (; done < g->n[2] && done <= 2 * to[2] + 1; done++) {
      complete[0] = complete[1];
      complete[1] = complete[2];
      complete[2] = (PetscBool)(done == g->n[2] - 1 || IsComplete(f, done + 1));
      TimesPPlane(f, tables, done, (PetscBool)(complete[0] && complete[1] && complete[2]), (GridMGValue *)work);
    }
    Gather(f, tables, (const GridMGValue *)work, to, a + i * c->points, sigma + i);
  }
  PetscCall(PetscFree(tables));
  PetscFunctionReturn(PETSC_SUCCESS);
}
