/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The application of a PCGRIDMG: vectors of the host or of a device, and one cycle from a right-hand side to a solution
*/

#include "base.h"
#include <lithe/private/litheplace.h>

static PetscErrorCode ApplyArrays_Private(PC pc, const PetscScalar x[], PetscScalar y[])
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall((*mg->choice.method->apply)(mg, x, y));
  if (mg->place.device) PetscCall(PetscLogGpuFlops(mg->application.flops));
  else PetscCall(PetscLogFlops(mg->application.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle of the levels */
static PetscErrorCode ApplyLevels_Private(PC pc, Vec x, Vec y)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(LithePCApplyThere(pc, mg->place.device, mg->application.work, x, y, ApplyArrays_Private));
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
  if (!mg->state.n) PetscFunctionReturn(PETSC_SUCCESS); /* no rows */
  if (mg->scaling.how == LITHE_NEAR_NULL_CONSTANT) {
    PetscCall(ApplyLevels_Private(pc, x, y));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGScalingEnter_Private(mg, x, &in, &out));
  PetscCall(ApplyLevels_Private(pc, in, out));
  PetscCall(PCGridMGScalingLeave_Private(mg, out, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the data of applications */

/* Memory for the scale of the right-hand side */
void PCGridMGScaleTake_Private(PC_GridMG *mg, GridMGPool *pool)
{
  mg->application.scale = (double *)PCGridMGTake_Private(pool, sizeof(double));
}

/* The same scale on all processes, on the host: by the largest modulus */
PetscErrorCode PCGridMGScaleAgree_Private(PC_GridMG *mg, double mine)
{
  double most;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&mine, &most, 1, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  *mg->application.scale = LitheMGScaleOf(most);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a set-up */
void PCGridMGApplicationStart_Private(PC_GridMG *mg, PetscLogDouble flops)
{
  mg->application.flops = flops;
}

PetscErrorCode PCGridMGApplicationReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&mg->application.work[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
