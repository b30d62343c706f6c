/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A step, for example y = A u, for nodes with interior rows, by warps that march along s */

#include "rows.cuh"

typedef enum {
  SBP_TAKE_APPLY,  /* out = A u */
  SBP_TAKE_ADD,    /* out = b + sign A u */
  SBP_TAKE_ROUND,  /* rounded = scale (b - A u), in single precision */
  SBP_TAKE_SMOOTH, /* d = c1 d + c2 dinv (b - A u), out = u + d */
} SBPTake;

/* First and last + 1 of the nodes to be computed, and the nodes computed by warps: from <= i < to. The frame consists
   of the nodes that warps do not compute */
struct SBPFrame {
  int all[2][2], from[2], to[2];
};

/* Nodes of a launch, and their division among warps. Columns and rows are counted from the first own node. Numbers of
   nodes of other processes may be negative */
struct SBPDivision : SBPFrame {
  int n[2], start[2];  /* intervals of the whole grid; global number of the first own node */
  int low[2], high[2]; /* readable nodes: low <= i < high */
  int frame;           /* nodes of the frame */
  int frameonly;       /* 1: warps do nothing, because another kernel computes the interior */
  int frameblocks;     /* blocks for the frame, the first blocks of a launch */
  int columnwarps;     /* warps side by side */
  int chunk, chunks;   /* rows per warp; warps along s */
  /* 1: every second warp marches downwards, so that neighbouring warps read shared rows at about the same time */
  int turns;
};

/* Arrays and factors of a step: see SBPTake. Element (i, j) of an array is at j pitch + i, of u at j ghostpitch + i */
template <class V>
struct SBPArrays {
  using K = typename SBPReal<V>::type;

  const V      *u, *b, *d, *dinv;
  V            *out, *dout;
  float        *rounded;
  int           ghostpitch, pitch, roundedpitch;
  const double *scale; /* factor of rounded arrays; NULL: 1 */
  K             c1, c2, sign;
};

/* A step with an operator. Element (i, j) of a coefficient is at j coefficientpitch + i */
template <class V>
struct SBPMarch : SBPDivision, SBPArrays<V> {
  using K = typename SBPReal<V>::type;

  const K      *coefficient[5], *penalty[4];
  SBPFactors<K> factor;
  K             h[2];
  int           order, dirichlet[4], coefficientpitch;
};

/* The place of a warp in the grid */
struct SBPPlace {
  int  first; /* first column of the warp */
  int  row, turn, count;
  bool there;
};

/*
   reach: nodes at either end of a warp's row that only serve neighbours. scale: 1, or 2 if from and to count coarse
   nodes, with every second column.
*/
template <class L, int reach, int scale>
static __device__ __forceinline__ SBPPlace SBPFind(const SBPDivision &m, int block)
{
  constexpr int halo = L::Halo(reach), useful = L::width - 2 * halo;
  const int     blockwarps = static_cast<int>(blockDim.x) / SBP_WARP, warp = static_cast<int>(threadIdx.x) / SBP_WARP;
  const int     columnblocks = (m.columnwarps + blockwarps - 1) / blockwarps, column = block % columnblocks * blockwarps + warp, chunk = block / columnblocks;
  const int     start = scale * m.from[0] / L::Halo(1) * L::Halo(1);
  SBPPlace      p;

  p.first = start + column * useful - halo;
  p.row   = m.from[1] + chunk * m.chunk;
  p.count = m.to[1] - p.row < m.chunk ? m.to[1] - p.row : m.chunk;
  p.turn  = 1;
  p.there = column < m.columnwarps && p.count > 0;
  if (m.turns && chunk % 2 == 1) {
    p.turn = -1;
    p.row += p.count - 1;
  }
  return p;
}

/* The factor of a residual before rounding */
template <class V>
static __device__ __forceinline__ double SBPRoundedScale(const SBPArrays<V> &m)
{
  return m.scale ? SBPRead(m.scale) : 1;
}

