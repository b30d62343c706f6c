/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* SUBMANSEC = Sys */

#include <lithesys.h>
#include <petscsf.h>
#include <stdint.h>
#include <string.h>

/*S
  LitheFarm - many independent tasks over groups of processes

  Level: intermediate

  Note:
  A task has two kinds of results: numbers added over all tasks (an image), and own numbers (the data of a shot). Sums
  have the same bits for any number of groups, any order, and after any restart, if each task gives the same bits on any
  group.

  Example Usage:
.vb
  LitheFarmOptionsRead(PetscOptionsObject, "-my_", &options);
  LitheFarmCreate(comm, &options, &farm);
  LitheFarmGetGroup(farm, &group);
  LitheFarmRun(farm, &job);
  LitheFarmGetSums(farm, &sums);
  LitheSumsReduce(sums, sf, image);
  LitheFarmGetResult(farm, &result);
  LitheFarmDestroy(&farm);
.ve

.seealso: `LitheFarmCreate()`, `LitheFarmRun()`, `LitheFarmJob`, `LitheSums`, `LitheFarmGetResult()`
S*/
typedef struct _n_LitheFarm *LitheFarm;

/*S
  LitheSums - sums with the same bits for any order and any grouping of their terms

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmGetSums()`, `LitheSumsReduce()`
S*/
typedef struct _n_LitheSums *LitheSums;

/*S
  LitheFarmOptions - groups and journals of a `LitheFarm`

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmOptionsRead()`, `LitheFarmCreate()`
S*/
typedef struct {
  PetscInt  size;                        /* processes of a group, at least */
  PetscBool fixed;                       /* tasks are shared out by cost before the run, not taken by free groups */
  PetscInt  slice, slices;               /* only each slices-th task, from number slice on: for several jobs with journals */
  char      journal[PETSC_MAX_PATH_LEN]; /* begins the names of files; empty: none */
  PetscBool keep;                        /* journals stay when all tasks are done */
  PetscBool only;                        /* no task is run: the result comes from the journals, which stay unchanged */
  PetscBool progress;                    /* lines on standard output */
} LitheFarmOptions;

/*S
  LitheFarmGroup - the group of a process in a `LitheFarm`

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmGetGroup()`
S*/
typedef struct {
  MPI_Comm    comm;
  PetscInt    number, groups;
  PetscMPIInt rank, size; /* in the group */
} LitheFarmGroup;

/*S
  LitheFarmJob - the tasks of a `LitheFarm`, and the function that does them

  Level: intermediate

  Notes:
  A job is the same on all processes except `n`, `first`, `kind`, `slow` and `ctx`.

  All processes of a group call `run()`, with some tasks at once: `batch` at most, of one set, and one task alone after
  a failure. Towards the end groups get fewer tasks at once, so no group waits long for the others. Results must not
  depend on the company of a task.

  At first `sum`[k][`n`] of `task`[k] is zero; written numbers are added. `piece`[k][] exists on the first process of
  the group only, and is `NULL` elsewhere. A task contributes nothing if a process sets `failed`[k] or writes a number
  that is not finite. The other tasks of the batch count.

  Tasks of one set share a preparation, for example a preconditioner. A group keeps its set until all tasks of the set
  have begun. The set of the highest cost begins first. A group without a set helps with another set if the gain is
  worth the preparation. A slow group begins with the set of the least cost, when another group has done a task. It ends
  before a task that would keep the others waiting, by the time of its own tasks, and before its first task by the
  guess.

.seealso: `LitheFarm`, `LitheFarmRun()`, `LitheFarmHash()`
S*/
typedef struct {
  const char      *what; /* a task in messages: "shot" */
  PetscInt         ntasks;
  PetscInt         nsets;    /* 0: tasks share nothing */
  const PetscInt  *set;      /* [ntasks] */
  const PetscReal *setup;    /* [nsets] time of a preparation, in the unit of cost; NULL: none */
  const char      *unit;     /* progress counts these per second: "solves"; NULL: nothing */
  const PetscReal *amount;   /* [ntasks] of them */
  const PetscReal *cost;     /* [ntasks] the time of a task in any unit; NULL: all the same */
  PetscInt         batch;    /* tasks that run() gets at once, at most; 0: 1 */
  PetscInt         attempts; /* of a failed task; each by another group if possible */
  uint64_t         hash;     /* of all inputs of the results: LitheFarmHash() */
  unsigned char    kind;     /* of this group, noted in the journal: 1 for the host, other numbers for other machines */
  PetscReal        slow;     /* > 0: this group is slower than others, about so many times: see above. Ignored if all groups are, and with fixed shares */
  PetscInt64       N, first; /* added numbers: in all, and the first of this process, ascending with the rank in a group */
  PetscInt         n;
  PetscMemType     memory; /* where run() has sum[] */
  const PetscInt  *pieces; /* [ntasks] number of own numbers; NULL: none */
  PetscErrorCode (*run)(void *ctx, PetscInt n, const PetscInt task[], PetscInt attempt, PetscReal *const sum[], PetscReal *const piece[], PetscBool failed[]);
  PetscErrorCode (*deliver)(void *ctx, PetscInt task, const PetscReal piece[]); /* on the first process of a group, also for tasks of a journal */
  void *ctx;
} LitheFarmJob;

