/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A MATBORN on several processes. Each group of processes has the whole grid, in slabs along the last dimension, and
   computes shots. Vectors of columns are split like the DMDA, vectors of rows like the shots. A star forest connects
   the nodes of the DMDA with the nodes of the slabs. A window connects the rows of a shot with the group that computes
   the shot.
*/

#include <lithe/private/born/parts.h>

/* Whether slabs and the DMDA's vectors have the same arrays: a single group, and the same planes on each process */
static PetscErrorCode BornSplitIsOwn(BornSplit *split, DM da, const PetscInt n[3], PetscInt dim)
{
  PetscInt  from[3], count[3];
  PetscBool own = (PetscBool)(split->group.groups == 1);

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &from[0], &from[1], &from[2], &count[0], &count[1], &count[2]));
  for (PetscInt d = 0; d < dim; d++) {
    const PetscBool last = (PetscBool)(d == dim - 1);

    own = (PetscBool)(own && from[d] == (last ? split->start : 0) && count[d] == (last ? split->count : n[d]));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &own, 1, MPI_C_BOOL, MPI_LAND, split->all));
  split->own = own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The groups, and the planes of the grid on each process */
PetscErrorCode BornSplitCreate_Private(DM da, const LitheFarmOptions *options, BornSplit *split)
{
  PetscInt    n[3], dim;
  PetscMPIInt size;
  MPI_Comm    comm = PetscObjectComm((PetscObject)da), node;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(options->size >= 1 && options->size <= size, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_group_size %" PetscInt_FMT ": a group has 1 process at least, and at most all, %d", options->size, size);
  PetscCall(LitheFarmCreate(comm, options, &split->farm));
  PetscCall(LitheFarmGetGroup(split->farm, &split->group));
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt d = dim; d < 3; d++) n[d] = 1;
  split->start  = BornSlabStart(n[dim - 1], split->group.rank, split->group.size);
  split->count  = BornSlabStart(n[dim - 1], split->group.rank + 1, split->group.size) - split->start;
  split->single = (PetscBool)(size == 1);
  split->all    = comm;
  split->nodes  = split->count * (dim > 2 ? n[0] * n[1] : n[0]);
  PetscCall(BornSplitIsOwn(split, da, n, dim));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &split->onnode));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornParallelDestroy_Private(BornParallel *p)
{
  PetscFunctionBegin;
  PetscCall(BornHalosDestroy_Private(&p->halos));
  PetscCall(BornRowsDestroy_Private(&p->rows));
  PetscCall(BornSlabsDestroy_Private(&p->slabs));
  PetscCall(LitheFarmDestroy(&p->split.farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
