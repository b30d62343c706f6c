/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Objects made from a MATVCRS: conversions, files, submatrices, transposes, relaxation, factors, solves.\n\n";

#include "vcrstest.h"
#include <petscksp.h>

static PetscInt comparisons = 0;

static PetscErrorCode TestSame(Mat X, Mat Y, const char where[], const char what[])
{
  PetscFunctionBegin;
  PetscCall(TestCompareRows(X, Y, where, what, &failures));
  comparisons++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestHasType(Mat X, const char type[], const char where[], const char what[])
{
  PetscBool is;
  MatType   got;

  PetscFunctionBegin;
  PetscCall(MatGetType(X, &got));
  PetscCall(PetscStrcmp(got, type, &is));
  if (!is) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: %s has type %s, not %s\n", where, what, got, type));
  failures += is ? 0 : 1;
  comparisons++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestClose(Vec x, Vec y, const char where[], const char what[])
{
  PetscReal difference, norm;

  PetscFunctionBegin;
  PetscCall(VecNorm(y, NORM_2, &norm));
  PetscCall(VecAXPY(x, -1.0, y));
  PetscCall(VecNorm(x, NORM_2, &difference));
  PetscCall(TestIsRounding(difference, norm, where, what, &failures));
  comparisons++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A relative of AIJ with a vector type other than the default keeps this type in conversions; on a device everything
   depends on the type */
static PetscErrorCode TestVecType(Mat B, MatReuse reuse, const char where[])
{
  PetscMPIInt size;
  PetscBool   same;
  VecType     kept;
  Mat         C, D;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(PetscObjectComm((PetscObject)B), &size));
  PetscCall(MatConvert(B, MATAIJPERM, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatSetVecType(C, size == 1 ? VECSEQ : VECMPI));
  D = C;
  PetscCall(MatConvert(C, MATVCRS, reuse, &D));
  PetscCall(MatGetVecType(D, &kept));
  PetscCall(PetscStrcmp(kept, size == 1 ? VECSEQ : VECMPI, &same));
  if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: the vectors of a converted matrix are of type %s\n", where, kept));
  failures += same ? 0 : 1;
  if (D != C) PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestConversions(Mat A, Mat B, MatType vcrs, PetscBool dropped, const char where[])
{
  static const MatType types[] = {MATAIJ, MATBAIJ, MATDENSE, MATSELL, MATAIJVCRS, MATVCRS};
  Mat                  C, D;
  PetscBool            sell;

  PetscFunctionBegin;
  for (size_t t = 0; t < PETSC_STATIC_ARRAY_LENGTH(types); t++) {
    char what[64];

    /* away, and back */
    PetscCall(PetscSNPrintf(what, sizeof(what), "converted to %s", types[t]));
    PetscCall(MatConvert(A, types[t], MAT_INITIAL_MATRIX, &C));
    PetscCall(MatConvert(B, types[t], MAT_INITIAL_MATRIX, &D));
    if (t < 4) {
      /* MATMPISELL cannot return rows */
      PetscCall(PetscObjectTypeCompare((PetscObject)C, MATMPISELL, &sell));
      if (!sell) PetscCall(TestSame(C, D, where, what));
      PetscCall(MatDestroy(&D));
      PetscCall(PetscSNPrintf(what, sizeof(what), "converted to %s and back", types[t]));
      if (sell && PETSC_VERSION_LT(3, 25, 0)) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "SKIP %s: %s: PETSc before 3.25 makes wrong columns of a MATMPISELL\n", where, what));
        PetscCall(MatDestroy(&C));
        continue;
      }
      PetscCall(MatConvert(C, MATVCRS, MAT_INITIAL_MATRIX, &D));
      PetscCall(TestHasType(D, vcrs, where, what));
      /* a dense matrix comes back as dense */
      if (t != 2) PetscCall(TestSame(D, B, where, what));
    } else PetscCall(TestSame(C, B, where, what));
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&D));
  }

  PetscCall(TestVecType(B, MAT_INITIAL_MATRIX, where));
  PetscCall(TestVecType(B, MAT_INPLACE_MATRIX, where));

  /* into an existing matrix */
  PetscCall(MatDuplicate(B, MAT_DO_NOT_COPY_VALUES, &C));
  PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &C));
  PetscCall(TestSame(C, B, where, "converted into an aij matrix"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &C));
  PetscCall(MatConvert(B, MATVCRS, MAT_REUSE_MATRIX, &C));
  PetscCall(TestSame(C, B, where, "converted into a vcrs matrix"));
  PetscCall(MatDestroy(&C));

  /* in place: there, back, and there again */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  if (dropped) PetscCall(MatVCRSDropAIJ(C));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(TestSame(C, B, where, "converted in place to aij"));
  PetscCall(MatConvert(C, MATVCRS, MAT_INPLACE_MATRIX, &C));
  PetscCall(TestHasType(C, vcrs, where, "converted in place"));
  PetscCall(TestSame(C, B, where, "converted in place to vcrs"));
  PetscCall(MatScale(C, 2.0));
  PetscCall(MatScale(C, 0.5));
  PetscCall(TestSame(C, B, where, "converted in place and scaled twice"));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Written and read: as our type, as aij, and with another distribution */
