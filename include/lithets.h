/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = TS */

#include <lithesys.h>
#include <petscts.h>

#define TSUNIFORMIZATION "uniformization"

/*E
  TSUniformizationMethod - how `TSUNIFORMIZATION` sums its series

  Values:
+ `TS_UNIFORMIZATION_INTERVALS` - the time in intervals of a given number of expected jumps, each a sum from the first term on
- `TS_UNIFORMIZATION_FOXGLYNN`  - one sum, of the terms whose Poisson weights count

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetMethod()`
E*/
typedef enum {
  TS_UNIFORMIZATION_INTERVALS,
  TS_UNIFORMIZATION_FOXGLYNN
} TSUniformizationMethod;
PETSC_EXTERN const char *const TSUniformizationMethods[];

/*S
  TSUniformizationInfo - work of a `TSUNIFORMIZATION` since its first step, and the bound of its error

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
  PetscBool  roundingknown; /* false where the rows of the matrix cannot be read: rounding then counts a row as one nonzero */
  PetscReal  defect;        /* the largest |column sum| of Q^T that the check found, over alpha */
  PetscInt64 products;      /* with Q^T */
  PetscReal  rows;          /* the part of the states in which the vectors of a product had entries, on average */
  PetscInt64 sums;          /* additions of w v to a solution */
  PetscInt   passes;        /* sequences of products that were begun */
  PetscInt   steadyat;      /* the product of the last pass after which its vector was taken for steady, or -1 */
} TSUniformizationInfo;

PETSC_EXTERN PetscErrorCode TSUniformizationSetMethod(TS, TSUniformizationMethod);
PETSC_EXTERN PetscErrorCode TSUniformizationGetMethod(TS, TSUniformizationMethod *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetEpsilon(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationGetEpsilon(TS, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetTheta(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationGetTheta(TS, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetRateFactor(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationGetRateFactor(TS, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetNegligible(TS, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationGetNegligible(TS, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetSteadyState(TS, PetscBool);
PETSC_EXTERN PetscErrorCode TSUniformizationGetSteadyState(TS, PetscBool *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetCheck(TS, PetscBool, PetscReal);
PETSC_EXTERN PetscErrorCode TSUniformizationGetCheck(TS, PetscBool *, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetOpenOutputs(TS, PetscInt);
PETSC_EXTERN PetscErrorCode TSUniformizationGetOpenOutputs(TS, PetscInt *);
PETSC_EXTERN PetscErrorCode TSUniformizationSetReward(TS, Vec);
PETSC_EXTERN PetscErrorCode TSUniformizationGetReward(TS, PetscReal *, PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetInfo(TS, TSUniformizationInfo *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetShares(TS, PetscInt, PetscInt[], PetscReal *);
PETSC_EXTERN PetscErrorCode TSUniformizationGetWork(TS, PetscInt, const PetscInt[], PetscReal *);
