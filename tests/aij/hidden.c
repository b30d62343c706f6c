/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Internal objects of Lithe are hidden: -mat_view, -vec_view and others print no more "
                     "objects than with MATAIJ.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <lithepc.h>
#include <petscdmda.h>
#include <tests/failures.h>
#include <tests/viewtest.h>

/* Options which PETSc itself obeys */
static const char *const views[] = {"-mat_view", "-vec_view", "-is_view", "-ksp_view", "-matmult_vecscatter_view", "-mat_factor_view"};
#define VIEWS PETSC_STATIC_ARRAY_LENGTH(views)

/* Typical operations of programs on a matrix */
static PetscErrorCode Operations(MatType type, const char options[], PetscBool drop, PetscInt count[])
{
  PetscOptions database;
  PetscReal    norm;
  PetscInt     n, N;
  Mat          A, B, C, D;
  Vec          x, y;

  PetscFunctionBeginUser;
  PetscCall(PushViews(VIEWS, views, &database));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_RESERVOIR, 0, &A));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 5));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMultTranspose(A, x, y));
  if (drop) PetscCall(MatVCRSDropAIJ(A));
  PetscCall(MatNorm(A, NORM_1, &norm));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatGetDiagonal(A, y));
  PetscCall(MatGetLocalSize(A, NULL, &n));
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatCreateDense(PETSC_COMM_WORLD, n, PETSC_DECIDE, N, 3, NULL, &B));
  for (int k = 0; k < 2; k++) {
    PetscCall(MatMatMult(A, B, k ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C));
    PetscCall(MatTransposeMatMult(A, B, k ? MAT_REUSE_MATRIX : MAT_INITIAL_MATRIX, PETSC_DETERMINE, &D));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 2.0));
  PetscCall(MatMult(B, x, y));
  PetscCall(MatAXPY(B, 1.0, A, SAME_NONZERO_PATTERN));
  PetscCall(MatDestroy(&B));
  PetscCall(MatShift(A, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PopViews(VIEWS, &database, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve with an SBP-SAT matrix on a grid */
static PetscErrorCode Grid(const char options[], PetscInt count[])
{
  PetscOptions database;
  Mat          A;
  KSP          ksp;
  Vec          x, b;
  DM           da;

  PetscFunctionBeginUser;
  PetscCall(PushViews(VIEWS, views, &database));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(DMDACreate2d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, 33, 33, PETSC_DECIDE, PETSC_DECIDE, 1, 4, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMDASetUniformCoordinates(da, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0));
  PetscCall(MatCreateSBPSAT(da, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-3, PETSC_CURRENT, PETSC_CURRENT, 5));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscCall(PopViews(VIEWS, &database, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *type, *options;
    PetscBool   drop;
  } ways[] = {
    {MATVCRS, "", PETSC_FALSE},
    {MATVCRS, "", PETSC_TRUE},
    {MATVCRS, "-mat_vcrs_loss log -mat_vcrs_allow_lossy_operator", PETSC_TRUE},
    {MATHYBMGPU, "", PETSC_FALSE},
    {MATHYBMGPU, "-mat_hybmgpu_format vcrs", PETSC_FALSE},
  };
  static const char *const grids[] = {"-t_pc_type sbpmg", "-t_pc_type sbpmg -t_pc_sbpmg_levels 2 -t_pc_sbpmg_dense 0",
                                      "-t_pc_type redundant -t_ksp_type cbgmres", "-t_pc_type bjacobi -t_ksp_type cbfgmres"};
  PetscInt                 plain[VIEWS], count[VIEWS], compared = 0, printed = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(Operations(MATAIJ, "", PETSC_FALSE, plain));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
    PetscCall(Operations(ways[w].type, ways[w].options, ways[w].drop, count));
    for (size_t k = 0; k < VIEWS; k++) {
      if (WRONG(count[k] > plain[k]))
        FAIL("%s %s%s: %s prints %" PetscInt_FMT " objects, with MATAIJ %" PetscInt_FMT, ways[w].type, ways[w].options, ways[w].drop ? ", dropped" : "",
             views[k], count[k], plain[k]);
      compared++;
      printed += count[k];
    }
  }
  PetscCall(Grid("-t_pc_type none", plain));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(grids); w++) {
    if (size > 1 && strstr(grids[w], "bjacobi")) continue; /* the type has no diagonal blocks */
    PetscCall(Grid(grids[w], count));
    for (size_t k = 0; k < VIEWS; k++) {
      /* PETSc orders a matrix before factorization, and views the orderings; PCREDUNDANT views two matrices of its
         own */
      if (WRONG(count[k] > plain[k] + (size > 1 && k == 0 ? 2 : 0) && strcmp(views[k], "-is_view")))
        FAIL("%s: %s prints %" PetscInt_FMT " objects, without preconditioner %" PetscInt_FMT, grids[w], views[k], count[k], plain[k]);
      compared++;
      printed += count[k];
    }
  }
  if (WRONG(compared < 45 || printed < 10)) FAIL("%" PetscInt_FMT " views were compared, with %" PetscInt_FMT " objects", compared, printed);
  return TestEnd(36, "nothing of the inside shows\n");
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
