/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCSBPMG for L (a A + diag(d)) R, as implicit steps of time have: iterations for shifts of any size, signs, "
                     "Neumann faces; indefinite matrices.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

/* H x H as a vector: a source of 1 with J = 1 */
static PetscErrorCode Weights(System *s, Vec w)
{
  Vec one, tensor[3], jacobian;
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &one));
  PetscCall(VecSet(one, 1.));
  PetscCall(VecDuplicate(w, &jacobian));
  PetscCall(VecSet(jacobian, 1.));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecDuplicate(w, &tensor[k]));
    PetscCall(VecSet(tensor[k], k < 2 ? 1. : 0.));
  }
  PetscCall(MatDuplicate(s->A, MAT_DO_NOT_COPY_VALUES, &A));
  PetscCall(MatSBPSATSetTensor(A, tensor[0], tensor[1], tensor[2], jacobian));
  PetscCall(VecSet(w, 0.));
  PetscCall(MatSBPSATAddSource(A, one, w));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&tensor[k]));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&jacobian));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations for a random right-hand side; fails above a bound */
static PetscErrorCode Solve(System *s, Mat A, const char ksptype[], const char options[], PetscInt most, PetscReal unit, const char what[], PetscInt *its)
{
  KSPConvergedReason reason;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(FillNoise(s->da, 7, s->b));
  PetscCall(VecScale(s->b, unit));
  PetscCall(SolverCreate(A, ksptype, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-8 : (PetscReal)1e-4, options, &ksp));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, 0, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  if (WRONG(reason <= 0 || *its > most))
    FAIL("%s %s: %s, %" PetscInt_FMT " iterations, more than %" PetscInt_FMT, what, options, KSPConvergedReasons[reason], *its, most);
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A right-hand side with constants for a nearly singular matrix: constants of the solution are so large that their
   rounding errors alone exceed the tolerance. A solver may end as converged only if the true residual is small
*/
static PetscErrorCode TestTruth(System *s, Mat A, const char options[], const char what[])
{
  const PetscReal    rtol = PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-8 : (PetscReal)1e-4;
  KSPConvergedReason reason;
  PetscReal          norm[2];
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(FillNoise(s->da, 7, s->b));
  PetscCall(SolverCreate(A, KSPCG, rtol, options, &ksp));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, 0, PETSC_CURRENT, PETSC_CURRENT));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(VecNorm(s->b, NORM_2, &norm[0]));
  PetscCall(VecScale(s->b, -1));
  PetscCall(MatMultAdd(A, s->x, s->b, s->b));
  PetscCall(VecNorm(s->b, NORM_2, &norm[1]));
  if (WRONG(reason > 0 && norm[1] > 10 * rtol * norm[0])) FAIL("%s: %s with the residual %g", what, KSPConvergedReasons[reason], (double)(norm[1] / norm[0]));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shifts of any size, times H x H, on grids of three sizes: the number of iterations does not grow with either */
