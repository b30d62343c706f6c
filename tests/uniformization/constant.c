/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION needs constant rates: functions which depend on time or on the solution, or add a constant, are refused.\n\n";

#include <tests/uniformization/tstest.h>
#include <tests/refused.h>

/* The behaviour of the program's functions. The rates are the chain's rates times a factor */
typedef enum {
  RATES_CONSTANT,
  RATES_SOME,     /* constant, and the function sets two entries only */
  RATES_LINEAR,   /* 1 + t */
  RATES_PERIODIC, /* 1 + sin^2(pi k t) / 2: the same at t = 0, 1/k, 2/k, ... */
  RATES_SWITCH,   /* other rates from a certain time on */
  RATES_PULSE,    /* other rates for a third of the time */
  RATES_SLOW,     /* a small rate grows by 1e-6 */
  RATES_SOLUTION, /* 1 + |u_0|^2 */
  RATES_ADD,      /* values are added to the values of the last call */
  RATES_TWICE,    /* twice as fast after a callback */
  RATES_ROUNDING  /* constant but for rounding */
} Rates;

typedef struct {
  Chain     chain;
  Mat       A; /* the matrix inside of a shell or a function */
  Rates     rates, function;
  PetscReal k, constant; /* constant: added by the function */
  PetscBool shell, twice;
  PetscInt  calls, functions;
  double    u0;
} Program;

static PetscInt every = 1; /* step through times and periods; above 1 also fewer shells and steps */

static PetscReal Factor(const Program *p, Rates rates, PetscReal t)
{
  switch (rates) {
  case RATES_LINEAR:
    return 1 + t;
  case RATES_PERIODIC:
    return 1 + PetscSqr(PetscSinReal(PETSC_PI * p->k * t)) / 2;
  case RATES_SWITCH:
    return t < p->k ? 1 : 2;
  case RATES_PULSE:
    return t > p->k && t < p->k + (PetscReal)0.34 ? 2 : 1;
  case RATES_SOLUTION:
    return 1 + (PetscReal)p->u0;
  case RATES_TWICE:
    return p->twice ? 2 : 1;
  case RATES_ROUNDING:
    return (1 + t) / (1 + t * (1 + PETSC_MACHINE_EPSILON));
  default:
    return 1;
  }
}

