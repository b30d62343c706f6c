/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of factors: memory, and launches */

#include "tri.cuh"
#include "../../common/petsccuda.cuh"
#include <lithe/private/cuda/factor.h>

#define FACTOR_THREADS 128

static inline unsigned int FactorBlocks(PetscInt64 threads)
{
  return static_cast<unsigned int>(PetscMax((threads + 255) / 256, static_cast<PetscInt64>(1)));
}

#define FACTOR_THREAD (static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x)

template <class T>
static PetscErrorCode FactorAllocate(size_t n, T **p)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(p), PetscMax(n, static_cast<size_t>(1)) * sizeof(T)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of resident blocks of a kernel, whose warps take tasks */
template <class Kernel>
static PetscErrorCode FactorResident(Kernel kernel, PetscInt64 tasks, unsigned int *blocks)
{
  int device, multiprocessors, perprocessor;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  PetscCallCUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&perprocessor, kernel, FACTOR_THREADS, 0));
  *blocks = static_cast<unsigned int>(
    PetscMax(PetscMin(static_cast<PetscInt64>(perprocessor) * multiprocessors, (tasks + FACTOR_THREADS / 32 - 1) / (FACTOR_THREADS / 32)),
             static_cast<PetscInt64>(1)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
