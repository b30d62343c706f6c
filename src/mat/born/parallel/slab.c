/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Vectors of nodes and slabs: models go to the slabs of all groups, images come from the slabs. Three ways. With the
   same nodes in both, arrays are used in place. On devices of one node, processes read each other's memory: peers.c.
   Else a star forest takes the numbers through the host.
*/

#include <lithe/private/born/parts.h>
#include <lithe/private/sums.h>

/* The part of a dimension with a given node, by the first nodes of the parts */
static PetscInt PartOf(PetscInt node, PetscInt parts, const PetscInt first[])
{
  PetscInt low = 0, high = parts;

  while (high - low > 1) {
    const PetscInt middle = low + (high - low) / 2;

    if (first[middle] <= node) low = middle;
    else high = middle;
  }
  return low;
}

/* Leaves: the nodes of the slab in order. Roots: the nodes of the DMDA. Made by the first request */
static PetscErrorCode BornSlabGetForest(BornParallel *p, DM da, PetscSF *forest)
{
  const BornSplit *split = &p->split;
  const PetscInt  *owned[3];
  PetscInt        *first[3], dim, n[3], parts[3], from[3] = {0, 0, 0}, to[3], roots, leaves, l = 0;
  PetscSFNode     *root;

  PetscFunctionBegin;
  *forest = p->slabs.forest;
  if (p->slabs.forest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt d = 0; d < 3; d++) to[d] = d < dim ? n[d] : 1;
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  for (PetscInt d = 0; d < 3; d++) {
    if (d >= dim) parts[d] = 1;
    PetscCall(PetscMalloc1(parts[d] + 1, &first[d]));
    first[d][0] = 0;
    for (PetscInt p = 0; p < parts[d]; p++) first[d][p + 1] = d < dim ? first[d][p] + owned[d][p] : 1;
  }
  from[dim - 1] = split->start;
  to[dim - 1]   = split->start + split->count;
  PetscCall(PetscIntMultError(to[0] - from[0], to[1] - from[1], &leaves));
  PetscCall(PetscIntMultError(leaves, to[2] - from[2], &leaves));
  PetscCall(PetscMalloc1(leaves, &root));
  for (PetscInt k = from[2]; k < to[2]; k++) {
    const PetscInt pk = PartOf(k, parts[2], first[2]);

    for (PetscInt j = from[1]; j < to[1]; j++) {
      const PetscInt pj = PartOf(j, parts[1], first[1]), above = (k - first[2][pk]) * (first[1][pj + 1] - first[1][pj]) + j - first[1][pj];

      for (PetscInt p = 0; p < parts[0]; p++) {
        const PetscInt nx = first[0][p + 1] - first[0][p], owner = p + parts[0] * (pj + parts[1] * pk);

        for (PetscInt i = 0; i < nx; i++) root[l++] = (PetscSFNode){owner, i + nx * above};
      }
    }
  }
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(first[d]));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &from[0], &from[1], &from[2]));
  roots = from[0] * from[1] * from[2];
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)da), forest));
  PetscCall(PetscSFSetGraph(*forest, roots, leaves, NULL, PETSC_OWN_POINTER, root, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*forest));
  p->slabs.forest = *forest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Peers, or a star forest where there are none; on all processes alike */
static PetscErrorCode BornSlabGetWay(const BornKernels *k, BornParallel *p, DM da, BornPeers **peers, PetscSF *forest)
{
  PetscFunctionBegin;
  *peers = NULL;
  if (k->device && !p->slabs.tried) {
    PetscCall(BornPeersCreate_Private(&p->split, da, &p->slabs.peers));
    p->slabs.tried = PETSC_TRUE;
  }
  if (k->device) *peers = p->slabs.peers;
  if (!*peers) PetscCall(BornSlabGetForest(p, da, forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of the slab's nodes, of a vector of nodes: in memory of create(), or on the host. Collective */
PetscErrorCode BornSlabOpen_Private(const BornKernels *k, BornParallel *p, DM da, Vec x, const PetscReal **slab)
{
  const BornSplit   *split = &p->split;
  const PetscScalar *a;
  PetscReal         *mine;
  BornPeers         *peers;
  PetscSF            forest;

  PetscFunctionBegin;
  if (split->own) {
    if (k->device) PetscCall(VecGetArrayReadAndMemType(x, &a, NULL));
    else PetscCall(VecGetArrayRead(x, &a));
    *slab = (const PetscReal *)a;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(BornSlabGetWay(k, p, da, &peers, &forest));
  if (peers) {
    PetscCall((*k->create)(PETSC_FALSE, (size_t)split->nodes * sizeof(PetscReal), (void **)&mine));
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

PetscErrorCode BornSlabClose_Private(const BornKernels *k, const BornParallel *p, Vec x, const PetscReal **slab)
{
  const PetscScalar *a = (const PetscScalar *)*slab;

  PetscFunctionBegin;
  if (p->split.own) {
    if (k->device) PetscCall(VecRestoreArrayReadAndMemType(x, &a));
    else PetscCall(VecRestoreArrayRead(x, &a));
    *slab = NULL;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (k->device && p->slabs.peers) PetscCall((*k->destroy)(PETSC_FALSE, (void **)slab));
  else PetscCall(PetscFree(*slab));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums of the slabs of all groups, to a vector of nodes. Collective */
PetscErrorCode BornSlabSum_Private(const BornKernels *k, BornParallel *p, DM da, LitheSums sums, Vec image)
{
  const BornSplit *split  = &p->split;
  const PetscBool  device = k->device;
  PetscScalar     *y;
  PetscReal       *mine;
  PetscInt         n;
  BornPeers       *peers  = NULL;
  PetscSF          forest = NULL;

  PetscFunctionBegin;
  if (!split->own) PetscCall(BornSlabGetWay(k, p, da, &peers, &forest));
  if (forest) {
    PetscCall(VecGetArrayWrite(image, &y));
    PetscCall(LitheSumsReduce(sums, forest, (PetscReal *)y));
    PetscCall(VecRestoreArrayWrite(image, &y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecGetLocalSize(image, &n));
  if (device) PetscCall(VecGetArrayWriteAndMemType(image, &y, NULL));
  else PetscCall(VecGetArrayWrite(image, &y));
  PetscCall((*k->borrow)((size_t)n, (PetscReal *)y, PETSC_FALSE, &mine));
  if (peers) PetscCall(BornPeersReduce_Private(peers, sums, split->all, mine));
  else {
    PetscCall(LitheSumsAgree(sums, split->all));
    PetscCall(LitheSumsFinish(sums, mine));
  }
  PetscCall((*k->giveback)((size_t)n, (PetscReal *)y, PETSC_TRUE, &mine));
  if (device) PetscCall(VecRestoreArrayWriteAndMemType(image, &y));
  else PetscCall(VecRestoreArrayWrite(image, &y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSlabsDestroy_Private(BornSlabs *slabs)
{
  PetscFunctionBegin;
  PetscCall(BornPeersDestroy_Private(&slabs->peers));
  PetscCall(PetscSFDestroy(&slabs->forest));
  slabs->tried = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
