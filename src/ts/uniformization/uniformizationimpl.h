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

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

#define TS_UNIFORMIZATION_MAX_OPEN 64

typedef struct {
  TSUniformizationMethod method;
  PetscReal              eps;         /* the permitted error of a solve */
  PetscReal              negligible;  /* the part of the permitted error for rows left out */
  PetscBool              steadystate; /* stops at a steady vector */
  PetscReal              theta;       /* expected jumps per interval */
  PetscReal              factor;      /* of the largest rate: alpha */
  PetscInt               open;        /* most outputs of a pass at once */
  PetscBool              check;       /* checks the generator, */
  PetscReal              tolerance;   /* and takes column sums up to this, relative to the diagonal, for rounding */
  Vec                    reward;      /* per unit of time, or NULL */
} TSUniformizationOptions;            /* owner: options.c */

/* The matrix, and the results of its check */
typedef struct {
  Mat              A; /* of the last step; ts has the reference */
  PetscObjectId    id;
  PetscObjectState state;
  PetscBool        checked;  /* id and state belong to a checked matrix */
  PetscReal        maxrate;  /* the largest rate of leaving a state */
  PetscReal        alpha;    /* the rate of the Poisson process */
  PetscReal        defect;   /* the largest column sum, divided by maxrate */
  PetscInt         row;      /* nonzeros of the longest row, at most; or -1 */
  PetscInt         reach[2]; /* the largest distance of rows of a column, before and after the column; known with row */
} TSUniformizationGenerator; /* owner: check.c */

/* Comparison of the program's own functions with the matrix; all zero without such functions */
typedef struct {
  PetscReal drift;          /* observed relative deviation of the rates */
  PetscReal since;          /* the beginning of the interval that was compared last */
  Vec       probe, product; /* a vector, and its product with the matrix at the beginning */
} TSUniformizationConstant; /* owner: constant.c */

typedef struct {
  Vec      v, work; /* v_k, and work for the next product */
  Vec      base;    /* the solution at the beginning of the pass */
  Vec      free[TS_UNIFORMIZATION_MAX_OPEN];
  PetscInt nfree;          /* unused vectors */
} TSUniformizationVectors; /* owner: vectors.c */

/* Poisson weights of mean q from left to right, divided by their sum; lost: an upper bound of the omitted fraction */
typedef struct {
  PetscInt   left, right;
  PetscReal *weight; /* of left, ..., right */
  PetscReal *above;  /* the sums of weights after left, ..., after right, or NULL */
  PetscReal  lost;
} TSUniformizationWeights; /* owner: weights.c */

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
} TSUniformizationOutput;                       /* owner: pass.c */

typedef struct {
  PetscReal               time;    /* beginning of the pass */
  PetscReal               norm;    /* || v_0 ||_1 */
  PetscInt                k, last; /* the index of v, -1 before its terms; the index of the last term */
  PetscInt                n, done; /* outputs, and finished outputs */
  TSUniformizationOutput *output;
  PetscBool               steady;   /* v does not change any more, */
  PetscInt                steadyat; /* since this product of the last pass; -1: it does */
  PetscInt64              products; /* of all passes since the first step, as are sums and passes: see TSUniformizationInfo */
  PetscInt64              sums;
  PetscInt                passes;
} TSUniformizationPass; /* owner: pass.c */

/* The active rows of v and work, and rows left out for next to nothing */
typedef struct {
  LitheStepRows rows;     /* outside of these rows v and work are zero */
  PetscInt      look;     /* the index of the next look at the ends */
  PetscInt      wait;     /* the number of products between looks */
  PetscInt      looked;   /* the index of the vector whose ends are being summed, or -1 */
  PetscBool     ondevice; /* v and work, on all processes */
  LitheStepEnds ends;
  double        leftout;   /* || omitted part of v ||_1, since v_0, without the last rows */
  double        charged;   /* the part of the last rows, at most */
  PetscReal     unsettled; /* the error by rows left out before v_0 */
} TSUniformizationActive;  /* owner: rows.c */

/* The active rows of products: of each product, or of every second, fourth, ... product */
#define TS_UNIFORMIZATION_TAKEN 4096
typedef struct {
  double        parts; /* of all rows, summed over all products */
  PetscInt64    products, every;
  PetscInt      n;
  LitheStepRows rows[TS_UNIFORMIZATION_TAKEN];
} TSUniformizationTaken; /* owner: shares.c */

/* The error spent until a time, and the reward accumulated until then */
typedef struct {
  PetscReal truncation, steady, negligible, rounding, reward;
} TSUniformizationSpent; /* owner: errors.c */

typedef struct {
  PetscReal             start; /* time of the first step */
  TSUniformizationSpent now;
  TSUniformizationSpent passbegin; /* at the beginning of the pass */
  TSUniformizationSpent stepbegin; /* before a step that may be rolled back */
  PetscReal             bound;     /* of the last output: the sum of the errors */
} TSUniformizationErrors;          /* owner: errors.c */

typedef struct {
  TSUniformizationOptions   opt;
  TSUniformizationGenerator generator;
  TSUniformizationConstant  constant;
  TSUniformizationVectors   vectors;
  TSUniformizationPass      pass;
  TSUniformizationActive    active;
  TSUniformizationTaken     taken; /* in all products since the first step */
  TSUniformizationErrors    errors;
} TS_Uniformization;

