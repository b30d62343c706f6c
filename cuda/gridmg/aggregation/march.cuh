/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A visit of a level with red-black smoothing as two kernels. Each kernel reads the level once:

     down   Red, then black: from the right-hand side alone, or black from the iterate.
            Residuals of all cells, and their sums over aggregates.
     up     The coarse correction of red cells. Black, then red.

   A thread has a column of pairs of cells, (2I, j, k) and (2I+1, j, k) for all k of a chunk. One cell of a pair is red
   (i + j + k even), the other is black; the colours alternate from plane to plane. The neighbours of a red cell are
   black cells of the following pairs: its own pair; pair I-1 or I+1; the rows before and behind; the planes below and
   above. A block has a rectangle of pairs. Neighbours in the plane come from shared memory. Neighbours in other planes
   belong to the same thread.

   In turn t a thread computes red cells of plane t, black cells of plane t-1, and the results for plane t-2. The inputs
   are results of all threads in earlier turns, so one barrier per plane suffices. Entries are read when needed; entries
   of red cells are read two turns later than entries of black cells. Cells at the rim of a rectangle, two rows and one
   pair wide, are computed by two blocks.

   Gauss-Seidel computes x_i = D_i^-1 (b_i + sum_j T_ij x_j), without the old x_i. Residuals are b_i - sigma_i x_i -
   sum_j T_ij (x_i - x_j) for all cells, as rounded. The red cells of an iterate were computed last: another step on red
   cells would change nothing.

   A place outside of the grid is replaced by some cell inside: faces towards the place are 0.
*/

#include <cstdint>
#include <lithe/private/gridmg/gridmg.h>
#include "../../common/pdl.cuh"

#define GRIDMG_MARCH_HALO 2 /* rows on each side */

/* Input and output as PetscScalar: every stride-th number */
struct GridMGOuter {
  const PetscReal *x;       /* right-hand side, or NULL */
  PetscReal       *y;       /* result, or NULL */
  const double    *largest; /* largest modulus of x */
  double           factor;  /* factor of y */
  int              stride;
};

template <class C>
struct GridMGMarch {
  const C             *up[3], *down[3];
  const float         *table, *sigma, *dinv;
  const unsigned char *alive;
  const float         *b, *x; /* x: NULL if zero */
  float               *out;   /* down: the iterate, or NULL; up: the result */
  const float         *e;
  float               *bc;
  float                factor; /* factor of e */
  GridMGOuter          outer;
  int                  n[3], nc[2], by[3];
  int                  width, rows, rim; /* size of a block's rectangle in pairs; pairs at the rim */
  int                  chunk;            /* planes, a multiple of by[2] */
};

template <class C>
struct GridMGTable;

template <>
struct GridMGTable<uint8_t> {
  static constexpr int                    size = 256;
  static __device__ __forceinline__ float Of(const float *t, uint8_t c)
  {
    return t[c];
  }
};

template <>
struct GridMGTable<uint16_t> {
  static constexpr int                    size = 512;
  static __device__ __forceinline__ float Of(const float *t, uint16_t c)
  {
    return t[c >> 8] * t[256 + (c & 255)];
  }
};

/* Faces of a cell, or values of neighbours: the other cell of the pair, the other neighbour in the row, rows before and
   behind, planes below and above */
struct GridMGStar {
  float in, side, before, behind, below, above;
};

/* s: the cell's place in the pair. beforehand: distance to the cell with the face towards the row before; beneath:
   distance to the cell with the face towards the plane below */
template <class C>
static __device__ __forceinline__ GridMGStar GridMGReadFaces(const GridMGMarch<C> &m, const float *table, int c, int s, int beforehand, int beneath)
{
  using Table  = GridMGTable<C>;
  GridMGStar f = {0, 0, 0, 0, 0, 0};

  if (m.up[0]) {
    const C up = m.up[0][c], down = m.down[0][c - 1];

    f.in   = Table::Of(table, s ? down : up);
    f.side = Table::Of(table, s ? up : down);
  }
  if (m.up[1]) {
    f.before = Table::Of(table, m.down[1][c + beforehand]);
    f.behind = Table::Of(table, m.up[1][c]);
  }
  if (m.up[2]) {
    f.below = Table::Of(table, m.down[2][c + beneath]);
    f.above = Table::Of(table, m.up[2][c]);
  }
  return f;
}

