/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = Sys */

#include <petscsys.h>

#define LITHE_VERSION_MAJOR    0
#define LITHE_VERSION_MINOR    1
#define LITHE_VERSION_SUBMINOR 0
#define LITHE_VERSION          "0.1.0"

PETSC_EXTERN PetscErrorCode LitheInitializePackage(void);
PETSC_EXTERN PetscErrorCode LitheFinalizePackage(void);
PETSC_EXTERN PetscErrorCode LitheGetVersion(char[], size_t);
