/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options database of the program, hidden while an object makes matrices and vectors of its own.
*/

#include <lithe/private/litheimpl.h>

/* The database is empty until LitheOptionsShow(). A caller must call that function after an error, too */
PetscErrorCode LitheOptionsHide(PetscOptions *none)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(none));
  PetscCall(PetscOptionsPush(*none));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheOptionsShow(PetscOptions *none)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(none));
  PetscFunctionReturn(PETSC_SUCCESS);
}
