/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Parts of steps on a device at nodes: vectors of nodes along x, sponges, the update of born/born.h */

#include <lithe/private/born/born.h>
#include <lithe/private/codec/frsz2.h>
#include "../common/petsccuda.cuh"

/* The relation of the two fields */
enum BornExtra {
  BORN_NOTHING,
  BORN_SCATTER, /* the force of the second field is scatter q, q = L u of the first */
  BORN_IMAGE    /* image += q w */
};

/* How numbers are stored, see BornKernels. bits 0: numbers are not rounded. numbers may be NULL: rounded only */
struct BornStoring {
  int        bits;
  LitheFRSZ2 format;
  PetscInt64 lineblocks, lines; /* blocks of a line; lines of a plane */
  char      *numbers;
  uint16_t  *exponents;
};

static inline BornStoring BornGetStoring(const BornGrid *g, int bits, const void *store)
{
  BornStoring s = {};

  s.bits       = bits;
  s.lineblocks = BornBlocks(g);
  s.lines      = g->n[1];
  s.numbers    = static_cast<char *>(const_cast<void *>(store));
  s.exponents  = reinterpret_cast<uint16_t *>(s.numbers + s.lineblocks * s.lines * g->n[2] * 4 * bits);
  if (bits && bits < 32) (void)LitheFRSZ2SetUp(&s.format, bits, 16);
  return s;
}

/* A sponge: the whole grid and where this one begins; low: at the first face, too. width 0: none */
template <class K>
struct BornSpongeArguments {
  int dim, whole[3], first[3], low[3], width;
  K   damping;
};

/* The arrays of a step, see BornStep. They begin at the first node */
struct BornArrays {
  const void *u, *V, *w, *scatter;
  void       *old, *wold, *image, *out;
  unsigned   *largest;
};

/* A step as kernels get it, with the real numbers K */
template <class K>
struct BornArguments : BornSpongeArguments<K>, BornArrays {
  int         n[3], from[3], to[3], halo; /* the grid; nodes of the step; planes of room, which tensor maps count, too */
  int         sponge, chunk;              /* sponge: whether u has it; planes of a block */
  ptrdiff_t   stride[2], Vplane;          /* Vplane: stride[1] of V, 0 in a stack with one V */
  K           centre, weight[3][BORN_MAX_RADIUS], Vunit;
  BornStoring store;
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

static __device__ __forceinline__ double BornNumberOf(double u)
{
  return u;
}

static __device__ __forceinline__ float BornNumberOf(int32_t u)
{
  return __int2float_rn(u);
}

/* The sum of two numbers; whole numbers are summed before they are rounded */
static __device__ __forceinline__ float BornPair(float a, float b)
{
  return a + b;
}

static __device__ __forceinline__ double BornPair(double a, double b)
{
  return a + b;
}

static __device__ __forceinline__ float BornPair(int32_t a, int32_t b)
{
  return __int2float_rn(static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)));
}

static __device__ __forceinline__ float BornFMA(float a, float b, float c)
{
  return fmaf(a, b, c);
}

static __device__ __forceinline__ double BornFMA(double a, double b, double c)
{
  return fma(a, b, c);
}

static __device__ __forceinline__ float BornSpongeAt(const BornSpongeArguments<float> &a, int d, int i)
{
  return a.width && d < a.dim ? BornSponge_Single(a.width, a.damping, static_cast<PetscBool>(a.low[d]), a.whole[d], i + a.first[d]) : 0.f;
}

static __device__ __forceinline__ double BornSpongeAt(const BornSpongeArguments<double> &a, int d, int i)
{
  return a.width && d < a.dim ? BornSponge_Double(a.width, a.damping, static_cast<PetscBool>(a.low[d]), a.whole[d], i + a.first[d]) : 0.;
}

static __device__ __forceinline__ float BornUpdateOf(float u, float old, float V, float s, float lu)
{
  return BornUpdate_Single(u, old, V, s, lu);
}

