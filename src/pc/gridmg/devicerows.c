/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rows of the matrix of a PCGRIDMG where they are on a device */

#include "gridmgimpl.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>

/* Whether there are any: those of a MATSEQAIJCUSPARSE that works on its device. Restore them in any case */
PetscErrorCode PCGridMGRowsGet_Private(PC pc, PetscBool *are)
{
  PC_GridMG      *mg   = (PC_GridMG *)pc->data;
  GridMGCSR   *rows = &mg->matrix;
  PetscBool       bound;
  const PetscInt *i, *j;
  MatInfo         info;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  *are = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSEQAIJCUSPARSE, are));
  PetscCall(MatBoundToCPU(pc->pmat, &bound));
  if (!*are || bound) *are = PETSC_FALSE;
  if (*are) {
    PetscCall(MatGetInfo(pc->pmat, MAT_LOCAL, &info));
    if (info.nz_used == 0.) *are = PETSC_FALSE; /* there may be no arrays */
  }
  if (!*are) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJCUSPARSEGetIJ(pc->pmat, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(pc->pmat, &rows->a));
  rows->i = i;
  rows->j = j;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRowsRestore_Private(PC pc)
{
  PC_GridMG    *mg   = (PC_GridMG *)pc->data;
  GridMGCSR *rows = &mg->matrix;

  PetscFunctionBegin;
  if (rows->a) {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(pc->pmat, &rows->a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(pc->pmat, PETSC_FALSE, &rows->i, &rows->j));
  }
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode PCGridMGRowsGet_Private(PETSC_UNUSED PC pc, PetscBool *are)
{
  PetscFunctionBegin;
  *are = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGRowsRestore_Private(PETSC_UNUSED PC pc)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
