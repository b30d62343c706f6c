/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The largest modulus of numbers, as bits. As integers, bits of moduli have the order of the moduli, and a NaN is the
   largest. The order of the threads does not matter.
*/

static __device__ __forceinline__ unsigned long long LitheLargestOf(unsigned long long most, double x)
{
  return max(most, static_cast<unsigned long long>(__double_as_longlong(fabs(x))));
}

/* All threads of a warp take part */
static __device__ __forceinline__ void LitheLargestPut(unsigned long long most, unsigned long long *largest)
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (threadIdx.x % 32 == 0 && most) atomicMax(largest, most);
}
