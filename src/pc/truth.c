/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Rounding preconditioners and the residual that a solver reports.

   M(x) = B x + e with rounding errors e is no linear operator. Methods that subtract A M(x) from a residual, and add
   M(x) to the solution, do not see e: CG, flexible methods, Richardson's. All other methods update a preconditioned
   residual, or add up M of a sum of directions. Their residual then departs from the true one by about |A e|, which
   for e of single precision may be any part of |b|: it grows with the condition number of A.

   A nonsymmetric matrix needs double precision for such a method: recurrences of BiCGSTAB amplify e. For a symmetric
   matrix |A e| is measured.

   The norm that a method watches may be that of a preconditioned residual. A solve with one of Lithe's rounding
   preconditioners therefore also tests the true residual, when the default test of convergence is fulfilled.
*/

#include <lithe/private/litheimpl.h>
#include <lithe/private/lithetruth.h>
#include <litheksp.h>
#include <petsc/private/kspimpl.h>
#include <petsc/private/pcimpl.h>

#define TRUTH_FACTOR 10   /* of the tolerance */
#define TRUTH_PART   0.3  /* of this, the largest error that is measured at most */
#define TRUTH_END    1e-3 /* of the tolerance: a solver whose own residual is smaller gives up */

static PetscInt truthlargest = -1; /* number of composed data */

/* Methods whose residual does not depend on whether the preconditioner is linear, or which have no residual */
static PetscErrorCode IsInsensitive_Private(KSP ksp, PetscBool *is)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPBCGSM, is));
  *is = (PetscBool)(*is && ksp->pc_side == PC_RIGHT);
  if (*is) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, is, KSPCG, KSPFCG, KSPPIPEFCG, KSPFGMRES, KSPPIPEFGMRES, KSPGCR, KSPPIPEGCR, KSPFBCGS, KSPRICHARDSON,
                                      KSPCHEBYSHEV, KSPMINRES, KSPNASH, KSPSTCG, KSPGLTR, KSPCBGMRES, KSPCBFGMRES, KSPMPCG, KSPPREONLY, KSPNONE, ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |A (M(x/3) - M(x)/3)| / |x/3| for x = b/|b| + 1/|1|; KSPMatSolve() has no b */
