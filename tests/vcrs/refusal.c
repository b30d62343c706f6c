/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "A lossy MATVCRS multiplies only if the loss is allowed; a MATVCRS which lost nothing always multiplies.\n\n";

#include <lithe/private/vcrs/mat.h>
#include "vcrstest.h"
#include <tests/refused.h>
#include <tests/shell.h>
#include <lithe/private/lithestep.h>

#define LEAST_REFUSED 180

/* ---- What a program may ask of a matrix that is a product with its entries ---- */

static PetscErrorCode AskMult(Mat A, Vec x, Vec y)
{
  return MatMult(A, x, y);
}

static PetscErrorCode AskMultAdd(Mat A, Vec x, Vec y)
{
  return MatMultAdd(A, x, y, y);
}

static PetscErrorCode AskTranspose(Mat A, Vec x, Vec y)
{
  return MatMultTranspose(A, x, y);
}

static PetscErrorCode AskTransposeAdd(Mat A, Vec x, Vec y)
{
  return MatMultTransposeAdd(A, x, y, y);
}

static PetscErrorCode AskHermitian(Mat A, Vec x, Vec y)
{
  return MatMultHermitianTranspose(A, x, y);
}

static PetscErrorCode AskHermitianAdd(Mat A, Vec x, Vec y)
{
  return MatMultHermitianTransposeAdd(A, x, y, y);
}

static PetscErrorCode AskResidual(Mat A, Vec x, Vec y)
{
  Vec            b;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(y, &b));
  PetscCall(VecSet(b, 1.0));
  ierr = MatResidual(A, b, x, y);
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(ierr);
}

static PetscErrorCode AskStep(Mat A, Vec x, Vec y)
{
  LitheMatStepFn *step;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatStep_C", &step));
  PetscCall((*step)(A, 0.5, NULL, x, y, 0, NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product with a matrix that is made of A */
static PetscErrorCode AskOf(PetscErrorCode (*create)(Mat, Mat *), Mat A, Vec x, Vec y)
{
  Mat            T;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall((*create)(A, &T));
  ierr = MatMult(T, x, y);
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(ierr);
}

static PetscErrorCode AskVirtualTranspose(Mat A, Vec x, Vec y)
{
  return AskOf(MatCreateTranspose, A, x, y);
}

static PetscErrorCode AskVirtualHermitian(Mat A, Vec x, Vec y)
{
  return AskOf(MatCreateHermitianTranspose, A, x, y);
}

static PetscErrorCode AskNormal(Mat A, Vec x, Vec y)
{
  return AskOf(MatCreateNormal, A, x, y);
}

static PetscErrorCode Hide(Mat A, Mat *T)
{
  return TestShell(A, PETSC_FALSE, PETSC_FALSE, T);
}

static PetscErrorCode AskShell(Mat A, Vec x, Vec y)
{
  return AskOf(Hide, A, x, y);
}

static PetscErrorCode Duplicate(Mat A, Mat *T)
{
  return MatDuplicate(A, MAT_COPY_VALUES, T);
}

static PetscErrorCode AskDuplicate(Mat A, Vec x, Vec y)
{
  return AskOf(Duplicate, A, x, y);
}

static PetscErrorCode AskNest(Mat A, Vec x, Vec y)
{
  Mat            T;
  Vec            v[2], part;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MatCreateNest(PetscObjectComm((PetscObject)A), 1, NULL, 1, NULL, &A, &T));
  PetscCall(MatNestSetVecType(T, VECNEST));
  PetscCall(MatCreateVecs(T, &v[0], &v[1]));
  PetscCall(VecSet(v[0], 1.0));
  ierr = MatMult(T, v[0], v[1]);
  for (int k = 0; k < 2; k++) {
    PetscCall(VecNestGetSubVec(v[k], 0, &part));
    if (ierr) PetscCall(PetscObjectDereference((PetscObject)part)); /* MATNEST's own reference, which an error leaves */
    PetscCall(VecDestroy(&v[k]));
  }
  PetscCall(MatDestroy(&T));
  PetscFunctionReturn(ierr);
}

/* The block which bjacobi uses; on one process the block is A itself */
static PetscErrorCode AskDiagonalBlock(Mat A, Vec x, Vec y)
{
  Mat            B;
  Vec            bx, by;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MatGetDiagonalBlock(A, &B));
  PetscCall(MatCreateVecs(B, &bx, &by));
  PetscCall(VecSet(bx, 1.0));
  ierr = MatMult(B, bx, by);
  PetscCall(VecDestroy(&bx));
  PetscCall(VecDestroy(&by));
  PetscFunctionReturn(ierr);
}

static PetscErrorCode AskDense_Private(Mat A, PetscBool transposed)
{
  PetscInt       m, n, M, N;
  Mat            X, C = NULL;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), transposed ? m : n, PETSC_DECIDE, transposed ? M : N, 3, NULL, &X));
  PetscCall(MatSetRandom(X, NULL));
  if (transposed) ierr = MatTransposeMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C);
  else ierr = MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C);
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(ierr);
}

