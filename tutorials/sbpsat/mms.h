/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the files of the program mms share */

#include <tutorials/common/sbpsatproblem.h>
#include <tutorials/common/plot.h>
#include <petscksp.h>

typedef struct {
  PetscInt  order;
  PetscBool exact;     /* metrics from formulas, not from differences of coordinates */
  PetscBool assembled; /* the preconditioner gets an assembled matrix */
  char      picture[PETSC_MAX_PATH_LEN];
} MMSOptions;

/* Grid, operator and solver of the manufactured problem with N intervals a direction */
typedef struct {
  DM  da;
  Mat A, P;
  KSP ksp;
  Vec u, b;
} MMSSystem;

/* system.c */
PETSC_INTERN PetscErrorCode MMSCreateSystem(MPI_Comm, const MMSOptions *, PetscInt N, MMSSystem *);
PETSC_INTERN PetscErrorCode MMSDestroySystem(MMSSystem *);
/* Collective. Sets grid and values of the panel, which the first process adds */
PETSC_INTERN PetscErrorCode MMSAddField(Plot *, DM, Vec, PlotPanel *);
/* faultslip.c: -fault_slip */
PETSC_INTERN PetscErrorCode MMSFaultSlip(MPI_Comm, const MMSOptions *, PetscInt N);
