/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Fused operations in the interior: the sweep of a warp, which keeps data of the last rows in registers for the next
   operation. cuda/sbp/fused.cu launches these sweeps
*/

#include "fused.cuh"

/* Whether the grid has row j of u, or of a vector computed from u */
static __device__ __forceinline__ bool SBPHasRow(const SBPDivision &m, int j)
{
  return j >= m.low[1] && j < m.high[1];
}

/* Starts the copies of the coefficients of row j */
template <int ncoefficients, class Ring, class V>
static __device__ __forceinline__ void SBPAskCoefficients(const Ring &ring, int stage, int offset, const SBPMarch<V> &m, int j, int first, int high)
{
  using K = typename SBPReal<V>::type;

#pragma unroll
  for (int q = 0; q < ncoefficients; q++)
    ring.template Ask<true>(stage, offset + q * static_cast<int>(sizeof(K)), m.coefficient[q] + static_cast<ptrdiff_t>(j) * m.coefficientpitch, first, m.low[0],
                            high);
}

template <int ncoefficients, class L, class Ring, class K>
static __device__ __forceinline__ void SBPTakeCoefficients(const Ring &ring, int stage, int offset, K k[ncoefficients][L::C])
{
#pragma unroll
  for (int q = 0; q < ncoefficients; q++) ring.Take(stage, offset + q * static_cast<int>(sizeof(K)), k[q]);
}

/* ------------------------------------------------------------ the first two smoothing steps */

