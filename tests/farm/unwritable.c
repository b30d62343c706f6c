/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "LitheFarm: a journal that cannot be opened, written or renamed ends the run with one error on all processes, and loses nothing.\n\n";

#define _POSIX_C_SOURCE 200809L
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>
#include "farmtest.h"
#include <tests/refused.h>

/* What is in the way of a journal, from a task on: a folder with the name of the new file, a full disk, a folder with the
   name of the file */
typedef enum {
  OPENING,
  WRITING,
  RENAMING,
  OBSTACLES
} Obstacle;

static const char *const names[] = {"opening", "writing", "renaming"};

typedef struct {
  FarmTest    t;
  const char *journal;
  Obstacle    obstacle;
  PetscInt    at; /* the task, or -1 */
} Blocked;

static PetscReal first[TEST_N], firstown[TEST_TASKS];

static PetscErrorCode GetPath(const Blocked *b, PetscInt group, Obstacle obstacle, size_t n, char path[])
{
  PetscFunctionBeginUser;
  PetscCall(
    PetscSNPrintf(path, n, "%s.%016llx.0-1.%" PetscInt_FMT "%s", b->journal, (unsigned long long)b->t.job.hash, group, obstacle == RENAMING ? "" : ".new"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The obstacle is in the way of the group that does the task */
static PetscErrorCode Put(const Blocked *b)
{
  char path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(GetPath(b, b->t.group.number, b->obstacle, sizeof(path), path));
  if (b->obstacle == WRITING) PetscCheck(!symlink("/dev/full", path), PETSC_COMM_SELF, PETSC_ERR_SYS, "No link %s", path);
  else {
    if (b->obstacle == RENAMING) (void)unlink(path);
    PetscCheck(!mkdir(path, 0700), PETSC_COMM_SELF, PETSC_ERR_SYS, "No folder %s", path);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Run(void *ctx, PetscInt n, const PetscInt task[], PetscInt attempt, PetscReal *const sum[], PetscReal *const piece[], PetscBool failed[])
{
  Blocked *b = (Blocked *)ctx;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) {
    if (task[k] == b->at && !b->t.group.rank) PetscCall(Put(b));
  }
  PetscCall(FarmTestRun(&b->t, n, task, attempt, sum, piece, failed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deliver(void *ctx, PetscInt task, const PetscReal piece[])
{
  PetscFunctionBeginUser;
  PetscCall(FarmTestDeliver(&((Blocked *)ctx)->t, task, piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(LitheFarm farm, const char journal[], Blocked *b)
{
  PetscFunctionBeginUser;
  PetscCall(FarmTestCreate(farm, &b->t));
  b->journal       = journal;
  b->at            = -1;
  b->t.job.run     = Run;
  b->t.job.deliver = Deliver;
  b->t.job.ctx     = b;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the first process: no obstacle of any group, and no new file, is left afterwards */
static PetscErrorCode Clear(const Blocked *b, const char name[])
{
  char        path[PETSC_MAX_PATH_LEN];
  struct stat status;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  for (PetscInt group = 0; group < b->t.group.groups && !rank; group++) {
    for (int k = 0; k < OBSTACLES; k++) {
      PetscCall(GetPath(b, group, (Obstacle)k, sizeof(path), path));
      (void)rmdir(path);
    }
    PetscCall(GetPath(b, group, OPENING, sizeof(path), path));
    if (WRONG(!lstat(path, &status))) FAIL("%s: %s is left", name, path);
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Blocked from a task on, then started again without the obstacle. late: the journal has some tasks before */
static PetscErrorCode TestBlocked(LitheFarmOptions options, Obstacle obstacle, PetscBool late)
{
  LitheFarm              farm;
  Blocked                b;
  const LitheFarmResult *r;
  PetscInt               tried = 0;
  char                   name[64];

  PetscFunctionBeginUser;
  PetscCall(
    PetscSNPrintf(name, sizeof(name), "%s, groups of %d%s%s", names[obstacle], (int)options.size, options.fixed ? ", fixed" : "", late ? ", late" : ""));
  options.keep = late; /* a last writing is certain */
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  PetscCall(Create(farm, options.journal, &b));
  b.obstacle = obstacle;
  b.at       = late ? 3 : 2; /* 2 is the first task, since its cost is the highest */
  b.t.delay  = b.t.group.groups > 1 && !late && !options.fixed ? (PetscReal)0.03 : 0;
  if (obstacle == WRITING) TEST_REFUSED(name, LitheFarmRun(farm, &b.t.job), "/journal.", "cannot be written: ", "disk full");
  else TEST_REFUSED(name, LitheFarmRun(farm, &b.t.job), "/journal.", "cannot be written: ", "irectory");
  PetscCall(LitheFarmGetResult(farm, &r));
  if (WRONG(!r->refused)) FAIL("%s: not refused", name);
  for (PetscInt k = 0; k < TEST_TASKS && !b.t.group.rank; k++) tried += b.t.tried[k];
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &tried, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  /* in batches four groups have most tasks at once */
  if (WRONG(!late && b.t.job.batch < 2 && !(options.fixed && b.t.group.groups > 1) && tried > TEST_TASKS / 2)) FAIL("%s: %d tasks were done", name, (int)tried);
  PetscCall(Clear(&b, name));
  PetscCall(FarmTestDestroy(&b.t));
  PetscCall(LitheFarmDestroy(&farm));
  options.keep = PETSC_FALSE;
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  for (int again = 0; again < (obstacle == WRITING ? 2 : 1); again++) {
    PetscCall(Create(farm, options.journal, &b));
    PetscCall(LitheFarmRun(farm, &b.t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (WRONG(r->refused || !r->complete || r->nfailed || (again && r->found))) FAIL("%s: not complete", name);
    PetscCall(FarmTestCompare(name, farm, &b.t, first, firstown));
    PetscCall(FarmTestDestroy(&b.t));
  }
  PetscCall(LitheFarmDestroy(&farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Journals of an earlier run, whose sum cannot be written, and one that cannot be read */
static PetscErrorCode TestFound(LitheFarmOptions options)
{
  LitheFarm              farm;
  Blocked                b;
  const LitheFarmResult *r;
  char                   path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  options.keep = PETSC_TRUE;
  options.size = 1;
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  for (int k = 0; k < 4; k++) {
    PetscCall(Create(farm, options.journal, &b));
    PetscCall(GetPath(&b, k == 1 ? 0 : 7, k == 1 ? OPENING : RENAMING, sizeof(path), path));
    if ((k == 1 || k == 2) && !rank) PetscCheck(!mkdir(path, 0700), PETSC_COMM_SELF, PETSC_ERR_SYS, "No folder %s", path);
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    if (k == 1) TEST_REFUSED("a sum", LitheFarmRun(farm, &b.t.job), "/journal.", "cannot be written");
    else if (k == 2) TEST_REFUSED("a folder", LitheFarmRun(farm, &b.t.job), "/journal", "cannot", "read");
    else PetscCall(LitheFarmRun(farm, &b.t.job));
    PetscCall(LitheFarmGetResult(farm, &r));
    if (WRONG(r->refused != (PetscBool)(k == 1 || k == 2))) FAIL("run %d: refused", k);
    if (WRONG(k == 3 && r->found != TEST_TASKS)) FAIL("%d tasks found after a refusal", (int)r->found);
    if (k == 0 || k == 3) PetscCall(k ? FarmTestCompare("found", farm, &b.t, first, firstown) : FarmTestGet(farm, &b.t, first, firstown));
    PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
    if ((k == 1 || k == 2) && !rank) (void)rmdir(path);
    PetscCall(FarmTestDestroy(&b.t));
  }
  PetscCall(LitheFarmDestroy(&farm));
  /* and away */
  options.keep = PETSC_FALSE;
  PetscCall(LitheFarmCreate(PETSC_COMM_WORLD, &options, &farm));
  PetscCall(Create(farm, options.journal, &b));
  PetscCall(LitheFarmRun(farm, &b.t.job));
  PetscCall(Clear(&b, "found"));
  PetscCall(FarmTestDestroy(&b.t));
  PetscCall(LitheFarmDestroy(&farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  LitheFarmOptions options = {.size = 1};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FarmTestFolderCreate(&options));
  PetscCall(TestFound(options));
  for (options.size = 1; options.size <= PetscMin(size, 2); options.size++) {
    for (int k = 0; k < OBSTACLES; k++) {
      PetscCall(TestBlocked(options, (Obstacle)k, PETSC_FALSE));
      PetscCall(TestBlocked(options, (Obstacle)k, PETSC_TRUE));
    }
    options.fixed = PETSC_TRUE;
    PetscCall(TestBlocked(options, WRITING, PETSC_FALSE));
    options.fixed = PETSC_FALSE;
  }
  PetscCall(FarmTestFolderRemove(&options));
  if (count != 2 + (2 * OBSTACLES + 1) * PetscMin(size, 2)) FAIL("%d refusals", (int)count);
  return TestEnd(50, "journals that cannot be written are refused\n");
}

/*TEST

  test:
    nsize: {{1 2 4}}
    args: -batch {{0 3}}
    output_file: output/unwritable.out

TEST*/