template <class C>
static __device__ __forceinline__ float GridMGReadRight(const GridMGMarch<C> &m, double scale, int cells, int c)
{
  if (!m.outer.x) return m.b[c];
  return static_cast<float>(static_cast<double>(m.outer.x[static_cast<size_t>(c < cells ? c : cells - 1) * m.outer.stride]) * scale);
}

static __device__ __forceinline__ float GridMGSolve(const GridMGStar &f, float b, float dinv, const GridMGStar &x)
{
  return dinv * (((b + f.in * x.in + f.side * x.side) + (f.before * x.before + f.behind * x.behind)) + (f.below * x.below + f.above * x.above));
}

static __device__ __forceinline__ float GridMGResidualOf(const GridMGStar &f, float b, float sigma, float xi, const GridMGStar &x)
{
  const float sum = ((f.in * (x.in - xi) + f.side * (x.side - xi)) + (f.before * (x.before - xi) + f.behind * (x.behind - xi))) +
                    (f.below * (x.below - xi) + f.above * (x.above - xi));

  return b - (sigma * xi - sum);
}

/* Stores the sum of two rows. The row behind has written its sums to shared memory in the previous turn */
template <class C>
static __device__ __forceinline__ void GridMGStoreSums(const GridMGMarch<C> &m, const float *sums, int k, int threads, int place, int i, int j, float v0,
                                                       float v1)
{
  const int at = 2 * (k & 1) * threads + place + m.width, c = (i >> (m.by[0] - 1)) + m.nc[0] * (j / 2 + m.nc[1] * (k >> (m.by[2] - 1)));

  m.bc[c] = v0 + sums[at];
  if (m.by[0] == 1 && i + 1 < m.n[0]) m.bc[c + 1] = v1 + sums[threads + at];
}

