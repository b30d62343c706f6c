/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <petscsys.h>

/* memory.c: PetscMalloc() for arrays that are as long as the matrix */
PETSC_INTERN PetscErrorCode VCRSAllocateLarge(size_t, void **);
