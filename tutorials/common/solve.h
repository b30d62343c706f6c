/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* One system, solved with a preconditioner alone and with the same preconditioner inside of PCVCRS; the cost of each */

#include "measure.h"
#include <lithepc.h>

typedef struct {
  PetscInt           its;
  KSPConvergedReason reason;
  PetscLogDouble     setup;      /* seconds: of the preconditioner, */
  PetscLogDouble     compress;   /* of the compression, */
  PetscLogDouble     solve;      /* and of the fastest solve */
  PetscReal          apply;      /* seconds of an application, if measured, */
  PetscReal          applyexact; /* and of an application of the exact preconditioner in turn */
  PetscReal          residual;   /* ||b - A x|| / ||b|| with the exact matrix */
  PetscLogDouble     bytes;      /* of the compressed matrices in PCVCRS */
  PetscLogDouble     exactbytes; /* of the same matrices uncompressed */
} Solve;

/* A solver whose preconditioner takes its options from -vcrs_..., alone or inside of PCVCRS */
PETSC_INTERN PetscErrorCode SolveCreate(MPI_Comm, Mat A, Mat P, const char inner[], PetscBool compressed, KSP *);
PETSC_INTERN PetscErrorCode SolveSetUp(const Bench *, KSP, Solve *);
/* Call after changes of PCVCRS options: the compression, and its result */
PETSC_INTERN PetscErrorCode SolveCompress(const Bench *, KSP, Solve *);
/* A is the exact operator */
PETSC_INTERN PetscErrorCode SolveRun(const Bench *, KSP, Mat A, Vec b, Vec x, PetscInt repeats, Solve *);
