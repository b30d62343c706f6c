/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The blocks of a cluster: barriers, and numbers in the shared memory of another block. The kernel is in small.cuh */

#include <cstdint>

static __device__ __forceinline__ unsigned int SmallRank()
{
  unsigned int r = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
#endif
  return r;
}

static __device__ __forceinline__ void SmallClusterBarrier()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ unsigned int SmallAddress(const void *p)
{
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

/* The same address in the shared memory of another block */
static __device__ __forceinline__ unsigned int SmallThere(unsigned int mine, unsigned int rank)
{
  unsigned int there = mine;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank));
#endif
  return there;
}

static __device__ __forceinline__ float SmallRemote(const float *p, unsigned int rank)
{
  float v = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(SmallThere(SmallAddress(p), rank)) : "memory");
#endif
  return v;
}

/* The memory of a block: the image, then changing data */
static __device__ __forceinline__ float4 *SmallFours()
{
  extern __shared__ float4 smallmemory[];

  return smallmemory;
}

static __device__ __forceinline__ float *SmallNumbers()
{
  return reinterpret_cast<float *>(SmallFours());
}

static __device__ __forceinline__ unsigned short *SmallCodes()
{
  return reinterpret_cast<unsigned short *>(SmallFours());
}

static __device__ __forceinline__ void SmallWait(const uint64_t *barrier, unsigned int parity)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int done = 0;

  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(SmallAddress(barrier)), "r"(parity)
                 : "memory");
  }
#endif
}

static __device__ __forceinline__ void SmallBarrierInit(uint64_t *barrier, unsigned int count)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SmallAddress(barrier)), "r"(count) : "memory");
#endif
}

/*
   A barrier of the cluster: each block notifies every block, and waits for all notifications. The hardware barrier
   includes all threads, and takes twice as long. Two barriers alternate, so that no block can be a whole turn of one
   barrier ahead.
*/
struct SmallCluster {
  uint64_t                       *barrier; /* [2], in shared memory */
  unsigned int                    turn, blocks;
  __device__ __forceinline__ void Wait()
  {
    const uint64_t *const b = barrier + (turn & 1);

    __syncthreads();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x < blocks)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(SmallThere(SmallAddress(b), threadIdx.x)) : "memory");
#endif
    SmallWait(b, (turn >> 1) & 1);
    turn++;
  }
};
