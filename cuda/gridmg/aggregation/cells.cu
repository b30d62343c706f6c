/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCGRIDMG on a device: kernels that read faces and lists. Each kernel does one operation, with a thread per cell or a
   warp per row of the list. The kernels serve all levels and precisions. fused.cu and small.cu replace the
   most frequent operations.
*/

#include "gridmg.cuh"

#define SHARED_TABLE(V, C)                                \
  __shared__ V        numbers[GridMGDecoder<V, C>::size]; \
  GridMGDecoder<V, C> decode(numbers, l.table);           \
  __syncthreads()

static __device__ __forceinline__ int Cell()
{
  return static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);
}

/* The row of the list for this warp */
static __device__ __forceinline__ int ListRow()
{
  return Cell() / GRIDMG_WARP;
}

/* ------------------------------------------------------------ lists */

/* Minus the contribution of the list to A x, stored in work for rows from ... to - 1 */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS) ListKernel(const __grid_constant__ GridMGListView<V> list, int from, int to, const V *x)
{
  const int row = from + ListRow();

  if (row >= to) return;
  const V sum = GridMGListFlux(list, row, x);
  if (threadIdx.x % GRIDMG_WARP == 0) list.work[row] = sum;
}

template <class V>
static void LaunchList(const GridMGListView<V> &list, int from, int to, const V *x, cudaStream_t stream)
{
  if (to > from) ListKernel<<<GridMGBlocks(to - from, GRIDMG_THREADS / GRIDMG_WARP), GRIDMG_THREADS, 0, stream>>>(list, from, to, x);
}

/* x += D^-1 work on rows from ... to - 1 */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ListAddKernel(const __grid_constant__ GridMGListView<V> list, int from, int to, const V *__restrict__ dinv, V *x)
{
  const int row = from + Cell();

  if (row >= to) return;
  x[list.row[row]] += dinv[list.row[row]] * list.work[row];
}

