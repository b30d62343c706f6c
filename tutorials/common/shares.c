/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   How the states are divided among processes: -shares even, the default, trial, or a number per process. A share is a
   range of states, as PETSc divides rows.

   Other processes wait for the process with most of the states which take part in a step. Even shares may therefore
   give uneven work. A trial solve finds shares which give even work; then the chain is made again.
*/

#include "chain.h"
#include <lithets.h>

#define SHARES_MOST 4096

PetscErrorCode SharesSetFromOptions(MPI_Comm comm, Shares *shares)
{
  char        text[64] = "even";
  PetscMPIInt size;
  PetscInt    n = SHARES_MOST;
  PetscBool   even, trial, good = PETSC_TRUE;
  PetscReal  *part, sum = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMemzero(shares, sizeof(*shares)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-shares", text, sizeof(text), NULL));
  PetscCall(PetscStrcmp(text, "even", &even));
  PetscCall(PetscStrcmp(text, "trial", &trial));
  if (even || trial) {
    shares->trial = (PetscBool)(trial && size > 1);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCheck(text[0] && strspn(text, "0123456789.,eE+-") == strlen(text), comm, PETSC_ERR_ARG_WRONG,
             "-shares %s: use even, trial, or a number for each process", text);
  PetscCall(PetscMalloc1(n, &part));
  PetscCall(PetscOptionsGetRealArray(NULL, NULL, "-shares", part, &n, NULL));
  for (PetscInt p = 0; p < n; p++) {
    good = (PetscBool)(good && part[p] >= 0 && part[p] <= PETSC_MAX_REAL);
    sum += part[p];
  }
  if (!good || !(sum > 0) || n != size) PetscCall(PetscFree(part));
  PetscCheck(part, comm, PETSC_ERR_ARG_WRONG, "-shares has %" PetscInt_FMT " numbers: use one for each of %d processes, finite, none negative and not all zero",
             n, size);
  shares->part = part;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharesGetLocal(MPI_Comm comm, const Shares *shares, PetscInt n, PetscInt *m)
{
  PetscMPIInt size, rank;
  long double before = 0, sum = 0;

  PetscFunctionBeginUser;
  *m = PETSC_DECIDE;
  if (!shares->part) PetscCall(PetscSplitOwnership(comm, m, &n));
  else {
    PetscCallMPI(MPI_Comm_size(comm, &size));
    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    for (PetscMPIInt p = 0; p < size; p++) {
      if (p < rank) before += (long double)shares->part[p];
      sum += (long double)shares->part[p];
    }
    *m = (PetscInt)llroundl((long double)n * ((before + (long double)shares->part[rank]) / sum)) - (PetscInt)llroundl((long double)n * (before / sum));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharesFromSolve(Shares *shares, TS ts, PetscBool *others)
{
  const MPI_Comm  comm = PetscObjectComm((PetscObject)ts);
  PetscMPIInt     size;
  PetscInt       *rows, *old;
  PetscReal       work, before;
  Vec             x;
  const PetscInt *ranges;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(TSGetSolution(ts, &x));
  PetscCall(VecGetOwnershipRanges(x, &ranges));
  PetscCall(PetscMalloc2(size, &rows, size, &old));
  for (PetscMPIInt p = 0; p < size; p++) old[p] = ranges[p + 1] - ranges[p];
  PetscCall(TSUniformizationGetWork(ts, size, old, &before));
  PetscCall(TSUniformizationGetShares(ts, size, rows, &work));
  PetscCall(PetscArraycmp(rows, old, size, others));
  *others = (PetscBool) !*others;
  if (*others) {
    PetscCall(PetscFree(shares->part));
    PetscCall(PetscMalloc1(size, &shares->part));
    for (PetscMPIInt p = 0; p < size; p++) shares->part[p] = (PetscReal)rows[p];
  }
  PetscCall(PetscPrintf(comm, "trial: of all states the process with most of them has %.4g %% in a step, %.4g %% with -shares ", 100 * (double)before,
                        100 * (double)work));
  for (PetscMPIInt p = 0; p < size; p++) PetscCall(PetscPrintf(comm, "%s%" PetscInt_FMT, p ? "," : "", rows[p]));
  PetscCall(PetscPrintf(comm, "\n"));
  PetscCall(PetscFree2(rows, old));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SharesDestroy(Shares *shares)
{
  PetscFunctionBeginUser;
  PetscCall(PetscFree(shares->part));
  PetscFunctionReturn(PETSC_SUCCESS);
}
