/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MatVCRSSubstitute(): triangles of every shape in every layout and container; -vec_type cuda on a device, against the host.\n\n";

#include <lithe/private/vcrs/mat.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>

/* Products of nearly as many roundings as a row has entries, in any order */
#define TINY ((PetscReal)1e4 * PETSC_MACHINE_EPSILON)

/* A grid and the dependences of its rows: differences up to "reach" in each direction, whose sum is at most "sum" */
typedef struct {
  const char *name;
  PetscInt    size[3], reach, sum;
} Grid;

static const Grid grids[] = {
  {"chain", {3000, 1, 1}, 1, 1},
  {"chain of two", {515, 1, 1}, 2, 2},
  {"5 points", {70, 45, 1}, 1, 1},
  {"9 points", {33, 70, 1}, 1, 2},
  {"7 points", {17, 19, 13}, 1, 1},
  {"7 points, one line a plane", {40, 1, 30}, 1, 1},
  {"7 points, few lines", {40, 4, 30}, 1, 1},
  {"7 points, small", {4, 4, 4}, 1, 1},
  {"7 points, tile by tile", {32, 16, 8}, 1, 1},
  {"19 points", {12, 21, 11}, 1, 2},
  {"27 points", {19, 17, 10}, 1, 3},
  {"27 points, flat", {9, 50, 2}, 1, 3},
  {"13 points", {13, 14, 15}, 2, 2},
  {"five planes", {6, 5, 200}, 1, 1},
};

/* Triangles of other kinds */
static const TestKind kinds[] = {TEST_STAR5,    TEST_BOX27, TEST_RESERVOIR, TEST_FEM,         TEST_RANDOM, TEST_INTEGERS, TEST_FEWVALUES, TEST_MANYVALUES,
                                 TEST_LONGROWS, TEST_DENSE, TEST_NEUMANN,   TEST_STOREDZEROS, TEST_BLOCKS, TEST_ZERO,     TEST_NONE};

typedef enum {
  OTHER_WRAPPED, /* 7 points, and from the end of each line to the beginning of the next: no grid */
  OTHER_ARROW,   /* a last row of all, which has to wait for a chain */
  OTHER_WIDE,    /* many rows, unstructured */
  OTHER_FULL,    /* fewer rows with more entries: plain rows, with columns of two bytes */
  OTHERS
} Other;
static const char *const OtherNames[OTHERS] = {"wrapped", "arrow", "wide", "full"};