static PetscErrorCode AskDense(Mat A, Vec x, Vec y)
{
  return AskDense_Private(A, PETSC_FALSE);
}

static PetscErrorCode AskTransposeDense(Mat A, Vec x, Vec y)
{
  return AskDense_Private(A, PETSC_TRUE);
}

/* An eigenvalue solver of the program's own, which knows of no KSP */
static PetscErrorCode AskPower(Mat A, Vec x, Vec y)
{
  Vec            v;
  PetscReal      norm;
  PetscErrorCode ierr = PETSC_SUCCESS;

  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(x, &v));
  PetscCall(VecCopy(x, v));
  for (int k = 0; k < 3 && !ierr; k++) {
    ierr = MatMult(A, v, y);
    if (ierr) break;
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(VecCopy(y, v));
    PetscCall(VecScale(v, 1.0 / norm));
  }
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(ierr);
}

static PetscBool granted; /* requests must now succeed */

/* The entries of A below its diagonal */
static PetscErrorCode CreateTriangle(Mat A, Mat *T)
{
  PetscInt m;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, NULL));
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, m, 64, NULL, T));
  for (PetscInt row = 0; row < m; row++) {
    const PetscInt    *col;
    const PetscScalar *a;
    PetscInt           n, below = 0;

    PetscCall(MatGetRow(A, row, &n, &col, &a));
    while (below < n && col[below] < row) below++;
    PetscCall(MatSetValues(*T, 1, &row, below, col, a, INSERT_VALUES));
    PetscCall(MatRestoreRow(A, row, &n, &col, &a));
  }
  PetscCall(MatAssemblyBegin(*T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*T, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A triangular solve with one triangle gives a solve with the other triangle; several processes have no triangular
   solves. The matrix need not be triangular where the request is refused */
static PetscErrorCode AskSubstitute(Mat A, Vec x, Vec y)
{
  Mat         T;
  PetscMPIInt size;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)A), &size));
  if (size > 1) PetscCall(MatMult(A, x, y));
  else if (!granted) PetscCall(MatVCRSSubstitute(A, PETSC_FALSE, PETSC_FALSE, x, y));
  else {
    PetscCall(CreateTriangle(A, &T));
    PetscCall(MatConvert(T, MATSEQAIJVCRS, MAT_INPLACE_MATRIX, &T));
    PetscCall(MatVCRSSetLoss(T, MATVCRS_LOSS_LOG));
    PetscCall(MatVCRSSetAllowLossyOperator(T, PETSC_TRUE));
    PetscCall(MatVCRSSubstitute(T, PETSC_FALSE, PETSC_FALSE, x, y));
    PetscCall(MatDestroy(&T));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

typedef PetscErrorCode Ask(Mat, Vec, Vec);

static const struct {
  const char *name;
  Ask        *ask;
} asks[] = {{"MatMult()", AskMult},
            {"MatMultAdd()", AskMultAdd},
            {"MatMultTranspose()", AskTranspose},
            {"MatMultTransposeAdd()", AskTransposeAdd},
            {"MatMultHermitianTranspose()", AskHermitian},
            {"MatMultHermitianTransposeAdd()", AskHermitianAdd},
            {"MatResidual()", AskResidual},
            {"a step of a power series", AskStep},
            {"MatCreateTranspose()", AskVirtualTranspose},
            {"MatCreateHermitianTranspose()", AskVirtualHermitian},
            {"MatCreateNormal()", AskNormal},
            {"MATNEST", AskNest},
            {"MATSHELL", AskShell},
            {"MatDuplicate()", AskDuplicate},
            {"MatGetDiagonalBlock()", AskDiagonalBlock},
            {"MatMatMult()", AskDense},
            {"MatTransposeMatMult()", AskTransposeDense},
            {"a power iteration", AskPower},
            {"MatVCRSSubstitute()", AskSubstitute}};

/* Each request has separate vectors, because an error leaves some vectors locked */
static PetscErrorCode AskOne(Mat A, size_t k, const char *const words[], const char where[])
{
  char           name[256];
  Vec            x, y;
  TestError      error;
  PetscErrorCode ierr;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(TestFillVec(x, 1));
  PetscCall(VecSet(y, 0.0));
  PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s", asks[k].name, where));
  granted = (PetscBool)!words;
  if (words) {
    error.text[0] = 0;
    PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
    ierr = (*asks[k].ask)(A, x, y);
    PetscCall(PetscPopErrorHandler());
    PetscCall(TestRefused(name, ierr, &error, words));
  } else {
    PetscCall((*asks[k].ask)(A, x, y));
    count++;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All requests: refused with the expected words, or done */
static PetscErrorCode AskAll(Mat A, const char *const words[], const char where[])
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(asks); k++) PetscCall(AskOne(A, k, words, where));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- What is no product, or one of exact entries ---- */

/* Compares A~ with a B of the same entries, and other matrices made from A; products must agree bit for bit */
static PetscErrorCode TestExact(Mat A, Mat B, const char where[])
{
  Mat       E[4], F[4];
  Vec       d, e;
  PetscReal norm[2];
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &E[0]));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &F[0]));
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &E[1]));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &F[1]));
  PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &E[2]));
  PetscCall(MatMatMult(B, B, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &F[2]));
  PetscCall(MatPtAP(A, B, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &E[3]));
  PetscCall(MatPtAP(B, B, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &F[3]));
  for (int k = 0; k < 4; k++) {
    PetscCall(MatConvert(E[k], MATAIJ, MAT_INPLACE_MATRIX, &E[k]));
    PetscCall(MatEqual(E[k], F[k], &same));
    if (WRONG(!same)) FAIL("%s: matrix %d made of it is not exact", where, k);
    count++;
    PetscCall(MatDestroy(&E[k]));
    PetscCall(MatDestroy(&F[k]));
  }
  PetscCall(MatCreateVecs(A, &d, NULL));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(MatGetDiagonal(A, d));
  PetscCall(MatGetDiagonal(B, e));
  PetscCall(VecEqual(d, e, &same));
  PetscCall(MatNorm(A, NORM_FROBENIUS, &norm[0]));
  PetscCall(MatNorm(B, NORM_FROBENIUS, &norm[1]));
  if (WRONG(!same || norm[0] != norm[1])) FAIL("%s: the diagonal or the norm is not exact", where);
  count++;
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the arrays of A have B's entries */
static PetscErrorCode HasEntries(Mat A, Mat B, PetscBool *same)
{
  Mat C;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatEqual(C, B, same));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ---- The rule ---- */

