/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Steps of power series, y = x + scale A x with sums, against products of AIJ; unions of the index sets of neighbouring rows.\n\n";

/* -type: the type of the matrix. -vec_type: the type of vectors. -rows: size of the matrix of rates, large enough for
   several rows per thread */

#include <tests/vcrs/vcrstest.h>
#include <lithe.h>
#include <lithe/private/lithestep.h>
#include <lithe/private/vcrs/unions.h>

/* ------------------------------------------------------------ steps */

/*
   Rates which repeat every 7 rows, with neighbours a line away, as in chains of queues. Several rows in sequence have
   different sets, mostly the sets of the previous line
*/
#define RATES_LINE 308
static PetscInt rates = 5200;

static void RatesRow(PetscInt i, int round, PetscInt *n, PetscInt cols[], PetscScalar vals[])
{
  const PetscInt r = i % 7, part = i / RATES_LINE / 5 % 3;

  *n = 0;
  TestPut(n, cols, vals, i, (PetscScalar)(-1.0 - (double)r - round));
  if (i >= 7) TestPut(n, cols, vals, i - 7, 20.0);
  if (i >= RATES_LINE && part) TestPut(n, cols, vals, i - RATES_LINE, (PetscScalar)(3.0 + (double)part));
  if (r && i) TestPut(n, cols, vals, i - 1, (PetscScalar)(0.5 * (double)r));
  for (PetscInt k = 6; !r && k < 13; k++) {
    if (i + k < rates) TestPut(n, cols, vals, i + k, 5.0 + round);
  }
}

