/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCView() of a PCGRIDMG */

#include <lithe/private/gridmg/parts.h>
#include <petscviewer.h>

static const char *NearNull(LitheNearNull how)
{
  if (how == LITHE_NEAR_NULL_GIVEN) return "given: levels of the scaled matrix";
  return how == LITHE_NEAR_NULL_RECOVERED ? "not constant, recovered: levels of the scaled matrix"
                                          : "constant, rows of different size: levels of the scaled matrix";
}

/* The transport of an exchange, once it has sent something; what: is sent */
static PetscErrorCode ViewTransport_Private(const GridMGExchange *e, const char what[], PetscViewer viewer)
{
  LitheHalo     halo = NULL;
  LitheHaloInfo info;

  PetscFunctionBegin;
  for (int k = 0; k < 3 && e && !halo; k++) halo = e->halo[k];
  if (!halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloGetInfo(halo, &info));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s by %s%s%s%s\n", what, LitheTransports[info.transport], info.reason ? " (" : "", info.reason ? info.reason : "",
                                   info.reason ? ")" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The levels, which all devices have */
static PetscErrorCode ViewRedundant_Private(const PC_GridMG *mg, PetscViewer viewer)
{
  PetscViewer one;

  PetscFunctionBegin;
  PetscCall(PetscViewerASCIIPrintf(viewer, "  each process has all rows and levels\n"));
  PetscCall(ViewTransport_Private(&mg->domain.redundant.gather, "right-hand sides", viewer));
  PetscCall(PetscViewerASCIIPushTab(viewer));
  PetscCall(PetscViewerGetSubViewer(viewer, PETSC_COMM_SELF, &one));
  if (!mg->domain.team.rank) PetscCall(PCView(mg->domain.redundant.pc, one));
  PetscCall(PetscViewerRestoreSubViewer(viewer, PETSC_COMM_SELF, &one));
  PetscCall(PetscViewerASCIIPopTab(viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_GridMG(PC pc, PetscViewer viewer)
{
  PC_GridMG             *mg  = (PC_GridMG *)pc->data;
  const PCGridMGOptions *opt = &mg->opt;
  PetscBool              isascii;
  double                 mine, bytes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  interpolation %s, cycle %s%s\n",
                                   PCGridMGInterpolationTypes[mg->state.n ? mg->choice.method->interpolation : opt->interpolation],
                                   PCGridMGCycleTypes[opt->cycle],
                                   opt->cycle == PCGRIDMG_CYCLE_K ? ", which is not linear: for flexible methods such as fcg" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  smoother %s, steps %" PetscInt_FMT ",%" PetscInt_FMT "%s\n",
                                   PCGridMGSmootherTypes[mg->state.n ? mg->found.smoother : opt->smoother], opt->smooths[0], opt->smooths[1],
                                   opt->smooths[0] == opt->smooths[1] ? "" : ": not symmetric"));
  if (!mg->state.built) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pc->failedreason && mg->report.failed[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  no preconditioner: %s\n", mg->report.failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (mg->domain.redundant.pc) {
    PetscCall(ViewRedundant_Private(mg, viewer));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (opt->interpolation == PCGRIDMG_INTERPOLATION_AUTO)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  interpolation chosen for entries of %s\n", mg->choice.entries));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s matrix, corrections times %g, precision %s\n", mg->found.symmetric ? "symmetric" : "nonsymmetric",
                                   mg->found.overcorrection,
                                   PCGridMGPrecisions[mg->found.precision == GRIDMG_SINGLE ? PCGRIDMG_PRECISION_SINGLE : PCGRIDMG_PRECISION_DOUBLE]));
  if (mg->place.device) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on a device%s%s\n", mg->aggregation.small.from ? ", small levels in one kernel" : "",
                                     mg->record.graph ? ", recorded as a graph" : ""));
  }
  if (mg->state.n) PetscCall(ViewTransport_Private((*mg->choice.method->exchange)(mg), mg->choice.method->exchanges, viewer));
  if (mg->scaling.how != LITHE_NEAR_NULL_CONSTANT) PetscCall(PetscViewerASCIIPrintf(viewer, "  near null vector %s\n", NearNull(mg->scaling.how)));
  else if (mg->found.clipped) PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " negative row sums were taken as 0\n", mg->found.clipped));
  mine = (double)(mg->place.moved.memory ? mg->place.moved.bytes : mg->memory.pool.bytes);
  PetscCallMPI(MPIU_Allreduce(&mine, &bytes, 1, MPI_DOUBLE, MPI_SUM, mg->domain.team.comm));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT ", %.0f bytes\n", mg->state.n, bytes));
  for (PetscInt k = 0; k < mg->state.n; k++) PetscCall((*mg->choice.method->viewlevel)(mg, k, viewer));
  if (mg->state.n) PetscCall(PetscViewerASCIIPrintf(viewer, "  no coarser level: %s\n", mg->report.why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
