/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The state of a MATVCRS: what its last compression was of, and data kept while the AIJ arrays are dropped.

   A matrix has two containers. The context (Mat_VCRS) holds the plans and the options of the class. The second one
   (VCRSDrop) holds the operations, options and buffers of a matrix that may be without AIJ arrays.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/* The context, or NULL if A is no MATVCRS */
PetscErrorCode MatVCRSGetContext(Mat A, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  *ctx = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_CONTAINER, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Predicates ---- */

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
  *current = (PetscBool)(ctx->last.owner == A && ctx->last.state == state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Marks the plan as current for A */
PetscErrorCode MatVCRSSetCurrent_Private(Mat A)
{
  PetscObjectState state;
  Mat_VCRS        *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  ctx->last.state = state;
  ctx->last.owner = A;
  PetscCall(LitheCite(LITHE_CITE_VCRS));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatConvert() increases the state once more before it returns, with unchanged values */
void MatVCRSExpectStateIncrease_Private(Mat_VCRS *ctx)
{
  ctx->last.state++;
}

/* The plan is no longer current */
void MatVCRSSetOutdated_Private(Mat_VCRS *ctx)
{
  ctx->last.state = -1;
}

/* Records a compression with these options */
void MatVCRSSetCompressed_Private(Mat_VCRS *ctx, const VCRSOptions *used, const VCRSReport *report)
{
  ctx->last.report         = *report;
  ctx->last.used           = *used;
  ctx->last.used.agreement = NULL; /* belongs to the compression */
  ctx->last.lost           = (PetscBool)(ctx->settings.lossy && report->maxabserror > 0.0);
  ctx->last.gone           = PETSC_FALSE;
}

void MatVCRSSetBuildTime_Private(Mat_VCRS *ctx, PetscLogDouble seconds)
{
  ctx->last.buildtime = seconds;
}

/*
   The same of a parallel matrix, by its blocks. All processes permit or refuse a product, including products of a block
*/
PetscErrorCode MatVCRSSetBlocksCompressed_Private(Mat A, Mat_VCRS *ctx, Mat_VCRS *d, Mat_VCRS *o)
{
  PetscFunctionBegin;
  ctx->last.lost = PETSC_FALSE;
  ctx->last.gone = PETSC_FALSE;
  if (ctx->settings.lossy) {
    PetscReal worst[2] = {PetscMax(d->last.report.maxabserror, o->last.report.maxabserror), PetscMax(d->last.report.bound, o->last.report.bound)};

    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, worst, 2, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
    ctx->last.report.maxabserror = worst[0];
    ctx->last.report.bound       = worst[1];
    ctx->last.lost = d->last.lost = o->last.lost = (PetscBool)(worst[0] > 0.0);
  }
  ctx->last.buildtime = d->last.buildtime + o->last.buildtime;
  ctx->last.used      = d->last.used;
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan of b is the plan of a */
void MatVCRSCopyCompression_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  b->last.report    = a->last.report;
  b->last.used      = a->last.used;
  b->last.lost      = a->last.lost;
  b->last.gone      = a->last.gone;
  b->last.buildtime = a->last.buildtime;
}

PetscErrorCode MatVCRSIsParallel_Private(Mat A, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Without AIJ arrays ---- */

/* The AIJ arrays are given back, and with them the exact entries if the compression changed any; or they exist again */
void MatVCRSSetDropped_Private(Mat_VCRS *ctx, PetscBool dropped)
{
  ctx->last.dropped = dropped;
  if (dropped) ctx->last.gone = ctx->last.lost;
}

/* Copies are dropped as well from now on */
void MatVCRSSetDropCopies_Private(Mat_VCRS *ctx)
{
  ctx->last.dropcopies = PETSC_TRUE;
}

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
  *dropped = (PetscBool)(ctx && ctx->last.dropped);
  if (!*dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->data == drop->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSRestoreOperations_Private(A));
  PetscCall(VCRSDropReset(drop));
  ctx->last.dropped = PETSC_FALSE;
  ctx->last.state   = -1;
  drop->rowactive   = PETSC_FALSE;
  drop->stored      = PETSC_FALSE;
  *dropped          = PETSC_FALSE;
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
