/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of PCGRIDMG with de Zeeuw's interpolation on a device: the operations of src/pc/gridmg/stencil/host.c.

   Neighbours outside of the grid have codes 0. Kernels with codes therefore check only whether the number of a
   neighbour is within the array.
*/

#include "stencilvalue.cuh"
#include "../../common/largest.cuh"

#define GRIDMG_THREADS 256
#define GRIDMG_WARP    32

static inline unsigned int BlocksFor(PetscInt64 n)
{
  return static_cast<unsigned int>((n + GRIDMG_THREADS - 1) / GRIDMG_THREADS);
}

/* ------------------------------------------------------------ vectors of the matrix */

static __global__ void __launch_bounds__(GRIDMG_THREADS) LargestKernel(PetscInt64 n, const PetscReal *__restrict__ x, unsigned long long *__restrict__ largest)
{
  unsigned long long most = 0;

  for (PetscInt64 i = static_cast<PetscInt64>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x; i < n; i += static_cast<PetscInt64>(gridDim.x) * GRIDMG_THREADS)
    most = LitheLargestOf(most, static_cast<double>(x[i]));
  LitheLargestPut(most, largest);
}

template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  EnterKernel(PetscInt64 n, const PetscReal *__restrict__ x, const double *__restrict__ scale, T *__restrict__ b)
{
  const PetscInt64 i = static_cast<PetscInt64>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x;

  if (i < n) b[i] = static_cast<T>(LitheMGScaleOf(*scale) * static_cast<double>(x[i]));
}

/* The two factors are applied in turn: their product may be out of range */
template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  LeaveKernel(PetscInt64 n, double factor, const double *__restrict__ scale, const T *__restrict__ x, PetscReal *__restrict__ y)
{
  const PetscInt64 i = static_cast<PetscInt64>(blockIdx.x) * GRIDMG_THREADS + threadIdx.x;

  if (i < n) y[i] = static_cast<PetscReal>(1 / LitheMGScaleOf(*scale) * (factor * static_cast<double>(x[i])));
}

