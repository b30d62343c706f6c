/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG, zeeuw: accepted matrices, grids of all shapes, symmetry, units, null spaces, new values, and bad input.\n\n";

#include "gridmgstencils.h"
#include "gridmgviewtest.h"
#include <tests/options.h>
#include <tests/refused.h>

static const StencilProblem box = {.name = "box", .n = {12, 10, 8}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-0.01};

/* ------------------------------------------------------------ the choice */

static PetscErrorCode TestFound(void)
{
  static const struct {
    StencilProblem p;
    const char    *text;
  } found[] = {{{.name = "space", .n = {12, 10, 8}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-0.01},
                "level 0: 12 x 10 x 8 points, stencils of 27, 8 bits"},
               {{.name = "plane", .n = {30, 21, 1}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-0.01}, "level 0: 30 x 21 x 1 points, stencils of 9, 8 bits"},
               {{.name = "coarse level", .n = {20, 21, 9}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-0.01},
                "level 1: 11 x 11 x 5 points, stencils of 27, 16 bits"},
               {{.name = "any sign", .n = {12, 10, 8}, .kind = STENCILS_STAR}, "interpolation zeeuw"}};
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(found); k++) {
    PetscCall(CreateStencilMatrix(&found[k].p, 0, &A));
    PetscCall(CreatePlainPC(A, &pc));
    PetscCall(TestSetOptions(pc, "-pc_gridmg_coarse_size 200"));
    PetscCall(PCSetUp(pc));
    VIEW_HAS(pc, "interpolation zeeuw");
    VIEW_HAS(pc, found[k].text);
    VIEW_HAS(pc, PetscDefined(USE_COMPLEX) && found[k].p.kind == STENCILS_STAR ? "smoother damped" : "smoother redblack");
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values of the same pattern for both interpolations, in sequence in the same preconditioner */
static PetscErrorCode TestChoice(void)
{
  GridProblem p = {.name = "box", .n = {12, 10, 8}, .sigma = 1};
  Mat         A;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&p, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "interpolation aggregation");
  for (PetscInt i = 0; i + 120 < GridRows(&p); i++) {
    PetscCall(MatSetValue(A, i, i + 120, 0.2, INSERT_VALUES));
    PetscCall(MatSetValue(A, i + 120, i, 0.2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "interpolation zeeuw");
  PetscCall(CompareWithNew("other signs", A, pc));
  PetscCall(MatZeroEntries(A));
  PetscCall(FillGrid(&p, 0, A));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "interpolation aggregation");
  PetscCall(CompareWithNew("signs as before", A, pc));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ bad input */

static PetscErrorCode TestOptions(void)
{
  GridProblem p = {.name = "wells", .n = {12, 10, 8}, .sigma = 1, .after = 2};
  Mat         A;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetCycle(pc, PCGRIDMG_CYCLE_K));
  TEST_REFUSED("K cycle", PCSetUp(pc), "-pc_gridmg_cycle k", "zeeuw");
  PetscCall(PCGridMGSetCycle(pc, PCGRIDMG_CYCLE_V));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_coarsen semi"));
  TEST_REFUSED("one direction", PCSetUp(pc), "-pc_gridmg_coarsen semi", "zeeuw");
  PetscCall(TestSetOptions(pc, "-pc_gridmg_coarsen full"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smoother damped"));
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_AGGREGATION));
  TEST_REFUSED("27 points", PCSetUp(pc), "row 0", "which is no neighbour", "5 or 7 points");
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_ZEEUW));
  PetscCall(PCGridMGSetBits(pc, 16, 32));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smooths 2,1"));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_levels 3"));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "interpolation zeeuw, cycle v");
  VIEW_HAS(pc, "smoother damped, steps 2,1: not symmetric");
  VIEW_HAS(pc, "level 0: 12 x 10 x 8 points, stencils of 27, 16 bits");
  VIEW_HAS(pc, "level 1: 7 x 6 x 5 points, dense inverse");
  PetscCall(TestSetOptions(pc, "-pc_gridmg_coarse_size 10"));
  PetscCall(PCSetUp(pc));
  VIEW_HAS(pc, "level 1: 7 x 6 x 5 points, stencils of 27, 32 bits");
  VIEW_HAS(pc, "level 2: 4 x 4 x 3 points, dense inverse");
  PetscCall(PCGridMGSetGrid(pc, 10, 12, 8));
  TEST_REFUSED("another grid", PCSetUp(pc), "row ", "column ", "10 x 12 x 8");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateGridMatrix(&p, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_ZEEUW));
  TEST_REFUSED("wells", PCSetUp(pc), "no wells", "2 rows over");
  PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_AUTO));
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smoother damped"));
  TEST_REFUSED("damped", PCSetUp(pc), "-pc_gridmg_smoother damped", "aggregation");
  PetscCall(TestSetOptions(pc, "-pc_gridmg_smoother jacobi"));
  TEST_REFUSED("Jacobi", PCSetUp(pc), "-pc_gridmg_smoother jacobi", "aggregation");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FillStencilsRound(const void *problem, PetscInt round, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(FillStencils((const StencilProblem *)problem, round, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEntry(PetscInt i, PetscInt j, PetscScalar value, const char text[])
{
  Mat A;
  PC  pc;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&box, 0, &A));
  PetscCall(CreatePlainPC(A, &pc));
  PetscCall(PCGridMGSetBits(pc, 32, 32)); /* a diagonal of codes is a sum */
  PetscCall(TestBadEntry(A, pc, FillStencilsRound, &box, i, j, value, text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A row of zeros is left out; for a matrix of zeros, all levels are singular */
static PetscErrorCode TestZeros(void)
{
  const PetscInt row = 33;
  PCFailedReason reason;
  PetscScalar    value;
  Vec            x, y;
  Mat            A;
  PC             pc;

  PetscFunctionBeginUser;
  for (int all = 0; all < 3; all++) {
    PetscCall(CreateStencilMatrix(&box, 0, &A));
    if (all) PetscCall(MatZeroEntries(A));
    else PetscCall(MatZeroRowsColumns(A, 1, &row, 0.0, NULL, NULL));
    PetscCall(CreatePlainPC(A, &pc));
    PetscCall(PCGridMGSetGrid(pc, 12, 10, 8));
    PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_ZEEUW));
    if (all == 2) PetscCall(TestSetOptions(pc, "-pc_gridmg_coarse_size 1000"));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    if (all == 1) {
      if (WRONG(!reason)) FAIL("zeros: no failure");
      VIEW_HAS(pc, "row 0 has the diagonal entry 0");
    } else if (WRONG(reason)) FAIL("%s: failed", all ? "zeros, only a dense inverse" : "a row of zeros");
    if (!all) {
      PetscCall(MatCreateVecs(A, &x, &y));
      PetscCall(TestFillVec(x, 1));
      PetscCall(PCApply(pc, x, y));
      PetscCall(VecGetValues(y, 1, &row, &value));
      if (WRONG(value != (PetscScalar)0.0)) FAIL("a row of zeros: %g in its place", (double)PetscAbsScalar(value));
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ shapes, symmetry, units */

/* Grids of all shapes and sizes, including a single point in some directions */
static PetscErrorCode TestShapes(void)
{
  static const PetscInt sizes[][3] = {{40, 1, 1}, {1, 41, 1}, {1, 1, 8}, {2, 2, 2},  {1, 1, 1}, {2, 9, 1},
                                      {1, 9, 14}, {9, 1, 14}, {3, 3, 3}, {2, 30, 2}, {5, 4, 33}};
  PetscInt              its;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sizes); k++) {
    for (int cycle = 0; cycle < 2; cycle++) {
      StencilProblem p = {.name = "shapes", .kind = STENCILS_ELEMENTS, .wave = (PetscReal)-0.01};

      PetscCall(PetscArraycpy(p.n, sizes[k], 3));
      PetscCall(StencilIterations(&p, &p, KSPCG,
                                  cycle ? "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 4 -@pc_gridmg_cycle v"
                                        : "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 4",
                                  &its));
      if (WRONG(its < 0 || its > 12)) FAIL("%d x %d x %d: %d iterations", (int)p.n[0], (int)p.n[1], (int)p.n[2], (int)its);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x^T M y = y^T M x, without conjugates, for symmetric matrices */
static PetscErrorCode TestSymmetry(const char options[])
{
  StencilProblem p = {.name = "symmetric", .n = {13, 10, 7}, .kind = STENCILS_ELEMENTS, .wave = PetscDefined(USE_COMPLEX) ? (PetscReal)0.3 : (PetscReal)-0.01};
  char           all[512];
  PetscScalar    a, b;
  PetscReal      size;
  Mat            A;
  PC             pc;
  Vec            x, y, z[2];

  PetscFunctionBeginUser;
  p.shift = 0.5;
  p.jumps = 3;
  PetscCall(CreateStencilMatrix(&p, 0, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_precision double -@pc_gridmg_coarse_size 20 %s", options));
  PetscCall(CreateStencilPC(&p, A, all, &pc));
  PetscCall(MatCreateVecs(A, &x, &y));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x, &z[k]));
  PetscCall(TestFillVec(x, 4));
  PetscCall(TestFillVec(y, 5));
  PetscCall(PCApply(pc, x, z[0]));
  PetscCall(PCApplyTranspose(pc, y, z[1]));
  PetscCall(VecTDot(z[0], y, &a));
  PetscCall(VecTDot(z[1], x, &b));
  PetscCall(VecNorm(z[0], NORM_2, &size));
  if (WRONG(!(PetscAbsScalar(a - b) <= 1e4 * PETSC_MACHINE_EPSILON * size))) FAIL("not symmetric: %s, %g", options, (double)(PetscAbsScalar(a - b) / size));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&z[k]));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries and vectors in scaled units: the same bits */
static PetscErrorCode TestUnits(void)
{
  const int      large = sizeof(PetscReal) < 8 ? 30 : 480;
  StencilProblem other = box;
  PetscReal      difference;
  Mat            A, B;
  PC             pc[2];
  Vec            x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&box, 0, &A));
  PetscCall(CreateStencilPC(&box, A, "", &pc[0]));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 4));
  PetscCall(PCApply(pc[0], x, y));
  for (int sign = -1; sign <= 1; sign += 2) {
    other.units = (PetscReal)ldexp(1., sign * large);
    PetscCall(CreateStencilMatrix(&other, 0, &B));
    PetscCall(CreateStencilPC(&box, B, "", &pc[1]));
    PetscCall(VecScale(x, other.units));
    PetscCall(PCApply(pc[1], x, z));
    PetscCall(VecScale(x, 1 / other.units));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(difference != 0)) FAIL("units of %g: differs by %g", (double)other.units, (double)difference);
    PetscCall(PCDestroy(&pc[1]));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(PCDestroy(&pc[0]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zero row sums, known from the matrix or from its null space */
static PetscErrorCode TestNullSpace(void)
{
  StencilProblem p = {.name = "Neumann", .n = {12, 10, 8}, .kind = STENCILS_ELEMENTS};
  MatNullSpace   null;
  Mat            A;
  PC             pc;
  KSP            ksp;
  Vec            x, b;
  PetscInt       its;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(&p, 0, &A));
  PetscCall(CreateStencilPC(&p, A, "-@pc_gridmg_coarse_size 20", &pc));
  VIEW_HAS(pc, "dense inverse, without row sums");
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &null));
  PetscCall(MatSetNullSpace(A, null));
  PetscCall(MatNullSpaceDestroy(&null));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(x, 3));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (WRONG(its > 9)) FAIL("Neumann: %d iterations", (int)its);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ life */

static PetscErrorCode TestValues(const StencilProblem *p)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(p, 0, &A));
  PetscCall(TestNewValues(p->name, A, FillStencilsRound, p));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  StencilProblem jumps = box, random = {.name = "random", .n = {12, 10, 8}, .kind = STENCILS_SYMMETRIC};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  jumps.name  = "jumps";
  jumps.jumps = 4;
  PetscCall(TestFound());
  PetscCall(TestChoice());
  PetscCall(TestOptions());
  PetscCall(TestEntry(17, 18, (PetscReal)NAN, "entry (17, 18) of the matrix is no number"));
  PetscCall(TestEntry(17, 17, (PetscReal)INFINITY, "entry (17, 17) of the matrix is no number"));
  PetscCall(TestZeros());
  PetscCall(TestShapes());
  PetscCall(TestSymmetry(""));
  PetscCall(TestSymmetry("-@pc_gridmg_smoother redblack -@pc_gridmg_cycle v"));
  PetscCall(TestSymmetry("-@pc_gridmg_smoother jacobi -@pc_gridmg_bits 16"));
  PetscCall(TestSymmetry("-@pc_gridmg_smoother damped -@pc_gridmg_bits 32"));
  PetscCall(TestUnits());
  PetscCall(TestNullSpace());
  PetscCall(TestValues(&jumps));
  PetscCall(TestValues(&random));
  return TestEnd(70, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
