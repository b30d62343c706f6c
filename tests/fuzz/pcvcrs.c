/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A fuzzer of PCVCRS: factors with pivots near zero, all losses and ways. Compressed preconditioners fail as the inner one, and are linear "
                     "and near the inner one.\n\n";

#include "fuzztest.h"
#include <lithe/private/petsccompat.h>
#include <petsc/private/pcimpl.h>

#define MOST 64

typedef struct {
  FuzzMatrix A;
  PetscInt   number;
  char       inner[256], outer[256];
  PetscBool  exact; /* no loss at all */
  PetscBool  rough; /* a loss that may change entries by more than 10 percent */
  PetscReal  scale; /* of the vectors, a power of two */
} Problem;

static PetscInt applied, failed, converged, diverged;

static PetscErrorCode Describe(const Problem *p)
{
  char options[512];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%s, %s", p->inner, p->outer));
  PetscCall(FuzzDescribe(&p->A, p->number, "", options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A random problem ---- */

static PetscErrorCode CreateProblem(Fuzz *f, Problem *p)
{
  static const char *const types[]  = {"ilu", "ilu", "ilu", "icc", "icc", "lu", "cholesky", "sor", "jacobi"};
  static const char *const orders[] = {"natural", "natural", "rcm", "nd", "qmd", "1wd"};
  static const char *const shifts[] = {"none", "nonzero", "positive_definite", "inblocks"};
  static const char *const losses[] = {"log", "log", "none", "bins", "classes", "fixed", "single"};
  const PetscInt           n        = 1 + FuzzInt(f, FuzzOneOf(f, 3) ? 4 : 60);
  const char              *type, *loss = losses[FuzzInt(f, 7)];
  const PetscBool          single = FuzzOneOf(f, 3);
  PetscInt                 bits   = FuzzOneOf(f, 2) ? 8 : 16;

  PetscFunctionBegin;
  PetscCall(FuzzMatrixCreate(f, n, n, 3, &p->A));
  type = types[FuzzInt(f, 9)];
  /* PETSc stops with an error, not with a reason, where a diagonal is missing, or zero in SOR */
  if (!FuzzHasDiagonal(&p->A, PETSC_FALSE) || (!strcmp(type, "sor") && !FuzzHasDiagonal(&p->A, PETSC_TRUE))) type = "jacobi";
  /* incomplete Cholesky factors read the upper triangle */
  if (!p->A.symmetric && (!strcmp(type, "icc") || !strcmp(type, "cholesky"))) type = "ilu";
  PetscCall(PetscSNPrintf(p->inner, sizeof(p->inner), "-@pc_type %s", type));
  if (!strcmp(type, "ilu") || !strcmp(type, "icc") || !strcmp(type, "lu") || !strcmp(type, "cholesky")) {
    char more[200];
    /* MatLUFactorNumeric_SeqAIJ() never ends with a shift that overflows or is NaN */
    const PetscBool shifted = (PetscBool)(p->A.finite && (p->A.sizes == SIZES_ONE || p->A.sizes == SIZES_DECADES));
    const char     *shift   = shifts[FuzzInt(f, 4)];

    PetscCall(
      PetscSNPrintf(more, sizeof(more), " -@pc_factor_mat_ordering_type %s -@pc_factor_shift_type %s", orders[FuzzInt(f, 6)], shifted ? shift : "none"));
    PetscCall(PetscStrlcat(p->inner, more, sizeof(p->inner)));
    if (!strcmp(type, "ilu") || !strcmp(type, "icc")) {
      PetscCall(PetscSNPrintf(more, sizeof(more), " -@pc_factor_levels %d", (int)FuzzInt(f, 3)));
      PetscCall(PetscStrlcat(p->inner, more, sizeof(p->inner)));
    }
  }
  PetscCall(
    PetscSNPrintf(p->outer, sizeof(p->outer),
                  "-pc_vcrs_loss %s -pc_vcrs_bits %d -pc_vcrs_precision %s -pc_vcrs_factor_solve %s -pc_vcrs_preserve_row_sums %d -pc_vcrs_drop_exact %d", loss,
                  (int)bits, single ? "single" : "double", FuzzOneOf(f, 3) ? "jacobi" : (FuzzOneOf(f, 2) ? "auto" : "substitution"), (int)FuzzInt(f, 2),
                  (int)FuzzInt(f, 2)));
  p->exact = (PetscBool)(!strcmp(loss, "none") && !single);
  p->rough = (PetscBool)(!strcmp(loss, "bins") || !strcmp(loss, "classes") || !strcmp(loss, "fixed") || strstr(p->outer, "row_sums 0"));
  if (strstr(p->outer, "jacobi") && strcmp(type, "jacobi") && strcmp(type, "sor")) {
    p->exact = PETSC_FALSE;
    if (FuzzOneOf(f, 3)) {
      PetscCall(PetscStrlcat(p->outer, FuzzOneOf(f, 2) ? " -pc_vcrs_factor_sweeps 0" : " -pc_vcrs_factor_sweeps 3", sizeof(p->outer)));
      p->rough = PETSC_TRUE;
    }
  }
  p->scale = PetscPowReal((PetscReal)2.0, (PetscReal)(FuzzOneOf(f, 2) ? FuzzInt(f, FUZZ_FAR / 2) - FUZZ_FAR / 4 : 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The preconditioners ---- */

/* text without @ or with a prefix in its place */
static PetscErrorCode Insert(PetscOptions database, const char text[], const char prefix[])
{
  char   all[1024];
  size_t length = 0;

  PetscFunctionBegin;
  for (const char *c = text; *c; c++) {
    if (*c == '@')
      for (const char *q = prefix; *q; q++) all[length++] = *q;
    else all[length++] = *c;
  }
  all[length] = 0;
  PetscCall(PetscOptionsInsertString(database, all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Problem *p, Mat A, PetscBool compressed, KSP *ksp)
{
  PetscOptions database;
  PC           pc;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsPush(database));
  PetscCall(Insert(database, p->inner, compressed ? "vcrs_" : ""));
  if (compressed) PetscCall(Insert(database, "-pc_type vcrs", ""));
  if (compressed) PetscCall(Insert(database, p->outer, ""));
  PetscCall(KSPCreate(PETSC_COMM_SELF, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, KSPBCGSM));
  PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(*ksp, PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-4 : (PetscReal)1e-8, 0.0, (PetscReal)1e8, 100));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPGetPC(*ksp, &pc));
  PetscCall(PCSetUp(pc));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Comparisons ---- */

typedef PetscErrorCode (*Application)(PC, Vec, Vec);

static PetscErrorCode Norm(Vec x, PetscReal *norm)
{
  PetscFunctionBegin;
  PetscCall(VecNorm(x, NORM_INFINITY, norm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference, relative to x */
static PetscErrorCode Difference(Vec x, Vec y, PetscReal *difference)
{
  PetscReal norm;
  Vec       d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1.0, x, y));
  PetscCall(Norm(d, difference));
  PetscCall(Norm(x, &norm));
  if (*difference > 0.0 && norm > 0.0) *difference /= norm;
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The preconditioner against the inner one, and with scaled vectors against itself. Of other matrices than dominated
   ones a factor may amplify any change
*/
static PetscErrorCode CheckApplication(const Problem *p, const char what[], Application apply, PC pc, PC inner, Vec x)
{
  const PetscReal tight  = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-3 : (PetscReal)1e-10;
  const PetscReal likely = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e20 : (PetscReal)1e200;
  PetscReal       difference, norm[3];
  Vec             y[3];

  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(VecDuplicate(x, &y[k]));
  PetscCall((*apply)(inner, x, y[0]));
  PetscCall((*apply)(pc, x, y[1]));
  for (int k = 0; k < 2; k++) PetscCall(Norm(y[k], &norm[k]));
  if (WRONG(FuzzIsUsual(&p->A) && PetscIsInfOrNanReal(norm[1]))) REPORT("%s: a NaN with a dominant matrix", what);
  if (WRONG(norm[0] < likely && PetscIsInfOrNanReal(norm[1]) && !p->rough)) REPORT("%s: a NaN, and %g by the inner preconditioner", what, (double)norm[0]);
  if (WRONG(p->exact && PetscIsInfOrNanReal(norm[0]) && !PetscIsInfOrNanReal(norm[1]))) REPORT("%s: a NaN by the inner preconditioner only", what);
  if (FuzzIsUsual(&p->A)) {
    PetscCall(Difference(y[0], y[1], &difference));
    if (WRONG(!(difference <= (p->exact ? tight : p->rough ? (PetscReal)10.0 : (PetscReal)0.35)))) REPORT("%s: differs by %g", what, (double)difference);
    PetscCall(VecScale(x, p->scale));
    PetscCall((*apply)(pc, x, y[2]));
    PetscCall(VecScale(x, 1.0 / p->scale));
    PetscCall(VecScale(y[2], 1.0 / p->scale));
    PetscCall(Difference(y[1], y[2], &difference));
    if (WRONG(!(difference <= (strstr(p->outer, "precision single") ? (PetscReal)1e-6 : 1000 * PETSC_MACHINE_EPSILON))))
      REPORT("%s: differs by %g if vectors are scaled by %g", what, (double)difference, (double)p->scale);
  }
  applied++;
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several columns are the columns alone, and y^T (M x) = (M^T y)^T x */
static PetscErrorCode CheckColumns(const Problem *p, PC pc, Vec x)
{
  PetscReal   difference, norm[2];
  PetscScalar dot[2];
  PetscBool   has;
  Mat         X, Y;
  Vec         y, z, b;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PCApply(pc, x, y));
  PetscCall(MatCreateSeqDense(PETSC_COMM_SELF, p->A.n, 5, NULL, &X));
  PetscCall(MatZeroEntries(X));
  PetscCall(MatDuplicate(X, MAT_DO_NOT_COPY_VALUES, &Y));
  for (PetscInt k = 0; k < 5; k++) {
    PetscCall(MatDenseGetColumnVecWrite(X, k, &b));
    PetscCall(VecCopy(x, b));
    PetscCall(VecScale(b, (PetscReal)k));
    PetscCall(MatDenseRestoreColumnVecWrite(X, k, &b));
  }
  PetscCall(PCMatApply(pc, X, Y));
  for (PetscInt k = 1; k < 5 && FuzzIsUsual(&p->A); k++) {
    PetscCall(MatDenseGetColumnVecRead(Y, k, &b));
    PetscCall(VecCopy(b, z));
    PetscCall(MatDenseRestoreColumnVecRead(Y, k, &b));
    PetscCall(VecScale(z, (PetscReal)1.0 / (PetscReal)k));
    PetscCall(Difference(y, z, &difference));
    if (WRONG(!(difference <= (strstr(p->outer, "precision single") ? (PetscReal)1e-6 : 1000 * PETSC_MACHINE_EPSILON))))
      REPORT("column %" PetscInt_FMT " of several differs by %g", k, (double)difference);
  }
  PetscCall(PCApplyTransposeExists(pc, &has));
  if (has && FuzzIsUsual(&p->A) && !strstr(p->inner, "sor")) {
    PetscCall(PCApplyTranspose(pc, y, z));
    PetscCall(VecTDot(y, y, &dot[0]));
    PetscCall(VecTDot(z, x, &dot[1]));
    PetscCall(Norm(y, &norm[0]));
    if (WRONG(!(PetscAbsScalar(dot[0] - dot[1]) <=
                (strstr(p->outer, "precision single") ? (PetscReal)1e-5 : 1e5 * PETSC_MACHINE_EPSILON) * PetscAbsScalar(dot[0]))))
      REPORT("the transpose differs by %g", (double)(PetscAbsScalar(dot[0] - dot[1]) / PetscAbsScalar(dot[0])));
  }
  PetscCall(MatDestroy(&X));
  PetscCall(MatDestroy(&Y));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Half of a solution with a negative pivot is an error with the inner preconditioner, and with the compressed one */
static PetscErrorCode CheckHalves(const Problem *p, PC pc, PC inner, Vec x, PetscBool *possible)
{
  PetscErrorCode code[2] = {PETSC_SUCCESS, PETSC_SUCCESS};
  Vec            y, z;

  PetscFunctionBegin;
  *possible = PETSC_FALSE;
  if (!inner->ops->applysymmetricleft) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecCopy(x, z)); /* an error leaves its vector locked */
  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  code[0] = PCApplySymmetricLeft(inner, z, y);
  code[1] = PCApplySymmetricLeft(pc, z, y);
  PetscCall(PetscPopErrorHandler());
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  if (WRONG(code[0] != code[1])) REPORT("half of a solution: error %d, not %d", (int)code[1], (int)code[0]);
  *possible = (PetscBool)(!code[0] && !code[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest solution of all iterations: the residual by recurrence is off by rounding errors of this size */
static PetscErrorCode Watch(KSP ksp, PETSC_UNUSED PetscInt it, PETSC_UNUSED PetscReal norm, PetscCtx ctx)
{
  PetscReal *largest = (PetscReal *)ctx, size;
  Vec        x;

  PetscFunctionBegin;
  PetscCall(KSPBuildSolution(ksp, NULL, &x));
  PetscCall(VecNorm(x, NORM_INFINITY, &size));
  if (size > *largest) *largest = size;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve that converges has a small residual, in the norm of the solver, which is not preconditioned */
static PetscErrorCode CheckSolve(const Problem *p, KSP ksp, Mat A, Vec b)
{
  PetscReal          norm, first, rtol, size = 0.0, last;
  KSPConvergedReason reason;
  Vec                x, r;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(KSPMonitorSet(ksp, Watch, &size, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPMonitorCancel(ksp));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  PetscCall(KSPGetResidualNorm(ksp, &last));
  if (WRONG(reason == KSP_CONVERGED_ITERATING)) REPORT("no reason");
  if (reason < 0) {
    diverged++;
    if (WRONG(FuzzIsUsual(&p->A) && !p->rough)) REPORT("reason %s with a dominant matrix", KSPConvergedReasons[reason]);
  } else {
    converged++;
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_INFINITY, &norm)); /* whose square may overflow */
    PetscCall(VecNorm(b, NORM_2, &first));
    /* rounding errors of large solutions */
    for (PetscInt k = 0; k < p->A.n * p->A.n; k++)
      first = PetscMax(first, PETSC_MACHINE_EPSILON / rtol * (PetscReal)1e3 * PetscAbsScalar(p->A.a[k]) * size * (PetscReal)p->A.n);
    if (WRONG(!(norm <= 10 * rtol * first))) REPORT("reason %s with a residual of %g, not %g", KSPConvergedReasons[reason], (double)norm, (double)last);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A case ---- */

static PetscErrorCode CheckPair(const Problem *p, Mat A, KSP ksp, KSP other, Vec x)
{
  PCFailedReason reason[2];
  PC             pc, inner;
  PetscBool      halves = PETSC_FALSE;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(KSPGetPC(other, &inner));
  PetscCall(PCGetFailedReason(pc, &reason[0]));
  PetscCall(PCGetFailedReason(inner, &reason[1]));
  if (WRONG(reason[0] != reason[1])) REPORT("reason %s, not %s", PCFailedReasons[reason[0]], PCFailedReasons[reason[1]]);
  if (reason[0]) {
    failed++;
    PetscCall(CheckSolve(p, ksp, A, x));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(CheckApplication(p, "PCApply()", PCApply, pc, inner, x));
  PetscCall(CheckColumns(p, pc, x));
  PetscCall(CheckSolve(p, ksp, A, x));
  if (strstr(p->inner, "icc") || strstr(p->inner, "cholesky")) PetscCall(CheckHalves(p, pc, inner, x, &halves));
  if (halves) {
    PetscCall(CheckApplication(p, "PCApplySymmetricLeft()", PCApplySymmetricLeft, pc, inner, x));
    PetscCall(CheckApplication(p, "PCApplySymmetricRight()", PCApplySymmetricRight, pc, inner, x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(Fuzz *f, PetscInt number, PetscBool shown)
{
  Problem     *p;
  Mat          A;
  KSP          ksp, other;
  Vec          x;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  p->number = number;
  PetscCall(CreateProblem(f, p));
  if (shown) PetscCall(Describe(p));
  PetscCall(FuzzMatrixMat(&p->A, PETSC_COMM_SELF, MATAIJ, p->A.n, p->A.n, &A));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = 0; i < p->A.n; i++) a[i] = FuzzScalar(f);
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscCall(CreateSolver(p, A, PETSC_FALSE, &other));
  PetscCall(CreateSolver(p, A, PETSC_TRUE, &ksp));
  PetscCall(CheckPair(p, A, ksp, other, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(KSPDestroy(&other));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscCall(FuzzMatrixDestroy(&p->A));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  /* SOR of PETSc would relax blocks of rows, and MatLUFactorNumeric_SeqAIJ_Inode() crashes with shifts */
  PetscCall(PetscOptionsSetValue(NULL, "-mat_no_inode", NULL));
  PetscCall(FuzzRun(300, Case));
  PetscCall(FuzzCounts("%" PetscInt_FMT " applications, %" PetscInt_FMT " failed set-ups, %" PetscInt_FMT " solves converged, %" PetscInt_FMT " diverged\n",
                       applied, failed, converged, diverged));
  return TestEnd(1000, "compressed as exact: all is right\n");
}

/*TEST

  test:

TEST*/
