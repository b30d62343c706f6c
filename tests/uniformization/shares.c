/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION: shares of the states with which processes have the same work.\n\n";

/* -leaves BOOL: whether the type of the matrix leaves out states which take no part; without the option both are
   permitted. -cases N: use the first N cases */

#include <tests/uniformization/tstest.h>
#include <tests/refused.h>

#define STATES 600

/* A queue which fills slowly; m: this process's rows */
static PetscErrorCode CreateMatrix(PetscInt m, Mat *A)
{
  const double up = 2, down = 1.8;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, m, m, STATES, STATES));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    if (i > 0) PetscCall(MatSetValue(*A, i, i - 1, (PetscScalar)up, INSERT_VALUES));
    if (i + 1 < STATES) PetscCall(MatSetValue(*A, i, i + 1, (PetscScalar)down, INSERT_VALUES));
    PetscCall(MatSetValue(*A, i, i, (PetscScalar)(-(i + 1 < STATES ? up : 0) - (i > 0 ? down : 0)), INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve from the state "initial", with m rows on this process. x: the complete solution on each process, or NULL */
static PetscErrorCode Solve(PetscInt m, PetscInt initial, PetscReal time, const char options[], PetscScalar x[], TS *ts)
{
  char       all[256];
  Mat        A;
  Vec        v, whole;
  VecScatter scatter;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-ts_type uniformization -ts_uniformization_eps 1e-6 %s", options));
  PetscCall(CreateMatrix(m, &A));
  PetscCall(ChainTS(A, all, ts));
  PetscCall(MatCreateVecs(A, &v, NULL));
  PetscCall(VecSetValue(v, initial, 1, INSERT_VALUES)); /* all processes: the same */
  PetscCall(VecAssemblyBegin(v));
  PetscCall(VecAssemblyEnd(v));
  PetscCall(TSSetMaxTime(*ts, time));
  PetscCall(TSSolve(*ts, v));
  if (x) {
    const PetscScalar *a;

    PetscCall(VecScatterCreateToAll(v, &scatter, &whole));
    PetscCall(VecScatterBegin(scatter, v, whole, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecScatterEnd(scatter, v, whole, INSERT_VALUES, SCATTER_FORWARD));
    PetscCall(VecGetArrayRead(whole, &a));
    PetscCall(PetscArraycpy(x, a, STATES));
    PetscCall(VecRestoreArrayRead(whole, &a));
    PetscCall(VecScatterDestroy(&scatter));
    PetscCall(VecDestroy(&whole));
  }
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void Even(PetscInt n, PetscInt rows[])
{
  for (PetscInt p = 0; p < n; p++) rows[p] = STATES / n + (p < STATES % n);
}

/* Shares of n processes against even shares and, for small n, against all shares. gain: the least ratio of the work
   with even shares to the work with the tested shares */
static PetscErrorCode CheckShares(const char what[], TS ts, PetscInt n, PetscReal gain)
{
  PetscInt *rows, *other, sum = 0, step = n == 2 ? 1 : 12;
  PetscReal work, again, even, least    = 2, alone;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &rows, n, &other));
  PetscCall(TSUniformizationGetShares(ts, n, rows, &work));
  for (PetscInt p = 0; p < n; p++) {
    sum += rows[p];
    if (WRONG(rows[p] < 0)) FAIL("%s, %" PetscInt_FMT " processes: one has %" PetscInt_FMT " rows", what, n, rows[p]);
  }
  if (WRONG(sum != STATES)) FAIL("%s, %" PetscInt_FMT " processes: %" PetscInt_FMT " rows in all", what, n, sum);
  PetscCall(PetscArraycpy(other, rows, n));
  PetscCallMPI(MPI_Bcast(other, (PetscMPIInt)n, MPIU_INT, 0, PETSC_COMM_WORLD));
  PetscCall(PetscArraycmp(rows, other, n, &same));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &same, 1, MPI_C_BOOL, MPI_LAND, PETSC_COMM_WORLD));
  if (WRONG(!same)) FAIL("%s, %" PetscInt_FMT " processes: they were told different shares", what, n);
  PetscCall(TSUniformizationGetWork(ts, n, rows, &again));
  if (WRONG(!(PetscAbsReal(again - work) <= 10 * PETSC_MACHINE_EPSILON)))
    FAIL("%s, %" PetscInt_FMT " processes: work is %g, and %g for the same shares", what, n, (double)work, (double)again);
  Even(n, other);
  PetscCall(TSUniformizationGetWork(ts, n, other, &even));
  if (WRONG(!(gain * work <= even))) FAIL("%s, %" PetscInt_FMT " processes: the work is %g, with even shares %g", what, n, (double)work, (double)even);
  other[0] = STATES;
  PetscCall(TSUniformizationGetWork(ts, 1, other, &alone));
  if (WRONG(!(work >= alone / (PetscReal)n * (1 - 10 * PETSC_MACHINE_EPSILON) && work <= alone)))
    FAIL("%s, %" PetscInt_FMT " processes: the work is %g of %g", what, n, (double)work, (double)alone);

  /* All shares, or a selection; on a single process, since each share needs a reduction */
  for (PetscInt a = 0; a <= STATES && n <= 3 && size == 1; a += step) {
    for (PetscInt b = n == 2 ? STATES - a : 0; b <= STATES - a; b += step) {
      PetscReal w;

      other[0] = a;
      other[1] = b;
      if (n == 3) other[2] = STATES - a - b;
      if (n == 1) other[0] = STATES;
      PetscCall(TSUniformizationGetWork(ts, n, other, &w));
      least = PetscMin(least, w);
      if (n == 1) break;
    }
  }
  if (WRONG(n <= 3 && size == 1 && !(work <= (PetscReal)1.021 * least)))
    FAIL("%s, %" PetscInt_FMT " processes: the work is %g, others have %g", what, n, (double)work, (double)least);
  PetscCall(PetscFree2(rows, other));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static PetscScalar x[STATES], y[STATES];
  static const struct {
    const char *what, *options;
    PetscInt    initial;
    PetscReal   time, gain[2]; /* gain: with 4 and 5 processes, on the host; a device checks rows too rarely for a small matrix */
  } cases[] = {
    {"from the first state", "", 0, 60, {2, 2}},
    {"from the last state", "", STATES - 1, 60, {2, 2}},
    {"from the middle", "", STATES / 2, 60, {1.5, 1.2}},
    {"in intervals", "-ts_uniformization_method intervals", 0, 60, {2, 2}},
    {"only what has been reached", "-ts_uniformization_negligible 0", 0, 60, {1.2, 1.2}},
    {"no time", "", 0, 1e-9, {1, 1}},
    {"all on the way", "", 0, 1500, {1, 1}},
    {"many products", "-ts_uniformization_rate_factor 4", 0, 900, {1.15, 1.15}},
  };
  TSUniformizationInfo info, first;
  TS                   ts;
  Mat                  A;
  PetscInt             rows[64], all = STATES, m, ncases = PETSC_STATIC_ARRAY_LENGTH(cases);
  PetscReal            work;
  PetscBool            leaves = PETSC_FALSE, set;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-leaves", &leaves, &set));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &ncases, NULL));

  for (PetscInt c = 0; c < ncases; c++) {
    PetscBool left;
    double    difference = 0;

    PetscCall(Solve(PETSC_DECIDE, cases[c].initial, cases[c].time, cases[c].options, x, &ts));
    PetscCall(TSUniformizationGetInfo(ts, &first));
    PetscCall(TSUniformizationGetWork(ts, 1, &all, &work));
    left = (PetscBool)(work < 1 || (set && leaves));
    if (WRONG(set && !leaves && work < 1)) FAIL("%s: the steps do not go through all rows, but %g of them", cases[c].what, (double)work);
    if (WRONG(left && !(PetscAbsReal(work - first.rows) <= (first.products > 4096 ? (PetscReal)0.01 : 100 * PETSC_MACHINE_EPSILON) * first.rows)))
      FAIL("%s: %g of the rows took part, the work of one process is %g", cases[c].what, (double)first.rows, (double)work);
    for (PetscInt n = 1; n <= 5; n++) PetscCall(CheckShares(cases[c].what, ts, n, set && left && n > 3 ? cases[c].gain[n - 4] : 1));
    PetscCall(CheckShares(cases[c].what, ts, 40, 1));
    PetscCall(TSUniformizationGetShares(ts, size, rows, NULL));
    m = STATES / size + (rank < STATES % size);
    if (WRONG(!left && rows[rank] != m)) FAIL("%s: all rows take part, and shares are not even", cases[c].what);
    PetscCall(TSDestroy(&ts));

    /* A solve with the new shares agrees up to rounding */
    PetscCall(Solve(rows[rank], cases[c].initial, cases[c].time, cases[c].options, y, &ts));
    PetscCall(TSUniformizationGetInfo(ts, &info));
    for (PetscInt i = 0; i < STATES; i++) difference += (double)PetscAbsScalar(x[i] - y[i]);
    if (WRONG(!(difference <= (double)(info.bound + first.bound)))) FAIL("%s: with other shares the solution differs by %g", cases[c].what, difference);
    if (WRONG(info.products != first.products || !(PetscAbsReal(info.rows - first.rows) <= (PetscReal)1e-3)))
      FAIL("%s: with other shares %g of the rows take part, not %g", cases[c].what, (double)info.rows, (double)first.rows);
    PetscCall(TSDestroy(&ts));

    /* All on the last process */
    PetscCall(Solve(rank == size - 1 ? STATES : 0, cases[c].initial, cases[c].time, cases[c].options, y, &ts));
    difference = 0;
    for (PetscInt i = 0; i < STATES; i++) difference += (double)PetscAbsScalar(x[i] - y[i]);
    if (WRONG(!(difference <= (double)(info.bound + first.bound))))
      FAIL("%s: on one process of %d the solution differs by %g", cases[c].what, size, difference);
    PetscCall(TSDestroy(&ts));
  }

  /* Misuse */
  PetscCall(CreateMatrix(PETSC_DECIDE, &A));
  PetscCall(ChainTS(A, "-ts_type uniformization", &ts));
  TEST_REFUSED("shares before a solve", TSUniformizationGetShares(ts, 2, rows, NULL), "TSSolve()");
  PetscCall(TSDestroy(&ts));
  PetscCall(MatDestroy(&A));
  PetscCall(Solve(PETSC_DECIDE, 0, 1, "", NULL, &ts));
  rows[0] = STATES;
  rows[1] = 1;
  TEST_REFUSED("too many rows", TSUniformizationGetWork(ts, 2, rows, &work), "600 states");
  rows[0] = STATES + 1;
  rows[1] = -1;
  TEST_REFUSED("negative rows", TSUniformizationGetWork(ts, 2, rows, &work), "none negative");
  TEST_REFUSED("no processes", TSUniformizationGetShares(ts, 0, rows, NULL), "positive");
  PetscCall(TSDestroy(&ts));

  return TestEnd(140, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out

    test:
      args: -mat_type hybmgpu -leaves 1

    test:
      suffix: all
      args: -mat_type {{aij vcrs}} -leaves 0

    test:
      suffix: mpi
      nsize: {{2 3 4}}
      args: -mat_type hybmgpu -leaves 1 -cases 3

    test:
      suffix: mpi_all
      nsize: 2
      args: -mat_type {{aij vcrs}} -leaves 0 -cases 2

    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -mat_type {{vcrs hybmgpu}} -mat_vec_type cuda

TEST*/
