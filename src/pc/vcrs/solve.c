/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Systems with compressed factors, (I - lower) inverse^-1 (I - upper): replaces MatSolve() in the inner preconditioners
   while a PCVCRS applies them.

   Two ways with a triangle T. Substitution is exact; MatVCRSSubstitute() runs where vectors are. Sweeps of Jacobi's
   method, x <- b + T x beginning with x = b, sum the powers of T up to the number of sweeps. T is nilpotent, so the
   solution is exact after as many sweeps as T has levels. It is near much earlier if the moduli of a row sum to less
   than one. Sweeps are products with a MATVCRS, which run wherever vectors are.

   E. Chow, A. Patel, Fine-grained parallel incomplete LU factorization, SIAM J. Sci. Comput. 37(2),
   2015, solves with incomplete factors like this.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememtype.h>
#include <lithe/private/vcrs/host.h>

/* Work vectors, of the type of the input */
static PetscErrorCode PCVCRSFactorGetWork_Private(PCVCRSFactor *f, Vec b)
{
  PetscFunctionBegin;
  if (f->work.vec[0]) {
    PetscBool same;

    PetscCall(PetscObjectTypeCompare((PetscObject)f->work.vec[0], ((PetscObject)b)->type_name, &same));
    if (!same) {
      for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(f->work.vec); k++) PetscCall(VecDestroy(&f->work.vec[k]));
    }
  }
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(f->work.vec); k++) {
    if (!f->work.vec[k]) PetscCall(LitheVecDuplicateOnDevice(b, &f->work.vec[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSFactorWorkFree_Private(PCVCRSFactorWork *work)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(work->vec); k++) PetscCall(VecDestroy(&work->vec[k]));
  PetscCall(PetscFree(work->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = (I - op(T))^-1 b nearly, by n sweeps */
static PetscErrorCode PCVCRSFactorSweep_Private(Mat T, PetscInt n, PetscBool transpose, Vec b, Vec x, Vec other)
{
  Vec from = b;

  PetscFunctionBegin;
  if (!n) PetscCall(VecCopy(b, x));
  for (PetscInt k = 0; k < n; k++) {
    Vec to = (n - k) % 2 ? x : other; /* the last product writes to x */

    if (transpose) PetscCall(MatMultTransposeAdd(T, from, b, to));
    else PetscCall(MatMultAdd(T, from, b, to));
    from = to;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The stored triangle: if the lower triangle is not stored, the transpose of the upper triangle */
static Mat PCVCRSFactorChoose_Private(const PCVCRSFactor *f, PetscBool *upper, PetscBool *transpose)
{
  if (!*upper && !f->lower) {
    *upper     = PETSC_TRUE;
    *transpose = (PetscBool) !*transpose;
  }
  return *upper ? f->upper : f->lower;
}

/* x = (I - op(lower))^-1 b, or of upper. other is work; x may be b only on the host */
static PetscErrorCode PCVCRSFactorTriangle_Private(const PCVCRSFactor *f, PetscBool upper, PetscBool transpose, Vec b, Vec x, Vec other)
{
  const PetscInt sweeps = f->sweeps[upper ? 1 : 0];
  Mat            T      = PCVCRSFactorChoose_Private(f, &upper, &transpose);

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (f->border[upper ? 1 : 0]) {
    if (transpose) {
      PetscCall(VecCopy(b, x));
      PetscCall(PCVCRSBorderSolveTranspose_Private(T, f->border[upper ? 1 : 0], upper, x));
    } else PetscCall(PCVCRSBorderSolve_Private(T, f->border[upper ? 1 : 0], upper, b, x, other));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  if (f->way == PCVCRS_SWEEPS) {
    PetscCall(LitheCite(LITHE_CITE_SWEEPS));
    PetscCall(PCVCRSFactorSweep_Private(T, sweeps, transpose, b, x, other));
  } else if (f->way == PCVCRS_DEVICE) PetscCall(MatVCRSSubstitute(T, upper, transpose, b, x));
  else {
    PetscScalar *a;

    if (b != x) PetscCall(VecCopy(b, x));
    PetscCall(VecGetArray(x, &a));
    PetscCall(MatVCRSSubstitute_Private(T, upper, transpose, a));
    PetscCall(VecRestoreArray(x, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Permutes to the order of the factors, or back */
static PetscErrorCode PCVCRSFactorReorder_Private(VecScatter order, Vec from, Vec to, ScatterMode mode)
{
  PetscFunctionBegin;
  if (!order) PetscCall(VecCopy(from, to));
  else {
    PetscCall(VecScatterBegin(order, from, to, INSERT_VALUES, mode));
    PetscCall(VecScatterEnd(order, from, to, INSERT_VALUES, mode));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x = A^-1 b, or A^-T b: then the triangles change places, and the orderings do, too, unless factors are symmetric */
static PetscErrorCode PCVCRSFactorSolve_Private(PCVCRSFactor *f, PetscBool transpose, Vec b, Vec x)
{
  VecScatter in, out;
  Vec        y, z, right = b;

  PetscFunctionBegin;
  if (f->symmetric) transpose = PETSC_FALSE;
  in  = transpose ? f->col : f->row;
  out = transpose ? f->row : f->col;
  PetscCall(PCVCRSFactorGetWork_Private(f, b));
  if (in) {
    right = f->work.vec[0];
    PetscCall(PCVCRSFactorReorder_Private(in, b, right, SCATTER_FORWARD));
  }
  PetscCall(PCVCRSFactorTriangle_Private(f, transpose, transpose, right, f->work.vec[1], f->work.vec[2]));
  z = out ? f->work.vec[2] : x;
  y = f->way == PCVCRS_HOST ? z : f->work.vec[0];
  PetscCall(MatMult(f->inverse, f->work.vec[1], y));
  PetscCall(PCVCRSFactorTriangle_Private(f, (PetscBool)!transpose, transpose, y, z, f->work.vec[1]));
  if (out) PetscCall(PCVCRSFactorReorder_Private(out, z, x, SCATTER_REVERSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSGetFactor_Private(PC pc, PCVCRSFactor **f)
{
  PetscContainer container;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)pc, PCVCRS_FACTOR_CONTAINER, (PetscObject *)&container));
  PetscCheck(container, PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "A preconditioner of type %s has lost its compressed factors",
             ((PetscObject)pc)->type_name);
  PetscCall(PetscContainerGetPointer(container, f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_VCRSFactor(PC pc, Vec b, Vec x)
{
  PCVCRSFactor *f = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetFactor_Private(pc, &f));
  PetscCall(PCVCRSFactorSolve_Private(f, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplyTranspose_VCRSFactor(PC pc, Vec b, Vec x)
{
  PCVCRSFactor *f = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetFactor_Private(pc, &f));
  PetscCall(PCVCRSFactorSolve_Private(f, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Several right-hand sides ---- */

/* The least number of columns in one solve: missing columns take as much time */
#define PCVCRS_COLUMNS_LEAST 3

/* Column k0 + c of B, in the order of the factors, to place c of each row; the rest is zero */
static PetscErrorCode PCVCRSFactorTakeColumns_Private(PCVCRSFactor *f, VecScatter in, Mat B, PetscInt k0, PetscInt n)
{
  PetscInt m = 0;

  PetscFunctionBegin;
  for (PetscInt c = 0; c < VCRS_TRI_COLUMNS; c++) {
    const PetscScalar *a;
    Vec                b, right;

    if (c >= n) {
      for (PetscInt i = 0; i < m; i++) f->work.columns[(size_t)i * VCRS_TRI_COLUMNS + (size_t)c] = 0;
      continue;
    }
    PetscCall(MatDenseGetColumnVecRead(B, k0 + c, &b));
    right = b;
    if (in) {
      PetscCall(PCVCRSFactorGetWork_Private(f, b));
      right = f->work.vec[0];
      PetscCall(PCVCRSFactorReorder_Private(in, b, right, SCATTER_FORWARD));
    }
    PetscCall(VecGetLocalSize(right, &m));
    PetscCall(VecGetArrayRead(right, &a));
    for (PetscInt i = 0; i < m; i++) f->work.columns[(size_t)i * VCRS_TRI_COLUMNS + (size_t)c] = a[i];
    PetscCall(VecRestoreArrayRead(right, &a));
    PetscCall(MatDenseRestoreColumnVecRead(B, k0 + c, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSFactorGiveColumns_Private(PCVCRSFactor *f, VecScatter out, Mat X, PetscInt k0, PetscInt n)
{
  PetscFunctionBegin;
  for (PetscInt c = 0; c < n; c++) {
    PetscScalar *a;
    PetscInt     m;
    Vec          x, z;

    PetscCall(MatDenseGetColumnVecWrite(X, k0 + c, &x));
    z = x;
    if (out) {
      PetscCall(PCVCRSFactorGetWork_Private(f, x));
      z = f->work.vec[0];
    }
    PetscCall(VecGetLocalSize(z, &m));
    PetscCall(VecGetArrayWrite(z, &a));
    for (PetscInt i = 0; i < m; i++) a[i] = f->work.columns[(size_t)i * VCRS_TRI_COLUMNS + (size_t)c];
    PetscCall(VecRestoreArrayWrite(z, &a));
    if (out) PetscCall(PCVCRSFactorReorder_Private(out, z, x, SCATTER_REVERSE));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k0 + c, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with (I - op(lower)), or upper, for several columns, as PCVCRSFactorTriangle_Private() does for one */
static PetscErrorCode PCVCRSFactorTriangleColumns_Private(PCVCRSFactor *f, PetscBool upper, PetscBool transpose)
{
  Mat T = PCVCRSFactorChoose_Private(f, &upper, &transpose);

  PetscFunctionBegin;
  PetscCall(MatVCRSSubstituteColumns_Private(T, upper, transpose, f->work.columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PCVCRSFactorSolve_Private() for n columns from k0 on, by substitution on the host. diagonal: the pivots' inverses */
static PetscErrorCode PCVCRSFactorSolveColumns_Private(PCVCRSFactor *f, PetscBool transpose, Vec diagonal, Mat B, Mat X, PetscInt k0, PetscInt n)
{
  const PetscScalar *d;
  PetscInt           m;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(diagonal, &m));
  if (!f->work.columns) PetscCall(PetscMalloc1((size_t)m * VCRS_TRI_COLUMNS, &f->work.columns));
  PetscCall(PCVCRSFactorTakeColumns_Private(f, transpose ? f->col : f->row, B, k0, n));
  PetscCall(PCVCRSFactorTriangleColumns_Private(f, transpose, transpose));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < m; i++) {
    for (PetscInt c = 0; c < VCRS_TRI_COLUMNS; c++) f->work.columns[(size_t)i * VCRS_TRI_COLUMNS + (size_t)c] *= d[i];
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(PetscLogFlops((PetscLogDouble)n * (PetscLogDouble)m));
  PetscCall(PCVCRSFactorTriangleColumns_Private(f, (PetscBool)!transpose, transpose));
  PetscCall(PCVCRSFactorGiveColumns_Private(f, transpose ? f->row : f->col, X, k0, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   All columns together by substitution on the host. Sweeps and devices take one column after the other, without kernels
   for several columns
*/
static PetscErrorCode PCVCRSFactorMatSolve_Private(PC pc, PetscBool transpose, Mat B, Mat X)
{
  PCVCRSFactor *f        = NULL;
  Vec           diagonal = NULL;
  PetscInt      n, together;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetFactor_Private(pc, &f));
  PetscCall(MatGetSize(B, NULL, &n));
  if (f->symmetric) transpose = PETSC_FALSE;
  for (PetscInt k = 0; k < n; k += together) {
    Vec b, x;

    together = PetscMin(n - k, VCRS_TRI_COLUMNS);
    if (f->way == PCVCRS_HOST && together >= PCVCRS_COLUMNS_LEAST) {
      if (!diagonal) {
        PetscCall(MatCreateVecs(f->inverse, NULL, &diagonal));
        PetscCall(MatGetDiagonal(f->inverse, diagonal));
      }
      PetscCall(PCVCRSFactorSolveColumns_Private(f, transpose, diagonal, B, X, k, together));
      continue;
    }
    together = 1;
    PetscCall(MatDenseGetColumnVecRead(B, k, &b));
    PetscCall(MatDenseGetColumnVecWrite(X, k, &x));
    PetscCall(PCVCRSFactorSolve_Private(f, transpose, b, x));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, k, &b));
  }
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApply_VCRSFactor(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorMatSolve_Private(pc, PETSC_FALSE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCMatApplyTranspose_VCRSFactor(PC pc, Mat B, Mat X)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorMatSolve_Private(pc, PETSC_TRUE, B, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Square roots of the inverse pivots. As in PETSc, half solves are an error if the inverse pivots are not real and
   nonnegative
*/
static PetscErrorCode PCVCRSFactorGetRoots_Private(const PCVCRSFactor *f, Vec roots)
{
  PetscReal least, imaginary;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(f->inverse, roots));
  PetscCall(VecImaginaryPart(roots));
  PetscCall(VecNorm(roots, NORM_INFINITY, &imaginary));
  PetscCall(MatGetDiagonal(f->inverse, roots));
  PetscCall(VecMin(roots, NULL, &least));
  PetscCheck(least >= 0.0 && imaginary == 0.0, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "Half of a solution needs pivots that are real and not negative: the least real part of their inverses is %g, the largest imaginary part %g. "
             "Use a method that applies the preconditioner from one side",
             (double)least, (double)imaginary);
  PetscCall(VecSqrtAbs(roots));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of the solution with symmetric factors, inverse^(1/2) (I - lower)^-1 or (I - upper)^-1 inverse^(1/2) */
static PetscErrorCode PCVCRSFactorHalf_Private(PC pc, PetscBool left, Vec b, Vec x)
{
  PCVCRSFactor *f = NULL;
  Vec           y, z;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetFactor_Private(pc, &f));
  PetscCall(PCVCRSFactorGetWork_Private(f, b));
  y = f->work.vec[0];
  PetscCall(PCVCRSFactorGetRoots_Private(f, x));
  z = f->work.vec[1];
  if (left) {
    PetscCall(PCVCRSFactorReorder_Private(f->row, b, y, SCATTER_FORWARD));
    PetscCall(PCVCRSFactorTriangle_Private(f, PETSC_FALSE, PETSC_FALSE, y, z, f->work.vec[2]));
    PetscCall(VecPointwiseMult(x, x, z));
  } else {
    PetscCall(VecPointwiseMult(y, x, b));
    PetscCall(PCVCRSFactorTriangle_Private(f, PETSC_TRUE, PETSC_FALSE, y, z, f->work.vec[2]));
    PetscCall(PCVCRSFactorReorder_Private(f->col, z, x, SCATTER_REVERSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplySymmetricLeft_VCRSFactor(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorHalf_Private(pc, PETSC_TRUE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApplySymmetricRight_VCRSFactor(PC pc, Vec b, Vec x)
{
  PetscFunctionBegin;
  PetscCall(PCVCRSFactorHalf_Private(pc, PETSC_FALSE, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Replaces the operations of a preconditioner with its factors, as far as possible */
PetscErrorCode PCVCRSFactorStart_Private(PC pc)
{
  PCVCRSFactor *f = NULL;

  PetscFunctionBegin;
  PetscCall(PCVCRSGetFactor_Private(pc, &f));
  pc->ops->apply = PCApply_VCRSFactor;
  if (pc->ops->applytranspose) pc->ops->applytranspose = PCApplyTranspose_VCRSFactor;
  if (pc->ops->matapply) pc->ops->matapply = PCMatApply_VCRSFactor;
  if (pc->ops->matapplytranspose) pc->ops->matapplytranspose = PCMatApplyTranspose_VCRSFactor;
  if (f->symmetric && pc->ops->applysymmetricleft) pc->ops->applysymmetricleft = PCApplySymmetricLeft_VCRSFactor;
  if (f->symmetric && pc->ops->applysymmetricright) pc->ops->applysymmetricright = PCApplySymmetricRight_VCRSFactor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the former operations, unless the preconditioner has changed since */
PetscErrorCode PCVCRSFactorStop_Private(PC pc, const struct _PCOps *super)
{
  PetscFunctionBegin;
  if (pc->ops->apply == PCApply_VCRSFactor) *pc->ops = *super;
  PetscFunctionReturn(PETSC_SUCCESS);
}
