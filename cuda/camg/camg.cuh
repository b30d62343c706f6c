/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of the set-up of PCCAMG. Sums have the order of the host, and products are not fused with sums.
   So a device gives the numbers of the host, up to complex roots and quotients, and the last bits of inner products.
   Ties are broken in the same way, and aggregates of all levels are those of the host.

   A row is read by a group of neighbouring threads of a warp. Memory comes from the pool of the device, in the order of
   PETSc's stream.
*/

#include <lithe/private/cuda/camg.h>
#include "../common/scan.cuh"
#include "number.cuh"

#define CAMG_LANES 8  /* of a group, for matrices with short rows; else a warp */
#define CAMG_SHORT 24 /* entries of a row on average */

#define CAMG_FOR_ALL(k, n) \
  for (PetscInt64 k = static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x; k < (n); k += static_cast<PetscInt64>(gridDim.x) * blockDim.x)

#if !PetscDefined(USE_64BIT_INDICES)
  /* Launches a kernel template for rows, each with a group of lanes, unless there are none; entries: of all rows */
  #define CAMG_ROWS_OF(rows, entries, launch)                  \
    do {                                                       \
      const PetscInt64 rows_ = (rows);                         \
      if (!rows_) break;                                       \
      if ((entries) <= CAMG_SHORT * rows_) {                   \
        constexpr int      lanes  = CAMG_LANES;                \
        const unsigned int blocks = CAMGBlocks(rows_ * lanes); \
        launch;                                                \
      } else {                                                 \
        constexpr int      lanes  = 32;                        \
        const unsigned int blocks = CAMGBlocks(rows_ * lanes); \
        launch;                                                \
      }                                                        \
      PetscCallCUDA(cudaGetLastError());                       \
    } while (0)

  /* For rows of blocks, and for rows of numbers */
  #define CAMG_ROWS(A, launch)    CAMG_ROWS_OF((A)->m, static_cast<PetscInt64>((A)->nz), launch)
  #define CAMG_NUMBERS(A, launch) CAMG_ROWS_OF(CAMGSize(A), static_cast<PetscInt64>((A)->nz) * (A)->rb * (A)->cb, launch)

/* Rows of numbers */
static inline PetscInt CAMGSize(const CAMGMatrix *A)
{
  return A->m * A->rb;
}

/*
   A row of numbers of a matrix of blocks. Entry t of the row has number At(t) of the array, and column Column(t) of
   block column Block(t)
*/
struct CAMGRow {
  PetscInt v, p, rb, cb, begin, count; /* row p of block row v; first block; entries */

  __device__ __forceinline__ CAMGRow(const CAMGMatrix &A, PetscInt64 r) : CAMGRow(A.i, A.rb, A.cb, r)
  {
  }
  __device__ __forceinline__ CAMGRow(const PetscInt *i, PetscInt rows, PetscInt columns, PetscInt64 r) : rb(rows), cb(columns)
  {
    v     = static_cast<PetscInt>(rb == 1 ? r : r / rb);
    p     = static_cast<PetscInt>(r - static_cast<PetscInt64>(v) * rb);
    begin = i[v];
    count = (i[v + 1] - begin) * cb;
  }
  __device__ __forceinline__ PetscInt Block(PetscInt t) const
  {
    return begin + (cb == 1 ? t : t / cb);
  }
  __device__ __forceinline__ PetscInt Inner(PetscInt t) const
  {
    return cb == 1 ? 0 : t % cb;
  }
  __device__ __forceinline__ size_t At(PetscInt t) const
  {
    return rb == 1 ? static_cast<size_t>(begin) * cb + t : (static_cast<size_t>(Block(t)) * rb + p) * cb + Inner(t);
  }
  __device__ __forceinline__ PetscInt Column(const PetscInt *j, PetscInt t) const
  {
    return j[Block(t)] * cb + Inner(t);
  }
  /* Whether an entry is that of the diagonal */
  __device__ __forceinline__ bool IsDiagonal(const PetscInt *j, PetscInt t) const
  {
    return j[Block(t)] == v && Inner(t) == p;
  }
};

