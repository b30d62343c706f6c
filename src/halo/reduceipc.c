/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sums over processes by ipc: each process maps the inboxes of all processes. A kernel writes numbers to the mapped
   memory, waits for the numbers of all processes, and adds. docs/internals/halo.md
*/

#include "haloimpl.h"
#include <petscdevice_cuda.h>

typedef struct {
  unsigned long long number; /* of the last sum */
  LitheHaloMemory    memory;
  LitheReducePeers   peers;
} LitheReduce_IPC;

/* The inboxes of all processes */
static PetscErrorCode LitheReduceConnect_Private(LitheReduce reduce, LitheReduce_IPC *ipc, LitheHaloObstacle *obstacle, int *code)
{
  const size_t     components = sizeof(PetscScalar) / sizeof(PetscReal);
  PetscMPIInt      n          = 0, *other;
  LitheHaloPlaces *places;

  PetscFunctionBegin;
  ipc->peers.size   = reduce->size;
  ipc->peers.rank   = reduce->rank;
  ipc->peers.stride = reduce->most * (PetscInt)components;
  PetscCall(PetscCalloc2(reduce->size, &other, reduce->size, &places));
  for (PetscMPIInt r = 0; r < reduce->size; r++) {
    if (r != reduce->rank) other[n++] = r;
  }
  /* the layout is the same on all processes: only the handle is sent */
  PetscCall(
    LitheHaloMemoryCreate_Private(reduce->comm, n, other, 2 * (size_t)reduce->size * (size_t)ipc->peers.stride * 16, places, &ipc->memory, obstacle, code));
  if (*obstacle == LITHE_HALO_POSSIBLE) {
    ipc->peers.inbox[reduce->rank] = ipc->memory.own;
    for (PetscMPIInt k = 0; k < n; k++) ipc->peers.inbox[other[k]] = ipc->memory.mapped[k];
  }
  PetscCall(PetscFree2(other, places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceCreate_IPC(LitheReduce reduce, LitheHaloObstacle *obstacle, int *code)
{
  LitheReduce_IPC *ipc;
  LitheHaloFacts  *facts;

  PetscFunctionBegin;
  *code = 0;
  PetscCall(LitheHaloPrecheckIPC_Private(reduce->comm, reduce->memory, reduce->asked, obstacle));
  if (*obstacle == LITHE_HALO_POSSIBLE && reduce->size > LITHE_REDUCE_PROCESSES) *obstacle = LITHE_HALO_MANY_PROCESSES;
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&ipc));
  PetscCall(LitheReduceConnect_Private(reduce, ipc, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) {
    PetscCall(PetscFree(ipc));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  reduce->data = ipc;
  PetscCall(LitheHaloGetFacts_Private(reduce->comm, &facts));
  ipc->peers.owndevice = facts->owndevices;
  PetscCall(LitheHaloTimeoutCreate_Private(reduce->comm, NULL, "numbers of sum", &ipc->peers.timeout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceCheck_IPC(LitheReduce reduce)
{
  LitheReduce_IPC *ipc = (LitheReduce_IPC *)reduce->data;

  PetscFunctionBegin;
  PetscCall(LitheHaloTimeoutCheck_Private(&ipc->peers.timeout, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceReceive_IPC(LitheReduce reduce, LitheReduceEpoch *epoch)
{
  LitheReduce_IPC *ipc = (LitheReduce_IPC *)reduce->data;

  PetscFunctionBegin;
  PetscCall(LitheReduceCheck_IPC(reduce));
  epoch->peers  = ipc->peers;
  epoch->number = ++ipc->number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceSum_IPC(LitheReduce reduce, PetscInt n, PetscScalar a[])
{
  const PetscInt   components = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));
  LitheReduceEpoch epoch;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheReduceReceive_IPC(reduce, &epoch));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAReduce(&epoch, n * components, (PetscReal *)a, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceDestroy_IPC(LitheReduce reduce)
{
  LitheReduce_IPC *ipc = (LitheReduce_IPC *)reduce->data;
  PetscErrorCode   ierr;

  PetscFunctionBegin;
  /* all own writes have ended, and all writes of the other processes have arrived */
  PetscCallCUDA(cudaDeviceSynchronize());
  ierr = LitheHaloTimeoutCheck_Private(&ipc->peers.timeout, PETSC_TRUE);
  PetscCall(LitheHaloMemoryDestroy_Private(reduce->comm, &ipc->memory));
  PetscCall(LitheHaloTimeoutDestroy_Private(&ipc->peers.timeout));
  PetscCall(PetscFree(reduce->data));
  PetscFunctionReturn(ierr);
}

const LitheReduceOps LitheReduceIPC = {LitheReduceCreate_IPC, LitheReduceSum_IPC, LitheReduceReceive_IPC, LitheReduceCheck_IPC, LitheReduceDestroy_IPC};
