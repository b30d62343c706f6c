/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: type name, options, refused requests and their messages, changed velocities, and the view.\n\n";

#include "borntest.h"
#include <tests/refused.h>

static const PetscReal source[2] = {10, 12}, receivers[4] = {8, 8, 14.5, 8};

/* Everything but the shots */
static PetscErrorCode TestSettings(Mat J, Vec v, PetscReal dt)
{
  const PetscReal h[2] = {1, 1};

  PetscFunctionBegin;
  PetscCall(BornTestExact(J));
  PetscCall(MatBornSetSpacing(J, h));
  PetscCall(MatBornSetSponge(J, 6, PETSC_DETERMINE));
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatBornSetTime(J, dt, 40, 3));
  PetscCall(BornTestBurst(J, 40));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Requests before a matrix can be used, and after */
static PetscErrorCode TestOrder(DM da, Vec v)
{
  const PetscReal w = 1, zero[2] = {1, 0}, one[2] = {1, 1}, nan = (PetscReal)NAN;
  Mat             J;
  Vec             x, y;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_SELF, &J));
  PetscCall(MatSetType(J, MATBORN));
  TEST_REFUSED("no DMDA", MatBornAddShot(J, source, 2, receivers), "MatSetDM");
  PetscCall(MatSetDM(J, da));
  TEST_REFUSED("no shots", MatSetUp(J), "MatBornAddShot", "DMCreateMatrix");
  TEST_REFUSED("spacing", MatBornSetSpacing(J, zero), "dimension 1", "positive");
  TEST_REFUSED("step", MatBornSetTime(J, 0, 10, 1), "time step", "positive");
  TEST_REFUSED("step", MatBornSetTime(J, nan, 10, 1), "time step", "positive");
  TEST_REFUSED("samples", MatBornSetTime(J, 0.1, 10, 11), "every 11", "one sample");
  TEST_REFUSED("receivers", MatBornAddShot(J, source, 0, receivers), "0 receivers");
  PetscCall(MatBornAddShot(J, source, 2, receivers));
  TEST_REFUSED("no steps", MatSetUp(J), "MatBornSetTime");
  PetscCall(MatBornSetTime(J, 0.1, 10, 1));
  PetscCall(MatCreateVecs(J, &x, &y));
  TEST_REFUSED("late shot", MatBornAddShot(J, source, 2, receivers), "MatBornAddShot", "before MatSetUp");
  TEST_REFUSED("late steps", MatBornSetTime(J, 0.1, 20, 1), "MatBornSetTime", "before MatSetUp");
  TEST_REFUSED("no wavelet", MatBornModel(J, y), "MatBornSetWavelet");
  TEST_REFUSED("wavelet", MatBornSetWavelet(J, 0, &w), "0 samples");
  TEST_REFUSED("wavelet", MatBornSetWavelet(J, 1, &nan), "Sample 0");
  PetscCall(BornTestBurst(J, 60));
  TEST_REFUSED("sponge", MatBornModel(J, y), "two sponges", "-mat_born_width");
  PetscCall(MatBornSetSponge(J, 6, PETSC_DETERMINE));
  TEST_REFUSED("no coordinates", MatBornModel(J, y), "MatBornSetSpacing");
  PetscCall(MatBornSetSpacing(J, one));
  TEST_REFUSED("no velocity", MatBornModel(J, y), "MatBornSetVelocity");
  PetscCall(MatBornSetVelocity(J, y));
  TEST_REFUSED("velocity", MatBornModel(J, y), "velocity has 20 numbers");
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatMult(J, x, y));
  TEST_REFUSED("data", MatBornModel(J, x), "20 samples");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Impossible values */
