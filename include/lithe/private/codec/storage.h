/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The storage of the entries of a vector: one interface to FRSZ2 and to the floating point formats.

   All formats use blocks of 32 numbers of 4 bits bytes; a complex number is two numbers, its parts. A vector is an
   array of values and an array of exponents (empty except for FRSZ2). Both arrays are aligned to 16 bytes, for wide
   loads, and have the lengths given here; no access exceeds these lengths.
*/

#include <lithe/private/codec/frsz2.h>
#include <lithe/private/codec/minifloat.h>

typedef enum {
  LITHE_STORAGE_FULL, /* PetscReal */
  LITHE_STORAGE_SINGLE,
  LITHE_STORAGE_HALF,
  LITHE_STORAGE_BFLOAT16,
  LITHE_STORAGE_FRSZ2
} LitheStorageKind;

typedef struct {
  LitheStorageKind kind;
  int              bits; /* a value */
  LitheFRSZ2       frsz2;
} LitheStorage;

/* bits and exponentbits: for FRSZ2. Returns 0 if the format does not exist */
static inline int LitheStorageSetUp(LitheStorage *s, LitheStorageKind kind, int bits, int exponentbits)
{
  memset(s, 0, sizeof(*s));
  s->kind = kind;
  switch (kind) {
  case LITHE_STORAGE_FULL:
    s->bits = 8 * (int)sizeof(PetscReal);
    return 1;
  case LITHE_STORAGE_SINGLE:
    s->bits = 32;
    return 1;
  case LITHE_STORAGE_HALF:
  case LITHE_STORAGE_BFLOAT16:
    s->bits = 16;
    return 1;
  case LITHE_STORAGE_FRSZ2:
    s->bits = bits;
    return LitheFRSZ2SetUp(&s->frsz2, bits, exponentbits);
  }
  return 0;
}

/* Number of blocks for n numbers, the last of which may be partial */
LITHE_HD static inline size_t LitheStorageBlocks(size_t n)
{
  return n / LITHE_FRSZ2_BLOCK + (n % LITHE_FRSZ2_BLOCK != 0);
}

LITHE_HD static inline size_t LitheStorageAlign(size_t bytes)
{
  return (bytes + 15) / 16 * 16;
}

LITHE_HD static inline size_t LitheStorageValueBytes(const LitheStorage *s, size_t n)
{
  return LitheStorageAlign(4 * (size_t)s->bits * LitheStorageBlocks(n));
}

LITHE_HD static inline size_t LitheStorageExponentBytes(const LitheStorage *s, size_t n)
{
  return s->kind == LITHE_STORAGE_FRSZ2 ? LitheStorageAlign((size_t)s->frsz2.exponentbits / 8 * LitheStorageBlocks(n)) : 0;
}

/* Bits per value, including its part of the exponent */
LITHE_HD static inline double LitheStorageBitsPerValue(const LitheStorage *s)
{
  return s->bits + (s->kind == LITHE_STORAGE_FRSZ2 ? s->frsz2.exponentbits / (double)LITHE_FRSZ2_BLOCK : 0.);
}

/* Encodes a block of n <= 32 numbers; base: LitheFRSZ2Base(), or 0 in formats without exponents */
LITHE_HD static inline void LitheStorageEncodeBlock(const LitheStorage *s, int base, size_t block, int n, const PetscReal v[], void *values, void *exponents)
{
  const size_t first = block * LITHE_FRSZ2_BLOCK;

  if (s->kind == LITHE_STORAGE_FRSZ2) {
    LitheFRSZ2SetExponent(&s->frsz2, exponents, block, LitheFRSZ2EncodeBlock(&s->frsz2, base, n, v, (uint32_t *)values + block * (size_t)s->bits));
    return;
  }
  for (int i = 0; i < LITHE_FRSZ2_BLOCK; i++) {
    const PetscReal x = i < n ? v[i] : 0; /* NOLINT(clang-analyzer-core.uninitialized.Assign): all n exist */

    if (s->kind == LITHE_STORAGE_FULL) ((PetscReal *)values)[first + (size_t)i] = x;
    else if (s->kind == LITHE_STORAGE_SINGLE) ((float *)values)[first + (size_t)i] = (float)x;
    else ((uint16_t *)values)[first + (size_t)i] = s->kind == LITHE_STORAGE_HALF ? LitheHalfEncode((double)x) : LitheBfloat16Encode((double)x);
  }
}

LITHE_HD static inline void LitheStorageDecodeBlock(const LitheStorage *s, int base, size_t block, int n, const void *values, const void *exponents,
                                                    PetscReal v[])
{
  const size_t first = block * LITHE_FRSZ2_BLOCK;

  if (s->kind == LITHE_STORAGE_FRSZ2) {
    LitheFRSZ2DecodeBlock(&s->frsz2, base, n, (const uint32_t *)values + block * (size_t)s->bits, LitheFRSZ2GetExponent(&s->frsz2, exponents, block), v);
    return;
  }
  for (int i = 0; i < n; i++) {
    if (s->kind == LITHE_STORAGE_FULL) v[i] = ((const PetscReal *)values)[first + (size_t)i];
    else if (s->kind == LITHE_STORAGE_SINGLE) v[i] = (PetscReal)((const float *)values)[first + (size_t)i];
    else if (s->kind == LITHE_STORAGE_HALF) v[i] = (PetscReal)LitheHalfDecode(((const uint16_t *)values)[first + (size_t)i]);
    else v[i] = (PetscReal)LitheBfloat16Decode(((const uint16_t *)values)[first + (size_t)i]);
  }
}

/* The base of n numbers */
static inline int LitheStorageBase(const LitheStorage *s, size_t n, const PetscReal v[])
{
  uint64_t largest = 0;

  if (s->kind != LITHE_STORAGE_FRSZ2 || s->frsz2.exponentbits == 16) return 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t modulus = LitheFRSZ2Modulus(v[i]);

    /* NaN and infinity have no exponent: finite numbers of the block determine the exponent */
    if (modulus > largest && modulus < 0x7ff0000000000000ULL) largest = modulus;
  }
  return LitheFRSZ2Base(&s->frsz2, largest);
}

/* Encodes n numbers on the host. Returns the base for decoding */
static inline int LitheStorageEncode(const LitheStorage *s, size_t n, const PetscReal v[], void *values, void *exponents)
{
  const int base = LitheStorageBase(s, n, v);

  for (size_t block = 0; block < LitheStorageBlocks(n); block++) {
    const size_t first = block * LITHE_FRSZ2_BLOCK, rest = n - first;

    LitheStorageEncodeBlock(s, base, block, rest < LITHE_FRSZ2_BLOCK ? (int)rest : LITHE_FRSZ2_BLOCK, v + first, values, exponents);
  }
  return base;
}

static inline void LitheStorageDecode(const LitheStorage *s, int base, size_t n, const void *values, const void *exponents, PetscReal v[])
{
  for (size_t block = 0; block < LitheStorageBlocks(n); block++) {
    const size_t first = block * LITHE_FRSZ2_BLOCK, rest = n - first;

    LitheStorageDecodeBlock(s, base, block, rest < LITHE_FRSZ2_BLOCK ? (int)rest : LITHE_FRSZ2_BLOCK, values, exponents, v + first);
  }
}