/* An explicit layout: by default a matrix with few different rows is stored without loss */
static PetscErrorCode CreateLossy(Mat B, MatVCRSLoss loss, PetscInt bits, Mat *A)
{
  PetscFunctionBeginUser;
  PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, A));
  PetscCall(MatVCRSSetLayout(*A, MATVCRS_LAYOUT_L3));
  PetscCall(MatVCRSSetLoss(*A, loss));
  PetscCall(MatVCRSSetBits(*A, bits));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const struct {
  const char *name;
  MatVCRSLoss loss;
  PetscInt    bits;
} losses[] = {{"bins", MATVCRS_LOSS_BINS, 16},     {"classes", MATVCRS_LOSS_CLASSES, 16},      {"log 8", MATVCRS_LOSS_LOG, 8},
              {"log 16", MATVCRS_LOSS_LOG, 16},    {"fixed 8", MATVCRS_LOSS_FIXED, 8},         {"fixed 16", MATVCRS_LOSS_FIXED, 16},
              {"single", MATVCRS_LOSS_SINGLE, 16}, {"binclasses", MATVCRS_LOSS_BINCLASSES, 16}};

static PetscErrorCode TestLosses(TestKind kind)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kind, 0, &B));
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(losses); l++) {
    char              where[64], option[2][64];
    const char *const words[] = {option[0], option[1], "changed its entries by up to", "bound", "KSPSetOperators()", "MatVCRSSetAllowLossyOperator()",
                                 "guarded", NULL};
    Mat               A;

    PetscCall(PetscSNPrintf(where, sizeof(where), "%s, loss %s", TestKindNames[kind], losses[l].name));
    PetscCall(PetscSNPrintf(option[0], sizeof(option[0]), "-my_mat_vcrs_loss %s", MatVCRSLosses[losses[l].loss]));
    PetscCall(PetscSNPrintf(option[1], sizeof(option[1]), "-my_mat_vcrs_allow_lossy_operator"));
    PetscCall(CreateLossy(B, losses[l].loss, losses[l].bits, &A));
    PetscCall(PetscObjectSetName((PetscObject)A, "guarded"));
    PetscCall(MatSetOptionsPrefix(A, "my_"));
    /* duplicates have neither name nor prefix */
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(asks); k++) {
      if (asks[k].ask == AskDuplicate || asks[k].ask == AskDiagonalBlock) continue;
      PetscCall(AskOne(A, k, words, where));
    }
    PetscCall(MatSetOptionsPrefix(A, NULL));
    PetscCall(TestExact(A, B, where));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* By the function, by the option and by the option with a prefix; taken back; and by another loss */
