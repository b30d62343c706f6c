/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: waves against Green's functions, scattering by a point, the order in space, and echoes from the sponge.\n\n";

#include "borntest.h"

/* A matrix with a single shot on a grid with constant velocity 1 */
static PetscErrorCode TestCreate(const PetscInt n[3], PetscReal h, PetscReal dt, PetscInt steps, PetscInt every, PetscReal f, PetscReal t0,
                                 const PetscReal source[], PetscInt nreceivers, const PetscReal receivers[], Mat *J)
{
  const BornTestCase c          = {.steps = steps, .every = every, .field = MATBORN_FIELD_DOUBLE, .background = MATBORN_BACKGROUND_CHECKPOINT};
  const PetscReal    spacing[3] = {h, h, h};
  DM                 da;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(BornTestDM(n, &da));
  PetscCall(DMCreateGlobalVector(da, &v));
  PetscCall(VecSet(v, 1));
  PetscCall(BornTestCreate(da, v, spacing, dt, &c, J));
  PetscCall(BornTestWavelet(*J, f, t0, dt, steps));
  PetscCall(MatBornAddShot(*J, source, nreceivers, receivers));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ten nodes per wavelength at 2.5 times the main frequency, in the time before echoes from the faces. Source and
   receivers are between nodes, the scatterer at a node */
static PetscErrorCode TestGreen(void)
{
  const PetscInt     n[3] = {61, 61, 61}, node = 36 + 61 * (28 + 61 * 31);
  const PetscReal    f = 0.04, t0 = 26, dt = 0.2, source[3] = {26.3, 29.6, 30}, at[3] = {36, 28, 31};
  const PetscReal    receivers[6] = {38.4, 36.1, 27.7, 28, 22, 36.5};
  const PetscInt     steps        = 235;
  const PetscScalar *p;
  Mat                J;
  Vec                d, x;

  PetscFunctionBegin;
  PetscCall(TestCreate(n, 1, dt, steps, 1, f, t0, source, 2, receivers, &J));
  PetscCall(MatBornSetSponge(J, 0, PETSC_DETERMINE));
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(MatBornModel(J, d));
  PetscCall(VecSetValue(x, node, 0.3, INSERT_VALUES));
  for (int scattered = 0; scattered < 2; scattered++) {
    if (scattered) PetscCall(MatMult(J, x, d));
    PetscCall(VecGetArrayRead(d, &p));
    for (int r = 0; r < 2; r++) {
      PetscReal direct = 0, first = 0, second = 0, worst = 0, most = 0;

      for (int k = 0; k < 3; k++) {
        direct += PetscSqr(source[k] - receivers[3 * r + k]);
        first += PetscSqr(source[k] - at[k]);
        second += PetscSqr(at[k] - receivers[3 * r + k]);
      }
      direct = PetscSqrtReal(direct);
      first  = PetscSqrtReal(first);
      second = PetscSqrtReal(second);
      for (PetscInt k = 0; k < steps; k++) {
        const PetscReal t = dt * (PetscReal)(k + 1);
        PetscReal       exact;

        /* The force of the scatterer is x div grad u = x u_tt in a cell of 1 */
        if (scattered) exact = 0.3 * RickerSecond(f, t0, t - first - second) / (16 * PETSC_PI * PETSC_PI * first * second);
        else exact = Ricker(f, t0, t - direct) / (4 * PETSC_PI * direct);
        worst = PetscMax(worst, PetscAbsReal(exact - PetscRealPart(p[steps * r + k])));
        most  = PetscMax(most, PetscAbsReal(exact));
      }
      if (WRONG(!(worst < 0.01 * most))) FAIL("Green's function, %s, receiver %d: error %g", scattered ? "scattered" : "direct", r, (double)(worst / most));
    }
    PetscCall(VecRestoreArrayRead(d, &p));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A free surface equals a mirror source above the surface with opposite sign. Receivers are near the surface, and one
   receiver has nodes above the surface in its sum */
static PetscErrorCode TestSurface(void)
{
  const PetscInt     n[3] = {61, 61, 45}, steps = 235;
  const PetscReal    f = 0.04, t0 = 26, dt = 0.2, source[3] = {26.3, 29.6, 8.4}, receivers[6] = {38.4, 36.1, 1.4, 28, 22, 11.5};
  const PetscScalar *p;
  Mat                J;
  Vec                d;

  PetscFunctionBegin;
  PetscCall(TestCreate(n, 1, dt, steps, 1, f, t0, source, 2, receivers, &J));
  PetscCall(MatBornSetFreeSurface(J, PETSC_TRUE));
  PetscCall(MatBornSetSponge(J, 0, PETSC_DETERMINE));
  PetscCall(MatCreateVecs(J, NULL, &d));
  PetscCall(MatBornModel(J, d));
  PetscCall(VecGetArrayRead(d, &p));
  for (int r = 0; r < 2; r++) {
    const PetscReal along  = PetscSqr(source[0] - receivers[3 * r]) + PetscSqr(source[1] - receivers[3 * r + 1]);
    const PetscReal direct = PetscSqrtReal(along + PetscSqr(source[2] - receivers[3 * r + 2]));
    const PetscReal image = PetscSqrtReal(along + PetscSqr(source[2] + receivers[3 * r + 2])), most = 1 / (4 * PETSC_PI * direct);
    PetscReal       worst = 0;

    for (PetscInt k = 0; k < steps; k++) {
      const PetscReal t = dt * (PetscReal)(k + 1), exact = (Ricker(f, t0, t - direct) / direct - Ricker(f, t0, t - image) / image) / (4 * PETSC_PI);

      worst = PetscMax(worst, PetscAbsReal(exact - PetscRealPart(p[steps * r + k])));
    }
    if (WRONG(!(worst < 0.01 * most))) FAIL("free surface, receiver %d: error %g", r, (double)(worst / most));
  }
  PetscCall(VecRestoreArrayRead(d, &p));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Traces on [0, 1]^2 with N intervals, the same steps of time for all N */
static PetscErrorCode TestTraces(PetscInt N, PetscInt order, Vec *d)
{
  const PetscInt  n[3]         = {N + 1, N + 1, 1};
  const PetscReal source[2]    = {0.5, 0.5};
  const PetscReal receivers[4] = {0.6875, 0.5, 0.6875, 0.625};
  Mat             J;

  PetscFunctionBegin;
  PetscCall(TestCreate(n, 1 / (PetscReal)N, 0.002, 400, 2, 4, 0.5, source, 2, receivers, &J));
  PetscCall(MatBornSetOrder(J, order));
  PetscCall(MatBornSetSponge(J, 0, PETSC_DETERMINE));
  PetscCall(MatCreateVecs(J, NULL, d));
  PetscCall(MatBornModel(J, *d));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOrders(void)
{
  const PetscInt orders[4] = {2, 4, 8, 12}, coarse[4] = {96, 96, 64, 80};
  Vec            reference, d;
  PetscReal      error[2];

  PetscFunctionBegin;
  PetscCall(TestTraces(240, 12, &reference));
  for (int k = 0; k < 4; k++) {
    for (int fine = 0; fine < 2; fine++) {
      PetscCall(TestTraces(coarse[k] << fine, orders[k], &d));
      PetscCall(VecAXPY(d, -1, reference));
      PetscCall(VecNorm(d, NORM_2, &error[fine]));
      PetscCall(VecDestroy(&d));
    }
    if (WRONG(!(PetscAbsReal(PetscLog2Real(error[0] / error[1]) - (PetscReal)orders[k]) < 0.3)))
      FAIL("order %d: errors %g and %g, order %g", (int)orders[k], (double)error[0], (double)error[1], (double)PetscLog2Real(error[0] / error[1]));
  }
  PetscCall(VecDestroy(&reference));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The echo of a sponge of "width" nodes: the difference to a trace on a grid too large for echoes */
static PetscErrorCode TestEcho(int dim, PetscInt width, PetscInt inner, PetscReal dt, PetscInt steps, PetscReal most)
{
  const PetscInt margin[2] = {width, 120};
  Vec            d[2];
  PetscReal      norm[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    const PetscInt  m = inner + 2 * (k && dim == 3 ? 70 : margin[k]), n[3] = {m, m, dim == 2 ? 1 : m};
    const PetscReal o = (PetscReal)(k && dim == 3 ? 70 : margin[k]), middle = o + (PetscReal)(inner / 2);
    const PetscReal source[3] = {middle, middle, middle}, receiver[3] = {o + 3, o + 5, middle};
    Mat             J;

    PetscCall(TestCreate(n, 1, dt, steps, 1, 0.06, 20, source, 1, receiver, &J));
    PetscCall(MatBornSetSponge(J, k ? 0 : width, PETSC_DETERMINE));
    PetscCall(MatCreateVecs(J, NULL, &d[k]));
    PetscCall(MatBornModel(J, d[k]));
    PetscCall(MatDestroy(&J));
  }
  PetscCall(VecAXPY(d[0], -1, d[1]));
  PetscCall(VecNorm(d[0], NORM_INFINITY, &norm[0]));
  PetscCall(VecNorm(d[1], NORM_INFINITY, &norm[1]));
  if (WRONG(!(norm[0] < most * norm[1]))) FAIL("%d-D, sponge of %d nodes, step %g: echo %g", dim, (int)width, (double)dt, (double)(norm[0] / norm[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&d[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestGreen());
  PetscCall(TestSurface());
  PetscCall(TestOrders());
  PetscCall(TestEcho(2, 40, 40, 0.5, 380, 0.05));
  return TestEnd(11, "waves are as they should be\n");
}

/*TEST

  test:
    requires: !complex double

TEST*/
