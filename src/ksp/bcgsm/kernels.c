/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The arrays of blocks of a KSPBCGSM, the operations of the host, and the choice of the operations of a solve */

#include "bcgsmimpl.h"
#include <lithe/private/lithecompiler.h>
#include <lithe/private/cuda/bcgsm.h>

#define BCGSM_SUMS 8 /* independent partial sums */

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

/* ------------------------------------------------------------ arrays of the host */

static PetscErrorCode CopyHost(PetscInt m, const PetscScalar from[], PetscScalar to[])
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(to, from, m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DirectionHost(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray r, BCGSMArray v, BCGSMArray p)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && m; k++) {
    const PetscInt j = task[k].column;

    Direction(m, task[k].beta, task[k].omega, r.a + j * r.ld, v.a + j * v.ld, p.a + j * p.ld);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HalfHost(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray v, BCGSMArray r)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && m; k++) Half(m, task[k].alpha, v.a + task[k].column * v.ld, r.a + task[k].column * r.ld);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DotsHost(PetscInt m, PetscInt n, const BCGSMTask task[], PetscInt nsums, BCGSMArray x, BCGSMArray y, PetscScalar sums[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && m; k++) {
    const PetscInt j = task[k].column;

    if (nsums == 1) sums[j] = Dot(m, x.a + j * x.ld, y.a + j * y.ld);
    else DotAndNorm(m, x.a + j * x.ld, y.a + j * y.ld, &sums[2 * j]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UpdateHost(PetscInt m, PetscInt n, const BCGSMTask task[], BCGSMArray p, BCGSMArray s, BCGSMArray t, BCGSMArray shadow, BCGSMArray x,
                                 BCGSMArray r, PetscScalar sums[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < n && m; k++) {
    const PetscInt j = task[k].column;

    Update(m, task[k].alpha, task[k].omega, p.a + j * p.ld, s.a + j * s.ld, t.a + j * t.ld, shadow.a + j * shadow.ld, x.a + task[k].number * x.ld,
           r.a + j * r.ld, &sums[2 * j]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const BCGSMKernels HostKernels = {.copy = CopyHost, .direction = DirectionHost, .half = HalfHost, .dots = DotsHost, .update = UpdateHost};

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
static const BCGSMKernels DeviceKernels = {.copy      = LitheCUDABCGSMCopy,
                                           .direction = LitheCUDABCGSMDirection,
                                           .half      = LitheCUDABCGSMHalf,
                                           .dots      = LitheCUDABCGSMDots,
                                           .update    = LitheCUDABCGSMUpdate};
#endif

/* Kernels for blocks of the type of B and X, or NULL: then vectors of columns are used */
PetscErrorCode BCGSMChooseKernels_Private(KSP ksp, Mat B, Mat X, const BCGSMKernels **kernels, PetscBool *ondevice)
{
  const Mat both[2] = {B, X};
  PetscBool host[2];
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  PetscBool device[2] = {PETSC_FALSE, PETSC_FALSE};
#endif

  PetscFunctionBegin;
  *kernels  = NULL;
  *ondevice = PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    PetscCall(PetscObjectTypeCompareAny((PetscObject)both[k], &host[k], MATSEQDENSE, MATMPIDENSE, ""));
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
    if (!both[k]->boundtocpu) PetscCall(PetscObjectTypeCompareAny((PetscObject)both[k], &device[k], MATSEQDENSECUDA, MATMPIDENSECUDA, ""));
#endif
  }
  PetscCheck(host[0] == host[1], PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "The right-hand sides are of type %s and the solutions of type %s: -ksp_type bcgsm needs both on the host, or both on a device",
             ((PetscObject)B)->type_name, ((PetscObject)X)->type_name);
  if (host[0]) *kernels = &HostKernels;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (device[0] && device[1]) {
    *kernels  = &DeviceKernels;
    *ondevice = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays of blocks */

/* The local array of a matrix, where the kernels work */
PetscErrorCode BCGSMArrayGet_Private(KSP_BCGSM *s, Mat block, PetscBool write, BCGSMArray *array)
{
  PetscInt ld;

  PetscFunctionBegin;
  PetscCall(MatDenseGetLDA(block, &ld));
  array->ld = ld;
  if (s->blocks.device && write) PetscCall(MatDenseGetArrayAndMemType(block, &array->a, NULL));
  else if (s->blocks.device) PetscCall(MatDenseGetArrayReadAndMemType(block, (const PetscScalar **)&array->a, NULL));
  else if (write) PetscCall(MatDenseGetArray(block, &array->a));
  else PetscCall(MatDenseGetArrayRead(block, (const PetscScalar **)&array->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BCGSMArrayRestore_Private(KSP_BCGSM *s, Mat block, PetscBool write, BCGSMArray *array)
{
  PetscFunctionBegin;
  if (s->blocks.device && write) PetscCall(MatDenseRestoreArrayAndMemType(block, &array->a));
  else if (s->blocks.device) PetscCall(MatDenseRestoreArrayReadAndMemType(block, (const PetscScalar **)&array->a));
  else if (write) PetscCall(MatDenseRestoreArray(block, &array->a));
  else PetscCall(MatDenseRestoreArrayRead(block, (const PetscScalar **)&array->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
