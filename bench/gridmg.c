/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Multigrid: set-up, application, iterations and solve of PCGRIDMG, PCCAMG and PCGAMG.\n\
  -bench_cases NAMES    : kinds of matrices (reservoir, spe10, laplace7), or files in PETSc binary form\n\
                          or weak, a reservoir with this number of rows per process\n\
  -bench_size N         : approximate number of rows; -well_rows, -permeability FILE and so on: see matgen\n\
  -gridmg_cycles w,k    : w, k: cycles of PCGRIDMG; camg, gamg: these preconditioners\n\
  -gridmg_mat_type TYPE : the operator in products (default: aijcusparse on a GPU, else aij); the preconditioner is made from an aijcusparse or aij\n\
  -gridmg_same          : the preconditioner is made from the operator, too, which KSPMPCG needs. With -gridmg_mat_type vcrs\n\
                          the matrix of weak is made on the GPU\n\
  -gridmg_view          : the levels\n\n";

/*
   Times are in milliseconds. Set-up covers all of PCSetUp(), starting from the matrix in its place. Set-up is timed for
   a new matrix and again for new values in the same pattern. A solve starts from zero. The solve ends when the true
   residual is 1e-8 of the right-hand side. The bytes of an application are those of docs/theory/gridmg.md, per cell of
   the finest level: 82 for W cycles with 4:1 levels, 244 for K cycles with 2:1 levels. With several processes, all wait
   for the slowest process.
*/

#include "weak.h"
#include <lithe.h>
#include <petscdevice.h>

typedef struct {
  const char *name, *pc, *ksp;
  double      bytes; /* per application and cell, 0: not counted */
} CycleKind;

static const CycleKind kinds[] = {{"w", PCGRIDMG, KSPCG, 82}, {"k", PCGRIDMG, KSPFCG, 244}, {"camg", PCCAMG, KSPCG, 0}, {"gamg", PCGAMG, KSPCG, 0}};

