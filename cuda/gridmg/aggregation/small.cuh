/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   All small levels in one kernel: the shared memory of a cluster of blocks holds the levels, with faces as numbers. A
   cycle is a list of operations, made by the host, with a barrier after each operation.

   A level consists of pairs of cells of a row, a red and a black cell. Lines of pairs are divided among the blocks, so
   that an aggregate and its cells are in the same block. The smallest levels are single: all blocks have the whole
   level, and do the same work. A block stores its pairs of a level in slots. The coarsest level is a dense matrix whose
   rows are divided among the blocks. The places of neighbours, aggregates and their cells are codes: block, slot and
   colour. Data that do not change between applications are stored as an image of the memory of each block.
*/

#include <cstdint>
#include <lithe/private/gridmg/gridmg.h>
#include "../../common/pdl.cuh"

#define GRIDMG_SMALL_LEVELS  16
#define GRIDMG_SMALL_CLUSTER 16
#define GRIDMG_SMALL_STEPS   2000
#define GRIDMG_SMALL_SLOTS   2048 /* a code has 4 bits for the block, 11 for the slot, 1 for the colour */
#define GRIDMG_SMALL_IMAGE   76   /* constant bytes per pair */
#define GRIDMG_SMALL_CHILD   8    /* further constant bytes per pair of a level with a finer level */
#define GRIDMG_SMALL_WORK    24   /* bytes of x, b and r per pair */
#define GRIDMG_SMALL_MOST    1024 /* unknowns of the coarsest level, at most */
#define GRIDMG_SMALL_HERE    96   /* unknowns, at most, for the whole dense matrix in each block */
#define SMALL_NONE           0xffffu

/* A row of a list. cell: the code of the cell, or -1 - well; parent: the code of the aggregate. Cells come before
   wells */
struct GridMGSmallRow {
  int cell, first, last, parent;
};

struct GridMGSmallEdge {
  int   cell;
  float t;
};

struct GridMGSmallLevel {
  const void          *up[3], *down[3];
  const float         *table, *sigma, *dinv;
  const unsigned char *alive;
  int                  bits, n[3], by[3];
  int                  row;    /* pairs per line, some of which may be empty */
  int                  single; /* all blocks have all lines */
  /* lines in y and z: of the coarsest level with parts, or of this level if this level is coarser */
  int lines[2];
  int shift[2];    /* log2 of the lines of this level per line of lines[], in y and z */
  int slots;       /* slots per block, a multiple of 8 */
  int image, work; /* offsets of this level in the image and in the changing data, in bytes */

  int rows, edges; /* offsets of the arrays of this list among all lists, in bytes */
  /* list: ends of the rows of red cells, and of black cells; coupled: edges between wells exist */
  int list[2], wells, coupled;
  /* offset of 2 numbers per row of a cell and 3 numbers per well, in bytes */
  int saved;
};

struct GridMGSmall {
  /* dense: unknowns of the coarsest level; packed: offset of the dense matrix in the image, or -1 */
  int levels, steps, cluster, dense, symmetric, packed;
  /* rows of the dense matrix are divided among the blocks in turn */
  int apart;
  /* scratch: offset of 2 numbers per unknown of the coarsest level; imagebytes: size of an image */
  int scratch, imagebytes;
  /* offset of the places of unknowns and of their scaling in the image, in bytes */
  int unknowns;
  /* bytes of all lists; their place in shared memory, or -1 */
  int                   listbytes, listplace;
  float                 factor;
  const unsigned char  *lists;
  const unsigned short *program; /* per step: operation + 256 level */
  unsigned char        *image;
  const float          *L, *S;
  const float          *b;
  float                *x;
  GridMGSmallLevel      level[GRIDMG_SMALL_LEVELS];
};

/* ------------------------------------------------------------ the cluster */

static __device__ __forceinline__ unsigned int SmallRank()
{
  unsigned int r = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
#endif
  return r;
}

static __device__ __forceinline__ void SmallClusterBarrier()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

static __device__ __forceinline__ unsigned int SmallAddress(const void *p)
{
  return static_cast<unsigned int>(__cvta_generic_to_shared(p));
}

/* The same address in the shared memory of another block */
static __device__ __forceinline__ unsigned int SmallThere(unsigned int mine, unsigned int rank)
{
  unsigned int there = mine;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(mine), "r"(rank));
#endif
  return there;
}

static __device__ __forceinline__ float SmallRemote(const float *p, unsigned int rank)
{
  float v = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(SmallThere(SmallAddress(p), rank)) : "memory");
#endif
  return v;
}

/* The memory of a block: the image, then changing data */
static __device__ __forceinline__ float4 *SmallFours()
{
  extern __shared__ float4 smallmemory[];

  return smallmemory;
}

static __device__ __forceinline__ float *SmallNumbers()
{
  return reinterpret_cast<float *>(SmallFours());
}

static __device__ __forceinline__ unsigned short *SmallCodes()
{
  return reinterpret_cast<unsigned short *>(SmallFours());
}

