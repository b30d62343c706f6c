/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* MatVCRSGetInfo() and -mat_view of a MATVCRS */

#include "vcrsimpl.h"
#include <petscviewer.h>

/* The sequential matrices that hold A's plans, compressed now: A itself or its two blocks */
static PetscErrorCode MatVCRSGetParts_Private(Mat A, PetscInt *nparts, Mat part[2])
{
  PetscBool isseq;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATSEQAIJVCRS, &isseq));
  if (isseq) {
    PetscCall(MatVCRSCompress(A));
    *nparts = 1;
    part[0] = A;
  } else {
    PetscCall(MatVCRSCompress_MPI(A));
    *nparts = 2;
    PetscCall(MatMPIAIJGetSeqAIJ(A, &part[0], &part[1], NULL));
    for (int b = 0; b < 2; b++) PetscCall(MatVCRSCompress(part[b])); /* whose plain rows may have been refused since */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The largest |a~_ij - a~_ji| over the largest |a~|, in the diagonal block. Columns are sorted: one cursor per row,
   which only moves forward, finds each transposed entry.
*/
static PetscErrorCode VCRSPlanGetAsymmetry_Private(const VCRSPlan *plan, PetscReal *asymmetry)
{
  PetscInt    *i, *j, *cursor;
  PetscScalar *a;
  PetscReal    worst = 0.0, largest = 0.0;

  PetscFunctionBegin;
  *asymmetry = 0.0;
  if (plan->m != plan->n) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMalloc4(plan->m + 1, &i, plan->nz, &j, plan->nz, &a, plan->m, &cursor));
  PetscCall(VCRSPlanDecode(plan, i, j, a));
  PetscCall(PetscArraycpy(cursor, i, plan->m));
  for (PetscInt r = 0; r < plan->m; r++) {
    for (PetscInt k = i[r]; k < i[r + 1]; k++) {
      const PetscInt c     = j[k];
      PetscScalar    other = 0.0;

      largest = PetscMax(largest, PetscAbsScalar(a[k]));
      while (cursor[c] < i[c + 1] && j[cursor[c]] < r) cursor[c]++;
      if (cursor[c] < i[c + 1] && j[cursor[c]] == r) other = a[cursor[c]];
      /* a complex matrix may be symmetric or Hermitian: take the nearer of the two */
      worst = PetscMax(worst, PetscMin(PetscAbsScalar(a[k] - other), PetscAbsScalar(a[k] - PetscConj(other))));
    }
  }
  PetscCall(PetscFree4(i, j, a, cursor));
  if (largest > 0.0) *asymmetry = worst / largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   MatVCRSGetInfo(). asymmetry: also compute the asymmetry of a lossy symmetric matrix, which needs the whole plan on
   the host
*/
PetscErrorCode MatVCRSGetInfo_Private(Mat A, PetscBool asymmetry, MatVCRSInfo *info)
{
  Mat_VCRS      *ctx;
  Mat            part[2];
  PetscInt       nparts;
  MPI_Comm       comm;
  PetscInt64     count[5]   = {0, 0, 0, 0, 0};
  PetscLogDouble size[4]    = {0.0, 0.0, 0.0, 0.0};
  PetscReal      norm[2][2] = {{0.0, 0.0}, {0.0, 0.0}}, sum[2] = {0.0, 0.0}, largest[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
  PetscBool      symmetric;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCheck(ctx, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONG, "The matrix has type %s, not vcrs", ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_WRONGSTATE,
             "The matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first");
  comm = PetscObjectComm((PetscObject)A);
  PetscCall(MatVCRSGetParts_Private(A, &nparts, part));
  PetscCall(MatVCRSIsSymmetric_Private(A, &symmetric, NULL));
  PetscCall(PetscMemzero(info, sizeof(*info)));

  for (PetscInt k = 0; k < nparts; k++) {
    Mat_VCRS  *p;
    VCRSReport r;
    size_t     bytes, tables;

    PetscCall(MatVCRSGetContext(part[k], &p));
    r = p->last.report;
    PetscCall(VCRSPlanGetBytes(p->plans.host, &bytes, &tables));
    count[0] += p->plans.host->nz;
    count[1] += r.indexsets;
    count[2] += r.valuesets;
    count[3] += r.pairs;
    count[4] += r.guardrows;
    size[0] += (PetscLogDouble)tables;
    size[1] += (PetscLogDouble)bytes;
    size[2] += (PetscLogDouble)p->plans.host->nz * (sizeof(PetscScalar) + sizeof(PetscInt)) + (PetscLogDouble)(p->plans.host->m + 1) * sizeof(PetscInt);
    if (p->plans.plainrows) {
      PetscCall(VCRSPlanGetBytes(p->plans.plainrows, &bytes, NULL));
      size[3] += (PetscLogDouble)bytes;
    }
    norm[k][0] = r.froberror;
    norm[k][1] = r.frobnorm;
    largest[0] = PetscMax(largest[0], r.maxabserror);
    largest[1] = PetscMax(largest[1], r.maxrowerror);
    largest[2] = PetscMax(largest[2], r.bound);
    largest[3] = PetscMax(largest[3], r.rowsumerror);
    if (k == 0) {
      info->layout     = p->plans.host->layout;
      info->values     = VCRSValueNames[p->plans.host->values];
      info->difference = p->plans.host->difference;
      info->grouped    = p->plans.host->grouped;
      info->plainrows  = (PetscBool)(p->plans.host->plainrows || p->plans.plainrows);
      info->idbytes    = p->plans.host->sets.idbytes;
      if (asymmetry && symmetric && ctx->settings.lossy) {
        const VCRSPlan *plan;

        PetscCall(MatVCRSGetHostPlan_Private(part[k], &plan));
        PetscCall(VCRSPlanGetAsymmetry_Private(plan, &largest[4]));
      }
    }
  }

  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 5, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, size, 4, MPI_DOUBLE, MPI_SUM, comm));
  largest[5] = PetscMax(norm[0][1], norm[1][1]);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, largest, 6, MPIU_REAL, MPIU_MAX, comm));
  /* norms are divided by the largest norm, because their squares may overflow */
  for (PetscInt k = 0; k < nparts && largest[5] > 0.0; k++) {
    for (PetscInt l = 0; l < 2; l++) sum[l] += PetscSqr(norm[k][l] / largest[5]);
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, comm));
  info->buildtime = ctx->last.buildtime;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &info->buildtime, 1, MPI_DOUBLE, MPI_MAX, comm));
  info->rows        = A->rmap->N;
  info->nonzeros    = count[0];
  info->indexsets   = count[1];
  info->valuesets   = count[2];
  info->pairs       = count[3];
  info->guardrows   = count[4];
  info->tablebytes  = size[0];
  info->bytes       = size[1];
  info->aijbytes    = size[2];
  info->plainbytes  = size[3];
  info->froberror   = sum[1] > 0.0 ? PetscSqrtReal(sum[0] / sum[1]) : 0.0;
  info->maxabserror = largest[0];
  info->maxrowerror = largest[1];
  info->bound       = largest[2];
  info->rowsumerror = largest[3];
  info->asymmetry   = largest[4];
  info->loss        = ctx->last.used.loss;
  info->bits        = ctx->last.used.bits;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatVCRSGetInfo - Gets the storage and the compression errors of a `MATVCRS` matrix

  Collective

  Input Parameter:
