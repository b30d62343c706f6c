/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The correction of the solution that a cycle's least squares problem gives */

#include "cbgmresimpl.h"

/* x = x + factor times what the first k columns stand for */
PetscErrorCode CBGMRESAddCorrection_Private(KSP ksp, PetscInt k, PetscScalar factor, Vec x)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      B  = gm->flexible ? gm->Z : gm->V;
  PetscBool    none;

  PetscFunctionBegin;
  if (!k) PetscFunctionReturn(PETSC_SUCCESS);
  CBGMRESLeastSolve_Private(gm, k);
  CBGMRESDirectionExpand_Private(gm, k);
  gm->imagelost = PETSC_TRUE;
  PetscCall((*B->ops->combine)(B, k, gm->x, CB_IMAGE(ksp)));
  if (!gm->flexible) PetscCall(KSPUnwindPreconditioner(ksp, CB_IMAGE(ksp), CB_WORK(ksp)));
  /*
     Columns have no part in a null space, except by rounding. A preconditioner from the right may add one, as it does
     with KSPGMRES.
  */
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
  if (none || gm->flexible || ksp->pc_side == PC_LEFT) PetscCall(CBGMRESRemoveNullSpace_Private(ksp, CB_IMAGE(ksp)));
  PetscCall(VecAXPY(x, factor, CB_IMAGE(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
