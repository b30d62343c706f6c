/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The vector operations of a KSPBCGSM, for all columns that iterate. Columns that have a reason already are left as they are.

   Blocks on the host are passed over as few times as possible, since vectors, other than matrices, are not shared by columns. Other
   blocks, and the vectors of KSPSolve(), are left to the operations of their type. Sums of all columns take one reduction.
*/

#include "bcgsmimpl.h"
#include <lithe/private/lithecompiler.h>
#include <petsc/private/vecimpl.h>

#define BCGSM_SUMS 8 /* partial sums that do not wait for one another */

static LITHE_ALWAYS_INLINE PetscScalar Times(PetscScalar a, PetscScalar x)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal ar = PetscRealPart(a), ai = PetscImaginaryPart(a), xr = PetscRealPart(x), xi = PetscImaginaryPart(x);

  return PetscCMPLX(ar * xr - ai * xi, ar * xi + ai * xr);
#else
  return a * x;
#endif
}

/* conj(y) x */
static LITHE_ALWAYS_INLINE PetscScalar Inner(PetscScalar x, PetscScalar y)
{
#if PetscDefined(USE_COMPLEX)
  const PetscReal xr = PetscRealPart(x), xi = PetscImaginaryPart(x), yr = PetscRealPart(y), yi = PetscImaginaryPart(y);

  return PetscCMPLX(xr * yr + xi * yi, xi * yr - xr * yi);
#else
  return x * y;
#endif
}

