/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES with a storage too coarse: a report or a finer storage; continued cycles; and the same bits each time.\n\n";

#include <tests/cbgmres/ksptest.h>

/* D A D with a diagonal matrix D over orders of magnitude: an ill-conditioned matrix which no preconditioner cures */
static PetscErrorCode CreateHard(PetscReal orders, Mat *A)
{
  PetscInt     first, n;
  PetscScalar *a;
  Vec          d;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, A));
  PetscCall(MatCreateVecs(*A, NULL, &d));
  PetscCall(VecGetOwnershipRange(d, &first, NULL));
  PetscCall(VecGetLocalSize(d, &n));
  PetscCall(VecGetArrayWrite(d, &a));
  for (PetscInt i = 0; i < n; i++) a[i] = PetscPowReal(10.0, -orders * (PetscReal)TestRandom((uint64_t)(first + i), 1, 2));
  PetscCall(VecRestoreArrayWrite(d, &a));
  PetscCall(MatDiagonalScale(*A, d, d));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char options[], KSPConvergedReason *reason, PetscInt *its, PetscReal *residual, PetscReal *first, KSPCBGMRESInfo *info,
                            Vec x)
{
  Vec b;
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &b));
  PetscCall(TestFillVec(b, 3));
  PetscCall(VecZeroEntries(x));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 5000));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPCBGMRESGetInfo(ksp, info));
  PetscCall(TestResidual(A, x, b, residual));

  /* the next solve begins with the findings of this solve */
  if (first) {
    KSPCBGMRESInfo again;

    PetscCall(VecZeroEntries(x));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(TestResidual(A, x, b, first));
    PetscCall(KSPCBGMRESGetInfo(ksp, &again));
    if (WRONG(again.raises || strcmp(again.storage, info->storage))) FAIL("%s: the second solve raises %s to %s", options, info->storage, again.storage);
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStagnation(const char type[])
{
  static const struct {
    const char *storage;
    PetscReal   orders;
  } cases[] = {{"frsz2_8", 2.5}, {"half", 3.0}, {"frsz2_16", 3.5}};
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual, second;
  KSPCBGMRESInfo     info;

  PetscFunctionBeginUser;
  for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
    char options[256];
    Mat  A;
    Vec  x;

    PetscCall(CreateHard(cases[c].orders, &A));
    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-ksp_type %s -pc_type none -ksp_pc_side right -ksp_gmres_restart 400 -ksp_rtol 1e-9 -ksp_cbgmres_storage %s", type,
                            cases[c].storage));
    PetscCall(Solve(A, options, &reason, &its, &residual, NULL, &info, x));
    if (WRONG(reason != KSP_DIVERGED_BREAKDOWN || !info.stagnated || info.raises || strcmp(info.storage, cases[c].storage) || residual > 1.0))
      FAIL("%s: %s after %" PetscInt_FMT " iterations, the residual is %g, stagnated %d", options, KSPConvergedReasons[reason], its, (double)residual,
           info.stagnated);
    PetscCall(PetscStrlcat(options, " -ksp_cbgmres_adaptive", sizeof(options)));
    PetscCall(Solve(A, options, &reason, &its, &residual, &second, &info, x));
    if (WRONG(reason <= 0 || info.stagnated || !info.raises || !strcmp(info.storage, cases[c].storage) || residual > 1.1e-9 || second > 1.1e-9))
      FAIL("%s: %s after %" PetscInt_FMT " iterations, the residual is %g and then %g, storage %s after %" PetscInt_FMT " raises", options,
           KSPConvergedReasons[reason], its, (double)residual, (double)second, info.storage, info.raises);
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solution y after its iterations is solution x after `reference` */
static PetscErrorCode TestSame(const char options[], Vec x, PetscInt reference, Vec y, PetscInt its)
{
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(TestSameBits(x, y, &same));
  if (WRONG(!same || its != reference)) FAIL("%s: another solution, after %" PetscInt_FMT " iterations instead of %" PetscInt_FMT, options, its, reference);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whatever is done ahead, and how often: the same bits */
static PetscErrorCode TestBits(const char type[])
{
  static const char *const options[] = {"", "-ksp_cbgmres_check_every 1", "-ksp_cbgmres_check_every 2", "-ksp_cbgmres_check_every 5",
                                        "-ksp_cbgmres_check_every 1000"};
  KSPConvergedReason       reason;
  PetscInt                 its, reference;
  PetscReal                residual;
  KSPCBGMRESInfo           info;
  Mat                      A;
  Vec                      x, y;

  PetscFunctionBeginUser;
  PetscCall(CreateHard(0.5, &A));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (int s = 0; s < NSTORAGES; s++) {
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
      char all[256];

      PetscCall(PetscSNPrintf(all, sizeof(all), "-ksp_type %s -pc_type jacobi -ksp_rtol 1e-7 -ksp_gmres_restart 17 -ksp_cbgmres_storage %s %s", type,
                              storages[s].name, options[o]));
      PetscCall(Solve(A, all, &reason, &its, &residual, NULL, &info, o ? y : x));
      if (!o) reference = its;
      if (!o) continue;
      PetscCall(TestSame(all, x, reference, y, its));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M is the identity plus a small matrix. w loses all but 1e-7 of its length, so steps launched ahead must be repaired.
   The solution must stay right */
static PetscErrorCode TestRepair(const char type[])
{
  KSPConvergedReason reason;
  PetscInt           its, reference = 0;
  PetscReal          residual;
  KSPCBGMRESInfo     info;
  Mat                A;
  Vec                x, y;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(MatScale(A, 1e-7));
  PetscCall(MatShift(A, 1.0));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (int every = 1; every <= 9; every += 4) {
    char options[256];

    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type none -ksp_rtol 1e-13 -ksp_cbgmres_storage double -ksp_cbgmres_check_every %d",
                            type, every));
    PetscCall(Solve(A, options, &reason, &its, &residual, NULL, &info, every == 1 ? x : y));
    if (WRONG(reason <= 0 || residual > 1e-13 || !info.passes))
      FAIL("%s: %s after %" PetscInt_FMT " iterations, the residual is %g, %" PetscInt_FMT " second passes", options, KSPConvergedReasons[reason], its,
           (double)residual, info.passes);
    if (every == 1) reference = its;
    else {
      PetscCall(TestSame(options, x, reference, y, its));
    }
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A tolerance below the storage's rounding, in one cycle. The cycle continues after rounding, several times, and needs
   hardly more iterations than without rounding. Steps launched ahead give the same bits
*/
static PetscErrorCode TestGoingOn(const char type[])
{
  static const struct {
    const char *storage;
    double      more; /* iterations */
  } cases[] = {{"double", 0.00}, {"frsz2_40", 0.02}, {"frsz2_32", 0.05}, {"single", 0.05}, {"frsz2_21", 0.05}, {"frsz2_16", 0.12}, {"half", 0.15}};
  static const TestKind kinds[] = {TEST_CONVECTION, TEST_FEM};
  KSPConvergedReason    reason;
  PetscInt              its, again, reference = 0;
  PetscReal             residual;
  KSPCBGMRESInfo        info;

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_REAL_DOUBLE)) PetscFunctionReturn(PETSC_SUCCESS);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat A;
    Vec x, y;

    PetscCall(TestCreateOperator(PETSC_COMM_WORLD, kinds[k], 0, &A));
    PetscCall(MatCreateVecs(A, &x, &y));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(cases); c++) {
      char options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options),
                              "-ksp_type %s -pc_type jacobi -ksp_pc_side right -ksp_gmres_restart 400 -ksp_rtol 1e-12 -ksp_cbgmres_storage %s", type,
                              cases[c].storage));
      PetscCall(Solve(A, options, &reason, &its, &residual, NULL, &info, x));
      if (!c) reference = its;
      if (WRONG(reason <= 0 || residual > 1.01e-12 || info.cycles > 1 || its > (1 + cases[c].more) * reference + 1))
        FAIL("%s: %s after %" PetscInt_FMT " iterations (double: %" PetscInt_FMT ") in %" PetscInt_FMT " cycles, the residual is %g", options,
             KSPConvergedReasons[reason], its, reference, info.cycles, (double)residual);
      PetscCall(PetscStrlcat(options, " -ksp_cbgmres_check_every 7", sizeof(options)));
      PetscCall(Solve(A, options, &reason, &again, &residual, NULL, &info, y));
      PetscCall(TestSame(options, x, its, y, again));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unlimited number of iterations must act as a very large limit */
