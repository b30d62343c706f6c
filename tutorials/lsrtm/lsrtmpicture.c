/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Above: velocity, migration, least squares. Below: the data of a shot, what is left of them, and the misfit over iterations */

#include "lsrtm.h"
#include <tutorials/common/picture.h>
#include <tutorials/common/velocity.h>

#define WIDTH  1500
#define HEIGHT 760

/* A section of the model in x and z through the middle of y, the deepest line first */
static PetscErrorCode GetSection(const Survey *s, Vec x, PetscReal *value)
{
  PetscMPIInt rank;
  Vec         all;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(GridGather(s->da, x, &all));
  if (!rank) {
    const PetscScalar *a;

    PetscCall(VecGetArrayRead(all, &a));
    for (PetscInt k = 0; k < s->n[2]; k++) {
      const PetscInt64 line = (s->pad[1] + s->n[1] / 2 + (PetscInt64)s->N[1] * (s->pad[2] + k)) * s->N[0] + s->pad[0];

      for (PetscInt i = 0; i < s->n[0]; i++) value[(s->n[2] - 1 - k) * s->n[0] + i] = PetscRealPart(a[line + i]);
    }
    PetscCall(VecRestoreArrayRead(all, &a));
  }
  PetscCall(VecDestroy(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The traces of a shot, receivers along x, time downwards; in 3-D those of the middle line */
static PetscErrorCode GetTraces(const Survey *s, Vec data, PetscInt *nx, PetscInt *nt, PetscReal **value)
{
  const PetscInt shot = s->nshots / 2;
  PetscInt       row  = 0, n, first, line;
  PetscMPIInt    rank;
  Vec            all;
  VecScatter     scatter;

  PetscFunctionBegin;
  *nt = s->steps / s->every;
  for (PetscInt k = 0; k < shot; k++) {
    PetscCall(MatBornGetShot(s->J, k, NULL, &n, NULL));
    row += n * *nt;
  }
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

static PetscErrorCode DrawSection(const Survey *s, Picture *picture, int column, const char title[], const char unit[], const PetscReal *value, PetscBool image)
{
  const int    box[4] = {column * WIDTH / 3, 0, WIDTH / 3, HEIGHT / 2};
  PicturePanel panel  = {.title = title, .unit = unit, .xlabel = "x, km", .ylabel = "depth", .nx = s->n[0], .ny = s->n[2], .value = value};

  PetscFunctionBegin;
  panel.x[1] = s->h * (PetscReal)(s->n[0] - 1) / 1000;
  panel.y[0] = s->h * (PetscReal)(s->n[2] - 1) / 1000;
  if (image) PetscCall(PictureGetRange(s->n[0] * s->n[2], value, panel.range));
  PetscCall(PictureDraw(picture, box, &panel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveyWritePicture(const Survey *s, const Least *least, Vec rtm, Vec image, Vec residual, const char path[])
{
  const char *const titles[] = {"velocity, m/s", "migration", "least-squares migration"};
  const Vec         x[] = {s->velocity, rtm, image}, d[] = {s->data, residual};
  PetscReal        *section[3], *traces[2], range[2];
  PetscMPIInt       rank;
  PetscInt          nx = 0, nt = 0;
  Picture           picture;
  PetscBool         set;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscMalloc1(s->n[0] * s->n[2], &section[k]));
    PetscCall(GetSection(s, x[k], section[k]));
  }
  /* water is mute: what images have there are sources and receivers */
  for (PetscInt i = 0; i < s->n[0] * s->n[2] && !rank; i++) {
    if (section[0][i] <= (PetscReal)VELOCITY_WATER) section[1][i] = section[2][i] = 0;
  }
  for (int k = 0; k < 2; k++) PetscCall(GetTraces(s, d[k], &nx, &nt, &traces[k]));
  if (!rank) {
    PetscReal curve[2 * (LSRTM_ITERATIONS + 1)];
    char      title[64];

    /* data and images are neither small nor large where they are grey */
    PetscCall(PetscOptionsHasName(NULL, NULL, "-draw_cmap", &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, "-draw_cmap", "gray"));
    PetscCall(PictureCreate(WIDTH, HEIGHT, &picture));
    if (!set) PetscCall(PetscOptionsClearValue(NULL, "-draw_cmap"));
    for (int k = 0; k < 3; k++) PetscCall(DrawSection(s, &picture, k, titles[k], "", section[k], (PetscBool)(k > 0)));
    PetscCall(PictureGetRange(nx * nt, traces[0], range));
    for (int k = 0; k < 2; k++) {
      const int    box[4] = {k * WIDTH / 3, HEIGHT / 2, WIDTH / 3, HEIGHT / 2};
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
      const int    box[4] = {2 * WIDTH / 3, HEIGHT / 2, WIDTH / 3, HEIGHT / 2};
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
