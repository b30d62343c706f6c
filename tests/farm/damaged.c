/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheFarm: a journal that is empty, cut at any byte, longer, changed in any byte, or of another job: one error that says what to do.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include "farmtest.h"
#include <tests/refused.h>

static PetscReal first[TEST_N], firstown[TEST_TASKS];

/* The file has the n bytes, or is removed where bytes is NULL. Collective */
static PetscErrorCode Put(const char path[], const char bytes[], size_t n)
{
  PetscFunctionBeginUser;
  if (!rank && !bytes) PetscCheck(!remove(path), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s is not there", path);
  if (!rank && bytes) {
    FILE *file = fopen(path, "wb");

    PetscCheck(file && fwrite(bytes, 1, n, file) == n && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_SYS, "No file %s", path);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run that must be refused on all processes: the end of the message says what to do */
static PetscErrorCode Refused(LitheFarm farm, FarmTest *t, const char name[], const char word[])
{
  const char *const      words[] = {"The journal ", word, "; remove it to start anew", NULL};
  const LitheFarmResult *r;
  TestError              error = {""};
  PetscErrorCode         code;

  PetscFunctionBeginUser;
  PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
  code = LitheFarmRun(farm, &t->job);
  PetscCall(PetscPopErrorHandler());
  PetscCall(TestRefused(name, code, &error, words));
  PetscCall(LitheFarmGetResult(farm, &r));
  if (WRONG(!r->refused)) FAIL("%s: not refused", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A run that must end well, with found tasks from journals */
static PetscErrorCode Complete(LitheFarm farm, FarmTest *t, const char name[], PetscInt least, PetscInt most)
{
  const LitheFarmResult *r;

  PetscFunctionBeginUser;
  PetscCall(PetscArrayzero(t->own, TEST_TASKS)); /* another process may have them now */
  PetscCall(LitheFarmRun(farm, &t->job));
  PetscCall(LitheFarmGetResult(farm, &r));
  if (WRONG(r->refused || !r->complete || r->found < least || r->found > most)) FAIL("%s: %d tasks found", name, (int)r->found);
  PetscCall(FarmTestCompare(name, farm, t, first, firstown));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheFarmOptions options = {.size = 1, .keep = PETSC_TRUE, .fixed = PETSC_TRUE};
  LitheFarm        farm;
  FarmTest         t;
  char             path[2 * PETSC_MAX_PATH_LEN], *bytes = NULL;
  long             n    = 0;
  PetscInt         step = 1;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-step", &step, NULL));
  PetscCall(FarmTestFolderCreate(&options));
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  PetscCall(FarmTestCreate(farm, &t));
  PetscCall(LitheFarmRun(farm, &t.job));
  PetscCall(FarmTestGet(farm, &t, first, firstown));
  /* the journal of the last group */
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%016llx.0-1.%d", options.journal, (unsigned long long)t.job.hash, (int)size - 1));
  if (!rank) {
    FILE *file = fopen(path, "rb");

    PetscCheck(file && !fseek(file, 0, SEEK_END) && (n = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET), PETSC_COMM_SELF, PETSC_ERR_SYS, "No journal %s", path);
    PetscCall(PetscMalloc1(n + 1, &bytes));
    PetscCheck(fread(bytes, 1, (size_t)n, file) == (size_t)n && !fclose(file), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s cannot be read", path);
    bytes[n] = 0;
  }
  PetscCallMPI(MPI_Bcast(&n, 1, MPI_LONG, 0, PETSC_COMM_WORLD));
  if (rank) PetscCall(PetscCalloc1(n + 1, &bytes));

  for (long k = 0; k < n; k += step) {
    char name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "%ld of %ld bytes", k, n));
    PetscCall(Put(path, bytes, (size_t)k));
    PetscCall(Refused(farm, &t, name, k ? "is cut: it ends after " : "is empty"));
    PetscCall(PetscSNPrintf(name, sizeof(name), "byte %ld of %ld is changed", k, n));
    bytes[k] ^= (char)(1 << k % 8);
    PetscCall(Put(path, bytes, (size_t)n));
    PetscCall(Refused(farm, &t, name, " is "));
    bytes[k] ^= (char)(1 << k % 8);
  }
  PetscCall(Put(path, bytes, (size_t)n + 1));
  PetscCall(Refused(farm, &t, "a byte more", "is damaged"));

  /* another job: other tasks, other sums, and another magic number */
  PetscCall(Put(path, bytes, (size_t)n));
  t.job.ntasks--;
  PetscCall(Refused(farm, &t, "another number of tasks", "is not one of this run"));
  t.job.ntasks++;
  t.job.N++;
  PetscCall(Refused(farm, &t, "another number of sums", "is not one of this run"));
  t.job.N--;
  bytes[0] = 'L';
  PetscCall(Put(path, bytes, (size_t)n));
  PetscCall(Refused(farm, &t, "no journal", "is not one of this run"));
  bytes[0] = 'l';

  /* the complete file is found, and what it has is done again without it. The sum of all files is the first file then */
  PetscCall(Put(path, bytes, 7));
  PetscCall(Refused(farm, &t, "7 bytes", "is cut"));
  PetscCall(Put(path, NULL, 0));
  PetscCall(Complete(farm, &t, "without the cut journal", size > 1 ? 1 : 0, TEST_TASKS - 1));
  PetscCall(Complete(farm, &t, "the complete journal", TEST_TASKS, TEST_TASKS));
  PetscCall(LitheFarmDestroy(&farm));
  options.keep = PETSC_FALSE;
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  PetscCall(Complete(farm, &t, "and away", TEST_TASKS, TEST_TASKS));
  PetscCall(FarmTestDestroy(&t));
  PetscCall(LitheFarmDestroy(&farm));
  PetscCall(FarmTestFolderRemove(&options));
  PetscCall(PetscFree(bytes));
  return TestEnd(300, "journals that are cut or changed are refused\n");
}

/*TEST

  testset:
    output_file: output/damaged.out
    test:
    test:
      suffix: 2
      nsize: 3
      args: -step 13

TEST*/
