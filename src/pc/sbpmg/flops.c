/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The floating point operations of an application of a PCSBPMG, for -log_view. Formulas are counted, level by level. A
   coarsest level that a KSP solves counts for itself.
*/

#include "sbpmgimpl.h"

#define SBPMG_BICUBIC 8 /* per node, on average: half of the nodes lie between two nodes, with four weights */

static double NodesOf(const PC_SBPMG *mg, PetscInt level)
{
  const SBPBox *own = &mg->level[level].grid.own;

  return (double)own->count[0] * (double)own->count[1];
}

static double ResidualFlops(const PC_SBPMG *mg, PetscInt level)
{
  const SBPMGLevel *l = &mg->level[level];

  return SBPOperatorFlops(&l->op[mg->precision]) + NodesOf(mg, level);
}

/* A smoothing step, and the first step from zero */
static double StepFlops(const PC_SBPMG *mg, PetscInt level)
{
  return ResidualFlops(mg, level) + 5 * NodesOf(mg, level);
}

static double PresmoothFlops(const PC_SBPMG *mg, PetscInt level, PetscBool zero)
{
  const PetscInt n = mg->level[level].smooth.steps[0];

  if (zero) return 2 * NodesOf(mg, level) + (double)PetscMax(n - 1, 0) * StepFlops(mg, level);
  return (double)n * StepFlops(mg, level);
}

/* Residual, bilinear restriction and prolongation, and smoothing after the coarse correction */
static double RestFlops(const PC_SBPMG *mg, PetscInt level)
{
  return ResidualFlops(mg, level) + 10 * NodesOf(mg, level) + (double)mg->level[level].smooth.steps[1] * StepFlops(mg, level);
}

/* v[zero], f[zero]: on input a V and an F cycle on the level below, on output on this level */
static void CycleFlops(const PC_SBPMG *mg, PetscInt level, double v[2], double f[2])
{
  const double rest = RestFlops(mg, level), more = level + 1 < mg->n - 1 ? f[0] + v[0] : 0, below = v[1];

  for (int zero = 0; zero < 2; zero++) {
    v[zero] = PresmoothFlops(mg, level, (PetscBool)zero) + rest + below;
    f[zero] = v[zero] + more;
  }
}

/* After a successful set-up */
PetscLogDouble PCSBPMGFlops_Private(const PC_SBPMG *mg)
{
  const double dense = mg->coarsest.ndense ? 2 * (double)mg->coarsest.ndense * (double)mg->coarsest.ndense : 0;
  double       v[2] = {dense, dense}, f[2] = {dense, dense}, full = dense;

  for (PetscInt k = mg->n - 2; k >= 0; k--) {
    CycleFlops(mg, k, v, f);
    /* the right-hand side is restricted, its solution interpolated; then follow steps with a residual and an update */
    full += (5 + SBPMG_BICUBIC) * NodesOf(mg, k) + (double)PCSBPMGFullSteps_Private(mg, k) * (ResidualFlops(mg, k) + 2 * NodesOf(mg, k) + v[1]);
  }
  return (PetscDefined(USE_COMPLEX) ? 2 : 1) * (mg->opt.cycle == PCSBPMG_CYCLE_FULL ? full : mg->opt.cycle == PCSBPMG_CYCLE_F ? f[1] : v[1]);
}
