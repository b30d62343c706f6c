/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The method of de Zeeuw's stencils: its table of functions, its options, and an application */

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include "../base/base.h"

/* ------------------------------------------------------------ set-up */

/* Checks options that only the other method has */
static PetscErrorCode Check_Private(PC pc)
{
  PC_GridMG             *mg   = (PC_GridMG *)pc->data;
  const PCGridMGOptions *opt  = &mg->opt;
  MPI_Comm               comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(opt->cycle != PCGRIDMG_CYCLE_K, comm, PETSC_ERR_SUP,
             "-pc_gridmg_cycle k is for aggregation. With -pc_gridmg_interpolation zeeuw, also if auto chose it, use v or w");
  PetscCheck(opt->coarsen == PCGRIDMG_COARSEN_AUTO || opt->coarsen == PCGRIDMG_COARSEN_FULL, comm, PETSC_ERR_SUP,
             "-pc_gridmg_coarsen %s is for aggregation. With -pc_gridmg_interpolation zeeuw, also if auto chose it, use auto or full",
             PCGridMGCoarsenTypes[opt->coarsen]);
  PCGridMGFoundStart_Private(mg, opt->smoother /* auto: by the entries */, opt->overcorrection == (PetscReal)PETSC_DECIDE ? 1. : (double)opt->overcorrection);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read_Private(PC pc)
{
  PetscFunctionBegin;
  PCGridMGStencilsBegin_Private((PC_GridMG *)pc->data);
  PetscCall(PCGridMGChooseStencilKernels_Private(pc));
  PetscCall(PCGridMGReadStencils_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Free_Private(PC_GridMG *mg, GridMGFree what)
{
  PetscFunctionBegin;
  switch (what) {
  case GRIDMG_FREE_SCRATCH:
    for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) PetscCall(PCGridMGStencilExactFree_Private(&mg->stencils.stencil[k]));
    break;
  case GRIDMG_FREE_RECORDS:
    PetscCall(PCGridMGColumnsForget_Private(mg));
    break;
  case GRIDMG_FREE_ALL:
    PetscCall(PCGridMGColumnsFree_Private(mg));
    PetscCall(PCGridMGStencilShareFree_Private(mg));
    PCGridMGStencilsReset_Private(mg);
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ application */

static PetscErrorCode Apply_Private(PC_GridMG *mg, const PetscScalar x[], PetscScalar y[])
{
  GridMGStencilLevel *l = &mg->stencils.stencil[0];

  PetscFunctionBegin;
  if (PCGridMGIsParallel(mg)) {
    PetscCall(PCGridMGShareEnter_Private(mg, x));
    PetscCall(PCGridMGStencilSolve_Private(mg, &mg->stencils.one, 0));
    PetscCall(PCGridMGShareLeave_Private(mg, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->stencils.kernels->largest)(&l->op, x, mg->application.scale));
  PetscCall((*mg->stencils.kernels->enter)(&l->op, x, mg->application.scale, mg->stencils.one.b[0]));
  PetscCall(PCGridMGStencilSolve_Private(mg, &mg->stencils.one, 0));
  PetscCall((*mg->stencils.kernels->leave)(&l->op, mg->found.factor, mg->application.scale, mg->stencils.one.x[0][mg->stencils.one.cur[0]], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the table */

/* Between boxes of points on devices */
static const GridMGExchange *Exchange(const PC_GridMG *mg)
{
  if (!mg->place.device) return NULL;
  return mg->stencils.stencil[0].shared ? &mg->stencils.stencil[0].split.remote : &mg->stencils.stencil[0].split.gather;
}

const GridMGMethod GridMGStencilMethod = {.interpolation = PCGRIDMG_INTERPOLATION_ZEEUW,
                                          .citation      = LITHE_CITE_ZEEUW,
                                          .parts         = 1,
                                          .exchanges     = "exchanges between boxes",
                                          .check         = Check_Private,
                                          .read          = Read_Private,
                                          .scale         = PCGridMGScaleStencils_Private,
                                          .coarsen       = PCGridMGCoarsenStencils_Private,
                                          .encode        = PCGridMGEncodeStencils_Private,
                                          .coarsest      = PCGridMGCoarseStencils_Private,
                                          .finish        = PCGridMGMoveStencils_Private,
                                          .apply         = Apply_Private,
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
                                          .matapply = PCMatApply_GridMG,
#endif
                                          .exchange         = Exchange,
                                          .flops            = PCGridMGStencilFlops_Private,
                                          .viewlevel        = PCGridMGViewStencils_Private,
                                          .getoperator      = PCGridMGGetStencilOperator_Private,
                                          .getinterpolation = PCGridMGGetStencilInterpolation_Private,
                                          .free             = Free_Private};
