/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG set up in the matrix's memory: a hundred set-ups take no more memory, messages are the host's, and changing matrices.\n\
  -there_mat_type <type> - the type of the matrix\n\n";

#include "gridmgviewtest.h"
#include <tests/refused.h>

static MatType type = MATSEQAIJ;

/* ------------------------------------------------------------ memory */

static PetscErrorCode TestMany(const GridProblem *p)
{
  PetscLogDouble before = 0, after;
  PetscReal      one[2] = {0, 0};
  Mat            A, B;
  Vec            x, y;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &A));
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateVecs(B, &x, &y));
  PetscCall(TestFillVec(x, 3));
  PetscCall(CreatePlainPC(B, &pc));
  for (PetscInt round = 0; round < 100; round++) {
    PetscReal norm;

    PetscCall(MatScale(B, round % 2 ? 0.25 : 4.0));
    PetscCall(PCSetUp(pc));
    PetscCall(PCApply(pc, x, y));
    PetscCall(VecNorm(y, NORM_2, &norm));
    if (round < 2) one[round] = norm;
    if (WRONG(norm != one[round % 2])) FAIL("%s: set-up %d gives %g, and one before it %g", p->name, (int)round, (double)norm, (double)one[round % 2]);
    PetscCall(PetscMallocGetCurrentUsage(&after));
    if (round == 5) before = after;
    if (WRONG(round > 5 && after > before)) FAIL("%s: set-up %d takes %g bytes more", p->name, (int)round, after - before);
  }
  PetscCall(PCDestroy(&pc));

  /* a new preconditioner each time */
  for (PetscInt round = 0; round < 40; round++) {
    PetscCall(CreatePlainPC(B, &pc));
    PetscCall(PCSetUp(pc));
    if (round % 2) {
      PetscCall(PCReset(pc));
      PetscCall(PCSetOperators(pc, B, B));
      PetscCall(PCSetUp(pc));
    }
    PetscCall(PCDestroy(&pc));
    PetscCall(PetscMallocGetCurrentUsage(&after));
    if (round == 4) before = after;
    if (WRONG(round > 4 && after > before)) FAIL("%s: preconditioner %d leaves %g bytes", p->name, (int)round, after - before);
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ errors */

/* The message of a set-up, empty without an error */
static PetscErrorCode GetMessage(Mat A, const PetscInt n[3], PetscBool aggregation, char text[], size_t size)
{
  TestError      error;
  PetscErrorCode code;
  PC             pc;

  PetscFunctionBeginUser;
  PetscCall(CreatePlainPC(A, &pc));
  if (n) PetscCall(PCGridMGSetGrid(pc, n[0], n[1], n[2]));
  if (aggregation) PetscCall(PCGridMGSetInterpolation(pc, PCGRIDMG_INTERPOLATION_AGGREGATION));
  error.text[0] = 0;
  PetscCall(PetscPushErrorHandler(TestErrorHandler, &error));
  code = PCSetUp(pc);
  PetscCall(PetscPopErrorHandler());
  PetscCall(PetscStrncpy(text, code ? error.text : "", size));
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMessage(const char what[], Mat A, const PetscInt n[3], PetscBool aggregation)
{
  char      text[2][2048];
  PetscBool same;
  Mat       B;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
  PetscCall(GetMessage(A, n, aggregation, text[0], sizeof(text[0])));
  PetscCall(GetMessage(B, n, aggregation, text[1], sizeof(text[1])));
  PetscCall(PetscStrcmp(text[0], text[1], &same));
  if (WRONG(!text[0][0])) FAIL("%s: no error", what);
  if (WRONG(!same)) FAIL("%s: two messages:\n%s\n%s", what, text[0], text[1]);
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const GridProblem box = {.name = "box", .n = {12, 10, 8}, .faces = FACES_RANDOM, .sigma = 1};

static PetscErrorCode TestMessages(void)
{
  static const PetscInt other[3] = {10, 12, 8}, many[3] = {12, 11, 8};
  const PetscInt        n = 400;
  Mat                   A;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(&box, 0, &A));
  PetscCall(TestMessage("another grid", A, other, PETSC_FALSE));
  PetscCall(TestMessage("too large a grid", A, many, PETSC_FALSE));
  for (PetscInt i = 0; i + 120 < GridRows(&box); i++) {
    PetscCall(MatSetValue(A, i, i + 120, 0.2, INSERT_VALUES));
    PetscCall(MatSetValue(A, i + 120, i, 0.2, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestMessage("wrong signs", A, box.n, PETSC_TRUE));
  PetscCall(MatDestroy(&A));

  PetscCall(CreateGridless(n, &A));
  PetscCall(TestMessage("no grid", A, NULL, PETSC_FALSE));
  PetscCall(MatDestroy(&A));

  /* no real numbers */
  if (PetscDefined(USE_COMPLEX)) {
    PetscCall(CreateGridMatrix(&box, 0, &A));
    PetscCall(MatShift(A, PETSC_i));
    PetscCall(TestMessage("not real", A, box.n, PETSC_TRUE));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ other matrices */

/* A preconditioner whose matrix is replaced each time, with other sizes, with wells and without */
static PetscErrorCode TestOthers(void)
{
  static const GridProblem problems[] = {{.name = "small", .n = {5, 6, 4}, .sigma = 1},
                                         {.name = "larger", .n = {31, 22, 13}, .sigma = 1, .after = 3, .faults = 20},
                                         {.name = "wind", .n = {20, 9, 11}, .sigma = 1, .wind = 2},
                                         {.name = "cells alone", .n = {5, 5, 5}, .sigma = 1, .holes = 1},
                                         {.name = "one cell", .n = {1, 1, 1}, .sigma = 1},
                                         {.name = "larger", .n = {31, 22, 13}, .sigma = 100, .before = 2, .holes = 3}};
  PC                       pc         = NULL;

  PetscFunctionBeginUser;
  for (PetscInt round = 0; round < 18; round++) {
    const GridProblem *p = &problems[(round * 5) % (PetscInt)PETSC_STATIC_ARRAY_LENGTH(problems)];
    PetscReal          difference, norm;
    Mat                A, B;
    Vec                x, y, z;
    PC                 once;

    PetscCall(CreateGridMatrix(p, round, &A));
    PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatDestroy(&A));
    if (!pc) PetscCall(CreatePlainPC(B, &pc));
    else {
      PetscCall(PCReset(pc));
      PetscCall(PCSetOperators(pc, B, B));
    }
    PetscCall(CreatePlainPC(B, &once));
    PetscCall(PCGridMGSetGrid(pc, p->n[0], p->n[1], p->n[2]));
    PetscCall(PCGridMGSetGrid(once, p->n[0], p->n[1], p->n[2]));
    PetscCall(MatCreateVecs(B, &x, &y));
    PetscCall(VecDuplicate(y, &z));
    PetscCall(TestFillVec(x, 5));
    PetscCall(PCSetUp(pc));
    PetscCall(PCSetUp(once));
    PetscCall(PCApply(pc, x, y));
    PetscCall(PCApply(once, x, z));
    PetscCall(VecNorm(z, NORM_INFINITY, &norm));
    PetscCall(VecAXPY(z, -1.0, y));
    PetscCall(VecNorm(z, NORM_INFINITY, &difference));
    if (WRONG(difference != 0 || !(norm > 0))) FAIL("%s, round %d: differs from a new one by %g of %g", p->name, (int)round, (double)difference, (double)norm);
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&z));
    PetscCall(PCDestroy(&once));
    PetscCall(MatDestroy(&B));
  }
  PetscCall(PCDestroy(&pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const GridProblem plain = {.name = "plain", .n = {20, 18, 16}, .faces = FACES_JUMPS, .sigma = 1};
  static const GridProblem wells = {.name = "wells, faults, inactive cells", .n = {20, 18, 16}, .sigma = 60, .after = 3, .faults = 30, .holes = 7};
  static const GridProblem wind  = {.name = "wind", .n = {15, 14, 9}, .sigma = 1, .wind = 4, .before = 2};
  char                     name[64];

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscStrncpy(name, type, sizeof(name)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-there_mat_type", name, sizeof(name), NULL));
  type = name;
  PetscCall(TestMany(&plain));
  PetscCall(TestMany(&wells));
  PetscCall(TestMany(&wind));
  PetscCall(TestMessages());
  PetscCall(TestOthers());
  return TestEnd(400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  test:
    suffix: cuda
    requires: cuda
    output_file: output/right.out
    args: -there_mat_type aijcusparse

TEST*/
