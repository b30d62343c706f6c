/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Dropping the AIJ arrays of a MATVCRS.

   Dropping swaps the object's data with the data of an empty MATSEQAIJ, whose destruction frees the arrays. Dropping
   also replaces the table of operations. In the new table

     - products, diagonal, rows, norms, relaxation, information and copies come from the plan (serve.c);
     - any other operation decodes the plan into AIJ arrays, restores the old table, and then calls the requested
       operation (retake.c, materialize.c).

   A parallel matrix drops both blocks and also gets a new table, because many operations of MATMPIAIJ read the arrays
   of the blocks directly. The arrays are restored without communication, in operations that one process may call alone.
   An operation with communication must therefore communicate in the same way on processes with and without arrays.

   Options such as MAT_ROW_ORIENTED are part of the old data and have no other record. MatSetOption_VCRS() records the
   options, which are set again with the arrays.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/* Gives A the operations of a matrix without AIJ arrays, and stores its former operations */
static PetscErrorCode MatVCRSReplaceOperations_Private(Mat A, PetscBool parallel)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  drop->live  = *A->ops;
  drop->data  = A->data;
  drop->given = PETSC_TRUE;
  PetscCall(MatVCRSRetakeInstall_Private(A, parallel));
  PetscCall(MatVCRSServeInstall_Private(A, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetOption_VCRS(Mat A, MatOption op, PetscBool flg)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;
  PetscBool parallel, dropped;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSIsDropped_Private(A, &dropped));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  PetscCall(VCRSDropRecordOption(drop, op, flg));
  if (dropped && op == MAT_STRUCTURE_ONLY) {
    PetscCall(MatVCRSMaterializeAIJ(A));
    dropped = PETSC_FALSE;
  }
  /* the data of a dropped matrix is not its own, and MAT_SORTED_FULL would overwrite its table: both options wait
     for the arrays */
  if (dropped && !parallel && op != MAT_SUBMAT_SINGLEIS && op != MAT_FORM_EXPLICIT_TRANSPOSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*ctx->super.ops.setoption)(A, op, flg));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the arrays must stay. The option -info prints why */
static PetscErrorCode MatVCRSMustKeep_Private(Mat A, PetscBool *keep)
{
  const char *reason = NULL;
  Mat_VCRS   *ctx;
  VCRSDrop   *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The AIJ arrays of an unassembled matrix cannot be dropped: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->structure_only) reason = "it has no values";
  else if (A->factortype) reason = "it is a factor";
  else if (A->hash_active) reason = "it is being assembled";
  else if (drop->stored) reason = "MatStoreValues() keeps values in it";
  else if (drop->coloring) reason = "a MatFDColoring points into them";
  else if (A->product && (A->product->type == MATPRODUCT_ABt || A->product->type == MATPRODUCT_RARt))
    reason =
      "it is a product with a transpose on the right, into which PETSc writes one value more than there are"; /* MatMatTransposeMultNumeric_SeqAIJ_SeqAIJ() */
  else if (A->ops->destroy != ctx->methods.destroy) reason = "it is a submatrix that is kept for another extraction";
  *keep = reason ? PETSC_TRUE : PETSC_FALSE;
  if (*keep) PetscCall(PetscInfo(A, "The AIJ arrays are not given back: %s\n", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Finds the value of MAT_ROW_ORIENTED if it was set before the matrix became a MATVCRS. No function returns the value,
   and a wrong guess would transpose blocks that a program inserts later. The test inserts two values for one entry, at
   two places of a block whose other rows and columns are negative and thus ignored. The stored value shows the
   orientation.
*/
static PetscErrorCode MatVCRSLearnRowOriented_Private(Mat A)
{
  Mat_VCRS        *ctx;
  VCRSDrop        *drop;
  const PetscInt  *ai, *aj;
  PetscScalar     *aa, old, v[4] = {0.0, 0.0, 0.0, 0.0};
  PetscInt         row = 0, rows[2] = {-1, 0}, cols[2] = {0, -1};
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_ROW_ORIENTED) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &ai, &aj, &aa, NULL));
  while (row < A->rmap->n && ai[row] == ai[row + 1]) row++;
  if (row == A->rmap->n || A->sortedfull) PetscFunctionReturn(PETSC_SUCCESS);
  rows[1] = row;
  cols[0] = aj[ai[row]];
  old     = aa[ai[row]];
  v[1]    = 1.0; /* arrives if columns come first */
  v[2]    = 2.0; /* arrives if rows come first */
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  PetscCall((*ctx->super.ops.setvalues)(A, 2, rows, 2, cols, v, INSERT_VALUES));
  PetscCall(VCRSDropRecordOption(drop, MAT_ROW_ORIENTED, (PetscBool)(aa[ai[row]] != v[1])));
  aa[ai[row]] = old;
  PetscCall(PetscObjectStateSet((PetscObject)A, state)); /* nothing has changed */
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSDropAIJ_Seq(Mat A)
{
  Mat_VCRS *ctx;
  Mat       empty;
  void     *data;
  PetscInt  inodes = 0;
  PetscBool keep;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSMustKeep_Private(A, &keep));
  if (keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSCompress(A));
  if (ctx->last.dropped) PetscFunctionReturn(PETSC_SUCCESS); /* now, or by -mat_vcrs_drop_aij */
  PetscCall(MatVCRSOperatorGuardStart());
  PetscCall(MatVCRSLearnRowOriented_Private(A));
  PetscCall(MatInodeGetInodeSizes(ctx->from.source ? ctx->from.source : A, &inodes, NULL, NULL));

  /* the destruction of an empty MATSEQAIJ frees the data */
  PetscCall(MatVCRSCreateSeqAIJ_Private(A, ((PetscObject)A)->prefix, &empty));
  data        = A->data;
  A->data     = empty->data;
  empty->data = data;
  PetscCall(MatDestroy(&empty));

  PetscCall(MatVCRSReplaceOperations_Private(A, PETSC_FALSE));
  /* only MATSEQAIJ can relax blocks of rows, as it does with inodes */
  if (inodes) PetscCall(MatVCRSRetakeInstallSOR_Private(A));
  MatVCRSSetDropped_Private(ctx, PETSC_TRUE);
  PetscCall(MatVCRSPlacePlainRows_Private(A));
  PetscCall(PetscInfo(A, "The AIJ arrays are given back\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSDropAIJ_MPI(Mat A)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop, *blockdrop;
  Mat       block[2];
  PetscBool keep;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSMustKeep_Private(A, &keep));
  if (keep) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, &block[0], &block[1], NULL));
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  for (int b = 0; b < 2; b++) {
    /* options set before the blocks became MATSEQAIJVCRS */
    PetscCall(MatVCRSGetDrop_Private(block[b], &blockdrop));
    if (!blockdrop->noptions) {
      PetscCall(VCRSDropRecordOption(blockdrop, MAT_ROW_ORIENTED, PETSC_TRUE));
      for (PetscInt k = 0; k < drop->noptions; k++) PetscCall(VCRSDropRecordOption(blockdrop, drop->option[k], drop->value[k]));
    }
    PetscCall(MatVCRSDropAIJ_Seq(block[b]));
  }
  if (!ctx->last.dropped) PetscCall(MatVCRSReplaceOperations_Private(A, PETSC_TRUE));
  MatVCRSSetDropped_Private(ctx, PETSC_TRUE);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSDropAIJ - Frees the AIJ arrays of a `MATVCRS` matrix and keeps only the compressed form

  Collective

  Input Parameter:
