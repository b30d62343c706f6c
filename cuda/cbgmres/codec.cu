/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: one column. A load uses narrow chunks, so that a warp writes the vector without gaps. A store is
   faster with fewer threads per block of 32 numbers.
*/

#include "basis.cuh"

#define CB_STORE_THREADS 128
#define CB_LOAD_AHEAD    (2 << 20) /* bytes of values; an H200 has as many bytes in flight */

/* Chunks per thread of a store */
template <class F>
struct CBStoreShape {
  static constexpr int chunks = F::width == 2 ? 2 : 1;
};

/* ahead: a load writes much more than a load reads, and reads wait behind writes. The data at a distance of
   CB_LOAD_AHEAD are prefetched to the second-level cache. Large blocks of threads make the prefetches bursts */
template <class F>
struct CBLoadShape {
  static constexpr bool ahead   = F::width == 2 && F::chunkbits <= 64;
  static constexpr int  threads = ahead ? 1024 : 256;
};

template <class F>
static __device__ __forceinline__ void CBFetchAhead(const CBColumns &V, PetscInt j)
{
  if constexpr (CBLoadShape<F>::ahead) {
    constexpr int threads = CBLoadShape<F>::threads, bytes = threads * F::chunkbits / 8, line = CB_LINE, lines = bytes / line,
                  block = LITHE_FRSZ2_BLOCK / F::width * F::chunkbits / 8;
    const size_t at = static_cast<size_t>(blockIdx.x) * bytes + CB_LOAD_AHEAD, value = at + threadIdx.x * line;

    static_assert(bytes % line == 0 && lines < threads, "the first threads of a block prefetch a line each, the next thread prefetches exponents");
    if (threadIdx.x < lines) {
      if (value < V.vbytes) CBPrefetch(V.values + static_cast<size_t>(j) * V.vbytes + value);
    } else if (threadIdx.x == lines) {
      const size_t exponent = at / block * (V.frsz2.exponentbits / 8);

      /* formats without exponents have no exponent bytes */
      if (exponent < V.ebytes) CBPrefetch(V.exponents + static_cast<size_t>(j) * V.ebytes + exponent);
    }
  }
}

/* second: the column of the second part */
template <class F, bool twice>
static __global__ void __launch_bounds__(CB_STORE_THREADS) CBStoreKernel(const __grid_constant__ CBColumns V, PetscInt j, PetscInt second, double scale,
                                                                         double down, bool aligned, const PetscReal *x, const PetscReal *diagonal, PetscReal *z)
{
  constexpr int chunks = CBStoreShape<F>::chunks, width = F::width;
  const size_t  all = CBChunks<F>(V), first = static_cast<size_t>(blockIdx.x) * (chunks * CB_STORE_THREADS) + threadIdx.x;
  char         *v = V.values + static_cast<size_t>(j) * V.vbytes, *e = V.exponents + static_cast<size_t>(j) * V.ebytes;
  double        t[chunks][width];

#pragma unroll
  for (int r = 0; r < chunks; r++) CBReadVector<width>(x, aligned, (first + r * CB_STORE_THREADS) * width, V.n, t[r]);
#pragma unroll
  for (int r = 0; r < chunks; r++) {
    const size_t chunk = first + r * CB_STORE_THREADS;

#pragma unroll
    for (int i = 0; i < width; i++) t[r][i] = static_cast<PetscReal>(scale * t[r][i]);
    if constexpr (twice) {
      double whole[width];

#pragma unroll
      for (int i = 0; i < width; i++) whole[i] = t[r][i];
      CBEncodeTwice<F>(V, j, second, chunk, chunk < all, whole, t[r]);
    } else F::Encode(V, v, e, chunk, chunk < all, t[r], t[r]);
    if (z) CBWriteVector<width>(z, aligned, chunk * width, V.n, down, diagonal, t[r]);
  }
}

template <class F, bool twice>
static __global__ void __launch_bounds__(CBLoadShape<F>::threads)
  CBLoadKernel(const __grid_constant__ CBColumns V, PetscInt j, PetscInt second, double down, bool aligned, PetscReal *z)
{
  constexpr int width = F::width;
  const size_t  chunk = static_cast<size_t>(blockIdx.x) * CBLoadShape<F>::threads + threadIdx.x;
  /* a thread without a chunk reads a chunk of the first 32 numbers */
  const size_t from = chunk < CBChunks<F>(V) ? chunk : threadIdx.x % (LITHE_FRSZ2_BLOCK / width);
  double       q[width];

  CBFetchAhead<F>(V, j);
  if constexpr (twice) CBFetchAhead<F>(V, second);

  const typename F::Raw raw   = F::Load(V, V.values + static_cast<size_t>(j) * V.vbytes, V.exponents + static_cast<size_t>(j) * V.ebytes, from);
  const double          scale = F::Scale(V, raw);

  F::Decode(V, raw, q);
#pragma unroll
  for (int i = 0; i < width; i++) q[i] *= scale;
  if constexpr (twice) {
    const typename F::Raw rest = F::Load(V, V.values + static_cast<size_t>(second) * V.vbytes, V.exponents + static_cast<size_t>(second) * V.ebytes, from);
    const double          unit = F::Scale(V, rest);
    double                p[width];

    F::Decode(V, rest, p);
#pragma unroll
    for (int i = 0; i < width; i++) q[i] += unit * p[i];
  }
  CBWriteVector<width>(z, aligned, chunk * width, V.n, down, NULL, q);
}

/* Blocks of threads with `each` chunks per block */
template <class F>
static unsigned int CBCodecBlocks(const CBColumns &V, size_t each)
{
  return static_cast<unsigned int>((CBChunks<F>(V) + each - 1) / each);
}

PetscErrorCode LitheCUDACBStore(const CBDevice *d, PetscInt j, PetscInt second, PetscReal scale, const PetscReal *dx, const PetscReal *ddiagonal, PetscReal *dz)
{
  const CBColumns V       = CBGetColumns(d);
  const bool      aligned = CBIsAligned(dx) && CBIsAligned(ddiagonal) && CBIsAligned(dz);
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!d->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CBDispatch<true>(d, [&](auto format) {
    using F                   = decltype(format);
    const unsigned int blocks = CBCodecBlocks<F>(V, CBStoreShape<F>::chunks * CB_STORE_THREADS);

    if (second < 0) CBStoreKernel<F, false><<<blocks, CB_STORE_THREADS, 0, stream>>>(V, j, second, scale * d->up, d->down, aligned, dx, ddiagonal, dz);
    else CBStoreKernel<F, true><<<blocks, CB_STORE_THREADS, 0, stream>>>(V, j, second, scale * d->up, d->down, aligned, dx, ddiagonal, dz);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBLoad(const CBDevice *d, PetscInt j, PetscInt second, PetscReal *dz)
{
  const CBColumns V = CBGetColumns(d);
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!d->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CBDispatch<false>(d, [&](auto format) {
    using F                    = decltype(format);
    const int          threads = CBLoadShape<F>::threads;
    const unsigned int blocks  = CBCodecBlocks<F>(V, threads);

    if (second < 0) CBLoadKernel<F, false><<<blocks, threads, 0, stream>>>(V, j, second, d->down, CBIsAligned(dz), dz);
    else CBLoadKernel<F, true><<<blocks, threads, 0, stream>>>(V, j, second, d->down, CBIsAligned(dz), dz);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
