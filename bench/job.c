/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A linear system from the assembled matrix to the solution: seconds of each stage, and in total.\n\
  -bench_cases NAME  : a kind of matrix as for the other benchmarks, or a file in PETSc binary form\n\
  -bench_size N      : approximate number of rows\n\
  -job_mat_type TYPE : type for the MATAIJ (default: aijcusparse on a GPU)\n\
  -job_solves N      : solves with the same matrix (default: 1)\n\
  -ksp_..., -pc_...  : the solver; PETSc's default is GMRES with ILU(0)\n\n";

/*
   jobs.py runs this program once per job, without and with Lithe's options, and collects the printed lines. Each
   measurement is a separate program, so nothing is warm which is cold for a user.

   The stages are start (MPI, PETSc, the device), assembly, conversion, set-up and solve. Assembly makes the host's
   arrays, with PETSc's MatSetValues() apart. Conversion makes the matrix type, uploads the matrix and multiplies once.
   See stages.h.
*/

#include "stages.h"
#include <lithe.h>
#include <petscdevice.h>

int main(int argc, char **argv)
{
  static const char *const events[] = {"MatVCRSCompress", "MatVCRSMaterialize", "PCSetUp"};
  char                     type[64] = "", name[PETSC_MAX_PATH_LEN] = "reservoir";
  PetscInt                 solves = 1;
  Job                      job;
  KSP                      ksp;
  Mat                      A;
  Vec                      x, b, r;

  PetscFunctionBeginUser;
  JobBegin(&job);
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(PetscLogDefaultBegin());
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &job.bench));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-bench_cases", name, sizeof(name), NULL));
  if (job.bench.gpu) PetscCall(PetscStrncpy(type, MATAIJCUSPARSE, sizeof(type)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-job_mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-job_solves", &solves, NULL));
  if (job.bench.gpu) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(JobEnd(&job, STAGE_START));

  PetscCall(BenchCreateSystem(&job.bench, name, &A, &b));
  if (!b) {
    PetscCall(MatCreateVecs(A, NULL, &b));
    PetscCall(VecSet(b, 1.0));
  }
  PetscCall(JobEnd(&job, STAGE_ASSEMBLY));

  if (job.bench.gpu) PetscCall(MatSetVecType(A, VECCUDA));
  if (type[0]) PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &r));
  PetscCall(VecCopy(b, r));
  PetscCall(VecDestroy(&b));
  b = r;
  PetscCall(MatMult(A, b, x)); /* MatMult() moves a MATAIJCUSPARSE to the device */
  PetscCall(JobEnd(&job, STAGE_CONVERSION));

  PetscCall(KSPCreate(job.bench.comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, PETSC_CURRENT, PETSC_CURRENT, 5000));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSetUp(ksp));
  PetscCall(KSPSetUpOnBlocks(ksp));
  PetscCall(JobEnd(&job, STAGE_SETUP));

  for (PetscInt k = 0; k < solves; k++) {
    PetscCall(VecZeroEntries(x));
    PetscCall(KSPSolve(ksp, b, x));
  }
  PetscCall(JobEnd(&job, STAGE_SOLVE));

  PetscCall(JobPrintSolve(&job, ksp, x, b));
  PetscCall(JobPrintEvents(&job, PETSC_STATIC_ARRAY_LENGTH(events), events));
  PetscCall(JobPrintStages(&job));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
