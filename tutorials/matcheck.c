/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Describes a PETSc binary file, and the residual of a solution, as lines 'name=value'.\n\
  -f FILE : a matrix, and an optional right-hand side\n\
  -x FILE : a solution: the residual ||b - A x|| / ||b|| with the matrix as MATAIJ\n\
  -ones   : use a right-hand side of ones even if the file has a right-hand side\n\n";

#include <tutorials/common/problems.h>

/* Hermitian up to rounding, with a positive diagonal: conjugate gradients are worth a try */
static PetscErrorCode LooksPositiveDefinite(Mat A, PetscBool *positive)
{
  PetscReal norm;
  PetscInt  M, N;

  PetscFunctionBegin;
  *positive = PETSC_FALSE;
  PetscCall(MatGetSize(A, &M, &N));
  if (M != N || M == 0) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatNorm(A, NORM_INFINITY, &norm));
  PetscCall(MatIsHermitian(A, 1000 * PETSC_MACHINE_EPSILON * norm, positive));
  if (*positive) {
    Vec       diagonal;
    PetscReal smallest;

    PetscCall(MatCreateVecs(A, NULL, &diagonal));
    PetscCall(MatGetDiagonal(A, diagonal));
    PetscCall(VecRealPart(diagonal));
    PetscCall(VecMin(diagonal, NULL, &smallest));
    PetscCall(VecDestroy(&diagonal));
    if (smallest <= 0) *positive = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The number of rows without a diagonal entry, which PETSc's incomplete factors need */
static PetscErrorCode CountMissingDiagonal(Mat A, PetscInt *missing)
{
  PetscInt        rstart, rend, count, place;
  const PetscInt *column;

  PetscFunctionBegin;
  *missing = 0;
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  for (PetscInt row = rstart; row < rend; row++) {
    PetscCall(MatGetRow(A, row, &count, &column, NULL));
    PetscCall(PetscFindInt(row, count, column, &place));
    if (place < 0) (*missing)++;
    PetscCall(MatRestoreRow(A, row, &count, &column, NULL));
  }
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, missing, 1, MPIU_INT, MPI_SUM, PetscObjectComm((PetscObject)A)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      file[PETSC_MAX_PATH_LEN] = "", solution[PETSC_MAX_PATH_LEN] = "";
  PetscBool ones = PETSC_FALSE, has, positive;
  PetscInt  M, N, missing;
  PetscReal rnorm, bnorm;
  MatInfo   info;
  Mat       A;
  Vec       b, x, r;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Files", "Mat");
  PetscCall(PetscOptionsString("-f", "Matrix and right-hand side", NULL, file, file, sizeof(file), NULL));
  PetscCall(PetscOptionsString("-x", "Solution", NULL, solution, solution, sizeof(solution), NULL));
  PetscCall(PetscOptionsBool("-ones", "Right-hand side of ones", NULL, ones, &ones, NULL));
  PetscOptionsEnd();
  PetscCheck(file[0], PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT, "Give -f FILE");

  /* the matrix */
  PetscCall(ProblemLoadSystem(PETSC_COMM_WORLD, file, &A, &b, &has));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  if (!solution[0]) {
    PetscCall(LooksPositiveDefinite(A, &positive));
    PetscCall(CountMissingDiagonal(A, &missing));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rows=%" PetscInt_FMT "\ncolumns=%" PetscInt_FMT "\nnonzeros=%.0f\n", M, N, (double)info.nz_used));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "rhs=%s\npositive=%s\nmissing=%" PetscInt_FMT "\n", has ? "yes" : "no", positive ? "yes" : "no", missing));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "aijbytes=%.0f\n",
                          (double)info.nz_used * (double)(sizeof(PetscScalar) + sizeof(PetscInt)) + (double)(M + 1) * (double)sizeof(PetscInt)));
  } else {
    /* ||b - A x|| / ||b|| */
    PetscViewer viewer;

    PetscCall(MatCreateVecs(A, &x, NULL));
    PetscCall(VecDuplicate(b, &r));
    if (ones) PetscCall(VecSet(b, 1.));
    PetscCall(ProblemOpenFile(PETSC_COMM_WORLD, solution, FILE_MODE_READ, &viewer));
    PetscCall(VecLoad(x, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscCall(MatMult(A, x, r));
    PetscCall(VecAYPX(r, -1., b));
    PetscCall(VecNorm(r, NORM_2, &rnorm));
    PetscCall(VecNorm(b, NORM_2, &bnorm));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "residual=%.2e\n", (double)(bnorm > 0 ? rnorm / bnorm : rnorm)));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&r));
  }
  PetscCall(VecDestroy(&b));
  PetscCall(MatDestroy(&A));
  PetscCall(PetscFinalize());
  return 0;
}
