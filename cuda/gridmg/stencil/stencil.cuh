/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of PCGRIDMG with de Zeeuw's interpolation: values, stencils known to the compiler, and the
   division of points among threads.

   The parity of a point decides which weights and products are 0. Kernels are compiled for each parity, and all loops
   over neighbours are unrolled, so that arrays of a thread are registers. A thread has two successive points of a line,
   first an even point. A block works on one line.
*/

#include <type_traits>
#include <lithe/private/cuda/gridmgstencil.h>
#include "../../common/petsccuda.cuh"
#include "../../common/graph.cuh"
#include "../../common/scratch.cuh"

#define GRIDMG_LINE 128 /* threads per line in a block, at most */

template <class T>
struct alignas(sizeof(T) * GRIDMG_PARTS) GridMGValue {
  T p[GRIDMG_PARTS];
};

/* The kernels count points as int: the entries of level 0 fit into the memory of a device, so the number of points is
   limited */
typedef struct {
  int n[3], cells, blocks; /* blocks per line */
} GridMGDims;

static constexpr int GridMGPower(int base, int n)
{
  return n ? base * GridMGPower(base, n - 1) : 1;
}

/* GridMGOffset() and similar functions at compile time */
static constexpr __host__ __device__ int GridMGOff(int s, int d)
{
  return d == 0 ? s % 3 - 1 : (d == 1 ? s / 3 : s / 9) % 3 - 1;
}

static constexpr __host__ __device__ int GridMGStep(int d)
{
  return d == 0 ? 1 : (d == 1 ? 3 : 9);
}

static constexpr __host__ __device__ int GridMGBits(int bits)
{
  return (bits & 1) + (bits >> 1 & 1) + (bits >> 2 & 1);
}

/* Bit d: neighbour s differs from the point in direction d; in the next functions: is lower, is higher */
static constexpr __host__ __device__ int GridMGAway(int s)
{
  return (GridMGOff(s, 0) != 0) | (GridMGOff(s, 1) != 0) << 1 | (GridMGOff(s, 2) != 0) << 2;
}

static constexpr __host__ __device__ int GridMGLower(int s)
{
  return (GridMGOff(s, 0) < 0) | (GridMGOff(s, 1) < 0) << 1 | (GridMGOff(s, 2) < 0) << 2;
}

static constexpr __host__ __device__ int GridMGHigher(int s)
{
  return (GridMGOff(s, 0) > 0) | (GridMGOff(s, 1) > 0) << 1 | (GridMGOff(s, 2) > 0) << 2;
}

/* Maps neighbours in dim dimensions to neighbours in three: the middle plane and line */
template <int dim>
struct GridMGStencilBox {
  static constexpr int points = GridMGPower(3, dim), corners = 1 << dim, shift = dim == 3 ? 0 : (dim == 2 ? 9 : 12), centre = points / 2;
};

/*
   Codes on a device are stored by groups of GRIDMG_GROUP points. A thread loads `count` codes of a point at once; count
   is a power of two. All codes of a point therefore have a common address, with offsets known to the compiler.
*/
template <class Code>
struct GridMGPack {
  static constexpr int count = GRIDMG_CODES_OF(sizeof(GridMGValue<Code>));

  struct alignas(count * sizeof(GridMGValue<Code>)) Codes {
    GridMGValue<Code> c[count];
  };

  static constexpr __host__ __device__ int Groups(int points)
  {
    return (points + count - 1) / count;
  }

  /* The first codes of a point; the next codes are at [GRIDMG_GROUP], [2 GRIDMG_GROUP], ... */
  static __device__ __forceinline__ size_t At(int points, int i)
  {
    return static_cast<size_t>(i / GRIDMG_GROUP) * static_cast<size_t>(GRIDMG_GROUP * Groups(points)) + static_cast<size_t>(i % GRIDMG_GROUP);
  }
};

static inline GridMGDims GridMGDimsOf(const GridMGPoints *g, int threads)
{
  GridMGDims d;

  for (int k = 0; k < 3; k++) d.n[k] = static_cast<int>(g->n[k]);
  d.cells  = static_cast<int>(g->cells);
  d.blocks = (d.n[0] + threads - 1) / threads;
  return d;
}

