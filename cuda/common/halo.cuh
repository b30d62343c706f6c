/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The end of an exchange, for kernels that need the entries: docs/internals/halo.md */

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
   Returns when the number at p is at least number, or after the time limit. An acquiring load empties the first-level
   cache, which other blocks of the multiprocessor use. Only the first and the last load acquire.
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
   All threads of a block call this function. At return ghost[] has the entries of the neighbours and of this process,
   and x may be written again. The kernel may have begun before the previous kernel ended (pdl.cuh). A time limit
   applies to each neighbour and to the messages of this process. After the limit all waiting threads give up, the host
   gets an error, and ghost[] is undefined.

   If another kernel has yet to send, the calling kernel leaves room for the sending blocks. Otherwise the caller would
   wait for a kernel that cannot run.
*/
static __device__ __forceinline__ void LitheHaloBlockWait(const LitheHaloEpoch &epoch)
{
  for (PetscInt k = static_cast<PetscInt>(threadIdx.x); k < epoch.wait.n; k += static_cast<PetscInt>(blockDim.x))
    WaitForFlag(&epoch.wait.flag[k], epoch.exchange, Timeout(epoch.wait.timeout, static_cast<unsigned int>(k), epoch.exchange));
  if (epoch.sent && threadIdx.x == 0) WaitForFlag(epoch.sent, epoch.nsent, Timeout(epoch.wait.timeout, LITHE_HALO_ITSELF, epoch.exchange));
  __syncthreads();
}
