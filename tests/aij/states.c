/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATVCRS, MATHYBMGPU: reading a matrix raises no object state and no nonzero state, and values by "
                     "MatSetValuesCOO() arrive in duplicates.\n\
  -type <vcrs,hybmgpu> - the type; with the usual options of the type\n\n";

#include <tests/failures.h>
#include <lithe/private/petsccompat.h>
#include <tests/vcrs/vcrstest.h>
#include <petscksp.h>

typedef struct {
  PetscObjectState object, nonzero;
} States;

static PetscErrorCode GetStates(Mat A, States *s)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateGet((PetscObject)A, &s->object));
  PetscCall(MatGetNonzeroState(A, &s->nonzero));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ReadRows(Mat A)
{
  PetscInt begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt row = begin; row < end; row++) {
    PetscInt           n;
    const PetscInt    *columns;
    const PetscScalar *values;

    PetscCall(MatGetRow(A, row, &n, &columns, &values));
    PetscCall(MatRestoreRow(A, row, &n, &columns, &values));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode View(Mat A)
{
  PetscViewer viewer;

  PetscFunctionBeginUser;
  PetscCall(PetscViewerASCIIOpen(PetscObjectComm((PetscObject)A), "/dev/null", &viewer));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPushFormat(viewer, PETSC_VIEWER_ASCII_INFO));
  PetscCall(MatView(A, viewer));
  PetscCall(PetscViewerPopFormat(viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Copies(Mat A, int which)
{
  Mat      B = NULL, *sub;
  IS       rows;
  PetscInt begin, end, m, n;

  PetscFunctionBeginUser;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetLocalSize(A, &m, &n));
  switch (which) {
  case 0:
    PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
    break;
  case 1:
    PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &B));
    break;
  case 2:
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
    break;
  case 3:
    PetscCall(MatConvert(A, MATDENSE, MAT_INITIAL_MATRIX, &B));
    break;
  case 4:
    PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &B));
    break;
  case 5:
  case 6:
    PetscCall(ISCreateStride(which == 5 ? PetscObjectComm((PetscObject)A) : PETSC_COMM_SELF, (end - begin) / 2, begin, 2, &rows));
    if (which == 5) PetscCall(MatCreateSubMatrix(A, rows, rows, MAT_INITIAL_MATRIX, &B));
    else {
      PetscCall(MatCreateSubMatrices(A, 1, &rows, &rows, MAT_INITIAL_MATRIX, &sub));
      PetscCall(MatDestroySubMatrices(1, &sub));
    }
    PetscCall(ISDestroy(&rows));
    break;
  default: {
    Mat X;

    PetscCall(MatCreateDense(PetscObjectComm((PetscObject)A), n, PETSC_DECIDE, PETSC_DETERMINE, 3, NULL, &X));
    PetscCall(MatSetRandom(X, NULL));
    PetscCall(MatMatMult(A, X, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &B));
    PetscCall(MatDestroy(&X));
  }
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Solve(Mat A, PCType type)
{
  KSP ksp;
  Vec x, b;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecSet(b, 1.0));
  PetscCall(KSPCreate(PetscObjectComm((PetscObject)A), &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetTolerances(ksp, 1e-2, PETSC_CURRENT, PETSC_CURRENT, 3));
  {
    PC pc;

    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(PCSetType(pc, type));
  }
  for (int k = 0; k < 2; k++) PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const Reads[] = {"MatMult()",
                                    "MatMultAdd()",
                                    "MatMultTranspose()",
                                    "MatGetDiagonal()",
                                    "MatNorm()",
                                    "MatGetRow()",
                                    "MatView()",
                                    "MatDuplicate()",
                                    "MatDuplicate() without values",
                                    "MatConvert() to MATAIJ",
                                    "MatConvert() to MATDENSE",
                                    "MatTranspose()",
                                    "MatCreateSubMatrix()",
                                    "MatCreateSubMatrices()",
                                    "MatMatMult()",
                                    "PCSOR",
                                    "PCBJACOBI",
                                    "PCGAMG",
                                    "MatGetInfo()",
                                    "MatGetRowSum()",
                                    "arrays given back",
                                    "arrays taken again"};

static PetscErrorCode Read(Mat A, int which, Vec x, Vec y)
{
  PetscReal norm;
  MatInfo   info;
  PetscBool isvcrs;

  PetscFunctionBeginUser;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)A, &isvcrs, MATSEQAIJVCRS, MATMPIAIJVCRS, ""));
  if (which == 0) PetscCall(MatMult(A, x, y));
  else if (which == 1) PetscCall(MatMultAdd(A, x, x, y));
  else if (which == 2) PetscCall(MatMultTranspose(A, x, y));
  else if (which == 3) PetscCall(MatGetDiagonal(A, y));
  else if (which == 4) PetscCall(MatNorm(A, NORM_1, &norm));
  else if (which == 5) PetscCall(ReadRows(A));
  else if (which == 6) PetscCall(View(A));
  else if (which < 15) PetscCall(Copies(A, which - 7));
  else if (which < 18) PetscCall(Solve(A, which == 15 ? PCSOR : (which == 16 ? PCBJACOBI : PCGAMG)));
  else if (which == 18) PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  else if (which == 19) PetscCall(MatGetRowSum(A, y));
  else if (which == 20 && isvcrs) PetscCall(MatVCRSDropAIJ(A));
  else if (which == 21 && isvcrs) PetscCall(MatVCRSMaterializeAIJ(A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each reading operation, in an order which differs from round to round; MATAIJ may raise its state too */
static PetscErrorCode TestReads(Mat A, Mat B, PetscInt *compared)
{
  const int n = (int)PETSC_STATIC_ARRAY_LENGTH(Reads);
  Vec       x, y;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int round = 0; round < 3; round++) {
    for (int k = 0; k < n; k++) {
      const int which = (k * (2 * round + 5) + round) % n;
      States    before[2], after[2];

      PetscCall(GetStates(A, &before[0]));
      PetscCall(GetStates(B, &before[1]));
      PetscCall(Read(A, which, x, y));
      PetscCall(Read(B, which, x, y));
      PetscCall(GetStates(A, &after[0]));
      PetscCall(GetStates(B, &after[1]));
      if (WRONG(after[0].object - before[0].object > after[1].object - before[1].object || after[0].nonzero != before[0].nonzero)) {
        FAIL("%s, round %d: the object state goes up by %d, that of MATAIJ by %d, the nonzero state by %d", Reads[which], round,
             (int)(after[0].object - before[0].object), (int)(after[1].object - before[1].object), (int)(after[0].nonzero - before[0].nonzero));
      }
      (*compared)++;
    }
    /* another compression, with states which do increase */
    PetscCall(MatScale(A, 2.0));
    PetscCall(MatScale(B, 2.0));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Values by MatSetValuesCOO(): into the matrix, its duplicates, and duplicates of duplicates */
static PetscErrorCode TestCOO(MatType type, PetscInt *compared)
{
  Mat         A, D[3];
  Vec         x, y;
  PetscInt    begin, end, n = 0, *i, *j;
  PetscScalar v[3], sum;
  const int   N = 12;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
  PetscCall(MatSetSizes(A, PETSC_DECIDE, PETSC_DECIDE, N, N));
  PetscCall(MatSetType(A, type));
  PetscCall(MatSetFromOptions(A));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(PetscMalloc2(2 * (end - begin), &i, 2 * (end - begin), &j));
  for (PetscInt row = begin; row < end; row++) {
    i[n]   = row;
    j[n++] = row;
    i[n]   = row;
    j[n++] = (row + 5) % N;
  }
  PetscCall(MatSetPreallocationCOO(A, n, i, j));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  for (int round = 0; round < 2; round++) {
    PetscScalar *values;

    PetscCall(PetscMalloc1(n, &values));
    for (PetscInt k = 0; k < n; k++) values[k] = 1.0 + round;
    PetscCall(MatSetValuesCOO(A, values, INSERT_VALUES));
    PetscCall(MatMult(A, x, y));
    for (int d = 0; d < 3; d++) {
      PetscErrorCode ierr;

      PetscCall(MatDuplicate(d == 2 ? D[0] : A, d == 1 ? MAT_DO_NOT_COPY_VALUES : MAT_COPY_VALUES, &D[d]));
      if (d != 1) PetscCall(MatMult(D[d], x, y));
      for (PetscInt k = 0; k < n; k++) values[k] = 3.0 + d;
      /* an error, as MATAIJ has where a duplicate knows no coordinates, or the values */
      PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
      ierr = MatSetValuesCOO(D[d], values, INSERT_VALUES);
      PetscCall(PetscPopErrorHandler());
      (*compared)++;
      if (ierr) continue;
      PetscCall(MatMult(D[d], x, y));
      PetscCall(VecSum(y, &sum));
      if (WRONG(sum != (PetscScalar)(2.0 * N * (3.0 + d))))
        FAIL("round %d, duplicate %d: the entries sum up to %g, not to %g", round, d, (double)PetscRealPart(sum), 2.0 * N * (3.0 + d));
    }
    PetscCall(MatMult(A, x, y));
    PetscCall(VecSum(y, &v[0]));
    if (WRONG(v[0] != (PetscScalar)(2.0 * N * (1.0 + round)))) FAIL("round %d: the matrix has changed with its duplicates", round);
    for (int d = 0; d < 3; d++) PetscCall(MatDestroy(&D[d]));
    PetscCall(PetscFree(values));
  }
  PetscCall(PetscFree2(i, j));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind kinds[]  = {TEST_STAR5, TEST_RESERVOIR};
  char                  type[64] = MATVCRS;
  PetscInt              compared = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-type", type, sizeof(type), NULL));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat A, B;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kinds[k], 0, &B));
    PetscCall(MatConvert(B, type, MAT_INITIAL_MATRIX, &A));
    PetscCall(TestReads(A, B, &compared));
    PetscCall(MatDestroy(&A));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(TestCOO(type, &compared));
  if (compared < 130) failures++;
  return TestReport("%" PetscInt_FMT " operations change what they should\n", compared);
}

/*TEST

  testset:
    output_file: output/states_1.out
    nsize: {{1 2}}
    test:
      args: -type {{vcrs hybmgpu}}
    test:
      suffix: drop
      args: -mat_vcrs_drop_aij

TEST*/
