/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a PCSBPMG */

#include "sbpmgimpl.h"
#include <petscviewer.h>

PetscErrorCode PCView_SBPMG(PC pc, PetscViewer viewer)
{
  PC_SBPMG             *mg    = (PC_SBPMG *)pc->data;
  const PCSBPMGOptions *opt   = &mg->opt;
  PetscLogDouble        bytes = (PetscLogDouble)mg->memory.bytes;
  PetscBool             isascii;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  cycle %s, smoother %s, coarse operators %s, precision %s\n", PCSBPMGCycleTypes[opt->cycle],
                                   PCSBPMGSmootherTypes[opt->smoother], PCSBPMGCoarseTypes[opt->coarse],
                                   PCSBPMGPrecisions[!mg->built ? opt->precision
                                                                : (mg->precision == mg->exact ? PCSBPMG_PRECISION_DOUBLE : PCSBPMG_PRECISION_SINGLE)]));
  if (!mg->built) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pc->failedreason && mg->failed[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  no preconditioner: %s\n", mg->failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->shift.deflated) PetscCall(PetscViewerASCIIPrintf(viewer, "  constants by themselves: only the diagonal acts on them\n"));
  if (!mg->symmetric && opt->cycle != PCSBPMG_CYCLE_FULL)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not symmetric: different numbers of smoothing steps before and after a coarse correction\n"));
  if (opt->cycle == PCSBPMG_CYCLE_FULL)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  full multigrid; spectrum of the cycle [%g, %g]\n", (double)mg->level[0].smooth.least,
                                     (double)mg->level[0].smooth.most));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, PetscObjectComm((PetscObject)pc)));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT ", %.0f bytes on the %s\n", mg->n, bytes, mg->device ? "device" : "host"));
  for (PetscInt k = 0; k < mg->n; k++) {
    const SBPMGLevel *l    = &mg->level[k];
    const SBPKind     kind = l->op[mg->precision].kind;
    char              what[64], how[160], cycles[32] = "";

    if (kind != SBP_NINE)
      PetscCall(PetscSNPrintf(what, sizeof(what), "SBP-SAT of order %d%s", l->op[mg->precision].grid.order, mg->shift.diagonal ? " and a diagonal" : ""));
    else PetscCall(PetscSNPrintf(what, sizeof(what), "nine points"));
    if (opt->cycle == PCSBPMG_CYCLE_FULL) PetscCall(PetscSNPrintf(cycles, sizeof(cycles), "cycles %" PetscInt_FMT ", ", PCSBPMGFullSteps_Private(mg, k)));
    if (k == mg->n - 1) PetscCall(PetscSNPrintf(how, sizeof(how), mg->coarsest.ndense ? "dense inverse" : "solved by KSP"));
    else
      PetscCall(PetscSNPrintf(how, sizeof(how), "%ssmoothing steps %" PetscInt_FMT ",%" PetscInt_FMT ", largest eigenvalue %g%s", cycles, l->smooth.steps[0],
                              l->smooth.steps[1], (double)l->smooth.lmax / (l->dinv ? 1. : mg->scaling.factor),
                              l->smooth.measured ? "" : " (that of the next level)"));
    if (SBPPartsExist(&mg->gather.parts) && PCSBPMGIsWhole(mg, k)) PetscCall(PetscStrlcat(how, ", on each process", sizeof(how)));
    PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " intervals, %s, %s\n", k, l->grid.n[0],
                                     l->grid.n[1], what, how));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  no coarser level: %s\n", mg->why));
  if (mg->coarsest.ksp && !mg->coarsest.ndense) {
    PetscCall(PetscViewerASCIIPushTab(viewer));
    PetscCall(KSPView(mg->coarsest.ksp, viewer));
    PetscCall(PetscViewerASCIIPopTab(viewer));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
