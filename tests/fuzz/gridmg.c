/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A fuzzer of PCGRIDMG: small grids with wells before or after the cells, wells of many cells, faults, inactive cells. Applications are "
                     "linear and symmetric, and solves converge.\n\n";

#include "fuzztest.h"

#define CELLS_MOST 200

typedef struct {
  FuzzMatrix A;
  PetscInt   number, n[3], wells, faults, local; /* local: rows of this process */
  PetscBool  before, symmetric, dominant, linear, tame;
  PetscReal  sigma;
  char       options[400];
} Problem;

static PetscInt converged, diverged;

static PetscErrorCode Describe(const Problem *p)
{
  PetscFunctionBegin;
  PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                        "case %" PetscInt_FMT ": grid %" PetscInt_FMT " x %" PetscInt_FMT " x %" PetscInt_FMT ", %" PetscInt_FMT " wells %s, %" PetscInt_FMT
                        " faults, %ssymmetric, row sums %g, %s\n",
                        p->number, p->n[0], p->n[1], p->n[2], p->wells, p->before ? "before" : "after", p->faults, p->symmetric ? "" : "not ", (double)p->sigma,
                        p->options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- A random problem ---- */

static void AddEdge(Fuzz *f, Problem *p, PetscInt i, PetscInt j, PetscReal t)
{
  const PetscInt  n     = p->A.n;
  const PetscReal other = p->symmetric ? t : t * (PetscReal)(1.0 + 0.5 * PetscAbsReal(FuzzReal(f)));

  p->A.a[i * n + j] -= t;
  p->A.a[i * n + i] += t;
  p->A.a[j * n + i] -= other;
  p->A.a[j * n + j] += other;
  p->A.there[i * n + j] = p->A.there[j * n + i] = PETSC_TRUE;
}

static void Fill(Fuzz *f, Problem *p, PetscInt decades, PetscReal unit)
{
  const PetscInt cells = p->n[0] * p->n[1] * p->n[2], n = cells + p->wells, first = p->before ? p->wells : 0, stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
  const PetscInt holes = FuzzOneOf(f, 4) ? 5 : 0;
  PetscBool      hole[CELLS_MOST];

  for (PetscInt c = 0; c < cells; c++) hole[c] = (PetscBool)(holes && FuzzOneOf(f, holes));
  for (PetscInt c = 0; c < cells; c++) {
    const PetscInt at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / p->n[0] / p->n[1]};

    for (int d = 0; d < 3; d++) {
      if (at[d] == p->n[d] - 1 || hole[c] || hole[c + stride[d]]) continue;
      AddEdge(f, p, first + c, first + c + stride[d], (PetscReal)(0.1 + PetscAbsReal(FuzzReal(f))) * FuzzPower(f, decades));
    }
  }
  for (PetscInt w = 0; w < p->wells; w++) {
    const PetscInt row = p->before ? w : cells + w, kind = FuzzInt(f, 4), reach = FuzzInt(f, 12) + 1;

    /* a well of no cell, of a column, of random cells, of all cells */
    for (PetscInt c = 0; c < cells && kind; c++) {
      const PetscBool has = (PetscBool)(kind == 1 ? c % (p->n[0] * p->n[1]) == (7 * w + 1) % (p->n[0] * p->n[1]) : (kind == 2 ? FuzzOneOf(f, reach) : 1));

      if (has && !hole[c]) AddEdge(f, p, first + c, row, (PetscReal)(0.05 + PetscAbsReal(FuzzReal(f))) * FuzzPower(f, decades));
    }
    if (w && FuzzOneOf(f, 3)) AddEdge(f, p, row, row - 1, (PetscReal)0.3);
  }
  for (PetscInt k = 0; k < p->faults; k++) {
    const PetscInt i = FuzzInt(f, cells), j = FuzzInt(f, cells);

    if (i != j && !hole[i] && !hole[j]) AddEdge(f, p, first + i, first + j, (PetscReal)(0.1 + PetscAbsReal(FuzzReal(f))) * FuzzPower(f, decades));
  }
  for (PetscInt i = 0; i < n; i++) {
    p->A.there[i * n + i] = PETSC_TRUE;
    p->A.a[i * n + i] += p->sigma * (PetscReal)(0.5 + 0.5 * PetscAbsReal(FuzzReal(f)));
    if (p->A.a[i * n + i] == (PetscScalar)0.0) p->A.a[i * n + i] = 1.0; /* an inactive cell */
  }
  for (PetscInt k = 0; k < n * n; k++) p->A.a[k] *= unit;
}

