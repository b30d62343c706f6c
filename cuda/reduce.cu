/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Sums over processes that map each other's memory, in one kernel of one block. A number travels as two words of 8 bytes, which arrive
   whole: half of a word is half of the number, the other half tells of which sum it is. So there is no flag beside, and no fence.
   docs/halo.md says why two inboxes are enough.
*/

#include "patience.cuh"
#include <petscdevice_cuda.h>

#define THREADS 512

/* Two words at once */
static __device__ __forceinline__ void Send(void *to, double value, unsigned int sum)
{
  const unsigned long long tag = static_cast<unsigned long long>(sum) << 32, bits = static_cast<unsigned long long>(__double_as_longlong(value));

  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(to), "l"(tag | (bits & 0xffffffffu)), "l"(tag | (bits >> 32))
               : "memory");
}

/* Waits for both. NaN if they do not come, which nobody takes for a sum */
static __device__ __forceinline__ double Receive(const void *from, unsigned int sum, Patience patience)
{
  unsigned long long low, high;

  for (;;) {
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];"
                 : "=l"(low), "=l"(high)
                 : "l"(from)
                 : "memory");
    if (low >> 32 == sum && high >> 32 == sum) return __longlong_as_double(static_cast<long long>(high << 32 | (low & 0xffffffffu)));
    if (patience.IsOver()) return __longlong_as_double(0x7ff8000000000000ll);
  }
}

/* A thread has one process, and every chunk-th number of it */
static __global__ void __launch_bounds__(THREADS) ReduceKernel(const __grid_constant__ LitheReducePeers peers, PetscInt n, PetscReal *a, unsigned long long number)
{
  __shared__ double  part[THREADS];
  const int          chunk = THREADS / peers.size, process = static_cast<int>(threadIdx.x) / chunk, first = static_cast<int>(threadIdx.x) % chunk;
  const bool         works = process < peers.size, own = process == peers.rank;
  const size_t       slot = static_cast<size_t>(peers.stride) * 16, parity = static_cast<size_t>(number & 1) * peers.size;
  const unsigned int sum = static_cast<unsigned int>(number);

  if (works && !own) {
    char *to = static_cast<char *>(peers.inbox[process]) + (parity + peers.rank) * slot;

    for (PetscInt i = first; i < n; i += chunk) Send(to + 16 * static_cast<size_t>(i), static_cast<double>(a[i]), sum);
  }
  for (PetscInt begin = 0; begin < n; begin += chunk) {
    const PetscInt i = begin + first;

    if (works && i < n) {
      const char *from = static_cast<const char *>(peers.inbox[peers.rank]) + (parity + process) * slot + 16 * static_cast<size_t>(i);

      part[threadIdx.x] = own ? static_cast<double>(a[i]) : Receive(from, sum, Patience(peers.patience, static_cast<unsigned int>(process), number));
    }
    /* All numbers of this chunk are there, and have been sent before any of them becomes a sum */
    __syncthreads();
    if (process == 0 && i < n) {
      double total = part[first];

      for (int r = 1; r < peers.size; r++) total += part[r * chunk + first];
      a[i] = static_cast<PetscReal>(total);
    }
    __syncthreads();
  }
}

PetscErrorCode LitheCUDAReduce(const LitheReducePeers *peers, PetscInt n, PetscReal *da, unsigned long long number, cudaStream_t stream)
{
  PetscFunctionBegin;
  ReduceKernel<<<1, THREADS, 0, stream>>>(*peers, n, da, number);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void __launch_bounds__(THREADS) GatheredKernel(int size, PetscInt n, const PetscReal *__restrict__ all, PetscReal *__restrict__ a)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x * THREADS + threadIdx.x);
  double         total;

  if (i >= n) return;
  total = static_cast<double>(all[i]);
  for (int r = 1; r < size; r++) total += static_cast<double>(all[static_cast<size_t>(r) * n + i]);
  a[i] = static_cast<PetscReal>(total);
}

PetscErrorCode LitheCUDAReduceGathered(int size, PetscInt n, const PetscReal *dall, PetscReal *da, cudaStream_t stream)
{
  PetscFunctionBegin;
  GatheredKernel<<<static_cast<unsigned int>((n + THREADS - 1) / THREADS), THREADS, 0, stream>>>(size, n, dall, da);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
