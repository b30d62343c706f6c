/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The functions of aggregation/ */

#include "../gridmgimpl.h"

/* exact.c */
PETSC_INTERN size_t         PCGridMGFacesNumbers_Private(const GridMGGrid *, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGFacesCreate_Private(PC_GridMG *, const GridMGGrid *, PetscBool symmetric, GridMGFaces *);
PETSC_INTERN PetscErrorCode PCGridMGExactCreate_Private(PC_GridMG *, GridMGLevel *, const GridMGGrid *, PetscBool symmetric, const GridMGOwn *);
PETSC_INTERN PetscErrorCode PCGridMGExactSetSymmetry_Private(PC_GridMG *, GridMGLevel *, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGExactSetList_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactAlive_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactWork_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExactFree_Private(GridMGLevel *);
PETSC_INTERN void           PCGridMGExactSurveyed_Private(GridMGLevel *, const GridMGSurvey *);
PETSC_INTERN void           PCGridMGExactUseAlive_Private(GridMGLevel *, PetscBool next);
PETSC_INTERN PetscErrorCode PCGridMGSurvey_Private(PC_GridMG *, GridMGLevel *);
/* edges.c */
PETSC_INTERN void           PCGridMGEdgesClear_Private(GridMGEdges *);
PETSC_INTERN void           PCGridMGEdgesScale_Private(GridMGEdges *, double factor);
PETSC_INTERN PetscErrorCode PCGridMGEdgesAppend_Private(GridMGEdges *, PetscInt n, GridMGEdge **more);
PETSC_INTERN PetscErrorCode PCGridMGEdgesFree_Private(PC_GridMG *);
PETSC_INTERN int            PCGridMGFaceOf_Private(const GridMGGrid *, const PetscInt at[3], PetscInt difference);
PETSC_INTERN PetscErrorCode PCGridMGEdgesReserve_Private(GridMGEdges *, PetscInt max);
PETSC_INTERN PetscErrorCode PCGridMGEdgeAdd_Private(GridMGEdges *, PetscInt i, PetscInt j, double t);
PETSC_INTERN PetscErrorCode PCGridMGEdgesToList_Private(const GridMGGrid *, GridMGEdges *, GridMGBlock[2], GridMGList *);
PETSC_INTERN PetscInt       PCGridMGListFind_Private(const GridMGGrid *, const GridMGList *, PetscInt vertex);
PETSC_INTERN PetscErrorCode PCGridMGEdgesToFaces_Private(PC_GridMG *, const GridMGFaces *);
PETSC_INTERN PetscErrorCode PCGridMGCoarsenEdges_Private(PC_GridMG *, const GridMGFaces *, const int by[3], const GridMGShare *, const GridMGFaces *coarse);
/* read.c */
PETSC_INTERN PetscErrorCode PCGridMGScan_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGReadEntries_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGFinishEntries_Private(PC);
/* level.c */
PETSC_INTERN PetscErrorCode PCGridMGCoarsen_Private(PC, PetscInt *levels);
PETSC_INTERN PetscErrorCode PCGridMGEncode_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGMoveLevels_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGLevelsForget_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGLevelsStart_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGLevelsBegin_Private(PC_GridMG *);
/* coarse.c */
PETSC_INTERN PetscErrorCode PCGridMGCoarseSetUp_Private(PC);
/* smooth.c */
PETSC_INTERN PetscErrorCode PCGridMGRefresh_Private(PC_GridMG *, GridMGLevel *);
PETSC_INTERN PetscErrorCode PCGridMGSmooth_Private(PC_GridMG *, GridMGLevel *, PetscBool post, PetscBool zero);
/* cycle.c */
PETSC_INTERN PetscBool      PCGridMGIsFused_Private(const PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGCycle_Private(PC_GridMG *, PetscInt level, PetscBool zero, const GridMGOuter *);
/* small.c */
PETSC_INTERN PetscErrorCode PCGridMGSmallFree_Private(PC_GridMG *, PetscBool all);
PETSC_INTERN PetscErrorCode PCGridMGSmallSetUp_Private(PC_GridMG *);
/* scale.c */
PETSC_INTERN PetscErrorCode PCGridMGScaleEntries_Private(PC);
/* inspect.c */
PETSC_INTERN PetscErrorCode PCGridMGViewLevel_Private(const PC_GridMG *, PetscInt level, PetscViewer);
PETSC_INTERN GridMGFlops    PCGridMGLevelFlops_Private(const PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGGetLevel_Private(PC_GridMG *, PetscInt level, Mat *);
PETSC_INTERN PetscErrorCode PCGridMGGetAggregates_Private(PC_GridMG *, PetscInt level, Mat *);
PETSC_INTERN PetscErrorCode PCGridMGGetLevelArray_Private(PC_GridMG *, PetscInt level, const char name[], size_t *bytes, void **array);
