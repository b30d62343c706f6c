/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   KSPCBGMRES and KSPCBFGMRES: restarted GMRES, and its flexible variant, with compressed basis vectors.

   References:
     Y. Saad, M. H. Schultz: GMRES: A Generalized Minimal Residual Algorithm for Solving Nonsymmetric Linear
       Systems. 1986.
     J. I. Aliaga, H. Anzt, Th. Gruetzmacher, E. S. Quintana-Orti, A. E. Tomas: Compressed Basis GMRES on
       High-Performance Graphics Processing Units. 2022.
     D. Bielich, J. Langou, S. Thomas, K. Swirydowicz, I. Yamazaki, E. G. Boman: Low-Synch Gram-Schmidt with Delayed
       Reorthogonalization for Krylov Solvers. 2022.
     Th. Gruetzmacher, R. Underwood, S. Di, F. Cappello, H. Anzt: FRSZ2 for In-Register Block Compression Inside GMRES
       on GPUs. 2024.

   A cycle, from a residual to a correction, is in cycle.c; cb/basis.h describes the basis. This file has the code
   around the cycles. Each cycle starts from a true residual, which also tests the last cycle.
*/

#include "cbgmresimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememtype.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/vecimpl.h>

/* Columns are made from arrays, which some types of vectors do not have. VECNEST copies its parts */
static PetscErrorCode CBGMRESCheckVectors_Private(KSP ksp)
{
  const Vec   x      = CB_COLUMN(ksp);
  const char *prefix = ((PetscObject)ksp)->prefix ? ((PetscObject)ksp)->prefix : "";
  const char *type   = ((KSP_CBGMRES *)ksp->data)->flexible ? KSPFGMRES : KSPGMRES;

  PetscFunctionBegin;
  PetscCheck(x->petscnative || x->ops->getarray || x->ops->getarrayread, PetscObjectComm((PetscObject)ksp), PETSC_ERR_SUP,
             "-%sksp_type %s stores vectors by their arrays, and vectors of type %s have no arrays: use -%sksp_type %s", prefix, ((PetscObject)ksp)->type_name,
             ((PetscObject)x)->type_name, prefix, type);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_CBGMRES(KSP ksp)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  if (ksp->pc->mat) PetscCall(LitheCheckSquare((PetscObject)ksp, ksp->pc->mat));
  PetscCall(KSPReset_CBGMRES(ksp));
  PetscCall(KSPSetWorkVecs(ksp, CB_NWORK));
  PetscCall(CBGMRESCheckVectors_Private(ksp));
  PetscCall(LitheCite(LITHE_CITE_CBGMRES | (gm->bases.storage.kind == LITHE_STORAGE_FRSZ2 ? LITHE_CITE_FRSZ2 : 0)));
  PetscCall(CBGMRESCreateBases_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Functions of GMRES in PETSc that a basis without vectors cannot support */
static PetscErrorCode CBGMRESCheck_Private(KSP ksp)
{
  KSP_CBGMRES *gm   = (KSP_CBGMRES *)ksp->data;
  MPI_Comm     comm = PetscObjectComm((PetscObject)ksp);

  PetscFunctionBegin;
  PetscCall(LitheKSPGetOrthogonalization(ksp, &gm->progress.orthogonalization));
  PetscCheck(!gm->progress.orthogonalization.foreign, comm, PETSC_ERR_SUP,
             "KSPOrthogonalizationSet() with a function of your own: -%sksp_type %s has no vectors to give to it. Use cgs or mgs, or -ksp_type gmres",
             ((PetscObject)ksp)->prefix ? ((PetscObject)ksp)->prefix : "", ((PetscObject)ksp)->type_name);
  for (PetscInt i = 0; i < ksp->numbermonitors; i++)
    PetscCheck(ksp->monitor[i] != KSPGMRESMonitorKrylov, comm, PETSC_ERR_SUP,
               "KSPGMRESMonitorKrylov() knows the vectors of -ksp_type gmres only; -ksp_gmres_krylov_monitor does the same for %s",
               ((PetscObject)ksp)->type_name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Bases with more bits from now on */
static PetscErrorCode CBGMRESRaise_Private(KSP ksp, PetscBool *raised)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;

  PetscFunctionBegin;
  *raised = PETSC_FALSE;
  if (gm->opt.adaptive) PetscCall(CBGMRESRaiseBases_Private(ksp, PETSC_FALSE, "is too coarse", raised));
  if (!*raised) PetscFunctionReturn(PETSC_SUCCESS);
  gm->progress.raises++;
  gm->progress.stagnantcycles = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBGMRESResidual_Private(KSP ksp, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(KSPInitialResidual(ksp, ksp->vec_sol, CB_COLUMN(ksp), CB_WORK(ksp), CB_IMAGE(ksp), ksp->vec_rhs));
  PetscCall(VecNorm(CB_IMAGE(ksp), NORM_2, norm));
  KSPCheckNorm(ksp, *norm);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the residual is at rounding level: then the solution cannot be improved. The level is estimated by the norm
   of M (e2 o A (e1 o x) + e3 o b). M is the left preconditioner, and the e are random relative perturbations of size
   eps. Random perturbations are not mapped to something small by a nearly singular preconditioner. Collective.
*/
static PetscErrorCode CBGMRESIsRoundoffLimited_Private(KSP ksp, PetscReal norm, PetscBool *roundofflimited)
{
  KSP_CBGMRES *gm       = (KSP_CBGMRES *)ksp->data;
  Vec          rounding = CB_COLUMN(ksp), work = CB_WORK(ksp);
  PetscScalar  half = 0.5;
  PetscRandom  random;
  PetscReal    limit;
  Mat          A;

  PetscFunctionBegin;
#if defined(PETSC_USE_COMPLEX)
  half = PetscCMPLX(0.5, 0.5);
#endif
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)ksp), &random));
  PetscCall(PetscRandomSetInterval(random, -half, half));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(VecSetRandom(rounding, random));
  PetscCall(VecPointwiseMult(work, rounding, ksp->vec_sol));
  PetscCall(KSP_MatMult(ksp, A, work, rounding));
  PetscCall(VecSetRandom(work, random));
  PetscCall(VecPointwiseMult(rounding, rounding, work));
  PetscCall(VecSetRandom(work, random));
  PetscCall(VecPointwiseMult(work, work, ksp->vec_rhs));
  PetscCall(VecAXPY(rounding, 1.0, work));
  if (ksp->pc_side == PC_LEFT) PetscCall(KSP_PCApply(ksp, rounding, work));
  else if (ksp->pc_side == PC_SYMMETRIC) PetscCall(PCApplySymmetricLeft(ksp->pc, rounding, work));
  PetscCall(VecNorm(ksp->pc_side == PC_RIGHT ? rounding : work, NORM_2, &limit));
  PetscCall(PetscRandomDestroy(&random));
  limit *= 10.0 * PETSC_MACHINE_EPSILON;
  *roundofflimited = (PetscBool)(norm <= limit); /* false if limit is not a number */
  /* a solution enlarged by rounding of the basis has a large residual by rounding: a finer basis would have avoided
     both */
  if (ksp->pc_side == PC_RIGHT && gm->bases.storage.kind != LITHE_STORAGE_FULL && norm > CB_ROUNDOFF_LIMIT * ksp->ttol &&
      norm > PETSC_SQRT_MACHINE_EPSILON * gm->progress.initial)
    *roundofflimited = PETSC_FALSE;
  PetscCall(PetscInfo(ksp, "Residual %g; rounding of operator and right-hand side makes %g\n", (double)norm, (double)limit));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The residual does not become smaller: the storage is too coarse, and may not be raised; or rounding elsewhere is as
   large
*/
static PetscErrorCode CBGMRESStagnate_Private(KSP ksp, PetscReal norm)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  char         name[16], why[160];

  PetscFunctionBegin;
  if (!gm->progress.roundofflimited) PetscCall(CBGMRESIsRoundoffLimited_Private(ksp, norm, &gm->progress.roundofflimited));
  if (gm->progress.roundofflimited && gm->progress.recurrencereason) {
    ksp->reason = gm->progress.recurrencereason; /* as KSPGMRES, which trusts the recurrence */
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  gm->progress.roundofflimited = (PetscBool)(gm->progress.roundofflimited || gm->bases.storage.kind == LITHE_STORAGE_FULL);
  gm->progress.stagnated       = PETSC_TRUE;
  ksp->reason                  = KSP_DIVERGED_BREAKDOWN;
  PetscCall(CBGMRESStorageName_Private(&gm->bases.storage, name, sizeof(name)));
  if (gm->progress.roundofflimited) PetscCall(PetscSNPrintf(why, sizeof(why), "rounding of the operator and the preconditioner, not of the basis (%s)", name));
  else
    PetscCall(
      PetscSNPrintf(why, sizeof(why),
                    "the storage %s of the basis is too coarse for this system and tolerance. Use -ksp_cbgmres_adaptive, or a finer -ksp_cbgmres_storage",
                    name));
  PetscCheck(!ksp->errorifnotconverged, PetscObjectComm((PetscObject)ksp), PETSC_ERR_NOT_CONVERGED, "The residual stays at %g: %s", (double)norm, why);
  PetscCall(PetscInfo(ksp, "The residual stays at %g: %s\n", (double)norm, why));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Tests the last cycle: compares the norm of the true residual with the prediction of the recurrence. Rounding of the
   basis has spoilt the cycle if both differ, and if most of the residual at the start of the cycle is left. If the
   residual has become larger, the correction of the cycle is reverted.
*/
static PetscErrorCode CBGMRESTestCycle_Private(KSP ksp, PetscReal *norm)
{
  KSP_CBGMRES    *gm     = (KSP_CBGMRES *)ksp->data;
  const PetscReal before = gm->cycle.start, gap = PetscAbsReal(*norm - gm->progress.predicted);
  PetscBool       worse  = (PetscBool)(*norm > before);
  PetscBool       raised = PETSC_FALSE, end;

  PetscFunctionBegin;
  gm->progress.gap = PetscMax(gm->progress.gap, gap / before);
  if (gm->cycle.exhausted && *norm > 0.9 * before) {
    /* the operator sees a zero for each entry rounded to zero; a finer storage may keep the entry */
    if (worse) PetscCall(CBGMRESAddCorrection_Private(ksp, gm->cycle.best, -1.0, ksp->vec_sol));
    PetscCall(CBGMRESRaisePreconditioned_Private(ksp, 0, &raised));
    if (!raised) PetscCall(CBGMRESRaise_Private(ksp, &raised));
    if (worse || raised) PetscCall(CBGMRESResidual_Private(ksp, norm));
    if (raised) {
      CBGMRESLeastBegin_Private(gm, *norm);
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    PetscCall(PetscInfo(ksp, "The operator is singular in a space that has no more directions, and the residual %g does not become smaller\n", (double)*norm));
    ksp->reason = KSP_DIVERGED_BREAKDOWN;
  }
  if (ksp->reason || *norm <= 0.5 * before || (gm->cycle.best && gap <= gm->opt.breakdowntol * before)) {
    gm->progress.stagnantcycles = 0;

    /* small entries rounded to zero leave recurrence and residual consistent, in a useless space, and look like slow
       convergence */
    gm->progress.slowcycles = !ksp->reason && *norm > 0.9 * before ? gm->progress.slowcycles + 1 : 0;
    if (gm->progress.slowcycles < 2) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(CBGMRESRaise_Private(ksp, &raised));
    if (raised) PetscCall(CBGMRESResidual_Private(ksp, norm));
    gm->progress.slowcycles = 0;
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  PetscCall(
    PetscInfo(ksp, "Residual %g at restart, %g by the recurrence, %g when the cycle began\n", (double)*norm, (double)gm->progress.predicted, (double)before));
  gm->progress.roundofflimited = PETSC_FALSE;
  if (gm->progress.recurrencereason) PetscCall(CBGMRESIsRoundoffLimited_Private(ksp, *norm, &gm->progress.roundofflimited));
  /* at rounding level neither is better */
  if (gm->progress.roundofflimited) worse = PETSC_FALSE;
  if (worse) {
    PetscCall(CBGMRESAddCorrection_Private(ksp, gm->cycle.best, -1.0, ksp->vec_sol));
    *norm = before;
  }
  if (!gm->progress.roundofflimited) PetscCall(CBGMRESRaise_Private(ksp, &raised));
  if (raised) {
    PetscCall(CBGMRESResidual_Private(ksp, norm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }

  /* Of a continued cycle the old columns may be the cause: a new cycle decides */
  gm->progress.stagnantcycles = gm->progress.roundofflimited || *norm > 0.9 * before ? gm->progress.stagnantcycles + 1 : 0;
  end                         = (PetscBool)((worse && !gm->leftover.nleft) || gm->progress.stagnantcycles == 2);
  if (end) gm->progress.stagnantcycles = 0;
  /* not if a fixed number of iterations is wanted whatever the residual */
  if (end && ksp->converged != KSPConvergedSkip && ksp->its >= ksp->min_it) PetscCall(CBGMRESStagnate_Private(ksp, *norm));
  else if (worse) {
    PetscCall(CBGMRESResidual_Private(ksp, norm));
    CBGMRESLeastBegin_Private(gm, *norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Rounding of the basis has added a part to the residual that the space of the last cycle can remove. The next cycle
   would have to find this part again, and mainly its slow components. A least squares problem with the residual removes
   the part, at the cost of one more product with the operator.
*/
static PetscErrorCode CBGMRESRefine_Private(KSP ksp, PetscReal *norm)
{
  KSP_CBGMRES    *gm     = (KSP_CBGMRES *)ksp->data;
  const PetscInt  k      = gm->least.columns;
  const PetscReal before = *norm;

  PetscFunctionBegin;
  if (!gm->least.columns || !gm->cycle.best || !gm->cycle.complete || gm->cycle.exhausted || CBGMRESCanContinue_Private(ksp) ||
      gm->cycle.gap < CB_REFINE * before)
    PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*gm->bases.V->ops->dot)(gm->bases.V, k + 1, PETSC_TRUE, CB_IMAGE(ksp)));
  PetscCall((*gm->bases.V->ops->coefficients)(gm->bases.V, k + 1, 0));
  PetscCall((*gm->bases.V->ops->fetch)(gm->bases.V, k, k + 1));
  CBGMRESLeastRightSide_Private(gm, k);
  PetscCall(CBGMRESAddCorrection_Private(ksp, gm->cycle.best, 1.0, ksp->vec_sol));
  PetscCall(CBGMRESResidual_Private(ksp, norm));
  if (ksp->reason) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(ksp, "Residual %g, refined: %g\n", (double)before, (double)*norm));
  if (*norm > before) {
    PetscCall(CBGMRESAddCorrection_Private(ksp, gm->cycle.best, -1.0, ksp->vec_sol));
    PetscCall(CBGMRESResidual_Private(ksp, norm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual, in CB_IMAGE, and its consequences. Sets the reason if no cycle follows */
static PetscErrorCode CBGMRESBegin_Private(KSP ksp, PetscReal *norm)
{
  KSP_CBGMRES *gm     = (KSP_CBGMRES *)ksp->data;
  PetscReal    tested = -1.0;

  PetscFunctionBegin;
  PetscCall(CBGMRESResidual_Private(ksp, norm));
  if (PetscIsInfOrNanReal(*norm)) PetscFunctionReturn(PETSC_SUCCESS);

  /* after a cycle: whether the result is correct, and its correction if not */
  if (gm->progress.predicted >= 0.0 && *norm > 0.0) {
    PetscCall((*ksp->converged)(ksp, ksp->its, *norm, &ksp->reason, ksp->cnvP));
    tested = *norm;
    if (!ksp->reason && ksp->its < ksp->max_it) PetscCall(CBGMRESTestCycle_Private(ksp, norm));
    if (!ksp->reason && ksp->its < ksp->max_it) PetscCall(CBGMRESRefine_Private(ksp, norm));
    if (PetscIsInfOrNanReal(*norm)) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->rnorm = *norm;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscCall(KSPLogResidualHistory(ksp, *norm));
  PetscCall(KSPLogErrorHistory(ksp));
  PetscCall(KSPMonitor(ksp, ksp->its, *norm));
  if (*norm == 0.0) {
    ksp->reason = KSP_CONVERGED_ATOL;
    PetscCall(PetscInfo(ksp, "Converged due to zero residual norm\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* a test of the user may count its calls */
  if (!ksp->reason && *norm != tested) PetscCall((*ksp->converged)(ksp, ksp->its, *norm, &ksp->reason, ksp->cnvP));
  if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;
  if (gm->progress.predicted < 0.0) gm->progress.initial = *norm;
  gm->progress.gain = gm->progress.predicted < 0.0 ? 0.0 : *norm / gm->cycle.start;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSolve_CBGMRES(KSP ksp)
{
  KSP_CBGMRES    *gm         = (KSP_CBGMRES *)ksp->data;
  const PetscBool guess_zero = ksp->guess_zero;
  PetscReal       norm;

  PetscFunctionBegin;
  gm->progress           = (CBProgress){0};
  gm->progress.predicted = -1.0;
  CBGMRESCycleReset_Private(gm);
  PetscCall(CBGMRESCheck_Private(ksp));
  PetscCall(CBGMRESCreateBases_Private(ksp));
  PetscCall(CBGMRESGetJacobi_Private(ksp));
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->its = 0;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));

  /* if the preconditioner failed in set-up, perhaps on some processes only, the first norm tells all processes */
  do {
    PetscCall(CBGMRESBegin_Private(ksp, &norm));
    if (ksp->reason) break;
    PetscCall(CBGMRESSpectrumKeep_Private(ksp));
    PetscCall(CBGMRESExchangeBases_Private(ksp));
    PetscCall(CBGMRESCycle_Private(ksp, &norm));
    gm->progress.predicted = norm;
    ksp->guess_zero        = PETSC_FALSE;
    if (!ksp->reason && ksp->its >= ksp->max_it) ksp->reason = KSP_DIVERGED_ITS;

    /* converged by the recurrence: the next residual decides */
    gm->progress.recurrencereason = ksp->reason > 0 && ksp->reason != KSP_CONVERGED_ITS && ksp->normtype != KSP_NORM_NONE ? ksp->reason
                                                                                                                          : KSP_CONVERGED_ITERATING;
    if (gm->progress.recurrencereason) ksp->reason = KSP_CONVERGED_ITERATING;
    else if (ksp->reason) {
      PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
      PetscCall(KSPLogErrorHistory(ksp));
      PetscCall(KSPMonitor(ksp, ksp->its, ksp->rnorm));
    }
  } while (!ksp->reason);
  ksp->guess_zero = guess_zero;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_CBGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_CBGMRES(ksp));
  PetscCall(CBGMRESComposeOptions_Private(ksp, PETSC_FALSE));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCBGMRESGetInfo_C", NULL));
  PetscCall(PetscFree(ksp->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CBGMRESCreate_Private(KSP ksp, PetscBool flexible)
{
  KSP_CBGMRES *gm;

  PetscFunctionBegin;
  PetscCall(PetscNew(&gm));
  ksp->data    = gm;
  gm->flexible = flexible;
  PetscCall(CBGMRESOptionsDefault_Private(ksp));
  PetscCall(KSPReset_CBGMRES(ksp));

  ksp->ops->setup                        = KSPSetUp_CBGMRES;
  ksp->ops->solve                        = KSPSolve_CBGMRES;
  ksp->ops->buildsolution                = KSPBuildSolution_CBGMRES;
  ksp->ops->reset                        = KSPReset_CBGMRES;
  ksp->ops->destroy                      = KSPDestroy_CBGMRES;
  ksp->ops->setfromoptions               = KSPSetFromOptions_CBGMRES;
  ksp->ops->view                         = KSPView_CBGMRES;
  ksp->ops->computeextremesingularvalues = KSPComputeExtremeSingularValues_CBGMRES;
  ksp->ops->computeeigenvalues           = KSPComputeEigenvalues_CBGMRES;
  PetscCall(CBGMRESComposeOptions_Private(ksp, PETSC_TRUE));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPCBGMRESGetInfo_C", KSPCBGMRESGetInfo_CBGMRES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPCBGMRES - "cbgmres" - Restarted GMRES with compressed basis vectors

   Options Database Keys:
+  -ksp_cbgmres_storage <frsz2_32>       - storage of basis vectors: double, single, half, bfloat16, frsz2_32 or
another frsz2_<bits>; see `KSPCBGMRESSetStorage()`
.  -ksp_cbgmres_exponent_bits <8>        - bits of the exponent that 32 numbers of FRSZ2 share: 8 or 16
. -ksp_cbgmres_adaptive <false> - take a finer storage if the storage is too coarse
. -ksp_cbgmres_check_every <1> - number of iterations between tests of the residual
.  -ksp_gmres_restart <30>               - the number of basis vectors
.  -ksp_gmres_haptol <1e-30>             - a smaller entry of the Hessenberg matrix ends a cycle
.  -ksp_gmres_breakdown_tolerance <0.1>  - largest difference of recurrence and residual in a cycle without gain,
    relative to the cycle's first residual
.  -ksp_orthogonalization <cgs,mgs>      - mgs is classical Gram-Schmidt in two passes
.  -ksp_orthogonalization_cgs_refinement_type <refine_never,refine_ifneeded,refine_always> - when a second pass is made
.  -ksp_gmres_preallocate <true>         - the basis is always one allocation; false is an error
.  -ksp_gmres_krylov_monitor             - draw the basis vectors
-  -lithe_reduce_transport <auto,ipc,nccl,mpi> - transport of sums over processes on devices; no prefix

   Level: beginner

   Notes:
   A program written for `KSPGMRES` needs only another type: `KSPGMRESSetRestart()`, `KSPGMRESSetHapTol()`,
   `KSPGMRESSetBreakdownTolerance()`, `KSPOrthogonalizationSetCGSRefinementType()` and similar functions work as well.

   The basis is not stored in `Vec`s. Memory consists of the compressed basis and three work vectors; on a device of a
   fourth for `PCJACOBI` from the right. An iteration reads the basis twice, writes one basis vector, and has one
   reduction over all processes. Re-orthogonalisation is delayed by one iteration and done in the coefficients: inner
   products of each stored vector with all earlier vectors correct the coefficients of Gram-Schmidt. A second pass is
   made if the first pass leaves almost nothing of a vector.

   When the recurrence has converged, the residual is computed. If the residual has not converged, the cycle continues
   with all columns, up to 8 times, then from a restart. A storage too coarse for the tolerance ends the solve with
   `KSP_DIVERGED_BREAKDOWN`. With `-ksp_cbgmres_adaptive` the storage is raised at a restart instead, until
   `KSPReset()`: if a cycle has left more than half of its first residual although the recurrence is smaller, or if two
   cycles in a row have gained less than a tenth. frsz2_32 follows storages of up to 24 bits, and double follows all
   other storages. -info and -ksp_view report both events.

   With `-ksp_cbgmres_check_every` residuals, monitors and the solution are the same. Up to every - 1 superfluous
   iterations are made; in exchange the host waits for a device less often.

   If residuals have entries of very different sizes side by side, FRSZ2 and half would lose the small entries. The
   columns are then stored as bfloat16, single or double, with at least as many bits, until `KSPReset()`. -ksp_view and
   -info report the change.

   Vectors need arrays: vectors of type `VECNEST` are copied, and `KSPSetUp()` refuses types without arrays.

   Left, right and symmetric preconditioning are supported.

.seealso: `KSPCBFGMRES`, `KSPGMRES`, `KSPCBGMRESSetStorage()`, `KSPCBGMRESGetInfo()`, `KSPGMRESSetRestart()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_CBGMRES(KSP);

PetscErrorCode KSPCreate_CBGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 4));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_SYMMETRIC, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  PetscCall(CBGMRESCreate_Private(ksp, PETSC_FALSE));
  ksp->ops->computeritz = KSPComputeRitz_CBGMRES;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPCBFGMRES - "cbfgmres" - Restarted flexible GMRES with compressed basis vectors, with and without preconditioner

   Options Database Keys:
+  -ksp_cbgmres_storage <frsz2_32>  - storage of basis vectors, and all other options of `KSPCBGMRES`
.  -ksp_fgmres_modifypcnochange     - do not change the preconditioner between iterations
-  -ksp_fgmres_modifypcksp          - change the preconditioner by `KSPFlexibleModifyPCKSP()`

   Level: beginner

   Notes:
   Only right preconditioning is supported. The preconditioner may change from iteration to iteration.

   The operator is applied to the stored, rounded preconditioned vectors. Preconditioned vectors have exponents of 16
   bits. The storage half has too small a range for preconditioned vectors, and is replaced by frsz2_16.

   A null space of the operator, `MatSetNullSpace()`, is removed from preconditioned vectors before storing.
   Preconditioned vectors may have another large common part, which the operator hardly sees; rounding may then lose
   the rest. The loss is measured on some vectors, and if large all vectors get a finer storage, until `KSPReset()`.

.seealso: `KSPCBGMRES`, `KSPFGMRES`, `KSPFlexibleSetModifyPC()`, `KSPCBGMRESSetStorage()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_CBFGMRES(KSP);

PetscErrorCode KSPCreate_CBFGMRES(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  PetscCall(CBGMRESCreate_Private(ksp, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
