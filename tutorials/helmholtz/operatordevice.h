/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Kernels of the Helmholtz problem, with all data in device memory: operatordevice.cu */

#include "formulas.h"

PETSC_INTERN PetscErrorCode HelmholtzLaunchSpeed(const HelmholtzForm *, const GridBox *, PetscScalar speed[]);
PETSC_INTERN PetscErrorCode HelmholtzLaunchSource(const HelmholtzForm *, const GridBox *, const PetscScalar speed[], PetscScalar b[]);
/* Fills the rows. speed: of own points and all their neighbours */
PETSC_INTERN PetscErrorCode HelmholtzLaunchRows(const HelmholtzForm *, const GridBox *, const PetscScalar speed[], const GridBoxRows *);
