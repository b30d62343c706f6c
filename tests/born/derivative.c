/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: the derivative of MatBornModel(), by Taylor's theorem, and a reflectivity recovered by KSPLSQR.\n\n";

#include "borntest.h"
#include <petscksp.h>

/* ------------------------------------------------------------ Taylor */

/* v of the changed parameter, p(v) + epsilon x */
static PetscErrorCode TestChange(MatBornParameter parameter, Vec v, PetscReal epsilon, Vec x, Vec changed)
{
  const PetscScalar *from, *by;
  PetscScalar       *to;
  PetscInt           n;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(v, &n));
  PetscCall(VecGetArrayRead(v, &from));
  PetscCall(VecGetArrayRead(x, &by));
  PetscCall(VecGetArrayWrite(changed, &to));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal c = PetscRealPart(from[i]), d = epsilon * PetscRealPart(by[i]);

    if (parameter == MATBORN_PARAMETER_REFLECTIVITY) to[i] = c * PetscSqrtReal(1 + d);
    else if (parameter == MATBORN_PARAMETER_VELOCITY) to[i] = c + d;
    else to[i] = 1 / PetscSqrtReal(1 / (c * c) + d);
  }
  PetscCall(VecRestoreArrayRead(v, &from));
  PetscCall(VecRestoreArrayRead(x, &by));
  PetscCall(VecRestoreArrayWrite(changed, &to));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Halving e must divide |F(v + e x) - F(v) - e J x| by four; without the term e J x only by two */
static PetscErrorCode TestTaylor(const PetscInt n[3], PetscInt order, PetscBool surface, MatBornParameter parameter)
{
  const PetscReal h[3] = {1, 1, 1}, dt = 0.15;
  const PetscInt  steps     = 70;
  PetscReal       source[3] = {9.4, 8.2, 8}, receivers[6], epsilon = 0.004, last = 0, norm;
  const int       dim = n[2] == 1 ? 2 : 3;
  DM              da;
  Mat             J;
  Vec             v, x, base, d, e, changed;

  PetscFunctionBegin;
  PetscCall(BornTestDM(n, &da));
  PetscCall(BornTestVelocity(da, &v));
  PetscCall(VecDuplicate(v, &changed));
  PetscCall(MatCreateBorn(da, &J));
  PetscCall(BornTestExact(J));
  PetscCall(MatBornSetSpacing(J, h));
  PetscCall(MatBornSetOrder(J, order));
  PetscCall(MatBornSetParameter(J, parameter));
  PetscCall(MatBornSetFreeSurface(J, surface));
  PetscCall(MatBornSetSponge(J, 5, PETSC_DETERMINE));
  PetscCall(MatBornSetTime(J, dt, steps, 2));
  PetscCall(BornTestBurst(J, steps));
  for (int r = 0; r < 2; r++) {
    for (int d0 = 0; d0 < dim; d0++) receivers[dim * r + d0] = 5.3 + 3 * r + d0;
  }
  PetscCall(MatBornAddShot(J, source, 2, receivers));
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatCreateVecs(J, &x, &base));
  PetscCall(VecDuplicate(base, &d));
  PetscCall(VecDuplicate(base, &e));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatBornModel(J, base));
  PetscCall(MatMult(J, x, d));
  PetscCall(MatBornSetVelocity(J, changed));
  for (int k = 0; k < 5; k++, epsilon /= 2) {
    PetscCall(TestChange(parameter, v, epsilon, x, changed));
    PetscCall(MatBornModel(J, e));
    PetscCall(VecAXPY(e, -1, base));
    PetscCall(VecAXPY(e, -epsilon, d));
    PetscCall(VecNorm(e, NORM_2, &norm));
    if (k && WRONG(!(PetscAbsReal(PetscLog2Real(last / norm) - 2) < 0.1)))
      FAIL("%d-D, order %d, %s: slope %g", dim, (int)order, MatBornParameters[parameter], (double)PetscLog2Real(last / norm));
    last = norm;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&base));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&changed));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ least squares */

/* Two layers and a lens under shots and receivers at the top. Compares the solution of LSQR for Born data with a single
   transpose */
