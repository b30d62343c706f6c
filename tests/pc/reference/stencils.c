/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids of coarse points, and the stencils of a matrix */

#include "referencepc.h"

PetscErrorCode GridCreateCoarseDM(const Grid *grid, DM *da)
{
  VecType type;

  PetscFunctionBegin;
  PetscCall(GridCreateDM_Private(grid, 1, 2, da));
  /* solvers take their vectors from it: where the fine ones are, for MATAIJCUSPARSE takes no others */
  PetscCall(DMGetVecType(grid->da, &type));
  PetscCall(DMSetVecType(*da, type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The columns of a row come in another order than the neighbours only where another process has some */
PetscErrorCode GridGetStencil(const Grid *grid, Mat A, const PetscInt at[3], PetscScalar stencil[])
{
  const PetscInt     row = grid->global[GridGhosted(grid, at)];
  const PetscInt    *column;
  const PetscScalar *value;
  PetscInt           count, number[GRID_MAX_POINTS] = {0}, s = 0;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < grid->points; k++) {
    PetscInt to[3];

    number[k]  = GridNeighbour(grid, at, k, to) ? grid->global[GridGhosted(grid, to)] : -1;
    stencil[k] = 0.;
  }
  PetscCall(MatGetRow(A, row, &count, &column, &value));
  for (PetscInt k = 0; k < count; k++) {
    PetscInt tried = 0;

    while (number[s] != column[k] && tried++ < grid->points) s = (s + 1) % grid->points;
    PetscCheck(number[s] == column[k], PETSC_COMM_SELF, PETSC_ERR_ARG_WRONG,
               "Row %" PetscInt_FMT " has an entry in column %" PetscInt_FMT
               ", which is no neighbour on the grid: stencils of 9 points in two dimensions and 27 in three are supported",
               row, column[k]);
    stencil[s] = value[k];
  }
  PetscCall(MatRestoreRow(A, row, &count, &column, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MatCreateLike(Mat A, Mat *B)
{
  MatType type;
  VecType vectype;

  PetscFunctionBegin;
  PetscCall(MatGetType(A, &type));
  PetscCall(MatGetVecType(A, &vectype));
  PetscCall(MatCreate(PetscObjectComm((PetscObject)A), B));
  PetscCall(MatSetType(*B, type));
  PetscCall(MatSetVecType(*B, vectype));
  PetscFunctionReturn(PETSC_SUCCESS);
}
