/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The method of aggregation: its table of functions, its options, the end of the set-up, and an application */

#include "../gridmgimpl.h"

/* ------------------------------------------------------------ set-up */

/* Checks options that only the other method has */
static PetscErrorCode Check_Private(PC pc)
{
  PC_GridMG             *mg   = (PC_GridMG *)pc->data;
  const PCGridMGOptions *opt  = &mg->opt;
  MPI_Comm               comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(opt->smoother != PCGRIDMG_SMOOTHER_DAMPED, comm, PETSC_ERR_SUP,
             "-pc_gridmg_smoother damped is for -pc_gridmg_interpolation zeeuw. With aggregation use jacobi, redblack or chebyshev4");
  mg->found.smoother       = opt->smoother == PCGRIDMG_SMOOTHER_AUTO ? PCGRIDMG_SMOOTHER_REDBLACK : opt->smoother;
  mg->found.overcorrection = (double)opt->overcorrection;
  if (opt->overcorrection == (PetscReal)PETSC_DECIDE) mg->found.overcorrection = opt->cycle == PCGRIDMG_CYCLE_W ? 1.5 : 1.;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the levels of a set-up on the host to the device, with one copy */
static PetscErrorCode Move_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    const char *host = (const char *)mg->memory.pool.memory;
    GridMGPool  pool = {NULL, 0, 0};

    PCGridMGTakeLevels_Private(mg, &pool);
    mg->place.kernels = &GridMGDeviceKernels;
    PetscCall(PCGridMGReserve_Private(mg, &mg->place.moved, pool.taken, (void **)&pool.memory));
    PetscCall((*mg->place.kernels->memory.put)(pool.taken, host, pool.memory));
    pool.taken = 0;
    PCGridMGTakeLevels_Private(mg, &pool);
  }
#else
  (void)mg;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Coarsen_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCheck(mg->found.symmetric || mg->opt.cycle != PCGRIDMG_CYCLE_K, PetscObjectComm((PetscObject)pc), PETSC_ERR_SUP,
             "-pc_gridmg_cycle k takes steps of conjugate gradients, and the matrix is not symmetric. Use -pc_gridmg_cycle w");
  PetscCall(PCGridMGCoarsen_Private(pc));
  if (!mg->place.refused) PetscCall(PCGridMGEncode_Private(pc));
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
  if (mg->place.kernels == &GridMGHostKernels) PetscCall(Move_Private(mg));
  PetscCall(PCGridMGSmallSetUp_Private(mg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ application */

/* The right-hand side of the finest level, with the same scale on all processes */
static PetscErrorCode Enter_Private(PC_GridMG *mg, int part, const PetscScalar x[])
{
  GridMGLevel *l = &mg->aggregation.level[0];
  double       mine, most;

  PetscFunctionBegin;
  if (!l->shared) {
    PetscCall((*mg->place.kernels->vectors.enter)(&l->op, &mg->domain.team.rows, part, x, l->vector.b, mg->application.scale));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->place.kernels->vectors.most)(&l->op, part, x, &mine));
  PetscCallMPI(MPIU_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  *mg->application.scale = LitheMGScaleOf(most);
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
  for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) {
    if (fused) {
      mg->aggregation.outer.in     = x;
      mg->aggregation.outer.result = y;
      mg->aggregation.outer.part   = part;
      PetscCall((*mg->place.kernels->vectors.largest)(&l->op, &mg->domain.team.rows, part, x, mg->application.scale));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
    } else if (mg->place.overlap) {
      PetscCall(PCGridMGOverlapEnter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
      PetscCall(PCGridMGOverlapLeave_Private(mg, part, y));
    } else {
      PetscCall(Enter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
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
                                              .parts            = PetscDefined(USE_COMPLEX) ? 2 : 1,
                                              .exchanges        = "boxes overlap, exchanges",
                                              .check            = Check_Private,
                                              .read             = PCGridMGReadEntries_Private,
                                              .scale            = PCGridMGScaleEntries_Private,
                                              .coarsen          = Coarsen_Private,
                                              .coarsest         = Coarsest_Private,
                                              .finish           = Finish_Private,
                                              .apply            = Apply_Private,
                                              .exchange         = Exchange,
                                              .flops            = PCGridMGLevelFlops_Private,
                                              .viewlevel        = PCGridMGViewLevel_Private,
                                              .getoperator      = PCGridMGGetLevel_Private,
                                              .getinterpolation = PCGridMGGetAggregates_Private,
                                              .getarray         = PCGridMGGetLevelArray_Private};