static PetscErrorCode TestLeastSquares(void)
{
  const PetscInt  n[3] = {71, 51, 1};
  const PetscReal dt   = 0.4;
  PetscReal       receivers[2 * 27], norm, residual, error, length, image;
  PetscScalar    *p, dot;
  DM              da;
  Mat             J;
  KSP             ksp;
  PC              pc;
  Vec             v, m, d, e, x;

  PetscFunctionBegin;
  PetscCall(BornTestDM(n, &da));
  PetscCall(DMDASetUniformCoordinates(da, 0, 70, 0, 50, 0, 0));
  PetscCall(DMCreateGlobalVector(da, &v));
  PetscCall(VecSet(v, 1));
  PetscCall(MatCreateBorn(da, &J));
  PetscCall(BornTestExact(J));
  PetscCall(MatBornSetSponge(J, 10, PETSC_DETERMINE));
  PetscCall(MatBornSetVelocity(J, v));
  PetscCall(MatBornSetTime(J, dt, 230, 4));
  PetscCall(BornTestWavelet(J, 0.1, 12, dt, 80));
  for (int r = 0; r < 27; r++) {
    receivers[2 * r]     = 9 + 2 * (PetscReal)r;
    receivers[2 * r + 1] = 12;
  }
  for (int s = 0; s < 5; s++) {
    const PetscReal source[2] = {15 + 10 * (PetscReal)s, 11.5};

    PetscCall(MatBornAddShot(J, source, 27, receivers));
  }
  PetscCall(MatSetFromOptions(J));
  PetscCall(MatCreateVecs(J, &m, &d));
  PetscCall(VecDuplicate(m, &x));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(VecGetArrayWrite(m, &p));
  for (PetscInt j = 0; j < n[1]; j++) {
    for (PetscInt i = 0; i < n[0]; i++) {
      const PetscReal window = i > 12 && i < 58 ? PetscSqr(PetscSinReal(PETSC_PI * (PetscReal)(i - 12) / 46)) : 0;
      const PetscReal deep = (PetscReal)j - 24 - 0.08 * (PetscReal)i, deeper = (PetscReal)j - 36;

      p[i + n[0] * j] = window * (0.1 * Ricker(0.12, 0, deep) - 0.06 * Ricker(0.12, 0, deeper));
    }
  }
  PetscCall(VecRestoreArrayWrite(m, &p));
  PetscCall(MatMult(J, m, d));

  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetType(ksp, KSPLSQR));
  PetscCall(KSPSetOperators(ksp, J, J));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, 1e-12, 0, PETSC_CURRENT, 30));
  PetscCall(KSPSetFromOptions(ksp));
  PetscCall(KSPSolve(ksp, d, x));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(MatMult(J, x, e));
  PetscCall(VecAXPY(e, -1, d));
  PetscCall(VecNorm(e, NORM_2, &residual));
  if (WRONG(!(residual < 0.02 * norm))) FAIL("least squares: %g of the data are left", (double)(residual / norm));
  PetscCall(VecNorm(m, NORM_2, &length));
  PetscCall(VecDot(x, m, &dot));
  PetscCall(VecNorm(x, NORM_2, &error));
  error = PetscRealPart(dot) / length / error;
  PetscCall(MatMultTranspose(J, d, x));
  PetscCall(VecDot(x, m, &dot));
  PetscCall(VecNorm(x, NORM_2, &image));
  image = PetscRealPart(dot) / length / image;
  if (WRONG(!(error > 0.9))) FAIL("least squares: the correlation with the model is %g", (double)error);
  if (WRONG(!(error > image + 0.2))) FAIL("least squares: the correlation with the model is %g, that of one image %g", (double)error, (double)image);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&v));
  PetscCall(VecDestroy(&m));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt plane[3] = {26, 24, 1}, space[3] = {19, 18, 17}, orders[4] = {2, 4, 8, 12};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int k = 0; k < 4; k++) {
    PetscCall(TestTaylor(plane, orders[k], PETSC_FALSE, (MatBornParameter)(k % 3)));
    PetscCall(TestTaylor(plane, orders[k], PETSC_TRUE, (MatBornParameter)((k + 1) % 3)));
    PetscCall(TestTaylor(space, orders[k], (PetscBool)(k % 2), (MatBornParameter)((k + 2) % 3)));
  }
  PetscCall(TestLeastSquares());
  return TestEnd(51, "the derivative is one, and least squares find the model\n");
}

/*TEST

  test:
    requires: !complex double

TEST*/
