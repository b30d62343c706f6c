/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Checks that rates are constant. Functions of a program may depend on time and on the solution.
   TSComputeRHSJacobianConstant() and TSComputeRHSFunctionLinear() cannot, and cost nothing here.

   Before an interval of time the functions are called at some times in the interval, with another vector in place of
   the solution. A product with this vector compares the results with the matrix at the beginning. After the interval
   the functions are called once more, with the final solution. A change between these calls remains unknown.
*/

#include "uniformizationimpl.h"

/*
   Places in an interval: multiples of the golden ratio, which are far from all fractions with small denominators. No
   periodic rate is equal at all places. One more place is nearly at the end, where a changed rate still has its new
   value. The end itself may belong to other rates: a program may solve one interval after the other.
*/
#define JUST_BEFORE_THE_END (1 - (PetscReal)1 / 1024)
static const PetscReal UniformizationFractions[] = {0.618033988749894848, 0.236067977499789696, 0.854101966249684545, 0.472135954999579393,
                                                    JUST_BEFORE_THE_END};

/* The first entry in which two vectors differ by more than the tolerance */
typedef struct {
  PetscInt  row; /* PETSC_INT_MAX: none */
  PetscReal value, difference;
} UniformizationDifference;

/*
   Calls the program's function of the matrix, for time t and solution u. PETSc would take a matrix of the same time for
   current, even if a parameter of the program has changed since. Another TSType may also have left the matrix shifted.
*/
PetscErrorCode TSUniformizationEvaluate_Private(TS ts, PetscReal t, Vec u)
{
  TS_Uniformization *un      = (TS_Uniformization *)ts->data;
  const PetscBool    shifted = (PetscBool)(ts->rhsjacobian.shift != 0 || ts->rhsjacobian.scale == -1);
  TSRHSJacobianFn   *jacobian;

  PetscFunctionBegin;
  PetscCall(TSGetRHSJacobian(ts, NULL, NULL, &jacobian, NULL));
  if (shifted) PetscCall(TSComputeRHSFunctionLinear(ts, t, u, un->vectors.work, NULL));
  else if (jacobian != TSComputeRHSJacobianConstant) {
    ts->rhsjacobian.time = PETSC_MIN_REAL;
    PetscCall(TSComputeRHSJacobian(ts, t, u, ts->Arhs, ts->Brhs ? ts->Brhs : ts->Arhs));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   An upper bound of the terms of A x: |a_ii x_i| counts twice, as the outflow and as a bound of the inflow that may
   cancel the outflow
*/
static PetscErrorCode UniformizationScale_Private(Mat A, Vec x, Vec y, Vec scale)
{
  const PetscScalar *xx, *yy;
  PetscScalar       *s;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(MatGetDiagonal(A, scale));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArray(scale, &s));
  for (PetscInt i = 0; i < n; i++) s[i] = PetscAbsScalar(yy[i]) + 2 * PetscAbsScalar(s[i] * xx[i]);
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArray(scale, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y against the expected values, entry by entry; the largest tolerated relative difference goes to drift */
static PetscErrorCode UniformizationCompare_Private(TS_Uniformization *un, Vec scale, Vec expected, Vec y, UniformizationDifference *d)
{
  MPI_Comm           comm     = PetscObjectComm((PetscObject)y);
  PetscReal          worst[3] = {-PETSC_MAX_REAL, -PETSC_MAX_REAL, un->constant.drift};
  PetscInt           begin, end, row = PETSC_INT_MAX;
  const PetscScalar *s, *e, *yy;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(y, &begin, &end));
  PetscCall(VecGetArrayRead(scale, &s));
  PetscCall(VecGetArrayRead(expected, &e));
  PetscCall(VecGetArrayRead(y, &yy));
  for (PetscInt i = 0; i < end - begin; i++) {
    const PetscReal difference = PetscAbsScalar(yy[i] - e[i]), size = PetscRealPart(s[i]);

    if (yy[i] == e[i]) continue;
    if (difference <= un->opt.tolerance * (size + PETSC_REAL_MIN)) {
      worst[2] = PetscMax(worst[2], size > 0 ? difference / PetscMax(size, PETSC_REAL_MIN) : 0);
      continue;
    }
    row      = begin + i;
    worst[0] = PetscRealPart(e[i]);
    worst[1] = difference;
    break;
  }
  PetscCall(VecRestoreArrayRead(scale, &s));
  PetscCall(VecRestoreArrayRead(expected, &e));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCallMPI(MPIU_Allreduce(&row, &d->row, 1, MPIU_INT, MPI_MIN, comm));
  if (row != d->row) worst[0] = worst[1] = -PETSC_MAX_REAL;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, worst, 3, MPIU_REAL, MPIU_MAX, comm));
  d->value           = worst[0];
  d->difference      = worst[1];
  un->constant.drift = worst[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares F(t, u) of the program with A u, in the 1-norm: single entries of a distribution may be arbitrarily small */
static PetscErrorCode UniformizationFunctionAt_Private(TS ts, PetscReal t, Vec u, Vec scale)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscReal          difference, size;

  PetscFunctionBegin;
  PetscCall(TSComputeRHSFunction(ts, t, u, un->vectors.work));
  PetscCall(MatMult(ts->Arhs, u, un->vectors.v));
  PetscCall(UniformizationScale_Private(ts->Arhs, u, un->vectors.v, scale));
  PetscCall(VecAXPY(un->vectors.work, -1.0, un->vectors.v));
  PetscCall(VecNorm(un->vectors.work, NORM_1, &difference));
  PetscCall(VecNorm(scale, NORM_1, &size));
  PetscCheck(difference <= un->opt.tolerance * (size + PETSC_REAL_MIN), PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION: the right-hand side is not A p with the matrix A of TSSetRHSJacobian(): at time %g they differ by %g, in the 1-norm, where the "
             "terms of A p sum to at most %g. It solves p' = Q^T p only; -ts_uniformization_check_tolerance (now %g) says how much is rounding",
             (double)t, (double)difference, (double)size, (double)un->opt.tolerance);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* At the beginning of an interval: no constant term, and linear */
static PetscErrorCode UniformizationFunctionFirst_Private(TS ts, Vec scale)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscReal          constant;

  PetscFunctionBegin;
  PetscCall(VecZeroEntries(un->vectors.work));
  PetscCall(TSComputeRHSFunction(ts, ts->ptime, un->vectors.work, un->vectors.v));
  PetscCall(VecNorm(un->vectors.v, NORM_1, &constant));
  PetscCheck(constant == 0, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION: the right-hand side is not A p with the matrix A of TSSetRHSJacobian(): at time %g and for p = 0 its 1-norm is %g. It solves "
             "p' = Q^T p only, without a constant term",
             (double)ts->ptime, (double)constant);
  PetscCall(UniformizationFunctionAt_Private(ts, ts->ptime, un->constant.probe, scale));
  PetscCall(UniformizationFunctionAt_Private(ts, ts->ptime, ts->vec_sol, scale));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector in place of the solution: no two entries equal, none zero, and as large in the 1-norm */
static PetscErrorCode UniformizationProbe_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  PetscRandom        random;
  PetscReal          norm, probe;

  PetscFunctionBegin;
  if (!un->constant.probe) PetscCall(VecDuplicate(ts->vec_sol, &un->constant.probe));
  if (!un->constant.product) PetscCall(VecDuplicate(ts->vec_sol, &un->constant.product));
  PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)ts), &random));
  PetscCall(PetscRandomSetFromOptions(random));
  PetscCall(VecSetRandom(un->constant.probe, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecRealPart(un->constant.probe));
  PetscCall(VecShift(un->constant.probe, 1.0));
  PetscCall(VecNorm(ts->vec_sol, NORM_1, &norm));
  PetscCall(VecNorm(un->constant.probe, NORM_1, &probe));
  if (norm > 0 && norm <= PETSC_MAX_REAL && probe > 0) PetscCall(VecScale(un->constant.probe, (PetscScalar)(norm / probe)));
  PetscCall(MatMult(ts->Arhs, un->constant.probe, un->constant.product));
  un->constant.drift = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Compares the matrix for time t and solution u with the matrix at the beginning, by a product. The matrix stays as
   left by the program's function
*/
static PetscErrorCode UniformizationMatrixAt_Private(TS ts, PetscReal t, Vec u, Vec scale, UniformizationDifference *d)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;

  PetscFunctionBegin;
  PetscCall(TSUniformizationEvaluate_Private(ts, t, u));
  PetscCall(MatMult(ts->Arhs, un->constant.probe, un->vectors.v));
  PetscCall(UniformizationCompare_Private(un, scale, un->constant.product, un->vectors.v, d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Which functions are the program's own? */
static PetscErrorCode UniformizationOwn_Private(TS ts, PetscBool *matrix, PetscBool *function)
{
  TSRHSJacobianFn *j;
  TSRHSFunctionFn *f;

  PetscFunctionBegin;
  PetscCall(TSGetRHSJacobian(ts, NULL, NULL, &j, NULL));
  PetscCall(TSGetRHSFunction(ts, NULL, &f, NULL));
  *matrix   = (PetscBool)(j != TSComputeRHSJacobianConstant);
  *function = (PetscBool)(f != TSComputeRHSFunctionLinear);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define UNIFORMIZATION_OTHERS "Use another TSType, for instance -ts_type rk, or a TSSolve() for each interval in which rates are constant"

/*
   Compares the functions of the program with the matrix, in the interval from ts->ptime to end. In a sequence of steps
   with the same matrix, one time per step suffices. The matrix is restored at the end, even if the rates are not
   constant.
*/
PetscErrorCode TSUniformizationConstant_Private(TS ts, PetscReal end, PetscBool step)
{
  TS_Uniformization       *un   = (TS_Uniformization *)ts->data;
  MPI_Comm                 comm = PetscObjectComm((PetscObject)ts);
  const PetscInt           all  = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(UniformizationFractions);
  UniformizationDifference m = {PETSC_INT_MAX, 0, 0}, f = m, again = m, solution = m;
  PetscReal                t = ts->ptime;
  PetscInt                 n = all;
  PetscBool                matrix, function;
  Vec                      scale;

  PetscFunctionBegin;
  PetscCall(UniformizationOwn_Private(ts, &matrix, &function));
  if ((!matrix && !function) || !(end > ts->ptime)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ts->vec_sol, &scale));
  if (step && un->constant.product) {
    PetscCall(UniformizationScale_Private(ts->Arhs, un->constant.probe, un->constant.product, scale));
    PetscCall(MatMult(ts->Arhs, un->constant.probe, un->vectors.v));
    PetscCall(UniformizationCompare_Private(un, scale, un->constant.product, un->vectors.v, &m));
    if (m.row == PETSC_INT_MAX) n = 1;
    m.row = PETSC_INT_MAX;
  }
  if (n == all) PetscCall(UniformizationProbe_Private(ts));
  un->constant.since = ts->ptime;
  if (function) PetscCall(UniformizationFunctionFirst_Private(ts, scale));
  PetscCall(UniformizationScale_Private(ts->Arhs, un->constant.probe, un->constant.product, scale));
  for (PetscInt i = 0; i < n && m.row == PETSC_INT_MAX && f.row == PETSC_INT_MAX; i++) {
    t = ts->ptime + UniformizationFractions[n == all ? i : ts->steps % all] * (end - ts->ptime);
    if (matrix) PetscCall(UniformizationMatrixAt_Private(ts, t, un->constant.probe, scale, &m));
    if (function) {
      PetscCall(TSComputeRHSFunction(ts, t, un->constant.probe, un->vectors.v));
      PetscCall(UniformizationCompare_Private(un, scale, un->constant.product, un->vectors.v, &f));
    }
  }
  /* with the solution at this time: whether the matrix depends on time, or on the solution. Then restores the matrix */
  if (matrix) {
    if (m.row != PETSC_INT_MAX) PetscCall(UniformizationMatrixAt_Private(ts, t, ts->vec_sol, scale, &solution));
    PetscCall(UniformizationMatrixAt_Private(ts, ts->ptime, ts->vec_sol, scale, &again));
  }
  PetscCall(VecDestroy(&scale));
  PetscCheck(again.row == PETSC_INT_MAX, comm, PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION: the function of TSSetRHSJacobian() gives another matrix when it is called again for time %g: row %" PetscInt_FMT
             " of A x was %g, for a vector x, and now differs by %g. The function must set all entries that it changes, and give the same matrix for the same "
             "time and solution",
             (double)ts->ptime, again.row, (double)again.value, (double)again.difference);
  PetscCheck(m.row == PETSC_INT_MAX || solution.row != PETSC_INT_MAX, comm, PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION needs constant rates. The matrix of TSSetRHSJacobian() depends on the solution: with another vector row %" PetscInt_FMT
             " of A x differs by %g from %g, at time %g. " UNIFORMIZATION_OTHERS,
             m.row, (double)m.difference, (double)m.value, (double)t);
  PetscCheck(m.row == PETSC_INT_MAX, comm, PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION needs constant rates. The matrix of TSSetRHSJacobian() depends on time: row %" PetscInt_FMT
             " of A x, for a vector x, is %g at time %g, and differs from that by %g at time %g. " UNIFORMIZATION_OTHERS,
             m.row, (double)m.value, (double)ts->ptime, (double)m.difference, (double)t);
  PetscCheck(f.row == PETSC_INT_MAX, comm, PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION needs constant rates. The function of TSSetRHSFunction() depends on time: its entry %" PetscInt_FMT
             ", for a vector x, is %g at time %g, and differs from that by %g at time %g. " UNIFORMIZATION_OTHERS,
             f.row, (double)f.value, (double)ts->ptime, (double)f.difference, (double)t);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   After the last step of a solve, with the solution: finds rates that depend on the solution, or that callbacks have
   changed
*/
PetscErrorCode TSUniformizationConstantEnd_Private(TS ts)
{
  TS_Uniformization       *un    = (TS_Uniformization *)ts->data;
  const PetscReal          drift = un->constant.drift, t = un->constant.since + JUST_BEFORE_THE_END * (ts->ptime - un->constant.since);
  UniformizationDifference d = {PETSC_INT_MAX, 0, 0};
  PetscBool                matrix, function;
  Vec                      scale;

  PetscFunctionBegin;
  PetscCall(UniformizationOwn_Private(ts, &matrix, &function));
  if ((!matrix && !function) || !un->constant.product) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ts->vec_sol, &scale));
  if (function) PetscCall(UniformizationFunctionAt_Private(ts, t, ts->vec_sol, scale));
  if (matrix) {
    PetscCall(UniformizationScale_Private(ts->Arhs, un->constant.probe, un->constant.product, scale));
    PetscCall(UniformizationMatrixAt_Private(ts, t, ts->vec_sol, scale, &d));
  }
  PetscCall(VecDestroy(&scale));
  PetscCheck(d.row == PETSC_INT_MAX, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONG,
             "TSUNIFORMIZATION needs constant rates. The matrix of TSSetRHSJacobian() has changed since time %g: row %" PetscInt_FMT
             " of A x was %g, for a vector x, and differs from that by %g with the solution at time %g. The solution is wrong. " UNIFORMIZATION_OTHERS,
             (double)un->constant.since, d.row, (double)d.value, (double)d.difference, (double)t);
  TSUniformizationErrorsDrift_Private(&un->errors, 2 * un->generator.alpha * (ts->ptime - un->constant.since) * (un->constant.drift - drift));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode TSUniformizationConstantReset_Private(TSUniformizationConstant *constant)
{
  PetscFunctionBegin;
  PetscCall(VecDestroy(&constant->probe));
  PetscCall(VecDestroy(&constant->product));
  PetscFunctionReturn(PETSC_SUCCESS);
}
