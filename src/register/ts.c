/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   All time steppers of Lithe. Called while a plugin is loaded, before PetscInitialize() has ended: the function may
   register types, and must not create objects.
*/

#include <lithe/private/litheimpl.h>
#include <lithets.h>

PETSC_INTERN PetscErrorCode TSCreate_Uniformization(TS);

PetscErrorCode LitheTSRegisterAll(void)
{
  PetscFunctionBegin;
  PetscCall(TSRegister(TSUNIFORMIZATION, TSCreate_Uniformization));
  PetscFunctionReturn(PETSC_SUCCESS);
}