/*
   Shared memory: 8 numbers per thread for down, 4 for up. blockDim.x is width times rows. Blocks in x, y and z:
   rectangles of width - 2 rim pairs, of rows - 4 rows, and chunks
*/
template <class C, bool upwards, int most, int blocks>
static __global__ void __launch_bounds__(most, blocks) GridMGMarchKernel(const __grid_constant__ GridMGMarch<C> m)
{
  extern __shared__ float shared[];
  __shared__ float        table[GridMGTable<C>::size];
  const int               place = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int               row = place / m.width, lane = place - row * m.width, plane = m.n[0] * m.n[1], cells = plane * m.n[2];
  const int               i     = 2 * (static_cast<int>(blockIdx.x) * (m.width - 2 * m.rim) + lane - m.rim);
  const int               j     = static_cast<int>(blockIdx.y) * (m.rows - 2 * GRIDMG_MARCH_HALO) + row - GRIDMG_MARCH_HALO;
  const int               first = static_cast<int>(blockIdx.z) * m.chunk, last = min(m.n[2], first + m.chunk);
  const bool   mine = lane >= m.rim && lane < m.width - m.rim && row >= GRIDMG_MARCH_HALO && row < m.rows - GRIDMG_MARCH_HALO && i < m.n[0] && j < m.n[1];
  const int    ci = min(max(i, 0), (m.n[0] - 1) & ~1), cj = min(max(j, 0), m.n[1] - 1), base = ci + m.n[0] * cj;
  const int    beforehand = cj > 0 ? -m.n[0] : m.n[0] * (m.n[1] - 1);
  const int    before = max(place - m.width, 0), behind = min(place + m.width, threads - 1), left = max(place - 1, 0), right = min(place + 1, threads - 1);
  float *const reds = shared, *const blacks = shared + 2 * threads, *const sums = shared + 4 * threads;
  double scale = 1, back = 1;
  /* red cells of planes t, t-1, t-2; black cells of planes t-1, t-2, t-3 */
  float R0 = 0, R1 = 0, R2 = 0, B1 = 0, B2 = 0, B3 = 0;
  float r1 = 0, r2 = 0; /* residuals of black cells */
  float acc0 = 0, acc1 = 0, pending0 = 0, pending1 = 0;
  int   pending = -1; /* the plane with unfinished sums: the sums of the row behind are missing */

  PDLTrigger();
  for (int k = place; k < GridMGTable<C>::size; k += threads) table[k] = m.table[k];
  for (int k = place; k < (upwards ? 4 : 8) * threads; k += threads) shared[k] = 0;
  (void)PDLWait(m.b);
  if (m.outer.x) scale = LitheMGScaleOf(*m.outer.largest);
  if (upwards && m.outer.y) back = m.outer.factor * (1 / LitheMGScaleOf(*m.outer.largest));
  __syncthreads();

  for (int t = first - 2; t < last + 2; t++) {
    /* s: the place of the red cell in planes t and t-2, and of the black cell in plane t-1 */
    const int now = t & 1, then = 1 - now, s = (j + t) & 1;

    {
      const int k = min(max(t, 0), m.n[2] - 1), c = base + s + plane * k;

      if (m.x) R0 = m.x[c];
      else R0 = m.dinv[c] * GridMGReadRight(m, scale, cells, c);
      if (upwards && (!m.alive || m.alive[c]))
        R0 += m.factor * m.e[(min(ci + s, m.n[0] - 1) >> (m.by[0] - 1)) + m.nc[0] * ((cj >> (m.by[1] - 1)) + m.nc[1] * (k >> (m.by[2] - 1)))];
      reds[now * threads + place] = R0;
    }
    {
      const int        k = min(max(t - 1, 0), m.n[2] - 1), c = base + s + plane * k;
      const GridMGStar f = GridMGReadFaces(m, table, c, s, beforehand, k > 0 ? -plane : plane * (m.n[2] - 1));
      const float      b = GridMGReadRight(m, scale, cells, c), dinv = m.dinv[c];
      GridMGStar       x;

      x.in     = R1;
      x.side   = reds[then * threads + (s ? right : left)];
      x.before = reds[then * threads + before];
      x.behind = reds[then * threads + behind];
      x.below  = R2;
      x.above  = R0;
      B1       = GridMGSolve(f, b, dinv, x);
      if (!upwards) r1 = GridMGResidualOf(f, b, m.sigma[c], B1, x);
      blacks[then * threads + place] = B1;
    }
    {
      const int        k = min(max(t - 2, 0), m.n[2] - 1), c = base + s + plane * k;
      const bool       there = mine && t - 2 >= first;
      const GridMGStar f     = GridMGReadFaces(m, table, c, s, beforehand, k > 0 ? -plane : plane * (m.n[2] - 1));
      const float      b     = GridMGReadRight(m, scale, cells, c);
      GridMGStar       x;

      x.in     = B2;
      x.side   = blacks[now * threads + (s ? right : left)];
      x.before = blacks[now * threads + before];
      x.behind = blacks[now * threads + behind];
      x.below  = B3;
      x.above  = B1;
      if (upwards) {
        const float R = GridMGSolve(f, b, m.dinv[c], x), v0 = s ? B2 : R, v1 = s ? R : B2;

        if (there && m.outer.y) {
          PetscReal *const y = m.outer.y + static_cast<size_t>(c - s) * m.outer.stride;

          y[0] = static_cast<PetscReal>(static_cast<double>(v0) * back);
          if (i + 1 < m.n[0]) y[m.outer.stride] = static_cast<PetscReal>(static_cast<double>(v1) * back);
        } else if (there) {
          m.out[c - s] = v0;
          if (i + 1 < m.n[0]) m.out[c - s + 1] = v1;
        }
      } else {
        const float r  = GridMGResidualOf(f, b, m.sigma[c], R2, x);
        float       v0 = s ? r2 : r, v1 = s ? r : r2;

        if (pending >= 0 && mine && !(j & 1)) GridMGStoreSums(m, sums, pending, threads, place, i, j, pending0, pending1);
        pending = -1;
        if (there && m.out) {
          m.out[c - s] = s ? B2 : R2;
          if (i + 1 < m.n[0]) m.out[c - s + 1] = s ? R2 : B2;
        }
        if (m.alive) {
          if (!m.alive[c - s]) v0 = 0;
          if (!m.alive[c - s + 1]) v1 = 0;
        }
        if (i + 1 >= m.n[0]) v1 = 0;
        if (t - 2 >= first) {
          if (m.by[0] == 2) acc0 += v0 + v1;
          else {
            acc0 += v0;
            acc1 += v1;
          }
          if (m.by[2] == 1 || (k & 1) || k == m.n[2] - 1) {
            if (m.by[1] == 2) {
              const int buffer = 2 * (k & 1) * threads;

              sums[buffer + place]           = mine ? acc0 : 0.f;
              sums[buffer + threads + place] = mine ? acc1 : 0.f;
              pending0                       = acc0;
              pending1                       = acc1;
              pending                        = k;
            } else if (mine) {
              const int to = (i >> (m.by[0] - 1)) + m.nc[0] * (j + m.nc[1] * (k >> (m.by[2] - 1)));

              m.bc[to] = acc0;
              if (m.by[0] == 1 && i + 1 < m.n[0]) m.bc[to + 1] = acc1;
            }
            acc0 = acc1 = 0;
          }
        }
      }
    }
    __syncthreads();
    R2 = R1;
    R1 = R0;
    B3 = B2;
    B2 = B1;
    r2 = r1;
  }
  if (!upwards && pending >= 0 && mine && !(j & 1)) GridMGStoreSums(m, sums, pending, threads, place, i, j, pending0, pending1);
}

