/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What a MATBORN has made of its settings is forgotten when a setting changes */

#include "bornimpl.h"

PetscErrorCode MatBornForget_Private(Mat A)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const BornKernels *k   = ctx->kernels;

  PetscFunctionBegin;
  ctx->built = PETSC_FALSE;
  PetscCall(BornHalosDestroy_Private(&ctx->parallel.halos));
  if (k) {
    PetscCall(BornModelDestroy_Private(k, &ctx->model));
    PetscCall(BornSourceDestroy_Private(k, &ctx->source));
    PetscCall(BornFieldsDestroy_Private(k, &ctx->fields));
    PetscCall(BornStatesDestroy_Private(k, &ctx->states));
    PetscCall(BornIntegersDestroy_Private(k, &ctx->integers));
    PetscCall(BornStoreDestroy_Private(k, &ctx->store));
  }
  ctx->kernels = NULL;
  PetscCall(BornRunDestroy_Private(&ctx->run));
  PetscCall(BornPlacesDestroy_Private(&ctx->places));
  PetscCall(MatBornForgetChain_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a change of settings */
PetscErrorCode MatBornChanged_Private(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatBornForget_Private(A));
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
