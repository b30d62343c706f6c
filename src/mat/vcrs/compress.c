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
  PetscBool same, lossy;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSOptionsCheck(A, opt));
  PetscCall(PetscMemcmp(opt, &ctx->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  if (ctx->dropped) PetscCall(MatVCRSMaterializeAIJ(A));
  PetscCall(PetscMemcpy(&ctx->opt, opt, sizeof(*opt)));
  ctx->state = -1;
  PetscCall(MatVCRSIsLossy_Private(opt, &lossy));
  ctx->lossy = lossy;
  PetscFunctionReturn(PETSC_SUCCESS);
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
  if (ctx->source) {
    PetscCall(MatSeqAIJGetArrayRead(ctx->source, &csr->a));
    PetscCall(MatGetRowIJ(ctx->source, 0, PETSC_FALSE, PETSC_FALSE, &n, &csr->i, &csr->j, &done));
    PetscCheck(done, PETSC_COMM_SELF, PETSC_ERR_SUP, "A matrix of type %s does not give its rows: convert the matrix to MATAIJ first",
               ((PetscObject)ctx->source)->type_name);
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
  if (ctx->source) {
    PetscCall(MatRestoreRowIJ(ctx->source, 0, PETSC_FALSE, PETSC_FALSE, &n, &csr->i, &csr->j, &done));
    PetscCall(MatSeqAIJRestoreArrayRead(ctx->source, &csr->a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A is compressed on a device: if the entries or the vectors of A are on a device */
PetscErrorCode MatVCRSWantsDevice_Private(Mat A, const VCRSOptions *opt, PetscBool *device)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *device = (PetscBool)(ctx->csr != NULL);
#if defined(LITHE_HAVE_CUDA)
  if (!*device && !A->boundtocpu && opt->layout != MATVCRS_LAYOUT_LITERAL && A->rmap->n) {
    VecType vectype;

    *device = ctx->ondevice;
    if (!*device && ctx->source) PetscCall(MatVCRSIsOnDevice_Private(ctx->source, device));
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
  ctx->plan   = plan;
  ctx->dplan  = dplan;
  ctx->report = report;
  ctx->used   = own;
  ctx->lost   = (PetscBool)(ctx->lossy && report.maxabserror > 0.0);
  ctx->gone   = PETSC_FALSE;
  PetscCall(VCRSPlanHostCost(plan, &ctx->hostcost));
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscCall(PetscTime(&end));
  ctx->buildtime = end - begin;
  PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0));
  PetscCall(PetscInfo(A, "Compressed %" PetscInt64_FMT " nonzeros %sin %g s: layout %s, values %s\n", plan->nz, dplan ? "on the device " : "", ctx->buildtime,
                      MatVCRSLayouts[plan->layout], VCRSValueNames[plan->values]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses again with finer options if the options of A are too coarse */
static PetscErrorCode MatVCRSCompressFinely_Private(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  PetscCall(MatVCRSIsSymmetric_Private(ctx->source ? ctx->source : A, &opt.symmetric, &opt.hermitian));
  do PetscCall(MatVCRSCompressWith_Private(A, &opt, NULL));
  while (VCRSLossRefine(A->rmap->n, ctx->report.coarserows, ctx->report.lostrows, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSCompressFrom_Private(Mat A, Mat values)
{
  Mat_VCRS      *ctx;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->source = values;
  ierr        = MatVCRSCompressFinely_Private(A);
  ctx->source = NULL;
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSCompress(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool dropped, current;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->dropped) {
    PetscCall(MatVCRSIsDropped_Private(A, &dropped));
    if (dropped) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSIsCurrent_Private(A, &current));
  if (ctx->plan && current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSCompressFinely_Private(A));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall((*ctx->drop)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
