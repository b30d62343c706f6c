/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT as an operator: MatScale(), MatShift(), MatDiagonalSet(), MatDiagonalScale(), MatAXPY() and others against the assembled "
                     "matrix; refused requests and their messages.\n\n";

#include <lithe.h>
#include <lithepc.h>
#include <petscksp.h>
#include <tests/refused.h>
#include <tutorials/common/sbpsatproblem.h>

static PetscInt compared = 0;

/* Numbers which depend on the node alone; complex numbers if requested and PetscScalar is complex */
static PetscErrorCode Fill(DM da, PetscInt salt, PetscReal low, PetscReal high, PetscBool iscomplex, Vec v)
{
  PetscScalar **a;
  PetscInt      start[2], count[2];

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal x = (PetscReal)((i * 7919 + j * 104729 + salt * 1299709) % 10007) / 10007,
                      y = (PetscReal)((i * 104729 + j * 7919 + salt * 15485863) % 10007) / 10007;

      a[j][i] = PetscCMPLX(low + (high - low) * x, PetscDefined(USE_COMPLEX) && iscomplex ? y - (PetscReal)0.5 : 0);
    }
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Equal up to rounding of numbers as large as x, or at least "least" */
static PetscErrorCode Same(const char what[], const char which[], PetscReal least, Vec x, Vec y)
{
  Vec       d;
  PetscReal scale, error;

  PetscFunctionBeginUser;
  compared++;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1., x, y));
  PetscCall(VecNorm(x, NORM_INFINITY, &scale));
  PetscCall(VecNorm(d, NORM_INFINITY, &error));
  scale = PetscMax(scale, least);
  if (WRONG(!(error <= 2000 * PETSC_MACHINE_EPSILON * scale))) FAIL("%s, %s: %g of %g", what, which, (double)error, (double)scale);
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The sum over each row of this process: entries times column numbers */
static PetscErrorCode RowSums(Mat A, Vec v)
{
  PetscInt     start, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &start, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt row = start; row < end; row++) {
    PetscInt           n;
    const PetscInt    *columns;
    const PetscScalar *values;

    a[row - start] = 0;
    PetscCall(MatGetRow(A, row, &n, &columns, &values));
    for (PetscInt k = 0; k < n; k++) a[row - start] += values[k] * (PetscReal)(1 + columns[k] % 17);
    for (PetscInt k = 1; k < n; k++) {
      if (columns[k] <= columns[k - 1]) a[row - start] = PETSC_MAX_REAL;
    }
    PetscCall(MatRestoreRow(A, row, &n, &columns, &values));
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares products of A with an assembled copy B, which had the same changes; "all" compares every other operation
   too */
static PetscErrorCode Compare(DM da, const char what[], PetscBool all, Mat A, Mat B)
{
  static const NormType norms[]  = {NORM_1, NORM_FROBENIUS, NORM_INFINITY};
  PetscBool             known[2] = {PETSC_FALSE, PETSC_FALSE}, symmetric[2] = {PETSC_FALSE, PETSC_FALSE}, is;
  Vec                   x, y, p, q, bx, by;
  PetscReal             norm[2], most;
  Mat                   block[2], C;
  PetscMPIInt           size;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &p));
  PetscCall(VecDuplicate(x, &q));
  PetscCall(Fill(da, 1, -1, 1, PETSC_TRUE, x));
  PetscCall(Fill(da, 2, -1, 1, PETSC_TRUE, y));
  PetscCall(MatNorm(B, NORM_INFINITY, &most));
  PetscCall(MatMult(B, x, p));
  PetscCall(MatMult(A, x, q));
  PetscCall(Same(what, "MatMult", 0, p, q));
  PetscCall(MatMultTranspose(B, x, p));
  PetscCall(MatMultTranspose(A, x, q));
  PetscCall(Same(what, "MatMultTranspose", 0, p, q));
  PetscCall(MatGetDiagonal(B, p));
  PetscCall(MatGetDiagonal(A, q));
  PetscCall(Same(what, "MatGetDiagonal", most, p, q));
  if (!all) {
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&p));
    PetscCall(VecDestroy(&q));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  /* after MatScale() by a complex number, PETSc still takes a Hermitian MATAIJ for Hermitian */
  PetscCall(VecCopy(x, q));
  PetscCall(VecConjugate(q));
  PetscCall(MatMultTranspose(B, q, p));
  PetscCall(VecConjugate(p));
  PetscCall(MatMultHermitianTranspose(A, x, q));
  PetscCall(Same(what, "MatMultHermitianTranspose", 0, p, q));
  PetscCall(MatMultAdd(B, x, y, p));
  PetscCall(VecCopy(y, q));
  PetscCall(MatMultAdd(A, x, q, q));
  PetscCall(Same(what, "MatMultAdd in place", 0, p, q));
  PetscCall(MatMultTransposeAdd(B, x, y, p));
  PetscCall(MatMultTransposeAdd(A, x, y, q));
  PetscCall(Same(what, "MatMultTransposeAdd", 0, p, q));
  PetscCall(MatResidual(B, y, x, p));
  PetscCall(MatResidual(A, y, x, q));
  PetscCall(Same(what, "MatResidual", 0, p, q));
  PetscCall(RowSums(B, p));
  PetscCall(RowSums(A, q));
  PetscCall(Same(what, "MatGetRow", 0, p, q));
  PetscCall(MatGetRowMaxAbs(B, p, NULL));
  PetscCall(MatGetRowMaxAbs(A, q, NULL));
  PetscCall(Same(what, "MatGetRowMaxAbs", 0, p, q));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(norms); k++) {
    PetscCall(MatNorm(B, norms[k], &norm[0]));
    PetscCall(MatNorm(A, norms[k], &norm[1]));
    compared++;
    if (WRONG(!(PetscAbsReal(norm[1] - norm[0]) <= 1000 * PETSC_MACHINE_EPSILON * norm[0])))
      FAIL("%s, MatNorm %s: %g instead of %g", what, NormTypes[norms[k]], (double)norm[1], (double)norm[0]);
  }
  PetscCall(MatGetDiagonalBlock(B, &block[0]));
  PetscCall(MatGetDiagonalBlock(A, &block[1]));
  PetscCall(MatCreateVecs(block[0], &bx, &by));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecSet(bx, 1.));
    PetscCall(MatMult(block[k], bx, by));
    PetscCall(VecNorm(by, NORM_2, &norm[k]));
  }
  compared++;
  if (WRONG(!(PetscAbsReal(norm[1] - norm[0]) <= 1000 * PETSC_MACHINE_EPSILON * norm[0])))
    FAIL("%s, MatGetDiagonalBlock: %g instead of %g", what, (double)norm[1], (double)norm[0]);
  PetscCall(VecDestroy(&bx));
  PetscCall(VecDestroy(&by));

  /* Known properties are true */
  PetscCall(MatIsSymmetric(B, 1e-10 * most, &symmetric[0]));
  PetscCall(MatIsSymmetric(A, 1e-10 * most, &symmetric[1]));
  compared++;
  if (WRONG(symmetric[0] != symmetric[1])) FAIL("%s: MatIsSymmetric is %d instead of %d", what, (int)symmetric[1], (int)symmetric[0]);
  PetscCall(MatIsHermitianKnown(A, &known[0], &is));
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (known[0] && is && size == 1) { /* properties which AIJ can determine */
    PetscCall(MatIsHermitian(B, 1e-10 * most, &symmetric[0]));
    if (WRONG(!symmetric[0])) FAIL("%s: said to be Hermitian, but is not", what);
  }

  /* A copy has the same properties */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatMult(A, x, p));
  PetscCall(MatMult(C, x, q));
  PetscCall(Same(what, "MatDuplicate", 0, p, q));
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatMult(C, x, q));
  PetscCall(Same(what, "MatConvert", 0, p, q));
  PetscCall(MatDestroy(&C));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Applies a sequence of changes to a matrix and its assembled copy */