template <class V>
static void LaunchListAdd(const GridMGListView<V> &list, int from, int to, const V *dinv, V *x, cudaStream_t stream)
{
  if (to > from) ListAddKernel<<<GridMGBlocks(to - from, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(list, from, to, dinv, x);
}

/* Adds work to the sums over aggregates. One launch has rows in the same place of their aggregates, so no two rows have
   the same aggregate. The launch of place 0 also stores the residuals of wells */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ListRestrictKernel(const __grid_constant__ GridMGListView<V> list, const __grid_constant__ GridMGLevelView<V, float> l,
                     const __grid_constant__ GridMGCoarseView coarse, int place, const V *__restrict__ b, const V *__restrict__ x, V *bc)
{
  const int row = Cell();

  if (row >= list.n) return;
  const int i = static_cast<int>(list.row[row]), line = i / l.n[0], at[3] = {i % l.n[0], line % l.n[1], line / l.n[1]};

  if (i >= l.cells) {
    if (place == 0) bc[coarse.cells + i - l.cells] = b[i] - l.sigma[i] * x[i] + list.work[row];
  } else if (at[0] % coarse.by[0] + coarse.by[0] * (at[1] % coarse.by[1] + coarse.by[1] * (at[2] % coarse.by[2])) == place && (!l.alive || l.alive[i]))
    bc[at[0] / coarse.by[0] + coarse.n[0] * (at[1] / coarse.by[1] + coarse.n[1] * (at[2] / coarse.by[2]))] += list.work[row];
}

/* ------------------------------------------------------------ smoothing */

template <class V, class C>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ColourKernel(const __grid_constant__ GridMGLevelView<V, C> l, int colour, const V *__restrict__ b, V *x)
{
  const int c = Cell(), line = c / l.n[0];
  SHARED_TABLE(V, C);

  if (c >= l.cells || ((c % l.n[0] + line % l.n[1] + line / l.n[1]) & 1) != colour) return;
  const V xi = x[c];
  x[c]       = xi + l.dinv[c] * (b[c] - (l.sigma[c] * xi - GridMGFlux(l, decode, x, xi, c)));
}

PetscErrorCode LitheCUDAGridMGColour(const GridMGOperator *op, int colour, const void *b, void *x)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunchWithCodes(op, [&](cudaStream_t stream, auto v, auto c) {
    using V                      = decltype(v);
    using C                      = decltype(c);
    const GridMGListView<V> list = GridMGViewList<V>(op);
    const int               from = colour ? list.part[0] : 0, to = list.part[colour];
    const auto              l = GridMGView<V, C>(op);

    LaunchList(list, from, to, static_cast<const V *>(x), stream);
    ColourKernel<<<GridMGBlocks(op->grid.cells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(l, colour, static_cast<const V *>(b), static_cast<V *>(x));
    LaunchListAdd(list, from, to, l.dinv, static_cast<V *>(x), stream);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One block. Gauss-Seidel on wells. First the sums over cells for all wells, a warp per well. Then the couplings
   between wells, for 32 wells at a time, in turn if some of the wells are neighbours. The entries of a row with wells
   come last.
*/
template <class V, class C>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  WellsKernel(const __grid_constant__ GridMGLevelView<V, C> l, const __grid_constant__ GridMGListView<V> list, bool backwards, const V *__restrict__ b, V *x)
{
  const int lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), warp = static_cast<int>(threadIdx.x / GRIDMG_WARP);

  for (int w = warp; w < l.wells; w += GRIDMG_THREADS / GRIDMG_WARP) {
    const int row = list.part[1] + w;
    const V   xi  = x[l.cells + w];
    V         sum = 0;

    for (PetscInt e = list.i[row] + lane; e < list.i[row + 1]; e += GRIDMG_WARP) {
      if (list.j[e] < l.cells) sum += list.t[e] * (x[list.j[e]] - xi);
    }
#pragma unroll
    for (int offset = GRIDMG_WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    if (lane == 0) list.work[row] = sum;
  }
  __syncthreads();
  if (warp) return;
  for (int first = 0; first < l.wells; first += GRIDMG_WARP) {
    const int  k = first + lane, w = backwards ? l.wells - 1 - k : k, row = list.part[1] + w, i = l.cells + w;
    const bool mine  = k < l.wells;
    const bool other = mine && list.i[row + 1] > list.i[row] && list.j[list.i[row + 1] - 1] >= l.cells;
    const auto solve = [&]() {
      V sum = list.work[row];

      for (PetscInt e = list.i[row + 1]; e > list.i[row] && list.j[e - 1] >= l.cells; e--) sum += list.t[e - 1] * (x[list.j[e - 1]] - x[i]);
      x[i] += l.dinv[i] * (b[i] - l.sigma[i] * x[i] + sum);
    };

    if (!__any_sync(0xffffffffu, other)) {
      if (mine) solve();
    } else {
      for (int turn = 0; turn < GRIDMG_WARP; turn++) {
        if (mine && turn == lane) solve();
        __threadfence_block();
        __syncwarp();
      }
    }
    __threadfence_block();
    __syncwarp();
  }
}

PetscErrorCode LitheCUDAGridMGWells(const GridMGOperator *op, PetscBool backwards, const void *b, void *x)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    WellsKernel<<<1, GRIDMG_THREADS, 0, stream>>>(GridMGView<V, float>(op), GridMGViewList<V>(op), static_cast<bool>(backwards), static_cast<const V *>(b),
                                                  static_cast<V *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ residuals */

template <class V, class C>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ResidualKernel(const __grid_constant__ GridMGLevelView<V, C> l, const V *__restrict__ b, const V *__restrict__ x, V *__restrict__ r)
{
  const int c = Cell();
  SHARED_TABLE(V, C);

  if (c >= l.cells) return;
  const V ax = l.sigma[c] * x[c] - GridMGFlux(l, decode, x, x[c], c);
  r[c]       = b ? b[c] - ax : ax;
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ListResidualKernel(const __grid_constant__ GridMGLevelView<V, float> l, const __grid_constant__ GridMGListView<V> list, const V *__restrict__ b,
                     const V *__restrict__ x, V *__restrict__ r)
{
  const int row = ListRow();

  if (row >= list.n) return;
  const V   sum = GridMGListFlux(list, row, x);
  const int i   = static_cast<int>(list.row[row]);
  if (threadIdx.x % GRIDMG_WARP) return;
  const V ax = (i < l.cells ? V(0) : l.sigma[i] * x[i]) - sum;
  if (i < l.cells) r[i] += b ? -ax : ax;
  else r[i] = b ? b[i] - ax : ax;
}

PetscErrorCode LitheCUDAGridMGResidual(const GridMGOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunchWithCodes(op, [&](cudaStream_t stream, auto v, auto c) {
    using V = decltype(v);
    using C = decltype(c);
    ResidualKernel<<<GridMGBlocks(op->grid.cells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, C>(op), static_cast<const V *>(b),
                                                                                                static_cast<const V *>(x), static_cast<V *>(r));
    if (op->list.n) {
      ListResidualKernel<<<GridMGBlocks(op->list.n, GRIDMG_THREADS / GRIDMG_WARP), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, float>(op), GridMGViewList<V>(op),
                                                                                                                static_cast<const V *>(b),
                                                                                                                static_cast<const V *>(x), static_cast<V *>(r));
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A thread per coarse cell */
template <class V, class C>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ResidualRestrictKernel(const __grid_constant__ GridMGLevelView<V, C> l, const __grid_constant__ GridMGCoarseView coarse, const V *__restrict__ b,
                         const V *__restrict__ x, V *__restrict__ bc)
{
  const int K = Cell(), line = K / coarse.n[0], I[3] = {K % coarse.n[0], line % coarse.n[1], line / coarse.n[1]};
  V         sum = 0;
  SHARED_TABLE(V, C);

  if (K >= coarse.cells) return;
  for (int k = I[2] * coarse.by[2]; k < min(l.n[2], (I[2] + 1) * coarse.by[2]); k++) {
    for (int j = I[1] * coarse.by[1]; j < min(l.n[1], (I[1] + 1) * coarse.by[1]); j++) {
      for (int i = I[0] * coarse.by[0]; i < min(l.n[0], (I[0] + 1) * coarse.by[0]); i++) {
        const int c = i + l.n[0] * (j + l.n[1] * k);

        if (!l.alive || l.alive[c]) sum += b[c] - (l.sigma[c] * x[c] - GridMGFlux(l, decode, x, x[c], c));
      }
    }
  }
  bc[K] = sum;
}

PetscErrorCode LitheCUDAGridMGResidualRestrict(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const void *b, const void *x, void *bc)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunchWithCodes(op, [&](cudaStream_t stream, auto v, auto c) {
    using V           = decltype(v);
    using C           = decltype(c);
    const auto list   = GridMGViewList<V>(op);
    const auto view   = GridMGViewCoarse(coarse, by);
    const int  places = by[0] * by[1] * by[2];

    ResidualRestrictKernel<<<GridMGBlocks(coarse->cells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, C>(op), view, static_cast<const V *>(b),
                                                                                                       static_cast<const V *>(x), static_cast<V *>(bc));
    LaunchList(list, 0, list.n, static_cast<const V *>(x), stream);
    for (int place = 0; list.n && place < places; place++) {
      ListRestrictKernel<<<GridMGBlocks(list.n, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(list, GridMGView<V, float>(op), view, place,
                                                                                              static_cast<const V *>(b), static_cast<const V *>(x),
                                                                                              static_cast<V *>(bc));
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
