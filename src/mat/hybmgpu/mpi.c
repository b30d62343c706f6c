/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products of a MATHYBMGPU on several processes: a MATMPIAIJ whose diagonal block is a MATSEQAIJHYBMGPU.

   The off-diagonal block stays a MATSEQAIJ. In general few of its rows are nonempty. Nonempty rows are copied, and
   added when the ghost values have arrived.

   On a device, the exchange may have a separate stream, and the rows with ghosts may be at both ends of the block. Both
   parts of their product then run in this stream: all other rows are multiplied concurrently, and no small kernel
   follows the large one.
*/

#include "hybmgpuimpl.h"
#include <lithe/private/litheimpl.h>
#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>
  #include <petscdevice_cuda.h>
#endif

/* Makes the diagonal block a MATSEQAIJHYBMGPU with A's options; idempotent, because assembly may replace the block */
PetscErrorCode MatHYBMGPUGetBlocks_Private(Mat A, Mat *Ad, Mat *Ao)
{
  PetscErrorCode ierr;
  PetscOptions   none;
  Mat_HYBMGPU   *ctx, *block;
  const char    *prefix;
  PetscBool      isplain, same;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscCall(PetscObjectTypeCompare((PetscObject)*Ad, MATSEQAIJ, &isplain));
  if (isplain) {
    /* The block's options are the options of A */
    PetscCall(LitheOptionsHide(&none));
    ierr = MatConvert(*Ad, MATSEQAIJHYBMGPU, MAT_INPLACE_MATRIX, Ad);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
  }
  PetscCall(MatHYBMGPUGetContext(*Ad, &block));
  PetscCheck(block, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The diagonal block of a MATMPIAIJHYBMGPU has type %s", ((PetscObject)*Ad)->type_name);
  PetscCall(MatHYBMGPUSetOptions_Private(*Ad, &ctx->opt));
  block->overlapped = (PetscBool)(size > 1);
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(PetscStrcmp(prefix, block->prefix, &same));
  if (!same) {
    PetscCall(PetscFree(block->prefix));
    PetscCall(PetscStrallocpy(prefix, &block->prefix));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The nonempty rows of the off-diagonal block, on the host and, if requested, on a device */
static PetscErrorCode MatHYBMGPUUpdateOff_Private(Mat A, Mat Ao, PETSC_UNUSED PetscBool device)
{
  Mat_HYBMGPU *ctx;
  HybCSR       csr;
  HybState     now;
  PetscBool    pattern, values;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(HybStateGet(Ao, &now));
  PetscCall(HybStateCompare(&ctx->off.state, &now, &pattern, &values));
  PetscCall(HybGetCSR(Ao, &csr));
  if (!pattern) {
    PetscCall(MatHYBMGPUResetOff_Private(ctx));
    PetscCall(LitheOffDiagonalCreate(csr.m, csr.i, csr.j, csr.a, &ctx->off.host));
  } else if (!values) {
    /* Empty rows take nothing: the entries are the block's, in the same order */
    PetscCall(PetscArraycpy(ctx->off.host.value, csr.a, ctx->off.host.nz));
#if defined(LITHE_HAVE_CUDA)
    if (ctx->off.ondevice) PetscCall(LitheCUDAOffDiagonalSetValues(&ctx->off.device, ctx->off.host.value));
#endif
    HybCopiesAge(&ctx->off.transpose);
  }
  ctx->off.state = now;
#if defined(LITHE_HAVE_CUDA)
  if (device && !ctx->off.ondevice) {
    PetscCall(LitheCUDAOffDiagonalUpload(&ctx->off.host, &ctx->off.device));
    ctx->off.ondevice = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ghost values of a transposed product are added to rows of other processes */
static PetscErrorCode MatHYBMGPUMultTransposed_Private(Mat A, Mat Ad, Mat Ao, PetscBool device, const PetscScalar x[], const PetscScalar add[],
                                                       const LitheStep *step, PetscScalar y[])
{
  Mat_HYBMGPU       *ctx;
  HybCSR             csr;
  PetscScalar       *out;
  const PetscScalar *ghost;
  PetscMemType       memory = device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST;
  const PetscInt     n      = Ao->cmap->n;
  PetscSF            sf;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(HybGetCSR(Ao, &csr));
  PetscCall(LitheAIJGetGhostVector(n, device, &ctx->off.lvec));
  if (device) {
#if defined(LITHE_HAVE_CUDA)
    cudaStream_t stream;

    PetscCall(HybCopiesUpdateTransposed(&ctx->off.transpose, &csr));
    PetscCall(VecGetArrayWriteAndMemType(ctx->off.lvec, &out, NULL));
    PetscCall(PetscLogGpuTimeBegin());
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCall(LitheCUDAHybMult(ctx->off.transpose.device, x, NULL, step, out, stream));
    PetscCall(PetscLogGpuTimeEnd());
    PetscCall(VecRestoreArrayWriteAndMemType(ctx->off.lvec, &out));
#endif
  } else {
    PetscCall(VecGetArrayWrite(ctx->off.lvec, &out));
    PetscCall(HybCSRMultTranspose(&csr, x, NULL, out));
    PetscCall(VecRestoreArrayWrite(ctx->off.lvec, &out));
  }
  PetscCall(MatHYBMGPUMultArrays_Private(Ad, HYB_OP_T, device, x, add, step, y));
  PetscCall(VecGetArrayReadAndMemType(ctx->off.lvec, &ghost, NULL));
  PetscCall(PetscSFReduceWithMemTypeBegin(sf, MPIU_SCALAR, memory, ghost, memory, y, MPIU_SUM));
  PetscCall(PetscSFReduceEnd(sf, MPIU_SCALAR, ghost, y, MPIU_SUM));
  PetscCall(VecRestoreArrayReadAndMemType(ctx->off.lvec, &ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* The rows from begin to before end that a step needs, if any */
static PetscErrorCode HybMultRows_Private(const HybPlan *plan, PetscInt begin, PetscInt end, const PetscScalar x[], const PetscScalar add[],
                                          const LitheStep *step, PetscScalar y[], cudaStream_t stream)
{
  LitheStep part = *step;

  PetscFunctionBegin;
  part.skip[0] = PetscMax(step->skip[0], begin);
  part.skip[1] = PetscMax(step->skip[1], plan->m - end);
  if (part.skip[0] < plan->m - part.skip[1]) PetscCall(LitheCUDAHybMult(plan, x, add, &part, y, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The product between begin and end of an exchange. If rows with ghosts are at the ends of the block, the whole product
   is made; otherwise at most half of the product, in whole slices. Rows have the same bits in both cases. The plan is
   current since before the exchange.
*/
static PetscErrorCode MatHYBMGPUMultOverlapped_Private(Mat A, Mat Ad, LitheHalo halo, const PetscScalar x[], const PetscScalar add[], const LitheStep *step,
                                                       PetscScalar y[], PetscBool *done)
{
  Mat_HYBMGPU   *ctx, *block;
  const HybPlan *plan;
  const void    *ghost;
  cudaStream_t   stream, aside;
  PetscInt       begin, end;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUGetContext(Ad, &block));
  plan = block->block.plans.device;
  if (!plan || block->block.format == MATHYBMGPU_FORMAT_VCRS || plan->order || plan->tail.nz) PetscFunctionReturn(PETSC_SUCCESS);
  begin = HybSlices(ctx->off.device.end[0]) * HYB_SLICE;
  end   = (plan->m - ctx->off.device.end[1]) / HYB_SLICE * HYB_SLICE;
  if (!ctx->off.device.nrows || end - begin < plan->m / 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloGetStream(halo, &aside));
  if (!aside) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(HybMultRows_Private(plan, 0, begin, x, add, step, y, aside));
  PetscCall(HybMultRows_Private(plan, end, plan->m, x, add, step, y, aside));
  PetscCall(HybMultRows_Private(plan, begin, end, x, add, step, y, stream));
  PetscCall(LitheHaloWait(halo, &ghost));
  PetscCall(LitheCUDAOffDiagonalAdd(&ctx->off.device, NULL, step, (const PetscScalar *)ghost, y, aside));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(LitheHaloEnd(halo, &ghost));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*
   y = add + scale op(A) x, and the sums. Ghost values travel while interior rows are multiplied. A step is linear: rows
   with ghosts receive the contribution of ghosts afterwards
*/
PetscErrorCode MatHYBMGPUMultArrays_MPI(Mat A, HybOp op, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *step,
                                        PetscScalar y[])
{
  Mat_HYBMGPU *ctx;
  Mat          Ad, Ao;
  LitheHalo   *halo;
  PetscSF      sf;
  const void  *ghost;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUGetBlocks_Private(A, &Ad, &Ao));
  PetscCall(MatHYBMGPUUpdateOff_Private(A, Ao, (PetscBool)(device && op == HYB_OP_N)));
  if (op == HYB_OP_T) {
    PetscCall(MatHYBMGPUMultTransposed_Private(A, Ad, Ao, device, x, add, step, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* a change of the pattern makes another communication */
  PetscCall(MatGetMultPetscSF(A, &sf));
  halo = &ctx->off.halo[device ? 1 : 0];
  PetscCall(LitheHaloUpdate(sf, ctx->opt.transport, device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST, sizeof(PetscScalar), halo, NULL));
  PetscCall(MatHYBMGPUUpdate_Seq(Ad, op, device));
  PetscCall(LitheHaloBegin(*halo, x));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscBool done;

    PetscCall(MatHYBMGPUMultOverlapped_Private(A, Ad, *halo, x, add, step, y, &done));
    if (done) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatHYBMGPUMultCurrent_Private(Ad, op, device, x, add, step, y));
    PetscCall(LitheOffDiagonalEnd(&ctx->off.device, *halo, step, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatHYBMGPUMultCurrent_Private(Ad, op, device, x, add, step, y));
  PetscCall(LitheHaloEnd(*halo, &ghost));
  PetscCall(LitheOffDiagonalAdd(&ctx->off.host, step, (const PetscScalar *)ghost, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatHYBMGPUChoose_MPI(Mat A, Mat *Ad, LitheHaloInfo *halo)
{
  Mat_HYBMGPU *ctx;
  Mat          Ao;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUGetBlocks_Private(A, Ad, &Ao));
  PetscCall(MatHYBMGPUChoose_Seq(*Ad));
  PetscCall(PetscMemzero(halo, sizeof(*halo)));
  halo->transport = ctx->opt.transport;
  for (int k = 0; k < 2; k++) {
    if (ctx->off.halo[k]) PetscCall(LitheHaloGetInfo(ctx->off.halo[k], halo));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
