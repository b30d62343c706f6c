/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "TSUNIFORMIZATION: states of negligible probability are left out, and the bound includes the error.\n\n";

/*
   -cases N uses the first N cases; times are multiples of -unit. The chain wanders through STATES states, one or three
   up and one down. The solver leaves out the states behind the chain, and states which the chain has hardly reached.
*/

#include <tests/uniformization/tstest.h>

#define STATES 700
#define TIMES  3

static const double up = 2, leap = 0.25, down = 1, alpha = 3.25;

typedef struct {
  double time[TIMES + 1]; /* 0, then the times of the requested solutions */
  Long   p[STATES], exact[TIMES + 1][STATES], reward[TIMES + 1];
  Long   norm;
} Case;

static Long RewardOf(PetscInt i)
{
  return i % 5 - 1;
}

/* The targets of the rates of a state, without targets beyond the end */
static PetscInt RatesOf(PetscInt state, PetscInt to[3], double rate[3])
{
  PetscInt n = 0;

  if (state > 0) {
    to[n]     = state - 1;
    rate[n++] = down;
  }
  if (state + 1 < STATES) {
    to[n]     = state + 1;
    rate[n++] = up;
  }
  if (state + 3 < STATES) {
    to[n]     = state + 3;
    rate[n++] = leap;
  }
  return n;
}

