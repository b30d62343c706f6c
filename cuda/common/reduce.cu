/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums over processes: a kernel of a single block for processes with mapped memory, and a kernel that adds numbers
   gathered by NCCL */

#include "petsccuda.cuh"
#include "reduce.cuh"

#define REDUCE_THREADS 512

/* Each thread receives numbers of a process, and handles every chunk-th number */
static __global__ void __launch_bounds__(REDUCE_THREADS) ReduceKernel(const __grid_constant__ LitheReduceEpoch epoch, PetscInt n, PetscReal *a)
{
  __shared__ double part[REDUCE_THREADS];
  const int         size = epoch.peers.size, chunk = REDUCE_THREADS / size, process = static_cast<int>(threadIdx.x) / chunk,
            first  = static_cast<int>(threadIdx.x) % chunk;
  const bool works = process < size, own = process == epoch.peers.rank;

  if (works && !own) {
    for (PetscInt i = first; i < n; i += chunk) LitheReduceSend(epoch, process, i, static_cast<double>(a[i]));
  }
  for (PetscInt begin = 0; begin < n; begin += chunk) {
    const PetscInt i = begin + first;

    if (works && i < n) part[threadIdx.x] = own ? static_cast<double>(a[i]) : LitheReduceReceive(epoch, process, i);
    /* All numbers of the chunk have been sent and received, so sums may overwrite a[] */
    __syncthreads();
    if (process == 0 && i < n) {
      double total = part[first];

      for (int r = 1; r < size; r++) total += part[r * chunk + first];
      a[i] = static_cast<PetscReal>(total);
    }
    __syncthreads();
  }
}

PetscErrorCode LitheCUDAReduce(const LitheReduceEpoch *epoch, PetscInt n, PetscReal *da, cudaStream_t stream)
{
  PetscFunctionBegin;
  ReduceKernel<<<1, REDUCE_THREADS, 0, stream>>>(*epoch, n, da);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(REDUCE_THREADS) GatheredKernel(int size, PetscInt n, const PetscReal *__restrict__ all, PetscReal *__restrict__ a)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x * REDUCE_THREADS + threadIdx.x);
  double         total;

  if (i >= n) return;
  total = static_cast<double>(all[i]);
  for (int r = 1; r < size; r++) total += static_cast<double>(all[static_cast<size_t>(r) * n + i]);
  a[i] = static_cast<PetscReal>(total);
}

PetscErrorCode LitheCUDAReduceGathered(int size, PetscInt n, const PetscReal *dall, PetscReal *da, cudaStream_t stream)
{
  PetscFunctionBegin;
  GatheredKernel<<<static_cast<unsigned int>((n + REDUCE_THREADS - 1) / REDUCE_THREADS), REDUCE_THREADS, 0, stream>>>(size, n, dall, da);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
