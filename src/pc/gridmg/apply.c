/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The application of a PCGRIDMG: the place of levels and vectors, on the host or on a device, and one cycle from a
   right-hand side to a solution
*/

#include "gridmgimpl.h"

/* ------------------------------------------------------------ the place */

/*
   The levels are on a device if the matrix has CUDA vectors and kernels exist: on several processes, kernels of boxes
   that overlap. Stencils of several processes are made on the host, and moved after the set-up
*/
PetscErrorCode PCGridMGFindPlace_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  mg->cuda = PETSC_FALSE;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    VecType   type;
    PetscBool bound;

    PetscCall(MatGetVecType(pc->pmat, &type));
    PetscCall(MatBoundToCPU(pc->pmat, &bound));
    if (!bound) PetscCall(PetscStrcmpAny(type, &mg->cuda, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
  }
#endif
  mg->device  = mg->cuda;
  mg->refused = PETSC_FALSE;
  if (!mg->setups || pc->flag != SAME_NONZERO_PATTERN) mg->team.apart = PETSC_FALSE;
  mg->overlap = (PetscBool)(PCGridMGIsShared(mg) && !mg->team.apart && mg->opt.interpolation != PCGRIDMG_INTERPOLATION_ZEEUW && PCGridMGMayOverlap_Private(mg));
  if (PCGridMGIsShared(mg) && !mg->overlap) mg->device = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the levels of a set-up on the host to the device, with one copy */
PetscErrorCode PCGridMGMove_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  {
    const char *host = (const char *)mg->pool.memory;
    GridMGPool  pool = {NULL, 0, 0};

    PCGridMGTakeLevels_Private(mg, &pool);
    mg->kernels = &GridMGDeviceKernels;
    PetscCall(PCGridMGReserve_Private(mg, &mg->moved, pool.taken, (void **)&pool.memory));
    PetscCall((*mg->kernels->put)(pool.taken, host, pool.memory));
    pool.taken = 0;
    PCGridMGTakeLevels_Private(mg, &pool);
  }
#else
  (void)mg;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the application */

static PetscErrorCode ApplyStencils_Private(PC_GridMG *mg, const PetscScalar x[], PetscScalar y[])
{
  GridMGStencilLevel *l = &mg->stencil[0];

  PetscFunctionBegin;
  if (PCGridMGIsShared(mg)) {
    PetscCall(PCGridMGShareEnter_Private(mg, x));
    PetscCall(PCGridMGStencilSolve_Private(mg, 0));
    PetscCall(PCGridMGShareLeave_Private(mg, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->stencilkernels->largest)(&l->op, x, mg->scale));
  PetscCall((*mg->stencilkernels->enter)(&l->op, x, mg->scale, l->b));
  PetscCall(PCGridMGStencilSolve_Private(mg, 0));
  PetscCall((*mg->stencilkernels->leave)(&l->op, mg->factor, mg->scale, l->x[l->cur], y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The right-hand side of the finest level, with the same scale on all processes */
static PetscErrorCode Enter_Private(PC_GridMG *mg, int part, const PetscScalar x[])
{
  GridMGLevel *l = &mg->level[0];
  double       mine, most;

  PetscFunctionBegin;
  if (!l->shared) {
    PetscCall((*mg->kernels->enter)(&l->op, &mg->rows, part, x, l->b, mg->scale));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall((*mg->kernels->most)(&l->op, part, x, &mine));
  PetscCallMPI(MPIU_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mg->team.comm));
  *mg->scale = LitheMGScaleOf(most);
  PetscCall((*mg->kernels->enterscaled)(&l->op, &mg->rows, part, x, l->b, *mg->scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   One cycle per part of the numbers: for complex scalars the real part, then the imaginary part. x and y have the place
   of the levels
*/
static PetscErrorCode ApplyAggregation_Private(PC_GridMG *mg, const PetscScalar x[], PetscScalar y[])
{
  GridMGLevel    *l     = &mg->level[0];
  const PetscBool fused = (PetscBool)(PCGridMGIsFused_Private(mg, 0) && !l->op.list.n && !mg->overlap);

  PetscFunctionBegin;
  for (int part = 0; part < (PetscDefined(USE_COMPLEX) ? 2 : 1); part++) {
    if (fused) {
      mg->outer.in     = x;
      mg->outer.result = y;
      mg->outer.part   = part;
      PetscCall((*mg->kernels->largest)(&l->op, &mg->rows, part, x, mg->scale));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
    } else if (mg->overlap) {
      PetscCall(PCGridMGOverlapEnter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
      PetscCall(PCGridMGOverlapLeave_Private(mg, part, y));
    } else {
      PetscCall(Enter_Private(mg, part, x));
      PetscCall(PCGridMGCycle_Private(mg, 0, PETSC_TRUE));
      PetscCall((*mg->kernels->leave)(&l->op, &mg->rows, part, mg->factor, mg->scale, l->x[l->cur], y));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyArrays_Private(PC_GridMG *mg, const PetscScalar x[], PetscScalar y[])
{
  PetscFunctionBegin;
  if (mg->zeeuw) PetscCall(ApplyStencils_Private(mg, x, y));
  else PetscCall(ApplyAggregation_Private(mg, x, y));
  if (mg->device) PetscCall(PetscLogGpuFlops(mg->flops));
  else PetscCall(PetscLogFlops(mg->flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* done: whether both vectors are on the device */
static PetscErrorCode ApplyOnDevice_Private(PC_GridMG *mg, Vec x, Vec y, PetscBool *done)
{
  const PetscScalar *px;
  PetscScalar       *py;
  PetscMemType       tx, ty;

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &px, &tx));
  PetscCall(VecGetArrayWriteAndMemType(y, &py, &ty));
  *done = (PetscBool)(!PetscMemTypeHost(tx) && !PetscMemTypeHost(ty));
  if (*done) PetscCall(ApplyArrays_Private(mg, px, py));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle of the levels */
static PetscErrorCode ApplyLevels_Private(PC pc, Vec x, Vec y)
{
  PC_GridMG         *mg = (PC_GridMG *)pc->data;
  const PetscScalar *px;
  PetscScalar       *py;
  PetscBool          done;

  PetscFunctionBegin;
  if (!mg->device) {
    PetscCall(VecGetArrayRead(x, &px));
    PetscCall(VecGetArrayWrite(y, &py));
    PetscCall(ApplyArrays_Private(mg, px, py));
    PetscCall(VecRestoreArrayWrite(y, &py));
    PetscCall(VecRestoreArrayRead(x, &px));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(ApplyOnDevice_Private(mg, x, y, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);

  /* Vectors on the host, levels on the device */
  if (!mg->wx) PetscCall(MatCreateVecs(pc->pmat, &mg->wx, &mg->wy));
  PetscCall(VecCopy(x, mg->wx));
  PetscCall(ApplyOnDevice_Private(mg, mg->wx, mg->wy, &done));
  PetscCheck(done, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_WRONGSTATE,
             "The vectors of the matrix were on a device when the preconditioner was set up, and now are on the host. Set it up again");
  PetscCall(VecCopy(mg->wy, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCApply_GridMG(PC pc, Vec x, Vec y)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  Vec        in, out;

  PetscFunctionBegin;
  if (pc->failedreason) {
    PetscCall(VecFlag(y, 1));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->n) PetscFunctionReturn(PETSC_SUCCESS); /* no rows */
  if (mg->scaling.how == LITHE_NEAR_NULL_CONSTANT) {
    PetscCall(ApplyLevels_Private(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGScalingEnter_Private(mg, x, &in, &out));
  PetscCall(ApplyLevels_Private(pc, in, out));
  PetscCall(PCGridMGScalingLeave_Private(mg, out, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
