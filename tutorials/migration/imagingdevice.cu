/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The image of wavefields on a device. A thread per node interpolates both waves at the node, and adds to the node's
   sums. imaging.c has the formulas */

#include <petscdevice_cuda.h>
#include "imagingdevice.h"

#define THREADS 128

struct Wave {
  PetscReal re, im;
};

/* In 2-D y has a single point, of weight 1 */
static __device__ __forceinline__ Wave Interpolate(const ImagingDevice &d, const PetscInt at[3], const PetscReal *__restrict__ field)
{
  const PetscInt   lines = d.n[1] == 1 ? 1 : MIGRATION_CUBIC;
  const PetscReal *x = d.weight[0] + MIGRATION_CUBIC * at[0], *z = d.weight[2] + MIGRATION_CUBIC * at[2];
  Wave             sum = {0, 0};

#pragma unroll
  for (int c = 0; c < MIGRATION_CUBIC; c++) {
    for (PetscInt b = 0; b < lines; b++) {
      const PetscInt   y    = d.n[1] == 1 ? 0 : d.node[1][at[1]] + b;
      const PetscReal  wyz  = z[c] * (d.n[1] == 1 ? 1 : d.weight[1][MIGRATION_CUBIC * at[1] + b]);
      const PetscInt64 line = d.node[0][at[0]] + static_cast<PetscInt64>(d.grid[0]) * (y + static_cast<PetscInt64>(d.grid[1]) * (d.node[2][at[2]] + c));

#pragma unroll
      for (int a = 0; a < MIGRATION_CUBIC; a++) {
        sum.re += wyz * x[a] * field[2 * (line + a)];
        sum.im += wyz * x[a] * field[2 * (line + a) + 1];
      }
    }
  }
  return sum;
}

static __global__ void __launch_bounds__(THREADS)
  AddKernel(const __grid_constant__ ImagingDevice d, bool reflectivity, PetscReal omega, const PetscReal *__restrict__ u, const PetscReal *__restrict__ lambda)
{
  const PetscInt64 p     = static_cast<PetscInt64>(blockIdx.x) * THREADS + threadIdx.x;
  const PetscInt   at[3] = {static_cast<PetscInt>(p % d.n[0]), static_cast<PetscInt>(p / d.n[0] % d.n[1]), static_cast<PetscInt>(p / d.n[0] / d.n[1])};

  if (at[2] >= d.n[2]) return;
  const Wave      a = Interpolate(d, at, u), b = Interpolate(d, at, lambda);
  const PetscReal k = omega / d.background[p], k2 = k * k;
  PetscReal      *sum = d.sum + 3 * p;

  sum[0] += reflectivity ? -k * k2 / 2 * (a.re * b.im + a.im * b.re) : -k2 * (a.re * b.re - a.im * b.im);
  sum[1] += k2 * k2 * (a.re * a.re + a.im * a.im);
  sum[2] += k2 * k2 * (b.re * b.re + b.im * b.im);
}

template <class T>
static PetscErrorCode Upload(PetscInt64 n, const T *from, T **to)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(to), static_cast<size_t>(n) * sizeof(T)));
  PetscCallCUDA(cudaMemcpy(*to, from, static_cast<size_t>(n) * sizeof(T), cudaMemcpyHostToDevice));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscInt64 NodesOf(const ImagingDevice *d)
{
  return static_cast<PetscInt64>(d->n[0]) * d->n[1] * d->n[2];
}

PetscErrorCode ImagingDeviceCreate(const PetscInt n[3], const PetscInt grid[3], PetscInt *const node[3], PetscReal *const weight[3],
                                   const PetscReal background[], ImagingDevice *d)
{
  PetscFunctionBegin;
  *d = ImagingDevice{};
  for (int k = 0; k < 3; k++) {
    d->n[k]    = n[k];
    d->grid[k] = grid[k];
  }
  for (int k = 0; k < 3; k++) {
    if (n[k] == 1) continue;
    PetscCall(Upload(n[k], node[k], &d->node[k]));
    PetscCall(Upload(MIGRATION_CUBIC * n[k], weight[k], &d->weight[k]));
  }
  PetscCall(Upload(NodesOf(d), background, &d->background));
  PetscCallCUDA(cudaMalloc(reinterpret_cast<void **>(&d->sum), static_cast<size_t>(3 * NodesOf(d)) * sizeof(*d->sum)));
  PetscCall(ImagingDeviceZero(d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingDeviceDestroy(ImagingDevice *d)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    PetscCallCUDA(cudaFree(d->node[k]));
    PetscCallCUDA(cudaFree(d->weight[k]));
  }
  PetscCallCUDA(cudaFree(d->background));
  PetscCallCUDA(cudaFree(d->sum));
  *d = ImagingDevice{};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingDeviceZero(ImagingDevice *d)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(d->sum, 0, static_cast<size_t>(3 * NodesOf(d)) * sizeof(*d->sum), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingDeviceAdd(ImagingDevice *d, PetscBool reflectivity, PetscReal frequency, const PetscScalar u[], const PetscScalar lambda[])
{
  const PetscReal omega = 2 * PETSC_PI * frequency;
  cudaStream_t    stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  AddKernel<<<static_cast<unsigned int>((NodesOf(d) + THREADS - 1) / THREADS), THREADS, 0, stream>>>(*d, reflectivity ? true : false, omega,
                                                                                                     reinterpret_cast<const PetscReal *>(u),
                                                                                                     reinterpret_cast<const PetscReal *>(lambda));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ImagingDeviceGet(ImagingDevice *d, PetscReal sum[])
{
  const PetscInt64 n = 3 * NodesOf(d);
  PetscReal       *copy;
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(PetscMalloc1(n, &copy));
  PetscCallCUDA(cudaMemcpyAsync(copy, d->sum, static_cast<size_t>(n) * sizeof(*copy), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  for (PetscInt64 i = 0; i < n; i++) sum[i] += copy[i];
  PetscCall(PetscFree(copy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
