/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG, zeeuw: interpolation and Galerkin products against a second implementation and MatPtAP(), and changes by codes.\n\n";

#include "gridmgstencils.h"
#include <lithe/private/gridmg/levels.h>
#include <tests/reference/dezeeuw.c>
#include <tests/reference/stencils.c>
#include <tutorials/helmholtz/grid.c>

#define EXACT "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_bits 32 -@pc_gridmg_precision double -@pc_gridmg_coarse_size 1"

/* Two matrices: the largest difference over the largest entry */
static PetscErrorCode RelativeDifference(Mat A, Mat B, PetscReal *difference)
{
  PetscReal norm;
  Mat       C;

  PetscFunctionBeginUser;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(MatAXPY(C, -1.0, B, DIFFERENT_NONZERO_PATTERN));
  PetscCall(MatNorm(C, NORM_INFINITY, difference));
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  *difference /= norm;
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateDA(const PetscInt n[3], DM *da)
{
  PetscFunctionBeginUser;
  if (n[2] == 1) PetscCall(DMDACreate2d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], 1, 1, 1, 1, NULL, NULL, da));
  else
    PetscCall(DMDACreate3d(PETSC_COMM_SELF, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0], n[1], n[2], 1, 1, 1, 1, 1, NULL, NULL,
                           NULL, da));
  PetscCall(DMSetUp(*da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All levels in exact arithmetic */
static PetscErrorCode TestLevels(const StencilProblem *p)
{
  const PetscReal small = 1e3 * PETSC_MACHINE_EPSILON;
  PetscReal       difference;
  PetscInt        levels;
  Mat             A, fine, *interpolation, *coarse;
  PC              pc;
  DM              da;

  PetscFunctionBeginUser;
  PetscCall(CreateStencilMatrix(p, 0, &A));
  PetscCall(CreateStencilPC(p, A, EXACT, &pc));
  PetscCall(PCGridMGGetOperator_Private(pc, 0, &fine));
  PetscCall(RelativeDifference(A, fine, &difference));
  if (WRONG(!(difference <= small))) FAIL("%s: the finest operator differs from the matrix by %g", p->name, (double)difference);
  PetscCall(MatDestroy(&fine));
  PetscCall(PCGetInterpolations(pc, &levels, &interpolation));
  PetscCall(PCGetCoarseOperators(pc, &levels, &coarse));
  if (WRONG(levels < 2)) FAIL("%s: only %d levels", p->name, (int)levels);
  PetscCall(CreateDA(p->n, &da));
  for (PetscInt k = levels - 2; k >= 0; k--) {
    Mat  P, theirs, product;
    Grid grid;
    DM   next;

    PetscCall(GridCreate(da, &grid));
    PetscCall(GridCreateCoarseDM(&grid, &next));
    PetscCall(GridDestroy(&grid));
    PetscCall(DeZeeuwCoarsen(A, da, next, &P, &theirs));
    PetscCall(RelativeDifference(P, interpolation[k], &difference));
    if (WRONG(!(difference <= small))) FAIL("%s, %d of %d: the interpolation differs by %g", p->name, (int)k, (int)levels, (double)difference);
    PetscCall(MatPtAP(A, P, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &product));
    PetscCall(RelativeDifference(product, coarse[k], &difference));
    if (WRONG(!(difference <= small))) FAIL("%s, %d of %d: P^T A P differs by %g", p->name, (int)k, (int)levels, (double)difference);
    PetscCall(MatDestroy(&theirs));
    PetscCall(MatDestroy(&P));
    PetscCall(MatDestroy(&A));
    PetscCall(DMDestroy(&da));
    A  = product;
    da = next;
    PetscCall(MatDestroy(&coarse[k]));
    PetscCall(MatDestroy(&interpolation[k]));
  }
  PetscCall(PetscFree(interpolation));
  PetscCall(PetscFree(coarse));
  PetscCall(DMDestroy(&da));
  PetscCall(MatDestroy(&A));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A level in codes against the exact level: entries within 1/127 or 1/32767 of the largest entry, and the same row
   sums. A matrix which is symmetric up to rounding becomes symmetric to the last bit
*/
static PetscErrorCode TestCodes(const StencilProblem *p, int bits)
{
  StencilProblem disturbed = *p;
  char           options[256];
  PetscReal      most, worst = 0, sums;
  PetscInt       n;
  PetscBool      symmetric;
  Mat            exact, coded;
  PC             pcs[2];
  Vec            ones, sum[2];
  PetscScalar    a, b;
  Mat            A;

  PetscFunctionBeginUser;
  disturbed.disturbance = (PetscReal)7e-9;
  PetscCall(CreateStencilMatrix(&disturbed, 0, &A));
  PetscCall(CreateStencilPC(p, A, EXACT, &pcs[0]));
  PetscCall(PetscSNPrintf(options, sizeof(options), EXACT " -@pc_gridmg_bits %d -@pc_gridmg_coarse_bits %d", bits, bits));
  PetscCall(CreateStencilPC(p, A, options, &pcs[1]));
  for (PetscInt level = 0; level < 2; level++) {
    PetscCall(PCGridMGGetOperator_Private(pcs[0], level, &exact));
    PetscCall(PCGridMGGetOperator_Private(pcs[1], level, &coded));
    PetscCall(MatGetSize(exact, &n, NULL));
    most = worst = 0;
    for (PetscInt i = 0; i < n; i++) {
      for (PetscInt j = 0; j < n; j++) {
        if (i == j) continue;
        PetscCall(MatGetValue(exact, i, j, &a));
        PetscCall(MatGetValue(coded, i, j, &b));
        most  = PetscMax(most, PetscMax(PetscAbsReal(PetscRealPart(a)), PetscAbsReal(PetscImaginaryPart(a))));
        worst = PetscMax(worst, PetscMax(PetscAbsReal(PetscRealPart(a - b)), PetscAbsReal(PetscImaginaryPart(a - b))));
      }
    }
    if (WRONG(!(worst <= most / (bits == 8 ? 127 : 32767))))
      FAIL("%s, %d bits, level %d: entries differ by %g", p->name, bits, (int)level, (double)(worst / most));
    if (WRONG(!(worst > 0))) FAIL("%s, %d bits, level %d: nothing is rounded", p->name, bits, (int)level);
    PetscCall(MatCreateVecs(exact, &ones, &sum[0]));
    PetscCall(VecDuplicate(sum[0], &sum[1]));
    PetscCall(VecSet(ones, 1.0));
    PetscCall(MatMult(exact, ones, sum[0]));
    PetscCall(MatMult(coded, ones, sum[1]));
    PetscCall(VecAXPY(sum[0], -1.0, sum[1]));
    PetscCall(VecNorm(sum[0], NORM_INFINITY, &sums));
    if (WRONG(!(sums <= 1e3 * PETSC_MACHINE_EPSILON * most))) FAIL("%s, %d bits, level %d: row sums differ by %g", p->name, bits, (int)level, (double)sums);
    for (int k = 0; k < 2; k++) {
      PetscCall(MatIsSymmetric(k ? coded : exact, 0, &symmetric));
      if (WRONG(p->kind == STENCILS_SYMMETRIC && !symmetric)) FAIL("%s, %d bits, level %d: not symmetric", p->name, k ? bits : 32, (int)level);
    }
    PetscCall(VecDestroy(&ones));
    PetscCall(VecDestroy(&sum[0]));
    PetscCall(VecDestroy(&sum[1]));
    PetscCall(MatDestroy(&exact));
    PetscCall(MatDestroy(&coded));
  }
  for (int k = 0; k < 2; k++) PetscCall(PCDestroy(&pcs[k]));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const names[] = {"random", "symmetric", "star", "elements"};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (PetscInt k = 0; k < 60; k++) {
    StencilProblem p = {.kind = (Stencils)(k % 4), .name = names[k % 4], .wave = 1, .shift = 0.5, .jumps = 3};

    for (uint64_t d = 0; d < 3; d++) p.n[d] = d == 2 && k % 3 == 0 ? 1 : 3 + (PetscInt)(7 * TestRandom((uint64_t)k, d, 51));
    PetscCall(TestLevels(&p));
    if (k < 16) PetscCall(TestCodes(&p, k / 4 % 2 ? 16 : 8));
  }
  return TestEnd(400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