/* ------------------------------------------------------------ shapes */

struct GridMGMarchShape {
  int    width, rows, rim, chunk, columns[3]; /* columns: blocks in x, y and z */
  double cost;
};

/* Chooses the rectangle and the planes of a block. All multiprocessors should be busy, and few cells computed twice.
   resident: threads per multiprocessor */
static inline GridMGMarchShape GridMGMarchShapeOf(const int n[3], const int by[3], int processors, int most, int resident)
{
  const int        pairs = (n[0] + 1) / 2;
  GridMGMarchShape best  = {};

  for (int tiles = 1; tiles <= pairs; tiles++) {
    GridMGMarchShape shape = {};

    shape.rim   = tiles > 1 ? 1 : 0;
    shape.width = (pairs + tiles - 1) / tiles + 2 * shape.rim;
    if (shape.width < 8 && tiles > 1) break;
    shape.columns[0] = (pairs + shape.width - 2 * shape.rim - 1) / (shape.width - 2 * shape.rim);
    for (int rows = 6; rows * shape.width <= most && rows - 4 <= n[1] + 1; rows += 2) {
      const int threads = rows * shape.width, together = resident / ((threads + 31) / 32 * 32);

      if (!together) break;
      shape.rows       = rows;
      shape.columns[1] = (n[1] + rows - 5) / (rows - 4);
      for (int chunks = 1; chunks <= (n[2] + by[2] - 1) / by[2]; chunks++) {
        const int planes = ((n[2] + chunks - 1) / chunks + by[2] - 1) / by[2] * by[2];

        shape.chunk      = planes;
        shape.columns[2] = (n[2] + planes - 1) / planes;
        {
          const long long all  = static_cast<long long>(shape.columns[0]) * shape.columns[1] * shape.columns[2];
          const long long room = static_cast<long long>(processors) * together, waves = (all + room - 1) / room;
          const int       here = static_cast<int>(waves > 1 ? together : (all + processors - 1) / processors);

          shape.cost = static_cast<double>(waves) * (planes + 4) * (1000. + 1.6 * here * threads);
        }
        if (best.width == 0 || shape.cost < best.cost) best = shape;
      }
    }
  }
  return best;
}
