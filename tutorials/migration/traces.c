/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Shots and their data in SEG-Y files (a record is a shot, a trace a receiver), and the transform between times and
   frequencies */

#include "migration.h"
#include <tutorials/common/segy.h>

/* The traces of a record follow one another. Each process reads the file */
PetscErrorCode TracesReadShots(Migration *m)
{
  Segy       segy;
  SegyTrace  trace;
  PetscReal *value;
  PetscInt   record = 0;

  PetscFunctionBegin;
  PetscCall(SegyOpen(m->records, &segy));
  PetscCheck(segy.interval > 0 && segy.traces > 0, m->comm, PETSC_ERR_FILE_UNEXPECTED, "%s has no traces, or does not tell the time between samples",
             m->records);
  PetscCheck(segy.traces < 100000000, m->comm, PETSC_ERR_SUP, "%s has %" PetscInt64_FMT " traces: too many", m->records, segy.traces);
  PetscCheck(m->frequency[m->nfrequencies - 1] * 2 <= 1 / segy.interval, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%s has a sample each %g s: too few for %g Hz of -frequencies", m->records, (double)segy.interval, (double)m->frequency[m->nfrequencies - 1]);
  PetscCall(PetscMalloc1(segy.traces, &m->shot));
  PetscCall(PetscMalloc1(3 * segy.traces, &m->place));
  PetscCall(PetscMalloc1(segy.samples, &value));
  m->nshots     = 0;
  m->nreceivers = (PetscInt)segy.traces;
  for (PetscInt t = 0; t < m->nreceivers; t++) {
    PetscCall(SegyRead(&segy, &trace, value));
    if (!t || trace.record != record) {
      m->shot[m->nshots] = (MigrationShot){.first = t, .at = t};
      PetscCall(PetscArraycpy(m->shot[m->nshots].source, trace.source, 3));
      m->nshots++;
    }
    record = trace.record;
    m->shot[m->nshots - 1].nreceivers++;
    PetscCall(PetscArraycpy(m->place + 3 * t, trace.receiver, 3));
    /* a plane has no second direction */
    if (m->dim == 2) m->place[3 * t + 1] = m->shot[m->nshots - 1].source[1] = 0;
  }
  PetscCall(PetscFree(value));
  PetscCall(SegyClose(&segy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The integral of a trace times exp(-i omega t), at each frequency */
PetscErrorCode TracesReadData(Migration *m)
{
  Segy       segy;
  SegyTrace  trace;
  PetscReal *value;

  PetscFunctionBegin;
  PetscCall(SegyOpen(m->records, &segy));
  PetscCall(PetscMalloc1(segy.samples, &value));
  PetscCall(PetscMalloc1((size_t)m->nfrequencies * m->nreceivers, &m->data));
  for (PetscInt t = 0; t < m->nreceivers; t++) {
    PetscCall(SegyRead(&segy, &trace, value));
    for (PetscInt f = 0; f < m->nfrequencies; f++) {
      const double turn = -2 * (double)PETSC_PI * (double)m->frequency[f] * (double)segy.interval;
      double       re = 0, im = 0;

      for (PetscInt i = 0; i < segy.samples; i++) {
        re += (double)value[i] * cos(turn * (double)i);
        im += (double)value[i] * sin(turn * (double)i);
      }
      m->data[(size_t)f * m->nreceivers + t] = MigrationComplex((PetscReal)re * segy.interval, (PetscReal)im * segy.interval);
    }
  }
  PetscCall(PetscFree(value));
  PetscCall(SegyClose(&segy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TracesWrite(const Migration *m, const PetscScalar data[], const char path[])
{
  const PetscReal step = m->nfrequencies > 1 ? m->band[2] : m->band[0], period = 1 / step;
  const PetscInt  samples = (PetscInt)PetscCeilReal(5 * m->frequency[m->nfrequencies - 1] * period);
  /* whole microseconds from 1 ms on: files of revision 1 have no others */
  const PetscReal exact    = period / (PetscReal)samples;
  const PetscReal interval = exact < (PetscReal)1e-3 ? exact : PetscFloorReal(exact * (PetscReal)1e6 + (PetscReal).5) / (PetscReal)1e6;
  PetscReal      *value;
  Segy            segy;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(samples, &value));
  PetscCall(SegyCreate(path, "Shot records modelled by migration, time in s", SEGY_IEEE, samples, interval,
                       PetscMax(m->length[0], PetscMax(m->length[1], m->length[2])), &segy));
  for (PetscInt s = 0; s < m->nshots; s++) {
    const MigrationShot *shot  = &m->shot[s];
    SegyTrace            trace = {.record = s + 1};

    PetscCall(PetscArraycpy(trace.source, shot->source, 3));
    for (PetscInt r = 0; r < shot->nreceivers; r++) {
      trace.trace = r + 1;
      PetscCall(PetscArraycpy(trace.receiver, m->place + 3 * (shot->at + r), 3));
      for (PetscInt i = 0; i < samples; i++) {
        double sum = 0;

        for (PetscInt f = 0; f < m->nfrequencies; f++) {
          const PetscScalar d    = data[(size_t)f * m->nreceivers + shot->first + r];
          const double      turn = 2 * (double)PETSC_PI * (double)m->frequency[f] * (double)interval * (double)i;

          sum += (double)PetscRealPart(d) * cos(turn) - (double)PetscImaginaryPart(d) * sin(turn);
        }
        value[i] = 2 * step * (PetscReal)sum;
      }
      PetscCall(SegyWrite(&segy, &trace, value));
    }
  }
  PetscCall(SegyClose(&segy));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}
