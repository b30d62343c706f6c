/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: the low-pass of the traces: its gain, its transpose, products with it, what it spares with intervals, and what is refused.\n\
  -test_vec_type cuda : on a device\n\n";

#include "borntest.h"
#include <tests/refused.h>
#include <lithe/private/born/born.h>

static char type[32] = VECSEQ;

/* ------------------------------------------------------------ the filter alone */

/* The gain is 1 up to the frequency and 0 from twice the frequency on */
static PetscErrorCode TestGain(void)
{
  const double frequencies[] = {0.25, 0.2, 0.117, 1. / 34, 0.01};

  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(frequencies); k++) {
    const double F = frequencies[k];
    BornLowpass  f;
    double       pass = 0, stop = 0, middle = 0;

    PetscCall(BornLowpassCreate(F, 400, &f));
    for (int i = 0; i <= 2000; i++) {
      const double at   = i == 2000 ? 1.5 * F : 0.5 * i / 1999;
      double       gain = f.weight[0];

      for (PetscInt n = 1; n <= f.half; n++) gain += 2 * f.weight[n] * cos(2 * PETSC_PI * at * (double)n);
      if (i == 2000) middle = gain;
      else if (at <= F) pass = PetscMax(pass, fabs(gain - 1));
      else if (at >= 2 * F) stop = PetscMax(stop, fabs(gain));
    }
    if (WRONG(!(pass <= 1e-4) || !(stop <= 1e-4) || !(fabs(middle - 0.5) <= 0.01)))
      FAIL("frequency %g: the gain is wrong by %g and %g, %g in the middle", F, pass, stop, middle);
    if (WRONG(f.half != (PetscInt)ceil(3 / F))) FAIL("frequency %g: %d steps on each side", F, (int)f.half);
    PetscCall(BornLowpassDestroy(&f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <T x, y> = <x, T^T y>, for traces shorter than the filter, too; with a sample at each step both are the same */
static PetscErrorCode TestTranspose(void)
{
  const PetscInt steps[] = {4, 7, 60, 61, 500}, every[] = {1, 2, 3, 7, 60};
  const double   frequencies[] = {0.25, 0.1, 1. / 60};
  const PetscInt traces        = 3;
  PetscRandom    random;

  PetscFunctionBegin;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetInterval(random, -0.5, 0.5));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(steps); k++) {
    for (size_t e = 0; e < PETSC_STATIC_ARRAY_LENGTH(every); e++) {
      for (size_t j = 0; j < PETSC_STATIC_ARRAY_LENGTH(frequencies); j++) {
        const PetscInt n = traces * steps[k], m = traces * (steps[k] / every[e]);
        PetscReal     *x, *y, *Tx, *Ty, sum[2] = {0, 0}, norm[2] = {0, 0};
        PetscBool      same;
        BornLowpass    f;

        if (!m || frequencies[j] * (double)steps[k] < 1) continue;
        PetscCall(BornLowpassCreate(frequencies[j], steps[k], &f));
        PetscCall(PetscMalloc4(n, &x, m, &y, m, &Tx, n, &Ty));
        for (PetscInt i = 0; i < n; i++) PetscCall(PetscRandomGetValueReal(random, &x[i]));
        for (PetscInt i = 0; i < m; i++) PetscCall(PetscRandomGetValueReal(random, &y[i]));
        PetscCall(BornLowpassApply(&f, traces, steps[k], every[e], steps[k] / every[e], x, Tx));
        PetscCall(BornLowpassApplyTranspose(&f, traces, steps[k], every[e], steps[k] / every[e], y, Ty));
        for (PetscInt i = 0; i < m; i++) {
          sum[0] += Tx[i] * y[i];
          norm[0] += y[i] * y[i];
        }
        for (PetscInt i = 0; i < n; i++) {
          sum[1] += x[i] * Ty[i];
          norm[1] += x[i] * x[i];
        }
        norm[0] = PetscSqrtReal(norm[0] * norm[1]);
        if (WRONG(!(norm[0] > 0) || !(PetscAbsReal(sum[0] - sum[1]) <= TEST_EPS(45) * norm[0])))
          FAIL("%d steps, every %d, frequency %g: %g of |x| |y|", (int)steps[k], (int)every[e], frequencies[j],
               (double)(PetscAbsReal(sum[0] - sum[1]) / norm[0]));
        if (every[e] == 1) {
          PetscCall(BornLowpassApply(&f, traces, steps[k], 1, steps[k], y, Tx));
          PetscCall(PetscArraycmp(Tx, Ty, n, &same));
          if (WRONG(!same)) FAIL("%d steps, frequency %g: the low-pass is not symmetric", (int)steps[k], frequencies[j]);
        }
        PetscCall(PetscFree4(x, y, Tx, Ty));
        PetscCall(BornLowpassDestroy(&f));
      }
    }
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ products */

/* 2-D and 3-D; waves have about 22 steps a period */
static const BornTestCase cases[] = {{{40, 33, 1}, 5, 90, 2, 8, 1, 32, MATBORN_FIELD_DOUBLE, PETSC_FALSE, PETSC_TRUE},
                                     {{40, 33, 1}, 5, 91, 3, 4, 3, 16, MATBORN_FIELD_FLOAT, PETSC_TRUE, PETSC_TRUE},
                                     {{22, 18, 19}, 5, 61, 7, 8, 2, 32, MATBORN_FIELD_FLOAT, PETSC_FALSE, PETSC_TRUE},
                                     {{22, 18, 19}, 5, 60, 60, 2, 1, 32, MATBORN_FIELD_DOUBLE, PETSC_TRUE, PETSC_TRUE}};

#define DT      BORN_TEST_DT
#define LOWPASS ((PetscReal)(1 / (20 * DT)))

static PetscErrorCode TestCreate(const BornTestCase *plain, PetscInt steps, PetscInt every, PetscReal lowpass, Mat *J)
{
  BornTestCase c = *plain;

  PetscFunctionBegin;
  c.steps       = steps;
  c.every       = every;
  c.lowpass     = lowpass;
  c.checkpoints = 4;
  PetscCall(BornTestCreateBurst(&c, type, 45, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether data are those of all steps through the low-pass, to the last bit */
static PetscErrorCode TestFiltered(const BornTestCase *c, const char name[], const BornLowpass *f, PetscInt steps, Vec all, Vec data)
{
  const PetscInt     traces = 3 + 5, samples = c->steps / c->every;
  const PetscScalar *a, *d;
  PetscReal         *want, *from;
  PetscInt           wrong = 0;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(traces * steps, &from, traces * samples, &want));
  PetscCall(VecGetArrayRead(all, &a));
  for (PetscInt i = 0; i < traces * steps; i++) from[i] = PetscRealPart(a[i]);
  PetscCall(VecRestoreArrayRead(all, &a));
  PetscCall(BornLowpassApply(f, traces, steps, c->every, samples, from, want));
  PetscCall(VecGetArrayRead(data, &d));
  for (PetscInt i = 0; i < traces * samples; i++) wrong += !(PetscRealPart(d[i]) == want[i]);
  PetscCall(VecRestoreArrayRead(data, &d));
  if (WRONG(wrong)) FAIL("%s: %d of %d samples are not those of all steps through the low-pass", name, (int)wrong, (int)(traces * samples));
  PetscCall(PetscFree2(from, want));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <Jx, y> = <x, J^T y> with y = Jx and with a random y; N x = J^T J x */
static PetscErrorCode TestDots(const BornTestCase *c, const char name[], MatBornBackground background, Mat J, Vec x, Vec d)
{
  Vec         g, y, same;
  Mat         N;
  PetscScalar a, b;
  PetscReal   norm, length, xnorm, ynorm, most, near, apart;
  PetscBool   equal;

  PetscFunctionBegin;
  BornTestLimits(c->field, background, &near, &apart);
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecDuplicate(x, &same));
  PetscCall(VecDuplicate(d, &y));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(MatMultTranspose(J, d, g));
  PetscCall(VecDot(x, g, &a));
  if (WRONG(!(norm > 0) || !(PetscAbsScalar(a - norm * norm) <= near * norm * norm)))
    FAIL("%s: <x, J^T J x> - <Jx, Jx> = %g of that", name, (double)(PetscAbsScalar(a - norm * norm) / (norm * norm)));
  PetscCall(MatBornGetNormal(J, &N));
  PetscCall(MatMult(N, x, same));
  PetscCall(VecEqual(g, same, &equal));
  if (WRONG(!equal)) FAIL("%s: N x has other bits than J^T J x", name);
  PetscCall(MatDestroy(&N));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(VecShift(y, -0.5));
  PetscCall(MatMultTranspose(J, y, g));
  PetscCall(VecNorm(y, NORM_2, &ynorm));
  PetscCall(VecNorm(g, NORM_2, &length));
  PetscCall(VecNorm(x, NORM_2, &xnorm));
  most = PetscMax(norm * ynorm, xnorm * length); /* with one sample per trace, |J x| is far less than |J| |x| */
  PetscCall(VecDot(x, g, &a));
  PetscCall(VecDot(d, y, &b));
  if (WRONG(!(length > 0) || !(PetscAbsScalar(a - b) <= apart * most)))
    FAIL("%s: <x, J^T y> - <Jx, y> = %g of |Jx| |y| or |x| |J^T y|", name, (double)(PetscAbsScalar(a - b) / most));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&same));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProducts(void)
{
  PetscFunctionBegin;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    const BornTestCase *c = &cases[k];
    BornLowpass         f;
    PetscInt            steps; /* the waves of the last sample's neighbours, too */

    PetscCall(BornLowpassCreate((double)LOWPASS * DT, c->steps, &f));
    steps = c->steps / c->every * c->every + f.half;
    for (int b = MATBORN_BACKGROUND_KEEP; b <= MATBORN_BACKGROUND_CHECKPOINT; b++) {
      Mat  J, all;
      Vec  x, d, e;
      char name[64];

      PetscCall(PetscSNPrintf(name, sizeof(name), "case %d, %s", (int)k, MatBornBackgrounds[b]));
      PetscCall(TestCreate(c, c->steps, c->every, LOWPASS, &J));
      PetscCall(TestCreate(c, steps, 1, 0, &all));
      PetscCall(MatBornSetBackground(J, (MatBornBackground)b));
      PetscCall(MatBornSetBackground(all, (MatBornBackground)b));
      PetscCall(MatCreateVecs(J, &x, &d));
      PetscCall(MatCreateVecs(all, NULL, &e));
      PetscCall(VecSetRandom(x, NULL));
      PetscCall(VecShift(x, -0.5));
      PetscCall(MatBornModel(J, d));
      PetscCall(MatBornModel(all, e));
      PetscCall(TestFiltered(c, name, &f, steps, e, d));
      PetscCall(MatMult(J, x, d));
      PetscCall(MatMult(all, x, e));
      PetscCall(TestFiltered(c, name, &f, steps, e, d));
      PetscCall(TestDots(c, name, (MatBornBackground)b, J, x, d));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&d));
      PetscCall(VecDestroy(&e));
      PetscCall(MatDestroy(&J));
      PetscCall(MatDestroy(&all));
    }
    PetscCall(BornLowpassDestroy(&f));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ intervals */

/* What an interval of 8 costs with 34 steps in the shortest period: a plane with a layer that scatters */
static PetscErrorCode TestInterval(void)
{
  const PetscInt  n[3] = {90, 80, 1}, steps = 480, every = 4;
  const PetscReal h[2] = {1, 1}, dt = 0.25, source[2] = {45, 22}, frequency = 1 / (34 * dt);
  PetscReal       receivers[2 * 21], apart[2], norm;

  PetscFunctionBegin;
  for (int r = 0; r < 21; r++) {
    receivers[2 * r]     = 25 + 2 * (PetscReal)r;
    receivers[2 * r + 1] = 22;
  }
  for (int with = 0; with < 2; with++) {
    Vec d[2];

    for (int k = 0; k < 2; k++) {
      DM           da;
      Mat          J;
      Vec          v, x;
      PetscScalar *a;

      PetscCall(BornTestDM(n, &da));
      PetscCall(DMSetVecType(da, type));
      PetscCall(DMCreateGlobalVector(da, &v));
      PetscCall(VecSet(v, 1));
      PetscCall(VecDuplicate(v, &x));
      PetscCall(VecSet(x, 0));
      PetscCall(VecGetArray(x, &a));
      for (PetscInt j = 45; j < 48; j++) {
        for (PetscInt i = 24; i < 66; i++) a[i + n[0] * j] = (PetscReal)0.1 * PetscSinReal((PetscReal)i);
      }
      PetscCall(VecRestoreArray(x, &a));
      PetscCall(MatCreateBorn(da, &J));
      PetscCall(BornTestExact(J));
      PetscCall(MatBornSetSpacing(J, h));
      PetscCall(MatBornSetSponge(J, 20, PETSC_DETERMINE));
      PetscCall(MatBornSetVelocity(J, v));
      PetscCall(MatBornSetTime(J, dt, steps, every));
      PetscCall(BornTestWavelet(J, frequency / 2.5, 1.2 * 2.5 / frequency, dt, 205));
      PetscCall(TestSetOptions(J, "-mat_born_interval %d", k ? 8 : 1));
      if (with) PetscCall(MatBornSetLowpass(J, frequency));
      PetscCall(MatBornAddShot(J, source, 21, receivers));
      PetscCall(MatCreateVecs(J, NULL, &d[k]));
      PetscCall(MatMult(J, x, d[k]));
      PetscCall(VecDestroy(&v));
      PetscCall(VecDestroy(&x));
      PetscCall(MatDestroy(&J));
      PetscCall(DMDestroy(&da));
    }
    PetscCall(VecNorm(d[0], NORM_2, &norm));
    PetscCall(VecAXPY(d[1], -1, d[0]));
    PetscCall(VecNorm(d[1], NORM_2, &apart[with]));
    apart[with] = norm > 0 ? apart[with] / norm : PETSC_INFINITY;
    for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&d[k]));
  }
  PetscCall(PetscInfo(NULL, "An interval of 8 changes data by %g, with the low-pass by %g\n", (double)apart[0], (double)apart[1]));
  if (WRONG(!(apart[1] <= 1e-4) || !(apart[0] >= 5 * apart[1])))
    FAIL("an interval of 8 changes data by %g, with the low-pass by %g", (double)apart[0], (double)apart[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Measured data: the low-pass of samples is that of all steps, but for the end */
static PetscErrorCode TestFilter(void)
{
  const BornTestCase c   = {{40, 33, 1}, 5, 400, 2, 8, 1, 32, MATBORN_FIELD_DOUBLE, PETSC_FALSE, PETSC_TRUE};
  const PetscInt     end = 33, samples = 200; /* end: 3 periods, of 20 steps each */
  PetscReal          largest = 0, apart = 0;
  Mat                J;
  Vec                d, e, f;
  PetscScalar       *a, *b;
  PetscBool          same;

  PetscFunctionBegin;
  PetscCall(TestCreate(&c, c.steps, c.every, 0, &J));
  PetscCall(MatCreateVecs(J, &f, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(MatBornModel(J, d));
  PetscCall(VecCopy(d, e));
  PetscCall(MatBornFilter(J, d));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("data change without a low-pass");
  PetscCall(MatBornSetLowpass(J, LOWPASS));
  PetscCall(MatBornFilter(J, d));
  PetscCall(MatBornModel(J, e));
  PetscCall(VecGetArray(d, &a));
  PetscCall(VecGetArray(e, &b));
  for (PetscInt i = 0; i < 8 * samples; i++) {
    if (i % samples >= samples - end) continue;
    largest = PetscMax(largest, PetscAbsScalar(b[i]));
    apart   = PetscMax(apart, PetscAbsScalar(a[i] - b[i]));
  }
  PetscCall(VecRestoreArray(d, &a));
  PetscCall(VecRestoreArray(e, &b));
  if (WRONG(!(largest > 0) || !(apart <= 1e-5 * largest))) FAIL("the low-pass of samples differs by %g", (double)(apart / largest));
  PetscCall(PetscInfo(NULL, "The low-pass of samples differs by %g\n", (double)(apart / largest)));
  TEST_REFUSED("columns", MatBornFilter(J, f), "1600 samples");
  PetscCall(MatBornSetLowpass(J, 0.13 / DT));
  TEST_REFUSED("samples", MatBornFilter(J, d), "fewer than 4 per period");
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ settings */

static PetscErrorCode TestSettings(void)
{
  const BornTestCase *c   = &cases[0];
  const PetscReal     nan = (PetscReal)NAN, infinite = (PetscReal)INFINITY;
  PetscInt            first, rows, all = 0;
  Mat                 J, K;
  Vec                 x, d, e, f;
  PetscBool           same;
  char                folder[PETSC_MAX_PATH_LEN];

  PetscFunctionBegin;
  PetscCall(TestCreate(c, c->steps, c->every, 0, &J));
  TEST_REFUSED("negative", MatBornSetLowpass(J, -1), "-mat_born_lowpass -1");
  TEST_REFUSED("NaN", MatBornSetLowpass(J, nan), "-mat_born_lowpass nan");
  TEST_REFUSED("endless", MatBornSetLowpass(J, infinite), "-mat_born_lowpass inf");
  TEST_REFUSED("rows", MatBornGetShotRows(J, 0, NULL, NULL), "MatSetUp");
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(VecDuplicate(d, &f));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatBornSetLowpass(J, 0.26 / DT));
  TEST_REFUSED("high", MatMult(J, x, d), "-mat_born_lowpass", "1.66", "quarter");
  PetscCall(MatBornSetLowpass(J, 0.99 / (DT * 90)));
  TEST_REFUSED("low", MatMult(J, x, d), "-mat_born_lowpass", "90 steps", "one period");
  PetscCall(MatBornSetLowpass(J, 1e-300));
  TEST_REFUSED("lowest", MatBornModel(J, d), "-mat_born_lowpass 1e-300");
  PetscCall(MatBornSetLowpass(J, 0.25 / DT));
  PetscCall(MatMult(J, x, d));
  PetscCall(MatBornSetLowpass(J, LOWPASS));
  PetscCall(MatMult(J, x, e));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(same)) FAIL("another low-pass is not seen");

  /* by options */
  PetscCall(TestCreate(c, c->steps, c->every, 0, &K));
  PetscCall(MatSetOptionsPrefix(K, "low_"));
  PetscCall(PetscOptionsSetValue(NULL, "-low_mat_born_lowpass", "0.3333333333333333"));
  PetscCall(MatSetFromOptions(K));
  PetscCall(MatSetUp(K));
  PetscCall(MatMult(K, x, d));
  PetscCall(VecEqual(d, e, &same));
  if (WRONG(!same)) FAIL("options and functions differ");
  PetscCall(MatBornSetLowpass(K, 0));
  PetscCall(MatMult(K, x, f));
  PetscCall(VecEqual(f, e, &same));
  if (WRONG(same)) FAIL("no low-pass is not seen");
  PetscCall(MatBornSetLowpass(K, LOWPASS));
  PetscCall(MatBornSetBackground(K, MATBORN_BACKGROUND_CHECKPOINT));
  if (!strcmp(type, VECSEQ)) PetscCall(MatView(K, PETSC_VIEWER_STDOUT_SELF));
  PetscCall(MatDestroy(&K));

  /* rows of shots */
  for (PetscInt s = 0; s < 2; s++) {
    PetscCall(MatBornGetShotRows(J, s, &first, &rows));
    if (WRONG(first != all || rows != (3 + 2 * s) * 45)) FAIL("shot %d: %d rows from %d on", (int)s, (int)rows, (int)first);
    all += rows;
  }
  TEST_REFUSED("rows", MatBornGetShotRows(J, 2, &first, NULL), "no shot 2");

  /* a journal without the low-pass is none with it */
  PetscCall(PetscStrncpy(folder, "lowpassXXXXXX", sizeof(folder)));
  PetscCall(PetscMkdtemp(folder));
  PetscCall(PetscStrlcat(folder, "/journal", sizeof(folder)));
  PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep", folder));
  PetscCall(MatBornSetLowpass(J, 0));
  PetscCall(MatMult(J, x, d));
  PetscCall(VecEqual(d, f, &same));
  if (WRONG(!same)) FAIL("other data with a journal");
  PetscCall(MatBornSetLowpass(J, LOWPASS));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMult(J, x, d));
    PetscCall(VecEqual(d, e, &same));
    if (WRONG(!same)) FAIL("data of another journal, %d", k);
  }
  folder[strlen(folder) - strlen("/journal")] = 0;
  PetscCall(PetscRMTree(folder));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&f));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PetscCall(TestGain());
  PetscCall(TestTranspose());
  PetscCall(TestProducts());
  PetscCall(TestInterval());
  PetscCall(TestFilter());
  PetscCall(TestSettings());
  if (count != 10) FAIL("%d refusals", (int)count);
  return TestEnd(140, "the low-pass belongs to the operator\n");
}

/*TEST

  test:
    requires: !complex double

  test:
    suffix: cuda
    requires: cuda !complex double
    args: -test_vec_type cuda
    filter: grep -e FAIL -e belongs

TEST*/
