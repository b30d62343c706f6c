/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Values of vectors and codes, and code common to the kernels of cycles with stencils */

#include "stencil.cuh"

template <class T>
using Value = GridMGValue<T>;

/* sum += a b */
template <class T>
static __device__ __forceinline__ void AddProduct(Value<T> &sum, const Value<T> &a, const Value<T> &b)
{
  if constexpr (GRIDMG_PARTS == 2) {
    constexpr int im = GRIDMG_PARTS - 1;

    sum.p[0] += a.p[0] * b.p[0] - a.p[im] * b.p[im];
    sum.p[im] += a.p[0] * b.p[im] + a.p[im] * b.p[0];
  } else sum.p[0] += a.p[0] * b.p[0];
}

template <class T>
static __device__ __forceinline__ Value<T> Product(T c, const Value<T> &a, const Value<T> &b)
{
  Value<T> v{};

  AddProduct(v, a, b);
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] *= c;
  return v;
}

/* The data of an operator for kernels with codes */
template <class T, class Code>
struct Operator {
  using Codes = typename GridMGPack<Code>::Codes;

  GridMGDims      g;
  const Codes    *code;
  const T        *scale;
  const Value<T> *sigma, *factor;
};

/* All codes of a point */
template <int points, class Code>
struct CodesOf {
  using Pack = GridMGPack<Code>;
  typename Pack::Codes group[Pack::Groups(points)];

  __device__ __forceinline__ CodesOf(const typename Pack::Codes *code, int i)
  {
    const typename Pack::Codes *at = code + Pack::At(points, i);

#pragma unroll
    for (int g = 0; g < Pack::Groups(points); g++) group[g] = at[GRIDMG_GROUP * g];
  }

  template <class T>
  __device__ __forceinline__ Value<T> Get(int s) const
  {
    Value<T> v;

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] = static_cast<T>(group[s / Pack::count].c[s % Pack::count].p[p]);
    return v;
  }
};

template <class T, class Code>
static Operator<T, Code> OperatorOf(const GridMGStencilOperator *op)
{
  return {GridMGDimsOf(&op->grid, GRIDMG_LINE), static_cast<const typename GridMGPack<Code>::Codes *>(op->code), static_cast<const T *>(op->scale),
          static_cast<const Value<T> *>(op->sigma), static_cast<const Value<T> *>(op->factor)};
}

/* The launches of a cycle: launch(stream, a number, ...), with std::integral_constant for the dimension */
template <class Launch>
static PetscErrorCode WithNumber(const GridMGStencilOperator *op, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) { GridMGWithNumber(op, [&](auto number) { launch(stream, number); }); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Launch>
static PetscErrorCode WithDim(const GridMGStencilOperator *op, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(WithNumber(op, [&](cudaStream_t stream, auto number) { GridMGWithDim(op->grid.dim, [&](auto dim) { launch(stream, number, dim); }); }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class Launch>
static PetscErrorCode WithOperator(const GridMGStencilOperator *op, Launch launch)
{
  PetscFunctionBegin;
  PetscCall(LitheGraphLaunches([&](cudaStream_t stream) {
    GridMGWithCodes(op, [&](auto number, auto code) {
      const auto o = OperatorOf<decltype(number), decltype(code)>(op);

      GridMGWithDim(op->grid.dim, [&](auto dim) { launch(stream, number, dim, o); });
    });
  }));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The points of a colour: n[d] in direction d */
struct Colour {
  int colour, n[3], points;

  /* The number of point k */
  template <int dim>
  __device__ __forceinline__ int Point(const GridMGDims &g, int k) const
  {
    const int x = 2 * (k % n[0]) + (colour & 1), y = (dim > 1 ? 2 : 1) * (k / n[0] % n[1]) + (colour >> 1 & 1),
              z = (dim > 2 ? 2 : 1) * (k / n[0] / n[1]) + (colour >> 2);

    return x + g.n[0] * (y + g.n[1] * z);
  }
};

[[maybe_unused]] static Colour ColourOf(const GridMGStencilOperator *op, int colour)
{
  Colour c = {colour, {0, 0, 0}, 1};

  for (int d = 0; d < 3; d++) {
    const int all = static_cast<int>(op->grid.n[d]);

    c.n[d] = d < op->grid.dim ? (all + 1 - (colour >> d & 1)) / 2 : all;
    c.points *= c.n[d];
  }
  return c;
}

/* colour < 0: all points */
[[maybe_unused]] static __device__ __forceinline__ bool HasColour(const GridMGDims &g, int colour, int i)
{
  if (colour < 0) return true;
  return ((i % g.n[0] & 1) | (i / g.n[0] % g.n[1] & 1) << 1 | (i / g.n[0] / g.n[1] & 1) << 2) == colour;
}

/* out = x + c factor (b - A x) */
template <class T, class Code>
static __device__ __forceinline__ Value<T> Corrected(const Operator<T, Code> &op, T c, int i, const Value<T> &b, const Value<T> &x, const Value<T> &Ax)
{
  Value<T> r, v;

#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) r.p[p] = b.p[p] - Ax.p[p];
  v = Product(c, op.factor[i], r);
#pragma unroll
  for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] += x.p[p];
  return v;
}

/* The contribution of coarse points to a point. In a direction with an even coordinate, only the lower corner has a
   weight */
template <int dim, class T>
static __device__ __forceinline__ Value<T> Interpolated(const GridMGDims &f, const GridMGDims &c, const T *weight, const Value<T> *e, int x, int y, int z,
                                                        int i)
{
  using Box     = GridMGStencilBox<dim>;
  const int odd = (x & 1) | (dim > 1 ? (y & 1) << 1 : 0) | (dim > 2 ? (z & 1) << 2 : 0), to = x / 2 + c.n[0] * (y / 2 + c.n[1] * (z / 2));
  Value<T>  sum{};

#pragma unroll
  for (int k = 0; k < Box::corners; k++) {
    if ((k & ~odd) != 0) continue;
    const T w = weight[static_cast<size_t>(k) * static_cast<size_t>(f.cells) + static_cast<size_t>(i)];

    /* a coarse point exists wherever a weight is not 0 */
    if (w != 0) {
      const Value<T> v = e[to + (k & 1) + c.n[0] * ((k >> 1 & 1) + c.n[1] * (k >> 2))];

#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] += w * v.p[p];
    }
  }
  return sum;
}
