/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Vectors of SBP-SAT multigrid: copies, inner products, sums, and functions for set-up and coarsest level */

#include <petscdevice.h>
#include "visit.cuh"

#define SBP_DENSE_THREADS  256
#define SBP_RESCALE_BLOCKS 512

/* ------------------------------------------------------------ pointwise */

/* Real numbers of an array, `step` apart */
template <class T>
struct SBPNumbers {
  T        *p;
  ptrdiff_t pitch;
  int       step;

  __device__ __forceinline__ T &operator()(int i, int j) const
  {
    return p[static_cast<ptrdiff_t>(j) * pitch + static_cast<ptrdiff_t>(i) * step];
  }
};

template <class T>
static SBPNumbers<T> SBPNumbersOf(const SBPGrid *g, SBPPrecision precision, int part, const void *x)
{
  const int step = precision == SBP_SCALAR && PetscDefined(USE_COMPLEX) ? 2 : 1;

  return SBPNumbers<T>{static_cast<T *>(const_cast<void *>(x)) + (step == 2 ? part : 0), static_cast<ptrdiff_t>(g->pitch) * step, step};
}

static bool SBPIsSingle(SBPPrecision precision)
{
  return precision == SBP_SINGLE || (precision == SBP_SCALAR && sizeof(PetscReal) == sizeof(float));
}

