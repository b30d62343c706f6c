/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCINVERSE: the inverse of a small matrix, dense, for coarsest grids.

   A W cycle solves on the coarsest grid many times. On a GPU two triangular solves take as many steps
   as there are rows; a product with the inverse is one kernel.
*/

#include "referencepc.h"
#include <petsc/private/pcimpl.h>

static PetscErrorCode PCReset_Inverse(PC pc)
{
  PetscFunctionBegin;
  PetscCall(MatDestroy((Mat *)&pc->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSetUp_Inverse(PC pc)
{
  PetscInt    n;
  PetscMPIInt size;
  PetscBool   iscuda;
  VecType     type;
  Mat         factor, identity, inverse;

  PetscFunctionBegin;
  PetscCall(PCReset_Inverse(pc));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)pc), &size));
  PetscCheck(size == 1, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP, "-%spc_type inverse is for one process: put it inside of redundant",
             ((PetscObject)pc)->prefix ? ((PetscObject)pc)->prefix : "");
  PetscCall(MatGetSize(pc->pmat, &n, NULL));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &inverse));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, n, n, NULL, &identity));
  PetscCall(MatShift(identity, 1.));
  PetscCall(MatConvert(pc->pmat, MATSEQDENSE, MAT_INITIAL_MATRIX, &factor));
  PetscCall(MatLUFactor(factor, NULL, NULL, NULL));
  PetscCall(MatMatSolve(factor, identity, inverse));
  PetscCall(MatDestroy(&factor));
  PetscCall(MatDestroy(&identity));

  /* where the vectors are */
  PetscCall(MatGetVecType(pc->pmat, &type));
  PetscCall(PetscStrendswith(type, "cuda", &iscuda));
  if (iscuda) PetscCall(MatConvert(inverse, MATDENSECUDA, MAT_INPLACE_MATRIX, &inverse));
  pc->data = inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Inverse(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMult((Mat)pc->data, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_Inverse(PC pc, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatMultTranspose((Mat)pc->data, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   PCINVERSE - "inverse" - The inverse of a small matrix, as a dense matrix

   Level: intermediate

   Note:
   It takes n^2 entries of memory and n^3 operations of set-up. For one process; in a `PCREDUNDANT`, as
   -mg_coarse_redundant_pc_type, for several.

.seealso: `PCLU`, `PCREDUNDANT`, `PCDEZEEUW`
M*/
PETSC_INTERN PetscErrorCode PCCreate_Inverse(PC);

PetscErrorCode PCCreate_Inverse(PC pc)
{
  PetscFunctionBegin;
  pc->data                = NULL;
  pc->ops->setup          = PCSetUp_Inverse;
  pc->ops->reset          = PCReset_Inverse;
  pc->ops->destroy        = PCReset_Inverse;
  pc->ops->apply          = PCApply_Inverse;
  pc->ops->applytranspose = PCApplyTranspose_Inverse;
  PetscFunctionReturn(PETSC_SUCCESS);
}