static PetscErrorCode TestFiles(Mat A, Mat B, MatType vcrs, const char where[])
{
  PetscViewer viewer;
  Mat         C;
  char        name[PETSC_MAX_PATH_LEN] = "conversions.petsc";

  PetscFunctionBegin;
  PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_WRITE, &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  for (int t = 0; t < 2; t++) {
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, name, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_WORLD, &C));
    PetscCall(MatSetType(C, t ? MATAIJ : MATVCRS));
    PetscCall(MatLoad(C, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    if (!t) PetscCall(TestHasType(C, vcrs, where, "a matrix from a file"));
    PetscCall(TestSame(C, B, where, t ? "written, read as aij" : "written and read"));
    if (!t) {
      TestProducts p;

      PetscCall(TestProductsCreate(B, PETSC_FALSE, &p));
      PetscCall(TestCompareProducts(C, &p, where, &failures));
      PetscCall(TestProductsDestroy(&p));
    }
    PetscCall(MatDestroy(&C));
  }
  if (!rank) PetscCheck(!remove(name), PETSC_COMM_SELF, PETSC_ERR_SYS, "%s cannot be removed", name);
  PetscCall(PetscSNPrintf(name, sizeof(name), "conversions.petsc.info"));
  if (!rank) (void)remove(name);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestParts(Mat A, Mat B, const char where[])
{
  Mat      C, D, *subA, *subB;
  IS       rows, cols, local;
  PetscInt begin, end, M, N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));

  /* every second row, a third of the columns; then again into the same matrix */
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 2, begin, 2, &rows));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, (end - begin) / 3, begin + 1, 3, &cols));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatCreateSubMatrix(B, rows, cols, MAT_INITIAL_MATRIX, &D));
  PetscCall(TestSame(C, D, where, "MatCreateSubMatrix()"));
  PetscCall(MatCreateSubMatrix(A, rows, cols, MAT_REUSE_MATRIX, &C));
  PetscCall(TestSame(C, D, where, "MatCreateSubMatrix() again"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(ISDestroy(&rows));
  PetscCall(ISDestroy(&cols));

  /* rows of other processes */
  PetscCall(ISCreateStride(PETSC_COMM_SELF, M / 4, 3, 3, &local));
  PetscCall(MatCreateSubMatrices(A, 1, &local, &local, MAT_INITIAL_MATRIX, &subA));
  PetscCall(MatCreateSubMatrices(B, 1, &local, &local, MAT_INITIAL_MATRIX, &subB));
  PetscCall(TestSame(subA[0], subB[0], where, "MatCreateSubMatrices()"));
  PetscCall(MatCreateSubMatrices(A, 1, &local, &local, MAT_REUSE_MATRIX, &subA));
  PetscCall(TestSame(subA[0], subB[0], where, "MatCreateSubMatrices() again"));
  PetscCall(MatDestroySubMatrices(1, &subA));
  PetscCall(MatDestroySubMatrices(1, &subB));
  PetscCall(ISDestroy(&local));

  /* transposes */
  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(TestSame(C, D, where, "MatTranspose()"));
  PetscCall(MatTranspose(A, MAT_REUSE_MATRIX, &C));
  PetscCall(TestSame(C, D, where, "MatTranspose() again"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscCall(MatHermitianTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatHermitianTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(TestSame(C, D, where, "MatHermitianTranspose()"));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Questions about a matrix */
static PetscErrorCode TestQuestions(Mat A, Mat B, const char where[])
{
  PetscBool  equal[2], known;
  MatInfo    info[2];
  Vec        x, y;
  PetscReal *norms[2];
  PetscInt   N;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, NULL, &N));
  PetscCall(MatEqual(A, A, &equal[0]));
  {
    Mat C;

    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
    PetscCall(MatEqual(A, C, &equal[1]));
    if (!equal[0] || !equal[1]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: MatEqual() with itself or its copy\n", where));
    failures += equal[0] && equal[1] ? 0 : 1;
    PetscCall(MatShift(C, 1.0));
    PetscCall(MatEqual(A, C, &equal[0]));
    if (equal[0]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: MatEqual() with another\n", where));
    failures += equal[0] ? 1 : 0;
    PetscCall(MatDestroy(&C));
  }
  PetscCall(MatMultEqual(A, B, 3, &equal[0]));
  PetscCall(MatMultTransposeEqual(A, B, 3, &equal[1]));
  if (!equal[0] || !equal[1]) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: MatMultEqual() with aij\n", where));
  failures += equal[0] && equal[1] ? 0 : 1;

  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info[0]));
  PetscCall(MatGetInfo(B, MAT_GLOBAL_SUM, &info[1]));
  if (info[0].nz_used != info[1].nz_used)
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: %g nonzeros by MatGetInfo(), %g of aij\n", where, info[0].nz_used, info[1].nz_used));
  failures += info[0].nz_used == info[1].nz_used ? 0 : 1;

  PetscCall(PetscMalloc2(N, &norms[0], N, &norms[1]));
  PetscCall(MatGetColumnNorms(A, NORM_2, norms[0]));
  PetscCall(MatGetColumnNorms(B, NORM_2, norms[1]));
  for (PetscInt j = 0; j < N; j++) {
    if (!(PetscAbsReal(norms[0][j] - norms[1][j]) <= 100.0 * PETSC_MACHINE_EPSILON * norms[1][j])) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: the norm of column %" PetscInt_FMT "\n", where, j));
      failures++;
      break;
    }
  }
  PetscCall(PetscFree2(norms[0], norms[1]));

  PetscCall(MatCreateVecs(B, NULL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatGetRowMaxAbs(A, x, NULL));
  PetscCall(MatGetRowMaxAbs(B, y, NULL));
  PetscCall(TestClose(x, y, where, "MatGetRowMaxAbs()"));
  PetscCall(MatGetRowSum(A, x));
  PetscCall(MatGetRowSum(B, y));
  PetscCall(TestClose(x, y, where, "MatGetRowSum()"));
  PetscCall(MatIsSymmetricKnown(A, &known, &equal[0]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  comparisons += 6;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRelaxation(Mat A, Mat B, TestKind kind, const char where[])
{
  static const struct {
    const char *name;
    MatSORType  type;
    PetscReal   omega, shift;
  } sweeps[] = {{"SOR forward", (MatSORType)(SOR_LOCAL_FORWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 1.0, 0.0},
                {"SOR backward", SOR_LOCAL_BACKWARD_SWEEP, 1.3, 0.0},
                {"SOR backward from zero", (MatSORType)(SOR_LOCAL_BACKWARD_SWEEP | SOR_ZERO_INITIAL_GUESS), 0.9, 0.0},
                {"SOR symmetric", (MatSORType)(SOR_LOCAL_SYMMETRIC_SWEEP | SOR_ZERO_INITIAL_GUESS), 1.1, 0.0},
                {"SOR symmetric, shifted", SOR_LOCAL_SYMMETRIC_SWEEP, 0.8, 0.5},
                {"upper triangle", SOR_APPLY_UPPER, 1.2, 0.5}};
  Vec b, x, y;

  PetscFunctionBegin;
  PetscCall(TestCreateVec(B, PETSC_TRUE, "reference_", 30, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &y));
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(sweeps); s++) {
    /* a parallel matrix, or a matrix with inodes, cannot use a triangle alone */
    if (sweeps[s].type == SOR_APPLY_UPPER && (size > 1 || kind == TEST_BLOCKS)) continue;
    PetscCall(TestFillVec(x, 31));
    PetscCall(TestFillVec(y, 31));
    PetscCall(MatSOR(A, b, sweeps[s].omega, sweeps[s].type, sweeps[s].shift, 2, 1, x));
    PetscCall(MatSOR(B, b, sweeps[s].omega, sweeps[s].type, sweeps[s].shift, 2, 1, y));
    PetscCall(TestClose(x, y, where, sweeps[s].name));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same solve with A and with B: the same number of iterations, and nearly the same solution */
static PetscErrorCode TestSolves(Mat A, Mat B, PetscBool spd, const char where[])
{
  static const char *const pcs[] = {"none", "jacobi", "sor", "bjacobi", "asm", "ilu", "lu", "icc", "cholesky", "gamg", "pbjacobi", "redundant"};
  Vec                      b, x[2];

  PetscFunctionBegin;
  PetscCall(TestCreateVec(B, PETSC_TRUE, "reference_", 30, &b));
  PetscCall(VecDuplicate(b, &x[0]));
  PetscCall(VecDuplicate(b, &x[1]));
  for (size_t p = 0; p < PETSC_STATIC_ARRAY_LENGTH(pcs); p++) {
    PetscInt           its[2];
    KSPConvergedReason reason[2];
    PetscBool          factor, needsspd;
    PetscReal          difference, norm;

    PetscCall(PetscStrInList(pcs[p], "ilu,lu,icc,cholesky", ',', &factor));
    PetscCall(PetscStrInList(pcs[p], "icc,cholesky", ',', &needsspd));
    if ((factor && size > 1) || (needsspd && !spd)) continue;
    for (int k = 0; k < 2; k++) {
      KSP ksp;
      PC  pc;

      PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
      PetscCall(KSPSetOperators(ksp, k ? B : A, k ? B : A));
      PetscCall(KSPSetType(ksp, KSPGMRES));
      PetscCall(KSPGMRESSetRestart(ksp, 60));
      PetscCall(KSPSetTolerances(ksp, PetscMax(1e-8, 100.0 * PETSC_MACHINE_EPSILON), PETSC_CURRENT, PETSC_CURRENT, 60));
      PetscCall(KSPGetPC(ksp, &pc));
      PetscCall(PCSetType(pc, pcs[p]));
      PetscCall(KSPSolve(ksp, b, x[k]));
      PetscCall(KSPGetIterationNumber(ksp, &its[k]));
      PetscCall(KSPGetConvergedReason(ksp, &reason[k]));
      PetscCall(KSPDestroy(&ksp));
    }
    PetscCall(VecNorm(x[1], NORM_2, &norm));
    PetscCall(VecAXPY(x[0], -1.0, x[1]));
    PetscCall(VecNorm(x[0], NORM_2, &difference));
    /* both stop at rtol = 1e-8; rounding differs */
    if (its[0] != its[1] || reason[0] != reason[1] || !(difference <= PETSC_SQRT_MACHINE_EPSILON * norm)) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                            "FAIL %s: pc %s: %" PetscInt_FMT " iterations, of aij %" PetscInt_FMT "; reason %d and %d; solutions %g apart of %g\n", where,
                            pcs[p], its[0], its[1], (int)reason[0], (int)reason[1], (double)difference, (double)norm));
      failures++;
    }
    comparisons++;
  }
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x[0]));
  PetscCall(VecDestroy(&x[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind kinds[] = {TEST_STAR7, TEST_FEM, TEST_CONVECTION, TEST_BLOCKS};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    for (int dropped = 0; dropped < 2; dropped++) {
      const MatType vcrs = size == 1 ? MATSEQAIJVCRS : MATMPIAIJVCRS;
      Mat           A, B;
      char          where[64];

      PetscCall(PetscSNPrintf(where, sizeof(where), "%s%s", TestKindNames[kinds[k]], dropped ? ", AIJ dropped" : ""));
      PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kinds[k], 0, &B));
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));

      /* each part frees the arrays which the previous part recreated */
#define TEST_PART(call)                        \
  do {                                         \
    if (dropped) PetscCall(MatVCRSDropAIJ(A)); \
    PetscCall(call);                           \
  } while (0)
      TEST_PART(TestConversions(A, B, vcrs, (PetscBool)dropped, where));
      TEST_PART(TestFiles(A, B, vcrs, where));
      TEST_PART(TestParts(A, B, where));
      TEST_PART(TestQuestions(A, B, where));
      TEST_PART(TestRelaxation(A, B, kinds[k], where));
      TEST_PART(TestSolves(A, B, (PetscBool)(kinds[k] == TEST_STAR7), where));
      PetscCall(TestSame(A, B, where, "after all"));
      PetscCall(TestHasType(A, vcrs, where, "after all, it"));
      PetscCall(MatDestroy(&A));
      PetscCall(MatDestroy(&B));
    }
  }
  return TestReport("%" PetscInt_FMT " comparisons with AIJ are right\n", comparisons);
}

/*TEST

  # -checkfunctionlist 0: an ILU(0) factor gets a copy of its matrix's list of functions, which PETSc then misses
  test:
    args: -checkfunctionlist 0

  # conversions_2_alt.out has the lines of PETSc 3.24
  test:
    suffix: 2
    nsize: {{2 3}}
    args: -checkfunctionlist 0

TEST*/
