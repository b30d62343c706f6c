/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rows of the wireless channel, made by kernels. A thread makes a row twice: first to count the entries, then to write
   the entries. The rates come from wirelessrow.h, as on the host. Therefore host and device give the same bits.
*/

#include "wirelessrow.h"
#include <petscdevice_cuda.h>
#include <cub/device/device_scan.cuh>

#define ROWS_THREADS 256

static unsigned int RowsBlocks(PetscInt n)
{
  return static_cast<unsigned int>((static_cast<PetscInt64>(n) + ROWS_THREADS - 1) / ROWS_THREADS);
}

/* i[n] is 0, so the exclusive sum ends with the number of all entries */
static __global__ void __launch_bounds__(ROWS_THREADS) CountRows(const __grid_constant__ WirelessContext context, PetscInt begin, PetscInt n, PetscInt *i)
{
  const PetscInt64 k   = static_cast<PetscInt64>(blockIdx.x) * ROWS_THREADS + threadIdx.x;
  WirelessRow      row = {0, NULL, NULL};

  if (k < n) WirelessMakeRow(&context, begin + static_cast<PetscInt>(k), &row);
  if (k <= n) i[k] = row.n;
}

static __global__ void __launch_bounds__(ROWS_THREADS)
  FillRows(const __grid_constant__ WirelessContext context, PetscInt begin, PetscInt n, const PetscInt *i, PetscInt *j, PetscScalar *a)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * ROWS_THREADS + threadIdx.x;

  if (k < n) {
    WirelessRow row = {0, j + i[k], a + i[k]};

    WirelessMakeRow(&context, begin + static_cast<PetscInt>(k), &row);
  }
}

/* i[k] becomes i[0] + .. + i[k-1] */
static PetscErrorCode SumBefore(PetscInt64 n, PetscInt *i, cudaStream_t stream)
{
  void  *work  = NULL;
  size_t bytes = 0;

  PetscFunctionBeginUser;
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(NULL, bytes, i, i, n, stream));
  PetscCallCUDA(cudaMalloc(&work, bytes));
  PetscCallCUDA(cub::DeviceScan::ExclusiveSum(work, bytes, i, i, n, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaFree(work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Synchronises */
PetscErrorCode WirelessRowsDevice(const WirelessContext *context, ChainRows *rows)
{
  const PetscInt n = rows->n;
  PetscInt       nz;
  cudaStream_t   stream;

  PetscFunctionBeginUser;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&rows->i, (static_cast<size_t>(n) + 1) * sizeof(*rows->i)));
  CountRows<<<RowsBlocks(n + 1), ROWS_THREADS, 0, stream>>>(*context, rows->begin, n, rows->i);
  PetscCallCUDA(cudaGetLastError());
  PetscCall(SumBefore(static_cast<PetscInt64>(n) + 1, rows->i, stream));
  PetscCallCUDA(cudaMemcpyAsync(&nz, rows->i + n, sizeof(nz), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscCallCUDA(cudaMalloc(&rows->j, static_cast<size_t>(nz) * sizeof(*rows->j)));
  PetscCallCUDA(cudaMalloc(&rows->a, static_cast<size_t>(nz) * sizeof(*rows->a)));
  if (n) FillRows<<<RowsBlocks(n), ROWS_THREADS, 0, stream>>>(*context, rows->begin, n, rows->i, rows->j, rows->a);
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChainRowsFreeDevice(ChainRows *rows)
{
  PetscFunctionBeginUser;
  PetscCallCUDA(cudaFree(rows->i));
  PetscCallCUDA(cudaFree(rows->j));
  PetscCallCUDA(cudaFree(rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ChainSetDevice(PetscScalar *entry, PetscScalar value)
{
  cudaStream_t stream;

  PetscFunctionBeginUser;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemcpyAsync(entry, &value, sizeof(value), cudaMemcpyHostToDevice, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
