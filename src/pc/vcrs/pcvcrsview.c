/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   What a PCVCRS tells about itself: its options, a line a compressed matrix, and its inner preconditioner.
*/

#include "pcvcrsimpl.h"
#include <petscviewer.h>

/* One line; adds its bytes, and those of AIJ, to total[] */
static PetscErrorCode PCVCRSViewLine_Private(PC pc, PetscInt line, PetscViewer viewer, PetscLogDouble total[2])
{
  PC_VCRS        *v    = (PC_VCRS *)pc->data;
  MPI_Comm        comm = PetscObjectComm((PetscObject)pc);
  const char     *what = v->line[line].what, *left = v->line[line].left;
  const PetscBool blocks      = v->line[line].blocks;
  PetscLogDouble  size[3]     = {0.0, 0.0, 0.0}; /* bytes, those of AIJ, matrices */
  PetscReal       bound       = 0.0;
  char            layouts[64] = "", error[64] = "";

  PetscFunctionBegin;
  for (PetscInt k = 0; k < v->ncopies; k++) {
    MatVCRSInfo info;
    PetscMPIInt rank;

    if (v->copy[k].line != line) continue;
    PetscCall(MatVCRSGetInfo(v->copy[k].compressed, &info));
    if (!layouts[0]) PetscCall(PetscSNPrintf(layouts, sizeof(layouts), "layout %s, values %s%s, ", MatVCRSLayouts[info.layout], info.values, info.difference ? ", difference form" : ""));
    bound = PetscMax(bound, info.bound);
    /* Its processes have it together */
    PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)v->copy[k].compressed), &rank));
    if (blocks && rank) continue;
    size[0] += info.bytes;
    size[1] += v->copy[k].exactbytes > 0.0 ? v->copy[k].exactbytes : info.aijbytes;
    size[2] += 1.0;
  }
  if (blocks) {
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, size, 3, MPI_DOUBLE, MPI_SUM, comm));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bound, 1, MPIU_REAL, MPIU_MAX, comm));
  }
  if (v->opt.loss != MATVCRS_LOSS_NONE) PetscCall(PetscSNPrintf(error, sizeof(error), ", error bound %g", (double)bound));
  if (blocks && size[2] > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %.0f matrices, the first with %s%.0f bytes, ratio to AIJ %.3f%s\n", what, size[2], layouts, size[0], size[1] / size[0], error));
  else if (size[0] > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s%.0f bytes, ratio to AIJ %.3f%s\n", what, layouts, size[0], size[1] / size[0], error));
  if (left) PetscCall(PetscViewerASCIIPrintf(viewer, "  %s: %s\n", what, left));
  total[0] += size[0];
  total[1] += size[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_VCRS(PC pc, PetscViewer viewer)
{
  PC_VCRS       *v        = (PC_VCRS *)pc->data;
  PetscLogDouble total[2] = {0.0, 0.0};
  PetscBool      isascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (isascii) {
    const MatVCRSLoss loss = v->opt.loss;

    PetscCall(PetscViewerASCIIPrintf(viewer, "  loss %s", MatVCRSLosses[loss]));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_FALSE));
    if (loss == MATVCRS_LOSS_LOG || loss == MATVCRS_LOSS_FIXED) PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " bits", v->opt.bits));
    if (loss == MATVCRS_LOSS_BINS) PetscCall(PetscViewerASCIIPrintf(viewer, ", %" PetscInt_FMT " bins", v->opt.bins));
    if (loss == MATVCRS_LOSS_CLASSES) PetscCall(PetscViewerASCIIPrintf(viewer, ", lambda %g relative to %s", (double)v->opt.lambda, MatVCRSUnits[v->opt.unit]));
    PetscCall(PetscViewerASCIIPrintf(viewer, "%s\n", loss == MATVCRS_LOSS_NONE ? "" : v->opt.rowsums ? ", row sums kept"
                                                                                                     : ", row sums not kept"));
    PetscCall(PetscViewerASCIIUseTabs(viewer, PETSC_TRUE));
    for (PetscInt k = 0; k < v->nlines; k++) PetscCall(PCVCRSViewLine_Private(pc, k, viewer, total));
    if (total[0] > 0.0) PetscCall(PetscViewerASCIIPrintf(viewer, "  all compressed matrices: %.0f bytes, ratio to AIJ %.3f\n", total[0], total[1] / total[0]));
    else if (pc->setupcalled && v->current) PetscCall(PetscViewerASCIIPrintf(viewer, "  it reads no matrix that could be compressed\n"));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  inner preconditioner:\n"));
  }
  if (v->inner) {
    if (isascii) PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(PCView(v->inner, viewer));
    if (isascii) PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
