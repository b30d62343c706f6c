/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* For tests of bad input: errors must occur on all processes, and name the cause */

#include <tests/failures.h>

static PetscInt count = 0;

/* The first message of an error */
typedef struct {
  char text[2048];
} TestError;

static PetscErrorCode TestErrorHandler(MPI_Comm comm, int line, const char *function, const char *file, PetscErrorCode code, PetscErrorType type,
                                       const char *message, void *ctx)
{
  TestError *error = (TestError *)ctx;

  if (type == PETSC_ERROR_INITIAL && message) (void)PetscStrncpy(error->text, message, sizeof(error->text));
  return code;
}

/*
   An error must occur on all processes, and its message must hold each of the words. CALL is a function call.
*/
#define TEST_REFUSED(name, CALL, ...)                            \
  do {                                                           \
    static const char *const words_[] = {__VA_ARGS__, NULL};     \
    TestError                error_;                             \
    PetscErrorCode           code_;                              \
    error_.text[0] = 0;                                          \
    PetscCall(PetscPushErrorHandler(TestErrorHandler, &error_)); \
    code_ = CALL;                                                \
    PetscCall(PetscPopErrorHandler());                           \
    PetscCall(TestRefused(name, code_, &error_, words_));        \
  } while (0)

static PetscErrorCode TestRefused(const char name[], PetscErrorCode code, const TestError *error, const char *const words[])
{
  PetscFunctionBegin;
  count++;
  if (!code) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: no error\n", name));
  } else {
    for (int k = 0; words[k]; k++) {
      char *found;

      PetscCall(PetscStrstr(error->text, words[k], &found));
      if (found) continue;
      failures++;
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: the message does not tell of %s: %s\n", name, words[k], error->text[0] ? error->text : "(none)"));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
