/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG on a device: applications against the host, and against repeated applications.\n\n";

#include "gridmgviewtest.h"

static const GridProblem problems[] = {{.name = "random", .n = {9, 8, 7}, .sigma = 1},
                                       {.name = "large", .n = {64, 41, 33}, .sigma = 1},
                                       {.name = "odd", .n = {61, 35, 29}, .sigma = 1e-3, .faces = FACES_JUMPS},
                                       {.name = "decades", .n = {31, 30, 29}, .faces = FACES_DECADES, .sigma = 1e-3},
                                       {.name = "layers", .n = {33, 34, 35}, .faces = FACES_LAYERS, .strength = {1000}, .dirichlet = PETSC_TRUE},
                                       {.name = "x is strong", .n = {70, 21, 23}, .strength = {100, 1, 1}, .sigma = 0.1},
                                       {.name = "z is strong", .n = {23, 22, 71}, .strength = {1, 1, 100}, .sigma = 0.1},
                                       {.name = "Neumann", .n = {26, 19, 25}},
                                       {.name = "in the plane", .n = {119, 94, 1}, .sigma = 1},
                                       {.name = "in another plane", .n = {1, 99, 84}, .sigma = 1},
                                       {.name = "a line", .n = {1, 1, 3000}, .sigma = 1},
                                       {.name = "another line", .n = {2999, 1, 1}, .sigma = 1},
                                       {.name = "holes", .n = {39, 28, 27}, .sigma = 1, .holes = 4},
                                       {.name = "large row sums", .n = {29, 18, 17}, .sigma = 1000},
                                       {.name = "wells after", .n = {29, 28, 17}, .sigma = 1, .after = 3},
                                       {.name = "many wells", .n = {29, 28, 17}, .sigma = 1, .after = 70},
                                       {.name = "wells before", .n = {39, 18, 17}, .sigma = 1, .before = 2, .holes = 5},
                                       {.name = "wells on both sides", .n = {90, 80, 1}, .after = 4},
                                       {.name = "faults", .n = {29, 28, 17}, .sigma = 1, .faults = 59},
                                       {.name = "faults and wells", .n = {29, 28, 17}, .sigma = 100, .faults = 59, .after = 2, .holes = 6},
                                       {.name = "wind", .n = {29, 28, 37}, .sigma = 1, .wind = 5},
                                       {.name = "wind, wells and holes", .n = {29, 18, 27}, .sigma = 10, .wind = 5, .after = 3, .holes = 5, .faults = 5}};

typedef struct {
  const char *options;
  PetscReal   tolerance; /* relative to the largest number */
  PetscBool   symmetric; /* for symmetric matrices only */
} Variant;

