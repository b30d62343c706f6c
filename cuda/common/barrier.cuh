/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Barriers in shared memory between copying and consuming warps, with asynchronous copies: compute capability 9.0 or
   higher */

#include <cstdint>
#include <cuda/ptx>

[[maybe_unused]] static __device__ __forceinline__ void BarrierWait(uint64_t *barrier, uint32_t parity)
{
#if __CUDA_ARCH__ >= 900
  while (!cuda::ptx::mbarrier_try_wait_parity(barrier, parity)) {
  }
#endif
}

[[maybe_unused]] static __device__ __forceinline__ void BarrierArrive(uint64_t *barrier)
{
#if __CUDA_ARCH__ >= 900
  (void)cuda::ptx::mbarrier_arrive(barrier);
#endif
}
