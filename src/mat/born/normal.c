/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* J^T J of a MATBORN, and its preconditioner */

#include "bornimpl.h"
#include <lithe/private/litheimpl.h>

/*@
  MatBornGetIllumination - Computes how strongly the sources of a `MATBORN` light each node: the sum of q^2 over shots
  and steps

  Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. illumination - a vector as its columns, to be destroyed by the caller

  Level: intermediate

  Notes:
  q is the second time derivative of the background, times (dt/v)^2 in a way; `MatMult()` scatters it. The parameter of
  the columns counts: the result is the diagonal of J^T J, as far as the receivers see the waves. `MatScale()` and the
  right vector of `MatDiagonalScale()` count, too; the left vector does not.

  As a preconditioner it is positive only where there are waves: add a fraction of the largest number. `KSPLSQR` applies
  its preconditioner to the normal equations. `MatCreateDiagonal()` of the illumination is therefore a matrix for
  `KSPSetOperators()` with `PCJACOBI`. `KSPCGLS` takes no preconditioner.

.seealso: `MATBORN`, `MatBornGetNormal()`, `MatCreateDiagonal()`
@*/
PetscErrorCode MatBornGetIllumination(Mat J, Vec *illumination)
{
  Mat_Born *ctx = NULL;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(illumination, 2);
  PetscCall(MatSetUp(J));
  PetscCall(MatBornBuild_Private(J));
  PetscCall(MatCreateVecs(J, illumination, NULL));
  if (!ctx->scales.illumination) {
    Vec sum;

    PetscCall(MatCreateVecs(J, &sum, NULL));
    PetscCall(PetscLogEventBegin(MAT_BornIllumination, J, 0, 0, 0));
    PetscCall(MatBornProducts_Private(J, "illumination", BornSweepIllumination_Private, NULL, NULL, sum, PETSC_FALSE));
    PetscCall(PetscLogEventEnd(MAT_BornIllumination, J, 0, 0, 0));
    /* the derivative and the scales of columns enter twice, of which the product has put in one */
    if (ctx->scales.chain) PetscCall(VecPointwiseMult(sum, sum, ctx->scales.chain));
    MatBornKeepIllumination_Private(J, sum);
  }
  PetscCall(VecCopy(ctx->scales.illumination, *illumination));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ J^T J */

static PetscErrorCode MatMult_BornNormal(Mat N, Vec x, Vec y)
{
  Mat J;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(N, &J));
  PetscCall(MatBornProducts_Private(J, "normal", BornSweepNormal_Private, x, ((Mat_Born *)J->data)->scales.left, y, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatCreateVecs_BornNormal(Mat N, Vec *right, Vec *left)
{
  Mat J;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(N, &J));
  if (right) PetscCall(MatCreateVecs(J, right, NULL));
  if (left) PetscCall(MatCreateVecs(J, left, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_BornNormal(Mat N)
{
  Mat J;

  PetscFunctionBegin;
  PetscCall(MatShellGetContext(N, &J));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatBornGetNormal - Creates the normal operator J^T J of a `MATBORN`, which visits each shot once

  Collective

  Input Parameter:
. J - the matrix

  Output Parameter:
. N - the operator, symmetric and not negative, for `KSPCG`; to be destroyed by the caller

  Level: intermediate

  Notes:
  The transpose of a shot begins where `MatMult()` ends, so the background runs forwards once and not twice. Products
  equal `MatMult()` followed by `MatMultTranspose()` to the last bit.

  N follows changes of the settings of J and of the velocity.

.seealso: `MATBORN`, `MatBornGetIllumination()`, `KSPCG`
@*/
PetscErrorCode MatBornGetNormal(Mat J, Mat *N)
{
  Mat_Born *ctx = NULL;
  VecType   type;

  PetscFunctionBegin;
  PetscCall(MatBornGetContext_Private(J, &ctx));
  PetscAssertPointer(N, 2);
  PetscCall(MatSetUp(J));
  PetscCall(PetscObjectReference((PetscObject)J));
  PetscCall(MatCreateShell(PetscObjectComm((PetscObject)J), J->cmap->n, J->cmap->n, J->cmap->N, J->cmap->N, J, N));
  PetscCall(MatGetVecType(J, &type));
  PetscCall(MatShellSetVecType(*N, type));
  PetscCall(MatShellSetOperation(*N, MATOP_MULT, (PetscErrorCodeFn *)MatMult_BornNormal));
  PetscCall(MatShellSetOperation(*N, MATOP_MULT_TRANSPOSE, (PetscErrorCodeFn *)MatMult_BornNormal));
  PetscCall(MatShellSetOperation(*N, MATOP_CREATE_VECS, (PetscErrorCodeFn *)MatCreateVecs_BornNormal));
  PetscCall(MatShellSetOperation(*N, MATOP_DESTROY, (PetscErrorCodeFn *)MatDestroy_BornNormal));
  PetscCall(MatSetOption(*N, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(*N, MAT_SYMMETRY_ETERNAL, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
