/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG on a device: memory, and operations without faces */

#include "gridmg.cuh"
#include "../../common/blocksum.cuh"
#include "../../common/largest.cuh"
#include <petscdevice.h>

#define PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

/* Blocks of a sum, each with a partial sum */
#define SUM_BLOCKS 512

/* Blocks of the search for the largest number */
#define LARGEST_BLOCKS 1056

/* ------------------------------------------------------------ memory */

PetscErrorCode LitheCUDAGridMGAlloc(size_t n, void **x)
{
  PetscFunctionBegin;
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA)); /* as in LitheCUDAGridMGReserve() */
  PetscCallCUDA(cudaMalloc(x, n ? n : 1));
  PetscCall(LitheDeviceClear(n, *x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGFree(void **x)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(*x));
  *x = nullptr;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ in and out */

static __global__ void __launch_bounds__(GRIDMG_THREADS) LargestKernel(PetscInt n, const PetscReal *__restrict__ x, unsigned long long *largest)
{
  unsigned long long most = 0;

  for (PetscInt i = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x; i < n; i += static_cast<PetscInt>(gridDim.x) * GRIDMG_THREADS)
    most = LitheLargestOf(most, static_cast<double>(x[i * PARTS]));
  LitheLargestPut(most, largest);
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  EnterKernel(GridMGRows rows, PetscInt cells, PetscInt n, const PetscReal *__restrict__ x, V *__restrict__ b, const double *largest, double given)
{
  const PetscInt   i     = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x;
  const GridMGGrid grid  = {{0, 0, 0}, cells, n - cells};
  const double     scale = largest ? LitheMGScaleOf(*largest) : given;

  if (i < n) b[GridMGVertexOf(&grid, &rows, i)] = static_cast<V>(static_cast<double>(x[i * PARTS]) * scale);
}

PetscErrorCode LitheCUDAGridMGLargest(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, double *scale)
{
  const PetscInt     n    = op->grid.cells + op->grid.wells;
  const unsigned int most = GridMGBlocks(n, GRIDMG_THREADS * 4), blocks = most > LARGEST_BLOCKS ? LARGEST_BLOCKS : most;
  cudaStream_t       stream;

  PetscFunctionBegin;
  (void)rows;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(scale, 0, sizeof(double), stream));
  LargestKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(n, reinterpret_cast<const PetscReal *>(x) + part, reinterpret_cast<unsigned long long *>(scale));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode EnterBy(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, void *b, const double *largest, double given)
{
  const PetscInt   n    = op->grid.cells + op->grid.wells;
  const PetscReal *real = reinterpret_cast<const PetscReal *>(x) + part;

  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    EnterKernel<<<GridMGBlocks(n, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(*rows, op->grid.cells, n, real, static_cast<V *>(b), largest, given);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGEnter(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, void *b, double *scale)
{
  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGLargest(op, rows, part, x, scale));
  PetscCall(EnterBy(op, rows, part, x, b, scale, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGEnterScaled(const GridMGOperator *op, const GridMGRows *rows, int part, const PetscScalar *x, void *b, double scale)
{
  PetscFunctionBegin;
  PetscCall(EnterBy(op, rows, part, x, b, nullptr, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  LeaveKernel(GridMGRows rows, PetscInt cells, PetscInt n, double factor, const double *largest, const V *__restrict__ x, PetscReal *__restrict__ y)
{
  const PetscInt   i    = static_cast<PetscInt>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x;
  const GridMGGrid grid = {{0, 0, 0}, cells, n - cells};

  if (i < n) y[i * PARTS] = static_cast<PetscReal>(static_cast<double>(x[GridMGVertexOf(&grid, &rows, i)]) * factor * (1 / LitheMGScaleOf(*largest)));
}

PetscErrorCode LitheCUDAGridMGLeave(const GridMGOperator *op, const GridMGRows *rows, int part, double factor, const double *scale, const void *x,
                                    PetscScalar *y)
{
  const PetscInt n    = op->grid.cells + op->grid.wells;
  PetscReal     *real = reinterpret_cast<PetscReal *>(y) + part;

  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    LeaveKernel<<<GridMGBlocks(n, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(*rows, op->grid.cells, n, factor, scale, static_cast<const V *>(x), real);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ smoothing and transfers without faces */

static __device__ __forceinline__ int ParityOf(const int n[3], int c)
{
  const int line = c / n[0];

  return (c % n[0] + line % n[1] + line / n[1]) & 1;
}

static __device__ __forceinline__ int AggregateOf(const int n[3], const GridMGCoarseView &coarse, int c)
{
  const int line = c / n[0];

  return c % n[0] / coarse.by[0] + coarse.n[0] * (line % n[1] / coarse.by[1] + coarse.n[1] * (line / n[1] / coarse.by[2]));
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  StartKernel(const __grid_constant__ GridMGLevelView<V, float> l, int colour, const V *__restrict__ b, V *__restrict__ x)
{
  const int c = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (c >= l.cells + l.wells) return;
  x[c] = c < l.cells && ParityOf(l.n, c) == colour ? l.dinv[c] * b[c] : V(0);
}

PetscErrorCode LitheCUDAGridMGStart(const GridMGOperator *op, int colour, const void *b, void *x)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    StartKernel<<<GridMGBlocks(op->grid.cells + op->grid.wells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, float>(op), colour,
                                                                                                              static_cast<const V *>(b), static_cast<V *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A thread per coarse cell or well */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  RestrictKernel(const __grid_constant__ GridMGLevelView<V, float> l, const __grid_constant__ GridMGCoarseView coarse, const V *__restrict__ r,
                 V *__restrict__ b)
{
  const int C = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x), line = C / coarse.n[0];
  const int I[3] = {C % coarse.n[0], line % coarse.n[1], line / coarse.n[1]};
  V         sum  = 0;

  if (C >= coarse.cells + l.wells) return;
  if (C >= coarse.cells) {
    b[C] = r[l.cells + C - coarse.cells];
    return;
  }
  for (int k = I[2] * coarse.by[2]; k < min(l.n[2], (I[2] + 1) * coarse.by[2]); k++) {
    for (int j = I[1] * coarse.by[1]; j < min(l.n[1], (I[1] + 1) * coarse.by[1]); j++) {
      for (int i = I[0] * coarse.by[0]; i < min(l.n[0], (I[0] + 1) * coarse.by[0]); i++) {
        const int c = i + l.n[0] * (j + l.n[1] * k);

        if (!l.alive || l.alive[c]) sum += r[c];
      }
    }
  }
  b[C] = sum;
}

PetscErrorCode LitheCUDAGridMGRestrict(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], const void *r, void *b)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    RestrictKernel<<<GridMGBlocks(coarse->cells + op->grid.wells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, float>(op),
                                                                                                                GridMGViewCoarse(coarse, by),
                                                                                                                static_cast<const V *>(r), static_cast<V *>(b));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ProlongKernel(const __grid_constant__ GridMGLevelView<V, float> l, const __grid_constant__ GridMGCoarseView coarse, V factor, const V *__restrict__ e,
                V *__restrict__ x)
{
  const int c = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (c >= l.cells + l.wells) return;
  if (c >= l.cells) x[c] += factor * e[coarse.cells + c - l.cells];
  else if (!l.alive || l.alive[c]) x[c] += factor * e[AggregateOf(l.n, coarse, c)];
}

PetscErrorCode LitheCUDAGridMGProlong(const GridMGOperator *op, const GridMGGrid *coarse, const int by[3], double factor, const void *e, void *x)
{
  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V = decltype(v);
    ProlongKernel<<<GridMGBlocks(op->grid.cells + op->grid.wells, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(GridMGView<V, float>(op),
                                                                                                                GridMGViewCoarse(coarse, by),
                                                                                                                static_cast<V>(factor),
                                                                                                                static_cast<const V *>(e), static_cast<V *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the K cycle */

template <class V>
struct DotsArguments {
  const V *x, *y[GRIDMG_SUMS];
  int      n, count;
};

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS) DotsKernel(const __grid_constant__ DotsArguments<V> a, double *__restrict__ partial)
{
  double sum[GRIDMG_SUMS] = {0, 0, 0};

  for (int i = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x); i < a.n; i += static_cast<int>(gridDim.x * GRIDMG_THREADS)) {
    const double x = static_cast<double>(a.x[i]);

#pragma unroll
    for (int k = 0; k < GRIDMG_SUMS; k++) {
      if (k < a.count) sum[k] += x * static_cast<double>(a.y[k][i]);
    }
  }
#pragma unroll
  for (int k = 0; k < GRIDMG_SUMS; k++) {
    const double s = BlockSum<GRIDMG_THREADS>(sum[k]);

    if (threadIdx.x == 0) partial[k * SUM_BLOCKS + blockIdx.x] = s;
    __syncthreads();
  }
}

/* A block per sum */
static __global__ void __launch_bounds__(GRIDMG_THREADS) AddKernel(int n, const double *__restrict__ partial, double *__restrict__ sums)
{
  double sum = 0;

  for (int i = static_cast<int>(threadIdx.x); i < n; i += GRIDMG_THREADS) sum += partial[static_cast<int>(blockIdx.x) * SUM_BLOCKS + i];
  sum = BlockSum<GRIDMG_THREADS>(sum);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

PetscErrorCode LitheCUDAGridMGDots(const GridMGOperator *op, const void *x, int n, const void *const y[], double *sums)
{
  const PetscInt     size   = op->grid.cells + op->grid.wells;
  const unsigned int wanted = GridMGBlocks(size, 4 * GRIDMG_THREADS), blocks = wanted < SUM_BLOCKS ? wanted : SUM_BLOCKS;
  LitheScratch       scratch;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetScratch(GRIDMG_SUMS * SUM_BLOCKS * sizeof(double), &scratch));
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto v) {
    using V            = decltype(v);
    DotsArguments<V> a = {static_cast<const V *>(x), {nullptr, nullptr, nullptr}, static_cast<int>(size), n};

    for (int k = 0; k < n; k++) a.y[k] = static_cast<const V *>(y[k]);
    DotsKernel<<<blocks, GRIDMG_THREADS, 0, stream>>>(a, static_cast<double *>(scratch.device));
    AddKernel<<<static_cast<unsigned int>(n), GRIDMG_THREADS, 0, stream>>>(static_cast<int>(blocks), static_cast<const double *>(scratch.device), sums);
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a/b for positive b, otherwise 0 */
static __device__ __forceinline__ double Quotient(double a, double b)
{
  return b > 0 ? a / b : 0;
}

template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS) KFirstKernel(int n, const double *first, const V *__restrict__ v, V *__restrict__ b)
{
  const int i = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (i < n) b[i] += static_cast<V>(-Quotient(first[1], first[0])) * v[i];
}

PetscErrorCode LitheCUDAGridMGKFirst(const GridMGOperator *op, const double *first, const void *v, void *b)
{
  const PetscInt n = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto t) {
    using V = decltype(t);
    KFirstKernel<<<GridMGBlocks(n, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(static_cast<int>(n), first, static_cast<const V *>(v), static_cast<V *>(b));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* See GridMGKSecond_Host() */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  KSecondKernel(int n, const double *first, const double *second, const V *__restrict__ c, V *__restrict__ x)
{
  const int    i    = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);
  const double rho2 = second[1] - Quotient(second[0] * second[0], first[0]);
  const double ax   = rho2 > 1e-6 * second[1] ? second[2] / rho2 : 0;
  const double ac   = Quotient(first[1], first[0]) - Quotient(second[0], first[0]) * ax;

  if (i < n) x[i] = static_cast<V>(ax) * x[i] + static_cast<V>(ac) * c[i];
}

PetscErrorCode LitheCUDAGridMGKSecond(const GridMGOperator *op, const double *first, const double *second, const void *c, void *x)
{
  const PetscInt n = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto t) {
    using V = decltype(t);
    KSecondKernel<<<GridMGBlocks(n, GRIDMG_THREADS), GRIDMG_THREADS, 0, stream>>>(static_cast<int>(n), first, second, static_cast<const V *>(c),
                                                                                  static_cast<V *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* y = S L S b, or L S b with a triangle, a warp per row */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  DenseKernel(int n, bool triangular, const V *__restrict__ L, const V *__restrict__ S, const V *__restrict__ b, V *__restrict__ y)
{
  const int i = static_cast<int>((blockIdx.x * GRIDMG_THREADS + threadIdx.x) / GRIDMG_WARP), lane = static_cast<int>(threadIdx.x % GRIDMG_WARP);
  V         sum = 0;

  if (i >= n) return;
  for (int j = lane; j < (triangular ? i + 1 : n); j += GRIDMG_WARP) sum += L[static_cast<size_t>(i) * n + j] * (S[j] * b[j]);
#pragma unroll
  for (int offset = GRIDMG_WARP / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[i] = triangular ? sum : S[i] * sum;
}

/* x = S L^T y. A block has 32 columns, and each warp some of the rows */
template <class V>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  DenseTransposeKernel(int n, const V *__restrict__ L, const V *__restrict__ S, const V *__restrict__ y, V *__restrict__ x)
{
  __shared__ V part[GRIDMG_THREADS];
  const int    lane = static_cast<int>(threadIdx.x % GRIDMG_WARP), warp = static_cast<int>(threadIdx.x / GRIDMG_WARP);
  const int    i   = static_cast<int>(blockIdx.x) * GRIDMG_WARP + lane;
  V            sum = 0;

  for (int j = static_cast<int>(blockIdx.x) * GRIDMG_WARP + warp; j < n; j += GRIDMG_THREADS / GRIDMG_WARP) {
    if (i <= j) sum += L[static_cast<size_t>(j) * n + i] * y[j];
  }
  part[threadIdx.x] = sum;
  __syncthreads();
  if (warp || i >= n) return;
  for (int w = 1; w < GRIDMG_THREADS / GRIDMG_WARP; w++) sum += part[w * GRIDMG_WARP + lane];
  x[i] = S[i] * sum;
}

PetscErrorCode LitheCUDAGridMGDense(const GridMGOperator *op, const void *L, const void *S, const void *b, void *work, void *x)
{
  const PetscInt n = op->grid.cells + op->grid.wells;

  PetscFunctionBegin;
  PetscCall(GridMGLaunch(op, [&](cudaStream_t stream, auto t) {
    using V = decltype(t);
    DenseKernel<<<GridMGBlocks(n, GRIDMG_THREADS / GRIDMG_WARP), GRIDMG_THREADS, 0, stream>>>(static_cast<int>(n), static_cast<bool>(op->symmetric),
                                                                                              static_cast<const V *>(L), static_cast<const V *>(S),
                                                                                              static_cast<const V *>(b),
                                                                                              static_cast<V *>(op->symmetric ? work : x));
    if (op->symmetric) {
      DenseTransposeKernel<<<GridMGBlocks(n, GRIDMG_WARP), GRIDMG_THREADS, 0, stream>>>(static_cast<int>(n), static_cast<const V *>(L),
                                                                                        static_cast<const V *>(S), static_cast<const V *>(work),
                                                                                        static_cast<V *>(x));
    }
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
