/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char
  help[] = "ICC(0) made and compressed where the matrix is, against PETSc's: the same factors, symmetric with loss, shifted where pivots are not positive.\n\n";

#include <tests/pcvcrs/wellstest.h>

static const Problem problems[] = {{"one row", 1, 1, 1, 1, 0, 0, 0, PLAIN, PETSC_TRUE},
                                   {"line", 700, 1, 1, 1, 0, 0, 0, PLAIN, PETSC_TRUE},
                                   {"star in the plane", 45, 38, 1, 1, 0, 0, 0, PLAIN, PETSC_TRUE},
                                   {"star", 20, 17, 13, 1, 0, 0, 0, PLAIN, PETSC_TRUE},
                                   {"all neighbours", 12, 11, 10, 2, 0, 0, 0, PLAIN, PETSC_TRUE},
                                   {"a well behind", 20, 17, 13, 1, 0, 1, 0, PLAIN, PETSC_TRUE},
                                   {"wells behind", 20, 17, 13, 1, 0, 7, 0, PLAIN, PETSC_TRUE},
                                   {"wells before", 20, 17, 13, 1, 5, 0, 0, PLAIN, PETSC_TRUE},
                                   {"wells on both sides", 20, 17, 13, 1, 2, 3, 0, PLAIN, PETSC_TRUE},
                                   {"wells of all neighbours", 12, 11, 10, 2, 0, 3, 0, PLAIN, PETSC_TRUE},
                                   {"wells in the plane", 45, 38, 1, 1, 3, 0, 0, PLAIN, PETSC_TRUE},
                                   {"scattered", 900, 1, 1, 1, 0, 0, 6, PLAIN, PETSC_TRUE},
                                   {"wide rows", 30, 30, 2, 1, 0, 2, 60, PLAIN, PETSC_TRUE},
                                   {"units", 20, 17, 13, 1, 0, 2, 0, UNITS, PETSC_TRUE},
                                   {"small numbers", 20, 17, 13, 1, 0, 2, 0, SMALL, PETSC_TRUE},
                                   {"large numbers", 20, 17, 13, 1, 2, 0, 0, LARGE, PETSC_TRUE},
                                   {"other numbers below the diagonal", 20, 17, 13, 1, 0, 2, 0, UNSYMMETRIC, PETSC_TRUE},
                                   {"more entries below the diagonal", 20, 17, 13, 1, 0, 2, 0, ONE_SIDED, PETSC_TRUE},
                                   {"a pivot that is zero", 20, 17, 1, 1, 0, 2, 0, ZERO_PIVOT, PETSC_TRUE},
                                   {"indefinite", 20, 17, 13, 1, 0, 2, 0, INDEFINITE, PETSC_TRUE},
                                   {"indefinite later", 20, 17, 13, 1, 2, 0, 0, LATER, PETSC_TRUE}};

typedef struct {
  const char *name, *options;
  PetscReal   tolerance;
  PetscBool   device; /* only on a device */
  PetscBool   lossy;
  PetscBool   substitution;
} Variant;

