/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The room of giving the AIJ arrays of a MATVCRS back and taking them again.

   Dropping swaps the object's data with that of an empty MATSEQAIJ, which takes the arrays with it
   when it is destroyed, and replaces the table of operations by one in which

     - products, diagonal, rows, norms, relaxation, information and copies come from the plan
       (vcrsserve.c);
     - everything else first decodes the plan into AIJ arrays, puts the old table back, and then
       calls the operation that was asked for (vcrsretake.c).

   A parallel matrix drops both of its blocks and gets such a table of its own, because many of
   MATMPIAIJ's operations read the arrays of the blocks directly. Taking the arrays again needs no
   communication: it happens in operations that one process may call alone. An operation that does
   communicate must therefore do so in the same way on processes that dropped and on those that did not.

   What lived in the old data and has no other record, options such as MAT_ROW_ORIENTED, is recorded
   by MatSetOption_VCRS() and set again.
*/

#include "vcrsdropimpl.h"
#include <lithe/private/litheimpl.h>

PetscErrorCode VCRSDropReset(VCRSDrop *drop)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(drop->rowcols, drop->rowvals));
  PetscCall(PetscFree(drop->diagonal));
  drop->rowsize = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode VCRSDropDestroy(PetscCtxRt data)
{
  VCRSDrop *drop = *(VCRSDrop **)data;

  PetscFunctionBegin;
  PetscCall(VCRSDropReset(drop));
  PetscCall(PetscFree(drop->inverse));
  PetscCall(PetscFree(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSGetDrop_Private(Mat A, VCRSDrop **drop)
{
  PetscFunctionBegin;
  *drop = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_DROP_CONTAINER, drop));
  if (!*drop) {
    PetscCall(PetscNew(drop));
    PetscCall(PetscObjectContainerCompose((PetscObject)A, VCRS_DROP_CONTAINER, *drop, VCRSDropDestroy));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What was taken from the plan of a dropped matrix and is kept, when it gets another plan */
PetscErrorCode MatVCRSForgetCaches_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSIsParallel_Private(Mat A, PetscBool *parallel)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATMPIAIJVCRS, parallel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The plan with all its arrays on the host; one that was made on the device may have them only there */
PetscErrorCode MatVCRSGetHostPlan_Private(Mat A, const VCRSPlan **plan)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
#if defined(LITHE_HAVE_CUDA)
  if (ctx->dplan && ctx->plan->m && !ctx->plan->length && !ctx->plan->id && !ctx->plan->rowlength) {
    VCRSPlan *host;

    PetscCall(PetscNew(&host));
    PetscCall(LitheCUDAVCRSDownload(ctx->dplan, host));

    /* The device copy has no counts of sets */
    if (ctx->plan->setcount && !host->setcount) {
      host->setcount      = ctx->plan->setcount;
      ctx->plan->setcount = NULL;
    }
    PetscCall(VCRSPlanDestroy(&ctx->plan));
    ctx->plan = host;
  }
#endif
  *plan = ctx->plan;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What A multiplies with, by rows, columns ascending; the arrays are to be freed by PetscFree3() */
PetscErrorCode MatVCRSGetDecodedArrays_Private(Mat A, PetscInt **i, PetscInt **j, PetscScalar **a)
{
  const VCRSPlan *plan = NULL;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(A, &plan));
  PetscCall(PetscMalloc3(plan->m + 1, i, plan->nz, j, plan->nz, a));
  PetscCall(VCRSPlanDecode(plan, *i, *j, *a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

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

/* The opposite */
static PetscErrorCode MatVCRSRestoreOperations_Private(Mat A)
{
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  *A->ops = drop->live;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether A is dropped. MatHeaderMerge(), with which MatAXPY() ends, for example, gives an object new
   data and lets it keep its operations: a matrix that was dropped then has its arrays, and new values.
*/
PetscErrorCode MatVCRSIsDropped_Private(Mat A, PetscBool *dropped)
{
  Mat_VCRS *ctx;
  VCRSDrop *drop;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  *dropped = (PetscBool)(ctx && ctx->dropped);
  if (!*dropped) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->data == drop->data) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSRestoreOperations_Private(A));
  PetscCall(VCRSDropReset(drop));
  ctx->dropped    = PETSC_FALSE;
  ctx->state      = -1;
  drop->rowactive = PETSC_FALSE;
  drop->stored    = PETSC_FALSE;
  *dropped        = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatSetOption() of options that live in Mat_SeqAIJ: the last ones, in the order in which they were set */
PetscErrorCode VCRSDropRecordOption(VCRSDrop *drop, MatOption op, PetscBool flg)
{
  PetscInt k;

  PetscFunctionBegin;
  switch (op) {
  case MAT_ROW_ORIENTED:
  case MAT_KEEP_NONZERO_PATTERN:
  case MAT_NEW_NONZERO_LOCATIONS:
  case MAT_NEW_NONZERO_LOCATION_ERR:
  case MAT_NEW_NONZERO_ALLOCATION_ERR:
  case MAT_UNUSED_NONZERO_LOCATION_ERR:
  case MAT_IGNORE_ZERO_ENTRIES:
  case MAT_USE_INODES:
  case MAT_SORTED_FULL:
    break;
  default:
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == op) break;
  }
  if (k < drop->noptions) {
    for (; k + 1 < drop->noptions; k++) {
      drop->option[k] = drop->option[k + 1];
      drop->value[k]  = drop->value[k + 1];
    }
    drop->noptions--;
  }
  drop->option[drop->noptions]  = op;
  drop->value[drop->noptions++] = flg;
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

/* A new MATSEQAIJ of A's size; -mat_seqaij_type could make it another one */
static PetscErrorCode MatVCRSCreateSeqAIJ_Private(Mat A, const char prefix[], Mat *T)
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
   A new MATSEQAIJ with the pattern of A's plan, and with its values or with zeros. It is filled in
   place, so that no second copy of the arrays is ever there.
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

  /* MATSEQAIJ keys what it derives from a pattern by this counter: it must be A's own when the data becomes A's */
  (*T)->nonzerostate = A->nonzerostate;

  PetscCall(MatSeqAIJGetCSRAndMemType(*T, &ti, &tj, &ta, NULL));
  if (plan->nz) {
    PetscCall(VCRSPlanDecode(plan, (PetscInt *)ti, (PetscInt *)tj, ta));
    PetscCall(MatSeqAIJSetColumnIndices(*T, (PetscInt *)tj));
    if (!values) PetscCall(PetscArrayzero(ta, plan->nz));
  }

  /* Options of A; where it is not known what was said about new nonzeros, they are allowed */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_NEW_NONZERO_LOCATIONS || drop->option[k] == MAT_NEW_NONZERO_LOCATION_ERR || drop->option[k] == MAT_NEW_NONZERO_ALLOCATION_ERR) known = PETSC_TRUE;
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

/* ---- Giving back and taking again ---- */

/* Whether the arrays must stay; -info tells why */
static PetscErrorCode MatVCRSMustKeep_Private(Mat A, PetscBool *keep)
{
  const char *reason = NULL;
  VCRSDrop   *drop;

  PetscFunctionBegin;
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE, "The AIJ arrays of a matrix that is not assembled cannot be given back: call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (A->structure_only) reason = "it has no values";
  else if (A->factortype) reason = "it is a factor";
  else if (A->hash_active) reason = "it is being assembled";
  else if (drop->stored) reason = "MatStoreValues() keeps values in it";
  else if (drop->coloring) reason = "a MatFDColoring points into them";
  else if (A->product && (A->product->type == MATPRODUCT_ABt || A->product->type == MATPRODUCT_RARt)) reason = "it is a product with a transpose on the right, into which PETSc writes one value more than there are"; /* MatMatTransposeMultNumeric_SeqAIJ_SeqAIJ() */
  else if (A->ops->destroy != MatDestroy_SeqAIJVCRS && A->ops->destroy != MatDestroy_MPIAIJVCRS) reason = "it is a submatrix that is kept for another extraction";
  *keep = reason ? PETSC_TRUE : PETSC_FALSE;
  if (*keep) PetscCall(PetscInfo(A, "The AIJ arrays are not given back: %s\n", reason));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MAT_ROW_ORIENTED of a matrix that had it set before it became ours: no function tells it, and a
   wrong guess would transpose the blocks that a program inserts later. Insert one value of an entry
   at two places of a block, of which the other rows and columns are negative and thus ignored, and
   see which one arrives.
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
  PetscCall(MatInodeGetInodeSizes(A, &inodes, NULL, NULL));

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
  ctx->dropped = PETSC_FALSE;
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));

  /* Those that change the table of operations, too */
  for (PetscInt k = 0; k < drop->noptions; k++) {
    if (drop->option[k] == MAT_USE_INODES || drop->option[k] == MAT_SORTED_FULL) PetscCall((*ctx->super.setoption)(A, drop->option[k], drop->value[k]));
  }

  /* The plan was and is what the matrix holds */
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscCall(PetscLogEventEnd(MAT_VCRSMaterialize, A, 0, 0, 0));
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

/* Needs no communication: one process may come here alone */
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
  ctx->dropped = PETSC_FALSE;
  PetscCall(MatVCRSGetDrop_Private(A, &drop));
  if (!drop->rowactive) PetscCall(VCRSDropReset(drop));
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSDropAIJ - Gives the AIJ arrays of a `MATVCRS` matrix back, so that it takes the memory of its compressed form only

  Collective

  Input Parameter:
. A - the matrix, assembled

  Options Database Key:
. -mat_vcrs_drop_aij - do so whenever the matrix has been compressed, that is at the first product after a change

  Level: intermediate

  Notes:
  Products, also with transposes and with dense matrices, `MatGetDiagonal()`, `MatGetRow()` (one row
  at a time), `MatNorm()`, `MatSOR()`, `MatGetInfo()`, `MatView()`, `MatDuplicate()` and the
  conversion to `MATAIJ` then work from the compressed form. Whatever else is asked of the matrix
  first takes the arrays again, as `MatVCRSMaterializeAIJ()` does; `-info` says so and names the
  operation. They are not given back once more until the matrix has been changed and compressed
  again, or until this function is called.

  A small matrix may then be multiplied on a CPU from plain rows, which take about as much as the AIJ arrays did, see `MatVCRSSetPlainRows()`.

  From a lossy matrix come back the values that it multiplies with: those that were set are gone. The option therefore leaves the
  arrays of such a matrix unless `MatVCRSSetAllowLossyOperator()` was called; this function gives them back in any case.

  The arrays stay where they hold what the compressed form does not, or where something points into
  them: after `MatStoreValues()`, with a `MatFDColoring` of the matrix (with which `SNES` computes a
  Jacobian by default), in a submatrix that PETSc keeps for another extraction; `-info` says so.

  PETSc lets a program have the arrays without asking the matrix: `MatSeqAIJGetArray()`,
  `MatSeqAIJGetArrayRead()` and `MatSeqAIJGetCSRAndMemType()` find `NULL` in a matrix that has given
  them back. Call `MatVCRSMaterializeAIJ()` before them, and before the matrix is given to
  `MatCreateMAIJ()`. `MatGetRowIJ()` takes the arrays by itself.

  What was said with `MatSetOption()` before the matrix became a `MATVCRS` one is not known when the
  arrays are taken again: new nonzeros are then allowed, and the other options but
  `MAT_ROW_ORIENTED` have their defaults.

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
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first", ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSDropAIJ_MPI(A));
  else PetscCall(MatVCRSDropAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSMaterializeAIJ - Takes the AIJ arrays of a `MATVCRS` matrix again that were given back

  Not Collective

  Input Parameter:
. A - the matrix

  Level: intermediate

  Notes:
  It does nothing where the arrays are there. Operations that need them do this by themselves; a
  program must do it before `MatSeqAIJGetArray()` and its relatives.

  The compressed form stays as it is: nothing is compressed again unless values change.

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
  PetscCheck(ctx, PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG, "A matrix of type %s has no compressed form: convert it with MatConvert() to MATVCRS first", ((PetscObject)A)->type_name);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSMaterializeAIJ_MPI(A));
  else PetscCall(MatVCRSMaterializeAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Back to AIJ ---- */

/* Both kinds: a copy is a MATVCRS that has its arrays, and is then unwrapped in place */
static PetscErrorCode MatVCRSUnwrap_Private(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(LitheAIJConvertBackStart(A, reuse, newmat, done));
  if (!*done) PetscCall(MatVCRSMaterializeOperand_Private(*newmat, base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_SeqAIJVCRS_SeqAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(MatVCRSUnwrap_Private(A, MATSEQAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSDecomposeDrop_Private(*newmat));
  PetscCall(MatVCRSDecomposeProducts_Private(*newmat));
  PetscCall(MatVCRSComposeConversions_Private(*newmat, MATSEQAIJ, MATSEQAIJVCRS, NULL, NULL));
  PetscCall(MatVCRSDetach_Private(*newmat));
  PetscCall(PetscObjectChangeTypeName((PetscObject)*newmat, MATSEQAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_MPIAIJVCRS_MPIAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  Mat       block[2];
  PetscBool done, ours;

  PetscFunctionBegin;
  PetscCall(MatVCRSUnwrap_Private(A, MATMPIAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*newmat)->preallocated) {
    PetscCall(MatMPIAIJGetSeqAIJ(*newmat, &block[0], &block[1], NULL));
    for (int b = 0; b < 2; b++) {
      PetscCall(PetscObjectTypeCompare((PetscObject)block[b], MATSEQAIJVCRS, &ours));
      if (ours) PetscCall(MatConvert_SeqAIJVCRS_SeqAIJ(block[b], MATSEQAIJ, MAT_INPLACE_MATRIX, &block[b]));
    }
  }
  PetscCall(MatVCRSDecomposeDrop_Private(*newmat));
  PetscCall(MatVCRSDecomposeProducts_Private(*newmat));
  PetscCall(MatVCRSComposeConversions_Private(*newmat, MATMPIAIJ, MATMPIAIJVCRS, NULL, NULL));
  PetscCall(MatVCRSDetach_Private(*newmat));
  PetscCall(PetscObjectChangeTypeName((PetscObject)*newmat, MATMPIAIJ));
  PetscFunctionReturn(PETSC_SUCCESS);
}
