/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN after an error inside of a product: products of this matrix and of another one.\n\n";

#include "borntest.h"
#include <tests/refused.h>

#define LARGE 4000 /* bytes of an array that may be refused */

static PetscErrorCode (*allocate)(size_t, PetscBool, int, const char[], const char[], void **) = NULL;
static PetscInt left                                                                           = -1; /* large arrays until one is refused; negative: none is */

static PetscErrorCode Allocate(size_t bytes, PetscBool clear, int line, const char function[], const char file[], void **x)
{
  PetscFunctionBegin;
  PetscCheck(bytes < LARGE || left < 0 || left-- > 0, PETSC_COMM_SELF, PETSC_ERR_MEM, "No memory, as the test asked");
  PetscCall((*allocate)(bytes, clear, line, function, file, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* As many shots as groups have, in each group */
static PetscErrorCode Create(DM da, Vec v, Mat *J)
{
  const PetscReal    h[2] = {1, 1}, receivers[6] = {8, 8, 14.5, 8, 14, 20.25};
  const BornTestCase c = {.width = 6, .steps = 66, .every = 3, .field = MATBORN_FIELD_FLOAT, .background = MATBORN_BACKGROUND_RANDOM};

  PetscFunctionBeginUser;
  PetscCall(BornTestCreate(da, v, h, 0.2, &c, J));
  PetscCall(BornTestWavelet(*J, 0.14, 6, 0.2, 60));
  for (int s = 0; s < 4; s++) {
    const PetscReal source[2] = {10 + (PetscReal)s, 12};

    PetscCall(MatBornAddShot(*J, source, 3, receivers));
  }
  PetscCall(MatSetFromOptions(*J));
  PetscCall(MatSetUp(*J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(Mat J, const char name[], PetscInt k, Vec x, Vec d, Vec y, Vec dright, Vec yright)
{
  PetscBool same[2];

  PetscFunctionBeginUser;
  PetscCall(VecSet(d, 0));
  PetscCall(VecSet(y, 0));
  PetscCall(MatMult(J, x, d));
  PetscCall(MatMultTranspose(J, dright, y));
  PetscCall(VecEqual(d, dright, &same[0]));
  PetscCall(VecEqual(y, yright, &same[1]));
  if (WRONG(!same[0] || !same[1])) FAIL("%s after error %" PetscInt_FMT ": other %s", name, k, same[0] ? "images" : "data");
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const PetscInt n[3] = {28, 30, 1};
  PetscInt       refused;
  DM             da;
  Vec            v, x, d[2], y[2];
  Mat            J, other;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(BornTestSharedDM(PETSC_COMM_WORLD, n, VECSTANDARD, &da));
  PetscCall(BornTestVelocity(da, &v));
  PetscCall(Create(da, v, &other));
  PetscCall(MatCreateVecs(other, &x, &d[0]));
  PetscCall(VecDuplicate(d[0], &d[1]));
  for (int k = 0; k < 2; k++) PetscCall(VecDuplicate(x, &y[k]));
  PetscCall(VecSet(x, 0.01));
  PetscCall(MatMult(other, x, d[0]));
  PetscCall(MatMultTranspose(other, d[0], y[0]));

  allocate      = PetscTrMalloc;
  PetscTrMalloc = Allocate;
  for (int transpose = 0; transpose < 2; transpose++) {
    /* each large array of the product is refused in turn */
    for (refused = 0;; refused++) {
      TestError      error;
      PetscErrorCode code;

      PetscCall(Create(da, v, &J));
      PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
      left = refused;
      if (transpose) code = MatMultTranspose(J, d[0], y[1]);
      else code = MatMult(J, x, d[1]);
      PetscCall(PetscPopErrorHandler());
      if (!code) break;
      left = -1;
      PetscCall(VecLockReadPop(transpose ? d[0] : x)); /* products leave the lock after an error */
      PetscCall(Compare(other, "another matrix", refused, x, d[1], y[1], d[0], y[0]));
      PetscCall(Compare(J, "the matrix", refused, x, d[1], y[1], d[0], y[0]));
      PetscCall(MatDestroy(&J));
    }
    left = -1;
    PetscCall(MatDestroy(&J));
    if (WRONG(refused < 8)) FAIL("only %" PetscInt_FMT " arrays of a product are large", refused);
  }
  PetscTrMalloc = allocate;
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&d[k]));
    PetscCall(VecDestroy(&y[k]));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&other));
  PetscCall(DMDestroy(&da));
  return TestEnd(34, "products after errors are right\n");
}

/*TEST

  # products that end with an error lose what was unfinished: -malloc_dump
  test:
    nsize: {{1 2}}
    requires: !complex double
    args: -malloc_dump 0
    output_file: output/errors.out

TEST*/