static __device__ __forceinline__ void SmallWait(const uint64_t *barrier, unsigned int parity)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  unsigned int done = 0;

  while (!done) {
    asm volatile("{\n.reg .pred p;\nmbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\nselp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(SmallAddress(barrier)), "r"(parity)
                 : "memory");
  }
#endif
}

static __device__ __forceinline__ void SmallBarrierInit(uint64_t *barrier, unsigned int count)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(SmallAddress(barrier)), "r"(count) : "memory");
#endif
}

/*
   A barrier of the cluster: each block notifies every block, and waits for all notifications. The hardware barrier
   includes all threads, and takes twice as long. Two barriers alternate, so that no block can be a whole turn of one
   barrier ahead.
*/
struct SmallCluster {
  uint64_t                       *barrier; /* [2], in shared memory */
  unsigned int                    turn, blocks;
  __device__ __forceinline__ void Wait()
  {
    const uint64_t *const b = barrier + (turn & 1);

    __syncthreads();
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    if (threadIdx.x < blocks)
      asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(SmallThere(SmallAddress(b), threadIdx.x)) : "memory");
#endif
    SmallWait(b, (turn >> 1) & 1);
    turn++;
  }
};

/* ------------------------------------------------------------ arrays */

/* Offsets of a level's arrays in shared memory, in units of their type; red comes before black */
struct SmallArrays {
  /* of four numbers each: faces towards the pair, side, before and behind; faces below and above, row sum, reciprocal
     of the diagonal */
  int first, second;
  int neighbour; /* codes [4][n] of the pairs before, behind, below and above */
  int parent;    /* code of the aggregate of the red cell, or SMALL_NONE */
  /* bit `colour`: the residual does not count; 4: the second cell is red; 8: the second cell is red in the first line
     of child */
  int flags;
  /* codes [4][n] in the finer level: the first pair in each line of an aggregate; missing on the first level */
  int child;
  int x, b, r, n;
};

static __host__ __device__ __forceinline__ SmallArrays SmallArraysOf(const GridMGSmallLevel &l, int imagebytes)
{
  const int n = l.slots, f = l.image / 16, s = (l.image + 64 * n) / 2, w = (imagebytes + l.work) / 4;

  return {f, f + 2 * n, s, s + 4 * n, s + 5 * n, s + 6 * n, w, w + 2 * n, w + 4 * n, n};
}

/* A number of an array; with local false, possibly of another block */
template <bool local>
static __device__ __forceinline__ float SmallGet(int array, unsigned int code)
{
  const float *const p = SmallNumbers() + array + (code >> 1 & (GRIDMG_SMALL_SLOTS - 1));

  return local ? *p : SmallRemote(p, code >> 12);
}

/* ------------------------------------------------------------ the image */

static __device__ __forceinline__ float SmallFace(const GridMGSmallLevel &l, const void *codes, ptrdiff_t c)
{
  if (l.bits == 8) return l.table[static_cast<const uint8_t *>(codes)[c]];
  if (l.bits == 16) {
    const unsigned int code = static_cast<const uint16_t *>(codes)[c];

    return l.table[code >> 8] * l.table[256 + (code & 255)];
  }
  return static_cast<const float *>(codes)[c];
}

/* The first line of a block */
static __host__ __device__ __forceinline__ int SmallFirstLine(int lines, int cluster, int rank)
{
  return static_cast<int>((static_cast<long long>(lines) * rank + cluster - 1) / cluster);
}

/* Code of a pair, or SMALL_NONE outside of the level. In a single level, each block has its own pairs */
static __host__ __device__ __forceinline__ unsigned int SmallCode(const GridMGSmallLevel &l, int cluster, int I, int j, int k)
{
  const int J = j >> l.shift[0], K = k >> l.shift[1], line = J + l.lines[0] * K, all = l.lines[0] * l.lines[1];
  int       owner = 0, within;

  if (I < 0 || I >= l.row || j < 0 || j >= l.n[1] || k < 0 || k >= l.n[2]) return SMALL_NONE;
  if (!l.single) owner = static_cast<int>(static_cast<long long>(line) * cluster / all);
  within = ((line - (l.single ? 0 : SmallFirstLine(all, cluster, owner))) << (l.shift[0] + l.shift[1])) + (j & ((1 << l.shift[0]) - 1)) +
           ((k & ((1 << l.shift[1]) - 1)) << l.shift[0]);
  return static_cast<unsigned int>(owner << 12 | (within * l.row + I) << 1);
}

/* The pair in a slot of a block */
static __host__ __device__ __forceinline__ bool SmallPairOf(const GridMGSmallLevel &l, int cluster, int rank, int slot, int *I, int *j, int *k)
{
  const int all = l.lines[0] * l.lines[1], within = slot / l.row, sub = within & ((1 << (l.shift[0] + l.shift[1])) - 1);
  const int line = (l.single ? 0 : SmallFirstLine(all, cluster, rank)) + (within >> (l.shift[0] + l.shift[1]));

  if (line >= (l.single ? all : SmallFirstLine(all, cluster, rank + 1))) return false;
  *I = slot % l.row;
  *j = ((line % l.lines[0]) << l.shift[0]) + (sub & ((1 << l.shift[0]) - 1));
  *k = ((line / l.lines[0]) << l.shift[1]) + (sub >> l.shift[0]);
  return *j < l.n[1] && *k < l.n[2];
}