static PetscErrorCode TestUnlimited(const char type[])
{
  PetscInt its[2];
  Mat      A;
  Vec      x, b;
  KSP      ksp;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_FEM, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 3));
  for (int k = 0; k < 2; k++) {
    char options[256];

    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-ksp_type %s -pc_type jacobi -ksp_gmres_restart 400 -ksp_rtol 1e-11 -ksp_cbgmres_storage single -ksp_max_it %s", type,
                            k ? "unlimited" : "5000"));
    PetscCall(TestCreateKSP(A, options, &ksp));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPDestroy(&ksp));
  }
  if (WRONG(its[0] != its[1])) FAIL("%s: %" PetscInt_FMT " iterations with a limit, %" PetscInt_FMT " without", type, its[0], its[1]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A system solved in few iterations to a tolerance below the storage's rounding: the same iterations as without
   rounding, in one cycle */
static PetscErrorCode TestFew(const char type[])
{
  static const char *const names[] = {"double", "frsz2_32", "single"}, *const sides[] = {"left", "right"};
  KSPConvergedReason reason;
  PetscInt           its, reference = 0;
  PetscReal          residual;
  KSPCBGMRESInfo     info;
  Mat                A;
  Vec                x;

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_REAL_DOUBLE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(MatScale(A, 4e-3));
  PetscCall(MatShift(A, 1.0));
  PetscCall(MatCreateVecs(A, &x, NULL));
  for (int side = strcmp(type, KSPCBFGMRES) ? 0 : 1; side < 2; side++) {
    for (size_t n = 0; n < PETSC_STATIC_ARRAY_LENGTH(names); n++) {
      const char *const rtol = n < 2 ? "1e-11" : "1e-9";
      char              options[256];

      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type none -ksp_pc_side %s -ksp_rtol %s -ksp_cbgmres_storage %s", type, sides[side],
                              rtol, n == 2 ? "double" : names[n]));
      PetscCall(Solve(A, options, &reason, &its, &residual, NULL, &info, x));
      if (n != 1) reference = its;
      if (n == 2) {
        PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -pc_type none -ksp_pc_side %s -ksp_rtol %s -ksp_cbgmres_storage single", type,
                                sides[side], rtol));
        PetscCall(Solve(A, options, &reason, &its, &residual, NULL, &info, x));
      }
      if (WRONG(reason <= 0 || its != reference || info.continued || info.cycles != 1))
        FAIL("%s: %s after %" PetscInt_FMT " iterations (double: %" PetscInt_FMT "), gone on %" PetscInt_FMT " times", options, KSPConvergedReasons[reason],
             its, reference, info.continued);
    }
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The norm reported to a monitor, against the residual of the solution which the monitor builds */
typedef struct {
  PetscReal norm; /* of the right-hand side */
  PetscReal most; /* the largest difference, relative to norm */
  PetscInt  calls;
} Told;

