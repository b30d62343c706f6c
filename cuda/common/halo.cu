/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Entries are copied to arrays of this device and to mapped arrays of neighbouring devices. A flag tells the receiving
   device that all entries have arrived. A kernel of one warp waits for the flag. docs/internals/halo.md explains the
   protocol.
*/

#include "petsccuda.cuh"
#include "halo.cuh"

#define AHEAD   LITHE_HALO_AHEAD
#define TARGETS 24 /* per launch: kernel parameters cost less than reads from memory */

/* Release: a reader of the stored number also sees all earlier writes of the calling thread and of all threads
   synchronised with the calling thread */
static __device__ __forceinline__ void StoreRelease(unsigned long long *p, unsigned long long value)
{
  asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}

/* ------------------------------------------------------------ entries leave */

struct Targets {
  LitheHaloTarget     target[TARGETS];
  PetscInt            blockentries;
  unsigned long long *sent; /* NULL: nobody waits for sent entries */
};

/*
   The target of block b: blocks are counted from the first target on.

   OFFDIAGONAL_BLOCKS blocks of cuda/hyb/offdiagonal.cu may wait for this kernel on the same multiprocessor. The waiting
   blocks leave a quarter of the registers, enough for one sending block.
*/
template <typename Entry>
static __global__ void __launch_bounds__(LITHE_HALO_THREADS, 4)
  PackKernel(const __grid_constant__ Targets targets, const Entry *__restrict__ x, unsigned long long exchange)
{
  PetscInt b = static_cast<PetscInt>(blockIdx.x);
  int      k = 0;

  while (b >= targets.target[k].nblocks) b -= targets.target[k++].nblocks;

  const LitheHaloTarget &t     = targets.target[k];
  Entry *const           array = static_cast<Entry *>(exchange & 1 ? t.array[1] : t.array[0]);
  const PetscInt         begin = b * targets.blockentries;
  const PetscInt         end   = t.count - begin < targets.blockentries ? t.count : begin + targets.blockentries;

  for (PetscInt i = begin + static_cast<PetscInt>(threadIdx.x); i < end; i += AHEAD * LITHE_HALO_THREADS) {
    Entry    entry[AHEAD];
    PetscInt to[AHEAD];

#pragma unroll
    for (int l = 0; l < AHEAD; l++) {
      const PetscInt j = i + l * LITHE_HALO_THREADS;

      if (j < end) {
        entry[l] = x[t.fromlist ? t.fromlist[j] : t.from + j];
        to[l]    = t.tolist ? t.tolist[j] : t.to + j;
      }
    }
#pragma unroll
    for (int l = 0; l < AHEAD; l++) {
      if (i + l * LITHE_HALO_THREADS < end) array[to[l]] = entry[l];
    }
  }

  if (!targets.sent) return;

  /* The last block of a target raises the flag, and counts the target: after the barrier, a thread's fence holds for
     all stores of its block */
  __syncthreads();
  if (threadIdx.x) return;
  __threadfence_system();
  if (t.nblocks > 1) {
    if (atomicAdd(t.done, 1u) + 1u != static_cast<unsigned int>(t.nblocks)) return;
    *t.done = 0;
    __threadfence_system();
  }
  if (t.flag) StoreRelease(t.flag, exchange);
  atomicAdd(targets.sent, 1ull);
}

PetscErrorCode LitheCUDAHaloPack(const LitheHaloPack *pack, const void *dx, unsigned long long exchange, cudaStream_t stream)
{
  Targets targets;

  PetscFunctionBegin;
  targets.blockentries = pack->blockentries;
  targets.sent         = pack->sent;
  for (PetscInt first = 0; first < pack->ntargets; first += TARGETS) {
    const PetscInt n      = PetscMin(TARGETS, pack->ntargets - first);
    PetscInt       blocks = 0;

    for (PetscInt k = 0; k < n; k++) {
      targets.target[k] = pack->target[first + k];
      blocks += targets.target[k].nblocks;
    }
    if (!blocks) continue;
    if (pack->unit == 4)
      PackKernel<<<static_cast<unsigned int>(blocks), LITHE_HALO_THREADS, 0, stream>>>(targets, static_cast<const unsigned int *>(dx), exchange);
    else if (pack->unit == 8)
      PackKernel<<<static_cast<unsigned int>(blocks), LITHE_HALO_THREADS, 0, stream>>>(targets, static_cast<const unsigned long long *>(dx), exchange);
    else PackKernel<<<static_cast<unsigned int>(blocks), LITHE_HALO_THREADS, 0, stream>>>(targets, static_cast<const uint4 *>(dx), exchange);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ and are waited for */

/* A single warp */
static __global__ void WaitKernel(const __grid_constant__ LitheHaloEpoch epoch)
{
  LitheHaloBlockWait(epoch);
}

PetscErrorCode LitheCUDAHaloWait(const LitheHaloEpoch *epoch, cudaStream_t stream)
{
  PetscFunctionBegin;
  if (!epoch->wait.n) PetscFunctionReturn(PETSC_SUCCESS);
  WaitKernel<<<1, 32, 0, stream>>>(*epoch);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