static PetscErrorCode TestShifts(PetscBool neumann, PetscInt order, const char options[], PetscInt most)
{
  static const PetscReal shifts[] = {0, 1e-300, 1e-10, 1e-2, 30, 1e3, 1e6, 1e20, 1e300};
  const PetscBool        none[4]  = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};

  PetscFunctionBeginUser;
  for (PetscInt N = 32; N <= (size > 1 ? 64 : 128); N *= 2) {
    System   s;
    Vec      w;
    PetscInt its;

    PetscCall(SystemCreate(PETSC_COMM_WORLD, N, N, order, &s));
    if (neumann) PetscCall(MatSBPSATSetDirichlet(s.A, none));
    PetscCall(VecDuplicate(s.x, &w));
    PetscCall(Weights(&s, w));
    for (size_t k = neumann ? 1 : 0; k<PETSC_STATIC_ARRAY_LENGTH(shifts); k += size> 1 ? 2 : 1) {
      char what[128], *found;
      Mat  M;
      Vec  d;

      if (!PetscDefined(USE_REAL_DOUBLE) && (shifts[k] > 1e6 || (shifts[k] > 0 && shifts[k] < 1e-2))) continue;
      PetscCall(PetscSNPrintf(what, sizeof(what), "N = %" PetscInt_FMT ", order %" PetscInt_FMT "%s, shift %g", N, order, neumann ? ", Neumann" : "",
                              (double)shifts[k]));
      PetscCall(MatDuplicate(s.A, MAT_COPY_VALUES, &M));
      PetscCall(VecDuplicate(w, &d));
      PetscCall(VecCopy(w, d));
      PetscCall(VecScale(d, shifts[k]));
      PetscCall(MatDiagonalSet(M, d, ADD_VALUES));
      if (neumann && shifts[k] < 1e-6) { /* nearly singular: for one process, and right-hand sides without constants */
        MatNullSpace constants;

        if (shifts[k] > 1e-30) PetscCall(TestTruth(&s, M, options, what));
        PetscCall(PetscStrstr(options, "dense", &found));
        if (size == 1 && !found) {
          PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
          PetscCall(MatSetNullSpace(M, constants));
          PetscCall(Solve(&s, M, KSPCG, options, most, 1, what, &its));
          PetscCall(MatNullSpaceDestroy(&constants));
        }
      } else PetscCall(Solve(&s, M, KSPCG, options, most, shifts[k] > 1e30 ? 1e100 : 1, what, &its));
      PetscCall(PetscInfo(M, "%s %s: %" PetscInt_FMT "\n", what, options, its));
      PetscCall(VecDestroy(&d));
      PetscCall(MatDestroy(&M));
    }
    PetscCall(VecDestroy(&w));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales of both signs and any size, and scales from the left and the right; a change is seen by the next solve */
static PetscErrorCode TestScales(System *s, Vec w)
{
  static const PetscReal scales[] = {-1, 1e200, -1e-200, 0};
  PetscInt               its, first = 0;
  Vec                    left, right;
  KSP                    ksp;
  Mat                    M;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(scales); k++) {
    const PetscReal unit = scales[k] == 0 ? 1 : scales[k];

    if (!PetscDefined(USE_REAL_DOUBLE) && PetscAbsReal(unit) != 1) continue;
    for (int options = 0; options < 2; options++) {
      PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &M));
      PetscCall(MatScale(M, scales[k]));
      if (k % 2 || scales[k] == 0) PetscCall(MatShift(M, unit));
      /* conjugate gradients want a definite matrix, positive or not */
      PetscCall(Solve(s, M, unit < 0 ? KSPGMRES : KSPCG, options ? "-pc_sbpmg_precision double" : "", 14, 1, "scales", &its));
      PetscCall(MatDestroy(&M));
    }
  }

  /* u' = -(H x H)^-1 A u: shift - J is not symmetric */
  PetscCall(VecDuplicate(w, &left));
  PetscCall(VecDuplicate(w, &right));
  PetscCall(VecCopy(w, left));
  PetscCall(VecReciprocal(left));
  PetscCall(VecScale(left, -1.));
  PetscCall(FillNoise(s->da, 3, right));
#if PetscDefined(USE_COMPLEX)
  PetscCall(VecRealPart(right));