static PetscErrorCode MonitorSolution(KSP ksp, PetscInt its, PetscReal rnorm, void *context)
{
  Told     *told = (Told *)context;
  Mat       A;
  Vec       x, b;
  PetscReal residual;

  PetscFunctionBeginUser;
  (void)its;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(TestResidual(A, x, b, &residual));
  told->most = PetscMax(told->most, PetscAbsReal(residual - rnorm / told->norm));
  told->calls++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A monitor which builds the solution, also while steps are launched ahead. The solution must belong to the monitor's
   iteration, and the result has the same bits as without a monitor
*/
static PetscErrorCode TestMonitor(const char type[])
{
  static const int every[] = {1, 4, 1000};
  KSPCBGMRESInfo   info;
  Mat              A;
  Vec              x, y, b;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TestFillVec(b, 3));
  for (size_t e = 0; e < PETSC_STATIC_ARRAY_LENGTH(every); e++) {
    char               options[256];
    Told               told = {0, 0, 0};
    KSPConvergedReason reason;
    PetscInt           its[2];
    PetscBool          same;

    PetscCall(PetscSNPrintf(options, sizeof(options),
                            "-ksp_type %s -pc_type jacobi -ksp_pc_side right -ksp_rtol 1e-6 -ksp_gmres_restart 17 -ksp_cbgmres_storage double "
                            "-ksp_cbgmres_check_every %d",
                            type, every[e]));
    PetscCall(VecNorm(b, NORM_2, &told.norm));
    for (int monitor = 0; monitor < 2; monitor++) {
      KSP ksp;

      PetscCall(VecZeroEntries(monitor ? y : x));
      PetscCall(TestCreateKSP(A, options, &ksp));
      if (monitor) PetscCall(KSPMonitorSet(ksp, MonitorSolution, &told, NULL));
      PetscCall(KSPSolve(ksp, b, monitor ? y : x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      PetscCall(KSPGetIterationNumber(ksp, &its[monitor]));
      PetscCall(KSPCBGMRESGetInfo(ksp, &info));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(TestSameBits(x, y, &same));
    if (WRONG(reason <= 0 || info.cycles < 2 || !same || its[0] != its[1]))
      FAIL("%s: %s, with a monitor another solution, after %" PetscInt_FMT " iterations in %" PetscInt_FMT " cycles, without after %" PetscInt_FMT, options,
           KSPConvergedReasons[reason], its[1], info.cycles, its[0]);
    if (WRONG(told.calls < its[1] + 1 || !(told.most <= 1e4 * PETSC_MACHINE_EPSILON)))
      FAIL("%s: in %" PetscInt_FMT " calls a monitor saw solutions whose residuals differ from what it was told by %g", options, told.calls, (double)told.most);
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int flexible = 0; flexible < 2; flexible++) {
    PIECE(TestStagnation(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestBits(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestRepair(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestGoingOn(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestUnlimited(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestFew(flexible ? KSPCBFGMRES : KSPCBGMRES));
    PIECE(TestMonitor(flexible ? KSPCBFGMRES : KSPCBGMRES));
  }
  return TestEnd(140, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2}}

  testset:
    requires: cuda
    args: -operator_types aijcusparse
    output_file: output/right.out
    test:
      suffix: cusparse_n1_0
      args: -test_part 0,3
    test:
      suffix: cusparse_n1_1
      args: -test_part 1,3
    test:
      suffix: cusparse_n1_2
      args: -test_part 2,3
    test:
      suffix: cusparse_n2_0
      nsize: 2
      args: -test_part 0,6 -test_least 13
    test:
      suffix: cusparse_n2_1
      nsize: 2
      args: -test_part 1,6 -test_least 41
    test:
      suffix: cusparse_n2_2
      nsize: 2
      args: -test_part 2,6 -test_least 33
    test:
      suffix: cusparse_n2_3
      nsize: 2
      args: -test_part 3,6 -test_least 24
    test:
      suffix: cusparse_n2_4
      nsize: 2
      args: -test_part 4,6 -test_least 21
    test:
      suffix: cusparse_n2_5
      nsize: 2
      args: -test_part 5,6 -test_least 5

  testset:
    requires: cuda
    args: -operator_types aijcusparse,vcrs
    output_file: output/right.out
    test:
      suffix: cuda_vcrs_n1_0
      args: -test_part 0,3
    test:
      suffix: cuda_vcrs_n1_1
      args: -test_part 1,3
    test:
      suffix: cuda_vcrs_n1_2
      args: -test_part 2,3
    test:
      suffix: cuda_vcrs_n2_0
      nsize: 2
      args: -test_part 0,6 -test_least 13
    test:
      suffix: cuda_vcrs_n2_1
      nsize: 2
      args: -test_part 1,6 -test_least 41
    test:
      suffix: cuda_vcrs_n2_2
      nsize: 2
      args: -test_part 2,6 -test_least 33
    test:
      suffix: cuda_vcrs_n2_3
      nsize: 2
      args: -test_part 3,6 -test_least 24
    test:
      suffix: cuda_vcrs_n2_4
      nsize: 2
      args: -test_part 4,6 -test_least 21
    test:
      suffix: cuda_vcrs_n2_5
      nsize: 2
      args: -test_part 5,6 -test_least 5

TEST*/
