/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Columns: velocity, migration, least squares. Rows: a section, in 3-D three sections. In the last row: the data of a
   shot, the residual, and the misfit over iterations
*/

#include "lsrtm.h"
#include <tutorials/common/plot.h>
#include <tutorials/common/velocity.h>

/* A column of sections. A vertical line shows the place of the other vertical section */
static PetscErrorCode AddSections(const Survey *s, Plot *plot, int column, const char title[], const PetscScalar *value)
{
  const PetscInt64 stride[3] = {PLOT_SCALAR, PLOT_SCALAR * s->N[0], PLOT_SCALAR * s->N[0] * s->N[1]};
  const PetscReal *corner    = (const PetscReal *)value + s->pad[0] * stride[0] + s->pad[1] * stride[1] + s->pad[2] * stride[2];
  const int        fixed[3]  = {1, 0, 2};
  PetscReal        length[3];
  char             text[128];

  PetscFunctionBegin;
  for (int d = 0; d < 3; d++) length[d] = s->h * (PetscReal)(s->n[d] - 1);
  for (int row = 0; row < (s->dim == 3 ? 3 : 1); row++) {
    const int      d     = fixed[row];
    const PlotMark mark  = {.x = s->h * (PetscReal)s->at[d == 0 ? 1 : 0], .y = (PetscReal)NAN};
    PlotPanel      panel = {.row = row, .column = column, .title = title, .label = "velocity, m/s", .nmarks = s->dim == 3, .mark = &mark};

    if (column) { /* zeros of images are grey */
      panel.label   = "image / its root mean square";
      panel.colours = "gray";
      panel.range   = "symmetric";
      panel.norm    = title;
    }
    if (s->dim == 3) {
      PetscCall(PetscSNPrintf(text, sizeof(text), "%s, %s = %.4g m", title, d == 2 ? "depth" : (d ? "y" : "x"), (double)s->h * (double)s->at[d]));
      panel.title = text;
    }
    PlotPlane(&panel, d, s->at[d], s->n, length, stride, corner);
    PetscCall(PlotAdd(plot, &panel));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The traces of a shot, receivers along x, time downwards; in 3-D the middle line of receivers */
static PetscErrorCode AddTraces(const Survey *s, Plot *plot, int column, const PetscScalar *data)
{
  const PetscInt shot = s->nshots / 2;
  PetscInt       row, n;
  char           title[64];
  PlotPanel      panel = {.row     = s->dim == 3 ? 3 : 1,
                          .column  = column,
                          .title   = column ? "what least squares leave of them" : title,
                          .xlabel  = "receiver",
                          .ylabel  = "time, s",
                          .down    = PETSC_TRUE,
                          .label   = "pressure",
                          .colours = "gray",
                          .range   = "symmetric",
                          .y       = {0, s->dt * (PetscReal)s->steps}};

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(title, sizeof(title), "data of shot %" PetscInt_FMT, 1 + shot));
  PetscCall(MatBornGetShotRows(s->J, shot, &row, NULL));
  PetscCall(MatBornGetShot(s->J, shot, NULL, &n, NULL));
  panel.nx        = s->dim == 2 || s->records[0] ? n : (s->n[0] - 1) / s->step[0] + 1;
  panel.ny        = s->steps / s->every;
  panel.x[1]      = (PetscReal)panel.nx;
  panel.stride[0] = PLOT_SCALAR * panel.ny;
  panel.stride[1] = PLOT_SCALAR;
  panel.value     = (const PetscReal *)(data + row + n / panel.nx / 2 * panel.nx * panel.ny);
  PetscCall(PlotAdd(plot, &panel));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveyWritePicture(const Survey *s, const Least *least, Vec rtm, Vec image, Vec residual, const char path[])
{
  const char *const titles[] = {"velocity", "migration", "least-squares migration"};
  const Vec         x[] = {s->velocity, rtm, image}, d[] = {s->data, residual};
  PetscScalar      *a[5];
  PetscInt          n;
  PetscMPIInt       rank;
  Vec               all[5];

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  for (int k = 0; k < 3; k++) PetscCall(GridGather(s->da, x[k], &all[k]));
  for (int k = 0; k < 2; k++) {
    VecScatter scatter;

    PetscCall(VecScatterCreateToZero(d[k], &scatter, &all[3 + k]));
    PetscCall(VecScatterBegin(scatter, d[k], all[3 + k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, d[k], all[3 + k], INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterDestroy(&scatter));
  }
  if (!rank) {
    PetscReal curve[2 * (LSRTM_ITERATIONS + 1)];
    PlotPanel panel =
      {.row = s->dim == 3 ? 3 : 1, .column = 2, .title = "misfit", .xlabel = "iteration", .ylabel = "misfit / that of no image", .curve = curve};
    Plot plot;

    for (int k = 0; k < 5; k++) PetscCall(VecGetArray(all[k], &a[k]));
    /* images of water show sources and receivers only */
    PetscCall(VecGetLocalSize(all[0], &n));
    for (PetscInt i = 0; i < n; i++) {
      if (PetscRealPart(a[0][i]) <= (PetscReal)VELOCITY_WATER) a[1][i] = a[2][i] = 0;
    }
    PetscCall(PlotOpen(path, &plot));
    for (int k = 0; k < 3; k++) PetscCall(AddSections(s, &plot, k, titles[k], a[k]));
    for (int k = 0; k < 2; k++) PetscCall(AddTraces(s, &plot, k, a[3 + k]));
    for (PetscInt k = 0; k <= least->iterations; k++) {
      curve[2 * k]     = (PetscReal)k;
      curve[2 * k + 1] = least->misfit[k];
    }
    panel.ncurve = least->iterations + 1;
    panel.x[1]   = (PetscReal)least->iterations;
    panel.y[1]   = (PetscReal)1.05;
    PetscCall(PlotAdd(&plot, &panel));
    PetscCall(PlotClose(&plot));
    for (int k = 0; k < 5; k++) PetscCall(VecRestoreArray(all[k], &a[k]));
  }
  for (int k = 0; k < 5; k++) PetscCall(VecDestroy(&all[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
