/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Steps and residuals in space on large levels. A block loads the vector for a tile of points and the surrounding
   points into shared memory. Without tiles, caches would be read 27 times. The vector may be computed during the load,
   from the right-hand side alone, if the initial iterate is zero.
*/

#include "stencilvalue.cuh"

#define TILE_X       32
#define TILE_Y       8
#define TILE_Z       4
#define TILE_THREADS (TILE_X * TILE_Y)

/* The vector: x, or start factor b; the result: b - A x, or x + step factor (b - A x) */
template <class T, class Code>
struct Tile {
  Operator<T, Code> op;
  T                 start, step;
  const Value<T>   *b, *x;
  Value<T>         *out;
};

template <bool isstart, bool isstep, class T, class Code>
static __global__ void __launch_bounds__(TILE_THREADS) TileKernel(const __grid_constant__ Tile<T, Code> m)
{
  constexpr int width = TILE_X + 2, plane = width * (TILE_Y + 2), count = plane * (TILE_Z + 2);
  __shared__ Value<T> vector[count];
  __shared__ T        scale[count];
  const GridMGDims   &g      = m.op.g;
  const int           thread = static_cast<int>(threadIdx.x), tx = thread % TILE_X, ty = thread / TILE_X;
  const int           x0 = static_cast<int>(blockIdx.x) * TILE_X, y0 = static_cast<int>(blockIdx.y) * TILE_Y, z0 = static_cast<int>(blockIdx.z) * TILE_Z;
  const int           x = x0 + tx, y = y0 + ty;

  for (int k = thread; k < count; k += TILE_THREADS) {
    const int px = x0 - 1 + k % width, py = y0 - 1 + k / width % (TILE_Y + 2), pz = z0 - 1 + k / plane;
    Value<T>  v{};
    T         s = 0;

    if (px >= 0 && px < g.n[0] && py >= 0 && py < g.n[1] && pz >= 0 && pz < g.n[2]) {
      const int i = px + g.n[0] * (py + g.n[1] * pz);

      v = isstart ? Product(m.start, m.op.factor[i], m.b[i]) : m.x[i];
      s = m.op.scale[i];
    }
    vector[k] = v;
    scale[k]  = s;
  }
  __syncthreads();
  if (x >= g.n[0] || y >= g.n[1]) return;
#pragma unroll
  for (int k = 0; k < TILE_Z; k++) {
    const int z = z0 + k, centre = (k + 1) * plane + (ty + 1) * width + tx + 1, i = x + g.n[0] * (y + g.n[1] * z);

    if (z >= g.n[2]) break;
    const CodesOf<27, Code> codes(m.op.code, i);
    const Value<T>          own = vector[centre], b = m.b[i];
    const T                 s0 = scale[centre];
    Value<T>                sum{};

    GridMGUnroll<0, 27>([&](auto q) {
      constexpr int S = decltype(q)::value;

      if constexpr (S != 13) {
        const int      j  = centre + GridMGOff(S, 0) + width * GridMGOff(S, 1) + plane * GridMGOff(S, 2);
        const T        s1 = scale[j], both = s0 < s1 ? s0 : s1;
        const Value<T> there = vector[j];
        Value<T>       d;

#pragma unroll
        for (int p = 0; p < GRIDMG_PARTS; p++) d.p[p] = both * (there.p[p] - own.p[p]);
        AddProduct(sum, codes.template Get<T>(S), d);
      }
    });
    AddProduct(sum, m.op.sigma[i], own);
    if constexpr (isstep) m.out[i] = Corrected(m.op, m.step, i, b, own, sum);
    else {
#pragma unroll
      for (int p = 0; p < GRIDMG_PARTS; p++) sum.p[p] = b.p[p] - sum.p[p];
      m.out[i] = sum;
    }
  }
}

template <bool isstart, bool isstep>
static PetscErrorCode Launch(const GridMGStencilOperator *op, double start, double step, const void *b, const void *x, void *out)
{
  const auto   Tiles = [](PetscInt n, int each) { return static_cast<unsigned int>((n + each - 1) / each); };
  const dim3   tiles(Tiles(op->grid.n[0], TILE_X), Tiles(op->grid.n[1], TILE_Y), Tiles(op->grid.n[2], TILE_Z));
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(LitheGraphGetStream(&stream));
  GridMGWithCodes(op, [&](auto number, auto code) {
    using T = decltype(number);

    const Tile<T, decltype(code)> m = {OperatorOf<T, decltype(code)>(op), static_cast<T>(start),       static_cast<T>(step), static_cast<const Value<T> *>(b),
                                       static_cast<const Value<T> *>(x),  static_cast<Value<T> *>(out)};

    TileKernel<isstart, isstep><<<tiles, TILE_THREADS, 0, stream>>>(m);
  });
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilDownTile(const GridMGStencilOperator *op, double c, const void *b, void *r)
{
  PetscFunctionBegin;
  PetscCall((Launch<true, false>(op, c, 0, b, nullptr, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilResidualTile(const GridMGStencilOperator *op, const void *b, const void *x, void *r)
{
  PetscFunctionBegin;
  PetscCall((Launch<false, false>(op, 0, 0, b, x, r)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheCUDAGridMGStencilStepTile(const GridMGStencilOperator *op, double c, const void *b, const void *x, void *out)
{
  PetscFunctionBegin;
  PetscCall((Launch<false, true>(op, 0, c, b, x, out)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