static inline GridMGDims GridMGPairsOf(const GridMGPoints *g, int threads)
{
  GridMGDims d = GridMGDimsOf(g, threads);

  d.blocks = ((d.n[0] + 1) / 2 + threads - 1) / threads;
  return d;
}

/* Blocks for a number of planes */
static inline dim3 GridMGBlocks(const GridMGDims &g, int planes)
{
  return dim3(static_cast<unsigned int>(g.blocks * g.n[1] * planes));
}

/* Threads per block, in whole warps, for lines of n items */
static inline int GridMGThreads(int n)
{
  const int blocks = (n + GRIDMG_LINE - 1) / GRIDMG_LINE, each = (n + blocks - 1) / blocks;

  return (each + 31) / 32 * 32;
}

/* The line and the first point of a thread with `points` points */
struct GridMGPlace {
  int x, y, z, i;

  __device__ __forceinline__ GridMGPlace(const GridMGDims &g, int points)
  {
    const int line = static_cast<int>(blockIdx.x) / g.blocks;

    x = points * ((static_cast<int>(blockIdx.x) % g.blocks) * static_cast<int>(blockDim.x) + static_cast<int>(threadIdx.x));
    y = line % g.n[1];
    z = line / g.n[1];
    i = x + g.n[0] * line;
  }
};

/* Whether neighbour s of a point is on the grid; the difference of the point numbers */
template <int s>
static __device__ __forceinline__ bool GridMGIsThere(const GridMGDims &g, int x, int y, int z)
{
  constexpr int dx = GridMGOff(s, 0), dy = GridMGOff(s, 1), dz = GridMGOff(s, 2);
  bool          there = true;

  if (dx < 0) there = there && x > 0;
  if (dx > 0) there = there && x < g.n[0] - 1;
  if (dy < 0) there = there && y > 0;
  if (dy > 0) there = there && y < g.n[1] - 1;
  if (dz < 0) there = there && z > 0;
  if (dz > 0) there = there && z < g.n[2] - 1;
  return there;
}

template <int s>
static __device__ __forceinline__ int GridMGDistance(const GridMGDims &g)
{
  return GridMGOff(s, 0) + g.n[0] * (GridMGOff(s, 1) + g.n[1] * GridMGOff(s, 2));
}

/* Memory for the report of a launch to the host */
static inline PetscErrorCode GridMGGetScratch(cudaStream_t stream, size_t bytes, void **memory)
{
  LitheScratch scratch;

  PetscFunctionBegin;
  PetscCall(LitheScratchGet(stream, bytes, &scratch));
  *memory = scratch.device;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Calls launch(number, code) with the types of an operator */
template <class Launch>
static inline void GridMGWithCodes(const GridMGStencilOperator *op, Launch launch)
{
  if (op->precision == GRIDMG_SINGLE) {
    if (op->bits == 8) launch(float{}, int8_t{});
    else if (op->bits == 16) launch(float{}, int16_t{});
    else launch(float{}, float{});
  } else {
    if (op->bits == 8) launch(double{}, int8_t{});
    else if (op->bits == 16) launch(double{}, int16_t{});
    else launch(double{}, double{});
  }
}

/* Calls launch(number) */
template <class Launch>
static inline void GridMGWithNumber(const GridMGStencilOperator *op, Launch launch)
{
  if (op->precision == GRIDMG_SINGLE) launch(float{});
  else launch(double{});
}

/* Calls launch(std::integral_constant) for the dimension of a grid */
template <class Launch>
static inline void GridMGWithDim(int dim, Launch launch)
{
  if (dim == 3) launch(std::integral_constant<int, 3>{});
  else if (dim == 2) launch(std::integral_constant<int, 2>{});
  else launch(std::integral_constant<int, 1>{});
}

/* Calls f(std::integral_constant) for 0 ... n-1, unrolled */
template <int k, int n, class F>
static __device__ __forceinline__ void GridMGUnroll(F &&f)
{
  if constexpr (k < n) {
    f(std::integral_constant<int, k>{});
    GridMGUnroll<k + 1, n>(f);
  }
}
