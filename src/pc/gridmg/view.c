/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCView() of a PCGRIDMG */

#include "gridmgimpl.h"
#include <petscviewer.h>

static const char *Directions(const int by[3])
{
  static const char *const names[] = {"none", "x", "y", "xy", "z", "xz", "yz", "xyz"};

  return names[(by[0] > 1) + 2 * (by[1] > 1) + 4 * (by[2] > 1)];
}

static const char *NearNull(LitheNearNull how)
{
  if (how == LITHE_NEAR_NULL_GIVEN) return "given: levels of the scaled matrix";
  return how == LITHE_NEAR_NULL_RECOVERED ? "not constant, recovered: levels of the scaled matrix"
                                          : "constant, rows of different size: levels of the scaled matrix";
}

static PetscErrorCode ViewLevel_Private(const PC_GridMG *mg, PetscInt k, PetscViewer viewer)
{
  const GridMGLevel *l        = &mg->level[k];
  const PetscBool    coarsest = (PetscBool)(k == mg->n - 1);
  GridMGGrid         grid = l->op.grid, *g = &grid;
  char               wells[64] = "", how[128], edges[96] = "", dead[96] = "";

  PetscFunctionBegin;
  if (l->shared) {
    PCGridMGWholeSize(mg, &l->share, g->n);
    g->wells = mg->team.wells;
    PetscCall(PetscSNPrintf(edges, sizeof(edges), ", a part on each process%s", mg->overlap ? ", with two layers of others" : ""));
  } else if (mg->team.whole == k && k) PetscCall(PetscSNPrintf(edges, sizeof(edges), ", whole on each process, and all after it"));
  if (g->wells) PetscCall(PetscSNPrintf(wells, sizeof(wells), ", %" PetscInt_FMT " wells", g->wells));
  if (l->op.list.part[1] && !edges[0]) PetscCall(PetscSNPrintf(edges, sizeof(edges), ", %" PetscInt_FMT " cells with other edges", l->op.list.part[1]));
  if (coarsest) {
    PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse"));
    if (mg->singular) PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse, %" PetscInt_FMT " parts without row sums", mg->singular));
  } else {
    PetscCall(PetscSNPrintf(how, sizeof(how), "%d bits, bound %.3g, pairs along %s", l->op.bits, l->bound, Directions(l->by)));
    if (l->survey.dead) PetscCall(PetscSNPrintf(dead, sizeof(dead), ", %" PetscInt_FMT " cells smoothed only", l->survey.dead));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " cells%s, %s%s%s\n", k, g->n[0],
                                   g->n[1], g->n[2], wells, how, edges, dead));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ViewStencils_Private(const PC_GridMG *mg, PetscInt k, PetscViewer viewer)
{
  const GridMGStencilOperator *op = &mg->stencil[k].op;
  char                         how[128];
  const char                  *where = "";
  PetscInt                     n[3];

  PetscFunctionBegin;
  (void)PCGridMGStencilGrid_Private(&mg->stencil[k], n);
  if (mg->stencil[k].shared) where = ", a part on each process";
  else if (mg->team.whole == k && PCGridMGIsShared(mg)) where = ", whole on each process, and all after it";
  if (k == mg->n - 1) PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse%s", mg->singular ? ", without row sums" : ""));
  else PetscCall(PetscSNPrintf(how, sizeof(how), "stencils of %d, %d bits", op->grid.points, op->bits));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " points, %s%s\n", k, n[0], n[1],
                                   n[2], how, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The transport between overlapping boxes, or between boxes of points on devices, after the first exchange */
static PetscErrorCode ViewTransport_Private(const PC_GridMG *mg, PetscViewer viewer)
{
  const GridMGExchange *e    = mg->zeeuw ? &mg->stencil[0].share.remote : &mg->level[0].share.over.remote;
  LitheHalo             halo = NULL;
  LitheHaloInfo         info;

  PetscFunctionBegin;
  if (mg->zeeuw && !mg->stencil[0].shared) e = &mg->stencil[0].share.gather;
  for (int k = 0; k < 3 && !halo; k++) halo = e->halo[k];
  if (!mg->n || !halo || !(mg->zeeuw ? mg->device : mg->overlap)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloGetInfo(halo, &info));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s by %s%s%s%s\n", mg->zeeuw ? "exchanges between boxes" : "boxes overlap, exchanges",
                                   LitheTransports[info.transport], info.reason ? " (" : "", info.reason ? info.reason : "", info.reason ? ")" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_GridMG(PC pc, PetscViewer viewer)
{
  PC_GridMG             *mg  = (PC_GridMG *)pc->data;
  const PCGridMGOptions *opt = &mg->opt;
  PetscBool              isascii;
  double                 bytes;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  interpolation %s, cycle %s%s\n",
                                   PCGridMGInterpolationTypes[mg->n ? (mg->zeeuw ? PCGRIDMG_INTERPOLATION_ZEEUW : PCGRIDMG_INTERPOLATION_AGGREGATION)
                                                                    : opt->interpolation],
                                   PCGridMGCycleTypes[opt->cycle],
                                   opt->cycle == PCGRIDMG_CYCLE_K ? ", which is not linear: for flexible methods such as fcg" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  smoother %s, steps %" PetscInt_FMT ",%" PetscInt_FMT "%s\n",
                                   PCGridMGSmootherTypes[mg->n ? mg->smoother : opt->smoother], opt->smooths[0], opt->smooths[1],
                                   opt->smooths[0] == opt->smooths[1] ? "" : ": not symmetric"));
  if (!mg->built) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pc->failedreason && mg->failed[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  no preconditioner: %s\n", mg->failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (opt->interpolation == PCGRIDMG_INTERPOLATION_AUTO)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  interpolation chosen for entries of %s\n",
                                     !mg->zeeuw ? "5 or 7 points" : (mg->star ? "many signs, or with imaginary parts" : "9 or 27 points")));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s matrix, corrections times %g, precision %s\n", mg->symmetric ? "symmetric" : "nonsymmetric",
                                   mg->overcorrection,
                                   PCGridMGPrecisions[mg->precision == GRIDMG_SINGLE ? PCGRIDMG_PRECISION_SINGLE : PCGRIDMG_PRECISION_DOUBLE]));
  if (mg->device) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  on a device%s%s\n", mg->smallfrom ? ", small levels in one kernel" : "",
                                     mg->record.graph ? ", recorded as a graph" : ""));
  }
  PetscCall(ViewTransport_Private(mg, viewer));
  if (mg->scaling.how != LITHE_NEAR_NULL_CONSTANT) PetscCall(PetscViewerASCIIPrintf(viewer, "  near null vector %s\n", NearNull(mg->scaling.how)));
  else if (mg->negative && mg->symmetric && !mg->zeeuw)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  %" PetscInt_FMT " negative row sums were taken as 0\n", mg->negative));
  bytes = (double)(mg->moved.memory ? mg->moved.bytes : mg->pool.bytes);
  if (PCGridMGIsShared(mg)) {
    const double mine = bytes;

    PetscCallMPI(MPIU_Allreduce(&mine, &bytes, 1, MPI_DOUBLE, MPI_SUM, mg->team.comm));
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT ", %.0f bytes\n", mg->n, bytes));
  for (PetscInt k = 0; k < mg->n; k++) PetscCall(mg->zeeuw ? ViewStencils_Private(mg, k, viewer) : ViewLevel_Private(mg, k, viewer));
  if (mg->n) PetscCall(PetscViewerASCIIPrintf(viewer, "  no coarser level: %s\n", mg->why));
  PetscFunctionReturn(PETSC_SUCCESS);
}