/* Writes the result of a step for a row, without the change of a smoothing step */
template <class L, SBPTake take, bool edge, class V>
static __device__ __forceinline__ void SBPWriteRow(const SBPArrays<V> &m, int row, int first, int low, int high, const V v[L::C])
{
  if constexpr (take == SBP_TAKE_ROUND) {
    const double scale = SBPRoundedScale(m);
    float        rounded[L::C];

#pragma unroll
    for (int c = 0; c < L::C; c++) rounded[c] = static_cast<float>(scale * v[c]);
    L::template Write<edge>(m.rounded + static_cast<ptrdiff_t>(row) * m.roundedpitch, first, low, high, rounded);
  } else L::template Write<edge>(m.out + static_cast<ptrdiff_t>(row) * m.pitch, first, low, high, v);
}

/* Completes a step for a row from sums = A u. u, b, d and dinv are read if the step needs them; d and sums are
   overwritten */
template <class L, SBPTake take, bool edge, class V>
static __device__ __forceinline__ void SBPFinishRow(const SBPArrays<V> &m, int row, int first, int low, int high, const V u[L::C], const V b[L::C],
                                                    const V dinv[L::C], V d[L::C], V sums[L::C])
{
  if constexpr (take == SBP_TAKE_ADD || take == SBP_TAKE_ROUND) {
#pragma unroll
    for (int c = 0; c < L::C; c++) sums[c] = b[c] + m.sign * sums[c];
  }
  if constexpr (take == SBP_TAKE_SMOOTH) {
#pragma unroll
    for (int c = 0; c < L::C; c++) {
      V s = m.c2 * (b[c] - sums[c]);

      if (m.dinv) s = dinv[c] * s;
      if (m.c1 != 0) s = s + m.c1 * d[c];
      d[c]    = s;
      sums[c] = u[c] + s;
    }
    if (m.dout) L::template Write<edge>(m.dout + static_cast<ptrdiff_t>(row) * m.pitch, first, low, high, d);
  }
  SBPWriteRow<L, take, edge>(m, row, first, low, high, sums);
}

template <class Operator, class L, SBPTake take, bool edge, class V>
static __device__ __forceinline__ void SBPMarchStep(const SBPMarch<V> &m, const SBPPlace &p)
{
  using K         = typename SBPReal<V>::type;
  constexpr int C = L::C, halo = L::Halo(1), ncoefficients = Operator::coefficients;
  const int     leftmost = p.first + halo > m.from[0] ? p.first + halo : m.from[0];
  const int     behind   = p.first + L::width - halo < m.to[0] ? p.first + L::width - halo : m.to[0];
  const K       quarter  = static_cast<K>(p.turn) / 4;
  int           row      = p.row - p.turn;
  Operator      A;
  V             u[C], sums[C];
  K             k[ncoefficients][C];

  auto Read = [&](int j) {
    if (!edge || (j >= m.low[1] && j < m.high[1])) {
      L::template Read<edge>(m.u + static_cast<ptrdiff_t>(j) * m.ghostpitch, p.first, m.low[0], m.high[0], u);
#pragma unroll
      for (int q = 0; q < ncoefficients; q++)
        L::template Read<edge>(m.coefficient[q] + static_cast<ptrdiff_t>(j) * m.coefficientpitch, p.first, m.low[0], m.high[0], k[q]);
    } else {
#pragma unroll
      for (int c = 0; c < C; c++) {
        u[c] = SBPZero<V>();
#pragma unroll
        for (int q = 0; q < ncoefficients; q++) k[q][c] = 0;
      }
    }
  };

  A.Begin();
  Read(row);
  A.Push(m.factor, quarter, u, k, sums);
  row += p.turn;
  Read(row);
  A.Push(m.factor, quarter, u, k, sums);
  Read(row + p.turn);
#pragma unroll 2
  for (int n = p.count; n > 0; n--, row += p.turn) {
    const ptrdiff_t own = static_cast<ptrdiff_t>(row) * m.pitch;
    V               unext[C], b[C], d[C], dinv[C];
    K               knext[ncoefficients][C];

#pragma unroll
    for (int c = 0; c < C; c++) {
      unext[c] = u[c];
#pragma unroll
      for (int q = 0; q < ncoefficients; q++) knext[q][c] = k[q][c];
    }
    if (n > 1) Read(row + 2 * p.turn);
    if constexpr (take != SBP_TAKE_APPLY) L::template ReadOwn<edge>(m.b + own, p.first, leftmost, behind, b);
    if constexpr (take == SBP_TAKE_SMOOTH) {
      if (m.c1 != 0) L::template ReadOwn<edge>(m.d + own, p.first, leftmost, behind, d);
      if (m.dinv) L::template ReadOwn<edge>(m.dinv + own, p.first, leftmost, behind, dinv);
    }
    A.Push(m.factor, quarter, unext, knext, sums);
    SBPFinishRow<L, take, edge>(m, row, p.first, leftmost, behind, A.before, b, dinv, d, sums);
  }
}