static PetscErrorCode TestAllowed(TestKind kind)
{
  static const char *const words[] = {"-mat_vcrs_allow_lossy_operator", NULL}, *const mine[] = {"-my_mat_vcrs_allow_lossy_operator", NULL};
  Mat A, B;

  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kind, 0, &B));
  for (int how = 0; how < 3; how++) {
    const char *option = how == 2 ? "-my_mat_vcrs_allow_lossy_operator" : "-mat_vcrs_allow_lossy_operator";

    PetscCall(CreateLossy(B, MATVCRS_LOSS_LOG, 16, &A));
    if (how == 2) PetscCall(MatSetOptionsPrefix(A, "my_"));
    PetscCall(AskOne(A, 0, how == 2 ? mine : words, "before it is allowed"));
    if (how) {
      PetscCall(PetscOptionsSetValue(NULL, option, "true"));
      PetscCall(MatSetFromOptions(A));
      PetscCall(PetscOptionsClearValue(NULL, option));
    } else PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_TRUE));
    PetscCall(AskAll(A, NULL, "allowed"));
    PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_FALSE));
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(asks); k++) {
      if (how < 2 || (asks[k].ask != AskDuplicate && asks[k].ask != AskDiagonalBlock)) PetscCall(AskOne(A, k, how == 2 ? mine : words, "no longer allowed"));
    }
    PetscCall(MatVCRSSetLoss(A, MATVCRS_LOSS_NONE));
    PetscCall(AskAll(A, NULL, "without loss"));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Many losses store small integers exactly; then an entry on the last process gets another value */
