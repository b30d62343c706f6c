/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products of lossless MATVCRS matrices in every layout against MATAIJ.\n\n";

#include "vcrstest.h"

int main(int argc, char **argv)
{
  PetscInt products = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int kind = 0; kind < TEST_KINDS; kind++) {
    Mat          B;
    TestProducts t;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, (TestKind)kind, 0, &B));
    PetscCall(TestProductsCreate(B, PETSC_FALSE, &t));
    for (int layout = MATVCRS_LAYOUT_AUTO; layout <= MATVCRS_LAYOUT_L3; layout++) {
      Mat         A;
      MatVCRSInfo info;
      char        where[128];

      if (layout == MATVCRS_LAYOUT_L2 && !TestKindIsFixedPoint((TestKind)kind)) continue;
      if (TestLeftOut()) continue;
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s in layout %s", TestKindNames[kind], MatVCRSLayouts[layout]));
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatVCRSSetLayout(A, (MatVCRSLayout)layout));

      /* first with the AIJ arrays, which a product may use, then without */
      PetscCall(TestCompareProducts(A, &t, where, &failures));
      PetscCall(MatVCRSDropAIJ(A));
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s in layout %s, AIJ dropped", TestKindNames[kind], MatVCRSLayouts[layout]));
      PetscCall(TestCompareProducts(A, &t, where, &failures));
      products += 2;

      /* the matrix has the requested layout */
      PetscCall(MatVCRSGetInfo(A, &info));
      PetscCheck(layout == MATVCRS_LAYOUT_AUTO ? info.layout != MATVCRS_LAYOUT_AUTO : (int)info.layout == layout, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s has layout %s", where, MatVCRSLayouts[info.layout]);
      PetscCheck(!info.difference, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s is in difference form", where);
      PetscCheck(info.maxabserror == 0.0 && info.rowsumerror == 0.0 && info.froberror == 0.0 && info.guardrows == 0, PETSC_COMM_SELF, PETSC_ERR_PLIB,
                 "%s: MatVCRSGetInfo() tells of errors", where);
      PetscCall(MatDestroy(&A));
    }
    PetscCall(TestProductsDestroy(&t));
    PetscCall(MatDestroy(&B));
  }
  return TestReport("%" PetscInt_FMT " matrices multiply as AIJ does\n", products);
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: {{2 3 4}}
    output_file: output/products_1.out

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda
    output_file: output/products_1.out

  test:
    suffix: mixed
    requires: cuda
    nsize: {{1 2}}
    args: -x_vec_type {{standard cuda}} -y_vec_type {{standard cuda}} -z_vec_type {{standard cuda}} -every 3
    output_file: output/products_2.out

TEST*/
