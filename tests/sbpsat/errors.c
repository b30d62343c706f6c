/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT: errors of the manufactured problem, and their orders.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

/* The H-norm of the error. Small systems are solved directly, large systems by conjugate gradients */
static PetscErrorCode TestSolve(const PetscInt n[2], PetscInt order, PetscBool exact, PetscReal *error)
{
  System s;
  Mat    B;
  KSP    ksp;
  PC     pc;

  PetscFunctionBegin;
  PetscCall(SystemCreateWith(PETSC_COMM_WORLD, n, order, exact, &s));
  PetscCall(MatConvert(s.A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, s.A, B));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY));
  PetscCall(PCFactorSetMatOrderingType(pc, MATORDERINGND));
  PetscCall(KSPSetTolerances(ksp, 100 * PETSC_MACHINE_EPSILON, 0, PETSC_CURRENT, 3));
  PetscCall(KSPSolve(ksp, s.b, s.x));
  PetscCall(SystemError(&s, s.x, error));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&B));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  /* The expected error on the finer grid. The errors of order 2 are those of the literature. The rates are p for p = 2
     and 4, and 5 for p = 6, whose closures have order 3 */
  static const struct {
    PetscInt  order, n;
    PetscReal error, rate;
  } cases[] = {{2, 64, 8.52e-4, 1.9}, {2, 256, 5.41e-5, 0}, {4, 64, 7.31e-6, 3.8}, {6, 64, 1.36e-6, 4.9}};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
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
      if (WRONG(!(PetscAbsReal(error - cases[k].error) <= (exact ? 0.005 : 0.15) * cases[k].error) || rate < cases[k].rate))
        FAIL("order %" PetscInt_FMT ", N = %" PetscInt_FMT ", metrics %s: error %.4e, expected %.4e; rate %.3g, expected %.3g", cases[k].order, cases[k].n,
             exact ? "exact" : "by differences", (double)error, (double)cases[k].error, (double)rate, (double)cases[k].rate);
    }
  }
  return TestEnd(7, "all errors are as expected\n");
}

/*TEST

  test:
    requires: double

TEST*/
