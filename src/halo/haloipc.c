/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The transport ipc: each process maps ghost[] of its neighbours, and a kernel writes there. docs/halo.md

   Memory that a process exports:   flags, one a neighbour | ghost[] of even exchanges | ghost[] of odd exchanges
   An exchange, number k:           entries to ghost[k modulo 2] of each neighbour, then its flag = k; the neighbour waits for k
   A neighbour that gets no entries gets the flag, and gives its own: it says that ghost[k - 1] may be written again.
*/

#include "haloimpl.h"
#include <petscdevice_cuda.h>

typedef struct {
  unsigned long long exchange;
  char              *memory; /* of this process: exported */
  void             **mapped; /* [n] of the neighbours */
  PetscInt           n;
  PetscMPIInt       *rank; /* [n] */
  const void        *ghost[2];
  LitheHaloPack      pack;
  LitheHaloWait      wait;
  PetscBool          told;  /* of a failure */
  PetscBool          aside; /* entries are written in a stream of their own */
  cudaStream_t       stream;
  cudaEvent_t        ready, written;
} LitheHalo_IPC;

/* What a process tells a neighbour */
typedef struct {
  cudaIpcMemHandle_t handle;
  size_t             flag, ghost[2]; /* bytes from the begin of its memory; flag: that of the neighbour who is told */
  int                code;           /* of CUDA, where it has nothing to tell */
} LitheHaloAddress;

static const char *LitheHaloMessage_IPC(int code)
{
  return cudaGetErrorString((cudaError_t)code);
}

/* ------------------------------------------------------------ memory */

/* Allocates what this process exports. An error of CUDA is no error here: all processes hear of it */
static PetscErrorCode LitheHaloExport_Private(LitheHalo halo, LitheHalo_IPC *ipc, LitheHaloAddress *own)
{
  const size_t align = 256, page = (size_t)2 << 20;
  const size_t flags = ((size_t)ipc->n * sizeof(unsigned long long) + align - 1) / align * align;
  const size_t ghost = (LitheHaloGhostBytes(halo) + align - 1) / align * align;
  cudaError_t  error;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(own, sizeof(*own)));
  own->ghost[0] = flags;
  own->ghost[1] = flags + ghost;
  /* Whole pages: what CUDA would put on the same page is mapped by others, too */
  error = cudaMalloc((void **)&ipc->memory, PetscMax((flags + 2 * ghost + page - 1) / page, 1) * page);
  if (error == cudaSuccess) error = cudaMemset(ipc->memory, 0, flags + 2 * ghost);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error == cudaSuccess && ipc->n) error = cudaIpcGetMemHandle(&own->handle, ipc->memory);
  own->code = (int)error;
  (void)cudaGetLastError();
  for (int k = 0; k < 2; k++) ipc->ghost[k] = ipc->memory + own->ghost[k];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tells the neighbours where to write, is told, and maps their memory. code: the first error of CUDA */
