/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The small least squares problem of GMRES, min || g - H y ||, by plane rotations, one column at a time. correction.c
   corrects the solution.

   In a new cycle, g is start e_1, and column j of H has one entry below the diagonal. If a cycle continues with a new
   residual, column k of the basis's Hessenberg matrix describes the residual, not the image of column k. The residual
   is the new g, without an unknown. Later columns have one more entry below the entry of their unknown.

   direction.c defines the direction of the next unknown.
*/

#include "cbgmresimpl.h"

/* Arrays for a basis with this leading dimension, 0: none. Without columns */
PetscErrorCode CBGMRESLeastResize_Private(KSP_CBGMRES *gm, size_t ld)
{
  CBLeast *l = &gm->least;

  PetscFunctionBegin;
  PetscCall(PetscFree6(l->R, l->cosine, l->sine, l->g, l->y, l->pivot));
  if (ld) PetscCall(PetscCalloc6(ld * ld, &l->R, ld * (CB_LEFT + 1), &l->cosine, ld * (CB_LEFT + 1), &l->sine, ld, &l->g, ld, &l->y, ld, &l->pivot));
  l->columns = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CBGMRESLeastBegin_Private(KSP_CBGMRES *gm, PetscReal start)
{
  gm->least.g[0]    = start;
  gm->least.rounded = start;
  gm->least.right   = -1;
  gm->least.columns = gm->least.unknowns = 0;
}

/* The norm of the residual, by the recurrence */
PetscReal CBGMRESLeastResidual_Private(const KSP_CBGMRES *gm)
{
  PetscReal sum = 0;

  if (gm->least.unknowns == gm->least.columns) return PetscAbsScalar(gm->least.g[gm->least.columns]);
  for (PetscInt i = gm->least.unknowns; i <= gm->least.columns; i++) sum += PetscSqr(PetscAbsScalar(gm->least.g[i]));
  return PetscSqrtReal(sum);
}

/* One rotation of rows i and i+1: (x, y) -> (c x + s y, c y - conj(s) x) */
static inline void CBGMRESRotate_Private(PetscReal c, PetscScalar s, PetscScalar v[])
{
  const PetscScalar x = v[0], y = v[1];

  v[0] = c * x + s * y;
  v[1] = c * y - PetscConj(s) * x;
}

/* The place of the rotations of column j. Rotation i - pivot[j] rotates rows i and i+1, 0 <= i - pivot[j] <= CB_LEFT */
static inline PetscInt CBGMRESRotations_Private(PetscInt j)
{
  return j * (CB_LEFT + 1);
}

/* Applies the rotations of columns 0 ... k-1, in order */
static void CBGMRESRotateAll_Private(const KSP_CBGMRES *gm, PetscInt k, PetscScalar v[])
{
  for (PetscInt j = 0; j < k; j++) {
    const PetscInt pivot = gm->least.pivot[j], at = CBGMRESRotations_Private(j) - pivot;

    if (pivot < 0) continue;
    for (PetscInt i = j; i >= pivot; i--) CBGMRESRotate_Private(gm->least.cosine[at + i], gm->least.sine[at + i], v + i);
  }
}

/* And back */
void CBGMRESLeastRotateBack_Private(const KSP_CBGMRES *gm, PetscInt k, PetscScalar v[])
{
  for (PetscInt j = k - 1; j >= 0; j--) {
    const PetscInt pivot = gm->least.pivot[j], at = CBGMRESRotations_Private(j) - pivot;

    if (pivot < 0) continue;
    for (PetscInt i = pivot; i <= j; i++) CBGMRESRotate_Private(gm->least.cosine[at + i], -gm->least.sine[at + i], v + i);
  }
}

/* The rotation that makes the second of two numbers zero, and the resulting first number */
static PetscScalar CBGMRESRotation_Private(PetscScalar a, PetscScalar b, PetscReal *c, PetscScalar *s)
{
  const PetscReal modulus = PetscAbsScalar(a), length = PetscSqrtReal(PetscRealPart(PetscConj(a) * a) + PetscRealPart(PetscConj(b) * b));

  if (length == 0.0 || modulus == 0.0) {
    *c = length == 0.0 ? 1.0 : 0.0;
    *s = length == 0.0 ? 0.0 : PetscConj(b) / length;
    return length;
  }
  *c = modulus / length;
  *s = a / modulus * (PetscConj(b) / length);
  return a / modulus * length;
}

/* Column j of the Hessenberg matrix comes in. Returns the norm of the residual */
PetscReal CBGMRESLeastColumn_Private(KSP_CBGMRES *gm, PetscInt j)
{
  const size_t       ld = (size_t)gm->bases.V->host.ld;
  const PetscScalar *h  = gm->bases.V->host.hessenberg + (size_t)j * ld;
  PetscScalar       *r  = gm->least.R + (size_t)j * ld;

  for (PetscInt i = 0; i <= j + 1; i++) r[i] = h[i];
  CBGMRESRotateAll_Private(gm, j, r);

  /* rotations that zero all entries below the row of the unknown, the lowest first */
  gm->least.pivot[j] = gm->least.unknowns++;
  gm->least.g[j + 1] = 0.0;
  for (PetscInt i = j; i >= gm->least.pivot[j]; i--) {
    PetscReal   *c = gm->least.cosine + CBGMRESRotations_Private(j) + i - gm->least.pivot[j];
    PetscScalar *s = gm->least.sine + CBGMRESRotations_Private(j) + i - gm->least.pivot[j];

    r[i]     = CBGMRESRotation_Private(r[i], r[i + 1], c, s);
    r[i + 1] = 0.0;
    CBGMRESRotate_Private(*c, *s, gm->least.g + i);
  }
  gm->least.columns = j + 1;
  return CBGMRESLeastResidual_Private(gm);
}

/* The last column goes, and the norm of the residual is the previous one */
void CBGMRESLeastDrop_Private(KSP_CBGMRES *gm)
{
  gm->least.columns--;
  gm->least.unknowns--;
}

/* Another right-hand side, for the present columns: column k of the Hessenberg matrix, of which only numbers 0 ... k
   are in the columns' space */
void CBGMRESLeastRightSide_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const PetscScalar *h = gm->bases.V->host.hessenberg + (size_t)k * (size_t)gm->bases.V->host.ld;

  for (PetscInt i = 0; i <= k; i++) gm->least.g[i] = h[i];
  CBGMRESRotateAll_Private(gm, k, gm->least.g);
}

