/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A farm whose tasks add numbers to an array shared by a group, and deliver some numbers of their own */

#include <lithe.h>
#include <lithefarm.h>
#include <tests/failures.h>
#include <unistd.h>

#define TEST_TASKS 23
#define TEST_N     101 /* numbers of the sums */

typedef struct {
  LitheFarmGroup group;
  LitheFarmJob   job;
  PetscSF        sf;               /* from the sums of this process to the complete sums on all processes, each with a share */
  PetscInt       fails, failsonce; /* tasks, or -1 */
  PetscInt       runs;             /* of some tasks at once, by this process */
  PetscInt       kill, done;       /* kill: after this number of tasks on this process, or -1; done: completed tasks */
  PetscReal      delay;            /* seconds of a task, on the average */
  PetscInt       pieces[TEST_TASKS];
  PetscReal      cost[TEST_TASKS];
  PetscReal      own[TEST_TASKS]; /* sums of the delivered numbers per task, on this process */
  PetscInt       tried[TEST_TASKS];
} FarmTest;

/* Between -1 and 1, of any size */
static inline PetscReal FarmTestNumber(PetscInt task, PetscInt64 i)
{
  const uint64_t hash = LitheFarmHash((uint64_t)task, (uint64_t)i);

  return (PetscReal)ldexp((double)(int64_t)hash / 9.3e18, (int)(hash % 40) - (int)(task % 7) * 9);
}

