/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Rows of operators for single nodes, near the ends of the grid. u(i, j) is any function of a node, counted from the
   first own node.
*/

#include "march.cuh"
#include <lithe/private/sbp/sbpsat.h>

/* SBP_SAT of second order */
template <class V, class U>
static __device__ __forceinline__ V SBPNodeSecond(const SBPMarch<V> &m, int i, int j, const U &u)
{
  using K            = typename SBPReal<V>::type;
  const int       gi = i + m.start[0], gj = j + m.start[1], pitch = m.coefficientpitch;
  const bool      west = gi == 0, east = gi == m.n[0], south = gj == 0, north = gj == m.n[1];
  const ptrdiff_t where = static_cast<ptrdiff_t>(j) * pitch + i;
  const K        *a = m.coefficient[0] + where, *b = m.coefficient[1] + where, *c = m.coefficient[2] + where;
  const K         half = static_cast<K>(0.5), quarter = static_cast<K>(0.25);
  const K         hr = west || east ? half : K(1), hs = south || north ? half : K(1); /* H/h along r and s */
  const K         fr = hs * m.factor.r, fs = hr * m.factor.s;
  const V         centre = u(i, j);
  V               s      = SBPZero<V>();

  /* 2 Q u along s at column k, and along r at row k */
  auto Up    = [&](int k) { return u(k, north ? j : j + 1) - u(k, south ? j : j - 1); };
  auto Along = [&](int k) { return u(east ? i : i + 1, k) - u(west ? i : i - 1, k); };

  if (!west) s = s + fr * (a[-1] + a[0]) * (centre - u(i - 1, j));
  if (!east) s = s + fr * (a[1] + a[0]) * (centre - u(i + 1, j));
  if (!south) s = s + fs * (b[-pitch] + b[0]) * (centre - u(i, j - 1));
  if (!north) s = s + fs * (b[pitch] + b[0]) * (centre - u(i, j + 1));

  s = s + (west ? -quarter * c[0] : quarter * c[-1]) * Up(west ? i : i - 1);
  s = s - (east ? -quarter * c[0] : quarter * c[1]) * Up(east ? i : i + 1);
  s = s + (south ? -quarter * c[0] : quarter * c[-pitch]) * Along(south ? j : j - 1);
  s = s - (north ? -quarter * c[0] : quarter * c[pitch]) * Along(north ? j : j + 1);

  /* Dirichlet faces */
#pragma unroll
  for (int face = 0; face < 4; face++) {
    const bool alongs   = face < 2;
    const int  distance = face == 0 ? gi : (face == 1 ? m.n[0] - gi : (face == 2 ? gj : m.n[1] - gj));

    if (!m.dirichlet[face] || distance > 2) continue;
    const int toface = face % 2 ? distance : -distance, inward = face % 2 ? -1 : 1;
    const K   scale = 2 * (alongs ? fr : fs), normal = distance == 0 ? static_cast<K>(-1.5) : (distance == 1 ? K(2) : -half);

    s = s + scale * normal * (alongs ? a[toface] : b[static_cast<ptrdiff_t>(toface) * pitch]) * (alongs ? u(i + toface, j) : u(i, j + toface));
    if (distance > 0) continue;
    const V one = alongs ? u(i + inward, j) : u(i, j + inward), two = alongs ? u(i + 2 * inward, j) : u(i, j + 2 * inward);
    const K weight = alongs ? hs * m.h[1] : hr * m.h[0];
    V       along  = half * c[0] * (alongs ? Up(i) : Along(j));

    s = s + scale * (alongs ? a[0] : b[0]) * (K(2) * one - static_cast<K>(1.5) * centre - half * two);
    if (alongs) along = along + (half * (south ? -c[0] : c[-pitch])) * u(i, south ? j : j - 1) - (half * (north ? -c[0] : c[pitch])) * u(i, north ? j : j + 1);
    else along = along + (half * (west ? -c[0] : c[-1])) * u(west ? i : i - 1, j) - (half * (east ? -c[0] : c[1])) * u(east ? i : i + 1, j);
    s = face % 2 ? s - along : s + along;
    s = s + weight * m.penalty[face][alongs ? j : i] * centre;
  }
  return s;
}

