/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   What the tests of MATVCRS share: matrices of every shape, vectors, and the comparison of all products with another
   matrix.

   Entries depend on their global row and column alone. Therefore matrices and outputs are the same on any number of
   processes. A failed comparison prints a line which begins with FAIL, so the harness sees a difference.
*/

#include <lithemat.h>
#include <petscksp.h>
#include <math.h>
#include <stdint.h>
#include <tests/failures.h>

typedef enum {
  TEST_STAR5,       /* constant 5-point Laplacian */
  TEST_STAR7,       /* constant 7-point Laplacian */
  TEST_BOX27,       /* 27 points, two media; complex: symmetric, not Hermitian, as for Helmholtz */
  TEST_RESERVOIR,   /* 7 points, coefficients over ten orders of magnitude: a symmetric M-matrix */
  TEST_CONVECTION,  /* 5 points, variable, not symmetric */
  TEST_FEM,         /* unstructured, symmetric pattern; complex: Hermitian */
  TEST_RANDOM,      /* random columns, empty rows, one dense row */
  TEST_WIDE,        /* many more columns than rows */
  TEST_TALL,        /* many more rows than columns */
  TEST_COLUMN,      /* a single column */
  TEST_ROW,         /* a single row */
  TEST_NONE,        /* 0 x 0 */
  TEST_NOROWS,      /* 0 x 5 */
  TEST_NOCOLUMNS,   /* 5 x 0 */
  TEST_ZERO,        /* no entries */
  TEST_INTEGERS,    /* small integers: fixed point */
  TEST_FEWVALUES,   /* 100 different values */
  TEST_MANYVALUES,  /* 1000 different values */
  TEST_LONGROWS,    /* lengths 1 to 400, powers */
  TEST_DENSE,       /* all entries */
  TEST_FAR,         /* columns too far apart for 2 bytes; from row 32 on also the columns of neighbouring rows */
  TEST_NEUMANN,     /* row sums are zero */
  TEST_NODIAGONAL,  /* no diagonal entry in the pattern */
  TEST_STOREDZEROS, /* zeros in the pattern, also on the diagonal */
  TEST_BLOCKS,      /* three unknowns per node, in which PETSc finds inodes */
  TEST_KINDS
} TestKind;

static const char *const TestKindNames[] = {"star5",    "star7", "box27", "reservoir", "convection", "fem",         "random",   "wide",      "tall",
                                            "column",   "row",   "none",  "norows",    "nocolumns",  "zero",        "integers", "fewvalues", "manyvalues",
                                            "longrows", "dense", "far",   "neumann",   "nodiagonal", "storedzeros", "blocks",   NULL};

#define TEST_LONGEST 512

static inline void TestKindSize(TestKind kind, PetscInt *m, PetscInt *n)
{
  static const PetscInt size[TEST_KINDS][2] = {{13 * 11, 13 * 11},
                                               {7 * 6 * 9, 7 * 6 * 9},
                                               {6 * 7 * 8, 6 * 7 * 8},
                                               {7 * 8 * 6, 7 * 8 * 6},
                                               {12 * 14, 12 * 14},
                                               {310, 310},
                                               {203, 203},
                                               {37, 520},
                                               {520, 37},
                                               {61, 1},
                                               {1, 61},
                                               {0, 0},
                                               {0, 5},
                                               {5, 0},
                                               {50, 50},
                                               {130, 130},
                                               {340, 340},
                                               {700, 700},
                                               {407, 407},
                                               {70, 70},
                                               {60, 70001},
                                               {11 * 12, 11 * 12},
                                               {150, 150},
                                               {140, 140},
                                               {180, 180}};

  *m = size[kind][0];
  *n = size[kind][1];
}

/* A random number in [0,1), determined by three integers */
static inline double TestRandom(uint64_t a, uint64_t b, uint64_t c)
{
  uint64_t z = a * 0x9e3779b97f4a7c15ULL + b * 0xc2b2ae3d27d4eb4fULL + c * 0x165667b19e3779f9ULL + 0x2545f4914f6cdd1dULL;

  for (int k = 0; k < 3; k++) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
  }
  return (double)(z >> 11) / 9007199254740992.0;
}

