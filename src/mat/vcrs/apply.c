/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of a MATVCRS with vectors: the choice between host and device, and PETSc's operations */

#include "vcrsimpl.h"
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#if defined(LITHE_HAVE_CUDA)
/* Makes the device copy of the plan */
PetscErrorCode MatVCRSUpload_Private(Mat A)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (!ctx->plans.device) {
    PetscCall(MatVCRSLeavePlainRows_Private(A));
    PetscCall(MatVCRSPlansUpload_Private(ctx));
  }
  ctx->plans.device->beside = ctx->settings.beside;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSApply_Device(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat_VCRS          *ctx;
  const PetscScalar *px, *padd = NULL;
  PetscScalar       *py;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSUpload_Private(A));
  PetscCall(VecGetArrayReadAndMemType(x, &px, NULL));
  if (add == y) PetscCall(VecGetArrayAndMemType(y, &py, NULL));
  else PetscCall(VecGetArrayWriteAndMemType(y, &py, NULL));
  if (add == y) padd = py;
  else if (add) PetscCall(VecGetArrayReadAndMemType(add, &padd, NULL));

  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAVCRSMult(ctx->plans.host, ctx->plans.device, op, 1, px, 0, padd, 0, py, 0));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->plans.host->nz));

  if (add && add != y) PetscCall(VecRestoreArrayReadAndMemType(add, &padd));
  if (add == y) PetscCall(VecRestoreArrayAndMemType(y, &py));
  else PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode MatVCRSApply_Host(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  const VCRSPlan    *plan;
  const PetscScalar *px, *padd = NULL;
  PetscScalar       *py;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetProductPlan_Private(A, &plan));
  PetscCall(VecGetArrayRead(x, &px));
  if (add == y) PetscCall(VecGetArray(y, &py));
  else PetscCall(VecGetArrayWrite(y, &py));
  if (add == y) padd = py;
  else if (add) PetscCall(VecGetArrayRead(add, &padd));

  PetscCall(VCRSPlanMult(plan, op, 1, px, 0, padd, 0, py, 0));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)plan->nz));

  if (add && add != y) PetscCall(VecRestoreArrayRead(add, &padd));
  if (add == y) PetscCall(VecRestoreArray(y, &py));
  else PetscCall(VecRestoreArrayWrite(y, &py));
  PetscCall(VecRestoreArrayRead(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Leaves a product to MATSEQAIJ if four conditions hold: MATSEQAIJ is estimated to be faster, nothing is lost, plain
   rows are not permitted, and the AIJ arrays exist. faster has MATSEQAIJ's operations, and is NULL if the plan is to be
   used.
*/
static PetscErrorCode MatVCRSGetFaster_Private(Mat A, const Mat_VCRS **faster)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *faster = ctx->last.dropped || ctx->settings.lossy || !(ctx->plans.hostcost > 1.0) || MatVCRSMayUsePlainRows_Private(ctx) ? NULL : ctx;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   y = op(A) x (+ add): on the device if all vectors are on the device, else on the host. Accessors synchronise vectors:
   any mix is correct.
*/
PetscErrorCode MatVCRSApply_Seq(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  const Mat_VCRS *faster = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompressFor_Private(A, x));
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device;

    PetscCall(LitheMatIsOnDevice(A, 3, (const Vec[]){x, y, add == y ? NULL : add}, &device));
    if (device) {
      PetscCall(MatVCRSApply_Device(A, op, x, add, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(MatVCRSGetFaster_Private(A, &faster));
  if (faster) {
    if (op == VCRS_OP_N && (add ? !!faster->super.ops.multadd : !!faster->super.ops.mult)) {
      if (add) PetscCall((*faster->super.ops.multadd)(A, x, add, y));
      else PetscCall((*faster->super.ops.mult)(A, x, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    if (op == VCRS_OP_T && faster->super.ops.multtransposeadd) {
      const PetscScalar *from;
      PetscScalar       *to;
      PetscInt           n;

      /* AIJ would call VecSet() and VecCopy(), which log collective events. A may be a block with parallel vectors,
         whose remaining processes make no such call */
      if (add != y) {
        PetscCall(VecGetLocalSize(y, &n));
        PetscCall(VecGetArrayWrite(y, &to));
        if (add) {
          PetscCall(VecGetArrayRead(add, &from));
          PetscCall(PetscArraycpy(to, from, n));
          PetscCall(VecRestoreArrayRead(add, &from));
        } else PetscCall(PetscArrayzero(to, n));
        PetscCall(VecRestoreArrayWrite(y, &to));
      }
      PetscCall((*faster->super.ops.multtransposeadd)(A, x, y, y));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
  PetscCall(MatVCRSApply_Host(A, op, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   y = op(A) x (+ add), on one process or several; add may be NULL or y. For products within a product that has been
   checked
*/
PetscErrorCode MatVCRSApply(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->methods.apply)(A, op, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* r = b - A x in one kernel on a device; elsewhere as PETSc does */
static PetscErrorCode MatResidual_SeqAIJVCRS(Mat A, Vec b, Vec x, Vec r)
{
  Mat_VCRS          *ctx;
  const PetscScalar *px, *pb;
  PetscScalar       *pr;
  PetscBool          device;

  PetscFunctionBegin;
  PetscCall(LitheMatIsOnDevice(A, 3, (const Vec[]){x, b, r}, &device));
  if (!device || r == b) {
    PetscCheck(r != b, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_IDN, "The residual and the right-hand side must be different vectors");
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1, b));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSCompressFor_Private(A, x));
  PetscCall(MatVCRSUpload_Private(A));
  PetscCall(VecGetArrayReadAndMemType(x, &px, NULL));
  PetscCall(VecGetArrayReadAndMemType(b, &pb, NULL));
  PetscCall(VecGetArrayWriteAndMemType(r, &pr, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAVCRSResidual(ctx->plans.host, ctx->plans.device, pb, px, pr));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->plans.host->nz));
  PetscCall(VecRestoreArrayWriteAndMemType(r, &pr));
  PetscCall(VecRestoreArrayReadAndMemType(b, &pb));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* A product requested by a program */
static PetscErrorCode MatVCRSProduct_Private(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall((*ctx->methods.apply)(A, op, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMult_VCRS(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_N, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultAdd_VCRS(Mat A, Vec x, Vec add, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_N, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTranspose_VCRS(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_T, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultTransposeAdd_VCRS(Mat A, Vec x, Vec add, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_T, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultHermitianTranspose_VCRS(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_H, x, NULL, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatMultHermitianTransposeAdd_VCRS(Mat A, Vec x, Vec add, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSProduct_Private(A, VCRS_OP_H, x, add, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* The diagonal of the plan of a device, if there is one and v is there, too */
PetscErrorCode MatVCRSGetDiagonalOnDevice_Private(Mat A, Vec v, PetscBool *done)
{
  Mat_VCRS    *ctx;
  PetscScalar *d;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &v, done));
  *done = (PetscBool)(*done && ctx->plans.device);
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecSet(v, 0.0)); /* rows beyond the last column have no diagonal */
  PetscCall(VecGetArrayAndMemType(v, &d, NULL));
  PetscCall(LitheCUDAVCRSGetDiagonal(ctx->plans.device, d));
  PetscCall(VecRestoreArrayAndMemType(v, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device if the exact entries are there; else of the AIJ arrays */
static PetscErrorCode MatGetDiagonal_SeqAIJVCRS(Mat A, Vec v)
{
  Mat_VCRS *ctx;
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsCurrent_Private(A, &done));
  if (done && !ctx->last.lost) PetscCall(MatVCRSGetDiagonalOnDevice_Private(A, v, &done));
  else done = PETSC_FALSE;
  if (!done) PetscCall((*ctx->super.ops.getdiagonal)(A, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Sets the operations that are products, for one process or several */
void MatVCRSSetProducts_Private(Mat B, PETSC_UNUSED PetscBool parallel)
{
  B->ops->mult                      = MatMult_VCRS;
  B->ops->multadd                   = MatMultAdd_VCRS;
  B->ops->multtranspose             = MatMultTranspose_VCRS;
  B->ops->multtransposeadd          = MatMultTransposeAdd_VCRS;
  B->ops->multhermitiantranspose    = MatMultHermitianTranspose_VCRS;
  B->ops->multhermitiantransposeadd = MatMultHermitianTransposeAdd_VCRS;
#if defined(LITHE_HAVE_CUDA)
  if (!parallel) B->ops->residual = MatResidual_SeqAIJVCRS;
  if (!parallel) B->ops->getdiagonal = MatGetDiagonal_SeqAIJVCRS;
#endif
}
