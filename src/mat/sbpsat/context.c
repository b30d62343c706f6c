/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The context of a MATSBPSAT: the change of the operator by MatScale() and similar functions, work vectors, and arrays
   of rows.
*/

#include "sbpsatimpl.h"

/* The context of a matrix; an error if the matrix is no MATSBPSAT */
PetscErrorCode MatSBPSATGetContext_Private(Mat A, Mat_SBPSAT **ctx)
{
  PetscBool same;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSBPSAT, &same));
  PetscCheck(same, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "The matrix has type %s, not sbpsat; make it with MatCreateSBPSAT(), or with -dm_mat_type sbpsat",
             ((PetscObject)A)->type_name ? ((PetscObject)A)->type_name : "none yet");
  *ctx = (Mat_SBPSAT *)A->data;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the change */

/* Whether scale or diagonal are set */
PetscErrorCode MatSBPSATHasChange_Private(Mat A, PetscBool *has)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  *has = (PetscBool)(c->diagonal || c->scale != (PetscScalar)1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATGetChange(Mat A, PetscScalar *scale, Vec *diagonal)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  *scale    = c->scale;
  *diagonal = c->diagonal;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATGetScales(Mat A, Vec *left, Vec *right)
{
  const SBPChange *c = &((Mat_SBPSAT *)A->data)->change;

  PetscFunctionBegin;
  *left  = c->left;
  *right = c->right;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Facts known without a look at the entries */
PetscErrorCode MatSBPSATSetFlags_Private(Mat A)
{
  Mat_SBPSAT      *ctx      = (Mat_SBPSAT *)A->data;
  const SBPChange *c        = &ctx->change;
  PetscBool        definite = PETSC_FALSE;

  PetscFunctionBegin;
  A->structurally_symmetric = PETSC_BOOL3_TRUE;
  if (c->left || c->right) {
    A->symmetric = A->hermitian = A->spd = PETSC_BOOL3_UNKNOWN; /* MatDiagonalScale() may know more */
    A->symmetry_eternal                  = PETSC_FALSE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  A->symmetric        = PETSC_BOOL3_TRUE;
  A->hermitian        = PetscBoolToBool3(c->real);
  A->symmetry_eternal = c->real;
  for (int f = 0; f < SBP_FACES; f++) definite = (PetscBool)(definite || ctx->settings.dirichlet[f]);
  if (c->diagonal || c->scale != (PetscScalar)1)
    A->spd = definite && c->real && !c->diagonal && PetscRealPart(c->scale) > 0 ? PETSC_BOOL3_TRUE : PETSC_BOOL3_UNKNOWN;
  else A->spd = PetscBoolToBool3(definite);
  if (A->spd == PETSC_BOOL3_UNKNOWN && c->real && c->diagonal && PetscRealPart(c->scale) >= 0) {
    PetscReal least = -1;

    PetscCall(VecMin(c->diagonal, NULL, &least));
    if (least > 0 || (definite && least == 0 && PetscRealPart(c->scale) > 0)) A->spd = PETSC_BOOL3_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right scale has changed */
PetscErrorCode MatSBPSATForgetRights_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(((Mat_SBPSAT *)A->data)->rows.rights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATForgetFaces_Private(Mat A)
{
  PetscFunctionBegin;
  for (int face = 0; face < SBP_FACES; face++) {
    SBPFace *f = &((Mat_SBPSAT *)A->data)->face[face];

    PetscCall(PetscFree2(f->normal, f->mixed));
    PetscCall(PetscFree(f->stretching));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of rows, which belong to the grid */
PetscErrorCode MatSBPSATForgetRows_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(ctx->rows.columns, ctx->rows.entries));
  PetscCall(MatSBPSATForgetRights_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Resets the matrix to the operator of its settings */
PetscErrorCode MatSBPSATClearChange_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  ctx->change.scale = 1;
  ctx->change.real  = PETSC_TRUE;
  PetscCall(VecDestroy(&ctx->change.diagonal));
  PetscCall(VecDestroy(&ctx->change.left));
  PetscCall(VecDestroy(&ctx->change.right));
  PetscCall(MatSBPSATForgetRights_Private(A));
  for (int p = 0; p < 3; p++) ctx->changed.current[p][0] = ctx->changed.current[p][1] = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ arrays and vectors */

/* Two vectors of the matrix's type for a product */
PetscErrorCode MatSBPSATGetWork_Private(Mat A, Vec *x, Vec *y)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  if (!ctx->work[0]) PetscCall(MatCreateVecs(A, &ctx->work[0], &ctx->work[1]));
  if (x) *x = ctx->work[0];
  if (y) *y = ctx->work[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of the change, which belong to the grid as the operators do */
PetscErrorCode MatSBPSATForgetChange_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  for (int device = 0; device < 2; device++) {
    for (int p = SBP_SINGLE; p <= SBP_DOUBLE; p++) {
      if (ctx->changed.diagonal[p][device]) PetscCall((*SBPKernelsOf((PetscBool)device)->memory->free)(&ctx->changed.diagonal[p][device]));
      ctx->changed.current[p][device] = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSBPSATDestroyWork_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&ctx->work[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
