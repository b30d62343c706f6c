/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Heat and waves on the grid of the manufactured problem. The matrix A of type sbpsat is scaled by H x H, and W = (H x
   H) J is diagonal. The equations are

     W u_t + A u = b(t)   or   W u_tt + A u = b(t).

   An implicit step solves with A + shift W. MatCopy() and MatDiagonalSet() make A + shift W from A, which stores only
   one more number per node.

   The solution is U(x, y) g(t), where U solves the steady problem with the right-hand side b0. Therefore b = g b0 + g'
   W U for heat, and b = g b0 + g'' W U for waves.
*/

#include "evolve.h"
#include <lithepc.h>

typedef struct {
  EvolveKind kind;
  DM         da;
  Mat        A;        /* as the steps use A */
  Vec        W, U, WU; /* WU = W U */
  Vec        b0, work;
} Evolution;

static const PetscReal EvolveEnd = 1, EvolveFrequency = 4;

/* g and its derivatives */
static PetscReal EvolveFactor(PetscReal t, int derivative)
{
  const PetscReal w = EvolveFrequency;

  if (derivative == 0) return 1 + PetscSinReal(w * t) / 2;
  return derivative == 1 ? w * PetscCosReal(w * t) / 2 : -w * w * PetscSinReal(w * t) / 2;
}

