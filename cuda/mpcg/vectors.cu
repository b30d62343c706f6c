/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The vector operations of KSPMPCG. Each block of threads has a part of a sum, and the block that ends last adds all
   parts in their order: a sum depends on the number of entries only. Its first thread then computes the scalars of the
   method, so that the host need not.
*/

#include <lithe/private/cuda/mpcg.h>
#include "../common/blocksum.cuh"
#include "../common/graph.cuh"

#define MPCG_THREADS 256
#define MPCG_FOUR    4 /* numbers at once: vectors begin at multiples of 16 bytes */

static __device__ __forceinline__ PetscInt First()
{
  return static_cast<PetscInt>(blockIdx.x) * MPCG_THREADS + threadIdx.x;
}

static __device__ __forceinline__ PetscInt Next()
{
  return static_cast<PetscInt>(gridDim.x) * MPCG_THREADS;
}

/* mine: of a thread. next: of a second sum, if there is one; a constant */
template <bool two>
static __device__ __forceinline__ void Sum(MPCGSum which, bool alone, double mine, double next, MPCGDeviceScalars *d)
{
  __shared__ bool last;
  double          sum[2] = {BlockSum<MPCG_THREADS>(mine), 0};

  if (two) {
    __syncthreads();
    sum[1] = BlockSum<MPCG_THREADS>(next);
  }
  if (threadIdx.x == 0) {
    d->part[0][blockIdx.x] = sum[0];
    if (two) d->part[1][blockIdx.x] = sum[1];
    __threadfence();
    last = atomicAdd(&d->done, 1U) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  for (int k = 0; k < (two ? 2 : 1); k++) {
    sum[k] = 0;
    for (unsigned int b = threadIdx.x; b < gridDim.x; b += MPCG_THREADS) sum[k] += static_cast<volatile double *>(d->part[k])[b];
    sum[k] = BlockSum<MPCG_THREADS>(sum[k]);
    __syncthreads();
  }
  if (threadIdx.x) return;
  d->done   = 0;
  d->s.mine = sum[0];
  if (two) d->s.next = sum[1];
  if (alone) MPCGFinish(which, sum[0], &d->s);
}

static __device__ __forceinline__ float Inner(float4 x, float4 y)
{
  return (x.x * y.x + x.y * y.y) + (x.z * y.z + x.w * y.w);
}

static __global__ void __launch_bounds__(MPCG_THREADS)
  DotKernel(MPCGSum which, PetscInt n, const float *__restrict__ x, const float *__restrict__ y, bool alone, MPCGDeviceScalars *d)
{
  const PetscInt fours = n / MPCG_FOUR, rest = fours * MPCG_FOUR + First();
  double         sum = 0;

#pragma unroll 4
  for (PetscInt k = First(); k < fours; k += Next())
    sum += static_cast<double>(Inner(reinterpret_cast<const float4 *>(x)[k], reinterpret_cast<const float4 *>(y)[k]));
  if (rest < n) sum += static_cast<double>(x[rest] * y[rest]);
  Sum<false>(which, alone, sum, 0, d);
}

static __device__ __forceinline__ float4 Times(float4 x, float4 y)
{
  return make_float4(x.x * y.x, x.y * y.y, x.z * y.z, x.w * y.w);
}

static __global__ void __launch_bounds__(MPCG_THREADS)
  DirectionKernel(PetscInt n, const float *__restrict__ m, const float *__restrict__ z, float *__restrict__ p, const MPCGDeviceScalars *d)
{
  const PetscInt fours = n / MPCG_FOUR, rest = fours * MPCG_FOUR + First();
  const float    beta = static_cast<float>(d->s.beta);

#pragma unroll 4
  for (PetscInt k = First(); k < fours; k += Next()) {
    const float4 b = reinterpret_cast<const float4 *>(p)[k];
    float4       a = reinterpret_cast<const float4 *>(z)[k];

    if (m) a = Times(reinterpret_cast<const float4 *>(m)[k], a);
    reinterpret_cast<float4 *>(p)[k] = make_float4(a.x + beta * b.x, a.y + beta * b.y, a.z + beta * b.z, a.w + beta * b.w);
  }
  if (rest < n) p[rest] = (m ? m[rest] * z[rest] : z[rest]) + beta * p[rest];
}

static __device__ __forceinline__ float4 Plus(float4 x, float a, float4 y)
{
  return make_float4(x.x + a * y.x, x.y + a * y.y, x.z + a * y.z, x.w + a * y.w);
}

static __device__ __forceinline__ double2 Gains(double2 y, float a, float first, float second)
{
  return make_double2(y.x + static_cast<double>(a) * static_cast<double>(first), y.y + static_cast<double>(a) * static_cast<double>(second));
}

/* m: a diagonal preconditioner, if weighted. changes: y and r change; else only sums */
template <bool weighted, bool changes>
static __global__ void __launch_bounds__(MPCG_THREADS)
  UpdateKernel(PetscInt n, const float *__restrict__ m, const float *__restrict__ p, const float *__restrict__ q, double *__restrict__ y, float *__restrict__ r,
               bool alone, MPCGDeviceScalars *d)
{
  const PetscInt fours = n / MPCG_FOUR, rest = fours * MPCG_FOUR + First();
  const float    alpha = changes ? static_cast<float>(d->s.alpha) : 0;
  double         sum = 0, weight = 0;

#pragma unroll 2
  for (PetscInt k = First(); k < fours; k += Next()) {
    float4 next = reinterpret_cast<const float4 *>(r)[k];

    if (changes) {
      const float4 by = reinterpret_cast<const float4 *>(p)[k];
      double2     *to = reinterpret_cast<double2 *>(y) + 2 * k;

      next                             = Plus(next, -alpha, reinterpret_cast<const float4 *>(q)[k]);
      to[0]                            = Gains(to[0], alpha, by.x, by.y);
      to[1]                            = Gains(to[1], alpha, by.z, by.w);
      reinterpret_cast<float4 *>(r)[k] = next;
    }
    sum += static_cast<double>(Inner(next, next));
    if (weighted) weight += static_cast<double>(Inner(next, Times(reinterpret_cast<const float4 *>(m)[k], next)));
  }
  if (rest < n) {
    float next = r[rest];

    if (changes) {
      next -= alpha * q[rest];
      y[rest] += static_cast<double>(alpha) * static_cast<double>(p[rest]);
      r[rest] = next;
    }
    sum += static_cast<double>(next * next);
    if (weighted) weight += static_cast<double>(next * (m[rest] * next));
  }
  Sum<weighted>(MPCG_RR, alone, sum, weight, d);
}

static __global__ void TakeKernel(bool weighted, MPCGDeviceScalars *d)
{
  MPCGFinish(MPCG_RZ, weighted ? d->s.next : d->s.rr, &d->s);
}

template <class From, class To>
static __global__ void __launch_bounds__(MPCG_THREADS) ConvertKernel(PetscInt n, double factor, const From *__restrict__ x, To *__restrict__ y)
{
#pragma unroll 8
  for (PetscInt k = First(); k < n; k += Next()) y[k] = static_cast<To>(factor * static_cast<double>(x[k]));
}

static __global__ void __launch_bounds__(MPCG_THREADS) PartKernel(PetscInt n, double *__restrict__ y, float *__restrict__ x)
{
#pragma unroll 4
  for (PetscInt k = First(); k < n; k += Next()) {
    const double all  = y[k];
    const float  part = static_cast<float>(all);

    x[k] = part;
    y[k] = all - static_cast<double>(part);
  }
}

static __global__ void FinishKernel(MPCGSum which, MPCGDeviceScalars *d)
{
  MPCGFinish(which, d->s.mine, &d->s);
}

/* ------------------------------------------------------------ launches */

static unsigned int Blocks(PetscInt n)
{
  const PetscInt all = (n / MPCG_FOUR + MPCG_THREADS - 1) / MPCG_THREADS;

  return static_cast<unsigned int>(PetscMax(1, PetscMin(all, MPCG_BLOCKS)));
}

static MPCGDeviceScalars *Of(MPCGScalars *s)
{
  return reinterpret_cast<MPCGDeviceScalars *>(s);
}

PetscErrorCode LitheCUDAMPCGDot(MPCGSum which, PetscInt n, const float x[], const float y[], PetscBool alone, MPCGScalars *s)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { DotKernel<<<Blocks(n), MPCG_THREADS, 0, stream>>>(which, n, x, y, alone, Of(s)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGDirection(PetscInt n, const float m[], const float z[], float p[], const MPCGScalars *s)
{
  const MPCGDeviceScalars *d = reinterpret_cast<const MPCGDeviceScalars *>(s);

  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { DirectionKernel<<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, m, z, p, d); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGUpdate(PetscInt n, const float m[], const float p[], const float q[], double y[], float r[], PetscBool alone, MPCGScalars *s)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) {
    if (m && p) UpdateKernel<true, true><<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, m, p, q, y, r, alone, Of(s));
    else if (p) UpdateKernel<false, true><<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, m, p, q, y, r, alone, Of(s));
    else if (m) UpdateKernel<true, false><<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, m, p, q, y, r, alone, Of(s));
    else UpdateKernel<false, false><<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, m, p, q, y, r, alone, Of(s));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGTake(const float m[], MPCGScalars *s)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { TakeKernel<<<1, 1, 0, stream>>>(m != NULL, Of(s)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGEnter(PetscInt n, double factor, const PetscReal r[], float b[])
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { ConvertKernel<<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, factor, r, b); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGLeave(PetscInt n, double factor, const float y[], PetscReal x[])
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { ConvertKernel<<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, factor, y, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGPart(PetscInt n, double y[], float x[])
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { PartKernel<<<Blocks(n), MPCG_THREADS, 0, stream>>>(n, y, x); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAMPCGFinish(MPCGSum which, MPCGScalars *s)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { FinishKernel<<<1, 1, 0, stream>>>(which, Of(s)); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
