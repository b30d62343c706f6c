/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A manufactured problem for MATSBPSAT, for the tutorial sbpsat, the benchmark and tests: -div(mu grad u) = f on a
   quadrilateral with curved sides,

     u = sin(pi x) cos(pi y), mu = 20 in a small basin around the origin, 36 in the rock around it,

   Dirichlet data on the left and the right face, tractions on the other two. Reference coordinates (r, s) run
   over [-1, 1]^2.
*/

#include <lithemat.h>
#include <petscdmda.h>

typedef struct {
  PetscReal x, y;           /* the point */
  PetscReal xr, yr, xs, ys; /* its derivatives along r and s */
} ProblemPoint;

/* Functions of the problem: at a reference point, and at points */
ProblemPoint ProblemMap(PetscReal r, PetscReal s);
PetscReal    ProblemMu(PetscReal x, PetscReal y);
PetscReal    ProblemSolution(PetscReal x, PetscReal y);
PetscReal    ProblemSource(PetscReal x, PetscReal y);
/* mu times the derivative of u along the outward normal of a face */
PetscReal ProblemTraction(MatSBPSATFace face, const ProblemPoint *);

/* A DMDA with n[0] and n[1] intervals, options of the command line taken, and the problem's coordinates */
PetscErrorCode ProblemCreateDM(MPI_Comm, const PetscInt n[2], DM *);
/* Sets faces and coefficient of a MATSBPSAT of that DMDA; exact: the metrics, too, otherwise differences of the coordinates */
PetscErrorCode ProblemSetOperator(DM, PetscBool exact, Mat);
/* Adds source, Dirichlet data and tractions to b */
PetscErrorCode ProblemAddRightSide(DM, Mat, Vec b);
/* u at the nodes */
PetscErrorCode ProblemGetSolution(DM, Vec u);
