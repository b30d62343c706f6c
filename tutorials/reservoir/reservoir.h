/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The pressure equation of a reservoir on a DMDA, and pictures of it */

#include <tutorials/common/permeability.h>
#include <petscdmda.h>

typedef struct {
  Problem      problem;
  Permeability perm;
  DM           da;
  PetscInt (*well)[2]; /* columns of cells: the injector, then the producers */
} Reservoir;

PETSC_INTERN PetscErrorCode ReservoirCreate(MPI_Comm, Reservoir *);
PETSC_INTERN PetscErrorCode ReservoirDestroy(Reservoir *);
/* The matrix and the right-hand side, of the types in -dm_mat_type and -dm_vec_type */
PETSC_INTERN PetscErrorCode ReservoirAssemble(Reservoir *, Mat *, Vec *);
/* To a file of PETSc's ksp ex10 */
PETSC_INTERN PetscErrorCode ReservoirWrite(const Reservoir *, Mat, Vec, const char path[]);
/* Permeability and pressure, a layer and a section through the injector, to a .png file */
PETSC_INTERN PetscErrorCode ReservoirWritePicture(const Reservoir *, Vec pressure, PetscInt layer, const char path[]);
