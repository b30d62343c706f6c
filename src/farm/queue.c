/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Which tasks a group does next: batches in the order of their costs, whole sets if possible, and what slow groups
   leave alone
*/

#include "farmimpl.h"
#include <stddef.h>

typedef struct {
  double   setcost, cost;
  PetscInt set, task;
} FarmEntry;

static int FarmLonger(const void *x, const void *y)
{
  const FarmEntry *a = (const FarmEntry *)x, *b = (const FarmEntry *)y;

  if (a->setcost != b->setcost) return a->setcost > b->setcost ? -1 : 1;
  if (a->set != b->set) return a->set < b->set ? -1 : 1;
  if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
  return a->task < b->task ? -1 : a->task > b->task;
}

/* Batches of the tasks from..to-1: whole ones as long as each group gets one, then one smaller batch for each group */
static void FarmCut(LitheFarm f, PetscInt from, PetscInt to, FarmQueue *q)
{
  const PetscInt groups = f->group.groups;

  while (from < to) {
    const PetscInt left = to - from, size = PetscMin(q->batch, (left + groups - 1) / groups);

    for (PetscInt g = groups; g > 0 && from < to; g--) {
      q->begin[q->n++] = from;
      from += PetscMin(size, (to - from + g - 1) / g);
    }
  }
  q->begin[q->n] = to;
}

static double FarmBatchCost(LitheFarm f, const FarmQueue *q, PetscInt batch)
{
  double cost = 0;

  for (PetscInt k = q->begin[batch]; k < q->begin[batch + 1]; k++) cost += FarmCost(f->job, q->todo[k]);
  return cost;
}

