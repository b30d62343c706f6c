/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Shared by the files of a compression on the host; vcrs/build.h has what a compression on a device uses as well */

#include <lithe/private/vcrs/build.h>

typedef struct {
  double        cost; /* bytes of a product, -1: nothing chosen yet */
  MatVCRSLayout layout;
  VCRSValues    values;
} VCRSChoice;

/* sets.c: distinct keys among rows */
typedef enum {
  VCRS_KEY_OFFSETS, /* columns minus row */
  VCRS_KEY_COLUMNS, /* columns minus first column */
  VCRS_KEY_VALUES,  /* stored values, bit for bit */
  VCRS_KEY_PAIR     /* index set and stored values */
} VCRSKey;
PETSC_INTERN PetscErrorCode VCRSClassify(const VCRSBuild *, VCRSKey, PetscInt, const PetscInt[], PetscInt, VCRSSets *, PetscInt[], PetscBool *);
PETSC_INTERN PetscErrorCode VCRSSetsDestroy(VCRSSets *);

/* slices.c: slices of L3 */
PETSC_INTERN PetscErrorCode VCRSFindSlices(const VCRSBuild *, size_t, VCRSPlan *);

/* containers.c */
PETSC_INTERN PetscErrorCode VCRSFindDictionary(VCRSBuild *, PetscInt);
PETSC_INTERN PetscErrorCode VCRSCountDictionary(const VCRSBuild *, PetscInt **);
PETSC_INTERN PetscErrorCode VCRSFindFixedPoint(VCRSBuild *);
PETSC_INTERN PetscErrorCode VCRSFindSingle(VCRSBuild *);

/* cost.c */
PETSC_INTERN PetscErrorCode VCRSChoosePairs(const VCRSFacts *, VCRSChoice *, PetscBool *);
PETSC_INTERN PetscErrorCode VCRSChooseSets(const VCRSFacts *, VCRSChoice *);
PETSC_INTERN PetscErrorCode VCRSSlicesMayWin(const VCRSFacts *, const VCRSChoice *, PetscBool *);
PETSC_INTERN PetscErrorCode VCRSChooseSlices(const VCRSFacts *, const VCRSPlan *, VCRSChoice *);

/* groups.c */
PETSC_INTERN PetscErrorCode VCRSFindGroups(VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeGroups(const VCRSBuild *, VCRSPlan *);

/* plainrows.c */
PETSC_INTERN PetscErrorCode VCRSBuildRows(const VCRSBuild *, VCRSPlan *);

/* encode.c */
PETSC_INTERN PetscErrorCode VCRSEncodeLiteral(const VCRSBuild *, const VCRSSets *, const PetscInt[], const VCRSSets *, const PetscInt[], VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSets(VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSlices(VCRSBuild *, VCRSPlan *);
PETSC_INTERN PetscErrorCode VCRSEncodeSigma(VCRSBuild *, VCRSPlan *);
