/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The largest eigenvalue of a matrix that is symmetric and scaled to eigenvalues of at most 1, by a few steps of
   Lanczos' method. The estimate is from below; a factor makes up for that
*/

#include "camgimpl.h"

/* The real part of x^H y, over all processes */
static PetscErrorCode Dot_Private(PetscInt n, const CAMGShare *share, const PetscScalar x[], const PetscScalar y[], double *dot)
{
  double sum[4] = {0, 0, 0, 0};

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) sum[k & 3] += (double)PetscRealPart(PetscConj(x[k]) * y[k]);
  *dot = sum[0] + sum[1] + sum[2] + sum[3];
  if (share->ctx) PetscCall((*share->sum)(share->ctx, dot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the tridiagonal matrix has an eigenvalue above t: signs of the pivots of T - t */
static PetscBool HasAbove(int n, const double d[], const double e[], double t)
{
  double pivot = d[0] - t;

  for (int k = 0; k < n; k++) {
    if (pivot > 0) return PETSC_TRUE;
    if (k + 1 < n) pivot = d[k + 1] - t - e[k] * e[k] / (pivot == 0 ? -1e-300 : pivot);
  }
  return PETSC_FALSE;
}

/* The largest eigenvalue up to most, by bisection */
static double Largest(int n, const double d[], const double e[], double most)
{
  double low = 0, high = most;

  if (HasAbove(n, d, e, most)) return most;
  while (high - low > 1e-6 * most) {
    const double middle = .5 * (low + high);

    if (HasAbove(n, d, e, middle)) low = middle;
    else high = middle;
  }
  return high;
}

/* A matrix with n rows on this process, apply(ctx, x, y): y = A x. bound: at most 1 */
PetscErrorCode PCCAMGBound_Private(PetscInt n, const CAMGShare *share, PetscErrorCode (*apply)(void *, const PetscScalar[], PetscScalar[]), void *ctx,
                                   double *bound)
{
  PetscScalar *v, *w, *old;
  double       d[CAMG_LANCZOS], e[CAMG_LANCZOS], beta, dot;
  int          steps = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &v));
  PetscCall(PetscMalloc1(n, &w));
  PetscCall(PetscCalloc1(n, &old));
  for (PetscInt k = 0; k < n; k++) {
    uint32_t h = (uint32_t)k * 2654435761U;

    h ^= h >> 15;
    v[k] = (PetscReal)(h * 0x1p-32 - .5);
  }
  PetscCall(Dot_Private(n, share, v, v, &beta));
  beta = sqrt(beta);
  for (; steps < CAMG_LANCZOS && beta > 1e-12; steps++) {
    const PetscReal inverse = (PetscReal)(1 / beta), last = steps ? (PetscReal)beta : 0;
    PetscScalar    *t = old;
    PetscReal       alpha;

    for (PetscInt k = 0; k < n; k++) v[k] *= inverse;
    PetscCall((*apply)(ctx, v, w));
    PetscCall(Dot_Private(n, share, w, v, &dot));
    alpha = (PetscReal)dot;
    for (PetscInt k = 0; k < n; k++) w[k] -= alpha * v[k] + last * old[k];
    PetscCall(Dot_Private(n, share, w, w, &beta));
    beta     = sqrt(beta);
    d[steps] = (double)alpha;
    e[steps] = beta;
    old      = v;
    v        = w;
    w        = t;
  }
  *bound = steps ? PetscMax(PetscMin(CAMG_ABOVE * Largest(steps, d, e, 1), 1.), CAMG_LEAST) : 1;
  PetscCall(PetscFree(v));
  PetscCall(PetscFree(w));
  PetscCall(PetscFree(old));
  PetscFunctionReturn(PETSC_SUCCESS);
}
