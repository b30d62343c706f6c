/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG: coarse operators against MatPtAP(), changes by codes, M-matrices, and kappa(A~^-1 A) <= (1+d)^2.\n\n";

#include "gridmgtest.h"
#include <lithe/private/gridmg/levels.h>

/* The smallest sizes with levels of every shape are in TestSizes() */
static const GridProblem problems[] = {{.name = "random", .n = {9, 8, 7}, .sigma = 1},
                                       {.name = "decades", .n = {9, 8, 7}, .faces = FACES_DECADES, .sigma = 1e-3},
                                       {.name = "Neumann", .n = {6, 9, 5}},
                                       {.name = "in the plane", .n = {9, 14, 1}, .sigma = 1},
                                       {.name = "in another plane", .n = {1, 9, 14}, .sigma = 1},
                                       {.name = "holes", .n = {9, 8, 7}, .sigma = 1, .holes = 4},
                                       {.name = "large row sums", .n = {9, 8, 7}, .sigma = 1000},
                                       {.name = "wells after", .n = {9, 8, 7}, .sigma = 1, .after = 3},
                                       {.name = "wells before", .n = {9, 8, 7}, .sigma = 1, .before = 2, .holes = 5},
                                       {.name = "wells on both sides", .n = {9, 8, 1}, .after = 4},
                                       {.name = "faults", .n = {9, 8, 7}, .sigma = 1, .faults = 9},
                                       {.name = "faults and wells", .n = {9, 8, 7}, .sigma = 100, .faults = 9, .after = 2, .holes = 6},
                                       {.name = "wind", .n = {9, 8, 7}, .sigma = 1, .wind = 5},
                                       {.name = "wind, wells and holes", .n = {9, 8, 7}, .sigma = 10, .wind = 5, .after = 3, .holes = 5, .faults = 5}};

/* The largest difference between off-diagonal entries of two matrices, relative to the entry, and between their row
   sums, relative to row sum or diagonal */
