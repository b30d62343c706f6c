/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATVCRS too large for the kernels of small matrices: products of every layout and container against the stored entries.\n\
  -x_vec_type, -y_vec_type, -z_vec_type <type> - types of the input, the output and the added vector\n\
  -every <n>, -first <k>                       - of each n cases in turn the k-th, from 0\n\n";

#include "vcrstest.h"

typedef struct {
  const char *name;
  PetscInt    n[3];
  PetscBool   box;      /* 27 points, else 7 */
  PetscInt    media;    /* number of different media in layers and blocks; 0: all entries differ */
  PetscInt    shuffled; /* columns move by up to this distance: an unstructured matrix */
  PetscInt    distance; /* distance of rows with very many entries; 0: none */
} Grid;

/* Planes which are whole slices and planes which are not; lines of whole slices, and other lines */
static const Grid grids[] = {
  {"box, variable", {48, 48, 40}, PETSC_TRUE, 0, 0, 0},          {"box, odd lines", {45, 41, 40}, PETSC_TRUE, 0, 0, 0},
  {"box, long lines", {288, 20, 18}, PETSC_TRUE, 0, 0, 0},       {"box, longer lines", {704, 6, 20}, PETSC_TRUE, 0, 0, 0},
  {"box, short lines", {32, 64, 40}, PETSC_TRUE, 0, 0, 0},       {"box, media", {48, 40, 40}, PETSC_TRUE, 5, 0, 0},
  {"star, variable", {64, 40, 30}, PETSC_FALSE, 0, 0, 0},        {"star, media", {50, 41, 40}, PETSC_FALSE, 3, 0, 0},
  {"star, one medium", {50, 41, 40}, PETSC_FALSE, 1, 0, 0},      {"unstructured", {50, 40, 40}, PETSC_FALSE, 0, 4000, 0},
  {"grouped", {61, 63, 41}, PETSC_TRUE, 0, 600, 9973},           {"grouped, media", {64, 64, 34}, PETSC_TRUE, 5, 600, 0},
  {"star, odd lines", {51, 40, 31}, PETSC_FALSE, 0, 0, 0},       {"star, odd planes", {63, 41, 31}, PETSC_FALSE, 0, 0, 0},
  {"star, short lines", {5, 90, 151}, PETSC_FALSE, 0, 0, 0},     {"star, no interior", {2, 200, 151}, PETSC_FALSE, 0, 0, 0},
  {"star, far entries", {64, 40, 30}, PETSC_FALSE, 0, 0, 997},   {"flat star", {300, 251, 1}, PETSC_FALSE, 0, 0, 0},
  {"flat star, odd lines", {301, 250, 1}, PETSC_FALSE, 0, 0, 0}, {"grouped, near", {59, 61, 43}, PETSC_TRUE, 0, 60, 0},
};

typedef struct {
  const char   *name;
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits; /* for BINS: the number of bins */
  PetscBool     nosums;
} Store;

static const Store stores[] = {
  {"auto", MATVCRS_LAYOUT_AUTO, MATVCRS_LOSS_NONE, 16, PETSC_FALSE},
  {"l3", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_NONE, 16, PETSC_FALSE},
  {"l1", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_NONE, 16, PETSC_FALSE},
  {"single", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_SINGLE, 16, PETSC_FALSE},
  {"fixed 16", MATVCRS_LAYOUT_L2, MATVCRS_LOSS_FIXED, 16, PETSC_FALSE},
  {"fixed 8", MATVCRS_LAYOUT_L2, MATVCRS_LOSS_FIXED, 8, PETSC_FALSE},
  {"log 16", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_LOG, 16, PETSC_FALSE},
  {"log 8", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_LOG, 8, PETSC_FALSE},
  {"l3 fixed 8", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_FIXED, 8, PETSC_FALSE},
  {"l3 log 16", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_LOG, 16, PETSC_FALSE},
  {"l3 fixed 16", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_FIXED, 16, PETSC_FALSE},
  {"l3 log 8", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_LOG, 8, PETSC_FALSE},
  {"l3 single", MATVCRS_LAYOUT_L3, MATVCRS_LOSS_SINGLE, 16, PETSC_FALSE},
  {"fixed 8, no row sums", MATVCRS_LAYOUT_L2, MATVCRS_LOSS_FIXED, 8, PETSC_TRUE},
  {"log 16, no row sums", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_LOG, 16, PETSC_TRUE},
  {"dict 8", MATVCRS_LAYOUT_L1, MATVCRS_LOSS_BINS, 15, PETSC_FALSE},
};

/* The number of additional entries in a very long row, and their columns */
#define FAR_ENTRIES 400

