/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest level for products of a KSP: src/pc/camg/encode.c, src/pc/camg/host.c */

#include "../common/graph.cuh"
#include "bound.cuh"
#include <lithe/private/cuda/camg.h>

#define FINE_STEPS 3 /* of a slice that a thread reads before it needs the first one */

static __device__ __forceinline__ double Wide(float a)
{
  return static_cast<double>(a);
}

static __device__ __forceinline__ CAMGComplex<double> Wide(CAMGComplex<float> a)
{
  return {static_cast<double>(a.re), static_cast<double>(a.im)};
}

static __device__ __forceinline__ float Narrow(double a)
{
  return static_cast<float>(a);
}

static __device__ __forceinline__ CAMGComplex<float> Narrow(CAMGComplex<double> a)
{
  return {static_cast<float>(a.re), static_cast<float>(a.im)};
}

/* Products of a row and its diagonal apart */
static __device__ __forceinline__ void FinePut(const CAMGOperator &op, int row, CAMGNumber<double> sum, const CAMGNumber<float> *x, CAMGNumber<float> *y)
{
  if (op.d) sum = sum + Wide(static_cast<const CAMGNumber<float> *>(op.d)[row]) * Wide(x[row]);
  y[row] = Narrow(sum);
}

/* A warp per slice */
template <bool narrow>
static __global__ void __launch_bounds__(CAMG_THREADS)
  FineSlices(const __grid_constant__ CAMGOperator op, const CAMGNumber<float> *__restrict__ x, CAMGNumber<float> *__restrict__ y)
{
  using N         = CAMGNumber<double>;
  const int group = op.group, lane = static_cast<int>(threadIdx.x) % CAMG_WARP;
  const int slice = static_cast<int>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / CAMG_WARP);
  const int row   = slice * (CAMG_WARP / group) + lane / group;

  if (slice * (CAMG_WARP / group) >= op.m) return;
  const int first = op.i[slice], last = op.i[slice + 1];
  N         sum[2] = {CAMGZero(N()), CAMGZero(N())};

  for (int step = first; step < last; step += FINE_STEPS) {
    CAMGNumber<float> entry[FINE_STEPS][2];
    int               c[FINE_STEPS][2];

#pragma unroll
    for (int t = 0; t < FINE_STEPS; t++) {
      const int at = min(step + t, last - 1) * CAMG_WARP + lane; /* the last one again: loads without a branch */

      if constexpr (narrow) {
        const ushort2 near = reinterpret_cast<const ushort2 *>(op.j)[at];
        const int     base = op.base[at / CAMG_WARP];

        c[t][0] = base + near.x;
        c[t][1] = base + near.y;
      } else {
        const int2 far = reinterpret_cast<const int2 *>(op.j)[at];

        c[t][0] = far.x;
        c[t][1] = far.y;
      }
      if constexpr (CAMG_PARTS == 1) {
        const float2 two = static_cast<const float2 *>(op.code)[at];

        CAMGEntry<32>(&two, 0, &entry[t][0]);
        CAMGEntry<32>(&two, 1, &entry[t][1]);
      } else CAMGPair<32>(op.code, at, entry[t]);
    }
#pragma unroll
    for (int t = 0; t < FINE_STEPS; t++) {
      for (int half = 0; half < 2; half++) {
        const N product = Wide(entry[t][half]) * Wide(x[c[t][half]]);

        if (step + t < last) sum[half] = sum[half] + product;
      }
    }
  }
  N all = sum[0] + sum[1];

  for (int mask = group / 2; mask > 0; mask /= 2) all = all + CAMGShuffle(all, mask);
  if (lane % group == 0 && row < op.m) FinePut(op, row, all, x, y);
}

