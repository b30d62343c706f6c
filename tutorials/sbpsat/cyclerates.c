/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The rates of state and slip, for TS */

#include "cycle.h"

#define RUNAWAY ((PetscReal)1e30) /* the rate of a state without a slip rate: any error estimate rejects the step */
#define LARGEST 1                 /* |psi - f0|, beyond which a stage is rejected: strengths of -500 to 500 times sigma a */

PetscErrorCode CycleRatesCreate(const CycleLaw *law, const CycleRock *rock, const CycleGrid *grid, Elastic *elastic, const CycleMMS *mms, CycleRates *c)
{
  PetscInt n = grid->own;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(c, sizeof(*c)));
  c->law     = law;
  c->grid    = grid;
  c->elastic = elastic;
  c->mms     = mms;
  c->time    = PETSC_NINFINITY;
  PetscCall(PetscMalloc3(n, &c->friction, n, &c->tau0, n, &c->logV));
  for (PetscInt k = 0; k < n; k++) {
    c->friction[k] = CycleRockFriction(rock, law, grid->depth[k], grid->mu[k]);
    c->tau0[k]     = CycleLawStress(law, &c->friction[k]);
    c->logV[k]     = PetscLogReal(law->Vinit);
  }
  PetscCall(VecDuplicate(grid->fault, &c->slip));
  PetscCall(VecDuplicate(grid->fault, &c->stress));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)grid->da), CYCLE_FIELDS * n, CYCLE_FIELDS * grid->n, &c->fields));
  PetscCall(VecCreateMPI(PetscObjectComm((PetscObject)grid->da), 2 * n, 2 * grid->n, &c->rates));
  PetscCall(VecDuplicate(c->rates, &c->held));
  PetscCall(PetscLogStageRegister("Elastic", &c->stage[0]));
  PetscCall(PetscLogStageRegister("Friction", &c->stage[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRatesDestroy(CycleRates *c)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree3(c->friction, c->tau0, c->logV));
  PetscCall(VecDestroy(&c->slip));
  PetscCall(VecDestroy(&c->stress));
  PetscCall(VecDestroy(&c->fields));
  PetscCall(VecDestroy(&c->rates));
  PetscCall(VecDestroy(&c->held));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRatesBegin(const CycleRates *c, Vec *y)
{
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(c->rates, y));
  PetscCall(VecGetArrayWrite(*y, &a));
  for (PetscInt k = 0; k < c->grid->own; k++) {
    PetscReal at[2] = {FrictionState(&c->friction[k], c->tau0[k], c->law->Vinit), 0}, source;

    if (c->mms) CycleMMSState(c->mms, &c->friction[k], c->tau0[k], c->grid->depth[k], 0, at, &source);
    a[2 * k]     = at[0];
    a[2 * k + 1] = at[1];
  }
  PetscCall(VecRestoreArrayWrite(*y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slip rates, and the rates of y. A node without a slip rate, as of a step that is much too long, ends the step */
static PetscErrorCode Slide(CycleRates *c, PetscReal t, Vec y, Vec rates)
{
  const PetscScalar *a, *stress;
  PetscScalar       *f, *fields;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayRead(c->stress, &stress));
  PetscCall(VecGetArrayWrite(c->fields, &fields));
  PetscCall(VecGetArrayWrite(rates, &f));
  for (PetscInt k = 0; k < c->grid->own; k++) {
    const Friction *law = &c->friction[k];
    const PetscReal psi = PetscRealPart(a[2 * k]), tau = c->tau0[k] + PetscRealPart(stress[k]);
    PetscReal       V = 0, rate = RUNAWAY;

    if (FrictionSolve(law, tau, psi, &c->logV[k])) {
      V    = PetscExpReal(c->logV[k]);
      rate = FrictionStateRate(law, psi, V);
      if (c->mms) {
        PetscReal exact[2], source;

        CycleMMSState(c->mms, law, c->tau0[k], c->grid->depth[k], t, exact, &source);
        rate += source;
      }
    }
    f[2 * k]                              = rate;
    f[2 * k + 1]                          = V;
    fields[CYCLE_FIELDS * k + CYCLE_SLIP] = PetscRealPart(a[2 * k + 1]);
    fields[CYCLE_FIELDS * k + CYCLE_LOGV] = c->logV[k];
    fields[CYCLE_FIELDS * k + CYCLE_TAU]  = tau;
    fields[CYCLE_FIELDS * k + CYCLE_PSI]  = psi;
  }
  PetscCall(VecRestoreArrayWrite(rates, &f));
  PetscCall(VecRestoreArrayWrite(c->fields, &fields));
  PetscCall(VecRestoreArrayRead(c->stress, &stress));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRatesLag(CycleRates *c, PetscReal t, Vec y)
{
  const PetscScalar *a;
  PetscScalar       *slip;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayWrite(c->slip, &slip));
  for (PetscInt k = 0; k < c->grid->own; k++) slip[k] = a[2 * k + 1] - c->law->Vp * t;
  PetscCall(VecRestoreArrayWrite(c->slip, &slip));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRatesFunction(TS ts, PetscReal t, Vec y, Vec rates, void *ctx)
{
  CycleRates *c = (CycleRates *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  if (c->holds && t == c->holdtime) {
    PetscCall(VecCopy(c->held, rates));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  c->time = t;
  c->calls++;
  PetscCall(PetscLogStagePush(c->stage[0]));
  PetscCall(CycleRatesLag(c, t, y));
  PetscCall(ElasticStress(c->elastic, c->slip, c->mms ? CycleMMSLoad(c->mms, t) : 0, c->stress));
  PetscCall(PetscLogStagePop());
  PetscCall(PetscLogStagePush(c->stage[1]));
  PetscCall(Slide(c, t, y, rates));
  PetscCall(PetscLogStagePop());
  PetscCall(VecCopy(rates, c->rates));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* TSADAPTBASIC accepts an error that is not a number, so a stage must not have such numbers */
PetscErrorCode CycleRatesDomain(const CycleRates *c, Vec y, PetscBool *accept)
{
  const PetscScalar *a;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(y, &n));
  PetscCall(VecGetArrayRead(y, &a));
  *accept = PETSC_TRUE;
  for (PetscInt k = 0; k < n; k += 2) {
    if (!(PetscAbsReal(PetscRealPart(a[k]) - c->law->f0) <= LARGEST) || PetscIsInfOrNanScalar(a[k + 1])) *accept = PETSC_FALSE;
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, accept, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)y)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time of a call, but for the rounding of PETSc's table of the method */
static PetscBool IsLast(const CycleRates *c, PetscReal t)
{
  return (PetscBool)(PetscAbsReal(t - c->time) <= 4 * PETSC_MACHINE_EPSILON * PetscAbsReal(t));
}

/* The next step begins with the rates of the last call, and so does each repetition of the step */
PetscErrorCode CycleRatesHold(CycleRates *c, TS ts, PetscReal t)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &c->holds));
  c->holdtime = t;
  PetscCall(VecCopy(c->rates, c->held));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last stage of a step of some methods is its end */
PetscErrorCode CycleRatesFields(CycleRates *c, TS ts, PetscReal t, Vec y)
{
  PetscBool rk, last = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompare((PetscObject)ts, TSRK, &rk));
  if (rk) PetscCall(TSRKGetTableau(ts, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &last));
  if (last && IsLast(c, t)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CycleRatesFunction(ts, t, y, c->held, c));
  PetscCall(CycleRatesHold(c, ts, t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleRatesErrors(CycleRates *c, Vec y)
{
  const PetscScalar *a;
  PetscReal          error[3] = {0, 0, 0}, t = c->time;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayRead(y, &a));
  for (PetscInt k = 0; k < c->grid->own; k++) {
    PetscReal exact[2], source;

    CycleMMSState(c->mms, &c->friction[k], c->tau0[k], c->grid->depth[k], t, exact, &source);
    for (int f = 0; f < 2; f++) error[f] = PetscMax(error[f], PetscAbsReal(PetscRealPart(a[2 * k + f]) - exact[f]));
  }
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, error, 2, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)y)));
  PetscCall(ElasticSolve(c->elastic, c->slip, CycleMMSLoad(c->mms, t)));
  PetscCall(CycleMMSError(c->mms, t, &error[2]));
  PetscCall(PetscPrintf(PetscObjectComm((PetscObject)y), "largest errors: slip %.4e m, state %.4e, displacement %.4e m\n", (double)error[1], (double)error[0],
                        (double)error[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
