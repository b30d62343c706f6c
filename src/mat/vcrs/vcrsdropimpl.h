/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A MATVCRS without AIJ arrays: state.c, materialize.c, retake.c, serve.c and drop.c */

#include "vcrsimpl.h"

#define VCRS_DROP_CONTAINER "Lithe_MatVCRSDrop"
#define VCRS_MAXOPTIONS     16
#define VCRS_MAXFUNCTIONS   20

/* Data of a matrix that may drop its arrays, in a container composed with the matrix */
typedef struct {
  struct _MatOps live; /* the operations restored with the arrays */
  void          *data; /* the object's data while dropped */

  /* the AIJ type's own composed functions that read arrays, in the order of VCRS_RETAKEN_FUNCTIONS in retake.c */
  PetscErrorCodeFn *function[VCRS_MAXFUNCTIONS];

  PetscBool    stored;   /* MatStoreValues() was called: AIJ holds values that no plan has */
  PetscBool    coloring; /* a MatFDColoring was set up, and points to AIJ's values */
  PetscInt     ninverse;
  PetscScalar *inverse; /* [ninverse] the array returned by MatInvertBlockDiagonal() */
  PetscBool    given;   /* the arrays were freed before: pointers to older arrays are invalid */

  /* options stored in the struct of the arrays, in the order of the calls */
  PetscInt  noptions;
  MatOption option[VCRS_MAXOPTIONS];
  PetscBool value[VCRS_MAXOPTIONS];

  /* of the dropped matrix */
  PetscBool    rowactive; /* between MatGetRow() and MatRestoreRow() */
  PetscInt     rowsize;
  PetscInt    *rowcols;
  PetscScalar *rowvals;
  PetscScalar *diagonal; /* for relaxation */
} VCRSDrop;

/* state.c */
PETSC_INTERN PetscErrorCode MatVCRSGetDrop_Private(Mat, VCRSDrop **);
PETSC_INTERN PetscErrorCode VCRSDropReset(VCRSDrop *);
PETSC_INTERN PetscErrorCode VCRSDropRecordOption(VCRSDrop *, MatOption, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSRestoreOperations_Private(Mat);

/* retake.c: operations that first restore the arrays, for the table of a dropped matrix */
PETSC_INTERN PetscErrorCode MatVCRSRetakeInstall_Private(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatVCRSRetakeInstallSOR_Private(Mat);

/* serve.c: operations from the plan, for the table of a dropped matrix */
PETSC_INTERN PetscErrorCode MatVCRSServeInstall_Private(Mat, PetscBool);
