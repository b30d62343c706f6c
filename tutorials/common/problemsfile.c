/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Systems from files in PETSc binary form: a matrix, and an optional right-hand side. */

#include "problems.h"
#include "textfile.h"
#include <ctype.h>
#include <sys/stat.h>

PetscErrorCode ProblemOpenFile(MPI_Comm comm, const char path[], PetscFileMode mode, PetscViewer *viewer)
{
  PetscFunctionBegin;
  PetscCall(PetscViewerCreate(comm, viewer));
  PetscCall(PetscViewerSetType(*viewer, PETSCVIEWERBINARY));
  PetscCall(PetscViewerFileSetMode(*viewer, mode));
  PetscCall(PetscViewerBinarySetSkipInfo(*viewer, PETSC_TRUE));
  PetscCall(PetscViewerFileSetName(*viewer, path));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A file of PETSc begins with a byte 0 */
static PetscErrorCode CheckIsBinary(const char path[])
{
  FILE     *file  = fopen(path, "rb");
  const int first = file ? fgetc(file) : EOF;
  TextFile  f;
  PetscBool more;

  PetscFunctionBegin;
  if (file) (void)fclose(file);
  if (first == EOF || !isprint(first)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TextFileOpen(path, 0, NULL, &f));
  PetscCall(TextFileLine(&f, 0, -1, NULL, &more));
  TextFileCheck(&f, !more, "expected a matrix in PETSc's binary form, not text; %s converts Matrix Market files and chains", "mm2petsc");
  PetscCall(TextFileClose(&f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the file continues after the matrix */
static PetscErrorCode HasRightHandSide(const char path[], PetscInt M, double nonzeros, PetscBool *has)
{
  const double matrix = (4. + (double)M + nonzeros) * (double)sizeof(PetscInt) + nonzeros * (double)sizeof(PetscScalar);
  struct stat  status;

  PetscFunctionBegin;
  PetscCheck(stat(path, &status) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot read %s", path);
  *has = (PetscBool)((double)status.st_size > matrix);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   ProblemLoadSystem - Reads a matrix, of type `MATAIJ`, and a right-hand side

   Collective

   Input Parameters:
+  comm - the communicator
-  path - the file

   Output Parameters:
+  A   - the matrix
.  rhs - the right-hand side of the file, or ones if the file has none; or `NULL`
-  has - whether the file has a right-hand side; or `NULL`
*/
PetscErrorCode ProblemLoadSystem(MPI_Comm comm, const char path[], Mat *A, Vec *rhs, PetscBool *has)
{
  PetscViewer viewer;
  PetscBool   there;
  PetscInt    M;
  MatInfo     info;

  PetscFunctionBegin;
  PetscCall(CheckIsBinary(path));
  PetscCall(ProblemOpenFile(comm, path, FILE_MODE_READ, &viewer));
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatLoad(*A, viewer));
  PetscCall(MatGetSize(*A, &M, NULL));
  PetscCall(MatGetInfo(*A, MAT_GLOBAL_SUM, &info));
  PetscCall(HasRightHandSide(path, M, (double)info.nz_used, &there));
  if (rhs) {
    PetscCall(MatCreateVecs(*A, NULL, rhs));
    if (there) PetscCall(VecLoad(*rhs, viewer));
    else PetscCall(VecSet(*rhs, 1.));
  }
  if (has) *has = there;
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ProblemWriteSystem - Writes a matrix and a right-hand side in the format of PETSc's ksp ex10. Collective */
PetscErrorCode ProblemWriteSystem(const char path[], Mat A, Vec rhs)
{
  PetscViewer viewer;

  PetscFunctionBegin;
  PetscCall(ProblemOpenFile(PetscObjectComm((PetscObject)A), path, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(VecView(rhs, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}