/* weights.c */
PETSC_INTERN PetscErrorCode TSUniformizationWeightsCreate_Private(PetscReal q, PetscReal eps, PetscBool fromzero, PetscBool above, TSUniformizationWeights *);
PETSC_INTERN PetscErrorCode TSUniformizationWeightsDestroy_Private(TSUniformizationWeights *);

/* errors.c */
PETSC_INTERN PetscReal TSUniformizationErrorsRounding_Private(const TS_Uniformization *, PetscReal q, PetscReal n);
PETSC_INTERN PetscReal TSUniformizationErrorsShare_Private(const TS_Uniformization *, PetscReal t, PetscReal end, PetscReal rounding);
PETSC_INTERN void      TSUniformizationErrorsStart_Private(TSUniformizationErrors *, PetscReal time);
PETSC_INTERN void      TSUniformizationErrorsBegin_Private(TSUniformizationErrors *);
PETSC_INTERN void      TSUniformizationErrorsSave_Private(TSUniformizationErrors *);
PETSC_INTERN void      TSUniformizationErrorsRestore_Private(TSUniformizationErrors *);
PETSC_INTERN void      TSUniformizationErrorsNegligible_Private(TSUniformizationErrors *, PetscReal all);
PETSC_INTERN void      TSUniformizationErrorsSteady_Private(TSUniformizationErrors *, PetscReal more);
PETSC_INTERN void      TSUniformizationErrorsDrift_Private(TSUniformizationErrors *, PetscReal more);
PETSC_INTERN void      TSUniformizationErrorsOutput_Private(TSUniformizationErrors *, const TSUniformizationOutput *);

/* vectors.c */
PETSC_INTERN PetscErrorCode TSUniformizationVectorsCreate_Private(TSUniformizationVectors *, Vec like);
PETSC_INTERN PetscErrorCode TSUniformizationVectorsReset_Private(TSUniformizationVectors *);
PETSC_INTERN PetscErrorCode TSUniformizationVectorsGet_Private(TSUniformizationVectors *, Vec *);
PETSC_INTERN PetscErrorCode TSUniformizationVectorsPut_Private(TSUniformizationVectors *, Vec *);
PETSC_INTERN PetscErrorCode TSUniformizationVectorsReplace_Private(TSUniformizationVectors *, Vec *);
PETSC_INTERN PetscErrorCode TSUniformizationVectorsStep_Private(TS_Uniformization *, PetscInt nsums, const LitheStepSum sums[], PetscReal *change);
PETSC_INTERN PetscErrorCode TSUniformizationStep_Private(Mat A, PetscReal alpha, const LitheStepRows *rows, Vec *v, Vec *work, PetscInt nsums,
                                                         const LitheStepSum sums[], PetscReal *change);

/* constant.c */
PETSC_INTERN PetscErrorCode TSUniformizationEvaluate_Private(TS, PetscReal, Vec);
PETSC_INTERN PetscErrorCode TSUniformizationConstant_Private(TS, PetscReal end, PetscBool step);
PETSC_INTERN PetscErrorCode TSUniformizationConstantEnd_Private(TS);
PETSC_INTERN PetscErrorCode TSUniformizationConstantReset_Private(TSUniformizationConstant *);

/* check.c */
PETSC_INTERN PetscErrorCode TSUniformizationMatrix_Private(TS, PetscReal end, PetscBool step);
PETSC_INTERN void           TSUniformizationMatrixForget_Private(TSUniformizationGenerator *);

/* shares.c */
PETSC_INTERN void           TSUniformizationTakenReset_Private(TSUniformizationTaken *);
PETSC_INTERN void           TSUniformizationTakenAdd_Private(TSUniformizationTaken *, PetscInt n, const LitheStepRows *);
PETSC_INTERN PetscErrorCode TSUniformizationGetShares_Uniformization(TS, PetscInt, PetscInt[], PetscReal *);
PETSC_INTERN PetscErrorCode TSUniformizationGetWork_Uniformization(TS, PetscInt, const PetscInt[], PetscReal *);

/* rows.c */
PETSC_INTERN PetscErrorCode TSUniformizationRowsBegin_Private(TS_Uniformization *);
PETSC_INTERN PetscErrorCode TSUniformizationRowsNext_Private(TS_Uniformization *);
PETSC_INTERN PetscErrorCode TSUniformizationRowsSettle_Private(TS_Uniformization *);
PETSC_INTERN PetscErrorCode TSUniformizationRowsReset_Private(TSUniformizationActive *);

/* pass.c */
PETSC_INTERN PetscErrorCode TSUniformizationPassBegin_Private(TS, PetscReal end, PetscInt n, const PetscReal times[]);
PETSC_INTERN PetscErrorCode TSUniformizationPassNext_Private(TS, Vec solution);
PETSC_INTERN PetscErrorCode TSUniformizationPassEnd_Private(TS);
PETSC_INTERN PetscErrorCode TSInterpolate_Uniformization(TS, PetscReal, Vec);

/* options.c */
PETSC_INTERN PetscErrorCode TSUniformizationOptionsDefault_Private(TS);
PETSC_INTERN PetscErrorCode TSUniformizationOptionsReset_Private(TSUniformizationOptions *);
PETSC_INTERN PetscErrorCode TSUniformizationCompose_Private(TS, PetscBool);
PETSC_INTERN PetscErrorCode TSUniformizationGetInfo_Uniformization(TS, TSUniformizationInfo *);
PETSC_INTERN PetscErrorCode TSSetFromOptions_Uniformization(TS, PetscOptionItems);

/* view.c */
PETSC_INTERN PetscErrorCode TSView_Uniformization(TS, PetscViewer);
