/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A manufactured earthquake, in the manner of Erickson and Dunham, J. Geophys. Res. 119, 2014. With

     p = exp(-(z/depth)^2), q = exp(-x/width), S = (D/pi) (atan((t - event)/rise) + pi/2)

   the displacement is u = Vp t/2 + S p q/2 and the slip Vp t + S p. The stress follows from u, and the state from stress
   and slip rate. The equation of equilibrium gets a source, and so does that of the state
*/

#include "cycle.h"

/* S p q/2 at S = 1 */
static PetscReal Displacement(void *ctx, PetscReal x, PetscReal z)
{
  const CycleMMS *m = (const CycleMMS *)ctx;

  return PetscExpReal(-z / m->depth * (z / m->depth) - x / m->width) / 2;
}

/* -mu (p'' q + p q'')/2 */
static PetscReal Source(void *ctx, PetscReal x, PetscReal z)
{
  const CycleMMS *m = (const CycleMMS *)ctx;
  const PetscReal d = z / m->depth;

  return -m->mu * Displacement(ctx, x, z) * ((4 * d * d - 2) / (m->depth * m->depth) + 1 / (m->width * m->width));
}

/* S and its derivatives */
static void Slip(const CycleMMS *m, PetscReal t, PetscReal S[3])
{
  const PetscReal x = (t - m->event) / m->rise, one = 1 + x * x;

  S[0] = m->D / PETSC_PI * (PetscAtanReal(x) + PETSC_PI / 2);
  S[1] = m->D / (PETSC_PI * m->rise * one);
  S[2] = -2 * m->D * x / (PETSC_PI * m->rise * m->rise * one * one);
}

PetscErrorCode CycleMMSCreate(const CycleRock *rock, const CycleLaw *law, Elastic *elastic, CycleMMS *m)
{
  const CycleGrid *grid = elastic->grid;
  Vec              data, b;

  PetscFunctionBeginUser;
  PetscCheck(!rock->mu && !(rock->basin[0] > 0), PetscObjectComm((PetscObject)grid->da), PETSC_ERR_ARG_INCOMP,
             "-problem mms needs a constant shear modulus: leave out -basin and -mu_file");
  *m = (CycleMMS){.Vp      = law->Vp,
                  .mu      = CycleRockModulus(rock, 0, 0),
                  .D       = 1,
                  .width   = 20000,
                  .depth   = 10000,
                  .event   = (PetscReal)(35 * CYCLE_YEAR),
                  .rise    = 100,
                  .elastic = elastic};
  PetscCall(DMCreateGlobalVector(grid->da, &data));
  PetscCall(VecDuplicate(data, &b));
  PetscCall(VecSet(b, 0));
  PetscCall(CycleGridFill(grid, Source, m, data));
  PetscCall(MatSBPSATAddSource(grid->A, data, b));
  PetscCall(CycleGridFill(grid, Displacement, m, data)); /* at z = 0 the traction is 0 */
  PetscCall(MatSBPSATAddBoundary(grid->A, MATSBPSAT_RIGHT, data, b));
  PetscCall(MatSBPSATAddBoundary(grid->A, MATSBPSAT_TOP, data, b));
  PetscCall(ElasticSetLoad(elastic, b));
  PetscCall(VecDestroy(&data));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscReal CycleMMSLoad(const CycleMMS *m, PetscReal t)
{
  PetscReal S[3];

  Slip(m, t, S);
  return S[0];
}

void CycleMMSState(const CycleMMS *m, const Friction *f, PetscReal tau0, PetscReal z, PetscReal t, PetscReal y[2], PetscReal *source)
{
  const PetscReal p = PetscExpReal(-z / m->depth * (z / m->depth));
  PetscReal       S[3], V, Vt, tau, taut, load;

  Slip(m, t, S);
  V    = m->Vp + S[1] * p;
  Vt   = S[2] * p;
  tau  = tau0 - m->mu * S[0] * p / (2 * m->width);
  taut = -m->mu * S[1] * p / (2 * m->width);
  load = (tau - f->eta * V) / (f->a * f->sigma);
  y[0] = FrictionState(f, tau, V);
  y[1] = m->Vp * t + S[0] * p;
  /* psi = a (ln(2 V0/V) + ln sinh load) */
  *source = -f->a * Vt / V + (taut - f->eta * Vt) / f->sigma / PetscTanhReal(load) - FrictionStateRate(f, y[0], V);
}

PetscErrorCode CycleMMSError(const CycleMMS *m, PetscReal t, PetscReal *error)
{
  PetscReal S[3];
  Vec       exact;

  PetscFunctionBeginUser;
  Slip(m, t, S);
  PetscCall(VecDuplicate(m->elastic->u, &exact));
  PetscCall(CycleGridFill(m->elastic->grid, Displacement, (void *)m, exact));
  PetscCall(VecAYPX(exact, -S[0], m->elastic->u));
  PetscCall(VecNorm(exact, NORM_INFINITY, error));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}
