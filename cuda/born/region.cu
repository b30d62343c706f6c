/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Boxes of nodes between two arrays, one of which may be of another device: src/mat/born/peers.c */

#include <lithe/private/cuda/born.h>
#include "../common/petsccuda.cuh"

#define REGION_X 64
#define REGION_Y 4

template <bool add, class T>
static __global__ void BornRegionKernel(PetscInt n0, PetscInt n1, PetscInt n2, BornRegion f, const T *from, BornRegion t, T *to)
{
  const PetscInt i = static_cast<PetscInt>(blockIdx.x) * REGION_X + threadIdx.x, j = static_cast<PetscInt>(blockIdx.y) * REGION_Y + threadIdx.y;

  if (i >= n0 || j >= n1) return;
  for (PetscInt k = blockIdx.z; k < n2; k += gridDim.z) {
    const T x = from[f.first + i + f.stride[0] * j + f.stride[1] * k];
    T      *y = &to[t.first + i + t.stride[0] * j + t.stride[1] * k];

    *y = add ? *y + x : x;
  }
}

template <bool add, class T>
static PetscErrorCode BornRegionLaunch(const PetscInt n[3], BornRegion f, const T *from, BornRegion t, T *to)
{
  const dim3   threads(REGION_X, REGION_Y);
  const dim3   blocks(static_cast<unsigned>((n[0] + REGION_X - 1) / REGION_X), static_cast<unsigned>((n[1] + REGION_Y - 1) / REGION_Y),
                      static_cast<unsigned>(n[2] < 65535 ? n[2] : 65535));
  cudaStream_t stream;

  PetscFunctionBegin;
  if (n[0] <= 0 || n[1] <= 0 || n[2] <= 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(blocks.y < 65536, PETSC_COMM_SELF, PETSC_ERR_SUP, "A grid of %" PetscInt_FMT " nodes along y is too long for a device; exchange x and y", n[1]);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  BornRegionKernel<add, T><<<blocks, threads, 0, stream>>>(n[0], n[1], n[2], f, from, t, to);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornCopyRegion(const PetscInt n[3], BornRegion f, const PetscReal *from, BornRegion t, PetscReal *to)
{
  PetscFunctionBegin;
  PetscCall(BornRegionLaunch<false>(n, f, from, t, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDABornAddRegion(const PetscInt n[3], BornRegion f, const PetscInt64 *from, BornRegion t, PetscInt64 *to)
{
  PetscFunctionBegin;
  PetscCall(BornRegionLaunch<true>(n, f, from, t, to));
  PetscFunctionReturn(PETSC_SUCCESS);
}
