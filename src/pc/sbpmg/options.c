/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of PCSBPMG: their defaults and limits, the options database, and the setter of the cycle */

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
  opt->gathersize                 = PETSC_DECIDE;
  opt->graph                      = PETSC_TRUE;
  opt->overlap                    = PETSC_BOOL3_UNKNOWN;
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
  PetscCheck(opt->gathersize >= 0 || opt->gathersize == PETSC_DECIDE, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_sbpmg_gather_size %" PetscInt_FMT ": use a number of at least 0", opt->gathersize);
  PetscCall(PetscMemcmp(opt, &mg->opt, sizeof(*opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscUseTypeMethod(pc, reset);
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
  PetscCall(PetscOptionsInt("-pc_sbpmg_levels", "Number of levels", NULL, opt.levels, &opt.levels, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_sbpmg_precision", "Precision of the levels", NULL, PCSBPMGPrecisions, (PetscEnum)opt.precision, (PetscEnum *)&opt.precision, NULL));
  PetscCall(PetscOptionsEnum("-pc_sbpmg_smoother", "Smoother", NULL, PCSBPMGSmootherTypes, (PetscEnum)opt.smoother, (PetscEnum *)&opt.smoother, NULL));
  PetscCall(OptionsPair_Private(PetscOptionsObject, "-pc_sbpmg_smooths", "Smoothing steps before and after the coarse correction", NULL, opt.smooths));
  PetscCall(OptionsPair_Private(PetscOptionsObject, "-pc_sbpmg_smooths_finest", "The same on the finest level", NULL, opt.finest));
  PetscCall(PetscOptionsReal("-pc_sbpmg_fraction", "Lower end of the smoother's interval divided by the upper end", NULL, opt.fraction, &opt.fraction, NULL));
  PetscCall(PetscOptionsEnum("-pc_sbpmg_cycle", "Order in which levels are visited", "PCSBPMGSetCycle", PCSBPMGCycleTypes, (PetscEnum)opt.cycle,
                             (PetscEnum *)&opt.cycle, NULL));
  PetscCall(PetscOptionsEnum("-pc_sbpmg_coarse", "Coarse operators", NULL, PCSBPMGCoarseTypes, (PetscEnum)opt.coarse, (PetscEnum *)&opt.coarse, NULL));
  PetscCall(PetscMemzero(steps, sizeof(steps)));
  steps[0] = opt.fullsteps[0]; /* printed by -help */
  PetscCall(PetscOptionsIntArray("-pc_sbpmg_full_steps", "Steps of full multigrid on each level from the finest down", NULL, steps, &n, &set));
  if (set) {
    opt.nfull = n;
    PetscCall(PetscArraycpy(opt.fullsteps, steps, SBPMG_FULL_MAX));
  }
  PetscCall(PetscOptionsInt("-pc_sbpmg_dense", "Unknowns up to which the coarsest level has a dense inverse", NULL, opt.dense, &opt.dense, NULL));
  PetscCall(PetscOptionsInt("-pc_sbpmg_spectrum_steps", "Steps of Lanczos's method for bounds of spectra", NULL, opt.spectrumsteps, &opt.spectrumsteps, NULL));
  PetscCall(PetscOptionsInt("-pc_sbpmg_spectrum_size", "The most intervals of levels with separate bounds", NULL, opt.spectrumsize, &opt.spectrumsize, NULL));
  PetscCall(PetscOptionsInt("-pc_sbpmg_gather_size", "Unknowns up to which each process has all of a level", NULL, opt.gathersize, &opt.gathersize, NULL));
  PetscCall(PetscOptionsBool("-pc_sbpmg_graph", "On a device: record a cycle and replay it", NULL, opt.graph, &opt.graph, NULL));
  PetscCall(
    PetscOptionsBool3("-pc_sbpmg_overlap", "Several processes: compute nodes of neighbours instead of exchanging them", NULL, opt.overlap, &opt.overlap, NULL));
  PetscOptionsHeadEnd();
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

PetscErrorCode PCSBPMGComposeOptions_Private(PC pc, PetscBool yes)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)pc, "PCSBPMGSetCycle_C", yes ? PCSBPMGSetCycle_SBPMG : NULL));
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