static PetscErrorCode CreateMatrix(Mat *A)
{
  PetscInt begin, end, to[3];
  double   rate[3];

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, STATES, STATES));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt from = begin; from < end; from++) {
    const PetscInt n   = RatesOf(from, to, rate);
    double         sum = 0;

    for (PetscInt k = 0; k < n; k++) {
      PetscCall(MatSetValue(*A, to[k], from, (PetscScalar)rate[k], INSERT_VALUES));
      sum += rate[k];
    }
    PetscCall(MatSetValue(*A, from, from, (PetscScalar)-sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The complete series in long double: solutions, and the rewards up to each time */
static void MakeExact(Case *c)
{
  static Long v[STATES], w[STATES];
  Long        weight[TIMES + 1], rest[TIMES + 1];
  PetscInt    to[3];
  double      rate[3];

  memset(c->exact, 0, sizeof(c->exact));
  memset(c->reward, 0, sizeof(c->reward));
  memcpy(v, c->p, sizeof(v));
  c->norm = 0;
  for (PetscInt i = 0; i < STATES; i++) c->norm += fabsl(v[i]);
  for (int j = 0; j <= TIMES; j++) {
    weight[j] = expl(-(Long)alpha * (Long)c->time[j]);
    rest[j]   = 1;
  }
  for (PetscInt k = 0; k < 2000; k++) {
    Long dot = 0;

    for (PetscInt i = 0; i < STATES; i++) dot += RewardOf(i) * v[i];
    for (int j = 0; j <= TIMES; j++) {
      for (PetscInt i = 0; i < STATES; i++) c->exact[j][i] += weight[j] * v[i];
      rest[j] -= weight[j];
      c->reward[j] += rest[j] / (Long)alpha * dot;
      weight[j] *= (Long)alpha * (Long)c->time[j] / (Long)(k + 1);
    }
    for (PetscInt i = 0; i < STATES; i++) w[i] = v[i];
    for (PetscInt i = 0; i < STATES; i++) {
      const PetscInt n = RatesOf(i, to, rate);

      for (PetscInt l = 0; l < n; l++) {
        w[to[l]] += (Long)rate[l] / (Long)alpha * v[i];
        w[i] -= (Long)rate[l] / (Long)alpha * v[i];
      }
    }
    memcpy(v, w, sizeof(v));
  }
}

/* The monitor's observations */
typedef struct {
  const Case *c;
  const char *what;
  PetscReal   part, eps;
  PetscInt    seen;
} Seen;

static PetscErrorCode Monitor(TS ts, PetscInt step, PetscReal time, Vec x, void *ctx)
{
  Seen                *s = (Seen *)ctx;
  TSUniformizationInfo info;
  double               error = 0, mass = 0, begin = 0;
  Long                 lost, bound;
  PetscReal            until = 0;

  PetscFunctionBeginUser;
  if (step <= 0 || s->seen == TIMES) PetscFunctionReturn(PETSC_SUCCESS);
  s->seen++;
  PetscCall(ChainError(x, s->c->exact[s->seen], &error, &mass));
  PetscCall(TSUniformizationGetInfo(ts, &info));
  for (PetscInt i = 0; i < STATES; i++) begin += (double)s->c->p[i];
  bound = (Long)info.bound * s->c->norm;
  lost  = (Long)begin - (Long)mass;
  if (WRONG(!((Long)error <= bound))) FAIL("%s, time %g: the error is %g, the bound %g", s->what, (double)time, error, (double)bound);
  if (WRONG(!(fabsl(lost) <= bound))) FAIL("%s, time %g: the mass changed by %g, the bound is %g", s->what, (double)time, (double)lost, (double)bound);
  if (WRONG(!(info.truncation + info.steady + info.negligible <= s->eps)))
    FAIL("%s, time %g: weights, steady state and states left out take %g of %g", s->what, (double)time,
         (double)(info.truncation + info.steady + info.negligible), (double)s->eps);
  /* Each time has its share of the negligible mass. A later pass also gets the unused shares of earlier times */
  if (WRONG(info.passes == 1 && !(info.negligible <= s->part * s->eps * time / (PetscReal)s->c->time[TIMES] * (PetscReal)1.0001)))
    FAIL("%s, time %g: states left out take %g", s->what, (double)time, (double)info.negligible);
  PetscCall(TSUniformizationGetReward(ts, &until, NULL));
  if (WRONG(!(fabsl((Long)until - s->c->reward[s->seen]) <= 3 * (Long)time * bound)))
    FAIL("%s, time %g: the reward is %.12g, the exact one %.12g", s->what, (double)time, (double)until, (double)s->c->reward[s->seen]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solve; the info of its last distribution, the first nonzero row, and the lost mass */
static PetscErrorCode Solve(const Case *c, Mat A, const char options[], PetscBool all, TSUniformizationInfo *info, PetscInt *first, Long *lost)
{
  Seen               seen = {c, options, 0, 0, 0};
  PetscReal          span[TIMES + 1];
  PetscInt           begin, end;
  const PetscScalar *xx;
  TS                 ts;
  Vec                x, r;
  double             sum = 0;

  PetscFunctionBeginUser;
  PetscCall(ChainTS(A, options, &ts));
  PetscCall(TSUniformizationGetInfo(ts, info));
  seen.part = info->part;
  seen.eps  = info->epsilon;
  PetscCall(MatCreateVecs(A, &x, &r));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscCall(VecSetValue(x, i, (PetscScalar)c->p[i], INSERT_VALUES));
    PetscCall(VecSetValue(r, i, (PetscScalar)RewardOf(i), INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyBegin(r));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(VecAssemblyEnd(r));
  for (int j = 0; j <= TIMES; j++) span[j] = (PetscReal)c->time[j];
  if (all) PetscCall(TSSetTimeSpan(ts, TIMES + 1, span));
  else {
    PetscCall(TSSetMaxTime(ts, span[TIMES]));
    seen.seen = TIMES - 1;
  }
  PetscCall(TSUniformizationSetReward(ts, r));
  PetscCall(TSMonitorSet(ts, Monitor, &seen, NULL));
  PetscCall(TSSolve(ts, x));
  if (WRONG(seen.seen != TIMES)) FAIL("%s: %" PetscInt_FMT " times of %d", options, seen.seen, TIMES);
  PetscCall(TSUniformizationGetInfo(ts, info));
  *first = STATES;
  *lost  = 0;
  PetscCall(VecGetArrayRead(x, &xx));
  for (PetscInt i = end - 1; i >= begin; i--) {
    if (xx[i - begin] != 0.0) *first = i;
    sum += (double)PetscRealPart(xx[i - begin]);
  }
  PetscCall(VecRestoreArrayRead(x, &xx));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, first, 1, MPIU_INT, MPI_MIN, PETSC_COMM_WORLD));
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, PETSC_COMM_WORLD));
  for (PetscInt i = 0; i < STATES; i++) *lost += c->p[i];
  *lost -= (Long)sum;
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The chain from one state, with rows left out and without. often: the ends are checked often enough that a larger
   negligible mass leaves out more rows. With few rows, a device checks once in 128 products, about as many as an
   interval has. Weights with a smaller allowance need more products
*/
static PetscErrorCode CheckWander(const Case *c, Mat A, const char options[], PetscBool skips, PetscBool often)
{
  static const char *const part[] = {"0", "0.1", "0.9"};
  TSUniformizationInfo     info[3];
  PetscInt                 first[3];
  Long                     lost[3];
  char                     all[256];

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    PetscCall(PetscSNPrintf(all, sizeof(all), "-ts_type uniformization -ts_uniformization_negligible %s %s", part[k], options));
    PetscCall(Solve(c, A, all, PETSC_TRUE, &info[k], &first[k], &lost[k]));
    PetscCall(Solve(c, A, all, PETSC_FALSE, &info[k], &first[k], &lost[k]));
    if (k && skips) {
      if (WRONG(!(info[k].rows < (PetscReal)0.75 * info[0].rows) || (often && k == 2 && info[2].rows > info[1].rows)))
        FAIL("%s: %g of the rows took part, of which %g were to", all, (double)info[k].rows, (double)info[0].rows);
      if (WRONG(first[k] <= first[0])) FAIL("%s: the first rows were not left out", all);
      /* All lost mass was left out. Only part of the mass left out at a product is lost: the part of the weights after
         this product, in proportion to the products. With a late check the lost part is 0.44 at 39 jumps, about the
         length of an interval, and larger with more jumps */
      if (WRONG(!(lost[k] <= (Long)info[k].negligible + (Long)info[k].rounding && lost[k] + (Long)info[k].rounding >= 0.4L * (Long)info[k].negligible)))
        FAIL("%s: a mass of %g was lost, %g was left out", all, (double)lost[k], (double)info[k].negligible);
    } else if (WRONG(info[k].negligible != 0 || info[k].rows < (PetscReal)0.95 * info[0].rows)) FAIL("%s: rows were left out", all);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solution between two times uses all rows */
static PetscErrorCode CheckStep(const Case *c, Mat A)
{
  TS       ts;
  Vec      x, y;
  double   error = 0;
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(ChainTS(A, "-ts_type uniformization -ts_uniformization_eps 1e-4 -ts_uniformization_negligible 0.8", &ts));
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) PetscCall(VecSetValue(x, i, (PetscScalar)c->p[i], INSERT_VALUES));
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(TSSetSolution(ts, x));
  PetscCall(TSSetTimeStep(ts, (PetscReal)c->time[2]));
  PetscCall(TSSetMaxTime(ts, (PetscReal)c->time[2]));
  PetscCall(TSStep(ts));
  PetscCall(ChainError(x, c->exact[2], &error, NULL));
  if (WRONG(!(error <= 1e-4))) FAIL("a step: the error is %g", error);
  PetscCall(TSInterpolate(ts, (PetscReal)c->time[1], y));
  PetscCall(ChainError(y, c->exact[1], &error, NULL));
  if (WRONG(!(error <= 1e-4))) FAIL("interpolation: the error is %g", error);
  PetscCall(TSDestroy(&ts));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const cases[] = {"-ts_uniformization_eps 1e-5", "-ts_uniformization_eps 1e-2",
                                      "-ts_uniformization_method intervals -ts_uniformization_theta 40 -ts_uniformization_eps 1e-3",
                                      "-ts_uniformization_steady_state -ts_uniformization_eps 1e-4",
                                      "-ts_uniformization_open_outputs 1 -ts_uniformization_eps 1e-9"};
  static Case              c       = {.time = {0, 40, 64, 96}};
  PetscInt                 ncases  = PETSC_STATIC_ARRAY_LENGTH(cases), first;
  TSUniformizationInfo     info;
  PetscReal                unit = 1;
  PetscErrorCode (*step)(void);
  PetscBool skips;
  VecType   type;
  char     *device;
  Mat       A;
  Long      lost;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &ncases, NULL));
  PetscCall(PetscOptionsGetReal(NULL, NULL, "-unit", &unit, NULL));
  for (int j = 0; j <= TIMES; j++) c.time[j] *= (double)unit;
  PetscCall(CreateMatrix(&A));
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatStep_C", &step));
  skips = (PetscBool) !!step;
  PetscCall(MatGetVecType(A, &type));
  PetscCall(PetscStrstr(type, "cuda", &device));

  c.p[300] = 1;
  MakeExact(&c);
  for (PetscInt k = 0; k < ncases; k++) PetscCall(CheckWander(&c, A, cases[k], skips, (PetscBool)!device));
  PetscCall(CheckStep(&c, A));

  /* A vector which is no distribution: little mass at both ends, both signs. Rows in the middle are not checked */
  for (PetscInt i = 0; i < STATES; i++) c.p[i] = (i < 50 || i >= 600 ? 1e-9L : 0) + (i == 120 ? 1 : 0) - (i == 460 ? 2 : 0);
  MakeExact(&c);
  PetscCall(Solve(&c, A, "-ts_type uniformization -ts_uniformization_eps 1e-5", PETSC_TRUE, &info, &first, &lost));
  if (WRONG(skips && !(info.negligible > 0))) FAIL("nothing was left out of a vector with little at its ends");

  /* Nothing can be left out: each state has probability 1 / STATES, and keeps it except near the ends, where
     probability accumulates */
  for (PetscInt i = 0; i < STATES; i++) c.p[i] = (Long)(PetscReal)(1.0 / STATES);
  c.time[1] = 2;
  c.time[2] = 3;
  c.time[3] = 4;
  MakeExact(&c);
  PetscCall(Solve(&c, A, "-ts_type uniformization -ts_uniformization_eps 1e-5", PETSC_TRUE, &info, &first, &lost));
  if (WRONG(info.negligible != 0 || info.rows != 1)) FAIL("rows with %g in them were left out", (double)info.negligible);

  PetscCall(MatDestroy(&A));
  return TestEnd(81, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out

    test:
      args: -mat_type {{aij vcrs hybmgpu}}

    test:
      suffix: mpi
      nsize: {{2 3 4}}
      args: -mat_type {{vcrs hybmgpu}} -cases 1 -unit 0.25

    test:
      suffix: cuda
      requires: cuda
      args: -mat_type {{aijcusparse vcrs hybmgpu}} -mat_vec_type cuda

    test:
      suffix: cuda_mpi
      requires: cuda
      nsize: 2
      args: -mat_type {{vcrs hybmgpu}} -mat_vec_type cuda -cases 3

    # the exchange in a stream of its own
    test:
      suffix: cuda_aside
      requires: cuda
      nsize: {{2 3}}
      args: -mat_type hybmgpu -mat_hybmgpu_format {{hyb sell csr}} -mat_hybmgpu_transport ipc -lithe_halo_overlap 0 -mat_vec_type cuda -cases 2

    test:
      suffix: cuda_aside_vcrs
      requires: cuda
      nsize: 2
      args: -mat_type vcrs -mat_vcrs_transport ipc -lithe_halo_overlap 0 -mat_vec_type cuda -cases 3

TEST*/
