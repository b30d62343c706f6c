/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "GMRES with a compressed basis: convection and diffusion, upwind, on n x n points.\n\n";

#include <lithe.h>

int main(int argc, char **argv)
{
  Mat            A;
  Vec            x, b, r;
  KSP            ksp;
  KSPCBGMRESInfo info;
  PetscInt       n = 100, start, end;
  PetscReal      norm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage()); /* not needed where PETSC_OPTIONS loads the library */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  /* The wind blows along rows and columns of the grid */
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n, column[5] = {row, i > 0 ? row - 1 : -1, i < n - 1 ? row + 1 : -1, j > 0 ? row - n : -1, j < n - 1 ? row + n : -1};
    const PetscScalar value[5] = {4.3, -1.2, -1.0, -1.1, -1.0};

    PetscCall(MatSetValues(A, 1, &row, 5, column, value, INSERT_VALUES)); /* without columns that are negative */
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCBGMRES));
  PetscCall(KSPCBGMRESSetStorage(ksp, "frsz2_32")); /* 32.25 bits per number of the basis */
  PetscCall(KSPSetTolerances(ksp, 1e-6, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSetFromOptions(ksp)); /* -ksp_cbgmres_storage half, -ksp_gmres_restart 100, -ksp_type gmres */
  PetscCall(KSPSolve(ksp, b, x));

  /* The true residual, over || b || = n */
  PetscCall(KSPCBGMRESGetInfo(ksp, &info));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatResidual(A, b, x, r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(KSPConvergedReasonView(ksp, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "true residual %.1e\n", (double)(norm / (PetscReal)n)));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "basis: %s, %g bytes, uncompressed %g: %.1f times fewer\n", info.storage, info.bytes, info.uncompressed,
                        info.uncompressed / info.bytes));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
