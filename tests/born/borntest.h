/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Small problems for the tests of MATBORN */

#include <lithe.h>
#include <petscdmda.h>
#include <tests/failures.h>
#include <tests/options.h>

/* In how many roundings of double or single precision something may differ */
#define TEST_EPS(x) ((PetscReal)(x)*PETSC_MACHINE_EPSILON)

/* By how much <Jx, y> and <x, J^T y> may differ, as docs/guide/born.md states: square of |Jx|^2 with y = J x, apart of |Jx| |y| with
   a random y. In double precision ring and random undo steps in floating point */
static inline void BornTestLimits(MatBornField field, MatBornBackground background, PetscReal *square, PetscReal *apart)
{
  const PetscBool undone = (PetscBool)(background == MATBORN_BACKGROUND_RING || background == MATBORN_BACKGROUND_RANDOM);

  *square = field == MATBORN_FIELD_FLOAT ? (PetscReal)1e-5 : TEST_EPS(undone ? 4500 : 450);
  *apart  = field == MATBORN_FIELD_FLOAT ? (PetscReal)1e-6 : TEST_EPS(undone ? 4500 : 9);
}

/* A DMDA without coordinates; n[2] = 1 for two dimensions */
static inline PetscErrorCode BornTestDM(const PetscInt n[3], DM *da)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;

  PetscFunctionBegin;
  if (n[2] == 1) PetscCall(DMDACreate2d(PETSC_COMM_SELF, none, none, DMDA_STENCIL_STAR, n[0], n[1], 1, 1, 1, 1, NULL, NULL, da));
  else PetscCall(DMDACreate3d(PETSC_COMM_SELF, none, none, none, DMDA_STENCIL_STAR, n[0], n[1], n[2], 1, 1, 1, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same on several processes, split as PETSc does, with vectors of a type */
static inline PetscErrorCode BornTestSharedDM(MPI_Comm comm, const PetscInt n[3], VecType type, DM *da)
{
  const DMBoundaryType none = DM_BOUNDARY_NONE;
  const PetscInt       p    = PETSC_DECIDE;

  PetscFunctionBegin;
  if (n[2] == 1) PetscCall(DMDACreate2d(comm, none, none, DMDA_STENCIL_STAR, n[0], n[1], p, p, 1, 1, NULL, NULL, da));
  else PetscCall(DMDACreate3d(comm, none, none, none, DMDA_STENCIL_STAR, n[0], n[1], n[2], p, p, p, 1, 1, NULL, NULL, NULL, da));
  PetscCall(DMSetVecType(*da, type));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ricker's wavelet of frequency f with centre at t0, and the second derivative */
static inline PetscReal Ricker(PetscReal f, PetscReal t0, PetscReal t)
{
  const PetscReal a = PetscSqr(PETSC_PI * f * (t - t0));

  return (1 - 2 * a) * PetscExpReal(-a);
}

static inline PetscReal RickerSecond(PetscReal f, PetscReal t0, PetscReal t)
{
  const PetscReal b = PetscSqr(PETSC_PI * f), a = b * PetscSqr(t - t0);

  return b * (-6 + 24 * a - 8 * a * a) * PetscExpReal(-a);
}

static inline PetscErrorCode BornTestWavelet(Mat J, PetscReal f, PetscReal t0, PetscReal dt, PetscInt n)
{
  PetscReal *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &w));
  for (PetscInt k = 0; k < n; k++) w[k] = Ricker(f, t0, dt * (PetscReal)k);
  PetscCall(MatBornSetWavelet(J, n, w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An arch of n samples, for grids with few nodes per wavelength; the shortest wave has about n / 2 steps */
static inline PetscErrorCode BornTestBurst(Mat J, PetscInt n)
{
  PetscReal *w;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &w));
  for (PetscInt k = 0; k < n; k++) w[k] = PetscSqr(PetscSinReal(PETSC_PI * (PetscReal)(k + 1) / (PetscReal)(n + 1)));
  PetscCall(MatBornSetWavelet(J, n, w));
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Velocities between 1.5 and 2.5, different at every node */
static inline PetscErrorCode BornTestVelocity(DM da, Vec *v)
{
  PetscRandom random;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(da, v));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, 1.5, 2.5));
  PetscCall(VecSetRandom(*v, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fields in double precision and a recomputed background, for tight limits */
static inline PetscErrorCode BornTestExact(Mat J)
{
  PetscFunctionBegin;
  PetscCall(TestSetOptions(J, "-mat_born_field double"));
  PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_CHECKPOINT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Settings of a matrix. Where 0 is no setting, it leaves the default */
typedef struct {
  PetscInt          n[3], width, steps, every, order, interval, velocitybits;
  MatBornField      field;
  PetscBool         surface, between; /* between: sources and receivers between nodes */
  MatBornBackground background;
  PetscInt          bits, checkpoints, shots;
  MatBornParameter  parameter;
  PetscReal         lowpass;
} BornTestCase;

/* A matrix without wavelet and shots */
static inline PetscErrorCode BornTestCreate(DM da, Vec v, const PetscReal h[], PetscReal dt, const BornTestCase *c, Mat *J)
{
  PetscFunctionBegin;
  PetscCall(MatCreateBorn(da, J));
  PetscCall(MatBornSetSpacing(*J, h));
  PetscCall(MatBornSetVelocity(*J, v));
  PetscCall(MatBornSetTime(*J, dt, c->steps, c->every));
  if (c->order) PetscCall(MatBornSetOrder(*J, c->order));
  if (c->width) PetscCall(MatBornSetSponge(*J, c->width, PETSC_DETERMINE));
  PetscCall(MatBornSetFreeSurface(*J, c->surface));
  PetscCall(MatBornSetParameter(*J, c->parameter));
  PetscCall(MatBornSetLowpass(*J, c->lowpass));
  PetscCall(MatBornSetBackground(*J, c->background));
  PetscCall(TestSetOptions(*J, "-mat_born_field %s", MatBornFields[c->field]));
  if (c->bits) PetscCall(TestSetOptions(*J, "-mat_born_background_bits %" PetscInt_FMT, c->bits));
  if (c->interval) PetscCall(TestSetOptions(*J, "-mat_born_interval %" PetscInt_FMT, c->interval));
  if (c->velocitybits) PetscCall(TestSetOptions(*J, "-mat_born_velocity_bits %" PetscInt_FMT, c->velocitybits));
  if (c->checkpoints) PetscCall(TestSetOptions(*J, "-mat_born_checkpoints %" PetscInt_FMT, c->checkpoints));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define BORN_TEST_DT 0.15

/* A matrix on a grid with unlike spacings, for a wavelet of n samples. Two shots have 3 and 5 receivers */
static inline PetscErrorCode BornTestCreateBurst(const BornTestCase *c, VecType type, PetscInt n, Mat *J)
{
  const PetscReal h[3] = {1, 1.1, 1.2};
  const int       dim  = c->n[2] == 1 ? 2 : 3;
  DM              da;
  Vec             v;

  PetscFunctionBegin;
  PetscCall(BornTestDM(c->n, &da));
  PetscCall(DMSetVecType(da, type));
  PetscCall(BornTestVelocity(da, &v));
  PetscCall(BornTestCreate(da, v, h, BORN_TEST_DT, c, J));
  PetscCall(BornTestBurst(*J, n));
  for (PetscInt s = 0; s < 2; s++) {
    PetscReal source[3], receivers[15];

    for (int d = 0; d < dim; d++) source[d] = h[d] * (PetscReal)(c->n[d] / 2 + s) + (c->between ? 0.3 * h[d] : 0);
    for (PetscInt r = 0; r < 3 + 2 * s; r++) {
      for (int d = 0; d < dim; d++)
        receivers[dim * r + d] = h[d] * (PetscReal)((d == dim - 1 ? 3 : 4) + (d == 0 ? 2 * r : 0)) + (c->between ? 0.21 * h[d] * (PetscReal)r : 0);
    }
    PetscCall(MatBornAddShot(*J, source, 3 + 2 * s, receivers));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}
