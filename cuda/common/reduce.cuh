/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Sums over processes with mapped memory, inside kernels. Each process sends every number to all peers. Received
   numbers are added in the order of the processes.

   A number travels as two words of 8 bytes, which arrive whole. Half of a word is half of the number; the second half
   is the index of the sum. Neither flags nor fences are needed. docs/internals/halo.md says why two inboxes are enough.

   A block sends all numbers before the first receive. No more blocks are launched than fit on the device at the same
   time, even with one block per multiprocessor. Otherwise waiting blocks could keep other blocks, on any process, from
   sending.
*/

#include "timeout.cuh"

/* The place of number i, sent by process `from`, in the inbox of process `to`. An inbox has [2][size][stride] places of
   16 bytes */
static __device__ __forceinline__ char *LitheReducePlace(const LitheReduceEpoch &epoch, int to, int from, PetscInt i)
{
  const size_t row = static_cast<size_t>(epoch.number & 1) * epoch.peers.size + from;

  return static_cast<char *>(epoch.peers.inbox[to]) + 16 * (row * static_cast<size_t>(epoch.peers.stride) + static_cast<size_t>(i));
}

/* Two words at once */
static __device__ __forceinline__ void LitheReduceSend(const LitheReduceEpoch &epoch, int to, PetscInt i, double value)
{
  const unsigned long long tag = epoch.number << 32, bits = static_cast<unsigned long long>(__double_as_longlong(value));

  asm volatile("st.relaxed.sys.global.v2.u64 [%0], {%1, %2};" ::"l"(LitheReducePlace(epoch, to, epoch.peers.rank, i)), "l"(tag | (bits & 0xffffffffu)),
               "l"(tag | (bits >> 32))
               : "memory");
}

/* Waits for both words. Returns NaN after the time limit; callers do not accept a NaN as a sum */
static __device__ __forceinline__ double LitheReduceReceive(const LitheReduceEpoch &epoch, int from, PetscInt i)
{
  const char *const  place = LitheReducePlace(epoch, epoch.peers.rank, from, i);
  const unsigned int sum   = static_cast<unsigned int>(epoch.number);
  Timeout            timeout(epoch.peers.timeout, static_cast<unsigned int>(from), epoch.number);
  unsigned long long low, high;

  for (;;) {
    asm volatile("ld.relaxed.sys.global.v2.u64 {%0, %1}, [%2];" : "=l"(low), "=l"(high) : "l"(place) : "memory");
    if (low >> 32 == sum && high >> 32 == sum) return __longlong_as_double(static_cast<long long>(high << 32 | (low & 0xffffffffu)));
    if (timeout.IsOver()) return __longlong_as_double(0x7ff8000000000000ll);
  }
}
