/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The place of vectors decides where their readers and writers work: on the device if all vectors are there, else on
   the host. For the host, the accessors of a vector copy its data. Vectors that are NULL do not count. Not collective.
*/

#include <petscmat.h>

/*
   device: kernels exist, and all vectors are CUDA vectors not bound to the host. host, which may be NULL: all are in
   the host's memory. Neither: of both kinds, or of another type
*/
PETSC_INTERN PetscErrorCode LitheVecsGetPlace(PetscInt n, const Vec v[], PetscBool *device, PetscBool *host);
/* Whether products of A with these vectors run on the device; not so if A is bound to the host */
PETSC_INTERN PetscErrorCode LitheMatIsOnDevice(Mat A, PetscInt n, const Vec v[], PetscBool *device);
/* VecDuplicate() for work on the device: of a VECSEQCUDA without the array on the host that PETSc pins and clears. Its entries are not set */
PETSC_INTERN PetscErrorCode LitheVecDuplicateOnDevice(Vec, Vec *);
