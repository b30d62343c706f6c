/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG: iterations with anisotropy in any direction, wells, faults, holes, jumps, upwind fluxes; 8 bits against exact entries; levels "
                     "saved by coarsening small levels more.\n\n";

#include "gridmgviewtest.h"
#include <petscdmda.h>

typedef struct {
  GridProblem p;
  PetscInt    w, k; /* permitted iterations with W cycles and K cycles; 0: not tried */
} Case;

/*
   If the strong direction differs in each layer, no choice of pairs is right, and point smoothers do not compensate.
   For jumps over ten decades in small blocks, the comparison with exact entries means nothing: both end by chance.
   PCGAMG and PCICC need more than 300 iterations
*/
static const Case cases[] = {
  {{.name = "isotropic", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE}, 14, 14},
  {{.name = "x 100", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {100, 1, 1}}, 14, 14},
  {{.name = "y 100", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 100, 1}}, 14, 14},
  {{.name = "z 100", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 1, 100}}, 14, 14},
  {{.name = "x 10000", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {10000, 1, 1}}, 14, 14},
  {{.name = "y 10000", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 10000, 1}}, 14, 14},
  {{.name = "z 10000", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 1, 10000}}, 14, 14},
  {{.name = "x and y 10000", .n = {24, 24, 24}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {10000, 10000, 1}}, 14, 14},
  {{.name = "by layers", .n = {24, 24, 24}, .faces = FACES_LAYERS, .dirichlet = PETSC_TRUE, .strength = {100}}, 58, 48},
  {{.name = "plane", .n = {90, 70, 1}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE, .strength = {1, 30}}, 14, 14},
  {{.name = "line", .n = {5000, 1, 1}, .dirichlet = PETSC_TRUE}, 30, 30},
  {{.name = "Neumann", .n = {24, 24, 24}, .faces = FACES_ONE}, 16, 16},
  {{.name = "odd sizes", .n = {23, 17, 31}, .faces = FACES_RANDOM, .sigma = 1e-6}, 20, 16},
  {{.name = "jumps", .n = {24, 24, 24}, .faces = FACES_JUMPS, .sigma = 1e-8}, 200, 130},
  {{.name = "holes", .n = {24, 24, 24}, .faces = FACES_JUMPS, .holes = 4, .sigma = 1e-8}, 240, 130},
  {{.name = "isolated parts, Neumann", .n = {24, 24, 8}, .faces = FACES_RANDOM, .holes = 2}, 38, 22},
  {{.name = "large row sums", .n = {24, 24, 24}, .faces = FACES_RANDOM, .sigma = 1e4}, 12, 12},
  {{.name = "wells", .n = {24, 24, 24}, .faces = FACES_RANDOM, .after = 5}, 24, 18},
  {{.name = "wells before", .n = {24, 24, 24}, .faces = FACES_JUMPS, .before = 3, .sigma = 1e-8}, 45, 45},
  {{.name = "faults", .n = {24, 24, 24}, .faces = FACES_RANDOM, .sigma = 1e-4, .faults = 60}, 24, 18},
  {{.name = "wind", .n = {24, 24, 24}, .faces = FACES_RANDOM, .sigma = 1, .wind = 0.1}, 12, 0},
  {{.name = "strong wind and wells", .n = {24, 24, 24}, .faces = FACES_RANDOM, .sigma = 1, .wind = 3, .after = 2}, 16, 0},
};

