/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Vectors and levels of a preconditioner may be at different places: the host, or a device */

#include <lithe/private/litheplace.h>

/* done: whether both vectors are on the device */
static PetscErrorCode OnDevice_Private(PC pc, Vec x, Vec y, LithePCApplyArrays apply, PetscBool *done)
{
  const PetscScalar *px;
  PetscScalar       *py;
  PetscMemType       tx, ty;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &px, &tx));
  PetscCall(VecGetArrayWriteAndMemType(y, &py, &ty));
  *done = (PetscBool)(!PetscMemTypeHost(tx) && !PetscMemTypeHost(ty));
  if (*done) PetscCall((*apply)(pc, px, py));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePCApplyThere(PC pc, PetscBool device, Vec work[2], Vec x, Vec y, LithePCApplyArrays apply)
{
  const PetscScalar *px;
  PetscScalar       *py;
  PetscBool          done;

  PetscFunctionBegin;
  if (!device) {
    PetscCall(VecGetArrayRead(x, &px));
    PetscCall(VecGetArrayWrite(y, &py));
    PetscCall((*apply)(pc, px, py));
    PetscCall(VecRestoreArrayWrite(y, &py));
    PetscCall(VecRestoreArrayRead(x, &px));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(OnDevice_Private(pc, x, y, apply, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);

  /* vectors on the host, levels on the device */
  if (!work[0]) PetscCall(MatCreateVecs(pc->pmat, &work[1], &work[0]));
  PetscCall(VecCopy(x, work[0]));
  PetscCall(OnDevice_Private(pc, work[0], work[1], apply, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The vectors of the matrix were on a device when the preconditioner was set up, and now are on the host. Set it up again");
  PetscCall(VecCopy(work[1], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
