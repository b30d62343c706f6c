/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   KSPBCGSM: BiCGSTAB for many right-hand sides at once.

   class         KSPMatSolve(), KSPSolve(), results         bcgsm.c
   iteration     scalars, tests and reasons of columns      iterate.c
   vectors       operations and sums of all columns         vectors.c
   blocks        memory, columns, products                  blocks.c
   kernels       operations on arrays, of the host          kernels.c
*/

#include <lithe/private/litheimpl.h>
#include <lithe/private/lithetruth.h>
#include "bcgsmimpl.h"
#include <petsc/private/pcimpl.h>

/* ------------------------------------------------------------ solves */

/* One column, with vectors of any type */
static PetscErrorCode KSPSolve_BCGSM(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMResultsBegin_Private(&s->results, 0, 1));
  PetscCall(BCGSMColumnsStart_Private(ksp, 1));
  PetscCall(BCGSMBlocksStart_Private(ksp, NULL, NULL));
  PetscCall(BCGSMIterate_Private(ksp));
  PetscCall(BCGSMResultsEnd_Private(ksp, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a feature needs KSPSolve() for each column: guesses, or actions of programs and preconditioners before or
   after a solve. own: a preconditioner whose actions before a solve need no vectors
*/
static PetscErrorCode BCGSMNeedsSolves_Private(KSP ksp, PetscBool *own, PetscBool *needs)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp->pc, own, PCGRIDMG, PCSBPMG, ""));
  *needs = (PetscBool)(ksp->presolve || ksp->postsolve || ksp->guess || ksp->guess_knoll || (!*own && (ksp->pc->ops->presolve || ksp->pc->ops->postsolve)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BCGSMSolveColumns_Private(KSP ksp, Mat B, Mat X)
{
  KSP_BCGSM          *s         = (KSP_BCGSM *)ksp->data;
  const PetscBool     transpose = LitheKSPTransposeIsRequested(ksp);
  const PetscInt      before = s->results.before, n = s->results.n - before;
  PetscInt           *its;
  PetscReal          *norms;
  KSPConvergedReason *reasons;

  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "Column by column, because each solve has work before or after the iteration\n"));
  /* each solve writes its results to the beginning of the arrays */
  PetscCall(PetscMalloc3(before + n, &its, before + n, &norms, before + n, &reasons));
  PetscCall(PetscArraycpy(its, s->results.its, before));
  PetscCall(PetscArraycpy(norms, s->results.norms, before));
  PetscCall(PetscArraycpy(reasons, s->results.reasons, before));
  for (PetscInt i = 0; i < n; i++) {
    Vec b, right, x;

    /* A preconditioner may change the right-hand side for the time of the solve (PCPreSolveChangeRHS()) */
    PetscCall(MatDenseGetColumnVecRead(B, i, &b));
    PetscCall(VecDuplicate(b, &right));
    PetscCall(VecCopy(b, right));
    PetscCall(MatDenseRestoreColumnVecRead(B, i, &b));
    PetscCall(MatDenseGetColumnVec(X, i, &x));
    PetscCall((*(transpose ? KSPSolveTranspose : KSPSolve))(ksp, right, x));
    PetscCall(MatDenseRestoreColumnVec(X, i, &x));
    PetscCall(VecDestroy(&right));
    its[before + i]     = ksp->its;
    norms[before + i]   = ksp->rnorm;
    reasons[before + i] = ksp->reason;
  }
  PetscCall(BCGSMResultsReplace_Private(&s->results, before, n, its, reasons, norms));
  PetscCall(PetscFree3(its, norms, reasons));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPMatSolve_BCGSM(KSP ksp, Mat B, Mat X)
{
  KSP_BCGSM     *s = (KSP_BCGSM *)ksp->data;
  PetscBool      further, own, solves = PETSC_FALSE;
  PetscInt       n;
  PCFailedReason failed;

  PetscFunctionBegin;
  PetscCall(BCGSMResultsIsFurther_Private(ksp, X, &further));
  PetscCall(MatGetSize(B, NULL, &n));
  PetscCall(BCGSMResultsBegin_Private(&s->results, further ? s->results.n : 0, n));
  PetscCall(BCGSMNeedsSolves_Private(ksp, &own, &solves));
  if (n && solves) PetscCall(BCGSMSolveColumns_Private(ksp, B, X));
  else if (n) {
    /* as KSPSetUp() leaves it */
    PetscCall(PCGetFailedReason(ksp->pc, &failed));
    if (further) ksp->reason = failed ? KSP_DIVERGED_PC_FAILED : KSP_CONVERGED_ITERATING;
    /* double precision, if this method needs it. The true residuals of columns are not tested */
    if (own) PetscCall(PCPreSolve(ksp->pc, ksp));
    if (own) PetscCall(LitheKSPConfirmEnd(ksp));
    PetscCall(BCGSMColumnsStart_Private(ksp, n));
    PetscCall(BCGSMBlocksStart_Private(ksp, B, X));
    PetscCall(BCGSMIterate_Private(ksp));
    PetscCall(BCGSMBlocksEnd_Private(ksp));
    if (own) PetscCall(PCPostSolve(ksp->pc, ksp));
  }
  PetscCall(BCGSMResultsEnd_Private(ksp, X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the class */

static PetscErrorCode KSPBuildSolution_BCGSM(KSP ksp, Vec v, Vec *V)
{
  PetscFunctionBegin;
  PetscCheck(ksp->vec_sol, PetscObjectComm((PetscObject)ksp), PETSC_ERR_ARG_WRONGSTATE,
             "After KSPMatSolve() the solutions are in its dense matrix, and there is no vector to build");
  if (v) PetscCall(VecCopy(ksp->vec_sol, v));
  if (V) *V = v ? v : ksp->vec_sol;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPView_BCGSM(KSP ksp, PetscViewer viewer)
{
  KSP_BCGSM *s     = (KSP_BCGSM *)ksp->data;
  PetscInt   least = PETSC_INT_MAX, most = 0, sum = 0, diverged = 0;
  PetscBool  isascii, isstring;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &isstring));
  for (PetscInt i = 0; i < s->results.n; i++) {
    least = PetscMin(least, s->results.its[i]);
    most  = PetscMax(most, s->results.its[i]);
    sum += s->results.its[i];
    diverged += s->results.reasons[i] < 0 ? 1 : 0;
  }
  if (!s->results.n) PetscFunctionReturn(PETSC_SUCCESS);
  if (isascii)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  last solve: %" PetscInt_FMT " right-hand sides, %" PetscInt_FMT " to %" PetscInt_FMT " iterations, %" PetscInt_FMT
                                     " in all, %" PetscInt_FMT " diverged\n",
                                     s->results.n, least, most, sum, diverged));
  else if (isstring) PetscCall(PetscViewerStringSPrintf(viewer, "%" PetscInt_FMT " right-hand sides", s->results.n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPSetUp_BCGSM(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->pc->mat) PetscCall(LitheCheckSquare((PetscObject)ksp, ksp->pc->mat));
  PetscCall(LitheCite(LITHE_CITE_BCGSM));
  PetscFunctionReturn(PETSC_SUCCESS); /* memory is for one vector or for a block, which each solve decides */
}

static PetscErrorCode KSPReset_BCGSM(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  PetscCall(BCGSMBlocksReset_Private(ksp));
  PetscCall(BCGSMColumnsReset_Private(&s->columns));
  PetscCall(BCGSMResultsReset_Private(&s->results));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPDestroy_BCGSM(KSP ksp)
{
  PetscFunctionBegin;
  PetscCall(KSPReset_BCGSM(ksp));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPBCGSMGetColumns_C", NULL));
  PetscCall(KSPDestroyDefault(ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   KSPBCGSM - "bcgsm" - BiCGSTAB for many right-hand sides at once, for `KSPMatSolve()`

   Options Database Keys:
+  -ksp_type bcgsm                  - sets the type of the solver
.  -ksp_matsolve_batch_size <n>     - number of columns in one solve, see `KSPSetMatSolveBatchSize()`; all columns by
    default
-  -ksp_view                        - prints the iterations of the last solve

   Level: beginner

   Notes:
   With `KSPBCGS`, `KSPMatSolve()` solves column by column. With `KSPBCGSM` all columns iterate together. Operator and
   preconditioner are read once for several columns, and an iteration takes three reductions for all columns. Each
   column has separate scalars, and iterates as with `KSPBCGS` up to rounding. No Krylov space is shared: a column needs
   as many iterations as alone.

   The convergence test of the solver tests each column by the norms of the column. A converged or diverged column
   leaves, and the remaining columns continue. `KSPBCGSMGetColumns()` gets the iterations and the reason of each column.

   Monitors and the history of residuals get one norm per iteration: the norm of the column farthest from its tolerance.
   While a monitor runs, `KSPGetRhs()`, `KSPBuildSolution()` and `KSPBuildResidual()` return the same column.

   `MatProductCreate()` with `MATDENSE` multiplies by the operator, and `PCMatApply()` applies the preconditioner. Types
   without these functions work column by column. Memory is seven vectors per column.

   Some features make `KSPMatSolve()` solve the columns one by one, as with other types: preconditioners with work
   before a solve (`PCEISENSTAT`), `KSPSetPreSolve()`, `KSPSetPostSolve()`, `KSPSetGuess()` and
   `KSPSetInitialGuessKnoll()`.

   `KSPSolve()` works as with `KSPBCGS`. In addition, a preconditioner from the right may change from iteration to
   iteration, as with `KSPFBCGS`.

   Left and right preconditioning are supported.

   Reference:
   H. A. van der Vorst, Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG for the solution of nonsymmetric
   linear systems, SIAM J. Sci. Stat. Comput. 13, 1992

.seealso: `KSPBCGSMGetColumns()`, `KSPMatSolve()`, `KSPBCGS`, `KSPFBCGS`, `MATVCRS`, `PCVCRS`, `PCMatApply()`
M*/
PETSC_INTERN PetscErrorCode KSPCreate_BCGSM(KSP);

PetscErrorCode KSPCreate_BCGSM(KSP ksp)
{
  KSP_BCGSM *s;

  PetscFunctionBegin;
  PetscCall(PetscNew(&s));
  ksp->data               = s;
  ksp->ops->setup         = KSPSetUp_BCGSM;
  ksp->ops->solve         = KSPSolve_BCGSM;
  ksp->ops->matsolve      = KSPMatSolve_BCGSM;
  ksp->ops->buildsolution = KSPBuildSolution_BCGSM;
  ksp->ops->buildresidual = KSPBuildResidualDefault;
  ksp->ops->view          = KSPView_BCGSM;
  ksp->ops->reset         = KSPReset_BCGSM;
  ksp->ops->destroy       = KSPDestroy_BCGSM;
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_PRECONDITIONED, PC_LEFT, 3));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_UNPRECONDITIONED, PC_RIGHT, 2));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_LEFT, 1));
  PetscCall(KSPSetSupportedNorm(ksp, KSP_NORM_NONE, PC_RIGHT, 1));
  PetscCall(PetscObjectComposeFunction((PetscObject)ksp, "KSPBCGSMGetColumns_C", KSPBCGSMGetColumns_BCGSM));
  PetscFunctionReturn(PETSC_SUCCESS);
}
