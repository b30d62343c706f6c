/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A step of a power series in a matrix, in one sweep over it: y = x + scale A x, and sum += weight y + before x for some sums. A matrix type
   that can do that composes the function "LitheMatStep_C" of this type; it is collective, and sums are all on the device or all on the host
   as x and y are. LitheMatStep() asks for it, and makes the step of any other matrix by a product and one more sweep.
*/

#include <lithe/private/hostdevice.h>
#include <lithe/private/lithememtype.h>

/* A sum that takes weight y + before x; first: it begins with that */
typedef struct {
  Vec       sum;
  PetscReal weight;
  PetscBool first;
  PetscReal before;
} LitheStepSum;

/* Rows of a step: all others of x and y, and of A x, are zero, and y is there already. So they may be left out */
typedef struct {
  PetscInt begin, end;
} LitheStepRows;

/*
   What a vector has at both ends of some of its rows: sum[k] of |entries| in rows.begin + k piece, ..., so many as a piece has, for k < pieces, and
   sum[pieces + k] in those before rows.end - k piece. Of a complex entry both parts count, so that a sum is no less than the 1-norm of
   the piece but for rounding. Pieces of one end must not get to those of the other. sum[2 pieces] is what
   LitheStepZeroRows() has found since the sums before these.
*/
#define LITHE_STEP_PIECES 256
#define LITHE_STEP_ZEROED 256 /* a device has so many parts of it */
typedef struct {
  LitheStepRows rows;
  PetscInt      piece, pieces;
  double        sum[2 * LITHE_STEP_PIECES + 1];
  double       *page;     /* where a device writes sums, and parts of zeroed; NULL at first */
  void         *written;  /* the event behind that */
  PetscBool     ondevice; /* they will be there */
  double        zeroed;   /* by this process, on the host */
  PetscInt      nzeroed;  /* parts of that in page */
} LitheStepEnds;

/* The first row of piece k, of those between first and last */
static inline LITHE_HD PetscInt64 LitheStepPieceBegin(PetscInt64 first, PetscInt64 last, PetscInt64 piece, PetscInt64 pieces, PetscInt64 k)
{
  return k < pieces ? first + k * piece : last - (k - pieces + 1) * piece;
}

/* How many sums a kernel takes at once */
#define LITHE_STEP_SUMS 4

/* The same for one process, as kernels and host loops take it: y = x + scale A x; sum[] are arrays where x is */
typedef struct {
  PetscReal    scale;
  PetscInt     nsums;
  PetscScalar *sum[LITHE_STEP_SUMS];
  PetscReal    weight[LITHE_STEP_SUMS], before[LITHE_STEP_SUMS];
  PetscBool    first[LITHE_STEP_SUMS];
  PetscInt     skip[2]; /* so many rows at the beginning and at the end may be left out, as with LitheStepRows */
} LitheStep;

/* At most LITHE_STEP_SUMS sums; rows of NULL: all */
typedef PetscErrorCode LitheMatStepFn(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/*
   Whether steps leave out rows that need not take part, on the device or on the host, as far as this process's rows are concerned. A type that may composes the
   function "LitheMatStepLeavesOut_C". It is known once there has been a step
*/
typedef PetscErrorCode      LitheMatStepLeavesOutFn(Mat A, PetscBool device, PetscBool *leaves);
PETSC_INTERN PetscErrorCode LitheMatStepLeavesOut(Mat A, PetscBool device, PetscBool *leaves);

/* Any matrix, any number of sums */
PETSC_INTERN PetscErrorCode LitheMatStep(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/* The vectors' part of it: y is A x, or with done what it is to be, so that only sums are left */
PETSC_INTERN PetscErrorCode LitheStepVectors(PetscReal scale, PetscBool done, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/* Whether x, y and all sums are on the device, or all in the host's memory; neither: vectors of both kinds, or of another type */
PETSC_INTERN PetscErrorCode LitheStepGetPlace(Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device, PetscBool *host);
/* Whether a product of A would have them on the device, too */
PETSC_INTERN PetscErrorCode LitheStepIsOnDevice(Mat A, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device);
/* The arrays of the sums, there */
PETSC_INTERN PetscErrorCode LitheStepGetArrays(PetscBool device, PetscReal scale, PetscInt nsums, const LitheStepSum sums[], LitheStep *step);
/* Which rows of this process may be left out; none where a sum begins, as it has all rows */
PETSC_INTERN PetscErrorCode LitheStepSetRows(const LitheStepRows *rows, Vec y, LitheStep *step);
PETSC_INTERN PetscErrorCode LitheStepRestoreArrays(PetscBool device, PetscInt nsums, const LitheStepSum sums[], LitheStep *step);

/* The same for arrays. dx, dy: on the device */
PETSC_INTERN PetscErrorCode LitheStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar x[], PetscScalar y[]);
/* The rows from the first to the last entry of x that is not zero; none: begin = end */
PETSC_INTERN PetscErrorCode LitheStepGetRows(Vec x, LitheStepRows *rows);
/* The sums at both ends of x as it is now, of all processes, once there was the second call, which is collective and
   waits for the device to have made them; x may be written meanwhile. The second call
   by itself, without pieces, tells what has been made zero */
PETSC_INTERN PetscErrorCode LitheStepEndsBegin(Vec x, LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheStepEndsEnd(Vec x, LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheStepEndsReset(LitheStepEnds *ends);
/*
   Makes two ranges of rows, each of which may be empty, zero in both vectors. LitheStepEndsEnd() tells what x had in
   them: it is called before these are others
*/
PETSC_INTERN PetscErrorCode LitheStepZeroRows(Vec x, Vec y, const LitheStepRows rows[2], LitheStepEnds *ends);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDAStepGetRows(PetscInt n, const PetscScalar dx[], LitheStepRows *rows);
/* ends->sum of the process that has n rows from begin on, after the second call, which waits */
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsBegin(PetscInt begin, PetscInt n, const PetscScalar dx[], LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsEnd(LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsReset(LitheStepEnds *ends);
/* Rows are counted from the process's first */
PETSC_INTERN PetscErrorCode LitheCUDAStepZeroRows(const LitheStepRows rows[2], PetscScalar dx[], PetscScalar dy[], LitheStepEnds *ends);
/* largest: of all |sum|; good: none is greater than tolerance |diagonal|, nor no number. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDAStepCheckSums(PetscInt n, const PetscScalar dsum[], const PetscScalar ddiagonal[], PetscReal tolerance, PetscReal *largest,
                                                   PetscBool *good);
PETSC_INTERN PetscErrorCode LitheCUDAStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar dx[], PetscScalar dy[]);
#endif
