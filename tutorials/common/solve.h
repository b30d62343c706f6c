/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* One system, solved with a preconditioner as it is and with the same one inside of PCVCRS; what each takes */

#include "measure.h"
#include <lithepc.h>

typedef struct {
  PetscInt           its;
  KSPConvergedReason reason;
  PetscLogDouble     setup;      /* seconds: of the preconditioner, */
  PetscLogDouble     compress;   /* of its compression, */
  PetscLogDouble     solve;      /* and of the fastest solve */
  PetscReal          apply;      /* seconds of an application, where it is measured, */
  PetscReal          applyexact; /* and of one of the exact preconditioner in turn with it */
  PetscReal          residual;   /* ||b - A x|| / ||b|| with the exact matrix */
  PetscLogDouble     bytes;      /* of the matrices that PCVCRS holds compressed */
  PetscLogDouble     exactbytes; /* of the same ones uncompressed */
} Solve;

/* A solver whose preconditioner takes its options from -vcrs_..., by itself or inside of PCVCRS */
PETSC_INTERN PetscErrorCode SolveCreate(MPI_Comm, Mat A, Mat P, const char inner[], PetscBool compressed, KSP *);
PETSC_INTERN PetscErrorCode SolveSetUp(const Bench *, KSP, Solve *);
/* After options of PCVCRS have been changed: its compression, and what it holds then */
PETSC_INTERN PetscErrorCode SolveCompress(const Bench *, KSP, Solve *);
/* A is the exact operator */
PETSC_INTERN PetscErrorCode SolveRun(const Bench *, KSP, Mat A, Vec b, Vec x, PetscInt repeats, Solve *);
