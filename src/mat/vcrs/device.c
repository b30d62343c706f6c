/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATVCRS from a MATSEQAIJCUSPARSE or MATMPIAIJCUSPARSE whose values are on devices: the matrix, or each block, is
   compressed on its device.

   A lossless MATVCRS never has AIJ arrays on the host, as after MatVCRSDropAIJ(). A lossy MATVCRS needs the exact
   values for its next compression: it keeps an AIJ copy, and only its plan comes from the device.

   All processes of a parallel matrix must take the same path, and therefore agree on it.
*/

#include "vcrsimpl.h"
#include <petscdevice_cuda.h>

/* Whether the blocks of a MATMPIAIJCUSPARSE are on devices: all nonempty blocks, and at least one. Collective */
PetscErrorCode MatVCRSBlocksAreOnDevice_Private(Mat A, PetscBool *device)
{
  PetscInt count[2] = {0, 0};
  Mat      block[2];

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJCUSPARSE, device));
  if (!*device || !A->assembled || A->factortype) *device = PETSC_FALSE;
  if (!*device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int k = 0; k < 2; k++) {
    PetscBool is;
    MatInfo   info;

    PetscCall(MatGetInfo(block[k], MAT_LOCAL, &info));
    PetscCall(MatVCRSIsOnDevice_Private(block[k], &is));
    if (info.nz_used > 0.0) count[is ? 0 : 1]++;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 2, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *device = (PetscBool)(count[0] && !count[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSValuesAreOnDevice_Private(Mat A, PetscBool *parallel, PetscBool *device)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectBaseTypeCompare((PetscObject)A, MATMPIAIJ, parallel));
  if (*parallel) PetscCall(MatVCRSBlocksAreOnDevice_Private(A, device));
  else PetscCall(MatVCRSIsOnDevice_Private(A, device));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether `mine` is true on all processes, and A and B have the same ghost columns. Collective */
static PetscErrorCode MatVCRSAllHaveSameGhosts_Private(Mat A, Mat B, PetscBool mine, PetscBool *all)
{
  const PetscInt *ghost[2];
  Mat             block[2];

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &block[0], &ghost[0]));
  PetscCall(MatMPIAIJGetSeqAIJ(B, NULL, &block[1], &ghost[1]));
  *all = (PetscBool)(mine && block[0]->rmap->n == block[1]->rmap->n && block[0]->cmap->n == block[1]->cmap->n);
  if (*all) PetscCall(PetscArraycmp(ghost[0], ghost[1], block[0]->cmap->n, all));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B, a matrix of one process or a block, has another plan and still no arrays */
static PetscErrorCode MatVCRSSetChanged_Private(Mat B)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSForgetCaches_Private(B));
  B->nonzerostate++;
  PetscCall(PetscObjectStateIncrease((PetscObject)B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives an existing B the entries of A, if B is lossless and has no AIJ arrays */
static PetscErrorCode MatVCRSConvertAgain_Private(Mat A, PetscBool parallel, Mat B, PetscBool *done)
{
  Mat_VCRS *ctx;
  Mat       exact[2], block[2];

  PetscFunctionBegin;
  PetscCall(MatVCRSIsDropped_Private(B, done));
  PetscCall(MatVCRSGetContext(B, &ctx));
  if (ctx->settings.lossy) *done = PETSC_FALSE;
  if (parallel) PetscCall(MatVCRSAllHaveSameGhosts_Private(A, B, *done, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &exact[0], &exact[1], NULL));
    PetscCall(MatVCRSCompressFrom_MPI(B, exact));
    PetscCall(MatMPIAIJGetSeqAIJ(B, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) PetscCall(MatVCRSSetChanged_Private(block[k]));
  } else PetscCall(MatVCRSCompressFrom_Private(B, A));
  PetscCall(MatVCRSSetChanged_Private(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates *B with the entries of A, if the options are lossless */
static PetscErrorCode MatVCRSConvertNew_Private(Mat A, PetscBool parallel, Mat *B, PetscBool *done)
{
  Mat_VCRS      *ctx;
  Mat            exact[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (parallel) {
    PetscCall(MatVCRSCreateEmpty_MPI(A, NULL, B));
    PetscObjectOptionsBegin((PetscObject)*B);
    PetscCall(MatVCRSSetFromOptions_Private(*B, PetscOptionsObject));
    PetscOptionsEnd();
  } else PetscCall(MatVCRSCreateEmpty_Private(A, B));
  PetscCall(MatVCRSGetContext(*B, &ctx));
  *done = (PetscBool)!ctx->settings.lossy;
  if (ctx->settings.lossy) {
    PetscCall(MatDestroy(B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &exact[0], &exact[1], NULL));
    ierr = MatVCRSFill_MPI(*B, NULL, exact);
  } else {
    MatVCRSSetSource_Private(ctx, A, NULL);
    ierr = MatVCRSDropAIJ(*B);
    MatVCRSSetSource_Private(ctx, NULL, NULL);
  }
  if (ierr) PetscCall(MatDestroy(B));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MatConvert() of A to MATVCRS if A is on the device; *newmat is reused (MAT_REUSE_MATRIX) or created
   (MAT_INITIAL_MATRIX). done: whether the conversion took place; if not, nothing has changed.
*/
PetscErrorCode MatVCRSConvertFromDevice_Private(Mat A, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscBool parallel;
  Mat       B;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (reuse == MAT_INPLACE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSValuesAreOnDevice_Private(A, &parallel, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  if (reuse == MAT_REUSE_MATRIX) PetscCall(MatVCRSConvertAgain_Private(A, parallel, *newmat, done));
  else {
    PetscCall(MatVCRSConvertNew_Private(A, parallel, &B, done));
    if (*done) *newmat = B;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends a conversion through the host: a lossy B with AIJ arrays gets its plan from the device if A is on the device */
PetscErrorCode MatVCRSConvertLossyFromDevice_Private(Mat A, Mat B)
{
  Mat_VCRS *ctx;
  Mat       exact[2];
  PetscBool parallel, device;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(B, &ctx));
  if (!ctx->settings.lossy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSValuesAreOnDevice_Private(A, &parallel, &device));
  if (device && parallel) PetscCall(MatVCRSAllHaveSameGhosts_Private(A, B, PETSC_TRUE, &device));
  if (!device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetVecType(B, VECCUDA));
  if (parallel) {
    PetscCall(MatPropagateSymmetryOptions(A, B));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &exact[0], &exact[1], NULL));
    PetscCall(MatVCRSCompressFrom_MPI(B, exact));
  } else PetscCall(MatVCRSCompressFrom_Private(B, A));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall(MatVCRSDropAIJ(B));
  MatVCRSExpectStateIncrease_Private(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatConvert() of A in place, as PETSc converts a MATAIJCUSPARSE: the new matrix replaces A. done as above */
PetscErrorCode MatVCRSConvertInPlaceFromDevice_Private(Mat A, MatType type, PetscBool *done)
{
  PetscBool parallel, current;
  Mat_VCRS *ctx;
  Mat       B;

  PetscFunctionBegin;
  PetscCall(MatVCRSValuesAreOnDevice_Private(A, &parallel, done));
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatVCRSIsCurrent_Private(B, &current));
  PetscCall(MatHeaderReplace(A, &B));
  if (!current) PetscFunctionReturn(PETSC_SUCCESS);

  /* the same plan in another object */
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSSetCurrent_Private(A));
  MatVCRSExpectStateIncrease_Private(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transpose of a MATSEQAIJCUSPARSE on its device */
PetscErrorCode MatVCRSTransposeOnDevice_Private(Mat A, VCRSDeviceCSR *T)
{
  const PetscInt    *i = NULL, *j = NULL;
  const PetscScalar *a = NULL;
  PetscInt          *ti, *tj;
  PetscScalar       *ta;
  MatInfo            info;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  T->nz = (PetscInt64)info.nz_used;
  if (T->nz) { /* else the arrays may not exist */
    PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
  }
  ierr = LitheCUDACSRTranspose(A->rmap->n, A->cmap->n, T->nz, i, j, a, &ti, &tj, &ta);
  if (T->nz) {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
  }
  PetscCall(ierr);
  T->i = ti;
  T->j = tj;
  T->a = ta;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSFreeCSR_Private(VCRSDeviceCSR *T)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSFreeOnDevice_Private(T->i));
  PetscCall(MatVCRSFreeOnDevice_Private(T->j));
  PetscCall(MatVCRSFreeOnDevice_Private(T->a));
  T->i = T->j = NULL;
  T->a        = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
