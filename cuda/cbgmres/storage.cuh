/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The storages of compressed bases: reading, decoding and encoding of columns in each of them.

   All numbers are real; a complex number is two adjacent real numbers. A chunk is the part of a column that a thread
   reads at once: 16 bytes if possible. Chunk c holds numbers F::width c ... F::width (c + 1) - 1. The numbers of a
   thread's chunks are all equal to t modulo 32, where t is the number of the thread in its block of threads. The place
   of a chunk within its block of 32 numbers therefore depends on t only. Arithmetic is in double precision.

   Each storage has
     width, chunkbits                      numbers and bits of a chunk; 0: known at run time only
     Raw                                   the data read for a chunk
     Load(V, v, e, chunk)                  v, e: beginning of the values and exponents of a column
     Decode(V, raw, q), Scale(V, raw)      the numbers are q times the scale
     Encode(V, v, e, chunk, there, x, z)   z = stored form of x; called by whole warps. there: the column has this chunk
   Chunks of 16 bytes may be copied to shared memory. Unpack(copy, Code(e, chunk)) then returns the result of Load().
*/

#include <cuda_fp16.h>
#include <lithe/private/cb/basisdevice.h>

/* The columns as an argument of kernels */
struct CBColumns {
  char      *values, *exponents;
  size_t     vbytes, ebytes, n;
  int        base;
  LitheFRSZ2 frsz2;
};

static inline CBColumns CBGetColumns(const CBDevice *d)
{
  return CBColumns{d->values, d->exponents, d->vbytes, d->ebytes, d->n, d->base, d->storage.frsz2};
}

/* Chunks of a column, which consists of whole blocks of 32 numbers */
template <class F>
static __host__ __device__ __forceinline__ size_t CBChunks(const CBColumns &V)
{
  return LitheStorageBlocks(V.n) * (LITHE_FRSZ2_BLOCK / F::width);
}

/* Loads 4, 8 or 16 bytes that are not read again */
template <int words>
static __device__ __forceinline__ void CBLoadWords(const void *p, uint32_t word[])
{
  if (words == 1) word[0] = __ldcs(static_cast<const unsigned int *>(p));
  else if (words == 2) {
    const uint2 t = __ldcs(static_cast<const uint2 *>(p));

    word[0] = t.x;
    word[1] = t.y;
  } else {
    const uint4 t = __ldcs(static_cast<const uint4 *>(p));

    word[0] = t.x;
    word[1] = t.y;
    word[2] = t.z;
    word[3] = t.w;
  }
}

template <int words>
static __device__ __forceinline__ void CBStoreWords(void *p, const uint32_t word[])
{
  if (words == 1) *static_cast<unsigned int *>(p) = word[0];
  else if (words == 2) *static_cast<uint2 *>(p) = make_uint2(word[0], word[1]);
  else *static_cast<uint4 *>(p) = make_uint4(word[0], word[1], word[2], word[3]);
}

/* Floating-point numbers: w numbers are n words, without further data */
template <int w, int n>
struct CBFloating {
  static constexpr int width = w, words = n, chunkbits = 32 * n;
  struct Raw {
    uint32_t word[n];
  };

  static __device__ __forceinline__ uint32_t Code(const char *, size_t)
  {
    return 0;
  }
  static __device__ __forceinline__ Raw Unpack(uint4 t, uint32_t)
  {
    return Raw{{t.x, t.y, t.z, t.w}};
  }

  static __device__ __forceinline__ Raw Load(const CBColumns &, const char *v, const char *, size_t chunk)
  {
    Raw r;

    CBLoadWords<n>(v + 4 * n * chunk, r.word);
    return r;
  }
  static __device__ __forceinline__ double Scale(const CBColumns &, const Raw &)
  {
    return 1;
  }
};

