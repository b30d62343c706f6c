/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: illumination, the normal operator in KSPCG against KSPLSQR, waves too short for the grid, options.\n\
  -test_vec_type cuda : on a device\n\n";

#include "borntest.h"
#include <tests/refused.h>
#include <petscksp.h>
#include <tests/matview.h>

#define TEST_VELOCITY 4e-5 /* how much velocities of 16 bits may change data: 1.7e-5, and 7e-5 if truncated instead of rounded */

static const PetscInt n[3] = {46, 38, 1};

/* One shot in the middle, receivers on a line */
static PetscErrorCode TestCreate(VecType type, PetscReal amplitude, Mat *J)
{
  const BornTestCase c    = {.width = 6, .steps = 120, .every = 2};
  const PetscReal    h[2] = {1, 1}, source[2] = {20, 9};
  PetscReal          receivers[2 * 12], w[40];
  DM                 da;
  Vec                v;

  PetscFunctionBegin;
  PetscCall(BornTestDM(n, &da));
  PetscCall(DMSetVecType(da, type));
  PetscCall(BornTestVelocity(da, &v));
  PetscCall(BornTestCreate(da, v, h, 0.15, &c, J));
  for (int k = 0; k < 40; k++) w[k] = amplitude * PetscSqr(PetscSinReal(PETSC_PI * (PetscReal)(k + 1) / 41));
  PetscCall(MatBornSetWavelet(*J, 40, w));
  for (int r = 0; r < 12; r++) {
    receivers[2 * r]     = 8 + 2.5 * (PetscReal)r;
    receivers[2 * r + 1] = 8;
  }
  PetscCall(MatBornAddShot(*J, source, 12, receivers));
  PetscCall(VecDestroy(&v));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Twice the amplitude gives four times the illumination. With the parameter velocity, illumination is 4/v^2 times the
   default. Places far from the source are darker. A change of settings is noticed */
static PetscErrorCode TestIllumination(VecType type)
{
  DM          da;
  Mat         J;
  Vec         one, two, v, w;
  PetscReal   norm, difference;
  PetscScalar near[2];
  PetscInt    at[2] = {20 + 46 * 9, 8 + 46 * 28};

  PetscFunctionBegin;
  for (int b = MATBORN_BACKGROUND_KEEP; b <= MATBORN_BACKGROUND_CHECKPOINT; b++) {
    PetscCall(TestCreate(type, 1, &J));
    PetscCall(MatBornSetBackground(J, (MatBornBackground)b));
    PetscCall(MatBornGetIllumination(J, &one));
    PetscCall(VecGetValues(one, 2, at, near));
    if (WRONG(!(PetscRealPart(near[0]) > 10 * PetscRealPart(near[1])) || !(PetscRealPart(near[1]) > 0)))
      FAIL("%s: illumination %g at the source, %g far from it", MatBornBackgrounds[b], (double)PetscRealPart(near[0]), (double)PetscRealPart(near[1]));

    PetscCall(MatBornSetParameter(J, MATBORN_PARAMETER_VELOCITY));
    PetscCall(MatBornGetIllumination(J, &two));
    PetscCall(MatGetDM(J, &da));
    PetscCall(BornTestVelocity(da, &v));
    PetscCall(VecDuplicate(v, &w));
    PetscCall(VecPointwiseMult(w, v, v));
    PetscCall(VecPointwiseMult(w, w, two));
    PetscCall(VecScale(w, 0.25));
    PetscCall(VecAXPY(w, -1, one));
    PetscCall(VecNorm(w, NORM_2, &difference));
    PetscCall(VecNorm(one, NORM_2, &norm));
    if (WRONG(!(difference <= 1e-6 * norm))) FAIL("%s: illumination of the velocity differs by %g", MatBornBackgrounds[b], (double)(difference / norm));
    PetscCall(VecDestroy(&one));
    PetscCall(VecDestroy(&two));
    PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&w));
    PetscCall(MatDestroy(&J));

    PetscCall(TestCreate(type, 2, &J));
    PetscCall(MatBornSetBackground(J, (MatBornBackground)b));
    PetscCall(MatBornGetIllumination(J, &two));
    PetscCall(VecGetValues(two, 1, at, near + 1));
    if (WRONG(!(PetscAbsScalar(near[1] - 4 * near[0]) <= 1e-6 * PetscAbsScalar(near[1])))) FAIL("%s: the amplitude is not squared", MatBornBackgrounds[b]);
    PetscCall(VecDestroy(&two));
    PetscCall(MatDestroy(&J));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* CG with N, and with illumination as preconditioner, and LSQR with J minimise the same */
static PetscErrorCode TestNormal(VecType type)
{
  const PetscInt its = 12;
  Mat            J, N, D;
  Vec            m, d, g, e, light, x[3];
  KSP            ksp;
  PC             pc;
  PetscReal      length, left[3], difference, largest;

  PetscFunctionBegin;
  PetscCall(TestCreate(type, 1, &J));
  PetscCall(TestSetOptions(J, "-mat_born_field double -mat_born_interval 2 -mat_born_background_bits 32"));
  PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_KEEP));
  PetscCall(MatBornGetNormal(J, &N));
  PetscCall(MatCreateVecs(J, &m, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(MatCreateVecs(N, &g, NULL));
  PetscCall(VecSetRandom(m, NULL));
  PetscCall(MatMult(J, m, d));
  PetscCall(VecNorm(d, NORM_2, &length));
  PetscCall(MatMultTranspose(J, d, g));
  PetscCall(MatBornGetIllumination(J, &light));
  PetscCall(VecMax(light, NULL, &largest));
  PetscCall(VecShift(light, 1e-3 * largest));
  PetscCall(MatCreateDiagonal(light, &D));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecDuplicate(m, &x[k]));
    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetType(ksp, k ? KSPLSQR : KSPCG));
    PetscCall(KSPSetOperators(ksp, k ? J : N, k == 2 ? D : (k ? J : N)));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, k == 2 ? PCJACOBI : PCNONE));
    PetscCall(KSPSetTolerances(ksp, 1e-30, 1e-300, PETSC_CURRENT, its));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSolve(ksp, k ? d : g, x[k]));
    PetscCall(MatMult(J, x[k], e));
    PetscCall(VecAXPY(e, -1, d));
    PetscCall(VecNorm(e, NORM_2, &left[k]));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecAXPY(x[0], -1, x[1]));
  PetscCall(VecNorm(x[0], NORM_2, &difference));
  PetscCall(VecNorm(x[1], NORM_2, &largest));
  if (WRONG(!(difference <= 1e-5 * largest))) FAIL("CG with N and LSQR differ by %g", (double)(difference / largest));
  if (WRONG(!(left[1] <= 0.1 * length))) FAIL("LSQR leaves %g of the data", (double)(left[1] / length));
  if (WRONG(!(left[2] <= 0.1 * length))) FAIL("LSQR with illumination leaves %g of the data", (double)(left[2] / length));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&x[k]));
  PetscCall(VecDestroy(&m));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&light));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&N));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Relative largest difference of two vectors */
