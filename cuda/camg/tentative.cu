/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The tentative interpolation on a device, a warp per aggregate: src/pc/camg/interpolate.c */

#include "camg.cuh"

#if !PetscDefined(USE_64BIT_INDICES)

/* The rows of an aggregate, as rows of a matrix B [m][k] */
struct TentativeRows {
  PetscInt        block, k, m;
  const PetscInt *node;
  PetscScalar    *T;

  __device__ __forceinline__ PetscScalar &At(PetscInt r, PetscInt c) const
  {
    return T[(static_cast<size_t>(node[r / block]) * block + r % block) * k + c];
  }
};

/* The sum of f(r) for all rows, in their order. A lane has every 32nd row */
template <class Number, class F>
static __device__ __forceinline__ Number TentativeSum(PetscInt m, int lane, F f)
{
  Number sum = 0;

  for (PetscInt base = 0; base < m; base += 32) CAMGAddOrdered<32>(CAMG_ALL, base + lane < m ? f(base + lane) : Number(0), &sum);
  return sum;
}

static __global__ void __launch_bounds__(CAMG_THREADS) TentativeKernel(PetscInt aggregates, PetscInt block, PetscInt k, const PetscInt *__restrict__ start,
                                                                       const PetscInt *__restrict__ node, PetscScalar *T, PetscScalar *coarse)
{
  const CAMGGroupOf<32> g;

  if (g.row >= aggregates) return;
  const PetscInt      first = start[g.row];
  const TentativeRows B{block, k, (start[g.row + 1] - first) * block, node + first, T};
  PetscScalar        *R = coarse + static_cast<size_t>(g.row) * k * k;

  for (PetscInt c = 0; c < k; c++) {
    const PetscReal before = sqrt(TentativeSum<PetscReal>(B.m, g.lane, [&](PetscInt r) { return CAMGSquare(B.At(r, c)); }));

    for (PetscInt q = g.lane; q < k; q += 32) R[q * k + c] = 0;
    __syncwarp();
    for (int pass = 0; pass < 2; pass++) {
      for (PetscInt q = 0; q < c; q++) {
        const PetscScalar dot = TentativeSum<PetscScalar>(B.m, g.lane, [&](PetscInt r) { return CAMGTimes(CAMGConj(B.At(r, q)), B.At(r, c)); });

        for (PetscInt r = g.lane; r < B.m; r += 32) B.At(r, c) -= CAMGTimes(dot, B.At(r, q));
        if (g.lane == 0) R[q * k + c] += dot;
      }
    }
    const PetscReal after = sqrt(TentativeSum<PetscReal>(B.m, g.lane, [&](PetscInt r) { return CAMGSquare(B.At(r, c)); }));
    const bool      stays = after > CAMGTimes(static_cast<PetscReal>(CAMG_DROP), before) && after != 0;

    __syncwarp();
    if (g.lane == 0) R[c * k + c] = stays ? after : 0;
    for (PetscInt r = g.lane; r < B.m; r += 32) B.At(r, c) = stays ? PetscScalar(B.At(r, c) / after) : PetscScalar(0);
  }
}

static __global__ void TentativeZero(PetscInt nodes, PetscInt row, const PetscInt *__restrict__ agg, PetscScalar *T)
{
  CAMG_FOR_ALL(v, nodes)
  {
    for (PetscInt q = 0; q < row && agg[v] < 0; q++) T[v * row + q] = 0;
  }
}

PetscErrorCode LitheCUDACAMGTentative(CAMGSpace *space, PetscInt nodes, const PetscInt agg[], PetscInt aggregates, CAMGSpace *coarse)
{
  const PetscInt k = space->columns;
  PetscInt      *start, *node;
  cudaStream_t   stream;

  PetscFunctionBegin;
  *coarse         = CAMGSpace{};
  coarse->block   = k;
  coarse->columns = k;
  coarse->vectors = space->vectors;
  if (!space->T) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(aggregates) * k * k, &coarse->T));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(aggregates) + 1, &start));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(nodes), &node));
  PetscCall(LitheCUDACAMGGroup(nodes, agg, aggregates, start, node));
  TentativeKernel<<<CAMGBlocks(static_cast<PetscInt64>(aggregates) * 32), CAMG_THREADS, 0, stream>>>(aggregates, space->block, k, start, node, space->T,
                                                                                                     coarse->T);
  TentativeZero<<<CAMGBlocks(nodes), CAMG_THREADS, 0, stream>>>(nodes, space->block * k, agg, space->T);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGFree(stream, start));
  PetscCall(CAMGFree(stream, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
