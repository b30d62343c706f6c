/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Rectangular matrices: solvers for square matrices refuse them with the numbers of rows and columns, and least squares work.\n\n";

#include <lithe.h>
#include <tests/refused.h>

/* 1 on the diagonal, and 1 to the right */
static PetscErrorCode Create(PetscInt rows, PetscInt columns, MatType type, Mat *A)
{
  PetscInt start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, columns, 2, NULL, 2, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt i = start; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i % columns, 2.0, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, (i + 1) % columns, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatConvert(*A, type, MAT_INPLACE_MATRIX, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* P: the second matrix of KSPSetOperators() */
static PetscErrorCode CreateKSP(Mat A, Mat P, const char ksptype[], const char pctype[], const char inner[], KSP *ksp)
{
  PC pc;

  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "a_"));
  PetscCall(KSPSetOperators(*ksp, A, P));
  PetscCall(KSPSetType(*ksp, ksptype));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetType(pc, pctype));
  if (inner) {
    PetscCall(PCVCRSGetPC(pc, &pc));
    PetscCall(PCSetType(pc, inner));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShape(PetscInt rows, PetscInt columns, MatType type)
{
  static const char *const solvers[][4] = {{KSPCBGMRES, PCNONE, NULL, "-a_ksp_type cbgmres"}, {KSPCBFGMRES, PCJACOBI, NULL, "-a_ksp_type cbfgmres"},
                                           {KSPBCGSM, PCNONE, NULL, "-a_ksp_type bcgsm"},     {KSPCG, PCVCRS, PCJACOBI, "-a_pc_type vcrs"},
                                           {KSPCG, PCVCRS, PCBJACOBI, "-a_pc_type vcrs"},     {KSPLSQR, PCVCRS, PCNONE, "-a_pc_type vcrs"},
                                           {KSPCG, PCGRIDMG, NULL, "-a_pc_type gridmg"},      {KSPCG, PCSBPMG, NULL, "-a_pc_type sbpmg"}};
  const PetscBool          tall         = (PetscBool)(rows > columns);
  Mat                      A, N;
  Vec                      x, b, r, g;
  KSP                      ksp;
  PetscReal                norm[2];

  PetscFunctionBeginUser;
  PetscCall(Create(rows, columns, type, &A));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(solvers); s++) {
    PetscCall(CreateKSP(A, A, solvers[s][0], solvers[s][1], solvers[s][2], &ksp));
    if (tall) TEST_REFUSED(solvers[s][3], KSPSetUp(ksp), "rectangular", "9 rows", "6 columns", "-ksp_type lsqr");
    else TEST_REFUSED(solvers[s][3], KSPSetUp(ksp), "rectangular", "6 rows", "9 columns", "-ksp_type lsqr");
    PetscCall(KSPDestroy(&ksp));
  }

  /* least squares without a preconditioner, and with a preconditioner of the normal equations: A^T r is 0 */
  PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &N));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecSetRandom(b, NULL));
  PetscCall(MatMultTranspose(A, b, g));
  PetscCall(VecNorm(g, NORM_2, &norm[0]));
  for (int k = 0; k < (tall ? 2 : 1); k++) {
    if (k == 0) PetscCall(CreateKSP(A, A, KSPLSQR, PCNONE, NULL, &ksp));
    else PetscCall(CreateKSP(A, N, KSPLSQR, PCVCRS, PCJACOBI, &ksp));
    PetscCall(KSPSetTolerances(ksp, PETSC_SQRT_MACHINE_EPSILON, PETSC_CURRENT, PETSC_CURRENT, 1000));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(MatMultTranspose(A, r, g));
    PetscCall(VecNorm(g, NORM_2, &norm[1]));
    if (WRONG(!(norm[1] <= 1e-3 * norm[0]))) FAIL("%s, least squares %d: the gradient is %g, at first %g", type, k, (double)norm[1], (double)norm[0]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&N));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const types[] = {MATAIJ, MATVCRS, MATHYBMGPU};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    PetscCall(TestShape(9, 6, types[t]));
    PetscCall(TestShape(6, 9, types[t]));
  }
  if (count < 48) FAIL("only %" PetscInt_FMT " refusals", count);
  return TestEnd(9, "rectangular matrices are refused\n");
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
