/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows with ascending columns, on a device. Entries come to their rows by atomic operations, in any order; the sort
   makes results independent of that order
*/

#include "dense.cuh"

#if !PetscDefined(USE_64BIT_INDICES)
  #define SORT_BLOCK 4096 /* of a row that a block sorts */

/* The rank of an entry is the number of smaller entries */
template <int lanes>
static __global__ void __launch_bounds__(CAMG_THREADS) SortShort(PetscInt m, const PetscInt *__restrict__ i, PetscInt *j, PetscInt *nlong, PetscInt *longer)
{
  constexpr int            most = 4 * lanes;
  __shared__ PetscInt      keys[CAMG_THREADS / lanes * most];
  const CAMGGroupOf<lanes> g;
  PetscInt                *key = keys + static_cast<int>(threadIdx.x) / lanes * most;

  if (g.row >= m) return;
  const PetscInt first = i[g.row], n = i[g.row + 1] - first;

  if (n > most) {
    if (g.lane == 0) CAMGAppend(static_cast<PetscInt>(g.row), nlong, longer);
    return;
  }
  for (PetscInt k = g.lane; k < n; k += lanes) key[k] = j[first + k];
  __syncwarp(g.mask);
  for (PetscInt k = g.lane; k < n; k += lanes) {
    const PetscInt c    = key[k];
    PetscInt       rank = 0;

    for (PetscInt q = 0; q < n; q++) rank += key[q] < c;
    j[first + rank] = c;
  }
}

/* A block per row: a bitonic sort in shared memory; very long rows by bits of columns */
static __global__ void __launch_bounds__(CAMG_THREADS)
  SortLong(const PetscInt *nlong, const PetscInt *longer, CAMGDense all, const PetscInt *__restrict__ i, PetscInt *j)
{
  __shared__ PetscInt key[SORT_BLOCK];
  const CAMGDense     d    = CAMGDenseOf(all);
  const PetscInt      rows = *nlong;

  for (PetscInt at = static_cast<PetscInt>(blockIdx.x); at < rows; at += static_cast<PetscInt>(gridDim.x)) {
    const PetscInt first = i[longer[at]], n = i[longer[at] + 1] - first;
    int            size = 1;

    if (n > SORT_BLOCK) {
      for (PetscInt k = static_cast<PetscInt>(threadIdx.x); k < n; k += CAMG_THREADS) (void)CAMGMark(d.bits, j[first + k]);
      CAMGEmit(d, [&](int k, PetscInt c) { j[first + k] = c; });
      continue;
    }
    while (size < n) size *= 2;
    for (int k = static_cast<int>(threadIdx.x); k < size; k += CAMG_THREADS) key[k] = k < n ? j[first + k] : PETSC_INT_MAX;
    __syncthreads();
    for (int run = 2; run <= size; run *= 2) {
      for (int distance = run / 2; distance > 0; distance /= 2) {
        for (int k = static_cast<int>(threadIdx.x); k < size; k += CAMG_THREADS) {
          const int other = k ^ distance;

          if (other > k && (key[k] > key[other]) == !(k & run)) {
            const PetscInt t = key[k];

            key[k]     = key[other];
            key[other] = t;
          }
        }
        __syncthreads();
      }
    }
    for (int k = static_cast<int>(threadIdx.x); k < n; k += CAMG_THREADS) j[first + k] = key[k];
    __syncthreads();
  }
}

PetscErrorCode LitheCUDACAMGSortRows(PetscInt m, PetscInt n, PetscInt nz, const PetscInt i[], PetscInt j[])
{
  PetscInt    *nlong, *longer;
  CAMGDense    dense;
  cudaStream_t stream;
  unsigned int blocks;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CAMGZeros(stream, 1, &nlong));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(m), &longer));
  if (nz <= CAMG_LANES * 2 * static_cast<PetscInt64>(m))
    SortShort<CAMG_LANES><<<CAMGBlocks(static_cast<PetscInt64>(m) * CAMG_LANES), CAMG_THREADS, 0, stream>>>(m, i, j, nlong, longer);
  else SortShort<32><<<CAMGBlocks(static_cast<PetscInt64>(m) * 32), CAMG_THREADS, 0, stream>>>(m, i, j, nlong, longer);
  PetscCall(CAMGDenseCreate(stream, n, false, &dense, &blocks));
  SortLong<<<blocks, CAMG_THREADS, 0, stream>>>(nlong, longer, dense, i, j);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGDenseDestroy(stream, &dense));
  PetscCall(CAMGFree(stream, nlong));
  PetscCall(CAMGFree(stream, longer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static __global__ void CountKernel(PetscInt nodes, const PetscInt *__restrict__ agg, PetscInt *count)
{
  CAMG_FOR_ALL(v, nodes)
  {
    if (agg[v] >= 0) atomicAdd(&count[agg[v]], 1);
  }
}

static __global__ void PlaceKernel(PetscInt nodes, const PetscInt *__restrict__ agg, const PetscInt *__restrict__ start, PetscInt *count,
                                   PetscInt *__restrict__ node)
{
  CAMG_FOR_ALL(v, nodes)
  {
    if (agg[v] >= 0) node[start[agg[v]] + atomicAdd(&count[agg[v]], 1)] = static_cast<PetscInt>(v);
  }
}

PetscErrorCode LitheCUDACAMGGroup(PetscInt nodes, const PetscInt agg[], PetscInt aggregates, PetscInt start[], PetscInt node[])
{
  PetscInt    *count;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(start, 0, (static_cast<size_t>(aggregates) + 1) * sizeof(*start), stream));
  CountKernel<<<CAMGBlocks(nodes), CAMG_THREADS, 0, stream>>>(nodes, agg, start);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGScan(stream, aggregates, start));
  PetscCall(CAMGZeros(stream, static_cast<size_t>(aggregates), &count));
  PlaceKernel<<<CAMGBlocks(nodes), CAMG_THREADS, 0, stream>>>(nodes, agg, start, count, node);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(CAMGFree(stream, count));
  PetscCall(LitheCUDACAMGSortRows(aggregates, nodes, nodes, start, node));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
