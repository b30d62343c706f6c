/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What the fuzzers share: random numbers, small random matrices as dense arrays, and the loop over cases.

   A case depends on -seed and its number only. -cases N runs N cases; -times N runs N times as many cases as without the
   option; -case N runs a single case, to reproduce a failure. -trace prints each case before it runs.
*/

#include <lithe.h>
#include <petscksp.h>
#include <tests/failures.h>

/* ---- Random numbers ---- */

typedef struct {
  uint64_t state;
} Fuzz;

/* splitmix64 */
static inline uint64_t FuzzNext(Fuzz *f)
{
  uint64_t z = f->state += UINT64_C(0x9e3779b97f4a7c15);

  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* 0 to n - 1 */
static inline PetscInt FuzzInt(Fuzz *f, PetscInt n)
{
  return (PetscInt)(FuzzNext(f) % (uint64_t)n);
}

static inline PetscBool FuzzOneOf(Fuzz *f, PetscInt n)
{
  return (PetscBool)!FuzzInt(f, n);
}

/* Uniform in [-1,1) */
static inline PetscReal FuzzReal(Fuzz *f)
{
  return (PetscReal)((double)(FuzzNext(f) >> 11) / 4503599627370496.0 - 1.0);
}

static inline PetscScalar FuzzScalar(Fuzz *f)
{
  const PetscReal re = FuzzReal(f);

#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(re, FuzzReal(f));
#else
  return re;
#endif
}

/* Exponents of ten near the ends of the range of numbers */
#define FUZZ_FAR (PetscDefined(USE_REAL_SINGLE) ? 36 : 300)

/* A power of ten, by an exponent of at most this modulus */
static inline PetscReal FuzzPower(Fuzz *f, PetscInt most)
{
  return PetscPowReal((PetscReal)10.0, (PetscReal)(FuzzInt(f, 2 * most + 1) - most));
}

static inline PetscScalar FuzzNoNumber(Fuzz *f)
{
  const PetscReal zero = 0.0 * (PetscReal)FuzzInt(f, 2), infinity = (PetscReal)1.0 / zero;

  return FuzzOneOf(f, 2) ? (FuzzOneOf(f, 2) ? infinity : -infinity) : infinity - infinity;
}

/* ---- The loop over cases ---- */

typedef PetscErrorCode (*FuzzCase)(Fuzz *, PetscInt number, PetscBool shown);

static inline PetscErrorCode FuzzRun(PetscInt cases, FuzzCase one)
{
  PetscInt  seed = 1, times = 1, only = -1;
  PetscBool single, trace;

  PetscFunctionBegin;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-seed", &seed, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-cases", &cases, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-case", &only, &single));
  PetscCall(PetscOptionsHasName(NULL, NULL, "-trace", &trace));
  for (PetscInt number = single ? only : 0; number < (single ? only + 1 : cases * times); number++) {
    Fuzz f = {(uint64_t)seed * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)number * UINT64_C(0xd1342543de82ef95)};

    (void)FuzzNext(&f);
    PetscCall((*one)(&f, number, trace));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Prints numbers that a program counted, with -counts */
PETSC_ATTRIBUTE_FORMAT(1, 2) static inline PetscErrorCode FuzzCounts(const char format[], ...)
{
  PetscBool counts;
  char      text[1024];
  va_list   numbers;

  PetscFunctionBegin;
  va_start(numbers, format);
  PetscCall(PetscVSNPrintf(text, sizeof(text), format, NULL, numbers));
  va_end(numbers);
  PetscCall(PetscOptionsHasName(NULL, NULL, "-counts", &counts));
  if (counts) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s", text));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A failure, and the case p, which the program's Describe() prints */
#define REPORT(...)         \
  do {                      \
    FAIL(__VA_ARGS__);      \
    PetscCall(Describe(p)); \
  } while (0)

/* ---- Matrices ---- */

typedef enum {
  SHAPE_RANDOM,
  SHAPE_BAND,
  SHAPE_ARROW, /* a dense row and a dense column */
  SHAPE_FULL,
  SHAPE_DIAGONAL,
  SHAPE_EMPTY,
  SHAPES
} FuzzShape;

typedef enum {
  SIZES_ONE,
  SIZES_DECADES, /* of all entries */
  SIZES_UNITS,   /* D A D */
  SIZES_ROWS,    /* D A */
  SIZES_TINY,
  SIZES_HUGE,
  SIZES_FAR, /* entries over the whole range of numbers */
  SIZES
} FuzzSizes;

typedef enum {
  DIAGONAL_DOMINANT,
  DIAGONAL_RANDOM,
  DIAGONAL_NEAR, /* some pivots near zero */
  DIAGONAL_ZEROS,
  DIAGONAL_MISSING, /* some entries */
  DIAGONALS
} FuzzDiagonal;

static const char *const FuzzShapes[]    = {"random", "band", "arrow", "full", "diagonal", "empty"};
static const char *const FuzzSizesOf[]   = {"one", "decades", "units", "rows", "tiny", "huge", "far"};
static const char *const FuzzDiagonals[] = {"dominant", "random", "near", "zeros", "missing"};

/* An m x n matrix by rows. All processes have all entries */
typedef struct {
  PetscInt     m, n;
  FuzzShape    shape;
  FuzzSizes    sizes;
  FuzzDiagonal diagonal;
  PetscBool    symmetric, singular, finite;
  PetscScalar *a;
  PetscBool   *there;
} FuzzMatrix;

static inline PetscBool FuzzHasEntry(Fuzz *f, FuzzShape shape, PetscInt n, PetscInt i, PetscInt j)
{
  switch (shape) {
  case SHAPE_RANDOM:
    return (PetscBool)(FuzzInt(f, n) < 3);
  case SHAPE_BAND:
    return (PetscBool)(PetscAbsInt(i - j) <= 2);
  case SHAPE_ARROW:
    return (PetscBool)(i == n / 2 || j == n / 2 || FuzzInt(f, n) < 1);
  case SHAPE_FULL:
    return PETSC_TRUE;
  default:
    return PETSC_FALSE;
  }
}

/* D A D, or D A with a distribution of sizes */
static inline void FuzzScale(Fuzz *f, FuzzMatrix *A)
{
  PetscReal unit[128];

  for (PetscInt k = 0; k < 128; k++) unit[k] = FuzzPower(f, A->sizes == SIZES_UNITS || A->sizes == SIZES_ROWS ? (FuzzOneOf(f, 4) ? FUZZ_FAR / 4 : 3) : 3);
  for (PetscInt i = 0; i < A->m; i++) {
    for (PetscInt j = 0; j < A->n; j++) {
      PetscReal times = 1.0;

      if (A->sizes == SIZES_DECADES) times = FuzzPower(f, 6);
      else if (A->sizes == SIZES_UNITS) times = unit[i % 128] * unit[j % 128];
      else if (A->sizes == SIZES_ROWS) times = unit[i % 128];
      else if (A->sizes == SIZES_TINY) times = PetscPowReal((PetscReal)10.0, (PetscReal)-FUZZ_FAR);
      else if (A->sizes == SIZES_HUGE) times = PetscPowReal((PetscReal)10.0, (PetscReal)FUZZ_FAR);
      else if (A->sizes == SIZES_FAR) times = FuzzPower(f, FUZZ_FAR);
      A->a[i * A->n + j] *= times;
    }
  }
}

static inline void FuzzSetDiagonal(Fuzz *f, FuzzMatrix *A)
{
  for (PetscInt i = 0; i < PetscMin(A->m, A->n); i++) {
    const PetscInt at  = i * A->n + i;
    PetscReal      sum = 0.0;

    A->there[at] = PETSC_TRUE;
    switch (A->diagonal) {
    case DIAGONAL_DOMINANT:
      A->a[at] = 0.0;
      for (PetscInt j = 0; j < A->n; j++) sum += A->there[i * A->n + j] ? PetscAbsScalar(A->a[i * A->n + j]) : (PetscReal)0.0;
      A->a[at] = (PetscReal)1.25 * sum + (PetscReal)0.5 + PetscAbsReal(FuzzReal(f));
      break;
    case DIAGONAL_NEAR:
      A->a[at] = FuzzScalar(f) * (FuzzOneOf(f, 3) ? PetscPowReal((PetscReal)10.0, (PetscReal)-FuzzInt(f, FUZZ_FAR)) : (PetscReal)1.0);
      break;
    case DIAGONAL_ZEROS:
      A->a[at] = FuzzOneOf(f, 3) ? (PetscScalar)0.0 : FuzzScalar(f);
      break;
    case DIAGONAL_MISSING:
      A->a[at]     = FuzzScalar(f);
      A->there[at] = (PetscBool)!FuzzOneOf(f, 3);
      break;
    default:
      A->a[at] = FuzzScalar(f);
    }
  }
}

/* One draw in `usual` has a diagonally dominant matrix of entries near 1 */
static inline PetscErrorCode FuzzMatrixCreate(Fuzz *f, PetscInt m, PetscInt n, PetscInt usual, FuzzMatrix *A)
{
  const PetscBool plain = FuzzOneOf(f, usual);

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(m * n, &A->a, m * n, &A->there));
  A->m         = m;
  A->n         = n;
  A->shape     = (FuzzShape)FuzzInt(f, FuzzOneOf(f, 8) ? SHAPES : SHAPE_DIAGONAL);
  A->sizes     = plain || FuzzOneOf(f, 2) ? SIZES_ONE : (FuzzSizes)FuzzInt(f, SIZES);
  A->diagonal  = plain || FuzzOneOf(f, 3) ? DIAGONAL_DOMINANT : (FuzzDiagonal)FuzzInt(f, DIAGONALS);
  A->symmetric = (PetscBool)(m == n && FuzzOneOf(f, 3));
  A->singular  = (PetscBool)(!plain && FuzzOneOf(f, 8));
  A->finite    = PETSC_TRUE;
  for (PetscInt i = 0; i < m; i++) {
    for (PetscInt j = 0; j < n; j++) {
      const PetscInt at = i * n + j, other = j * n + i;

      if (A->symmetric && j < i) {
        A->there[at] = A->there[other];
        A->a[at]     = A->a[other];
      } else {
        A->there[at] = FuzzHasEntry(f, A->shape, PetscMax(m, n), i, j);
        A->a[at]     = A->there[at] ? FuzzScalar(f) : (PetscScalar)0.0;
        if (FuzzOneOf(f, 16)) A->a[at] = 0.0; /* an entry, although zero */
      }
    }
  }
  if (A->shape != SHAPE_EMPTY) FuzzSetDiagonal(f, A);
  FuzzScale(f, A);
  if (A->symmetric && A->sizes != SIZES_ROWS) {
    for (PetscInt i = 0; i < m; i++) {
      for (PetscInt j = 0; j < i; j++) A->a[i * n + j] = A->a[j * n + i];
    }
  } else A->symmetric = PETSC_FALSE;
  if (A->singular && m) {
    const PetscInt row = FuzzInt(f, m), like = FuzzInt(f, m), empty = FuzzInt(f, 3);

    /* an empty row, a row of zeros, or a row like another */
    for (PetscInt j = 0; j < n; j++) {
      if (empty == 2) {
        A->there[row * n + j] = A->there[like * n + j];
        A->a[row * n + j]     = A->a[like * n + j];
      } else {
        A->a[row * n + j] = 0.0;
        if (!empty) A->there[row * n + j] = PETSC_FALSE;
      }
    }
    A->symmetric = PETSC_FALSE;
  }
  if (!plain && m && n && FuzzOneOf(f, 16)) {
    const PetscInt at = FuzzInt(f, m) * n + FuzzInt(f, n);

    A->there[at] = PETSC_TRUE;
    A->a[at]     = FuzzNoNumber(f);
    A->finite = A->symmetric = PETSC_FALSE;
  }
  for (PetscInt k = 0; k < m * n; k++) {
    if (!A->there[k]) A->a[k] = 0.0;
    if (PetscIsInfOrNanScalar(A->a[k])) A->finite = PETSC_FALSE; /* also by overflow */
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FuzzMatrixDestroy(FuzzMatrix *A)
{
  PetscFunctionBegin;
  PetscCall(PetscFree2(A->a, A->there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscBool FuzzIsUsual(const FuzzMatrix *A)
{
  return (PetscBool)(A->sizes == SIZES_ONE && A->diagonal == DIAGONAL_DOMINANT && A->shape != SHAPE_EMPTY && !A->singular && A->finite);
}

/* Whether all diagonal entries are there, and whether their inverses are numbers */
static inline PetscBool FuzzHasDiagonal(const FuzzMatrix *A, PetscBool inverses)
{
  for (PetscInt i = 0; i < PetscMin(A->m, A->n); i++) {
    if (!A->there[i * A->n + i] || (inverses && (A->a[i * A->n + i] == (PetscScalar)0.0 || PetscIsInfOrNanScalar((PetscScalar)1.0 / A->a[i * A->n + i]))))
      return PETSC_FALSE;
  }
  return PETSC_TRUE;
}

/* Adds row i of op(A) x to the real and imaginary part of a sum, nearly exact, and the moduli of all products to size */
static inline void FuzzAddProduct(const FuzzMatrix *A, PetscBool transpose, PetscInt i, const PetscScalar x[], long double sum[2], long double *size)
{
  for (PetscInt j = 0; j < (transpose ? A->m : A->n); j++) {
    const PetscInt    at = transpose ? j * A->n + i : i * A->n + j;
    const long double ar = PetscRealPart(A->a[at]), ai = PetscImaginaryPart(A->a[at]), xr = PetscRealPart(x[j]), xi = PetscImaginaryPart(x[j]);

    if (!A->there[at]) continue;
    sum[0] += ar * xr - ai * xi;
    sum[1] += ar * xi + ai * xr;
    *size += ((ar < 0 ? -ar : ar) + (ai < 0 ? -ai : ai)) * ((xr < 0 ? -xr : xr) + (xi < 0 ? -xi : xi));
  }
}

static inline PetscErrorCode FuzzDescribe(const FuzzMatrix *A, PetscInt number, const char where[], const char options[])
{
  char text[256];

  PetscFunctionBegin;
  PetscCall(PetscSNPrintf(text, sizeof(text), "%" PetscInt_FMT " x %" PetscInt_FMT ", shape %s, sizes %s, diagonal %s%s%s%s", A->m, A->n, FuzzShapes[A->shape],
                          FuzzSizesOf[A->sizes], FuzzDiagonals[A->diagonal], A->symmetric ? ", symmetric" : "", A->singular ? ", singular" : "",
                          A->finite ? "" : ", not finite"));
  PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%s%scase %" PetscInt_FMT ": %s, %s\n", where, *where ? " of " : "", number, text, options));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix with the given local sizes, which may be PETSC_DECIDE */
static inline PetscErrorCode FuzzMatrixMat(const FuzzMatrix *A, MPI_Comm comm, MatType type, PetscInt m, PetscInt n, Mat *mat)
{
  PetscInt begin, end;

  PetscFunctionBegin;
  PetscCall(MatCreate(comm, mat));
  PetscCall(MatSetSizes(*mat, m, n, A->m, A->n));
  PetscCall(MatSetType(*mat, type));
  PetscCall(MatSetUp(*mat));
  PetscCall(MatGetOwnershipRange(*mat, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    for (PetscInt j = 0; j < A->n; j++) {
      if (A->there[i * A->n + j]) PetscCall(MatSetValue(*mat, i, j, A->a[i * A->n + j], INSERT_VALUES));
    }
  }
  PetscCall(MatAssemblyBegin(*mat, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*mat, MAT_FINAL_ASSEMBLY));
  if (A->symmetric) PetscCall(MatSetOption(*mat, MAT_SYMMETRIC, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}
