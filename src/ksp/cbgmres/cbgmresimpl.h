/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of KSPCBGMRES and KSPCBFGMRES. docs/theory/compressed-basis.md explains the method */

#include <lithe/private/cb/basis.h>
#include <lithe/private/petsccompat.h>
#include <litheksp.h>
#include <petsc/private/kspimpl.h>

#define CB_LEFT           8    /* largest number of continuations of a cycle */
#define CB_PAIRS          2    /* columns stored in two parts, for small tolerances */
#define CB_ROUNDOFF_LIMIT 10.0 /* a residual up to this factor above the tolerance may be due to rounding of the operator */
#define CB_REFINE         0.1  /* with a larger share of rounding in the residual a cycle's space is used once more before a restart */

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

typedef struct {
  PetscInt     restart;
  LitheStorage storage;
  PetscBool    adaptive;
  PetscInt     every;         /* iterations between looks of the host */
  PetscInt     exponentbits;  /* of FRSZ2: 8 or 16 */
  PetscReal    haptol;        /* a smaller entry of the Hessenberg matrix ends the iteration */
  PetscReal    breakdowntol;  /* largest difference of recurrence and residual, relative to a cycle's first residual */
  PetscBool    krylovmonitor; /* -ksp_gmres_krylov_monitor has been read */
} CBGMRESOptions;             /* owner: options.c */

/* KSPFlexibleSetModifyPC() */
typedef struct {
  KSPFlexibleModifyPCFn *pc;
  PetscCtxDestroyFn     *destroy;
  void                  *ctx;
} CBModify; /* owner: options.c */

/* Bases, and their storage, which a solve may have raised above the storage of the options */
typedef struct {
  CBBasis      V;
  CBBasis      Z;           /* flexible: the preconditioned columns */
  CBBasis      Vritz;       /* for Ritz vectors: a basis of an earlier cycle, with its Hessenberg matrix */
  PetscInt     ritzcolumns; /* of Vritz */
  LitheStorage storage;
  PetscBool    unlike;   /* residuals have entries of different sizes side by side: each number has a separate exponent */
  PetscBool    measured; /* a residual has been tested for unlike sizes */
  PetscInt     finer;    /* number of times Z's storage was raised above the storage of V */
  Vec          jacobi;   /* the inverse diagonal of a PCJACOBI from the right, a factor of columns in CB_COLUMN; NULL: none */
} CBBases;               /* owner: vectors.c, loss.c */

/*
   The least squares problem, on the host, with ld of V and columns 0 ... columns-1. Columns that are residuals, from
   continuations of the cycle, have no unknown
*/
typedef struct {
  PetscInt     columns;
  PetscInt     unknowns;
  PetscInt    *pivot;   /* [ld] unknown of a column, -1: a residual */
  PetscScalar *R;       /* [ld ld] triangle, column by column */
  PetscReal   *cosine;  /* [ld (CB_LEFT + 1)] of the rotations for each column */
  PetscScalar *sine;    /* [ld (CB_LEFT + 1)] */
  PetscScalar *g;       /* [ld] rotated right-hand side; the norm of the part behind the unknowns is the residual */
  PetscScalar *y;       /* [ld] the unknowns, at their columns */
  PetscReal    rounded; /* norm of the residual's rounding error as a column */
  PetscInt     right;   /* the column with the coefficients of the right-hand side, -1: column 0 */
} CBLeast;              /* owner: least.c */

/* Columns left over by continuations, to which the operator was not applied */
typedef struct {
  PetscInt     nleft;
  PetscInt     left[CB_LEFT];
  PetscInt     first;      /* the first residual's column */
  PetscScalar *modulo;     /* [ld CB_LEFT] parts of the left-over columns in each column, except for the vector given to the operator */
  PetscScalar *self;       /* [ld] behind the first residual: the operator was applied to this multiple of the column */
  PetscScalar *with;       /* [ld CB_LEFT] plus these multiples of the columns */
  PetscInt    *withcolumn; /* [ld CB_LEFT] */
  PetscInt    *nwith;      /* [ld] number of these columns */
  PetscScalar *x;          /* [ld] coefficient of each column in the solution */
} CBLeftover;              /* owner: direction.c */

