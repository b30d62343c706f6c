/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Velocities, the source and matrix rows of the Helmholtz problem, with a thread per point. Host and kernels share the
   formulas in formulas.h */

#include <petscdevice_cuda.h>
#include "operatordevice.h"

#define THREADS 128

static unsigned int BlocksFor(PetscInt64 n)
{
  return static_cast<unsigned int>((n + THREADS - 1) / THREADS);
}

static PetscInt64 PointsOf(const HelmholtzBox *box)
{
  return static_cast<PetscInt64>(box->count[0]) * box->count[1] * box->count[2];
}

/* Where own point k is on the grid */
static __device__ __forceinline__ bool Find(const HelmholtzBox &box, PetscInt64 k, PetscInt at[3])
{
  const PetscInt z = static_cast<PetscInt>(k / box.count[0] / box.count[1]);

  at[0] = box.start[0] + static_cast<PetscInt>(k % box.count[0]);
  at[1] = box.start[1] + static_cast<PetscInt>(k / box.count[0] % box.count[1]);
  at[2] = box.start[2] + z;
  return z < box.count[2];
}

static __global__ void __launch_bounds__(THREADS)
  SpeedKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ HelmholtzBox box, PetscReal *__restrict__ speed)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (!Find(box, k, at)) return;
  speed[2 * k]     = HelmholtzSpeedAt(&form, at);
  speed[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS) SourceKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ HelmholtzBox box,
                                                               const PetscReal *__restrict__ speed, PetscReal *__restrict__ b)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (!Find(box, k, at)) return;
  b[2 * k]     = HelmholtzSourceAt(&form, speed[2 * k], at);
  b[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS)
  RowsKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ HelmholtzBox box, PetscInt64 points, const PetscReal *__restrict__ speed,
             PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscReal *__restrict__ a)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;

  if (k > points) return;
  i[k] = static_cast<PetscInt>(HelmholtzRowStart(&form, &box, k));
  if (k < points) HelmholtzMakeRow(&form, &box, speed, k, j, a);
}

PetscErrorCode HelmholtzLaunchSpeed(const HelmholtzForm *form, const HelmholtzBox *box, PetscScalar speed[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SpeedKernel<<<BlocksFor(PointsOf(box)), THREADS, 0, stream>>>(*form, *box, reinterpret_cast<PetscReal *>(speed));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzLaunchSource(const HelmholtzForm *form, const HelmholtzBox *box, const PetscScalar speed[], PetscScalar b[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SourceKernel<<<BlocksFor(PointsOf(box)), THREADS, 0, stream>>>(*form, *box, reinterpret_cast<const PetscReal *>(speed), reinterpret_cast<PetscReal *>(b));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzRowsCreate(const HelmholtzForm *form, const HelmholtzBox *box, const PetscScalar speed[], HelmholtzRows *rows)
{
  const PetscInt64 points = PointsOf(box), nz = HelmholtzRowStart(form, box, points);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&rows->i, static_cast<size_t>(points + 1) * sizeof(*rows->i)));
  PetscCallCUDA(cudaMalloc(&rows->j, static_cast<size_t>(nz) * sizeof(*rows->j)));
  PetscCallCUDA(cudaMalloc(&rows->a, static_cast<size_t>(nz) * sizeof(*rows->a)));
  RowsKernel<<<BlocksFor(points + 1), THREADS, 0, stream>>>(*form, *box, points, reinterpret_cast<const PetscReal *>(speed), rows->i, rows->j,
                                                            reinterpret_cast<PetscReal *>(rows->a));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzRowsDestroy(HelmholtzRows *rows)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(rows->a));
  PetscCallCUDA(cudaFree(rows->j));
  PetscCallCUDA(cudaFree(rows->i));
  PetscFunctionReturn(PETSC_SUCCESS);
}
