/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/sbp*.cu. sbp/sbpsat.h describes each function at the member of SBPKernels, or of its
   tables, with the same name.
   All arrays are on the device; launches go to PETSc's current stream and do not synchronise, unless a number or an
   array is returned to the host.
*/

#include <lithe/private/sbp/sbpsat.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* cuda/sbp/step.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPStep(const SBPOperator *, const SBPBox *, const SBPStep *);
PETSC_INTERN PetscErrorCode LitheCUDASBPRoundedResidual(const SBPOperator *, const void *, const void *, const SBPGrid *, void *, const double *);
PETSC_INTERN PetscErrorCode LitheCUDASBPDiagonal(const SBPOperator *, void *);
/* cuda/sbp/any.cu: orders above 2 */
PETSC_INTERN PetscErrorCode LitheCUDASBPStepAny(const SBPOperator *, const SBPBox *, const SBPStep *);
PETSC_INTERN PetscErrorCode LitheCUDASBPDiagonalAny(const SBPOperator *, void *);
/* cuda/sbp/fused.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPSmoothTwo(const SBPOperator *, const double[2], const double[2], const void *, const void *, void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPResidualRestrict(const SBPOperator *, const SBPGrid *, const void *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPProlongSmooth(const SBPOperator *, const SBPGrid *, const void *, const void *, double, const void *, const void *,
                                                      void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPSmoothTwoRestrict(const SBPOperator *, const SBPGrid *, const double[2], const double[2], const void *, const void *,
                                                          void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPProlongSmoothTwo(const SBPOperator *, const SBPGrid *, const void *, const void *, const double[2], const double[2],
                                                         const void *, const void *, void *);
/* cuda/sbp/galerkin.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPGalerkin(const SBPOperator *, const SBPGrid *, void *const[SBP_COEFFICIENTS], void *const[SBP_COEFFICIENTS]);
/* cuda/sbp/transfer.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPUpdate(const SBPGrid *, SBPPrecision, SBPRatio, const void *, const SBPGrid *, const void *, const SBPGrid *,
                                               SBPPrecision, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPRestrict(const SBPGrid *, const SBPGrid *, SBPPrecision, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPRestrictLargest(const SBPGrid *, const SBPGrid *, const void *, void *, SBPScale *, int);
PETSC_INTERN PetscErrorCode LitheCUDASBPProlong(const SBPGrid *, const SBPGrid *, SBPPrecision, PetscBool, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPInterpolate(const SBPGrid *, const SBPGrid *, SBPPrecision, const void *, void *);
/* cuda/sbp/vector.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPCopy(const SBPGrid *, SBPPrecision, int, const void *, const SBPGrid *, SBPPrecision, int, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPCopyScaled(const SBPGrid *, SBPPrecision, int, const void *, const SBPGrid *, SBPPrecision, int, void *, SBPRatio);
PETSC_INTERN PetscErrorCode LitheCUDASBPCopyLargest(const SBPGrid *, SBPPrecision, int, const void *, const SBPGrid *, void *, SBPScale *, int);
PETSC_INTERN PetscErrorCode LitheCUDASBPRescale(const SBPGrid *, SBPPrecision, int, const void *, const SBPGrid *, void *, SBPScale *, int);
PETSC_INTERN PetscErrorCode LitheCUDASBPAXPBY(const SBPGrid *, double, SBPPrecision, const void *, double, SBPPrecision, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPMultiply(const SBPGrid *, SBPPrecision, double, const void *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPSum(const SBPGrid *, SBPPrecision, const void *, const void *, const void *, double *);
PETSC_INTERN PetscErrorCode LitheCUDASBPCombine(const SBPGrid *, SBPPrecision, SBPRatio, const void *, const void *, SBPRatio, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPNoise(const SBPGrid *, SBPPrecision, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPReciprocal(const SBPGrid *, SBPPrecision, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPMark(const SBPGrid *, SBPPrecision, int, void *);
PETSC_INTERN PetscErrorCode LitheCUDASBPGather(const SBPGrid *, SBPPrecision, int, const void *, void *const[SBP_COEFFICIENTS]);
PETSC_INTERN PetscErrorCode LitheCUDASBPDense(PetscInt, SBPPrecision, const void *, const void *, void *);
/* cuda/sbp/metrics.cu */
PETSC_INTERN PetscErrorCode LitheCUDASBPMetrics(const SBPGeometry *, const SBPBox *, PetscInt, PetscReal *, PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode LitheCUDASBPCheck(const SBPBox *, PetscInt, const PetscReal *, const PetscReal *, const PetscReal *, PetscInt64 *);
PETSC_INTERN PetscErrorCode LitheCUDASBPSource(const SBPGrid *, const PetscReal *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode LitheCUDASBPSquare(const SBPGrid *, const PetscScalar *, double *);
PETSC_INTERN PetscErrorCode LitheCUDASBPStrided(const PetscInt[2], PetscBool, const SBPSpaced *, const SBPSpaced *);
#endif
