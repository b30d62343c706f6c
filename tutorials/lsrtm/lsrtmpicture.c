/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Columns: velocity, migration, least squares. Rows: a section, in 3-D three sections. In the last row: the data of a
   shot, the residual, and the misfit over iterations
*/

#include "lsrtm.h"
#include <tutorials/common/picture.h>
#include <tutorials/common/velocity.h>

#define WIDTH  1500
#define HEIGHT 380 /* of a row */

/* A section has two axes; the third coordinate is fixed. Depths are drawn downwards */
typedef struct {
  int         across, down, fixed;
  const char *xlabel, *ylabel;
} Section;

static const Section sections[] = {{0, 2, 1, "x, km", "depth"}, {1, 2, 0, "y, km", "depth"}, {0, 1, 2, "x, km", "y, km"}};

static inline PetscInt SectionSize(const Survey *s, const Section *section)
{
  return s->n[section->across] * s->n[section->down];
}

/* Sections of the model, in order. The first line of a section is at the bottom of the panel */
static PetscErrorCode GetSections(const Survey *s, Vec x, int many, PetscReal *value)
{
  PetscMPIInt rank;
  Vec         all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(GridGather(s->da, x, &all));
  if (!rank) {
    const PetscScalar *a;

    PetscCall(VecGetArrayRead(all, &a));
    for (int k = 0; k < many; k++) {
      const Section *section = &sections[k];
      const PetscInt lines   = s->n[section->down];
      PetscInt       at[3];

      at[section->fixed] = s->at[section->fixed];
      for (PetscInt line = 0; line < lines; line++) {
        at[section->down] = section->down == 2 ? lines - 1 - line : line;
        for (at[section->across] = 0; at[section->across] < s->n[section->across]; at[section->across]++)
          *value++ = PetscRealPart(a[s->pad[0] + at[0] + s->N[0] * (s->pad[1] + at[1] + (PetscInt64)s->N[1] * (s->pad[2] + at[2]))]);
      }
    }
    PetscCall(VecRestoreArrayRead(all, &a));
  }
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The traces of a shot, receivers along x, time downwards; in 3-D the middle line of receivers */
static PetscErrorCode GetTraces(const Survey *s, Vec data, PetscInt *nx, PetscInt *nt, PetscReal **value)
{
  const PetscInt shot = s->nshots / 2;
  PetscInt       row, n, first, line;
  PetscMPIInt    rank;
  Vec            all;
  VecScatter     scatter;

  PetscFunctionBegin;
  *nt = s->steps / s->every;
  PetscCall(MatBornGetShotRows(s->J, shot, &row, NULL));
  PetscCall(MatBornGetShot(s->J, shot, NULL, &n, NULL));
  line  = s->dim == 2 || s->records[0] ? n : (s->n[0] - 1) / s->step[0] + 1;
  first = (n / line / 2) * line;
  *nx   = line;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(VecScatterCreateToZero(data, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, data, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, data, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(PetscMalloc1(*nx * *nt, value));
  if (!rank) {
    const PetscScalar *d;

    PetscCall(VecGetArrayRead(all, &d));
    for (PetscInt r = 0; r < *nx; r++) {
      for (PetscInt t = 0; t < *nt; t++) (*value)[(*nt - 1 - t) * *nx + r] = PetscRealPart(d[row + (first + r) * *nt + t]);
    }
    PetscCall(VecRestoreArrayRead(all, &d));
  }
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A column of sections with a common scale. A vertical line shows the place of the other vertical section */
static PetscErrorCode DrawSections(const Survey *s, Picture *picture, int column, const char title[], int many, const PetscReal *value,
                                   const PetscReal range[2])
{
  PetscFunctionBegin;
  for (int k = 0; k < many; k++) {
    const Section    *section = &sections[k];
    const PetscInt    across = section->across, down = section->down, fixed = section->fixed;
    const int         box[4] = {column * WIDTH / 3, k * HEIGHT, WIDTH / 3, HEIGHT};
    const PictureMark mark   = {.x = s->h * (PetscReal)s->at[across] / 1000, .y = (PetscReal)NAN};
    PicturePanel      panel =
      {.title = title, .unit = "", .xlabel = section->xlabel, .ylabel = section->ylabel, .nx = s->n[across], .ny = s->n[down], .value = value};
    char text[128];

    panel.x[1]                 = s->h * (PetscReal)(s->n[across] - 1) / 1000;
    panel.y[down == 2 ? 0 : 1] = s->h * (PetscReal)(s->n[down] - 1) / 1000;
    panel.range[0]             = range[0];
    panel.range[1]             = range[1];
    if (many > 1) {
      PetscCall(
        PetscSNPrintf(text, sizeof(text), "%s, %s = %.3g km", title, fixed == 2 ? "depth" : (fixed ? "y" : "x"), (double)s->h * (double)s->at[fixed] / 1000));
      panel.title  = text;
      panel.nmarks = 1;
      panel.mark   = &mark;
    }
    PetscCall(PictureDraw(picture, box, &panel));
    value += SectionSize(s, section);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetLimits(PetscInt n, const PetscReal *value, PetscReal range[2])
{
  PetscFunctionBegin;
  range[0] = range[1] = value[0];
  for (PetscInt i = 1; i < n; i++) {
    range[0] = PetscMin(range[0], value[i]);
    range[1] = PetscMax(range[1], value[i]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveyWritePicture(const Survey *s, const Least *least, Vec rtm, Vec image, Vec residual, const char path[])
{
  const char *const titles[] = {"velocity, m/s", "migration", "least-squares migration"};
  const Vec         x[] = {s->velocity, rtm, image}, d[] = {s->data, residual};
  const int         many = s->dim == 3 ? 3 : 1;
  PetscReal        *section[3], *traces[2], range[2] = {0, 0};
  PetscMPIInt       rank;
  PetscInt          nx = 0, nt = 0, n = 0;
  Picture           picture;
  PetscBool         set;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  for (int k = 0; k < many; k++) n += SectionSize(s, &sections[k]);
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscMalloc1(n, &section[k]));
    PetscCall(GetSections(s, x[k], many, section[k]));
  }
  /* images of water show sources and receivers only */
  for (PetscInt i = 0; i < n && !rank; i++) {
    if (section[0][i] <= (PetscReal)VELOCITY_WATER) section[1][i] = section[2][i] = 0;
  }
  for (int k = 0; k < 2; k++) PetscCall(GetTraces(s, d[k], &nx, &nt, &traces[k]));
  if (!rank) {
    PetscReal curve[2 * (LSRTM_ITERATIONS + 1)];
    char      title[64];

    /* zeros of data and images are grey */
    PetscCall(PetscOptionsHasName(NULL, NULL, "-draw_cmap", &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, "-draw_cmap", "gray"));
    PetscCall(PictureCreate(WIDTH, (many + 1) * HEIGHT, &picture));
    if (!set) PetscCall(PetscOptionsClearValue(NULL, "-draw_cmap"));
    PetscCall(GetLimits(n, section[0], range));
    for (int k = 0; k < 3; k++) {
      if (k) PetscCall(PictureGetRange(n, section[k], range));
      PetscCall(DrawSections(s, &picture, k, titles[k], many, section[k], range));
    }
    PetscCall(PictureGetRange(nx * nt, traces[0], range));
    for (int k = 0; k < 2; k++) {
      const int    box[4] = {k * WIDTH / 3, many * HEIGHT, WIDTH / 3, HEIGHT};
      PicturePanel panel  = {.unit = "", .xlabel = "receiver", .ylabel = "time, s", .nx = nx, .ny = nt, .value = traces[k]};

      PetscCall(PetscSNPrintf(title, sizeof(title), k ? "what is left of them" : "data of shot %" PetscInt_FMT, 1 + s->nshots / 2));
      panel.title    = title;
      panel.x[1]     = (PetscReal)nx;
      panel.y[0]     = s->dt * (PetscReal)s->steps;
      panel.range[0] = range[0];
      panel.range[1] = range[1];
      PetscCall(PictureDraw(&picture, box, &panel));
    }
    {
      const int    box[4] = {2 * WIDTH / 3, many * HEIGHT, WIDTH / 3, HEIGHT};
      PicturePanel panel =
        {.title = "misfit by that of no image", .unit = "", .xlabel = "iteration", .ylabel = "", .ncurve = least->iterations + 1, .curve = curve};

      for (PetscInt k = 0; k <= least->iterations; k++) {
        curve[2 * k]     = (PetscReal)k;
        curve[2 * k + 1] = least->misfit[k];
      }
      panel.x[1] = (PetscReal)PetscMax(1, least->iterations);
      panel.y[1] = 1;
      PetscCall(PictureDraw(&picture, box, &panel));
    }
    PetscCall(PictureWrite(&picture, path));
  }
  for (int k = 0; k < 3; k++) PetscCall(PetscFree(section[k]));
  for (int k = 0; k < 2; k++) PetscCall(PetscFree(traces[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
