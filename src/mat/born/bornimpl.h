/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/born/parts.h>
#include <petsc/private/matimpl.h>

/* The matrix is scale diag(left) J diag(right) */
typedef struct {
  PetscScalar scale;
  Vec         left, right; /* NULL: ones */
  Vec         rows;        /* work vector; NULL without a left scale */
  Vec         chain, work; /* dV/V is chain times a model: the parameter, right and scale; NULL for 1 */
  Vec         illumination;
} BornScales; /* owner: scale.c */

typedef struct {
  BornTime           time;
  BornDiscretization discretization;
  BornTuning         tuning;
  BornSurvey         survey;
  BornScales         scales;
  BornParallel       parallel;

  /* Made by MatBornBuild_Private() */
  PetscBool          built;
  const BornKernels *kernels; /* NULL: nothing below is there */
  BornGrids          grids;
  BornModel          model;
  BornSource         source;
  BornRun            run;
  BornPlaces         places;
  BornFields         fields;
  BornStore          store;
  BornStates         states;
  BornIntegers       integers;

  PetscReal *cost; /* [nshots] seconds of a shot in the last product; NULL before the first product */
} Mat_Born;

static inline BornParts MatBornParts(Mat_Born *ctx)
{
  return (BornParts){.kernels  = ctx->kernels,
                     .tuning   = &ctx->tuning,
                     .survey   = &ctx->survey,
                     .parallel = &ctx->parallel,
                     .grids    = &ctx->grids,
                     .model    = &ctx->model,
                     .source   = &ctx->source,
                     .run      = &ctx->run,
                     .places   = &ctx->places,
                     .fields   = &ctx->fields,
                     .store    = &ctx->store,
                     .states   = &ctx->states,
                     .integers = &ctx->integers};
}

/* context.c */
PETSC_INTERN PetscErrorCode MatBornGetContext_Private(Mat, Mat_Born **);
PETSC_INTERN PetscErrorCode MatBornAgree_Private(Mat, PetscBool, PetscBool *);
PETSC_INTERN PetscErrorCode MatBornCheckData_Private(Mat, Vec);
PETSC_INTERN PetscErrorCode MatBornCheckNotSetUp_Private(Mat, const char[]);
PETSC_INTERN PetscErrorCode MatBornGetDM_Private(Mat, DM *, PetscInt *);

/* grid.c */
PETSC_INTERN PetscErrorCode MatBornBuildGrid_Private(Mat, double *spectrum);
PETSC_INTERN void           BornGridsStack_Private(BornGrids *, PetscInt shots);

/* velocity.c */
PETSC_INTERN PetscErrorCode MatBornBuildVelocity_Private(Mat, double spectrum);
PETSC_INTERN PetscErrorCode BornModelDestroy_Private(const BornKernels *, BornModel *);

/* scale.c */
PETSC_INTERN void           MatBornDefaultScales_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornBuildChain_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornForgetChain_Private(Mat);
PETSC_INTERN void           MatBornKeepIllumination_Private(Mat, Vec);
PETSC_INTERN PetscErrorCode MatBornCopyScales_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatBornDestroyScales_Private(Mat);
PETSC_INTERN PetscErrorCode MatScale_Born(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatDiagonalScale_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatCopy_Born(Mat, Mat, MatStructure);
PETSC_INTERN PetscErrorCode MatShift_Born(Mat, PetscScalar);
PETSC_INTERN PetscErrorCode MatAXPY_Born(Mat, PetscScalar, Mat, MatStructure);

/* hash.c */
PETSC_INTERN PetscErrorCode MatBornHash_Private(Mat, const char[], Vec, Vec, uint64_t *);
PETSC_INTERN PetscErrorCode MatBornCheckShots_Private(Mat, PetscInt);
PETSC_INTERN PetscErrorCode MatBornCheckSettings_Private(Mat);

/* forget.c */
PETSC_INTERN PetscErrorCode MatBornForget_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornChanged_Private(Mat);

/* shots.c */
PETSC_INTERN PetscErrorCode MatBornCountRows_Private(Mat, PetscInt *);
PETSC_INTERN PetscErrorCode MatBornCopySurvey_Private(Mat, Mat, PetscInt, PetscBool);
PETSC_INTERN PetscErrorCode MatBornDestroySurvey_Private(Mat);

/* options.c */
PETSC_INTERN void           MatBornDefaultOptions_Private(Mat);
PETSC_INTERN void           MatBornCopyOptions_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatSetFromOptions_Born(Mat, PetscOptionItems);

/* build.c */
PETSC_INTERN PetscErrorCode MatBornBuild_Private(Mat);
PETSC_INTERN PetscErrorCode MatBornGetBytes_Private(Mat, PetscLogDouble *);

/* apply.c, view.c */
PETSC_INTERN PetscErrorCode MatBornProducts_Private(Mat, const char[], BornProduct, Vec, Vec, Vec, PetscBool);
PETSC_INTERN PetscErrorCode MatMult_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTranspose_Born(Mat, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultAdd_Born(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatMultTransposeAdd_Born(Mat, Vec, Vec, Vec);
PETSC_INTERN PetscErrorCode MatView_Born(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGetInfo_Born(Mat, MatInfoType, MatInfo *);
