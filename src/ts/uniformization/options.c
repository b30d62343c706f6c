/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The options of TSUNIFORMIZATION: defaults, the options database, setters and getters.
*/

#include "uniformizationimpl.h"

const char *const TSUniformizationMethods[] = {"intervals", "foxglynn", "TSUniformizationMethod", "TS_UNIFORMIZATION_", NULL};

PetscErrorCode TSUniformizationOptionsDefault_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  un->method     = TS_UNIFORMIZATION_FOXGLYNN;
  un->eps        = PetscDefined(USE_REAL_SINGLE) || PetscDefined(USE_REAL___FP16) ? 1e-4 : 1e-8;
  un->theta      = 100;
  un->factor     = 1;
  un->negligible = 0.1;
  un->check      = PETSC_TRUE;
  un->tolerance  = 4096 * PETSC_MACHINE_EPSILON;
  un->open       = 8;
  un->row        = -1;
  TSUniformizationTakenReset_Private(&un->taken);

  un->info.roundingknown = PETSC_TRUE;
  un->info.steadyat      = -1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetMethod_Uniformization(TS ts, TSUniformizationMethod method)
{
  PetscFunctionBegin;
  PetscCheck(method == TS_UNIFORMIZATION_INTERVALS || method == TS_UNIFORMIZATION_FOXGLYNN, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "Unknown method %d of TSUNIFORMIZATION; use intervals or foxglynn", (int)method);
  ((TS_Uniformization *)ts->data)->method = method;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetMethod_Uniformization(TS ts, TSUniformizationMethod *method)
{
  PetscFunctionBegin;
  *method = ((TS_Uniformization *)ts->data)->method;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetEpsilon_Uniformization(TS ts, PetscReal eps)
{
  PetscFunctionBegin;
  PetscCheck(eps > 0.0 && eps < 1.0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "-ts_uniformization_eps %g: use an error between 0 and 1",
             (double)eps);
  ((TS_Uniformization *)ts->data)->eps = eps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetEpsilon_Uniformization(TS ts, PetscReal *eps)
{
  PetscFunctionBegin;
  *eps = ((TS_Uniformization *)ts->data)->eps;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetTheta_Uniformization(TS ts, PetscReal theta)
{
  PetscFunctionBegin;
  PetscCheck(theta >= 1e-3 && theta <= 1e9, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_theta %g: use a number of expected jumps from 0.001 to 1e9", (double)theta);
  ((TS_Uniformization *)ts->data)->theta = theta;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetTheta_Uniformization(TS ts, PetscReal *theta)
{
  PetscFunctionBegin;
  *theta = ((TS_Uniformization *)ts->data)->theta;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetRateFactor_Uniformization(TS ts, PetscReal factor)
{
  PetscFunctionBegin;
  PetscCheck(factor >= 1.0 && factor <= 1e6, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_rate_factor %g: use a factor from 1 to 1e6", (double)factor);
  ((TS_Uniformization *)ts->data)->factor = factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetRateFactor_Uniformization(TS ts, PetscReal *factor)
{
  PetscFunctionBegin;
  *factor = ((TS_Uniformization *)ts->data)->factor;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetSteadyState_Uniformization(TS ts, PetscBool flag)
{
  PetscFunctionBegin;
  ((TS_Uniformization *)ts->data)->steadystate = flag;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetSteadyState_Uniformization(TS ts, PetscBool *flag)
{
  PetscFunctionBegin;
  *flag = ((TS_Uniformization *)ts->data)->steadystate;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetOpenOutputs_Uniformization(TS ts, PetscInt open)
{
  PetscFunctionBegin;
  PetscCheck(open >= 1 && open <= TS_UNIFORMIZATION_MAX_OPEN, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_open_outputs %" PetscInt_FMT ": use a number from 1 to %d", open, TS_UNIFORMIZATION_MAX_OPEN);
  ((TS_Uniformization *)ts->data)->open = open;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetOpenOutputs_Uniformization(TS ts, PetscInt *open)
{
  PetscFunctionBegin;
  *open = ((TS_Uniformization *)ts->data)->open;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetCheck_Uniformization(TS ts, PetscBool check, PetscReal tolerance)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  if (tolerance == (PetscReal)PETSC_CURRENT) tolerance = un->tolerance;
  if (tolerance == (PetscReal)PETSC_DETERMINE) tolerance = 4096 * PETSC_MACHINE_EPSILON;
  PetscCheck(tolerance >= 0.0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "-ts_uniformization_check_tolerance %g: use a tolerance of at least 0", (double)tolerance);
  if (check != un->check || tolerance != un->tolerance) un->checked = PETSC_FALSE;
  un->check     = check;
  un->tolerance = tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetCheck_Uniformization(TS ts, PetscBool *check, PetscReal *tolerance)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  if (check) *check = un->check;
  if (tolerance) *tolerance = un->tolerance;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationSetReward_Uniformization(TS ts, Vec reward)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  if (reward) PetscCall(PetscObjectReference((PetscObject)reward));
  PetscCall(VecDestroy(&un->reward));
  un->reward = reward;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetReward_Uniformization(TS ts, PetscReal *accumulated, PetscReal *instantaneous)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscScalar        dot;

  PetscFunctionBegin;
  PetscCheck(un->reward, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE, "Call TSUniformizationSetReward() before TSSolve()");
  if (accumulated) *accumulated = ts->steps ? un->accumulated : 0;
  if (instantaneous) {
    PetscCall(VecDot(ts->vec_sol, un->reward, &dot));
    *instantaneous = PetscRealPart(dot);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TSUniformizationGetInfo_Uniformization(TS ts, TSUniformizationInfo *info)
{
  PetscFunctionBegin;
  *info = ((TS_Uniformization *)ts->data)->info;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationCompose_Private(TS ts, PetscBool add)
{
  PetscFunctionBegin;
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetMethod_C", add ? TSUniformizationSetMethod_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetMethod_C", add ? TSUniformizationGetMethod_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetEpsilon_C", add ? TSUniformizationSetEpsilon_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetEpsilon_C", add ? TSUniformizationGetEpsilon_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetTheta_C", add ? TSUniformizationSetTheta_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetTheta_C", add ? TSUniformizationGetTheta_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetRateFactor_C", add ? TSUniformizationSetRateFactor_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetRateFactor_C", add ? TSUniformizationGetRateFactor_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetNegligible_C", add ? TSUniformizationSetNegligible_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetNegligible_C", add ? TSUniformizationGetNegligible_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetSteadyState_C", add ? TSUniformizationSetSteadyState_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetSteadyState_C", add ? TSUniformizationGetSteadyState_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetOpenOutputs_C", add ? TSUniformizationSetOpenOutputs_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetOpenOutputs_C", add ? TSUniformizationGetOpenOutputs_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetCheck_C", add ? TSUniformizationSetCheck_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetCheck_C", add ? TSUniformizationGetCheck_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationSetReward_C", add ? TSUniformizationSetReward_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetReward_C", add ? TSUniformizationGetReward_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetShares_C", add ? TSUniformizationGetShares_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetWork_C", add ? TSUniformizationGetWork_Uniformization : NULL));
  PetscCall(PetscObjectComposeFunction((PetscObject)ts, "TSUniformizationGetInfo_C", add ? TSUniformizationGetInfo_Uniformization : NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSSetFromOptions_Uniformization(TS ts, PetscOptionItems PetscOptionsObject)
{
  TS_Uniformization     *un        = (TS_Uniformization *)ts->data;
  TSUniformizationMethod method    = un->method;
  PetscBool              check     = un->check, flag;
  PetscReal              tolerance = un->tolerance, real;
  PetscInt               count;
  PetscBool              set;

  PetscFunctionBegin;
  PetscOptionsHeadBegin(PetscOptionsObject, "Uniformization");
  PetscCall(PetscOptionsEnum("-ts_uniformization_method", "How the series is summed", "TSUniformizationSetMethod", TSUniformizationMethods, (PetscEnum)method,
                             (PetscEnum *)&method, &set));
  if (set) PetscCall(TSUniformizationSetMethod(ts, method));
  PetscCall(PetscOptionsReal("-ts_uniformization_eps", "Error of a whole solve in the 1-norm", "TSUniformizationSetEpsilon", un->eps, &real, &set));
  if (set) PetscCall(TSUniformizationSetEpsilon(ts, real));
  PetscCall(PetscOptionsReal("-ts_uniformization_theta", "Expected jumps per interval", "TSUniformizationSetTheta", un->theta, &real, &set));
  if (set) PetscCall(TSUniformizationSetTheta(ts, real));
  PetscCall(PetscOptionsReal("-ts_uniformization_rate_factor", "Rate of the Poisson process, relative to the largest rate", "TSUniformizationSetRateFactor",
                             un->factor, &real, &set));
  if (set) PetscCall(TSUniformizationSetRateFactor(ts, real));
  PetscCall(
    PetscOptionsReal("-ts_uniformization_negligible", "Part of the error for states left out", "TSUniformizationSetNegligible", un->negligible, &real, &set));
  if (set) PetscCall(TSUniformizationSetNegligible(ts, real));
  PetscCall(PetscOptionsBool("-ts_uniformization_steady_state", "Stop where the distribution is steady", "TSUniformizationSetSteadyState", un->steadystate,
                             &flag, &set));
  if (set) PetscCall(TSUniformizationSetSteadyState(ts, flag));
  PetscCall(PetscOptionsInt("-ts_uniformization_open_outputs", "Output times per pass at once", "TSUniformizationSetOpenOutputs", un->open, &count, &set));
  if (set) PetscCall(TSUniformizationSetOpenOutputs(ts, count));
  PetscCall(PetscOptionsBool("-ts_uniformization_check", "Check that the matrix is a generator", "TSUniformizationSetCheck", check, &check, NULL));
  PetscCall(PetscOptionsReal("-ts_uniformization_check_tolerance", "Largest sum of rates, relative to the diagonal entry", "TSUniformizationSetCheck",
                             tolerance, &tolerance, NULL));
  PetscCall(TSUniformizationSetCheck(ts, check, tolerance));
  PetscOptionsHeadEnd();
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetMethod - Sets the method of summing a series, for `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- method - `TS_UNIFORMIZATION_INTERVALS` or `TS_UNIFORMIZATION_FOXGLYNN`, the default

  Options Database Key:
. -ts_uniformization_method <intervals,foxglynn> - the method

  Level: intermediate

  Note:
  `TS_UNIFORMIZATION_FOXGLYNN` takes one sum over the terms with significant weights. The number of products is alpha t
  plus some standard deviations, and only the last terms are summed. `TS_UNIFORMIZATION_INTERVALS` serves for
  comparison. The method divides the time into intervals of `TSUniformizationSetTheta()` expected jumps, and sums from
  the first term on in each interval. Each interval has its part of the error.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetMethod()`, `TSUniformizationSetEpsilon()`, `TSUniformizationSetSteadyState()`, `TSUniformizationSetCheck()`
@*/
PetscErrorCode TSUniformizationSetMethod(TS ts, TSUniformizationMethod method)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveEnum(ts, method, 2);
  PetscTryMethod(ts, "TSUniformizationSetMethod_C", (TS, TSUniformizationMethod), (ts, method));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetMethod - Gets the method of summing a series, of `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. method - see `TSUniformizationSetMethod()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetMethod()`
@*/
PetscErrorCode TSUniformizationGetMethod(TS ts, TSUniformizationMethod *method)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(method, 2);
  PetscUseMethod(ts, "TSUniformizationGetMethod_C", (TS, TSUniformizationMethod *), (ts, method));
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

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetEpsilon()`, `TSUniformizationSetMethod()`, `TSUniformizationSetSteadyState()`, `TSUniformizationSetCheck()`
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
  TSUniformizationGetEpsilon - Gets the error of a whole solve, of `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. eps - see `TSUniformizationSetEpsilon()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetEpsilon()`
@*/
PetscErrorCode TSUniformizationGetEpsilon(TS ts, PetscReal *eps)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(eps, 2);
  PetscUseMethod(ts, "TSUniformizationGetEpsilon_C", (TS, PetscReal *), (ts, eps));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetTheta - Sets the expected jumps in an interval of `TS_UNIFORMIZATION_INTERVALS`, for
  `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- theta - the number, from 0.001 to 1e9; 100 is the default

  Options Database Key:
. -ts_uniformization_theta <100> - the number

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetTheta()`, `TSUniformizationSetMethod()`,
`TSUniformizationSetEpsilon()`, `TSUniformizationSetSteadyState()`, `TSUniformizationSetCheck()`
@*/
PetscErrorCode TSUniformizationSetTheta(TS ts, PetscReal theta)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ts, theta, 2);
  PetscTryMethod(ts, "TSUniformizationSetTheta_C", (TS, PetscReal), (ts, theta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetTheta - Gets the expected jumps in an interval of `TS_UNIFORMIZATION_INTERVALS`, of
  `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. theta - see `TSUniformizationSetTheta()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetTheta()`
@*/
PetscErrorCode TSUniformizationGetTheta(TS ts, PetscReal *theta)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(theta, 2);
  PetscUseMethod(ts, "TSUniformizationGetTheta_C", (TS, PetscReal *), (ts, theta));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetRateFactor - Sets the rate alpha of the Poisson process, as a multiple of the largest rate of the
  chain, for `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- factor - from 1, the default, to 1e6

  Options Database Key:
. -ts_uniformization_rate_factor <1> - the factor

  Level: intermediate

  Note:
  With 1 a chain with equal rates may become periodic, such as a chain of two states: products then never reach a steady
  state. The factor 1.02 avoids periodic chains, at the cost of 2 percent more products.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetRateFactor()`, `TSUniformizationSetMethod()`,
`TSUniformizationSetEpsilon()`, `TSUniformizationSetSteadyState()`, `TSUniformizationSetCheck()`
@*/
PetscErrorCode TSUniformizationSetRateFactor(TS ts, PetscReal factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveReal(ts, factor, 2);
  PetscTryMethod(ts, "TSUniformizationSetRateFactor_C", (TS, PetscReal), (ts, factor));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetRateFactor - Gets the rate alpha of the Poisson process, as a multiple of the largest rate of the
  chain, of `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. factor - see `TSUniformizationSetRateFactor()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetRateFactor()`
@*/
PetscErrorCode TSUniformizationGetRateFactor(TS ts, PetscReal *factor)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(factor, 2);
  PetscUseMethod(ts, "TSUniformizationGetRateFactor_C", (TS, PetscReal *), (ts, factor));
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

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetSteadyState()`, `TSUniformizationSetMethod()`, `TSUniformizationSetEpsilon()`, `TSUniformizationSetCheck()`
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
  TSUniformizationGetSteadyState - Gets whether products end where the distribution is steady, of `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. flag - see `TSUniformizationSetSteadyState()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetSteadyState()`
@*/
PetscErrorCode TSUniformizationGetSteadyState(TS ts, PetscBool *flag)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(flag, 2);
  PetscUseMethod(ts, "TSUniformizationGetSteadyState_C", (TS, PetscBool *), (ts, flag));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetOpenOutputs - Sets the number of output times that one pass may serve at once, for
  `TSUNIFORMIZATION`

  Logically Collective

  Input Parameters:
+ ts - the time stepper
- open - the number, 1 to 64, 8 by default; each takes a vector

  Options Database Key:
. -ts_uniformization_open_outputs <8> - the number

  Level: intermediate

  Note:
  If the windows of Poisson weights of more times overlap, another pass begins at the last time served.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetOpenOutputs()`, `TSUniformizationSetMethod()`,
`TSUniformizationSetEpsilon()`, `TSUniformizationSetSteadyState()`, `TSUniformizationSetCheck()`
@*/
PetscErrorCode TSUniformizationSetOpenOutputs(TS ts, PetscInt open)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveInt(ts, open, 2);
  PetscTryMethod(ts, "TSUniformizationSetOpenOutputs_C", (TS, PetscInt), (ts, open));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetOpenOutputs - Gets the number of output times that one pass may serve at once, of
  `TSUNIFORMIZATION`

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameter:
. open - see `TSUniformizationSetOpenOutputs()`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetOpenOutputs()`
@*/
PetscErrorCode TSUniformizationGetOpenOutputs(TS ts, PetscInt *open)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscAssertPointer(open, 2);
  PetscUseMethod(ts, "TSUniformizationGetOpenOutputs_C", (TS, PetscInt *), (ts, open));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationSetCheck - Sets whether `TSUNIFORMIZATION` checks that its matrix comes from a generator

  Logically Collective

  Input Parameters:
+ ts        - the time stepper
. check     - `PETSC_TRUE` is the default
- tolerance - largest sum of the rates of a state, divided by the diagonal entry; `PETSC_CURRENT` keeps the present
  value, `PETSC_DETERMINE` is 4096 units of machine precision, the default

  Options Database Keys:
+ -ts_uniformization_check <bool>          - the flag
- -ts_uniformization_check_tolerance <tol> - the tolerance

  Level: intermediate

  Notes:
  Functions of the program are compared with the matrix in any case, see `TSUNIFORMIZATION`, within the same
  tolerance.

  A matrix is checked once, at its first use or after a change. An error names the first state with a negative rate, or
  with rates that do not sum to zero. Entries are read if the type of the matrix can give entries, including symmetric
  storage and virtual transposes. Otherwise the check uses products with random vectors. Products show any nonzero
  column sum. With up to 64 states a negative rate is always found. With more states a negative rate is found unless
  positive rates hide it. A matrix with rates of few digits, read from a file, may need a greater tolerance. The largest
  column sum is part of the bound of the error.

.seealso: `TSUNIFORMIZATION`, `TSUniformizationGetCheck()`, `TSUniformizationSetEpsilon()`
@*/
PetscErrorCode TSUniformizationSetCheck(TS ts, PetscBool check, PetscReal tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscValidLogicalCollectiveBool(ts, check, 2);
  PetscValidLogicalCollectiveReal(ts, tolerance, 3);
  PetscTryMethod(ts, "TSUniformizationSetCheck_C", (TS, PetscBool, PetscReal), (ts, check, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*@
  TSUniformizationGetCheck - Gets whether `TSUNIFORMIZATION` checks that its matrix comes from a generator

  Not Collective

  Input Parameter:
. ts - the time stepper

  Output Parameters:
+ check     - the flag, or `NULL`
- tolerance - see `TSUniformizationSetCheck()`, or `NULL`

  Level: intermediate

.seealso: `TSUNIFORMIZATION`, `TSUniformizationSetCheck()`
@*/
PetscErrorCode TSUniformizationGetCheck(TS ts, PetscBool *check, PetscReal *tolerance)
{
  PetscFunctionBegin;
  PetscValidHeaderSpecific(ts, TS_CLASSID, 1);
  PetscUseMethod(ts, "TSUniformizationGetCheck_C", (TS, PetscBool *, PetscReal *), (ts, check, tolerance));
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
