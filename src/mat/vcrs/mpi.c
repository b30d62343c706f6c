/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products of a MATVCRS on many processes: a MATMPIAIJ whose diagonal and off-diagonal blocks are MATSEQAIJVCRS.

   The products are not those of MATMPIAIJ, because the ghost vector must have the type of the input vector (on the
   host or on the device). MATMPIAIJ fixes that type when it is assembled.
*/

#include "vcrsimpl.h"
#include <petscsf.h>

/* The blocks ready for a product with x */
static PetscErrorCode MatVCRSGetProductData_Private(Mat A, Vec x, Mat *Ad, Mat *Ao)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSCompressFor_Private(A, x));
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   y = op(A) x (+ add). Ghost values travel while the diagonal block is multiplied. A transposed product starts with the
   off-diagonal block, and the result of that block travels afterwards.
*/
PetscErrorCode MatVCRSApply_MPI(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat     Ad, Ao;
  Vec     lvec = NULL;
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetProductData_Private(A, x, &Ad, &Ao));
  if (op == VCRS_OP_N) {
    PetscCall(MatVCRSGhostsBegin_Private(A, x));
    PetscCall(MatVCRSApply(Ad, op, x, add, y));
    PetscCall(MatVCRSAddGhosts_Private(A, Ao, x, y));
  } else {
    PetscCall(MatGetMultPetscSF(A, &sf));
    PetscCall(MatVCRSGetTransposedGhosts_Private(A, x, Ao, &lvec));
    PetscCall(MatVCRSApply(Ao, op, x, NULL, lvec));
    PetscCall(MatVCRSApply(Ad, op, x, add, y));
    PetscCall(VecScatterBegin(sf, lvec, y, ADD_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(sf, lvec, y, ADD_VALUES, SCATTER_REVERSE));
    PetscCall(MatVCRSRestoreTransposedGhosts_Private(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = x + scale A x, and sums: in one sweep if few rows need ghost values. These rows are completed at the end */
PetscErrorCode MatVCRSStep_MPI(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;
  PetscBool few = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSGetProductData_Private(A, x, &Ad, &Ao));
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, &few));
  PetscCall(MatVCRSGhostsBegin_Private(A, x));
  if (few) PetscCall(MatVCRSStep_Seq(Ad, scale, rows, x, y, nsums, sums));
  else PetscCall(MatVCRSApply(Ad, VCRS_OP_N, x, NULL, y));
  if (few) PetscCall(MatVCRSStepGhosts_Private(A, Ao, scale, x, y, nsums, sums));
  else {
    PetscCall(MatVCRSAddGhosts_Private(A, Ao, x, y));
    PetscCall(LitheStepVectors(scale, PETSC_FALSE, x, y, nsums, sums));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSStepLeavesOut_MPI(Mat A, PetscBool device, PetscBool *leaves)
{
  Mat Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, leaves));
  if (*leaves) PetscCall(MatVCRSStepLeavesOut_Seq(Ad, device, leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of the diagonal block, with own columns from 0, as MatVCRSGetRows_Seq() returns them. Collective */
PetscErrorCode MatVCRSGetRows_MPI(Mat A, const PetscInt **i, const PetscInt **j, const PetscScalar **a, PetscBool *known)
{
  PetscBool bound;
  Mat       Ad;

  PetscFunctionBegin;
  *known = PETSC_FALSE;
  PetscCall(MatBoundToCPU(A, &bound));
  if (bound) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, NULL, NULL));
  PetscCall(MatVCRSGetRows_Seq(Ad, i, j, a, known));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
/* MatVCRSScan_Seq() for an off-diagonal block, from its nonempty rows on the host */
static PetscErrorCode ScanOutside_Private(Mat A, Mat Ao, const PetscInt ghost[], PetscInt most[3], PetscBool *good, PetscBool *known)
{
  const LitheOffDiagonal *rows;
  Mat_VCRS               *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, known));
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  rows  = ctx->nonempty.host;
  *good = PETSC_TRUE;
  if (!ctx->plans.host->nz) *known = PETSC_TRUE;
  for (PetscInt k = 0; rows && k < rows->nrows; k++) {
    const PetscInt row = A->rmap->rstart + rows->row[k];

    most[0] = PetscMax(most[0], rows->rowptr[k + 1] - rows->rowptr[k]);
    for (PetscInt e = rows->rowptr[k]; e < rows->rowptr[k + 1]; e++) {
      const PetscInt  away = ghost[rows->col[e]] - row;
      const PetscReal v    = PetscRealPart(rows->value[e]);

      most[1] = PetscMax(most[1], away);
      most[2] = PetscMax(most[2], -away);
      if (PetscImaginaryPart(rows->value[e]) != 0 || !(v >= 0 && v <= PETSC_MAX_REAL)) *good = PETSC_FALSE;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same as MatVCRSScan_Seq() over all processes; most[0] is an upper bound, the sum of both blocks. Collective */
PetscErrorCode MatVCRSScan_MPI(Mat A, PetscInt most[3], PetscBool *good, PetscBool *known)
{
  const PetscInt *ghost;
  PetscInt        all[5], outside[3] = {0, 0, 0};
  PetscBool       is[2], knows[2]    = {PETSC_FALSE, PETSC_FALSE};
  Mat             Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, &ghost));
  PetscCall(MatVCRSScan_Seq(Ad, most, &is[0], &knows[0]));
  if (!A->rmap->n) is[0] = knows[0] = PETSC_TRUE; /* its plan is on no device */
  if (A->rmap->rstart != A->cmap->rstart) knows[0] = PETSC_FALSE;
  is[1] = knows[0];
  if (knows[0]) PetscCall(ScanOutside_Private(A, Ao, ghost, outside, &is[1], &knows[1]));
  all[0] = most[0] + outside[0];
  all[1] = PetscMax(most[1], outside[1]);
  all[2] = PetscMax(most[2], outside[2]);
  all[3] = !is[0] || !is[1];
  all[4] = !knows[0] || !knows[1];
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, 5, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscArraycpy(most, all, 3));
  *good  = (PetscBool)!all[3];
  *known = (PetscBool)!all[4];
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* operations of MATMPIAIJ (SOR, for example) multiply with the blocks; assembly therefore converts the blocks */
PetscErrorCode MatAssemblyEnd_MPIAIJVCRS(Mat A, MatAssemblyType type)
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && !A->hash_active) PetscCall(MatVCRSGetBlocks_Private(A, &Ad, &Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ vectors in single precision: LITHE_MAT_SINGLE */

/* q = A p or q += A p with the plan of one process or of a block */
static PetscErrorCode Block_Private(Mat A, PetscBool add, const float p[], float q[])
{
  const VCRSPlan *plan;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(VCRSPlanMultSingle(plan, add, p, q));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)plan->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultSingle_Seq(Mat A, const float p[], float q[])
{
  PetscFunctionBegin;
  PetscCall(Block_Private(A, PETSC_FALSE, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultSingle_MPI(Mat A, const float p[], float q[])
{
  const void *ghosts;
  LitheHalo   halo;
  Mat         Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  PetscCall(MatVCRSGetSingleHalo_Private(A, &halo));
  PetscCall(LitheHaloBegin(halo, p));
  PetscCall(Block_Private(Ad, PETSC_FALSE, p, q));
  PetscCall(LitheHaloEnd(halo, &ghosts));
  PetscCall(Block_Private(Ao, PETSC_TRUE, (const float *)ghosts, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a block has a product, and whether a copy in single precision would have fewer bytes */
static PetscErrorCode Look_Private(Mat A, PetscBool device, PetscBool *better, PetscBool *offers)
{
  const VCRSPlan *plan;
  Mat_VCRS       *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (device) PetscCall(MatVCRSUpload_Private(A));
#else
  (void)device;
#endif
  plan = ctx->plans.host;
  if (!VCRSPlanHasSingle(plan)) *offers = PETSC_FALSE;
  if (plan->layout != MATVCRS_LAYOUT_L0 && plan->values == VCRS_VALUES_FULL && plan->nz) *better = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSGetSingle_Private(Mat A, PetscBool device, PetscBool *better, LitheMatMultSingleFn **multiply)
{
  PetscBool parallel, state[2] = {PETSC_FALSE, PETSC_TRUE};
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  MatVCRSSetOnDevice_Private(ctx, device);
  if (parallel) {
    Mat block[2];

    PetscCall(MatVCRSCompress_MPI(A));
    PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
    for (int k = 0; k < 2; k++) PetscCall(Look_Private(block[k], device, &state[0], &state[1]));
    state[0] = (PetscBool)!state[0]; /* one process is enough, in both questions */
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, state, 2, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)A)));
    state[0] = (PetscBool)!state[0];
  } else {
    PetscCall(MatVCRSCompress(A));
    PetscCall(Look_Private(A, device, &state[0], &state[1]));
  }
  *better   = (PetscBool)(state[0] && !ctx->settings.lossy); /* AIJ arrays may have other entries than a lossy matrix */
  *multiply = state[1] && !device ? (parallel ? MultSingle_MPI : MultSingle_Seq) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
