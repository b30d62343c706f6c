/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* SBP_SAT of orders above 2: a thread per node. Rows near the ends of the grid come from the tables, other rows from
   the interior stencils */

#include "fused.cuh"
#include <lithe/private/sbp/tables.h>

/* (Q u)_i along a line of n + 1 nodes; u(d) is the value d nodes from i */
template <class V, class U>
static __device__ V SBPNodeQ(const SBPTable *t, int n, int i, const U &u)
{
  using K = typename SBPReal<V>::type;
  V   s   = SBPZero<V>();
  int low, high;

  SBPTableRangeQ(t, n, i, &low, &high);
  for (int d = low; d <= high; d++) s = s + static_cast<K>(SBPTableQ(t, n, i, d)) * u(d);
  return s;
}

/* SBP_SAT of any order, by the tables */
template <class V, class U>
static __device__ V SBPNodeAny(const SBPMarch<V> &m, int i, int j, const U &u)
{
  using K               = typename SBPReal<V>::type;
  const SBPTable *t     = SBPTableOf(m.order);
  const ptrdiff_t where = static_cast<ptrdiff_t>(j) * m.coefficientpitch + i;
  const K        *mixed = m.coefficient[2] + where;
  V               s     = SBPZero<V>();

  for (int d = 0; d < 2; d++) {
    const int       dx = d == 0, dy = d == 1, n = m.n[d], n2 = m.n[1 - d], at = d ? j + m.start[1] : i + m.start[0], at2 = d ? i + m.start[0] : j + m.start[1];
    const ptrdiff_t step = d ? m.coefficientpitch : 1, step2 = d ? 1 : m.coefficientpitch;
    const K        *normal = m.coefficient[d] + where;
    const K         weight = static_cast<K>(SBPTableNorm(t, n2, at2)) * m.h[1 - d], scale = weight / m.h[d];
    const int       distance = at < n - at ? at : n - at;
    V               sum      = SBPZero<V>();
    int             low, high;

    auto Line  = [&](int k) { return u(i + k * dx, j + k * dy); };
    auto Cross = [&](int k) { return SBPNodeQ<V>(t, n2, at2, [&](int l) { return u(i + k * dx + l * dy, j + k * dy + l * dx); }); };

    /* M */
    if (distance < t->rows) {
      const int width = distance + t->half + 1 > t->rows ? distance + t->half + 1 : t->rows, turn = distance == at ? 1 : -1;

      for (int k = 0; k < width; k++) {
        K entry = 0;

        for (int l = 0; l < width; l++) entry += static_cast<K>(t->M[distance][k][l]) * normal[(l - distance) * turn * step];
        sum = sum + entry * Line((k - distance) * turn);
      }
    } else {
      for (int k = -t->half; k <= t->half; k++) {
        K entry = 0;

        for (int l = -t->half; l <= t->half; l++) entry += static_cast<K>(t->m[k < 0 ? -k : k][l + t->half]) * normal[(k < 0 ? -l : l) * step];
        sum = sum + entry * Line(k);
      }
    }
    s = s + scale * sum;

    /* Q^T c Q' */
    SBPTableRangeQ(t, n, at, &low, &high);
    for (int k = low; k <= high; k++) {
      const K entry = static_cast<K>(SBPTableQ(t, n, at, k)) * mixed[k * step];

      if (k != 0 || at == 0 || at == n) s = s - (k == 0 ? entry + (at == 0 ? mixed[0] : -mixed[0]) : entry) * Cross(k);
    }

    for (int end = 0; end < 2; end++) {
      const int away = end ? n - at : at, toface = end ? away : -away, inward = end ? -1 : 1;

      if (!m.dirichlet[2 * d + end] || away >= t->normals) continue;
      s = s + scale * static_cast<K>(t->normal[away]) * normal[toface * step] * Line(toface);
      if (away > 0) continue;
      V slope = SBPZero<V>(), along = mixed[0] * Cross(0);

      for (int k = 0; k < t->normals; k++) slope = slope + static_cast<K>(t->normal[k]) * Line(k * inward);
      s = s + scale * normal[0] * slope;
      SBPTableRangeQ(t, n2, at2, &low, &high);
      for (int k = low; k <= high; k++) along = along - static_cast<K>(SBPTableQ(t, n2, at2, k)) * mixed[k * step2] * u(i + k * dy, j + k * dx);
      if (at2 == 0) along = along - mixed[0] * u(i, j);
      if (at2 == n2) along = along + mixed[0] * u(i, j);
      s = end ? s - along : s + along;
      s = s + weight * m.penalty[2 * d + end][d ? i : j] * u(i, j);
    }
  }
  return s;
}

