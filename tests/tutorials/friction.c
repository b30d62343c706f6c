/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Rate-and-state friction of the tutorials: slip rates against bisection, initial numbers of BP1, a spring and a slider.\n\n";

#include <petscts.h>
#include <tests/failures.h>
#include <tutorials/common/friction.h>

static const Friction Usual = {.a     = (PetscReal)0.010,
                               .b     = (PetscReal)0.015,
                               .sigma = (PetscReal)50e6,
                               .eta   = (PetscReal)4.62444e6,
                               .V0    = (PetscReal)1e-6,
                               .f0    = (PetscReal)0.6,
                               .Dc    = (PetscReal)0.008};

/* ------------------------------------------------------------ roots */

/* ln V by bisection, where the bounds of ln V are far apart */
static PetscReal Bisect(const Friction *f, PetscReal tau, PetscReal psi)
{
  PetscReal low = -2000, high = PetscLogReal(tau / f->eta);

  for (int k = 0; k < 200; k++) {
    const PetscReal x = (low + high) / 2;

    if (FrictionStrength(f, psi, x) + f->eta * PetscExpReal(x) < tau) low = x;
    else high = x;
  }
  return (low + high) / 2;
}

#define STATES 100000

/* Stresses of 1 Pa to 1 GPa, states as they occur, any guess */
static PetscErrorCode TestRoots(void)
{
  PetscRandom random;
  PetscReal   v[5], worst = 0;
  PetscInt    lost = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  for (PetscInt k = 0; k < STATES; k++) {
    Friction  f = Usual;
    PetscReal x, root, tau, psi;

    for (int i = 0; i < 5; i++) PetscCall(PetscRandomGetValueReal(random, &v[i]));
    f.a  = (PetscReal)0.002 + (PetscReal)0.03 * v[0];
    tau  = PetscPowReal(10, 9 * v[1]);
    psi  = (PetscReal)-0.4 + 2 * v[2];
    x    = k % 10 ? -100 + 110 * v[3] : (k % 20 ? -(PetscReal)INFINITY : (PetscReal)NAN);
    root = Bisect(&f, tau, psi);
    if (FrictionSolve(&f, tau, psi, &x)) worst = PetscMax(worst, PetscAbsReal(x - root) / PetscMax(1, PetscAbsReal(root)));
    else lost++;
  }
  /* a stress has 16 digits, and is up to 2000 times sigma a */
  if (WRONG(!(worst < (PetscReal)1e-11) || lost)) FAIL("slip rates: %g of ln V, %d without one", (double)worst, (int)lost);
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small and large units, and what is not a number */
static PetscErrorCode TestExtremes(void)
{
  PetscReal x = 5;

  PetscFunctionBeginUser;
  if (WRONG(FrictionSolve(&Usual, 0, Usual.f0, &x) || x != 5)) FAIL("no stress moves the fault at exp(%g)", (double)x);
  if (WRONG(FrictionSolve(&Usual, -1, Usual.f0, &x) || x != 5)) FAIL("a stress of -1 Pa moves the fault at exp(%g)", (double)x);
  if (WRONG(FrictionSolve(&Usual, (PetscReal)NAN, Usual.f0, &x) || FrictionSolve(&Usual, 1, (PetscReal)NAN, &x) ||
            FrictionSolve(&Usual, (PetscReal)INFINITY, 1, &x)))
    FAIL("what is not a number moves the fault at exp(%g)", (double)x);
  for (int k = -12; k <= 12; k += 4) {
    /* another unit of stress changes nothing */
    const PetscReal unit = PetscPowReal(10, k), tau = (PetscReal)26e6;
    Friction        f = Usual;
    PetscReal       y = 0, z = 0;

    f.sigma *= unit;
    f.eta *= unit;
    if (WRONG(!FrictionSolve(&Usual, tau, (PetscReal)0.7, &y) || !FrictionSolve(&f, tau * unit, (PetscReal)0.7, &z) ||
              !(PetscAbsReal(y - z) < (PetscReal)1e-11)))
      FAIL("in units of %g: %g and %g", (double)unit, (double)y, (double)z);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ BP1 */

/* tau0 and log10(theta) at the surface, as in files of the benchmark */
static PetscErrorCode TestBegin1(void)
{
  const PetscReal V    = (PetscReal)1e-9;
  Friction        deep = Usual;
  PetscReal       tau, psi, x = 0, theta;

  PetscFunctionBeginUser;
  deep.a = (PetscReal)0.025;
  tau    = FrictionStrength(&deep, Usual.f0 + Usual.b * PetscLogReal(Usual.V0 / V), PetscLogReal(V)) + Usual.eta * V;
  psi    = FrictionState(&Usual, tau, V);
  theta  = (psi - Usual.f0) / Usual.b + PetscLogReal(Usual.Dc / Usual.V0);
  if (WRONG(!(PetscAbsReal(tau - (PetscReal)26.5461224e6) < 1))) FAIL("the first stress is %.9g Pa", (double)tau);
  if (WRONG(!(PetscAbsReal(theta / PetscLogReal(10) - (PetscReal)3.90309) < (PetscReal)1e-5))) FAIL("log10(theta) is %.7g", (double)(theta / PetscLogReal(10)));
  if (WRONG(!FrictionSolve(&Usual, tau, psi, &x) || !(PetscAbsReal(PetscExpReal(x) - V) < (PetscReal)1e-11 * V)))
    FAIL("the first slip rate is %g m/s", (double)PetscExpReal(x));
  /* steady motion: the state does not change */
  if (WRONG(!(PetscAbsReal(FrictionStateRate(&deep, Usual.f0 + Usual.b * PetscLogReal(Usual.V0 / V), V)) < (PetscReal)1e-14 * Usual.b * V / Usual.Dc)))
    FAIL("a state of steady motion changes by %g per second", (double)FrictionStateRate(&deep, Usual.f0 + Usual.b * PetscLogReal(Usual.V0 / V), V));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ a spring and a slider */

/* The slider is pulled by a spring whose other end moves at Vp. The spring is too soft for steady motion */
typedef struct {
  PetscReal stiffness, Vp, tau0, logV;
  PetscReal event, before[2]; /* when the slip rate first passes 1e-3 m/s; time and ln V of the step before */
} Slider;

static PetscErrorCode Rates(TS ts, PetscReal t, Vec y, Vec rates, void *ctx)
{
  Slider            *s = (Slider *)ctx;
  const PetscScalar *a;
  PetscScalar       *f;
  PetscReal          psi, tau;

  PetscFunctionBeginUser;
  (void)ts;
  PetscCall(VecGetArrayRead(y, &a));
  PetscCall(VecGetArrayWrite(rates, &f));
  psi = PetscRealPart(a[0]);
  tau = s->tau0 - s->stiffness * (PetscRealPart(a[1]) - s->Vp * t);
  if (WRONG(!FrictionSolve(&Usual, tau, psi, &s->logV))) FAIL("no slip rate for %g Pa", (double)tau);
  f[0] = FrictionStateRate(&Usual, psi, PetscExpReal(s->logV));
  f[1] = PetscExpReal(s->logV);
  PetscCall(VecRestoreArrayWrite(rates, &f));
  PetscCall(VecRestoreArrayRead(y, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Step(TS ts)
{
  const PetscReal limit = PetscLogReal((PetscReal)1e-3);
  Slider         *s;
  PetscReal       t;

  PetscFunctionBeginUser;
  PetscCall(TSGetApplicationContext(ts, &s));
  PetscCall(TSGetTime(ts, &t));
  if (s->event < 0 && s->logV > limit) s->event = s->before[0] + (t - s->before[0]) * (limit - s->before[1]) / (s->logV - s->before[1]);
  s->before[0] = t;
  s->before[1] = s->logV;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The time of the first event, and slip and state at the end */
static PetscErrorCode Slide(TSRKType type, PetscReal tolerance, PetscReal result[3])
{
  Slider             s = {.stiffness = (PetscReal)5e6, .Vp = (PetscReal)1e-9, .event = -1};
  PetscScalar       *a;
  const PetscScalar *end;
  TS                 ts;
  Vec                y;

  PetscFunctionBeginUser;
  s.tau0      = FrictionStrength(&Usual, Usual.f0 + Usual.b * PetscLogReal(Usual.V0 / s.Vp), PetscLogReal(s.Vp)) + Usual.eta * s.Vp;
  s.logV      = PetscLogReal(s.Vp);
  s.before[1] = s.logV;
  PetscCall(VecCreateSeq(PETSC_COMM_SELF, 2, &y));
  PetscCall(VecGetArrayWrite(y, &a));
  a[0] = FrictionState(&Usual, s.tau0, s.Vp) * (PetscReal)1.02; /* away from steady motion */
  a[1] = 0;
  PetscCall(VecRestoreArrayWrite(y, &a));
  PetscCall(TSCreate(PETSC_COMM_SELF, &ts));
  PetscCall(TSSetType(ts, TSRK));
  PetscCall(TSRKSetType(ts, type));
  PetscCall(TSSetRHSFunction(ts, NULL, Rates, &s));
  PetscCall(TSSetApplicationContext(ts, &s));
  PetscCall(TSSetPostStep(ts, Step));
  PetscCall(TSSetTolerances(ts, tolerance, NULL, tolerance, NULL));
  PetscCall(TSSetTimeStep(ts, 1));
  PetscCall(TSSetMaxSteps(ts, PETSC_INT_MAX));
  PetscCall(TSSetMaxTime(ts, (PetscReal)(150 * 365.25 * 86400)));
  PetscCall(TSSetExactFinalTime(ts, TS_EXACTFINALTIME_MATCHSTEP));
  PetscCall(TSSolve(ts, y));
  PetscCall(VecGetArrayRead(y, &end));
  result[0] = s.event;
  result[1] = PetscRealPart(end[0]);
  result[2] = PetscRealPart(end[1]);
  PetscCall(VecRestoreArrayRead(y, &end));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSlider(void)
{
  PetscReal fine[3], usual[3], other[3];

  PetscFunctionBeginUser;
  PetscCall(Slide(TSRK8VR, (PetscReal)1e-12, fine));
  PetscCall(Slide(TSRK5DP, (PetscReal)1e-7, usual));
  PetscCall(Slide(TSRK3BS, (PetscReal)1e-7, other));
  if (WRONG(!(fine[0] > 0))) FAIL("%s", "the slider does not slip");
  for (int k = 0; k < 3; k++) {
    if (WRONG(!(PetscAbsReal(usual[k] / fine[k] - 1) < (PetscReal)1e-4))) FAIL("5dp, number %d: %.12g, and %.12g", k, (double)usual[k], (double)fine[k]);
    if (WRONG(!(PetscAbsReal(other[k] / fine[k] - 1) < (PetscReal)1e-4))) FAIL("3bs, number %d: %.12g, and %.12g", k, (double)other[k], (double)fine[k]);
  }
  PetscCall(PetscInfo(NULL, "event %.12g %.12g %.12g, %.12g %.12g %.12g\n", (double)fine[0], (double)fine[1], (double)fine[2], (double)usual[0],
                      (double)usual[1], (double)usual[2]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestRoots());
  PetscCall(TestExtremes());
  PetscCall(TestBegin1());
  PetscCall(TestSlider());
  return TestEnd(20, "friction is right\n");
}

/*TEST

  test:

TEST*/
