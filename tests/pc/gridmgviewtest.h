/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of PCGRIDMG: what a preconditioner says of itself, and whether it is the same as a new one */

#include "gridmgtest.h"

/* Whether the view of a preconditioner has a text in it */
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

#define VIEW_HAS(pc, text)                                                     \
  do {                                                                         \
    PetscBool has_;                                                            \
    PetscCall(ViewHas(pc, text, &has_));                                       \
    if (WRONG(!has_)) FAIL("line %d: the view has no \"%s\"", __LINE__, text); \
  } while (0)

static inline PetscErrorCode CreatePlainPC(Mat A, PC *pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetType(*pc, PCGRIDMG));
  PetscCall(PCSetErrorIfFailure(*pc, PETSC_FALSE));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Mx of a preconditioner that has been set up several times, against that of a new one */
static inline PetscErrorCode CompareWithNew(const char what[], Mat A, PC pc)
{
  PetscReal difference;
  PC        other;
  Vec       x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreatePlainPC(A, &other));
  PetscCall(PCSetUp(other));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 4));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PCApply(other, x, z));
  PetscCall(VecAXPY(z, -1.0, y));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  if (WRONG(difference != 0)) FAIL("%s: differs from a new preconditioner by %g", what, (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}
