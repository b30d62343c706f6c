/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For the presolve and postsolve operations of preconditioners that round: src/pc/truth.c */

#include <petscksp.h>

/*
   Whether a preconditioner with vectors in single precision has to change to double precision, because the solver takes
   the preconditioner for a linear operator. Collective. error: what has been measured since the last set-up, -1:
   nothing
*/
PETSC_INTERN PetscErrorCode LithePCNeedsDouble(PC pc, KSP ksp, PetscBool symmetric, PetscReal *error, PetscBool *needs);
/*
   Until the end of a solve, "converged" also means a true residual within ten times the tolerance. largest: the largest
   diagonal entry of the operator, which saves KSPCG a product; 0: unknown
*/
PETSC_INTERN PetscErrorCode LitheKSPConfirmBegin(KSP ksp, PetscReal largest);
PETSC_INTERN PetscErrorCode LitheKSPConfirmEnd(KSP ksp);
