/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG: sources of the grid, bad input, new values without new memory, options, null spaces, and the view.\n\n";

#include "gridmgviewtest.h"
#include <tests/options.h>
#include <tests/refused.h>
#include <petscdmda.h>

static const GridProblem box = {.name = "box", .n = {12, 10, 8}, .sigma = 1};

/* ------------------------------------------------------------ grids */

/* Found in the matrix */
static PetscErrorCode TestFound(void)
{
  static const struct {
    GridProblem p;
    const char *text;
  } found[] = {{{.n = {12, 10, 8}, .sigma = 1}, "level 0: 12 x 10 x 8 cells, 8 bits"},
               {{.n = {31, 40, 1}, .sigma = 1}, "level 0: 31 x 40 x 1 cells"},
               {{.n = {700, 1, 1}, .sigma = 1}, "level 0: 700 x 1 x 1 cells"},
               {{.n = {12, 10, 8}, .sigma = 1, .after = 3}, "level 0: 12 x 10 x 8 cells, 3 wells"},
               {{.n = {12, 10, 8}, .sigma = 1, .before = 2}, "level 0: 12 x 10 x 8 cells, 2 wells"},
               {{.n = {12, 10, 8}, .sigma = 1, .faults = 8, .after = 1}, "level 0: 12 x 10 x 8 cells, 1 wells"},
               {{.n = {12, 10, 8}, .sigma = 1, .holes = 4}, "level 0: 12 x 10 x 8 cells"}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(found); k++) {
    Mat A;
    PC  pc;

    PetscCall(CreateGridMatrix(&found[k].p, 0, &A));
    PetscCall(CreatePlainPC(A, &pc));
    PetscCall(PCSetUp(pc));
    VIEW_HAS(pc, found[k].text);
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDA(PetscInt dof, DMBoundaryType boundary, DM *da)
{
  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, boundary, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, box.n[0], box.n[1], box.n[2], 1, 1, 1, dof, 1, NULL,
                         NULL, NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The grid of a DMDA takes precedence over PCGridMGSetGrid() */
static PetscErrorCode TestDM(void)
{
  Mat A, B;
  PC  pc;
  DM  da;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreateDA(1, DM_BOUNDARY_NONE, &da));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetDM(pc, da));
  PetscCall(PCGridMGSetGrid(pc, 10, 12, 8));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "level 0: 12 x 10 x 8 cells");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatSetDM(A, da));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetGrid(pc, 10, 12, 8));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "level 0: 12 x 10 x 8 cells");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));

  PetscCall(CreateDA(1, DM_BOUNDARY_TWIST, &da));
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_SELF, 960, 960, 960, 960, 1.0, &B));
  PetscCall(MatConvert(B, MATAIJ, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatDestroy(&B));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetDM(pc, da));
  TEST_REFUSED("a twisted ring", PCSetUp(pc), "direction y", "periodic with a twist");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));

  PetscCall(CreateDA(2, DM_BOUNDARY_NONE, &da));
  PetscCall(DMCreateMatrix(da, &B));
  PetscCall(MatShift(B, 1.0));
  PetscCall(CreatePlainPC(B, &pc));
  TEST_REFUSED("two fields", PCSetUp(pc), "2 fields", "fieldsplit");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ bad input */

