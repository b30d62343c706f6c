/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The error of a solve of TSUNIFORMIZATION: what is spent, what an output may spend, and the rewards so far. */

#include "uniformizationimpl.h"

/*
   The largest error of products, sums and the rounding of alpha t in a pass of n products over q = alpha t, as a
   multiple of || v_0 ||_1. With unit roundoff u and rows of m nonzeros a product is off by 2 m u || v ||_1, because ||
   Q^T / alpha ||_1 <= 2. Scaling and addition add 5 u, the sum adds 3 u and u per term. A nonzero column sum makes the
   mass grow or shrink. A deviation constant.drift of the rates is a deviation of the matrix by 2 alpha times
   constant.drift.
*/
PetscReal TSUniformizationErrorsRounding_Private(const TS_Uniformization *un, PetscReal q, PetscReal n)
{
  const PetscReal u = PETSC_MACHINE_EPSILON / 2, growth = q * (un->generator.defect + 2 * un->constant.drift);

  return (n * (2 * PetscMax(un->generator.row, 1) + 8) + 4 * q + 3) * u + (growth < 1 ? growth + growth * growth : PetscExpReal(growth));
}

static PetscReal UniformizationSpentSum_Private(const TSUniformizationSpent *spent)
{
  return spent->truncation + spent->steady + spent->negligible + spent->rounding;
}

/*
   The error for an output until time t: the remaining error, minus rounding, times the share of t in the time until
   end. If rounding takes nearly all of this error, a quarter of the requested error goes to the weights, and the bound
   exceeds the requested error.
*/
PetscReal TSUniformizationErrorsShare_Private(const TS_Uniformization *un, PetscReal t, PetscReal end, PetscReal rounding)
{
  const PetscReal time = un->pass.time, spent = UniformizationSpentSum_Private(&un->errors.passbegin);
  const PetscReal part = (t - time) / PetscMax(end - time, t - time), all = (t - time) / PetscMax(end - un->errors.start, t - time);

  return PetscMax((un->opt.eps - spent) * part - rounding, un->opt.eps * all / 4);
}

/* Before the first step, at the given time */
void TSUniformizationErrorsStart_Private(TSUniformizationErrors *errors, PetscReal time)
{
  errors->start = time;
  errors->now   = (TSUniformizationSpent){0, 0, 0, 0, 0};
}

/* A pass begins */
void TSUniformizationErrorsBegin_Private(TSUniformizationErrors *errors)
{
  errors->passbegin = errors->now;
}

/* A step begins, which may be rolled back */
void TSUniformizationErrorsSave_Private(TSUniformizationErrors *errors)
{
  errors->stepbegin = errors->now;
}

void TSUniformizationErrorsRestore_Private(TSUniformizationErrors *errors)
{
  errors->now   = errors->stepbegin;
  errors->bound = UniformizationSpentSum_Private(&errors->now);
}

/* By all rows left out */
void TSUniformizationErrorsNegligible_Private(TSUniformizationErrors *errors, PetscReal all)
{
  errors->now.negligible = all;
}

/* By one more vector that counts as steady */
void TSUniformizationErrorsSteady_Private(TSUniformizationErrors *errors, PetscReal more)
{
  errors->now.steady += more;
}

/* By rates that drifted until the end of a solve */
void TSUniformizationErrorsDrift_Private(TSUniformizationErrors *errors, PetscReal more)
{
  errors->now.rounding += more;
  errors->bound += more;
}

/* An output of the pass is finished */
void TSUniformizationErrorsOutput_Private(TSUniformizationErrors *errors, const TSUniformizationOutput *out)
{
  errors->now.truncation = errors->passbegin.truncation + out->truncation;
  errors->now.rounding   = errors->passbegin.rounding + out->rounding;
  errors->now.reward     = errors->passbegin.reward + out->reward;
  errors->bound          = UniformizationSpentSum_Private(&errors->now);
}
