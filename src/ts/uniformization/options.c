/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options of TSUNIFORMIZATION: defaults, the options database, and setters; the rest has options alone.
*/

#include "uniformizationimpl.h"

const char *const TSUniformizationMethods[] = {"intervals", "foxglynn", "TSUniformizationMethod", "TS_UNIFORMIZATION_", NULL};

PetscErrorCode TSUniformizationOptionsDefault_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  un->opt.method     = TS_UNIFORMIZATION_FOXGLYNN;
  un->opt.eps        = PetscDefined(USE_REAL_SINGLE) || PetscDefined(USE_REAL___FP16) ? 1e-4 : 1e-8;
  un->opt.theta      = 100;
  un->opt.factor     = 1;
  un->opt.negligible = 0.1;
  un->opt.check      = PETSC_TRUE;
  un->opt.tolerance  = 4096 * PETSC_MACHINE_EPSILON;
  un->opt.open       = 8;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetEpsilon_Uniformization(TS ts, PetscReal eps)
{
  PetscFunctionBegin;
  PetscCheck(eps > 0.0 && eps < 1.0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "-ts_uniformization_eps %g: use an error between 0 and 1",
             (double)eps);
  ((TS_Uniformization *)ts->data)->opt.eps = eps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetNegligible_Uniformization(TS ts, PetscReal part)
{
  PetscFunctionBegin;
  PetscCheck(part >= 0.0 && part < 1.0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_negligible %g: use a part of the error allowed, at least 0 and less than 1", (double)part);
  ((TS_Uniformization *)ts->data)->opt.negligible = part;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetSteadyState_Uniformization(TS ts, PetscBool flag)
{
  PetscFunctionBegin;
  ((TS_Uniformization *)ts->data)->opt.steadystate = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetReward_Uniformization(TS ts, Vec reward)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  if (reward) PetscCall(PetscObjectReference((PetscObject)reward));
  PetscCall(VecDestroy(&un->opt.reward));
  un->opt.reward = reward;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationOptionsReset_Private(TSUniformizationOptions *opt)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&opt->reward));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetReward_Uniformization(TS ts, PetscReal *accumulated, PetscReal *instantaneous)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscScalar        dot;

  PetscFunctionBegin;
  PetscCheck(un->opt.reward, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE, "Call TSUniformizationSetReward() before TSSolve()");
  if (accumulated) *accumulated = ts->steps ? un->errors.now.reward : 0;
  if (instantaneous) {
    PetscCall(VecDot(ts->vec_sol, un->opt.reward, &dot));
    *instantaneous = PetscRealPart(dot);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationGetInfo_Uniformization(TS ts, TSUniformizationInfo *info)
{
  const TS_Uniformization     *un   = (const TS_Uniformization *)ts->data;
  const TSUniformizationPass  *pass = &un->pass;
  const TSUniformizationSpent *now  = &un->errors.now;

  PetscFunctionBegin;
  *info = (TSUniformizationInfo){
    .alpha         = un->generator.alpha,
    .bound         = un->errors.bound,
    .truncation    = now->truncation,
    .steady        = now->steady,
    .negligible    = now->negligible,
    .rounding      = now->rounding,
    .roundingknown = (PetscBool)(un->generator.row >= 0),
    .defect        = un->generator.defect,
    .products      = pass->products,
    .rows          = pass->products ? (PetscReal)(un->taken.parts / (double)pass->products) : (pass->passes ? 1 : 0),
    .sums          = pass->sums,
    .passes        = pass->passes,
    .steadyat      = pass->passes ? pass->steadyat : -1,
    .epsilon       = un->opt.eps,
    .part          = un->opt.negligible,
  };
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationCompose_Private(TS ts, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetEpsilon_C", add ? TSUniformizationSetEpsilon_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetNegligible_C", add ? TSUniformizationSetNegligible_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetSteadyState_C", add ? TSUniformizationSetSteadyState_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetReward_C", add ? TSUniformizationSetReward_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetReward_C", add ? TSUniformizationGetReward_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetShares_C", add ? TSUniformizationGetShares_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetWork_C", add ? TSUniformizationGetWork_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetInfo_C", add ? TSUniformizationGetInfo_Uniformization : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSSetFromOptions_Uniformization(TS ts, PetscOptionItems PetscOptionsObject)
{
  TS_Uniformization     *un     = (TS_Uniformization *)ts->data;
  MPI_Comm               comm   = PetscObjectComm((PetscObject)ts);
  TSUniformizationMethod method = un->opt.method;
  PetscBool              check  = un->opt.check, set, flag;
  PetscReal              theta = un->opt.theta, factor = un->opt.factor, tolerance = un->opt.tolerance, real;
  PetscInt               open = un->opt.open;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Uniformization");
  PetscCall(
    PetscOptionsEnum("-ts_uniformization_method", "How the series is summed", NULL, TSUniformizationMethods, (PetscEnum)method, (PetscEnum *)&method, NULL));
  PetscCall(PetscOptionsReal("-ts_uniformization_eps", "Error of a whole solve in the 1-norm", "TSUniformizationSetEpsilon", un->opt.eps, &real, &set));
  if (set) PetscCall(TSUniformizationSetEpsilon(ts, real));
  PetscCall(PetscOptionsReal("-ts_uniformization_theta", "Expected jumps per interval", NULL, theta, &theta, NULL));
  PetscCall(PetscOptionsReal("-ts_uniformization_rate_factor", "Rate of the Poisson process, relative to the largest rate", NULL, factor, &factor, NULL));
  PetscCall(PetscOptionsReal("-ts_uniformization_negligible", "Part of the error for states left out", "TSUniformizationSetNegligible", un->opt.negligible,
                             &real, &set));
  if (set) PetscCall(TSUniformizationSetNegligible(ts, real));
  PetscCall(PetscOptionsBool("-ts_uniformization_steady_state", "Stop where the distribution is steady", "TSUniformizationSetSteadyState", un->opt.steadystate,
                             &flag, &set));
  if (set) PetscCall(TSUniformizationSetSteadyState(ts, flag));
  PetscCall(PetscOptionsInt("-ts_uniformization_open_outputs", "Output times per pass at once", NULL, open, &open, NULL));
  PetscCall(PetscOptionsBool("-ts_uniformization_check", "Check that the matrix is a generator", NULL, check, &check, NULL));
  PetscCall(PetscOptionsReal("-ts_uniformization_check_tolerance", "Largest sum of rates, relative to the diagonal entry", NULL, tolerance, &tolerance, NULL));
  PetscOptionsHeadEnd();

  PetscCheck(theta >= 1e-3 && theta <= 1e9, comm, PETSC_ERR_ARG_OUTOFRANGE, "-ts_uniformization_theta %g: use a number of expected jumps from 0.001 to 1e9",
             (double)theta);
  PetscCheck(factor >= 1.0 && factor <= 1e6, comm, PETSC_ERR_ARG_OUTOFRANGE, "-ts_uniformization_rate_factor %g: use a factor from 1 to 1e6", (double)factor);
  PetscCheck(open >= 1 && open <= TS_UNIFORMIZATION_MAX_OPEN, comm, PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_open_outputs %" PetscInt_FMT ": use a number from 1 to %d", open, TS_UNIFORMIZATION_MAX_OPEN);
  PetscCheck(tolerance >= 0.0, comm, PETSC_ERR_ARG_OUTOFRANGE, "-ts_uniformization_check_tolerance %g: use a tolerance of at least 0", (double)tolerance);
  if (check != un->opt.check || tolerance != un->opt.tolerance) TSUniformizationMatrixForget_Private(&un->generator);
  un->opt.method    = method;
  un->opt.theta     = theta;
  un->opt.factor    = factor;
  un->opt.open      = open;
  un->opt.check     = check;
  un->opt.tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetEpsilon - Sets the error of a whole solve, for `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- eps - allowed || p - exact ||_1 / || p(0) ||_1, at the final time, between 0 and 1; 1e-8 is the default, 1e-4 in
  single precision

  Options Database Key:
. -ts_uniformization_eps <1e-8> - the error

  Level: intermediate

  Notes:
  An intermediate time has a part of the error. Rounding counts at its upper bound: a few times the nonzeros of the
  longest row times the number of products, in units of roundoff. If rounding takes nearly all of the permitted error,
  or more, a quarter of the error goes to the weights. The bound of `TSUniformizationGetInfo()` and `TSView()` is then
  greater than the requested error.

  For `TSStep()` without a final time the allowed error is the error of a step.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetNegligible()`, `TSUniformizationSetSteadyState()`,
          `TSUniformizationGetInfo()`
@*/
PetscErrorCode TSUniformizationSetEpsilon(TS ts, PetscReal eps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ts, eps, 2);
  PetscTryMethod(ts, "TSUniformizationSetEpsilon_C", (TS, PetscReal), (ts, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetNegligible - Sets the part of the permitted error for leaving out negligible states, for
  `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts   - the time stepper
- part - share of the error of `TSUniformizationSetEpsilon()` after rounding, at least 0 and less than 1; 0.1 is the
         default, 0 leaves out only zeros

  Options Database Key:
. -ts_uniformization_negligible <0.1> - the part

  Level: intermediate

  Notes:
  Every 8 to 128 products the first and the last rows of the distribution are summed. As many rows as the error permits
  are set to zero, and left out of products until the chain reaches these rows again. The sum left out until an output
  is at most the part of the error for this output, minus rounding. Products do not increase the 1-norm: the sum left
  out is a part of the bound of `TSView()` and `TSUniformizationGetInfo()`. The weights, and the steady state, have the
  rest of the error. The probabilities of the solution sum to 1 minus the sum left out.

  A chain gains if it moves through states numbered along the path. `MATVCRS` on a GPU and `MATHYBMGPU`, without
  reordered rows, leave out rows; with all other types of matrices every row takes part.

  On several processes the processes with active states work, and the remaining processes wait:
  `TSUniformizationGetShares()` finds a better division of the states.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetEpsilon()`, `TSUniformizationGetShares()`, `TSUniformizationGetInfo()`
@*/
PetscErrorCode TSUniformizationSetNegligible(TS ts, PetscReal part)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ts, part, 2);
  PetscTryMethod(ts, "TSUniformizationSetNegligible_C", (TS, PetscReal), (ts, part));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetSteadyState - Sets whether products end where the distribution is steady, for `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- flag - `PETSC_FALSE` is the default

  Options Database Key:
. -ts_uniformization_steady_state <bool> - the flag

  Level: intermediate

  Note:
  The distribution v_k after k products counts as steady if (K - k) || v_(k+1) - v_k ||_1 is small enough. The limit is
  half of the error left by rounding and by omitted states. K is the last product needed. P^T does not increase the
  norm: no later distribution can differ by more. The test cannot stop too early, in contrast to a test of differences
  alone for a slow chain. The test costs one norm per 16 products.

  Reference:
  J.-P. Katoen and I. S. Zapreev, Safe on-the-fly steady-state detection for time-bounded reachability, QEST 2006

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetEpsilon()`
@*/
PetscErrorCode TSUniformizationSetSteadyState(TS ts, PetscBool flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveBool(ts, flag, 2);
  PetscTryMethod(ts, "TSUniformizationSetSteadyState_C", (TS, PetscBool), (ts, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetReward - Sets the rewards of the states, whose expectation `TSUNIFORMIZATION` then accumulates

  Logically Collective

  Input Parameters:
+ ts     - the time stepper
- reward - a reward per unit of time for each state, or `NULL` for none; the vector is referenced, not copied

  Level: intermediate

  Notes:
  Set the rewards before the first step. They cost one dot product per product with the matrix.

  The expected reward until time t has an error of at most max |reward| t bound || p(0) ||_1, with the bound of
  `TSUniformizationGetInfo()`.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetReward()`
@*/
PetscErrorCode TSUniformizationSetReward(TS ts, Vec reward)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  if (reward) PetscValidHeaderSpecific(reward, VEC_CLASSID, 2);
  PetscTryMethod(ts, "TSUniformizationSetReward_C", (TS, Vec), (ts, reward));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetReward - Gets the expected reward until the present time, and the reward rate at the present time

  Collective

  Input Parameter:
. ts - the time stepper

  Output Parameters:
+ accumulated   - the integral of reward . p over time, from the first step on, or `NULL`
- instantaneous - reward . p now, or `NULL`

  Level: intermediate

  Note:
  A monitor may call the function. For complex numbers both results are real parts.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetReward()`
@*/
PetscErrorCode TSUniformizationGetReward(TS ts, PetscReal *accumulated, PetscReal *instantaneous)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscUseMethod(ts, "TSUniformizationGetReward_C", (TS, PetscReal *, PetscReal *), (ts, accumulated, instantaneous));
  PetscFunctionReturn(PETSC_SUCCESS);
}
