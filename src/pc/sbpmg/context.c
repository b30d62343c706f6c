/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCSBPMG: predicates about levels, the failure, and the reset. */

#include "sbpmgimpl.h"
#include <stdarg.h>

#define SBPMG_CYCLE_SIZE 128 /* the spectrum of the cycle is measured on levels with at most as many intervals */

/* ------------------------------------------------------------ predicates */

/* Whether Galerkin operators are computed directly, and not by probing */
PetscBool PCSBPMGIsDirect_Private(const PC_SBPMG *mg)
{
  return (PetscBool)(mg->kernels->galerkin && !mg->parallel);
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

  return (PetscBool)(mg->kernels->roundedresidual && !mg->parallel && mg->exact == SBP_DOUBLE && mg->precision == SBP_SINGLE && (level || op->grid.order == 2));
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

  return (PetscBool)(k < mg->n - 1 && l->smooths[0] == l->smooths[1] && (k == mg->n - 2 || PetscMax(l->grid.n[0], l->grid.n[1]) <= SBPMG_CYCLE_SIZE));
}

/* ------------------------------------------------------------ failure and reset */

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

/* An array of the common allocation stays until the levels are destroyed. *x may be NULL */
PetscErrorCode PCSBPMGFree_Private(PC_SBPMG *mg, void **x)
{
  const char *at = (const char *)*x, *begin = (const char *)mg->memory;

  PetscFunctionBegin;
  if (at && (!begin || at < begin || at >= begin + mg->reserved)) PetscCall((*mg->kernels->free)(x));
  *x = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGDestroyLevels_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < SBPMG_LEVELS_MAX; k++) {
    SBPMGLevel *l       = &mg->level[k];
    void      **array[] = {&l->ghost[0], &l->ghost[1], &l->x[0], &l->x[1],       &l->b,          &l->d,          &l->dinv,      &l->fb,
                           &l->fx,       &l->fr,       &l->fd,   &l->penalty[0], &l->penalty[1], &l->penalty[2], &l->penalty[3]};

    for (size_t a = 0; a < sizeof(array) / sizeof(array[0]); a++) {
      PetscCall(PCSBPMGFree_Private(mg, array[a]));
    }
    for (int p = 0; p < 2; p++) {
      for (int c = 0; c < SBP_COEFFICIENTS; c++) {
        PetscCall(PCSBPMGFree_Private(mg, &l->coefficient[p][c]));
      }
    }
    PetscCall(MatDestroy(&l->A));
    PetscCall(SBPHaloDestroy(&l->halo));
    PetscCall(DMDestroy(&l->hda));
    PetscCall(DMDestroy(&l->da));
    PetscCall(PetscMemzero(l, sizeof(*l)));
  }
  if (mg->memory) PetscCall((*mg->kernels->free)(&mg->memory));
  if (mg->scale) PetscCall((*mg->kernels->free)((void **)&mg->scale));
  mg->n     = 0;
  mg->bytes = 0;
  mg->built = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGShiftReset_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  mg->sign      = 1;
  mg->total     = 0;
  mg->deflated  = PETSC_FALSE;
  mg->failed[0] = 0;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&mg->inverse[k]));
  PetscCall(VecDestroy(&mg->diagonal));
  PetscCall(VecDestroy(&mg->defect));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the coarsest level, except its solver, which keeps its options */
static PetscErrorCode PCSBPMGCoarseReset_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  for (int p = 0; p < 2; p++) {
    if (mg->dense[p]) PetscCall((*mg->kernels->free)(&mg->dense[p]));
  }
  mg->ndense     = 0;
  mg->coarselmin = 0;
  if (mg->ksp) PetscCall(KSPReset(mg->ksp));
  PetscCall(MatDestroy(&mg->cmat));
  PetscCall(VecDestroy(&mg->cb));
  PetscCall(VecDestroy(&mg->cx));
  PetscCall(PetscFree(mg->chost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_SBPMG(PC pc)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  for (int k = 0; k < SBPMG_GRAPHS; k++) PetscCall(LitheMGForget(&mg->record[k]));
  PetscCall(PCSBPMGCoarseReset_Private(mg));
  PetscCall(PCSBPMGDestroyLevels_Private(mg));
  PetscCall(PCSBPMGShiftReset_Private(mg));
  PetscCall(VecDestroy(&mg->wx));
  PetscCall(VecDestroy(&mg->wy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
