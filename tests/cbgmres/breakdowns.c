/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES at breakdowns, without a solution, with NaN and Inf, and with changing options or sizes.\n\n";

#include <tests/cbgmres/ksptest.h>

/* The monitor builds residuals with work vectors, between steps which were launched ahead */
static const char *const types[] = {"-ksp_type cbgmres",
                                    "-ksp_type cbgmres -ksp_pc_side right",
                                    "-ksp_type cbfgmres",
                                    "-ksp_type cbgmres -ksp_cbgmres_storage double",
                                    "-ksp_type cbgmres -ksp_cbgmres_storage double -ksp_cbgmres_check_every 3 -ksp_monitor_true_residual ascii:/dev/null",
                                    "-ksp_type cbgmres -ksp_cbgmres_storage half -ksp_cbgmres_check_every 4",
                                    "-ksp_type cbgmres -ksp_cbgmres_storage frsz2_16 -ksp_orthogonalization_cgs_refinement_type refine_always"};
#define NTYPES ((int)PETSC_STATIC_ARRAY_LENGTH(types))

/* d_i on the diagonal and s_i to the right of the diagonal */
static PetscErrorCode CreateBidiagonal(PetscInt n, PetscScalar (*d)(PetscInt), PetscScalar (*s)(PetscInt), Mat *A)
{
  PetscInt first, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, n, n, 2, NULL, 1, NULL, A));
  PetscCall(MatGetOwnershipRange(*A, &first, &end));
  for (PetscInt i = first; i < end; i++) {
    PetscCall(MatSetValue(*A, i, i, (*d)(i), INSERT_VALUES));
    if (s && i + 1 < n) PetscCall(MatSetValue(*A, i, i + 1, (*s)(i), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscScalar One(PetscInt i)
{
  return 1.0;
}
static PetscScalar Zero(PetscInt i)
{
  return 0.0;
}
static PetscScalar ThreeValues(PetscInt i)
{
  return (PetscReal)(1 + i % 3);
}
static PetscScalar Wide(PetscInt i)
{
  return (PetscReal)(1 + i);
}
static PetscScalar WithHole(PetscInt i)
{
  return i == 3 ? 0.0 : (PetscReal)(1 + i % 5);
}
static PetscScalar NotANumber(PetscInt i)
{
  return i == 5 ? (PetscReal)NAN : 2.0;
}

/* Solves with the right-hand side b and the initial guess in x. Returns the final residual relative to b, or absolute
   if b is zero */
static PetscErrorCode Run(KSP ksp, Vec b, Vec x, KSPConvergedReason *reason, PetscInt *its, PetscReal *residual)
{
  PetscReal norm;
  Mat       A;
  Vec       r;

  PetscFunctionBeginUser;
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  if (norm > 0.0) *residual /= norm;
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define EXPECT(condition, what)                                                                                                                         \
  do {                                                                                                                                                  \
    if (WRONG(!(condition)))                                                                                                                            \
      FAIL("%s, %s: %s after %" PetscInt_FMT " iterations, the residual is %g", types[type], what, KSPConvergedReasons[reason], its, (double)residual); \
  } while (0)

/* Zero right-hand side, an initial guess which is the solution, and breakdowns */
static PetscErrorCode TestEnds(int type)
{
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual;
  KSPCBGMRESInfo     info;
  Mat                A, T;
  Vec                x, b;
  KSP                ksp;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(TestCreateVec(A, PETSC_FALSE, NULL, 3, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type jacobi -ksp_rtol 1e-9", types[type]));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_CONVERGED_ATOL && its == 0 && residual == 0.0, "zero right-hand side");
  PetscCall(TestFillVec(x, 3));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPSetInitialGuessNonzero(ksp, PETSC_TRUE));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason > 0 && its == 0, "the first guess is the solution");
  PetscCall(TestFillVec(x, 4));
  PetscCall(VecZeroEntries(b));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason > 0 && residual < 1e-6, "zero right-hand side, another initial guess");
  PetscCall(KSPDestroy(&ksp));

  /*
     With k different eigenvalues, k iterations suffice, and the space ends. Rounding may add an iteration per cycle. A
     column which has hardly converged may add another iteration
  */
  for (int values = 1; values <= 3; values += 2) {
    PetscCall(CreateBidiagonal(40, values == 1 ? One : ThreeValues, NULL, &T));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatCreateVecs(T, &x, &b));
    PetscCall(TestFillVec(b, 6));
    for (int reltol = 8; reltol <= 20; reltol += 12) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type none -ksp_rtol 1e-%d -ksp_atol 1e-13", types[type], reltol));
      PetscCall(TestCreateKSP(T, options, &ksp));
      PetscCall(Run(ksp, b, x, &reason, &its, &residual));
      PetscCall(KSPCBGMRESGetInfo(ksp, &info));
      EXPECT(reason > 0 && residual < 1e-7 && its <= (values + 1) * (info.cycles + info.continued) + 1, "a space that ends");
      if (type == 3 || type == 4) EXPECT(its == values && residual < 1e-13, "a space that ends, in double");
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(MatDestroy(&T));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Constant vectors in the null space; consistent right-hand sides, and an inconsistent right-hand side */
static PetscErrorCode TestSingular(int type)
{
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual, norm;
  PetscScalar        mean;
  MatNullSpace       space;
  Mat                A, T;
  Vec                x, b;
  KSP                ksp;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_NEUMANN, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(x, 3));
  PetscCall(MatMult(A, x, b));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type none -ksp_rtol 1e-8 -ksp_max_it 2000", types[type]));
  for (int attached = 0; attached < 2; attached++) {
    if (attached) PetscCall(MatSetNullSpace(A, space));
    if (attached) PetscCall(MatSetTransposeNullSpace(A, space));
    PetscCall(TestCreateKSP(A, options, &ksp));
    PetscCall(Run(ksp, b, x, &reason, &its, &residual));
    EXPECT(reason > 0 && residual < 2e-8, attached ? "singular, null space attached" : "singular");
    /* rounding of the basis gives the solution no part in the null space */
    PetscCall(VecMean(x, &mean));
    PetscCall(VecNorm(x, NORM_INFINITY, &norm));
    if (attached) EXPECT(PetscAbsScalar(mean) < 1e-12 * norm, "a part in the null space");
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));

  /* a zero row: the residual of this row cannot be reduced, and the solver must detect the stagnation */
  PetscCall(CreateBidiagonal(40, WithHole, NULL, &T));
  PetscCall(MatCreateVecs(T, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type none -ksp_rtol 1e-8 -ksp_max_it 2000", types[type]));
  PetscCall(TestCreateKSP(T, options, &ksp));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_DIVERGED_BREAKDOWN && residual < 1.001 / PetscSqrtReal(40.0), "no solution");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&T));

  /* the operator is zero */
  PetscCall(CreateBidiagonal(40, Zero, NULL, &T));
  PetscCall(TestCreateKSP(T, options, &ksp));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_DIVERGED_BREAKDOWN && residual == 1.0, "no operator");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&T));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A shell preconditioner which fails at its third application, on the last process */
