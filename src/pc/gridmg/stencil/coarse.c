/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The coarsest level of a PCGRIDMG with de Zeeuw's interpolation: the inverse of the exact matrix, S (S A S)^-1 S with
   powers of two in S. Without row sums the kernel contains the constants e. The inverse is then the inverse of A + s e
   e^T, which gives the same solution for right-hand sides of sum 0.
*/

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include "../base/base.h"
#include <petscblaslapack.h>

#define GRIDMG_SHIFT 16 /* roundings */

#define AT(M, i, j) (M)[(size_t)(i) + (size_t)(j) * (size_t)n]

static inline PetscScalar ValueOf(const void *array, PetscInt i)
{
  const double *v = (const double *)array + i * GRIDMG_PARTS;

#if PetscDefined(USE_COMPLEX)
  return PetscCMPLX((PetscReal)v[0], (PetscReal)v[1]);
#else
  return (PetscScalar)v[0];
#endif
}

/* The matrix, by columns, and the constant added to all entries */
static void GetMatrix(const GridMGStencils *f, PetscScalar *M, PetscReal *add)
{
  const GridMGPoints *g    = &f->grid;
  const PetscInt      n    = g->cells;
  PetscReal           sums = 0, diagonals = 0;

  for (PetscInt i = 0; i < n; i++) {
    PetscBool empty = PETSC_TRUE;

    sums += PetscAbsScalar(ValueOf(f->sigma, i));
    diagonals += PetscAbsScalar(ValueOf(f->a, i * g->points + g->centre));
    for (int s = 0; s < g->points; s++) {
      const PetscScalar v = ValueOf(f->a, i * g->points + s);
      PetscInt          j = i;

      if (v == (PetscScalar)0.) continue; /* or no such neighbour */
      for (int d = 0; d < g->dim; d++) j += GridMGOffset(s, d) * (d == 0 ? 1 : (d == 1 ? g->n[0] : g->n[0] * g->n[1]));
      AT(M, i, j) += v;
      empty = PETSC_FALSE;
    }
    if (empty) AT(M, i, i) = 1; /* an inactive point */
  }
  *add = sums == 0 && n > 1 ? diagonals / (PetscReal)n / (PetscReal)n : 0;
  for (PetscInt k = 0; k<n * n && * add> 0; k++) M[k] += *add;
}

/* S A S, whose rows have entries near 1 then, with something added to the diagonal */
static void Scale(PetscInt n, PetscReal shift, PetscScalar *M, PetscScalar *S)
{
  for (PetscInt i = 0; i < n; i++) {
    PetscReal most = 0;
    int       exponent;

    for (PetscInt j = 0; j < n; j++) most = PetscMax(most, PetscAbsScalar(AT(M, i, j)));
    (void)frexp((double)most, &exponent);
    S[i] = (PetscReal)ldexp(1., most > 0 ? -(exponent / 2) : 0);
  }
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < n; i++) AT(M, i, j) *= S[i] * S[j];
    AT(M, j, j) += shift;
  }
}

/* Inverts in place. info as LAPACK returns it, or -1: the inverse consists of rounding errors */
static PetscErrorCode Invert_Private(PetscInt n, PetscScalar *M, PetscBLASInt *info)
{
  PetscBLASInt bn, *pivots, lwork;
  PetscScalar *work;
  PetscReal    most = 0;

  PetscFunctionBegin;
  PetscCall(PetscBLASIntCast(n, &bn));
  lwork = 16 * bn;
  PetscCall(PetscMalloc2(n, &pivots, lwork, &work));
  PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&bn, &bn, M, &bn, pivots, info));
  if (!*info) PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&bn, M, &bn, pivots, work, &lwork, info));
  PetscCall(PetscFree2(pivots, work));
  if (*info) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < n * n; k++) most = PetscMax(most, PetscAbsScalar(M[k]));
  if (!(most < (PetscReal)0.01 / PETSC_MACHINE_EPSILON)) *info = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGCoarseStencils_Private(PC pc)
{
  PC_GridMG     *mg    = (PC_GridMG *)pc->data;
  const PetscInt n     = mg->stencils.stencil[mg->state.n - 1].full.f.grid.cells;
  PetscReal      shift = 0, add;
  GridMGBlock    copy  = {NULL, 0, NULL};
  GridMGStencils f;
  PetscScalar   *M, *S;
  PetscBLASInt   info = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &S));
  PetscCall(PCGridMGGetStencils_Private(mg, &mg->stencils.stencil[mg->state.n - 1].full.f, &copy, &f));
  do {
    PetscCall(PCGridMGGetDense_Private(mg, (size_t)n * (size_t)n * sizeof(*M), (void **)&M));
    GetMatrix(&f, M, &add);
    Scale(n, shift, M, S);
    PetscCall(Invert_Private(n, M, &info));
    shift = shift > 0 ? 100 * shift : GRIDMG_SHIFT * PETSC_MACHINE_EPSILON;
  } while (info && shift < (PetscReal)0.01);
  PCGridMGCoarsestSingular_Private(mg, add > 0);
  if (info) PetscCall(PCGridMGFail_Private(pc, "the coarsest level, with %" PetscInt_FMT " unknowns, is singular (LAPACK: %d)", n, (int)info));
  else {
    PetscCall(PCGridMGCoarsestPut_Private(mg, n, GRIDMG_PARTS, M, S));
  }
  PetscCall(PetscFree(copy.memory));
  PetscCall(PetscFree(S));
  PetscFunctionReturn(PETSC_SUCCESS);
}
