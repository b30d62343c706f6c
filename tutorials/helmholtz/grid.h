/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Matrices whose rows are stencils on a DMDA: the places of a process' points and their neighbours.

   A row reaches the 9 or 27 points whose coordinates differ by at most 1. Neighbour s of a point has the offset (s % 3
   - 1, s / 3 % 3 - 1, s / 9 - 1). The point itself is s = GridCentre(grid).
*/

#include <petscdmda.h>

#define GRID_MAX_POINTS 27

typedef struct {
  DM              da;
  PetscInt        dim, points, corners; /* 3^dim, 2^dim */
  PetscInt        n[3];                 /* of the whole grid; in two dimensions n[2] = 1 */
  PetscInt        start[3], count[3];   /* the owned points */
  PetscInt        gstart[3], gcount[3]; /* the owned points with their neighbours */
  PetscInt        rows;
  const PetscInt *global; /* row numbers of the owned points and their neighbours */
} Grid;

PETSC_INTERN PetscErrorCode GridCreate(DM, Grid *);
PETSC_INTERN PetscErrorCode GridDestroy(Grid *);
/* A DMDA of a given grid, distributed among the processes as another DMDA */
PETSC_INTERN PetscErrorCode GridCreateDM(const Grid *, PetscInt dof, DM *);

static inline PetscInt GridCentre(const Grid *grid)
{
  return grid->points / 2;
}

/* The index of a point among the owned points, and among the owned points with their neighbours */
static inline PetscInt GridOwned(const Grid *grid, const PetscInt at[3])
{
  return ((at[2] - grid->start[2]) * grid->count[1] + at[1] - grid->start[1]) * grid->count[0] + at[0] - grid->start[0];
}

static inline PetscInt GridGhosted(const Grid *grid, const PetscInt at[3])
{
  return ((at[2] - grid->gstart[2]) * grid->gcount[1] + at[1] - grid->gstart[1]) * grid->gcount[0] + at[0] - grid->gstart[0];
}

/* Neighbour s of a point; PETSC_FALSE outside of the grid */
static inline PetscBool GridNeighbour(const Grid *grid, const PetscInt at[3], PetscInt s, PetscInt to[3])
{
  to[0] = at[0] + s % 3 - 1;
  to[1] = at[1] + s / 3 % 3 - 1;
  to[2] = grid->dim == 3 ? at[2] + s / 9 - 1 : 0;
  return (PetscBool)(to[0] >= 0 && to[0] < grid->n[0] && to[1] >= 0 && to[1] < grid->n[1] && to[2] >= 0 && to[2] < grid->n[2]);
}

/* The next owned point in the order of rows; the first is start[] */
static inline void GridNext(const Grid *grid, PetscInt at[3])
{
  if (++at[0] < grid->start[0] + grid->count[0]) return;
  at[0] = grid->start[0];
  if (++at[1] < grid->start[1] + grid->count[1]) return;
  at[1] = grid->start[1];
  ++at[2];
}
