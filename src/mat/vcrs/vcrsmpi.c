/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   MATVCRS on many processes: a MATMPIAIJ whose diagonal and off-diagonal blocks are MATSEQAIJVCRS.

   The products are written here rather than inherited, because the ghost vector must be of the
   input vector's type (on the host or on the device), which MATMPIAIJ fixes when it is assembled.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <petscsf.h>

/* Makes a block of A a MATSEQAIJVCRS with A's options; idempotent, because assembly may replace a block */
static PetscErrorCode MatVCRSAdoptBlock_Private(Mat A, Mat block)
{
  PetscErrorCode ierr;
  PetscOptions   none;
  Mat_VCRS      *ctx, *b;
  PetscBool      isplain;
  PetscMPIInt    size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJ, &isplain));
  if (isplain) {
    /* Its options are those of A */
    PetscCall(LitheOptionsHide(&none));
    ierr = MatConvert_SeqAIJ_SeqAIJVCRS(block, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &block);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
  }
  PetscCall(MatVCRSGetContext(block, &b));
  PetscCheck(b, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A block of a MATMPIAIJVCRS has type %s", ((PetscObject)block)->type_name);
  PetscCall(MatVCRSSetOptions_Private(block, &ctx->opt));
  b->allowlossy = ctx->allowlossy;
  b->mayplain   = ctx->mayplain;
  b->dropaij    = PETSC_FALSE; /* A drops both blocks itself */
  b->beside     = (PetscBool)(size > 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSGetBlocks_Private(Mat A, Mat *Ad, Mat *Ao)
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscCall(MatVCRSAdoptBlock_Private(A, *Ad));
  PetscCall(MatVCRSAdoptBlock_Private(A, *Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* extra[i] = exact minus compressed row sum of the off-diagonal block, which the diagonal block takes up */
static PetscErrorCode MatVCRSGetRowSumError_Private(Mat Ao, PetscScalar extra[])
{
  Mat_VCRS       *ctx;
  const PetscInt *ai;
  PetscScalar    *aa, *ones;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(Ao, &ctx));
  PetscCall(MatSeqAIJGetCSRAndMemType(Ao, &ai, NULL, &aa, NULL));
  PetscCall(PetscMalloc1(Ao->cmap->n, &ones));
  for (PetscInt j = 0; j < Ao->cmap->n; j++) ones[j] = 1.0;
  PetscCall(VCRSPlanMult(ctx->plan, VCRS_OP_N, 1, ones, 0, NULL, 0, extra, 0));
  PetscCall(PetscFree(ones));
  for (PetscInt i = 0; i < Ao->rmap->n; i++) {
    PetscScalar sum = 0.0;

    for (PetscInt k = ai[i]; k < ai[i + 1]; k++) sum += aa[k];
    extra[i] = sum - extra[i];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   In a symmetric matrix a_ij is compressed here and a_ji on another process; both must come to the
   same number. columnexponent [ghost columns] is the caller's.
*/
static PetscErrorCode MatVCRSAgree_Private(Mat A, Mat Ao, const VCRSOptions *opt, VCRSAgreement *agreement, int16_t columnexponent[])
{
  VCRSCSR      csr = {.m = Ao->rmap->n, .n = Ao->cmap->n};
  VCRSSurvey  *s   = &agreement->survey;
  PetscScalar *a;
  PetscReal    extreme[5];
  PetscInt    *own, *ghost;
  PetscSF      sf;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJGetCSRAndMemType(Ao, &csr.i, &csr.j, &a, NULL));
  csr.a = a;
  PetscCall(PetscMalloc2(csr.m, &own, csr.n, &ghost));
  PetscCall(VCRSLossPropose(&csr, opt, s, own));

  /* the range of all blocks; maxima of the negatives are minima */
  extreme[0] = s->max;
  extreme[1] = s->highest;
  extreme[2] = -s->min;
  extreme[3] = -s->lowest;
  extreme[4] = -s->smallest;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, extreme, 5, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  s->max      = extreme[0];
  s->highest  = extreme[1];
  s->min      = -extreme[2];
  s->lowest   = -extreme[3];
  s->smallest = -extreme[4];

  /* the steps of the rows that the ghost columns are */
  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, own, ghost, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, own, ghost, MPI_REPLACE));
  for (PetscInt k = 0; k < csr.n; k++) columnexponent[k] = (int16_t)ghost[k];
  agreement->columnexponent = columnexponent;
  PetscCall(PetscFree2(own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first row that a lossy compression cannot take, or -1 */
static PetscErrorCode MatVCRSFindBadRow_Private(Mat A, PetscInt *row)
{
  const PetscInt *ai;
  PetscScalar    *aa;

  PetscFunctionBegin;
  *row = -1;
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &ai, NULL, &aa, NULL));
  for (PetscInt i = 0; i < A->rmap->n && *row < 0; i++) {
    if (!VCRSLossTakes(ai[i + 1] - ai[i], aa + ai[i])) *row = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A forced layout may hold the rows of some processes only: then it fails on all, and none waits for another */
static PetscErrorCode MatVCRSFailTogether_Private(Mat A, const VCRSOptions *opt, PetscErrorCode ierr)
{
  PetscInt failed = ierr ? 1 : 0;

  PetscFunctionBegin;
  if (opt->layout != MATVCRS_LAYOUT_AUTO) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(ierr);
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP, "-mat_vcrs_layout %s cannot hold the rows of another process, which tells why. Use -mat_vcrs_layout auto%s", MatVCRSLayouts[opt->layout], opt->layout == MATVCRS_LAYOUT_L2 ? ", or make the entries fixed point numbers with -mat_vcrs_loss fixed" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row with an entry that no loss can take is reported on all processes, before anything is changed */
static PetscErrorCode MatVCRSRefuseBadRows_Private(Mat A, Mat Ad, Mat Ao, const VCRSOptions *opt)
{
  PetscInt bad[2], first = PETSC_INT_MAX;
  MPI_Comm comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscCall(MatVCRSFindBadRow_Private(Ad, &bad[0]));
  PetscCall(MatVCRSFindBadRow_Private(Ao, &bad[1]));
  for (int k = 0; k < 2; k++) {
    if (bad[k] >= 0) first = PetscMin(first, A->rmap->rstart + bad[k]);
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &first, 1, MPIU_INT, MPI_MIN, comm));
  if (first < PETSC_INT_MAX) PetscCall(VCRSLossRefuseRow(comm, opt, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses both blocks with this loss. The off-diagonal block has no diagonal to refer to; its row-sum error goes to the other block */
static PetscErrorCode MatVCRSCompressLossy_Private(Mat A, Mat Ad, Mat Ao, const VCRSOptions *asked)
{
  VCRSOptions    opt   = *asked;
  PetscScalar   *extra = NULL;
  VCRSAgreement  agreement;
  int16_t       *columnexponent;
  Mat_VCRS      *o;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  opt.rowsums     = PETSC_FALSE;
  opt.offdiagonal = PETSC_TRUE;
  PetscCall(PetscMalloc1(Ao->cmap->n, &columnexponent));
  if (opt.symmetric) {
    PetscCall(MatVCRSAgree_Private(A, Ao, &opt, &agreement, columnexponent));
    opt.agreement = &agreement;
  }
  ierr = MatVCRSCompressWith_Private(Ao, &opt, NULL);
  PetscCall(PetscFree(columnexponent));
  PetscCall(MatVCRSFailTogether_Private(A, &opt, ierr));
  opt.agreement   = NULL;
  opt.offdiagonal = PETSC_FALSE;
  opt.rowsums     = asked->rowsums;
  PetscCall(MatVCRSGetContext(Ao, &o));
  o->used.agreement = NULL;
  if (opt.rowsums && o->report.maxabserror > 0.0) {
    PetscCall(PetscMalloc1(A->rmap->n, &extra));
    PetscCall(MatVCRSGetRowSumError_Private(Ao, extra));
  }
  ierr = MatVCRSCompressWith_Private(Ad, &opt, extra);
  PetscCall(PetscFree(extra));
  PetscCall(MatVCRSFailTogether_Private(A, &opt, ierr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all processes are to compress with finer options; a row is coarse in one block or in both */
static PetscErrorCode MatVCRSRefine_Private(Mat A, Mat Ad, Mat Ao, VCRSOptions *opt, PetscBool *finer)
{
  Mat_VCRS  *d, *o;
  PetscInt64 rows[2];

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(Ad, &d));
  PetscCall(MatVCRSGetContext(Ao, &o));
  rows[0] = d->report.coarserows + o->report.coarserows;
  rows[1] = d->report.lostrows + o->report.lostrows;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, rows, 2, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *finer = VCRSLossRefine(A->rmap->N, rows[0], rows[1], opt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses both blocks if A changed. Lossy modes agree on what is common to all blocks first */
PetscErrorCode MatVCRSCompress_MPI(Mat A)
{
  Mat_VCRS      *ctx, *d, *o;
  Mat            Ad, Ao;
  VCRSOptions    opt;
  PetscBool      dropped, current;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->dropped) {
    PetscCall(MatVCRSIsDropped_Private(A, &dropped));
    if (dropped) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSIsCurrent_Private(A, &current));
  if (current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetBlocks_Private(A, &Ad, &Ao));
  PetscCall(PetscMemcpy(&opt, &ctx->opt, sizeof(opt)));
  PetscCall(MatVCRSIsSymmetric_Private(A, &opt.symmetric, &opt.hermitian));

  if (ctx->lossy) {
    PetscBool finer;

    PetscCall(MatVCRSRefuseBadRows_Private(A, Ad, Ao, &opt));
    do {
      PetscCall(MatVCRSCompressLossy_Private(A, Ad, Ao, &opt));
      PetscCall(MatVCRSRefine_Private(A, Ad, Ao, &opt, &finer));
    } while (finer);
  } else {
    ierr = MatVCRSCompressWith_Private(Ad, &opt, NULL);
    if (!ierr) ierr = MatVCRSCompressWith_Private(Ao, &opt, NULL);
    PetscCall(MatVCRSFailTogether_Private(A, &opt, ierr));
  }

  PetscCall(MatVCRSGetContext(Ad, &d));
  PetscCall(MatVCRSGetContext(Ao, &o));
  ctx->lost = PETSC_FALSE;
  ctx->gone = PETSC_FALSE;
  if (ctx->lossy) {
    PetscReal worst[2] = {PetscMax(d->report.maxabserror, o->report.maxabserror), PetscMax(d->report.bound, o->report.bound)};

    /* All processes refuse a product, or none, that of a block too */
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, worst, 2, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
    ctx->report.maxabserror = worst[0];
    ctx->report.bound       = worst[1];
    ctx->lost = d->lost = o->lost = (PetscBool)(worst[0] > 0.0);
  }
  ctx->buildtime = d->buildtime + o->buildtime;
  ctx->used      = d->used;
  PetscCall(MatVCRSSetCurrent_Private(A));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall(MatVCRSDropAIJ(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The blocks ready for a product */
static PetscErrorCode MatVCRSGetProductData_Private(Mat A, Mat *Ad, Mat *Ao)
{
  PetscFunctionBegin;
  PetscCall(MatVCRSCompress_MPI(A));
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A ghost vector of x's kind for a transposed product, which gives each process what others have computed for it */
static PetscErrorCode MatVCRSGetTransposedGhosts_Private(Mat A, Vec x, Mat Ao, Vec *lvec)
{
  Mat_VCRS *ctx;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &x, &device));
  PetscCall(LitheAIJGetGhostVector(Ao->cmap->n, device, &ctx->lvec));
  *lvec = ctx->lvec;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, where an allocation is dear, it stays for the next product; on the host it does not add to the ghosts of the others */
static PetscErrorCode MatVCRSRestoreTransposedGhosts_Private(Mat A)
{
  Mat_VCRS *ctx;
  PetscBool host;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectTypeCompare((PetscObject)ctx->lvec, VECSEQ, &host));
  if (host) PetscCall(VecDestroy(&ctx->lvec));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   y = op(A) x (+ add). While the diagonal block is multiplied, ghost values travel; in a transposed
   product the off-diagonal block comes first, and its part of the result travels afterwards.
*/
static PetscErrorCode MatVCRSApply_MPI(Mat A, VCRSOp op, Vec x, Vec add, Vec y)
{
  Mat     Ad, Ao;
  Vec     lvec = NULL;
  PetscSF sf;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetProductData_Private(A, &Ad, &Ao));
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

/* y = x + scale A x, and the sums: in one sweep where few rows need ghosts. These rows get their part when the others are done */
PetscErrorCode MatVCRSStep_MPI(Mat A, PetscReal scale, const LitheStepRows *rows, Vec x, Vec y, PetscInt nsums, const LitheStepSum sums[])
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;
  PetscBool few = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSCheckProduct(A, ctx));
  PetscCall(MatVCRSGetProductData_Private(A, &Ad, &Ao));
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
  PetscCall(MatVCRSGetProductData_Private(A, &Ad, &Ao));
  PetscCall(MatVCRSHasOffDiagonal_Private(Ao, leaves));
  if (*leaves) PetscCall(MatVCRSStepLeavesOut_Seq(Ad, device, leaves));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* MATMPIAIJ calls the blocks' products in here (SOR, for example), so they must be of our type afterwards */
static PetscErrorCode MatAssemblyEnd_MPIAIJVCRS(Mat A, MatAssemblyType type)
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall((*ctx->super.assemblyend)(A, type));
  if (type == MAT_FINAL_ASSEMBLY && !A->hash_active) PetscCall(MatVCRSGetBlocks_Private(A, &Ad, &Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatConvert_MPIAIJ_MPIAIJVCRS(Mat A, PETSC_UNUSED MatType type, MatReuse reuse, Mat *newmat)
{
  PetscBool done;

  PetscFunctionBegin;
  PetscCall(LitheAIJConvertStart(A, MATMPIAIJ, reuse, newmat, &done));
  if (done) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSAttach_Private(*newmat, MatVCRSApply_MPI));
  (*newmat)->ops->assemblyend = MatAssemblyEnd_MPIAIJVCRS;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreate_MPIAIJVCRS(Mat A)
{
  PetscFunctionBegin;
  PetscCall(MatSetType(A, MATMPIAIJ));
  PetscCall(MatConvert_MPIAIJ_MPIAIJVCRS(A, MATMPIAIJVCRS, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
