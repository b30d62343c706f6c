/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Sums with the same bits for any order and any grouping of terms.

   A number is written in base 2^32. Its digits are added as integers, each place in a separate bin: no sum is rounded.
   An array keeps the bins of its highest occupied places, the same places for all entries. Lower bins are left out.
   Digits are taken from the magnitude, with the sign of the number, and do not depend on the kept places. A sum is
   therefore a function of the set of its terms: a bin left out early would also be left out in the end.

   The omitted part is less than 2^-64 of the largest term, 2^-32 in single precision. 2^31 terms do not overflow.
*/

#include <lithefarm.h>
#include <lithe/private/hostdevice.h>

#define LITHE_SUMS_BINS (PetscDefined(USE_REAL_SINGLE) ? 2 : 3)
#define LITHE_SUMS_MOST 3
#define LITHE_SUMS_BITS 32
#define LITHE_SUMS_BASE 4294967296.
#define LITHE_SUMS_NONE (-1000) /* the place of zero */

/* The place of the first digit of a finite magnitude, which is less than 2^(32 (place + 1)) */
static inline int LitheSumsPlace(PetscReal largest)
{
  int exponent;

  if (!(largest > 0)) return LITHE_SUMS_NONE;
  (void)frexp((double)largest, &exponent);
  return (exponent - 1 + 64 * LITHE_SUMS_BITS) / LITHE_SUMS_BITS - 64; /* rounded down */
}

/* 2^(16 place) and 2^(-16 place): scaling takes two factors, because a single factor might overflow */
static inline double LitheSumsHalf(int place)
{
  return ldexp(1, LITHE_SUMS_BITS / 2 * place);
}

/* Adds a number to its bins, the bin of the highest place first; half = LitheSumsHalf(-place). The number is less than
   2^(32 (place + 1)) */
static LITHE_HD inline void LitheSumsAddDigits(double x, double half, PetscInt64 *const bin[], PetscInt64 i)
{
  x = x * half * half;
  for (int b = 0; b < LITHE_SUMS_BINS; b++) {
    const PetscInt64 digit = (PetscInt64)x;

    bin[b][i] += digit;
    x = (x - (double)digit) * LITHE_SUMS_BASE;
  }
}

/* The number that bins hold; half = LitheSumsHalf(place) */
static LITHE_HD inline PetscReal LitheSumsOfDigits(double half, PetscInt64 *const bin[], PetscInt64 i)
{
  double sum = 0;

  for (int b = LITHE_SUMS_BINS - 1; b >= 0; b--) sum = sum / LITHE_SUMS_BASE + (double)bin[b][i];
  return (PetscReal)(sum * half * half);
}

/* Sums of n numbers, initially zero, of one process. memory: the place of bins and terms */
PETSC_EXTERN PetscErrorCode LitheSumsCreate(PetscMemType memory, PetscInt n, LitheSums *);
PETSC_EXTERN PetscErrorCode LitheSumsDestroy(LitheSums *);
/* An array for a term, zeros */
PETSC_EXTERN PetscErrorCode LitheSumsCreateTerm(LitheSums, PetscReal **);
PETSC_EXTERN PetscErrorCode LitheSumsZeroTerm(LitheSums, PetscReal *);
PETSC_EXTERN PetscErrorCode LitheSumsDestroyTerm(LitheSums, PetscReal **);
/* The largest magnitude of n numbers; infinite if any number is not finite */
PETSC_EXTERN PetscErrorCode LitheSumsLargest(PetscMemType memory, PetscInt n, const PetscReal x[], PetscReal *);
/* Adds n numbers, none above largest, which is finite */
PETSC_EXTERN PetscErrorCode LitheSumsAdd(LitheSums, PetscReal largest, const PetscReal x[]);
/*
   Raises the place of the first bin. The place and the bins, of n numbers each, are on the host and must not be changed
*/
PETSC_EXTERN PetscErrorCode LitheSumsRaise(LitheSums, int place);
/* Raises the place to the highest one of all processes. Collective */
PETSC_EXTERN PetscErrorCode LitheSumsAgree(LitheSums, MPI_Comm);
PETSC_EXTERN PetscErrorCode LitheSumsGetPlace(LitheSums, int *place);
PETSC_EXTERN PetscErrorCode LitheSumsGetBins(LitheSums, int *place, PetscInt64 **bin[]);
/* Adds bins on the host, whose first bin has the given place; bin is changed */
PETSC_EXTERN PetscErrorCode LitheSumsAddBins(LitheSums, int place, PetscInt64 *bin[]);
/* Writes the sums of this process to an array at the place of the bins */
PETSC_EXTERN PetscErrorCode LitheSumsFinish(LitheSums, PetscReal y[]);
/*
   LitheSumsReduce() with y in the memory of the bins. Collective on the communicator. gather() adds to root[], as long
   as y, the bins of all processes
*/
typedef PetscErrorCode      LitheSumsGatherFn(void *ctx, const PetscInt64 bin[], PetscInt64 root[]);
PETSC_EXTERN PetscErrorCode LitheSumsReduceBy(LitheSums, MPI_Comm, LitheSumsGatherFn *, void *ctx, PetscInt n, PetscReal y[]);
