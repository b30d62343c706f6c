/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCSBPMG: symmetric with every option, few iterations on every grid, the same on any number of processes.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

typedef struct {
  const char *options;
  PetscInt    its; /* to rtol = 1e-6, at most, on both grids */
} Case;

static const Case cases[] = {
  {"", 8},
  {"-pc_sbpmg_precision double", 8},
  {"-pc_sbpmg_graph 0", 8},
  {"-pc_sbpmg_smoother chebyshev4", 10},
  {"-pc_sbpmg_smoother richardson2", 12},
  {"-pc_sbpmg_smoother richardson -pc_sbpmg_smooths 5", 30},
  {"-pc_sbpmg_smooths 3", 7},
  {"-pc_sbpmg_smooths 1 -pc_sbpmg_fraction 0.25", 14},
  {"-pc_sbpmg_cycle f", 8},
  {"-pc_sbpmg_coarse rediscretized", 14},
  {"-pc_sbpmg_coarse rediscretized -pc_sbpmg_smoother richardson -pc_sbpmg_smooths 5 -pc_sbpmg_precision double", 30},
  {"-pc_sbpmg_dense 0", 8},
  {"-pc_sbpmg_spectrum_size 8 -pc_sbpmg_spectrum_steps 8", 9},
};

/* x' M y = y' M x, x' M x > 0 */
static PetscErrorCode TestSymmetry(System *s, KSP ksp, const char options[])
{
  PetscScalar xy, yx, xx, yy;
  PetscReal   tolerance;
  PetscBool   isdouble;
  Vec         x, y, mx, my;
  PC          pc;

  PetscFunctionBeginUser;
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(VecDuplicate(s->b, &x));
  PetscCall(VecDuplicate(s->b, &y));
  PetscCall(VecDuplicate(s->b, &mx));
  PetscCall(VecDuplicate(s->b, &my));
  PetscCall(FillNoise(s->da, 1, x));
  PetscCall(FillNoise(s->da, 2, y));
  PetscCall(PCApply(pc, x, mx));
  PetscCall(PCApply(pc, y, my));
  PetscCall(VecTDot(mx, y, &xy));
  PetscCall(VecTDot(my, x, &yx));
  PetscCall(VecDot(mx, x, &xx));
  PetscCall(VecDot(my, y, &yy));
  PetscCall(PetscStrncmp(options, "-pc_sbpmg_precision double", 26, &isdouble));
  tolerance = (isdouble && PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-12 : (PetscReal)1e-5) * PetscSqrtReal(PetscRealPart(xx) * PetscRealPart(yy));
  if (WRONG(PetscAbsScalar(xy - yx) > tolerance)) FAIL("%s: not symmetric, %g and %g", options, (double)PetscRealPart(xy), (double)PetscRealPart(yx));
  if (WRONG(!(PetscRealPart(xx) > 0 && PetscRealPart(yy) > 0)))
    FAIL("%s: not positive definite, %g and %g", options, (double)PetscRealPart(xx), (double)PetscRealPart(yy));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&mx));
  PetscCall(VecDestroy(&my));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountIterations(System *s, KSP ksp, PetscInt *its)
{
  KSPConvergedReason reason;

  PetscFunctionBeginUser;
  PetscCall(VecZeroEntries(s->x));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason <= 0) *its = PETSC_INT_MAX;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Several processes need as many iterations as a single process, unless a rounding error decides */
static PetscErrorCode TestGrid(PetscInt nr, PetscInt ns, PetscInt levels)
{
  System s, self;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(PETSC_COMM_WORLD, nr, ns, 2, &s));
  if (size > 1) PetscCall(SystemCreate(PETSC_COMM_SELF, nr, ns, 2, &self));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) {
    PetscInt its, alone;
    char     options[256];
    KSP      ksp;

    PetscCall(PetscSNPrintf(options, sizeof(options), "%s -pc_sbpmg_levels %" PetscInt_FMT, cases[k].options, levels));
    PetscCall(SolverCreate(s.A, KSPCG, (PetscReal)1e-6, options, &ksp));
    PetscCall(TestSymmetry(&s, ksp, options));
    PetscCall(CountIterations(&s, ksp, &its));
    PetscCall(KSPDestroy(&ksp));
    if (WRONG(its > cases[k].its)) FAIL("%" PetscInt_FMT " x %" PetscInt_FMT " %s: %" PetscInt_FMT " iterations", nr, ns, options, its);
    if (size == 1) continue;
    PetscCall(SolverCreate(self.A, KSPCG, (PetscReal)1e-6, options, &ksp));
    PetscCall(CountIterations(&self, ksp, &alone));
    PetscCall(KSPDestroy(&ksp));
    if (WRONG(PetscAbsInt(alone - its) > 1))
      FAIL("%" PetscInt_FMT " x %" PetscInt_FMT " %s: %" PetscInt_FMT " iterations, one process alone %" PetscInt_FMT, nr, ns, options, its, alone);
  }
  PetscCall(SystemDestroy(&s));
  if (size > 1) PetscCall(SystemDestroy(&self));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool large = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-large", &large, NULL));
  PetscCall(TestGrid(48, 40, 3));
  if (large) {
    PetscCall(TestGrid(128, 128, 4));
    PetscCall(TestGrid(256, 256, PETSC_DECIDE));
  }
  return TestEnd(81, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    args: -large

  test:
    suffix: 2
    nsize: {{2 3 4}}
    args: -large
    output_file: output/right.out

  test:
    suffix: cuda
    requires: cuda
    args: -dm_vec_type cuda -test_least 36
    output_file: output/right.out

TEST*/
