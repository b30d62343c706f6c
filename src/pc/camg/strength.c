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

PetscErrorCode PCCAMGFilter_Private(const CAMGMatrix *A, PetscReal threshold, CAMGGraph *g)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGFilterShared_Private(A, NULL, threshold, g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGFilterShared_Private(const CAMGMatrix *A, const CAMGGhosts *ghosts, PetscReal threshold, CAMGGraph *g)
{
  PetscReal *root;
  PetscInt   used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, 1, 1, &g->strong));
  PetscCall(PetscCalloc1(A->m, &g->d));
  PetscCall(PetscCalloc1(A->n, &root));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] == r) g->d[r] += A->a[k];
    }
    root[r] = PetscSqrtReal(PetscAbsScalar(g->d[r]));
  }
  PetscCall(PCCAMGGhostsGet_Private(ghosts, 1, MPIU_REAL, root));
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
  H->d = NULL;
  if (!F->d) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(F->strong.m, &H->d));
  for (PetscInt r = 0; r < F->strong.m; r++) H->d[r] = PetscConj(F->d[r]);
  PetscFunctionReturn(PETSC_SUCCESS);
}
