/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The C interface of the kernels of MATHYBMGPU; see cuda/vcrs.h for the common rules of all kernels */

#include <lithe/private/hybplan.h>
#include <lithe/private/lithestep.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>

/* Copies a host plan with all its arrays to the device. Synchronises. */
PETSC_INTERN PetscErrorCode LitheCUDAHybUpload(const HybPlan *src, HybPlan *ddst);
/* The values alone, of a plan with the same pattern. Synchronises. */
PETSC_INTERN PetscErrorCode LitheCUDAHybUploadValues(const HybPlan *src, HybPlan *ddst);
PETSC_INTERN PetscErrorCode LitheCUDAHybFree(HybPlan *dplan);
/* dy = dadd + scale A dx, and the sums of the step. dadd may be NULL (zeros), dx or dy; dx is not dy. Results are
   bitwise reproducible */
PETSC_INTERN PetscErrorCode LitheCUDAHybMult(const HybPlan *dplan, const PetscScalar *dx, const PetscScalar *dadd, const LitheStep *step, PetscScalar *dy,
                                             cudaStream_t);
#endif
