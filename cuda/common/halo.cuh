/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The end of an exchange, for kernels that need its entries: docs/halo.md */

#include "timeout.cuh"

static __device__ __forceinline__ unsigned long long LoadAcquire(const unsigned long long *p)
{
  unsigned long long value;

  asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}

static __device__ __forceinline__ unsigned long long LoadRelaxed(const unsigned long long *p)
{
  unsigned long long value;

  asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(value) : "l"(p) : "memory");
  return value;
}

/*
   Until a number is that large. Each look that acquires empties the first-level cache, which others of the
   multiprocessor have a use for: so only the first and the last one do
*/
static __device__ __forceinline__ void WaitForFlag(const unsigned long long *p, unsigned long long number, Timeout timeout)
{
  while (LoadAcquire(p) < number) {
    do {
      if (timeout.IsOver()) return;
    } while (LoadRelaxed(p) < number);
  }
}

/*
   By all threads of a block: then the neighbours' entries are in ghost[], and those that this process gives itself, and
   x may be written again. So ghost[] may be read also by a kernel that has begun
   while the one before has not ended (pdl.cuh). A neighbour that is late is given some time, as is what this process
   sends; then all that wait give up, and the host is told: ghost[] is of no meaning then.

   A kernel that does this while another one is to send has no more blocks than leave room for that one's, so that it
   does not wait for what it keeps from running.
*/
static __device__ __forceinline__ void LitheHaloReceive(const LitheHaloEpoch &epoch)
{
  for (PetscInt k = static_cast<PetscInt>(threadIdx.x); k < epoch.wait.n; k += static_cast<PetscInt>(blockDim.x))
    WaitForFlag(&epoch.wait.flag[k], epoch.exchange, Timeout(epoch.wait.timeout, static_cast<unsigned int>(k), epoch.exchange));
  if (epoch.sent && threadIdx.x == 0) WaitForFlag(epoch.sent, epoch.nsent, Timeout(epoch.wait.timeout, LITHE_HALO_ITSELF, epoch.exchange));
  __syncthreads();
}