static PetscErrorCode TestNoGrid(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetGrid(pc, 12, 11, 8));
  TEST_REFUSED("more cells than rows", PCSetUp(pc), "12,11,8", "960");
  PetscCall(PCGridMGSetGrid(pc, 10, 12, 8));
  TEST_REFUSED("another grid", PCSetUp(pc), "row ", "column ", "10 x 12 x 8");
  PetscCall(PCGridMGSetGrid(pc, 12, 10, 8));
  PetscCall(PCSetUp(pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateGridless(400, &A));
  PetscCall(CreatePlainPC(A, &pc));
  TEST_REFUSED("no grid", PCSetUp(pc), "-pc_gridmg_grid");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 4, 5, 1, NULL, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CreatePlainPC(A, &pc));
  TEST_REFUSED("not square", PCSetUp(pc), "4 rows", "5 columns");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillGridRound(const void *problem, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(FillGrid((const GridProblem *)problem, round, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEntry(PetscInt i, PetscInt j, PetscScalar value, const char text[])
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(TestBadEntry(A, pc, FillGridRound, &box, i, j, value, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSigns(void)
{
  GridProblem p = box;
  Mat         A;
  PC          pc;
  PetscInt    its;
  PetscReal   residual;

  PetscFunctionBeginUser;
  /* a few entries of the wrong sign are smoothed */
  PetscCall(CreateGridMatrix(&p, 0, &A));
  for (PetscInt i = 100; i < 110; i += 3) {
    PetscCall(MatSetValue(A, i, i + 1, 0.2, INSERT_VALUES));
    PetscCall(MatSetValue(A, i + 1, i, 0.2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(GridIterations(&p, A, KSPCG, "", &its, &residual));
  if (WRONG(its < 0 || its > 16)) FAIL("entries of the wrong sign: %d iterations", (int)its);
  PetscCall(MatDestroy(&A));

  /* many are not */
  PetscCall(CreateGridMatrix(&p, 0, &A));
  for (PetscInt i = 0; i + 120 < GridRows(&p); i++) {
    PetscCall(MatSetValue(A, i, i + 120, 0.2, INSERT_VALUES));
    PetscCall(MatSetValue(A, i + 120, i, 0.2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_AGGREGATION));
  TEST_REFUSED("wrong signs", PCSetUp(pc), "entry (0, 120)", "M-matrices");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOptions(void)
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  TEST_REFUSED("12 bits", PCGridMGSetBits(pc, 12, 8), "-pc_gridmg_bits 12", "8, 16 or 32");
  TEST_REFUSED("7 bits", PCGridMGSetBits(pc, 8, 7), "-pc_gridmg_coarse_bits 7");
  TEST_REFUSED("0 levels", TestSetOptions(pc, "-pc_gridmg_levels 0"), "-pc_gridmg_levels 0");
  TEST_REFUSED("overcorrection 2", TestSetOptions(pc, "-pc_gridmg_overcorrection 2.0"), "-pc_gridmg_overcorrection 2");
  TEST_REFUSED("coarse size 0", TestSetOptions(pc, "-pc_gridmg_coarse_size 0"), "-pc_gridmg_coarse_size 0");
  TEST_REFUSED("no smoothing", TestSetOptions(pc, "-pc_gridmg_smooths 0,0"), "-pc_gridmg_smooths 0,0");
  TEST_REFUSED("half a grid", PCGridMGSetGrid(pc, 12, 0, 8), "-pc_gridmg_grid 12,0,8");
  PetscCall(PCGridMGSetBits(pc, 16, 32));
  PetscCall(PCGridMGSetCycle(pc, PCGRIDMG_CYCLE_K));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_coarsen full"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smoother redblack"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smooths 2,3"));
  PetscCall(PCGridMGSetPrecision(pc, PCGRIDMG_PRECISION_DOUBLE));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_overcorrection 1.25"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_coarse_size 10"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_levels 4"));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "cycle k, which is not linear");
  VIEW_HAS(pc, "smoother redblack, steps 2,3: not symmetric");
  VIEW_HAS(pc, "corrections times 1.25, precision double");
  VIEW_HAS(pc, "level 0: 12 x 10 x 8 cells, 16 bits");
  VIEW_HAS(pc, "level 1: 6 x 5 x 4 cells, 32 bits");
  VIEW_HAS(pc, "pairs along xyz");
  VIEW_HAS(pc, "level 3: 2 x 2 x 1 cells, dense inverse");
  PetscCall(TestSetOptions(pc, "-pc_gridmg_levels 1"));
  PetscCall(PCGridMGSetCycle(pc, PCGRIDMG_CYCLE_W));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "level 0: 12 x 10 x 8 cells, dense inverse");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ life */

static PetscErrorCode TestValues(const GridProblem *p)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  PetscCall(TestNewValues(p->name, A, FillGridRound, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A sequence of matrices: of the same size, with levels of new shapes, bits and symmetry in existing memory; then of
   new sizes */
static PetscErrorCode TestChanges(void)
{
  static const GridProblem others[] = {{.name = "strong in x", .n = {12, 10, 8}, .sigma = 1, .strength = {1000}},
                                       {.name = "strong in z", .n = {12, 10, 8}, .sigma = 1, .strength = {1, 1, 1000}},
                                       {.name = "two dozen decades", .n = {12, 10, 8}, .faces = FACES_DECADES, .sigma = 1, .strength = {1, 1, 1e14}},
                                       {.name = "nonsymmetric", .n = {12, 10, 8}, .sigma = 1, .wind = 2},
                                       {.name = "large row sums", .n = {12, 10, 8}, .sigma = 100},
                                       {.name = "symmetric again", .n = {12, 10, 8}, .sigma = 1},
                                       {.name = "larger", .n = {20, 17, 9}, .sigma = 1, .after = 2},
                                       {.name = "in the plane", .n = {30, 40, 1}, .sigma = 1}};
  Mat                      A;
  PC                       pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetUp(pc));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others); k++) {
    if (GridRows(&others[k]) == GridRows(&box)) {
      PetscCall(MatZeroEntries(A));
      PetscCall(FillGrid(&others[k], 0, A));
    } else {
      PetscCall(MatDestroy(&A));
      PetscCall(CreateGridMatrix(&others[k], 0, &A));
      PetscCall(PCReset(pc));
      PetscCall(PCSetOperators(pc, A, A));
    }
    PetscCall(PCSetUp(pc));
    PetscCall(CompareWithNew(others[k].name, A, pc));
    if (others[k].faces == FACES_DECADES) VIEW_HAS(pc, "cells, 16 bits");
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All types of matrices: the same bits, or an error with a reason */
static PetscErrorCode TestTypes(void)
{
  static const char *const types[] = {MATMPIAIJ, MATSEQBAIJ, MATVCRS, MATSEQDENSE};
  Mat                      A, B;
  PC                       pc, other;
  Vec                      x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 4));
  PetscCall(PCApply(pc, x, y));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(types); k++) {
    PetscReal difference;

    PetscCall(MatConvert(A, types[k], MAT_INITIAL_MATRIX, &B));
    PetscCall(CreatePlainPC(B, &other));
    PetscCall(PCApply(other, x, z));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(difference != 0)) FAIL("%s: differs from that of aij by %g", types[k], (double)difference);
    PetscCall(PCDestroy(&other));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(MatSetOption(A, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(A, MAT_HERMITIAN, PETSC_TRUE));
  PetscCall(MatConvert(A, MATSEQSBAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(CreatePlainPC(B, &other));
  TEST_REFUSED("half of the rows", PCSetUp(other), "seqsbaij", "aij");
  PetscCall(PCDestroy(&other));
  PetscCall(MatDestroy(&B));
  PetscCall(MatCreateShell(PETSC_COMM_SELF, 960, 960, 960, 960, NULL, &B));
  PetscCall(CreatePlainPC(B, &other));
  TEST_REFUSED("no rows", PCSetUp(other), "shell", "entries");
  PetscCall(PCDestroy(&other));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  /* without rows */
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, 0, 0, 0, NULL, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCApply(pc, x, y));
  VIEW_HAS(pc, "levels 0");
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With a null space, row sums up to 1e-8 count as rounding errors, in matrices of any size */
static PetscErrorCode TestNullSpace(void)
{
  GridProblem  p = {.name = "Neumann", .n = {12, 10, 8}};
  MatNullSpace null;
  Mat          A;
  PC           pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&p, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "1 parts without row sums");
  PetscCall(MatShift(A, (PetscReal)1e3 * PETSC_MACHINE_EPSILON));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "dense inverse\n");
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(PCDestroy(&pc));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "1 parts without row sums");
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A part of the grid whose faces are too small for a float, with 32 bits: as many iterations as with codes */
static PetscErrorCode TestTiny(void)
{
  const PetscReal tiny = PetscDefined(USE_REAL_SINGLE) ? (PetscReal)1e-20 : (PetscReal)1e-60;
  const PetscInt  n[2] = {24, 20}, cells = n[0] * n[1];
  PetscInt        its[2] = {0, 0};
  Mat             A;
  Vec             x, b;
  KSP             ksp;
  PC              pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, cells, cells, 5, NULL, &A));
  for (PetscInt i = 0; i < cells; i++) {
    const PetscInt  at[2] = {i % n[0], i / n[0]}, to[4] = {i - 1, i + 1, i - n[0], i + n[0]};
    const PetscBool is[4] = {(PetscBool)(at[0] > 0), (PetscBool)(at[0] < n[0] - 1), (PetscBool)(at[1] > 0), (PetscBool)(at[1] < n[1] - 1)};
    PetscReal       sum   = 0;

    for (int f = 0; f < 4; f++) {
      const PetscReal face = PetscMax(at[1], f == 3 ? at[1] + 1 : at[1]) >= n[1] / 2 ? tiny : 1;

      sum += face;
      if (is[f]) PetscCall(MatSetValue(A, i, to[f], -face, INSERT_VALUES));
    }
    PetscCall(MatSetValue(A, i, i, sum, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(b, 5));
  for (int k = 0; k < 2; k++) {
    KSPConvergedReason reason;

    PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
    PetscCall(KSPSetOperators(ksp, A, A));
    PetscCall(KSPSetType(ksp, KSPGMRES));
    PetscCall(KSPSetTolerances(ksp, (PetscReal)1e-4, 0, PETSC_CURRENT, 100));
    PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, PCGRIDMG));
    PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_AGGREGATION));
    PetscCall(PCGridMGSetBits(pc, k ? 32 : 16, k ? 32 : 16));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (WRONG(reason < 0)) FAIL("tiny faces, %d bits: %s", k ? 32 : 16, KSPConvergedReasons[reason]);
    if (k && !PetscDefined(USE_REAL_SINGLE)) VIEW_HAS(pc, "level 0: 24 x 20 x 1 cells, 16 bits");
    PetscCall(KSPDestroy(&ksp));
  }
  if (WRONG(its[1] > its[0] + 1)) FAIL("tiny faces: %" PetscInt_FMT " iterations with 32 bits, %" PetscInt_FMT " with codes", its[1], its[0]);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  GridProblem wells = box, wind = box;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  wells.name  = "wells";
  wells.after = 3;
  wind.name   = "wind";
  wind.wind   = 1;
  PetscCall(TestFound());
  PetscCall(TestDM());
  PetscCall(TestNoGrid());
  PetscCall(TestEntry(17, 18, (PetscReal)NAN, "entry (17, 18) of the matrix is no number"));
  PetscCall(TestEntry(17, 17, (PetscReal)INFINITY, "entry (17, 17) of the matrix is no number"));
  PetscCall(TestEntry(17, 17, 0.0, "row 17 has the diagonal entry 0"));
  PetscCall(TestEntry(33, 33, -5.0, "row 33 has the diagonal entry -5"));
  PetscCall(TestSigns());
  PetscCall(TestOptions());
  PetscCall(TestValues(&box));
  PetscCall(TestValues(&wells));
  PetscCall(TestValues(&wind));
  PetscCall(TestChanges());
  PetscCall(TestTypes());
  PetscCall(TestNullSpace());
  PetscCall(TestTiny());
  return TestEnd(72, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
