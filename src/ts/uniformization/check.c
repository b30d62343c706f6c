/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Checks that a matrix is Q^T of a generator Q: no negative rates off the diagonal, and columns with the sum zero.
   State j is column j.

   The signs of entries are read if the type of the matrix can give entries. Column sums are a product of the transpose
   with ones. A matrix without entries and transpose is multiplied with random vectors. A product then shows a nonzero
   column sum, and repeated halving of the set of states finds the column. With few states a product also shows any
   negative rate; with more states only if positive rates do not hide the negative rate.
*/

#include "uniformizationimpl.h"
#include <petsc/private/matimpl.h>

/* The first wrong state, and the reason */
typedef struct {
  PetscInt  state, other; /* other: target of the rate */
  PetscReal value;
} UniformizationFault;

static const UniformizationFault UniformizationNoFault = {PETSC_INT_MAX, -1, 0};

/* The fault with the lowest state over all processes, and with the highest partner */
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
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
          "TSUNIFORMIZATION: the matrix is no generator: the rate from state %" PetscInt_FMT " to state %" PetscInt_FMT " (row %" PetscInt_FMT
          ", column %" PetscInt_FMT " of Q^T) is %g. Rates are finite and not negative; -ts_uniformization_check 0 skips this check",
          from, to, to, from, (double)rate);
}

/*
   Source of the entries of Q^T: rows of A, rows of the matrix whose virtual transpose A is, or rows of the upper half
   in symmetric storage
*/
typedef struct {
  Mat       rows; /* NULL: the entries cannot be read */
  PetscBool transposed, upper;
} UniformizationReader;

