/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Vectors of nodes and slabs: models go to the slabs of all groups, images come from the slabs. Three ways. With the
   same nodes in both, arrays are used in place. On devices of one node, processes read each other's memory: peers.c.
   Else a star forest takes the numbers through the host.
*/

#include "bornimpl.h"

static inline PetscBool BornSlabIsOnDevice(const Mat_Born *ctx)
{
  return (PetscBool)(ctx->kernels != &BornHostKernels);
}

/* Peers, or a star forest where there are none; on all processes alike */
static PetscErrorCode BornSlabGetWay(Mat A, BornPeers **peers, PetscSF *forest)
{
  Mat_Born  *ctx   = (Mat_Born *)A->data;
  BornSplit *split = ctx->parallel.split;
  DM         da;

  PetscFunctionBegin;
  *peers = NULL;
  PetscCall(MatBornGetDM_Private(A, &da, NULL));
  if (BornSlabIsOnDevice(ctx) && !split->tried) {
    PetscCall(BornPeersCreate_Private(split, da, &split->peers));
    split->tried = PETSC_TRUE;
  }
  if (BornSlabIsOnDevice(ctx)) *peers = split->peers;
  if (!*peers) PetscCall(BornSplitGetForest_Private(split, da, forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the slab's nodes, of a vector of nodes: in memory of create(), or on the host. Collective */
PetscErrorCode MatBornOpenSlab_Private(Mat A, Vec x, const PetscReal **slab)
{
  Mat_Born          *ctx   = (Mat_Born *)A->data;
  BornSplit         *split = ctx->parallel.split;
  const PetscScalar *a;
  PetscReal         *mine;
  BornPeers         *peers;
  PetscSF            forest;

  PetscFunctionBegin;
  if (split->own) {
    if (BornSlabIsOnDevice(ctx)) PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
    else PetscCall(VecGetArrayRead(x, &a));
    *slab = (const PetscReal *)a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BornSlabGetWay(A, &peers, &forest));
  if (peers) {
    PetscCall((*ctx->kernels->create)((size_t)split->nodes * sizeof(PetscReal), (void **)&mine));
    PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
    PetscCall(BornPeersSpread_Private(peers, (const PetscReal *)a, mine));
    PetscCall(VecRestoreArrayReadAndMemType(x, &a));
  } else {
    PetscCall(PetscMalloc1(split->nodes, &mine));
    PetscCall(VecGetArrayRead(x, &a));
    PetscCall(PetscSFBcastBegin(forest, MPIU_REAL, a, mine, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(forest, MPIU_REAL, a, mine, MPI_REPLACE));
    PetscCall(VecRestoreArrayRead(x, &a));
  }
  *slab = mine;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatBornCloseSlab_Private(Mat A, Vec x, const PetscReal **slab)
{
  Mat_Born          *ctx   = (Mat_Born *)A->data;
  BornSplit         *split = ctx->parallel.split;
  const PetscScalar *a     = (const PetscScalar *)*slab;

  PetscFunctionBegin;
  if (split->own) {
    if (BornSlabIsOnDevice(ctx)) PetscCall(VecRestoreArrayReadAndMemType(x, &a));
    else PetscCall(VecRestoreArrayRead(x, &a));
    *slab = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (BornSlabIsOnDevice(ctx) && split->peers) PetscCall((*ctx->kernels->destroy)((void **)slab));
  else PetscCall(PetscFree(*slab));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of the slabs of all groups, to a vector of nodes. Collective */
PetscErrorCode MatBornSumSlabs_Private(Mat A, LitheSums sums, Vec image)
{
  Mat_Born       *ctx    = (Mat_Born *)A->data;
  BornSplit      *split  = ctx->parallel.split;
  const PetscBool device = BornSlabIsOnDevice(ctx);
  PetscScalar    *y;
  PetscReal      *mine;
  PetscInt        n;
  BornPeers      *peers  = NULL;
  PetscSF         forest = NULL;

  PetscFunctionBegin;
  if (!split->own) PetscCall(BornSlabGetWay(A, &peers, &forest));
  if (forest) {
    PetscCall(VecGetArrayWrite(image, &y));
    PetscCall(LitheSumsReduce(sums, forest, (PetscReal *)y));
    PetscCall(VecRestoreArrayWrite(image, &y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(image, &n));
  if (device) PetscCall(VecGetArrayWriteAndMemType(image, &y, NULL));
  else PetscCall(VecGetArrayWrite(image, &y));
  PetscCall((*ctx->kernels->borrow)((size_t)n, (PetscReal *)y, PETSC_FALSE, &mine));
  if (peers) PetscCall(BornPeersReduce_Private(peers, sums, PetscObjectComm((PetscObject)A), mine));
  else {
    PetscCall(LitheSumsAgree(sums, PetscObjectComm((PetscObject)A)));
    PetscCall(LitheSumsFinish(sums, mine));
  }
  PetscCall((*ctx->kernels->giveback)((size_t)n, (PetscReal *)y, PETSC_TRUE, &mine));
  if (device) PetscCall(VecRestoreArrayWriteAndMemType(image, &y));
  else PetscCall(VecRestoreArrayWrite(image, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
