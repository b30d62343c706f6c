/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The levels of a PCGRIDMG for tests: src/pc/gridmg/matrices.c */

#include <petscpc.h>

/*
   The rounded operator of a level as cycles use it, 0 the finest, as a MATSEQAIJ:
   cells first, x fastest, then wells. Time grows with the square of the number of cells
*/
PETSC_EXTERN PetscErrorCode PCGridMGGetOperator_Private(PC, PetscInt level, Mat *);
/*
   A copy of an array of a level of aggregation, for PetscFree(). up0 to up2, down0 to down2: codes of faces along each
   direction; table: the values of codes; sigma: row sums; dinv: the inverse of the diagonal; alive: 1 for cells with a
   place on the next level; row, i, j, t: edges of wells and faults. bytes 0: the level has no such array. Set-up on a
   device and set-up on the host give the same bits
*/
PETSC_EXTERN PetscErrorCode PCGridMGGetArray_Private(PC, PetscInt level, const char name[], size_t *bytes, void **array);
