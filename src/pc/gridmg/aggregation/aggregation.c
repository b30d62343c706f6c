/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The method of aggregation: its table of functions, its options, the end of the set-up, and an application */

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"
#include "../base/base.h"
#include "../boxes/boxes.h"

/* ------------------------------------------------------------ set-up */

/* Checks options that only the other method has */
static PetscErrorCode Check_Private(PC pc)
{
  PC_GridMG             *mg             = (PC_GridMG *)pc->data;
  const PCGridMGOptions *opt            = &mg->opt;
  MPI_Comm               comm           = PetscObjectComm((PetscObject)pc);
  double                 overcorrection = opt->cycle == PCGRIDMG_CYCLE_W ? 1.5 : 1.;

  PetscFunctionBegin;
  PetscCheck(opt->smoother == PCGRIDMG_SMOOTHER_AUTO || opt->smoother == PCGRIDMG_SMOOTHER_REDBLACK, comm, PETSC_ERR_SUP,
             "-pc_gridmg_smoother %s is for -pc_gridmg_interpolation zeeuw. With aggregation, also if auto chose it, use redblack",
             opt->smoother == PCGRIDMG_SMOOTHER_JACOBI ? "jacobi" : "damped");
  if (opt->overcorrection != (PetscReal)PETSC_DECIDE) overcorrection = (double)opt->overcorrection;
  PCGridMGFoundStart_Private(mg, PCGRIDMG_SMOOTHER_REDBLACK, overcorrection);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read_Private(PC pc)
{
  PetscFunctionBegin;
  PCGridMGLevelsBegin_Private((PC_GridMG *)pc->data);
  PetscCall(PCGridMGReadEntries_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coarsen_Private(PC pc, PetscInt *levels)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(mg->found.symmetric || mg->opt.cycle != PCGRIDMG_CYCLE_K, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_gridmg_cycle k takes steps of conjugate gradients, and the matrix is not symmetric. Use -pc_gridmg_cycle w");
  PetscCall(PCGridMGCoarsen_Private(pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coarsest_Private(PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGCoarseSetUp_Private(pc));
  PetscCall(PCGridMGAgree_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels come to the device, if they were made on the host, and small levels become one kernel */
static PetscErrorCode Finish_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  if (!mg->place.device) PetscFunctionReturn(PETSC_SUCCESS);
  if (mg->place.kernels == &GridMGHostKernels) PetscCall(PCGridMGMoveLevels_Private(mg));
  PetscCall(PCGridMGSmallSetUp_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free_Private(PC_GridMG *mg, GridMGFree what)
{
  PetscFunctionBegin;
  switch (what) {
  case GRIDMG_FREE_SCRATCH:
    for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) PetscCall(PCGridMGExactFree_Private(&mg->aggregation.level[k]));
    PetscCall(PCGridMGEdgesFree_Private(mg));
    break;
  case GRIDMG_FREE_RECORDS:
    PCGridMGLevelsForget_Private(mg);
    PetscCall(PCGridMGSmallFree_Private(mg, PETSC_FALSE));
    break;
  case GRIDMG_FREE_ALL:
    PetscCall(PCGridMGSmallFree_Private(mg, PETSC_TRUE));
    PetscCall(PCGridMGShareFree_Private(mg, 0));
    PetscCall(PCGridMGCrossingFree_Private(mg));
    PCGridMGLevelsStart_Private(mg);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ application */

/* The right-hand side of the finest level, with the same scale on all processes */
static PetscErrorCode Enter_Private(PC_GridMG *mg, int part, const PetscScalar x[])
{
  GridMGLevel *l = &mg->aggregation.level[0];
  double       mine;

  PetscFunctionBegin;
  if (!l->shared) {
    PetscCall((*mg->place.kernels->vectors.enter)(&l->op, &mg->domain.team.rows, part, x, l->vector.b, mg->application.scale));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->place.kernels->vectors.most)(&l->op, part, x, &mine));
  PetscCall(PCGridMGScaleAgree_Private(mg, mine));
  PetscCall((*mg->place.kernels->vectors.enterscaled)(&l->op, &mg->domain.team.rows, part, x, l->vector.b, *mg->application.scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One cycle per part of the numbers: for complex scalars the real part, then the imaginary part. x and y have the place
   of the levels
*/
static PetscErrorCode Apply_Private(PC_GridMG *mg, const PetscScalar x[], PetscScalar y[])
{
  GridMGLevel    *l     = &mg->aggregation.level[0];
  const PetscBool fused = (PetscBool)(PCGridMGIsFused_Private(mg, 0) && !l->op.list.n && !mg->place.overlap);

  PetscFunctionBegin;
  for (int part = 0; part < GRIDMG_PARTS; part++) {
    if (fused) {
      const GridMGOuter outer = {.in = x, .result = y, .part = part};

      PetscCall((*mg->place.kernels->vectors.largest)(&l->op, &mg->domain.team.rows, part, x, mg->application.scale));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE, &outer));
    } else if (mg->place.overlap) {
      PetscCall(PCGridMGOverlapEnter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE, NULL));
      PetscCall(PCGridMGOverlapLeave_Private(mg, part, l->vector.x[l->iterate.cur], y));
    } else {
      PetscCall(Enter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE, NULL));
      PetscCall(
        (*mg->place.kernels->vectors.leave)(&l->op, &mg->domain.team.rows, part, mg->found.factor, mg->application.scale, l->vector.x[l->iterate.cur], y));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the table */

/* Of boxes that overlap */
static const GridMGExchange *Exchange(const PC_GridMG *mg)
{
  return mg->place.overlap ? &mg->domain.share[0].over.remote : NULL;
}

const GridMGMethod GridMGAggregationMethod = {.interpolation    = PCGRIDMG_INTERPOLATION_AGGREGATION,
                                              .citation         = LITHE_CITE_AGGREGATION,
                                              .parts            = GRIDMG_PARTS,
                                              .exchanges        = "boxes overlap, exchanges",
                                              .check            = Check_Private,
                                              .read             = Read_Private,
                                              .scale            = PCGridMGScaleEntries_Private,
                                              .coarsen          = Coarsen_Private,
                                              .encode           = PCGridMGEncode_Private,
                                              .coarsest         = Coarsest_Private,
                                              .finish           = Finish_Private,
                                              .apply            = Apply_Private,
                                              .single           = PCGridMGGetSingle_Private,
                                              .exchange         = Exchange,
                                              .flops            = PCGridMGLevelFlops_Private,
                                              .viewlevel        = PCGridMGViewLevel_Private,
                                              .getoperator      = PCGridMGGetLevel_Private,
                                              .getinterpolation = PCGridMGGetAggregates_Private,
                                              .getarray         = PCGridMGGetLevelArray_Private,
                                              .free             = Free_Private};
