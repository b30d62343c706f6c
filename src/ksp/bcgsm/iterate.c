/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The iteration of a KSPBCGSM: BiCGSTAB for each column, with separate scalars, as in KSPBCGS.

   H. A. van der Vorst: Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
   linear systems. 1992.

   A column that ends gets a reason at once, is not changed afterwards, and leaves at the end of the iteration.
   Solutions are updated with directions preconditioned from the right. Solutions are therefore valid in each iteration,
   and columns can leave in any iteration.
*/

#include "bcgsmimpl.h"

/* The members of the KSP that show one column to the convergence test or to monitors */
typedef struct {
  Vec          b, right, x, vec_rhs, vec_sol; /* right: b, or b without its part outside of the range */
  Mat          mat_rhs;
  MatNullSpace null;
} BCGSMShown;

static PetscErrorCode BCGSMShow_Private(KSP ksp, PetscInt j, BCGSMShown *shown)
{
  KSP_BCGSM     *s      = (KSP_BCGSM *)ksp->data;
  const PetscInt number = s->columns.column[j].number;

  PetscFunctionBegin;
  if (!s->blocks.B) PetscFunctionReturn(PETSC_SUCCESS);
  shown->vec_rhs = ksp->vec_rhs;
  shown->vec_sol = ksp->vec_sol;
  shown->mat_rhs = LitheKSPExchangeMatRhs(ksp, NULL);
  PetscCall(BCGSMGetNullSpace_Private(ksp, PETSC_TRUE, &shown->null));
  PetscCall(MatDenseGetColumnVecRead(s->blocks.B, number, &shown->b));
  PetscCall(MatDenseGetColumnVecRead(s->blocks.X, number, &shown->x));
  shown->right = shown->b;
  if (shown->null) {
    PetscCall(VecDuplicate(shown->b, &shown->right));
    PetscCall(VecCopy(shown->b, shown->right));
    PetscCall(MatNullSpaceRemove(shown->null, shown->right));
  }
  ksp->vec_rhs = shown->right;
  ksp->vec_sol = shown->x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMHide_Private(KSP ksp, PetscInt j, BCGSMShown *shown)
{
  KSP_BCGSM     *s      = (KSP_BCGSM *)ksp->data;
  const PetscInt number = s->columns.column[j].number;

  PetscFunctionBegin;
  if (!s->blocks.B) PetscFunctionReturn(PETSC_SUCCESS);
  ksp->vec_rhs = shown->vec_rhs;
  ksp->vec_sol = shown->vec_sol;
  (void)LitheKSPExchangeMatRhs(ksp, shown->mat_rhs);
  if (shown->null) PetscCall(VecDestroy(&shown->right));
  PetscCall(MatDenseRestoreColumnVecRead(s->blocks.X, number, &shown->x));
  PetscCall(MatDenseRestoreColumnVecRead(s->blocks.B, number, &shown->b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The reason of a norm that is not finite: a failure of the preconditioner on some process, or another cause */
static PetscErrorCode BCGSMFail_Private(KSP ksp, PetscInt j)
{
  KSP_BCGSM     *s = (KSP_BCGSM *)ksp->data;
  PCFailedReason reason;
  Vec            x;

  PetscFunctionBegin;
  PetscCall(PCReduceFailedReason(ksp->pc));
  PetscCall(PCGetFailedReason(ksp->pc, &reason));
  s->columns.column[j].reason = reason ? KSP_DIVERGED_PC_FAILED : KSP_DIVERGED_NANORINF;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_X, j, &x));
  PetscCall(VecFlag(x, (PetscInt)reason));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_X, j, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the norms of a finished iteration. A norm that is not finite ends its column, without counting the iteration */
static PetscErrorCode BCGSMTakeNorms_Private(KSP ksp, PetscInt it)
{
  KSP_BCGSM      *s     = (KSP_BCGSM *)ksp->data;
  const PetscBool taken = (PetscBool)(ksp->normtype != KSP_NORM_NONE && (!it || ksp->chknorm < it + 1));

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (c->reason) continue;
    if (c->exact) c->norm = 0.0;
    else if (taken) {
      c->norm = c->normnext;
      if (PetscIsInfOrNanReal(c->norm)) PetscCall(BCGSMFail_Private(ksp, j));
    }
    if (!c->reason) BCGSMResultCount_Private(&s->results, c->number, it);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Monitors and the history get the column farthest from its tolerance, which is unknown in the first iteration */
static PetscErrorCode BCGSMTell_Private(KSP ksp, PetscInt it)
{
  KSP_BCGSM *s     = (KSP_BCGSM *)ksp->data;
  PetscInt   worst = -1;
  PetscReal  most  = -1.0;
  BCGSMShown shown = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    const BCGSMColumn *c   = &s->columns.column[j];
    const PetscReal    far = it && c->ttol > 0.0 ? c->norm / c->ttol : c->norm;

    if (c->reason || !(worst < 0 || far > most)) continue;
    worst = j;
    most  = far;
  }
  if (worst < 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->its   = it;
  ksp->rnorm = s->columns.column[worst].norm;
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscCall(KSPLogResidualHistory(ksp, ksp->rnorm));
  if (!ksp->numbermonitors) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BCGSMShow_Private(ksp, worst, &shown));
  PetscCall(KSPMonitor(ksp, it, ksp->rnorm));
  PetscCall(BCGSMHide_Private(ksp, worst, &shown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The convergence test of the KSP, with the data that the test keeps in the KSP. Tests of PETSc use vectors only at the
   beginning
*/
static PetscErrorCode BCGSMTest_Private(KSP ksp, PetscInt it)
{
  KSP_BCGSM      *s     = (KSP_BCGSM *)ksp->data;
  const PetscBool look  = (PetscBool)(!it || (ksp->converged != KSPConvergedDefault && ksp->converged != KSPConvergedSkip));
  BCGSMShown      shown = {NULL, NULL, NULL, NULL, NULL, NULL, NULL};

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (c->reason) continue;
    if (c->exact) {
      c->reason = KSP_CONVERGED_RTOL;
      continue;
    }
    if (look) PetscCall(BCGSMShow_Private(ksp, j, &shown));
    ksp->its   = it;
    ksp->rnorm = c->norm;
    if (it) {
      ksp->rnorm0 = c->rnorm0;
      ksp->ttol   = c->ttol;
    }
    PetscCall((*ksp->converged)(ksp, it, c->norm, &c->reason, ksp->cnvP));
    c->rnorm0 = ksp->rnorm0;
    c->ttol   = ksp->ttol;
    if (look) PetscCall(BCGSMHide_Private(ksp, j, &shown));
    if (!it || c->reason) continue;
    if (c->rho == (PetscScalar)0.0) {
      c->reason = KSP_DIVERGED_BREAKDOWN;
      PetscCall(PetscInfo(ksp, "Column %" PetscInt_FMT ": breakdown due to zero rho inner product\n", c->number));
    } else if (it >= ksp->max_it) c->reason = KSP_DIVERGED_ITS;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A converged solution may have overflowed, although its residual by recurrence is a number */
static PetscErrorCode BCGSMCheckSolution_Private(KSP ksp, PetscInt j)
{
  BCGSMColumn *c = &((KSP_BCGSM *)ksp->data)->columns.column[j];
  PetscReal    norm;
  Vec          x;

  PetscFunctionBegin;
  PetscCall(BCGSMColumnGet_Private(ksp, BCGSM_X, j, &x));
  PetscCall(VecNorm(x, NORM_1, &norm));
  PetscCall(BCGSMColumnRestore_Private(ksp, BCGSM_X, j, &x));
  if (!PetscIsInfOrNanReal(norm)) PetscFunctionReturn(PETSC_SUCCESS);
  c->normnext = norm;
  PetscCall(BCGSMFail_Private(ksp, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns with a reason leave, and the last remaining columns take their places. Collective */
static PetscErrorCode BCGSMCompact_Private(KSP ksp)
{
  KSP_BCGSM *s    = (KSP_BCGSM *)ksp->data;
  PetscInt   stay = 0, last = s->columns.n;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) stay += s->columns.column[j].reason ? 0 : 1;
  if (stay == s->columns.n) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt j = 0; j < stay; j++) {
    if (!s->columns.column[j].reason) continue;
    while (s->columns.column[--last].reason) {
    }
    PetscCall(BCGSMBlocksMove_Private(ksp, last, j));
    s->columns.column[j] = s->columns.column[last];
  }
  s->columns.n = stay;
  PetscCall(BCGSMBlocksChange_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Stores the results of columns with a reason, and removes the columns. Collective */
static PetscErrorCode BCGSMLeave_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  for (PetscInt j = 0; j < s->columns.n; j++) {
    const BCGSMColumn *c = &s->columns.column[j];

    if (!c->reason) continue;
    if (c->reason > 0 && ksp->normtype != KSP_NORM_NONE) PetscCall(BCGSMCheckSolution_Private(ksp, j));
    BCGSMResultEnd_Private(&s->results, c->number, c->reason,
                           c->reason == KSP_DIVERGED_NANORINF || c->reason == KSP_DIVERGED_PC_FAILED ? c->normnext : c->norm);
  }
  PetscCall(BCGSMCompact_Private(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* alpha = rho / (v, shadow) */
static PetscErrorCode BCGSMAlpha_Private(KSP ksp)
{
  const BCGSMBlock v[] = {BCGSM_V}, shadow[] = {BCGSM_SHADOW};
  KSP_BCGSM       *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMDots_Private(ksp, 1, v, shadow));
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (PetscIsInfOrNanScalar(s->columns.sums[j])) {
      c->normnext = PetscRealPart(s->columns.sums[j]);
      PetscCall(BCGSMFail_Private(ksp, j));
    } else if (s->columns.sums[j] == (PetscScalar)0.0) {
      c->reason = KSP_DIVERGED_BREAKDOWN;
      PetscCall(PetscInfo(ksp, "Column %" PetscInt_FMT ": breakdown due to zero inner product\n", c->number));
    } else c->alpha = c->rho / s->columns.sums[j];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* omega = (s, t) / (t, t). If t is 0 and s is 0, too, then alpha p leads to the solution */
static PetscErrorCode BCGSMOmega_Private(KSP ksp)
{
  const BCGSMBlock r[] = {BCGSM_R, BCGSM_T}, t[] = {BCGSM_T, BCGSM_T};
  KSP_BCGSM       *s    = (KSP_BCGSM *)ksp->data;
  PetscBool        zero = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(BCGSMDots_Private(ksp, 2, r, t));
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (c->reason) continue;
    c->exact = (PetscBool)(PetscRealPart(s->columns.sums[2 * j + 1]) == 0.0);
    c->omega = c->exact ? (PetscScalar)0.0 : s->columns.sums[2 * j] / PetscRealPart(s->columns.sums[2 * j + 1]);
    zero     = (PetscBool)(zero || c->exact);
  }
  if (!zero) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BCGSMDots_Private(ksp, 1, r, r));
  for (PetscInt j = 0; j < s->columns.n; j++) {
    BCGSMColumn *c = &s->columns.column[j];

    if (c->reason || !c->exact || s->columns.sums[j] == (PetscScalar)0.0) continue;
    c->exact  = PETSC_FALSE;
    c->reason = KSP_DIVERGED_BREAKDOWN;
    PetscCall(PetscInfo(ksp, "Column %" PetscInt_FMT ": the preconditioned operator is singular\n", c->number));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterates from the present solutions until no column is left */
PetscErrorCode BCGSMIterate_Private(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMInitialResidual_Private(ksp));
  PetscCall(BCGSMNorms_Private(ksp));
  PetscCall(BCGSMTakeNorms_Private(ksp, 0));
  PetscCall(BCGSMTell_Private(ksp, 0));
  PetscCall(BCGSMTest_Private(ksp, 0));
  PetscCall(BCGSMLeave_Private(ksp));
  if (s->columns.n) PetscCall(BCGSMShadow_Private(ksp));
  for (PetscInt it = 1; s->columns.n; it++) {
    PetscCall(BCGSMDirection_Private(ksp, (PetscBool)(it == 1)));
    PetscCall(BCGSMApply_Private(ksp, PETSC_FALSE));
    PetscCall(BCGSMAlpha_Private(ksp));
    PetscCall(BCGSMHalf_Private(ksp));
    PetscCall(BCGSMApply_Private(ksp, PETSC_TRUE));
    PetscCall(BCGSMOmega_Private(ksp));
    PetscCall(BCGSMUpdate_Private(ksp));
    PetscCall(BCGSMTakeNorms_Private(ksp, it));
    PetscCall(BCGSMTell_Private(ksp, it));
    PetscCall(BCGSMTest_Private(ksp, it));
    for (PetscInt j = 0; j < s->columns.n; j++) {
      BCGSMColumn *c = &s->columns.column[j];

      if (c->reason) continue;
      c->beta = (c->rhonext / c->rho) * (c->alpha / c->omega);
      c->rho  = c->rhonext;
    }
    PetscCall(BCGSMLeave_Private(ksp));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