/* Rows of the dense matrix in a block: rank, rank + cluster, and so on */
static __host__ __device__ __forceinline__ int SmallDenseRows(const GridMGSmall &m, int rank)
{
  return (m.dense - rank + m.cluster - 1) / m.cluster;
}

/* Offset of row r of a block among the rows of the block */
static __host__ __device__ __forceinline__ int SmallDenseRow(const GridMGSmall &m, int rank, int r)
{
  return m.symmetric ? r * (rank + 1) + m.cluster * (r * (r - 1) / 2) : r * m.dense;
}

/* blockIdx.x: a level, blockIdx.y: a block of the cluster */
static __global__ void GridMGSmallImageKernel(const __grid_constant__ GridMGSmall m)
{
  const int               level = static_cast<int>(blockIdx.x), rank = static_cast<int>(blockIdx.y);
  const GridMGSmallLevel &l     = m.level[level];
  unsigned char *const    image = m.image + static_cast<size_t>(rank) * m.imagebytes;
  const SmallArrays       a     = SmallArraysOf(l, m.imagebytes);
  float4 *const           fours = reinterpret_cast<float4 *>(image);
  unsigned short *const   codes = reinterpret_cast<unsigned short *>(image);

  for (int slot = static_cast<int>(threadIdx.x); slot < a.n; slot += static_cast<int>(blockDim.x)) {
    int        I = 0, j = 0, k = 0, flags = 0;
    const bool is  = SmallPairOf(l, m.cluster, rank, slot, &I, &j, &k);
    const int  red = (j + k) & 1, plane = l.n[0] * l.n[1];

    for (int colour = 0; colour < 2; colour++) {
      const int s = colour ? 1 - red : red, i = 2 * I + s, c = i + l.n[0] * (j + l.n[1] * k);
      float4    u = {0, 0, 0, 0}, v = {0, 0, 0, 0};

      if (is && i < l.n[0]) {
        if (l.up[0]) {
          const float up = SmallFace(l, l.up[0], c), down = SmallFace(l, l.down[0], c - 1);

          u.x = s ? down : up;
          u.y = s ? up : down;
        }
        if (l.up[1]) {
          if (j > 0) u.z = SmallFace(l, l.down[1], c - l.n[0]);
          u.w = SmallFace(l, l.up[1], c);
        }
        if (l.up[2]) {
          if (k > 0) v.x = SmallFace(l, l.down[2], c - plane);
          v.y = SmallFace(l, l.up[2], c);
        }
        v.z = l.sigma[c];
        v.w = l.dinv[c];
        if (l.alive && !l.alive[c]) flags |= 1 << colour;
      }
      fours[a.first + colour * a.n + slot]  = u;
      fours[a.second + colour * a.n + slot] = v;
    }
    {
      /* a missing neighbour is the pair itself, with face 0 */
      const unsigned int self  = static_cast<unsigned int>(rank << 12 | slot << 1);
      unsigned int       at[4] = {self, self, self, self}, children[4] = {SMALL_NONE, SMALL_NONE, SMALL_NONE, SMALL_NONE}, up = SMALL_NONE;

      if (is) {
        at[0] = SmallCode(l, m.cluster, I, j - 1, k);
        at[1] = SmallCode(l, m.cluster, I, j + 1, k);
        at[2] = SmallCode(l, m.cluster, I, j, k - 1);
        at[3] = SmallCode(l, m.cluster, I, j, k + 1);
        flags |= red << 2;
        if (level > 0) {
          const GridMGSmallLevel &f = m.level[level - 1];

          flags |= ((j * f.by[1] + k * f.by[2]) & 1) << 3;
          for (int d = 0; d < 4; d++) {
            const int dj = d & 1, dk = d >> 1;

            if (dj < f.by[1] && dk < f.by[2]) children[d] = SmallCode(f, m.cluster, I * f.by[0], j * f.by[1] + dj, k * f.by[2] + dk);
          }
        }
        if (level < m.levels - 1 && 2 * I + red < l.n[0] && !(flags & 1)) {
          const GridMGSmallLevel &c = m.level[level + 1];
          const int               C = (2 * I + red) / l.by[0], J = j / l.by[1], K = k / l.by[2];

          up = SmallCode(c, m.cluster, C >> 1, J, K) | static_cast<unsigned int>((C + J + K) & 1);
        }
      }
      for (int d = 0; d < 4; d++) {
        codes[a.neighbour + d * a.n + slot] = static_cast<unsigned short>(at[d] == SMALL_NONE ? self : at[d]);
        if (level > 0) codes[a.child + d * a.n + slot] = static_cast<unsigned short>(children[d]);
      }
      codes[a.parent + slot] = static_cast<unsigned short>(up);
      codes[a.flags + slot]  = static_cast<unsigned short>(flags);
    }
  }
  if (level == m.levels - 1) {
    int *const   at    = reinterpret_cast<int *>(image + m.unknowns);
    float *const scale = reinterpret_cast<float *>(at + m.dense);

    for (int c = static_cast<int>(threadIdx.x); c < m.dense; c += static_cast<int>(blockDim.x)) {
      const int line = c / l.n[0], i = c - line * l.n[0], j = line % l.n[1], k = line / l.n[1], cells = l.n[0] * l.n[1] * l.n[2];

      at[c]    = c < cells ? static_cast<int>(SmallCode(l, m.cluster, i >> 1, j, k)) | ((i + j + k) & 1) : -1 - (c - cells);
      scale[c] = m.S[c];
    }
  }
  if (level == 0 && m.packed >= 0) {
    float *const packed = reinterpret_cast<float *>(image + m.packed);
    const int    rows   = m.apart ? SmallDenseRows(m, rank) : m.dense;

    for (int r = 0; r < rows; r++) {
      const int    i = m.apart ? rank + m.cluster * r : r, length = m.symmetric ? i + 1 : m.dense;
      float *const row = packed + (m.apart ? SmallDenseRow(m, rank, r) : (m.symmetric ? i * (i + 1) / 2 : i * m.dense));

      for (int j = static_cast<int>(threadIdx.x); j < length; j += static_cast<int>(blockDim.x)) row[j] = m.L[static_cast<size_t>(i) * m.dense + j];
    }
  }
}

