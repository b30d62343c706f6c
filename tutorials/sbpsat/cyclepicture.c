/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A picture of the rock around the fault at the end of a run: by how much it lags behind the plate, and its modulus */

#include "cycle.h"
#include <tutorials/common/gridfile.h>
#include <tutorials/common/plot.h>

#define MOST 300 /* nodes along a direction, about */

/* Nodes in both directions, up to the first line that is outside of the square */
typedef struct {
  PetscInt  last[2], step[2], nodes[2];
  PetscReal side[2]; /* of the picture, m */
} Part;

/* The square has a side of 1.5 times the depth of the friction. A line without nodes in the square ends the part */
static void ChoosePart(const CycleShape *g, PetscReal side, Part *p)
{
  PetscReal most[2] = {0, 0};

  p->last[0] = p->last[1] = 0;
  for (PetscInt j = 0; j <= g->n[1]; j++) {
    for (PetscInt i = 0; i <= g->n[0]; i++) {
      PetscReal at[2];

      CycleGridNode(g, i, j, at);
      for (int d = 0; d < 2; d++) most[d] = PetscMax(most[d], at[d]);
      if (at[0] >= side || at[1] >= side) continue;
      p->last[0] = PetscMax(p->last[0], PetscMin(i + 1, g->n[0]));
      p->last[1] = PetscMax(p->last[1], PetscMin(j + 1, g->n[1]));
    }
  }
  for (int d = 0; d < 2; d++) {
    p->side[d]  = PetscMin(side, most[d]);
    p->step[d]  = 1 + (p->last[d] - 1) / MOST;
    p->nodes[d] = 1 + (p->last[d] + p->step[d] - 1) / p->step[d];
  }
}

/* The lag of the nodes, and their moduli in GPa, at coordinates in km */
static PetscErrorCode Draw(const char path[], const CycleGrid *grid, const CycleRock *rock, const Part *p, PetscReal t, const PetscScalar w[])
{
  const PetscInt *n        = p->nodes;
  const PetscBool variable = (PetscBool)(rock->mu || rock->basin[0] > 0);
  PetscReal      *at, *lag, *mu;
  char            title[64];
  PlotPanel       panel = {.title  = title,
                           .xlabel = "distance from the fault, km",
                           .ylabel = "depth, km",
                           .x      = {0, p->side[0] / 1000},
                           .y      = {0, p->side[1] / 1000},
                           .down   = PETSC_TRUE,
                           .equal  = PETSC_TRUE,
                           .nx     = n[0],
                           .ny     = n[1],
                           .stride = {1, n[0]},
                           .label  = "lag behind the plate, m"};
  Plot            plot;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc3(2 * n[0] * n[1], &at, n[0] * n[1], &lag, n[0] * n[1], &mu));
  for (PetscInt j = 0; j < n[1]; j++) {
    for (PetscInt i = 0; i < n[0]; i++) {
      const PetscInt from[2] = {PetscMin(i * p->step[0], p->last[0]), PetscMin(j * p->step[1], p->last[1])}, k = i + n[0] * j;

      CycleGridNode(&grid->shape, from[0], from[1], &at[2 * k]);
      lag[k] = -PetscRealPart(w[from[0] + (grid->shape.n[0] + 1) * from[1]]);
      mu[k]  = CycleRockModulus(rock, at[2 * k], at[2 * k + 1]) / (PetscReal)1e9;
      for (int d = 0; d < 2; d++) at[2 * k + d] /= 1000;
    }
  }
  PetscCall(PetscSNPrintf(title, sizeof(title), "displacement after %.4g years", (double)(t / (PetscReal)CYCLE_YEAR)));
  panel.value       = lag;
  panel.coordinates = at;
  PetscCall(PlotOpen(path, &plot));
  PetscCall(PlotAdd(&plot, &panel));
  if (variable) {
    panel.column  = 1;
    panel.title   = "rock";
    panel.label   = "shear modulus, GPa";
    panel.colours = "cividis";
    panel.value   = mu;
    PetscCall(PlotAdd(&plot, &panel));
  }
  PetscCall(PlotClose(&plot));
  PetscCall(PetscFree3(at, lag, mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CyclePicture(const char path[], CycleRates *rates, const CycleRock *rock, PetscReal t, Vec y)
{
  const CycleGrid   *grid = rates->grid;
  Elastic           *e    = rates->elastic;
  PetscMPIInt        rank;
  const PetscScalar *w;
  Vec                all;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)grid->da), &rank));
  PetscCall(CycleRatesLag(rates, t, y));
  PetscCall(ElasticSolve(e, rates->slip, rates->mms ? CycleMMSLoad(rates->mms, t) : 0));
  PetscCall(GridGather(grid->da, e->u, &all));
  PetscCall(VecGetArrayRead(all, &w));
  if (!rank) {
    Part part;

    ChoosePart(&grid->shape, (PetscReal)1.5 * rates->law->Wf, &part);
    PetscCall(Draw(path, grid, rock, &part, t, w));
  }
  PetscCall(VecRestoreArrayRead(all, &w));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}
