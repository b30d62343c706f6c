/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of KSPMPCG. docs/guide/mpcg.md explains the method */

#include <lithe/private/litheimpl.h>
#include <lithe/private/lithemg.h>
#include <lithe/private/lithesingle.h>
#include <lithe/private/mpcg.h>
#include <lithe/private/petsccompat.h>
#include <litheksp.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

typedef enum {
  MPCG_STORAGE_AUTO,   /* single if the preconditioner offers that, and double where single does not suffice */
  MPCG_STORAGE_SINGLE, /* never double */
  MPCG_STORAGE_DOUBLE
} MPCGStorage;

/* Only the files named as owners of a struct assign its members */

typedef struct {
  PetscReal   delta;
  MPCGStorage storage;
  PetscBool   graph;
} MPCGOptions; /* owner: options.c */

/* Vectors in single precision but for y, in the memory of the preconditioner's levels */
typedef struct {
  LitheSingle        op;
  const MPCGKernels *kernels;
  float             *memory, *r, *p, *q;
  double            *y; /* in the same memory */
  MPCGScalars       *s;
  LitheMGRecord      record; /* of an iteration */
  PetscInt           length;
  PetscBool          alone; /* one process */
} MPCGSingle;               /* owner: single.c */

/* Objects of a diagonal preconditioner, whose ids are not 0 */
typedef struct {
  PetscObjectId    pc, mat;
  PetscObjectState state; /* of the matrix */
  PetscBool        none, device, reuse;
} MPCGDiagonalKey; /* a value */

/* Diagonal preconditioners: the matrix of products, and a number of the preconditioner per number of a vector */
typedef struct {
  MPCGDiagonalKey       key;
  Mat                   matrix;   /* that of the user, or a copy */
  Vec                   wide[2];  /* on a device: p and q */
  LitheMatMultSingleFn *multiply; /* on the host */
  PetscBool             offered;  /* else the key's solves are in double precision */
  double                factor;   /* of the copy, a power of two */
  PetscInt64            number;
  const LitheMemoryOps *memory;
  float                *values;
  PetscInt              n;
} MPCGDiagonal; /* owner: diagonal.c */

/* Vectors in double precision: r is the first work vector of the KSP */
typedef struct {
  Vec         z, p, y;
  MPCGScalars s;
} MPCGDouble; /* owner: double.c */

/* Lanczos' matrix of a solve, for KSPSetComputeSingularValues() */
typedef struct {
  PetscReal *d, *e, *work[2]; /* e[k + 1]: between k and k + 1 */
  PetscInt   n, max;
} MPCGSpectrum; /* owner: spectrum.c */

/* Norms of r are those of the method, which has other units than the user */
typedef struct {
  PetscBool single, raised; /* raised: single precision did not suffice, until KSPReset() */
  PetscBool pending;        /* there is a correction y */
  double    delta;          /* of this solve */
  double    factor;         /* of the residual in the method */
  double    ratio;          /* the user's norm of the residual over its norm in the method */
  double    start, most;    /* norms of r at the last update, and the largest since then */
  PetscInt  updates, lost;  /* of this solve; lost: updates in a row that found no progress */
  PetscInt  last;           /* iteration of the last update */
} MPCGState;                /* owner: iterate.c */

typedef struct {
  MPCGOptions  opt;
  MPCGSingle   single;
  MPCGDiagonal diagonal;
  MPCGDouble   both;
  MPCGSpectrum spectrum;
  MPCGState    state;
} KSP_MPCG;

/* options.c */
PETSC_INTERN PetscErrorCode MPCGOptionsDefault_Private(MPCGOptions *);
PETSC_INTERN PetscErrorCode KSPSetFromOptions_MPCG(KSP, PetscOptionItems);
/* single.c, diagonal.c, double.c. Begin: r from the residual in the first work vector; first: without a direction.
   Iterate: one iteration. Leave: x += y, y = 0 */
PETSC_INTERN PetscErrorCode MPCGSingleWish_Private(KSP);
PETSC_INTERN PetscErrorCode MPCGSingleIsOffered_Private(KSP, PetscBool *);
PETSC_INTERN PetscErrorCode MPCGSingleBegin_Private(KSP, double factor, PetscBool first, MPCGScalars *);
PETSC_INTERN PetscErrorCode MPCGSingleIterate_Private(KSP, MPCGScalars *);
PETSC_INTERN PetscErrorCode MPCGSingleLeave_Private(KSP, double factor);
PETSC_INTERN PetscErrorCode MPCGSingleReset_Private(MPCGSingle *);
PETSC_INTERN PetscErrorCode MPCGDiagonalGetSingle_Private(KSP, LitheSingle *, PetscBool *offered);
PETSC_INTERN PetscErrorCode MPCGDiagonalReset_Private(MPCGDiagonal *);
PETSC_INTERN PetscErrorCode MPCGDoubleBegin_Private(KSP, double factor, PetscBool first, MPCGScalars *);
PETSC_INTERN PetscErrorCode MPCGDoubleIterate_Private(KSP, MPCGScalars *);
PETSC_INTERN PetscErrorCode MPCGDoubleLeave_Private(KSP, double factor);
PETSC_INTERN PetscErrorCode MPCGDoubleReset_Private(MPCGDouble *);
/* spectrum.c */
PETSC_INTERN PetscErrorCode MPCGSpectrumBegin_Private(KSP);
PETSC_INTERN PetscErrorCode MPCGSpectrumAdd_Private(KSP, double alpha, double beta);
PETSC_INTERN PetscErrorCode MPCGSpectrumReset_Private(MPCGSpectrum *);
PETSC_INTERN PetscErrorCode KSPComputeExtremeSingularValues_MPCG(KSP, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode KSPComputeEigenvalues_MPCG(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
/* iterate.c */
PETSC_INTERN PetscErrorCode KSPSolve_MPCG(KSP);
PETSC_INTERN PetscErrorCode MPCGLeave_Private(KSP);
PETSC_INTERN PetscErrorCode MPCGStateReset_Private(MPCGState *);
/* host.c */
PETSC_INTERN const MPCGKernels MPCGHostKernels;
