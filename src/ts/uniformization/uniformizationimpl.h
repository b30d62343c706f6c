/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   TSUNIFORMIZATION: p' = Q^T p for a generator Q of a Markov chain, by p(t) = sum_k w_k v_k. The w_k are Poisson
   weights of mean alpha t, v_0 = p(0), v_k = P^T v_(k-1), and P^T = I + Q^T / alpha.

   A pass is one sequence v_0, v_1, ... for one output time or several, whose windows of weights may overlap. An output
   is open while the index is in its window; it then has a vector for its sum.
*/

#include <lithets.h>
#include <lithe/private/lithestep.h>
#include <petsc/private/tsimpl.h>

/* Poisson weights of mean q from left to right, divided by their sum; lost: an upper bound of the omitted fraction */
typedef struct {
  PetscInt   left, right;
  PetscReal *weight; /* of left, ..., right */
  PetscReal *above;  /* the sums of weights after left, ..., after right, or NULL */
  PetscReal  lost;
} TSUniformizationWeights;

/* A time at which the solution is wanted */
typedef struct {
  PetscReal               time;
  TSUniformizationWeights weights;
  PetscReal               truncation, rounding; /* of the bound of this output */
  PetscReal               steady;               /* error by treating a vector as steady */
  PetscReal               negligible;           /* error by leaving out rows, in a series of products */
  Vec                     sum;                  /* NULL unless open */
  PetscBool               waits;                /* the sum lacks v_k, and takes it together with the next term */
  PetscReal               reward;               /* accumulated in this pass */
} TSUniformizationOutput;

/* The error spent until a time, and the reward accumulated until then */
typedef struct {
  PetscReal truncation, steady, negligible, rounding, reward;
} TSUniformizationSpent;

/* The active rows of products: of each product, or of every second, fourth, ... product */
#define TS_UNIFORMIZATION_TAKEN 4096
typedef struct {
  double        parts; /* of all rows, summed over all products */
  PetscInt64    products, every;
  PetscInt      n;
  LitheStepRows rows[TS_UNIFORMIZATION_TAKEN];
} TSUniformizationTaken;

typedef struct {
  /* options */
  TSUniformizationMethod method;
  PetscReal              eps, theta, factor, tolerance, negligible;
  PetscBool              steadystate, check;
  PetscInt               open;

  /* the matrix, and the results of its check */
  Mat              A;
  PetscObjectId    id;
  PetscObjectState state;
  PetscBool        checked; /* id and state belong to a checked matrix */
  PetscReal        maxrate, alpha, defect;
  PetscReal        drift;          /* observed relative deviation of the rates from the program's own functions */
  PetscReal        since;          /* the time of the first deviation */
  Vec              probe, product; /* a vector, and its product with the matrix; NULL without functions of the program */
  PetscInt         row;            /* nonzeros of the longest row, or -1 */
  PetscInt         reach[2];       /* the largest distance of rows of a column, before and after the column; known with row */

  /* vectors: v_k, work for the next product, the solution at the beginning of the pass, unused sums */
  Vec      v, work, base, free[64];
  PetscInt nfree;

  /* the pass */
  PetscReal               time;       /* beginning of the pass */
  PetscReal               norm;       /* || v_0 ||_1 */
  PetscInt                k, last;    /* the index of v, -1 before its terms; the index of the last term */
  LitheStepRows           rows;       /* outside of these rows v and work are zero */
  PetscInt                look, wait; /* the index of the next look at the ends, and the number of products between looks */
  PetscInt                looked;     /* the index of the vector whose ends are being summed, or -1 */
  PetscBool               ondevice;   /* v and work, on all processes */
  double                  leftout;    /* || omitted part of v ||_1, since v_0, without the last rows */
  double                  charged;    /* the part of the last rows, at most */
  PetscReal               unsettled;  /* info.negligible without either */
  LitheStepEnds           ends;
  PetscInt                n, done; /* outputs, and finished outputs */
  TSUniformizationOutput *output;
  PetscBool               steady; /* v does not change any more */

  /* errors and rewards at the beginning of the pass */
  PetscReal             start; /* time of the first step */
  TSUniformizationSpent spent;
  TSUniformizationTaken taken; /* in all products since then */

  TSUniformizationSpent before; /* the same, before a step that may be rolled back */

  Vec                  reward;
  PetscReal            accumulated;
  TSUniformizationInfo info;
} TS_Uniformization;

#define TS_UNIFORMIZATION_MAX_OPEN 64

PETSC_INTERN PetscErrorCode TSUniformizationWeightsCreate_Private(PetscReal q, PetscReal eps, PetscBool fromzero, PetscBool above, TSUniformizationWeights *);
PETSC_INTERN PetscErrorCode TSUniformizationWeightsDestroy_Private(TSUniformizationWeights *);
PETSC_INTERN PetscErrorCode TSUniformizationMatrix_Private(TS, PetscReal end, PetscBool step);
PETSC_INTERN PetscErrorCode TSUniformizationEvaluate_Private(TS, PetscReal, Vec);
PETSC_INTERN PetscErrorCode TSUniformizationRates_Private(TS, PetscReal end, PetscBool step);
PETSC_INTERN PetscErrorCode TSUniformizationRatesEnd_Private(TS);
PETSC_INTERN PetscErrorCode TSUniformizationStep_Private(Mat A, PetscReal alpha, const LitheStepRows *rows, Vec *v, Vec *work, PetscInt nsums,
                                                         const LitheStepSum sums[], PetscReal *change);
PETSC_INTERN PetscErrorCode TSUniformizationRowsBegin_Private(TS_Uniformization *);
PETSC_INTERN PetscErrorCode TSUniformizationRowsNext_Private(TS_Uniformization *);
PETSC_INTERN PetscErrorCode TSUniformizationRowsSettle_Private(TS_Uniformization *);
PETSC_INTERN void           TSUniformizationTakenReset_Private(TSUniformizationTaken *);
PETSC_INTERN void           TSUniformizationTakenAdd_Private(TSUniformizationTaken *, PetscInt n, const LitheStepRows *);
PETSC_INTERN PetscErrorCode TSUniformizationGetShares_Uniformization(TS, PetscInt, PetscInt[], PetscReal *);
PETSC_INTERN PetscErrorCode TSUniformizationGetWork_Uniformization(TS, PetscInt, const PetscInt[], PetscReal *);
PETSC_INTERN PetscErrorCode TSUniformizationSetNegligible_Uniformization(TS, PetscReal);
PETSC_INTERN void           TSUniformizationSave_Private(const TS_Uniformization *, TSUniformizationSpent *);
PETSC_INTERN void           TSUniformizationRestore_Private(TS_Uniformization *, const TSUniformizationSpent *);
PETSC_INTERN PetscErrorCode TSUniformizationPassBegin_Private(TS, PetscReal end, PetscInt n, const PetscReal times[]);
PETSC_INTERN PetscErrorCode TSUniformizationPassNext_Private(TS, Vec solution);
PETSC_INTERN PetscErrorCode TSUniformizationPassEnd_Private(TS);
PETSC_INTERN PetscErrorCode TSInterpolate_Uniformization(TS, PetscReal, Vec);
PETSC_INTERN PetscErrorCode TSUniformizationOptionsDefault_Private(TS);
PETSC_INTERN PetscErrorCode TSUniformizationCompose_Private(TS, PetscBool);
PETSC_INTERN PetscErrorCode TSSetFromOptions_Uniformization(TS, PetscOptionItems);
PETSC_INTERN PetscErrorCode TSView_Uniformization(TS, PetscViewer);
