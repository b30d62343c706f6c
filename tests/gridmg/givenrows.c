/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG with rows of a program on several processes: the bits of a preconditioner with the matrix of these rows.\n\
  -device                 - the rows are in device memory\n\
  -shared_mat_type <type> - of the matrices\n\n";

#include <petsc/private/petscimpl.h> /* PetscObjectStateIncrease() */
#include "gridmgsplit.h"
#include "gridmgstencils.h"

/* The scaling is found by products of two types of matrices, and rounding may change a number in single precision */
#define UNITS ((PetscReal)1e-5)

/* The rows of this process, with columns of the whole matrix: arrays of a matrix on the host or on a device */
typedef struct {
  Mat                M;
  PetscBool          device;
  PetscInt           n;
  const PetscInt    *i, *j;
  const PetscScalar *a;
} Rows;

static PetscErrorCode RowsGet(Mat A, PetscBool device, Rows *rows)
{
  PetscBool done;
  Mat       aij;

  PetscFunctionBeginUser;
  rows->device = device;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &aij));
  if (size > 1) PetscCall(MatMPIAIJGetLocalMat(aij, MAT_INITIAL_MATRIX, &rows->M));
  else PetscCall(MatDuplicate(aij, MAT_COPY_VALUES, &rows->M));
  PetscCall(MatDestroy(&aij));