/* SBP_NINE */
template <class V, class U>
static __device__ __forceinline__ V SBPNodeNine(const SBPMarch<V> &m, int i, int j, const U &u)
{
  using K            = typename SBPReal<V>::type;
  const int       gi = i + m.start[0], gj = j + m.start[1], pitch = m.coefficientpitch;
  const bool      west = gi > 0, east = gi < m.n[0];
  const ptrdiff_t where = static_cast<ptrdiff_t>(j) * pitch + i;
  const K        *e = m.coefficient[1] + where, *n = m.coefficient[2] + where, *ne = m.coefficient[3] + where, *nw = m.coefficient[4] + where;
  V               s = m.coefficient[0][where] * u(i, j);

  if (east) s = s + e[0] * u(i + 1, j);
  if (west) s = s + e[-1] * u(i - 1, j);
  if (gj < m.n[1]) {
    s = s + n[0] * u(i, j + 1);
    if (east) s = s + ne[0] * u(i + 1, j + 1);
    if (west) s = s + nw[0] * u(i - 1, j + 1);
  }
  if (gj > 0) {
    s = s + n[-pitch] * u(i, j - 1);
    if (west) s = s + ne[-pitch - 1] * u(i - 1, j - 1);
    if (east) s = s + nw[-pitch + 1] * u(i + 1, j - 1);
  }
  return s;
}

/* SBP_SHIFTED at a node; sum: A u at the node */
template <class V>
static __device__ __forceinline__ V SBPShift(const SBPMarch<V> &m, int i, int j, V sum, V u)
{
  return m.factor.scale * sum + m.coefficient[SBP_DIAGONAL][static_cast<ptrdiff_t>(j) * m.coefficientpitch + i] * u;
}

template <SBPKind kind, class V, class U>
static __device__ __forceinline__ V SBPNode(const SBPMarch<V> &m, int i, int j, const U &u)
{
  if constexpr (kind == SBP_SAT) return SBPNodeSecond<V>(m, i, j, u);
  else if constexpr (kind == SBP_SHIFTED) return SBPShift(m, i, j, SBPNodeSecond<V>(m, i, j, u), u(i, j));
  else return SBPNodeNine<V>(m, i, j, u);
}

/* Node k of the frame: the rows below and above, then the remaining nodes at both sides */
static __device__ __forceinline__ void SBPFrameNode(const SBPFrame &m, int k, int *i, int *j)
{
  const int width = m.all[0][1] - m.all[0][0], below = (m.from[1] - m.all[1][0]) * width, above = (m.all[1][1] - m.to[1]) * width;
  const int left = m.from[0] - m.all[0][0], both = left + m.all[0][1] - m.to[0];

  if (k < below) {
    *j = m.all[1][0] + k / width;
    *i = m.all[0][0] + k % width;
  } else if (k < below + above) {
    k -= below;
    *j = m.to[1] + k / width;
    *i = m.all[0][0] + k % width;
  } else {
    k -= below + above;
    *j = m.from[1] + k / both;
    k %= both;
    *i = k < left ? m.all[0][0] + k : m.to[0] + k - left;
  }
}

/* The result of a step from A u at a node */
template <SBPTake take, class V>
static __device__ __forceinline__ void SBPNodeFinish(const SBPArrays<V> &m, int i, int j, V sum, V u)
{
  const ptrdiff_t own = static_cast<ptrdiff_t>(j) * m.pitch + i;

  if constexpr (take == SBP_TAKE_ADD || take == SBP_TAKE_ROUND) sum = m.b[own] + m.sign * sum;
  if constexpr (take == SBP_TAKE_SMOOTH) {
    V s = m.c2 * (m.b[own] - sum);

    if (m.dinv) s = m.dinv[own] * s;
    if (m.c1 != 0) s = s + m.c1 * m.d[own];
    if (m.dout) m.dout[own] = s;
    sum = u + s;
  }
  if constexpr (take == SBP_TAKE_ROUND) m.rounded[static_cast<ptrdiff_t>(j) * m.roundedpitch + i] = static_cast<float>(SBPRoundedScale(m) * sum);
  else m.out[own] = sum;
}