/* Rows one after the other, with blocks of any size; group: threads of a row */
static __global__ void __launch_bounds__(CAMG_THREADS)
  FineRows(const __grid_constant__ CAMGOperator op, int group, const CAMGNumber<float> *__restrict__ x, CAMGNumber<float> *__restrict__ y)
{
  using N         = CAMGNumber<double>;
  const int  row  = static_cast<int>((static_cast<PetscInt64>(blockIdx.x) * CAMG_THREADS + threadIdx.x) / group);
  const int  lane = static_cast<int>(threadIdx.x) % group, v = row / op.rb, p = row % op.rb;
  const bool there = v < op.m;
  const int  begin = there ? op.i[v] : 0, count = there ? (op.i[v + 1] - begin) * op.cb : 0;
  N          sum = CAMGZero(N());

  for (int t = lane; t < count; t += group) {
    const int         k = begin + t / op.cb, q = t % op.cb;
    CAMGNumber<float> entry;

    CAMGEntry<32>(op.code, (static_cast<size_t>(k) * op.rb + p) * op.cb + q, &entry);
    sum = sum + Wide(entry) * Wide(x[op.j[k] * op.cb + q]);
  }
  for (int mask = group / 2; mask > 0; mask /= 2) sum = sum + CAMGShuffle(sum, mask);
  if (there && lane == 0) FinePut(op, row, sum, x, y);
}

PetscErrorCode LitheCUDACAMGProduct(const CAMGOperator *op, const void *x, void *y)
{
  const CAMGNumber<float> *from = static_cast<const CAMGNumber<float> *>(x);
  CAMGNumber<float>       *to   = static_cast<CAMGNumber<float> *>(y);

  PetscFunctionBegin;
  if (!op->m) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) {
    const double entries = static_cast<double>(op->nz) * op->cb / op->m;
    int          group   = 1;

    if (op->group) {
      const unsigned int blocks = CAMGBlocks(op->m, CAMG_THREADS / op->group);

      if (op->narrow) FineSlices<true><<<blocks, CAMG_THREADS, 0, stream>>>(*op, from, to);
      else FineSlices<false><<<blocks, CAMG_THREADS, 0, stream>>>(*op, from, to);
      return;
    }
    while (group < CAMG_WARP && 2 * group <= entries) group *= 2;
    FineRows<<<CAMGBlocks(static_cast<PetscInt64>(op->m) * op->rb, CAMG_THREADS / group), CAMG_THREADS, 0, stream>>>(*op, group, from, to);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#if !PetscDefined(USE_64BIT_INDICES)
template <int lanes>
static __global__ void FineRounding(const __grid_constant__ CAMGMatrix A, const double *__restrict__ s, float *__restrict__ d)
{
  const CAMGGroupOf<lanes> g;
  double                   error[2] = {0, 0};

  if (g.row >= static_cast<PetscInt64>(A.m) * A.rb) return;
  const CAMGRow row(A, g.row);
  const double  sr = s[g.row];

  for (PetscInt t = g.lane; t < row.count; t += lanes) {
    const double      sc = s[row.Column(A.j, t)];
    const PetscScalar a  = A.a[row.At(t)];
    const double      re = static_cast<double>(CAMGReal(a)) / sr / sc, im = static_cast<double>(CAMGImaginary(a)) / sr / sc;

    error[0] += (re - static_cast<double>(static_cast<float>(re))) * (sc / sr);
    error[1] += (im - static_cast<double>(static_cast<float>(im))) * (sc / sr);
  }
  __syncwarp(g.mask);
  for (int p = 0; p < CAMG_PARTS; p++) {
    const double sum = CAMGSum<lanes>(g.mask, error[p]);

    if (g.lane == 0) d[g.row * CAMG_PARTS + p] = static_cast<float>(sum);
  }
}

PetscErrorCode LitheCUDACAMGRounding(const CAMGMatrix *A, const double s[], void *d)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  CAMG_NUMBERS(A, (FineRounding<lanes><<<blocks, CAMG_THREADS, 0, stream>>>(*A, s, static_cast<float *>(d))));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