template <SBPKind kind, class L, int stages, int threads, class V>
static __device__ __forceinline__ void SBPSmoothTwoBlock(const SBPFused<V> &m, int block)
{
  using K         = typename SBPReal<V>::type;
  using Operator  = typename SBPOperatorOf<V, kind, L>::type;
  constexpr int C = L::C, halo = L::Halo(1), ncoefficients = Operator::coefficients, bytes = 2 * sizeof(V) + ncoefficients * sizeof(K), at = 2 * sizeof(V);

  __shared__ __align__(16) char shared[threads / SBP_WARP * stages * SBPRing<L, bytes, stages>::row];
  const SBPPlace                p = SBPFind<L, 1, 1>(m, block);

  if (!p.there) return;
  const int leftmost = p.first + halo > m.from[0] ? p.first + halo : m.from[0];
  const int behind   = p.first + L::width - halo < m.to[0] ? p.first + L::width - halo : m.to[0];
  const K   quarter  = static_cast<K>(p.turn) / 4;
  const int rows     = p.count + 2;
  Operator  A;
  V         bbefore[C], dinvbefore[C];
  int       stage = 0, free = stages - 1;

  SBPRing<L, bytes, stages> ring;

  auto Ask = [&](int n, int s) {
    const int j = p.row + (n - 1) * p.turn, high = SBPHasRow(m, j) ? m.high[0] : m.low[0];

    if (n < rows) {
      const ptrdiff_t own = static_cast<ptrdiff_t>(j) * m.pitch;

      ring.template Ask<true>(s, 0, m.b + own, p.first, m.low[0], high);
      if (m.dinv) ring.template Ask<true>(s, sizeof(V), m.dinv + own, p.first, m.low[0], high);
      SBPAskCoefficients<ncoefficients>(ring, s, at, m, j, p.first, high);
    }
    __pipeline_commit();
  };

  ring.Begin(shared);
  A.Begin();
#pragma unroll
  for (int c = 0; c < C; c++) bbefore[c] = dinvbefore[c] = SBPZero<V>();
#pragma unroll
  for (int n = 0; n < stages - 1; n++) Ask(n, n);
#pragma unroll 1
  for (int n = 0; n < rows; n++) {
    V b[C], dinv[C], u[C], d[C], sums[C];
    K k[ncoefficients][C];

    Ask(n + stages - 1, free);
    __pipeline_wait_prior(stages - 1);
    ring.Take(stage, 0, b);
    if (m.dinv) ring.Take(stage, sizeof(V), dinv);
    SBPTakeCoefficients<ncoefficients, L>(ring, stage, at, k);
#pragma unroll
    for (int c = 0; c < C; c++) u[c] = m.dinv ? m.first * (dinv[c] * b[c]) : m.first * b[c];
    A.Push(m.factor, quarter, u, k, sums);
    if (n >= 2) {
      const ptrdiff_t own = static_cast<ptrdiff_t>(p.row + (n - 2) * p.turn) * m.pitch;

#pragma unroll
      for (int c = 0; c < C; c++) {
        V s = m.c2 * (bbefore[c] - sums[c]);

        if (m.dinv) s = dinvbefore[c] * s;
        d[c] = s + m.c1 * A.before[c];
        u[c] = A.before[c] + d[c];
      }
      L::template Write<true>(m.out + own, p.first, leftmost, behind, u);
      if (m.dout) L::template Write<true>(m.dout + own, p.first, leftmost, behind, d);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
      bbefore[c] = b[c];
      if (m.dinv) dinvbefore[c] = dinv[c];
    }
    free  = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
}

/* ------------------------------------------------------------ residual and restriction */

/*
   Adds a row of the residual to its coarse row. A row between two coarse rows is added to both, and completes the first
   of the two. out: the completed row, written with `complete`; restricted: the unfinished row.
*/
template <class L, class V>
static __device__ __forceinline__ void SBPRestrictRow(bool between, bool complete, int first, int leftmost, int behind, const V residual[L::C],
                                                      V restricted[L::C], V *out)
{
  using K            = typename SBPReal<V>::type;
  constexpr int C    = L::C;
  const K       half = static_cast<K>(0.5);
  V             left[C], right[C], sums[C];

  L::Left(residual, left);
  L::Right(residual, right);
#pragma unroll
  for (int c = 0; c < C; c++) sums[c] = residual[c] + half * (left[c] + right[c]);
  if (between) {
#pragma unroll
    for (int c = 0; c < C; c++) {
      const int i = first + L::Column(c);

      if (complete && i % 2 == 0 && i >= leftmost && i < behind) out[i / 2] = restricted[c] + half * sums[c];
      restricted[c] = half * sums[c];
    }
  } else {
#pragma unroll
    for (int c = 0; c < C; c++) restricted[c] = restricted[c] + sums[c];
  }
}

/* from, to and all count coarse nodes */
template <SBPKind kind, class L, int stages, int threads, class V>
static __device__ __forceinline__ void SBPResidualRestrictBlock(const SBPFused<V> &m, int block)
{
  using K         = typename SBPReal<V>::type;
  using Operator  = typename SBPOperatorOf<V, kind, L>::type;
  constexpr int C = L::C, ncoefficients = Operator::coefficients, bytes = 2 * sizeof(V) + ncoefficients * sizeof(K), at = 2 * sizeof(V), halo = L::Halo(2);

  __shared__ __align__(16) char shared[threads / SBP_WARP * stages * SBPRing<L, bytes, stages>::row];
  const SBPPlace                p = SBPFind<L, 2, 2>(m, block);

  if (!p.there) return;
  const int leftmost = p.first + halo > 2 * m.from[0] ? p.first + halo : 2 * m.from[0];
  const int behind   = p.first + L::width - halo < 2 * m.to[0] ? p.first + L::width - halo : 2 * m.to[0];
  const K   quarter  = static_cast<K>(p.turn) / 4;
  const int rows     = 2 * p.count + 3; /* row n is at 2 p.row + (n - 2) turn */
  Operator  A;
  V         restricted[C];
  int       stage = 0, free = stages - 1;

  SBPRing<L, bytes, stages> ring;

  auto Ask = [&](int n, int s) {
    const int j = 2 * p.row + (n - 2) * p.turn, high = SBPHasRow(m, j) ? m.high[0] : m.low[0];

    if (n < rows) {
      ring.template Ask<true>(s, 0, m.u + static_cast<ptrdiff_t>(j) * m.ghostpitch, p.first, m.low[0], high);
      if (n >= 2)
        ring.template Ask<true>(s, sizeof(V), m.b + static_cast<ptrdiff_t>(j - p.turn) * m.pitch, p.first, m.low[0],
                                SBPHasRow(m, j - p.turn) ? m.high[0] : m.low[0]);
      SBPAskCoefficients<ncoefficients>(ring, s, at, m, j, p.first, high);
    }
    __pipeline_commit();
  };

  ring.Begin(shared);
  A.Begin();
#pragma unroll
  for (int c = 0; c < C; c++) restricted[c] = SBPZero<V>();
#pragma unroll
  for (int n = 0; n < stages - 1; n++) Ask(n, n);
#pragma unroll 1
  for (int n = 0; n < rows; n++) {
    V u[C], b[C], sums[C];
    K k[ncoefficients][C];

    Ask(n + stages - 1, free);
    __pipeline_wait_prior(stages - 1);
    ring.Take(stage, 0, u);
    SBPTakeCoefficients<ncoefficients, L>(ring, stage, at, k);
    A.Push(m.factor, quarter, u, k, sums);
    if (n >= 2) {
      ring.Take(stage, sizeof(V), b);
#pragma unroll
      for (int c = 0; c < C; c++) sums[c] = b[c] - sums[c];
      /* rows 2 J - 1 and 2 J + 1 at even n */
      SBPRestrictRow<L>(n % 2 == 0, n > 2, p.first, leftmost, behind, sums, restricted,
                        m.out + static_cast<ptrdiff_t>(p.row + (n / 2 - 2) * p.turn) * m.epitch);
    }
    free  = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
}

/* ------------------------------------------------------------ two smoothing steps, residual and restriction */

/*
   from and to count coarse nodes. The second operator is one row behind the first operator, and takes the coefficients
   of row n - 1. For each coarse node, two rows and two columns of u are written.
*/
template <SBPKind kind, class L, int stages, int threads, class V>
static __device__ __forceinline__ void SBPSmoothTwoRestrictBlock(const SBPFused<V> &m, int block)
{
  using K         = typename SBPReal<V>::type;
  using Operator  = typename SBPOperatorOf<V, kind, L>::type;
  constexpr int C = L::C, halo = L::Halo(3), ncoefficients = Operator::coefficients, bytes = 2 * sizeof(V) + ncoefficients * sizeof(K), at = 2 * sizeof(V);

  __shared__ __align__(16) char shared[threads / SBP_WARP * stages * SBPRing<L, bytes, stages>::row];
  const SBPPlace                p = SBPFind<L, 3, 2>(m, block);

  if (!p.there) return;
  const int leftmost = p.first + halo > 2 * m.from[0] ? p.first + halo : 2 * m.from[0];
  const int right    = 2 * m.to[0] < m.high[0] ? 2 * m.to[0] : m.high[0];
  const int behind   = p.first + L::width - halo < right ? p.first + L::width - halo : right;
  const int lowest = 2 * (p.turn > 0 ? p.row : p.row - p.count + 1), highest = lowest + 2 * p.count < m.high[1] ? lowest + 2 * p.count : m.high[1];
  const K   quarter = static_cast<K>(p.turn) / 4;
  const int rows    = 2 * p.count + 5; /* row n is at 2 p.row + (n - 3) turn */
  Operator  A, B;
  V         b1[C], b2[C], dinv1[C], restricted[C]; /* b and dinv of the last two rows */
  int       stage = 0, free = stages - 1;

  SBPRing<L, bytes, stages> ring;

  auto Ask = [&](int n, int s) {
    const int j = 2 * p.row + (n - 3) * p.turn, high = SBPHasRow(m, j) ? m.high[0] : m.low[0];

    if (n < rows) {
      const ptrdiff_t own = static_cast<ptrdiff_t>(j) * m.pitch;

      ring.template Ask<true>(s, 0, m.b + own, p.first, m.low[0], high);
      if (m.dinv) ring.template Ask<true>(s, sizeof(V), m.dinv + own, p.first, m.low[0], high);
      SBPAskCoefficients<ncoefficients>(ring, s, at, m, j, p.first, high);
    }
    __pipeline_commit();
  };

  ring.Begin(shared);
  A.Begin();
  B.Begin();
#pragma unroll
  for (int c = 0; c < C; c++) b1[c] = b2[c] = dinv1[c] = restricted[c] = SBPZero<V>();
#pragma unroll
  for (int n = 0; n < stages - 1; n++) Ask(n, n);
#pragma unroll 1
  for (int n = 0; n < rows; n++) {
    V b[C], dinv[C], u[C], sums[C];
    K k[ncoefficients][C], kbefore[ncoefficients][C];

    Ask(n + stages - 1, free);
    __pipeline_wait_prior(stages - 1);
    ring.Take(stage, 0, b);
    if (m.dinv) ring.Take(stage, sizeof(V), dinv);
    SBPTakeCoefficients<ncoefficients, L>(ring, stage, at, k);
#pragma unroll
    for (int c = 0; c < C; c++) {
      u[c] = m.dinv ? m.first * (dinv[c] * b[c]) : m.first * b[c];
#pragma unroll
      for (int q = 0; q < ncoefficients; q++) kbefore[q][c] = A.Held(q, c);
    }
    A.Push(m.factor, quarter, u, k, sums);
    if (n >= 2) {
      const int j = 2 * p.row + (n - 4) * p.turn;

#pragma unroll
      for (int c = 0; c < C; c++) {
        V s = m.c2 * (b1[c] - sums[c]);

        if (m.dinv) s = dinv1[c] * s;
        u[c] = A.before[c] + (s + m.c1 * A.before[c]);
      }
      if (j >= lowest && j < highest) L::template Write<true>(m.out + static_cast<ptrdiff_t>(j) * m.pitch, p.first, leftmost, behind, u);
      B.Push(m.factor, quarter, u, kbefore, sums);
    }
    if (n >= 4) {
#pragma unroll
      for (int c = 0; c < C; c++) sums[c] = b2[c] - sums[c];
      /* rows 2 J - 1 and 2 J + 1 at even n */
      SBPRestrictRow<L>(n % 2 == 0, n > 4, p.first, leftmost, behind, sums, restricted,
                        m.restricted + static_cast<ptrdiff_t>(p.row + (n / 2 - 3) * p.turn) * m.epitch);
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
      b2[c] = b1[c];
      b1[c] = b[c];
      if (m.dinv) dinv1[c] = dinv[c];
    }
    free  = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
}

/* ------------------------------------------------------------ prolongation and smoothing */

/* The second step is two rows behind the prolongation */

template <int steps, SBPKind kind, class L, int stages, int threads, class V>
static __device__ __forceinline__ void SBPProlongSmoothBlock(const SBPFused<V> &m, int block)
{
  using K         = typename SBPReal<V>::type;
  using Operator  = typename SBPOperatorOf<V, kind, L>::type;
  constexpr int C = L::C, halo = L::Halo(steps), ncoefficients = Operator::coefficients, bytes = 3 * sizeof(V) + ncoefficients * sizeof(K), at = 3 * sizeof(V);

  __shared__ __align__(16) char shared[threads / SBP_WARP * stages * SBPRing<L, bytes, stages>::row];
  const SBPPlace                p = SBPFind<L, steps, 1>(m, block);

  if (!p.there) return;
  const int leftmost = p.first + halo > m.from[0] ? p.first + halo : m.from[0];
  const int behind   = p.first + L::width - halo < m.to[0] ? p.first + L::width - halo : m.to[0];
  const K   quarter = static_cast<K>(p.turn) / 4, half = static_cast<K>(0.5);
  const int rows = p.count + 2 * steps; /* row n is at p.row + (n - steps) turn */
  Operator  A, B;
  /* rows of P e at even nodes; e is loaded one row earlier */
  V   e[L::coarse], ahead[C], behindrow[C];
  V   b1[C], dinv1[C], d1[C]; /* two steps: data of the previous row */
  int stage = 0, free = stages - 1;

  SBPRing<L, bytes, stages> ring;

  auto Ask = [&](int n, int s) {
    const int j = p.row + (n - steps) * p.turn, high = SBPHasRow(m, j) ? m.high[0] : m.low[0];

    if (n < rows) {
      ring.template Ask<true>(s, 0, m.u + static_cast<ptrdiff_t>(j) * m.ghostpitch, p.first, m.low[0], high);
      if (n >= 2) {
        const ptrdiff_t own     = static_cast<ptrdiff_t>(j - p.turn) * m.pitch;
        const int       highown = SBPHasRow(m, j - p.turn) ? m.high[0] : m.low[0];

        ring.template Ask<true>(s, sizeof(V), m.b + own, p.first, m.low[0], highown);
        if (m.dinv) ring.template Ask<true>(s, 2 * sizeof(V), m.dinv + own, p.first, m.low[0], highown);
      }
      SBPAskCoefficients<ncoefficients>(ring, s, at, m, j, p.first, high);
    }
    __pipeline_commit();
  };
  auto ReadCoarse = [&](int J) { L::ReadCoarse(m.e + static_cast<ptrdiff_t>(J) * m.epitch, p.first, 0, J >= 0 && J <= m.coarse[1] ? m.coarse[0] + 1 : 0, e); };

  ring.Begin(shared);
  A.Begin();
  B.Begin();
#pragma unroll
  for (int n = 0; n < stages - 1; n++) Ask(n, n);

  /* the even rows before and after the first row */
  const int start = p.row - steps * p.turn;

  ReadCoarse((start - p.turn) >> 1);
  L::Spread(e, behindrow);
  ReadCoarse(start % 2 ? (start + p.turn) >> 1 : start >> 1);
  L::Spread(e, ahead);
  if (start % 2) ReadCoarse(((start + p.turn) >> 1) + p.turn);
#pragma unroll 1
  for (int n = 0; n < rows; n++) {
    const int j = start + n * p.turn;
    V         u[C], b[C], dinv[C], d[C], sums[C];
    K         k[ncoefficients][C], kbefore[ncoefficients][C];

    Ask(n + stages - 1, free);
    __pipeline_wait_prior(stages - 1);
    ring.Take(stage, 0, u);
    SBPTakeCoefficients<ncoefficients, L>(ring, stage, at, k);
    if (j % 2) {
#pragma unroll
      for (int c = 0; c < C; c++) u[c] = u[c] + half * (behindrow[c] + ahead[c]);
    } else {
#pragma unroll
      for (int c = 0; c < C; c++) {
        u[c]         = u[c] + ahead[c];
        behindrow[c] = ahead[c];
      }
      /* the row requested two rows ago becomes the next even row, and another row is requested */
      if (n == 0) ReadCoarse((j >> 1) + p.turn);
      L::Spread(e, ahead);
      ReadCoarse((j >> 1) + 2 * p.turn);
    }
    if (!SBPHasRow(m, j)) {
#pragma unroll
      for (int c = 0; c < C; c++) u[c] = SBPZero<V>();
    }
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
      for (int q = 0; q < ncoefficients; q++) kbefore[q][c] = A.Held(q, c);
    }
    A.Push(m.factor, quarter, u, k, sums);
    if (n >= 2) {
      const ptrdiff_t own = static_cast<ptrdiff_t>(p.row + (n - 2 * steps) * p.turn) * m.pitch;

      ring.Take(stage, sizeof(V), b);
      if (m.dinv) ring.Take(stage, 2 * sizeof(V), dinv);
#pragma unroll
      for (int c = 0; c < C; c++) {
        d[c] = (steps > 1 ? m.first : m.c2) * (b[c] - sums[c]);
        if (m.dinv) d[c] = dinv[c] * d[c];
        u[c] = A.before[c] + d[c];
      }
      if constexpr (steps > 1) {
        B.Push(m.factor, quarter, u, kbefore, sums);
#pragma unroll
        for (int c = 0; c < C; c++) {
          V s = m.c2 * (b1[c] - sums[c]);

          if (m.dinv) s = dinv1[c] * s;
          u[c]     = B.before[c] + (s + m.c1 * d1[c]);
          b1[c]    = b[c];
          dinv1[c] = dinv[c];
          d1[c]    = d[c];
        }
      }
      if (n >= 2 * steps) {
        L::template Write<true>(m.out + own, p.first, leftmost, behind, u);
        if (steps == 1 && m.dout) L::template Write<true>(m.dout + own, p.first, leftmost, behind, d);
      }
    }
    free  = stage;
    stage = stage + 1 == stages ? 0 : stage + 1;
  }
}
