/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Shots and their data in SEG-Y files: a record is a shot, a trace a receiver */

#include "lsrtm.h"
#include <tutorials/common/segy.h>

/* From coordinates of the model to coordinates of the grid, or back */
static void Shift(const Survey *s, int sign, const PetscReal from[3], PetscReal to[3])
{
  for (int d = 0; d < 3; d++) to[d] = from[d] + (PetscReal)sign * s->h * (PetscReal)s->pad[d];
}

/* In 2-D, coordinates of MATBORN are x and depth */
static void FromBorn(const Survey *s, const PetscReal x[], PetscReal to[3])
{
  const PetscReal place[3] = {x[0], s->dim == 3 ? x[1] : 0, x[s->dim - 1]};

  Shift(s, -1, place, to);
}

PetscErrorCode RecordsWrite(const Survey *s, Vec data, const char path[])
{
  const PetscInt samples = s->steps / s->every;
  PetscMPIInt    rank;
  Vec            all;
  VecScatter     scatter;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(VecScatterCreateToZero(data, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, data, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, data, all, INSERT_VALUES, SCATTER_FORWARD));
  if (!rank) {
    const PetscScalar *d;
    PetscReal         *value;
    PetscInt           row = 0;
    Segy               segy;

    PetscCall(PetscMalloc1(samples, &value));
    PetscCall(SegyCreate(path, "Shot records modelled by lsrtm, time in s", SEGY_IEEE, samples, s->dt * (PetscReal)s->every,
                         s->h * (PetscReal)PetscMax(s->N[0], PetscMax(s->N[1], s->N[2])), &segy));
    PetscCall(VecGetArrayRead(all, &d));
    for (PetscInt k = 0; k < s->nshots; k++) {
      const PetscReal *source, *receivers;
      PetscInt         n;
      SegyTrace        trace = {.record = k + 1};

      PetscCall(MatBornGetShot(s->J, k, &source, &n, &receivers));
      FromBorn(s, source, trace.source);
      for (PetscInt r = 0; r < n; r++) {
        trace.trace = r + 1;
        FromBorn(s, receivers + s->dim * r, trace.receiver);
        for (PetscInt i = 0; i < samples; i++) value[i] = PetscRealPart(d[row++]);
        PetscCall(SegyWrite(&segy, &trace, value));
      }
    }
    PetscCall(VecRestoreArrayRead(all, &d));
    PetscCall(SegyClose(&segy));
    PetscCall(PetscFree(value));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The traces of a record are consecutive. Each process reads the file */
PetscErrorCode RecordsReadShots(Survey *s)
{
  Segy       segy;
  SegyTrace  trace;
  PetscReal *value, *receivers, source[3] = {0, 0, 0};
  PetscInt   n = 0, record = 0;
  double     turns;

  PetscFunctionBegin;
  PetscCall(SegyOpen(s->records, &segy));
  PetscCheck(segy.interval > 0 && segy.traces > 0, s->comm, PETSC_ERR_FILE_UNEXPECTED, "%s has no traces, or does not tell the time between samples",
             s->records);
  turns    = ceil((double)(segy.interval / s->dt));
  s->every = PetscMax(1, (PetscInt)turns);
  s->dt    = segy.interval / (PetscReal)s->every;
  s->steps = s->every * segy.samples;
  s->time  = s->dt * (PetscReal)s->steps;
  PetscCall(PetscMalloc2(segy.samples, &value, s->dim * (size_t)segy.traces, &receivers));
  s->nshots = 0;
  for (PetscInt64 t = 0; t <= segy.traces; t++) {
    PetscReal place[3];

    if (t < segy.traces) PetscCall(SegyRead(&segy, &trace, value));
    if (n && (t == segy.traces || trace.record != record)) {
      PetscCall(MatBornAddShot(s->J, source, n, receivers));
      s->nshots++;
      n = 0;
    }
    if (t == segy.traces) break;
    record = trace.record;
    Shift(s, 1, trace.source, place);
    for (int d = 0; d < s->dim; d++) source[d] = place[d == 1 && s->dim == 2 ? 2 : d];
    Shift(s, 1, trace.receiver, place);
    for (int d = 0; d < s->dim; d++) receivers[s->dim * n + d] = place[d == 1 && s->dim == 2 ? 2 : d];
    n++;
  }
  PetscCall(PetscFree2(value, receivers));
  PetscCall(SegyClose(&segy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows are the samples of the file, in the order of the file */
PetscErrorCode RecordsReadData(const Survey *s, Vec data)
{
  Segy         segy;
  SegyTrace    trace;
  PetscReal   *value;
  PetscScalar *d;
  PetscInt     begin, end;

  PetscFunctionBegin;
  PetscCall(SegyOpen(s->records, &segy));
  PetscCall(PetscMalloc1(segy.samples, &value));
  PetscCall(VecGetOwnershipRange(data, &begin, &end));
  PetscCall(VecGetArrayWrite(data, &d));
  for (PetscInt64 t = 0; t < segy.traces; t++) {
    PetscCall(SegyRead(&segy, &trace, value));
    for (PetscInt i = 0; i < segy.samples; i++) {
      const PetscInt64 row = t * segy.samples + i;

      if (row >= begin && row < end) d[row - begin] = value[i];
    }
  }
  PetscCall(VecRestoreArrayWrite(data, &d));
  PetscCall(MatBornFilter(s->J, data)); /* with -mat_born_lowpass */
  PetscCall(PetscFree(value));
  PetscCall(SegyClose(&segy));
  PetscFunctionReturn(PETSC_SUCCESS);
}
