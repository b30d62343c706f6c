/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   All levels from one on in one kernel: a cluster of blocks whose shared memory holds these levels, with faces as numbers. A cycle is a list of
   operations, made by the host, with a barrier after each.

   A level is pairs of cells of a row, one red, one black, in the order of their cells: pair q of the level has its neighbours at q - 1 or q + 1,
   q +- pairs of a row, q +- pairs of a plane, in the other colour. Blocks have successive pairs of a level, or, of a single level, all have all
   pairs and do the same. The coarsest one is single.
*/

#include <cstdint>
#include <lithe/private/gridmg.h>

#define GRIDMG_SMALL_LEVELS  20
#define GRIDMG_SMALL_CLUSTER 16
#define GRIDMG_SMALL_NUMBERS 22 /* of a pair: faces, row sums and reciprocals of diagonals 16; x, b, r */

struct GridMGSmallLevel {
  const void          *up[3], *down[3];
  const float         *table, *sigma, *dinv;
  const unsigned char *alive;
  int                  bits, n[3], by[3];
  int                  row, pairs; /* pairs of a row, and of the level */
  int                  chunk;      /* pairs of a block */
  int                  single;
  unsigned int         magic; /* 2^32 / chunk, rounded up */
  int                  offset; /* in shared memory, in numbers */
};

struct GridMGSmall {
  int                  levels, steps, dense, symmetric, packed; /* dense: unknowns of the coarsest level; packed: its triangle in shared memory, there */
  int                  scratch;                                /* 2 dense numbers */
  float                factor;
  const unsigned char *program; /* an operation and a level a step */
  const float         *L, *S;
  const float         *b;
  float               *x;
  GridMGSmallLevel     level[GRIDMG_SMALL_LEVELS];
};

static __device__ __forceinline__ unsigned int SmallRank()
{
  unsigned int r;

  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}

static __device__ __forceinline__ void SmallBarrier()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

/* A number of another block, which has it where this one would have it */
static __device__ __forceinline__ float SmallRemote(const float *p, unsigned int rank)
{
  float v = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  const unsigned int mine = static_cast<unsigned int>(__cvta_generic_to_shared(p));
  unsigned int       there;

  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(there) : "memory");
#endif
  return v;
}

/* Number q of an array of a level */
static __device__ __forceinline__ float SmallGet(const GridMGSmallLevel &l, const float *array, unsigned int rank, int q)
{
  if (l.single) return q >= 0 && q < l.pairs ? array[q] : 0.f;
  if (q < 0 || q >= l.pairs) return 0;
  const unsigned int owner = __umulhi(static_cast<unsigned int>(q), l.magic);
  const int          at    = q - static_cast<int>(owner) * l.chunk;
  return owner == rank ? array[at] : SmallRemote(array + at, owner);
}

static __device__ __forceinline__ float SmallFace(const GridMGSmallLevel &l, const void *codes, ptrdiff_t c)
{
  if (l.bits == 8) return l.table[static_cast<const uint8_t *>(codes)[c]];
  if (l.bits == 16) {
    const unsigned int code = static_cast<const uint16_t *>(codes)[c];

    return l.table[code >> 8] * l.table[256 + (code & 255)];
  }
  return static_cast<const float *>(codes)[c];
}

/* Arrays of a level in shared memory: those of red cells, n numbers each, then those of black ones */
struct SmallArrays {
  float4 *first, *second; /* faces towards pair, side, before, behind; below, above, row sum, reciprocal of the diagonal */
  float  *x, *b, *r;
  int     n;
};

static __device__ __forceinline__ SmallArrays SmallArraysOf(const GridMGSmallLevel &l, float *shared)
{
  float *const p = shared + l.offset;
  const int    n = l.chunk;

  return {reinterpret_cast<float4 *>(p), reinterpret_cast<float4 *>(p) + 2 * n, p + 16 * n, p + 18 * n, p + 20 * n, n};
}

/* Where the pairs of this block begin, and how many there are */
static __device__ __forceinline__ int SmallFirst(const GridMGSmallLevel &l, unsigned int rank)
{
  return l.single ? 0 : static_cast<int>(rank) * l.chunk;
}

