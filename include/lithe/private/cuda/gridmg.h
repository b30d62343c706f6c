/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/gridmg. gridmg.h describes each function at the member of GridMGKernels with the same name.
   All arrays are on the device. Launches go to PETSc's current stream, or are recorded, and do not synchronise unless a
   number or an array is returned to the host.
*/

#include <lithe/private/gridmg/gridmg.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* cuda/gridmg/aggregation/vectors.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGAlloc(size_t, void **);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGFree(void **);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGEnter(const GridMGOperator *, const GridMGRows *, int, const PetscScalar *, void *, double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGEnterScaled(const GridMGOperator *, const GridMGRows *, int, const PetscScalar *, void *, double);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGLargest(const GridMGOperator *, const GridMGRows *, int, const PetscScalar *, double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGLeave(const GridMGOperator *, const GridMGRows *, int, double, const double *, const void *, PetscScalar *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStart(const GridMGOperator *, int, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGRestrict(const GridMGOperator *, const GridMGGrid *, const int[3], const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGProlong(const GridMGOperator *, const GridMGGrid *, const int[3], double, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGDots(const GridMGOperator *, const void *, int, const void *const[], double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGKFirst(const GridMGOperator *, const double *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGKSecond(const GridMGOperator *, const double *, const double *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGDense(const GridMGOperator *, const void *, const void *, const void *, void *, void *);
/* cuda/gridmg/aggregation/cells.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGColour(const GridMGOperator *, int, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGWells(const GridMGOperator *, PetscBool, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGResidual(const GridMGOperator *, const void *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGResidualRestrict(const GridMGOperator *, const GridMGGrid *, const int[3], const void *, const void *, void *);
/* cuda/gridmg/aggregation/fused.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGDown(const GridMGVisit *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGUp(const GridMGVisit *);
/* cuda/gridmg/aggregation/overlap.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGCopyBox(size_t, const GridMGBox *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGAddBox(const GridMGBox *, double, const double *, double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGWords(GridMGWord, PetscInt, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGPlace(GridMGWord, PetscInt, const PetscInt *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGEnterBox(const GridMGBox *, int, const PetscScalar *, void *, const double *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGLeaveBox(const GridMGBox *, int, double, const double *, const void *, PetscScalar *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGScaleSum(PetscBool, int, double, double *, PetscScalar *);
/* cuda/gridmg/aggregation/small.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSmallCreate(const GridMGSmallPlan *, void **, PetscBool *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSmallSolve(void *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGSmallFree(void **);
#endif
