/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/gridmg/aggregation/setup*.cu. The members of GridMGKernels with the same names are described
   in gridmg.h. Arrays of levels are on the device, arrays of lists on the host; list.work of a GridMGFaces is on the
   device. All launches go to PETSc's current stream.
*/

#include <lithe/private/gridmg/gridmg.h>

typedef struct {
  PetscInt   negative; /* row sums; those of a symmetric matrix are set to 0 */
  PetscInt64 failed;   /* the first vertex without a positive diagonal, or -1 */
  double     least;    /* the smallest diagonal */
} GridMGCleaning;

/* A face with an entry of the wrong sign */
typedef struct {
  PetscInt64 at; /* cell + d cells */
  double     up, down;
} GridMGWrong;

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/*
   cuda/gridmg/aggregation/setupread.cu. others [rows of cells / GRIDMG_READ_ROWS, rounded up]: number of entries that
   are no faces, or NULL; f without arrays: entries are counted
*/
  #define GRIDMG_READ_ROWS 256
PETSC_INTERN PetscErrorCode LitheCUDAGridMGRead(const GridMGCSR *, const GridMGRows *, double scale, const GridMGFaces *, int *others, GridMGReading *);
/* Row and column of entry k of n rows */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGFindEntry(const GridMGCSR *, PetscInt n, PetscInt64 k, PetscInt *row, PetscInt *column);
/* The n remaining entries of cells, row by row; others is overwritten */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGGetOthers(const GridMGCSR *, const GridMGRows *, const GridMGGrid *, int *others, PetscInt n, GridMGEdge *edges);
/* Columns minus rows, of a sample of the entries: the commonest values, on the host */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSample(const GridMGCSR *, PetscInt n, PetscInt most, PetscInt *found, PetscInt difference[], PetscInt count[]);
/*
   Entries are multiplied by scale. symmetric: both entries of each face agree to a part same of the larger. wrong: the
   number of faces < 0, and the first
*/
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSettle(const GridMGFaces *, double scale, double same, PetscBool *symmetric, PetscInt *wrong, GridMGWrong *first);
/* The n wrong faces, in the order of at; the faces become 0 */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGGetWrong(const GridMGFaces *, PetscInt n, GridMGWrong *);
/* Row sums at rounding level become 0, and negative row sums of symmetric matrices; then the survey */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGClean(const GridMGFaces *, double rounding, unsigned char *alive, GridMGSurvey *, GridMGCleaning *);

/* Faces times left_i right_j, and row sums from sums; left, right by rows, NULL: ones */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGScaleFaces(const GridMGFaces *, const GridMGRows *, const PetscScalar *left, const PetscScalar *right,
                                                      const PetscScalar *sums);

/* cuda/gridmg/aggregation/setup.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGReserve(size_t, void **);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSurvey(const GridMGFaces *, unsigned char *, GridMGSurvey *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGCoarsen(const GridMGFaces *, const int[3], const GridMGFaces *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGAliveOf(const GridMGFaces *, PetscInt, const PetscInt[], unsigned char[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGAdd(const GridMGFaces *, PetscInt, const GridMGAddition[]);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGEncode(const GridMGFaces *, double, double, const GridMGOperator *, double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGInvert(const GridMGCoarsest *, GridMGPrecision, double *, void *, PetscBool *);
#endif