/* PetscReal in double precision */
struct CBDouble : CBFloating<2, 4> {
  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
    q[0] = __hiloint2double(static_cast<int>(r.word[1]), static_cast<int>(r.word[0]));
    q[1] = __hiloint2double(static_cast<int>(r.word[3]), static_cast<int>(r.word[2]));
  }
  static __device__ __forceinline__ void Encode(const CBColumns &, char *v, char *, size_t chunk, bool there, const double x[], double z[])
  {
    z[0] = x[0];
    z[1] = x[1];
    if (there) *reinterpret_cast<double2 *>(v + 16 * chunk) = make_double2(x[0], x[1]);
  }
};

template <int w>
struct CBSingle : CBFloating<w, w> {
  using typename CBFloating<w, w>::Raw;

  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
#pragma unroll
    for (int i = 0; i < w; i++) q[i] = __uint_as_float(r.word[i]);
  }
  static __device__ __forceinline__ void Encode(const CBColumns &, char *v, char *, size_t chunk, bool there, const double x[], double z[])
  {
    uint32_t word[w];

#pragma unroll
    for (int i = 0; i < w; i++) {
      const float t = static_cast<float>(x[i]);

      word[i] = __float_as_uint(t);
      z[i]    = t;
    }
    if (there) CBStoreWords<w>(v + 4 * w * chunk, word);
  }
};

/* Half precision (5, 10) and bfloat16 (8, 7) */
template <int exponentbits, int mantissabits, int w>
struct CBMini : CBFloating<w, w / 2> {
  using CBFloating<w, w / 2>::words;
  using typename CBFloating<w, w / 2>::Raw;

  static __device__ __forceinline__ double One(uint32_t code)
  {
    /* bfloat16 is the upper half of a float */
    if (exponentbits == 8) return __uint_as_float(code << 16);
    return __half2float(__ushort_as_half(static_cast<unsigned short>(code)));
  }
  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
#pragma unroll
    for (int i = 0; i < words; i++) {
      q[2 * i]     = One(r.word[i] & 0xffff);
      q[2 * i + 1] = One(r.word[i] >> 16);
    }
  }
  static __device__ __forceinline__ void Encode(const CBColumns &, char *v, char *, size_t chunk, bool there, const double x[], double z[])
  {
    uint32_t word[words];

#pragma unroll
    for (int i = 0; i < words; i++) {
      const uint16_t low = LitheMinifloatEncode(exponentbits, mantissabits, x[2 * i]), high = LitheMinifloatEncode(exponentbits, mantissabits, x[2 * i + 1]);

      z[2 * i]     = LitheMinifloatDecode(exponentbits, mantissabits, low);
      z[2 * i + 1] = LitheMinifloatDecode(exponentbits, mantissabits, high);
      word[i]      = static_cast<uint32_t>(high) << 16 | low;
    }
    if (there) CBStoreWords<words>(v + 4 * words * chunk, word);
  }
};

/* The largest modulus of a block of numbers, which `lanes` neighbouring lanes hold */
template <int lanes, int width>
static __device__ __forceinline__ uint64_t CBLargest(const double x[])
{
  uint64_t largest = 0;

#pragma unroll
  for (int i = 0; i < width; i++) {
    const uint64_t modulus = LitheFRSZ2Modulus(static_cast<PetscReal>(x[i]));

    largest = modulus > largest ? modulus : largest;
  }
#pragma unroll
  for (int offset = 1; offset < lanes; offset *= 2) {
    const uint64_t other = __shfl_xor_sync(0xffffffffu, static_cast<unsigned long long>(largest), offset);

    largest = other > largest ? other : largest;
  }
  return largest;
}

/* LitheFRSZ2Quantise() of numbers with a common E and at most 32 bits. The conversion saturates, so integers are
   compared with the ends of the range */
