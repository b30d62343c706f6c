/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Windows of device memory, mapped by CUDA IPC. One pool for each communicator serves all classes. lithehalo.h */

#include "haloimpl.h"

#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>

const char *LitheHaloMessage_CUDA(int code)
{
  return cudaGetErrorString((cudaError_t)code);
}

/* ------------------------------------------------------------ the pool's memory */

/* An error is a result, and must not remain for later calls */
static int CodeOf(cudaError_t error)
{
  (void)cudaGetLastError();
  return (int)error;
}

static int Create(size_t bytes, void **own, LithePoolHandle *handle)
{
  cudaError_t error = cudaMalloc(own, bytes);

  if (error != cudaSuccess) *own = NULL;
  else if (handle) error = cudaIpcGetMemHandle((cudaIpcMemHandle_t *)handle, *own);
  return CodeOf(error);
}

static int Destroy(void *own)
{
  return CodeOf(cudaFree(own));
}

static int Map(const LithePoolHandle *handle, PETSC_UNUSED size_t bytes, void **there)
{
  return CodeOf(cudaIpcOpenMemHandle(there, *(const cudaIpcMemHandle_t *)handle, cudaIpcMemLazyEnablePeerAccess));
}

static int Unmap(void *there, PETSC_UNUSED size_t bytes)
{
  return CodeOf(cudaIpcCloseMemHandle(there));
}

static int Clear(void *own, size_t bytes)
{
  cudaError_t error = cudaMemset(own, 0, bytes);

  return CodeOf(error == cudaSuccess ? cudaDeviceSynchronize() : error);
}

/* Whole pages of 2 MiB: other processes map the whole content of a page */
static const LithePoolOps operations =
  {.page = (size_t)2 << 20, .chunk = (size_t)32 << 20, .create = Create, .destroy = Destroy, .map = Map, .unmap = Unmap, .clear = Clear};

PetscErrorCode LitheHaloWindow_Private(MPI_Comm comm, PetscInt n, const PetscMPIInt rank[], size_t bytes, LitheWindow *w, LitheHaloObstacle *obstacle,
                                       int *code)
{
  LitheHaloFacts *facts;

  PetscFunctionBegin;
  PetscCall(LitheHaloGetFacts_Private(comm, &facts));
  if (!facts->pool) PetscCall(LithePoolCreate(comm, &operations, &facts->pool));
  PetscCall(LithePoolTake(facts->pool, n, rank, bytes, w, code));
  *obstacle = *code ? LITHE_HALO_REFUSED : LITHE_HALO_POSSIBLE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ windows */

PetscErrorCode LitheWindowCreate(MPI_Comm comm, size_t bytes, LitheWindow *window)
{
  MPI_Comm          inner;
  PetscMPIInt       size;
  LitheHaloObstacle obstacle;
  int               code;

  PetscFunctionBegin;
  *window = NULL;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscCommDuplicate(comm, &inner, NULL)); /* the pool lives until LitheWindowDestroy() */
  /* no kernel waits for another process, so a shared device is no obstacle */
  PetscCall(LitheHaloPrecheckIPC_Private(inner, PETSC_MEMTYPE_CUDA, LITHE_TRANSPORT_IPC, &obstacle));
  if (obstacle == LITHE_HALO_POSSIBLE) {
    PetscCallMPI(MPI_Comm_size(inner, &size));
    PetscCall(LitheHaloWindow_Private(inner, size, NULL, bytes, window, &obstacle, &code));
  }
  if (!*window) {
    PetscCall(PetscInfo(NULL, "Processes cannot read each other's device memory: obstacle %d\n", (int)obstacle));
    PetscCall(PetscCommDestroy(&inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowFence(LitheWindow w)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallMPI(MPI_Barrier(w->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowDestroy(LitheWindow *window)
{
  MPI_Comm inner;

  PetscFunctionBegin;
  if (!*window) PetscFunctionReturn(PETSC_SUCCESS);
  inner = (*window)->comm;
  PetscCall(LitheWindowFence(*window));
  PetscCall(LithePoolGiveBack(window));
  PetscCall(PetscCommDestroy(&inner));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode LitheWindowCreate(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED size_t bytes, LitheWindow *window)
{
  PetscFunctionBegin;
  *window = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowFence(PETSC_UNUSED LitheWindow w)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowDestroy(LitheWindow *window)
{
  PetscFunctionBegin;
  *window = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