static PetscErrorCode Measure_Private(PC pc, KSP ksp, PetscReal *error)
{
  Mat       A;
  Vec       x, y, z;
  PetscReal norm, size;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(MatCreateVecs(A, &y, &x));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(VecSet(x, 1.0));
  PetscCall(VecNorm(x, NORM_2, &size));
  norm = 0;
  if (ksp->vec_rhs) PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &norm));
  if (norm > 0 && !PetscIsInfOrNanReal(norm)) PetscCall(VecAXPY(x, size / norm, ksp->vec_rhs));
  PetscCall(PCApply(pc, x, y));
  PetscCall(VecScale(x, 1. / 3.));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecAXPY(z, -1. / 3., y));
  PetscCall(VecNorm(x, NORM_2, &size));
  PetscCall(MatMult(A, z, x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  *error = size > 0 ? norm / size : 0;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePCNeedsDouble(PC pc, KSP ksp, PetscBool symmetric, PetscReal *error, PetscBool *needs)
{
  PetscBool insensitive;

  PetscFunctionBegin;
  *needs = PETSC_FALSE;
  PetscCall(IsInsensitive_Private(ksp, &insensitive));
  if (insensitive || pc->failedreason || sizeof(PetscReal) <= sizeof(float)) PetscFunctionReturn(PETSC_SUCCESS);
  if (symmetric && *error < 0) PetscCall(Measure_Private(pc, ksp, error));
  *needs = (PetscBool)(!symmetric || !(*error <= TRUTH_PART * TRUTH_FACTOR * ksp->rtol));
  if (*needs)
    PetscCall(
      PetscInfo(pc, "KSP type %s takes the preconditioner for a linear operator: vectors inside get double precision. KSPCG and KSPFGMRES do not need them\n",
                ((PetscObject)ksp)->type_name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector that a solver keeps: an allocation on a device takes longer than a product */
static PetscErrorCode GetWork_Private(KSP ksp, const char name[], Vec like, Vec *work)
{
  PetscInt  sizes[2];
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(PetscObjectQuery((PetscObject)ksp, name, (PetscObject *)work));
  if (*work) {
    PetscCall(VecGetLocalSize(like, &sizes[0]));
    PetscCall(VecGetLocalSize(*work, &sizes[1]));
    PetscCall(PetscObjectTypeCompare((PetscObject)*work, ((PetscObject)like)->type_name, &same));
    if (same && sizes[0] == sizes[1]) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(VecDuplicate(like, work));
  PetscCall(PetscObjectCompose((PetscObject)ksp, name, (PetscObject)*work));
  PetscCall(PetscObjectDereference((PetscObject)*work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The residual of KSPCG is the true one up to rounding errors of the recurrence. The errors are at most about `its`
   roundings of |A| |x|, and |A| is about the largest diagonal entry. Small errors need no product
*/
static PetscErrorCode IsSmallInCG_Private(KSP ksp, PetscInt its, PetscReal limit, PetscBool *small)
{
  PetscReal norm, size, largest;
  PetscBool cg, known;
  Vec       work, residual;

  PetscFunctionBegin;
  *small = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare((PetscObject)ksp, KSPCG, &cg));
  PetscCall(PetscObjectComposedDataGetReal((PetscObject)ksp, truthlargest, largest, known));
  if (!cg || !known || !(largest > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(ksp->vec_sol, NORM_2, &size));
  if (!(2 * (its + 1) * PETSC_MACHINE_EPSILON * largest * size <= limit / 2)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(GetWork_Private(ksp, "LitheTruthResidual", ksp->vec_rhs, &work));
  PetscCall(KSPBuildResidual(ksp, work, work, &residual));
  PetscCall(VecNorm(residual, NORM_2, &norm));
  *small = (PetscBool)(norm <= limit / 2);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPConvergedDefault() and the true residual */
static PetscErrorCode Converged_Private(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, PetscCtx ctx)
{
  KSPConvergedReason own;
  PetscReal          norm, size, limit;
  PetscBool          small;
  Vec                x = NULL, residual;
  Mat                A;

  PetscFunctionBegin;
  PetscCall(KSPConvergedDefault(ksp, it, rnorm, reason, ctx));
  own = *reason;
  if (own != KSP_CONVERGED_RTOL && own != KSP_CONVERGED_ATOL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecNorm(ksp->vec_rhs, NORM_2, &size));
  limit = TRUTH_FACTOR * PetscMax(ksp->rtol * size, ksp->abstol);
  PetscCall(IsSmallInCG_Private(ksp, it, limit, &small));
  if (small) PetscFunctionReturn(PETSC_SUCCESS);
  *reason = KSP_CONVERGED_ITERATING; /* or KSPBuildSolution() would take the vector of the solution, which may not be made yet */
  PetscCall(GetWork_Private(ksp, "LitheTruthResidual", ksp->vec_rhs, &residual));
  if (ksp->pc_side == PC_RIGHT)
    PetscCall(GetWork_Private(ksp, "LitheTruthSolution", ksp->vec_sol, &x)); /* some methods make the solution in a vector that they are given only */
  PetscCall(KSPBuildSolution(ksp, x, x ? NULL : &x));
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_MatMult(ksp, A, x, residual));
  PetscCall(VecAYPX(residual, -1.0, ksp->vec_rhs));
  PetscCall(VecNorm(residual, NORM_2, &norm));
  if (norm <= limit) *reason = own;
  else if (!(rnorm > TRUTH_END * ksp->ttol)) {
    *reason = KSP_DIVERGED_BREAKDOWN;
    PetscCall(PetscInfo(ksp, "The residual norm %g of the method is below its tolerance, and the true residual norm is %g times that of the right-hand side\n",
                        (double)rnorm, (double)(norm / size)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Methods for other systems or with true residuals, and norms other than of the residual, keep their test */
PetscErrorCode LitheKSPConfirmBegin(KSP ksp, PetscReal largest)
{
  const KSPConvergedDefaultCtx *ctx = (const KSPConvergedDefaultCtx *)ksp->cnvP;
  PetscBool                     other;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)ksp, &other, KSPCGNE, KSPCGLS, KSPLSQR, KSPMPCG, KSPPREONLY, KSPNONE, KSPCHEBYSHEV, ""));
  if (other || ksp->converged != KSPConvergedDefault || ksp->normtype == KSP_NORM_NONE || (ctx && (ctx->initialrtol || ctx->mininitialrtol)))
    PetscFunctionReturn(PETSC_SUCCESS);
  if (truthlargest < 0) PetscCall(PetscObjectComposedDataRegister(&truthlargest));
  PetscCall(PetscObjectComposedDataSetReal((PetscObject)ksp, truthlargest, largest));
  ksp->converged = Converged_Private;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheKSPConfirmEnd(KSP ksp)
{
  PetscFunctionBegin;
  if (ksp->converged == Converged_Private) ksp->converged = KSPConvergedDefault;
  PetscFunctionReturn(PETSC_SUCCESS);
}
