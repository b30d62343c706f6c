/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A pass of TSUNIFORMIZATION: products, sums, the pass's part of the bound, and rewards. */

#include "uniformizationimpl.h"
#include <lithe/private/litheimpl.h>

/* A guess of the number of products */
static PetscReal UniformizationProducts_Private(PetscReal q)
{
  return q + 7 * PetscSqrtReal(q) + 20;
}

PetscErrorCode TSUniformizationPassEnd_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < un->pass.n; i++) {
    PetscCall(TSUniformizationWeightsDestroy_Private(&un->pass.output[i].weights));
    PetscCall(TSUniformizationVectorsPut_Private(&un->vectors, &un->pass.output[i].sum));
  }
  PetscCall(PetscFree(un->pass.output));
  un->pass.n = un->pass.done = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Begins a pass with ts->vec_sol at ts->ptime, for the first of n times, and for as many later times as one pass
   serves: pass.n times. end: the time at which the error may have reached eps.
*/
PetscErrorCode TSUniformizationPassBegin_Private(TS ts, PetscReal end, PetscInt n, const PetscReal times[])
{
  TS_Uniformization *un        = (TS_Uniformization *)ts->data;
  const PetscBool    intervals = (PetscBool)(un->opt.method == TS_UNIFORMIZATION_INTERVALS);
  PetscInt           taken     = intervals ? 1 : n;

  PetscFunctionBegin;
  PetscCall(LitheCite(LITHE_CITE_UNIFORMIZATION | (un->opt.negligible > 0 ? LITHE_CITE_NEGLIGIBLE : 0) | (intervals ? LITHE_CITE_INTERVALS : 0)));
  PetscCall(TSUniformizationPassEnd_Private(ts));
  PetscCall(VecCopy(ts->vec_sol, un->vectors.v));
  PetscCall(VecCopy(ts->vec_sol, un->vectors.base));
  PetscCall(VecNorm(un->vectors.v, NORM_1, &un->pass.norm));
  PetscCheck(un->pass.norm >= 0 && un->pass.norm <= PETSC_MAX_REAL, PetscObjectComm((PetscObject)ts), PETSC_ERR_FP,
             "TSUNIFORMIZATION: the solution at time %g has entries that are no numbers", (double)ts->ptime);
  un->pass.time = ts->ptime;
  un->pass.k    = -1;
  un->pass.last = 0;
  if (!ts->steps) {
    TSUniformizationErrorsStart_Private(&un->errors, ts->ptime);
    un->pass.products = un->pass.sums = un->pass.passes = 0;
    TSUniformizationTakenReset_Private(&un->taken);
  }
  PetscCall(TSUniformizationRowsBegin_Private(un));
  TSUniformizationErrorsBegin_Private(&un->errors);
  un->pass.steady = PETSC_FALSE;
  un->pass.passes++;
  un->pass.steadyat = -1;

  PetscCall(PetscCalloc1(taken, &un->pass.output));
  for (PetscInt i = 0; i < taken; i++) {
    TSUniformizationOutput *out     = &un->pass.output[i];
    const PetscReal         q       = un->generator.alpha * (times[i] - un->pass.time);
    PetscReal               l       = 1, rounding, share, rest;
    PetscInt                overlap = 1; /* outputs that are open when this output opens */

    PetscCheck(times[i] >= un->pass.time, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "TSUNIFORMIZATION: from time %g to %g: a Markov chain goes forward in time only, use a positive TSSetTimeStep() and a final time after the "
               "first",
               (double)un->pass.time, (double)times[i]);
    PetscCheck(q + 40 * PetscSqrtReal(q) + 100 < (PetscReal)0.25 * (PetscReal)PETSC_INT_MAX, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "TSUNIFORMIZATION: %g jumps are expected until time %g, more than can be counted with PetscInt", (double)q, (double)times[i]);
    if (intervals) l = PetscMax(PetscCeilReal(q / un->opt.theta), 1);
    rounding   = TSUniformizationErrorsRounding_Private(un, q, l * UniformizationProducts_Private(q / l));
    share      = TSUniformizationErrorsShare_Private(un, times[i], end, rounding);
    rest       = (1 - un->opt.negligible) * share;
    out->time  = times[i];
    un->pass.n = i + 1;
    PetscCall(TSUniformizationWeightsCreate_Private(q / l, PetscMax(rest / l * (un->opt.steadystate ? 0.5 : 1), PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON),
                                                    intervals, (PetscBool)(un->opt.reward != NULL), &out->weights));
    out->truncation = 2 * l * out->weights.lost;
    out->steady     = rest / l / 2;
    out->negligible = un->opt.negligible * share / l;
    out->rounding   = TSUniformizationErrorsRounding_Private(un, q, l * (PetscReal)out->weights.right);
    for (PetscInt j = 0; j < i; j++) overlap += (un->pass.output[j].weights.right >= out->weights.left);
    if (i && overlap > un->opt.open) {
      PetscCall(TSUniformizationWeightsDestroy_Private(&out->weights));
      un->pass.n = i;
      break;
    }
    un->pass.last = PetscMax(un->pass.last, out->weights.right);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* sum_(j >= k) of a window's weights; above: of the sums above the weights, which are 1 before the window */
static PetscReal UniformizationRest_Private(const TSUniformizationWeights *w, PetscBool above, PetscInt k)
{
  PetscReal rest = above ? (PetscReal)PetscMax(w->left - k, 0) : 0;

  for (PetscInt j = w->right; j >= PetscMax(k, w->left); j--) rest += above ? w->above[j - w->left] : w->weight[j - w->left];
  return rest;
}

/* The reward of v_k, for all outputs that are not over */
static PetscErrorCode UniformizationReward_Private(TS_Uniformization *un, PetscBool rest)
{
  PetscScalar dot;

  PetscFunctionBegin;
  if (!un->opt.reward) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDot(un->vectors.v, un->opt.reward, &dot));
  for (PetscInt i = un->pass.done; i < un->pass.n; i++) {
    TSUniformizationOutput        *out = &un->pass.output[i];
    const TSUniformizationWeights *w   = &out->weights;
    PetscReal                      factor;

    if (un->generator.alpha == 0.0) factor = out->time - un->pass.time;
    else if (rest) factor = UniformizationRest_Private(w, PETSC_TRUE, un->pass.k) / un->generator.alpha;
    else factor = (un->pass.k < w->left ? 1 : (un->pass.k > w->right ? 0 : w->above[un->pass.k - w->left])) / un->generator.alpha;
    out->reward += factor * PetscRealPart(dot);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The sums that take v_k; with rest, also the sums that take all later terms. A sum is read and written for two terms
   at a time. With wait, a sum takes v_k together with the next term, if it takes the next term. v_(k-1) must then
   exist: wait is for steps only.
*/
static PetscErrorCode UniformizationOpen_Private(TS_Uniformization *un, PetscInt k, PetscBool rest, PetscBool wait, PetscInt *nsums, LitheStepSum sums[])
{
  PetscFunctionBegin;
  *nsums = 0;
  for (PetscInt i = un->pass.done; i < un->pass.n; i++) {
    TSUniformizationOutput        *out = &un->pass.output[i];
    const TSUniformizationWeights *w   = &out->weights;
    LitheStepSum                  *s   = &sums[*nsums];

    if (k > w->right || (k < w->left && !rest)) continue;
    if (rest && i > un->pass.done) continue; /* opens after earlier outputs */
    un->pass.sums++;
    if (wait && !out->waits && k < w->right) {
      out->waits = PETSC_TRUE;
      continue;
    }
    s->first = (PetscBool)!out->sum;
    if (s->first) PetscCall(TSUniformizationVectorsGet_Private(&un->vectors, &out->sum));
    s->sum     = out->sum;
    s->weight  = rest ? UniformizationRest_Private(w, PETSC_FALSE, k) : w->weight[k - w->left];
    s->before  = out->waits ? w->weight[k - 1 - w->left] : 0;
    out->waits = PETSC_FALSE;
    (*nsums)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UniformizationAdd_Private(TS_Uniformization *un, PetscBool rest)
{
  LitheStepSum sums[TS_UNIFORMIZATION_MAX_OPEN];
  PetscInt     nsums;

  PetscFunctionBegin;
  PetscCall(UniformizationOpen_Private(un, un->pass.k, rest, PETSC_FALSE, &nsums, sums));
  for (PetscInt i = 0; i < nsums; i++) PetscCall(VecAXPBY(sums[i].sum, (PetscScalar)sums[i].weight, sums[i].first ? 0.0 : 1.0, un->vectors.v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Continues until the first unfinished output has all its terms. Without intervals, un->pass.k continues from the end
   of the last output.

   Steady state: P^T does not increase the 1-norm of a vector, so || v_j - v_k || <= (j - k) || v_(k+1) - v_k || for all
   later j. The vector counts as steady only if this bound, with the largest j of the pass, is within the allowed error.
   In contrast to a test of differences alone, this test cannot stop too early.
*/
static PetscErrorCode UniformizationTerms_Private(TS_Uniformization *un)
{
  TSUniformizationOutput *out = &un->pass.output[un->pass.done];
  LitheStepSum            sums[TS_UNIFORMIZATION_MAX_OPEN];
  PetscInt                nsums;
  PetscReal               change;

  PetscFunctionBegin;
  if (un->pass.steady) {
    PetscCall(UniformizationAdd_Private(un, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (un->pass.k < 0) {
    un->pass.k = 0;
    PetscCall(UniformizationAdd_Private(un, PETSC_FALSE));
    if (un->generator.alpha == 0.0) PetscCall(UniformizationReward_Private(un, PETSC_FALSE));
  }
  while (un->pass.k < out->weights.right && un->generator.alpha > 0.0) {
    const PetscBool look = (PetscBool)(un->opt.steadystate && un->pass.k % 16 == 0);

    PetscCall(UniformizationReward_Private(un, PETSC_FALSE));
    PetscCall(TSUniformizationRowsNext_Private(un));
    PetscCall(UniformizationOpen_Private(un, un->pass.k + 1, PETSC_FALSE, (PetscBool)!un->opt.steadystate, &nsums, sums));
    PetscCall(TSUniformizationVectorsStep_Private(un, nsums, sums, look ? &change : NULL));
    un->pass.k++;
    un->pass.products++;
    if (look && (PetscReal)(un->pass.last - un->pass.k) * change <= out->steady * un->pass.norm && un->pass.k < out->weights.right) {
      un->pass.steady   = PETSC_TRUE;
      un->pass.steadyat = un->pass.k;
      if (un->pass.norm > 0) TSUniformizationErrorsSteady_Private(&un->errors, (PetscReal)(un->pass.last - un->pass.k) * change / un->pass.norm);
      /* the reward of all later terms, for every output; then the terms of this output */
      PetscCall(UniformizationReward_Private(un, PETSC_TRUE));
      un->pass.k++;
      PetscCall(UniformizationAdd_Private(un, PETSC_TRUE));
      break;
    }
  }
  PetscCall(TSUniformizationRowsSettle_Private(un));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next output of the pass goes to a vector */
PetscErrorCode TSUniformizationPassNext_Private(TS ts, Vec solution)
{
  TS_Uniformization      *un  = (TS_Uniformization *)ts->data;
  TSUniformizationOutput *out = &un->pass.output[un->pass.done];
  PetscInt64              l   = 1;

  PetscFunctionBegin;
  if (un->opt.method == TS_UNIFORMIZATION_INTERVALS)
    l = PetscMax((PetscInt64)PetscCeilReal(un->generator.alpha * (out->time - un->pass.time) / un->opt.theta), 1);
  for (PetscInt64 i = 0; i < l; i++) {
    if (i) {
      PetscCall(TSUniformizationVectorsReplace_Private(&un->vectors, &out->sum));
      un->pass.k      = -1;
      un->pass.steady = PETSC_FALSE;
      PetscCall(TSUniformizationRowsBegin_Private(un));
    }
    PetscCall(UniformizationTerms_Private(un));
  }
  PetscCall(VecCopy(out->sum, solution));
  PetscCall(TSUniformizationVectorsPut_Private(&un->vectors, &out->sum));
  TSUniformizationErrorsOutput_Private(&un->errors, out);
  un->pass.done++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The solution at a time of the pass that is no output, computed from the beginning of the pass. Pass and bound stay
   unchanged.
*/
PetscErrorCode TSInterpolate_Uniformization(TS ts, PetscReal t, Vec solution)
{
  TS_Uniformization      *un = (TS_Uniformization *)ts->data;
  const PetscReal         q  = un->generator.alpha * (t - un->pass.time);
  TSUniformizationWeights w;
  Vec                     v, work;

  PetscFunctionBegin;
  PetscCheck(un->vectors.base && t >= un->pass.time, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
             "TSUNIFORMIZATION: time %g is before the last step", (double)t);
  PetscCall(TSUniformizationWeightsCreate_Private(q, TSUniformizationErrorsShare_Private(un, t, PetscMax(un->errors.start, ts->ptime), 0), PETSC_FALSE,
                                                  PETSC_FALSE, &w));
  PetscCall(TSUniformizationVectorsGet_Private(&un->vectors, &v));
  PetscCall(TSUniformizationVectorsGet_Private(&un->vectors, &work));
  PetscCall(VecCopy(un->vectors.base, v));
  PetscCall(VecAXPBY(solution, (PetscScalar)(w.left ? 0 : w.weight[0]), 0.0, v));
  for (PetscInt k = 1; k <= w.right && un->generator.alpha > 0.0; k++) {
    const LitheStepSum sum = {solution, k < w.left ? 0 : w.weight[k - PetscMin(w.left, k)], PETSC_FALSE, 0};

    PetscCall(TSUniformizationStep_Private(un->generator.A, un->generator.alpha, NULL, &v, &work, k < w.left ? 0 : 1, &sum, NULL));
  }
  PetscCall(TSUniformizationVectorsPut_Private(&un->vectors, &v));
  PetscCall(TSUniformizationVectorsPut_Private(&un->vectors, &work));
  PetscCall(TSUniformizationWeightsDestroy_Private(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
