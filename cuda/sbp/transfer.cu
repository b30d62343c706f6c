/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Transfers between the levels of SBP-SAT multigrid, mostly with a thread per written node */

#include "transfer.cuh"
#include "launch.cuh"

#define SBP_TRANSFER_THREADS 256

/* from and to begin at the first own node of their grids */
template <class V>
struct SBPTransfer {
  const V  *from;
  V        *to;
  ptrdiff_t frompitch, topitch;
  int       count[2];                       /* written nodes */
  int       n[2], fromstart[2], tostart[2]; /* intervals of the coarse grid; first own nodes */
  int       columnblocks;
  unsigned *largest; /* upper word of the largest input, or NULL */
};

template <class V>
static __device__ __forceinline__ bool SBPTransferNode(const SBPTransfer<V> &t, int *i, int *j)
{
  *i = static_cast<int>(blockIdx.x) % t.columnblocks * SBP_TRANSFER_THREADS + static_cast<int>(threadIdx.x);
  *j = static_cast<int>(blockIdx.x) / t.columnblocks;
  return *i < t.count[0];
}

/* at(v) is the value used for a number v of the input */
template <class V, class At>
static __device__ __forceinline__ V SBPRestrictNode(const SBPTransfer<V> &t, int i, int j, const At &at)
{
  using K      = typename SBPReal<V>::type;
  const int fi = 2 * (i + t.tostart[0]), fj = 2 * (j + t.tostart[1]);
  V         sum = SBPZero<V>();

#pragma unroll
  for (int b = -1; b <= 1; b++) {
    if (fj + b < 0 || fj + b > 2 * t.n[1]) continue;
    const V *r    = t.from + (fj + b - t.fromstart[1]) * t.frompitch + (fi - t.fromstart[0]);
    V        line = at(SBPRead(r));

    if (fi > 0) line = line + static_cast<K>(0.5) * at(SBPRead(r - 1));
    if (fi < 2 * t.n[0]) line = line + static_cast<K>(0.5) * at(SBPRead(r + 1));
    sum = sum + (b ? static_cast<K>(0.5) : K(1)) * line;
  }
  return sum;
}

template <class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPRestrictKernel(const __grid_constant__ SBPTransfer<V> t)
{
  int i, j;

  if (SBPTransferNode(t, &i, &j)) t.to[j * t.topitch + i] = SBPRestrictNode(t, i, j, [](V v) { return v; });
}

/* All threads reach the end */
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPRestrictLargestKernel(const __grid_constant__ SBPTransfer<double> t)
{
  unsigned int word = 0;
  int          i, j;

  if (SBPTransferNode(t, &i, &j)) {
    t.to[j * t.topitch + i] = SBPRestrictNode(t, i, j, [&word](double v) {
      const unsigned int upper = SBPUpperWord(v);

      word = upper > word ? upper : word;
      return v;
    });
  }
  SBPNoteLargest(word, t.largest);
}

template <bool add, class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPProlongKernel(const __grid_constant__ SBPTransfer<V> t)
{
  int i, j;

  if (!SBPTransferNode(t, &i, &j)) return;
  V      *u = t.to + j * t.topitch + i;
  const V e = SBPProlongNode(t.from - t.fromstart[1] * t.frompitch - t.fromstart[0], t.frompitch, i + t.tostart[0], j + t.tostart[1]);

  *u = add ? *u + e : e;
}

/*
   Cubic interpolation in one direction between nodes I and I + 1 of the coarse grid. Returns the first of four
   successive nodes. *at: the place of node I among the four nodes; w: the weights, 0 for missing nodes.
*/
template <class K>
static __device__ __forceinline__ int SBPCubic(int n, int I, int *at, K w[4])
{
  const K   sixteenth = static_cast<K>(1.0 / 16.0);
  const int last = n - 3 < I - 1 ? n - 3 : I - 1, first = last > 0 ? last : 0;

  *at = I - first;
  if (n < 3) {
#pragma unroll
    for (int k = 0; k < 4; k++) w[k] = k == *at || k == *at + 1 ? static_cast<K>(0.5) : K(0);
  } else {
    w[0] = (*at == 0 ? K(5) : (*at == 2 ? K(1) : K(-1))) * sixteenth;
    w[1] = (*at == 0 ? K(15) : (*at == 2 ? K(-5) : K(9))) * sixteenth;
    w[2] = (*at == 0 ? K(-5) : (*at == 2 ? K(15) : K(9))) * sixteenth;
    w[3] = (*at == 0 ? K(1) : (*at == 2 ? K(5) : K(-1))) * sixteenth;
  }
  return first;
}

