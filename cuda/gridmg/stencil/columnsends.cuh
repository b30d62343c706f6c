/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Ends of a cycle for 4 or 8 columns: vectors of the matrix become columns, and columns vectors of the matrix */

#include "columns.cuh"

/*
   Each column is multiplied by a power of two that brings its largest number near 1. A sample of the numbers decides
   first. If the largest number of the whole column is much larger than the sample, the column is made again. The
   largest number of the sample is found[c]. The largest number of a column to be made again is found[K + c], which is
   otherwise 0.
*/
#define COLUMNS_SAMPLE 64      /* a sample has one of this number of warps */
#define COLUMNS_AGAIN  2048u   /* blocks, at most, that make columns again: most calls have no such column */
#define COLUMNS_NEAR   0x1p+40 /* admitted ratio of the largest number to the sample, within single precision */

/* Factors of the columns for all threads of a block, and the inverse factors */
template <int K, bool again>
static __device__ __forceinline__ void GetFactors(const double *found, double factor[])
{
  if (threadIdx.x < K) factor[threadIdx.x] = LitheMGScaleOf(found[again ? K + threadIdx.x : threadIdx.x]);
  __syncthreads();
}

template <int K>
static __device__ __forceinline__ void GetInverseFactors(const double *found, double factor[])
{
  if (threadIdx.x < K) factor[threadIdx.x] = 1 / LitheMGScaleOf(found[K + threadIdx.x] != 0 ? found[K + threadIdx.x] : found[threadIdx.x]);
  __syncthreads();
}

/* As integers, bits of moduli have the order of the moduli; a NaN is the largest */
static __device__ __forceinline__ unsigned long long LargestBits(const Value<PetscReal> &v)
{
  unsigned long long most = 0;

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) most = max(most, static_cast<unsigned long long>(__double_as_longlong(fabs(static_cast<double>(v.p[p])))));
  return most;
}

static __device__ __forceinline__ void PutLargest(unsigned long long most, double *largest)
{
#pragma unroll
  for (int offset = COLUMNS_WARP / 2; offset > 0; offset /= 2) most = max(most, __shfl_xor_sync(0xffffffffu, most, offset));
  if (threadIdx.x % COLUMNS_WARP == 0 && most > static_cast<unsigned long long>(__double_as_longlong(__ldcg(largest))))
    atomicMax(reinterpret_cast<unsigned long long *>(largest), most);
}

static __global__ void __launch_bounds__(COLUMNS_THREADS) SampleKernel(int cells, const Value<PetscReal> *__restrict__ x, PetscInt64 ld, double *found)
{
  const PetscInt64        thread = static_cast<PetscInt64>(blockIdx.x) * COLUMNS_THREADS + threadIdx.x;
  const PetscInt64        i      = thread / COLUMNS_WARP * (COLUMNS_WARP * COLUMNS_SAMPLE) + thread % COLUMNS_WARP;
  const Value<PetscReal> *column = x + static_cast<PetscInt64>(blockIdx.y) * ld;

  PutLargest(i < cells ? LargestBits(column[i]) : 0, found + blockIdx.y);
}

/* Reads n columns of the matrix, and fills the rest with zeros. again: only columns to be made again */
template <int K, bool again, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  EnterKernel(int cells, int n, const Value<PetscReal> *__restrict__ x, PetscInt64 ld, double *found, Value<T> *__restrict__ b)
{
  __shared__ double factors[K];
  __shared__ Value<T> tile[COLUMNS_POINTS][K + 1];
  const int           thread = static_cast<int>(threadIdx.x), p = thread % COLUMNS_POINTS;

  if constexpr (again) {
    double any = 0;

    for (int c = 0; c < n; c++) any = found[K + c] != 0 ? 1 : any; /* NaN is not 0 */
    if (any == 0) return;
  }
  GetFactors<K, again>(found, factors);
  for (int first = static_cast<int>(blockIdx.x) * COLUMNS_POINTS; first < cells; first += static_cast<int>(gridDim.x) * COLUMNS_POINTS) {
#pragma unroll
    for (int k = 0; k < K; k += COLUMNS_THREADS / COLUMNS_POINTS) {
      const int          c    = k + thread / COLUMNS_POINTS;
      unsigned long long most = 0;
      Value<T>           v{};

      if (c < n && first + p < cells) {
        const Value<PetscReal> from   = x[static_cast<PetscInt64>(c) * ld + first + p];
        const double           factor = factors[c];

        if (!again) most = LargestBits(from);
#pragma unroll
        for (int q = 0; q < GRIDMG_PARTS; q++) v.p[q] = static_cast<T>(factor * static_cast<double>(from.p[q]));
      }
      if constexpr (!again) {
        /* a warp works on a single column */
        if (c < n && __any_sync(0xffffffffu, most > static_cast<unsigned long long>(__double_as_longlong(COLUMNS_NEAR * found[c]))))
          PutLargest(most, found + K + c);
      }
      tile[p][c] = v;
    }
    __syncthreads();
#pragma unroll
    for (int k = thread; k < K * COLUMNS_POINTS; k += COLUMNS_THREADS)
      if (first + k / K < cells && (!again || (k % K < n && found[K + k % K] != 0)))
        b[static_cast<size_t>(first) * K + static_cast<size_t>(k)] = tile[k / K][k % K];
    __syncthreads();
  }
}

