/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Conjugate gradients with reliable updates. The method has its own residual r, which it updates, and a correction y of
   the solution. Once r has become small, or fulfils the test of convergence, y goes to the solution, and the true
   residual b - A x becomes r. The direction p stays, so that little of the convergence is lost. Only a true residual
   decides about convergence.

   Reference:
   G. L. G. Sleijpen, H. A. van der Vorst: Reliable updated residuals in hybrid Bi-CG methods, Computing 56 (1996)
*/

#include "mpcgimpl.h"

#define MPCG_DELTA_DOUBLE 1e-6 /* instead of the option's: a product is saved */
#define MPCG_PART         0.5  /* an update has found no progress if more than this part of the residual of the last update is left, */
#define MPCG_FACTOR       5    /* and more than this factor times the residual of the method */
#define MPCG_GAP          2    /* if the true residual is larger by this factor, updates come sooner, */
#define MPCG_SOONER       10   /* at a part larger by this factor, */
#define MPCG_SOONEST      0.1
#define MPCG_WAIT         200 /* iterations in single precision without an update, after which one is due that must find progress */
#define MPCG_LOST         2   /* updates without progress that double precision has, before the solve ends */

/* The norm of the residual, also if squares of its entries are out of range */
static PetscErrorCode Norm_Private(KSP ksp, PetscReal *norm)
{
  Vec       r = ksp->work[0];
  PetscReal most, scale;

  PetscFunctionBegin;
  PetscCall(VecNorm(r, NORM_2, norm));
  if (*norm > PetscSqrtReal(1 / PETSC_MAX_REAL) / PETSC_MACHINE_EPSILON && !PetscIsInfOrNanReal(*norm)) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsNanReal(*norm)) PetscFunctionReturn(PETSC_SUCCESS); /* MPI_MAX of such a number may differ between processes */
  PetscCall(VecNorm(r, NORM_INFINITY, &most));
  if (!(most > 0) || PetscIsInfOrNanReal(most)) PetscFunctionReturn(PETSC_SUCCESS);
  scale = (PetscReal)LitheMGScaleOf((double)most);
  PetscCall(VecScale(r, scale));
  PetscCall(PetscObjectStateIncrease((PetscObject)r)); /* or VecNorm() would scale its last result */
  PetscCall(VecNorm(r, NORM_2, norm));
  PetscCall(VecScale(r, 1 / scale));
  *norm /= scale;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The true residual, in the first work vector */
