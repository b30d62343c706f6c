/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The vector operations of KSPBCGSM on arrays with several columns, as plain data: for the host and for a device */

#include <petscsys.h>
#if !defined(__cplusplus)
  #include <stdalign.h>
#endif

/* The columns of a block on this process, ld numbers apart */
typedef struct {
  PetscScalar *a;
  PetscInt64   ld;
} BCGSMArray;

/*
   A column in an operation, with its scalars. Complex scalars have different alignments in C and C++: alignas fixes the
   alignment
*/
typedef struct {
  PetscInt column, number; /* of the blocks; of the solutions */
  alignas(sizeof(PetscScalar)) PetscScalar alpha;
  PetscScalar beta, omega;
} BCGSMTask;

/* Operations for n tasks and m rows. Sums are over this process: sums[nsums column + i] */
typedef struct {
  PetscErrorCode (*copy)(PetscInt m, const PetscScalar from[], PetscScalar to[]);
  /* p = r + beta (p - omega v) */
  PetscErrorCode (*direction)(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray r, BCGSMArray v, BCGSMArray p);
  /* r = r - alpha v */
  PetscErrorCode (*half)(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray v, BCGSMArray r);
  /* conj(y) x, and as the second of two sums conj(y) y */
  PetscErrorCode (*dots)(PetscInt m, PetscInt n, const BCGSMTask[], PetscInt nsums, BCGSMArray x, BCGSMArray y, PetscScalar sums[]);
  /* x += alpha p + omega s, r = r - omega t; two sums: conj(shadow) r and conj(r) r. s may be r */
  PetscErrorCode (*update)(PetscInt m, PetscInt n, const BCGSMTask[], BCGSMArray p, BCGSMArray s, BCGSMArray t, BCGSMArray shadow, BCGSMArray x, BCGSMArray r,
                           PetscScalar sums[]);
} BCGSMKernels;
