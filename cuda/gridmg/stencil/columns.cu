/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of PCGRIDMG with de Zeeuw's interpolation on a device, for 4 or 8 right-hand sides at once: the operations of
   stencilcycle.cu.

   Column c of point i is at [i K + c]. A thread has a point and 16 or 32 bytes of its columns. Successive threads
   therefore read successive memory, and all threads of a point read its codes together. The product of a code and a
   scale, a power of two, is exact: results equal the results for one column.
*/

#include "stencilvalue.cuh"

#define COLUMNS_THREADS 256
#define COLUMNS_WARP    32
#define COLUMNS_POINTS  64 /* points per block in kernels that move vectors */
#define COLUMNS_SHARE   4  /* chunks per point, at least, for two chunks per thread */

/* 16 bytes of the columns of a point */
template <class T>
struct alignas(16) Chunk {
  static constexpr int columns = 16 / static_cast<int>(sizeof(Value<T>));

  Value<T> c[columns];
};

/* Chunks per thread, which share decoded values. Lanes(): threads per point, whose chunks alternate */
template <int K, class T>
static constexpr __host__ __device__ int Chunks()
{
  return K / Chunk<T>::columns >= COLUMNS_SHARE ? 2 : 1;
}

template <int K, class T>
static constexpr __host__ __device__ int Lanes()
{
  return K / (Chunk<T>::columns * Chunks<K, T>());
}

/* The columns of a thread */
template <int K, class T>
struct Lane {
  static constexpr int columns = Chunk<T>::columns * Chunks<K, T>();

  Value<T> c[columns];
};

/* The column of the matrix with number k in lane g */
template <int K, class T>
static __device__ __forceinline__ int ColumnOf(int g, int k)
{
  return (g + k / Chunk<T>::columns * Lanes<K, T>()) * Chunk<T>::columns + k % Chunk<T>::columns;
}

/* The point and the lane of a thread */
template <int K, class T>
struct Item {
  int i, g;

  __device__ __forceinline__ Item()
  {
    const unsigned int k = blockIdx.x * COLUMNS_THREADS + threadIdx.x;

    i = static_cast<int>(k / Lanes<K, T>());
    g = static_cast<int>(k % Lanes<K, T>());
  }
};

/* The first chunk of a thread */
template <int K, class T>
static __device__ __forceinline__ size_t At(int i, int g)
{
  return static_cast<size_t>(i) * (Lanes<K, T>() * Chunks<K, T>()) + static_cast<size_t>(g);
}

template <int K, class T>
static __device__ __forceinline__ Lane<K, T> Read(const Chunk<T> *x)
{
  Lane<K, T> v;

#pragma unroll
  for (int q = 0; q < Chunks<K, T>(); q++) {
    const Chunk<T> from = x[q * Lanes<K, T>()];

#pragma unroll
    for (int c = 0; c < Chunk<T>::columns; c++) v.c[q * Chunk<T>::columns + c] = from.c[c];
  }
  return v;
}

template <int K, class T>
static __device__ __forceinline__ void Write(Chunk<T> *x, const Lane<K, T> &v)
{
#pragma unroll
  for (int q = 0; q < Chunks<K, T>(); q++) {
    Chunk<T> to;

#pragma unroll
    for (int c = 0; c < Chunk<T>::columns; c++) to.c[c] = v.c[q * Chunk<T>::columns + c];
    x[q * Lanes<K, T>()] = to;
  }
}

template <int K, class T>
static inline unsigned int BlocksFor(int points)
{
  return static_cast<unsigned int>((static_cast<PetscInt64>(points) * Lanes<K, T>() + COLUMNS_THREADS - 1) / COLUMNS_THREADS);
}

/*
   The point and the lane of a thread in kernels that read neighbours. In space, a block has a box of points. With lines
   of points, each block would load nine lines of neighbours for itself
*/
template <int dim, int K, class T>
struct Site {
  static constexpr int points = COLUMNS_THREADS / Lanes<K, T>(), nx = dim < 3 ? points : (points < 256 ? 8 : 16), ny = dim < 3 ? 1 : (points < 64 ? 2 : 4),
                       nz = points / (nx * ny);
  int  x, y, z, i, g;
  bool inside;

