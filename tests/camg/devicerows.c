/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCCAMG's set-up: each function of rows on a device gives what the function on the host gives.\n\
  -n <n>    - points per direction of the Laplacian with jumps\n\
  -times    - prints the time of each function on the device\n\n";

#include "devicelevels.h"

/* Rows of several processes: the last third of A belongs to another one */
static PetscErrorCode TestJoin(const CAMGMatrix *A, const CAMGMatrix *D)
{
  const PetscInt own = A->m - A->m / 3, more = A->m - own, from = own / 2;
  CAMGMatrix     part = *A, dpart = *D, E, dE, F, C, dC, result;
  PetscInt      *row, *target, *place, *j, *drow, *dtarget, *dplace, *dj;

  PetscFunctionBeginUser;
  part.m = dpart.m = own;
  part.nz = dpart.nz = A->i[own];
  PetscCall(PetscMalloc4(more, &row, more, &target, A->n, &place, PetscMax(A->nz, A->n), &j));
  for (PetscInt k = 0; k < more; k++) {
    row[k]    = (7 * k + 3) % own;
    target[k] = k < more / 2 ? 2 * k : own + k; /* of own rows, and after them */
  }
  for (PetscInt k = 0; k < A->n; k++) place[k] = A->n - 1 - k;
  PetscCall(Put((size_t)more * sizeof(*row), row, (void **)&drow));
  PetscCall(Put((size_t)more * sizeof(*row), target, (void **)&dtarget));
  PetscCall(Put((size_t)A->n * sizeof(*row), place, (void **)&dplace));
  PetscCallRuntime(cudaMalloc((void **)&dj, (size_t)PetscMax(A->nz, A->n) * sizeof(*j)));
  PetscCall(PCCAMGExtract_Private(&part, more, row, &E));
  DEVICE(LitheCUDACAMGExtract(&dpart, more, drow, &result));
  PetscCall(Matrices("rows of a list", &E, &result));
  /* rows that take the place of others are not shorter: they begin with them */
  for (PetscInt k = 0; k < more; k++) row[k] = target[k] < own ? target[k] : 0;
  PetscCall(PCCAMGExtract_Private(&part, more, row, &F));
  PetscCall(PCCAMGJoin_Private(&F, &E, more, A->n, NULL, NULL, &C));
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(PCCAMGMatrixFree_Private(&F));
  E = C;
  PetscCall(PutMatrix(&E, &dE));
  for (int with = 0; with < 2; with++) {
    PetscCall(PCCAMGJoin_Private(&part, &E, with ? own : own + more, A->n, with ? NULL : target, with ? place : NULL, &C));
    DEVICE(LitheCUDACAMGJoin(&dpart, &dE, with ? own : own + more, A->n, with ? NULL : dtarget, with ? dplace : NULL, &result));
    PetscCall(Matrices("joined rows", &C, &result));
    PetscCall(PCCAMGMatrixFree_Private(&C));
  }
  PetscCall(PCCAMGMark_Private(&part, j));
  DEVICE(LitheCUDACAMGMark(&dpart, dj));
  PetscCall(Integers("columns with entries", A->n, j, dj));
  PetscCall(PCCAMGTurn_Private(&part, j));
  DEVICE(LitheCUDACAMGTurn(&dpart, dj));
  PetscCall(Integers("columns of own rows", part.nz, j, dj));
  PetscCall(PutMatrix(&E, &dC));
  PetscCall(PCCAMGRenumber_Private(&E, from, place));
  DEVICE(LitheCUDACAMGRenumber(&dC, from, dplace));
  PetscCall(Matrices("columns with other numbers", &E, &dC));
  PetscCall(FreeMatrix(&dE));
  PetscCall(PCCAMGMatrixFree_Private(&E));
  PetscCall(PetscFree4(row, target, place, j));
  PetscCallRuntime(cudaFree(drow));
  PetscCallRuntime(cudaFree(dtarget));
  PetscCallRuntime(cudaFree(dplace));
  PetscCallRuntime(cudaFree(dj));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of the user, and their copy, which is the finest level */
static PetscErrorCode TestRows(const CAMGMatrix *A, PetscInt block)
{
  double     host[2], device[2], *x, *dx;
  PetscInt   hsign, dsign;
  PetscBool  hfinite, dfinite, hermitian;
  CAMGMatrix C, D, DC;

  PetscFunctionBeginUser;
  PetscCall(PutMatrix(A, &D));
  PetscCall(PCCAMGSurvey_Private(A, host, &hsign, &hfinite));
  DEVICE(LitheCUDACAMGSurvey(&D, device, &dsign, &dfinite));
  if (WRONG(host[0] != device[0] || host[1] != device[1] || hsign != dsign || hfinite != dfinite))
    FAIL("%s: %g %g %d %d on the host, %g %g %d %d", problem, host[0], host[1], (int)hsign, (int)hfinite, device[0], device[1], (int)dsign, (int)dfinite);
  PetscCall(TestForms(A, &D, &hermitian));
  PetscCall(PetscMalloc1(A->m, &x));
  for (PetscInt r = 0; r < A->m; r++) x[r] = 1 + (double)Random(r);
  PetscCall(Put((size_t)A->m * sizeof(*x), x, (void **)&dx));
  if (block == 1) {
    PetscCall(PCCAMGCopy_Private(A, .25, x, x, 1, &C));
    DEVICE(LitheCUDACAMGCopy(&D, .25, dx, dx, 1, &DC));
    PetscCall(Matrices("scaled copy", &C, &DC));
    PetscCall(PCCAMGMatrixFree_Private(&C));
  }
  PetscCall(PCCAMGCopy_Private(A, .5, NULL, NULL, block, &C));
  DEVICE(LitheCUDACAMGCopy(&D, .5, NULL, NULL, block, &DC));
  PetscCall(Matrices("copy", &C, &DC));
  PetscCall(PCCAMGMatrixFree_Private(&C));
  PetscCall(PCCAMGSetOuter_Private(A->m, A->a, x));
  DEVICE(LitheCUDACAMGSetOuter(A->m, D.a, dx));
  PetscCall(Reals("outer", A->m, x, dx, sizeof(double), 0));
  PetscCall(PetscFree(x));
  PetscCallRuntime(cudaFree(dx));
  PetscCall(FreeMatrix(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Columns of the near null space: numbers, and ones in every third row */
static PetscErrorCode TestColumns(void)
{
  const PetscInt n = 1000, columns = 3;
  PetscScalar   *x, *T, *dx, *dT;

  PetscFunctionBeginUser;
  PetscCall(PetscCalloc2(n, &x, n * columns, &T));
  for (PetscInt r = 0; r < n; r++) x[r] = Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)(n * columns) * sizeof(*T), T, (void **)&dT));
  for (PetscInt c = 0; c < columns; c++) {
    PetscCall(PCCAMGSetColumn_Private(n, columns, c, c == 1 ? x : NULL, c + 1, T));
    DEVICE(LitheCUDACAMGSetColumn(n, columns, c, c == 1 ? dx : NULL, c + 1, dT));
  }
  if (WRONG(PetscRealPart(T[2 * columns]) != 1 || PetscRealPart(T[2 * columns + 2]) != 1 || T[4] != x[1])) FAIL("columns of a near null space");
  PetscCall(Scalars("columns", n * columns, T, dT));
  PetscCall(PetscFree2(x, T));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(dT));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestScales(const CAMGMatrix *A, const CAMGMatrix *D)
{
  const PetscInt n = A->m * A->rb;
  double        *x, *s, *dx, *ds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &x, n, &s));
  for (PetscInt r = 0; r < n; r++) x[r] = 1 + (double)Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)n * sizeof(*s), x, (void **)&ds));
  PetscCall(PCCAMGScales_Private(A, s));
  DEVICE(LitheCUDACAMGScales(D, ds));
  PetscCall(Reals("scales", n, s, ds, sizeof(double), 0));
  PetscCall(PCCAMGDivide_Private(n, s, x));
  DEVICE(LitheCUDACAMGDivide(n, ds, dx));
  PetscCall(Reals("quotients", n, x, dx, sizeof(double), 0));
  PetscCall(PetscFree2(x, s));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLevel(const Level *l)
{
  PetscFunctionBeginUser;
  PetscCall(TestScales(&l->A, &l->D));
  PetscCall(TestJoin(&l->A, &l->D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Test test = {TestRows, TestLevel};
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(TestDeviceBegin(&argc, &argv, help, &n));
  PetscCall(TestColumns());
  PetscCall(TestProblems(n, &test));
  return TestEnd(380, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda !defined(PETSC_USE_64BIT_INDICES)

TEST*/