static LITHE_ALWAYS_INLINE PetscScalar Total(const PetscScalar sum[])
{
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

/* p = r + beta (p - omega v) */
static LITHE_TARGET_CLONES void Direction(PetscInt m, PetscScalar beta, PetscScalar omega, const PetscScalar r[], const PetscScalar v[], PetscScalar p[])
{
  const PetscScalar c = -omega * beta;

  LITHE_INDEPENDENT
  for (PetscInt k = 0; k < m; k++) p[k] = r[k] + Times(c, v[k]) + Times(beta, p[k]);
}

/* r = r - alpha v */
static LITHE_TARGET_CLONES void Half(PetscInt m, PetscScalar alpha, const PetscScalar v[], PetscScalar r[])
{
  LITHE_INDEPENDENT
  for (PetscInt k = 0; k < m; k++) r[k] -= Times(alpha, v[k]);
}

static LITHE_TARGET_CLONES PetscScalar Dot(PetscInt m, const PetscScalar x[], const PetscScalar y[])
{
  PetscScalar sum[BCGSM_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0};
  PetscInt    k               = 0;

  for (; k + BCGSM_SUMS <= m; k += BCGSM_SUMS) {
    LITHE_UNROLL
    for (int u = 0; u < BCGSM_SUMS; u++) sum[u] += Inner(x[k + u], y[k + u]);
  }
  for (; k < m; k++) sum[0] += Inner(x[k], y[k]);
  return Total(sum);
}

/* conj(y) x and conj(y) y */
static LITHE_TARGET_CLONES void DotAndNorm(PetscInt m, const PetscScalar x[], const PetscScalar y[], PetscScalar sums[2])
{
  PetscScalar dot[BCGSM_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0}, norm[BCGSM_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0};
  PetscInt    k = 0;

  for (; k + BCGSM_SUMS <= m; k += BCGSM_SUMS) {
    LITHE_UNROLL
    for (int u = 0; u < BCGSM_SUMS; u++) {
      dot[u] += Inner(x[k + u], y[k + u]);
      norm[u] += Inner(y[k + u], y[k + u]);
    }
  }
  for (; k < m; k++) {
    dot[0] += Inner(x[k], y[k]);
    norm[0] += Inner(y[k], y[k]);
  }
  sums[0] = Total(dot);
  sums[1] = Total(norm);
}

/* x += alpha p + omega s, r = r - omega t; sums: conj(shadow) r and conj(r) r. s may be r */
static LITHE_TARGET_CLONES void Update(PetscInt m, PetscScalar alpha, PetscScalar omega, const PetscScalar p[], const PetscScalar s[], const PetscScalar t[],
                                       const PetscScalar shadow[], PetscScalar x[], PetscScalar r[], PetscScalar sums[2])
{
  PetscScalar dot[BCGSM_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0}, norm[BCGSM_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0};
  PetscInt    k = 0;

  for (; k + BCGSM_SUMS <= m; k += BCGSM_SUMS) {
    PetscScalar next[BCGSM_SUMS];

    LITHE_UNROLL
    for (int u = 0; u < BCGSM_SUMS; u++) next[u] = r[k + u] - Times(omega, t[k + u]);
    LITHE_UNROLL
    for (int u = 0; u < BCGSM_SUMS; u++) x[k + u] += Times(alpha, p[k + u]) + Times(omega, s[k + u]);
    LITHE_UNROLL
    for (int u = 0; u < BCGSM_SUMS; u++) {
      r[k + u] = next[u];
      dot[u] += Inner(next[u], shadow[k + u]);
      norm[u] += Inner(next[u], next[u]);
    }
  }
  for (; k < m; k++) {
    const PetscScalar next = r[k] - Times(omega, t[k]);

    x[k] += Times(alpha, p[k]) + Times(omega, s[k]);
    r[k] = next;
    dot[0] += Inner(next, shadow[k]);
    norm[0] += Inner(next, next);
  }
  sums[0] = Total(dot);
  sums[1] = Total(norm);
}

/* The local array of a block on the host, and what is between its columns */
static PetscErrorCode BCGSMOpen_Private(KSP_BCGSM *s, BCGSMBlock which, PetscBool write, PetscScalar **a, size_t *lda)
{
  const Mat block = which == BCGSM_X ? s->X : s->view[which];
  PetscInt  l;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(block, &l));
  if (write) PetscCall(MatDenseGetArray(block, a));
  else PetscCall(MatDenseGetArrayRead(block, (const PetscScalar **)a));
  *lda = (size_t)l;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMClose_Private(KSP_BCGSM *s, BCGSMBlock which, PetscBool write, PetscScalar **a)
{
  const Mat block = which == BCGSM_X ? s->X : s->view[which];

  PetscFunctionBegin;
  if (write) PetscCall(MatDenseRestoreArray(block, a));
  else PetscCall(MatDenseRestoreArrayRead(block, (const PetscScalar **)a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMRows_Private(KSP_BCGSM *s, PetscInt *m)
{
  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(s->X, m, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PETSc counts them: an operation with a PetscScalar is one, real or complex */
static PetscErrorCode BCGSMFlops_Private(const KSP_BCGSM *s, PetscInt m, PetscInt perentry)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->n; j++) n += s->column[j].reason ? 0 : 1;
  PetscCall(PetscLogFlops((PetscLogDouble)perentry * (PetscLogDouble)m * (PetscLogDouble)n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The shadow residual: the first one */
PetscErrorCode BCGSMShadow_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->n; j++) {
    Vec r, shadow;

    PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &r));
    PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_SHADOW, j, &shadow));
    PetscCall(VecCopy(r, shadow));
    PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_SHADOW, j, &shadow));
    PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMDirectionVecs_Private(KSP ksp, PetscInt j, PetscBool first)
{
  const BCGSMColumn *c = &((KSP_BCGSM *)ksp->data)->column[j];
  Vec                r, v, p;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &r));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_V, j, &v));
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_P, j, &p));
  if (first) PetscCall(VecCopy(r, p));
  else PetscCall(VecAXPBYPCZ(p, 1.0, -c->omega * c->beta, c->beta, r, v));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_P, j, &p));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_V, j, &v));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* p = r + beta (p - omega v); in the first iteration p = r */