/* Uniform in [-1,1); complex: both parts */
static inline PetscScalar TestScalar(uint64_t a, uint64_t b, uint64_t c)
{
#if defined(PETSC_USE_COMPLEX)
  return PetscCMPLX(2.0 * TestRandom(a, b, c) - 1.0, 2.0 * TestRandom(a + 7919, b, c) - 1.0);
#else
  return (PetscScalar)(2.0 * TestRandom(a, b, c) - 1.0);
#endif
}

static inline PetscBool TestKindIsSymmetric(TestKind kind)
{
  return (PetscBool)(kind == TEST_STAR5 || kind == TEST_STAR7 || kind == TEST_BOX27 || kind == TEST_RESERVOIR || kind == TEST_FEM || kind == TEST_NEUMANN);
}

/* Real and symmetric, off-diagonal entries at most 0, row sums at least 0: also in complex arithmetic */
static inline PetscBool TestKindIsMMatrix(TestKind kind)
{
  return (PetscBool)(kind == TEST_STAR5 || kind == TEST_STAR7 || kind == TEST_RESERVOIR);
}

/* Adds an entry of a row */
static inline void TestPut(PetscInt *len, PetscInt cols[], PetscScalar vals[], PetscInt col, PetscScalar val)
{
  cols[*len] = col;
  vals[*len] = val;
  (*len)++;
}

/* The conductivity between two cells of a reservoir, symmetric in the cells */
static inline double TestTransmissibility(PetscInt a, PetscInt b)
{
  const double ka = PetscExpReal((PetscReal)(12.0 * (TestRandom(3, (uint64_t)a, 0) - 0.5))),
               kb = PetscExpReal((PetscReal)(12.0 * (TestRandom(3, (uint64_t)b, 0) - 0.5)));

  return 2.0 * ka * kb / (ka + kb);
}

/* Row i of a matrix; cols and vals hold TEST_LONGEST entries in any order. round: selects other values in the same
   pattern */
