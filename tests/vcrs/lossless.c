/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Lossless MATVCRS matrices give every bit of MATAIJ back, in every layout.\n\n";

#include "vcrstest.h"

/* The number with the given bits */
static PetscReal TestBits(uint64_t bits)
{
  PetscReal v;

  if (sizeof(v) == sizeof(float)) {
    const uint32_t shorter = (uint32_t)(bits >> 32);

    memcpy(&v, &shorter, sizeof(shorter));
  } else memcpy(&v, &bits, sizeof(bits));
  return v;
}

/* Puts difficult numbers into a matrix: NaNs with a payload, infinities, -0, the smallest and the largest numbers */
static PetscErrorCode TestMakeSpecial(Mat B)
{
  static const uint64_t bits[] = {0x7ff8000000000000ULL, 0x7ff8000012345678ULL, 0xfff8cafe00000001ULL, 0x7ff0000000000000ULL, 0xfff0000000000000ULL,
                                  0x8000000000000000ULL, 0x0000000000000000ULL, 0x0000000000000001ULL, 0x800fffffffffffffULL, 0x7fefffffffffffffULL,
                                  0x0010000000000000ULL, 0x36a0000000000000ULL, 0x47efffffe0000000ULL, 0x47f0000000000000ULL, 0x3ff0000000000000ULL};
  const int             nbits  = (int)PETSC_STATIC_ARRAY_LENGTH(bits);
  PetscInt              begin, end;
  Mat                   pattern;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &pattern));
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    PetscInt        len, where[TEST_LONGEST];
    PetscScalar     v[TEST_LONGEST];
    const PetscInt *cols;

    PetscCall(MatGetRow(pattern, i, &len, &cols, NULL));
    PetscCall(PetscArraycpy(where, cols, len));
    PetscCall(MatRestoreRow(pattern, i, NULL, &cols, NULL));
    for (PetscInt k = 0; k < len; k++) {
      /* component by component: arithmetic would lose bits */
      for (size_t c = 0; c < sizeof(PetscScalar) / sizeof(PetscReal); c++)
        ((PetscReal *)&v[k])[c] = TestBits(bits[(size_t)(TestRandom(31 + c, (uint64_t)i, (uint64_t)where[k]) * nbits)]);
    }
    PetscCall(MatSetValues(B, 1, &i, len, where, v, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatDestroy(&pattern));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt matrices = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    for (int special = 0; special < 2; special++) {
      Mat B;

      PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 0, &B));
      if (special) PetscCall(TestMakeSpecial(B));
      for (int layout = MATVCRS_LAYOUT_AUTO; layout <= MATVCRS_LAYOUT_L3; layout++) {
        Mat  A, C, D;
        char where[128];

        if (layout == MATVCRS_LAYOUT_L2 && (special || !TestKindIsFixedPoint((TestKind)kind))) continue;
        if (TestLeftOut()) continue;
        PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
        PetscCall(MatVCRSSetLayout(A, (MatVCRSLayout)layout));
        PetscCall(MatVCRSDropAIJ(A));

        PetscCall(PetscSNPrintf(where, sizeof(where), "%s%s in layout %s", TestKindNames[kind], special ? " with special values" : "", MatVCRSLayouts[layout]));

        /* by rows, converted, copied, and taken back */
        PetscCall(TestCompareRows(A, B, where, "MatGetRow()", &failures));
        PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
        PetscCall(TestCompareRows(C, B, where, "MatConvert() to aij", &failures));
        PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &D));
        PetscCall(TestCompareRows(D, B, where, "MatDuplicate()", &failures));
        PetscCall(MatVCRSMaterializeAIJ(A));
        PetscCall(TestCompareRows(A, B, where, "MatVCRSMaterializeAIJ()", &failures));
        PetscCall(MatDestroy(&A));
        PetscCall(MatDestroy(&C));
        PetscCall(MatDestroy(&D));
        matrices++;
      }
      PetscCall(MatDestroy(&B));
    }
  }
  return TestReport("%" PetscInt_FMT " matrices come back bit for bit\n", matrices);
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: 2
    args: -every 5

  test:
    suffix: 3
    nsize: {{3 4}}
    args: -every 16

TEST*/
