/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Half precision and bfloat16 from and to double, in integer arithmetic: one rounding, to nearest, ties to even, with
   the same bits on every processor. (A conversion by way of single precision would round twice.)
*/

#include <lithe/private/hostdevice.h>
#include <stdint.h>
#include <string.h>

/* m / 2^shift, 0 < shift < 64, to nearest, ties to even */
LITHE_HD static inline uint64_t LitheShiftToNearest(uint64_t m, int shift)
{
  return (m + (((uint64_t)1 << (shift - 1)) - 1) + ((m >> shift) & 1)) >> shift;
}

/*
   A format of one sign bit and the given bits of exponent and mantissa, as in IEEE 754. A value beyond the range
   becomes infinity, a small value subnormal or zero; NaN stays NaN
*/
LITHE_HD static inline uint16_t LitheMinifloatEncode(int exponentbits, int mantissabits, double v)
{
  const int      drop = 52 - mantissabits, bias = (1 << (exponentbits - 1)) - 1;
  const uint64_t infinity = (((uint64_t)1 << exponentbits) - 1) << mantissabits, one = (uint64_t)1 << 52;
  uint64_t       bits, modulus, code;
  int            e;

  memcpy(&bits, &v, sizeof(bits));
  modulus = bits & 0x7fffffffffffffffULL;
  e       = (int)(modulus >> 52) - 1023 + bias;
  if (modulus > 0x7ff0000000000000ULL) code = infinity | ((uint64_t)1 << (mantissabits - 1));
  else if (e > 2 * bias) code = infinity;
  /* a carry out of the mantissa goes to the exponent, and from the largest number to infinity, which is right */
  else if (e > 0) code = LitheShiftToNearest(modulus - (uint64_t)(1023 - bias) * one, drop);
  /* less than half of the smallest number */
  else if (drop + 1 - e > 53) code = 0;
  else code = LitheShiftToNearest((modulus & (one - 1)) | one, drop + 1 - e);
  return (uint16_t)(code | (bits >> 63) << (exponentbits + mantissabits));
}

/* Every number of such a format is a double */
LITHE_HD static inline double LitheMinifloatDecode(int exponentbits, int mantissabits, uint16_t code)
{
  const int      bias = (1 << (exponentbits - 1)) - 1, e = (code >> mantissabits) & ((1 << exponentbits) - 1);
  const uint64_t mantissa = (uint64_t)code & (((uint64_t)1 << mantissabits) - 1), sign = (uint64_t)(code >> (exponentbits + mantissabits)) << 63;
  const uint64_t least = (uint64_t)(1024 - bias - mantissabits) << 52;
  uint64_t       bits;
  double         v;

  if (e == 0) {
    /* zero or subnormal: steps of the smallest number */
    memcpy(&v, &least, sizeof(v));
    v *= (double)mantissa;
    return sign ? -v : v;
  }
  bits = sign | (mantissa << (52 - mantissabits)) | ((e == 2 * bias + 1 ? (uint64_t)2047 : (uint64_t)(e - bias + 1023)) << 52);
  memcpy(&v, &bits, sizeof(v));
  return v;
}

LITHE_HD static inline uint16_t LitheHalfEncode(double v)
{
  return LitheMinifloatEncode(5, 10, v);
}

LITHE_HD static inline double LitheHalfDecode(uint16_t code)
{
  return LitheMinifloatDecode(5, 10, code);
}

LITHE_HD static inline uint16_t LitheBfloat16Encode(double v)
{
  return LitheMinifloatEncode(8, 7, v);
}

LITHE_HD static inline double LitheBfloat16Decode(uint16_t code)
{
  return LitheMinifloatDecode(8, 7, code);
}
