/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The view of a TSUNIFORMIZATION: options, work, and guaranteed bounds. */

#include "uniformizationimpl.h"
#include <petscviewer.h>

PetscErrorCode TSView_Uniformization(TS ts, PetscViewer viewer)
{
  const TS_Uniformization *un = (const TS_Uniformization *)ts->data;
  TSUniformizationInfo     info;
  PetscBool                isascii, isstring;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERASCII, &isascii));
  PetscCall(PetscObjectTypeCompare((PetscObject)viewer, PETSCVIEWERSTRING, &isstring));
  if (isstring) PetscCall(PetscViewerStringSPrintf(viewer, " %s eps %g", TSUniformizationMethods[un->opt.method], (double)un->opt.eps));
  if (!isascii) PetscFunctionReturn(PETSC_SUCCESS);
  if (un->opt.method == TS_UNIFORMIZATION_INTERVALS)
    PetscCall(PetscViewerASCIIPrintf(viewer, "method: intervals of at most %g expected jumps\n", (double)un->opt.theta));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "method: %s\n", TSUniformizationMethods[un->opt.method]));
  PetscCall(PetscViewerASCIIPrintf(viewer, "error allowed for a whole solve, in the 1-norm: %g\n", (double)un->opt.eps));
  PetscCall(PetscViewerASCIIPrintf(viewer, "of which for states that hold next to nothing: %g\n", (double)(un->opt.negligible * un->opt.eps)));
  if (un->opt.steadystate) PetscCall(PetscViewerASCIIPrintf(viewer, "stops where the distribution is steady\n"));
  if (!un->generator.checked) {
    PetscCall(PetscViewerASCIIPrintf(viewer, "generator: not looked at yet\n"));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (un->opt.check)
    PetscCall(PetscViewerASCIIPrintf(viewer, "generator: checked%s; alpha %g, column sums within %g alpha\n", un->generator.row < 0 ? " by products" : "",
                                     (double)un->generator.alpha, (double)un->generator.defect));
  else PetscCall(PetscViewerASCIIPrintf(viewer, "generator: not checked; alpha %g\n", (double)un->generator.alpha));
  PetscCall(TSUniformizationGetInfo_Uniformization(ts, &info));
  if (!info.passes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscViewerASCIIPrintf(viewer,
                                   "%" PetscInt64_FMT " products, %" PetscInt64_FMT " sums, %" PetscInt_FMT
                                   " passes; %.3g %% of the states took part in a product, on average\n",
                                   info.products, info.sums, info.passes, 100 * (double)info.rows));
  if (info.steadyat >= 0) PetscCall(PetscViewerASCIIPrintf(viewer, "steady after product %" PetscInt_FMT " of the last pass\n", info.steadyat));
  PetscCall(
    PetscViewerASCIIPrintf(viewer,
                           "bound: || p - exact ||_1 <= %.3g || p(0) ||_1, of which weights %.3g, steady state %.3g, states left out %.3g, rounding %.3g\n",
                           (double)info.bound, (double)info.truncation, (double)info.steady, (double)info.negligible, (double)info.rounding));
  if (!info.roundingknown) PetscCall(PetscViewerASCIIPrintf(viewer, "rounding as if each row had one nonzero: the rows of this matrix cannot be read\n"));
  if (info.bound > un->opt.eps)
    PetscCall(PetscViewerASCIIPrintf(viewer, "the bound is greater than the error allowed: rounding alone may be that much; use a greater "
                                             "-ts_uniformization_eps, or longer steps\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetInfo - Gets the work and the error bound of a `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. info - see `TSUniformizationInfo`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationInfo`, `TSUniformizationSetEpsilon()`
@*/
PetscErrorCode TSUniformizationGetInfo(TS ts, TSUniformizationInfo *info)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(info, 2);
  PetscUseMethod(ts, "TSUniformizationGetInfo_C", (TS, TSUniformizationInfo *), (ts, info));
  PetscFunctionReturn(PETSC_SUCCESS);
}
