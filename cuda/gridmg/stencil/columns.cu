/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Cycles of PCGRIDMG with de Zeeuw's interpolation on a device, for 4 or 8 right-hand sides at once: the operations of
   cycle.cu. The product of a code and a scale, a power of two, is exact: results equal the results for one column.
*/

#include "columnsends.cuh"

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

  PetscFunctionBegin;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    StartKernel<K, T><<<BlocksFor<K, T>(g.cells), COLUMNS_THREADS, 0, stream>>>(g, colour, static_cast<T>(c), static_cast<const Value<T> *>(op->factor),
                                                                                static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
  }));
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
  PetscFunctionBegin;
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using T = decltype(number);

    SweepKernel<decltype(dim)::value, K, kind>
      <<<Site<decltype(dim)::value, K, T>::Blocks(o.g.n), COLUMNS_THREADS, 0, stream>>>(o, static_cast<T>(c), static_cast<const Chunk<T> *>(b),
                                                                                        static_cast<const Chunk<T> *>(x), static_cast<Chunk<T> *>(out));
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <int K>
static PetscErrorCode StepLeave(const GridMGStencilOperator *op, double c, const void *b, const void *x, PetscInt n, double factor, const double *scale,
                                PetscScalar *y, PetscInt ld)
{
  PetscFunctionBegin;
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using T = decltype(number);

    StepLeaveKernel<decltype(dim)::value, K>
      <<<Site<decltype(dim)::value, K, T>::Blocks(o.g.n), COLUMNS_THREADS, 0, stream>>>(o, static_cast<T>(c), static_cast<const Chunk<T> *>(b),
                                                                                        static_cast<const Chunk<T> *>(x), static_cast<int>(n), factor, scale,
                                                                                        reinterpret_cast<Value<PetscReal> *>(y), ld);
  }));
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

  PetscFunctionBegin;
  if (!points.points) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(WithOperator(op, [&](cudaStream_t stream, auto number, auto dim, auto o) {
    using T = decltype(number);

    ColourKernel<decltype(dim)::value, K>
      <<<BlocksFor<K, T>(points.points), COLUMNS_THREADS, 0, stream>>>(o, points, static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
  }));
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

  PetscFunctionBegin;
  PetscCall(WithDim(op, [&](cudaStream_t stream, auto number, auto dim) {
    using T = decltype(number);

    RestrictKernel<decltype(dim)::value, K>
      <<<Site<decltype(dim)::value, K, T>::Blocks(c.n), COLUMNS_THREADS, 0, stream>>>(f, c, static_cast<const T *>(op->weight),
                                                                                      static_cast<const Chunk<T> *>(r), static_cast<Chunk<T> *>(b));
  }));
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

  PetscFunctionBegin;
  PetscCall(WithDim(op, [&](cudaStream_t stream, auto number, auto dim) {
    using T = decltype(number);

    ProlongKernel<decltype(dim)::value, K>
      <<<Site<decltype(dim)::value, K, T>::Blocks(f.n), COLUMNS_THREADS, 0, stream>>>(f, c, static_cast<T>(factor), static_cast<const T *>(op->weight),
                                                                                      static_cast<const Chunk<T> *>(e), static_cast<T>(start),
                                                                                      static_cast<const Value<T> *>(op->factor),
                                                                                      static_cast<const Chunk<T> *>(b), static_cast<Chunk<T> *>(x));
  }));
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
  const int n = static_cast<int>(op->grid.cells);

  PetscFunctionBegin;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) {
    using T = decltype(number);

    DenseKernel<K, T>
      <<<static_cast<unsigned int>((n * COLUMNS_WARP + COLUMNS_THREADS - 1) / COLUMNS_THREADS), COLUMNS_THREADS, 0, stream>>>(n,
                                                                                                                              static_cast<const Value<T> *>(L),
                                                                                                                              static_cast<const T *>(S),
                                                                                                                              static_cast<const Chunk<T> *>(b),
                                                                                                                              static_cast<Chunk<T> *>(x));
  }));
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