PetscErrorCode BCGSMDirection_Private(KSP ksp, PetscBool first)
{
  KSP_BCGSM   *s = (KSP_BCGSM *)ksp->data;
  PetscScalar *r, *v, *p;
  size_t       ldr, ldv, ldp;
  PetscInt     m;

  PetscFunctionBegin;
  if (!s->host) {
    for (PetscInt j = 0; j < s->n; j++) PetscCall(BCGSMDirectionVecs_Private(ksp, j, first));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMRows_Private(s, &m));
  PetscCall(BCGSMOpen_Private(s, BCGSM_R, PETSC_FALSE, &r, &ldr));
  PetscCall(BCGSMOpen_Private(s, BCGSM_V, PETSC_FALSE, &v, &ldv));
  PetscCall(BCGSMOpen_Private(s, BCGSM_P, PETSC_TRUE, &p, &ldp));
  for (PetscInt j = 0; j < s->n && m; j++) {
    if (first) PetscCall(PetscArraycpy(p + (size_t)j * ldp, r + (size_t)j * ldr, m));
    else Direction(m, s->column[j].beta, s->column[j].omega, r + (size_t)j * ldr, v + (size_t)j * ldv, p + (size_t)j * ldp);
  }
  PetscCall(BCGSMClose_Private(s, BCGSM_P, PETSC_TRUE, &p));
  PetscCall(BCGSMClose_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMClose_Private(s, BCGSM_R, PETSC_FALSE, &r));
  if (!first) PetscCall(BCGSMFlops_Private(s, m, 4));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* r = r - alpha v, which is s */
PetscErrorCode BCGSMHalf_Private(KSP ksp)
{
  KSP_BCGSM   *s = (KSP_BCGSM *)ksp->data;
  PetscScalar *r, *v;
  size_t       ldr, ldv;
  PetscInt     m;

  PetscFunctionBegin;
  if (!s->host) {
    for (PetscInt j = 0; j < s->n; j++) {
      Vec x, y;

      if (s->column[j].reason) continue;
      PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_V, j, &x));
      PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_R, j, &y));
      PetscCall(VecAXPY(y, -s->column[j].alpha, x));
      PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_R, j, &y));
      PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_V, j, &x));
    }
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMRows_Private(s, &m));
  PetscCall(BCGSMOpen_Private(s, BCGSM_V, PETSC_FALSE, &v, &ldv));
  PetscCall(BCGSMOpen_Private(s, BCGSM_R, PETSC_TRUE, &r, &ldr));
  for (PetscInt j = 0; j < s->n; j++) {
    if (!s->column[j].reason && m) Half(m, s->column[j].alpha, v + (size_t)j * ldv, r + (size_t)j * ldr);
  }
  PetscCall(BCGSMClose_Private(s, BCGSM_R, PETSC_TRUE, &r));
  PetscCall(BCGSMClose_Private(s, BCGSM_V, PETSC_FALSE, &v));
  PetscCall(BCGSMFlops_Private(s, m, 2));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of all processes, from those of this one */
