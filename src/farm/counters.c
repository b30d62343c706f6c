/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Counters that all groups share, in a window of the first process */

#include "farmimpl.h"
#include <stddef.h>

/* On the first process of a group; returns the counter before the increment */
PetscErrorCode FarmCount(LitheFarm f, size_t counter, int64_t *before)
{
  const int64_t one = 1;

  PetscFunctionBegin;
  if (f->window == MPI_WIN_NULL) {
    int64_t *at = (int64_t *)((char *)f->counters + counter);

    *before = (*at)++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Fetch_and_op(&one, before, MPI_INT64_T, 0, (MPI_Aint)counter, MPI_SUM, f->window));
  PetscCallMPI(MPI_Win_flush(0, f->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FarmCountMore(LitheFarm f, size_t counter, double more, double *after)
{
  PetscFunctionBegin;
  if (f->window == MPI_WIN_NULL) {
    double *at = (double *)((char *)f->counters + counter);

    *at += more;
    *after = *at;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCallMPI(MPI_Fetch_and_op(&more, after, MPI_DOUBLE, 0, (MPI_Aint)counter, MPI_SUM, f->window));
  PetscCallMPI(MPI_Win_flush(0, f->window));
  *after += more;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of taken tickets per set. Sets are read in turn, not at the same moment */
PetscErrorCode FarmReadSets(LitheFarm f, PetscInt n, int64_t taken[])
{
  const int64_t unused = 0;

  PetscFunctionBegin;
  for (PetscInt s = 0; s < n; s++) {
    if (f->window == MPI_WIN_NULL) taken[s] = f->counters->set[s];
    else
      PetscCallMPI(
        MPI_Fetch_and_op(&unused, &taken[s], MPI_INT64_T, 0, (MPI_Aint)(offsetof(FarmCounters, set) + sizeof(int64_t) * (size_t)s), MPI_NO_OP, f->window));
  }
  if (f->window != MPI_WIN_NULL) PetscCallMPI(MPI_Win_flush(0, f->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FarmCountersReset(LitheFarm f)
{
  PetscFunctionBegin;
  PetscCallMPI(MPI_Barrier(f->comm));
  if (!f->rank || f->window == MPI_WIN_NULL) {
    PetscCall(PetscMemzero(f->counters, sizeof(*f->counters)));
    if (f->window != MPI_WIN_NULL) PetscCallMPI(MPI_Win_sync(f->window));
  }
  PetscCallMPI(MPI_Barrier(f->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   No group gets a further task: all tickets are taken. With fixed shares the other groups learn of the end of a round
   only
*/
PetscErrorCode FarmStop(LitheFarm f)
{
  const int64_t many = (int64_t)1 << 40;

  PetscFunctionBegin;
  if (f->window == MPI_WIN_NULL) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Accumulate(&many, 1, MPI_INT64_T, 0, (MPI_Aint)offsetof(FarmCounters, ticket), 1, MPI_INT64_T, MPI_SUM, f->window));
  PetscCallMPI(MPI_Accumulate(&many, 1, MPI_INT64_T, 0, (MPI_Aint)offsetof(FarmCounters, opened), 1, MPI_INT64_T, MPI_SUM, f->window));
  for (PetscInt s = 0; s < f->job->nsets; s++)
    PetscCallMPI(
      MPI_Accumulate(&many, 1, MPI_INT64_T, 0, (MPI_Aint)(offsetof(FarmCounters, set) + sizeof(int64_t) * (size_t)s), 1, MPI_INT64_T, MPI_SUM, f->window));
  PetscCallMPI(MPI_Win_flush(0, f->window));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmPoke - Lets other processes reach the counter of tasks of a `LitheFarm`

  Not Collective

  Input Parameter:
. farm - the farm

  Level: intermediate

  Note:
  Long tasks call this function now and then: between nodes, most MPIs answer only while a process calls MPI.

.seealso: `LitheFarm`, `LitheFarmRun()`
@*/
PetscErrorCode LitheFarmPoke(LitheFarm farm)
{
  int unused;

  PetscFunctionBegin;
  if (farm->window != MPI_WIN_NULL) PetscCallMPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, farm->comm, &unused, MPI_STATUS_IGNORE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
