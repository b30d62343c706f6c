/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Matrices whose rows are stencils on a DMDA; see grid.h */

#include "grid.h"
#include <petscmat.h>

PetscErrorCode GridCreate(DM da, Grid *grid)
{
  ISLocalToGlobalMapping map;
  DMBoundaryType         boundary[3];
  PetscInt               dof, width;
  PetscBool              isda;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)da, DMDA, &isda));
  if (!isda) {
    DMType type;

    PetscCall(DMGetType(da, &type));
    SETERRQ(PetscObjectComm((PetscObject)da), PETSC_ERR_ARG_WRONG, "The grid is a DM of type %s: a DMDA is needed, DMDACreate2d() or DMDACreate3d()",
            type ? type : "(none)");
  }
  PetscCall(DMDAGetInfo(da, &grid->dim, &grid->n[0], &grid->n[1], &grid->n[2], NULL, NULL, NULL, &dof, &width, &boundary[0], &boundary[1], &boundary[2], NULL));
  PetscCheck(grid->dim == 2 || grid->dim == 3, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
             "The DMDA has %" PetscInt_FMT " dimensions: 2 or 3 are supported", grid->dim);
  PetscCheck(width == 1, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP, "The DMDA has a stencil width of %" PetscInt_FMT ": 1 is supported", width);
  for (PetscInt d = 0; d < grid->dim; d++)
    PetscCheck(boundary[d] == DM_BOUNDARY_NONE, PetscObjectComm((PetscObject)da), PETSC_ERR_SUP,
               "The DMDA has a boundary of type %s in direction %" PetscInt_FMT ": none is supported", DMBoundaryTypes[boundary[d]], d);
  grid->points  = grid->dim == 2 ? 9 : 27;
  grid->corners = grid->dim == 2 ? 4 : 8;
  PetscCall(DMDAGetCorners(da, &grid->start[0], &grid->start[1], &grid->start[2], &grid->count[0], &grid->count[1], &grid->count[2]));
  PetscCall(DMDAGetGhostCorners(da, &grid->gstart[0], &grid->gstart[1], &grid->gstart[2], &grid->gcount[0], &grid->gcount[1], &grid->gcount[2]));
  grid->rows = grid->count[0] * grid->count[1] * grid->count[2];
  PetscCall(DMGetLocalToGlobalMapping(da, &map));
  PetscCall(ISLocalToGlobalMappingGetBlockIndices(map, &grid->global));
  grid->da = da;
  PetscCall(PetscObjectReference((PetscObject)da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridDestroy(Grid *grid)
{
  ISLocalToGlobalMapping map;

  PetscFunctionBegin;
  if (!grid->da) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMGetLocalToGlobalMapping(grid->da, &map));
  PetscCall(ISLocalToGlobalMappingRestoreBlockIndices(map, &grid->global));
  PetscCall(DMDestroy(&grid->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many of the points before number end are on a grid of every point, or every second one and the last */
static PetscInt CountPoints(const Grid *grid, PetscInt d, PetscInt every, PetscInt end)
{
  return (end + every - 1) / every + (end == grid->n[d] && (end - 1) % every != 0);
}

static PetscErrorCode GridCreateDM_Private(const Grid *grid, PetscInt dof, PetscInt every, DM *da)
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
    PetscCall(
      DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], processes[0], processes[1], dof, 1, widths[0], widths[1], da));
  else
    PetscCall(DMDACreate3d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], n[2], processes[0], processes[1],
                           processes[2], dof, 1, widths[0], widths[1], widths[2], da));
  PetscCall(DMSetUp(*da));
  for (PetscInt d = 0; d < grid->dim; d++) PetscCall(PetscFree(widths[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode GridCreateDM(const Grid *grid, PetscInt dof, DM *da)
{
  PetscFunctionBegin;
  PetscCall(GridCreateDM_Private(grid, dof, 1, da));
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