/* stream: PETSc's current stream, here and below */
template <class T>
static inline PetscErrorCode CAMGAllocate(cudaStream_t, size_t n, T **p)
{
  PetscFunctionBegin;
  PetscCall(LitheDeviceAlloc(n * sizeof(T), reinterpret_cast<void **>(p)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static inline PetscErrorCode CAMGZeros(cudaStream_t stream, size_t n, T **p)
{
  PetscFunctionBegin;
  PetscCall(CAMGAllocate(stream, n, p));
  PetscCallCUDA(cudaMemsetAsync(*p, 0, n * sizeof(T), stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
static inline PetscErrorCode CAMGFree(cudaStream_t stream, T *p)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFreeAsync(p, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Launches a kernel with a thread per item, in PETSc's current stream */
template <class... Parameters, class... Arguments>
static inline PetscErrorCode CAMGLaunch(PetscInt64 n, void (*kernel)(Parameters...), const Arguments &...arguments)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  kernel<<<CAMGBlocks(n), CAMG_THREADS, 0, stream>>>(arguments...);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* To the host; waits */
template <class T>
static inline PetscErrorCode CAMGGet(cudaStream_t stream, size_t n, const T *from, T *to)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaMemcpyAsync(to, from, n * sizeof(T), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a[k] becomes a[0] + ... + a[k - 1] for k <= n; a[n] need not be set */
static inline PetscErrorCode CAMGScan(cudaStream_t stream, PetscInt n, PetscInt *a)
{
  size_t bytes = 0;
  char  *work;

  PetscFunctionBegin;
  PetscCallCUDA(cudaMemsetAsync(a + n, 0, sizeof(*a), stream));
  PetscCallCUDA(LitheScan(nullptr, &bytes, a, static_cast<PetscInt64>(n) + 1, stream));
  PetscCall(CAMGAllocate(stream, bytes, &work));
  PetscCallCUDA(LitheScan(work, &bytes, a, static_cast<PetscInt64>(n) + 1, stream));
  PetscCall(CAMGFree(stream, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows [m + 1], and room for blocks */
static inline PetscErrorCode CAMGCreate(cudaStream_t stream, PetscInt m, PetscInt n, PetscInt room, PetscInt rb, PetscInt cb, CAMGMatrix *A)
{
  PetscFunctionBegin;
  A->m  = m;
  A->n  = n;
  A->nz = room;
  A->rb = rb;
  A->cb = cb;
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(m) + 1, &A->i));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(room), &A->j));
  PetscCall(CAMGAllocate(stream, static_cast<size_t>(room) * rb * cb, &A->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sort.cu. Rows get ascending columns, which differ and are less than n. No wait */
PETSC_INTERN PetscErrorCode LitheCUDACAMGSortRows(PetscInt m, PetscInt n, PetscInt nz, const PetscInt i[], PetscInt j[]);
/*
   Nodes by aggregate: those of aggregate a are node[start[a]] to node[start[a + 1] - 1], ascending. start [aggregates +
   1]
*/
PETSC_INTERN PetscErrorCode LitheCUDACAMGGroup(PetscInt nodes, const PetscInt agg[], PetscInt aggregates, PetscInt start[], PetscInt node[]);

/* ------------------------------------------------------------ numbers */

static __device__ __forceinline__ double CAMGTimes(double a, double b)
{
  return __dmul_rn(a, b);
}

static __device__ __forceinline__ float CAMGTimes(float a, float b)
{
  return __fmul_rn(a, b);
}

  #if PetscDefined(USE_COMPLEX)
static __device__ __forceinline__ PetscReal CAMGReal(PetscScalar v)
{
  return v.real();
}

static __device__ __forceinline__ PetscReal CAMGImaginary(PetscScalar v)
{
  return v.imag();
}

static __device__ __forceinline__ PetscScalar CAMGConj(PetscScalar v)
{
  return PetscScalar(v.real(), -v.imag());
}

static __device__ __forceinline__ PetscReal CAMGAbs(PetscScalar v)
{
  return hypot(v.real(), v.imag());
}

static __device__ __forceinline__ PetscScalar CAMGTimes(PetscScalar a, PetscScalar b)
{
  return PetscScalar(CAMGTimes(a.real(), b.real()) - CAMGTimes(a.imag(), b.imag()), CAMGTimes(a.real(), b.imag()) + CAMGTimes(a.imag(), b.real()));
}

static __device__ __forceinline__ PetscScalar CAMGTimes(PetscReal a, PetscScalar b)
{
  return PetscScalar(CAMGTimes(a, b.real()), CAMGTimes(a, b.imag()));
}
  #else
static __device__ __forceinline__ PetscReal CAMGReal(PetscScalar v)
{
  return v;
}

static __device__ __forceinline__ PetscReal CAMGImaginary(PetscScalar)
{
  return 0;
}

static __device__ __forceinline__ PetscScalar CAMGConj(PetscScalar v)
{
  return v;
}

static __device__ __forceinline__ PetscReal CAMGAbs(PetscScalar v)
{
  return fabs(v);
}
  #endif

static __device__ __forceinline__ PetscReal CAMGSquare(PetscScalar v)
{
  const PetscReal re = CAMGReal(v), im = CAMGImaginary(v);

  return CAMGTimes(re, re) + CAMGTimes(im, im);
}

static __device__ __forceinline__ bool CAMGIsZero(PetscScalar v)
{
  return CAMGReal(v) == 0 && CAMGImaginary(v) == 0;
}

/* ------------------------------------------------------------ groups of lanes */

/* The lanes of the first group of a warp */
template <int lanes>
static __device__ constexpr unsigned int CAMGFirst()
{
  return lanes == 32 ? CAMG_ALL : (1u << (lanes % 32)) - 1;
}

/* The threads of this thread's group */
template <int lanes>
static __device__ __forceinline__ unsigned int CAMGMask()
{
  return CAMGFirst<lanes>() << (threadIdx.x % 32 / lanes * lanes);
}

/* The row of a group, and the thread's place in the group */
template <int lanes>
struct CAMGGroupOf {
  const PetscInt64   row  = (static_cast<PetscInt64>(blockIdx.x) * blockDim.x + threadIdx.x) / lanes;
  const int          lane = static_cast<int>(threadIdx.x) % lanes;
  const unsigned int mask = CAMGMask<lanes>();
};

/* Whether all lanes of a group are on. All lanes of the warp */
static __device__ __forceinline__ bool CAMGAllOf(unsigned int group, bool on)
{
  return (__ballot_sync(CAMG_ALL, on) & group) == group;
}

template <int lanes, class T>
static __device__ __forceinline__ T CAMGShuffle(unsigned int mask, T v, int from)
{
  return __shfl_sync(mask, v, from, lanes);
}

  #if PetscDefined(USE_COMPLEX)
template <int lanes>
static __device__ __forceinline__ PetscScalar CAMGShuffle(unsigned int mask, PetscScalar v, int from)
{
  return PetscScalar(__shfl_sync(mask, v.real(), from, lanes), __shfl_sync(mask, v.imag(), from, lanes));
}
  #endif

/* Adds the numbers of the lanes, in their order */
template <int lanes, class T>
static __device__ __forceinline__ void CAMGAddOrdered(unsigned int mask, T v, T *sum)
{
  #pragma unroll
  for (int t = 0; t < lanes; t++) *sum += CAMGShuffle<lanes>(mask, v, t);
}

template <int lanes, class T>
static __device__ __forceinline__ T CAMGSum(unsigned int mask, T v)
{
  #pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2) v += __shfl_xor_sync(mask, v, offset, lanes);
  return v;
}

template <int lanes, class T>
static __device__ __forceinline__ T CAMGLargest(unsigned int mask, T v)
{
  #pragma unroll
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    const T other = __shfl_xor_sync(mask, v, offset, lanes);

    if (other > v) v = other;
  }
  return v;
}

/* The number of columns below c */
static __device__ __forceinline__ PetscInt CAMGSearch(PetscInt n, const PetscInt *j, PetscInt c)
{
  PetscInt low = 0, high = n;

  while (low < high) {
    const PetscInt middle = (low + high) / 2;

    if (j[middle] < c) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* The place of the diagonal entry of a row of numbers, or -1 */
static __device__ __forceinline__ PetscInt64 CAMGDiagonal(const CAMGMatrix &A, const CAMGRow &row)
{
  const PetscInt blocks = row.count / row.cb, k = CAMGSearch(blocks, A.j + row.begin, row.v);

  return k < blocks && A.j[row.begin + k] == row.v ? static_cast<PetscInt64>(row.At(k * row.cb + row.p)) : -1;
}

/* Appends to a list. For few threads */
static __device__ __forceinline__ void CAMGAppend(PetscInt row, PetscInt *n, PetscInt *list)
{
  list[atomicAdd(n, 1)] = row;
}

/* All threads of a block: those with `on` append, by one atomic operation of the block */
static __device__ __forceinline__ void CAMGAppendByBlock(bool on, PetscInt row, PetscInt *n, PetscInt *list)
{
  __shared__ PetscInt count, first;
  PetscInt            at = 0;

  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  if (on) at = atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0) first = count ? atomicAdd(n, count) : 0;
  __syncthreads();
  if (on) list[first + at] = row;
}

/* A list in the memory of the device */
struct CAMGRowList {
  PetscInt *n, *row; /* row NULL: all rows */
};

  /*
     Rows of a list for groups of lanes. All threads of a block go through this loop together; a row >= count does not
     exist
  */
  #define CAMG_FOR_LISTED(at, lanes, count)                                                                                                      \
    for (PetscInt64 base_ = static_cast<PetscInt64>(blockIdx.x) * (CAMG_THREADS / (lanes)), at = base_ + threadIdx.x / (lanes); base_ < (count); \
         base_ += static_cast<PetscInt64>(gridDim.x) * (CAMG_THREADS / (lanes)), at            = base_ + threadIdx.x / (lanes))
#endif
