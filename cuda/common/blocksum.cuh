/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The sum of all threads of a block, in thread 0, always in the same order */
template <int threads>
static __device__ __forceinline__ double BlockSum(double s)
{
  __shared__ double partial[threads / 32];

#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) s += __shfl_xor_sync(0xffffffffu, s, offset);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = s;
  __syncthreads();
  s = 0;
  if (threadIdx.x == 0)
    for (int w = 0; w < threads / 32; w++) s += partial[w];
  return s;
}
