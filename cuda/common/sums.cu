/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums in any order, on a device: a thread adds the digits of its numbers to the bins */

#include <lithe/private/cuda/sums.h>
#include <lithe/private/lithememory.h>
#include "largest.cuh"
#include "petsccuda.cuh"

#define SUMS_THREADS 256
#define SUMS_BLOCKS  2048 /* at most; each thread adds numbers at a fixed distance */

typedef struct {
  PetscInt64 *bin[LITHE_SUMS_MOST];
} SumsBins;

static unsigned int SumsBlocks(PetscInt n)
{
  return (unsigned int)PetscMax(1, PetscMin((n + SUMS_THREADS - 1) / SUMS_THREADS, SUMS_BLOCKS));
}

static __global__ void SumsLargest(PetscInt n, const PetscReal *__restrict__ x, unsigned long long *largest)
{
  const PetscInt64   step = (PetscInt64)blockDim.x * gridDim.x;
  unsigned long long most = 0;

  for (PetscInt64 i = threadIdx.x + (PetscInt64)blockIdx.x * blockDim.x; i < n; i += step) most = LitheLargestOf(most, static_cast<double>(x[i]));
  LitheLargestPut(most, largest);
}

PetscErrorCode LitheCUDASumsLargest(PetscInt n, const PetscReal x[], PetscReal *largest)
{
  void              *device;
  unsigned long long bits;
  double             value;
  cudaStream_t       stream;

  PetscFunctionBegin;
  PetscCall(LitheCUDAAlloc(sizeof(bits), &device));
  PetscCall(LitheDeviceClear(sizeof(bits), device));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SumsLargest<<<SumsBlocks(n), SUMS_THREADS, 0, stream>>>(n, x, static_cast<unsigned long long *>(device));
  PetscCallCUDA(cudaGetLastError());
  PetscCall(LitheDeviceGet(sizeof(bits), device, &bits));
  PetscCall(LitheCUDAFree(&device));
  memcpy(&value, &bits, sizeof(value));
  *largest = value <= (double)PETSC_MAX_REAL ? (PetscReal)value : (PetscReal)INFINITY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void SumsAdd(PetscInt n, double half, const PetscReal *__restrict__ x, SumsBins bins)
{
  const PetscInt64 step = (PetscInt64)blockDim.x * gridDim.x;

  for (PetscInt64 i = threadIdx.x + (PetscInt64)blockIdx.x * blockDim.x; i < n; i += step) LitheSumsAddDigits((double)x[i], half, bins.bin, i);
}

PetscErrorCode LitheCUDASumsAdd(PetscInt n, double half, const PetscReal x[], PetscInt64 *const bin[])
{
  SumsBins     bins;
  cudaStream_t stream;

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) bins.bin[b] = bin[b];
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SumsAdd<<<SumsBlocks(n), SUMS_THREADS, 0, stream>>>(n, half, x, bins);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void SumsFinish(PetscInt n, double half, SumsBins bins, PetscReal *y)
{
  const PetscInt64 step = (PetscInt64)blockDim.x * gridDim.x;

  for (PetscInt64 i = threadIdx.x + (PetscInt64)blockIdx.x * blockDim.x; i < n; i += step) y[i] = LitheSumsOfDigits(half, bins.bin, i);
}

PetscErrorCode LitheCUDASumsFinish(PetscInt n, double half, PetscInt64 *const bin[], PetscReal y[])
{
  SumsBins     bins;
  cudaStream_t stream;

  PetscFunctionBegin;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) bins.bin[b] = bin[b];
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SumsFinish<<<SumsBlocks(n), SUMS_THREADS, 0, stream>>>(n, half, bins, y);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
