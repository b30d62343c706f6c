/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATVCRS from a MATSEQAIJCUSPARSE whose values are on the device: the matrix is compressed there.

   A lossless one never has AIJ arrays on the host. It is in the state that drop.c leaves a matrix in. A lossy one
   needs the exact values for its next compression, so it keeps a copy in AIJ form; only its plan comes from the
   device.

   A conversion in place, and one of MATMPIAIJCUSPARSE, goes through the host.
*/

#include "vcrsimpl.h"

/*
   MatConvert() of A to MATSEQAIJVCRS, with *newmat in place of one that was made before (MAT_REUSE_MATRIX) or
   created (MAT_INITIAL_MATRIX), if A is on the device. done says whether that is so; else nothing was done.
*/
PetscErrorCode MatVCRSConvertFromDevice_Private(Mat A, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  Mat            B;
  Mat_VCRS      *ctx;
  PetscBool      device, dropped;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(MatVCRSIsOnDevice_Private(A, &device));
  if (!device || reuse == MAT_INPLACE_MATRIX) PetscFunctionReturn(PETSC_SUCCESS);

  if (reuse == MAT_REUSE_MATRIX) {
    B = *newmat;
    PetscCall(MatVCRSIsDropped_Private(B, &dropped));
    PetscCall(MatVCRSGetContext(B, &ctx));
    if (!dropped || ctx->lossy) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatVCRSCompressFrom_Private(B, A));
    PetscCall(MatVCRSForgetCaches_Private(B));
    B->nonzerostate++;
    PetscCall(PetscObjectStateIncrease((PetscObject)B));
    *done = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(MatVCRSCreateEmpty_Private(A, &B));
  PetscCall(MatVCRSGetContext(B, &ctx));
  if (ctx->lossy) {
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ctx->source = A;
  ierr        = MatVCRSDropAIJ(B);
  ctx->source = NULL;
  if (ierr) PetscCall(MatDestroy(&B));
  PetscCall(ierr);
  *newmat = B;
  *done   = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The end of a conversion through the host: a lossy B, with AIJ arrays of its own, gets its plan from the device if A is there */
PetscErrorCode MatVCRSConvertLossyFromDevice_Private(Mat A, Mat B)
{
  Mat_VCRS *ctx;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(MatVCRSIsOnDevice_Private(A, &device));
  PetscCall(MatVCRSGetContext(B, &ctx));
  if (!device || !ctx->lossy) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSetVecType(B, VECCUDA));
  PetscCall(MatVCRSCompressFrom_Private(B, A));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall(MatVCRSDropAIJ_Seq(B));

  /* MatConvert() increases the state once more before it returns, with the values as they are */
  ctx->state++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
