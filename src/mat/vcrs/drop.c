/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Dropping the AIJ arrays of a MATVCRS.

   Dropping swaps the object's data with that of an empty MATSEQAIJ, whose destruction frees the arrays. It also
   replaces the table of operations by one in which

     - products, diagonal, rows, norms, relaxation, information and copies come from the plan (serve.c);
     - everything else decodes the plan into AIJ arrays, puts the old table back, and then calls the operation that
       was asked for (retake.c, materialize.c).

   A parallel matrix drops both of its blocks and gets such a table of its own, because many of MATMPIAIJ's operations
   read the arrays of the blocks directly. The arrays return without communication, in operations that one process may
   call alone. An operation that does communicate must therefore do so in the same way on processes with and without
   arrays.

   Options such as MAT_ROW_ORIENTED are part of the old data and have no other record. MatSetOption_VCRS() records
   them, and they are set again with the arrays.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

/* Gives A the operations of a matrix without AIJ arrays and keeps those that it has */
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
  /* The data of a dropped matrix is not its own, and MAT_SORTED_FULL would overwrite its table; both wait for the arrays */
  if (dropped && !parallel && op != MAT_SUBMAT_SINGLEIS && op != MAT_FORM_EXPLICIT_TRANSPOSE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*ctx->super.setoption)(A, op, flg));
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
             "The AIJ arrays of a matrix that is not assembled cannot be given back: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->structure_only) reason = "it has no values";
  else if (A->factortype) reason = "it is a factor";
  else if (A->hash_active) reason = "it is being assembled";
  else if (drop->stored) reason = "MatStoreValues() keeps values in it";
  else if (drop->coloring) reason = "a MatFDColoring points into them";
  else if (A->product && (A->product->type == MATPRODUCT_ABt || A->product->type == MATPRODUCT_RARt))
    reason =
      "it is a product with a transpose on the right, into which PETSc writes one value more than there are"; /* MatMatTransposeMultNumeric_SeqAIJ_SeqAIJ() */
  else if (A->ops->destroy != ctx->destroy) reason = "it is a submatrix that is kept for another extraction";
  *keep = reason ? PETSC_TRUE : PETSC_FALSE;
  if (*keep) PetscCall(PetscInfo(A, "The AIJ arrays are not given back: %s\n", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Finds MAT_ROW_ORIENTED of a matrix that had it set before it became a MATVCRS. No function returns it, and a wrong
   guess would transpose the blocks that a program inserts later. So two values for one entry are inserted, at two
   places of a block whose other rows and columns are negative and thus ignored. The value that arrives shows the
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
  PetscCall((*ctx->super.setvalues)(A, 2, rows, 2, cols, v, INSERT_VALUES));
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
  if (ctx->dropped) PetscFunctionReturn(PETSC_SUCCESS); /* now, or by -mat_vcrs_drop_aij */
  PetscCall(MatVCRSOperatorGuardStart());
  PetscCall(MatVCRSLearnRowOriented_Private(A));
  PetscCall(MatInodeGetInodeSizes(ctx->source ? ctx->source : A, &inodes, NULL, NULL));

  /* An empty MATSEQAIJ takes the data along when it is destroyed */
  PetscCall(MatVCRSCreateSeqAIJ_Private(A, ((PetscObject)A)->prefix, &empty));
  data        = A->data;
  A->data     = empty->data;
  empty->data = data;
  PetscCall(MatDestroy(&empty));

  PetscCall(MatVCRSReplaceOperations_Private(A, PETSC_FALSE));
  /* With inodes MATSEQAIJ relaxes blocks of rows; only it can */
  if (inodes) PetscCall(MatVCRSRetakeInstallSOR_Private(A));
  ctx->dropped = PETSC_TRUE;
  ctx->gone    = ctx->lost;
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
    /* Options that were set before the blocks were ours */
    PetscCall(MatVCRSGetDrop_Private(block[b], &blockdrop));
    if (!blockdrop->noptions) {
      PetscCall(VCRSDropRecordOption(blockdrop, MAT_ROW_ORIENTED, PETSC_TRUE));
      for (PetscInt k = 0; k < drop->noptions; k++) PetscCall(VCRSDropRecordOption(blockdrop, drop->option[k], drop->value[k]));
    }
    PetscCall(MatVCRSDropAIJ_Seq(block[b]));
  }
  if (!ctx->dropped) PetscCall(MatVCRSReplaceOperations_Private(A, PETSC_TRUE));
  ctx->dropped = PETSC_TRUE;
  ctx->gone    = ctx->lost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSDropAIJ - Gives the AIJ arrays of a `MATVCRS` matrix back and keeps only the compressed form

  Collective

  Input Parameter:
. A - the matrix, assembled

  Options Database Key:
. -mat_vcrs_drop_aij - drop after each compression, which is at the first product after a change

  Level: intermediate

  Notes:
  The compressed form then serves products, also with transposes and with dense matrices, `MatGetDiagonal()`,
  `MatGetRow()` (one row at a time), `MatNorm()`, `MatSOR()`, `MatGetInfo()`, `MatView()`, `MatDuplicate()` and the
  conversion to `MATAIJ`. Whatever else is asked of the matrix first takes the arrays again, as
  `MatVCRSMaterializeAIJ()` does; `-info` says so and names the operation. The arrays then stay until the matrix has
  been changed and compressed again, or until this function is called.

  A duplicate of a lossless matrix of one process has no arrays, either. Both matrices share the compressed form until
  one of them changes.

  A small matrix may then be multiplied on a CPU from plain rows, which take about as much as the AIJ arrays did, see `MatVCRSSetPlainRows()`.

  The arrays of a lossy matrix come back with the changed values: the values that were set are gone. The option
  therefore keeps the arrays of a lossy matrix unless `MatVCRSSetAllowLossyOperator()` was called. This function gives
  the arrays back in any case.

  The arrays stay if they hold data that the compressed form lacks, or if another object points into them: after
  `MatStoreValues()`, with a `MatFDColoring` of the matrix (with which `SNES` computes a Jacobian by default), in a
  submatrix that PETSc keeps for another extraction; `-info` says so.

  PETSc lets a program have the arrays without asking the matrix: `MatSeqAIJGetArray()`, `MatSeqAIJGetArrayRead()` and
  `MatSeqAIJGetCSRAndMemType()` return `NULL` for a matrix without AIJ arrays. Call `MatVCRSMaterializeAIJ()` before
  them, and before the matrix is given to `MatCreateMAIJ()`, or to `MatColoring` of type greedy, which reads the arrays by their addresses.
  `MatGetRowIJ()` takes the arrays by itself. A matrix without arrays is compared by `MatIsTranspose()` to matrices without arrays only.

  Options of `MatSetOption()` from before the conversion to `MATVCRS` are not known when the arrays are taken again.
  New nonzeros are then allowed, and all options except `MAT_ROW_ORIENTED` have their defaults.

.seealso: `MATVCRS`, `MatVCRSMaterializeAIJ()`, `MatVCRSGetInfo()`, `MatVCRSSetPlainRows()`
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
    ctx->dropcopies = PETSC_TRUE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
