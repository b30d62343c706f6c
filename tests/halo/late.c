/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Products on devices: the same bits if a process is late, and an error in time if a process is absent.\n\
  -absent: the last process takes no part in a product; run with -lithe_halo_timeout 1\n\n";

#include <lithe.h>
#include <petsc/private/matimpl.h>
#include <petsctime.h>

#define ROWS     20000 /* per process */
#define PRODUCTS 4

/* Rows of five entries, a few of them in columns of distant processes, far from the diagonal */
static PetscErrorCode CreateMatrix(MPI_Comm comm, Mat *A)
{
  PetscInt begin, end, n;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(comm, ROWS, ROWS, PETSC_DETERMINE, PETSC_DETERMINE, 5, NULL, 4, NULL, A));
  PetscCall(MatGetSize(*A, &n, NULL));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    const PetscInt offset[] = {-40, -1, 0, 1, 40};

    for (int k = 0; k < 5; k++) {
      const PetscInt j = i + offset[k];

      if (j >= 0 && j < n) PetscCall(MatSetValue(*A, i, j, 1.0 + 0.001 * (PetscReal)((7 * i + 13 * j) % 101), INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Entries which differ from product to product */
static PetscErrorCode Fill(Vec x, PetscInt product)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = begin; i < end; i++) a[i - begin] = (PetscReal)((11 * i + 17 * product) % 103) - 51.0;
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each process is late for a separate product, then no process is late: the results must agree */
static PetscErrorCode TestLate(Mat A, const char name[])
{
  MPI_Comm    comm = PetscObjectComm((PetscObject)A);
  Vec         x[PRODUCTS], y[2][PRODUCTS];
  PetscMPIInt rank;
  PetscInt    wrong = 0;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  for (PetscInt k = 0; k < PRODUCTS; k++) {
    PetscCall(MatCreateVecs(A, &x[k], &y[0][k]));
    PetscCall(VecDuplicate(y[0][k], &y[1][k]));
    PetscCall(Fill(x[k], k));
    /* puts the vector in the right memory now */
    PetscCall(VecScale(x[k], 0.5));
  }
  for (int round = 0; round < 2; round++) {
    for (PetscInt k = 0; k < PRODUCTS; k++) {
      if (!round && k == rank + 1) PetscCall(PetscSleep(0.3));
      PetscCall(MatMult(A, x[k], y[round][k]));
    }
  }
  for (PetscInt k = 0; k < PRODUCTS; k++) {
    PetscBool same;

    PetscCall(VecEqual(y[0][k], y[1][k], &same));
    if (!same) wrong++;
    PetscCall(VecDestroy(&x[k]));
    for (int round = 0; round < 2; round++) PetscCall(VecDestroy(&y[round][k]));
  }
  if (wrong) PetscCall(PetscPrintf(comm, "%s: %" PetscInt_FMT " products are others with a late process\n", name, wrong));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The last process skips the second product. The remaining processes get an error, and objects can be destroyed.
   MatMult() is not used, because MatMult() is collective with -log_sync */
static PetscErrorCode TestAbsent(Mat A, const char name[])
{
  MPI_Comm       comm = PetscObjectComm((PetscObject)A);
  Vec            x, y;
  PetscMPIInt    rank, size;
  PetscLogDouble begin, end;
  PetscErrorCode ierr = PETSC_ERR_GPU;
  PetscInt       wrong;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(MatCreateVecs(A, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(A, x, y));
  PetscCallMPI(MPI_Barrier(comm));
  PetscCall(PetscTime(&begin));
  if (rank < size - 1) {
    const PetscScalar *a;

    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = (*A->ops->mult)(A, x, y);
    PetscCall(PetscPopErrorHandler());
    PetscCheck(!ierr, PETSC_COMM_SELF, PETSC_ERR_PLIB, "%s: an error before the time has passed", name);
    /* the host waits here, for the numbers of its process */
    PetscCall(VecGetArrayRead(y, &a));
    PetscCall(VecRestoreArrayRead(y, &a));
    PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
    ierr = (*A->ops->mult)(A, x, y);
    PetscCall(PetscPopErrorHandler());
  }
  PetscCall(PetscTime(&end));
  wrong = ierr != PETSC_ERR_GPU || end - begin > 20;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, comm));
  if (wrong) PetscCall(PetscPrintf(comm, "%s: %" PetscInt_FMT " processes got no error, another one, or too late\n", name, wrong));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const char *const types[] = {MATHYBMGPU, MATHYBMGPU, MATVCRS}, *const names[] = {"hybmgpu sell", "hybmgpu hyb", "vcrs"};
  PetscBool absent = PETSC_FALSE;
  Mat       B;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-absent", &absent, NULL));
  PetscCall(CreateMatrix(PETSC_COMM_WORLD, &B));
  for (int k = 0; k < 3; k++) {
    Mat A;

    PetscCall(MatConvert(B, types[k], MAT_INITIAL_MATRIX, &A));
    PetscCall(MatSetVecType(A, VECCUDA));
    PetscCall(MatSetFromOptions(A));
    if (k < 2) PetscCall(MatHYBMGPUSetFormat(A, k ? MATHYBMGPU_FORMAT_HYB : MATHYBMGPU_FORMAT_SELL));
    if (absent) PetscCall(TestAbsent(A, names[k]));
    else PetscCall(TestLate(A, names[k]));
    PetscCall(MatDestroy(&A));
  }
  PetscCall(MatDestroy(&B));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "all types\n"));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    requires: cuda
    output_file: output/late.out
    args: -mat_hybmgpu_transport ipc -mat_vcrs_transport ipc -lithe_halo_overlap {{0 -1}}

    test:
      suffix: late
      nsize: {{2 3}}

    test:
      suffix: absent
      nsize: 2
      args: -absent -lithe_halo_timeout 1

TEST*/
