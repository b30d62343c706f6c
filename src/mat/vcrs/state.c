/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The state of a MATVCRS: the context, the options, and data kept while the AIJ arrays are dropped.

   A matrix has two containers. The context (Mat_VCRS) holds the plans and the options of the class. The second one
   (VCRSDrop) holds the operations, options and buffers of a matrix that may be without AIJ arrays.
*/

#include "vcrsdropimpl.h"
#include "tri/tri.h"
#include <lithe/private/litheimpl.h>

#define VCRS_CONTAINER "Lithe_MatVCRS"

/* ---- The context ---- */

/* The context, or NULL if A is no MATVCRS */
PetscErrorCode MatVCRSGetContext(Mat A, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  *ctx = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_CONTAINER, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the nonempty rows of an off-diagonal block */
static PetscErrorCode MatVCRSResetOffDiagonal_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  if (ctx->rows) PetscCall(LitheOffDiagonalDestroy(ctx->rows));
  PetscCall(PetscFree(ctx->rows));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->drows) PetscCall(LitheCUDAOffDiagonalFree(ctx->drows));
  PetscCall(PetscFree(ctx->drows));
#endif
  ctx->rowslooked = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
PetscErrorCode VCRSSubstitutionDestroy_Private(VCRSSubstitution **substitution)
{
  VCRSSubstitution *s = *substitution;

  PetscFunctionBegin;
  if (!s) PetscFunctionReturn(PETSC_SUCCESS);
  for (int transpose = 0; transpose < 2; transpose++) {
    PetscCall(LitheCUDAVCRSTriFree(&s->way[transpose].prepared));
    PetscCall(VCRSOrderDestroy(&s->way[transpose].order));
  }
  PetscCall(MatDestroy(&s->way[1].T));
  PetscCall(PetscFree(*substitution));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode MatVCRSGhostsReset_Private(VCRSGhosts *g)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&g->vec[k]));
  PetscCall(LitheHaloDestroy(&g->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the plans. A must have its AIJ arrays, or lose its context */
PetscErrorCode MatVCRSReset_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanDestroy(&ctx->plan));
  PetscCall(VCRSPlanDestroy(&ctx->plainrows));
  PetscCall(MatVCRSResetOffDiagonal_Private(ctx));
#if defined(LITHE_HAVE_CUDA)
  PetscCall(VCRSSubstitutionDestroy_Private(&ctx->substitution));
  if (ctx->dplan && ctx->dplan->shared-- > 0) ctx->dplan = NULL;
  if (ctx->dplan) {
    PetscCall(LitheCUDAVCRSFree(ctx->dplan));
    PetscCall(PetscFree(ctx->dplan));
  }
#endif
  ctx->state = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSContextDestroy_Private(PetscCtxRt data)
{
  Mat_VCRS *ctx = *(Mat_VCRS **)data;

  PetscFunctionBegin;
  PetscCall(MatVCRSReset_Private(ctx));
  for (int k = 0; k < 2; k++) PetscCall(MatVCRSGhostsReset_Private(&ctx->ghosts[k]));
  PetscCall(VecDestroy(&ctx->lvec));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes a new context with B: default options, no plan */
PetscErrorCode MatVCRSCreateContext_Private(Mat B, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(ctx));
  PetscCall(MatVCRSOptionsDefault(&(*ctx)->opt));
  (*ctx)->mayplain = PETSC_TRUE;
  (*ctx)->state    = -1;
  PetscCall(PetscObjectContainerCompose((PetscObject)B, VCRS_CONTAINER, *ctx, MatVCRSContextDestroy_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSRemoveContext_Private(Mat B)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectCompose((PetscObject)B, VCRS_CONTAINER, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b shares the plan of a, and copies all data about the plan */
PetscErrorCode MatVCRSSharePlan_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSReset_Private(b));
  b->plan  = a->plan;
  b->dplan = a->dplan;
  b->plan->shared++;
  if (b->dplan) b->dplan->shared++;
  b->report    = a->report;
  b->used      = a->used;
  b->lost      = a->lost;
  b->gone      = a->gone;
  b->hostcost  = a->hostcost;
  b->buildtime = a->buildtime;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the options and switches; b has no plan of a's */
PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&b->opt, &a->opt, sizeof(a->opt)));
  b->lossy      = a->lossy;
  b->allowlossy = a->allowlossy;
  b->mayplain   = a->mayplain;
  b->dropaij    = a->dropaij;
  b->transport  = a->transport;
  b->coocount   = a->coocount;
  b->state      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Options ---- */

PetscErrorCode MatVCRSOptionsDefault(VCRSOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->layout    = MATVCRS_LAYOUT_AUTO;
  opt->loss      = MATVCRS_LOSS_NONE;
  opt->bits      = 16;
  opt->bins      = 100000;
  opt->lambda    = 0.1;
  opt->unit      = MATVCRS_UNIT_ROW;
  opt->rowsums   = PETSC_TRUE;
  opt->refine    = PETSC_TRUE;
  opt->symmetric = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Refuses impossible options. Callers call this function before any change */
PetscErrorCode MatVCRSOptionsCheck(Mat A, const VCRSOptions *opt)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCheck(opt->bits == 8 || opt->bits == 16, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_vcrs_bits %" PetscInt_FMT ": an entry has 8 or 16 bits", opt->bits);
  PetscCheck(opt->bins >= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-mat_vcrs_bins %" PetscInt_FMT ": use at least one bin; 100000 is the default", opt->bins);
  PetscCheck(opt->lambda >= 0.0 && !PetscIsInfOrNanReal(opt->lambda), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_vcrs_lambda %g: use a tolerance of at least 0 (0 is lossless)", (double)opt->lambda);
  PetscCheck(opt->unit != MATVCRS_UNIT_ENTRY || opt->lambda < 1.0, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_vcrs_lambda %g with -mat_vcrs_lambda_unit entry: use a tolerance below 1, or entries lose their sign", (double)opt->lambda);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Predicates ---- */

/* Whether a compression with these options may change entries */
PetscErrorCode MatVCRSIsLossy_Private(const VCRSOptions *opt, PetscBool *lossy)
{
  PetscFunctionBegin;
  *lossy = (PetscBool)(opt->loss != MATVCRS_LOSS_NONE && !(opt->loss == MATVCRS_LOSS_CLASSES && opt->lambda == 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A is known to be symmetric or Hermitian. hermitian, or NULL: whether A is complex and Hermitian */
PetscErrorCode MatVCRSIsSymmetric_Private(Mat A, PetscBool *symmetric, PetscBool *hermitian)
{
  PetscBool known, is;

  PetscFunctionBegin;
  PetscCall(MatIsHermitianKnown(A, &known, &is));
  *symmetric = (PetscBool)(known && is);
  if (hermitian) *hermitian = (PetscBool)(PetscDefined(USE_COMPLEX) && *symmetric);
  if (*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  *symmetric = (PetscBool)(known && is);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the plan holds the present entries of A. MatHeaderReplace() gives an object the context of another object but
   keeps the object state. States of two objects cannot be compared: the context therefore names the object of its
   state.
*/
PetscErrorCode MatVCRSIsCurrent_Private(Mat A, PetscBool *current)
{
  Mat_VCRS        *ctx;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *current = (PetscBool)(ctx->owner == A && ctx->state == state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the plan as current for A */
PetscErrorCode MatVCRSSetCurrent_Private(Mat A)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectStateGet((PetscObject)A, &ctx->state));
  ctx->owner = A;
  PetscCall(LitheCite(LITHE_CITE_VCRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSIsParallel_Private(Mat A, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Without AIJ arrays ---- */

/* Frees the buffers filled from the plan */
PetscErrorCode VCRSDropReset(VCRSDrop *drop)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(drop->rowcols, drop->rowvals));
  PetscCall(PetscFree(drop->diagonal));
  drop->rowsize = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSDropDestroy_Private(PetscCtxRt data)
{
  VCRSDrop *drop = *(VCRSDrop **)data;

  PetscFunctionBegin;
  PetscCall(VCRSDropReset(drop));
  PetscCall(PetscFree(drop->inverse));
  PetscCall(PetscFree(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns the second container of A, which is made at the first call */
PetscErrorCode MatVCRSGetDrop_Private(Mat A, VCRSDrop **drop)
{
  PetscFunctionBegin;
  *drop = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_DROP_CONTAINER, drop));
  if (!*drop) {
    PetscCall(PetscNew(drop));
    PetscCall(PetscObjectContainerCompose((PetscObject)A, VCRS_DROP_CONTAINER, *drop, VCRSDropDestroy_Private));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the buffers of the old plan when a matrix without AIJ arrays gets another plan */
PetscErrorCode MatVCRSForgetCaches_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records MatSetOption() of options that are part of Mat_SeqAIJ: the last value of each, in the order of the calls */
PetscErrorCode VCRSDropRecordOption(VCRSDrop *drop, MatOption op, PetscBool flg)
{
  PetscInt k;

  PetscFunctionBegin;
  switch (op) {
  case MAT_ROW_ORIENTED:
  case MAT_KEEP_NONZERO_PATTERN:
  case MAT_NEW_NONZERO_LOCATIONS:
  case MAT_NEW_NONZERO_LOCATION_ERR:
  case MAT_NEW_NONZERO_ALLOCATION_ERR:
  case MAT_UNUSED_NONZERO_LOCATION_ERR:
  case MAT_IGNORE_ZERO_ENTRIES:
  case MAT_USE_INODES:
  case MAT_SORTED_FULL:
    break;
  default:
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == op) break;
  }
  if (k < drop->noptions) {
    for (; k + 1 < drop->noptions; k++) {
      drop->option[k] = drop->option[k + 1];
      drop->value[k]  = drop->value[k + 1];
    }
    drop->noptions--;
  }
  drop->option[drop->noptions]  = op;
  drop->value[drop->noptions++] = flg;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the operations that A had with AIJ arrays */
PetscErrorCode MatVCRSRestoreOperations_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  *A->ops = drop->live;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether A has no AIJ arrays. MatHeaderMerge(), which MatAXPY() calls, for example, gives an object new data and keeps
   its operations. A dropped matrix then has arrays again, with new values.
*/
PetscErrorCode MatVCRSIsDropped_Private(Mat A, PetscBool *dropped)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *dropped = (PetscBool)(ctx && ctx->dropped);
  if (!*dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->data == drop->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSRestoreOperations_Private(A));
  PetscCall(VCRSDropReset(drop));
  ctx->dropped    = PETSC_FALSE;
  ctx->state      = -1;
  drop->rowactive = PETSC_FALSE;
  drop->stored    = PETSC_FALSE;
  *dropped        = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For readers of the arrays that have another way to read rows */
PetscErrorCode MatVCRSHasArrays_Private(Mat A, PetscBool *has)
{
  PetscBool dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  *has = (PetscBool)!dropped;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The plan on the host ---- */

/* Returns the plan with all arrays on the host. The first call copies a plan made on the device */
PetscErrorCode MatVCRSGetHostPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->dplan && ctx->plan->m && !ctx->plan->length && !ctx->plan->id && !ctx->plan->rowlength) {
    VCRSPlan *host;

    PetscCall(PetscNew(&host));
    PetscCall(LitheCUDAVCRSDownload(ctx->dplan, host));

    /* The device copy has no counts of sets */
    if (ctx->plan->setcount && !host->setcount) {
      PetscCall(PetscMalloc1(host->nsets, &host->setcount));
      PetscCall(PetscArraycpy(host->setcount, ctx->plan->setcount, host->nsets));
    }
    PetscCall(VCRSPlanDestroy(&ctx->plan));
    ctx->plan = host;
  }
#endif
  *plan = ctx->plan;
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
