/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compressed bases: linear combinations of columns. Appending a column is a combination, too: the new column is scaled,
   rounded and decoded again in registers. Each thread has one chunk of rows, and reads this chunk in all columns.
*/

#include "basis.cuh"

#define CB_UPDATE_THREADS 128
#define CB_UPDATE_BATCH   256 /* columns with coefficients in shared memory */
#define CB_UPDATE_UNROLL  8
#define CB_UPDATE_FETCHED 8 /* columns prefetched while another kernel computes the coefficients */

struct CBUpdateArguments {
  CBColumns        V;
  PetscInt         k;        /* columns 0 ... k-1 */
  const PetscReal *c;        /* coefficients of the columns */
  const PetscReal *sigma;    /* divisor of x - V c; NULL: 1 */
  double           factor;   /* of c */
  double           scale;    /* of x */
  const PetscReal *x;        /* NULL: zero */
  PetscReal       *z;        /* scale x - V factor c, or its stored form */
  double           down;     /* factor of z */
  const PetscReal *diagonal; /* factors of the entries of z, or NULL */
  PetscInt         column;   /* destination of the stored form; -1: none */
  CBSeconds        seconds;
  PetscInt         columns; /* first second part: the number of columns */
  bool             aligned;
};

/* t = t + f V for a chunk */
template <class F>
static __device__ __forceinline__ void CBAddColumn(const CBColumns &V, const typename F::Raw &raw, const double f[], double t[])
{
  const double scale = F::Scale(V, raw), re = f[0] * scale;
  double       q[F::width];

  F::Decode(V, raw, q);
#if CB_COMPONENTS == 2
  const double im = f[1] * scale;

  #pragma unroll
  for (int i = 0; i < F::width; i += 2) {
    t[i] += re * q[i];
    t[i + 1] += re * q[i + 1];
    t[i] -= im * q[i + 1];
    t[i + 1] += im * q[i];
  }
#else
  #pragma unroll
  for (int i = 0; i < F::width; i++) t[i] += re * q[i];
#endif
}

/* Adds `count` columns, in groups that are loaded together. The rest is added in groups of half the size, and finally
   as single columns */
template <class F, int together = CB_UPDATE_UNROLL>
static __device__ __forceinline__ void CBAddColumns(const CBColumns &V, const char *v, const char *e, size_t chunk, const double (*f)[CB_COMPONENTS], int count,
                                                    double t[])
{
  int column = 0;

#pragma unroll 1
  for (; column + together <= count; column += together) {
    typename F::Raw raw[together];

#pragma unroll
    for (int i = 0; i < together; i++, v += V.vbytes, e += V.ebytes) raw[i] = F::Load(V, v, e, chunk);
#pragma unroll
    for (int i = 0; i < together; i++) CBAddColumn<F>(V, raw[i], f[column + i], t);
  }
  if constexpr (together > 1) CBAddColumns<F, together / 2>(V, v, e, chunk, f + column, count - column, t);
}

/* Prefetches a block's part of x and of the first columns to the second-level cache */
template <class F>
static __device__ __forceinline__ void CBFetchFirst(const CBUpdateArguments &a)
{
  /* bytes: 0 if known at run time only */
  constexpr unsigned bytes = CB_UPDATE_THREADS * F::chunkbits / 8, lines = bytes ? bytes / CB_LINE : 1;
  const size_t       at      = static_cast<size_t>(blockIdx.x) * bytes;
  const unsigned     columns = a.k < CB_UPDATE_FETCHED ? static_cast<unsigned>(a.k) : CB_UPDATE_FETCHED;

  static_assert(bytes % CB_LINE == 0, "a block's part of a column begins with a line");
  for (unsigned i = threadIdx.x; bytes && i < columns * lines; i += CB_UPDATE_THREADS) {
    const size_t value = at + i % lines * CB_LINE;

    if (value < a.V.vbytes) CBPrefetch(a.V.values + i / lines * a.V.vbytes + value);
  }
  if (a.x) CBPrefetchVector<CB_UPDATE_THREADS, F::width>(a.x, a.V.n);
}

