/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of a MATHYBMGPU of one process with arrays, on the host or on a device */

#include "hybmgpuimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

PetscErrorCode MatHYBMGPUMultCurrent_Private(Mat A, HybOp op, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *step,
                                             PetscScalar y[])
{
  Mat_HYBMGPU *ctx;
  HybCSR       csr;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(HybGetCSR(A, &csr));
  if (device) PetscCall(PetscLogGpuTimeBegin());
  if (!device && (ctx->opt.format == MATHYBMGPU_FORMAT_AUTO || (op == HYB_OP_T && ctx->block.format != MATHYBMGPU_FORMAT_VCRS))) {
    if (op == HYB_OP_N) PetscCall(HybCSRMult(&csr, x, add, step, y));
    else PetscCall(HybCSRMultTranspose(&csr, x, add, y));
  } else if (ctx->block.format == MATHYBMGPU_FORMAT_VCRS) PetscCall(HybCompressedMult(ctx->block.compressed, op, device, x, add, step, y));
  else if (!device) PetscCall(HybPlanMult(ctx->block.plans.host, x, add, step, y));
#if defined(LITHE_HAVE_CUDA)
  else {
    cudaStream_t stream;

    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCall(LitheCUDAHybMult(op == HYB_OP_N ? ctx->block.plans.device : ctx->block.transpose.device, x, add, step, y, stream));
  }
#endif
  if (device) PetscCall(PetscLogGpuTimeEnd());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUMultArrays_Private(Mat A, HybOp op, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *step,
                                            PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUUpdate_Seq(A, op, device));
  PetscCall(MatHYBMGPUMultCurrent_Private(A, op, device, x, add, step, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
