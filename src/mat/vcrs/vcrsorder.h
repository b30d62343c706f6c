/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* In which order a device takes the rows of a triangle: vcrsorder.c */

#include <lithe/private/vcrsorder.h>

/* From the pattern i [n+1], j of a strict triangle, in time of the order of its entries; with grids, tiles of a grid if it is one, else levels */
PETSC_INTERN PetscErrorCode VCRSOrderCreate(PetscInt n, const PetscInt i[], const PetscInt j[], PetscBool upper, PetscBool grids, VCRSOrder **);
PETSC_INTERN PetscErrorCode VCRSOrderDestroy(VCRSOrder **);
/* Estimated seconds of a system on a device, where a product moves so many bytes, vectors included */
PETSC_INTERN PetscLogDouble VCRSOrderTime(const VCRSOrder *, PetscLogDouble bytes);
