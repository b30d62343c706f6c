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

/* ------------------------------------------------------------ results */

/* Room for the results of n more columns, which have had no iteration */
static PetscErrorCode BCGSMExpect_Private(KSP_BCGSM *s, PetscInt n)
{
  const PetscInt all = s->before + n;

  PetscFunctionBegin;
  if (all > s->maxresults) {
    const PetscInt max = PetscMax(all, 2 * s->maxresults);

    PetscCall(PetscRealloc((size_t)max * sizeof(*s->its), &s->its));
    PetscCall(PetscRealloc((size_t)max * sizeof(*s->reasons), &s->reasons));
    PetscCall(PetscRealloc((size_t)max * sizeof(*s->norms), &s->norms));
    s->maxresults = max;
  }
  for (PetscInt i = s->before; i < all; i++) {
    s->its[i]     = 0;
    s->reasons[i] = KSP_CONVERGED_ITERATING;
    s->norms[i]   = 0.0;
  }
  s->nresults = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The reason of the KSP: the least reason if a column diverged, else the reason of the column with the most iterations
*/
static PetscErrorCode BCGSMSummarize_Private(KSP ksp)
{
  KSP_BCGSM *s     = (KSP_BCGSM *)ksp->data;
  PetscInt   worst = -1, its = 0;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < s->nresults; i++) {
    its = PetscMax(its, s->its[i]);
    if (worst >= 0) {
      const PetscBool diverged = (PetscBool)(s->reasons[i] < 0 || s->reasons[worst] < 0);

      if (diverged ? s->reasons[i] >= s->reasons[worst] : s->its[i] <= s->its[worst]) continue;
    }
    worst = i;
  }
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->its    = its;
  ksp->rnorm  = worst < 0 ? 0.0 : s->norms[worst];
  ksp->reason = worst < 0 ? KSP_CONVERGED_ATOL : s->reasons[worst]; /* nothing is to be solved */
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPBCGSMGetColumns_BCGSM(KSP ksp, PetscInt *n, const PetscInt *its[], const KSPConvergedReason *reasons[], const PetscReal *norms[])
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  if (n) *n = s->nresults;
  if (its) *its = s->its;
  if (reasons) *reasons = s->reasons;
  if (norms) *norms = s->norms;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@C
  KSPBCGSMGetColumns - Gets iterations, reason and norm of each right-hand side of the last `KSPMatSolve()` with a
  `KSPBCGSM`

  Not Collective

  Input Parameter:
. ksp - the solver, of type `KSPBCGSM`

  Output Parameters:
+ n       - the number of columns; 1 after `KSPSolve()`, 0 before the first solve
. its     - the number of iterations of each column
. reasons - the reason why each column stopped
- norms   - the last norm of the residual of each column, as the convergence test got it; of a column that diverged with `KSP_DIVERGED_NANORINF` or
`KSP_DIVERGED_PC_FAILED` the number that ended its solve

  Level: intermediate

  Notes:
  Each argument may be `NULL`. The arrays belong to the solver, have `n` entries, are equal on all processes, and are
  valid until the next solve, `KSPReset()` or `KSPDestroy()`.

  The arrays contain the columns of all batches, see `KSPSetMatSolveBatchSize()`.

  `KSPGetIterationNumber()` returns the maximum of `its`. `KSPGetConvergedReason()` returns the least of `reasons` if a
  column diverged, otherwise the reason of the column with the most iterations.

.seealso: `KSPBCGSM`, `KSPMatSolve()`, `KSPGetConvergedReason()`, `KSPSetMatSolveBatchSize()`
@*/
PetscErrorCode KSPBCGSMGetColumns(KSP ksp, PetscInt *n, const PetscInt *its[], const KSPConvergedReason *reasons[], const PetscReal *norms[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ksp, KSP_CLASSID, 1);
  PetscUseMethod(ksp, "KSPBCGSMGetColumns_C", (KSP, PetscInt *, const PetscInt *[], const KSPConvergedReason *[], const PetscReal *[]),
                 (ksp, n, its, reasons, norms));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ solves */

/* One column, with vectors of any type */
static PetscErrorCode KSPSolve_BCGSM(KSP ksp)
{
  KSP_BCGSM *s = (KSP_BCGSM *)ksp->data;

  PetscFunctionBegin;
  s->before = 0;
  PetscCall(BCGSMExpect_Private(s, 1));
  s->B = s->X = NULL;
  PetscCall(BCGSMBlocksStart_Private(ksp, 1));
  PetscCall(BCGSMIterate_Private(ksp));
  PetscCall(BCGSMSummarize_Private(ksp));
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
  const PetscInt      before = s->before, n = s->nresults - before;
  PetscInt           *its;
  PetscReal          *norms;
  KSPConvergedReason *reasons;

  PetscFunctionBegin;
  PetscCall(PetscInfo(ksp, "Column by column, because each solve has work before or after the iteration\n"));
  /* each solve writes its results to the beginning of the arrays */
  PetscCall(PetscMalloc3(before + n, &its, before + n, &norms, before + n, &reasons));
  PetscCall(PetscArraycpy(its, s->its, before));
  PetscCall(PetscArraycpy(norms, s->norms, before));
  PetscCall(PetscArraycpy(reasons, s->reasons, before));
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
  s->before = before;
  PetscCall(BCGSMExpect_Private(s, n));
  PetscCall(PetscArraycpy(s->its, its, before + n));
  PetscCall(PetscArraycpy(s->norms, norms, before + n));
  PetscCall(PetscArraycpy(s->reasons, reasons, before + n));
  PetscCall(PetscFree3(its, norms, reasons));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Begin and end of the local columns of a block; NULL without rows */
static PetscErrorCode BCGSMGetEnds_Private(Mat X, const PetscScalar *ends[2])
{
  const PetscScalar *x;
  PetscInt           m, n, ld;

  PetscFunctionBegin;
  ends[0] = ends[1] = NULL;
  PetscCall(MatGetLocalSize(X, &m, NULL));
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCall(MatDenseGetLDA(X, &ld));
  PetscCall(MatDenseGetArrayReadAndMemType(X, &x, NULL));
  if (m) {
    ends[0] = x;
    ends[1] = x + (PetscCount)n * ld;
  }
  PetscCall(MatDenseRestoreArrayReadAndMemType(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc calls KSPMatSolve_BCGSM() for each batch. KSPMatSolve() begins with KSPSetUp(), which leaves either no reason in
   the KSP or the reason of a failed set-up. Any other reason shows a further batch of the same call. If the
   preconditioner failed, a further batch begins where the solutions of the last batch ended
*/
static PetscErrorCode BCGSMIsFurther_Private(KSP ksp, Mat X, PetscBool *further)
{
  KSP_BCGSM         *s = (KSP_BCGSM *)ksp->data;
  const PetscScalar *ends[2];
  PetscInt           batch;

  PetscFunctionBegin;
  *further = (PetscBool)(ksp->reason != KSP_CONVERGED_ITERATING && ksp->reason != KSP_DIVERGED_PC_FAILED);
  PetscCall(KSPGetMatSolveBatchSize(ksp, &batch));
  if (!s->failed || batch != s->nresults - s->before) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BCGSMGetEnds_Private(X, ends));
  *further = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED && ends[0] == s->end);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, further, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode KSPMatSolve_BCGSM(KSP ksp, Mat B, Mat X)
{
  KSP_BCGSM         *s = (KSP_BCGSM *)ksp->data;
  const PetscScalar *ends[2];
  PetscBool          further, own, solves = PETSC_FALSE;
  PetscInt           n;
  PCFailedReason     failed;

  PetscFunctionBegin;
  PetscCall(BCGSMIsFurther_Private(ksp, X, &further));
  PetscCall(MatGetSize(B, NULL, &n));
  s->before = further ? s->nresults : 0;
  s->failed = PETSC_FALSE;
  PetscCall(BCGSMExpect_Private(s, n));
  PetscCall(BCGSMNeedsSolves_Private(ksp, &own, &solves));
  if (n && solves) PetscCall(BCGSMSolveColumns_Private(ksp, B, X));
  else if (n) {
    /* as KSPSetUp() leaves it */
    PetscCall(PCGetFailedReason(ksp->pc, &failed));
    if (further) ksp->reason = failed ? KSP_DIVERGED_PC_FAILED : KSP_CONVERGED_ITERATING;
    /* double precision, if this method needs it. The true residuals of columns are not tested */
    if (own) PetscCall(PCPreSolve(ksp->pc, ksp));
    if (own) PetscCall(LitheKSPConfirmEnd(ksp));
    s->B = B;
    s->X = X;
    PetscCall(BCGSMBlocksStart_Private(ksp, n));
    PetscCall(BCGSMIterate_Private(ksp));
    PetscCall(BCGSMBlocksEnd_Private(ksp));
    s->B = s->X = NULL;
    if (own) PetscCall(PCPostSolve(ksp->pc, ksp));
  }
  PetscCall(BCGSMSummarize_Private(ksp));
  if (ksp->reason == KSP_DIVERGED_PC_FAILED) {
    PetscCall(BCGSMGetEnds_Private(X, ends));
    s->end    = ends[1];
    s->failed = PETSC_TRUE;
  }
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
  for (PetscInt i = 0; i < s->nresults; i++) {
    least = PetscMin(least, s->its[i]);
    most  = PetscMax(most, s->its[i]);
    sum += s->its[i];
    diverged += s->reasons[i] < 0 ? 1 : 0;
  }
  if (!s->nresults) PetscFunctionReturn(PETSC_SUCCESS);
  if (isascii)
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "  last solve: %" PetscInt_FMT " right-hand sides, %" PetscInt_FMT " to %" PetscInt_FMT " iterations, %" PetscInt_FMT
                                     " in all, %" PetscInt_FMT " diverged\n",
                                     s->nresults, least, most, sum, diverged));
  else if (isstring) PetscCall(PetscViewerStringSPrintf(viewer, "%" PetscInt_FMT " right-hand sides", s->nresults));
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
  PetscCall(PetscFree(s->its));
  PetscCall(PetscFree(s->reasons));
  PetscCall(PetscFree(s->norms));
  s->nresults = s->maxresults = s->before = 0;
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
.  -ksp_matsolve_batch_size <n>     - number of columns in one solve, see `KSPSetMatSolveBatchSize()`; all columns by default
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
