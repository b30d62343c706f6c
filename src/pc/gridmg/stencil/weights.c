/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrix-dependent interpolation on host memory. Points with even numbers in all directions belong to the coarse grid,
   and last points as well. Every other point interpolates from the 2, 4 or 8 coarse points around it.

   A point with one odd number has a coarse point on either side. The weights are d_w/(d_w + d_e) and d_e/(d_w + d_e).
   On each side, d is the modulus of the sum of the entries on this side, or the largest modulus of an entry off the
   line if that is larger.

   A point with two or three odd numbers has the average of its neighbours in the plane, or in space, of the odd
   directions. The weights of these neighbours are already known. The average is weighted by the moduli of entries,
   summed along the even direction.

   Weights are real and not negative, and sum up to one. The last point belongs to the coarse grid even if its number is
   odd.

   Reference: P. M. de Zeeuw: matrix-dependent prolongations and restrictions in a blackbox multigrid solver, J. Comput.
   Appl. Math. 33 (1990)
*/

#include "gridmgstencilhost.h"

#define GRIDMG_SIDE_MAX 9 /* neighbours on one side of a point */

/*
   The neighbours of a point, as seen from a point with bit d set if the number in direction d is odd and not the last
*/
typedef struct {
  int to[GRIDMG_POINTS_MAX];              /* the same neighbour, but without offsets along even directions */
  int n, s[GRIDMG_POINTS_MAX];            /* the neighbours without such offsets */
  int own[GRIDMG_POINTS_MAX];             /* bit d of a coarse point of this point from an offset along an odd direction */
  int between[GRIDMG_POINTS_MAX];         /* bit d: an odd direction without offset: both lie between the same coarse points */
  int nside[2], side[2][GRIDMG_SIDE_MAX]; /* one odd number: the neighbours on either side */
} Around;

static void SetAround(const GridMGPoints *g, int odd, Around *around)
{
  around->n = around->nside[0] = around->nside[1] = 0;
  for (int s = 0; s < g->points; s++) {
    int to = s, own = 0, between = 0;

    for (int d = 0; d < g->dim; d++) {
      const int offset = GridMGOffset(s, d);

      if (!(odd >> d & 1)) to -= GridMGThree(d) * offset;
      else if (offset == 0) between |= 1 << d;
      else if (offset > 0) own |= 1 << d;
    }
    around->to[s] = to;
    if (odd && !(odd & (odd - 1)) && !between) around->side[own != 0][around->nside[own != 0]++] = s;
    if (to != s || s == g->centre) continue;
    around->own[around->n]     = own;
    around->between[around->n] = between;
    around->s[around->n++]     = s;
  }
}

/* Bits of the number at in direction d: odd and not the last; odd and the last */
static inline int Odd(const GridMGPoints *g, int d, PetscInt at)
{
  return at < g->n[d] - 1 ? (int)(at & 1) << d : 0;
}

static inline int Last(const GridMGPoints *g, int d, PetscInt at)
{
  return d < g->dim && at == g->n[d] - 1 ? (int)(at & 1) << d : 0;
}

static inline int CountBits(int bits)
{
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

/* A point with one odd number; odd has a single bit */
static void LineWeights(const Around *around, const GridMGNeighbours *near, int odd, int last, const GridMGValue stencil[], double weight[])
{
  double side[2] = {0, 0};

  for (int high = 0; high < 2; high++) {
    GridMGValue sum = 0;

    for (int k = 0; k < around->nside[high]; k++) {
      const int s = around->side[high][k];

      sum += stencil[s];
      if (near->bits[s] != odd) side[high] = PetscMax(side[high], GridMGModulusOf(stencil[s])); /* off the line through the point */
    }
    side[high] = PetscMax(side[high], GridMGModulusOf(sum));
  }
  if (side[0] + side[1] > 0) {
    weight[last]       = side[0] / (side[0] + side[1]);
    weight[last | odd] = side[1] / (side[0] + side[1]);
  }
}

/* A point with two or three odd numbers, from the weights of its neighbours at their own coarse points. inner: all
   neighbours exist */
static void AverageWeights(const GridMGPoints *g, const Around *around, const GridMGNeighbours *near, int last, PetscBool inner, const PetscInt at[3],
                           const GridMGValue stencil[], double weight[])
{
  GridMGValue along[GRIDMG_POINTS_MAX] = {0};
  double      all                      = 0;

  /* the even direction is summed */
  for (int s = 0; s < g->points; s++) along[around->to[s]] += stencil[s];
  for (int k = 0; k < around->n; k++) {
    const int     s = around->s[k], mine = around->between[k] | last, own = around->own[k];
    const double  modulus = GridMGModulusOf(along[s]);
    const double *there   = weight + near->away[s] * g->corners;
    PetscInt      to[3];

    if (modulus == 0 || (!inner && !GridMGNeighbour(g, at, s, to))) continue;
    all += modulus;
    /* without an offset along an odd direction, the neighbour lies between the same coarse points; with an offset
       the neighbour lies on a coarse point */
    for (int c = 0; c < g->corners; c++) {
      if ((c & mine) == c) weight[own | c] += modulus * there[c];
    }
  }
  for (int c = 0; c < g->corners && all > 0; c++) weight[c] /= all;
}

/* The points of a stage, which have so many odd numbers */
static void StageWeights(const GridMGStencils *f, int stage, const Around around[], const GridMGNeighbours *near)
{
  const GridMGPoints *g = &f->grid;

  for (PetscInt k = 0, i = 0; k < g->n[2]; k++) {
    for (PetscInt j = 0; j < g->n[1]; j++) {
      const int       odds = Odd(g, 1, j) | Odd(g, 2, k), lasts = Last(g, 1, j) | Last(g, 2, k);
      const PetscBool inner = GridMGIsInner(g, j, k);

      for (PetscInt x = 0; x < g->n[0]; x++, i++) {
        const int          odd = odds | Odd(g, 0, x), last = lasts | Last(g, 0, x);
        const GridMGValue *stencil = (const GridMGValue *)f->a + i * g->points;
        const PetscInt     at[3]   = {x, j, k};
        double            *weight  = f->weight + i * g->corners;

        if (CountBits(odd) != stage) continue;
        if (stage == 0) weight[last] = 1;
        else if (stage == 1) LineWeights(&around[odd], near, odd, last, stencil, weight);
        else AverageWeights(g, &around[odd], near, last, (PetscBool)(inner && x > 0 && x < g->n[0] - 1), at, stencil, weight);
      }
    }
  }
}

PetscErrorCode GridMGWeights_Host(const GridMGStencils *f)
{
  const GridMGPoints *g = &f->grid;
  GridMGNeighbours    near;
  Around              around[GRIDMG_CORNERS_MAX];

  PetscFunctionBegin;
  GridMGSetNeighbours(g, &near);
  for (int odd = 0; odd < g->corners; odd++) SetAround(g, odd, &around[odd]);
  PetscCall(PetscArrayzero(f->weight, g->cells * g->corners));
  for (int stage = 0; stage <= g->dim; stage++) StageWeights(f, stage, around, &near);
  PetscFunctionReturn(PETSC_SUCCESS);
}
