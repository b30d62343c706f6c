/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The floating point operations of an application of a PCGRIDMG, for -log_view. Formulas are counted, level by level.
   The decoding of entries and the kernels that join several steps change no number.
*/

#include "gridmgimpl.h"

typedef struct {
  double cells;    /* numbers of a vector */
  double residual; /* b - A x */
  double step;     /* of a smoothing step, without the residual */
  double start;    /* a step from zero */
  double transfer; /* restriction and prolongation */
} LevelFlops;

static LevelFlops FacesFlops(const PC_GridMG *mg, const GridMGLevel *l)
{
  const GridMGGrid *g     = &l->op.grid;
  const double      cells = (double)g->cells, all = cells + (double)g->wells;
  const PetscBool   chebyshev = (PetscBool)(mg->smoother == PCGRIDMG_SMOOTHER_CHEBYSHEV4);
  LevelFlops        f         = {.cells = all, .step = (chebyshev ? 5. : 3.) * all, .transfer = 3 * all};
  double            faces     = 0;

  for (int d = 0; d < 3; d++) faces += cells - cells / (double)PetscMax(g->n[d], 1);
  f.residual = 3 * (2 * faces + (double)l->edges) + 3 * all;
  /* the first colour starts from zero */
  if (mg->smoother == PCGRIDMG_SMOOTHER_REDBLACK) f.start = 0.5 * (f.residual + f.step + all);
  else f.start = chebyshev ? f.residual + f.step : all;
  return f;
}

static LevelFlops StencilFlops(const PC_GridMG *mg, const GridMGPoints *g)
{
  const double add = PetscDefined(USE_COMPLEX) ? 2 : 1, multiply = PetscDefined(USE_COMPLEX) ? 6 : 1;
  const double cells   = (double)g->cells;
  LevelFlops   f       = {.cells = add * cells, .step = (multiply + 2 * add) * cells};
  double       entries = 1, parents = 1;

  for (int d = 0; d < 3; d++) {
    entries *= 3. * (double)g->n[d] - 2; /* with the diagonal */
    if (g->n[d] > 1) parents *= 1.5;     /* every second point has two parents */
  }
  f.residual = (multiply + 2 * add) * entries;
  f.transfer = (4 * parents + 2) * add * cells;
  if (mg->smoother == PCGRIDMG_SMOOTHER_REDBLACK) f.start = (f.residual + f.step) * (1 - 1 / (double)g->corners) + f.cells / (double)g->corners;
  else f.start = (multiply + add) * cells;
  return f;
}

static LevelFlops FlopsOf(const PC_GridMG *mg, PetscInt level)
{
  return mg->zeeuw ? StencilFlops(mg, &mg->stencil[level].op.grid) : FacesFlops(mg, &mg->level[level]);
}

/* cycle[zero]: one cycle on a level from the iterate or from zero */
static double CoarseFlops(const PC_GridMG *mg, PetscInt level, const double cycle[2])
{
  const double n = FlopsOf(mg, level).cells;

  if (level == mg->n - 1 || mg->opt.cycle == PCGRIDMG_CYCLE_V) return cycle[1];
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W) return cycle[1] + cycle[0];
  /* two residuals, five inner products and three updates */
  return level <= mg->opt.klevels ? 2 * cycle[1] + 2 * FlopsOf(mg, level).residual + 16 * n : cycle[1];
}

/* After a successful set-up */
PetscLogDouble PCGridMGFlops_Private(const PC_GridMG *mg)
{
  const int parts = PetscDefined(USE_COMPLEX) && !mg->zeeuw ? 2 : 1; /* the real part, then the imaginary part */
  double    cycle[2], n;

  if (mg->n == 0) return 0;
  n        = FlopsOf(mg, mg->n - 1).cells;
  cycle[0] = cycle[1] = 2 * n * n + 2 * n;
  for (PetscInt k = mg->n - 2; k >= 0; k--) {
    const LevelFlops f    = FlopsOf(mg, k);
    const double     full = f.residual + f.step, rest = f.residual + f.transfer + CoarseFlops(mg, k + 1, cycle) + (double)mg->opt.smooths[1] * full;

    cycle[0] = (double)mg->opt.smooths[0] * full + rest;
    cycle[1] = (mg->opt.smooths[0] > 0 ? f.start + (double)(mg->opt.smooths[0] - 1) * full : 0) + rest;
  }
  return parts * (cycle[1] + 2 * FlopsOf(mg, 0).cells);
}