template <int width>
static __device__ __forceinline__ void CBQuantise(const LitheFRSZ2 &f, int E, const double x[], int q[])
{
  if (E == 0 || E == LITHE_FRSZ2_SPECIAL) {
#pragma unroll
    for (int i = 0; i < width; i++) q[i] = static_cast<int>(LitheFRSZ2Quantise(&f, E, static_cast<PetscReal>(x[i])));
  } else {
    const double inverse = LithePow2(1023 - E);
    const int    limit   = static_cast<int>((1u << (f.bits - 1)) - 1);

#pragma unroll
    for (int i = 0; i < width; i++) q[i] = max(-limit, min(limit, __double2int_rn(x[i] * inverse)));
  }
}

static __device__ __forceinline__ double CBStep2(int E)
{
  return __hiloint2double(E << 20, 0);
}

/* FRSZ2 with a number of bits that the compiler knows */
template <int bits, int exponentbits>
struct CBFrszFormat {
  static __device__ __forceinline__ LitheFRSZ2 Format()
  {
    return LitheFRSZ2{bits, exponentbits};
  }
  template <class Raw>
  static __device__ __forceinline__ double Scale(const CBColumns &V, const Raw &r)
  {
    const LitheFRSZ2 f = Format();

    return LitheFRSZ2Step(&f, V.base, static_cast<uint16_t>(r.code));
  }
};

/* FRSZ2 with 16 or 32 bits: native integers */
template <int bits, int exponentbits, int w>
struct CBFrsz : CBFrszFormat<bits, exponentbits> {
  using CBFrszFormat<bits, exponentbits>::Format;
  static constexpr int width = w, words = w * bits / 32, chunkbits = 32 * words, lanes = LITHE_FRSZ2_BLOCK / w;
  struct Raw {
    uint32_t word[words], code;
  };

  static __device__ __forceinline__ uint32_t Code(const char *e, size_t chunk)
  {
    const LitheFRSZ2 f = Format();

    return LitheFRSZ2GetExponent(&f, e, chunk / lanes);
  }
  static __device__ __forceinline__ Raw Unpack(uint4 t, uint32_t code)
  {
    return Raw{{t.x, t.y, t.z, t.w}, code};
  }

  static __device__ __forceinline__ Raw Load(const CBColumns &, const char *v, const char *e, size_t chunk)
  {
    const LitheFRSZ2 f = Format();
    Raw              r;

    CBLoadWords<words>(v + 4 * words * chunk, r.word);
    r.code = LitheFRSZ2GetExponent(&f, e, chunk / lanes);
    return r;
  }
  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
#pragma unroll
    for (int i = 0; i < words; i++) {
      if (bits == 32) q[i] = static_cast<int>(r.word[i]);
      else {
        q[2 * i]     = static_cast<int16_t>(r.word[i] & 0xffff);
        q[2 * i + 1] = static_cast<int16_t>(r.word[i] >> 16);
      }
    }
  }
  static __device__ __forceinline__ void Encode(const CBColumns &V, char *v, char *e, size_t chunk, bool there, const double x[], double z[])
  {
    const LitheFRSZ2 f    = Format();
    const int        E    = LitheFRSZ2Exponent(&f, V.base, CBLargest<lanes, w>(x));
    const double     step = CBStep2(E);
    uint32_t         word[words];
    int              q[w];

    CBQuantise<w>(f, E, x, q);
#pragma unroll
    for (int i = 0; i < words; i++) word[i] = 0;
#pragma unroll
    for (int i = 0; i < w; i++) {
      z[i] = q[i] * step;
      if (bits == 32) word[i] = static_cast<uint32_t>(q[i]);
      else word[i / 2] |= (static_cast<uint32_t>(q[i]) & 0xffff) << (i % 2 * 16);
    }
    if (!there) return;
    CBStoreWords<words>(v + 4 * words * chunk, word);
    if (threadIdx.x % lanes == 0) LitheFRSZ2SetExponent(&f, e, chunk / lanes, LitheFRSZ2ExponentCode(&f, V.base, E));
  }
};

/* FRSZ2 with 16 < bits < 32, odd. 8 numbers take `bits` bytes, which begin at any byte of a word; neighbouring chunks
   share a word */