/* |u_0|^2 on all processes */
static PetscErrorCode First(Vec u, double *first)
{
  PetscInt           begin, end;
  const PetscScalar *uu;

  PetscFunctionBeginUser;
  *first = 0;
  PetscCall(VecGetOwnershipRange(u, &begin, &end));
  PetscCall(VecGetArrayRead(u, &uu));
  if (begin == 0 && end > 0) *first = (double)PetscSqr(PetscAbsScalar(uu[0]));
  PetscCall(VecRestoreArrayRead(u, &uu));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, first, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sets all rates; part: only the rates from state 0 to state 1 and back, into the diagonal */
static PetscErrorCode SetRates(const Program *p, PetscReal factor, PetscBool part, InsertMode mode, Mat A)
{
  const Chain *c = &p->chain;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt to = begin; to < end; to++) {
    for (PetscInt from = 0; from < c->n; from++) {
      PetscReal rate = from == to ? -(PetscReal)ChainRate(c, to) : (PetscReal)c->rate[from][to];

      if (rate == 0 || (part && (from || to > 1))) continue;
      if (p->rates == RATES_SLOW && from == 0 && to == 3) rate *= factor > 1 ? 1 + (PetscReal)1e-6 : 1;
      else if (p->rates != RATES_SLOW) rate *= factor;
      PetscCall(MatSetValue(A, to, from, rate, mode));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Jacobian(TS ts, PetscReal t, Vec u, Mat A, Mat B, void *ctx)
{
  Program  *p = (Program *)ctx;
  PetscReal factor;

  PetscFunctionBeginUser;
  (void)ts;
  (void)B;
  p->calls++;
  PetscCall(First(u, &p->u0));
  factor = p->rates == RATES_SLOW ? 1 + t : Factor(p, p->rates, t);
  PetscCall(SetRates(p, factor, (PetscBool)(p->rates == RATES_SOME), p->rates == RATES_ADD ? ADD_VALUES : INSERT_VALUES, p->A));
  if (A != p->A) {
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same as a function: the matrix has the rates of time 0 */
static PetscErrorCode Function(TS ts, PetscReal t, Vec u, Vec f, void *ctx)
{
  Program *p = (Program *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  p->functions++;
  PetscCall(First(u, &p->u0));
  PetscCall(MatMult(p->A, u, f));
  PetscCall(VecScale(f, (PetscScalar)Factor(p, p->function, t)));
  if (p->constant != 0) PetscCall(VecShift(f, (PetscScalar)p->constant));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellMult(Mat S, Vec x, Vec y)
{
  Program *p;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &p));
  PetscCall(MatMult(p->A, x, y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ShellGetDiagonal(Mat S, Vec x)
{
  Program *p;

  PetscFunctionBeginUser;
  PetscCall(MatShellGetContext(S, &p));
  PetscCall(MatGetDiagonal(p->A, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IFunction(TS ts, PetscReal t, Vec u, Vec udot, Vec f, void *ctx)
{
  Program *p = (Program *)ctx;

  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  PetscCall(MatMult(p->A, u, f));
  PetscCall(VecAYPX(f, -1.0, udot));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IJacobian(TS ts, PetscReal t, Vec u, Vec udot, PetscReal shift, Mat A, Mat B, void *ctx)
{
  (void)ts;
  (void)t;
  (void)u;
  (void)udot;
  (void)shift;
  (void)A;
  (void)B;
  (void)ctx;
  return PETSC_ERR_PLIB; /* must not be called */
}

/* The start: a solver with functions of the program's own, or PETSc's where a member of Rates is -1 */
static PetscErrorCode Begin(Program *p, int rates, int function, PetscBool shell, const char options[], TS *ts, Vec *x)
{
  PetscOptions database;
  Mat          J;
  PetscInt     m;
  char         all[256];

  PetscFunctionBeginUser;
  memset(p, 0, sizeof(*p));
  ChainMake(CHAIN_RANDOM, &p->chain);
  p->chain.rate[0][3] = 1e-4; /* for RATES_SLOW */
  p->rates            = rates < 0 ? RATES_CONSTANT : (Rates)rates;
  p->function         = function < 0 ? RATES_CONSTANT : (Rates)function;
  p->k                = 1;
  PetscCall(ChainMatrix(&p->chain, &p->A));
  J = p->A;
  if (shell) {
    PetscCall(MatGetLocalSize(p->A, &m, NULL));
    PetscCall(MatCreateShell(PETSC_COMM_WORLD, m, m, p->chain.n, p->chain.n, p, &J));
    PetscCall(MatShellSetOperation(J, MATOP_MULT, (PetscErrorCodeFn *)ShellMult));
    PetscCall(MatShellSetOperation(J, MATOP_GET_DIAGONAL, (PetscErrorCodeFn *)ShellGetDiagonal));
  }
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ts_type uniformization %s", options));
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, all));
  PetscCall(TSCreate(PETSC_COMM_WORLD, ts));
  if (function < 0) PetscCall(TSSetRHSFunction(*ts, NULL, TSComputeRHSFunctionLinear, NULL));
  else PetscCall(TSSetRHSFunction(*ts, NULL, Function, p));
  if (rates < 0) PetscCall(TSSetRHSJacobian(*ts, J, J, TSComputeRHSJacobianConstant, NULL));
  else PetscCall(TSSetRHSJacobian(*ts, J, J, Jacobian, p));
  PetscCall(PetscOptionsPush(database));
  PetscCall(TSSetFromOptions(*ts));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscCall(TSSetMaxTime(*ts, 1.0));
  PetscCall(MatCreateVecs(p->A, x, NULL));
  PetscCall(VecSet(*x, (PetscScalar)(1 / (PetscReal)p->chain.n)));
  if (shell) PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(Program *p, TS *ts, Vec *x)
{
  PetscFunctionBeginUser;
  PetscCall(TSDestroy(ts));
  PetscCall(VecDestroy(x));
  PetscCall(MatDestroy(&p->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares a solution at time t with the exact solution, for rates which are a multiple of the chain's rates */
static PetscErrorCode Right(const char what[], Program *p, TS ts, Vec x, Long t)
{
  Long                 exact[CHAIN_MAX], first[CHAIN_MAX];
  double               error = 0;
  TSUniformizationInfo info;

  PetscFunctionBeginUser;
  count++;
  for (PetscInt i = 0; i < p->chain.n; i++) first[i] = (Long)(1 / (PetscReal)p->chain.n);
  ChainExact(&p->chain, t, first, exact);
  PetscCall(ChainError(x, exact, &error, NULL));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (WRONG(!(error <= (double)info.bound))) FAIL("%s: the error is %g, the bound %g", what, error, (double)info.bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define DEPENDS_ON_TIME     "constant rates", "depends on time"
#define DEPENDS_ON_SOLUTION "constant rates", "depends on the solution"
#define NOT_A_P             "the right-hand side is not A p"

/* Constant functions: the right solution, few calls, and an unchanged matrix */
static PetscErrorCode TestConstant(int rates, int function, PetscBool shell)
{
  const PetscInt steps = every > 1 ? 2 : 8;
  Program        p;
  TS             ts;
  Vec            x, y, before;
  PetscReal      difference;
  char           what[128];

  PetscFunctionBeginUser;
  PetscCall(Begin(&p, rates, function, shell, "", &ts, &x));
  PetscCall(PetscSNPrintf(what, sizeof(what), "constant rates %d, function %d%s", rates, function, shell ? ", shell" : ""));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &before));
  PetscCall(MatMult(p.A, x, before));
  PetscCall(TSSolve(ts, x));
  PetscCall(Right(what, &p, ts, x, 1));
  if (WRONG(p.calls > (rates < 0 ? 0 : 9) || p.functions > (function < 0 ? 0 : 10)))
    FAIL("%s: %" PetscInt_FMT " calls of the function for the matrix, %" PetscInt_FMT " of the other one", what, p.calls, p.functions);
  PetscCall(VecSet(x, (PetscScalar)(1 / (PetscReal)p.chain.n)));
  PetscCall(MatMult(p.A, x, y));
  PetscCall(VecAXPY(y, -1.0, before));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  if (WRONG(difference > (rates == RATES_ROUNDING ? 100 * PETSC_MACHINE_EPSILON : 0))) FAIL("%s: the matrix has changed by %g", what, (double)difference);

  /* Steps: the matrix is compared in each */
  PetscCall(TSSetTime(ts, 0.0));
  PetscCall(TSSetStepNumber(ts, 0));
  PetscCall(TSSetTimeStep(ts, (PetscReal)1 / (PetscReal)steps));
  p.calls = p.functions = 0;
  for (PetscInt i = 0; i < steps; i++) PetscCall(TSStep(ts));
  PetscCall(Right(what, &p, ts, x, 1));
  if (WRONG(p.calls > (rates < 0 ? 0 : steps * 3 + 8) || p.functions > (function < 0 ? 0 : steps * 4 + 8)))
    FAIL("%s, steps: %" PetscInt_FMT " calls of the function for the matrix, %" PetscInt_FMT " of the other one", what, p.calls, p.functions);
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&before));
  PetscCall(End(&p, &ts, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Time-dependent rates: in TSSolve(), and in steps */
static PetscErrorCode TestRefusedRates(const char what[], int rates, int function, PetscReal k, PetscBool steps, const char *first, const char *second)
{
  for (int shell = 0; shell < (rates < 0 || every > 1 ? 1 : 2); shell++) {
    for (int step = 0; step < (steps ? 2 : 1); step++) {
      Program        p;
      TS             ts;
      Vec            x;
      char           name[128];
      TestError      error = {""};
      PetscErrorCode code;
      const char    *words[] = {first, second, NULL};

      PetscFunctionBeginUser;
      PetscCall(Begin(&p, rates, function, (PetscBool)shell, "", &ts, &x));
      p.k = k;
      PetscCall(PetscSNPrintf(name, sizeof(name), "%s %g%s%s", what, (double)k, shell ? ", shell" : "", step ? ", steps" : ""));
      PetscCall(TSSetSolution(ts, x));
      PetscCall(TSSetTimeStep(ts, 0.5));
      PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
      if (step) {
        code = TSStep(ts);
        if (!code) code = TSStep(ts);
      } else code = TSSolve(ts, x);
      PetscCall(PetscPopErrorHandler());
      PetscCall(TestRefused(name, code, &error, words));
      PetscCall(End(&p, &ts, &x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A constant term, of any size */
static PetscErrorCode TestConstantTerm(void)
{
  const PetscReal terms[] = {1, -1e-6, 1e-14, 1e-200};

  PetscFunctionBeginUser;
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(terms); i++) {
    for (int rates = -1; rates < 1; rates++) {
      Program p;
      TS      ts;
      Vec     x;

      if (terms[i] == 0) continue; /* in single precision */
      PetscCall(Begin(&p, rates, RATES_CONSTANT, PETSC_FALSE, "", &ts, &x));
      p.constant = terms[i];
      TEST_REFUSED("a constant term", TSSolve(ts, x), NOT_A_P, "constant term");
      PetscCall(End(&p, &ts, &x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Implicit forms are another equation */
static PetscErrorCode TestForms(void)
{
  Program p;
  TS      ts;
  Vec     x;

  PetscFunctionBeginUser;
  PetscCall(Begin(&p, -1, -1, PETSC_FALSE, "", &ts, &x));
  PetscCall(TSSetIFunction(ts, NULL, IFunction, &p));
  TEST_REFUSED("TSSetIFunction()", TSSolve(ts, x), "TSSetIFunction()", "implicit TSType");
  PetscCall(End(&p, &ts, &x));

  /* An implicit function instead of the right-hand side is refused, because the function could contain a mass matrix */
  PetscCall(Begin(&p, -1, -1, PETSC_FALSE, "", &ts, &x));
  PetscCall(TSDestroy(&ts));
  PetscCall(TSCreate(PETSC_COMM_WORLD, &ts));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetIFunction(ts, NULL, IFunction, &p));
  PetscCall(TSSetIJacobian(ts, p.A, p.A, IJacobian, &p));
  PetscCall(TSSetMaxTime(ts, 1.0));
  TEST_REFUSED("TSSetIFunction() alone", TSSolve(ts, x), "TSSetIFunction()", "mass matrix");
  PetscCall(End(&p, &ts, &x));

  /* A Jacobian for implicit types does no harm */
  PetscCall(Begin(&p, RATES_CONSTANT, -1, PETSC_FALSE, "", &ts, &x));
  PetscCall(TSSetIJacobian(ts, p.A, p.A, IJacobian, &p));
  PetscCall(TSSolve(ts, x));
  PetscCall(Right("TSSetIJacobian()", &p, ts, x, 1));
  PetscCall(End(&p, &ts, &x));

  /* Between two solves */
  PetscCall(Begin(&p, -1, -1, PETSC_FALSE, "", &ts, &x));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSSetMaxTime(ts, 2.0));
  PetscCall(TSSetIFunction(ts, NULL, IFunction, &p));
  TEST_REFUSED("TSSetIFunction() after a solve", TSSolve(ts, x), "TSSetIFunction()", "implicit TSType");
  PetscCall(End(&p, &ts, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same object had another type before, which leaves a shifted matrix of an implicit method */
static PetscErrorCode TestOtherType(void)
{
  for (int rates = -1; rates <= RATES_SOME; rates++) {
    for (int reuse = 0; reuse < 2; reuse++) {
      Program p;
      TS      ts;
      Vec     x;
      char    what[64];

      PetscFunctionBeginUser;
      PetscCall(Begin(&p, rates, -1, PETSC_FALSE, "", &ts, &x));
      PetscCall(TSRHSJacobianSetReuse(ts, (PetscBool)reuse));
      PetscCall(TSSetType(ts, TSBEULER));
      PetscCall(TSSetTimeStep(ts, 0.25));
      PetscCall(TSSolve(ts, x));
      PetscCall(TSSetType(ts, TSUNIFORMIZATION));
      PetscCall(VecSet(x, (PetscScalar)(1 / (PetscReal)p.chain.n)));
      PetscCall(TSSetTime(ts, 0.0));
      PetscCall(TSSetStepNumber(ts, 0));
      PetscCall(TSSetConvergedReason(ts, TS_CONVERGED_ITERATING));
      PetscCall(TSSolve(ts, x));
      PetscCall(PetscSNPrintf(what, sizeof(what), "after TSBEULER, rates %d, reuse %d", rates, reuse));
      PetscCall(Right(what, &p, ts, x, 1));
      PetscCall(End(&p, &ts, &x));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rates which are constant during each of several solves, and change between solves */
static PetscErrorCode TestPieces(void)
{
  Program p;
  TS      ts;
  Vec     x;

  PetscFunctionBeginUser;
  PetscCall(Begin(&p, RATES_SWITCH, -1, PETSC_FALSE, "", &ts, &x));
  p.k = 1;
  PetscCall(TSSolve(ts, x));
  PetscCall(TSSetMaxTime(ts, 2.0));
  PetscCall(TSSolve(ts, x));
  PetscCall(Right("rates that change between solves", &p, ts, x, 3));
  PetscCall(End(&p, &ts, &x));

  /* A parameter of the program changes, while PETSc has a matrix for the same time: a new solve */
  for (int function = -1; function < 1; function++) {
    PetscCall(Begin(&p, RATES_TWICE, function < 0 ? -1 : RATES_TWICE, PETSC_FALSE, "", &ts, &x));
    PetscCall(TSSetProblemType(ts, TS_LINEAR));
    if (function >= 0) p.function = RATES_CONSTANT; /* the function's matrix changes */
    PetscCall(TSSolve(ts, x));
    PetscCall(Right("before a parameter changes", &p, ts, x, 1));
    p.twice = PETSC_TRUE;
    PetscCall(VecSet(x, (PetscScalar)(1 / (PetscReal)p.chain.n)));
    PetscCall(TSSetTime(ts, 0.0));
    PetscCall(TSSetStepNumber(ts, 0));
    PetscCall(TSSetConvergedReason(ts, TS_CONVERGED_ITERATING));
    PetscCall(TSSolve(ts, x));
    PetscCall(Right("after a parameter has changed", &p, ts, x, 2));
    PetscCall(End(&p, &ts, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Called after the second of four steps, on all processes, with the program */
static PetscErrorCode Double(TS ts)
{
  PetscInt  step;
  Program **p;

  PetscFunctionBeginUser;
  PetscCall(TSGetStepNumber(ts, &step));
  if (step != 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetApplicationContext(ts, &p));
  if ((*p)->rates == RATES_TWICE) (*p)->twice = PETSC_TRUE;
  else PetscCall(MatScale((*p)->A, 2.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Changes between the steps of a solve: changes of the matrix are detected; changes of a function's data are refused */
static PetscErrorCode TestCallback(void)
{
  PetscReal times[] = {0, 0.25, 0.5, 0.75, 1};
  Program   p, *q = &p;
  TS        ts;
  Vec       x;

  PetscFunctionBeginUser;
  for (int method = 0; method < 2; method++) {
    PetscCall(Begin(&p, -1, -1, PETSC_FALSE, method ? "-ts_uniformization_method intervals" : "", &ts, &x));
    PetscCall(TSSetTimeSpan(ts, 5, times));
    PetscCall(TSSetApplicationContext(ts, &q));
    PetscCall(TSSetPostStep(ts, Double));
    PetscCall(TSSolve(ts, x));
    PetscCall(Right("a matrix scaled between two steps", &p, ts, x, 1.5L));
    PetscCall(End(&p, &ts, &x));
  }
  PetscCall(Begin(&p, RATES_TWICE, -1, PETSC_FALSE, "", &ts, &x));
  PetscCall(TSSetTimeSpan(ts, 5, times));
  PetscCall(TSSetApplicationContext(ts, &q));
  PetscCall(TSSetPostStep(ts, Double));
  TEST_REFUSED("a parameter changed between two steps", TSSolve(ts, x), "constant rates", "has changed since time 0");
  PetscCall(End(&p, &ts, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscReal periods[] = {1, 2, 3, 4, 5, 7, 8, 12, 13, 21, 34, 55, 64, 100, 128, 512, 1024};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL)); /* step through times and periods */
  if (every > 1) PetscCall(TestConstant(RATES_CONSTANT, RATES_CONSTANT, PETSC_TRUE));
  for (int shell = 0; shell < (every > 1 ? 1 : 2); shell++) {
    PetscCall(TestConstant(-1, -1, (PetscBool)shell));
    PetscCall(TestConstant(-1, RATES_CONSTANT, (PetscBool)shell));
    PetscCall(TestConstant(-1, RATES_ROUNDING, (PetscBool)shell));
    PetscCall(TestConstant(RATES_CONSTANT, -1, (PetscBool)shell));
    PetscCall(TestConstant(RATES_SOME, -1, (PetscBool)shell));
    PetscCall(TestConstant(RATES_ROUNDING, -1, (PetscBool)shell));
    PetscCall(TestConstant(RATES_CONSTANT, RATES_CONSTANT, (PetscBool)shell));
    PetscCall(TestConstant(RATES_SOME, RATES_ROUNDING, (PetscBool)shell));
  }
  PetscCall(TestRefusedRates("rates 1 + t", RATES_LINEAR, -1, 1, PETSC_TRUE, DEPENDS_ON_TIME));
  PetscCall(TestRefusedRates("function 1 + t", -1, RATES_LINEAR, 1, PETSC_TRUE, DEPENDS_ON_TIME));
  PetscCall(TestRefusedRates("rates and function 1 + t", RATES_LINEAR, RATES_LINEAR, 1, PETSC_TRUE, DEPENDS_ON_TIME));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(periods); i += (size_t)every) {
    PetscCall(TestRefusedRates("periodic rates", RATES_PERIODIC, -1, periods[i], PETSC_TRUE, DEPENDS_ON_TIME));
    PetscCall(TestRefusedRates("periodic function", -1, RATES_PERIODIC, periods[i], PETSC_TRUE, DEPENDS_ON_TIME));
  }
  for (PetscInt i = 1; i < 64; i += every) {
    PetscCall(TestRefusedRates("rates that switch", RATES_SWITCH, -1, (PetscReal)i / 64, PETSC_FALSE, DEPENDS_ON_TIME));
    if (i <= 42) PetscCall(TestRefusedRates("a pulse of rates", RATES_PULSE, -1, (PetscReal)i / 64, PETSC_FALSE, DEPENDS_ON_TIME));
  }
  if (PetscDefined(USE_REAL_DOUBLE)) PetscCall(TestRefusedRates("a small rate", RATES_SLOW, -1, 1, PETSC_TRUE, DEPENDS_ON_TIME));
  PetscCall(TestRefusedRates("rates of the solution", RATES_SOLUTION, -1, 1, PETSC_TRUE, DEPENDS_ON_SOLUTION));
  PetscCall(TestRefusedRates("function of the solution", -1, RATES_SOLUTION, 1, PETSC_TRUE, NOT_A_P, "they differ"));
  PetscCall(TestRefusedRates("values that are added", RATES_ADD, -1, 1, PETSC_TRUE, "another matrix when it is called again", "must set"));
  PetscCall(TestConstantTerm());
  PetscCall(TestForms());
  PetscCall(TestOtherType());
  PetscCall(TestPieces());
  PetscCall(TestCallback());
  if (WRONG(count < (every == 1 ? 390 : 60))) FAIL("only %" PetscInt_FMT " comparisons", count);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " comparisons\n", count));
  return TestEnd(45, "all is right\n");
}

/*TEST

  # what a call leaves behind that ends with an error is not looked at
  testset:
    requires: double
    output_file: output/right.out
    filter: grep -E "right|failed|FAIL"

    test:
      args: -mat_type {{aij vcrs hybmgpu}}

    test:
      suffix: mpi
      nsize: {{2 3}}
      args: -every 21

    test:
      suffix: mpi_vcrs
      nsize: 2
      args: -mat_type {{vcrs hybmgpu}} -every 21

TEST*/
