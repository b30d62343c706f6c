/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The use of plain rows by products on the host (lithe/private/vcrs/plan.h).

   On a CPU a smaller form may be slower than AIJ. If the plan is estimated to be slower, the first product of a small
   matrix on the host makes plain rows, which are faster than the loop of MATSEQAIJ. While AIJ arrays exist, plain rows
   are an additional copy. Without AIJ arrays they replace the plan, if the plan can be made again bit for bit (nothing
   was lost) or if no device will need the plan. Plain rows are not made if a layout was requested, or if a device has a
   copy of the plan. Plain rows that have replaced a plan stay when the arrays are restored, until values change or a
   device needs slices.

   For a matrix of whole entries in slices of L3, plain rows with two bytes per column save as many bytes as slices.
   Other plain rows never take much more than AIJ. Such a matrix may have any size, and plain rows replace its plan even
   while AIJ arrays exist. If no device can need slices, the compression makes plain rows directly.
*/

#include "vcrsimpl.h"
#include <lithe/private/machine.h>
#include <lithe/private/litheimpl.h>

/* Whether a device may ask for the plan of a matrix */
static PetscBool MatVCRSMayGoToDevice_Private(Mat A)
{
#if defined(LITHE_HAVE_CUDA)
  return A->boundtocpu ? PETSC_FALSE : PETSC_TRUE;
#else
  (void)A;
  return PETSC_FALSE;
#endif
}

/* Whether plain rows may take the place of the plan */
static PetscBool MatVCRSMayPlacePlainRows_Private(const Mat_VCRS *ctx)
{
  return (PetscBool)(ctx->settings.opt.layout == MATVCRS_LAYOUT_AUTO && !ctx->plans.device && !ctx->plans.substitution);
}

/* Whether plain rows replace the plan even while AIJ arrays exist: for whole entries in slices */
static PetscBool MatVCRSHasWholeRows_Private(const Mat_VCRS *ctx)
{
  return (PetscBool)(ctx->plans.host->layout == MATVCRS_LAYOUT_L3 && ctx->plans.host->values == VCRS_VALUES_FULL && !ctx->settings.lossy &&
                     MatVCRSMayPlacePlainRows_Private(ctx));
}

PetscBool MatVCRSMayUsePlainRows_Private(const Mat_VCRS *ctx)
{
  const PetscInt64 most = VCRS_ROWS_ENTRIES / (ctx->plans.host->layout == MATVCRS_LAYOUT_L3 ? VCRS_ROWS_L3 : 1) / (ctx->settings.beside ? VCRS_ROWS_BESIDE : 1);

  return (PetscBool)(ctx->settings.mayplain && ctx->plans.host->nz > 0 && (ctx->plans.host->nz <= most || MatVCRSHasWholeRows_Private(ctx)));
}

/*
   The form that a compression of A may make at once. If a device may need slices, slices come first, and a product on
   the host makes plain rows of them
*/
VCRSPlain MatVCRSGetPlain_Private(Mat A, const Mat_VCRS *ctx)
{
  return ctx->settings.mayplain && ctx->settings.opt.layout == MATVCRS_LAYOUT_AUTO && !MatVCRSMayGoToDevice_Private(A) ? VCRS_PLAIN_WHOLE : VCRS_PLAIN_NEVER;
}

/*
   Compresses the entries of the plan of A again, with other options. A lossless matrix with AIJ arrays needs no
   decoding
*/
static PetscErrorCode MatVCRSRecompress_Private(Mat A, const VCRSOptions *opt, VCRSPlan **plan)
{
  Mat_VCRS      *ctx;
  VCRSCSR        csr;
  PetscInt      *i, *j;
  PetscScalar   *a;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscLogEventBegin(MAT_VCRSCompress, A, 0, 0, 0));
  csr.m = A->rmap->n;
  csr.n = A->cmap->n;
  if (!ctx->last.dropped && !ctx->settings.lossy) {
    PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr.i, &csr.j, &a, NULL));
    csr.a = a;
    PetscCall(VCRSPlanCreate(&csr, opt, NULL, plan, NULL));
  } else {
    PetscCall(MatVCRSGetDecodedArrays_Private(A, &i, &j, &a));
    csr.i = i;
    csr.j = j;
    csr.a = a;
    ierr  = VCRSPlanCreate(&csr, opt, NULL, plan, NULL);
    PetscCall(PetscFree3(i, j, a));
    PetscCall(ierr);
  }
  PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a matrix without AIJ arrays: puts plain rows in place of the plan, frees them, or keeps both */
PetscErrorCode MatVCRSPlacePlainRows_Private(Mat A)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plans.plainrows) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatVCRSMayPlacePlainRows_Private(ctx)) PetscCall(MatVCRSPlansSetPlainRows_Private(ctx, NULL));
  else if (!ctx->settings.lossy || !MatVCRSMayGoToDevice_Private(A)) PetscCall(MatVCRSPlansPlacePlainRows_Private(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite: compresses plain rows again, without loss */
PetscErrorCode MatVCRSLeavePlainRows_Private(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;
  VCRSPlan   *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plans.host || !ctx->plans.host->plainrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSOptionsDefault(&opt));
  PetscCall(MatVCRSRecompress_Private(A, &opt, &plan));
  PetscCall(MatVCRSPlansReplace_Private(ctx, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan with the fastest products on the host, made on demand */
PetscErrorCode MatVCRSGetProductPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;
  VCRSPlan   *rows = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plans.plainrows && ctx->plans.hostcost > VCRS_ROWS_COST && MatVCRSMayUsePlainRows_Private(ctx) &&
      (!ctx->last.dropped || MatVCRSMayPlacePlainRows_Private(ctx))) {
    PetscCall(MatVCRSOptionsDefault(&opt));
    opt.plain = VCRS_PLAIN_ALWAYS;
    PetscCall(MatVCRSRecompress_Private(A, &opt, &rows));
    PetscCall(MatVCRSPlansSetPlainRows_Private(ctx, rows));
    PetscCall(PetscInfo(A, "Products on the host use plain rows of %" PetscInt64_FMT " nonzeros\n", ctx->plans.host->nz));
    if (ctx->last.dropped || MatVCRSHasWholeRows_Private(ctx)) PetscCall(MatVCRSPlacePlainRows_Private(A));
  }
  if (ctx->plans.plainrows) *plan = ctx->plans.plainrows;
  else PetscCall(MatVCRSGetHostPlan_Private(A, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