/* ------------------------------------------------------------ operations */

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
    float              sum = 0;

#pragma unroll
    for (unsigned int d = 0; d < 4; d++) {
      const unsigned int code = SmallCodes()[c.child + static_cast<int>(d) * n + slot];

      if (code == SMALL_NONE) continue;
      if (by == 2) sum += SmallGet<local>(a.r, code + 2 * s) + SmallGet<local>(a.r + a.n, code + 2 * s);
      else sum += SmallGet<local>(a.r + (((flags >> 3 & 1) ^ (d & 1) ^ (d >> 1)) == s ? 0 : a.n), code);
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

static __device__ __forceinline__ SmallListArrays SmallListOf(const GridMGSmall &m, const GridMGSmallLevel &l)
{
  unsigned char *const       memory = reinterpret_cast<unsigned char *>(SmallFours());
  const unsigned char *const lists  = m.listplace >= 0 ? memory + m.listplace : m.lists;
  float *const w = reinterpret_cast<float *>(memory + m.imagebytes + l.saved), *const x = w + 2 * l.list[1];

  return {reinterpret_cast<const GridMGSmallRow *>(lists + l.rows),
          reinterpret_cast<const GridMGSmallEdge *>(lists + l.edges),
          w,
          x,
          x + l.wells,
          x + 2 * l.wells};
}

static __device__ __forceinline__ float SmallWarpSum(float sum)
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
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
  return SmallWarpSum(sum);
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
  SmallRows(l, a, w, rank, colour ? l.list[0] : 0, l.list[colour], [&](int row, int at) {
    const float sum = SmallRowSum(l, a, w, row, 0.f);

    if (threadIdx.x % 32) return;
    w.saved[2 * row]     = SmallNumbers()[a.b + at];
    w.saved[2 * row + 1] = sum;
    SmallNumbers()[a.b + at] += sum;
  });
}

static __device__ __forceinline__ void SmallUnlist(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank, int colour)
{
  SmallRows(l, a, w, rank, colour ? l.list[0] : 0, l.list[colour], [&](int row, int at) {
    if (threadIdx.x % 32 == 0) SmallNumbers()[a.b + at] = w.saved[2 * row];
  });
}

/* The right-hand sides of black cells contain additions */
static __device__ __forceinline__ void SmallListResidual(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, unsigned int rank)
{
  SmallRows(l, a, w, rank, 0, l.list[1], [&](int row, int at) {
    const float sum    = SmallRowSum(l, a, w, row, SmallNumbers()[a.x + at]);
    const int   colour = at >= a.n;

    if (threadIdx.x % 32 == 0 && !(SmallCodes()[a.flags + at - colour * a.n] >> colour & 1))
      SmallNumbers()[a.r + at] += sum - (colour ? w.saved[2 * row + 1] : 0.f);
  });
  for (int k = static_cast<int>(threadIdx.x / 32); k < l.wells; k += static_cast<int>(blockDim.x / 32)) {
    const int   i   = l.n[0] * l.n[1] * l.n[2] + k;
    const float sum = SmallRowSum(l, a, w, l.list[1] + k, w.x[k]);

    if (threadIdx.x % 32 == 0) w.r[k] = w.b[k] - (l.sigma[i] * w.x[k] - sum);
  }
}

