/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A visit of a level with red-black smoothing as two kernels, which read the level once each:

     down   red, then black from the right side alone or from the iterate; residuals of all cells; their sums over aggregates
     up     what the coarse level adds to red cells; black, then red

   A thread has a column of pairs of cells, (2I, j, k) and (2I+1, j, k) for all k of a chunk: one is red (i + j + k even), one black, which change
   places from plane to plane. In pairs, a red cell has the black ones of: its own pair; pair I-1 or I+1; the rows before and behind; the
   planes below and above. A warp has 32 pairs of a row, a block some rows. Neighbours in the row come from the warp, those in other rows from shared
   memory, those in other planes are the thread's own.

   In turn t a thread makes red of plane t, black of plane t-1, and what needs these of plane t-2, from what all others made in turns before:
   one barrier a plane. Cells of the two outermost rows and of the first and the last pair are made by two blocks.

   Gauss-Seidel makes x_i = D_i^-1 (b_i + sum_j T_ij x_j), which needs no x_i. Residuals are b_i - sigma_i x_i - sum_j T_ij (x_i - x_j) for all cells, as rounded.
*/

#include <cstdint>
#include <lithe/private/gridmg.h>

#define GRIDMG_MARCH_HALO 2 /* rows on each side */

/* What comes in and goes out as PetscScalar: every stride-th number */
struct GridMGOuter {
  const PetscReal *x;       /* right side, or NULL */
  PetscReal       *y;       /* result, or NULL */
  const double    *largest; /* of x */
  double           factor;  /* of y */
  int              stride;
};

template <class C>
struct GridMGMarch {
  const C             *up[3], *down[3];
  const float         *table, *sigma, *dinv; /* dinv NULL: the diagonal is that of faces and row sum */
  const unsigned char *alive;
  const float         *b, *x; /* x NULL: zero */
  float               *out;   /* down: red cells (and black ones, if all) are noted here, or NULL; up: the result */
  const float         *e;
  float               *bc;
  float                factor; /* of e */
  GridMGOuter          outer;
  int                  n[3], nc[2], by[3];
  int                  chunk;        /* planes, a multiple of by[2] */
  int                  symmetric, all;
};

template <class C>
struct GridMGTable;

template <>
struct GridMGTable<uint8_t> {
  static constexpr int size = 256;
  static __device__ __forceinline__ float Of(const float *t, uint8_t c) { return t[c]; }
};

template <>
struct GridMGTable<uint16_t> {
  static constexpr int size = 512;
  static __device__ __forceinline__ float Of(const float *t, uint16_t c) { return t[c >> 8] * t[256 + (c & 255)]; }
};

static __device__ __forceinline__ float GridMGReciprocal(float d)
{
  float r;

  asm("rcp.approx.f32 %0, %1;" : "=f"(r) : "f"(d));
  return d > 0 ? r : 0.f;
}

/* A cell of a pair: faces towards its pair, the other one in the row, rows before and behind, planes below and above */
struct GridMGCell {
  float in, side, before, behind, below, above, b, sigma, dinv;
};

/* The codes and numbers of a pair and plane, as they are read */
template <class C>
struct GridMGRaw {
  C     in[2], side[2], before[2], behind[2], below[2], above[2];
  float b[2], sigma[2], dinv[2];
};

/* colour 0: red */
template <class C>
static __device__ __forceinline__ void GridMGReadPair(const GridMGMarch<C> &m, double scale, int i, int j, int k, bool rowvalid, GridMGRaw<C> &raw)
{
  const int  red   = (j + k) & 1;
  const bool plane = rowvalid && k >= 0 && k < m.n[2];

#pragma unroll
  for (int colour = 0; colour < 2; colour++) {
    const int  s = colour ? 1 - red : red, at = i + s;
    const bool valid = plane && at >= 0 && at < m.n[0];
    const int  c     = at + m.n[0] * (j + m.n[1] * k);

    raw.in[colour] = raw.side[colour] = raw.before[colour] = raw.behind[colour] = raw.below[colour] = raw.above[colour] = 0;
    raw.b[colour] = raw.sigma[colour] = raw.dinv[colour] = 0;
    if (!valid) continue;
    if (m.up[0]) {
      raw.in[colour]   = s ? m.down[0][c - 1] : m.up[0][c];
      raw.side[colour] = s ? m.up[0][c] : m.down[0][c - 1];
    }
    if (m.up[1]) {
      if (j > 0) raw.before[colour] = m.down[1][c - m.n[0]];
      raw.behind[colour] = m.up[1][c];
    }
    if (m.up[2]) {
      if (!m.symmetric && k > 0) raw.below[colour] = m.down[2][c - m.n[0] * m.n[1]];
      raw.above[colour] = m.up[2][c];
    }
    raw.b[colour]     = m.outer.x ? static_cast<float>(static_cast<double>(m.outer.x[static_cast<size_t>(c) * m.outer.stride]) * scale) : m.b[c];
    raw.sigma[colour] = m.sigma ? m.sigma[c] : 0.f;
    if (m.dinv) raw.dinv[colour] = m.dinv[c];
  }
}

