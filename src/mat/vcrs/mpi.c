/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Products of a MATVCRS on many processes: a MATMPIAIJ whose diagonal and off-diagonal blocks are MATSEQAIJVCRS.

   The products are not those of MATMPIAIJ, because the ghost vector must have the type of the input vector (on the
   host or on the device). MATMPIAIJ fixes that type when it is assembled.
*/

#include "vcrsimpl.h"
#include <petscsf.h>

/* The blocks ready for a product with x */
static PetscErrorCode MatVCRSGetProductData_Private(Mat A, Vec x, Mat *Ad, Mat *Ao)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSCompressFor_Private(A, x));
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   y = op(A) x (+ add). Ghost values travel while the diagonal block is multiplied. A transposed product starts with the
   off-diagonal block, and the result of that block travels afterwards.
*/
PetscErrorCode MatVCRSApply_MPI(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat     Ad, Ao;
  Vec     lvec = NULL;
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetProductData_Private(A, x, &Ad, &Ao));
  if (op == VCRS_OP_N) {
    PetscCall(MatVCRSGhostsBegin_Private(A, x));
    PetscCall(MatVCRSApply(Ad, op, x, add, y));
    PetscCall(MatVCRSAddGhosts_Private(A, Ao, x, y));
  } else {
    PetscCall(MatGetMultPetscSF(A, &sf));
    PetscCall(MatVCRSGetTransposedGhosts_Private(A, x, Ao, &lvec));
    PetscCall(MatVCRSApply(Ao, op, x, NULL, lvec));
    PetscCall(MatVCRSApply(Ad, op, x, add, y));
    PetscCall(VecScatterBegin(sf, lvec, y, ADD_VALUES, SCATTER_REVERSE));
    PetscCall(VecScatterEnd(sf, lvec, y, ADD_VALUES, SCATTER_REVERSE));
    PetscCall(MatVCRSRestoreTransposedGhosts_Private(A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = x + scale A x, and sums: in one sweep if few rows need ghost values. These rows are completed at the end */
PetscErrorCode MatVCRSStep_MPI(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;
  PetscBool few = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSGetProductData_Private(A, x, &Ad, &Ao));
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, &few));
  PetscCall(MatVCRSGhostsBegin_Private(A, x));
  if (few) PetscCall(MatVCRSStep_Seq(Ad, scale, rows, x, y, nsums, sums));
  else PetscCall(MatVCRSApply(Ad, VCRS_OP_N, x, NULL, y));
  if (few) PetscCall(MatVCRSStepGhosts_Private(A, Ao, scale, x, y, nsums, sums));
  else {
    PetscCall(MatVCRSAddGhosts_Private(A, Ao, x, y));
    PetscCall(LitheStepVectors(scale, PETSC_FALSE, x, y, nsums, sums));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSStepLeavesOut_MPI(Mat A, PetscBool device, PetscBool *leaves)
{
  Mat Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &Ad, &Ao, NULL));
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, leaves));
  if (*leaves) PetscCall(MatVCRSStepLeavesOut_Seq(Ad, device, leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* operations of MATMPIAIJ (SOR, for example) multiply with the blocks; assembly therefore converts the blocks */
PetscErrorCode MatAssemblyEnd_MPIAIJVCRS(Mat A, MatAssemblyType type)
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.ops.assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && !A->hash_active) PetscCall(MatVCRSGetBlocks_Private(A, &Ad, &Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}
