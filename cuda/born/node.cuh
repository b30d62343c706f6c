/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What steps on a device do at nodes: vectors of nodes along x, sponges, the update of born.h */

#include <lithe/private/born.h>

/* What is added in a step */
enum BornExtra {
  BORN_NOTHING,
  BORN_SCATTER, /* a force: of the second field scatter L u; where there is none, of u scatter in */
  BORN_IMAGE    /* image += L u w */
};

/* A step as kernels get it. Arrays begin at the first node */
struct BornArguments {
  int         n[3], from[3], to[3], halo; /* the grid; nodes of the step; planes of room, which tensor maps count, too */
  int         whole[3], first[3], width, low[3]; /* of the sponge: the whole grid and where this begins; width 0: none. low: at the first face */
  int         sponge, chunk; /* sponge: whether u has it; planes of a block */
  ptrdiff_t   stride[2];
  float       damping, centre, weight[3][BORN_MAX_RADIUS], Vunit;
  const void *u, *V, *w, *scatter, *in;
  void       *old, *wold, *image, *out;
  unsigned   *largest;
};

/* N numbers side by side */
template <class T, int N>
struct alignas(sizeof(T) * N) BornVector {
  T v[N];
};

static __device__ __forceinline__ float BornNumberOf(float u)
{
  return u;
}

static __device__ __forceinline__ float BornNumberOf(int32_t u)
{
  return __int2float_rn(u);
}

/* The sum of two numbers, of whole numbers before these are rounded */
static __device__ __forceinline__ float BornPair(float a, float b)
{
  return a + b;
}

static __device__ __forceinline__ float BornPair(int32_t a, int32_t b)
{
  return __int2float_rn(static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)));
}

static __device__ __forceinline__ float BornSpongeAt(const BornArguments &a, int d, int i)
{
  return a.width ? BornSponge_Single(a.width, a.damping, static_cast<PetscBool>(a.low[d]), a.whole[d], i + a.first[d]) : 0.f;
}

template <int N>
static __device__ __forceinline__ void BornReadV(const BornArguments &a, const float *from, float V[N])
{
  const BornVector<float, N> v = *reinterpret_cast<const BornVector<float, N> *>(from);

  (void)a;
#pragma unroll
  for (int i = 0; i < N; i++) V[i] = v.v[i];
}

template <int N>
static __device__ __forceinline__ void BornReadV(const BornArguments &a, const uint16_t *from, float V[N])
{
  const BornVector<uint16_t, N> v = *reinterpret_cast<const BornVector<uint16_t, N> *>(from);

#pragma unroll
  for (int i = 0; i < N; i++) V[i] = a.Vunit * static_cast<float>(v.v[i]);
}

/* Stores N numbers, or those of them that are nodes of the step */
template <int N, class T>
static __device__ __forceinline__ void BornStore(const BornArguments &a, bool in, bool whole, int x, T *to, const BornVector<T, N> &v)
{
  if (!in) return;
  if (whole) *reinterpret_cast<BornVector<T, N> *>(to) = v;
  else {
#pragma unroll
    for (int i = 0; i < N; i++) {
      if (x + i >= a.from[0] && x + i < a.to[0]) to[i] = v.v[i];
    }
  }
}

static __device__ __forceinline__ float BornUpdateOf(float u, float old, float V, float s, float lu)
{
  return BornUpdate_Single(u, old, V, s, lu);
}

static __device__ __forceinline__ int32_t BornUpdateOf(int32_t u, int32_t old, float V, float s, float lu)
{
  return BornUpdateInt(u, old, V, s, lu);
}

static __device__ __forceinline__ void BornNoteLargest(float, unsigned *) {}

static __device__ __forceinline__ void BornNoteLargest(int32_t u, unsigned *largest)
{
  const unsigned modulus = static_cast<unsigned>(abs(u));

  *largest = modulus > *largest ? modulus : *largest;
}

/* new at N nodes */
template <int N, class T>
static __device__ __forceinline__ void BornNew(const BornArguments &a, bool in, bool whole, int x, ptrdiff_t to, T *array, const BornVector<T, N> &u,
                                               const BornVector<T, N> &old, const float V[N], bool damp, float syz, const float sx[N], const float lu[N],
                                               unsigned *largest)
{
  BornVector<T, N> next;

  if (damp) {
#pragma unroll
    for (int i = 0; i < N; i++) next.v[i] = BornUpdateOf(u.v[i], old.v[i], V[i], syz + sx[i], lu[i]);
  } else {
#pragma unroll
    for (int i = 0; i < N; i++) next.v[i] = BornUpdateOf(u.v[i], old.v[i], V[i], 0.f, lu[i]);
  }
#pragma unroll
  for (int i = 0; i < N; i++) BornNoteLargest(next.v[i], largest);
  BornStore<N, T>(a, in, whole, x, array + to, next);
}

/* out = L u, if asked */
template <int N>
static __device__ __forceinline__ void BornPut(void *out, ptrdiff_t to, bool in, const float lu[N])
{
  BornVector<float, N> v;

  if (!out || !in) return;
#pragma unroll
  for (int i = 0; i < N; i++) v.v[i] = lu[i];
  *reinterpret_cast<BornVector<float, N> *>(static_cast<float *>(out) + to) = v;
}

/* lu += scatter in */
template <int N>
static __device__ __forceinline__ void BornAddIn(const BornArguments &a, const float *scatter, ptrdiff_t at, bool in, float lu[N])
{
  BornVector<float, N> q = BornVector<float, N>();
  const auto           s = *reinterpret_cast<const BornVector<float, N> *>(scatter);

  if (in) q = *reinterpret_cast<const BornVector<float, N> *>(static_cast<const float *>(a.in) + at);
#pragma unroll
  for (int i = 0; i < N; i++) lu[i] = fmaf(s.v[i], q.v[i], lu[i]);
}

/* image += lu w */
template <int N>
static __device__ __forceinline__ void BornAddImage(void *image, ptrdiff_t at, bool in, const float lu[N], const BornVector<float, N> &w)
{
  auto *to = reinterpret_cast<BornVector<float, N> *>(static_cast<float *>(image) + at);

  if (!in) return;
  BornVector<float, N> sum = *to;

#pragma unroll
  for (int i = 0; i < N; i++) sum.v[i] = fmaf(lu[i], w.v[i], sum.v[i]);
  *to = sum;
}