static PetscErrorCode TestNothingLost(void)
{
  static const MatVCRSLoss kept[]  = {MATVCRS_LOSS_FIXED, MATVCRS_LOSS_SINGLE, MATVCRS_LOSS_CLASSES};
  static const char *const words[] = {"-mat_vcrs_allow_lossy_operator", NULL};

  PetscFunctionBeginUser;
  for (size_t l = 0; l < PETSC_STATIC_ARRAY_LENGTH(kept); l++) {
    Mat         A, B;
    MatVCRSInfo info;
    PetscInt    end, M;
    char        where[64];
    PetscBool   same;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, TEST_STAR5, 0, &B));
    PetscCall(CreateLossy(B, kept[l], 16, &A));
    PetscCall(MatVCRSGetInfo(A, &info));
    PetscCheck(info.maxabserror == 0.0, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Integers in loss %s: error %g", MatVCRSLosses[kept[l]], (double)info.maxabserror);
    PetscCall(PetscSNPrintf(where, sizeof(where), "integers, loss %s", MatVCRSLosses[kept[l]]));
    PetscCall(AskAll(A, NULL, where));

    /* given back by the option, too: nothing is gone */
    PetscCall(PetscOptionsSetValue(NULL, "-mat_vcrs_drop_aij", "true"));
    PetscCall(MatSetFromOptions(A));
    PetscCall(PetscOptionsClearValue(NULL, "-mat_vcrs_drop_aij"));
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatScale(B, 2.0));
    PetscCall(AskAll(A, NULL, where));
    PetscCall(HasEntries(A, B, &same));
    if (WRONG(!same)) FAIL("%s: other entries came back", where);
    count++;

    PetscCall(MatGetSize(B, &M, NULL));
    PetscCall(MatGetOwnershipRange(B, NULL, &end));
    for (int round = 0; round < 2; round++) {
      if (end == M) PetscCall(MatSetValue(A, M - 1, M - 2, round ? -2.0 : -2.0 - 1e-9, INSERT_VALUES)); /* not the diagonal, which the row sum keeps */
      PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
      PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
      if (round) PetscCall(AskAll(A, NULL, where));
      else PetscCall(AskAll(A, words, where));
    }
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The only copy of exact entries: -mat_vcrs_drop_aij frees them only if the loss is allowed, and factors made before
   are exact */
static PetscErrorCode TestDrop(TestKind kind)
{
  Mat                      A, B;
  MatVCRSInfo              info;
  PetscBool                same;
  static const char *const words[] = {"-mat_vcrs_allow_lossy_operator", NULL};

  PetscFunctionBeginUser;
  PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kind, 0, &B));
  PetscCall(PetscOptionsSetValue(NULL, "-mat_vcrs_drop_aij", "true"));
  for (int allowed = 0; allowed < 2; allowed++) {
    PetscCall(CreateLossy(B, MATVCRS_LOSS_LOG, 8, &A));
    PetscCall(MatVCRSSetAllowLossyOperator(A, (PetscBool)allowed));
    PetscCall(MatVCRSGetInfo(A, &info)); /* compresses */
    PetscCall(HasEntries(A, B, &same));
    if (WRONG(same == (PetscBool)allowed))
      FAIL("%s with -mat_vcrs_drop_aij, loss %s: the arrays are %s", TestKindNames[kind], allowed ? "allowed" : "not allowed", same ? "kept" : "gone");
    count++;
    PetscCall(AskAll(A, allowed ? NULL : words, allowed ? "dropped, allowed" : "to be dropped"));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(PetscOptionsClearValue(NULL, "-mat_vcrs_drop_aij"));

  /* A program which frees the arrays itself accepts the loss */
  PetscCall(CreateLossy(B, MATVCRS_LOSS_LOG, 8, &A));
  PetscCall(MatVCRSDropAIJ(A));
  PetscCall(HasEntries(A, B, &same));
  if (WRONG(same)) FAIL("%s: MatVCRSDropAIJ() left the arrays", TestKindNames[kind]);
  count++;
  PetscCall(AskAll(A, words, "dropped by the program"));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt refused;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestLosses(TEST_CONVECTION));
  PetscCall(TestLosses(TEST_RESERVOIR));
  refused = count;
  PetscCall(TestAllowed(TEST_CONVECTION));
  PetscCall(TestDrop(TEST_CONVECTION));
  PetscCall(TestNothingLost());
  if (WRONG(refused < LEAST_REFUSED)) FAIL("only %" PetscInt_FMT " products were refused", refused);
  return TestReport("%" PetscInt_FMT " products of lossy matrices are refused or done as they should\n", count);
}

/*TEST

  # -checkfunctionlist 0: as in vcrs/conversions
  test:
    requires: double
    nsize: {{1 2}}
    args: -checkfunctionlist 0

  # the rule needs no log events
  test:
    suffix: nolog
    requires: double
    nsize: {{1 2}}
    args: -checkfunctionlist 0 -log_exclude {{mat ksp,pc,mat,vec}}
    output_file: output/refusal_1.out

  test:
    suffix: cuda
    requires: cuda double
    args: -checkfunctionlist 0 -mat_vec_type cuda
    output_file: output/refusal_1.out

TEST*/
