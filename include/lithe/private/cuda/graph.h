/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The C interface of cuda/common/graph.cu: launches between Begin and End are recorded, and done by Launch */

#include <petscsys.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDAGraphBegin(void);
PETSC_INTERN PetscErrorCode LitheCUDAGraphEnd(void **);
PETSC_INTERN PetscErrorCode LitheCUDAGraphLaunch(void *);
PETSC_INTERN PetscErrorCode LitheCUDAGraphFree(void **);
#endif
