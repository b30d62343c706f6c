/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Fused operations: arguments, and results at a node. evaluate(i, j, u) returns (A u)_ij */

#include "transfer.cuh"
#include "launch.cuh"

typedef enum {
  SBP_FUSED_SMOOTHTWO,
  SBP_FUSED_RESIDUALRESTRICT,
  SBP_FUSED_PROLONGSMOOTH,
  SBP_FUSED_SMOOTHTWORESTRICT, /* interior only; out is u */
  SBP_FUSED_PROLONGSMOOTHTWO
} SBPFusedKind;

template <class V>
struct SBPFused : SBPMarch<V> {
  typename SBPReal<V>::type first;      /* c2 of the first step */
  const V                  *e;          /* correction on the coarse grid */
  V                        *restricted; /* restricted residual on the coarse grid, with the pitch of e */
  int                       epitch, coarse[2];
  /* for warps that count coarse nodes: the frame of the written part of the fine grid */
  SBPFrame fine;
};

template <class V, class Evaluate>
static __device__ __forceinline__ void SBPSmoothTwoNode(const SBPFused<V> &m, int i, int j, const Evaluate &evaluate)
{
  const ptrdiff_t own = static_cast<ptrdiff_t>(j) * m.pitch + i;

  auto U = [&](int a, int b) {
    const ptrdiff_t k = static_cast<ptrdiff_t>(b) * m.pitch + a;

    return m.dinv ? m.first * (SBPRead(m.dinv + k) * SBPRead(m.b + k)) : m.first * SBPRead(m.b + k);
  };
  const V u = U(i, j);
  V       s = m.c2 * (m.b[own] - evaluate(i, j, U));

  if (m.dinv) s = m.dinv[own] * s;
  s          = s + m.c1 * u;
  m.out[own] = u + s;
  if (m.dout) m.dout[own] = s;
}

template <class V, class Evaluate>
static __device__ __forceinline__ void SBPResidualRestrictNode(const SBPFused<V> &m, int i, int j, const Evaluate &evaluate)
{
  using K = typename SBPReal<V>::type;
  V s     = SBPZero<V>();

  auto U = [&](int a, int b) { return SBPRead(m.u + static_cast<ptrdiff_t>(b) * m.ghostpitch + a); };

#pragma unroll 1
  for (int k = 0; k < 9; k++) {
    const int di = k % 3 - 1, dj = k / 3 - 1, a = 2 * i + di, b = 2 * j + dj;

    if (a < 0 || b < 0 || a > m.n[0] || b > m.n[1]) continue;
    s = s +
        (di ? static_cast<K>(0.5) : K(1)) * (dj ? static_cast<K>(0.5) : K(1)) * (SBPRead(m.b + static_cast<ptrdiff_t>(b) * m.pitch + a) - evaluate(a, b, U));
  }
  m.out[static_cast<ptrdiff_t>(j) * m.epitch + i] = s;
}

template <class V, class Evaluate>
static __device__ __forceinline__ void SBPProlongSmoothNode(const SBPFused<V> &m, int i, int j, const Evaluate &evaluate)
{
  auto U = [&](int a, int b) { return SBPRead(m.u + static_cast<ptrdiff_t>(b) * m.ghostpitch + a) + SBPProlongNode(m.e, m.epitch, a, b); };

  SBPNodeFinish<SBP_TAKE_SMOOTH>(m, i, j, evaluate(i, j, U), U(i, j));
}

/*
   The second step needs the result of the first step at all neighbours, and at a distance of 2 near Dirichlet faces. A
   loop computes these results: the first step, inlined at each use, would make the kernel 20 times as large.
*/
template <class V, class Evaluate>
static __device__ __forceinline__ void SBPProlongSmoothTwoNode(const SBPFused<V> &m, int i, int j, const Evaluate &evaluate)
{
  const ptrdiff_t own = static_cast<ptrdiff_t>(j) * m.pitch + i;
  V               d   = SBPZero<V>(), after[5][5];

  auto U = [&](int a, int b) { return SBPRead(m.u + static_cast<ptrdiff_t>(b) * m.ghostpitch + a) + SBPProlongNode(m.e, m.epitch, a, b); };

#pragma unroll 1
  for (int k = 0; k < 25; k++) {
    const int       di = k % 5 - 2, dj = k / 5 - 2, a = i + di, b = j + dj;
    const ptrdiff_t at = static_cast<ptrdiff_t>(b) * m.pitch + a;

    if (di * di + dj * dj > 4 || a < 0 || b < 0 || a > m.n[0] || b > m.n[1]) continue;
    if (di * di == 4 && !m.dirichlet[0] && !m.dirichlet[1]) continue;
    if (dj * dj == 4 && !m.dirichlet[2] && !m.dirichlet[3]) continue;
    V s = m.first * (m.b[at] - evaluate(a, b, U));

    if (m.dinv) s = m.dinv[at] * s;
    if (k == 12) d = s;
    after[dj + 2][di + 2] = U(a, b) + s;
  }
  V s = m.c2 * (m.b[own] - evaluate(i, j, [&](int a, int b) { return after[b - j + 2][a - i + 2]; }));

  if (m.dinv) s = m.dinv[own] * s;
  m.out[own] = U(i, j) + d + (s + m.c1 * d);
}

template <SBPFusedKind fused, class V, class Evaluate>
static __device__ __forceinline__ void SBPFusedNode(const SBPFused<V> &m, int i, int j, const Evaluate &evaluate)
{
  if constexpr (fused == SBP_FUSED_SMOOTHTWO || fused == SBP_FUSED_SMOOTHTWORESTRICT) SBPSmoothTwoNode(m, i, j, evaluate);
  else if constexpr (fused == SBP_FUSED_PROLONGSMOOTHTWO) SBPProlongSmoothTwoNode(m, i, j, evaluate);
  else if constexpr (fused == SBP_FUSED_RESIDUALRESTRICT) SBPResidualRestrictNode(m, i, j, evaluate);
  else SBPProlongSmoothNode(m, i, j, evaluate);
}

/* cuda/sbp/any.cu: a thread per node, for orders above 2 */
template <class V>
void SBPLaunchFusedAny(SBPFusedKind, bool shifted, const SBPFused<V> &, cudaStream_t);
