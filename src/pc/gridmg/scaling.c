/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A matrix whose near null vector is not constant: unknowns or equations in different units. Levels are those of
   Y A X, and an application is X M Y for the cycle M. Rows are read from a scaled copy of the matrix; rows on the device
   of a single process, from scaled values.
*/

#include "gridmgimpl.h"
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/lithecudagridmgsetup.h>
#endif

/* The scaling of the rows that are read */
static PetscErrorCode Find_Private(PC pc)
{
  PC_GridMG     *mg    = (PC_GridMG *)pc->data;
  GridMGScaling *s     = &mg->scaling;
  Mat            given = NULL;
  PetscInt       n;

  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->left));
  PetscCall(VecDestroy(&s->right));
  if (mg->given.i) {
    PetscCall(MatGetSize(pc->pmat, &n, NULL));
    PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, n, n, mg->given.i, mg->given.j, mg->given.a, &given));
  }
  PetscCall(LitheMatGetNearNull(given ? given : pc->pmat, mg->symmetric, &s->left, &s->right, &s->how));
  PetscCall(MatDestroy(&given));
  if (s->how != LITHE_NEAR_NULL_CONSTANT && !s->work[0]) PetscCall(MatCreateVecs(pc->pmat, &s->work[1], &s->work[0]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The scaled copy of the matrix, whose memory is used again while the pattern stays */
static PetscErrorCode MakeMatrix_Private(PC pc)
{
  PC_GridMG     *mg = (PC_GridMG *)pc->data;
  GridMGScaling *s  = &mg->scaling;
  PetscBool      aij, rows = (PetscBool)(mg->matrix.a != NULL);

  PetscFunctionBegin;
  PetscCall(PCGridMGRowsRestore_Private(pc));
  if (s->matrix && pc->flag != SAME_NONZERO_PATTERN) PetscCall(MatDestroy(&s->matrix));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)pc->pmat, &aij, MATSEQAIJ, MATMPIAIJ, MATMPIAIJCUSPARSE, ""));
  if (s->matrix && aij) PetscCall(MatCopy(pc->pmat, s->matrix, SAME_NONZERO_PATTERN));
  else if (aij) PetscCall(MatDuplicate(pc->pmat, MAT_COPY_VALUES, &s->matrix));
  else PetscCall(MatConvert(pc->pmat, MATAIJ, s->matrix ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, &s->matrix));
  PetscCall(MatDiagonalScale(s->matrix, s->left, s->right));
  mg->source = s->matrix;
  if (rows) PetscCall(PCGridMGRowsGetAll_Private(pc, &rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* Scaled values in place of those of the rows on the device of a single process */
static PetscErrorCode MakeRows_Private(PC pc)
{
  PC_GridMG         *mg      = (PC_GridMG *)pc->data;
  GridMGScaling     *s       = &mg->scaling;
  const Vec          side[2] = {s->left, s->right};
  const PetscScalar *scale[2];
  PetscScalar       *values;
  PetscInt           n, entries;

  PetscFunctionBegin;
  PetscCall(MatGetSize(pc->pmat, &n, NULL));
  PetscCall((*mg->kernels->get)(sizeof(entries), mg->matrix.i + n, &entries));
  PetscCall(PCGridMGReserve_Private(mg, &s->values, (size_t)entries * sizeof(*values), (void **)&values));
  for (int k = 0; k < 2; k++) {
    scale[k] = NULL;
    if (side[k]) PetscCall(VecGetArrayReadAndMemType(side[k], &scale[k], NULL));
  }
  PetscCall(LitheCUDAGridMGScaleRows(&mg->matrix, n, scale[0], scale[1], values));
  for (int k = 0; k < 2; k++) {
    if (side[k]) PetscCall(VecRestoreArrayReadAndMemType(side[k], &scale[k]));
  }
  s->exact     = mg->matrix.a;
  mg->matrix.a = values;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Finds the scaling. scaled: whether there is one; the rows that are read are then scaled */
PetscErrorCode PCGridMGScale_Private(PC pc, PetscBool *scaled)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(Find_Private(pc));
  *scaled = (PetscBool)(mg->scaling.how != LITHE_NEAR_NULL_CONSTANT);
  if (!*scaled) PetscFunctionReturn(PETSC_SUCCESS);
  mg->scanned = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->matrix.a && !PCGridMGIsShared(mg)) {
    PetscCall(MakeRows_Private(pc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MakeMatrix_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows are those of the matrix again */
PetscErrorCode PCGridMGScalingRestore_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  if (mg->scaling.exact) mg->matrix.a = mg->scaling.exact;
  mg->scaling.exact = NULL;
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
