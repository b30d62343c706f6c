/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Vectors of KSPMPCG in double precision: PETSc's conjugate gradients, for any matrix and preconditioner */

#include "mpcgimpl.h"

PetscErrorCode MPCGDoubleBegin_Private(KSP ksp, double factor, PetscBool first, MPCGScalars *seen)
{
  MPCGDouble *d = &((KSP_MPCG *)ksp->data)->both;
  Vec         r = ksp->work[0];
  PetscReal   norm;

  PetscFunctionBegin;
  if (!d->p) {
    PetscCall(VecDuplicate(r, &d->p));
    PetscCall(VecDuplicate(r, &d->z));
    PetscCall(VecDuplicate(r, &d->y));
  }
  if (first) {
    d->s = (MPCGScalars){.its = 0};
    PetscCall(VecSet(d->p, 0.0));
    PetscCall(VecSet(d->y, 0.0));
  }
  PetscCall(VecScale(r, (PetscReal)factor));
  PetscCall(VecNorm(r, NORM_2, &norm));
  d->s.rr = (double)norm * (double)norm;
  *seen   = d->s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGDoubleIterate_Private(KSP ksp, MPCGScalars *seen)
{
  MPCGDouble *d = &((KSP_MPCG *)ksp->data)->both;
  Vec         r = ksp->work[0];
  PetscScalar sum;
  PetscReal   norm;
  Mat         A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(KSP_PCApply(ksp, r, d->z));
  PetscCall(VecDot(d->z, r, &sum));
  MPCGFinish(MPCG_RZ, (double)PetscRealPart(sum), &d->s);
  if (!d->s.stop) {
    PetscCall(VecAYPX(d->p, (PetscReal)d->s.beta, d->z));
    PetscCall(KSP_MatMult(ksp, A, d->p, d->z));
    PetscCall(VecDot(d->p, d->z, &sum));
    MPCGFinish(MPCG_PQ, (double)PetscRealPart(sum), &d->s);
  }
  if (!d->s.stop) {
    PetscCall(VecAXPY(d->y, (PetscReal)d->s.alpha, d->p));
    PetscCall(VecAXPY(r, -(PetscReal)d->s.alpha, d->z));
    PetscCall(VecNorm(r, NORM_2, &norm));
    MPCGFinish(MPCG_RR, (double)norm * (double)norm, &d->s);
  }
  *seen = d->s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGDoubleLeave_Private(KSP ksp, double factor)
{
  MPCGDouble *d = &((KSP_MPCG *)ksp->data)->both;

  PetscFunctionBegin;
  PetscCall(VecAXPY(ksp->vec_sol, (PetscReal)(1 / factor), d->y));
  PetscCall(VecSet(d->y, 0.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MPCGDoubleReset_Private(MPCGDouble *d)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&d->p));
  PetscCall(VecDestroy(&d->z));
  PetscCall(VecDestroy(&d->y));
  PetscFunctionReturn(PETSC_SUCCESS);
}
