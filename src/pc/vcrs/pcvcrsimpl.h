/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithepc.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/kspimpl.h>

/* How the copies are compressed */
typedef struct {
  MatVCRSLoss loss;
  PetscInt    bits;    /* 8 or 16: LOG and FIXED */
  PetscInt    bins;    /* BINS */
  PetscReal   lambda;  /* CLASSES */
  MatVCRSUnit unit;    /* CLASSES */
  PetscBool   rowsums; /* keep them */
} PCVCRSOptions;

/* A matrix that the inner preconditioner reads, compressed; its AIJ arrays are given back */
typedef struct {
  MatState exact; /* of the matrix that it was made from */
  Mat      compressed;
  PetscInt line; /* of the view, that tells of it */
} PCVCRSCopy;

/* A preconditioner somewhere inside, with the solver that it belongs to; both are referenced */
typedef struct {
  PC        pc;
  KSP       ksp;       /* NULL: applied by another preconditioner */
  PetscInt  mat, pmat; /* the copies to read instead, -1: none */
  PetscBool matin;     /* exchanged now */
  PetscBool pmatin;
  Mat       matexact; /* while exchanged: what was there */
  Mat       pmatexact;
  PetscBool frozen; /* below is what was there before */
  PetscBool reuse;
  MatState  amatstate;
} PCVCRSPlace;

/* What a multigrid preconditioner reads by itself on a level; pc is referenced */
typedef enum {
  PCVCRS_RESIDUAL,
  PCVCRS_INTERPOLATION,
  PCVCRS_RESTRICTION,
  PCVCRS_LEVEL_MATRICES
} PCVCRSLevelMatrix;

typedef struct {
  PC        pc;
  PetscInt  level;
  PetscInt  copy[PCVCRS_LEVEL_MATRICES]; /* -1: none */
  PetscBool in[PCVCRS_LEVEL_MATRICES];
  Mat       exact[PCVCRS_LEVEL_MATRICES];
} PCVCRSLevel;

/* A line of the view: one matrix, the blocks that this and other processes have, or what is left as it is */
typedef struct {
  char     *what;
  PetscBool blocks;
  char     *left; /* NULL: nothing */
} PCVCRSLine;

typedef struct {
  PC            inner;
  PCVCRSOptions opt;
  PetscBool     current; /* the copies are those of the inner preconditioner as it is, with opt */
  PetscBool     exchanged;

  PetscInt     ncopies, nplaces, nlevels, nlines;
  PCVCRSCopy  *copy;
  PCVCRSPlace *place;
  PCVCRSLevel *level;
  PCVCRSLine  *line;
  PetscInt     blockline; /* while collecting inside of blocks: their line, else -1 */

  /* while collecting: the copies of last time, those taken over have no matrix any more */
  PetscInt    nold;
  PCVCRSCopy *old;
} PC_VCRS;

/* pcvcrscompress.c */
PETSC_INTERN PetscErrorCode PCVCRSCompress_Private(PC);
PETSC_INTERN PetscErrorCode PCVCRSExchange_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSForget_Private(PC_VCRS *, PetscBool);
PETSC_INTERN PetscErrorCode PCVCRSClear_Private(PC_VCRS *);

/* pcvcrsoptions.c */
PETSC_INTERN PetscErrorCode PCVCRSOptionsDefault_Private(PCVCRSOptions *);
PETSC_INTERN PetscErrorCode PCVCRSSetFromOptions_Private(PC, PetscOptionItems);
PETSC_INTERN PetscErrorCode PCVCRSComposeOptions_Private(PC, PetscBool);

/* pcvcrsview.c */
PETSC_INTERN PetscErrorCode PCView_VCRS(PC, PetscViewer);
