/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The context of a MATVCRS: creation, copies, and what a new compression frees.

   A matrix has two containers. The context (Mat_VCRS) holds the plans and the options of the class. The second one
   (VCRSDrop, state.c) holds the operations, options and buffers of a matrix that may be without AIJ arrays.
*/

#include "vcrsimpl.h"

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
