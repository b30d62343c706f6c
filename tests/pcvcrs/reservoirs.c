/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCVCRS with other types of matrices, for least squares, and ten reservoirs, where no solve may fail.\n\n";

#include <tests/pcvcrs/reservoirtest.h>

/* Two fields: interpolations of several fields, and matrices of blocks */
static PetscErrorCode TestTypes(PetscInt n)
{
  static const struct {
    MatType     type;
    const char *inner;
  } cases[] = {{MATAIJ,
                "-@pc_type mg -@pc_mg_levels 2 -@pc_mg_galerkin both -@mg_levels_ksp_type richardson -@mg_levels_pc_type jacobi -@mg_coarse_pc_type redundant"},
               {MATBAIJ, "-@pc_type ksp -@ksp_ksp_type gmres -@ksp_ksp_max_it 4 -@ksp_ksp_convergence_test skip -@ksp_pc_type pbjacobi"},
               {MATSBAIJ, "-@pc_type ksp -@ksp_ksp_type cg -@ksp_ksp_max_it 4 -@ksp_ksp_convergence_test skip -@ksp_pc_type jacobi"},
               {MATBAIJ, "-@pc_type bjacobi -@sub_ksp_type gmres -@sub_ksp_max_it 4 -@sub_ksp_convergence_test skip -@sub_pc_type pbjacobi"}};
  DM da;

  PetscFunctionBeginUser;
  PetscCall(CreateGrid(n, 2, &da));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    Mat       A;
    Vec       x;
    KSP       exact, lossless, lossy;
    PC        pc[3];
    PetscReal difference;
    PetscInt  its[2];

    PetscCall(CreateReservoir(da, 5, cases[k].type, &A));
    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(TestFillVec(x, 5));
    PetscCall(CreateSolver(da, A, KSPFGMRES, cases[k].inner, NULL, &exact));
    PetscCall(CreateSolver(da, A, KSPFGMRES, "-@pc_type vcrs -@pc_vcrs_loss none", cases[k].inner, &lossless));
    PetscCall(CreateSolver(da, A, KSPFGMRES, "-@pc_type vcrs", cases[k].inner, &lossy));
    PetscCall(KSPGetPC(exact, &pc[0]));
    PetscCall(KSPGetPC(lossless, &pc[1]));
    PetscCall(KSPGetPC(lossy, &pc[2]));
    PetscCall(Difference(pc[0], pc[1], APPLY, x, &difference));
    if (WRONG(!(difference <= TINY))) FAIL("%s, %s: without loss the results are %g apart", cases[k].type, cases[k].inner, (double)difference);
    PetscCall(Difference(pc[0], pc[2], APPLY, x, &difference));
    if (WRONG(!(difference > TINY && difference < 0.1))) FAIL("%s, %s: with loss the results are %g apart", cases[k].type, cases[k].inner, (double)difference);
    PetscCall(Iterations(exact, &its[0]));
    PetscCall(Iterations(lossy, &its[1]));
    if (WRONG(its[0] < 0 || its[1] < 0 || its[1] > 1.15 * its[0] + 1))
      FAIL("%s, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with loss", cases[k].type, cases[k].inner, its[0], its[1]);
    if (!k && size == 1) {
      Mat         P;
      const char *type;
      PetscBool   ismaij;
      PC          inner;

      PetscCall(PCVCRSGetPC(pc[2], &inner));
      PetscCall(PCMGGetInterpolation(inner, 1, &P));
      PetscCall(MatGetType(P, &type));
      PetscCall(PetscObjectTypeCompareAny((PetscObject)P, &ismaij, MATSEQMAIJ, MATMPIMAIJ, ""));
      if (WRONG(!ismaij)) FAIL("this test wants interpolations of several fields, not of type %s", type);
    }
    PetscCall(KSPDestroy(&exact));
    PetscCall(KSPDestroy(&lossless));
    PetscCall(KSPDestroy(&lossy));
    PetscCall(VecDestroy(&x));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Least squares: the preconditioner belongs to the normal equations */
static PetscErrorCode TestLeastSquares(DM da)
{
  PetscReal norm;
  PetscInt  its[2];
  Mat       A, B, C;

  PetscFunctionBeginUser;
  PetscCall(CreateReservoir(da, 7, MATAIJ, &A));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatShift(A, (PetscScalar)((PetscReal)0.02 * norm)));
  PetscCall(MatTransposeMatMult(A, A, MAT_INITIAL_MATRIX, PETSC_DEFAULT, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  for (int k = 0; k < 2; k++) {
    KSP ksp;
    Vec x, b;

    PetscCall(
      CreateSolver(NULL, B, KSPLSQR, k ? "-@pc_type vcrs" : "-@pc_type bjacobi -@sub_pc_type icc", k ? "-@pc_type bjacobi -@sub_pc_type icc" : NULL, &ksp));
    PetscCall(KSPSetOperators(ksp, C, B));
    PetscCall(MatCreateVecs(C, &x, &b));
    PetscCall(TestFillVec(b, 5));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(Iterations(ksp, &its[k]));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(KSPDestroy(&ksp));
  }
  if (WRONG(its[0] < 0 || its[1] < 0 || its[1] > 1.15 * its[0] + 1))
    FAIL("least squares: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with loss", its[0], its[1]);
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* If the exact preconditioner converges, the compressed preconditioner must converge too, and not much later */
static PetscErrorCode TestSeeds(DM da, PetscInt seeds, PetscBool verbose)
{
  static const struct {
    const char *ksp, *inner;
    PetscBool   one; /* for one process only */
  } cases[] = {{KSPBCGS, "-@pc_type ilu", PETSC_TRUE},
               {KSPCG, "-@pc_type icc", PETSC_TRUE},
               {KSPFGMRES, "-@pc_type ilu -@pc_factor_levels 1 -@pc_factor_mat_ordering_type rcm", PETSC_TRUE},
               {KSPCG, "-@pc_type gamg", PETSC_FALSE},
               {KSPBCGS, "-@pc_type gamg -@mg_levels_ksp_type richardson -@mg_levels_pc_type bjacobi -@mg_levels_sub_pc_type ilu", PETSC_FALSE},
               {KSPCG, "-@pc_type bjacobi -@pc_bjacobi_blocks 8 -@sub_pc_type icc", PETSC_FALSE},
               {KSPBCGS, "-@pc_type asm -@sub_pc_type ilu", PETSC_FALSE}};

  PetscFunctionBeginUser;
  for (PetscInt seed = 10; seed < 10 + seeds; seed++) {
    Mat A;

    PetscCall(CreateReservoir(da, seed, MATAIJ, &A));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
      /* by substitution, and by sweeps */
      static const char *const options[] = {"-@pc_type vcrs", "-@pc_type vcrs -@pc_vcrs_factor_solve jacobi"};
      PetscInt                 its[3];
      KSP                      ksp;

      if (cases[k].one && size > 1) continue;
      for (int i = 0; i < 3; i++) {
        PetscCall(CreateSolver(da, A, cases[k].ksp, i ? options[i - 1] : cases[k].inner, i ? cases[k].inner : NULL, &ksp));
        PetscCall(Iterations(ksp, &its[i]));
        PetscCall(KSPDestroy(&ksp));
      }
      if (verbose)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              "seed %" PetscInt_FMT ", %s %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " and %" PetscInt_FMT " with loss\n", seed,
                              cases[k].ksp, cases[k].inner, its[0], its[1], its[2]));
      if (WRONG(its[0] < 0)) FAIL("seed %" PetscInt_FMT ", %s: the exact preconditioner does not converge", seed, cases[k].inner);
      /* iterations of BiCGSTAB are erratic: rounding changes them by a tenth */
      for (int i = 1; i < 3; i++) {
        if (WRONG(its[i] < 0 || its[i] > 1.15 * its[0] + (strcmp(cases[k].ksp, KSPBCGS) ? 1 : 5)))
          FAIL("seed %" PetscInt_FMT ", %s %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with loss, %s", seed, cases[k].ksp, cases[k].inner, its[0],
               its[i], i == 1 ? "substitution" : "sweeps");
      }
    }
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  DM        da;
  PetscInt  n = 13, seeds = 10;
  PetscBool verbose = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seeds", &seeds, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-verbose", &verbose, NULL));
  PetscCall(CreateGrid(n, 1, &da));
  PetscCall(TestTypes(PetscMin(n, 9)));
  PetscCall(TestLeastSquares(da));
  PetscCall(TestSeeds(da, seeds, verbose));
  PetscCall(DMDestroy(&da));
  return TestEnd(18, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  test:
    suffix: 2
    nsize: 2
    args: -seeds 1
    output_file: output/right.out

TEST*/