static PetscErrorCode Change(DM da, PetscInt which, PetscBool iscomplex, Mat plain, Mat M, char what[], size_t length)
{
  const PetscScalar number = PetscCMPLX(-1.75, PetscDefined(USE_COMPLEX) && iscomplex ? 0.5 : 0);
  Vec               d, e;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(M, &d, &e));
  PetscCall(Fill(da, 10 + which, 0.5, 2, iscomplex, d));
  PetscCall(Fill(da, 20 + which, -2, -0.5, iscomplex, e));
  switch (which) {
  case 0:
    PetscCall(PetscSNPrintf(what, length, "scale"));
    PetscCall(MatScale(M, number));
    break;
  case 1:
    PetscCall(PetscSNPrintf(what, length, "scale, shift"));
    PetscCall(MatShift(M, number));
    break;
  case 2:
    PetscCall(PetscSNPrintf(what, length, "diagonal added"));
    PetscCall(MatDiagonalSet(M, d, ADD_VALUES));
    break;
  case 3:
    PetscCall(PetscSNPrintf(what, length, "assembled again"));
    PetscCall(MatAssemblyBegin(M, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(M, MAT_FINAL_ASSEMBLY));
    break;
  case 4:
    PetscCall(PetscSNPrintf(what, length, "plus a multiple of the first matrix"));
    PetscCall(MatAXPY(M, number, plain, SAME_NONZERO_PATTERN));
    break;
  case 5:
    PetscCall(PetscSNPrintf(what, length, "scaled from the left"));
    PetscCall(MatDiagonalScale(M, d, NULL));
    break;
  case 6:
    PetscCall(PetscSNPrintf(what, length, "shifted after that"));
    PetscCall(MatShift(M, 2.5));
    break;
  case 7:
    PetscCall(PetscSNPrintf(what, length, "scaled from both sides"));
    PetscCall(MatDiagonalScale(M, e, d));
    break;
  case 8:
    PetscCall(PetscSNPrintf(what, length, "diagonal inserted"));
    PetscCall(MatDiagonalSet(M, e, INSERT_VALUES));
    break;
  case 9: {
    Mat D;

    PetscCall(PetscSNPrintf(what, length, "plus a diagonal matrix"));
    PetscCall(MatCreateDiagonal(d, &D));
    PetscCall(MatAXPY(M, number, D, DIFFERENT_NONZERO_PATTERN));
    PetscCall(MatDestroy(&D));
  } break;
  case 10:
    PetscCall(PetscSNPrintf(what, length, "conjugated"));
    PetscCall(MatConjugate(M));
    break;
  case 11:
    PetscCall(PetscSNPrintf(what, length, "transposed in place"));
    PetscCall(MatTranspose(M, MAT_INPLACE_MATRIX, &M));
    break;
  case 12:
    PetscCall(PetscSNPrintf(what, length, "zero, shifted, plus a multiple"));
    PetscCall(MatZeroEntries(M));
    PetscCall(MatShift(M, 3.));
    PetscCall(MatAXPY(M, -1., plain, SAME_NONZERO_PATTERN));
    break;
  case 13:
    PetscCall(PetscSNPrintf(what, length, "copied"));
    PetscCall(MatDiagonalScale(M, d, d));
    PetscCall(MatCopy(plain, M, SAME_NONZERO_PATTERN));
    break;
  default:
    break;
  }
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CHANGES 14

static PetscErrorCode TestChanges(DM da, PetscInt order, MatSBPSATMetrics metrics, PetscBool iscomplex)
{
  Mat A, B, M, N, T[2];

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatSBPSATSetOrder(A, order));
  PetscCall(ProblemSetOperator(da, PETSC_FALSE, A));
  PetscCall(MatSBPSATSetMetrics(A, metrics));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &M));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &N));
  for (PetscInt k = 0; k < CHANGES; k++) {
    char what[128], where[256];

    PetscCall(Change(da, k, iscomplex, B, N, what, sizeof(what)));
    PetscCall(Change(da, k, iscomplex, A, M, what, sizeof(what)));
    PetscCall(
      PetscSNPrintf(where, sizeof(where), "order %" PetscInt_FMT " %s%s, %s", order, MatSBPSATMetricsTypes[metrics], iscomplex ? " complex" : "", what));
    PetscCall(Compare(da, where, (PetscBool)(k % 4 == 3 || k == 5), M, N));

    /* A transpose, and the same again after a change */
    if (k != 5) continue;
    PetscCall(MatTranspose(N, MAT_INITIAL_MATRIX, &T[0]));
    PetscCall(MatTranspose(M, MAT_INITIAL_MATRIX, &T[1]));
    PetscCall(Compare(da, "transpose", PETSC_FALSE, T[1], T[0]));
    PetscCall(MatScale(N, 2.));
    PetscCall(MatScale(M, 2.));
    PetscCall(MatTranspose(N, MAT_REUSE_MATRIX, &T[0]));
    PetscCall(MatTranspose(M, MAT_REUSE_MATRIX, &T[1]));
    PetscCall(Compare(da, "transpose again", PETSC_FALSE, T[1], T[0]));
    for (int t = 0; t < 2; t++) PetscCall(MatDestroy(&T[t]));
  }

  /* Into an assembled matrix */
  PetscCall(MatShift(M, 1.));
  PetscCall(MatCopy(M, B, SAME_NONZERO_PATTERN));
  PetscCall(Compare(da, "copied to aij", PETSC_FALSE, M, B));

  /* After new settings the operator is again defined by the settings */
  PetscCall(MatSBPSATSetCoefficient(M, NULL));
  PetscCall(MatDestroy(&N));
  PetscCall(MatConvert(M, MATAIJ, MAT_INITIAL_MATRIX, &N));
  PetscCall(MatSBPSATSetCoefficient(A, NULL));
  PetscCall(Compare(da, "new settings", PETSC_TRUE, A, N));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&M));
  PetscCall(MatDestroy(&N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = 2^k A x over the range of numbers, and coefficients whose products exceed the range */
static PetscErrorCode TestRange(DM da)
{
  static const int exponents[] = {900, -900};
  Vec              x, y, z, mu;
  Mat              A, B, M;

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_REAL_DOUBLE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(ProblemSetOperator(da, PETSC_FALSE, A));
  PetscCall(MatSBPSATSetCoefficient(A, NULL));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &mu));
  PetscCall(Fill(da, 5, -1, 1, PETSC_TRUE, x));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(exponents); k++) {
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &M));
    PetscCall(MatScale(M, (PetscScalar)ldexp(1., exponents[k])));
    PetscCall(MatShift(M, (PetscScalar)ldexp(1., exponents[k])));
    PetscCall(MatShift(M, -(PetscScalar)ldexp(1., exponents[k])));
    PetscCall(MatMult(M, x, z));
    PetscCall(VecScale(z, (PetscScalar)ldexp(1., -exponents[k])));
    PetscCall(Same("range", "MatScale", 0, y, z));
    PetscCall(MatDestroy(&M));

    /* c_rr c_ss over- or underflows */
    PetscCall(VecSet(mu, (PetscScalar)ldexp(1., exponents[k])));
    PetscCall(MatSBPSATSetCoefficient(B, mu));
    PetscCall(MatMult(B, x, z));
    PetscCall(VecScale(z, (PetscScalar)ldexp(1., -exponents[k])));
    PetscCall(Same("range", "mu", 0, y, z));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&mu));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The most recent existing matrix of a DMDA gives its settings to coarser grids; a duplicate does not take precedence
   over its original */
