/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "KSPCBGMRES and KSPCBFGMRES against KSPGMRES: sides, norms, storages, orthogonalisation; monitors get true norms.\n\n";

#include <tests/cbgmres/ksptest.h>
#include <petsc/private/kspimpl.h>

/* Matrix and preconditioner */
static const struct {
  TestKind    kind;
  const char *pc;
} problems[] = {{TEST_CONVECTION, "-pc_type jacobi"},
                {TEST_STAR7, "-pc_type none"},
                {TEST_BLOCKS, "-pc_type bjacobi -sub_pc_type ilu"},
                {TEST_FEM, "-pc_type jacobi -pc_jacobi_type rowmax"},
                {TEST_BOX27, "-pc_type asm -sub_pc_type sor -sub_pc_sor_its 2"}};

/* A monitor's observations */
typedef struct {
  PetscInt  next;
  PetscReal worst; /* relative difference between the reported norm and the norm of the residual which the monitor builds */
  PetscReal first, last;
  PetscBool build;
} Seen;

static PetscErrorCode Monitor(KSP ksp, PetscInt its, PetscReal norm, void *ctx)
{
  Seen     *seen = (Seen *)ctx;
  PetscReal built;
  Vec       r, t, v;

  PetscFunctionBeginUser;
  if (WRONG(its != seen->next)) FAIL("a monitor is called for iteration %" PetscInt_FMT " instead of %" PetscInt_FMT, its, seen->next);
  seen->next = its + 1;
  if (!its) seen->first = norm;
  seen->last = norm;
  if (!seen->build) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(ksp->vec_rhs, &t));
  PetscCall(VecDuplicate(ksp->vec_rhs, &v));
  PetscCall(KSPBuildResidual(ksp, t, v, &r));
  if (ksp->pc_side == PC_LEFT) {
    PetscCall(KSP_PCApply(ksp, r, t));
    r = t;
  }
  PetscCall(VecNorm(r, NORM_2, &built));
  /* near the end the recurrence falls below the rounding of the basis */
  if (norm > 1e-3 * seen->first) seen->worst = PetscMax(seen->worst, PetscAbsReal(built - norm) / norm);
  PetscCall(VecDestroy(&t));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Solves with the right-hand side A u of a known u; returns iterations, or -1 if the residual is wrong */
static PetscErrorCode Solve(Mat A, const char options[], PetscReal rtol, PetscBool build, PetscInt *its, Seen *seen)
{
  KSP                ksp;
  KSPConvergedReason reason;
  KSPNormType        norm;
  PetscReal          residual, rnorm;
  PetscInt           history;
  Vec                x, b;

  PetscFunctionBeginUser;
  PetscCall(PetscMemzero(seen, sizeof(*seen)));
  seen->build = build;
  PetscCall(TestCreateVec(A, PETSC_FALSE, NULL, 3, &x));
  PetscCall(VecDuplicate(x, &b));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecZeroEntries(x));
  PetscCall(TestCreateKSP(A, options, &ksp));
  PetscCall(KSPSetTolerances(ksp, rtol, PETSC_CURRENT, PETSC_CURRENT, 2000));
  PetscCall(KSPSetResidualHistory(ksp, NULL, PETSC_DECIDE, PETSC_TRUE));
  PetscCall(KSPMonitorSet(ksp, Monitor, seen, NULL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, its));
  PetscCall(KSPGetResidualNorm(ksp, &rnorm));
  PetscCall(KSPGetNormType(ksp, &norm));
  PetscCall(KSPGetResidualHistory(ksp, NULL, &history));
  PetscCall(TestResidual(A, x, b, &residual));
  if (WRONG(history != *its + 1 || seen->next != *its + 1))
    FAIL("%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " numbers in the history, %" PetscInt_FMT " calls of the monitor", options, *its, history,
         seen->next);
  if (WRONG(rnorm != seen->last)) FAIL("%s: KSPGetResidualNorm() is not what the last monitor was told", options);
  if (WRONG(reason <= 0 || rnorm > rtol * seen->first || (norm == KSP_NORM_UNPRECONDITIONED && residual > rtol * (1 + 1e-6) + 10 * PETSC_MACHINE_EPSILON))) {
    FAIL("%s: %s after %" PetscInt_FMT " iterations, the residual is %g", options, KSPConvergedReasons[reason], *its, (double)residual);
    *its = -1;
  }
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares iterations of cbgmres with gmres; a storage may need some more */
static PetscErrorCode TestAgainst(Mat A, const char theirs[], const char ours[], double more)
{
  PetscInt its[2];
  Seen     seen;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, theirs, 1e-8, PETSC_FALSE, &its[0], &seen));
  PetscCall(Solve(A, ours, 1e-8, PETSC_FALSE, &its[1], &seen));
  if (WRONG(its[1] > (1 + more) * its[0] + 1)) FAIL("%s: %" PetscInt_FMT " iterations, %s: %" PetscInt_FMT, theirs, its[0], ours, its[1]);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sides and norms, with the default storage and with double */
