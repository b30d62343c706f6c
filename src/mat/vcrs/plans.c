/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The plans of a MATVCRS of one process, or of a block: on the host, on a device, and in plain rows beside */

#include "vcrsimpl.h"

/* Frees the plans, and what was prepared from them */
PetscErrorCode MatVCRSPlansReset_Private(Mat_VCRS *ctx)
{
  VCRSPlans *p = &ctx->plans;

  PetscFunctionBegin;
  PetscCall(VCRSPlanDestroy(&p->host));
  PetscCall(VCRSPlanDestroy(&p->plainrows));
  PetscCall(MatVCRSSetSubstitution_Private(ctx, NULL, NULL));
#if defined(LITHE_HAVE_CUDA)
  if (p->device && p->device->shared-- > 0) p->device = NULL;
  if (p->device) {
    PetscCall(LitheCUDAVCRSFree(p->device));
    PetscCall(PetscFree(p->device));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plans of a compression; device may be NULL. The former plans are freed before */
PetscErrorCode MatVCRSPlansSet_Private(Mat_VCRS *ctx, VCRSPlan *host, VCRSPlan *device)
{
  PetscFunctionBegin;
  ctx->plans.host   = host;
  ctx->plans.device = device;
  PetscCall(VCRSPlanHostCost(host, &ctx->plans.hostcost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another form of the same entries replaces the plan on the host */
PetscErrorCode MatVCRSPlansReplace_Private(Mat_VCRS *ctx, VCRSPlan *host)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanDestroy(&ctx->plans.host));
  ctx->plans.host = host;
  PetscCall(VCRSPlanHostCost(host, &ctx->plans.hostcost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plain rows beside the plan, or NULL. */
PetscErrorCode MatVCRSPlansSetPlainRows_Private(Mat_VCRS *ctx, VCRSPlan *rows)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanDestroy(&ctx->plans.plainrows));
  ctx->plans.plainrows = rows;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Plain rows beside the plan replace the plan */
PetscErrorCode MatVCRSPlansPlacePlainRows_Private(Mat_VCRS *ctx)
{
  VCRSPlan *rows = ctx->plans.plainrows;

  PetscFunctionBegin;
  ctx->plans.plainrows = NULL;
  PetscCall(MatVCRSPlansReplace_Private(ctx, rows));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b has the plans of a as well */
void MatVCRSPlansShare_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  b->plans.host   = a->plans.host;
  b->plans.device = a->plans.device;
  b->plans.host->shared++;
  if (b->plans.device) b->plans.device->shared++;
  b->plans.hostcost = a->plans.hostcost;
}

#if defined(LITHE_HAVE_CUDA)
PetscErrorCode MatVCRSPlansUpload_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(&ctx->plans.device));
  PetscCall(LitheCUDAVCRSUpload(ctx->plans.host, ctx->plans.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Data of substitution with the plan on a device, freed by destroy() before the plan; the former data are freed */
PetscErrorCode MatVCRSSetSubstitution_Private(Mat_VCRS *ctx, void *substitution, PetscErrorCode (*destroy)(void *))
{
  PetscFunctionBegin;
  if (ctx->plans.substitution) PetscCall((*ctx->plans.destroysubstitution)(ctx->plans.substitution));
  ctx->plans.substitution        = substitution;
  ctx->plans.destroysubstitution = destroy;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the plan with all arrays on the host. The first call copies a plan made on the device */
PetscErrorCode MatVCRSGetHostPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->plans.device && ctx->plans.host->m && !ctx->plans.host->literal.length && !ctx->plans.host->sets.id && !ctx->plans.host->lanes.length) {
    VCRSPlan *host;

    PetscCall(PetscNew(&host));
    PetscCall(LitheCUDAVCRSDownload(ctx->plans.device, host));

    /* The device copy has no counts of sets */
    if (ctx->plans.host->sets.count && !host->sets.count) {
      PetscCall(PetscMalloc1(host->sets.n, &host->sets.count));
      PetscCall(PetscArraycpy(host->sets.count, ctx->plans.host->sets.count, host->sets.n));
    }
    PetscCall(VCRSPlanDestroy(&ctx->plans.host));
    ctx->plans.host = host;
  }
#endif
  *plan = ctx->plans.host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Decodes the plan to CSR arrays, columns ascending, of the entries in products. The caller frees the arrays by
   PetscFree3()
*/
PetscErrorCode MatVCRSGetDecodedArrays_Private(Mat A, PetscInt **i, PetscInt **j, PetscScalar **a)
{
  const VCRSPlan *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(PetscMalloc3(plan->m + 1, i, plan->nz, j, plan->nz, a));
  PetscCall(VCRSPlanDecode(plan, *i, *j, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
