/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of a MATVCRS with arrays in single precision, for a KSP that iterates with them: lithesingle.h */

#include "vcrsimpl.h"

/* q = A p or q += A p with the plan of one process or of a block */
static PetscErrorCode Block_Private(Mat A, PetscBool device, PetscBool add, const float p[], float q[])
{
  const VCRSPlan *plan;
  Mat_VCRS       *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(LitheCUDAVCRSMultSingle(ctx->plans.host, ctx->plans.device, add, p, q));
    PetscCall(PetscLogGpuFlops(2.0 * (PetscLogDouble)ctx->plans.host->nz));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#else
  (void)device;
#endif
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(VCRSPlanMultSingle(plan, add, p, q));
  PetscCall(PetscLogFlops(2.0 * (PetscLogDouble)plan->nz));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultSingle_Seq(Mat A, PetscBool device, const float p[], float q[])
{
  PetscFunctionBegin;
  PetscCall(Block_Private(A, device, PETSC_FALSE, p, q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MultSingle_MPI(Mat A, PetscBool device, const float p[], float q[])
{
  const void *ghosts;
  LitheHalo   halo;
  Mat         Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  PetscCall(MatVCRSGetSingleHalo_Private(A, device, &halo));
  PetscCall(LitheHaloBegin(halo, p));
  PetscCall(Block_Private(Ad, device, PETSC_FALSE, p, q));
  PetscCall(LitheHaloEnd(halo, &ghosts));
  PetscCall(Block_Private(Ao, device, PETSC_TRUE, (const float *)ghosts, q));
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
  *multiply = state[1] ? (parallel ? MultSingle_MPI : MultSingle_Seq) : NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
