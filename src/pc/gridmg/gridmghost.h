/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the files of GridMGHostKernels share: those of the set-up, hostsetup.c */

#include <lithe/private/gridmg.h>
#include <lithe/private/lithecompiler.h>

PETSC_INTERN PetscErrorCode GridMGMeans_Host(const GridMGFaces *, double sums[3], double *count);
PETSC_INTERN PetscErrorCode GridMGMark_Host(const GridMGFaces *, unsigned char *alive, PetscInt *dead);
PETSC_INTERN PetscErrorCode GridMGPair_Host(const GridMGFaces *, int d, GridMGFaces *coarse);
PETSC_INTERN PetscErrorCode GridMGRange_Host(const GridMGFaces *, double *min, double *max);
PETSC_INTERN PetscErrorCode GridMGEncode_Host(const GridMGFaces *, double min, double max, const GridMGOperator *, double *bound);
