/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of compressed bases: vectors of PETSc, the choice of the storage (storage.cuh), and sizes of
   sums.

     basis.cu   memory, sums over blocks and processes, the small algebra
     dot.cu     inner products with all columns
     update.cu  linear combinations of columns, and appending a column
     codec.cu   store and load of a column
*/

#include "../common/pdl.cuh"
#include "storage.cuh"
#include <type_traits>

#if defined(PETSC_USE_COMPLEX)
  #define CB_COMPONENTS 2
#else
  #define CB_COMPONENTS 1
#endif

/* ------------------------------------------------------------ vectors */

struct alignas(2 * sizeof(PetscReal)) CBPair {
  PetscReal a, b;
};

/* The line of p to the second-level cache */
#define CB_LINE 128
static __device__ __forceinline__ void CBPrefetch(const void *p)
{
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
}

/* A vector of PETSc, which may begin anywhere: accessed in pairs if aligned */
static inline bool CBIsAligned(const void *x)
{
  return reinterpret_cast<uintptr_t>(x) % sizeof(CBPair) == 0;
}

/* Numbers first ... first+width-1 of x, with zeros after the end; first is even */
template <int width>
static __device__ __forceinline__ void CBReadVector(const PetscReal *x, bool aligned, size_t first, size_t n, double v[])
{
  if (aligned && first + width <= n) {
#pragma unroll
    for (int i = 0; i < width; i += 2) {
      const CBPair t = *reinterpret_cast<const CBPair *>(x + first + i);

      v[i]     = t.a;
      v[i + 1] = t.b;
    }
  } else {
#pragma unroll
    for (int i = 0; i < width; i++) v[i] = first + i < n ? x[first + i] : 0;
  }
}

/* Prefetches a block's part of a vector of n numbers to the second-level cache */
template <int threads, int width>
static __device__ __forceinline__ void CBPrefetchVector(const PetscReal *x, size_t n)
{
  constexpr size_t bytes = threads * width * sizeof(PetscReal);
  const size_t     at    = blockIdx.x * bytes + threadIdx.x * CB_LINE;

  static_assert(bytes <= threads * CB_LINE, "each thread prefetches at most a line");
  if (threadIdx.x < bytes / CB_LINE && at < n * sizeof(PetscReal)) CBPrefetch(reinterpret_cast<const char *>(x) + at);
}

/* x = factor v, multiplied by a diagonal entry by entry unless diagonal is NULL */
template <int width>
static __device__ __forceinline__ void CBWriteVector(PetscReal *x, bool aligned, size_t first, size_t n, double factor, const PetscReal *diagonal, double v[])
{
#pragma unroll
  for (int i = 0; i < width; i++) v[i] = static_cast<PetscReal>(factor * v[i]);
  if (diagonal) {
    double d[width];

    CBReadVector<width>(diagonal, aligned, first, n, d);
#pragma unroll
    for (int i = 0; i < width; i += CB_COMPONENTS) {
#if CB_COMPONENTS == 2
      const double re = v[i] * d[i] - v[i + 1] * d[i + 1], im = v[i] * d[i + 1] + v[i + 1] * d[i];

      v[i]     = re;
      v[i + 1] = im;
#else
      v[i] *= d[i];
#endif
    }
  }
  if (aligned && first + width <= n) {
#pragma unroll
    for (int i = 0; i < width; i += 2) *reinterpret_cast<CBPair *>(x + first + i) = CBPair{static_cast<PetscReal>(v[i]), static_cast<PetscReal>(v[i + 1])};
  } else {
#pragma unroll
    for (int i = 0; i < width; i++)
      if (first + i < n) x[first + i] = static_cast<PetscReal>(v[i]);
  }
}

/* ------------------------------------------------------------ columns */

