/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   A farm: many tasks that do not depend on one another, over groups of processes; docs/guide/farm.md.

     LitheFarmOptionsRead(...)               group size, journal and others from the options database
     LitheFarmCreate(comm, &options, &farm)  groups
     LitheFarmGetGroup(farm, &group)         what a task may use
     LitheFarmRun(farm, &job)                each task once, by the group that is free
     LitheFarmGetSums(farm, &sums)           what the tasks of this group add up to: LitheSumsReduce() has the total
     LitheFarmGetResult(farm, &result)       what failed, who did what when

   A task gives two kinds of results: numbers that are added over all tasks (an image), and numbers of its own (the data of a shot).
   Sums are the same bits for any number of groups, any order, and after any restart, as long as tasks give the same bits wherever
   they run: sums.h.
*/

#include <lithe/private/sums.h>

typedef struct _n_LitheFarm *LitheFarm;

typedef struct {
  PetscInt  size;                        /* processes of a group, at least */
  PetscBool fixed;                       /* tasks are shared out by their cost before they begin, not taken by groups that are free */
  PetscInt  slice, slices;               /* only each slices-th task, from number slice on: for several jobs, which leave journals */
  char      journal[PETSC_MAX_PATH_LEN]; /* begins the names of files; empty: none */
  PetscBool keep;                        /* journals stay when all tasks are done */
  PetscBool only;                        /* nothing is done: the result is what journals have, which are left as they are */
  PetscBool progress;                    /* lines on standard output */
} LitheFarmOptions;

typedef struct {
  MPI_Comm    comm;
  PetscInt    number, groups;
  PetscMPIInt rank, size; /* in the group */
} LitheFarmGroup;

/*
   What is to be done, the same on all processes but for n, first, kind and ctx. run() is called by all processes of a group: sum[n]
   is zero, and what is written to it is added. piece[] is there on the first process of the group only. A task that sets *failed, on any of
   them, or that writes numbers that are not finite, leaves nothing.

   Tasks of one set share a preparation, a preconditioner say: a group that has begun a set keeps it until no task is left there. The set
   of the highest cost begins first. A group without a set helps with another one where that is worth its preparation.
*/
typedef struct {
  const char      *what; /* is a task, in messages: "shot" */
  PetscInt         ntasks;
  PetscInt         nsets;    /* 0: tasks share nothing */
  const PetscInt  *set;      /* [ntasks] */
  const PetscReal *setup;    /* [nsets] time of a preparation, in the unit of cost; NULL: none */
  const char      *unit;     /* of what progress counts a second: "solves"; NULL: nothing */
  const PetscReal *amount;   /* [ntasks] of them */
  const PetscReal *cost;     /* [ntasks] the time of a task in any unit; NULL: all the same */
  PetscInt         attempts; /* of a task that fails; each by another group, where there is one */
  uint64_t         hash;     /* of all that results depend on: LitheFarmHash() */
  unsigned char    kind;     /* of this group, noted in the journal: 1 for the host, others for other machines */
  PetscInt64       N, first; /* numbers that are added: in all, and the first of this process. They ascend with the process of a group */
  PetscInt         n;
  PetscMemType     memory; /* where run() has sum[] */
  const PetscInt  *pieces; /* [ntasks] numbers of a task's own; NULL: none */
  PetscErrorCode (*run)(void *ctx, PetscInt task, PetscInt attempt, PetscReal sum[], PetscReal piece[], PetscBool *failed);
  PetscErrorCode (*deliver)(void *ctx, PetscInt task, const PetscReal piece[]); /* on the first process of a group, also of what a journal has */
  void *ctx;
} LitheFarmJob;

/* Of one task. group < 0: it was not done in this run */
typedef struct {
  PetscReal     begin, end; /* seconds since the run began */
  PetscInt      group, attempt;
  unsigned char kind; /* of the group that did it, also in an earlier run; 0: it is not done */
} LitheFarmRecord;

typedef struct {
  PetscInt               ntasks, done, found, nfailed; /* found: done before, by the journal */
  PetscBool              complete;                     /* all tasks are in the sums; not so for slices and where tasks have failed */
  const PetscInt        *failed;                       /* [nfailed] */
  const LitheFarmRecord *record;                       /* [ntasks] */
  PetscReal              seconds, busy;                /* busy: share of the groups' time in which they had a task */
} LitheFarmResult;

/* A number, and where it belongs, as a part of a hash: parts are added, in any order */
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

/* stem: "-mat_born_", begins the names of options. Exported for tests, as all of these are */
PETSC_EXTERN PetscErrorCode LitheFarmOptionsRead(PetscOptionItems, const char stem[], LitheFarmOptions *);
/* Slices of the tasks, for programs whose result may be a part: "-task_slice 2/8", "-journal_only" */
PETSC_EXTERN PetscErrorCode LitheFarmOptionsReadSlice(PetscOptionItems, const char stem[], LitheFarmOptions *);
PETSC_EXTERN PetscErrorCode LitheFarmCreate(MPI_Comm, const LitheFarmOptions *, LitheFarm *);
PETSC_EXTERN PetscErrorCode LitheFarmGetGroup(LitheFarm, LitheFarmGroup *);
/* Tasks that fail finally do not end it: see LitheFarmGetResult() */
PETSC_EXTERN PetscErrorCode LitheFarmRun(LitheFarm, const LitheFarmJob *);
/* Of this process, of the last run; belongs to the farm */
PETSC_EXTERN PetscErrorCode LitheFarmGetSums(LitheFarm, LitheSums *);
PETSC_EXTERN PetscErrorCode LitheFarmGetResult(LitheFarm, const LitheFarmResult **);
/* Lets other processes reach the counter of tasks; called now and then by tasks that are long */
PETSC_EXTERN PetscErrorCode LitheFarmPoke(LitheFarm);
PETSC_EXTERN PetscErrorCode LitheFarmDestroy(LitheFarm *);
