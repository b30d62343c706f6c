/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The options of PCCAMG: their defaults and limits, and the options database */

#include "camgimpl.h"

static const char *const NearNulls[]  = {"auto", "constant", "CAMGNearNull", "CAMG_NEAR_NULL_", NULL};
static const char *const Precisions[] = {"single", "double", "auto", "CAMGPrecision", "CAMG_PRECISION_", NULL};

PetscErrorCode PCCAMGOptionsDefault_Private(PCCAMGOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(opt, sizeof(*opt)));
  opt->threshold      = (PetscReal)0.08;
  opt->thresholdscale = (PetscReal)0.5;
  opt->levels         = PETSC_DECIDE;
  opt->coarsesize     = PETSC_DECIDE;
  opt->nsmooths       = 1;
  opt->truncate       = 4;
  opt->smooths[0] = opt->smooths[1] = 2;
  opt->bits                         = PETSC_DECIDE;
  opt->nearnull                     = CAMG_NEAR_NULL_AUTO;
  opt->precision                    = CAMG_PRECISION_AUTO;
  opt->graph                        = PETSC_TRUE;
  opt->reuse                        = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Check_Private(PC pc, const PCCAMGOptions *opt)
{
  MPI_Comm comm = PetscObjectComm((PetscObject)pc);

  PetscFunctionBegin;
  PetscCheck(opt->threshold >= 0 && opt->threshold < 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_camg_threshold %g: use a number from 0 to 1",
             (double)opt->threshold);
  PetscCheck(opt->thresholdscale >= 0 && opt->thresholdscale <= 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_camg_threshold_scale %g: use a number from 0 to 1",
             (double)opt->thresholdscale);
  PetscCheck(opt->levels == PETSC_DECIDE || (opt->levels >= 1 && opt->levels <= CAMG_LEVELS_MAX), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_camg_levels %" PetscInt_FMT ": use a number from 1 to %d, or -1", opt->levels, CAMG_LEVELS_MAX);
  PetscCheck(opt->coarsesize == PETSC_DECIDE || (opt->coarsesize >= 1 && opt->coarsesize <= CAMG_DENSE_MAX), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_camg_coarse_eq_limit %" PetscInt_FMT ": use a number from 1 to %d, or -1 for a choice by the matrix", opt->coarsesize, CAMG_DENSE_MAX);
  PetscCheck(opt->nsmooths == 0 || opt->nsmooths == 1, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_camg_agg_nsmooths %" PetscInt_FMT ": use 0 or 1", opt->nsmooths);
  PetscCheck(opt->truncate >= 0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-pc_camg_truncate %" PetscInt_FMT ": use a number of entries, or 0 for all", opt->truncate);
  for (int k = 0; k < 2; k++) {
    PetscCheck(opt->smooths[k] >= 0 && opt->smooths[k] <= CAMG_STEPS_MAX && opt->smooths[0] + opt->smooths[1] > 0, comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-pc_camg_smooths %" PetscInt_FMT ",%" PetscInt_FMT ": use numbers from 0 to %d, not both 0", opt->smooths[0], opt->smooths[1], CAMG_STEPS_MAX);
  }
  PetscCheck(opt->bits == PETSC_DECIDE || opt->bits == 8 || opt->bits == 16 || opt->bits == 32, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-pc_camg_bits %" PetscInt_FMT ": use 8, 16 or 32, or -1 for a choice by the matrix", opt->bits);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Inside PetscOptionsBegin/End of pc; new options rebuild everything */
PetscErrorCode PCSetFromOptions_CAMG(PC pc, PetscOptionItems PetscOptionsObject)
{
  PC_CAMG      *mg = (PC_CAMG *)pc->data;
  PCCAMGOptions opt;
  PetscInt      n = 2;
  PetscBool     set, same;

  PetscFunctionBegin;
  PetscCall(PetscMemcpy(&opt, &mg->opt, sizeof(opt)));
  PetscOptionsHeadBegin(PetscOptionsObject, "Compressed algebraic multigrid (camg)");
  PetscCall(PetscOptionsReal("-pc_camg_threshold", "Least size of a strong entry, relative to the diagonal", NULL, opt.threshold, &opt.threshold, NULL));
  PetscCall(PetscOptionsReal("-pc_camg_threshold_scale", "Factor of the threshold from level to level", NULL, opt.thresholdscale, &opt.thresholdscale, NULL));
  PetscCall(PetscOptionsInt("-pc_camg_levels", "Number of levels", NULL, opt.levels, &opt.levels, NULL));
  PetscCall(PetscOptionsInt("-pc_camg_coarse_eq_limit", "Unknowns up to which a level is the coarsest, -1: by the matrix", NULL, opt.coarsesize,
                            &opt.coarsesize, NULL));
  PetscCall(PetscOptionsInt("-pc_camg_agg_nsmooths", "Smoothing steps of the interpolation", NULL, opt.nsmooths, &opt.nsmooths, NULL));
  PetscCall(PetscOptionsInt("-pc_camg_truncate", "Most entries of a row of the interpolation, 0: all", NULL, opt.truncate, &opt.truncate, NULL));
  PetscCall(PetscOptionsIntArray("-pc_camg_smooths", "Smoothing steps before and after the coarse correction", NULL, opt.smooths, &n, &set));
  if (set && n == 1) opt.smooths[1] = opt.smooths[0];
  PetscCall(PetscOptionsInt("-pc_camg_bits", "Bits of an entry, -1: by the matrix", NULL, opt.bits, &opt.bits, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_camg_near_null", "Near null space", "MatSetNearNullSpace", NearNulls, (PetscEnum)opt.nearnull, (PetscEnum *)&opt.nearnull, NULL));
  PetscCall(
    PetscOptionsEnum("-pc_camg_precision", "Precision of vectors inside", NULL, Precisions, (PetscEnum)opt.precision, (PetscEnum *)&opt.precision, NULL));
  PetscCall(PetscOptionsBool("-pc_camg_reuse_interpolation", "New values in the same pattern: the interpolation stays", "PCGAMGSetReuseInterpolation",
                             opt.reuse, &opt.reuse, NULL));
  PetscCall(PetscOptionsBool("-pc_camg_graph", "On a device: record a cycle and replay the record", NULL, opt.graph, &opt.graph, NULL));
  PetscOptionsHeadEnd();
  PetscCall(Check_Private(pc, &opt));
  PetscCall(PetscMemcmp(&opt, &mg->opt, sizeof(opt), &same));
  if (same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscUseTypeMethod(pc, reset);
  mg->opt         = opt;
  pc->setupcalled = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