/* kind -1: the rates */
static PetscErrorCode FillMatrix(Mat A, int kind, int round)
{
  PetscInt    begin, end, n, cols[TEST_LONGEST];
  PetscScalar vals[TEST_LONGEST];

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    if (kind < 0) RatesRow(i, round, &n, cols, vals);
    else TestKindRow((TestKind)kind, i, round, &n, cols, vals);
    PetscCall(MatSetValues(A, 1, &i, n, cols, vals, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateMatrix(int kind, MatType type, Mat *A)
{
  PetscInt m = rates, n = m;

  PetscFunctionBeginUser;
  if (kind >= 0) TestKindSize((TestKind)kind, &m, &n);
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatSetFromOptions(*A));
  PetscCall(MatSetUp(*A));
  PetscCall(FillMatrix(*A, kind, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rows: all other entries are zero, and so are products of the rates in the omitted rows */
static PetscErrorCode FillVector(Vec x, const LitheStepRows *rows, uint64_t seed)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscBool is = (PetscBool)(!rows || (i - 12 >= rows->begin && i + RATES_LINE < rows->end));

    PetscCall(VecSetValue(x, i, is ? TestScalar(seed, (uint64_t)i, 3) : 0, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares x with an expected vector on the host, relative to a scale */
static PetscErrorCode Compare(const char name[], const char what[], PetscInt k, Vec x, Vec expected, PetscReal scale)
{
  const PetscReal    tolerance = 400 * PETSC_MACHINE_EPSILON * scale;
  const PetscScalar *a, *b;
  PetscReal          difference = 0;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &a));
  PetscCall(VecGetArrayRead(expected, &b));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal d = PetscAbsScalar(a[i] - b[i]);

    if (!(d <= difference)) difference = d; /* not a number must show */
  }
  PetscCall(VecRestoreArrayRead(x, &a));
  PetscCall(VecRestoreArrayRead(expected, &b));
  n = !(difference <= tolerance);
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &n, 1, MPIU_INT, MPI_MAX, PETSC_COMM_WORLD));
  if (n) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: %s, %s %" PetscInt_FMT ": off by more than %g\n", name, what, k, (double)tolerance));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A step with nsums sums. Sums with an even number begin, unless only some rows take part. Sums whose number is a
   multiple of 3 take x too */
static PetscErrorCode CheckStep(const char name[], LitheMatStepFn *step, Mat B, Mat A, PetscReal scale, const LitheStepRows *rows, PetscInt nsums)
{
  LitheStepSum sums[LITHE_STEP_SUMS];
  Vec          x, y, hx, hy, hsum;
  PetscReal    norm, size;
  PetscInt     m;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &hx, &hy));
  PetscCall(VecDuplicate(hy, &hsum));
  PetscCall(VecGetLocalSize(hx, &m));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, m, PETSC_DETERMINE));
  PetscCall(VecSetFromOptions(x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(FillVector(x, rows, 1));
  PetscCall(FillVector(hx, rows, 1));
  PetscCall(VecSet(y, rows ? 0 : NAN));
  for (PetscInt k = 0; k < nsums; k++) {
    PetscCall(VecDuplicate(x, &sums[k].sum));
    sums[k].weight = (PetscReal)(0.25 + 0.5 * (double)k);
    sums[k].first  = (PetscBool)(k % 2 == 0 && !rows);
    sums[k].before = k % 3 == 0 ? (PetscReal)0.375 : 0;
    if (sums[k].first) PetscCall(VecSet(sums[k].sum, NAN));
    else PetscCall(FillVector(sums[k].sum, NULL, 10 + (uint64_t)k));
  }
  PetscCall((*step)(B, scale, rows, x, y, nsums, sums));

  PetscCall(MatMult(A, hx, hy));
  PetscCall(VecNorm(hy, NORM_INFINITY, &norm));
  size = 1 + PetscAbsReal(scale) * norm;
  PetscCall(VecAYPX(hy, (PetscScalar)scale, hx));
  PetscCall(Compare(name, "y with sums:", nsums, y, hy, size));
  for (PetscInt k = 0; k < nsums; k++) {
    PetscCall(VecZeroEntries(hsum));
    if (!sums[k].first) PetscCall(FillVector(hsum, NULL, 10 + (uint64_t)k));
    PetscCall(VecAXPY(hsum, (PetscScalar)sums[k].weight, hy));
    PetscCall(VecAXPY(hsum, (PetscScalar)sums[k].before, hx));
    PetscCall(Compare(name, "sum", k, sums[k].sum, hsum, 4 * size));
    PetscCall(VecDestroy(&sums[k].sum));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&hx));
  PetscCall(VecDestroy(&hy));
  PetscCall(VecDestroy(&hsum));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSteps(int kind, MatType type)
{
  LitheMatStepFn *step;
  Mat             A, B;
  char            name[64];

  PetscFunctionBeginUser;
  PetscCall(CreateMatrix(kind, MATAIJ, &A));
  PetscCall(CreateMatrix(kind, type, &B));
  for (int round = 0; round < 2; round++) {
    if (round) {
      PetscCall(FillMatrix(A, kind, round));
      PetscCall(FillMatrix(B, kind, round));
    }
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, round %d", kind < 0 ? "rates" : TestKindNames[kind], round));
    PetscCall(PetscObjectQueryFunction((PetscObject)B, "LitheMatStep_C", &step));
    PetscCheck(step, PETSC_COMM_WORLD, PETSC_ERR_SUP, "Matrix type %s has no step", type);
    for (PetscInt nsums = 0; nsums <= LITHE_STEP_SUMS; nsums++) {
      PetscCall(CheckStep(name, step, B, A, nsums % 2 ? (PetscReal)0.005 : (PetscReal)-1.5, NULL, nsums));
      for (PetscInt part = 0; kind < 0 && part < 3; part++) {
        const LitheStepRows rows = {rates / 3 * part, part == 2 ? rates : rates / 3 * (part + 1)};

        PetscCall(CheckStep(name, step, B, A, (PetscReal)0.005, &rows, nsums));
      }
    }
  }
  /* A conversion removes the function */
  PetscCall(MatConvert(B, MATAIJ, MAT_INPLACE_MATRIX, &B));
  PetscCall(PetscObjectQueryFunction((PetscObject)B, "LitheMatStep_C", &step));
  if (step) {
    failures++;
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: %s: AIJ has the step of another type\n", name));
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ unions */

/* Tables of L0 for rows whose pairs cycle through npairs subsets of the given offsets. Some pairs lack offsets, and
   values differ in some pairs */
static PetscErrorCode MakePlan(PetscInt m, PetscInt npairs, PetscInt nsets, PetscInt length, const PetscInt offset[], VCRSPlan *plan)
{
  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(plan, sizeof(*plan)));
  plan->layout = MATVCRS_LAYOUT_L0;
  plan->m = plan->n  = m;
  plan->sets.idbytes = 2;
  plan->sets.n       = nsets;
  PetscCall(PetscMalloc4(nsets + 1, &plan->sets.ptr, nsets * length, &plan->sets.offset, nsets * length, &plan->sets.value, m, (uint16_t **)&plan->sets.id));
  plan->sets.ptr[0] = 0;
  for (PetscInt p = 0; p < nsets; p++) {
    PetscInt e = plan->sets.ptr[p];

    for (PetscInt k = 0; k < length; k++) {
      if ((p + k) % 3 == 2) continue;
      plan->sets.offset[e]  = npairs < nsets ? offset[k] : offset[k] + 2 * p;
      plan->sets.value[e++] = k % 2 ? (PetscScalar)(1.0 + (double)k) : TestScalar(5, (uint64_t)p, (uint64_t)k);
    }
    plan->sets.ptr[p + 1] = e;
  }
  for (PetscInt i = 0; i < m; i++) {
    const PetscInt id = (i / 512 * npairs + i % npairs) % nsets;

    ((uint16_t *)plan->sets.id)[i] = (uint16_t)id;
    plan->nz += plan->sets.ptr[id + 1] - plan->sets.ptr[id];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The entry of a task's row at an offset according to the header; returns whether the row has this entry */
static PetscBool GetUnionEntry(const VCRSUnions *u, const VCRSUnionTask *t, PetscInt i, PetscInt offset, PetscScalar *value)
{
  const uint32_t q = t->local + (uint32_t)i, has = u->has[q];

  if (offset == 0) *value = u->diagonal[q];
  if (offset == 0) return (PetscBool) !!(has & VCRS_UNION_DIAGONAL);
  if (offset == -u->period) *value = u->before[q];
  if (offset == -u->period) return (PetscBool) !!(has & VCRS_UNION_BEFORE);
  for (uint32_t k = 0; k < t->entry >> 24; k++) {
    const VCRSUnionEntry *e = &u->entry[(t->entry & 0xffffffu) + k];

    if (!(has >> k & 1u) || e->offset != offset) continue;
    *value = e->values < 0 ? e->value : u->value[e->values + i];
    return PETSC_TRUE;
  }
  return PETSC_FALSE;
}

/* A row has exactly the entries of its pair */
static void CheckUnionRow(const VCRSUnions *u, const VCRSUnionTask *t, PetscInt i, const VCRSPlan *plan, PetscInt row)
{
  const PetscInt id      = ((const uint16_t *)plan->sets.id)[row];
  const uint32_t has     = u->has[t->local + (uint32_t)i];
  PetscInt       entries = !!(has & VCRS_UNION_DIAGONAL) + !!(has & VCRS_UNION_BEFORE);

  for (uint32_t k = 0; k < VCRS_UNION_ENTRIES; k++) entries += (PetscInt)(has >> k & 1u);
  if (entries != plan->sets.ptr[id + 1] - plan->sets.ptr[id]) failures++;
  for (PetscInt e = plan->sets.ptr[id]; e < plan->sets.ptr[id + 1]; e++) {
    PetscScalar value = 0;

    if (!GetUnionEntry(u, t, i, plan->sets.offset[e], &value) || value != plan->sets.value[e]) failures++;
  }
}

/* Each row is in exactly one task, in the group of the row. *together counts rows in tasks of several rows */
static PetscErrorCode CheckUnionTasks(const VCRSPlan *plan, const VCRSUnions *u, PetscInt *together)
{
  PetscInt *times;

  PetscFunctionBeginUser;
  *together = 0;
  PetscCall(PetscCalloc1(plan->m, &times));
  for (PetscInt k = 0; k < u->nrest; k++) {
    for (uint32_t i = 0; i < u->rest[k].local; i++) times[u->rest[k].row + i]++;
  }
  if (u->group[0] != 0 || u->group[u->ngroups] != u->ntasks) failures++;
  for (PetscInt g = 0; g < u->ngroups; g++) {
    for (PetscInt k = u->group[g]; k < u->group[g + 1]; k++) {
      const VCRSUnionTask *t = &u->task[k];

      if ((t->entry >> 24) % VCRS_UNION_BATCH || (t->rows != 1 && t->rows != VCRS_UNION_ROWS)) failures++;
      for (PetscInt r = 0; r < (PetscInt)t->rows * VCRS_SLICE; r++) {
        const PetscInt i = r % VCRS_SLICE, row = (PetscInt)t->row + r / VCRS_SLICE * u->period + i;

        if (!(u->has[t->local + (uint32_t)i] & VCRS_UNION_ROW)) continue;
        if (row >= plan->m || row / u->grouprows != g) {
          failures++;
          continue;
        }
        times[row]++;
        *together += t->rows > 1;
        CheckUnionRow(u, t, i, plan, row);
      }
    }
  }
  for (PetscInt i = 0; i < plan->m; i++) failures += times[i] != 1;
  PetscCall(PetscFree(times));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* share: the least fraction of rows in tasks of several rows; negative: unions must be rejected */
static PetscErrorCode CheckUnions(const char name[], const VCRSPlan *plan, double share)
{
  const PetscInt before = failures;
  VCRSUnions     u;
  PetscBool      good;
  PetscInt       together;

  PetscFunctionBeginUser;
  for (PetscInt warps = 0; warps <= plan->m; warps += PetscMax(1, plan->m)) { /* one row per thread if m warps are requested */
    PetscCall(VCRSUnionsCreate(plan, plan->sets.id, warps, &u, &good));
    if (good != (PetscBool)(share >= 0)) failures++;
    if (!good) continue;
    PetscCall(CheckUnionTasks(plan, &u, &together));
    if (warps ? together > 0 : (double)together < share * (double)plan->m) failures++;
    PetscCall(VCRSUnionsDestroy(&u));
  }
  if (failures > before) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL: unions of %s, %" PetscInt_FMT " rows\n", name, plan->m));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several queues of "length" states each. A state's row has the pair of its phase, with 3 phases per queue, and special
   pairs if a queue is empty or full */
static PetscErrorCode CheckQueues(PetscInt queues, PetscInt states, double share)
{
  VCRSPlan plan;
  PetscInt m = 1, nsets = 1;

  PetscFunctionBeginUser;
  for (PetscInt q = 0; q < queues; q++) {
    m *= states;
    nsets *= 5;
  }
  PetscCall(PetscMemzero(&plan, sizeof(plan)));
  plan.layout = MATVCRS_LAYOUT_L0;
  plan.m = plan.n   = m;
  plan.sets.idbytes = 2;
  plan.sets.n       = nsets;
  PetscCall(PetscMalloc4(nsets + 1, &plan.sets.ptr, nsets * (2 * queues + 1), &plan.sets.offset, nsets * (2 * queues + 1), &plan.sets.value, m,
                         (uint16_t **)&plan.sets.id));
  plan.sets.ptr[0] = 0;
  for (PetscInt p = 0; p < nsets; p++) {
    PetscInt e = plan.sets.ptr[p], distance = 1, rest = p;

    for (PetscInt q = 0; q < queues; q++, rest /= 5, distance *= states) {
      const PetscInt kind = rest % 5; /* empty, full, three phases */

      if (kind != 0) {
        plan.sets.offset[e]  = -3 * distance;
        plan.sets.value[e++] = (PetscReal)(1 + q);
      }
      if (kind > 1) {
        plan.sets.offset[e]  = distance;
        plan.sets.value[e++] = (PetscReal)(kind * (q + 2));
      }
    }
    plan.sets.offset[e]  = 0;
    plan.sets.value[e++] = (PetscReal)(-1 - p);
    plan.sets.ptr[p + 1] = e;
  }
  for (PetscInt i = 0; i < m; i++) {
    PetscInt id = 0, rest = i;

    for (PetscInt q = 0, place = 1; q < queues; q++, rest /= states, place *= 5) {
      const PetscInt s = rest % states;

      id += place * (s < 3 ? 0 : s == states - 1 ? 1 : 2 + s % 3);
    }
    ((uint16_t *)plan.sets.id)[i] = (uint16_t)id;
    plan.nz += plan.sets.ptr[id + 1] - plan.sets.ptr[id];
  }
  PetscCall(CheckUnions("queues", &plan, share));
  PetscCall(PetscFree4(plan.sets.ptr, plan.sets.offset, plan.sets.value, plan.sets.id));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckAllUnions(void)
{
  const PetscInt offset[] = {-300, -7, -1, 0, 6, 7, 8, 300, 301};
  const PetscInt n        = (PetscInt)PETSC_STATIC_ARRAY_LENGTH(offset);
  const PetscInt sizes[]  = {31, 32, 3000, 4001};
  VCRSPlan       plan;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sizes); s++) {
    for (PetscInt npairs = 1; npairs <= 7; npairs += 3) {
      PetscCall(MakePlan(sizes[s], npairs, 70, n, offset, &plan));
      PetscCall(CheckUnions("repeating pairs", &plan, 0));
      PetscCall(PetscFree4(plan.sets.ptr, plan.sets.offset, plan.sets.value, plan.sets.id));
    }
  }
  /* Two slices whose rows have more offsets than a union can hold, among many */
  PetscCall(MakePlan(4001, 7, 70, n, offset, &plan));
  for (PetscInt p = 60; p < 70; p++) {
    for (PetscInt e = plan.sets.ptr[p]; e < plan.sets.ptr[p + 1]; e++) plan.sets.offset[e] += 2 * (p - 50);
  }
  for (PetscInt i = 1000; i < 1032; i++) ((uint16_t *)plan.sets.id)[i] = (uint16_t)(60 + i % 10);
  PetscCall(CheckUnions("two slices apart", &plan, 0));
  PetscCall(PetscFree4(plan.sets.ptr, plan.sets.offset, plan.sets.value, plan.sets.id));

  /* Rows with hardly a common offset, and an entry which must not be multiplied */
  PetscCall(MakePlan(3000, 70, 70, n, offset, &plan));
  PetscCall(CheckUnions("pairs apart", &plan, -1));
  PetscCall(PetscFree4(plan.sets.ptr, plan.sets.offset, plan.sets.value, plan.sets.id));
  PetscCall(MakePlan(3000, 7, 70, n, offset, &plan));
  plan.sets.value[3] = (PetscScalar)INFINITY;
  PetscCall(CheckUnions("an infinite entry", &plan, -1));
  PetscCall(PetscFree4(plan.sets.ptr, plan.sets.offset, plan.sets.value, plan.sets.id));

  /* Periods of one, two and three queues, of which only some are whole slices */
  PetscCall(CheckQueues(1, 5000, 0.5));
  PetscCall(CheckQueues(2, 100, 0.7));
  PetscCall(CheckQueues(2, 131, 0.7));
  PetscCall(CheckQueues(3, 32, 0.3));
  PetscCall(CheckQueues(3, 29, 0.3));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const int kinds[]  = {-1, TEST_STAR7, TEST_RESERVOIR, TEST_FEM, TEST_RANDOM, TEST_MANYVALUES, TEST_LONGROWS, TEST_NODIAGONAL, TEST_ZERO, TEST_NONE};
  char             type[64] = MATVCRS;
  PetscBool        all      = PETSC_TRUE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-all", &all, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-rows", &rates, NULL));
  for (size_t k = 0; k < (all ? PETSC_STATIC_ARRAY_LENGTH(kinds) : 1); k++) PetscCall(CheckSteps(kinds[k], type));
  if (!rank) PetscCall(CheckAllUnions());
  return TestReport("all is right\n", 0);
}

/*TEST

  testset:
    output_file: output/right.out

    test:

    test:
      suffix: layouts
      args: -mat_vcrs_layout {{l0 l1 l3}}

    test:
      suffix: drop
      args: -mat_vcrs_drop_aij -all 0

    test:
      suffix: hybmgpu
      args: -type hybmgpu

    test:
      suffix: mpi
      nsize: 2
      args: -type {{vcrs hybmgpu}}

    test:
      suffix: mpi3
      nsize: 3

    test:
      suffix: cuda
      requires: cuda
      args: -vec_type cuda -mat_vcrs_layout {{auto l0 l1 l3}}

    test:
      suffix: cuda_rows
      requires: cuda
      args: -vec_type cuda -mat_vcrs_layout l0 -all 0 -rows 700001

    test:
      suffix: cuda_mpi
      requires: cuda
      nsize: 2
      args: -vec_type cuda -type {{vcrs hybmgpu}}

TEST*/
