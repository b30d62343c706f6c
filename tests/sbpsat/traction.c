/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Tractions of MATSBPSAT: orders of convergence; tractions of harmonic functions are in balance, symmetric and positive.\n\n";

#include "tractiontest.h"

/* ------------------------------------------------------------ orders of convergence */

/* The solution of the boundary values g of all faces and of the source in b. b receives the right-hand side */
static PetscErrorCode Solve(Case *s, Vec b, const Vec g[4], Vec u)
{
  KSP ksp;

  PetscFunctionBeginUser;
  for (int f = 0; f < 4; f++) PetscCall(MatSBPSATAddBoundary(s->A, (MatSBPSATFace)f, g[f], b));
  PetscCall(SolverCreate(s->A, KSPCG, (PetscReal)1e-14, "", &ksp));
  PetscCall(KSPSolve(ksp, b, u));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Leaves a vector's values in the middle three quarters of a face */
static PetscErrorCode KeepMiddle(Case *s, int face, Vec v)
{
  const int     e = 1 - face / 2;
  PetscInt      start[2], count[2];
  PetscScalar **a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetCorners(s->da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArray(s->da, v, &a));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscInt at = e ? j : i;

      if (8 * at < s->n[e] || 8 * at > 7 * s->n[e]) a[j][i] = 0;
    }
  }
  PetscCall(DMDAVecRestoreArray(s->da, v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef enum {
  FACE,   /* in the norm of the face */
  MIDDLE, /* the same without the eighths next to the corners */
  MOST,   /* largest */
  BARE,   /* in the norm of the face, of the derivative without the penalty */
  ERRORS
} Error;

/* Errors of the tractions of the solution */
static PetscErrorCode TractionErrors(Case *s, PetscReal error[4][ERRORS])
{
  Vec u, g, t, exact;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->b, &u));
  PetscCall(VecDuplicate(s->b, &g));
  PetscCall(VecDuplicate(s->b, &t));
  PetscCall(VecDuplicate(s->b, &exact));
  PetscCall(VecSet(s->b, 0.));
  PetscCall(Fill(s->da, s->shape, SOURCE, 0, g));
  PetscCall(MatSBPSATAddSource(s->A, g, s->b));
  PetscCall(Fill(s->da, s->shape, SOLUTION, 0, g));
  PetscCall(Solve(s, s->b, (const Vec[4]){g, g, g, g}, u));
  for (int f = 0; f < 4; f++) {
    PetscScalar square[ERRORS];

    PetscCall(Fill(s->da, s->shape, TRACTION + f, 0, exact));
    PetscCall(VecCopy(exact, t)); /* no error off the face */
    PetscCall(MatSBPSATGetTraction(s->A, (MatSBPSATFace)f, u, u, t));
    PetscCall(VecAXPY(t, -1., exact));
    PetscCall(FaceProduct(s, f, t, t, &square[BARE]));
    PetscCall(VecCopy(exact, t));
    PetscCall(MatSBPSATGetTraction(s->A, (MatSBPSATFace)f, u, g, t));
    PetscCall(VecAXPY(t, -1., exact));
    PetscCall(VecNorm(t, NORM_INFINITY, &error[f][MOST]));
    PetscCall(FaceProduct(s, f, t, t, &square[FACE]));
    PetscCall(KeepMiddle(s, f, t));
    PetscCall(FaceProduct(s, f, t, t, &square[MIDDLE]));
    error[f][FACE]   = PetscSqrtReal(PetscAbsScalar(square[FACE]));
    error[f][MIDDLE] = PetscSqrtReal(PetscAbsScalar(square[MIDDLE]));
    error[f][BARE]   = PetscSqrtReal(PetscAbsScalar(square[BARE]));
  }
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Orders on three grids. Derivatives along a face are of order p/2 at its ends. There c_rs, or a coefficient from
   differences of coordinates, leaves an error of this order at a few nodes: of order p/2 + 1/2 in the norm of the face.
   In the middle of the face the orders of the solution hold. -table prints the errors
*/
static PetscErrorCode TestOrders(PetscInt order, Shape shape, Kind kind)
{
  static const PetscReal face[3] = {1.4, 2.1, 3.3}, middle[3] = {1.9, 3.8, 5.9};
  PetscReal              error[3][4][ERRORS];
  PetscBool              table = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-table", &table, NULL));
  for (int m = 0; m < 3; m++) {
    const PetscInt n[2] = {(PetscInt)32 << m, (PetscInt)32 << m};
    Case           s;

    PetscCall(CaseCreate(PETSC_COMM_WORLD, n, NULL, NULL, order, shape, kind, &s));
    PetscCall(TractionErrors(&s, error[m]));
    for (int f = 0; f < 4; f++) {
      PetscReal rate[ERRORS] = {0, 0, 0, 0};

      for (int k = 0; k < ERRORS && m; k++) rate[k] = PetscLog2Real(error[m - 1][f][k] / error[m][f][k]);
      if (table)
        PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                              CASE ", N = %" PetscInt_FMT ", %s: face %.2e (%.2f), middle %.2e (%.2f), largest %.2e (%.2f), without penalty %.2e (%.2f)\n",
                              CASE_ARGS(&s), n[0], MatSBPSATFaces[f], (double)error[m][f][FACE], (double)rate[FACE], (double)error[m][f][MIDDLE],
                              (double)rate[MIDDLE], (double)error[m][f][MOST], (double)rate[MOST], (double)error[m][f][BARE], (double)rate[BARE]));
      if (m < 2) continue;
      if (WRONG(!(rate[MIDDLE] >= middle[order / 2 - 1])))
        FAIL(CASE ", %s: order %g in the middle of the face, not %g", CASE_ARGS(&s), MatSBPSATFaces[f], (double)rate[MIDDLE], (double)middle[order / 2 - 1]);
      if (WRONG(!(rate[FACE] >= (order == 2 && shape == STRETCHED && kind == EXACT ? (PetscReal)1.9 : face[order / 2 - 1]))))
        FAIL(CASE ", %s: order %g in the norm of the face", CASE_ARGS(&s), MatSBPSATFaces[f], (double)rate[FACE]);
    }
    PetscCall(CaseDestroy(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ harmonic functions */

/* Tractions of two harmonic functions: in balance, and a symmetric, positive form of their boundary values */
static PetscErrorCode TestHarmonic(Case *s, PetscBool noise)
{
  Vec         u, t, g[2][4];
  PetscScalar form[2][2] = {{0, 0}, {0, 0}}, sum = 0;
  PetscReal   scale = 0, size2;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->b, &u));
  PetscCall(VecDuplicate(s->b, &t));
  for (int k = 0; k < 2; k++) {
    for (int f = 0; f < 4; f++) {
      PetscCall(Noise(s, 10 + 4 * k + f, &g[k][f]));
      if (!noise) PetscCall(Fill(s->da, s->shape, k ? (f < 2 ? X : MU) : SOLUTION, 0, g[k][f]));
      PetscCall(VecRealPart(g[k][f]));
    }
  }
  for (int k = 0; k < 2; k++) {
    PetscCall(VecSet(s->b, 0.));
    PetscCall(Solve(s, s->b, g[k], u));
    for (int f = 0; f < 4; f++) {
      PetscScalar part;

      PetscCall(MatSBPSATGetTraction(s->A, (MatSBPSATFace)f, u, g[k][f], t));
      for (int l = 0; l < 2; l++) {
        PetscCall(FaceProduct(s, f, t, g[l][f], &part));
        form[l][k] += part;
      }
      PetscCall(VecNorm(s->w, NORM_1, &size2));
      PetscCall(VecSum(s->w, &part));
      sum += part;
      scale += size2;
    }
    if (WRONG(!(PetscAbsScalar(sum) <= (PetscReal)1e-12 * scale && scale > 0)))
      FAIL(CASE ": the flux of all faces is %g of %g", CASE_ARGS(s), (double)PetscAbsScalar(sum), (double)scale);
  }
  scale = PetscSqrtReal(PetscAbsScalar(form[0][0] * form[1][1]));
  if (WRONG(!(PetscAbsScalar(form[0][1] - form[1][0]) <= (PetscReal)1e-12 * scale)))
    FAIL(CASE ": tractions are not symmetric: %g and %g", CASE_ARGS(s), (double)PetscRealPart(form[0][1]), (double)PetscRealPart(form[1][0]));
  if (WRONG(!(PetscRealPart(form[0][0]) > 0 && PetscRealPart(form[1][1]) > 0 && PetscAbsScalar(form[0][1]) < scale)))
    FAIL(CASE ": tractions are not positive", CASE_ARGS(s));
  for (int k = 0; k < 8; k++) PetscCall(VecDestroy(&g[k / 4][k % 4]));
  PetscCall(VecDestroy(&u));
  PetscCall(VecDestroy(&t));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (PetscInt order = 2; order <= 6; order += 2) {
    for (int shape = 0; shape < SHAPES; shape++) {
      for (int kind = 0; kind < FLY; kind++) {
        const PetscInt n[2] = {36, 40};
        Case           s;

        PetscCall(TestOrders(order, (Shape)shape, (Kind)kind));
        PetscCall(CaseCreate(PETSC_COMM_WORLD, n, NULL, NULL, order, (Shape)shape, (Kind)kind, &s));
        PetscCall(TestHarmonic(&s, PETSC_FALSE));
        PetscCall(TestHarmonic(&s, PETSC_TRUE));
        PetscCall(CaseDestroy(&s));
      }
    }
  }
  return TestEnd(192, "all is right\n");
}

/*TEST

  testset:
    requires: double
    output_file: output/right.out
    test:
      nsize: {{1 2}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda

TEST*/
