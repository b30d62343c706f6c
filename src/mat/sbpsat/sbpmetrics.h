/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* metrics.c: operations of SBPHostKernels for the set-up and the right-hand sides of a MATSBPSAT */

#include <lithe/private/sbp/sbpsat.h>

PETSC_INTERN PetscErrorCode SBPMetrics_Host(const SBPGeometry *, const SBPBox *, PetscInt, PetscReal *, PetscReal *, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode SBPCheck_Host(const SBPBox *, PetscInt, const PetscReal *, const PetscReal *, const PetscReal *, PetscInt64 *);
PETSC_INTERN PetscErrorCode SBPSource_Host(const SBPGrid *, const PetscReal *, const PetscScalar *, PetscScalar *);
PETSC_INTERN PetscErrorCode SBPSquare_Host(const SBPGrid *, const PetscScalar *, double *);
PETSC_INTERN PetscErrorCode SBPStrided_Host(const PetscInt[2], PetscBool, const SBPSpaced *, const SBPSpaced *);