typedef struct {
  PetscInt     kept;  /* columns of a cycle ended early by rounding, kept for spectra; */
  PetscScalar *keptH; /* [ld ld] its Hessenberg matrix, NULL at first, */
  PetscScalar *keptR; /* [ld ld] and triangle */
} CBSpectrum;         /* owner: spectrum.c */

typedef struct {
  PetscReal start;     /* norm of the cycle's first residual */
  PetscInt  limit;     /* largest number of columns */
  PetscBool complete;  /* one more column is stored */
  PetscInt  best;      /* number of columns with the smallest expected residual */
  PetscReal expected;  /* norm of the true residual, rounding of the basis included */
  PetscReal gap;       /* the rounding part of expected */
  PetscBool ended;     /* the last cycle found no new direction, */
  PetscBool exhausted; /* and the operator is singular in the space of the columns */
  PetscBool scaled;    /* CB_COLUMN is the newest column after the preconditioner */
  PetscBool imagelost; /* CB_IMAGE was overwritten since the last step */
  PetscInt  building;  /* columns added by KSPBuildSolution() to the solution at the cycle's start */
  PetscInt  cycles;    /* of the solve, as are continued, passes and skew: see KSPCBGMRESInfo */
  PetscInt  continued;
  PetscInt  passes;
  PetscReal skew;
} CBCycle; /* owner: cycle.c */

/* The solve, from cycle to cycle */
typedef struct {
  LitheOrthogonalization orthogonalization; /* at the start of the solve */
  PetscReal              initial;           /* norm of the first residual of the solve */
  PetscReal              gain;              /* last residual of the previous cycle divided by its first */
  PetscReal              predicted;         /* norm of the recurrence with all columns; negative before the first cycle */
  KSPConvergedReason     recurrencereason;  /* the last cycle converged by the recurrence only, for this reason: the next cycle must gain more */
  PetscInt               slowcycles;        /* consecutive cycles with little gain, as the recurrence predicted */
  PetscInt               stagnantcycles;    /* consecutive cycles without gain, against the prediction */
  PetscBool roundofflimited; /* the residual is at the rounding level of operator and right-hand side; with stagnated: the storage is not the cause */
  PetscInt  raises;          /* raises, gap and stagnated: see KSPCBGMRESInfo */
  PetscReal gap;
  PetscBool stagnated;
} CBProgress; /* owner: cbgmres.c */

typedef struct {
  PetscBool      flexible;
  CBGMRESOptions opt;
  CBModify       modify;
  CBBases        bases;
  CBLeast        least;
  CBLeftover     leftover;
  CBSpectrum     spectrum;
  CBCycle        cycle;
  CBProgress     progress;
  Vec            built; /* for KSPBuildSolution() without a vector */
} KSP_CBGMRES;

/* Work vectors: the newest column, decoded; the image of the column; and a vector for products with two factors */
#define CB_COLUMN(ksp) ((ksp)->work[0])
#define CB_IMAGE(ksp)  ((ksp)->work[1])
#define CB_WORK(ksp)   ((ksp)->work[2])
#define CB_NWORK       3

/* storage.c */
PETSC_INTERN PetscErrorCode CBGMRESStorageName_Private(const LitheStorage *, char[], size_t);
PETSC_INTERN PetscErrorCode CBGMRESStorageParse_Private(KSP, const char[], int exponentbits, LitheStorage *);
PETSC_INTERN PetscReal      CBGMRESStorageUnit_Private(const LitheStorage *);
PETSC_INTERN PetscBool      CBGMRESStorageRaise_Private(LitheStorage *);
PETSC_INTERN PetscBool      CBGMRESStorageFloat_Private(LitheStorage *);

/* vectors.c */
PETSC_INTERN PetscInt       CBGMRESPairs_Private(KSP);
PETSC_INTERN PetscErrorCode CBGMRESCreateBases_Private(KSP);
PETSC_INTERN PetscErrorCode CBGMRESCreatePreconditioned_Private(KSP, PetscInt);
PETSC_INTERN PetscErrorCode CBGMRESRaiseBases_Private(KSP, PetscBool unlike, const char why[], PetscBool *raised);
PETSC_INTERN PetscErrorCode CBGMRESExchangeBases_Private(KSP);
PETSC_INTERN PetscErrorCode CBGMRESGetJacobi_Private(KSP);
PETSC_INTERN PetscErrorCode KSPReset_CBGMRES(KSP);

