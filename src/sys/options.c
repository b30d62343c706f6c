/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Hides the options database of the program while an object creates internal matrices and vectors. */

#include <lithe/private/litheimpl.h>

/* Makes the database empty until LitheOptionsShow(). A caller must also call LitheOptionsShow() after an error */
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
