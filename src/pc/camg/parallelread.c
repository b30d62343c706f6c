/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The finest matrix of a PCCAMG on several processes */

#include "camgimpl.h"

/* As PCCAMGSurvey_Private(), over all processes */
static PetscErrorCode Survey_Private(Mat A, double largest[2], PetscInt *sign, PetscBool *good)
{
  CAMGMatrix  L;
  PetscInt    n, *ghost;
  PetscMPIInt finite;
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(PCCAMGGetLocal_Private(A, 1, &L, &n, &ghost));
  PetscCall(PCCAMGSurvey_Private(&L, largest, sign, good));
  PetscCall(PCCAMGMatrixFree_Private(&L));
  PetscCall(PetscFree(ghost));
  finite = *good;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, largest, 2, MPI_DOUBLE, MPI_MAX, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sign, 1, MPIU_INT, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &finite, 1, MPI_INT, MPI_MIN, comm));
  *good = (PetscBool)(finite != 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Pseudorandom numbers over the roots of the diagonal */
static PetscErrorCode Fill_Private(Vec diagonal, PetscInt stream, Vec x)
{
  const PetscScalar *d;
  PetscScalar       *a;
  PetscInt           begin, end;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayRead(diagonal, &d));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt r = begin; r < end; r++) {
    const PetscReal size = PetscSqrtReal(PetscAbsScalar(d[r - begin]));

    a[r - begin] = size > 0 ? CAMGRandomNumber(2 * r + stream) / size : 0;
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As PCCAMGIsSymmetric_Private() */
static PetscErrorCode IsSymmetric_Private(Mat A, PetscBool *symmetric)
{
  Vec         diagonal, x[2], y;
  PetscScalar form[2];
  PetscReal   size;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &diagonal, &y));
  PetscCall(MatGetDiagonal(A, diagonal));
  for (int v = 0; v < 2; v++) {
    PetscCall(VecDuplicate(diagonal, &x[v]));
    PetscCall(Fill_Private(diagonal, v, x[v]));
  }
  for (int v = 0; v < 2; v++) {
    PetscCall(MatMult(A, x[v], y));
    PetscCall(VecDot(y, x[1 - v], &form[v]));
  }
  PetscCall(VecPointwiseMult(y, y, x[1]));
  PetscCall(VecNorm(y, NORM_2, &size));
  *symmetric = (PetscBool)(PetscAbsScalar(form[0] - PetscConj(form[1])) <= 1e-10 * size);
  PetscCall(VecDestroy(&diagonal));
  for (int v = 0; v < 2; v++) PetscCall(VecDestroy(&x[v]));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* diag(left) A diag(right) times a factor */
static PetscErrorCode Scale_Private(const PC_CAMG *mg, Mat A, double factor)
{
  Vec          v[2];
  PetscScalar *a;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &v[1], &v[0]));
  for (int side = 0; side < 2; side++) {
    PetscCall(VecGetLocalSize(v[side], &n));
    PetscCall(VecGetArray(v[side], &a));
    for (PetscInt r = 0; r < n; r++) a[r] = (PetscReal)(mg->units.outer[side][r] * (side ? 1 : factor));
    PetscCall(VecRestoreArray(v[side], &a));
  }
  PetscCall(MatDiagonalScale(A, v[0], v[1]));
  for (int side = 0; side < 2; side++) PetscCall(VecDestroy(&v[side]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A scaled copy of the matrix as MATMPIAIJ, and its near null space; *good: FALSE if an entry is not finite */
PetscErrorCode PCCAMGReadShared_Private(PC pc, Mat *A, CAMGSpace *space, PetscBool *good)
{
  PC_CAMG     *mg    = (PC_CAMG *)pc->data;
  MatNullSpace given = NULL;
  PetscInt     block, sign, m;
  double       largest[2], factor;
  PetscBool    known;

  PetscFunctionBegin;
  PetscCall(MatConvert(pc->pmat, MATMPIAIJ, MAT_INITIAL_MATRIX, A));
  PetscCall(MatGetLocalSize(*A, &m, NULL));
  PetscCall(PCCAMGGetGiven_Private(mg, pc->pmat, &block, &given));
  *space = (CAMGSpace){.block = block, .columns = 1};
  PetscCall(Survey_Private(*A, largest, &sign, good));
  if (!*good) {
    PetscCall(MatDestroy(A));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  mg->matrix.largest = (PetscReal)largest[0];
  mg->units.factor = factor = LitheMGScaleOf(largest[0] > 0 ? largest[0] : largest[1]) * (sign < 0 ? -1 : 1);
  mg->matrix.nearnull       = LITHE_NEAR_NULL_CONSTANT;
  PetscCall(MatIsHermitianKnown(pc->pmat, &known, &mg->matrix.symmetric));
  if (!known) PetscCall(IsSymmetric_Private(*A, &mg->matrix.symmetric));
  PetscCall(PCCAMGGetOuter_Private(mg, pc->pmat, (PetscBool)(block > 1 || given || mg->opt.nearnull == CAMG_NEAR_NULL_CONSTANT), m));
  PetscCall(PCCAMGGetSpace_Private(pc, given, m, space));
  PetscCall(Scale_Private(mg, *A, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}
