/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of PCSBPMG: their defaults and limits, the options database and the setters */

#include "sbpmgimpl.h"

const char *const PCSBPMGPrecisions[]    = {"double", "single", "auto", "PCSBPMGPrecision", "PCSBPMG_PRECISION_", NULL};
const char *const PCSBPMGSmootherTypes[] = {"chebyshev", "chebyshev4", "richardson2", "richardson", "PCSBPMGSmootherType", "PCSBPMG_SMOOTHER_", NULL};
const char *const PCSBPMGCycleTypes[]    = {"v", "f", "full", "PCSBPMGCycleType", "PCSBPMG_CYCLE_", NULL};
const char *const PCSBPMGCoarseTypes[]   = {"galerkin", "rediscretized", "PCSBPMGCoarseType", "PCSBPMG_COARSE_", NULL};

PetscErrorCode PCSBPMGOptionsDefault_Private(PCSBPMGOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->levels     = PETSC_DECIDE;
  opt->precision  = PCSBPMG_PRECISION_AUTO;
  opt->smoother   = PCSBPMG_SMOOTHER_CHEBYSHEV;
  opt->smooths[0] = opt->smooths[1] = PETSC_DECIDE;
  opt->finest[0] = opt->finest[1] = PETSC_DECIDE;
  opt->fraction                   = (PetscReal)0.15;
  opt->cycle                      = PCSBPMG_CYCLE_V;
  opt->coarse                     = PCSBPMG_COARSE_GALERKIN;
  opt->dense                      = 1100;
  opt->nfull                      = 3;
  opt->fullsteps[0]               = 1;
  opt->fullsteps[1]               = 1;
  opt->fullsteps[2]               = 3;
  opt->spectrumsteps              = 8;
  opt->spectrumsize               = 256;
  opt->graph                      = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSteps_Private(PC pc, const char name[], PetscInt n, PetscInt least)
{
  PetscFunctionBegin;
  PetscCheck(n >= least && n <= SBPMG_STEPS_MAX, PetscObjectComm((PetscObject)pc), PETSC_ERR_ARG_OUTOFRANGE,
             "%s %" PetscInt_FMT ": use a number from %" PetscInt_FMT " to %d", name, n, least, SBPMG_STEPS_MAX);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks and takes over new options; the next set-up rebuilds everything */
static PetscErrorCode PCSBPMGSetOptions_Private(PC pc, const PCSBPMGOptions *opt)
{
  PC_SBPMG *mg   = (PC_SBPMG *)pc->data;
  MPI_Comm  comm = PetscObjectComm((PetscObject)pc);
  PetscBool same;

  PetscFunctionBegin;
  PetscCheck(opt->levels == PETSC_DECIDE || (opt->levels >= 1 && opt->levels <= SBPMG_LEVELS_MAX), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sbpmg_levels %" PetscInt_FMT ": use a number from 1 to %d, or PETSC_DECIDE", opt->levels, SBPMG_LEVELS_MAX);
  if (opt->smooths[0] != PETSC_DECIDE) PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_smooths (before)", opt->smooths[0], 1));
  if (opt->smooths[1] != PETSC_DECIDE) PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_smooths (after)", opt->smooths[1], 0));
  if (opt->finest[0] != PETSC_DECIDE) PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_smooths_finest (before)", opt->finest[0], 1));
  if (opt->finest[1] != PETSC_DECIDE) PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_smooths_finest (after)", opt->finest[1], 0));
  PetscCheck(opt->nfull >= 1 && opt->nfull <= SBPMG_FULL_MAX, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sbpmg_full_steps: %" PetscInt_FMT " numbers; give 1 to %d, the last one is for all levels that follow", opt->nfull, SBPMG_FULL_MAX);
  for (PetscInt k = 0; k < opt->nfull; k++) PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_full_steps", opt->fullsteps[k], 1));
  PetscCall(CheckSteps_Private(pc, "-pc_sbpmg_spectrum_steps", opt->spectrumsteps, 1));
  PetscCheck(opt->fraction > 0 && opt->fraction < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_sbpmg_fraction %g: use a number between 0 and 1",
             (double)opt->fraction);
  PetscCheck(opt->dense >= 0 && opt->dense <= 10000, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_sbpmg_dense %" PetscInt_FMT ": use a number from 0 to 10000",
             opt->dense);
  PetscCheck(opt->spectrumsize >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_sbpmg_spectrum_size %" PetscInt_FMT ": use a number of at least 0",
             opt->spectrumsize);
  PetscCall(PetscMemcmp(opt, &mg->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCReset_SBPMG(pc));
  mg->opt = *opt;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An option with two numbers, or one number for both */
static PetscErrorCode OptionsPair_Private(PetscOptionItems PetscOptionsObject, const char name[], const char text[], const char function[], PetscInt pair[2])
{
  PetscInt  n = 2, given[2];
  PetscBool set;

  PetscFunctionBegin;
  given[0] = pair[0];
  given[1] = pair[1];
  PetscCall(PetscOptionsIntArray(name, text, function, given, &n, &set));
  if (!set || n < 1) PetscFunctionReturn(PETSC_SUCCESS);
  pair[0] = given[0];
  pair[1] = n == 2 ? given[1] : given[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of pc */
PetscErrorCode PCSBPMGSetFromOptions_Private(PC pc, PetscOptionItems PetscOptionsObject)
{
  PCSBPMGOptions opt;
  PetscInt       steps[SBPMG_FULL_MAX], n = SBPMG_FULL_MAX;
  PetscBool      set;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  PetscOptionsHeadBegin(PetscOptionsObject, "Multigrid for SBP-SAT operators (sbpmg)");
  PetscCall(PetscOptionsInt("-pc_sbpmg_levels", "Number of levels", "PCSBPMGSetLevels", opt.levels, &opt.levels, NULL));
  PetscCall(PetscOptionsEnum("-pc_sbpmg_precision", "Precision of the levels", "PCSBPMGSetPrecision", PCSBPMGPrecisions, (PetscEnum)opt.precision,
                             (PetscEnum *)&opt.precision, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_sbpmg_smoother", "Smoother", "PCSBPMGSetSmoother", PCSBPMGSmootherTypes, (PetscEnum)opt.smoother, (PetscEnum *)&opt.smoother, NULL));
  PetscCall(
    OptionsPair_Private(PetscOptionsObject, "-pc_sbpmg_smooths", "Smoothing steps before and after the coarse correction", "PCSBPMGSetSmooths", opt.smooths));
  PetscCall(OptionsPair_Private(PetscOptionsObject, "-pc_sbpmg_smooths_finest", "The same on the finest level", "PCSBPMGSetSmooths", opt.finest));
  PetscCall(PetscOptionsReal("-pc_sbpmg_fraction", "Lower end of the smoother's interval divided by the upper end", "PCSBPMGSetFraction", opt.fraction,
                             &opt.fraction, NULL));
  PetscCall(PetscOptionsEnum("-pc_sbpmg_cycle", "Order in which levels are visited", "PCSBPMGSetCycle", PCSBPMGCycleTypes, (PetscEnum)opt.cycle,
                             (PetscEnum *)&opt.cycle, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_sbpmg_coarse", "Coarse operators", "PCSBPMGSetCoarse", PCSBPMGCoarseTypes, (PetscEnum)opt.coarse, (PetscEnum *)&opt.coarse, NULL));
  PetscCall(PetscMemzero(steps, sizeof(steps)));
  steps[0] = opt.fullsteps[0]; /* printed by -help */
  PetscCall(PetscOptionsIntArray("-pc_sbpmg_full_steps", "Steps of full multigrid on each level from the finest down", "PCSBPMGSetFullSteps", steps, &n, &set));
  if (set) {
    opt.nfull = n;
    PetscCall(PetscArraycpy(opt.fullsteps, steps, SBPMG_FULL_MAX));
  }
  PetscCall(PetscOptionsInt("-pc_sbpmg_dense", "Unknowns up to which the coarsest level has a dense inverse", NULL, opt.dense, &opt.dense, NULL));
  PetscCall(PetscOptionsInt("-pc_sbpmg_spectrum_steps", "Steps of Lanczos's method for bounds of spectra", NULL, opt.spectrumsteps, &opt.spectrumsteps, NULL));
  PetscCall(PetscOptionsInt("-pc_sbpmg_spectrum_size", "The most intervals of levels with separate bounds", NULL, opt.spectrumsize, &opt.spectrumsize, NULL));
  PetscCall(PetscOptionsBool("-pc_sbpmg_graph", "On a device: record a cycle and replay it", NULL, opt.graph, &opt.graph, NULL));
  PetscOptionsHeadEnd();
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetLevels_SBPMG(PC pc, PetscInt levels)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.levels = levels;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetPrecision_SBPMG(PC pc, PCSBPMGPrecision precision)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.precision = precision;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetSmoother_SBPMG(PC pc, PCSBPMGSmootherType smoother)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.smoother = smoother;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetSmooths_SBPMG(PC pc, PetscInt before, PetscInt after)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.smooths[0] = before;
  opt.smooths[1] = after;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetFraction_SBPMG(PC pc, PetscReal fraction)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.fraction = fraction;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetCycle_SBPMG(PC pc, PCSBPMGCycleType cycle)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.cycle = cycle;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetCoarse_SBPMG(PC pc, PCSBPMGCoarseType coarse)
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.coarse = coarse;
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCSBPMGSetFullSteps_SBPMG(PC pc, PetscInt n, const PetscInt steps[])
{
  PCSBPMGOptions opt;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &((PC_SBPMG *)pc->data)->opt, sizeof(opt)));
  opt.nfull = n;
  PetscCall(PetscArrayzero(opt.fullsteps, SBPMG_FULL_MAX));
  PetscCall(PetscArraycpy(opt.fullsteps, steps, PetscMax(0, PetscMin(n, SBPMG_FULL_MAX))));
  PetscCall(PCSBPMGSetOptions_Private(pc, &opt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGComposeOptions_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetLevels_C", yes ? PCSBPMGSetLevels_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetPrecision_C", yes ? PCSBPMGSetPrecision_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetSmoother_C", yes ? PCSBPMGSetSmoother_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetSmooths_C", yes ? PCSBPMGSetSmooths_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetFraction_C", yes ? PCSBPMGSetFraction_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetCycle_C", yes ? PCSBPMGSetCycle_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetCoarse_C", yes ? PCSBPMGSetCoarse_SBPMG : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetFullSteps_C", yes ? PCSBPMGSetFullSteps_SBPMG : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetLevels - Sets the number of levels of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCSBPMG`
- levels - the number, or `PETSC_DECIDE` for as many as the grid allows

  Options Database Key:
. -pc_sbpmg_levels <n> - the number of levels

  Level: intermediate

  Note:
  A coarser level exists if both numbers of intervals are even.

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetLevels(PC pc, PetscInt levels)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, levels, 2);
  PetscTryMethod(pc, "PCSBPMGSetLevels_C", (PC, PetscInt), (pc, levels));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetPrecision - Sets the precision of the levels of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc        - the preconditioner, of type `PCSBPMG`
- precision - `PCSBPMG_PRECISION_AUTO` (the default), `PCSBPMG_PRECISION_SINGLE` or `PCSBPMG_PRECISION_DOUBLE`, the precision of `PetscReal`

  Options Database Key:
. -pc_sbpmg_precision <auto,single,double> - the precision

  Level: intermediate

  Notes:
  Residuals of the outer Krylov method, and residuals of full multigrid, have the precision of `PetscReal`.

  Levels in single precision make an application slightly nonlinear. `KSPCG`, `KSPFGMRES` and other flexible methods
  tolerate this. For other methods `auto` measures the effect on the residual, compares it with the tolerance, and sets up the levels anew in
  double precision if needed.

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetPrecision(PC pc, PCSBPMGPrecision precision)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, precision, 2);
  PetscTryMethod(pc, "PCSBPMGSetPrecision_C", (PC, PCSBPMGPrecision), (pc, precision));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetSmoother - Sets the smoother of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner, of type `PCSBPMG`
- smoother - the polynomial of the smoother, see `PCSBPMGSmootherType`

  Options Database Key:
. -pc_sbpmg_smoother <chebyshev,chebyshev4,richardson2,richardson> - the smoother

  Level: intermediate

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetSmoother(PC pc, PCSBPMGSmootherType smoother)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, smoother, 2);
  PetscTryMethod(pc, "PCSBPMGSetSmoother_C", (PC, PCSBPMGSmootherType), (pc, smoother));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetSmooths - Sets the numbers of smoothing steps of a `PCSBPMG` before and after a coarse correction

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCSBPMG`
. before - at least 1, or `PETSC_DECIDE`
- after  - the same number for a symmetric preconditioner, or `PETSC_DECIDE`

  Options Database Keys:
+ -pc_sbpmg_smooths <before,after>        - both numbers, or one number for both
- -pc_sbpmg_smooths_finest <before,after> - smoothing steps of the finest level, if different

  Level: intermediate

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetSmooths(PC pc, PetscInt before, PetscInt after)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, before, 2);
  PetscValidLogicalCollectiveInt(pc, after, 3);
  PetscTryMethod(pc, "PCSBPMGSetSmooths_C", (PC, PetscInt, PetscInt), (pc, before, after));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetFraction - Sets the interval on which the smoother of a `PCSBPMG` is small

  Logically Collective

  Input Parameters:
+ pc       - the preconditioner, of type `PCSBPMG`
- fraction - lower end of the interval divided by the upper end, the largest eigenvalue

  Options Database Key:
. -pc_sbpmg_fraction <0.15> - the ratio

  Level: intermediate

  Note:
  The fraction is used by `PCSBPMG_SMOOTHER_CHEBYSHEV` and `PCSBPMG_SMOOTHER_RICHARDSON2`.

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetFraction(PC pc, PetscReal fraction)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveReal(pc, fraction, 2);
  PetscTryMethod(pc, "PCSBPMGSetFraction_C", (PC, PetscReal), (pc, fraction));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetCycle - Sets the cycle of an application of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCSBPMG`
- cycle - a V cycle, an F cycle or full multigrid, see `PCSBPMGCycleType`

  Options Database Key:
. -pc_sbpmg_cycle <v,f,full> - the cycle

  Level: intermediate

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetCycle(PC pc, PCSBPMGCycleType cycle)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, cycle, 2);
  PetscTryMethod(pc, "PCSBPMGSetCycle_C", (PC, PCSBPMGCycleType), (pc, cycle));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetCoarse - Sets the type of the coarse operators of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc     - the preconditioner, of type `PCSBPMG`
- coarse - see `PCSBPMGCoarseType`

  Options Database Key:
. -pc_sbpmg_coarse <galerkin,rediscretized> - the type

  Level: intermediate

.seealso: `PCSBPMG`
@*/
PetscErrorCode PCSBPMGSetCoarse(PC pc, PCSBPMGCoarseType coarse)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(pc, coarse, 2);
  PetscTryMethod(pc, "PCSBPMGSetCoarse_C", (PC, PCSBPMGCoarseType), (pc, coarse));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  PCSBPMGSetFullSteps - Sets the number of steps of full multigrid on each level of a `PCSBPMG`

  Logically Collective

  Input Parameters:
+ pc    - the preconditioner, of type `PCSBPMG`
. n     - length of `steps`
- steps - number of steps on each level, the finest first; the last number is for all further levels

  Options Database Key:
. -pc_sbpmg_full_steps <1,1,3> - number of steps on each level from the finest down

  Level: intermediate

.seealso: `PCSBPMG`, `PCSBPMGSetCycle()`
@*/
PetscErrorCode PCSBPMGSetFullSteps(PC pc, PetscInt n, const PetscInt steps[])
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(pc, PC_CLASSID, 1);
  PetscValidLogicalCollectiveInt(pc, n, 2);
  PetscAssertPointer(steps, 3);
  PetscTryMethod(pc, "PCSBPMGSetFullSteps_C", (PC, PetscInt, const PetscInt[]), (pc, n, steps));
  PetscFunctionReturn(PETSC_SUCCESS);
}