static PetscErrorCode Compare(Mat A, Mat B, PetscReal small, PetscReal *entries, PetscReal *sums)
{
  PetscInt n;

  PetscFunctionBeginUser;
  *entries = *sums = 0.0;
  PetscCall(MatGetSize(A, &n, NULL));
  for (PetscInt i = 0; i < n; i++) {
    PetscReal sum[2] = {0.0, 0.0}, diagonal = 0.0;

    for (PetscInt j = 0; j < n; j++) {
      PetscScalar a, b;
      PetscReal   ra, rb;

      PetscCall(MatGetValue(A, i, j, &a));
      PetscCall(MatGetValue(B, i, j, &b));
      ra = PetscRealPart(a);
      rb = PetscRealPart(b);
      sum[0] += ra;
      sum[1] += rb;
      if (i == j) diagonal = PetscMax(PetscAbsReal(ra), PetscAbsReal(rb));
      else if (ra != rb) *entries = PetscMax(*entries, ra * rb > 0 ? PetscMax(ra / rb, rb / ra) - 1 : PETSC_MAX_REAL);
    }
    if (PetscAbsReal(sum[0] - sum[1]) > small * diagonal)
      *sums = PetscMax(*sums, PetscAbsReal(sum[0] - sum[1]) / PetscMax(PetscAbsReal(sum[0]), PetscAbsReal(sum[1])));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix with rows in the order of vertices: cells, then wells */
static PetscErrorCode InOrder(const GridProblem *p, Mat A, Mat *B)
{
  const PetscInt n = GridRows(p), cells = GridCells(p);
  PetscInt      *row;
  IS             is;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &row));
  for (PetscInt i = 0; i < n; i++) row[i] = i < cells ? p->before + i : (i - cells < p->before ? i - cells : i);
  PetscCall(ISCreateGeneral(PETSC_COMM_SELF, n, row, PETSC_OWN_POINTER, &is));
  PetscCall(MatCreateSubMatrix(A, is, is, MAT_INITIAL_MATRIX, B));
  PetscCall(ISDestroy(&is));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the operators of all levels with P^T A P, without loss */
static PetscErrorCode TestProducts_(const GridProblem *p, const char options[])
{
  const PetscReal small = 1e3 * PETSC_MACHINE_EPSILON, tolerance = 1e-6;
  char            all[512];
  PetscInt        levels;
  PetscReal       entries, sums;
  Mat             A, ordered, fine, *interpolation, *coarse;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_bits 32 -@pc_gridmg_precision double -@pc_gridmg_coarse_size %d %s", (int)(2 + p->before + p->after),
                          options));
  PetscCall(CreateGridMatrix(p, 0, &A));
  PetscCall(CreateGridPC(p, A, all, &pc));
  PetscCall(InOrder(p, A, &ordered));
  PetscCall(PCGridMGGetOperator_Private(pc, 0, &fine));
  PetscCall(Compare(ordered, fine, small, &entries, &sums));
  if (WRONG(!(entries <= tolerance && sums <= tolerance)))
    FAIL("%s, %s: the finest operator is not the matrix: entries %g, row sums %g", p->name, options, (double)entries, (double)sums);

  PetscCall(PCGetInterpolations(pc, &levels, &interpolation));
  PetscCall(PCGetCoarseOperators(pc, &levels, &coarse));
  if (WRONG(levels < 2 && GridCells(p) > 2)) FAIL("%s, %s: only %d levels", p->name, options, (int)levels);
  for (PetscInt k = levels - 2; k >= 0; k--) {
    Mat product;

    PetscCall(MatPtAP(fine, interpolation[k], MAT_INITIAL_MATRIX, 2.0, &product));
    PetscCall(Compare(product, coarse[k], small, &entries, &sums));
    if (WRONG(!(entries <= tolerance && sums <= tolerance)))
      FAIL("%s, %s: level %d of %d is not P^T A P: entries %g, row sums %g", p->name, options, (int)(levels - 1 - k), (int)levels, (double)entries,
           (double)sums);
    PetscCall(MatDestroy(&product));
    PetscCall(MatDestroy(&fine));
    PetscCall(MatDestroy(&interpolation[k]));
    fine = coarse[k];
  }
  PetscCall(MatDestroy(&fine));
  PetscCall(PetscFree(interpolation));
  PetscCall(PetscFree(coarse));
  PetscCall(MatDestroy(&ordered));
  PetscCall(MatDestroy(&A));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSizes(void)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 60; k++) {
    GridProblem p = {.name = "sizes", .sigma = 1, .holes = k % 3 == 2 ? 5 : 0, .after = k % 4 == 3 ? 2 : 0, .wind = k % 5 == 4 ? 3 : 0};
    char        name[64];

    for (int d = 0; d < 3; d++) p.n[d] = 1 + (PetscInt)(9 * TestRandom((uint64_t)k, (uint64_t)d, 11));
    for (int d = 0; d < 3; d++) p.strength[d] = PetscPowReal(10.0, (PetscReal)(2 * TestRandom((uint64_t)k, (uint64_t)d, 12)));
    PetscCall(PetscSNPrintf(name, sizeof(name), "%d x %d x %d (%d)", (int)p.n[0], (int)p.n[1], (int)p.n[2], (int)k));
    p.name = name;
    PetscCall(TestProducts_(&p, k % 2 ? "-@pc_gridmg_coarsen semi" : (k % 4 ? "-@pc_gridmg_coarsen full" : "-@pc_gridmg_coarsen two")));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 8 and 16 bits: entries within the bound, unchanged row sums, symmetry, signs, and condition numbers */
static PetscErrorCode TestCodes(const GridProblem *p, PetscInt bits)
{
  /* a code may change a face by half a step of the logarithm; problems span at most ten decades, and sums on coarse
     levels little more */
  const PetscReal d = bits == 8 ? PetscExpReal((PetscReal)(0.5 * 26.0 / 254.0)) - 1 : (PetscReal)3e-4, small = 3e-7;
  char            all[512];
  PetscReal       kappa = 0, least, most, entries, sums, largest = 0;
  PetscBool       definite;
  PetscInt        levels;
  Mat             A, *operators;
  PC              exact, pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_bits %d -@pc_gridmg_coarse_size 20", (int)bits));
  PetscCall(CreateGridPC(p, A, all, &pc));
  PetscCall(CreateGridPC(p, A, "-@pc_gridmg_bits 32 -@pc_gridmg_precision double -@pc_gridmg_coarse_size 20", &exact));
  PetscCall(PCGetCoarseOperators(pc, &levels, &operators));
  for (PetscInt k = 0; k < levels; k++) {
    Mat       rounded, plain;
    PetscBool symmetric;

    PetscCall(PCGridMGGetOperator_Private(pc, k, &rounded));
    PetscCall(PCGridMGGetOperator_Private(exact, k, &plain));
    PetscCall(Compare(plain, rounded, small, &entries, &sums));
    largest = PetscMax(largest, entries);
    if (WRONG(!(entries <= d && sums <= 1e-5)))
      FAIL("%s, %d bits, level %d: entries change by %g, row sums by %g", p->name, (int)bits, (int)k, (double)entries, (double)sums);
    PetscCall(MatIsSymmetric(rounded, 0.0, &symmetric));
    if (WRONG(symmetric == (PetscBool)(p->wind > 0))) FAIL("%s, %d bits, level %d: symmetry", p->name, (int)bits, (int)k);
    if (p->sigma == 1 && p->wind == 0 && !p->holes) {
      PetscCall(TestEigenvalues(plain, rounded, &least, &most, &definite));
      kappa = most / least;
      if (WRONG(!(definite && kappa <= PetscSqr(1 + d)))) FAIL("%s, %d bits, level %d: kappa %g, d = %g", p->name, (int)bits, (int)k, (double)kappa, (double)d);
    }
    PetscCall(MatDestroy(&rounded));
    PetscCall(MatDestroy(&plain));
  }
  if (WRONG(bits == 8 && p->faces == FACES_DECADES && largest < d / 8))
    FAIL("%s: entries change by %g at most, less than 8 bits can do", p->name, (double)largest);
  for (PetscInt k = 0; k < levels - 1; k++) PetscCall(MatDestroy(&operators[k]));
  PetscCall(PetscFree(operators));
  PetscCall(PCDestroy(&pc));
  PetscCall(PCDestroy(&exact));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    PetscCall(TestProducts_(&problems[k], "-@pc_gridmg_coarsen semi"));
    PetscCall(TestProducts_(&problems[k], "-@pc_gridmg_coarsen two"));
    PetscCall(TestProducts_(&problems[k], "-@pc_gridmg_coarsen full"));
    PetscCall(TestCodes(&problems[k], 8));
    PetscCall(TestCodes(&problems[k], 16));
  }
  PetscCall(TestSizes());
  return TestEnd(700, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
