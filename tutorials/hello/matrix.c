/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A matrix in fewer bytes: a Laplacian on a grid of n x n points as a MATVCRS.\n\n";

#include <lithe.h>

int main(int argc, char **argv)
{
  Mat         A;
  Vec         x, y;
  MatVCRSInfo info;
  PetscInt    n = 300, start, end;
  PetscReal   norm;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage()); /* not needed where PETSC_OPTIONS loads the library */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  /* The matrix is filled as any AIJ matrix. Only the type differs */
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(A, MATVCRS));
  PetscCall(MatSetFromOptions(A)); /* -mat_vcrs_loss log -mat_vcrs_allow_lossy_operator, -mat_type aij */
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n;

    PetscCall(MatSetValue(A, row, row, 4.0, INSERT_VALUES));
    if (i > 0) PetscCall(MatSetValue(A, row, row - 1, -1.0, INSERT_VALUES));
    if (i < n - 1) PetscCall(MatSetValue(A, row, row + 1, -1.0, INSERT_VALUES));
    if (j > 0) PetscCall(MatSetValue(A, row, row - n, -1.0, INSERT_VALUES));
    if (j < n - 1) PetscCall(MatSetValue(A, row, row + n, -1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));

  /* A product. With a vector of ones, only the rows at the boundary are not zero */
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_1, &norm));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "|| A 1 ||_1 = %g, exactly %" PetscInt_FMT "\n", (double)norm, 4 * n));

  /* The memory of the compressed matrix */
  PetscCall(MatVCRSGetInfo(A, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%g bytes, AIJ %g: %.1f times fewer; largest error of an entry %g\n", info.bytes, info.aijbytes,
                        info.aijbytes / info.bytes, (double)info.maxabserror));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
