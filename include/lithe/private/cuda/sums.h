/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* LitheSums on a device: cuda/common/sums.cu */

#include <lithe/private/sums.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* Zeros; copies between memories of either kind; all in PETSc's stream, and copies wait */
PETSC_INTERN PetscErrorCode LitheCUDASumsCreate(size_t bytes, void **);
PETSC_INTERN PetscErrorCode LitheCUDASumsDestroy(void **);
PETSC_INTERN PetscErrorCode LitheCUDASumsZero(size_t bytes, void *);
PETSC_INTERN PetscErrorCode LitheCUDASumsCopy(size_t bytes, const void *from, void *to);
/* As LitheSumsLargest(), and the loop of LitheSumsAdd() */
PETSC_INTERN PetscErrorCode LitheCUDASumsLargest(PetscInt n, const PetscReal x[], PetscReal *largest);
PETSC_INTERN PetscErrorCode LitheCUDASumsAdd(PetscInt n, double half, const PetscReal x[], PetscInt64 *const bin[]);
/* As LitheSumsOfDigits() */
PETSC_INTERN PetscErrorCode LitheCUDASumsFinish(PetscInt n, double half, PetscInt64 *const bin[], PetscReal y[]);

#if defined(__cplusplus)
}
#endif
