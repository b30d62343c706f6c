/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Velocity, reflectivity and image, with a time line per group below; and a movie of the image as tasks end */

#include "migration.h"
#include <tutorials/common/gif.h>
#include <tutorials/common/picture.h>

#define WIDTH  1500
#define HEIGHT 400
#define BARS   1000 /* pixels of time */
#define BAR    8    /* per group, including a blank pixel */

/* The section through the middle of y, the deepest line first */
static void GetSection(const Migration *m, const PetscReal x[], PetscReal section[])
{
  for (PetscInt k = 0; k < m->n[2]; k++) {
    for (PetscInt i = 0; i < m->n[0]; i++) section[(m->n[2] - 1 - k) * m->n[0] + i] = x[((PetscInt64)k * m->n[1] + m->n[1] / 2) * m->n[0] + i];
  }
}

static PetscErrorCode CreateGrey(int width, int height, Picture *picture)
{
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsHasName(NULL, NULL, "-draw_cmap", &set));
  if (!set) PetscCall(PetscOptionsSetValue(NULL, "-draw_cmap", "gray"));
  PetscCall(PictureCreate(width, height, picture));
  if (!set) PetscCall(PetscOptionsClearValue(NULL, "-draw_cmap"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode DrawSection(const Migration *m, Picture *picture, const int box[4], const char title[], const PetscReal *section,
                                  const PetscReal range[2])
{
  PicturePanel panel = {.title = title, .unit = "", .xlabel = "x, km", .ylabel = "depth", .nx = m->n[0], .ny = m->n[2], .value = section};

  PetscFunctionBegin;
  panel.x[1] = m->length[0] / 1000;
  panel.y[0] = m->length[2] / 1000;
  if (range) {
    panel.range[0] = range[0];
    panel.range[1] = range[1];
  }
  PetscCall(PictureDraw(picture, box, &panel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A line per group: dark when idle, brighter for higher frequencies */
static PetscErrorCode DrawGroups(const MigrationJob *job, Picture *picture, const int box[4])
{
  const LitheFarmResult *r     = &job->result;
  const PetscInt         lines = BAR * job->group.groups;
  PicturePanel           panel = {.title  = "what groups did when: the frequency of their task, black where they had none",
                                  .unit   = "Hz",
                                  .xlabel = "time, s",
                                  .ylabel = "group",
                                  .nx     = BARS,
                                  .ny     = lines};
  PetscReal             *value;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(BARS * lines, &value));
  for (PetscInt t = 0; t < job->ntasks; t++) {
    const LitheFarmRecord *record = &r->record[t];
    PetscInt               begin, end;

    if (record->group < 0 || !(r->seconds > 0)) continue;
    begin = (PetscInt)(record->begin / r->seconds * BARS);
    end   = PetscMin(BARS, (PetscInt)(record->end / r->seconds * BARS));
    for (PetscInt line = 0; line < BAR - 1; line++) {
      /* a dark pixel between tasks which are long enough */
      for (PetscInt x = begin + (end > begin + 3); x < end; x++)
        value[(BAR * (job->group.groups - 1 - record->group) + line) * BARS + x] = job->m->frequency[job->task[t].frequency];
    }
  }
  panel.value    = value;
  panel.x[1]     = PetscMax(r->seconds, (PetscReal)1e-3);
  panel.y[0]     = (PetscReal)job->group.groups;
  panel.range[1] = job->m->frequency[job->m->nfrequencies - 1];
  PetscCall(PictureDraw(picture, box, &panel));
  PetscCall(PetscFree(value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationWritePicture(const MigrationJob *job, const PetscReal image[], const char path[])
{
  const Migration *m         = job->m;
  const int        low       = PetscMin(1000, 150 + 14 * (int)job->group.groups);
  const int        box[4][4] = {{0, 0, WIDTH / 3, HEIGHT}, {WIDTH / 3, 0, WIDTH / 3, HEIGHT}, {2 * WIDTH / 3, 0, WIDTH / 3, HEIGHT}, {0, HEIGHT, WIDTH, low}};
  PetscReal       *all, *section, range[2];
  Picture          picture;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m->nodes, &all, m->n[0] * m->n[2], &section));
  PetscCall(CreateGrey(WIDTH, HEIGHT + low, &picture));
  GetSection(m, m->velocity, section);
  PetscCall(DrawSection(m, &picture, box[0], "velocity, m/s", section, NULL));
  PetscCall(ImagingReflectivity(m, all));
  GetSection(m, all, section);
  PetscCall(PictureGetRange(m->n[0] * m->n[2], section, range));
  PetscCall(DrawSection(m, &picture, box[1], m->image == MIGRATION_REFLECTIVITY ? "reflectivity" : "(v^2 - background^2)/background^2", section, range));
  GetSection(m, image, section);
  PetscCall(PictureGetRange(m->n[0] * m->n[2], section, range));
  PetscCall(DrawSection(m, &picture, box[2], "migration", section, range));
  PetscCall(DrawGroups(job, &picture, box[3]));
  PetscCall(PictureWrite(&picture, path));
  PetscCall(PetscFree2(all, section));
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

/* On the first process: a frame with the image until now, or the velocity before the first task */
static PetscErrorCode WriteFrame(const MigrationJob *job, PetscInt number, PetscInt done, const PetscReal sum[], const PetscReal range[2], const char frames[],
                                 Gif *gif, PetscBool last)
{
  const Migration *m     = job->m;
  const int        width = 900, height = PetscMax(140, PetscMin(800, 72 + (int)(762 * m->length[2] / m->length[0]))), box[4] = {0, 0, width, height};
  unsigned char    palette[256][3], *pixels;
  PetscReal       *image, *section;
  char             title[128], path[PETSC_MAX_PATH_LEN];
  Picture          picture;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m->n[0] * m->n[2], &image, m->n[0] * m->n[2], &section));
  PetscCall(CreateGrey(width, height, &picture));
  if (number) {
    PetscCall(PetscSNPrintf(title, sizeof(title), "the image after %" PetscInt_FMT " of %" PetscInt_FMT " tasks", done, job->ntasks));
    PetscCall(ImagingFinishSection(m, job->sums, sum, image));
    for (PetscInt k = 0; k < m->n[2]; k++) PetscCall(PetscArraycpy(section + k * m->n[0], image + (m->n[2] - 1 - k) * m->n[0], (size_t)m->n[0]));
    PetscCall(DrawSection(m, &picture, box, title, section, range));
  } else {
    GetSection(m, m->velocity, section);
    PetscCall(DrawSection(m, &picture, box, "velocity, m/s", section, NULL));
  }
  if (gif->path[0]) {
    PetscCall(PictureGetPixels(&picture, palette, &pixels));
    PetscCheck(pixels, PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "A movie is made of pictures in memory: without -picture_draw_type");
    if (!gif->file) PetscCall(GifCreate(gif->path, width, height, palette, gif));
    PetscCall(GifAdd(gif, !number || last ? 200 : 15, pixels));
    PetscCall(PetscFree(pixels));
  }
  if (frames[0]) {
    PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%03" PetscInt_FMT ".png", frames, number));
    PetscCall(PictureWrite(&picture, path));
  } else PetscCall(PetscDrawDestroy(&picture.draw));
  PetscCall(PetscFree2(image, section));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationWriteFrames(const MigrationJob *job, const char frames[], const char movie[], PetscInt most)
{
  const Migration *m    = job->m;
  const PetscInt   n    = m->n[0] * m->n[2];
  PetscInt         many = 0, number = 1, shown = 0;
  PetscReal       *sum, *own, *piece, *image, range[2];
  PetscMPIInt      rank;
  Done            *done;
  Gif              gif = {.file = NULL};

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(m->comm, &rank));
  PetscCall(PetscStrncpy(gif.path, movie, sizeof(gif.path)));
  PetscCall(PetscMalloc5(n, &sum, n, &own, n, &piece, n, &image, job->ntasks, &done));
  for (PetscInt t = 0; t < job->ntasks; t++) {
    if (job->result.record[t].kind) done[many++] = (Done){job->result.record[t].group < 0 ? -1 : job->result.record[t].end, t};
  }
  qsort(done, (size_t)many, sizeof(*done), Earlier);
  /* the first round finds the final colours, the second round writes the frames */
  for (int round = 0; round < 2; round++) {
    PetscCall(PetscArrayzero(sum, n));
    if (round && !rank) PetscCall(WriteFrame(job, 0, 0, NULL, NULL, frames, &gif, PETSC_FALSE));
    for (PetscInt k = 0; k < many; k++) {
      const MigrationTask *task = &job->task[done[k].task];
      const PetscBool      show = (PetscBool)(round && (k + 1 == many || (k + 1) * most / many > shown));

      PetscCall(PetscArrayzero(own, n));
      if (task->piece) PetscCall(PetscArraycpy(own, task->piece, n));
      PetscCallMPI(MPI_Reduce(own, piece, (PetscMPIInt)n, MPIU_REAL, MPIU_SUM, 0, m->comm));
      if (rank) continue;
      for (PetscInt i = 0; i < n; i++) sum[i] += piece[i];
      if (!show) continue;
      shown = (k + 1) * most / many;
      PetscCall(WriteFrame(job, number++, k + 1, sum, range, frames, &gif, (PetscBool)(k + 1 == many)));
    }
    if (round || rank) continue;
    PetscCall(ImagingFinishSection(m, job->sums, sum, image));
    PetscCall(PictureGetRange(n, image, range));
  }
  if (gif.file) PetscCall(GifClose(&gif));
  PetscCall(PetscFree5(sum, own, piece, image, done));
  PetscFunctionReturn(PETSC_SUCCESS);
}
