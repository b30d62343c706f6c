/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A fuzzer of KSPBCGSM: columns that depend on each other, zeros, NaN, any sizes. A converged column has a small residual, and no column "
                     "changes another.\n\n";

#include <lithe/private/petsccompat.h>
#include "fuzztest.h"

#define COLUMNS_MOST 9

typedef enum {
  COLUMN_RANDOM,
  COLUMN_EQUAL,    /* to an earlier column */
  COLUMN_MULTIPLE, /* of an earlier column */
  COLUMN_SUM,      /* of two earlier columns */
  COLUMN_ZERO,
  COLUMN_SOLVED, /* by the guess */
  COLUMN_NEARLY, /* solved, by the guess */
  COLUMN_UNIT,
  COLUMN_SMALL,
  COLUMN_LARGE,
  COLUMN_NO_NUMBER,
  COLUMNS
} Column;

/* A linear system with several right-hand sides */
typedef struct {
  FuzzMatrix  A;
  PetscInt    k;
  Column      column[COLUMNS_MOST];
  PetscScalar b[COLUMNS_MOST][64], guess[COLUMNS_MOST][64];
  PetscBool   transpose, right, guessed;
  PetscReal   rtol, atol;
  PetscInt    max_it, batch;
  const char *pc;
} Problem;

/* b - op(A) x, nearly exact; op(A) x if b is NULL. Products with a vector of zeros are zero, also of a NaN */
static void Residual(const Problem *p, const PetscScalar b[], const PetscScalar x[], PetscScalar r[])
{
  PetscBool zero = PETSC_TRUE;

  for (PetscInt i = 0; i < p->A.n; i++) zero = (PetscBool)(zero && x[i] == (PetscScalar)0.0);
  for (PetscInt i = 0; i < p->A.n; i++) {
    long double sum[2] = {0, 0}, size = 0;

    if (!zero) FuzzAddProduct(&p->A, p->transpose, i, x, sum, &size);
    if (b) {
      sum[0] = PetscRealPart(b[i]) - sum[0];
      sum[1] = PetscImaginaryPart(b[i]) - sum[1];
    }
#if defined(PETSC_USE_COMPLEX)
    r[i] = PetscCMPLX((PetscReal)sum[0], (PetscReal)sum[1]);
#else
    r[i] = (PetscReal)sum[0];
#endif
  }
}

/* ---- A random problem ---- */

static void FillColumn(Fuzz *f, Problem *p, PetscInt k)
{
  const PetscInt    n    = p->A.n;
  const PetscInt    from = k ? FuzzInt(f, k) : 0, other = k ? FuzzInt(f, k) : 0;
  const PetscScalar times = FuzzScalar(f) * FuzzPower(f, 8);
  PetscScalar       x[64];

  p->column[k] = (Column)FuzzInt(f, COLUMNS);
  if (!k && (p->column[k] == COLUMN_EQUAL || p->column[k] == COLUMN_MULTIPLE || p->column[k] == COLUMN_SUM)) p->column[k] = COLUMN_RANDOM;
  for (PetscInt i = 0; i < n; i++) {
    x[i]           = FuzzScalar(f);
    p->b[k][i]     = x[i];
    p->guess[k][i] = FuzzScalar(f);
  }
  switch (p->column[k]) {
  case COLUMN_EQUAL:
  case COLUMN_MULTIPLE:
  case COLUMN_SUM:
    for (PetscInt i = 0; i < n; i++) {
      p->b[k][i]     = p->b[from][i];
      p->guess[k][i] = p->guess[from][i];
      if (p->column[k] == COLUMN_SUM) {
        p->b[k][i] += p->b[other][i];
        p->guess[k][i] += p->guess[other][i];
      }
      if (p->column[k] == COLUMN_MULTIPLE) {
        p->b[k][i] *= times;
        p->guess[k][i] *= times;
      }
    }
    break;
  case COLUMN_ZERO:
    for (PetscInt i = 0; i < n; i++) p->b[k][i] = 0.0;
    break;
  case COLUMN_SOLVED:
  case COLUMN_NEARLY:
    Residual(p, NULL, x, p->b[k]);
    for (PetscInt i = 0; i < n; i++) p->guess[k][i] = x[i];
    if (p->column[k] == COLUMN_NEARLY) p->guess[k][FuzzInt(f, n)] += 1e-6;
    break;
  case COLUMN_UNIT:
    for (PetscInt i = 0; i < n; i++) p->b[k][i] = 0.0;
    p->b[k][FuzzInt(f, n)] = 1.0;
    break;
  case COLUMN_SMALL:
  case COLUMN_LARGE: {
    const PetscReal power = PetscPowReal((PetscReal)10.0, (PetscReal)(p->column[k] == COLUMN_SMALL ? -1 : 1) * (PetscReal)FuzzInt(f, FUZZ_FAR));

    for (PetscInt i = 0; i < n; i++) p->b[k][i] *= power;
    for (PetscInt i = 0; i < n; i++) p->guess[k][i] *= power;
    break;
  }
  case COLUMN_NO_NUMBER:
    if (FuzzOneOf(f, 2)) p->b[k][FuzzInt(f, n)] = FuzzNoNumber(f);
    else p->guess[k][FuzzInt(f, n)] = FuzzNoNumber(f);
    break;
  default:
    break;
  }
}

