/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* KSPBCGSM: shared by its files. docs/guide/bcgsm.md explains the method */

#include <lithe/private/bcgsm.h>
#include <lithe/private/petsccompat.h>
#include <litheksp.h>
#include <lithepc.h>
#include <petsc/private/kspimpl.h>

/*
   Blocks of vectors, a column for each right-hand side that iterates. R is the residual r, in the middle of an iteration s. From the left W1 and W2
   are A p and A s; from the right they are p and s after the preconditioner
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

/* A right-hand side that iterates */
typedef struct {
  PetscInt           number; /* its column of the right-hand sides */
  PetscScalar        rho, rhonext, alpha, beta, omega;
  PetscReal          norm;         /* of the residual, as the convergence test gets it */
  PetscReal          normnext;     /* the same, before it is known whether it counts */
  PetscReal          rnorm0, ttol; /* what the convergence test keeps in the KSP */
  PetscBool          exact;        /* the residual is zero: its product with the operator is, too */
  KSPConvergedReason reason;       /* set when the column is to leave, at the end of the iteration */
} BCGSMColumn;

typedef struct {
  /* One call: the blocks of KSPMatSolve(), or NULL for the vectors of KSPSolve() */
  Mat                 B, X;
  const BCGSMKernels *kernels; /* for all blocks, or NULL */
  PetscBool           device;  /* these work on one */
  PetscInt            n;       /* columns that iterate */
  BCGSMColumn        *column;
  BCGSMTask          *task; /* room for an operation */
  PetscScalar        *sums; /* two for each column */
  PetscInt            max;  /* room for so many columns */
  Mat                 block[BCGSM_NBLOCKS];
  Mat                 view[BCGSM_NBLOCKS]; /* the first n columns of the blocks, while it is solved */
  PetscBool           viewed, multiplies;  /* there are views; products of them are set up, */
  PetscBool           single;              /* or the operator has none with several columns */

  /* What became of the columns of the last KSPMatSolve(), or of KSPSolve() */
  PetscInt            nresults, maxresults, before; /* before: those of earlier batches */
  PetscBool           failed;                       /* the preconditioner did, for the last batch, */
  const PetscScalar  *end;                          /* whose solutions ended here */
  PetscInt           *its;
  KSPConvergedReason *reasons;
  PetscReal          *norms;
} KSP_BCGSM;

/* kernels.c: arrays, and what works on them */
PETSC_INTERN PetscErrorCode BCGSMChooseKernels_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMArrayGet_Private(KSP_BCGSM *, Mat, PetscBool write, BCGSMArray *);
PETSC_INTERN PetscErrorCode BCGSMArrayRestore_Private(KSP_BCGSM *, Mat, PetscBool write, BCGSMArray *);

/* blocks.c: memory, columns and products */
PETSC_INTERN PetscErrorCode BCGSMBlocksStart_Private(KSP, PetscInt n);
PETSC_INTERN PetscErrorCode BCGSMBlocksEnd_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMBlocksReset_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMBlocksCompact_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMColumnGet_Private(KSP, BCGSMBlock, PetscInt j, Vec *);
PETSC_INTERN PetscErrorCode BCGSMColumnRestore_Private(KSP, BCGSMBlock, PetscInt j, Vec *);
PETSC_INTERN PetscErrorCode BCGSMGetNullSpace_Private(KSP, PetscBool transpose, MatNullSpace *);
PETSC_INTERN PetscErrorCode BCGSMInitialResidual_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMApply_Private(KSP, PetscBool second);

/* vectors.c: what is done to all columns without a reason */
PETSC_INTERN PetscErrorCode BCGSMShadow_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMDirection_Private(KSP, PetscBool first);
PETSC_INTERN PetscErrorCode BCGSMHalf_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMUpdate_Private(KSP);
PETSC_INTERN PetscErrorCode BCGSMDots_Private(KSP, PetscInt nsums, const BCGSMBlock x[], const BCGSMBlock y[]);
PETSC_INTERN PetscErrorCode BCGSMNorms_Private(KSP);

/* iterate.c */
PETSC_INTERN PetscErrorCode BCGSMIterate_Private(KSP);
