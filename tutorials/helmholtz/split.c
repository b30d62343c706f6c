/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The algorithm split over groups of processes; see split.h */

#include "grid.h"
#include "split.h"

typedef enum {
  SPLIT_STOP,
  SPLIT_APPLY
} SplitOrder;

PetscErrorCode SplitCreate(MPI_Comm world, PetscInt servers, Split *split)
{
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(world, &rank));
  PetscCallMPI(MPI_Comm_size(world, &size));
  PetscCheck(servers > 0 && servers < size, world, PETSC_ERR_ARG_OUTOFRANGE,
             "-preconditioner_ranks %" PetscInt_FMT " of %d processes: at least one must solve, one apply the preconditioner", servers, size);
  split->world  = world;
  split->sf     = NULL;
  split->serves = (PetscBool)(rank >= size - (PetscMPIInt)servers);
  PetscCallMPI(MPI_Comm_split(world, split->serves, rank, &split->group));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process of the solver's DMDA which owns a point, and the point's place on this process. The solver uses the first
   processes, x running fastest */
static PetscSFNode FindPoint(PetscInt dim, const PetscInt processes[3], const PetscInt *const owned[3], const PetscInt at[3])
{
  PetscInt    process[3] = {0, 0, 0}, offset[3] = {0, 0, 0}, width[3] = {1, 1, 1};
  PetscSFNode node;

  for (PetscInt d = 0; d < dim; d++) {
    offset[d] = at[d];
    while (offset[d] >= owned[d][process[d]]) offset[d] -= owned[d][process[d]++];
    width[d] = owned[d][process[d]];
  }
  node.rank  = (process[2] * processes[1] + process[1]) * processes[0] + process[0];
  node.index = (offset[2] * width[1] + offset[1]) * width[0] + offset[0];
  return node;
}

PetscErrorCode SplitConnect(Split *split, DM da)
{
  PetscInt        processes[3] = {1, 1, 1}, *all[3];
  const PetscInt *own[3];
  PetscSFNode    *node = NULL;
  Grid            grid;

  PetscFunctionBegin;
  PetscCall(GridCreate(da, &grid));

  /* everybody knows how the solver's grid is distributed */
  PetscCall(DMDAGetInfo(da, NULL, NULL, NULL, NULL, &processes[0], &processes[1], &processes[2], NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &own[0], &own[1], &own[2]));
  PetscCallMPI(MPI_Bcast(processes, 3, MPIU_INT, 0, split->world));
  for (PetscInt d = 0; d < grid.dim; d++) {
    PetscCall(PetscMalloc1(processes[d], &all[d]));
    if (!split->serves) PetscCall(PetscArraycpy(all[d], own[d], processes[d]));
    PetscCallMPI(MPI_Bcast(all[d], (PetscMPIInt)processes[d], MPIU_INT, 0, split->world));
  }

  /* roots are the entries of the solver's vectors, leaves the entries of the preconditioner's vectors */
  if (split->serves) {
    const PetscInt *const owned[3] = {all[0], all[1], grid.dim == 3 ? all[2] : NULL};
    PetscInt              at[3]    = {grid.start[0], grid.start[1], grid.start[2]};

    PetscCall(PetscMalloc1(grid.rows, &node));
    for (PetscInt row = 0; row < grid.rows; row++, GridNext(&grid, at)) node[row] = FindPoint(grid.dim, processes, owned, at);
  }
  PetscCall(PetscSFCreate(split->world, &split->sf));
  PetscCall(PetscSFSetGraph(split->sf, split->serves ? 0 : grid.rows, split->serves ? grid.rows : 0, NULL, PETSC_OWN_POINTER, node, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(split->sf));
  for (PetscInt d = 0; d < grid.dim; d++) PetscCall(PetscFree(all[d]));
  PetscCall(GridDestroy(&grid));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sends the solver's vector x to the preconditioner's group, or y back; each group passes only its own vector */
static PetscErrorCode SendRight(Split *split, Vec x)
{
  const PetscScalar *root = NULL;
  PetscScalar       *leaf = NULL;
  PetscMemType       type;

  PetscFunctionBegin;
  if (split->serves) PetscCall(VecGetArrayWriteAndMemType(x, &leaf, &type));
  else PetscCall(VecGetArrayReadAndMemType(x, &root, &type));
  PetscCall(PetscSFBcastWithMemTypeBegin(split->sf, MPIU_SCALAR, split->serves ? PETSC_MEMTYPE_HOST : type, root, split->serves ? type : PETSC_MEMTYPE_HOST,
                                         leaf, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(split->sf, MPIU_SCALAR, root, leaf, MPI_REPLACE));
  if (split->serves) PetscCall(VecRestoreArrayWriteAndMemType(x, &leaf));
  else PetscCall(VecRestoreArrayReadAndMemType(x, &root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SendBack(Split *split, Vec y)
{
  const PetscScalar *leaf = NULL;
  PetscScalar       *root = NULL;
  PetscMemType       type;

  PetscFunctionBegin;
  if (split->serves) PetscCall(VecGetArrayReadAndMemType(y, &leaf, &type));
  else PetscCall(VecGetArrayWriteAndMemType(y, &root, &type));
  PetscCall(PetscSFReduceWithMemTypeBegin(split->sf, MPIU_SCALAR, split->serves ? type : PETSC_MEMTYPE_HOST, leaf, split->serves ? PETSC_MEMTYPE_HOST : type,
                                          root, MPI_REPLACE));
  PetscCall(PetscSFReduceEnd(split->sf, MPIU_SCALAR, leaf, root, MPI_REPLACE));
  if (split->serves) PetscCall(VecRestoreArrayReadAndMemType(y, &leaf));
  else PetscCall(VecRestoreArrayWriteAndMemType(y, &root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PCApply_Split(PC pc, Vec x, Vec y)
{
  PetscMPIInt order = SPLIT_APPLY;
  Split      *split;

  PetscFunctionBegin;
  PetscCall(PCShellGetContext(pc, &split));
  PetscCallMPI(MPI_Bcast(&order, 1, MPI_INT, 0, split->world));
  PetscCall(SendRight(split, x));
  PetscCall(SendBack(split, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SplitSetPC(Split *split, PC pc)
{
  PetscFunctionBegin;
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCSetOptionsPrefix(pc, "solver_")); /* -pc_type belongs to the preconditioner's group */
  PetscCall(PCShellSetContext(pc, split));
  PetscCall(PCShellSetApply(pc, PCApply_Split));
  PetscCall(PCShellSetName(pc, "of another group of processes"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SplitServe(Split *split, PC pc, DM da)
{
  Vec x, y;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &y));
  while (PETSC_TRUE) {
    PetscMPIInt order;

    PetscCallMPI(MPI_Bcast(&order, 1, MPI_INT, 0, split->world));
    if (order == SPLIT_STOP) break;
    PetscCall(SendRight(split, x));
    PetscCall(PCApply(pc, x, y));
    PetscCall(SendBack(split, y));
  }
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SplitStop(Split *split)
{
  PetscMPIInt order = SPLIT_STOP;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Bcast(&order, 1, MPI_INT, 0, split->world));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SplitDestroy(Split *split)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&split->sf));
  PetscCallMPI(MPI_Comm_free(&split->group));
  PetscFunctionReturn(PETSC_SUCCESS);
}
