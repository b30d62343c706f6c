/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Numbers as bit patterns: -0 differs from 0, and a NaN equals itself */

#include <lithe/private/hostdevice.h>
#include <petscsys.h>
#include <stdint.h>
#include <string.h>

/*
   Adds a word to a hash. Every bit of h and w reaches the upper half; LitheHashFinish() mixes the upper half into the
   lower half
*/
LITHE_HD static inline uint64_t LitheHashWord(uint64_t h, uint64_t w)
{
  h = (h ^ w) * 0x9e3779b97f4a7c15ULL;
  return h ^ (h >> 29);
}

LITHE_HD static inline uint64_t LitheHashFinish(uint64_t h)
{
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  return h ^ (h >> 32);
}

LITHE_HD static inline uint64_t LitheHashReal(uint64_t h, PetscReal v)
{
  uint64_t w = 0;

  memcpy(&w, &v, sizeof(v) < sizeof(w) ? sizeof(v) : sizeof(w));
  return LitheHashWord(h, w);
}

LITHE_HD static inline uint64_t LitheHashScalar(uint64_t h, PetscScalar v)
{
#if defined(PETSC_USE_COMPLEX)
  return LitheHashReal(LitheHashReal(h, PetscRealPart(v)), PetscImaginaryPart(v));
#else
  return LitheHashReal(h, v);
#endif
}

LITHE_HD static inline int LitheSameBitsReal(PetscReal a, PetscReal b)
{
  return !memcmp(&a, &b, sizeof(a));
}

/*
   The highest bit is set if |v| is neither 0 nor in [least, most], with v and the limits as bit patterns. Vector loops
   can compare whole numbers on every processor
*/
static inline uint64_t LitheOutside(uint64_t v, uint64_t least, uint64_t most)
{
  const uint64_t modulus = v & 0x7fffffffffffffffULL, below = modulus - 1; /* 0 becomes the largest number */

  return (modulus + 0x7fffffffffffffffULL - most) | ((below - (least - 1)) & ~below);
}

static inline uint64_t LitheBits(double v)
{
  uint64_t bits;

  memcpy(&bits, &v, sizeof(bits));
  return bits;
}
