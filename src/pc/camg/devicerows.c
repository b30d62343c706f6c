/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rows of a matrix that are in device memory */

#include "camgimpl.h"
#include <petscdevice_cuda.h>

typedef PetscErrorCode GetRowsFn(Mat, const PetscInt **, const PetscInt **, const PetscScalar **, PetscBool *);

/*
   Rows in device memory, or of a type such as MATVCRS that decodes its rows there. *are: FALSE without such rows, and
   with 64-bit indices; then there is nothing to restore
*/
PetscErrorCode PCCAMGDeviceRowsGet_Private(Mat A, CAMGMatrix *rows, PetscBool *are)
{
  GetRowsFn         *get;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  MatInfo            info;

  PetscFunctionBegin;
  *are = PETSC_FALSE;
  if (PetscDefined(USE_64BIT_INDICES)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, are));
  if (*are) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    if (info.nz_used == 0.) *are = PETSC_FALSE; /* the arrays may not exist */
    if (!*are) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
  } else {
    PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatGetRows_C", &get));
    if (get) PetscCall((*get)(A, &i, &j, &a, are));
    if (!*are) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetSize(A, &rows->m, &rows->n));
  PetscCall(LitheDeviceGet(sizeof(rows->nz), i + rows->m, &rows->nz));
  rows->i = (PetscInt *)i;
  rows->j = (PetscInt *)j;
  rows->a = (PetscScalar *)a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGDeviceRowsRestore_Private(Mat A, CAMGMatrix *rows)
{
  const PetscInt    *i = rows->i, *j = rows->j;
  const PetscScalar *a = rows->a;
  PetscErrorCode (*restore)(Mat, const PetscScalar **);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatRestoreRows_C", &restore));
  if (restore) PetscCall((*restore)(A, &a));
  else {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