/* Transport by a fluid along x, y and z: upwind fluxes, with little diffusion */
static PetscErrorCode TestUpwind(void)
{
  const GridProblem p = {.name = "upwind", .n = {20, 20, 20}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE};
  PetscInt          its;
  PetscReal         residual;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&p, 0, &A));
  for (PetscInt c = 0; c < GridCells(&p); c++) {
    for (int d = 0; d < 3; d++) {
      const PetscInt stride = d == 0 ? 1 : (d == 1 ? 20 : 400);

      PetscCall(MatSetValue(A, c, c, 5.0 * (d + 1), ADD_VALUES));
      if (c / stride % 20 > 0) PetscCall(MatSetValue(A, c, c - stride, -5.0 * (d + 1), ADD_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(GridIterations(&p, A, KSPFGMRES, "", &its, &residual));
  if (WRONG(its < 0 || its > 20 || !(residual <= 1.1))) FAIL("%s: %d iterations, residual %g", p.name, (int)its, (double)residual);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const Case *c)
{
  static const char *const cycles[] = {"-@pc_gridmg_cycle w", "-@pc_gridmg_cycle k"};
  Mat                      A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&c->p, 0, &A));
  for (int k = 0; k < 2; k++) {
    const PetscInt most = k ? c->k : c->w;
    const char    *type = k ? KSPFCG : (c->p.wind > 0 ? KSPFGMRES : KSPCG);
    PetscInt       its, exact;
    PetscReal      residual;
    char           options[256];

    if (!most) continue;
    PetscCall(GridIterations(&c->p, A, type, cycles[k], &its, &residual));
    if (WRONG(its < 0 || its > most || !(residual <= 100)))
      FAIL("%s, %s: %d iterations, more than %d; residual %g", c->p.name, cycles[k], (int)its, (int)most, (double)residual);
    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -@pc_gridmg_bits 32 -@pc_gridmg_precision double", cycles[k]));
    PetscCall(GridIterations(&c->p, A, type, options, &exact, &residual));
    if (WRONG(its > exact + 2 && c->p.faces != FACES_JUMPS)) FAIL("%s, %s: %d iterations, %d without loss", c->p.name, cycles[k], (int)its, (int)exact);
    PetscCall(PetscInfo(A, "%s, %s: %" PetscInt_FMT ", %" PetscInt_FMT " without loss\n", c->p.name, cycles[k], its, exact));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small levels are coarsened more, if this saves a level: the number of iterations is unchanged */
static PetscErrorCode TestSmallLevels(void)
{
  static const struct {
    const char *options, *levels, *pairs, *type;
  } variants[]            = {{"-@pc_gridmg_coarse_size 300 -@pc_gridmg_coarsen two", "levels 5,", "pairs along x", KSPCG},
                             {"-@pc_gridmg_coarse_size 300", "levels 4,", "pairs along xyz", KSPCG},
                             {"-@pc_gridmg_coarse_size 300 -@pc_gridmg_cycle k -@pc_gridmg_k_levels 1", "levels 5,", "pairs along x", KSPFCG}};
  const GridProblem p     = {.name = "small levels", .n = {28, 28, 28}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE};
  PetscInt          first = 0;
  Mat               A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&p, 0, &A));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(variants); k++) {
    PetscInt  its;
    PetscReal residual;
    PC        pc;

    PetscCall(CreateGridPC(&p, A, variants[k].options, &pc));
    VIEW_HAS(pc, variants[k].levels);
    VIEW_HAS(pc, variants[k].pairs);
    PetscCall(PCDestroy(&pc));
    PetscCall(GridIterations(&p, A, variants[k].type, variants[k].options, &its, &residual));
    if (!k) first = its;
    if (WRONG(its < 0 || its > first + 1)) FAIL("%s, %s: %d iterations, %d without", p.name, variants[k].options, (int)its, (int)first);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Three directions at once, from the finest level on, where coefficients hardly jump: as many iterations. Two where blocks of ten decades meet */
static PetscErrorCode TestAlike(void)
{
  static const GridProblem smooth = {.name = "alike", .n = {40, 40, 40}, .faces = FACES_ONE, .dirichlet = PETSC_TRUE};
  static const GridProblem jumps  = {.name = "jumps", .n = {24, 24, 24}, .faces = FACES_JUMPS, .sigma = 1e-8};
  PetscInt                 its, two;
  PetscReal                residual;
  Mat                      A;
  PC                       pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&smooth, 0, &A));
  PetscCall(CreateGridPC(&smooth, A, "", &pc));
  VIEW_HAS(pc, "level 1: 20 x 20 x 20 cells");
  PetscCall(PCDestroy(&pc));
  PetscCall(GridIterations(&smooth, A, KSPCG, "-@pc_gridmg_coarsen two", &two, &residual));
  PetscCall(GridIterations(&smooth, A, KSPCG, "", &its, &residual));
  if (WRONG(its < 0 || its > two + 1)) FAIL("%s: %d iterations, %d with two directions", smooth.name, (int)its, (int)two);
  PetscCall(MatDestroy(&A));

  PetscCall(CreateGridMatrix(&jumps, 0, &A));
  PetscCall(CreateGridPC(&jumps, A, "", &pc));
  VIEW_HAS(pc, "level 1: 12 x 12 x 24 cells");
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes: a preconditioner for the cells of each, whose grid is found in the diagonal block */
static PetscErrorCode TestBlocks(void)
{
  KSPConvergedReason reason;
  PetscInt           xs, ys, zs, xm, ym, zm, its;
  const PetscInt     n = 20;
  DM                 da;
  Mat                A;
  KSP                ksp;
  Vec                x, b;

  PetscFunctionBeginUser;
  PetscCall(DMDACreate3d(PETSC_COMM_WORLD, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_STAR, n, n, n, PETSC_DECIDE, PETSC_DECIDE,
                         PETSC_DECIDE, 1, 1, NULL, NULL, NULL, &da));
  PetscCall(DMSetUp(da));
  PetscCall(DMCreateMatrix(da, &A));
  PetscCall(DMDAGetCorners(da, &xs, &ys, &zs, &xm, &ym, &zm));
  for (PetscInt c = 0; c < xm * ym * zm; c++) {
    const PetscInt at[3] = {xs + c % xm, ys + c / xm % ym, zs + c / xm / ym};
    MatStencil     row   = {.i = at[0], .j = at[1], .k = at[2]}, col[7];
    PetscScalar    v[7];
    PetscInt       count = 1;

    col[0] = row;
    v[0]   = 6.0;
    for (int d = 0; d < 3; d++) {
      for (int side = -1; side <= 1; side += 2) {
        if (at[d] + side < 0 || at[d] + side >= n) continue;
        col[count] = row;
        *(d == 0 ? &col[count].i : (d == 1 ? &col[count].j : &col[count].k)) += side;
        v[count++] = -1.0;
      }
    }
    PetscCall(MatSetValuesStencil(A, 1, &row, count, col, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(PetscOptionsInsertString(NULL, "-pc_type bjacobi -sub_pc_type gridmg"));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (WRONG(reason < 0 || its > 25)) FAIL("blocks: %d iterations, reason %d", (int)its, (int)reason);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  if (size > 1) PetscCall(TestBlocks());
  else {
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) PetscCall(TestCase(&cases[k]));
    PetscCall(TestUpwind());
    PetscCall(TestSmallLevels());
    PetscCall(TestAlike());
  }
  return TestEnd(85, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  test:
    suffix: blocks
    nsize: 3
    args: -test_least 1
    output_file: output/right.out

TEST*/
