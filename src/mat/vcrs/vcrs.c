/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The class MATVCRS: a MATSEQAIJ or MATMPIAIJ that multiplies from a compressed copy. This file creates matrices of the
   class and converts between the class and MATAIJ.

   The object's data is a true Mat_SeqAIJ or Mat_MPIAIJ, and all operations of MATAIJ work. Some operations are
   replaced. The data of the class is in a container composed with the object: code that swaps headers carries the
   container along.
*/

#include "vcrsimpl.h"

static PetscErrorCode MatConvert_SeqAIJ_SeqAIJVCRS(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvert_SeqAIJVCRS_SeqAIJ(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvert_MPIAIJ_MPIAIJVCRS(Mat, MatType, MatReuse, Mat *);
static PetscErrorCode MatConvert_MPIAIJVCRS_MPIAIJ(Mat, MatType, MatReuse, Mat *);

static PetscErrorCode MatSetFromOptions_VCRS(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->super.ops.setfromoptions) PetscCall((*ctx->super.ops.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatVCRSSetFromOptions_Private(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MatDuplicate() of the AIJ type creates a matrix of A's type. Then the options are copied */
static PetscErrorCode MatDuplicate_VCRS(Mat A, MatDuplicateOption op, Mat *B)
{
  Mat_VCRS *a, *b;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &a));
  PetscCall((*a->super.ops.duplicate)(A, op, B));
  PetscCall(MatVCRSGetContext(*B, &b));
  PetscCall(MatVCRSCopyContext_Private(a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* the values may be on a device, where MATAIJ would read host memory */
static PetscErrorCode MatSetValuesCOO_VCRS(Mat A, const PetscScalar v[], InsertMode mode)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatSetValuesCOO()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheAIJSetValuesCOO(A, ctx->super.setvaluescoo, ctx->super.coocount, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatSetPreallocationCOO_VCRS(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatSetPreallocationCOO()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->super.coocount = n;
  PetscCall((*ctx->super.setpreallocationcoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Composes the conversions between MATAIJ, its GPU and CPU relatives, and this class. NULL removes the conversions */
static PetscErrorCode MatVCRSComposeConversions_Private(Mat B, const char from[], const char to[], LitheAIJConvertFn *forth, LitheAIJConvertFn *back)
{
  PetscFunctionBegin;
  PetscCall(LitheAIJComposeConversions(B, from, to, MATVCRS, MATAIJVCRS, forth, back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The destructors of the AIJ types. They are not in the context: MatHeaderMerge() removes all composed objects and the
   name of the type before it calls the destructor of this class.
*/
static PetscErrorCode (*MatDestroyBase[2])(Mat);

/* PETSc requires that a matrix has no composed functions when destroyed (-checkfunctionlist) */
static PetscErrorCode MatVCRSDestroy_Private(Mat A, PetscBool parallel)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx) {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatStep_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatStepLeavesOut_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatHasArrays_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, LITHE_MAT_SINGLE, NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatScan_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatGetRows_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatRestoreRows_C", NULL));
    PetscCall(MatVCRSDecomposeProducts_Private(A));
    PetscCall(MatVCRSComposeConversions_Private(A, parallel ? MATMPIAIJ : MATSEQAIJ, parallel ? MATMPIAIJVCRS : MATSEQAIJVCRS, NULL, NULL));
  }
  PetscCall((*MatDestroyBase[parallel ? 1 : 0])(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_SeqAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSDestroy_Private(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatDestroy_MPIAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSDestroy_Private(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Turns B, a MATSEQAIJ or MATMPIAIJ, into a matrix of this class, and reads its options */
static PetscErrorCode MatVCRSAttach_Private(Mat B)
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  PetscCall(MatVCRSCreateContext_Private(B, &ctx));
  ctx->super.ops       = *B->ops;
  ctx->methods.apply   = parallel ? MatVCRSApply_MPI : MatVCRSApply_Seq;
  ctx->methods.drop    = MatVCRSDropAIJ;
  ctx->methods.destroy = parallel ? MatDestroy_MPIAIJVCRS : MatDestroy_SeqAIJVCRS;

  MatDestroyBase[parallel ? 1 : 0] = ctx->super.ops.destroy;
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetPreallocationCOO_C", &ctx->super.setpreallocationcoo));
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetValuesCOO_C", &ctx->super.setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_VCRS));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", MatSetValuesCOO_VCRS));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", parallel ? MatVCRSStep_MPI : MatVCRSStep_Seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", parallel ? MatVCRSStepLeavesOut_MPI : MatVCRSStepLeavesOut_Seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatHasArrays_C", MatVCRSHasArrays_Private));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, LITHE_MAT_SINGLE, MatVCRSGetSingle_Private));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatGetRows_C", parallel ? MatVCRSGetRows_MPI : MatVCRSGetRows_Seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatRestoreRows_C", MatVCRSRestoreRows_Seq));
  if (!parallel) PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatScan_C", MatVCRSScan_Seq));
#if defined(LITHE_HAVE_CUDA)
  else PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatScan_C", MatVCRSScan_MPI));
#endif
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_FALSE; /* a new matrix is bound to the CPU until its type changes the flag */
#endif

  MatVCRSSetProducts_Private(B, parallel);
  B->ops->duplicate      = MatDuplicate_VCRS;
  B->ops->view           = MatView_VCRS;
  B->ops->setfromoptions = MatSetFromOptions_VCRS;
  B->ops->setoption      = MatSetOption_VCRS;
  B->ops->destroy        = ctx->methods.destroy;
  if (parallel) B->ops->assemblyend = MatAssemblyEnd_MPIAIJVCRS;
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, parallel ? MATMPIAIJVCRS : MATSEQAIJVCRS));
  if (parallel) PetscCall(MatVCRSComposeConversions_Private(B, MATMPIAIJ, MATMPIAIJVCRS, MatConvert_MPIAIJ_MPIAIJVCRS, MatConvert_MPIAIJVCRS_MPIAIJ));
  else PetscCall(MatVCRSComposeConversions_Private(B, MATSEQAIJ, MATSEQAIJVCRS, MatConvert_SeqAIJ_SeqAIJVCRS, MatConvert_SeqAIJVCRS_SeqAIJ));
  PetscCall(MatVCRSComposeDrop_Private(B, parallel));
  MatVCRSServeAttach_Private(B, parallel);
  PetscCall(MatVCRSComposeProducts_Private(B));

  PetscObjectOptionsBegin((PetscObject)B);
  PetscCall(MatVCRSSetFromOptions_Private(B, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Undoes MatVCRSAttach_Private(). B must have its AIJ arrays */
static PetscErrorCode MatVCRSDetach_Private(Mat B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(B, &ctx));
  *B->ops = ctx->super.ops;
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_TRUE;
#endif
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", ctx->super.setpreallocationcoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", ctx->super.setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatHasArrays_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, LITHE_MAT_SINGLE, NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatScan_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatGetRows_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatRestoreRows_C", NULL));
  PetscCall(MatVCRSRemoveContext_Private(B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- From AIJ and back ---- */

/* For both types: conversion on the device if possible, else through base */
static PetscErrorCode MatVCRSWrap_Private(Mat A, MatType base, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (reuse == MAT_INPLACE_MATRIX) PetscCall(MatVCRSConvertInPlaceFromDevice_Private(A, MATVCRS, &done));
  else PetscCall(MatVCRSConvertFromDevice_Private(A, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  PetscCall(LitheAIJConvertStart(A, base, reuse, newmat, &done));
#if defined(LITHE_HAVE_CUDA)
  if (done) PetscCall(MatVCRSConvertLossyFromDevice_Private(A, *newmat));
#endif
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSAttach_Private(*newmat));
#if defined(LITHE_HAVE_CUDA)
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatVCRSConvertLossyFromDevice_Private(A, *newmat));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_SeqAIJ_SeqAIJVCRS(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSWrap_Private(A, MATSEQAIJ, reuse, newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_SeqAIJ_SeqAIJVCRS(A, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_MPIAIJ_MPIAIJVCRS(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSWrap_Private(A, MATMPIAIJ, reuse, newmat));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatConvert_MPIAIJ_MPIAIJVCRS(A, MATMPIAIJVCRS, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For both types: the copy is first a MATVCRS with AIJ arrays, and is then converted in place */
static PetscErrorCode MatVCRSUnwrap_Private(Mat A, MatType base, MatReuse reuse, Mat *newmat, PetscBool *done)
{
  PetscFunctionBegin;
  PetscCall(LitheAIJConvertBackStart(A, reuse, newmat, done));
  if (!*done) PetscCall(MatVCRSMaterializeOperand_Private(*newmat, base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatConvert_SeqAIJVCRS_SeqAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
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

static PetscErrorCode MatConvert_MPIAIJVCRS_MPIAIJ(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
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

/*MC
   MATVCRS - "vcrs" - Very compressed rows: a sparse matrix that stores equal patterns, equal rows and close numbers
   once. A product reads several times fewer bytes than with `MATAIJ`

   Options Database Keys:
+ -mat_type vcrs                                       - sets the type of the matrix
. -mat_vcrs_layout <auto,literal,l0,l1,l2,l3>          - the storage layout, see `MatVCRSLayout`
. -mat_vcrs_loss <none,bins,classes,log,fixed,single,binclasses> - the permitted change of entries, see `MatVCRSLoss`
. -mat_vcrs_bits <8,16>                                - bits per entry of the losses log and fixed
. -mat_vcrs_bins <100000>                              - number of bins of the losses bins and binclasses
. -mat_vcrs_lambda <0.1>                               - tolerance of the losses classes and binclasses
. -mat_vcrs_lambda_unit <row,entry,absolute>           - unit of the tolerance
. -mat_vcrs_preserve_row_sums <true>                   - keep row sums if entries are changed
. -mat_vcrs_refine_loss <true>                         - use a finer loss if the loss is too coarse for many rows
. -mat_vcrs_transport <auto,ipc,nccl,mpi>              - transport of ghost values in a product
. -mat_vcrs_drop_aij                                   - free the AIJ arrays after compression
. -mat_vcrs_allow_lossy_operator                       - permit products of a lossy matrix outside of preconditioners
. -mat_vcrs_plain_rows <true>                          - permit plain rows for faster products on a CPU
. -mat_vcrs_substitution_grids <true>                  - on a device: substitution may take the rows of a triangle by
    tiles of a grid
. -lithe_halo_timeout <60>                             - all matrices: seconds that the transport ipc waits for a silent
    process
. -lithe_halo_overlap <32768>                          - all matrices: least bytes that ipc sends beside the product;
    -1: never
. -mat_vcrs_avx512 <true>                              - use AVX-512 if the processor supports it; for the whole
    program, without a prefix
- -mat_view ::ascii_info                               - prints layout, bytes, ratio, bounds and errors

   Level: beginner

   Notes:
   In every other respect the matrix is a `MATAIJ`: assembly, factorization, products and conversions are the same. The
   matrix is lossless unless a loss is requested.

   `MatConvert()` to `MATVCRS` makes a compressed copy of any matrix that `MatConvert()` can turn into `MATAIJ`.

   If a cache holds the matrix, its size hardly matters. Plain rows store whole entries row by row, and are faster on a
   CPU than both the compressed form and `MATSEQAIJ`. The first product on the CPU makes plain rows if the compressed
   form is estimated to take more than 0.9 of the time of `MATSEQAIJ`. The matrix may have up to 1048576 nonzeros: half
   as many in `MATVCRS_LAYOUT_L3`, and per block a quarter on several processes.

   Plain rows are an additional copy (`plainbytes` in `MatVCRSInfo`) while AIJ arrays exist. Without AIJ arrays plain
   rows require `MATVCRS_LAYOUT_AUTO`, and replace the compressed form, unless entries were lost and a GPU may need the
   compressed form. The matrix then takes about the bytes of `MATSEQAIJ` until values change, even after the arrays are
   restored.

   A lossless matrix of whole entries in `MATVCRS_LAYOUT_L3` may have any size. Plain rows then replace the compressed
   form even while AIJ arrays exist. If the columns of each 32 rows lie within 65536, two bytes per column suffice.
   Plain rows then take no more bytes than the compressed form; otherwise about the bytes of `MATSEQAIJ`. If no GPU can
   need the compressed form (`MatBindToCPU()`), the compression itself makes plain rows.

   Use -mat_vcrs_plain_rows 0 if memory matters more, or if all cores of a machine share its caches. For a lossy matrix,
   give the option before the first product: plain rows that have replaced the compressed form are compressed again
   without loss.

   If a transport is not possible, such as `LITHE_TRANSPORT_IPC` with vectors on the host, the next product raises an
   error. Transposed products always use `LITHE_TRANSPORT_MPI`.

   A product runs on the GPU if all vectors are CUDA vectors (`-vec_type cuda`, `-dm_vec_type cuda` or `-mat_vec_type
   cuda`). With host vectors, or a mix, a product runs on the host.

   The first use after a change compresses the matrix.

   Reference:
   The VCRS article of EZNumeric. docs/guide/vcrs.md lists the differences.

.seealso: `MatConvert()`, `MatVCRSSetLayout()`, `MatVCRSSetLoss()`, `MatVCRSDropAIJ()`, `MatVCRSGetInfo()`, `MATAIJ`
M*/