static PetscErrorCode Milliseconds(const Bench *bench, PetscLogDouble *last, PetscLogDouble *ms)
{
  PetscLogDouble now;

  PetscFunctionBeginUser;
  PetscCall(BenchWait(bench));
  PetscCallMPI(MPI_Barrier(bench->comm));
  PetscCall(PetscTime(&now));
  if (ms) *ms = 1e3 * (now - *last);
  *last = now;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TrueResidual(Mat A, Vec x, Vec b, PetscReal *residual)
{
  PetscReal norm;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Measure(const Bench *bench, const char name[], const CycleKind *kind, const PetscInt grid[], Mat A, Mat P, Vec b)
{
  PetscLogDouble last = 0., setup = 0., again = 0., solve[2] = {0., 0.};
  PetscReal      apply, least, residual;
  PetscMPIInt    size;
  PetscInt       n, its;
  PetscBool      view = PETSC_FALSE;
  KSP            ksp;
  PC             pc;
  Vec            x, y;
  BenchTask      task;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gridmg_view", &view, NULL));
  PetscCallMPI(MPI_Comm_size(bench->comm, &size));
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(KSPCreate(bench->comm, &ksp));
  PetscCall(KSPSetOperators(ksp, A, P));
  PetscCall(KSPSetType(ksp, kind->ksp));
  {
    PetscBool flexible;

    /* One previous direction, as in Notay's method. Thirty directions need 60 vectors, which take longer to allocate
       than a solve */
    PetscCall(PetscStrcmp(kind->ksp, KSPFCG, &flexible));
    if (flexible) {
      PetscCall(KSPFCGSetMmax(ksp, 1));
      PetscCall(KSPFCGSetNprealloc(ksp, 2));
    }
  }
  PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-8, 0.0, PETSC_CURRENT, 500));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, kind->pc));
  if (grid[0] && kind->bytes > 0) PetscCall(PCGridMGSetGrid(pc, grid[0], grid[1], grid[2]));
  if (kind->bytes > 0) {
    char option[64];

    PetscCall(PetscSNPrintf(option, sizeof(option), "-pc_gridmg_cycle %s", kind->name));
    PetscCall(PetscOptionsInsertString(NULL, option));
  }
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(Milliseconds(bench, &last, NULL));
  PetscCall(PCSetUp(pc));
  PetscCall(Milliseconds(bench, &last, &setup));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Milliseconds(bench, &last, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Milliseconds(bench, &last, &solve[0]));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(TrueResidual(A, x, b, &residual));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatScale(P, k ? 0.5 : 2.0)); /* other values in the same pattern, and then the first values again */
    PetscCall(Milliseconds(bench, &last, NULL));
    PetscCall(PCSetUp(pc));
    PetscCall(Milliseconds(bench, &last, &again));
  }
  PetscCall(VecSet(x, 0.0));
  PetscCall(KSPSetUp(ksp));
  PetscCall(Milliseconds(bench, &last, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(Milliseconds(bench, &last, &solve[1]));
  task = (BenchTask){BenchApply, pc};
  PetscCall(BenchTime(bench, 1, &task, b, y, &apply, &least));
  PetscCall(PetscPrintf(bench->comm, "| %s | %" PetscInt_FMT " | %s | %.3f | %.3f | %.4f | %.2f | %" PetscInt_FMT " | %.3f | %.3f | %.3f | %.3f | %.2g |\n",
                        name, n, kind->name, setup, again, 1e3 * (double)apply,
                        bench->copyrate > 0 ? kind->bytes * (double)n / (double)size / (double)apply / bench->copyrate : 0., its, solve[0], solve[1],
                        setup + solve[0], again + solve[1], (double)residual));
  if (view) PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_(bench->comm)));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(const Bench *bench, const char name[], const PetscBool cycles[])
{
  char      type[64] = "";
  Mat       A, P;
  Vec       b       = NULL, x, r;
  PetscInt  grid[3] = {0, 0, 0};
  PetscReal norm;
  PetscBool weak, device, same = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetString(NULL, NULL, "-gridmg_mat_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-gridmg_same", &same, NULL));
  PetscCall(PetscStrcmp(name, "weak", &weak));
  PetscCall(PetscStrcmp(type, MATVCRS, &device));
  device = (PetscBool)(device && weak && same && bench->gpu);
  if (weak) PetscCall(WeakCreate(bench, device, grid, &P));
  else PetscCall(BenchCreateSystem(bench, name, &P, &b));
  if (!b) {
    PetscCall(MatCreateVecs(P, NULL, &b));
    PetscCall(VecSet(b, 1.0));
  }
  if (bench->gpu && !device) {
    PetscCall(MatSetVecType(P, VECCUDA));
    PetscCall(MatConvert(P, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &P));
  }
  if (type[0] && !same) PetscCall(MatConvert(P, type, MAT_INITIAL_MATRIX, &A));
  else {
    if (type[0] && !device) PetscCall(MatConvert(P, type, MAT_INPLACE_MATRIX, &P));
    A = P;
    PetscCall(PetscObjectReference((PetscObject)A));
  }
  PetscCall(MatCreateVecs(A, &x, &r));
  PetscCall(VecCopy(b, r));
  PetscCall(VecDestroy(&b));
  PetscCall(MatMult(A, r, x)); /* MatMult() moves a MATAIJCUSPARSE to the device */
  PetscCall(MatMult(P, r, x));
  PetscCall(VecNorm(r, NORM_2, &norm)); /* PETSc's handle of cuBLAS: 3 to 20 ms, once in a process, with any preconditioner */
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    if (cycles[k]) PetscCall(Measure(bench, name, &kinds[k], grid, A, P, r));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const char *const names[PETSC_STATIC_ARRAY_LENGTH(kinds)] = {"w", "k", "camg", "gamg"};
  PetscBool         cycles[PETSC_STATIC_ARRAY_LENGTH(kinds)];
  char             *cases[BENCH_NAMES_MAX];
  PetscInt          n = BENCH_NAMES_MAX;
  Bench             bench;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(BenchSetFromOptions(PETSC_COMM_WORLD, &bench));
  if (bench.gpu) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscCall(BenchCopyRate(&bench));
  {
    PetscBool set;

    PetscCall(PetscOptionsHasName(NULL, NULL, "-gridmg_cycles", &set));
    if (!set) PetscCall(PetscOptionsSetValue(NULL, "-gridmg_cycles", "w,k"));
  }
  PetscCall(BenchGetWanted(&bench, "-gridmg_cycles", PETSC_STATIC_ARRAY_LENGTH(kinds), names, cycles));
  PetscCall(BenchGetCases(&n, cases));
  PetscCall(PetscPrintf(bench.comm, "copy %.3f TB/s\n", bench.copyrate * 1e-12));
  PetscCall(PetscPrintf(bench.comm, "| matrix | rows | cycle | set-up | again | application | share | iterations | solve | again | total | again | residual |\n"
                                    "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"));
  for (PetscInt k = 0; k < n; k++) {
    PetscCall(Case(&bench, cases[k], cycles));
    PetscCall(PetscFree(cases[k]));
  }
  PetscCall(PetscFinalize());
  return 0;
}
