/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Matrices during the set-up, on the host: products, transposes, symmetric parts. A product keeps a row of counters per
   column of the result (F. Gustavson, Two fast algorithms for sparse matrices, ACM TOMS 4, 1978)
*/

#include "camgimpl.h"

PetscErrorCode PCCAMGMatrixCreate_Private(PetscInt m, PetscInt n, PetscInt nz, CAMGMatrix *A)
{
  PetscFunctionBegin;
  A->m = m;
  A->n = n;
  A->nz = nz;
  PetscCall(PetscMalloc1(m + 1, &A->i));
  PetscCall(PetscMalloc1(nz, &A->j));
  PetscCall(PetscMalloc1(nz, &A->a));
  A->i[0] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGMatrixFree_Private(CAMGMatrix *A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(A->i));
  PetscCall(PetscFree(A->j));
  PetscCall(PetscFree(A->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B = A^H, with ascending columns */
PetscErrorCode PCCAMGTranspose_Private(const CAMGMatrix *A, CAMGMatrix *B)
{
  PetscInt *next;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->n, A->m, A->nz, B));
  PetscCall(PetscArrayzero(B->i, A->n + 1));
  for (PetscInt k = 0; k < A->nz; k++) B->i[A->j[k] + 1]++;
  for (PetscInt r = 0; r < A->n; r++) B->i[r + 1] += B->i[r];
  PetscCall(PetscMalloc1(A->n, &next));
  PetscCall(PetscArraycpy(next, B->i, A->n));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt p = next[A->j[k]]++;

      B->j[p] = r;
      B->a[p] = PetscConj(A->a[k]);
    }
  }
  PetscCall(PetscFree(next));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries of a row by ascending columns */
