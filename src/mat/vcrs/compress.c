/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression of a MATVCRS of one process, or of a block of a parallel matrix, to a plan. The entries are its own, or
   belong to another matrix. compressblocks.c compresses the blocks of parallel matrices.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>

/* Sets options. The next use compresses the matrix again if the options have changed */
PetscErrorCode MatVCRSReplaceOptions_Private(Mat A, const VCRSOptions *opt)
{
  Mat_VCRS *ctx;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSOptionsCheck(A, opt));
  PetscCall(MatVCRSHasOptions_Private(ctx, opt, &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  if (ctx->last.dropped) PetscCall(MatVCRSMaterializeAIJ(A));
  PetscCall(MatVCRSStoreOptions_Private(ctx, opt));
  MatVCRSSetOutdated_Private(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The entries to compress until the next call: of another matrix, or arrays on a device; NULL: the matrix's own. The
   source is not referenced
*/
void MatVCRSSetSource_Private(Mat_VCRS *ctx, Mat source, const VCRSDeviceCSR *csr)
{
  ctx->from.source = source;
  ctx->from.csr    = csr;
}

/* Host arrays of the entries to compress: of A, or of its source */
PetscErrorCode MatVCRSGetCSR_Private(Mat A, VCRSCSR *csr)
{
  Mat_VCRS    *ctx;
  PetscScalar *a;
  PetscBool    done;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  csr->m = A->rmap->n;
  csr->n = A->cmap->n;
  if (ctx->from.source) {
    PetscCall(MatSeqAIJGetArrayRead(ctx->from.source, &csr->a));
    PetscCall(MatGetRowIJ(ctx->from.source, 0, PETSC_FALSE, PETSC_FALSE, &n, &csr->i, &csr->j, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not give its rows: convert the matrix to MATAIJ first",
               ((PetscObject)ctx->from.source)->type_name);
  } else {
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr->i, &csr->j, &a, NULL));
    csr->a = a;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSRestoreCSR_Private(Mat A, VCRSCSR *csr)
{
  Mat_VCRS *ctx;
  PetscBool done;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->from.source) {
    PetscCall(MatRestoreRowIJ(ctx->from.source, 0, PETSC_FALSE, PETSC_FALSE, &n, &csr->i, &csr->j, &done));
    PetscCall(MatSeqAIJRestoreArrayRead(ctx->from.source, &csr->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A is compressed on a device: if the entries or the vectors of A are on a device */
PetscErrorCode MatVCRSWantsDevice_Private(Mat A, const VCRSOptions *opt, PetscBool *device)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *device = (PetscBool)(ctx->from.csr != NULL);
#if defined(LITHE_HAVE_CUDA)
  if (!*device && !A->boundtocpu && opt->layout != MATVCRS_LAYOUT_LITERAL && A->rmap->n) {
    VecType vectype;

    *device = ctx->settings.ondevice;
    if (!*device && ctx->from.source) PetscCall(MatVCRSIsOnDevice_Private(ctx->from.source, device));
    PetscCall(MatGetVecType(A, &vectype));
    if (!*device) PetscCall(PetscStrendswith(vectype, "cuda", device));
  }
#else
  (void)opt;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSMakePlan_Private(Mat A, const VCRSOptions *opt, const PetscScalar extra[], VCRSPlan **plan, VCRSPlan **dplan, VCRSReport *report)
{
  VCRSCSR        csr;
  PetscBool      device;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSWantsDevice_Private(A, opt, &device));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(MatVCRSCompressOnDevice_Private(A, opt, extra, plan, dplan, report));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatVCRSGetCSR_Private(A, &csr));
  ierr = VCRSPlanCreate(&csr, opt, extra, plan, report);
  PetscCall(MatVCRSRestoreCSR_Private(A, &csr));
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses the entries of A, or of its source. The new plan replaces the old plan only when complete: after an error
   A multiplies as before the call. rowsumextra [rows], or NULL: added to the kept row sums, at the place of the
   compression.
*/
PetscErrorCode MatVCRSCompressWith_Private(Mat A, const VCRSOptions *opt, const PetscScalar rowsumextra[])
{
  Mat_VCRS      *ctx;
  VCRSPlan      *plan = NULL, *dplan = NULL;
  VCRSReport     report;
  VCRSOptions    own = *opt;
  PetscLogDouble begin, end;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscLogEventBegin(MAT_VCRSCompress, A, 0, 0, 0));
  PetscCall(PetscTime(&begin));
  own.plain = MatVCRSGetPlain_Private(A, ctx);
  ierr      = MatVCRSMakePlan_Private(A, &own, rowsumextra, &plan, &dplan, &report);
  if (ierr) PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0)); /* a row may be refused, and mended */
  PetscCall(ierr);
  PetscCall(MatVCRSReset_Private(ctx));
  PetscCall(MatVCRSPlansSet_Private(ctx, plan, dplan));
  MatVCRSSetCompressed_Private(ctx, &own, &report);
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscCall(PetscTime(&end));
  MatVCRSSetBuildTime_Private(ctx, end - begin);
  PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0));
  PetscCall(PetscInfo(A, "Compressed %" PetscInt64_FMT " nonzeros %sin %g s: layout %s, values %s\n", plan->nz, dplan ? "on the device " : "",
                      ctx->last.buildtime, MatVCRSLayouts[plan->layout], VCRSValueNames[plan->values]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses again with finer options if the options of A are too coarse */
static PetscErrorCode MatVCRSCompressFinely_Private(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  PetscCall(MatVCRSIsSymmetric_Private(ctx->from.source ? ctx->from.source : A, &opt.symmetric, &opt.hermitian));
  do PetscCall(MatVCRSCompressWith_Private(A, &opt, NULL));
  while (VCRSLossRefine(A->rmap->n, ctx->last.report.coarserows, ctx->last.report.lostrows, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSCompressFrom_Private(Mat A, Mat values)
{
  Mat_VCRS      *ctx;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  MatVCRSSetSource_Private(ctx, values, NULL);
  ierr = MatVCRSCompressFinely_Private(A);
  MatVCRSSetSource_Private(ctx, NULL, NULL);
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSCompress(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool dropped, current;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->last.dropped) {
    PetscCall(MatVCRSIsDropped_Private(A, &dropped));
    if (dropped) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSIsCurrent_Private(A, &current));
  if (ctx->plans.host && current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSCompressFinely_Private(A));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall((*ctx->methods.drop)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
