/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCSBPMG: predicates about levels, and the failure */

#include "sbpmgimpl.h"
#include <stdarg.h>

#define SBPMG_CYCLE_SIZE 128 /* the spectrum of the cycle is measured on levels with at most as many intervals */

/* ------------------------------------------------------------ predicates */

/* Whether the Galerkin operator of the level below a level is computed directly, and not by probing */
PetscBool PCSBPMGIsDirect_Private(const PC_SBPMG *mg, PetscInt fine)
{
  return (PetscBool)(mg->kernels->galerkin && PCSBPMGIsWhole(mg, fine));
}

/*
   Whether a level keeps the higher precision: full multigrid needs both precisions, and the coarsest level the higher
   precision
*/
PetscBool PCSBPMGKeepsExact_Private(const PC_SBPMG *mg, const SBPMGLevel *l)
{
  return (PetscBool)(mg->precision == mg->exact || mg->opt.cycle == PCSBPMG_CYCLE_FULL || l == &mg->level[mg->n - 1]);
}

/* Whether the residual is written in the precision of the cycle at once, though computed in the higher precision */
PetscBool PCSBPMGRoundsResidual_Private(const PC_SBPMG *mg, PetscInt level)
{
  const SBPOperator *op = &mg->level[level].op[mg->exact];

  return (PetscBool)(mg->kernels->fused.roundedresidual && PCSBPMGIsWhole(mg, level) && mg->exact == SBP_DOUBLE && mg->precision == SBP_SINGLE &&
                     (level || op->grid.order == 2));
}

/* Steps of full multigrid on a level */
PetscInt PCSBPMGFullSteps_Private(const PC_SBPMG *mg, PetscInt level)
{
  return mg->opt.fullsteps[PetscMin(level, mg->opt.nfull - 1)];
}

/* Whether the spectrum of the cycle on a level is measured for full multigrid */
PetscBool PCSBPMGMeasuresCycle_Private(const PC_SBPMG *mg, PetscInt k)
{
  const SBPMGLevel *l = &mg->level[k];

  return (PetscBool)(k < mg->n - 1 && l->smooth.steps[0] == l->smooth.steps[1] && (k == mg->n - 2 || PetscMax(l->grid.n[0], l->grid.n[1]) <= SBPMG_CYCLE_SIZE));
}

/* ------------------------------------------------------------ grids */

/* A DMDA of all nodes of a grid, for a matrix of this process alone. On one process the communicator is the
   program's */
PetscErrorCode PCSBPMGCreateWholeDM_Private(PC pc, const SBPGrid *grid, DM *da)
{
  const PC_SBPMG *mg = (const PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(SBPPartsExist(&mg->gather.parts) ? PETSC_COMM_SELF : PetscObjectComm((PetscObject)pc), DM_BOUNDARY_NONE, DM_BOUNDARY_NONE,
                         DMDA_STENCIL_BOX, grid->n[0] + 1, grid->n[1] + 1, 1, 1, 1, 1, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ failure */

/*
   The set-up has failed: KSP ends with KSP_DIVERGED_PC_FAILED, and SNES and TS may cut their steps. All processes fail
   together.
*/
PetscErrorCode PCSBPMGFail_Private(PC pc, const char format[], ...)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;
  va_list   arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(mg->failed, sizeof(mg->failed), format, NULL, arguments));
  va_end(arguments);
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "-pc_type sbpmg: %s", mg->failed);
  PetscCall(PetscInfo(pc, "%s\n", mg->failed));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}
