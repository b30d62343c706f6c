/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = TS */

#include <lithesys.h>
#include <petscts.h>

#define TSUNIFORMIZATION "uniformization"

/*E
  TSUniformizationMethod - method of `TSUNIFORMIZATION` for the sum of a series

  Values:
+ `TS_UNIFORMIZATION_INTERVALS` - a sum from the first term on for each interval of a given number of expected jumps
- `TS_UNIFORMIZATION_FOXGLYNN`  - one sum over the terms with significant Poisson weights

  Level: intermediate

.seealso: `TSUNIFORMIZATION`
E*/
typedef enum {
  TS_UNIFORMIZATION_INTERVALS,
  TS_UNIFORMIZATION_FOXGLYNN
} TSUniformizationMethod;
PETSC_EXTERN const char *const TSUniformizationMethods[];

/*S
  TSUniformizationInfo - work of a `TSUNIFORMIZATION` since its first step, the error bound, and the permitted error

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetInfo()`
S*/
typedef struct {
  PetscReal  alpha;         /* the rate of the Poisson process */
  PetscReal  bound;         /* || p - exp(Q^T t) p(0) ||_1 <= bound || p(0) ||_1, at the present time; the sum of the next four */
  PetscReal  truncation;    /* of the Poisson weights */
  PetscReal  steady;        /* of taking a vector for steady */
  PetscReal  negligible;    /* of states left out */
  PetscReal  rounding;      /* of products and sums, at the worst, with the defect of the column sums and of rates from functions */
  PetscBool  roundingknown; /* false if the rows of the matrix cannot be read: rounding then counts a row as one nonzero */
  PetscReal  defect;        /* the largest |column sum| of Q^T found by the check, divided by alpha */
  PetscInt64 products;      /* with Q^T */
  PetscReal  rows;          /* the part of the states in which the vectors of a product had entries, on average */
  PetscInt64 sums;          /* additions of w v to a solution */
  PetscInt   passes;        /* sequences of products begun */
  PetscInt   steadyat;      /* the product of the last pass after which its vector counted as steady, or -1 */
  PetscReal  epsilon;       /* the permitted error, see TSUniformizationSetEpsilon() */
  PetscReal  part;          /* of the permitted error, for states left out, see TSUniformizationSetNegligible() */
} TSUniformizationInfo;

PETSC_EXTERN PetscErrorCode TSUniformizationSetEpsilon(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationSetNegligible(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationSetSteadyState(TS, PetscBool);
PETSC_EXTERN PetscErrorCode TSUniformizationSetReward(TS, Vec);
PETSC_EXTERN PetscErrorCode TSUniformizationGetReward(TS, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetInfo(TS, TSUniformizationInfo *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetShares(TS, PetscInt, PetscInt[], PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetWork(TS, PetscInt, const PetscInt[], PetscReal *);
