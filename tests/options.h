/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Options of one object, which no other object reads */

#include <petsc/private/matimpl.h>
#include <petsc/private/pcimpl.h>
#include <petsc/private/tsimpl.h>

/*
   The type of a Mat, PC or TS reads options, such as "-mat_vcrs_bits 8": without the object's prefix. An error comes
   back, and no memory is lost, unlike with an error of MatSetFromOptions(). An option that the type does not read is an
   error, too.
*/
PETSC_ATTRIBUTE_FORMAT(2, 3) static inline PetscErrorCode TestSetOptions(void *of, const char format[], ...)
{
  PetscObject    object = (PetscObject)of;
  PetscErrorCode code   = PETSC_SUCCESS;
  PetscOptions   options;
  PetscInt       unread;
  char           text[2 * PETSC_MAX_PATH_LEN];
  va_list        arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(text, sizeof(text), format, NULL, arguments));
  va_end(arguments);
  PetscCall(PetscOptionsCreate(&options));
  if (object->prefix) PetscCall(PetscOptionsPrefixPush(options, object->prefix));
  PetscCall(PetscOptionsInsertString(options, text));
  if (object->prefix) PetscCall(PetscOptionsPrefixPop(options));
  PetscCall(PetscObjectSetOptions(object, options));
  PetscObjectOptionsBegin(object);
  if (object->classid == MAT_CLASSID) code = (*((Mat)of)->ops->setfromoptions)((Mat)of, PetscOptionsObject);
  else if (object->classid == PC_CLASSID) code = (*((PC)of)->ops->setfromoptions)((PC)of, PetscOptionsObject);
  else code = (*((TS)of)->ops->setfromoptions)((TS)of, PetscOptionsObject);
  PetscOptionsEnd();
  PetscCall(PetscObjectSetOptions(object, NULL));
  PetscCall(PetscOptionsAllUsed(options, &unread));
  PetscCall(PetscOptionsDestroy(&options));
  PetscCheck(code || !unread, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Not all of these options are read: %s", text);
  PetscFunctionReturn(code);
}
