/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Incomplete LU factors without fill-in on a device, (I - lower) inverse^-1 (I - upper): cuda/vcrs/tri/factor.cu.
   Incomplete Cholesky factors are the same with lower = upper^T: cuda/vcrs/tri/mirror.cu.

   Pointers named d* are device pointers. Launches go to PETSc's current stream.
*/

#include <lithe/private/vcrs/order.h>
#include <lithe/private/vcrs/plan.h>
#include <petscsys.h>

/* Factorizations of longer rows, and of more levels, are left to the host */
#define FACTOR_LONGEST    4096
#define FACTOR_LEVELS_MAX 65536

#define FACTOR_SIDES 4 /* right-hand sides of a system at the same time */

/* A strict triangle T for x = b + T x, by rows; arrays are on the device */
typedef struct {
  PetscInt     n;
  PetscInt64   nz;
  PetscBool    upper;
  PetscInt    *i, *j; /* [n+1], [nz] */
  PetscScalar *a;
  PetscInt     nlevels, nlist;
  PetscInt    *list; /* [nlist] rows level by level; a level begins at a multiple of 32; -1: none */
} LitheDeviceTriangle;

typedef struct {
  LitheDeviceTriangle lower, upper;
  PetscBool           symmetric; /* lower is the transpose of upper, bit by bit */
  PetscScalar        *inverse;   /* [n] of the pivots */
  unsigned int       *ticket;    /* for LitheCUDATriangleSolve() */
} LitheDeviceFactor;

/*
   The border of a triangle of total rows. Rows of a grid are first .. first + n - 1. A few rows before or behind the
   grid are the border. Entries are all entries in rows and columns of the border, by rows: border rows in the order of
   the solve, then rows of the grid. On the host and on the device
*/
typedef struct {
  PetscBool    upper;
  PetscBool    before; /* the border is solved before the grid, and its solution couples to the grid; otherwise after the grid */
  PetscInt     total, first, n;
  PetscInt     nborder, ncoupled;
  PetscInt    *row, *i, *j, *drow, *di, *dj;
  PetscScalar *a, *da;
} LitheDeviceBorder;

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/*
   The pattern of a square CSR matrix with sorted rows. Output possible is PETSC_FALSE if a diagonal entry is missing,
   or if a row length or the number of levels exceeds the limits above. For symmetric factors possible is also
   PETSC_FALSE if the pattern is not symmetric. The factor must be destroyed in any case. Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDAFactorCreate(PetscInt n, const PetscInt *di, const PetscInt *dj, PetscBool symmetric, LitheDeviceFactor **,
                                                  PetscBool *possible);
PETSC_INTERN PetscErrorCode LitheCUDAFactorDestroy(LitheDeviceFactor **);
/*
   The factors; symmetric factors use the entries on and above the diagonal. row: the first row whose pivot is not
   finite, or at most zeropivot in modulus; -1 if there is none. With positive, the real part of the pivot must be more
   than zeropivot times the moduli of its row of the upper factor. Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDAFactorNumeric(LitheDeviceFactor *, const PetscInt *di, const PetscScalar *da, PetscReal zeropivot, PetscBool positive,
                                                   PetscInt *row);
/*
   mirror.cu: the entries of a lower triangle with a known pattern, from the upper triangle whose transpose it is.
   complete, or NULL if known: checks whether the transpose has all places, without taking entries, and synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDATriangleMirror(const LitheDeviceTriangle *upper, const LitheDeviceTriangle *lower, PetscBool *complete);
/*
   The entries of an allocated lower triangle, taken from a compressed upper triangle at the places of its transpose.
   Row r of the transpose is row first + r of the triangle; entries in other rows and columns stay unchanged.
   Synchronises
*/
PETSC_INTERN PetscErrorCode LitheCUDAVCRSMirror(const VCRSPlan *dplan, PetscInt first, const LitheDeviceTriangle *lower, PetscScalar **da);
/* x = (I - T)^-1 b for 1, 2 or 4 right-hand sides, which take little more time than one; no dx may be a db */
PETSC_INTERN PetscErrorCode LitheCUDATriangleSolve(const LitheDeviceTriangle *, unsigned int *ticket, int sides, const PetscScalar *const db[],
                                                   PetscScalar *const dx[]);
PETSC_INTERN PetscErrorCode LitheCUDATriangleFree(LitheDeviceTriangle *);
/*
   The order of rows for compressed copies. With grids: tiles, if the matrix is a grid. With borders: also if a few rows
   do not belong to the grid. Then grid has only the rows of the grid, and border has all other entries; else border is
   NULL. The caller frees the results
*/
PETSC_INTERN PetscErrorCode LitheCUDATriangleOrder(const LitheDeviceTriangle *, PetscBool grids, PetscBool borders, VCRSOrder **, LitheDeviceTriangle *grid,
                                                   LitheDeviceBorder **border);
PETSC_INTERN PetscErrorCode LitheCUDABorderDestroy(LitheDeviceBorder **);
/* x = b + T x in the rows of the border; b = b + T x in the rows of the grid, with columns of the border */
PETSC_INTERN PetscErrorCode LitheCUDABorderRows(const LitheDeviceBorder *, const PetscScalar *db, PetscScalar *dx);
PETSC_INTERN PetscErrorCode LitheCUDABorderCouple(const LitheDeviceBorder *, const PetscScalar *dx, PetscScalar *db);
/* y = b + T x; dy is neither db nor dx */
PETSC_INTERN PetscErrorCode LitheCUDATriangleMultAdd(const LitheDeviceTriangle *, const PetscScalar *db, const PetscScalar *dx, PetscScalar *dy);
/* Signs at random, which every run has; and 0, 1, .. n on the device, to be destroyed */
PETSC_INTERN PetscErrorCode LitheCUDASetSigns(PetscInt n, PetscScalar *dx);
PETSC_INTERN PetscErrorCode LitheCUDACreateRows(PetscInt n, PetscInt **drow);
PETSC_INTERN PetscErrorCode LitheCUDADestroyRows(PetscInt **drow);
#endif
