/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The scales of a MATBORN, and operations that other matrices have and this one has not. The scales of columns are a
   part of the chain. The scales of rows act upon data, see apply.c and traces.c.
*/

#include "bornimpl.h"

void MatBornDefaultScales_Private(Mat A)
{
  ((Mat_Born *)A->data)->scales.scale = 1;
}

/* The model times the scales is another one now; V and the background stay */
PetscErrorCode MatBornForgetChain_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&ctx->scales.chain));
  PetscCall(VecDestroy(&ctx->scales.work));
  PetscCall(VecDestroy(&ctx->scales.illumination));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* dV/V of a model of ones: the derivative by the parameter, with the scales of columns; as vectors of the matrix are */
PetscErrorCode MatBornBuildChain_Private(Mat A)
{
  Mat_Born              *ctx       = (Mat_Born *)A->data;
  const MatBornParameter parameter = ctx->discretization.parameter;
  BornScales            *scales    = &ctx->scales;

  PetscFunctionBegin;
  if (scales->chain || (parameter == MATBORN_PARAMETER_REFLECTIVITY && !scales->right && scales->scale == (PetscScalar)1)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCreateVecs(A, &scales->work, NULL));
  PetscCall(MatCreateVecs(A, &scales->chain, NULL));
  PetscCall(VecCopy(ctx->survey.velocity, scales->chain));
  if (parameter == MATBORN_PARAMETER_VELOCITY) {
    PetscCall(VecReciprocal(scales->chain));
    PetscCall(VecScale(scales->chain, 2));
  } else if (parameter == MATBORN_PARAMETER_SLOWNESS2) {
    PetscCall(VecPointwiseMult(scales->chain, scales->chain, scales->chain));
    PetscCall(VecScale(scales->chain, -1));
  } else PetscCall(VecSet(scales->chain, 1));
  if (scales->right) PetscCall(VecPointwiseMult(scales->chain, scales->chain, scales->right));
  PetscCall(VecScale(scales->chain, scales->scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over the illumination, as long as the chain stays */
void MatBornKeepIllumination_Private(Mat A, Vec illumination)
{
  ((Mat_Born *)A->data)->scales.illumination = illumination;
}

PetscErrorCode MatScale_Born(Mat A, PetscScalar a)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  ctx->scales.scale *= a;
  PetscCall(MatBornForgetChain_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* kept *= diagonal. kept has the type of the matrix's vectors, and NULL means ones; the vector of a program may have
   another type */
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

PetscErrorCode MatBornDestroyScales_Private(Mat A)
{
  Mat_Born *ctx = (Mat_Born *)A->data;

  PetscFunctionBegin;
  PetscCall(MatBornForgetChain_Private(A));
  PetscCall(VecDestroy(&ctx->scales.left));
  PetscCall(VecDestroy(&ctx->scales.right));
  PetscCall(VecDestroy(&ctx->scales.rows));
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
