/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the files of GridMGStencilHostKernels: values, places on a grid, and the set-up, stencilproduct.c and
   stencilencode.c
*/

#include <lithe/private/gridmgstencil.h>
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

static inline double GridMGModulusOf(GridMGValue v)
{
  return GridMGModulus(GRIDMG_RE(v), GRIDMG_IM(v));
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

PETSC_INTERN PetscErrorCode GridMGWeights_Host(const GridMGStencils *);
PETSC_INTERN PetscErrorCode GridMGProduct_Host(const GridMGStencils *, void *work, GridMGStencils *coarse);
PETSC_INTERN PetscErrorCode GridMGStencilEncode_Host(const GridMGStencils *, GridMGFactor, const GridMGStencilOperator *, PetscInt *bad);
