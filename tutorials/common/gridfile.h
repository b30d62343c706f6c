/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Numbers on a regular grid from files and into files: velocities, images.

   In memory x runs fastest, then y, then z, in a parallel vector without ghosts ("natural"). An x-z plane has n[1] = 1.
*/

#include <petscdmda.h>

/*E
  GridFileFormat - how a file is written

  Values:
+ `GRIDFILE_RAW`   - floats of 4 bytes as this machine has them, axes in any order
. `GRIDFILE_PETSC` - a Vec, as VecView() writes it, also that of a DMDA
. `GRIDFILE_SEGY`  - a trace for each x and y, x faster, with samples along z
- `GRIDFILE_HDF5`  - a data set of HDF5 with a dimension for each axis, the slowest first, or with one for all; of floats or integers. What is written is
                     called "grid", and has an attribute "spacing" in m. An error where PETSc has no HDF5
E*/
typedef enum {
  GRIDFILE_RAW,
  GRIDFILE_PETSC,
  GRIDFILE_SEGY,
  GRIDFILE_HDF5
} GridFileFormat;
extern const char *const GridFileFormats[];

/* An error if this PETSc does not have the format: to be asked before long work whose result is written */
PETSC_INTERN PetscErrorCode GridFileCheck(MPI_Comm, GridFileFormat);

#define GRIDFILE_DATASET "grid"

/* axes: of a raw file and of HDF5, the fastest first: "xyz", "zyx", "zx", ...; dataset: of HDF5, its path in the file */
PETSC_INTERN PetscErrorCode GridFileRead(MPI_Comm, GridFileFormat, const char path[], const PetscInt n[3], const char axes[], const char dataset[],
                                         Vec *natural);
/* h: spacing in m, of which SEG-Y and HDF5 tell */
PETSC_INTERN PetscErrorCode GridFileWrite(GridFileFormat, const char path[], const PetscInt n[3], PetscReal h, const char axes[], Vec natural);

/* Nodes of a DMDA (in 2-D of x and z) from a grid which begins at node pad[] of the DMDA; outside, the nearest values
   of the grid continue */
PETSC_INTERN PetscErrorCode GridToDM(Vec natural, const PetscInt n[3], const PetscInt pad[3], DM, Vec);
/* Gathers all nodes of a DMDA in natural order on the first process, none on the others; and the reverse */
PETSC_INTERN PetscErrorCode GridGather(DM, Vec, Vec *all);
PETSC_INTERN PetscErrorCode GridScatter(DM, Vec all, Vec);
