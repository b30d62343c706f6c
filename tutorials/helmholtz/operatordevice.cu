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

static PetscInt64 PointsOf(const HelmholtzForm *form)
{
  return static_cast<PetscInt64>(form->n[0]) * form->n[1] * form->n[2];
}

static __device__ __forceinline__ bool Find(const HelmholtzForm &form, PetscInt64 k, PetscInt at[3])
{
  at[0] = static_cast<PetscInt>(k % form.n[0]);
  at[1] = static_cast<PetscInt>(k / form.n[0] % form.n[1]);
  at[2] = static_cast<PetscInt>(k / form.n[0] / form.n[1]);
  return at[2] < form.n[2];
}

static __global__ void __launch_bounds__(THREADS) SpeedKernel(const __grid_constant__ HelmholtzForm form, PetscReal *__restrict__ speed)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (!Find(form, k, at)) return;
  speed[2 * k]     = HelmholtzSpeedAt(&form, at);
  speed[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS)
  SourceKernel(const __grid_constant__ HelmholtzForm form, const PetscReal *__restrict__ speed, PetscReal *__restrict__ b)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  PetscInt         at[3];

  if (!Find(form, k, at)) return;
  b[2 * k]     = HelmholtzSourceAt(&form, speed[2 * k], at);
  b[2 * k + 1] = 0;
}

static __global__ void __launch_bounds__(THREADS) RowsKernel(const __grid_constant__ HelmholtzForm form, const PetscReal *__restrict__ speed,
                                                             PetscInt *__restrict__ i, PetscInt *__restrict__ j, PetscReal *__restrict__ a)
{
  const PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x, points = static_cast<PetscInt64>(form.n[0]) * form.n[1] * form.n[2];
  HelmholtzNumber  stencil[27];
  PetscInt64       e;
  PetscInt         at[3];

  if (k > points) return;
  e    = HelmholtzRowStart(&form, k);
  i[k] = static_cast<PetscInt>(e);
  if (!Find(form, k, at)) return;
  for (int s = 0; s < form.points; s++) stencil[s] = HelmholtzMake(0, 0);
  for (int c = form.corners - 1; c >= 0; c--) {
    HelmholtzCell cell;
    PetscReal     mean = 0;
    PetscInt      low[3];

    if (!HelmholtzHasCell(&form, c, at, low)) continue;
    for (int v = 0; v < form.corners; v++) {
      const PetscInt64 vertex = low[0] + (v & 1) + form.n[0] * (low[1] + (v >> 1 & 1) + static_cast<PetscInt64>(form.n[1]) * (low[2] + (v >> 2)));
      const PetscReal  ratio  = form.omegah / speed[2 * vertex];

      mean += ratio * ratio;
    }
    HelmholtzSetCell(&form, mean / form.corners, low, 1, &cell);
    HelmholtzAddCell(&form, &cell, c, at, stencil);
  }
  for (int s = 0; s < form.points; s++) {
    const int  away[3] = {s % 3 - 1, s / 3 % 3 - 1, form.dim == 3 ? s / 9 - 1 : 0};
    const bool beside  = (away[0] != 0) + (away[1] != 0) + (away[2] != 0) > 1;
    bool       there   = form.stencil != 2 || !beside;

    for (int d = 0; d < form.dim; d++) there = there && at[d] + away[d] >= 0 && at[d] + away[d] < form.n[d];
    if (!there) continue;
    j[e]         = static_cast<PetscInt>(k + away[0] + form.n[0] * (away[1] + static_cast<PetscInt64>(form.n[1]) * away[2]));
    a[2 * e]     = stencil[s].re;
    a[2 * e + 1] = stencil[s].im;
    e++;
  }
}

PetscErrorCode HelmholtzLaunchSpeed(const HelmholtzForm *form, PetscScalar speed[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SpeedKernel<<<BlocksFor(PointsOf(form)), THREADS, 0, stream>>>(*form, reinterpret_cast<PetscReal *>(speed));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzLaunchSource(const HelmholtzForm *form, const PetscScalar speed[], PetscScalar b[])
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  SourceKernel<<<BlocksFor(PointsOf(form)), THREADS, 0, stream>>>(*form, reinterpret_cast<const PetscReal *>(speed), reinterpret_cast<PetscReal *>(b));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode HelmholtzRowsCreate(const HelmholtzForm *form, const PetscScalar speed[], HelmholtzRows *rows)
{
  const PetscInt64 points = PointsOf(form), nz = HelmholtzRowStart(form, points);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMalloc(&rows->i, static_cast<size_t>(points + 1) * sizeof(*rows->i)));
  PetscCallCUDA(cudaMalloc(&rows->j, static_cast<size_t>(nz) * sizeof(*rows->j)));
  PetscCallCUDA(cudaMalloc(&rows->a, static_cast<size_t>(nz) * sizeof(*rows->a)));
  RowsKernel<<<BlocksFor(points + 1), THREADS, 0, stream>>>(*form, reinterpret_cast<const PetscReal *>(speed), rows->i, rows->j,
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
