/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* LitheSums on a device: cuda/common/sums.cu */

#include <lithe/private/sums.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* As LitheSumsLargest(), and the loop of LitheSumsAdd() */
PETSC_INTERN PetscErrorCode LitheCUDASumsLargest(PetscInt n, const PetscReal x[], PetscReal *largest);
PETSC_INTERN PetscErrorCode LitheCUDASumsAdd(PetscInt n, double half, const PetscReal x[], PetscInt64 *const bin[]);
/* As LitheSumsOfDigits() */
PETSC_INTERN PetscErrorCode LitheCUDASumsFinish(PetscInt n, double half, PetscInt64 *const bin[], PetscReal y[]);

#if defined(__cplusplus)
}
#endif
