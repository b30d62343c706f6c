/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATSBPSAT against the assembled matrix: products, residuals, diagonals; symmetry and definiteness; right-hand sides.\n\n";

#include <lithe.h>
#include <tutorials/common/sbpsatproblem.h>

/* Numbers which depend only on their place, so any number of processes has the same vectors */
static PetscReal TestRandom(PetscInt i, PetscInt j, PetscInt salt)
{
  uint64_t x = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)(j + 1) * 0xc2b2ae3d27d4eb4fu + (uint64_t)(salt + 1) * 0x165667b19e3779f9u;

  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 32;
  return (PetscReal)(x % 1000003) / 500001 - 1;
}

static PetscErrorCode TestSetRandom(DM da, PetscInt salt, Vec v)
{
  PetscScalar **array;
  PetscInt      start[2], count[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArrayWrite(da, v, &array));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++)
      array[j][i] = PetscCMPLX(TestRandom(i, j, salt), PetscDefined(USE_COMPLEX) ? TestRandom(i, j, salt + 1) : 0);
  }
  PetscCall(DMDAVecRestoreArrayWrite(da, v, &array));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random positive definite tensor with c_rs close to the limit */
static PetscErrorCode TestSetTensor(DM da, Mat A, Vec c[3])
{
  PetscScalar ***array;
  PetscInt       start[2], count[2];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(3, &array));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  for (int k = 0; k < 3; k++) {
    PetscCall(DMCreateGlobalVector(da, &c[k]));
    PetscCall(DMDAVecGetArrayWrite(da, c[k], &array[k]));
  }
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const PetscReal rr = PetscPowReal(10, TestRandom(i, j, 11)), ss = PetscPowReal(10, TestRandom(i, j, 12));

      array[0][j][i] = rr;
      array[1][j][i] = ss;
      array[2][j][i] = (PetscReal)0.95 * PetscSqrtReal(rr * ss) * TestRandom(i, j, 13);
    }
  }
  for (int k = 0; k < 3; k++) PetscCall(DMDAVecRestoreArrayWrite(da, c[k], &array[k]));
  PetscCall(PetscFree(array));
  PetscCall(MatSBPSATSetTensor(A, c[0], c[1], c[2], NULL));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A random tensor, or the problem's own coefficients */
