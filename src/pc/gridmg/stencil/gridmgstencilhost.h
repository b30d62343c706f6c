/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the files of GridMGStencilHostKernels: values, places on a grid, and the set-up, product.c and
   encode.c
*/

#include <lithe/private/gridmg/stencil.h>
#include <lithe/private/lithecompiler.h>
#include <math.h>

#if PetscDefined(USE_COMPLEX)
  #include <complex.h>
typedef double _Complex GridMGValue;
typedef float _Complex GridMGSingleValue;
  #define GRIDMG_RE(v)   creal(v)
  #define GRIDMG_IM(v)   cimag(v)
  #define GRIDMG_CONJ(v) conj(v)
#else
typedef double GridMGValue;
typedef float  GridMGSingleValue;
  #define GRIDMG_RE(v)   (v)
  #define GRIDMG_IM(v)   ((void)(v), 0.)
  #define GRIDMG_CONJ(v) (v)
#endif

/* GridMGModulus(), in fewer operations for most numbers */
static inline double GridMGModulusOf(GridMGValue v)
{
  const double re = GRIDMG_RE(v), im = GRIDMG_IM(v), most = PetscMax(fabs(re), fabs(im));

  if (most > 0x1p+500 || most < 0x1p-400) return GridMGModulus(re, im);
  return im == 0 ? fabs(re) : sqrt(re * re + im * im);
}

/* c / v */
static inline GridMGValue GridMGQuotient(double c, GridMGValue v)
{
  double quotient[2];

  GridMGDivide(c, GRIDMG_RE(v), GRIDMG_IM(v), quotient);
#if PetscDefined(USE_COMPLEX)
  return quotient[0] + quotient[1] * I;
#else
  return quotient[0];
#endif
}

/* Where a point is */
static inline void GridMGAt(const GridMGPoints *g, PetscInt i, PetscInt at[3])
{
  at[0] = i % g->n[0];
  at[1] = i / g->n[0] % g->n[1];
  at[2] = i / g->n[0] / g->n[1];
}

static inline PetscInt GridMGPointOf(const GridMGPoints *g, const PetscInt at[3])
{
  return at[0] + g->n[0] * (at[1] + g->n[1] * at[2]);
}

/* Neighbour s of the point at[]; false if outside the grid */
static inline PetscBool GridMGNeighbour(const GridMGPoints *g, const PetscInt at[3], int s, PetscInt to[3])
{
  for (int d = 0; d < 3; d++) {
    to[d] = d < g->dim ? at[d] + GridMGOffset(s, d) : 0;
    if (to[d] < 0 || to[d] >= g->n[d]) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/*
   The neighbours of a point: how far each is in the order of points, and bit d if the neighbour is elsewhere in
   direction d
*/
typedef struct {
  PetscInt away[GRIDMG_POINTS_MAX];
  int      bits[GRIDMG_POINTS_MAX];
} GridMGNeighbours;

static inline void GridMGSetNeighbours(const GridMGPoints *g, GridMGNeighbours *to)
{
  for (int s = 0; s < g->points; s++) {
    to->away[s] = 0;
    to->bits[s] = 0;
    for (int d = g->dim - 1; d >= 0; d--) {
      to->away[s] = to->away[s] * g->n[d] + GridMGOffset(s, d);
      to->bits[s] |= (GridMGOffset(s, d) != 0) << d;
    }
  }
}

/* Whether all neighbours of the points of a line are on the grid, but for the ends of the line */
static inline PetscBool GridMGIsInner(const GridMGPoints *g, PetscInt j, PetscInt k)
{
  return (PetscBool)((g->dim < 2 || (j > 0 && j < g->n[1] - 1)) && (g->dim < 3 || (k > 0 && k < g->n[2] - 1)));
}

PETSC_INTERN PetscErrorCode GridMGWeights_Host(const GridMGStencils *);
PETSC_INTERN PetscErrorCode GridMGProduct_Host(const GridMGStencils *, void *work, const GridMGStencils *coarse);
PETSC_INTERN PetscErrorCode GridMGStencilEncode_Host(const GridMGStencils *, GridMGFactor, const GridMGStencilOperator *, PetscInt *bad);
