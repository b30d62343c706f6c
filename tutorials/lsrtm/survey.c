/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A survey: the model and its smooth background, shots, and data */

#include "lsrtm.h"
#include <petsctime.h>
#include <tutorials/common/velocity.h>

const char *const LsrtmModels[] = {"layers", "marmousi", "overthrust", "file", "LsrtmModel", "LSRTM_", NULL};

/* Defaults of a model, which options replace */
typedef struct {
  double (*velocity)(double x, double y, double z);
  PetscInt  n[3];
  PetscReal h, frequency, time;
} ModelDefault;

static const ModelDefault models[] = {
  {VelocityLayers, {201, 1, 101}, 10, 14, (PetscReal)1.5},
  {VelocityMarmousi, {288, 1, 96}, 16, 8, (PetscReal)2},
  {VelocityOverthrust, {301, 301, 187}, (PetscReal)3.33, 25, (PetscReal)0.8},
  {NULL, {0, 1, 0}, 10, 10, 1},
};

/* ------------------------------------------------------------ options */

PETSC_INTERN PetscErrorCode SurveySetFromOptions(MPI_Comm comm, Survey *s)
{
  PetscInt            n[3], many = 3;
  PetscBool           set;
  const ModelDefault *d;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  s->comm    = comm;
  s->model   = LSRTM_MARMOUSI;
  s->order   = 8;
  s->width   = 20;
  s->nshots  = 8;
  s->step[0] = 3;
  s->step[1] = 10;
  PetscCall(PetscStrncpy(s->axes, "xyz", sizeof(s->axes)));
  PetscCall(PetscStrncpy(s->dataset, GRIDFILE_DATASET, sizeof(s->dataset)));
  PetscOptionsBegin(comm, NULL, "A seismic survey", NULL);
  PetscCall(PetscOptionsEnum("-model", "The velocity", NULL, LsrtmModels, (PetscEnum)s->model, (PetscEnum *)&s->model, NULL));
  d = &models[s->model];
  PetscCall(PetscArraycpy(s->n, d->n, 3));
  s->h         = d->h;
  s->frequency = d->frequency;
  s->time      = d->time;
  PetscCall(PetscArraycpy(n, s->n, 3));
  PetscCall(PetscOptionsIntArray("-n", "Nodes of the model: x, z or x, y, z", NULL, n, &many, &set));
  PetscCheck(!set || many >= 2, comm, PETSC_ERR_USER_INPUT, "-n wants two or three numbers of nodes");
  if (set) {
    s->n[0] = n[0];
    s->n[1] = many == 3 ? n[1] : 1;
    s->n[2] = n[many - 1];
    /* the same ground with a different number of nodes; waves keep their length in nodes */
    if (d->n[0]) {
      s->h         = d->h * (PetscReal)(d->n[0] - 1) / (PetscReal)PetscMax(1, s->n[0] - 1);
      s->frequency = d->frequency * d->h / s->h;
    }
  }
  PetscCall(PetscOptionsReal("-spacing", "Distance of nodes in m", NULL, s->h, &s->h, NULL));
  PetscCall(PetscOptionsString("-velocity_file", "Velocities in m/s, of -model file", NULL, s->file, s->file, sizeof(s->file), NULL));
  PetscCall(PetscOptionsEnum("-velocity_format", "Of that", NULL, GridFileFormats, (PetscEnum)s->format, (PetscEnum *)&s->format, NULL));
  PetscCall(PetscOptionsString("-velocity_axes", "Of raw ones and of HDF5, the fastest first", NULL, s->axes, s->axes, sizeof(s->axes), NULL));
  PetscCall(PetscOptionsString("-velocity_dataset", "Of HDF5, the path of the data set", NULL, s->dataset, s->dataset, sizeof(s->dataset), NULL));
  PetscCheck(s->model != LSRTM_FILE || (s->file[0] && set), comm, PETSC_ERR_USER_INPUT, "-model file wants -velocity_file and -n");
  PetscCall(PetscOptionsReal("-frequency", "Of the Ricker wavelet, Hz", NULL, s->frequency, &s->frequency, NULL));
  s->smooth = 10 * s->h;
  s->depth  = 2 * s->h;
  PetscCall(PetscOptionsReal("-time", "Seconds of a shot", NULL, s->time, &s->time, NULL));
  PetscCall(PetscOptionsReal("-smooth", "How far the background is smoothed, m", NULL, s->smooth, &s->smooth, NULL));
  PetscCall(PetscOptionsReal("-depth", "Of sources and receivers, m", NULL, s->depth, &s->depth, NULL));
  PetscCall(PetscOptionsInt("-shots", "How many, along a line in x", NULL, s->nshots, &s->nshots, NULL));
  many = 2;
  PetscCall(PetscOptionsIntArray("-receivers_every", "Nodes between receivers in x and y", NULL, s->step, &many, NULL));
  PetscCall(PetscOptionsBool("-born", "Whether data are those of Born modelling", NULL, s->born, &s->born, NULL));
  for (int d = 0; d < 3; d++) s->at[d] = s->n[d] / 2;
  many = 3;
  PetscCall(PetscOptionsIntArray("-sections", "The node of a 3-D model where the sections of a picture meet: x, y, z", NULL, s->at, &many, &set));
  PetscCall(PetscOptionsString("-records", "Shots and data to read, SEG-Y", NULL, s->records, s->records, sizeof(s->records), NULL));
  /* options of MATBORN that are needed before the matrix exists */
  PetscCall(PetscOptionsInt("-mat_born_order", "Order in space", "MatBornSetOrder", s->order, &s->order, NULL));
  PetscCall(PetscOptionsInt("-mat_born_width", "Nodes of the sponge", "MatBornSetSponge", s->width, &s->width, NULL));
  PetscCall(PetscOptionsBool("-mat_born_free_surface", "Whether the top is free", "MatBornSetFreeSurface", s->surface, &s->surface, NULL));
  PetscOptionsEnd();
  PetscCheck(s->n[0] > 1 && s->n[1] > 0 && s->n[2] > 1, comm, PETSC_ERR_USER_INPUT, "-n: a model has two nodes along x and z at least");
  PetscCheck(!set || many == 3, comm, PETSC_ERR_USER_INPUT, "-sections wants three numbers");
  for (int d = 0; d < 3; d++)
    PetscCheck(s->at[d] >= 0 && s->at[d] < s->n[d], comm, PETSC_ERR_USER_INPUT,
               "-sections: node %" PetscInt_FMT " along dimension %d of a model with %" PetscInt_FMT, s->at[d], d, s->n[d]);
  PetscCheck(s->h > 0 && s->frequency > 0 && s->time > 0, comm, PETSC_ERR_USER_INPUT, "-spacing, -frequency and -time are positive");
  PetscCheck(s->nshots > 0 && s->step[0] > 0 && s->step[1] > 0, comm, PETSC_ERR_USER_INPUT, "-shots and -receivers_every are positive");
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ the model */

static PetscErrorCode CreateDM(Survey *s)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;

  PetscFunctionBegin;
  s->dim = s->n[1] == 1 ? 2 : 3;
  for (int d = 0; d < 3; d++) {
    s->pad[d] = d == 2 && s->surface ? 0 : s->width;
    s->N[d]   = s->n[d] + s->pad[d] + s->width;
  }
  if (s->dim == 2) {
    s->pad[1] = 0;
    s->N[1]   = 1;
    PetscCall(DMDACreate2d(s->comm, none, none, DMDA_STENCIL_STAR, s->N[0], s->N[2], PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, &s->da));
  } else
    PetscCall(DMDACreate3d(s->comm, none, none, none, DMDA_STENCIL_STAR, s->N[0], s->N[1], s->N[2], PETSC_DECIDE, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL,
                           NULL, &s->da));
  PetscCall(DMSetFromOptions(s->da));
  PetscCall(DMSetUp(s->da));
  PetscCall(DMCreateGlobalVector(s->da, &s->velocity));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The numbers of a model in natural order */
static PetscErrorCode GenerateModel(const Survey *s, Vec *natural)
{
  PetscInt     begin, end;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(VecCreate(s->comm, natural));
  PetscCall(VecSetSizes(*natural, PETSC_DECIDE, s->n[0] * s->n[1] * s->n[2]));
  PetscCall(VecSetType(*natural, VECSTANDARD));
  PetscCall(VecGetOwnershipRange(*natural, &begin, &end));
  PetscCall(VecGetArrayWrite(*natural, &v));
  for (PetscInt p = begin; p < end; p++) {
    const PetscInt at[3] = {p % s->n[0], p / s->n[0] % s->n[1], p / s->n[0] / s->n[1]};
    double         x[3];

    for (int d = 0; d < 3; d++) x[d] = s->n[d] > 1 ? (double)at[d] / (double)(s->n[d] - 1) : .5;
    v[p - begin] = (PetscReal)models[s->model].velocity(x[0], x[1], x[2]);
  }
  PetscCall(VecRestoreArrayWrite(*natural, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On the first process */
static PetscErrorCode SmoothModel(const Survey *s)
{
  const PetscInt64 all = (PetscInt64)s->N[0] * s->N[1] * s->N[2];
  PetscMPIInt      rank;
  Vec              whole;
  PetscScalar     *x;
  PetscReal       *v;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(s->comm, &rank));
  PetscCall(GridGather(s->da, s->velocity, &whole));
  if (!rank) {
    PetscCall(PetscMalloc1(all, &v));
    PetscCall(VecGetArray(whole, &x));
    for (PetscInt64 p = 0; p < all; p++) v[p] = PetscRealPart(x[p]);
    PetscCall(VelocitySmooth(s->N, s->smooth / (2 * s->h), v));
    for (PetscInt64 p = 0; p < all; p++) x[p] = v[p];
    PetscCall(VecRestoreArray(whole, &x));
    PetscCall(PetscFree(v));
  }
  PetscCall(GridScatter(s->da, whole, s->background));
  PetscCall(VecDestroy(&whole));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateModel(Survey *s)
{
  Vec natural;

  PetscFunctionBegin;
  if (s->model == LSRTM_FILE) PetscCall(GridFileRead(s->comm, s->format, s->file, s->n, s->axes, s->dataset, &natural));
  else PetscCall(GenerateModel(s, &natural));
  PetscCall(GridToDM(natural, s->n, s->pad, s->da, s->velocity));
  PetscCall(VecDestroy(&natural));
  PetscCall(VecDuplicate(s->velocity, &s->background));
  PetscCall(SmoothModel(s));
  /* (v^2 - background^2) / background^2 */
  PetscCall(VecDuplicate(s->velocity, &s->reflectivity));
  PetscCall(VecPointwiseDivide(s->reflectivity, s->velocity, s->background));
  PetscCall(VecPointwiseMult(s->reflectivity, s->reflectivity, s->reflectivity));
  PetscCall(VecShift(s->reflectivity, -1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ shots */

/* The largest stable step, a little less: sums of magnitudes of the weights of a second derivative decide */
static PetscErrorCode ChooseTime(Survey *s)
{
  static const double limit[] = {1, .866, .784, .752}; /* times 1/sqrt(dim): orders 2, 4, 8, 12 */
  const int           which   = s->order == 2 ? 0 : (s->order == 4 ? 1 : (s->order == 8 ? 2 : 3));
  PetscReal           most[2];

  PetscFunctionBegin;
  PetscCall(VecMax(s->velocity, NULL, &most[0]));
  PetscCall(VecMax(s->background, NULL, &most[1]));
  s->dt    = (PetscReal)(.9 * limit[which]) * s->h / (PetscSqrtReal((PetscReal)s->dim) * PetscMax(most[0], most[1]));
  s->every = PetscMax(1, (PetscInt)(1 / (10 * s->frequency * s->dt)));
  /* whole microseconds between samples, which files in SEG-Y want */
  if (s->dt * (PetscReal)s->every > (PetscReal)1e-4)
    s->dt = PetscFloorReal((PetscReal)1e6 * s->dt * (PetscReal)s->every) / (PetscReal)s->every / (PetscReal)1e6;
  s->steps = PetscMax(s->every, (PetscInt)(s->time / s->dt));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetWavelet(const Survey *s)
{
  const PetscReal t0 = (PetscReal)1.2 / s->frequency;
  const PetscInt  n  = PetscMin(s->steps, (PetscInt)(2 * t0 / s->dt) + 1);
  PetscReal      *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &w));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal a = PetscSqr(PETSC_PI * s->frequency * (s->dt * (PetscReal)k - t0));

    w[k] = (1 - 2 * a) * PetscExpReal(-a);
  }
  PetscCall(MatBornSetWavelet(s->J, n, w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources along a line in x, in the middle of y; receivers all over the surface */
static PetscErrorCode AddShots(const Survey *s)
{
  const PetscInt  nx = (s->n[0] - 1) / s->step[0] + 1, ny = s->dim == 3 ? (s->n[1] - 1) / s->step[1] + 1 : 1;
  const PetscReal z = s->depth + s->h * (PetscReal)s->pad[2];
  PetscReal      *receivers, source[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(nx * ny * s->dim, &receivers));
  for (PetscInt r = 0; r < nx * ny; r++) {
    receivers[s->dim * r] = s->h * (PetscReal)(s->pad[0] + r % nx * s->step[0]);
    if (s->dim == 3) receivers[3 * r + 1] = s->h * (PetscReal)(s->pad[1] + r / nx * s->step[1]);
    receivers[s->dim * r + s->dim - 1] = z;
  }
  for (PetscInt k = 0; k < s->nshots; k++) {
    source[0]          = s->h * ((PetscReal)s->pad[0] + (PetscReal)(s->n[0] - 1) * ((PetscReal)k + (PetscReal).5) / (PetscReal)s->nshots);
    source[1]          = s->h * ((PetscReal)s->pad[1] + (PetscReal)(s->n[1] - 1) / 2);
    source[s->dim - 1] = z;
    PetscCall(MatBornAddShot(s->J, source, nx * ny, receivers));
  }
  PetscCall(PetscFree(receivers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal SurveyShotSeconds(const Survey *s, double seconds)
{
  PetscMPIInt size  = 1;
  PetscInt    group = 1;

  (void)MPI_Comm_size(s->comm, &size);
  (void)PetscOptionsGetInt(NULL, NULL, "-mat_born_group_size", &group, NULL);
  return (PetscReal)(seconds * (double)(size / PetscMax(1, group)) / (double)s->nshots);
}

/* Data without the data of the background: F(velocity) - F(background), or J times the reflectivity */
static PetscErrorCode MakeData(Survey *s)
{
  PetscLogDouble begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(s->J, NULL, &s->data));
  if (s->records[0]) PetscCall(RecordsReadData(s, s->data));
  else if (s->born) PetscCall(MatMult(s->J, s->reflectivity, s->data));
  else {
    Vec without;

    PetscCall(VecDuplicate(s->data, &without));
    PetscCall(MatBornModel(s->J, without));
    PetscCall(MatBornSetVelocity(s->J, s->velocity));
    PetscCall(PetscTime(&begin));
    PetscCall(MatBornModel(s->J, s->data));
    PetscCall(PetscTime(&end));
    PetscCall(MatBornSetVelocity(s->J, s->background));
    PetscCall(VecAXPY(s->data, -1, without));
    PetscCall(VecDestroy(&without));
    s->seconds = SurveyShotSeconds(s, end - begin);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveySetUp(Survey *s)
{
  const PetscReal h[3] = {s->h, s->h, s->h};

  PetscFunctionBegin;
  PetscCall(CreateDM(s));
  PetscCall(CreateModel(s));
  PetscCall(ChooseTime(s));
  PetscCall(MatCreateBorn(s->da, &s->J));
  PetscCall(MatBornSetSpacing(s->J, h));
  PetscCall(MatBornSetVelocity(s->J, s->background));
  if (s->records[0]) PetscCall(RecordsReadShots(s));
  else PetscCall(AddShots(s));
  PetscCall(MatBornSetTime(s->J, s->dt, s->steps, s->every));
  PetscCall(SetWavelet(s));
  PetscCall(MatSetFromOptions(s->J));
  PetscCall(MatSetUp(s->J));
  PetscCall(MakeData(s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveyView(const Survey *s)
{
  MatInfo   info;
  PetscInt  rows;
  PetscReal least, most, norm;

  PetscFunctionBegin;
  PetscCall(VecMin(s->velocity, NULL, &least));
  PetscCall(VecMax(s->velocity, NULL, &most));
  PetscCall(VecNorm(s->data, NORM_2, &norm));
  PetscCall(MatGetSize(s->J, &rows, NULL));
  PetscCall(MatGetInfo(s->J, MAT_LOCAL, &info));
  PetscCall(PetscPrintf(s->comm, "model       %s, %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes at %g m, %g to %g m/s\n",
                        LsrtmModels[s->model], s->n[0], s->n[1], s->n[2], (double)s->h, (double)least, (double)most));
  PetscCall(PetscPrintf(s->comm, "grid        %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes with the sponge, %.3g nodes a shortest wave\n",
                        s->N[0], s->N[1], s->N[2], (double)(least / (s->h * s->frequency * (PetscReal)2.5))));
  PetscCall(PetscPrintf(s->comm,
                        "shots       %" PetscInt_FMT ", %" PetscInt_FMT " steps of %.4g ms, a sample every %" PetscInt_FMT "; %" PetscInt_FMT
                        " samples in all\n",
                        s->nshots, s->steps, 1000 * (double)s->dt, s->every, rows));
  PetscCall(PetscPrintf(s->comm, "memory      %.4g MB a shot\n", info.memory / 1e6));
  if (s->seconds > 0) PetscCall(PetscPrintf(s->comm, "modelling   %.3g s a shot\n", (double)s->seconds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SurveyDestroy(Survey *s)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&s->velocity));
  PetscCall(VecDestroy(&s->background));
  PetscCall(VecDestroy(&s->reflectivity));
  PetscCall(VecDestroy(&s->data));
  PetscCall(MatDestroy(&s->J));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ images */

PetscErrorCode SurveyCorrelate(const Survey *s, Vec image, PetscReal *correlation)
{
  const PetscScalar *a, *b, *v;
  PetscInt           start[3], count[3], l = 0;
  PetscReal          sum[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArrayRead(image, &a));
  PetscCall(VecGetArrayRead(s->reflectivity, &b));
  PetscCall(VecGetArrayRead(s->velocity, &v));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++, l++) {
        const PetscInt  at[3] = {i - s->pad[0], s->dim == 3 ? j - s->pad[1] : 0, (s->dim == 3 ? k : j) - s->pad[2]};
        const PetscBool in    = (PetscBool)(at[0] >= 0 && at[0] < s->n[0] && at[1] >= 0 && at[1] < s->n[1] && at[2] >= 0 && at[2] < s->n[2]);

        if (!in || PetscRealPart(v[l]) <= (PetscReal)VELOCITY_WATER || (PetscReal)at[2] * s->h < s->depth + 3 * s->h) continue;
        sum[0] += PetscRealPart(a[l] * b[l]);
        sum[1] += PetscRealPart(a[l] * a[l]);
        sum[2] += PetscRealPart(b[l] * b[l]);
      }
    }
  }
  PetscCall(VecRestoreArrayRead(image, &a));
  PetscCall(VecRestoreArrayRead(s->reflectivity, &b));
  PetscCall(VecRestoreArrayRead(s->velocity, &v));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 3, MPIU_REAL, MPIU_SUM, s->comm));
  *correlation = sum[1] > 0 && sum[2] > 0 ? sum[0] / PetscSqrtReal(sum[1]) / PetscSqrtReal(sum[2]) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}
