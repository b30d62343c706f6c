/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Which small containers hold the values of a row without changing a bit; for host loops and kernels */

#include <lithe/private/vcrs/build.h>

/* Bits of the fixed point numbers that hold n values in the unit 2^*exponent: 8, 16, or 64 if 16 are not enough */
LITHE_HD static inline int VCRSRowFixedPointBits(PetscInt n, const PetscScalar a[], int *exponent)
{
  const PetscReal *v   = (const PetscReal *)a;
  double           max = 0.;
  int              low = LITHE_MAX_EXPONENT + 1, bits;

  *exponent = 0;
  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    const double x = (double)v[k];

    if (x == 0.) {
      if (signbit(x)) return 64;
      continue;
    }
    if (!(fabs(x) <= (double)PETSC_MAX_REAL)) return 64;
    max = PetscMax(max, fabs(x));
    low = PetscMin(low, LitheLowestBit(x));
    if (LitheFloorLog2(max) - low > 14) return 64;
  }
  if (max == 0.) return 8;
  bits      = LitheFloorLog2(max) - low > 6 ? 16 : 8;
  *exponent = low;
  return bits;
}

/* Are n values numbers of single precision? A NaN is not, because processors convert NaN differently */
LITHE_HD static inline PetscBool VCRSRowIsSingle(PetscInt n, const PetscScalar a[])
{
  const PetscReal *v = (const PetscReal *)a;

  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    const PetscReal x = v[k];

    /* a value beyond the range of float must not even be converted. The sign of a zero survives: a comparison of
       numbers suffices */
    if (PetscAbsReal(x) > (PetscReal)FLT_MAX) {
      if (!(PetscAbsReal(x) > PETSC_MAX_REAL)) return PETSC_FALSE;
    } else if (!(LitheRoundToSingle((double)x) == (double)x)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

#if !defined(__CUDA_ARCH__)
/* VCRSRowFixedPointBits(), in a vector loop where near is a number like the exponent: *exponent of another row, say */
static inline int VCRSRowFixedPointBitsNear(PetscInt n, const PetscScalar a[], int near, int *exponent)
{
  #if defined(PETSC_USE_REAL_DOUBLE)
  /* in units of 2^unit, a number below 2^51 equals the lowest bits of its sum with 1.5 2^52 */
  const int     unit = near - 18;
  const double *v = (const double *)a, big = 6755399441055744.;
  uint64_t      all = 0, wrong = 0;

  if (unit >= -1000 && unit <= 0) { /* prevents numbers from vanishing */
    const double perunit = LithePow2(-unit);

    for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
      const double x = v[k], q = fabs(x) * perunit, sum = q + big;

      all |= LitheBits(sum);
      wrong |= LitheBits(sum - big) ^ LitheBits(q); /* not a whole number */
      wrong |= LitheBits(x + 0.) ^ LitheBits(x);    /* -0 */
    }
    if (!wrong && (!n || all >> 52 == LitheBits(big) >> 52)) {
      const uint64_t q = all & 0x7ffffffffffffULL;
      int            low, high;

      *exponent = 0;
      if (!q) return 8;
      low  = LitheLowestBit((double)q);
      high = LitheFloorLog2((double)q);
      if (high - low > 14) return 64;
      *exponent = unit + low;
      return high - low > 6 ? 16 : 8;
    }
  }
  #endif
  return VCRSRowFixedPointBits(n, a, exponent);
}

/* VCRSRowFixedPointBits() of n entries that have codes, numbers of steps of 2^step */
static inline int VCRSRowFixedPointBitsOf(PetscInt n, const uint16_t code[], int step, int *exponent)
{
  int all = 0, low;

  *exponent = 0;
  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    const int q = (int16_t)code[k];

    all |= PetscMax(q, -q);
  }
  if (!all) return 8;
  low       = LitheLowestBit((double)all);
  *exponent = step + low;
  return LitheFloorLog2((double)all) - low > 6 ? 16 : 8;
}

/* VCRSRowIsSingle(), in a vector loop */
static inline PetscBool VCRSRowIsSingleFast(PetscInt n, const PetscScalar a[])
{
  #if defined(PETSC_USE_REAL_DOUBLE)
  const double  *v     = (const double *)a;
  const uint64_t least = LitheBits((double)FLT_MIN), most = LitheBits((double)FLT_MAX);
  uint64_t       all = 0, outside = 0;

  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    all |= LitheBits(v[k]);
    outside |= LitheOutside(LitheBits(v[k]), least, most);
  }
  if (all & 0x1fffffff) return PETSC_FALSE; /* more than 24 bits */
  if (!(outside >> 63)) return PETSC_TRUE;
  #endif
  return VCRSRowIsSingle(n, a);
}
#endif
