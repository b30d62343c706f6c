/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Near null vectors of a matrix, for multigrid methods whose coarse levels represent constants */

#include <petscmat.h>

typedef enum {
  LITHE_NEAR_NULL_CONSTANT,  /* constants serve: left and right are NULL */
  LITHE_NEAR_NULL_GIVEN,     /* MatSetNearNullSpace(), else MatSetNullSpace() */
  LITHE_NEAR_NULL_RECOVERED, /* by relaxation */
  LITHE_NEAR_NULL_ROWS       /* equations in different units: right is NULL, left has the inverse diagonal */
} LitheNearNull;

/*
   Vectors left and right such that diag(left) A diag(right) has constants near its null space; NULL for constants. For
   a symmetric matrix both are the same object. Entries are nonzero. Collective. See src/mat/common/nearnull.c
*/
PETSC_INTERN PetscErrorCode LitheMatGetNearNull(Mat A, PetscBool symmetric, Vec *left, Vec *right, LitheNearNull *how);