/* t = the stored form of x, in two parts, in columns j and second; x is overwritten. Called by whole warps */
template <class F>
static __device__ __forceinline__ void CBEncodeTwice(const CBColumns &V, PetscInt j, PetscInt second, size_t chunk, bool there, double x[], double t[])
{
  F::Encode(V, V.values + static_cast<size_t>(j) * V.vbytes, V.exponents + static_cast<size_t>(j) * V.ebytes, chunk, there, x, t);
#pragma unroll
  for (int i = 0; i < F::width; i++) x[i] = static_cast<PetscReal>(x[i] - t[i]);
  F::Encode(V, V.values + static_cast<size_t>(second) * V.vbytes, V.exponents + static_cast<size_t>(second) * V.ebytes, chunk, there, x, x);
#pragma unroll
  for (int i = 0; i < F::width; i++) t[i] = static_cast<PetscReal>(t[i] + x[i]);
}

/* Calls launch(storage). wide: chunks as wide as one access permits. Narrow chunks are two numbers, so a warp accesses
   a vector without gaps */
template <bool wide, class Launch>
static inline PetscErrorCode CBDispatch(const CBDevice *d, Launch launch)
{
  constexpr int eight = wide ? 8 : 2, four = wide ? 4 : 2;
  const bool    small = d->storage.frsz2.exponentbits == 8;

  PetscFunctionBegin;
  switch (d->storage.kind) {
  case LITHE_STORAGE_FULL:
    if constexpr (sizeof(PetscReal) == sizeof(double)) launch(CBDouble{});
    else launch(CBSingle<four>{});
    break;
  case LITHE_STORAGE_SINGLE:
    launch(CBSingle<four>{});
    break;
  case LITHE_STORAGE_HALF:
    launch(CBMini<5, 10, eight>{});
    break;
  case LITHE_STORAGE_BFLOAT16:
    launch(CBMini<8, 7, eight>{});
    break;
  case LITHE_STORAGE_FRSZ2:
    if (d->storage.bits == 32 && small) launch(CBFrsz<32, 8, four>{});
    else if (d->storage.bits == 32) launch(CBFrsz<32, 16, four>{});
    else if (d->storage.bits == 16 && small) launch(CBFrsz<16, 8, eight>{});
    else if (d->storage.bits == 16) launch(CBFrsz<16, 16, eight>{});
    else if (d->storage.bits == 21 && small) launch(std::conditional_t<wide, CBFrszOdd<21, 8>, CBFrszOddPair<21, 8>>{});
    else if (d->storage.bits == 21) launch(std::conditional_t<wide, CBFrszOdd<21, 16>, CBFrszOddPair<21, 16>>{});
    else launch(CBFrszAny{});
    break;
  }
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ inner products */

/* Blocks per multiprocessor, as many as fit; each block has the same share of the rows */
#if CB_COMPONENTS == 2
  #define CB_DOT_BLOCKS 3
#else
  #define CB_DOT_BLOCKS 4
#endif

/* Sums of `count` numbers over a warp; count is a power of two. Number i is returned in s[0] of lanes 32 i / count ...
   32 (i + 1) / count - 1 */
template <int count, int offset = 16>
static __device__ __forceinline__ void CBWarpSums(double s[])
{
  if constexpr (offset > 0) {
    constexpr int half  = count / 2;
    const bool    upper = threadIdx.x & offset;

    if (half == 0) s[0] += __shfl_xor_sync(0xffffffffu, s[0], offset);
#pragma unroll
    for (int i = 0; i < half; i++) {
      const double kept = upper ? s[i + half] : s[i], sent = upper ? s[i] : s[i + half];

      s[i] = kept + __shfl_xor_sync(0xffffffffu, sent, offset);
    }
    CBWarpSums<half ? half : 1, offset / 2>(s);
  }
}

/* Real numbers of the sums [ V^H v_(k-1), V^H w, w^H w ]: dot.cu computes the sums of each block, basis.cu adds the
   blocks */
static inline PetscInt CBSums(PetscInt columns)
{
  return CB_COMPONENTS * (2 * columns + 1);
}

static inline int CBDotBlocks(const CBDevice *d)
{
  return CB_DOT_BLOCKS * d->multiprocessors;
}
