/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   One cycle of KSPCBGMRES: Arnoldi's method with a compressed basis, from a residual to a correction.

   The host launches steps without waiting. Every -ksp_cbgmres_check_every steps, the host reads the scalars of all
   launched steps, and finishes these steps. A step may need another pass of Gram-Schmidt, or end the cycle. Later steps
   are then void, and are launched again, or not at all.
*/

#include "cbgmresimpl.h"

#define CB_PASSES 3 /* of Gram-Schmidt at most: two suffice if a new direction exists */

/*
   Whether the next column may be written to CB_COLUMN multiplied by a diagonal preconditioner: only if the operator
   alone reads the column
*/
static void CBGMRESScale_Private(KSP_CBGMRES *gm, PetscBool may)
{
  gm->bases.V->scale = may ? gm->bases.jacobi : NULL;
  gm->cycle.scaled   = (PetscBool)(gm->bases.V->scale != NULL);
}

/* CB_IMAGE = the operator times column j. again: with the preconditioner's earlier result */
static PetscErrorCode CBGMRESApply_Private(KSP ksp, PetscInt j, PetscInt its, PetscBool again)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscBool    none;
  Mat          A;

  PetscFunctionBegin;
  gm->cycle.imagelost = PETSC_FALSE;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (!gm->flexible) {
    /* PCNONE copies the vector, which is as much traffic as two columns */
    PetscCall(PetscObjectTypeCompare((PetscObject)ksp->pc, PCNONE, &none));
    if (none || gm->cycle.scaled) {
      PetscCall(KSP_MatMult(ksp, A, CB_COLUMN(ksp), CB_IMAGE(ksp)));
      if (ksp->transpose_solve) PetscCall(KSP_RemoveNullSpaceTranspose(ksp, CB_IMAGE(ksp)));
      else PetscCall(KSP_RemoveNullSpace(ksp, CB_IMAGE(ksp)));
    } else PetscCall(KSP_PCApplyBAorAB(ksp, CB_COLUMN(ksp), CB_IMAGE(ksp), CB_WORK(ksp)));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (again) {
    PetscCall((*gm->bases.Z->ops->load)(gm->bases.Z, j, CB_WORK(ksp)));
    PetscCall(KSP_MatMult(ksp, A, CB_WORK(ksp), CB_IMAGE(ksp)));
  } else {
    PetscCall((*gm->modify.pc)(ksp, its, j, ksp->rnorm, gm->modify.ctx));
    PetscCall(KSP_PCApply(ksp, CB_COLUMN(ksp), CB_WORK(ksp)));
    PetscCall(CBGMRESStorePreconditioned_Private(ksp, j));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A pass of Gram-Schmidt up to its coefficients, which are not yet applied */
static PetscErrorCode CBGMRESPass_Private(KSP ksp, PetscInt j, PetscInt pass)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      V  = gm->bases.V;
  Vec          w  = CB_IMAGE(ksp);

  PetscFunctionBegin;
  if (pass) PetscCall((*V->ops->subtract)(V, j + 1, w));
  PetscCall((*V->ops->dot)(V, j + 1, (PetscBool)!pass, w));
  PetscCall((*V->ops->coefficients)(V, j + 1, pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Modified Gram-Schmidt goes from column to column; two passes give the same orthogonality */
static PetscBool CBGMRESTwoPasses_Private(KSP ksp)
{
  const LitheOrthogonalization *o = &((KSP_CBGMRES *)ksp->data)->progress.orthogonalization;

  return (PetscBool)(o->modified || o->refine == KSP_ORTHOGONALIZATION_CGS_REFINE_ALWAYS);
}

/*
   Column j+1, also in CB_COLUMN. The operator is not applied to the last column of a full cycle, which waits for
   CBGMRESComplete_Private()
*/
static PetscErrorCode CBGMRESAppend_Private(KSP ksp, PetscInt j)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  if (j + 1 >= gm->cycle.limit) PetscFunctionReturn(PETSC_SUCCESS);
  CBGMRESScale_Private(gm, (PetscBool)!gm->leftover.nleft);
  PetscCall((*gm->bases.V->ops->append)(gm->bases.V, j + 1, CB_IMAGE(ksp), CB_COLUMN(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From column j in CB_COLUMN to column j+1 in CB_COLUMN */
static PetscErrorCode CBGMRESLaunch_Private(KSP ksp, PetscInt j, PetscInt its)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  CBGMRESDirectionNext_Private(gm, j);
  PetscCall(CBGMRESDirectionApply_Private(ksp, j));
  PetscCall(CBGMRESApply_Private(ksp, j, its, PETSC_FALSE));
  PetscCall(PetscLogEventBegin(KSP_Orthogonalization, ksp, 0, 0, 0));
  PetscCall(CBGMRESPass_Private(ksp, j, 0));
  if (CBGMRESTwoPasses_Private(ksp)) PetscCall(CBGMRESPass_Private(ksp, j, 1));
  PetscCall(CBGMRESAppend_Private(ksp, j));
  PetscCall(PetscLogEventEnd(KSP_Orthogonalization, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* w has become too short: the coefficients of this pass cannot be the last ones */
static PetscBool CBGMRESNeedsPass_Private(KSP ksp, PetscInt j, const CBStep *step)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  /* rounding of w leaves eps ||w||. Below eps^(1/3) ||w|| this rounding is a large part of the remainder, and the
     norm from the Pythagorean identity is inaccurate */
  PetscReal least = gm->progress.orthogonalization.refine == KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED
                      ? 0.5
                      : PetscPowReal(PETSC_MACHINE_EPSILON, (PetscReal)(2.0 / 3.0));

  if (step->passes >= CB_PASSES) return PETSC_FALSE;
  if (step->passes > 1) return (PetscBool)(step->after < 0.5 * step->before);
  /* The norm is also inaccurate if columns have a second part, which inner products leave out */
  if (CBBasisSeconds(gm->bases.V, j + 1, -1).count) least = PetscMax(least, 100 * CBGMRESStorageUnit_Private(&gm->bases.storage));
  return (PetscBool)(CBGMRESTwoPasses_Private(ksp) || step->after < least * step->image);
}

/* Recomputes the overwritten CB_IMAGE: the operator and this number of passes applied to column j */
static PetscErrorCode CBGMRESRecomputeImage_Private(KSP ksp, PetscInt j, PetscInt its, PetscInt passes)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  CBBasis      V  = gm->bases.V;

  PetscFunctionBegin;
  PetscCall((*V->ops->load)(V, j, CB_COLUMN(ksp)));
  gm->cycle.scaled = PETSC_FALSE;
  PetscCall(CBGMRESDirectionApply_Private(ksp, j));
  PetscCall(CBGMRESApply_Private(ksp, j, its, PETSC_TRUE));
  for (PetscInt pass = 0; pass < passes; pass++) PetscCall(CBGMRESPass_Private(ksp, j, pass));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* More passes for column j, and column j+1 again. launched becomes j+1: later steps are void */
static PetscErrorCode CBGMRESRepair_Private(KSP ksp, PetscInt j, PetscInt its, PetscInt *launched)
{
  KSP_CBGMRES *gm   = (KSP_CBGMRES *)ksp->data;
  CBBasis      V    = gm->bases.V;
  CBStep      *step = V->host.step + j;

  PetscFunctionBegin;
  if (!CBGMRESNeedsPass_Private(ksp, j, step)) PetscFunctionReturn(PETSC_SUCCESS);
  if (j < *launched - 1 || gm->cycle.imagelost) {
    PetscCall(CBGMRESRecomputeImage_Private(ksp, j, its, 1));
    PetscCall((*V->ops->fetch)(V, j, j + 1));
  }
  *launched = j + 1;
  PetscCall(PetscLogEventBegin(KSP_Orthogonalization, ksp, 0, 0, 0));
  while (CBGMRESNeedsPass_Private(ksp, j, step)) {
    PetscCall(CBGMRESPass_Private(ksp, j, step->passes));
    PetscCall((*V->ops->fetch)(V, j, j + 1));
  }
  PetscCall(CBGMRESAppend_Private(ksp, j));
  PetscCall(PetscLogEventEnd(KSP_Orthogonalization, ksp, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether a new direction exists. If not, the entry below the diagonal is zero */
static PetscBool CBGMRESEndOfSpace_Private(KSP_CBGMRES *gm, PetscInt j)
{
  CBScalars      *s     = &gm->bases.V->host;
  const CBStep   *step  = s->step + j;
  PetscScalar    *below = s->hessenberg + (size_t)j * (size_t)s->ld + (size_t)j + 1;
  const PetscReal sigma = PetscRealPart(*below), residual = CBGMRESLeastResidual_Private(gm);

  /* the rounding of a w in the space; and the bound of KSPGMRES */
  if (step->after > 100.0 * (PetscReal)(j + 1) * PetscSqr(PETSC_MACHINE_EPSILON) * step->image && sigma >= PetscMin(gm->opt.haptol, sigma / residual))
    return PETSC_FALSE;
  *below = 0.0;
  return PETSC_TRUE;
}

/* Column j becomes final, and thereby the norm of the residual. ended: the space has no more directions */
static PetscErrorCode CBGMRESFinish_Private(KSP ksp, PetscInt j, PetscInt its, PetscInt *launched, PetscReal *residual, PetscBool *ended)
{
  KSP_CBGMRES *gm   = (KSP_CBGMRES *)ksp->data;
  CBStep      *step = gm->bases.V->host.step + j;
  PetscReal    sum, before = CBGMRESLeastResidual_Private(gm);

  PetscFunctionBegin;
  sum = step->image + step->norm + PetscAbsReal(step->after);
  KSPCheckNorm(ksp, sum);
  PetscCall(CBGMRESRepair_Private(ksp, j, its, launched));
  sum = PetscAbsReal(step->after);
  KSPCheckNorm(ksp, sum);
  gm->cycle.passes += step->passes - 1;
  gm->cycle.skew = PetscMax(gm->cycle.skew, PetscSqrtReal(step->skew));

  *ended    = CBGMRESEndOfSpace_Private(gm, j);
  *residual = CBGMRESLeastColumn_Private(gm, j);
  if (*ended && PetscAbsScalar(gm->least.R[(size_t)j * (size_t)gm->bases.V->host.ld + (size_t)gm->least.pivot[j]]) <=
                  10.0 * (PetscReal)(j + 1) * PETSC_MACHINE_EPSILON * PetscSqrtReal(step->image)) {
    /* the operator maps a direction of this space to zero: the last column is useless */
    gm->cycle.exhausted = PETSC_TRUE;
    *residual           = before;
    CBGMRESLeastDrop_Private(gm);
  }
  if (*ended)
    PetscCall(PetscInfo(ksp, "No new direction after %" PetscInt_FMT " columns: %s\n", j + 1,
                        gm->cycle.exhausted ? "the operator is singular in this space" : "the solution is in this space"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether rounding of the stored columns limits the residual. The residual of the recurrence may continue to fall while
   the true residual stagnates. Or the solution, and thereby the rounding, may become large. The expected residual is
   the sum of both. The number of columns with the smallest expected residual is kept. A recurrence below the rounding
   level gains nothing more, except for spectra, or for a prescribed number of iterations.
*/
static PetscBool CBGMRESIsStorageLimited_Private(KSP ksp, PetscReal residual)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscReal    gap, expected;

  CBGMRESLeastSolve_Private(gm, gm->least.columns);
  gap      = CBGMRESLeastGap_Private(gm, gm->least.columns);
  expected = PetscSqrtReal(residual * residual + gap * gap);
  if (expected <= gm->cycle.expected) {
    gm->cycle.expected = expected;
    gm->cycle.best     = gm->least.columns;
    gm->cycle.gap      = gap;
  }
  if (ksp->calc_sings || ksp->calc_ritz || ksp->normtype == KSP_NORM_NONE) return PETSC_FALSE;
  return (PetscBool)(residual < gap || expected > 10.0 * gm->cycle.expected);
}

/*
   At the end of a cycle: whether an unused column exists behind the used ones. A full cycle completes this column only
   if rounding is visible in the residual, which is then used once more
*/
static PetscErrorCode CBGMRESComplete_Private(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  gm->cycle.complete = (PetscBool)(gm->least.columns < gm->cycle.limit);
  if (gm->cycle.complete || !gm->cycle.best || ksp->its >= ksp->max_it || gm->cycle.gap < 0.5 * CB_REFINE * gm->cycle.expected)
    PetscFunctionReturn(PETSC_SUCCESS);
  /* a monitor may have requested the solution, which changes no later bit */
  if (gm->cycle.imagelost)
    PetscCall(CBGMRESRecomputeImage_Private(ksp, gm->least.columns - 1, ksp->its - 1, gm->bases.V->host.step[gm->least.columns - 1].passes));
  CBGMRESScale_Private(gm, PETSC_FALSE);
  PetscCall((*gm->bases.V->ops->append)(gm->bases.V, gm->least.columns, CB_IMAGE(ksp), CB_COLUMN(ksp)));
  gm->cycle.complete = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether convergence by the recurrence is premature: the expected residual, with rounding, has not converged. The
   difference is small: another column is cheaper than the true residual. The same holds if the last cycle had converged
   by the recurrence but not by its true residual. Rounding is then about as large as the residual, which must be
   halved.
*/
static PetscErrorCode CBGMRESIsPremature_Private(KSP ksp, PetscReal residual, PetscBool *premature)
{
  KSP_CBGMRES       *gm     = (KSP_CBGMRES *)ksp->data;
  KSPConvergedReason reason = KSP_CONVERGED_ITERATING;

  PetscFunctionBegin;
  *premature = PETSC_FALSE;
  if (ksp->reason <= 0 || ksp->reason == KSP_CONVERGED_ITS) PetscFunctionReturn(PETSC_SUCCESS);
  *premature = (PetscBool)(gm->progress.recurrencereason && residual > 0.5 * gm->cycle.start);
  /* a test of the user may count its calls */
  if (*premature || ksp->converged != KSPConvergedDefault || ksp->calc_sings || ksp->calc_ritz || gm->cycle.best != gm->least.columns ||
      gm->cycle.gap > residual || gm->cycle.gap < 0.01 * residual)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*ksp->converged)(ksp, ksp->its, gm->cycle.expected, &reason, ksp->cnvP));
  *premature = (PetscBool)!reason;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest number of columns of the least squares problem, with this many iterations left */
static PetscInt CBGMRESLimit_Private(KSP ksp, PetscInt columns)
{
  KSP_CBGMRES   *gm   = (KSP_CBGMRES *)ksp->data;
  const PetscInt most = PetscMin(gm->opt.restart, gm->bases.V->columns - 1), its = ksp->max_it - ksp->its; /* may be the largest PetscInt */

  return its < most - columns ? columns + its : most;
}

/* Whether the last cycle can continue: if it ended early with good columns */
PetscBool CBGMRESCanContinue_Private(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  if (!gm->least.columns || !gm->cycle.best || !gm->cycle.complete || gm->cycle.ended || gm->leftover.nleft == CB_LEFT || ksp->calc_sings || ksp->calc_ritz ||
      ksp->normtype == KSP_NORM_NONE)
    return PETSC_FALSE;
  return (PetscBool)(gm->least.columns + 1 < CBGMRESLimit_Private(ksp, gm->least.columns + 1));
}

/*
   The cycle continues with its residual, in CB_IMAGE. The part of the residual outside of all columns becomes the next
   column. In the coefficients, the residual replaces the image of the previous column. done: PETSC_FALSE if no part is
   left.
*/
static PetscErrorCode CBGMRESContinue_Private(KSP ksp, PetscBool *done)
{
  KSP_CBGMRES   *gm   = (KSP_CBGMRES *)ksp->data;
  CBBasis        V    = gm->bases.V;
  const PetscInt k    = gm->least.columns;
  const CBStep  *step = V->host.step + k;
  PetscInt       next = k + 1;
  PetscReal      sum;

  PetscFunctionBegin;
  *done               = PETSC_FALSE;
  gm->cycle.imagelost = PETSC_FALSE;
  PetscCall(CBGMRESPass_Private(ksp, k, 0));
  CBGMRESScale_Private(gm, PETSC_FALSE);
  PetscCall((*V->ops->append)(V, k + 1, CB_IMAGE(ksp), CB_COLUMN(ksp)));
  PetscCall((*V->ops->fetch)(V, k, k + 1));
  PetscCall(CBGMRESRepair_Private(ksp, k, ksp->its, &next));
  sum = step->image + step->norm + PetscAbsReal(step->after);
  KSPCheckNorm(ksp, sum);
  if (CBGMRESEndOfSpace_Private(gm, k)) {
    PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, CB_COLUMN(ksp), CB_WORK(ksp), CB_IMAGE(ksp), ksp->vec_rhs));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (gm->cycle.scaled) {
    /* another pass has made column k+1 again */
    PetscCall((*V->ops->load)(V, k + 1, CB_COLUMN(ksp)));
    gm->cycle.scaled = PETSC_FALSE;
  }
  CBGMRESLeastInsert_Private(gm, k);
  CBGMRESDirectionInsert_Private(gm, k);
  if (gm->flexible) PetscCall((*gm->bases.Z->ops->store)(gm->bases.Z, k, 0.0, CB_COLUMN(ksp), NULL));
  *done = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether rounding of the first columns may be visible in the residual before the residual is small enough. True in the
   first cycle, whose progress is unknown; later, if the last cycle came close enough
*/
static PetscBool CBGMRESWantsPairs_Private(KSP ksp)
{
  KSP_CBGMRES    *gm   = (KSP_CBGMRES *)ksp->data;
  const PetscReal unit = CBGMRESStorageUnit_Private(&gm->bases.storage);
  /* with an initial guess PETSc's own test is relative to the right-hand side */
  const PetscReal tolerance = ksp->converged == KSPConvergedDefault ? ksp->ttol : PetscMax(ksp->rtol * gm->progress.initial, ksp->abstol);

  return (PetscBool)(gm->progress.gain < 10.0 * unit && tolerance < 10.0 * unit * gm->cycle.start);
}

/* Before a solve */
void CBGMRESCycleReset_Private(KSP_CBGMRES *gm)
{
  gm->cycle = (CBCycle){0};
}

PetscErrorCode CBGMRESCycle_Private(KSP ksp, PetscReal *norm)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscInt     before, launched, done, every = gm->opt.every;
  PetscBool    ended = PETSC_FALSE, storagelimited = PETSC_FALSE, continued = PETSC_FALSE, premature;
  PetscReal    residual = *norm;

  PetscFunctionBegin;
  gm->cycle.start = *norm;
  gm->cycle.limit = gm->bases.V->columns;
  if (CBGMRESCanContinue_Private(ksp)) PetscCall(CBGMRESContinue_Private(ksp, &continued));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  gm->cycle.exhausted = PETSC_FALSE;
  gm->cycle.expected  = gm->cycle.start;
  gm->cycle.best      = 0;
  if (!continued) {
    PetscCall(CBGMRESMeasureUnits_Private(ksp));
    CBGMRESLeastBegin_Private(gm, gm->cycle.start);
    CBGMRESDirectionBegin_Private(gm);
    gm->bases.V->paired = CBGMRESPairs_Private(ksp) && CBGMRESWantsPairs_Private(ksp) ? gm->bases.V->pairs : 0;
    CBGMRESScale_Private(gm, PETSC_TRUE);
    PetscCall((*gm->bases.V->ops->store)(gm->bases.V, 0, 1.0 / gm->cycle.start, CB_IMAGE(ksp), CB_COLUMN(ksp)));
  }
  gm->cycle.limit = CBGMRESLimit_Private(ksp, gm->least.columns);
  launched = done = gm->least.columns;
  before          = ksp->its - done;
  if (ksp->normtype == KSP_NORM_NONE) every = gm->cycle.limit;
  if (gm->progress.orthogonalization.refine == KSP_ORTHOGONALIZATION_CGS_REFINE_IFNEEDED || continued) every = 1;
  while (!ksp->reason && !ended && !storagelimited && done < gm->cycle.limit) {
    if (launched < gm->cycle.limit && launched - done < every) {
      PetscCall(CBGMRESLaunch_Private(ksp, launched, before + launched));
      launched++;
      continue;
    }
    PetscCall((*gm->bases.V->ops->fetch)(gm->bases.V, done, launched));
    while (!ksp->reason && !ended && !storagelimited && done < launched) {
      PetscCall(CBGMRESFinish_Private(ksp, done, before + done, &launched, &residual, &ended));
      if (ksp->reason) break;
      done++;
      gm->cycle.building = gm->least.columns;
      ksp->its++;
      ksp->rnorm     = residual;
      storagelimited = CBGMRESIsStorageLimited_Private(ksp, residual);
      PetscCall((*ksp->converged)(ksp, ksp->its, residual, &ksp->reason, ksp->cnvP));
      if (!ended && !storagelimited && done < gm->cycle.limit) {
        PetscCall(CBGMRESIsPremature_Private(ksp, residual, &premature));
        if (premature) ksp->reason = KSP_CONVERGED_ITERATING;
      }
      /* With rounded columns, the next cycle must remove the remaining rounding */
      if (ended && ksp->normtype == KSP_NORM_NONE && gm->bases.storage.kind == LITHE_STORAGE_FULL && !gm->cycle.exhausted && !ksp->reason)
        ksp->reason = KSP_CONVERGED_HAPPY_BREAKDOWN;
      if (ksp->reason || ended || storagelimited || done == gm->cycle.limit) continue;
      PetscCall(KSPLogResidualHistory(ksp, residual));
      PetscCall(KSPLogErrorHistory(ksp));
      PetscCall(KSPMonitor(ksp, ksp->its, residual));
    }
  }
  if (storagelimited)
    PetscCall(
      PetscInfo(ksp, "Residual of the recurrence %g: as the basis is stored, %g is expected with %" PetscInt_FMT " of %" PetscInt_FMT " columns, and no less\n",
                (double)residual, (double)gm->cycle.expected, gm->cycle.best, gm->least.columns));

  PetscCall(CBGMRESComplete_Private(ksp));
  PetscCall(CBGMRESAddCorrection_Private(ksp, gm->cycle.best, 1.0, ksp->vec_sol));
  gm->cycle.building = 0;
  gm->cycle.ended    = ended;
  *norm              = residual;
  if (continued) gm->cycle.continued++;
  else gm->cycle.cycles++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBuildSolution_CBGMRES(KSP ksp, Vec x, Vec *result)
{
  KSP_CBGMRES   *gm = (KSP_CBGMRES *)ksp->data;
  const PetscInt k  = PetscMin(gm->cycle.building, gm->least.columns);

  PetscFunctionBegin;
  if (!x) {
    if (!gm->built) PetscCall(VecDuplicate(ksp->vec_sol, &gm->built));
    x = gm->built;
  }
  PetscCall(VecCopy(ksp->vec_sol, x));
  PetscCall(CBGMRESAddCorrection_Private(ksp, k, 1.0, x));
  if (k) gm->cycle.imagelost = PETSC_TRUE;
  if (result) *result = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}
