/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG: cycles are symmetric, positive definite and linear, below 2 with overcorrection, and the same for units of any size.\n\n";

#include "gridmgtest.h"

static const GridProblem problems[] = {
  {.name = "random", .n = {17, 16, 9}, .sigma = 1e-2},
  {.name = "decades", .n = {17, 16, 9}, .faces = FACES_DECADES, .sigma = 1e-5},
  {.name = "line", .n = {1200, 1, 1}, .dirichlet = PETSC_TRUE},
  {.name = "plane", .n = {40, 45, 1}, .dirichlet = PETSC_TRUE, .strength = {1, 1000}},
  {.name = "Neumann", .n = {17, 16, 9}},
  {.name = "holes", .n = {17, 16, 9}, .faces = FACES_DECADES, .holes = 3},
  {.name = "wells", .n = {17, 16, 9}, .sigma = 1e-3, .after = 3, .before = 2},
  {.name = "wells alone", .n = {17, 16, 9}, .after = 4, .faces = FACES_DECADES},
  {.name = "faults", .n = {17, 16, 9}, .faces = FACES_DECADES, .sigma = 1, .faults = 30, .after = 1},
  {.name = "one cell", .n = {1, 1, 1}, .sigma = 1},
  {.name = "one level", .n = {3, 4, 2}},
};

static const char *const options[] = {"",
                                      "-@pc_gridmg_cycle v",
                                      "-@pc_gridmg_cycle v -@pc_gridmg_precision double",
                                      "-@pc_gridmg_smooths 2",
                                      "-@pc_gridmg_smooths 3 -@pc_gridmg_precision double",
                                      "-@pc_gridmg_smooths 2 -@pc_gridmg_coarsen semi",
                                      "-@pc_gridmg_bits 16 -@pc_gridmg_precision double",
                                      "-@pc_gridmg_bits 32 -@pc_gridmg_coarsen full"};

/* A random right-hand side in the range of the matrix */
static PetscErrorCode CreateRight(Mat A, int seed, Vec *b)
{
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, b));
  PetscCall(TestFillVec(x, seed));
  PetscCall(VecRealPart(x));
  PetscCall(MatMult(A, x, *b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x'My = y'Mx, x'Mx > 0, and the transpose */
static PetscErrorCode TestForm(const GridProblem *p, Mat A, PC pc, const char with[])
{
  PetscReal   tolerance = 2e-4; /* vectors are in single precision, and their sums cancel */
  char       *isdouble;
  PetscScalar xmy, ymx, xmx;
  PetscReal   sizes[4];
  Vec         x[2], m[2], transposed;

  PetscFunctionBeginUser;
  PetscCall(PetscStrstr(with, "double", &isdouble));
  if (isdouble) tolerance = 1e5 * PETSC_MACHINE_EPSILON;
  for (int k = 0; k < 2; k++) {
    PetscCall(CreateRight(A, 3 + k, &x[k]));
    PetscCall(VecDuplicate(x[k], &m[k]));
    PetscCall(PCApply(pc, x[k], m[k]));
    PetscCall(VecNorm(x[k], NORM_2, &sizes[k]));
    PetscCall(VecNorm(m[k], NORM_2, &sizes[2 + k]));
  }
  PetscCall(VecDot(m[1], x[0], &xmy));
  PetscCall(VecDot(m[0], x[1], &ymx));
  PetscCall(VecDot(m[0], x[0], &xmx));
  if (WRONG(!(PetscAbsScalar(xmy - ymx) <= tolerance * PetscMax(sizes[0] * sizes[3], sizes[1] * sizes[2]))))
    FAIL("%s, %s: x'My = %g, y'Mx = %g", p->name, with, (double)PetscRealPart(xmy), (double)PetscRealPart(ymx));
  if (WRONG(!(PetscRealPart(xmx) > 0))) FAIL("%s, %s: x'Mx = %g", p->name, with, (double)PetscRealPart(xmx));
  PetscCall(VecDuplicate(x[0], &transposed));
  PetscCall(PCApplyTranspose(pc, x[0], transposed));
  PetscCall(VecAXPY(transposed, -1.0, m[0]));
  PetscCall(VecNorm(transposed, NORM_2, &sizes[0]));
  if (WRONG(sizes[0] != 0)) FAIL("%s, %s: the transpose differs by %g", p->name, with, (double)sizes[0]);
  PetscCall(VecDestroy(&transposed));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&m[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M(2^k x) = 2^k Mx to the last bit, and a second application gives the same bits */
static PetscErrorCode TestPowers(const GridProblem *p, Mat A, PC pc)
{
  static const int powers[] = {0, 100, -200, PetscDefined(USE_REAL_SINGLE) ? 10 : 900};
  PetscReal        difference;
  Vec              x, y, z;

  PetscFunctionBeginUser;
  PetscCall(CreateRight(A, 5, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PCApply(pc, x, y));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(powers); k++) {
    PetscCall(VecScale(x, (PetscReal)ldexp(1., powers[k])));
    PetscCall(PCApply(pc, x, z));
    PetscCall(VecScale(x, (PetscReal)ldexp(1., -powers[k])));
    PetscCall(VecScale(z, (PetscReal)ldexp(1., -powers[k])));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(difference != 0)) FAIL("%s: M(2^%d x) / 2^%d differs from Mx by %g", p->name, powers[k], powers[k], (double)difference);
  }
  PetscCall(VecSet(x, 0.0));
  PetscCall(PCApply(pc, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &difference));
  if (WRONG(difference != 0)) FAIL("%s: M 0 is not 0", p->name);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scaling the matrix scales the preconditioner inversely. Factors of two change nothing else; a negative matrix has a
   negative preconditioner */
static PetscErrorCode TestUnits(const GridProblem *p, Mat A, PC pc)
{
  static const double factors[] = {0x1p900, 0x1p-900, -1., -0x1p40};
  PetscReal           difference;
  Vec                 x, y, z;

  PetscFunctionBeginUser;
  if (PetscDefined(USE_REAL_SINGLE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateRight(A, 6, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(PCApply(pc, x, y));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(factors); k++) {
    Mat B;
    PC  other;

    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    PetscCall(MatScale(B, (PetscReal)factors[k]));
    PetscCall(CreateGridPC(p, B, "", &other));
    PetscCall(PCApply(other, x, z));
    PetscCall(VecScale(z, (PetscReal)factors[k]));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(!(difference == 0))) FAIL("%s: in units of %g it differs by %g", p->name, factors[k], (double)difference);
    PetscCall(PCDestroy(&other));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The spectrum of MA from conjugate gradients: within (0, 2), so the cycle also converges as an iteration */
static PetscErrorCode TestSpectrum(const GridProblem *p, Mat A, PC pc, const char with[])
{
  PetscReal most, least;
  KSP       ksp;
  Vec       x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateRight(A, 8, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPSetTolerances(ksp, 1e-6, 0.0, PETSC_CURRENT, 60));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPComputeExtremeSingularValues(ksp, &most, &least));
  if (WRONG(!(least > 0 && most < 2))) FAIL("%s, %s: the spectrum of MA is from %g to %g", p->name, with, (double)least, (double)most);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const GridProblem *p)
{
  Mat A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PC pc;

    PetscCall(CreateGridPC(p, A, options[o], &pc));
    PetscCall(TestForm(p, A, pc, options[o]));
    PetscCall(TestSpectrum(p, A, pc, options[o]));
    if (o < 2) PetscCall(TestPowers(p, A, pc));
    if (o == 0) PetscCall(TestUnits(p, A, pc));
    PetscCall(PCDestroy(&pc));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k]));
  return TestEnd(500, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

TEST*/
