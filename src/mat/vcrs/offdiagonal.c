/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The nonempty rows of an off-diagonal block, if they are few */

#include "vcrsimpl.h"

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

/* Decides once whether the block is multiplied by its nonempty rows, and finds these rows */
PetscErrorCode MatVCRSOffDiagonalFind_Private(Mat Ao, Mat_VCRS *ctx)
{
  const VCRSPlan *plan;
  PetscInt       *i, *j;
  PetscScalar    *a;
  PetscBool       pays = PETSC_FALSE;

  PetscFunctionBegin;
  if (ctx->nonempty.looked) PetscFunctionReturn(PETSC_SUCCESS);
  ctx->nonempty.looked = PETSC_TRUE;
  PetscCall(MatVCRSGetHostPlan_Private(Ao, &plan));
  if (plan->difference) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc1(plan->m + 1, &i));
  PetscCall(VCRSPlanDecodeRowPointers(plan, i));
  PetscCall(OffDiagonalPays_Private(plan, i, &pays));
  if (pays) {
    PetscCall(PetscMalloc2(plan->nz, &j, plan->nz, &a));
    PetscCall(VCRSPlanDecode(plan, i, j, a));
    PetscCall(PetscNew(&ctx->nonempty.host));
    PetscCall(LitheOffDiagonalCreate(plan->m, i, j, a, ctx->nonempty.host));
    PetscCall(PetscFree2(j, a));
  }
  PetscCall(PetscFree(i));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if defined(LITHE_HAVE_CUDA)
PetscErrorCode MatVCRSOffDiagonalUpload_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  if (ctx->nonempty.device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&ctx->nonempty.device));
  PetscCall(LitheCUDAOffDiagonalUpload(ctx->nonempty.host, ctx->nonempty.device));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

PetscErrorCode MatVCRSOffDiagonalReset_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  if (ctx->nonempty.host) PetscCall(LitheOffDiagonalDestroy(ctx->nonempty.host));
  PetscCall(PetscFree(ctx->nonempty.host));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->nonempty.device) PetscCall(LitheCUDAOffDiagonalFree(ctx->nonempty.device));
  PetscCall(PetscFree(ctx->nonempty.device));
#endif
  ctx->nonempty.looked = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