/* The interior stencils: M_(i,i+d) for d = 1, ..., half from coefficients b of a line, and Q_(i,i+d) */
template <int order, class K>
struct SBPInterior;
template <class K>
struct SBPInterior<4, K> {
  static constexpr int half = 2;

  static __device__ __forceinline__ K Q(int d)
  {
    return d == 1 ? static_cast<K>(2.0 / 3.0) : static_cast<K>(-1.0 / 12.0);
  }
  /* -M_(i,i+d); b: the line of coefficients in the direction of d */
  static __device__ __forceinline__ K M(int d, const K *b, ptrdiff_t step)
  {
    const K sixth = static_cast<K>(1.0 / 6.0), eighth = static_cast<K>(1.0 / 8.0);

    if (d == 1) return sixth * (b[-step] + b[2 * step]) + static_cast<K>(0.5) * (b[0] + b[step]);
    return sixth * b[step] - eighth * (b[0] + b[2 * step]);
  }
};
template <class K>
struct SBPInterior<6, K> {
  static constexpr int half = 3;

  static __device__ __forceinline__ K Q(int d)
  {
    return d == 1 ? static_cast<K>(3.0 / 4.0) : (d == 2 ? static_cast<K>(-3.0 / 20.0) : static_cast<K>(1.0 / 60.0));
  }
  static __device__ __forceinline__ K M(int d, const K *b, ptrdiff_t step)
  {
    const K a = static_cast<K>(1.0 / 40.0), c = static_cast<K>(3.0 / 10.0);

    if (d == 1) return a * (b[-2 * step] + b[3 * step]) + c * (b[-step] + b[2 * step]) + static_cast<K>(17.0 / 40.0) * (b[0] + b[step]);
    if (d == 2) return c * b[step] - static_cast<K>(7.0 / 40.0) * (b[0] + b[2 * step]) - static_cast<K>(1.0 / 20.0) * (b[-step] + b[3 * step]);
    return static_cast<K>(11.0 / 360.0) * (b[0] + b[3 * step]) - a * (b[step] + b[2 * step]);
  }
};

template <int order, class V>
static __device__ __forceinline__ V SBPNodeInterior(const SBPMarch<V> &m, int i, int j)
{
  using K               = typename SBPReal<V>::type;
  using S               = SBPInterior<order, K>;
  const ptrdiff_t where = static_cast<ptrdiff_t>(j) * m.coefficientpitch + i, us = m.ghostpitch, cs = m.coefficientpitch;
  const V        *u = m.u + static_cast<ptrdiff_t>(j) * us + i;
  const K        *a = m.coefficient[0] + where, *b = m.coefficient[1] + where, *c = m.coefficient[2] + where;
  const V         centre = u[0];
  V               along = SBPZero<V>(), up = SBPZero<V>(), mixed = SBPZero<V>();

#pragma unroll
  for (int d = 1; d <= S::half; d++) {
    V right = SBPZero<V>(), left = SBPZero<V>(), above = SBPZero<V>(), below = SBPZero<V>();

    along = along + S::M(d, a, 1) * (centre - u[d]) + S::M(d, a, -1) * (centre - u[-d]);
    up    = up + S::M(d, b, cs) * (centre - u[d * us]) + S::M(d, b, -cs) * (centre - u[-d * us]);
#pragma unroll
    for (int e = 1; e <= S::half; e++) {
      right = right + S::Q(e) * (u[d + e * us] - u[d - e * us]);
      left  = left + S::Q(e) * (u[-d + e * us] - u[-d - e * us]);
      above = above + S::Q(e) * (u[d * us + e] - u[d * us - e]);
      below = below + S::Q(e) * (u[-d * us + e] - u[-d * us - e]);
    }
    mixed = mixed + S::Q(d) * ((c[-d] * left - c[d] * right) + (c[-d * cs] * below - c[d * cs] * above));
  }
  return K(2) * m.factor.r * along + K(2) * m.factor.s * up + mixed;
}