/* Whole planes, or whole lines of a single plane; wells with the first or the last cells */
static PetscErrorCode Share(Fuzz *f, Problem *p)
{
  const PetscInt cells = p->n[0] * p->n[1] * p->n[2], layers = p->n[2] > 1 ? p->n[2] : p->n[1];
  PetscInt       left = layers;

  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < size; r++) {
    const PetscInt most = PetscMin(left, 2 * layers / size + 1), take = FuzzInt(f, most + 1), layer = r == size - 1 ? left : take;

    if (r == rank) p->local = layer * (cells / layers);
    left -= layer;
  }
  if (rank == (p->before ? 0 : size - 1)) p->local += p->wells;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateProblem(Fuzz *f, Problem *p)
{
  static const char *const cycles[] = {"w", "w", "v", "k"}, *const smoothers[] = {"auto", "redblack"};
  static const char *const coarsens[] = {"auto", "semi", "two", "full"};
  const PetscInt           decades = FuzzOneOf(f, 2) ? 0 : FuzzInt(f, 5), bits = FuzzInt(f, 3);
  const PetscReal          unit = FuzzOneOf(f, 4) ? PetscPowReal((PetscReal)2.0, (PetscReal)(FuzzInt(f, 2 * FUZZ_FAR) - FUZZ_FAR)) : (PetscReal)1.0;
  PetscInt                 n, cycle;

  PetscFunctionBegin;
  do {
    for (int d = 0; d < 3; d++) p->n[d] = FuzzOneOf(f, 3) ? 1 + FuzzInt(f, 2) : 1 + FuzzInt(f, 9);
  } while (p->n[0] * p->n[1] * p->n[2] > CELLS_MOST);
  n            = p->n[0] * p->n[1] * p->n[2];
  p->wells     = FuzzOneOf(f, 4) ? 0 : 1 + FuzzInt(f, 5);
  p->before    = (PetscBool)(FuzzOneOf(f, 2) && n > 20); /* the entries of few cells do not show where wells are */
  p->faults    = FuzzOneOf(f, 2) ? 0 : FuzzInt(f, n / 16 + 1);
  p->symmetric = (PetscBool)!FuzzOneOf(f, 4);
  cycle        = FuzzInt(f, p->symmetric ? 4 : 3); /* k is for symmetric matrices */
  p->sigma     = FuzzOneOf(f, 4) ? (PetscReal)1e-4 : (PetscReal)0.1;
  p->linear    = (PetscBool)(cycle != 3);
  p->tame      = (PetscBool)(decades < 3 && p->sigma > (PetscReal)0.01);
  p->A.m = p->A.n = n + p->wells;
  PetscCall(PetscCalloc2(p->A.n * p->A.n, &p->A.a, p->A.n * p->A.n, &p->A.there));
  Fill(f, p, decades, unit);
  PetscCall(Share(f, p));
  PetscCall(PetscSNPrintf(p->options, sizeof(p->options),
                          "-pc_type gridmg -pc_gridmg_grid %d,%d,%d -pc_gridmg_interpolation aggregation -pc_gridmg_cycle %s -pc_gridmg_smoother %s "
                          "-pc_gridmg_coarsen %s -pc_gridmg_bits %d -pc_gridmg_coarse_size %d -pc_gridmg_precision %s -pc_gridmg_smooths %d",
                          (int)p->n[0], (int)p->n[1], (int)p->n[2], cycles[cycle], smoothers[FuzzInt(f, 2)], coarsens[FuzzInt(f, 4)],
                          bits == 0 ? 8 : (bits == 1 ? 16 : 32), (int)(1 + FuzzInt(f, 40)), FuzzOneOf(f, 3) ? "double" : "single", (int)(1 + FuzzInt(f, 2))));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSolver(const Problem *p, Mat A, KSP *ksp)
{
  PetscOptions database;

  PetscFunctionBegin;
  PetscCall(PetscOptionsCreate(&database));
  PetscCall(PetscOptionsInsertString(database, p->options));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, p->symmetric ? (p->linear ? KSPCG : KSPFCG) : KSPBCGSM));
  if (p->symmetric) PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  else PetscCall(KSPSetPCSide(*ksp, PC_RIGHT));
  PetscCall(KSPSetTolerances(*ksp, PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-4 : (PetscReal)1e-8, 0.0, (PetscReal)1e8, 300));
  PetscCall(PetscOptionsPush(database));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscCall(KSPSetUp(*ksp));
  PetscCall(PetscOptionsPop());
  PetscCall(PetscOptionsDestroy(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- Checks ---- */

/* Real numbers, which are one system also in complex arithmetic */
static PetscErrorCode SetRandom(Fuzz *f, const Problem *p, Vec v)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(v, &begin, &end));
  PetscCall(VecGetArrayWrite(v, &a));
  for (PetscInt i = 0; i < p->A.n; i++) {
    const PetscReal value = FuzzReal(f);

    if (i >= begin && i < end) a[i - begin] = value;
  }
  PetscCall(VecRestoreArrayWrite(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckApplication(Fuzz *f, const Problem *p, PC pc, Mat A)
{
  const PetscReal tiny = strstr(p->options, "double") && !PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-10 : (PetscReal)2e-4;
  PetscScalar     dot[2];
  PetscReal       norm[3];
  Vec             x[2], y[3];

  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateVecs(A, &x[k], &y[k]));
    PetscCall(SetRandom(f, p, x[k]));
    PetscCall(PCApply(pc, x[k], y[k]));
    PetscCall(VecNorm(y[k], NORM_INFINITY, &norm[k]));
    if (WRONG(PetscIsInfOrNanReal(norm[k]))) REPORT("a NaN");
  }
  PetscCall(VecDuplicate(y[0], &y[2]));
  if (p->linear && p->tame) {
    /* M (x + y) = M x + M y */
    if (p->symmetric) {
      PetscCall(VecDot(y[0], x[1], &dot[0]));
      PetscCall(VecDot(x[0], y[1], &dot[1]));
      if (WRONG(!(PetscAbsScalar(dot[0] - dot[1]) <= tiny * (PetscReal)p->A.n * PetscMax(norm[0], norm[1]))))
        REPORT("not symmetric: %g and %g", (double)PetscRealPart(dot[0]), (double)PetscRealPart(dot[1]));
      PetscCall(VecDot(y[0], x[0], &dot[0]));
      if (WRONG(!(PetscRealPart(dot[0]) > 0.0))) REPORT("not positive: %g", (double)PetscRealPart(dot[0]));
    }
    PetscCall(VecAXPY(x[0], 1.0, x[1]));
    PetscCall(PCApply(pc, x[0], y[2]));
    PetscCall(VecAXPBYPCZ(y[2], -1.0, -1.0, 1.0, y[0], y[1]));
    PetscCall(VecNorm(y[2], NORM_INFINITY, &norm[2]));
    if (WRONG(!(norm[2] <= tiny * (norm[0] + norm[1])))) REPORT("not linear: %g of %g", (double)norm[2], (double)(norm[0] + norm[1]));
  }
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&x[k]));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&y[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CheckSolve(Fuzz *f, const Problem *p, KSP ksp, Mat A)
{
  PetscReal          norm, first, rtol, size, largest = 0.0;
  PetscInt           its;
  KSPConvergedReason reason;
  Vec                x, b, r;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(SetRandom(f, p, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  PetscCall(KSPGetTolerances(ksp, &rtol, NULL, NULL, NULL));
  if (reason > 0) {
    converged++;
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1.0, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    PetscCall(VecNorm(b, NORM_2, &first));
    PetscCall(VecNorm(x, NORM_INFINITY, &size));
    for (PetscInt k = 0; k < p->A.n * p->A.n; k++) largest = PetscMax(largest, PetscAbsScalar(p->A.a[k]));
    if (WRONG(!(norm <= 10 * rtol * first + 1e3 * PETSC_MACHINE_EPSILON * largest * size * (PetscReal)p->A.n)))
      REPORT("reason %s with a residual of %g", KSPConvergedReasons[reason], (double)(norm / first));
  } else {
    diverged++;
    if (WRONG(p->tame)) REPORT("reason %s after %" PetscInt_FMT " iterations", KSPConvergedReasons[reason], its);
  }
  if (WRONG(p->tame && its > 120)) REPORT("%" PetscInt_FMT " iterations", its);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Case(Fuzz *f, PetscInt number, PetscBool shown)
{
  Problem *p;
  Mat      A;
  KSP      ksp;
  PC       pc;

  PetscFunctionBegin;
  PetscCall(PetscNew(&p));
  p->number = number;
  PetscCall(CreateProblem(f, p));
  if (shown) PetscCall(Describe(p));
  PetscCall(FuzzMatrixMat(&p->A, PETSC_COMM_WORLD, MATAIJ, p->local, p->local, &A));
  if (p->symmetric) PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(CreateSolver(p, A, &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(CheckApplication(f, p, pc, A));
  PetscCall(CheckSolve(f, p, ksp, A));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(FuzzMatrixDestroy(&p->A));
  PetscCall(PetscFree(p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(FuzzRun(150, Case));
  PetscCall(FuzzCounts("%" PetscInt_FMT " solves converged, %" PetscInt_FMT " diverged\n", converged, diverged));
  return TestEnd(500, "linear, symmetric and convergent: all is right\n");
}

/*TEST

  testset:
    output_file: output/gridmg_1.out

    test:

    test:
      suffix: 2
      nsize: 2
      args: -seed 2 -cases 25 -test_least 80

TEST*/