/* The rows of a strict triangle, scaled so that solutions stay bounded */
static PetscErrorCode SetRow(Mat T, PetscInt row, PetscInt n, const PetscInt cols[], PetscScalar vals[])
{
  PetscReal sum = 0.0;

  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) sum += PetscAbsScalar(vals[k]);
  for (PetscInt k = 0; k < n; k++) vals[k] *= sum > 0.0 ? (PetscReal)0.9 / sum : 0.0;
  PetscCall(MatSetValues(T, 1, &row, n, cols, vals, INSERT_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Begin(PetscInt n, PetscInt width, Mat *T)
{
  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, width, NULL, T));
  PetscCall(MatSetOption(*T, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode End(Mat T)
{
  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(T, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(T, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateGridTriangle(const Grid *g, PetscBool upper, PetscBool constant, Mat *T)
{
  const PetscInt *s = g->size, n = s[0] * s[1] * s[2];

  PetscFunctionBeginUser;
  PetscCall(Begin(n, 32, T));
  for (PetscInt row = 0; row < n; row++) {
    const PetscInt at[3] = {row % s[0], row / s[0] % s[1], row / (s[0] * s[1])};
    PetscInt       cols[128], len = 0;
    PetscScalar    vals[128];

    for (PetscInt dk = -g->reach; dk <= g->reach; dk++) {
      for (PetscInt dj = -g->reach; dj <= g->reach; dj++) {
        for (PetscInt di = -g->reach; di <= g->reach; di++) {
          const PetscInt col = row + di + s[0] * (dj + s[1] * dk);

          if (PetscAbsInt(di) + PetscAbsInt(dj) + PetscAbsInt(dk) > g->sum || at[0] + di < 0 || at[0] + di >= s[0] || at[1] + dj < 0 || at[1] + dj >= s[1] ||
              at[2] + dk < 0 || at[2] + dk >= s[2])
            continue;
          if (upper ? col <= row : col >= row) continue;
          cols[len]   = col;
          vals[len++] = constant ? (PetscScalar)(1.0 + PetscAbsInt(di)) : TestScalar(50, (uint64_t)row, (uint64_t)col);
        }
      }
    }
    PetscCall(SetRow(*T, row, len, cols, vals));
  }
  PetscCall(End(*T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateKindTriangle(TestKind kind, PetscBool upper, Mat *T)
{
  PetscInt     n, *cols, all;
  PetscScalar *vals;

  PetscFunctionBeginUser;
  TestKindSize(kind, &n, &n);
  PetscCall(PetscMalloc2(TEST_LONGEST, &cols, TEST_LONGEST, &vals));
  PetscCall(Begin(n, 32, T));
  for (PetscInt row = 0; row < n; row++) {
    PetscInt len = 0;

    TestKindRow(kind, row, 0, &all, cols, vals);
    for (PetscInt k = 0; k < all; k++) {
      if (upper ? cols[k] <= row : cols[k] >= row) continue;
      cols[len]   = cols[k];
      vals[len++] = vals[k];
    }
    PetscCall(SetRow(*T, row, len, cols, vals));
  }
  PetscCall(PetscFree2(cols, vals));
  PetscCall(End(*T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Describes a lower triangle; an upper triangle numbers rows and columns from the end */
static PetscErrorCode CreateOtherTriangle(Other kind, PetscBool upper, Mat *T)
{
  const PetscInt n = kind == OTHER_WIDE ? 140000 : (kind == OTHER_FULL ? 18000 : 10 * 12 * 14);
  PetscInt      *cols;
  PetscScalar   *vals;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc2(n, &cols, n, &vals));
  PetscCall(Begin(n, 8, T));
  for (PetscInt p = 0; p < n; p++) {
    PetscInt len = 0;

    if (kind == OTHER_WRAPPED) {
      for (PetscInt d = 1; d <= 120; d *= d == 1 ? 10 : 12) {
        if (p >= d) cols[len++] = p - d;
      }
    } else if (kind == OTHER_ARROW) {
      if (p > 0 && p < n - 1 && p % 5) cols[len++] = p - 1;
      for (PetscInt k = 0; p == n - 1 && k < n - 1; k++) cols[len++] = k;
    } else {
      for (PetscInt k = 0; k < (kind == OTHER_WIDE ? 6 : 18); k++) {
        const PetscInt col = p - 1 - (PetscInt)(3000.0 * TestRandom(60, (uint64_t)p, (uint64_t)k));

        if (col >= 0) cols[len++] = col;
      }
    }
    for (PetscInt k = 0; k < len; k++) {
      vals[k] = TestScalar(61, (uint64_t)p, (uint64_t)k);
      if (upper) cols[k] = n - 1 - cols[k];
    }
    PetscCall(SetRow(*T, upper ? n - 1 - p : p, len, cols, vals));
  }
  PetscCall(PetscFree2(cols, vals));
  PetscCall(End(*T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ what is tested */

/* Largest |a - b| over the largest |b|; 0 too if both have the same bits */
static PetscErrorCode LargestDifference(Vec a, Vec b, PetscBool *same, PetscReal *difference)
{
  const PetscScalar *pa, *pb;
  PetscReal          largest = 0.0, norm = 0.0;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(VecGetLocalSize(a, &n));
  PetscCall(VecGetArrayRead(a, &pa));
  PetscCall(VecGetArrayRead(b, &pb));
  *same = (PetscBool)!memcmp(pa, pb, (size_t)n * sizeof(*pa));
  for (PetscInt k = 0; k < n; k++) {
    const PetscReal d = PetscAbsScalar(pa[k] - pb[k]);

    if (!(d <= largest)) largest = d;
    norm = PetscMax(norm, PetscAbsScalar(pb[k]));
  }
  PetscCall(VecRestoreArrayRead(a, &pa));
  PetscCall(VecRestoreArrayRead(b, &pb));
  *difference = norm > 0.0 ? largest / norm : largest;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Checks || b + op(T) x - x || by a product on the host, || x_device - x_host ||, and the same bits from a second
   solve */
static PetscErrorCode TestSolve(Mat T, PetscBool upper, PetscBool transpose, const char where[])
{
  Vec       b, x, again, hostb, hostx, r;
  PetscBool same;
  PetscReal difference;

  PetscFunctionBeginUser;
  PetscCall(TestCreateVec(T, PETSC_TRUE, NULL, 7, &b));
  PetscCall(VecDuplicate(b, &x));
  PetscCall(VecDuplicate(b, &again));
  PetscCall(TestCreateVec(T, PETSC_TRUE, "reference_", 7, &hostb));
  PetscCall(VecDuplicate(hostb, &hostx));
  PetscCall(VecDuplicate(hostb, &r));
  PetscCall(MatVCRSSubstitute(T, upper, transpose, b, x));
  PetscCall(MatVCRSSubstitute(T, upper, transpose, b, again));
  PetscCall(LargestDifference(again, x, &same, &difference));
  if (WRONG(!same)) FAIL("%s%s: the second solution is another one by %g", where, transpose ? ", transposed" : "", (double)difference);
  PetscCall(MatVCRSSubstitute(T, upper, transpose, hostb, hostx));
  PetscCall(LargestDifference(x, hostx, &same, &difference));
  if (WRONG(!(difference <= TINY))) FAIL("%s%s: device and host are %g apart", where, transpose ? ", transposed" : "", (double)difference);
  PetscCall(VecCopy(x, hostx));
  if (transpose) PetscCall(MatMultTransposeAdd(T, hostx, hostb, r));
  else PetscCall(MatMultAdd(T, hostx, hostb, r));
  PetscCall(LargestDifference(r, hostx, &same, &difference));
  if (WRONG(!(difference <= TINY))) FAIL("%s%s: the residual is %g", where, transpose ? ", transposed" : "", (double)difference);
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&again));
  PetscCall(VecDestroy(&hostb));
  PetscCall(VecDestroy(&hostx));
  PetscCall(VecDestroy(&r));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A way to store a triangle */
typedef struct {
  MatVCRSLayout layout;
  MatVCRSLoss   loss;
  PetscInt      bits;
  PetscBool     rowsums;
} Store;

/* clang-format off */
static const Store stores[] = {
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_LITERAL, MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L0,      MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L1,      MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L2,      MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_NONE,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_SINGLE,  16, PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     8,  PETSC_FALSE},
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     16, PETSC_FALSE},
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   8,  PETSC_FALSE},
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   16, PETSC_FALSE},
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     8,  PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_LOG,     16, PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   8,  PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_FIXED,   16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L0,      MATVCRS_LOSS_CLASSES, 16, PETSC_TRUE },
  {MATVCRS_LAYOUT_AUTO,    MATVCRS_LOSS_BINS,    16, PETSC_TRUE },
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_BINS,    16, PETSC_FALSE},
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_LOG,     8,  PETSC_TRUE },
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_LOG,     16, PETSC_FALSE},
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_FIXED,   8,  PETSC_FALSE},
  {MATVCRS_LAYOUT_L3,      MATVCRS_LOSS_FIXED,   16, PETSC_TRUE },
};
/* clang-format on */

/* If a layout cannot hold the matrix, the error is returned and not printed */
static PetscErrorCode StoreAs(Mat B, const Store *store, MatVCRSInfo *info)
{
  PetscErrorCode ierr;

  PetscCall(PetscPushErrorHandler(PetscReturnErrorHandler, NULL));
  ierr = MatVCRSSetLayout(B, store->layout);
  if (!ierr) ierr = MatVCRSSetBits(B, store->bits);
  if (!ierr) ierr = MatVCRSSetPreserveRowSums(B, store->rowsums);
  if (!ierr) ierr = MatVCRSSetLoss(B, store->loss);
  if (!ierr) ierr = MatVCRSGetInfo(B, info);
  PetscCall(PetscPopErrorHandler());
  return ierr;
}

static PetscErrorCode TestTriangle(Mat T, PetscBool upper, const char name[], PetscInt *count)
{
  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(stores); s++) {
    char        where[256];
    MatVCRSInfo info;
    Mat         B;

    PetscCall(MatConvert(T, MATVCRS, MAT_INITIAL_MATRIX, &B));
    PetscCall(MatVCRSSetAllowLossyOperator(B, PETSC_TRUE));
    if (!StoreAs(B, &stores[s], &info)) {
      PetscCall(PetscSNPrintf(where, sizeof(where), "%s, %s, layout %s, values %s%s", name, upper ? "upper" : "lower", MatVCRSLayouts[info.layout], info.values,
                              info.difference ? ", difference form" : ""));
      /* a product on the host may change how the triangle is stored */
      if (s == 0) {
        Vec x, y;

        PetscCall(TestCreateVec(B, PETSC_TRUE, "reference_", 8, &x));
        PetscCall(VecDuplicate(x, &y));
        PetscCall(MatMult(B, x, y));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&y));
      }
      PetscCall(TestSolve(B, upper, PETSC_FALSE, where));
      PetscCall(TestSolve(B, upper, PETSC_TRUE, where));
      /* anything prepared for the old values must be discarded */
      if (s == 0) {
        PetscCall(MatScale(B, 0.5));
        PetscCall(TestSolve(B, upper, PETSC_FALSE, where));
        PetscCall(TestSolve(B, upper, PETSC_TRUE, where));
      }
      (*count)++;
    }
    PetscCall(MatDestroy(&B));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NaN and Inf lead to NaN or Inf, whichever it is, and no row waits for ever */
static PetscErrorCode TestNoNumber(Mat T)
{
  PetscScalar       *a;
  const PetscScalar *x;
  Mat                B;
  Vec                b, y;
  PetscInt           n;

  PetscFunctionBeginUser;
  PetscCall(MatConvert(T, MATVCRS, MAT_INITIAL_MATRIX, &B));
  PetscCall(TestCreateVec(B, PETSC_TRUE, NULL, 7, &b));
  PetscCall(VecDuplicate(b, &y));
  PetscCall(VecGetLocalSize(b, &n));
  PetscCall(VecGetArray(b, &a));
  memset(&a[0], 0xff, sizeof(a[0]));
  PetscCall(VecRestoreArray(b, &a));
  PetscCall(MatVCRSSubstitute(B, PETSC_FALSE, PETSC_FALSE, b, y));
  PetscCall(VecGetArrayRead(y, &x));
  if (WRONG(!PetscIsNanScalar(x[0]) || !PetscIsNanScalar(x[n - 1])))
    FAIL("%g and %g from what is no number", (double)PetscAbsScalar(x[0]), (double)PetscAbsScalar(x[n - 1]));
  PetscCall(VecRestoreArrayRead(y, &x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt count = 0;
  Mat      T;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  for (int u = 0; u < 2; u++) {
    const PetscBool upper = u ? PETSC_TRUE : PETSC_FALSE;

    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(grids); k++) {
      for (int constant = 0; constant < 2; constant++) {
        PetscCall(CreateGridTriangle(&grids[k], upper, (PetscBool)constant, &T));
        PetscCall(TestTriangle(T, upper, grids[k].name, &count));
        if (!upper && !constant) PetscCall(TestNoNumber(T));
        PetscCall(MatDestroy(&T));
      }
    }
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(kinds); k++) {
      PetscCall(CreateKindTriangle(kinds[k], upper, &T));
      PetscCall(TestTriangle(T, upper, TestKindNames[kinds[k]], &count));
      PetscCall(MatDestroy(&T));
    }
    for (int kind = 0; kind < OTHERS; kind++) {
      PetscCall(CreateOtherTriangle((Other)kind, upper, &T));
      PetscCall(TestTriangle(T, upper, OtherNames[kind], &count));
      PetscCall(MatDestroy(&T));
    }
  }
  return TestEnd(9300, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out

  test:
    suffix: cuda
    requires: cuda
    args: -vec_type cuda
    output_file: output/right.out

  # by levels what are tiles of a grid else
  test:
    suffix: levels
    requires: cuda
    args: -vec_type cuda -mat_vcrs_substitution_grids 0
    output_file: output/right.out

TEST*/
