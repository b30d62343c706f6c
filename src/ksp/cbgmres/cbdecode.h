/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Many blocks of a stored vector decoded at once, on the host: the numbers of LitheStorageDecodeBlock(), by loops
   that compilers vectorise. Frequent storages have a loop each; all other widths of FRSZ2 share one loop.
*/

#include <lithe/private/lithecompiler.h>
#include <lithe/private/codec/storage.h>

/* A block has one step for all 32 numbers */
#define CB_DECODE_FRSZ2(TYPE)                                                                                                              \
  do {                                                                                                                                     \
    const TYPE *q = (const TYPE *)values + first;                                                                                          \
                                                                                                                                           \
    for (size_t b = 0; b < count / LITHE_FRSZ2_BLOCK; b++) {                                                                               \
      const double step = LitheFRSZ2Step(&s->frsz2, base, LitheFRSZ2GetExponent(&s->frsz2, exponents, first / LITHE_FRSZ2_BLOCK + b));     \
                                                                                                                                           \
      for (int i = 0; i < LITHE_FRSZ2_BLOCK; i++) v[LITHE_FRSZ2_BLOCK * b + i] = (PetscReal)((double)q[LITHE_FRSZ2_BLOCK * b + i] * step); \
    }                                                                                                                                      \
  } while (0)

/* With a constant number of bits all words and shifts of a block are constants */
static LITHE_ALWAYS_INLINE void CBDecodeBits(const LitheStorage *s, int bits, int base, size_t first, size_t count, const void *values, const void *exponents,
                                             PetscReal *PETSC_RESTRICT v)
{
  for (size_t b = 0; b < count / LITHE_FRSZ2_BLOCK; b++) {
    const size_t    block = first / LITHE_FRSZ2_BLOCK + b;
    const double    step  = LitheFRSZ2Step(&s->frsz2, base, LitheFRSZ2GetExponent(&s->frsz2, exponents, block));
    const uint32_t *words = (const uint32_t *)values + block * (size_t)bits;

    for (int i = 0; i < LITHE_FRSZ2_BLOCK; i++)
      v[LITHE_FRSZ2_BLOCK * b + i] = (PetscReal)((double)(bits <= 32 ? LitheFRSZ2Get32(bits, words, i) : LitheFRSZ2Get(bits, words, i)) * step);
  }
}

/* The bits of a float made from a number of a 16-bit format */
static LITHE_ALWAYS_INLINE float CBFloat(uint32_t bits)
{
  float v;

  memcpy(&v, &bits, sizeof(v));
  return v;
}

/*
   Decodes numbers first ... first+count-1 of a vector, both multiples of 32 (the last block of a vector is whole).
   Returns v, or the vector itself if the vector holds PetscReal.
*/
static LITHE_ALWAYS_INLINE const PetscReal *CBDecode(const LitheStorage *s, int base, size_t first, size_t count, const void *values, const void *exponents,
                                                     PetscReal *PETSC_RESTRICT v)
{
  switch (s->kind) {
  case LITHE_STORAGE_FULL:
    return (const PetscReal *)values + first;
  case LITHE_STORAGE_SINGLE: {
    const float *x = (const float *)values + first;

    for (size_t i = 0; i < count; i++) v[i] = (PetscReal)x[i];
    break;
  }
  case LITHE_STORAGE_HALF: {
    const uint16_t *x = (const uint16_t *)values + first;

    /* the exponent's offset by a product, which also makes subnormal numbers normal; infinity and NaN are put back */
    for (size_t i = 0; i < count; i++) {
      const uint32_t modulus = (uint32_t)(x[i] & 0x7fff) << 13, special = modulus >= 0x0f800000u ? 0x7f800000u : 0u;
      const float    finite = CBFloat(modulus) * 0x1p112f;
      uint32_t       bits;

      memcpy(&bits, &finite, sizeof(bits));
      v[i] = (PetscReal)CBFloat(bits | special | (uint32_t)(x[i] & 0x8000) << 16);
    }
    break;
  }
  case LITHE_STORAGE_BFLOAT16: {
    const uint16_t *x = (const uint16_t *)values + first;

    for (size_t i = 0; i < count; i++) v[i] = (PetscReal)CBFloat((uint32_t)x[i] << 16);
    break;
  }
  case LITHE_STORAGE_FRSZ2:
    if (s->bits == 32) CB_DECODE_FRSZ2(int32_t);
    else if (s->bits == 16) CB_DECODE_FRSZ2(int16_t);
    else if (s->bits == 21) CBDecodeBits(s, 21, base, first, count, values, exponents, v);
    else CBDecodeBits(s, s->bits, base, first, count, values, exponents, v);
    break;
  }
  return v;
}
