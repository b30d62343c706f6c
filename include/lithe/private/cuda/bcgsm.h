/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The operations of BCGSMKernels on a device, in PETSc's current stream: cuda/bcgsm/columns.cu. Operations with sums
   wait for their results
*/

#include <lithe/private/bcgsm.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDABCGSMCopy(PetscInt m, const PetscScalar from[], PetscScalar to[]);
PETSC_INTERN PetscErrorCode LitheCUDABCGSMDirection(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray r, BCGSMArray v, BCGSMArray p);
PETSC_INTERN PetscErrorCode LitheCUDABCGSMHalf(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray v, BCGSMArray r);
PETSC_INTERN PetscErrorCode LitheCUDABCGSMDots(PetscInt m, PetscInt n, const BCGSMTask[], PetscInt nsums, BCGSMArray x, BCGSMArray y, PetscScalar sums[]);
PETSC_INTERN PetscErrorCode LitheCUDABCGSMUpdate(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray p, BCGSMArray s, BCGSMArray t, BCGSMArray shadow,
                                                 BCGSMArray x, BCGSMArray r, PetscScalar sums[]);
#endif
