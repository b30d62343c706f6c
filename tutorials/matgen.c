/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Writes a realistic matrix and a right-hand side to files, in the format of PETSc's ksp ex10.\n\
  -o FILE            : PETSc binary, the matrix followed by the right-hand side\n\
  -matrix_market FILE: the matrix as text\n\
  -kind KIND -rows N -seed S ... : the matrix to generate\n\n";

#include <tutorials/common/output.h>
#include <tutorials/common/problems.h>

/* The matrix as general Matrix Market text with all digits; processes write in turn */
static PetscErrorCode WriteMatrixMarket(Mat A, const char path[])
{
  const MPI_Comm     comm = PetscObjectComm((PetscObject)A);
  PetscMPIInt        rank, size;
  PetscInt           rstart, rend, M, N, count;
  const PetscInt    *column;
  const PetscScalar *value;
  MatInfo            info;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatGetSize(A, &M, &N));
  PetscCall(MatGetOwnershipRange(A, &rstart, &rend));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  for (PetscMPIInt turn = 0; turn < size; turn++) {
    if (turn == rank) {
      FILE *file = fopen(path, turn ? "a" : "w");

      PetscCheck(file, PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "Cannot write %s", path);
      if (!turn)
        fprintf(file, "%%%%MatrixMarket matrix coordinate %s general\n%lld %lld %.0f\n", PetscDefined(USE_COMPLEX) ? "complex" : "real", (long long)M,
                (long long)N, (double)info.nz_used);
      for (PetscInt row = rstart; row < rend; row++) {
        PetscCall(MatGetRow(A, row, &count, &column, &value));
        for (PetscInt k = 0; k < count; k++) {
          fprintf(file, "%lld %lld %.17g", (long long)row + 1, (long long)column[k] + 1, (double)PetscRealPart(value[k]));
          if (PetscDefined(USE_COMPLEX)) fprintf(file, " %.17g", (double)PetscImaginaryPart(value[k]));
          fputc('\n', file);
        }
        PetscCall(MatRestoreRow(A, row, &count, &column, &value));
      }
      PetscCheck(!ferror(file) && fclose(file) == 0, PETSC_COMM_SELF, PETSC_ERR_FILE_WRITE, "Cannot write %s: is the disk full?", path);
    }
    PetscCallMPI(MPI_Barrier(comm));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char           binary[PETSC_MAX_PATH_LEN] = "", text[PETSC_MAX_PATH_LEN] = "";
  PetscInt       M;
  PetscLogDouble start, end;
  Problem        problem;
  MatInfo        info;
  Mat            A;
  Vec            rhs;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscOptionsBegin(PETSC_COMM_WORLD, NULL, "Files to write", "Mat");
  PetscCall(PetscOptionsString("-o", "PETSc binary file", NULL, binary, binary, sizeof(binary), NULL));
  PetscCall(PetscOptionsString("-matrix_market", "Matrix Market file", NULL, text, text, sizeof(text), NULL));
  PetscOptionsEnd();
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-o", binary, NULL));
  PetscCall(OutputCheck(PETSC_COMM_WORLD, "-matrix_market", text, NULL));

  /* generate */
  PetscCall(ProblemSetDefaults(PROBLEM_RESERVOIR, &problem));
  PetscCall(ProblemSetFromOptions(PETSC_COMM_WORLD, &problem));
  PetscCall(PetscTime(&start));
  PetscCall(ProblemCreateSystem(PETSC_COMM_WORLD, &problem, &A, &rhs));
  PetscCall(PetscTime(&end));
  PetscCall(MatGetSize(A, &M, NULL));
  PetscCall(MatGetInfo(A, MAT_GLOBAL_SUM, &info));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s: %" PetscInt_FMT " rows, %.0f nonzeros, generated in %.2f s\n", ProblemKinds[problem.kind], M,
                        (double)info.nz_used, (double)(end - start)));

  /* write */
  if (binary[0]) PetscCall(ProblemWriteSystem(binary, A, rhs));
  if (text[0]) PetscCall(WriteMatrixMarket(A, text));
  PetscCall(MatViewFromOptions(A, NULL, "-view"));
  PetscCall(MatDestroy(&A));
  PetscCall(VecDestroy(&rhs));
  PetscCall(PetscFinalize());
  return 0;
}
