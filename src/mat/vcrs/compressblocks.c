/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Compression of a parallel MATVCRS: both blocks are compressed, each at the place of its entries.

   Lossy modes need an agreement of all processes before a symmetric matrix is compressed, and may repeat the
   compression with a finer loss.
*/

#include "vcrsimpl.h"
#include <lithe/private/litheimpl.h>
#include <lithe/private/lithememtype.h>
#include <petscsf.h>

/* A block has the vector type of A */
static PetscErrorCode MatVCRSSetBlockVecType_Private(Mat A, Mat block)
{
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(PetscStrendswith(A->defaultvectype, "cuda", &device));
  PetscCall(MatSetVecType(block, device ? VECSEQCUDA : VECSEQ));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Makes a block of A a MATSEQAIJVCRS with A's options. Each compression calls this function, because assembly may
   replace a block
*/
static PetscErrorCode MatVCRSAdoptBlock_Private(Mat A, Mat block)
{
  PetscErrorCode   ierr;
  PetscOptions     none;
  PetscObjectState state;
  Mat_VCRS        *ctx, *b;
  PetscBool        isplain;
  PetscMPIInt      size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectTypeCompare((PetscObject)block, MATSEQAIJ, &isplain));
  if (isplain) {
    /* the options of A apply to the block */
    PetscCall(PetscObjectStateGet((PetscObject)block, &state));
    PetscCall(LitheOptionsHide(&none));
    ierr = MatConvert(block, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &block);
    PetscCall(LitheOptionsShow(&none));
    PetscCall(ierr);
    PetscCall(PetscObjectStateSet((PetscObject)block, state)); /* MatConvert() increases the state, but no value has changed */
  }
  PetscCall(MatVCRSGetContext(block, &b));
  PetscCheck(b, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A block of a MATMPIAIJVCRS has type %s", ((PetscObject)block)->type_name);
  PetscCall(MatVCRSReplaceOptions_Private(block, &ctx->settings.opt));
  if (A->defaultvectype) PetscCall(MatVCRSSetBlockVecType_Private(A, block));
  MatVCRSSettingsAdopt_Private(ctx, (PetscBool)(size > 1), b);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatVCRSGetBlocks_Private(Mat A, Mat *Ad, Mat *Ao)
{
  PetscFunctionBegin;
  PetscCall(MatMPIAIJGetSeqAIJ(A, Ad, Ao, NULL));
  PetscCall(MatVCRSAdoptBlock_Private(A, *Ad));
  PetscCall(MatVCRSAdoptBlock_Private(A, *Ao));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* extra[i] = exact minus compressed row sum of the off-diagonal block, on the host */
static PetscErrorCode MatVCRSGetRowSumErrorOnHost_Private(Mat Ao, PetscScalar extra[])
{
  const VCRSPlan *plan = NULL;
  VCRSCSR         csr;
  PetscScalar    *ones;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetHostPlan_Private(Ao, &plan));
  PetscCall(PetscMalloc1(Ao->cmap->n, &ones));
  for (PetscInt j = 0; j < Ao->cmap->n; j++) ones[j] = 1.0;
  PetscCall(VCRSPlanMult(plan, VCRS_OP_N, 1, ones, 0, NULL, 0, extra, 0));
  PetscCall(PetscFree(ones));
  PetscCall(MatVCRSGetCSR_Private(Ao, &csr));
  for (PetscInt i = 0; i < csr.m; i++) {
    PetscScalar sum = 0.0;

    for (PetscInt k = csr.i[i]; k < csr.i[i + 1]; k++) sum += csr.a[k];
    extra[i] = sum - extra[i];
  }
  PetscCall(MatVCRSRestoreCSR_Private(Ao, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Row-sum errors of the off-diagonal block, at the place where Ad will be compressed. device: free extra by
   MatVCRSFreeOnDevice_Private()
*/
static PetscErrorCode MatVCRSGetRowSumError_Private(Mat Ad, Mat Ao, const VCRSOptions *opt, PetscBool *device, PetscScalar **extra)
{
  Mat_VCRS *o;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(Ao, &o));
  PetscCall(MatVCRSWantsDevice_Private(Ad, opt, device));
  if (!o->plans.device) *device = PETSC_FALSE;
#if defined(LITHE_HAVE_CUDA)
  if (*device) {
    PetscCall(MatVCRSGetRowSumErrorOnDevice_Private(Ao, extra));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscMalloc1(Ad->rmap->n, extra));
  PetscCall(MatVCRSGetRowSumErrorOnHost_Private(Ao, *extra));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The off-diagonal block's part of an agreement, found at the place of the block: a survey, and the steps of its rows
*/
static PetscErrorCode MatVCRSPropose_Private(Mat Ao, const VCRSOptions *opt, VCRSSurvey *survey, PetscInt own[])
{
  VCRSCSR   csr;
  PetscBool device;

  PetscFunctionBegin;
  PetscCall(MatVCRSWantsDevice_Private(Ao, opt, &device));
#if defined(LITHE_HAVE_CUDA)
  if (device) {
    PetscCall(MatVCRSProposeOnDevice_Private(Ao, opt, survey, own));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatVCRSGetCSR_Private(Ao, &csr));
  PetscCall(VCRSLossPropose(&csr, opt, survey, own));
  PetscCall(MatVCRSRestoreCSR_Private(Ao, &csr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   In a symmetric matrix a_ij is compressed here and a_ji on another process. Both must become the same number. The
   caller owns columnexponent [ghost columns].
*/
static PetscErrorCode MatVCRSAgree_Private(Mat A, Mat Ao, const VCRSOptions *opt, VCRSAgreement *agreement, int16_t columnexponent[])
{
  const PetscInt nghosts = Ao->cmap->n;
  VCRSSurvey    *s       = &agreement->survey;
  PetscReal      extreme[5];
  PetscInt      *own, *ghost;
  PetscSF        sf;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(Ao->rmap->n, &own, nghosts, &ghost));
  PetscCall(MatVCRSPropose_Private(Ao, opt, s, own));

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

  /* the steps of the rows behind the ghost columns */
  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(PetscSFBcastBegin(sf, MPIU_INT, own, ghost, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(sf, MPIU_INT, own, ghost, MPI_REPLACE));
  for (PetscInt k = 0; k < nghosts; k++) columnexponent[k] = (int16_t)ghost[k];
  agreement->columnexponent = columnexponent;
  PetscCall(PetscFree2(own, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first row that a lossy compression cannot take, or -1. The rows of a source have been checked before */
static PetscErrorCode MatVCRSFindBadRow_Private(Mat A, PetscInt *row)
{
  const PetscInt *ai;
  PetscScalar    *aa;
  Mat_VCRS       *ctx;

  PetscFunctionBegin;
  *row = -1;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->from.source || ctx->from.csr) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatSeqAIJGetCSRAndMemType(A, &ai, NULL, &aa, NULL));
  for (PetscInt i = 0; i < A->rmap->n && *row < 0; i++) {
    if (!VCRSLossTakes(ai[i + 1] - ai[i], aa + ai[i])) *row = i;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A requested layout may suit the rows of some processes only. The error is then raised on all processes */
static PetscErrorCode MatVCRSFailTogether_Private(Mat A, const VCRSOptions *opt, PetscErrorCode ierr)
{
  PetscInt failed = ierr ? 1 : 0;

  PetscFunctionBegin;
  if (opt->layout != MATVCRS_LAYOUT_AUTO) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(ierr);
  PetscCheck(!failed, PETSC_COMM_SELF, PETSC_ERR_ARG_INCOMP,
             "-mat_vcrs_layout %s cannot hold the rows of another process, which tells why. Use -mat_vcrs_layout auto%s", MatVCRSLayouts[opt->layout],
             opt->layout == MATVCRS_LAYOUT_L2 ? ", or make the entries fixed point numbers with -mat_vcrs_loss fixed" : "");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All processes report a row with an entry that no loss can take, before any change */
static PetscErrorCode MatVCRSRefuseBadRows_Private(Mat A, const Mat_VCRS *ctx, Mat Ad, Mat Ao)
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
  if (first < PETSC_INT_MAX) PetscCall(VCRSLossRefuseRow(comm, &ctx->settings.opt, first));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses both blocks with this loss. The off-diagonal block has no diagonal entries: its row-sum error is added to
   the diagonal block
*/
static PetscErrorCode MatVCRSCompressLossy_Private(Mat A, Mat Ad, Mat Ao, const VCRSOptions *asked)
{
  VCRSOptions    opt    = *asked;
  PetscScalar   *extra  = NULL;
  PetscBool      device = PETSC_FALSE;
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
  if (opt.rowsums && o->last.report.maxabserror > 0.0) PetscCall(MatVCRSGetRowSumError_Private(Ad, Ao, &opt, &device, &extra));
  ierr = MatVCRSCompressWith_Private(Ad, &opt, extra);
#if defined(LITHE_HAVE_CUDA)
  if (device) PetscCall(MatVCRSFreeOnDevice_Private(extra));
#endif
  if (!device) PetscCall(PetscFree(extra));
  PetscCall(MatVCRSFailTogether_Private(A, &opt, ierr));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether all processes must compress with finer options; a row may be coarse in either block */
static PetscErrorCode MatVCRSRefine_Private(Mat A, Mat Ad, Mat Ao, VCRSOptions *opt, PetscBool *finer)
{
  Mat_VCRS  *d, *o;
  PetscInt64 rows[2];

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(Ad, &d));
  PetscCall(MatVCRSGetContext(Ao, &o));
  rows[0] = d->last.report.coarserows + o->last.report.coarserows;
  rows[1] = d->last.report.lostrows + o->last.report.lostrows;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, rows, 2, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  *finer = VCRSLossRefine(A->rmap->N, rows[0], rows[1], opt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses both blocks, which have entries or sources. Collective */
static PetscErrorCode MatVCRSCompressBlocks_Private(Mat A, Mat Ad, Mat Ao)
{
  Mat_VCRS      *ctx, *d, *o;
  VCRSOptions    opt;
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetOptions_Private(ctx, &opt));
  PetscCall(MatVCRSIsSymmetric_Private(A, &opt.symmetric, &opt.hermitian));
  if (ctx->settings.lossy) {
    PetscBool finer;

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
  PetscCall(MatVCRSSetBlocksCompressed_Private(A, ctx, d, o));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses both blocks if A has changed. Collective */
PetscErrorCode MatVCRSCompress_MPI(Mat A)
{
  Mat_VCRS *ctx;
  Mat       Ad, Ao;
  PetscBool dropped, current;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  if (ctx->last.dropped) {
    PetscCall(MatVCRSIsDropped_Private(A, &dropped));
    if (dropped) PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatVCRSIsCurrent_Private(A, &current));
  if (current) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatVCRSGetBlocks_Private(A, &Ad, &Ao));
  if (ctx->settings.lossy) PetscCall(MatVCRSRefuseBadRows_Private(A, ctx, Ad, Ao));
  PetscCall(MatVCRSCompressBlocks_Private(A, Ad, Ao));
  if (MatVCRSMayDrop_Private(ctx)) PetscCall((*ctx->methods.drop)(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compresses the entries of values[], two blocks with A's ghost columns; the AIJ arrays of a lossy A hold the same
   entries. Collective
*/
PetscErrorCode MatVCRSCompressFrom_MPI(Mat A, const Mat values[])
{
  Mat_VCRS      *ctx, *b[2];
  Mat            block[2];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetBlocks_Private(A, &block[0], &block[1]));
  if (ctx->settings.lossy) PetscCall(MatVCRSRefuseBadRows_Private(A, ctx, block[0], block[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatVCRSGetContext(block[k], &b[k]));
    MatVCRSSetSource_Private(b[k], values[k], NULL);
  }
  ierr = MatVCRSCompressBlocks_Private(A, block[0], block[1]);
  for (int k = 0; k < 2; k++) MatVCRSSetSource_Private(b[k], NULL, NULL);
  PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a product with x: where the vectors are decides where A is compressed */
PetscErrorCode MatVCRSCompressFor_Private(Mat A, Vec x)
{
  Mat_VCRS *ctx;
  PetscBool parallel, device;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(LitheMatIsOnDevice(A, 1, &x, &device));
  MatVCRSSetOnDevice_Private(ctx, device);
  PetscCall(MatVCRSIsParallel_Private(A, &parallel));
  if (parallel) PetscCall(MatVCRSCompress_MPI(A));
  else PetscCall(MatVCRSCompress(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}
