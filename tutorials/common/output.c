/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#define _POSIX_C_SOURCE 200809L /* stat() */
#include "output.h"
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  WRITABLE,
  NO_SUCH_FOLDER,
  NO_FOLDER, /* something else has the name */
  FOLDER_READ_ONLY,
  FILE_READ_ONLY,
  FILE_IS_FOLDER
};

/* {one of the above, errno}. Permissions do not tell everything: a new file is opened, and removed */
static void Try(const char folder[], const char path[], int result[2])
{
  struct stat about;
  PetscBool   old;
  FILE       *file;

  result[0] = WRITABLE;
  result[1] = 0;
  if (stat(folder, &about)) result[0] = NO_SUCH_FOLDER;
  else if (!S_ISDIR(about.st_mode)) result[0] = NO_FOLDER;
  else {
    old = (PetscBool)!stat(path, &about);
    if (old && S_ISDIR(about.st_mode)) result[0] = FILE_IS_FOLDER;
    else if (!old || S_ISREG(about.st_mode)) {
      file = fopen(path, "ab");
      if (!file) result[0] = old ? FILE_READ_ONLY : FOLDER_READ_ONLY;
      else {
        (void)fclose(file);
        if (!old) (void)remove(path);
      }
    }
  }
  if (result[0] != WRITABLE) result[1] = errno;
}

PetscErrorCode OutputCheck(MPI_Comm comm, const char option[], const char path[], const char suffix[])
{
  char        whole[PETSC_MAX_PATH_LEN], folder[PETSC_MAX_PATH_LEN];
  char       *slash;
  int         result[2] = {WRITABLE, 0};
  PetscMPIInt rank;

  PetscFunctionBegin;
  if (!path[0]) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscSNPrintf(whole, sizeof(whole), "%s%s", path, suffix ? suffix : ""));
  PetscCall(PetscStrncpy(folder, whole, sizeof(folder)));
  slash = strrchr(folder, '/');
  if (!slash) PetscCall(PetscStrncpy(folder, ".", sizeof(folder)));
  else slash[slash == folder ? 1 : 0] = '\0';
  if (!rank) Try(folder, whole, result);
  PetscCallMPI(MPI_Bcast(result, 2, MPI_INT, 0, comm));
  PetscCheck(result[0] != NO_SUCH_FOLDER, comm, PETSC_ERR_FILE_OPEN, "%s %s: the folder %s cannot be found (%s); make it first", option, path, folder,
             strerror(result[1]));
  PetscCheck(result[0] != NO_FOLDER, comm, PETSC_ERR_FILE_OPEN, "%s %s: %s is no folder; give another name", option, path, folder);
  PetscCheck(result[0] != FOLDER_READ_ONLY, comm, PETSC_ERR_FILE_OPEN, "%s %s: no file can be made in the folder %s (%s); give another folder", option, path,
             folder, strerror(result[1]));
  PetscCheck(result[0] != FILE_READ_ONLY, comm, PETSC_ERR_FILE_OPEN, "%s %s: the file %s in the folder %s cannot be written (%s); give another name", option,
             path, whole, folder, strerror(result[1]));
  PetscCheck(result[0] != FILE_IS_FOLDER, comm, PETSC_ERR_FILE_OPEN, "%s %s: %s is a folder; give the name of a file", option, path, whole);
  PetscFunctionReturn(PETSC_SUCCESS);
}