static PetscErrorCode TestSetOperator(DM da, PetscBool exact, PetscBool random, Mat A)
{
  Vec c[3];

  PetscFunctionBegin;
  PetscCall(ProblemSetOperator(da, exact, A));
  if (!random) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(TestSetTensor(da, A, c));
  for (int k = 0; k < 3; k++) PetscCall(VecDestroy(&c[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSame(const char *what, Vec x, Vec y, PetscReal scale, PetscInt *failures)
{
  Vec       d;
  PetscReal error;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(x, &d));
  PetscCall(VecWAXPY(d, -1, x, y));
  PetscCall(VecNorm(d, NORM_INFINITY, &error));
  if (!(error <= 2000 * PETSC_MACHINE_EPSILON * scale)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  %s: %g of %g\n", what, (double)error, (double)scale));
    (*failures)++;
  }
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A product with CUDA vectors runs on the device: only the device has the result */
static PetscErrorCode TestIsOnDevice(Vec y, PetscInt *failures)
{
  PetscBool        cuda;
  PetscOffloadMask mask;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompareAny((PetscObject)y, &cuda, VECSEQCUDA, VECMPICUDA, ""));
  if (!cuda) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecGetOffloadMask(y, &mask));
  if (mask == PETSC_OFFLOAD_GPU) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "a product with vectors of CUDA was done on the host\n"));
  (*failures)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Tests an operator */
static PetscErrorCode TestOperator(DM da, Mat A, PetscInt *failures)
{
  Mat         B;
  Vec         x, y, z, ax, by, r;
  PetscScalar xay, yax;
  PetscReal   scale;

  PetscFunctionBegin;
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(VecDuplicate(x, &ax));
  PetscCall(VecDuplicate(x, &by));
  PetscCall(VecDuplicate(x, &r));
  PetscCall(TestSetRandom(da, 1, x));
  PetscCall(TestSetRandom(da, 3, y));

  PetscCall(MatMult(A, x, ax));
  PetscCall(TestIsOnDevice(ax, failures));
  PetscCall(MatMult(B, x, by));
  PetscCall(VecNorm(by, NORM_INFINITY, &scale));
  PetscCall(TestSame("MatMult", by, ax, scale, failures));
  PetscCall(MatMultTranspose(A, x, r));
  PetscCall(MatMultTranspose(B, x, z));
  PetscCall(TestSame("MatMultTranspose", z, r, scale, failures));
  PetscCall(MatMultAdd(A, x, y, r));
  PetscCall(VecWAXPY(z, 1, y, by));
  PetscCall(TestSame("MatMultAdd", z, r, scale, failures));
  PetscCall(VecCopy(y, r));
  PetscCall(MatMultAdd(A, x, r, r));
  PetscCall(TestSame("MatMultAdd in place", z, r, scale, failures));
  PetscCall(MatResidual(A, y, x, r));
  PetscCall(VecWAXPY(z, -1, by, y));
  PetscCall(TestSame("MatResidual", z, r, scale, failures));
  PetscCall(VecCopy(y, r));
  PetscCall(MatResidual(A, r, x, r));
  PetscCall(TestSame("MatResidual in place", z, r, scale, failures));
  PetscCall(MatGetDiagonal(A, r));
  PetscCall(MatGetDiagonal(B, z));
  PetscCall(VecNorm(z, NORM_INFINITY, &scale));
  PetscCall(TestSame("MatGetDiagonal", z, r, scale, failures));

  /* Symmetry */
  PetscCall(MatMult(A, y, by));
  PetscCall(VecTDot(ax, y, &yax));
  PetscCall(VecTDot(by, x, &xay));
  PetscCall(VecNorm(ax, NORM_2, &scale));
  if (PetscAbsScalar(xay - yax) > 1e4 * PETSC_MACHINE_EPSILON * scale) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  x^T A y - y^T A x = %g, ||A x|| = %g\n", (double)PetscAbsScalar(xay - yax), (double)scale));
    (*failures)++;
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscCall(VecDestroy(&ax));
  PetscCall(VecDestroy(&by));
  PetscCall(VecDestroy(&r));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Dirichlet data and their matrix. With g the trace of a vector, b = (L^T H c Gamma - G^T) L v on a face. A v - b
   vanishes for constant v if all faces are Dirichlet faces */
static PetscErrorCode TestConstant(DM da, Mat A, PetscInt *failures)
{
  Vec       one, b, r;
  PetscReal scale;
  PetscBool dirichlet[4];

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetDirichlet(A, dirichlet));
  PetscCall(DMCreateGlobalVector(da, &one));
  PetscCall(VecDuplicate(one, &b));
  PetscCall(VecDuplicate(one, &r));
  PetscCall(VecSet(one, 1));
  PetscCall(VecSet(b, 0));
  for (int f = 0; f < 4; f++) {
    if (dirichlet[f]) PetscCall(MatSBPSATAddBoundary(A, (MatSBPSATFace)f, one, b));
  }
  PetscCall(MatMult(A, one, r));
  PetscCall(MatGetDiagonal(A, one));
  PetscCall(VecNorm(one, NORM_INFINITY, &scale));
  PetscCall(TestSame("constants", b, r, scale, failures));
  PetscCall(VecDestroy(&one));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An unused copy keeps its values when vectors change in place. A copy without values, or an assembled copy, follows
   the change */
static PetscErrorCode TestDuplicate(DM da, PetscBool tensor, Mat A, PetscInt *failures)
{
  Vec       x, y, z, mu, c[3];
  PetscReal norm;

  PetscFunctionBegin;
  PetscCall(DMCreateGlobalVector(da, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecDuplicate(x, &z));
  PetscCall(TestSetRandom(da, 7, x));
  if (tensor) PetscCall(TestSetTensor(da, A, c));
  else {
    PetscCall(VecDuplicate(x, &mu));
    PetscCall(TestSetRandom(da, 8, mu));
    PetscCall(VecRealPart(mu));
    PetscCall(VecShift(mu, 2.));
    PetscCall(MatSBPSATSetCoefficient(A, mu));
  }
  PetscCall(MatMult(A, x, y));
  PetscCall(VecNorm(y, NORM_INFINITY, &norm));
  for (int values = 0; values < 2; values++) {
    Mat B;

    PetscCall(MatDuplicate(A, values ? MAT_COPY_VALUES : MAT_DO_NOT_COPY_VALUES, &B));
    for (int k = 0; k < (tensor ? 3 : 1); k++) PetscCall(VecScale(tensor ? c[k] : mu, values ? 0.5 : 2.));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    if (!values) PetscCall(VecScale(y, 2.)); /* else A before the change */
    PetscCall(MatMult(B, x, z));
    PetscCall(TestSame(values ? "copy with values" : "copy without values", z, y, 2 * norm, failures));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatMult(A, x, y));
    PetscCall(MatMult(B, x, z));
    PetscCall(TestSame("copy assembled again", z, y, 2 * norm, failures));
    PetscCall(MatDestroy(&B));
  }
  for (int k = 0; k < (tensor ? 3 : 1); k++) PetscCall(VecDestroy(tensor ? &c[k] : &mu));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&z));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least eigenvalue is positive if Cholesky's factorisation of a dense copy succeeds */
static PetscErrorCode TestDefinite(Mat A, PetscInt *failures)
{
  Mat          B, D;
  PetscScalar *a, *l;
  PetscInt     n;

  PetscFunctionBegin;
  PetscCall(MatGetSize(A, &n, NULL));
  PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &B));
  PetscCall(MatConvert(B, MATDENSE, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatDenseGetArray(D, &a));
  PetscCall(PetscMalloc1(n * n, &l));
  for (PetscInt k = 0; k < n; k++) {
    PetscReal pivot = PetscRealPart(a[k * n + k]);

    for (PetscInt m = 0; m < k; m++) pivot -= PetscRealPart(l[m * n + k]) * PetscRealPart(l[m * n + k]);
    if (!(pivot > 0)) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "  not positive definite: pivot %" PetscInt_FMT " is %g\n", k, (double)pivot));
      (*failures)++;
      break;
    }
    pivot = PetscSqrtReal(pivot);
    for (PetscInt i = k; i < n; i++) {
      PetscReal sum = PetscRealPart(a[k * n + i]);

      for (PetscInt m = 0; m < k; m++) sum -= PetscRealPart(l[m * n + i]) * PetscRealPart(l[m * n + k]);
      l[k * n + i] = sum / pivot;
    }
  }
  PetscCall(PetscFree(l));
  PetscCall(MatDenseRestoreArray(D, &a));
  PetscCall(MatDestroy(&D));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  static const PetscInt sizes[][2] = {{26, 43}, {25, 40}};
  PetscInt              failures = 0, count = 0, order = 0;
  PetscMPIInt           size;

  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(&argc, &argv, NULL, help));
  PetscCall(LitheInitializePackage());
  PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &size));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-order", &order, NULL));
  for (PetscInt p = 2; p <= 6; p += 2) {
    /* On one process, the closures limit how small a grid may be */
    const PetscInt least[2] = {p == 2 ? 2 : 3 * p - 1, p == 2 ? 3 : 3 * p};

    if (order && p != order) continue;
    for (int which = size == 1 ? -1 : 1; which < 2; which++) {
      DM da;

      PetscCall(ProblemCreateDM(PETSC_COMM_WORLD, which < 0 ? least : sizes[which], &da));
      for (int mix = 0; mix < 16; mix++) {
        for (int kind = 0; kind < 3; kind++) {
          const PetscBool dirichlet[4] = {mix & 1 ? PETSC_TRUE : PETSC_FALSE, mix & 2 ? PETSC_TRUE : PETSC_FALSE, mix & 4 ? PETSC_TRUE : PETSC_FALSE,
                                          mix & 8 ? PETSC_TRUE : PETSC_FALSE};
          const PetscInt before = failures;
          Mat            A;

          if ((which == 1 || size > 1) && mix % 5 != 0) continue; /* none, left and bottom, right and top, all */
          if (which < 0 && kind == 2) continue;                   /* too few nodes for metrics from differences of the coordinates */
          PetscCall(DMCreateMatrix(da, &A));
          PetscCall(MatSBPSATSetOrder(A, p));
          PetscCall(TestSetOperator(da, which < 0 ? PETSC_TRUE : PETSC_FALSE, kind == 1 ? PETSC_TRUE : PETSC_FALSE, A));
          PetscCall(MatSBPSATSetDirichlet(A, dirichlet));
          if (kind == 2) PetscCall(MatSBPSATSetMetrics(A, MATSBPSAT_METRICS_FLY));
          PetscCall(TestOperator(da, A, &failures));
          PetscCall(TestConstant(da, A, &failures));
          if (size == 1 && mix && which < 0 && kind < 2) PetscCall(TestDefinite(A, &failures));
          PetscCall(TestDuplicate(da, (PetscBool)(which < 0 || kind == 1), A, &failures));
          if (failures > before) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "order %" PetscInt_FMT ", grid %d, faces %d, coefficients %d\n", p, which, mix, kind));
          PetscCall(MatDestroy(&A));
          count++;
        }
      }
      PetscCall(DMDestroy(&da));
    }
  }
  PetscCheck(count >= 10, PETSC_COMM_WORLD, PETSC_ERR_PLIB, "Only %" PetscInt_FMT " operators were compared", count);
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s\n", failures ? "operators differ" : "all operators agree"));
  if (failures) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " failures in %" PetscInt_FMT " cases\n", failures, count));
  PetscCall(PetscFinalize());
  return 0;
}

/*TEST

  testset:
    output_file: output/assembled_1.out
    test:
    test:
      suffix: 2
      nsize: {{2 3 4}}
    test:
      suffix: cuda
      requires: cuda
      nsize: {{1 2}}
      args: -dm_vec_type cuda

TEST*/
