/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rows and vectors of all processes on each device, in the order of the whole grid. A thread has a row */

#include "../common/graph.cuh"
#include "../common/scan.cuh"
#include <lithe/private/gridmg/redundant.h>
#include <lithe/private/lithememory.h>

#define MAP_THREADS 256

/* f(row) for each of n rows */
template <class F>
static __global__ void __launch_bounds__(MAP_THREADS) MapKernel(PetscInt n, F f)
{
  const PetscInt64 row = static_cast<PetscInt64>(blockIdx.x) * MAP_THREADS + static_cast<PetscInt64>(threadIdx.x);

  if (row < n) f(static_cast<PetscInt>(row));
}

template <class F>
static PetscErrorCode MapLaunch(PetscInt n, F f)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphGetStream(&stream));
  MapKernel<<<static_cast<unsigned int>((static_cast<PetscInt64>(n) + MAP_THREADS - 1) / MAP_THREADS), MAP_THREADS, 0, stream>>>(n, f);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Where n rows of given lengths begin: i [n + 1]. For no rows i[0] is 0, too */
static PetscErrorCode MapStarts(PetscInt n, const PetscInt length[], PetscInt i[])
{
  size_t       bytes = 0;
  void        *work;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(i, length, static_cast<size_t>(n) * sizeof(*i), cudaMemcpyDeviceToDevice, stream));
  PetscCallCUDA(cudaMemsetAsync(i + n, 0, sizeof(*i), stream));
  PetscCallCUDA(LitheScan(NULL, &bytes, i, static_cast<PetscInt64>(n) + 1, stream));
  PetscCall(LitheDeviceAlloc(bytes, &work));
  PetscCallCUDA(LitheScan(work, &bytes, i, static_cast<PetscInt64>(n) + 1, stream));
  PetscCall(LitheDeviceFree(&work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct MapLength {
  GridMGCSR        rows;
  GridMGMapOutside outside;
  PetscInt        *length;

  __device__ __forceinline__ void operator()(PetscInt row) const
  {
    length[row] = GridMGMapLength(&rows, &outside, row);
  }
};

PetscErrorCode LitheCUDAGridMGMapLengths(PetscInt m, const GridMGCSR *rows, const GridMGMapOutside *outside, PetscInt length[])
{
  PetscFunctionBegin;
  PetscCall(MapLaunch(m, MapLength{*rows, *outside, length}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct MapRow {
  GridMGMap        map;
  PetscInt         begin;
  GridMGCSR        rows;
  GridMGMapOutside outside;
  const PetscInt  *first;
  PetscInt        *j;
  PetscScalar     *a;

  __device__ __forceinline__ void operator()(PetscInt row) const
  {
    GridMGMapRow(&map, begin, &rows, &outside, row, j + first[row], a + first[row]);
  }
};

PetscErrorCode LitheCUDAGridMGMapRows(const GridMGMap *map, PetscInt begin, PetscInt m, const GridMGCSR *rows, const GridMGMapOutside *outside,
                                      const PetscInt length[], PetscInt j[], PetscScalar a[])
{
  void *first;

  PetscFunctionBegin;
  PetscCall(LitheDeviceAlloc((static_cast<size_t>(m) + 1) * sizeof(*j), &first));
  PetscCall(MapStarts(m, length, static_cast<PetscInt *>(first)));
  PetscCall(MapLaunch(m, MapRow{*map, begin, *rows, *outside, static_cast<PetscInt *>(first), j, a}));
  PetscCall(LitheDeviceFree(&first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of a row goes to the place of the row in the whole grid */
template <class T>
struct MapEnter {
  GridMGMap map;
  const T  *x;
  T        *y;

  __device__ __forceinline__ void operator()(PetscInt row) const
  {
    y[GridMGMapOf(&map, row)] = x[row];
  }
};

struct MapOrder {
  GridMGMap          map;
  const PetscInt    *from, *to, *j;
  const PetscScalar *a;
  PetscInt          *newj;
  PetscScalar       *newa;

  __device__ __forceinline__ void operator()(PetscInt row) const
  {
    PetscInt k = to[GridMGMapOf(&map, row)];

    for (PetscInt e = from[row]; e < from[row + 1]; e++, k++) {
      newj[k] = j[e];
      newa[k] = a[e];
    }
  }
};

PetscErrorCode LitheCUDAGridMGMapOrder(const GridMGMap *map, PetscInt N, const PetscInt length[], const PetscInt j[], const PetscScalar a[], PetscInt newi[],
                                       PetscInt newj[], PetscScalar newa[])
{
  const size_t bytes = (static_cast<size_t>(N) + 1) * sizeof(*j);
  void        *lengths, *from;

  PetscFunctionBegin;
  PetscCall(LitheDeviceAlloc(bytes, &lengths));
  PetscCall(LitheDeviceAlloc(bytes, &from));
  PetscCall(MapLaunch(N, MapEnter<PetscInt>{*map, length, static_cast<PetscInt *>(lengths)}));
  PetscCall(MapStarts(N, static_cast<PetscInt *>(lengths), newi));
  PetscCall(MapStarts(N, length, static_cast<PetscInt *>(from)));
  PetscCall(MapLaunch(N, MapOrder{*map, static_cast<PetscInt *>(from), newi, j, a, newj, newa}));
  PetscCall(LitheDeviceFree(&lengths));
  PetscCall(LitheDeviceFree(&from));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGMapEnter(const GridMGMap *map, PetscInt N, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(MapLaunch(N, MapEnter<PetscScalar>{*map, x, y}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

struct MapLeave {
  GridMGMap          map;
  PetscInt           begin;
  const PetscScalar *x;
  PetscScalar       *y;

  __device__ __forceinline__ void operator()(PetscInt row) const
  {
    y[row] = x[GridMGMapOf(&map, begin + row)];
  }
};

PetscErrorCode LitheCUDAGridMGMapLeave(const GridMGMap *map, PetscInt begin, PetscInt m, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  PetscCall(MapLaunch(m, MapLeave{*map, begin, x, y}));
  PetscFunctionReturn(PETSC_SUCCESS);
}
