/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The vector operations of a KSPBCGSM, for all active columns. Columns with a reason are not changed.

   Blocks on the host and on a CUDA device are traversed as few times as possible, because columns share no vectors, in
   contrast to matrices. Two tables have the operations for host and device. Other blocks, and the vectors of
   KSPSolve(), use the operations of their type. Sums of all columns take one reduction.
*/

#include "bcgsmimpl.h"

/* n columns, all active */
PetscErrorCode BCGSMColumnsStart_Private(KSP ksp, PetscInt n)
{
  BCGSMColumns *columns = &((KSP_BCGSM *)ksp->data)->columns;

  PetscFunctionBegin;
  if (n > columns->max) {
    PetscCall(BCGSMColumnsReset_Private(columns));
    PetscCall(PetscCalloc1(n, &columns->column));
    PetscCall(PetscMalloc1(n, &columns->task));
    PetscCall(PetscMalloc1(2 * n, &columns->sums));
    columns->max = n;
  }
  columns->n = n;
  for (PetscInt j = 0; j < n; j++) columns->column[j] = (BCGSMColumn){.number = j};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BCGSMColumnsReset_Private(BCGSMColumns *columns)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(columns->column));
  PetscCall(PetscFree(columns->task));
  PetscCall(PetscFree(columns->sums));
  columns->max = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#include <petsc/private/vecimpl.h>