static PetscErrorCode AddFarEntries(Mat A, PetscInt row, PetscInt m)
{
  PetscInt    cols[FAR_ENTRIES];
  PetscScalar vals[FAR_ENTRIES];

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < FAR_ENTRIES; k++) {
    cols[k] = (PetscInt)((double)m * TestRandom(4, (uint64_t)row, (uint64_t)k));
    vals[k] = TestScalar(5, (uint64_t)row, (uint64_t)k);
  }
  PetscCall(MatSetValues(A, 1, &row, FAR_ENTRIES, cols, vals, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGrid(const Grid *g, Mat *A)
{
  const PetscInt nx = g->n[0], ny = g->n[1], nz = g->n[2], m = nx * ny * nz;
  PetscInt       start, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, m, m, 27, NULL, 27, NULL, A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(MatGetOwnershipRange(*A, &start, &end));
  for (PetscInt row = start; row < end; row++) {
    const PetscInt x = row % nx, y = row / nx % ny, z = row / nx / ny, medium = g->media > 1 ? (2 * x / nx + 3 * z / nz) % g->media : 0;
    PetscInt       cols[27], count = 0;
    PetscScalar    vals[27];

    for (PetscInt dz = -1; dz <= 1; dz++) {
      for (PetscInt dy = -1; dy <= 1; dy++) {
        for (PetscInt dx = -1; dx <= 1; dx++) {
          const PetscInt  point = 9 * dz + 3 * dy + dx + 13;
          PetscInt        to;
          PetscReal       re, im;
          const PetscBool self = (PetscBool)(point == 13);

          if (!g->box && PetscAbsInt(dx) + PetscAbsInt(dy) + PetscAbsInt(dz) > 1) continue;
          if (x + dx < 0 || x + dx >= nx || y + dy < 0 || y + dy >= ny || z + dz < 0 || z + dz >= nz) continue;
          to = row + (dz * ny + dy) * nx + dx;
          if (g->shuffled && !self) to = PetscMin(m - 1, PetscMax(0, to + (PetscInt)(g->shuffled * (TestRandom(1, (uint64_t)row, (uint64_t)point) - 0.5))));
          re            = TestRandom(2, (uint64_t)(g->media ? medium : row), (uint64_t)point);
          im            = TestRandom(3, (uint64_t)(g->media ? medium : row), (uint64_t)point);
          cols[count]   = to;
          vals[count++] = self ? PetscCMPLX(30 + re, 1 + im) : PetscCMPLX(-1 - re, im - 0.5);
        }
      }
    }
    PetscCall(MatSetValues(*A, 1, &row, count, cols, vals, ADD_VALUES));
    if (g->distance && row % g->distance == 5) PetscCall(AddFarEntries(*A, row, m));
  }
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Kernels of complex boxes round sums of 8-bit integers to about 2^-39 of the row's step. The step is at most 1/64 of
   the row's largest entry. The sum has three planes of nine products each, next to numbers of 2^13
*/
static PetscErrorCode AllowForIntegers(Mat C, Vec scale)
{
  PetscScalar *s;
  PetscInt     m;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(C, &m, NULL));
  PetscCall(VecGetArray(scale, &s));
  for (PetscInt row = 0; row < m; row++) {
    const PetscScalar *vals;
    PetscInt           n;
    PetscReal          most = 0;

    PetscCall(MatGetRow(C, row, &n, NULL, &vals));
    for (PetscInt k = 0; k < n; k++) most = PetscMax(most, PetscAbsScalar(vals[k]));
    s[row] += 1.5 * (PetscReal)n * most / 64 / 549755813888.;
    PetscCall(MatRestoreRow(C, row, &n, NULL, &vals));
  }
  PetscCall(VecRestoreArray(scale, &s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* y = A x for an x which begins in the middle of another vector, so x lacks the alignment which kernels prefer */
static PetscErrorCode CompareShifted(Mat A, Mat C, VecType type, const char where[], PetscInt *failures)
{
  Vec       all, x, xhost, y, yhost;
  IS        is;
  PetscInt  n;
  PetscReal norm, error;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, NULL, &n));
  PetscCall(VecCreate(PETSC_COMM_WORLD, &all));
  PetscCall(VecSetSizes(all, n + 1, PETSC_DETERMINE));
  PetscCall(VecSetType(all, type));
  PetscCall(VecSetRandom(all, NULL));
  PetscCall(ISCreateStride(PETSC_COMM_WORLD, n, 1, 1, &is));
  PetscCall(VecGetSubVector(all, is, &x));
  PetscCall(MatCreateVecs(C, &xhost, &yhost));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(VecCopy(x, xhost));
  PetscCall(MatMult(A, x, y));
  PetscCall(MatMult(C, xhost, yhost));
  PetscCall(VecNorm(yhost, NORM_INFINITY, &norm));
  PetscCall(VecAXPY(yhost, -1., y));
  PetscCall(VecNorm(yhost, NORM_INFINITY, &error));
  if (!(error <= 1000 * PETSC_MACHINE_EPSILON * norm)) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s, x in the middle of a vector: error %g\n", where, (double)error));
    (*failures)++;
  }
  PetscCall(VecRestoreSubVector(all, is, &x));
  PetscCall(ISDestroy(&is));
  PetscCall(VecDestroy(&all));
  PetscCall(VecDestroy(&xhost));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&yhost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode HasColumnsInOrder(Mat A, PetscBool *order)
{
  PetscInt m;

  PetscFunctionBeginUser;
  *order = PETSC_TRUE;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  for (PetscInt row = 0; row < m; row++) {
    const PetscInt *columns;
    PetscInt        n;

    PetscCall(MatGetRow(A, row, &n, &columns, NULL));
    for (PetscInt k = 1; k < n; k++) *order = (PetscBool)(*order && columns[k - 1] < columns[k]);
    PetscCall(MatRestoreRow(A, row, &n, &columns, NULL));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Compresses on the device, where a product reorders the entries of grouped columns. Reads the matrix back and compares
   it with C, which the host has made */
static PetscErrorCode CompareFromDevice(Mat B, const Store *store, Mat C, const char where[], PetscInt *failures)
{
  const char *names[] = {"-mat_vcrs_layout", "-mat_vcrs_loss", "-mat_vcrs_bits", "-mat_vcrs_drop_aij", "-mat_vcrs_allow_lossy_operator"};
  char        bits[8];
  const char *values[] = {MatVCRSLayouts[store->layout], MatVCRSLosses[store->loss], bits, "yes", "yes"};
  Mat         D, A, E;
  Vec         x, y;
  PetscBool   same, order;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(bits, sizeof(bits), "%" PetscInt_FMT, store->bits));
  PetscCall(MatConvert(B, MATSEQAIJCUSPARSE, MAT_INITIAL_MATRIX, &D));
  PetscCall(MatCreateVecs(D, &x, &y));
  PetscCall(VecSetRandom(x, NULL));
  PetscCall(MatMult(D, x, y)); /* MatMult() moves the matrix to the device */
  for (int o = 0; o < 5; o++) PetscCall(PetscOptionsSetValue(NULL, names[o], values[o]));
  PetscCall(MatConvert(D, MATVCRS, MAT_INITIAL_MATRIX, &A));
  for (int o = 0; o < 5; o++) PetscCall(PetscOptionsClearValue(NULL, names[o]));
  for (int p = 0; p < 2; p++) {
    PetscCall(MatMult(A, x, y));
    PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &E));
    PetscCall(MatEqual(E, C, &same));
    PetscCall(HasColumnsInOrder(E, &order));
    if (!same || !order) {
      PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s: compressed on the device it is %s\n", where, order ? "another matrix" : "not in the order of columns"));
      (*failures)++;
    }
    PetscCall(MatDestroy(&E));
  }
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&D));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A B for several columns at once against A times each column; the columns of B stand apart */
static PetscErrorCode CompareColumns(Mat A, VecType type, const char where[], PetscInt *failures)
{
  const PetscInt numbers[] = {2, 5, 11};
  PetscInt       m, M;

  PetscFunctionBeginUser;
  PetscCall(MatGetLocalSize(A, &m, NULL));
  PetscCall(MatGetSize(A, &M, NULL));
  for (size_t i = 0; i < PETSC_STATIC_ARRAY_LENGTH(numbers); i++) {
    Mat B, C;
    Vec b, c, y;

    PetscCall(MatCreateDenseFromVecType(PETSC_COMM_WORLD, type, m, PETSC_DECIDE, M, numbers[i], m + 5, NULL, &B));
    PetscCall(MatZeroEntries(B));
    PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
    for (PetscInt j = 0; j < numbers[i]; j++) {
      PetscReal norm;

      PetscCall(MatDenseGetColumnVecWrite(B, j, &b));
      PetscCall(TestFillVec(b, 7 * (int)j));
      PetscCall(VecNorm(b, NORM_2, &norm)); /* waits: columns share an array of the host, from which a device copies */
      PetscCall(MatDenseRestoreColumnVecWrite(B, j, &b));
    }
    PetscCall(MatMatMult(A, B, MAT_INITIAL_MATRIX, PETSC_DETERMINE, &C));
    for (PetscInt j = 0; j < numbers[i]; j++) {
      PetscReal norm, error;

      PetscCall(MatDenseGetColumnVecRead(B, j, &b));
      PetscCall(MatDenseGetColumnVecRead(C, j, &c));
      PetscCall(VecDuplicate(c, &y));
      PetscCall(MatMult(A, b, y));
      PetscCall(VecNorm(y, NORM_INFINITY, &norm));
      PetscCall(VecAXPY(y, -1., c));
      PetscCall(VecNorm(y, NORM_INFINITY, &error));
      PetscCall(VecDestroy(&y));
      PetscCall(MatDenseRestoreColumnVecRead(C, j, &c));
      PetscCall(MatDenseRestoreColumnVecRead(B, j, &b));
      if (!(error <= 100 * PETSC_MACHINE_EPSILON * norm)) {
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL %s, column %" PetscInt_FMT " of %" PetscInt_FMT " at once: error %g of %g\n", where, j, numbers[i],
                              (double)error, (double)norm));
        (*failures)++;
      }
    }
    PetscCall(MatDestroy(&C));
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[64] = VECSTANDARD;
  PetscBool cuda;
  PetscInt  count = 0, grouped = 0, every = 1, first = 0, k = 0;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-every", &every, NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-first", &first, NULL));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-x_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, VECCUDA, &cuda));
  for (size_t g = 0; g < PETSC_STATIC_ARRAY_LENGTH(grids); g++) {
    Mat B;

    PetscCall(CreateGrid(&grids[g], &B));
    for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(stores); s++) {
      const PetscBool lossy = (PetscBool)(stores[s].loss != MATVCRS_LOSS_NONE);
      Mat             A, C;
      TestProducts    t;
      MatVCRSInfo     info;
      char            where[64];

      /* an unstructured matrix has no index sets; with few different rows there is nothing to choose */
      if (grids[g].shuffled && s && stores[s].layout != MATVCRS_LAYOUT_L3) continue;
      if (grids[g].media && s > 1) continue;
      if (k++ % every != first) continue;
      PetscCall(MatConvert(B, MATVCRS, MAT_INITIAL_MATRIX, &A));
      PetscCall(MatVCRSSetAllowLossyOperator(A, PETSC_TRUE));
      PetscCall(MatVCRSSetLayout(A, stores[s].layout));
      PetscCall(MatVCRSSetLoss(A, stores[s].loss));
      if (stores[s].loss == MATVCRS_LOSS_BINS) PetscCall(MatVCRSSetBins(A, stores[s].bits));
      else PetscCall(MatVCRSSetBits(A, stores[s].bits));
      if (stores[s].nosums) PetscCall(MatVCRSSetPreserveRowSums(A, PETSC_FALSE));

      /* without the AIJ arrays, products and conversions use the stored entries */
      PetscCall(MatVCRSDropAIJ(A));
      PetscCall(MatVCRSGetInfo(A, &info));
      if (info.grouped) grouped++;
      PetscCall(MatConvert(A, MATAIJ, MAT_INITIAL_MATRIX, &C));
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s", grids[g].name, stores[s].name));
      PetscCall(TestProductsCreate(C, lossy, &t));
      if (PetscDefined(USE_COMPLEX) && cuda && stores[s].loss == MATVCRS_LOSS_FIXED && stores[s].bits == 8) PetscCall(AllowForIntegers(C, t.scale[0]));
      PetscCall(TestCompareProducts(A, &t, where, &failures));
      PetscCall(TestProductsDestroy(&t));
      if (!lossy) PetscCall(CompareColumns(A, type, where, &failures));
      if (grids[g].shuffled || !grids[g].box) PetscCall(CompareShifted(A, C, type, where, &failures));
      if (info.grouped && cuda) PetscCall(CompareFromDevice(B, &stores[s], C, where, &failures));
      PetscCall(MatDestroy(&C));
      PetscCall(MatDestroy(&A));
      count++;
    }
    PetscCall(MatDestroy(&B));
  }
  if (!grouped) {
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "FAIL no matrix has grouped columns\n"));
    failures++;
  }
  return TestReport("%" PetscInt_FMT " large matrices: all products agree\n", count);
}

/*TEST

  # -every 5: one of each is enough for the host loops, which do not differ by size; -every 3 -first k: all, a third at a time
  test:
    args: -every 5

  test:
    suffix: cuda
    requires: cuda
    args: -x_vec_type cuda -y_vec_type cuda -z_vec_type cuda -every 3 -first {{0 1 2}}

TEST*/
