/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products of MATHYBMGPU matrices in every format against MATAIJ; new values, copies, conversions, COO assembly.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <tests/options.h>

#define VARIANTS 10

/* Sets the rows of B again by MatSetValuesCOO(), from this process */
static PetscErrorCode AssembleCOO(Mat B, Mat A)
{
  PetscInt           begin, end, len, m, n, *i, *j;
  const PetscInt    *cols;
  const PetscScalar *vals;
  PetscScalar       *v;
  PetscCount         count = 0;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCall(MatGetInfo(B, MAT_LOCAL, &info));
  PetscCall(PetscMalloc3((size_t)info.nz_used, &i, (size_t)info.nz_used, &j, (size_t)info.nz_used, &v));
  PetscCall(MatGetOwnershipRange(B, &begin, &end));
  for (PetscInt r = begin; r < end; r++) {
    PetscCall(MatGetRow(B, r, &len, &cols, &vals));
    for (PetscInt k = 0; k < len; k++, count++) {
      i[count] = r;
      j[count] = cols[k];
      v[count] = vals[k];
    }
    PetscCall(MatRestoreRow(B, r, &len, &cols, &vals));
  }
  PetscCall(MatGetLocalSize(B, &m, &n));
  PetscCall(MatSetSizes(A, m, n, PETSC_DETERMINE, PETSC_DETERMINE));
  PetscCall(MatSetType(A, MATHYBMGPU));
  PetscCall(MatSetPreallocationCOO(A, count, i, j));
  PetscCall(MatSetValuesCOO(A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Adds entries outside of the pattern. A, which was used in products, and a copy of B get a diagonal, then columns of
   other processes too */
static PetscErrorCode CheckOtherPattern(Mat A, Mat B, const char where[], PetscInt *failures)
{
  Mat          C, T;
  TestProducts t;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &C));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &T));
  for (int k = 0; k < 2; k++) {
    if (k) {
      PetscCall(MatAXPY(C, 2.0, T, DIFFERENT_NONZERO_PATTERN));
      PetscCall(MatAXPY(A, 2.0, T, DIFFERENT_NONZERO_PATTERN));
    } else {
      PetscCall(MatShift(C, 2.0));
      PetscCall(MatShift(A, 2.0));
    }
    PetscCall(TestProductsCreate(C, PETSC_FALSE, &t));
    PetscCall(TestCompareProducts(A, &t, where, failures));
    PetscCall(TestProductsDestroy(&t));
  }
  PetscCall(MatDestroy(&T));
  PetscCall(MatDestroy(&C));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All AIJ functions, as seen by a user: a copy, conversions in both directions, a product of matrices, a transposed
   matrix */
