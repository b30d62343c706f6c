/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of KSPBCGSM. docs/guide/bcgsm.md explains the method */

#include <lithe/private/bcgsm.h>
#include <lithe/private/petsccompat.h>
#include <litheksp.h>
#include <lithepc.h>
#include <petsc/private/kspimpl.h>

/*
   Blocks of vectors: a column for each active right-hand side. R is the residual r; in the middle of an iteration R is
   s. From the left W1 and W2 are A p and A s; from the right W1 and W2 are preconditioned p and s
*/
typedef enum {
  BCGSM_R,
  BCGSM_SHADOW,
  BCGSM_P,
  BCGSM_V,
  BCGSM_T,
  BCGSM_W1,
  BCGSM_W2,
  BCGSM_NBLOCKS,
  BCGSM_X = BCGSM_NBLOCKS /* solutions: a column for each right-hand side */
} BCGSMBlock;

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

/* An active right-hand side */
typedef struct {
  PetscInt           number; /* its column in B and X */
  PetscScalar        rho, rhonext, alpha, beta, omega;
  PetscReal          norm;         /* of the residual, as passed to the convergence test */
  PetscReal          normnext;     /* the next norm, until the iteration is known to count */
  PetscReal          rnorm0, ttol; /* data that the convergence test keeps in the KSP */
  PetscBool          exact;        /* the residual is zero, and its image, too */
  KSPConvergedReason reason;       /* set when the column is to leave, at the end of the iteration */
} BCGSMColumn;                     /* owner: iterate.c, vectors.c */

/* The active columns */
typedef struct {
  PetscInt     n;
  BCGSMColumn *column;
  BCGSMTask   *task; /* room for an operation */
  PetscScalar *sums; /* two for each column */
  PetscInt     max;  /* allocated columns */
} BCGSMColumns;      /* owner: iterate.c, vectors.c */

typedef struct {
  Mat                 B, X;    /* of KSPMatSolve(), during a call; NULL: the vectors of KSPSolve() */
  const BCGSMKernels *kernels; /* for all blocks, or NULL */
  PetscBool           device;  /* whether the kernels work on a device */
  Mat                 block[BCGSM_NBLOCKS];
  Mat                 view[BCGSM_NBLOCKS]; /* during a solve: the active columns of the blocks */
  PetscBool           viewed, multiplies;  /* views exist; products of views are set up, */
  PetscBool           single;              /* or the operator has none with several columns */
} BCGSMBlocks;                             /* owner: blocks.c */

/* Of the columns of the last KSPMatSolve(), or of KSPSolve() */
typedef struct {
  PetscInt            n, max, before; /* before: number of columns of earlier batches */
  PetscBool           failed;         /* the preconditioner failed for the last batch, */
  const PetscScalar  *end;            /* whose local solutions ended here */
  PetscInt           *its;
  KSPConvergedReason *reasons;
  PetscReal          *norms;
} BCGSMResults; /* owner: results.c */

typedef struct {
  BCGSMColumns columns;
  BCGSMBlocks  blocks;
  BCGSMResults results;
} KSP_BCGSM;

/* results.c */
PETSC_INTERN PetscErrorCode BCGSMResultsBegin_Private(BCGSMResults *, PetscInt before, PetscInt n);
PETSC_INTERN PetscErrorCode BCGSMResultsReplace_Private(BCGSMResults *, PetscInt before, PetscInt n, const PetscInt its[], const KSPConvergedReason reasons[],
                                                        const PetscReal norms[]);
PETSC_INTERN PetscErrorCode BCGSMResultsIsFurther_Private(KSP, Mat X, PetscBool *further);
PETSC_INTERN PetscErrorCode BCGSMResultsEnd_Private(KSP, Mat X);
PETSC_INTERN PetscErrorCode BCGSMResultsReset_Private(BCGSMResults *);
PETSC_INTERN void           BCGSMResultCount_Private(BCGSMResults *, PetscInt number, PetscInt it);
PETSC_INTERN void           BCGSMResultEnd_Private(BCGSMResults *, PetscInt number, KSPConvergedReason, PetscReal norm);
PETSC_INTERN PetscErrorCode KSPBCGSMGetColumns_BCGSM(KSP, PetscInt *, const PetscInt *[], const KSPConvergedReason *[], const PetscReal *[]);

/* kernels.c: arrays, and kernels for them */
PETSC_INTERN PetscErrorCode BCGSMChooseKernels_Private(KSP, Mat B, Mat X, const BCGSMKernels **, PetscBool *ondevice);
PETSC_INTERN PetscErrorCode BCGSMArrayGet_Private(KSP_BCGSM *, Mat, PetscBool write, BCGSMArray *);
PETSC_INTERN PetscErrorCode BCGSMArrayRestore_Private(KSP_BCGSM *, Mat, PetscBool write, BCGSMArray *);

/* blocks.c: memory and products */
PETSC_INTERN PetscErrorCode BCGSMBlocksStart_Private(KSP, Mat B, Mat X);
PETSC_INTERN PetscErrorCode BCGSMBlocksEnd_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMBlocksReset_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMBlocksMove_Private(KSP, PetscInt from, PetscInt to);
PETSC_INTERN PetscErrorCode BCGSMBlocksChange_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMColumnGet_Private(KSP, BCGSMBlock, PetscInt j, Vec *);
PETSC_INTERN PetscErrorCode BCGSMColumnRestore_Private(KSP, BCGSMBlock, PetscInt j, Vec *);
PETSC_INTERN PetscErrorCode BCGSMGetNullSpace_Private(KSP, PetscBool transpose, MatNullSpace *);
PETSC_INTERN PetscErrorCode BCGSMInitialResidual_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMApply_Private(KSP, PetscBool second);

/* vectors.c: the columns, and operations on all columns without a reason */
PETSC_INTERN PetscErrorCode BCGSMColumnsStart_Private(KSP, PetscInt n);
PETSC_INTERN PetscErrorCode BCGSMColumnsReset_Private(BCGSMColumns *);
PETSC_INTERN PetscErrorCode BCGSMShadow_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMDirection_Private(KSP, PetscBool first);
PETSC_INTERN PetscErrorCode BCGSMHalf_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMUpdate_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMDots_Private(KSP, PetscInt nsums, const BCGSMBlock x[], const BCGSMBlock y[]);
PETSC_INTERN PetscErrorCode BCGSMNorms_Private(KSP);

/* iterate.c */
PETSC_INTERN PetscErrorCode BCGSMIterate_Private(KSP);