static __device__ __forceinline__ int SmallCount(const GridMGSmallLevel &l, unsigned int rank)
{
  const int left = l.pairs - SmallFirst(l, rank);

  return left < 0 ? 0 : (left < l.chunk ? left : l.chunk);
}

struct SmallPlace {
  int I, j, k, red; /* red: which cell of the pair is red */
};

static __device__ __forceinline__ SmallPlace SmallPlaceOf(const GridMGSmallLevel &l, int q)
{
  const int        line = q / l.row;
  const SmallPlace p    = {q - line * l.row, line % l.n[1], line / l.n[1], 0};

  return {p.I, p.j, p.k, (p.j + p.k) & 1};
}

static __device__ __forceinline__ void SmallLoad(const GridMGSmallLevel &l, const SmallArrays &a, unsigned int rank)
{
  const int first = SmallFirst(l, rank), count = SmallCount(l, rank);

  for (int p = static_cast<int>(threadIdx.x); p < count; p += static_cast<int>(blockDim.x)) {
    const SmallPlace at = SmallPlaceOf(l, first + p);

    for (int colour = 0; colour < 2; colour++) {
      const int s = colour ? 1 - at.red : at.red, i = 2 * at.I + s, c = i + l.n[0] * (at.j + l.n[1] * at.k), plane = l.n[0] * l.n[1];
      float4    u = {0, 0, 0, 0}, v = {0, 0, 0, 0};

      if (i < l.n[0]) {
        if (l.up[0]) {
          const float up = SmallFace(l, l.up[0], c), down = SmallFace(l, l.down[0], c - 1);

          u.x = s ? down : up;
          u.y = s ? up : down;
        }
        if (l.up[1]) {
          if (at.j > 0) u.z = SmallFace(l, l.down[1], c - l.n[0]);
          u.w = SmallFace(l, l.up[1], c);
        }
        if (l.up[2]) {
          if (at.k > 0) v.x = SmallFace(l, l.down[2], c - plane);
          v.y = SmallFace(l, l.up[2], c);
        }
        v.z = l.sigma[c];
        v.w = l.dinv[c];
      }
      a.first[colour * a.n + p]  = u;
      a.second[colour * a.n + p] = v;
      a.x[colour * a.n + p] = a.b[colour * a.n + p] = a.r[colour * a.n + p] = 0;
    }
  }
}

/* op: what is done on cells of a colour */
template <bool solve, bool residual>
static __device__ __forceinline__ void SmallSweep(const GridMGSmallLevel &l, const SmallArrays &a, unsigned int rank, int colour)
{
  const int    first = SmallFirst(l, rank), count = SmallCount(l, rank), plane = l.row * l.n[1];
  const float *other = a.x + (1 - colour) * a.n;

  for (int p = static_cast<int>(threadIdx.x); p < count; p += static_cast<int>(blockDim.x)) {
    const int        q  = first + p;
    const SmallPlace at = SmallPlaceOf(l, q);
    const int        s  = colour ? 1 - at.red : at.red;
    const float4     u = a.first[colour * a.n + p], v = a.second[colour * a.n + p];
    const float      b = a.b[colour * a.n + p], in = other[p], side = SmallGet(l, other, rank, s ? q + 1 : q - 1), before = SmallGet(l, other, rank, q - l.row),
                behind = SmallGet(l, other, rank, q + l.row), below = SmallGet(l, other, rank, q - plane), above = SmallGet(l, other, rank, q + plane);
    float x;

    if (solve) {
      x = v.w * (b + ((u.x * in + u.y * side) + (u.z * before + u.w * behind)) + (v.x * below + v.y * above));
      a.x[colour * a.n + p] = x;
    } else x = a.x[colour * a.n + p];
    if (residual) {
      float r = b - (v.z * x - (((u.x * (in - x) + u.y * (side - x)) + (u.z * (before - x) + u.w * (behind - x))) + (v.x * (below - x) + v.y * (above - x))));

      if (l.alive) {
        const int i = 2 * at.I + s;

        if (i < l.n[0] && !l.alive[i + l.n[0] * (at.j + l.n[1] * at.k)]) r = 0;
      }
      a.r[colour * a.n + p] = r;
    }
  }
}