/* Calls launch(number, number) with the types of two precisions */
template <class Launch>
static PetscErrorCode SBPWithTypes(SBPPrecision px, SBPPrecision py, Launch launch)
{
  PetscFunctionBegin;
  if (SBPIsSingle(px) && SBPIsSingle(py)) PetscCall(launch(float{}, float{}));
  else if (SBPIsSingle(px)) PetscCall(launch(float{}, double{}));
  else if (SBPIsSingle(py)) PetscCall(launch(double{}, float{}));
  else PetscCall(launch(double{}, double{}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class X, class Y>
struct SBPCopyVisit {
  SBPNumbers<X> x;
  SBPNumbers<Y> y;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    y(i, j) = static_cast<Y>(x(i, j));
  }
};

PetscErrorCode LitheCUDASBPCopy(const SBPGrid *from, SBPPrecision px, int part, const void *x, const SBPGrid *to, SBPPrecision py, int topart, void *y)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(px, py, [&](auto a, auto b) {
    return SBPVisit(from, SBPCopyVisit<decltype(a), decltype(b)>{SBPNumbersOf<decltype(a)>(from, px, part, x), SBPNumbersOf<decltype(b)>(to, py, topart, y)});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class X, class Y>
struct SBPCopyScaledVisit {
  SBPNumbers<X> x;
  SBPNumbers<Y> y;
  SBPRatio      a;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    y(i, j) = static_cast<Y>(SBPNumber(a) * static_cast<double>(x(i, j)));
  }
};

PetscErrorCode LitheCUDASBPCopyScaled(const SBPGrid *from, SBPPrecision px, int part, const void *x, const SBPGrid *to, SBPPrecision py, int topart, void *y,
                                      SBPRatio a)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(px, py, [&](auto p, auto q) {
    return SBPVisit(from, SBPCopyScaledVisit<decltype(p), decltype(q)>{SBPNumbersOf<decltype(p)>(from, px, part, x),
                                                                       SBPNumbersOf<decltype(q)>(to, py, topart, y), a});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Like SBPVisitKernel; all threads reach the end */
static __global__ void __launch_bounds__(SBP_VECTOR_THREADS)
  SBPCopyLargestKernel(SBPNodes nodes, int columnblocks, SBPNumbers<double> x, SBPNumbers<float> y, unsigned int *largest)
{
  const int i       = static_cast<int>(blockIdx.x) % columnblocks * SBP_VECTOR_THREADS + static_cast<int>(threadIdx.x),
            rows    = static_cast<int>(gridDim.x) / columnblocks;
  unsigned int word = 0;

  if (i < nodes.count[0]) {
    for (int j = static_cast<int>(blockIdx.x) / columnblocks; j < nodes.count[1]; j += rows) {
      const double       number = SBPRead(&x(i, j));
      const unsigned int upper  = SBPUpperWord(number);

      word    = upper > word ? upper : word;
      y(i, j) = static_cast<float>(number);
    }
  }
  SBPNoteLargest(word, largest);
}

PetscErrorCode LitheCUDASBPCopyLargest(const SBPGrid *from, SBPPrecision precision, int part, const void *x, const SBPGrid *to, void *y, SBPScale *scale,
                                       int turn)
{
  const SBPNodes nodes = SBPOwnNodes(from);
  int            columnblocks;
  const int      blocks = SBPVisitBlocks(nodes, &columnblocks);
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCheck(!SBPIsSingle(precision), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Numbers in single precision need no scale");
  PetscCall(LitheGraphGetStream(&stream));
  if (blocks) {
    SBPCopyLargestKernel<<<blocks, SBP_VECTOR_THREADS, 0, stream>>>(nodes, columnblocks, SBPNumbersOf<double>(from, precision, part, x),
                                                                    SBPNumbersOf<float>(to, SBP_SINGLE, 0, y), scale->largest[turn]);
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each block computes the scale. If the scale is 1, the few blocks of the launch end at once */
static __global__ void __launch_bounds__(SBP_VECTOR_THREADS)
  SBPRescaleKernel(SBPNodes nodes, SBPNumbers<double> x, SBPNumbers<float> y, SBPScale *scale, int turn)
{
  __shared__ double shared;

  static_assert(SBP_SCALE_SLOTS == SBP_WARP, "a warp has a lane per slot");
  if (threadIdx.x < SBP_WARP) {
    const unsigned int word = SBPWarpLargest(scale->largest[turn][threadIdx.x * SBP_SCALE_STRIDE]);

    if (threadIdx.x == 0) shared = SBPScaleOf(word, SBP_SCALE_WINDOW);
  }
  __syncthreads();
  const double in = shared;

  if (blockIdx.x == 0) {
    if (threadIdx.x < SBP_SCALE_SLOTS) scale->largest[1 - turn][threadIdx.x * SBP_SCALE_STRIDE] = 0;
    if (threadIdx.x == 0) {
      scale->in  = in;
      scale->out = 1 / in;
    }
  }
  if (in == 1) return;
  for (int j = static_cast<int>(blockIdx.x); j < nodes.count[1]; j += static_cast<int>(gridDim.x))
    for (int i = static_cast<int>(threadIdx.x); i < nodes.count[0]; i += SBP_VECTOR_THREADS) y(i, j) = static_cast<float>(in * SBPRead(&x(i, j)));
}

PetscErrorCode LitheCUDASBPRescale(const SBPGrid *from, SBPPrecision precision, int part, const void *x, const SBPGrid *to, void *y, SBPScale *scale, int turn)
{
  const SBPNodes nodes  = x ? SBPOwnNodes(from) : SBPNodes{{0, 0}};
  const int      blocks = nodes.count[1] < SBP_RESCALE_BLOCKS ? (nodes.count[1] > 0 ? nodes.count[1] : 1) : SBP_RESCALE_BLOCKS;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCheck(!SBPIsSingle(precision), PETSC_COMM_SELF, PETSC_ERR_PLIB, "Numbers in single precision need no scale");
  PetscCall(LitheGraphGetStream(&stream));
  SBPRescaleKernel<<<blocks, SBP_VECTOR_THREADS, 0, stream>>>(nodes, x ? SBPNumbersOf<double>(from, precision, part, x) : SBPNumbers<double>{},
                                                              x ? SBPNumbersOf<float>(to, SBP_SINGLE, 0, y) : SBPNumbers<float>{}, scale, turn);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class X, class Y>
struct SBPAXPBYVisit {
  SBPNumbers<X> x;
  SBPNumbers<Y> y;
  double        a, b;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    /* single precision if both types are single */
    using T = decltype(X() + Y());
    T s     = static_cast<T>(a) * static_cast<T>(x(i, j));

    if (b != 0) s += static_cast<T>(b) * static_cast<T>(y(i, j));
    y(i, j) = static_cast<Y>(s);
  }
};

PetscErrorCode LitheCUDASBPAXPBY(const SBPGrid *g, double a, SBPPrecision px, const void *x, double b, SBPPrecision py, void *y)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(px, py, [&](auto p, auto q) {
    return SBPVisit(g, SBPAXPBYVisit<decltype(p), decltype(q)>{SBPNumbersOf<decltype(p)>(g, px, 0, x), SBPNumbersOf<decltype(q)>(g, py, 0, y), a, b});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class V>
struct SBPMultiplyVisit {
  SBPNumbers<V>             x, y, z;
  typename SBPReal<V>::type a;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    z(i, j) = a * (x(i, j) * y(i, j));
  }
};

PetscErrorCode LitheCUDASBPMultiply(const SBPGrid *g, SBPPrecision precision, double a, const void *x, const void *y, void *z)
{
  PetscFunctionBegin;
  PetscCall(SBPWithType(precision, [&](auto number) {
    using V   = decltype(number);
    auto View = [&](const void *p) { return SBPNumbers<V>{static_cast<V *>(const_cast<void *>(p)), static_cast<ptrdiff_t>(g->pitch), 1}; };

    return SBPVisit(g, SBPMultiplyVisit<V>{View(x), View(y), View(z), static_cast<typename SBPReal<V>::type>(a)});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
struct SBPReciprocalVisit {
  SBPNumbers<T> x;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    x(i, j) = 1 / x(i, j);
  }
};

PetscErrorCode LitheCUDASBPReciprocal(const SBPGrid *g, SBPPrecision precision, void *x)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(precision, precision,
                         [&](auto a, auto) { return SBPVisit(g, SBPReciprocalVisit<decltype(a)>{SBPNumbersOf<decltype(a)>(g, precision, 0, x)}); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
struct SBPCombineVisit {
  SBPNumbers<T> w, x, y;
  SBPRatio      a, b;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    T s = static_cast<T>(SBPNumber(a)) * x(i, j);

    if (w.p) s *= w(i, j);
    if (b.factor != 0) s += static_cast<T>(SBPNumber(b)) * y(i, j);
    y(i, j) = s;
  }
};

PetscErrorCode LitheCUDASBPCombine(const SBPGrid *g, SBPPrecision precision, SBPRatio a, const void *w, const void *x, SBPRatio b, void *y)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(precision, precision, [&](auto number, auto) {
    using T = decltype(number);

    return SBPVisit(g, SBPCombineVisit<T>{SBPNumbersOf<T>(g, precision, 0, w), SBPNumbersOf<T>(g, precision, 0, x), SBPNumbersOf<T>(g, precision, 0, y), a, b});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
struct SBPNoiseVisit {
  SBPNumbers<T> x;
  PetscInt      start[2];

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    x(i, j) = static_cast<T>(SBPNoise(start[0] + i, start[1] + j));
  }
};

PetscErrorCode LitheCUDASBPNoise(const SBPGrid *g, SBPPrecision precision, void *x)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(precision, precision, [&](auto a, auto) {
    return SBPVisit(g, SBPNoiseVisit<decltype(a)>{SBPNumbersOf<decltype(a)>(g, precision, 0, x), {g->own.start[0], g->own.start[1]}});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ colours */

static __device__ __forceinline__ bool SBPHasColour(int i, int j, int colour)
{
  return i % 3 + 3 * (j % 3) == colour;
}

template <class T>
struct SBPMarkVisit {
  SBPNumbers<T> v;
  int           start[2], colour;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    v(i, j) = SBPHasColour(i + start[0], j + start[1], colour) ? 1 : 0;
  }
};

PetscErrorCode LitheCUDASBPMark(const SBPGrid *g, SBPPrecision precision, int colour, void *v)
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(precision, precision, [&](auto a, auto) {
    return SBPVisit(g, SBPMarkVisit<decltype(a)>{SBPNumbersOf<decltype(a)>(g, precision, 0, v),
                                                 {static_cast<int>(g->own.start[0]), static_cast<int>(g->own.start[1])},
                                                 colour});
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T>
struct SBPGatherVisit {
  SBPNumbers<T> o, coefficient[SBP_COEFFICIENTS];
  int           start[2], n[2], colour;

  __device__ __forceinline__ void operator()(int i, int j) const
  {
    const int gi = i + start[0], gj = j + start[1];

#pragma unroll
    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      const int ki = gi + (k == 1 || k == 3) - (k == 4), kj = gj + (k >= 2);

      if (ki >= 0 && ki <= n[0] && kj <= n[1] && SBPHasColour(ki, kj, colour)) coefficient[k](i, j) = o(i, j);
    }
  }
};

PetscErrorCode LitheCUDASBPGather(const SBPGrid *g, SBPPrecision precision, int colour, const void *o, void *const coefficient[SBP_COEFFICIENTS])
{
  PetscFunctionBegin;
  PetscCall(SBPWithTypes(precision, precision, [&](auto a, auto) {
    using T = decltype(a);
    SBPGatherVisit<T> v{SBPNumbersOf<T>(g, precision, 0, o),
                        {},
                        {static_cast<int>(g->own.start[0]), static_cast<int>(g->own.start[1])},
                        {static_cast<int>(g->n[0]), static_cast<int>(g->n[1])},
                        colour};

    for (int k = 0; k < SBP_COEFFICIENTS; k++) v.coefficient[k] = SBPNumbersOf<T>(g, precision, 0, coefficient[k]);
    return SBPVisit(g, v);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ inner products */

template <class T>
struct SBPWeightedTerm {
  SBPNumbers<T> x, w, y;

  __device__ __forceinline__ double operator()(int i, int j) const
  {
    return static_cast<double>(x(i, j)) * (w.p ? static_cast<double>(w(i, j)) : 1) * static_cast<double>(y(i, j));
  }
};

PetscErrorCode LitheCUDASBPSum(const SBPGrid *g, SBPPrecision precision, const void *x, const void *w, const void *y, double *sum)
{
  LitheScratch scratch;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetScratch(SBP_SCRATCH_BYTES, &scratch));
  PetscCall(SBPWithTypes(precision, precision, [&](auto number, auto) {
    using T = decltype(number);

    return SBPLaunchSum(g, SBPWeightedTerm<T>{SBPNumbersOf<T>(g, precision, 0, x), SBPNumbersOf<T>(g, precision, 0, w), SBPNumbersOf<T>(g, precision, 0, y)},
                        static_cast<double *>(scratch.device), sum);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* A warp per row */
template <class T>
static __global__ void __launch_bounds__(SBP_DENSE_THREADS) SBPDenseKernel(int n, const T *M, const T *x, T *y)
{
  const int row = static_cast<int>(blockIdx.x * (SBP_DENSE_THREADS / SBP_WARP) + threadIdx.x / SBP_WARP);
  T         s   = 0;

  if (row >= n) return;
  const T *m = M + static_cast<ptrdiff_t>(row) * n;

#pragma unroll 8
  for (int k = SBPLane(); k < n; k += SBP_WARP) s += SBPRead(m + k) * SBPRead(x + k);
#pragma unroll
  for (int offset = SBP_WARP / 2; offset > 0; offset /= 2) s += __shfl_xor_sync(0xffffffffu, s, offset);
  if (SBPLane() == 0) y[row] = s;
}

PetscErrorCode LitheCUDASBPDense(PetscInt n, SBPPrecision precision, const void *M, const void *x, void *y)
{
  constexpr int rows   = SBP_DENSE_THREADS / SBP_WARP;
  const int     blocks = static_cast<int>((n + rows - 1) / rows), size = static_cast<int>(n);
  cudaStream_t  stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (n > 0) {
    if (SBPIsSingle(precision))
      SBPDenseKernel<float>
        <<<blocks, SBP_DENSE_THREADS, 0, stream>>>(size, static_cast<const float *>(M), static_cast<const float *>(x), static_cast<float *>(y));
    else
      SBPDenseKernel<double>
        <<<blocks, SBP_DENSE_THREADS, 0, stream>>>(size, static_cast<const double *>(M), static_cast<const double *>(x), static_cast<double *>(y));
    PetscCallCUDA(cudaGetLastError());
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