. A - the matrix; the call compresses a changed matrix

  Output Parameter:
. info - sums and maxima over all processes

  Level: intermediate

  Note:
  `-mat_view ::ascii_info` prints `info`.

.seealso: `MATVCRS`, `MatVCRSInfo`, `MatVCRSSetLayout()`, `MatVCRSSetLoss()`
@*/
PetscErrorCode MatVCRSGetInfo(Mat A, MatVCRSInfo *info)
{
  Mat_VCRS     *ctx;
  LitheHaloInfo halo;
  PetscBool     used;

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscCall(MatVCRSGetInfo_Private(A, PETSC_TRUE, info));
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetHaloInfo_Private(ctx, &halo, &used));
  info->transport = halo.transport;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transport of ghost values, after the first product */
static PetscErrorCode MatVCRSViewHalo_Private(Mat A, PetscViewer viewer)
{
  Mat_VCRS     *ctx;
  LitheHaloInfo info;
  PetscBool     used;
  PetscInt      most;
  PetscInt64    bytes;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetHaloInfo_Private(ctx, &info, &used));
  if (!used) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(&info.from, &most, 1, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  PetscCallMPI(MPIU_Allreduce(&info.received, &bytes, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: transport %s, at most %" PetscInt_FMT " neighbours, %" PetscInt64_FMT " bytes a product%s%s\n",
                                   LitheTransports[info.transport], most, bytes, info.reason ? "; not " : "", info.reason ? info.reason : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatVCRSViewInfo_Private(Mat A, PetscViewer viewer)
{
  Mat_VCRS   *ctx;
  MatVCRSInfo info;
  PetscReal   nonzeros;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(MatVCRSGetInfo(A, &info));
  nonzeros = PetscMax((PetscReal)info.nonzeros, 1.0);
  PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: layout %s%s, values %s%s, id width %" PetscInt_FMT " bytes, AIJ arrays %s%s\n", MatVCRSLayouts[info.layout],
                                   info.grouped ? " with grouped columns" : (info.plainrows && !info.plainbytes ? " in plain rows" : ""), info.values,
                                   info.difference ? ", difference form" : "", info.idbytes, ctx->last.dropped ? "dropped" : "kept",
                                   ctx->settings.opt.layout == MATVCRS_LAYOUT_AUTO ? "; the layout is the one with the fewest bytes" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "vcrs: index sets %" PetscInt64_FMT ", value sets %" PetscInt64_FMT ", pairs %" PetscInt64_FMT ", dictionary bytes %.0f\n",
                                   info.indexsets, info.valuesets, info.pairs, info.tablebytes));
  PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: bytes %.0f, bytes/nonzero %.3f, ratio to AIJ %.3f\n", info.bytes, info.bytes / nonzeros,
                                   info.bytes > 0.0 ? info.aijbytes / info.bytes : 1.0));
  if (info.plainbytes > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: bytes of plain rows, for products on the host %.0f\n", info.plainbytes));
  if (ctx->settings.lossy) {
    if (info.loss != ctx->settings.opt.loss || info.bits != ctx->settings.opt.bits) {
      char bits[32] = "";

      if (info.loss == ctx->settings.opt.loss) PetscCall(PetscSNPrintf(bits, sizeof(bits), " with %" PetscInt_FMT " bits", info.bits));
      PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: loss %s%s in place of %s with %" PetscInt_FMT " bits, which is too coarse for many rows\n",
                                       MatVCRSLosses[info.loss], bits, MatVCRSLosses[ctx->settings.opt.loss], ctx->settings.opt.bits));
    }
    PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: loss %s, bound %g, max absolute error %g, max row-relative error %g\n", MatVCRSLosses[info.loss],
                                     (double)info.bound, (double)info.maxabserror, (double)info.maxrowerror));
    PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: ||E||_F/||A||_F %g, row-sum error %g, asymmetry %g, rows changed by a guard %" PetscInt64_FMT "\n",
                                     (double)info.froberror, (double)info.rowsumerror, (double)info.asymmetry, info.guardrows));
    if (!ctx->last.lost) PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: nothing was lost\n"));
    else if (!ctx->settings.allowlossy) PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: products are refused outside of preconditioners\n"));
  } else PetscCall(PetscViewerASCIIPrintf(viewer, "vcrs: lossless\n"));
  PetscCall(MatVCRSViewHalo_Private(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_VCRS(Mat A, PetscViewer viewer)
{
  Mat_VCRS         *ctx;
  PetscBool         isascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(MatVCRSGetContext(A, &ctx));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (isascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) && A->assembled) {
    if (!ctx->last.dropped) PetscCall((*ctx->super.ops.view)(A, viewer));
    PetscCall(MatVCRSViewInfo_Private(A, viewer));
  } else if (ctx->last.dropped) {
    Mat B;

    /* a view of entries decodes them into a separate matrix: A stays small */
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    PetscCall((*ctx->super.ops.view)(B, viewer));
    PetscCall(MatDestroy(&B));
  } else PetscCall((*ctx->super.ops.view)(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
