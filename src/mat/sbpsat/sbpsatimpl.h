/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/sbp/tables.h>
#include <lithe/private/lithememtype.h>
#include <lithe/private/sbp/sbpsat.h>
#include <lithemat.h>
#include <petscdmda.h>
#include <petsc/private/matimpl.h>

/* The precision of PetscReal, for arrays that are real for any PetscScalar */
#define SBP_REAL_PRECISION (sizeof(PetscReal) == sizeof(float) ? SBP_SINGLE : SBP_DOUBLE)

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

/* Settings of a program. A matrix on a coarser grid copies the settings from here: coarsen.c */
typedef struct {
  PetscInt         order;
  PetscBool        dirichlet[SBP_FACES];
  MatSBPSATMetrics metrics;
  Vec              mu;        /* or NULL: 1 */
  Vec              tensor[3]; /* c_rr, c_ss, c_rs, or NULL: from the coordinates and mu */
  Vec              jacobian;  /* with tensor; or NULL */
  LitheTransport   transport; /* of ghosts on a device */
} SBPSettings;                /* owner: options.c, coarsen.c */

/* The matrix is L (scale A + diag(diagonal)) R, where A is the operator of the settings: change.c */
typedef struct {
  PetscScalar scale;
  Vec         diagonal;    /* or NULL: 0 */
  Vec         left, right; /* or NULL: 1 */
  PetscBool   real;        /* scale and diagonal are */
} SBPChange;               /* owner: change.c, context.c */

/* The change in an operator, [precision][device] */
typedef struct {
  SBPOperator op[3][2];       /* with scale and diagonal */
  void       *diagonal[3][2]; /* the array of the diagonal, which exists if not NULL, */
  PetscBool   current[3][2];  /* and has the values of the change */
} SBPChanged;                 /* owner: change.c, context.c */

/* The matrices of a DM, of which coarser grids receive settings */
typedef struct {
  DM        published; /* coarser grids of this DM receive the settings */
  Mat       next;      /* the next matrix of this DM */
  PetscBool duplicate; /* of another matrix, which comes earlier in the list */
} SBPFamily;           /* owner: coarsen.c */

/* The data that belong to the settings */
typedef struct {
  PetscBool   done;
  PetscInt64  values;      /* matrices with the same number have the same values of coefficients */
  SBPParts    parts;       /* of the program's DMDA */
  SBPHalo     halo;        /* ghosts as far as a row reaches; NULL on one process */
  PetscBool   uniform;     /* coordinates are missing, or not needed: [-1, 1]^2 */
  PetscBool   stored[2];   /* coefficients are stored on the host, on the device */
  SBPGeometry geometry;    /* on the host; kept for MATSBPSAT_METRICS_FLY, else made on demand */
  void       *jacobian[2]; /* owned, of PetscReal, on the host and on the device; NULL until a right-hand side needs it */

  /* [precision][device]; a shared array belongs to the first operator */
  SBPOperator op[3][2];
  PetscBool   made[3][2];
  void       *ghosts[2]; /* ghosted, of PetscScalar; on the host, on the device */
} SBPBuilt;              /* owner: build.c, coefficients.c */

/* Numbers of a face on the host, made on demand, or NULL */
typedef struct {
  PetscReal *normal, *mixed; /* c_rr or c_ss, and c_rs, in the range of ghosted */
  PetscReal *stretching;     /* S_J at the owned nodes */
} SBPFace;                   /* owner: faces.c, context.c */

/* Arrays for rows, made on demand */
typedef struct {
  PetscInt    *columns; /* of MatGetRow() */
  PetscScalar *entries;
  PetscScalar *rights; /* change.right with ghosts */
} SBPRows;             /* owner: convert.c, context.c */

/* The block of MatGetDiagonalBlock(), and the state of the matrix that it has */
typedef struct {
  Mat              mat;
  PetscObjectState state;
} SBPBlock; /* owner: stored.c */

