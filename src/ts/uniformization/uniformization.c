/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The class TSUNIFORMIZATION: TSSolve() and TSStep().
*/

#include "uniformizationimpl.h"

/* Sensitivities and events need steps that can be rolled back: such solves proceed step by step */
static PetscBool UniformizationByStep_Private(TS ts)
{
  return (PetscBool)(ts->event || ts->quadraturets || ts->forward_solve || ts->adjoint_solve || ts->resizesetup);
}

/* PETSC_INT_MAX: no limit */
static PetscInt UniformizationStepsLeft_Private(TS ts)
{
  return PetscMin(ts->max_steps < PETSC_INT_MAX ? ts->max_steps - ts->steps : PETSC_INT_MAX,
                  ts->run_steps < PETSC_INT_MAX ? ts->run_steps - (ts->steps - ts->start_step) : PETSC_INT_MAX);
}

/* The time at which the error may have reached eps: the last known time */
static PetscReal UniformizationEnd_Private(TS ts)
{
  const PetscInt steps = UniformizationStepsLeft_Private(ts);

  if (ts->max_time < PETSC_MAX_REAL) return ts->max_time;
  if (steps > 0 && steps < PETSC_INT_MAX) return ts->ptime + (PetscReal)steps * ts->time_step;
  return ts->ptime + ts->time_step;
}

/* The last time of this solve, which may be before the final time if steps run out */
static PetscReal UniformizationLast_Private(TS ts)
{
  PetscInt left = UniformizationStepsLeft_Private(ts);

  for (PetscInt i = ts->eval_times ? ts->eval_times->time_point_idx : 0; ts->eval_times && i < ts->eval_times->num_time_points; i++) {
    const PetscReal time = ts->eval_times->time_points[i];

    if (time > ts->ptime && time <= ts->max_time && --left == 0) return time;
  }
  return UniformizationEnd_Private(ts);
}

