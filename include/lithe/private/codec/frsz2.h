/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   FRSZ2: blocks of 32 numbers q 2^e that share the exponent e; each q has l bits. docs/theory/frsz2.md is the
   specification. Each function works on one block or less and is the same code on host and device. A kernel that
   spreads a block over threads takes the pieces (exponent, quantise, put) and gets the same bits.

   Biased exponents E = e + 1023 are those of double, so E << 52 is the bit pattern of the step 2^e: E = 0 is a step of
   0 (a block of zeros, also zeroed memory), E = 2047 a step of infinity.
*/

#include <lithe/private/lithecompiler.h>
#include <lithe/private/codec/grid.h>

#define LITHE_FRSZ2_BLOCK    32
#define LITHE_FRSZ2_MIN_BITS 8
/* q is exact in PetscReal */
#if defined(PETSC_USE_REAL_SINGLE)
  #define LITHE_FRSZ2_MAX_BITS 24
  #define LITHE_FRSZ2_LEAST    897
#else
  #define LITHE_FRSZ2_MAX_BITS 53
  #define LITHE_FRSZ2_LEAST    1
#endif
#define LITHE_FRSZ2_SPECIAL 2047

typedef struct {
  int bits;         /* l: sign and significand of a value */
  int exponentbits; /* 16: E itself; 8: E minus the base of a vector; 0 and 255 stand for E = 0 and 2047 */
} LitheFRSZ2;

/* Returns 0, and sets nothing, if the format does not exist */
static inline int LitheFRSZ2SetUp(LitheFRSZ2 *f, int bits, int exponentbits)
{
  if (bits < LITHE_FRSZ2_MIN_BITS || bits > LITHE_FRSZ2_MAX_BITS || (exponentbits != 8 && exponentbits != 16)) return 0;
  f->bits         = bits;
  f->exponentbits = exponentbits;
  return 1;
}

/* |v| as a bit pattern: ascends with |v|, then infinity, then NaN. A maximum of whole numbers therefore suffices for a
   block */
LITHE_HD static inline uint64_t LitheFRSZ2Modulus(PetscReal v)
{
  const double x = (double)v;
  uint64_t     bits;

  memcpy(&bits, &x, sizeof(bits));
  return bits & 0x7fffffffffffffffULL;
}

/*
   Rounds v to the nearest multiple of 2^(E-1023), ties to even; beyond the range of q to the last multiple. With E =
   2047, 1 and -1 are infinities, and 0 is any other number
*/
LITHE_HD static inline int64_t LitheFRSZ2Quantise(const LitheFRSZ2 *f, int E, PetscReal v)
{
  const double limit = (double)(((int64_t)1 << (f->bits - 1)) - 1);
  double       q;

  if (E == 0) return 0;
  if (E == LITHE_FRSZ2_SPECIAL) return LitheFRSZ2Modulus(v) == 0x7ff0000000000000ULL ? (v > 0 ? 1 : -1) : 0;
  q = LitheNearestInteger((double)v * LithePow2(1023 - E));
  return (int64_t)(q > limit ? limit : (q < -limit ? -limit : q));
}

/* Without limits: the smallest E for which no finite number up to this modulus rounds to more than 2^(l-1) - 1 */
LITHE_HD static inline int LitheFRSZ2FreeExponent(const LitheFRSZ2 *f, uint64_t largest)
{
  /* a modulus that rounds up to the next power of two carries into the exponent */
  return (int)((largest + ((uint64_t)1 << (53 - f->bits))) >> 52) - (f->bits - 2);
}

/* With the largest E no number of the block overflows PetscReal */
LITHE_HD static inline int LitheFRSZ2MostExponent(const LitheFRSZ2 *f)
{
  return LITHE_MAX_EXPONENT + 1025 - f->bits;
}

/*
   The base of a vector with 8-bit exponents, from its largest modulus: blocks down to 2^-253 of this modulus have
   separate exponents
*/
LITHE_HD static inline int LitheFRSZ2Base(const LitheFRSZ2 *f, uint64_t largest)
{
  const int most = LitheFRSZ2MostExponent(f);
  int       E    = LitheFRSZ2FreeExponent(f, largest);

  if (f->exponentbits == 16) return 0;
  E = E < LITHE_FRSZ2_LEAST ? LITHE_FRSZ2_LEAST : (E > most ? most : E);
  return E > 254 ? E - 254 : 0;
}

