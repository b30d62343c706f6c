/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Rounds the stencils of a level to codes, and computes the factors of smoothers, on a device, as
   src/pc/gridmg/stencil/encode.c describes */

#include "stencilsetup.cuh"

#define GRIDMG_OMEGA  0.5
#define GRIDMG_GROWTH 2.5

using V = GridMGExact;

static __device__ __forceinline__ double LargestPart(const V &v)
{
  double most = 0;

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) most = GridMGLarger(most, fabs(v.p[p]));
  return most;
}

/* A power of two whose product with the largest code is at least `most` */
static __device__ __forceinline__ double ScaleOf(double most, int bits)
{
  int exponent;

  if (bits == 32 || !(most > 0)) return 1;
  (void)frexp(most / (bits == 8 ? 127. : 32767.), &exponent);
  return ldexp(1., exponent);
}

/* Entry s of a point; for a symmetric operator, the entry of the lower of the two points */
template <int dim, int s>
static __device__ __forceinline__ V EntryOf(const GridMGDims &g, const V *a, double factor, bool symmetric, int i)
{
  using Box = GridMGStencilBox<dim>;
  if (s < Box::centre && symmetric) return GridMGLoad(g, a, factor, Box::points - 1 - s, i + GridMGDistance<s + Box::shift>(g));
  return GridMGLoad(g, a, factor, s, i);
}

/* Computes scales, and weights in the precision of the level */
template <int dim, class Number>
static __global__ void __launch_bounds__(GRIDMG_LINE) Scales(GridMGDims g, const V *__restrict__ a, double factor, bool symmetric, int bits,
                                                             const double *__restrict__ exact, Number *__restrict__ scale, Number *__restrict__ weight)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(g, 1);
  double            most = 0;

  if (at.x >= g.n[0]) return;
  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    if (S == Box::centre || bits == 32 || !GridMGIsThere<Q>(g, at.x, at.y, at.z)) return;
    most = GridMGLarger(most, LargestPart(EntryOf<dim, S>(g, a, factor, symmetric, at.i)));
    if (!symmetric) most = GridMGLarger(most, LargestPart(GridMGLoad(g, a, factor, Box::points - 1 - S, at.i + GridMGDistance<Q>(g))));
  });
  scale[at.i] = static_cast<Number>(ScaleOf(most, bits));
  if (!weight) return;
#pragma unroll
  for (int c = 0; c < Box::corners; c++) weight[GridMGIndex(g, c, at.i)] = static_cast<Number>(exact[GridMGIndex(g, c, at.i)]);
}

/* 1 over a power of two */
static __device__ __forceinline__ double InverseOf(double scale)
{
  const long long bits = __double_as_longlong(scale), largest = 2046ll << 52;

  return scale > 0x1p-1000 && scale < 0x1p+1000 ? __longlong_as_double(largest - bits) : 1 / scale;
}

/* Rounds one part of an entry to a code. Returns the value of the code */
template <class Code>
static __device__ __forceinline__ double Round(double v, double scale, double inverse, Code *code)
{
  if constexpr (std::is_integral<Code>::value) {
    const double c = rint(v * inverse);

    *code = static_cast<Code>(c);
    return scale * c;
  } else {
    *code = static_cast<Code>(v);
    return static_cast<double>(*code);
  }
}

/* 1 - a b */
static __device__ __forceinline__ V OneLess(const V &a, const V &b)
{
  V v;

  if constexpr (GRIDMG_PARTS == 2) {
    constexpr int im = GRIDMG_PARTS - 1;

    v.p[0]  = 1 - GRIDMG_PLUS(GRIDMG_TIMES(a.p[0], b.p[0]), -GRIDMG_TIMES(a.p[im], b.p[im]));
    v.p[im] = -GRIDMG_PLUS(GRIDMG_TIMES(a.p[0], b.p[im]), GRIDMG_TIMES(a.p[im], b.p[0]));
  } else v.p[0] = GRIDMG_PLUS(1., -GRIDMG_TIMES(a.p[0], b.p[0]));
  return v;
}

static __device__ __forceinline__ V Quotient(double c, const V &v)
{
  double quotient[2];
  V      q;

  GridMGDivide(c, v.p[0], GRIDMG_PARTS == 2 ? v.p[GRIDMG_PARTS - 1] : 0, quotient);
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) q.p[p] = quotient[p];
  return q;
}

template <int dim>
static __device__ __forceinline__ V Damping(const V stencil[])
{
  using Box      = GridMGStencilBox<dim>;
  const V jacobi = GridMGIsZero(stencil[Box::centre]) ? V{} : Quotient(GRIDMG_OMEGA, stencil[Box::centre]);
  V       above{};
  double  below  = 0;
  bool    enough = false;

  GridMGUnroll<0, Box::corners>([&](auto m) {
    constexpr int mode = decltype(m)::value;
    V             lambda{};

    if (enough) return;
    GridMGUnroll<0, Box::points>([&](auto s) {
      constexpr int  S   = decltype(s)::value;
      constexpr bool odd = GridMGBits(mode & GridMGAway(S + Box::shift)) % 2 == 1;

#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) lambda.p[p] += odd ? -stencil[S].p[p] : stencil[S].p[p];
    });
    if (mode == 0) enough = !GridMGIsZero(stencil[Box::centre]) && GridMGModulusOf(OneLess(jacobi, lambda)) <= GRIDMG_GROWTH;
    above.p[0] += lambda.p[0];
    if (GRIDMG_PARTS == 2) {
      constexpr int im = GRIDMG_PARTS - 1;

      above.p[im] += -lambda.p[im];
      below += GRIDMG_PLUS(GRIDMG_TIMES(lambda.p[0], lambda.p[0]), GRIDMG_TIMES(lambda.p[im], lambda.p[im]));
    } else below = GRIDMG_PLUS(below, GRIDMG_TIMES(lambda.p[0], lambda.p[0]));
  });
  if (enough) return jacobi;
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) above.p[p] = below > 0 ? above.p[p] / below : 0;
  return above;
}