static PetscErrorCode BCGSMReduce_Private(KSP ksp, PetscInt nsums)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  if (s->X) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, s->sums, (PetscMPIInt)(nsums * s->n), MPIU_SCALAR, MPIU_SUM, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* conj(y) x of columns: of KSPSolve() on all processes, else of this process */
static PetscErrorCode BCGSMDotVecs_Private(KSP ksp, BCGSMBlock whichx, BCGSMBlock whichy, PetscInt j, PetscScalar *dot)
{
  const PetscBool local = (PetscBool)(((KSP_BCGSM *)ksp->data)->X != NULL);
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

/* sums[nsums j + i] = conj(y_i) x_i of column j. The second of two sums is that of y_0 with itself */
PetscErrorCode BCGSMDots_Private(KSP ksp, PetscInt nsums, const BCGSMBlock x[], const BCGSMBlock y[])
{
  KSP_BCGSM   *s = (KSP_BCGSM *)ksp->data;
  PetscScalar *a, *b;
  size_t       lda, ldb;
  PetscInt     m;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(s->sums, nsums * s->n));
  if (!s->host) {
    for (PetscInt j = 0; j < s->n; j++) {
      for (PetscInt i = 0; i < nsums && !s->column[j].reason; i++) PetscCall(BCGSMDotVecs_Private(ksp, x[i], y[i], j, &s->sums[nsums * j + i]));
    }
    PetscCall(BCGSMReduce_Private(ksp, nsums));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BCGSMRows_Private(s, &m));
  PetscCall(BCGSMOpen_Private(s, x[0], PETSC_FALSE, &a, &lda));
  PetscCall(BCGSMOpen_Private(s, y[0], PETSC_FALSE, &b, &ldb));
  for (PetscInt j = 0; j < s->n; j++) {
    if (s->column[j].reason || !m) continue;
    if (nsums == 1) s->sums[j] = Dot(m, a + (size_t)j * lda, b + (size_t)j * ldb);
    else DotAndNorm(m, a + (size_t)j * lda, b + (size_t)j * ldb, &s->sums[2 * j]);
  }
  PetscCall(BCGSMClose_Private(s, y[0], PETSC_FALSE, &b));
  PetscCall(BCGSMClose_Private(s, x[0], PETSC_FALSE, &a));
  PetscCall(BCGSMFlops_Private(s, m, 2 * nsums));
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
  for (PetscInt j = 0; j < s->n; j++) {
    s->column[j].rho      = s->sums[j];
    s->column[j].normnext = PetscSqrtReal(PetscRealPart(s->sums[j]));
    if (!s->X && ksp->normtype != KSP_NORM_NONE) PetscCall(VecNorm(ksp->work[BCGSM_R], NORM_2, &s->column[j].normnext));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMUpdateVecs_Private(KSP ksp, PetscInt j)
{
  KSP_BCGSM         *s        = (KSP_BCGSM *)ksp->data;
  const PetscBool    right    = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMColumn *c        = &s->column[j];
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
  PetscCall(BCGSMDotVecs_Private(ksp, BCGSM_R, BCGSM_SHADOW, j, &s->sums[2 * j]));
  if (s->X) PetscCall(BCGSMDotVecs_Private(ksp, BCGSM_R, BCGSM_R, j, &s->sums[2 * j + 1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x += alpha p + omega s, r = s - omega t, the norms of r and the next rho */
PetscErrorCode BCGSMUpdate_Private(KSP ksp)
{
  KSP_BCGSM       *s       = (KSP_BCGSM *)ksp->data;
  const PetscBool  right   = (PetscBool)(ksp->pc_side == PC_RIGHT);
  const BCGSMBlock which[] = {right ? BCGSM_W1 : BCGSM_P, BCGSM_W2, BCGSM_T, BCGSM_SHADOW, BCGSM_X, BCGSM_R};
  PetscScalar     *a[6];
  size_t           ld[6];
  PetscInt         m;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(s->sums, 2 * s->n));
  if (s->host) {
    PetscCall(BCGSMRows_Private(s, &m));
    for (int i = 0; i < 6; i++) PetscCall(BCGSMOpen_Private(s, which[i], (PetscBool)(i >= 4), &a[i], &ld[i]));
    for (PetscInt j = 0; j < s->n; j++) {
      const BCGSMColumn *c = &s->column[j];
      PetscScalar       *r = PetscSafePointerPlusOffset(a[5], (size_t)j * ld[5]);

      if (c->reason || !m) continue;
      Update(m, c->alpha, c->omega, a[0] + (size_t)j * ld[0], right ? a[1] + (size_t)j * ld[1] : r, a[2] + (size_t)j * ld[2], a[3] + (size_t)j * ld[3],
             a[4] + (size_t)c->number * ld[4], r, &s->sums[2 * j]);
    }
    for (int i = 5; i >= 0; i--) PetscCall(BCGSMClose_Private(s, which[i], (PetscBool)(i >= 4), &a[i]));
    PetscCall(BCGSMFlops_Private(s, m, 10));
  } else {
    for (PetscInt j = 0; j < s->n; j++) {
      if (!s->column[j].reason) PetscCall(BCGSMUpdateVecs_Private(ksp, j));
    }
  }
  PetscCall(BCGSMReduce_Private(ksp, 2));
  for (PetscInt j = 0; j < s->n; j++) {
    BCGSMColumn *c = &s->column[j];

    if (c->reason) continue;
    c->rhonext  = s->sums[2 * j];
    c->normnext = PetscSqrtReal(PetscRealPart(s->sums[2 * j + 1]));
    if (!s->X && ksp->normtype != KSP_NORM_NONE) PetscCall(VecNorm(ksp->work[BCGSM_R], NORM_2, &c->normnext));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
