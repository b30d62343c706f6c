/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Factors read from factored matrices of PETSc: triangles.c */

#include "pcvcrsimpl.h"

/* Rows of a strict triangle */
typedef struct {
  PetscInt     n;
  PetscInt    *i, *j;
  PetscScalar *a;
} PCVCRSRows; /* owner: triangles.c */

/* The data read from a factored matrix */
typedef struct {
  PetscInt     n;
  PetscBool    symmetric;
  PCVCRSRows   lower, upper;
  PetscScalar *inverse;
  PetscInt    *row, *col; /* x[col[i]] = y[i], where y solves for b[row[i]] */
} PCVCRSTriangles;        /* owner: triangles.c */

/* x = (I - op(T))^-1 x */
PETSC_INTERN PetscErrorCode PCVCRSRowsSubstitute_Private(const PCVCRSRows *, PetscBool upper, PetscBool transpose, PetscScalar x[]);
/* y = b + op(T) x */
PETSC_INTERN PetscErrorCode PCVCRSRowsSweep_Private(const PCVCRSRows *, PetscBool transpose, const PetscScalar b[], const PetscScalar x[], PetscScalar y[]);

/* known is PETSC_FALSE, and nothing has to be freed, if the factored matrix does not have the expected contents */
PETSC_INTERN PetscErrorCode PCVCRSTrianglesRead_Private(Mat, PetscBool symmetric, PCVCRSTriangles *, PetscBool *known);
PETSC_INTERN PetscErrorCode PCVCRSTrianglesFree_Private(PCVCRSTriangles *);
