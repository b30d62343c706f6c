/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Which rows a thread works on where the commonest set meets itself again at distance stride, a plane
   of the grid, say: rows of them at that distance, so that entries of x are read once for several rows.

   Where the launch has found lines, a block takes tile rows of each of threads / tile neighbouring
   lines: rows next to each other in two directions share entries of x in L1.
*/

#include "vcrs.cuh"

/* Where the thread of the block in its turn number turn is in a band of rows planes, which band; false: nowhere */
template <int threads, int tile>
static __device__ __forceinline__ bool GridGetPlace(VCRSUnsigned stride, VCRSUnsigned line, unsigned int turn, VCRSUnsigned *place, VCRSUnsigned *band)
{
  VCRSUnsigned g  = static_cast<VCRSUnsigned>(turn) * threads + threadIdx.x;
  bool         is = true;

  if (tile && line) {
    constexpr int      width = tile ? tile : threads, lines = threads / width;
    const VCRSUnsigned across = (line + width - 1) / width, strip = turn / across, at = (turn - strip * across) * width + threadIdx.x % width;

    is = at < line;
    g  = (strip * lines + threadIdx.x / width) * line + (is ? at : line - 1);
  }
  *band  = g / stride;
  *place = g - *band * stride;
  return is;
}

/* How many turns of a block there are in a matrix of m rows */
template <int rows, int threads, int tile>
static inline PetscInt64 GridGetTurns(PetscInt m, PetscInt stride, PetscInt line)
{
  const PetscInt64 bands = (m + static_cast<PetscInt64>(rows) * stride - 1) / (static_cast<PetscInt64>(rows) * stride);

  if (tile && line) {
    constexpr int    width = tile ? tile : threads, lines = threads / width;
    const PetscInt64 nline = bands * (stride / line);

    return ((nline + lines - 1) / lines) * ((line + width - 1) / width);
  }
  return (bands * stride + threads - 1) / threads;
}
