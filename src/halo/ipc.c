/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The transport ipc: each process maps ghost[] of its neighbours, and a kernel writes there. docs/internals/halo.md

   Window: one flag per process, and a word that is set after the time limit | ghost[] of even exchanges | ghost[] of
   odd exchanges. The places are the same on all processes

   Exchange number k: entries go to ghost[k modulo 2] of each neighbour, then the flag there becomes k; the neighbour
   waits for k. A neighbour without entries also gets and sends the flag: then ghost[k - 1] may be written again.
*/

#include "haloimpl.h"
#include <petscdevice_cuda.h>

typedef struct {
  unsigned long long exchange;
  PetscMPIInt        rank;
  LitheWindow        window;
  char              *own;      /* the window's memory of this process */
  size_t             ghost[2]; /* places in the windows */
  LitheHaloPack      pack;
  LitheHaloFlags     wait;
  PetscBool          aside; /* entries are written, and waited for, in a separate stream */
  cudaStream_t       stream;
  cudaEvent_t        ready, arrived;
  PetscBool          waited;     /* later launches in the stream find the entries of the present exchange */
  PetscBool          owndevices; /* no two processes have the same */
} LitheHalo_IPC;

/* ------------------------------------------------------------ set-up */

static PetscErrorCode LitheHaloConnect_Private(LitheHalo halo, LitheHalo_IPC *ipc, const LitheHaloPeers *peers, LitheHaloObstacle *obstacle, int *code)
{
  const size_t align = 256, flag = sizeof(unsigned long long), ghost = (LitheHaloGhostBytes(halo) + align - 1) / align * align;
  PetscMPIInt  size;
  size_t       flags;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(halo->comm, &size));
  PetscCallMPI(MPI_Comm_rank(halo->comm, &ipc->rank));
  flags = ((size_t)(size + 1) * flag + align - 1) / align * align;
  PetscCall(LitheHaloWindow_Private(halo->comm, peers->n, peers->rank, flags + 2 * ghost, &ipc->window, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  for (int k = 0; k < 2; k++) ipc->ghost[k] = flags + (size_t)k * (ipc->window->bytes - flags) / 2;
  PetscCall(LitheWindowGetMemory(ipc->window, ipc->rank, (void **)&ipc->own));
  /* neighbours may have begun to write: only other flags are changed */
  for (PetscInt r = 0, k = 0; r < size; r++) {
    if (k < peers->n && peers->rank[k] == r) k++;
    else PetscCallCUDA(cudaMemset(ipc->own + (size_t)r * flag, 0xff, flag));
  }
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  ipc->wait.n    = peers->n ? size : 0;
  ipc->wait.flag = (unsigned long long *)ipc->own;
  PetscCall(LitheHaloTimeoutCreate_Private(halo->comm, "entries of exchange", &ipc->wait.flag[size], &ipc->wait.timeout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entries for all neighbours and for the own process, as kernel arguments */
static PetscErrorCode LitheHaloPlan_Private(LitheHalo halo, LitheHalo_IPC *ipc, const LitheHaloPeers *peers)
{
  LitheHaloTarget *target;
  PetscInt         n = peers->n;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 1, &target));
  for (PetscInt k = 0; k < n; k++) {
    char *memory;

    PetscCall(LitheWindowGetMemory(ipc->window, peers->rank[k], (void **)&memory));
    target[k].count    = peers->send[k].count;
    target[k].fromlist = peers->send[k].index;
    target[k].tolist   = peers->target[k];
    target[k].flag     = (unsigned long long *)memory + ipc->rank;
    for (int parity = 0; parity < 2; parity++) target[k].array[parity] = memory + ipc->ghost[parity];
  }
  if (peers->nself) {
    target[n].count    = peers->nself;
    target[n].fromlist = peers->selffrom;
    target[n].tolist   = peers->selfto;
    for (int parity = 0; parity < 2; parity++) target[n].array[parity] = ipc->own + ipc->ghost[parity];
    n++;
  }
  PetscCall(LitheHaloPackCreate(halo->unit, ipc->aside, PETSC_TRUE, n, target, &ipc->pack));
  PetscCall(PetscFree(target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloCreate_IPC(LitheHalo halo, LitheHaloObstacle *obstacle, int *code)
{
  const LitheHaloPeers *peers = &halo->peers;
  LitheHalo_IPC        *ipc;
  LitheHaloFacts       *facts;
  PetscInt              overlap = LITHE_HALO_OVERLAP;

  PetscFunctionBegin;
  *code = 0;
  PetscCall(LitheHaloPrecheckIPC_Private(halo->comm, halo->memory, halo->asked, obstacle));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-lithe_halo_overlap", &overlap, NULL));
  PetscCall(PetscNew(&ipc));
  PetscCall(LitheHaloConnect_Private(halo, ipc, peers, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscCall(PetscFree(ipc));
  else {
    halo->data = ipc;
    PetscCall(LitheHaloGetFacts_Private(halo->comm, &facts));
    ipc->owndevices = facts->owndevices;
    ipc->aside = (PetscBool)(overlap >= 0 && peers->nsend + peers->nself > 0 && (PetscInt64)(peers->nsend + peers->nself) * (PetscInt64)halo->unit >= overlap);
    PetscCall(LitheHaloPlan_Private(halo, ipc, peers));
    if (ipc->aside) {
      PetscCall(LitheHaloStreamCreate_Private(&ipc->stream));
      PetscCallCUDA(cudaEventCreateWithFlags(&ipc->ready, cudaEventDisableTiming));
      PetscCallCUDA(cudaEventCreateWithFlags(&ipc->arrived, cudaEventDisableTiming));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ an exchange */

static PetscErrorCode LitheHaloBegin_IPC(LitheHalo halo, const void *x)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheHaloTimeoutCheck_Private(&ipc->wait.timeout, PETSC_FALSE));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  ipc->exchange++;
  ipc->waited = PETSC_FALSE;
  if (!ipc->aside) {
    PetscCall(LitheCUDAHaloPack(&ipc->pack, x, ipc->exchange, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCUDA(cudaEventRecord(ipc->ready, stream));
  PetscCallCUDA(cudaStreamWaitEvent(ipc->stream, ipc->ready, 0));
  PetscCall(LitheCUDAHaloPack(&ipc->pack, x, ipc->exchange, ipc->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloGetEpoch_Private(LitheHalo halo, LitheHaloEpoch *epoch, const void **ghost)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;

  PetscFunctionBegin;
  PetscCall(LitheHaloTimeoutCheck_Private(&ipc->wait.timeout, PETSC_FALSE));
  epoch->wait     = ipc->wait;
  epoch->exchange = ipc->exchange;
  epoch->sent     = ipc->pack.sent;
  epoch->nsent    = ipc->exchange * (unsigned long long)ipc->pack.ntargets;
  *ghost          = ipc->own + ipc->ghost[ipc->exchange & 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The caller's kernel itself waits until all sent entries have left, in any stream. Not possible if processes share a
   device: many waiting blocks might keep another process from sending
*/
static PetscErrorCode LitheHaloReceive_IPC(LitheHalo halo, LitheHaloEpoch *epoch, const void **ghost)
{
  PetscFunctionBegin;
  if (((LitheHalo_IPC *)halo->data)->owndevices) PetscCall(LitheHaloGetEpoch_Private(halo, epoch, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloGetStream_IPC(LitheHalo halo, void **stream)
{
  PetscFunctionBegin;
  *stream = ((LitheHalo_IPC *)halo->data)->stream;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sending stream waits for the entries of all neighbours, if not yet done */
static PetscErrorCode LitheHaloWait_IPC(LitheHalo halo, const void **ghost)
{
  LitheHalo_IPC *ipc    = (LitheHalo_IPC *)halo->data;
  cudaStream_t   stream = ipc->stream;
  LitheHaloEpoch epoch;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  ierr = LitheHaloGetEpoch_Private(halo, &epoch, ghost);
  if (ierr && ipc->aside) PetscCallCUDA(cudaStreamSynchronize(ipc->stream)); /* nobody else waits for the caller's launches in the stream */
  PetscCall(ierr);
  if (ipc->waited) PetscFunctionReturn(PETSC_SUCCESS);
  epoch.sent = NULL;
  if (!ipc->aside) PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAHaloWait(&epoch, stream));
  ipc->waited = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloEnd_IPC(LitheHalo halo, const void **ghost)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;

  PetscFunctionBegin;
  PetscCall(LitheHaloWait_IPC(halo, ghost));
  if (ipc->aside) {
    cudaStream_t stream;

    /* with all launches of the caller in the stream */
    PetscCall(PetscGetCurrentCUDAStream(&stream));
    PetscCallCUDA(cudaEventRecord(ipc->arrived, ipc->stream));
    PetscCallCUDA(cudaStreamWaitEvent(stream, ipc->arrived, 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloDestroy_IPC(LitheHalo halo)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  /* all own writes have ended, and all writes of neighbours have arrived */
  PetscCallCUDA(cudaDeviceSynchronize());
  ierr = LitheHaloTimeoutCheck_Private(&ipc->wait.timeout, PETSC_TRUE);
  PetscCall(LithePoolGiveBack(&ipc->window));
  PetscCall(LitheHaloPackDestroy(&ipc->pack));
  PetscCall(LitheHaloTimeoutDestroy_Private(&ipc->wait.timeout));
  if (ipc->aside) {
    PetscCallCUDA(cudaEventDestroy(ipc->ready));
    PetscCallCUDA(cudaEventDestroy(ipc->arrived));
    PetscCallCUDA(cudaStreamDestroy(ipc->stream));
  }
  PetscCall(PetscFree(halo->data));
  PetscFunctionReturn(ierr);
}

const LitheHaloOps LitheHaloIPC = {.create  = LitheHaloCreate_IPC,
                                   .begin   = LitheHaloBegin_IPC,
                                   .end     = LitheHaloEnd_IPC,
                                   .destroy = LitheHaloDestroy_IPC,
                                   .receive = LitheHaloReceive_IPC,
                                   .stream  = LitheHaloGetStream_IPC,
                                   .wait    = LitheHaloWait_IPC};
