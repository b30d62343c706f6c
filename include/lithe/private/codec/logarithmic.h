/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Logarithmically spaced values min q^k, k = 0 .. count-1, with a sign. The nearest in ratio of a v
   within [min, max] is v times a factor in [1/(1+d), 1+d], 1+d = sqrt(q).

   8 bit:  code c means coarse[c]; coarse[0] = 0
   16 bit: code c means coarse[c >> 8] fine[c & 255]; coarse[0] = 0, so that code 0 is zero

   Kernels of grouped columns and of complex boxes (cuda/vcrs/mult/groups.cu, cuda/vcrs/mult/stencil27.cu) look up both
   tables. With 8 bits, or with 16 bits and grouped columns, these kernels read only upper words, in half the time. In
   double precision entries of coarse[] are therefore rounded to the 21 bits of a double's upper word for all readers,
   if the rounding adds less than a 32nd to d. fine[c] is the value of a polynomial at c: these kernels evaluate the
   polynomial faster than they read a table. Near the ends of the range there is neither rounding nor polynomial.

   If both signs occur, coarse[1..127] are positive and coarse[128..254] negative; else coarse[1..255] have one sign.
*/

#include <lithe/private/hostdevice.h>
#include <petscsys.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#define LITHE_LOG_TABLE  512
#define LITHE_LOG_POWERS 5

/*
   The largest change of a logarithm by rounding to 21 bits: -log(1 - 2^-21), rounded up, and the polynomial's error.
   Twice the sum, for a product, is less than a 32nd of LITHE_LOG_SHORT
*/
#define LITHE_LOG_ROUNDING 4.7684e-7
#define LITHE_LOG_SHORT    3.06e-5

typedef struct {
  int       bits;                     /* 8 or 16 */
  int       count;                    /* magnitudes */
  int       negative;                 /* coarse code of the first negative magnitude */
  int       sign[2];                  /* codes of the first positive and of the first negative magnitude */
  int       isshort;                  /* whether lower words of coarse[] are zero, and fine[c] is LitheLogFine() */
  double    logmin, logstep, perstep; /* log min, log q, 1/log q */
  PetscReal coarse[256], fine[256];
  float     power[LITHE_LOG_POWERS];

  /* for LitheLogScaleEncodeMany(): a table of logarithms in steps, and the distance from a whole number below which
     a result is uncertain */
  double peroctave, unsure, table[LITHE_LOG_TABLE][2];
} LitheLogScale;

/* The nearest number whose lower word is zero */
LITHE_HD static inline double LitheRoundToUpperWord(double v)
{
  uint64_t bits;

  memcpy(&bits, &v, sizeof(bits));
  bits = (bits + 0x80000000ULL) & 0xffffffff00000000ULL;
  memcpy(&v, &bits, sizeof(v));
  return v;
}

/*
   q^c by the polynomial with this number of coefficients, constant first. Host and device give the same bits, since
   fmaf() rounds once on both. Trailing zero coefficients change no bit
*/
LITHE_HD static inline float LitheLogFine(int powers, const float power[], float c)
{
  float v = power[powers - 1];

  for (int k = powers - 2; k >= 0; k--) v = fmaf(v, c, power[k]);
  return v;
}

/*
   The polynomial of n coefficients that equals q^c, q = exp(step), at 0 and at n - 1 other points of [0, 255], zeros of
   the Chebyshev polynomial. Returns whether it is close enough to q^c
*/
LITHE_HD static inline int LitheLogInterpolate(double step, int n, float power[])
{
  const double first = cos(.5 * PETSC_PI / n);
  double       node[LITHE_LOG_POWERS], f[LITHE_LOG_POWERS], p[LITHE_LOG_POWERS];
  int          fits = 1;

  for (int k = 0; k < n; k++) {
    node[k] = 255. * (first - cos((k + .5) * PETSC_PI / n)) / (first + 1.);
    f[k]    = exp(step * node[k]);
    p[k]    = 0.;
  }

  /* divided differences, then the coefficients by Horner's scheme */
  for (int d = 1; d < n; d++) {
    for (int k = n - 1; k >= d; k--) f[k] = (f[k] - f[k - 1]) / (node[k] - node[k - d]);
  }
  for (int d = n - 1; d >= 0; d--) {
    for (int k = n - 1; k > 0; k--) p[k] = p[k - 1] - node[d] * p[k];
    p[0] = f[d] - node[d] * p[0];
  }
  for (int k = 0; k < LITHE_LOG_POWERS; k++) power[k] = k < n ? (float)p[k] : 0.F;
  for (int c = 0; c < 256; c++) {
    if (!(fabs(log((double)LitheLogFine(n, power, (float)c)) - step * c) <= LITHE_LOG_ROUNDING)) fits = 0;
  }
  return fits;
}

