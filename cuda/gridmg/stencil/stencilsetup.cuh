/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Exact values, rounded as on the host, and the common parts of launches of the set-up of stencils */

#include "stencil.cuh"

using GridMGExact = GridMGValue<double>;

static __device__ __forceinline__ size_t GridMGIndex(const GridMGDims &g, int s, int i)
{
  return static_cast<size_t>(s) * static_cast<size_t>(g.cells) + static_cast<size_t>(i);
}

static __device__ __forceinline__ bool GridMGIsZero(const GridMGExact &v)
{
  bool zero = true;

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) zero = zero && v.p[p] == 0;
  return zero;
}

/* PetscMax(), which ignores a NaN in b */
static __device__ __forceinline__ double GridMGLarger(double a, double b)
{
  return a < b ? b : a;
}

static __device__ __forceinline__ double GridMGModulusOf(const GridMGExact &v)
{
  return GridMGModulus(v.p[0], GRIDMG_PARTS == 2 ? v.p[GRIDMG_PARTS - 1] : 0);
}

static __device__ __forceinline__ void GridMGAdd(GridMGExact &sum, const GridMGExact &v)
{
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] += v.p[p];
}

static __device__ __forceinline__ void GridMGAddTimes(GridMGExact &sum, const GridMGExact &v, double w)
{
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] = GRIDMG_PLUS(sum.p[p], GRIDMG_TIMES(v.p[p], w));
}

static __device__ __forceinline__ GridMGExact GridMGLoad(const GridMGDims &g, const GridMGExact *a, double factor, int s, int i)
{
  GridMGExact v = a[GridMGIndex(g, s, i)];

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] *= factor;
  return v;
}