/*
   E of a block with this largest modulus. The base is LitheFRSZ2Base() of this block or a larger one. A block beyond
   the base becomes NaN, never a wrong finite number
*/
LITHE_HD static inline int LitheFRSZ2Exponent(const LitheFRSZ2 *f, int base, uint64_t largest)
{
  const int least = base + 1 > LITHE_FRSZ2_LEAST ? base + 1 : LITHE_FRSZ2_LEAST, most = LitheFRSZ2MostExponent(f);
  double    modulus;
  int       E;

  if (largest >= 0x7ff0000000000000ULL) return LITHE_FRSZ2_SPECIAL;
  E = LitheFRSZ2FreeExponent(f, largest);
  E = E < least ? least : (E > most ? most : E);
  if (f->exponentbits == 8 && E > base + 254) return LITHE_FRSZ2_SPECIAL;
  memcpy(&modulus, &largest, sizeof(modulus));
  return LitheFRSZ2Quantise(f, E, (PetscReal)modulus) ? E : 0;
}

/* The stored form of E */
LITHE_HD static inline uint16_t LitheFRSZ2ExponentCode(const LitheFRSZ2 *f, int base, int E)
{
  if (f->exponentbits == 16 || E == 0) return (uint16_t)E;
  return (uint16_t)(E == LITHE_FRSZ2_SPECIAL ? 255 : E - base);
}

/* The step 2^(E-1023) from the stored form, which may be anything */
LITHE_HD static inline double LitheFRSZ2Step(const LitheFRSZ2 *f, int base, uint16_t code)
{
  const int      E    = f->exponentbits == 16 || code == 0 ? code : (code == 255 ? LITHE_FRSZ2_SPECIAL : base + code);
  const uint64_t bits = (uint64_t)(E & 0x7ff) << 52;
  double         step;

  memcpy(&step, &bits, sizeof(step));
  return step;
}

LITHE_HD static inline void LitheFRSZ2SetExponent(const LitheFRSZ2 *f, void *exponents, size_t block, uint16_t code)
{
  if (f->exponentbits == 8) ((uint8_t *)exponents)[block] = (uint8_t)code;
  else ((uint16_t *)exponents)[block] = code;
}

LITHE_HD static inline uint16_t LitheFRSZ2GetExponent(const LitheFRSZ2 *f, const void *exponents, size_t block)
{
  return f->exponentbits == 8 ? ((const uint8_t *)exponents)[block] : ((const uint16_t *)exponents)[block];
}

/* q of value i into the l words of its block, whose bits of q were zero */
LITHE_HD static inline void LitheFRSZ2Put(int bits, uint32_t *words, int i, int64_t q)
{
  const int      word = i * bits / 32, shift = i * bits % 32;
  const uint64_t code = (uint64_t)q & (((uint64_t)1 << bits) - 1);

  words[word] |= (uint32_t)(code << shift);
  if (shift + bits > 32) words[word + 1] |= (uint32_t)(code >> (32 - shift));
  if (shift + bits > 64) words[word + 2] |= (uint32_t)(code >> (64 - shift));
}

/* q of value i; no word is read without a part of q */
LITHE_HD static inline int64_t LitheFRSZ2Get(int bits, const uint32_t *words, int i)
{
  const int      word = i * bits / 32, shift = i * bits % 32;
  const uint64_t sign = (uint64_t)1 << (bits - 1);
  uint64_t       code = words[word];

  if (shift + bits > 32) code |= (uint64_t)words[word + 1] << 32;
  code >>= shift;
  if (shift + bits > 64) code |= (uint64_t)words[word + 2] << (64 - shift);
  code &= (sign << 1) - 1;
  return (int64_t)((code ^ sign) - sign);
}

/* The same for l <= 32, with a conversion to double that is cheap on a GPU */
LITHE_HD static inline int32_t LitheFRSZ2Get32(int bits, const uint32_t *words, int i)
{
  const int      word = i * bits / 32, shift = i * bits % 32;
  const uint32_t sign = (uint32_t)1 << (bits - 1);
  uint32_t       code = words[word] >> shift;

  /* here shift > 0 */
  if (shift + bits > 32) code |= words[word + 1] << (32 - shift);
  code &= sign | (sign - 1);
  return (int32_t)((code ^ sign) - sign);
}