static PetscErrorCode LitheHaloMap_Private(MPI_Comm comm, LitheHalo_IPC *ipc, const LitheHaloAddress *own, LitheHaloAddress address[], int *code)
{
  LitheHaloAddress *told;
  MPI_Request      *request;
  PetscMPIInt       tag;

  PetscFunctionBegin;
  *code = own->code;
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCall(PetscMalloc2(ipc->n, &told, 2 * ipc->n, &request));
  for (PetscInt k = 0; k < ipc->n; k++) {
    told[k]      = *own;
    told[k].flag = (size_t)k * sizeof(unsigned long long);
    PetscCallMPI(MPI_Irecv(&address[k], (PetscMPIInt)sizeof(*address), MPI_BYTE, ipc->rank[k], tag, comm, &request[2 * k]));
    PetscCallMPI(MPI_Isend(&told[k], (PetscMPIInt)sizeof(*told), MPI_BYTE, ipc->rank[k], tag, comm, &request[2 * k + 1]));
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)(2 * ipc->n), request, MPI_STATUSES_IGNORE));
  for (PetscInt k = 0; k < ipc->n && !*code; k++) {
    *code = address[k].code;
    if (!*code) *code = (int)cudaIpcOpenMemHandle(&ipc->mapped[k], address[k].handle, cudaIpcMemLazyEnablePeerAccess);
    if (*code) ipc->mapped[k] = NULL;
  }
  (void)cudaGetLastError();
  PetscCall(PetscFree2(told, request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective: a neighbour's mapping is closed before its owner frees the memory */
static PetscErrorCode LitheHaloUnmap_Private(LitheHalo halo, LitheHalo_IPC *ipc)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < ipc->n; k++) {
    if (ipc->mapped[k]) PetscCallCUDA(cudaIpcCloseMemHandle(ipc->mapped[k]));
  }
  PetscCallMPI(MPI_Barrier(halo->comm));
  PetscCallCUDA(cudaFree(ipc->memory));
  PetscCall(PetscFree2(ipc->mapped, ipc->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ what is done once */

/* The entries of all neighbours, and of this process itself, as one kernel takes them */
static PetscErrorCode LitheHaloPlan_Private(LitheHalo halo, LitheHalo_IPC *ipc, const LitheHaloPeers *peers, const LitheHaloAddress address[])
{
  LitheHaloTarget *target;
  PetscInt         n = peers->n;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n + 1, &target));
  for (PetscInt k = 0; k < n; k++) {
    char *memory = (char *)ipc->mapped[k];

    target[k].count    = peers->send[k].count;
    target[k].fromlist = peers->send[k].index;
    target[k].tolist   = peers->target[k];
    target[k].flag     = (unsigned long long *)(memory + address[k].flag);
    for (int parity = 0; parity < 2; parity++) target[k].array[parity] = memory + address[k].ghost[parity];
  }
  if (peers->nself) {
    target[n].count    = peers->nself;
    target[n].fromlist = peers->selffrom;
    target[n].tolist   = peers->selfto;
    for (int parity = 0; parity < 2; parity++) target[n].array[parity] = (void *)ipc->ghost[parity];
    n++;
  }
  PetscCall(LitheHaloPackCreate(halo->unit, n, target, &ipc->pack));
  PetscCall(PetscFree(target));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloWaitCreate_Private(LitheHalo_IPC *ipc, PetscReal timeout)
{
  LitheHaloFailure *failure;

  PetscFunctionBegin;
  ipc->wait.n     = ipc->n;
  ipc->wait.flag  = (unsigned long long *)ipc->memory;
  ipc->wait.limit = (unsigned long long)(1e9 * (double)timeout);
  PetscCallCUDA(cudaHostAlloc((void **)&failure, sizeof(*failure), cudaHostAllocMapped));
  failure->neighbour = 0;
  failure->exchange  = 0;
  ipc->wait.failure  = failure; /* the same address on host and device */
  PetscCallCUDA(cudaMalloc((void **)&ipc->wait.failed, sizeof(*ipc->wait.failed)));
  PetscCallCUDA(cudaMemset(ipc->wait.failed, 0, sizeof(*ipc->wait.failed)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Can it be used, as far as that is known before it is tried? The same on all processes */
static PetscErrorCode LitheHaloPrecheck_IPC(LitheHalo halo, LitheHaloObstacle *obstacle)
{
  LitheHaloFacts *facts;

  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  if (!PetscMemTypeDevice(halo->memory)) {
    *obstacle = LITHE_HALO_ON_HOST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheHaloGetFacts_Private(halo->comm, &facts));
  if (!facts->onenode) *obstacle = LITHE_HALO_OTHER_NODES;
  else if (!facts->owndevices && halo->asked == LITHE_TRANSPORT_AUTO) *obstacle = LITHE_HALO_SHARED_DEVICE; /* it works, but processes wait while others have the device */
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloCreate_IPC(LitheHalo halo, LitheHaloObstacle *obstacle, int *code)
{
  LitheHalo_IPC   *ipc;
  LitheHaloPeers   peers;
  LitheHaloAddress own, *address;
  PetscReal        timeout = 60;
  PetscInt         overlap = 32768;

  PetscFunctionBegin;
  *code = 0;
  PetscCall(LitheHaloPrecheck_IPC(halo, obstacle));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lithe_halo_timeout", &timeout, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-lithe_halo_overlap", &overlap, NULL));
  PetscCheck(timeout > 0 && timeout < (PetscReal)1e9, halo->comm, PETSC_ERR_ARG_OUTOFRANGE, "-lithe_halo_timeout %g: it is a positive number of seconds", (double)timeout);

  /* Memory of all processes */
  PetscCall(PetscNew(&ipc));
  PetscCall(LitheHaloPeersCreate_Private(halo->sf, &peers));
  ipc->n = peers.n;
  PetscCall(PetscCalloc2(ipc->n, &ipc->mapped, ipc->n, &ipc->rank));
  PetscCall(PetscArraycpy(ipc->rank, peers.rank, ipc->n));
  PetscCall(PetscMalloc1(ipc->n, &address));
  PetscCall(LitheHaloExport_Private(halo, ipc, &own));
  PetscCall(LitheHaloMap_Private(halo->comm, ipc, &own, address, code));
  if (*code) *obstacle = LITHE_HALO_REFUSED;
  PetscCall(LitheHaloAgree_Private(halo->comm, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) {
    PetscCall(LitheHaloUnmap_Private(halo, ipc));
    PetscCall(PetscFree(ipc));
  } else {
    halo->data = ipc;
    PetscCall(LitheHaloPlan_Private(halo, ipc, &peers, address));
    PetscCall(LitheHaloWaitCreate_Private(ipc, timeout));
    ipc->aside = (PetscBool)(overlap >= 0 && ipc->pack.ntargets && (PetscInt64)(peers.nsend + peers.nself) * (PetscInt64)halo->unit >= overlap);
    if (ipc->aside) {
      PetscCall(LitheHaloStreamCreate_Private(&ipc->stream));
      PetscCallCUDA(cudaEventCreateWithFlags(&ipc->ready, cudaEventDisableTiming));
      PetscCallCUDA(cudaEventCreateWithFlags(&ipc->written, cudaEventDisableTiming));
    }
  }
  PetscCall(PetscFree(address));
  PetscCall(LitheHaloPeersDestroy_Private(&peers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ an exchange */

/* Was a neighbour waited for in vain? */
static PetscErrorCode LitheHaloCheck_IPC(LitheHalo_IPC *ipc)
{
  const LitheHaloFailure *failure = ipc->wait.failure;

  PetscFunctionBegin;
  if (!failure->neighbour) PetscFunctionReturn(PETSC_SUCCESS);
  ipc->told = PETSC_TRUE;
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU, "Process %d has not sent its entries of exchange %llu within %g seconds (-lithe_halo_timeout): it has ended, or does something else, or its device is busy", ipc->rank[failure->neighbour - 1], failure->exchange, 1e-9 * (double)ipc->wait.limit);
}

static PetscErrorCode LitheHaloBegin_IPC(LitheHalo halo, const void *x)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheHaloCheck_IPC(ipc));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  ipc->exchange++;
  if (!ipc->aside) {
    PetscCall(LitheCUDAHaloPack(&ipc->pack, x, ipc->exchange, stream));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallCUDA(cudaEventRecord(ipc->ready, stream));
  PetscCallCUDA(cudaStreamWaitEvent(ipc->stream, ipc->ready, 0));
  PetscCall(LitheCUDAHaloPack(&ipc->pack, x, ipc->exchange, ipc->stream));
  PetscCallCUDA(cudaEventRecord(ipc->written, ipc->stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloEnd_IPC(LitheHalo halo, const void **ghost)
{
  LitheHalo_IPC *ipc = (LitheHalo_IPC *)halo->data;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheHaloCheck_IPC(ipc));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (ipc->aside) PetscCallCUDA(cudaStreamWaitEvent(stream, ipc->written, 0));
  PetscCall(LitheCUDAHaloWait(&ipc->wait, ipc->exchange, stream));
  *ghost = ipc->ghost[ipc->exchange & 1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloDestroy_IPC(LitheHalo halo)
{
  LitheHalo_IPC *ipc  = (LitheHalo_IPC *)halo->data;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBegin;
  /* Nothing of this process writes any more, and it has waited for all that is written here */
  PetscCallCUDA(cudaDeviceSynchronize());
  if (!ipc->told) ierr = LitheHaloCheck_IPC(ipc);
  PetscCall(LitheHaloUnmap_Private(halo, ipc));
  PetscCall(LitheHaloPackDestroy(&ipc->pack));
  PetscCallCUDA(cudaFree(ipc->wait.failed));
  PetscCallCUDA(cudaFreeHost(ipc->wait.failure));
  if (ipc->aside) {
    PetscCallCUDA(cudaEventDestroy(ipc->ready));
    PetscCallCUDA(cudaEventDestroy(ipc->written));
    PetscCallCUDA(cudaStreamDestroy(ipc->stream));
  }
  PetscCall(PetscFree(halo->data));
  PetscFunctionReturn(ierr);
}

const LitheHaloOps LitheHaloIPC = {LITHE_TRANSPORT_IPC, LitheHaloCreate_IPC, LitheHaloBegin_IPC, LitheHaloEnd_IPC, LitheHaloDestroy_IPC, LitheHaloMessage_IPC};