/*
   Rows in flight from device memory, copied to shared memory during the work on earlier rows. Each thread copies the
   numbers that the thread will read, so threads do not wait for each other. Numbers outside of the grid become 0.
*/
template <class L, int bytes, int stages>
struct SBPRing {
  static constexpr int row = bytes * SBP_WARP * L::C; /* bytes of all arrays of a row */

  char *base;

  __device__ __forceinline__ void Begin(char *shared)
  {
    base = shared + threadIdx.x / SBP_WARP * (stages * row);
  }
  /* offset: bytes per element of all earlier arrays in the ring */
  template <bool edge, class T>
  __device__ __forceinline__ void Ask(int stage, int offset, const T *p, int first, int low, int high) const
  {
    char *to = base + stage * row + offset * SBP_WARP * L::C;

    L::template Copy<edge>(reinterpret_cast<T *>(to), p, first, low, high);
  }
  template <class T>
  __device__ __forceinline__ void Take(int stage, int offset, T v[L::C]) const
  {
    L::Fetch(reinterpret_cast<const T *>(base + stage * row + offset * SBP_WARP * L::C), v);
  }
};

template <class Operator, SBPTake take, class V>
struct SBPStepBytes {
  static constexpr int b = sizeof(V) + Operator::coefficients * sizeof(typename SBPReal<V>::type), d = b + (take == SBP_TAKE_APPLY ? 0 : sizeof(V)),
                       dinv = d + (take == SBP_TAKE_SMOOTH ? sizeof(V) : 0), all = dinv + (take == SBP_TAKE_SMOOTH ? sizeof(V) : 0);
};