  __device__ __forceinline__ Site(const int n[3])
  {
    const int p = static_cast<int>(threadIdx.x) / Lanes<K, T>();

    g = static_cast<int>(threadIdx.x) % Lanes<K, T>();
    if constexpr (dim == 3) {
      x      = static_cast<int>(blockIdx.x) * nx + p % nx;
      y      = static_cast<int>(blockIdx.y) * ny + p / nx % ny;
      z      = static_cast<int>(blockIdx.z) * nz + p / (nx * ny);
      inside = x < n[0] && y < n[1] && z < n[2];
      i      = x + n[0] * (y + n[1] * z);
    } else {
      i      = static_cast<int>(blockIdx.x) * points + p;
      x      = i % n[0];
      y      = i / n[0] % n[1];
      z      = i / n[0] / n[1];
      inside = i < n[0] * n[1] * n[2];
    }
  }

  static dim3 Blocks(const int n[3])
  {
    if (dim == 3) return dim3((n[0] + nx - 1) / nx, (n[1] + ny - 1) / ny, (n[2] + nz - 1) / nz);
    return dim3((n[0] * n[1] * n[2] + points - 1) / points);
  }
};

/* ------------------------------------------------------------ vectors of the matrix */

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
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    LeaveKernel<K, T><<<BlocksOfPoints(op), COLUMNS_THREADS, 0, stream>>>(static_cast<int>(op->grid.cells), static_cast<int>(n), factor, scale,
                                                                          static_cast<const Value<T> *>(x), reinterpret_cast<Value<PetscReal> *>(y), ld);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ smoothers */

/* sum += e (there - own) */
template <int K, class T>
static __device__ __forceinline__ void AddDifferences(Lane<K, T> &sum, const Value<T> &e, const Lane<K, T> &there, const Lane<K, T> &own)
{
#pragma unroll
  for (int c = 0; c < Lane<K, T>::columns; c++) {
    Value<T> d;

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) d.p[p] = there.c[c].p[p] - own.c[c].p[p];
    AddProduct(sum.c[c], e, d);
  }
}

/* c factor b */
template <int K, class T>
static __device__ __forceinline__ Lane<K, T> Started(T c, const Value<T> &factor, const Lane<K, T> &b)
{
  Lane<K, T> v;

#pragma unroll
  for (int k = 0; k < Lane<K, T>::columns; k++) v.c[k] = Product(c, factor, b.c[k]);
  return v;
}

/* The vector x at the point j + away; with isstart, start factor b at the point */
template <int K, bool isstart, class T>
static __device__ __forceinline__ Lane<K, T> Vector(T start, const Value<T> *factor, const Chunk<T> *xj, int away)
{
  const Lane<K, T> v = Read<K>(xj + away * (Lanes<K, T>() * Chunks<K, T>()));

  if constexpr (isstart) return Started(start, factor[away], v);
  else return v;
}

/* A x at a point. Other threads may write x at points without influence on this point. isstart: the vector is start
   factor x */
template <int dim, int K, bool isstart, class T, class Code>
static __device__ __forceinline__ Lane<K, T> Times(const Operator<T, Code> &op, T start, int i, int g, const Chunk<T> *x, const Lane<K, T> &own)
{
  using Box            = GridMGStencilBox<dim>;
  const T        s0    = op.scale[i];
  Lane<K, T>     sum   = {};
  const Value<T> sigma = op.sigma[i];

  const CodesOf<Box::points, Code> codes(op.code, i);

  /* A line of neighbours can be outside of the arrays as a whole, and is then moved inside. Arrays have one more point
     at both ends */
  GridMGUnroll<0, Box::points / 3>([&](auto line) {
    constexpr int   L  = decltype(line)::value;
    const int       j  = min(op.g.cells - 1, max(0, i + GridMGDistance<3 * L + 1 + Box::shift>(op.g)));
    const Chunk<T> *xj = x + At<K, T>(j, g);
    const T        *sj = op.scale + j;

    GridMGUnroll<0, 3>([&](auto place) {
      constexpr int S = 3 * L + decltype(place)::value, away = decltype(place)::value - 1;

      if constexpr (S != Box::centre) {
        const T  s1 = sj[away], both = s0 < s1 ? s0 : s1;
        Value<T> e = codes.template Get<T>(S);

#pragma unroll
        for (int p = 0; p < GRIDMG_PARTS; p++) e.p[p] *= both;
        AddDifferences(sum, e, Vector<K, isstart>(start, op.factor + j, xj, away), own);
      }
    });
  });
#pragma unroll
  for (int c = 0; c < Lane<K, T>::columns; c++) AddProduct(sum.c[c], sigma, own.c[c]); /* last, as on the host */
  return sum;
}

