/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Predicates of PCVCRS about the inner preconditioners */

#include "pcvcrsimpl.h"

/* Types whose data is PC_MG */
PetscErrorCode PCVCRSIsMultigrid_Private(PC pc, PetscBool *ismg)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectHasFunction((PetscObject)pc, "PCMGGetLevels_C", ismg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the copies still belong to the inner preconditioner. A program may have changed its type, or the
   preconditioner of its solver.
*/
PetscErrorCode PCVCRSPlaceIsCurrent_Private(const PCVCRSPlace *p, PetscBool *current)
{
  PetscFunctionBegin;
  PetscCall(PetscStrcmp(p->type, ((PetscObject)p->pc)->type_name, current));
  if (!p->pc->setupcalled || (p->ksp && p->ksp->pc != p->pc)) *current = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests readable factors of a MATSEQAIJCUSPARSE: by Lithe on the device, or else by PETSc on the host */
PetscErrorCode PCVCRSSetSolverType_Private(PC pc)
{
  PetscBool incomplete = PETSC_FALSE, ondevice = PETSC_FALSE;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc, &incomplete, PCILU, PCICC, ""));
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSEQAIJCUSPARSE, &ondevice));
#endif
  PetscCall(PCFactorSetMatSolverType(pc, incomplete && ondevice ? MATSOLVERLITHE : MATSOLVERPETSC));
  PetscFunctionReturn(PETSC_SUCCESS);
}