/* F += A u - b(t) */
static PetscErrorCode AddSteady(Evolution *e, PetscReal t, Vec u, Vec F)
{
  PetscFunctionBeginUser;
  PetscCall(MatMultAdd(e->A, u, F, F));
  PetscCall(VecAXPY(F, -EvolveFactor(t, 0), e->b0));
  PetscCall(VecAXPY(F, -EvolveFactor(t, e->kind == EVOLVE_WAVE ? 2 : 1), e->WU));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IFunction(TS ts, PetscReal t, Vec u, Vec udot, Vec F, void *ctx)
{
  Evolution *e = (Evolution *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  PetscCall(VecPointwiseMult(F, e->W, udot));
  PetscCall(AddSteady(e, t, u, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A + shift W */
static PetscErrorCode FormShifted(Evolution *e, PetscReal shift, Mat J, Mat P)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(e->W, e->work));
  PetscCall(VecScale(e->work, shift));
  PetscCall(MatCopy(e->A, P, SAME_NONZERO_PATTERN));
  PetscCall(MatDiagonalSet(P, e->work, ADD_VALUES));
  if (J != P) {
    PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IJacobian(TS ts, PetscReal t, Vec u, Vec udot, PetscReal shift, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  (void)u;
  (void)udot;
  PetscCall(FormShifted((Evolution *)ctx, shift, J, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode I2Function(TS ts, PetscReal t, Vec u, Vec v, Vec a, Vec F, void *ctx)
{
  Evolution *e = (Evolution *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  (void)v;
  PetscCall(VecPointwiseMult(F, e->W, a));
  PetscCall(AddSteady(e, t, u, F));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode I2Jacobian(TS ts, PetscReal t, Vec u, Vec v, Vec a, PetscReal shiftv, PetscReal shifta, Mat J, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  (void)u;
  (void)v;
  (void)a;
  (void)shiftv;
  PetscCall(FormShifted((Evolution *)ctx, shifta, J, P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* W^-1 (b - A u), whose Jacobian is constant */
static PetscErrorCode RHSFunction(TS ts, PetscReal t, Vec u, Vec r, void *ctx)
{
  Evolution *e = (Evolution *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  PetscCall(VecSet(r, 0.));
  PetscCall(AddSteady(e, t, u, r));
  PetscCall(VecPointwiseDivide(r, r, e->W));
  PetscCall(VecScale(r, -1.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The equation for a TS of each kind. The Jacobian is a separate matrix */
static PetscErrorCode SetEquation(TS ts, Evolution *e, Mat J)
{
  PetscFunctionBeginUser;
  switch (e->kind) {
  case EVOLVE_HEAT:
    PetscCall(TSSetIFunction(ts, NULL, IFunction, e));
    PetscCall(TSSetIJacobian(ts, J, J, IJacobian, e));
    break;
  case EVOLVE_HEAT_RHS:
    PetscCall(VecCopy(e->W, e->work));
    PetscCall(VecReciprocal(e->work));
    PetscCall(VecScale(e->work, -1.));
    PetscCall(MatDiagonalScale(J, e->work, NULL));
    PetscCall(TSSetRHSFunction(ts, NULL, RHSFunction, e));
    PetscCall(TSSetRHSJacobian(ts, J, J, TSComputeRHSJacobianConstant, NULL));
    break;
  case EVOLVE_WAVE:
    PetscCall(TSSetI2Function(ts, NULL, I2Function, e));
    PetscCall(TSSetI2Jacobian(ts, J, J, I2Jacobian, e));
    break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateEvolution(MPI_Comm comm, const EvolveOptions *opt, Evolution *e, Mat *L)
{
  const PetscInt n[2] = {opt->N, opt->N};
  Vec            one;

  PetscFunctionBeginUser;
  e->kind = opt->kind;
  PetscCall(ProblemCreateDM(comm, n, &e->da));
  PetscCall(DMCreateMatrix(e->da, L));
  PetscCall(MatSBPSATSetOrder(*L, opt->order));
  PetscCall(ProblemSetOperator(e->da, opt->exact, *L));
  PetscCall(MatAssemblyBegin(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*L, MAT_FINAL_ASSEMBLY));
  PetscCall(DMCreateGlobalVector(e->da, &e->W));
  PetscCall(VecDuplicate(e->W, &e->U));
  PetscCall(VecDuplicate(e->W, &e->WU));
  PetscCall(VecDuplicate(e->W, &e->b0));
  PetscCall(VecDuplicate(e->W, &e->work));
  PetscCall(VecDuplicate(e->W, &one));
  PetscCall(VecSet(one, 1.));
  PetscCall(MatSBPSATAddSource(*L, one, e->W)); /* (H x H) J */
  PetscCall(VecDestroy(&one));
  PetscCall(ProblemGetSolution(e->da, e->U));
  PetscCall(VecPointwiseMult(e->WU, e->W, e->U));
  if (opt->discrete) PetscCall(MatMult(*L, e->U, e->b0));
  else PetscCall(ProblemAddRightSide(e->da, *L, e->b0));
  if (opt->assembled) PetscCall(MatConvert(*L, MATAIJ, MAT_INITIAL_MATRIX, &e->A));
  else {
    PetscCall(PetscObjectReference((PetscObject)*L));
    e->A = *L;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DestroyEvolution(Evolution *e)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&e->W));
  PetscCall(VecDestroy(&e->U));
  PetscCall(VecDestroy(&e->WU));
  PetscCall(VecDestroy(&e->b0));
  PetscCall(VecDestroy(&e->work));
  PetscCall(MatDestroy(&e->A));
  PetscCall(DMDestroy(&e->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode EvolveSolve(MPI_Comm comm, const EvolveOptions *opt, EvolveResult *result)
{
  Evolution e;
  TSAdapt   adapt;
  SNES      snes;
  KSP       ksp;
  PC        pc;
  TS        ts;
  Mat       L, J;
  Vec       u, v = NULL;

  PetscFunctionBeginUser;
  PetscCall(CreateEvolution(comm, opt, &e, &L));
  PetscCall(MatDuplicate(e.A, MAT_COPY_VALUES, &J));
  PetscCall(TSCreate(comm, &ts));
  if (opt->type) PetscCall(TSSetType(ts, opt->type));
  else PetscCall(TSSetType(ts, opt->kind == EVOLVE_WAVE ? TSALPHA2 : TSBDF));
  PetscCall(SetEquation(ts, &e, J));
  PetscCall(TSSetMaxTime(ts, EvolveEnd));
  PetscCall(TSSetTimeStep(ts, EvolveEnd / (PetscReal)opt->steps));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSGetAdapt(ts, &adapt));
  PetscCall(TSAdaptSetType(adapt, TSADAPTNONE));

  /*
     The equations are linear. A step needs one solve, by conjugate gradients with multigrid if the Jacobian is
     symmetric. TSALPHA2 takes the velocity from the last residual. SNESKSPONLY does not compute this residual, but one
     Newton step does
  */
  PetscCall(TSGetSNES(ts, &snes));
  PetscCall(SNESSetType(snes, opt->kind == EVOLVE_WAVE ? SNESNEWTONLS : SNESKSPONLY));
  PetscCall(SNESGetKSP(snes, &ksp));
  PetscCall(KSPSetType(ksp, opt->kind == EVOLVE_HEAT_RHS ? KSPGMRES : KSPCG));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-10, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  if (!opt->assembled) PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(TSSetFromOptions(ts));

  PetscCall(VecDuplicate(e.U, &u));
  PetscCall(VecCopy(e.U, u));
  PetscCall(VecScale(u, EvolveFactor(0, 0)));
  if (opt->kind == EVOLVE_WAVE) {
    PetscCall(VecDuplicate(e.U, &v));
    PetscCall(VecCopy(e.U, v));
    PetscCall(VecScale(v, EvolveFactor(0, 1)));
    PetscCall(TS2SetSolution(ts, u, v));
    PetscCall(TSSolve(ts, NULL));
  } else PetscCall(TSSolve(ts, u));
  PetscCall(TSGetStepNumber(ts, &result->steps));
  PetscCall(TSGetKSPIterations(ts, &result->iterations));
  PetscCall(TSGetSolveTime(ts, &result->time));
  PetscCall(VecAXPY(u, -EvolveFactor(result->time, 0), e.U));
  PetscCall(MatSBPSATNorm(L, u, &result->error));

  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&v));
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&L));
  PetscCall(DestroyEvolution(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}