static PetscErrorCode CheckAIJ(Mat A, Mat B, const char where[], PetscInt *failures)
{
  Mat       C, D, E;
  MatType   type;
  PetscBool same;

  PetscFunctionBegin;
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)C, &same, MATSEQAIJHYBMGPU, MATMPIAIJHYBMGPU, ""));
  PetscCall(MatGetType(C, &type));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: a copy has type %s", where, type);
  PetscCall(TestCompareRows(C, B, where, "copy", failures));
  PetscCall(MatConvert(C, MATAIJ, MAT_INPLACE_MATRIX, &C));
  PetscCall(PetscObjectTypeCompareAny((PetscObject)C, &same, MATSEQAIJ, MATMPIAIJ, ""));
  PetscCall(MatGetType(C, &type));
  PetscCheck(same, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "%s: converted in place it has type %s", where, type);
  PetscCall(TestCompareRows(C, B, where, "converted in place", failures));
  PetscCall(MatDestroy(&C));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
  PetscCall(TestCompareRows(C, B, where, "converted", failures));
  PetscCall(MatConvert(A, MATAIJ, MAT_REUSE_MATRIX, &C));
  PetscCall(TestCompareRows(C, B, where, "converted again", failures));
  PetscCall(MatDestroy(&C));

  PetscCall(MatTranspose(A, MAT_INITIAL_MATRIX, &C));
  PetscCall(MatTranspose(B, MAT_INITIAL_MATRIX, &D));
  PetscCall(TestCompareRows(C, D, where, "transposed", failures));
  PetscCall(MatMatMult(A, C, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &E));
  PetscCall(MatDestroy(&C));
  PetscCall(MatMatMult(B, D, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C));
  PetscCall(TestCompareRows(E, C, where, "A A^T", failures));
  PetscCall(MatDestroy(&E));
  PetscCall(MatMatMult(A, D, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &E)); /* a factor of another type */
  PetscCall(TestCompareRows(E, C, where, "A A^T with AIJ", failures));
  PetscCall(MatDestroy(&E));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt matrices = 0, every = 1, number = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    Mat          B, B1;
    TestProducts t, t1;
    PetscInt     M, N;

    if (number % every && number / every == (number + VARIANTS - 1) / every) { /* skip this matrix */
      number += VARIANTS;
      continue;
    }
    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 0, &B));
    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 1, &B1));
    PetscCall(TestProductsCreate(B, PETSC_FALSE, &t));
    PetscCall(TestProductsCreate(B1, PETSC_FALSE, &t1));
    PetscCall(MatGetSize(B, &M, &N));
    for (int variant = 0; variant < VARIANTS; variant++) {
      /* formats, and options which change a format: a narrow and a wide HYB, sorted rows, another order of the rows */
      static const MatHYBMGPUFormat format[VARIANTS] = {MATHYBMGPU_FORMAT_AUTO, MATHYBMGPU_FORMAT_HYB, MATHYBMGPU_FORMAT_SELL, MATHYBMGPU_FORMAT_CSR,
                                                        MATHYBMGPU_FORMAT_VCRS, MATHYBMGPU_FORMAT_HYB, MATHYBMGPU_FORMAT_HYB,  MATHYBMGPU_FORMAT_SELL,
                                                        MATHYBMGPU_FORMAT_SELL, MATHYBMGPU_FORMAT_HYB};
      static const PetscInt         width[VARIANTS] = {-1, -1, -1, -1, -1, 0, 1000, -1, -1, 3}, sigma[VARIANTS] = {-1, -1, -1, -1, -1, -1, -1, 64, 16, -1};
      Mat                           A, C;
      char                          where[128];

      if (number++ % every) continue;
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s in format %s, variant %d", TestKindNames[kind], MatHYBMGPUFormats[format[variant]], variant));
      PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatSetFromOptions(A));
      PetscCall(MatHYBMGPUSetFormat(A, format[variant]));
      if (width[variant] >= 0) PetscCall(TestSetOptions(A, "-mat_hybmgpu_width %" PetscInt_FMT, width[variant]));
      else PetscCall(TestSetOptions(A, "-mat_hybmgpu_split %s", variant == 1 ? "cusp" : "bytes"));
      if (sigma[variant] >= 0) PetscCall(TestSetOptions(A, "-mat_hybmgpu_sigma %" PetscInt_FMT, sigma[variant]));
      if (M == N && variant >= 8) PetscCall(TestSetOptions(A, "-mat_hybmgpu_reorder rcm"));
      PetscCall(TestCompareProducts(A, &t, where, &failures));

      /* other values in the same pattern; the first values again; a copy made by another order of calls */
      PetscCall(TestSetRows(A, (TestKind)kind, 1, MAT_FINAL_ASSEMBLY));
      PetscCall(PetscStrlcat(where, ", new values", sizeof(where)));
      PetscCall(TestCompareProducts(A, &t1, where, &failures));
      PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
      PetscCall(MatScale(C, 2.0));
      PetscCall(MatCopy(B1, C, SAME_NONZERO_PATTERN));
      PetscCall(PetscStrlcat(where, ", copied", sizeof(where)));
      PetscCall(TestCompareProducts(C, &t1, where, &failures));
      PetscCall(MatDestroy(&C));
      if (variant < 2 && M && N) PetscCall(CheckAIJ(A, B1, where, &failures));
      if (kind == TEST_NODIAGONAL) PetscCall(CheckOtherPattern(A, B1, where, &failures));
      PetscCall(MatDestroy(&A));

      if (variant == 2) {
        PetscCall(MatCreate(PETSC_COMM_WORLD, &A));
        PetscCall(AssembleCOO(B, A));
        PetscCall(MatHYBMGPUSetFormat(A, format[variant]));
        PetscCall(PetscSNPrintf(where, sizeof(where), "%s, COO", TestKindNames[kind]));
        PetscCall(TestCompareProducts(A, &t, where, &failures));
        PetscCall(MatDestroy(&A));
      }
      matrices++;
    }
    PetscCall(TestProductsDestroy(&t));
    PetscCall(TestProductsDestroy(&t1));
    PetscCall(MatDestroy(&B));
    PetscCall(MatDestroy(&B1));
  }
  return TestReport("%" PetscInt_FMT " matrices multiply as AIJ does\n", matrices);
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: {{2 3}}
    output_file: output/products_1.out

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda
    output_file: output/products_1.out

  testset:
    requires: cuda
    args: -y_vec_type {{standard cuda}} -z_vec_type {{standard cuda}} -every 3
    output_file: output/products_2.out
    test:
      suffix: mixed_n1_standard
      args: -x_vec_type standard
    test:
      suffix: mixed_n1_cuda
      args: -x_vec_type cuda
    test:
      suffix: mixed_n2_standard
      nsize: 2
      args: -x_vec_type standard
    test:
      suffix: mixed_n2_cuda
      nsize: 2
      args: -x_vec_type cuda

  test:
    suffix: aside
    requires: cuda
    nsize: {{2 3}}
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda -mat_hybmgpu_transport ipc -lithe_halo_overlap 0 -every 3
    output_file: output/products_2.out

TEST*/