/* A thread per coarse cell. The thread writes the node at the lower left corner, the nodes on the lower and on the left
   edge, and the node in the middle */
template <class V>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPInterpolateKernel(const __grid_constant__ SBPTransfer<V> t)
{
  using K     = typename SBPReal<V>::type;
  const int I = static_cast<int>(blockIdx.x) % t.columnblocks * SBP_TRANSFER_THREADS + static_cast<int>(threadIdx.x) + t.tostart[0] / 2,
            J = static_cast<int>(blockIdx.x) / t.columnblocks + t.tostart[1] / 2;
  const int i = 2 * I - t.tostart[0], j = 2 * J - t.tostart[1];
  K         wi[4], wj[4];
  int       ati, atj;

  if (i >= t.count[0]) return;
  const int fi = SBPCubic(t.n[0], I, &ati, wi), fj = SBPCubic(t.n[1], J, &atj, wj);
  const V  *e = t.from + (fj - t.fromstart[1]) * t.frompitch + (fi - t.fromstart[0]);
  /* in the row of the corner and between two rows: at node I, and after node I */
  V corner[2] = {}, between[2] = {};

#pragma unroll
  for (int b = 0; b < 4; b++) {
    V here = SBPZero<V>(), after = SBPZero<V>();

    if (fj + b > t.n[1]) continue;
#pragma unroll
    for (int a = 0; a < 4; a++) {
      if (fi + a > t.n[0]) continue;
      const V v = SBPRead(e + b * t.frompitch + a);

      if (a == ati) here = v;
      after = after + wi[a] * v;
    }
    if (b == atj) {
      corner[0] = here;
      corner[1] = after;
    }
    between[0] = between[0] + wj[b] * here;
    between[1] = between[1] + wj[b] * after;
  }
#pragma unroll
  for (int a = 0; a < 2; a++) {
    V *to = t.to + j * t.topitch + i + a;

    if (i + a < 0 || i + a >= t.count[0]) continue;
    if (j >= 0) to[0] = corner[a];
    if (j + 1 < t.count[1]) to[t.topitch] = between[a];
  }
}

/* Calls launch(arguments, blocks, stream), if the output has nodes, with a thread per node. With cells, a thread has 2
   x 2 nodes, and the first node is even */
