/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The lists of a star forest of any type, for all transports except PETSc's */

#include "haloimpl.h"

/* The star forest of the same graph with readable lists: a pattern, which VecScatterCreate() may make, has none */
static PetscErrorCode LitheHaloGetBasicSF_Private(PetscSF sf, PetscSF *basic)
{
  PetscInt           nroots, nleaves;
  const PetscInt    *leaf;
  const PetscSFNode *remote;
  PetscBool          is;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)sf, PETSCSFBASIC, &is));
  if (is) {
    PetscCall(PetscObjectReference((PetscObject)sf));
    *basic = sf;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscSFGetGraph(sf, &nroots, &nleaves, &leaf, &remote));
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)sf), basic));
  PetscCall(PetscSFSetType(*basic, PETSCSFBASIC));
  PetscCall(PetscSFSetGraph(*basic, nroots, nleaves, (PetscInt *)leaf, PETSC_COPY_VALUES, (PetscSFNode *)remote, PETSC_COPY_VALUES));
  PetscCall(PetscSFSetUp(*basic));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sorted neighbours on both sides, without the own process */
static PetscErrorCode LitheHaloMergeRanks_Private(PetscMPIInt me, PetscMPIInt nroot, const PetscMPIInt rootrank[], PetscMPIInt nleaf,
                                                  const PetscMPIInt leafrank[], LitheHaloPeers *peers)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nroot + nleaf, &peers->rank));
  for (PetscMPIInt k = 0; k < nroot; k++) {
    if (rootrank[k] != me) peers->rank[n++] = rootrank[k];
  }
  for (PetscMPIInt k = 0; k < nleaf; k++) {
    if (leafrank[k] != me) peers->rank[n++] = leafrank[k];
  }
  PetscCall(PetscSortRemoveDupsMPIInt(&n, peers->rank));
  peers->n = n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies an entry per rank to the neighbour's list, without the own entries */
static PetscErrorCode LitheHaloFillLists_Private(const LitheHaloPeers *peers, PetscMPIInt n, const PetscMPIInt rank[], const PetscInt offset[],
                                                 const PetscInt index[], PetscInt *to, LitheHaloList list[])
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < peers->n; k++) {
    list[k] = (LitheHaloList){peers->rank[k], 0, to};
    for (PetscMPIInt l = 0; l < n; l++) {
      if (rank[l] != peers->rank[k]) continue;
      list[k].count = offset[l + 1] - offset[l];
      PetscCall(PetscArraycpy(to, index + offset[l], list[k].count));
      to += list[k].count;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends each neighbour the target places of its entries */
static PetscErrorCode LitheHaloExchangeTargets_Private(MPI_Comm comm, LitheHaloPeers *peers)
{
  MPI_Request *request;
  PetscMPIInt  tag, n = 0;

  PetscFunctionBegin;
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCall(PetscMalloc1(2 * peers->n, &request));
  for (PetscInt k = 0; k < peers->n; k++) {
    if (peers->send[k].count) PetscCallMPI(MPIU_Irecv(peers->target[k], peers->send[k].count, MPIU_INT, peers->rank[k], tag, comm, &request[n++]));
  }
  for (PetscInt k = 0; k < peers->n; k++) {
    if (peers->recv[k].count) PetscCallMPI(MPIU_Isend(peers->recv[k].index, peers->recv[k].count, MPIU_INT, peers->rank[k], tag, comm, &request[n++]));
  }
  PetscCallMPI(MPI_Waitall(n, request, MPI_STATUSES_IGNORE));
  PetscCall(PetscFree(request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
PetscErrorCode LitheHaloPeersCreate_Private(PetscSF sf, LitheHaloPeers *peers)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)sf);
  PetscMPIInt        me, nroot, nleaf;
  const PetscMPIInt *rootrank, *leafrank;
  const PetscInt    *rootoffset, *leafoffset, *mine, *remote, *entry;
  PetscInt          *next;
  PetscSF            basic;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(peers, sizeof(*peers)));
  PetscCallMPI(MPI_Comm_rank(comm, &me));
  PetscCall(LitheHaloGetBasicSF_Private(sf, &basic));
  PetscCall(PetscSFGetRootRanks(basic, &nroot, &rootrank, &rootoffset, &mine, &remote));
  PetscCall(PetscSFGetLeafRanks(basic, &nleaf, &leafrank, &leafoffset, &entry));
  PetscCall(LitheHaloMergeRanks_Private(me, nroot, rootrank, nleaf, leafrank, peers));

  /* entries from the own process to itself */
  for (PetscMPIInt k = 0; k < nroot; k++) {
    if (rootrank[k] == me) peers->nself += rootoffset[k + 1] - rootoffset[k];
    else peers->nrecv += rootoffset[k + 1] - rootoffset[k];
  }
  for (PetscMPIInt k = 0; k < nleaf; k++) {
    if (leafrank[k] != me) peers->nsend += leafoffset[k + 1] - leafoffset[k];
  }
  PetscCall(PetscMalloc1(2 * peers->nself + 2 * peers->nsend + peers->nrecv, &peers->storage));
  peers->selffrom = peers->storage;
  peers->selfto   = peers->selffrom + peers->nself;
  for (PetscMPIInt k = 0; k < nroot; k++) {
    if (rootrank[k] != me) continue;
    PetscCall(PetscArraycpy(peers->selffrom, remote + rootoffset[k], peers->nself));
    PetscCall(PetscArraycpy(peers->selfto, mine + rootoffset[k], peers->nself));
  }

  /* and the neighbours */
  PetscCall(PetscMalloc3(peers->n, &peers->send, peers->n, &peers->recv, peers->n, &peers->target));
  next = peers->selfto + peers->nself;
  PetscCall(LitheHaloFillLists_Private(peers, nleaf, leafrank, leafoffset, entry, next, peers->send));
  next += peers->nsend;
  PetscCall(LitheHaloFillLists_Private(peers, nroot, rootrank, rootoffset, mine, next, peers->recv));
  next += peers->nrecv;
  for (PetscInt k = 0; k < peers->n; k++) {
    peers->target[k] = next;
    next += peers->send[k].count;
  }
  PetscCall(PetscSFDestroy(&basic));
  PetscCall(LitheHaloExchangeTargets_Private(comm, peers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloPeersDestroy_Private(LitheHaloPeers *peers)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(peers->rank));
  PetscCall(PetscFree3(peers->send, peers->recv, peers->target));
  PetscCall(PetscFree(peers->storage));
  PetscCall(PetscMemzero(peers, sizeof(*peers)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the numbers are consecutive */
PetscBool LitheHaloIsRange_Private(PetscInt n, const PetscInt index[])
{
  for (PetscInt k = 1; k < n; k++) {
    if (index[k] != index[0] + k) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
