/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The exact entries of a level of aggregation during set-up: memory, the list of edges, and the survey. Other files
   fill in numbers
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"
#include "../base/base.h"

/* ------------------------------------------------------------ memory */

/* How many numbers the arrays of a level have */
size_t PCGridMGFacesNumbers_Private(const GridMGGrid *grid, PetscBool symmetric)
{
  size_t arrays = 1;

  for (int d = 0; d < 3; d++) arrays += grid->n[d] > 1 ? (symmetric ? 1 : 2) : 0;
  return arrays * (size_t)grid->cells + (size_t)grid->wells;
}

/* The arrays of a level, not zeroed: sigma and up, and down if the matrix may be nonsymmetric */
PetscErrorCode PCGridMGFacesCreate_Private(PC_GridMG *mg, const GridMGGrid *grid, PetscBool symmetric, GridMGFaces *f)
{
  double *memory;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  f->grid      = *grid;
  f->symmetric = symmetric;
  PetscCall(PCGridMGArenaTake_Private(mg, PCGridMGFacesNumbers_Private(grid, symmetric) * sizeof(double), (void **)&memory));
  f->sigma = memory;
  memory += grid->cells + grid->wells;
  for (int side = 0; side < (symmetric ? 1 : 2); side++) {
    for (int d = 0; d < 3; d++) {
      if (grid->n[d] < 2) continue;
      f->down[d] = memory;
      if (!side) f->up[d] = memory;
      memory += grid->cells;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The arrays of a level, not zeroed; own: where own cells are in boxes that overlap, or NULL */
PetscErrorCode PCGridMGExactCreate_Private(PC_GridMG *mg, GridMGLevel *l, const GridMGGrid *grid, PetscBool symmetric, const GridMGOwn *own)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGFacesCreate_Private(mg, grid, symmetric, &l->exact.faces));
  if (own) l->exact.faces.own = *own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   For a symmetric matrix the arrays of one side suffice, at the beginning of the arena; returns the memory of the
   second side
*/
PetscErrorCode PCGridMGExactSetSymmetry_Private(PC_GridMG *mg, GridMGLevel *l, PetscBool symmetric)
{
  const GridMGArenaMark start = {0, 0};
  const GridMGList      list  = l->exact.faces.list;
  const GridMGGrid      grid  = l->exact.faces.grid;

  PetscFunctionBegin;
  if (symmetric) {
    PCGridMGArenaGiveBack_Private(mg, &start);
    PetscCall(PCGridMGFacesCreate_Private(mg, &grid, PETSC_TRUE, &l->exact.faces));
    l->exact.faces.list = list;
  } else l->exact.faces.symmetric = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The list of the edges that have been collected */
PetscErrorCode PCGridMGExactSetList_Private(PC_GridMG *mg, GridMGLevel *l)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGEdgesToList_Private(&l->exact.faces.grid, &mg->aggregation.edges, l->exact.list, &l->exact.faces.list));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Room for whether cells have a place on the next level */
PetscErrorCode PCGridMGExactAlive_Private(PC_GridMG *mg, GridMGLevel *l)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGArenaTake_Private(mg, (size_t)l->exact.faces.grid.cells, (void **)&l->exact.alive));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scratch of the list for kernels, until the arena is returned to an earlier mark */
PetscErrorCode PCGridMGExactWork_Private(PC_GridMG *mg, GridMGLevel *l)
{
  const GridMGGrid *grid = &l->exact.faces.grid;

  PetscFunctionBegin;
  if (l->exact.faces.list.n) PetscCall(PCGridMGArenaTake_Private(mg, (size_t)(grid->cells + grid->wells) * sizeof(double), &l->exact.faces.list.work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGExactFree_Private(GridMGLevel *l)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(PCGridMGBlockFree_Private(&l->exact.list[b]));
  PetscCall(PetscMemzero(&l->exact.faces, sizeof(l->exact.faces)));
  l->exact.alive = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the survey */

/* A survey that the kernels have made with another operation */
void PCGridMGExactSurveyed_Private(GridMGLevel *l, const GridMGSurvey *survey)
{
  l->exact.survey = *survey;
}

/* Whether a next level is made: then some cells may have no place on it */
void PCGridMGExactUseAlive_Private(GridMGLevel *l, PetscBool next)
{
  if (!next) l->exact.survey.dead = 0;
  else l->exact.faces.alive = l->exact.survey.dead ? l->exact.alive : NULL;
}

/*
   Reduces the survey of a level over all processes. Logarithms are summed as whole numbers of GRIDMG_LOG_UNIT: the sum
   does not depend on the order. Overlapping boxes have the same table of codes, so also the same largest and smallest
   face
*/
static PetscErrorCode ReduceSurvey_Private(PC_GridMG *mg, GridMGLevel *l)
{
  GridMGSurvey     *s = &l->exact.survey;
  const GridMGList *f = &l->exact.faces.list;
  const double     *t = (const double *)f->t;
  PetscInt64        mine[5], all[5];
  double            least = s->min > 0 ? s->min : PETSC_MAX_REAL, bounds[2], allbounds[2];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) mine[d] = (PetscInt64)rint(s->logs[d] * GRIDMG_LOG_UNIT);
  mine[3] = (PetscInt64)s->count;
  mine[4] = s->dead;
  PetscCallMPI(MPIU_Allreduce(mine, all, 5, MPIU_INT64, MPI_SUM, mg->domain.team.comm));
  for (int d = 0; d < 3; d++) s->logs[d] = (double)all[d] / GRIDMG_LOG_UNIT;
  s->count = (double)all[3];
  PetscCall(PetscIntCast(all[4], &s->dead));
  for (PetscInt e = 0; e < f->i[f->n]; e++) {
    if (t[e] > 0 && f->j[e] >= l->exact.faces.grid.cells + l->exact.faces.grid.wells) least = PetscMin(least, t[e]);
  }
  bounds[0] = -least;
  bounds[1] = s->max;
  PetscCallMPI(MPIU_Allreduce(bounds, allbounds, 2, MPI_DOUBLE, MPI_MAX, mg->domain.team.comm));
  l->exact.least = -allbounds[0];
  if (l->exact.least >= (double)PETSC_MAX_REAL) l->exact.least = 0;
  if (mg->place.overlap) {
    s->max = allbounds[1];
    s->min = l->exact.least;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The survey of a level on all processes, from the exact entries. The largest and smallest face are local, for the
   codes, unless boxes overlap
*/
PetscErrorCode PCGridMGSurvey_Private(PC_GridMG *mg, GridMGLevel *l)
{
  PetscFunctionBegin;
  if (l->shared && !mg->place.overlap) {
    PetscCall(PCGridMGBorderFill_Private(mg, l));
    l->exact.faces.border = &l->boxes->bordering.faces;
  }
  PetscCall((*mg->place.kernels->setup.survey)(&l->exact.faces, l->exact.alive, &l->exact.survey));
  l->exact.least = l->exact.survey.min;
  if (!l->shared) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(ReduceSurvey_Private(mg, l));
  if (!l->exact.survey.dead || mg->place.overlap) PetscFunctionReturn(PETSC_SUCCESS);
  {
    /* of ghosts, too: wells are alive */
    const PetscInt n = l->exact.faces.grid.cells + l->exact.faces.grid.wells;
    unsigned char *alive;

    PetscCall(PetscMalloc1(n, &alive));
    for (PetscInt i = 0; i < n; i++) alive[i] = i < l->exact.faces.grid.cells ? l->exact.alive[i] : 1;
    PetscCall(PetscSFBcastBegin(l->boxes->sf, MPI_UNSIGNED_CHAR, alive, l->boxes->alive, MPI_REPLACE));
    PetscCall(PetscSFBcastEnd(l->boxes->sf, MPI_UNSIGNED_CHAR, alive, l->boxes->alive, MPI_REPLACE));
    PetscCall(PetscFree(alive));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
