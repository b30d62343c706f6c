/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* MPCGHostKernels: the operations of KSPMPCG on arrays of the host, with one pass each */

#include "mpcgimpl.h"
#include <lithe/private/lithecompiler.h>

#define HOST_SUMS 16 /* partial sums, so that loops need no order of additions */

static double Total(const double sum[])
{
  double all = 0;

  for (int u = 0; u < HOST_SUMS; u++) all += sum[u];
  return all;
}

static LITHE_TARGET_CLONES double Dot(PetscInt n, const float x[], const float y[])
{
  double   sum[HOST_SUMS] = {0};
  PetscInt k              = 0;

  for (; k + HOST_SUMS <= n; k += HOST_SUMS) {
    for (int u = 0; u < HOST_SUMS; u++) sum[u] += (double)x[k + u] * (double)y[k + u];
  }
  for (; k < n; k++) sum[0] += (double)x[k] * (double)y[k];
  return Total(sum);
}

static LITHE_TARGET_CLONES void Direction(PetscInt n, float beta, const float *restrict d, const float *restrict z, float *restrict p)
{
  if (d) {
    for (PetscInt k = 0; k < n; k++) p[k] = d[k] * z[k] + beta * p[k];
  } else {
    for (PetscInt k = 0; k < n; k++) p[k] = z[k] + beta * p[k];
  }
}

/* weighted: with (r, d r), the second sum. changes: p is not NULL. Both must be constants */
static LITHE_ALWAYS_INLINE void UpdateAny(const PetscBool weighted, const PetscBool changes, PetscInt n, float alpha, const float *restrict d,
                                          const float *restrict p, const float *restrict q, double *restrict y, float *restrict r, double all[2])
{
  double   sum[HOST_SUMS] = {0}, next[HOST_SUMS] = {0};
  PetscInt k = 0;

  for (; k + HOST_SUMS <= n; k += HOST_SUMS) {
    for (int u = 0; u < HOST_SUMS && changes; u++) y[k + u] += (double)alpha * (double)p[k + u];
    for (int u = 0; u < HOST_SUMS && changes; u++) r[k + u] -= alpha * q[k + u];
    for (int u = 0; u < HOST_SUMS; u++) sum[u] += (double)r[k + u] * (double)r[k + u];
    for (int u = 0; u < HOST_SUMS && weighted; u++) next[u] += (double)r[k + u] * (double)(d[k + u] * r[k + u]);
  }
  for (; k < n; k++) {
    if (changes) y[k] += (double)alpha * (double)p[k];
    if (changes) r[k] -= alpha * q[k];
    sum[0] += (double)r[k] * (double)r[k];
    if (weighted) next[0] += (double)r[k] * (double)(d[k] * r[k]);
  }
  all[0] = Total(sum);
  all[1] = Total(next);
}

static LITHE_TARGET_CLONES void Update(PetscInt n, float alpha, const float *d, const float *p, const float *q, double *y, float *r, double all[2])
{
  if (p && d) UpdateAny(PETSC_TRUE, PETSC_TRUE, n, alpha, d, p, q, y, r, all);
  else if (p) UpdateAny(PETSC_FALSE, PETSC_TRUE, n, alpha, NULL, p, q, y, r, all);
  else if (d) UpdateAny(PETSC_TRUE, PETSC_FALSE, n, alpha, d, NULL, NULL, NULL, r, all);
  else UpdateAny(PETSC_FALSE, PETSC_FALSE, n, alpha, NULL, NULL, NULL, NULL, r, all);
}

static PetscErrorCode DotHost(MPCGSum which, PetscInt n, const float x[], const float y[], PetscBool alone, MPCGScalars *s)
{
  PetscFunctionBegin;
  s->mine = Dot(n, x, y);
  if (alone) MPCGFinish(which, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DirectionHost(PetscInt n, const float d[], const float z[], float p[], const MPCGScalars *s)
{
  PetscFunctionBegin;
  Direction(n, (float)s->beta, d, z, p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateHost(PetscInt n, const float d[], const float p[], const float q[], double y[], float r[], PetscBool alone, MPCGScalars *s)
{
  double sum[2];

  PetscFunctionBegin;
  Update(n, (float)s->alpha, d, p, q, y, r, sum);
  s->mine = sum[0];
  s->next = sum[1];
  if (alone) MPCGFinish(MPCG_RR, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TakeHost(const float d[], MPCGScalars *s)
{
  PetscFunctionBegin;
  MPCGFinish(MPCG_RZ, d ? s->next : s->rr, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FinishHost(MPCGSum which, MPCGScalars *s)
{
  PetscFunctionBegin;
  MPCGFinish(which, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PartHost(PetscInt n, double y[], float x[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    x[k] = (float)y[k];
    y[k] -= (double)x[k];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EnterHost(PetscInt n, double factor, const PetscReal r[], float b[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) b[k] = (float)((double)r[k] * factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LeaveHost(PetscInt n, double factor, const float y[], PetscReal x[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) x[k] = (PetscReal)((double)y[k] * factor);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const MPCGKernels MPCGHostKernels = {.dot       = DotHost,
                                     .direction = DirectionHost,
                                     .update    = UpdateHost,
                                     .take      = TakeHost,
                                     .finish    = FinishHost,
                                     .part      = PartHost,
                                     .enter     = EnterHost,
                                     .leave     = LeaveHost,
                                     .bytes     = sizeof(MPCGScalars)};
