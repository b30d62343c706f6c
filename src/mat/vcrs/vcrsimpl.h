/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithemat.h>
#include <lithe/private/vcrsplan.h>
#include <lithe/private/lithecuda.h>
#include <petsc/private/matimpl.h>

/* A host CSR matrix, as MATSEQAIJ holds it: columns ascending in each row */
typedef struct {
  PetscInt           m, n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} VCRSCSR;

/* What a MATSEQAIJVCRS adds to its MATSEQAIJ; found by MatVCRSGetContext() */
typedef struct {
  VCRSOptions      opt;
  PetscBool        allowlossy;
  PetscBool        dropaij;  /* give the AIJ arrays back whenever the matrix has been compressed */
  PetscBool        dropped;  /* they are given back now */
  struct _MatOps   super;    /* the operations of MATSEQAIJ */
  VCRSPlan        *plan;     /* host; large arrays may be missing where the plan was made on the device */
  VCRSPlan        *dplan;    /* device, or NULL */
  VCRSReport       report;
  PetscLogDouble   buildtime;
  PetscObjectState state;    /* of the AIJ arrays that plan was made from */
  PetscScalar     *rowsumextra; /* row-sum error of the off-diagonal block, to be taken up by the diagonal block; or NULL */
} Mat_VCRS;

/* vcrsbuild.c */
PETSC_INTERN PetscErrorCode VCRSPlanCreate(const VCRSCSR *, const VCRSOptions *, const PetscScalar rowsumextra[], VCRSPlan **, VCRSReport *);
PETSC_INTERN PetscErrorCode VCRSPlanDestroy(VCRSPlan **);
/* Back to CSR: i [m+1], j and a [nz] are the caller's; columns ascending. Bit for bit what a lossless plan was made from */
PETSC_INTERN PetscErrorCode VCRSPlanDecode(const VCRSPlan *, PetscInt[], PetscInt[], PetscScalar[]);
/* Row lengths alone: i [m+1] */
PETSC_INTERN PetscErrorCode VCRSPlanDecodeRowPointers(const VCRSPlan *, PetscInt[]);
/* One row, columns ascending; cols and vals hold VCRSPlanMaxRowLength() entries */
PETSC_INTERN PetscErrorCode VCRSPlanDecodeRow(const VCRSPlan *, PetscInt, PetscInt *, PetscInt[], PetscScalar[]);
PETSC_INTERN PetscErrorCode VCRSPlanMaxRowLength(const VCRSPlan *, PetscInt *);
/* All bytes that the plan's arrays take, and those of its tables (sets, dictionaries) among them */
PETSC_INTERN PetscErrorCode VCRSPlanGetBytes(const VCRSPlan *, size_t *, size_t *);

/* vcrsmult.c: y = op(A) x (+ add) for nrhs columns; add may be NULL or y */
PETSC_INTERN PetscErrorCode VCRSPlanMult(const VCRSPlan *, VCRSOp, PetscInt, const PetscScalar *, PetscInt, const PetscScalar *, PetscInt, PetscScalar *, PetscInt);
PETSC_INTERN PetscErrorCode VCRSPlanGetDiagonal(const VCRSPlan *, PetscScalar[]);

/* vcrs.c */
PETSC_INTERN PetscErrorCode MatVCRSGetContext(Mat, Mat_VCRS **);
PETSC_INTERN PetscErrorCode MatVCRSOptionsDefault(VCRSOptions *);
PETSC_INTERN PetscErrorCode MatVCRSOptionsCheck(Mat, const VCRSOptions *);
PETSC_INTERN PetscErrorCode MatConvert_SeqAIJ_SeqAIJVCRS(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatVCRSCompress(Mat); /* makes plan current; no-op where it is */

/* vcrsdrop.c */
PETSC_INTERN PetscErrorCode MatVCRSDropAIJ_Seq(Mat);
PETSC_INTERN PetscErrorCode MatVCRSMaterializeAIJ_Seq(Mat);

/* vcrsmpi.c */
PETSC_INTERN PetscErrorCode MatConvert_MPIAIJ_MPIAIJVCRS(Mat, MatType, MatReuse, Mat *);

/* vcrsproduct.c */
PETSC_INTERN PetscErrorCode MatVCRSComposeProducts_Private(Mat, PetscBool);

PETSC_INTERN PetscErrorCode MatCreate_SeqAIJVCRS(Mat);
PETSC_INTERN PetscErrorCode MatCreate_MPIAIJVCRS(Mat);
