/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The factors that PETSc has made, read.

   The contents of the factored matrix of a PCILU, PCICC, PCLU or PCCHOLESKY,

     P_r A P_c = L U    (MATSEQAIJ: L by rows, then the rows of U from the last to the first, each
                         with the inverse of its diagonal entry at its end)
     P A P^T = U^T D U  (MATSEQSBAIJ: the rows of -U, each with the inverse of D's entry at its end)

   is read through PETSc's public functions for arrays. Row and column orderings have no function. With all off-diagonal
   entries taken for zero, and known numbers for the pivots, solving for known right-hand sides reveals them. Everything
   read is tested: a system solved with it must have the solution of MatSolve(); otherwise the factors count as unknown.
*/

#include "pcvcrstriangles.h"

PetscErrorCode PCVCRSTrianglesFree_Private(PCVCRSTriangles *t)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(t->lower.i, t->lower.j, t->lower.a));
  PetscCall(PetscFree3(t->upper.i, t->upper.j, t->upper.a));
  PetscCall(PetscFree3(t->inverse, t->row, t->col));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - op(T))^-1 x with the rows of a strict triangle */
PetscErrorCode PCVCRSRowsSubstitute_Private(const PCVCRSRows *t, PetscBool upper, PetscBool transpose, PetscScalar x[])
{
  PetscFunctionBegin;
  for (PetscInt s = 0; s < t->n; s++) {
    const PetscInt r   = upper != transpose ? t->n - 1 - s : s;
    PetscScalar    sum = x[r];

    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) {
      if (transpose) x[t->j[k]] += t->a[k] * x[r];
      else sum += t->a[k] * x[t->j[k]];
    }
    if (!transpose) x[r] = sum;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSRowsSweep_Private(const PCVCRSRows *t, PetscBool transpose, const PetscScalar b[], const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(PetscArraycpy(y, b, t->n));
  for (PetscInt r = 0; r < t->n; r++) {
    for (PetscInt k = t->i[r]; k < t->i[r + 1]; k++) {
      if (transpose) y[t->j[k]] += t->a[k] * x[r];
      else y[r] += t->a[k] * x[t->j[k]];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of a factored matrix; a caller may write to them if it restores them */
static PetscErrorCode PCVCRSGetArrays_Private(Mat F, PetscBool symmetric, const PetscInt **i, const PetscInt **j, PetscScalar **a)
{
  PetscMemType memtype = PETSC_MEMTYPE_HOST;
  PetscInt     n;
  PetscBool    done;

  PetscFunctionBegin;
  if (symmetric) {
    PetscCall(MatGetRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "The pattern of a factored matrix of type %s cannot be read", ((PetscObject)F)->type_name);
    PetscCall(MatSeqSBAIJGetArray(F, a));
  } else {
    PetscCall(MatSeqAIJGetCSRAndMemType(F, i, j, a, &memtype));
    if (PetscMemTypeDevice(memtype)) *i = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSRestoreArrays_Private(Mat F, PetscBool symmetric, const PetscInt **i, const PetscInt **j, PetscScalar **a)
{
  PetscInt  n;
  PetscBool done;

  PetscFunctionBegin;
  if (symmetric) {
    PetscCall(MatRestoreRowIJ(F, 0, PETSC_FALSE, PETSC_FALSE, &n, i, j, &done));
    PetscCall(MatSeqSBAIJRestoreArray(F, a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the diagonal entry of each row, and thereby the rows of U; PETSC_FALSE if the format is not as expected */
static PetscBool PCVCRSFindPivots(PetscInt n, PetscInt nz, PetscBool symmetric, const PetscInt i[], const PetscInt j[], PetscInt pivot[])
{
  PetscInt p = i[n];

  if (symmetric) {
    if (i[n] != nz) return PETSC_FALSE;
    for (PetscInt r = 0; r < n; r++) {
      if (i[r + 1] <= i[r] || j[i[r + 1] - 1] != r) return PETSC_FALSE;
      pivot[r] = i[r + 1] - 1;
    }
    return PETSC_TRUE;
  }
  for (PetscInt r = n - 1; r >= 0; r--, p++) {
    while (p < nz && j[p] > r) p++;
    if (p >= nz || j[p] != r) return PETSC_FALSE;
    pivot[r] = p;
  }
  return (PetscBool)(p == nz);
}

/* Rows first[r] .. first[r] + length[r] - 1 of strictly triangular entries, times -scale[r] */
static PetscErrorCode PCVCRSTakeRows_Private(PetscInt n, const PetscInt first[], const PetscInt length[], const PetscInt j[], const PetscScalar a[],
                                             const PetscScalar scale[], PCVCRSRows *t)
{
  PetscInt nz = 0;

  PetscFunctionBegin;
  for (PetscInt r = 0; r < n; r++) nz += length[r];
  t->n = n;
  PetscCall(PetscMalloc3(n + 1, &t->i, nz, &t->j, nz, &t->a));
  t->i[0] = 0;
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt to = t->i[r];

    for (PetscInt k = 0; k < length[r]; k++) {
      t->j[to + k] = j[first[r] + k];
      t->a[to + k] = a[first[r] + k] * (scale ? -scale[r] : (PetscScalar)-1);
    }
    t->i[r + 1] = to + length[r];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Finds the orderings, while the values of F are replaced. Each number is passed in two halves, and is therefore exact
   in any precision. x[col[k]] = pivot_k b[row[k]], because all other entries are zero.
*/
static PetscErrorCode PCVCRSTellOrderings_Private(Mat F, PetscInt nz, const PetscInt pivot[], PetscScalar a[], PetscInt n, PetscInt row[], PetscInt col[])
{
  const PetscInt     half = 4096;
  const PetscScalar *x;
  PetscScalar       *b;
  PetscInt          *at;
  Vec                right, solution;

  PetscFunctionBegin;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &right));
  PetscCall(VecDuplicate(right, &solution));
  PetscCall(PetscCalloc1(n, &at));
  PetscCall(PetscArrayzero(a, nz));
  PetscCall(PetscArrayzero(row, n));

  /* Known pivots: at[l] = k where col[k] = l */
  PetscCall(VecSet(right, 1.0));
  for (PetscInt part = 0; part < 2; part++) {
    for (PetscInt k = 0; k < n; k++) a[pivot[k]] = (PetscScalar)(PetscReal)(part ? k / half : k % half);
    PetscCall(MatSolve(F, right, solution));
    PetscCall(VecGetArrayRead(solution, &x));
    for (PetscInt l = 0; l < n; l++) at[l] += (part ? half : 1) * (PetscInt)PetscRealPart(x[l]);
    PetscCall(VecRestoreArrayRead(solution, &x));
  }
  for (PetscInt k = 0; k < n; k++) col[k] = -1;
  for (PetscInt l = 0; l < n; l++) {
    if (at[l] >= 0 && at[l] < n) col[at[l]] = l;
  }

  /* Known right-hand side */
  for (PetscInt k = 0; k < n; k++) a[pivot[k]] = 1.0;
  for (PetscInt part = 0; part < 2; part++) {
    PetscCall(VecGetArrayWrite(right, &b));
    for (PetscInt l = 0; l < n; l++) b[l] = (PetscScalar)(PetscReal)(part ? l / half : l % half);
    PetscCall(VecRestoreArrayWrite(right, &b));
    PetscCall(MatSolve(F, right, solution));
    PetscCall(VecGetArrayRead(solution, &x));
    for (PetscInt k = 0; k < n; k++) {
      if (col[k] >= 0) row[k] += (part ? half : 1) * (PetscInt)PetscRealPart(x[col[k]]);
    }
    PetscCall(VecRestoreArrayRead(solution, &x));
  }
  PetscCall(PetscFree(at));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A system with all arrays, as read */
static PetscErrorCode PCVCRSTrianglesSolve_Private(const PCVCRSTriangles *t, const PetscScalar b[], PetscScalar y[], PetscScalar x[])
{
  PetscFunctionBegin;
  for (PetscInt r = 0; r < t->n; r++) y[r] = b[t->row[r]];
  PetscCall(PCVCRSRowsSubstitute_Private(t->symmetric ? &t->upper : &t->lower, t->symmetric, t->symmetric, y));
  for (PetscInt r = 0; r < t->n; r++) y[r] *= t->inverse[r];
  PetscCall(PCVCRSRowsSubstitute_Private(&t->upper, PETSC_TRUE, PETSC_FALSE, y));
  for (PetscInt r = 0; r < t->n; r++) x[t->col[r]] = y[r];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the factors read solve a system as F does */
static PetscErrorCode PCVCRSTrianglesTry_Private(Mat F, const PCVCRSTriangles *t, PetscBool *right)
{
  const PetscScalar *expected;
  PetscScalar       *b, *y, *x;
  PetscReal          error = 0.0, norm = 0.0;
  Vec                side, solution;

  PetscFunctionBegin;
  *right = PETSC_TRUE;
  for (PetscInt r = 0; r < t->n && *right; r++) *right = (PetscBool)(t->row[r] >= 0 && t->row[r] < t->n && t->col[r] >= 0 && t->col[r] < t->n);
  if (!*right) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, t->n, &side));
  PetscCall(VecDuplicate(side, &solution));
  PetscCall(PetscMalloc2(t->n, &y, t->n, &x));
  PetscCall(VecGetArray(side, &b));
  for (PetscInt r = 0; r < t->n; r++) b[r] = (PetscScalar)(PetscReal)(1.0 + (r % 7) / 8.0);
  PetscCall(PCVCRSTrianglesSolve_Private(t, b, y, x));
  PetscCall(VecRestoreArray(side, &b));
  PetscCall(MatSolve(F, side, solution));
  PetscCall(VecGetArrayRead(solution, &expected));
  for (PetscInt r = 0; r < t->n; r++) {
    error = PetscMax(error, PetscAbsScalar(x[r] - expected[r]));
    norm  = PetscMax(norm, PetscAbsScalar(expected[r]));
  }
  PetscCall(VecRestoreArrayRead(solution, &expected));
  *right = (PetscBool)(PetscIsNormalReal(norm) && error <= PETSC_SQRT_MACHINE_EPSILON * norm);
  PetscCall(PetscFree2(y, x));
  PetscCall(VecDestroy(&side));
  PetscCall(VecDestroy(&solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSTrianglesRead_Private(Mat F, PetscBool symmetric, PCVCRSTriangles *t, PetscBool *known)
{
  const PetscInt *i = NULL, *j = NULL;
  PetscInt       *pivot, *first, *length, nz;
  PetscScalar    *a = NULL, *values;
  MatInfo         info;

  PetscFunctionBegin;
  *known = PETSC_FALSE;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscCall(MatGetLocalSize(F, &t->n, NULL));
  t->symmetric = symmetric;
  PetscCall(MatGetInfo(F, MAT_LOCAL, &info));
  nz = (PetscInt)info.nz_used;
  PetscCall(PCVCRSGetArrays_Private(F, symmetric, &i, &j, &a));
  if (!i || !t->n) PetscFunctionReturn(PETSC_SUCCESS);

  PetscCall(PetscMalloc4(t->n, &pivot, t->n, &first, t->n, &length, nz, &values));
  *known = PCVCRSFindPivots(t->n, nz, symmetric, i, j, pivot);
  if (*known) {
    PetscCall(PetscMalloc3(t->n, &t->inverse, t->n, &t->row, t->n, &t->col));
    for (PetscInt r = 0; r < t->n; r++) t->inverse[r] = a[pivot[r]];
    for (PetscInt r = 0; r < t->n; r++) {
      first[r]  = symmetric ? i[r] : (r + 1 < t->n ? pivot[r + 1] + 1 : i[t->n]);
      length[r] = pivot[r] - first[r];
    }
    if (symmetric) {
      /* the entries already have their sign */
      for (PetscInt r = 0; r < t->n; r++) values[r] = -1.0;
      PetscCall(PCVCRSTakeRows_Private(t->n, first, length, j, a, values, &t->upper));
    } else {
      PetscCall(PCVCRSTakeRows_Private(t->n, first, length, j, a, t->inverse, &t->upper));
      for (PetscInt r = 0; r < t->n; r++) length[r] = i[r + 1] - i[r];
      PetscCall(PCVCRSTakeRows_Private(t->n, i, length, j, a, NULL, &t->lower));
    }
    PetscCall(PetscArraycpy(values, a, nz));
    PetscCall(PCVCRSTellOrderings_Private(F, nz, pivot, a, t->n, t->row, t->col));
    PetscCall(PetscArraycpy(a, values, nz));
  }
  PetscCall(PetscFree4(pivot, first, length, values));
  PetscCall(PCVCRSRestoreArrays_Private(F, symmetric, &i, &j, &a));
  if (*known) PetscCall(PCVCRSTrianglesTry_Private(F, t, known));
  if (!*known) PetscCall(PCVCRSTrianglesFree_Private(t));
  PetscFunctionReturn(PETSC_SUCCESS);
}
