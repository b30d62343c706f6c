/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Steps and residuals in space on large levels, which read each array once. A block has a tile of columns and marches through planes. A thread keeps the
   vector round its point in registers, of three planes; the next plane comes through shared memory. So the vector may be made on the way: from
   the right side alone, where it begins with zero, and with the correction of the coarse level added.
*/

#include "stencilvalue.cuh"

#define MARCH_X      32
#define MARCH_Y      8
#define MARCH_BLOCKS 1056 /* there are so many blocks, if there are planes enough */
#define MARCH_LEAST  4    /* planes of a block */

/* What the vector is, and what comes of it */
template <class T, class Code>
struct March {
  Operator<T, Code> op;
  GridMGDims        coarse;
  int               planes;
  T                 start, prolong, step;
  const T          *weight;
  const Value<T>   *b, *x, *e;
  Value<T>         *out;
};

/* The vector at a point: x, or start factor b; and prolong P e */
template <bool isstart, bool hasprolong, class T, class Code>
static __device__ __forceinline__ Value<T> VectorAt(const March<T, Code> &m, int x, int y, int z, int i)
{
  Value<T> v = isstart ? Product(m.start, m.op.factor[i], m.b[i]) : m.x[i];

  if constexpr (hasprolong) {
    const Value<T> sum = Interpolated<3>(m.op.g, m.coarse, m.weight, m.e, x, y, z, i);

#pragma unroll
    for (int p = 0; p < GRIDMG_PARTS; p++) v.p[p] += m.prolong * sum.p[p];
  }
  return v;
}

template <bool isstart, bool hasprolong, bool isstep, class T, class Code>
static __global__ void __launch_bounds__(MARCH_X *MARCH_Y) MarchKernel(March<T, Code> m)
{
  constexpr int width = MARCH_X + 2, count = width * (MARCH_Y + 2), threads = MARCH_X * MARCH_Y, turns = (count + threads - 1) / threads;
  __shared__ Value<T> vector[2][count];
  __shared__ T        scale[2][count];
  const GridMGDims   &g      = m.op.g;
  const int           thread = static_cast<int>(threadIdx.x), tx = thread % MARCH_X, ty = thread / MARCH_X;
  const int           tilex = static_cast<int>(blockIdx.x) * MARCH_X, tiley = static_cast<int>(blockIdx.y) * MARCH_Y;
  const int           x = tilex + tx, y = tiley + ty, plane = g.n[0] * g.n[1], first = static_cast<int>(blockIdx.z) * m.planes;
  const int           last = min(first + m.planes, g.n[2]);
  const bool          mine = x < g.n[0] && y < g.n[1];
  Value<T>            v[3][9], nextvector[turns];
  T                   s[3][9], nextscale[turns];

  /* a plane into registers, on its way to shared memory */
  auto fetch = [&](int z) {
#pragma unroll
    for (int k = 0; k < turns; k++) {
      const int place = thread + k * threads, px = tilex - 1 + place % width, py = tiley - 1 + place / width;

      nextvector[k] = Value<T>{};
      nextscale[k]  = 0;
      if (place < count && px >= 0 && px < g.n[0] && py >= 0 && py < g.n[1] && z >= 0 && z < g.n[2]) {
        const int i = px + g.n[0] * py + plane * z;

        nextvector[k] = VectorAt<isstart, hasprolong>(m, px, py, z, i);
        nextscale[k]  = m.op.scale[i];
      }
    }
  };
  auto store = [&](int buffer) {
#pragma unroll
    for (int k = 0; k < turns; k++) {
      const int place = thread + k * threads;

      if (place < count) {
        vector[buffer][place] = nextvector[k];
        scale[buffer][place]  = nextscale[k];
      }
    }
    __syncthreads();
  };
  auto take = [&](auto slot, int buffer) {
    constexpr int K = decltype(slot)::value;

#pragma unroll
    for (int k = 0; k < 9; k++) {
      v[K][k] = vector[buffer][(ty + k / 3) * width + tx + k % 3];
      s[K][k] = scale[buffer][(ty + k / 3) * width + tx + k % 3];
    }
  };
  /* the point at z, with the plane before in slot K */
  auto point = [&](auto slot, int z) {
    constexpr int  K = decltype(slot)::value, C = (K + 1) % 3;
    const int      i = x + g.n[0] * y + plane * z;
    const Value<T> own = v[C][4], b = mine ? m.b[i] : Value<T>{};
    Value<T>       sum;

    if (!mine) return;
    sum = Product(T(1), m.op.sigma[i], own);
    GridMGUnroll<0, 27>([&](auto q) {
      constexpr int S = decltype(q)::value, P = (K + S / 9) % 3, N = S % 9;

      if constexpr (S != 13) {
        const T           s0 = s[C][4], s1 = s[P][N], both = s0 < s1 ? s0 : s1;
        const Value<Code> c = m.op.code[static_cast<size_t>(S) * m.op.pitch + static_cast<size_t>(i)];
        Value<T>          d, a;

#pragma unroll
        for (int p = 0; p < GRIDMG_PARTS; p++) {
          d.p[p] = both * (v[P][N].p[p] - own.p[p]);
          a.p[p] = static_cast<T>(c.p[p]);
        }
        AddProduct(sum, a, d);
      }
    });
    if constexpr (isstep) m.out[i] = Corrected(m.op, m.step, i, b, own, sum);
    else {
#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] = b.p[p] - sum.p[p];
      m.out[i] = sum;
    }
  };
  using Zero = std::integral_constant<int, 0>;
  using One  = std::integral_constant<int, 1>;
  using Two  = std::integral_constant<int, 2>;

  fetch(first - 1);
  store(0);
  take(Zero{}, 0);
  fetch(first);
  store(1);
  take(One{}, 1);
  fetch(first + 1);
  store(0);
  take(Two{}, 0);
  for (int z = first, buffer = 1; z < last;) {
    fetch(z + 2);
    point(Zero{}, z);
    if (++z == last) break;
    store(buffer);
    take(Zero{}, buffer);
    buffer ^= 1;

    fetch(z + 2);
    point(One{}, z);
    if (++z == last) break;
    store(buffer);
    take(One{}, buffer);
    buffer ^= 1;

    fetch(z + 2);
    point(Two{}, z);
    if (++z == last) break;
    store(buffer);
    take(Two{}, buffer);
    buffer ^= 1;
  }
}