/*
   The set of the highest cost comes first; in each set the longest tasks come first, and equal tasks keep their order
*/
PetscErrorCode FarmQueueCreate(LitheFarm f, PetscInt n, PetscInt todo[], const PetscInt owner[], PetscInt batch, FarmQueue *queue)
{
  const LitheFarmJob *job = f->job;
  double             *cost;
  FarmEntry          *entry;

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(n, &entry, job->nsets, &cost));
  for (PetscInt k = 0; k < n && job->nsets; k++) cost[job->set[todo[k]]] += FarmCost(job, todo[k]);
  for (PetscInt k = 0; k < n; k++) {
    entry[k] = (FarmEntry){0, FarmCost(job, todo[k]), 0, todo[k]};
    if (!job->nsets) continue;
    entry[k].set     = job->set[todo[k]];
    entry[k].setcost = cost[entry[k].set];
  }
  qsort(entry, (size_t)n, sizeof(*entry), FarmLonger);
  *queue = (FarmQueue){.batch = batch, .todo = todo, .owner = owner, .set = -1};
  PetscCall(PetscCalloc3(job->nsets + 1, &queue->first, job->nsets + 1, &queue->setup, n + 1, &queue->begin));
  for (PetscInt k = 0, to; k < n; k = to) {
    for (to = k; to < n && entry[to].set == entry[k].set; to++) todo[to] = entry[to].task;
    if (job->nsets) {
      queue->first[queue->nsets] = queue->n;
      if (job->setup) queue->setup[queue->nsets] = (double)job->setup[entry[k].set];
      queue->nsets++;
    }
    FarmCut(f, k, to, queue);
  }
  queue->first[queue->nsets] = queue->n;
  PetscCall(PetscFree2(entry, cost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode FarmQueueDestroy(FarmQueue *queue)
{
  PetscFunctionBegin;
  PetscCall(PetscFree3(queue->first, queue->setup, queue->begin));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each task goes to the group with the least work so far; a group gets neighbouring tasks of a set */
PetscErrorCode FarmShareOut(LitheFarm f, PetscInt n, const PetscInt todo[], PetscInt owner[])
{
  double *load, sum = 0;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(f->group.groups, &load));
  for (PetscInt k = 0; k < n; k++) {
    const double cost  = FarmCost(f->job, todo[k]);
    PetscInt     least = 0;

    if (f->job->nsets) owner[k] = PetscMin(f->group.groups - 1, (PetscInt)((double)f->group.groups * (sum + cost / 2) / f->pace.total));
    else {
      for (PetscInt g = 1; g < f->group.groups; g++) least = load[g] < load[least] ? g : least;
      owner[k] = least;
    }
    load[owner[k]] += cost;
    sum += cost;
  }
  PetscCall(PetscFree(load));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Whether a task of this cost would keep the other groups waiting. The time of the task follows from earlier tasks of
   this group, before the first one from the guess and the rate of the other groups. The time of the rest follows from
   the rate of all groups
*/
static PetscErrorCode FarmIsTooSlow(LitheFarm f, double cost, PetscBool *slow)
{
  double tried, elapsed, own;

  PetscFunctionBegin;
  *slow = PETSC_FALSE;
  if (!f->pace.slow || !(f->pace.total > 0)) PetscFunctionReturn(PETSC_SUCCESS);
  for (;;) {
    PetscCall(FarmCountMore(f, offsetof(FarmCounters, tried), 0, &tried));
    if (tried > 0) break;
    PetscCall(PetscSleep((PetscReal)0.001)); /* no rate yet: the first task of a fast group is under way */
    PetscCall(LitheFarmPoke(f));
  }
  elapsed = MPI_Wtime() - f->pace.begin;
  own     = f->pace.did > 0 ? f->pace.ran / f->pace.did : (double)f->job->slow * elapsed * (double)f->pace.fast / tried;
  *slow   = (PetscBool)(cost * own > elapsed * (f->pace.total - tried) / tried);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The set with the most work left, if this group would finish a task before the present groups finish the set; or -1.
   A slow group may leave its set, so others help with each task that is left
*/
static PetscErrorCode FarmFindSet(LitheFarm f, const FarmQueue *q, PetscInt *set)
{
  int64_t *taken;
  double   most = 0;
  /* also tasks that a slow group may leave */
  const PetscBool always = (PetscBool)(f->pace.unlike && !f->pace.slow);

  PetscFunctionBegin;
  *set = -1;
  PetscCall(PetscMalloc1(q->nsets, &taken));
  PetscCall(FarmReadSets(f, q->nsets, taken));
  for (PetscInt s = 0; s < q->nsets; s++) {
    const PetscInt next = q->first[s] + (PetscInt)PetscMin(taken[s], (int64_t)(q->first[s + 1] - q->first[s]));
    double         rest = -q->setup[s];

    if (next == q->first[s + 1]) continue;
    for (PetscInt k = next; k < q->first[s + 1]; k++) rest += FarmBatchCost(f, q, k);
    /* half a batch: the present groups are about halfway through a batch */
    if ((always || rest > FarmBatchCost(f, q, next) / 2) && (*set < 0 || rest > most)) {
      most = rest;
      *set = s;
    }
  }
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The set of the least cost that has tasks left, or -1 */
static PetscErrorCode FarmFindCheapSet(LitheFarm f, const FarmQueue *q, PetscInt *set)
{
  int64_t *taken;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(q->nsets, &taken));
  PetscCall(FarmReadSets(f, q->nsets, taken));
  for (*set = q->nsets - 1; *set >= 0 && taken[*set] >= q->first[*set + 1] - q->first[*set]; --*set) {
  }
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   On the first process of a group: the next batch, or n. The group's set comes first, then a set that no group has
   begun, then a set that needs help
*/
static PetscErrorCode FarmNextOfSets(LitheFarm f, FarmQueue *q, PetscInt *batch)
{
  int64_t   ticket;
  PetscBool slow;

  PetscFunctionBegin;
  *batch = q->n;
  for (;;) {
    if (q->set >= 0) {
      PetscCall(FarmIsTooSlow(f, FarmBatchCost(f, q, q->first[q->set]), &slow));
      if (slow) break;
      PetscCall(FarmCount(f, offsetof(FarmCounters, set) + sizeof(int64_t) * (size_t)q->set, &ticket));
      if (ticket < q->first[q->set + 1] - q->first[q->set]) {
        *batch = q->first[q->set] + (PetscInt)ticket;
        break;
      }
    }
    if (f->pace.slow) {
      PetscCall(FarmFindCheapSet(f, q, &q->set));
      if (q->set < 0) break;
      continue;
    }
    PetscCall(FarmCount(f, offsetof(FarmCounters, opened), &ticket));
    if (ticket < q->nsets) q->set = (PetscInt)ticket;
    else PetscCall(FarmFindSet(f, q, &q->set));
    if (q->set < 0) break;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same of all tasks */
static PetscErrorCode FarmNextOfAll(LitheFarm f, FarmQueue *q, PetscInt *batch)
{
  int64_t   ticket = q->n;
  PetscBool slow   = PETSC_FALSE;

  PetscFunctionBegin;
  if (q->n) PetscCall(FarmIsTooSlow(f, FarmBatchCost(f, q, PetscMin(q->at, q->n - 1)), &slow));
  if (!slow) PetscCall(FarmCount(f, offsetof(FarmCounters, ticket), &ticket));
  *batch = (PetscInt)PetscMin(ticket, (int64_t)q->n);
  q->at  = *batch + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next tasks of this group, of one set, with fixed shares */
static void FarmNextOfShare(LitheFarm f, FarmQueue *q, PetscInt *n, PetscInt task[])
{
  const PetscInt *set = f->job->nsets ? f->job->set : NULL;

  for (; q->at < q->begin[q->n] && *n < q->batch; q->at++) {
    if (q->owner[q->at] != f->group.number) continue;
    if (*n && set && set[q->todo[q->at]] != set[task[0]]) break;
    task[(*n)++] = q->todo[q->at];
  }
}

/* On the first process of a group: the next tasks, or none */
PetscErrorCode FarmNext(LitheFarm f, FarmQueue *q, PetscInt *n, PetscInt task[])
{
  PetscInt batch = q->n;

  PetscFunctionBegin;
  *n = 0;
  if (q->owner) {
    FarmNextOfShare(f, q, n, task);
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (q->nsets) PetscCall(FarmNextOfSets(f, q, &batch));
  else PetscCall(FarmNextOfAll(f, q, &batch));
  if (batch == q->n) PetscFunctionReturn(PETSC_SUCCESS);
  *n = q->begin[batch + 1] - q->begin[batch];
  PetscCall(PetscArraycpy(task, q->todo + q->begin[batch], *n));
  PetscFunctionReturn(PETSC_SUCCESS);
}