static PetscErrorCode TSStep_Uniformization(TS ts)
{
  TS_Uniformization *un     = (TS_Uniformization *)ts->data;
  PetscReal          next   = ts->time_step;
  const PetscReal    time   = ts->ptime + ts->time_step;
  PetscBool          accept = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(TSUniformizationMatrix_Private(ts, time, PETSC_TRUE));
  TSUniformizationErrorsSave_Private(&un->errors);
  PetscCall(TSPreStage(ts, ts->ptime));
  PetscCall(TSUniformizationPassBegin_Private(ts, PetscMax(UniformizationEnd_Private(ts), time), 1, &time));
  PetscCall(TSUniformizationPassNext_Private(ts, ts->vec_sol));
  PetscCall(TSPostStage(ts, ts->ptime, 0, &ts->vec_sol));
  PetscCall(TSAdaptChoose(ts->adapt, ts, ts->time_step, NULL, &next, &accept));
  PetscCheck(accept, PetscObjectComm((PetscObject)ts), PETSC_ERR_PLIB,
             "TSUNIFORMIZATION: -ts_adapt_type %s rejected a step that has no error to control; use none", ((PetscObject)ts->adapt)->type_name);
  ts->ptime     = time;
  ts->time_step = next;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSRollBack_Uniformization(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  PetscCall(VecCopy(ts->vec_sol0, ts->vec_sol));
  TSUniformizationErrorsRestore_Private(&un->errors);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next times at which the solution is wanted, at most max: evaluation times and the final time, or steps if no end
   is set */
static PetscErrorCode UniformizationTimes_Private(TS ts, PetscInt max, PetscReal times[], PetscInt *n)
{
  const PetscInt left = PetscMin(max, UniformizationStepsLeft_Private(ts));

  PetscFunctionBegin;
  *n = 0;
  if (ts->eval_times) {
    for (PetscInt i = ts->eval_times->time_point_idx; i < ts->eval_times->num_time_points && *n < left; i++) {
      const PetscReal time = ts->eval_times->time_points[i];

      if (time > ts->ptime && time <= ts->max_time) times[(*n)++] = time;
    }
  }
  if (ts->max_time < PETSC_MAX_REAL) {
    if (*n < left && (!*n || times[*n - 1] < ts->max_time)) times[(*n)++] = ts->max_time;
  } else if (!*n) {
    for (; *n < left; (*n)++) times[*n] = ts->ptime + (PetscReal)(*n + 1) * ts->time_step;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The states of the input of a pass on this process */
typedef struct {
  PetscObjectId    id;
  PetscObjectState matrix, solution;
} UniformizationState;

static PetscErrorCode UniformizationStateGet_Private(TS ts, UniformizationState *state)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectGetId((PetscObject)ts->Arhs, &state->id));
  PetscCall(PetscObjectStateGet((PetscObject)ts->Arhs, &state->matrix));
  PetscCall(PetscObjectStateGet((PetscObject)ts->vec_sol, &state->solution));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether called functions have changed the matrix or the solution, on any process */
static PetscErrorCode UniformizationChanged_Private(TS ts, const UniformizationState *before, PetscBool *matrix, PetscBool *solution)
{
  UniformizationState now;
  PetscBool           changed[2];

  PetscFunctionBegin;
  PetscCall(UniformizationStateGet_Private(ts, &now));
  changed[0] = (PetscBool)(now.id != before->id || now.matrix != before->matrix);
  changed[1] = (PetscBool)(now.solution != before->solution);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, changed, 2, MPI_C_BOOL, MPI_LOR, PetscObjectComm((PetscObject)ts)));
  *matrix   = changed[0];
  *solution = changed[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the solve has ended, by its number of steps or its time */
static TSConvergedReason UniformizationReason_Private(TS ts)
{
  if (UniformizationStepsLeft_Private(ts) <= 0) return TS_CONVERGED_ITS;
  return ts->ptime >= ts->max_time ? TS_CONVERGED_TIME : TS_CONVERGED_ITERATING;
}

/*
   The steps of a solve are the output times; one pass serves many. Functions called between these times may change the
   solution or the matrix: then another pass begins.
*/
static PetscErrorCode TSSolve_Uniformization(TS ts)
{
  TS_Uniformization  *un = (TS_Uniformization *)ts->data;
  PetscReal           times[64];
  PetscInt            n = 0, i = 0;
  PetscBool           matrix, solution;
  UniformizationState state;
  TSConvergedReason   over;

  PetscFunctionBegin;
  PetscCheck(!UniformizationByStep_Private(ts), PetscObjectComm((PetscObject)ts), PETSC_ERR_ORDER,
             "TSUNIFORMIZATION: set events, sensitivities and resizing before TSSetUp()");
  ts->start_step = ts->steps;
  PetscCall(TSUniformizationMatrix_Private(ts, UniformizationLast_Private(ts), PETSC_FALSE));
  if (ts->steps >= ts->max_steps) ts->reason = TS_CONVERGED_ITS;
  else if (ts->ptime >= ts->max_time) ts->reason = TS_CONVERGED_TIME;
  if (!ts->steps) PetscCall(TSTrajectorySet(ts->trajectory, ts, ts->steps, ts->ptime, ts->vec_sol));
  PetscCall(TSUniformizationPassEnd_Private(ts));
  PetscCall(UniformizationStateGet_Private(ts, &state));
  while (!ts->reason) {
    PetscCall(TSMonitor(ts, ts->steps, ts->ptime, ts->vec_sol));
    PetscCall(TSPreStep(ts));
    if (i == n) {
      PetscCall(UniformizationTimes_Private(ts, (PetscInt)PETSC_STATIC_ARRAY_LENGTH(times), times, &n));
      i = 0;
    }
    PetscCheck(n > 0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE, "TSUNIFORMIZATION: no time to solve for after %g; use TSSetMaxTime()",
               (double)ts->ptime);
    PetscCall(UniformizationChanged_Private(ts, &state, &matrix, &solution));
    if (matrix) PetscCall(TSUniformizationMatrix_Private(ts, UniformizationLast_Private(ts), PETSC_FALSE));
    PetscCall(PetscLogEventBegin(TS_Step, ts, 0, 0, 0));
    if (un->pass.done == un->pass.n || matrix || solution)
      PetscCall(TSUniformizationPassBegin_Private(ts, PetscMax(UniformizationEnd_Private(ts), times[n - 1]), n - i, &times[i]));
    PetscCall(TSUniformizationPassNext_Private(ts, ts->vec_sol));
    PetscCall(PetscLogEventEnd(TS_Step, ts, 0, 0, 0));
    ts->ptime_prev   = ts->ptime;
    ts->ptime        = times[i++];
    ts->steprollback = PETSC_FALSE;
    ts->steprestart  = PETSC_FALSE;
    ts->steps++;
    if (UniformizationReason_Private(ts)) PetscCall(TSUniformizationConstantEnd_Private(ts));
    PetscCall(UniformizationStateGet_Private(ts, &state));
    PetscCall(TSPostEvaluate(ts));
    over = UniformizationReason_Private(ts);
    if (over) ts->reason = over;
    PetscCall(TSTrajectorySet(ts->trajectory, ts, ts->steps, ts->ptime, ts->vec_sol));
    PetscCall(TSPostStep(ts));
    /* TSSolve() may have reset the index to a stored time, where this solve began */
    while (ts->eval_times && ts->eval_times->time_point_idx < ts->eval_times->num_time_points &&
           ts->eval_times->time_points[ts->eval_times->time_point_idx] <= ts->ptime_prev)
      ts->eval_times->time_point_idx++;
    if (ts->eval_times && ts->eval_times->time_point_idx < ts->eval_times->num_time_points &&
        ts->ptime == ts->eval_times->time_points[ts->eval_times->time_point_idx]) {
      ts->eval_times->sol_times[ts->eval_times->sol_idx] = ts->ptime;
      PetscCall(VecCopy(ts->vec_sol, ts->eval_times->sol_vecs[ts->eval_times->sol_idx]));
      ts->eval_times->sol_idx++;
      ts->eval_times->time_point_idx++;
    }
  }
  PetscCall(TSMonitor(ts, ts->steps, ts->ptime, ts->vec_sol));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The generator is checked when a solve or a step begins: programs may set up types that they never use */
static PetscErrorCode TSSetUp_Uniformization(TS ts)
{
  PetscFunctionBegin;
  PetscCall(TSGetAdapt(ts, &ts->adapt));
  PetscCall(TSAdaptCandidatesClear(ts->adapt));
  ts->ops->solve = UniformizationByStep_Private(ts) ? NULL : TSSolve_Uniformization;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSReset_Uniformization(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  PetscCall(TSUniformizationPassEnd_Private(ts));
  PetscCall(TSUniformizationVectorsReset_Private(&un->vectors));
  PetscCall(TSUniformizationConstantReset_Private(&un->constant));
  PetscCall(TSUniformizationOptionsReset_Private(&un->opt));
  PetscCall(TSUniformizationRowsReset_Private(&un->active));
  TSUniformizationMatrixForget_Private(&un->generator);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSDestroy_Uniformization(TS ts)
{
  PetscFunctionBegin;
  PetscCall(TSReset_Uniformization(ts));
  PetscCall(TSUniformizationCompose_Private(ts, PETSC_FALSE));
  PetscCall(PetscFree(ts->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*MC
  TSUNIFORMIZATION - The distribution of a continuous-time Markov chain over time: p' = Q^T p for a generator Q, by
  uniformization (Jensen's method, randomization)

  Options Database Keys:
+ -ts_uniformization_method <intervals,foxglynn> - method of summing the series
. -ts_uniformization_eps <1e-8>                  - error of a whole solve in the 1-norm, see
    `TSUniformizationSetEpsilon()`
. -ts_uniformization_theta <100>                 - expected jumps in an interval, from 0.001 to 1e9
. -ts_uniformization_rate_factor <1>             - alpha, by the largest rate, from 1 to 1e6
. -ts_uniformization_negligible <0.1>            - part of the error for states left out, see
    `TSUniformizationSetNegligible()`
. -ts_uniformization_steady_state <bool>         - stop at a steady distribution, see `TSUniformizationSetSteadyState()`
. -ts_uniformization_check <bool>                - check that the matrix is a generator
. -ts_uniformization_check_tolerance <tol>       - largest sum of rates, relative to the diagonal entry
- -ts_uniformization_open_outputs <8>            - output times per pass at once, 1 to 64; each takes a vector

  Level: intermediate

  Notes:
  The right-hand side is given as for any linear problem with constant coefficients. With A = Q^T, call
  `TSSetRHSFunction`(ts, NULL, `TSComputeRHSFunctionLinear`, NULL) and `TSSetRHSJacobian`(ts, A, A,
  `TSComputeRHSJacobianConstant`, NULL). Column j of A has the rates of state j. The matrix may have any type with
  `MatMult()` and `MatGetDiagonal()`. The solver checks that the matrix comes from a generator.

  Rates must be constant. Other functions of the program are called at several times, with different vectors. Functions
  that depend on time or on the solution are refused, and so are right-hand sides other than the product with the
  matrix. Not every change can be found by these calls.

  Let alpha = max |q_ii|, and P^T = I + Q^T / alpha, a stochastic matrix. The solution is the sum of (P^T)^k p(0) with
  Poisson weights of mean alpha t. The weights are cut off within the permitted error: alpha t and some standard
  deviations products, whatever the matrix. Only the weights are approximated, and no time step has to be chosen.
  `TSSolve()` proceeds from one evaluation time (`TSSetEvaluationTimes()`, `TSSetTimeSpan()`) to the next and to the
  final time, and calls monitors at each time. The time step counts only without a final time, and in `TSStep()`. More
  evaluation times call monitors more often.

  The requested error covers the weights and, as far as possible, rounding. `TSView()` and `TSUniformizationGetInfo()`
  report the bound with both: || p - exact ||_1 <= bound || p(0) ||_1. The sum of the entries of p is kept to the same
  bound.

  With events, sensitivities or resizing a solve goes by the time step.

  The method foxglynn takes one sum over the terms with significant weights. The number of products is alpha t plus some
  standard deviations, and only the last terms are summed. The method intervals serves for comparison. It divides the
  time into intervals of -ts_uniformization_theta expected jumps, and sums from the first term on in each interval. Each
  interval has its part of the error.

  With a rate factor of 1 a chain with equal rates may become periodic, such as a chain of two states: products then
  never reach a steady state. The factor 1.02 avoids periodic chains, at the cost of 2 percent more products.

  If the windows of Poisson weights of more times overlap than -ts_uniformization_open_outputs, another pass begins at
  the last time served.

  Functions of the program are compared with the matrix in any case, within the tolerance of the check. A matrix is
  checked once, at its first use or after a change. An error names the first state with a negative rate, or with rates
  that do not sum to zero. Entries are read if the type of the matrix can give entries, including symmetric storage and
  virtual transposes. Otherwise the check uses products with random vectors. Products show any nonzero column sum. With
  up to 64 states a negative rate is always found. With more states a negative rate is found unless positive rates hide
  it. A matrix with rates of few digits, read from a file, may need a greater tolerance; the default is 4096 units of
  machine precision. The largest column sum is part of the bound of the error.

  The entries of a complex matrix must be real; vectors may be complex.

.seealso: `TS`, `TSCreate()`, `TSSetType()`, `TSUniformizationSetEpsilon()`,
`TSUniformizationSetReward()`, `TSUniformizationGetInfo()`
M*/
PETSC_INTERN PetscErrorCode TSCreate_Uniformization(TS ts)
{
  TS_Uniformization *un;

  PetscFunctionBegin;
  PetscCall(PetscNew(&un));
  ts->data                = (void *)un;
  ts->ops->setup          = TSSetUp_Uniformization;
  ts->ops->solve          = TSSolve_Uniformization;
  ts->ops->step           = TSStep_Uniformization;
  ts->ops->rollback       = TSRollBack_Uniformization;
  ts->ops->interpolate    = TSInterpolate_Uniformization;
  ts->ops->reset          = TSReset_Uniformization;
  ts->ops->destroy        = TSDestroy_Uniformization;
  ts->ops->setfromoptions = TSSetFromOptions_Uniformization;
  ts->ops->view           = TSView_Uniformization;
  ts->default_adapt_type  = TSADAPTNONE;
  ts->usessnes            = PETSC_FALSE;
  if (ts->exact_final_time == TS_EXACTFINALTIME_UNSPECIFIED) ts->exact_final_time = TS_EXACTFINALTIME_MATCHSTEP;
  PetscCall(TSUniformizationOptionsDefault_Private(ts));
  PetscCall(TSUniformizationCompose_Private(ts, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