static PetscErrorCode FailingPC(PC pc, Vec x, Vec y)
{
  PetscInt *count;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &count));
  PetscCall(VecCopy(x, y));
  if (++*count >= 3) {
    if (rank == size - 1) PetscCall(PCSetFailedReason(pc, PC_SUBPC_ERROR));
    PetscCall(VecFlag(y, rank == size - 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner which GMRES does not permit: its factor changes with each application */
static PetscErrorCode NonlinearPC(PC pc, Vec x, Vec y)
{
  PetscInt *count;

  PetscFunctionBeginUser;
  PetscCall(PCShellGetContext(pc, &count));
  PetscCall(VecCopy(x, y));
  PetscCall(VecScale(y, ++*count % 3 ? 0.1 : 7.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN in the matrix, in the right-hand side, from the preconditioner */
static PetscErrorCode TestNaN(int type)
{
  KSPConvergedReason reason;
  PetscInt           its, count = 0;
  PetscReal          residual;
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  PC                 pc;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(CreateBidiagonal(40, NotANumber, NULL, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type none", types[type]));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_DIVERGED_NANORINF, "NaN in the matrix");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateBidiagonal(40, Wide, One, &A));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCSHELL));
  PetscCall(PCShellSetApply(pc, FailingPC));
  PetscCall(PCShellSetContext(pc, &count));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_DIVERGED_PC_FAILED, "a preconditioner that fails");
  count = -1000;
  PetscCall(PCSetFailedReason(pc, PC_NOERROR));
  PetscCall(VecZeroEntries(x));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason > 0 && residual < 1e-4, "and another solve");
  PetscCall(PCShellSetApply(pc, NonlinearPC));
  PetscCall(VecZeroEntries(x));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(type == 2 ? reason > 0 && residual < 1e-4 : residual <= 1.0 + 1e-6, "a preconditioner that is not linear");
  PetscCall(VecSetValue(b, 0, (PetscReal)INFINITY, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason == KSP_DIVERGED_NANORINF, "infinity in the right-hand side");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual reaches rounding level in a few iterations, with a request for more iterations or for a smaller
   residual; compared with KSPGMRES */
static PetscErrorCode TestRounding(int type)
{
  static const char *const wanted[] = {"-ksp_convergence_test skip -ksp_max_it 12", "-ksp_min_it 12",
                                       "-ksp_norm_type none -ksp_convergence_test skip -ksp_max_it 12 -ksp_pc_side right"};
  KSPConvergedReason       reason;
  PetscInt                 its;
  PetscReal                residual;
  Mat                      A;
  Vec                      x, b;
  KSP                      ksp;
  char                     options[256];

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_REAL_DOUBLE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateBidiagonal(40, Wide, ThreeValues, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 6));
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(wanted); w++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type bjacobi -sub_pc_type ilu %s", types[type], wanted[w]));
    PetscCall(TestCreateKSP(A, options, &ksp));
    PetscCall(Run(ksp, b, x, &reason, &its, &residual));
    /* without a norm, a cycle has all columns, or ends at a breakdown */
    EXPECT(reason > 0 && residual < (w == 2 ? 1e-8 : 1e-12), wanted[w]);
    EXPECT(w == 1                        ? its >= 12
           : reason == KSP_CONVERGED_ITS ? its == 12
                                         : w == 2 && (type == 3 || type == 4) && reason == KSP_CONVERGED_HAPPY_BREAKDOWN && residual < 1e-14,
           wanted[w]);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));

  /* the preconditioner makes 1e9 times as much of rounding */
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_NEUMANN, 0, &A));
  PetscCall(MatShift(A, 1e-9));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(x, 3));
  PetscCall(MatMult(A, x, b));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type redundant -ksp_rtol 1e-9", types[type]));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  EXPECT(reason > 0 && its < 20 && residual < 1e-9, "nearly singular");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Counts the calls */
static PetscErrorCode Count(KSP ksp, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *count)
{
  PetscFunctionBeginUser;
  ++*(PetscInt *)count;
  *reason = norm < 1e-6 ? KSP_CONVERGED_ATOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A user's convergence test is called once per residual: at each iteration, and at the start of a cycle */
static PetscErrorCode TestCalls(int type)
{
  KSPConvergedReason reason;
  PetscInt           its, count = 0;
  PetscReal          residual;
  KSPCBGMRESInfo     info;
  Mat                A;
  Vec                x, b;
  KSP                ksp;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 6));
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -ksp_cbgmres_storage double -pc_type jacobi -ksp_gmres_restart 2", types[type]));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPSetConvergenceTest(ksp, Count, &count, NULL));
  PetscCall(Run(ksp, b, x, &reason, &its, &residual));
  PetscCall(KSPCBGMRESGetInfo(ksp, &info));
  EXPECT(reason == KSP_CONVERGED_ATOL, "a test that counts");
  if (WRONG(count > its + info.cycles + info.continued + 1))
    FAIL("%s: a test of one's own was asked %" PetscInt_FMT " times in %" PetscInt_FMT " iterations and %" PetscInt_FMT " cycles", types[type], count, its,
         info.cycles);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A test which ends the iteration. No other norm may judge the last cycle */
static PetscErrorCode StopAtSeven(KSP ksp, PetscInt its, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  PetscFunctionBeginUser;
  *reason = its >= 7 ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solver whose settings, operator and sizes all change */
static PetscErrorCode TestChanges(int type)
{
  static const TestKind kinds[] = {TEST_CONVECTION, TEST_STAR7, TEST_FEM};
  KSPConvergedReason    reason;
  PetscInt              its, restart, limit[] = {0, 1, 3, 2000};
  PetscReal             residual, first;
  KSPCBGMRESInfo        info;
  KSP                   ksp = NULL;
  char                  options[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type jacobi -ksp_rtol 1e-9", types[type]));
  for (int k = 0; k < 3; k++) {
    Mat A;
    Vec x, b;

    PetscCall(TestCreateOperator(PETSC_COMM_WORLD, kinds[k], 0, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(TestFillVec(b, 9));
    if (!ksp) PetscCall(TestCreateKSP(A, options, &ksp));
    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    for (int round = 0; round < 6; round++) {
      if (round == 1) PetscCall(KSPGMRESSetRestart(ksp, 7));
      if (round == 2) PetscCall(KSPGMRESSetRestart(ksp, 1000));
      if (round == 3) PetscCall(KSPCBGMRESSetStorage(ksp, "frsz2_24"));
      if (round == 4) PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
      if (round == 5) PetscCall(MatScale(A, 2.0));
      PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 5000));
      PetscCall(VecZeroEntries(x));
      PetscCall(Run(ksp, b, x, &reason, &its, &residual));
      EXPECT(reason > 0 && residual < 1e-7, TestKindNames[kinds[k]]);
      PetscCall(KSPGMRESGetRestart(ksp, &restart));
      if (WRONG(restart != (round == 0 ? (k ? 1000 : 30) : (round == 1 ? 7 : 1000)))) FAIL("%s: restart %" PetscInt_FMT, types[type], restart);
    }
    PetscCall(KSPCBGMRESGetInfo(ksp, &info));
    if (WRONG(strcmp(info.storage, "frsz2_24"))) FAIL("%s: storage %s", types[type], info.storage);
    PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));

    /* fewer iterations than vectors, then more: from none to enough */
    PetscCall(KSPReset(ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(VecNorm(b, NORM_2, &first));
    for (int l = 0; l < 4; l++) {
      PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, limit[l]));
      PetscCall(VecZeroEntries(x));
      PetscCall(Run(ksp, b, x, &reason, &its, &residual));
      EXPECT(limit[l] > 3 ? reason > 0 : reason == KSP_DIVERGED_ITS && its == limit[l] && residual <= 1.0, "a limit of iterations");
    }

    /* no norm: exactly the requested iterations; and a user's test */
    PetscCall(KSPSetNormType(ksp, KSP_NORM_NONE));
    PetscCall(KSPSetConvergenceTest(ksp, KSPConvergedSkip, NULL, NULL));
    PetscCall(KSPSetTolerances(ksp, PETSC_CURRENT, PETSC_CURRENT, PETSC_CURRENT, 12));
    PetscCall(VecZeroEntries(x));
    PetscCall(Run(ksp, b, x, &reason, &its, &residual));
    EXPECT(reason == KSP_CONVERGED_ITS && its == 12 && residual < 1.0, "no norm");
    PetscCall(KSPSetNormType(ksp, KSP_NORM_DEFAULT));
    PetscCall(KSPSetConvergenceTest(ksp, StopAtSeven, NULL, NULL));
    PetscCall(VecZeroEntries(x));
    PetscCall(Run(ksp, b, x, &reason, &its, &residual));
    EXPECT(reason == KSP_CONVERGED_RTOL && its == 7, "a test of one's own");
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type jacobi -ksp_rtol 1e-9 -ksp_gmres_restart 1000", types[type]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A^T x = b; and a matrix with fewer rows than processes */
static PetscErrorCode TestTransposeAndTiny(int type)
{
  KSPConvergedReason reason;
  PetscInt           its;
  PetscReal          residual, norm;
  Mat                A;
  Vec                x, b, r;
  KSP                ksp;
  char               options[256];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_type jacobi -ksp_rtol 1e-9", types[type]));
  PetscCall(TestCreateOperator(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &A));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(TestFillVec(b, 9));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPSolveTranspose(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(MatMultTranspose(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, &residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  EXPECT(reason > 0 && residual < 1e-8 * norm, "transposed");
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));

  for (PetscInt n = 1; n <= 3; n++) {
    PetscCall(CreateBidiagonal(n, Wide, One, &A));
    PetscCall(MatCreateVecs(A, &x, &b));
    PetscCall(VecSet(b, 1.0));
    PetscCall(TestCreateKSP(A, options, &ksp));
    PetscCall(Run(ksp, b, x, &reason, &its, &residual));
    EXPECT(reason > 0 && residual < 1e-8, "one, two or three rows");
    PetscCall(KSPDestroy(&ksp));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int type = 0; type < NTYPES; type++) {
    PIECE(TestEnds(type));
    PIECE(TestSingular(type));
    PIECE(TestNaN(type));
    PIECE(TestRounding(type));
    PIECE(TestCalls(type));
    PIECE(TestChanges(type));
    PIECE(TestTransposeAndTiny(type));
  }
  return TestEnd(460, "all is right\n");
}

/*TEST

  test:
    nsize: {{1 2}}
    output_file: output/right.out

  testset:
    requires: cuda
    args: -operator_types aijcusparse -vec_type cuda
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
      args: -test_part 0,3
    test:
      suffix: cusparse_n2_1
      nsize: 2
      args: -test_part 1,3
    test:
      suffix: cusparse_n2_2
      nsize: 2
      args: -test_part 2,3

TEST*/