/* The same work in all blocks */
static __device__ __forceinline__ void SmallWells(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, bool backwards)
{
  const int  cells = l.n[0] * l.n[1] * l.n[2], warp = static_cast<int>(threadIdx.x / 32), warps = l.coupled ? 1 : static_cast<int>(blockDim.x / 32);
  const auto solve = [&](int k) {
    const float sum = SmallRowSum(l, a, w, l.list[1] + k, w.x[k]), x = w.x[k] + l.dinv[cells + k] * (w.b[k] - (l.sigma[cells + k] * w.x[k] - sum));

    __syncwarp();
    if (threadIdx.x % 32 == 0) w.x[k] = x;
    __syncwarp();
  };

  if (warp >= warps) return;
  for (int k = warp; k < l.wells; k += warps) solve(backwards ? l.wells - 1 - k : k);
}

static __device__ __forceinline__ void SmallListProlong(const GridMGSmallLevel &l, const SmallArrays &a, const SmallListArrays &w, const SmallArrays &c,
                                                        const SmallListArrays &wc, unsigned int rank, float factor)
{
  SmallRows(l, a, w, rank, l.list[0], l.list[1], [&](int row, int at) {
    const unsigned int code = static_cast<unsigned int>(w.rows[row].parent);

    if (threadIdx.x % 32 == 0 && !(SmallCodes()[a.flags + at - a.n] >> 1 & 1))
      SmallNumbers()[a.x + at] += factor * SmallGet<true>(c.x + (code & 1 ? c.n : 0), code);
  });
  for (int k = static_cast<int>(threadIdx.x); k < l.wells; k += static_cast<int>(blockDim.x)) w.x[k] += factor * wc.x[k];
}

#define SMALL_GROUP 4 /* threads per row of the dense matrix */