/* The result of a step from A u at a node */
template <bool shifted, class V>
static __device__ __forceinline__ V SBPShiftIf(const SBPMarch<V> &m, int i, int j, V sum, V u)
{
  if constexpr (shifted) return SBPShift(m, i, j, sum, u);
  else return sum;
}

template <int order, SBPTake take, bool shifted, class V>
static __global__ void __launch_bounds__(SBP_THREADS) SBPAnyKernel(const __grid_constant__ SBPMarch<V> m)
{
  auto U = [&](int a, int b) { return SBPRead(m.u + static_cast<ptrdiff_t>(b) * m.ghostpitch + a); };
  int  i, j;

  if (blockIdx.x < static_cast<unsigned>(m.frameblocks)) {
    const int k = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);

    if (k >= m.frame) return;
    SBPFrameNode(m, k, &i, &j);
    SBPNodeFinish<take>(m, i, j, SBPShiftIf<shifted>(m, i, j, SBPNodeAny(m, i, j, U), U(i, j)), U(i, j));
    return;
  }
  const int block = static_cast<int>(blockIdx.x) - m.frameblocks;

  /* blocks of 32 x 4 nodes */
  i = m.from[0] + block % m.columnwarps * SBP_WARP + SBPLane();
  j = m.from[1] + block / m.columnwarps * (SBP_THREADS / SBP_WARP) + static_cast<int>(threadIdx.x / SBP_WARP);
  if (i >= m.to[0] || j >= m.to[1]) return;
  SBPNodeFinish<take>(m, i, j, SBPShiftIf<shifted>(m, i, j, SBPNodeInterior<order>(m, i, j), U(i, j)), U(i, j));
}

template <SBPTake take, bool shifted, class V>
static void SBPLaunchAny(SBPMarch<V> m, cudaStream_t stream)
{
  constexpr int rows = SBP_THREADS / SBP_WARP;

  m.columnwarps    = (m.to[0] - m.from[0] + SBP_WARP - 1) / SBP_WARP;
  m.frameblocks    = (m.frame + SBP_THREADS - 1) / SBP_THREADS;
  const int blocks = m.frameblocks + m.columnwarps * ((m.to[1] - m.from[1] + rows - 1) / rows);

  if (blocks == 0) return;
  if (m.order == 4) SBPAnyKernel<4, take, shifted, V><<<blocks, SBP_THREADS, 0, stream>>>(m);
  else SBPAnyKernel<6, take, shifted, V><<<blocks, SBP_THREADS, 0, stream>>>(m);
}

template <bool shifted, class V>
static void SBPLaunchAny(SBPMode mode, const SBPMarch<V> &m, cudaStream_t stream)
{
  switch (mode) {
  case SBP_APPLY:
    SBPLaunchAny<SBP_TAKE_APPLY, shifted>(m, stream);
    break;
  case SBP_ADD:
  case SBP_RESIDUAL:
    SBPLaunchAny<SBP_TAKE_ADD, shifted>(m, stream);
    break;
  case SBP_SMOOTH:
    SBPLaunchAny<SBP_TAKE_SMOOTH, shifted>(m, stream);
    break;
  }
}

/* Rows of the closures, and of the faces, come from the tables */
static int SBPAnyWidth(const SBPOperator *op)
{
  return op->grid.order == 4 ? 6 : 9;
}