static inline void TestKindRow(TestKind kind, PetscInt i, int round, PetscInt *len, PetscInt cols[], PetscScalar vals[])
{
  static const PetscInt grid[TEST_KINDS][3] = {[TEST_STAR5] = {13, 11, 1},   [TEST_STAR7] = {7, 6, 9},        [TEST_BOX27] = {6, 7, 8},
                                               [TEST_RESERVOIR] = {7, 8, 6}, [TEST_CONVECTION] = {12, 14, 1}, [TEST_NEUMANN] = {11, 12, 1}};
  PetscInt              m, n;
  const uint64_t        seed = (uint64_t)kind + 100 * (uint64_t)round, row = (uint64_t)i;

  *len = 0;
  TestKindSize(kind, &m, &n);
  if (grid[kind][0]) {
    const PetscInt nx = grid[kind][0], ny = grid[kind][1], nz = grid[kind][2], x = i % nx, y = (i / nx) % ny, z = i / (nx * ny);
    PetscScalar    diagonal = 0.0;

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          const PetscInt distance = PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz), j = i + dx + nx * (dy + ny * dz);
          PetscBool      inside = (PetscBool)(x + dx >= 0 && x + dx < nx && y + dy >= 0 && y + dy < ny && z + dz >= 0 && z + dz < nz);
          PetscScalar    v      = 0.0;

          if (distance == 0 || (kind != TEST_BOX27 && distance > 1)) continue;
          if ((dz && nz == 1)) continue;
          switch (kind) {
          case TEST_STAR5:
          case TEST_STAR7:
            v = -1.0 - round;
            break;
          case TEST_BOX27:
            /* a medium each for the lower and the upper half; symmetric in the two cells */
            v = (z + z + dz < nz ? -1.25 : -0.375) / (PetscReal)distance - round;
            if (PetscDefined(USE_COMPLEX)) v *= 1.0 + 0.25 * PETSC_i;
            break;
          case TEST_RESERVOIR:
            v = inside ? -TestTransmissibility(i, j) * (1 + round) : 0.0;
            break;
          case TEST_CONVECTION:
            v = -1.0 + 0.4 * TestScalar(seed, row, (uint64_t)(j + 1000));
            break;
          default:
            v = inside ? -1.0 - round : 0.0;
          }
          diagonal -= v;
          if (inside) TestPut(len, cols, vals, j, v);
        }
      }
    }
    if (kind == TEST_RESERVOIR) diagonal += 1e-3 * TestRandom(seed, row, 77);
    if (kind == TEST_BOX27) diagonal -= PetscDefined(USE_COMPLEX) ? 0.5 + 0.25 * PETSC_i : 0.5;
    TestPut(len, cols, vals, i, diagonal);
    return;
  }

  switch (kind) {
  case TEST_FEM: {
    PetscReal sum = 0.0;

    for (PetscInt j = PetscMax(0, i - 60); j < PetscMin(m, i + 61); j++) {
      const uint64_t a = (uint64_t)PetscMin(i, j), b = (uint64_t)PetscMax(i, j);
      PetscScalar    v;

      if (j == i || TestRandom(11, a, b) > 0.15) continue;
      v = TestScalar(seed, a, b);
      if (i > j) v = PetscConj(v);
      sum += PetscAbsScalar(v);
      TestPut(len, cols, vals, j, v);
    }
    TestPut(len, cols, vals, i, sum + 0.1);
    break;
  }
  case TEST_RANDOM:
    if (i % 7 == 3) break;
    for (PetscInt j = 0; j < n; j++) {
      if (i == 50 || TestRandom(12, row, (uint64_t)j) < 0.06) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j));
    }
    break;
  case TEST_WIDE:
  case TEST_TALL:
    for (PetscInt j = 0; j < n; j++) {
      if (TestRandom(13, row, (uint64_t)j) < (kind == TEST_WIDE ? 0.03 : 0.2)) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j));
    }
    break;
  case TEST_COLUMN:
    if (i % 3) TestPut(len, cols, vals, 0, TestScalar(seed, row, 0));
    break;
  case TEST_ROW:
    for (PetscInt j = 0; j < n; j += 2) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j));
    break;
  case TEST_INTEGERS:
    for (PetscInt j = 0; j < n; j++) {
      if (j == i || TestRandom(14, row, (uint64_t)j) < 0.05)
        TestPut(len, cols, vals, j, (PetscScalar)(PetscReal)(1 + (int)(100.0 * TestRandom(seed, row, (uint64_t)j)) - (i == j ? 0 : 120)));
    }
    break;
  case TEST_FEWVALUES:
  case TEST_MANYVALUES:
    for (PetscInt k = -3; k <= 3; k++) {
      const PetscInt j = i + k * (1 + k * k + (i % 5));

      if (j >= 0 && j < n)
        TestPut(len, cols, vals, j, TestScalar(seed, (uint64_t)((kind == TEST_FEWVALUES ? 100 : 1000) * TestRandom(15, row, (uint64_t)j)), 5));
    }
    break;
  case TEST_LONGROWS: {
    const PetscInt want = PetscMin(n, 400 / (1 + (i * 37) % 53)), step = n / want;

    for (PetscInt k = 0; k < want; k++) TestPut(len, cols, vals, (k * step + i) % n, TestScalar(seed, row, (uint64_t)k));
    break;
  }
  case TEST_DENSE:
    for (PetscInt j = 0; j < n; j++) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j) + (i == j ? 40.0 : 0.0));
    break;
  case TEST_FAR:
    for (PetscInt k = 0; k < 6; k++) {
      const PetscReal place = k + TestRandom(16, row, (uint64_t)k); /* ascending, in 0 .. 6 */
      PetscInt        j     = (PetscInt)(place * (n - 1) / 6.0);

      if (i >= 32) j = i % 2 ? (PetscInt)(place * 10.0) : n - 1 - (PetscInt)(place * 500.0);
      TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)k));
    }
    break;
  case TEST_NODIAGONAL:
    for (PetscInt j = 0; j < n; j++) {
      if (j != i && TestRandom(17, row, (uint64_t)j) < 0.05) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j));
    }
    break;
  case TEST_BLOCKS:
    for (PetscInt node = PetscMax(0, i / 3 - 7); node < PetscMin(n / 3, i / 3 + 8); node++) {
      if (node != i / 3 && TestRandom(19, (uint64_t)(i / 3), (uint64_t)node) > 0.3) continue;
      for (PetscInt j = 3 * node; j < 3 * node + 3; j++) TestPut(len, cols, vals, j, TestScalar(seed, row, (uint64_t)j) + (i == j ? 20.0 : 0.0));
    }
    break;
  case TEST_STOREDZEROS:
    for (PetscInt j = PetscMax(0, i - 4); j < PetscMin(n, i + 5); j++) {
      const PetscBool zero = (PetscBool)(TestRandom(18, row, (uint64_t)j) < 0.4);

      TestPut(len, cols, vals, j, zero ? 0.0 : TestScalar(seed, row, (uint64_t)j));
    }
    break;
  default:
    break;
  }
}

