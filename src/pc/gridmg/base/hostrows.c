/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The arrays of a matrix on the host */

#include "base.h"

static PetscErrorCode HasArrays_Private(Mat A, PetscBool *has)
{
  PetscErrorCode (*query)(Mat, PetscBool *);

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatHasArrays_C", &query));
  if (query) PetscCall((*query)(A, has));
  else PetscCall(PetscObjectTypeCompareAny((PetscObject)A, has, MATSEQAIJ, MATSEQAIJCUSPARSE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGHostRowsGet_Private(Mat A, PetscBool shared, GridMGHostRows *rows)
{
  const int blocks = shared ? 2 : 1;
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(rows, sizeof(*rows)));
  rows->A = rows->block[0] = A;
  PetscCall(MatAssembled(A, &rows->arrays));
  if (rows->arrays) {
    PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, shared ? MATMPIAIJ : MATSEQAIJ, &rows->arrays));
    if (rows->arrays && shared) PetscCall(MatMPIAIJGetSeqAIJ(A, &rows->block[0], &rows->block[1], &rows->global));
  }
  for (int b = 0; b < blocks && rows->arrays; b++) PetscCall(HasArrays_Private(rows->block[b], &rows->arrays));
  for (int b = 0; b < blocks && rows->arrays; b++) {
    PetscCall(MatGetRowIJ(rows->block[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->i[b], &rows->j[b], &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not give its columns", ((PetscObject)rows->block[b])->type_name);
    PetscCall(MatSeqAIJGetArrayRead(rows->block[b], &rows->a[b]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGHostRowsRestore_Private(GridMGHostRows *rows)
{
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  for (int b = 0; b < 2 && rows->arrays && rows->i[b]; b++) {
    PetscCall(MatSeqAIJRestoreArrayRead(rows->block[b], &rows->a[b]));
    PetscCall(MatRestoreRowIJ(rows->block[b], 0, PETSC_FALSE, PETSC_FALSE, &n, &rows->i[b], &rows->j[b], &done));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
