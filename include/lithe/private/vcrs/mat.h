/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What other classes use of MATVCRS beside the public API */

#include <lithe/private/cuda/factor.h>
#include <lithe/private/lithestep.h>
#include <lithe/private/vcrs/order.h>
#include <lithe/private/vcrs/plan.h>
#include <lithemat.h>

/* A CSR matrix on a device */
typedef struct {
  PetscInt64         nz;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} VCRSDeviceCSR;

/* ---- The matrix: src/mat/vcrs ---- */

/* Whether products on a CPU may use plain rows: -mat_vcrs_plain_rows */
PETSC_INTERN PetscErrorCode MatVCRSSetPlainRows_Private(Mat, PetscBool);
/* A block of another class's matrix, with exchanges beside its products */
PETSC_INTERN PetscErrorCode MatVCRSSetBeside_Private(Mat, PetscBool);
/* The loss that is asked for, and whether it may change entries */
PETSC_INTERN PetscErrorCode MatVCRSGetLoss_Private(Mat, MatVCRSLoss *, PetscBool *lossy);
/*
   MatVCRSGetInfo(); asymmetry: with the asymmetry of a lossy symmetric matrix, which needs the whole plan on the host
*/
PETSC_INTERN PetscErrorCode MatVCRSGetInfo_Private(Mat, PetscBool asymmetry, MatVCRSInfo *);
/* Products with arrays, all on the host or, after MatVCRSUpload_Private(), all on a device; step may be NULL */
PETSC_INTERN PetscErrorCode MatVCRSApplyArrays_Private(Mat, VCRSOp, PetscBool device, const PetscScalar x[], const PetscScalar add[], const LitheStep *step,
                                                       PetscScalar y[]);
/* A compressed copy without AIJ arrays, made at the place of the entries; configure() sets its options */
PETSC_INTERN PetscErrorCode MatVCRSCreateCopy_Private(Mat, PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *);
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode MatVCRSCreateFromDevice_Private(MPI_Comm, PetscInt m, PetscInt n, const VCRSDeviceCSR *, Mat beside,
                                                            PetscErrorCode (*configure)(Mat, void *), void *ctx, Mat *);
/* Copies the plan to the device */
PETSC_INTERN PetscErrorCode MatVCRSUpload_Private(Mat);
/* Whether the entries of a matrix of any type are on a device; of a matrix of one process, and of both blocks */
PETSC_INTERN PetscErrorCode MatVCRSIsOnDevice_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatVCRSBlocksAreOnDevice_Private(Mat, PetscBool *);
/* The transpose of a MATSEQAIJCUSPARSE on its device, freed by MatVCRSFreeCSR_Private() */
PETSC_INTERN PetscErrorCode MatVCRSTransposeOnDevice_Private(Mat, VCRSDeviceCSR *);
PETSC_INTERN PetscErrorCode MatVCRSFreeCSR_Private(VCRSDeviceCSR *);
#endif

/* ---- Triangular systems: src/mat/vcrs/tri ---- */

/*
   Solves a system with a triangle by substitution, x = (I - op(T))^-1 b, op(T) = T or T^T. T is a square MATSEQAIJVCRS,
   strictly lower or, with upper, strictly upper triangular. On the host b and x may be the same vector. Not collective.

   The substitution runs on a device if both vectors are on the device, and always gives the same bits. The first call
   on a device finds an order of the rows: by tiles if the triangle belongs to a grid in natural ordering, otherwise by
   levels. The order by levels takes one index per row. The first transposed call on a device stores the transpose,
   compressed without further loss.

   On a device, entries of T outside of the strict triangle are an error; the host does not check for such entries. A
   lossy triangle is refused as in a product. Exported for tests.
*/
PETSC_EXTERN PetscErrorCode MatVCRSSubstitute(Mat T, PetscBool upper, PetscBool transpose, Vec b, Vec x);

/* x = (I - op(T))^-1 x with a MATSEQAIJVCRS on the host, see VCRSPlanSubstitute() */
PETSC_INTERN PetscErrorCode MatVCRSSubstitute_Private(Mat, PetscBool upper, PetscBool transpose, PetscScalar x[]);
/* The same for VCRS_TRI_COLUMNS right-hand sides side by side, see VCRSPlanSubstituteColumns() */
PETSC_INTERN PetscErrorCode MatVCRSSubstituteColumns_Private(Mat, PetscBool upper, PetscBool transpose, PetscScalar x[]);

#if defined(LITHE_HAVE_CUDA)
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