template <class Operator, class L, SBPTake take, int stages, bool edge, class V>
static __device__ __forceinline__ void SBPRingStep(const SBPMarch<V> &m, const SBPPlace &p, char *shared)
{
  using K         = typename SBPReal<V>::type;
  using Bytes     = SBPStepBytes<Operator, take, V>;
  constexpr int C = L::C, halo = L::Halo(1), ncoefficients = Operator::coefficients;
  const int     leftmost = p.first + halo > m.from[0] ? p.first + halo : m.from[0];
  const int     behind   = p.first + L::width - halo < m.to[0] ? p.first + L::width - halo : m.to[0];
  const K       quarter  = static_cast<K>(p.turn) / 4;
  const int     rows     = p.count + 2; /* row k is at p.row + (k - 1) turn */
  Operator      A;
  V             u[C], sums[C];
  K             k[ncoefficients][C];

  SBPRing<L, Bytes::all, stages> ring;

  auto Ask = [&](int n, int stage) {
    const int j = p.row + (n - 1) * p.turn;

    if (n < rows) {
      const bool there = !edge || (j >= m.low[1] && j < m.high[1]);
      const int  high  = there ? m.high[0] : m.low[0];

      ring.template Ask<edge>(stage, 0, m.u + static_cast<ptrdiff_t>(j) * m.ghostpitch, p.first, m.low[0], high);
#pragma unroll
      for (int q = 0; q < ncoefficients; q++)
        ring.template Ask<edge>(stage, static_cast<int>(sizeof(V) + q * sizeof(K)), m.coefficient[q] + static_cast<ptrdiff_t>(j) * m.coefficientpitch, p.first,
                                m.low[0], high);
      if constexpr (take != SBP_TAKE_APPLY) {
        if (n >= 2) {
          const ptrdiff_t own = static_cast<ptrdiff_t>(j - p.turn) * m.pitch;

          ring.template Ask<edge>(stage, Bytes::b, m.b + own, p.first, p.first + halo, behind);
          if constexpr (take == SBP_TAKE_SMOOTH) {
            if (m.c1 != 0) ring.template Ask<edge>(stage, Bytes::d, m.d + own, p.first, p.first + halo, behind);
            if (m.dinv) ring.template Ask<edge>(stage, Bytes::dinv, m.dinv + own, p.first, p.first + halo, behind);
          }
        }
      }
    }
    __pipeline_commit();
  };

  /* Takes row n, and computes A u of the previous row */
  auto Take = [&](int n, int stage) {
    Ask(n + stages - 1, stage == 0 ? stages - 1 : stage - 1);
    __pipeline_wait_prior(stages - 1);
    ring.Take(stage, 0, u);
#pragma unroll
    for (int q = 0; q < ncoefficients; q++) ring.Take(stage, static_cast<int>(sizeof(V) + q * sizeof(K)), k[q]);
    A.Push(m.factor, quarter, u, k, sums);
  };

  auto Finish = [&](int n, int stage) {
    V b[C], d[C], dinv[C];

    if constexpr (take != SBP_TAKE_APPLY) ring.Take(stage, Bytes::b, b);
    if constexpr (take == SBP_TAKE_SMOOTH) {
      if (m.c1 != 0) ring.Take(stage, Bytes::d, d);
      if (m.dinv) ring.Take(stage, Bytes::dinv, dinv);
    }
    SBPFinishRow<L, take, edge>(m, p.row + (n - 2) * p.turn, p.first, leftmost, behind, A.before, b, dinv, d, sums);
  };

  ring.Begin(shared);
  A.Begin();
#pragma unroll
  for (int n = 0; n < stages - 1; n++) Ask(n, n);
#pragma unroll
  for (int n = 0; n < 2; n++) Take(n, n % stages);
  /*
     At ends of the grid, a turn has one row. Otherwise a turn has a row per stage: the compiler then knows the stage,
     and no row data are moved.
  */
  constexpr int turns = edge ? 1 : stages;
  int           first = 2 % stages;

#pragma unroll 1
  for (int n = 2; n < rows; n += turns) {
#pragma unroll
    for (int q = 0; q < turns; q++) {
      const int stage = edge ? first : (2 + q) % stages;

      if (n + q >= rows) break;
      Take(n + q, stage);
      Finish(n + q, stage);
    }
    if (edge) first = first + 1 == stages ? 0 : first + 1;
  }
}

/* Whether all columns of the warp can be read, even in arrays without ghosts, and all columns except the halo are
   computed */
template <class L, int reach>
static __device__ __forceinline__ bool SBPIsInside(const SBPDivision &m, const SBPPlace &p)
{
  return p.first >= m.all[0][0] && p.first + L::width <= m.all[0][1] && p.first + L::Halo(reach) >= m.from[0] &&
         p.first + L::width - L::Halo(reach) <= m.to[0] && m.from[1] > m.low[1] && m.to[1] < m.high[1];
}

/* stages: of a ring, or 0; threads: per block, at most */
template <class Operator, class L, SBPTake take, int stages, int threads, class V>
static __device__ __forceinline__ void SBPStepBlock(const SBPMarch<V> &m, int block)
{
  const SBPPlace p = SBPFind<L, 1, 1>(m, block);

  if constexpr (stages > 0) {
    __shared__ __align__(16) char shared[threads / SBP_WARP * stages * SBPRing<L, SBPStepBytes<Operator, take, V>::all, stages>::row];

    if (!p.there) return;
    if (SBPIsInside<L, 1>(m, p)) SBPRingStep<Operator, L, take, stages, false>(m, p, shared);
    else SBPRingStep<Operator, L, take, stages, true>(m, p, shared);
  } else {
    if (!p.there) return;
    if (SBPIsInside<L, 1>(m, p)) SBPMarchStep<Operator, L, take, false>(m, p);
    else SBPMarchStep<Operator, L, take, true>(m, p);
  }
}

/* Warps side by side */
template <class L, int reach, int scale>
static inline int SBPColumnWarps(const SBPDivision &m)
{
  constexpr int halo = L::Halo(reach), useful = L::width - 2 * halo;
  const int     start = scale * m.from[0] / L::Halo(1) * L::Halo(1);

  return m.to[0] <= m.from[0] || m.to[1] <= m.from[1] ? 0 : (scale * (m.to[0] - 1) + 1 - start + useful - 1) / useful;
}