static __device__ __forceinline__ float SmallGroupSum(float sum)
{
#pragma unroll
  for (int offset = SMALL_GROUP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

/* An unknown of the coarsest level in this block. at: its code, or -1 - well */
static __device__ __forceinline__ float *SmallUnknown(int at, int cells, int n, float *wells)
{
  return at < 0 ? wells - 1 - at : SmallNumbers() + cells + (at & 1 ? n : 0) + (at >> 1 & (GRIDMG_SMALL_SLOTS - 1));
}

/* x = S L^T L S b, or S L S b, by a block with the whole matrix. All blocks do the same work */
static __device__ __forceinline__ void SmallDenseHere(const GridMGSmall &m, const SmallArrays &a, const SmallListArrays &w)
{
  unsigned char *const memory = reinterpret_cast<unsigned char *>(SmallFours());
  const int            n = m.dense, group = static_cast<int>(threadIdx.x) / SMALL_GROUP, within = static_cast<int>(threadIdx.x) % SMALL_GROUP;
  const int            groups = static_cast<int>(blockDim.x) / SMALL_GROUP, rounds = (n + groups - 1) / groups;
  const int *const     at = reinterpret_cast<const int *>(memory + m.unknowns);
  const float *const S = reinterpret_cast<const float *>(at + n), *const L = reinterpret_cast<const float *>(memory + m.packed);
  float *const v = reinterpret_cast<float *>(memory + m.imagebytes + m.scratch), *const y = v + n;

  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) v[c] = S[c] * *SmallUnknown(at[c], a.b, a.n, w.b);
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int i   = group + groups * round;
    float     sum = 0;

    if (i < n) {
      const float *row = L + (m.symmetric ? i * (i + 1) / 2 : i * n);
      const int    end = m.symmetric ? i + 1 : n;

#pragma unroll 4
      for (int j = within; j < end; j += SMALL_GROUP) sum += row[j] * v[j];
    }
    sum = SmallGroupSum(sum);
    if (i < n && within == 0) y[i] = sum;
  }
  __syncthreads();
  for (int round = 0; round < rounds; round++) {
    const int c   = group + groups * round;
    float     sum = 0;

    if (m.symmetric) {
      if (c < n) {
#pragma unroll 4
        for (int j = c + within; j < n; j += SMALL_GROUP) sum += L[j * (j + 1) / 2 + c] * y[j];
      }
      sum = SmallGroupSum(sum);
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
static __device__ __forceinline__ void SmallDenseApart(const GridMGSmall &m, bool single, const SmallArrays &a, const SmallListArrays &w, unsigned int rank,
                                                       SmallCluster &cluster)
{
  __shared__ float     y[GRIDMG_SMALL_MOST / 8];
  unsigned char *const memory = reinterpret_cast<unsigned char *>(SmallFours());
  const int            n = m.dense, mine = static_cast<int>(rank), blocks = m.cluster, rows = SmallDenseRows(m, mine);
  const int            lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32, warps = static_cast<int>(blockDim.x) / 32;
  const int *const     at = reinterpret_cast<const int *>(memory + m.unknowns);
  const float *const   S  = reinterpret_cast<const float *>(at + n);
  float *const v = reinterpret_cast<float *>(memory + m.imagebytes + m.scratch), *const part = v + n;
  const auto row = [&](int r) -> const float * {
    if (here) return reinterpret_cast<const float *>(memory + m.packed) + SmallDenseRow(m, mine, r);
    return m.L + static_cast<size_t>(mine + blocks * r) * n;
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
  for (int r = warp; r < rows; r += warps) {
    const float *const L   = row(r);
    const int          end = m.symmetric ? mine + blocks * r + 1 : n;
    float              sum = 0;

#pragma unroll 8
    for (int j = lane; j < end; j += 32) sum += L[j] * v[j];
    sum = SmallWarpSum(sum);
    if (lane == 0) y[r] = sum;
  }
  __syncthreads();
  if (m.symmetric) {
    for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
      float sum = 0;

#pragma unroll 8
      for (int r = c > mine ? (c - mine + blocks - 1) / blocks : 0; r < rows; r++) sum += row(r)[c] * y[r];
      part[c] = sum;
    }
  }
  cluster.Wait();
  for (int c = static_cast<int>(threadIdx.x); c < n; c += static_cast<int>(blockDim.x)) {
    const int place = at[c];
    float     sum   = 0;

    if (!single && place >= 0 && place >> 12 != mine) continue;
    if (m.symmetric) {
#pragma unroll 8
      for (int block = 0; block < blocks; block++) sum += SmallRemote(part + c, static_cast<unsigned int>(block));
    } else sum = SmallRemote(y + c / blocks, static_cast<unsigned int>(c % blocks));
    *SmallUnknown(place, a.x, a.n, w.x) = S[c] * sum;
  }
}

/* A step consists of an operation, a flag for the barrier after the operation, and a level */
#define SMALL_BARRIER 16u /* barrier of all blocks */

template <int threads>
static __global__ void __launch_bounds__(threads, 1) GridMGSmallKernel(const __grid_constant__ GridMGSmall m)
{
  __shared__ uint64_t       barrier[2];
  __shared__ unsigned short program[GRIDMG_SMALL_STEPS];
  __shared__ SmallArrays    arrays[GRIDMG_SMALL_LEVELS];
  __shared__ int            single[GRIDMG_SMALL_LEVELS], by[GRIDMG_SMALL_LEVELS];
  const unsigned int        rank    = SmallRank();
  SmallCluster              cluster = {barrier, 0, static_cast<unsigned int>(m.cluster)};

  PDLTrigger();
  if (threadIdx.x < 2) SmallBarrierInit(&barrier[threadIdx.x], cluster.blocks);
  {
    const uint4 *from = reinterpret_cast<const uint4 *>(m.image + static_cast<size_t>(rank) * m.imagebytes);

#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x); k < m.imagebytes / 16; k += threads) reinterpret_cast<uint4 *>(SmallFours())[k] = from[k];
  }
  if (m.listplace >= 0) {
    for (int k = static_cast<int>(threadIdx.x); k < m.listbytes / 8; k += threads)
      reinterpret_cast<uint2 *>(SmallFours())[m.listplace / 8 + k] = reinterpret_cast<const uint2 *>(m.lists)[k];
  }
  for (int k = static_cast<int>(threadIdx.x); k < m.steps; k += threads) program[k] = m.program[k];
  if (static_cast<int>(threadIdx.x) < m.levels) {
    arrays[threadIdx.x] = SmallArraysOf(m.level[threadIdx.x], m.imagebytes);
    single[threadIdx.x] = m.level[threadIdx.x].single;
    by[threadIdx.x]     = m.level[threadIdx.x].by[0];
  }
  __syncthreads();
  (void)PDLWait(m.b); /* the data above do not change between applications */
  {
    const GridMGSmallLevel &l = m.level[0];
    const SmallArrays       a = arrays[0];

    for (int slot = static_cast<int>(threadIdx.x); slot < a.n; slot += threads) {
      int        I, j, k;
      const bool is = SmallPairOf(l, m.cluster, static_cast<int>(rank), slot, &I, &j, &k);

      for (int colour = 0; colour < 2; colour++) {
        const int   i = is ? 2 * I + (((j + k) & 1) ^ colour) : l.n[0];
        const float b = i < l.n[0] ? m.b[i + l.n[0] * (j + l.n[1] * k)] : 0.f;

        SmallNumbers()[a.b + colour * a.n + slot] = b;
        SmallNumbers()[a.x + colour * a.n + slot] = colour ? 0.f : SmallFours()[a.second + slot].w * b;
      }
    }
    for (int k = static_cast<int>(threadIdx.x); k < l.wells; k += threads) {
      const SmallListArrays w = SmallListOf(m, l);

      w.x[k] = 0;
      w.b[k] = m.b[l.n[0] * l.n[1] * l.n[2] + k];
    }
  }
  SmallClusterBarrier();
  for (int t = 0; t < m.steps; t++) {
    const unsigned int      step = program[t], k = step >> 8;
    const SmallArrays       a     = arrays[k];
    const bool              alone = single[k];
    const GridMGSmallLevel &l     = m.level[k];

    switch (step & 15) {
    case GRIDMG_SMALL_RED:
      SmallSweep<true, false, 0>(a, alone);
      break;
    case GRIDMG_SMALL_BLACK:
      SmallSweep<true, true, 1>(a, alone);
      break;
    case GRIDMG_SMALL_BLACKUP:
      SmallSweep<true, false, 1>(a, alone);
      break;
    case GRIDMG_SMALL_RESIDUAL:
      SmallSweep<false, true, 0>(a, alone);
      break;
    case GRIDMG_SMALL_RESTRICT:
      if (alone || !single[k + 1]) SmallRestrict<true>(a, by[k], arrays[k + 1]);
      else SmallRestrict<false>(a, by[k], arrays[k + 1]);
      if (l.wells) {
        const SmallListArrays w = SmallListOf(m, l), wc = SmallListOf(m, m.level[k + 1]);

        for (int well = static_cast<int>(threadIdx.x); well < l.wells; well += threads) {
          wc.b[well] = w.r[well];
          wc.x[well] = 0;
        }
      }
      break;
    case GRIDMG_SMALL_LISTRED:
    case GRIDMG_SMALL_LISTBLACK:
      SmallList(l, a, SmallListOf(m, l), rank, (step & 15) == GRIDMG_SMALL_LISTBLACK);
      break;
    case GRIDMG_SMALL_UNLISTRED:
    case GRIDMG_SMALL_UNLISTBLACK:
      SmallUnlist(l, a, SmallListOf(m, l), rank, (step & 15) == GRIDMG_SMALL_UNLISTBLACK);
      break;
    case GRIDMG_SMALL_LISTRESIDUAL:
      SmallListResidual(l, a, SmallListOf(m, l), rank);
      break;
    case GRIDMG_SMALL_WELLS:
    case GRIDMG_SMALL_WELLSUP:
      SmallWells(l, a, SmallListOf(m, l), (step & 15) == GRIDMG_SMALL_WELLSUP);
      break;
    case GRIDMG_SMALL_LISTPROLONG:
      SmallListProlong(l, a, SmallListOf(m, l), arrays[k + 1], SmallListOf(m, m.level[k + 1]), rank, m.factor);
      break;
    case GRIDMG_SMALL_PROLONG:
      SmallProlong(a, arrays[k + 1], m.factor);
      break;
    default:
      if (!m.apart) SmallDenseHere(m, a, SmallListOf(m, l));
      else if (m.packed >= 0) SmallDenseApart<true>(m, alone, a, SmallListOf(m, l), rank, cluster);
      else SmallDenseApart<false>(m, alone, a, SmallListOf(m, l), rank, cluster);
    }
    if (step & SMALL_BARRIER) cluster.Wait();
    else __syncthreads();
  }
  {
    const GridMGSmallLevel &l = m.level[0];
    const SmallArrays       a = arrays[0];

    for (int slot = static_cast<int>(threadIdx.x); slot < a.n; slot += threads) {
      int I, j, k;

      if (!SmallPairOf(l, m.cluster, static_cast<int>(rank), slot, &I, &j, &k)) continue;
      for (int colour = 0; colour < 2; colour++) {
        const int i = 2 * I + (((j + k) & 1) ^ colour);

        if (i < l.n[0]) m.x[i + l.n[0] * (j + l.n[1] * k)] = SmallNumbers()[a.x + colour * a.n + slot];
      }
    }
    if (rank == 0) {
      for (int k = static_cast<int>(threadIdx.x); k < l.wells; k += threads) m.x[l.n[0] * l.n[1] * l.n[2] + k] = SmallListOf(m, l).x[k];
    }
  }
  SmallClusterBarrier();
}

/* ------------------------------------------------------------ the plan */

/* Places the levels in shared memory; parts: the coarsest level is divided. Returns false if a level needs too many
   slots */
static inline bool GridMGSmallPlaceLevels(GridMGSmall *m, int alone, bool parts, size_t *image, size_t *work)
{
  int last = -1; /* coarsest level with parts */

  *image = *work = 0;
  for (int k = 0; k < m->levels; k++) {
    GridMGSmallLevel *l = &m->level[k];

    l->single = k == m->levels - 1 ? !parts || (k > 0 && m->level[k - 1].single) : static_cast<long long>(l->n[0]) * l->n[1] * l->n[2] <= alone;
    if (!l->single) last = k;
  }
  for (int k = m->levels - 1; k >= 0; k--) {
    GridMGSmallLevel *l = &m->level[k], *c = l + 1;

    l->row = k == m->levels - 1 ? (l->n[0] + 1) / 2 : c->row * l->by[0];
    for (int d = 0; d < 2; d++) {
      l->lines[d] = k < last ? c->lines[d] : l->n[d + 1];
      l->shift[d] = k < last ? c->shift[d] + l->by[d + 1] - 1 : 0;
    }
  }
  for (int k = 0; k < m->levels; k++) {
    GridMGSmallLevel *l   = &m->level[k];
    const int         all = l->lines[0] * l->lines[1], lines = l->single ? all : (all + m->cluster - 1) / m->cluster;
    const long long   slots = (static_cast<long long>(l->row) * lines << (l->shift[0] + l->shift[1]));

    if (slots > GRIDMG_SMALL_SLOTS - 8) return false;
    l->slots = static_cast<int>((slots + 7) / 8 * 8);
    l->image = static_cast<int>(*image);
    l->work  = static_cast<int>(*work);
    *image += static_cast<size_t>(l->slots) * (GRIDMG_SMALL_IMAGE + (k ? GRIDMG_SMALL_CHILD : 0));
    *work += static_cast<size_t>(l->slots) * GRIDMG_SMALL_WORK;
    l->saved = static_cast<int>(*work);
    *work += (2 * static_cast<size_t>(l->list[1]) + 3 * static_cast<size_t>(l->wells)) * sizeof(float);
  }
  return true;
}

/* Bytes of the dense matrix in the memory of each block */
static inline size_t GridMGSmallDenseBytes(const GridMGSmall *m)
{
  const size_t n = static_cast<size_t>(m->dense), cluster = static_cast<size_t>(m->cluster), rows = (n + cluster - 1) / cluster;
  size_t       numbers;

  if (m->apart) numbers = m->symmetric ? cluster * (rows * (rows + 1) / 2) : rows * n;
  else numbers = m->symmetric ? n * (n + 1) / 2 : n * n;
  return (numbers * sizeof(float) + 15) / 16 * 16;
}

/*
   Places all data in shared memory for a number of blocks. Levels with at most `alone` cells are single. Returns the
   bytes per block, or 0 if a level needs too many slots or the data do not fit.
*/
static inline size_t GridMGSmallPlace(GridMGSmall *m, int cluster, int alone, size_t room)
{
  const GridMGSmallLevel *coarsest = &m->level[m->levels - 1];
  /* places and scaling in the image; the same size for 2 work numbers per unknown */
  const size_t unknowns = (2 * sizeof(float) * static_cast<size_t>(m->dense) + 15) / 16 * 16;
  size_t       image, work;
  bool         fits = false;

  m->cluster = cluster;
  m->apart   = m->dense > GRIDMG_SMALL_HERE;
  for (int parts = m->apart && coarsest->n[1] * coarsest->n[2] >= cluster; parts >= 0 && !fits; parts--)
    fits = GridMGSmallPlaceLevels(m, alone, parts, &image, &work) && image + work + 2 * unknowns <= room;
  if (!fits) return 0;
  m->scratch = static_cast<int>(work);
  work += unknowns;
  m->unknowns = static_cast<int>(image);
  image += unknowns;
  for (m->packed = -1; m->packed < 0; m->apart = 1) {
    const size_t bytes = GridMGSmallDenseBytes(m);

    if (image + work + bytes <= room) {
      m->packed = static_cast<int>(image);
      image += bytes;
      break;
    }
    if (m->apart) break;
  }
  m->imagebytes = static_cast<int>(image);
  m->listplace  = -1;
  if (m->listbytes && image + work + static_cast<size_t>(m->listbytes) + 16 <= room) {
    m->listplace = static_cast<int>((image + work + 15) / 16 * 16);
    work += static_cast<size_t>(m->listbytes) + 16;
  }
  return image + work;
}

/* Translates pairs of operation and level into steps with barriers. Returns the number of steps */
static inline int GridMGSmallProgram(const GridMGSmall *m, int steps, const unsigned char step[], unsigned short program[])
{
  for (int t = 0; t < steps; t++) {
    const int  op = step[2 * t], k = step[2 * t + 1];
    const bool parts = !m->level[k].single, coarseparts = k < m->levels - 1 && !m->level[k + 1].single;
    /* next operation on the same level */
    const int next = t + 1 < steps && step[2 * t + 3] == k ? step[2 * t + 2] : -1;
    bool      all  = parts;

    switch (op) {
    case GRIDMG_SMALL_RESIDUAL:
    case GRIDMG_SMALL_LISTRESIDUAL: /* the next operation restricts to cells of the same block */
      all = parts && !coarseparts && next != GRIDMG_SMALL_LISTRESIDUAL;
      break;
    case GRIDMG_SMALL_RESTRICT:
      all = coarseparts;
      break;
    case GRIDMG_SMALL_RED:
    case GRIDMG_SMALL_UNLISTRED:
      all = parts && (next == GRIDMG_SMALL_BLACK || next == GRIDMG_SMALL_LISTBLACK || next == GRIDMG_SMALL_LISTRED);
      break;
    case GRIDMG_SMALL_PROLONG:
      all = parts && next != GRIDMG_SMALL_LISTPROLONG;
      break;
    case GRIDMG_SMALL_UNLISTBLACK:
    case GRIDMG_SMALL_WELLS:
    case GRIDMG_SMALL_WELLSUP:
      all = false;
      break;
    /* the next dense step overwrites numbers that other blocks read in this step. A finer level with parts has barriers
       in between */
    case GRIDMG_SMALL_DENSE:
      all = m->apart && (k == 0 || m->level[k - 1].single);
      break;
    default:
      break;
    }
    program[t] = static_cast<unsigned short>(op | (all ? SMALL_BARRIER : 0) | k << 8);
  }
  return steps;
}