template <int bits, int exponentbits>
struct CBFrszOdd : CBFrszFormat<bits, exponentbits> {
  using CBFrszFormat<bits, exponentbits>::Format;
  static constexpr int width = 8, words = (24 + 8 * bits + 31) / 32, chunkbits = 8 * bits, lanes = 4;
  struct Raw {
    uint32_t word[words], code;
  };
  /* four chunks begin at bits 0, 8, 16 and 24 of a word */
  static_assert(bits % 4 == 1 && bits < 32, "the last word of a chunk is the first word of the next chunk");

  /* The first word of a chunk */
  static __device__ __forceinline__ size_t First(size_t chunk)
  {
    return chunk / lanes * bits + chunk % lanes * (bits / 4);
  }
  static __device__ __forceinline__ int Shift()
  {
    return 8 * (threadIdx.x % lanes);
  }
  static __device__ __forceinline__ Raw Load(const CBColumns &, const char *v, const char *e, size_t chunk)
  {
    const LitheFRSZ2    f    = Format();
    const unsigned int *from = reinterpret_cast<const unsigned int *>(v) + First(chunk);
    Raw                 r;

#pragma unroll
    /* loads of constant data are not allowed in a kernel that begins early */
    for (int i = 0; i < words; i++) r.word[i] = from[i];
    r.code = LitheFRSZ2GetExponent(&f, e, chunk / lanes);
    return r;
  }
  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
    uint32_t word[words];

#pragma unroll
    for (int i = 0; i < words; i++) word[i] = __funnelshift_r(r.word[i], i + 1 < words ? r.word[i + 1] : 0, Shift());
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int at = bits * i / 32, shift = bits * i % 32;
      uint32_t  code = word[at] >> shift;

      if (shift + bits > 32) code = __funnelshift_r(word[at], word[at + 1 < words ? at + 1 : at], shift);
      q[i] = static_cast<int>(code << (32 - bits)) >> (32 - bits);
    }
  }
  static __device__ __forceinline__ void Encode(const CBColumns &V, char *v, char *e, size_t chunk, bool there, const double x[], double z[])
  {
    const LitheFRSZ2 f    = Format();
    const int        E    = LitheFRSZ2Exponent(&f, V.base, CBLargest<lanes, 8>(x));
    const double     step = CBStep2(E);
    uint32_t         word[words], *to = reinterpret_cast<uint32_t *>(v) + First(chunk), before;
    int              q[8];

    /* packs the codes from bit 0 on, then shifts the words and adds the end of the previous chunk */
#pragma unroll
    for (int i = 0; i < words; i++) word[i] = 0;
    CBQuantise<8>(f, E, x, q);
#pragma unroll
    for (int i = 0; i < 8; i++) {
      z[i] = q[i] * step;
      LitheFRSZ2Put(bits, word, i, q[i]);
    }
#pragma unroll
    for (int i = words - 1; i >= 0; i--) word[i] = __funnelshift_l(i ? word[i - 1] : 0, word[i], Shift());
    before = __shfl_up_sync(0xffffffffu, word[words - 1], 1, lanes);
    if (threadIdx.x % lanes) word[0] |= before;
    if (!there) return;
#pragma unroll
    for (int i = 0; i < words - 1; i++) to[i] = word[i];
    if (threadIdx.x % lanes == lanes - 1) to[words - 1] = word[words - 1];
    if (threadIdx.x % lanes == 0) LitheFRSZ2SetExponent(&f, e, chunk / lanes, LitheFRSZ2ExponentCode(&f, V.base, E));
  }
};

/* The same numbers in pairs, for loads only. A pair begins at any even bit of a word */
template <int bits, int exponentbits>
struct CBFrszOddPair : CBFrszFormat<bits, exponentbits> {
  using CBFrszFormat<bits, exponentbits>::Format;
  static constexpr int width = 2, words = 3, chunkbits = 2 * bits, lanes = LITHE_FRSZ2_BLOCK / 2;
  struct Raw {
    uint32_t word[words], code;
  };

