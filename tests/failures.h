/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Counts the checks of a test program. Each failure prints a line:

     if (WRONG(condition)) FAIL(format, ...);

   A program also fails if the number of checks is less than expected. It begins with TestBegin() and ends with TestEnd().
*/

#include <lithe.h>

static PetscInt    failures = 0, checks = 0, test_parts = 1, test_pieces = 0, test_mine = 0;
static PetscMPIInt size = 1, rank = 0; /* of PETSC_COMM_WORLD, from TestBegin() */

#define WRONG(condition) (checks++, (condition))

static inline PetscErrorCode TestBegin(int *argc, char ***argv, const char help[])
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether the next piece of a program's work belongs to this run. With -test_part I,N a run does every N-th piece from
   piece I; without, all pieces. Long runs on a device are split in this way. Collective
*/
static inline PetscErrorCode TestPart(PetscBool *mine)
{
  PetscInt part[2] = {0, 1}, n = 2;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-test_part", part, &n, NULL));
  test_parts = part[1];
  *mine      = (PetscBool)(test_pieces++ % test_parts == part[0]);
  if (*mine) test_mine++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The value of -mat_type, or the one that is there, and whether its entries are on a device */
static inline PetscErrorCode TestMatType(size_t n, char type[], PetscBool *device)
{
  PetscFunctionBegin;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-mat_type", type, n, NULL));
  *device = (PetscBool)(strstr(type, "cusparse") != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PIECE(call)                \
  do {                             \
    PetscBool mine_ = PETSC_FALSE; \
                                   \
    PetscCall(TestPart(&mine_));   \
    if (mine_) PetscCall(call);    \
  } while (0)

/* Called by all processes */
#define FAIL(...)                                          \
  do {                                                     \
    failures++;                                            \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: "));    \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, __VA_ARGS__)); \
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "\n"));        \
  } while (0)

/*
   Prints the last line of a program. All checks must have succeeded, and at least "least" checks must have been made;
   in one of N parts, an N-th of them, or less if it has fewer pieces. With -test_least K the minimum is K, for runs
   which leave checks out or whose pieces differ. With -test_checks FILE the number of checks is added to a file.
   Collective
*/
static inline PetscErrorCode TestDone(PetscInt least, const char line[])
{
  char      path[PETSC_MAX_PATH_LEN], program[PETSC_MAX_PATH_LEN];
  PetscBool set;

  PetscFunctionBegin;
  if (test_pieces) least = PetscMin(least / test_parts, least * test_mine / test_pieces);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-test_least", &least, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_checks", path, sizeof(path), &set));
  if (set) {
    FILE *file;

    PetscCall(PetscFOpen(PETSC_COMM_WORLD, path, "a", &file));
    PetscCall(PetscGetProgramName(program, sizeof(program)));
    PetscCall(PetscFPrintf(PETSC_COMM_WORLD, file, "%s %" PetscInt_FMT "\n", program, checks));
    PetscCall(PetscFClose(PETSC_COMM_WORLD, file));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &checks, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  if (failures) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " checks failed\n", failures));
  else if (checks < least) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: only %" PetscInt_FMT " checks were made\n", checks));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* TestDone(), and the end of main() */
static inline int TestEnd(PetscInt least, const char line[])
{
  PetscCallAbort(PETSC_COMM_WORLD, TestDone(least, line));
  PetscCallAbort(PETSC_COMM_WORLD, PetscFinalize());
  return 0;
}