/* The shortest polynomial, of degree 2 to 4, that is close enough */
LITHE_HD static inline int LitheLogSetPowers(double step, float power[])
{
  for (int n = 3; n < LITHE_LOG_POWERS; n++) {
    if (LitheLogInterpolate(step, n, power)) return 1;
  }
  return LitheLogInterpolate(step, LITHE_LOG_POWERS, power);
}

/* min and max: smallest and largest nonzero modulus, or both 0; haspositive, hasnegative: signs that occur */
LITHE_HD static inline void LitheLogScaleSetUp(LitheLogScale *s, int bits, double min, double max, int haspositive, int hasnegative)
{
  const int    both = haspositive && hasnegative, ncoarse = both ? 127 : 255, perfine = bits == 8 ? 1 : 256;
  const double logmax = max > 0. ? log(max) : 0.;
  int          c, may, again;

  s->bits     = bits;
  s->count    = ncoarse * perfine;
  s->negative = both ? 128 : 1;
  s->sign[0]  = bits == 8 ? 1 : 256;
  s->sign[1]  = bits == 8 ? s->negative : 256 * s->negative;
  s->logmin   = min > 0. ? log(min) : 0.;
  s->logstep  = (logmax - s->logmin) / (s->count - 1);
  may         = sizeof(PetscReal) == sizeof(double) && .5 * s->logstep >= LITHE_LOG_SHORT && min > 1e-300 && max < 1e300;
  do {
    s->perstep = s->logstep > 0. ? 1. / s->logstep : 0.;
    s->isshort = LitheLogSetPowers(bits == 8 ? 0. : s->logstep, s->power) && may;
    for (c = 0; c < 256; c++) {
      s->fine[c]   = (PetscReal)(s->isshort ? (double)LitheLogFine(LITHE_LOG_POWERS, s->power, (float)c) : (bits == 8 ? 1. : exp(c * s->logstep)));
      s->coarse[c] = 0;
    }
    for (c = 0; c < ncoarse; c++) {
      double v = c ? exp(s->logmin + (double)c * perfine * s->logstep) : min;

      if (v > max || (bits == 8 && c == ncoarse - 1)) v = max;
      if (s->isshort) v = LitheRoundToUpperWord(v);
      if (haspositive) s->coarse[1 + c] = (PetscReal)v;
      if (hasnegative) s->coarse[s->negative + c] = (PetscReal)-v;
    }

    /* rounding may carry the last product beyond the largest number */
    again = fabs((double)s->coarse[ncoarse] * s->fine[255]) > PETSC_MAX_REAL;
    if (again) s->logstep *= 1. - 4. * (double)PETSC_MACHINE_EPSILON;
  } while (again);

  /*
     the series ends with r^2/2, |r| < 1/1024; its remainder and all rounding stay below 4e-10 of a logarithm. The table
     excludes subnormal numbers. Zero, which looks like 2^-1023, must lie below the scale
  */
  s->peroctave = 0.69314718055994530942 * s->perstep;
  s->unsure    = min >= 2.2250738585072014e-308 && s->logmin * s->perstep + 1023. * s->peroctave > 1. ? 1e-9 * (s->perstep + 1.) : 1.;
  for (c = 0; c < LITHE_LOG_TABLE; c++) {
    s->table[c][0] = LITHE_LOG_TABLE / (LITHE_LOG_TABLE + c + .5);
    s->table[c][1] = (-log(s->table[c][0]) - s->logmin) * s->perstep;
  }
}

/* d, including the rounding of the tables */
LITHE_HD static inline double LitheLogScaleBound(const LitheLogScale *s)
{
  const double logmax = s->logmin + s->logstep * (s->count - 1);
  /* log of the smallest subnormal number, half of which is the error of a table at a subnormal smallest magnitude */
  const double logtiny = sizeof(PetscReal) == 4 ? -103.27892990343184 : -744.4400719213812, lost = .5 * exp(logtiny - s->logmin);
  const double rounding = s->isshort ? (s->bits == 8 ? 1. : 2.) * LITHE_LOG_ROUNDING : 0.;

  if (!(s->logstep > 0.)) return 0.;
  return expm1(.5 * s->logstep + rounding + 4. * (double)PETSC_MACHINE_EPSILON * (1. + fabs(s->logmin) + fabs(logmax)) - log1p(-(lost < .5 ? lost : .5)));
}

