/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A manufactured problem for MATSBPSAT, for the tutorial sbpsat, the benchmark and tests. The equation is -div(mu grad
   u) = f on a quadrilateral with curved sides. The solution is

     u = sin(pi x) cos(pi y).

   The coefficient mu is 20 in a small basin around the origin, and 36 in the rock around the basin. Left and right
   faces have Dirichlet data, bottom and top faces have tractions.
*/

#include <lithemat.h>
#include <petscdmda.h>

/*
   Vectors are filled where they are stored. On a device (-dm_vec_type cuda) the kernel of sbpsatproblemdevice.cu fills
   vectors. Both ways use the formulas of sbpsatformulas.h.
*/

/* A DMDA with n[0] and n[1] intervals, options of the command line taken */
PetscErrorCode ProblemCreateGrid(MPI_Comm, const PetscInt n[2], DM *);
/* The problem's coordinates. Metrics from formulas do not need coordinates, whose own DMDA has lists of all nodes */
PetscErrorCode ProblemSetCoordinates(DM);
/* Both */
PetscErrorCode ProblemCreateDM(MPI_Comm, const PetscInt n[2], DM *);
/* A vector of the nodes. A CUDA vector has no array before the first fill, and none on the host; PETSc would make and
   clear both arrays */
PetscErrorCode ProblemCreateVector(DM, Vec *);
/* Sets faces and coefficient of a MATSBPSAT of the DMDA. exact: also metrics from formulas; otherwise metrics are
   differences of the coordinates */
PetscErrorCode ProblemSetOperator(DM, PetscBool exact, Mat);
/* Adds source, Dirichlet data and tractions to b */
PetscErrorCode ProblemAddRightSide(DM, Mat, Vec b);
/* u at the nodes */
PetscErrorCode ProblemGetSolution(DM, Vec u);
