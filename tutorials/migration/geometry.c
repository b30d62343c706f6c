/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The survey: options, velocities, sources and receivers, frequencies and their grids */

#include "migration.h"
#include <tutorials/common/velocity.h>

const char *const MigrationModels[]        = {"flat", "layers", "marmousi", "thrust", "overthrust", "file", "MigrationModel", "MIGRATION_", NULL};
const char *const MigrationImages[]        = {"reflectivity", "perturbation", "MigrationImage", "MIGRATION_", NULL};
const char *const MigrationIlluminations[] = {"none", "source", "receiver", "both", "MigrationIllumination", "MIGRATION_", NULL};

/* A single reflector */
static double VelocityFlat(double x, double y, double z)
{
  (void)x, (void)y;
  return z < .6 ? 2000. : 2200.;
}

/* The defaults for a model */
typedef struct {
  double (*velocity)(double x, double y, double z);
  PetscInt  n[3];
  PetscReal h, ricker, band[3], mute;
} ModelDefault;

static const ModelDefault models[] = {
  {VelocityFlat, {101, 1, 51}, 20, 6, {3, 12, 1}, 200},
  {VelocityLayers, {161, 1, 81}, 25, 6, {2, 10, (PetscReal)0.5}, 400},
  {VelocityMarmousi, {288, 1, 96}, 16, 7, {2, 12, (PetscReal)0.5}, 130},
  {VelocityThrust, {241, 1, 121}, 25, 5, {(PetscReal)1.5, 9, (PetscReal)0.5}, 300},
  {VelocityOverthrust, {241, 1, 121}, 25, 7, {(PetscReal)1.5, (PetscReal)13.5, (PetscReal)0.5}, 250},
  {NULL, {0, 1, 0}, 25, 6, {2, 10, 1}, 0},
};

/* ------------------------------------------------------------ options */

