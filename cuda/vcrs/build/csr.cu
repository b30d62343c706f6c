/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* CSR matrices on a device: transposes, rows of entries, and changes of row sums by a compression */

#include "build.cuh"
#include <cub/device/device_radix_sort.cuh>

/* ---- Transposes ---- */

static __global__ void SetRows(PetscInt m, const PetscInt *i, PetscInt *row)
{
  VCRS_FOR_ALL(PetscInt64, r, m)
  {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) row[k] = (PetscInt)r;
  }
}

template <class Position>
static __global__ void SetPositions(PetscInt64 nz, Position *position)
{
  VCRS_FOR_ALL(PetscInt64, k, nz)
  position[k] = (Position)k;
}

template <class Position>
static __global__ void GatherEntries(PetscInt64 nz, const Position *position, const PetscInt *row, const PetscScalar *a, PetscInt *tj, PetscScalar *ta)
{
  VCRS_FOR_ALL(PetscInt64, k, nz)
  {
    const Position p = position[k];

    tj[k] = row[p];
    ta[k] = a[p];
  }
}

/* Offsets of n columns in the sorted column[nz]; i[n] = nz */
static __global__ void FindFirst(PetscInt n, PetscInt64 nz, const PetscInt *column, PetscInt *i)
{
  VCRS_FOR_ALL(PetscInt64, c, (PetscInt64)n + 1)
  {
    PetscInt64 low = 0, high = nz;

    while (low < high) {
      const PetscInt64 middle = low + (high - low) / 2;

      if (column[middle] < c) low = middle + 1;
      else high = middle;
    }
    i[c] = (PetscInt)low;
  }
}

/* Sorts entries by columns. The sort is stable: rows, which become columns, keep their order */
template <class Position>
static PetscErrorCode TransposeEntries(DeviceMemory *memory, cudaStream_t stream, PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *i, const PetscInt *j,
                                       const PetscScalar *a, PetscInt *ti, PetscInt *tj, PetscScalar *ta)
{
  const int blocks = LaunchBlocks(nz);
  int       bits   = 1;
  size_t    bytes  = 0;
  PetscInt *row, *column;
  Position *position, *sorted;
  char     *work;

  PetscFunctionBegin;
  while (bits < (int)(8 * sizeof(PetscInt)) - 1 && n >> bits) bits++;
  PetscCall(DeviceAllocate(memory, nz, &row));
  PetscCall(DeviceAllocate(memory, nz, &column));
  PetscCall(DeviceAllocate(memory, nz, &position));
  PetscCall(DeviceAllocate(memory, nz, &sorted));
  SetRows<<<LaunchBlocks(m), VCRS_BLOCK, 0, stream>>>(m, i, row);
  SetPositions<<<blocks, VCRS_BLOCK, 0, stream>>>(nz, position);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cub::DeviceRadixSort::SortPairs(NULL, bytes, j, column, position, sorted, nz, 0, bits, stream));
  PetscCall(DeviceAllocate(memory, bytes, &work));
  PetscCallCUDA(cub::DeviceRadixSort::SortPairs(work, bytes, j, column, position, sorted, nz, 0, bits, stream));
  GatherEntries<<<blocks, VCRS_BLOCK, 0, stream>>>(nz, sorted, row, a, tj, ta);
  FindFirst<<<LaunchBlocks((PetscInt64)n + 1), VCRS_BLOCK, 0, stream>>>(n, nz, column, ti);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TransposeWith(DeviceMemory *memory, cudaStream_t stream, PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *i, const PetscInt *j,
                                    const PetscScalar *a, PetscInt **ti, PetscInt **tj, PetscScalar **ta)
{
  PetscFunctionBegin;
  PetscCall(DeviceAllocate(memory, (size_t)n + 1, ti));
  PetscCall(DeviceAllocate(memory, nz, tj));
  PetscCall(DeviceAllocate(memory, nz, ta));
  if (!nz) PetscCallCUDA(cudaMemsetAsync(*ti, 0, ((size_t)n + 1) * sizeof(**ti), stream));
  else if (nz <= UINT32_MAX) PetscCall(TransposeEntries<uint32_t>(memory, stream, m, n, nz, i, j, a, *ti, *tj, *ta));
  else PetscCall(TransposeEntries<uint64_t>(memory, stream, m, n, nz, i, j, a, *ti, *tj, *ta));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an error all memory is freed */
PetscErrorCode LitheCUDACSRTranspose(PetscInt m, PetscInt n, PetscInt64 nz, const PetscInt *di, const PetscInt *dj, const PetscScalar *da, PetscInt **dti,
                                     PetscInt **dtj, PetscScalar **dta)
{
  DeviceMemory   memory;
  cudaStream_t   stream;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  memory.n = 0;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  ierr = TransposeWith(&memory, stream, m, n, nz, di, dj, da, dti, dtj, dta);
  if (!ierr) {
    (void)DeviceKeep(&memory, *dti);
    (void)DeviceKeep(&memory, *dtj);
    (void)DeviceKeep(&memory, *dta);
  }
  for (int k = 0; k < memory.n; k++) {
    if (memory.pointer[k]) PetscCallCUDA(cudaFree(memory.pointer[k]));
  }
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Rows of entries ---- */

PetscErrorCode LitheCUDACSRGetRows(PetscInt m, PetscInt nz, const PetscInt *di, PetscInt row[])
{
  const size_t bytes = static_cast<size_t>(nz) * sizeof(*row);
  PetscInt    *there;
  cudaStream_t stream;

  PetscFunctionBegin;
  if (!nz) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&there), bytes));
  SetRows<<<LaunchBlocks(m), VCRS_BLOCK, 0, stream>>>(m, di, there);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(row, there, bytes, cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Sums of rows ---- */

static __global__ void SetOnes(PetscInt n, PetscScalar *x)
{
  VCRS_FOR_ALL(PetscInt64, k, n)
  x[k] = 1.0;
}

/* error[row] = sum of the row - error[row] */
static __global__ void SubtractFromSums(PetscInt m, const PetscInt *i, const PetscScalar *a, PetscScalar *error)
{
  VCRS_FOR_ALL(PetscInt64, row, m)
  {
    PetscScalar sum = 0.0;

    for (PetscInt k = i[row]; k < i[row + 1]; k++) sum += a[k];
    error[row] = sum - error[row];
  }
}

PetscErrorCode LitheCUDAVCRSRowSumError(const VCRSPlan *table, const VCRSPlan *dplan, const PetscInt *di, const PetscScalar *da, PetscScalar *derror)
{
  const PetscInt m = dplan->m, n = dplan->n;
  cudaStream_t   stream;
  PetscScalar   *ones;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (!m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&ones), PetscMax((size_t)n, (size_t)1) * sizeof(*ones)));
  SetOnes<<<LaunchBlocks(n), VCRS_BLOCK, 0, stream>>>(n, ones);
  ierr = LitheCUDAVCRSMult(table, dplan, VCRS_OP_N, 1, ones, n, NULL, 0, derror, m);
  if (!ierr) SubtractFromSums<<<LaunchBlocks(m), VCRS_BLOCK, 0, stream>>>(m, di, da, derror);
  PetscCallCUDA(cudaFree(ones)); /* waits for the kernels */
  PetscCall(ierr);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
