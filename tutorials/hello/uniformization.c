/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A Markov chain over time: a queue for 50 customers, who come at rate 1 and are served at rate 1.25.\n\n";

#include <lithe.h>

int main(int argc, char **argv)
{
  Mat                  Q;
  Vec                  p, length;
  TS                   ts;
  TSUniformizationInfo info;
  PetscInt             n = 50, start, end;
  PetscScalar          mean, come = 1.0, serve = 1.25;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage()); /* not needed where PETSC_OPTIONS loads the library */

  /* dp/dt = Q^T p: row j of Q^T holds the rates into state j, and on the diagonal minus the rate out of j */
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n + 1, n + 1, 3, NULL, 2, NULL, &Q));
  PetscCall(MatCreateVecs(Q, &length, &p));
  PetscCall(MatGetOwnershipRange(Q, &start, &end));
  for (PetscInt j = start; j < end; j++) {
    if (j > 0) PetscCall(MatSetValue(Q, j, j - 1, come, INSERT_VALUES));
    if (j < n) PetscCall(MatSetValue(Q, j, j + 1, serve, INSERT_VALUES));
    PetscCall(MatSetValue(Q, j, j, (j < n ? -come : 0.0) - (j > 0 ? serve : 0.0), INSERT_VALUES));
    PetscCall(VecSetValue(length, j, (PetscReal)j, INSERT_VALUES));
    PetscCall(VecSetValue(p, j, j == 0 ? 1.0 : 0.0, INSERT_VALUES)); /* the queue is empty at first */
  }
  PetscCall(MatAssemblyBegin(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(Q, MAT_FINAL_ASSEMBLY));
  PetscCall(VecAssemblyBegin(length));
  PetscCall(VecAssemblyEnd(length));
  PetscCall(VecAssemblyBegin(p));
  PetscCall(VecAssemblyEnd(p));

  /* As for any linear right-hand side */
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, Q, Q, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetMaxTime(ts, 10.0));
  PetscCall(TSSetFromOptions(ts)); /* -ts_max_time 100, -ts_uniformization_eps 1e-4 */
  PetscCall(TSSolve(ts, p));

  PetscCall(VecDot(p, length, &mean));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.6f customers on average, after %" PetscInt64_FMT " products\n", (double)PetscRealPart(mean), info.products));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|| error of the probabilities ||_1 <= %.1e\n", (double)info.bound));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&length));
  PetscCall(MatDestroy(&Q));
  PetscCall(PetscFinalize());
  return 0;
}
