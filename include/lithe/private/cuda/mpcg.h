/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The operations of MPCGKernels on a device, in PETSc's current stream or a record: cuda/mpcg/vectors.cu */

#include <lithe/private/mpcg.h>

#define MPCG_BLOCKS 1024 /* of threads, at most: each has a part of a sum */

/* The scalars of a device, and room for two sums */
typedef struct {
  MPCGScalars  s;
  unsigned int done; /* blocks of the current sum */
  double       part[2][MPCG_BLOCKS];
} MPCGDeviceScalars; /* a value */

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode LitheCUDAMPCGDot(MPCGSum, PetscInt n, const float x[], const float y[], PetscBool alone, MPCGScalars *);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGDirection(PetscInt n, const float d[], const float z[], float p[], const MPCGScalars *);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGUpdate(PetscInt n, const float d[], const float p[], const float q[], double y[], float r[], PetscBool alone,
                                                MPCGScalars *);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGTake(const float d[], MPCGScalars *);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGPart(PetscInt n, double y[], float x[]);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGEnter(PetscInt n, double factor, const PetscReal r[], float b[]);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGLeave(PetscInt n, double factor, const float y[], PetscReal x[]);
PETSC_INTERN PetscErrorCode LitheCUDAMPCGFinish(MPCGSum, MPCGScalars *);
#endif
