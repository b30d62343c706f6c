/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rows of a matrix that are in device memory */

#include "camgimpl.h"
#include <petscdevice_cuda.h>

typedef PetscErrorCode GetRowsFn(Mat, const PetscInt **, const PetscInt **, const PetscScalar **, PetscBool *);

/*
   Whether a set-up on the device is possible: one process, and rows that are there, or that a type such as MATVCRS
   decodes there
*/
PetscErrorCode PCCAMGDeviceRowsAre_Private(Mat A, PetscBool *are)
{
  GetRowsFn *get;
  MatInfo    info;

  PetscFunctionBegin;
  *are = PETSC_FALSE;
  if (PetscDefined(USE_64BIT_INDICES)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatGetRows_C", &get));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, are));
  if (*are) {
    PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
    if (info.nz_used == 0.) *are = PETSC_FALSE; /* the arrays may not exist */
  } else if (get) {
    CAMGMatrix rows;

    PetscCall((*get)(A, (const PetscInt **)&rows.i, (const PetscInt **)&rows.j, (const PetscScalar **)&rows.a, are));
    if (*are) PetscCall(PCCAMGDeviceRowsRestore_Private(A, &rows));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGDeviceRowsGet_Private(Mat A, CAMGMatrix *rows)
{
  GetRowsFn         *get;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscBool          are;
  PetscInt           nz;

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatGetRows_C", &get));
  if (get) PetscCall((*get)(A, &i, &j, &a, &are));
  else {
    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
  }
  PetscCall(MatGetSize(A, &rows->m, &rows->n));
  PetscCall(LitheDeviceGet(sizeof(nz), i + rows->m, &nz));
  rows->i  = (PetscInt *)i;
  rows->j  = (PetscInt *)j;
  rows->a  = (PetscScalar *)a;
  rows->nz = nz;
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