/* x + c factor (b - A x) */
template <int K, class T>
static __device__ __forceinline__ Lane<K, T> Corrected(T c, const Value<T> &factor, const Lane<K, T> &b, const Lane<K, T> &x, const Lane<K, T> &Ax)
{
  Lane<K, T> v;

#pragma unroll
  for (int k = 0; k < Lane<K, T>::columns; k++) {
    Value<T> r;

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) r.p[p] = b.c[k].p[p] - Ax.c[k].p[p];
    v.c[k] = Product(c, factor, r);
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.c[k].p[p] += x.c[k].p[p];
  }
  return v;
}

template <int K, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  StartKernel(GridMGDims g, int colour, T c, const Value<T> *__restrict__ factor, const Chunk<T> *__restrict__ b, Chunk<T> *__restrict__ x)
{
  const Item<K, T> item;

  if (item.i >= g.cells) return;
  const size_t at = At<K, T>(item.i, item.g);

  Write<K>(x + at, c != 0 && HasColour(g, colour, item.i) ? Started(c, factor[item.i], Read<K>(b + at)) : Lane<K, T>{});
}

template <int K>
static PetscErrorCode Start(const GridMGStencilOperator *op, int colour, double c, const void *b, void *x)
{
  const GridMGDims g = GridMGDimsOf(&op->grid, COLUMNS_THREADS);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    StartKernel<K, T><<<BlocksFor<K, T>(g.cells), COLUMNS_THREADS, 0, stream>>>(g, colour, static_cast<T>(c), static_cast<const Value<T> *>(op->factor),
                                                                                static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

enum Kind {
  RESIDUAL, /* b - A x; b may be NULL */
  STEP,     /* x + c factor (b - A x) */
  DOWN      /* b - A x with x = c factor b */
};

template <int dim, int K, Kind kind, class T, class Code>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  SweepKernel(Operator<T, Code> op, T c, const Chunk<T> *__restrict__ b, const Chunk<T> *__restrict__ x, Chunk<T> *__restrict__ out)
{
  constexpr bool        isstart = kind == DOWN;
  const Site<dim, K, T> item(op.g.n);

  if (!item.inside) return;
  const Chunk<T>  *vector = isstart ? b : x;
  const size_t     at     = At<K, T>(item.i, item.g);
  const Lane<K, T> own    = Vector<K, isstart>(c, op.factor + item.i, vector + at, 0);
  Lane<K, T>       v      = Times<dim, K, isstart>(op, c, item.i, item.g, vector, own);

  if constexpr (kind == STEP) v = Corrected(c, op.factor[item.i], Read<K>(b + at), own, v);
  else if (b) {
    const Lane<K, T> right = Read<K>(b + at);

#pragma unroll
    for (int k = 0; k < Lane<K, T>::columns; k++) {
#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) v.c[k].p[p] = right.c[k].p[p] - v.c[k].p[p];
    }
  }
  Write<K>(out + at, v);
}

/* The last step of a cycle; writes the result to y as LeaveKernel() does */
template <int dim, int K, class T, class Code>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  StepLeaveKernel(Operator<T, Code> op, T c, const Chunk<T> *__restrict__ b, const Chunk<T> *__restrict__ x, int n, double factor,
                  const double *__restrict__ found, Value<PetscReal> *__restrict__ y, PetscInt64 ld)
{
  __shared__ double     factors[K];
  const Site<dim, K, T> item(op.g.n);

  GetInverseFactors<K>(found, factors);
  if (!item.inside) return;
  const size_t     at  = At<K, T>(item.i, item.g);
  const Lane<K, T> own = Read<K>(x + at), v = Corrected(c, op.factor[item.i], Read<K>(b + at), own, Times<dim, K, false>(op, T(0), item.i, item.g, x, own));

#pragma unroll
  for (int k = 0; k < Lane<K, T>::columns; k++) {
    const int        column = ColumnOf<K, T>(item.g, k);
    Value<PetscReal> to;

    if (column >= n) continue;
    const double back = factors[column];

#pragma unroll
    for (int q = 0; q < GRIDMG_PARTS; q++) to.p[q] = static_cast<PetscReal>(back * (factor * static_cast<double>(v.c[k].p[q])));
    y[static_cast<PetscInt64>(column) * ld + item.i] = to;
  }
}

template <int dim, int K, class T, class Code>
static __global__ void __launch_bounds__(COLUMNS_THREADS) ColourKernel(Operator<T, Code> op, Colour colour, const Chunk<T> *__restrict__ b, Chunk<T> *x)
{
  const Item<K, T> item;

  if (item.i >= colour.points) return;
  const int        i   = colour.Point<dim>(op.g, item.i);
  const size_t     at  = At<K, T>(i, item.g);
  const Lane<K, T> own = Read<K>(x + at);

  Write<K>(x + at, Corrected(T(1), op.factor[i], Read<K>(b + at), own, Times<dim, K, false>(op, T(0), i, item.g, x, own)));
}

template <int K, Kind kind>
static PetscErrorCode Sweep(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  WithOperator(op, [&](auto o, auto number, auto dim) {
    using T = decltype(number);

    SweepKernel<decltype(dim)::value, K, kind>
      <<<Site<decltype(dim)::value, K, T>::Blocks(o.g.n), COLUMNS_THREADS, 0, stream>>>(o, static_cast<T>(c), static_cast<const Chunk<T> *>(b),
                                                                                        static_cast<const Chunk<T> *>(x), static_cast<Chunk<T> *>(out));
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode StepLeave(const GridMGStencilOperator *op, double c, const void *b, const void *x, PetscInt n, double factor, const double *scale,
                                PetscScalar *y, PetscInt ld)
{
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  WithOperator(op, [&](auto o, auto number, auto dim) {
    using T = decltype(number);

    StepLeaveKernel<decltype(dim)::value, K>
      <<<Site<decltype(dim)::value, K, T>::Blocks(o.g.n), COLUMNS_THREADS, 0, stream>>>(o, static_cast<T>(c), static_cast<const Chunk<T> *>(b),
                                                                                        static_cast<const Chunk<T> *>(x), static_cast<int>(n), factor, scale,
                                                                                        reinterpret_cast<Value<PetscReal> *>(y), ld);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode Residual(const GridMGStencilOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  PetscCall((Sweep<K, RESIDUAL>(op, 0, b, x, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode Step(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  PetscFunctionBegin;
  PetscCall((Sweep<K, STEP>(op, c, b, x, out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode Down(const GridMGStencilOperator *op, double c, const void *b, void *x, void *r)
{
  PetscFunctionBegin;
  (void)x;
  PetscCall((Sweep<K, DOWN>(op, c, b, nullptr, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode ColourStep(const GridMGStencilOperator *op, int colour, const void *b, void *x)
{
  const Colour points = ColourOf(op, colour);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  if (!points.points) PetscFunctionReturn(PETSC_SUCCESS);
  WithOperator(op, [&](auto o, auto number, auto dim) {
    using T = decltype(number);

    ColourKernel<decltype(dim)::value, K>
      <<<BlocksFor<K, T>(points.points), COLUMNS_THREADS, 0, stream>>>(o, points, static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ between levels */

/* sum += w v */
template <int K, class T>
static __device__ __forceinline__ void AddWeighted(Lane<K, T> &sum, T w, const Lane<K, T> &v)
{
#pragma unroll
  for (int c = 0; c < Lane<K, T>::columns; c++) {
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) sum.c[c].p[p] += w * v.c[c].p[p];
  }
}

/* A coarse point sums over the fine points around twice its number */
template <int dim, int K, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  RestrictKernel(GridMGDims f, GridMGDims c, const T *__restrict__ weight, const Chunk<T> *__restrict__ r, Chunk<T> *__restrict__ b)
{
  using Box = GridMGStencilBox<dim>;
  const Site<dim, K, T> item(c.n);
  Lane<K, T>            sum = {};

  if (!item.inside) return;
  const int x = 2 * item.x, y = 2 * item.y, z = 2 * item.z, i = x + f.n[0] * (y + f.n[1] * z);

  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int Q = decltype(s)::value + Box::shift, C = GridMGLower(Q);
    const int     fx = x + GridMGOff(Q, 0), fy = y + GridMGOff(Q, 1), fz = z + GridMGOff(Q, 2), j = i + GridMGDistance<Q>(f);

    if (fx < 0 || fx >= f.n[0] || fy < 0 || fy >= f.n[1] || fz < 0 || fz >= f.n[2]) return;
    AddWeighted(sum, weight[static_cast<size_t>(C) * static_cast<size_t>(f.cells) + static_cast<size_t>(j)], Read<K>(r + At<K, T>(j, item.g)));
  });
  Write<K>(b + At<K, T>(item.i, item.g), sum);
}

template <int K>
static PetscErrorCode Restrict(const GridMGStencilOperator *op, const GridMGPoints *coarse, const void *r, void *b)
{
  const GridMGDims f = GridMGDimsOf(&op->grid, COLUMNS_THREADS), c = GridMGDimsOf(coarse, COLUMNS_THREADS);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    GridMGWithDim(op->grid.dim, [&](auto dim) {
      RestrictKernel<decltype(dim)::value, K>
        <<<Site<decltype(dim)::value, K, T>::Blocks(c.n), COLUMNS_THREADS, 0, stream>>>(f, c, static_cast<const T *>(op->weight),
                                                                                        static_cast<const Chunk<T> *>(r), static_cast<Chunk<T> *>(b));
    });
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b: NULL, or the initial x is start divisor b, and x is not read */
template <int dim, int K, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  ProlongKernel(GridMGDims f, GridMGDims c, T factor, const T *__restrict__ weight, const Chunk<T> *__restrict__ e, T start,
                const Value<T> *__restrict__ divisor, const Chunk<T> *__restrict__ b, Chunk<T> *__restrict__ x)
{
  using Box = GridMGStencilBox<dim>;
  const Site<dim, K, T> item(f.n);
  const int             i = item.i, px = item.x, py = item.y, pz = item.z;
  Lane<K, T>            sum = {};

  if (!item.inside) return;
  const int odd = (px & 1) | (dim > 1 ? (py & 1) << 1 : 0) | (dim > 2 ? (pz & 1) << 2 : 0), to = px / 2 + c.n[0] * (py / 2 + c.n[1] * (pz / 2));

#pragma unroll
  for (int k = 0; k < Box::corners; k++) {
    if ((k & ~odd) != 0) continue;
    const T w = weight[static_cast<size_t>(k) * static_cast<size_t>(f.cells) + static_cast<size_t>(i)];

    /* a coarse point exists wherever a weight is not 0 */
    if (w != 0) AddWeighted(sum, w, Read<K>(e + At<K, T>(to + (k & 1) + c.n[0] * ((k >> 1 & 1) + c.n[1] * (k >> 2)), item.g)));
  }
  const size_t at = At<K, T>(i, item.g);
  Lane<K, T>   v  = b ? Started(start, divisor[i], Read<K>(b + at)) : Read<K>(x + at);

  AddWeighted(v, factor, sum);
  Write<K>(x + at, v);
}

template <int K>
static PetscErrorCode Up(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, double start, const void *b, void *x)
{
  const GridMGDims f = GridMGDimsOf(&op->grid, COLUMNS_THREADS), c = GridMGDimsOf(coarse, COLUMNS_THREADS);
  cudaStream_t     stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    GridMGWithDim(op->grid.dim, [&](auto dim) {
      ProlongKernel<decltype(dim)::value, K>
        <<<Site<decltype(dim)::value, K, T>::Blocks(f.n), COLUMNS_THREADS, 0, stream>>>(f, c, static_cast<T>(factor), static_cast<const T *>(op->weight),
                                                                                        static_cast<const Chunk<T> *>(e), static_cast<T>(start),
                                                                                        static_cast<const Value<T> *>(op->factor),
                                                                                        static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
    });
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode Prolong(const GridMGStencilOperator *op, const GridMGPoints *coarse, double factor, const void *e, void *x)
{
  PetscFunctionBegin;
  PetscCall(Up<K>(op, coarse, factor, e, 0, nullptr, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the coarsest level */

/* x = S L S b, a warp per row. The threads divide the entries like points */
template <int K, class T>
static __global__ void __launch_bounds__(COLUMNS_THREADS)
  DenseKernel(int n, const Value<T> *__restrict__ L, const T *__restrict__ S, const Chunk<T> *__restrict__ b, Chunk<T> *__restrict__ x)
{
  constexpr int lanes = Lanes<K, T>();
  const int     row = static_cast<int>((blockIdx.x * COLUMNS_THREADS + threadIdx.x) / COLUMNS_WARP), lane = static_cast<int>(threadIdx.x) % COLUMNS_WARP;
  const int     g   = lane % lanes;
  Lane<K, T>    sum = {};

  if (row >= n) return;
  for (int j = lane / lanes; j < n; j += COLUMNS_WARP / lanes) {
    const Value<T> entry = L[static_cast<size_t>(row) * static_cast<size_t>(n) + static_cast<size_t>(j)];
    const T        s     = S[j];
    Lane<K, T>     v     = Read<K>(b + At<K, T>(j, g));

#pragma unroll
    for (int c = 0; c < Lane<K, T>::columns; c++) {
#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) v.c[c].p[p] *= s;
      AddProduct(sum.c[c], entry, v.c[c]);
    }
  }
#pragma unroll
  for (int c = 0; c < Lane<K, T>::columns; c++) {
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) {
#pragma unroll
      for (int offset = COLUMNS_WARP / 2; offset >= lanes; offset /= 2) sum.c[c].p[p] += __shfl_xor_sync(0xffffffffu, sum.c[c].p[p], offset);
      sum.c[c].p[p] *= S[row];
    }
  }
  if (lane < lanes) Write<K>(x + At<K, T>(row, g), sum);
}

template <int K>
static PetscErrorCode Dense(const GridMGStencilOperator *op, const void *L, const void *S, const void *b, void *, void *x)
{
  const int    n = static_cast<int>(op->grid.cells);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithNumber(op, [&](auto number) {
    using T = decltype(number);

    DenseKernel<K, T>
      <<<static_cast<unsigned int>((n * COLUMNS_WARP + COLUMNS_THREADS - 1) / COLUMNS_THREADS), COLUMNS_THREADS, 0, stream>>>(n,
                                                                                                                              static_cast<const Value<T> *>(L),
                                                                                                                              static_cast<const T *>(S),
                                                                                                                              static_cast<const Chunk<T> *>(b),
                                                                                                                              static_cast<Chunk<T> *>(x));
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the tables */

template <int K>
static GridMGColumnsKernels TableOf()
{
  GridMGColumnsKernels t = {};

  t.columns         = K;
  t.enter           = Enter<K>;
  t.leave           = Leave<K>;
  t.stepleave       = StepLeave<K>;
  t.cycle.start     = Start<K>;
  t.cycle.colour    = ColourStep<K>;
  t.cycle.step      = Step<K>;
  t.cycle.residual  = Residual<K>;
  t.cycle.restrict_ = Restrict<K>;
  t.cycle.prolong   = Prolong<K>;
  t.cycle.down      = Down<K>;
  t.cycle.up        = Up<K>;
  t.cycle.dense     = Dense<K>;
  return t;
}

PetscErrorCode LitheCUDAGridMGColumnsGet(PetscInt n, const GridMGColumnsKernels **kernels)
{
  static const GridMGColumnsKernels four = TableOf<4>(), eight = TableOf<8>();

  PetscFunctionBegin;
  *kernels = n <= 4 ? &four : &eight;
  PetscFunctionReturn(PETSC_SUCCESS);
}
