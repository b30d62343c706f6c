/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT: errors of the manufactured problem, and their orders.\n\n";

#include <lithe.h>
#include <petscksp.h>
#include <tutorials/common/sbpsatproblem.h>

/* The H-norm of the error. Small systems are solved directly, large systems by conjugate gradients */
static PetscErrorCode TestSolve(const PetscInt n[2], PetscInt order, PetscBool exact, PetscReal *error)
{
  DM  da;
  Mat A, B;
  Vec u, b, e;
  KSP ksp;
  PC  pc;

  PetscFunctionBegin;
  PetscCall(ProblemCreateDM(PETSC_COMM_WORLD, n, &da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatSBPSATSetOrder(A, order));
  PetscCall(ProblemSetOperator(da, exact, A));
  PetscCall(DMCreateGlobalVector(da, &b));
  PetscCall(VecDuplicate(b, &u));
  PetscCall(VecDuplicate(b, &e));
  PetscCall(ProblemAddRightSide(da, A, b));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  PetscCall(KSPSetTolerances(ksp, 100 * PETSC_MACHINE_EPSILON, 0, PETSC_CURRENT, 3));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(ProblemGetSolution(da, e));
  PetscCall(VecAXPY(e, -1, u));
  PetscCall(MatSBPSATNorm(A, e, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&e));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* The expected error on the finer grid. The errors of order 2 are those of the literature. The rates are p for p = 2
     and 4, and 5 for p = 6, whose closures have order 3 */
  static const struct {
    PetscInt  order, n;
    PetscReal error, rate;
  } cases[]         = {{2, 64, 8.52e-4, 1.9}, {2, 256, 5.41e-5, 0}, {4, 64, 7.31e-6, 3.8}, {6, 64, 1.36e-6, 4.9}};
  PetscInt failures = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    for (int exact = 1; exact >= (cases[k].rate > 0 ? 0 : 1); exact--) {
      const PetscInt fine[2] = {cases[k].n, cases[k].n}, coarse[2] = {cases[k].n / 2, cases[k].n / 2};
      PetscReal      error, before, rate = 0;

      PetscCall(TestSolve(fine, cases[k].order, exact ? PETSC_TRUE : PETSC_FALSE, &error));
      if (cases[k].rate > 0) {
        PetscCall(TestSolve(coarse, cases[k].order, exact ? PETSC_TRUE : PETSC_FALSE, &before));
        rate = PetscLog2Real(before / error);
      }
      /* Metrics from differences of the coordinates change the error, but not by much */
      if (!(PetscAbsReal(error - cases[k].error) <= (exact ? 0.005 : 0.15) * cases[k].error) || rate < cases[k].rate) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "order %" PetscInt_FMT ", N = %" PetscInt_FMT ", metrics %s: error %.4e, expected %.4e; rate %.3g, expected %.3g\n",
                              cases[k].order, cases[k].n, exact ? "exact" : "by differences", (double)error, (double)cases[k].error, (double)rate,
                              (double)cases[k].rate));
        failures++;
      }
    }
  }
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", failures ? "errors are not as expected" : "all errors are as expected"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: double

TEST*/
