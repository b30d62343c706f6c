/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Rounding to grids { q 2^e : q an integer }. The step is a power of two, so q 2^e is exact. 0, 1 and -1 stay unchanged
   on every grid with e <= 0, and a grid contains every coarser one. All arithmetic is in double, which holds float as
   well.
*/

#include <lithe/private/hostdevice.h>
#include <petscsys.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* Exponents of the smallest (subnormal) and of the largest power of two that PetscReal holds */
#if defined(PETSC_USE_REAL_SINGLE)
  #define LITHE_MIN_EXPONENT (-149)
  #define LITHE_MAX_EXPONENT 127
#else
  #define LITHE_MIN_EXPONENT (-1074)
  #define LITHE_MAX_EXPONENT 1023
#endif

/* 2^e for -1074 <= e <= 1023 */
LITHE_HD static inline double LithePow2(int e)
{
  const uint64_t bits = e >= -1022 ? (uint64_t)(e + 1023) << 52 : (uint64_t)1 << (e + 1074);
  double         h;

  memcpy(&h, &bits, sizeof(h));
  return h;
}

/* floor(log2 |v|) of a finite v != 0 */
LITHE_HD static inline int LitheFloorLog2(double v)
{
  uint64_t bits;
  int      e;

  memcpy(&bits, &v, sizeof(bits));
  e = (int)((bits >> 52) & 0x7ff);
  if (e) return e - 1023;
  frexp(v, &e);
  return e - 1;
}

LITHE_HD static inline int LitheClampExponent(int e)
{
  return e < LITHE_MIN_EXPONENT ? LITHE_MIN_EXPONENT : (e > LITHE_MAX_EXPONENT ? LITHE_MAX_EXPONENT : e);
}

/* Exponent of the largest power of two <= x > 0, within the range of PetscReal */
LITHE_HD static inline int LitheStepExponent(double x)
{
  return LitheClampExponent(LitheFloorLog2(x));
}

/* The integer nearest to q, |q| < 2^52; ties to even */
LITHE_HD static inline double LitheNearestInteger(double q)
{
#if defined(__CUDA_ARCH__)
  return rint(q);
#else
  const double big = q < 0. ? -4503599627370496. : 4503599627370496.;

  /* not a call on processors whose rounding instruction the compiler may not assume */
  return (q + big) - big;
#endif
}

/* Nearest multiple of 2^e, LITHE_MIN_EXPONENT <= e <= LITHE_MAX_EXPONENT; ties to even; zero is +0. Values that would
   overflow are rounded towards zero */
LITHE_HD static inline double LitheRoundToGrid(double v, int e)
{
  const double h = LithePow2(e), q = e >= -1022 ? v * LithePow2(-e) : v / h;
  double       r;

  /* at 2^52 steps and beyond v is a multiple of the step itself */
  if (!(fabs(q) < 4503599627370496.)) return v;
  r = LitheNearestInteger(q) * h;
  if (fabs(r) > PETSC_MAX_REAL) r = trunc(q) * h;
  return r + 0.;
}

/* The nearest number of single precision */
LITHE_HD static inline double LitheRoundToSingle(double v)
{
#if defined(__CUDA_ARCH__)
  return (double)(float)v + 0.;
#else
  /* volatile: optimising, GCC 12 drops both conversions where two components are converted side by side */
  volatile float f = (float)v;

  return (double)f + 0.;
#endif
}

#if defined(PETSC_USE_REAL_DOUBLE)
/*
   Many numbers at once, on the host. No branch depends on a number, so compilers vectorise the loops. All numbers must
   be in range. The results equal those of the functions above
*/

/* LitheRoundToGrid() of finite v with |v| < 2^(e+51), -1000 <= e <= 950 */
static inline void LitheRoundManyToGrid(size_t n, const double *PETSC_RESTRICT v, int e, double *PETSC_RESTRICT r)
{
  /* next to 1.5 2^52 the unit in the last place is 1 */
  const double h = LithePow2(e), perh = LithePow2(-e), big = 6755399441055744.;

  for (size_t k = 0; k < n; k++) r[k] = ((v[k] * perh + big) - big) * h + 0.;
}

/*
   v of 2^-900 <= |v| < 2^900, or 0, rounded to 53-drop bits, 0 < drop < 52: LitheRoundToGrid() to 2^(drop-52) |v|'s
   power of two
*/
static inline void LitheRoundManyMantissas(size_t n, const double *PETSC_RESTRICT v, int drop, double *PETSC_RESTRICT r)
{
  const uint64_t dropped = ((uint64_t)1 << drop) - 1, belowhalf = dropped >> 1;

  for (size_t k = 0; k < n; k++) {
    uint64_t bits;
    double   x;

    /* a carry out of the mantissa goes to the exponent, which is right */
    memcpy(&bits, &v[k], sizeof(bits));
    bits = (bits + belowhalf + ((bits >> drop) & 1)) & ~dropped;
    memcpy(&x, &bits, sizeof(x));
    r[k] = x + 0.;
  }
}
#endif

/* The smallest e with |v| <= limit 2^e, limit 127 or 32767 (bits 8 or 16) */
LITHE_HD static inline int LitheFixedExponent(double v, int bits)
{
  const double limit = bits == 8 ? 127. : 32767.;
  int          e;

  if (v == 0.) return LITHE_MIN_EXPONENT;
  e = LitheFloorLog2(v) - (bits - 2);
  if (e < LITHE_MIN_EXPONENT) return LITHE_MIN_EXPONENT;
  if (fabs(v) / LithePow2(e) > limit) e++;
  return e;
}

/*
   Two factors that turn a multiple of 2^exponent into the multiplier. A product is also exact, and takes less time than
   a quotient; the smallest powers of two have no reciprocal
*/
LITHE_HD static inline void LitheFixedReciprocal(int exponent, double per[2])
{
  const int part = exponent < -1000 ? -1000 : exponent;

  per[0] = LithePow2(-part);
  per[1] = LithePow2(part - exponent);
}

/* Exponent of the lowest set bit of a finite v != 0 */
LITHE_HD static inline int LitheLowestBit(double v)
{
  uint64_t bits, mantissa;
  int      e, low = 0;

  memcpy(&bits, &v, sizeof(bits));
  e        = (int)((bits >> 52) & 0x7ff);
  mantissa = bits & 0xfffffffffffffULL;
  if (e) mantissa |= 0x10000000000000ULL;
  else e = 1;
#if defined(__CUDA_ARCH__)
  low = __ffsll((long long)mantissa) - 1;
#elif defined(__GNUC__)
  low = __builtin_ctzll(mantissa);
#else
  while (!((mantissa >> low) & 1)) low++;
#endif
  return e - 1075 + low;
}
