/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATVCRS on one process: a MATSEQAIJ that multiplies from a compressed copy of itself.

   The object's data is a true Mat_SeqAIJ and all of MATSEQAIJ's operations work; the products are
   replaced. What is added lies in a container composed with the object, so that code which swaps
   headers carries it along.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscviewer.h>
#if defined(LITHE_HAVE_CUDA)
  #include <petscdevice_cuda.h>
#endif

#define VCRS_CONTAINER "Lithe_MatVCRS"

/* The context, or NULL where A is no MATVCRS */
PetscErrorCode MatVCRSGetContext(Mat A, Mat_VCRS **ctx)
{
  PetscFunctionBegin;
  *ctx = NULL;
  PetscCall(PetscObjectContainerQuery((PetscObject)A, VCRS_CONTAINER, ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees what was compressed; the AIJ arrays must be there */
PetscErrorCode MatVCRSReset_Private(Mat_VCRS *ctx)
{
  PetscFunctionBegin;
  PetscCall(VCRSPlanDestroy(&ctx->plan));
  PetscCall(VCRSPlanDestroy(&ctx->plainrows));
  PetscCall(MatVCRSResetOffDiagonal_Private(ctx));
#if defined(LITHE_HAVE_CUDA)
  PetscCall(VCRSSubstitutionDestroy_Private(&ctx->substitution));
  if (ctx->dplan) {
    PetscCall(LitheCUDAVCRSFree(ctx->dplan));
    PetscCall(PetscFree(ctx->dplan));
  }
#endif
  ctx->state = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSContextDestroy_Private(PetscCtxRt data)
{
  Mat_VCRS *ctx = *(Mat_VCRS **)data;

  PetscFunctionBegin;
  PetscCall(MatVCRSReset_Private(ctx));
  for (int k = 0; k < 2; k++) PetscCall(MatVCRSGhostsReset_Private(&ctx->ghosts[k]));
  PetscCall(VecDestroy(&ctx->lvec));
  PetscCall(PetscFree(ctx));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetFromOptions_VCRS(Mat A, PetscOptionItems PetscOptionsObject)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->super.setfromoptions) PetscCall((*ctx->super.setfromoptions)(A, PetscOptionsObject));
  PetscCall(MatVCRSSetFromOptions_Private(A, PetscOptionsObject));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix that PETSc was told or knows to be symmetric or Hermitian */
PetscErrorCode MatVCRSIsSymmetric_Private(Mat A, PetscBool *symmetric, PetscBool *hermitian)
{
  PetscBool known, is;

  PetscFunctionBegin;
  PetscCall(MatIsHermitianKnown(A, &known, &is));
  *symmetric = (PetscBool)(known && is);
  if (hermitian) *hermitian = (PetscBool)(PetscDefined(USE_COMPLEX) && *symmetric);
  if (*symmetric) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatIsSymmetricKnown(A, &known, &is));
  *symmetric = (PetscBool)(known && is);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether what is compressed is what A has. MatHeaderReplace() gives an object the context of another one and lets it count on from its own state,
   which is then later the state that the other one had when its values were different: a state tells something of one object alone.
*/
PetscErrorCode MatVCRSIsCurrent_Private(Mat A, PetscBool *current)
{
  Mat_VCRS        *ctx;
  PetscObjectState state;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  *current = (PetscBool)(ctx->owner == A && ctx->state == state);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSSetCurrent_Private(Mat A)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectStateGet((PetscObject)A, &ctx->state));
  ctx->owner = A;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses the AIJ arrays of A. On an error A multiplies as before the call:
   the new plan replaces the old one only when it is whole.
*/
PetscErrorCode MatVCRSCompressWith_Private(Mat A, const VCRSOptions *opt, const PetscScalar rowsumextra[])
{
  Mat_VCRS      *ctx;
  VCRSPlan      *plan = NULL;
  VCRSReport     report;
  VCRSCSR        csr;
  VCRSOptions    own = *opt;
  PetscScalar   *a;
  PetscLogDouble begin, end;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscLogEventBegin(MAT_VCRSCompress, A, 0, 0, 0));
  PetscCall(PetscTime(&begin));
  csr.m = A->rmap->n;
  csr.n = A->cmap->n;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &csr.i, &csr.j, &a, NULL));
  csr.a     = a;
  own.plain = MatVCRSGetPlain_Private(A, ctx);
  ierr      = VCRSPlanCreate(&csr, &own, rowsumextra, &plan, &report);
  if (ierr) PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0)); /* a row may be refused, and mended */
  PetscCall(ierr);
  PetscCall(MatVCRSReset_Private(ctx));
  ctx->plan   = plan;
  ctx->report = report;
  ctx->used   = own;
  ctx->lost   = (PetscBool)(ctx->lossy && report.maxabserror > 0.0);
  ctx->gone   = PETSC_FALSE;
  PetscCall(VCRSPlanHostCost(plan, &ctx->hostcost));
  PetscCall(MatVCRSSetCurrent_Private(A));
  PetscCall(PetscTime(&end));
  ctx->buildtime = end - begin;
  PetscCall(PetscLogEventEnd(MAT_VCRSCompress, A, 0, 0, 0));
  PetscCall(PetscInfo(A, "Compressed %" PetscInt64_FMT " nonzeros in %g s: layout %s, values %s\n", plan->nz, ctx->buildtime, MatVCRSLayouts[plan->layout], VCRSValueNames[plan->values]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSCompress(Mat A)
{
  Mat_VCRS   *ctx;
  VCRSOptions opt;
  PetscBool   dropped, current;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->dropped) {
    PetscCall(MatVCRSIsDropped_Private(A, &dropped));
    if (dropped) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSIsCurrent_Private(A, &current));
  if (ctx->plan && current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  PetscCall(MatVCRSIsSymmetric_Private(A, &opt.symmetric, &opt.hermitian));
  do PetscCall(MatVCRSCompressWith_Private(A, &opt, NULL));
  while (VCRSLossRefine(A->rmap->n, ctx->report.coarserows, ctx->report.lostrows, &opt));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall(MatVCRSDropAIJ_Seq(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Options and switches, not what was compressed */
PetscErrorCode MatVCRSCopyContext_Private(const Mat_VCRS *a, Mat_VCRS *b)
{
  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&b->opt, &a->opt, sizeof(a->opt)));
  b->lossy      = a->lossy;
  b->allowlossy = a->allowlossy;
  b->mayplain   = a->mayplain;
  b->dropaij    = a->dropaij;
  b->transport  = a->transport;
  b->coocount   = a->coocount;
  b->state      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The AIJ type's own duplicate makes a matrix of the type's name, which comes here; options are then copied */
PetscErrorCode MatDuplicate_VCRS(Mat A, MatDuplicateOption op, Mat *B)
{
  Mat_VCRS *a, *b;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &a));
  PetscCall((*a->super.duplicate)(A, op, B));
  PetscCall(MatVCRSGetContext(*B, &b));
  PetscCall(MatVCRSCopyContext_Private(a, b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The values may be on the device, where MATAIJ would follow the pointer as it is */
PetscErrorCode MatSetValuesCOO_VCRS(Mat A, const PetscScalar v[], InsertMode mode)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatSetValuesCOO()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheAIJSetValuesCOO(A, ctx->setvaluescoo, ctx->coocount, v, mode));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatSetPreallocationCOO_VCRS(Mat A, PetscCount n, PetscInt i[], PetscInt j[])
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSMaterializeOperand_Private(A, "MatSetPreallocationCOO()"));
  PetscCall(MatVCRSGetContext(A, &ctx));
  ctx->coocount = n;
  PetscCall((*ctx->setpreallocationcoo)(A, n, i, j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   PETSc wants what was composed with a matrix taken back before it is gone (-checkfunctionlist). The
   AIJ types' own functions are kept here, not in the context: MatHeaderMerge() calls this when it has
   taken everything composed, and the type's name, away from the object.
*/
static PetscErrorCode (*MatDestroyBase[2])(Mat);

static PetscErrorCode MatVCRSDestroy_Private(Mat A, PetscBool parallel)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx) {
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatStep_C", NULL));
    PetscCall(PetscObjectComposeFunction((PetscObject)A, "LitheMatStepLeavesOut_C", NULL));
    PetscCall(MatVCRSDecomposeProducts_Private(A));
    PetscCall(MatVCRSComposeConversions_Private(A, parallel ? MATMPIAIJ : MATSEQAIJ, parallel ? MATMPIAIJVCRS : MATSEQAIJVCRS, NULL, NULL));
  }
  PetscCall((*MatDestroyBase[parallel ? 1 : 0])(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_SeqAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSDestroy_Private(A, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatDestroy_MPIAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSDestroy_Private(A, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Makes B, of the base type, one of ours: the context, which keeps B's operations, ours, what is composed
   with it, the type's name, and the options. apply serves MatVCRSApply()
*/
PetscErrorCode MatVCRSAttach_Private(Mat B, PetscErrorCode (*apply)(Mat, VCRSOp, Vec, Vec, Vec))
{
  Mat_VCRS *ctx;
  PetscBool parallel;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)B, MATMPIAIJ, &parallel));
  PetscCall(PetscNew(&ctx));
  PetscCall(MatVCRSOptionsDefault(&ctx->opt));
  ctx->mayplain = PETSC_TRUE;
  ctx->state    = -1;
  ctx->super    = *B->ops;
  ctx->apply    = apply;

  MatDestroyBase[parallel ? 1 : 0] = ctx->super.destroy;
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetPreallocationCOO_C", &ctx->setpreallocationcoo));
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "MatSetValuesCOO_C", &ctx->setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", MatSetPreallocationCOO_VCRS));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", MatSetValuesCOO_VCRS));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", parallel ? MatVCRSStep_MPI : MatVCRSStep_Seq));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", parallel ? MatVCRSStepLeavesOut_MPI : MatVCRSStepLeavesOut_Seq));
  PetscCall(PetscObjectContainerCompose((PetscObject)B, VCRS_CONTAINER, ctx, MatVCRSContextDestroy_Private));
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_FALSE; /* which every matrix is until its type says that it can do otherwise */
#endif

  MatVCRSSetProducts_Private(B, parallel);
  B->ops->duplicate      = MatDuplicate_VCRS;
  B->ops->view           = MatView_VCRS;
  B->ops->setfromoptions = MatSetFromOptions_VCRS;
  B->ops->setoption      = MatSetOption_VCRS;
  B->ops->destroy        = parallel ? MatDestroy_MPIAIJVCRS : MatDestroy_SeqAIJVCRS;
  PetscCall(PetscObjectChangeTypeName((PetscObject)B, parallel ? MATMPIAIJVCRS : MATSEQAIJVCRS));
  if (parallel) PetscCall(MatVCRSComposeConversions_Private(B, MATMPIAIJ, MATMPIAIJVCRS, MatConvert_MPIAIJ_MPIAIJVCRS, MatConvert_MPIAIJVCRS_MPIAIJ));
  else PetscCall(MatVCRSComposeConversions_Private(B, MATSEQAIJ, MATSEQAIJVCRS, MatConvert_SeqAIJ_SeqAIJVCRS, MatConvert_SeqAIJVCRS_SeqAIJ));
  PetscCall(MatVCRSComposeDrop_Private(B, parallel));
  PetscCall(MatVCRSComposeProducts_Private(B));

  PetscObjectOptionsBegin((PetscObject)B);
  PetscCall(MatVCRSSetFromOptions_Private(B, PetscOptionsObject));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The opposite; the AIJ arrays must be there */
PetscErrorCode MatVCRSDetach_Private(Mat B)
{
  Mat_VCRS *ctx;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(B, &ctx));
  *B->ops = ctx->super;
#if defined(LITHE_HAVE_CUDA)
  B->boundtocpu = PETSC_TRUE;
#endif
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetPreallocationCOO_C", ctx->setpreallocationcoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "MatSetValuesCOO_C", ctx->setvaluescoo));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStep_C", NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)B, "LitheMatStepLeavesOut_C", NULL));
  PetscCall(PetscObjectCompose((PetscObject)B, VCRS_CONTAINER, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Our names from AIJ and from its GPU and CPU relatives, and back */
PetscErrorCode MatVCRSComposeConversions_Private(Mat B, const char from[], const char to[], LitheAIJConvertFn *forth, LitheAIJConvertFn *back)
{
  PetscFunctionBegin;
  PetscCall(LitheAIJComposeConversions(B, from, to, MATVCRS, MATAIJVCRS, forth, back));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_SeqAIJ_SeqAIJVCRS(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(MatVCRSConvertFromDevice_Private(A, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
#endif
  PetscCall(LitheAIJConvertStart(A, MATSEQAIJ, reuse, newmat, &done));
#if defined(LITHE_HAVE_CUDA)
  if (done) PetscCall(MatVCRSConvertLossyFromDevice_Private(A, *newmat));
#endif
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSAttach_Private(*newmat, MatVCRSApply_Seq));
#if defined(LITHE_HAVE_CUDA)
  if (reuse == MAT_INITIAL_MATRIX) PetscCall(MatVCRSConvertLossyFromDevice_Private(A, *newmat));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_SeqAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATSEQAIJ));
  PetscCall(MatConvert_SeqAIJ_SeqAIJVCRS(A, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatCreateVCRS - Creates a compressed copy of a matrix

  Collective

  Input Parameter:
. A - an assembled matrix that `MatConvert()` can turn into `MATAIJ`

  Output Parameter:
. B - the same matrix with type `MATVCRS`

  Level: beginner

  Note:
  The same as `MatConvert()` with `MATVCRS`. Options are read with the prefix of `B`, which has none yet;
  give it one with `MatSetOptionsPrefix()` and call `MatSetFromOptions()` to read them again.

.seealso: `MATVCRS`, `MatConvert()`, `MatVCRSSetLayout()`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatCreateVCRS(Mat A, Mat *B)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(B, 2);
  PetscCall(MatConvert(A, MATVCRS, MAT_INITIAL_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
   MATVCRS - "vcrs" - Very compressed rows: a sparse matrix that stores equal patterns, equal rows and
   close numbers once, so that a product reads several times fewer bytes than with `MATAIJ`

   Options Database Keys:
+ -mat_type vcrs                                       - makes the matrix one of this type
. -mat_vcrs_layout <auto,literal,l0,l1,l2,l3>          - how it is stored, see `MatVCRSLayout`
. -mat_vcrs_loss <none,bins,classes,log,fixed,single>  - what may change in its entries, see `MatVCRSLoss`
. -mat_vcrs_bits <8,16>                                - bits of an entry of the losses log and fixed
. -mat_vcrs_bins <100000>                              - number of bins of the loss bins
. -mat_vcrs_lambda <0.1>                               - tolerance of the loss classes
. -mat_vcrs_lambda_unit <row,entry,absolute>           - what it is relative to
. -mat_vcrs_preserve_row_sums <true>                   - keep row sums where entries are changed
. -mat_vcrs_refine_loss <true>                         - use a finer loss where that is too coarse for many rows
. -mat_vcrs_transport <auto,ipc,nccl,mpi>              - how values get to the processes that need them in a product
. -mat_vcrs_drop_aij                                   - give the AIJ arrays back once the matrix is compressed
. -mat_vcrs_allow_lossy_operator                       - let a lossy matrix multiply outside of preconditioners
. -mat_vcrs_plain_rows                                 - let products on a CPU use plain rows where these are faster, see `MatVCRSSetPlainRows()`
- -mat_view ::ascii_info                               - prints layout, bytes, ratio, bounds and errors

   Level: beginner

   Notes:
   The matrix is a `MATAIJ` in every other respect: it is assembled, factored, multiplied and
   converted like one. It is lossless unless a loss is asked for.

   A product runs where its vectors are: with CUDA vectors (`-vec_type cuda`, `-dm_vec_type cuda` or
   `-mat_vec_type cuda`) on the GPU, with host vectors, or a mix, on the host.

   It is compressed when it is first used after a change.

   Reference:
   The VCRS article of EZNumeric; what is kept of it and what is not is told in docs/vcrs.md.

.seealso: `MatCreateVCRS()`, `MatVCRSSetLayout()`, `MatVCRSSetLoss()`, `MatVCRSDropAIJ()`, `MatVCRSGetInfo()`, `MATAIJ`
M*/
