/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The manufactured problem of SBP-SAT operators, an error for each grid; or a slipping fault, many right sides; or heat and waves.\n\
  -N 64,128,256        intervals a direction\n\
  -order 2,4,6         of the operator\n\
  -exact_metrics       metrics from formulas instead of from the grid's coordinates\n\
  -assembled           give the preconditioner an assembled matrix: -pc_type gamg and others\n\
  -fault_slip          a slipping fault, -steps of time\n\
  -heat, -wave         the same problem in time, -steps of TS\n\
  -o NAME              write what plot.py reads\n\n";

#include "evolve.h"
#include "mms.h"
#include <lithepc.h>
#include <petscviewer.h>

/* A matrix of type sbpsat takes order, faces and coefficient from the one on the finer grid by itself */
static PetscErrorCode ComputeOperators(KSP ksp, Mat A, Mat P, void *ctx)
{
  PetscFunctionBeginUser;
  (void)ksp;
  (void)A;
  (void)ctx;
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSCreateSystem(MPI_Comm comm, const MMSOptions *opt, PetscInt N, MMSSystem *s)
{
  const PetscInt n[2] = {N, N};
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(s, sizeof(*s)));
  PetscCall(ProblemCreateDM(comm, n, &s->da));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(MatSBPSATSetOrder(s->A, opt->order));
  PetscCall(ProblemSetOperator(s->da, opt->exact, s->A));
  PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  if (opt->assembled) PetscCall(MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &s->P));
  else {
    PetscCall(PetscObjectReference((PetscObject)s->A));
    s->P = s->A;
  }
  PetscCall(DMCreateGlobalVector(s->da, &s->u));
  PetscCall(DMCreateGlobalVector(s->da, &s->b));

  /* Conjugate gradients with multigrid, to an error that the discretisation does not notice; anything else by options */
  PetscCall(KSPCreate(comm, &s->ksp));
  PetscCall(KSPSetOperators(s->ksp, s->A, s->P));
  /* For -pc_type mg: grids come from the DMDA, and so do operators, except the finest */
  PetscCall(KSPSetDM(s->ksp, s->da));
  PetscCall(KSPSetComputeOperators(s->ksp, ComputeOperators, NULL));
  PetscCall(KSPSetDMActive(s->ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(KSPSetType(s->ksp, KSPCG));
  PetscCall(KSPSetTolerances(s->ksp, (PetscReal)1e-10, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPGetPC(s->ksp, &pc));
  if (!opt->assembled) PetscCall(PCSetType(pc, PCSBPMG));
  PetscCall(KSPSetFromOptions(s->ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSDestroySystem(MMSSystem *s)
{
  PetscFunctionBeginUser;
  PetscCall(KSPDestroy(&s->ksp));
  PetscCall(VecDestroy(&s->u));
  PetscCall(VecDestroy(&s->b));
  PetscCall(MatDestroy(&s->P));
  PetscCall(MatDestroy(&s->A));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* PETSc's binary format, nodes in natural order */
PetscErrorCode MMSWriteVector(DM da, const char name[], const char what[], Vec v)
{
  char        path[PETSC_MAX_PATH_LEN];
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.%s", name, what));
  PetscCall(PetscViewerBinaryOpen(PetscObjectComm((PetscObject)da), path, FILE_MODE_WRITE, &viewer));
  PetscCall(PetscViewerBinarySetSkipInfo(viewer, PETSC_TRUE));
  PetscCall(VecView(v, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode MMSWriteInfo(const MMSSystem *s, const char name[], const char kind[], PetscInt fields, const PetscReal times[])
{
  PetscInt    nodes[2];
  PetscMPIInt rank;
  char        path[PETSC_MAX_PATH_LEN];
  FILE       *file;
  Vec         coordinates;

  PetscFunctionBeginUser;
  PetscCall(DMGetCoordinates(s->da, &coordinates));
  PetscCall(MMSWriteVector(s->da, name, "coordinates", coordinates));
  PetscCall(DMDAGetInfo(s->da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCallMPI(MPI_Comm_rank(PetscObjectComm((PetscObject)s->da), &rank));
  if (rank) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s.json", name));
  file = fopen(path, "w");
  PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
  fprintf(file, "{\"kind\": \"%s\", \"nodes\": [%d, %d], \"complex\": %s, \"real_bytes\": %d, \"index_bytes\": %d, \"times\": [", kind, (int)nodes[0], (int)nodes[1], PetscDefined(USE_COMPLEX) ? "true" : "false", (int)sizeof(PetscReal), (int)sizeof(PetscInt));
  for (PetscInt k = 0; k < fields; k++) fprintf(file, "%s%g", k ? ", " : "", (double)times[k]);
  fprintf(file, "]}\n");
  PetscCheck(fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s", path);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One solve and its error; ratio to the error of the grid before */
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
  if (opt->output[0]) {
    PetscCall(MMSWriteInfo(&s, opt->output, "mms", 0, NULL));
    PetscCall(MMSWriteVector(s.da, opt->output, "u", s.u));
    PetscCall(MMSWriteVector(s.da, opt->output, "error", e));
  }
  PetscCall(VecDestroy(&e));
  PetscCall(MMSDestroySystem(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Heat or waves: one line */
static PetscErrorCode Evolve(MPI_Comm comm, const MMSOptions *opt, PetscInt N, PetscBool wave, PetscInt steps)
{
  const EvolveOptions evolve = {.kind = wave ? EVOLVE_WAVE : EVOLVE_HEAT, .N = N, .order = opt->order, .steps = steps, .exact = opt->exact, .assembled = opt->assembled};
  EvolveResult        result;

  PetscFunctionBeginUser;
  PetscCall(EvolveSolve(comm, &evolve, &result));
  PetscCall(PetscPrintf(comm, "N=%" PetscInt_FMT " order=%" PetscInt_FMT " t=%g steps=%" PetscInt_FMT " iterations=%" PetscInt_FMT " error=%.3e\n", N, opt->order, (double)result.time, result.steps, result.iterations, (double)result.error));
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
  PetscCall(PetscOptionsGetString(NULL, NULL, "-o", opt.output, sizeof(opt.output), NULL));

  if (slip) {
    for (PetscInt k = set ? 0 : n - 1; k < n; k++) PetscCall(MMSFaultSlip(comm, &opt, N[k]));
  } else if (heat || wave) {
    for (PetscInt k = 0; k < n; k++) PetscCall(Evolve(comm, &opt, N[k], wave, steps));
  } else {
    for (PetscInt k = 0; k < n; k++) PetscCall(Solve(comm, &opt, N[k], &error[k]));
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
