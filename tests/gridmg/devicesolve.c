/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG on a device: symmetric and positive definite, as many iterations as on the host; KSPFCG without copies to the host.\n\n";

#include "gridmgviewtest.h"

static const GridProblem problems[] = {{.name = "random", .n = {40, 41, 33}, .sigma = 1},
                                       {.name = "decades", .n = {31, 30, 29}, .faces = FACES_DECADES, .sigma = 1e-3},
                                       {.name = "jumps", .n = {61, 35, 29}, .sigma = 1e-3, .faces = FACES_JUMPS},
                                       {.name = "z is strong", .n = {33, 32, 71}, .strength = {1, 1, 1000}, .sigma = 0.1},
                                       {.name = "in the plane", .n = {219, 194, 1}, .sigma = 1e-3},
                                       {.name = "holes", .n = {39, 38, 27}, .sigma = 1, .holes = 4},
                                       {.name = "wells", .n = {49, 48, 27}, .sigma = 1e-2, .after = 5},
                                       {.name = "faults and wells", .n = {49, 38, 27}, .sigma = 1, .faults = 59, .after = 2, .holes = 6}};

static const char *const options[] = {"-@pc_gridmg_coarse_size 300", "-@pc_gridmg_coarse_size 300 -@pc_gridmg_cycle v -@pc_gridmg_coarsen semi",
                                      "-@pc_gridmg_coarse_size 300 -@pc_gridmg_smooths 2"};

/* x'My = y'Mx, x'Mx > 0 */
static PetscErrorCode TestForm(const GridProblem *p, PC pc, Mat A, const char with[])
{
  Vec         x[2], y[2];
  PetscScalar a, b, c[2];

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x[0], &y[0]));
  PetscCall(VecDuplicate(x[0], &x[1]));
  PetscCall(VecDuplicate(x[0], &y[1]));
  for (int k = 0; k < 2; k++) {
    PetscCall(TestFillVec(x[k], 5 + k));
    PetscCall(VecRealPart(x[k]));
    PetscCall(PCApply(pc, x[k], y[k]));
    PetscCall(VecDot(y[k], x[k], &c[k]));
    if (WRONG(!(PetscRealPart(c[k]) > 0))) FAIL("%s, %s: x'Mx = %g", p->name, with, (double)PetscRealPart(c[k]));
  }
  PetscCall(VecDot(y[0], x[1], &a));
  PetscCall(VecDot(y[1], x[0], &b));
  if (WRONG(!(PetscAbsScalar(a - b) <= (PetscReal)1e-5 * PetscSqrtReal(PetscAbsScalar(c[0] * c[1])))))
    FAIL("%s, %s: x'My = %g, y'Mx = %g", p->name, with, (double)PetscRealPart(a), (double)PetscRealPart(b));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* KSPFCG of PETSc would copy vectors to the host in each iteration */
static PetscErrorCode TestFlexible(const GridProblem *p, Mat A)
{
#if PetscDefined(USE_LOG) && PetscDefined(HAVE_CUDA)
  KSPConvergedReason reason;
  PetscLogDouble     before = 0;
  PetscInt           its[2], n;
  KSP                ksp;
  PC                 pc;
  Vec                x, b;

  PetscFunctionBeginUser;
  PetscCall(CreateGridPC(p, A, "-@pc_gridmg_cycle k", &pc));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetType(ksp, KSPFCG));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecGetSize(b, &n));
  PetscCall(TestFillVec(b, 3));
  PetscCall(VecRealPart(b));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecSet(x, 0.0));
    before = petsc_gtoc_sz;
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its[k]));
    if (WRONG(reason < 0)) FAIL("%s: KSPFCG does not converge: %s", p->name, KSPConvergedReasons[reason]);
  }
  if (WRONG(its[0] != its[1])) FAIL("%s: KSPFCG takes %d iterations, then %d", p->name, (int)its[0], (int)its[1]);
  if (WRONG(petsc_gtoc_sz - before > (double)n * sizeof(PetscScalar)))
    FAIL("%s: KSPFCG copies %g bytes to the host in %d iterations with %d rows", p->name, petsc_gtoc_sz - before, (int)its[1], (int)n);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(KSPDestroy(&ksp));
#else
  PetscFunctionBeginUser;
  (void)p;
  (void)A;
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestProblem(const GridProblem *p)
{
  Mat A, B, C;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &C));
  for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(options); o++) {
    PetscInt  host, device;
    PetscReal residual;
    PC        pc;

    PetscCall(CreateGridPC(p, B, options[o], &pc));
    PetscCall(TestForm(p, pc, B, options[o]));
    PetscCall(PCDestroy(&pc));
    PetscCall(GridIterations(p, A, KSPCG, options[o], &host, &residual));
    for (int type = 0; type < 2; type++) {
      PetscCall(GridIterations(p, type ? C : B, KSPCG, options[o], &device, &residual));
      /* -1: with ten decades rounding may keep residuals above the tolerance, on the host as well */
      if (WRONG((device < 0) != (host < 0) || PetscAbsInt(device - host) > 1))
        FAIL("%s, %s: %d iterations on the device, %d on the host", p->name, options[o], (int)device, (int)host);
      if (WRONG(host >= 0 && !(residual < 10))) FAIL("%s, %s: the residual is %g times the tolerance", p->name, options[o], (double)residual);
    }
  }
  if (p->faces != FACES_DECADES && p->faces != FACES_JUMPS) PetscCall(TestFlexible(p, B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) PetscCall(TestProblem(&problems[k]));
  return TestEnd(100, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda

TEST*/
