/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Operations on small levels: smoothing, residuals, and moves between levels; the same for wells and edges of lists */

#include "smallimage.cuh"

/* solve: Gauss-Seidel on a colour; residual: the remaining residual */
template <bool solve, bool residual, int colour, bool local>
static __device__ __forceinline__ void SmallSweepOf(const SmallArrays &a)
{
  const int n = a.n, other = a.x + (1 - colour) * n;

  for (int p = static_cast<int>(threadIdx.x); p < n; p += static_cast<int>(blockDim.x)) {
    const float4       u = SmallFours()[a.first + colour * n + p], v = SmallFours()[a.second + colour * n + p];
    const unsigned int flags = SmallCodes()[a.flags + p], code0 = SmallCodes()[a.neighbour + p], code1 = SmallCodes()[a.neighbour + n + p],
                       code2 = SmallCodes()[a.neighbour + 2 * n + p], code3 = SmallCodes()[a.neighbour + 3 * n + p];
    const float b = SmallNumbers()[a.b + colour * n + p], in = SmallNumbers()[other + p];
    const float side   = SmallNumbers()[other + (static_cast<int>(flags >> 2 & 1) != colour ? min(p + 1, n - 1) : max(p - 1, 0))];
    const float before = SmallGet<local>(other, code0), behind = SmallGet<local>(other, code1), below = SmallGet<local>(other, code2),
                above = SmallGet<local>(other, code3);
    float x;

    if (solve) {
      x                                    = v.w * (b + ((u.x * in + u.y * side) + (u.z * before + u.w * behind)) + (v.x * below + v.y * above));
      SmallNumbers()[a.x + colour * n + p] = x;
    } else x = SmallNumbers()[a.x + colour * n + p];
    if (residual) {
      const float r = b -
                      (v.z * x - (((u.x * (in - x) + u.y * (side - x)) + (u.z * (before - x) + u.w * (behind - x))) + (v.x * (below - x) + v.y * (above - x))));

      SmallNumbers()[a.r + colour * n + p] = flags >> colour & 1 ? 0.f : r;
    }
  }
}

template <bool solve, bool residual, int colour>
static __device__ __forceinline__ void SmallSweep(const SmallArrays &a, bool single)
{
  if (single) SmallSweepOf<solve, residual, colour, true>(a);
  else SmallSweepOf<solve, residual, colour, false>(a);
}

/* Computes right-hand sides of level c, whose aggregates have `by` cells in x, and initial values of its red cells */
template <bool local>
static __device__ __forceinline__ void SmallRestrict(const SmallArrays &a, int by, const SmallArrays &c)
{
  const int n = c.n;

  for (int p = static_cast<int>(threadIdx.x); p < 2 * n; p += static_cast<int>(blockDim.x)) {
    const int colour = p >= n, slot = colour ? p - n : p;
    /* s: place of the cell in the pair */
    const unsigned int flags = SmallCodes()[c.flags + slot], s = (flags >> 2 & 1) ^ static_cast<unsigned int>(colour);
    unsigned int       code[4];
    float              sum = 0;

#pragma unroll
    for (int d = 0; d < 4; d++) code[d] = SmallCodes()[c.child + d * n + slot];
#pragma unroll
    for (unsigned int d = 0; d < 4; d++) {
      const bool         is   = code[d] != SMALL_NONE;
      const unsigned int from = is ? code[d] : 0u; /* any pair: all loads are issued at once */
      float              r;

      if (by == 2) r = SmallGet<local>(a.r, from + 2 * s) + SmallGet<local>(a.r + a.n, from + 2 * s);
      else r = SmallGet<local>(a.r + (((flags >> 3 & 1) ^ (d & 1) ^ (d >> 1)) == s ? 0 : a.n), from);
      sum += is ? r : 0.f;
    }
    SmallNumbers()[c.b + p] = sum;
    SmallNumbers()[c.x + p] = colour ? 0.f : SmallFours()[c.second + slot].w * sum;
  }
}

/* An aggregate is in the same block as its cells */
static __device__ __forceinline__ void SmallProlong(const SmallArrays &a, const SmallArrays &c, float factor)
{
  for (int p = static_cast<int>(threadIdx.x); p < a.n; p += static_cast<int>(blockDim.x)) {
    const unsigned int code = SmallCodes()[a.parent + p];

    if (code != SMALL_NONE) SmallNumbers()[a.x + p] += factor * SmallGet<true>(c.x + (code & 1 ? c.n : 0), code);
  }
}

/* ------------------------------------------------------------ lists */

/* A list: rows and edges; saved: original right-hand side of cells, and additions; x, b and residual of wells */
struct SmallListArrays {
  const GridMGSmallRow  *rows;
  const GridMGSmallEdge *edges;
  float                 *saved, *x, *b, *r;
};

static __device__ __forceinline__ SmallListArrays SmallListOf(const GridMGSmallCycle &m, const GridMGSmallLevel &l)
{
  unsigned char *const       memory = reinterpret_cast<unsigned char *>(SmallFours());
  const unsigned char *const lists  = m.lists.place >= 0 ? memory + m.lists.place : m.lists.data;
  float *const w = reinterpret_cast<float *>(memory + m.imagebytes + l.list.saved), *const x = w + 2 * l.list.part[1];

  return {reinterpret_cast<const GridMGSmallRow *>(lists + l.list.rows),
          reinterpret_cast<const GridMGSmallEdge *>(lists + l.list.edges),
          w,
          x,
          x + l.list.wells,
          x + 2 * l.list.wells};
}

