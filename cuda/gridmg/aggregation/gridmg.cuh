/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of PCGRIDMG: the data of a level for kernels, codes, and the launch.
   lithe/private/gridmg/gridmg.h describes a level
*/

#include <cstdint>
#include <lithe/private/cuda/gridmg.h>
#include "../../common/petsccuda.cuh"
#include "../../common/graph.cuh"

#define GRIDMG_THREADS 256
#define GRIDMG_WARP    32

/* V: type of numbers, C: type of codes. A missing face has code 0, with value 0 */
template <class V, class C>
struct GridMGLevelView {
  const C             *up[3], *down[3];
  const V             *sigma, *dinv, *table;
  const unsigned char *alive;
  int                  n[3], stride[3], cells, wells;
};

template <class V>
struct GridMGListView {
  const PetscInt *row, *i, *j;
  const V        *t;
  V              *work;
  int             n, part[2];
};

/* A coarse grid and the size of aggregates */
struct GridMGCoarseView {
  int n[3], cells, by[3];
};

template <class V>
static inline GridMGListView<V> GridMGViewList(const GridMGOperator *op)
{
  GridMGListView<V> l;

  l.row     = op->list.row;
  l.i       = op->list.i;
  l.j       = op->list.j;
  l.t       = static_cast<const V *>(op->list.t);
  l.work    = static_cast<V *>(op->list.work);
  l.n       = static_cast<int>(op->list.n);
  l.part[0] = static_cast<int>(op->list.part[0]);
  l.part[1] = static_cast<int>(op->list.part[1]);
  return l;
}

template <class V, class C>
static inline GridMGLevelView<V, C> GridMGView(const GridMGOperator *op)
{
  GridMGLevelView<V, C> l;

  for (int d = 0; d < 3; d++) {
    l.up[d]     = static_cast<const C *>(op->up[d]);
    l.down[d]   = static_cast<const C *>(op->down[d]);
    l.n[d]      = static_cast<int>(op->grid.n[d]);
    l.stride[d] = static_cast<int>(GridMGStride(&op->grid, d));
  }
  l.sigma = static_cast<const V *>(op->sigma);
  l.dinv  = static_cast<const V *>(op->dinv);
  l.table = static_cast<const V *>(op->table);
  l.alive = op->alive;
  l.cells = static_cast<int>(op->grid.cells);
  l.wells = static_cast<int>(op->grid.wells);
  return l;
}

static inline GridMGCoarseView GridMGViewCoarse(const GridMGGrid *g, const int by[3])
{
  GridMGCoarseView c;

  for (int d = 0; d < 3; d++) {
    c.n[d]  = static_cast<int>(g->n[d]);
    c.by[d] = by[d];
  }
  c.cells = static_cast<int>(g->cells);
  return c;
}

/* The numbers of the codes, in shared memory. All threads of a block make the table, and wait for the table
   afterwards */
template <class V, class C>
struct GridMGDecoder;

template <class V>
struct GridMGDecoder<V, uint8_t> {
  static constexpr int       size = 256;
  const V                   *table;
  __device__ __forceinline__ GridMGDecoder(V *shared, const V *t) : table(shared)
  {
    for (int k = threadIdx.x; k < size; k += blockDim.x) shared[k] = t[k];
  }
  __device__ __forceinline__ V operator()(uint8_t c) const
  {
    return table[c];
  }
};

template <class V>
struct GridMGDecoder<V, uint16_t> {
  static constexpr int       size = 512;
  const V                   *table;
  __device__ __forceinline__ GridMGDecoder(V *shared, const V *t) : table(shared)
  {
    for (int k = threadIdx.x; k < size; k += blockDim.x) shared[k] = t[k];
  }
  __device__ __forceinline__ V operator()(uint16_t c) const
  {
    return table[c >> 8] * table[256 + (c & 255)];
  }
};

template <class V>
struct GridMGDecoder<V, float> {
  static constexpr int       size = 1;
  __device__ __forceinline__ GridMGDecoder(V *, const V *)
  {
  }
  __device__ __forceinline__ V operator()(float c) const
  {
    return static_cast<V>(c);
  }
};

/* sum_j T_ij (x_j - x_i) over the faces of a cell. Faces at the boundary of the array are skipped */
template <class V, class C, class D>
static __device__ __forceinline__ V GridMGFlux(const GridMGLevelView<V, C> &l, const D &decode, const V *x, V xi, int c)
{
  V sum = 0;

#pragma unroll
  for (int d = 0; d < 3; d++) {
    if (!l.up[d]) continue;
    if (c >= l.stride[d]) sum += decode(l.down[d][c - l.stride[d]]) * (x[c - l.stride[d]] - xi);
    if (c + l.stride[d] < l.cells) sum += decode(l.up[d][c]) * (x[c + l.stride[d]] - xi);
  }
  return sum;
}

/* The sum of a row of the list, sum T (x_j - x_i), in all lanes of the warp, always in the same order */
template <class V>
static __device__ __forceinline__ V GridMGListFlux(const GridMGListView<V> &list, int row, const V *x)
{
  const V xi  = x[list.row[row]];
  V       sum = 0;

  for (PetscInt e = list.i[row] + static_cast<PetscInt>(threadIdx.x % GRIDMG_WARP); e < list.i[row + 1]; e += GRIDMG_WARP)
    sum += list.t[e] * (x[list.j[e]] - xi);
#pragma unroll
  for (int offset = GRIDMG_WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  return sum;
}

static inline unsigned int GridMGBlocks(PetscInt n, int threads)
{
  return static_cast<unsigned int>((n + threads - 1) / threads);
}

/* Calls launch(stream, number), or launch(stream, number, code), and checks the launches */
template <class Launch>
static inline PetscErrorCode GridMGLaunch(const GridMGOperator *op, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) {
    if (op->precision == GRIDMG_SINGLE) launch(stream, float{});
    else launch(stream, double{});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Launch>
static inline PetscErrorCode GridMGLaunchWithCodes(const GridMGOperator *op, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    if (op->bits == 8) launch(stream, v, uint8_t{});
    else if (op->bits == 16) launch(stream, v, uint16_t{});
    else launch(stream, v, float{});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
