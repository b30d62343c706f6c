/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The manufactured problem of SBP-SAT operators, an error for each grid; or a slipping fault, many right-hand sides; or heat and waves.\n\
  -N 64,128,256        intervals a direction\n\
  -order 2,4,6         of the operator\n\
  -exact_metrics       metrics from formulas instead of from the grid's coordinates\n\
  -assembled           give the preconditioner an assembled matrix: -pc_type gamg and others\n\
  -fault_slip          a slipping fault, -steps of time\n\
  -heat, -wave         the same problem in time, -steps of TS\n\
  -picture FILE.png    the solution and its error, or the fault's displacement\n\n";

#include <tutorials/common/evolve.h>
#include <tutorials/common/output.h>
#include "mms.h"

/* A solve and the error; ratio to the error on the previous grid */
static PetscErrorCode Solve(MPI_Comm comm, const MMSOptions *opt, PetscInt N, PetscReal *error)
{
  MMSSystem          s;
  KSPConvergedReason reason;
  PetscInt           its;
  Vec                e;

  PetscFunctionBeginUser;
  PetscCall(MMSCreateSystem(comm, opt, N, &s));
  PetscCall(ProblemAddRightSide(s.da, s.A, s.b));
  PetscCall(KSPSolve(s.ksp, s.b, s.u));
  PetscCall(KSPGetConvergedReason(s.ksp, &reason));
  PetscCheck(reason > 0, comm, PETSC_ERR_NOT_CONVERGED, "The solver has not converged: %s", KSPConvergedReasons[reason]);
  PetscCall(KSPGetIterationNumber(s.ksp, &its));
  PetscCall(VecDuplicate(s.u, &e));
  PetscCall(ProblemGetSolution(s.da, e));
  PetscCall(VecAYPX(e, -1., s.u));
  PetscCall(MatSBPSATNorm(s.A, e, error));
  PetscCall(PetscPrintf(comm, "N=%" PetscInt_FMT " order=%" PetscInt_FMT " iterations=%" PetscInt_FMT " error=%.3e\n", N, opt->order, its, (double)*error));
  if (opt->picture[0]) {
    PlotPanel   panel[2] = {{.title = "u", .label = "u", .colours = "RdBu_r", .range = "symmetric"},
                            {.column = 1, .title = "error of u", .label = "error", .colours = "RdBu_r", .range = "symmetric"}};
    PetscMPIInt rank;
    Plot        plot;

    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    if (!rank) PetscCall(PlotOpen(opt->picture, &plot));
    for (int k = 0; k < 2; k++) PetscCall(MMSAddField(&plot, s.da, k ? e : s.u, &panel[k]));
    if (!rank) PetscCall(PlotClose(&plot));
  }
  PetscCall(VecDestroy(&e));
  PetscCall(MMSDestroySystem(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Heat or waves: a line of output */
static PetscErrorCode Evolve(MPI_Comm comm, const MMSOptions *opt, PetscInt N, PetscBool wave, PetscInt steps)
{
  const EvolveOptions evolve =
    {.kind = wave ? EVOLVE_WAVE : EVOLVE_HEAT, .N = N, .order = opt->order, .steps = steps, .exact = opt->exact, .assembled = opt->assembled};
  EvolveResult result;

  PetscFunctionBeginUser;
  PetscCall(EvolveSolve(comm, &evolve, &result));
  PetscCall(PetscPrintf(comm, "N=%" PetscInt_FMT " order=%" PetscInt_FMT " t=%g steps=%" PetscInt_FMT " iterations=%" PetscInt_FMT " error=%.3e\n", N,
                        opt->order, (double)result.time, result.steps, result.iterations, (double)result.error));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define GRIDS_MAX 16

int main(int argc, char **argv)
{
  MMSOptions opt          = {.order = 2};
  PetscInt   N[GRIDS_MAX] = {64, 128, 256}, n = GRIDS_MAX;
  PetscReal  error[GRIDS_MAX];
  PetscInt   steps = 64;
  PetscBool  set, slip = PETSC_FALSE, heat = PETSC_FALSE, wave = PETSC_FALSE;
  char       picture[PETSC_MAX_PATH_LEN] = "";
  MPI_Comm   comm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  comm = PETSC_COMM_WORLD;
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-N", N, &n, &set));
  if (!set) n = 3;
  for (PetscInt k = 0; k < n; k++) PetscCheck(N[k] >= 4, comm, PETSC_ERR_USER_INPUT, "-N %" PetscInt_FMT ": use at least 4 intervals", N[k]);
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &opt.order, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact_metrics", &opt.exact, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-assembled", &opt.assembled, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-fault_slip", &slip, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-heat", &heat, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-wave", &wave, NULL));
  if (heat || wave) PetscCall(PetscOptionsGetInt(NULL, NULL, "-steps", &steps, NULL));
  PetscCheck(steps >= 1, comm, PETSC_ERR_USER_INPUT, "-steps %" PetscInt_FMT ": use at least 1", steps);
  PetscCall(PetscOptionsGetString(NULL, NULL, "-picture", picture, sizeof(picture), NULL));
  PetscCall(OutputCheck(comm, "-picture", picture, NULL));
  PetscCheck(!picture[0] || (!heat && !wave), comm, PETSC_ERR_ARG_INCOMP, "-picture excludes -heat and -wave");

  if (slip) {
    for (PetscInt k = set ? 0 : n - 1; k < n; k++) {
      if (k == n - 1) PetscCall(PetscStrncpy(opt.picture, picture, sizeof(opt.picture)));
      PetscCall(MMSFaultSlip(comm, &opt, N[k]));
    }
  } else if (heat || wave) {
    for (PetscInt k = 0; k < n; k++) PetscCall(Evolve(comm, &opt, N[k], wave, steps));
  } else {
    for (PetscInt k = 0; k < n; k++) {
      if (k == n - 1) PetscCall(PetscStrncpy(opt.picture, picture, sizeof(opt.picture)));
      PetscCall(Solve(comm, &opt, N[k], &error[k]));
    }
    if (n > 1) PetscCall(PetscPrintf(comm, "\n|     N |     error | order |\n|------:|----------:|------:|\n"));
    for (PetscInt k = 0; n > 1 && k < n; k++) {
      PetscCall(PetscPrintf(comm, "| %5" PetscInt_FMT " | %.3e | ", N[k], (double)error[k]));
      if (k) PetscCall(PetscPrintf(comm, "%5.2f |\n", log((double)(error[k - 1] / error[k])) / log((double)N[k] / (double)N[k - 1])));
      else PetscCall(PetscPrintf(comm, "      |\n"));
    }
  }
  PetscCall(PetscFinalize());
  return 0;
}
