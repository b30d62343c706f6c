/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What -ksp_view prints about a PCCAMG */

#include "camgimpl.h"

static const char *NearNull(const PC_CAMG *mg)
{
  switch (mg->matrix.nearnull) {
  case LITHE_NEAR_NULL_GIVEN:
    return "given";
  case LITHE_NEAR_NULL_RECOVERED:
    return "found by relaxation: unknowns in different units";
  case LITHE_NEAR_NULL_ROWS:
    return "constant, rows scaled: equations in different units";
  default:
    return "constant";
  }
}

static PetscErrorCode ViewLevel_Private(const PC_CAMG *mg, PetscInt k, PetscViewer viewer)
{
  const CAMGLevel *l = &mg->level[k];
  char             how[96], from[96] = "";
  const double     n = (double)PetscMax(l->facts.all, 1);

  PetscFunctionBegin;
  if (k == mg->n - 1 && mg->coarsest.n) {
    if (mg->coarsest.singular) PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse, without a singular part of %" PetscInt_FMT, mg->coarsest.singular));
    else PetscCall(PetscSNPrintf(how, sizeof(how), "dense inverse"));
  } else PetscCall(PetscSNPrintf(how, sizeof(how), "%d bits, bound %.2f", l->op.bits, (double)l->facts.bound));
  if (k)
    PetscCall(PetscSNPrintf(from, sizeof(from), ", %.1f entries a row of the interpolation%s",
                            (double)l->facts.transfers / (double)PetscMax(l[-1].facts.all, 1), l->facts.plain ? ", constant on pairs of pairs" : ""));
  PetscCall(PetscViewerASCIIPrintf(viewer, "  level %" PetscInt_FMT ": %" PetscInt_FMT " rows of %.1f entries, %s%s%s\n", k, l->facts.all,
                                   (double)l->facts.nz / n, how, from,
                                   mg->whole.first && k == mg->whole.first ? ", whole on each process, and all after it" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCView_CAMG(PC pc, PetscViewer viewer)
{
  const PC_CAMG *mg = (const PC_CAMG *)pc->data;
  PetscBool      isascii;
  double         entries = 0, bytes = 0;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer, "  smoothed aggregation, V cycle, Chebyshev smoother with steps %" PetscInt_FMT ",%" PetscInt_FMT "%s\n",
                                   mg->opt.smooths[0], mg->opt.smooths[1], mg->opt.smooths[0] == mg->opt.smooths[1] ? "" : ": not symmetric"));
  if (!mg->built) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  not set up\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (pc->failedreason && mg->failed[0]) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "  no preconditioner: %s\n", mg->failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscViewerASCIIPrintf(viewer, "  %s matrix, precision %s, near null space of %" PetscInt_FMT ": %s\n",
                                   mg->matrix.symmetric ? "symmetric" : "nonsymmetric", mg->precision.single ? "single" : "double", mg->matrix.columns,
                                   NearNull(mg)));
  for (PetscInt k = 0; k < mg->n; k++) {
    entries += (double)mg->level[k].facts.nz;
    bytes += (double)mg->level[k].facts.bytes;
  }
  if (mg->n)
    PetscCall(PetscViewerASCIIPrintf(viewer, "  levels %" PetscInt_FMT ", operator complexity %.2f, %.0f bytes\n", mg->n,
                                     entries / PetscMax((double)mg->level[0].facts.nz, 1.), bytes));
  for (PetscInt k = 0; k < mg->n; k++) PetscCall(ViewLevel_Private(mg, k, viewer));
  if (mg->n) PetscCall(PetscViewerASCIIPrintf(viewer, "  no coarser level: %s\n", mg->why));
  if (mg->kept.n) PetscCall(PetscViewerASCIIPrintf(viewer, "  interpolation kept for new values%s\n", mg->kept.state == CAMG_KEPT_USE ? ", and used" : ""));
  PetscFunctionReturn(PETSC_SUCCESS);
}
