/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "A fuzzer of MATSOLVERLITHE: ILU(0) and ICC(0) of small matrices, with pivots near zero and NaN, fail and solve as PETSc's factors of MATAIJ.\n\
  -fuzz_mat_type: the type of the matrix; -fuzz_solver: the solver. With aij and petsc the program tests itself\n\n";

#include "fuzztest.h"
#include <lithe/private/petsccompat.h>
#include <petsc/private/pcimpl.h>

typedef struct {
  FuzzMatrix  A;
  PetscInt    number;
  char        options[256];
  const char *where;
} Problem;

static char     mattype[64] = "aijcusparse", solver[64] = "lithe";
static PetscInt factored, failed;

static PetscErrorCode Describe(const Problem *p)
{
  return FuzzDescribe(&p->A, p->number, p->where, p->options);
}

static PetscErrorCode CreateProblem(Fuzz *f, Problem *p)
{
  static const char *const shifts[] = {"none", "none", "nonzero", "positive_definite", "inblocks"};
  const PetscInt           n        = 1 + FuzzInt(f, FuzzOneOf(f, 3) ? 4 : 60);
  const PetscBool          icc = FuzzOneOf(f, 2), natural = (PetscBool)!FuzzOneOf(f, 6);
  const char              *shift = shifts[FuzzInt(f, 5)];

  PetscFunctionBegin;
  PetscCall(FuzzMatrixCreate(f, n, n, 3, &p->A));
  /* PETSc stops with an error where a diagonal entry is missing */
  for (PetscInt i = 0; i < n; i++) p->A.there[i * n + i] = PETSC_TRUE;
  /* MatLUFactorNumeric_SeqAIJ() never ends with a shift that overflows or is NaN */
  if (!p->A.finite || (p->A.sizes != SIZES_ONE && p->A.sizes != SIZES_DECADES)) shift = "none";
  PetscCall(PetscSNPrintf(p->options, sizeof(p->options), "-pc_type %s -pc_factor_mat_ordering_type %s -pc_factor_shift_type %s -pc_factor_levels %d",
                          icc && p->A.symmetric ? "icc" : "ilu", natural ? "natural" : "rcm", shift, FuzzOneOf(f, 8) ? 1 : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Problem *p, Mat A, const char type[], PC *pc)
{
  PetscOptions database;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, p->options));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PetscOptionsPush(database));
  PetscCall(PetscOptionsSetValue(database, "-pc_factor_mat_solver_type", type));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One application of both preconditioners, to the same numbers */
