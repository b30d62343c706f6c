/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids of coarse points, the stencils of a matrix, and matrices made row by row */

#include "referencepc.h"

/* How many of the points before number end are on a grid of every point, or every second one and the last */
static PetscInt CountPoints(const Grid *grid, PetscInt d, PetscInt every, PetscInt end)
{
  return (end + every - 1) / every + (end == grid->n[d] && (end - 1) % every != 0);
}

static PetscErrorCode CreateEvery(const Grid *grid, PetscInt every, DM *da)
{
  const PetscInt *owned[3];
  PetscInt       *widths[3] = {NULL, NULL, NULL}, n[3] = {1, 1, 1}, processes[3];
  MPI_Comm        comm;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)grid->da, &comm));
  PetscCall(DMDAGetInfo(grid->da, NULL, NULL, NULL, NULL, &processes[0], &processes[1], &processes[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(grid->da, &owned[0], &owned[1], &owned[2]));
  for (PetscInt d = 0; d < grid->dim; d++) {
    PetscInt start = 0;

    n[d] = CountPoints(grid, d, every, grid->n[d]);
    PetscCall(PetscMalloc1(processes[d], &widths[d]));
    for (PetscInt p = 0; p < processes[d]; p++) {
      const PetscInt end = start + owned[d][p];

      widths[d][p] = CountPoints(grid, d, every, end) - CountPoints(grid, d, every, start);
      start        = end;
    }
  }
  if (grid->dim == 2)
    PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], processes[0], processes[1], 1, 1, widths[0], widths[1], da));
  else
    PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], n[2], processes[0], processes[1],
                           processes[2], 1, 1, widths[0], widths[1], widths[2], da));
  PetscCall(DMSetUp(*da));
  for (PetscInt d = 0; d < grid->dim; d++) PetscCall(PetscFree(widths[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridCreateCoarseDM(const Grid *grid, DM *da)
{
  VecType type;

  PetscFunctionBegin;
  PetscCall(CreateEvery(grid, 2, da));
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

/* ------------------------------------------------------------ rows under construction */

PetscErrorCode CSRCreate(PetscInt m, PetscInt64 space, CSR *csr)
{
  PetscFunctionBegin;
  PetscCheck(space <= PETSC_INT_MAX, PETSC_COMM_SELF, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt64_FMT " nonzeros of a process do not fit into PetscInt: use more processes, or a PETSc with 64-bit indices", space);
  csr->m     = m;
  csr->row   = 0;
  csr->space = space;
  PetscCall(PetscMalloc3(m + 1, &csr->i, space, &csr->j, space, &csr->a));
  csr->i[0] = 0;
  if (m) csr->i[1] = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CSRFinish(CSR *csr, PetscInt n, Mat A)
{
  PetscFunctionBegin;
  PetscCheck(csr->row == csr->m && csr->i[csr->m] <= csr->space, PETSC_COMM_SELF, PETSC_ERR_PLIB,
             "%" PetscInt_FMT " of %" PetscInt_FMT " rows with %" PetscInt_FMT " nonzeros in space for %" PetscInt64_FMT, csr->row, csr->m, csr->i[csr->row],
             csr->space);
  for (PetscInt row = 0; row < csr->m; row++) {
    const PetscInt begin = csr->i[row], count = csr->i[row + 1] - begin;
    PetscBool      sorted;

    PetscCall(PetscSortedInt(count, csr->j + begin, &sorted));
    if (!sorted) PetscCall(PetscSortIntWithScalarArray(count, csr->j + begin, csr->a + begin));
  }
  PetscCall(MatSetSizes(A, csr->m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSeqAIJSetPreallocationCSR(A, csr->i, csr->j, csr->a));
  PetscCall(MatMPIAIJSetPreallocationCSR(A, csr->i, csr->j, csr->a));
  PetscCall(PetscFree3(csr->i, csr->j, csr->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

void CSRAddStencil(CSR *csr, const Grid *grid, const PetscInt at[3], const PetscScalar stencil[])
{
  for (PetscInt s = 0; s < grid->points; s++) {
    PetscInt to[3];

    if (GridNeighbour(grid, at, s, to) && (stencil[s] != (PetscScalar)0. || s == GridCentre(grid)))
      CSRAdd(csr, grid->global[GridGhosted(grid, to)], stencil[s]);
  }
  CSRNextRow(csr);
}
