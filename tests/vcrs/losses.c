/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Guarantees of the lossy modes of MATVCRS: bounds, zeros, signs, diagonals, row sums, symmetry.\n\n";

#include "vcrstest.h"

typedef struct {
  const char *name;
  MatVCRSLoss loss;
  PetscInt    bits, bins;
  PetscReal   lambda;
  MatVCRSUnit unit;
} TestLoss;

/* Step counts which need codes of 16 bits, floats, or doubles */
static const TestLoss losses[] = {{"bins 1000000000", MATVCRS_LOSS_BINS, 16, 1000000000, 0.1, MATVCRS_UNIT_ROW},
                                  {"bins 100000", MATVCRS_LOSS_BINS, 16, 100000, 0.1, MATVCRS_UNIT_ROW},
                                  {"bins 9", MATVCRS_LOSS_BINS, 16, 9, 0.1, MATVCRS_UNIT_ROW},
                                  {"bins 1", MATVCRS_LOSS_BINS, 16, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"classes .1 row", MATVCRS_LOSS_CLASSES, 16, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"classes 1e-4 row", MATVCRS_LOSS_CLASSES, 16, 1, 1e-4, MATVCRS_UNIT_ROW},
                                  {"classes 1e-9 row", MATVCRS_LOSS_CLASSES, 16, 1, 1e-9, MATVCRS_UNIT_ROW},
                                  {"classes 8e-8 entry", MATVCRS_LOSS_CLASSES, 16, 1, 8e-8, MATVCRS_UNIT_ENTRY},
                                  {"classes 1e-9 entry", MATVCRS_LOSS_CLASSES, 16, 1, 1e-9, MATVCRS_UNIT_ENTRY},
                                  {"classes .3 entry", MATVCRS_LOSS_CLASSES, 16, 1, 0.3, MATVCRS_UNIT_ENTRY},
                                  {"classes .02 absolute", MATVCRS_LOSS_CLASSES, 16, 1, 0.02, MATVCRS_UNIT_ABSOLUTE},
                                  {"100000 bins, classes .1 row", MATVCRS_LOSS_BINCLASSES, 16, 100000, 0.1, MATVCRS_UNIT_ROW},
                                  {"50 bins, classes .02 row", MATVCRS_LOSS_BINCLASSES, 16, 50, 0.02, MATVCRS_UNIT_ROW},
                                  {"1000000000 bins, classes 1e-9 row", MATVCRS_LOSS_BINCLASSES, 16, 1000000000, 1e-9, MATVCRS_UNIT_ROW},
                                  {"1000 bins, classes .1 entry", MATVCRS_LOSS_BINCLASSES, 16, 1000, 0.1, MATVCRS_UNIT_ENTRY},
                                  {"9 bins, classes .02 absolute", MATVCRS_LOSS_BINCLASSES, 16, 9, 0.02, MATVCRS_UNIT_ABSOLUTE},
                                  {"1000 bins, classes 0", MATVCRS_LOSS_BINCLASSES, 16, 1000, 0.0, MATVCRS_UNIT_ROW},
                                  {"log 16", MATVCRS_LOSS_LOG, 16, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"log 8", MATVCRS_LOSS_LOG, 8, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"fixed 16", MATVCRS_LOSS_FIXED, 16, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"fixed 8", MATVCRS_LOSS_FIXED, 8, 1, 0.1, MATVCRS_UNIT_ROW},
                                  {"single", MATVCRS_LOSS_SINGLE, 16, 1, 0.1, MATVCRS_UNIT_ROW}};

static const PetscInt ncomponents = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));

/* Smallest and largest component, smallest and largest nonzero modulus of components */
typedef struct {
  PetscReal min, max, least, most;
} TestRange;

