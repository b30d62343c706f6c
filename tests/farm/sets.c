/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help
  [] = "LitheFarm: groups keep sets of tasks, slow groups begin with cheap sets, kinds are recorded, slices by options add up, also from journals alone.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include "farmtest.h"

#define SETS 4

static PetscReal first[TEST_N], firstown[TEST_TASKS];

/* The test's tasks, and the sets which this group has visited, in order */
typedef struct {
  FarmTest  t;
  PetscInt  set[TEST_TASKS], visits, visited[TEST_TASKS];
  PetscReal setup[SETS], amount[TEST_TASKS];
} SetTest;

static PetscReal nap; /* seconds of each task on this process */

static PetscErrorCode Run(void *ctx, PetscInt n, const PetscInt task[], PetscInt attempt, PetscReal *const sum[], PetscReal *const piece[], PetscBool failed[])
{
  SetTest *s = (SetTest *)ctx;

  PetscFunctionBeginUser;
  if (!attempt && (!s->visits || s->visited[s->visits - 1] != s->set[task[0]])) s->visited[s->visits++] = s->set[task[0]];
  if (nap > 0) PetscCall(PetscSleep(nap));
  PetscCall(FarmTestRun(&s->t, n, task, attempt, sum, piece, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deliver(void *ctx, PetscInt task, const PetscReal piece[])
{
  PetscFunctionBeginUser;
  PetscCall(FarmTestDeliver(&((SetTest *)ctx)->t, task, piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Set 2 has most to do, then 0, 1 and 3 */
static PetscErrorCode Create(LitheFarm farm, PetscReal setup, SetTest *s)
{
  const PetscReal weight[SETS] = {3, 2, 5, 1};

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(FarmTestCreate(farm, &s->t));
  for (PetscInt k = 0; k < TEST_TASKS; k++) {
    s->set[k]    = k % SETS;
    s->t.cost[k] = weight[k % SETS];
    s->amount[k] = 2;
  }
  for (int k = 0; k < SETS; k++) s->setup[k] = setup;
  s->t.job.cost    = s->t.cost;
  s->t.job.pieces  = s->t.pieces;
  s->t.job.nsets   = SETS;
  s->t.job.set     = s->set;
  s->t.job.setup   = s->setup;
  s->t.job.unit    = "solves";
  s->t.job.amount  = s->amount;
  s->t.job.run     = Run;
  s->t.job.deliver = Deliver;
  s->t.job.ctx     = s;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the bits with a farm without sets. A group visits a set once, and the set with most work first. With long
   preparations, each set has one group */
static PetscErrorCode TestSets(LitheFarmOptions options)
{
  const PetscInt order[SETS] = {2, 0, 1, 3};

  PetscFunctionBeginUser;
  options.size = 1;
  {
    LitheFarm farm;
    FarmTest  t;

    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    PetscCall(FarmTestCreate(farm, &t));
    PetscCall(LitheFarmRun(farm, &t.job));
    PetscCall(FarmTestGet(farm, &t, first, firstown));
    PetscCall(FarmTestDestroy(&t));
    PetscCall(LitheFarmDestroy(&farm));
  }
  for (PetscInt g = size; g >= 1; g--) {
    for (int how = 0; how < 4; how++) { /* no preparation; a long preparation; tasks shared out in advance; a task which fails on the first attempt */
      LitheFarm              farm;
      SetTest                s;
      const LitheFarmResult *r;
      PetscInt               groups[SETS] = {0}, all[TEST_TASKS];
      char                   name[64];

      options.size  = g;
      options.fixed = (PetscBool)(how == 2);
      PetscCall(PetscSNPrintf(name, sizeof(name), "sets, groups of %d, way %d", (int)g, how));
      PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
      PetscCall(Create(farm, how == 1 ? (PetscReal)1e6 : 0, &s));
      if (how == 3) s.t.failsonce = 5;
      s.t.job.kind = (unsigned char)(1 + s.t.group.number % 2);
      PetscCall(LitheFarmRun(farm, &s.t.job));
      PetscCall(LitheFarmGetResult(farm, &r));
      PetscCall(FarmTestCompare(name, farm, &s.t, first, firstown));
      if (WRONG(!r->complete || r->done != TEST_TASKS)) FAIL("%s: %d tasks are done", name, (int)r->done);
      for (PetscInt k = 0; k < s.visits; k++) {
        for (PetscInt l = 0; l < k; l++) {
          if (WRONG(s.visited[k] == s.visited[l])) FAIL("%s: set %d is visited twice by group %d", name, (int)s.visited[k], (int)s.t.group.number);
        }
        groups[s.visited[k]] += s.t.group.rank == 0;
        if (s.t.group.groups == 1 && WRONG(s.visited[k] != order[k])) FAIL("%s: set %d is number %d", name, (int)s.visited[k], (int)k);
      }
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, groups, SETS, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      for (int k = 0; k < SETS; k++) {
        if (WRONG(groups[k] < 1 || (how == 1 && groups[k] > 1))) FAIL("%s: %d groups do set %d", name, (int)groups[k], k);
      }
      for (PetscInt k = 0; k < TEST_TASKS; k++) {
        all[k] = s.t.group.rank ? 0 : s.t.tried[k];
        if (WRONG(r->record[k].kind != 1 + r->record[k].group % 2)) FAIL("%s: task %d has kind %d", name, (int)k, (int)r->record[k].kind);
      }
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, all, TEST_TASKS, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      for (PetscInt k = 0; k < TEST_TASKS; k++) {
        if (WRONG(all[k] != 1 + (how == 3 && k == 5))) FAIL("%s: task %d was tried %d times", name, (int)k, (int)all[k]);
      }
      PetscCall(FarmTestDestroy(&s.t));
      PetscCall(LitheFarmDestroy(&farm));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The last group is slow: its first set is the cheapest one, and after a long first task it leaves the rest to the others.
   With a guess that is large enough it takes no task. All groups slow: as if none were
*/
static PetscErrorCode TestSlow(LitheFarmOptions options)
{
  PetscFunctionBeginUser;
  options.size = 1;
  for (int turn = 0; turn < 3; turn++) {
    const PetscReal        guess = turn == 1 ? (PetscReal)1e9 : 1;
    const PetscBool        all   = (PetscBool)(turn == 2);
    LitheFarm              farm;
    SetTest                s;
    const LitheFarmResult *r;
    PetscBool              slow;
    PetscInt               mine = 0, tried[TEST_TASKS];

    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    PetscCall(Create(farm, 0, &s));
    slow         = (PetscBool)(all || s.t.group.number == s.t.group.groups - 1);
    s.t.job.slow = slow ? guess : 0;
    /* the others are slow enough to leave tasks to a group that is late on a machine with few cores */
    nap = all || size == 1 ? 0 : slow ? (PetscReal)0.5 : (PetscReal)0.05;
    PetscCall(LitheFarmRun(farm, &s.t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    PetscCall(FarmTestCompare("slow", farm, &s.t, first, firstown));
    if (WRONG(!r->complete || r->done != TEST_TASKS)) FAIL("slow: %d tasks are done", (int)r->done);
    for (PetscInt k = 0; k < TEST_TASKS; k++) mine += s.t.tried[k];
    if (nap > 0 && slow && s.visits && WRONG(s.visited[0] != 3)) FAIL("the slow group begins with set %d", (int)s.visited[0]);
    if (nap > 0 && slow && WRONG(mine > TEST_TASKS / 2)) FAIL("the slow group has done %d tasks", (int)mine);
    if (nap > 0 && slow && guess > 1 && WRONG(mine)) FAIL("the slow group has done %d tasks, in spite of the guess", (int)mine);
    PetscCallMPI(MPIU_Allreduce(s.t.tried, tried, TEST_TASKS, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    for (PetscInt k = 0; k < TEST_TASKS; k++) {
      if (WRONG(tried[k] != 1)) FAIL("slow: task %d was tried %d times", (int)k, (int)tried[k]);
    }
    nap = 0;
    PetscCall(FarmTestDestroy(&s.t));
    PetscCall(LitheFarmDestroy(&farm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Read(const char slice[], PetscBool only, LitheFarmOptions *options)
{
  PetscFunctionBeginUser;
  PetscCall(PetscOptionsClearValue(NULL, "-task_slice"));
  PetscCall(PetscOptionsClearValue(NULL, "-journal_only"));
  if (slice) PetscCall(PetscOptionsSetValue(NULL, "-task_slice", slice));
  if (only) PetscCall(PetscOptionsSetValue(NULL, "-journal_only", "1"));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "A farm", NULL);
  PetscCall(LitheFarmOptionsReadSlice(PetscOptionsObject, "-", options));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSlices(LitheFarmOptions options)
{
  const char *const      slices[] = {"0/3", "2/3", NULL, NULL, "1/3", NULL, NULL};
  const PetscBool        only[]   = {PETSC_FALSE, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE};
  const PetscInt         have     = (TEST_TASKS + 2) / 3 + TEST_TASKS / 3;
  const LitheFarmOptions plain    = options;

  PetscFunctionBeginUser;
  for (int k = 0; k < 7; k++) {
    LitheFarm              farm;
    SetTest                s;
    const LitheFarmResult *r;
    PetscInt               kinds = 0;

    options      = plain;
    options.size = k % 2 ? size : 1;
    PetscCall(Read(slices[k], only[k], &options));
    PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
    PetscCall(Create(farm, 1, &s));
    s.t.job.kind = (unsigned char)(slices[k] && !strcmp(slices[k], "2/3") ? 2 : 1);
    PetscCall(LitheFarmRun(farm, &s.t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (only[k] && WRONG(s.t.done || r->done || r->found != (k < 5 ? have : TEST_TASKS) || r->complete != (PetscBool)(k > 4)))
      FAIL("step %d: of journals alone %d done, %d found", k, (int)r->done, (int)r->found);
    if (k >= 5 && WRONG(!r->complete || r->found != TEST_TASKS)) FAIL("step %d: %d tasks of slices", k, (int)r->found);
    if (k >= 5) PetscCall(FarmTestCompare("slices", farm, &s.t, first, firstown));
    for (PetscInt t = 0; t < TEST_TASKS && k >= 5; t++) kinds += r->record[t].kind != (t % 3 == 2 ? 2 : 1);
    if (WRONG(kinds)) FAIL("step %d: %d kinds of tasks", k, (int)kinds);
    PetscCall(FarmTestDestroy(&s.t));
    PetscCall(LitheFarmDestroy(&farm));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-task_slice"));
  PetscCall(PetscOptionsClearValue(NULL, "-journal_only"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheFarmOptions options = {.size = 1};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestSets(options));
  PetscCall(TestSlow(options));
  PetscCall(FarmTestFolderCreate(&options));
  PetscCall(TestSlices(options));
  PetscCall(FarmTestFolderRemove(&options));
  return TestEnd(100, "sets and slices agree\n");
}

/*TEST

  test:
    nsize: {{1 2 3 4}}
    args: -batch {{0 5}}
    output_file: output/sets.out

TEST*/