template <int dim, class Number, class Code>
static __global__ void __launch_bounds__(GRIDMG_LINE)
  Codes(GridMGDims g, const V *__restrict__ a, const V *__restrict__ exact, double factor, bool symmetric, bool damp, const Number *__restrict__ scale,
        typename GridMGPack<Code>::Codes *__restrict__ code, GridMGValue<Number> *__restrict__ sigma, GridMGValue<Number> *__restrict__ factors,
        int *__restrict__ bad)
{
  using Box = GridMGStencilBox<dim>;
  const GridMGPlace at(g, 1);
  const int         i = at.i;

  if (at.x >= g.n[0]) return;
  const V      row = GridMGLoad(g, exact, factor, 0, i);
  const double own = static_cast<double>(scale[i]);
  V            rounded[Box::points], f;
  bool         empty = GridMGIsZero(GridMGLoad(g, a, factor, Box::centre, i)); /* an inactive point */

  using Pack                                            = GridMGPack<Code>;
  typename Pack::Codes group[Pack::Groups(Box::points)] = {};

  GridMGUnroll<0, Box::points>([&](auto s) {
    constexpr int S = decltype(s)::value, Q = S + Box::shift;

    rounded[S] = V{};
    if (S == Box::centre || !GridMGIsThere<Q>(g, at.x, at.y, at.z)) return;
    const double other = static_cast<double>(scale[i + GridMGDistance<Q>(g)]), both = own < other ? own : other, inverse = InverseOf(both);
    const V      v = EntryOf<dim, S>(g, a, factor, symmetric, i);

    empty = empty && GridMGIsZero(v);
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) rounded[S].p[p] = Round(v.p[p], both, inverse, &group[S / Pack::count].c[S % Pack::count].p[p]);
  });
#pragma unroll
  for (int k = 0; k < Pack::Groups(Box::points); k++) code[Pack::At(Box::points, i) + GRIDMG_GROUP * k] = group[k];
  rounded[Box::centre] = row;
#pragma unroll
  for (int s = 0; s < Box::points; s++) {
#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) {
      if (s != Box::centre) rounded[Box::centre].p[p] -= rounded[s].p[p];
    }
  }
  if (damp) f = Damping<dim>(rounded);
  else f = GridMGIsZero(rounded[Box::centre]) ? V{} : Quotient(1, rounded[Box::centre]);
  if (GridMGIsZero(f) && !empty) atomicMin(bad, i);
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) {
    sigma[i].p[p]   = static_cast<Number>(row.p[p]);
    factors[i].p[p] = static_cast<Number>(f.p[p]);
  }
}

/* ------------------------------------------------------------ launches */

template <class Number, class Code>
static void Launch(const GridMGStencils *f, bool damp, const GridMGStencilOperator *op, int *bad, cudaStream_t stream)
{
  const int        threads = GridMGThreads(static_cast<int>(f->grid.n[0]));
  const GridMGDims g       = GridMGDimsOf(&f->grid, threads);
  const dim3       blocks  = GridMGBlocks(g, g.n[2]);

  GridMGWithDim(f->grid.dim, [&](auto d) {
    constexpr int dim   = decltype(d)::value;
    const V      *a     = static_cast<const V *>(f->a);
    Number       *scale = static_cast<Number *>(const_cast<void *>(op->scale));

    Scales<dim, Number>
      <<<blocks, threads, 0, stream>>>(g, a, f->factor, f->symmetric, op->bits, f->weight, scale, static_cast<Number *>(const_cast<void *>(op->weight)));
    Codes<dim, Number, Code><<<blocks, threads, 0, stream>>>(g, a, static_cast<const V *>(f->sigma), f->factor, f->symmetric, damp, scale,
                                                             static_cast<typename GridMGPack<Code>::Codes *>(const_cast<void *>(op->code)),
                                                             static_cast<GridMGValue<Number> *>(const_cast<void *>(op->sigma)),
                                                             static_cast<GridMGValue<Number> *>(const_cast<void *>(op->factor)), bad);
  });
}

PetscErrorCode LitheCUDAGridMGStencilEncode(const GridMGStencils *f, GridMGFactor kind, const GridMGStencilOperator *op, PetscInt *bad)
{
  const int    none = PETSC_INT32_MAX;
  int         *there, first;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  PetscCall(GridMGGetScratch(stream, sizeof(*there), reinterpret_cast<void **>(&there)));
  PetscCallCUDA(cudaMemcpyAsync(there, &none, sizeof(none), cudaMemcpyHostToDevice, stream));
  GridMGWithCodes(op, [&](auto number, auto code) { Launch<decltype(number), decltype(code)>(f, kind == GRIDMG_DAMP, op, there, stream); });
  PetscCallCUDA(cudaGetLastError());
  PetscCallCUDA(cudaMemcpyAsync(&first, there, sizeof(first), cudaMemcpyDeviceToHost, stream));
  PetscCallCUDA(cudaStreamSynchronize(stream));
  *bad = first == none ? -1 : first;
  PetscFunctionReturn(PETSC_SUCCESS);
}
