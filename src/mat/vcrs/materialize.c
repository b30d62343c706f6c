/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A MATVCRS without entries; AIJ arrays decoded from a plan.

   No function here communicates: one process may call it alone.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/*
   An assembled MATSEQAIJVCRS without entries and arrays. For millions of rows, the arrays of an empty matrix would take
   longer than a compression. The caller must drop the AIJ arrays first
*/
PetscErrorCode MatVCRSCreateAssembled_Private(MPI_Comm comm, PetscInt m, PetscInt n, Mat *B)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, B));
  PetscCall(MatSetSizes(*B, m, n, m, n));
  PetscCall(MatSetType(*B, MATSEQAIJVCRS));
  PetscCall(MatSeqAIJSetPreallocation(*B, MAT_SKIP_ALLOCATION, NULL));
  PetscCall(MatVCRSGetDrop_Private(*B, &drop));
  PetscCall(VCRSDropRecordOption(drop, MAT_ROW_ORIENTED, PETSC_TRUE));
  (*B)->assembled = PETSC_TRUE;
  (*B)->num_ass   = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, with A's size and vector type */
PetscErrorCode MatVCRSCreateEmpty_Private(Mat A, Mat *B)
{
  VecType vectype;

  PetscFunctionBegin;
  PetscCall(MatVCRSCreateAssembled_Private(PetscObjectComm((PetscObject)A), A->rmap->n, A->cmap->n, B));
  PetscCall(MatSetBlockSizesFromMats(*B, A, A));
  PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatSetVecType(*B, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Creates a MATSEQAIJ of A's size. Option -mat_seqaij_type may have selected another type */
PetscErrorCode MatVCRSCreateSeqAIJ_Private(Mat A, const char prefix[], Mat *T)
{
  PetscBool isaij;

  PetscFunctionBegin;
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), T));
  PetscCall(PetscObjectSetOptions((PetscObject)*T, ((PetscObject)A)->options));
  PetscCall(MatSetOptionsPrefix(*T, prefix));
  PetscCall(MatSetLayouts(*T, A->rmap, A->cmap));
  PetscCall(MatSetType(*T, MATSEQAIJ));
  PetscCall(PetscObjectTypeCompare((PetscObject)*T, MATSEQAIJ, &isaij));
  if (!isaij) PetscCall(MatConvert(*T, MATSEQAIJ, MAT_INPLACE_MATRIX, T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Creates a MATSEQAIJ with the pattern of A's plan, and with the values of the plan or zeros. The decoder writes
   directly into the arrays of the new matrix: no second copy exists.
*/
PetscErrorCode MatVCRSDecode_Private(Mat A, const char prefix[], PetscBool values, Mat *T)
{
  const VCRSPlan *plan = NULL;
  VCRSDrop       *drop;
  const PetscInt *ti, *tj;
  PetscScalar    *ta;
  PetscInt       *nnz;
  const PetscInt  m     = A->rmap->n;
  PetscBool       known = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatVCRSCreateSeqAIJ_Private(A, prefix, T));
  PetscCall(PetscMalloc1(m + 1, &nnz));
  PetscCall(VCRSPlanDecodeRowPointers(plan, nnz));
  for (PetscInt i = 0; i < m; i++) nnz[i] = nnz[i + 1] - nnz[i];
  PetscCall(MatSeqAIJSetPreallocation(*T, 0, nnz));
  PetscCall(PetscFree(nnz));

  /* MATSEQAIJ identifies data derived from a pattern by the nonzero state: A and the new data must have the same
     state */
  (*T)->nonzerostate = A->nonzerostate;

  PetscCall(MatSeqAIJGetCSRAndMemType(*T, &ti, &tj, &ta, NULL));
  if (plan->nz) {
    PetscCall(VCRSPlanDecode(plan, (PetscInt *)ti, (PetscInt *)tj, ta));
    PetscCall(MatSeqAIJSetColumnIndices(*T, (PetscInt *)tj));
    if (!values) PetscCall(PetscArrayzero(ta, plan->nz));
  }

  /* the options of A; new nonzeros are allowed if their option is unknown */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_NEW_NONZERO_LOCATIONS || drop->option[k] == MAT_NEW_NONZERO_LOCATION_ERR || drop->option[k] == MAT_NEW_NONZERO_ALLOCATION_ERR)
      known = PETSC_TRUE;
  }
  if (!known) PetscCall(MatSetOption(*T, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt k = 0; k < drop->noptions; k++) PetscCall(MatSetOption(*T, drop->option[k], drop->value[k]));

  /* Not MatAssemblyEnd(), which would obey -mat_view */
  PetscUseTypeMethod(*T, assemblyend, MAT_FINAL_ASSEMBLY);
  (*T)->assembled        = PETSC_TRUE;
  (*T)->num_ass          = 1;
  (*T)->ass_nonzerostate = (*T)->nonzerostate;
  PetscCall(PetscObjectStateIncrease((PetscObject)*T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSMaterializeAIJ_Seq(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSDrop   *drop;
  Mat         T;
  void       *data;
  const char *prefix;
  PetscBool   dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(PetscLogEventBegin(MAT_VCRSMaterialize, A, 0, 0, 0));
  PetscCall(MatGetOptionsPrefix(A, &prefix));
  PetscCall(MatVCRSDecode_Private(A, prefix, PETSC_TRUE, &T));
  data    = A->data;
  A->data = T->data;
  T->data = data;
  PetscCall(MatDestroy(&T));
  PetscCall(MatVCRSRestoreOperations_Private(A));
  MatVCRSSetDropped_Private(ctx, PETSC_FALSE);
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));

  /* options that also change the table of operations */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_USE_INODES || drop->option[k] == MAT_SORTED_FULL) PetscCall((*ctx->super.ops.setoption)(A, drop->option[k], drop->value[k]));
  }

  /* the matrix holds the entries of the plan, as before */
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscCall(PetscLogEventEnd(MAT_VCRSMaterialize, A, 0, 0, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSMaterializeAIJ_MPI(Mat A)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;
  Mat       block[2];
  PetscBool dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  for (int b = 0; b < 2; b++) PetscCall(MatVCRSMaterializeAIJ_Seq(block[b]));
  PetscCall(MatVCRSRestoreOperations_Private(A));
  MatVCRSSetDropped_Private(ctx, PETSC_FALSE);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSMaterializeAIJ - Restores the AIJ arrays of a `MATVCRS` matrix after `MatVCRSDropAIJ()`

  Not Collective

  Input Parameter:
. A - the matrix

  Level: intermediate

  Notes:
  The call has no effect if the arrays exist. Operations that need the arrays call this function. A program must call
  this function before `MatSeqAIJGetArray()` and its relatives.

  The compressed form stays valid until values change.

.seealso: `MATVCRS`, `MatVCRSDropAIJ()`
@*/
PetscErrorCode MatVCRSMaterializeAIJ(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(ctx, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first",
             ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSMaterializeAIJ_MPI(A));
  else PetscCall(MatVCRSMaterializeAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Restores the AIJ arrays of A for an operation. A may be NULL, may have any type, and may have its arrays */
PetscErrorCode MatVCRSMaterializeOperand_Private(Mat A, const char operation[])
{
  PetscBool dropped;

  PetscFunctionBegin;
  if (!A) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  if (!dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscInfo(A, "The AIJ arrays are taken again for %s\n", operation));
  PetscCall(MatVCRSMaterializeAIJ(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
