/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Threads that wait for another process. One that is late is given some time; then all that wait give up, and the host is told */

#include <lithe/private/lithecudahalo.h>

static __device__ __forceinline__ unsigned long long Nanoseconds()
{
  unsigned long long now;

  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

class Timeout {
public:
  /* number: what is waited for, as the host will be told */
  __device__ __forceinline__ Timeout(const LitheHaloTimeout &timeout, unsigned int process, unsigned long long number)
      : timeout_(timeout), process_(process), number_(number)
  {
  }

  /* To be asked after each look that was in vain. At first looks follow each other as fast as memory answers, and nobody gives up */
  __device__ __forceinline__ bool IsOver()
  {
    if (rounds_ < 64) {
      rounds_++;
      return false;
    }

    const unsigned long long now = Nanoseconds();

    if (!begin_) begin_ = now;
    /* what this process sends comes all the same, and nobody may overwrite it before */
    if (process_ != LITHE_HALO_ITSELF && *static_cast<volatile unsigned int *>(timeout_.failed)) return true;
    if (now - begin_ > timeout_.limit) {
      if (atomicCAS(timeout_.failed, 0u, 1u) == 0u) {
        timeout_.failure->exchange = number_;
        __threadfence_system();
        timeout_.failure->neighbour = process_ + 1u;
        __threadfence_system();
      }
      return true;
    }
    __nanosleep(100);
    return false;
  }

private:
  const LitheHaloTimeout &timeout_;
  unsigned int            process_;
  unsigned long long      number_, begin_ = 0;
  int                     rounds_ = 0;
};
