/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Steps of a power series with MATHYBMGPU, y = x + s A x and sums, against products and vector operations.\n\n";

#include <tests/vcrs/vcrstest.h>
#include <tests/options.h>
#include <lithe/private/lithestep.h>

#define SUMS 3

/* The step by A itself, then with plain operations; every entry is compared */
static PetscErrorCode CompareSteps(Mat A, Mat B, PetscInt nsums, const char where[], PetscInt *failures)
{
  LitheMatStepFn *step;
  LitheStepSum    sums[SUMS] = {{NULL, (PetscReal)0.75, PETSC_FALSE, 0},
                                {NULL, (PetscReal)-1.5, PETSC_TRUE, 0},
                                {NULL, (PetscReal)0.25, PETSC_FALSE, (PetscReal)0.5}};
  const PetscReal scale      = (PetscReal)0.375;
  Vec             x, y, rx, ry, rs, allowed[2];

  PetscFunctionBegin;
  PetscCall(PetscObjectQueryFunction((PetscObject)A, "LitheMatStep_C", &step));
  PetscCheck(step, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: no step", where);
  PetscCall(TestGetScales(B, PETSC_FALSE, allowed));
  PetscCall(VecScale(allowed[0], 4.0));
  PetscCall(TestCreateVec(B, PETSC_FALSE, "x_", 1, &x));
  PetscCall(TestCreateVec(B, PETSC_TRUE, "x_", 2, &y));
  PetscCall(TestCreateVec(B, PETSC_FALSE, "reference_", 1, &rx));
  PetscCall(TestCreateVec(B, PETSC_TRUE, "reference_", 2, &ry));
  for (PetscInt k = 0; k < nsums; k++) PetscCall(TestCreateVec(B, PETSC_TRUE, "x_", 3 + (int)k, &sums[k].sum));
  PetscCall((*step)(A, scale, NULL, x, y, nsums, sums));

  PetscCall(MatMult(B, rx, ry));
  PetscCall(VecAYPX(ry, scale, rx));
  PetscCall(TestCompareVecs(y, ry, allowed[0], where, "y = x + s ", "A x", failures));
  for (PetscInt k = 0; k < nsums; k++) {
    PetscCall(TestCreateVec(B, PETSC_TRUE, "reference_", 3 + (int)k, &rs));
    PetscCall(VecAXPBY(rs, sums[k].weight, sums[k].first ? 0.0 : 1.0, ry));
    PetscCall(VecAXPY(rs, sums[k].before, rx));
    PetscCall(TestCompareVecs(sums[k].sum, rs, allowed[0], where, "a ", "sum", failures));
    PetscCall(VecDestroy(&rs));
    PetscCall(VecDestroy(&sums[k].sum));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&rx));
  PetscCall(VecDestroy(&ry));
  PetscCall(VecDestroy(&allowed[0]));
  PetscCall(VecDestroy(&allowed[1]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const TestKind kinds[] = {TEST_STAR7, TEST_CONVECTION, TEST_FEM, TEST_RANDOM, TEST_LONGROWS, TEST_DENSE, TEST_ZERO, TEST_NONE};
  PetscInt              steps   = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
    Mat B;

    PetscCall(TestCreateMatrix(PETSC_COMM_WORLD, kinds[k], 0, &B));
    for (int format = MATHYBMGPU_FORMAT_AUTO; format <= MATHYBMGPU_FORMAT_VCRS; format++) {
      /* HYB with entries in lists, which are added after the sums */
      for (PetscInt width = -1; width < (format == MATHYBMGPU_FORMAT_HYB ? 3 : 0); width++) {
        Mat  A;
        char where[128];

        if (TestLeftOut()) continue;
        PetscCall(PetscSNPrintf(where, sizeof(where), "%s in format %s, width %" PetscInt_FMT, TestKindNames[kinds[k]], MatHYBMGPUFormats[format], width));
        PetscCall(MatConvert(B, MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
        PetscCall(MatSetFromOptions(A));
        PetscCall(MatHYBMGPUSetFormat(A, (MatHYBMGPUFormat)format));
        PetscCall(TestSetOptions(A, "-mat_hybmgpu_width %" PetscInt_FMT, width));
        for (PetscInt nsums = 0; nsums <= SUMS; nsums++, steps++) PetscCall(CompareSteps(A, B, nsums, where, &failures));
        PetscCall(MatDestroy(&A));
      }
    }
    PetscCall(MatDestroy(&B));
  }
  return TestReport("%" PetscInt_FMT " steps agree\n", steps);
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: 2
    args: -every 7

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -x_vec_type cuda
    output_file: output/steps_1.out

  # the exchange in a stream of its own, and rows with ghosts there, too
  test:
    suffix: aside
    requires: cuda
    nsize: {{2 3}}
    args: -x_vec_type cuda -mat_hybmgpu_transport ipc -lithe_halo_overlap 0
    output_file: output/steps_1.out

TEST*/