. A - the matrix, assembled

  Options Database Key:
. -mat_vcrs_drop_aij - drop after each compression, which is at the first product after a change

  Level: intermediate

  Notes:
  The compressed form then serves products, including products with transposes and dense matrices. It also serves
  `MatGetDiagonal()`, `MatGetRow()` (one row at a time), `MatNorm()`, `MatSOR()`, `MatGetInfo()`, `MatView()`,
  `MatDuplicate()` and the conversion to `MATAIJ`. Any other operation first restores the arrays, as
  `MatVCRSMaterializeAIJ()` does; `-info` reports the operation. The arrays then stay until the matrix has been changed
  and compressed again, or until the next call of this function.

  A duplicate of a lossless matrix of one process has no arrays, either. Both matrices share the compressed form until
  one of the two changes.

  A CPU may then multiply a small matrix from plain rows, which take about as many bytes as the AIJ arrays, see
  `MATVCRS`.

  The restored arrays of a lossy matrix have the changed values: the exact values are lost. The option therefore keeps
  the arrays of a lossy matrix unless `MatVCRSSetAllowLossyOperator()` was called. This function frees the arrays in any
  case.

  The arrays stay if they hold data that the compressed form lacks, or if another object points to them. Examples are a
  call of `MatStoreValues()`, a `MatFDColoring` of the matrix (the default Jacobian of `SNES`), and a submatrix that
  PETSc keeps for another extraction. `-info` reports each case.

  Some functions of PETSc return the arrays without a call to the matrix: `MatSeqAIJGetArray()`,
  `MatSeqAIJGetArrayRead()` and `MatSeqAIJGetCSRAndMemType()` return `NULL` for a matrix without AIJ arrays. Call
  `MatVCRSMaterializeAIJ()` before these functions, before `MatCreateMAIJ()`, and before a `MatColoring` of type greedy.
  `MatGetRowIJ()` restores the arrays itself. `MatIsTranspose()` needs two matrices with arrays, or two without.

  Options of `MatSetOption()` from before the conversion to `MATVCRS` are unknown when the arrays are restored. New
  nonzeros are then allowed, and all options except `MAT_ROW_ORIENTED` have their defaults.

.seealso: `MATVCRS`, `MatVCRSMaterializeAIJ()`, `MatVCRSGetInfo()`
@*/
PetscErrorCode MatVCRSDropAIJ(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscValidType(A, 1);
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG,
             "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first", ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSDropAIJ_MPI(A));
  else {
    PetscCall(MatVCRSDropAIJ_Seq(A));
    MatVCRSSetDropCopies_Private(ctx);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
