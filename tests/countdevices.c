/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Prints the number of CUDA devices; fails without a device. Tests use the result to skip runs. */

#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void)
{
  int         count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);

  if (error != cudaSuccess) {
    printf("0 CUDA devices: %s\n", cudaGetErrorString(error));
    return 1;
  }
  printf("%d CUDA devices\n", count);
  return count ? 0 : 1;
}
