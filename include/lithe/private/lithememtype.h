/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The place of vectors decides where functions with several vectors work: on the device if all vectors are on the
   device, else on the host. For the host, the accessors of a vector copy its data. NULL vectors do not count. Not
   collective.
*/

#include <petscmat.h>

/*
   device: kernels exist, and all vectors are CUDA vectors not bound to the host. host, which may be NULL: all are in
   the host's memory. Neither: of both kinds, or of another type
*/
PETSC_INTERN PetscErrorCode LitheVecsGetPlace(PetscInt n, const Vec v[], PetscBool *device, PetscBool *host);
/* Whether products of A with these vectors run on the device; false if A is bound to the host */
PETSC_INTERN PetscErrorCode LitheMatIsOnDevice(Mat A, PetscInt n, const Vec v[], PetscBool *device);
/*
   VecDuplicate() for work on the device: of a VECSEQCUDA without the host array that PETSc pins and clears. The entries
   are undefined
*/
PETSC_INTERN PetscErrorCode LitheVecDuplicateOnDevice(Vec, Vec *);
/*
   The vector of MatCreateVecs() for rows, if its type is VECMPICUDA, without the host array that PETSc pins and clears;
   else NULL. The entries are 0
*/
PETSC_INTERN PetscErrorCode LitheMatCreateVecOnDevices(Mat, Vec *);
