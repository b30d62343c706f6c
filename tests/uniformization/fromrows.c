/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "TSUNIFORMIZATION with a generator that is compressed from rows where they are made: the wireless channel and random chains, against MATAIJ.\n\
  -device : on the device\n\n";

#include <lithe.h>
#include <petscdevice.h>
#include <tests/refused.h>
#include <tests/vcrs/vcrstest.h>
#include <tutorials/common/chain.h>

/* Q^T of a random chain. Every third state is absorbing, and some absorbing states cannot be entered, so some rows and
   columns are empty */
static PetscErrorCode CreateRandom(PetscInt n, PetscInt seed, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, n, NULL, A));
  for (PetscInt from = 0; from < n; from++) {
    double leave = 0;

    if (from % 3 == 2) continue;
    for (PetscInt k = 0; k < 4; k++) {
      const PetscInt to   = (PetscInt)((double)n * TestRandom((uint64_t)seed, (uint64_t)from, (uint64_t)k));
      const double   rate = k == 3 ? 0.25 : TestRandom((uint64_t)seed + 1, (uint64_t)from, (uint64_t)k);

      if (to == from || to % 5 == 4) continue;
      leave += rate;
      PetscCall(MatSetValue(*A, to, from, (PetscScalar)rate, ADD_VALUES));
    }
    PetscCall(MatSetValue(*A, from, from, (PetscScalar)-leave, ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The compressed matrix of a MATSEQAIJ, from arrays on the host or on the device */
static PetscErrorCode CreateFromRows(Mat A, PetscBool device, Mat *B)
{
  const PetscInt    *i, *j;
  const PetscScalar *a;
  PetscInt           m, n, rows;
  PetscBool          done;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, &n));
  if (device) {
#if PetscDefined(HAVE_CUDA)
    Mat D;

    PetscCall(MatConvert(A, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &D));
    PetscCall(MatSeqAIJCUSPARSEGetIJ(D, PETSC_FALSE, &i, &j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(D, &a));
    PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, m, n, i, j, a, B));
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(D, &a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(D, PETSC_FALSE, &i, &j));
    PetscCall(MatDestroy(&D));
#endif
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatGetRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
  PetscCall(MatSeqAIJGetArrayRead(A, &a));
  PetscCall(MatCreateSeqVCRSFromCSR(PETSC_COMM_SELF, m, n, i, j, a, B));
  PetscCall(MatSeqAIJRestoreArrayRead(A, &a));
  PetscCall(MatRestoreRowIJ(A, 0, PETSC_FALSE, PETSC_FALSE, &rows, &i, &j, &done));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* From the first state to time 1, with the check of the generator */
static PetscErrorCode Solve(Mat A, Vec *p)
{
  TS ts;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, p, NULL));
  PetscCall(VecSetValue(*p, 0, 1.0, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(*p));
  PetscCall(VecAssemblyEnd(*p));
  PetscCall(TSCreate(PetscObjectComm((PetscObject)A), &ts));
  PetscCall(TSSetProblemType(ts, TS_LINEAR));
  PetscCall(TSSetType(ts, TSUNIFORMIZATION));
  PetscCall(TSSetRHSFunction(ts, NULL, TSComputeRHSFunctionLinear, NULL));
  PetscCall(TSSetRHSJacobian(ts, A, A, TSComputeRHSJacobianConstant, NULL));
  PetscCall(TSSetMaxTime(ts, 1.0));
  PetscCall(TSUniformizationSetNegligible(ts, 0)); /* types leave out different states */
  PetscCall(TSSetFromOptions(ts));
  PetscCall(TSSolve(ts, *p));
  PetscCall(TSDestroy(&ts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* B equals the matrix A to the last bit, and gives the same solution */
static PetscErrorCode Compare(Mat A, Mat B, const char where[])
{
  const PetscScalar *x, *y;
  PetscReal          difference = 0;
  PetscInt           n;
  Vec                p, q;

  PetscFunctionBeginUser;
  checks++;
  PetscCall(TestCompareRows(B, A, where, "from rows", &failures));
  PetscCall(Solve(A, &p));
  PetscCall(Solve(B, &q));
  PetscCall(VecGetSize(p, &n));
  PetscCall(VecGetArrayRead(p, &x));
  PetscCall(VecGetArrayRead(q, &y));
  for (PetscInt i = 0; i < n; i++) difference += PetscAbsScalar(x[i] - y[i]);
  PetscCall(VecRestoreArrayRead(p, &x));
  PetscCall(VecRestoreArrayRead(q, &y));
  if (WRONG(!(difference <= 1e5 * PETSC_MACHINE_EPSILON))) FAIL("%s: the solutions differ by %g", where, (double)difference);
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&q));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckWireless(PetscInt K, PetscInt R, PetscBool device)
{
  const Wireless model  = {.K = K, .R = R, .lambda = 20, .beta0 = 80, .mu = 100, .pc = (PetscReal)0.1, .pe = K == 3 ? 0 : (PetscReal)0.05};
  const Shares   shares = {PETSC_FALSE, NULL};
  char           where[64];
  PetscInt       levels = 0;
  ChainRows      rows;
  Chain          chain, other;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(where, sizeof(where), "wireless K %" PetscInt_FMT " R %" PetscInt_FMT, K, R));
  PetscCall(ChainWireless(PETSC_COMM_SELF, &model, &shares, &chain));
  PetscCall(WirelessRowsCreate(PETSC_COMM_SELF, &model, &shares, device, &rows));
  PetscCall(ChainWirelessFromRows(PETSC_COMM_SELF, &model, &rows, &other));
  PetscCall(ChainRowsDestroy(&rows));
  PetscCall(Compare(chain.A, other.A, where));
  PetscCall(ChainWirelessLevels(&model, &other));
  for (PetscInt i = 0; i < other.n; i++) levels = PetscMax(levels, other.level[i]);
  if (WRONG(levels != K)) FAIL("%s: queues of %" PetscInt_FMT " frames", where, levels);
  PetscCall(ChainDestroy(&chain));
  PetscCall(ChainDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of each process; shares differ */
static PetscErrorCode CheckParallel(PetscInt K, PetscInt R, PetscBool device)
{
  const Wireless     model  = {.K = K, .R = R, .lambda = 20, .beta0 = 80, .mu = 100, .pc = (PetscReal)0.1, .pe = (PetscReal)0.05};
  Shares             shares = {PETSC_FALSE, NULL};
  ChainRows          rows;
  const PetscScalar *x, *y;
  PetscReal          difference, norm;
  PetscInt           n;
  Vec                p, q;
  Chain              chain, other;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(size, &shares.part));
  for (PetscMPIInt r = 0; r < size; r++) shares.part[r] = (PetscReal)(1 + r % 3);
  PetscCall(ChainWireless(PETSC_COMM_WORLD, &model, &shares, &chain));
  PetscCall(WirelessRowsCreate(PETSC_COMM_WORLD, &model, &shares, device, &rows));
  PetscCall(ChainWirelessFromRows(PETSC_COMM_WORLD, &model, &rows, &other));
  PetscCall(ChainRowsDestroy(&rows));
  checks++;
  PetscCall(TestCompareRows(other.A, chain.A, "parallel", "from rows", &failures));
  PetscCall(VecNorm(other.p, NORM_1, &norm)); /* a process that knows the norm does not take part */
  if (WRONG(norm != 1)) FAIL("K %" PetscInt_FMT " R %" PetscInt_FMT ": the first state has the norm %g", K, R, (double)norm);
  PetscCall(VecAXPY(chain.p, -1.0, other.p));
  PetscCall(VecNorm(chain.p, NORM_INFINITY, &difference));
  if (WRONG(difference != 0)) FAIL("K %" PetscInt_FMT " R %" PetscInt_FMT ": another first state", K, R);
  PetscCall(Solve(chain.A, &p));
  PetscCall(Solve(other.A, &q));
  PetscCall(VecGetLocalSize(p, &n));
  PetscCall(VecGetArrayRead(p, &x));
  PetscCall(VecGetArrayRead(q, &y));
  for (PetscInt i = 0; i < n; i++) difference += PetscAbsScalar(x[i] - y[i]);
  PetscCall(VecRestoreArrayRead(p, &x));
  PetscCall(VecRestoreArrayRead(q, &y));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &difference, 1, MPIU_REAL, MPIU_SUM, PETSC_COMM_WORLD));
  if (WRONG(!(difference <= 1e5 * PETSC_MACHINE_EPSILON)))
    FAIL("K %" PetscInt_FMT " R %" PetscInt_FMT ": the solutions differ by %g", K, R, (double)difference);
  PetscCall(VecDestroy(&p));
  PetscCall(VecDestroy(&q));
  PetscCall(PetscFree(shares.part));
  PetscCall(ChainDestroy(&chain));
  PetscCall(ChainDestroy(&other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A matrix which is not a generator is detected, and the place is named */
static PetscErrorCode CheckRefusals(PetscBool device)
{
  const struct {
    PetscInt    row, column;
    PetscScalar value;
    const char *word;
  } faults[] = {
    {7, 3, 1e-3, "the rates of state 3 "},                                    /* a sum */
    {5, 160, -0.5, "the rate from state 160 to state 5 "},                    /* a sign */
    {5, 100, (PetscReal)NAN, "the rate from state 100 to state 5 "},          /* no number */
    {100, 7, (PetscReal)INFINITY, "the rate from state 7 to state 100 "},     /* infinite */
    {197, 197, (PetscReal)1e-30, "its diagonal entry of state 197 is 1e-30"}, /* an absorbing state with a diagonal entry */
  };

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(faults); k++) {
    const char *const words[] = {faults[k].word, NULL};
    TestError         error;
    PetscErrorCode    ierr;
    Mat               A, B;
    Vec               p = NULL;

    PetscCall(CreateRandom(200, 5, &A));
    PetscCall(MatSetOption(A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
    PetscCall(MatSetValue(A, faults[k].row, faults[k].column, faults[k].value, ADD_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(CreateFromRows(A, device, &B));
    checks++;
    error.text[0] = 0;
    PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
    ierr = Solve(B, &p);
    PetscCall(PetscPopErrorHandler());
    PetscCall(TestRefused(words[0], ierr, &error, words));
    PetscCall(VecDestroy(&p));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[][2] = {{1, 1}, {3, 1}, {3, 4}, {12, 7}, {5, 12}, {40, 3}};
  PetscBool             device = PETSC_FALSE, refusals = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-refusals", &refusals, NULL));
  if (device) PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    PetscCall(CheckWireless(sizes[k][0], sizes[k][1], device));
    PetscCall(CheckParallel(sizes[k][0], sizes[k][1], device));
  }
  for (PetscInt k = 0; k < 6; k++) {
    Mat  A, B;
    char where[64];

    PetscCall(PetscSNPrintf(where, sizeof(where), "random chain %" PetscInt_FMT, k));
    PetscCall(CreateRandom(k ? 150 * k : 3, k, &A));
    PetscCall(CreateFromRows(A, device, &B));
    PetscCall(Compare(A, B, where));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  if (refusals) PetscCall(CheckRefusals(device));
  return TestEnd(6 * 6 + 2 * 6, "generators from rows are what they should be\n");
}

/*TEST

  testset:
    output_file: output/fromrows_1.out
    # what a call leaves behind that ends with an error is not looked at
    test:
      suffix: 1
      filter: grep -E "should|failed|FAIL"
    test:
      suffix: 2
      nsize: {{1 2}}
      args: -refusals 0
    test:
      suffix: cuda
      requires: cuda
      filter: grep -E "should|failed|FAIL"
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: {{1 2}}
      args: -device -refusals 0

TEST*/