#endif
  PetscCall(VecScale(right, 0.1));
  PetscCall(VecShift(right, 1.));
  for (int both = 0; both < 2; both++) {
    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &M));
    PetscCall(MatDiagonalScale(M, left, both ? right : NULL));
    PetscCall(MatScale(M, -1.));
    if (!both) PetscCall(MatShift(M, 100.));
    PetscCall(Solve(s, M, KSPGMRES, "", 16, 1, both ? "left and right" : "left", &its));
    PetscCall(Solve(s, M, KSPBICG, "", 30, 1, both ? "left and right, transposed" : "left, transposed", &its));
    PetscCall(MatDestroy(&M));
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));

  /* A solver whose matrix changes: it needs the iterations of a new solver, and after undoing the change the original
     iterations */
  PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &M));
  PetscCall(SolverCreate(M, KSPCG, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-8 : (PetscReal)1e-4, "", &ksp));
  for (int k = 0; k < 3; k++) {
    if (k) PetscCall(MatShift(M, k == 1 ? 1000. : -1000.));
    PetscCall(FillNoise(s->da, 7, s->b));
    PetscCall(KSPSolve(ksp, s->b, s->x));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    if (k == 0) first = its;
    if (WRONG(k == 1 && its > first)) FAIL("shifted by 1000: %" PetscInt_FMT " iterations", its);
    if (WRONG(k == 2 && its > first)) FAIL("a shift undone: %" PetscInt_FMT " iterations instead of %" PetscInt_FMT, its, first);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An indefinite matrix ends a solve with a reason and no error; a nearly indefinite matrix is solved */
static PetscErrorCode TestIndefinite(System *s, Vec w)
{
  static const PetscReal shifts[] = {-10, -1e3, -1e9, (PetscReal)HUGE_VAL};
  PetscInt               its;
  Vec                    d;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(w, &d));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(shifts); k++) {
    KSPConvergedReason reason;
    PCFailedReason     why;
    KSP                ksp;
    PC                 pc;
    Mat                M;

    if (!PetscDefined(USE_REAL_DOUBLE) && k > 1) continue;
    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &M));
    PetscCall(VecCopy(w, d));
    PetscCall(VecScale(d, shifts[k]));
    PetscCall(MatDiagonalSet(M, d, ADD_VALUES));
    if (k == 0) PetscCall(Solve(s, M, KSPCG, "", 16, 1, "a small negative shift", &its)); /* the least eigenvalue is larger */
    else {
      PetscCall(FillNoise(s->da, 7, s->b));
      PetscCall(SolverCreate(M, KSPCG, (PetscReal)1e-4, "", &ksp));
      PetscCall(KSPSolve(ksp, s->b, s->x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCGetFailedReason(pc, &why));
      if (WRONG(reason != KSP_DIVERGED_PC_FAILED && reason != KSP_DIVERGED_INDEFINITE_MAT && reason != KSP_DIVERGED_INDEFINITE_PC))
        FAIL("shift %g: %s", (double)shifts[k], KSPConvergedReasons[reason]);
      if (WRONG(k > 1 && why == PC_NOERROR)) FAIL("shift %g: the preconditioner has not failed", (double)shifts[k]);
      /* After a definite matrix is set, the solver works again. Without KSPSetOperators() a solver of PETSc 3.24 and
         3.25 takes the failed preconditioner for one more solve, PCLU, too */
      PetscCall(MatCopy(s->A, M, SAME_NONZERO_PATTERN));
      PetscCall(KSPSetOperators(ksp, M, M));
      PetscCall(KSPSolve(ksp, s->b, s->x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      if (WRONG(reason <= 0)) FAIL("after shift %g: %s", (double)shifts[k], KSPConvergedReasons[reason]);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&M));
  }
  PetscCall(VecDestroy(&d));
#if PetscDefined(USE_COMPLEX)
  {
    PetscErrorCode ierr;
    PC             pc;
    Mat            M;

    PetscCall(MatDuplicate(s->A, MAT_COPY_VALUES, &M));
    PetscCall(MatShift(M, PETSC_i));
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSBPMG));
    PetscCall(PCSetOperators(pc, M, M));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    if (WRONG(ierr != PETSC_ERR_SUP)) FAIL("a complex shift is not refused");
    PetscCall(PCDestroy(&pc));
    /* only the real part is used */
    {
      KSP                ksp;
      KSPConvergedReason reason;

      PetscCall(SolverCreate(s->A, KSPGMRES, (PetscReal)1e-4, "", &ksp));
      PetscCall(KSPSetOperators(ksp, M, s->A));
      PetscCall(FillNoise(s->da, 7, s->b));
      PetscCall(KSPSolve(ksp, s->b, s->x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      if (WRONG(reason <= 0)) FAIL("a complex shift, with a real matrix for the preconditioner: %s", KSPConvergedReasons[reason]);
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&M));
  }
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool large = PETSC_FALSE;
  System    s;
  Vec       w;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-large", &large, NULL));
  PIECE(TestShifts(PETSC_FALSE, 2, "", 12));
  PIECE(TestShifts(PETSC_TRUE, 2, "", 16));
  if (large) {
    PIECE(TestShifts(PETSC_FALSE, 4, "", 18));
    PIECE(TestShifts(PETSC_TRUE, 4, "", 21));
    PIECE(TestShifts(PETSC_FALSE, 2, "-pc_sbpmg_coarse rediscretized", 24));
    PIECE(TestShifts(PETSC_TRUE, 2, "-pc_sbpmg_precision double", 16));
    PIECE(TestShifts(PETSC_FALSE, 2, "-pc_sbpmg_cycle f -pc_sbpmg_smoother chebyshev4", 12));
    PIECE(TestShifts(PETSC_TRUE, 2, "-pc_sbpmg_dense 0", 16));
  }
  PetscCall(SystemCreate(PETSC_COMM_WORLD, 64, 64, 2, &s));
  PetscCall(VecDuplicate(s.x, &w));
  PetscCall(Weights(&s, w));
  PIECE(TestScales(&s, w));
  PIECE(TestIndefinite(&s, w));
  PetscCall(VecDestroy(&w));
  PetscCall(SystemDestroy(&s));
  return TestEnd(36, "all solves are as they should\n");
}

/*TEST

  testset:
    output_file: output/shifts_1.out
    test:
      args: -large
    test:
      suffix: 2
      nsize: 2
      args: -large
    test:
      suffix: 3
      nsize: 3

  testset:
    requires: cuda
    args: -large -dm_vec_type cuda
    output_file: output/shifts_1.out
    test:
      suffix: cuda_n1_0
      args: -test_part 0,2
    test:
      suffix: cuda_n1_1
      args: -test_part 1,2
    test:
      suffix: cuda_n2_0
      nsize: 2
      args: -test_part 0,4
    test:
      suffix: cuda_n2_1
      nsize: 2
      args: -test_part 1,4
    test:
      suffix: cuda_n2_2
      nsize: 2
      args: -test_part 2,4
    test:
      suffix: cuda_n2_3
      nsize: 2
      args: -test_part 3,4

TEST*/
