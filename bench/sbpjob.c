/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The manufactured problem of SBP-SAT operators from the program's start to the solution: seconds of each stage, and in total.\n\
  -bench_n N              : intervals a direction (default: 1024; on a GPU 8192)\n\
  -bench_order P          : of the operator (default: 2)\n\
  -bench_exact_metrics B  : metrics from formulas (default: true), else from differences of coordinates\n\
  -job_assembled          : solve with the assembled matrix, as PETSc alone would\n\
  -ksp_..., -pc_...       : the solver; without options conjugate gradients with PCSBPMG, or GAMG for the assembled matrix\n\n";

/*
   The second program of jobs.py, next to job.c, with the same stages. Assembly makes the grid, the coefficients and the
   right-hand side. Conversion makes the assembled matrix, uploads the matrix and multiplies once. solution_error is the
   error of the solution in the norm of the operator.
*/

#include "stages.h"
#include <tutorials/common/sbpsatproblem.h>
#include <lithe.h>
#include <petscdevice.h>

typedef struct {
  PetscInt  N, order;
  PetscBool exact, assembled;
} Options;

static PetscErrorCode GetOptions(const Job *job, Options *o)
{
  PetscFunctionBeginUser;
  *o = (Options){.N = job->bench.gpu ? 8192 : 1024, .order = 2, .exact = PETSC_TRUE, .assembled = PETSC_FALSE};
  PetscOptionsBegin(job->bench.comm, NULL, "A whole job with SBP-SAT", "Mat");
  PetscCall(PetscOptionsBoundedInt("-bench_n", "Intervals a direction", NULL, o->N, &o->N, NULL, 4));
  PetscCall(PetscOptionsInt("-bench_order", "Of the operator", NULL, o->order, &o->order, NULL));
  PetscCall(PetscOptionsBool("-bench_exact_metrics", "Metrics from formulas", NULL, o->exact, &o->exact, NULL));
  PetscCall(PetscOptionsBool("-job_assembled", "Solve with the assembled matrix", NULL, o->assembled, &o->assembled, NULL));
  PetscOptionsEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Grid, operator and right-hand side */
static PetscErrorCode CreateSystem(const Job *job, const Options *o, DM *da, Mat *A, Vec *b)
{
  const PetscInt n[2] = {o->N, o->N};

  PetscFunctionBeginUser;
  /* Vectors stay on the device, so no host memory is pinned */
  if (job->bench.gpu) PetscCall(PetscOptionsInsertString(NULL, "-dm_vec_type cuda -vec_pinned_memory_min 2000000000"));
  PetscCall(ProblemCreateGrid(job->bench.comm, n, da));
  if (!o->exact) PetscCall(ProblemSetCoordinates(*da));
  PetscCall(DMCreateMatrix(*da, A));
  PetscCall(MatSBPSATSetOrder(*A, o->order));
  PetscCall(ProblemSetOperator(*da, o->exact, *A));
  PetscCall(ProblemCreateVector(*da, b));
  PetscCall(VecZeroEntries(*b));
  PetscCall(ProblemAddRightSide(*da, *A, *b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode GetError(DM da, Mat A, Vec x, PetscReal *error)
{
  Vec e;

  PetscFunctionBeginUser;
  PetscCall(ProblemCreateVector(da, &e));
  PetscCall(ProblemGetSolution(da, e));
  PetscCall(VecAXPY(e, -1., x));
  PetscCall(MatSBPSATNorm(A, e, error));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscReal error;
  Options   o;
  Job       job;
  KSP       ksp;
  PC        pc;
  DM        da;
  Mat       A, B;
  Vec       x, b;

  PetscFunctionBeginUser;
  JobBegin(&job);
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &job.bench));
  PetscCall(GetOptions(&job, &o));
  if (job.bench.gpu) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(JobEnd(&job, STAGE_START));

  PetscCall(CreateSystem(&job, &o, &da, &A, &b));
  PetscCall(JobEnd(&job, STAGE_ASSEMBLY));

  if (o.assembled) {
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    if (job.bench.gpu) PetscCall(MatConvert(B, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &B));
  } else {
    PetscCall(PetscObjectReference((PetscObject)A));
    B = A;
  }
  PetscCall(ProblemCreateVector(da, &x));
  PetscCall(MatMult(B, b, x));
  PetscCall(JobEnd(&job, STAGE_CONVERSION));

  PetscCall(KSPCreate(job.bench.comm, &ksp));
  PetscCall(KSPSetOperators(ksp, B, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, PETSC_CURRENT, PETSC_CURRENT, 1000));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, o.assembled ? PCGAMG : PCSBPMG));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(JobEnd(&job, STAGE_SETUP));

  PetscCall(VecZeroEntries(x));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(JobEnd(&job, STAGE_SOLVE));

  PetscCall(GetError(da, A, x, &error));
  PetscCall(JobPrintSolve(&job, ksp, x, b));
  PetscCall(PetscPrintf(job.bench.comm, ", \"solution_error\": %g", (double)error));
  PetscCall(JobPrintStages(&job));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PetscFinalize());
  return 0;
}
