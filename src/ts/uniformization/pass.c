/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* A pass of TSUNIFORMIZATION: products, sums, the pass's part of the bound, and rewards. */

#include "uniformizationimpl.h"
#include <lithe/private/litheimpl.h>

/*
   v <- P^T v = v + A v / alpha, then sum += w v for each of the sums. change, if not NULL: || P^T v - v ||_1. All work
   of a step on long vectors is in this function; v and work may be exchanged. Without change, the step is one sweep if
   the matrix provides such a sweep.
*/
PetscErrorCode TSUniformizationStep_Private(Mat A, PetscReal alpha, const LitheStepRows *rows, Vec *v, Vec *work, PetscInt nsums, const LitheStepSum sums[],
                                            PetscReal *change)
{
  Vec x = *v, y = *work;

  PetscFunctionBegin;
  if (change) {
    PetscCall(MatMult(A, x, y));
    PetscCall(VecNorm(y, NORM_1, change));
    *change /= alpha;
    PetscCall(LitheStepVectors(1 / alpha, PETSC_FALSE, x, y, nsums, sums));
  } else PetscCall(LitheMatStep(A, 1 / alpha, rows, x, y, nsums, sums));
  *v    = y;
  *work = x;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The largest error of products, sums and the rounding of alpha t in a pass of n products over q = alpha t, as a
   multiple of || v_0 ||_1. With unit roundoff u and rows of m nonzeros a product is off by 2 m u || v ||_1, because ||
   Q^T / alpha ||_1 <= 2. Scaling and addition add 5 u, the sum adds 3 u and u per term. A nonzero column sum makes the
   mass grow or shrink. A deviation un->drift of the rates is a deviation of the matrix by 2 alpha times un->drift.
*/
static PetscReal UniformizationRounding_Private(TS_Uniformization *un, PetscReal q, PetscReal n)
{
  const PetscReal u = PETSC_MACHINE_EPSILON / 2, growth = q * (un->defect + 2 * un->drift);

  return (n * (2 * PetscMax(un->row, 1) + 8) + 4 * q + 3) * u + (growth < 1 ? growth + growth * growth : PetscExpReal(growth));
}

/* A guess of the number of products */
static PetscReal UniformizationProducts_Private(PetscReal q)
{
  return q + 7 * PetscSqrtReal(q) + 20;
}

static PetscErrorCode UniformizationGetSum_Private(TS_Uniformization *un, Vec *sum)
{
  PetscFunctionBegin;
  if (un->nfree) *sum = un->free[--un->nfree];
  else PetscCall(VecDuplicate(un->v, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UniformizationPutSum_Private(TS_Uniformization *un, Vec *sum)
{
  PetscFunctionBegin;
  if (*sum) {
    if (un->nfree < TS_UNIFORMIZATION_MAX_OPEN) un->free[un->nfree++] = *sum;
    else PetscCall(VecDestroy(sum));
    *sum = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The error for an output until time t: the remaining error, minus rounding, times the share of t in the time until
   end. If rounding takes nearly all of this error, a quarter of the requested error goes to the weights, and the bound
   exceeds the requested error.
*/
static PetscReal UniformizationShare_Private(TS_Uniformization *un, PetscReal t, PetscReal end, PetscReal rounding)
{
  const PetscReal spent = un->spent.truncation + un->spent.steady + un->spent.negligible + un->spent.rounding;
  const PetscReal part = (t - un->time) / PetscMax(end - un->time, t - un->time), all = (t - un->time) / PetscMax(end - un->start, t - un->time);

  return PetscMax((un->eps - spent) * part - rounding, un->eps * all / 4);
}

void TSUniformizationSave_Private(const TS_Uniformization *un, TSUniformizationSpent *spent)
{
  *spent = (TSUniformizationSpent){un->info.truncation, un->info.steady, un->info.negligible, un->info.rounding, un->accumulated};
}

void TSUniformizationRestore_Private(TS_Uniformization *un, const TSUniformizationSpent *spent)
{
  un->info.truncation = spent->truncation;
  un->info.steady     = spent->steady;
  un->info.negligible = spent->negligible;
  un->info.rounding   = spent->rounding;
  un->info.bound      = spent->truncation + spent->steady + spent->negligible + spent->rounding;
  un->accumulated     = spent->reward;
}

PetscErrorCode TSUniformizationPassEnd_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  for (PetscInt i = 0; i < un->n; i++) {
    PetscCall(TSUniformizationWeightsDestroy_Private(&un->output[i].weights));
    PetscCall(UniformizationPutSum_Private(un, &un->output[i].sum));
  }
  PetscCall(PetscFree(un->output));
  un->n = un->done = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Begins a pass with ts->vec_sol at ts->ptime, for the first of n times, and for as many later times as one pass
   serves: un->n times. end: the time at which the error may have reached eps.
*/
PetscErrorCode TSUniformizationPassBegin_Private(TS ts, PetscReal end, PetscInt n, const PetscReal times[])
{
  TS_Uniformization *un        = (TS_Uniformization *)ts->data;
  const PetscBool    intervals = (PetscBool)(un->method == TS_UNIFORMIZATION_INTERVALS);
  PetscInt           taken     = intervals ? 1 : n;

  PetscFunctionBegin;
  PetscCall(LitheCite(LITHE_CITE_UNIFORMIZATION | (un->negligible > 0 ? LITHE_CITE_NEGLIGIBLE : 0) | (intervals ? LITHE_CITE_INTERVALS : 0)));
  PetscCall(TSUniformizationPassEnd_Private(ts));
  PetscCall(VecCopy(ts->vec_sol, un->v));
  PetscCall(VecCopy(ts->vec_sol, un->base));
  PetscCall(VecNorm(un->v, NORM_1, &un->norm));
  PetscCheck(un->norm >= 0 && un->norm <= PETSC_MAX_REAL, PetscObjectComm((PetscObject)ts), PETSC_ERR_FP,
             "TSUNIFORMIZATION: the solution at time %g has entries that are no numbers", (double)ts->ptime);
  un->time = ts->ptime;
  un->k    = -1;
  un->last = 0;
  if (!ts->steps) {
    un->start           = ts->ptime;
    un->info.truncation = un->info.steady = un->info.negligible = un->info.rounding = un->accumulated = 0;
    un->info.products = un->info.sums = un->info.passes = 0;
    TSUniformizationTakenReset_Private(&un->taken);
  }
  PetscCall(TSUniformizationRowsBegin_Private(un));
  TSUniformizationSave_Private(un, &un->spent);
  un->steady = PETSC_FALSE;
  un->info.passes++;
  un->info.steadyat = -1;

  PetscCall(PetscCalloc1(taken, &un->output));
  for (PetscInt i = 0; i < taken; i++) {
    TSUniformizationOutput *out     = &un->output[i];
    const PetscReal         q       = un->alpha * (times[i] - un->time);
    PetscReal               l       = 1, rounding, share, rest;
    PetscInt                overlap = 1; /* outputs that are open when this output opens */

    PetscCheck(times[i] >= un->time, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "TSUNIFORMIZATION: from time %g to %g: a Markov chain goes forward in time only, use a positive TSSetTimeStep() and a final time after the "
               "first",
               (double)un->time, (double)times[i]);
    PetscCheck(q + 40 * PetscSqrtReal(q) + 100 < (PetscReal)0.25 * (PetscReal)PETSC_INT_MAX, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE,
               "TSUNIFORMIZATION: %g jumps are expected until time %g, more than can be counted with PetscInt", (double)q, (double)times[i]);
    if (intervals) l = PetscMax(PetscCeilReal(q / un->theta), 1);
    rounding  = UniformizationRounding_Private(un, q, l * UniformizationProducts_Private(q / l));
    share     = UniformizationShare_Private(un, times[i], end, rounding);
    rest      = (1 - un->negligible) * share;
    out->time = times[i];
    un->n     = i + 1;
    PetscCall(TSUniformizationWeightsCreate_Private(q / l, PetscMax(rest / l * (un->steadystate ? 0.5 : 1), PETSC_MACHINE_EPSILON * PETSC_MACHINE_EPSILON),
                                                    intervals, (PetscBool)(un->reward != NULL), &out->weights));
    out->truncation = 2 * l * out->weights.lost;
    out->steady     = rest / l / 2;
    out->negligible = un->negligible * share / l;
    out->rounding   = UniformizationRounding_Private(un, q, l * (PetscReal)out->weights.right);
    for (PetscInt j = 0; j < i; j++) overlap += (un->output[j].weights.right >= out->weights.left);
    if (i && overlap > un->open) {
      PetscCall(TSUniformizationWeightsDestroy_Private(&out->weights));
      un->n = i;
      break;
    }
    un->last = PetscMax(un->last, out->weights.right);
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
  if (!un->reward) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDot(un->v, un->reward, &dot));
  for (PetscInt i = un->done; i < un->n; i++) {
    TSUniformizationOutput        *out = &un->output[i];
    const TSUniformizationWeights *w   = &out->weights;
    PetscReal                      factor;

    if (un->alpha == 0.0) factor = out->time - un->time;
    else if (rest) factor = UniformizationRest_Private(w, PETSC_TRUE, un->k) / un->alpha;
    else factor = (un->k < w->left ? 1 : (un->k > w->right ? 0 : w->above[un->k - w->left])) / un->alpha;
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
  for (PetscInt i = un->done; i < un->n; i++) {
    TSUniformizationOutput        *out = &un->output[i];
    const TSUniformizationWeights *w   = &out->weights;
    LitheStepSum                  *s   = &sums[*nsums];

    if (k > w->right || (k < w->left && !rest)) continue;
    if (rest && i > un->done) continue; /* opens after earlier outputs */
    un->info.sums++;
    if (wait && !out->waits && k < w->right) {
      out->waits = PETSC_TRUE;
      continue;
    }
    s->first = (PetscBool)!out->sum;
    if (s->first) PetscCall(UniformizationGetSum_Private(un, &out->sum));
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
  PetscCall(UniformizationOpen_Private(un, un->k, rest, PETSC_FALSE, &nsums, sums));
  for (PetscInt i = 0; i < nsums; i++) PetscCall(VecAXPBY(sums[i].sum, (PetscScalar)sums[i].weight, sums[i].first ? 0.0 : 1.0, un->v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Continues until the first unfinished output has all its terms. Without intervals, un->k continues from the end of the
   last output.

   Steady state: P^T does not increase the 1-norm of a vector, so || v_j - v_k || <= (j - k) || v_(k+1) - v_k || for all
   later j. The vector counts as steady only if this bound, with the largest j of the pass, is within the allowed error.
   In contrast to a test of differences alone, this test cannot stop too early.
*/
static PetscErrorCode UniformizationTerms_Private(TS_Uniformization *un)
{
  TSUniformizationOutput *out = &un->output[un->done];
  LitheStepSum            sums[TS_UNIFORMIZATION_MAX_OPEN];
  PetscInt                nsums;
  PetscReal               change;

  PetscFunctionBegin;
  if (un->steady) {
    PetscCall(UniformizationAdd_Private(un, PETSC_TRUE));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  if (un->k < 0) {
    un->k = 0;
    PetscCall(UniformizationAdd_Private(un, PETSC_FALSE));
    if (un->alpha == 0.0) PetscCall(UniformizationReward_Private(un, PETSC_FALSE));
  }
  while (un->k < out->weights.right && un->alpha > 0.0) {
    const PetscBool look = (PetscBool)(un->steadystate && un->k % 16 == 0);

    PetscCall(UniformizationReward_Private(un, PETSC_FALSE));
    PetscCall(TSUniformizationRowsNext_Private(un));
    PetscCall(UniformizationOpen_Private(un, un->k + 1, PETSC_FALSE, (PetscBool)!un->steadystate, &nsums, sums));
    PetscCall(TSUniformizationStep_Private(un->A, un->alpha, &un->rows, &un->v, &un->work, nsums, sums, look ? &change : NULL));
    un->k++;
    un->info.products++;
    if (look && (PetscReal)(un->last - un->k) * change <= out->steady * un->norm && un->k < out->weights.right) {
      un->steady        = PETSC_TRUE;
      un->info.steadyat = un->k;
      un->info.steady += un->norm > 0 ? (PetscReal)(un->last - un->k) * change / un->norm : 0;
      /* the reward of all later terms, for every output; then the terms of this output */
      PetscCall(UniformizationReward_Private(un, PETSC_TRUE));
      un->k++;
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
  TSUniformizationOutput *out = &un->output[un->done];
  PetscInt64              l   = 1;

  PetscFunctionBegin;
  if (un->method == TS_UNIFORMIZATION_INTERVALS) l = PetscMax((PetscInt64)PetscCeilReal(un->alpha * (out->time - un->time) / un->theta), 1);
  for (PetscInt64 i = 0; i < l; i++) {
    if (i) {
      Vec v = un->v;

      un->v      = out->sum;
      out->sum   = NULL;
      un->k      = -1;
      un->steady = PETSC_FALSE;
      PetscCall(UniformizationPutSum_Private(un, &v));
      PetscCall(TSUniformizationRowsBegin_Private(un));
    }
    PetscCall(UniformizationTerms_Private(un));
  }
  PetscCall(VecCopy(out->sum, solution));
  PetscCall(UniformizationPutSum_Private(un, &out->sum));

  un->info.truncation = un->spent.truncation + out->truncation;
  un->info.rounding   = un->spent.rounding + out->rounding;
  un->info.bound      = un->info.truncation + un->info.steady + un->info.negligible + un->info.rounding;
  un->info.rows       = un->info.products ? (PetscReal)(un->taken.parts / (double)un->info.products) : 1;
  un->accumulated     = un->spent.reward + out->reward;
  un->done++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The solution at a time of the pass that is no output, computed from the beginning of the pass. Pass and bound stay
   unchanged.
*/
PetscErrorCode TSInterpolate_Uniformization(TS ts, PetscReal t, Vec solution)
{
  TS_Uniformization      *un = (TS_Uniformization *)ts->data;
  const PetscReal         q  = un->alpha * (t - un->time);
  TSUniformizationWeights w;
  Vec                     v, work;

  PetscFunctionBegin;
  PetscCheck(un->base && t >= un->time, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "TSUNIFORMIZATION: time %g is before the last step",
             (double)t);
  PetscCall(TSUniformizationWeightsCreate_Private(q, UniformizationShare_Private(un, t, PetscMax(un->start, ts->ptime), 0), PETSC_FALSE, PETSC_FALSE, &w));
  PetscCall(UniformizationGetSum_Private(un, &v));
  PetscCall(UniformizationGetSum_Private(un, &work));
  PetscCall(VecCopy(un->base, v));
  PetscCall(VecAXPBY(solution, (PetscScalar)(w.left ? 0 : w.weight[0]), 0.0, v));
  for (PetscInt k = 1; k <= w.right && un->alpha > 0.0; k++) {
    const LitheStepSum sum = {solution, k < w.left ? 0 : w.weight[k - PetscMin(w.left, k)], PETSC_FALSE, 0};

    PetscCall(TSUniformizationStep_Private(un->A, un->alpha, NULL, &v, &work, k < w.left ? 0 : 1, &sum, NULL));
  }
  PetscCall(UniformizationPutSum_Private(un, &v));
  PetscCall(UniformizationPutSum_Private(un, &work));
  PetscCall(TSUniformizationWeightsDestroy_Private(&w));
  PetscFunctionReturn(PETSC_SUCCESS);
}
