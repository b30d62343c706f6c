/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The floating point operations of an application of a PCGRIDMG, for -log_view. Formulas are counted, level by level.
   The decoding of entries and the kernels that join several steps change no number.
*/

#include <lithe/private/gridmg/parts.h>

/* cycle[zero]: one cycle on a level from the iterate or from zero */
static double CoarseFlops(const PC_GridMG *mg, PetscInt level, const double cycle[2])
{
  const double n = (*mg->choice.method->flops)(mg, level).cells;

  if (level == mg->state.n - 1 || mg->opt.cycle == PCGRIDMG_CYCLE_V) return cycle[1];
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W) return cycle[1] + cycle[0];
  /* two residuals, five inner products and three updates */
  return level <= mg->opt.klevels ? 2 * cycle[1] + 2 * (*mg->choice.method->flops)(mg, level).residual + 16 * n : cycle[1];
}

/* After a successful set-up */
PetscLogDouble PCGridMGFlops_Private(const PC_GridMG *mg)
{
  const int parts = mg->choice.method->parts;
  double    cycle[2], n;

  if (mg->state.n == 0) return 0;
  n        = (*mg->choice.method->flops)(mg, mg->state.n - 1).cells;
  cycle[0] = cycle[1] = 2 * n * n + 2 * n;
  for (PetscInt k = mg->state.n - 2; k >= 0; k--) {
    const GridMGFlops f    = (*mg->choice.method->flops)(mg, k);
    const double      full = f.residual + f.step, rest = f.residual + f.transfer + CoarseFlops(mg, k + 1, cycle) + (double)mg->opt.smooths[1] * full;

    cycle[0] = (double)mg->opt.smooths[0] * full + rest;
    cycle[1] = (mg->opt.smooths[0] > 0 ? f.start + (double)(mg->opt.smooths[0] - 1) * full : 0) + rest;
  }
  return parts * (cycle[1] + 2 * (*mg->choice.method->flops)(mg, 0).cells);
}
