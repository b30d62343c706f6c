/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of GridMGHostKernels: the set-up, hostsetup.c */

#include <lithe/private/gridmg/gridmg.h>
#include <lithe/private/lithecompiler.h>

PETSC_INTERN PetscErrorCode GridMGSurvey_Host(const GridMGFaces *, unsigned char *alive, GridMGSurvey *);
PETSC_INTERN PetscErrorCode GridMGCoarsen_Host(const GridMGFaces *, const int by[3], const GridMGFaces *coarse);
PETSC_INTERN PetscErrorCode GridMGAliveOf_Host(const GridMGFaces *, PetscInt n, const PetscInt vertex[], unsigned char alive[]);
PETSC_INTERN PetscErrorCode GridMGAdd_Host(const GridMGFaces *, PetscInt n, const GridMGAddition[]);
PETSC_INTERN PetscErrorCode GridMGEncode_Host(const GridMGFaces *, double min, double max, const GridMGOperator *, double *bound);
