/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Long rows, a block of threads for each: dense arrays by column. Memory of a block is n numbers, so only some blocks
   work at the same time. Numbers of a column are added in the order of the row
*/

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define CAMG_DENSE_BLOCKS 132
  #define CAMG_DENSE_BYTES  (static_cast<size_t>(256) << 20) /* of all blocks, if more than one block works */

/* bits: of columns in the row; owner: INT_MAX; value: 0, between rows */
struct CAMGDense {
  unsigned int *bits;
  int          *owner;
  PetscScalar  *value;
  PetscInt      n, words;
};

static __global__ void CAMGDenseClear(CAMGDense d, PetscInt64 blocks)
{
  CAMG_FOR_ALL(k, blocks * d.words)
  d.bits[k] = 0;
  if (!d.value) return;
  CAMG_FOR_ALL(k, blocks * d.n)
  {
    d.owner[k] = INT_MAX;
    d.value[k] = 0;
  }
}

/* With numbers, or bits only */
static inline PetscErrorCode CAMGDenseCreate(cudaStream_t stream, PetscInt n, bool numbers, CAMGDense *d, unsigned int *blocks)
{
  const size_t each = numbers ? static_cast<size_t>(n) * (sizeof(PetscScalar) + sizeof(int)) : static_cast<size_t>(n) / 8;

  PetscFunctionBegin;
  *blocks  = static_cast<unsigned int>(PetscMax(PetscMin(CAMG_DENSE_BYTES / (each + 1), static_cast<size_t>(CAMG_DENSE_BLOCKS)), static_cast<size_t>(1)));
  *d       = CAMGDense{};
  d->n     = n;
  d->words = (n + 31) / 32;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(*blocks) * d->words, &d->bits));
  if (numbers) {
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(*blocks) * n, &d->owner));
    PetscCall(CAMGAllocate(stream, static_cast<size_t>(*blocks) * n, &d->value));
  }
  CAMGDenseClear<<<PetscMin(CAMGBlocks(static_cast<PetscInt64>(*blocks) * n), 4096u), CAMG_THREADS, 0, stream>>>(*d, *blocks);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CAMGDenseDestroy(cudaStream_t stream, CAMGDense *d)
{
  PetscFunctionBegin;
  PetscCall(CAMGFree(stream, d->bits));
  if (d->owner) PetscCall(CAMGFree(stream, d->owner));
  if (d->value) PetscCall(CAMGFree(stream, d->value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The part of this block */
static __device__ __forceinline__ CAMGDense CAMGDenseOf(CAMGDense d)
{
  d.bits += static_cast<size_t>(blockIdx.x) * d.words;
  if (d.owner) d.owner += static_cast<size_t>(blockIdx.x) * d.n;
  if (d.value) d.value += static_cast<size_t>(blockIdx.x) * d.n;
  return d;
}

/* All threads of a block. before: the sum over earlier threads. Returns the sum over all */
static __device__ __forceinline__ int CAMGBlockScan(int v, int *before)
{
  __shared__ int part[CAMG_THREADS / 32];
  const int      lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int            sum = v, total = 0;

  #pragma unroll
  for (int offset = 1; offset < 32; offset *= 2) {
    const int other = __shfl_up_sync(CAMG_ALL, sum, offset);

    if (lane >= offset) sum += other;
  }
  __syncthreads(); /* the last call has read part[] */
  if (lane == 31) part[warp] = sum;
  __syncthreads();
  *before = sum - v;
  for (int w = 0; w < CAMG_THREADS / 32; w++) {
    if (w < warp) *before += part[w];
    total += part[w];
  }
  return total;
}

/* All threads of a block: add() of threads with the same place is called in the order of the threads. place -1: none */
template <class Add>
static __device__ __forceinline__ void CAMGInOrder(int *owner, PetscInt place, Add add)
{
  bool pending = place >= 0;

  while (__syncthreads_or(pending)) {
    if (pending) atomicMin(&owner[place], static_cast<int>(threadIdx.x));
    __syncthreads();
    if (pending && *static_cast<volatile int *>(&owner[place]) == static_cast<int>(threadIdx.x)) {
      add();
      owner[place] = INT_MAX;
      pending      = false;
    }
  }
}

/* Marks a column; whether it is new */
static __device__ __forceinline__ bool CAMGMark(unsigned int *bits, PetscInt c)
{
  const unsigned int bit = 1u << (c & 31);

  return !(atomicOr(&bits[c >> 5], bit) & bit);
}

/* All threads of a block: emit(k, c) of the k-th marked column, which is cleared */
template <class Emit>
static __device__ __forceinline__ void CAMGEmit(const CAMGDense &d, Emit emit)
{
  int first = 0;

  __syncthreads();
  for (PetscInt base = 0; base < d.words; base += CAMG_THREADS) {
    const PetscInt w    = base + static_cast<PetscInt>(threadIdx.x);
    unsigned int   word = w < d.words ? d.bits[w] : 0;
    int            before;
    const int      total = CAMGBlockScan(__popc(word), &before);

    if (word) d.bits[w] = 0;
    for (int k = first + before; word; k++, word &= word - 1) emit(k, 32 * w + __ffs(static_cast<int>(word)) - 1);
    first += total;
  }
  __syncthreads();
}
#endif
