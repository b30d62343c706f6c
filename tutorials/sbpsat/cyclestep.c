/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The fields of all nodes, on the first process, which follows earthquakes and writes files */

#include "cycle.h"

/* An array of own numbers as one of all numbers on the first process */
static PetscErrorCode Gather(const CycleGrid *grid, VecScatter gather, Vec whole, const PetscReal own[], PetscReal all[])
{
  PetscScalar       *a;
  const PetscScalar *r;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetArrayWrite(grid->fault, &a));
  for (PetscInt k = 0; k < grid->own; k++) a[k] = own[k];
  PetscCall(VecRestoreArrayWrite(grid->fault, &a));
  PetscCall(VecScatterBegin(gather, grid->fault, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(gather, grid->fault, whole, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetLocalSize(whole, &n));
  PetscCall(VecGetArrayRead(whole, &r));
  for (PetscInt k = 0; k < n; k++) all[k] = PetscRealPart(r[k]);
  PetscCall(VecRestoreArrayRead(whole, &r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleStepCreate(const CycleGrid *grid, const CycleRates *rates, CycleStep *s)
{
  PetscInt   n;
  VecScatter gather;
  Vec        whole;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(VecScatterCreateToZero(rates->fields, &s->gather, &s->all));
  PetscCall(VecGetLocalSize(s->all, &n));
  s->n = n / CYCLE_FIELDS;
  PetscCall(PetscMalloc1((CYCLE_FIELDS + 3) * s->n + 1, &s->depth));
  s->weight = s->depth + s->n;
  s->mu     = s->weight + s->n;
  for (int f = 0; f < CYCLE_FIELDS; f++) s->field[f] = s->mu + (1 + f) * s->n;
  PetscCall(VecScatterCreateToZero(grid->fault, &gather, &whole));
  PetscCall(Gather(grid, gather, whole, grid->depth, s->depth));
  PetscCall(Gather(grid, gather, whole, grid->weight, s->weight));
  PetscCall(Gather(grid, gather, whole, grid->mu, s->mu));
  PetscCall(VecScatterDestroy(&gather));
  PetscCall(VecDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleStepGather(const CycleRates *rates, PetscReal t, PetscInt step, CycleStep *s)
{
  const PetscScalar *a;

  PetscFunctionBeginUser;
  s->time  = t;
  s->step  = step;
  s->calls = rates->calls;
  PetscCall(VecScatterBegin(s->gather, rates->fields, s->all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(s->gather, rates->fields, s->all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(s->all, &a));
  s->where = 0;
  for (PetscInt k = 0; k < s->n; k++) {
    for (int f = 0; f < CYCLE_FIELDS; f++) s->field[f][k] = PetscRealPart(a[CYCLE_FIELDS * k + f]);
    if (s->field[CYCLE_LOGV][k] > s->field[CYCLE_LOGV][s->where]) s->where = k;
  }
  PetscCall(VecRestoreArrayRead(s->all, &a));
  if (s->n) s->logmax = s->field[CYCLE_LOGV][s->where];
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleStepDestroy(CycleStep *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(s->depth));
  PetscCall(VecScatterDestroy(&s->gather));
  PetscCall(VecDestroy(&s->all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
