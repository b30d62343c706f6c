/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Galerkin operators P^T A P of SBP-SAT multigrid, for a process with the whole grid: a thread per coarse node. The
   basis function of the coarse node has nine fine nodes. For each neighbour, the thread adds the products of the nine
   rows of A with the neighbour's basis function. Interior rows have nine entries, and the compiler knows the weights of
   all products. Near the ends of the grid, each row is applied to each basis function.
*/

#include "launch.cuh"

#define SBP_GALERKIN_ROWS 4 /* rows of SBP_WARP coarse nodes per block */

template <class V>
struct SBPGalerkin {
  SBPMarch<V> fine;
  int         n[2];           /* intervals of the coarse grid */
  int         from[2], to[2]; /* coarse nodes with interior rows of A only: from <= I < to */
  V          *out[SBP_COEFFICIENTS];
  float      *rounded[SBP_COEFFICIENTS]; /* or NULL */
  int         pitch, columnblocks;
};

/* Direction of the neighbour that coefficient k couples with a node */
static __host__ __device__ constexpr int SBPNeighbour(int k, int d)
{
  return d ? (k >= 2) : ((k == 1 || k == 3) - (k == 4));
}

/* Twice a one-dimensional basis function at a distance from its node */
static __host__ __device__ constexpr int SBPTwiceHat(int distance)
{
  return distance == 0 ? 2 : (distance == 1 || distance == -1 ? 1 : 0);
}

/* The entries of row (i, j) in the interior, w[1 + along s][1 + along r] */
template <SBPKind kind, class V>
static __device__ __forceinline__ void SBPInteriorRow(const SBPMarch<V> &m, int i, int j, V w[3][3])
{
  const ptrdiff_t pitch = m.coefficientpitch, where = j * pitch + i;

  if constexpr (kind != SBP_NINE) {
    const V *a = m.coefficient[0] + where, *b = m.coefficient[1] + where, *c = m.coefficient[2] + where;
    const V  west = SBPRead(c - 1), east = SBPRead(c + 1), south = SBPRead(c - pitch), north = SBPRead(c + pitch), quarter = static_cast<V>(0.25);
    const V  ahere = SBPRead(a), bhere = SBPRead(b);

    w[1][0] = -m.factor.r * (SBPRead(a - 1) + ahere);
    w[1][2] = -m.factor.r * (SBPRead(a + 1) + ahere);
    w[0][1] = -m.factor.s * (SBPRead(b - pitch) + bhere);
    w[2][1] = -m.factor.s * (SBPRead(b + pitch) + bhere);
    w[1][1] = -(w[1][0] + w[1][2] + w[0][1] + w[2][1]);
    w[0][0] = -quarter * (west + south);
    w[0][2] = quarter * (east + south);
    w[2][0] = quarter * (west + north);
    w[2][2] = -quarter * (east + north);
    if constexpr (kind == SBP_SHIFTED) {
#pragma unroll
      for (int q = 0; q < 9; q++) w[q / 3][q % 3] *= m.factor.scale;
      w[1][1] += SBPRead(m.coefficient[SBP_DIAGONAL] + where);
    }
  } else {
    const V *e = m.coefficient[1] + where, *n = m.coefficient[2] + where, *ne = m.coefficient[3] + where, *nw = m.coefficient[4] + where;

    w[1][1] = SBPRead(m.coefficient[0] + where);
    w[1][0] = SBPRead(e - 1);
    w[1][2] = SBPRead(e);
    w[0][1] = SBPRead(n - pitch);
    w[2][1] = SBPRead(n);
    w[0][0] = SBPRead(ne - pitch - 1);
    w[2][2] = SBPRead(ne);
    w[0][2] = SBPRead(nw - pitch + 1);
    w[2][0] = SBPRead(nw);
  }
}

template <SBPKind kind, class V>
static __device__ __forceinline__ void SBPGalerkinInside(const SBPMarch<V> &m, int I, int J, V sum[SBP_COEFFICIENTS])
{
#pragma unroll
  for (int b = -1; b <= 1; b++) {
#pragma unroll
    for (int a = -1; a <= 1; a++) {
      V w[3][3];

      SBPInteriorRow<kind>(m, 2 * I + a, 2 * J + b, w);
#pragma unroll
      for (int k = 0; k < SBP_COEFFICIENTS; k++) {
#pragma unroll
        for (int q = 0; q < 9; q++) {
          /* sixteen times the product of two basis functions */
          const int product = SBPTwiceHat(a) * SBPTwiceHat(b) * SBPTwiceHat(a + q % 3 - 1 - 2 * SBPNeighbour(k, 0)) *
                              SBPTwiceHat(b + q / 3 - 1 - 2 * SBPNeighbour(k, 1));

          if (product) sum[k] += static_cast<V>(product / 16.) * w[q / 3][q % 3];
        }
      }
    }
  }
}

