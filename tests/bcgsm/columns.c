/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPBCGSM: each column of KSPMatSolve() against KSPBCGS alone: usual and singular systems, products, shells, new entries.\n\n";

#include "bcgsmtest.h"
#include <tests/shell.h>

/* ---- Usual systems ---- */

typedef struct {
  const char *options;
  PetscBool   guess, alone, transpose;
} Case;

static const Case cases[] = {
  {"-pc_type none", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi", PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
  {"-pc_type jacobi -ksp_pc_side right", PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
  {"-pc_type bjacobi -sub_pc_type ilu", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_initial_guess_nonzero", PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type bjacobi -ksp_pc_side right -ksp_initial_guess_nonzero", PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_initial_guess_nonzero -ksp_converged_use_initial_residual_norm", PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_norm_type none -ksp_max_it 5", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_max_it 4", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_min_it 12 -ksp_rtol 1e-2", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_check_norm_iteration 6", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_rtol 0 -ksp_atol 1e-3", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type none -ksp_divtol 1.01", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_matsolve_batch_size 3", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_matsolve_batch_size 3 -ksp_max_it 4", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_matsolve_batch_size 1 -ksp_initial_guess_nonzero", PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type jacobi -ksp_initial_guess_knoll -ksp_matsolve_batch_size 3", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type gamg", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type vcrs -vcrs_pc_type bjacobi", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type vcrs -vcrs_pc_type gamg -ksp_pc_side right", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type vcrs -vcrs_pc_type gamg -vcrs_mg_levels_ksp_type richardson -vcrs_mg_levels_pc_type jacobi", PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
  {"-pc_type vcrs -vcrs_pc_type ilu -vcrs_pc_factor_mat_ordering_type rcm", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
  {"-pc_type vcrs -vcrs_pc_type ilu -pc_vcrs_factor_solve jacobi", PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
  {"-pc_type eisenstat", PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
};

static PetscErrorCode TryUsual(MPI_Comm comm)
{
  const PetscInt numbers[] = {1, 3, 5, 17};
  PetscInt       every     = 1; /* use every n-th case: oversubscribed processes wait long for each other, and solves with many columns wait most */
  PetscMPIInt    size;
  Mat            A, B, G;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(TestCreateOperator(comm, TEST_CONVECTION, 0, &A));
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c += (size_t)every) {
    const PetscInt n = PetscMin(numbers[c % PETSC_STATIC_ARRAY_LENGTH(numbers)] + 1, size > 1 ? 4 : 32);

    if (cases[c].alone && size > 1) continue;
    PetscCall(CreateBlock(A, n, &B));
    PetscCall(FillBlock(B, 10 * (int)c));
    PetscCall(CreateBlock(A, n, &G));
    if (cases[c].guess) PetscCall(FillBlock(G, 500 + 10 * (int)c));
    for (int how = SOLVE; how <= (cases[c].transpose ? TRANSPOSE : SOLVE); how++)
      PetscCall(Compare(A, cases[c].options, (How)how, B, cases[c].guess ? G : NULL, "convection"));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&G));
  }
  PetscCall(MatDestroy(&A));

  /* symmetric; complex: symmetric and not Hermitian, as for waves */
  PetscCall(TestCreateOperator(comm, TEST_BOX27, 0, &A));
  PetscCall(CreateBlock(A, 6, &B));
  PetscCall(FillBlock(B, 3));
  PetscCall(Compare(A, "-pc_type bjacobi -ksp_pc_side right", SOLVE, B, NULL, "box27"));
  PetscCall(Compare(A, "-pc_type jacobi", TRANSPOSE, B, NULL, "box27"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A singular system, with its null space ---- */

static PetscErrorCode TryNullSpace(MPI_Comm comm)
{
  MatNullSpace null;
  Mat          A, B;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(comm, TEST_NEUMANN, 0, &A));
  PetscCall(MatNullSpaceCreate(comm, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(MatSetTransposeNullSpace(A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(CreateBlock(A, 4, &B));
  PetscCall(FillBlock(B, 77));
  PetscCall(Compare(A, "-pc_type jacobi -ksp_rtol 1e-4 -ksp_max_it 15", SOLVE, B, NULL, "null space"));
  PetscCall(Compare(A, "-pc_type none -ksp_rtol 1e-3 -ksp_max_it 12 -ksp_pc_side right", SOLVE, B, NULL, "null space"));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Products with blocks whose columns stand apart, against those with their columns ---- */

static PetscErrorCode CompareProduct(Mat A, How how, Mat B, Mat C, const char name[])
{
  PetscInt n;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(B, NULL, &n));
  for (PetscInt j = 0; j < n; j++) {
    PetscReal norm, difference;
    Vec       b, c, y;

    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecRead(C, j, &c));
    PetscCall(VecDuplicate(c, &y));
    PetscCall((*(how == SOLVE ? MatMult : MatMultTranspose))(A, b, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecAXPY(y, -1.0, c));
    PetscCall(VecNorm(y, NORM_2, &difference));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDenseRestoreColumnVecRead(C, j, &c));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
    if (WRONG(!(difference <= (PetscReal)1000.0 * PETSC_MACHINE_EPSILON * norm)))
      FAIL("%s: column %" PetscInt_FMT " of %" PetscInt_FMT " of a product differs by %g of %g", name, j, n, (double)difference, (double)norm);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TryProducts(MPI_Comm comm)
{
  const TestKind kinds[]   = {TEST_RANDOM, TEST_BOX27, TEST_LONGROWS}; /* the first kind has empty rows */
  const PetscInt numbers[] = {0, 1, 3, 5, 17};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    PetscBool ours;
    Mat       A;

    PetscCall(TestCreateOperator(comm, kinds[k], 0, &A));
    PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &ours, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
    for (size_t i = ours ? 0 : 1; /* MATAIJ does not multiply with no columns */ i < PETSC_STATIC_ARRAY_LENGTH(numbers); i++) {
      for (int how = SOLVE; how <= TRANSPOSE; how++) {
        Mat B, C = NULL;

        PetscCall(CreateBlock(A, numbers[i], &B));
        for (int round = 0; round < 2; round++) {
          PetscCall(FillBlock(B, 31 * round));
          if (how == SOLVE) PetscCall(MatMatMult(A, B, round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C));
          else PetscCall(MatTransposeMatMult(A, B, round ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C));
          PetscCall(CompareProduct(A, (How)how, B, C, TestKindNames[kinds[k]]));
        }
        PetscCall(MatDestroy(&C));
        PetscCall(MatDestroy(&B));
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Nothing to solve, other types of operators, new entries ---- */

static PetscErrorCode TryRest(MPI_Comm comm)
{
  KSPConvergedReason reason;
  PetscInt           told;
  VecType            type;
  Mat                A, S, B, X;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(comm, TEST_CONVECTION, 0, &A));
  PetscCall(TestCreateKSP(A, "-ksp_type bcgsm -pc_type jacobi", &ksp));
  PetscCall(CreateBlock(A, 0, &B));
  PetscCall(CreateBlock(A, 0, &X));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, NULL, NULL));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (WRONG(told != 0 || reason <= 0)) FAIL("no columns: %" PetscInt_FMT " of them, %s", told, KSPConvergedReasons[reason]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));

  PetscCall(CreateBlock(A, 4, &B));
  PetscCall(FillBlock(B, 9));
  PetscCall(TestShell(A, PETSC_FALSE, PETSC_FALSE, &S));
  PetscCall(MatGetVecType(A, &type));
  PetscCall(MatSetVecType(S, type));
  PetscCall(Compare(S, "-pc_type none", SOLVE, B, NULL, "shell"));
  PetscCall(MatDestroy(&S));

  /* entries which change between solves */
  PetscCall(CreateBlock(A, 4, &X));
  PetscCall(TestCreateKSP(A, "-ksp_type bcgsm -pc_type bjacobi", &ksp));
  for (int round = 0; round < 2; round++) {
    PetscReal residual;
    Vec       b, x;

    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(MatDenseGetColumnVecRead(B, 3, &b));
    PetscCall(MatDenseGetColumnVecRead(X, 3, &x));
    PetscCall(TestResidual(A, x, b, &residual));
    PetscCall(MatDenseRestoreColumnVecRead(X, 3, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, 3, &b));
    if (WRONG(!(residual <= (PetscReal)1e-4))) FAIL("entries of round %d: a residual of %g", round, (double)residual);
    PetscCall(MatShift(A, 3.0));
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(TryUsual(PETSC_COMM_WORLD));
  PetscCall(TryNullSpace(PETSC_COMM_WORLD));
  PetscCall(TryProducts(PETSC_COMM_WORLD));
  PetscCall(TryRest(PETSC_COMM_WORLD));
  return TestEnd(880, "each column is as alone: all is right\n");
}

/*TEST

  testset:
    output_file: output/columns_1.out

    test:
      args: -operator_types {{aij vcrs}}

    test:
      suffix: 2
      nsize: 2
      args: -operator_types {{aij vcrs}} -every 2 -test_least 700

    test:
      suffix: 3
      nsize: 3
      args: -operator_types vcrs -every 9 -test_least 500

    # -checkfunctionlist 0: as in vcrs/conversions
    test:
      suffix: cuda
      requires: cuda
      args: -checkfunctionlist 0 -operator_types {{aijcusparse aijcusparse,vcrs}} -every 2 -test_least 800

TEST*/
