/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The output of MatView() with -mat_view ::ascii_info */

#include <petscmat.h>

/* Whether the view of a matrix contains a text. Collective */
static inline PetscErrorCode MatViewHas(Mat A, const char text[], PetscBool *has)
{
  const MPI_Comm comm         = PetscObjectComm((PetscObject)A);
  char           buffer[8192] = "", *found;
  PetscViewer    viewer;
  PetscMPIInt    rank;
  FILE          *file = NULL;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCheck(rank || (file = tmpfile()), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(comm, file, &viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerFlush(viewer));
  if (!rank) {
    rewind(file);
    buffer[fread(buffer, 1, sizeof(buffer) - 1, file)] = 0;
  }
  PetscCall(PetscViewerDestroy(&viewer));
  if (!rank) (void)fclose(file);
  PetscCall(PetscStrstr(buffer, text, &found));
  *has = (PetscBool)(found != NULL);
  PetscCallMPI(MPI_Bcast(has, 1, MPI_C_BOOL, 0, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
