/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* LitheWindow: memory of devices that all processes of a node read. lithehalo.h */

#include "haloimpl.h"

#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>

struct _n_LitheWindow {
  MPI_Comm        comm;
  PetscMPIInt     rank;
  LitheHaloMemory memory;
};

static PetscErrorCode LitheWindowMap_Private(LitheWindow w, size_t bytes, LitheHaloObstacle *obstacle)
{
  PetscMPIInt      size, n = 0, *other;
  LitheHaloPlaces *places;
  int              code = 0;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(w->comm, &size));
  PetscCallMPI(MPI_Comm_rank(w->comm, &w->rank));
  /* no kernel waits for another process, so a shared device is no obstacle */
  PetscCall(LitheHaloPrecheckIPC_Private(w->comm, PETSC_MEMTYPE_CUDA, LITHE_TRANSPORT_IPC, obstacle));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCalloc2(size, &other, size, &places));
  for (PetscMPIInt r = 0; r < size; r++) {
    if (r != w->rank) other[n++] = r;
  }
  PetscCall(LitheHaloMemoryCreate_Private(w->comm, n, other, bytes, places, &w->memory, obstacle, &code));
  PetscCall(PetscFree2(other, places));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowCreate(MPI_Comm comm, size_t bytes, LitheWindow *window)
{
  LitheHaloObstacle obstacle;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscNew(window));
  PetscCall(PetscCommDuplicate(comm, &(*window)->comm, NULL));
  PetscCall(LitheWindowMap_Private(*window, bytes, &obstacle));
  if (obstacle != LITHE_HALO_POSSIBLE) {
    PetscCall(PetscInfo(NULL, "Processes cannot read each other's device memory: obstacle %d\n", (int)obstacle));
    PetscCall(PetscCommDestroy(&(*window)->comm));
    PetscCall(PetscFree(*window));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowGetMemory(LitheWindow w, PetscMPIInt rank, void **memory)
{
  PetscFunctionBegin;
  *memory = rank == w->rank ? w->memory.own : w->memory.mapped[rank - (rank > w->rank)];
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
  LitheWindow w = *window;

  PetscFunctionBegin;
  *window = NULL;
  if (!w) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheWindowFence(w));
  PetscCall(LitheHaloMemoryDestroy_Private(w->comm, &w->memory));
  PetscCall(PetscCommDestroy(&w->comm));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode LitheWindowCreate(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED size_t bytes, LitheWindow *window)
{
  PetscFunctionBegin;
  *window = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowGetMemory(PETSC_UNUSED LitheWindow w, PETSC_UNUSED PetscMPIInt rank, void **memory)
{
  PetscFunctionBegin;
  *memory = NULL;
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