/* twice: some columns have second parts */
template <class F, bool twice>
static __global__ void __launch_bounds__(CB_UPDATE_THREADS) CBUpdateKernel(const __grid_constant__ CBUpdateArguments a)
{
  constexpr int width = F::width, m = CB_COMPONENTS;

  __shared__ double f[CB_UPDATE_BATCH][m];
  const CBColumns  &V   = a.V;
  const size_t      all = CBChunks<F>(V), here = static_cast<size_t>(blockIdx.x) * CB_UPDATE_THREADS + threadIdx.x;
  const bool        there = here < all;
  /* a thread without a chunk reads a chunk of the first 32 numbers */
  const size_t chunk = there ? here : threadIdx.x % (LITHE_FRSZ2_BLOCK / width);
  double       t[width], x[width];

  /* Another kernel still computes the coefficients */
  CBFetchFirst<F>(a);

  const PetscReal *const c      = PDLWait(a.c);
  const double           over   = a.sigma ? (*a.sigma > 0 ? 1 / static_cast<double>(*a.sigma) : 0) : 1;
  const double           factor = over * a.factor, scale = over * a.scale;

#pragma unroll
  for (int i = 0; i < width; i++) t[i] = 0;
  for (PetscInt from = 0; from < a.k; from += CB_UPDATE_BATCH) {
    const int   count = static_cast<int>(a.k - from < CB_UPDATE_BATCH ? a.k - from : CB_UPDATE_BATCH);
    const char *v = V.values + static_cast<size_t>(from) * V.vbytes, *e = V.exponents + static_cast<size_t>(from) * V.ebytes;

    __syncthreads();
    for (int i = threadIdx.x; i < m * count; i += CB_UPDATE_THREADS) (&f[0][0])[i] = factor * c[m * from + i];
    __syncthreads();
    CBAddColumns<F>(V, v, e, chunk, f, count, t);
  }
  if (twice && a.seconds.count) {
    const size_t from = static_cast<size_t>(a.columns + a.seconds.first);

    __syncthreads();
    for (int i = threadIdx.x; i < m * a.seconds.count; i += CB_UPDATE_THREADS) (&f[0][0])[i] = factor * c[m * a.seconds.first + i];
    __syncthreads();
    CBAddColumns<F, 1>(V, V.values + from * V.vbytes, V.exponents + from * V.ebytes, chunk, f, static_cast<int>(a.seconds.count), t);
  }

  /* the diagonal is prefetched during the load of x, without registers */
  if (a.diagonal) CBPrefetchVector<CB_UPDATE_THREADS, width>(a.diagonal, V.n);

  /* x - t, with zeros after the end: the last block of numbers is filled with zeros */
  if (a.x) CBReadVector<width>(a.x, a.aligned, here * width, V.n, x);
#pragma unroll
  for (int i = 0; i < width; i++) {
    const double difference = (a.x ? scale * x[i] : 0) - t[i];

    t[i] = here * width + i < V.n ? static_cast<PetscReal>(difference) : 0;
  }
  if (twice && a.seconds.to >= 0) {
#pragma unroll
    for (int i = 0; i < width; i++) x[i] = t[i];
    CBEncodeTwice<F>(V, a.column, a.seconds.to, here, there, x, t);
  } else if (a.column >= 0)
    F::Encode(V, V.values + static_cast<size_t>(a.column) * V.vbytes, V.exponents + static_cast<size_t>(a.column) * V.ebytes, here, there, t, t);
  CBWriteVector<width>(a.z, a.aligned, here * width, V.n, a.down, a.diagonal, t);
}

static PetscErrorCode CBUpdate(const CBDevice *d, CBUpdateArguments a)
{
  cudaStream_t stream;
  bool         pdl;

  PetscFunctionBegin;
  if (!d->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAHasPDL(&pdl));
  a.V       = CBGetColumns(d);
  a.columns = d->columns;
  a.aligned = CBIsAligned(a.x) && CBIsAligned(a.z) && CBIsAligned(a.diagonal);
  PetscCall(CBDispatch<true>(d, [&](auto format) {
    using F = decltype(format);

    const unsigned int blocks = static_cast<unsigned int>((CBChunks<F>(a.V) + CB_UPDATE_THREADS - 1) / CB_UPDATE_THREADS);

    (void)PDLLaunch(a.seconds.count || a.seconds.to >= 0 ? CBUpdateKernel<F, true> : CBUpdateKernel<F, false>, pdl, dim3(blocks), dim3(CB_UPDATE_THREADS), 0,
                    stream, a);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBSubtract(const CBDevice *d, PetscInt k, CBSeconds seconds, PetscReal *dw)
{
  CBUpdateArguments a = {};

  PetscFunctionBegin;
  a.k       = k;
  a.seconds = seconds;
  a.c       = reinterpret_cast<const PetscReal *>(d->scalars.c);
  a.factor  = d->down;
  a.scale   = 1;
  a.x       = dw;
  a.z       = dw;
  a.down    = 1;
  a.column  = -1;
  PetscCall(CBUpdate(d, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBAppend(const CBDevice *d, PetscInt k, CBSeconds seconds, const PetscReal *dw, const PetscReal *ddiagonal, PetscReal *dz)
{
  CBUpdateArguments a = {};

  PetscFunctionBegin;
  a.k        = k;
  a.seconds  = seconds;
  a.c        = reinterpret_cast<const PetscReal *>(d->scalars.c);
  a.sigma    = reinterpret_cast<const PetscReal *>(d->scalars.hessenberg + static_cast<size_t>(k - 1) * d->scalars.ld + k);
  a.factor   = 1;
  a.scale    = d->up;
  a.x        = dw;
  a.z        = dz;
  a.down     = d->down;
  a.diagonal = ddiagonal;
  a.column   = k;
  PetscCall(CBUpdate(d, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDACBCombine(const CBDevice *d, PetscInt k, CBSeconds seconds, const PetscScalar y[], PetscReal *dx)
{
  CBUpdateArguments a = {};
  cudaStream_t      stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  /* y is pageable memory, so the copy has read y at return */
  PetscCallCUDA(cudaMemcpyAsync(d->y, y, k * sizeof(*y), cudaMemcpyHostToDevice, stream));
  a.k       = k;
  a.seconds = seconds;
  a.c       = reinterpret_cast<const PetscReal *>(d->y);
  a.factor  = -static_cast<double>(d->down);
  a.z       = dx;
  a.down    = 1;
  a.column  = -1;
  PetscCall(CBUpdate(d, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}