static __device__ __forceinline__ double BornUpdateOf(double u, double old, double V, double s, double lu)
{
  return BornUpdate_Double(u, old, V, s, lu);
}

static __device__ __forceinline__ int32_t BornUpdateOf(int32_t u, int32_t old, float V, float s, float lu)
{
  return BornUpdateInt(u, old, V, s, lu);
}

template <class K>
static __device__ __forceinline__ void BornNoteLargest(K, unsigned *)
{
}

template <>
__device__ __forceinline__ void BornNoteLargest(int32_t u, unsigned *largest)
{
  const unsigned modulus = static_cast<unsigned>(abs(u));

  *largest = modulus > *largest ? modulus : *largest;
}

/* All threads of a warp come here */
static __device__ __forceinline__ void BornPutLargest(unsigned largest, unsigned *to)
{
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    const unsigned other = __shfl_xor_sync(0xffffffffU, largest, offset);

    largest = other > largest ? other : largest;
  }
  if (threadIdx.x % 32 == 0 && to && largest) atomicMax(to, largest);
}

/* V of a node, or of several */
template <class K>
static __device__ __forceinline__ K BornVOf(const BornArguments<K> &, K V)
{
  return V;
}

template <class K>
static __device__ __forceinline__ K BornVOf(const BornArguments<K> &a, uint16_t V)
{
  return a.Vunit * static_cast<K>(V);
}

static __device__ __forceinline__ double BornModulus(double x)
{
  return fabs(x);
}

static __device__ __forceinline__ float BornModulus(float x)
{
  return fabsf(x);
}

/*
   Rounds N numbers of each of 32 / N neighbouring threads, together a block of 32 nodes along x, as in a store, and
   stores them. i: the first node of the thread. Places without a node are 0. All threads of a warp come here
*/
template <int N, class K>
static __device__ __forceinline__ void BornRoundBlock(const BornStoring &s, int i, int j, int k, bool there, K q[N])
{
  const PetscInt64 block = i / 32 + s.lineblocks * (j + s.lines * k), place = 32 * block + i % 32;
  const bool       put = there && s.numbers;

  if (s.bits == 32) {
#pragma unroll
    for (int l = 0; l < N; l++) {
      q[l] = static_cast<K>(static_cast<float>(q[l]));
      if (put) reinterpret_cast<float *>(s.numbers)[place + l] = static_cast<float>(q[l]);
    }
    return;
  }
  K largest = 0;

  /* as in a block: ascends with |q|, NaN last */
#pragma unroll
  for (int l = 0; l < N; l++) largest = BornModulus(q[l]) <= largest ? largest : BornModulus(q[l]);
#pragma unroll
  for (int offset = 16 / N; offset > 0; offset /= 2) {
    const K other = __shfl_xor_sync(0xffffffffU, largest, offset);

    largest = other <= largest ? largest : other;
  }
  const int    E    = LitheFRSZ2Exponent(&s.format, 0, LitheFRSZ2Modulus(static_cast<PetscReal>(largest)));
  const double step = LitheFRSZ2Step(&s.format, 0, LitheFRSZ2ExponentCode(&s.format, 0, E));

#pragma unroll
  for (int l = 0; l < N; l++) {
    const int64_t code = LitheFRSZ2Quantise(&s.format, E, static_cast<PetscReal>(q[l]));

    q[l] = static_cast<K>(static_cast<PetscReal>(static_cast<double>(code) * step));
    if (put && s.bits == 16) reinterpret_cast<int16_t *>(s.numbers)[place + l] = static_cast<int16_t>(code);
    if (put && s.bits == 8) reinterpret_cast<int8_t *>(s.numbers)[place + l] = static_cast<int8_t>(code);
  }
  if (put && i % 32 == 0) s.exponents[block] = LitheFRSZ2ExponentCode(&s.format, 0, E);
}
