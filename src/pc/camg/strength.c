/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Strong entries: |a_ij| >= threshold |a_ii a_jj|^1/2. The filtered matrix has these, and weak entries on its diagonal,
   so row sums are those of A
*/

#include "camgimpl.h"

/* The Frobenius norms of blocks */
PetscErrorCode PCCAMGNorms_Private(const CAMGMatrix *A, CAMGMatrix *N)
{
  const PetscInt size = A->rb * A->cb;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, 1, 1, N));
  PetscCall(PetscArraycpy(N->i, A->i, A->m + 1));
  PetscCall(PetscArraycpy(N->j, A->j, A->nz));
  for (PetscInt k = 0; k < A->nz; k++) {
    const PetscScalar *a   = A->a + (size_t)k * (size_t)size;
    PetscReal          sum = 0;

    for (PetscInt e = 0; e < size; e++) sum += PetscRealPart(a[e] * PetscConj(a[e]));
    N->a[k] = PetscSqrtReal(sum);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGRoots_Private(const CAMGMatrix *A, PetscReal root[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < A->m; r++) {
    PetscScalar d = 0;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] == r) d += A->a[k];
    }
    root[r] = PetscSqrtReal(PetscAbsScalar(d));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGFilter_Private(const CAMGMatrix *A, const PetscReal root[], PetscReal threshold, CAMGGraph *g)
{
  PetscInt used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, 1, 1, &g->strong));
  PetscCall(PetscCalloc1(A->m, &g->d));
  for (PetscInt r = 0; r < A->m; r++) {
    const PetscReal least = threshold * root[r];

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] == r) g->d[r] += A->a[k];
    }
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt c = A->j[k];

      if (c == r || A->a[k] == (PetscScalar)0.) continue;
      if (PetscAbsScalar(A->a[k]) >= least * root[c]) {
        g->strong.j[used]   = c;
        g->strong.a[used++] = A->a[k];
      } else g->d[r] += A->a[k];
    }
    g->strong.i[r + 1] = used;
  }
  g->strong.nz = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGConjugate_Private(PetscInt n, const PetscScalar d[], PetscScalar out[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) out[r] = PetscConj(d[r]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
