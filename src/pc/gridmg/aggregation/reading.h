/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* reading.c: what reading the rows of the host and reading the rows of a device share */

#include <lithe/private/gridmg/parts.h>

#define GRIDMG_NO_NUMBER "entry (%" PetscInt_FMT ", %" PetscInt_FMT ") of the matrix is no number"
#define GRIDMG_NOT_REAL                                       \
  "-pc_type gridmg: entry (%" PetscInt_FMT ", %" PetscInt_FMT \
  ") is not real, and aggregation is for M-matrices. Give a real matrix as the second one to KSPSetOperators()"

/* What the rows have, for checks and for the factor of all entries */
typedef struct {
  const GridMGFaces *f;
  PetscInt           wrong, wrongrow, wrongcolumn, faces; /* off-diagonal entries of the wrong sign, the first of them, and the number of faces */
  double             most;                                /* the largest diagonal entry */
  PetscInt           negative;                            /* diagonal entries */
  PetscBool          bad;                                 /* an entry is not finite */
  PetscBool          unreal;                              /* or not real, on several processes: */
  PetscInt           unrealat[2];
} GridMGRowCounts;

static inline PetscBool GridMGIsSame(double a, double b)
{
  return (PetscBool)(fabs(a - b) <= GRIDMG_SAME * PetscMax(fabs(a), fabs(b)));
}

PETSC_INTERN PetscErrorCode PCGridMGReadRow_Private(PC, PetscInt row, PetscInt n, const PetscInt[], const PetscScalar[], GridMGRowCounts *, double *sum);
PETSC_INTERN void           PCGridMGSetFactor_Private(PC_GridMG *, PetscInt cells, const GridMGRowCounts *);
PETSC_INTERN PetscErrorCode PCGridMGCheckSigns_Private(PC, const GridMGRowCounts *);
PETSC_INTERN PetscErrorCode PCGridMGStartFaces_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGSetSymmetry_Private(PC_GridMG *, GridMGLevel *, PetscBool symmetric);
PETSC_INTERN void           PCGridMGSetPrecision_Private(PC_GridMG *, double face, double least);
PETSC_INTERN PetscBool      PCGridMGListIsSymmetric_Private(const GridMGGrid *, const GridMGList *);
PETSC_INTERN PetscErrorCode PCGridMGFailRow_Private(PC, PetscInt vertex, double diagonal);
