/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of preconditioners: the output of PCView() */

#include <petscpc.h>

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
