/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Triangular systems with a compressed matrix: tri.c on the host, device.c on a device */

#include "../vcrsimpl.h"
#include <lithe/private/lithecudafactor.h>
#include <lithe/private/vcrsorder.h>

/* x = (I - op(T))^-1 x with a MATSEQAIJVCRS on the host, see VCRSPlanSubstitute() */
PETSC_INTERN PetscErrorCode MatVCRSSubstitute_Private(Mat, PetscBool upper, PetscBool transpose, PetscScalar x[]);
/* The same for VCRS_TRI_COLUMNS right-hand sides side by side, see VCRSPlanSubstituteColumns() */
PETSC_INTERN PetscErrorCode MatVCRSSubstituteColumns_Private(Mat, PetscBool upper, PetscBool transpose, PetscScalar x[]);

#if defined(LITHE_HAVE_CUDA)
/* Data of substitution with a matrix on a device; MatVCRSReset_Private() frees the data */
struct _VCRSSubstitution {
  PetscBool upper;
  struct {
    Mat        T; /* the matrix itself, not referenced; or its transpose */
    VCRSOrder *order;
    void      *prepared;
  } way[2]; /* [0]: T, [1]: transpose */
};

/*
   The order of the rows of op(T) on a device, and the matrix that stores these rows; i, j: the pattern of T if known,
   or NULL
*/
PETSC_INTERN PetscErrorCode MatVCRSGetOrder_Private(Mat, PetscBool upper, PetscBool transpose, const PetscInt i[], const PetscInt j[], const VCRSOrder **,
                                                    Mat *stored);
/* Whether a device may process the rows of T by tiles of a grid; and a known order, whose ownership T takes */
PETSC_INTERN PetscErrorCode MatVCRSMayUseGrids_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetOrder_Private(Mat, PetscBool upper, VCRSOrder *);
/*
   The entries of a lower triangle, freed by the caller. From row first on, the entries of the upper T are put into the
   places of the transpose
*/
PETSC_INTERN PetscErrorCode MatVCRSMirror_Device_Private(Mat, PetscInt first, const LitheDeviceTriangle *lower, PetscScalar **da);
/* x = (I - op(T))^-1 b, with arrays on the device and with vectors; x may not be b */
PETSC_INTERN PetscErrorCode MatVCRSSubstituteArrays_Device_Private(Mat, PetscBool upper, PetscBool transpose, const PetscScalar db[], PetscScalar dx[]);
PETSC_INTERN PetscErrorCode MatVCRSSubstitute_Device_Private(Mat, PetscBool upper, PetscBool transpose, Vec b, Vec x);
#endif
