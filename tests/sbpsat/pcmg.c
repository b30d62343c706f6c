/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT under PETSc's own multigrid on a DMDA: coarse operators by discretisation, direct solves on the coarsest grid.\n\n";

#include <lithe.h>
#include <lithe/private/petsccompat.h>
#include <petscksp.h>
#include <tests/matview.h>
#include <tests/sbpmg/sbpmgtest.h>

/* On every level except the finest: the settings of the finest matrix must have reached the coarse matrices
   automatically */
static PetscErrorCode ComputeOperators(PETSC_UNUSED KSP ksp, PETSC_UNUSED Mat A, Mat P, void *ctx)
{
  const PetscInt *expected = (const PetscInt *)ctx;
  PetscInt        n, order;
  PetscBool       dirichlet[4];
  PetscBool       mu;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(P, &n, NULL));
  PetscCall(MatSBPSATGetOrder(P, &order));
  PetscCall(MatSBPSATGetDirichlet(P, dirichlet));
  PetscCall(MatViewHas(P, "coefficients: from coordinates and mu", &mu));
  if (!mu) PetscCall(MatViewHas(P, "coefficients: given", &mu));
  PetscCheck(order == *expected && dirichlet[0] && dirichlet[1] && !dirichlet[2] && !dirichlet[3] && mu, PETSC_COMM_WORLD, PETSC_ERR_PLIB,
             "The settings did not come down to %" PetscInt_FMT " nodes", n);
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt           n[2] = {64, 64}, order = 2, its, bound = 30, two = 2;
  PetscBool          exact = PETSC_FALSE;
  System             s;
  KSP                ksp;
  PetscReal          error, expected = 0;
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetIntArray(NULL, NULL, "-n", n, &two, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-iterations", &bound, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-expected", &expected, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-exact", &exact, NULL));

  PetscCall(SystemCreateWith(PETSC_COMM_WORLD, n, order, exact, &s));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetDM(ksp, s.da));
  PetscCall(KSPSetDMActive(ksp, KSP_DMACTIVE_ALL, PETSC_FALSE));
  PetscCall(DMKSPSetComputeOperators(s.da, ComputeOperators, &order));
  PetscCall(KSPSetOperators(ksp, s.A, s.A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 1e-10, PETSC_CURRENT, PETSC_CURRENT, 200));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, s.b, s.x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(SystemError(&s, s.x, &error));
  if (reason > 0 && its <= bound && PetscAbsReal(error - expected) <= 0.01 * expected) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "solved\n"));
  else
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s in %" PetscInt_FMT " iterations, error %.4e, expected %.4e in at most %" PetscInt_FMT "\n",
                          KSPConvergedReasons[reason], its, (double)error, (double)expected, bound));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: double
    args: -pc_type mg -mg_levels_ksp_type chebyshev -mg_levels_pc_type jacobi -mg_levels_ksp_max_it 3
    output_file: output/pcmg_1.out
    test:
      suffix: 2
      args: -pc_mg_levels 4 -iterations 14 -expected 9.55e-4
    test:
      suffix: 2_exact
      args: -pc_mg_levels 5 -iterations 14 -exact -expected 8.52e-4
    test:
      suffix: 2_cholesky
      args: -pc_mg_levels 3 -iterations 14 -expected 9.55e-4 -mg_coarse_pc_type cholesky
    test:
      suffix: 2_fly
      args: -pc_mg_levels 4 -iterations 14 -expected 9.55e-4 -mat_sbpsat_metrics fly
    test:
      suffix: 2_parallel
      nsize: 4
      args: -pc_mg_levels 4 -iterations 14 -expected 9.55e-4
    test:
      suffix: 2_cuda
      requires: cuda
      nsize: {{1 2}}
      args: -pc_mg_levels 4 -iterations 14 -expected 9.55e-4 -dm_vec_type cuda
    test:
      suffix: 4
      nsize: {{1 2}}
      args: -pc_mg_levels 3 -order 4 -iterations 40 -expected 8.31e-6
    test:
      suffix: 6
      args: -pc_mg_levels 2 -order 6 -iterations 60 -expected 1.364e-6

TEST*/
