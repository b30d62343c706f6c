/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "KSPBCGSM: columns that converge at once, break down, hold NaN or fail in the preconditioner change no other column; monitors, histories.\n\n";

#include "bcgsmtest.h"

/* ---- Columns that end in other ways than the rest ---- */

#define ROWS 60
#define SKEW 40 /* from this row on: blocks (0 1; -1 0) */
#define TWO  48 /* from this row on: 2 on the diagonal */

static PetscErrorCode CreateParts(MPI_Comm comm, Mat *A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, ROWS, ROWS));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    if (i < SKEW) {
      PetscCall(MatSetValue(*A, i, i, (PetscReal)3.0 + (PetscReal)i / (PetscReal)16.0, INSERT_VALUES));
      if (i) PetscCall(MatSetValue(*A, i, i - 1, -1.5, INSERT_VALUES));
      if (i + 1 < SKEW) PetscCall(MatSetValue(*A, i, i + 1, -0.5, INSERT_VALUES));
    } else if (i < TWO) PetscCall(MatSetValue(*A, i, i % 2 ? i - 1 : i + 1, i % 2 ? -1.0 : 1.0, INSERT_VALUES));
    else PetscCall(MatSetValue(*A, i, i, 2.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestConvertOperator(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills rows first .. last of a column with multiples of 1/16, whose sums have no rounding errors */
static PetscErrorCode FillPart(Mat B, PetscInt j, PetscInt first, PetscInt last)
{
  PetscInt     begin, end;
  PetscScalar *a;
  Vec          b;

  PetscFunctionBeginUser;
  PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
  PetscCall(VecSet(b, 0.0));
  PetscCall(VecGetOwnershipRange(b, &begin, &end));
  PetscCall(VecGetArray(b, &a));
  for (PetscInt i = PetscMax(begin, first); i < PetscMin(end, last + 1); i++) a[i - begin] = (PetscReal)(1 + (7 * i + 3 * j) % 15) / (PetscReal)16.0;
  PetscCall(VecRestoreArray(b, &a));
  PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TryEnds(MPI_Comm comm)
{
  static const KSPConvergedReason wanted[]  = {KSP_CONVERGED_RTOL,    KSP_CONVERGED_ATOL, KSP_DIVERGED_BREAKDOWN, KSP_CONVERGED_RTOL,
                                               KSP_DIVERGED_NANORINF, KSP_CONVERGED_RTOL, KSP_DIVERGED_NANORINF,  KSP_CONVERGED_RTOL};
  const char *const               options[] = {"-pc_type none", "-pc_type none -ksp_pc_side right", "-pc_type none -ksp_matsolve_batch_size 3",
                                               "-pc_type none -ksp_norm_type none -ksp_max_it 5"};
  const KSPConvergedReason       *reasons;
  const PetscReal                *norms;
  PetscInt                        n = 8, told;
  Mat                             A, B, X;
  Vec                             b;
  KSP                             ksp;

  PetscFunctionBeginUser;
  PetscCall(CreateParts(comm, &A));
  PetscCall(CreateBlock(A, n, &B));
  PetscCall(FillPart(B, 0, 0, SKEW - 1));
  PetscCall(FillPart(B, 2, SKEW, TWO - 1)); /* (A b, b) = 0 */
  PetscCall(FillPart(B, 3, TWO, ROWS - 1)); /* A b = 2 b: s is 0, and t is 0 */
  PetscCall(FillPart(B, 4, 0, SKEW - 1));
  PetscCall(FillPart(B, 5, 0, SKEW - 1));
  PetscCall(FillPart(B, 6, 0, SKEW - 1));
  PetscCall(FillPart(B, 7, 0, SKEW - 1));
  for (PetscInt j = 4; j <= 6; j += 2) {
    PetscCall(MatDenseGetColumnVec(B, j, &b));
    PetscCall(VecScale(b, j == 4 ? (PetscScalar)NAN : (PetscScalar)PETSC_MAX_REAL)); /* products are infinite */
    PetscCall(MatDenseRestoreColumnVec(B, j, &b));
  }
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) PetscCall(Compare(A, options[o], SOLVE, B, NULL, "ends"));

  PetscCall(CreateBlock(A, n, &X));
  PetscCall(TestCreateKSP(A, "-ksp_type bcgsm -pc_type none", &ksp));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, &reasons, &norms));
  for (PetscInt j = 0; j < PetscMin(told, n); j++) {
    if (WRONG(reasons[j] != wanted[j]))
      FAIL("column %" PetscInt_FMT " ends with %s, not with %s", j, KSPConvergedReasons[reasons[j]], KSPConvergedReasons[wanted[j]]);
    if (WRONG(PetscIsInfOrNanReal(norms[j]) != (wanted[j] == KSP_DIVERGED_NANORINF)))
      FAIL("column %" PetscInt_FMT " ends with the norm %g", j, (double)norms[j]);
  }
  PetscCall(KSPDestroy(&ksp));

  /* solutions as guesses: nothing is left to do, for some */
  PetscCall(FillPart(X, 0, 0, ROWS - 1));
  for (PetscInt j = 0; j < n; j++) {
    Vec x;

    PetscCall(FillPart(X, j, j % 2 ? TWO : 0, j % 2 ? ROWS - 1 : SKEW - 1));
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
    PetscCall(MatMult(A, x, b));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    if (j % 3 == 0) PetscCall(FillPart(X, j, 0, SKEW / 2));
  }
  PetscCall(Compare(A, "-pc_type none -ksp_initial_guess_nonzero", SOLVE, B, X, "guesses"));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SetUpAndFail(PC pc)
{
  PetscFunctionBeginUser;
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CopyVec(PETSC_UNUSED PC pc, Vec x, Vec y)
{
  PetscFunctionBeginUser;
  PetscCall(VecCopy(x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A preconditioner that fails: all columns of all batches are told, and those of the next call alone */
static PetscErrorCode TryFailed(MPI_Comm comm)
{
  static const char *const  options[] = {"-ksp_type bcgsm -pc_type shell", "-ksp_type bcgsm -pc_type shell -ksp_matsolve_batch_size 2"};
  static const PetscInt     columns[] = {5, 2, 4, 1};
  const KSPConvergedReason *reasons;
  PetscInt                  told;
  Mat                       A, B, X;
  KSP                       ksp;
  PC                        pc;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(comm, TEST_CONVECTION, 0, &A));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PetscCall(TestCreateKSP(A, options[o], &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCShellSetSetUp(pc, SetUpAndFail));
    PetscCall(PCShellSetApply(pc, CopyVec));
    for (size_t c = 0; c < PETSC_STATIC_ARRAY_LENGTH(columns); c++) {
      PetscCall(CreateBlock(A, columns[c], &B));
      PetscCall(CreateBlock(A, columns[c], &X));
      PetscCall(FillBlock(B, 3));
      PetscCall(KSPMatSolve(ksp, B, X));
      PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, &reasons, NULL));
      if (WRONG(told != columns[c])) FAIL("%s: %" PetscInt_FMT " columns are told, not %" PetscInt_FMT, options[o], told, columns[c]);
      for (PetscInt j = 0; j < told; j++) {
        if (WRONG(reasons[j] != KSP_DIVERGED_PC_FAILED)) FAIL("%s: column %" PetscInt_FMT " ends with %s", options[o], j, KSPConvergedReasons[reasons[j]]);
      }
      PetscCall(MatDestroy(&X));
      PetscCall(MatDestroy(&B));
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A factor of the first process fails, and the factors of the other processes do not: all columns fail, and objects that
   are made afterwards have the same tag on all processes, as all communication needs
*/
static PetscErrorCode TryFailedOnOne(MPI_Comm comm)
{
  static const char *const  options[] = {"-ksp_type bcgsm -pc_type bjacobi", "-ksp_type bcgsm -pc_type bjacobi -ksp_initial_guess_nonzero",
                                         "-ksp_type bcgsm -pc_type vcrs -vcrs_pc_type bjacobi"};
  const KSPConvergedReason *reasons;
  PetscMPIInt               tag, tags[2];
  PetscInt                  begin, end, told;
  PetscBool                 device;
  Mat                       A, B, X;
  KSP                       ksp;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(comm, 4, 4, PETSC_DETERMINE, PETSC_DETERMINE, 2, NULL, 2, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall(MatSetValue(A, i, i, i ? 2.0 : 0.0, INSERT_VALUES));
    if (i % 4 == 3) PetscCall(MatSetValue(A, i, 0, 1.0, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestConvertOperator(&A));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &device, MATSEQAIJCUSPARSE, MATMPIAIJCUSPARSE, ""));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PetscCall(TestCreateKSP(A, options[o], &ksp));
    PetscCall(CreateBlock(A, 3, &B));
    PetscCall(CreateBlock(A, 3, &X));
    PetscCall(FillBlock(B, 3));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, &reasons, NULL));
    for (PetscInt j = 0; j < told; j++) {
      /* factors of cuSPARSE have infinite numbers in place of an error */
      if (WRONG(reasons[j] != KSP_DIVERGED_PC_FAILED && (!device || reasons[j] != KSP_DIVERGED_NANORINF)))
        FAIL("%s: column %" PetscInt_FMT " ends with %s", options[o], j, KSPConvergedReasons[reasons[j]]);
    }
    PetscCall(PetscObjectGetNewTag((PetscObject)A, &tag));
    tags[0] = tag;
    tags[1] = -tag;
    PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, tags, 2, MPI_INT, MPI_MAX, comm));
    if (WRONG(tags[0] != -tags[1])) FAIL("%s: tags %d to %d", options[o], -tags[1], tags[0]);
    PetscCall(MatDestroy(&X));
    PetscCall(MatDestroy(&B));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solution that overflows, although its residual by recurrence is zero, has not converged */
static PetscErrorCode TryOverflow(MPI_Comm comm)
{
  /* squares are numbers */
  const PetscReal tiny     = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-25 : (PetscReal)1e-200;
  const PetscReal right[2] = {PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e13 : (PetscReal)1e90,
                              PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e15 : (PetscReal)1e150};
  const KSPConvergedReason *reasons;
  PetscInt                  begin, end, told;
  Mat                       A, B, X;
  Vec                       b;
  KSP                       ksp;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(comm, 3, 3, PETSC_DETERMINE, PETSC_DETERMINE, 1, NULL, 0, NULL, &A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValue(A, i, i, tiny, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestConvertOperator(&A));
  PetscCall(TestCreateKSP(A, "-ksp_type bcgsm -pc_type none", &ksp));
  PetscCall(CreateBlock(A, 2, &B));
  PetscCall(CreateBlock(A, 2, &X));
  for (PetscInt j = 0; j < 2; j++) {
    PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
    PetscCall(VecSet(b, right[j]));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
  }
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, &reasons, NULL));
  if (WRONG(reasons[0] <= 0)) FAIL("a large solution ends with %s", KSPConvergedReasons[reasons[0]]);
  if (WRONG(reasons[1] != KSP_DIVERGED_NANORINF)) FAIL("a solution that overflows ends with %s", KSPConvergedReasons[reasons[1]]);
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solvers inside the preconditioner that fail for one column: that column fails, and no other one */
static PetscErrorCode TryInner(MPI_Comm comm)
{
  static const char *const  options[] = {"-ksp_type bcgsm -pc_type ksp",
                                         "-ksp_type bcgsm -pc_type bjacobi -sub_ksp_type gmres",
                                         "-ksp_type bcgsm -pc_type asm -sub_ksp_type gmres",
                                         "-ksp_type bcgsm -pc_type gasm -sub_ksp_type gmres",
                                         "-ksp_type bcgsm -pc_type vcrs -vcrs_pc_type ksp",
                                         "-ksp_type bcgsm -pc_type bjacobi"};
  PetscOptions              database;
  const KSPConvergedReason *reasons;
  PetscInt                  told;
  Mat                       A, B, X;
  Vec                       b;
  KSP                       ksp;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(comm, TEST_CONVECTION, 0, &A));
  PetscCall(CreateBlock(A, 4, &B));
  PetscCall(CreateBlock(A, 4, &X));
  for (PetscInt j = 0; j < 4; j++) {
    PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
    PetscCall(TestFillVec(b, (int)j + 1));
    if (j == 1) PetscCall(VecScale(b, (PetscReal)NAN));
    PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
  }
  PetscCall(PetscOptionsCreate(&database));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PetscCall(TestCreateKSP(A, options[o], &ksp));
    /* solvers inside read options when they are set up */
    PetscCall(PetscOptionsClear(database));
    PetscCall(PetscOptionsInsertString(database, options[o]));
    PetscCall(PetscOptionsPush(database));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPMatSolve(ksp, B, X));
    PetscCall(PetscOptionsPop());
    PetscCall(KSPBCGSMGetColumns(ksp, &told, NULL, &reasons, NULL));
    for (PetscInt j = 0; j < told; j++) {
      if (WRONG((reasons[j] < 0) != (j == 1))) FAIL("%s: column %" PetscInt_FMT " ends with %s", options[o], j, KSPConvergedReasons[reasons[j]]);
    }
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Monitors, histories and tests of the program's own ---- */

typedef struct {
  PetscInt  calls, tests;
  PetscReal gap; /* the largest difference between a reported norm and the norm of KSPBuildResidual() */
  PetscReal first;
} Seen;

static PetscErrorCode Watch(KSP ksp, PetscInt it, PetscReal rnorm, PetscCtx ctx)
{
  Seen     *seen = (Seen *)ctx;
  Vec       r, x;
  PetscReal norm;

  PetscFunctionBeginUser;
  if (!it) seen->first = rnorm;
  if (it != seen->calls) seen->gap = PETSC_MAX_REAL;
  seen->calls++;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  seen->gap = PetscMax(seen->gap, PetscAbsReal(norm - rnorm) / seen->first);
  PetscCall(VecDestroy(&r));
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_2, &norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The default test, with the residual of KSPBuildResidual() */
static PetscErrorCode Judge(KSP ksp, PetscInt it, PetscReal rnorm, KSPConvergedReason *reason, PetscCtx ctx)
{
  Vec       r, b;
  PetscReal norm, size;

  PetscFunctionBeginUser;
  ((Seen *)ctx)->tests++;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &norm));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPGetRhs(ksp, &b));
  PetscCall(VecNorm(b, NORM_2, &size));
  *reason = norm <= (PetscReal)1e-6 * size ? KSP_CONVERGED_RTOL : KSP_CONVERGED_ITERATING;
  (void)it;
  (void)rnorm;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TryWatchers(MPI_Comm comm)
{
  const PetscInt  *its;
  const PetscReal *history;
  PetscInt         number, n, entries, sum = 0;
  Seen             seen = {0, 0, 0.0, 0.0};
  KSP              ksp;
  Mat              A, B, X;
  PetscReal        residual;

  PetscFunctionBeginUser;
  PetscCall(TestCreateOperator(comm, TEST_CONVECTION, 0, &A));
  PetscCall(CreateBlock(A, 5, &B));
  PetscCall(CreateBlock(A, 5, &X));
  PetscCall(FillBlock(B, 5));
  PetscCall(TestCreateKSP(A, "-ksp_type bcgsm -ksp_pc_side right -pc_type jacobi", &ksp));
  PetscCall(KSPMonitorSet(ksp, Watch, &seen, NULL));
  PetscCall(KSPSetResidualHistory(ksp, NULL, 1000, PETSC_TRUE));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPGetIterationNumber(ksp, &number));
  PetscCall(KSPGetResidualHistory(ksp, &history, &entries));
  if (WRONG(seen.calls != number + 1)) FAIL("%" PetscInt_FMT " calls of a monitor in %" PetscInt_FMT " iterations", seen.calls, number);
  if (WRONG(entries != number + 1)) FAIL("%" PetscInt_FMT " norms in the history of %" PetscInt_FMT " iterations", entries, number);
  if (WRONG(!(seen.gap <= TINY))) FAIL("a monitor is told a norm that is wrong by %g", (double)seen.gap);
  PetscCall(KSPMonitorCancel(ksp));

  PetscCall(KSPSetConvergenceTest(ksp, Judge, &seen, NULL));
  PetscCall(KSPMatSolve(ksp, B, X));
  PetscCall(KSPBCGSMGetColumns(ksp, &n, &its, NULL, NULL));
  for (PetscInt j = 0; j < n; j++) {
    Vec b, x;

    sum += its[j] + 1;
    if (j == 1) continue;
    PetscCall(MatDenseGetColumnVecRead(B, j, &b));
    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(TestResidual(A, x, b, &residual));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
    PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
    if (WRONG(!(residual <= (PetscReal)1.01e-6))) FAIL("column %" PetscInt_FMT ": a residual of %g by a test of the program's own", j, (double)residual);
  }
  if (WRONG(seen.tests != sum)) FAIL("%" PetscInt_FMT " tests of %" PetscInt_FMT, seen.tests, sum);
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
  PetscCall(TryFailedOnOne(PETSC_COMM_WORLD)); /* first: later, all processes have a guard of lossy matrices */
  PetscCall(TryEnds(PETSC_COMM_WORLD));
  PetscCall(TryFailed(PETSC_COMM_WORLD));
  PetscCall(TryOverflow(PETSC_COMM_WORLD));
  PetscCall(TryInner(PETSC_COMM_WORLD));
  PetscCall(TryWatchers(PETSC_COMM_WORLD));
  return TestEnd(300, "each column is as alone: all is right\n");
}

/*TEST

  testset:
    output_file: output/columns_1.out

    test:
      nsize: {{1 2}}
      args: -operator_types {{aij vcrs}}

    test:
      suffix: 3
      nsize: 3
      args: -operator_types vcrs

    # -checkfunctionlist 0: as in vcrs/conversions
    test:
      suffix: cuda
      requires: cuda
      args: -checkfunctionlist 0 -operator_types {{aijcusparse aijcusparse,vcrs}}

TEST*/
