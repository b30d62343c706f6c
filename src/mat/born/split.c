/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A MATBORN on several processes. Each group of processes has the whole grid, in slabs along the last dimension, and
   computes shots. Vectors of columns are split like the DMDA, vectors of rows like the shots. A star forest connects the nodes of the DMDA
   with the nodes of the slabs. A window connects the rows of a shot with the group that computes the shot.
*/

#include "bornimpl.h"

/* ------------------------------------------------------------ slabs */

/* The part of a dimension with a given node, by the first nodes of the parts */
static PetscInt PartOf(PetscInt node, PetscInt parts, const PetscInt first[])
{
  PetscInt low = 0, high = parts;

  while (high - low > 1) {
    const PetscInt middle = low + (high - low) / 2;

    if (first[middle] <= node) low = middle;
    else high = middle;
  }
  return low;
}

/* Leaves: the nodes of the slab in order. Roots: the nodes of the DMDA. Made by the first request */
PetscErrorCode BornSplitGetForest_Private(BornSplit *split, DM da, PetscSF *forest)
{
  const PetscInt *owned[3];
  PetscInt       *first[3], dim, n[3], parts[3], from[3] = {0, 0, 0}, to[3], roots, leaves, l = 0;
  PetscSFNode    *root;

  PetscFunctionBegin;
  *forest = split->forest;
  if (split->forest) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], &parts[0], &parts[1], &parts[2], NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt d = 0; d < 3; d++) to[d] = d < dim ? n[d] : 1;
  PetscCall(DMDAGetOwnershipRanges(da, &owned[0], &owned[1], &owned[2]));
  for (PetscInt d = 0; d < 3; d++) {
    if (d >= dim) parts[d] = 1;
    PetscCall(PetscMalloc1(parts[d] + 1, &first[d]));
    first[d][0] = 0;
    for (PetscInt p = 0; p < parts[d]; p++) first[d][p + 1] = d < dim ? first[d][p] + owned[d][p] : 1;
  }
  from[dim - 1] = split->start;
  to[dim - 1]   = split->start + split->count;
  PetscCall(PetscIntMultError(to[0] - from[0], to[1] - from[1], &leaves));
  PetscCall(PetscIntMultError(leaves, to[2] - from[2], &leaves));
  PetscCall(PetscMalloc1(leaves, &root));
  for (PetscInt k = from[2]; k < to[2]; k++) {
    const PetscInt pk = PartOf(k, parts[2], first[2]);

    for (PetscInt j = from[1]; j < to[1]; j++) {
      const PetscInt pj = PartOf(j, parts[1], first[1]), above = (k - first[2][pk]) * (first[1][pj + 1] - first[1][pj]) + j - first[1][pj];

      for (PetscInt p = 0; p < parts[0]; p++) {
        const PetscInt nx = first[0][p + 1] - first[0][p], owner = p + parts[0] * (pj + parts[1] * pk);

        for (PetscInt i = 0; i < nx; i++) root[l++] = (PetscSFNode){owner, i + nx * above};
      }
    }
  }
  for (PetscInt d = 0; d < 3; d++) PetscCall(PetscFree(first[d]));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &from[0], &from[1], &from[2]));
  roots = from[0] * from[1] * from[2];
  PetscCall(PetscSFCreate(PetscObjectComm((PetscObject)da), forest));
  PetscCall(PetscSFSetGraph(*forest, roots, leaves, NULL, PETSC_OWN_POINTER, root, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(*forest));
  split->forest = *forest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

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
PetscErrorCode BornSplitCreate_Private(DM da, const LitheFarmOptions *options, BornSplit **out)
{
  BornSplit  *split;
  PetscInt    n[3], dim;
  PetscMPIInt size;
  MPI_Comm    comm = PetscObjectComm((PetscObject)da), node;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(options->size >= 1 && options->size <= size, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-mat_born_group_size %" PetscInt_FMT ": a group has 1 process at least, and at most all, %d", options->size, size);
  PetscCall(PetscNew(&split));
  *out = split;
  PetscCall(LitheFarmCreate(comm, options, &split->farm));
  PetscCall(LitheFarmGetGroup(split->farm, &split->group));
  PetscCall(DMDAGetInfo(da, &dim, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  for (PetscInt d = dim; d < 3; d++) n[d] = 1;
  split->start  = BornSlabStart(n[dim - 1], split->group.rank, split->group.size);
  split->count  = BornSlabStart(n[dim - 1], split->group.rank + 1, split->group.size) - split->start;
  split->single = (PetscBool)(size == 1);
  split->window = MPI_WIN_NULL;
  split->all    = comm;
  split->nodes  = split->count * (dim > 2 ? n[0] * n[1] : n[0]);
  PetscCall(BornSplitIsOwn(split, da, n, dim));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &split->onnode));
  PetscCallMPI(MPI_Comm_free(&node));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSplitDestroy_Private(BornSplit **split)
{
  PetscFunctionBegin;
  if (!*split) PetscFunctionReturn(PETSC_SUCCESS);
  if ((*split)->window != MPI_WIN_NULL) {
    PetscCallMPI(MPI_Win_unlock_all((*split)->window));
    PetscCallMPI(MPI_Win_free(&(*split)->window));
  }
  PetscCall(BornPeersDestroy_Private(&(*split)->peers));
  PetscCall(PetscSFDestroy(&(*split)->forest));
  PetscCall(LitheFarmDestroy(&(*split)->farm));
  PetscCall(PetscFree(*split));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ rows */

/* The rows of all shots, on the owners: rows[n]. The group that computes a shot reads or writes the rows of the shot. A
   single process uses the rows in place */
PetscErrorCode BornSplitOpenRows_Private(BornSplit *split, PetscInt n, PetscReal *rows, PetscBool filled)
{
  PetscFunctionBegin;
  split->nrows = n;
  if (split->single) {
    split->rows = rows;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Win_allocate((MPI_Aint)n * (MPI_Aint)sizeof(PetscReal), (int)sizeof(PetscReal), MPI_INFO_NULL, split->all, &split->rows, &split->window));
  if (filled) PetscCall(PetscArraycpy(split->rows, rows, n));
  PetscCallMPI(MPI_Barrier(split->all));
  PetscCallMPI(MPI_Win_lock_all(0, split->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows: the destination, or NULL */
PetscErrorCode BornSplitCloseRows_Private(BornSplit *split, PetscReal *rows)
{
  PetscFunctionBegin;
  if (!split->single) {
    PetscCallMPI(MPI_Win_unlock_all(split->window));
    PetscCallMPI(MPI_Barrier(split->all));
    if (rows) PetscCall(PetscArraycpy(rows, split->rows, split->nrows));
    PetscCallMPI(MPI_Win_free(&split->window));
  }
  split->rows = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ROWS_CHUNK (1 << 24) /* numbers of a message */

PetscErrorCode BornSplitGetRows_Private(BornSplit *split, PetscMPIInt owner, PetscInt offset, PetscInt n, PetscReal *rows)
{
  PetscFunctionBegin;
  if (split->single) {
    PetscCall(PetscArraycpy(rows, split->rows + offset, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK) {
    const PetscMPIInt m = (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at);

    PetscCallMPI(MPI_Get(rows + at, m, MPIU_REAL, owner, (MPI_Aint)offset + at, m, MPIU_REAL, split->window));
  }
  PetscCallMPI(MPI_Win_flush(owner, split->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornSplitPutRows_Private(BornSplit *split, PetscMPIInt owner, PetscInt offset, PetscInt n, const PetscReal *rows)
{
  PetscFunctionBegin;
  if (split->single) {
    PetscCall(PetscArraycpy(split->rows + offset, rows, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK) {
    const PetscMPIInt m = (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at);

    PetscCallMPI(MPI_Put(rows + at, m, MPIU_REAL, owner, (MPI_Aint)offset + at, m, MPIU_REAL, split->window));
  }
  PetscCallMPI(MPI_Win_flush(owner, split->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a shot, from the first process of a group to all processes of the group */
PetscErrorCode BornSplitSpreadRows_Private(BornSplit *split, PetscInt n, PetscReal *rows)
{
  PetscFunctionBegin;
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK)
    PetscCallMPI(MPI_Bcast(rows + at, (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at), MPIU_REAL, 0, split->group.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest value of a number in a group; infinite for a NaN on any process */
PetscErrorCode BornSplitLargest_Private(BornSplit *split, double *x)
{
  PetscFunctionBegin;
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsNanReal((PetscReal)*x)) *x = INFINITY;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_MAX, split->group.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a shot on the first process of a group. Each process has some rows, and zeros elsewhere; bits are
   combined, because -0 + 0 is 0 */
PetscErrorCode BornSplitUniteRows_Private(BornSplit *split, PetscInt n, PetscReal *rows)
{
  PetscFunctionBegin;
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK) {
    const PetscMPIInt bytes = (PetscMPIInt)(PetscMin(ROWS_CHUNK, n - at) * (PetscInt)sizeof(PetscReal));

    if (split->group.rank) PetscCallMPI(MPI_Reduce(rows + at, NULL, bytes, MPI_BYTE, MPI_BOR, 0, split->group.comm));
    else PetscCallMPI(MPI_Reduce(MPI_IN_PLACE, rows + at, bytes, MPI_BYTE, MPI_BOR, 0, split->group.comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
