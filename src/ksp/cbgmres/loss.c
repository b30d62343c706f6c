/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The loss of a storage on the vectors of the actual solve, measured on some vectors, and the reaction.

   Preconditioned vectors of a flexible method have any size and direction. A large common part, in or near the null
   space of the operator, determines their rounding, and the operator sees only the remainder. The operator is therefore
   also applied to the lost part of a column. If the result is not small compared to the image of the stored column, the
   second basis gets more bits. A declared null space of the operator is removed before.

   Columns of the first basis have norm 1. If residuals of different units lie side by side, small entries are lost
   beside large ones in a storage with one exponent per block, or with a short range. The lost entries of a residual are
   counted. If many are lost, the columns are stored as floating point numbers with the same number of bits, with a
   separate exponent each.
*/

#include "cbgmresimpl.h"

#define CB_LOST 0.1 /* the largest part of an image that may come from rounding */
#define CB_LOST_FIRST \
  1.5 /* of the first column's. Noise gives 1 at most, and the next columns remove the rest of a smooth large vector; more is a missing part */
#define CB_UNLIKE 0.003 /* the largest share of lost entries */
#define CB_COARSE 300.0 /* the same, in units of rounding: in coarse storages, zeros of a field affect their neighbours */
#define CB_NOISE  0.125 /* the largest share of rounded zeros if units are unknown */

/* 0, 1, 3, 7, ...: measured columns and cycles */
static PetscBool CBGMRESMeasured_Private(PetscInt j)
{
  return (PetscBool) !(j & (j + 1));
}

