/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Vectors of nodes and the slabs of all groups, on devices of one node. Each process copies its numbers to a window.
   The other processes read those boxes of nodes that they need.
*/

#include <lithe/private/born/parts.h>
#include <lithe/private/sums.h>
#include <lithe/private/cuda/born.h>

#if defined(LITHE_HAVE_CUDA)
typedef struct {
  PetscInt from[3], n[3];
} BornBox;

struct _n_BornPeers {
  LitheWindow window;
  PetscMPIInt size, rank;
  BornBox    *box, *slab; /* [size] nodes of each process, in vectors and in slabs */
};

/* The common nodes of two boxes; n is 0 in a dimension without any */
static void BornBoxMeet(const BornBox *a, const BornBox *b, BornBox *both)
{
  for (int d = 0; d < 3; d++) {
    const PetscInt to = PetscMin(a->from[d] + a->n[d], b->from[d] + b->n[d]);

    both->from[d] = PetscMax(a->from[d], b->from[d]);
    both->n[d]    = PetscMax(to - both->from[d], 0);
  }
}

/* Where an array of a box has the first node of a part, and the distances of lines and planes */
static BornRegion BornRegionOf(const BornBox *box, const BornBox *part)
{
  const PetscInt64 line = box->n[0], plane = line * box->n[1];

  return (BornRegion){.first     = part->from[0] - box->from[0] + line * (part->from[1] - box->from[1]) + plane * (part->from[2] - box->from[2]),
                      .stride[0] = line,
                      .stride[1] = plane};
}

PetscErrorCode BornPeersCreate_Private(const BornSplit *split, DM da, BornPeers **peers)
{
  BornBox    *own;
  BornPeers  *p;
  PetscInt    dim, n[3];
  size_t      bytes;
  PetscMPIInt count = (PetscMPIInt)(sizeof(BornBox) / sizeof(PetscInt));

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  PetscCallMPI(MPI_Comm_size(split->all, &p->size));
  PetscCallMPI(MPI_Comm_rank(split->all, &p->rank));
  PetscCall(PetscMalloc2(p->size, &p->box, p->size, &p->slab));
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  own = &p->slab[p->rank];
  for (int d = 0; d < 3; d++) {
    own->from[d] = d == dim - 1 ? split->start : 0;
    own->n[d]    = d == dim - 1 ? split->count : (d < dim ? n[d] : 1);
  }
  own = &p->box[p->rank];
  PetscCall(DMDAGetCorners(da, &own->from[0], &own->from[1], &own->from[2], &own->n[0], &own->n[1], &own->n[2]));
  bytes = PetscMax((size_t)split->nodes * sizeof(PetscInt64), (size_t)own->n[0] * (size_t)own->n[1] * (size_t)own->n[2] * sizeof(PetscReal));
  PetscCallMPI(MPI_Allgather(MPI_IN_PLACE, count, MPIU_INT, p->box, count, MPIU_INT, split->all));
  PetscCallMPI(MPI_Allgather(MPI_IN_PLACE, count, MPIU_INT, p->slab, count, MPIU_INT, split->all));
  PetscCall(LitheWindowCreate(split->all, bytes, &p->window));
  if (!p->window) PetscCall(BornPeersDestroy_Private(&p));
  *peers = p;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornPeersDestroy_Private(BornPeers **peers)
{
  BornPeers *p = *peers;

  PetscFunctionBegin;
  *peers = NULL;
  if (!p) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheWindowDestroy(&p->window));
  PetscCall(PetscFree2(p->box, p->slab));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The bytes of a process's numbers, to the window */
static PetscErrorCode BornPeersPut(BornPeers *p, const BornBox *own, size_t size, const void *x)
{
  void *to;

  PetscFunctionBegin;
  PetscCall(LitheWindowGetMemory(p->window, p->rank, &to));
  PetscCall(LitheCUDABornCopy((size_t)own->n[0] * (size_t)own->n[1] * (size_t)own->n[2] * size, x, to));
  PetscCall(LitheWindowFence(p->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornPeersSpread_Private(BornPeers *p, const PetscReal *x, PetscReal *slab)
{
  const BornBox *own = &p->slab[p->rank];

  PetscFunctionBegin;
  PetscCall(BornPeersPut(p, &p->box[p->rank], sizeof(PetscReal), x));
  for (PetscMPIInt r = 0; r < p->size; r++) {
    BornBox both;
    void   *from;

    BornBoxMeet(own, &p->box[r], &both);
    PetscCall(LitheWindowGetMemory(p->window, r, &from));
    PetscCall(LitheCUDABornCopyRegion(both.n, BornRegionOf(&p->box[r], &both), (const PetscReal *)from, BornRegionOf(own, &both), slab));
  }
  PetscCall(LitheWindowFence(p->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Integers of the slabs of all groups, added to the process's nodes. As LitheSumsGatherFn */
static PetscErrorCode BornPeersGather(void *ctx, const PetscInt64 bin[], PetscInt64 root[])
{
  BornPeers     *p   = (BornPeers *)ctx;
  const BornBox *own = &p->box[p->rank];

  PetscFunctionBegin;
  PetscCall(BornPeersPut(p, &p->slab[p->rank], sizeof(PetscInt64), bin));
  for (PetscMPIInt r = 0; r < p->size; r++) {
    BornBox both;
    void   *from;

    BornBoxMeet(own, &p->slab[r], &both);
    PetscCall(LitheWindowGetMemory(p->window, r, &from));
    PetscCall(LitheCUDABornAddRegion(both.n, BornRegionOf(&p->slab[r], &both), (const PetscInt64 *)from, BornRegionOf(own, &both), root));
  }
  PetscCall(LitheWindowFence(p->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornPeersReduce_Private(BornPeers *p, LitheSums sums, MPI_Comm comm, PetscReal *y)
{
  const BornBox *own = &p->box[p->rank];

  PetscFunctionBegin;
  PetscCall(LitheSumsReduceBy(sums, comm, BornPeersGather, p, own->n[0] * own->n[1] * own->n[2], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode BornPeersCreate_Private(PETSC_UNUSED const BornSplit *split, PETSC_UNUSED DM da, BornPeers **peers)
{
  *peers = NULL;
  return PETSC_SUCCESS;
}

PetscErrorCode BornPeersDestroy_Private(BornPeers **peers)
{
  *peers = NULL;
  return PETSC_SUCCESS;
}

PetscErrorCode BornPeersSpread_Private(PETSC_UNUSED BornPeers *peers, PETSC_UNUSED const PetscReal *x, PETSC_UNUSED PetscReal *slab)
{
  return PETSC_ERR_PLIB;
}

PetscErrorCode BornPeersReduce_Private(PETSC_UNUSED BornPeers *peers, PETSC_UNUSED LitheSums sums, PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED PetscReal *y)
{
  return PETSC_ERR_PLIB;
}
#endif
