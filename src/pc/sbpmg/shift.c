/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCSBPMG for a matrix L (a A + diag(d)) R, as in implicit time steps: the result of MatScale(), MatShift() and similar
   functions on a MATSBPSAT.

   Levels have the operator |a| A + diag(sign d), with the sign of a. The finest level has d as an additional
   coefficient. Lower levels have Galerkin's product, or P^T d if operators are rediscretised. L, R and the sign are
   applied to vectors.

   If all faces are Neumann faces, the constants are the kernel of A, and only d acts on constants. If d is small,
   single precision, or even double, cannot distinguish d from zero. Constants are therefore treated by their Rayleigh
   quotient, sum(d). With Q = I - d 1^T / sum(d) the preconditioner is 1 1^T / sum(d) + Q^T M Q with a cycle M. If
   sum(d) is less than the rounding error of one entry, the matrix is treated as singular.
*/

#include "sbpmgimpl.h"

PetscErrorCode PCSBPMGShiftReset_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  mg->shift.sign     = 1;
  mg->shift.total    = 0;
  mg->shift.deflated = PETSC_FALSE;
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&mg->shift.inverse[k]));
  PetscCall(VecDestroy(&mg->shift.diagonal));
  PetscCall(VecDestroy(&mg->shift.defect));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Invert_Private(PC pc, Vec from, const char what[], Vec *to)
{
  PetscReal largest, least;

  PetscFunctionBegin;
  if (!from) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(from, to));
  PetscCall(VecCopy(from, *to));
  PetscCall(VecAbs(*to));
  PetscCall(VecMin(*to, NULL, &least));
  PetscCall(VecSet(*to, 1.));
  PetscCall(VecPointwiseDivide(*to, *to, from));
  PetscCall(VecNorm(*to, NORM_INFINITY, &largest));
  if (!(least > 0) || PetscIsInfOrNanReal(largest)) PetscCall(PCSBPMGFail_Private(pc, "a number of MatDiagonalScale() from the %s has no reciprocal", what));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Before the levels are made */