/* below: the face above in the plane below, of a symmetric operator */
template <class C>
static __device__ __forceinline__ void GridMGDecodeCell(const GridMGMarch<C> &m, const float *table, const GridMGRaw<C> &raw, int colour, float below,
                                                        GridMGCell &cell)
{
  using Table  = GridMGTable<C>;
  cell.in      = Table::Of(table, raw.in[colour]);
  cell.side    = Table::Of(table, raw.side[colour]);
  cell.before  = Table::Of(table, raw.before[colour]);
  cell.behind  = Table::Of(table, raw.behind[colour]);
  cell.above   = Table::Of(table, raw.above[colour]);
  cell.below   = m.symmetric ? below : Table::Of(table, raw.below[colour]);
  cell.b       = raw.b[colour];
  cell.sigma   = raw.sigma[colour];
  cell.dinv    = m.dinv ? raw.dinv[colour]
                        : GridMGReciprocal(((cell.in + cell.side) + (cell.before + cell.behind)) + ((cell.below + cell.above) + cell.sigma));
}

/* The values of the other colour that a cell has as neighbours */
struct GridMGNeighbours {
  float in, side, before, behind, below, above;
};

static __device__ __forceinline__ float GridMGSolve(const GridMGCell &c, const GridMGNeighbours &x)
{
  float sum = c.b;

  sum += c.in * x.in;
  sum += c.side * x.side;
  sum += c.before * x.before;
  sum += c.behind * x.behind;
  sum += c.below * x.below;
  sum += c.above * x.above;
  return c.dinv * sum;
}

static __device__ __forceinline__ float GridMGResidualOf(const GridMGCell &c, float xi, const GridMGNeighbours &x)
{
  float sum = c.in * (x.in - xi);

  sum += c.side * (x.side - xi);
  sum += c.before * (x.before - xi);
  sum += c.behind * (x.behind - xi);
  sum += c.below * (x.below - xi);
  sum += c.above * (x.above - xi);
  return c.b - (c.sigma * xi - sum);
}

/* Value of the neighbouring pair in the row: that before it, if the cell is the first of its pair, else the one behind */
static __device__ __forceinline__ float GridMGSide(float v, int lane, int s)
{
  return __shfl_sync(0xffffffffu, v, lane + (s ? 1 : -1));
}

/* x of the other colour from memory, or 0 outside */
template <class C>
static __device__ __forceinline__ float GridMGLoad(const GridMGMarch<C> &m, int i, int j, int k)
{
  if (i < 0 || i >= m.n[0] || j < 0 || j >= m.n[1] || k < 0 || k >= m.n[2]) return 0.f;
  return m.x[i + m.n[0] * (j + m.n[1] * k)];
}

/* The sum of two rows: the row behind has noted its own in turns before */
template <class C>
static __device__ __forceinline__ void StorePending(const GridMGMarch<C> &m, const float *sums, int k, int plane, int place, bool mine, int i, int j, float v0,
                                                    float v1)
{
  const int at = 2 * (k & 1) * plane + place + 32, c = (i >> (m.by[0] - 1)) + m.nc[0] * (j / 2 + m.nc[1] * (k >> (m.by[2] - 1)));

  if (!mine || (j & 1)) return;
  m.bc[c] = v0 + sums[at];
  if (m.by[0] == 1 && i + 1 < m.n[0]) m.bc[c + 1] = v1 + sums[plane + at];
}

