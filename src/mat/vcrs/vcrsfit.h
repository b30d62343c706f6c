/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Which small containers hold the values of a row without changing a bit; for host loops and kernels */

#include "vcrsbuildimpl.h"

/* Bits of the fixed point numbers that hold n values, with 2^*exponent as their unit: 8, 16, or 64 where 16 are not enough */
LITHE_HD static inline int VCRSRowFixedPointBits(PetscInt n, const PetscScalar a[], int *exponent)
{
  const PetscReal *v    = (const PetscReal *)a;
  double           max  = 0.;
  int              low  = LITHE_MAX_EXPONENT + 1, bits;

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

/* Are n values numbers of single precision? A NaN is not, because processors differ in how they convert it */
LITHE_HD static inline PetscBool VCRSRowIsSingle(PetscInt n, const PetscScalar a[])
{
  const PetscReal *v = (const PetscReal *)a;

  for (PetscInt k = 0; k < n * VCRS_COMPONENTS; k++) {
    const PetscReal x = v[k];

    /* what is beyond the range of float must not even be converted; the sign of a zero survives, so that a comparison of numbers does */
    if (PetscAbsReal(x) > (PetscReal)FLT_MAX) {
      if (!(PetscAbsReal(x) > PETSC_MAX_REAL)) return PETSC_FALSE;
    } else if (!(LitheRoundToSingle((double)x) == (double)x)) return PETSC_FALSE;
  }
  return PETSC_TRUE;
}