/*
   cycle.c: from the residual, in CB_IMAGE, of the given norm, to a better solution; with the previous columns, or a new
   cycle. norm becomes the norm of the recurrence
*/
PETSC_INTERN void           CBGMRESCycleReset_Private(KSP_CBGMRES *);
PETSC_INTERN PetscBool      CBGMRESCanContinue_Private(KSP);
PETSC_INTERN PetscErrorCode CBGMRESCycle_Private(KSP, PetscReal *norm);
PETSC_INTERN PetscErrorCode KSPBuildSolution_CBGMRES(KSP, Vec, Vec *);

/* least.c */
PETSC_INTERN PetscErrorCode CBGMRESLeastResize_Private(KSP_CBGMRES *, size_t);
PETSC_INTERN void           CBGMRESLeastBegin_Private(KSP_CBGMRES *, PetscReal);
PETSC_INTERN PetscReal      CBGMRESLeastResidual_Private(const KSP_CBGMRES *);
PETSC_INTERN PetscReal      CBGMRESLeastColumn_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void           CBGMRESLeastDrop_Private(KSP_CBGMRES *);
PETSC_INTERN void           CBGMRESLeastRightSide_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void           CBGMRESLeastInsert_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void           CBGMRESLeastRotateBack_Private(const KSP_CBGMRES *, PetscInt, PetscScalar[]);
PETSC_INTERN void           CBGMRESLeastSolve_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN PetscReal      CBGMRESLeastGap_Private(KSP_CBGMRES *, PetscInt);

/* correction.c */
PETSC_INTERN PetscErrorCode CBGMRESAddCorrection_Private(KSP, PetscInt, PetscScalar, Vec);

/* direction.c */
PETSC_INTERN PetscErrorCode CBGMRESDirectionResize_Private(KSP_CBGMRES *, size_t);
PETSC_INTERN void           CBGMRESDirectionBegin_Private(KSP_CBGMRES *);
PETSC_INTERN void           CBGMRESDirectionInsert_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void           CBGMRESDirectionNext_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN PetscErrorCode CBGMRESDirectionApply_Private(KSP, PetscInt);
PETSC_INTERN void           CBGMRESDirectionExpand_Private(KSP_CBGMRES *, PetscInt);

/* options.c */
PETSC_INTERN PetscErrorCode CBGMRESOptionsDefault_Private(KSP);
PETSC_INTERN PetscErrorCode KSPSetFromOptions_CBGMRES(KSP, PetscOptionItems);
PETSC_INTERN PetscErrorCode CBGMRESComposeOptions_Private(KSP, PetscBool);

/* loss.c */
PETSC_INTERN PetscErrorCode CBGMRESRemoveNullSpace_Private(KSP, Vec);
PETSC_INTERN PetscErrorCode CBGMRESRaisePreconditioned_Private(KSP, PetscInt, PetscBool *);
PETSC_INTERN PetscErrorCode CBGMRESStorePreconditioned_Private(KSP, PetscInt);
PETSC_INTERN PetscErrorCode CBGMRESMeasureUnits_Private(KSP);

/* spectrum.c */
PETSC_INTERN PetscErrorCode CBGMRESSpectrumReset_Private(KSP_CBGMRES *);
PETSC_INTERN PetscErrorCode CBGMRESSpectrumKeep_Private(KSP);
PETSC_INTERN PetscErrorCode KSPComputeExtremeSingularValues_CBGMRES(KSP, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode KSPComputeEigenvalues_CBGMRES(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode KSPComputeRitz_CBGMRES(KSP, PetscBool, PetscBool, PetscInt *, Vec[], PetscReal *, PetscReal *);

/* view.c */
PETSC_INTERN PetscErrorCode KSPView_CBGMRES(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPCBGMRESGetInfo_CBGMRES(KSP, KSPCBGMRESInfo *);
