/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The C interface of cuda/born. born/born.h describes each function at the member of BornKernels with the same name.
   Arrays are on the device; launches go to PETSc's current stream and do not synchronise, unless a number is returned
   to the host.
*/

#include <lithe/private/born/born.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
/* cuda/born/memory.cu */
PETSC_INTERN PetscErrorCode LitheCUDABornCreate(PetscBool, size_t, void **);
PETSC_INTERN PetscErrorCode LitheCUDABornDestroy(PetscBool, void **);
PETSC_INTERN PetscErrorCode LitheCUDABornCopy(size_t, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornBorrow(size_t, const PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode LitheCUDABornGiveBack(size_t, PetscReal *, PetscBool, PetscReal **);
PETSC_INTERN PetscErrorCode LitheCUDABornPoints(const BornPoints *, BornPoints *);
PETSC_INTERN PetscErrorCode LitheCUDABornPointsDestroy(BornPoints *);
/* cuda/born/step.cu */
PETSC_INTERN PetscErrorCode LitheCUDABornStep(const BornGrid *, const BornStep *);
/* cuda/born/points.cu */
PETSC_INTERN PetscErrorCode LitheCUDABornForce(const BornGrid *, const BornForce *);
PETSC_INTERN PetscErrorCode LitheCUDABornExtract(const BornGrid *, BornNumber, const BornPoints *, const void *, double, PetscReal *, PetscInt64);
/* cuda/born/field.cu */
PETSC_INTERN PetscErrorCode LitheCUDABornLargest(size_t, const PetscReal *, double *);
PETSC_INTERN PetscErrorCode LitheCUDABornRange(size_t, const PetscReal *, double *, double *);
PETSC_INTERN PetscErrorCode LitheCUDABornCourant(const BornGrid *, BornNumber, PetscBool, PetscReal, PetscReal, const PetscReal *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornLoad(const BornGrid *, BornNumber, PetscBool, double, const PetscReal *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornAdd(const BornGrid *, BornNumber, PetscBool, double, const void *, PetscReal *);
PETSC_INTERN PetscErrorCode LitheCUDABornImage(const BornGrid *, BornNumber, int, const void *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornRound(const BornGrid *, BornNumber, int, void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornPush(const BornGrid *, const BornStep *, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornRing(const BornGrid *, BornNumber, PetscBool, void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornRandomise(const BornGrid *, BornNumber, double, uint64_t, const void *, void *);
PETSC_INTERN PetscErrorCode LitheCUDABornQuantise(const BornGrid *, BornNumber, double, const void *, uint16_t *);
/* cuda/born/region.cu: boxes of n nodes in arrays without gaps. to = from, and to += from */
typedef struct {
  PetscInt64 first, stride[2]; /* the first node of the box; from line to line, from plane to plane */
} BornRegion;

PETSC_INTERN PetscErrorCode LitheCUDABornCopyRegion(const PetscInt n[3], BornRegion, const PetscReal *, BornRegion, PetscReal *);
PETSC_INTERN PetscErrorCode LitheCUDABornAddRegion(const PetscInt n[3], BornRegion, const PetscInt64 *, BornRegion, PetscInt64 *);
#endif