template <bool cells = false, class V, class Launch>
static PetscErrorCode SBPTransferLaunch(const SBPGrid *from, const SBPGrid *to, const SBPGrid *coarse, const void *x, V *y, Launch launch)
{
  SBPTransfer<V> t;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  t.largest   = nullptr;
  t.from      = SBPFromOwn<const V>(from, &from->ghosted, from->ghostpitch, x);
  t.to        = y;
  t.frompitch = from->ghostpitch;
  t.topitch   = to->pitch;
  for (int d = 0; d < 2; d++) {
    t.count[d]     = static_cast<int>(to->own.count[d]);
    t.n[d]         = static_cast<int>(coarse->n[d]);
    t.fromstart[d] = static_cast<int>(from->own.start[d]);
    t.tostart[d]   = static_cast<int>(to->own.start[d]);
  }
  if (t.count[0] > 0 && t.count[1] > 0) {
    int threads[2];

    for (int d = 0; d < 2; d++) threads[d] = cells ? (t.tostart[d] + t.count[d] - 1) / 2 - t.tostart[d] / 2 + 1 : t.count[d];
    t.columnblocks = (threads[0] + SBP_TRANSFER_THREADS - 1) / SBP_TRANSFER_THREADS;
    launch(t, t.columnblocks * threads[1], stream);
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y += a (x + P e). Arrays begin at the first own node, e at node (0, 0) of the coarse grid */
template <class X, class Y>
struct SBPUpdateArrays {
  const X  *x, *e;
  Y        *y;
  ptrdiff_t xpitch, epitch, ypitch;
  SBPRatio  a;
  int       count[2], columnblocks;
};

#define SBP_UPDATE_ROWS 4 /* rows per thread, an even number */

template <class X, class Y>
static __global__ void __launch_bounds__(SBP_TRANSFER_THREADS) SBPUpdateKernel(const __grid_constant__ SBPUpdateArrays<X, Y> t)
{
  const int i = static_cast<int>(blockIdx.x) % t.columnblocks * SBP_TRANSFER_THREADS + static_cast<int>(threadIdx.x),
            j = static_cast<int>(blockIdx.x) / t.columnblocks * SBP_UPDATE_ROWS;
  X x[SBP_UPDATE_ROWS], along[SBP_UPDATE_ROWS / 2 + 1];
  Y y[SBP_UPDATE_ROWS];

  if (i >= t.count[0]) return;
#pragma unroll
  for (int k = 0; k <= SBP_UPDATE_ROWS / 2; k++) {
    const X *e = t.e + (j / 2 + k) * t.epitch;

    along[k] = t.e && j + 2 * k < t.count[1] ? static_cast<X>(0.5) * (SBPRead(e + i / 2) + SBPRead(e + (i + 1) / 2)) : X(0);
  }
#pragma unroll
  for (int k = 0; k < SBP_UPDATE_ROWS; k++) {
    x[k] = X(0);
    y[k] = Y(0);
    if (j + k >= t.count[1]) continue;
    x[k] = SBPRead(t.x + (j + k) * t.xpitch + i);
    y[k] = t.y[(j + k) * t.ypitch + i];
  }
  const Y a = static_cast<Y>(SBPNumber(t.a));

#pragma unroll
  for (int k = 0; k < SBP_UPDATE_ROWS; k++) {
    const X e = static_cast<X>(0.5) * (along[k / 2] + along[(k + 1) / 2]);

    if (j + k < t.count[1]) t.y[(j + k) * t.ypitch + i] = y[k] + a * static_cast<Y>(x[k] + e);
  }
}

template <class X, class Y>
static PetscErrorCode SBPLaunchUpdate(const SBPGrid *gx, SBPRatio a, const void *x, const SBPGrid *coarse, const void *e, const SBPGrid *gy, void *y)
{
  SBPUpdateArrays<X, Y> t;
  cudaStream_t          stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  t.x      = static_cast<const X *>(x);
  t.e      = static_cast<const X *>(e);
  t.y      = static_cast<Y *>(y);
  t.xpitch = gx->pitch;
  t.epitch = e ? coarse->pitch : 0;
  t.ypitch = gy->pitch;
  t.a      = a;
  for (int d = 0; d < 2; d++) t.count[d] = static_cast<int>(gx->own.count[d]);
  t.columnblocks = (t.count[0] + SBP_TRANSFER_THREADS - 1) / SBP_TRANSFER_THREADS;
  if (t.count[0] > 0 && t.count[1] > 0)
    SBPUpdateKernel<X, Y><<<t.columnblocks *((t.count[1] + SBP_UPDATE_ROWS - 1) / SBP_UPDATE_ROWS), SBP_TRANSFER_THREADS, 0, stream>>>(t);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPUpdate(const SBPGrid *gx, SBPPrecision px, SBPRatio a, const void *x, const SBPGrid *coarse, const void *e, const SBPGrid *gy,
                                  SBPPrecision py, void *y)
{
  PetscFunctionBegin;
  if (px == SBP_SINGLE && py == SBP_SINGLE) PetscCall(SBPLaunchUpdate<float, float>(gx, a, x, coarse, e, gy, y));
  else if (px == SBP_SINGLE) PetscCall(SBPLaunchUpdate<float, double>(gx, a, x, coarse, e, gy, y));
  else if (py == SBP_SINGLE) PetscCall(SBPLaunchUpdate<double, float>(gx, a, x, coarse, e, gy, y));
  else PetscCall(SBPLaunchUpdate<double, double>(gx, a, x, coarse, e, gy, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPRestrict(const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, const void *r, void *rc)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V = decltype(number);

    return SBPTransferLaunch(fine, coarse, coarse, r, static_cast<V *>(rc), [](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) {
      SBPRestrictKernel<V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPRestrictLargest(const SBPGrid *fine, const SBPGrid *coarse, const void *r, void *rc, SBPScale *scale, int turn)
{
  PetscFunctionBegin;
  PetscCall(SBPTransferLaunch(fine, coarse, coarse, r, static_cast<double *>(rc), [&](SBPTransfer<double> t, int blocks, cudaStream_t stream) {
    t.largest = scale->largest[turn];
    SBPRestrictLargestKernel<<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDASBPProlong(const SBPGrid *coarse, const SBPGrid *fine, SBPPrecision precision, PetscBool add, const void *e, void *u)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V = decltype(number);

    return SBPTransferLaunch(coarse, fine, coarse, e, static_cast<V *>(u), [add](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) {
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

    return SBPTransferLaunch<true>(coarse, fine, coarse, e, static_cast<V *>(u), [](const SBPTransfer<V> &t, int blocks, cudaStream_t stream) {
      SBPInterpolateKernel<V><<<blocks, SBP_TRANSFER_THREADS, 0, stream>>>(t);
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
