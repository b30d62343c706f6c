/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   All preconditioners of Lithe. Called while a plugin is loaded, before PetscInitialize() has ended: the function may
   register types, and must not create objects.
*/

#include <lithe/private/litheimpl.h>
#include <lithepc.h>

PETSC_INTERN PetscErrorCode PCCreate_CAMG(PC);
PETSC_INTERN PetscErrorCode PCCreate_GridMG(PC);
PETSC_INTERN PetscErrorCode PCCreate_SBPMG(PC);
PETSC_INTERN PetscErrorCode PCCreate_VCRS(PC);

PetscErrorCode LithePCRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(PCRegister(PCCAMG, PCCreate_CAMG));
  PetscCall(PCRegister(PCGRIDMG, PCCreate_GridMG));
  PetscCall(PCRegister(PCSBPMG, PCCreate_SBPMG));
  PetscCall(PCRegister(PCVCRS, PCCreate_VCRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}
