/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   LitheDeviceMemory: memory of a device in the order of PETSc's current stream. A set-up allocates some hundred arrays,
   and cudaMalloc() takes longer than most of its kernels; the pool of the device keeps what is freed until a trim.
   LitheCUDAMemory: arrays that live long, for which a pool would keep memory from the rest of the program.
*/

#include "graph.cuh"
#include <petscdevice.h>
#include <lithe/private/lithememory.h>

PetscErrorCode LitheDeviceAlloc(size_t bytes, void **x)
{
  static PetscBool   ready = PETSC_FALSE;
  cudaStream_t       stream;
  cudaMemPool_t      pool;
  unsigned long long most = ~0ULL;
  int                device;

  PetscFunctionBegin;
  if (!ready) {
    PetscCallCUDA(cudaGetDevice(&device));
    PetscCallCUDA(cudaDeviceGetDefaultMemPool(&pool, device));
    PetscCallCUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &most));
    ready = PETSC_TRUE;
  }
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMallocAsync(x, bytes ? bytes : 1, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceClear(size_t bytes, void *x)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(x, 0, bytes, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceCopy(size_t bytes, const void *from, void *to)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDevicePut(size_t bytes, const void *host, void *x)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceGet(size_t bytes, const void *x, void *host)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceFree(void **x)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (*x) PetscCallCUDA(cudaFreeAsync(*x, stream));
  *x = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceTrim(void)
{
  cudaMemPool_t pool;
  int           device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetDefaultMemPool(&pool, device));
  PetscCallCUDA(cudaMemPoolTrimTo(pool, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAAlloc(size_t bytes, void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  *x = nullptr;
  PetscCallCUDA(cudaMalloc(x, bytes ? bytes : 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAFree(void **x)
{
  PetscFunctionBegin;
  if (*x) PetscCallCUDA(cudaFree(*x));
  *x = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheDeviceRoom(size_t *bytes)
{
  size_t all;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCallCUDA(cudaMemGetInfo(bytes, &all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
