/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Small levels in the memory of the blocks: places of pairs, and images of the data that do not change between
   applications. The kernel is in small.cuh.
*/

#include <lithe/private/gridmg/gridmg.h>
#include "smallcluster.cuh"

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

/* Rows of cells and wells with edges in a list, of a level. Offsets are in bytes */
struct GridMGSmallList {
  int rows, edges; /* offsets of the arrays of this list among all lists */
  int part[2];     /* ends of the rows of red cells, and of black cells */
  int wells;
  int coupled; /* edges between wells exist */
  int saved;   /* offset of 2 numbers per row of a cell and 3 numbers per well */
};

struct GridMGSmallLevel {
  const void          *up[3], *down[3];
  const float         *table, *sigma, *dinv;
  const unsigned char *alive;
  int                  bits, n[3], by[3];
  int                  row;    /* pairs per line, some of which may be empty */
  int                  single; /* all blocks have all lines */
  /* lines in y and z: of the coarsest level with parts, or of this level if this level is coarser */
  int             lines[2];
  int             shift[2];    /* log2 of the lines of this level per line of lines[], in y and z */
  int             slots;       /* slots per block, a multiple of 8 */
  int             image, work; /* offsets of this level in the image and in the changing data, in bytes */
  GridMGSmallList list;
};

/* The dense matrix of the coarsest level. Offsets are in bytes */
struct GridMGSmallDense {
  int          n, symmetric; /* n: unknowns of the coarsest level */
  int          packed;       /* offset of the matrix in the image, or -1 */
  int          apart;        /* rows are divided among the blocks in turn */
  int          unknowns;     /* offset of the places of unknowns and of their scaling in the image */
  int          scratch;      /* offset of 2 numbers per unknown */
  const float *L, *S;
};

/* All lists. place: their offset in shared memory, or -1 */
struct GridMGSmallLists {
  const unsigned char *data;
  int                  bytes, place;
};

/* The argument of the kernels: a cycle over the small levels */
struct GridMGSmallCycle {
  int                   levels, steps, cluster;
  int                   imagebytes; /* size of an image */
  float                 factor;
  const unsigned short *program; /* per step: operation + 256 level */
  unsigned char        *image;
  const float          *b;
  float                *x;
  GridMGSmallLists      lists;
  GridMGSmallDense      dense;
  GridMGSmallLevel      level[GRIDMG_SMALL_LEVELS];
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
static __host__ __device__ __forceinline__ int SmallDenseRows(const GridMGSmallCycle &m, int rank)
{
  return (m.dense.n - rank + m.cluster - 1) / m.cluster;
}

/* Offset of row r of a block among the rows of the block */
static __host__ __device__ __forceinline__ int SmallDenseRow(const GridMGSmallCycle &m, int rank, int r)
{
  return m.dense.symmetric ? r * (rank + 1) + m.cluster * (r * (r - 1) / 2) : r * m.dense.n;
}

/* blockIdx.x: a level, blockIdx.y: a block of the cluster */
static __global__ void GridMGSmallImageKernel(const __grid_constant__ GridMGSmallCycle m)
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
    int *const   at    = reinterpret_cast<int *>(image + m.dense.unknowns);
    float *const scale = reinterpret_cast<float *>(at + m.dense.n);

    for (int c = static_cast<int>(threadIdx.x); c < m.dense.n; c += static_cast<int>(blockDim.x)) {
      const int line = c / l.n[0], i = c - line * l.n[0], j = line % l.n[1], k = line / l.n[1], cells = l.n[0] * l.n[1] * l.n[2];

      at[c]    = c < cells ? static_cast<int>(SmallCode(l, m.cluster, i >> 1, j, k)) | ((i + j + k) & 1) : -1 - (c - cells);
      scale[c] = m.dense.S[c];
    }
  }
  if (level == 0 && m.dense.packed >= 0) {
    float *const packed = reinterpret_cast<float *>(image + m.dense.packed);
    const int    rows   = m.dense.apart ? SmallDenseRows(m, rank) : m.dense.n;

    for (int r = 0; r < rows; r++) {
      const int    i = m.dense.apart ? rank + m.cluster * r : r, length = m.dense.symmetric ? i + 1 : m.dense.n;
      float *const row = packed + (m.dense.apart ? SmallDenseRow(m, rank, r) : (m.dense.symmetric ? i * (i + 1) / 2 : i * m.dense.n));

      for (int j = static_cast<int>(threadIdx.x); j < length; j += static_cast<int>(blockDim.x)) row[j] = m.dense.L[static_cast<size_t>(i) * m.dense.n + j];
    }
  }
}
