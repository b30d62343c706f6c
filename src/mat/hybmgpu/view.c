/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a MATHYBMGPU: MatHYBMGPUGetInfo() and -mat_view */

#include "hybmgpuimpl.h"
#include <petscviewer.h>

/* The data of the block of this process */
static PetscErrorCode MatHYBMGPUGetBlockInfo_Private(Mat Ad, MatHYBMGPUInfo *info)
{
  Mat_HYBMGPU *ctx;
  HybState     state;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(Ad, &ctx));
  PetscCall(HybStateGet(Ad, &state));
  info->format   = ctx->block.format;
  info->nonzeros = state.nz;
  if (ctx->block.format == MATHYBMGPU_FORMAT_VCRS) PetscCall(HybCompressedGetBytes(ctx->block.compressed, &info->bytes));
  else {
    const HybPlan *p = ctx->block.plans.host;

    PetscCall(HybPlanGetBytes(p, &info->bytes));
    info->width   = p->longest;
    info->tail    = p->tail.nz;
    info->padding = p->nplaces - (p->nz - p->tail.nz);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Other processes in a list */
static PetscInt HybCountOthers(PetscMPIInt n, const PetscMPIInt ranks[], PetscMPIInt me)
{
  PetscInt others = 0;

  for (PetscMPIInt k = 0; k < n; k++) others += ranks[k] != me;
  return others;
}

/* Entries from other processes */
static PetscErrorCode MatHYBMGPUGetGhostInfo_Private(Mat A, const LitheHaloInfo *halo, MatHYBMGPUInfo *info)
{
  Mat                Ao;
  HybState           state;
  PetscSF            sf;
  PetscMPIInt        n, me;
  const PetscMPIInt *ranks;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)A), &me));
  PetscCall(MatMPIAIJGetSeqAIJ(A, NULL, &Ao, NULL));
  PetscCall(HybStateGet(Ao, &state));
  info->ghost = state.nz;
  info->nonzeros += state.nz;
  info->bytes += (PetscLogDouble)state.nz * (sizeof(PetscScalar) + sizeof(PetscInt));
  info->halobytes = (PetscInt64)Ao->cmap->n * (PetscInt64)sizeof(PetscScalar);
  info->transport = halo->transport;
  info->reason    = halo->reason;

  PetscCall(MatGetMultPetscSF(A, &sf));
  PetscCall(PetscSFSetUp(sf));
  PetscCall(PetscSFGetRootRanks(sf, &n, &ranks, NULL, NULL, NULL));
  info->from = HybCountOthers(n, ranks, me);
  PetscCall(PetscSFGetLeafRanks(sf, &n, &ranks, NULL, NULL));
  info->to = HybCountOthers(n, ranks, me);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  MatHYBMGPUGetInfo - Gets the storage of a `MATHYBMGPU` matrix and the exchange of ghost values

  Collective

  Input Parameter:
. A - the matrix; for a changed matrix, the call chooses the format

  Output Parameter:
. info - format, sizes and transport

  Level: intermediate

  Note:
  `-mat_view ::ascii_info` prints `info`.

.seealso: `MATHYBMGPU`, `MatHYBMGPUInfo`, `MatHYBMGPUSetFormat()`
@*/
PetscErrorCode MatHYBMGPUGetInfo(Mat A, MatHYBMGPUInfo *info)
{
  Mat_HYBMGPU  *ctx;
  Mat           Ad = A;
  LitheHaloInfo halo;
  PetscInt64    count[5];
  MPI_Comm      comm = PetscObjectComm((PetscObject)A);

  PetscFunctionBegin;
  PetscValidHeaderSpecific(A, MAT_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCheck(ctx, comm, PETSC_ERR_ARG_WRONG, "The matrix has type %s, not hybmgpu", ((PetscObject)A)->type_name);
  PetscCheck(A->assembled, comm, PETSC_ERR_ARG_WRONGSTATE, "The matrix is not assembled; call MatAssemblyBegin() and MatAssemblyEnd() first");
  PetscCall(PetscMemzero(info, sizeof(*info)));
  info->transport = ctx->opt.transport;
  if (ctx->parallel) PetscCall(MatHYBMGPUChoose_MPI(A, &Ad, &halo));
  else PetscCall(MatHYBMGPUChoose_Seq(A));
  PetscCall(MatHYBMGPUGetBlockInfo_Private(Ad, info));
  if (ctx->parallel) PetscCall(MatHYBMGPUGetGhostInfo_Private(A, &halo, info));

  count[0] = info->nonzeros;
  count[1] = info->padding;
  count[2] = info->tail;
  count[3] = info->ghost;
  count[4] = info->halobytes;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, 5, MPIU_INT64, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &info->bytes, 1, MPI_DOUBLE, MPI_SUM, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &info->from, 1, MPIU_INT, MPI_MAX, comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &info->to, 1, MPIU_INT, MPI_MAX, comm));
  info->rows      = A->rmap->N;
  info->nonzeros  = count[0];
  info->padding   = count[1];
  info->tail      = count[2];
  info->ghost     = count[3];
  info->halobytes = count[4];
  info->aijbytes  = (PetscLogDouble)info->nonzeros * (sizeof(PetscScalar) + sizeof(PetscInt)) + ((PetscLogDouble)info->rows + 1) * sizeof(PetscInt);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The formats of the processes, with the number of processes per format if formats differ */
