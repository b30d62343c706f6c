/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Transfers between the levels of SBP-SAT multigrid: a thread a node of what is written */

#include "sbptransfer.cuh"
#include "sbplaunch.cuh"

#define SBP_TRANSFER_THREADS 256

/* from and to are counted from the first own node of each */
template <class V>
struct SBPTransfer {
  const V  *from;
  V        *to;
  ptrdiff_t frompitch, topitch;
  int       count[2];                       /* nodes that are written */
  int       n[2], fromstart[2], tostart[2]; /* intervals of the coarse grid; first own nodes */
  int       columnblocks;
};

template <class V>
static __device__ __forceinline__ bool SBPTransferNode(const SBPTransfer<V> &t, int *i, int *j)
{
  *i = static_cast<int>(blockIdx.x) % t.columnblocks * SBP_TRANSFER_THREADS + static_cast<int>(threadIdx.x);
  *j = static_cast<int>(blockIdx.x) / t.columnblocks;
  return *i < t.count[0];
}

template <class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPRestrictKernel(const __grid_constant__ SBPTransfer<V> t)
{
  using K = typename SBPReal<V>::type;
  int i, j;

  if (!SBPTransferNode(t, &i, &j)) return;
  const int fi = 2 * (i + t.tostart[0]), fj = 2 * (j + t.tostart[1]);
  V         sum = SBPZero<V>();

#pragma unroll
  for (int b = -1; b <= 1; b++) {
    if (fj + b < 0 || fj + b > 2 * t.n[1]) continue;
    const V *r    = t.from + (fj + b - t.fromstart[1]) * t.frompitch + (fi - t.fromstart[0]);
    V        line = SBPRead(r);

    if (fi > 0) line = line + static_cast<K>(0.5) * SBPRead(r - 1);
    if (fi < 2 * t.n[0]) line = line + static_cast<K>(0.5) * SBPRead(r + 1);
    sum = sum + (b ? static_cast<K>(0.5) : K(1)) * line;
  }
  t.to[j * t.topitch + i] = sum;
}

template <bool add, class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPProlongKernel(const __grid_constant__ SBPTransfer<V> t)
{
  int i, j;

  if (!SBPTransferNode(t, &i, &j)) return;
  V       *u = t.to + j * t.topitch + i;
  const V  e = SBPProlongNode(t.from - t.fromstart[1] * t.frompitch - t.fromstart[0], t.frompitch, i + t.tostart[0], j + t.tostart[1]);

  *u = add ? *u + e : e;
}

/* Cubic interpolation at node i of the fine grid: first node and weights of four, or of two */
template <class K>
static __device__ __forceinline__ int SBPCubic(int n, int i, int *first, K w[4])
{
  const int I = i / 2;
  const K   sixteenth = static_cast<K>(1.0 / 16.0);

  if (i % 2 == 0) {
    *first = I;
    w[0]   = 1;
    return 1;
  }
  if (n < 3) {
    *first = I;
    w[0] = w[1] = static_cast<K>(0.5);
    return 2;
  }
  *first = I == 0 ? 0 : (I == n - 1 ? n - 3 : I - 1);
  w[0]   = (I == 0 ? K(5) : (I == n - 1 ? K(1) : K(-1))) * sixteenth;
  w[1]   = (I == 0 ? K(15) : (I == n - 1 ? K(-5) : K(9))) * sixteenth;
  w[2]   = (I == 0 ? K(-5) : (I == n - 1 ? K(15) : K(9))) * sixteenth;
  w[3]   = (I == 0 ? K(1) : (I == n - 1 ? K(5) : K(-1))) * sixteenth;
  return 4;
}

template <class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPInterpolateKernel(const __grid_constant__ SBPTransfer<V> t)
{
  using K = typename SBPReal<V>::type;
  K   wi[4], wj[4];
  int i, j, fi, fj;

  if (!SBPTransferNode(t, &i, &j)) return;
  const int ni = SBPCubic(t.n[0], i + t.tostart[0], &fi, wi), nj = SBPCubic(t.n[1], j + t.tostart[1], &fj, wj);
  const V  *e = t.from + (fj - t.fromstart[1]) * t.frompitch + (fi - t.fromstart[0]);
  V         sum = SBPZero<V>();

#pragma unroll
  for (int b = 0; b < 4; b++) {
    V line = SBPZero<V>();

    if (b >= nj) continue;
#pragma unroll
    for (int a = 0; a < 4; a++)
      if (a < ni) line = line + wi[a] * SBPRead(e + b * t.frompitch + a);
    sum = sum + wj[b] * line;
  }
  t.to[j * t.topitch + i] = sum;
}

/* launch(arguments, blocks, stream), where anything is to be written */
template <class V, class Launch>
static PetscErrorCode SBPTransferLaunch(const SBPGrid *from, const SBPGrid *to, const SBPGrid *coarse, const void *x, void *y, Launch launch)
{
  SBPTransfer<V> t;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(SBPGetStream(&stream));
  t.from      = SBPFromOwn<const V>(from, &from->ghosted, from->ghostpitch, x);
  t.to        = static_cast<V *>(y);
  t.frompitch = from->ghostpitch;
  t.topitch   = to->pitch;
  for (int d = 0; d < 2; d++) {
    t.count[d]     = static_cast<int>(to->own.count[d]);
    t.n[d]         = static_cast<int>(coarse->n[d]);
    t.fromstart[d] = static_cast<int>(from->own.start[d]);
    t.tostart[d]   = static_cast<int>(to->own.start[d]);
  }
  t.columnblocks = (t.count[0] + SBP_TRANSFER_THREADS - 1) / SBP_TRANSFER_THREADS;
  if (t.count[0] > 0 && t.count[1] > 0) launch(t, t.columnblocks * t.count[1], stream);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPRestrict(const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, const void *r, void *rc)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V = decltype(number);

    return SBPTransferLaunch<V>(fine, coarse, coarse, r, rc, [](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) { SBPRestrictKernel<V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPProlong(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision precision, PetscBool add, const void *e, void *u)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V = decltype(number);

    return SBPTransferLaunch<V>(coarse, fine, coarse, e, u, [add](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) {
      if (add) SBPProlongKernel<true, V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t);
      else SBPProlongKernel<false, V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPInterpolate(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision precision, const void *e, void *u)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V = decltype(number);

    return SBPTransferLaunch<V>(coarse, fine, coarse, e, u, [](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) { SBPInterpolateKernel<V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t); });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
