/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The manufactured problem in time, by PETSc's TS with a MATSBPSAT */

#include <tutorials/common/sbpsatproblem.h>
#include <petscts.h>

typedef enum {
  EVOLVE_HEAT,     /* u_t = div(mu grad u) + f, as W u_t + A u = b: TSSetIFunction() */
  EVOLVE_HEAT_RHS, /* the same as u_t = W^-1 (b - A u): TSSetRHSFunction() */
  EVOLVE_WAVE      /* u_tt = div(mu grad u) + f, as W u_tt + A u = b: TSSetI2Function() */
} EvolveKind;

typedef struct {
  EvolveKind kind;
  PetscInt   N, order, steps; /* intervals a direction */
  PetscBool  exact;           /* metrics from formulas */
  PetscBool  assembled;       /* the matrix is MATAIJ */
  PetscBool  discrete;        /* the right-hand side belongs to the grid function, so only the steps cause errors */
  TSType     type;            /* or NULL: bdf, and alpha2 for waves */
} EvolveOptions;

typedef struct {
  PetscReal error; /* at the end, in the norm of the operator */
  PetscReal time;
  PetscInt  steps, iterations; /* of all linear solves */
} EvolveResult;

PETSC_INTERN PetscErrorCode EvolveSolve(MPI_Comm, const EvolveOptions *, EvolveResult *);
