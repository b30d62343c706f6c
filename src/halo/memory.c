/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Device memory mapped and written by other processes, and the time limit of waiting. docs/internals/halo.md */

#include "haloimpl.h"
#include <petscdevice_cuda.h>

/* Message of a process to another process */
typedef struct {
  cudaIpcMemHandle_t handle;
  LitheHaloPlaces    places;
  int                code; /* of CUDA, if CUDA has no error */
} LitheHaloAddress;

const char *LitheHaloMessage_CUDA(int code)
{
  return cudaGetErrorString((cudaError_t)code);
}

/* ------------------------------------------------------------ memory */

/* Allocates the exported memory, zeroed. The caller reports a CUDA error to all processes */
static PetscErrorCode LitheHaloExport_Private(LitheHaloMemory *memory, size_t bytes, LitheHaloAddress *own)
{
  const size_t page = (size_t)2 << 20;
  cudaError_t  error;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(own, sizeof(*own)));
  /* Whole pages: other processes map the whole content of a page */
  error = cudaMalloc((void **)&memory->own, PetscMax((bytes + page - 1) / page, 1) * page);
  if (error == cudaSuccess) error = cudaMemset(memory->own, 0, bytes);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error == cudaSuccess && memory->n) error = cudaIpcGetMemHandle(&own->handle, memory->own);
  own->code = (int)error;
  (void)cudaGetLastError();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges the addresses of exported memory, and maps the memory of all neighbours. code: the first CUDA error */
static PetscErrorCode LitheHaloMap_Private(MPI_Comm comm, LitheHaloMemory *memory, const LitheHaloAddress *own, LitheHaloPlaces places[], int *code)
{
  LitheHaloAddress *sent, *received;
  MPI_Request      *request;
  PetscMPIInt       tag;

  PetscFunctionBegin;
  *code = own->code;
  PetscCall(PetscCommGetNewTag(comm, &tag));
  PetscCall(PetscMalloc3(memory->n, &sent, memory->n, &received, 2 * memory->n, &request));
  for (PetscInt k = 0; k < memory->n; k++) {
    sent[k]        = *own;
    sent[k].places = places[k];
    PetscCallMPI(MPI_Irecv(&received[k], (PetscMPIInt)sizeof(*received), MPI_BYTE, memory->rank[k], tag, comm, &request[2 * k]));
    PetscCallMPI(MPI_Isend(&sent[k], (PetscMPIInt)sizeof(*sent), MPI_BYTE, memory->rank[k], tag, comm, &request[2 * k + 1]));
  }
  PetscCallMPI(MPI_Waitall((PetscMPIInt)(2 * memory->n), request, MPI_STATUSES_IGNORE));
  for (PetscInt k = 0; k < memory->n && !*code; k++) {
    places[k] = received[k].places;
    *code     = received[k].code;
    if (!*code) *code = (int)cudaIpcOpenMemHandle(&memory->mapped[k], received[k].handle, cudaIpcMemLazyEnablePeerAccess);
    if (*code) memory->mapped[k] = NULL;
  }
  (void)cudaGetLastError();
  PetscCall(PetscFree3(sent, received, request));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloMemoryDestroy_Private(MPI_Comm comm, LitheHaloMemory *memory)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < memory->n; k++) {
    if (memory->mapped[k]) PetscCallCUDA(cudaIpcCloseMemHandle(memory->mapped[k]));
  }
  PetscCallMPI(MPI_Barrier(comm));
  PetscCallCUDA(cudaFree(memory->own));
  PetscCall(PetscFree2(memory->mapped, memory->rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloMemoryCreate_Private(MPI_Comm comm, PetscInt n, const PetscMPIInt rank[], size_t bytes, LitheHaloPlaces places[],
                                             LitheHaloMemory *memory, LitheHaloObstacle *obstacle, int *code)
{
  LitheHaloAddress own;

  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  memory->n = n;
  PetscCall(PetscCalloc2(n, &memory->mapped, n, &memory->rank));
  PetscCall(PetscArraycpy(memory->rank, rank, n));
  PetscCall(LitheHaloExport_Private(memory, bytes, &own));
  PetscCall(LitheHaloMap_Private(comm, memory, &own, places, code));
  if (*code) *obstacle = LITHE_HALO_REFUSED;
  PetscCall(LitheHaloAgree_Private(comm, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscCall(LitheHaloMemoryDestroy_Private(comm, memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ timeout */

PetscErrorCode LitheHaloTimeoutCreate_Private(MPI_Comm comm, const PetscMPIInt rank[], const char what[], LitheHaloTimeout *timeout)
{
  LitheHaloFailure *failure;
  PetscReal         seconds = LITHE_HALO_TIMEOUT;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-lithe_halo_timeout", &seconds, NULL));
  PetscCheck(seconds > 0 && seconds < (PetscReal)1e9, comm, PETSC_ERR_ARG_OUTOFRANGE, "-lithe_halo_timeout %g must be a positive number of seconds",
             (double)seconds);
  timeout->limit    = (unsigned long long)(1e9 * (double)seconds);
  timeout->rank     = rank;
  timeout->what     = what;
  timeout->reported = PETSC_FALSE;
  PetscCallCUDA(cudaHostAlloc((void **)&failure, sizeof(*failure), cudaHostAllocMapped));
  failure->neighbour = 0;
  failure->exchange  = 0;
  timeout->failure   = failure; /* the same address on host and device */
  PetscCallCUDA(cudaMalloc((void **)&timeout->failed, sizeof(*timeout->failed)));
  PetscCallCUDA(cudaMemset(timeout->failed, 0, sizeof(*timeout->failed)));
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy)); /* the other streams do not wait for the legacy stream */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloTimeoutCheck_Private(LitheHaloTimeout *timeout, PetscBool once)
{
  const unsigned int neighbour = timeout->failure->neighbour, number = neighbour - 1; /* a device may write the failure now */
  const double       limit = 1e-9 * (double)timeout->limit;

  PetscFunctionBegin;
  if (!neighbour || (once && timeout->reported)) PetscFunctionReturn(PETSC_SUCCESS);
  timeout->reported = PETSC_TRUE;
  PetscCheck(number != LITHE_HALO_ITSELF, PETSC_COMM_SELF, PETSC_ERR_GPU,
             "This process's %s %llu have not left its device within %g seconds (-lithe_halo_timeout): it is busy", timeout->what, timeout->failure->exchange,
             limit);
  SETERRQ(PETSC_COMM_SELF, PETSC_ERR_GPU,
          "Process %d has not sent its %s %llu within %g seconds (-lithe_halo_timeout): it has ended, does something else, or its device is busy",
          timeout->rank ? timeout->rank[number] : (PetscMPIInt)number, timeout->what, timeout->failure->exchange, limit);
}

PetscErrorCode LitheHaloTimeoutDestroy_Private(LitheHaloTimeout *timeout)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(timeout->failed));
  PetscCallCUDA(cudaFreeHost(timeout->failure));
  PetscFunctionReturn(PETSC_SUCCESS);
}