  static_assert(bits > 16 && bits < 32, "two numbers and the preceding bits of their first word fit three words");

  static __device__ __forceinline__ int Bit()
  {
    return chunkbits * static_cast<int>(threadIdx.x % lanes);
  }
  static __device__ __forceinline__ Raw Load(const CBColumns &, const char *v, const char *e, size_t chunk)
  {
    const LitheFRSZ2    f    = Format();
    const unsigned int *from = reinterpret_cast<const unsigned int *>(v) + chunk / lanes * bits + Bit() / 32;

    /* the third word may belong to another block or be outside of the column, and is read only if the pair needs the
       word */
    return Raw{{__ldg(from), __ldg(from + 1), Bit() % 32 + chunkbits > 64 ? __ldg(from + 2) : 0}, LitheFRSZ2GetExponent(&f, e, chunk / lanes)};
  }
  static __device__ __forceinline__ void Decode(const CBColumns &, const Raw &r, double q[])
  {
    const uint32_t low = __funnelshift_r(r.word[0], r.word[1], Bit()), high = __funnelshift_r(r.word[1], r.word[2], Bit());

    q[0] = static_cast<int>(low << (32 - bits)) >> (32 - bits);
    q[1] = static_cast<int>(__funnelshift_r(low, high, bits) << (32 - bits)) >> (32 - bits);
  }
};

/* FRSZ2 with any number of bits, a kernel argument: general, but slow */
struct CBFrszAny {
  static constexpr int width = 8, words = 0, chunkbits = 0, lanes = 4;
  struct Raw {
    const uint32_t *block;
    uint32_t        code;
  };

  static __device__ __forceinline__ Raw Load(const CBColumns &V, const char *v, const char *e, size_t chunk)
  {
    return Raw{reinterpret_cast<const uint32_t *>(v) + chunk / lanes * V.frsz2.bits, LitheFRSZ2GetExponent(&V.frsz2, e, chunk / lanes)};
  }
  static __device__ __forceinline__ double Scale(const CBColumns &V, const Raw &r)
  {
    return LitheFRSZ2Step(&V.frsz2, V.base, static_cast<uint16_t>(r.code));
  }
  static __device__ __forceinline__ void Decode(const CBColumns &V, const Raw &r, double q[])
  {
#pragma unroll
    for (int i = 0; i < 8; i++) q[i] = static_cast<double>(LitheFRSZ2Get(V.frsz2.bits, r.block, static_cast<int>(8 * (threadIdx.x % lanes)) + i));
  }
  static __device__ __forceinline__ void Encode(const CBColumns &V, char *v, char *e, size_t chunk, bool there, const double x[], double z[])
  {
    const int      E    = LitheFRSZ2Exponent(&V.frsz2, V.base, CBLargest<lanes, 8>(x));
    const double   step = CBStep2(E);
    const uint64_t mask = (static_cast<uint64_t>(1) << V.frsz2.bits) - 1;
    uint8_t       *to   = reinterpret_cast<uint8_t *>(v) + chunk * V.frsz2.bits;
    uint64_t       bits = 0;
    int            have = 0;

    /* 8 numbers are a whole number of bytes, stored from the lowest bits of a word on */
#pragma unroll
    for (int i = 0; i < 8; i++) {
      const int64_t q = LitheFRSZ2Quantise(&V.frsz2, E, static_cast<PetscReal>(x[i]));

      z[i] = static_cast<double>(q) * step;
      bits |= (static_cast<uint64_t>(q) & mask) << have;
      for (have += V.frsz2.bits; have >= 8; have -= 8, bits >>= 8)
        if (there) *to++ = static_cast<uint8_t>(bits);
    }
    if (there && threadIdx.x % lanes == 0) LitheFRSZ2SetExponent(&V.frsz2, e, chunk / lanes, LitheFRSZ2ExponentCode(&V.frsz2, V.base, E));
  }
};