typedef struct {
  SBPSettings settings;
  SBPFamily   family;
  PetscErrorCode (*view)(Mat, PetscViewer); /* the operation of the class, which a parallel DMDA overwrites */
  SBPBuilt   built;
  SBPChange  change;
  SBPChanged changed;
  Vec        work[2];
  SBPRows    rows;
  SBPFace    face[SBP_FACES];
  SBPBlock   block;
} Mat_SBPSAT;

/* context.c */
PETSC_INTERN PetscErrorCode MatSBPSATGetContext_Private(Mat, Mat_SBPSAT **);
PETSC_INTERN PetscErrorCode MatSBPSATHasChange_Private(Mat, PetscBool *);
PETSC_INTERN PetscErrorCode MatSBPSATSetFlags_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATClearChange_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATGetWork_Private(Mat, Vec *, Vec *);
PETSC_INTERN PetscErrorCode MatSBPSATDestroyWork_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATForgetChange_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATForgetRights_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATForgetRows_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATForgetFaces_Private(Mat);

/* options.c */
PETSC_INTERN PetscErrorCode SBPSettingsDefault_Private(SBPSettings *);
PETSC_INTERN PetscErrorCode SBPSettingsSetVec_Private(Vec, Vec *);
PETSC_INTERN PetscErrorCode SBPSettingsCopy_Private(const SBPSettings *, SBPSettings *);
PETSC_INTERN PetscErrorCode SBPSettingsClear_Private(SBPSettings *);
PETSC_INTERN PetscErrorCode MatSBPSATCheckVec_Private(Mat, Vec, const char[]);
PETSC_INTERN PetscErrorCode MatSetFromOptions_SBPSAT(Mat, PetscOptionItems);

/* coarsen.c */
PETSC_INTERN PetscErrorCode MatSBPSATPublish_Private(Mat, DM);
PETSC_INTERN void           MatSBPSATMarkDuplicate_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATWithdraw_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATAdopt_Private(Mat, DM);

/* build.c */
PETSC_INTERN PetscErrorCode MatSBPSATBuild_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATForget_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATGetGhosts_Private(Mat, PetscBool, void **);
PETSC_INTERN PetscErrorCode MatSBPSATCopyBuilt_Private(Mat, Mat);
PETSC_INTERN PetscErrorCode MatSBPSATGetProduct_Private(Mat, PetscBool, const SBPOperator **);
PETSC_INTERN PetscErrorCode MatSBPSATGetJacobian_Private(Mat, const char[], PetscBool, const PetscReal **);
PETSC_INTERN PetscErrorCode MatSBPSATGetBytes_Private(Mat, PetscLogDouble *, PetscLogDouble *);

/* coefficients.c */
PETSC_INTERN PetscErrorCode MatSBPSATStore_Private(Mat, PetscBool);
PETSC_INTERN PetscErrorCode MatSBPSATCheck_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATMakePenalties_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATGetLines_Private(Mat, int, const SBPBox *, PetscReal *);

/* grid.c */
PETSC_INTERN PetscErrorCode SBPGridCreate_Private(DM, int, PetscInt, SBPParts *, SBPGrid *);
PETSC_INTERN PetscErrorCode SBPGridGhosts_Private(SBPHalo, const SBPGrid *, SBPPrecision, PetscBool, const void *, void *);
PETSC_INTERN PetscErrorCode SBPGridScatter_Private(SBPHalo, const SBPGrid *, Vec, PetscBool, PetscInt, PetscReal *);
PETSC_INTERN PetscErrorCode SBPGeometryCreate_Private(Mat, PetscBool, PetscBool, SBPGeometry *);
PETSC_INTERN PetscErrorCode SBPGeometryCopy_Private(const SBPGeometry *, SBPGeometry *);
PETSC_INTERN PetscErrorCode SBPGeometryDestroy_Private(PetscBool, SBPGeometry *);

