/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The coarsest of the small levels: the product with a dense matrix */

#include "smallsweep.cuh"

#define SMALL_GROUP 4  /* threads per row of the dense matrix */
#define SMALL_APART 16 /* the same if rows are divided among the blocks: a block has some 30 rows */

/* An unknown of the coarsest level in this block. at: its code, or -1 - well */
static __device__ __forceinline__ float *SmallUnknown(int at, int cells, int n, float *wells)
{
  return at < 0 ? wells - 1 - at : SmallNumbers() + cells + (at & 1 ? n : 0) + (at >> 1 & (GRIDMG_SMALL_SLOTS - 1));
}

/* x = S L^T L S b, or S L S b, by a block with the whole matrix. All blocks do the same work */
static __device__ __forceinline__ void SmallDenseHere(const GridMGSmallCycle &m, const SmallArrays &a, const SmallListArrays &w)
{
  unsigned char *const memory = reinterpret_cast<unsigned char *>(SmallFours());
  const int            n = m.dense.n, group = static_cast<int>(threadIdx.x) / SMALL_GROUP, within = static_cast<int>(threadIdx.x) % SMALL_GROUP;
  const int            groups = static_cast<int>(blockDim.x) / SMALL_GROUP, rounds = (n + groups - 1) / groups;
  const int *const     at = reinterpret_cast<const int *>(memory + m.dense.unknowns);
  const float *const S = reinterpret_cast<const float *>(at + n), *const L = reinterpret_cast<const float *>(memory + m.dense.packed);
  float *const v = reinterpret_cast<float *>(memory + m.imagebytes + m.dense.scratch), *const y = v + n;

  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) v[c] = S[c] * *SmallUnknown(at[c], a.b, a.n, w.b);
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int i   = group + groups * round;
    float     sum = 0;

    if (i < n) {
      const float *row = L + (m.dense.symmetric ? i * (i + 1) / 2 : i * n);
      const int    end = m.dense.symmetric ? i + 1 : n;

#pragma unroll 4
      for (int j = within; j < end; j += SMALL_GROUP) sum += row[j] * v[j];
    }
    sum = SmallGroupSum<SMALL_GROUP>(sum);
    if (i < n && within == 0) y[i] = sum;
  }
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int c   = group + groups * round;
    float     sum = 0;

    if (m.dense.symmetric) {
      if (c < n) {
#pragma unroll 4
        for (int j = c + within; j < n; j += SMALL_GROUP) sum += L[j * (j + 1) / 2 + c] * y[j];
      }
      sum = SmallGroupSum<SMALL_GROUP>(sum);
    } else if (c < n) sum = y[c];
    if (c < n && within == 0) *SmallUnknown(at[c], a.x, a.n, w.x) = S[c] * sum;
  }
}

/*
   The same product by all blocks together. A block computes y = L S b for its rows, and the contribution of its rows to
   S L^T y. After one barrier, each block adds the contributions of all blocks to its unknowns. here: the rows are in
   shared memory.
*/
template <bool here>
static __device__ __forceinline__ void SmallDenseApart(const GridMGSmallCycle &m, bool single, const SmallArrays &a, const SmallListArrays &w,
                                                       unsigned int rank, SmallCluster &cluster)
{
  __shared__ float     y[GRIDMG_SMALL_MOST / 8];
  unsigned char *const memory = reinterpret_cast<unsigned char *>(SmallFours());
  const int            n = m.dense.n, mine = static_cast<int>(rank), blocks = m.cluster, rows = SmallDenseRows(m, mine);
  const int            group = static_cast<int>(threadIdx.x) / SMALL_APART, within = static_cast<int>(threadIdx.x) % SMALL_APART;
  const int            groups = static_cast<int>(blockDim.x) / SMALL_APART, lane = static_cast<int>(threadIdx.x) % 32;
  const int *const     at = reinterpret_cast<const int *>(memory + m.dense.unknowns);
  const float *const   S  = reinterpret_cast<const float *>(at + n);
  float *const v = reinterpret_cast<float *>(memory + m.imagebytes + m.dense.scratch), *const part = v + n;
  const auto row = [&](int r) -> const float * {
    if (here) return reinterpret_cast<const float *>(memory + m.dense.packed) + SmallDenseRow(m, mine, r);
    return m.dense.L + static_cast<size_t>(mine + blocks * r) * n;
  };

  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
    const int place = at[c], array = a.b + (place & 1 ? a.n : 0);
    float     b;

    if (place < 0) b = w.b[-1 - place];
    else if (single) b = SmallGet<true>(array, static_cast<unsigned int>(place));
    else b = SmallGet<false>(array, static_cast<unsigned int>(place));
    v[c] = S[c] * b;
  }
  __syncthreads();
  for (int from = 0; from < rows; from += groups) {
    const int r   = from + group;
    float     sum = 0;

    if (r < rows) {
      const float *const L   = row(r);
      const int          end = m.dense.symmetric ? mine + blocks * r + 1 : n;

#pragma unroll 8
      for (int j = within; j < end; j += SMALL_APART) sum += L[j] * v[j];
    }
    sum = SmallGroupSum<SMALL_APART>(sum);
    if (r < rows && within == 0) y[r] = sum;
  }
  __syncthreads();
  if (m.dense.symmetric) {
    for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
      const int    first = max(0, c - lane - mine) / blocks; /* the first row with a column of this warp, or one before */
      const float *L     = row(first) + c;
      float        sum   = 0;

#pragma unroll 4
      for (int r = first; r < rows; r++) {
        if (mine + blocks * r >= c) sum += *L * y[r];
        L += here ? mine + 1 + blocks * r : blocks * n;
      }
      part[c] = sum;
    }
  }
  cluster.Wait();
  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
    const int place = at[c];
    float     sum   = 0;

    if (!single && place >= 0 && place >> 12 != mine) continue;
    if (m.dense.symmetric) {
#pragma unroll 16
      for (int block = 0; block < blocks; block++) sum += SmallRemote(part + c, static_cast<unsigned int>(block));
    } else sum = SmallRemote(y + c / blocks, static_cast<unsigned int>(c % blocks));
    *SmallUnknown(place, a.x, a.n, w.x) = S[c] * sum;
  }
}
