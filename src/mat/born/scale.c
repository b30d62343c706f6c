/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Operations of a MATBORN as a part of other matrices: products that add, and scales. The scales of columns are a part of
   the chain, see build.c. The scales of rows act upon data, see apply.c and traces.c.
*/

#include "bornimpl.h"

/* The model times the scales is another one now; V and the background stay */
static PetscErrorCode MatBornForgetChain_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&ctx->scales.chain));
  PetscCall(VecDestroy(&ctx->scales.work));
  PetscCall(VecDestroy(&ctx->illumination));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatScale_Born(Mat A, PetscScalar a)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  ctx->scales.scale *= a;
  PetscCall(MatBornForgetChain_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* kept *= diagonal. kept has the type of the matrix's vectors, and NULL means ones; the vector of a program may have another type */
static PetscErrorCode BornKeepDiagonal(Vec diagonal, Vec *kept, Vec own)
{
  PetscFunctionBegin;
  PetscCall(VecCopy(diagonal, own));
  if (*kept) {
    PetscCall(VecPointwiseMult(*kept, *kept, own));
    PetscCall(VecDestroy(&own));
  } else *kept = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDiagonalScale_Born(Mat A, Vec left, Vec right)
{
  Mat_Born *ctx = (Mat_Born *)A->data;
  Vec       own;

  PetscFunctionBegin;
  if (left) {
    PetscCall(MatBornCheckData_Private(A, left));
    PetscCall(MatCreateVecs(A, NULL, &own));
    PetscCall(BornKeepDiagonal(left, &ctx->scales.left, own));
    if (!ctx->scales.rows) PetscCall(MatCreateVecs(A, NULL, &ctx->scales.rows));
  }
  if (right) {
    PetscInt  n;
    PetscBool same;

    PetscCall(VecGetLocalSize(right, &n));
    PetscCall(MatBornAgree_Private(A, (PetscBool)(n == A->cmap->n), &same));
    PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_SIZ,
               "The right vector has %" PetscInt_FMT " numbers, the DMDA %" PetscInt_FMT " nodes; make it with MatCreateVecs()", n, A->cmap->n);
    PetscCall(MatCreateVecs(A, &own, NULL));
    PetscCall(BornKeepDiagonal(right, &ctx->scales.right, own));
    PetscCall(MatBornForgetChain_Private(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To a matrix without scales */
PetscErrorCode MatBornCopyScales_Private(Mat A, Mat B)
{
  const Mat_Born *from = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(MatScale_Born(B, from->scales.scale));
  PetscCall(MatDiagonalScale_Born(B, from->scales.left, from->scales.right));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* z = y + A x, or the transpose. A new vector costs nothing beside a product */
static PetscErrorCode BornMultAdd(Mat A, PetscErrorCode (*mult)(Mat, Vec, Vec), Vec x, Vec y, Vec z)
{
  Vec product = z;

  PetscFunctionBegin;
  if (y == z) PetscCall(VecDuplicate(z, &product));
  PetscCall((*mult)(A, x, product));
  PetscCall(VecAXPY(z, 1, y == z ? product : y));
  if (y == z) PetscCall(VecDestroy(&product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultAdd_Born(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(BornMultAdd(A, MatMult_Born, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTransposeAdd_Born(Mat A, Vec x, Vec y, Vec z)
{
  PetscFunctionBegin;
  PetscCall(BornMultAdd(A, MatMultTranspose_Born, x, y, z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc would read and set entries */
PetscErrorCode MatCopy_Born(Mat A, PETSC_UNUSED Mat B, PETSC_UNUSED MatStructure structure)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "A matrix of type born is copied by MatDuplicate(); for the values of another velocity use MatBornSetVelocity()");
}

PetscErrorCode MatShift_Born(Mat A, PETSC_UNUSED PetscScalar a)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "A matrix of type born has rows of samples and columns of nodes, and thus no diagonal: shift the operator of MatBornGetNormal(), or use MATNEST");
}

PetscErrorCode MatAXPY_Born(Mat A, PETSC_UNUSED PetscScalar a, Mat B, PETSC_UNUSED MatStructure structure)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_SUP,
          "A matrix of type born cannot add one of type %s to itself; use MatCreateComposite(), whose default is the sum", ((PetscObject)B)->type_name);
}
