/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The functions of stencil/ */

#include <lithe/private/gridmg/parts.h>

/* exact.c */
PETSC_INTERN PetscErrorCode PCGridMGStencilsCreate_Private(PC_GridMG *, GridMGBlock *, const GridMGPoints *, PetscBool symmetric, GridMGStencils *);
PETSC_INTERN PetscErrorCode PCGridMGStencilExactCreate_Private(PC_GridMG *, GridMGStencilLevel *, PetscBool whole, const GridMGPoints *, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGStencilExactNext_Private(PC_GridMG *, GridMGStencilLevel *, GridMGStencils *product);
PETSC_INTERN void           PCGridMGStencilExactRead_Private(GridMGStencilLevel *, double factor, PetscBool symmetric);
PETSC_INTERN PetscErrorCode PCGridMGStencilExactFree_Private(GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGGetStencils_Private(PC_GridMG *, const GridMGStencils *, GridMGBlock *, GridMGStencils *host);
/* entries.c */
PETSC_INTERN PetscErrorCode PCGridMGReadStencils_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGScaleStencils_Private(PC);
/* read.c */
PETSC_INTERN PetscErrorCode PCGridMGReadHost_Private(PC, GridMGStencilLevel *, const GridMGPoints *, double *, double *most);
/* device.c */
PETSC_INTERN PetscErrorCode PCGridMGChooseStencilKernels_Private(PC);
PETSC_INTERN PetscErrorCode PCGridMGMoveStencils_Private(PC);
/* level.c */
PETSC_INTERN PetscErrorCode PCGridMGCoarsenStencils_Private(PC, PetscInt *levels);
PETSC_INTERN void           PCGridMGStencilsBegin_Private(PC_GridMG *);
PETSC_INTERN void           PCGridMGStencilsReset_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGEncodeStencils_Private(PC);
PETSC_INTERN void           PCGridMGTakeStencils_Private(PC_GridMG *, GridMGPool *);
/* share.c */
PETSC_INTERN PetscErrorCode PCGridMGStencilShareFirst_Private(PC_GridMG *, GridMGPoints *);
PETSC_INTERN PetscErrorCode PCGridMGStencilShareCoarsen_Private(PC_GridMG *, const GridMGStencilShare *, GridMGStencilShare *);
PETSC_INTERN PetscErrorCode PCGridMGStencilShareFree_Private(PC_GridMG *);
PETSC_INTERN PetscInt       PCGridMGStencilGrid_Private(const GridMGStencilLevel *, const GridMGPoints *, PetscInt n[3]);
PETSC_INTERN PetscErrorCode PCGridMGExchangeEntries_Private(PC_GridMG *, GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGStencilExchange_Private(const GridMGStencilShare *, size_t bytes, void *x);
/* gather.c */
PETSC_INTERN PetscErrorCode PCGridMGGatherStencils_Private(PC_GridMG *, GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGShareProduct_Private(PC_GridMG *, GridMGStencilLevel *, void *work);
PETSC_INTERN PetscErrorCode PCGridMGExchangeCodes_Private(PC_GridMG *, GridMGStencilLevel *, PetscInt *bad);
PETSC_INTERN void           PCGridMGTakeShare_Private(PC_GridMG *, GridMGPool *, GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGExchangeValues_Private(PC_GridMG *, GridMGStencilLevel *, void *x);
PETSC_INTERN PetscErrorCode PCGridMGShareDown_Private(PC_GridMG *, GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGShareUp_Private(PC_GridMG *, GridMGStencilLevel *);
PETSC_INTERN PetscErrorCode PCGridMGShareEnter_Private(PC_GridMG *, const PetscScalar *x);
PETSC_INTERN PetscErrorCode PCGridMGShareLeave_Private(PC_GridMG *, PetscScalar *y);
/* coarse.c */
PETSC_INTERN PetscErrorCode PCGridMGCoarseStencils_Private(PC);
/* columns.c */
PETSC_INTERN PetscErrorCode PCMatApply_GridMG(PC, Mat, Mat);
PETSC_INTERN PetscErrorCode PCGridMGColumnsForget_Private(PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGColumnsFree_Private(PC_GridMG *);
/* cycle.c */
PETSC_INTERN void           PCGridMGSweepStart_Private(GridMGSweep *, const GridMGStencilKernels *);
PETSC_INTERN void           PCGridMGSweepVectors_Private(GridMGSweep *, PetscInt level, void *b, void *x0, void *x1);
PETSC_INTERN void           PCGridMGSweepEnded_Private(GridMGSweep *, int cur);
PETSC_INTERN double         PCGridMGStencilDamping_Private(const PC_GridMG *);
PETSC_INTERN PetscErrorCode PCGridMGStencilCycle_Private(PC_GridMG *, GridMGSweep *, PetscInt level, PetscBool zero, PetscInt without);
PETSC_INTERN PetscErrorCode PCGridMGStencilSolve_Private(PC_GridMG *, GridMGSweep *, PetscInt level);
/* inspect.c */
PETSC_INTERN PetscErrorCode PCGridMGViewStencils_Private(const PC_GridMG *, PetscInt level, PetscViewer);
PETSC_INTERN GridMGFlops    PCGridMGStencilFlops_Private(const PC_GridMG *, PetscInt level);
PETSC_INTERN PetscErrorCode PCGridMGGetStencilOperator_Private(PC_GridMG *, PetscInt level, Mat *);
PETSC_INTERN PetscErrorCode PCGridMGGetStencilInterpolation_Private(PC_GridMG *, PetscInt level, Mat *);
