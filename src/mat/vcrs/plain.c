/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   When products on the host use plain rows (lithe/private/vcrsplan.h).

   On a CPU a form can be smaller and yet slower than AIJ. Where it is estimated to be, the first product of a small matrix on the host
   makes plain rows, which are faster than MATSEQAIJ's own loop. They are beside the plan while AIJ arrays are there. Without these they
   take its place where it can be made again bit for bit, that is if nothing was lost, or if no device will ask for it; and they are not made
   where a layout was asked for, or where a device has a copy of the plan. What took the place of a plan stays when the
   arrays are taken again, until values change or a device asks for slices.

   Where a matrix has whole entries in slices of L3, plain rows save as many bytes as these where columns take two of
   them, and never take much more than AIJ. They may then
   be of any size, and take the place of the plan also while AIJ arrays are there; where no device may ask for slices
   the compression makes them in place of these.
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
  return (PetscBool)(ctx->opt.layout == MATVCRS_LAYOUT_AUTO && !ctx->dplan && !ctx->substitution);
}

/* Whether they do in any case: what the plan has are whole entries in slices */
static PetscBool MatVCRSHasWholeRows_Private(const Mat_VCRS *ctx)
{
  return (PetscBool)(ctx->plan->layout == MATVCRS_LAYOUT_L3 && ctx->plan->values == VCRS_VALUES_FULL && !ctx->lossy && MatVCRSMayPlacePlainRows_Private(ctx));
}

PetscBool MatVCRSMayUsePlainRows_Private(const Mat_VCRS *ctx)
{
  const PetscInt64 most = VCRS_ROWS_ENTRIES / (ctx->plan->layout == MATVCRS_LAYOUT_L3 ? VCRS_ROWS_L3 : 1) / (ctx->beside ? VCRS_ROWS_BESIDE : 1);

  return (PetscBool)(ctx->mayplain && ctx->plan->nz > 0 && (ctx->plan->nz <= most || MatVCRSHasWholeRows_Private(ctx)));
}

/* What a compression of A may make at once. Where a device may ask for slices they are made first, and rows of them by a product on the host */
VCRSPlain MatVCRSGetPlain_Private(Mat A, const Mat_VCRS *ctx)
{
  return ctx->mayplain && ctx->opt.layout == MATVCRS_LAYOUT_AUTO && !MatVCRSMayGoToDevice_Private(A) ? VCRS_PLAIN_WHOLE : VCRS_PLAIN_NEVER;
}

/* Another plan of what the plan of A holds, as opt says. While AIJ arrays are there and nothing was lost, they are that, too, and need not be decoded */
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
  if (!ctx->dropped && !ctx->lossy) {
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

/* Where the plain rows of a matrix go that has no AIJ arrays, or none any more */
PetscErrorCode MatVCRSPlacePlainRows_Private(Mat A)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plainrows) PetscFunctionReturn(PETSC_SUCCESS);
  if (!MatVCRSMayPlacePlainRows_Private(ctx)) PetscCall(VCRSPlanDestroy(&ctx->plainrows));
  else if (!ctx->lossy || !MatVCRSMayGoToDevice_Private(A)) {
    PetscCall(VCRSPlanDestroy(&ctx->plan));
    ctx->plan      = ctx->plainrows;
    ctx->plainrows = NULL;
    PetscCall(VCRSPlanHostCost(ctx->plan, &ctx->hostcost));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite: what is in plain rows is compressed again, without loss */
PetscErrorCode MatVCRSLeavePlainRows_Private(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;
  VCRSPlan   *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plan || !ctx->plan->plainrows) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSOptionsDefault(&opt));
  PetscCall(MatVCRSRecompress_Private(A, &opt, &plan));
  PetscCall(VCRSPlanDestroy(&ctx->plan));
  ctx->plan = plan;
  PetscCall(VCRSPlanHostCost(plan, &ctx->hostcost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan with which products on the host are fastest; it is made if it is not there */
PetscErrorCode MatVCRSGetProductPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plainrows && ctx->hostcost > VCRS_ROWS_COST && MatVCRSMayUsePlainRows_Private(ctx) && (!ctx->dropped || MatVCRSMayPlacePlainRows_Private(ctx))) {
    PetscCall(MatVCRSOptionsDefault(&opt));
    opt.plain = VCRS_PLAIN_ALWAYS;
    PetscCall(MatVCRSRecompress_Private(A, &opt, &ctx->plainrows));
    PetscCall(PetscInfo(A, "Products on the host use plain rows of %" PetscInt64_FMT " nonzeros\n", ctx->plan->nz));
    if (ctx->dropped || MatVCRSHasWholeRows_Private(ctx)) PetscCall(MatVCRSPlacePlainRows_Private(A));
  }
  if (ctx->plainrows) *plan = ctx->plainrows;
  else PetscCall(MatVCRSGetHostPlan_Private(A, plan));
  PetscFunctionReturn(PETSC_SUCCESS);
}