static PetscErrorCode MatHYBMGPUGetFormatText_Private(Mat A, MatHYBMGPUFormat format, size_t size, char text[])
{
  PetscMPIInt count[MATHYBMGPU_FORMAT_VCRS + 1] = {0}, processes;
  char        more[64];

  PetscFunctionBegin;
  count[format] = 1;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &processes));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, count, MATHYBMGPU_FORMAT_VCRS + 1, MPI_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  text[0] = 0;
  for (int f = 0; f <= MATHYBMGPU_FORMAT_VCRS; f++) {
    if (!count[f]) continue;
    PetscCall(PetscSNPrintf(more, sizeof(more), "%s%s", text[0] ? ", " : "", MatHYBMGPUFormats[f]));
    PetscCall(PetscStrlcat(text, more, size));
    if (count[f] == processes) continue;
    PetscCall(PetscSNPrintf(more, sizeof(more), " on %d of %d processes", count[f], processes));
    PetscCall(PetscStrlcat(text, more, size));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode MatHYBMGPUViewInfo_Private(Mat A, PetscViewer viewer)
{
  Mat_HYBMGPU   *ctx;
  MatHYBMGPUInfo info;
  char           formats[256];

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall(MatHYBMGPUGetInfo(A, &info));
  PetscCall(MatHYBMGPUGetFormatText_Private(A, info.format, sizeof(formats), formats));
  PetscCall(PetscViewerASCIIPrintf(viewer, "hybmgpu: format %s%s\n", formats,
                                   ctx->opt.format == MATHYBMGPU_FORMAT_AUTO ? ", the one with the fewest bytes; products on the host use AIJ" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "hybmgpu: width %" PetscInt_FMT " (on the first process), padding %" PetscInt64_FMT " places, in lists %" PetscInt64_FMT
                                   ", order of rows %s\n",
                                   info.width, info.padding, info.tail, MatHYBMGPUReorders[ctx->opt.reorder]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "hybmgpu: bytes %.0f, bytes/nonzero %.3f, ratio to AIJ %.3f\n", info.bytes,
                                   info.bytes / PetscMax((PetscReal)info.nonzeros, 1.0), info.bytes > 0.0 ? info.aijbytes / info.bytes : 1.0));
  if (ctx->parallel) {
    PetscCall(PetscViewerASCIIPrintf(viewer,
                                     "hybmgpu: nonzeros in columns of other processes %" PetscInt64_FMT ", halo bytes %" PetscInt64_FMT
                                     ", neighbours %" PetscInt_FMT " at most\n",
                                     info.ghost, info.halobytes, PetscMax(info.from, info.to)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "hybmgpu: transport %s%s%s%s\n", LitheTransports[info.transport], info.reason ? " (" : "",
                                     info.reason ? info.reason : "", info.reason ? ")" : ""));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatView_HYBMGPU(Mat A, PetscViewer viewer)
{
  Mat_HYBMGPU      *ctx;
  PetscBool         isascii;
  PetscViewerFormat format;

  PetscFunctionBegin;
  PetscCall(MatHYBMGPUGetContext(A, &ctx));
  PetscCall((*ctx->super.view)(A, viewer));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscViewerGetFormat(viewer, &format));
  if (isascii && (format == PETSC_VIEWER_ASCII_INFO || format == PETSC_VIEWER_ASCII_INFO_DETAIL) && A->assembled)
    PetscCall(MatHYBMGPUViewInfo_Private(A, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
