/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Grids of points on a DMDA; see grid.h */

#include "grid.h"

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

PetscErrorCode GridCreateDM(const Grid *grid, PetscInt dof, DM *da)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  const PetscInt      *n    = grid->n, *owned[3];
  PetscInt             parts[3];
  MPI_Comm             comm;

  PetscFunctionBegin;
  PetscCall(PetscObjectGetComm((PetscObject)grid->da, &comm));
  PetscCall(DMDAGetInfo(grid->da, NULL, NULL, NULL, NULL, &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(grid->da, &owned[0], &owned[1], &owned[2]));
  if (grid->dim == 2) PetscCall(DMDACreate2d(comm, none, none, DMDA_STENCIL_BOX, n[0], n[1], parts[0], parts[1], dof, 1, owned[0], owned[1], da));
  else
    PetscCall(DMDACreate3d(comm, none, none, none, DMDA_STENCIL_BOX, n[0], n[1], n[2], parts[0], parts[1], parts[2], dof, 1, owned[0], owned[1], owned[2], da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}
