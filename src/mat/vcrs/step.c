/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Steps of power series with a MATVCRS, and off-diagonal blocks in which few rows have entries */

#include "vcrsimpl.h"

/* ------------------------------------------------------------ off-diagonal blocks */

/*
   Compares the bytes of a product with nonempty rows only and of a product with the compressed block, which reads and
   writes all of y
*/
static PetscErrorCode OffDiagonalPays_Private(const VCRSPlan *plan, const PetscInt i[], PetscBool *pays)
{
  size_t   bytes, tables;
  PetscInt rows = 0;

  PetscFunctionBegin;
  PetscCall(VCRSPlanGetBytes(plan, &bytes, &tables));
  for (PetscInt r = 0; r < plan->m; r++) rows += i[r + 1] > i[r];
  *pays = (PetscBool)((double)rows * (double)(2 * sizeof(PetscInt) + 2 * sizeof(PetscScalar)) +
                        (double)plan->nz * (double)(sizeof(PetscInt) + sizeof(PetscScalar)) <
                      (double)bytes + 2. * (double)plan->m * (double)sizeof(PetscScalar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode OffDiagonalBuild_Private(Mat Ao, Mat_VCRS *ctx)
{
  const VCRSPlan *plan;
  PetscInt       *i, *j;
  PetscScalar    *a;
  PetscBool       pays = PETSC_FALSE;

  PetscFunctionBegin;
  ctx->rowslooked = PETSC_TRUE;
  PetscCall(MatVCRSGetHostPlan_Private(Ao, &plan));
  if (plan->difference) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(plan->m + 1, &i));
  PetscCall(VCRSPlanDecodeRowPointers(plan, i));
  PetscCall(OffDiagonalPays_Private(plan, i, &pays));
  if (pays) {
    PetscCall(PetscMalloc2(plan->nz, &j, plan->nz, &a));
    PetscCall(VCRSPlanDecode(plan, i, j, a));
    PetscCall(PetscNew(&ctx->rows));
    PetscCall(LitheOffDiagonalCreate(plan->m, i, j, a, ctx->rows));
    PetscCall(PetscFree2(j, a));
  }
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the block is multiplied by its nonempty rows: if few rows are nonempty */
PetscErrorCode MatVCRSHasOffDiagonal_Private(Mat Ao, PetscBool *has)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress(Ao)); /* MatAXPY() changes the values of blocks, but not the state of the parallel matrix */
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  if (!ctx->rowslooked) PetscCall(OffDiagonalBuild_Private(Ao, ctx));
  *has = (PetscBool) !!ctx->rows;
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
  if (!ctx->drows) {
    PetscCall(PetscNew(&ctx->drows));
    PetscCall(LitheCUDAOffDiagonalUpload(ctx->rows, ctx->drows));
  }
  PetscCall(VecGetArrayAndMemType(y, &py, NULL));
  PetscCall(LitheOffDiagonalEnd(ctx->drows, all->ghosts[1].halo, step, py));
  PetscCall(VecRestoreArrayAndMemType(y, &py));
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->rows->nz));
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
  PetscCall(LitheOffDiagonalAdd(ctx->rows, step, ghost, py));
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
  PetscCall(LitheCUDAVCRSStep(ctx->plan, ctx->dplan, &step, px, py));
  PetscCall(PetscLogGpuTimeEnd());
  PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->plan->nz + 2.0 * (PetscLogDouble)(1 + nsums) * (PetscLogDouble)ctx->plan->m));
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
    if (ctx->dplan) PetscCall(LitheCUDAVCRSStepLeavesOut(ctx->dplan, leaves));
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
    if (!ctx->dplan || (ctx->lost && !ctx->dropped)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LitheCUDAVCRSScan(ctx->dplan, most, good));
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
    if (!ctx->dplan || (ctx->lost && !ctx->dropped)) PetscFunctionReturn(PETSC_SUCCESS);
    if (!ctx->dplan->nz || ctx->dplan->difference || ctx->dplan->grouped) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(LitheCUDAVCRSDecode(ctx->dplan, &di, &dj, &da));
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
