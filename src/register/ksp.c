/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   All Krylov methods of Lithe. Called while a plugin is loaded, before PetscInitialize() has ended: the function may
   register types, and must not create objects.
*/

#include <lithe/private/litheimpl.h>
#include <litheksp.h>

PETSC_INTERN PetscErrorCode KSPCreate_BCGSM(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_CBGMRES(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_CBFGMRES(KSP);
PETSC_INTERN PetscErrorCode KSPCreate_MPCG(KSP);

PetscErrorCode LitheKSPRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(KSPRegister(KSPBCGSM, KSPCreate_BCGSM));
  PetscCall(KSPRegister(KSPCBGMRES, KSPCreate_CBGMRES));
  PetscCall(KSPRegister(KSPCBFGMRES, KSPCreate_CBFGMRES));
  PetscCall(KSPRegister(KSPMPCG, KSPCreate_MPCG));
  PetscFunctionReturn(PETSC_SUCCESS);
}
