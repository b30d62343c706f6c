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

/* Bit d of odd: the number in direction d is odd, and the point is not the last. Bit d of last: odd, and the last */
static void Parity(const GridMGPoints *g, const PetscInt at[3], int *odd, int *last)
{
  *odd = *last = 0;
  for (int d = 0; d < g->dim; d++) *(at[d] < g->n[d] - 1 ? odd : last) |= (int)(at[d] & 1) << d;
}

static inline int CountBits(int bits)
{
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

/* A point with one odd number */
static void LineWeights(const GridMGPoints *g, int odd, int last, const GridMGValue stencil[], double weight[])
{
  const int d       = odd / 2; /* bit d of odd is set */
  double    side[2] = {0, 0};

  for (int high = 0; high < 2; high++) {
    GridMGValue sum = 0;

    for (int s = 0; s < g->points; s++) {
      PetscBool off = PETSC_FALSE; /* off the line through the point */

      if (GridMGOffset(s, d) != 2 * high - 1) continue;
      sum += stencil[s];
      for (int e = 0; e < g->dim; e++) off = (PetscBool)(off || (e != d && GridMGOffset(s, e)));
      if (off) side[high] = PetscMax(side[high], GridMGModulusOf(stencil[s]));
    }
    side[high] = PetscMax(side[high], GridMGModulusOf(sum));
  }
  if (side[0] + side[1] > 0) {
    weight[last]            = side[0] / (side[0] + side[1]);
    weight[last | (1 << d)] = side[1] / (side[0] + side[1]);
  }
}

/* A point with two or three odd numbers, from the weights of its neighbours at their own coarse points */
static void AverageWeights(const GridMGPoints *g, int odd, int last, const PetscInt at[3], const GridMGValue stencil[], const double weights[], double weight[])
{
  GridMGValue along[GRIDMG_POINTS_MAX] = {0};
  double      all                      = 0;

  /* the even direction is summed */
  for (int s = 0; s < g->points; s++) {
    int to = s;

    for (int d = 0; d < g->dim; d++) {
      if (!(odd >> d & 1)) to -= GridMGThree(d) * GridMGOffset(s, d);
    }
    along[to] += stencil[s];
  }
  for (int s = 0; s < g->points; s++) {
    const double  modulus = GridMGModulusOf(along[s]);
    const double *there;
    PetscInt      to[3];
    int           own = 0, between = 0;

    if (s == g->centre || modulus == 0 || !GridMGNeighbour(g, at, s, to)) continue;
    all += modulus;
    there = weights + GridMGPointOf(g, to) * g->corners;
    /* without an offset along an odd direction, the neighbour lies between the same coarse points; with an offset
       the neighbour lies on a coarse point */
    for (int d = 0; d < g->dim; d++) {
      if (!(odd >> d & 1)) continue;
      if (GridMGOffset(s, d) == 0) between |= 1 << d;
      else if (GridMGOffset(s, d) > 0) own |= 1 << d;
    }
    for (int c = 0; c < g->corners; c++) {
      if ((c & (between | last)) == c) weight[own | c] += modulus * there[c];
    }
  }
  for (int c = 0; c < g->corners && all > 0; c++) weight[c] /= all;
}

PetscErrorCode GridMGWeights_Host(const GridMGStencils *f)
{
  const GridMGPoints *g = &f->grid;
  const GridMGValue  *a = (const GridMGValue *)f->a;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(f->weight, g->cells * g->corners));
  for (int stage = 0; stage <= g->dim; stage++) {
    for (PetscInt i = 0; i < g->cells; i++) {
      double  *weight = f->weight + i * g->corners;
      PetscInt at[3];
      int      odd, last;

      GridMGAt(g, i, at);
      Parity(g, at, &odd, &last);
      if (CountBits(odd) != stage) continue;
      if (stage == 0) weight[last] = 1;
      else if (stage == 1) LineWeights(g, odd, last, a + i * g->points, weight);
      else AverageWeights(g, odd, last, at, a + i * g->points, f->weight, weight);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
