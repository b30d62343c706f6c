/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A matrix whose near null vector is not constant: unknowns or equations in different units. Levels are those of
   Y A X, and an application is X M Y for the cycle M
*/

#include "base.h"

/* The scaling of the rows that are read */
static PetscErrorCode Find_Private(PC pc)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  GridMGScaling *s  = &mg->scaling;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->left));
  PetscCall(VecDestroy(&s->right));
  PetscCall(MatDestroy(&s->matrix));
  PetscCall(PCGridMGRowsMatrix_Private(pc));
  PetscCall(LitheMatGetNearNull(mg->source.matrix, mg->found.symmetric, &s->left, &s->right, &s->how));
  if (s->how != LITHE_NEAR_NULL_CONSTANT && !s->work[0]) PetscCall(MatCreateVecs(pc->pmat, &s->work[1], &s->work[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scaled copy of the matrix, whose rows are read in place of those of the matrix */
static PetscErrorCode MakeMatrix_Private(PC pc)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  GridMGScaling *s  = &mg->scaling;
  PetscBool      aij, rows = (PetscBool)(mg->source.rows.a != NULL);
  Mat            A = mg->source.matrix;

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsRestore_Private(pc));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &aij, MATMPIAIJ, MATMPIAIJCUSPARSE, ""));
  if (aij) PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &s->matrix));
  else PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &s->matrix));
#if PetscDefined(HAVE_CUDA)
  if (!aij && rows) PetscCall(MatConvert(s->matrix, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &s->matrix));
#endif
  PetscCall(MatDiagonalScale(s->matrix, s->left, s->right));
  PCGridMGRowsOf_Private(mg, s->matrix, PETSC_TRUE);
  PCGridMGScanForget_Private(mg);
  PCGridMGPlaceAgain_Private(mg);
  /*
     rows of boxes that overlap are expected where they were; stencils get their rows, and their place, when they are
     read
  */
  if (mg->place.overlap && rows) PetscCall(PCGridMGRowsGetAll_Private(pc, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of vectors where the level is; NULL for no vector */
PetscErrorCode PCGridMGScalingGet_Private(PetscBool device, int n, const Vec vec[], const PetscScalar *array[])
{
  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    array[k] = NULL;
    if (vec[k] && device) PetscCall(VecGetArrayReadAndMemType(vec[k], &array[k], NULL));
    else if (vec[k]) PetscCall(VecGetArrayRead(vec[k], &array[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGScalingRestore_Private(PetscBool device, int n, const Vec vec[], const PetscScalar *array[])
{
  PetscFunctionBegin;
  for (int k = 0; k < n; k++) {
    if (vec[k] && device) PetscCall(VecRestoreArrayReadAndMemType(vec[k], &array[k]));
    else if (vec[k]) PetscCall(VecRestoreArrayRead(vec[k], &array[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up and application */

/*
   Finds the scaling for a finest level that has been read. A single process scales the level; several processes have to
   read the rows again
*/
PetscErrorCode PCGridMGScale_Private(PC pc, PetscBool *again)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  *again = PETSC_FALSE;
  PetscCall(Find_Private(pc));
  if (mg->scaling.how == LITHE_NEAR_NULL_CONSTANT) PetscFunctionReturn(PETSC_SUCCESS);
  *again = PCGridMGIsParallel(mg);
  if (*again) PetscCall(MakeMatrix_Private(pc));
  else PetscCall((*mg->choice.method->scale)(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* in = left x, a vector for the cycle, whose result goes to out */
PetscErrorCode PCGridMGScalingEnter_Private(PC_GridMG *mg, Vec x, Vec *in, Vec *out)
{
  GridMGScaling *s = &mg->scaling;

  PetscFunctionBegin;
  *in  = s->work[0];
  *out = s->work[1];
  PetscCall(VecCopy(x, *in));
  if (s->left) PetscCall(VecPointwiseMult(*in, *in, s->left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = right out */
PetscErrorCode PCGridMGScalingLeave_Private(PC_GridMG *mg, Vec out, Vec y)
{
  PetscFunctionBegin;
  if (mg->scaling.right) PetscCall(VecPointwiseMult(out, out, mg->scaling.right));
  PetscCall(VecCopy(out, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No scaling */
void PCGridMGScalingNone_Private(PC_GridMG *mg)
{
  mg->scaling.how = LITHE_NEAR_NULL_CONSTANT;
}

/* The copy of the matrix; all: also what applications need */
PetscErrorCode PCGridMGScalingFree_Private(PC_GridMG *mg, PetscBool all)
{
  GridMGScaling *s = &mg->scaling;

  PetscFunctionBegin;
  PetscCall(MatDestroy(&s->matrix));
  if (!all) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDestroy(&s->left));
  PetscCall(VecDestroy(&s->right));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&s->work[k]));
  s->how = LITHE_NEAR_NULL_CONSTANT;
  PetscFunctionReturn(PETSC_SUCCESS);
}