/* The two factors are applied in turn: their product may be out of range */
template <int K, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS) LeaveKernel(int cells, int n, double factor, const double *__restrict__ found,
                                                                      const Value<T> *__restrict__ x, Value<PetscReal> *__restrict__ y, PetscInt64 ld)
{
  __shared__ double factors[K];
  __shared__ Value<T> tile[COLUMNS_POINTS][K + 1];
  const int           first = static_cast<int>(blockIdx.x) * COLUMNS_POINTS, thread = static_cast<int>(threadIdx.x), p = thread % COLUMNS_POINTS;

#pragma unroll
  for (int k = thread; k < K * COLUMNS_POINTS; k += COLUMNS_THREADS)
    if (first + k / K < cells) tile[k / K][k % K] = x[static_cast<size_t>(first) * K + static_cast<size_t>(k)];
  GetInverseFactors<K>(found, factors);
#pragma unroll
  for (int k = 0; k < K; k += COLUMNS_THREADS / COLUMNS_POINTS) {
    const int        c = k + thread / COLUMNS_POINTS;
    Value<PetscReal> v;

    if (c >= n || first + p >= cells) continue;
    const double back = factors[c];

#pragma unroll
    for (int q = 0; q < GRIDMG_PARTS; q++) v.p[q] = static_cast<PetscReal>(back * (factor * static_cast<double>(tile[p][c].p[q])));
    y[static_cast<PetscInt64>(c) * ld + first + p] = v;
  }
}

static unsigned int BlocksOfPoints(const GridMGStencilOperator *op)
{
  return static_cast<unsigned int>((op->grid.cells + COLUMNS_POINTS - 1) / COLUMNS_POINTS);
}

template <int K>
static PetscErrorCode Enter(const GridMGStencilOperator *op, PetscInt n, const PetscScalar *x, PetscInt ld, void *b, double *scale)
{
  const auto   real  = reinterpret_cast<const Value<PetscReal> *>(x);
  const int    cells = static_cast<int>(op->grid.cells), each = COLUMNS_THREADS * COLUMNS_SAMPLE;
  const dim3   blocks(static_cast<unsigned int>((cells + each - 1) / each), static_cast<unsigned int>(n));
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(scale, 0, 2 * K * sizeof(*scale), stream));
  SampleKernel<<<blocks, COLUMNS_THREADS, 0, stream>>>(cells, real, ld, scale);
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    EnterKernel<K, false, T><<<BlocksOfPoints(op), COLUMNS_THREADS, 0, stream>>>(cells, static_cast<int>(n), real, ld, scale, static_cast<Value<T> *>(b));
    EnterKernel<K, true, T>
      <<<PetscMin(BlocksOfPoints(op), COLUMNS_AGAIN), COLUMNS_THREADS, 0, stream>>>(cells, static_cast<int>(n), real, ld, scale, static_cast<Value<T> *>(b));
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode Leave(const GridMGStencilOperator *op, PetscInt n, double factor, const double *scale, const void *x, PetscScalar *y, PetscInt ld)
{
  PetscFunctionBegin;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    LeaveKernel<K, T><<<BlocksOfPoints(op), COLUMNS_THREADS, 0, stream>>>(static_cast<int>(op->grid.cells), static_cast<int>(n), factor, scale,
                                                                          static_cast<const Value<T> *>(x), reinterpret_cast<Value<PetscReal> *>(y), ld);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
