/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Records of the launches of a cycle */

#include <lithe/private/lithemg.h>
#include <lithe/private/lithesingle.h>

/* Inside of a recording, work is a part of that record */
static PetscBool recording = PETSC_FALSE;

PetscErrorCode LitheMGPlay(const LitheMemoryOps *memory, LitheMGRecord *r, PetscBool record, PetscErrorCode (*work)(void *), void *ctx)
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (recording || !record || !memory->graphbegin || !r->done) {
    PetscCall((*work)(ctx));
    if (recording) PetscFunctionReturn(PETSC_SUCCESS);
    r->done = 1;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (!r->graph) {
    r->memory = memory;
    PetscCall((*memory->graphbegin)());
    recording = PETSC_TRUE;
    ierr      = (*work)(ctx);
    recording = PETSC_FALSE;
    PetscCall((*memory->graphend)(&r->graph)); /* also after an error, or nothing else could be recorded */
    if (ierr) PetscCall(LitheMGForget(r));
    PetscCall(ierr);
  }
  PetscCall((*memory->graphlaunch)(r->graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMGForget(LitheMGRecord *r)
{
  PetscFunctionBegin;
  if (r->graph) PetscCall((*r->memory->graphfree)(&r->graph));
  r->graph = NULL;
  r->done  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscInt64 LitheSingleNumber(void)
{
  static PetscInt64 last = 0;

  return ++last;
}
