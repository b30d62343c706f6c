/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   A slipping fault in a quasi-static world, as programs for earthquake cycles solve at every time step. The
   displacement u out of the plane satisfies -div(mu grad u) = 0. The faces are:

     left face    The fault: u is half of the given slip.
     right face   The plate, moving steadily: u = rate t/2.
     bottom, top  Free of tractions. The bottom face is the surface of the earth, with the basin below.

   Below the locked part, the fault creeps with the plate. The locked part does not move between earthquakes, and
   catches up in an earthquake after each period. Geometry and coefficient come from the manufactured problem. The
   operator and the multigrid are set up once.
*/

#include "mms.h"
#include <petsctime.h>

#define PERIOD   100.0 /* years between two earthquakes */
#define RATE     0.035 /* of the plate, m per year */
#define RISE     1.0   /* artificial duration of an earthquake in years, so that time steps resolve it */
#define LOCKED   0.0   /* s where the locked part ends, of [-1, 1] from the surface down */
#define FIELDS   4     /* pictures of the displacement */
#define STEPSMAX 100000

/* The fraction of the plate's motion which the fault follows at once: 0 if locked, 1 if creeping */
static PetscReal Creep(PetscReal s)
{
  return (PetscReal)0.5 * (1 + PetscTanhReal(8 * (s - (PetscReal)LOCKED)));
}

/* Slip of the locked part: a step of one period's motion per earthquake, smooth over the rise time */
static PetscReal LockedSlip(PetscReal t)
{
  const PetscReal cycles = PetscFloorReal(t / (PetscReal)PERIOD), since = t - cycles * (PetscReal)PERIOD;
  const PetscReal x = PetscMin(since / (PetscReal)RISE, 1);

  return (PetscReal)RATE * (PetscReal)PERIOD * (cycles > 0 ? cycles - 1 + x * x * (3 - 2 * x) : 0);
}

/* Displacement of the nodes at the ends of each row: the fault, and the plate */
static PetscErrorCode FillBoundary(DM da, PetscReal t, Vec g)
{
  PetscInt      start[2], count[2], nodes[2];
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(VecSet(g, 0.));
  PetscCall(DMDAVecGetArray(da, g, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    const PetscReal creep = Creep(-1 + 2 * (PetscReal)j / (PetscReal)(nodes[1] - 1));

    if (start[0] == 0) a[j][0] = (creep * (PetscReal)RATE * t + (1 - creep) * LockedSlip(t)) / 2;
    if (start[0] + count[0] == nodes[0]) a[j][nodes[0] - 1] = (PetscReal)RATE * t / 2;
  }
  PetscCall(DMDAVecRestoreArray(da, g, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The displacement of the surface at the fault, and in the middle of the surface */
static PetscErrorCode SurfaceDisplacement(DM da, Vec u, PetscReal at[2])
{
  PetscInt            start[2], count[2], nodes[2];
  const PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayRead(da, u, (void *)&a));
  for (int k = 0; k < 2; k++) {
    const PetscInt i = k ? (nodes[0] - 1) / 2 : 0;

    at[k] = start[1] == 0 && i >= start[0] && i < start[0] + count[0] ? PetscRealPart(a[0][i]) : 0;
  }
  PetscCall(DMDAVecRestoreArrayRead(da, u, (void *)&a));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, at, 2, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)da)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSFaultSlip(MPI_Comm comm, const MMSOptions *opt, PetscInt N)
{
  PetscInt       steps = 30, total = 0, fields = 0;
  PetscReal      years = 250;
  PetscLogDouble begin, end, setup, solves = 0;
  PetscBool      preonly;
  PetscMPIInt    rank;
  Plot           plot;
  MMSSystem      s;
  Vec            g;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-years", &years, NULL));
  PetscCheck(steps >= 1 && steps <= STEPSMAX, comm, PETSC_ERR_USER_INPUT, "-steps %" PetscInt_FMT ": use a number from 1 to %d", steps, STEPSMAX);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  if (opt->picture[0] && !rank) PetscCall(PlotOpen(opt->picture, &plot));
  PetscCall(MMSCreateSystem(comm, opt, N, &s));
  PetscCall(PetscObjectTypeCompare((PetscObject)s.ksp, KSPPREONLY, &preonly));
  if (!preonly) {
    PetscCall(KSPSetInitialGuessNonzero(s.ksp, PETSC_TRUE)); /* the displacement of the step before */
    PetscCall(KSPSetFromOptions(s.ksp));
  }
  PetscCall(DMCreateGlobalVector(s.da, &g));
  PetscCall(PetscTime(&begin));
  PetscCall(KSPSetUp(s.ksp));
  PetscCall(PetscTime(&end));
  setup = end - begin;

  for (PetscInt k = 1; k <= steps; k++) {
    const PetscReal    t = years * (PetscReal)k / (PetscReal)steps;
    KSPConvergedReason reason;
    PetscReal          at[2];
    PetscInt           its;

    PetscCall(FillBoundary(s.da, t, g));
    PetscCall(VecSet(s.b, 0.));
    PetscCall(MatSBPSATAddBoundary(s.A, MATSBPSAT_LEFT, g, s.b));
    PetscCall(MatSBPSATAddBoundary(s.A, MATSBPSAT_RIGHT, g, s.b));
    PetscCall(PetscTime(&begin));
    PetscCall(KSPSolve(s.ksp, s.b, s.u));
    PetscCall(KSPGetIterationNumber(s.ksp, &its)); /* known once the solve is over */
    PetscCall(PetscTime(&end));
    solves += end - begin;
    total += its;
    PetscCall(KSPGetConvergedReason(s.ksp, &reason));
    PetscCheck(reason > 0, comm, PETSC_ERR_NOT_CONVERGED, "The solver has not converged at t = %g: %s", (double)t, KSPConvergedReasons[reason]);
    PetscCall(SurfaceDisplacement(s.da, s.u, at));
    PetscCall(PetscPrintf(comm,
                          "N=%" PetscInt_FMT " order=%" PetscInt_FMT " t=%.2f iterations=%" PetscInt_FMT " surface: %.4f m at the fault, %.4f m halfway\n", N,
                          opt->order, (double)t, its, (double)at[0], (double)at[1]));
    if (opt->picture[0] && fields < FIELDS && k * FIELDS >= (fields + 1) * steps) {
      char      title[32];
      PlotPanel panel = {.column = (int)fields++, .title = title, .label = "lag behind the plate, m", .down = PETSC_TRUE};

      PetscCall(PetscSNPrintf(title, sizeof(title), "t = %.4g years", (double)t));
      PetscCall(VecSet(g, (PetscReal)RATE * t / 2));
      PetscCall(VecAXPY(g, -1, s.u));
      PetscCall(MMSAddField(&plot, s.da, g, &panel)); /* the surface is at the bottom of the grid */
    }
  }
  PetscCall(PetscPrintf(comm,
                        "N=%" PetscInt_FMT " order=%" PetscInt_FMT " steps=%" PetscInt_FMT " iterations=%" PetscInt_FMT " setup=%.3g s solve=%.3g s a step\n",
                        N, opt->order, steps, total, (double)setup, (double)(solves / (PetscLogDouble)steps)));
  if (opt->picture[0] && !rank) PetscCall(PlotClose(&plot));
  PetscCall(VecDestroy(&g));
  PetscCall(MMSDestroySystem(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}