static PetscErrorCode SetModelFromOptions(Migration *m, PetscOptionItems PetscOptionsObject)
{
  PetscInt            n[3], many = 3;
  PetscBool           set, spacing;
  const ModelDefault *d;

  PetscFunctionBegin;
  PetscCall(PetscOptionsEnum("-model", "The velocity", NULL, MigrationModels, (PetscEnum)m->model, (PetscEnum *)&m->model, NULL));
  PetscCall(PetscOptionsString("-velocity_file", "Velocities in m/s, of -model file", NULL, m->file, m->file, sizeof(m->file), &set));
  if (set) m->model = MIGRATION_FILE;
  d         = &models[m->model];
  m->h      = d->h;
  m->ricker = d->ricker;
  m->mute   = d->mute;
  PetscCall(PetscArraycpy(m->band, d->band, 3));
  PetscCall(PetscArraycpy(m->n, d->n, 3));
  PetscCall(PetscArraycpy(n, d->n, 3));
  PetscCall(PetscOptionsIntArray("-n", "Nodes of the model and the image: x, z or x, y, z", NULL, n, &many, &set));
  PetscCheck(!set || many >= 2, m->comm, PETSC_ERR_USER_INPUT, "-n has %" PetscInt_FMT " numbers: two or three are needed", many);
  if (set) {
    m->n[0] = n[0];
    m->n[1] = many == 3 ? n[1] : 1;
    m->n[2] = n[many - 1];
    /* the width of generated ground does not change */
    if (d->n[0] && n[0] > 1) m->h = d->h * (PetscReal)(d->n[0] - 1) / (PetscReal)(n[0] - 1);
  }
  PetscCheck(m->model != MIGRATION_FILE || (m->file[0] && set), m->comm, PETSC_ERR_USER_INPUT, "-model file needs -velocity_file and -n");
  PetscCall(PetscOptionsReal("-spacing", "Spacing of the nodes, m", NULL, m->h, &m->h, &spacing));
  PetscCheck(m->model != MIGRATION_FILE || spacing, m->comm, PETSC_ERR_USER_INPUT, "-velocity_file %s needs -spacing, the distance of its nodes in m", m->file);
  PetscCall(PetscOptionsEnum("-velocity_format", "Of the file", NULL, GridFileFormats, (PetscEnum)m->format, (PetscEnum *)&m->format, NULL));
  PetscCall(PetscOptionsString("-velocity_axes", "Of raw files and of HDF5, the fastest first", NULL, m->axes, m->axes, sizeof(m->axes), NULL));
  PetscCall(PetscOptionsString("-velocity_dataset", "Of HDF5, the path of the data set", NULL, m->dataset, m->dataset, sizeof(m->dataset), NULL));
  PetscCall(PetscOptionsString("-background_file", "Velocities of the background, a file like -velocity_file", NULL, m->backgroundfile, m->backgroundfile,
                               sizeof(m->backgroundfile), NULL));
  m->smooth = 10 * m->h;
  PetscCall(PetscOptionsBoundedReal("-smooth", "How far the background is smoothed, m", NULL, m->smooth, &m->smooth, NULL, 0));
  PetscCheck(m->n[0] > 3 && m->n[1] > 0 && m->n[2] > 3, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-n %" PetscInt_FMT ",%" PetscInt_FMT ",%" PetscInt_FMT ": a model has 4 nodes along x and z at least", m->n[0], m->n[1], m->n[2]);
  PetscCheck((double)m->n[0] * (double)m->n[1] * (double)m->n[2] <= (double)PETSC_INT_MAX / 3, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT " nodes do not fit into PetscInt", m->n[0], m->n[1], m->n[2]);
  PetscCheck(m->h > 0, m->comm, PETSC_ERR_ARG_OUTOFRANGE, "-spacing %g: it is positive", (double)m->h);
  for (int k = 0; k < 3; k++) m->at[k] = m->n[k] / 2;
  many = 3;
  PetscCall(PetscOptionsIntArray("-sections", "The node of a 3-D model where the sections of picture and movie meet: x, y, z", NULL, m->at, &many, &set));
  PetscCheck(!set || many == 3, m->comm, PETSC_ERR_USER_INPUT, "-sections has %" PetscInt_FMT " numbers: give a node along x, y and z", many);
  for (int k = 0; k < 3; k++)
    PetscCheck(m->at[k] >= 0 && m->at[k] < m->n[k], m->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-sections: node %" PetscInt_FMT " along dimension %d: the model has %" PetscInt_FMT ", from 0 on", m->at[k], k, m->n[k]);
  m->dim   = m->n[1] == 1 ? 2 : 3;
  m->nodes = (PetscInt64)m->n[0] * m->n[1] * m->n[2];
  for (int d2 = 0; d2 < 3; d2++) m->length[d2] = m->h * (PetscReal)(m->n[d2] - 1);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources, receivers and frequencies */
static PetscErrorCode SetSurveyFromOptions(Migration *m, PetscOptionItems PetscOptionsObject)
{
  PetscInt  many = 3;
  PetscBool set;

  PetscFunctionBegin;
  PetscCall(PetscOptionsRealArray("-frequencies", "First, last, step, Hz", NULL, m->band, &many, &set));
  PetscCheck(!set || many == 3, m->comm, PETSC_ERR_USER_INPUT,
             "-frequencies has %" PetscInt_FMT " numbers: give the first frequency, the last frequency, and the step", many);
  PetscCheck(m->band[0] > 0 && m->band[1] >= m->band[0] && m->band[2] > 0 && (m->band[1] - m->band[0]) / m->band[2] < 4000, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-frequencies %g,%g,%g: all are positive, and there are 4000 at most", (double)m->band[0], (double)m->band[1], (double)m->band[2]);
  PetscCall(PetscOptionsBoundedReal("-ricker", "The peak of the wavelet, Hz; 0: all frequencies are as strong", NULL, m->ricker, &m->ricker, NULL, 0));
  PetscCall(PetscOptionsReal("-delay", "Time of the wavelet's middle, s", NULL, m->delay, &m->delay, NULL));
  PetscCall(PetscOptionsReal("-alpha", "Damping of the medium", NULL, m->alpha, &m->alpha, NULL));
  PetscCall(PetscOptionsBoundedInt("-shots", "How many, along a line in x", NULL, m->nshots, &m->nshots, NULL, 1));
  PetscCall(PetscOptionsBoundedReal("-shot_spacing", "Distance of the shots, m; 0: the model's width over their number", NULL, m->shotspacing, &m->shotspacing,
                                    NULL, 0));
  many = 2;
  PetscCall(PetscOptionsRealArray("-receiver_spacing", "Distance of receivers in x and y, m, instead of -receivers_every", NULL, m->spacing, &many, &set));
  if (set && many == 1) m->spacing[1] = m->spacing[0];
  for (int d = 0; d < 2 && set; d++)
    PetscCheck(m->spacing[d] > 0 && m->length[d] / m->spacing[d] < (PetscReal)1e6, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "-receiver_spacing %g: the distance along %c is positive, and there are fewer than a million receivers in %g m", (double)m->spacing[d], "xy"[d],
               (double)m -> length[d]);
  many = 2;
  PetscCall(PetscOptionsIntArray("-receivers_every", "Nodes between receivers in x and y", NULL, m->every, &many, NULL));
  PetscCheck(m->every[0] > 0 && m->every[1] > 0, m->comm, PETSC_ERR_ARG_OUTOFRANGE, "-receivers_every: numbers are positive");
  m->depth[0] = m->depth[1] = m->h;
  PetscCall(PetscOptionsReal("-depth", "Of sources, m", NULL, m->depth[0], &m->depth[0], NULL));
  PetscCall(PetscOptionsReal("-receiver_depth", "Of receivers, m", NULL, m->depth[1], &m->depth[1], NULL));
  PetscCall(PetscOptionsString("-records", "Shots and data to read, SEG-Y", NULL, m->records, m->records, sizeof(m->records), NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetGridFromOptions(Migration *m, PetscOptionItems PetscOptionsObject)
{
  MigrationGrid *g = m->grid;

  PetscFunctionBegin;
  PetscCall(
    PetscOptionsBoundedReal("-points_per_wavelength", "Grid points in the shortest wavelength", NULL, g[0].pointsperwave, &g[0].pointsperwave, NULL, 4));
  PetscCall(PetscOptionsEnum("-stencil", "Discretization", NULL, HelmholtzStencils, (PetscEnum)g[0].stencil, (PetscEnum *)&g[0].stencil, NULL));
  PetscCall(PetscOptionsBoundedInt("-pml_points", "Points of the absorbing layer on each side", NULL, g[0].layer, &g[0].layer, NULL, 1));
  PetscCall(
    PetscOptionsRangeReal("-pml_reflection", "Reflection of the layer at normal incidence", NULL, g[0].reflection, &g[0].reflection, NULL, PETSC_SMALL, 1));
  g[1]               = g[0];
  g[1].pointsperwave = (PetscReal)1.3 * g[0].pointsperwave;
  PetscCall(PetscOptionsBoundedReal("-data_points_per_wavelength", "The same for modelled data", NULL, g[1].pointsperwave, &g[1].pointsperwave, NULL, 4));
  PetscCall(
    PetscOptionsEnum("-data_stencil", "Discretization of the data", NULL, HelmholtzStencils, (PetscEnum)g[1].stencil, (PetscEnum *)&g[1].stencil, NULL));
  PetscCall(PetscOptionsBoundedInt("-data_pml_points", "Points of the absorbing layer on each side", NULL, g[1].layer, &g[1].layer, NULL, 1));
  m->beta[1] = HelmholtzUsualShift(m->dim);
  PetscCall(PetscOptionsReal("-beta1", "Real part of the preconditioner's shift", NULL, m->beta[0], &m->beta[0], NULL));
  PetscCall(PetscOptionsReal("-beta2", "Imaginary part of the shift, with the sign of damping", NULL, m->beta[1], &m->beta[1], NULL));
  PetscCall(PetscOptionsBoundedInt("-batch", "Sources of a task", NULL, m->batch, &m->batch, NULL, 1));
  m->least = PetscMax(1, m->batch / 4);
  PetscCall(
    PetscOptionsBoundedInt("-batch_least", "Smallest batch: the last tasks of a frequency are halved down to this size", NULL, m->least, &m->least, NULL, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationSetFromOptions(MPI_Comm comm, Migration *m)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(m, sizeof(*m)));
  m->comm         = comm;
  m->model        = MIGRATION_OVERTHRUST;
  m->nshots       = 48;
  m->every[0]     = 2;
  m->every[1]     = 5;
  m->grid[0]      = (MigrationGrid){8, HELMHOLTZ_COMPACT, 12, (PetscReal).01};
  m->beta[0]      = 1;
  m->batch        = 16;
  m->hostslowness = 500; /* a core, against an H200 */
  m->illumination = MIGRATION_SOURCE;
  m->laplacian    = PETSC_TRUE;
  PetscCall(PetscStrncpy(m->axes, "xyz", sizeof(m->axes)));
  PetscCall(PetscStrncpy(m->dataset, GRIDFILE_DATASET, sizeof(m->dataset)));
  PetscOptionsBegin(comm, NULL, "Migration in the frequency domain", NULL);
  PetscCall(SetModelFromOptions(m, PetscOptionsObject));
  PetscCall(SetSurveyFromOptions(m, PetscOptionsObject));
  PetscCall(SetGridFromOptions(m, PetscOptionsObject));
  PetscCall(PetscOptionsEnum("-image", "Quantity shown by the image", NULL, MigrationImages, (PetscEnum)m->image, (PetscEnum *)&m->image, NULL));
  PetscCall(PetscOptionsEnum("-illumination", "The side whose illumination the image is divided by", NULL, MigrationIlluminations, (PetscEnum)m->illumination,
                             (PetscEnum *)&m->illumination, NULL));
  PetscCall(PetscOptionsBoundedInt("-host_groups", "So many groups compute on the host, the others on devices", NULL, m->hostgroups, &m->hostgroups, NULL, 0));
  PetscCall(PetscOptionsBoundedReal("-host_slowness", "These groups are about so many times slower than devices, a guess for their first task", NULL,
                                    m->hostslowness, &m->hostslowness, NULL, 1));
  PetscCall(PetscOptionsBoundedReal("-mute", "The image is zero above, m", NULL, m->mute, &m->mute, NULL, 0));
  PetscCall(PetscOptionsBool("-laplacian", "Whether the image's Laplacian is taken", NULL, m->laplacian, &m->laplacian, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ velocities */

/* All numbers of a file, on all processes */
static PetscErrorCode ReadVelocity(const Migration *m, const char path[], PetscReal velocity[])
{
  const PetscScalar *v;
  Vec                natural, all;
  VecScatter         scatter;

  PetscFunctionBegin;
  PetscCall(GridFileRead(m->comm, m->format, path, m->n, m->axes, m->dataset, &natural));
  PetscCall(VecScatterCreateToAll(natural, &scatter, &all));
  PetscCall(VecScatterBegin(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecScatterEnd(scatter, natural, all, INSERT_VALUES, SCATTER_FORWARD));
  PetscCall(VecGetArrayRead(all, &v));
  for (PetscInt64 i = 0; i < m->nodes; i++) {
    velocity[i] = PetscRealPart(v[i]);
    PetscCheck(velocity[i] > 0 && velocity[i] < PETSC_MAX_REAL, m->comm, PETSC_ERR_FILE_UNEXPECTED,
               "%s has a velocity of %g m/s: velocities must be positive; are -velocity_format and -n right?", path, (double)velocity[i]);
  }
  PetscCall(VecRestoreArrayRead(all, &v));
  PetscCall(VecScatterDestroy(&scatter));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&natural));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetVelocities(Migration *m)
{
  PetscFunctionBegin;
  PetscCall(PetscMalloc2(m->nodes, &m->velocity, m->nodes, &m->background));
  if (m->model == MIGRATION_FILE) PetscCall(ReadVelocity(m, m->file, m->velocity));
  else {
    for (PetscInt64 p = 0; p < m->nodes; p++) {
      const PetscInt at[3] = {(PetscInt)(p % m->n[0]), (PetscInt)(p / m->n[0] % m->n[1]), (PetscInt)(p / m->n[0] / m->n[1])};
      double         x[3];

      for (int d = 0; d < 3; d++) x[d] = m->n[d] > 1 ? (double)at[d] / (double)(m->n[d] - 1) : .5;
      m->velocity[p] = (PetscReal)models[m->model].velocity(x[0], x[1], x[2]);
    }
  }
  if (m->backgroundfile[0]) PetscCall(ReadVelocity(m, m->backgroundfile, m->background));
  else {
    PetscCall(PetscArraycpy(m->background, m->velocity, (size_t)m->nodes));
    PetscCall(VelocitySmooth(m->n, m->smooth / (2 * m->h), m->background));
  }
  m->slowest[0] = m->slowest[1] = PETSC_MAX_REAL;
  for (PetscInt64 p = 0; p < m->nodes; p++) {
    m->slowest[0] = PetscMin(m->slowest[0], m->background[p]);
    m->slowest[1] = PetscMin(m->slowest[1], m->velocity[p]);
  }
  m->slowest[1] = PetscMin(m->slowest[0], m->slowest[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal MigrationSpeed(const Migration *m, const PetscReal velocity[], const PetscReal place[3])
{
  PetscInt  node[3];
  PetscReal part[3], sum = 0;

  for (int d = 0; d < 3; d++) {
    const PetscReal at = PetscMin(PetscMax(place[d] / m->h, 0), (PetscReal)(m->n[d] - 1));

    node[d] = PetscMax(0, PetscMin((PetscInt)at, m->n[d] - 2));
    part[d] = at - (PetscReal)node[d];
  }
  for (int c = 0; c < 8; c++) {
    PetscReal  weight = 1;
    PetscInt64 at     = 0;

    for (int d = 2; d >= 0; d--) {
      weight *= c >> d & 1 ? part[d] : 1 - part[d];
      at = at * m->n[d] + PetscMin(m->n[d] - 1, node[d] + (c >> d & 1));
    }
    sum += weight > 0 ? weight * velocity[at] : 0;
  }
  return sum;
}

/* ------------------------------------------------------------ the survey */

/* Receivers all over the surface: at each so many nodes, or with a distance, as many as fit, in the middle */
static PetscErrorCode SetReceivers(Migration *m)
{
  PetscReal step[2], first[2];

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    if (m->spacing[d] > 0) m->nplaces[d] = 1 + (PetscInt)(m->length[d] / m->spacing[d] + PETSC_SQRT_MACHINE_EPSILON);
    else m->nplaces[d] = 1 + (m->n[d] - 1) / m->every[d];
    step[d]  = m->spacing[d] > 0 ? m->spacing[d] : m->h * (PetscReal)m->every[d];
    first[d] = m->spacing[d] > 0 ? PetscMax(0, (m->length[d] - step[d] * (PetscReal)(m->nplaces[d] - 1)) / 2) : 0;
  }
  PetscCheck((double)m->nplaces[0] * (double)m->nplaces[1] * (double)m->nshots < 1e9, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
             "%" PetscInt_FMT " shots of %" PetscInt_FMT " x %" PetscInt_FMT " receivers are too many", m->nshots, m->nplaces[0], m->nplaces[1]);
  PetscCall(PetscMalloc1(3 * m->nplaces[0] * m->nplaces[1], &m->place));
  for (PetscInt r = 0; r < m->nplaces[0] * m->nplaces[1]; r++) {
    m->place[3 * r]     = first[0] + step[0] * (PetscReal)(r % m->nplaces[0]);
    m->place[3 * r + 1] = first[1] + step[1] * (PetscReal)(r / m->nplaces[0]);
    m->place[3 * r + 2] = m->depth[1];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sources along a line in x, in the middle of the model */
static PetscErrorCode SetShots(Migration *m)
{
  const PetscInt  n    = m->nplaces[0] * m->nplaces[1];
  const PetscReal step = m->shotspacing > 0 ? m->shotspacing : m->length[0] / (PetscReal)m->nshots;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(m->nshots, &m->shot));
  m->nreceivers = 0;
  for (PetscInt s = 0; s < m->nshots; s++) {
    MigrationShot *shot = &m->shot[s];

    shot->source[0]  = m->length[0] / 2 + step * ((PetscReal)s - (PetscReal)(m->nshots - 1) / 2);
    shot->source[1]  = m->length[1] / 2;
    shot->source[2]  = m->depth[0];
    shot->nreceivers = n;
    shot->first      = m->nreceivers;
    shot->at         = 0;
    m->nreceivers += n;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckPlace(const Migration *m, const char what[], PetscInt number, const PetscReal place[3])
{
  PetscFunctionBegin;
  for (int d = 0; d < 3; d++)
    PetscCheck(place[d] >= -m->h * PETSC_SMALL && place[d] <= m->length[d] + m->h * PETSC_SMALL, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "%s %" PetscInt_FMT " is at %g, %g, %g m, outside of the model of %g x %g x %g m", what, number + 1, (double)place[0], (double)place[1],
               (double)place[2], (double)m->length[0], (double)m->length[1], (double)m->length[2]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationSetUp(Migration *m)
{
  PetscFunctionBegin;
  m->nfrequencies = 1 + (PetscInt)PetscFloorReal((m->band[1] - m->band[0]) / m->band[2] + (PetscReal)1e-6);
  PetscCall(PetscMalloc1(m->nfrequencies, &m->frequency));
  for (PetscInt f = 0; f < m->nfrequencies; f++) m->frequency[f] = m->band[0] + (PetscReal)f * m->band[2];
  PetscCall(SetVelocities(m));
  if (m->records[0]) PetscCall(TracesReadShots(m));
  else {
    PetscCall(SetReceivers(m));
    PetscCall(SetShots(m));
  }
  for (PetscInt s = 0; s < m->nshots; s++) {
    const MigrationShot *shot = &m->shot[s];

    PetscCall(CheckPlace(m, "The source of shot", s, shot->source));
    for (PetscInt r = 0; r < shot->nreceivers && (!s || shot->at); r++) PetscCall(CheckPlace(m, "Receiver", r, m->place + 3 * (shot->at + r)));
  }
  if (m->records[0]) PetscCall(TracesReadData(m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MigrationDestroy(Migration *m)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(m->velocity, m->background));
  PetscCall(PetscFree(m->frequency));
  PetscCall(PetscFree(m->shot));
  PetscCall(PetscFree(m->place));
  PetscCall(PetscFree(m->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ frequencies */

PetscScalar MigrationWavelet(const Migration *m, PetscReal frequency)
{
  const PetscReal phase = -2 * PETSC_PI * frequency * m->delay, x = m->ricker > 0 ? PetscSqr(frequency / m->ricker) : 1;
  /* a Ricker wavelet whose largest value is 1 */
  const PetscReal size = m->ricker > 0 ? 2 * x * PetscExpReal(-x) / (PetscSqrtReal(PETSC_PI) * m->ricker) : 1;

  return MigrationComplex(size * PetscCosReal(phase), size * PetscSinReal(phase));
}

PetscErrorCode MigrationGetGrid(const Migration *m, int which, PetscReal frequency, PetscInt n[3], PetscReal *h)
{
  const MigrationGrid *g    = &m->grid[which];
  PetscReal            most = m->length[0] / 8;

  PetscFunctionBegin;
  for (PetscInt d = 1; d < 3; d++) {
    if (m->n[d] > 1) most = PetscMin(most, m->length[d] / 8);
  }
  *h = PetscMin(most, m->slowest[which] / (frequency * g->pointsperwave));
  for (PetscInt d = 0; d < m->dim; d++) {
    const PetscReal length = m->length[m->dim == 2 && d == 1 ? 2 : d], steps = PetscCeilReal(length / *h - (PetscReal)1e-6);

    PetscCheck(steps < (PetscReal)1e6, m->comm, PETSC_ERR_ARG_OUTOFRANGE,
               "Waves of %g Hz need a grid of %g points in direction %" PetscInt_FMT ": are -spacing and the velocities in m and m/s?", (double)frequency,
               (double)steps, d);
    n[d] = 1 + (PetscInt)steps + 2 * g->layer;
  }
  if (m->dim == 2) n[2] = 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}
