/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Instead of petscdevice_cuda.h, which reads the headers of all CUDA libraries: the compiler spends longer on them than
   on most kernels. graph.cu includes both, so the compiler finds a difference
*/

#include <petscsys.h>
#include <cuda_runtime.h>

PETSC_EXTERN PetscErrorCode PetscGetCurrentCUDAStream(cudaStream_t *);

#if !defined(PetscCallCUDA)
  #define PetscCallCUDA(...)                                                                                                             \
    do {                                                                                                                                 \
      const cudaError_t _p_cuda_err__ = __VA_ARGS__;                                                                                     \
      PetscCheck(_p_cuda_err__ == cudaSuccess, PETSC_COMM_SELF, PETSC_ERR_GPU, "cuda error %d (%s) : %s", (PetscErrorCode)_p_cuda_err__, \
                 cudaGetErrorName(_p_cuda_err__), cudaGetErrorString(_p_cuda_err__));                                                    \
    } while (0)
#endif