static PetscErrorCode TestSides(Mat A, const char pc[])
{
  static const char *const sides[] = {"-ksp_pc_side left -ksp_norm_type preconditioned", "-ksp_pc_side right -ksp_norm_type unpreconditioned"};
  char                     theirs[512], ours[512];

  PetscFunctionBeginUser;
  for (int side = 0; side < 2; side++) {
    PetscCall(PetscSNPrintf(theirs, sizeof(theirs), TEST_GMRES_REFINED " -ksp_gmres_restart 25 %s %s", sides[side], pc));
    PetscCall(PetscSNPrintf(ours, sizeof(ours), "-ksp_type cbgmres -ksp_gmres_restart 25 -ksp_cbgmres_storage double %s %s", sides[side], pc));
    PetscCall(TestAgainst(A, theirs, ours, 0.0));
    PetscCall(PetscSNPrintf(ours, sizeof(ours), "-ksp_type cbgmres -ksp_gmres_restart 25 %s %s", sides[side], pc));
    PetscCall(TestAgainst(A, theirs, ours, 0.05));
  }
  PetscCall(PetscSNPrintf(theirs, sizeof(theirs), "-ksp_type fgmres -ksp_gmres_restart 25 %s", pc));
  PetscCall(PetscSNPrintf(ours, sizeof(ours), "-ksp_type cbfgmres -ksp_gmres_restart 25 %s", pc));
  PetscCall(TestAgainst(A, theirs, ours, 0.05));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every storage: the solution is as accurate, and monitors see true norms */
static PetscErrorCode TestStorages(Mat A, const char pc[])
{
  char     options[512];
  PetscInt its, reference;
  Seen     seen;

  PetscFunctionBeginUser;
  for (int flexible = 0; flexible < 2; flexible++) {
    for (int s = 0; s < NSTORAGES; s++) {
      PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type %s -ksp_gmres_restart 20 -ksp_cbgmres_storage %s %s", flexible ? "cbfgmres" : "cbgmres",
                              storages[s].name, pc));
      PetscCall(Solve(A, options, 1e-9, PETSC_TRUE, &its, &seen));
      if (!s) reference = its;
      if (WRONG(storages[s].unit < 1e-8 && its > 1.1 * reference + 2))
        FAIL("%s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " with double", options, its, reference);
      /* a norm of 1e-3 of the first norm, plus rounding of the solution */
      if (WRONG(!(seen.worst <= 1e-9 + 5e3 * storages[s].unit))) FAIL("%s: norms differ by %g from those of residuals", options, (double)seen.worst);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOrthogonalization(Mat A, const char pc[])
{
  static const char *const kinds[] = {"-ksp_orthogonalization cgs", "-ksp_orthogonalization mgs", "-ksp_orthogonalization_cgs_refinement_type refine_ifneeded",
                                      "-ksp_orthogonalization_cgs_refinement_type refine_always"};
  char                     options[512];
  PetscInt                 its[4];
  Seen                     seen;

  PetscFunctionBeginUser;
  for (int kind = 0; kind < 4; kind++) {
    PetscCall(PetscSNPrintf(options, sizeof(options), "-ksp_type cbgmres -ksp_cbgmres_check_every %d %s %s", 1 + kind % 3, kinds[kind], pc));
    PetscCall(Solve(A, options, 1e-9, PETSC_FALSE, &its[kind], &seen));
    if (WRONG(PetscAbs(its[kind] - its[0]) > 1)) FAIL("%s: %" PetscInt_FMT " iterations instead of %" PetscInt_FMT, options, its[kind], its[0]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool few = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-few", &few, NULL));
  for (size_t p = 0; p < (few ? 1 : PETSC_STATIC_ARRAY_LENGTH(problems)); p++) {
    Mat A;

    PetscCall(TestCreateOperator(PETSC_COMM_WORLD, problems[p].kind, 0, &A));
    PetscCall(TestSides(A, problems[p].pc));
    if (p < 3 && !few) PetscCall(TestStorages(A, problems[p].pc));
    if (!few) PetscCall(TestOrthogonalization(A, problems[p].pc));
    PetscCall(MatDestroy(&A));
  }
  return TestEnd(3400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3}}

  test:
    suffix: cuda
    requires: cuda
    args: -vec_type cuda
    output_file: output/right.out

  test:
    suffix: cusparse
    requires: cuda
    nsize: {{1 2}}
    args: -operator_types aijcusparse -vec_type cuda -few -test_least 579
    output_file: output/right.out

  test:
    suffix: cuda_vcrs
    requires: cuda
    nsize: {{1 2}}
    args: -operator_types aijcusparse,vcrs -vec_type cuda -few -test_least 579
    output_file: output/right.out

TEST*/
