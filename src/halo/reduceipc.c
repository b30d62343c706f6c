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
  LitheWindow        window;
  LitheReducePeers   peers;
} LitheReduce_IPC;

/* The inboxes of all processes, and a word that is set after the time limit */
static PetscErrorCode LitheReduceConnect_Private(LitheReduce reduce, LitheReduce_IPC *ipc, LitheHaloObstacle *obstacle, int *code)
{
  const size_t components = sizeof(PetscScalar) / sizeof(PetscReal), inboxes = 2 * (size_t)reduce->size * (size_t)reduce->most * components * 16;

  PetscFunctionBegin;
  ipc->peers.size   = reduce->size;
  ipc->peers.rank   = reduce->rank;
  ipc->peers.stride = reduce->most * (PetscInt)components;
  PetscCall(LitheHaloWindow_Private(reduce->comm, reduce->size, NULL, inboxes + sizeof(unsigned int), &ipc->window, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscMPIInt r = 0; r < reduce->size; r++) PetscCall(LitheWindowGetMemory(ipc->window, r, &ipc->peers.inbox[r]));
  PetscCall(LitheHaloTimeoutCreate_Private(reduce->comm, "numbers of sum", (char *)ipc->peers.inbox[reduce->rank] + inboxes, &ipc->peers.timeout));
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
  PetscCall(LithePoolGiveBack(&ipc->window));
  PetscCall(LitheHaloTimeoutDestroy_Private(&ipc->peers.timeout));
  PetscCall(PetscFree(reduce->data));
  PetscFunctionReturn(ierr);
}

const LitheReduceOps LitheReduceIPC = {LitheReduceCreate_IPC, LitheReduceSum_IPC, LitheReduceReceive_IPC, LitheReduceCheck_IPC, LitheReduceDestroy_IPC};
