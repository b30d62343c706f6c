/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps of power series with a MATVCRS, and off-diagonal blocks in which few rows have entries */

#include "vcrsimpl.h"

/* ------------------------------------------------------------ off-diagonal blocks */

/* Whether the block is multiplied by its nonempty rows: if few rows are nonempty */
PetscErrorCode MatVCRSHasOffDiagonal_Private(Mat Ao, PetscBool *has)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress(Ao)); /* MatAXPY() changes the values of blocks, but not the state of the parallel matrix */
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  PetscCall(MatVCRSOffDiagonalFind_Private(Ao, ctx));
  *has = (PetscBool) !!ctx->nonempty.host;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
static PetscErrorCode OffDiagonalAdd_Device(Mat A, Mat Ao, const LitheStep *step, Vec y)
{
  Mat_VCRS    *all, *ctx;
  PetscScalar *py;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &all));
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  PetscCall(MatVCRSOffDiagonalUpload_Private(ctx));
  PetscCall(VecGetArrayAndMemType(y, &py, NULL));
  PetscCall(LitheOffDiagonalEnd(ctx->nonempty.device, all->exchange.ghosts[1].halo, step, py));
  PetscCall(VecRestoreArrayAndMemType(y, &py));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->nonempty.host->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

static PetscErrorCode OffDiagonalAdd_Host(Mat A, Mat Ao, const LitheStep *step, Vec x, Vec y)
{
  Mat_VCRS          *ctx;
  Vec                ghosts;
  const PetscScalar *ghost;
  PetscScalar       *py;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  PetscCall(MatVCRSGhostsEnd_Private(A, x, &ghosts));
  PetscCall(VecGetArrayRead(ghosts, &ghost));
  PetscCall(VecGetArray(y, &py));
  PetscCall(LitheOffDiagonalAdd(ctx->nonempty.host, step, ghost, py));
  PetscCall(VecRestoreArray(y, &py));
  PetscCall(VecRestoreArrayRead(ghosts, &ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Ends the exchange of ghosts of x, and adds the off-diagonal block's part of a step, by nonempty rows. The diagonal
   block's part is already done: a step is linear
*/
static PetscErrorCode OffDiagonalStep_Private(Mat A, Mat Ao, PetscBool device, PetscReal scale, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  LitheStep step;

  PetscFunctionBegin;
  PetscCall(LitheStepGetArrays(device, scale, nsums, sums, &step));
  if (!device) PetscCall(OffDiagonalAdd_Host(A, Ao, &step, x, y));
#if defined(LITHE_HAVE_CUDA)
  else PetscCall(OffDiagonalAdd_Device(A, Ao, &step, y));
#endif
  PetscCall(LitheStepRestoreArrays(device, nsums, sums, &step));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, with sums of the whole step. Collective */
PetscErrorCode MatVCRSStepGhosts_Private(Mat A, Mat Ao, PetscReal scale, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  LitheStepSum more[LITHE_STEP_SUMS] = {{NULL, 0, PETSC_FALSE, 0}};
  PetscBool    device;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < nsums; k++) {
    more[k]       = sums[k];
    more[k].first = PETSC_FALSE; /* the diagonal block has started these sums */
  }
  PetscCall(LitheStepIsOnDevice(A, x, y, nsums, more, &device));
  PetscCall(OffDiagonalStep_Private(A, Ao, device, scale, x, y, nsums, more));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Ends the exchange of ghosts of x; y += A_o ghosts. On the host the compressed block is used: an additional copy of
   the nonempty rows would save too little time for its memory. Collective
*/
PetscErrorCode MatVCRSAddGhosts_Private(Mat A, Mat Ao, Vec x, Vec y)
{
  PetscBool few = PETSC_FALSE, device;
  Vec       ghosts;

  PetscFunctionBegin;
  PetscCall(LitheStepIsOnDevice(A, x, y, 0, NULL, &device));
  if (device) PetscCall(MatVCRSHasOffDiagonal_Private(Ao, &few));
  if (few) PetscCall(OffDiagonalStep_Private(A, Ao, device, 1, x, y, 0, NULL));
  else {
    PetscCall(MatVCRSGhostsEnd_Private(A, x, &ghosts));
    PetscCall(MatVCRSApply(Ao, VCRS_OP_N, ghosts, y, y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ steps */

#if defined(LITHE_HAVE_CUDA)
static PetscErrorCode MatVCRSStep_Device(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  Mat_VCRS          *ctx;
  LitheStep          step;
  const PetscScalar *px;
  PetscScalar       *py;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSUpload_Private(A));
  PetscCall(LitheStepGetArrays(PETSC_TRUE, scale, nsums, sums, &step));
  PetscCall(LitheStepSetRows(rows, y, &step));
  PetscCall(VecGetArrayReadAndMemType(x, &px, NULL));
  PetscCall(VecGetArrayWriteAndMemType(y, &py, NULL));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall(LitheCUDAVCRSStep(ctx->plans.host, ctx->plans.device, &step, px, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->plans.host->nz + 2.0 * (PetscLogDouble)(1 + nsums) * (PetscLogDouble)ctx->plans.host->m));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscCall(LitheStepRestoreArrays(PETSC_TRUE, nsums, sums, &step));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/*
   y = x + scale A x and sums on one process; A may be the diagonal block of a parallel matrix with the parallel vectors
*/
PetscErrorCode MatVCRSStep_Seq(Mat A, PetscReal scale, PETSC_UNUSED const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSCompressFor_Private(A, x));
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device;

    PetscCall(LitheStepIsOnDevice(A, x, y, nsums, sums, &device));
    if (device) {
      PetscCall(MatVCRSStep_Device(A, scale, rows, x, y, nsums, sums));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
  }
#endif
  PetscCall(MatVCRSApply_Seq(A, VCRS_OP_N, x, NULL, y));
  PetscCall(LitheStepVectors(scale, PETSC_FALSE, x, y, nsums, sums));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Only where a kernel does: the host's products go through all rows */
PetscErrorCode MatVCRSStepLeavesOut_Seq(Mat A, PETSC_UNUSED PetscBool device, PetscBool *leaves)
{
  PetscFunctionBegin;
  *leaves = (PetscBool)!A->rmap->n;
#if defined(LITHE_HAVE_CUDA)
  if (device && !A->boundtocpu && !*leaves) {
    Mat_VCRS *ctx;

    PetscCall(MatVCRSGetContext(A, &ctx));
    if (ctx->plans.device) PetscCall(LitheCUDAVCRSStepLeavesOut(ctx->plans.device, leaves));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Examines all entries, as MatGetRow() would show them, if the plan is on a device. LitheCUDAVCRSScan() defines most
   and good. known: whether A was examined
*/
PetscErrorCode MatVCRSScan_Seq(Mat A, PetscInt most[3], PetscBool *good, PetscBool *known)
{
  PetscFunctionBegin;
  *known = *good = PETSC_FALSE;
  most[0] = most[1] = most[2] = 0;
  (void)A;
#if defined(LITHE_HAVE_CUDA)
  if (!A->boundtocpu && A->rmap->n <= PETSC_INT32_MAX && A->cmap->n <= PETSC_INT32_MAX) {
    Mat_VCRS *ctx;
    VecType   vectype;
    PetscBool device;

    PetscCall(MatGetVecType(A, &vectype));
    PetscCall(PetscStrendswith(vectype, "cuda", &device));
    if (!device) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatVCRSCompress(A));
    PetscCall(MatVCRSGetContext(A, &ctx));
    /* the plan does not hold the exact entries */
    if (!ctx->plans.device || (ctx->last.lost && !ctx->last.dropped)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LitheCUDAVCRSScan(ctx->plans.device, most, good));
    *known = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   All rows in device memory, as MatGetRow() would show them, if A works on a device and its plan can decode them. The
   caller returns the rows by LitheMatRestoreRows_C. known: whether rows are returned
*/
PetscErrorCode MatVCRSGetRows_Seq(Mat A, const PetscInt **i, const PetscInt **j, const PetscScalar **a, PetscBool *known)
{
  PetscFunctionBegin;
  *known = PETSC_FALSE;
  (void)A;
  (void)i;
  (void)j;
  (void)a;
#if defined(LITHE_HAVE_CUDA)
  if (!A->boundtocpu && A->rmap->n) {
    Mat_VCRS    *ctx;
    VecType      vectype;
    PetscBool    device;
    PetscInt    *di, *dj;
    PetscScalar *da;

    PetscCall(MatGetVecType(A, &vectype));
    PetscCall(PetscStrendswith(vectype, "cuda", &device));
    if (!device) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(MatVCRSCompress(A));
    PetscCall(MatVCRSGetContext(A, &ctx));
    /* the plan does not hold the exact entries */
    if (!ctx->plans.device || (ctx->last.lost && !ctx->last.dropped)) PetscFunctionReturn(PETSC_SUCCESS);
    if (!ctx->plans.device->nz || ctx->plans.device->difference || ctx->plans.device->grouped) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LitheCUDAVCRSDecode(ctx->plans.device, &di, &dj, &da));
    *i     = di;
    *j     = dj;
    *a     = da;
    *known = PETSC_TRUE;
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSRestoreRows_Seq(PETSC_UNUSED Mat A, const PetscScalar **a)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(MatVCRSFreeOnDevice_Private(*a));
#endif
  *a = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   For a block of another class, on arrays on the host or on a device: y = op(A) x (+ add) without a step, else a step,
   y = x + scale A x with sums
*/
PetscErrorCode MatVCRSApplyArrays_Private(Mat A, VCRSOp op, PETSC_UNUSED PetscBool device, const PetscScalar x[], const PetscScalar add[],
                                          const LitheStep *step, PetscScalar y[])
{
  const VCRSPlan *plan;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    Mat_VCRS *ctx;

    PetscCall(MatVCRSGetContext(A, &ctx));
    if (!step) PetscCall(LitheCUDAVCRSMult(ctx->plans.host, ctx->plans.device, op, 1, x, 0, add, 0, y, 0));
    else PetscCall(LitheCUDAVCRSStep(ctx->plans.host, ctx->plans.device, step, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(VCRSPlanMult(plan, op, 1, x, 0, add, 0, y, 0));
  if (step) PetscCall(LitheStepFinish(step, PETSC_FALSE, A->rmap->n, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
