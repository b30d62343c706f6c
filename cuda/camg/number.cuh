/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Numbers of vectors of a PCCAMG: real, or complex in two components, in single or double precision */

#include "../common/petsccuda.cuh"
#include <lithe/private/camg.h>

#define CAMG_WARP    32
#define CAMG_ALL     0xffffffffu /* lanes of a warp */
#define CAMG_THREADS 256

template <class R>
struct CAMGComplex {
  R re, im;
};

#if PetscDefined(USE_COMPLEX)
template <class R>
using CAMGNumber = CAMGComplex<R>;
  #define CAMG_PARTS 2
#else
template <class R>
using CAMGNumber = R;
  #define CAMG_PARTS 1
#endif

/* Components, for kernels that are the same for real and complex numbers */
template <class R>
static __device__ __forceinline__ R CAMGZero(R)
{
  return 0;
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> CAMGZero(CAMGComplex<R>)
{
  return {0, 0};
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> operator+(CAMGComplex<R> a, CAMGComplex<R> b)
{
  return {a.re + b.re, a.im + b.im};
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> operator-(CAMGComplex<R> a, CAMGComplex<R> b)
{
  return {a.re - b.re, a.im - b.im};
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> operator*(R a, CAMGComplex<R> b)
{
  return {a * b.re, a * b.im};
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> operator*(CAMGComplex<R> a, CAMGComplex<R> b)
{
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static __device__ __forceinline__ float CAMGConjugate(float a)
{
  return a;
}

static __device__ __forceinline__ double CAMGConjugate(double a)
{
  return a;
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> CAMGConjugate(CAMGComplex<R> a)
{
  return {a.re, -a.im};
}

/* The number of another lane */
template <class R>
static __device__ __forceinline__ R CAMGFrom(R a, int lane)
{
  return __shfl_sync(CAMG_ALL, a, lane);
}

template <class R>
static __device__ __forceinline__ CAMGComplex<R> CAMGFrom(CAMGComplex<R> a, int lane)
{
  return {__shfl_sync(CAMG_ALL, a.re, lane), __shfl_sync(CAMG_ALL, a.im, lane)};
}

/* That of the lane whose number differs by the bits of mask */
template <class N>
static __device__ __forceinline__ N CAMGShuffle(N a, int mask)
{
  return CAMGFrom(a, (static_cast<int>(threadIdx.x) ^ mask) % CAMG_WARP);
}

/* Entry k of an array of codes, or of numbers in single precision, bits 32 */
template <int bits>
static __device__ __forceinline__ float CAMGComponent(const void *__restrict__ a, size_t k)
{
  if constexpr (bits == 8) return CAMGDecode8(static_cast<const uint8_t *>(a)[k]);
  else if constexpr (bits == 16) return CAMGDecode16(static_cast<const uint16_t *>(a)[k]);
  else return static_cast<const float *>(a)[k];
}

template <int bits, class R>
static __device__ __forceinline__ void CAMGEntry(const void *__restrict__ a, size_t k, R *entry)
{
  *entry = static_cast<R>(CAMGComponent<bits>(a, k));
}

template <int bits, class R>
static __device__ __forceinline__ void CAMGEntry(const void *__restrict__ a, size_t k, CAMGComplex<R> *entry)
{
  entry->re = static_cast<R>(CAMGComponent<bits>(a, 2 * k));
  entry->im = static_cast<R>(CAMGComponent<bits>(a, 2 * k + 1));
}

/* Entries 2 k and 2 k + 1, in one load if they are real */
template <int bits, class N>
static __device__ __forceinline__ void CAMGPair(const void *__restrict__ a, int k, N entry[2])
{
  if constexpr (CAMG_PARTS == 1 && bits == 8) {
    const uchar2 c = static_cast<const uchar2 *>(a)[k];

    entry[0] = CAMGDecode8(c.x);
    entry[1] = CAMGDecode8(c.y);
  } else if constexpr (CAMG_PARTS == 1 && bits == 16) {
    const ushort2 c = static_cast<const ushort2 *>(a)[k];

    entry[0] = CAMGDecode16(c.x);
    entry[1] = CAMGDecode16(c.y);
  } else {
    for (int t = 0; t < 2; t++) CAMGEntry<bits>(a, 2 * static_cast<size_t>(k) + t, &entry[t]);
  }
}

/* Entries k to k + 3, k a multiple of 4, in one load if they are real */
template <int bits, class N>
static __device__ __forceinline__ void CAMGEntries(const void *__restrict__ a, int k, N entry[4])
{
  if constexpr (CAMG_PARTS == 1 && bits == 8) {
    const uchar4 c = reinterpret_cast<const uchar4 *>(a)[k / 4];

    entry[0] = CAMGDecode8(c.x);
    entry[1] = CAMGDecode8(c.y);
    entry[2] = CAMGDecode8(c.z);
    entry[3] = CAMGDecode8(c.w);
  } else if constexpr (CAMG_PARTS == 1 && bits == 32) {
    const float4 c = reinterpret_cast<const float4 *>(a)[k / 4];

    entry[0] = c.x;
    entry[1] = c.y;
    entry[2] = c.z;
    entry[3] = c.w;
  } else {
    for (int t = 0; t < 4; t++) CAMGEntry<bits>(a, static_cast<size_t>(k) + t, &entry[t]);
  }
}

/* Blocks of threads for n rows or numbers, size of them for each */
static inline unsigned int CAMGBlocks(PetscInt64 n, int size = CAMG_THREADS)
{
  const PetscInt64 blocks = (n + size - 1) / size;

  return static_cast<unsigned int>(blocks > 0 ? blocks : 1);
}