#if PetscDefined(HAVE_CUDA)
  if (device) {
    PetscCall(MatConvert(rows->M, MATSEQAIJCUSPARSE, MAT_INPLACE_MATRIX, &rows->M));
    PetscCall(MatSeqAIJCUSPARSEGetIJ(rows->M, PETSC_FALSE, &rows->i, &rows->j));
    PetscCall(MatSeqAIJCUSPARSEGetArrayRead(rows->M, &rows->a));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatGetRowIJ(rows->M, 0, PETSC_FALSE, PETSC_FALSE, &rows->n, &rows->i, &rows->j, &done));
  PetscCall(MatSeqAIJGetArrayRead(rows->M, &rows->a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode RowsRestore(Rows *rows)
{
  PetscBool done;

  PetscFunctionBeginUser;
#if PetscDefined(HAVE_CUDA)
  if (rows->device) {
    PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(rows->M, &rows->a));
    PetscCall(MatSeqAIJCUSPARSERestoreIJ(rows->M, PETSC_FALSE, &rows->i, &rows->j));
    PetscCall(MatDestroy(&rows->M));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(MatSeqAIJRestoreArrayRead(rows->M, &rows->a));
  PetscCall(MatRestoreRowIJ(rows->M, 0, PETSC_FALSE, PETSC_FALSE, &rows->n, &rows->i, &rows->j, &done));
  PetscCall(MatDestroy(&rows->M));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Unknowns and equations in different units */
static PetscErrorCode ChangeUnits(Mat A)
{
  Vec         x;
  PetscInt    begin, end;
  PetscScalar unit;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  for (PetscInt r = begin; r < end; r++) {
    unit = PetscPowRealInt(2, (int)(20 * TestRandom((uint64_t)r, 3, 5)) - 10);
    PetscCall(VecSetValue(x, r, unit, INSERT_VALUES));
  }
  PetscCall(VecAssemblyBegin(x));
  PetscCall(VecAssemblyEnd(x));
  PetscCall(MatDiagonalScale(A, x, x));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* tolerance 0: the same bits */
static PetscErrorCode CheckSame(const char what[], const char when[], PetscReal tolerance, PC pc, PC other, Mat A)
{
  Vec       x, y, z;
  PetscReal norm, difference;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecDuplicate(y, &z));
  PetscCall(TestFillVec(x, 3));
  PetscCall(PCApply(pc, x, y));
  PetscCall(PCApply(other, x, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(y, -1, z));
  PetscCall(VecNorm(y, NORM_INFINITY, &difference));
  if (WRONG(!(difference <= tolerance * norm) || !(norm > 0)))
    FAIL("%s, %s: %g differs by %g from the preconditioner with the matrix", what, when, (double)norm, (double)difference);
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up although the matrix has not changed */
static PetscErrorCode SetUpAgain(PC pc, Mat A)
{
  PetscFunctionBeginUser;
  PetscCall(PetscObjectStateIncrease((PetscObject)A));
  PetscCall(PCSetUp(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A: the matrix of the rows. The preconditioner has three times A, and gets the rows, other rows, and none again */
static PetscErrorCode Check(const GridProblem *g, const Split *s, PetscBool slabs, Mat A, PetscBool device, PetscReal tolerance, const char options[])
{
  char what[512];
  Mat  B;
  PC   one, three, pc;
  Rows rows;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, %d x %d x %d cells, %s", g->name, (int)g->n[0], (int)g->n[1], (int)g->n[2], options));
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &B));
  PetscCall(MatScale(B, 3));
  PetscCall(CreateSharedPC(g, s, slabs, A, options, &one));
  PetscCall(CreateSharedPC(g, s, slabs, B, options, &three));
  PetscCall(CreateSharedPC(g, s, slabs, B, options, &pc));
  for (int round = 0; round < 2; round++) {
    PetscCall(RowsGet(round ? B : A, device, &rows));
    PetscCall(PCGridMGSetRows(pc, rows.i, rows.j, rows.a));
    PetscCall(SetUpAgain(pc, B));
    PetscCall(PCGridMGSetRows(pc, NULL, NULL, NULL));
    PetscCall(RowsRestore(&rows));
    PetscCall(CheckSame(what, round ? "other rows" : "rows", tolerance, pc, round ? three : one, A));
  }
  PetscCall(SetUpAgain(pc, B));
  PetscCall(CheckSame(what, "no rows", 0, pc, three, A));
  PetscCall(PCDestroy(&one));
  PetscCall(PCDestroy(&three));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAggregation(PetscBool device)
{
  static const GridProblem problems[] = {{.name = "random", .n = {8, 8, 4}, .faces = FACES_RANDOM, .sigma = 1},
                                         {.name = "plane", .n = {8, 16, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 100, 1}},
                                         {.name = "wind", .n = {8, 4, 8}, .faces = FACES_RANDOM, .sigma = 1, .wind = 4},
                                         {.name = "odd planes", .n = {4, 4, 7}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 1, 1000}},
                                         {.name = "wells", .n = {4, 4, 4}, .faces = FACES_RANDOM, .sigma = 1, .after = 2},
                                         {.name = "faults", .n = {4, 4, 8}, .faces = FACES_RANDOM, .sigma = 1, .faults = 9}};
  static const char *const options[]  = {"-@pc_gridmg_coarse_size 8 -@pc_gridmg_overlap", "-@pc_gridmg_coarse_size 8 -@pc_gridmg_overlap 0",
                                         "-@pc_gridmg_coarse_size 8 -@pc_gridmg_gather_size 0"};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    for (PetscInt o = 0; o < (PetscInt)PETSC_STATIC_ARRAY_LENGTH(options); o++) {
      GridProblem     p     = problems[k];
      const int       last  = p.n[2] > 1 ? 2 : 1;
      const PetscBool slabs = (PetscBool)((PetscInt)k % 2 || p.after);
      Split           s;
      Mat             S, A;

      p.n[last] *= size;
      PetscCall(CreateSplit(&p, o, PETSC_TRUE, slabs, &s));
      PetscCall(CreateGridMatrix(&p, 0, &S));
      PetscCall(Distribute(S, &s, &A));
      PetscCall(Check(&p, &s, slabs, A, device, 0, options[o]));
      if (k < 2) {
        PetscCall(ChangeUnits(A));
        p.name = "units";
        PetscCall(Check(&p, &s, slabs, A, device, UNITS, options[o]));
      }
      PetscCall(MatDestroy(&S));
      PetscCall(MatDestroy(&A));
      PetscCall(DestroySplit(&s));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestStencils(PetscBool device)
{
  static const StencilProblem problems[] = {{.name = "star", .n = {11, 12, 9}, .kind = STENCILS_STAR, .jumps = 3},
                                            {.name = "elements", .n = {9, 10, 11}, .kind = STENCILS_ELEMENTS, .wave = (PetscReal)0.3, .shift = (PetscReal)0.5},
                                            {.name = "random", .n = {12, 17, 1}, .kind = STENCILS_RANDOM, .disturbance = 1}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(problems); k++) {
    const PetscBool slabs = (PetscBool)(k == 1);
    GridProblem     g     = {.name = problems[k].name};
    Split           s;
    Mat             S, A;

    for (int d = 0; d < 3; d++) g.n[d] = problems[k].n[d];
    PetscCall(CreateSplit(&g, (PetscInt)k, PETSC_FALSE, slabs, &s));
    PetscCall(CreateStencilMatrix(&problems[k], 0, &S));
    PetscCall(Distribute(S, &s, &A));
    PetscCall(Check(&g, &s, slabs, A, device, 0, "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 8"));
    PetscCall(Check(&g, &s, slabs, A, device, 0, "-@pc_gridmg_interpolation zeeuw -@pc_gridmg_coarse_size 8 -@pc_gridmg_gather_size 0"));
    PetscCall(MatDestroy(&S));
    PetscCall(MatDestroy(&A));
    PetscCall(DestroySplit(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool device = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-device", &device, NULL));
  PetscCall(TestAggregation(device));
  PetscCall(TestStencils(device));
  return TestEnd(90, "all is right\n");
}

/*TEST

  testset:
    output_file: output/right.out
    test:
      nsize: {{1 2 3}}
    test:
      suffix: vcrs
      nsize: 2
      args: -shared_mat_type vcrs

    # Levels on devices; processes may share one
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2 4}}
      timeoutfactor: 3
      args: -device -shared_mat_type aijcusparse
    test:
      suffix: cuda_vcrs
      requires: cuda
      nsize: {{1 2}}
      timeoutfactor: 3
      args: -device -shared_mat_type vcrs -shared_mat_vec_type cuda
    test:
      suffix: cuda_host
      requires: cuda
      nsize: 2
      timeoutfactor: 3
      args: -shared_mat_type aijcusparse

TEST*/
