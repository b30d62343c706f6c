/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The inverse of the coarsest level, with its singular part left out.

   The matrix is scaled by powers of two to a diagonal near 1. LAPACK factors a matrix that is not singular. Otherwise
   elimination with complete pivoting ends where all pivots that are left are rounding errors. The unknowns without a
   pivot get the solution 0, and their equations are left out: a generalised inverse, which solves A x = b for each b in
   the range of A.
*/

#include <lithe/private/lithemg.h>
#include <petscblaslapack.h>

#define AT(M, i, j) (M)[(size_t)(i) + (size_t)(j) * (size_t)n]

/* A power of two near the root of 1/v; 1 for 0 */
static double ScaleOf(double v)
{
  int exponent;

  if (!(v > 0)) return 1;
  (void)frexp(v, &exponent);
  return ldexp(1., -(exponent / 2));
}

/*
   A row that is 0 but for rounding has a diagonal below that of its column's scale: scales come from the diagonal, else
   from the row
*/
static PetscBool Scale(PetscInt n, PetscScalar A[], double s[])
{
  for (PetscInt i = 0; i < n; i++) {
    double most = (double)PetscAbsScalar(AT(A, i, i));

    for (PetscInt j = 0; j < n; j++) {
      if (PetscIsInfOrNanScalar(AT(A, i, j))) return PETSC_FALSE;
      if (most == 0) most = (double)PetscAbsScalar(AT(A, i, j));
    }
    s[i] = ScaleOf(most);
  }
  for (PetscInt j = 0; j < n; j++) {
    for (PetscInt i = 0; i < n; i++) AT(A, i, j) = AT(A, i, j) * (PetscReal)s[i] * (PetscReal)s[j];
  }
  return PETSC_TRUE;
}

static void Swap(PetscInt n, PetscScalar a[], size_t astride, PetscScalar b[], size_t bstride)
{
  for (size_t k = 0; k < (size_t)n; k++) {
    const PetscScalar t = a[k * astride];

    a[k * astride] = b[k * bstride];
    b[k * bstride] = t;
  }
}

/* The pivot of step k: the largest entry of the rest, on the diagonal for a Hermitian matrix */
static PetscReal FindPivot(PetscInt n, const PetscScalar A[], PetscBool hermitian, PetscInt k, PetscInt *pi, PetscInt *pj)
{
  PetscReal most = 0;

  *pi = *pj = k;
  for (PetscInt j = k; j < n; j++) {
    for (PetscInt i = hermitian ? j : k; i < (hermitian ? j + 1 : n); i++) {
      const PetscReal a = hermitian ? PetscRealPart(AT(A, i, j)) : PetscAbsScalar(AT(A, i, j));

      if (a > most) {
        most = a;
        *pi  = i;
        *pj  = j;
      }
    }
  }
  return most;
}

/*
   A[row[i], column[j]] = L U with a unit lower triangle L, up to the rank. A Hermitian matrix has column = row, and
   both triangles are stored
*/
static PetscInt Eliminate(PetscInt n, PetscScalar A[], PetscBool hermitian, PetscInt row[], PetscInt column[])
{
  const PetscReal least = LITHE_MG_SINGULAR * PETSC_MACHINE_EPSILON;
  PetscInt        k;

  for (k = 0; k < n; k++) row[k] = column[k] = k;
  for (k = 0; k < n; k++) {
    PetscInt        pi, pj;
    const PetscReal most = FindPivot(n, A, hermitian, k, &pi, &pj);
    PetscInt        t;

    if (!(most > least)) break;
    Swap(n, &AT(A, k, 0), (size_t)n, &AT(A, pi, 0), (size_t)n);
    Swap(n, &AT(A, 0, k), 1, &AT(A, 0, pj), 1);
    t          = row[k];
    row[k]     = row[pi];
    row[pi]    = t;
    t          = column[k];
    column[k]  = column[pj];
    column[pj] = t;
    for (PetscInt i = k + 1; i < n; i++) AT(A, i, k) /= AT(A, k, k);
    for (PetscInt j = k + 1; j < n; j++) {
      const PetscScalar u = AT(A, k, j);

      if (u == (PetscScalar)0.) continue;
      for (PetscInt i = k + 1; i < n; i++) AT(A, i, j) -= AT(A, i, k) * u;
    }
  }
  return k;
}

