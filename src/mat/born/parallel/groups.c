/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What the groups of a MATBORN exchange with the owners of rows, and what the processes of a group exchange */

#include <lithe/private/born/parts.h>

/* ------------------------------------------------------------ rows of all shots */

/* The rows of all shots, on the owners: rows[n]. The group that computes a shot reads or writes the rows of the shot. A
   single process uses the rows in place */
PetscErrorCode BornRowsOpen_Private(const BornSplit *split, BornRows *r, PetscInt n, PetscReal *rows, PetscBool filled)
{
  PetscFunctionBegin;
  PetscCall(BornRowsDestroy_Private(r)); /* of a product that ended with an error */
  r->n = n;
  if (split->single) {
    r->rows = rows;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Win_allocate((MPI_Aint)n * (MPI_Aint)sizeof(PetscReal), (int)sizeof(PetscReal), MPI_INFO_NULL, split->all, &r->rows, &r->window));
  if (filled) PetscCall(PetscArraycpy(r->rows, rows, n));
  PetscCallMPI(MPI_Barrier(split->all));
  PetscCallMPI(MPI_Win_lock_all(0, r->window));
  r->open = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows: the destination, or NULL */
PetscErrorCode BornRowsClose_Private(const BornSplit *split, BornRows *r, PetscReal *rows)
{
  PetscFunctionBegin;
  if (r->open) {
    PetscCallMPI(MPI_Win_unlock_all(r->window));
    PetscCallMPI(MPI_Barrier(split->all));
    if (rows) PetscCall(PetscArraycpy(rows, r->rows, r->n));
    PetscCallMPI(MPI_Win_free(&r->window));
    r->open = PETSC_FALSE;
  }
  r->rows = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Also after an error in a product */
PetscErrorCode BornRowsDestroy_Private(BornRows *r)
{
  PetscFunctionBegin;
  if (r->open) {
    PetscCallMPI(MPI_Win_unlock_all(r->window));
    PetscCallMPI(MPI_Win_free(&r->window));
  }
  r->open = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define ROWS_CHUNK (1 << 24) /* numbers of a message */

PetscErrorCode BornRowsGet_Private(const BornRows *r, PetscMPIInt owner, PetscInt offset, PetscInt n, PetscReal *rows)
{
  PetscFunctionBegin;
  if (!r->open) {
    PetscCall(PetscArraycpy(rows, r->rows + offset, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK) {
    const PetscMPIInt m = (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at);

    PetscCallMPI(MPI_Get(rows + at, m, MPIU_REAL, owner, (MPI_Aint)offset + at, m, MPIU_REAL, r->window));
  }
  PetscCallMPI(MPI_Win_flush(owner, r->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode BornRowsPut_Private(const BornRows *r, PetscMPIInt owner, PetscInt offset, PetscInt n, const PetscReal *rows)
{
  PetscFunctionBegin;
  if (!r->open) {
    PetscCall(PetscArraycpy(r->rows + offset, rows, n));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK) {
    const PetscMPIInt m = (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at);

    PetscCallMPI(MPI_Put(rows + at, m, MPIU_REAL, owner, (MPI_Aint)offset + at, m, MPIU_REAL, r->window));
  }
  PetscCallMPI(MPI_Win_flush(owner, r->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ within a group */

/* The rows of a shot, from the first process of a group to all processes of the group */
PetscErrorCode BornGroupSpread_Private(const BornSplit *split, PetscInt n, PetscReal *rows)
{
  PetscFunctionBegin;
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt at = 0; at < n; at += ROWS_CHUNK)
    PetscCallMPI(MPI_Bcast(rows + at, (PetscMPIInt)PetscMin(ROWS_CHUNK, n - at), MPIU_REAL, 0, split->group.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest value of a number in a group; infinite for a NaN on any process */
PetscErrorCode BornGroupLargest_Private(const BornSplit *split, double *x)
{
  PetscFunctionBegin;
  if (split->group.size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  if (PetscIsNanReal((PetscReal)*x)) *x = INFINITY;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, x, 1, MPI_DOUBLE, MPI_MAX, split->group.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rows of a shot on the first process of a group. Each process has some rows, and zeros elsewhere; bits are
   combined, because -0 + 0 is 0 */
PetscErrorCode BornGroupUnite_Private(const BornSplit *split, PetscInt n, PetscReal *rows)
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
