/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheFarm: any grouping gives the same bits, failed tasks are tried again or named, slices and journals of different groups add up.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include "farmtest.h"

static PetscReal first[TEST_N], firstown[TEST_TASKS];

/* Batches that are whole as long as each group gets one, then one for each group, if there are enough tasks */
static PetscInt Runs(PetscInt groups, PetscInt batch)
{
  const PetscInt round = groups * PetscMax(batch, 1);

  return TEST_TASKS / round * groups + PetscMin(groups, TEST_TASKS % round);
}

/* Each task once, by groups of any size; against sums in doubles */
static PetscErrorCode TestGroups(LitheFarmOptions options)
{
  PetscFunctionBeginUser;
  for (PetscInt g = size; g >= 1; g--) {
    for (int fixed = 0; fixed < 2; fixed++) {
      LitheFarm              farm;
      FarmTest               t;
      const LitheFarmResult *r;
      PetscInt               all[TEST_TASKS], runs;
      char                   name[64];

      options.size  = g;
      options.fixed = (PetscBool)fixed;
      PetscCall(PetscSNPrintf(name, sizeof(name), "groups of %d%s", (int)g, fixed ? ", fixed" : ""));
      PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
      PetscCall(FarmTestCreate(farm, &t));
      PetscCall(LitheFarmRun(farm, &t.job));
      PetscCall(LitheFarmGetResult(farm, &r));
      for (PetscInt k = 0; k < TEST_TASKS; k++) all[k] = t.group.rank ? 0 : t.tried[k];
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, TEST_TASKS, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      for (PetscInt k = 0; k < TEST_TASKS; k++) {
        const LitheFarmRecord *record = &r->record[k];

        if (WRONG(all[k] != 1)) FAIL("%s: task %d was done %d times", name, (int)k, (int)all[k]);
        if (WRONG(record->group < 0 || record->group >= t.group.groups || record->attempt || !(record->begin >= 0 && record->end >= record->begin)))
          FAIL("%s: record of task %d: group %d, %g to %g", name, (int)k, (int)record->group, (double)record->begin, (double)record->end);
      }
      runs = t.group.rank ? 0 : t.runs;
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &runs, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      if (WRONG(!fixed && runs != Runs(t.group.groups, t.job.batch))) FAIL("%s: %d batches, not %d", name, (int)runs, (int)Runs(t.group.groups, t.job.batch));
      if (WRONG(!r->complete || r->done != TEST_TASKS || r->found || r->nfailed || !(r->busy >= 0 && r->busy <= 1.001)))
        FAIL("%s: result, busy %g", name, (double)r->busy);
      if (g == size && !fixed) {
        double expect[TEST_N], most;

        PetscCall(FarmTestGet(farm, &t, first, firstown));
        FarmTestExpect(-1, expect, &most);
        for (PetscInt i = 0; i < TEST_N; i++) {
          if (WRONG(!(fabs((double)first[i] - expect[i]) <= 100 * (double)PETSC_MACHINE_EPSILON * most)))
            FAIL("number %d: %g, not %g", (int)i, (double)first[i], expect[i]);
        }
      } else PetscCall(FarmTestCompare(name, farm, &t, first, firstown));
      PetscCall(FarmTestDestroy(&t));
      PetscCall(LitheFarmDestroy(&farm));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Two tasks: task 6 always fails, task 7 fails on the first attempt only */
static PetscErrorCode TestFailures(LitheFarmOptions options)
{
  PetscFunctionBeginUser;
  for (PetscInt which = 6; which < 8; which++) {
    LitheFarm              farm;
    FarmTest               t;
    const LitheFarmResult *r;
    PetscReal              sum[TEST_N], own[TEST_TASKS];
    PetscInt               tried[2], other;
    double                 expect[TEST_N], most;

    options.size = size > 2 ? 2 : 1;
    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    PetscCall(FarmTestCreate(farm, &t));
    t.fails     = which;
    t.failsonce = 11;
    PetscCall(LitheFarmRun(farm, &t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (WRONG(r->complete || r->done != TEST_TASKS - 1 || r->nfailed != 1 || r->failed[0] != which)) FAIL("task %d is not named", (int)which);
    if (WRONG(r->record[11].attempt != 1 || r->record[which].attempt != 1)) FAIL("no second attempts");
    PetscCall(FarmTestGet(farm, &t, sum, own));
    FarmTestExpect(which, expect, &most);
    for (PetscInt i = 0; i < TEST_N; i++) {
      if (WRONG(!(fabs((double)sum[i] - expect[i]) <= 100 * (double)PETSC_MACHINE_EPSILON * most)))
        FAIL("number %d without task %d: %g, not %g", (int)i, (int)which, (double)sum[i], expect[i]);
    }
    if (WRONG(own[which] != 0 || own[11] != firstown[11])) FAIL("a task that failed has left numbers");
    /* another group tried again */
    tried[0] = tried[1] = t.group.rank ? 0 : (t.tried[which] > 1);
    PetscCallMPI(MPIU_Allreduce(&tried[0], &other, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (WRONG(other != (t.group.groups == 1))) FAIL("task %d was tried twice by %d groups", (int)which, (int)other);
    PetscCall(FarmTestDestroy(&t));
    PetscCall(LitheFarmDestroy(&farm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Farms of other sizes run slices of the tasks and leave journals, which another farm adds up */
static PetscErrorCode TestSlices(LitheFarmOptions options)
{
  LitheFarm              farm;
  FarmTest               t;
  const LitheFarmResult *r;
  PetscInt               done = 0;

  PetscFunctionBeginUser;
  options.slices = 3;
  for (options.slice = 0; options.slice < 3; options.slice++) {
    options.size = options.slice == 1 ? size : 1;
    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    for (int again = 0; again < 2; again++) {
      PetscCall(FarmTestCreate(farm, &t));
      PetscCall(LitheFarmRun(farm, &t.job));
      PetscCall(LitheFarmGetResult(farm, &r));
      if (WRONG(r->complete || r->found != (again ? done : 0))) FAIL("slice %d: %d tasks found", (int)options.slice, (int)r->found);
      done = again ? 0 : r->done;
      if (WRONG(again ? r->done != 0 : r->done != (TEST_TASKS - options.slice + 2) / 3)) FAIL("slice %d: %d tasks", (int)options.slice, (int)r->done);
      PetscCall(FarmTestDestroy(&t));
    }
    PetscCall(LitheFarmDestroy(&farm));
  }
  options.slices = 0;
  options.slice  = 0;
  options.keep   = PETSC_TRUE;
  for (PetscInt again = 0; again < 3; again++) {
    options.size = again == 1 ? size : 1;
    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    PetscCall(FarmTestCreate(farm, &t));
    if (again == 2) t.job.hash++;
    PetscCall(LitheFarmRun(farm, &t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (WRONG(!r->complete || r->found != (again == 2 ? 0 : TEST_TASKS))) FAIL("%d of the slices' tasks found", (int)r->found);
    PetscCall(FarmTestCompare("slices", farm, &t, first, firstown));
    PetscCall(FarmTestDestroy(&t));
    PetscCall(LitheFarmDestroy(&farm));
  }
  /* and away */
  options.keep = PETSC_FALSE;
  for (PetscInt again = 0; again < 2; again++) {
    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    for (uint64_t hash = 42; hash < 44; hash++) {
      PetscCall(FarmTestCreate(farm, &t));
      t.job.hash = hash;
      PetscCall(LitheFarmRun(farm, &t.job));
      PetscCall(LitheFarmGetResult(farm, &r));
      if (WRONG(r->found != (again ? 0 : TEST_TASKS))) FAIL("%d tasks found", (int)r->found);
      PetscCall(FarmTestCompare("at the end", farm, &t, first, firstown));
      PetscCall(FarmTestDestroy(&t));
    }
    PetscCall(LitheFarmDestroy(&farm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* No tasks, and tasks without sums */
static PetscErrorCode TestEmpty(LitheFarmOptions options)
{
  LitheFarm              farm;
  const LitheFarmResult *r;
  LitheSums              sums;
  PetscReal              y[TEST_N];

  PetscFunctionBeginUser;
  options.size = 1;
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  for (int k = 0; k < 2; k++) {
    FarmTest t;

    PetscCall(FarmTestCreate(farm, &t));
    if (k) {
      t.job.n = 0;
      t.job.N = t.job.first = 0;
      t.job.hash            = 7;
    } else t.job.ntasks = 0;
    PetscCall(LitheFarmRun(farm, &t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (WRONG(!r->complete || r->done != t.job.ntasks)) FAIL("an empty farm is not complete");
    if (!k) {
      PetscInt n;

      PetscCall(LitheFarmGetSums(farm, &sums));
      PetscCall(LitheSumsReduce(sums, t.sf, y));
      PetscCall(PetscSFGetGraph(t.sf, &n, NULL, NULL, NULL));
      for (PetscInt i = 0; i < n; i++) {
        if (y[i] != 0) failures++;
      }
    }
    PetscCall(FarmTestDestroy(&t));
  }
  PetscCall(LitheFarmDestroy(&farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheFarmOptions options = {.size = 1};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestGroups(options));
  PetscCall(TestFailures(options));
  PetscCall(FarmTestFolderCreate(&options));
  PetscCall(TestGroups(options));
  PetscCall(TestSlices(options));
  PetscCall(TestEmpty(options));
  PetscCall(FarmTestFolderRemove(&options));
  return TestEnd(100, "all farms agree\n");
}

/*TEST

  test:
    nsize: {{1 2 3 4}}
    args: -batch {{0 3 100}}
    output_file: output/groups.out

TEST*/
