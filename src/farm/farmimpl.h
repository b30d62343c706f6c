/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/sums.h>
#include <petsc/private/petscimpl.h>

#define FARM_SETS 4096 /* at most */

/* In a window of the first process */
typedef struct {
  int64_t ticket, done, opened;
  double  cost, amount;   /* of finished tasks */
  double  tried;          /* cost of finished and failed tasks */
  int64_t set[FARM_SETS]; /* tickets per set */
} FarmCounters;           /* owner: counters.c */

/*
   Only the files named as owners of a struct assign its members; all other files read them, or call a function of the
   owner. make check-structure tests both this and the number of fields
*/

/* Results of a run, for each task */
typedef struct {
  unsigned char   *state; /* the kind of group of each task in the sums, else 0 */
  PetscReal      **piece; /* kept for the journal, on the first process of a group; NULL without a journal */
  LitheFarmRecord *record;
  PetscInt        *failed;
} FarmRecords; /* owner: farm.c, journal.c */

/* Room for tasks at once */
typedef struct {
  PetscInt    size; /* tasks, at most */
  PetscReal **work; /* [size] sums of tasks under way, own numbers, and failures */
  PetscReal **own;
  PetscBool  *bad;
  PetscInt   *next; /* [size + 2] of this group: see FarmRound() */
} FarmBatch;        /* owner: farm.c */

/* How fast a run goes, for the choice of tasks and for progress */
typedef struct {
  double    begin;        /* of the run */
  double    spoken;       /* last line of progress */
  double    total;        /* cost of all tasks of this run */
  PetscInt  todo;         /* tasks of this run */
  PetscBool unlike, slow; /* some groups are slow, others not; this group is one of the slow ones */
  PetscInt  fast;         /* groups that are not slow */
  double    ran, did;     /* seconds and cost of this group's tasks */
} FarmPace;               /* owner: farm.c */

typedef struct {
  double    wrote; /* time of the last journal, and seconds spent on the journal */
  double    writing;
  PetscInt  fresh;                           /* tasks that are not in the journal yet */
  char      trouble[2 * PETSC_MAX_PATH_LEN]; /* why this process cannot read or write a journal; empty: nothing */
  PetscBool broken;                          /* this group cannot write its journal, on all its processes */
  PetscBool refused;                         /* an error, which all processes get */
} FarmJournal;                               /* owner: journal.c */

struct _n_LitheFarm {
  LitheFarmOptions options;
  LitheFarmGroup   group;
  MPI_Comm         comm;
  PetscMPIInt      rank; /* in comm */
  PetscSubcomm     subcomm;
  MPI_Win          window; /* of the counters; MPI_WIN_NULL with one group */
  FarmCounters    *counters;

  /* of a run */
  const LitheFarmJob *job;
  LitheSums           sums;
  FarmRecords         task;
  FarmBatch           batch;
  FarmPace            pace;
  FarmJournal         journal;
  LitheFarmResult     result;
};

static inline double FarmCost(const LitheFarmJob *job, PetscInt task)
{
  return job->cost ? (double)job->cost[task] : 1;
}

/* counters.c: on the first process of a group; counter: a place in FarmCounters */
PETSC_INTERN PetscErrorCode FarmCount(LitheFarm, size_t counter, int64_t *before);
PETSC_INTERN PetscErrorCode FarmCountMore(LitheFarm, size_t counter, double more, double *after);
PETSC_INTERN PetscErrorCode FarmReadSets(LitheFarm, PetscInt, int64_t taken[]);
PETSC_INTERN PetscErrorCode FarmStop(LitheFarm);
/* Collective on all */
PETSC_INTERN PetscErrorCode FarmCountersReset(LitheFarm);

/*
   The order of the open tasks, set by set, in batches. begin[n + 1]: the first tasks of batches, places in todo;
   first[nsets + 1]: the first batches of sets
*/
typedef struct {
  PetscInt        n, nsets, *first, *begin, batch; /* batch: tasks of a batch at most */
  const PetscInt *todo, *owner;                    /* of the tasks; NULL: whoever comes first */
  double         *setup;
  PetscInt        set, at; /* of this group: the current set, or -1; the next batch, or the next task with fixed shares */
} FarmQueue;               /* owner: queue.c */

/*
   queue.c: of the tasks todo[n], which are sorted; owner[n]: the group of each, which a caller may set later, or NULL
*/
PETSC_INTERN PetscErrorCode FarmQueueCreate(LitheFarm, PetscInt n, PetscInt todo[], const PetscInt owner[], PetscInt batch, FarmQueue *);
PETSC_INTERN PetscErrorCode FarmQueueDestroy(FarmQueue *);
/* Fixed shares of groups, for queue->owner */
PETSC_INTERN PetscErrorCode FarmShareOut(LitheFarm, PetscInt n, const PetscInt todo[], PetscInt owner[]);
/* On the first process of a group: the next tasks, or none */
PETSC_INTERN PetscErrorCode FarmNext(LitheFarm, FarmQueue *, PetscInt *n, PetscInt task[]);

/* journal.c: results of earlier runs, into the sums and states of the first group; known[ntasks], on all processes */
PETSC_INTERN PetscErrorCode FarmJournalRead(LitheFarm, PetscBool known[]);
/* A run begins; a task is done */
PETSC_INTERN void FarmJournalReset(FarmJournal *);
PETSC_INTERN void FarmJournalNote(FarmJournal *);
/*
   Results of this group; collective on the group. A failure is noted in trouble and broken; an earlier file stays as it
   is
*/
PETSC_INTERN PetscErrorCode FarmJournalWrite(LitheFarm);
/* An error on all processes if a group could not write; collective on all */
PETSC_INTERN PetscErrorCode FarmJournalAgree(LitheFarm);
/* After the end of a run: collective on all */
PETSC_INTERN PetscErrorCode FarmJournalRemove(LitheFarm);
