/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Multigrid with de Zeeuw's interpolation from PETSc's own pieces, with which PCGRIDMG is compared: PCMG with matrices for interpolation, and
   smoothers. Written before PCGRIDMG, with nothing in common but the formulas
*/

#include <tutorials/helmholtz/grid.h>
#include <petscpc.h>

#define PCDEZEEUW    "dezeeuw"
#define PCMULTICOLOR "multicolor"
#define PCDAMPED     "damped"
#define PCINVERSE    "inverse"

/*E
  PCMulticolorSweep - the order of the colours

  Values:
+ `PC_MULTICOLOR_FORWARD`   - from the first to the last
. `PC_MULTICOLOR_BACKWARD`  - from the last to the first
- `PC_MULTICOLOR_SYMMETRIC` - forward, then backward
E*/
typedef enum {
  PC_MULTICOLOR_FORWARD,
  PC_MULTICOLOR_BACKWARD,
  PC_MULTICOLOR_SYMMETRIC
} PCMulticolorSweep;
extern const char *const PCMulticolorSweeps[];

/* Before the options are read */
PETSC_INTERN PetscErrorCode ReferenceRegisterPCs(void);

/* dezeeuw.c: from the matrix of a grid interpolation from the coarse grid, and the Galerkin product P^T A P */
PETSC_INTERN PetscErrorCode DeZeeuwCoarsen(Mat A, DM fine, DM coarse, Mat *P, Mat *coarseA);
/* stencils.c: a DMDA of the coarse points; a matrix without sizes, of the same types as another one; the stencil of a row of a matrix */
PETSC_INTERN PetscErrorCode GridCreateCoarseDM(const Grid *, DM *);
PETSC_INTERN PetscErrorCode MatCreateLike(Mat, Mat *);
PETSC_INTERN PetscErrorCode GridGetStencil(const Grid *, Mat, const PetscInt at[3], PetscScalar stencil[]);

/* stencils.c: rows under construction */

typedef struct {
  PetscInt     m, row;
  PetscInt64   space;
  PetscInt    *i, *j;
  PetscScalar *a;
} CSR;

PETSC_INTERN PetscErrorCode CSRCreate(PetscInt m, PetscInt64 space, CSR *);
/* Moves the rows of all processes into a matrix of AIJ kind, which has a type and no sizes yet, and frees the arrays */
PETSC_INTERN PetscErrorCode CSRFinish(CSR *, PetscInt n, Mat);

static inline void CSRAdd(CSR *csr, PetscInt column, PetscScalar value)
{
  const PetscInt p = csr->i[csr->row + 1]++;

  csr->j[p] = column;
  csr->a[p] = value;
}

static inline void CSRNextRow(CSR *csr)
{
  csr->row++;
  if (csr->row < csr->m) csr->i[csr->row + 1] = csr->i[csr->row];
}

/* A row of a stencil; zeros off the diagonal are left out */
PETSC_INTERN void CSRAddStencil(CSR *, const Grid *, const PetscInt at[3], const PetscScalar stencil[]);