static PetscErrorCode TestPublished(DM da)
{
  Mat      A, B, C, coarse;
  DM       small;
  PetscInt order;

  PetscFunctionBeginUser;
  for (int k = 0; k < 4; k++) {
    PetscCall(DMCreateMatrix(da, &A));
    PetscCall(MatSBPSATSetOrder(A, 4));
    PetscCall(MatDuplicate(A, k % 2 ? MAT_COPY_VALUES : MAT_DO_NOT_COPY_VALUES, &B));
    if (k == 1) PetscCall(MatSBPSATSetOrder(B, 6));
    if (k >= 1) PetscCall(MatDestroy(&B));
    if (k == 2) {
      PetscCall(DMCreateMatrix(da, &C));
      PetscCall(MatSBPSATSetOrder(C, 6));
      PetscCall(MatDestroy(&C));
    }
    if (k == 3) {
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
      PetscCall(MatDestroy(&A));
      A = C;
    }
    PetscCall(DMCoarsen(da, PetscObjectComm((PetscObject)da), &small));
    PetscCall(DMCreateMatrix(small, &coarse));
    PetscCall(MatSBPSATGetOrder(coarse, &order));
    compared++;
    if (WRONG(order != 4)) FAIL("matrices of a DMDA, case %d: order %" PetscInt_FMT " came down instead of 4", k, order);
    PetscCall(MatDestroy(&coarse));
    PetscCall(DMDestroy(&small));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Preconditioners which read entries: some work, and the others print a reason */
static PetscErrorCode TestPreconditioners(DM da)
{
  static const char *const works[] = {PCJACOBI, PCBJACOBI, PCASM, PCREDUNDANT, PCSBPMG}, *const refused[] = {PCGAMG, PCPBJACOBI};
  Vec      x, b;
  Mat      A, P, B;
  PetscInt row;

  PetscFunctionBeginUser;
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(MatShift(A, 0.125));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(Fill(da, 6, -1, 1, PETSC_TRUE, b));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(works) + PETSC_STATIC_ARRAY_LENGTH(refused); k++) {
    const PetscBool    good = (PetscBool)(k < PETSC_STATIC_ARRAY_LENGTH(works));
    const char        *type = good ? works[k] : refused[k - PETSC_STATIC_ARRAY_LENGTH(works)];
    KSPConvergedReason reason;
    KSP                ksp;
    PC                 pc;

    PetscCall(KSPCreate(PetscObjectComm((PetscObject)da), &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, type));
    if (good) {
      PetscCall(KSPSolve(ksp, b, x));
      PetscCall(KSPGetConvergedReason(ksp, &reason));
      compared++;
      if (WRONG(reason <= 0)) FAIL("-pc_type %s: %s", type, KSPConvergedReasons[reason]);
    } else TEST_REFUSED(type, KSPSetUp(ksp), "sbpsat", "MatConvert", "sbpmg");
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(MatGetOwnershipRange(A, &row, NULL));
  TEST_REFUSED("MatSOR", MatSOR(A, b, 1., SOR_LOCAL_SYMMETRIC_SWEEP, 0., 1, 1, x), "sbpsat", "MatConvert", "sbpmg");
  TEST_REFUSED("MatSetValues", MatSetValue(A, row, row, 1., ADD_VALUES), "MatConvert", "MatDiagonalSet");
  TEST_REFUSED("MatZeroRows", MatZeroRows(A, 1, &row, 1., NULL, NULL), "MatConvert", "MatSBPSATSetDirichlet");
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatProductCreate(A, B, NULL, &P));
  PetscCall(MatProductSetType(P, MATPRODUCT_PtAP));
  TEST_REFUSED("MatPtAP", MatProductSetFromOptions(P), "MatConvert");
  PetscCall(MatDestroy(&P));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatSBPSATSetOrder(P, 4));
  TEST_REFUSED("MatAXPY", MatAXPY(A, 2., P, SAME_NONZERO_PATTERN), "coefficients", "MatConvert");
  PetscCall(MatDestroy(&P));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &P));
  PetscCall(MatDiagonalScale(P, b, NULL));
  TEST_REFUSED("MatAXPY", MatAXPY(A, 2., P, SAME_NONZERO_PATTERN), "scales", "MatConvert");
  PetscCall(VecSet(b, 0.));
  PetscCall(MatDiagonalScale(P, NULL, b));
  TEST_REFUSED("MatShift", MatShift(P, 2.), "MatDiagonalScale", "MatConvert");
  PetscCall(MatDestroy(&P));
  PetscCall(MatMult(A, b, x)); /* the matrix is unchanged */
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt n[2] = {44, 40};
  DM             da;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(ProblemCreateDM(PETSC_COMM_WORLD, n, &da));
  for (PetscInt order = 2; order <= 6; order += 2) {
    for (int iscomplex = 0; iscomplex < (PetscDefined(USE_COMPLEX) ? 2 : 1); iscomplex++)
      PetscCall(TestChanges(da, order, order == 4 ? MATSBPSAT_METRICS_FLY : MATSBPSAT_METRICS_STORED, (PetscBool)iscomplex));
  }
  PetscCall(TestRange(da));
  PetscCall(TestPublished(da));
  PetscCall(TestPreconditioners(da));
  PetscCall(DMDestroy(&da));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (compared < 350) failures++;
  if (count != 9) failures++;
  if (failures)
    PetscCall(
      PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures of %" PetscInt_FMT " comparisons and %" PetscInt_FMT " errors\n", failures, compared, count));
  else PetscCall(PetscPrintf(PETSC_COMM_WORLD, "more than 350 comparisons agree, and 9 errors are as expected\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/scaled_1.out
    test:
      nsize: {{1 2 3}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda

TEST*/
