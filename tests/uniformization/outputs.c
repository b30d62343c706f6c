/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION as a TS: output times, steps, monitors, interpolation, rewards, steady states; the queue M/M/1/K.\n\n";

#include <tests/uniformization/tstest.h>

/* A monitor's observations */
typedef struct {
  PetscInt  n;
  PetscReal time[64], accumulated[64], instantaneous[64];
  Vec       x[64];
  PetscBool reward;
} Seen;

static PetscErrorCode Monitor(TS ts, PetscInt step, PetscReal time, Vec x, void *ctx)
{
  Seen *seen = (Seen *)ctx;

  PetscFunctionBeginUser;
  if (step < 0 || seen->n == 64) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(x, &seen->x[seen->n]));
  PetscCall(VecCopy(x, seen->x[seen->n]));
  seen->time[seen->n] = time;
  if (seen->reward) PetscCall(TSUniformizationGetReward(ts, &seen->accumulated[seen->n], &seen->instantaneous[seen->n]));
  seen->n++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SeenDestroy(Seen *seen)
{
  PetscFunctionBeginUser;
  while (seen->n) PetscCall(VecDestroy(&seen->x[--seen->n]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckError(const char what[], Vec x, const Long exact[], double bound)
{
  double error;

  PetscFunctionBeginUser;
  PetscCall(ChainError(x, exact, &error, NULL));
  if (WRONG(!(error <= bound))) FAIL("%s: the error is %g, and should be at most %g", what, error, bound);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M/M/1/K at time t from an initial state, by the eigenvectors of the symmetric matrix similar to the generator */
static void Queue(PetscInt K, Long arrival, Long service, PetscInt begin, Long t, Long x[])
{
  const Long pi = 4 * atanl(1.0L), rho = arrival / service, a = 1 / sqrtl(rho);
  Long       sum = 0;

  for (PetscInt i = 0; i <= K; i++) sum += powl(rho, (Long)i);
  for (PetscInt i = 0; i <= K; i++) x[i] = powl(rho, (Long)i) / sum;
  for (PetscInt j = 1; t >= 0 && j <= K; j++) {
    const Long theta = (Long)j * pi / (Long)(K + 1), value = -(arrival + service) + 2 * sqrtl(arrival * service) * cosl(theta);
    const Long norm = (Long)(K + 1) / 2 * (1 + a * a - 2 * a * cosl(theta)), first = sinl((Long)(begin + 1) * theta) - a * sinl((Long)begin * theta);

    for (PetscInt i = 0; i <= K; i++)
      x[i] += powl(rho, (Long)(i - begin) / 2) * expl(value * t) * first * (sinl((Long)(i + 1) * theta) - a * sinl((Long)i * theta)) / norm;
  }
}

static PetscErrorCode TestQueue(void)
{
  const double times[] = {0.5, 5.0, 40.0, 4000.0};
  Chain        c;
  Mat          A;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_QUEUE, &c);
  PetscCall(ChainMatrix(&c, &A));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(times); i++) {
    for (int steady = 0; steady < 2; steady++) {
      TS                   ts;
      Vec                  x;
      Long                 p[CHAIN_MAX] = {0}, exact[CHAIN_MAX];
      TSUniformizationInfo info;
      char                 what[64];

      p[4] = 1;
      Queue(20, (Long)(PetscReal)queuearrival, (Long)queueservice, 4, i == 3 ? -1 : (Long)(PetscReal)times[i], exact);
      PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
      PetscCall(TSUniformizationSetSteadyState(ts, (PetscBool)steady));
      PetscCall(ChainVec(A, &c, p, &x));
      PetscCall(TSSetMaxTime(ts, (PetscReal)times[i]));
      PetscCall(TSSolve(ts, x));
      PetscCall(TSUniformizationGetInfo(ts, &info));
      PetscCall(PetscSNPrintf(what, sizeof(what), "the queue M/M/1/20 at time %g%s", times[i], steady ? ", steady state looked for" : ""));
      PetscCall(CheckError(what, x, exact, (double)info.bound));
      /* 1.7 jumps per unit of time; the steady state is reached long before the last time */
      if (WRONG(i == 3 && steady && (info.steadyat < 0 || info.products > 3000))) FAIL("%s: %" PetscInt64_FMT " products", what, info.products);
      if (WRONG(i == 3 && !steady && (info.steadyat >= 0 || info.products < 6800))) FAIL("%s: %" PetscInt64_FMT " products", what, info.products);
      PetscCall(TSDestroy(&ts));
      PetscCall(VecDestroy(&x));
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* reward . p over time from 0 to t, by Simpson's rule with small steps */
static Long Accumulated(const Chain *c, const Long p[], const Long reward[], Long t)
{
  const int   n   = 20000;
  Long        sum = 0, x[CHAIN_MAX], y[CHAIN_MAX], e[CHAIN_MAX];
  static Long E[CHAIN_MAX][CHAIN_MAX]; /* over one step; row j is the distribution after starting in state j */

  for (PetscInt j = 0; j < c->n; j++) {
    memset(e, 0, sizeof(e));
    e[j] = 1;
    ChainExact(c, t / n, e, E[j]);
  }
  memcpy(x, p, sizeof(x));
  for (int i = 0; i <= n; i++) {
    Long dot = 0;

    memset(y, 0, sizeof(y));
    for (PetscInt j = 0; j < c->n; j++) {
      dot += reward[j] * x[j];
      for (PetscInt k = 0; k < c->n; k++) y[k] += E[j][k] * x[j];
    }
    sum += dot * (i == 0 || i == n ? 1 : (i % 2 ? 4 : 2));
    memcpy(x, y, sizeof(x));
  }
  return sum * t / (3 * n);
}

/* Several times in one solve, as evaluation times, seen by a monitor, with rewards */
static PetscErrorCode TestOutputs(ChainKind kind, PetscBool zero, const char extra[], PetscBool few)
{
  PetscReal            times[] = {0.0, 0.3, 0.31, 0.9, 1.0, 1.1, 1.2, 4.0, 9.0, 9.5};
  const PetscInt       n       = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(times);
  Chain                c;
  Mat                  A;
  TS                   ts;
  Vec                  x, r, *solutions;
  Long                 p[CHAIN_MAX] = {0}, reward[CHAIN_MAX] = {0}, exact[CHAIN_MAX];
  Seen                 seen = {0};
  TSUniformizationInfo info;
  PetscInt             nsol;
  const PetscReal     *at;
  char                 options[256], what[256];

  PetscFunctionBeginUser;
  ChainMake(kind, &c);
  if (zero) memset(c.rate, 0, sizeof(c.rate));
  PetscCall(ChainMatrix(&c, &A));
  p[2] = 0.25;
  p[5] = 0.75;
  for (PetscInt i = 0; i < c.n; i++) reward[i] = (PetscReal)(1 + i % 3);
  PetscCall(PetscSNPrintf(options, sizeof(options), "-ts_type uniformization %s", extra));
  PetscCall(ChainTS(A, options, &ts));
  PetscCall(ChainVec(A, &c, p, &x));
  PetscCall(ChainVec(A, &c, reward, &r));
  PetscCall(TSUniformizationSetReward(ts, r));
  PetscCall(TSSetTimeSpan(ts, n, times));
  seen.reward = PETSC_TRUE;
  PetscCall(TSMonitorSet(ts, Monitor, &seen, NULL));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSGetEvaluationSolutions(ts, &nsol, &at, &solutions));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (WRONG(nsol != n || seen.n != n))
    FAIL("%s%s, %s: %" PetscInt_FMT " solutions and %" PetscInt_FMT " calls of the monitor for %" PetscInt_FMT " times", c.name, zero ? " without rates" : "",
         extra, nsol, seen.n, n);
  if (WRONG(info.passes > (few ? 3 : n))) FAIL("%s, %s: %" PetscInt_FMT " passes", c.name, extra, info.passes);
  for (PetscInt i = 0; i < PetscMin(nsol, seen.n); i++) {
    Long dot = 0, sum;

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s%s, %s, time %g of several", c.name, zero ? " without rates" : "", extra, (double)times[i]));
    ChainExact(&c, (Long)times[i], p, exact);
    PetscCall(CheckError(what, solutions[i], exact, (double)info.bound));
    PetscCall(CheckError(what, seen.x[i], exact, (double)info.bound));
    if (WRONG(at[i] != times[i] || seen.time[i] != times[i])) FAIL("%s: the times are %g and %g", what, (double)at[i], (double)seen.time[i]);
    for (PetscInt j = 0; j < c.n; j++) dot += reward[j] * exact[j];
    sum = Accumulated(&c, p, reward, (Long)times[i]);
    /* The rule has an error, too */
    if (WRONG(!(fabsl((Long)seen.instantaneous[i] - dot) <= 3 * (Long)info.bound)))
      FAIL("%s: a reward of %g, the exact one is %g", what, (double)seen.instantaneous[i], (double)dot);
    if (WRONG(!(fabsl((Long)seen.accumulated[i] - sum) <= 3 * (Long)times[i] * (Long)info.bound + 1e-12L)))
      FAIL("%s: an accumulated reward of %.12g, the exact one is %.12g", what, (double)seen.accumulated[i], (double)sum);
  }
  PetscCall(CheckError("the last time", x, exact, (double)info.bound));
  PetscCall(SeenDestroy(&seen));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first state loses all to the last, after the second step */
static PetscErrorCode Change(TS ts)
{
  PetscInt step, n, begin, end;
  Vec      x;

  PetscFunctionBeginUser;
  PetscCall(TSGetStepNumber(ts, &step));
  if (step != 2) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TSGetSolution(ts, &x));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecZeroEntries(x));
  if (n - 1 >= begin && n - 1 < end) PetscCall(VecSetValue(x, n - 1, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSteps(void)
{
  PetscReal            span[] = {0.0, 0.5, 1.0, 2.0, 3.0}, t;
  Chain                c;
  Mat                  A;
  TS                   ts;
  Vec                  x, y;
  Long                 p[CHAIN_MAX] = {0}, last[CHAIN_MAX] = {0}, exact[CHAIN_MAX];
  Seen                 seen = {0};
  TSUniformizationInfo info;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_RANDOM, &c);
  PetscCall(ChainMatrix(&c, &A));
  p[1]          = 1;
  last[c.n - 1] = 1;

  /* TSStep() uses the time step; the bound over all steps to the final time is the requested bound; TSInterpolate() in
     the last step */
  PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
  PetscCall(ChainVec(A, &c, p, &x));
  PetscCall(TSSetSolution(ts, x));
  PetscCall(TSSetTimeStep(ts, 0.25));
  PetscCall(TSSetMaxTime(ts, 2.0));
  for (PetscInt i = 0; i < 8; i++) PetscCall(TSStep(ts));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (WRONG(t != (PetscReal)2.0 || info.passes != 8)) FAIL("8 steps of 0.25 lead to %g in %" PetscInt_FMT " passes", (double)t, info.passes);
  if (WRONG(!(info.bound <= (PetscReal)1e-8))) FAIL("8 steps: the bound is %g", (double)info.bound);
  ChainExact(&c, 2.0L, p, exact);
  PetscCall(CheckError("8 steps", x, exact, (double)info.bound));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(TSInterpolate(ts, 1.8125, y));
  ChainExact(&c, 1.8125L, p, exact);
  PetscCall(CheckError("interpolation", y, exact, 2e-8));
  PetscCall(VecDestroy(&y));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));

  /* No final time, but a maximum number of steps */
  PetscCall(ChainTS(A, "-ts_type uniformization -ts_time_step 0.125 -ts_max_steps 12", &ts));
  PetscCall(ChainVec(A, &c, p, &x));
  PetscCall(TSMonitorSet(ts, Monitor, &seen, NULL));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  if (WRONG(t != (PetscReal)1.5 || seen.n != 13)) FAIL("12 steps of 0.125 lead to %g, and %" PetscInt_FMT " calls of the monitor", (double)t, seen.n);
  ChainExact(&c, 1.5L, p, exact);
  PetscCall(CheckError("12 steps", x, exact, (double)info.bound));
  if (WRONG(!(info.bound <= (PetscReal)1e-8))) FAIL("12 steps: the bound is %g", (double)info.bound);
  PetscCall(SeenDestroy(&seen));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));

  /* The solution changed between the steps of a pass */
  PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
  PetscCall(ChainVec(A, &c, p, &x));
  PetscCall(TSSetTimeSpan(ts, 5, span));
  PetscCall(TSSetPostStep(ts, Change));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  ChainExact(&c, 2.0L, last, exact);
  PetscCall(CheckError("a solution changed on the way", x, exact, (double)info.bound));
  if (WRONG(info.passes != 2)) FAIL("a solution changed on the way: %" PetscInt_FMT " passes", info.passes);

  /* The solver again, after its reset, and for another matrix; the view */
  PetscCall(TSView(ts, PETSC_VIEWER_STDOUT_WORLD));
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same program with a Runge-Kutta method, chosen by an option; a matrix which changes between solves */
static PetscErrorCode TestProgram(void)
{
  Chain     c;
  Mat       A;
  Vec       x, y;
  Long      p[CHAIN_MAX] = {0}, exact[CHAIN_MAX];
  PetscReal difference;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_APART, &c);
  PetscCall(ChainMatrix(&c, &A));
  p[1] = p[11] = 0.5;
  for (int type = 0; type < 2; type++) {
    TS ts;

    PetscCall(ChainTS(A,
                      type ? "-ts_type rk -ts_rk_type 5dp -ts_rtol 1e-11 -ts_atol 1e-11 -ts_time_step 1e-3 -ts_max_time 3"
                           : "-ts_type uniformization -ts_time_step 1e-3 -ts_max_time 3",
                      &ts));
    PetscCall(ChainVec(A, &c, p, type ? &y : &x));
    PetscCall(TSSolve(ts, type ? y : x));
    PetscCall(TSDestroy(&ts));
  }
  PetscCall(VecAXPY(y, -1.0, x));
  PetscCall(VecNorm(y, NORM_1, &difference));
  if (WRONG(!(difference <= (PetscReal)2e-8))) FAIL("Runge-Kutta and uniformization differ by %g", (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  {
    TS ts;

    PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
    PetscCall(ChainVec(A, &c, p, &x));
    PetscCall(TSSetMaxTime(ts, 1.0));
    PetscCall(TSSolve(ts, x));
    PetscCall(MatScale(A, 3.0));
    PetscCall(TSSetMaxTime(ts, 2.0));
    PetscCall(TSSolve(ts, x));
    ChainExact(&c, 4.0L, p, exact);
    PetscCall(CheckError("a matrix that changed", x, exact, 3e-8));
    PetscCall(TSDestroy(&ts));
    PetscCall(VecDestroy(&x));
  }
  /* A second solve continues where the first solve stored an evaluation time */
  {
    PetscReal        times[] = {0.25, 0.5, 0.75, 1.0};
    const PetscReal *stored;
    PetscInt         nstored;
    Vec             *solution;
    TS               ts;

    PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
    PetscCall(ChainVec(A, &c, p, &x));
    PetscCall(TSSetEvaluationTimes(ts, 4, times));
    PetscCall(TSSetMaxTime(ts, 0.5));
    PetscCall(TSSolve(ts, x));
    PetscCall(TSSetMaxTime(ts, 2.0));
    PetscCall(TSSolve(ts, x));
    PetscCall(TSGetEvaluationSolutions(ts, &nstored, &stored, &solution));
    if (WRONG(nstored != 4)) FAIL("two solves store %" PetscInt_FMT " of 4 evaluation times", nstored);
    for (PetscInt i = 0; i < nstored; i++) {
      if (WRONG(stored[i] != times[i])) FAIL("evaluation time %" PetscInt_FMT " is %g, not %g", i, (double)stored[i], (double)times[i]);
      ChainExact(&c, 3.0L * times[i], p, exact); /* the matrix is three times the previous matrix */
      PetscCall(CheckError("an evaluation time of two solves", solution[i], exact, 3e-8));
    }
    PetscCall(TSDestroy(&ts));
    PetscCall(VecDestroy(&x));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How likely the first state is, less a half */
static PetscErrorCode EventValue(TS ts, PetscReal t, Vec x, PetscReal value[], void *ctx)
{
  PetscScalar dot;

  PetscFunctionBeginUser;
  (void)ts;
  (void)t;
  PetscCall(VecDot(x, (Vec)ctx, &dot));
  value[0] = PetscRealPart(dot) - (PetscReal)0.5;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An event ends a solve: steps are rolled back until the event is found */
static PetscErrorCode TestEvent(void)
{
  PetscInt             direction = -1;
  PetscBool            terminate = PETSC_TRUE;
  Chain                c;
  Mat                  A;
  TS                   ts;
  Vec                  x, first;
  Long                 p[CHAIN_MAX] = {0}, exact[CHAIN_MAX];
  PetscReal            t;
  TSUniformizationInfo info;

  PetscFunctionBeginUser;
  ChainMake(CHAIN_RANDOM, &c);
  PetscCall(ChainMatrix(&c, &A));
  p[0] = 1;
  PetscCall(ChainTS(A, "-ts_type uniformization -ts_event_tol 1e-6 -ts_time_step 0.05 -ts_max_time 20", &ts));
  PetscCall(ChainVec(A, &c, p, &x));
  PetscCall(VecDuplicate(x, &first));
  PetscCall(VecCopy(x, first));
  PetscCall(TSSetEventHandler(ts, 1, &direction, &terminate, EventValue, NULL, first));
  PetscCall(TSSolve(ts, x));
  PetscCall(TSGetTime(ts, &t));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  ChainExact(&c, (Long)t, p, exact);
  PetscCall(CheckError("an event", x, exact, (double)info.bound));
  if (WRONG(!(fabsl(exact[0] - 0.5L) <= 2e-6L) || info.passes < 3)) FAIL("an event was found at time %g, in %" PetscInt_FMT " passes", (double)t, info.passes);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&first));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool queue = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-queue", &queue, NULL));
  if (queue) PetscCall(TestQueue());
  PetscCall(TestOutputs(CHAIN_RANDOM, PETSC_FALSE, "", PETSC_TRUE));
  PetscCall(TestOutputs(CHAIN_ABSORBING, PETSC_FALSE, "-ts_uniformization_steady_state -ts_uniformization_eps 1e-6", PETSC_TRUE));
  PetscCall(TestOutputs(CHAIN_RANDOM, PETSC_FALSE, "-ts_uniformization_open_outputs 1", PETSC_FALSE));
  PetscCall(TestOutputs(CHAIN_SLOW, PETSC_FALSE, "-ts_uniformization_open_outputs 3 -ts_uniformization_steady_state", PETSC_FALSE));
  PetscCall(TestOutputs(CHAIN_CYCLE, PETSC_FALSE, "-ts_uniformization_method intervals -ts_uniformization_theta 3", PETSC_FALSE));
  PetscCall(TestOutputs(CHAIN_CYCLE, PETSC_TRUE, "", PETSC_TRUE));
  PetscCall(TestOutputs(CHAIN_CYCLE, PETSC_TRUE, "-ts_uniformization_method intervals", PETSC_FALSE));
  PetscCall(TestSteps());
  PetscCall(TestProgram());
  PetscCall(TestEvent());
  return TestEnd(290, "all is right\n");
}

/*TEST

  testset:
    requires: double
    filter: grep -E "right|failed|FAIL"
    output_file: output/right.out

    test:
      args: -mat_type {{aij vcrs}}

    test:
      suffix: mpi
      nsize: {{2 3}}
      args: -queue 0

    test:
      suffix: cuda
      requires: cuda
      args: -mat_type {{aijcusparse vcrs}} -mat_vec_type cuda -queue 0

TEST*/