#define VCRS "-@pc_type vcrs -@vcrs_pc_type icc"
static const Variant variants[] =
  {{"lithe", "-@pc_type icc -@pc_factor_mat_solver_type lithe", 1e-11, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE},
   {"compressed", VCRS " -@pc_vcrs_loss none", 0.02, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE}, /* by sweeps, perhaps */
   {"substitution", VCRS " -@pc_vcrs_loss none -@pc_vcrs_factor_solve substitution", 1e-11, PETSC_FALSE, PETSC_FALSE, PETSC_TRUE},
   {"sweeps", VCRS " -@pc_vcrs_loss none -@pc_vcrs_factor_solve jacobi -@pc_vcrs_factor_sweeps 60", 1e-6, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
   {"levels", VCRS " -@pc_vcrs_loss none -@pc_vcrs_factor_solve substitution -@vcrs_copy_mat_vcrs_substitution_grids 0", 1e-11, PETSC_FALSE, PETSC_FALSE,
    PETSC_FALSE},
   {"a block",
    "-@pc_type vcrs -@vcrs_pc_type bjacobi -@vcrs_pc_bjacobi_blocks 1 -@vcrs_sub_pc_type icc -@pc_vcrs_loss none -@pc_vcrs_factor_solve substitution", 1e-11,
    PETSC_FALSE, PETSC_FALSE, PETSC_FALSE},
   {"loss", VCRS, 0.1, PETSC_FALSE, PETSC_TRUE, PETSC_FALSE},
   {"loss, substitution", VCRS " -@pc_vcrs_factor_solve substitution", 0.1, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
   {"classes", VCRS " -@pc_vcrs_loss classes -@pc_vcrs_factor_solve substitution", 0.1, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
   {"fixed point", VCRS " -@pc_vcrs_loss fixed -@pc_vcrs_bits 16 -@pc_vcrs_factor_solve substitution", 0.1, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE},
   {"no row sums", VCRS " -@pc_vcrs_bits 16 -@pc_vcrs_preserve_row_sums 0 -@pc_vcrs_factor_solve substitution", 0.1, PETSC_FALSE, PETSC_TRUE, PETSC_TRUE}};

/* PETSc makes factors which need a shift, and factors of an unsymmetric pattern */
static PetscBool IsLeftToPETSc(const Problem *p, PetscInt round)
{
  return (PetscBool)(p->kind == ONE_SIDED || p->kind == ZERO_PIVOT || p->kind == INDEFINITE || (p->kind == LATER && round));
}

/* Halves of solutions need real pivots */
static PetscErrorCode ComparePCs(const Problem *p, const Variant *v, Mat A, PC exact, PC pc)
{
  const Way ways[] = {APPLY, APPLY_TRANSPOSE, APPLY_LEFT, APPLY_RIGHT};

  PetscFunctionBeginUser;
  for (int w = 0; w < (PetscDefined(USE_COMPLEX) ? 2 : 4); w++) {
    PetscReal difference;
    Vec       x;

    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(TestFillVec(x, 3 + w));
    PetscCall(Difference(exact, pc, ways[w], x, &difference));
    if (WRONG(!(difference <= v->tolerance))) FAIL("%s, %s, %s: differs by %g", p->name, v->name, WayNames[ways[w]], (double)difference);
    PetscCall(VecDestroy(&x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y^T M x = x^T M y up to rounding, and x^T M x > 0 if real */
static PetscErrorCode TestSymmetry(const Problem *p, const Variant *v, Mat A, PC pc)
{
  PetscScalar product[2], square;
  PetscReal   norm[2];
  Vec         x[2], y[2];

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    PetscCall(MatCreateVecs(A, &x[k], &y[k]));
    PetscCall(TestFillVec(x[k], 11 + k));
    PetscCall(PCApply(pc, x[k], y[k]));
  }
  PetscCall(VecNorm(x[1], NORM_2, &norm[0]));
  PetscCall(VecNorm(y[0], NORM_2, &norm[1]));
  PetscCall(VecTDot(y[0], x[1], &product[0]));
  PetscCall(VecTDot(y[1], x[0], &product[1]));
  PetscCall(VecTDot(y[0], x[0], &square));
  if (WRONG(!(PetscAbsScalar(product[0] - product[1]) <= 100 * PETSC_MACHINE_EPSILON * norm[0] * norm[1])))
    FAIL("%s, %s: not symmetric, by %g of %g", p->name, v->name, (double)PetscAbsScalar(product[0] - product[1]), (double)(norm[0] * norm[1]));
  if (!PetscDefined(USE_COMPLEX) && WRONG(!(PetscRealPart(square) > 0.0)))
    FAIL("%s, %s: not positive definite, %g", p->name, v->name, (double)PetscRealPart(square));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&x[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CountIterations(Mat A, PC pc, PetscInt *iterations)
{
  KSPConvergedReason reason;
  Vec                b, x;
  KSP                ksp;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(TestFillVec(x, 17));
  PetscCall(MatMult(A, x, b));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOptionsPrefix(ksp, "none_"));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetTolerances(ksp, 1e-9, 0.0, PETSC_DEFAULT, 1000));
  PetscCall(KSPSetNormType(ksp, KSP_NORM_NATURAL));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetIterationNumber(ksp, iterations));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  if (reason < 0) *iterations = -1;
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* With CG, for a positive definite matrix */
static PetscErrorCode TestIterations(const Problem *p, const Variant *v, Mat host, Mat A, PC exact, PC pc)
{
  PetscInt expected, iterations;

  PetscFunctionBeginUser;
  if (PetscDefined(USE_COMPLEX) || PetscDefined(USE_REAL_SINGLE) || p->kind == UNSYMMETRIC || IsLeftToPETSc(p, 1)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(CountIterations(host, exact, &expected));
  PetscCall(CountIterations(A, pc, &iterations));
  if (WRONG(iterations < 0 || PetscAbsInt(iterations - expected) > (v->lossy ? 2 + expected / 5 : 1)))
    FAIL("%s, %s: %" PetscInt_FMT " iterations instead of %" PetscInt_FMT, p->name, v->name, iterations, expected);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device: who made the factors, and whether tiles are used together with separate rows for the wells */
static PetscErrorCode TestView(const Problem *p, const Variant *v, PetscInt round, PetscBool host, PC pc)
{
  const PetscBool left = (PetscBool)(host || IsLeftToPETSc(p, round));
  PetscBool       has;

  PetscFunctionBeginUser;
  if (v->device) {
    PetscCall(ViewHas(pc, left ? "factors on the host, by PETSc" : "factors on the device", &has));
    if (WRONG(!has)) FAIL("%s: the factors are not on the %s", p->name, left ? "host" : "device");
  }
  if (v->substitution && !v->lossy && !left && (p->before == 0) != (p->behind == 0) && !p->scattered) {
    PetscCall(ViewHas(pc, "steps of tiles, and", &has));
    if (WRONG(!has)) FAIL("%s, %s: no tiles with rows beside them", p->name, v->name);
  }
  if (v->substitution && !left) {
    PetscCall(ViewHas(pc, "transposed factor (", &has));
    if (WRONG(!has)) FAIL("%s, %s: the transposed factor was not made on the device", p->name, v->name);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestVariant(const Problem *p, const Variant *v, Mat host, Mat A, PetscBool device)
{
  PetscBool left = PETSC_FALSE;
  PC        exact, pc;

  PetscFunctionBeginUser;
  PetscCall(CreatePC(host, "-@pc_type icc", NULL, &exact));
  PetscCall(CreatePC(A, v->options, NULL, &pc));
  for (PetscInt round = 0; round < 3; round++) {
    /* other numbers in the same pattern; once PETSc had to factor, PETSc continues to factor */
    if (round) {
      PetscCall(FillMatrix(p, round % 2, host));
      PetscCall(FillMatrix(p, round % 2, A));
      PetscCall(PCSetUp(exact));
      PetscCall(PCSetUp(pc));
    }
    left = (PetscBool)(left || IsLeftToPETSc(p, round % 2));
    PetscCall(ComparePCs(p, v, A, exact, pc));
    PetscCall(TestSymmetry(p, v, A, pc));
    if (!round) PetscCall(TestIterations(p, v, host, A, exact, pc));
    if (device) PetscCall(TestView(p, v, round % 2, left, pc));
  }
  PetscCall(PCDestroy(&exact));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Host vectors with factors on the device, and options not implemented on the device: another ordering, fill-in,
   another shift */
static PetscErrorCode TestOthers(Mat host, Mat A)
{
  static const char *const options[] = {" -@pc_factor_mat_ordering_type rcm", " -@pc_factor_levels 1", " -@pc_factor_shift_type nonzero",
                                        " -@pc_factor_shift_type none"};
  static const Problem     p         = {"others", 20, 17, 13, 1, 0, 2, 0, PLAIN, PETSC_TRUE};
  char                     line[2][256];
  PC                       exact, pc;
  PetscBool                has;

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(options); k++) {
    const PetscBool device = (PetscBool)(k == 3);

    PetscCall(PetscSNPrintf(line[0], sizeof(line[0]), "-@pc_type icc%s", options[k]));
    PetscCall(PetscSNPrintf(line[1], sizeof(line[1]), "%s -@pc_factor_mat_solver_type lithe", line[0]));
    PetscCall(CreatePC(host, line[0], NULL, &exact));
    PetscCall(CreatePC(A, line[1], NULL, &pc));
    PetscCall(ComparePCs(&p, &variants[0], A, exact, pc));
    PetscCall(ComparePCs(&p, &variants[0], host, exact, pc));
    PetscCall(ViewHas(pc, device ? "factors on the device" : "factors on the host, by PETSc", &has));
    if (WRONG(!has)) FAIL("%s: the factors are not on the %s", line[1], device ? "device" : "host");
    PetscCall(PCDestroy(&exact));
    PetscCall(PCDestroy(&pc));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = MATSEQAIJ;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestMatType(sizeof(type), type, &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    const Problem *p = &problems[k];
    Mat            host, A;
    PetscBool      mine = PETSC_FALSE;

    PetscCall(TestPart(&mine));
    if (!mine) continue;
    PetscCall(CreateMatrix(p, MATSEQAIJ, &host));
    PetscCall(CreateMatrix(p, type, &A));
    for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(variants); v++) {
      if (variants[v].device && !device) continue;
      PetscCall(TestVariant(p, &variants[v], host, A, device));
      PetscCall(FillMatrix(p, 0, host));
      PetscCall(FillMatrix(p, 0, A));
    }
    if (device && p->behind == 7) PetscCall(TestOthers(host, A));
    PetscCall(MatDestroy(&host));
    PetscCall(MatDestroy(&A));
  }
  /* Of the checks of a device, TestOthers() makes the rest, in one piece */
  return TestEnd((PetscDefined(USE_COMPLEX) ? 1890 : 3800) + (device ? (PetscDefined(USE_COMPLEX) ? 340 : 390) : 0), "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  # -checkfunctionlist 0: as in vcrs/conversions
  testset:
    requires: cuda
    args: -checkfunctionlist 0 -mat_type seqaijcusparse
    output_file: output/right.out
    test:
      suffix: cuda_0
      args: -test_part 0,6
    test:
      suffix: cuda_1
      args: -test_part 1,6
    test:
      suffix: cuda_2
      args: -test_part 2,6
    test:
      suffix: cuda_3
      args: -test_part 3,6
    test:
      suffix: cuda_4
      args: -test_part 4,6
    test:
      suffix: cuda_5
      args: -test_part 5,6

TEST*/
