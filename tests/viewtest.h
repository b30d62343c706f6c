/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of views: the output of PCView(), and the number of objects in a viewer's file */

#include <petscpc.h>

/* Counts the objects in file number k of a program's viewers, and removes the file. Collective */
static inline PetscErrorCode CountObjects(size_t k, PetscInt *count)
{
  char        name[64], line[4096];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  *count = 0;
  PetscCall(PetscSNPrintf(name, sizeof(name), "hidden_%d.txt", (int)k));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) {
    FILE *file = fopen(name, "r");

    while (file && fgets(line, sizeof(line), file)) {
      if (strstr(line, " Object:")) (*count)++;
    }
    if (file) (void)fclose(file);
    (void)remove(name);
  }
  PetscCallMPI(MPI_Bcast(count, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A database in which each of the options opens a file */
static inline PetscErrorCode PushViews(size_t n, const char *const views[], PetscOptions *database)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsCreate(database));
  PetscCall(PetscOptionsPush(*database));
  for (size_t k = 0; k < n; k++) {
    char     value[64];
    PetscInt count;

    PetscCall(CountObjects(k, &count)); /* files of an interrupted run */
    PetscCall(PetscSNPrintf(value, sizeof(value), "ascii:hidden_%d.txt::append", (int)k));
    PetscCall(PetscOptionsSetValue(NULL, views[k], value));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode PopViews(size_t n, PetscOptions *database, PetscInt count[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(database));
  for (size_t k = 0; k < n; k++) PetscCall(CountObjects(k, &count[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the view of a preconditioner contains a text */
static inline PetscErrorCode ViewHas(PC pc, const char text[], PetscBool *has)
{
  char        buffer[8192] = "", *found;
  PetscViewer viewer;
  FILE       *file;
  size_t      n;

  PetscFunctionBeginUser;
  PetscCheck((file = tmpfile()), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  n         = fread(buffer, 1, sizeof(buffer) - 1, file);
  buffer[n] = 0;
  PetscCall(PetscStrstr(buffer, text, &found));
  *has = (PetscBool)(found != NULL);
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}
