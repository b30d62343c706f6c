/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Full multigrid: the right side is restricted to all levels, which is exact for Galerkin operators, the coarsest system is
   solved, and each finer level begins with the bicubic interpolation of the solution below it and takes a few
   steps with V cycles.

   Right sides, iterates and residuals are in the highest precision, cycles and directions in that of the levels.
*/

#include "sbpmgimpl.h"

/* The sum over all processes of x y, both in the precision of the cycle */
static PetscErrorCode Dot(PC_SBPMG *mg, SBPMGLevel *l, const void *x, const void *y, double *sum)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->dot)(&l->op[mg->precision].grid, mg->precision, x, mg->precision, y, sum));
  if (l->halo) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)l->da)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A V cycle for the residual of the iterate: z and, where it was made, the residual in the cycle's precision are left in x[cur] and b */
static PetscErrorCode Correction(PC_SBPMG *mg, PetscInt level)
{
  SBPMGLevel *l    = &mg->level[level];
  SBPStep     step = {.mode = SBP_RESIDUAL, .u = l->fx, .b = l->fb, .out = mg->exact == mg->precision ? l->b : l->fr};

  PetscFunctionBegin;
  PetscCall(PCSBPMGStep_Private(mg, l, mg->exact, &step));
  if (step.out != l->b) PetscCall((*mg->kernels->copy)(&l->op[mg->exact].grid, mg->exact, 0, l->fr, &l->op[mg->precision].grid, mg->precision, 0, l->b));
  PetscCall(PCSBPMGCycle_Private(mg, level, PCSBPMG_CYCLE_V, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps with factors that are known: no inner products */
static PetscErrorCode FixedSteps(PC_SBPMG *mg, PetscInt level, PetscInt n)
{
  SBPMGLevel *l = &mg->level[level];

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(Correction(mg, level));
    PetscCall((*mg->kernels->axpby)(&l->op[mg->precision].grid, l->factor[k], mg->precision, l->x[l->cur], 1., mg->exact, l->fx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Steps of conjugate gradients; residuals are true ones, products with directions in the precision of the cycle */
static PetscErrorCode ConjugateGradients(PC_SBPMG *mg, PetscInt level, PetscInt n)
{
  SBPMGLevel    *l    = &mg->level[level];
  const SBPGrid *grid = &l->op[mg->precision].grid;
  double         rz   = 0., before, pq;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    SBPStep step = {.mode = SBP_APPLY, .u = l->fd};

    PetscCall(Correction(mg, level));
    before = rz;
    PetscCall(Dot(mg, l, l->b, l->x[l->cur], &rz));
    PetscCall((*mg->kernels->axpby)(grid, 1., mg->precision, l->x[l->cur], k && before > 0. ? rz / before : 0., mg->precision, l->fd));
    step.out = l->x[1 - l->cur];
    PetscCall(PCSBPMGStep_Private(mg, l, mg->precision, &step));
    PetscCall(Dot(mg, l, l->fd, step.out, &pq));
    if (!(rz > 0. && pq > 0.)) break; /* the residual is zero */
    PetscCall((*mg->kernels->axpby)(grid, rz / pq, mg->precision, l->fd, 1., mg->exact, l->fx));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt PCSBPMGFullSteps_Private(const PC_SBPMG *mg, PetscInt level)
{
  return mg->opt.fullsteps[PetscMin(level, mg->opt.nfull - 1)];
}

/* From fb of the finest level to fx there */
PetscErrorCode PCSBPMGFull_Private(PC_SBPMG *mg)
{
  const SBPPrecision exact = mg->exact;
  const void        *ghosted;

  PetscFunctionBegin;
  for (PetscInt k = 1; k < mg->n; k++) {
    SBPMGLevel *l = &mg->level[k - 1], *c = &mg->level[k];

    PetscCall(PCSBPMGGhosted_Private(mg, l, exact, l->fb, &ghosted));
    PetscCall((*mg->kernels->restrict_)(&l->op[exact].grid, &c->op[exact].grid, exact, ghosted, c->fb));
  }
  PetscCall(PCSBPMGCoarseSolve_Private(mg, exact, mg->level[mg->n - 1].fb, mg->level[mg->n - 1].fx));
  for (PetscInt k = mg->n - 2; k >= 0; k--) {
    SBPMGLevel    *l = &mg->level[k], *c = &mg->level[k + 1];
    const PetscInt n = PCSBPMGFullSteps_Private(mg, k);

    PetscCall(PCSBPMGGhosted_Private(mg, c, exact, c->fx, &ghosted));
    PetscCall((*mg->kernels->interpolate)(&c->op[exact].grid, &l->op[exact].grid, exact, ghosted, l->fx));
    if (mg->opt.full == PCSBPMG_FULL_CG) PetscCall(ConjugateGradients(mg, k, n));
    else PetscCall(FixedSteps(mg, k, n));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
