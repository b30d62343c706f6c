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
/* Prepared for substitution with a matrix on a device; MatVCRSReset_Private() frees it */
struct _VCRSSubstitution {
  PetscBool upper;
  struct {
    Mat        T; /* the matrix itself, not referenced; or its transpose */
    VCRSOrder *order;
    void      *prepared;
  } way[2]; /* as it is, transposed */
};

/* In which order a device takes the rows of op(T), and the matrix that holds them; i, j: the pattern of T if it is at hand, or NULL */
PETSC_INTERN PetscErrorCode MatVCRSGetOrder_Private(Mat, PetscBool upper, PetscBool transpose, const PetscInt i[], const PetscInt j[], const VCRSOrder **,
                                                    Mat *stored);
/* Whether a device may take the rows of T by tiles of a grid; and an order that is known, which T takes over */
PETSC_INTERN PetscErrorCode MatVCRSMayUseGrids_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSSetOrder_Private(Mat, PetscBool upper, VCRSOrder *);
/* The entries of a lower triangle, which the caller frees, with those of T, an upper one from its row first on, in the places of the transpose */
PETSC_INTERN PetscErrorCode MatVCRSMirror_Device_Private(Mat, PetscInt first, const LitheDeviceTriangle *lower, PetscScalar **da);
/* x = (I - op(T))^-1 b, with arrays on the device and with vectors; x may not be b */
PETSC_INTERN PetscErrorCode MatVCRSSubstituteArrays_Device_Private(Mat, PetscBool upper, PetscBool transpose, const PetscScalar db[], PetscScalar dx[]);
PETSC_INTERN PetscErrorCode MatVCRSSubstitute_Device_Private(Mat, PetscBool upper, PetscBool transpose, Vec b, Vec x);
#endif
