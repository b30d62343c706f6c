/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The functions of aggregation/ */

#include <lithe/private/gridmg/parts.h>

/* Numbers from the real parts of a vector of a KSP in single precision to its imaginary parts */
static inline size_t PCGridMGFineStride(const PC_GridMG *mg)
{
  const GridMGGrid *g = &mg->aggregation.fine.op.grid;

  return ((size_t)(g->cells + g->wells + g->ghosts) + 63) / 64 * 64 + 64;
}

/* readdevice.c */
PETSC_INTERN PetscErrorCode PCGridMGScan_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGReadDevice_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGFinishDevice_Private(PC, GridMGLevel *);
/* read.c */
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
PETSC_INTERN PetscErrorCode PCGridMGCycleOf_Private(PC_GridMG *, const void *b, const void **x);
/* single.c */
PETSC_INTERN PetscErrorCode PCGridMGGetSingle_Private(PC, LitheSingle *);
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
