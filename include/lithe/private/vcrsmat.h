/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What other classes use of MATVCRS beside the public API */

#include <petscmat.h>

/*
   Solves a system with a triangle by substitution, x = (I - op(T))^-1 b, op(T) = T or T^T. T is a square MATSEQAIJVCRS,
   strictly lower or, with upper, strictly upper triangular. On the host b and x may be the same vector. Not collective.

   The substitution runs on a device if both vectors are on the device, and always gives the same bits. The first call on
   a device finds an order of the rows: by tiles if the triangle belongs to a grid in natural ordering, otherwise by
   levels. The order by levels takes one index per row. The first transposed call on a device stores the transpose,
   compressed without further loss.

   On a device, entries of T outside of the strict triangle are an error; the host does not check for such entries. A
   lossy triangle is refused as in a product. Exported for tests.
*/
PETSC_EXTERN PetscErrorCode MatVCRSSubstitute(Mat T, PetscBool upper, PetscBool transpose, Vec b, Vec x);

/* Whether products on a CPU may use plain rows: -mat_vcrs_plain_rows */
PETSC_INTERN PetscErrorCode MatVCRSSetPlainRows_Private(Mat, PetscBool);