static PetscErrorCode CreateProblem(Fuzz *f, Problem *p)
{
  static const char *const pcs[] = {"none", "none", "jacobi", "bjacobi", "bjacobi -sub_pc_type lu", "sor", "vcrs -vcrs_pc_type bjacobi", "asm", "sor"};
  PetscBool                diagonal, inverses;
  PetscInt                 n = 1 + FuzzInt(f, FuzzOneOf(f, 3) ? 4 : 60);

  PetscFunctionBegin;
  PetscCall(FuzzMatrixCreate(f, n, n, 2, &p->A));
  p->k         = 1 + FuzzInt(f, COLUMNS_MOST);
  p->transpose = FuzzOneOf(f, 5);
  p->right     = FuzzOneOf(f, 2);
  p->guessed   = FuzzOneOf(f, 2);
  p->rtol      = PetscPowReal((PetscReal)10.0, (PetscReal)(-1 - FuzzInt(f, PetscDefined(USE_REAL_SINGLE) ? 4 : 10)));
  p->atol      = FuzzOneOf(f, 3) ? (PetscReal)0.0 : (FuzzOneOf(f, 2) ? (PetscReal)1e-5 : (PetscReal)1e-30);
  p->max_it    = 1 + FuzzInt(f, FuzzOneOf(f, 4) ? 4 : 300);
  p->batch     = FuzzOneOf(f, 3) ? 1 + FuzzInt(f, p->k) : PETSC_DECIDE;
  p->pc        = pcs[FuzzInt(f, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(pcs))];
  for (PetscInt k = 0; k < p->k; k++) FillColumn(f, p, k);

  /* PETSc stops with an error, not with a reason, where these preconditioners need a diagonal */
  diagonal = FuzzHasDiagonal(&p->A, PETSC_FALSE);
  inverses = FuzzHasDiagonal(&p->A, PETSC_TRUE);
  if (!strcmp(p->pc, "sor") && (!inverses || p->transpose)) p->pc = "none";
  if ((!strncmp(p->pc, "bjacobi", 7) || !strncmp(p->pc, "asm", 3) || !strncmp(p->pc, "vcrs", 4)) && !diagonal) p->pc = "jacobi";
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDense(const Problem *p, Mat A, PetscBool solutions, Mat *D)
{
  PetscInt m, begin, end;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), m, PETSC_DECIDE, p->A.n, p->k, NULL, D));
  for (PetscInt k = 0; k < p->k; k++) {
    for (PetscInt i = begin; i < end; i++) PetscCall(MatSetValue(*D, i, k, solutions ? p->guess[k][i] : p->b[k][i], INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*D, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*D, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Problem *p, Mat A, const char type[], KSP *ksp)
{
  PetscOptions database;
  char         options[512];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -ksp_pc_side %s -pc_type %s", type, p->right ? "right" : "left", p->pc));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, options));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetTolerances(*ksp, p->rtol, p->atol, (PetscReal)1e8, p->max_it));
  PetscCall(KSPSetInitialGuessNonzero(*ksp, p->guessed));
  PetscCall(KSPSetMatSolveBatchSize(*ksp, p->batch));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(KSPSetUpOnBlocks(*ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Results ---- */

typedef struct {
  PetscInt           its;
  KSPConvergedReason reason;
  PetscReal          norm;
  PetscScalar        x[64]; /* all rows */
} Result;

/* All rows of a column, on all processes */
static PetscErrorCode GetColumn(const Problem *p, Mat X, PetscInt k, PetscScalar x[])
{
  PetscInt begin, end;
  Vec      v;

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(X, &begin, &end));
  PetscCall(MatDenseGetColumnVecRead(X, k, &v));
  for (PetscInt i = 0; i < p->A.n; i++) x[i] = 0.0;
  for (PetscInt i = begin; i < end; i++) PetscCall(VecGetValues(v, 1, &i, &x[i]));
  PetscCall(MatDenseRestoreColumnVecRead(X, k, &v));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, x, (PetscMPIInt)p->A.n, MPIU_SCALAR, MPIU_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(const Problem *p, Mat A, KSP ksp, Result results[])
{
  PetscInt                  n;
  const PetscInt           *its;
  const KSPConvergedReason *reasons;
  const PetscReal          *norms;
  KSPConvergedReason        reason, least = KSP_CONVERGED_ITERATING;
  Mat                       B, X;

  PetscFunctionBegin;
  PetscCall(CreateDense(p, A, PETSC_FALSE, &B));
  PetscCall(CreateDense(p, A, PETSC_TRUE, &X));
  PetscCall((*(p->transpose ? KSPMatSolveTranspose : KSPMatSolve))(ksp, B, X));
  PetscCall(KSPBCGSMGetColumns(ksp, &n, &its, &reasons, &norms));
  if (WRONG(n != p->k)) FAIL("%" PetscInt_FMT " results of %" PetscInt_FMT " columns", n, p->k);
  for (PetscInt k = 0; k < p->k; k++) {
    results[k].its    = its[k];
    results[k].reason = reasons[k];
    results[k].norm   = norms[k];
    if (reasons[k] < 0) least = PetscMin(least, reasons[k]);
    PetscCall(GetColumn(p, X, k, results[k].x));
  }
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (WRONG(least < 0 ? reason != least : reason <= 0)) FAIL("a reason %s, although the least is %s", KSPConvergedReasons[reason], KSPConvergedReasons[least]);
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The norms of residuals ---- */

/* The norm that the solver monitors, of a vector. Squares of small numbers underflow, in VecNorm() as in the solver */
static PetscErrorCode MonitoredNorm(const Problem *p, KSP ksp, const PetscScalar r[], PetscReal *norm)
{
  PC       pc;
  Mat      A;
  Vec      v, w;
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCGetOperators(pc, &A, NULL));
  PetscCall(MatCreateVecs(A, &v, &w));
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(v, i, r[i], INSERT_VALUES));
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  if (p->right) PetscCall(VecCopy(v, w));
  else PetscCall((*(p->transpose ? PCApplyTranspose : PCApply))(pc, v, w));
  PetscCall(VecNorm(w, NORM_2, norm));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest solution of all iterations: the residuals of recurrences are off by rounding errors of this size */
typedef struct {
  void     *usual;
  PetscReal largest;
} Watch;

static PetscErrorCode WatchConverged(KSP ksp, PetscInt it, PetscReal norm, KSPConvergedReason *reason, void *ctx)
{
  Watch    *w = (Watch *)ctx;
  Vec       x;
  PetscReal size;

  PetscFunctionBegin;
  PetscCall(KSPGetSolution(ksp, &x));
  PetscCall(VecNorm(x, NORM_INFINITY, &size));
  if (!PetscIsInfOrNanReal(size)) w->largest = PetscMax(w->largest, size);
  PetscCall(KSPConvergedDefault(ksp, it, norm, reason, w->usual));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A problem with column k only */
static PetscErrorCode CopyProblem(const Problem *p, PetscInt k, Problem **copy)
{
  Problem *one;

  PetscFunctionBegin;
  PetscCall(PetscNew(&one));
  PetscCall(PetscMemcpy(one, p, sizeof(*one)));
  one->k = 1;
  PetscCall(PetscArraycpy(one->b[0], p->b[k], 64));
  PetscCall(PetscArraycpy(one->guess[0], p->guess[k], 64));
  one->batch = PETSC_DECIDE;
  *copy      = one;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A bound of rounding errors in the monitored norm: of a column alone */
static PetscErrorCode Rounding(const Problem *p, Mat A, PetscInt k, PetscReal *bound)
{
  Watch       w     = {NULL, 0.0};
  PetscReal   norms = 0.0, column;
  PetscScalar r[64];
  Problem    *one;
  KSP         ksp;
  Result      result;

  PetscFunctionBegin;
  PetscCall(CopyProblem(p, k, &one));
  PetscCall(CreateSolver(one, A, KSPBCGSM, &ksp));
  PetscCall(KSPConvergedDefaultCreate(&w.usual));
  PetscCall(KSPSetConvergenceTest(ksp, WatchConverged, &w, NULL));
  PetscCall(Solve(one, A, ksp, &result));
  for (PetscInt i = 0; i < p->A.n; i++) w.largest = PetscMax(w.largest, PetscAbsScalar(result.x[i]));
  for (PetscInt j = 0; j < p->A.n; j++) {
    for (PetscInt i = 0; i < p->A.n; i++) r[i] = PetscAbsScalar(p->A.a[p->transpose ? j * p->A.n + i : i * p->A.n + j]);
    PetscCall(MonitoredNorm(p, ksp, r, &column));
    norms += column;
  }
  if (!p->right) {
    /* rounding errors of the preconditioner */
    PetscReal inverse = 0.0, size = 0.0;

    for (PetscInt j = 0; j < p->A.n; j++) {
      for (PetscInt i = 0; i < p->A.n; i++) {
        r[i] = i == j ? 1.0 : 0.0;
        size = PetscMax(size, PetscAbsScalar(p->A.a[i * p->A.n + j]));
      }
      PetscCall(MonitoredNorm(p, ksp, r, &column));
      inverse += column;
    }
    norms = PetscMax(norms, inverse * size * (PetscReal)p->A.n);
  }
  *bound = (PetscReal)100.0 * PETSC_MACHINE_EPSILON * norms * w.largest * (PetscReal)p->A.n;
  PetscCall(KSPConvergedDefaultDestroy(&w.usual));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFree(one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The residual of KSPBCGS, in the same norm, if KSPBCGS converges; else 0 */
static PetscErrorCode ResidualAlone(const Problem *p, Mat A, PetscInt k, PetscReal *norm)
{
  PetscScalar        r[64], x[64];
  Problem           *one;
  Mat                B, X;
  Vec                b, v;
  KSP                ksp;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(CopyProblem(p, k, &one));
  PetscCall(CreateSolver(one, A, KSPBCGS, &ksp));
  PetscCall(CreateDense(one, A, PETSC_FALSE, &B));
  PetscCall(CreateDense(one, A, PETSC_TRUE, &X));
  PetscCall(MatDenseGetColumnVecRead(B, 0, &b));
  PetscCall(MatDenseGetColumnVec(X, 0, &v));
  PetscCall((*(p->transpose ? KSPSolveTranspose : KSPSolve))(ksp, b, v));
  PetscCall(MatDenseRestoreColumnVec(X, 0, &v));
  PetscCall(MatDenseRestoreColumnVecRead(B, 0, &b));
  PetscCall(GetColumn(one, X, 0, x));
  Residual(one, one->b[0], x, r);
  PetscCall(MonitoredNorm(one, ksp, r, norm));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason < 0) *norm = 0.0;
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&X));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PetscFree(one));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether squares of all numbers are numbers, and the matrix is dominated by its diagonal */
static PetscBool IsUsual(const Problem *p, PetscInt k)
{
  PetscReal size = 0.0;

  for (PetscInt i = 0; i < p->A.n; i++) {
    if (PetscIsInfOrNanScalar(p->b[k][i]) || (p->guessed && PetscIsInfOrNanScalar(p->guess[k][i]))) return PETSC_FALSE;
    size = PetscMax(size, PetscMax(PetscAbsScalar(p->b[k][i]), p->guessed ? PetscAbsScalar(p->guess[k][i]) : (PetscReal)0.0));
  }
  return (PetscBool)(FuzzIsUsual(&p->A) &&
                     (size == 0.0 || (size > PetscPowReal((PetscReal)10.0, -FUZZ_FAR / 4) && size < PetscPowReal((PetscReal)10.0, FUZZ_FAR / 4))));
}

/* ---- A case ---- */

static PetscInt converged, diverged, drifted, unstable;

static PetscErrorCode Describe(const Problem *p, PetscInt number)
{
  char options[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(options, sizeof(options), "%" PetscInt_FMT " columns, pc %s %s%s%s, rtol %g atol %g max_it %" PetscInt_FMT " batch %" PetscInt_FMT,
                          p->k, p->right ? "right" : "left", p->pc, p->transpose ? ", transpose" : "", p->guessed ? ", guess" : "", (double)p->rtol,
                          (double)p->atol, p->max_it, p->batch));
  PetscCall(FuzzDescribe(&p->A, number, "", options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckColumn(const Problem *p, PetscInt number, Mat A, KSP ksp, PetscInt k, const Result *result)
{
  const PetscInt n = p->A.n;
  PetscScalar    r[64];
  PetscReal      norm, first, right, tolerance, bound = 0.0, alone = 0.0;
  PetscBool      finite = PETSC_TRUE, input = PETSC_TRUE;

  PetscFunctionBegin;
  if (WRONG(result->reason == KSP_CONVERGED_ITERATING)) FAIL("case %" PetscInt_FMT " column %" PetscInt_FMT ": no reason", number, k);
  for (PetscInt i = 0; i < n; i++) {
    finite = (PetscBool)(finite && !PetscIsInfOrNanScalar(result->x[i]));
    input  = (PetscBool)(input && !PetscIsInfOrNanScalar(p->b[k][i]) && (!p->guessed || !PetscIsInfOrNanScalar(p->guess[k][i])));
  }
  if (WRONG(IsUsual(p, k) && p->max_it > 100 && (result->reason == KSP_DIVERGED_NANORINF || result->reason == KSP_DIVERGED_PC_FAILED)))
    FAIL("case %" PetscInt_FMT " column %" PetscInt_FMT ": a dominant matrix, and reason %s", number, k, KSPConvergedReasons[result->reason]);
  if (result->reason < 0) {
    diverged++;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  converged++;
  if (WRONG(!input))
    FAIL("case %" PetscInt_FMT " column %" PetscInt_FMT ": reason %s with a NaN in right-hand side or guess", number, k, KSPConvergedReasons[result->reason]);
  if (WRONG(!finite || PetscIsInfOrNanReal(result->norm)))
    FAIL("case %" PetscInt_FMT " column %" PetscInt_FMT ": reason %s with a NaN in the solution", number, k, KSPConvergedReasons[result->reason]);

  /* the tolerance of KSPConvergedDefault() */
  PetscCall(MonitoredNorm(p, ksp, p->b[k], &right));
  first = right;
  if (p->guessed) {
    if (right == 0.0) {
      Residual(p, p->b[k], p->guess[k], r);
      PetscCall(MonitoredNorm(p, ksp, r, &first));
    }
  }
  tolerance = (PetscReal)10.0 * PetscMax(p->rtol * first, p->atol);
  Residual(p, p->b[k], result->x, r);
  PetscCall(MonitoredNorm(p, ksp, r, &norm));
  if (!(norm <= tolerance)) {
    PetscCall(Rounding(p, A, k, &bound));
    drifted++;
  }
  /* A preconditioner with large rounding errors */
  if (!(norm <= tolerance + bound)) {
    PetscCall(ResidualAlone(p, A, k, &alone));
    unstable++;
  }
  if (WRONG(!(norm <= tolerance + bound + 100.0 * alone))) {
    FAIL("case %" PetscInt_FMT " column %" PetscInt_FMT ": reason %s after %" PetscInt_FMT
         " iterations with a residual of %g, not %g; tolerance %g, rounding %g, alone %g",
         number, k, KSPConvergedReasons[result->reason], result->its, (double)norm, (double)result->norm, (double)tolerance / 10, (double)bound, (double)alone);
    PetscCall(Describe(p, number));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Another column changes: the remaining columns end as before. Bits may change, because columns take places of others */
static PetscErrorCode CheckOthers(Fuzz *f, Problem *p, PetscInt number, Mat A, KSP ksp, const Result results[])
{
  const PetscInt k = FuzzInt(f, p->k);
  Result        *again;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(COLUMNS_MOST, &again));
  for (PetscInt i = 0; i < p->A.n; i++) p->b[k][i] = FuzzScalar(f);
  if (FuzzOneOf(f, 2)) p->b[k][FuzzInt(f, p->A.n)] = FuzzNoNumber(f);
  PetscCall(Solve(p, A, ksp, again));
  for (PetscInt j = 0; j < p->k; j++) {
    if (j == k || !IsUsual(p, j) || results[j].reason == KSP_DIVERGED_BREAKDOWN || again[j].reason == KSP_DIVERGED_BREAKDOWN) continue;
    if (WRONG((again[j].reason > 0) != (results[j].reason > 0))) {
      FAIL("case %" PetscInt_FMT ": another column %" PetscInt_FMT " changes column %" PetscInt_FMT ", %" PetscInt_FMT " iterations %s, now %" PetscInt_FMT
           " %s",
           number, k, j, results[j].its, KSPConvergedReasons[results[j].reason], again[j].its, KSPConvergedReasons[again[j].reason]);
      PetscCall(Describe(p, number));
    }
  }
  PetscCall(PetscFree(again));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(Fuzz *f, PetscInt number, PetscBool shown)
{
  Problem *p;
  Result  *results;
  Mat      A;
  KSP      ksp;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  PetscCall(PetscMalloc1(COLUMNS_MOST, &results));
  PetscCall(CreateProblem(f, p));
  if (shown) PetscCall(Describe(p, number));
  PetscCall(FuzzMatrixMat(&p->A, PETSC_COMM_WORLD, FuzzOneOf(f, 3) ? MATVCRS : MATAIJ, PETSC_DECIDE, PETSC_DECIDE, &A));
  PetscCall(CreateSolver(p, A, KSPBCGSM, &ksp));
  PetscCall(Solve(p, A, ksp, results));
  for (PetscInt k = 0; k < p->k; k++) {
    if (shown)
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "column %" PetscInt_FMT " kind %d: %" PetscInt_FMT " iterations %s norm %g\n", k, (int)p->column[k],
                            results[k].its, KSPConvergedReasons[results[k].reason], (double)results[k].norm));
    PetscCall(CheckColumn(p, number, A, ksp, k, &results[k]));
  }
  PetscCall(CheckOthers(f, p, number, A, ksp, results));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(FuzzMatrixDestroy(&p->A));
  PetscCall(PetscFree(results));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FuzzRun(300, Case));
  PetscCall(FuzzCounts("%" PetscInt_FMT " columns converged, %" PetscInt_FMT " of them with rounding errors above the tolerance, %" PetscInt_FMT
                       " with an unstable preconditioner, %" PetscInt_FMT " diverged\n",
                       converged, drifted, unstable, diverged));
  return TestEnd(1000, "no column changes another: all is right\n");
}

/*TEST

  testset:
    output_file: output/bcgsm_1.out

    test:

    test:
      suffix: 2
      nsize: 2
      args: -seed 2 -cases 40 -test_least 500

TEST*/