/* Sets the rows of this process to the rows of a kind, and assembles */
static inline PetscErrorCode TestSetRows(Mat A, TestKind kind, int round, MatAssemblyType type)
{
  PetscInt     begin, end, len, *cols;
  PetscScalar *vals;

  PetscFunctionBegin;
  PetscCall(PetscMalloc2(TEST_LONGEST, &cols, TEST_LONGEST, &vals));
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  for (PetscInt i = begin; i < end; i++) {
    TestKindRow(kind, i, round, &len, cols, vals);
    PetscCall(MatSetValues(A, 1, &i, len, cols, vals, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(A, type));
  PetscCall(MatAssemblyEnd(A, type));
  PetscCall(PetscFree2(cols, vals));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The test matrix of a kind as MATAIJ */
static inline PetscErrorCode TestCreateMatrix(MPI_Comm comm, TestKind kind, int round, Mat *A)
{
  PetscInt m, n;

  PetscFunctionBegin;
  TestKindSize(kind, &m, &n);
  PetscCall(MatCreate(comm, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, m, n));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(TestSetRows(*A, kind, round, MAT_FINAL_ASSEMBLY));
  PetscCall(PetscObjectSetName((PetscObject)*A, TestKindNames[kind]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Fills a vector with values determined by global indices */
static inline PetscErrorCode TestFillVec(Vec x, int seed)
{
  PetscInt     begin, end;
  PetscScalar *v;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &v));
  for (PetscInt i = begin; i < end; i++) v[i - begin] = TestScalar(1000 + (uint64_t)seed, (uint64_t)i, 0);
  PetscCall(VecRestoreArrayWrite(x, &v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector in the row or column space of A whose type the option -PREFIXvec_type sets, standard otherwise */
static inline PetscErrorCode TestCreateVec(Mat A, PetscBool rowspace, const char prefix[], int seed, Vec *x)
{
  PetscInt m, n;

  PetscFunctionBegin;
  PetscCall(MatGetLocalSize(A, &m, &n));
  PetscCall(VecCreate(PetscObjectComm((PetscObject)A), x));
  PetscCall(VecSetSizes(*x, rowspace ? m : n, PETSC_DETERMINE));
  PetscCall(VecSetOptionsPrefix(*x, prefix));
  PetscCall(VecSetType(*x, VECSTANDARD));
  PetscCall(VecSetFromOptions(*x));
  PetscCall(TestFillVec(*x, seed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The error bounds of products with A, summed in any order: eps times number of terms times sum of moduli. scale[0] is
   for A x, scale[1] for A^T x and A^H x, both for entries of x of modulus up to sqrt(2).

   The factor 4 covers a rounding in each product, sum and difference, and the real operations in a complex operation. A
   matrix in difference form computes a_ik (x_k - x_r) and sigma_i x_r instead of a_ik x_k and a_ir x_r. A term is then
   as large as the whole row. In a transposed product, the error of row i goes to all columns of the row.
*/
static inline PetscErrorCode TestGetScales(Mat B, PetscBool difference, Vec scale[2])
{
  Mat                P;
  Vec                count[2], weight;
  const PetscInt    *cols;
  const PetscScalar *vals;
  PetscInt           begin, end, len;
  PetscScalar       *w, *c;

  PetscFunctionBegin;
  PetscCall(MatCreateVecs(B, &scale[1], &scale[0]));
  PetscCall(MatCreateVecs(B, &count[1], &count[0]));
  PetscCall(VecDuplicate(scale[0], &weight));
  PetscCall(MatDuplicate(B, MAT_COPY_VALUES, &P));
  PetscCall(MatGetOwnershipRange(B, &begin, &end));

  /* by rows: sum of moduli, number of entries; P becomes the moduli */
  PetscCall(VecGetArray(weight, &w));
  PetscCall(VecGetArray(count[0], &c));
  for (PetscInt i = begin; i < end; i++) {
    PetscScalar moduli[TEST_LONGEST];
    PetscInt    where[TEST_LONGEST];

    PetscCall(MatGetRow(B, i, &len, &cols, &vals));
    w[i - begin] = 0.0;
    c[i - begin] = (PetscReal)len;
    for (PetscInt k = 0; k < len; k++) {
      moduli[k] = PetscAbsScalar(vals[k]);
      where[k]  = cols[k];
      w[i - begin] += moduli[k];
    }
    PetscCall(MatRestoreRow(B, i, NULL, &cols, &vals));
    PetscCall(MatSetValues(P, 1, &i, len, where, moduli, INSERT_VALUES));
    if (difference) {
      for (PetscInt k = 0; k < len; k++) moduli[k] = 2.0 * w[i - begin];
      PetscCall(MatSetValues(P, 1, &i, len, where, moduli, INSERT_VALUES));
      w[i - begin] *= 3.0;
    }
  }
  PetscCall(VecRestoreArray(count[0], &c));
  PetscCall(VecRestoreArray(weight, &w));
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));

  /* by columns */
  PetscCall(VecSet(scale[0], 1.0));
  PetscCall(MatMultTranspose(P, scale[0], scale[1]));
  PetscCall(VecCopy(weight, scale[0]));
  for (PetscInt i = begin; i < end; i++) {
    PetscScalar ones[TEST_LONGEST];
    PetscInt    where[TEST_LONGEST];

    PetscCall(MatGetRow(B, i, &len, &cols, NULL));
    for (PetscInt k = 0; k < len; k++) {
      ones[k]  = 1.0;
      where[k] = cols[k];
    }
    PetscCall(MatRestoreRow(B, i, NULL, &cols, NULL));
    PetscCall(MatSetValues(P, 1, &i, len, where, ones, INSERT_VALUES));
  }
  PetscCall(MatAssemblyBegin(P, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(P, MAT_FINAL_ASSEMBLY));
  PetscCall(VecSet(weight, 1.0));
  PetscCall(MatMultTranspose(P, weight, count[1]));

  for (int k = 0; k < 2; k++) {
    PetscCall(VecShift(count[k], 8.0));
    PetscCall(VecShift(scale[k], 1.0)); /* the added vector */
    PetscCall(VecPointwiseMult(scale[k], scale[k], count[k]));
    PetscCall(VecScale(scale[k], 4.0 * PETSC_MACHINE_EPSILON));
    PetscCall(VecDestroy(&count[k]));
  }
  PetscCall(VecDestroy(&weight));
  PetscCall(MatDestroy(&P));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of a matrix B and how far products may be from B's; made once for all matrices with B's entries */
typedef struct {
  Mat       B;
  PetscBool difference;
  Vec       scale[2], x[2], y[2], z[2], rx[2], ry[2], rz[2]; /* 0: row space, 1: column space */
} TestProducts;

/*
   B: a MATAIJ with the entries. The options -x_vec_type (input), -y_vec_type (output) and -z_vec_type (added) give the
   types of the vectors.
*/
static inline PetscErrorCode TestProductsCreate(Mat B, PetscBool difference, TestProducts *t)
{
  PetscFunctionBegin;
  t->B          = B;
  t->difference = difference;
  PetscCall(TestGetScales(B, difference, t->scale));
  for (int k = 0; k < 2; k++) {
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "x_", 1 + k, &t->x[k]));
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "y_", 3 + k, &t->y[k]));
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "z_", 5 + k, &t->z[k]));
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "reference_", 1 + k, &t->rx[k]));
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "reference_", 3 + k, &t->ry[k]));
    PetscCall(TestCreateVec(B, (PetscBool)(k == 0), "reference_", 5 + k, &t->rz[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode TestProductsDestroy(TestProducts *t)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&t->scale[k]));
    PetscCall(VecDestroy(&t->x[k]));
    PetscCall(VecDestroy(&t->y[k]));
    PetscCall(VecDestroy(&t->z[k]));
    PetscCall(VecDestroy(&t->rx[k]));
    PetscCall(VecDestroy(&t->ry[k]));
    PetscCall(VecDestroy(&t->rz[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Counts where y differs from r by more than scale (NULL: at all), on this process. Entries which are Inf or NaN in
   both are equal. The process which finds a failure prints it.
*/
static inline PetscErrorCode TestCompareVecs(Vec y, Vec r, Vec scale, const char where[], const char what[], const char name[], PetscInt *failures)
{
  const PetscScalar *vy, *vr, *vs = NULL;
  PetscInt           n, count = 0, begin;

  PetscFunctionBegin;
  PetscCall(VecGetOwnershipRange(r, &begin, NULL));
  PetscCall(VecGetLocalSize(r, &n));
  PetscCall(VecGetArrayRead(y, &vy));
  PetscCall(VecGetArrayRead(r, &vr));
  if (scale) PetscCall(VecGetArrayRead(scale, &vs));
  for (PetscInt i = 0; i < n; i++) {
    const PetscReal most = vs ? PetscRealPart(vs[i]) : 0.0;
    PetscBool       same;

    if (PetscIsInfOrNanScalar(vr[i])) same = PetscIsInfOrNanScalar(vy[i]);
    else same = (PetscBool)(PetscAbsScalar(vy[i] - vr[i]) <= most);
    if (same) continue;
    if (!count)
      PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %s%s is off by %g in row %" PetscInt_FMT ", where %g is allowed\n", where, what, name,
                            (double)PetscAbsScalar(vy[i] - vr[i]), begin + i, (double)most));
    count++;
  }
  if (scale) PetscCall(VecRestoreArrayRead(scale, &vs));
  PetscCall(VecRestoreArrayRead(r, &vr));
  PetscCall(VecRestoreArrayRead(y, &vy));
  if (count) (*failures)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares all products of A, and its diagonal, with those of t->B. where: describes A in messages */
static inline PetscErrorCode TestCompareProducts(Mat A, TestProducts *t, const char where[], PetscInt *failures)
{
  static const char *const names[] = {"A x", "A^T x", "A^H x"};
  PetscInt                 M, N;

  PetscFunctionBegin;
  for (int op = 0; op < 3; op++) {
    const int in = op == 0 ? 1 : 0, out = 1 - in;
    PetscErrorCode (*mult)(Mat, Vec, Vec)         = op == 0 ? MatMult : (op == 1 ? MatMultTranspose : MatMultHermitianTranspose);
    PetscErrorCode (*multadd)(Mat, Vec, Vec, Vec) = op == 0 ? MatMultAdd : (op == 1 ? MatMultTransposeAdd : MatMultHermitianTransposeAdd);

    /* y = op(A) x; previous values of y must not matter */
    PetscCall(VecSet(t->y[out], (PetscReal)INFINITY));
    PetscCall((*mult)(A, t->x[in], t->y[out]));
    PetscCall((*mult)(t->B, t->rx[in], t->ry[out]));
    PetscCall(TestCompareVecs(t->y[out], t->ry[out], t->scale[out], where, "y = ", names[op], failures));

    /* y = z + op(A) x */
    PetscCall(VecSet(t->y[out], (PetscReal)INFINITY));
    PetscCall((*multadd)(A, t->x[in], t->z[out], t->y[out]));
    PetscCall((*multadd)(t->B, t->rx[in], t->rz[out], t->ry[out]));
    PetscCall(TestCompareVecs(t->y[out], t->ry[out], t->scale[out], where, "y = z + ", names[op], failures));

    /* y = y + op(A) x */
    PetscCall(TestFillVec(t->y[out], 9));
    PetscCall(TestFillVec(t->ry[out], 9));
    PetscCall((*multadd)(A, t->x[in], t->y[out], t->y[out]));
    PetscCall((*multadd)(t->B, t->rx[in], t->ry[out], t->ry[out]));
    PetscCall(TestCompareVecs(t->y[out], t->ry[out], t->scale[out], where, "y = y + ", names[op], failures));

    /* the input is unchanged */
    PetscCall(TestCompareVecs(t->x[in], t->rx[in], NULL, where, "the input of ", names[op], failures));
  }

  /* y = z - A x */
  PetscCall(VecSet(t->y[0], (PetscReal)INFINITY));
  PetscCall(MatResidual(A, t->z[0], t->x[1], t->y[0]));
  PetscCall(MatResidual(t->B, t->rz[0], t->rx[1], t->ry[0]));
  PetscCall(TestCompareVecs(t->y[0], t->ry[0], t->scale[0], where, "y = z - ", names[0], failures));

  /* The diagonal is stored, or in the difference form implied by the row sum */
  PetscCall(MatGetSize(t->B, &M, &N));
  if (M == N) {
    PetscCall(VecSet(t->y[0], (PetscReal)INFINITY));
    PetscCall(MatGetDiagonal(A, t->y[0]));
    PetscCall(MatGetDiagonal(t->B, t->ry[0]));
    PetscCall(TestCompareVecs(t->y[0], t->ry[0], t->difference ? t->scale[0] : NULL, where, "the ", "diagonal", failures));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether -every N leaves out this case: it leaves out N - 1 of N */
static inline PetscBool TestLeftOut(void)
{
  static PetscInt every = 0, number = 0;

  if (!every) {
    every = 1;
    PetscCallAbort(PETSC_COMM_WORLD, PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  }
  return (PetscBool)(number++ % every != 0);
}

/* Ends a program: a line with a number that must be the expected one, or the number of failures */
static inline int TestReport(const char format[], PetscInt number)
{
  PetscCallMPIAbort(PETSC_COMM_WORLD, MPIU_Allreduce(MPI_IN_PLACE, &failures, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
  if (!failures) PetscCallAbort(PETSC_COMM_WORLD, PetscPrintf(PETSC_COMM_WORLD, format, number));
  else PetscCallAbort(PETSC_COMM_WORLD, PetscPrintf(PETSC_COMM_WORLD, "%" PetscInt_FMT " comparisons failed\n", failures));
  PetscCallAbort(PETSC_COMM_WORLD, PetscFinalize());
  return 0;
}

/* Rows of this process which differ in any bit: a NaN equals a NaN with the same bits, and -0 is not 0 */
static inline PetscErrorCode TestCountRowsThatDiffer(Mat A, Mat B, PetscInt *count)
{
  PetscInt begin, end, beginB, endB;

  PetscFunctionBegin;
  *count = 0;
  PetscCall(MatGetOwnershipRange(A, &begin, &end));
  PetscCall(MatGetOwnershipRange(B, &beginB, &endB));
  PetscCheck(begin == beginB && end == endB, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The two matrices have other rows");
  for (PetscInt i = begin; i < end; i++) {
    PetscInt           lenA, lenB, colA[TEST_LONGEST];
    PetscScalar        valA[TEST_LONGEST];
    const PetscInt    *cols;
    const PetscScalar *vals;
    PetscBool          same;

    PetscCall(MatGetRow(A, i, &lenA, &cols, &vals));
    PetscCheck(lenA <= TEST_LONGEST, PETSC_COMM_SELF, PETSC_ERR_PLIB, "Row %" PetscInt_FMT " has %" PetscInt_FMT " entries", i, lenA);
    PetscCall(PetscArraycpy(colA, cols, lenA));
    PetscCall(PetscArraycpy(valA, vals, lenA));
    PetscCall(MatRestoreRow(A, i, NULL, &cols, &vals));
    PetscCall(MatGetRow(B, i, &lenB, &cols, &vals));
    same = (PetscBool)(lenA == lenB);
    if (same) PetscCall(PetscArraycmp(colA, cols, lenB, &same));
    if (same) PetscCall(PetscMemcmp(valA, vals, (size_t)lenB * sizeof(*vals), &same));
    PetscCall(MatRestoreRow(B, i, NULL, &cols, &vals));
    if (!same) (*count)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compares the rows of two matrices of any type to the last bit; a process with different rows prints a message */
static inline PetscErrorCode TestCompareRows(Mat A, Mat B, const char where[], const char what[], PetscInt *failures)
{
  PetscInt bad;

  PetscFunctionBegin;
  PetscCall(TestCountRowsThatDiffer(A, B, &bad));
  if (bad) PetscCall(PetscPrintf(PETSC_COMM_SELF, "FAIL %s: %" PetscInt_FMT " rows differ: %s\n", where, bad, what));
  if (bad) (*failures)++;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   A difference counts as rounding if the same operations were done on the same entries in another order, in sums of at
   most a few thousand products. difference and norm are the same on all processes.
*/
static inline PetscErrorCode TestIsRounding(PetscReal difference, PetscReal norm, const char where[], const char what[], PetscInt *failures)
{
  PetscFunctionBegin;
  if (!(difference <= 1000.0 * PETSC_MACHINE_EPSILON * norm)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: %s is off by %g of %g\n", where, what, (double)difference, (double)norm));
    (*failures)++;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Whether the forced layout l2 can hold A's values: l2 is the only layout with a condition, a fixed-point container */
static inline PetscBool TestKindIsFixedPoint(TestKind kind)
{
  return (PetscBool)(kind == TEST_STAR5 || kind == TEST_STAR7 || kind == TEST_INTEGERS || kind == TEST_NEUMANN || kind == TEST_ZERO || kind == TEST_NONE ||
                     kind == TEST_NOROWS || kind == TEST_NOCOLUMNS);
}

/*
   Extreme eigenvalues of A x = lambda A~ x by conjugate gradients with the Cholesky factors of A~, run until the
   residual vanishes. The factorisation fails if A~ is not positive definite.
*/
static inline PetscErrorCode TestEigenvalues(Mat B, Mat C, PetscReal *least, PetscReal *largest, PetscBool *definite)
{
  KSP                ksp;
  PC                 pc;
  Vec                b, x;
  Mat                X;
  KSPConvergedReason reason;

  PetscFunctionBegin;
  PetscCall(MatConvert(C, MATDENSE, MAT_INITIAL_MATRIX, &X));
  PetscCall(MatSetOption(X, PetscDefined(USE_COMPLEX) ? MAT_HERMITIAN : MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatSetOption(X, MAT_SPD, PETSC_TRUE));
  PetscCall(MatCreateVecs(B, &x, &b));
  PetscCall(TestFillVec(b, 40));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, B, X));
  PetscCall(KSPSetType(ksp, KSPCG));
  PetscCall(KSPSetTolerances(ksp, 10.0 * PETSC_MACHINE_EPSILON, 0.0, PETSC_CURRENT, 200));
  PetscCall(KSPSetComputeSingularValues(ksp, PETSC_TRUE));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCCHOLESKY));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(KSPGetConvergedReason(ksp, &reason));
  *definite = (PetscBool)(reason != KSP_DIVERGED_PC_FAILED && reason != KSP_DIVERGED_INDEFINITE_PC && reason != KSP_DIVERGED_INDEFINITE_MAT);
  *least = *largest = 0.0;
  if (*definite) PetscCall(KSPComputeExtremeSingularValues(ksp, largest, least));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(MatDestroy(&X));
  PetscFunctionReturn(PETSC_SUCCESS);
}
