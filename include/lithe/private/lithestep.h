/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A step of a power series in a matrix, in one sweep over the matrix: y = x + scale A x, and sum += weight y + before x
   for some sums. A matrix type with such a step composes the function "LitheMatStep_C" of type LitheMatStepFn. The
   function is collective; x, y and all sums are on the device, or all on the host. LitheMatStep() looks for the
   function. Without the function LitheMatStep() makes the step by a product and one more sweep.
*/

#include <lithe/private/hostdevice.h>
#include <lithe/private/lithememtype.h>

/* A sum to which weight y + before x is added; first: the sum is set to this term */
typedef struct {
  Vec       sum;
  PetscReal weight;
  PetscBool first;
  PetscReal before;
} LitheStepSum;

/* Rows of a step. In all other rows x, A x and y are already zero: these rows may be left out */
typedef struct {
  PetscInt begin, end;
} LitheStepRows;

/*
   Sums of |entries| at both ends of a range of rows. For k < pieces, sum[k] is the sum of the piece from row rows.begin
   + k piece on. sum[pieces + k] is the sum of the piece before row rows.end - k piece. Both parts of a complex entry
   count, so a sum is at least the 1-norm of the piece, up to rounding. Pieces of the two ends must not overlap. sum[2
   pieces] is the sum found by LitheStepZeroRows() since the previous sums.
*/
#define LITHE_STEP_PIECES 256
#define LITHE_STEP_ZEROED 256 /* parts of the sum of zeroed entries on a device */
typedef struct {
  LitheStepRows rows;
  PetscInt      piece, pieces;
  double        sum[2 * LITHE_STEP_PIECES + 1];
  double       *page;     /* host memory to which a device writes sums, and parts of zeroed; NULL at first */
  void         *written;  /* the event after the write */
  PetscBool     ondevice; /* the sums come from the device */
  double        zeroed;   /* over this process, on the host */
  PetscInt      nzeroed;  /* parts of zeroed in page */
} LitheStepEnds;

/* The first row of piece k, of the pieces between first and last */
static inline LITHE_HD PetscInt64 LitheStepPieceBegin(PetscInt64 first, PetscInt64 last, PetscInt64 piece, PetscInt64 pieces, PetscInt64 k)
{
  return k < pieces ? first + k * piece : last - (k - pieces + 1) * piece;
}

/* Largest number of sums of a kernel */
#define LITHE_STEP_SUMS 4

/* A step on one process, for kernels and host loops: y = x + scale A x; sum[] are arrays at the place of x */
typedef struct {
  PetscReal    scale;
  PetscInt     nsums;
  PetscScalar *sum[LITHE_STEP_SUMS];
  PetscReal    weight[LITHE_STEP_SUMS], before[LITHE_STEP_SUMS];
  PetscBool    first[LITHE_STEP_SUMS];
  PetscInt     skip[2]; /* numbers of rows at the beginning and at the end that may be left out, as with LitheStepRows */
} LitheStep;

/* At most LITHE_STEP_SUMS sums; rows of NULL: all */
typedef PetscErrorCode LitheMatStepFn(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/*
   Whether steps leave out rows of this process, on the device or on the host. A type that may leave out rows composes
   the function "LitheMatStepLeavesOut_C". The answer is known after the first step
*/
typedef PetscErrorCode      LitheMatStepLeavesOutFn(Mat A, PetscBool device, PetscBool *leaves);
PETSC_INTERN PetscErrorCode LitheMatStepLeavesOut(Mat A, PetscBool device, PetscBool *leaves);

/* Any matrix, any number of sums */
PETSC_INTERN PetscErrorCode LitheMatStep(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/* The part of vectors: y is A x on entry. With done y is final, and only sums are left */
PETSC_INTERN PetscErrorCode LitheStepVectors(PetscReal scale, PetscBool done, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[]);

/*
   Whether x, y and all sums are on the device, or all in the host's memory; neither: vectors of both kinds, or of
   another type
*/
PETSC_INTERN PetscErrorCode LitheStepGetPlace(Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device, PetscBool *host);
/* Whether a product of A would run on the device, too */
PETSC_INTERN PetscErrorCode LitheStepIsOnDevice(Mat A, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[], PetscBool *device);
/* The arrays of the sums, at the place device */
PETSC_INTERN PetscErrorCode LitheStepGetArrays(PetscBool device, PetscReal scale, PetscInt nsums, const LitheStepSum sums[], LitheStep *step);
/* Rows of this process that may be left out; none if a sum begins, because a sum needs all rows */
PETSC_INTERN PetscErrorCode LitheStepSetRows(const LitheStepRows *rows, Vec y, LitheStep *step);
PETSC_INTERN PetscErrorCode LitheStepRestoreArrays(PetscBool device, PetscInt nsums, const LitheStepSum sums[], LitheStep *step);

/* The same for arrays. dx, dy: on the device */
PETSC_INTERN PetscErrorCode LitheStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar x[], PetscScalar y[]);
/* The rows from the first to the last nonzero entry of x; none: begin = end */
PETSC_INTERN PetscErrorCode LitheStepGetRows(Vec x, LitheStepRows *rows);
/*
   The sums at both ends of the present x, over all processes. The second call returns the sums; it is collective, and
   waits for the device; x may be written between the calls. The second call alone, without pieces, returns the sum of
   zeroed entries
*/
PETSC_INTERN PetscErrorCode LitheStepEndsBegin(Vec x, LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheStepEndsEnd(Vec x, LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheStepEndsReset(LitheStepEnds *ends);
/*
   Sets two ranges of rows, each of which may be empty, to zero in both vectors. LitheStepEndsEnd() returns the sum of x
   in the ranges: call it before the ranges change
*/
PETSC_INTERN PetscErrorCode LitheStepZeroRows(Vec x, Vec y, const LitheStepRows rows[2], LitheStepEnds *ends);
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDAStepGetRows(PetscInt n, const PetscScalar dx[], LitheStepRows *rows);
/* ends->sum of a process with n rows from begin on, after the second call, which waits */
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsBegin(PetscInt begin, PetscInt n, const PetscScalar dx[], LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsEnd(LitheStepEnds *ends);
PETSC_INTERN PetscErrorCode LitheCUDAStepEndsReset(LitheStepEnds *ends);
/* Rows are counted from the process's first */
PETSC_INTERN PetscErrorCode LitheCUDAStepZeroRows(const LitheStepRows rows[2], PetscScalar dx[], PetscScalar dy[], LitheStepEnds *ends);
/* largest: of all |sum|; good: no sum is greater than tolerance |diagonal| or NaN. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDAStepCheckSums(PetscInt n, const PetscScalar dsum[], const PetscScalar ddiagonal[], PetscReal tolerance, PetscReal *largest,
                                                   PetscBool *good);
PETSC_INTERN PetscErrorCode LitheCUDAStepFinish(const LitheStep *step, PetscBool done, PetscInt n, const PetscScalar dx[], PetscScalar dy[]);
#endif
