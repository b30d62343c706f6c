/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Small levels of a PCGRIDMG in one kernel of a device: the choice of the levels, and the cycle as a list of operations
*/

#include <lithe/private/gridmg/parts.h>
#include "aggregation.h"

#define SMALL_CELLS 100000 /* more are too many for any kernel */
#define SMALL_STEPS 20000

typedef struct {
  unsigned char *step;
  PetscInt       n;
} Program;

/* Adds an operation, or only counts the operation if there is no memory */
static void Add(Program *p, GridMGSmallOperation operation, PetscInt level)
{
  if (p->step) {
    p->step[2 * p->n]     = (unsigned char)operation;
    p->step[2 * p->n + 1] = (unsigned char)level;
  }
  p->n++;
}

/*
   The program of PCGridMGCycle_Private() for levels from `from` on. If the last cycle ended with red cells, only red
   cells of the list need a step
*/
static void AddCycle(const PC_GridMG *mg, PetscInt from, PetscInt level, PetscBool zero, Program *p)
{
  const PetscInt  last = mg->state.n - 1 - from;
  const PetscBool list = (PetscBool)(mg->aggregation.level[from + level].op.list.n > 0);

  if (level == last) {
    Add(p, GRIDMG_SMALL_DENSE, level);
    return;
  }
  if (list && !zero) {
    Add(p, GRIDMG_SMALL_LISTRED, level);
    Add(p, GRIDMG_SMALL_RED, level);
    Add(p, GRIDMG_SMALL_UNLISTRED, level);
  }
  if (list) Add(p, GRIDMG_SMALL_LISTBLACK, level);
  Add(p, GRIDMG_SMALL_BLACK, level);
  if (list) {
    Add(p, GRIDMG_SMALL_UNLISTBLACK, level);
    Add(p, GRIDMG_SMALL_WELLS, level);
  }
  Add(p, GRIDMG_SMALL_RESIDUAL, level);
  if (list) Add(p, GRIDMG_SMALL_LISTRESIDUAL, level);
  Add(p, GRIDMG_SMALL_RESTRICT, level);
  AddCycle(mg, from, level + 1, PETSC_TRUE, p);
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W && level + 1 < last) AddCycle(mg, from, level + 1, PETSC_FALSE, p);
  Add(p, GRIDMG_SMALL_PROLONG, level);
  if (list) {
    Add(p, GRIDMG_SMALL_LISTPROLONG, level);
    Add(p, GRIDMG_SMALL_WELLSUP, level);
    Add(p, GRIDMG_SMALL_LISTBLACK, level);
  }
  Add(p, GRIDMG_SMALL_BLACKUP, level);
  if (list) {
    Add(p, GRIDMG_SMALL_UNLISTBLACK, level);
    Add(p, GRIDMG_SMALL_LISTRED, level);
  }
  Add(p, GRIDMG_SMALL_RED, level);
  if (list) Add(p, GRIDMG_SMALL_UNLISTRED, level);
}

static void AddSolve(const PC_GridMG *mg, PetscInt from, Program *p)
{
  p->n = 0;
  AddCycle(mg, from, 0, PETSC_TRUE, p);
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W && from < mg->state.n - 1) AddCycle(mg, from, 0, PETSC_FALSE, p);
}

/* Whether the kernel may contain this level and all later levels */
static PetscBool MayBeSmall(const PC_GridMG *mg, PetscInt level)
{
  if (mg->opt.smooths[0] != 1 || mg->opt.smooths[1] != 1 || mg->found.precision != GRIDMG_SINGLE) return PETSC_FALSE;
  if (mg->opt.cycle == PCGRIDMG_CYCLE_K && level <= mg->opt.klevels && level < mg->state.n - 1) return PETSC_FALSE;
  if (mg->opt.cycle == PCGRIDMG_CYCLE_W && mg->state.n - level > 12) return PETSC_FALSE; /* 2^12 visits of the coarsest level */
  return (PetscBool)(level > 0 && !mg->aggregation.level[level].shared && mg->aggregation.level[level].op.grid.cells <= SMALL_CELLS);
}

PetscErrorCode PCGridMGSmallSetUp_Private(PC_GridMG *mg)
{
  PetscInt  from = mg->state.n;
  PetscBool fits = PETSC_FALSE;

  PetscFunctionBegin;
  if (!mg->place.kernels->cycle.smallcreate) PetscFunctionReturn(PETSC_SUCCESS);
  while (from > 0 && MayBeSmall(mg, from - 1)) from--;
  for (; from < mg->state.n && !fits; from++) {
    const PetscInt        n = mg->state.n - from;
    const GridMGOperator *op[GRIDMG_LEVELS_MAX];
    int                   by[GRIDMG_LEVELS_MAX][3];
    Program               program = {NULL, 0};

    for (PetscInt k = 0; k < n; k++) {
      op[k] = &mg->aggregation.level[from + k].op;
      for (int d = 0; d < 3; d++) by[k][d] = k < n - 1 ? mg->aggregation.level[from + k].by[d] : 1;
    }
    AddSolve(mg, from, &program);
    if (program.n > SMALL_STEPS) continue;
    PetscCall(PetscMalloc1(2 * program.n, &program.step));
    AddSolve(mg, from, &program);
    {
      const GridMGSmallPlan plan = {.levels       = n,
                                    .op           = op,
                                    .by           = (const int(*)[3])by,
                                    .steps        = program.n,
                                    .program      = program.step,
                                    .factor       = mg->found.overcorrection,
                                    .inverse      = mg->coarsest.inverse,
                                    .inversescale = mg->coarsest.scale};

      PetscCall((*mg->place.kernels->cycle.smallcreate)(&plan, &mg->aggregation.small.kernel, &fits));
    }
    PetscCall(PetscFree(program.step));
    if (fits) mg->aggregation.small.from = from;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next cycles have no such kernel; all: frees it */
PetscErrorCode PCGridMGSmallFree_Private(PC_GridMG *mg, PetscBool all)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->aggregation.small.kernel && all) PetscCall((*GridMGDeviceKernels.cycle.smallfree)(&mg->aggregation.small.kernel));
#else
  (void)all;
#endif
  mg->aggregation.small.from = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
