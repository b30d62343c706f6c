/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* For tests of files: a folder of the run, which must be empty at the end */

#define _POSIX_C_SOURCE 200809L
#include <unistd.h>
#include <tests/refused.h>

static char folder[PETSC_MAX_PATH_LEN];

static inline PetscErrorCode Path(const char name[], char path[PETSC_MAX_PATH_LEN])
{
  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, PETSC_MAX_PATH_LEN, "%s/%s", folder, name));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective */
static inline PetscErrorCode FolderCreate(void)
{
  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(folder, "gridXXXXXX", sizeof(folder)));
  if (!rank) PetscCall(PetscMkdtemp(folder));
  PetscCallMPI(MPI_Bcast(folder, (PetscMPIInt)sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Removes the n files, which may exist, and the folder. Collective */
static inline PetscErrorCode FolderRemove(int n, const char *const names[])
{
  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank) {
    char path[PETSC_MAX_PATH_LEN];

    for (int k = 0; k < n; k++) {
      PetscCall(Path(names[k], path));
      (void)unlink(path);
    }
    if (WRONG(rmdir(folder))) FAIL("%s is not empty", folder);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
