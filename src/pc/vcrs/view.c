/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The view of a PCVCRS: options, a line per compressed matrix, and the inner preconditioner; and the sums over all
   matrices.
*/

#include "pcvcrsimpl.h"
#include <lithe/private/vcrs/host.h>
#include <petscviewer.h>

/*
   The data of one line: sums over its matrices on all processes, the largest bound, and the storage of the first matrix
   of this process
*/
static PetscErrorCode PCVCRSSumLine_Private(PC pc, PetscInt line, PCVCRSInfo *sum, char layout[], size_t length)
{
  PC_VCRS        *v      = (PC_VCRS *)pc->data;
  MPI_Comm        comm   = PetscObjectComm((PetscObject)pc);
  const PetscBool blocks = v->lines.line[line].blocks;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(sum, sizeof(*sum)));
  if (layout) layout[0] = 0;
  for (PetscInt k = 0; k < v->copies.n; k++) {
    MatVCRSInfo info;
    PetscMPIInt rank;

    if (v->copies.copy[k].line != line) continue;
    PetscCall(MatVCRSGetInfo(v->copies.copy[k].compressed, &info));
    if (layout && !layout[0])
      PetscCall(
        PetscSNPrintf(layout, length, "layout %s, values %s%s, ", MatVCRSLayouts[info.layout], info.values, info.difference ? ", difference form" : ""));
    sum->bound = PetscMax(sum->bound, info.bound);
    /* The processes share the matrix */
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)v->copies.copy[k].compressed), &rank));
    if (blocks && rank) continue;
    sum->bytes += info.bytes;
    sum->exactbytes += v->copies.copy[k].exactbytes ? PetscMax(v->copies.copy[k].exactbytes, 0.0) : info.aijbytes;
    sum->matrices++;
  }
  if (blocks) {
    PetscLogDouble bytes[2] = {sum->bytes, sum->exactbytes};

    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, bytes, 2, MPI_DOUBLE, MPI_SUM, comm));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &sum->matrices, 1, MPIU_INT64, MPI_SUM, comm));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &sum->bound, 1, MPIU_REAL, MPIU_MAX, comm));
    sum->bytes      = bytes[0];
    sum->exactbytes = bytes[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The unchanged part; NULL: none. For blocks, the part of the first process with an unchanged part; text is space for
   the name
*/
static PetscErrorCode PCVCRSGetLeft_Private(PC pc, const PCVCRSLine *line, size_t length, char text[], const char **left)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)pc);
  PetscMPIInt rank, size, first;

  PetscFunctionBegin;
  *left = line->left;
  if (!line->blocks) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  first = line->left ? rank : size;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm));
  if (first == size) PetscFunctionReturn(PETSC_SUCCESS);
  if (rank == first) PetscCall(PetscStrncpy(text, line->left, length));
  PetscCallMPI(MPI_Bcast(text, (PetscMPIInt)length, MPI_CHAR, first, comm));
  *left = text;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCVCRSViewLine_Private(PC pc, PetscInt line, PetscViewer viewer)
{
  PC_VCRS    *v    = (PC_VCRS *)pc->data;
  const char *what = v->lines.line[line].what, *left;
  char        layout[64], error[64] = "", text[256] = "";
  PCVCRSInfo  sum;

  PetscFunctionBegin;
  PetscCall(PCVCRSSumLine_Private(pc, line, &sum, layout, sizeof(layout)));
  PetscCall(PCVCRSGetLeft_Private(pc, &v->lines.line[line], sizeof(text), text, &left));
  if (v->opt.loss != MATVCRS_LOSS_NONE) PetscCall(PetscSNPrintf(error, sizeof(error), ", error bound %g", (double)sum.bound));
  if (sum.matrices && v->lines.line[line].blocks)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %" PetscInt64_FMT " matrices, the first with %s%.0f bytes, ratio to AIJ %.3f%s\n", what, sum.matrices,
                                     layout, sum.bytes, sum.exactbytes / sum.bytes, error));
  else if (sum.bytes > 0.0 && sum.exactbytes > 0.0)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s%.0f bytes, ratio to AIJ %.3f%s\n", what, layout, sum.bytes, sum.exactbytes / sum.bytes, error));
  else if (sum.bytes > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s%.0f bytes, in addition to what AIJ has%s\n", what, layout, sum.bytes, error));
  if (left) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s\n", what, left));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCVCRSGetInfo_VCRS(PC pc, PCVCRSInfo *info)
{
  PC_VCRS   *v       = (PC_VCRS *)pc->data;
  PetscInt64 factors = v->factors.n;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(info, sizeof(*info)));
  for (PetscInt k = 0; k < v->lines.n; k++) {
    PCVCRSInfo sum;

    PetscCall(PCVCRSSumLine_Private(pc, k, &sum, NULL, 0));
    info->bytes += sum.bytes;
    info->exactbytes += sum.exactbytes;
    info->matrices += sum.matrices;
    info->bound = PetscMax(info->bound, sum.bound);
  }
  PetscCallMPI(MPIU_Allreduce(&factors, &info->factors, 1, MPIU_INT64, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCVCRSGetInfo - Gets the bytes of the matrices of a `PCVCRS` with and without compression

  Collective

  Input Parameter:
. pc - the preconditioner, of type `PCVCRS`

  Output Parameter:
. info - sums and a maximum over all matrices and processes, see `PCVCRSInfo`

  Level: intermediate

  Notes:
  All numbers are zero before the set-up, and after a change of options until the next application or set-up.

  Matrices left unchanged count in no sum. `PCView()` prints the same, and a line for each matrix.

.seealso: `PCVCRS`, `PCVCRSInfo`, `PCVCRSGetPC()`, `MatVCRSGetInfo()`
@*/
PetscErrorCode PCVCRSGetInfo(PC pc, PCVCRSInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscUseMethod(pc, "PCVCRSGetInfo_C", (PC, PCVCRSInfo *), (pc, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_VCRS(PC pc, PetscViewer viewer)
{
  PC_VCRS   *v = (PC_VCRS *)pc->data;
  PetscBool  isascii;
  PCVCRSInfo total;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (isascii) {
    const MatVCRSLoss loss = v->opt.loss;

    PetscCall(PetscViewerASCIIPrintf(viewer, "  loss %s", MatVCRSLosses[loss]));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    if (VCRSLossHasWidths(loss))
      PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " bits, on coarse levels %" PetscInt_FMT, v->opt.bits, v->opt.coarsebits));
    if (loss == MATVCRS_LOSS_BINS || loss == MATVCRS_LOSS_BINCLASSES) PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " bins", v->opt.bins));
    if (loss == MATVCRS_LOSS_CLASSES || loss == MATVCRS_LOSS_BINCLASSES)
      PetscCall(PetscViewerASCIIPrintf(viewer, ", lambda %g relative to %s", (double)v->opt.lambda, MatVCRSUnits[v->opt.unit]));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", loss == MATVCRS_LOSS_NONE ? "" : v->opt.rowsums ? ", row sums kept" : ", row sums not kept"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
    for (PetscInt k = 0; k < v->lines.n; k++) PetscCall(PCVCRSViewLine_Private(pc, k, viewer));
    PetscCall(PCVCRSGetInfo_VCRS(pc, &total));
    if (total.bytes > 0.0)
      PetscCall(PetscViewerASCIIPrintf(viewer, "  all compressed matrices: %.0f bytes, ratio to AIJ %.3f\n", total.bytes, total.exactbytes / total.bytes));
    else if (pc->setupcalled && v->parts.current) PetscCall(PetscViewerASCIIPrintf(viewer, "  it reads no matrix that could be compressed\n"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  inner preconditioner:\n"));
  }
  if (v->inner.pc) {
    if (isascii) PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(PCView(v->inner.pc, viewer));
    if (isascii) PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