/* The same, and the cycle continues: column k+1 of the basis is the part of the residual outside of all columns */
void CBGMRESLeastInsert_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const PetscReal sigma = PetscRealPart(gm->bases.V->host.hessenberg[(size_t)k * (size_t)gm->bases.V->host.ld + (size_t)k + 1]);

  CBGMRESLeastRightSide_Private(gm, k);
  gm->least.g[k + 1] = sigma;
  gm->least.rounded  = sigma;
  gm->least.right    = k;
  gm->least.pivot[k] = -1;
  gm->least.columns  = k + 1;
}

/* y, from the first k columns. A direction that the operator maps to zero gets no part */
void CBGMRESLeastSolve_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const size_t ld = (size_t)gm->bases.V->host.ld;

  for (PetscInt j = 0; j < k; j++) gm->least.y[j] = gm->least.pivot[j] < 0 ? (PetscScalar)0.0 : gm->least.g[gm->least.pivot[j]];
  for (PetscInt j = k - 1; j >= 0; j--) {
    const PetscScalar *r = gm->least.R + (size_t)j * ld;

    if (gm->least.pivot[j] < 0) continue;
    gm->least.y[j] = r[gm->least.pivot[j]] == (PetscScalar)0.0 ? 0.0 : gm->least.y[j] / r[gm->least.pivot[j]];
    for (PetscInt i = 0; i < j; i++) {
      if (gm->least.pivot[i] >= 0) gm->least.y[i] -= r[gm->least.pivot[i]] * gm->least.y[j];
    }
  }
}

/*
   The possible distance of the residual from the recurrence. Rounding the columns changes the first residual and the
   images of all columns: M V = V H + E with E e_j = sigma_j (rounding of v_(j+1)). The difference is therefore E y. The
   errors of many numbers are independent, and their squares add. y is given, for the unknowns.

   Columns in two parts have next to no errors, but distant steps use them without the second parts. For such columns,
   the coefficients of the earlier steps stand for the coefficients of all steps.
*/
PetscReal CBGMRESLeastGap_Private(KSP_CBGMRES *gm, PetscInt k)
{
  const size_t       ld     = (size_t)gm->bases.V->host.ld;
  const PetscScalar *h      = gm->bases.V->host.hessenberg;
  const PetscInt     paired = PetscMin(gm->bases.V->paired, k);
  PetscReal          sum    = gm->least.right < 0 && paired ? 0 : PetscSqr(gm->least.rounded);

  for (PetscInt i = 0; i < paired; i++) {
    PetscScalar part = 0.0;

    if (gm->least.right < 0) part = i == 0 ? gm->least.rounded : 0.0;
    else if (gm->least.right < i + CB_PAIR_STEPS) part = h[(size_t)gm->least.right * ld + (size_t)i];
    for (PetscInt j = PetscMax(i - 1, 0); j < PetscMin(k, i + CB_PAIR_STEPS); j++) part -= h[(size_t)j * ld + (size_t)i] * gm->least.y[j];
    sum += PetscSqr(PetscAbsScalar(part));
  }
  for (PetscInt j = PetscMax(gm->bases.V->paired - 1, 0); j < k; j++)
    sum += PetscSqr(PetscAbsScalar(gm->bases.V->host.hessenberg[(size_t)j * ld + (size_t)j + 1]) * PetscAbsScalar(gm->least.y[j]));
  return CBGMRESStorageUnit_Private(&gm->bases.V->storage) * PetscSqrtReal(sum);
}
