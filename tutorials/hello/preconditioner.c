/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A preconditioner in fewer bytes: CG, with incomplete factors whose entries take 8 bits.\n\n";

#include <lithe.h>

int main(int argc, char **argv)
{
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  PC                 pc;
  PCVCRSInfo         info;
  KSPConvergedReason reason;
  PetscInt           n = 100, start, end, its;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage()); /* not needed where PETSC_OPTIONS loads the library */
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));

  /* Diffusion on n x n points, 10 times faster along columns than along rows of the grid: PETSc's own AIJ */
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n, 5, NULL, 5, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt i = row % n, j = row / n, column[5] = {row, i > 0 ? row - 1 : -1, i < n - 1 ? row + 1 : -1, j > 0 ? row - n : -1, j < n - 1 ? row + n : -1};
    const PetscScalar value[5] = {22.0, -1.0, -1.0, -10.0, -10.0};

    PetscCall(MatSetValues(A, 1, &row, 5, column, value, INSERT_VALUES)); /* without columns that are negative */
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));

  /* PCVCRS applies its inner preconditioner, PCICC or the type of -vcrs_pc_type, from compressed copies */
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCVCRS));
  PetscCall(KSPSetFromOptions(ksp)); /* -vcrs_pc_type gamg, -pc_vcrs_bits 16, -pc_type icc */
  PetscCall(KSPSolve(ksp, b, x));

  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(PCVCRSGetInfo(pc, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s after %" PetscInt_FMT " iterations\n", KSPConvergedReasons[reason], its));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "factors: %g bytes, exact ones %g: %.1f times fewer\n", info.bytes, info.exactbytes, info.exactbytes / info.bytes));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
