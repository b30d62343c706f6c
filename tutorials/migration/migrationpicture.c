/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Velocity, reflectivity and image, in 3-D three sections of each, with a time line per group below; and a movie of the
   image as tasks end
*/

#include "migration.h"
#include <tutorials/common/plot.h>

/* The plane of a section; in 3-D the title tells the place. A vertical line shows the place of the other vertical
   section. flat: x has the numbers of the plane alone */
static PetscErrorCode AddSection(const Migration *m, Plot *plot, PlotPanel *panel, const MigrationSection *section, PetscBool flat, const PetscReal x[])
{
  const int        d         = section->fixed;
  const PetscInt   n[3]      = {flat && d == 0 ? 1 : m->n[0], flat && d == 1 ? 1 : m->n[1], flat && d == 2 ? 1 : m->n[2]};
         const PlotMark mark = {.x = m->h * (PetscReal)m->at[d == 0 ? 1 : 0], .y = (PetscReal)NAN};
  const char      *title     = panel->title;
  const PetscInt64 stride[3] = {1, n[0], (PetscInt64)n[0] * n[1]};
  char             text[192];

  PetscFunctionBegin;
  if (m->dim == 3) {
    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, %s = %.4g m", title, d == 2 ? "depth" : (d ? "y" : "x"), (double)(m->h * (PetscReal)section->at)));
    panel->title = text;
    if (!panel->frame) {
      panel->nmarks = 1;
      panel->mark   = &mark;
    }
  }
  PlotPlane(panel, d, flat ? 0 : section->at, n, m->length, stride, x);
  PetscCall(PlotAdd(plot, panel));
  panel->title  = title;
  panel->nmarks = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What groups did when: a bar per task, with its frequency */
static PetscErrorCode AddGroups(const MigrationJob *job, Plot *plot, int row)
{
  PlotPanel  panel = {.row     = row,
                      .columns = 3,
                      .title   = "tasks of the groups",
                      .xlabel  = "time, s",
                      .ylabel  = "group",
                      .label   = "frequency, Hz",
                      .down    = PETSC_TRUE,
                      .x       = {0, job->result.seconds}};
  PetscReal *bar;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(4 * job->ntasks, &bar));
  for (PetscInt t = 0; t < job->ntasks; t++) {
    const LitheFarmRecord *record = &job->result.record[t];
    PetscReal             *b      = &bar[4 * panel.nbars];

    if (record->group < 0 || !(job->result.seconds > 0)) continue;
    b[0] = record->begin;
    b[1] = record->end;
    b[2] = (PetscReal)record->group;
    b[3] = job->m->frequency[job->task[t].frequency];
    panel.nbars++;
  }
  panel.bar = bar;
  if (panel.nbars) PetscCall(PlotAdd(plot, &panel));
  PetscCall(PetscFree(bar));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationWritePicture(const MigrationJob *job, const PetscReal image[], const char path[])
{
  const Migration *m        = job->m;
  PlotPanel        velocity = {.title = "velocity", .label = "velocity, m/s"},
            panel           = {.label = "value / its root mean square", .colours = "gray", .range = "symmetric"};
  MigrationSection section[3];
  const int        many = SectionsGet(m, section);
  PetscReal       *reflectivity;
  Plot             plot;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->nodes, &reflectivity));
  PetscCall(ImagingReflectivity(m, reflectivity));
  PetscCall(PlotOpen(path, &plot));
  for (int k = 0; k < many; k++) {
    velocity.row = panel.row = k;
    PetscCall(AddSection(m, &plot, &velocity, &section[k], PETSC_FALSE, m->velocity));
    panel.column = 1;
    panel.norm = panel.title = m->image == MIGRATION_REFLECTIVITY ? "reflectivity" : "(v^2 - background^2)/background^2";
    PetscCall(AddSection(m, &plot, &panel, &section[k], PETSC_FALSE, reflectivity));
    panel.column = 2;
    panel.norm = panel.title = "migration";
    PetscCall(AddSection(m, &plot, &panel, &section[k], PETSC_FALSE, image));
  }
  PetscCall(AddGroups(job, &plot, many));
  PetscCall(PlotClose(&plot));
  PetscCall(PetscFree(reflectivity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the image as it fills up */

typedef struct {
  PetscReal end;
  PetscInt  task;
} Done;

/* Tasks from journals first, then the tasks of this run by end time */
static int Earlier(const void *x, const void *y)
{
  const Done *a = (const Done *)x, *b = (const Done *)y;

  if (a->end != b->end) return a->end < b->end ? -1 : 1;
  return a->task < b->task ? -1 : a->task > b->task;
}

/* On the first process: a frame with the image until now. In 2-D the image is beside the velocity, in 3-D below */
static PetscErrorCode AddFrame(const MigrationJob *job, Plot *plot, int frame, PetscInt done, const PetscReal weight[], const PetscReal sum[])
{
  const Migration *m = job->m;
  char             title[128];
  MigrationSection section[3];
  const int        many  = SectionsGet(m, section);
  PlotPanel        panel = {.frame = frame, .title = title, .label = "migration", .colours = "gray", .range = "symmetric"};
  PetscReal       *image;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(SectionsSize(m), &image));
  for (int k = 0; k < many; k++) {
    PetscCall(ImagingFinishSection(m, &section[k], weight, sum + section[k].start, image));
    PetscCall(PetscSNPrintf(title, sizeof(title), "%s %" PetscInt_FMT " of %" PetscInt_FMT " tasks", m->dim == 3 ? "after" : "image after", done, job->ntasks));
    panel.row    = m->dim == 3;
    panel.column = m->dim == 3 ? k : 1;
    PetscCall(AddSection(m, plot, &panel, &section[k], PETSC_TRUE, image));
  }
  PetscCall(PetscFree(image));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationWriteMovie(const MigrationJob *job, const char path[], PetscInt most)
{
  const Migration *m        = job->m;
  const PetscInt   n        = SectionsSize(m);
  PlotPanel        velocity = {.title = "velocity", .label = "velocity, m/s"};
  PetscInt         many = 0, shown = 0;
  int              frame = 0;
  MigrationSection section[3];
  const int        sections = SectionsGet(m, section);
  PetscReal       *sum, *own, *piece, *weight = NULL;
  PetscMPIInt      rank;
  Done            *done;
  Plot             plot;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(m->comm, &rank));
  PetscCall(PetscMalloc3(n, &own, n, &piece, job->ntasks, &done));
  PetscCall(PetscCalloc1(n, &sum));
  for (PetscInt t = 0; t < job->ntasks; t++) {
    if (job->result.record[t].kind) done[many++] = (Done){job->result.record[t].group < 0 ? -1 : job->result.record[t].end, t};
  }
  qsort(done, (size_t)many, sizeof(*done), Earlier);
  if (!rank) {
    PetscCall(PlotOpen(path, &plot));
    for (int s = 0; s < sections; s++) {
      velocity.column = s;
      PetscCall(AddSection(m, &plot, &velocity, &section[s], PETSC_FALSE, m->velocity));
    }
    PetscCall(ImagingGetWeights(m, job->sums, &weight));
  }
  for (PetscInt k = 0; k < many; k++) {
    const MigrationTask *task = &job->task[done[k].task];

    PetscCall(PetscArrayzero(own, n));
    if (task->piece) PetscCall(PetscArraycpy(own, task->piece, n));
    PetscCallMPI(MPI_Reduce(own, piece, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, 0, m->comm));
    if (rank) continue;
    for (PetscInt i = 0; i < n; i++) sum[i] += piece[i];
    if (k + 1 < many && (k + 1) * most / many == shown) continue;
    shown = (k + 1) * most / many;
    PetscCall(AddFrame(job, &plot, frame++, k + 1, weight, sum));
  }
  if (!rank) PetscCall(PlotClose(&plot));
  PetscCall(PetscFree(weight));
  PetscCall(PetscFree(sum));
  PetscCall(PetscFree3(own, piece, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}
