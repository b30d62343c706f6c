/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* KSPCBGMRES and KSPCBFGMRES: what their files share. docs/guide/cbgmres.md has the method */

#include <lithe/private/cbbasis.h>
#include <litheksp.h>
#include <petsc/private/kspimpl.h>

#define CB_LEFT           8    /* a cycle may continue so often */
#define CB_PAIRS          2    /* columns that are stored in two parts, where the tolerance is small */
#define CB_ROUNDOFF_LIMIT 10.0 /* so much above the tolerance a residual may be that counts as reached by rounding of the operator */
#define CB_REFINE         0.1  /* with so much of the residual from rounding a cycle's space is used once more before it is given up */

/* What is asked for by options */
typedef struct {
  PetscInt     restart;
  LitheStorage storage;
  PetscBool    adaptive;
  PetscInt     every;         /* the host looks at the iteration every so often */
  PetscInt     exponentbits;  /* of FRSZ2: 8 or 16 */
  PetscReal    haptol;        /* an entry of the Hessenberg matrix below it ends the iteration */
  PetscReal    breakdowntol;  /* this much of a cycle's first residual may recurrence and residual differ */
  PetscBool    krylovmonitor; /* -ksp_gmres_krylov_monitor has been dealt with */
} CBGMRESOptions;

typedef struct {
  CBGMRESOptions opt;
  PetscBool      flexible;

  /* Bases. What they are stored in, which a solve may have raised; until the next one is made, of what opt says */
  CBBasis      V;
  CBBasis      Z;     /* flexible: the preconditioned columns */
  CBBasis      Vritz; /* for Ritz vectors: a basis of an earlier cycle, with its Hessenberg matrix */
  LitheStorage storage;
  PetscBool    unlike;   /* residuals have entries of unlike sizes side by side: each number is stored with its own exponent */
  PetscBool    measured; /* a residual has been looked at for that */
  PetscInt     finer;    /* so many times is Z's storage raised above that of V */

  /*
     The least squares problem, on the host; ld is that of V. Columns 0 ... columns-1 are in; those that are residuals,
     of a cycle that continued, are no unknowns
  */
  PetscInt     columns;
  PetscInt     unknowns;
  PetscInt    *pivot;   /* [ld] which unknown a column is, -1: a residual */
  PetscScalar *R;       /* [ld ld] triangle, column by column */
  PetscReal   *cosine;  /* [ld (CB_LEFT + 1)] of the rotations for each column */
  PetscScalar *sine;    /* [ld (CB_LEFT + 1)] */
  PetscScalar *g;       /* [ld] rotated right side; the norm of what is behind the unknowns is the residual */
  PetscScalar *y;       /* [ld] the unknowns, at their columns */
  PetscReal    rounded; /* norm of what was rounded of the residual to have a column of its own */
  PetscInt     right;   /* the column whose coefficients tell the right side, -1: column 0 stands for it */

  /* Where a cycle continued, columns are left over, which the operator was not applied to: direction.c */
  PetscInt     nleft;
  PetscInt     left[CB_LEFT];
  PetscInt     first;       /* the first residual's column */
  PetscScalar *modulo;      /* [ld CB_LEFT] what each column has of those left over, but for what the operator was applied to */
  PetscScalar *self;        /* [ld] behind the first residual: the operator was applied to so much of this column */
  PetscScalar *with;        /* [ld CB_LEFT] together with so much of these, */
  PetscInt    *withcolumn;  /* [ld CB_LEFT] */
  PetscInt    *nwith;       /* [ld] how many they are */
  PetscScalar *x;           /* [ld] what the solution has of each column */
  PetscInt     ritzcolumns; /* of Vritz */
  PetscInt     kept;        /* columns of a cycle that was cut short by rounding, kept for spectra, */
  PetscScalar *keptH;       /* [ld ld] its Hessenberg matrix, which is NULL before the first one, */
  PetscScalar *keptR;       /* [ld ld] and triangle */
  PetscInt     building;    /* columns that KSPBuildSolution() adds to the solution of the cycle's start */
  Vec          built;       /* for KSPBuildSolution() without a vector */

  Vec jacobi; /* the inverse diagonal of a PCJACOBI from the right, by which columns are multiplied on their way to CB_COLUMN; NULL: there is none */

  /* The cycle */
  PetscReal          initial;          /* norm of the residual that the solve began with */
  PetscReal          gain;             /* the last cycle took the residual to so much of it */
  PetscReal          start;            /* norm of the residual that it began with */
  PetscInt           limit;            /* it has so many columns at most */
  PetscBool          complete;         /* and one behind them */
  PetscInt           best;             /* so many columns make the residual smallest, as far as is known */
  PetscReal          expected;         /* its norm with them, rounding of the basis included */
  PetscReal          gap;              /* and what of it is rounding */
  PetscReal          predicted;        /* and of the recurrence with all of them; negative before the first cycle */
  PetscBool          ended;            /* the last cycle found no new direction, */
  PetscBool          exhausted;        /* and the operator singular in the space it had */
  KSPConvergedReason recurrencereason; /* the last cycle converged by the recurrence only, for this reason: the next cycle has to gain more */
  PetscInt           slowcycles;       /* cycles in a row that gained little, as the recurrence predicted */
  PetscInt           stagnantcycles;   /* cycles in a row that gained nothing, against the prediction */
  PetscBool          scaled;           /* CB_COLUMN is what the preconditioner makes of the newest column */
  PetscBool          imagelost;        /* CB_IMAGE has been used for something else since the last step */

  PetscBool      roundofflimited; /* the residual is at the rounding level of operator and right side; with info.stagnated: the storage is not the cause */
  KSPCBGMRESInfo info;
  char           name[16]; /* of the storage, for KSPCBGMRESGetStorage() */

  /* KSPFlexibleSetModifyPC() */
  KSPFlexibleModifyPCFn *modifypc;
  PetscCtxDestroyFn     *modifydestroy;
  void                  *modifyctx;
} KSP_CBGMRES;

