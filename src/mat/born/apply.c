/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Products of MATBORN and modelling: over all shots */

#include "bornimpl.h"

/*
   A product with all shots. Vectors that it has no use for are NULL: the model and the image, vectors of columns, and the data, which it
   writes or reads. Arrays are taken where vectors are, the sweeps know
*/
PetscErrorCode MatBornProducts_Private(Mat A, BornProduct product, Vec model, Vec data, Vec image, PetscBool write)
{
  Mat_Born          *ctx = (Mat_Born *)A->data;
  const PetscScalar *m   = NULL;
  PetscScalar       *d = NULL, *g = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornBuild_Private(A));
  if (model && ctx->chain) {
    PetscCall(VecCopy(model, ctx->work));
    PetscCall(VecPointwiseMult(ctx->work, ctx->work, ctx->chain));
    model = ctx->work;
  }
  if (image) PetscCall(VecSet(image, 0));
  if (model) PetscCall(VecGetArrayReadAndMemType(model, &m, NULL));
  if (data && write) PetscCall(VecGetArrayWriteAndMemType(data, &d, NULL));
  else if (data) PetscCall(VecGetArrayReadAndMemType(data, (const PetscScalar **)&d, NULL));
  if (image) PetscCall(VecGetArrayAndMemType(image, &g, NULL));
  for (PetscInt s = 0; s < ctx->nshots; s++) {
    BornShot *shot = &ctx->shots[s];

    PetscCall((*product)(ctx, shot, (const PetscReal *)m, d ? (PetscReal *)d + shot->row : NULL, (PetscReal *)g));
  }
  if (image) PetscCall(VecRestoreArrayAndMemType(image, &g));
  if (data && write) PetscCall(VecRestoreArrayWriteAndMemType(data, &d));
  else if (data) PetscCall(VecRestoreArrayReadAndMemType(data, (const PetscScalar **)&d));
  if (model) PetscCall(VecRestoreArrayReadAndMemType(model, &m));
  if (image && ctx->chain) {
    PetscCall(VecCopy(image, ctx->work));
    PetscCall(VecPointwiseMult(ctx->work, ctx->work, ctx->chain));
    PetscCall(VecCopy(ctx->work, image));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
  Mat_Born *ctx = NULL;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscValidHeaderSpecific(d, VEC_CLASSID, 2);
  PetscCheckSameComm(J, 1, d, 2);
  PetscCall(MatSetUp(J));
  PetscCall(VecGetLocalSize(d, &n));
  PetscCheck(n == J->rmap->n, PetscObjectComm((PetscObject)J), PETSC_ERR_ARG_SIZ,
             "The vector has %" PetscInt_FMT " numbers, the shots have %" PetscInt_FMT " samples; make it with MatCreateVecs()", n, J->rmap->n);
  PetscCall(MatBornProducts_Private(J, BornSweepModel_Private, NULL, d, NULL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMult_Born(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatBornProducts_Private(A, BornSweepForward_Private, x, y, NULL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatMultTranspose_Born(Mat A, Vec x, Vec y)
{
  PetscFunctionBegin;
  PetscCall(MatBornProducts_Private(A, BornSweepAdjoint_Private, NULL, x, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
