/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The algorithm split over groups of processes: a solver and a preconditioner.

   The first processes of a communicator solve. The remaining processes wait for vectors, apply the preconditioner and
   send the result back. Each group has a separate DMDA of the same grid.
*/

#include <petscdmda.h>
#include <petscksp.h>
#include <petscsf.h>

typedef struct {
  MPI_Comm  world, group;
  PetscBool serves; /* whether this process belongs to the group of the preconditioner */
  PetscSF   sf;     /* from the vectors of the solver to the vectors of the preconditioner */
} Split;

/* servers: how many processes apply the preconditioner */
PETSC_INTERN PetscErrorCode SplitCreate(MPI_Comm world, PetscInt servers, Split *);
/* Connects the vectors of both grids; each group passes its own DMDA. Collective on all processes */
PETSC_INTERN PetscErrorCode SplitConnect(Split *, DM);
/* Gives a solver a preconditioner which asks the preconditioner's group */
PETSC_INTERN PetscErrorCode SplitSetPC(Split *, PC);
/* Applies a preconditioner for the solver's group until SplitStop() */
PETSC_INTERN PetscErrorCode SplitServe(Split *, PC, DM);
PETSC_INTERN PetscErrorCode SplitStop(Split *);
PETSC_INTERN PetscErrorCode SplitDestroy(Split *);
