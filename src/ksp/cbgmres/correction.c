/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The correction of the solution by a cycle's least squares problem */

#include "cbgmresimpl.h"

/* x = x + factor times the correction of the first k columns. CB_IMAGE is lost */
PetscErrorCode CBGMRESAddCorrection_Private(KSP ksp, PetscInt k, PetscScalar factor, Vec x)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      B  = gm->flexible ? gm->bases.Z : gm->bases.V;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  CBGMRESLeastSolve_Private(gm, k);
  CBGMRESDirectionExpand_Private(gm, k);
  PetscCall((*B->ops->combine)(B, k, gm->leftover.x, CB_IMAGE(ksp)));
  if (!gm->flexible) PetscCall(KSPUnwindPreconditioner(ksp, CB_IMAGE(ksp), CB_WORK(ksp)));
  /* rounded columns have a part in a null space, which a preconditioner enlarges, and which would cost digits of x */
  PetscCall(CBGMRESRemoveNullSpace_Private(ksp, CB_IMAGE(ksp)));
  PetscCall(VecAXPY(x, factor, CB_IMAGE(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
