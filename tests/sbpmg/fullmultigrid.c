/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCSBPMG: the error of full multigrid, orders 4 and 6, complex right-hand sides, numbers far from 1, changed coefficients, kept "
                     "preconditioners, Neumann faces, bad input.\n\n";

#include <tests/sbpmg/sbpmgtest.h>

/* The error of a direct solve, nearly */
static PetscErrorCode DiscretisationError(System *s, PetscReal *error)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(SolverCreate(s->A, KSPCG, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-12 : (PetscReal)1e-6, "", &ksp));
  PetscCall(VecZeroEntries(s->x));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(SystemError(s, s->x, error));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestFull(PetscInt N, const char options[], PetscReal factor)
{
  System    s;
  PetscReal exact, error;
  KSP       ksp;

  PetscFunctionBeginUser;
  PetscCall(SystemCreate(PETSC_COMM_WORLD, N, N, 2, &s));
  PetscCall(DiscretisationError(&s, &exact));
  PetscCall(SolverCreate(s.A, KSPPREONLY, (PetscReal)1e-6, options, &ksp));
  PetscCall(KSPSolve(ksp, s.b, s.x));
  PetscCall(SystemError(&s, s.x, &error));
  if (WRONG(!(error <= factor * exact))) FAIL("N = %" PetscInt_FMT " %s: error %g times that of the discretisation", N, options, (double)(error / exact));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(SystemDestroy(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The errors of orders 4 and 6 fall at the right rate, within few iterations; coarse cycles use the second-order
   operator */
static PetscErrorCode TestOrders(void)
{
  PetscFunctionBeginUser;
  for (PetscInt order = 4; order <= 6; order += 2) {
    for (int galerkin = 0; galerkin < 2; galerkin++) {
      PetscReal error[2];

      for (int k = 0; k < 2; k++) {
        const PetscInt N = k ? 128 : 64;
        System         s;
        PetscInt       its;
        KSP            ksp;

        PetscCall(SystemCreate(PETSC_COMM_WORLD, N, N, order, &s));
        PetscCall(
          SolverCreate(s.A, KSPCG, PetscDefined(USE_REAL_DOUBLE) ? (PetscReal)1e-11 : (PetscReal)1e-6, galerkin ? "" : "-pc_sbpmg_coarse rediscretized", &ksp));
        PetscCall(VecZeroEntries(s.x));
        PetscCall(KSPSolve(ksp, s.b, s.x));
        PetscCall(KSPGetIterationNumber(ksp, &its));
        PetscCall(SystemError(&s, s.x, &error[k]));
        if (WRONG(its > 60)) FAIL("order %" PetscInt_FMT ", N = %" PetscInt_FMT ", galerkin %d: %" PetscInt_FMT " iterations", order, N, galerkin, its);
        PetscCall(KSPDestroy(&ksp));
        PetscCall(SystemDestroy(&s));
      }
      if (WRONG(PetscDefined(USE_REAL_DOUBLE) && !(error[1] < error[0] / (order == 4 ? 6 : 8))))
        FAIL("order %" PetscInt_FMT ": errors %g and %g", order, (double)error[0], (double)error[1]);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Full multigrid, whose levels are of second order, around a matrix of higher order: only a preconditioner */
static PetscErrorCode TestFullOrders(void)
{
  PetscFunctionBeginUser;
  for (PetscInt order = 4; order <= 6; order += 2) {
    KSPConvergedReason reason;
    PetscInt           its;
    System             s;
    KSP                ksp;

    PetscCall(SystemCreate(PETSC_COMM_WORLD, 64, 64, order, &s));
    PetscCall(SolverCreate(s.A, KSPFGMRES, (PetscReal)1e-5, "-pc_sbpmg_cycle full", &ksp));
    PetscCall(VecZeroEntries(s.x));
    PetscCall(KSPSolve(ksp, s.b, s.x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    PetscCall(KSPGetIterationNumber(ksp, &its));
    if (WRONG(reason <= 0 || its > 20))
      FAIL("full multigrid, order %" PetscInt_FMT ": %" PetscInt_FMT " iterations, %s", order, its, KSPConvergedReasons[reason]);
    PetscCall(KSPDestroy(&ksp));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M (a x) = a M x also for complex a */
static PetscErrorCode TestLinear(System *s)
{
  const PetscScalar a = PetscDefined(USE_COMPLEX) ? (PetscScalar)(1.5 + 2.5 * PETSC_i) : (PetscScalar)-2.5;
  PetscReal         error, norm;
  Vec               ax, y;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->x, &ax));
  PetscCall(VecDuplicate(s->x, &y));
  for (int full = 0; full < 2; full++) {
    PetscCall(SolverCreate(s->A, KSPPREONLY, (PetscReal)1e-6, full ? "-pc_sbpmg_cycle full" : "", &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(FillNoise(s->da, 3, s->x));
    PetscCall(VecCopy(s->x, ax));
    PetscCall(VecScale(ax, a));
    PetscCall(PCApply(pc, s->x, y));
    PetscCall(PCApply(pc, ax, s->x));
    PetscCall(VecNorm(s->x, NORM_2, &norm));
    PetscCall(VecAXPY(s->x, -a, y));
    PetscCall(VecNorm(s->x, NORM_2, &error));
    if (WRONG(!(error <= 1e-5 * norm))) FAIL("not linear, cycle %s: %g of %g", full ? "full" : "v", (double)error, (double)norm);
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&ax));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks that M 2^k x is 2^l y; otherwise sets y to M x. A device records the second application and replays it */
static PetscErrorCode ApplyScaled(PC pc, PetscInt exponent, PetscInt result, Vec x, Vec y, PetscReal tolerance, const char what[])
{
  PetscReal error, norm;
  Vec       scaled, z;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &scaled));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecCopy(x, scaled));
  PetscCall(VecScale(scaled, (PetscScalar)ldexp(1., (int)exponent)));
  for (int again = 0; again < 3; again++) PetscCall(PCApply(pc, scaled, z));
  PetscCall(VecScale(z, (PetscScalar)ldexp(1., -(int)result)));
  if (tolerance < 0) PetscCall(VecCopy(z, y));
  else {
    PetscCall(VecNorm(y, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1., y));
    PetscCall(VecNorm(z, NORM_INFINITY, &error));
    if (WRONG(!(error <= tolerance * norm))) FAIL("%s, right-hand side times 2^%" PetscInt_FMT ": error %g of %g", what, exponent, (double)error, (double)norm);
  }
  PetscCall(VecDestroy(&scaled));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* M (2^k x) = 2^k M x to the last bit over the range of double precision, although levels are in single precision. 2^k
   A has 2^-k times the preconditioner */
static PetscErrorCode TestRange(System *s, const char options[])
{
  static const PetscInt exponents[] = {30, -45, 60, -140, 300, -300, 900, -900}, operators[] = {0, 300, -300};
  Vec                   x, y, mu;

  PetscFunctionBeginUser;
  if (!PetscDefined(USE_REAL_DOUBLE)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecDuplicate(s->x, &x));
  PetscCall(VecDuplicate(s->x, &y));
  PetscCall(VecDuplicate(s->x, &mu));
  PetscCall(MatSBPSATSetTensor(s->A, NULL, NULL, NULL, NULL));
  PetscCall(FillNoise(s->da, 4, x));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(operators); k++) {
    char what[256];
    KSP  ksp;
    PC   pc;

    PetscCall(PetscSNPrintf(what, sizeof(what), "%s: operator times 2^%" PetscInt_FMT, options, operators[k]));
    PetscCall(VecSet(mu, (PetscScalar)ldexp(1., (int)operators[k])));
    PetscCall(MatSBPSATSetCoefficient(s->A, mu));
    PetscCall(SolverCreate(s->A, KSPPREONLY, (PetscReal)1e-6, options, &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(ApplyScaled(pc, 0, -operators[k], x, y, k ? (PetscReal)1e-5 : -1, what));
    for (size_t e = 0; e < PETSC_STATIC_ARRAY_LENGTH(exponents) && k == 0; e++) PetscCall(ApplyScaled(pc, exponents[e], exponents[e], x, y, 0, what));
    PetscCall(KSPDestroy(&ksp));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ten times the coefficient: a tenth of the solution once the preconditioner is set up again, and not before */
static PetscErrorCode TestChange(System *s)
{
  PetscReal norm[3];
  Vec       mu;
  KSP       ksp;
  PC        pc;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->x, &mu));
  PetscCall(VecSet(mu, 1.));
  PetscCall(MatSBPSATSetTensor(s->A, NULL, NULL, NULL, NULL));
  PetscCall(MatSBPSATSetCoefficient(s->A, mu));
  PetscCall(SolverCreate(s->A, KSPPREONLY, (PetscReal)1e-6, "", &ksp));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCApply(pc, s->b, s->x));
  PetscCall(VecNorm(s->x, NORM_2, &norm[0]));
  PetscCall(VecSet(mu, 10.));
  PetscCall(MatAssemblyBegin(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(s->A, MAT_FINAL_ASSEMBLY));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_TRUE));
  PetscCall(KSPSetOperators(ksp, s->A, s->A));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCApply(pc, s->b, s->x));
  PetscCall(VecNorm(s->x, NORM_2, &norm[1]));
  PetscCall(KSPSetReusePreconditioner(ksp, PETSC_FALSE));
  PetscCall(KSPSetUp(ksp));
  PetscCall(PCApply(pc, s->b, s->x));
  PetscCall(VecNorm(s->x, NORM_2, &norm[2]));
  if (WRONG(PetscAbsReal(norm[1] - norm[0]) > 1e-5 * norm[0])) FAIL("a kept preconditioner changed from %g to %g", (double)norm[0], (double)norm[1]);
  if (WRONG(PetscAbsReal(10 * norm[2] - norm[0]) > 1e-4 * norm[0]))
    FAIL("set up for ten times the coefficient, the preconditioner gives %g instead of %g", (double)norm[2], (double)(norm[0] / 10));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&mu));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All faces have Neumann data: constants are the kernel */
static PetscErrorCode TestNeumann(System *s, const char ksptype[], const char options[])
{
  const PetscBool    none[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  KSPConvergedReason reason;
  PetscInt           its;
  MatNullSpace       constants;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(MatSBPSATSetDirichlet(s->A, none));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &constants));
  PetscCall(MatSetNullSpace(s->A, constants));
  PetscCall(FillNoise(s->da, 5, s->b));
  PetscCall(MatNullSpaceRemove(constants, s->b));
  PetscCall(SolverCreate(s->A, ksptype, (PetscReal)1e-5, options, &ksp));
  PetscCall(VecZeroEntries(s->x));
  PetscCall(KSPSolve(ksp, s->b, s->x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  PetscCall(KSPGetIterationNumber(ksp, &its));
  if (WRONG(reason <= 0 || its > 20)) FAIL("Neumann faces %s: %" PetscInt_FMT " iterations, %s", options, its, KSPConvergedReasons[reason]);
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatNullSpaceDestroy(&constants));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Provoked errors: nothing is printed, and the objects can be destroyed */
static PetscErrorCode TestRefused(System *s)
{
  static const char *const refused[] = {"-pc_sbpmg_levels 9", "-pc_sbpmg_cycle full -pc_sbpmg_coarse rediscretized"};
  PetscErrorCode           ierr;
  Mat                      aij;
  PC                       pc;

  PetscFunctionBeginUser;
  for (size_t k = 0; k <= PETSC_STATIC_ARRAY_LENGTH(refused); k++) {
    PetscCall(PCCreate(PETSC_COMM_WORLD, &pc));
    PetscCall(PCSetType(pc, PCSBPMG));
    if (k == PETSC_STATIC_ARRAY_LENGTH(refused)) {
      PetscCall(MatConvert(s->A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
      PetscCall(PCSetOperators(pc, aij, aij));
      PetscCall(MatDestroy(&aij));
    } else {
      PetscOptions database;

      PetscCall(PCSetOperators(pc, s->A, s->A));
      PetscCall(PetscOptionsCreate(&database));
      PetscCall(PetscOptionsInsertString(database, refused[k]));
      PetscCall(PetscObjectSetOptions((PetscObject)pc, database));
      PetscCall(PCSetFromOptions(pc));
      PetscCall(PetscObjectSetOptions((PetscObject)pc, NULL));
      PetscCall(PetscOptionsDestroy(&database));
    }
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = PCSetUp(pc);
    PetscCall(PetscPopErrorHandler());
    if (WRONG(!ierr)) FAIL("not refused: %s", k < PETSC_STATIC_ARRAY_LENGTH(refused) ? refused[k] : "a matrix of type aij");
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The view tells why there are no more levels */
static PetscErrorCode ViewLevels(void)
{
  static const PetscInt    n[][2]    = {{32, 48}, {65, 64}, {34, 44}, {64, 8}, {64, 64}};
  static const char *const options[] = {"", "", "", "", "-pc_sbpmg_levels 2"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(n); k++) {
    System s;
    KSP    ksp;
    PC     pc;

    PetscCall(SystemCreate(PETSC_COMM_WORLD, n[k][0], n[k][1], 2, &s));
    PetscCall(SolverCreate(s.A, KSPCG, (PetscReal)1e-6, options[k], &ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCView(pc, PETSC_VIEWER_STDOUT_WORLD));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(SystemDestroy(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool view = PETSC_FALSE;
  System    s;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-view_levels", &view, NULL));
  if (view) {
    PetscCall(ViewLevels());
    PetscCall(PetscFinalize());
    return 0;
  }
  PetscCall(TestFull(64, "-pc_sbpmg_cycle full", (PetscReal)1.15));
  PetscCall(TestFull(64, "-pc_sbpmg_cycle full -pc_sbpmg_full_steps 2,3 -pc_sbpmg_precision double", (PetscReal)1.05));
  PetscCall(TestFullOrders());
  if (size == 1) {
    PetscCall(TestFull(256, "-pc_sbpmg_cycle full", (PetscReal)1.1));
    PetscCall(TestOrders());
  }
  PetscCall(SystemCreate(PETSC_COMM_WORLD, 32, 48, 2, &s));
  PetscCall(TestLinear(&s));
  PetscCall(TestRange(&s, ""));
  PetscCall(TestRange(&s, "-pc_sbpmg_cycle full"));
  if (size > 1) {
    PetscCall(TestRange(&s, "-pc_sbpmg_gather_size 0"));
    PetscCall(TestRange(&s, "-pc_sbpmg_gather_size 500"));
    PetscCall(TestRange(&s, "-pc_sbpmg_gather_size 500 -pc_sbpmg_cycle full"));
  }
  PetscCall(TestRange(&s, "-pc_sbpmg_coarse rediscretized -pc_sbpmg_smoother richardson -pc_sbpmg_smooths 5"));
  PetscCall(TestRefused(&s));
  PetscCall(TestChange(&s));
  PetscCall(TestNeumann(&s, KSPCG, ""));
  PetscCall(SystemDestroy(&s));
  /* A square with mu = 1. Cycles reduce the error so far that the kernel affects the measured spectra */
  PetscCall(SystemCreate(PETSC_COMM_WORLD, 64, 64, 2, &s));
  PetscCall(DMDASetUniformCoordinates(s.da, 0., 1., 0., 1., 0., 0.));
  PetscCall(MatSBPSATSetTensor(s.A, NULL, NULL, NULL, NULL));
  PetscCall(TestNeumann(&s, KSPFGMRES, "-pc_sbpmg_cycle full"));
  PetscCall(SystemDestroy(&s));
  return TestEnd(30, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 3}}
    args: -malloc_debug

  test:
    suffix: levels
    nsize: {{1 4}}
    args: -view_levels
    filter: grep -E "(level [0-9]+:|no coarser)" | cut -d, -f1

  test:
    suffix: cuda
    requires: cuda
    args: -dm_vec_type cuda
    output_file: output/right.out

TEST*/
