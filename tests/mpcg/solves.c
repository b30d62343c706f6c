/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   KSPMPCG against KSPCG: iterations and true residuals, units, guesses, odd right-hand sides, indefinite systems,
   eigenvalues, monitors, and systems for which single precision does not suffice. With -device matrices have the type
   aijcusparse.
*/

static char help[] = "KSPMPCG against KSPCG: iterations, true residuals, units, odd and indefinite systems, eigenvalues, monitors\n\n";

#include <lithe.h>
#include <tests/failures.h>
#include <tests/camg/camgtest.h>

#define CAMG "-test_pc_type camg -test_pc_camg_coarse_eq_limit 100 "

static PetscBool device = PETSC_FALSE;

typedef struct {
  PetscInt           its;
  PetscReal          residual; /* the true one */
  KSPConvergedReason reason;
  PetscReal          eigenvalues[2];
  char               view[512];
} Result;

typedef struct {
  PetscReal power; /* of right-hand sides */
  PetscReal rtol;
  PetscBool guess, values; /* values: eigenvalues */
  PetscErrorCode (*monitor)(KSP, PetscInt, PetscReal, void *);
  PetscErrorCode (*change)(Vec b);
} Way;

static PetscErrorCode ToDevice(Mat A)
{
  PetscFunctionBeginUser;
  if (device) PetscCall(MatConvert(A, MATAIJCUSPARSE, MAT_INPLACE_MATRIX, &A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Random(Vec x, PetscInt stream)
{
  PetscScalar *a;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = begin; k < end; k++) a[k - begin] = CAMGRandom(k, stream);
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* |b - A x| / |b|, of numbers that may be very large or small */
static PetscErrorCode TrueResidual(Mat A, Vec b, Vec x, PetscReal *residual)
{
  Vec       r;
  PetscReal most, norm;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(b, &r));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAYPX(r, -1, b));
  PetscCall(VecNorm(b, NORM_1, residual));
  if (!PetscIsNanReal(*residual)) { /* the largest of such numbers may differ between processes */
    PetscCall(VecNorm(b, NORM_INFINITY, &most));
    if (most > 0) PetscCall(VecScale(r, 1 / most));
    PetscCall(VecNorm(r, NORM_2, residual));
    PetscCall(VecAXPBY(r, most > 0 ? 1 / most : 1, 0, b));
    PetscCall(VecNorm(r, NORM_2, &norm));
    if (norm > 0) *residual /= norm;
  }
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SolveWith(KSP ksp, const Way *way, Result *result)
{
  Mat         A;
  Vec         x, b;
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(KSPGetOperators(ksp, &A, NULL));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(Random(x, 8));
  PetscCall(MatMult(A, x, b)); /* in the range of A */
  if (way->power != 0) PetscCall(VecScale(b, way->power));
  if (way->change) PetscCall((*way->change)(b));
  PetscCall(VecSet(x, 0));
  if (way->guess) PetscCall(Random(x, 9));
  PetscCall(KSPSetInitialGuessNonzero(ksp, way->guess));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, &result->its));
  PetscCall(KSPGetConvergedReason(ksp, &result->reason));
  PetscCall(TrueResidual(A, b, x, &result->residual));
  if (way->values) PetscCall(KSPComputeExtremeSingularValues(ksp, &result->eigenvalues[0], &result->eigenvalues[1]));
  PetscCall(PetscViewerStringOpen(PETSC_COMM_WORLD, result->view, sizeof(result->view), &viewer));
  PetscCall(KSPView(ksp, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(Mat A, const char type[], const char options[], const Way *way, KSP *ksp)
{
  PetscFunctionBeginUser;
  PetscCall(KSPCreate(PETSC_COMM_WORLD, ksp));
  PetscCall(KSPSetOptionsPrefix(*ksp, "test_"));
  PetscCall(KSPSetOperators(*ksp, A, A));
  PetscCall(KSPSetType(*ksp, type));
  PetscCall(KSPSetNormType(*ksp, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetTolerances(*ksp, way->rtol > 0 ? way->rtol : (PetscReal)1e-8, 0, 1e30, 2000));
  PetscCall(KSPSetComputeSingularValues(*ksp, way->values));
  if (way->monitor) PetscCall(KSPMonitorSet(*ksp, way->monitor, NULL, NULL));
  PetscCall(PetscOptionsInsertString(NULL, options));
  PetscCall(KSPSetFromOptions(*ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ClearOptions(void)
{
  static const char *const names[] = {"-test_pc_type",          "-test_sub_pc_type",    "-test_pc_camg_coarse_eq_limit", "-test_pc_camg_bits",
                                      "-test_ksp_mpcg_storage", "-test_pc_gridmg_grid", "-test_pc_gridmg_coarse_size",   "-test_ksp_mpcg_delta",
                                      "-test_ksp_norm_type",    "-test_ksp_max_it"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(names); k++) PetscCall(PetscOptionsClearValue(NULL, names[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, const char type[], const char options[], const Way *way, Result *result)
{
  KSP ksp;

  PetscFunctionBeginUser;
  PetscCall(Create(A, type, options, way, &ksp));
  PetscCall(SolveWith(ksp, way, result));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(ClearOptions());
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode IsSingle(const Result *r, PetscBool *single)
{
  char *found;

  PetscFunctionBeginUser;
  PetscCall(PetscStrstr(r->view, "single", &found));
  *single = (PetscBool)(found != NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Iterations of both; the true residual of the second within its tolerance */
static PetscErrorCode Compare(const char what[], Mat A, const char options[], const Way *way, PetscBool wantssingle, Result *result)
{
  const PetscReal rtol = way->rtol > 0 ? way->rtol : (PetscReal)1e-8;
  Result          cg;
  PetscBool       single;

  PetscFunctionBeginUser;
  PetscCall(Solve(A, KSPCG, options, way, &cg));
  PetscCall(Solve(A, KSPMPCG, options, way, result));
  PetscCall(IsSingle(result, &single));
  PetscCall(PetscInfo(NULL, "%s %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " of CG, residual %g, %s\n", what, options, result->its, cg.its,
                      (double)result->residual, single ? "single" : "double"));
  if (WRONG(result->reason != cg.reason)) FAIL("%s, %s: %s, CG %s", what, options, KSPConvergedReasons[result->reason], KSPConvergedReasons[cg.reason]);
  if (cg.reason > 0 && WRONG(!(result->residual <= (PetscReal)1.001 * rtol))) FAIL("%s, %s: residual %g", what, options, (double)result->residual);
  if (WRONG(PetscAbsInt(result->its - cg.its) > PetscMax(1, cg.its / 50)))
    FAIL("%s, %s: %" PetscInt_FMT " iterations, CG %" PetscInt_FMT, what, options, result->its, cg.its);
  if (WRONG(single != wantssingle)) FAIL("%s, %s: vectors are in %s precision", what, options, single ? "single" : "double");
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestKinds(void)
{
  const Way   plain  = {0};
  const char *others = size == 1 ? "-test_pc_type icc " : "-test_pc_type bjacobi -test_sub_pc_type icc ";

  PetscFunctionBeginUser;
  for (int kind = 0; kind < CAMG_KINDS; kind++) {
    Result r;
    Mat    A;

    if (!CAMGIsSymmetric((CAMGKind)kind)) continue;
    if (size > 1 && kind != CAMG_JUMPS && kind != CAMG_UNITS && kind != CAMG_NEUMANN && kind != CAMG_ELASTIC) continue;
    PetscCall(CAMGCreate((CAMGKind)kind, size == 1 ? 15 : 8, &A));
    PetscCall(ToDevice(A));
    PetscCall(Compare(CAMGKindNames[kind], A, CAMG, &plain, PETSC_TRUE, &r));
    if (kind != CAMG_INACTIVE && (size == 1 || kind == CAMG_JUMPS)) PetscCall(Compare(CAMGKindNames[kind], A, "-test_pc_type jacobi ", &plain, PETSC_TRUE, &r));
    if (kind != CAMG_INACTIVE && kind != CAMG_NEUMANN && !device && (size == 1 || kind == CAMG_JUMPS))
      PetscCall(Compare(CAMGKindNames[kind], A, others, &plain, PETSC_FALSE, &r));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Any units of the matrix and of the right-hand side; KSPCG has to be given a harmless one */
static PetscErrorCode TestUnits(void)
{
  const PetscReal power[] = {1e-200, 1e200, 1e-270, 1e-150, 1e150, 1e270};
  const Way       plain   = {0};
  Result          first, r;
  Mat             A;

  PetscFunctionBeginUser;
  for (int p = 0; p < (size == 1 ? (int)PETSC_STATIC_ARRAY_LENGTH(power) : 1); p++) {
    const Way   way       = {.power = power[p]};
    const char *options[] = {CAMG, "-test_pc_type jacobi "};

    for (int o = 0; o < (size == 1 ? 2 : 1); o++) {
      PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
      PetscCall(ToDevice(A));
      PetscCall(Solve(A, KSPMPCG, options[o], &plain, &first));
      PetscCall(Solve(A, KSPMPCG, options[o], &way, &r));
      if (WRONG(r.reason <= 0 || PetscAbsInt(r.its - first.its) > 1 || !(r.residual <= 1e-8 * 1.001)))
        FAIL("right-hand side times %g, %s: %s, %" PetscInt_FMT " iterations and %" PetscInt_FMT ", residual %g", (double)power[p], options[o],
             KSPConvergedReasons[r.reason], r.its, first.its, (double)r.residual);
      PetscCall(MatScale(A, power[p]));
      PetscCall(Solve(A, KSPMPCG, options[o], &(Way){.power = 1 / power[p]}, &r));
      if (WRONG(r.reason <= 0 || PetscAbsInt(r.its - first.its) > 1 || !(r.residual <= 1e-8 * 1.001)))
        FAIL("matrix times %g, %s: %s, %" PetscInt_FMT " iterations and %" PetscInt_FMT ", residual %g", (double)power[p], options[o],
             KSPConvergedReasons[r.reason], r.its, first.its, (double)r.residual);
      PetscCall(MatDestroy(&A));
    }
  }
  /* a negative definite matrix */
  PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
  PetscCall(MatScale(A, -1));
  PetscCall(ToDevice(A));
  PetscCall(Compare("minus", A, CAMG, &plain, PETSC_TRUE, &r));
  PetscCall(Compare("minus", A, "-test_pc_type jacobi ", &plain, PETSC_TRUE, &r));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Zero(Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode PutNaN(Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(VecSetValue(b, 3, NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(b));
  PetscCall(VecAssemblyEnd(b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestOdd(void)
{
  const Way   plain = {0}, guess = {.guess = PETSC_TRUE}, zero = {.change = Zero}, nan = {.change = PutNaN};
  const char *options[] = {CAMG, "-test_pc_type jacobi "};
  Result      r, cg;
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
  PetscCall(ToDevice(A));
  for (int o = 0; o < (size == 1 ? 2 : 1); o++) {
    char fixed[256];

    PetscCall(Compare("guess", A, options[o], &guess, PETSC_TRUE, &r));
    PetscCall(Solve(A, KSPCG, options[o], &zero, &cg));
    PetscCall(Solve(A, KSPMPCG, options[o], &zero, &r));
    if (WRONG(r.reason != cg.reason || r.its || r.residual != 0)) FAIL("zero: %s after %" PetscInt_FMT, KSPConvergedReasons[r.reason], r.its);
    PetscCall(Solve(A, KSPMPCG, options[o], &nan, &r));
    if (WRONG(r.reason != KSP_DIVERGED_NANORINF)) FAIL("NaN: %s after %" PetscInt_FMT, KSPConvergedReasons[r.reason], r.its);
    PetscCall(PetscSNPrintf(fixed, sizeof(fixed), "%s-test_ksp_norm_type none -test_ksp_max_it 7", options[o]));
    PetscCall(Solve(A, KSPCG, fixed, &plain, &cg));
    PetscCall(Solve(A, KSPMPCG, fixed, &plain, &r));
    if (WRONG(r.reason != cg.reason || r.its != cg.its || !(PetscAbsReal(r.residual - cg.residual) <= cg.residual / 5)))
      FAIL("seven iterations: %s after %" PetscInt_FMT ", residual %g and %g", KSPConvergedReasons[r.reason], r.its, (double)r.residual, (double)cg.residual);
    PetscCall(PetscSNPrintf(fixed, sizeof(fixed), "%s-test_ksp_max_it 5", options[o]));
    PetscCall(Compare("five", A, fixed, &plain, PETSC_TRUE, &r));
  }
  PetscCall(MatSetValue(A, 3, 3, NAN, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Solve(A, KSPMPCG, CAMG, &guess, &r));
  if (WRONG(r.reason != KSP_DIVERGED_PC_FAILED)) FAIL("NaN in the matrix: %s after %" PetscInt_FMT, KSPConvergedReasons[r.reason], r.its);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Negative eigenvalues of the matrix, of the preconditioner */
static PetscErrorCode TestIndefinite(void)
{
  const Way   plain     = {0};
  const char *options[] = {"-test_pc_type none ", "-test_pc_type jacobi ", CAMG};
  Mat         A;

  PetscFunctionBeginUser;
  for (int shift = 0; shift < (size == 1 ? 2 : 1); shift++) {
    for (int o = size == 1 ? 0 : 2; o < 3; o++) {
      Result r, cg;

      PetscCall(CAMGCreate(CAMG_FLUXES, size == 1 ? 12 : 8, &A));
      if (shift == 0) PetscCall(MatShift(A, -1));
      else {
        Vec d;

        PetscCall(MatCreateVecs(A, &d, NULL));
        PetscCall(Random(d, 5));
        PetscCall(VecScale(d, 20));
        PetscCall(MatDiagonalSet(A, d, INSERT_VALUES));
        PetscCall(VecDestroy(&d));
      }
      PetscCall(ToDevice(A));
      PetscCall(Solve(A, KSPCG, options[o], &plain, &cg));
      PetscCall(Solve(A, KSPMPCG, options[o], &plain, &r));
      PetscCall(PetscInfo(NULL, "indefinite %d %s: %s after %" PetscInt_FMT ", CG %s after %" PetscInt_FMT "\n", shift, options[o],
                          KSPConvergedReasons[r.reason], r.its, KSPConvergedReasons[cg.reason], cg.its));
      if (WRONG(r.reason != cg.reason)) FAIL("indefinite %d, %s: %s, CG %s", shift, options[o], KSPConvergedReasons[r.reason], KSPConvergedReasons[cg.reason]);
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A beam: fourth differences, whose condition number is far beyond that of single precision */
static PetscErrorCode CreateBeam(PetscInt n, Mat *A)
{
  const PetscReal entry[] = {1, -4, 6, -4, 1};
  PetscInt        begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt k = 0; k < 5; k++) {
      if (i + k >= 2 && i + k - 2 < n) PetscCall(MatSetValue(*A, i, i + k - 2, entry[k], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Small tolerances, and a matrix for which single precision does not suffice */
static PetscErrorCode TestRaise(void)
{
  const Way plain = {0}, small = {.rtol = (PetscReal)1e-12};
  Result    r, cg;
  PetscBool raised;
  char     *found;
  Mat       A;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
  PetscCall(ToDevice(A));
  PetscCall(Compare("small tolerance", A, CAMG, &small, PETSC_TRUE, &r));
  PetscCall(MatDestroy(&A));
  if (size > 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CreateBeam(1500, &A));
  PetscCall(ToDevice(A));
  PetscCall(Solve(A, KSPCG, CAMG, &plain, &cg));
  PetscCall(Solve(A, KSPMPCG, CAMG, &plain, &r));
  PetscCall(PetscStrstr(r.view, "raised", &found));
  raised = (PetscBool)(found != NULL);
  PetscCall(PetscInfo(NULL, "beam: %" PetscInt_FMT " iterations, %" PetscInt_FMT " of CG, residual %g of %g, %s\n", r.its, cg.its, (double)r.residual,
                      (double)cg.residual, r.view));
  if (WRONG(r.reason <= 0 || !(r.residual <= (PetscReal)1.001e-8))) FAIL("beam: %s, residual %g", KSPConvergedReasons[r.reason], (double)r.residual);
  if (WRONG(!raised)) FAIL("beam: vectors stay in single precision");
  PetscCall(Solve(A, KSPMPCG, CAMG "-test_ksp_mpcg_storage single", &plain, &r));
  if (WRONG(r.reason > 0 && r.its <= cg.its)) FAIL("beam in single precision: %s after %" PetscInt_FMT, KSPConvergedReasons[r.reason], r.its);
  if (WRONG(r.reason > 0 && !(r.residual <= (PetscReal)1.001e-8))) FAIL("beam in single precision: residual %g", (double)r.residual);
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Aggregation on a grid. On several processes boxes are slabs, which rows of wells are not; they overlap, or have ghosts */
static PetscErrorCode TestGridMG(void)
{
  const CAMGKind kinds[]    = {CAMG_FLUXES, CAMG_JUMPS, CAMG_STRETCHED, CAMG_WELLS};
  const char    *overlaps[] = {"", "-test_pc_gridmg_overlap 1 -test_pc_gridmg_gather_size 100 ", "-test_pc_gridmg_overlap 0 -test_pc_gridmg_gather_size 100 "};
  const Way      plain      = {0};
  const PetscInt n          = size == 3 ? 15 : 16;

  PetscFunctionBeginUser;
  for (int k = 0; k < (size == 1 ? 4 : 3); k++) {
    for (int o = 0; o < (size == 1 ? 1 : 3); o++) {
      char   options[256];
      Result r;
      Mat    A;

      PetscCall(CAMGCreate(kinds[k], n, &A));
      PetscCall(ToDevice(A));
      PetscCall(PetscSNPrintf(options, sizeof(options), "-test_pc_type gridmg -test_pc_gridmg_grid %d,%d,%d -test_pc_gridmg_coarse_size 40 %s", (int)n, (int)n,
                              (int)n, overlaps[o]));
      PetscCall(Compare(CAMGKindNames[kinds[k]], A, options, &plain, PETSC_TRUE, &r));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Ones(Vec b)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(b, 1));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A solution that is much larger than its differences: its rounding must not come into the residual */
static PetscErrorCode TestNearlySingular(void)
{
  const Way   ones      = {.change = Ones};
  const char *options[] = {CAMG, "-test_pc_type gridmg -test_pc_gridmg_grid 12,12,12 -test_pc_gridmg_coarse_size 40 "};
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_NEUMANN, 12, &A));
  PetscCall(MatSetNullSpace(A, NULL));
  PetscCall(MatShift(A, (PetscReal)1e-5));
  PetscCall(ToDevice(A));
  for (int o = 0; o < 2; o++) {
    Result r;

    PetscCall(Compare("nearly singular", A, options[o], &ones, PETSC_TRUE, &r));
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestValues(void)
{
  const Way   values    = {.values = PETSC_TRUE};
  const char *options[] = {CAMG, "-test_pc_type jacobi "};
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
  PetscCall(ToDevice(A));
  for (int o = 0; o < (size == 1 ? 2 : 1); o++) {
    Result r, cg;

    PetscCall(Solve(A, KSPCG, options[o], &values, &cg));
    PetscCall(Solve(A, KSPMPCG, options[o], &values, &r));
    for (int e = 0; e < 2; e++) {
      const PetscReal most = (o ? (PetscReal)1e-4 : (PetscReal)0.02) * cg.eigenvalues[e];

      if (WRONG(!(PetscAbsReal(r.eigenvalues[e] - cg.eigenvalues[e]) <= most)))
        FAIL("eigenvalue %d, %s: %g, CG %g", e, options[o], (double)r.eigenvalues[e], (double)cg.eigenvalues[e]);
    }
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a monitor gets: a residual as it is told; the last norm is the true one */
static PetscInt  told;
static PetscReal differs;

static PetscErrorCode Look(KSP ksp, PetscInt it, PetscReal norm, PETSC_UNUSED void *ctx)
{
  Vec       r;
  PetscReal own;

  PetscFunctionBeginUser;
  PetscCall(KSPBuildResidual(ksp, NULL, NULL, &r));
  PetscCall(VecNorm(r, NORM_2, &own));
  PetscCall(VecDestroy(&r));
  differs = PetscMax(differs, PetscAbsReal(own - norm) / norm);
  if (it >= told) told = it + 1;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMonitor(void)
{
  const Way   plain = {0}, looks = {.monitor = Look};
  const char *options[] = {CAMG, "-test_pc_type jacobi "};
  Mat         A;

  PetscFunctionBeginUser;
  PetscCall(CAMGCreate(CAMG_JUMPS, size == 1 ? 12 : 8, &A));
  PetscCall(ToDevice(A));
  for (int o = 0; o < (size == 1 ? 2 : 1); o++) {
    Result r, quiet;

    told    = 0;
    differs = 0;
    PetscCall(Solve(A, KSPMPCG, options[o], &plain, &quiet));
    PetscCall(Solve(A, KSPMPCG, options[o], &looks, &r));
    if (WRONG(r.its != quiet.its || told != r.its + 1))
      FAIL("monitor, %s: %" PetscInt_FMT " iterations, %" PetscInt_FMT " without", options[o], r.its, quiet.its);
    if (WRONG(!(differs <= (o ? (PetscReal)1e-4 : (PetscReal)0.5)))) FAIL("monitor, %s: norms differ by %g", options[o], (double)differs);
  }
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCall(TestKinds());
  PetscCall(TestUnits());
  PetscCall(TestOdd());
  PetscCall(TestIndefinite());
  PetscCall(TestRaise());
  PetscCall(TestGridMG());
  PetscCall(TestNearlySingular());
  if (size == 1) PetscCall(TestValues());
  PetscCall(TestMonitor());
  return TestEnd(size == 1 ? 150 : 40, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    requires: !single
    test:
    test:
      suffix: 2
      nsize: 2
    test:
      suffix: 3
      nsize: 3
    test:
      suffix: cuda
      requires: cuda
      args: -device
    test:
      suffix: cuda_2
      requires: cuda
      nsize: 2
      args: -device

TEST*/
