/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The sums of KSPMPCG and its operations on arrays, as plain data: for the host and for a device */

#include <lithe/private/hostdevice.h>
#include <math.h>
#include <petscsys.h>

typedef enum {
  MPCG_GOES,
  MPCG_ZERO, /* (r, M r) = 0 */
  MPCG_PC,   /* the preconditioner is indefinite */
  MPCG_MAT,  /* the matrix is */
  MPCG_NOT_A_NUMBER
} MPCGStop;

/* The sums of an iteration */
typedef enum {
  MPCG_RZ, /* (r, M r) */
  MPCG_PQ, /* (p, A p) */
  MPCG_RR  /* (r, r) */
} MPCGSum;

/*
   The scalars of the method. They are where the vectors are. rz, pq and rr are over all processes, `mine` is not. next:
   (r, M r) of a diagonal M, which comes with (r, r); over all processes once that is
*/
typedef struct {
  double mine, next, rz, rzold, pq, pqold, rr, alpha, beta;
  int    its; /* directions since the method began */
  int    stop;
  int    updated; /* r is a true residual, and the next direction the first one for it */
} MPCGScalars;    /* a value */

#define MPCG_PARTS (PetscDefined(USE_COMPLEX) ? 2 : 1)

/*
   After an update (r, M r) may be much larger than before: r then has parts that the method did not know. The old
   direction is none for them, and a new one begins
*/
#define MPCG_JUMP 2

static LITHE_HD inline int MPCGIsFinite(double v)
{
  return v - v == 0;
}

/* What follows from a sum. After a stop alpha is 0: x and r stay */
static LITHE_HD inline void MPCGFinish(MPCGSum which, double sum, MPCGScalars *s)
{
  if (which == MPCG_RZ) {
    s->rzold = s->rz;
    s->rz    = sum;
    if (!MPCGIsFinite(sum)) s->stop = MPCG_NOT_A_NUMBER;
    else if (sum == 0) s->stop = MPCG_ZERO;
    else if (s->its && (sum < 0) != (s->rzold < 0)) s->stop = MPCG_PC;
    s->beta = s->its && !s->stop ? sum / s->rzold : 0;
    if (s->updated && s->beta > MPCG_JUMP) s->beta = 0;
    s->updated = 0;
  } else if (which == MPCG_PQ) {
    s->pqold = s->pq;
    s->pq    = sum;
    if (!s->stop && !MPCGIsFinite(sum)) s->stop = MPCG_NOT_A_NUMBER;
    if (!s->stop && (sum == 0 || (s->its && (sum < 0) != (s->pqold < 0)))) s->stop = MPCG_MAT;
    s->alpha = s->stop ? 0 : s->rz / sum;
    s->its++;
  } else {
    s->rr = sum;
    if (!s->stop && !MPCGIsFinite(sum)) s->stop = MPCG_NOT_A_NUMBER;
  }
}

/*
   Operations on n numbers. What the solution gains is in double precision: the residual of the method has no roundings
   of the solution. alone: the only process, whose sums are finished by MPCGFinish(). Sums of several processes go to
   `mine`, from where finish() takes them. d: a diagonal preconditioner, or NULL
*/
typedef struct {
  /* A sum (x, y) */
  PetscErrorCode (*dot)(MPCGSum, PetscInt n, const float x[], const float y[], PetscBool alone, MPCGScalars *);
  /* p = z + beta p, or d z + beta p */
  PetscErrorCode (*direction)(PetscInt n, const float d[], const float z[], float p[], const MPCGScalars *);
  /* y += alpha p, r -= alpha q; p NULL: only sums. The sum (r, r), and with d also the next (r, d r) */
  PetscErrorCode (*update)(PetscInt n, const float d[], const float p[], const float q[], double y[], float r[], PetscBool alone, MPCGScalars *);
  /* (r, M r) of a diagonal preconditioner: the next one, or without d the last (r, r) */
  PetscErrorCode (*take)(const float d[], MPCGScalars *);
  PetscErrorCode (*finish)(MPCGSum, MPCGScalars *);
  /* x = y in single precision, and y -= x */
  PetscErrorCode (*part)(PetscInt n, double y[], float x[]);
  /* b = factor r, x = factor y, between vectors of the user and those of the method */
  PetscErrorCode (*enter)(PetscInt n, double factor, const PetscReal r[], float b[]);
  PetscErrorCode (*leave)(PetscInt n, double factor, const float y[], PetscReal x[]);
  size_t bytes; /* of the scalars with their room for sums */
} MPCGKernels;
