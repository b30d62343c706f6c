/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Shared by the kernels of SBP-SAT operators: numbers, arrays of a grid, and the march of a warp through a grid.

   A warp has 32 C adjacent columns of nodes, C columns per thread, and marches along s row by row. Data of neighbours
   in the row come from other threads by shuffles. Data of earlier rows stay in registers. All data are read once, and
   no thread waits for another warp. The columns at both ends of a warp only serve their neighbours, so warps overlap by
   a few columns.

   If rows begin at multiples of 16 bytes, the columns of a thread are adjacent, and are read and written in one access
   (SBPAdjacent). Otherwise the columns of a thread are 32 apart (SBPStrided).
*/

#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>
#include <stdint.h>

#define SBP_WARP 32

/* ------------------------------------------------------------ numbers */

/* A complex number; the kernels only use products with complex and real numbers */
template <class T>
struct alignas(2 * sizeof(T)) SBPPair {
  T re, im;
};

template <class T>
static __device__ __forceinline__ SBPPair<T> operator+(SBPPair<T> a, SBPPair<T> b)
{
  return {a.re + b.re, a.im + b.im};
}
template <class T>
static __device__ __forceinline__ SBPPair<T> operator-(SBPPair<T> a, SBPPair<T> b)
{
  return {a.re - b.re, a.im - b.im};
}
template <class T>
static __device__ __forceinline__ SBPPair<T> operator-(SBPPair<T> a)
{
  return {-a.re, -a.im};
}
template <class T>
static __device__ __forceinline__ SBPPair<T> operator*(T a, SBPPair<T> b)
{
  return {a * b.re, a * b.im};
}
template <class T>
static __device__ __forceinline__ SBPPair<T> operator*(SBPPair<T> a, SBPPair<T> b)
{
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* The real type of a number type */
template <class V>
struct SBPReal {
  using type = V;
};
template <class T>
struct SBPReal<SBPPair<T>> {
  using type = T;
};

template <class V>
static __device__ __forceinline__ V SBPZero()
{
  return V{};
}
template <class V>
static __device__ __forceinline__ V SBPOne()
{
  V v{};

  reinterpret_cast<typename SBPReal<V>::type &>(v) = 1;
  return v;
}

template <class T>
static __device__ __forceinline__ T SBPShuffle(T v, int lane)
{
  return __shfl_sync(0xffffffffu, v, lane);
}
template <class T>
static __device__ __forceinline__ SBPPair<T> SBPShuffle(SBPPair<T> v, int lane)
{
  return {SBPShuffle(v.re, lane), SBPShuffle(v.im, lane)};
}

/* Loads of data that a kernel does not write */
template <class T>
static __device__ __forceinline__ T SBPRead(const T *p)
{
  return __ldg(p);
}
template <class T>
static __device__ __forceinline__ SBPPair<T> SBPRead(const SBPPair<T> *p)
{
  return {__ldg(&p->re), __ldg(&p->im)};
}

/* ------------------------------------------------------------ columns of a warp */

template <class T, int n>
struct alignas(sizeof(T) * n) SBPVector {
  T v[n];
};

/* Types for loads of up to 16 bytes, of data that the kernel does not write */
template <int bytes>
struct SBPWord;
template <>
struct SBPWord<16> {
  using type = uint4;
};
template <>
struct SBPWord<8> {
  using type = uint2;
};
template <>
struct SBPWord<4> {
  using type = uint32_t;
};

static __device__ __forceinline__ int SBPLane()
{
  return static_cast<int>(threadIdx.x % SBP_WARP);
}

/*
   row: column 0 of a row; first: first column of the warp; low, high: columns in [low, high) exist. Without edge, all
   columns of the warp exist.
*/
template <int C_>
struct SBPAdjacent {
  static constexpr int C = C_, width = SBP_WARP * C;
  /* unfinished columns at either end, at least `reach` */
  static __host__ __device__ constexpr int Halo(int reach)
  {
    return (reach + C - 1) / C * C;
  }
  static __device__ __forceinline__ int Column(int c)
  {
    return C * SBPLane() + c;
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void Read(const T *row, int first, int low, int high, T v[C])
  {
    const int i = first + C * SBPLane();

    if constexpr (edge) {
#pragma unroll
      for (int c = 0; c < C; c++) v[c] = SBPZero<T>();
      if (i >= low && i + C <= high) Get<true>(row + i, v);
      else {
#pragma unroll
        for (int c = 0; c < C; c++)
          if (i + c >= low && i + c < high) v[c] = SBPRead(row + i + c);
      }
    } else Get<true>(row + i, v);
  }
  /* Loads from an array that the kernel may write; the thread loads no value written by another warp */
  template <bool edge, class T>
  static __device__ __forceinline__ void ReadOwn(const T *row, int first, int low, int high, T v[C])
  {
    const int i = first + C * SBPLane();

#pragma unroll
    for (int c = 0; c < C; c++) v[c] = SBPZero<T>();
    if (i >= low && i + C <= high) Get<false>(row + i, v);
    else if (edge) {
#pragma unroll
      for (int c = 0; c < C; c++)
        if (i + c >= low && i + c < high) v[c] = row[i + c];
    }
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void Write(T *row, int first, int low, int high, const T v[C])
  {
    const int i = first + C * SBPLane();

    if (i >= low && i + C <= high) {
      SBPVector<T, C> w;

#pragma unroll
      for (int c = 0; c < C; c++) w.v[c] = v[c];
      *reinterpret_cast<SBPVector<T, C> *>(row + i) = w;
    } else if (edge) {
#pragma unroll
      for (int c = 0; c < C; c++)
        if (i + c >= low && i + c < high) row[i + c] = v[c];
    }
  }
  /* Copies the columns of a thread to shared memory, for Fetch(). Missing values become zero */
  template <bool edge, class T>
  static __device__ __forceinline__ void Copy(T *to, const T *row, int first, int low, int high)
  {
    constexpr int bytes = C * sizeof(T), piece = bytes < 16 ? bytes : 16, n = bytes / piece, each = piece / sizeof(T);
    const int     i    = first + C * SBPLane();
    T            *mine = to + C * SBPLane();

#pragma unroll
    for (int k = 0; k < n; k++) {
      const int at = i + k * each, there = !edge ? each : (at < low ? 0 : (high - at < each ? (high > at ? high - at : 0) : each));

      __pipeline_memcpy_async(mine + k * each, there ? row + at : row, piece, (each - there) * sizeof(T));
    }
  }
  template <class T>
  static __device__ __forceinline__ void Fetch(const T *from, T v[C])
  {
    const SBPVector<T, C> w = reinterpret_cast<const SBPVector<T, C> *>(from)[SBPLane()];

#pragma unroll
    for (int c = 0; c < C; c++) v[c] = w.v[c];
  }
  /* The coarse values for the columns of the thread, whose first column is even */
  static constexpr int coarse = C / 2 + 1;
  template <class T>
  static __device__ __forceinline__ void ReadCoarse(const T *row, int first, int low, int high, T e[coarse])
  {
    const int I = (first + C * SBPLane()) >> 1;

#pragma unroll
    for (int c = 0; c < coarse; c++) {
      e[c] = SBPZero<T>();
      if (I + c >= low && I + c < high) e[c] = SBPRead(row + I + c);
    }
  }
  template <class T>
  static __device__ __forceinline__ void Spread(const T e[coarse], T v[C])
  {
    using K = typename SBPReal<T>::type;

#pragma unroll
    for (int c = 0; c < C; c++) v[c] = c % 2 ? static_cast<K>(0.5) * (e[c / 2] + e[c / 2 + 1]) : e[c / 2];
  }
  /* Values of the left and right neighbours; undefined at the ends of the warp */
  template <class T>
  static __device__ __forceinline__ void Left(const T v[C], T l[C])
  {
    const T end = SBPShuffle(v[C - 1], SBPLane() - 1);

#pragma unroll
    for (int c = C - 1; c > 0; c--) l[c] = v[c - 1];
    l[0] = end;
  }
  template <class T>
  static __device__ __forceinline__ void Right(const T v[C], T r[C])
  {
    const T end = SBPShuffle(v[0], SBPLane() + 1);

#pragma unroll
    for (int c = 0; c < C - 1; c++) r[c] = v[c + 1];
    r[C - 1] = end;
  }

private:
  template <bool constant, class T>
  static __device__ __forceinline__ void Get(const T *p, T v[C])
  {
    SBPVector<T, C> w;

    if constexpr (constant) {
      constexpr int bytes = sizeof(w) < 16 ? sizeof(w) : 16, words = sizeof(w) / bytes;
      using Word = typename SBPWord<bytes>::type;

#pragma unroll
      for (int k = 0; k < words; k++) reinterpret_cast<Word *>(&w)[k] = __ldg(reinterpret_cast<const Word *>(p) + k);
    } else w = *reinterpret_cast<const SBPVector<T, C> *>(p);
#pragma unroll
    for (int c = 0; c < C; c++) v[c] = w.v[c];
  }
};

template <int C_>
struct SBPStrided {
  static constexpr int                     C = C_, width = SBP_WARP * C;
  static __host__ __device__ constexpr int Halo(int reach)
  {
    return reach;
  }
  static __device__ __forceinline__ int Column(int c)
  {
    return SBP_WARP * c + SBPLane();
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void Read(const T *row, int first, int low, int high, T v[C])
  {
    const int i = first + SBPLane();

#pragma unroll
    for (int c = 0; c < C; c++) {
      if (edge) {
        v[c] = SBPZero<T>();
        if (i + SBP_WARP * c >= low && i + SBP_WARP * c < high) v[c] = SBPRead(row + i + SBP_WARP * c);
      } else v[c] = SBPRead(row + i + SBP_WARP * c);
    }
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void ReadOwn(const T *row, int first, int low, int high, T v[C])
  {
    const int i = first + SBPLane();

#pragma unroll
    for (int c = 0; c < C; c++) {
      v[c] = SBPZero<T>();
      if (i + SBP_WARP * c >= low && i + SBP_WARP * c < high) v[c] = row[i + SBP_WARP * c];
    }
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void Write(T *row, int first, int low, int high, const T v[C])
  {
    const int i = first + SBPLane();

#pragma unroll
    for (int c = 0; c < C; c++)
      if (i + SBP_WARP * c >= low && i + SBP_WARP * c < high) row[i + SBP_WARP * c] = v[c];
  }
  template <bool edge, class T>
  static __device__ __forceinline__ void Copy(T *to, const T *row, int first, int low, int high)
  {
#pragma unroll
    for (int c = 0; c < C; c++) {
      const int  i     = first + Column(c);
      const bool there = !edge || (i >= low && i < high);

      __pipeline_memcpy_async(to + Column(c), there ? row + i : row, sizeof(T), there ? 0 : sizeof(T));
    }
  }
  template <class T>
  static __device__ __forceinline__ void Fetch(const T *from, T v[C])
  {
#pragma unroll
    for (int c = 0; c < C; c++) v[c] = from[Column(c)];
  }
  static constexpr int coarse = 2 * C;
  template <class T>
  static __device__ __forceinline__ void ReadCoarse(const T *row, int first, int low, int high, T e[coarse])
  {
#pragma unroll
    for (int c = 0; c < C; c++) {
#pragma unroll
      for (int k = 0; k < 2; k++) {
        const int I = (first + Column(c) + k) >> 1;

        e[2 * c + k] = SBPZero<T>();
        if (I >= low && I < high) e[2 * c + k] = SBPRead(row + I);
      }
    }
  }
  template <class T>
  static __device__ __forceinline__ void Spread(const T e[coarse], T v[C])
  {
    using K = typename SBPReal<T>::type;

#pragma unroll
    for (int c = 0; c < C; c++) v[c] = static_cast<K>(0.5) * (e[2 * c] + e[2 * c + 1]);
  }
  template <class T>
  static __device__ __forceinline__ void Left(const T v[C], T l[C])
  {
    T turned[C];

#pragma unroll
    for (int c = 0; c < C; c++) turned[c] = SBPShuffle(v[c], SBPLane() + SBP_WARP - 1);
#pragma unroll
    for (int c = 0; c < C; c++) l[c] = c > 0 && SBPLane() == 0 ? turned[c > 0 ? c - 1 : 0] : turned[c];
  }
  template <class T>
  static __device__ __forceinline__ void Right(const T v[C], T r[C])
  {
    T turned[C];

#pragma unroll
    for (int c = 0; c < C; c++) turned[c] = SBPShuffle(v[c], SBPLane() + 1);
#pragma unroll
    for (int c = 0; c < C; c++) r[c] = c < C - 1 && SBPLane() == SBP_WARP - 1 ? turned[c < C - 1 ? c + 1 : c] : turned[c];
  }
};
