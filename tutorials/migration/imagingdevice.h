/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The image of wavefields on a device, by a group of one process: imagingdevice.cu */

#include <petscsys.h>

#define MIGRATION_CUBIC 4 /* nodes of an interpolation */

/* All arrays are on the device. In 2-D n[1] and grid[1] are 1 */
typedef struct {
  PetscInt   n[3], grid[3]; /* nodes of the image; points of the waves */
  PetscInt  *node[3];       /* per node along a direction, the first point of interpolation, */
  PetscReal *weight[3];     /* and MIGRATION_CUBIC weights */
  PetscReal *background;    /* per node, m/s */
  PetscReal *sum;           /* 3 of each node */
} ImagingDevice;

#if defined(LITHE_HAVE_CUDA)
/* From arrays of the host; the sums are zero */
PETSC_INTERN PetscErrorCode ImagingDeviceCreate(const PetscInt n[3], const PetscInt grid[3], PetscInt *const node[3], PetscReal *const weight[3],
                                                const PetscReal background[], ImagingDevice *);
PETSC_INTERN PetscErrorCode ImagingDeviceDestroy(ImagingDevice *);
PETSC_INTERN PetscErrorCode ImagingDeviceZero(ImagingDevice *);
/* ImagingAdd() for waves on their grid */
PETSC_INTERN PetscErrorCode ImagingDeviceAdd(ImagingDevice *, PetscBool reflectivity, PetscReal frequency, const PetscScalar u[], const PetscScalar lambda[]);
/* Adds the sums of the device to the sums of the host */
PETSC_INTERN PetscErrorCode ImagingDeviceGet(ImagingDevice *, PetscReal sum[]);
#endif
