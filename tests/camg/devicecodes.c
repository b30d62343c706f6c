/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCCAMG's set-up: each function of codes on a device gives what the function on the host gives.\n\
  -n <n>    - points per direction of the Laplacian with jumps\n\
  -times    - prints the time of each function on the device\n\n";

#include "devicelevels.h"

/* Rows of numbers by slices have the entries of the rows of the host, filled up with codes of 0 */
static PetscErrorCode Slices(const CAMGOperator *h, const CAMGOperator *d)
{
  const int    rows = 32 / d->group, slices = (d->m + rows - 1) / rows;
  const size_t bytes = (size_t)(h->bits / 8) * (sizeof(PetscScalar) / sizeof(PetscReal)), room = (size_t)d->steps * 64;
  int         *i, *base = NULL, wrong = 0;
  char        *j, *code;
  const char   zero[8] = {0};

  PetscFunctionBeginUser;
  PetscCall(Get(((size_t)slices + 1) * sizeof(*i), d->i, (void **)&i));
  if (d->narrow) PetscCall(Get((size_t)d->steps * sizeof(*base), d->base, (void **)&base));
  PetscCall(Get(room * (d->narrow ? 2 : 4), d->j, (void **)&j));
  PetscCall(Get(room * bytes, d->code, (void **)&code));
  for (int s = 0; s < slices; s++) {
    for (int at = 64 * i[s]; at < 64 * i[s + 1]; at++) {
      const int row = s * rows + at / 2 % 32 / d->group, k = ((at / 64 - i[s]) * d->group + at / 2 % d->group) * 2 + at % 2;
      const int c    = d->narrow ? base[at / 64] + ((const uint16_t *)j)[at] : ((const int *)j)[at];
      const int from = row < h->m ? h->i[row] + k : 0, here = row < h->m && from < h->i[row + 1];
      PetscBool same;

      PetscCall(PetscMemcmp(code + (size_t)at * bytes, here ? (const char *)h->code + (size_t)from * bytes : zero, bytes, &same));
      wrong += !same || c < 0 || c >= d->n || (here && c != h->j[from]);
    }
  }
  for (int row = 0; row < h->m; row++) wrong += 2 * d->group * (i[row / rows + 1] - i[row / rows]) < h->i[row + 1] - h->i[row];
  if (WRONG(wrong || i[slices] != d->steps)) FAIL("%s: %d wrong entries in slices of %d bits, %d threads a row", problem, wrong, h->bits, d->group);
  PetscCall(PetscFree(i));
  PetscCall(PetscFree(base));
  PetscCall(PetscFree(j));
  PetscCall(PetscFree(code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Operators(const CAMGOperator *h, const CAMGOperator *d)
{
  const int parts = (int)(sizeof(PetscScalar) / sizeof(PetscReal));

  PetscFunctionBeginUser;
  if (WRONG(h->m != d->m || h->n != d->n || h->bits != d->bits || h->nz != d->nz || h->rb != d->rb || h->cb != d->cb))
    FAIL("%s: %d bits, %d blocks of %d x %d on the host; %d, %d of %d x %d", problem, h->bits, h->nz, h->rb, h->cb, d->bits, d->nz, d->rb, d->cb);
  if (d->group && h->bits == d->bits) PetscCall(Slices(h, d));
  if (d->group) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(Integers("rows of codes", h->m + 1, h->i, d->i));
  if (h->nz == d->nz && h->bits == d->bits) {
    const size_t bytes = (size_t)(h->nz * h->rb * h->cb) * (size_t)(parts * h->bits / 8);
    char        *code;
    PetscBool    same;

    PetscCall(Integers("columns of codes", h->nz, h->j, d->j));
    PetscCall(Get(bytes, d->code, (void **)&code));
    PetscCall(PetscMemcmp(code, h->code, bytes, &same));
    if (WRONG(!same)) FAIL("%s: codes of %d bits differ", problem, h->bits);
    PetscCall(PetscFree(code));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products of both operators, in single precision */
static PetscErrorCode TestApply(const CAMGOperator *host, const CAMGOperator *device)
{
  const PetscInt parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), m = parts * host->m * host->rb,
                 n = parts * PetscMax(host->m * host->rb, host->n * host->cb);
  CAMGOperator h = *host, d = *device;
  float       *x, *y, *dx, *dy;

  PetscFunctionBeginUser;
  h.single = d.single = 1;
  PetscCall(PetscCalloc2(n, &x, m, &y));
  for (PetscInt r = 0; r < n; r++) x[r] = (float)Random(r);
  PetscCall(Put((size_t)n * sizeof(*x), x, (void **)&dx));
  PetscCall(Put((size_t)m * sizeof(*y), y, (void **)&dy));
  PetscCall((*CAMGHostKernels.level.transfer)(&h, PETSC_TRUE, x, y));
  DEVICE(LitheCUDACAMGTransfer(&d, PETSC_TRUE, dx, dy));
  PetscCall(Reals("product", m, y, dy, sizeof(float), 1e-5));
  PetscCall(PetscFree2(x, y));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(dy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* L of a Hermitian matrix M, by columns, beside that of the host */
static PetscErrorCode TestInvert(const CAMGMatrix *D, const double ds[], PetscInt n, PetscScalar M[])
{
  const size_t    parts = sizeof(PetscScalar) / sizeof(PetscReal);
  LitheMGCoarsest h, d;
  PetscBool       good, done;

  PetscFunctionBeginUser;
  PetscCall(LitheMGCoarsestCreate(n, M, PETSC_TRUE, PETSC_FALSE, &LitheHostMemory, &h, &good));
  PetscCall(LitheMGCoarsestAlloc(n, PETSC_TRUE, PETSC_FALSE, &LitheDeviceMemory, &d));
  DEVICE(LitheCUDACAMGInvert(D, ds, &d, &done));
  if (WRONG(good && !h.singular && !done)) FAIL("%s: no inverse", problem);
  if (done) PetscCall(Reals("inverse", (PetscInt)((size_t)n * (size_t)n * parts), h.L, d.L, sizeof(double), 1e-8));
  PetscCall(LitheMGCoarsestFree(&h));
  PetscCall(LitheMGCoarsestFree(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEncode(const CAMGMatrix *A, const CAMGMatrix *D, PetscInt bits, PetscBool sums)
{
  const CAMGShare alone = {.ctx = NULL};
  const PetscInt  n = A->m * A->rb, parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal));
  CAMGOperator    h = {.i = NULL}, d = {.i = NULL};
  double         *s, *ds;
  PetscReal       hbound, dbound;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(n, &s));
  PetscCall(PCCAMGScales_Private(A, s));
  PetscCall(Put((size_t)n * sizeof(*s), s, (void **)&ds));
  PetscCall(PCCAMGEncode_Private(A, s, bits, sums, &alone, &h, &hbound));
  DEVICE(LitheCUDACAMGEncode(D, ds, bits, sums, &alone, &d, &dbound));
  if (WRONG(PetscAbsReal(hbound - dbound) > 1e-5)) FAIL("%s: bound %g on the host, %g", problem, (double)hbound, (double)dbound);
  PetscCall(Operators(&h, &d));
  PetscCall(Reals("diagonal", parts * n, h.d, d.d, sizeof(float), 1e-7));
  PetscCall(Reals("smoother", n, h.minv, d.minv, sizeof(float), 1e-5)); /* as exact as the bound */
  PetscCall(TestApply(&h, &d));
  PetscCall(FreeOperator(&h, &d));
  if (n <= 1000) {
    PetscScalar *M, *N;
    PetscReal    error     = 0;
    PetscBool    hermitian = PETSC_TRUE;

    PetscCall(PetscCalloc2(n * n, &M, n * n, &N));
    PetscCall(PCCAMGGetDense_Private(A, s, M));
    DEVICE(LitheCUDACAMGGetDense(D, ds, N));
    for (PetscInt k = 0; k < n * n; k++) error = PetscMax(error, PetscAbsScalar(M[k] - N[k]));
    if (WRONG(error > TOLERANCE)) FAIL("%s: dense matrix, error %g", problem, (double)error);
    if (A->rb == 1) PetscCall(TestForms(A, D, &hermitian));
    if (hermitian && !PetscDefined(USE_COMPLEX)) PetscCall(TestInvert(D, ds, n, M));
    PetscCall(PetscFree2(M, N));
  }
  PetscCall(PetscFree(s));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestEncodeTransfer(const CAMGMatrix *P, const CAMGMatrix *D, PetscBool inverse)
{
  const PetscInt most = PetscMax(P->m * P->rb, P->n * P->cb);
  CAMGOperator   h = {.i = NULL}, d = {.i = NULL};
  double        *s, *ds;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(most, &s));
  for (PetscInt r = 0; r < most; r++) s[r] = ldexp(1., (int)(r % 7) - 3);
  PetscCall(Put((size_t)most * sizeof(*s), s, (void **)&ds));
  PetscCall(PCCAMGEncodeTransfer_Private(P, s, s, inverse, &h));
  DEVICE(LitheCUDACAMGEncodeTransfer(D, ds, ds, inverse, &d));
  PetscCall(Operators(&h, &d));
  PetscCall(TestApply(&h, &d));
  PetscCall(FreeOperator(&h, &d));
  PetscCall(PetscFree(s));
  PetscCallRuntime(cudaFree(ds));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The finest level for products of a KSP */
static PetscErrorCode TestFine(const CAMGMatrix *A, const CAMGMatrix *D)
{
  const PetscInt parts = (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), n = A->m * A->rb;
  const size_t   bytes = (size_t)(parts * n) * sizeof(float);
  CAMGOperator   h = {.i = NULL}, d = {.i = NULL};
  double        *s, *inverse, *ds, *dinverse;
  float         *x, *y, *dx, *dy;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc4(n, &s, n, &inverse, parts * n, &x, parts * n, &y));
  PetscCall(PCCAMGScales_Private(A, s));
  for (PetscInt r = 0; r < n; r++) inverse[r] = 1 / s[r];
  for (PetscInt r = 0; r < parts * n; r++) x[r] = y[r] = (float)Random(r);
  PetscCall(Put((size_t)n * sizeof(*s), s, (void **)&ds));
  PetscCall(Put((size_t)n * sizeof(*s), inverse, (void **)&dinverse));
  PetscCall(Put(bytes, x, (void **)&dx));
  PetscCall(Put(bytes, x, (void **)&dy));
  PetscCall(PCCAMGEncodeTransfer_Private(A, s, inverse, PETSC_TRUE, &h));
  DEVICE(LitheCUDACAMGEncodeTransfer(D, ds, dinverse, PETSC_TRUE, &d));
  PetscCall(Operators(&h, &d));
  for (int apart = 0; apart < 2; apart++) {
    if (apart) {
      PetscCall(PetscMalloc1(bytes, (char **)&h.d));
      PetscCall(Put(bytes, x, &d.d));
      PetscCall(PCCAMGRounding_Private(A, s, h.d));
      DEVICE(LitheCUDACAMGRounding(D, ds, d.d));
      PetscCall(Reals("rounding errors", parts * n, h.d, d.d, sizeof(float), 1e-6));
    }
    PetscCall((*CAMGHostKernels.level.product)(&h, x, y));
    DEVICE(LitheCUDACAMGProduct(&d, dx, dy));
    PetscCall(Reals("product of a KSP", parts * n, y, dy, sizeof(float), 1e-7));
  }
  PetscCall(FreeOperator(&h, &d));
  PetscCall(PetscFree4(s, inverse, x, y));
  PetscCallRuntime(cudaFree(ds));
  PetscCallRuntime(cudaFree(dinverse));
  PetscCallRuntime(cudaFree(dx));
  PetscCallRuntime(cudaFree(dy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes of more rows than a thread each would keep a device busy: columns of a slice are near, and are not */
static PetscErrorCode TestLarge(PetscInt n, PetscInt nz)
{
  CAMGMatrix A, D;

  PetscFunctionBeginUser;
  problem = "many rows";
  PetscCall(Laplacian(n, nz, PETSC_TRUE, 0, &A));
  PetscCall(PutMatrix(&A, &D));
  PetscCall(TestEncode(&A, &D, 8, PETSC_TRUE));
  PetscCall(TestEncode(&A, &D, 32, PETSC_TRUE));
  PetscCall(TestFine(&A, &D));
  PetscCall(FreeMatrix(&D));
  PetscCall(PCCAMGMatrixFree_Private(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestLevel(const Level *l)
{
  CAMGMatrix D;

  PetscFunctionBeginUser;
  for (PetscInt bits = 8; bits <= 32; bits *= 2) PetscCall(TestEncode(&l->A, &l->D, bits, (PetscBool)(l->space.columns == 1)));
  PetscCall(TestFine(&l->A, &l->D));
  PetscCall(PutMatrix(&l->P, &D));
  PetscCall(TestEncodeTransfer(&l->P, &D, PETSC_FALSE));
  PetscCall(FreeMatrix(&D));
  PetscCall(PutMatrix(&l->R, &D));
  PetscCall(TestEncodeTransfer(&l->R, &D, PETSC_TRUE));
  PetscCall(FreeMatrix(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const Test test  = {NULL, TestLevel};
  PetscBool  large = PETSC_TRUE;
  PetscInt   n;

  PetscFunctionBeginUser;
  PetscCall(TestDeviceBegin(&argc, &argv, help, &n));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-large", &large, NULL));
  PetscCall(TestProblems(n, &test));
  if (large) {
    PetscCall(TestLarge(100, 14));
    PetscCall(TestLarge(300, 2)); /* entries of a step span 90 000 columns */
  }
  return TestEnd(400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    requires: cuda !defined(PETSC_USE_64BIT_INDICES)

TEST*/