/* By all lanes of a warp; each group of lanes, a power of two, has its sum */
template <int group>
static __device__ __forceinline__ float SmallGroupSum(float sum)
{
#pragma unroll
  for (int offset = group / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

/* sum T (x_j - xi) of a row, by a warp */
static __device__ __forceinline__ float SmallRowSum(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, int row, float xi)
{
  float sum = 0;

  for (int e = w.rows[row].first + static_cast<int>(threadIdx.x % 32); e < w.rows[row].last; e += 32) {
    const int cell = w.edges[e].cell, array = a.x + (cell & 1 ? a.n : 0);
    float     x;

    if (cell < 0) x = w.x[-1 - cell];
    else if (l.single) x = SmallGet<true>(array, static_cast<unsigned int>(cell));
    else x = SmallGet<false>(array, static_cast<unsigned int>(cell));
    sum += w.edges[e].t * (x - xi);
  }
  return SmallGroupSum<32>(sum);
}

/* Calls f(row, offset in x and b) for the rows of cells of this block, a warp per row */
template <class F>
static __device__ __forceinline__ void SmallRows(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank, int from, int to,
                                                 F f)
{
  for (int row = from + static_cast<int>(threadIdx.x / 32); row < to; row += static_cast<int>(blockDim.x / 32)) {
    const int cell = w.rows[row].cell;

    if (l.single || static_cast<unsigned int>(cell) >> 12 == rank) f(row, (cell & 1 ? a.n : 0) + (cell >> 1 & (GRIDMG_SMALL_SLOTS - 1)));
  }
}

static __device__ __forceinline__ void SmallList(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank, int colour)
{
  SmallRows(l, a, w, rank, colour ? l.list.part[0] : 0, l.list.part[colour], [&](int row, int at) {
    const float sum = SmallRowSum(l, a, w, row, 0.f);

    if (threadIdx.x % 32) return;
    w.saved[2 * row]     = SmallNumbers()[a.b + at];
    w.saved[2 * row + 1] = sum;
    SmallNumbers()[a.b + at] += sum;
  });
}

static __device__ __forceinline__ void SmallUnlist(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank, int colour)
{
  SmallRows(l, a, w, rank, colour ? l.list.part[0] : 0, l.list.part[colour], [&](int row, int at) {
    if (threadIdx.x % 32 == 0) SmallNumbers()[a.b + at] = w.saved[2 * row];
  });
}

/* The right-hand sides of black cells contain additions */
static __device__ __forceinline__ void SmallListResidual(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank)
{
  SmallRows(l, a, w, rank, 0, l.list.part[1], [&](int row, int at) {
    const float sum    = SmallRowSum(l, a, w, row, SmallNumbers()[a.x + at]);
    const int   colour = at >= a.n;

    if (threadIdx.x % 32 == 0 && !(SmallCodes()[a.flags + at - colour * a.n] >> colour & 1))
      SmallNumbers()[a.r + at] += sum - (colour ? w.saved[2 * row + 1] : 0.f);
  });
  for (int k = static_cast<int>(threadIdx.x / 32); k < l.list.wells; k += static_cast<int>(blockDim.x / 32)) {
    const int   i   = l.n[0] * l.n[1] * l.n[2] + k;
    const float sum = SmallRowSum(l, a, w, l.list.part[1] + k, w.x[k]);

    if (threadIdx.x % 32 == 0) w.r[k] = w.b[k] - (l.sigma[i] * w.x[k] - sum);
  }
}

/* The same work in all blocks */
static __device__ __forceinline__ void SmallWells(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, bool backwards)
{
  const int  cells = l.n[0] * l.n[1] * l.n[2], warp = static_cast<int>(threadIdx.x / 32), warps = l.list.coupled ? 1 : static_cast<int>(blockDim.x / 32);
  const auto solve = [&](int k) {
    const float sum = SmallRowSum(l, a, w, l.list.part[1] + k, w.x[k]), x = w.x[k] + l.dinv[cells + k] * (w.b[k] - (l.sigma[cells + k] * w.x[k] - sum));

    __syncwarp();
    if (threadIdx.x % 32 == 0) w.x[k] = x;
    __syncwarp();
  };

  if (warp >= warps) return;
  for (int k = warp; k < l.list.wells; k += warps) solve(backwards ? l.list.wells - 1 - k : k);
}

static __device__ __forceinline__ void SmallListProlong(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, const SmallArrays &c,
                                                        const SmallListArrays &wc, unsigned int rank, float factor)
{
  SmallRows(l, a, w, rank, l.list.part[0], l.list.part[1], [&](int row, int at) {
    const unsigned int code = static_cast<unsigned int>(w.rows[row].parent);

    if (threadIdx.x % 32 == 0 && !(SmallCodes()[a.flags + at - a.n] >> 1 & 1))
      SmallNumbers()[a.x + at] += factor * SmallGet<true>(c.x + (code & 1 ? c.n : 0), code);
  });
  for (int k = static_cast<int>(threadIdx.x); k < l.list.wells; k += static_cast<int>(blockDim.x)) w.x[k] += factor * wc.x[k];
}