template <SBPKind kind, class V>
static __device__ __forceinline__ void SBPGalerkinFrame(const SBPMarch<V> &m, const int n[2], int I, int J, V sum[SBP_COEFFICIENTS])
{
#pragma unroll
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    const int p = 2 * (I + SBPNeighbour(k, 0)), q = 2 * (J + SBPNeighbour(k, 1));

    /* values outside the grid are 0 */
    if (p < 0 || p > 2 * n[0] || q > 2 * n[1]) continue;
#pragma unroll 1
    for (int node = 0; node < 9; node++) {
      const int a = node % 3 - 1, b = node / 3 - 1, i = 2 * I + a, j = 2 * J + b;

      if (i < 0 || i > 2 * n[0] || j < 0 || j > 2 * n[1]) continue;
      sum[k] += static_cast<V>(SBPTwiceHat(a) * SBPTwiceHat(b) / 4.) *
                SBPNode<kind>(m, i, j, [&](int x, int y) { return static_cast<V>(SBPTwiceHat(x - p) * SBPTwiceHat(y - q) / 4.); });
    }
  }
}

template <SBPKind kind, class V>
static __global__ void __launch_bounds__(SBP_WARP *SBP_GALERKIN_ROWS) SBPGalerkinKernel(const __grid_constant__ SBPGalerkin<V> g)
{
  const int I             = static_cast<int>(blockIdx.x) % g.columnblocks * SBP_WARP + static_cast<int>(threadIdx.x),
            J             = static_cast<int>(blockIdx.x) / g.columnblocks * SBP_GALERKIN_ROWS + static_cast<int>(threadIdx.y);
  V sum[SBP_COEFFICIENTS] = {};

  if (I > g.n[0] || J > g.n[1]) return;
  if (I >= g.from[0] && I < g.to[0] && J >= g.from[1] && J < g.to[1]) SBPGalerkinInside<kind>(g.fine, I, J, sum);
  else SBPGalerkinFrame<kind>(g.fine, g.n, I, J, sum);

  const ptrdiff_t at = static_cast<ptrdiff_t>(J) * g.pitch + I;

#pragma unroll
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    g.out[k][at] = sum[k];
    if (g.rounded[k]) g.rounded[k][at] = static_cast<float>(sum[k]);
  }
}

template <class V>
static PetscErrorCode SBPLaunchGalerkin(const SBPOperator *op, const SBPGrid *coarse, void *const out[], void *const rounded[])
{
  SBPGalerkin<V> g;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(SBPSetOperator(op, nullptr, &g.fine));
  for (int d = 0; d < 2; d++) {
    const int low = op->kind != SBP_NINE ? SBPFrameWidth(op, 2 * d, 0) : 1, high = op->kind != SBP_NINE ? SBPFrameWidth(op, 2 * d + 1, 0) : 1;

    /* nodes 2 I - 1 and 2 I + 1 are interior */
    g.n[d]    = static_cast<int>(coarse->n[d]);
    g.from[d] = (low + 2) / 2;
    g.to[d]   = (static_cast<int>(op->grid.n[d]) - high + 1) / 2;
  }
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    g.out[k]     = static_cast<V *>(out[k]);
    g.rounded[k] = rounded ? static_cast<float *>(rounded[k]) : nullptr;
  }
  g.pitch           = static_cast<int>(coarse->coefficientpitch);
  g.columnblocks    = g.n[0] / SBP_WARP + 1;
  const int  blocks = g.columnblocks * (g.n[1] / SBP_GALERKIN_ROWS + 1);
  const dim3 threads(SBP_WARP, SBP_GALERKIN_ROWS);

  if (op->kind == SBP_SAT) SBPGalerkinKernel<SBP_SAT, V><<<blocks, threads, 0, stream>>>(g);
  else if (op->kind == SBP_SHIFTED) SBPGalerkinKernel<SBP_SHIFTED, V><<<blocks, threads, 0, stream>>>(g);
  else SBPGalerkinKernel<SBP_NINE, V><<<blocks, threads, 0, stream>>>(g);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPGalerkin(const SBPOperator *op, const SBPGrid *coarse, void *const coefficient[SBP_COEFFICIENTS],
                                    void *const rounded[SBP_COEFFICIENTS])
{
  PetscFunctionBegin;
  PetscCheck(op->kind == SBP_NINE || op->grid.order == 2, PETSC_COMM_SELF, PETSC_ERR_SUP,
             "A Galerkin operator of nine points needs an operator of order 2, not %d", op->grid.order);
  if (op->precision == SBP_SINGLE) PetscCall(SBPLaunchGalerkin<float>(op, coarse, coefficient, rounded));
  else PetscCall(SBPLaunchGalerkin<double>(op, coarse, coefficient, rounded));
  PetscFunctionReturn(PETSC_SUCCESS);
}
