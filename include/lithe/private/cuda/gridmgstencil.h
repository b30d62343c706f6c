/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The operations of GridMGStencilKernels on a device, launched on PETSc's current stream. cuda/gridmg/stencil */

#include <lithe/private/gridmg/stencil.h>

/* Number of fine planes whose rows times P are stored at one time; the last plane is computed twice */
#define LITHE_CUDA_GRIDMG_PLANES 33

/* cuda/gridmg/stencil/cycle.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilLargest(const GridMGStencilOperator *, const PetscScalar *x, double *largest);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilEnter(const GridMGStencilOperator *, const PetscScalar *x, const double *largest, void *b);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilLeave(const GridMGStencilOperator *, double factor, const double *largest, const void *x, PetscScalar *y);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilStart(const GridMGStencilOperator *, int colour, double c, const void *b, void *x);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilColour(const GridMGStencilOperator *, int colour, const void *b, void *x);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilStep(const GridMGStencilOperator *, double c, const void *b, const void *x, void *out);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilResidual(const GridMGStencilOperator *, const void *b, const void *x, void *r);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilRestrict(const GridMGStencilOperator *, const GridMGPoints *coarse, const void *r, void *b);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilProlong(const GridMGStencilOperator *, const GridMGPoints *coarse, double factor, const void *e, void *x);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilUp(const GridMGStencilOperator *, const GridMGPoints *coarse, double factor, const void *e, double c,
                                                     const void *b, void *x);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilDown(const GridMGStencilOperator *, double c, const void *b, void *x, void *r);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilDense(const GridMGStencilOperator *, const void *L, const void *S, const void *b, void *work, void *x);

/* cuda/gridmg/stencil/tile.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilDownTile(const GridMGStencilOperator *, double c, const void *b, void *r);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilResidualTile(const GridMGStencilOperator *, const void *b, const void *x, void *r);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilStepTile(const GridMGStencilOperator *, double c, const void *b, const void *x, void *out);

/* cuda/gridmg/stencil/columns.cu: kernels for n right-hand sides at once, or for GRIDMG_COLUMNS_MAX of more */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGColumnsGet(PetscInt n, const GridMGColumnsKernels **);

/* cuda/gridmg/stencil/setup.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilRead(const GridMGCSR *, double rounding, double same, const GridMGStencils *, GridMGRead *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilScale(const GridMGStencils *, const PetscScalar *, const PetscScalar *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilWeights(const GridMGStencils *);
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilProduct(const GridMGStencils *, void *work, const GridMGStencils *coarse);

/* cuda/gridmg/stencil/encode.cu */
PETSC_INTERN PetscErrorCode LitheCUDAGridMGStencilEncode(const GridMGStencils *, GridMGFactor, const GridMGStencilOperator *, PetscInt *bad);