/* a b + c, always rounded twice, even on a processor with a fused operation */
LITHE_HD static inline double LitheTimesPlus(double a, double b, double c)
{
#if defined(__CUDA_ARCH__)
  return __dadd_rn(__dmul_rn(a, b), c);
#else
  return a * b + c;
#endif
}

/* log v of a finite v > 0, to two units in the last place: the same code on host and device, where libraries differ */
LITHE_HD static inline double LitheLog(double v)
{
  /* v = 2^e m with m in [sqrt(1/2), sqrt(2)); subnormal numbers are scaled first */
  const int      subnormal = v < 2.2250738585072014e-308;
  const double   scaled    = subnormal ? v * 18014398509481984. : v;
  const uint64_t half      = 0x3fe6a09e667f3bcdULL;
  uint64_t       bits, up;
  double         m, e, s, t, series;

  memcpy(&bits, &scaled, sizeof(bits));
  up = bits + (0x3ff0000000000000ULL - half);
  e  = (double)((int)(up >> 52) - 1023 - (subnormal ? 54 : 0));
  up = (up & 0xfffffffffffffULL) + half;
  memcpy(&m, &up, sizeof(m));

  /* log m = 2 artanh s, s = (m - 1)/(m + 1), |s| < .1716 */
  s      = (m - 1.) / (m + 1.);
  t      = s * s;
  series = 1. / 19.;
  for (int k = 17; k >= 3; k -= 2) series = LitheTimesPlus(t, series, 1. / k);
  return LitheTimesPlus(e, 0.69314718055994530942, 2. * LitheTimesPlus(s, t * series, s));
}

LITHE_HD static inline uint16_t LitheLogScaleEncode(const LitheLogScale *s, double v)
{
  double k;

  if (v == 0.) return 0;
  k = LitheTimesPlus(LitheLog(fabs(v)) - s->logmin, s->perstep, .5);
  k = k < 0. ? 0. : (k > s->count - 1. ? s->count - 1. : k);
  return (uint16_t)((int)k + s->sign[v < 0.]);
}

/*
   The same code in a third of the time: by a rough logarithm, unless the logarithm is near the border between two
   codes. table: that of s
*/
LITHE_HD static inline uint16_t LitheLogScaleEncodeQuick(const LitheLogScale *s, const double table[][2], double x)
{
  const uint64_t one = 0x3ff0000000000000ULL, mantissa = 0xfffffffffffffULL;
  const double   last = s->count - 1., sure = .5 - s->unsure, second = -.5 * s->perstep, big = 6755399441055744.;
  uint64_t       bits, low;
  double         m, r, k, sum;
  int            i, e;

  /* |x| = 2^e m, m = (1 + r)/table[i][0] */
  memcpy(&bits, &x, sizeof(bits));
  low = (bits & mantissa) | one;
  memcpy(&m, &low, sizeof(m));
  i = (int)((bits >> 43) & (LITHE_LOG_TABLE - 1));
  e = (int)((bits >> 52) & 0x7ff) - 1023;
  r = m * table[i][0] - 1.;
  k = (double)e * s->peroctave + (table[i][1] + r * (s->perstep + r * second));

  /* values above the scale get its last code; values below the scale are uncertain */
  k = k < last ? k : last;
  k = k > -.5 ? k : -.5;

  /* next to 1.5 2^52 the unit in the last place is 1, and the lowest bits are the nearest whole number */
  sum = k + big;
  memcpy(&low, &sum, sizeof(low));
  return fabs(k - (sum - big)) < sure ? (uint16_t)((int)low + s->sign[bits >> 63]) : LitheLogScaleEncode(s, x);
}

static inline void LitheLogScaleEncodeMany(const LitheLogScale *s, size_t n, const PetscReal v[], uint16_t code[])
{
  for (size_t l = 0; l < n; l++) code[l] = LitheLogScaleEncodeQuick(s, s->table, (double)v[l]);
}

LITHE_HD static inline PetscReal LitheLogScaleDecode(const LitheLogScale *s, uint16_t c)
{
  return s->bits == 8 ? s->coarse[c] : s->coarse[c >> 8] * s->fine[c & 255];
}
