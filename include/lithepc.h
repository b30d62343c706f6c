/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = PC */

#include <lithemat.h>
#include <petscpc.h>

#define PCVCRS "vcrs"

PETSC_EXTERN PetscErrorCode PCVCRSGetPC(PC, PC *);
PETSC_EXTERN PetscErrorCode PCVCRSSetLoss(PC, MatVCRSLoss);
PETSC_EXTERN PetscErrorCode PCVCRSGetLoss(PC, MatVCRSLoss *);
PETSC_EXTERN PetscErrorCode PCVCRSSetBits(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCVCRSSetBins(PC, PetscInt);
PETSC_EXTERN PetscErrorCode PCVCRSSetLambda(PC, PetscReal, MatVCRSUnit);
PETSC_EXTERN PetscErrorCode PCVCRSSetPreserveRowSums(PC, PetscBool);
