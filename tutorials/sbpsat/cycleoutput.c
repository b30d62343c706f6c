/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Files in the form of the community's benchmarks: stations, contours of slip, numbers of the whole fault, earthquakes */

#include "cycle.h"
#include <unistd.h>

#define LN10 ((PetscReal)2.302585092994045684)

/* ------------------------------------------------------------ files */

static PetscErrorCode Open(CycleOutput *o, int k, const char name[])
{
  char path[PETSC_MAX_PATH_LEN];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", o->folder, name));
  if (!o->resumed) {
    o->file[k] = fopen(path, "w");
    PetscCheck(o->file[k], PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  } else {
    /* what was written after the checkpoint is written again */
    o->file[k] = fopen(path, "r+");
    PetscCheck(o->file[k] && !ftruncate(fileno(o->file[k]), (off_t)o->now.position[k]) && !fseek(o->file[k], 0, SEEK_END), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN,
               "%s is not the file that belongs to the checkpoint", path);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Lines at the begin of a file; columns end with NULL */
static PetscErrorCode Head(CycleOutput *o, int k, const char location[], const char *const columns[])
{
  FILE *file = o->file[k];
  char  date[64], user[64];
  int   n = 0;

  PetscFunctionBeginUser;
  if (o->resumed) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscGetDate(date, sizeof(date)));
  PetscCall(PetscGetUserName(user, sizeof(user)));
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, file,
                         "# problem=%s\n# code=Lithe, tutorials/sbpsat/cycle\n# modeler=%s\n# date=%s\n# element size=%g m\n# location=%s\n", o->problem, user,
                         date, (double)o->cell, location));
  for (; columns[n]; n++) PetscCall(PetscFPrintf(PETSC_COMM_SELF, file, "# Column #%d = %s\n", n + 1, columns[n]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const StationColumns[] = {"Time (s)", "Slip (m)", "Slip rate (log10 m/s)", "Shear stress (MPa)", "State (log10 s)", NULL};
static const char *const GlobalColumns[]  = {"Time (s)", "Max slip rate (log10 m/s)", "Moment rate per length of the fault (N m/s/m)", NULL};
static const char *const SlipColumns[]    = {"Time (s)", "Max slip rate (log10 m/s)", "Slip (m) at the depths (m) of the first line", NULL};
static const char *const EventColumns[] =
  {"Number", "Begin (s)",   "End (s)", "Peak slip rate (m/s)", "Slip at the surface (m)", "Largest slip (m)", "Depth of the begin (m)",
   "Steps",  "Evaluations", NULL};

PetscErrorCode CycleOutputFromOptions(MPI_Comm comm, const char problem[], CycleOutput *o)
{
  static const PetscReal usual[]  = {0, 2500, 5000, 7500, 10000, 12500, 15000, 17500, 20000, 25000, 30000, 35000};
  PetscInt               stations = CYCLE_STATIONS_MAX, contours = 2;
  PetscBool              set;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(o, sizeof(*o)));
  o->problem    = problem;
  o->contour[0] = 5;
  o->contour[1] = 1;
  o->interval   = (PetscReal)0.1;
  o->nstations  = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(usual);
  PetscCall(PetscArraycpy(o->station, usual, o->nstations));
  PetscOptionsBegin(comm, NULL, "Output", NULL);
  PetscCall(PetscOptionsString("-o", "an existing folder for files of results", NULL, o->folder, o->folder, sizeof(o->folder), NULL));
  PetscCall(
    PetscOptionsRealArray("-contours", "intervals of contours of slip: years between earthquakes, seconds in earthquakes", NULL, o->contour, &contours, &set));
  PetscCheck(!set || (contours == 2 && o->contour[0] > 0 && o->contour[1] > 0), comm, PETSC_ERR_USER_INPUT,
             "-contours needs two positive numbers: years, seconds");
  PetscCall(PetscOptionsRealArray("-stations", "depths in m", NULL, o->station, &stations, &set));
  if (set) o->nstations = stations;
  PetscCall(PetscOptionsReal("-interval", "least time between two lines of a file, s", NULL, o->interval, &o->interval, NULL));
  PetscOptionsEnd();
  for (PetscInt k = 0; k < o->nstations; k++)
    PetscCheck(o->station[k] >= 0 && o->station[k] < 1e6, comm, PETSC_ERR_USER_INPUT, "-stations %g: depths are in m", (double)o->station[k]);
  if (o->folder[0]) {
    PetscCall(PetscTestDirectory(o->folder, 'w', &set));
    PetscCallMPI(MPI_Bcast(&set, 1, MPI_C_BOOL, 0, comm));
    PetscCheck(set, comm, PETSC_ERR_FILE_OPEN, "-o %s: no folder in which files can be written", o->folder);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first process opens files. A station below the nodes with friction has no file */
PetscErrorCode CycleOutputOpen(CycleOutput *o, const CycleGrid *grid, const CycleStep *s, const CycleOutputNumbers *resumed)
{
  int files = 0;

  PetscFunctionBeginUser;
  if (!o->folder[0] || !s->n) PetscFunctionReturn(PETSC_SUCCESS);
  o->resumed = (PetscBool)(resumed != NULL);
  if (resumed) o->now = *resumed;
  o->cell = grid->cell[0];
  for (PetscInt k = 0; k < o->nstations; k++) {
    char name[32], location[64];

    if (o->station[k] > s->depth[s->n - 1]) {
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "no station at %g m: friction ends above\n", (double)o->station[k]));
      o->nstations = k;
      break;
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "fltst_dp%03d", (int)(o->station[k] / 100 + (PetscReal)0.5)));
    PetscCall(PetscSNPrintf(location, sizeof(location), "on the fault, %g km depth", (double)(o->station[k] / 1000)));
    PetscCall(Open(o, files, name));
    PetscCall(Head(o, files, location, StationColumns));
    if (!resumed) PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[files], "t slip slip_rate shear_stress state\n"));
    files++;
  }
  o->global = files++;
  PetscCall(Open(o, o->global, "global.dat"));
  PetscCall(Head(o, o->global, "whole fault", GlobalColumns));
  if (!resumed) PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->global], "t max_slip_rate moment_rate\n"));
  o->slip = files++;
  PetscCall(Open(o, o->slip, "slip.dat"));
  PetscCall(Head(o, o->slip, "whole fault", SlipColumns));
  if (!resumed) {
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], "0 0"));
    for (PetscInt k = 0; k < s->n; k++) PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], " %.7E", (double)s->depth[k]));
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], "\n"));
    o->now.line = PETSC_NINFINITY;
  }
  o->events = files++;
  PetscCall(Open(o, o->events, "events.dat"));
  PetscCall(Head(o, o->events, "whole fault", EventColumns));
  o->files = files;
  PetscCall(PetscCalloc2(s->n, &o->before[0], s->n, &o->before[1]));
  o->time = PETSC_NINFINITY;
  PetscFunctionReturn(PETSC_SUCCESS);
}