/* One of several processes may have no points */
PetscErrorCode LitheCUDAGridMGStencilLargest(const GridMGStencilOperator *op, const PetscScalar *x, double *largest)
{
  const PetscInt64 n    = static_cast<PetscInt64>(op->grid.cells) * GRIDMG_PARTS;
  const PetscReal *real = reinterpret_cast<const PetscReal *>(x);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCallCUDA(cudaMemsetAsync(largest, 0, sizeof(*largest), stream));
  if (n) LargestKernel<<<PetscMin(2048u, BlocksFor(n)), GRIDMG_THREADS, 0, stream>>>(n, real, reinterpret_cast<unsigned long long *>(largest));
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilEnter(const GridMGStencilOperator *op, const PetscScalar *x, const double *largest, void *b)
{
  const PetscInt64 n    = static_cast<PetscInt64>(op->grid.cells) * GRIDMG_PARTS;
  const PetscReal *real = reinterpret_cast<const PetscReal *>(x);

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    EnterKernel<T><<<BlocksFor(n), GRIDMG_THREADS, 0, stream>>>(n, real, largest, static_cast<T *>(b));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilLeave(const GridMGStencilOperator *op, double factor, const double *largest, const void *x, PetscScalar *y)
{
  const PetscInt64 n = static_cast<PetscInt64>(op->grid.cells) * GRIDMG_PARTS;

  PetscFunctionBegin;
  if (!n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    LeaveKernel<T><<<BlocksFor(n), GRIDMG_THREADS, 0, stream>>>(n, factor, largest, static_cast<const T *>(x), reinterpret_cast<PetscReal *>(y));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ smoothers */

template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  StartKernel(GridMGDims g, int colour, T c, const Value<T> *__restrict__ factor, const Value<T> *__restrict__ b, Value<T> *__restrict__ x)
{
  const int i = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (i < g.cells) x[i] = c != 0 && HasColour(g, colour, i) ? Product(c, factor[i], b[i]) : Value<T>{};
}

PetscErrorCode LitheCUDAGridMGStencilStart(const GridMGStencilOperator *op, int colour, double c, const void *b, void *x)
{
  const GridMGDims g = GridMGDimsOf(&op->grid, GRIDMG_THREADS);

  PetscFunctionBegin;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    StartKernel<T><<<BlocksFor(g.cells), GRIDMG_THREADS, 0, stream>>>(g, colour, static_cast<T>(c), static_cast<const Value<T> *>(op->factor),
                                                                      static_cast<const Value<T> *>(b), static_cast<Value<T> *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A x at a point. Other threads may write x at points without influence on this point */
template <int dim, class T, class Code>
static __device__ __forceinline__ Value<T> Times(const Operator<T, Code> &op, int i, const Value<T> *x)
{
  using Box          = GridMGStencilBox<dim>;
  const Value<T> own = x[i];
  const T        s0  = op.scale[i];
  Value<T>       sum{};

  const CodesOf<Box::points, Code> codes(op.code, i);

  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    if constexpr (S != Box::centre) {
      const int      j  = min(op.g.cells - 1, max(0, i + GridMGDistance<Q>(op.g)));
      const T        s1 = op.scale[j], both = s0 < s1 ? s0 : s1;
      const Value<T> there = x[j];
      Value<T>       d;

#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) d.p[p] = both * (there.p[p] - own.p[p]);
      AddProduct(sum, codes.template Get<T>(S), d);
    }
  });
  AddProduct(sum, op.sigma[i], own); /* last, as on the host */
  return sum;
}

template <int dim, class T, class Code>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  ResidualKernel(Operator<T, Code> op, const Value<T> *__restrict__ b, const Value<T> *__restrict__ x, Value<T> *__restrict__ r)
{
  const int i = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (i >= op.g.cells) return;
  Value<T> v = Times<dim>(op, i, x);

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) r[i].p[p] = b ? b[i].p[p] - v.p[p] : v.p[p];
}

template <int dim, class T, class Code>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  StepKernel(Operator<T, Code> op, T c, const Value<T> *__restrict__ b, const Value<T> *__restrict__ x, Value<T> *__restrict__ out)
{
  const int i = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (i < op.g.cells) out[i] = Corrected(op, c, i, b[i], x[i], Times<dim>(op, i, x));
}

template <int dim, class T, class Code>
static __global__ void __launch_bounds__(GRIDMG_THREADS) ColourKernel(Operator<T, Code> op, Colour colour, const Value<T> *__restrict__ b, Value<T> *x)
{
  const int k = static_cast<int>(blockIdx.x * GRIDMG_THREADS + threadIdx.x);

  if (k >= colour.points) return;
  const int i = colour.Point<dim>(op.g, k);

  x[i] = Corrected(op, T(1), i, b[i], x[i], Times<dim>(op, i, x));
}

/* Tiles pay off for long lines */
static bool HasTiles(const GridMGStencilOperator *op)
{
  return op->grid.dim == 3 && op->grid.n[0] >= GRIDMG_WARP;
}

PetscErrorCode LitheCUDAGridMGStencilResidual(const GridMGStencilOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  if (b && HasTiles(op)) {
    PetscCall(LitheCUDAGridMGStencilResidualTile(op, b, x, r));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using V = Value<decltype(number)>;

    ResidualKernel<decltype(dim)::value>
      <<<BlocksFor(o.g.cells), GRIDMG_THREADS, 0, stream>>>(o, static_cast<const V *>(b), static_cast<const V *>(x), static_cast<V *>(r));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In one and two dimensions, two kernels */
PetscErrorCode LitheCUDAGridMGStencilDown(const GridMGStencilOperator *op, double c, const void *b, void *x, void *r)
{
  PetscFunctionBegin;
  if (op->grid.dim == 3) PetscCall(LitheCUDAGridMGStencilDownTile(op, c, b, r));
  else {
    PetscCall(LitheCUDAGridMGStencilStart(op, -1, c, b, x));
    PetscCall(LitheCUDAGridMGStencilResidual(op, b, x, r));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilStep(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  PetscFunctionBegin;
  if (HasTiles(op)) {
    PetscCall(LitheCUDAGridMGStencilStepTile(op, c, b, x, out));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using T = decltype(number);

    StepKernel<decltype(dim)::value><<<BlocksFor(o.g.cells), GRIDMG_THREADS, 0, stream>>>(o, static_cast<T>(c), static_cast<const Value<T> *>(b),
                                                                                          static_cast<const Value<T> *>(x), static_cast<Value<T> *>(out));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilColour(const GridMGStencilOperator *op, int colour, const void *b, void *x)
{
  const Colour points = ColourOf(op, colour);

  PetscFunctionBegin;
  if (!points.points) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using V = Value<decltype(number)>;

    ColourKernel<decltype(dim)::value><<<BlocksFor(points.points), GRIDMG_THREADS, 0, stream>>>(o, points, static_cast<const V *>(b), static_cast<V *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ between levels */

/* A coarse point sums over the fine points around twice its number */
template <int dim, class T>
static __global__ void __launch_bounds__(GRIDMG_LINE)
  RestrictKernel(GridMGDims f, GridMGDims c, const T *__restrict__ weight, const Value<T> *__restrict__ r, Value<T> *__restrict__ b)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(c, 1);
  const int         x = 2 * at.x, y = 2 * at.y, z = 2 * at.z, i = x + f.n[0] * (y + f.n[1] * z);
  Value<T>          sum{};

  if (at.x >= c.n[0]) return;
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int Q = decltype(s)::value + Box::shift, C = GridMGLower(Q);
    const int     fx = x + GridMGOff(Q, 0), fy = y + GridMGOff(Q, 1), fz = z + GridMGOff(Q, 2), j = i + GridMGDistance<Q>(f);

    if (fx < 0 || fx >= f.n[0] || fy < 0 || fy >= f.n[1] || fz < 0 || fz >= f.n[2]) return;
    const T        w = weight[static_cast<size_t>(C) * static_cast<size_t>(f.cells) + static_cast<size_t>(j)];
    const Value<T> v = r[j];

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] += w * v.p[p];
  });
  b[at.i] = sum;
}

/* b: NULL, or the initial x is start divisor b, and x is not read */
template <int dim, class T>
static __global__ void __launch_bounds__(GRIDMG_LINE)
  ProlongKernel(GridMGDims f, GridMGDims c, T factor, const T *__restrict__ weight, const Value<T> *__restrict__ e, T start,
                const Value<T> *__restrict__ divisor, const Value<T> *__restrict__ b, Value<T> *__restrict__ x)
{
  const GridMGPlace at(f, 1);

  if (at.x >= f.n[0]) return;
  const Value<T> sum = Interpolated<dim>(f, c, weight, e, at.x, at.y, at.z, at.i);
  Value<T>       v   = b ? Product(start, divisor[at.i], b[at.i]) : x[at.i];

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] += factor * sum.p[p];
  x[at.i] = v;
}

PetscErrorCode LitheCUDAGridMGStencilRestrict(const GridMGStencilOperator *op, const GridMGPoints *coarse, const void *r, void *b)
{
  const int        threads = GridMGThreads(static_cast<int>(coarse->n[0]));
  const GridMGDims f = GridMGDimsOf(&op->grid, threads), c = GridMGDimsOf(coarse, threads);

  PetscFunctionBegin;
  PetscCall(WithDim(op, [&](cudaStream_t stream, auto number, auto dim) {
    using T = decltype(number);

    RestrictKernel<decltype(dim)::value>
      <<<GridMGBlocks(c, c.n[2]), threads, 0, stream>>>(f, c, static_cast<const T *>(op->weight), static_cast<const Value<T> *>(r), static_cast<Value<T> *>(b));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Prolong(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, double start, const void *b, void *x)
{
  const int        threads = GridMGThreads(static_cast<int>(op->grid.n[0]));
  const GridMGDims f = GridMGDimsOf(&op->grid, threads), c = GridMGDimsOf(coarse, threads);

  PetscFunctionBegin;
  PetscCall(WithDim(op, [&](cudaStream_t stream, auto number, auto dim) {
    using T = decltype(number);

    ProlongKernel<decltype(dim)::value><<<GridMGBlocks(f, f.n[2]), threads, 0, stream>>>(f, c, static_cast<T>(factor), static_cast<const T *>(op->weight),
                                                                                         static_cast<const Value<T> *>(e), static_cast<T>(start),
                                                                                         static_cast<const Value<T> *>(op->factor),
                                                                                         static_cast<const Value<T> *>(b), static_cast<Value<T> *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilProlong(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, void *x)
{
  PetscFunctionBegin;
  PetscCall(Prolong(op, coarse, factor, e, 0, nullptr, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilUp(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, double c, const void *b,
                                        void *x)
{
  PetscFunctionBegin;
  PetscCall(Prolong(op, coarse, factor, e, c, b, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* x = S L S b, a warp per row */
template <class T>
static __global__ void __launch_bounds__(GRIDMG_THREADS)
  DenseKernel(int n, const Value<T> *__restrict__ L, const T *__restrict__ S, const Value<T> *__restrict__ b, Value<T> *__restrict__ x)
{
  const int row = static_cast<int>((blockIdx.x * GRIDMG_THREADS + threadIdx.x) / GRIDMG_WARP), lane = static_cast<int>(threadIdx.x) % GRIDMG_WARP;
  Value<T>  sum{};

  if (row >= n) return;
  for (int j = lane; j < n; j += GRIDMG_WARP) {
    Value<T> v = b[j];

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] *= S[j];
    AddProduct(sum, L[static_cast<size_t>(row) * static_cast<size_t>(n) + static_cast<size_t>(j)], v);
  }
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) {
#pragma unroll
    for (int offset = GRIDMG_WARP / 2; offset > 0; offset /= 2) sum.p[p] += __shfl_xor_sync(0xffffffffu, sum.p[p], offset);
    if (lane == 0) x[row].p[p] = S[row] * sum.p[p];
  }
}

PetscErrorCode LitheCUDAGridMGStencilDense(const GridMGStencilOperator *op, const void *L, const void *S, const void *b, void *work, void *x)
{
  const int n = static_cast<int>(op->grid.cells);

  PetscFunctionBegin;
  (void)work;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    DenseKernel<T>
      <<<BlocksFor(static_cast<PetscInt64>(n) * GRIDMG_WARP), GRIDMG_THREADS, 0, stream>>>(n, static_cast<const Value<T> *>(L), static_cast<const T *>(S),
                                                                                           static_cast<const Value<T> *>(b), static_cast<Value<T> *>(x));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}