/* place.c */
PETSC_INTERN const SBPKernels *SBPKernelsOf(PetscBool);
PETSC_INTERN PetscErrorCode    SBPVecGetRead_Private(Vec, PetscBool, const PetscScalar **, void **);
PETSC_INTERN PetscErrorCode    SBPVecRestoreRead_Private(Vec, PetscBool, const PetscScalar **, void **);
PETSC_INTERN PetscErrorCode    SBPVecGetArray_Private(Vec, PetscBool, PetscScalar **);
PETSC_INTERN PetscErrorCode    SBPVecRestoreArray_Private(Vec, PetscBool, PetscScalar **);
PETSC_INTERN PetscErrorCode    SBPGetNumbers_Private(PetscBool, const PetscInt[2], const SBPSpaced *, PetscReal *);
PETSC_INTERN PetscErrorCode    SBPPutNumbers_Private(PetscBool, const PetscInt[2], PetscBool, const PetscReal *, const SBPSpaced *);
PETSC_INTERN PetscErrorCode    SBPCopyReals_Private(PetscBool, size_t, const void *, void **);
PETSC_INTERN PetscErrorCode    SBPMoveReals_Private(PetscBool, size_t, const void *, void **);

/* faces.c */
PETSC_INTERN PetscErrorCode MatSBPSATCheckFace_Private(Mat, MatSBPSATFace);
PETSC_INTERN SBPBox         SBPFaceBox(const SBPGrid *, int, PetscInt, PetscBool);
PETSC_INTERN PetscErrorCode MatSBPSATGetFace_Private(Mat, int, const PetscReal **, const PetscReal **);
PETSC_INTERN PetscErrorCode MatSBPSATGetGhostedLines_Private(Mat, int, PetscInt, Vec, PetscBool, PetscScalar *);
PETSC_INTERN PetscErrorCode SBPGetLines_Private(const SBPGrid *, const SBPBox *, Vec, PetscBool, PetscScalar *);
PETSC_INTERN PetscErrorCode SBPPutLines_Private(const SBPGrid *, const SBPBox *, PetscBool, const PetscScalar *, PetscBool, Vec);
PETSC_INTERN PetscErrorCode MatSBPSATGetStretching_Private(Mat, int, PetscBool, const PetscReal **);

/* change.c */
PETSC_INTERN PetscErrorCode MatSBPSATSetChanges_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATAddChange_Private(Mat, SBPPrecision, PetscBool, const SBPOperator *, const SBPOperator **);
PETSC_INTERN PetscErrorCode MatSBPSATCopyChange_Private(Mat, Mat);

/* stored.c */
PETSC_INTERN PetscErrorCode MatSBPSATDestroyBlock_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATSetStored_Private(Mat, PetscBool);

/* apply.c, convert.c, factor.c, view.c */
PETSC_INTERN PetscErrorCode MatSBPSATSetProducts_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATRowBegin_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATRowRoom_Private(Mat, PetscInt *[], PetscScalar *[]);
PETSC_INTERN PetscInt       MatSBPSATRowSize_Private(Mat);
PETSC_INTERN PetscErrorCode MatSBPSATRow_Private(Mat, PetscInt, PetscInt, PetscInt *, PetscInt[], PetscScalar[]);
PETSC_INTERN PetscErrorCode MatConvert_SBPSAT_AIJ(Mat, MatType, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatSBPSATCreateAIJ_Private(Mat, Mat *);
PETSC_INTERN PetscErrorCode MatGetFactor_SBPSAT_petsc(Mat, MatFactorType, Mat *);
PETSC_INTERN PetscErrorCode MatCreateSubMatrices_SBPSAT(Mat, PetscInt, const IS[], const IS[], MatReuse, Mat *[]);
PETSC_INTERN PetscErrorCode MatCreateSubMatrix_SBPSAT(Mat, IS, IS, MatReuse, Mat *);
PETSC_INTERN PetscErrorCode MatView_SBPSAT(Mat, PetscViewer);
PETSC_INTERN PetscErrorCode MatGetInfo_SBPSAT(Mat, MatInfoType, MatInfo *);
