/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Is the matrix Q^T of a generator Q: rates that are not negative off the diagonal, columns whose sum is zero? State j is column j.

   Rows are read where they can be, for signs; sums are a product of the transpose with ones. A matrix that has neither is asked by
   products with random vectors: a column whose sum is not zero then shows, and halving the set of states finds which; a negative
   rate shows if there are few states, and else only if others do not hide it.
*/

#include "uniformizationimpl.h"

/* The first state that something is wrong with, and what */
typedef struct {
  PetscInt  state, other; /* other: where the rate leads to */
  PetscReal value;
} UniformizationFault;

static const UniformizationFault UniformizationNoFault = {PETSC_INT_MAX, -1, 0};

/* Of all processes: the lowest state, its highest partner */
static PetscErrorCode UniformizationFirst_Private(MPI_Comm comm, UniformizationFault *fault)
{
  UniformizationFault f = *fault;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(&f.state, &fault->state, 1, MPIU_INT, MPI_MIN, comm));
  if (f.state != fault->state) f.other = -1;
  PetscCallMPI(MPIU_Allreduce(&f.other, &fault->other, 1, MPIU_INT, MPI_MAX, comm));
  if (f.state != fault->state || f.other != fault->other) f.value = -PETSC_MAX_REAL;
  PetscCallMPI(MPIU_Allreduce(&f.value, &fault->value, 1, MPIU_REAL, MPIU_MAX, comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UniformizationNegative_Private(Mat A, PetscInt from, PetscInt to, PetscReal rate)
{
  PetscFunctionBegin;
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "TSUNIFORMIZATION: the matrix is no generator: the rate from state %" PetscInt_FMT " to state %" PetscInt_FMT " (row %" PetscInt_FMT ", column %" PetscInt_FMT " of Q^T) is %g. Rates are finite and not negative; -ts_uniformization_check 0 skips this check", from, to, to, from, (double)rate);
}

/* What a row adds to the length of rows, and how far they lie from their columns, before and after them */
static inline void UniformizationLook_Private(PetscInt row, PetscInt n, const PetscInt cols[], PetscInt most[3])
{
  most[0] = PetscMax(most[0], n);
  for (PetscInt i = 0; i < n; i++) {
    most[1] = PetscMax(most[1], cols[i] - row);
    most[2] = PetscMax(most[2], row - cols[i]);
  }
}

static PetscErrorCode UniformizationKnow_Private(TS_Uniformization *un, Mat A, PetscInt most[3])
{
  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 3, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  un->row      = most[0];
  un->reach[0] = most[1];
  un->reach[1] = most[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows: signs, and what else is to be known of them */
static PetscErrorCode UniformizationRows_Private(TS_Uniformization *un, Mat A)
{
  UniformizationFault fault = UniformizationNoFault;
  PetscInt            begin, end, most[3] = {0, 0, 0}, imaginary[2] = {PETSC_INT_MAX, 0};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           n;
    const PetscInt    *cols;
    const PetscScalar *values;

    PetscCall(MatGetRow(A, row, &n, &cols, &values));
    UniformizationLook_Private(row, n, cols, most);
    for (PetscInt i = 0; i < n; i++) {
      const PetscReal value = PetscRealPart(values[i]);

      if (PetscImaginaryPart(values[i]) != 0.0) imaginary[0] = PetscMin(imaginary[0], cols[i]);
      if (cols[i] == row || (value >= 0.0 && value <= PETSC_MAX_REAL)) continue;
      if (cols[i] < fault.state || (cols[i] == fault.state && row > fault.other)) {
        fault.state = cols[i];
        fault.other = row;
        fault.value = value;
      }
    }
    PetscCall(MatRestoreRow(A, row, &n, &cols, &values));
  }
  PetscCall(UniformizationKnow_Private(un, A, most));
  PetscCallMPI(MPIU_Allreduce(&imaginary[0], &imaginary[1], 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  PetscCheck(imaginary[1] == PETSC_INT_MAX, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "TSUNIFORMIZATION: the matrix is no generator: a rate from state %" PetscInt_FMT " has an imaginary part", imaginary[1]);
  PetscCall(UniformizationFirst_Private(PetscObjectComm((PetscObject)A), &fault));
  if (fault.state != PETSC_INT_MAX) PetscCall(UniformizationNegative_Private(A, fault.state, fault.other, fault.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x where its index is in [begin, end), else 0 */
static PetscErrorCode UniformizationRange_Private(Vec x, PetscInt begin, PetscInt end, Vec y)
{
  PetscInt           first, last;
  const PetscScalar *xx;
  PetscScalar       *yy;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayRead(x, &xx));
  PetscCall(VecGetArrayWrite(y, &yy));
  for (PetscInt i = first; i < last; i++) yy[i - first] = i >= begin && i < end ? xx[i - first] : 0.0;
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCall(VecRestoreArrayWrite(y, &yy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum of the entries of A x, for the part of x in [begin, end) */
static PetscErrorCode UniformizationRangeSum_Private(Mat A, Vec x, PetscInt begin, PetscInt end, Vec y, Vec z, PetscScalar *sum)
{
  PetscFunctionBegin;
  PetscCall(UniformizationRange_Private(x, begin, end, y));
  PetscCall(MatMult(A, y, z));
  PetscCall(VecSum(z, sum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is wrong with a column sum, and what is often meant */
static PetscErrorCode UniformizationSumFault_Private(Mat A, PetscInt state, PetscReal sum, PetscReal rate, PetscReal tolerance)
{
  Vec       x, y;
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE, "TSUNIFORMIZATION: the matrix is no generator: the rates of state %" PetscInt_FMT " (column %" PetscInt_FMT " of Q^T, row %" PetscInt_FMT " of Q) sum to %g, with %g on the diagonal. %s; -ts_uniformization_check_tolerance (now %g) says how much is rounding, -ts_uniformization_check 0 skips this check", state, state, state, (double)sum, (double)rate, norm <= 2 * tolerance * PetscAbsReal(rate) ? "The rows of this matrix sum to zero: give TSSetRHSJacobian() its transpose, Q^T" : "The sum must be zero", (double)tolerance);
}

/* Column sums by the transpose; defect: the largest */
static PetscErrorCode UniformizationSumsTranspose_Private(Mat A, Vec diagonal, PetscReal tolerance, PetscReal *defect)
{
  UniformizationFault fault = UniformizationNoFault;
  PetscReal           rate = -PETSC_MAX_REAL, largest = 0;
  Vec                 one, sum;
  PetscInt            begin, end;
  const PetscScalar  *s, *d;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &sum, &one));
  PetscCall(VecSet(one, 1.0));
  PetscCall(MatMultTranspose(A, one, sum));
  PetscCall(VecGetOwnershipRange(sum, &begin, &end));
  PetscCall(VecGetArrayRead(sum, &s));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < end - begin; i++) {
    const PetscReal value = PetscAbsScalar(s[i]);

    if (!(value <= tolerance * PetscAbsScalar(d[i])) && fault.state == PETSC_INT_MAX) {
      fault.state = begin + i;
      fault.value = PetscRealPart(s[i]);
      rate        = PetscRealPart(d[i]);
    }
    largest = PetscMax(largest, value);
  }
  PetscCall(VecRestoreArrayRead(sum, &s));
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&sum));
  PetscCallMPI(MPIU_Allreduce(&largest, defect, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  begin = fault.state;
  PetscCall(UniformizationFirst_Private(PetscObjectComm((PetscObject)A), &fault));
  if (fault.state == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (begin != fault.state) rate = -PETSC_MAX_REAL;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &rate, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(UniformizationSumFault_Private(A, fault.state, fault.value, rate, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same without it: with weights of about one, no two of which are equal */
static PetscErrorCode UniformizationSumsProducts_Private(Mat A, Vec diagonal, PetscRandom random, PetscReal tolerance, PetscReal *defect)
{
  Vec         x, y, z;
  PetscScalar sum, half, total, entry = 0;
  PetscInt    begin = 0, end, first, last;
  PetscReal   rate;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(diagonal, &x));
  PetscCall(VecDuplicate(diagonal, &y));
  PetscCall(VecDuplicate(diagonal, &z));
  PetscCall(VecGetSize(x, &end));
  PetscCall(VecSetRandom(x, random));
  PetscCall(VecRealPart(x));
  PetscCall(VecShift(x, 1.0));
  PetscCall(VecDot(diagonal, x, &total));
  PetscCall(UniformizationRangeSum_Private(A, x, begin, end, y, z, &sum));
  *defect = PetscAbsScalar(sum);
  if (!(PetscAbsScalar(sum) <= tolerance * PetscAbsScalar(total))) {
    while (end - begin > 1) {
      const PetscInt middle = begin + (end - begin) / 2;

      PetscCall(UniformizationRangeSum_Private(A, x, begin, middle, y, z, &half));
      if (PetscAbsScalar(half) >= PetscAbsScalar(sum - half)) end = middle;
      else {
        begin = middle;
        half  = sum - half;
      }
      sum = half;
    }
    PetscCall(VecSet(x, 1.0));
    PetscCall(UniformizationRangeSum_Private(A, x, begin, end, y, z, &sum));
    PetscCall(VecGetOwnershipRange(diagonal, &first, &last));
    if (begin >= first && begin < last) PetscCall(VecGetValues(diagonal, 1, &begin, &entry));
    rate = PetscRealPart(entry);
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &rate, 1, MPIU_REAL, MPIU_SUM, PetscObjectComm((PetscObject)A)));
    PetscCall(UniformizationSumFault_Private(A, begin, PetscRealPart(sum), rate, tolerance));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first state that gets a negative rate in sum from the states of [begin, end) that x is 1 for; at: only that one is looked at, where it is not negative */
static PetscErrorCode UniformizationInflow_Private(Mat A, Vec diagonal, Vec x, PetscInt begin, PetscInt end, Vec y, Vec z, PetscReal tolerance, PetscInt at, UniformizationFault *fault)
{
  PetscInt           first, last;
  const PetscScalar *d, *yy, *zz;

  PetscFunctionBegin;
  *fault = UniformizationNoFault;
  PetscCall(UniformizationRange_Private(x, begin, end, y));
  PetscCall(MatMult(A, y, z));
  PetscCall(VecGetOwnershipRange(x, &first, &last));
  PetscCall(VecGetArrayRead(diagonal, &d));
  PetscCall(VecGetArrayRead(y, &yy));
  PetscCall(VecGetArrayRead(z, &zz));
  for (PetscInt i = 0; i < last - first; i++) {
    const PetscReal inflow = PetscRealPart(zz[i]) - PetscRealPart(d[i] * yy[i]);

    if (at >= 0 && first + i != at) continue;
    if (inflow >= -tolerance * PetscAbsScalar(d[i] * yy[i]) && inflow <= PETSC_MAX_REAL) continue;
    fault->state = first + i;
    fault->value = inflow;
    break;
  }
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscCall(VecRestoreArrayRead(y, &yy));
  PetscCall(VecRestoreArrayRead(z, &zz));
  PetscCall(UniformizationFirst_Private(PetscObjectComm((PetscObject)A), fault));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each state by itself, if they are few; else sets of random states, from half of all down to one in many: the fewer, the less hides a negative rate */
static PetscErrorCode UniformizationSignsProducts_Private(Mat A, Vec diagonal, PetscRandom random, PetscReal tolerance)
{
  Vec       x, y, z;
  PetscInt  n, m;
  PetscReal density = 1;
  PetscBool all;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(diagonal, &x));
  PetscCall(VecDuplicate(diagonal, &y));
  PetscCall(VecDuplicate(diagonal, &z));
  PetscCall(VecGetSize(x, &n));
  PetscCall(VecGetLocalSize(x, &m));
  all = (PetscBool)(n <= 64);
  PetscCall(VecSet(x, 1.0));
  for (PetscInt trial = 0; all ? trial < n : density * (PetscReal)n >= 1; trial++) {
    UniformizationFault fault, half;
    PetscInt            begin = all ? trial : 0, end = all ? trial + 1 : n;
    PetscScalar        *xx;

    if (!all) {
      if (trial % 4 == 0) density /= 2;
      PetscCall(VecSetRandom(x, random));
      PetscCall(VecGetArray(x, &xx));
      for (PetscInt i = 0; i < m; i++) xx[i] = PetscRealPart(xx[i]) < density ? 1.0 : 0.0;
      PetscCall(VecRestoreArray(x, &xx));
    }
    PetscCall(UniformizationInflow_Private(A, diagonal, x, begin, end, y, z, tolerance, -1, &fault));
    if (fault.state == PETSC_INT_MAX) continue;
    /* One of the halves of the set gives a negative sum, too */
    while (end - begin > 1) {
      const PetscInt middle = begin + (end - begin) / 2;

      PetscCall(UniformizationInflow_Private(A, diagonal, x, begin, middle, y, z, tolerance, fault.state, &half));
      if (half.state != PETSC_INT_MAX) {
        end         = middle;
        fault.value = half.value;
      } else begin = middle;
    }
    PetscCall(UniformizationInflow_Private(A, diagonal, x, begin, end, y, z, tolerance, fault.state, &half));
    PetscCall(UniformizationNegative_Private(A, begin, fault.state, half.state == PETSC_INT_MAX ? fault.value : half.value));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same without the check: the bound on rounding wants the length of rows */
static PetscErrorCode UniformizationLengths_Private(TS_Uniformization *un, Mat A)
{
  PetscInt begin, end, most[3] = {0, 0, 0};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    const PetscInt *cols;
    PetscInt        n;

    PetscCall(MatGetRow(A, row, &n, &cols, NULL));
    UniformizationLook_Private(row, n, cols, most);
    PetscCall(MatRestoreRow(A, row, &n, &cols, NULL));
  }
  PetscCall(UniformizationKnow_Private(un, A, most));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Finds the matrix, checks it, takes its largest rate, and makes vectors; nothing is done twice for a matrix that has not changed */
PetscErrorCode TSUniformizationMatrix_Private(TS ts)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  TSRHSJacobianFn   *jacobian;
  TSRHSFunctionFn   *function;
  Mat                A = ts->Arhs;
  Vec                diagonal;
  PetscInt           m, n, bad;
  PetscReal          low, high, norm;
  PetscBool          rows, transpose;
  PetscObjectId      id;
  PetscObjectState   state;

  PetscFunctionBegin;
  PetscCall(TSGetRHSJacobian(ts, NULL, NULL, &jacobian, NULL));
  PetscCall(TSGetRHSFunction(ts, NULL, &function, NULL));
  PetscCheck(A && jacobian && function, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE, "TSUNIFORMIZATION needs the matrix of a linear right-hand side: call TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL) and TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL) with A = Q^T");
  PetscCall(MatGetSize(A, &m, &n));
  PetscCheck(m == n, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_SIZ, "TSUNIFORMIZATION: the matrix of a generator is square, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", m, n);
  if (jacobian != TSComputeRHSJacobianConstant) PetscCall(TSComputeRHSJacobian(ts, ts->ptime, ts->vec_sol, A, ts->Brhs ? ts->Brhs : A));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (un->checked && id == un->id && state == un->state) goto done;

  /* A function of the program's own must be the product with the matrix */
  if (function != TSComputeRHSFunctionLinear) {
    Vec       f, g;
    PetscReal difference, norm;

    PetscCall(VecDuplicate(ts->vec_sol, &f));
    PetscCall(VecDuplicate(ts->vec_sol, &g));
    PetscCall(TSComputeRHSFunction(ts, ts->ptime, ts->vec_sol, f));
    PetscCall(MatMult(A, ts->vec_sol, g));
    PetscCall(VecNorm(g, NORM_1, &norm));
    PetscCall(VecAXPY(f, -1.0, g));
    PetscCall(VecNorm(f, NORM_1, &difference));
    PetscCall(VecDestroy(&f));
    PetscCall(VecDestroy(&g));
    PetscCheck(difference <= PETSC_SQRT_MACHINE_EPSILON * norm, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONG, "TSUNIFORMIZATION: the right-hand side is not A p with the matrix A of TSSetRHSJacobian(): at time %g they differ by %g, in the 1-norm, A p being %g. It solves p' = Q^T p only", (double)ts->ptime, (double)difference, (double)norm);
  }

  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecRealPart(diagonal));
  PetscCall(VecMin(diagonal, NULL, &low));
  PetscCall(VecMax(diagonal, &bad, &high));
  if (!n) low = high = 0;
  un->maxrate = PetscMax(PetscAbsReal(low), PetscAbsReal(high));
  PetscCall(VecNorm(diagonal, NORM_1, &norm)); /* unlike the other two it keeps what is no number */
  un->defect = 0;
  un->row    = -1;
  PetscCall(MatHasOperation(A, MATOP_GET_ROW, &rows));
  PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, &transpose));
  if (un->check) {
    PetscRandom random;

    if (rows) PetscCall(UniformizationRows_Private(un, A));
    PetscCheck(!(high > 0), PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_OUTOFRANGE, "TSUNIFORMIZATION: the matrix is no generator: its diagonal entry of state %" PetscInt_FMT " is %g, and must not be positive; -ts_uniformization_check 0 skips this check", bad, (double)high);
    PetscCheck(!PetscIsInfOrNanReal(norm), PetscObjectComm((PetscObject)ts), PETSC_ERR_FP, "TSUNIFORMIZATION: the diagonal of the matrix has entries that are no numbers");
    PetscCall(PetscRandomCreate(PetscObjectComm((PetscObject)A), &random));
    PetscCall(PetscRandomSetFromOptions(random));
    if (!rows) PetscCall(UniformizationSignsProducts_Private(A, diagonal, random, un->tolerance));
    if (transpose) PetscCall(UniformizationSumsTranspose_Private(A, diagonal, un->tolerance, &un->defect));
    else PetscCall(UniformizationSumsProducts_Private(A, diagonal, random, un->tolerance, &un->defect));
    PetscCall(PetscRandomDestroy(&random));
    if (un->maxrate > 0) un->defect /= un->maxrate;
  } else if (rows) PetscCall(UniformizationLengths_Private(un, A));
  PetscCall(VecDestroy(&diagonal));
  un->id      = id;
  un->state   = state;
  un->checked = PETSC_TRUE;

done:
  if (!un->v) {
    PetscCall(VecDuplicate(ts->vec_sol, &un->v));
    PetscCall(VecDuplicate(ts->vec_sol, &un->work));
    PetscCall(VecDuplicate(ts->vec_sol, &un->base));
  }
  un->A = A; /* ts has the reference */
  /* any rate that is no smaller will do, and this one has a reciprocal */
  un->alpha              = un->maxrate > 0 ? PetscMax(un->maxrate * un->factor, PETSC_REAL_MIN) : 0;
  un->info.alpha         = un->alpha;
  un->info.defect        = un->defect;
  un->info.roundingknown = (PetscBool)(un->row >= 0);
  PetscFunctionReturn(PETSC_SUCCESS);
}
