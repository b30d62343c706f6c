/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Full multigrid. The right-hand side is restricted to all levels, which is exact for Galerkin operators, and the
   coarsest system is solved. Each finer level then begins with the bicubic interpolation of the solution below and
   takes a few steps with V cycles.

   Right-hand sides, iterates and residuals are in the highest precision. Cycles and directions are in the precision of
   the levels, scaled (scale.c) by the same power of two on all levels.
*/

#include "sbpmgimpl.h"

/* The residual of the iterate, in the cycle's precision, as b */
static PetscErrorCode Residual_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel *l    = &mg->level[level];
  SBPStep     step = {.mode = SBP_RESIDUAL, .u = l->full.x, .b = l->full.b, .out = mg->exact == mg->precision ? l->b : l->full.r};

  PetscFunctionBegin;
  if (PCSBPMGRoundsResidual_Private(mg, level)) {
    PetscCall((*mg->kernels->fused.roundedresidual)(&l->op[mg->exact], l->full.x, l->full.b, &l->op[mg->precision].grid, l->b, &mg->scaling.there->in));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCSBPMGStep_Private(mg, l, mg->exact, &step));
  if (step.out != l->b)
    PetscCall((*mg->kernels->vector.copyscaled)(&l->op[mg->exact].grid, mg->exact, 0, l->full.r, &l->op[mg->precision].grid, mg->precision, 0, l->b,
                                                (SBPRatio){1., &mg->scaling.there->in, NULL}));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No smoothing follows the coarse correction, which can therefore be added in the update of the iterate */
static PetscBool EndsWithCorrection(const PC_SBPMG *mg, PetscInt level)
{
  return (PetscBool)(PCSBPMGIsWhole(mg, level) && mg->level[level].smooth.steps[1] == 0);
}

/* A V cycle for b, or only the part before its coarse correction */
static PetscErrorCode Cycle_Private(PC_SBPMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  if (EndsWithCorrection(mg, level)) PetscCall(PCSBPMGDescend_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_TRUE));
  else PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FinestCycle_Private(void *ctx)
{
  PC_SBPMG *mg = (PC_SBPMG *)ctx;

  PetscFunctionBegin;
  PetscCall(Cycle_Private(mg, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A V cycle for the residual of the iterate: z is left in x[cur], the residual in b */
static PetscErrorCode Correction_Private(PC_SBPMG *mg, PetscInt level)
{
  PetscFunctionBegin;
  PetscCall(Residual_Private(mg, level));
  if (level) PetscCall(Cycle_Private(mg, level));
  else PetscCall(PCSBPMGPlay_Private(mg, SBPMG_GRAPH_CYCLE, FinestCycle_Private));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps with known factors: no inner products */
static PetscErrorCode FixedSteps_Private(PC_SBPMG *mg, PetscInt level, PetscInt n)
{
  const SBPPrecision precision = mg->precision;
  SBPMGLevel        *l = &mg->level[level], *c = l + 1;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    const void *e;

    PetscCall(Correction_Private(mg, level));
    e = EndsWithCorrection(mg, level) ? c->x[c->cur] : NULL;
    PetscCall((*mg->kernels->vector.update)(&l->op[precision].grid, precision, PCSBPMGOut_Private(mg, l->smooth.factor[k]), l->x[l->cur],
                                            &c->op[precision].grid, e, &l->op[mg->exact].grid, mg->exact, l->full.x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RestrictRightSide_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel *l = &mg->level[level], *c = l + 1;
  const void *ghosted;

  PetscFunctionBegin;
  PetscCall(PCSBPMGGhosted_Private(mg, l, mg->exact, l->full.b, &ghosted));
  if (level) PetscCall(PCSBPMGRestrict_Private(mg, l, c, mg->exact, ghosted, c->full.b));
  else PetscCall(PCSBPMGRestrictFirst_Private(mg, ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the solution of the level below */
static PetscErrorCode SolveLevel_Private(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel    *l = &mg->level[level], *c = l + 1;
  const PetscInt n = PCSBPMGFullSteps_Private(mg, level);
  const void    *ghosted;

  PetscFunctionBegin;
  PetscCall(PCSBPMGGhosted_Private(mg, c, mg->exact, c->full.x, &ghosted));
  PetscCall((*mg->kernels->interpolate)(&c->op[mg->exact].grid, &l->op[mg->exact].grid, mg->exact, ghosted, l->full.x));
  PetscCall(FixedSteps_Private(mg, level, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first level below the finest that a process has as a whole; 1 where no level is whole */
static PetscInt FirstBelow(const PC_SBPMG *mg)
{
  return mg->gather.first < mg->n ? PetscMax(mg->gather.first, 1) : 1;
}

/* From full.b of that level to its full.x */
static PetscErrorCode BelowFinest_Private(void *ctx)
{
  PC_SBPMG         *mg       = (PC_SBPMG *)ctx;
  const SBPMGLevel *coarsest = &mg->level[mg->n - 1];
  const PetscInt    first    = FirstBelow(mg);

  PetscFunctionBegin;
  for (PetscInt k = first; k < mg->n - 1; k++) PetscCall(RestrictRightSide_Private(mg, k));
  PetscCall(PCSBPMGCoarseSolve_Private(mg, mg->exact, coarsest->full.b, coarsest->full.x));
  for (PetscInt k = mg->n - 2; k >= first; k--) PetscCall(SolveLevel_Private(mg, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   From full.b of the finest level to its full.x. Both may be vectors of the application, which differ in each call.
   Kernels that use these vectors are therefore not recorded
*/
PetscErrorCode PCSBPMGFull_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  if (mg->n == 1) {
    PetscCall(PCSBPMGCoarseSolve_Private(mg, mg->exact, mg->level[0].full.b, mg->level[0].full.x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt k = 0; k < FirstBelow(mg); k++) PetscCall(RestrictRightSide_Private(mg, k));
  PetscCall(PCSBPMGPlay_Private(mg, SBPMG_GRAPH_BELOW, BelowFinest_Private));
  for (PetscInt k = FirstBelow(mg) - 1; k >= 0; k--) PetscCall(SolveLevel_Private(mg, k));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same with vectors of the application */
PetscErrorCode PCSBPMGFullInPlace_Private(PC_SBPMG *mg, const PetscScalar *b, PetscScalar *x)
{
  SBPMGFull *finest = &mg->level[0].full;

  PetscFunctionBegin;
  finest->b = (void *)b; /* read only */
  finest->x = x;
  PetscCall(PCSBPMGFull_Private(mg));
  finest->b = NULL;
  finest->x = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
