/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES with PCJACOBI, which may be fused into the making of a column: the same as with a shell "
                     "preconditioner which calls PCJACOBI.\n\n";

/*
   Every residual and the solution must have the same bits in all cases. The cases are: a cycle continues with another
   residual; a step needs more passes; steps are launched ahead; a monitor asks for the solution; the matrix changes
   values. Solves are preconditioned from the left too, and flexible. Complex products may be rounded differently.
*/

#include <tests/cbgmres/ksptest.h>

#define NORMS_MAX 2000

typedef struct {
  KSP       ksp;
  Vec       x;
  PetscInt  its;
  PetscReal norm[NORMS_MAX];
} Run;

static PetscErrorCode ApplyOther(PC pc, Vec x, Vec y)
{
  PC other;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &other));
  PetscCall(PCApply(other, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode BuildSolution(KSP ksp, PetscInt it, PETSC_UNUSED PetscReal norm, PETSC_UNUSED void *unused)
{
  Vec x;

  PetscFunctionBeginUser;
  if (it % 3 == 1) PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateRun(Mat A, const char options[], PetscBool monitored, Vec b, Run *run)
{
  PetscFunctionBeginUser;
  PetscCall(TestCreateKSP(A, options, &run->ksp));
  PetscCall(KSPSetResidualHistory(run->ksp, run->norm, NORMS_MAX, PETSC_TRUE));
  if (monitored) PetscCall(KSPMonitorSet(run->ksp, BuildSolution, NULL, NULL));
  PetscCall(VecDuplicate(b, &run->x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Run *run, Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(VecZeroEntries(run->x));
  PetscCall(KSPSolve(run->ksp, b, run->x));
  PetscCall(KSPGetIterationNumber(run->ksp, &run->its));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const Run *a, const Run *b, const char options[], PetscInt round)
{
  PetscBool same = (PetscBool)(a->its == b->its);
  PetscInt  n    = PetscMin(a->its, NORMS_MAX - 1);

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_COMPLEX)) {
    if (same) PetscCall(TestSameBits(a->x, b->x, &same));
    for (PetscInt k = 0; k <= n && same; k++) same = (PetscBool)(a->norm[k] == b->norm[k]);
  } else {
    /* rounding hardly affects the first columns; the last columns may differ */
    n    = PetscMin(PetscMin(n, b->its), 5);
    same = PETSC_TRUE;
    for (PetscInt k = 0; k <= n; k++) same = (PetscBool)(same && PetscAbsReal(a->norm[k] - b->norm[k]) <= 1e-4 * b->norm[0]);
  }
  if (WRONG(!same))
    FAIL("%s, round %" PetscInt_FMT ": %" PetscInt_FMT " iterations with jacobi, %" PetscInt_FMT " with a shell, and not the same numbers", options, round,
         a->its, b->its);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with both solvers, then again with other values in the matrix */
static PetscErrorCode Try(TestKind kind, const char options[], PetscBool monitored)
{
  Mat A, B;
  Vec b;
  KSP ksp;
  PC  pc, other;
  Run run[2];

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, kind, 0, &A));
  PetscCall(MatCreateVecs(A, &b, NULL));
  PetscCall(VecSet(b, 1.0));
  for (int k = 0; k < 2; k++) PetscCall(CreateRun(A, options, monitored, b, &run[k]));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPGetPC(ksp, &other));
  PetscCall(KSPGetPC(run[1].ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetContext(pc, other));
  PetscCall(PCShellSetApply(pc, ApplyOther));
  for (PetscInt round = 0; round < 2; round++) {
    for (int k = 0; k < 2; k++) PetscCall(Solve(&run[k], b));
    PetscCall(Compare(&run[0], &run[1], options, round));
    PetscCall(TestCreateOperator(PETSC_COMM_WORLD, kind, 1, &B));
    PetscCall(MatShift(B, 0.5));
    PetscCall(MatCopy(B, A, SAME_NONZERO_PATTERN));
    PetscCall(MatDestroy(&B));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(KSPDestroy(&run[k].ksp));
    PetscCall(VecDestroy(&run[k].x));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind    kinds[] = {TEST_CONVECTION, TEST_RESERVOIR, TEST_FEM};
  static const char *const more[]  = {"-ksp_pc_side right",
                                      "-ksp_pc_side right -ksp_gmres_restart 5",
                                      "-ksp_pc_side right -ksp_cbgmres_check_every 4",
                                      "-ksp_pc_side right -ksp_orthogonalization_cgs_refinement_type refine_always",
                                      "-ksp_pc_side right -ksp_cbgmres_adaptive",
                                      "-ksp_pc_side left",
                                      "-ksp_type cbfgmres",
                                      "-ksp_pc_side right -pc_jacobi_type rowmax -pc_jacobi_abs"};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    for (int s = 0; s < NSTORAGES; s++) {
      for (size_t m = 0; m < PETSC_STATIC_ARRAY_LENGTH(more); m++) {
        char options[256];

        PetscCall(PetscSNPrintf(options, sizeof(options),
                                "-ksp_type cbgmres -pc_type jacobi -ksp_rtol 1e-9 -ksp_max_it 60 -ksp_gmres_restart 30 -ksp_cbgmres_storage %s %s",
                                storages[s].name, more[m]));
        PetscCall(Try(kinds[k], options, (PetscBool)(m % 2)));
      }
    }
  }
  return TestEnd(360, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out

    test:
      nsize: {{1 2}}

    test:
      suffix: cuda
      requires: cuda
      args: -operator_types aijcusparse

TEST*/