/*S
  LitheFarmRecord - when and where a task of a `LitheFarm` was done

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmResult`
S*/
typedef struct {
  PetscReal     begin, end;     /* seconds since the run began; tasks that run together share their time by their costs */
  PetscInt      group, attempt; /* group < 0: not done in this run */
  unsigned char kind;           /* of the group of the task, also in an earlier run; 0: not done */
} LitheFarmRecord;

/*S
  LitheFarmResult - what a run of a `LitheFarm` has done

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmGetResult()`, `LitheFarmRecord`
S*/
typedef struct {
  PetscInt               ntasks, done, found, nfailed; /* found: done before, by the journal */
  PetscBool              complete;                     /* all tasks are in the sums; false for slices and after failures */
  PetscBool              refused;                      /* an error of journals, which all processes get; no other result */
  const PetscInt        *failed;                       /* [nfailed] */
  const LitheFarmRecord *record;                       /* [ntasks] */
  PetscReal              seconds, busy;                /* busy: share of the groups' time in which they had a task */
} LitheFarmResult;

/* A number with its place, as a part of a hash of the inputs of a job: parts are added, in any order */
static inline uint64_t LitheFarmHash(uint64_t place, uint64_t number)
{
  uint64_t x = number + UINT64_C(0x9e3779b97f4a7c15) * (place + 1);

  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
  x ^= x >> 31;
  x += UINT64_C(0x9e3779b97f4a7c15) * (place ^ (place << 21));
  x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  return x ^ (x >> 31);
}

static inline uint64_t LitheFarmHashReal(uint64_t place, PetscReal number)
{
  const double value = (double)number + 0; /* no -0 */
  uint64_t     bits;

  memcpy(&bits, &value, sizeof(bits));
  return LitheFarmHash(place, bits);
}

PETSC_EXTERN PetscErrorCode LitheFarmOptionsRead(PetscOptionItems, const char[], LitheFarmOptions *);
PETSC_EXTERN PetscErrorCode LitheFarmOptionsReadSlice(PetscOptionItems, const char[], LitheFarmOptions *);
PETSC_EXTERN PetscErrorCode LitheFarmCreate(MPI_Comm, const LitheFarmOptions *, LitheFarm *);
PETSC_EXTERN PetscErrorCode LitheFarmGetGroup(LitheFarm, LitheFarmGroup *);
PETSC_EXTERN PetscErrorCode LitheFarmRun(LitheFarm, const LitheFarmJob *);
PETSC_EXTERN PetscErrorCode LitheFarmGetSums(LitheFarm, LitheSums *);
PETSC_EXTERN PetscErrorCode LitheFarmGetResult(LitheFarm, const LitheFarmResult **);
PETSC_EXTERN PetscErrorCode LitheFarmPoke(LitheFarm);
PETSC_EXTERN PetscErrorCode LitheFarmDestroy(LitheFarm *);

PETSC_EXTERN PetscErrorCode LitheSumsReduce(LitheSums, PetscSF, PetscReal[]);
