/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Compressed bases on a device: the functions of cuda/cbgmres that src/ksp/cbgmres/basisdevice.c calls. Vectors are
   device pointers to n real numbers; a complex number counts as two. Launches go to PETSc's current stream and do not
   synchronise, unless a function says so. The order of sums depends only on n and the device.
*/

#include <lithe/private/cb/basis.h>

typedef struct {
  LitheStorage storage;
  int          base;
  PetscReal    up, down; /* columns are stored times up; down is the inverse */
  size_t       n, vbytes, ebytes;
  PetscInt     columns, pairs;
  int          multiprocessors;

  /* on the device */
  char         *values, *exponents; /* columns at distances of vbytes and ebytes, then second parts */
  PetscReal    *partial;            /* [nblocks numbers of sums] sums of each block */
  unsigned int *done;               /* blocks that have added their sums; zero between launches */
  PetscScalar  *y;                  /* [columns] coefficients from the host */
  CBScalars     scalars;            /* ld = 0: none */

  /* on the host, in memory that the device writes to: the data of fetch() */
  CBScalars page;
  void     *pages, *event;
} CBDevice;

/* The columns are not initialised. Synchronises */
PETSC_INTERN PetscErrorCode LitheCUDACBCreate(CBDevice *, PetscInt ld);
PETSC_INTERN PetscErrorCode LitheCUDACBDestroy(CBDevice *);
/*
   Column j = scale x, rounded. dz = column j, decoded, unless dz is NULL. If ddiagonal is not NULL, dz is multiplied by
   ddiagonal entry by entry. dz may be dx
*/
PETSC_INTERN PetscErrorCode LitheCUDACBStore(const CBDevice *, PetscInt j, PetscInt second, PetscReal scale, const PetscReal *dx, const PetscReal *ddiagonal,
                                             PetscReal *dz);
PETSC_INTERN PetscErrorCode LitheCUDACBLoad(const CBDevice *, PetscInt j, PetscInt second, PetscReal *dz);
/* partial sums with columns 0 ... k-1; without gram, the sums of w alone */
PETSC_INTERN PetscErrorCode LitheCUDACBDot(const CBDevice *, PetscInt k, PetscBool gram, const PetscReal *dw);
/* scalars.sums over this process */
PETSC_INTERN PetscErrorCode LitheCUDACBSums(const CBDevice *, PetscInt k, PetscInt pass);
/* CBTeamCoefficients(); the new column of the Hessenberg matrix and the report of its step are also written to page */
PETSC_INTERN PetscErrorCode LitheCUDACBCoefficients(const CBDevice *, PetscInt k, PetscInt pass);
/* Both passes, with the sums over all processes between them, in one launch */
PETSC_INTERN PetscErrorCode LitheCUDACBSumsAndCoefficients(const CBDevice *, PetscInt k, PetscInt pass, const LitheReduceEpoch *);
/* Waits until the last coefficients have arrived, not for later launches */
PETSC_INTERN PetscErrorCode LitheCUDACBWaitCoefficients(const CBDevice *);
/* dw = dw - V c */
PETSC_INTERN PetscErrorCode LitheCUDACBSubtract(const CBDevice *, PetscInt k, CBSeconds, PetscReal *dw);
/*
   Column k = (dw - V c)/sigma, rounded; dz = column k, decoded and, unless ddiagonal is NULL, multiplied by ddiagonal
   entry by entry. dz is not dw
*/
PETSC_INTERN PetscErrorCode LitheCUDACBAppend(const CBDevice *, PetscInt k, CBSeconds, const PetscReal *dw, const PetscReal *ddiagonal, PetscReal *dz);
/* dx = V y, y on the host; the caller may change y on return */
PETSC_INTERN PetscErrorCode LitheCUDACBCombine(const CBDevice *, PetscInt k, CBSeconds, const PetscScalar y[], PetscReal *dx);
