/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Bad input to MATVCRS: an error on every process which names the cause and the remedy, and nothing is lost.\n\n";

#include "vcrstest.h"
#include <lithe/private/vcrs/mat.h>
#include <tests/refused.h>
#include <petscsnes.h>

static PetscErrorCode TestSameProducts(Mat A, Mat B, const char where[])
{
  TestProducts t;

  PetscFunctionBegin;
  PetscCall(TestProductsCreate(B, PETSC_FALSE, &t));
  PetscCall(TestCompareProducts(A, &t, where, &failures));
  PetscCall(TestProductsDestroy(&t));
  PetscCall(TestCompareRows(A, B, where, "the matrix itself", &failures));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A bad value of the option is refused, and A multiplies as before */
static PetscErrorCode SetOption(Mat A, const char name[], const char value[])
{
  PetscErrorCode ierr;

  PetscFunctionBegin;
  PetscCall(PetscOptionsSetValue(NULL, name, value));
  ierr = MatSetFromOptions(A);
  (void)PetscOptionsClearValue(NULL, name);
  PetscFunctionReturn(ierr);
}

static PetscErrorCode TestOptions(Mat A, Mat B)
{
  MatVCRSInfo info;

  PetscFunctionBegin;
  TEST_REFUSED("12 bits", MatVCRSSetBits(A, 12), "-mat_vcrs_bits 12", "8 or 16");
  TEST_REFUSED("0 bins", MatVCRSSetBins(A, 0), "-mat_vcrs_bins 0", "at least one");
  TEST_REFUSED("-7 bins", MatVCRSSetBins(A, -7), "-mat_vcrs_bins -7");
  TEST_REFUSED("negative lambda", MatVCRSSetLambda(A, -0.5, MATVCRS_UNIT_ROW), "-mat_vcrs_lambda -0.5", "at least 0");
  TEST_REFUSED("infinite lambda", MatVCRSSetLambda(A, (PetscReal)INFINITY, MATVCRS_UNIT_ROW), "-mat_vcrs_lambda inf");
  TEST_REFUSED("undefined lambda", MatVCRSSetLambda(A, (PetscReal)NAN, MATVCRS_UNIT_ROW), "-mat_vcrs_lambda");
  TEST_REFUSED("lambda 1 of the entry", MatVCRSSetLambda(A, 1.0, MATVCRS_UNIT_ENTRY), "-mat_vcrs_lambda 1", "entry", "below 1");
  PetscCall(MatVCRSGetInfo(A, &info));
  PetscCheck(info.loss == MATVCRS_LOSS_NONE, PETSC_COMM_SELF, PETSC_ERR_PLIB, "A refused option changed the loss");
  PetscCall(TestSameProducts(A, B, "after refused options"));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN, infinities, and numbers beyond float, in a row of the last process */
static PetscErrorCode TestBadNumbers(Vec x, Vec y)
{
  static const MatVCRSLoss losses[] = {MATVCRS_LOSS_BINS,  MATVCRS_LOSS_CLASSES, MATVCRS_LOSS_LOG,
                                       MATVCRS_LOSS_FIXED, MATVCRS_LOSS_SINGLE,  MATVCRS_LOSS_BINCLASSES};

  PetscFunctionBegin;
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
    for (int bad = 0; bad < 4; bad++) {
      static char    message[2][64];
      Mat            A, B;
      PetscInt       M, end, row;
      char           where[64];
      TestError      error;
      const char    *words[] = {message[0], message[1], "-mat_vcrs_loss none", NULL};
      PetscScalar    value   = bad == 0 ? (PetscReal)NAN : (bad == 1 ? (PetscReal)INFINITY : -(PetscReal)INFINITY);
      PetscErrorCode ierr;

      if (bad == 3) {
        /* beyond single precision: all entries stay unchanged */
        if (losses[l] != MATVCRS_LOSS_SINGLE || sizeof(PetscReal) == sizeof(float)) continue;
        value = 1e39;
      }
#if defined(PETSC_USE_COMPLEX)
      value = PetscCMPLX(0.5, PetscRealPart(value));
#endif
      PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR5, 0, &B));
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatVCRSSetLoss(A, losses[l]));
      PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_TRUE));
      PetscCall(MatMult(A, x, y));

      /* an entry becomes bad; columns of this and of another process, in turn */
      PetscCall(MatGetSize(B, &M, NULL));
      PetscCall(MatGetOwnershipRange(B, NULL, &end));
      row = M - 3;
      if (end == M) {
        PetscCall(MatSetValue(B, row, bad % 2 ? row : row - 13, value, INSERT_VALUES));
        PetscCall(MatSetValue(A, row, bad % 2 ? row : row - 13, value, INSERT_VALUES));
      }
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
      PetscCall(PetscSNPrintf(message[0], sizeof(message[0]), "ow %" PetscInt_FMT " ", row));
      PetscCall(PetscSNPrintf(message[1], sizeof(message[1]), "-mat_vcrs_loss %s", MatVCRSLosses[losses[l]]));
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s in loss %s", bad == 0 ? "NaN" : (bad == 3 ? "1e39" : "infinity"), MatVCRSLosses[losses[l]]));
      if (bad == 3) {
        PetscCall(TestSameProducts(A, B, where));
        PetscCall(MatVCRSDropAIJ(A));
        PetscCall(TestSameProducts(A, B, where));
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&B));
        count += 2;
        continue;
      }
      error.text[0] = 0;
      PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
      ierr = MatMult(A, x, y);
      PetscCall(PetscPopErrorHandler());
      PetscCall(TestRefused(where, ierr, &error, words));

      /* dropping is refused as well, or the entries would be lost */
      error.text[0] = 0;
      PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
      ierr = MatVCRSDropAIJ(A);
      PetscCall(PetscPopErrorHandler());
      PetscCall(PetscStrlcat(where, ", dropped", sizeof(where)));
      PetscCall(TestRefused(where, ierr, &error, words));

      /* the remedy from the message */
      PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_NONE));
      PetscCall(TestSameProducts(A, B, where));

      /* and the other remedy: a corrected row */
      PetscCall(MatVCRSSetLoss(A, losses[l]));
      if (end == M) PetscCall(MatSetValue(A, row, bad % 2 ? row : row - 13, bad % 2 ? 4.0 : -1.0, INSERT_VALUES));
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatMult(A, x, y));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A layout which cannot hold the matrix: because of all rows, or because of one process's rows */
static PetscErrorCode TestLayouts(Vec x, Vec y)
{
  PetscFunctionBegin;
  for (int some = 0; some < 2; some++) {
    Mat      A, B;
    PetscInt M, begin, end;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR5, 0, &B));
    PetscCall(MatGetSize(B, &M, NULL));
    PetscCall(MatGetOwnershipRange(B, &begin, &end));
    for (PetscInt i = some ? PetscMax(begin, M - 1) : begin; i < end; i++) PetscCall(MatSetValue(B, i, i, 4.1 + 1e-7 * (PetscReal)i, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
    PetscCall(MatVCRSSetLayout(A, MATVCRS_LAYOUT_L2));
    TEST_REFUSED(some ? "layout l2 on one process" : "layout l2", MatMult(A, x, y), "-mat_vcrs_layout l2", "-mat_vcrs_loss fixed", "-mat_vcrs_layout auto");
    TEST_REFUSED(some ? "layout l2 on one process, dropped" : "layout l2, dropped", MatVCRSDropAIJ(A), "-mat_vcrs_layout l2");
    PetscCall(MatVCRSSetLayout(A, MATVCRS_LAYOUT_AUTO));
    PetscCall(TestSameProducts(A, B, "after a layout that was refused"));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FormFunction(SNES snes, Vec x, Vec f, void *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatMult((Mat)ctx, x, f));
  PetscCall(VecShift(f, -1.0));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FormJacobian(SNES snes, Vec x, Mat J, Mat P, void *ctx)
{
  PetscFunctionBegin;
  PetscCall(MatAssemblyBegin(J, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(J, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A lossy matrix is refused as operator, but any preconditioner may be made from it */
static PetscErrorCode TestOperators(void)
{
  static const char *const pcs[] = {"jacobi", "sor", "bjacobi", "asm", "gamg", "redundant", "ksp"};
  Mat                      A, B;
  Vec                      b, x;
  KSP                      ksp;
  SNES                     snes;

  PetscFunctionBegin;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_CONVECTION, 0, &B));
  PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
  PetscCall(MatVCRSSetLayout(A, MATVCRS_LAYOUT_L3)); /* otherwise a matrix with few different rows is stored without loss */
  PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_LOG));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(VecSet(b, 1.0));

  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  TEST_REFUSED("lossy operator", KSPSolve(ksp, b, x), "-mat_vcrs_allow_lossy_operator", "-mat_vcrs_loss log", "KSPSetOperators()");
  TEST_REFUSED("lossy operator, again", KSPSolve(ksp, b, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(KSPDestroy(&ksp));

  /* also transposed, inside of SNES, and when the loss comes later */
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetOperators(ksp, A, B));
  TEST_REFUSED("lossy operator, transposed", KSPSolveTranspose(ksp, b, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_NONE));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_FIXED));
  TEST_REFUSED("operator that became lossy", KSPSolve(ksp, b, x), "-mat_vcrs_allow_lossy_operator", "-mat_vcrs_loss fixed");
  PetscCall(KSPDestroy(&ksp));

  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, NULL, FormFunction, B));
  PetscCall(SNESSetJacobian(snes, A, A, FormJacobian, NULL));
  PetscCall(VecSet(x, 0.0));
  TEST_REFUSED("lossy Jacobian", SNESSolve(snes, NULL, x), "-mat_vcrs_allow_lossy_operator");
  PetscCall(SNESDestroy(&snes));
  PetscCall(SNESCreate(PETSC_COMM_WORLD, &snes));
  PetscCall(SNESSetFunction(snes, NULL, FormFunction, B));
  PetscCall(SNESSetJacobian(snes, B, A, FormJacobian, NULL));
  PetscCall(VecSet(x, 0.0));
  PetscCall(SNESSolve(snes, NULL, x));
  PetscCall(SNESDestroy(&snes));

  /* as the second matrix in every kind of preconditioner, also with inner solves */
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pcs); p++) {
    KSPConvergedReason reason;
    PC                 pc;

    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, B, A));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, pcs[p]));
    PetscCall(KSPSetType(ksp, KSPFGMRES));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPGetConvergedReason(ksp, &reason));
    if (reason < 0) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL a lossy preconditioner matrix with -pc_type %s: %s\n", pcs[p], KSPConvergedReasons[reason]));
    failures += reason < 0 ? 1 : 0;
    count++;
    PetscCall(KSPDestroy(&ksp));
  }

  /* allowed, by the setter, by the option, and by the option with a prefix */
  for (int how = 0; how < 3; how++) {
    const char *name = how == 1 ? "-mat_vcrs_allow_lossy_operator" : "-my_mat_vcrs_allow_lossy_operator";
    Mat         C;

    PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &C));
    PetscCall(MatVCRSSetLayout(C, MATVCRS_LAYOUT_L3));
    PetscCall(MatVCRSSetLoss(C, MATVCRS_LOSS_LOG));
    if (how == 0) PetscCall(MatVCRSSetAllowLossyOperator(C, PETSC_TRUE));
    else {
      if (how == 2) PetscCall(MatSetOptionsPrefix(C, "my_"));
      PetscCall(SetOption(C, name, "true"));
    }
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, C, C));
    PetscCall(KSPSolve(ksp, b, x));
    PetscCall(KSPDestroy(&ksp));
    PetscCall(MatDestroy(&C));
    count++;
  }
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The functions of MATVCRS on another matrix, or on an unassembled matrix */
static PetscErrorCode TestWrongMatrix(Mat B)
{
  Mat         A;
  MatVCRSInfo info;

  PetscFunctionBegin;
  TEST_REFUSED("MatVCRSSetLayout() of aij", MatVCRSSetLayout(B, MATVCRS_LAYOUT_L0), "aij", "MATVCRS");
  TEST_REFUSED("MatVCRSDropAIJ() of aij", MatVCRSDropAIJ(B), "aij");
  TEST_REFUSED("MatVCRSMaterializeAIJ() of aij", MatVCRSMaterializeAIJ(B), "aij");
  TEST_REFUSED("MatVCRSGetInfo() of aij", MatVCRSGetInfo(B, &info), "aij");
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, 10, 10));
  PetscCall(MatSetType(A, MATVCRS));
  PetscCall(MatSetUp(A));
  TEST_REFUSED("MatVCRSGetInfo() before assembly", MatVCRSGetInfo(A, &info), "not assembled", "MatAssemblyBegin()");
  TEST_REFUSED("MatVCRSDropAIJ() before assembly", MatVCRSDropAIJ(A), "assembled");
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatVCRSGetInfo(A, &info));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* On a device, a row of a matrix which is not triangular would wait for itself for ever */
static PetscErrorCode TestTriangle(Mat B, Vec x, Vec y)
{
  Mat T;

  PetscFunctionBegin;
  PetscCall(MatConvert(B, MATSEQAIJVCRS, MAT_INITIAL_MATRIX, &T));
  TEST_REFUSED("MatVCRSSubstitute() of a matrix that is no triangle", MatVCRSSubstitute(T, PETSC_FALSE, PETSC_FALSE, x, y), "triangle", "strictly below");
  TEST_REFUSED("MatVCRSSubstitute() of one for the upper triangle", MatVCRSSubstitute(T, PETSC_TRUE, PETSC_FALSE, x, y), "triangle", "strictly above");
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  Mat       A, B;
  Vec       x, y;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR5, 0, &B));
  PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
  PetscCall(TestCreateVec(B, PETSC_FALSE, "x_", 1, &x));
  PetscCall(TestCreateVec(B, PETSC_TRUE, "y_", 1, &y));
  PetscCall(TestOptions(A, B));
  PetscCall(TestWrongMatrix(B));
  PetscCall(TestBadNumbers(x, y));
  PetscCall(TestLayouts(x, y));
  PetscCall(TestOperators());
  PetscCall(PetscObjectTypeCompare((PetscObject)x, VECSEQCUDA, &device));
  if (device) PetscCall(TestTriangle(B, x, y));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  return TestReport("%" PetscInt_FMT " cases of bad input are met\n", count);
}

/*TEST

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    requires: double
    nsize: {{1 2}}
    args: -checkfunctionlist 0

  test:
    suffix: cuda
    requires: cuda double
    args: -x_vec_type cuda -y_vec_type cuda -checkfunctionlist 0

TEST*/