FILE *CycleOutputEvents(const CycleOutput *o)
{
  return o->files ? o->file[o->events] : NULL;
}

PetscErrorCode CycleOutputFlush(CycleOutput *o)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < o->files; k++) {
    PetscCheck(!fflush(o->file[k]) && !ferror(o->file[k]), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write a file in %s", o->folder);
    o->now.position[k] = (PetscReal)ftell(o->file[k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOutputClose(CycleOutput *o)
{
  PetscFunctionBeginUser;
  for (int k = 0; k < o->files; k++) {
    PetscCheck(!ferror(o->file[k]) && !fclose(o->file[k]), PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write a file in %s", o->folder);
  }
  PetscCall(PetscFree2(o->before[0], o->before[1]));
  o->files = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lines */

static PetscErrorCode WriteStation(const CycleOutput *o, int k, const CycleRates *rates, const CycleStep *s)
{
  PetscReal v[CYCLE_FIELDS], tau, theta, w = 0;
  PetscInt  low = 0;

  PetscFunctionBeginUser;
  while (low + 2 < s->n && s->depth[low + 1] <= o->station[k]) low++;
  w = (o->station[k] - s->depth[low]) / (s->depth[low + 1] - s->depth[low]);
  for (int f = 0; f < CYCLE_FIELDS; f++) v[f] = (1 - w) * s->field[f][low] + w * s->field[f][low + 1];
  tau   = v[CYCLE_TAU] - PetscSqrtReal(s->mu[low] * o->density) / 2 * PetscExpReal(v[CYCLE_LOGV]);
  theta = (v[CYCLE_PSI] - rates->law->f0) / rates->law->b + PetscLogReal(rates->law->Dc / rates->law->V0);
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[k], "%22.14E %15.7E %15.7E %15.7E %15.7E\n", (double)s->time, (double)v[CYCLE_SLIP],
                         (double)(v[CYCLE_LOGV] / LN10), (double)(tau / 1000000), (double)(theta / LN10)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Slip at a time since the step before: Hermite's polynomial of slips and slip rates */
static PetscErrorCode WriteSlip(const CycleOutput *o, const CycleStep *s, PetscReal t)
{
  const PetscReal h = s->time - o->time, x = (t - o->time) / h, logmax = (1 - x) * o->logmax + x * s->logmax;
  const PetscReal p = x * x * (3 - 2 * x), low = h * x * (1 - x) * (1 - x), high = -h * x * x * (1 - x);

  PetscFunctionBeginUser;
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], "%22.14E %15.7E", (double)t, (double)(logmax / LN10)));
  for (PetscInt k = 0; k < s->n; k++) {
    const PetscReal v = (1 - p) * o->before[0][k] + p * s->field[CYCLE_SLIP][k] + low * o->before[1][k] + high * PetscExpReal(s->field[CYCLE_LOGV][k]);

    PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], " %.11E", (double)v));
  }
  PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->slip], "\n"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOutputKeep(CycleOutput *o, const CycleStep *s)
{
  PetscFunctionBeginUser;
  if (!o->files) PetscFunctionReturn(PETSC_SUCCESS);
  o->time   = s->time;
  o->logmax = s->logmax;
  for (PetscInt k = 0; k < s->n; k++) {
    o->before[0][k] = s->field[CYCLE_SLIP][k];
    o->before[1][k] = PetscExpReal(s->field[CYCLE_LOGV][k]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode CycleOutputStep(CycleOutput *o, const CycleRates *rates, const CycleEvents *events, const CycleStep *s)
{
  PetscFunctionBeginUser;
  if (!o->files) PetscFunctionReturn(PETSC_SUCCESS);
  if (s->time - o->now.line >= o->interval) {
    PetscReal moment = 0;

    for (int k = 0; k < o->nstations; k++) PetscCall(WriteStation(o, k, rates, s));
    for (PetscInt k = 0; k < s->n; k++) moment += s->mu[k] * s->weight[k] * PetscExpReal(s->field[CYCLE_LOGV][k]);
    PetscCall(PetscFPrintf(PETSC_COMM_SELF, o->file[o->global], "%22.14E %15.7E %15.7E\n", (double)s->time, (double)(s->logmax / LN10), (double)moment));
    o->now.line = s->time;
  }
  if (o->time > PETSC_NINFINITY) {
    const PetscReal years = o->contour[0] * (PetscReal)CYCLE_YEAR;

    for (; o->now.year * years <= s->time; o->now.year++) PetscCall(WriteSlip(o, s, o->now.year * years));
    /* seconds of an earthquake count from its begin; a pause in the earthquake has no contours */
    if (events->now.open == 0 && events->now.closing == 0) o->now.second = 0;
    if (events->now.open != 0) {
      for (; events->now.begin + o->now.second * o->contour[1] <= s->time; o->now.second++) {
        const PetscReal t = events->now.begin + o->now.second * o->contour[1];

        if (t > o->time) PetscCall(WriteSlip(o, s, t));
      }
    }
  }
  PetscCall(CycleOutputKeep(o, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
