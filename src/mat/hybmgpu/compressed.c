/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The format vcrs of a MATHYBMGPU: the block as a lossless MATVCRS without AIJ arrays, with the options of MATVCRS */

#include "hybmgpuimpl.h"
#include <lithe/private/vcrs/mat.h>

PetscErrorCode HybCompressedCreate(Mat A, Mat *compressed)
{
  Mat_HYBMGPU *ctx;
  MatVCRSLoss  loss;
  PetscBool    lossy;
  Mat          C;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatConvert(A, MATSEQAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatSetOptionsPrefix(C, ctx->prefix ? ctx->prefix : ((PetscObject)A)->prefix));
  PetscCall(MatConvert(C, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &C));
  PetscCall(MatVCRSGetLoss_Private(C, &loss, &lossy));
  if (lossy) PetscCall(MatDestroy(&C));
  PetscCheck(!lossy, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_INCOMP,
             "-mat_vcrs_loss %s with a MATHYBMGPU, which is lossless. Use -mat_type vcrs for a lossy matrix, or -mat_hybmgpu_format hyb, "
             "sell or csr",
             MatVCRSLosses[loss]);
  PetscCall(MatVCRSDropAIJ(C));
  PetscCall(MatVCRSSetBeside_Private(C, ctx->overlapped));
  *compressed = C;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HybCompressedGetBytes(Mat C, PetscLogDouble *bytes)
{
  MatVCRSInfo info;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetInfo(C, &info));
  *bytes = info.bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Arrays are on the device if device is true, else on the host */
PetscErrorCode HybCompressedMult(Mat C, HybOp op, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *step, PetscScalar y[])
{
  const VCRSOp    vop   = op == HYB_OP_N ? VCRS_OP_N : VCRS_OP_T;
  const PetscBool plain = (PetscBool)(step->scale == 1 && !step->nsums);

  PetscFunctionBegin;
  PetscCheck(plain || (add == x && op == HYB_OP_N), PETSC_COMM_SELF, PETSC_ERR_PLIB, "A step is y = x + scale A x");
  PetscCall(MatVCRSApplyArrays_Private(C, vop, device, x, plain ? add : NULL, plain ? NULL : step, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the block to the device before a product is timed */
PetscErrorCode HybCompressedUpload(PETSC_UNUSED Mat C)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(MatVCRSUpload_Private(C));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}
