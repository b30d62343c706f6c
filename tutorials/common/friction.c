/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#include "friction.h"

#define FRICTION_LARGE 20  /* asinh(exp(w)) is w + ln 2 to rounding from here on */
#define FRICTION_STEPS 100 /* Newton needs 3 to 6 */

/* ln sinh y, y > 0 */
static PetscReal LogSinh(PetscReal y)
{
  return y > 1 ? y + (PetscReal)log1p(-exp(-2 * (double)y)) - (PetscReal)0.69314718055994530942 : PetscLogReal(PetscSinhReal(y));
}

/* asinh(V/(2 V0) exp(psi/a)), and its derivative by ln V */
static PetscReal Asinh(const Friction *f, PetscReal psi, PetscReal logV, PetscReal *derivative)
{
  const PetscReal w = logV - PetscLogReal(2 * f->V0) + psi / f->a;
  PetscReal       s;

  *derivative = 1;
  if (w > FRICTION_LARGE) return w + (PetscReal)0.69314718055994530942;
  s           = PetscExpReal(w);
  *derivative = s / PetscSqrtReal(1 + s * s);
  return PetscAsinhReal(s);
}

PetscReal FrictionStrength(const Friction *f, PetscReal psi, PetscReal logV)
{
  PetscReal derivative;

  return f->sigma * f->a * Asinh(f, psi, logV, &derivative);
}

PetscReal FrictionStateRate(const Friction *f, PetscReal psi, PetscReal V)
{
  return f->b * f->V0 / f->Dc * (PetscExpReal((f->f0 - psi) / f->b) - V / f->V0);
}

PetscReal FrictionState(const Friction *f, PetscReal tau, PetscReal V)
{
  return f->a * (PetscLogReal(2 * f->V0 / V) + LogSinh((tau - f->eta * V) / (f->a * f->sigma)));
}

/*
   tau - strength - eta V falls in x = ln V and is concave, so Newton's steps from above the root stay above it, and a
   step from below passes the root. Without damping, or without friction, V would be larger: the smaller of both is an
   upper bound. At half of the stress in friction, V would be smaller, unless damping takes the other half
*/
PetscBool FrictionSolve(const Friction *f, PetscReal tau, PetscReal psi, PetscReal *logV)
{
  const PetscReal y = tau / (f->a * f->sigma), scale = PetscLogReal(2 * f->V0) - psi / f->a;
  const PetscReal noise = 4 * PETSC_MACHINE_EPSILON * y; /* of the difference of stresses, as a change of ln V */
  PetscReal       x     = *logV, low, high;

  if (!(tau > 0) || PetscIsInfOrNanReal(tau) || PetscIsInfOrNanReal(psi)) return PETSC_FALSE;
  high = PetscMin(PetscLogReal(tau / f->eta), scale + LogSinh(y));
  low  = PetscMin(PetscLogReal(tau / (2 * f->eta)), scale + LogSinh(y / 2));
  if (!(x >= low && x <= high)) x = high;
  for (int k = 0; k < FRICTION_STEPS; k++) {
    PetscReal       derivative, next;
    const PetscReal V = PetscExpReal(x), strength = f->sigma * f->a * Asinh(f, psi, x, &derivative);

    next = PetscMin(x - (strength + f->eta * V - tau) / (f->sigma * f->a * derivative + f->eta * V), high);
    if (PetscAbsReal(next - x) <= (PetscReal)1e-13 * PetscMax((PetscReal)1, PetscAbsReal(next)) + noise) {
      *logV = next;
      return PETSC_TRUE;
    }
    x = next;
  }
  return PETSC_FALSE;
}