/* Right sides of the pairs of the next level, and what their red cells begin with */
static __device__ __forceinline__ void SmallRestrict(const GridMGSmallLevel &l, const SmallArrays &a, const GridMGSmallLevel &c, const SmallArrays &ca,
                                                     unsigned int rank)
{
  const int first = SmallFirst(c, rank), count = SmallCount(c, rank);

  for (int p = static_cast<int>(threadIdx.x); p < 2 * count; p += static_cast<int>(blockDim.x)) {
    const int        half = p >= count, to = half ? p - count : p; /* colour of the coarse cell */
    const SmallPlace at = SmallPlaceOf(c, first + to);
    const int        I  = 2 * at.I + (half ? 1 - at.red : at.red);
    float            sum = 0;

    if (I < c.n[0]) {
      for (int k = at.k * l.by[2]; k < min(l.n[2], (at.k + 1) * l.by[2]); k++) {
        for (int j = at.j * l.by[1]; j < min(l.n[1], (at.j + 1) * l.by[1]); j++) {
          for (int i = I * l.by[0]; i < min(l.n[0], (I + 1) * l.by[0]); i++) {
            const int q = (i >> 1) + l.row * (j + l.n[1] * k);

            sum += SmallGet(l, a.r + ((i + j + k) & 1) * a.n, rank, q);
          }
        }
      }
    }
    ca.b[half * ca.n + to] = sum;
    ca.x[half * ca.n + to] = half ? 0.f : ca.second[to].w * sum;
  }
}

static __device__ __forceinline__ void SmallProlong(const GridMGSmallLevel &l, const SmallArrays &a, const GridMGSmallLevel &c, const SmallArrays &ca,
                                                    unsigned int rank, float factor)
{
  const int first = SmallFirst(l, rank), count = SmallCount(l, rank);

  for (int p = static_cast<int>(threadIdx.x); p < count; p += static_cast<int>(blockDim.x)) {
    const SmallPlace at = SmallPlaceOf(l, first + p);
    const int        i = 2 * at.I + at.red, I = i / l.by[0], J = at.j / l.by[1], K = at.k / l.by[2];

    if (i >= l.n[0] || (l.alive && !l.alive[i + l.n[0] * (at.j + l.n[1] * at.k)])) continue;
    a.x[p] += factor * SmallGet(c, ca.x + ((I + J + K) & 1) * ca.n, rank, (I >> 1) + c.row * (J + c.n[1] * K));
  }
}

#define SMALL_GROUP 8 /* threads that have a row of the dense matrix */

