/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: one column. A thread has a few chunks. Where it loads a column they are so narrow that a warp writes
   the vector without gaps; where it stores one, the fewer threads share a block of 32 numbers the better.
*/

#include "cbbasis.cuh"

#define CB_CODEC_THREADS 128
#define CB_CODEC_AHEAD   (2 << 20) /* bytes of values; as many as all threads of an H200 have under way */

/* Loads that a thread has under way */
template <class F>
struct CBCodecShape {
  static constexpr int chunks = F::width == 2 ? 2 : 1;
};

/* Where a load writes much more than it reads, what is read CB_CODEC_AHEAD later goes to the second-level cache: reads that come early wait less behind writes */
template <class F>
static __device__ __forceinline__ void CBFetchAhead(const CBColumns &V, PetscInt j)
{
  if constexpr (F::width == 2 && F::words <= 2) {
    constexpr int line = 128, bytes = CBCodecShape<F>::chunks * CB_CODEC_THREADS * 4 * F::words;
    const size_t  at = static_cast<size_t>(blockIdx.x) * bytes + CB_CODEC_AHEAD + threadIdx.x * line;

    static_assert(bytes % line == 0 && bytes / line <= CB_CODEC_THREADS, "the first threads of a block fetch a line each");
    if (threadIdx.x < bytes / line && at < V.vbytes) asm volatile("prefetch.global.L2 [%0];" ::"l"(V.values + static_cast<size_t>(j) * V.vbytes + at));
  }
}

/* second: where the second part of the column is */
template <class F, bool twice>
static __global__ void __launch_bounds__(CB_CODEC_THREADS) CBStoreKernel(const __grid_constant__ CBColumns V, PetscInt j, PetscInt second, double scale, double down, bool aligned, const PetscReal *x, PetscReal *z)
{
  constexpr int chunks = CBCodecShape<F>::chunks, width = F::width;
  const size_t  all = CBChunks<F>(V), first = static_cast<size_t>(blockIdx.x) * (chunks * CB_CODEC_THREADS) + threadIdx.x;
  char         *v = V.values + static_cast<size_t>(j) * V.vbytes, *e = V.exponents + static_cast<size_t>(j) * V.ebytes;
  double        t[chunks][width];

#pragma unroll
  for (int r = 0; r < chunks; r++) CBReadVector<width>(x, aligned, (first + r * CB_CODEC_THREADS) * width, V.n, t[r]);
#pragma unroll
  for (int r = 0; r < chunks; r++) {
    const size_t chunk = first + r * CB_CODEC_THREADS;

#pragma unroll
    for (int i = 0; i < width; i++) t[r][i] = static_cast<PetscReal>(scale * t[r][i]);
    if constexpr (twice) {
      double whole[width];

#pragma unroll
      for (int i = 0; i < width; i++) whole[i] = t[r][i];
      CBEncodeTwice<F>(V, j, second, chunk, chunk < all, whole, t[r]);
    } else F::Encode(V, v, e, chunk, chunk < all, t[r], t[r]);
    if (z) CBWriteVector<width>(z, aligned, chunk * width, V.n, down, t[r]);
  }
}

template <class F, bool twice>
static __global__ void __launch_bounds__(CB_CODEC_THREADS) CBLoadKernel(const __grid_constant__ CBColumns V, PetscInt j, PetscInt second, double down, bool aligned, PetscReal *z)
{
  constexpr int   chunks = CBCodecShape<F>::chunks, width = F::width;
  const size_t    all = CBChunks<F>(V), first = static_cast<size_t>(blockIdx.x) * (chunks * CB_CODEC_THREADS) + threadIdx.x;
  const char     *v = V.values + static_cast<size_t>(j) * V.vbytes, *e = V.exponents + static_cast<size_t>(j) * V.ebytes;
  typename F::Raw raw[chunks];

  CBFetchAhead<F>(V, j);
  if constexpr (twice) CBFetchAhead<F>(V, second);

#pragma unroll
  for (int r = 0; r < chunks; r++) {
    const size_t chunk = first + r * CB_CODEC_THREADS;

    /* a thread that has none takes one of the first block of 32 numbers */
    raw[r] = F::Load(V, v, e, chunk < all ? chunk : threadIdx.x % (LITHE_FRSZ2_BLOCK / width));
  }
#pragma unroll
  for (int r = 0; r < chunks; r++) {
    const double scale = F::Scale(V, raw[r]);
    double       q[width];

    F::Decode(V, raw[r], q);
#pragma unroll
    for (int i = 0; i < width; i++) q[i] *= scale;
    if constexpr (twice) {
      const size_t          chunk = first + r * CB_CODEC_THREADS;
      const typename F::Raw rest  = F::Load(V, V.values + static_cast<size_t>(second) * V.vbytes, V.exponents + static_cast<size_t>(second) * V.ebytes, chunk < all ? chunk : threadIdx.x % (LITHE_FRSZ2_BLOCK / width));
      const double          unit  = F::Scale(V, rest);
      double                p[width];

      F::Decode(V, rest, p);
#pragma unroll
      for (int i = 0; i < width; i++) q[i] += unit * p[i];
    }
    CBWriteVector<width>(z, aligned, (first + r * CB_CODEC_THREADS) * width, V.n, down, q);
  }
}

template <class F>
static unsigned int CBCodecBlocks(const CBColumns &V)
{
  constexpr size_t each = CBCodecShape<F>::chunks * CB_CODEC_THREADS;

  return static_cast<unsigned int>((CBChunks<F>(V) + each - 1) / each);
}

PetscErrorCode LitheCUDACBStore(const CBDevice *d, PetscInt j, PetscInt second, PetscReal scale, const PetscReal *dx, PetscReal *dz)
{
  const CBColumns V       = CBGetColumns(d);
  const bool      aligned = CBIsAligned(dx) && CBIsAligned(dz);
  cudaStream_t    stream;

  PetscFunctionBegin;
  if (!d->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(CBDispatch<true>(d, [&](auto format) {
    using F = decltype(format);

    if (second < 0) CBStoreKernel<F, false><<<CBCodecBlocks<F>(V), CB_CODEC_THREADS, 0, stream>>>(V, j, second, scale * d->up, d->down, aligned, dx, dz);
    else CBStoreKernel<F, true><<<CBCodecBlocks<F>(V), CB_CODEC_THREADS, 0, stream>>>(V, j, second, scale * d->up, d->down, aligned, dx, dz);
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
    using F = decltype(format);

    if (second < 0) CBLoadKernel<F, false><<<CBCodecBlocks<F>(V), CB_CODEC_THREADS, 0, stream>>>(V, j, second, d->down, CBIsAligned(dz), dz);
    else CBLoadKernel<F, true><<<CBCodecBlocks<F>(V), CB_CODEC_THREADS, 0, stream>>>(V, j, second, d->down, CBIsAligned(dz), dz);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