static PetscErrorCode TestValues(DM da, Vec v)
{
  const PetscReal outside[2] = {10, 40.5}, nan[2] = {3, (PetscReal)NAN};
  const PetscReal bad[4] = {0, -2, (PetscReal)INFINITY, (PetscReal)NAN};
  DM              line;
  Mat             J;
  Vec             x, y;

  PetscFunctionBegin;
  PetscCall(MatCreateBorn(da, &J));
  PetscCall(TestSettings(J, v, 0.15));
  TEST_REFUSED("order", MatBornSetOrder(J, 6), "-mat_born_order 6", "8 and 12");
  TEST_REFUSED("width", MatBornSetSponge(J, -1, 0), "-mat_born_width -1");
  TEST_REFUSED("damping", MatBornSetSponge(J, 5, -0.5), "-mat_born_damping -0.5");
  TEST_REFUSED("checkpoints", TestSetOptions(J, "-mat_born_checkpoints 0"), "-mat_born_checkpoints 0");
  PetscCall(MatBornAddShot(J, source, 2, receivers));
  PetscCall(MatCreateVecs(J, &x, &y));
  PetscCall(MatBornSetInterpolation(J, MATBORN_INTERPOLATION_NONE));
  TEST_REFUSED("between nodes", MatBornModel(J, y), "Receiver 1 of shot 0", "14.5", "-mat_born_interpolation");
  PetscCall(MatBornSetInterpolation(J, MATBORN_INTERPOLATION_SINC));
  for (int k = 0; k < 4; k++) {
    PetscScalar kept;
    PetscInt    node = 100 + k;

    PetscCall(VecGetValues(v, 1, &node, &kept));
    PetscCall(VecSetValue(v, node, bad[k], INSERT_VALUES));
    TEST_REFUSED("velocity", MatBornModel(J, y), "velocity at node 10", "positive");
    PetscCall(VecSetValue(v, node, kept, INSERT_VALUES)); /* which is not locked */
    PetscCall(MatMult(J, x, y));
  }
  PetscCall(VecScale(v, 4));
  TEST_REFUSED("limit", MatBornModel(J, y), "time step 0.15", "limit", "order 8");
  PetscCall(VecScale(v, 0.25));
  PetscCall(MatMult(J, x, y));
  TEST_REFUSED("entries", MatView(J, PETSC_VIEWER_DRAW_SELF), "no entries", "ascii_info");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&J));

  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateBorn(da, &J));
    PetscCall(TestSettings(J, v, 0.15));
    PetscCall(MatBornAddShot(J, k ? nan : outside, 2, receivers));
    PetscCall(MatCreateVecs(J, &x, &y));
    TEST_REFUSED("source", MatBornModel(J, y), "Source 0 of shot 0", "outside", "coordinate 1");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&J));
  }

  PetscCall(DMDACreate1d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, 20, 1, 1, NULL, &line));
  PetscCall(DMSetUp(line));
  PetscCall(MatCreateBorn(line, &J));
  TEST_REFUSED("a line", MatBornAddShot(J, source, 2, receivers), "2 or 3 dimensions");
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&line));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest step by the manual page, in two and three dimensions, is taken; a little more is refused */
static PetscErrorCode TestLimits(void)
{
  const PetscReal limits[2][4] = {{0.7071, 0.6123, 0.5546, 0.5317}, {0.5773, 0.4999, 0.4528, 0.4341}}, h[3] = {2, 2, 2};
  const PetscReal places[6] = {20, 20, 20, 22, 20, 20};
  const PetscInt  orders[4] = {2, 4, 8, 12}, n[2][3] = {{20, 20, 1}, {16, 16, 16}};

  PetscFunctionBegin;
  for (int dim = 2; dim <= 3; dim++) {
    DM  da;
    Vec v;

    PetscCall(BornTestDM(n[dim - 2], &da));
    PetscCall(DMCreateGlobalVector(da, &v));
    PetscCall(VecSet(v, 3));
    for (int k = 0; k < 8; k++) {
      const PetscReal dt = limits[dim - 2][k / 2] * 2 / 3 * (k % 2 ? 1.002 : 1);
      Mat             J;
      Vec             d;

      PetscCall(MatCreateBorn(da, &J));
      PetscCall(MatBornSetSpacing(J, h));
      PetscCall(MatBornSetOrder(J, orders[k / 2]));
      PetscCall(MatBornSetSponge(J, 0, 0));
      PetscCall(MatBornSetVelocity(J, v));
      PetscCall(MatBornSetTime(J, dt, 300, 300));
      PetscCall(BornTestBurst(J, 40));
      PetscCall(MatBornAddShot(J, places, 1, places + 3));
      PetscCall(MatCreateVecs(J, NULL, &d));
      if (k % 2) TEST_REFUSED("limit", MatBornModel(J, d), "limit of stability");
      else {
        PetscReal norm;

        PetscCall(MatBornModel(J, d));
        PetscCall(VecNorm(d, NORM_INFINITY, &norm));
        if (WRONG(!(norm < 100))) FAIL("%d-D, order %d is not stable at its limit: %g", dim, (int)orders[k / 2], (double)norm);
      }
      PetscCall(VecDestroy(&d));
      PetscCall(MatDestroy(&J));
    }
    PetscCall(VecDestroy(&v));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Units far from 1, by a power of two: the same bits */
static PetscErrorCode TestUnits(DM da, Vec v)
{
  const int powers[3] = {0, 500, -500};
  Vec       d[3], g[3];

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) {
    const PetscReal unit = (PetscReal)ldexp(1, powers[k]), h[2] = {unit, 1.25 * unit};
    PetscReal       at[2], to[4];
    Vec             scaled;
    Mat             J;
    PetscBool       same;

    for (int i = 0; i < 2; i++) at[i] = unit * source[i];
    for (int i = 0; i < 4; i++) to[i] = unit * receivers[i];
    PetscCall(VecDuplicate(v, &scaled));
    PetscCall(VecAXPBY(scaled, unit, 0, v));
    PetscCall(MatCreateBorn(da, &J));
    PetscCall(TestSettings(J, scaled, 0.15));
    PetscCall(MatBornSetSpacing(J, h));
    PetscCall(MatBornAddShot(J, at, 2, to));
    PetscCall(MatCreateVecs(J, &g[k], &d[k]));
    PetscCall(MatBornModel(J, d[k]));
    PetscCall(MatMultTranspose(J, d[k], g[k]));
    if (k) {
      PetscCall(VecEqual(d[0], d[k], &same));
      if (WRONG(!same)) FAIL("other data in units of 2^%d", powers[k]);
      PetscCall(VecEqual(g[0], g[k], &same));
      if (WRONG(!same)) FAIL("another image in units of 2^%d", powers[k]);
    }
    PetscCall(VecDestroy(&scaled));
    PetscCall(MatDestroy(&J));
  }
  for (int k = 0; k < 3; k++) {
    PetscCall(VecDestroy(&d[k]));
    PetscCall(VecDestroy(&g[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By name with options, and spacings from coordinates; changed velocities are noticed; the view */
static PetscErrorCode TestOptions(DM da, Vec v)
{
  Mat       J, K;
  Vec       x, d, e;
  PetscReal norm, length;
  MatInfo   info;

  PetscFunctionBegin;
  PetscCall(PetscOptionsInsertString(NULL, "-a_mat_type born -a_mat_born_order 4 -a_mat_born_parameter slowness2 -a_mat_born_width 5 -a_mat_born_damping 0.125 "
                                           "-a_mat_born_free_surface -a_mat_born_checkpoints 3 -a_mat_born_field double -a_mat_born_background checkpoint"));
  PetscCall(MatCreate(PETSC_COMM_SELF, &J));
  PetscCall(MatSetOptionsPrefix(J, "a_"));
  PetscCall(MatSetDM(J, da));
  PetscCall(MatSetFromOptions(J));
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatBornSetTime(J, 0.15, 40, 3));
  PetscCall(BornTestBurst(J, 40));
  PetscCall(MatBornAddShot(J, source, 2, receivers));
  PetscCall(MatSetUp(J));
  PetscCall(VecSet(v, 2));
  PetscCall(DMDASetUniformCoordinates(da, 0, 23, 0, 19, 0, 0));
  PetscCall(MatView(J, PETSC_VIEWER_STDOUT_SELF));
  PetscCall(MatGetInfo(J, MAT_LOCAL, &info));
  if (WRONG(info.memory < 10. * 24 * 20 * sizeof(PetscReal))) FAIL("%g bytes", info.memory);

  /* The same matrix by functions, with spacings by MatBornSetSpacing() */
  PetscCall(MatCreateBorn(da, &K));
  PetscCall(TestSettings(K, v, 0.15));
  PetscCall(MatBornSetOrder(K, 4));
  PetscCall(MatBornSetParameter(K, MATBORN_PARAMETER_SLOWNESS2));
  PetscCall(MatBornSetSponge(K, 5, 0.125));
  PetscCall(MatBornSetFreeSurface(K, PETSC_TRUE));
  PetscCall(MatBornAddShot(K, source, 2, receivers));
  PetscCall(MatCreateVecs(K, &x, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(VecSetRandom(x, NULL));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMult(J, x, d));
    PetscCall(MatMult(K, x, e));
    PetscCall(VecNorm(d, NORM_2, &length));
    PetscCall(VecAXPY(e, -1, d));
    PetscCall(VecNorm(e, NORM_2, &norm));
    if (WRONG(!(length > 0) || !(norm <= TEST_EPS(1000) * length))) FAIL("options and functions differ by %g", (double)(norm / length));
    if (k) break;
    PetscCall(VecCopy(d, e));
    PetscCall(VecScale(v, 0.875));
    PetscCall(MatMult(J, x, d));
    PetscCall(VecAXPY(e, -1, d));
    PetscCall(VecNorm(e, NORM_2, &norm));
    if (WRONG(!(norm > 0.01 * length))) FAIL("a new velocity is not seen");
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&K));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt n[3] = {24, 20, 1};
  DM             da;
  Vec            v;
  Mat            J;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(MatCreate(PETSC_COMM_WORLD, &J));
  if (PetscDefined(USE_COMPLEX)) TEST_REFUSED("complex", MatSetType(J, MATBORN), "real scalars");
  else {
    PetscCall(BornTestDM(n, &da));
    PetscCall(BornTestVelocity(da, &v));
    PetscCall(TestOrder(da, v));
    PetscCall(TestValues(da, v));
    PetscCall(TestLimits());
    PetscCall(TestUnits(da, v));
    PetscCall(TestOptions(da, v));
    PetscCall(VecDestroy(&v));
    PetscCall(DMDestroy(&da));
    if (count != 40) FAIL("%d refusals", (int)count);
  }
  PetscCall(MatDestroy(&J));
  return TestEnd(PetscDefined(USE_COMPLEX) ? 0 : 16, "all is refused that should be\n");
}

/*TEST

  test:
    requires: !complex double

  test:
    suffix: complex
    requires: complex
    output_file: output/options_refused.out

TEST*/
