/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The direction for the operator in a cycle that has continued with a new residual.

   In a new cycle, the direction is the newest column of the basis. When a cycle continues, its newest column k is left
   over. The operator was never applied to column k, while the remaining residual and later images have a part in column
   k. Without these parts the space would grow by other directions, and the residual would hardly become smaller.

   Let Z be the directions so far, to which the operator M was applied, and C the orthonormal images, M Z = C R. The
   next direction z_j is the remaining residual when the cycle continues, and afterwards the newest column of C. Z then
   grows by a Krylov space of M behind the projection that removes the images of the earlier columns, as in GCRO:

     E. de Sturler: Nested Krylov Methods Based on GCR. J. Comput. Appl. Math. 67, 1996.

   Residual and newest column of C are known by their coefficients for the columns of V. Their part in Z adds nothing to
   Z, and is dropped: no linear combination of all columns is needed. The rest is

     sigma v_j + sum a_l v_left(l),   from  v_i = sum modulo_il v_left(l)  (mod Z),

   and z_j is the rest, divided by its largest coefficient. z_j joins Z. The other columns then express the column with
   the largest coefficient. The left-over columns stay left over, or v_j replaces one left-over column.
*/

#include "cbgmresimpl.h"

/* Arrays for a basis with this leading dimension, 0: none */
PetscErrorCode CBGMRESDirectionResize_Private(KSP_CBGMRES *gm, size_t ld)
{
  CBLeftover *o = &gm->leftover;

  PetscFunctionBegin;
  PetscCall(PetscFree6(o->modulo, o->self, o->with, o->withcolumn, o->nwith, o->x));
  if (ld) PetscCall(PetscCalloc6(ld * CB_LEFT, &o->modulo, ld, &o->self, ld * CB_LEFT, &o->with, ld * CB_LEFT, &o->withcolumn, ld, &o->nwith, ld, &o->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new cycle */
void CBGMRESDirectionBegin_Private(KSP_CBGMRES *gm)
{
  gm->leftover.nleft = 0;
}

/* z_j, from h_0 v_0 + ... + h_(j-1) v_(j-1) + sigma v_j */
static void CBGMRESDirectionSet_Private(KSP_CBGMRES *gm, PetscInt j, const PetscScalar h[], PetscScalar sigma)
{
  PetscScalar *with = gm->leftover.with + j * CB_LEFT, *modulo = gm->leftover.modulo + j * CB_LEFT, largest = sigma;
  PetscInt     pivot = -1;

  for (PetscInt l = 0; l < gm->leftover.nleft; l++) {
    with[l] = 0.0;
    for (PetscInt i = 0; i < j; i++) with[l] += h[i] * gm->leftover.modulo[i * CB_LEFT + l];
    if (PetscAbsScalar(with[l]) > PetscAbsScalar(largest)) {
      largest = with[l];
      pivot   = l;
    }
  }
  if (largest == (PetscScalar)0.0) largest = 1.0;
  gm->leftover.self[j]  = sigma / largest;
  gm->leftover.nwith[j] = gm->leftover.nleft;
  for (PetscInt l = 0; l < gm->leftover.nleft; l++) {
    with[l]                                  = l == pivot ? (PetscScalar)1.0 : with[l] / largest;
    gm->leftover.withcolumn[j * CB_LEFT + l] = gm->leftover.left[l];
    modulo[l]                                = -with[l];
  }
  if (pivot < 0) return;

  /* v_left(pivot) = - self v_j - with the others, and v_j takes its place */
  for (PetscInt i = 0; i < j; i++) {
    PetscScalar      *m = gm->leftover.modulo + i * CB_LEFT;
    const PetscScalar p = m[pivot];

    for (PetscInt l = 0; l < gm->leftover.nleft; l++) m[l] = l == pivot ? -p * gm->leftover.self[j] : m[l] - p * with[l];
  }
  for (PetscInt l = 0; l < gm->leftover.nleft; l++) modulo[l] = l == pivot ? 1.0 : 0.0;
  gm->leftover.left[pivot] = j;
}

/* The cycle continues behind column k, which is left over; CBGMRESLeastInsert_Private() has been called. z_(k+1) is the
   remaining residual */
void CBGMRESDirectionInsert_Private(KSP_CBGMRES *gm, PetscInt k)
{
  PetscScalar *residual = gm->leftover.x;

  if (!gm->leftover.nleft) {
    gm->leftover.first = k;
    for (PetscInt i = 0; i < k * CB_LEFT; i++) gm->leftover.modulo[i] = 0.0;
  }
  for (PetscInt i = 0; i < k; i++) gm->leftover.modulo[i * CB_LEFT + gm->leftover.nleft] = 0.0;
  for (PetscInt l = 0; l <= gm->leftover.nleft; l++) gm->leftover.modulo[k * CB_LEFT + l] = l == gm->leftover.nleft ? 1.0 : 0.0;
  gm->leftover.left[gm->leftover.nleft++] = k;
  gm->leftover.self[k]                    = 0.0;
  gm->leftover.nwith[k]                   = 0;

  for (PetscInt i = 0; i <= k; i++) residual[i] = i < gm->least.unknowns ? (PetscScalar)0.0 : gm->least.g[i];
  CBGMRESLeastRotateBack_Private(gm, k, residual);
  CBGMRESDirectionSet_Private(gm, k + 1, residual, gm->least.g[k + 1]);
}

/* z_j, when all columns before are in the least squares problem: the newest image */
void CBGMRESDirectionNext_Private(KSP_CBGMRES *gm, PetscInt j)
{
  PetscScalar *image = gm->leftover.x;

  if (!gm->leftover.nleft || gm->least.pivot[j - 1] < 0) return;
  for (PetscInt i = 0; i <= j; i++) image[i] = i == gm->least.pivot[j - 1] ? 1.0 : 0.0;
  CBGMRESLeastRotateBack_Private(gm, j, image);
  CBGMRESDirectionSet_Private(gm, j, image, image[j]);
}

/* CB_COLUMN is column j, and becomes z_j */
PetscErrorCode CBGMRESDirectionApply_Private(KSP ksp, PetscInt j)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  if (!gm->leftover.nleft || j <= gm->leftover.first) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScale(CB_COLUMN(ksp), gm->leftover.self[j]));
  for (PetscInt l = 0; l < gm->leftover.nwith[j]; l++) {
    if (gm->leftover.with[j * CB_LEFT + l] == (PetscScalar)0.0) continue;
    PetscCall((*gm->bases.V->ops->load)(gm->bases.V, gm->leftover.withcolumn[j * CB_LEFT + l], CB_WORK(ksp)));
    PetscCall(VecAXPY(CB_COLUMN(ksp), gm->leftover.with[j * CB_LEFT + l], CB_WORK(ksp)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   x, the coefficients of the solution for the columns, from the unknowns y of columns 0 ... k-1. A flexible
   preconditioner gives a separate column for z_j
*/
void CBGMRESDirectionExpand_Private(KSP_CBGMRES *gm, PetscInt k)
{
  for (PetscInt j = 0; j < k; j++) gm->leftover.x[j] = gm->least.y[j];
  if (gm->flexible || !gm->leftover.nleft) return;
  for (PetscInt j = gm->leftover.first + 1; j < k; j++) gm->leftover.x[j] *= gm->leftover.self[j];
  for (PetscInt j = gm->leftover.first + 1; j < k; j++) {
    for (PetscInt l = 0; l < gm->leftover.nwith[j]; l++)
      gm->leftover.x[gm->leftover.withcolumn[j * CB_LEFT + l]] += gm->leftover.with[j * CB_LEFT + l] * gm->least.y[j];
  }
}