/* A virtual transpose that was scaled or shifted has other entries */
static PetscErrorCode UniformizationIsPlainShell_Private(Mat S, PetscBool *plain)
{
  PetscScalar vshift, vscale;
  Vec         dshift, left, right;
  Mat         axpy;
  IS          zrows, zcols;

  PetscFunctionBegin;
  PetscCall(MatShellGetScalingShifts(S, &vshift, &vscale, &dshift, &left, &right, &axpy, &zrows, &zcols));
  *plain = (PetscBool)(vshift == 0.0 && vscale == 1.0 && !dshift && !left && !right && !axpy && !zrows && !zcols);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UniformizationReaderCreate_Private(Mat A, UniformizationReader *reader)
{
  PetscBool rows, plain = PETSC_TRUE;

  PetscFunctionBegin;
  *reader = (UniformizationReader){A, PETSC_FALSE, PETSC_FALSE};
  while (plain) {
    PetscBool transpose, hermitian;

    PetscCall(PetscObjectTypeCompare((PetscObject)reader->rows, MATTRANSPOSEVIRTUAL, &transpose));
    PetscCall(PetscObjectTypeCompare((PetscObject)reader->rows, MATHERMITIANTRANSPOSEVIRTUAL, &hermitian));
    if (!transpose && !hermitian) break;
    PetscCall(UniformizationIsPlainShell_Private(reader->rows, &plain));
    if (transpose) PetscCall(MatTransposeGetMat(reader->rows, &reader->rows));
    else PetscCall(MatHermitianTransposeGetMat(reader->rows, &reader->rows));
    reader->transposed = (PetscBool)!reader->transposed;
  }
  PetscCall(MatHasOperation(reader->rows, MATOP_GET_ROW, &rows));
  PetscCall(MatHasOperation(reader->rows, MATOP_GET_ROW_UPPER_TRIANGULAR, &reader->upper));
  if (!rows || !plain) reader->rows = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Facts from one entry: most[] are the largest distances of entries from the diagonal, to the left and to the right */
static inline void UniformizationEntry_Private(PetscInt to, PetscInt from, PetscScalar entry, PetscInt most[2], PetscInt *imaginary, UniformizationFault *fault)
{
  const PetscReal value = PetscRealPart(entry);

  most[0] = PetscMax(most[0], from - to);
  most[1] = PetscMax(most[1], to - from);
  if (PetscImaginaryPart(entry) != 0.0) *imaginary = PetscMin(*imaginary, from);
  if (to == from || (value >= 0.0 && value <= PETSC_MAX_REAL)) return;
  if (from < fault->state || (from == fault->state && to > fault->other)) *fault = (UniformizationFault){from, to, value};
}

/* Lengths of rows other than the rows read: rows of this process, and contributions to rows of other processes */
typedef struct {
  Vec       others;
  PetscInt *own, begin, end;
} UniformizationLengths;

static PetscErrorCode UniformizationLengthsCreate_Private(Mat rows, UniformizationLengths *lengths)
{
  PetscFunctionBegin;
  PetscCall(MatCreateVecs(rows, &lengths->others, NULL));
  PetscCall(VecSet(lengths->others, 0.0));
  PetscCall(VecGetOwnershipRange(lengths->others, &lengths->begin, &lengths->end));
  PetscCall(PetscCalloc1(lengths->end - lengths->begin, &lengths->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode UniformizationLengthsAdd_Private(UniformizationLengths *lengths, PetscInt row)
{
  PetscFunctionBegin;
  if (row >= lengths->begin && row < lengths->end) lengths->own[row - lengths->begin]++;
  else PetscCall(VecSetValue(lengths->others, row, 1.0, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode UniformizationLengthsDestroy_Private(UniformizationLengths *lengths, PetscInt *longest)
{
  const PetscScalar *others;

  PetscFunctionBegin;
  PetscCall(VecAssemblyBegin(lengths->others));
  PetscCall(VecAssemblyEnd(lengths->others));
  PetscCall(VecGetArrayRead(lengths->others, &others));
  for (PetscInt i = 0; i < lengths->end - lengths->begin; i++) *longest = PetscMax(*longest, lengths->own[i] + (PetscInt)PetscRealPart(others[i]));
  PetscCall(VecRestoreArrayRead(lengths->others, &others));
  PetscCall(VecDestroy(&lengths->others));
  PetscCall(PetscFree(lengths->own));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same, if the matrix provides facts of its entries, and all entries are right; otherwise done is PETSC_FALSE */
static PetscErrorCode UniformizationScan_Private(TS_Uniformization *un, const UniformizationReader *reader, PetscBool check, PetscBool *done)
{
  PetscErrorCode (*scan)(Mat, PetscInt[], PetscBool *, PetscBool *);
  PetscInt  most[3] = {0, 0, 0};
  PetscBool good    = PETSC_FALSE;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  if (reader->transposed || reader->upper) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscObjectQueryFunction((PetscObject)reader->rows, "LitheMatScan_C", &scan));
  if (scan) PetscCall((*scan)(reader->rows, most, &good, done));
  if (check && !good) *done = PETSC_FALSE; /* the error message must name the entry */
  if (!*done) PetscFunctionReturn(PETSC_SUCCESS);
  un->generator.row      = most[0];
  un->generator.reach[0] = most[1];
  un->generator.reach[1] = most[2];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Reads all entries: the signs, if signs are checked, the length of the longest row of Q^T, and the distances of
   entries from the diagonal. If the rows of another matrix are read, each entry counts in its row of Q^T.
*/
static PetscErrorCode UniformizationRead_Private(TS_Uniformization *un, Mat A, const UniformizationReader *reader, PetscBool check)
{
  UniformizationLengths lengths = {NULL, NULL, 0, 0};
  UniformizationFault   fault   = UniformizationNoFault;
  PetscInt              begin, end, most[3] = {0, 0, 0}, imaginary[2] = {PETSC_INT_MAX, 0};

  PetscFunctionBegin;
  if (reader->transposed || reader->upper) PetscCall(UniformizationLengthsCreate_Private(reader->rows, &lengths));
  if (reader->upper) PetscCall(MatGetRowUpperTriangular(reader->rows));
  PetscCall(MatGetOwnershipRange(reader->rows, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           n;
    const PetscInt    *cols;
    const PetscScalar *values;

    PetscCall(MatGetRow(reader->rows, row, &n, &cols, &values));
    if (!lengths.others) most[0] = PetscMax(most[0], n);
    for (PetscInt i = 0; i < n; i++) {
      if (reader->upper && cols[i] < row) continue; /* a block on the diagonal is stored as a whole */
      if (lengths.others) PetscCall(UniformizationLengthsAdd_Private(&lengths, cols[i]));
      if (!reader->transposed || reader->upper) UniformizationEntry_Private(row, cols[i], values[i], &most[1], &imaginary[0], &fault);
      if (reader->transposed || reader->upper) UniformizationEntry_Private(cols[i], row, values[i], &most[1], &imaginary[0], &fault);
      if (reader->upper && cols[i] != row) PetscCall(UniformizationLengthsAdd_Private(&lengths, row));
    }
    PetscCall(MatRestoreRow(reader->rows, row, &n, &cols, &values));
  }
  if (reader->upper) PetscCall(MatRestoreRowUpperTriangular(reader->rows));
  if (lengths.others) PetscCall(UniformizationLengthsDestroy_Private(&lengths, &most[0]));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 3, MPIU_INT, MPI_MAX, PetscObjectComm((PetscObject)A)));
  un->generator.row      = most[0];
  un->generator.reach[0] = most[1];
  un->generator.reach[1] = most[2];
  if (!check) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallMPI(MPIU_Allreduce(&imaginary[0], &imaginary[1], 1, MPIU_INT, MPI_MIN, PetscObjectComm((PetscObject)A)));
  PetscCheck(imaginary[1] == PETSC_INT_MAX, PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
             "TSUNIFORMIZATION: the matrix is no generator: a rate from state %" PetscInt_FMT " has an imaginary part", imaginary[1]);
  PetscCall(UniformizationFirst_Private(PetscObjectComm((PetscObject)A), &fault));
  if (fault.state != PETSC_INT_MAX) PetscCall(UniformizationNegative_Private(A, fault.state, fault.other, fault.value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether A has products with the transpose. MATCOMPOSITE says yes for any parts */
static PetscErrorCode UniformizationHasTranspose_Private(Mat A, PetscBool *has)
{
  PetscBool composite;
  PetscInt  n;

  PetscFunctionBegin;
  PetscCall(MatHasOperation(A, MATOP_MULT_TRANSPOSE, has));
  PetscCall(PetscObjectTypeCompare((PetscObject)A, MATCOMPOSITE, &composite));
  if (!composite || !*has) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatCompositeGetNumberMat(A, &n));
  for (PetscInt i = 0; i < n && *has; i++) {
    Mat part;

    PetscCall(MatCompositeGetMat(A, i, &part));
    PetscCall(UniformizationHasTranspose_Private(part, has));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = x for indices in [begin, end), else 0 */
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

/* The error of a column sum, and the intention behind common errors */
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
  SETERRQ(PetscObjectComm((PetscObject)A), PETSC_ERR_ARG_OUTOFRANGE,
          "TSUNIFORMIZATION: the matrix is no generator: the rates of state %" PetscInt_FMT " (column %" PetscInt_FMT " of Q^T, row %" PetscInt_FMT
          " of Q) sum to %g, with %g on the diagonal. %s; -ts_uniformization_check_tolerance (now %g) says how much is rounding, -ts_uniformization_check 0 "
          "skips this check",
          state, state, state, (double)sum, (double)rate,
          norm <= 2 * tolerance * PetscAbsReal(rate) ? "The rows of this matrix sum to zero: give TSSetRHSJacobian() its transpose, Q^T"
                                                     : "The sum must be zero",
          (double)tolerance);
}

/* The local sums: the first sum that is too large, with the rate of its state, and the largest sum */
static PetscErrorCode UniformizationSumsLook_Private(Vec sum, Vec diagonal, PetscReal tolerance, UniformizationFault *fault, PetscReal *rate,
                                                     PetscReal *largest)
{
  PetscInt           begin, end;
  const PetscScalar *s, *d;

  PetscFunctionBegin;
  *largest = 0;
  PetscCall(VecGetOwnershipRange(sum, &begin, &end));
#if defined(LITHE_HAVE_CUDA)
  {
    PetscBool device, good;

    PetscCall(LitheVecsGetPlace(2, (const Vec[]){sum, diagonal}, &device, NULL));
    if (device) {
      PetscCall(VecGetArrayReadAndMemType(sum, &s, NULL));
      PetscCall(VecGetArrayReadAndMemType(diagonal, &d, NULL));
      PetscCall(LitheCUDAStepCheckSums(end - begin, s, d, tolerance, largest, &good));
      PetscCall(VecRestoreArrayReadAndMemType(diagonal, &d));
      PetscCall(VecRestoreArrayReadAndMemType(sum, &s));
      if (good) PetscFunctionReturn(PETSC_SUCCESS); /* else the host finds which */
    }
  }
#endif
  PetscCall(VecGetArrayRead(sum, &s));
  PetscCall(VecGetArrayRead(diagonal, &d));
  for (PetscInt i = 0; i < end - begin; i++) {
    const PetscReal value = PetscAbsScalar(s[i]);

    if (!(value <= tolerance * PetscAbsScalar(d[i])) && fault->state == PETSC_INT_MAX) {
      fault->state = begin + i;
      fault->value = PetscRealPart(s[i]);
      *rate        = PetscRealPart(d[i]);
    }
    *largest = PetscMax(*largest, value);
  }
  PetscCall(VecRestoreArrayRead(sum, &s));
  PetscCall(VecRestoreArrayRead(diagonal, &d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Column sums by the transpose; defect: the largest */
static PetscErrorCode UniformizationSumsTranspose_Private(Mat A, Vec diagonal, PetscReal tolerance, PetscReal *defect)
{
  UniformizationFault fault = UniformizationNoFault;
  PetscReal           rate  = -PETSC_MAX_REAL, largest;
  PetscInt            mine;
  Vec                 one, sum;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &sum, &one));
  PetscCall(VecSet(one, 1.0));
  PetscCall(MatMultHermitianTranspose(A, one, sum)); /* rates are real, and a Hermitian transpose of complex scalars has only this product */
  PetscCall(UniformizationSumsLook_Private(sum, diagonal, tolerance, &fault, &rate, &largest));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&sum));
  PetscCallMPI(MPIU_Allreduce(&largest, defect, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  mine = fault.state;
  PetscCall(UniformizationFirst_Private(PetscObjectComm((PetscObject)A), &fault));
  if (fault.state == PETSC_INT_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  if (mine != fault.state) rate = -PETSC_MAX_REAL;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &rate, 1, MPIU_REAL, MPIU_MAX, PetscObjectComm((PetscObject)A)));
  PetscCall(UniformizationSumFault_Private(A, fault.state, fault.value, rate, tolerance));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same without transpose: with weights near one, all different */
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

/*
   The first state with a negative sum of rates from the states of [begin, end) with x = 1; at: the only tested state,
   unless negative
*/
static PetscErrorCode UniformizationInflow_Private(Mat A, Vec diagonal, Vec x, PetscInt begin, PetscInt end, Vec y, Vec z, PetscReal tolerance, PetscInt at,
                                                   UniformizationFault *fault)
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

/*
   Each state separately, if states are few. Otherwise sets of random states, from half of all states down to one in
   many. Smaller sets hide fewer negative rates
*/
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
    /* at least one half of the set also gives a negative sum */
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

/* Accepted and refused problems of TSUNIFORMIZATION: M p' = A p with a mass matrix, and other implicit forms */
static PetscErrorCode UniformizationCheckForm_Private(TS ts)
{
  TSIFunctionFn  *ifunction;
  TSI2FunctionFn *i2function;
  DM              dm;
  PetscBool       variable;

  PetscFunctionBegin;
  PetscCall(TSGetDM(ts, &dm));
  PetscCall(DMTSGetIFunction(dm, &ifunction, NULL));
  PetscCall(DMTSGetI2Function(dm, &i2function, NULL));
  PetscCall(TSHasTransientVariable(ts, &variable));
  PetscCheck(!ifunction && !i2function && !variable, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_INCOMP,
             "TSUNIFORMIZATION solves p' = Q^T p and cannot use %s. Give Q^T with TSSetRHSFunction() and TSSetRHSJacobian() alone, or use an implicit TSType",
             ifunction ? "TSSetIFunction(), with a mass matrix or without" : (i2function ? "TSSetI2Function()" : "TSSetTransientVariable()"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The rates and column sums of a new or changed matrix */
static PetscErrorCode UniformizationGenerator_Private(TS_Uniformization *un, Mat A)
{
  MPI_Comm             comm = PetscObjectComm((PetscObject)A);
  UniformizationReader reader;
  Vec                  diagonal;
  PetscInt             n, bad;
  PetscReal            low, high, norm;
  PetscBool            has;

  PetscFunctionBegin;
  PetscCall(MatHasOperation(A, MATOP_GET_DIAGONAL, &has));
  PetscCheck(has, comm, PETSC_ERR_SUP,
             "TSUNIFORMIZATION needs the diagonal of the matrix, and type %s has no MatGetDiagonal(). Give a MATSHELL this operation with "
             "MatShellSetOperation(), or convert the matrix with MatConvert()",
             ((PetscObject)A)->type_name);
  PetscCall(MatCreateVecs(A, &diagonal, NULL));
  PetscCall(MatGetDiagonal(A, diagonal));
  PetscCall(VecRealPart(diagonal));
  PetscCall(VecGetSize(diagonal, &n));
  PetscCall(VecMin(diagonal, NULL, &low));
  PetscCall(VecMax(diagonal, &bad, &high));
  if (!n) low = high = 0;
  un->generator.maxrate = PetscMax(PetscAbsReal(low), PetscAbsReal(high));
  PetscCall(VecNorm(diagonal, NORM_1, &norm)); /* keeps a NaN, in contrast to both comparisons below */
  un->generator.defect = 0;
  un->generator.row    = -1;
  PetscCall(UniformizationReaderCreate_Private(A, &reader));
  if (reader.rows) {
    PetscBool done;

    PetscCall(UniformizationScan_Private(un, &reader, un->opt.check, &done));
    if (!done) PetscCall(UniformizationRead_Private(un, A, &reader, un->opt.check));
  }
  if (un->opt.check) {
    PetscRandom random;

    PetscCheck(!(high > 0), comm, PETSC_ERR_ARG_OUTOFRANGE,
               "TSUNIFORMIZATION: the matrix is no generator: its diagonal entry of state %" PetscInt_FMT
               " is %g, and must not be positive; -ts_uniformization_check 0 skips this check",
               bad, (double)high);
    PetscCheck(!PetscIsInfOrNanReal(norm), comm, PETSC_ERR_FP, "TSUNIFORMIZATION: the diagonal of the matrix has entries that are no numbers");
    PetscCall(PetscRandomCreate(comm, &random));
    PetscCall(PetscRandomSetFromOptions(random));
    if (!reader.rows) PetscCall(UniformizationSignsProducts_Private(A, diagonal, random, un->opt.tolerance));
    PetscCall(UniformizationHasTranspose_Private(A, &has));
    if (has) PetscCall(UniformizationSumsTranspose_Private(A, diagonal, un->opt.tolerance, &un->generator.defect));
    else PetscCall(UniformizationSumsProducts_Private(A, diagonal, random, un->opt.tolerance, &un->generator.defect));
    PetscCall(PetscRandomDestroy(&random));
    if (un->generator.maxrate > 0) un->generator.defect /= un->generator.maxrate;
  }
  PetscCall(VecDestroy(&diagonal));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Finds the matrix, checks it, takes its largest rate, and creates vectors. An unchanged matrix is not checked again.
   Functions of the program are compared with the matrix for each interval of time, up to end. step: the interval is one
   of many.
*/
PetscErrorCode TSUniformizationMatrix_Private(TS ts, PetscReal end, PetscBool step)
{
  TS_Uniformization *un = (TS_Uniformization *)ts->data;
  TSRHSJacobianFn   *jacobian;
  TSRHSFunctionFn   *function;
  Mat                A = ts->Arhs;
  PetscInt           m, n;
  PetscObjectId      id;
  PetscObjectState   state;

  PetscFunctionBegin;
  PetscCall(UniformizationCheckForm_Private(ts));
  PetscCall(TSGetRHSJacobian(ts, NULL, NULL, &jacobian, NULL));
  PetscCall(TSGetRHSFunction(ts, NULL, &function, NULL));
  PetscCheck(A && jacobian && function, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_WRONGSTATE,
             "TSUNIFORMIZATION needs the matrix of a linear right-hand side: call TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL) and "
             "TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL) with A = Q^T");
  PetscCall(MatGetSize(A, &m, &n));
  PetscCheck(m == n, PetscObjectComm((PetscObject)ts), PETSC_ERR_ARG_SIZ,
             "TSUNIFORMIZATION: the matrix of a generator is square, this one has %" PetscInt_FMT " rows and %" PetscInt_FMT " columns", m, n);
  PetscCall(TSUniformizationVectorsCreate_Private(&un->vectors, ts->vec_sol));
  PetscCall(TSUniformizationEvaluate_Private(ts, ts->ptime, ts->vec_sol));
  PetscCall(PetscObjectGetId((PetscObject)A, &id));
  PetscCall(PetscObjectStateGet((PetscObject)A, &state));
  if (!un->generator.checked || id != un->generator.id || state != un->generator.state) {
    un->generator.checked = PETSC_FALSE;
    PetscCall(UniformizationGenerator_Private(un, A));
  }
  PetscCall(TSUniformizationConstant_Private(ts, end, step));
  PetscCall(PetscObjectStateGet((PetscObject)A, &un->generator.state));
  un->generator.id      = id;
  un->generator.checked = PETSC_TRUE;
  un->generator.A       = A; /* ts has the reference */
  /* any rate that is at least as large is permitted, and this rate has a finite reciprocal */
  un->generator.alpha = un->generator.maxrate > 0 ? PetscMax(un->generator.maxrate * un->opt.factor, PETSC_REAL_MIN) : 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix will be checked again */
void TSUniformizationMatrixForget_Private(TSUniformizationGenerator *generator)
{
  generator->checked = PETSC_FALSE;
}
