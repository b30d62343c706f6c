/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The context of a MATVCRS: settings, creation, copies, and what a new compression frees. The settings are defaults and
   limits of the options of a compression, and what a block gets of them.

   A matrix has two containers. The context (Mat_VCRS) holds the plans and the options of the class. The second one
   (VCRSDrop, state.c) holds the operations, options and buffers of a matrix that may be without AIJ arrays.
*/

#include "vcrsimpl.h"

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

/* Whether a compression with these options may change entries */
PetscErrorCode MatVCRSIsLossy_Private(const VCRSOptions *opt, PetscBool *lossy)
{
  PetscFunctionBegin;
  *lossy = (PetscBool)(opt->loss != MATVCRS_LOSS_NONE && !(opt->loss == MATVCRS_LOSS_CLASSES && opt->lambda == 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a new matrix */
static PetscErrorCode MatVCRSSettingsDefault_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSOptionsDefault(&ctx->settings.opt));
  ctx->settings.mayplain = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a copy */
static PetscErrorCode MatVCRSSettingsCopy_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&b->settings.opt, &a->settings.opt, sizeof(a->settings.opt)));
  b->settings.lossy      = a->settings.lossy;
  b->settings.allowlossy = a->settings.allowlossy;
  b->settings.mayplain   = a->settings.mayplain;
  b->settings.dropaij    = a->settings.dropaij;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a block of a parallel matrix, which drops both blocks itself; beside: an exchange runs beside products */
void MatVCRSSettingsAdopt_Private(const Mat_VCRS *all, PetscBool beside, Mat_VCRS *block)
{
  block->settings.allowlossy = all->settings.allowlossy;
  block->settings.mayplain   = all->settings.mayplain;
  block->settings.dropaij    = PETSC_FALSE;
  block->settings.beside     = beside;
  block->settings.ondevice   = all->settings.ondevice;
}

/* A copy of the options of a compression. Copies are compared by bytes, including bytes between members */
PetscErrorCode MatVCRSGetOptions_Private(const Mat_VCRS *ctx, VCRSOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(opt, &ctx->settings.opt, sizeof(*opt)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSHasOptions_Private(const Mat_VCRS *ctx, const VCRSOptions *opt, PetscBool *same)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcmp(opt, &ctx->settings.opt, sizeof(*opt), same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSStoreOptions_Private(Mat_VCRS *ctx, const VCRSOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&ctx->settings.opt, opt, sizeof(*opt)));
  PetscCall(MatVCRSIsLossy_Private(opt, &ctx->settings.lossy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where the vectors of the next product are */
void MatVCRSSetOnDevice_Private(Mat_VCRS *ctx, PetscBool device)
{
  ctx->settings.ondevice = device;
}

PetscErrorCode MatVCRSSetBeside_Private(Mat A, PetscBool beside)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->settings.beside = beside;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the context */

/* Frees the plans. A must have its AIJ arrays, or lose its context */
PetscErrorCode MatVCRSReset_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSOffDiagonalReset_Private(ctx));
  PetscCall(MatVCRSPlansReset_Private(ctx));
  MatVCRSSetOutdated_Private(ctx);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSContextDestroy_Private(PetscCtxRt data)
{
  Mat_VCRS *ctx = *(Mat_VCRS **)data;

  PetscFunctionBegin;
  PetscCall(MatVCRSReset_Private(ctx));
  PetscCall(MatVCRSExchangeDestroy_Private(ctx));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes a new context with B: default options, no plan */
PetscErrorCode MatVCRSCreateContext_Private(Mat B, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(ctx));
  PetscCall(MatVCRSSettingsDefault_Private(*ctx));
  MatVCRSSetOutdated_Private(*ctx);
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
  MatVCRSPlansShare_Private(a, b);
  MatVCRSCopyCompression_Private(a, b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the options and switches; b has no plan of a's */
PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSSettingsCopy_Private(a, b));
  MatVCRSExchangeCopy_Private(a, b);
  b->super.coocount = a->super.coocount;
  MatVCRSSetOutdated_Private(b);
  PetscFunctionReturn(PETSC_SUCCESS);
}
