/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "Matrices with rows of very different lengths: every format of MATHYBMGPU against AIJ, the same bits each time.\n\n";

/*
   Rows are short, except a few which reach over all columns, and every seventh, which is empty. The matrix is large
   enough for lists in many pieces, rows of many pieces, lengths of 1 and 2 bytes, and several blocks of threads. An
   entry is infinite and another is NaN; both must affect only their own rows.
*/

#include <tests/vcrs/vcrstest.h>
#include <tests/options.h>

static PetscErrorCode CreateMatrix(PetscInt n, PetscBool special, Mat *A)
{
  PetscInt     begin, end, *cols;
  PetscScalar *vals;

  PetscFunctionBegin;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, n, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatGetOwnershipRange(*A, &begin, &end));
  PetscCall(PetscMalloc2(n, &cols, n, &vals));
  for (PetscInt i = begin; i < end; i++) {
    /* a power law: one row in 2^k has 2^k times as many entries */
    const double   u    = TestRandom(31, (uint64_t)i, 0);
    const PetscInt want = i % 7 == 3 ? 0 : PetscMin(n, i % 1500 == 1 ? n : (PetscInt)(4.0 / (u + 0.004)));
    PetscInt len = 0;

    for (PetscInt k = 0; k < want; k++) {
      cols[len]   = want == n ? k : (PetscInt)(((double)k + TestRandom(32, (uint64_t)i, (uint64_t)k)) * n / want);
      vals[len++] = TestScalar(33, (uint64_t)i, (uint64_t)k);
    }
    if (special && i == 41 && len) vals[0] = (PetscReal)INFINITY;
    if (special && i == 1501) vals[n - 1] = (PetscReal)NAN;
    PetscCall(MatSetValues(*A, 1, &i, len, cols, vals, INSERT_VALUES));
  }
  PetscCall(PetscFree2(cols, vals));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN and Inf must be equal in both; finite entries differ by rounding */
static PetscErrorCode Compare(Vec y, Vec r, const char where[], const char what[], PetscInt *failures)
{
  const PetscScalar *vy, *vr;
  PetscReal          most = 0.0, largest = 0.0;
  PetscInt           n, other            = 0;

  PetscFunctionBegin;
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(y, &vy));
  PetscCall(VecGetArrayRead(r, &vr));
  for (PetscInt i = 0; i < n; i++) {
    if (PetscIsInfOrNanScalar(vr[i]) || PetscIsInfOrNanScalar(vy[i])) other += PetscIsInfOrNanScalar(vr[i]) != PetscIsInfOrNanScalar(vy[i]);
    else {
      most    = PetscMax(most, PetscAbsScalar(vy[i] - vr[i]));
      largest = PetscMax(largest, PetscAbsScalar(vr[i]));
    }
  }
  PetscCall(VecRestoreArrayRead(y, &vy));
  PetscCall(VecRestoreArrayRead(r, &vr));
  if (other || !(most <= 1000.0 * PETSC_MACHINE_EPSILON * (largest + 1.0))) {
    PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %s is off by %g of %g, and %" PetscInt_FMT " entries are numbers in one of the two only\n", where, what,
                          (double)most, (double)largest, other));
    (*failures)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt n = 3000, products = 0;
  Mat      B[2];

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", &n, NULL));
  for (int special = 0; special < 2; special++) PetscCall(CreateMatrix(n, (PetscBool)special, &B[special]));
  for (int special = 0; special < 2; special++) {
    for (int variant = 0; variant < 7; variant++) {
      static const MatHYBMGPUFormat format[7] = {MATHYBMGPU_FORMAT_AUTO, MATHYBMGPU_FORMAT_HYB,  MATHYBMGPU_FORMAT_SELL, MATHYBMGPU_FORMAT_CSR,
                                                 MATHYBMGPU_FORMAT_HYB,  MATHYBMGPU_FORMAT_SELL, MATHYBMGPU_FORMAT_SELL};
      static const PetscInt         width[7] = {-1, -1, -1, -1, 0, -1, -1}, sigma[7] = {-1, -1, 1, -1, -1, 256, 100000};
      Mat                           A;
      Vec                           x, y, z, rx, ry;
      char                          where[128];

      PetscCall(
        PetscSNPrintf(where, sizeof(where), "format %s, variant %d%s", MatHYBMGPUFormats[format[variant]], variant, special ? ", with Inf and NaN" : ""));
      PetscCall(MatConvert(B[special], MATHYBMGPU, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatHYBMGPUSetFormat(A, format[variant]));
      PetscCall(TestSetOptions(A, "-mat_hybmgpu_width %" PetscInt_FMT " -mat_hybmgpu_sigma %" PetscInt_FMT, width[variant], sigma[variant]));
      PetscCall(TestCreateVec(A, PETSC_FALSE, "x_", 1, &x));
      PetscCall(TestCreateVec(A, PETSC_TRUE, "x_", 2, &y));
      PetscCall(TestCreateVec(A, PETSC_TRUE, "x_", 2, &z));
      PetscCall(TestCreateVec(A, PETSC_FALSE, "reference_", 1, &rx));
      PetscCall(TestCreateVec(A, PETSC_TRUE, "reference_", 2, &ry));
      PetscCall(MatMult(A, x, y));
      PetscCall(MatMult(B[special], rx, ry));
      PetscCall(Compare(y, ry, where, "A x", &failures));
      PetscCall(MatMult(A, x, z));
      if (!special) {
        PetscBool same;

        PetscCall(VecEqual(y, z, &same));
        if (!same) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: A x has other bits the second time\n", where));
        failures += !same;
      }
      PetscCall(MatMultTransposeAdd(A, x, z, y));
      PetscCall(MatMultTransposeAdd(B[special], rx, ry, ry));
      PetscCall(Compare(y, ry, where, "z + A^T x", &failures));
      products += 3;
      PetscCall(VecDestroy(&x));
      PetscCall(VecDestroy(&y));
      PetscCall(VecDestroy(&z));
      PetscCall(VecDestroy(&rx));
      PetscCall(VecDestroy(&ry));
      PetscCall(MatDestroy(&A));
    }
  }
  for (int special = 0; special < 2; special++) PetscCall(MatDestroy(&B[special]));
  return TestReport("%" PetscInt_FMT " products agree\n", products);
}

/*TEST

  test:

  test:
    suffix: 2
    nsize: 2

  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2}}
    args: -x_vec_type cuda
    output_file: output/unevenrows_1.out

  test:
    suffix: transports
    requires: cuda
    nsize: 2
    args: -x_vec_type cuda -mat_hybmgpu_transport {{auto mpi}} -n 1600
    output_file: output/unevenrows_1.out

TEST*/
