/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The context of a MATSBPSAT: its settings, the change of the operator by MatScale() and similar functions, work
   vectors, and the functions that free arrays of operators.
*/

#include "sbpsatimpl.h"

/* ------------------------------------------------------------ settings */

/* Replaces a vector of the settings by another one, or by NULL */
PetscErrorCode SBPSettingsSetVec_Private(Vec from, Vec *to)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectReference((PetscObject)from));
  PetscCall(VecDestroy(to));
  *to = from;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPSettingsCopy_Private(const SBPSettings *from, SBPSettings *to)
{
  PetscFunctionBegin;
  to->order     = from->order;
  to->metrics   = from->metrics;
  to->transport = from->transport;
  for (int f = 0; f < SBP_FACES; f++) to->dirichlet[f] = from->dirichlet[f];
  PetscCall(SBPSettingsSetVec_Private(from->mu, &to->mu));
  for (int k = 0; k < 3; k++) PetscCall(SBPSettingsSetVec_Private(from->tensor[k], &to->tensor[k]));
  PetscCall(SBPSettingsSetVec_Private(from->jacobian, &to->jacobian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPSettingsClear_Private(SBPSettings *s)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->mu));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&s->tensor[k]));
  PetscCall(VecDestroy(&s->jacobian));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  PetscCall(PetscFree(ctx->rights));
  for (int p = 0; p < 3; p++) ctx->current[p][0] = ctx->current[p][1] = PETSC_FALSE;
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
static PetscErrorCode MatSBPSATForgetChange_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  for (int device = 0; device < 2; device++) {
    for (int p = SBP_SINGLE; p <= SBP_DOUBLE; p++) {
#if defined(LITHE_HAVE_CUDA)
      if (ctx->diagonal[p][device] && device) PetscCall((*SBPDeviceKernels.free)(&ctx->diagonal[p][device]));
#endif
      if (ctx->diagonal[p][device] && !device) PetscCall((*SBPHostKernels.free)(&ctx->diagonal[p][device]));
      ctx->current[p][device] = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of rows, which belong to the grid */
static PetscErrorCode MatSBPSATForgetStored_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  PetscCall(PetscFree2(ctx->columns, ctx->entries));
  PetscCall(PetscFree(ctx->rights));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees all data of former settings */
PetscErrorCode MatSBPSATForget_Private(Mat A)
{
  Mat_SBPSAT *ctx = (Mat_SBPSAT *)A->data;

  PetscFunctionBegin;
  if (!ctx->built) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->built = PETSC_FALSE;
  for (int device = 0; device < 2; device++) {
    PetscErrorCode (*release)(void **) = SBPHostKernels.free;

#if defined(LITHE_HAVE_CUDA)
    if (device) release = SBPDeviceKernels.free;
#endif
    /* Arrays of PetscScalar operators are the arrays of PetscReal */
    for (int precision = SBP_SINGLE; precision <= SBP_DOUBLE; precision++) {
      SBPOperator *op = &ctx->op[precision][device];

      if (!ctx->made[precision][device]) continue;
      for (int k = 0; k < 3; k++) PetscCall((*release)((void **)&op->coefficient[k]));
      for (int f = 0; f < SBP_FACES; f++) PetscCall((*release)((void **)&op->penalty[f]));
    }
    for (int precision = 0; precision < 3; precision++) {
      PetscCall(PetscMemzero(&ctx->op[precision][device], sizeof(SBPOperator)));
      ctx->made[precision][device] = PETSC_FALSE;
    }
    if (ctx->ghosts[device]) PetscCall((*release)(&ctx->ghosts[device]));
    if (ctx->jacobian[device]) PetscCall((*release)(&ctx->jacobian[device]));
    ctx->stored[device] = PETSC_FALSE;
  }
  PetscCall(SBPGeometryDestroy_Private(PETSC_FALSE, &ctx->geometry));
  PetscCall(SBPHaloDestroy(&ctx->halo));
  PetscCall(DMDestroy(&ctx->grid));
  PetscCall(MatSBPSATForgetChange_Private(A));
  PetscCall(MatSBPSATForgetStored_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