PetscErrorCode LitheCUDASBPStepAny(const SBPOperator *op, const SBPBox *region, const SBPStep *step)
{
  const int all = SBPAnyWidth(op), width[4] = {all, all, all, all};

  PetscFunctionBegin;
  PetscCall(SBPWithOperator(op, region, [&](auto &m, cudaStream_t stream) {
    SBPSetStep(op, step, &m);
    SBPSetFrame(width, &m);
    if (op->kind == SBP_SHIFTED) SBPLaunchAny<true>(step->mode, m, stream);
    else SBPLaunchAny<false>(step->mode, m, stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <bool shifted, class V>
static __global__ void __launch_bounds__(SBP_THREADS) SBPDiagonalAnyKernel(const __grid_constant__ SBPMarch<V> m)
{
  const int width = m.all[0][1], node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = node % width, j = node / width;

  if (j >= m.all[1][1]) return;
  m.out[static_cast<ptrdiff_t>(j) * m.pitch + i] = SBPShiftIf<shifted>(m, i, j,
                                                                       SBPNodeAny(m, i, j,
                                                                                  [&](int a, int b) { return a == i && b == j ? SBPOne<V>() : SBPZero<V>(); }),
                                                                       SBPOne<V>());
}

PetscErrorCode LitheCUDASBPDiagonalAny(const SBPOperator *op, void *d)
{
  PetscFunctionBegin;
  PetscCall(SBPWithOperator(op, nullptr, [&](auto &m, cudaStream_t stream) {
    const int blocks = SBPNodeBlocks(m);

    m.out = static_cast<decltype(m.out)>(d);
    if (!blocks) return;
    if (op->kind == SBP_SHIFTED) SBPDiagonalAnyKernel<true><<<blocks, SBP_THREADS, 0, stream>>>(m);
    else SBPDiagonalAnyKernel<false><<<blocks, SBP_THREADS, 0, stream>>>(m);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ fused operations */

template <SBPFusedKind fused, bool shifted, class V>
static __global__ void __launch_bounds__(SBP_THREADS) SBPFusedAnyKernel(const __grid_constant__ SBPFused<V> m)
{
  const int width = m.all[0][1], node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x), i = node % width, j = node / width;

  if (j < m.all[1][1])
    SBPFusedNode<fused>(m, i, j, [&](int a, int b, const auto &u) { return SBPShiftIf<shifted, V>(m, a, b, SBPNodeAny<V>(m, a, b, u), u(a, b)); });
}

template <bool shifted, class V>
static void SBPLaunchFusedAny(SBPFusedKind fused, const SBPFused<V> &m, cudaStream_t stream)
{
  const int blocks = SBPNodeBlocks(m);

  switch (fused) {
  case SBP_FUSED_SMOOTHTWO:
    SBPFusedAnyKernel<SBP_FUSED_SMOOTHTWO, shifted, V><<<blocks, SBP_THREADS, 0, stream>>>(m);
    break;
  case SBP_FUSED_RESIDUALRESTRICT:
    SBPFusedAnyKernel<SBP_FUSED_RESIDUALRESTRICT, shifted, V><<<blocks, SBP_THREADS, 0, stream>>>(m);
    break;
  case SBP_FUSED_PROLONGSMOOTH:
    SBPFusedAnyKernel<SBP_FUSED_PROLONGSMOOTH, shifted, V><<<blocks, SBP_THREADS, 0, stream>>>(m);
    break;
  default:
    break;
  }
}

template <class V>
void SBPLaunchFusedAny(SBPFusedKind fused, bool shifted, const SBPFused<V> &m, cudaStream_t stream)
{
  if (shifted) SBPLaunchFusedAny<true>(fused, m, stream);
  else SBPLaunchFusedAny<false>(fused, m, stream);
}

template void SBPLaunchFusedAny(SBPFusedKind, bool, const SBPFused<float> &, cudaStream_t);
template void SBPLaunchFusedAny(SBPFusedKind, bool, const SBPFused<double> &, cudaStream_t);
