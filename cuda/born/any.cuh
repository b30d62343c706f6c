/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Steps of any kind of number, in two and three dimensions, on any device: one thread per node, neighbours by the
   cache. In two dimensions k is a shot of a stack */

#include "launch.cuh"

#define BORN_ANY_X 64
#define BORN_ANY_Y 4

/* L u at a place */
template <int R, class T, class K>
static __device__ __forceinline__ K BornStarAt(const BornArguments<K> &a, const T *u)
{
  K lu = a.centre * BornNumberOf(*u);

#pragma unroll
  for (int k = 1; k <= R; k++) {
    lu = BornFMA(a.weight[0][k - 1], BornPair(u[-k], u[k]), lu);
    lu = BornFMA(a.weight[1][k - 1], BornPair(u[-k * a.stride[0]], u[k * a.stride[0]]), lu);
    if (a.dim > 2) lu = BornFMA(a.weight[2][k - 1], BornPair(u[-k * a.stride[1]], u[k * a.stride[1]]), lu);
  }
  return lu;
}

/* NULL arrays are left out */
template <class T, class K, class V, int R, bool both>
static __global__ void __launch_bounds__(BORN_ANY_X *BORN_ANY_Y) BornAny(const __grid_constant__ BornArguments<K> a)
{
  const int i   = a.from[0] + static_cast<int>(blockIdx.x) * BORN_ANY_X + static_cast<int>(threadIdx.x),
            j   = a.from[1] + static_cast<int>(blockIdx.y * BORN_ANY_Y + threadIdx.y);
  const bool in = i < a.to[0] && j < a.to[1];
  const K    sx = BornSpongeAt(a, 0, i), sy = BornSpongeAt(a, 1, j);
  unsigned   largest = 0;

  /* All threads of a warp take part, for blocks of rounded numbers */
  for (int k = a.from[2] + static_cast<int>(blockIdx.z); k < a.to[2] && j < a.to[1]; k += static_cast<int>(gridDim.z)) {
    const ptrdiff_t at  = i + a.stride[0] * j + a.stride[1] * k;
    const T        *u   = static_cast<const T *>(a.u) + at;
    T              *old = static_cast<T *>(a.old) + at;
    const K         lu  = in ? BornStarAt<R>(a, u) : K(0);
    K               q   = lu;

    if (a.store.bits) BornRoundBlock<1>(a.store, i, j, k, in, &q);
    if (!in) continue;
    const K Vat = BornVOf(a, static_cast<const V *>(a.V)[i + a.stride[0] * j + a.Vplane * k]), s = BornSpongeAt(a, 2, k) + sy + sx;
    const T next = BornUpdateOf(*u, *old, Vat, a.sponge ? s : K(0), lu);

    if (a.out) static_cast<K *>(a.out)[at] = lu;
    *old = next;
    BornNoteLargest(next, &largest);
    if constexpr (both) {
      const K *w    = static_cast<const K *>(a.w) + at;
      K       *wold = static_cast<K *>(a.wold) + at;
      K        lw   = BornStarAt<R>(a, w);

      if (a.image) static_cast<K *>(a.image)[at] = BornFMA(lu, *w, static_cast<K *>(a.image)[at]);
      if (a.scatter) lw = BornFMA(static_cast<const K *>(a.scatter)[at], q, lw);
      *wold = BornUpdateOf(*w, *wold, Vat, s, lw);
    }
  }
  /* in two dimensions a block has the nodes of one shot: see BORN_MOST_SHOTS */
  if (sizeof(T) == 4 && a.largest) BornPutLargest(largest, a.largest + (a.dim == 2 ? blockIdx.z : 0));
}

template <class T, class K, class V, int R>
static PetscErrorCode BornAnyLaunch(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  const BornArguments<K> a    = BornGetArguments<T, K>(g, step);
  const int              n[3] = {a.to[0] - a.from[0], a.to[1] - a.from[1], a.to[2] - a.from[2]};
  const dim3             blocks(static_cast<unsigned>((n[0] + BORN_ANY_X - 1) / BORN_ANY_X), static_cast<unsigned>((n[1] + BORN_ANY_Y - 1) / BORN_ANY_Y),
                                static_cast<unsigned>(n[2] < 65535 ? n[2] : 65535));

  PetscFunctionBegin;
  if (BornIsEmpty(a)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCheck(blocks.y < 65536, PETSC_COMM_SELF, PETSC_ERR_SUP, "A grid of %d nodes along y is too long for a device; exchange x and y", n[1]);
  if (step->w) BornAny<T, K, V, R, true><<<blocks, dim3(BORN_ANY_X, BORN_ANY_Y), 0, stream>>>(a);
  else BornAny<T, K, V, R, false><<<blocks, dim3(BORN_ANY_X, BORN_ANY_Y), 0, stream>>>(a);
  PetscCallCUDA(cudaGetLastError());
  PetscFunctionReturn(PETSC_SUCCESS);
}

template <class T, class K, class V>
static PetscErrorCode BornAnyOrder(const BornGrid *g, const BornStep *step, cudaStream_t stream)
{
  PetscFunctionBegin;
  switch (g->radius) {
  case 1:
    PetscCall((BornAnyLaunch<T, K, V, 1>(g, step, stream)));
    break;
  case 2:
    PetscCall((BornAnyLaunch<T, K, V, 2>(g, step, stream)));
    break;
  case 4:
    PetscCall((BornAnyLaunch<T, K, V, 4>(g, step, stream)));
    break;
  default:
    PetscCall((BornAnyLaunch<T, K, V, 6>(g, step, stream)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
