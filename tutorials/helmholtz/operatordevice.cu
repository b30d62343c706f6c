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

static __global__ void __launch_bounds__(THREADS)
  SpeedKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ GridBox box, PetscReal *__restrict__ speed)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (k >= GridBoxPoints(&box)) return;
  GridBoxPoint(&box, k, at);
  speed[2 * k]     = HelmholtzSpeedAt(&form, at);
  speed[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS)
  SourceKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ GridBox box, const PetscReal *__restrict__ speed, PetscReal *__restrict__ b)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (k >= GridBoxPoints(&box)) return;
  GridBoxPoint(&box, k, at);
  b[2 * k]     = HelmholtzSourceAt(&form, speed[2 * k], at);
  b[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS)
  RowsKernel(const __grid_constant__ HelmholtzForm form, const __grid_constant__ GridBox box, PetscInt64 points, const PetscReal *__restrict__ speed,
             PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscReal *__restrict__ a)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;

  if (k > points) return;
  i[k] = static_cast<PetscInt>(GridBoxRowStart(&box, form.stencil == 2, k));
  if (k < points) HelmholtzMakeRow(&form, &box, speed, k, j, a);
}

PetscErrorCode HelmholtzLaunchSpeed(const HelmholtzForm *form, const GridBox *box, PetscScalar speed[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SpeedKernel<<<BlocksFor(GridBoxPoints(box)), THREADS, 0, stream>>>(*form, *box, reinterpret_cast<PetscReal *>(speed));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzLaunchSource(const HelmholtzForm *form, const GridBox *box, const PetscScalar speed[], PetscScalar b[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SourceKernel<<<BlocksFor(GridBoxPoints(box)), THREADS, 0, stream>>>(*form, *box, reinterpret_cast<const PetscReal *>(speed),
                                                                      reinterpret_cast<PetscReal *>(b));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzLaunchRows(const HelmholtzForm *form, const GridBox *box, const PetscScalar speed[], const GridBoxRows *rows)
{
  const PetscInt64 points = GridBoxPoints(box);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  RowsKernel<<<BlocksFor(points + 1), THREADS, 0, stream>>>(*form, *box, points, reinterpret_cast<const PetscReal *>(speed), rows->i, rows->j,
                                                            reinterpret_cast<PetscReal *>(rows->a));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}
