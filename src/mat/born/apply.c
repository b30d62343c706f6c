/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of MATBORN and modelling: over all shots */

#include "bornimpl.h"

/*@
  MatBornModel - Computes the data of all shots of a `MATBORN` for its velocity

  Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. d - the data, a vector as the rows of `J`

  Level: beginner

  Note:
  `MatMult()` is the derivative of these data by the parameter of `MatBornSetParameter()`.

.seealso: `MATBORN`, `MatBornSetVelocity()`, `MatBornAddShot()`
@*/
PetscErrorCode MatBornModel(Mat J, Vec d)
{
  Mat_Born    *ctx = NULL;
  PetscScalar *data;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(d, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, d, 2);
  PetscCall(MatSetUp(J));
  PetscCall(VecGetLocalSize(d, &n));
  PetscCheck(n == J->rmap->n, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_SIZ,
             "The vector has %" PetscInt_FMT " numbers, the shots have %" PetscInt_FMT " samples; make it with MatCreateVecs()", n, J->rmap->n);
  PetscCall(MatBornBuild_Private(J));
  PetscCall(VecGetArrayWrite(d, &data));
  for (PetscInt s = 0; s < ctx->nshots; s++) PetscCall(BornSweepModel_Private(ctx, &ctx->shots[s], (PetscReal *)data + ctx->shots[s].row));
  PetscCall(VecRestoreArrayWrite(d, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Born(Mat A, Vec x, Vec y)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const PetscScalar *model;
  PetscScalar       *data;
  Vec                change = x;

  PetscFunctionBegin;
  PetscCall(MatBornBuild_Private(A));
  if (ctx->chain) {
    change = ctx->work;
    PetscCall(VecPointwiseMult(change, ctx->chain, x));
  }
  PetscCall(VecGetArrayRead(change, &model));
  PetscCall(VecGetArrayWrite(y, &data));
  for (PetscInt s = 0; s < ctx->nshots; s++)
    PetscCall(BornSweepForward_Private(ctx, &ctx->shots[s], (const PetscReal *)model, (PetscReal *)data + ctx->shots[s].row));
  PetscCall(VecRestoreArrayWrite(y, &data));
  PetscCall(VecRestoreArrayRead(change, &model));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_Born(Mat A, Vec x, Vec y)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const PetscScalar *data;
  PetscScalar       *image;

  PetscFunctionBegin;
  PetscCall(MatBornBuild_Private(A));
  PetscCall(VecSet(y, 0));
  PetscCall(VecGetArrayRead(x, &data));
  PetscCall(VecGetArray(y, &image));
  for (PetscInt s = 0; s < ctx->nshots; s++)
    PetscCall(BornSweepAdjoint_Private(ctx, &ctx->shots[s], (const PetscReal *)data + ctx->shots[s].row, (PetscReal *)image));
  PetscCall(VecRestoreArray(y, &image));
  PetscCall(VecRestoreArrayRead(x, &data));
  if (ctx->chain) PetscCall(VecPointwiseMult(y, y, ctx->chain));
  PetscFunctionReturn(PETSC_SUCCESS);
}