/* L (factored) or the inverse, by rows, of a matrix that may be singular */
static PetscErrorCode InvertSingular_Private(PetscInt n, PetscScalar A[], PetscBool hermitian, PetscScalar inverse[], PetscInt *rank)
{
  PetscInt    *row, *column;
  PetscScalar *x;

  PetscFunctionBegin;
  PetscCall(PetscMalloc3(n, &row, n, &column, n, &x));
  *rank = Eliminate(n, A, hermitian, row, column);
  PetscCall(PetscArrayzero(inverse, (size_t)n * (size_t)n));
  for (PetscInt c = 0; c < *rank; c++) {
    /* column c of L^-1, times D^-1/2 or U^-1 */
    PetscCall(PetscArrayzero(x, n));
    x[c] = 1;
    for (PetscInt j = c; j < *rank; j++) {
      for (PetscInt i = j + 1; i < *rank; i++) x[i] -= AT(A, i, j) * x[j];
    }
    if (hermitian) {
      for (PetscInt i = c; i < *rank; i++) inverse[(size_t)i * (size_t)n + (size_t)row[c]] = x[i] / PetscSqrtReal(PetscRealPart(AT(A, i, i)));
      continue;
    }
    for (PetscInt j = *rank - 1; j >= 0; j--) {
      x[j] /= AT(A, j, j);
      for (PetscInt i = 0; i < j; i++) x[i] -= AT(A, i, j) * x[j];
    }
    for (PetscInt i = 0; i < *rank; i++) inverse[(size_t)column[i] * (size_t)n + (size_t)row[c]] = x[i];
  }
  PetscCall(PetscFree3(row, column, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same by LAPACK; done: FALSE if the matrix is nearly singular or not definite */
static PetscErrorCode Invert_Private(PetscInt n, PetscScalar A[], PetscBool hermitian, PetscScalar inverse[], PetscBool *done)
{
  const PetscReal least = LITHE_MG_SINGULAR * PETSC_MACHINE_EPSILON;
  PetscBLASInt    bn, info, *pivots, lwork;
  PetscScalar    *work;
  PetscReal       smallest = PETSC_MAX_REAL;

  PetscFunctionBegin;
  *done = PETSC_FALSE;
  PetscCall(PetscBLASIntCast(n, &bn));
  lwork = 16 * bn;
  PetscCall(PetscMalloc2(n, &pivots, lwork, &work));
  if (hermitian) PetscCallBLAS("LAPACKpotrf", LAPACKpotrf_("L", &bn, A, &bn, &info));
  else PetscCallBLAS("LAPACKgetrf", LAPACKgetrf_(&bn, &bn, A, &bn, pivots, &info));
  for (PetscInt i = 0; i < n && !info; i++) smallest = PetscMin(smallest, hermitian ? PetscRealPart(AT(A, i, i) * AT(A, i, i)) : PetscAbsScalar(AT(A, i, i)));
  if (!info && smallest > least) {
    if (hermitian) PetscCallBLAS("LAPACKtrtri", LAPACKtrtri_("L", "N", &bn, A, &bn, &info));
    else PetscCallBLAS("LAPACKgetri", LAPACKgetri_(&bn, A, &bn, pivots, work, &lwork, &info));
    *done = (PetscBool)!info;
  }
  PetscCall(PetscFree2(pivots, work));
  for (PetscInt i = 0; i < n && *done; i++) {
    for (PetscInt j = 0; j < n; j++) inverse[(size_t)i * (size_t)n + (size_t)j] = hermitian && j > i ? (PetscScalar)0. : AT(A, i, j);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rounded, to where the level is */
static PetscErrorCode Put_Private(LitheMGCoarsest *c, const PetscScalar inverse[], const double s[])
{
  const size_t n = (size_t)c->n, parts = sizeof(PetscScalar) / sizeof(PetscReal), bytes = parts * (c->single ? sizeof(float) : sizeof(double));
  void        *numbers;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n * n * bytes, (char **)&numbers));
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < n; j++) {
      const PetscScalar v = inverse[i * n + j] * (PetscReal)s[j] * (PetscReal)(c->factored ? 1. : s[i]);
      const PetscReal  *p = (const PetscReal *)&v;

      for (size_t k = 0; k < parts; k++) {
        if (c->single) ((float *)numbers)[(i * n + j) * parts + k] = (float)p[k];
        else ((double *)numbers)[(i * n + j) * parts + k] = (double)p[k];
      }
    }
  }
  PetscCall((*c->memory->put)(n * n * bytes, numbers, c->L));
  PetscCall(PetscFree(numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMGCoarsestAlloc(PetscInt n, PetscBool factored, PetscBool single, const LitheMemoryOps *memory, LitheMGCoarsest *c)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), bytes = (size_t)n * parts * (single ? sizeof(float) : sizeof(double));

  PetscFunctionBegin;
  *c = (LitheMGCoarsest){.n = n, .factored = factored, .single = single, .memory = memory};
  PetscCall((*memory->alloc)((size_t)n * bytes, &c->L));
  PetscCall((*memory->alloc)(bytes, &c->work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMGCoarsestCreate(PetscInt n, PetscScalar A[], PetscBool hermitian, PetscBool single, const LitheMemoryOps *memory, LitheMGCoarsest *c,
                                     PetscBool *good)
{
  PetscScalar *inverse, *copy;
  double      *s;
  PetscInt     rank = n;
  PetscBool    done;

  PetscFunctionBegin;
  PetscCall(LitheMGCoarsestAlloc(n, hermitian, single, memory, c));
  PetscCall(PetscMalloc3((size_t)n * (size_t)n, &inverse, (size_t)n * (size_t)n, &copy, n, &s));
  *good = Scale(n, A, s);
  if (*good && n) {
    PetscCall(PetscArraycpy(copy, A, (size_t)n * (size_t)n));
    PetscCall(Invert_Private(n, copy, hermitian, inverse, &done));
    if (!done) PetscCall(InvertSingular_Private(n, A, hermitian, inverse, &rank));
    c->singular = n - rank;
    PetscCall(Put_Private(c, inverse, s));
  }
  PetscCall(PetscFree3(inverse, copy, s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMGCoarsestFree(LitheMGCoarsest *c)
{
  PetscFunctionBegin;
  if (c->memory) {
    if (c->L) PetscCall((*c->memory->free)(&c->L));
    if (c->work) PetscCall((*c->memory->free)(&c->work));
  }
  PetscCall(PetscMemzero(c, sizeof(*c)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One array; *x, in host memory, becomes the array in another memory */
static PetscErrorCode Move_Private(const LitheMemoryOps *memory, size_t bytes, void **x)
{
  void *moved;

  PetscFunctionBegin;
  if (!*x) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*memory->alloc)(bytes, &moved));
  PetscCall((*memory->put)(bytes, *x, moved));
  PetscCall(PetscFree(*x));
  *x = moved;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheMGCoarsestMove(LitheMGCoarsest *c, const LitheMemoryOps *memory)
{
  const size_t parts = sizeof(PetscScalar) / sizeof(PetscReal), bytes = (size_t)c->n * parts * (c->single ? sizeof(float) : sizeof(double));

  PetscFunctionBegin;
  PetscCall(Move_Private(memory, (size_t)c->n * bytes, &c->L));
  PetscCall(Move_Private(memory, bytes, &c->work));
  c->memory = memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}