static PetscErrorCode CheckApplication(const Problem *p, const char what[], PetscErrorCode (*apply)(PC, Vec, Vec), const PC pc[2], const Vec x[2])
{
  const PetscReal likely = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e20 : (PetscReal)1e200;
  PetscErrorCode  code[2];
  PetscReal       difference, norm[2];
  Vec             in[2], y[2], z;

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDuplicate(x[k], &in[k]));
    PetscCall(VecCopy(x[k], in[k])); /* an error leaves its vector locked */
    PetscCall(VecDuplicate(x[k], &y[k]));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    code[k] = (*apply)(pc[k], in[k], y[k]);
    PetscCall(PetscPopErrorHandler());
  }
  if (WRONG(code[0] != code[1])) REPORT("%s: error %d, not %d", what, (int)code[0], (int)code[1]);
  if (!code[0] && !code[1]) {
    PetscCall(VecDuplicate(y[1], &z));
    PetscCall(VecCopy(y[0], z));
    for (int k = 0; k < 2; k++) PetscCall(VecNorm(k ? y[1] : z, NORM_1, &norm[k]));
    if (WRONG(norm[1] < likely && PetscIsInfOrNanReal(norm[0]))) REPORT("%s: a NaN, and %g with PETSc", what, (double)norm[1]);
    if (WRONG(norm[0] < likely && PetscIsInfOrNanReal(norm[1]))) REPORT("%s: %g, and a NaN with PETSc", what, (double)norm[0]);
    PetscCall(VecAXPY(z, -1.0, y[1]));
    PetscCall(VecNorm(z, NORM_1, &difference));
    if (WRONG(FuzzIsUsual(&p->A) && !(difference <= (PetscReal)1e4 * PETSC_MACHINE_EPSILON * norm[1])))
      REPORT("%s: differs by %g of %g", what, (double)difference, (double)norm[1]);
    PetscCall(VecDestroy(&z));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&in[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAll(const Problem *p, const PC pc[2], const Vec x[2])
{
  PCFailedReason reason[2];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(PCGetFailedReason(pc[k], &reason[k]));
  if (WRONG(reason[0] != reason[1])) REPORT("reason %s, not %s", PCFailedReasons[reason[0]], PCFailedReasons[reason[1]]);
  if (reason[0] || reason[1]) {
    failed++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  factored++;
  PetscCall(CheckApplication(p, "PCApply()", PCApply, pc, x));
  PetscCall(CheckApplication(p, "PCApplyTranspose()", PCApplyTranspose, pc, x));
  if (strstr(p->options, "icc")) {
    PetscCall(CheckApplication(p, "PCApplySymmetricLeft()", PCApplySymmetricLeft, pc, x));
    PetscCall(CheckApplication(p, "PCApplySymmetricRight()", PCApplySymmetricRight, pc, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets the entries of the problem in the pattern of A */
static PetscErrorCode SetEntries(const Problem *p, Mat A)
{
  PetscFunctionBegin;
  for (PetscInt i = 0; i < p->A.n; i++) {
    for (PetscInt j = 0; j < p->A.n; j++) {
      if (p->A.there[i * p->A.n + j]) PetscCall(MatSetValue(A, i, j, p->A.a[i * p->A.n + j], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(Fuzz *f, PetscInt number, PetscBool shown)
{
  Problem      p = {.number = number, .where = "first entries"};
  Mat          A[2];
  PC           pc[2];
  Vec          x[2];
  PetscScalar *a, value[64];

  PetscFunctionBegin;
  PetscCall(CreateProblem(f, &p));
  if (shown) PetscCall(Describe(&p));
  for (PetscInt i = 0; i < p.A.n; i++) value[i] = FuzzScalar(f);
  for (int k = 0; k < 2; k++) {
    PetscCall(FuzzMatrixMat(&p.A, PETSC_COMM_SELF, k ? MATAIJ : mattype, p.A.n, p.A.n, &A[k]));
    PetscCall(MatCreateVecs(A[k], &x[k], NULL));
    PetscCall(VecGetArrayWrite(x[k], &a));
    for (PetscInt i = 0; i < p.A.n; i++) a[i] = value[i];
    PetscCall(VecRestoreArrayWrite(x[k], &a));
    PetscCall(CreateSolver(&p, A[k], k ? "petsc" : solver, &pc[k]));
  }
  PetscCall(CheckAll(&p, pc, x));
  /* a zero or a NaN on the diagonal, then a dominant diagonal */
  for (int round = 0; round < 2 && !strstr(p.options, "positive_definite") && !strstr(p.options, "nonzero"); round++) {
    const PetscInt row = FuzzInt(f, p.A.n);

    p.where    = round ? "dominant entries" : "a zero or a NaN";
    p.A.finite = PETSC_FALSE;
    for (PetscInt i = 0; i < p.A.n && round; i++) p.A.a[i * p.A.n + i] = 100.0;
    if (!round) p.A.a[row * p.A.n + row] = FuzzOneOf(f, 2) ? (PetscScalar)0.0 : FuzzNoNumber(f);
    for (int k = 0; k < 2; k++) {
      PetscCall(SetEntries(&p, A[k]));
      PetscCall(PCSetUp(pc[k]));
    }
    PetscCall(CheckAll(&p, pc, x));
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(PCDestroy(&pc[k]));
    PetscCall(VecDestroy(&x[k]));
    PetscCall(MatDestroy(&A[k]));
  }
  PetscCall(FuzzMatrixDestroy(&p.A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_mat_type", mattype, sizeof(mattype), NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-fuzz_solver", solver, sizeof(solver), NULL));
  /* MatLUFactorNumeric_SeqAIJ_Inode() crashes with shifts */
  PetscCall(PetscOptionsSetValue(NULL, "-mat_no_inode", NULL));
  PetscCall(FuzzRun(200, Case));
  PetscCall(FuzzCounts("%" PetscInt_FMT " factors, %" PetscInt_FMT " failed\n", factored, failed));
  return TestEnd(1000, "as PETSc's factors: all is right\n");
}

/*TEST

  testset:
    output_file: output/factors_1.out

    test:
      args: -fuzz_mat_type {{aij vcrs hybmgpu}} -fuzz_solver petsc -cases 100 -test_least 800

    test:
      # PETSc names functions that its matrices still have when they are destroyed
      suffix: cuda
      requires: cuda
      filter: grep -v "function name"

TEST*/