/*
   Shared memory: 8 numbers a thread. blockDim = (32, rows). blockIdx.x: tiles of 30 pairs, blockIdx.y: tiles of rows - 4 rows, blockIdx.z: chunks
*/
template <class C, bool upwards, bool ahead, int threads, int blocks>
static __global__ void __launch_bounds__(threads, blocks) GridMGMarchKernel(const __grid_constant__ GridMGMarch<C> m)
{
  extern __shared__ float shared[];
  __shared__ float        table[GridMGTable<C>::size];
  const int               lane = static_cast<int>(threadIdx.x), row = static_cast<int>(threadIdx.y), rows = static_cast<int>(blockDim.y), plane = rows * 32;
  const int               inner = rows - 2 * GRIDMG_MARCH_HALO, place = row * 32 + lane;
  const int               i = 2 * (static_cast<int>(blockIdx.x) * 30 + lane - 1), j = static_cast<int>(blockIdx.y) * inner + row - GRIDMG_MARCH_HALO;
  const int               first = static_cast<int>(blockIdx.z) * m.chunk, last = min(m.n[2], first + m.chunk);
  const bool              rowvalid = j >= 0 && j < m.n[1];
  const bool              mine     = rowvalid && lane >= 1 && lane <= 30 && row >= GRIDMG_MARCH_HALO && row < rows - GRIDMG_MARCH_HALO && i < m.n[0];
  const int               before = row > 0 ? place - 32 : place, behind = row < rows - 1 ? place + 32 : place;
  float *const            reds = shared, *const blacks = shared + 2 * plane, *const sums = shared + 4 * plane;
  double                  scale = 1;

  GridMGCell red0 = {}, red1 = {}, red2 = {}, black0 = {}, black1 = {}; /* of planes t, t-1, t-2 */
  float      R0 = 0, R1 = 0, R2 = 0, B1 = 0, B2 = 0, B3 = 0;            /* values of these planes */
  float      r1 = 0, r2 = 0;                                           /* residuals of black cells */
  float      acc0 = 0, acc1 = 0, pending0 = 0, pending1 = 0;
  int        pending = -1; /* a plane whose sums wait for those of the row behind */

  for (int k = place; k < GridMGTable<C>::size; k += plane) table[k] = m.table[k];
  for (int k = place; k < 8 * plane; k += plane) shared[k] = 0;
  if (m.outer.x) scale = GridMGScaleOf(*m.outer.largest);
  __syncthreads();

  GridMGRaw<C> next;

  if (ahead) GridMGReadPair(m, scale, i, j, first - 2, rowvalid, next);
  for (int t = first - 2; t < last + 2; t++) {
    GridMGRaw<C> raw;
    const int    now = t & 1, then = 1 - now;

    if (ahead) {
      raw = next;
      GridMGReadPair(m, scale, i, j, t + 1, rowvalid, next);
    } else GridMGReadPair(m, scale, i, j, t, rowvalid, raw);

    /* Red of plane t. A red cell is above a black one */
    {
      const int s = (j + t) & 1;

      GridMGDecodeCell(m, table, raw, 0, black1.above, red0);
      GridMGDecodeCell(m, table, raw, 1, red1.above, black0);
      if (t == first - 2 && m.symmetric) {
        /* the plane below has not been read */
        const bool there = rowvalid && t > 0;
        if (there && i + s >= 0 && i + s < m.n[0]) red0.below = GridMGTable<C>::Of(table, m.up[2][i + s + m.n[0] * (j + m.n[1] * (t - 1))]);
        if (there && i + 1 - s >= 0 && i + 1 - s < m.n[0]) black0.below = GridMGTable<C>::Of(table, m.up[2][i + 1 - s + m.n[0] * (j + m.n[1] * (t - 1))]);
        if (there && !m.dinv) {
          red0.dinv   = GridMGReciprocal(((red0.in + red0.side) + (red0.before + red0.behind)) + ((red0.below + red0.above) + red0.sigma));
          black0.dinv = GridMGReciprocal(((black0.in + black0.side) + (black0.before + black0.behind)) + ((black0.below + black0.above) + black0.sigma));
        }
      }
      if (upwards) {
        const bool there = rowvalid && t >= 0 && t < m.n[2] && i + s >= 0 && i + s < m.n[0];

        R0 = 0;
        if (there) {
          const int c = i + s + m.n[0] * (j + m.n[1] * t);

          R0 = m.x ? m.x[c] : red0.dinv * red0.b;
          if (!m.alive || m.alive[c]) R0 += m.factor * m.e[((i + s) >> (m.by[0] - 1)) + m.nc[0] * ((j >> (m.by[1] - 1)) + m.nc[1] * (t >> (m.by[2] - 1)))];
        }
      } else if (!m.x) R0 = red0.dinv * red0.b;
      else {
        GridMGNeighbours x;

        x.in     = GridMGLoad(m, i + 1 - s, j, t);
        x.side   = GridMGLoad(m, s ? i + 2 : i - 1, j, t);
        x.before = GridMGLoad(m, i + s, j - 1, t);
        x.behind = GridMGLoad(m, i + s, j + 1, t);
        x.below  = GridMGLoad(m, i + s, j, t - 1);
        x.above  = GridMGLoad(m, i + s, j, t + 1);
        R0       = GridMGSolve(red0, x);
      }
      reds[now * plane + place] = R0;
    }

    /* Black of plane t-1. Its place in the pair is that of red in plane t */
    {
      const int        s = (j + t) & 1;
      GridMGNeighbours x;

      x.in     = R1;
      x.side   = GridMGSide(R1, lane, s);
      x.before = reds[then * plane + before];
      x.behind = reds[then * plane + behind];
      x.below  = R2;
      x.above  = R0;
      B1       = GridMGSolve(black1, x);
      if (!upwards) r1 = GridMGResidualOf(black1, B1, x);
      blacks[then * plane + place] = B1;
    }

    /* Plane t-2, in which red has the place that it has in plane t */
    {
      const int        s = (j + t) & 1, k = t - 2;
      const bool       there = mine && k >= first && k < last;
      GridMGNeighbours x;

      x.in     = B2;
      x.side   = GridMGSide(B2, lane, s);
      x.before = blacks[now * plane + before];
      x.behind = blacks[now * plane + behind];
      x.below  = B3;
      x.above  = B1;
      if (upwards) {
        const float R = GridMGSolve(red2, x);

        if (there) {
          const int c = i + m.n[0] * (j + m.n[1] * k);
          const float v0 = s ? B2 : R, v1 = s ? R : B2;

          if (m.outer.y) {
            const double back = m.outer.factor * (1 / GridMGScaleOf(*m.outer.largest));

            m.outer.y[static_cast<size_t>(c) * m.outer.stride] = static_cast<PetscReal>(static_cast<double>(v0) * back);
            if (i + 1 < m.n[0]) m.outer.y[static_cast<size_t>(c + 1) * m.outer.stride] = static_cast<PetscReal>(static_cast<double>(v1) * back);
          } else {
            m.out[c] = v0;
            if (i + 1 < m.n[0]) m.out[c + 1] = v1;
          }
        }
      } else {
        const float r = GridMGResidualOf(red2, R2, x);
        float       v0 = s ? r2 : r, v1 = s ? r : r2;

        if (pending >= 0) StorePending(m, sums, pending, plane, place, mine, i, j, pending0, pending1);
        pending = -1;
        if (there) {
          const int c = i + m.n[0] * (j + m.n[1] * k);

          if (m.out) {
            if (m.all || !s) m.out[c] = s ? B2 : R2;
            if ((m.all || s) && i + 1 < m.n[0]) m.out[c + 1] = s ? R2 : B2;
          }
          if (m.alive) {
            if (!m.alive[c]) v0 = 0;
            if (i + 1 < m.n[0] && !m.alive[c + 1]) v1 = 0;
          }
        }
        if (k >= first && k < last) {
          if (m.by[0] == 2) acc0 += v0 + v1;
          else {
            acc0 += v0;
            acc1 += v1;
          }
          if (m.by[2] == 1 || (k & 1) || k == m.n[2] - 1) {
            if (m.by[1] == 2) {
              const int buffer = 2 * (k & 1) * plane;

              sums[buffer + place]         = mine ? acc0 : 0.f;
              sums[buffer + plane + place] = mine ? acc1 : 0.f;
              pending0                     = acc0;
              pending1                     = acc1;
              pending                      = k;
            } else if (mine) {
              const int K = k >> (m.by[2] - 1), c = (i >> (m.by[0] - 1)) + m.nc[0] * (j + m.nc[1] * K);

              m.bc[c] = acc0;
              if (m.by[0] == 1 && i + 1 < m.n[0]) m.bc[c + 1] = acc1;
            }
            acc0 = acc1 = 0;
          }
        }
      }
    }
    __syncthreads();
    red2   = red1;
    red1   = red0;
    black1 = black0;
    R2     = R1;
    R1     = R0;
    B3     = B2;
    B2     = B1;
    r2     = r1;
  }
  if (!upwards && pending >= 0) StorePending(m, sums, pending, plane, place, mine, i, j, pending0, pending1);
}
