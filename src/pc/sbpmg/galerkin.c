/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Galerkin operators P^T A P. On a device, if a process has the whole level, one operation computes all operators in
   one sweep. Otherwise the operators are found by probing. A coarse basis function overlaps only with its eight
   neighbours: nine products with sums of every third function give all coefficients. Probing works for any fine
   operator that reaches one node, or two nodes at a boundary as the operator of second order does. Probing works on any
   number of processes, on a host or a device. The coefficients of a gathered level are those of all processes.
*/

#include "sbpmgimpl.h"

/* As owned arrays: all of ghosted, or of own, with the pitch of the coefficients */
static SBPGrid CoefficientGrid(const SBPGrid *grid)
{
  SBPGrid g = *grid;

  g.own   = grid->ghosted;
  g.pitch = grid->coefficientpitch;
  return g;
}

static PetscErrorCode Direct_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c, void *work)
{
  const SBPPrecision exact = mg->exact, precision = mg->precision;
  const SBPGrid     *coarse = &c->op[exact].grid;

  PetscFunctionBegin;
  if (!PCSBPMGKeepsExact_Private(mg, c)) PCSBPMGWorkCoefficients_Private(mg, work, (PetscInt)(c - mg->level), c->coefficient[exact]);
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    if (PCSBPMGKeepsExact_Private(mg, c)) PetscCall(PCSBPMGGhosts_Private(mg, coarse, exact, &c->coefficient[exact][k]));
    if (precision != exact) PetscCall(PCSBPMGGhosts_Private(mg, coarse, precision, &c->coefficient[precision][k]));
    c->op[exact].coefficient[k]     = c->coefficient[exact][k];
    c->op[precision].coefficient[k] = c->coefficient[precision][k];
  }
  PetscCall(
    (*mg->kernels->galerkin)(&l->op[exact], coarse, c->coefficient[exact], precision != exact && mg->scaling.factor == 1. ? c->coefficient[precision] : NULL));
  if (precision != exact && mg->scaling.factor != 1.) {
    const SBPGrid all = CoefficientGrid(coarse);

    for (int k = 0; k < SBP_COEFFICIENTS; k++) PetscCall(PCSBPMGRoundNumbers_Private(mg, 1., &all, c->coefficient[exact][k], c->coefficient[precision][k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Probe_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c, void *work)
{
  const SBPPrecision exact    = mg->exact;
  const PetscBool    gathered = PCSBPMGIsGathered(mg, (PetscInt)(c - mg->level)), apart = (PetscBool)(gathered || c->exchange.halo);
  const SBPGrid     *fine = &l->op[exact].grid, *coarse = &c->op[exact].grid, *own = gathered ? &mg->gather.part : coarse;
  void              *onfine[2], *oncoarse[2], *v, *o, *pv, *apv, *owned[SBP_COEFFICIENTS];
  const size_t       bytes = SBPNumberBytes(exact);
  const void        *ghosted;

  PetscFunctionBegin;
  PCSBPMGWorkArrays_Private(work, fine, coarse, exact, onfine, oncoarse);
  v   = oncoarse[0];
  o   = oncoarse[1];
  pv  = onfine[0];
  apv = onfine[1];
  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    if (PCSBPMGKeepsExact_Private(mg, c)) PetscCall(PCSBPMGGhosts_Private(mg, coarse, exact, &c->coefficient[exact][k]));
    else
      PetscCall(LitheMemoryCalloc(mg->kernels->memory, (size_t)coarse->coefficientpitch * (size_t)coarse->ghosted.count[1] * bytes, &c->coefficient[exact][k]));
    c->op[exact].coefficient[k] = c->coefficient[exact][k];
    if (gathered) PetscCall(LitheMemoryCalloc(mg->kernels->memory, PCSBPMGGatherBytes_Private(mg, exact), &owned[k]));
    else if (apart) PetscCall(LitheMemoryCalloc(mg->kernels->memory, (size_t)coarse->pitch * (size_t)coarse->own.count[1] * bytes, &owned[k]));
    else owned[k] = c->coefficient[exact][k];
  }

  for (int colour = 0; colour < 9; colour++) {
    SBPStep step = {.mode = SBP_APPLY, .u = pv, .out = apv};

    PetscCall((*mg->kernels->vector.mark)(coarse, exact, colour, v));
    PetscCall(PCSBPMGGhosted_Private(mg, c, exact, v, &ghosted));
    PetscCall((*mg->kernels->prolong)(coarse, fine, exact, PETSC_FALSE, ghosted, pv));
    PetscCall(PCSBPMGStep_Private(mg, l, exact, &step));
    PetscCall(PCSBPMGGhosted_Private(mg, l, exact, apv, &ghosted));
    PetscCall((*mg->kernels->restrict_)(fine, own, exact, ghosted, o));
    PetscCall((*mg->kernels->vector.gather)(own, exact, colour, o, owned));
  }

  for (int k = 0; k < SBP_COEFFICIENTS; k++) {
    const SBPGrid all = CoefficientGrid(coarse);

    if (!apart) continue;
    if (gathered) PetscCall(PCSBPMGGather_Private(mg, exact, owned[k], &all, c->coefficient[exact][k]));
    else {
      PetscCall(PCSBPMGGhosted_Private(mg, c, exact, owned[k], &ghosted));
      PetscCall((*mg->kernels->vector.copy)(&all, exact, 0, ghosted, &all, exact, 0, c->coefficient[exact][k]));
    }
    PetscCall((*mg->kernels->memory->free)(&owned[k]));
  }

  /* In the precision of the cycle */
  if (mg->precision != exact) {
    const SBPGrid all = CoefficientGrid(coarse);

    for (int k = 0; k < SBP_COEFFICIENTS; k++) {
      PetscCall(PCSBPMGGhosts_Private(mg, coarse, mg->precision, &c->coefficient[mg->precision][k]));
      PetscCall(PCSBPMGRoundNumbers_Private(mg, 1., &all, c->coefficient[exact][k], c->coefficient[mg->precision][k]));
      c->op[mg->precision].coefficient[k] = c->coefficient[mg->precision][k];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* work: see PCSBPMGWorkCreate_Private() */
PetscErrorCode PCSBPMGGalerkin_Private(PC_SBPMG *mg, SBPMGLevel *l, SBPMGLevel *c, void *work)
{
  PetscFunctionBegin;
  if (PCSBPMGIsDirect_Private(mg, (PetscInt)(c - mg->level) - 1)) PetscCall(Direct_Private(mg, l, c, work));
  else PetscCall(Probe_Private(mg, l, c, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}
