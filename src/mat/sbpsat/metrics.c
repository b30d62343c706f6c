/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Data of a MATSBPSAT on the host: coefficients from coordinates, their check, weights of the norm, copies of parts of
   arrays. The functions take plain data, no objects
*/

#include "sbpmetrics.h"

#define SBP_VALUE   PetscReal
#define SBP_REAL    PetscReal
#define SBP_NAME(f) f##_Metrics
#include <lithe/private/sbp/node.h>

/* d = H^-1 Q f/h at the nodes i0 <= i < i1 of row j, along r (direction 0) or s; f is the array of the geometry */
static void SBPGeometryDerivative(const SBPGrid *g, const SBPTable *t, int direction, const PetscReal *f, PetscInt i0, PetscInt i1, PetscInt j,
                                  PetscReal *PETSC_RESTRICT d)
{
  const PetscReal *row    = f + (PetscInt64)(j - g->ghosted.start[1]) * g->ghostpitch - g->ghosted.start[0];
  const PetscReal  factor = 1 / g->h[direction];
  PetscInt         left = i1, right = i1; /* no closure reaches the nodes between them */

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

PetscErrorCode SBPMetrics_Host(const SBPGeometry *geometry, const SBPBox *box, PetscInt pitch, PetscReal *rr, PetscReal *ss, PetscReal *rs, PetscReal *jacobian)
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

PetscErrorCode SBPCheck_Host(const SBPBox *box, PetscInt pitch, const PetscReal *rr, const PetscReal *ss, const PetscReal *rs, PetscInt64 *where)
{
  PetscFunctionBegin;
  *where = -1;
  for (PetscInt j = 0; j < box->count[1]; j++) {
    for (PetscInt i = 0; i < box->count[0]; i++) {
      const PetscInt64 k = (PetscInt64)j * pitch + i;

      if (SBPIsTensor(rr[k], ss[k], rs[k])) continue;
      *where = (PetscInt64)j * box->count[0] + i;
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* H x H at an owned node, counted from the first owned node */
static PetscReal SBPGridWeight(const SBPGrid *g, const SBPTable *t, PetscInt i, PetscInt j)
{
  return (PetscReal)(SBPTableNorm(t, g->n[0], g->own.start[0] + i) * SBPTableNorm(t, g->n[1], g->own.start[1] + j)) * g->h[0] * g->h[1];
}

PetscErrorCode SBPSource_Host(const SBPGrid *g, const PetscReal *jacobian, const PetscScalar *f, PetscScalar *b)
{
  const SBPTable *t = SBPTableOf(g->order);

  PetscFunctionBegin;
  for (PetscInt j = 0; j < g->own.count[1]; j++) {
    for (PetscInt i = 0; i < g->own.count[0]; i++) {
      const PetscInt64 k = (PetscInt64)j * g->own.count[0] + i;

      b[k] += SBPGridWeight(g, t, i, j) * jacobian[k] * f[k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPSquare_Host(const SBPGrid *g, const PetscScalar *e, double *sum)
{
  const SBPTable *t = SBPTableOf(g->order);

  PetscFunctionBegin;
  *sum = 0;
  for (PetscInt j = 0; j < g->own.count[1]; j++) {
    double row = 0;

    for (PetscInt i = 0; i < g->own.count[0]; i++) {
      const PetscScalar x = e[(PetscInt64)j * g->own.count[0] + i];

      row += (double)(SBPGridWeight(g, t, i, j) * PetscRealPart(x * PetscConj(x)));
    }
    *sum += row;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* to = from, or to += from, for known types */
#define SBPStridedLoop(type, totype)                                                          \
  do {                                                                                        \
    for (PetscInt j = 0; j < count[1]; j++) {                                                 \
      const type *x = (const type *)from->p + j * from->pitch;                                \
      totype     *y = (totype *)to->p + j * to->pitch;                                        \
                                                                                              \
      if (add) {                                                                              \
        for (PetscInt i = 0; i < count[0]; i++) y[i * to->step] += (totype)x[i * from->step]; \
      } else {                                                                                \
        for (PetscInt i = 0; i < count[0]; i++) y[i * to->step] = (totype)x[i * from->step];  \
      }                                                                                       \
    }                                                                                         \
  } while (0)

PetscErrorCode SBPStrided_Host(const PetscInt count[2], PetscBool add, const SBPSpaced *from, const SBPSpaced *to)
{
  PetscFunctionBegin;
  if (from->single && to->single) SBPStridedLoop(float, float);
  else if (from->single) SBPStridedLoop(float, double);
  else if (to->single) SBPStridedLoop(double, float);
  else SBPStridedLoop(double, double);
  PetscFunctionReturn(PETSC_SUCCESS);
}
