/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "The place of a product of MATVCRS: the GPU if all vectors are on the GPU, otherwise the host; values from the GPU.\n\n";

#include <lithemat.h>
#include <petscdevice.h>

/* A 5-point Laplacian on n x n points, by coordinates; values go to the device first if asked for */
static PetscErrorCode AssembleLaplacian(MatType type, PetscInt n, PetscBool ondevice, Mat *A)
{
  PetscInt     start, end, k = 0, *i, *j;
  PetscScalar *v;

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n * n, n * n));
  PetscCall(MatSetType(*A, type));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  PetscCall(PetscMalloc3(5 * (end - start), &i, 5 * (end - start), &j, 5 * (end - start), &v));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt x = row % n, y = row / n;
    const PetscInt columns[5] = {y > 0 ? row - n : -1, x > 0 ? row - 1 : -1, row, x < n - 1 ? row + 1 : -1, y < n - 1 ? row + n : -1};

    for (PetscInt c = 0; c < 5; c++, k++) {
      i[k] = row;
      j[k] = columns[c];
      v[k] = c == 2 ? 4.0 : -1.0 - 0.125 * (PetscReal)((row + columns[c]) % 7);
    }
  }
  PetscCall(MatSetPreallocationCOO(*A, k, i, j));
  if (ondevice) {
    Vec                w;
    PetscScalar       *host;
    const PetscScalar *device;

    PetscCall(VecCreate(PETSC_COMM_SELF, &w));
    PetscCall(VecSetSizes(w, k, k));
    PetscCall(VecSetType(w, VECCUDA));
    PetscCall(VecGetArrayWrite(w, &host));
    PetscCall(PetscArraycpy(host, v, k));
    PetscCall(VecRestoreArrayWrite(w, &host));
    PetscCall(VecGetArrayReadAndMemType(w, &device, NULL));
    PetscCall(MatSetValuesCOO(*A, device, INSERT_VALUES));
    PetscCall(VecRestoreArrayReadAndMemType(w, &device));
    PetscCall(VecDestroy(&w));
  } else PetscCall(MatSetValuesCOO(*A, v, INSERT_VALUES));
  PetscCall(PetscFree3(i, j, v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product with vectors of the given kinds: the result must be right, and y must be written in the right memory */
static PetscErrorCode CheckProduct(Mat A, Mat reference, VecType xtype, VecType ytype, PetscOffloadMask wanted)
{
  Vec              x, y, exact, check;
  PetscInt         m, n;
  PetscReal        error, norm;
  PetscOffloadMask mask;
  PetscRandom      random;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &x));
  PetscCall(VecSetSizes(x, n, PETSC_DECIDE));
  PetscCall(VecSetType(x, xtype));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &y));
  PetscCall(VecSetSizes(y, m, PETSC_DECIDE));
  PetscCall(VecSetType(y, ytype));
  PetscCall(MatCreateVecs(reference, &check, &exact));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatMult(A, x, y));
  PetscCall(VecGetOffloadMask(y, &mask));
  if ((mask == PETSC_OFFLOAD_GPU) != (wanted == PETSC_OFFLOAD_GPU))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: x %s, y %s: the result is on the %s\n", xtype, ytype, mask == PETSC_OFFLOAD_GPU ? "GPU" : "host"));

  PetscCall(VecCopy(x, check));
  PetscCall(MatMult(reference, check, exact));
  PetscCall(VecNorm(exact, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(exact, -1.0, y));
  PetscCall(VecNorm(exact, NORM_INFINITY, &error));
  if (!(error <= 100 * PETSC_MACHINE_EPSILON * norm))
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL: x %s, y %s: error %g\n", xtype, ytype, (double)(error / norm)));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&exact));
  PetscCall(VecDestroy(&check));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const MatType sources[] = {MATVCRS, MATAIJ, MATAIJCUSPARSE};
  Mat           reference;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCall(AssembleLaplacian(MATAIJ, 40, PETSC_FALSE, &reference));
  for (PetscInt s = 0; s < 3; s++) {
    for (PetscInt ondevice = 0; ondevice < 2; ondevice++) {
      Mat A;

      if (ondevice && s == 1) continue; /* MATAIJ takes no values from the device */
      PetscCall(AssembleLaplacian(sources[s], 40, (PetscBool)ondevice, &A));
      if (s) PetscCall(MatConvert(A, MATVCRS, MAT_INPLACE_MATRIX, &A));
      PetscCall(CheckProduct(A, reference, VECCUDA, VECCUDA, PETSC_OFFLOAD_GPU));
      PetscCall(CheckProduct(A, reference, VECSTANDARD, VECSTANDARD, PETSC_OFFLOAD_CPU));
      PetscCall(CheckProduct(A, reference, VECCUDA, VECSTANDARD, PETSC_OFFLOAD_CPU));
      PetscCall(CheckProduct(A, reference, VECSTANDARD, VECCUDA, PETSC_OFFLOAD_CPU));

      /* the AIJ arrays given back: the same */
      PetscCall(MatVCRSDropAIJ(A));
      PetscCall(CheckProduct(A, reference, VECCUDA, VECCUDA, PETSC_OFFLOAD_GPU));
      PetscCall(CheckProduct(A, reference, VECSTANDARD, VECSTANDARD, PETSC_OFFLOAD_CPU));

      /* bound to the CPU, the matrix stays on the CPU */
      PetscCall(MatBindToCPU(A, PETSC_TRUE));
      PetscCall(CheckProduct(A, reference, VECCUDA, VECCUDA, PETSC_OFFLOAD_CPU));
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s, values from the %s: done\n", sources[s], ondevice ? "GPU" : "host"));
      PetscCall(MatDestroy(&A));
    }
  }
  PetscCall(MatDestroy(&reference));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  test:
    requires: cuda
    suffix: cuda
    nsize: {{1 2}}

TEST*/