static __device__ __forceinline__ float SmallGroupSum(float sum)
{
#pragma unroll
  for (int offset = SMALL_GROUP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

/* x = S L^T L S b, or S L S b: all blocks the same */
static __device__ __forceinline__ void SmallDense(const GridMGSmall &m, const GridMGSmallLevel &l, const SmallArrays &a, float *shared)
{
  const int    n = m.dense, group = static_cast<int>(threadIdx.x) / SMALL_GROUP, within = static_cast<int>(threadIdx.x) % SMALL_GROUP;
  const int    groups = static_cast<int>(blockDim.x) / SMALL_GROUP, up = (n + groups - 1) / groups * groups;
  float *const v = shared + m.scratch, *const y = v + n;
  const float *L = m.packed >= 0 ? shared + m.packed : m.L;

  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
    const int line = c / l.n[0], i = c - line * l.n[0], j = line % l.n[1], k = line / l.n[1];

    v[c] = m.S[c] * a.b[((i + j + k) & 1) * a.n + (i >> 1) + l.row * line];
  }
  __syncthreads();
  for (int i = group; i < up; i += groups) {
    float sum = 0;

    if (i < n) {
      const float *row = L + (m.packed >= 0 && m.symmetric ? i * (i + 1) / 2 : i * n);
      const int    end = m.symmetric ? i + 1 : n;

      for (int j = within; j < end; j += SMALL_GROUP) sum += row[j] * v[j];
    }
    sum = SmallGroupSum(sum);
    if (i < n && within == 0) y[i] = sum;
  }
  __syncthreads();
  for (int c = group; c < up; c += groups) {
    float sum = 0;

    if (m.symmetric) {
      if (c < n) {
        for (int j = c + within; j < n; j += SMALL_GROUP) sum += L[(m.packed >= 0 ? j * (j + 1) / 2 : j * n) + c] * y[j];
      }
      sum = SmallGroupSum(sum);
    } else if (c < n) sum = y[c];
    if (c < n && within == 0) {
      const int line = c / l.n[0], i = c - line * l.n[0], j = line % l.n[1], k = line / l.n[1];

      a.x[((i + j + k) & 1) * a.n + (i >> 1) + l.row * line] = m.S[c] * sum;
    }
  }
}

template <int threads>
static __global__ void __launch_bounds__(threads, 1) GridMGSmallKernel(const __grid_constant__ GridMGSmall m)
{
  extern __shared__ float4 memory[];
  float *const             shared = reinterpret_cast<float *>(memory);
  const unsigned int       rank   = SmallRank();

  for (int k = 0; k < m.levels; k++) SmallLoad(m.level[k], SmallArraysOf(m.level[k], shared), rank);
  if (m.packed >= 0) {
    for (int c = static_cast<int>(threadIdx.x); c < m.dense * m.dense; c += threads) {
      const int i = c / m.dense, j = c - i * m.dense;

      if (!m.symmetric) shared[m.packed + c] = m.L[c];
      else if (j <= i) shared[m.packed + i * (i + 1) / 2 + j] = m.L[c];
    }
  }
  {
    const GridMGSmallLevel &l     = m.level[0];
    const SmallArrays       a     = SmallArraysOf(l, shared);
    const int               first = SmallFirst(l, rank), count = SmallCount(l, rank);

    __syncthreads();
    for (int p = static_cast<int>(threadIdx.x); p < count; p += threads) {
      const SmallPlace at = SmallPlaceOf(l, first + p);

      for (int colour = 0; colour < 2; colour++) {
        const int i = 2 * at.I + (colour ? 1 - at.red : at.red);

        if (i >= l.n[0]) continue;
        a.b[colour * a.n + p] = m.b[i + l.n[0] * (at.j + l.n[1] * at.k)];
        if (colour == 0) a.x[p] = a.second[p].w * a.b[p];
      }
    }
  }
  SmallBarrier();
  for (int step = 0; step < m.steps; step++) {
    const int               op = m.program[2 * step], k = m.program[2 * step + 1];
    const GridMGSmallLevel &l = m.level[k];
    const SmallArrays       a = SmallArraysOf(l, shared);

    switch (op) {
    case GRIDMG_SMALL_RED:
      SmallSweep<true, false>(l, a, rank, 0);
      break;
    case GRIDMG_SMALL_BLACK:
      SmallSweep<true, true>(l, a, rank, 1);
      break;
    case GRIDMG_SMALL_BLACKUP:
      SmallSweep<true, false>(l, a, rank, 1);
      break;
    case GRIDMG_SMALL_RESIDUAL:
      SmallSweep<false, true>(l, a, rank, 0);
      break;
    case GRIDMG_SMALL_RESTRICT:
      SmallRestrict(l, a, m.level[k + 1], SmallArraysOf(m.level[k + 1], shared), rank);
      break;
    case GRIDMG_SMALL_PROLONG:
      SmallProlong(l, a, m.level[k + 1], SmallArraysOf(m.level[k + 1], shared), rank, m.factor);
      break;
    default:
      SmallDense(m, l, a, shared);
    }
    /* what follows reads other blocks' numbers where the level has parts; after a restriction to a single level each block reads its own */
    if (l.single || (op == GRIDMG_SMALL_RESTRICT && m.level[k + 1].single)) __syncthreads();
    else SmallBarrier();
  }
  {
    const GridMGSmallLevel &l     = m.level[0];
    const SmallArrays       a     = SmallArraysOf(l, shared);
    const int               first = SmallFirst(l, rank), count = SmallCount(l, rank);

    for (int p = static_cast<int>(threadIdx.x); p < count; p += threads) {
      const SmallPlace at = SmallPlaceOf(l, first + p);

      for (int colour = 0; colour < 2; colour++) {
        const int i = 2 * at.I + (colour ? 1 - at.red : at.red);

        if (i < l.n[0]) m.x[i + l.n[0] * (at.j + l.n[1] * at.k)] = a.x[colour * a.n + p];
      }
    }
  }
  SmallBarrier();
}
