/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What a PCSBPMG tells about itself */

#include "sbpmgimpl.h"
#include <petscviewer.h>

PetscErrorCode PCView_SBPMG(PC pc, PetscViewer viewer)
{
  PC_SBPMG             *mg  = (PC_SBPMG *)pc->data;
  const PCSBPMGOptions *opt = &mg->opt;
  PetscLogDouble        bytes = (PetscLogDouble)mg->bytes;
  PetscBool             isascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle %s, smoother %s, coarse operators %s, precision %s\n", PCSBPMGCycleTypes[opt->cycle], PCSBPMGSmootherTypes[opt->smoother], PCSBPMGCoarseTypes[opt->coarse], PCSBPMGPrecisions[mg->built && mg->precision == mg->exact ? PCSBPMG_PRECISION_DOUBLE : opt->precision]));
  if (!mg->built) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!mg->symmetric && opt->cycle != PCSBPMG_CYCLE_FULL) PetscCall(PetscViewerASCIIPrintf(viewer, "  not symmetric: different numbers of smoothing steps before and after a coarse correction\n"));
  if (opt->cycle == PCSBPMG_CYCLE_FULL) PetscCall(PetscViewerASCIIPrintf(viewer, "  full multigrid, steps %s; spectrum of the cycle [%g, %g]\n", PCSBPMGFullTypes[opt->full], (double)mg->level[0].fmin, (double)mg->level[0].fmax));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT ", %.0f bytes on the %s\n", mg->n, bytes, mg->device ? "device" : "host"));
  for (PetscInt k = 0; k < mg->n; k++) {
    const SBPMGLevel *l    = &mg->level[k];
    const SBPKind     kind = l->op[mg->precision].kind;

    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " intervals, ", k, l->grid.n[0], l->grid.n[1]));
    if (kind == SBP_SAT) PetscCall(PetscViewerASCIIPrintf(viewer, "SBP-SAT of order %d, ", l->op[mg->precision].grid.order));
    else PetscCall(PetscViewerASCIIPrintf(viewer, "nine points, "));
    if (k == mg->n - 1) PetscCall(PetscViewerASCIIPrintf(viewer, mg->ndense ? "dense inverse\n" : "solved by KSP\n"));
    else {
      if (opt->cycle == PCSBPMG_CYCLE_FULL) PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT " cycles of ", PCSBPMGFullSteps_Private(mg, k)));
      if (l->measured) PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT ",%" PetscInt_FMT " smoothing steps, largest eigenvalue %g (%" PetscInt_FMT " steps)\n", l->smooths[0], l->smooths[1], (double)l->lmax, l->measured));
      else PetscCall(PetscViewerASCIIPrintf(viewer, "%" PetscInt_FMT ",%" PetscInt_FMT " smoothing steps, largest eigenvalue %g (of the next level)\n", l->smooths[0], l->smooths[1], (double)l->lmax));
    }
  }
  if (mg->ksp && !mg->ndense) {
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(KSPView(mg->ksp, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