/* Work vectors: the newest column, decoded; what the operator makes of it; and one for products with two factors */
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
PETSC_INTERN PetscErrorCode CBGMRESDestroyBases_Private(KSP);
PETSC_INTERN PetscErrorCode KSPReset_CBGMRES(KSP);

/* cycle.c: from the residual, in CB_IMAGE, of norm start, to a better solution; with the columns of the last time, or from the first one */
PETSC_INTERN PetscBool      CBGMRESCanContinue_Private(KSP);
PETSC_INTERN PetscErrorCode CBGMRESCycle_Private(KSP);

/* least.c */
PETSC_INTERN void      CBGMRESLeastBegin_Private(KSP_CBGMRES *, PetscReal);
PETSC_INTERN PetscReal CBGMRESLeastResidual_Private(const KSP_CBGMRES *);
PETSC_INTERN PetscReal CBGMRESLeastColumn_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void      CBGMRESLeastRightSide_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void      CBGMRESLeastInsert_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void      CBGMRESLeastRotateBack_Private(const KSP_CBGMRES *, PetscInt, PetscScalar[]);
PETSC_INTERN void      CBGMRESLeastSolve_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN PetscReal CBGMRESLeastGap_Private(KSP_CBGMRES *, PetscInt);

/* correction.c */
PETSC_INTERN PetscErrorCode CBGMRESAddCorrection_Private(KSP, PetscInt, PetscScalar, Vec);

/* direction.c */
PETSC_INTERN void           CBGMRESDirectionInsert_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN void           CBGMRESDirectionNext_Private(KSP_CBGMRES *, PetscInt);
PETSC_INTERN PetscErrorCode CBGMRESDirectionApply_Private(KSP, PetscInt);
PETSC_INTERN void           CBGMRESDirectionExpand_Private(KSP_CBGMRES *, PetscInt);

/* options.c */
PETSC_INTERN PetscErrorCode CBGMRESOptionsDefault_Private(CBGMRESOptions *);
PETSC_INTERN PetscErrorCode KSPSetFromOptions_CBGMRES(KSP, PetscOptionItems);
PETSC_INTERN PetscErrorCode CBGMRESComposeOptions_Private(KSP, PetscBool);

/* loss.c */
PETSC_INTERN PetscErrorCode CBGMRESRemoveNullSpace_Private(KSP, Vec);
PETSC_INTERN PetscErrorCode CBGMRESRaisePreconditioned_Private(KSP, PetscInt, PetscBool *);
PETSC_INTERN PetscErrorCode CBGMRESStorePreconditioned_Private(KSP, PetscInt);
PETSC_INTERN PetscErrorCode CBGMRESMeasureUnits_Private(KSP);

/* spectrum.c */
PETSC_INTERN PetscErrorCode KSPComputeExtremeSingularValues_CBGMRES(KSP, PetscReal *, PetscReal *);
PETSC_INTERN PetscErrorCode KSPComputeEigenvalues_CBGMRES(KSP, PetscInt, PetscReal *, PetscReal *, PetscInt *);
PETSC_INTERN PetscErrorCode KSPComputeRitz_CBGMRES(KSP, PetscBool, PetscBool, PetscInt *, Vec[], PetscReal *, PetscReal *);

/* view.c */
PETSC_INTERN PetscErrorCode KSPView_CBGMRES(KSP, PetscViewer);
PETSC_INTERN PetscErrorCode KSPCBGMRESGetInfo_CBGMRES(KSP, KSPCBGMRESInfo *);