static PetscErrorCode SortRow_Private(PetscInt n, PetscInt j[], PetscScalar a[])
{
  PetscFunctionBegin;
  if (n > 48) {
    PetscCall(PetscSortIntWithScalarArray(n, j, a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt p = 1; p < n; p++) {
    const PetscInt    column = j[p];
    const PetscScalar v      = a[p];
    PetscInt          q      = p;

    for (; q > 0 && j[q - 1] > column; q--) {
      j[q] = j[q - 1];
      a[q] = a[q - 1];
    }
    j[q] = column;
    a[q] = v;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 Products(const CAMGMatrix *A, const CAMGMatrix *B)
{
  PetscInt64 products = 0;

  for (PetscInt k = 0; k < A->nz; k++) products += B->i[A->j[k] + 1] - B->i[A->j[k]];
  return products;
}

PetscErrorCode PCCAMGProducts_Private(const CAMGMatrix *A, const CAMGMatrix *B, PetscReal *perentry)
{
  PetscFunctionBegin;
  *perentry = (PetscReal)((double)Products(A, B) / (double)PetscMax(A->nz, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for more entries; the arrays are as large as the product, up to a half */
static PetscErrorCode Grow_Private(CAMGMatrix *C, PetscInt used, PetscInt needed, PetscInt *room)
{
  PetscInt    *j;
  PetscScalar *a;

  PetscFunctionBegin;
  if (used + needed <= *room) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(used <= PETSC_INT_MAX / 2 - needed, PETSC_COMM_SELF, PETSC_ERR_SUP, "A coarse matrix has more entries than PetscInt counts. Configure PETSC --with-64-bit-indices");
  *room = PetscMax(used + needed, used + used / 2);
  PetscCall(PetscMalloc1(*room, &j));
  PetscCall(PetscMalloc1(*room, &a));
  PetscCall(PetscArraycpy(j, C->j, used));
  PetscCall(PetscArraycpy(a, C->a, used));
  PetscCall(PetscFree(C->j));
  PetscCall(PetscFree(C->a));
  C->j = j;
  C->a = a;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* C = A B */
PetscErrorCode PCCAMGMultiply_Private(const CAMGMatrix *A, const CAMGMatrix *B, CAMGMatrix *C)
{
  PetscInt *at, room = (PetscInt)PetscMin(Products(A, B), 2 * (PetscInt64)A->nz + A->m), used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, B->n, room, C));
  PetscCall(PetscMalloc1(B->n, &at));
  for (PetscInt c = 0; c < B->n; c++) at[c] = -1;
  for (PetscInt r = 0; r < A->m; r++) {
    const PetscInt begin = used;
    PetscInt       most  = 0;

    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) most += B->i[A->j[k] + 1] - B->i[A->j[k]];
    PetscCall(Grow_Private(C, used, PetscMin(most, B->n), &room));
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscScalar a = A->a[k];

      for (PetscInt q = B->i[A->j[k]]; q < B->i[A->j[k] + 1]; q++) {
        const PetscInt c = B->j[q];

        if (at[c] < begin) {
          at[c]      = used;
          C->j[used] = c;
          C->a[used] = a * B->a[q];
          used++;
        } else C->a[at[c]] += a * B->a[q];
      }
    }
    PetscCall(SortRow_Private(used - begin, C->j + begin, C->a + begin));
    C->i[r + 1] = used;
  }
  C->nz = used;
  PetscCall(PetscFree(at));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* S = (A + A^H) / 2 */
PetscErrorCode PCCAMGSymmetricPart_Private(const CAMGMatrix *A, CAMGMatrix *S)
{
  CAMGMatrix B;
  PetscInt   used = 0;

  PetscFunctionBegin;
  PetscCall(PCCAMGTranspose_Private(A, &B));
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, 2 * A->nz, S));
  for (PetscInt r = 0; r < A->m; r++) {
    PetscInt p = A->i[r], q = B.i[r];

    while (p < A->i[r + 1] || q < B.i[r + 1]) {
      const PetscInt ca = p < A->i[r + 1] ? A->j[p] : PETSC_INT_MAX, cb = q < B.i[r + 1] ? B.j[q] : PETSC_INT_MAX;
      PetscScalar    v = 0;

      if (ca <= cb) v += A->a[p++];
      if (cb <= ca) v += B.a[q++];
      S->j[used]   = PetscMin(ca, cb);
      S->a[used++] = v * (PetscReal)0.5;
    }
    S->i[r + 1] = used;
  }
  S->nz = used;
  PetscCall(PCCAMGMatrixFree_Private(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ rows of the user */

PetscErrorCode PCCAMGSurvey_Private(const CAMGMatrix *A, double largest[2], PetscInt *sign, PetscBool *finite)
{
  PetscFunctionBegin;
  largest[0] = largest[1] = 0;
  *sign                   = 0;
  *finite                 = PETSC_TRUE;
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const double a = (double)PetscAbsScalar(A->a[k]);

      if (!(a <= (double)PETSC_MAX_REAL)) *finite = PETSC_FALSE;
      largest[1] = PetscMax(largest[1], a);
      if (A->j[k] != r) continue;
      largest[0] = PetscMax(largest[0], a);
      *sign += (PetscRealPart(A->a[k]) > 0) - (PetscRealPart(A->a[k]) < 0);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGCopy_Private(const CAMGMatrix *A, double factor, const double left[], const double right[], CAMGMatrix *B)
{
  PetscFunctionBegin;
  PetscCall(PCCAMGMatrixCreate_Private(A->m, A->n, A->nz, B));
  PetscCall(PetscArraycpy(B->i, A->i, A->m + 1));
  PetscCall(PetscArraycpy(B->j, A->j, A->nz));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) B->a[k] = A->a[k] * (PetscReal)factor * (PetscReal)left[r] * (PetscReal)right[A->j[k]];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGSetOuter_Private(PetscInt n, const PetscScalar x[], double outer[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) outer[r] = x ? (double)PetscRealPart(x[r]) : 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGDivide_Private(PetscInt n, const double s[], double outer[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) outer[r] /= s[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A number between -1 and 1 for an index */
static inline PetscReal Number(PetscInt k)
{
  uint32_t h = (uint32_t)k * 2654435761U;

  h ^= h >> 15;
  h *= 2246822519U;
  h ^= h >> 13;
  return (PetscReal)(h * 0x1p-31 - 1.);
}

/*
   Whether A is Hermitian: y^H A x = (x^H A y)^* for vectors of pseudorandom numbers over the roots of the diagonal. An
   entry without partner changes the forms by its size relative to the diagonal
*/
PetscErrorCode PCCAMGIsSymmetric_Private(const CAMGMatrix *A, PetscBool *symmetric)
{
  PetscScalar forms[2] = {0, 0};
  PetscReal  *s, size = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(A->m, &s));
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      if (A->j[k] == r && A->a[k] != (PetscScalar)0.) s[r] = 1 / PetscSqrtReal(PetscAbsScalar(A->a[k]));
    }
  }
  for (PetscInt r = 0; r < A->m; r++) {
    for (PetscInt k = A->i[r]; k < A->i[r + 1]; k++) {
      const PetscInt    c = A->j[k];
      const PetscScalar v = A->a[k] * s[r] * s[c];

      forms[0] += v * Number(2 * r) * Number(2 * c + 1);
      forms[1] += v * Number(2 * r + 1) * Number(2 * c);
      size += PetscRealPart(v * PetscConj(v));
    }
  }
  PetscCall(PetscFree(s));
  *symmetric = (PetscBool)(PetscAbsScalar(forms[0] - PetscConj(forms[1])) <= 1e-10 * PetscSqrtReal(size));
  PetscFunctionReturn(PETSC_SUCCESS);
}
