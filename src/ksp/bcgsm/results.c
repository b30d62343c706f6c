/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The results of the columns of a KSPBCGSM, over all batches of a KSPMatSolve(). */

#include "bcgsmimpl.h"

/* Room for the results of n columns behind the columns of earlier batches, which have had no iteration */
PetscErrorCode BCGSMResultsBegin_Private(BCGSMResults *r, PetscInt before, PetscInt n)
{
  const PetscInt all = before + n;

  PetscFunctionBegin;
  r->before = before;
  if (all > r->max) {
    const PetscInt max = PetscMax(all, 2 * r->max);

    PetscCall(PetscRealloc((size_t)max * sizeof(*r->its), &r->its));
    PetscCall(PetscRealloc((size_t)max * sizeof(*r->reasons), &r->reasons));
    PetscCall(PetscRealloc((size_t)max * sizeof(*r->norms), &r->norms));
    r->max = max;
  }
  for (PetscInt i = before; i < all; i++) {
    r->its[i]     = 0;
    r->reasons[i] = KSP_CONVERGED_ITERATING;
    r->norms[i]   = 0.0;
  }
  r->n = all;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Results of all columns, where separate solves have overwritten the arrays */
PetscErrorCode BCGSMResultsReplace_Private(BCGSMResults *r, PetscInt before, PetscInt n, const PetscInt its[], const KSPConvergedReason reasons[],
                                           const PetscReal norms[])
{
  PetscFunctionBegin;
  PetscCall(BCGSMResultsBegin_Private(r, before, n));
  PetscCall(PetscArraycpy(r->its, its, r->n));
  PetscCall(PetscArraycpy(r->reasons, reasons, r->n));
  PetscCall(PetscArraycpy(r->norms, norms, r->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An iteration of a column counts */
void BCGSMResultCount_Private(BCGSMResults *r, PetscInt number, PetscInt it)
{
  r->its[r->before + number] = it;
}

/* A column is finished */
void BCGSMResultEnd_Private(BCGSMResults *r, PetscInt number, KSPConvergedReason reason, PetscReal norm)
{
  r->reasons[r->before + number] = reason;
  r->norms[r->before + number]   = norm;
}

PetscErrorCode BCGSMResultsReset_Private(BCGSMResults *r)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(r->its));
  PetscCall(PetscFree(r->reasons));
  PetscCall(PetscFree(r->norms));
  r->n = r->max = r->before = 0;
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
   PETSc calls KSPMatSolve_BCGSM() for each batch. KSPMatSolve() begins with KSPSetUp(), which leaves either no reason
   in the KSP or the reason of a failed set-up. Any other reason shows a further batch of the same call. If the
   preconditioner failed, a further batch begins where the solutions of the last batch ended
*/
PetscErrorCode BCGSMResultsIsFurther_Private(KSP ksp, Mat X, PetscBool *further)
{
  BCGSMResults      *r      = &((KSP_BCGSM *)ksp->data)->results;
  const PetscBool    failed = r->failed;
  const PetscScalar *ends[2];
  PetscInt           batch;

  PetscFunctionBegin;
  *further = (PetscBool)(ksp->reason != KSP_CONVERGED_ITERATING && ksp->reason != KSP_DIVERGED_PC_FAILED);
  PetscCall(KSPGetMatSolveBatchSize(ksp, &batch));
  r->failed = PETSC_FALSE;
  if (!failed || batch != r->n - r->before) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(BCGSMGetEnds_Private(X, ends));
  *further = (PetscBool)(ksp->reason == KSP_DIVERGED_PC_FAILED && ends[0] == r->end);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, further, 1, MPI_C_BOOL, MPI_LAND, PetscObjectComm((PetscObject)ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The reason of the KSP: the least reason if a column diverged, else the reason of the column with the most iterations.
   X: the solutions of KSPMatSolve(), or NULL
*/
PetscErrorCode BCGSMResultsEnd_Private(KSP ksp, Mat X)
{
  BCGSMResults      *r     = &((KSP_BCGSM *)ksp->data)->results;
  PetscInt           worst = -1, its = 0;
  const PetscScalar *ends[2];

  PetscFunctionBegin;
  for (PetscInt i = 0; i < r->n; i++) {
    its = PetscMax(its, r->its[i]);
    if (worst >= 0) {
      const PetscBool diverged = (PetscBool)(r->reasons[i] < 0 || r->reasons[worst] < 0);

      if (diverged ? r->reasons[i] >= r->reasons[worst] : r->its[i] <= r->its[worst]) continue;
    }
    worst = i;
  }
  PetscCall(PetscObjectSAWsTakeAccess((PetscObject)ksp));
  ksp->its    = its;
  ksp->rnorm  = worst < 0 ? 0.0 : r->norms[worst];
  ksp->reason = worst < 0 ? KSP_CONVERGED_ATOL : r->reasons[worst]; /* nothing is to be solved */
  PetscCall(PetscObjectSAWsGrantAccess((PetscObject)ksp));
  if (X && ksp->reason == KSP_DIVERGED_PC_FAILED) {
    PetscCall(BCGSMGetEnds_Private(X, ends));
    r->end    = ends[1];
    r->failed = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode KSPBCGSMGetColumns_BCGSM(KSP ksp, PetscInt *n, const PetscInt *its[], const KSPConvergedReason *reasons[], const PetscReal *norms[])
{
  const BCGSMResults *r = &((KSP_BCGSM *)ksp->data)->results;

  PetscFunctionBegin;
  if (n) *n = r->n;
  if (its) *its = r->its;
  if (reasons) *reasons = r->reasons;
  if (norms) *norms = r->norms;
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
- norms   - the last norm of the residual of each column, as the convergence test got it; of a column that diverged with
    `KSP_DIVERGED_NANORINF` or
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