PetscErrorCode PCSBPMGShiftSetUp_Private(PC pc)
{
  PC_SBPMG   *mg = (PC_SBPMG *)pc->data;
  PetscScalar scale, sum;
  Vec         d, left, right;
  PetscBool   dirichlet[SBP_FACES];
  PetscReal   least = 0, most = 0;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetChange(pc->pmat, &scale, &d));
  PetscCall(MatSBPSATGetScales(pc->pmat, &left, &right));
  PetscCall(MatSBPSATGetDirichlet(pc->pmat, dirichlet));
  PetscCall(Invert_Private(pc, left, "left", &mg->shift.inverse[0]));
  PetscCall(Invert_Private(pc, right, "right", &mg->shift.inverse[1]));
  if (d) {
    PetscCall(VecMin(d, NULL, &least));
    PetscCall(VecMax(d, NULL, &most));
    if (PetscIsInfOrNanReal(least) || PetscIsInfOrNanReal(most)) PetscCall(PCSBPMGFail_Private(pc, "the diagonal that was added to the matrix is not finite"));
  }
  if (PetscRealPart(scale) < 0 || (PetscRealPart(scale) == 0 && most <= 0)) mg->shift.sign = -1;
  mg->shift.singular = (PetscBool) !(dirichlet[0] || dirichlet[1] || dirichlet[2] || dirichlet[3]);
  if (least == 0 && most == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(d, &mg->shift.diagonal));
  PetscCall(VecCopy(d, mg->shift.diagonal));
  PetscCall(VecScale(mg->shift.diagonal, (PetscScalar)mg->shift.sign));
  PetscCall(VecSum(mg->shift.diagonal, &sum));
  mg->shift.total = PetscRealPart(sum);
  if (mg->shift.singular) {
    Vec       diagonal;
    PetscReal most;
    PetscInt  n;

    PetscCall(VecDuplicate(d, &diagonal));
    PetscCall(MatGetDiagonal(pc->pmat, diagonal));
    for (int k = 0; k < 2; k++) {
      if (mg->shift.inverse[k]) PetscCall(VecPointwiseMult(diagonal, diagonal, mg->shift.inverse[k]));
    }
    PetscCall(VecNorm(diagonal, NORM_1, &most));
    PetscCall(VecGetSize(diagonal, &n));
    PetscCall(VecDestroy(&diagonal));
    if (PetscAbsReal(mg->shift.total) <= PETSC_MACHINE_EPSILON * (most / n)) PetscFunctionReturn(PETSC_SUCCESS);
    mg->shift.singular = PETSC_FALSE;
    mg->shift.deflated = (PetscBool)(mg->shift.total > 0 && !PetscIsInfOrNanReal(mg->shift.total));
    if (!mg->shift.deflated)
      PetscCall(PCSBPMGFail_Private(pc,
                                    "all faces are Neumann ones, and the diagonal that was added has the sum %g: the matrix is not definite. Use another "
                                    "preconditioner",
                                    (double)(mg->shift.sign * mg->shift.total)));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The operator of the finest level, after memory is allocated: the sign is removed, which a gathered matrix does not
   have, and this object takes ownership of the array
*/
PetscErrorCode PCSBPMGShiftOperator_Private(PC pc)
{
  PC_SBPMG    *mg   = (PC_SBPMG *)pc->data;
  SBPMGLevel  *l    = &mg->level[0];
  SBPOperator *op   = &l->op[mg->exact];
  const double sign = l->A ? 1. : (double)mg->shift.sign;
  SBPGrid      all  = op->grid;

  PetscFunctionBegin;
  if (op->kind != SBP_SHIFTED) PetscFunctionReturn(PETSC_SUCCESS);
  all.own   = all.ghosted;
  all.pitch = all.coefficientpitch;
  PetscCall(PCSBPMGGhosts_Private(mg, &op->grid, mg->exact, &l->coefficient[mg->exact][SBP_DIAGONAL]));
  PetscCall((*mg->kernels->vector.copyscaled)(&all, mg->exact, 0, op->coefficient[SBP_DIAGONAL], &all, mg->exact, 0, l->coefficient[mg->exact][SBP_DIAGONAL],
                                              (SBPRatio){sign, NULL, NULL}));
  op->coefficient[SBP_DIAGONAL] = l->coefficient[mg->exact][SBP_DIAGONAL];
  op->scale *= sign;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for another matrix of type sbpsat with the same coefficients, or with the coefficients of a coarser grid; d
   is the diagonal of that grid, or NULL */
PetscErrorCode PCSBPMGShiftMatrix_Private(PC pc, Vec d, Mat A)
{
  PC_SBPMG   *mg = (PC_SBPMG *)pc->data;
  PetscScalar scale;
  Vec         unused;

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetChange(pc->pmat, &scale, &unused));
  PetscCall(MatScale(A, (PetscScalar)mg->shift.sign * scale));
  if (d) {
    Vec own;

    PetscCall(MatCreateVecs(A, &own, NULL));
    PetscCall(VecCopy(d, own));
    PetscCall(MatDiagonalSet(A, own, ADD_VALUES));
    PetscCall(VecDestroy(&own));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The assembled matrix of the user as the operator of the levels */
PetscErrorCode PCSBPMGUnscaleMatrix_Private(PC pc, Mat A)
{
  PC_SBPMG *mg = (PC_SBPMG *)pc->data;

  PetscFunctionBegin;
  if (mg->shift.inverse[0] || mg->shift.inverse[1]) PetscCall(MatDiagonalScale(A, mg->shift.inverse[0], mg->shift.inverse[1]));
  if (mg->shift.sign < 0) PetscCall(MatScale(A, -1.));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y from x: an application of the levels between the factors L, R and sign */
PetscErrorCode PCSBPMGApplyShifted_Private(PC pc, PetscBool transpose, Vec x, Vec y, PetscErrorCode (*levels)(PC, Vec, Vec))
{
  PC_SBPMG   *mg   = (PC_SBPMG *)pc->data;
  const Vec   left = mg->shift.inverse[transpose ? 1 : 0], right = mg->shift.inverse[transpose ? 0 : 1];
  PetscScalar constant = 0, rest;

  PetscFunctionBegin;
  if (!mg->shift.deflated && !left && !right) {
    PetscCall((*levels)(pc, x, y));
    if (mg->shift.sign < 0) PetscCall(VecScale(y, -1.));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->shift.defect) PetscCall(VecDuplicate(x, &mg->shift.defect));
  if (left) PetscCall(VecPointwiseMult(mg->shift.defect, x, left));
  else PetscCall(VecCopy(x, mg->shift.defect));
  if (mg->shift.deflated) {
    PetscCall(VecSum(mg->shift.defect, &constant));
    constant /= mg->shift.total;
    PetscCall(VecAXPY(mg->shift.defect, -constant, mg->shift.diagonal));
  }
  PetscCall((*levels)(pc, mg->shift.defect, y));
  if (mg->shift.deflated) {
    PetscCall(VecTDot(mg->shift.diagonal, y, &rest));
    PetscCall(VecShift(y, constant - rest / mg->shift.total));
  }
  if (mg->shift.sign < 0) PetscCall(VecScale(y, -1.));
  if (right) PetscCall(VecPointwiseMult(y, y, right));
  PetscFunctionReturn(PETSC_SUCCESS);
}