static PetscErrorCode TestGetRange(Mat B, TestRange *range)
{
  PetscInt  begin, end;
  PetscReal v[4] = {PETSC_MAX_REAL, PETSC_MAX_REAL, PETSC_MAX_REAL, 0.0};

  PetscFunctionBegin;
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           len;
    const PetscScalar *vals;

    PetscCall(MatGetRow(B, i, &len, NULL, &vals));
    for (PetscInt k = 0; k < len * ncomponents; k++) {
      const PetscReal x = ((const PetscReal *)vals)[k], modulus = PetscAbsReal(x);

      v[0] = PetscMin(v[0], x);
      v[1] = PetscMin(v[1], -x);
      if (x != 0.0) v[2] = PetscMin(v[2], modulus);
      v[3] = PetscMin(v[3], -modulus);
    }
    PetscCall(MatRestoreRow(B, i, NULL, NULL, &vals));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, v, 4, MPIU_REAL, MPIU_MIN, PETSC_COMM_WORLD));
  range->min   = v[0];
  range->max   = -v[1];
  range->least = v[2];
  range->most  = -v[3];
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The d of a logarithmic scale with both signs over the whole range of moduli, the coarsest possible. Tables of short
   words add up to 1/32 if d is above 3e-5
*/
static PetscReal TestLogBound(const TestRange *range, PetscInt bits)
{
  const PetscReal count = bits == 8 ? 127.0 : 127.0 * 256.0;
  PetscReal       half;

  if (!(range->most > range->least)) return 100.0 * PETSC_MACHINE_EPSILON;
  half = 0.5 * PetscLogReal(range->most / range->least) / (count - 1.0);
  if (sizeof(PetscReal) == 8 && half > 3e-5) half *= 1.0 + 1.0 / 32.0;
  return PetscExpReal(half + 100.0 * PETSC_MACHINE_EPSILON) - 1.0;
}

/* The permitted error of a stored component a, in a row whose largest modulus is rowmax */
static PetscReal TestBound(const TestLoss *loss, const TestRange *range, PetscReal infobound, PetscReal rowmax, PetscReal a)
{
  const PetscReal modulus = PetscAbsReal(a), bins = (range->max - range->min) / (2.0 * loss->bins);
  const PetscReal classes = loss->lambda * (loss->unit == MATVCRS_UNIT_ROW ? rowmax : (loss->unit == MATVCRS_UNIT_ENTRY ? modulus : 1.0));

  switch (loss->loss) {
  case MATVCRS_LOSS_BINS:
    return bins;
  case MATVCRS_LOSS_CLASSES:
    return classes;
  case MATVCRS_LOSS_BINCLASSES:
    return PetscMax(bins, classes);
  case MATVCRS_LOSS_LOG:
    return TestLogBound(range, loss->bits) * modulus;
  case MATVCRS_LOSS_FIXED:
    return infobound * rowmax;
  default: /* half a unit in the last place of a float; below normal numbers, half of the smallest number */
    return PetscMax(PetscPowRealInt(2.0, -24) * modulus, PetscPowRealInt(2.0, -150));
  }
}

/* Whether a loss whose steps are powers of two has rounded to c with a step that the bound allows, and not a finer one */
static PetscBool TestIsMultiple(const TestLoss *loss, PetscReal bound, PetscReal c)
{
  int exponent;

  if (loss->loss != MATVCRS_LOSS_BINS && loss->loss != MATVCRS_LOSS_CLASSES && loss->loss != MATVCRS_LOSS_BINCLASSES) return PETSC_TRUE;
  (void)frexp((1.0 - 1e-10) * (double)bound / (double)ncomponents, &exponent);
  return (PetscBool)(exponent < -1000 || fmod((double)c, ldexp(1.0, exponent - 1)) == 0.0);
}

/* The largest relative change of a reference which a row sum may cause */
#define TEST_REFERENCE_SHARE 0.125

/* How far a reference is off, in the unit in which the mode bounds entries */
static PetscReal TestReferenceError(const TestLoss *loss, PetscReal rowmax, PetscScalar value, PetscScalar exact)
{
  const PetscReal error = PetscAbsScalar(value - exact), modulus = PetscAbsScalar(exact), became = PetscAbsScalar(value);

  if (error == 0.0 || modulus == 0.0) return 0.0;
  switch (loss->loss) {
  case MATVCRS_LOSS_BINS:
  case MATVCRS_LOSS_BINCLASSES:
    return error;
  case MATVCRS_LOSS_CLASSES:
    return loss->unit == MATVCRS_UNIT_ROW ? error / rowmax : (loss->unit == MATVCRS_UNIT_ENTRY ? error / modulus : error);
  case MATVCRS_LOSS_LOG:
    return became > 0.0 ? PetscMax(error / modulus, error / became) : 0.0;
  case MATVCRS_LOSS_FIXED:
    return error / rowmax;
  default:
    return error / modulus;
  }
}

