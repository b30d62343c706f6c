/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Strong entries: |a_ij| >= threshold |a_ii a_jj|^1/2. The filtered matrix has these, and weak entries on its diagonal,
   so row sums are those of A
*/

#include "camgimpl.h"

/* The Frobenius norms of blocks */
PetscErrorCode PCCAMGNorms_Private(const CAMGMatrix *A, PetscInt block, CAMGMatrix *N)
{
  const PetscInt n = A->m / block;
  PetscInt      *at, used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(n, n, A->nz, N));
  PetscCall(PetscMalloc1(n, &at));
  for (PetscInt c = 0; c < n; c++) at[c] = -1;
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt begin = used;

    for (PetscInt k = A->i[block * r]; k < A->i[block * (r + 1)]; k++) {
      const PetscInt  c = A->j[k] / block;
      const PetscReal v = PetscRealPart(A->a[k] * PetscConj(A->a[k]));

      if (at[c] < begin) {
        at[c]        = used;
        N->j[used]   = c;
        N->a[used++] = v;
      } else N->a[at[c]] += v;
    }
    for (PetscInt k = begin; k < used; k++) N->a[k] = PetscSqrtReal(PetscRealPart(N->a[k]));
    PetscCall(PetscSortIntWithScalarArray(used - begin, N->j + begin, N->a + begin));
    N->i[r + 1] = used;
  }
  N->nz = used;
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGFilter_Private(const CAMGMatrix *A, PetscReal threshold, CAMGGraph *g)
{
  PetscReal *root;
  PetscInt   used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, &g->strong));
  PetscCall(PetscCalloc1(A->m, &g->d));
  PetscCall(PetscCalloc1(A->m, &root));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] == r) g->d[r] += A->a[k];
    }
    root[r] = PetscSqrtReal(PetscAbsScalar(g->d[r]));
  }
  for (PetscInt r = 0; r < A->m; r++) {
    const PetscReal least = threshold * root[r];

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
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* F^H */
PetscErrorCode PCCAMGTransposeGraph_Private(const CAMGGraph *F, CAMGGraph *H)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGTranspose_Private(&F->strong, &H->strong));
  PetscCall(PetscMalloc1(F->strong.m, &H->d));
  for (PetscInt r = 0; r < F->strong.m; r++) H->d[r] = PetscConj(F->d[r]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