static PetscErrorCode Residual_Private(KSP ksp, PetscBool zero)
{
  Vec r = ksp->work[0];
  Mat A;

  PetscFunctionBegin;
  if (zero) PetscCall(VecCopy(ksp->vec_rhs, r));
  else {
    PetscCall(PCGetOperators(ksp->pc, &A, NULL));
    PetscCall(KSP_MatMult(ksp, A, ksp->vec_sol, r));
    PetscCall(VecAYPX(r, -1.0, ksp->vec_rhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The method begins, or goes on, with the true residual */
static PetscErrorCode Begin_Private(KSP ksp, PetscBool first, PetscReal norm, MPCGScalars *seen)
{
  MPCGState *st = &((KSP_MPCG *)ksp->data)->state;

  PetscFunctionBegin;
  if (first) st->factor = LitheMGScaleOf((double)norm);
  PetscCall((*(st->single ? MPCGSingleBegin_Private : MPCGDoubleBegin_Private))(ksp, st->factor, first, seen));
  st->start = st->most = sqrt(seen->rr);
  st->ratio            = st->start > 0 ? (double)norm / st->start : 1 / st->factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The correction goes to the solution */
PetscErrorCode MPCGLeave_Private(KSP ksp)
{
  MPCGState   *st = &((KSP_MPCG *)ksp->data)->state;
  MatNullSpace space;
  Mat          A;

  PetscFunctionBegin;
  if (!st->pending) PetscFunctionReturn(PETSC_SUCCESS);
  st->pending = PETSC_FALSE;
  PetscCall((*(st->single ? MPCGSingleLeave_Private : MPCGDoubleLeave_Private))(ksp, st->factor));
  /* a preconditioner in single precision leaves it in */
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(MatGetNullSpace(A, &space));
  if (space && st->single) PetscCall(MatNullSpaceRemove(space, ksp->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Report_Private(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  if (ksp->normtype == KSP_NORM_NONE) norm = 0;
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->rnorm = norm;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscCall(KSPLogResidualHistory(ksp, norm));
  PetscCall(KSPMonitor(ksp, ksp->its, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Test_Private(KSP ksp, PetscReal norm)
{
  PetscFunctionBegin;
  PetscCall((*ksp->converged)(ksp, ksp->its, ksp->normtype == KSP_NORM_NONE ? 0 : norm, &ksp->reason, ksp->cnvP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the residual of the work vector, in double precision */
static PetscErrorCode Raise_Private(KSP ksp, const char why[], PetscReal norm, MPCGScalars *seen)
{
  MPCGState *st = &((KSP_MPCG *)ksp->data)->state;

  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "Iteration %" PetscInt_FMT ": vectors get double precision: %s\n", ksp->its, why));
  st->single = PETSC_FALSE;
  st->raised = PETSC_TRUE;
  PetscCall(Begin_Private(ksp, PETSC_TRUE, norm, seen));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sum that ends the method. In single precision rounding may be the cause: double precision decides */
static PetscErrorCode Stopped_Private(KSP ksp, MPCGScalars *seen)
{
  KSP_MPCG *cg = (KSP_MPCG *)ksp->data;
  PetscReal norm;

  PetscFunctionBegin;
  if (seen->stop == MPCG_NOT_A_NUMBER) cg->state.pending = PETSC_FALSE; /* the correction may have such a number */
  PetscCall(MPCGLeave_Private(ksp));
  if (cg->state.single && cg->opt.storage == MPCG_STORAGE_AUTO) {
    PetscCall(Residual_Private(ksp, PETSC_FALSE));
    PetscCall(Norm_Private(ksp, &norm));
    PetscCall(Raise_Private(ksp, seen->stop == MPCG_NOT_A_NUMBER ? "a sum is infinite or not a number" : "the method broke down", norm, seen));
    ksp->its--;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (seen->stop == MPCG_NOT_A_NUMBER) {
    KSPCheckDot(ksp, (PetscScalar)(PetscReal)seen->rz);
    KSPCheckDot(ksp, (PetscScalar)(PetscReal)seen->pq);
    KSPCheckNorm(ksp, (PetscReal)seen->rr);
  }
  if (seen->stop == MPCG_ZERO) {
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "Converged, since (r, M r) = 0\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  ksp->reason = seen->stop == MPCG_PC ? KSP_DIVERGED_INDEFINITE_PC : KSP_DIVERGED_INDEFINITE_MAT;
  if (seen->stop == MPCG_MAT && ksp->converged_neg_curve) ksp->reason = KSP_CONVERGED_NEG_CURVE;
  PetscCheck(ksp->reason > 0 || !ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED,
             "The %s is indefinite: (r, M r) = %g after %g, (p, A p) = %g after %g", seen->stop == MPCG_PC ? "preconditioner" : "matrix", seen->rz, seen->rzold,
             seen->pq, seen->pqold);
  PetscCall(PetscInfo(ksp, "The %s is indefinite\n", seen->stop == MPCG_PC ? "preconditioner" : "matrix"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscBool IsLate(KSP ksp)
{
  const MPCGState *st = &((const KSP_MPCG *)ksp->data)->state;

  return (PetscBool)(st->single && ksp->its - st->last >= MPCG_WAIT);
}

/* A reliable update. own: the norm of the residual in the method; found: the true norm */
static PetscErrorCode Update_Private(KSP ksp, double own, PetscReal *found, MPCGScalars *seen)
{
  MPCGState   *st    = &((KSP_MPCG *)ksp->data)->state;
  const double start = st->start;
  PetscBool    late  = IsLate(ksp);

  PetscFunctionBegin;
  PetscCall(MPCGLeave_Private(ksp));
  PetscCall(Residual_Private(ksp, PETSC_FALSE));
  PetscCall(Norm_Private(ksp, found));
  KSPCheckNorm(ksp, *found);
  PetscCall(Begin_Private(ksp, PETSC_FALSE, *found, seen));
  st->updates++;
  st->last = ksp->its;
  if (st->start > MPCG_GAP * own) st->delta = PetscMax(st->delta, PetscMin(MPCG_SOONER * st->delta, MPCG_SOONEST));
  st->lost = st->start > MPCG_PART * start && (late || st->start > MPCG_FACTOR * own) ? st->lost + 1 : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After an update that has found no progress */
static PetscErrorCode Lost_Private(KSP ksp, PetscReal norm, MPCGScalars *seen)
{
  KSP_MPCG *cg = (KSP_MPCG *)ksp->data;

  PetscFunctionBegin;
  if (cg->state.single && cg->opt.storage == MPCG_STORAGE_AUTO) {
    PetscCall(Residual_Private(ksp, PETSC_FALSE)); /* again: a monitor may have asked for a solution */
    PetscCall(Raise_Private(ksp, "the true residual has not followed", norm, seen));
    cg->state.lost = 0;
  } else if (cg->state.lost >= MPCG_LOST && ksp->converged != KSPConvergedSkip) {
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
    PetscCall(PetscInfo(ksp, "The true residual %g does not become smaller\n", (double)norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One iteration, with an update if one is due */
static PetscErrorCode Iterate_Private(KSP ksp, MPCGScalars *seen)
{
  KSP_MPCG    *cg    = (KSP_MPCG *)ksp->data;
  MPCGState   *st    = &cg->state;
  const double delta = st->single ? st->delta : MPCG_DELTA_DOUBLE;
  double       own;
  PetscReal    norm;
  PetscBool    due;

  PetscFunctionBegin;
  ksp->its++;
  PetscCall((*(st->single ? MPCGSingleIterate_Private : MPCGDoubleIterate_Private))(ksp, seen));
  if (seen->stop) {
    PetscCall(Stopped_Private(ksp, seen));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  st->pending = PETSC_TRUE;
  PetscCall(MPCGSpectrumAdd_Private(ksp, seen->alpha, seen->beta));
  own      = sqrt(seen->rr);
  st->most = PetscMax(st->most, own);
  norm     = (PetscReal)(own * st->ratio);
  due      = (PetscBool)(own <= delta * st->most || IsLate(ksp) || (ksp->its >= ksp->max_it && ksp->normtype != KSP_NORM_NONE));
  if (!due) PetscCall(Test_Private(ksp, norm));
  if (ksp->reason && ksp->normtype != KSP_NORM_NONE) due = PETSC_TRUE; /* the true residual decides */
  if (due) {
    ksp->reason = KSP_CONVERGED_ITERATING;
    PetscCall(Update_Private(ksp, own, &norm, seen));
    if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(Report_Private(ksp, norm));
    PetscCall(Test_Private(ksp, norm));
    if (!ksp->reason && st->lost && ksp->its < ksp->max_it) PetscCall(Lost_Private(ksp, norm, seen));
  } else PetscCall(Report_Private(ksp, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGStateReset_Private(MPCGState *st)
{
  PetscFunctionBegin;
  *st = (MPCGState){.updates = 0};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPSolve_MPCG(KSP ksp)
{
  KSP_MPCG   *cg = (KSP_MPCG *)ksp->data;
  PetscReal   norm;
  MPCGScalars seen;

  PetscFunctionBegin;
  cg->state.updates = cg->state.lost = cg->state.last = 0;
  cg->state.single = cg->state.pending = PETSC_FALSE;
  cg->state.delta                      = (double)cg->opt.delta;
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->its = 0;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscCall(MPCGSpectrumBegin_Private(ksp));
  PetscCall(Residual_Private(ksp, ksp->guess_zero));
  PetscCall(VecFlag(ksp->work[0], ksp->reason == KSP_DIVERGED_PC_FAILED)); /* perhaps on some processes only: the norm tells all */
  PetscCall(Norm_Private(ksp, &norm));
  KSPCheckNorm(ksp, norm);
  PetscCall(Report_Private(ksp, norm));
  PetscCall(Test_Private(ksp, norm));
  if (!ksp->reason && norm == 0) ksp->reason = KSP_CONVERGED_ATOL; /* also without a norm to test */
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  if (cg->opt.storage != MPCG_STORAGE_DOUBLE && !(cg->state.raised && cg->opt.storage == MPCG_STORAGE_AUTO))
    PetscCall(MPCGSingleIsOffered_Private(ksp, &cg->state.single));
  if (!cg->state.single)
    PetscCall(PetscInfo(ksp, "Vectors are in double precision: %s\n",
                        cg->state.raised ? "an earlier solve needed it" : "the preconditioner offers no other one for this solve"));
  PetscCheck(cg->state.single || cg->opt.storage != MPCG_STORAGE_SINGLE, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "PC type %s offers no single precision for this solve. Use -ksp_mpcg_storage auto", ((PetscObject)ksp->pc)->type_name);
  PetscCall(Begin_Private(ksp, PETSC_TRUE, norm, &seen));
  while (!ksp->reason && ksp->its < ksp->max_it) PetscCall(Iterate_Private(ksp, &seen));
  PetscCall(MPCGLeave_Private(ksp));
  if (!ksp->reason) ksp->reason = KSP_DIVERGED_ITS;
  PetscFunctionReturn(PETSC_SUCCESS);
}