/* Whether a reference with this value is damaged: vanished, appeared, or reversed in sign */
static PetscBool TestIsHarmed(PetscScalar value, PetscScalar exact)
{
  if (exact == (PetscScalar)0.0) return (PetscBool)(value != (PetscScalar)0.0);
  if (value == (PetscScalar)0.0) return PETSC_TRUE;
  if (PetscDefined(USE_COMPLEX)) return (PetscBool)(PetscAbsScalar(value - exact) > PetscAbsScalar(exact));
  return (PetscBool)((PetscRealPart(value) > 0.0) != (PetscRealPart(exact) > 0.0));
}

#define TEST_FAIL(...)                                                             \
  do {                                                                             \
    failed++;                                                                      \
    if (failed <= 3) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL " __VA_ARGS__)); \
  } while (0)

/*
   Compares the entries of C, which A multiplies with, with the original B. kept: row sums must be kept; multiples:
   entries must have the steps of the loss; ones: A times the vector of ones.
*/
static PetscErrorCode TestEntries(Mat B, Mat C, const TestLoss *loss, const TestRange *range, PetscBool kept, PetscBool multiples, PetscBool hermitian,
                                  const MatVCRSInfo *info, Vec ones, const char where[], PetscInt *failures)
{
  PetscInt           M, N, begin, end, cbegin, cend, failed = 0;
  PetscReal          sum[2] = {0.0, 0.0}, most[3] = {0.0, 0.0, 0.0};
  PetscInt           guarded = 0;
  const PetscScalar *y;

  PetscFunctionBegin;
  PetscCall(MatGetSize(B, &M, &N));
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  PetscCall(MatGetOwnershipRangeColumn(B, &cbegin, &cend));
  PetscCall(VecGetArrayRead(ones, &y));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           len, lenC, ref = -1;
    PetscBool          diagonal = PETSC_FALSE;
    const PetscInt    *cols, *colsC;
    const PetscScalar *a, *c;
    PetscScalar        rowsum = 0.0, rest = 0.0, decoded = 0.0;
    PetscReal          rowmax = 0.0, modulus = 0.0, largest = -1.0, rounding;

    PetscCall(MatGetRow(B, i, &len, &cols, &a));
    PetscCall(MatGetRow(C, i, &lenC, &colsC, &c));
    if (len != lenC || memcmp(cols, colsC, (size_t)len * sizeof(*cols))) {
      TEST_FAIL("%s: row %" PetscInt_FMT " has another pattern\n", where, i);
      lenC = -1;
    }

    /* the entry which absorbs the row sum, in the diagonal block: the entry on the block's diagonal, otherwise the
       largest entry */
    for (PetscInt k = 0; k < len; k++) {
      rowmax = PetscMax(rowmax, PetscAbsScalar(a[k]));
      if (cols[k] >= cbegin && cols[k] < cend && PetscAbsScalar(a[k]) > largest && !diagonal) {
        largest = PetscAbsScalar(a[k]);
        ref     = k;
      }
      if (cols[k] >= cbegin && cols[k] < cend && cols[k] - cbegin == i - begin) {
        ref      = k;
        diagonal = PETSC_TRUE;
      }
    }
    if (!kept) ref = -1;

    for (PetscInt k = 0; lenC >= 0 && k < len; k++) {
      const PetscReal *av = (const PetscReal *)&a[k], *cv = (const PetscReal *)&c[k];

      rowsum += a[k];
      decoded += c[k];
      modulus += PetscAbsScalar(a[k]);
      if (k != ref) {
        rest += c[k];
        modulus += PetscAbsScalar(c[k]);
      }
      sum[0] += PetscSqr(PetscAbsScalar(c[k] - a[k]));
      sum[1] += PetscSqr(PetscAbsScalar(a[k]));
      most[0] = PetscMax(most[0], PetscAbsScalar(c[k] - a[k]));
      most[1] = PetscMax(most[1], modulus);
      if (a[k] == (PetscScalar)0.0 && c[k] != (PetscScalar)0.0)
        TEST_FAIL("%s: the zero in row %" PetscInt_FMT ", column %" PetscInt_FMT " became %g\n", where, i, cols[k], (double)PetscAbsScalar(c[k]));
      if (M == N && cols[k] == i && a[k] != (PetscScalar)0.0 && c[k] == (PetscScalar)0.0)
        TEST_FAIL("%s: diagonal entry %" PetscInt_FMT " vanishes\n", where, i);
      if (k == ref) {
        if (TestIsHarmed(c[k], a[k]) && PetscAbsScalar(c[k]) > 4.0 * PETSC_MACHINE_EPSILON * modulus)
          TEST_FAIL("%s: the reference in row %" PetscInt_FMT ", column %" PetscInt_FMT " was %g + %g i, is %g + %g i\n", where, i, cols[k],
                    (double)PetscRealPart(a[k]), (double)PetscImaginaryPart(a[k]), (double)PetscRealPart(c[k]), (double)PetscImaginaryPart(c[k]));
        /* the comparison, and the entry which absorbs the row sum, are rounded */
        if (PetscAbsScalar(c[k] - a[k]) > 4.0 * PETSC_MACHINE_EPSILON * modulus) {
          const PetscReal off = TestReferenceError(loss, rowmax, c[k], a[k]);

          most[2] = PetscMax(most[2], off);
          if (!(off <= info->bound * (1.0 + PETSC_SQRT_MACHINE_EPSILON)))
            TEST_FAIL("%s: the reference in row %" PetscInt_FMT " is off by %g, where %g is promised\n", where, i, (double)off, (double)info->bound);
        }
        continue;
      }
      for (PetscInt p = 0; p < ncomponents; p++) {
        const PetscReal bound = TestBound(loss, range, info->bound, rowmax, av[p]), error = PetscAbsReal(cv[p] - av[p]);

        /* one rounding of the comparison itself */
        if (av[p] * cv[p] < 0.0)
          TEST_FAIL("%s: the entry %g in row %" PetscInt_FMT ", column %" PetscInt_FMT " became %g\n", where, (double)av[p], i, cols[k], (double)cv[p]);
        if (multiples && !TestIsMultiple(loss, bound, cv[p]))
          TEST_FAIL("%s: the entry %g in row %" PetscInt_FMT ", column %" PetscInt_FMT " became %g, finer than %g permits\n", where, (double)av[p], i, cols[k],
                    (double)cv[p], (double)bound);
        if (av[p] == 0.0 && cv[p] != 0.0)
          TEST_FAIL("%s: a zero component in row %" PetscInt_FMT ", column %" PetscInt_FMT " became %g\n", where, i, cols[k], (double)cv[p]);
        if (!(error <= bound + 2.0 * PETSC_MACHINE_EPSILON * PetscAbsReal(av[p]))) {
          /* a diagonal entry which would vanish takes the next value of the grid */
          if (((M == N && cols[k] == i) || (cols[k] - cbegin == i - begin && cols[k] < cend)) && PetscAbsReal(av[p]) <= bound && error <= 2.0 * bound)
            guarded++;
          else
            TEST_FAIL("%s: the entry %g in row %" PetscInt_FMT ", column %" PetscInt_FMT " became %g, off by %g where %g is promised\n", where, (double)av[p],
                      i, cols[k], (double)cv[p], (double)error, (double)bound);
        }
      }
    }

    /* row sums: of the decoded matrix, and from the product with ones */
    rounding = 2.0 * (len + 4) * PETSC_MACHINE_EPSILON * modulus;
    if (lenC >= 0 && !(PetscAbsScalar(y[i - begin] - decoded) <= rounding))
      TEST_FAIL("%s: the product with ones is %g off the row sum of row %" PetscInt_FMT "\n", where, (double)PetscAbsScalar(y[i - begin] - decoded), i);
    /* a Hermitian matrix keeps its diagonal real rather than the imaginary parts of its row sums */
    if (ref >= 0 && lenC >= 0 && !((hermitian ? PetscAbsReal(PetscRealPart(y[i - begin] - rowsum)) : PetscAbsScalar(y[i - begin] - rowsum)) <= rounding)) {
      if (TestIsHarmed(rowsum - rest, a[ref]) || PetscAbsScalar(rowsum - rest) <= rounding ||
          PetscAbsScalar(rowsum - rest - a[ref]) > (1.0 - PETSC_SQRT_MACHINE_EPSILON) * TEST_REFERENCE_SHARE * PetscAbsScalar(a[ref]))
        guarded++;
      else
        TEST_FAIL("%s: the sum of row %" PetscInt_FMT " was %g, is off by %g\n", where, i, (double)PetscAbsScalar(rowsum),
                  (double)PetscAbsScalar(y[i - begin] - rowsum));
    }
    PetscCall(MatRestoreRow(C, i, NULL, &colsC, &c));
    PetscCall(MatRestoreRow(B, i, NULL, &cols, &a));
  }
  PetscCall(VecRestoreArrayRead(ones, &y));

  /* MatVCRSGetInfo(). MATMPIAIJ has row maxima per block, so only absolute quantities can be compared */
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 2, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, most, 3, MPIU_REAL, MPIU_MAX, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &guarded, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (!(PetscAbsReal(info->maxabserror - most[0]) <= TEST_LONGEST * PETSC_MACHINE_EPSILON * most[1]))
    TEST_FAIL("%s: the largest error is %g, MatVCRSGetInfo() says %g\n", where, (double)most[0], (double)info->maxabserror);
  if (sum[1] > 0.0 &&
      !(PetscAbsReal(info->froberror - PetscSqrtReal(sum[0] / sum[1])) <= PETSC_SQRT_MACHINE_EPSILON * PetscMax(info->froberror, PETSC_SQRT_MACHINE_EPSILON)))
    TEST_FAIL("%s: the Frobenius norm of the error is %g, MatVCRSGetInfo() says %g\n", where, (double)PetscSqrtReal(sum[0] / sum[1]), (double)info->froberror);
  if (guarded > info->guardrows)
    TEST_FAIL("%s: %" PetscInt_FMT " rows were guarded, MatVCRSGetInfo() says %" PetscInt64_FMT "\n", where, guarded, info->guardrows);
  if (loss->loss == MATVCRS_LOSS_LOG && info->bound > PetscMax(TestLogBound(range, loss->bits), most[2] * (1.0 + PETSC_SQRT_MACHINE_EPSILON)))
    TEST_FAIL("%s: a logarithmic scale with d = %g, where %g is possible\n", where, (double)info->bound, (double)TestLogBound(range, loss->bits));
  *failures += failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Off the diagonal C equals its transpose (Hermitian: conjugate transpose) to the last bit, and a Hermitian C has a
   real diagonal */
static PetscErrorCode TestSymmetry(Mat C, PetscBool hermitian, const char where[], PetscInt *failures)
{
  Mat      T;
  PetscInt begin, end, failed = 0;

  PetscFunctionBegin;
  PetscCall(MatTranspose(C, MAT_INITIAL_MATRIX, &T));
  PetscCall(MatGetOwnershipRange(C, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           len, lenT;
    const PetscInt    *cols;
    const PetscScalar *c, *t;

    PetscCall(MatGetRow(C, i, &len, &cols, &c));
    PetscCall(MatGetRow(T, i, &lenT, NULL, &t));
    for (PetscInt k = 0; k < PetscMin(len, lenT); k++) {
      if (cols[k] == i && hermitian && PetscImaginaryPart(c[k]) != 0.0)
        TEST_FAIL("%s: diagonal entry %" PetscInt_FMT " has an imaginary part of %g\n", where, i, (double)PetscImaginaryPart(c[k]));
      if (cols[k] != i && c[k] != (hermitian ? PetscConj(t[k]) : t[k]))
        TEST_FAIL("%s: row %" PetscInt_FMT ", column %" PetscInt_FMT " differs from its mirror image by %g\n", where, i, cols[k],
                  (double)PetscAbsScalar(c[k] - t[k]));
    }
    PetscCall(MatRestoreRow(T, i, NULL, NULL, &t));
    PetscCall(MatRestoreRow(C, i, NULL, &cols, &c));
  }
  PetscCall(MatDestroy(&T));
  *failures += failed;
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt matrices = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    Mat       B;
    Vec       one, y;
    TestRange range;
    PetscBool symmetric = TestKindIsSymmetric((TestKind)kind), hermitian = (PetscBool)(PetscDefined(USE_COMPLEX) && kind == TEST_FEM);

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 0, &B));
    PetscCall(TestGetRange(B, &range));
    if (symmetric) PetscCall(MatSetOption(B, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(TestCreateVec(B, PETSC_FALSE, "x_", 0, &one));
    PetscCall(TestCreateVec(B, PETSC_TRUE, "y_", 0, &y));
    PetscCall(VecSet(one, 1.0));

    for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
      for (int rowsums = 1; rowsums >= 0; rowsums--) {
        for (int layout = MATVCRS_LAYOUT_AUTO; layout <= MATVCRS_LAYOUT_L3; layout++) {
          Mat          A, C;
          MatVCRSInfo  info;
          TestProducts t;
          char         where[128];

          /* blocks of processes, and rows of a symmetric matrix, may have finer steps; auto may store few rows exactly */
          const PetscBool multiples = (PetscBool)(size == 1 && !symmetric && layout != MATVCRS_LAYOUT_AUTO);

          /* Only fixed point fits l2; one layout is enough if row sums are not kept */
          if (layout == MATVCRS_LAYOUT_L2 && losses[l].loss != MATVCRS_LOSS_FIXED) continue;
          if (!rowsums && layout != MATVCRS_LAYOUT_AUTO) continue;
          if (TestLeftOut()) continue;
          PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s%s, layout %s", TestKindNames[kind], losses[l].name, rowsums ? "" : ", row sums not kept",
                                  MatVCRSLayouts[layout]));
          PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
          if (symmetric) PetscCall(MatSetOption(A, hermitian ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
          PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_TRUE));
          PetscCall(MatVCRSSetLayout(A, (MatVCRSLayout)layout));
          PetscCall(MatVCRSSetLoss(A, losses[l].loss));
          PetscCall(MatVCRSSetBits(A, losses[l].bits));
          PetscCall(MatVCRSSetBins(A, losses[l].bins));
          PetscCall(MatVCRSSetLambda(A, losses[l].lambda, losses[l].unit));
          PetscCall(MatVCRSSetPreserveRowSums(A, (PetscBool)rowsums));
          PetscCall(MatVCRSSetRefineLoss(A, PETSC_FALSE));
          PetscCall(MatMult(A, one, y));
          PetscCall(MatVCRSGetInfo(A, &info));

          /* the AIJ arrays are exact as long as they exist */
          PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
          PetscCall(TestCompareRows(C, B, where, "the AIJ arrays changed", &failures));
          PetscCall(MatDestroy(&C));

          /* products use the entries of the converted matrix */
          PetscCall(MatVCRSDropAIJ(A));
          PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
          PetscCall(TestEntries(B, C, &losses[l], &range, (PetscBool)rowsums, multiples, hermitian, &info, y, where, &failures));
          if (symmetric) PetscCall(TestSymmetry(C, hermitian, where, &failures));
          if (hermitian) PetscCall(MatSetOption(C, MAT_HERMITIAN, PETSC_FALSE)); /* so PETSc assumes no symmetry */
          PetscCall(TestProductsCreate(C, PETSC_TRUE, &t));
          PetscCall(TestCompareProducts(A, &t, where, &failures));
          PetscCall(TestProductsDestroy(&t));
          PetscCall(MatDestroy(&C));
          PetscCall(MatDestroy(&A));
          matrices++;
        }
      }
    }
    PetscCall(VecDestroy(&one));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&B));
  }
  return TestReport("%" PetscInt_FMT " lossy matrices keep their promises\n", matrices);
}

/*TEST

  test:

  # Fewer where processes share cores
  test:
    suffix: 2
    nsize: 2
    args: -every 13

  test:
    suffix: 3
    nsize: 3
    args: -every 59

  test:
    suffix: cuda
    requires: cuda
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda -every 5

TEST*/