static const Variant variants[] = {{"", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_graph 0", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_cycle k", 1e-3, PETSC_TRUE},
                                   {"-@pc_gridmg_cycle k -@pc_gridmg_k_levels 1", 1e-3, PETSC_TRUE},
                                   {"-@pc_gridmg_cycle v -@pc_gridmg_coarsen full", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarsen semi -@pc_gridmg_cycle v", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_bits 16", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_bits 32", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_bits 32 -@pc_gridmg_precision double", 1e-11, PETSC_FALSE},
                                   {"-@pc_gridmg_precision double -@pc_gridmg_cycle k", 1e-9, PETSC_TRUE},
                                   {"-@pc_gridmg_smooths 2,1", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_smooths 2", 2e-5, PETSC_TRUE},
                                   {"-@pc_gridmg_smooths 2,3", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_smooths 0,1", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 2", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 40", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 96 -@pc_gridmg_coarsen full", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 600", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 1024", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 1024 -@pc_gridmg_cycle v -@pc_gridmg_coarsen semi", 2e-5, PETSC_FALSE},
                                   {"-@pc_gridmg_coarse_size 1100", 2e-5, PETSC_FALSE}};

/* The same matrix with products on a device */
static PetscErrorCode OnDevice(Mat A, MatType type, Mat *B)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, B));
  if (type) PetscCall(MatConvert(*B, type, MAT_INPLACE_MATRIX, B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Near(const GridProblem *p, const char with[], const char what[], Vec x, Vec y, PetscReal tolerance)
{
  PetscReal          most = 0.0, size = 0.0;
  PetscInt           n, at = 0, other = 0;
  const PetscScalar *px, *py;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetArrayRead(x, &px));
  PetscCall(VecGetArrayRead(y, &py));
  for (PetscInt i = 0; i < n; i++) size = PetscMax(size, PetscAbsScalar(px[i]));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal difference = PetscAbsScalar(px[i] - py[i]);

    if (!(difference <= tolerance * size) && !other++) at = i;
    if (!(difference <= most)) most = difference;
  }
  if (WRONG(other > 0)) {
    FAIL("%s, %s: %s, %d of %d rows differ, row %d first: %g is %g; at most %g of %g", p->name, with, what, (int)other, (int)n, (int)at,
         (double)PetscRealPart(px[at]), (double)PetscRealPart(py[at]), (double)most, (double)size);
  }
  PetscCall(VecRestoreArrayRead(y, &py));
  PetscCall(VecRestoreArrayRead(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestVariant(const GridProblem *p, Mat A, MatType type, const Variant *v, PetscReal scale)
{
  Mat  B;
  PC   host, device;
  Vec  x, y, dx, dy, again;
  char options[256];

  PetscFunctionBeginUser;
  /* by default a device has more unknowns on the coarsest level */
  PetscCall(PetscSNPrintf(options, sizeof(options), "-@pc_gridmg_coarse_size 300 %s", v->options));
  PetscCall(OnDevice(A, type, &B));
  PetscCall(CreateGridPC(p, A, options, &host));
  PetscCall(CreateGridPC(p, B, options, &device));
  VIEW_HAS(device, "on a device");
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(MatCreateVecs(B, &dx, &dy));
  PetscCall(VecDuplicate(dy, &again));
  /* the first application, the recorded application, and a replay */
  for (int k = 0; k < 3; k++) {
    PetscCall(TestFillVec(x, 11 + k));
    PetscCall(VecScale(x, scale));
    PetscCall(PCApply(host, x, y));
    PetscCall(VecCopy(x, dx));
    PetscCall(PCApply(device, dx, dy));
    PetscCall(Near(p, v->options, k == 0 ? "first" : (k == 1 ? "second" : "third"), y, dy, v->tolerance));
  }
  {
    PetscBool same;

    PetscCall(PCApply(device, dx, again));
    PetscCall(VecEqual(dy, again, &same));
    if (WRONG(!same)) FAIL("%s, %s: not the same twice", p->name, v->options);
    /* vectors of the host */
    PetscCall(PCApply(device, x, y));
    PetscCall(VecCopy(y, again));
    PetscCall(VecEqual(dy, again, &same));
    if (WRONG(!same)) FAIL("%s, %s: with vectors of the host not the same", p->name, v->options);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&dx));
  PetscCall(VecDestroy(&dy));
  PetscCall(VecDestroy(&again));
  PetscCall(PCDestroy(&host));
  PetscCall(PCDestroy(&device));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sizes from 1 to 9 in each direction */
static PetscErrorCode TestSizes(void)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < 40; k++) {
    GridProblem p = {.name = "sizes", .sigma = 1};
    Mat         A;

    for (int d = 0; d < 3; d++) p.n[d] = 1 + (PetscInt)(TestRandom((uint64_t)k, (uint64_t)d, 21) * 9);
    if (k % 3 == 0 && GridCells(&p) > 20) p.after = 1;
    PetscCall(CreateGridMatrix(&p, 0, &A));
    PetscCall(TestVariant(&p, A, NULL, &(Variant){"-@pc_gridmg_coarse_size 3", 2e-5, PETSC_FALSE}, 1.0));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zero, NaN, and numbers near the ends of the range */
static PetscErrorCode TestNumbers(const GridProblem *p, Mat A)
{
  Mat       B;
  PC        pc;
  Vec       x, y;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(OnDevice(A, NULL, &B));
  PetscCall(CreateGridPC(p, B, "", &pc));
  PetscCall(MatCreateVecs(B, &x, &y));
  for (int k = 0; k < 3; k++) {
    PetscCall(VecSet(x, 0.0));
    PetscCall(PCApply(pc, x, y));
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    if (WRONG(norm != 0)) FAIL("%s: M 0 = %g", p->name, (double)norm);
    PetscCall(VecSetValue(x, GridRows(p) / 2, (PetscScalar)NAN, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(PCApply(pc, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    if (WRONG(!PetscIsNanReal(norm))) FAIL("%s: NaN has become %g", p->name, (double)norm);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  if (PetscDefined(USE_REAL_DOUBLE)) {
    PetscCall(TestVariant(p, A, NULL, &(Variant){"", 2e-5, PETSC_FALSE}, (PetscReal)1e-295));
    PetscCall(TestVariant(p, A, NULL, &(Variant){"", 2e-5, PETSC_FALSE}, (PetscReal)1e295));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const GridProblem *p, size_t k)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(variants); o++) {
    if (variants[o].symmetric && p->wind > 0) continue;
    PetscCall(TestVariant(p, A, NULL, &variants[o], 1.0));
  }
  PetscCall(TestVariant(p, A, MATVCRS, &variants[0], 1.0));
  if (k % 4 == 0) PetscCall(TestNumbers(p, A));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k], k));
  PetscCall(TestSizes());
  return TestEnd(1000, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda
    timeoutfactor: 3

TEST*/
