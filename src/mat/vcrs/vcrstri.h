/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Triangular systems with a compressed matrix on the host: vcrstri.c */

#include "vcrsimpl.h"

/*
   x = (I - op(T))^-1 x, where T is the plan of a square matrix that has entries strictly below its
   diagonal only, or with upper strictly above; op(T) is T, or with transpose T^T.
*/
PETSC_INTERN PetscErrorCode VCRSPlanSubstitute(const VCRSPlan *, PetscBool upper, PetscBool transpose, PetscScalar x[]);

/* The same with a MATSEQAIJVCRS, on the host */
PETSC_INTERN PetscErrorCode MatVCRSSubstitute_Private(Mat, PetscBool upper, PetscBool transpose, PetscScalar x[]);
