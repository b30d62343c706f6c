/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The ghost values of a MATMPIAIJVCRS: the exchange, the vectors of ghosts, and the rows that need ghosts, if few */

#include "vcrsimpl.h"
#include <petscsf.h>

/* Starts the exchange of ghost values of x. x must not change until the exchange ends. Collective */
PetscErrorCode MatVCRSGhostsBegin_Private(Mat A, Vec x)
{
  Mat_VCRS          *ctx;
  VCRSGhosts        *g;
  PetscSF            sf;
  PetscBool          device, made;
  const PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &x, &device));
  g = &ctx->exchange.ghosts[device ? 1 : 0];
  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(LitheHaloUpdate(sf, ctx->exchange.transport, device ? PETSC_MEMTYPE_DEVICE : PETSC_MEMTYPE_HOST, sizeof(PetscScalar), &g->halo, &made));
  if (made) {
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&g->vec[k]));
  }
  if (device) {
    PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
    PetscCall(LitheHaloBegin(g->halo, a));
    PetscCall(VecRestoreArrayReadAndMemType(x, &a));
  } else {
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(LitheHaloBegin(g->halo, a));
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ends the exchange. The ghost values are in a vector of A until the next MatVCRSGhostsBegin_Private(). Collective */
PetscErrorCode MatVCRSGhostsEnd_Private(Mat A, Vec x, Vec *ghosts)
{
  Mat_VCRS    *ctx;
  VCRSGhosts  *g;
  Mat          Ao;
  PetscInt     k;
  PetscBool    device;
  const void  *a;
  PetscScalar *written;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &x, &device));
  g = &ctx->exchange.ghosts[device ? 1 : 0];
  PetscCall(LitheHaloEnd(g->halo, &a));

  /* a halo has one array or two */
  k = g->vec[0] && g->array[0] != a ? 1 : 0;
  if (!g->vec[k]) {
    PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, NULL));
    if (device) PetscCall(VecCreateSeqCUDAWithArray(PETSC_COMM_SELF, 1, Ao->cmap->n, (const PetscScalar *)a, &g->vec[k]));
    else PetscCall(VecCreateSeqWithArray(PETSC_COMM_SELF, 1, Ao->cmap->n, (const PetscScalar *)a, &g->vec[k]));
    g->array[k] = a;
  }
  /* the halo has written new values into the array of the vector */
  PetscCall(VecGetArrayWriteAndMemType(g->vec[k], &written, NULL));
  PetscAssert(written == a, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The vector of ghosts has another array than the halo");
  PetscCall(VecRestoreArrayWriteAndMemType(g->vec[k], &written));
  *ghosts = g->vec[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The halo of vectors in single precision on the host. Collective */
PetscErrorCode MatVCRSGetSingleHalo_Private(Mat A, LitheHalo *halo)
{
  Mat_VCRS *ctx;
  PetscSF   sf;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(LitheHaloUpdate(sf, ctx->exchange.transport, PETSC_MEMTYPE_HOST, VCRS_COMPONENTS * sizeof(float), &ctx->exchange.single, NULL));
  *halo = ctx->exchange.single;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transport of former products, and its local data; before the first product, the requested transport */
PetscErrorCode MatVCRSGetHaloInfo_Private(const Mat_VCRS *ctx, LitheHaloInfo *info, PetscBool *used)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->transport = ctx->exchange.transport;
  *used           = PETSC_FALSE;
  for (int k = 0; k < 2; k++) {
    if (!ctx->exchange.ghosts[k].halo) continue;
    PetscCall(LitheHaloGetInfo(ctx->exchange.ghosts[k].halo, info));
    *used = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSGhostsReset_Private(VCRSGhosts *g)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&g->vec[k]));
  PetscCall(LitheHaloDestroy(&g->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the transport, and frees the data of another transport. Collective */
PetscErrorCode MatVCRSSetTransport_Private(Mat_VCRS *ctx, LitheTransport transport)
{
  PetscFunctionBegin;
  if (transport == ctx->exchange.transport) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) PetscCall(MatVCRSGhostsReset_Private(&ctx->exchange.ghosts[k]));
  PetscCall(LitheHaloDestroy(&ctx->exchange.single));
  ctx->exchange.transport = transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

void MatVCRSExchangeCopy_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  b->exchange.transport = a->exchange.transport;
}

PetscErrorCode MatVCRSExchangeDestroy_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(MatVCRSGhostsReset_Private(&ctx->exchange.ghosts[k]));
  PetscCall(LitheHaloDestroy(&ctx->exchange.single));
  PetscCall(VecDestroy(&ctx->exchange.transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ transposed products */

/* A ghost vector with the type of x for a transposed product, which sends each process the contributions of others */
PetscErrorCode MatVCRSGetTransposedGhosts_Private(Mat A, Vec x, Mat Ao, Vec *lvec)
{
  Mat_VCRS *ctx;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &x, &device));
  PetscCall(LitheAIJGetGhostVector(Ao->cmap->n, device, &ctx->exchange.transposed));
  *lvec = ctx->exchange.transposed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The vector stays for the next product on a device, where an allocation takes long, and not on the host */
PetscErrorCode MatVCRSRestoreTransposedGhosts_Private(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectTypeCompare((PetscObject)ctx->exchange.transposed, VECSEQ, &host));
  if (host) PetscCall(VecDestroy(&ctx->exchange.transposed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ nonempty rows of an off-diagonal block */

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
