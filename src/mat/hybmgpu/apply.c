/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products of a MATHYBMGPU with vectors, and steps of power series: the choice of the place, and PETSc's operations.

   If all vectors are on a device, products run on the device. Otherwise products run on the host, where accessors
   synchronise the vectors. On the host the format auto is AIJ itself.
*/

#include "hybmgpuimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

static const LitheStep HybPlain = {.scale = 1};

/* add may be NULL, x or y */
static PetscErrorCode MatHYBMGPUMultVectors_Private(Mat A, HybOp op, PetscBool device, Vec x, Vec add, const LitheStep *step, Vec y)
{
  const PetscScalar *px, *padd = NULL, *addend;
  PetscScalar       *py;
  Mat_HYBMGPU       *ctx;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(x, &px, NULL));
    if (add == y) PetscCall(VecGetArrayAndMemType(y, &py, NULL));
    else PetscCall(VecGetArrayWriteAndMemType(y, &py, NULL));
    if (add && add != x && add != y) PetscCall(VecGetArrayReadAndMemType(add, &padd, NULL));
  } else {
    PetscCall(VecGetArrayRead(x, &px));
    if (add == y) PetscCall(VecGetArray(y, &py));
    else PetscCall(VecGetArrayWrite(y, &py));
    if (add && add != x && add != y) PetscCall(VecGetArrayRead(add, &padd));
  }
  addend = padd;
  if (add == x) addend = px;
  else if (add == y) addend = py;
  PetscCall((*(ctx->parallel ? MatHYBMGPUMultArrays_MPI : MatHYBMGPUMultArrays_Private))(A, op, device, px, addend, step, py));
  if (device) {
    if (padd) PetscCall(VecRestoreArrayReadAndMemType(add, &padd));
    if (add == y) PetscCall(VecRestoreArrayAndMemType(y, &py));
    else PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
    PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  } else {
    if (padd) PetscCall(VecRestoreArrayRead(add, &padd));
    if (add == y) PetscCall(VecRestoreArray(y, &py));
    else PetscCall(VecRestoreArrayWrite(y, &py));
    PetscCall(VecRestoreArrayRead(x, &px));
  }
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  if (device) PetscCall(PetscLogGpuFlops(2.0 * info.nz_used));
  else PetscCall(PetscLogFlops(2.0 * info.nz_used));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   super: AIJ multiplies on the host, with vectors of any kind. The halo then refuses any transport other than PETSc's
   own
*/
static PetscErrorCode MatHYBMGPUGetPlace_Private(Mat A, Vec x, Vec add, Vec y, PetscBool *device, PetscBool *super)
{
  Mat_HYBMGPU *ctx;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 3, (const Vec[]){x, y, add == y ? NULL : add}, device));
  *super = (PetscBool)(!*device && ctx->opt.format == MATHYBMGPU_FORMAT_AUTO &&
                       (ctx->opt.transport == LITHE_TRANSPORT_AUTO || ctx->opt.transport == LITHE_TRANSPORT_MPI));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = op(A) x (+ add), on one process or several; add may be NULL or y */
static PetscErrorCode MatHYBMGPUApply_Private(Mat A, HybOp op, Vec x, Vec add, Vec y)
{
  Mat_HYBMGPU *ctx;
  PetscBool    device = PETSC_FALSE, super = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUGetPlace_Private(A, x, add, y, &device, &super));
  if (!super) {
    PetscCall(MatHYBMGPUMultVectors_Private(A, op, device, x, add, &HybPlain, y));
  } else if (op == HYB_OP_N) {
    if (add) PetscCall((*ctx->super.multadd)(A, x, add, y));
    else PetscCall((*ctx->super.mult)(A, x, y));
  } else {
    if (add) PetscCall((*ctx->super.multtransposeadd)(A, x, add, y));
    else PetscCall((*ctx->super.multtranspose)(A, x, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = x + scale A x, and the sums: a LitheMatStepFn */
static PetscErrorCode MatHYBMGPUStep_Private(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  LitheStep step;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(LitheStepIsOnDevice(A, x, y, nsums, sums, &device));
  PetscCall(LitheStepGetArrays(device, scale, nsums, sums, &step));
  PetscCall(LitheStepSetRows(rows, y, &step));
  PetscCall(MatHYBMGPUMultVectors_Private(A, HYB_OP_N, device, x, x, &step, y));
  PetscCall(LitheStepRestoreArrays(device, nsums, sums, &step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A LitheMatStepLeavesOutFn: false for reordered rows; compressed rows answer for themselves */
static PetscErrorCode MatHYBMGPUStepLeavesOut_Private(Mat A, PetscBool device, PetscBool *leaves)
{
  Mat_HYBMGPU *ctx;
  HybPlan     *plan;
  PetscBool    bound;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  if (ctx->parallel) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, &A, NULL, NULL));
    PetscCall(MatHYBMGPUGetContext(A, &ctx));
  }
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) device = PETSC_FALSE;
  plan = device ? ctx->block.plans.device : ctx->block.plans.host;
  if (!A->rmap->n || (!device && ctx->opt.format == MATHYBMGPU_FORMAT_AUTO)) *leaves = PETSC_TRUE;
  else if (ctx->block.format == MATHYBMGPU_FORMAT_VCRS) PetscCall(LitheMatStepLeavesOut(ctx->block.compressed, device, leaves));
  else *leaves = (PetscBool)(plan && !plan->order);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_HYBMGPU(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUApply_Private(A, HYB_OP_N, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_HYBMGPU(Mat A, Vec x, Vec add, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUApply_Private(A, HYB_OP_N, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_HYBMGPU(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUApply_Private(A, HYB_OP_T, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_HYBMGPU(Mat A, Vec x, Vec add, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatHYBMGPUApply_Private(A, HYB_OP_T, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUSetProducts_Private(Mat B)
{
  PetscFunctionBegin;
  B->ops->mult             = MatMult_HYBMGPU;
  B->ops->multadd          = MatMultAdd_HYBMGPU;
  B->ops->multtranspose    = MatMultTranspose_HYBMGPU;
  B->ops->multtransposeadd = MatMultTransposeAdd_HYBMGPU;
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", MatHYBMGPUStep_Private));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", MatHYBMGPUStepLeavesOut_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}
