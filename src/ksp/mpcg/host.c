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

static LITHE_TARGET_CLONES void Direction(PetscInt n, float beta, const float *restrict z, float *restrict p)
{
  for (PetscInt k = 0; k < n; k++) p[k] = z[k] + beta * p[k];
}

static LITHE_TARGET_CLONES double Update(PetscInt n, float alpha, const float *restrict p, const float *restrict q, float *restrict y, float *restrict r)
{
  double   sum[HOST_SUMS] = {0};
  PetscInt k              = 0;

  for (; k + HOST_SUMS <= n; k += HOST_SUMS) {
    for (int u = 0; u < HOST_SUMS; u++) y[k + u] += alpha * p[k + u];
    for (int u = 0; u < HOST_SUMS; u++) r[k + u] -= alpha * q[k + u];
    for (int u = 0; u < HOST_SUMS; u++) sum[u] += (double)r[k + u] * (double)r[k + u];
  }
  for (; k < n; k++) {
    y[k] += alpha * p[k];
    r[k] -= alpha * q[k];
    sum[0] += (double)r[k] * (double)r[k];
  }
  return Total(sum);
}

static PetscErrorCode DotHost(MPCGSum which, PetscInt n, const float x[], const float y[], PetscBool alone, MPCGScalars *s)
{
  PetscFunctionBegin;
  s->mine = Dot(n, x, y);
  if (alone) MPCGFinish(which, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DirectionHost(PetscInt n, const float z[], float p[], const MPCGScalars *s)
{
  PetscFunctionBegin;
  Direction(n, (float)s->beta, z, p);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateHost(PetscInt n, const float p[], const float q[], float y[], float r[], PetscBool alone, MPCGScalars *s)
{
  PetscFunctionBegin;
  s->mine = Update(n, (float)s->alpha, p, q, y, r);
  if (alone) MPCGFinish(MPCG_RR, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FinishHost(MPCGSum which, MPCGScalars *s)
{
  PetscFunctionBegin;
  MPCGFinish(which, s->mine, s);
  PetscFunctionReturn(PETSC_SUCCESS);
}

const MPCGKernels MPCGHostKernels = {.dot = DotHost, .direction = DirectionHost, .update = UpdateHost, .finish = FinishHost, .bytes = sizeof(MPCGScalars)};
