/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows of several processes in one matrix, on the host. CAMGKernels says what the functions do */

#include "camgimpl.h"

/* Appends row r of A to C, with columns place[..] */
static PetscErrorCode Append_Private(const CAMGMatrix *A, PetscInt r, const PetscInt place[], PetscInt *used, CAMGMatrix *C)
{
  const size_t   size  = (size_t)A->rb * (size_t)A->cb;
  const PetscInt begin = A->i[r], n = A->i[r + 1] - begin;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) C->j[*used + k] = place ? place[A->j[begin + k]] : A->j[begin + k];
  PetscCall(PetscArraycpy(C->a + (size_t)*used * size, A->a + (size_t)begin * size, (size_t)n * size));
  *used += n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGExtract_Private(const CAMGMatrix *A, PetscInt count, const PetscInt row[], CAMGMatrix *C)
{
  PetscInt nz = 0, used = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < count; r++) nz += A->i[row[r] + 1] - A->i[row[r]];
  PetscCall(PCCAMGMatrixCreate_Private(count, A->n, nz, A->rb, A->cb, C));
  for (PetscInt r = 0; r < count; r++) {
    PetscCall(Append_Private(A, row[r], NULL, &used, C));
    C->i[r + 1] = used;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGJoin_Private(const CAMGMatrix *A, const CAMGMatrix *B, PetscInt m, PetscInt n, const PetscInt target[], const PetscInt place[],
                                  CAMGMatrix *C)
{
  PetscInt next = 0, used = 0;

  PetscFunctionBegin;
  PetscCheck(A->nz <= PETSC_INT_MAX - B->nz, PETSC_COMM_SELF, PETSC_ERR_SUP, "A process has more entries than PetscInt counts. Use more processes");
  PetscCall(PCCAMGMatrixCreate_Private(m, n, A->nz + B->nz, B->rb, B->cb, C));
  for (PetscInt r = 0; r < m; r++) {
    const PetscBool more = (PetscBool)(next < B->m && (target ? target[next] : next) == r);

    if (r < A->m && !(more && target)) PetscCall(Append_Private(A, r, NULL, &used, C));
    if (more) PetscCall(Append_Private(B, next++, place, &used, C));
    C->i[r + 1] = used;
  }
  C->nz = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGMark_Private(const CAMGMatrix *A, PetscInt used[])
{
  PetscFunctionBegin;
  PetscCall(PetscArrayzero(used, A->n));
  for (PetscInt k = 0; k < A->nz; k++) used[A->j[k]] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGRenumber_Private(CAMGMatrix *A, PetscInt from, const PetscInt map[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < A->nz; k++) {
    if (A->j[k] >= from) A->j[k] = map[A->j[k] - from];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGTurn_Private(const CAMGMatrix *A, PetscInt j[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) j[k] = A->j[k] < A->m ? A->j[k] : r;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