/* Removes the part of a vector in the null space of the operator, if declared */
PetscErrorCode CBGMRESRemoveNullSpace_Private(KSP ksp, Vec x)
{
  MatNullSpace nullspace;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->transpose_solve) PetscCall(MatGetTransposeNullSpace(A, &nullspace));
  else PetscCall(MatGetNullSpace(A, &nullspace));
  if (nullspace) PetscCall(MatNullSpaceRemove(nullspace, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Gives the second basis more bits, and stores its columns 0 ... k-1 again. CB_IMAGE is lost */
PetscErrorCode CBGMRESRaisePreconditioned_Private(KSP ksp, PetscInt k, PetscBool *raised)
{
  KSP_CBGMRES *gm  = (KSP_CBGMRES *)ksp->data;
  CBBasis      old = gm->bases.Z;
  char         name[16], newname[16];

  PetscFunctionBegin;
  *raised = PETSC_FALSE;
  if (!gm->flexible || old->storage.kind == LITHE_STORAGE_FULL) PetscFunctionReturn(PETSC_SUCCESS);
  gm->bases.finer++;
  PetscCall(CBGMRESCreatePreconditioned_Private(ksp, old->columns));
  for (PetscInt i = 0; i < k; i++) {
    PetscCall((*old->ops->load)(old, i, CB_IMAGE(ksp)));
    PetscCall((*gm->bases.Z->ops->store)(gm->bases.Z, i, 1.0, CB_IMAGE(ksp), NULL));
  }
  PetscCall(CBGMRESStorageName_Private(&old->storage, name, sizeof(name)));
  PetscCall(CBGMRESStorageName_Private(&gm->bases.Z->storage, newname, sizeof(newname)));
  PetscCall(PetscInfo(ksp, "Iteration %" PetscInt_FMT ": the storage %s is too coarse for preconditioned vectors, now %s\n", ksp->its, name, newname));
  PetscCall(CBBasisDestroy(&old));
  *raised = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column j of the second basis is CB_WORK, rounded; CB_IMAGE is its image by the operator. CB_COLUMN is lost */
PetscErrorCode CBGMRESStorePreconditioned_Private(KSP ksp, PetscInt j)
{
  KSP_CBGMRES *gm       = (KSP_CBGMRES *)ksp->data;
  PetscBool    measured = (PetscBool)(CBGMRESMeasured_Private(gm->cycle.cycles) && CBGMRESMeasured_Private(j)), raised;
  PetscReal    lost, image, most = j || gm->cycle.limit == 1 ? CB_LOST : CB_LOST_FIRST;
  Mat          A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  PetscCall(CBGMRESRemoveNullSpace_Private(ksp, CB_WORK(ksp)));
  while (measured && gm->bases.Z->storage.kind != LITHE_STORAGE_FULL) {
    PetscCall((*gm->bases.Z->ops->store)(gm->bases.Z, j, 1.0, CB_WORK(ksp), CB_COLUMN(ksp)));
    PetscCall(VecAXPY(CB_WORK(ksp), -1.0, CB_COLUMN(ksp)));
    PetscCall(KSP_MatMult(ksp, A, CB_WORK(ksp), CB_IMAGE(ksp)));
    PetscCall(VecNorm(CB_IMAGE(ksp), NORM_2, &lost));
    PetscCall(KSP_MatMult(ksp, A, CB_COLUMN(ksp), CB_IMAGE(ksp)));
    PetscCall(VecNorm(CB_IMAGE(ksp), NORM_2, &image));
    if (!(lost > most * image)) PetscFunctionReturn(PETSC_SUCCESS);
    PetscCall(VecAXPY(CB_WORK(ksp), 1.0, CB_COLUMN(ksp)));
    PetscCall(PetscInfo(ksp, "Column %" PetscInt_FMT ": the part of the preconditioned vector lost by rounding has an image of norm %g, the rest %g\n", j,
                        (double)lost, (double)image));
    PetscCall(CBGMRESRaisePreconditioned_Private(ksp, j, &raised));
  }
  PetscCall((*gm->bases.Z->ops->store)(gm->bases.Z, j, 1.0, CB_WORK(ksp), CB_WORK(ksp)));
  PetscCall(KSP_MatMult(ksp, A, CB_WORK(ksp), CB_IMAGE(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Sets CB_WORK to 0 for entries of the residual in CB_IMAGE at the rounding level of zero, in units of their equation;
   to 1 for all other entries. A residual without preconditioner has the units of the operator's rows, and therefore of
   the diagonal. Otherwise units are unknown, and only few entries may be rounded zeros.
*/
static PetscErrorCode CBGMRESMarkNoise_Private(KSP ksp, PetscReal lost)
{
  PetscBool known = PETSC_FALSE;
  PetscReal largest;
  Mat       A;

  PetscFunctionBegin;
  PetscCall(PCGetOperators(ksp->pc, &A, NULL));
  if (ksp->pc_side == PC_RIGHT) PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &known));
  if (known) PetscCall(MatGetDiagonal(A, CB_WORK(ksp)));
  else PetscCall(VecSet(CB_WORK(ksp), 1.0));
  if (!known && lost > CB_NOISE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecPointwiseDivide(CB_COLUMN(ksp), CB_IMAGE(ksp), CB_WORK(ksp)));
  PetscCall(VecNorm(CB_COLUMN(ksp), NORM_INFINITY, &largest));
  PetscCall(VecFilter(CB_COLUMN(ksp), 16.0 * PETSC_MACHINE_EPSILON * largest));
  PetscCall(VecPointwiseMult(CB_WORK(ksp), CB_COLUMN(ksp), CB_WORK(ksp)));
  PetscCall(VecPointwiseDivide(CB_WORK(ksp), CB_WORK(ksp), CB_IMAGE(ksp)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The mean square of the relative loss of the storage over the entries of the residual in CB_IMAGE; marked: only over
   entries marked in CB_WORK
*/
static PetscErrorCode CBGMRESGetLost_Private(KSP ksp, PetscBool marked, PetscReal *lost)
{
  KSP_CBGMRES *gm = (KSP_CBGMRES *)ksp->data;
  PetscInt     n;

  PetscFunctionBegin;
  gm->bases.V->paired = 0;
  gm->bases.V->scale  = NULL;
  PetscCall((*gm->bases.V->ops->store)(gm->bases.V, 0, 1.0 / gm->cycle.start, CB_IMAGE(ksp), CB_COLUMN(ksp)));
  PetscCall(VecScale(CB_COLUMN(ksp), gm->cycle.start));
  /* 0/0 is 1 here, and the lost part is 0 */
  PetscCall(VecPointwiseDivide(CB_COLUMN(ksp), CB_COLUMN(ksp), CB_IMAGE(ksp)));
  PetscCall(VecShift(CB_COLUMN(ksp), -1.0));
  if (marked) PetscCall(VecPointwiseMult(CB_COLUMN(ksp), CB_COLUMN(ksp), CB_WORK(ksp)));
  PetscCall(VecNorm(CB_COLUMN(ksp), NORM_2, lost));
  PetscCall(VecGetSize(CB_COLUMN(ksp), &n));
  *lost *= *lost / (PetscReal)n;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A cycle begins with the residual in CB_IMAGE. If the storage loses too many of its entries, the bases are remade,
   with an exponent for each number
*/
PetscErrorCode CBGMRESMeasureUnits_Private(KSP ksp)
{
  KSP_CBGMRES    *gm   = (KSP_CBGMRES *)ksp->data;
  LitheStorage    next = gm->bases.storage;
  const PetscReal unit = CBGMRESStorageUnit_Private(&gm->bases.storage), few = PetscMax(PetscMax(CB_UNLIKE, 8.0 * unit), PetscMin(CB_COARSE * unit, 0.1));
  PetscReal       lost;
  PetscBool       raised;
  char            why[96];

  PetscFunctionBegin;
  /* for later solves that have a second cycle */
  if (!CBGMRESMeasured_Private(gm->cycle.cycles) || (gm->bases.measured && !gm->cycle.cycles) || !CBGMRESStorageFloat_Private(&next))
    PetscFunctionReturn(PETSC_SUCCESS);
  gm->bases.measured = PETSC_TRUE;
  PetscCall(CBGMRESGetLost_Private(ksp, PETSC_FALSE, &lost));
  if (!(lost > few)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CBGMRESMarkNoise_Private(ksp, lost));
  PetscCall(CBGMRESGetLost_Private(ksp, PETSC_TRUE, &lost));
  if (!(lost > few)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(why, sizeof(why), "loses %g of the residual's entries beside others of unlike size", (double)lost));
  PetscCall(CBGMRESRaiseBases_Private(ksp, PETSC_TRUE, why, &raised));
  PetscFunctionReturn(PETSC_SUCCESS);
}
