/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The time limit of threads that wait for another process. After the limit all waiting threads give up, and the host
   reports an error */

#include <lithe/private/cuda/halo.h>

static __device__ __forceinline__ unsigned long long Nanoseconds()
{
  unsigned long long now;

  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
  return now;
}

class Timeout {
public:
  /* number: of the exchange or sum, for the error message of the host */
  __device__ __forceinline__ Timeout(const LitheHaloTimeout &timeout, unsigned int process, unsigned long long number)
      : timeout_(timeout), process_(process), number_(number)
  {
  }

  /* Called after each unsuccessful load. The first 64 loads have neither a pause nor a time limit */
  __device__ __forceinline__ bool IsOver()
  {
    if (rounds_ < 64) {
      rounds_++;
      return false;
    }

    const unsigned long long now = Nanoseconds();

    if (!begin_) begin_ = now;
    /* Messages of this process arrive even after another process has failed. Their memory must not be reused earlier */
    if (process_ != LITHE_HALO_ITSELF && *static_cast<volatile unsigned int *>(timeout_.failed)) return true;
    if (now - begin_ > timeout_.limit) {
      if (atomicCAS(timeout_.failed, 0u, 1u) == 0u) {
        timeout_.failure->exchange = number_;
        __threadfence_system();
        timeout_.failure->process = process_ + 1u;
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
