/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Internal objects of PCVCRS are hidden in the output of a program: -mat_view, -vec_view and others print the same "
                     "objects as without PCVCRS.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>
#include <tests/viewtest.h>

/* Options which PETSc itself obeys, and the beginning of the output of each */
static const char *const views[] = {"-mat_view", "-mat_factor_view", "-vec_view", "-is_view", "-ksp_view", "-pc_view", "-matmult_vecscatter_view", "-sf_view"};
#define VIEWS PETSC_STATIC_ARRAY_LENGTH(views)

static const char *const inner[] = {
  "-@pc_type sor",
  "-@pc_type ilu -@pc_factor_mat_ordering_type rcm",
  "-@pc_type icc",
  "-@pc_type lu",
  "-@pc_type bjacobi -@sub_pc_type ilu",
  "-@pc_type asm -@sub_pc_type icc",
  "-@pc_type gamg -@mg_levels_pc_type sor",
  "-@pc_type redundant",
  "-@pc_type ksp -@ksp_ksp_type richardson -@ksp_ksp_max_it 2 -@ksp_pc_type sor",
  "-@pc_type fieldsplit -@pc_fieldsplit_block_size 2 -@fieldsplit_pc_type sor -@fieldsplit_ksp_type richardson -@fieldsplit_ksp_max_it 2",
};

/* Solves with a matrix, with new values, and with changed options of the preconditioner; counts the output of each
   view */
static PetscErrorCode Solve(MatType type, const char options[], const char vcrs[], const char more[], PetscInt count[])
{
  PetscOptions database;
  Mat          A;
  KSP          ksp;
  Vec          x, b;

  PetscFunctionBeginUser;
  PetscCall(PushViews(VIEWS, views, &database));
  if (vcrs) PetscCall(SetOptions(vcrs, "t_"));
  PetscCall(SetOptions(options, vcrs ? "t_vcrs_" : "t_"));
  if (more) PetscCall(PetscOptionsInsertString(NULL, more));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_RESERVOIR, 0, &A));
  PetscCall(MatSetOption(A, MAT_SPD, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_SPD_ETERNAL, PETSC_TRUE));
  PetscCall(MatConvert(A, type, MAT_INPLACE_MATRIX, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 5));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "t_"));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPFGMRES));
  PetscCall(KSPSetTolerances(ksp, 1e-4, PETSC_CURRENT, PETSC_CURRENT, 20));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatScale(A, 2.0));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PopViews(VIEWS, &database, count));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const ways[]   = {"-@pc_type vcrs", "-@pc_type vcrs -@pc_vcrs_loss fixed", "-@pc_type vcrs -@pc_vcrs_factor_solve jacobi"};
  static const char *const types[]  = {MATAIJ, MATSBAIJ};
  PetscInt                 compared = 0, printed = 0, copies[VIEWS];

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(inner); k++) {
    if (size > 1 && (strstr(inner[k], "-@pc_type ilu") || strstr(inner[k], "-@pc_type icc") || strstr(inner[k], "-@pc_type lu"))) continue;
    /* On several processes PCGAMG of PETSc 3.26 crashes with -mat_view: PETSc views a product before the product has
       values */
    if (size > 1 && strstr(inner[k], "gamg")) continue;
    for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
      PetscInt plain[VIEWS], count[VIEWS];

      /* preconditioners which accept MATSBAIJ */
      if (t && !strstr(inner[k], "icc")) continue;
      PetscCall(Solve(types[t], inner[k], NULL, NULL, plain));
      for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
        PetscCall(Solve(types[t], inner[k], ways[w], NULL, count));
        for (size_t i = 0; i < VIEWS; i++) {
          if (WRONG(count[i] != plain[i]))
            FAIL("%s, %s, %s: %s prints %" PetscInt_FMT " objects, without PCVCRS %" PetscInt_FMT, types[t], inner[k], ways[w], views[i], count[i], plain[i]);
          printed += count[i];
          compared++;
        }
      }
    }
  }
  /* The copies have a separate prefix, and options of matrices act on copies with this prefix only */
  PetscCall(Solve(MATAIJ, inner[0], ways[0], "-t_vcrs_copy_mat_view ascii:hidden_0.txt::append", copies));
  if (WRONG(copies[0] < 2)) FAIL("-t_vcrs_copy_mat_view: %" PetscInt_FMT " objects", copies[0]);
  PetscCall(Solve(MATAIJ, inner[0], ways[0], "-mat_vcrs_layout l2 -mat_vcrs_loss none -mat_vcrs_transport none", copies));
  if (WRONG(compared < 80 || printed < 20)) FAIL("%" PetscInt_FMT " views were compared, with %" PetscInt_FMT " objects", compared, printed);
  return TestEnd(120, "nothing of the inside shows\n");
}

/*TEST

  test:
    nsize: {{1 2}}

TEST*/
