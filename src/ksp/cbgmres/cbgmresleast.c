/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The small least squares problem of GMRES, min || start e_1 - H y ||, by plane rotations, a column at a time; and the
   correction that its solution stands for.
*/

#include "cbgmresimpl.h"

void CBGMRESLeastBegin_Private(KSP_CBGMRES *gm, PetscReal start)
{
  gm->g[0]    = start;
  gm->columns = gm->building = 0;
}

/* One rotation of rows i and i+1: (x, y) -> (c x + s y, c y - conj(s) x) */
static inline void CBGMRESRotate_Private(const KSP_CBGMRES *gm, PetscInt i, PetscScalar v[])
{
  const PetscScalar x = v[i], y = v[i + 1];

  v[i]     = gm->cosine[i] * x + gm->sine[i] * y;
  v[i + 1] = gm->cosine[i] * y - PetscConj(gm->sine[i]) * x;
}

/* Column j of the Hessenberg matrix comes in. Returns the norm of the residual */
PetscReal CBGMRESLeastColumn_Private(KSP_CBGMRES *gm, PetscInt j)
{
  const size_t       ld = (size_t)gm->V->host.ld;
  const PetscScalar *h  = gm->V->host.hessenberg + (size_t)j * ld;
  PetscScalar       *r  = gm->R + (size_t)j * ld, a;
  PetscReal          b, length;

  /* The rotations so far */
  for (PetscInt i = 0; i <= j; i++) r[i] = h[i];
  for (PetscInt i = 0; i < j; i++) CBGMRESRotate_Private(gm, i, r);

  /* One that makes the entry below the diagonal, which is real, zero */
  a      = r[j];
  b      = PetscRealPart(h[j + 1]);
  length = PetscSqrtReal(PetscRealPart(PetscConj(a) * a) + b * b);
  if (length == 0.0) {
    gm->cosine[j] = 1.0;
    gm->sine[j]   = 0.0;
  } else if (a == (PetscScalar)0.0) {
    gm->cosine[j] = 0.0;
    gm->sine[j]   = 1.0;
    r[j]          = b;
  } else {
    const PetscReal   modulus = PetscAbsScalar(a);
    const PetscScalar phase   = a / modulus;

    gm->cosine[j] = modulus / length;
    gm->sine[j]   = phase * (b / length);
    r[j]          = phase * length;
  }
  gm->g[j + 1] = -PetscConj(gm->sine[j]) * gm->g[j];
  gm->g[j]     = gm->cosine[j] * gm->g[j];
  return PetscAbsScalar(gm->g[j + 1]);
}

/* Another right side, for the columns that are in: what column k of the Hessenberg matrix has, of which nothing but numbers 0 ... k is in their space */
void CBGMRESLeastRightSide_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const PetscScalar *h = gm->V->host.hessenberg + (size_t)k * (size_t)gm->V->host.ld;

  for (PetscInt i = 0; i <= k; i++) gm->g[i] = h[i];
  for (PetscInt i = 0; i < k; i++) CBGMRESRotate_Private(gm, i, gm->g);
}

/* y, from the first k columns. A direction that the operator takes to nothing gets no part */
void CBGMRESLeastSolve_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const size_t ld = (size_t)gm->V->host.ld;

  for (PetscInt i = 0; i < k; i++) gm->y[i] = gm->g[i];
  for (PetscInt j = k - 1; j >= 0; j--) {
    const PetscScalar *r = gm->R + (size_t)j * ld;

    gm->y[j] = r[j] == (PetscScalar)0.0 ? 0.0 : gm->y[j] / r[j];
    for (PetscInt i = 0; i < j; i++) gm->y[i] -= r[i] * gm->y[j];
  }
}

/*
   How far the residual may be from that of the recurrence: rounding the columns changes the first residual and the images
   of all columns, M V = V H + E with E e_j = sigma_j (rounding of v_(j+1)), so that the difference is E y. These are
   independent errors of many numbers, and their squares add. y is there.
*/
PetscReal CBGMRESLeastGap_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const size_t ld  = (size_t)gm->V->host.ld;
  PetscReal    sum = PetscSqr(gm->start);

  for (PetscInt j = 0; j < k; j++) sum += PetscSqr(PetscAbsScalar(gm->V->host.hessenberg[(size_t)j * ld + (size_t)j + 1]) * PetscAbsScalar(gm->y[j]));
  return CBGMRESStorageUnit_Private(&gm->V->storage) * PetscSqrtReal(sum);
}

/* x = x + factor times what the first k columns stand for */
PetscErrorCode CBGMRESAddCorrection_Private(KSP ksp, PetscInt k, PetscScalar factor, Vec x)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      B  = gm->flexible ? gm->Z : gm->V;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  CBGMRESLeastSolve_Private(gm, k);
  gm->imagelost = PETSC_TRUE;
  PetscCall((*B->ops->combine)(B, k, gm->y, CB_IMAGE(ksp)));
  if (!gm->flexible) PetscCall(KSPUnwindPreconditioner(ksp, CB_IMAGE(ksp), CB_WORK(ksp)));
  PetscCall(VecAXPY(x, factor, CB_IMAGE(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
