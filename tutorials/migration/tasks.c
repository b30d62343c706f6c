/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A task is a frequency and a batch of sources. One KSPMatSolve() computes the waves of the sources and the backward
   waves of the data from the receivers. The farm lets a group keep its frequency, so matrices and preconditioner are
   made once. The highest frequencies come first.
*/

#include "migration.h"

/* ------------------------------------------------------------ what is to be done */

/* The number of sources of the next task; halves of a batch near the end */
static PetscInt NextBatch(const Migration *m, PetscInt left)
{
  if (left >= 2 * m->batch) return m->batch;
  if (left <= m->least || left <= 1) return left;
  return PetscMin(m->batch, PetscMin(left, PetscMax((left + 1) / 2, m->least)));
}

/* Grid points of all waves per source of a frequency: for the image, and for the data if modelled */
static PetscErrorCode GetPoints(const Migration *m, PetscInt f, PetscReal points[2])
{
  PetscFunctionBegin;
  points[0] = points[1] = 0;
  for (int which = 0; which < (m->data ? 1 : 2); which++) {
    PetscInt  n[3];
    PetscReal h;

    PetscCall(MigrationGetGrid(m, which, m->frequency[f], n, &h));
    points[which] = (PetscReal)n[0] * (PetscReal)n[1] * (PetscReal)n[2];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JobCreate(Migration *m, const LitheFarmOptions *farming, PetscBool wantdata, PetscBool wantsections, MigrationJob *job)
{
  PetscInt n = 0;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(job, sizeof(*job)));
  job->m            = m;
  job->farming      = *farming;
  job->wantdata     = (PetscBool)(wantdata && !m->data);
  job->wantsections = wantsections;
  job->now          = -1;
  for (int fill = 0; fill < 2; fill++) {
    n = 0;
    for (PetscInt f = 0; f < m->nfrequencies; f++) {
      for (PetscInt s = 0, count; s < m->nshots; s += count, n++) {
        count = NextBatch(m, m->nshots - s);
        if (fill) job->task[n] = (MigrationTask){f, s, count, NULL};
      }
    }
    if (!fill) PetscCall(PetscCalloc1(n, &job->task));
  }
  job->ntasks = n;
  PetscCall(LitheFarmCreate(m->comm, farming, &job->farm));
  PetscCall(LitheFarmGetGroup(job->farm, &job->group));
  PetscCheck(m->hostgroups <= job->group.groups, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-host_groups is %" PetscInt_FMT ", and there are %" PetscInt_FMT " groups: start more processes, or lower -group_size", m->hostgroups,
             job->group.groups);
  m->host    = (PetscBool)(job->group.number >= job->group.groups - m->hostgroups);
  job->first = (PetscInt)((PetscInt64)m->n[2] * job->group.rank / job->group.size);
  job->count = (PetscInt)((PetscInt64)m->n[2] * (job->group.rank + 1) / job->group.size) - job->first;
  for (int k = 0; k < 2; k++) PetscCall(PetscMalloc1((size_t)job->count * m->n[0] * m->n[1], &job->field[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JobDestroy(MigrationJob *job)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(WavesDestroy(&job->waves[k]));
  for (int k = 0; k < 2; k++) PetscCall(PetscFree(job->field[k]));
  for (PetscInt t = 0; t < job->ntasks; t++) PetscCall(PetscFree(job->task[t].piece));
  PetscCall(PetscFree(job->task));
  PetscCall(PetscFree(job->sums));
  PetscCall(LitheFarmDestroy(&job->farm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of receivers of a task's shots */
static PetscInt TaskReceivers(const MigrationJob *job, const MigrationTask *task)
{
  PetscInt n = 0;

  for (PetscInt s = 0; s < task->count; s++) n += job->m->shot[task->first + s].nreceivers;
  return n;
}

static PetscInt SectionSize(const MigrationJob *job)
{
  return job->wantsections ? SectionsSize(job->m) : 0;
}

/* ------------------------------------------------------------ a task */

static PetscErrorCode SetSources(const MigrationJob *job, const Waves *w, const MigrationTask *task, Mat B)
{
  const PetscScalar strength = MigrationWavelet(job->m, job->m->frequency[task->frequency]);

  PetscFunctionBegin;
  for (PetscInt s = 0; s < task->count; s++) {
    PetscScalar *array;
    Vec          b;

    /* through a vector: a column on a device must not be written on the host */
    PetscCall(VecZeroEntries(w->work));
    PetscCall(VecGetArray(w->work, &array));
    PetscCall(WavesAddSource(w, job->m->shot[task->first + s].source, strength, array));
    PetscCall(VecRestoreArray(w->work, &array));
    PetscCall(MatDenseGetColumnVecWrite(B, s, &b));
    PetscCall(VecZeroEntries(b));
    PetscCall(VecAXPY(b, 1.0, w->work));
    PetscCall(MatDenseRestoreColumnVecWrite(B, s, &b));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Data of a task's shots: the part which the background does not explain. On all processes of the group */
static PetscErrorCode ModelData(MigrationJob *job, const MigrationTask *task, PetscBool careful, PetscScalar data[], PetscBool *failed)
{
  const Migration *m = job->m;

  PetscFunctionBegin;
  PetscCall(PetscArrayzero(data, TaskReceivers(job, task)));
  for (int which = 0; which < 2 && !*failed; which++) {
    Mat B, X;

    PetscCall(WavesCreateColumns(job->waves[1 + which], task->count, &B));
    PetscCall(WavesCreateColumns(job->waves[1 + which], task->count, &X));
    PetscCall(SetSources(job, job->waves[1 + which], task, B));
    PetscCall(WavesSolve(job->waves[1 + which], B, X, careful, failed));
    for (PetscInt s = 0, at = 0; s < task->count; s++) {
      const MigrationShot *shot = &m->shot[task->first + s];
      const PetscScalar   *array;
      Vec                  x;

      PetscCall(MatDenseGetColumnVecRead(X, s, &x));
      PetscCall(VecGetArrayRead(x, &array));
      for (PetscInt r = 0; r < shot->nreceivers; r++, at++) {
        const PetscScalar value = WavesGetAt(job->waves[1 + which], m->place + 3 * (shot->at + r), array);

        data[at] += which ? -value : value;
      }
      PetscCall(VecRestoreArrayRead(x, &array));
      PetscCall(MatDenseRestoreColumnVecRead(X, s, &x));
    }
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&B));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, data, (PetscMPIInt)TaskReceivers(job, task), MPIU_SCALAR, MPIU_SUM, job->group.comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves for the sources and for the backward data */
static PetscErrorCode Migrate(MigrationJob *job, const MigrationTask *task, PetscBool careful, const PetscScalar data[], PetscReal sum[], PetscBool *failed)
{
  const Migration *m = job->m;
  Waves           *w = job->waves[0];
  Mat              B, X;

  PetscFunctionBegin;
  PetscCall(WavesCreateColumns(w, 2 * task->count, &B));
  PetscCall(WavesCreateColumns(w, 2 * task->count, &X));
  PetscCall(SetSources(job, w, task, B));
  for (PetscInt s = 0, at = 0; s < task->count; s++) {
    const MigrationShot *shot = &m->shot[task->first + s];
    PetscScalar         *array;
    Vec                  b;

    PetscCall(VecZeroEntries(w->work));
    PetscCall(VecGetArray(w->work, &array));
    for (PetscInt r = 0; r < shot->nreceivers; r++, at++) PetscCall(WavesAddSource(w, m->place + 3 * (shot->at + r), PetscConj(data[at]), array));
    PetscCall(VecRestoreArray(w->work, &array));
    PetscCall(MatDenseGetColumnVecWrite(B, task->count + s, &b));
    PetscCall(VecZeroEntries(b));
    PetscCall(VecAXPY(b, 1.0, w->work));
    PetscCall(MatDenseRestoreColumnVecWrite(B, task->count + s, &b));
  }
  PetscCall(WavesSolve(w, B, X, careful, failed));
  if (!*failed && w->ondevice) PetscCall(WavesAddImages(w, m->frequency[task->frequency], task->count, X, sum));
  for (PetscInt s = 0; s < task->count && !*failed && !w->ondevice; s++) {
    for (int k = 0; k < 2; k++) {
      Vec x;

      PetscCall(MatDenseGetColumnVecRead(X, s + k * task->count, &x));
      PetscCall(WavesGetImage(w, x, job->field[k]));
      PetscCall(MatDenseRestoreColumnVecRead(X, s + k * task->count, &x));
    }
    PetscCall(ImagingAdd(m, m->frequency[task->frequency], job->first, job->count, job->field[0], job->field[1], sum));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sections, on the first process of a group */
static PetscErrorCode GetSections(const MigrationJob *job, const PetscReal sum[], PetscReal section[])
{
  PetscReal *own;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(SectionSize(job), &own));
  SectionsTake(job->m, job->first, job->count, sum, own);
  PetscCallMPI(MPI_Reduce(own, section, (PetscMPIInt)SectionSize(job), MPIU_REAL, MPIU_SUM, 0, job->group.comm));
  PetscCall(PetscFree(own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Makes grids, matrices and preconditioners of a frequency, unless the group has them */
static PetscErrorCode SetFrequency(MigrationJob *job, PetscInt f)
{
  const Migration *m = job->m;

  PetscFunctionBegin;
  if (job->now == f) PetscFunctionReturn(PETSC_SUCCESS);
  job->now = -1;
  for (int k = 0; k < 3; k++) PetscCall(WavesDestroy(&job->waves[k]));
  PetscCall(WavesCreate(job->group.comm, m, 0, m->frequency[f], m->background, "", &job->waves[0]));
  PetscCall(WavesSetImage(job->waves[0], job->first, job->count));
  if (!m->data) {
    PetscCall(WavesCreate(job->group.comm, m, 1, m->frequency[f], m->velocity, "data_", &job->waves[1]));
    PetscCall(WavesCreate(job->group.comm, m, 1, m->frequency[f], m->background, "data_", &job->waves[2]));
  }
  job->now = f;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DoTask(MigrationJob *job, const MigrationTask *task, PetscBool careful, PetscReal sum[], PetscReal piece[], PetscBool *failed)
{
  const Migration *m = job->m;
  PetscScalar     *data;
  const PetscInt   n = TaskReceivers(job, task), first = m->shot[task->first].first;

  PetscFunctionBegin;
  PetscCall(SetFrequency(job, task->frequency));
  PetscCall(PetscMalloc1(n, &data));
  if (m->data) PetscCall(PetscArraycpy(data, m->data + (size_t)task->frequency * m->nreceivers + first, n));
  else PetscCall(ModelData(job, task, careful, data, failed));
  if (!*failed) PetscCall(Migrate(job, task, careful, data, sum, failed));
  if (!*failed && job->wantsections) PetscCall(GetSections(job, sum, piece));
  for (PetscInt r = 0; r < n && piece && job->wantdata; r++) {
    piece[SectionSize(job) + 2 * r]     = PetscRealPart(data[r]);
    piece[SectionSize(job) + 2 * r + 1] = PetscImaginaryPart(data[r]);
  }
  PetscCall(PetscFree(data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* In a group of one process, errors of memory and of floating-point numbers fail only the task, and its objects are
   destroyed */
static PetscErrorCode RunTask(void *ctx, PETSC_UNUSED PetscInt n, const PetscInt number[], PetscInt attempt, PetscReal *const sum[], PetscReal *const piece[],
                              PetscBool *failed)
{
  MigrationJob  *job  = (MigrationJob *)ctx;
  MigrationTask *task = &job->task[number[0]];
  PetscErrorCode ierr;

  PetscFunctionBegin;
  if (job->group.size > 1) {
    PetscCall(DoTask(job, task, (PetscBool)(attempt > 0), sum[0], piece[0], failed));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = DoTask(job, task, (PetscBool)(attempt > 0), sum[0], piece[0], failed);
  PetscCall(PetscPopErrorHandler());
  if (ierr == PETSC_ERR_MEM || ierr == PETSC_ERR_FP || ierr == PETSC_ERR_NOT_CONVERGED || ierr == PETSC_ERR_CONV_FAILED) {
    *failed  = PETSC_TRUE;
    job->now = -1;
  } else PetscCall(ierr);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Deliver(void *ctx, PetscInt number, const PetscReal piece[])
{
  MigrationJob  *job  = (MigrationJob *)ctx;
  MigrationTask *task = &job->task[number];
  const PetscInt n    = SectionSize(job) + (job->wantdata ? 2 * TaskReceivers(job, task) : 0);

  PetscFunctionBegin;
  if (!task->piece) PetscCall(PetscMalloc1(n, &task->piece));
  PetscCall(PetscArraycpy(task->piece, piece, n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ all tasks */

/* A hash of everything which tasks depend on. Options of solvers are left out: they change results by no more than the
   tolerance */
static uint64_t Hash(const MigrationJob *job)
{
  const Migration *m        = job->m;
  const PetscReal  number[] = {m->h,
                               m->ricker,
                               m->delay,
                               m->alpha,
                               m->beta[0],
                               m->beta[1],
                               m->grid[0].pointsperwave,
                               m->grid[0].reflection,
                               m->grid[1].pointsperwave,
                               m->grid[1].reflection};
  const PetscInt   whole[]  = {m->n[0],
                               m->n[1],
                               m->n[2],
                               m->nfrequencies,
                               m->nshots,
                               m->nreceivers,
                               (PetscInt)m->grid[0].stencil,
                               m->grid[0].layer,
                               (PetscInt)m->grid[1].stencil,
                               m->grid[1].layer,
                               m->batch,
                               m->least,
                               (PetscInt)m->image,
                               m->data != NULL,
                               (PetscInt)job->wantdata,
                               (PetscInt)job->wantsections,
                               (PetscInt)sizeof(PetscReal)};
  uint64_t         place = 0, hash = 0;

  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(number); k++) hash += LitheFarmHashReal(place++, number[k]);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(whole); k++) hash += LitheFarmHash(place++, (uint64_t)whole[k]);
  for (PetscInt f = 0; f < m->nfrequencies; f++) hash += LitheFarmHashReal(place++, m->frequency[f]);
  for (PetscInt64 p = 0; p < m->nodes; p++) {
    hash += LitheFarmHashReal(place++, m->background[p]);
    hash += LitheFarmHashReal(place++, m->data ? 0 : m->velocity[p]);
  }
  for (PetscInt s = 0; s < m->nshots; s++) {
    const MigrationShot *shot = &m->shot[s];

    for (int d = 0; d < 3; d++) hash += LitheFarmHashReal(place++, shot->source[d]);
    hash += LitheFarmHash(place++, (uint64_t)shot->nreceivers);
    for (PetscInt r = 0; r < 3 * shot->nreceivers; r++) hash += LitheFarmHashReal(place++, m->place[3 * shot->at + r]);
  }
  for (size_t k = 0; m->data && k < (size_t)m->nfrequencies * m->nreceivers; k++) {
    hash += LitheFarmHashReal(place++, PetscRealPart(m->data[k]));
    hash += LitheFarmHashReal(place++, PetscImaginaryPart(m->data[k]));
  }
  for (int d = 0; d < 3 && job->wantsections; d++) hash += LitheFarmHash(place++, (uint64_t)m->at[d]);
  return hash;
}

/* The sums of all groups, on the first process */
static PetscErrorCode GetSums(MigrationJob *job)
{
  const PetscInt64 numbers = 3 * job->m->nodes, first = 3 * (PetscInt64)job->first * job->m->n[0] * job->m->n[1];
  const PetscInt   n = 3 * job->count * job->m->n[0] * job->m->n[1];
  PetscMPIInt      rank;
  PetscSFNode     *to;
  PetscSF          forest;
  LitheSums        sums;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(job->m->comm, &rank));
  PetscCall(PetscMalloc1(n, &to));
  for (PetscInt i = 0; i < n; i++) to[i] = (PetscSFNode){0, (PetscInt)(first + i)};
  PetscCall(PetscSFCreate(job->m->comm, &forest));
  PetscCall(PetscSFSetGraph(forest, rank ? 0 : (PetscInt)numbers, n, NULL, PETSC_COPY_VALUES, to, PETSC_OWN_POINTER));
  PetscCall(PetscMalloc1(rank ? 0 : numbers, &job->sums));
  PetscCall(LitheFarmGetSums(job->farm, &sums));
  PetscCall(LitheSumsReduce(sums, forest, job->sums));
  PetscCall(PetscSFDestroy(&forest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JobRun(MigrationJob *job)
{
  const Migration       *m = job->m;
  const LitheFarmResult *result;
  PetscInt              *set, *pieces;
  PetscReal             *cost, *amount, *setup;
  PetscBool              device;
  char                   type[64] = "";
  LitheFarmJob           farm     = {.what = "task", .ntasks = job->ntasks, .attempts = 2, .hash = Hash(job), .unit = "solves", .run = RunTask, .ctx = job};

  PetscFunctionBegin;
  PetscCall(PetscMalloc5(job->ntasks, &set, job->ntasks, &pieces, job->ntasks, &cost, job->ntasks, &amount, m->nfrequencies, &setup));
  for (PetscInt t = 0; t < job->ntasks; t++) {
    const MigrationTask *task = &job->task[t];
    PetscReal            points[2];

    PetscCall(GetPoints(m, task->frequency, points));
    set[t]    = task->frequency;
    pieces[t] = SectionSize(job) + (job->wantdata ? 2 * TaskReceivers(job, task) : 0);
    amount[t] = (PetscReal)(task->count * (m->data ? 2 : 4));
    /* iterations grow with the waves in the model */
    cost[t]                = 2 * (PetscReal)task->count * (points[0] + points[1]) * (1 + m->frequency[task->frequency] / m->frequency[m->nfrequencies - 1]);
    setup[task->frequency] = 2 * (points[0] + 2 * points[1]);
  }
  PetscCall(PetscOptionsGetString(NULL, NULL, "-dm_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmpAny(type, &device, VECCUDA, VECSEQCUDA, VECMPICUDA, ""));
  farm.kind   = device && !m->host ? 2 : 1;
  farm.slow   = device && m->host ? m->hostslowness : 0;
  farm.nsets  = m->nfrequencies;
  farm.set    = set;
  farm.setup  = setup;
  farm.cost   = cost;
  farm.amount = amount;
  farm.N      = 3 * m->nodes;
  farm.first  = 3 * (PetscInt64)job->first * m->n[0] * m->n[1];
  farm.n      = 3 * job->count * m->n[0] * m->n[1];
  farm.memory = PETSC_MEMTYPE_HOST;
  if (job->wantdata || job->wantsections) {
    farm.pieces  = pieces;
    farm.deliver = Deliver;
  }
  PetscCall(LitheFarmRun(job->farm, &farm));
  PetscCall(LitheFarmGetResult(job->farm, &result));
  job->result = *result;
  PetscCall(GetSums(job));
  PetscCall(PetscFree5(set, pieces, cost, amount, setup));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JobView(const MigrationJob *job)
{
  const Migration       *m       = job->m;
  const LitheFarmResult *r       = &job->result;
  PetscInt               kind[3] = {0, 0, 0}, solves = 0, again = 0;

  PetscFunctionBegin;
  for (PetscInt t = 0; t < job->ntasks; t++) {
    kind[PetscMin(r->record[t].kind, 2)]++;
    again += r->record[t].kind && r->record[t].attempt > 0;
    if (r->record[t].group >= 0 && r->record[t].kind) solves += job->task[t].count * (m->data ? 2 : 4);
  }
  PetscCall(PetscPrintf(m->comm,
                        "tasks       %" PetscInt_FMT " done, %" PetscInt_FMT " of them at the second attempt, %" PetscInt_FMT
                        " found in journals, %" PetscInt_FMT " missing, of %" PetscInt_FMT "\n",
                        r->done, again, r->found, job->ntasks - r->done - r->found, job->ntasks));
  if (r->done)
    PetscCall(PetscPrintf(m->comm, "time        %.3g s by %" PetscInt_FMT " group%s, %.3g %% of it busy, %.3g solves/s\n", (double)r->seconds,
                          job->group.groups, job->group.groups > 1 ? "s" : "", 100 * (double)r->busy, (double)solves / (double)r->seconds));
  if (kind[1] && kind[2])
    PetscCall(PetscPrintf(m->comm,
                          "kinds       %" PetscInt_FMT " tasks were done on hosts, %" PetscInt_FMT " on devices, which agree to the solver's tolerance\n",
                          kind[1], kind[2]));
  for (PetscInt k = 0; k < r->nfailed; k++) {
    const MigrationTask *task = &job->task[r->failed[k]];

    PetscCall(PetscPrintf(m->comm, "FAILED      task %" PetscInt_FMT ", twice: %g Hz, sources %" PetscInt_FMT " to %" PetscInt_FMT "\n", r->failed[k],
                          (double)m->frequency[task->frequency], task->first + 1, task->first + task->count));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode JobGetData(const MigrationJob *job, PetscScalar **data)
{
  const Migration *m   = job->m;
  const size_t     all = (size_t)m->nfrequencies * m->nreceivers;
  PetscMPIInt      rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(m->comm, &rank));
  PetscCall(PetscCalloc1(all, data));
  if (m->data) PetscCall(PetscArraycpy(*data, m->data, all));
  for (PetscInt t = 0; t < job->ntasks && job->wantdata; t++) {
    const MigrationTask *task = &job->task[t];
    PetscScalar         *at   = *data + (size_t)task->frequency * m->nreceivers + m->shot[task->first].first;
    const PetscInt       n    = TaskReceivers(job, task);

    for (PetscInt r = 0; r < n && task->piece; r++) at[r] = MigrationComplex(task->piece[SectionSize(job) + 2 * r], task->piece[SectionSize(job) + 2 * r + 1]);
    /* a single process has the value, the others have zeros */
    PetscCallMPI(MPI_Reduce(rank ? at : MPI_IN_PLACE, at, (PetscMPIInt)n, MPIU_SCALAR, MPIU_SUM, 0, m->comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