static PetscErrorCode FarmTestRunOne(FarmTest *t, PetscInt task, PetscInt attempt, PetscReal sum[], PetscReal piece[], PetscBool *failed)
{
  PetscFunctionBeginUser;
  t->tried[task]++;
  if (t->delay > 0) PetscCall(PetscSleep(t->delay * (PetscReal)(1 + task % 3) / 2));
  if (t->kill == t->done) raise(SIGKILL);
  for (PetscInt i = 0; i < t->job.n; i++) sum[i] = FarmTestNumber(task, t->job.first + i);
  for (PetscInt i = 0; piece && i < t->pieces[task]; i++) piece[i] = FarmTestNumber(task, -1 - i);
  if (t->fails == task) {
    if (task % 2) *failed = (PetscBool)(t->group.rank == t->group.size - 1); /* on a single process */
    else if (t->job.n) sum[0] = (PetscReal)NAN;
  }
  if (t->failsonce == task && !attempt) *failed = PETSC_TRUE;
  t->done++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FarmTestRun(void *ctx, PetscInt n, const PetscInt task[], PetscInt attempt, PetscReal *const sum[], PetscReal *const piece[],
                                  PetscBool failed[])
{
  FarmTest *t = (FarmTest *)ctx;

  PetscFunctionBeginUser;
  t->runs++;
  if (WRONG(n < 1 || n > PetscMax(t->job.batch, 1) || (attempt && n > 1))) FAIL("%d tasks at once in attempt %d", (int)n, (int)attempt);
  for (PetscInt k = 0; k < n; k++) {
    if (WRONG(failed[k] || !piece[k] != (t->group.rank > 0 || !t->pieces[task[k]]))) FAIL("task %d begins wrongly", (int)task[k]);
    if (WRONG(t->job.nsets && t->job.set[task[k]] != t->job.set[task[0]])) FAIL("tasks %d and %d are of different sets", (int)task[0], (int)task[k]);
    PetscCall(FarmTestRunOne(t, task[k], attempt, sum[k], piece[k], &failed[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FarmTestDeliver(void *ctx, PetscInt task, const PetscReal piece[])
{
  FarmTest *t = (FarmTest *)ctx;

  PetscFunctionBeginUser;
  t->own[task] = 0;
  for (PetscInt i = 0; i < t->pieces[task]; i++) t->own[task] += piece[i];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The job on a farm: who has which numbers */
static PetscErrorCode FarmTestCreate(LitheFarm farm, FarmTest *t)
{
  PetscSFNode *to;
  PetscMPIInt  rank, size;
  PetscInt     roots = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(t, sizeof(*t)));
  PetscCall(LitheFarmGetGroup(farm, &t->group));
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  t->fails = t->failsonce = t->kill = -1;
  t->job = (LitheFarmJob){.what = "task", .ntasks = TEST_TASKS, .cost = t->cost, .attempts = 2, .hash = 42, .kind = 1, .N = TEST_N, .pieces = t->pieces};
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-batch", &t->job.batch, NULL));
  t->job.first   = (PetscInt64)TEST_N * t->group.rank / t->group.size;
  t->job.n       = (PetscInt)((PetscInt64)TEST_N * (t->group.rank + 1) / t->group.size - t->job.first);
  t->job.run     = FarmTestRun;
  t->job.deliver = FarmTestDeliver;
  t->job.ctx     = t;
  for (PetscInt k = 0; k < TEST_TASKS; k++) {
    t->pieces[k] = k % 4; /* some tasks deliver no numbers */
    t->cost[k]   = (PetscReal)(1 + k % 3);
  }
  for (PetscInt i = 0; i < TEST_N; i++) roots += i % size == rank;
  PetscCall(PetscMalloc1(t->job.n, &to));
  for (PetscInt i = 0; i < t->job.n; i++) to[i] = (PetscSFNode){(PetscInt)((t->job.first + i) % size), (PetscInt)((t->job.first + i) / size)};
  PetscCall(PetscSFCreate(PETSC_COMM_WORLD, &t->sf));
  PetscCall(PetscSFSetGraph(t->sf, roots, t->job.n, NULL, PETSC_COPY_VALUES, to, PETSC_OWN_POINTER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums of all groups, complete on all processes, and the delivered numbers */
static PetscErrorCode FarmTestGet(LitheFarm farm, FarmTest *t, PetscReal sum[TEST_N], PetscReal own[TEST_TASKS])
{
  PetscReal  *part;
  LitheSums   sums;
  PetscMPIInt rank, size;
  PetscInt    roots = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(LitheFarmGetSums(farm, &sums));
  PetscCall(PetscMalloc1(TEST_N, &part));
  PetscCall(LitheSumsReduce(sums, t->sf, part));
  for (PetscInt i = 0; i < TEST_N; i++) sum[i] = i % size == rank ? part[roots++] : 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, TEST_N, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(t->own, own, TEST_TASKS, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCall(PetscFree(part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A new folder, and journals in it. Collective */
static inline PetscErrorCode FarmTestFolderCreate(LitheFarmOptions *options)
{
  char        folder[] = "farmXXXXXX"; /* the template of mkdtemp() */
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (!rank) PetscCall(PetscMkdtemp(folder));
  PetscCallMPI(MPI_Bcast(folder, sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(PetscSNPrintf(options->journal, sizeof(options->journal), "%s/journal", folder));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The folder is empty and can be removed. Collective */
static inline PetscErrorCode FarmTestFolderRemove(const LitheFarmOptions *options)
{
  char        folder[PETSC_MAX_PATH_LEN];
  PetscMPIInt rank;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(folder, options->journal, sizeof(folder)));
  *strrchr(folder, '/') = 0;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  if (!rank && WRONG(rmdir(folder) != 0)) FAIL("files are left in %s", folder);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the numbers of a run with the first run, bit by bit */
static inline PetscErrorCode FarmTestCompare(const char name[], LitheFarm farm, FarmTest *t, const PetscReal first[TEST_N],
                                             const PetscReal firstown[TEST_TASKS])
{
  PetscReal sum[TEST_N], own[TEST_TASKS];

  PetscFunctionBeginUser;
  PetscCall(FarmTestGet(farm, t, sum, own));
  if (WRONG(memcmp(sum, first, sizeof(sum)))) FAIL("%s: other sums", name);
  if (WRONG(memcmp(own, firstown, sizeof(own)))) FAIL("%s: other numbers of tasks", name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FarmTestDestroy(FarmTest *t)
{
  PetscFunctionBeginUser;
  PetscCall(PetscSFDestroy(&t->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sums without one task, in double precision; the farm's sums must be near */
static inline void FarmTestExpect(PetscInt without, double sum[TEST_N], double most[1])
{
  most[0] = 0;
  for (PetscInt i = 0; i < TEST_N; i++) {
    sum[i] = 0;
    for (PetscInt k = 0; k < TEST_TASKS; k++) {
      if (k == without) continue;
      sum[i] += (double)FarmTestNumber(k, i);
      most[0] = PetscMax(most[0], fabs((double)FarmTestNumber(k, i)));
    }
  }
}