static PetscErrorCode BCGSMOpen_Private(KSP_BCGSM *s, BCGSMBlock which, PetscBool write, BCGSMArray *array)
{
  PetscFunctionBegin;
  PetscCall(BCGSMArrayGet_Private(s, which == BCGSM_X ? s->blocks.X : s->blocks.view[which], write, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMClose_Private(KSP_BCGSM *s, BCGSMBlock which, PetscBool write, BCGSMArray *array)
{
  PetscFunctionBegin;
  PetscCall(BCGSMArrayRestore_Private(s, which == BCGSM_X ? s->blocks.X : s->blocks.view[which], write, array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tasks of columns without a reason; returns the local rows and the number of columns */
static PetscErrorCode BCGSMTasks_Private(KSP_BCGSM *s, PetscInt *m, PetscInt *n)
{
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(s->blocks.X, m, NULL));
  *n = 0;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    const BCGSMColumn *c = &s->columns.column[j];

    if (!c->reason) s->columns.task[(*n)++] = (BCGSMTask){j, c->number, c->alpha, c->beta, c->omega};
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc counts: an operation with a PetscScalar is one, real or complex */
static PetscErrorCode BCGSMFlops_Private(const KSP_BCGSM *s, PetscInt m, PetscInt n, PetscInt perentry)
{
  const PetscLogDouble flops = (PetscLogDouble)perentry * (PetscLogDouble)m * (PetscLogDouble)n;

  PetscFunctionBegin;
  if (s->blocks.device) PetscCall(PetscLogGpuFlops(flops));
  else PetscCall(PetscLogFlops(flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies all columns of a block to another block */
static PetscErrorCode BCGSMCopy_Private(KSP ksp, BCGSMBlock from, BCGSMBlock to)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  BCGSMArray a, b;
  PetscInt   m;

  PetscFunctionBegin;
  if (s->blocks.kernels) {
    PetscCall(MatGetLocalSize(s->blocks.X, &m, NULL));
    PetscCall(BCGSMOpen_Private(s, from, PETSC_FALSE, &a));
    PetscCall(BCGSMOpen_Private(s, to, PETSC_TRUE, &b));
    for (PetscInt j = 0; j < s->columns.n && m; j++) PetscCall((*s->blocks.kernels->copy)(m, a.a + j * a.ld, b.a + j * b.ld));
    PetscCall(BCGSMClose_Private(s, to, PETSC_TRUE, &b));
    PetscCall(BCGSMClose_Private(s, from, PETSC_FALSE, &a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt j = 0; j < s->columns.n; j++) {
    Vec x, y;

    PetscCall(BCGSMColumnGet_Private(ksp, from, j, &x));
    PetscCall(BCGSMColumnGet_Private(ksp, to, j, &y));
    PetscCall(VecCopy(x, y));
    PetscCall(BCGSMColumnRestore_Private(ksp, to, j, &y));
    PetscCall(BCGSMColumnRestore_Private(ksp, from, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shadow residual is the first residual */
PetscErrorCode BCGSMShadow_Private(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(BCGSMCopy_Private(ksp, BCGSM_R, BCGSM_SHADOW));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMDirectionVecs_Private(KSP ksp, PetscInt j)
{
  const BCGSMColumn *c = &((KSP_BCGSM *)ksp->data)->columns.column[j];
  Vec                r, v, p;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &r));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_V, j, &v));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_P, j, &p));
  PetscCall(VecAXPBYPCZ(p, 1.0, -c->omega * c->beta, c->beta, r, v));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_P, j, &p));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_V, j, &v));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p = r + beta (p - omega v); in the first iteration p = r */
PetscErrorCode BCGSMDirection_Private(KSP ksp, PetscBool first)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  BCGSMArray r, v, p;
  PetscInt   m, n;

  PetscFunctionBegin;
  if (first) {
    PetscCall(BCGSMCopy_Private(ksp, BCGSM_R, BCGSM_P));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!s->blocks.kernels) {
    for (PetscInt j = 0; j < s->columns.n; j++) PetscCall(BCGSMDirectionVecs_Private(ksp, j));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMTasks_Private(s, &m, &n));
  PetscCall(BCGSMOpen_Private(s, BCGSM_R, PETSC_FALSE, &r));
  PetscCall(BCGSMOpen_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMOpen_Private(s, BCGSM_P, PETSC_TRUE, &p));
  PetscCall((*s->blocks.kernels->direction)(m, n, s->columns.task, r, v, p));
  PetscCall(BCGSMClose_Private(s, BCGSM_P, PETSC_TRUE, &p));
  PetscCall(BCGSMClose_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMClose_Private(s, BCGSM_R, PETSC_FALSE, &r));
  PetscCall(BCGSMFlops_Private(s, m, n, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = r - alpha v, which is s */
PetscErrorCode BCGSMHalf_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  BCGSMArray r, v;
  PetscInt   m, n;

  PetscFunctionBegin;
  if (!s->blocks.kernels) {
    for (PetscInt j = 0; j < s->columns.n; j++) {
      Vec x, y;

      if (s->columns.column[j].reason) continue;
      PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_V, j, &x));
      PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &y));
      PetscCall(VecAXPY(y, -s->columns.column[j].alpha, x));
      PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &y));
      PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_V, j, &x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMTasks_Private(s, &m, &n));
  PetscCall(BCGSMOpen_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMOpen_Private(s, BCGSM_R, PETSC_TRUE, &r));
  PetscCall((*s->blocks.kernels->half)(m, n, s->columns.task, v, r));
  PetscCall(BCGSMClose_Private(s, BCGSM_R, PETSC_TRUE, &r));
  PetscCall(BCGSMClose_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMFlops_Private(s, m, n, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over all processes, from the sums of this process */
static PetscErrorCode BCGSMReduce_Private(KSP ksp, PetscInt nsums)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  if (s->blocks.X)
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, s->columns.sums, (PetscMPIInt)(nsums * s->columns.n), MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* conj(y) x of columns: for KSPSolve() on all processes, else on this process */
static PetscErrorCode BCGSMDotVecs_Private(KSP ksp, BCGSMBlock whichx, BCGSMBlock whichy, PetscInt j, PetscScalar *dot)
{
  const PetscBool local = (PetscBool)(((KSP_BCGSM *)ksp->data)->blocks.X != NULL);
  Vec             x, y;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, whichx, j, &x));
  if (whichy == whichx) y = x;
  else PetscCall(BCGSMColumnGet_Private(ksp, whichy, j, &y));
  if (local) PetscUseTypeMethod(x, dot_local, y, dot);
  else PetscCall(VecDot(x, y, dot));
  if (whichy != whichx) PetscCall(BCGSMColumnRestore_Private(ksp, whichy, j, &y));
  PetscCall(BCGSMColumnRestore_Private(ksp, whichx, j, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sums[nsums j + i] = conj(y_i) x_i of column j. The second of two sums is y_0 times itself */
PetscErrorCode BCGSMDots_Private(KSP ksp, PetscInt nsums, const BCGSMBlock x[], const BCGSMBlock y[])
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;
  BCGSMArray a, b;
  PetscInt   m, n;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(s->columns.sums, nsums * s->columns.n));
  if (!s->blocks.kernels) {
    for (PetscInt j = 0; j < s->columns.n; j++) {
      for (PetscInt i = 0; i < nsums && !s->columns.column[j].reason; i++) PetscCall(BCGSMDotVecs_Private(ksp, x[i], y[i], j, &s->columns.sums[nsums * j + i]));
    }
    PetscCall(BCGSMReduce_Private(ksp, nsums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMTasks_Private(s, &m, &n));
  PetscCall(BCGSMOpen_Private(s, x[0], PETSC_FALSE, &a));
  PetscCall(BCGSMOpen_Private(s, y[0], PETSC_FALSE, &b));
  PetscCall((*s->blocks.kernels->dots)(m, n, s->columns.task, nsums, a, b, s->columns.sums));
  PetscCall(BCGSMClose_Private(s, y[0], PETSC_FALSE, &b));
  PetscCall(BCGSMClose_Private(s, x[0], PETSC_FALSE, &a));
  PetscCall(BCGSMFlops_Private(s, m, n, 2 * nsums));
  PetscCall(BCGSMReduce_Private(ksp, nsums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norms of the residuals and, since the shadow residual is the residual, rho */
PetscErrorCode BCGSMNorms_Private(KSP ksp)
{
  KSP_BCGSM       *s   = (KSP_BCGSM *)ksp->data;
  const BCGSMBlock r[] = {BCGSM_R};

  PetscFunctionBegin;
  PetscCall(BCGSMDots_Private(ksp, 1, r, r));
  for (PetscInt j = 0; j < s->columns.n; j++) {
    s->columns.column[j].rho      = s->columns.sums[j];
    s->columns.column[j].normnext = PetscSqrtReal(PetscRealPart(s->columns.sums[j]));
    if (!s->blocks.X && ksp->normtype != KSP_NORM_NONE) PetscCall(VecNorm(ksp->work[BCGSM_R], NORM_2, &s->columns.column[j].normnext));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMUpdateVecs_Private(KSP ksp, PetscInt j)
{
  KSP_BCGSM         *s        = (KSP_BCGSM *)ksp->data;
  const PetscBool    right    = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMColumn *c        = &s->columns.column[j];
  const BCGSMBlock   which[2] = {right ? BCGSM_W1 : BCGSM_P, right ? BCGSM_W2 : BCGSM_R};
  Vec                p, q, x, t, r;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_X, j, &x));
  PetscCall(BCGSMColumnGet_Private(ksp, which[0], j, &p));
  PetscCall(BCGSMColumnGet_Private(ksp, which[1], j, &q));
  PetscCall(VecAXPBYPCZ(x, c->alpha, c->omega, 1.0, p, q));
  PetscCall(BCGSMColumnRestore_Private(ksp, which[1], j, &q));
  PetscCall(BCGSMColumnRestore_Private(ksp, which[0], j, &p));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_X, j, &x));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_T, j, &t));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &r));
  PetscCall(VecAXPY(r, -c->omega, t));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &r));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_T, j, &t));
  PetscCall(BCGSMDotVecs_Private(ksp, BCGSM_R, BCGSM_SHADOW, j, &s->columns.sums[2 * j]));
  if (s->blocks.X) PetscCall(BCGSMDotVecs_Private(ksp, BCGSM_R, BCGSM_R, j, &s->columns.sums[2 * j + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += alpha p + omega s, r = s - omega t, the norms of r and the next rho */
PetscErrorCode BCGSMUpdate_Private(KSP ksp)
{
  KSP_BCGSM       *s       = (KSP_BCGSM *)ksp->data;
  const PetscBool  right   = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMBlock which[] = {right ? BCGSM_W1 : BCGSM_P, BCGSM_W2, BCGSM_T, BCGSM_SHADOW, BCGSM_X, BCGSM_R};
  BCGSMArray       a[6];
  PetscInt         m, n;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(s->columns.sums, 2 * s->columns.n));
  if (s->blocks.kernels) {
    PetscCall(BCGSMTasks_Private(s, &m, &n));
    for (int i = 0; i < 6; i++) PetscCall(BCGSMOpen_Private(s, which[i], (PetscBool)(i >= 4), &a[i]));
    PetscCall((*s->blocks.kernels->update)(m, n, s->columns.task, a[0], right ? a[1] : a[5], a[2], a[3], a[4], a[5], s->columns.sums));
    for (int i = 5; i >= 0; i--) PetscCall(BCGSMClose_Private(s, which[i], (PetscBool)(i >= 4), &a[i]));
    PetscCall(BCGSMFlops_Private(s, m, n, 10));
  } else {
    for (PetscInt j = 0; j < s->columns.n; j++) {
      if (!s->columns.column[j].reason) PetscCall(BCGSMUpdateVecs_Private(ksp, j));
    }
  }
  PetscCall(BCGSMReduce_Private(ksp, 2));
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (c->reason) continue;
    c->rhonext  = s->columns.sums[2 * j];
    c->normnext = PetscSqrtReal(PetscRealPart(s->columns.sums[2 * j + 1]));
    if (!s->blocks.X && ksp->normtype != KSP_NORM_NONE) PetscCall(VecNorm(ksp->work[BCGSM_R], NORM_2, &c->normnext));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
