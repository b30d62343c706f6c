/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A file from which a run goes on with the same bits: the state, its rates, the last displacement, which is the next
   guess, and the numbers of events and files. Vectors do not depend on the number of processes
*/

#include "cycle.h"

#define VERSION  1
#define TEXT_MAX 4096
#define EVENTS   ((PetscInt)(sizeof(CycleEventNumbers) / sizeof(PetscReal)))
#define OUTPUT   ((PetscInt)(sizeof(CycleOutputNumbers) / sizeof(PetscReal)))

static PetscErrorCode Vectors(const CycleCheckpoint *c, PetscViewer viewer, Vec y, PetscErrorCode (*move)(Vec, PetscViewer))
{
  PetscFunctionBeginUser;
  PetscCall((*move)(y, viewer));
  PetscCall((*move)(c->rates->rates, viewer));
  PetscCall((*move)(c->rates->fields, viewer));
  if (!c->rates->elastic->K) PetscCall((*move)(c->rates->elastic->u, viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleCheckpointWrite(const CycleCheckpoint *c, const char path[], TS ts, Vec y)
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)ts);
  PetscInt    head[3], calls[2];
  PetscReal   time[2], *slip;
  size_t      length;
  PetscViewer viewer;
  PetscMPIInt rank;
  char        temporary[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(CycleOutputFlush(c->output));
  PetscCall(PetscSNPrintf(temporary, sizeof(temporary), "%s.new", path));
  PetscCall(PetscViewerBinaryOpen(comm, temporary, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(PetscStrlen(c->text, &length));
  head[0] = VERSION;
  head[1] = (PetscInt)length;
  PetscCall(TSGetStepNumber(ts, &head[2]));
  PetscCall(PetscViewerBinaryWrite(viewer, head, 3, PETSC_INT));
  PetscCall(PetscViewerBinaryWrite(viewer, c->text, head[1], PETSC_CHAR));
  PetscCall(TSGetTime(ts, &time[0]));
  PetscCall(TSGetTimeStep(ts, &time[1]));
  PetscCall(PetscViewerBinaryWrite(viewer, time, 2, PETSC_REAL));
  calls[0] = (PetscInt)(c->rates->calls / 1000000000);
  calls[1] = (PetscInt)(c->rates->calls % 1000000000);
  PetscCall(PetscViewerBinaryWrite(viewer, calls, 2, PETSC_INT));
  /* numbers of the first process, which alone writes such data */
  PetscCall(PetscViewerBinaryWrite(viewer, &c->events->now, EVENTS, PETSC_REAL));
  PetscCall(PetscViewerBinaryWrite(viewer, &c->output->now, OUTPUT, PETSC_REAL));
  slip = c->events->slip;
  PetscCall(PetscViewerBinaryWrite(viewer, slip, c->rates->grid->n, PETSC_REAL));
  PetscCall(Vectors(c, viewer, y, VecView));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!rank) PetscCheck(!rename(temporary, path), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot rename %s to %s", temporary, path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleCheckpointRead(const CycleCheckpoint *c, const char path[], TS ts, Vec y, CycleOutputNumbers *output)
{
  MPI_Comm           comm  = PetscObjectComm((PetscObject)ts);
  CycleRates        *rates = c->rates;
  PetscInt           head[3], calls[2];
  PetscReal          time[2];
  PetscBool          same;
  PetscViewer        viewer;
  const PetscScalar *fields;
  char               text[TEXT_MAX];

  PetscFunctionBeginUser;
  PetscCall(PetscViewerBinaryOpen(comm, path, FILE_MODE_READ, &viewer));
  PetscCall(PetscViewerBinaryRead(viewer, head, 3, NULL, PETSC_INT));
  PetscCheck(head[0] == VERSION && head[1] > 0 && head[1] < TEXT_MAX, comm, PETSC_ERR_FILE_UNEXPECTED, "-restart %s: not a checkpoint of this program", path);
  PetscCall(PetscViewerBinaryRead(viewer, text, head[1], NULL, PETSC_CHAR));
  text[head[1]] = 0;
  PetscCall(PetscStrcmp(text, c->text, &same));
  PetscCheck(same, comm, PETSC_ERR_USER_INPUT, "-restart %s has another problem.\nFile:    %s\nOptions: %s", path, text, c->text);
  PetscCall(PetscViewerBinaryRead(viewer, time, 2, NULL, PETSC_REAL));
  PetscCall(PetscViewerBinaryRead(viewer, calls, 2, NULL, PETSC_INT));
  PetscCall(PetscViewerBinaryRead(viewer, &c->events->now, EVENTS, NULL, PETSC_REAL));
  PetscCall(PetscViewerBinaryRead(viewer, output, OUTPUT, NULL, PETSC_REAL));
  PetscCall(PetscViewerBinaryRead(viewer, c->events->slip, rates->grid->n, NULL, PETSC_REAL));
  PetscCall(Vectors(c, viewer, y, VecLoad));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(TSSetTime(ts, time[0]));
  PetscCall(TSSetTimeStep(ts, time[1]));
  PetscCall(TSSetStepNumber(ts, head[2]));
  rates->time  = time[0];
  rates->calls = (PetscInt64)calls[0] * 1000000000 + calls[1];
  PetscCall(CycleRatesHold(rates, ts, time[0]));
  PetscCall(VecGetArrayRead(rates->fields, &fields));
  for (PetscInt k = 0; k < rates->grid->own; k++) rates->logV[k] = PetscRealPart(fields[CYCLE_FIELDS * k + CYCLE_LOGV]);
  PetscCall(VecRestoreArrayRead(rates->fields, &fields));
  PetscFunctionReturn(PETSC_SUCCESS);
}