template <bool isstart, bool hasprolong, bool isstep>
static PetscErrorCode Launch(const GridMGStencilOperator *op, const GridMGPoints *coarse, double start, double prolong, double step, const void *b, const void *x,
                             const void *e, void *out)
{
  const unsigned int tiles[2] = {static_cast<unsigned int>((op->grid.n[0] + MARCH_X - 1) / MARCH_X), static_cast<unsigned int>((op->grid.n[1] + MARCH_Y - 1) / MARCH_Y)};
  const int          n2 = static_cast<int>(op->grid.n[2]), planes = PetscMax(MARCH_LEAST, static_cast<int>(tiles[0] * tiles[1]) * n2 / MARCH_BLOCKS);
  cudaStream_t       stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithCodes(op, [&](auto number, auto code) {
    using T = decltype(number);

    const dim3                     blocks(tiles[0], tiles[1], static_cast<unsigned int>((n2 + planes - 1) / planes));
    const March<T, decltype(code)> m = {OperatorOf<T, decltype(code)>(op), coarse ? GridMGDimsOf(coarse, MARCH_X) : GridMGDims{}, planes,
                                        static_cast<T>(start), static_cast<T>(prolong), static_cast<T>(step), static_cast<const T *>(op->weight),
                                        static_cast<const Value<T> *>(b), static_cast<const Value<T> *>(x), static_cast<const Value<T> *>(e), static_cast<Value<T> *>(out)};

    MarchKernel<isstart, hasprolong, isstep><<<blocks, MARCH_X * MARCH_Y, 0, stream>>>(m);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilDown(const GridMGStencilOperator *op, double c, const void *b, void *r)
{
  PetscFunctionBegin;
  PetscCall((Launch<true, false, false>(op, nullptr, c, 0, 0, b, nullptr, nullptr, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilUp(const GridMGStencilOperator *op, const GridMGPoints *coarse, double c, double factor, double damping, const void *b,
                                        const void *e, void *out)
{
  PetscFunctionBegin;
  PetscCall((Launch<true, true, true>(op, coarse, c, factor, damping, b, nullptr, e, out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same as the operations of every level */
PetscErrorCode LitheCUDAGridMGStencilResidualMarch(const GridMGStencilOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  PetscCall((Launch<false, false, false>(op, nullptr, 0, 0, 0, b, x, nullptr, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilStepMarch(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  PetscFunctionBegin;
  PetscCall((Launch<false, false, true>(op, nullptr, 0, 0, c, b, x, nullptr, out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
