/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Sums over all earlier numbers: scan.cuh */

#include "scan.cuh"
#include <cub/device/device_scan.cuh>

cudaError_t LitheScan(void *work, size_t *bytes, int *a, PetscInt64 n, cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(work, *bytes, a, a, n, stream);
}

cudaError_t LitheScan(void *work, size_t *bytes, PetscInt64 *a, PetscInt64 n, cudaStream_t stream)
{
  return cub::DeviceScan::ExclusiveSum(work, *bytes, a, a, n, stream);
}
