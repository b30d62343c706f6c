/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATVCRS from a MATSEQAIJCUSPARSE whose values are on the device: the matrix is compressed there.

   A lossless one never has AIJ arrays on the host. It is in the state that drop.c leaves a matrix in,
   its plan on the device, and ctx->plan has the small tables alone; MatVCRSGetHostPlan_Private() copies the
   rest when host code asks for it. A lossy one needs the exact values for its next compression, so it
   keeps a copy in AIJ form; only its plan comes from the device.

   A conversion in place, and one of MATMPIAIJCUSPARSE, goes through the host.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscdevice_cuda.h>

/* Are the current values of A in the memory of the device? */
static PetscErrorCode MatVCRSIsOnDevice_Private(Mat A, PetscBool *device)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJCUSPARSE, device));
  if (*device) *device = (PetscBool)(A->assembled && !A->factortype && !A->structure_only && !A->boundtocpu && (A->offloadmask == PETSC_OFFLOAD_GPU || A->offloadmask == PETSC_OFFLOAD_BOTH));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes the plan of B, a MATSEQAIJVCRS, from the device's arrays of A; on an error B keeps the plan that it had */
static PetscErrorCode MatVCRSCompressFromDevice_Private(Mat A, Mat B)
{
  Mat_VCRS          *ctx;
  VCRSOptions        opt;
  VCRSPlan          *table, *dplan;
  VCRSReport         report;
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           nz = 0;
  PetscLogDouble     begin, end;
  PetscErrorCode     ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(B, &ctx));
  PetscCall(PetscLogEventBegin(MAT_VCRSCompress, B, 0, 0, 0));
  PetscCall(PetscTime(&begin));
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  PetscCall(MatVCRSIsSymmetric_Private(A, &opt.symmetric, &opt.hermitian));
  PetscCall(PetscNew(&table));
  PetscCall(PetscNew(&dplan));
  PetscCall(MatSeqAIJCUSPARSEGetIJ(A, PETSC_FALSE, &i, &j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(A, &a));
  if (A->rmap->n) PetscCallCUDA(cudaMemcpy(&nz, i + A->rmap->n, sizeof(nz), cudaMemcpyDeviceToHost));
  ierr = LitheCUDAVCRSCompress(A->rmap->n, A->cmap->n, nz, i, j, a, &opt, table, dplan, &report);
  while (!ierr && VCRSLossRefine(A->rmap->n, report.coarserows, report.lostrows, &opt)) {
    PetscCall(VCRSPlanDestroy(&table));
    PetscCall(LitheCUDAVCRSFree(dplan));
    PetscCall(PetscNew(&table));
    ierr = LitheCUDAVCRSCompress(A->rmap->n, A->cmap->n, nz, i, j, a, &opt, table, dplan, &report);
  }
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(A, &a));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(A, PETSC_FALSE, &i, &j));
  if (ierr) {
    PetscCall(PetscFree(table));
    PetscCall(PetscFree(dplan));
  }
  PetscCall(ierr);
  PetscCall(MatVCRSReset_Private(ctx));
  ctx->plan   = table;
  ctx->dplan  = dplan;
  ctx->report = report;
  ctx->used   = opt;
  ctx->lost   = (PetscBool)(ctx->lossy && report.maxabserror > 0.0);
  ctx->gone   = PETSC_FALSE;
  PetscCall(VCRSPlanHostCost(table, &ctx->hostcost));
  PetscCall(MatVCRSSetCurrent_Private(B));
  PetscCall(PetscTime(&end));
  ctx->buildtime = end - begin;
  PetscCall(PetscLogEventEnd(MAT_VCRSCompress, B, 0, 0, 0));
  PetscCall(PetscInfo(B, "Compressed %" PetscInt64_FMT " nonzeros on the device in %g s: layout %s, values %s\n", table->nz, ctx->buildtime, MatVCRSLayouts[table->layout], VCRSValueNames[table->values]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An assembled MATSEQAIJVCRS of A's size without entries */
static PetscErrorCode MatVCRSCreateLike_Private(Mat A, Mat *B)
{
  PetscErrorCode ierr;
  PetscOptions   none;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetSizes(*B, A->rmap->n, A->cmap->n, A->rmap->N, A->cmap->N));
  PetscCall(MatSetBlockSizesFromMats(*B, A, A));
  PetscCall(MatSetType(*B, MATSEQAIJVCRS));
  PetscCall(MatSeqAIJSetPreallocation(*B, 0, NULL));
  /* -mat_view would show nothing */
  PetscCall(LitheOptionsHide(&none));
  ierr = MatAssemblyBegin(*B, MAT_FINAL_ASSEMBLY);
  if (!ierr) ierr = MatAssemblyEnd(*B, MAT_FINAL_ASSEMBLY);
  PetscCall(LitheOptionsShow(&none));
  PetscCall(ierr);
  PetscCall(MatSetVecType(*B, VECCUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
    PetscCall(MatVCRSCompressFromDevice_Private(A, B));
    PetscCall(MatVCRSForgetCaches_Private(B));
    B->nonzerostate++;
    PetscCall(PetscObjectStateIncrease((PetscObject)B));
    *done = PETSC_TRUE;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(MatVCRSCreateLike_Private(A, &B));
  PetscCall(MatVCRSGetContext(B, &ctx));
  if (ctx->lossy) {
    PetscCall(MatDestroy(&B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ierr = MatVCRSCompressFromDevice_Private(A, B);
  if (!ierr) ierr = MatVCRSDropAIJ_Seq(B);
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
  PetscCall(MatVCRSCompressFromDevice_Private(A, B));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall(MatVCRSDropAIJ_Seq(B));

  /* MatConvert() increases the state once more before it returns, with the values as they are */
  ctx->state++;
  PetscFunctionReturn(PETSC_SUCCESS);
}