/*
   LitheFRSZ2Quantise() and LitheFRSZ2Put() of a whole block of finite numbers, l = 8 or 16, by loops that compilers
   vectorise
*/
LITHE_HD static LITHE_ALWAYS_INLINE void LitheFRSZ2EncodeParts(int bits, int E, const PetscReal v[], uint32_t words[])
{
  const double   scale = LithePow2(1023 - E), limit = (double)((1 << (bits - 1)) - 1);
  const uint32_t mask = ((uint32_t)1 << bits) - 1;
  int32_t        q[LITHE_FRSZ2_BLOCK];

  for (int i = 0; i < LITHE_FRSZ2_BLOCK; i++) {
    const double nearest = LitheNearestInteger((double)v[i] * scale);

    q[i] = (int32_t)(nearest > limit ? limit : (nearest < -limit ? -limit : nearest));
  }
  for (int w = 0; w < bits; w++) {
    words[w] = 0;
    for (int part = 0; part < 32 / bits; part++) words[w] |= ((uint32_t)q[32 / bits * w + part] & mask) << (bits * part);
  }
}

/* n <= 32 numbers to the l words of a block; missing numbers are zeros. Returns the exponent to be stored */
LITHE_HD static LITHE_ALWAYS_INLINE uint16_t LitheFRSZ2EncodeBlock(const LitheFRSZ2 *f, int base, int n, const PetscReal v[], uint32_t words[])
{
  uint64_t largest = 0;
  int      E;

  for (int i = 0; i < n; i++) {
    const uint64_t modulus = LitheFRSZ2Modulus(v[i]); /* NOLINT(clang-analyzer-core.CallAndMessage): all n exist */

    if (modulus > largest) largest = modulus;
  }
  E = LitheFRSZ2Exponent(f, base, largest);
  if (n == LITHE_FRSZ2_BLOCK && E != 0 && E != LITHE_FRSZ2_SPECIAL && f->bits == 8) LitheFRSZ2EncodeParts(8, E, v, words);
  else if (n == LITHE_FRSZ2_BLOCK && E != 0 && E != LITHE_FRSZ2_SPECIAL && f->bits == 16) LitheFRSZ2EncodeParts(16, E, v, words);
  else {
    for (int w = 0; w < f->bits; w++) words[w] = 0;
    for (int i = 0; i < n; i++) LitheFRSZ2Put(f->bits, words, i, LitheFRSZ2Quantise(f, E, v[i]));
  }
  return LitheFRSZ2ExponentCode(f, base, E);
}

/* Value i of a block, with the step of LitheFRSZ2Step() */
LITHE_HD static inline PetscReal LitheFRSZ2DecodeOne(const LitheFRSZ2 *f, double step, const uint32_t words[], int i)
{
  return (PetscReal)((double)LitheFRSZ2Get(f->bits, words, i) * step);
}

/* A whole block, l = 8 or 16: as above */
LITHE_HD static LITHE_ALWAYS_INLINE void LitheFRSZ2DecodeParts(int bits, double step, const uint32_t words[], PetscReal v[])
{
  for (int w = 0; w < bits; w++) {
    for (int part = 0; part < 32 / bits; part++) {
      const int32_t q = (int32_t)(words[w] << (32 - bits * (part + 1))) >> (32 - bits);

      v[32 / bits * w + part] = (PetscReal)((double)q * step);
    }
  }
}

LITHE_HD static LITHE_ALWAYS_INLINE void LitheFRSZ2DecodeBlock(const LitheFRSZ2 *f, int base, int n, const uint32_t words[], uint16_t code, PetscReal v[])
{
  const double step = LitheFRSZ2Step(f, base, code);

  if (n == LITHE_FRSZ2_BLOCK && f->bits == 8) LitheFRSZ2DecodeParts(8, step, words, v);
  else if (n == LITHE_FRSZ2_BLOCK && f->bits == 16) LitheFRSZ2DecodeParts(16, step, words, v);
  else {
    for (int i = 0; i < n; i++) v[i] = LitheFRSZ2DecodeOne(f, step, words, i);
  }
}