static PetscErrorCode TestApart(Vec a, Vec b, PetscReal *apart)
{
  PetscReal largest;
  Vec       c;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(a, &c));
  PetscCall(VecWAXPY(c, -1, a, b));
  PetscCall(VecNorm(c, NORM_INFINITY, apart));
  PetscCall(VecNorm(a, NORM_INFINITY, &largest));
  *apart = largest > 0 ? *apart / largest : PETSC_INFINITY;
  PetscCall(VecDestroy(&c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Illumination is the sum of squares of q = (u_{n+1} - 2 u_n + u_{n-1}) (h/v dt)^2, from the samples of a receiver at
   the node */
static PetscErrorCode TestScale(VecType type)
{
  const PetscInt     steps = 120, receiver[2] = {2, 4}, at[2] = {13 + 46 * 8, 18 + 46 * 8};
  const PetscScalar *p;
  DM                 da;
  Mat                J;
  Vec                v, d, light;
  PetscScalar        speed[2], got[2];

  PetscFunctionBegin;
  for (PetscInt interval = 1; interval < 4; interval++) {
    PetscCall(TestCreate(type, 1, &J));
    PetscCall(MatBornSetTime(J, 0.15, steps, 1));
    PetscCall(TestSetOptions(J, "-mat_born_field double"));
    PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_CHECKPOINT));
    PetscCall(TestSetOptions(J, "-mat_born_interval %" PetscInt_FMT, interval));
    PetscCall(MatCreateVecs(J, NULL, &d));
    PetscCall(MatBornModel(J, d));
    PetscCall(MatBornGetIllumination(J, &light));
    PetscCall(VecGetValues(light, 2, at, got));
    PetscCall(MatGetDM(J, &da));
    PetscCall(BornTestVelocity(da, &v));
    PetscCall(VecGetValues(v, 2, at, speed));
    PetscCall(VecDestroy(&v));
    PetscCall(VecGetArrayRead(d, &p));
    for (int k = 0; k < 2; k++) {
      const PetscScalar *u   = p + steps * receiver[k] - 1; /* u[n] is the wave at step n, from 1 on */
      PetscReal          sum = 0;

      for (PetscInt n = 0; n < steps; n += interval) {
        const PetscReal q = PetscRealPart(u[n + 1] - 2 * (n > 0 ? u[n] : 0) + (n > 1 ? u[n - 1] : 0)) / PetscSqr(PetscRealPart(speed[k]) * (PetscReal)0.15);

        sum += (PetscReal)interval * q * q;
      }
      if (WRONG(!(sum > 0) || !(PetscAbsReal(PetscRealPart(got[k]) - sum) <= PETSC_SQRT_MACHINE_EPSILON * sum)))
        FAIL("interval %d: illumination %g, by the waves %g", (int)interval, (double)PetscRealPart(got[k]), (double)sum);
    }
    PetscCall(VecRestoreArrayRead(d, &p));
    PetscCall(VecDestroy(&light));
    PetscCall(VecDestroy(&d));
    PetscCall(MatDestroy(&J));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products with an interval, and with short velocities, are close to products without. Samples equal the samples of
   every step to the last bit */
static PetscErrorCode TestNear(VecType type)
{
  const PetscInt     every = 3;
  const PetscScalar *p, *q;
  Mat                J;
  Vec                x, d[4];
  PetscReal          apart;
  PetscInt           other = 0, n;

  PetscFunctionBegin;
  for (int k = 0; k < 4; k++) {
    PetscCall(TestCreate(type, 1, &J));
    PetscCall(MatBornSetTime(J, 0.15, 120, k < 3 ? 1 : every));
    PetscCall(TestSetOptions(J, "-mat_born_field %s", k == 1 ? "float" : "double"));
    PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_CHECKPOINT));
    if (k == 1) PetscCall(TestSetOptions(J, "-mat_born_velocity_bits 16"));
    if (k == 2) PetscCall(TestSetOptions(J, "-mat_born_interval 2"));
    PetscCall(MatCreateVecs(J, &x, &d[k]));
    PetscCall(VecSet(x, 1));
    PetscCall(MatMult(J, x, d[k]));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&J));
  }
  PetscCall(TestApart(d[0], d[1], &apart));
  if (WRONG(!(apart <= TEST_VELOCITY))) FAIL("velocities of 16 bits change the data by %g", (double)apart);
  PetscCall(TestApart(d[0], d[2], &apart));
  if (WRONG(!(apart <= 0.02))) FAIL("an interval of 2 changes the data by %g", (double)apart);
  PetscCall(VecGetLocalSize(d[3], &n));
  PetscCall(VecGetArrayRead(d[0], &p));
  PetscCall(VecGetArrayRead(d[3], &q));
  for (PetscInt r = 0; r < 12; r++) {
    for (PetscInt k = 0; k < 40; k++) other += q[40 * r + k] != p[120 * r + every * (k + 1) - 1];
  }
  if (WRONG(n != 480 || other)) FAIL("%d of %d samples are not those of every step", (int)other, (int)n);
  PetscCall(VecRestoreArrayRead(d[0], &p));
  PetscCall(VecRestoreArrayRead(d[3], &q));
  for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&d[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The axes of a grid may be named in any order */
static PetscErrorCode TestAxes(VecType type)
{
  const PetscInt  axes[3][3] = {{0, 1, 2}, {1, 2, 0}, {2, 1, 0}}, size[3] = {23, 19, 21};
  const PetscReal spacing[3] = {1, 1.1, 1.2}, place[4][3] = {{11.3, 9.2, 12}, {3, 14.1, 13}, {16, 4.4, 15.5}, {12, 10, 4}};
  PetscReal       w[36], apart;
  Vec             d[3];

  PetscFunctionBegin;
  for (int k = 0; k < 36; k++) w[k] = PetscSqr(PetscSinReal(PETSC_PI * (PetscReal)(k + 1) / 37));
  for (int a = 0; a < 3; a++) {
    const PetscInt *axis = axes[a];
    PetscInt        m[3];
    PetscReal       h[3], receivers[9], source[3];
    PetscScalar    *p;
    DM              da;
    Mat             J;
    Vec             v, x;

    for (int e = 0; e < 3; e++) {
      m[e]      = size[axis[e]];
      h[e]      = spacing[axis[e]];
      source[e] = place[0][axis[e]];
      for (int r = 0; r < 3; r++) receivers[3 * r + e] = place[r + 1][axis[e]];
    }
    PetscCall(BornTestDM(m, &da));
    PetscCall(DMSetVecType(da, type));
    PetscCall(DMCreateGlobalVector(da, &v));
    PetscCall(VecDuplicate(v, &x));
    for (int parameter = 0; parameter < 2; parameter++) {
      PetscCall(VecGetArrayWrite(parameter ? x : v, &p));
      for (PetscInt i = 0; i < m[0] * m[1] * m[2]; i++) {
        const PetscInt node[3] = {i % m[0], i / m[0] % m[1], i / (m[0] * m[1])};
        PetscReal      t       = 0;

        for (int e = 0; e < 3; e++) t += (PetscReal)((axis[e] + 1) * node[e]);
        p[i] = parameter ? PetscCosReal((PetscReal)0.7 * t) : 2 + (PetscReal)0.4 * PetscSinReal((PetscReal)0.3 * t);
      }
      PetscCall(VecRestoreArrayWrite(parameter ? x : v, &p));
    }
    PetscCall(MatCreateBorn(da, &J));
    PetscCall(BornTestExact(J));
    PetscCall(MatBornSetSpacing(J, h));
    PetscCall(MatBornSetVelocity(J, v));
    PetscCall(MatBornSetTime(J, 0.15, 90, 2));
    PetscCall(MatBornSetSponge(J, 5, PETSC_DETERMINE));
    PetscCall(MatBornSetWavelet(J, 36, w));
    PetscCall(MatBornAddShot(J, source, 3, receivers));
    PetscCall(MatCreateVecs(J, NULL, &d[a]));
    PetscCall(MatMult(J, x, d[a]));
    if (a) {
      PetscCall(TestApart(d[0], d[a], &apart));
      if (WRONG(!(apart <= PETSC_SQRT_MACHINE_EPSILON))) FAIL("axes %d %d %d: the data differ by %g", (int)axis[0], (int)axis[1], (int)axis[2], (double)apart);
    }
    PetscCall(VecDestroy(&v));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&J));
    PetscCall(DMDestroy(&da));
  }
  for (int a = 0; a < 3; a++) PetscCall(VecDestroy(&d[a]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestBad(VecType type)
{
  Mat       J;
  Vec       x, y;
  PetscReal w[12];

  PetscFunctionBegin;
  PetscCall(TestCreate(type, 1, &J));
  PetscCall(MatCreateVecs(J, &x, &y));
  TEST_REFUSED("bits", TestSetOptions(J, "-mat_born_background_bits 12"), "-mat_born_background_bits 12", "16");
  TEST_REFUSED("bits", TestSetOptions(J, "-mat_born_velocity_bits 8"), "-mat_born_velocity_bits 8", "16");
  TEST_REFUSED("interval", TestSetOptions(J, "-mat_born_interval 0"), "-mat_born_interval 0");
  PetscCall(TestSetOptions(J, "-mat_born_interval 9"));
  TEST_REFUSED("interval", MatMult(J, x, y), "-mat_born_interval 9", "Nyquist");
  PetscCall(TestSetOptions(J, "-mat_born_interval 1"));
  PetscCall(MatMult(J, x, y));
  PetscCall(TestSetOptions(J, "-mat_born_velocity_bits 16"));
  PetscCall(TestSetOptions(J, "-mat_born_field double"));
  TEST_REFUSED("bits in double precision", MatMult(J, x, y), "-mat_born_velocity_bits 16", "-mat_born_field float");
  PetscCall(TestSetOptions(J, "-mat_born_velocity_bits 32"));
  PetscCall(MatMult(J, x, y));
  for (int k = 0; k < 12; k++) w[k] = PetscSqr(PetscSinReal(PETSC_PI * (PetscReal)(k + 1) / 13));
  PetscCall(MatBornSetWavelet(J, 12, w));
  TEST_REFUSED("short waves", MatMult(J, x, y), "shortest wave", "2.5", "finer grid");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Words of the view */
static PetscErrorCode TestViewed(Mat J, const char words[])
{
  PetscBool has;

  PetscFunctionBegin;
  PetscCall(MatViewHas(J, words, &has));
  if (WRONG(!has)) FAIL("the view does not say: %s", words);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A view prints the values of options; auto becomes something */
static PetscErrorCode TestSettings(VecType type)
{
  static const char *const words[] = {"of 60 samples, of 120 steps of 0.15", "order 4, columns: slowness2, sources and receivers between nodes: sinc",
                                      "sponge of 5 nodes with 0.125 at the faces, a free surface",
                                      "fields: double, velocity: 64 bits, scattering and imaging every 2 steps", "background: ring"};
  Mat                      J;
  Vec                      d;
  const PetscReal         *source, *receivers;
  PetscInt                 n;

  PetscFunctionBegin;
  PetscCall(TestCreate(type, 1, &J));
  PetscCall(MatSetOptionsPrefix(J, "g_"));
  PetscCall(TestSetOptions(J, "-mat_born_order 4 -mat_born_parameter slowness2 -mat_born_width 5 -mat_born_damping 0.125 -mat_born_free_surface "
                              "-mat_born_checkpoints 3 -mat_born_field double -mat_born_background ring -mat_born_background_bits 8 "
                              "-mat_born_interval 2 -mat_born_seed 77 -mat_born_interpolation sinc"));
  PetscCall(MatBornGetShot(J, 0, &source, &n, &receivers));
  if (WRONG(n != 12 || source[0] != 20 || source[1] != 9 || receivers[23] != 8)) FAIL("the shot");
  TEST_REFUSED("no such shot", MatBornGetShot(J, 1, NULL, NULL, NULL), "no shot 1");
  PetscCall(MatCreateVecs(J, NULL, &d));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(words); k++) PetscCall(TestViewed(J, words[k]));
  PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_CHECKPOINT));
  PetscCall(TestViewed(J, "background: checkpoint, 3 states"));
  PetscCall(MatBornSetBackground(J, MATBORN_BACKGROUND_AUTO));
  PetscCall(MatBornModel(J, d));
  PetscCall(TestViewed(J, "background: keep, 8 bits"));
  PetscCall(TestSetOptions(J, "-mat_born_field float -mat_born_velocity_bits 16"));
  PetscCall(TestViewed(J, "fields: float, velocity: 16 bits"));
  PetscCall(VecDestroy(&d));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char type[32] = VECSEQ;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PetscCall(TestIllumination(type));
  PetscCall(TestNormal(type));
  PetscCall(TestScale(type));
  PetscCall(TestNear(type));
  PetscCall(TestAxes(type));
  PetscCall(TestBad(type));
  PetscCall(TestSettings(type));
  return TestEnd(31, "illumination, the normal operator and settings are right\n");
}

/*TEST

  test:
    requires: !complex

  test:
    suffix: cuda
    requires: cuda !complex
    args: -test_vec_type cuda
    output_file: output/normal_1.out

TEST*/
