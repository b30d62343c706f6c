/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: the transpose of Born modelling by dot tests, for all orders, dimensions, parameters, and numbers of checkpoints.\n\n";

#include "borntest.h"

/* Fields in double precision and a recomputed background, for tight limits */
static PetscErrorCode TestCreate(const PetscInt n[3], PetscBool between, PetscInt steps, PetscInt every, Mat *J)
{
  const BornTestCase c =
    {.n = {n[0], n[1], n[2]}, .steps = steps, .every = every, .between = between, .field = MATBORN_FIELD_DOUBLE, .background = MATBORN_BACKGROUND_CHECKPOINT};

  PetscFunctionBegin;
  PetscCall(BornTestCreateBurst(&c, VECSEQ, steps - 3, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* <J x, y> against <x, J^T y>, with y = J x and with a random y */
static PetscErrorCode TestDots(Mat J, const char name[])
{
  Vec         x, y, d, g;
  PetscReal   norm, ynorm, xnorm;
  PetscScalar a, b;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecDuplicate(d, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(VecShift(x, -0.5));
  PetscCall(MatMult(J, x, d));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(MatMultTranspose(J, d, g));
  PetscCall(VecDot(x, g, &a));
  if (WRONG(!(norm > 0) || !(PetscAbsScalar(a - norm * norm) <= TEST_EPS(450) * norm * norm)))
    FAIL("%s: <Jx, Jx> = %g, <x, J^T J x> - <Jx, Jx> = %g of that", name, (double)(norm * norm), (double)(PetscAbsScalar(a - norm * norm) / (norm * norm)));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(VecShift(y, -0.5));
  PetscCall(MatMultTranspose(J, y, g));
  PetscCall(VecNorm(y, NORM_2, &ynorm));
  PetscCall(VecNorm(g, NORM_2, &xnorm));
  PetscCall(VecDot(x, g, &a));
  PetscCall(VecDot(d, y, &b));
  if (WRONG(!(xnorm > 0) || !(PetscAbsScalar(a - b) <= TEST_EPS(4.5) * norm * ynorm)))
    FAIL("%s: <x, J^T y> - <Jx, y> = %g of |Jx| |y|", name, (double)(PetscAbsScalar(a - b) / (norm * ynorm)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All orders, with and without a free surface, sources and receivers at and between nodes */
static PetscErrorCode TestOrders(const PetscInt n[3], PetscInt width, PetscInt steps)
{
  const PetscInt orders[4] = {2, 4, 8, 12};

  PetscFunctionBegin;
  for (int between = 0; between < 2; between++) {
    for (int surface = 0; surface < 2; surface++) {
      for (int k = 0; k < 4; k++) {
        Mat  J;
        char name[64];

        PetscCall(TestCreate(n, (PetscBool)between, steps, 1 + surface, &J));
        PetscCall(MatBornSetOrder(J, orders[k]));
        PetscCall(MatBornSetFreeSurface(J, (PetscBool)surface));
        PetscCall(MatBornSetSponge(J, width, PETSC_DETERMINE));
        if (!between) PetscCall(MatBornSetInterpolation(J, MATBORN_INTERPOLATION_NONE));
        PetscCall(
          PetscSNPrintf(name, sizeof(name), "%d-D, order %d%s%s", n[2] == 1 ? 2 : 3, (int)orders[k], surface ? ", free surface" : "", between ? ", sinc" : ""));
        PetscCall(TestDots(J, name));
        PetscCall(MatDestroy(&J));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of checkpoints changes no bit; rare samples, and steps after the last sample */
static PetscErrorCode TestCheckpoints(const PetscInt n[3])
{
  const PetscInt numbers[] = {1, 2, 3, 4, 7, 40, 41, 100, PETSC_DECIDE};
  Mat            J;
  Vec            y, first, g;
  PetscBool      same;

  PetscFunctionBegin;
  PetscCall(TestCreate(n, PETSC_TRUE, 41, 3, &J));
  PetscCall(MatBornSetSponge(J, 4, PETSC_DETERMINE));
  PetscCall(MatCreateVecs(J, &first, &y));
  PetscCall(VecDuplicate(first, &g));
  PetscCall(VecSetRandom(y, NULL));
  for (int k = 0; k < (int)PETSC_STATIC_ARRAY_LENGTH(numbers); k++) {
    PetscCall(TestSetOptions(J, "-mat_born_checkpoints %" PetscInt_FMT, numbers[k]));
    PetscCall(MatMultTranspose(J, y, k ? g : first));
    if (!k) continue;
    PetscCall(VecEqual(first, g, &same));
    if (WRONG(!same)) FAIL("another image with %d checkpoints", (int)numbers[k]);
  }
  PetscCall(TestDots(J, "a sample every third step"));
  PetscCall(VecDestroy(&first));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&g));
  PetscCall(MatDestroy(&J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestParameters(const PetscInt n[3])
{
  PetscFunctionBegin;
  for (int p = 0; p < 3; p++) {
    Mat J;

    PetscCall(TestCreate(n, PETSC_TRUE, 40, 1, &J));
    PetscCall(MatBornSetSponge(J, 0, PETSC_DETERMINE));
    PetscCall(MatBornSetParameter(J, (MatBornParameter)p));
    PetscCall(TestDots(J, MatBornParameters[p]));
    PetscCall(MatDestroy(&J));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt plane[3] = {34, 29, 1}, space[3] = {22, 18, 19}, small[3] = {24, 20, 1};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestOrders(plane, 6, 70));
  PetscCall(TestOrders(space, 5, 48));
  PetscCall(TestCheckpoints(small));
  PetscCall(TestParameters(small));
  return TestEnd(80, "all dot products agree\n");
}

/*TEST

  test:
    requires: !complex

TEST*/
