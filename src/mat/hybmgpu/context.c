/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a MATHYBMGPU: the container, and the destructor of the plans */

#include "hybmgpuimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>
#endif

#define HYBMGPU_CONTAINER "Lithe_MatHYBMGPU"

/* The context, or NULL where A is no MATHYBMGPU */
PetscErrorCode MatHYBMGPUGetContext(Mat A, Mat_HYBMGPU **ctx)
{
  PetscFunctionBegin;
  *ctx = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, HYBMGPU_CONTAINER, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybCopiesReset(HybCopies *c)
{
  PetscFunctionBegin;
  PetscCall(HybPlanDestroy(&c->host));
#if defined(LITHE_HAVE_CUDA)
  if (c->device) {
    PetscCall(LitheCUDAHybFree(c->device));
    PetscCall(PetscFree(c->device));
  }
#endif
  c->hostvalues = c->devicevalues = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values of the source have changed */
void HybCopiesAge(HybCopies *c)
{
  c->hostvalues = c->devicevalues = PETSC_FALSE;
}

PetscErrorCode MatHYBMGPUReset_Seq(Mat_HYBMGPU *ctx)
{
  PetscFunctionBegin;
  PetscCall(HybCopiesReset(&ctx->block.plans));
  PetscCall(HybCopiesReset(&ctx->block.transpose));
  PetscCall(MatDestroy(&ctx->block.compressed));
  ctx->block.format       = MATHYBMGPU_FORMAT_AUTO;
  ctx->block.state.values = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUResetOff_Private(Mat_HYBMGPU *ctx)
{
  PetscFunctionBegin;
  PetscCall(LitheOffDiagonalDestroy(&ctx->off.host));
#if defined(LITHE_HAVE_CUDA)
  PetscCall(LitheCUDAOffDiagonalFree(&ctx->off.device));
#endif
  PetscCall(HybCopiesReset(&ctx->off.transpose));
  ctx->off.state.values = -1;
  ctx->off.ondevice     = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUReset_MPI(Mat_HYBMGPU *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUResetOff_Private(ctx));
  for (int k = 0; k < 2; k++) PetscCall(LitheHaloDestroy(&ctx->off.halo[k]));
  PetscCall(VecDestroy(&ctx->off.lvec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHYBMGPUContextDestroy_Private(PetscCtxRt data)
{
  Mat_HYBMGPU *ctx = *(Mat_HYBMGPU **)data;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUReset_Seq(ctx));
  PetscCall(MatHYBMGPUReset_MPI(ctx));
  PetscCall(PetscFree(ctx->prefix));
  PetscCall(PetscFree(ctx->inverse));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes the context with a matrix; NULL frees the present context */
PetscErrorCode MatHYBMGPUSetContext_Private(Mat A, Mat_HYBMGPU *ctx)
{
  PetscFunctionBegin;
  if (ctx) PetscCall(PetscObjectContainerCompose((PetscObject)A, HYBMGPU_CONTAINER, ctx, MatHYBMGPUContextDestroy_Private));
  else PetscCall(PetscObjectCompose((PetscObject)A, HYBMGPU_CONTAINER, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}
