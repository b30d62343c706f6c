/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/born.h>
#include <lithemat.h>
#include <petscdmda.h>
#include <petsc/private/matimpl.h>

typedef struct {
  PetscReal  source[3];
  PetscInt   nreceivers;
  PetscReal *receivers; /* dim numbers each */
  PetscInt   row;       /* its first one */

  BornPoints at, to; /* the source, the receivers: of the built matrix */
} BornShot;

/* Two fields at one step of time: u and the one before */
typedef struct {
  PetscReal *u, *old;
  PetscInt   step;
} BornState;

typedef struct {
  /* What a program asks for */
  PetscInt             order, width, checkpoints; /* checkpoints and damping: or PETSC_DECIDE, PETSC_DETERMINE */
  PetscReal            damping;
  PetscBool            surface;
  MatBornParameter     parameter;
  MatBornInterpolation interpolation;
  Vec                  velocity;
  PetscReal            dt;
  PetscInt             steps, every, samples; /* samples of a trace */
  PetscReal           *wavelet;
  PetscInt             nwavelet;
  PetscReal            spacing[3]; /* 0: from the coordinates of the DMDA */
  PetscInt             nshots, maxshots;
  BornShot            *shots;

  /* What belongs to that */
  PetscBool          built;
  PetscObjectState   state; /* of the velocity that was read */
  const BornKernels *kernels;
  BornGrid           grid;
  PetscReal          h[3], origin[3], least, most; /* least, most: of the velocity */
  PetscReal          force;                        /* what a sample of the wavelet is multiplied with */
  PetscReal         *V;
  Vec                chain, work; /* dV/V is chain times the parameter; chain is NULL where it is 1 */
  PetscReal         *u[2], *w[2], *q;
  BornState         *saved; /* nsaved states, whose fields are there or NULL */
  PetscInt           nsaved;
} Mat_Born;

/* context.c */
PETSC_INTERN PetscErrorCode MatBornGetContext_Private(Mat, Mat_Born **);
PETSC_INTERN PetscErrorCode MatBornForget_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornChanged_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetDM_Private(Mat, DM *, PetscInt *);

/* points.c */
PETSC_INTERN PetscErrorCode BornPointsCreate_Private(MPI_Comm, const BornGrid *, const PetscReal[3], const PetscReal[3], MatBornInterpolation, const char[],
                                                     PetscInt, PetscInt, const PetscReal[], BornPoints *);
PETSC_INTERN PetscErrorCode BornPointsDestroy_Private(BornPoints *);

/* checkpoint.c */
PETSC_INTERN PetscInt BornCheckpointsDefault(PetscInt);
PETSC_INTERN PetscInt BornCheckpointsAdvance(PetscInt, PetscInt);

/* options.c */
PETSC_INTERN PetscErrorCode MatSetFromOptions_Born(Mat, PetscOptionItems);

/* build.c */
PETSC_INTERN PetscErrorCode MatBornBuild_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetBytes_Private(Mat, PetscLogDouble *);

/* sweep.c */
PETSC_INTERN PetscErrorCode BornSweepModel_Private(Mat_Born *, const BornShot *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepForward_Private(Mat_Born *, const BornShot *, const PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode BornSweepAdjoint_Private(Mat_Born *, const BornShot *, const PetscReal *, PetscReal *);

/* apply.c, view.c */
PETSC_INTERN PetscErrorCode MatMult_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTranspose_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatView_Born(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGetInfo_Born(Mat, MatInfoType, MatInfo *);
