/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Memory of MATBORN on a device */

#include <petscdevice.h>
#include <lithe/private/cuda/born.h>
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememory.h>
#include "../common/petsccuda.cuh"

static PetscErrorCode BornDeviceCreate(size_t bytes, void **x)
{
  cudaError_t code;

  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  *x   = nullptr;
  code = cudaMalloc(x, bytes ? bytes : 1);
  if (code == cudaErrorMemoryAllocation) (void)cudaGetLastError();
  PetscCheck(code != cudaErrorMemoryAllocation, PETSC_COMM_SELF, PETSC_ERR_MEM,
             "The device has no room for %g bytes of a matrix of type born; -mat_born_background random or ring needs less than keep", (double)bytes);
  PetscCallCUDA(code);
  PetscCall(LitheDeviceClear(bytes, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornCreate(PetscBool host, size_t bytes, void **x)
{
  PetscFunctionBegin;
  if (!host) PetscCall(BornDeviceCreate(bytes, x));
  else {
    PetscCallCUDA(cudaHostAlloc(x, bytes, cudaHostAllocDefault));
    PetscCall(PetscMemzero(*x, bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornDestroy(PetscBool host, void **x)
{
  PetscFunctionBegin;
  if (!host) PetscCall(LitheCUDAFree(x));
  else if (*x) PetscCallCUDA(cudaFreeHost(*x));
  *x = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether memory is the device's; memory not made by CUDA is the host's */
static PetscErrorCode BornIsOnDevice(const void *x, bool *device)
{
  cudaPointerAttributes attributes;

  PetscFunctionBegin;
  PetscCallCUDA(cudaPointerGetAttributes(&attributes, x));
  *device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornCopy(size_t bytes, const void *from, void *to)
{
  cudaStream_t stream;
  bool         device[2];

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(BornIsOnDevice(from, &device[0]));
  PetscCall(BornIsOnDevice(to, &device[1]));
  PetscCallCUDA(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
  if (!device[0] || !device[1]) PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornBorrow(size_t n, const PetscReal *any, PetscBool read, PetscReal **mine)
{
  bool device;

  PetscFunctionBegin;
  PetscCall(BornIsOnDevice(any, &device));
  if (device) *mine = const_cast<PetscReal *>(any);
  else {
    PetscCall(BornDeviceCreate(n * sizeof(PetscReal), reinterpret_cast<void **>(mine)));
    if (read) PetscCall(LitheCUDABornCopy(n * sizeof(PetscReal), any, *mine));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornGiveBack(size_t n, PetscReal *any, PetscBool written, PetscReal **mine)
{
  PetscFunctionBegin;
  if (*mine != any) {
    if (written) PetscCall(LitheCUDABornCopy(n * sizeof(PetscReal), *mine, any));
    PetscCall(LitheCUDAFree(reinterpret_cast<void **>(mine)));
  }
  *mine = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ points */

template <class T>
static PetscErrorCode BornUpload(PetscInt n, const T *from, T **to)
{
  PetscFunctionBegin;
  PetscCall(BornDeviceCreate(static_cast<size_t>(n) * sizeof(T), reinterpret_cast<void **>(to)));
  if (n) PetscCall(LitheCUDABornCopy(static_cast<size_t>(n) * sizeof(T), from, *to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornPoints(const BornPoints *host, BornPoints *mine)
{
  const PetscInt entries = host->nodefirst[host->nodes];

  PetscFunctionBegin;
  *mine         = *host;
  mine->entries = host->first[host->points];
  PetscCall(BornUpload(host->points + 1, host->first, &mine->first));
  PetscCall(BornUpload(mine->entries, host->place, &mine->place));
  PetscCall(BornUpload(mine->entries, host->weight, &mine->weight));
  PetscCall(BornUpload(host->nodes + 1, host->nodefirst, &mine->nodefirst));
  PetscCall(BornUpload(host->nodes, host->node, &mine->node));
  PetscCall(BornUpload(entries, host->point, &mine->point));
  PetscCall(BornUpload(entries, host->nodeweight, &mine->nodeweight));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornPointsDestroy(BornPoints *mine)
{
  void **const arrays[] = {reinterpret_cast<void **>(&mine->first),     reinterpret_cast<void **>(&mine->place), reinterpret_cast<void **>(&mine->weight),
                           reinterpret_cast<void **>(&mine->nodefirst), reinterpret_cast<void **>(&mine->node),  reinterpret_cast<void **>(&mine->point),
                           reinterpret_cast<void **>(&mine->nodeweight)};

  PetscFunctionBegin;
  for (void **array : arrays) PetscCall(LitheCUDAFree(array));
  mine->points = mine->nodes = mine->entries = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
