/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Tasks over groups of processes. A free group takes the next batch from a queue. docs/guide/farm.md */

#include "farmimpl.h"
#include <stddef.h>

/* ------------------------------------------------------------ options and groups */

/*@
  LitheFarmOptionsRead - Reads the options of a `LitheFarm` from the options database

  Collective

  Input Parameters:
+ PetscOptionsObject - the options object, between `PetscOptionsBegin()` and `PetscOptionsEnd()`
- stem               - begins the names of the options, for example "-mat_born_"

  Input/Output Parameter:
. o - the options; members without an option stay

  Level: intermediate

  Note:
  The names end in `group_size`, `journal`, `journal_keep`, `progress` and `fixed`.

.seealso: `LitheFarm`, `LitheFarmOptions`, `LitheFarmOptionsReadSlice()`, `LitheFarmCreate()`
@*/
PetscErrorCode LitheFarmOptionsRead(PetscOptionItems PetscOptionsObject, const char stem[], LitheFarmOptions *o)
{
  char name[5][64];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name[0], sizeof(name[0]), "%sgroup_size", stem));
  PetscCall(PetscSNPrintf(name[1], sizeof(name[1]), "%sjournal", stem));
  PetscCall(PetscSNPrintf(name[2], sizeof(name[2]), "%sjournal_keep", stem));
  PetscCall(PetscSNPrintf(name[3], sizeof(name[3]), "%sprogress", stem));
  PetscCall(PetscSNPrintf(name[4], sizeof(name[4]), "%sfixed", stem));
  PetscCall(PetscOptionsInt(name[0], "Processes per group; a group shares a task", NULL, o->size, &o->size, NULL));
  PetscCall(
    PetscOptionsString(name[1], "Begin of the names of journals, from which a killed run continues", NULL, o->journal, o->journal, sizeof(o->journal), NULL));
  PetscCall(PetscOptionsBool(name[2], "Whether journals stay after the last task", NULL, o->keep, &o->keep, NULL));
  PetscCall(PetscOptionsBool(name[3], "Whether to print finished tasks and the time left", NULL, o->progress, &o->progress, NULL));
  PetscCall(PetscOptionsBool(name[4], "Whether tasks are distributed by cost beforehand, not taken by free groups", NULL, o->fixed, &o->fixed, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmOptionsReadSlice - Reads the options of a `LitheFarm` for a slice of the tasks

  Collective

  Input Parameters:
+ PetscOptionsObject - the options object, between `PetscOptionsBegin()` and `PetscOptionsEnd()`
- stem               - begins the names of the options

  Input/Output Parameter:
. o - the options; members without an option stay

  Level: intermediate

  Note:
  For programs with partial results: the names end in `task_slice`, with a value such as 2/8, and in `journal_only`.

.seealso: `LitheFarm`, `LitheFarmOptions`, `LitheFarmOptionsRead()`, `LitheFarmCreate()`
@*/
PetscErrorCode LitheFarmOptionsReadSlice(PetscOptionItems PetscOptionsObject, const char stem[], LitheFarmOptions *o)
{
  char      name[2][64], slice[64] = "", rest;
  long long part, parts;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(name[0], sizeof(name[0]), "%stask_slice", stem));
  PetscCall(PetscSNPrintf(name[1], sizeof(name[1]), "%sjournal_only", stem));
  PetscCall(PetscOptionsString(name[0], "i/n: only each n-th task, from i on, which counts from 0", NULL, slice, slice, sizeof(slice), &set));
  PetscCall(PetscOptionsBool(name[1], "Whether to add up the journals of all slices, and to do no task", NULL, o->only, &o->only, NULL));
  if (set) {
    PetscCheck(sscanf(slice, "%lld/%lld%c", &part, &parts, &rest) == 2 && parts > 0 && parts < PETSC_INT_MAX && part >= 0 && part < parts, PETSC_COMM_SELF,
               PETSC_ERR_USER_INPUT, "%s %s: the number of a slice, counted from 0, and how many there are: 2/8", name[0], slice);
    o->slice  = (PetscInt)part;
    o->slices = (PetscInt)parts;
  }
  PetscCheck(!o->only || (o->journal[0] && o->slices < 2), PETSC_COMM_SELF, PETSC_ERR_USER_INPUT,
             "%s adds up journals of all slices: name one with %sjournal, and no slice", name[1], stem);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmCreate - Splits a communicator into the groups of a `LitheFarm`

  Collective

  Input Parameters:
+ comm    - the communicator
- options - the options

  Output Parameter:
. farm - the farm; free it with `LitheFarmDestroy()`

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmOptions`, `LitheFarmGetGroup()`, `LitheFarmRun()`, `LitheFarmDestroy()`
@*/
PetscErrorCode LitheFarmCreate(MPI_Comm comm, const LitheFarmOptions *options, LitheFarm *farm)
{
  PetscMPIInt size;
  LitheFarm   f;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCheck(options->size >= 1 && options->size <= size, comm, PETSC_ERR_ARG_OUTOFRANGE, "Groups of %" PetscInt_FMT " processes, of %d in all", options->size,
             size);
  PetscCheck(options->slices < 2 || (options->slice >= 0 && options->slice < options->slices), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Slice %" PetscInt_FMT " of %" PetscInt_FMT ": they are counted from 0", options->slice, options->slices);
  PetscCheck(options->slices < 2 || options->journal[0], comm, PETSC_ERR_ARG_INCOMP, "What a slice of the tasks gives is kept in a journal; name one");
  PetscCall(PetscNew(&f));
  f->options = *options;
  f->window  = MPI_WIN_NULL;
  PetscCall(PetscCommDuplicate(comm, &f->comm, NULL));
  PetscCallMPI(MPI_Comm_rank(f->comm, &f->rank));
  PetscCall(PetscSubcommCreate(f->comm, &f->subcomm));
  PetscCall(PetscSubcommSetNumber(f->subcomm, size / (PetscMPIInt)options->size));
  PetscCall(PetscSubcommSetType(f->subcomm, PETSC_SUBCOMM_CONTIGUOUS));
  f->group.comm   = PetscSubcommChild(f->subcomm);
  f->group.number = f->subcomm->color;
  f->group.groups = f->subcomm->n;
  PetscCallMPI(MPI_Comm_rank(f->group.comm, &f->group.rank));
  PetscCallMPI(MPI_Comm_size(f->group.comm, &f->group.size));
  if (f->group.groups > 1 && !options->fixed) {
    PetscCallMPI(MPI_Win_allocate(f->rank ? 0 : (MPI_Aint)sizeof(FarmCounters), 1, MPI_INFO_NULL, f->comm, &f->counters, &f->window));
    PetscCallMPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, f->window));
  } else PetscCall(PetscNew(&f->counters));
  *farm = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmGetGroup - Gets the group of this process in a `LitheFarm`

  Not Collective

  Input Parameter:
. farm - the farm

  Output Parameter:
. group - the group, with the communicator that a task may use

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmGroup`, `LitheFarmCreate()`
@*/
PetscErrorCode LitheFarmGetGroup(LitheFarm farm, LitheFarmGroup *group)
{
  PetscFunctionBegin;
  *group = farm->group;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmGetSums - Gets the sums of this process in the last run of a `LitheFarm`

  Not Collective

  Input Parameter:
. farm - the farm

  Output Parameter:
. sums - the sums of the tasks of this group; the farm owns them

  Level: intermediate

.seealso: `LitheFarm`, `LitheSums`, `LitheSumsReduce()`
@*/
PetscErrorCode LitheFarmGetSums(LitheFarm farm, LitheSums *sums)
{
  PetscFunctionBegin;
  *sums = farm->sums;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmGetResult - Gets what the last run of a `LitheFarm` has done

  Not Collective

  Input Parameter:
. farm - the farm

  Output Parameter:
. result - failures, and a record of each task; the farm owns it

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmResult`, `LitheFarmRun()`
@*/
PetscErrorCode LitheFarmGetResult(LitheFarm farm, const LitheFarmResult **result)
{
  PetscFunctionBegin;
  *result = &farm->result;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FarmForget(LitheFarm f)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < f->batch.size && f->batch.work; k++) {
    PetscCall(LitheSumsDestroyTerm(f->sums, &f->batch.work[k]));
    PetscCall(PetscFree(f->batch.own[k]));
  }
  PetscCall(PetscFree4(f->batch.work, f->batch.own, f->batch.bad, f->batch.next));
  PetscCall(LitheSumsDestroy(&f->sums));
  if (f->task.piece) {
    for (PetscInt t = 0; t < f->result.ntasks; t++) PetscCall(PetscFree(f->task.piece[t]));
  }
  PetscCall(PetscFree(f->task.piece));
  PetscCall(PetscFree(f->task.state));
  PetscCall(PetscFree(f->task.record));
  PetscCall(PetscFree(f->task.failed));
  PetscCall(PetscMemzero(&f->result, sizeof(f->result)));
  f->job = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmDestroy - Frees a `LitheFarm`

  Collective

  Input Parameter:
. farm - the farm

  Level: intermediate

.seealso: `LitheFarm`, `LitheFarmCreate()`
@*/
PetscErrorCode LitheFarmDestroy(LitheFarm *farm)
{
  LitheFarm f = *farm;

  PetscFunctionBegin;
  if (!f) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(FarmForget(f));
  if (f->window != MPI_WIN_NULL) {
    PetscCallMPI(MPI_Win_unlock_all(f->window));
    PetscCallMPI(MPI_Win_free(&f->window));
  } else PetscCall(PetscFree(f->counters));
  PetscCall(PetscSubcommDestroy(&f->subcomm));
  PetscCall(PetscCommDestroy(&f->comm));
  PetscCall(PetscFree(*farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ progress */

/* A line of progress, if due. The first process prints the line; with shared counters the line covers all groups */
static PetscErrorCode FarmSpeak(LitheFarm f, PetscInt done, double cost, double amount, PetscBool last)
{
  const double now = MPI_Wtime(), seconds = now - f->pace.begin, left = cost > 0 ? seconds * (f->pace.total - cost) / cost : 0;
  char         rate[64] = "";

  PetscFunctionBegin;
  if (f->job->unit && amount > 0 && seconds > 0) PetscCall(PetscSNPrintf(rate, sizeof(rate), ", %.3g %s/s", amount / seconds, f->job->unit));
  if (!f->options.progress || f->rank || (!last && now - f->pace.spoken < 1)) PetscFunctionReturn(PETSC_SUCCESS);
  f->pace.spoken = now;
  if (last) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%ss: %" PetscInt_FMT " of %" PetscInt_FMT " in %.3g s by %" PetscInt_FMT " group%s, %.3g %% of the time busy%s",
                          f->job->what, f->result.done, f->pace.todo, (double)f->result.seconds, f->group.groups, f->group.groups > 1 ? "s" : "",
                          100 * (double)f->result.busy, rate));
    if (f->result.found) PetscCall(PetscPrintf(PETSC_COMM_SELF, ", %" PetscInt_FMT " found", f->result.found));
    if (f->result.nfailed) PetscCall(PetscPrintf(PETSC_COMM_SELF, ", %" PetscInt_FMT " failed", f->result.nfailed));
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "\n"));
  } else
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "%ss: %" PetscInt_FMT " of %" PetscInt_FMT "%s in %.3g s, %.3g s left%s\n", f->job->what, done, f->pace.todo,
                          f->window == MPI_WIN_NULL && f->group.groups > 1 ? ", of the first group," : "", seconds, left, rate));
  PetscCall(PetscFFlush(PETSC_STDOUT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a task */

static double FarmAmount(const LitheFarmJob *job, PetscInt task)
{
  return job->unit && job->amount ? (double)job->amount[task] : 0;
}

/* The result of a task that has run, on which the processes of a group agree */
static PetscErrorCode FarmTake(LitheFarm f, PetscInt task, PetscReal *work, PetscReal **piece, PetscBool failed)
{
  const LitheFarmJob *job = f->job;
  PetscReal           largest, pieces = 0;

  PetscFunctionBegin;
  PetscCall(LitheSumsLargest(job->memory, job->n, work, &largest));
  if (*piece) PetscCall(LitheSumsLargest(PETSC_MEMTYPE_HOST, job->pieces[task], *piece, &pieces));
  if (PetscIsInfOrNanReal(largest) || PetscIsInfOrNanReal(pieces)) failed = PETSC_TRUE;
  if (f->group.size > 1) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_C_BOOL, MPI_LOR, f->group.comm));
  if (!failed) {
    PetscCall(LitheSumsAdd(f->sums, largest, work));
    f->task.state[task] = PetscMax(job->kind, 1);
    FarmJournalNote(&f->journal);
    if (*piece && job->deliver) PetscCall((*job->deliver)(job->ctx, task, *piece));
    if (f->task.piece && *piece) {
      f->task.piece[task] = *piece;
      *piece              = NULL;
    }
  }
  PetscCall(PetscFree(*piece));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time of a batch, which its tasks share by their costs */
static void FarmNote(LitheFarm f, PetscInt n, const PetscInt task[], PetscInt attempt, double begin, double end)
{
  double cost = 0, sum = 0;

  for (PetscInt k = 0; k < n; k++) cost += FarmCost(f->job, task[k]);
  for (PetscInt k = 0; k < n; k++) {
    LitheFarmRecord *record = &f->task.record[task[k]];
    const double     from   = cost > 0 ? sum / cost : (double)k / (double)n;

    sum += FarmCost(f->job, task[k]);
    record->group   = f->group.number;
    record->attempt = attempt;
    record->begin   = (PetscReal)(begin + from * (end - begin));
    record->end     = (PetscReal)(begin + (cost > 0 ? sum / cost : (double)(k + 1) / (double)n) * (end - begin));
  }
  f->pace.ran += end - begin;
  f->pace.did += cost;
}

/* Tasks that run together, by all processes of a group */
static PetscErrorCode FarmTasks(LitheFarm f, PetscInt n, const PetscInt task[], PetscInt attempt)
{
  const LitheFarmJob *job   = f->job;
  const double        begin = MPI_Wtime() - f->pace.begin;

  PetscFunctionBegin;
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(LitheSumsZeroTerm(f->sums, f->batch.work[k]));
    f->batch.own[k] = NULL;
    f->batch.bad[k] = PETSC_FALSE;
    if (job->pieces && !f->group.rank) PetscCall(PetscCalloc1(job->pieces[task[k]], &f->batch.own[k]));
  }
  PetscCall((*job->run)(job->ctx, n, task, attempt, f->batch.work, f->batch.own, f->batch.bad));
  for (PetscInt k = 0; k < n; k++) PetscCall(FarmTake(f, task[k], f->batch.work[k], &f->batch.own[k], f->batch.bad[k]));
  FarmNote(f, n, task, attempt, begin, MPI_Wtime() - f->pace.begin);
  for (PetscInt k = 0; k < n && !f->group.rank; k++) {
    double  cost, amount;
    int64_t done;

    PetscCall(FarmCountMore(f, offsetof(FarmCounters, tried), FarmCost(job, task[k]), &cost));
    if (!f->task.state[task[k]]) continue;
    PetscCall(FarmCount(f, offsetof(FarmCounters, done), &done));
    PetscCall(FarmCountMore(f, offsetof(FarmCounters, cost), FarmCost(job, task[k]), &cost));
    PetscCall(FarmCountMore(f, offsetof(FarmCounters, amount), FarmAmount(job, task[k]), &amount));
    PetscCall(FarmSpeak(f, (PetscInt)done + 1, cost, amount, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ all tasks */

/* Whether the journal is due. Journals take a twentieth of the time at most; the first journal is written at once */
static PetscBool FarmIsDue(const struct _n_LitheFarm *f)
{
  return (PetscBool)(f->options.journal[0] && f->journal.fresh && MPI_Wtime() - f->journal.wrote >= 20 * f->journal.writing);
}

static PetscErrorCode FarmRound(LitheFarm f, FarmQueue *queue, PetscInt attempt)
{
  PetscInt *next = f->batch.next; /* the number of tasks, whether the journal is written before, the tasks */

  PetscFunctionBegin;
  for (;;) {
    if (!f->group.rank) {
      PetscCall(FarmNext(f, queue, &next[0], next + 2));
      next[1] = FarmIsDue(f);
    }
    if (f->group.size > 1) PetscCallMPI(MPI_Bcast(next, (PetscMPIInt)f->batch.size + 2, MPIU_INT, 0, f->group.comm));
    if (next[1]) PetscCall(FarmJournalWrite(f));
    if (f->journal.broken) {
      if (!f->group.rank) PetscCall(FarmStop(f));
      break;
    }
    if (!next[0]) break;
    PetscCall(FarmTasks(f, next[0], next + 2, attempt));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* After a round: the tasks of the round that no group has done, and the group that tried. Collective */
static PetscErrorCode FarmGather(LitheFarm f, PetscInt n, const PetscInt todo[], PetscInt *nfailed, PetscInt failed[], PetscInt by[])
{
  PetscInt *group;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(n, &group));
  for (PetscInt k = 0; k < n; k++) group[k] = f->task.state[todo[k]] ? f->group.groups : f->task.record[todo[k]].group;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, group, (PetscMPIInt)n, MPIU_INT, MPI_MAX, f->comm));
  *nfailed = 0;
  for (PetscInt k = 0; k < n; k++) {
    if (group[k] == f->group.groups) continue;
    failed[*nfailed] = todo[k];
    by[(*nfailed)++] = group[k];
  }
  PetscCall(PetscFree(group));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Records of all tasks, on all processes, and the share of the time in which groups had tasks */
static PetscErrorCode FarmSetResult(LitheFarm f, PetscInt found)
{
  LitheFarmResult *r = &f->result;
  PetscReal       *times, busy = 0;
  unsigned char   *kind;
  const PetscInt   n = r->ntasks;

  PetscFunctionBegin;
  r->seconds = (PetscReal)(MPI_Wtime() - f->pace.begin);
  r->found   = found;
  r->failed  = f->task.failed;
  r->record  = f->task.record;
  PetscCall(PetscMalloc1(4 * n + 1, &times));
  for (PetscInt t = 0; t < n; t++) {
    const LitheFarmRecord *record = &f->task.record[t];

    if (f->group.rank) f->task.record[t].group = -1;
    if (record->group >= 0) busy += record->end - record->begin;
    times[t] = record->group >= 0 ? (PetscReal)record->attempt : -1;
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &busy, 1, MPIU_REAL, MPIU_SUM, f->comm));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, times, (PetscMPIInt)n, MPIU_REAL, MPIU_MAX, f->comm));
  /* the last group that tried a task: by attempts, since clocks of processes may differ */
  for (PetscInt t = n - 1; t >= 0; t--) {
    const LitheFarmRecord *record = &f->task.record[t];
    const PetscBool        mine   = (PetscBool)(record->group >= 0 && (PetscReal)record->attempt == times[t]);

    times[4 * t]     = mine ? (PetscReal)record->group : -1;
    times[4 * t + 1] = mine ? (PetscReal)record->attempt : -1;
    times[4 * t + 2] = mine ? record->begin : -1;
    times[4 * t + 3] = mine ? record->end : -1;
  }
  times[4 * n] = r->seconds;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, times, (PetscMPIInt)(4 * n + 1), MPIU_REAL, MPIU_MAX, f->comm));
  PetscCall(PetscMalloc1(n, &kind));
  PetscCallMPI(MPIU_Allreduce(f->task.state, kind, (PetscMPIInt)n, MPI_UNSIGNED_CHAR, MPI_MAX, f->comm));
  for (PetscInt t = 0; t < n; t++)
    f->task.record[t] = (LitheFarmRecord){times[4 * t + 2], times[4 * t + 3], (PetscInt)times[4 * t], (PetscInt)times[4 * t + 1], kind[t]};
  PetscCall(PetscFree(kind));
  r->seconds = times[4 * n];
  r->busy    = r->seconds > 0 ? busy / (r->seconds * (PetscReal)f->group.groups) : 1;
  PetscCall(PetscFree(times));
  r->complete = (PetscBool)(r->done + r->found == n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FarmStart(LitheFarm f, const LitheFarmJob *job)
{
  PetscInt slow; /* groups */

  PetscFunctionBegin;
  PetscCall(FarmForget(f));
  f->job           = job;
  f->result.ntasks = job->ntasks;
  f->pace.spoken   = MPI_Wtime();
  FarmJournalReset(&f->journal);
  PetscCall(LitheSumsCreate(job->memory, job->n, &f->sums));
  f->batch.size = PetscClipInterval((job->ntasks + f->group.groups - 1) / f->group.groups, 1, PetscMax(job->batch, 1));
  PetscCall(PetscCalloc4(f->batch.size, &f->batch.work, f->batch.size, &f->batch.own, f->batch.size, &f->batch.bad, f->batch.size + 2, &f->batch.next));
  for (PetscInt k = 0; k < f->batch.size; k++) PetscCall(LitheSumsCreateTerm(f->sums, &f->batch.work[k]));
  PetscCall(PetscCalloc1(job->ntasks, &f->task.state));
  PetscCall(PetscCalloc1(job->ntasks, &f->task.record));
  PetscCall(PetscCalloc1(job->ntasks, &f->task.failed));
  for (PetscInt t = 0; t < job->ntasks; t++) f->task.record[t] = (LitheFarmRecord){-1, -1, -1, -1, 0};
  if (f->options.journal[0] && job->pieces && !f->group.rank) PetscCall(PetscCalloc1(job->ntasks, &f->task.piece));
  f->pace.ran = f->pace.did = 0;
  slow                      = !f->group.rank && job->slow > 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &slow, 1, MPIU_INT, MPI_SUM, f->comm));
  f->pace.fast   = f->group.groups - slow;
  f->pace.unlike = (PetscBool)(slow && f->pace.fast);
  f->pace.slow   = (PetscBool)(f->pace.unlike && job->slow > 0);
  PetscCall(FarmCountersReset(f));
  f->pace.begin = MPI_Wtime();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The journal at the end of a run, or of a round in which a group could not write. Other groups write theirs; then all
   processes get the error
*/
static PetscErrorCode FarmJournalEnd(LitheFarm f, PetscBool last)
{
  PetscBool broken = f->journal.broken;

  PetscFunctionBegin;
  if (!f->options.journal[0] || f->options.only) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &broken, 1, MPI_C_BOOL, MPI_LOR, f->comm));
  if (!broken && !last) PetscFunctionReturn(PETSC_SUCCESS);
  if (!broken && f->result.complete && !f->options.keep) {
    PetscCall(FarmJournalRemove(f));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (f->journal.fresh && !f->journal.broken) PetscCall(FarmJournalWrite(f));
  PetscCall(FarmJournalAgree(f));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The tasks in todo[left], until all are done or have failed as often as they may */
static PetscErrorCode FarmRounds(LitheFarm f, PetscInt *left, PetscInt todo[], PetscInt owner[], PetscInt next[])
{
  PetscFunctionBegin;
  for (PetscInt attempt = 0; *left && attempt < PetscMax(f->job->attempts, 1); attempt++) {
    const PetscInt before = *left;
    FarmQueue      queue;

    PetscCall(FarmQueueCreate(f, before, todo, attempt || f->options.fixed ? owner : NULL, attempt ? 1 : f->batch.size,
                              &queue));                                        /* a task that has failed runs alone */
    for (PetscInt k = 0; k < before && attempt; k++) owner[k] = next[todo[k]]; /* the queue has sorted the tasks */
    if (!attempt && f->options.fixed) PetscCall(FarmShareOut(f, before, todo, owner));
    PetscCall(FarmRound(f, &queue, attempt));
    PetscCall(FarmQueueDestroy(&queue));
    PetscCall(FarmJournalEnd(f, PETSC_FALSE));
    PetscCall(FarmGather(f, before, todo, left, todo, owner));
    f->result.done += before - *left;
    for (PetscInt k = 0; k < *left; k++) next[todo[k]] = (owner[k] + 1) % f->group.groups;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* todo[n], owner[n], next[n], known[n]: room; next: the group of a task's next attempt */
static PetscErrorCode FarmRun(LitheFarm f, PetscInt todo[], PetscInt owner[], PetscInt next[], PetscBool known[])
{
  const LitheFarmJob *job    = f->job;
  const PetscInt      slices = PetscMax(f->options.slices, 1);
  PetscInt            found = 0, left = 0;
  double              amount = 0;

  PetscFunctionBegin;
  if (f->options.journal[0]) PetscCall(FarmJournalRead(f, known));
  f->pace.total = 0;
  for (PetscInt t = 0; t < job->ntasks; t++) {
    if (known[t]) found++;
    else if (t % slices == (slices > 1 ? f->options.slice : 0) && !f->options.only) {
      todo[left++] = t;
      f->pace.total += FarmCost(job, t);
      amount += FarmAmount(job, t);
    }
  }
  f->pace.todo = left;
  PetscCall(FarmRounds(f, &left, todo, owner, next));
  for (PetscInt k = 0; k < left; k++) amount -= FarmAmount(job, todo[k]);
  PetscCall(PetscArraycpy(f->task.failed, todo, left));
  PetscCall(PetscSortInt(left, f->task.failed));
  f->result.nfailed = left;
  PetscCall(FarmSetResult(f, found));
  PetscCall(FarmJournalEnd(f, PETSC_TRUE));
  PetscCall(FarmSpeak(f, f->result.done, f->pace.total, amount, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  LitheFarmRun - Does each task of a job once, by a free group of a `LitheFarm`

  Collective

  Input Parameters:
+ farm - the farm
- job  - the tasks

  Level: intermediate

  Notes:
  The run continues after a final failure of a task, see `LitheFarmGetResult()`.

  A journal that cannot be written ends the run with an error on all processes, once each group has ended its task; with
  fixed shares, its tasks.

.seealso: `LitheFarm`, `LitheFarmJob`, `LitheFarmGetSums()`, `LitheFarmGetResult()`, `LitheFarmPoke()`
@*/
PetscErrorCode LitheFarmRun(LitheFarm f, const LitheFarmJob *job)
{
  const PetscInt n = job->ntasks;
  PetscInt      *todo, *owner, *next;
  PetscBool     *known;
  PetscErrorCode code;

  PetscFunctionBegin;
  PetscCheck(n >= 0 && 4 * (PetscInt64)n < PETSC_MPI_INT_MAX, f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " tasks are too many", n);
  PetscCheck(job->nsets >= 0 && job->nsets <= FARM_SETS, f->comm, PETSC_ERR_ARG_OUTOFRANGE, "%" PetscInt_FMT " sets of tasks: 0 to %d", job->nsets, FARM_SETS);
  PetscCall(FarmStart(f, job));
  PetscCall(PetscCalloc4(n, &todo, n, &owner, n, &next, n, &known));
  code              = FarmRun(f, todo, owner, next, known);
  f->result.refused = f->journal.refused;
  PetscCall(PetscFree4(todo, owner, next, known));
  PetscCall(code);
  PetscFunctionReturn(PETSC_SUCCESS);
}
