/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG: levels set up in the matrix's memory have the bits of levels which the host sets up from a MATSEQAIJ.\n\
  -there_mat_type <type> - the type of the matrix\n\
  -compressed             - a MATVCRS made from the matrix\n\
  -times <n>              - random problems\n\n";

#include "gridmgtest.h"
#include <lithe/private/gridmg/levels.h>

static MatType   type       = MATSEQAIJ;
static PetscBool compressed = PETSC_FALSE;

static const char *const arrays[] = {"up0", "up1", "up2", "down0", "down1", "down2", "table", "sigma", "dinv", "alive", "row", "i", "j", "t"};

/* ------------------------------------------------------------ comparison */

/* The view of a preconditioner, without the place of its data */
static PetscErrorCode GetView(PC pc, char text[], size_t size)
{
  static const char *const others[] = {"Object", "type:", "rows=", "total:", "on a device", "I-node", "nodes", "mallocs", "bytes"};
  char                     line[1024];
  PetscViewer              viewer;
  FILE                    *file;

  PetscFunctionBeginUser;
  text[0] = 0;
  PetscCheck((file = tmpfile()), PETSC_COMM_SELF, PETSC_ERR_FILE_OPEN, "No file for the view");
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_SELF, file, &viewer));
  PetscCall(PCView(pc, viewer));
  PetscCall(PetscViewerFlush(viewer));
  rewind(file);
  while (fgets(line, sizeof(line), file)) {
    PetscBool other = PETSC_FALSE;
    char     *end;

    /* the view of the matrix is PETSc's */
    PetscCall(PetscStrstr(line, "linear system matrix", &end));
    if (end) break;
    for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(others) && !other; k++) {
      char *found;

      PetscCall(PetscStrstr(line, others[k], &found));
      other = (PetscBool)(found != NULL);
    }
    if (!other) PetscCall(PetscStrlcat(text, line, size));
  }
  PetscCall(PetscViewerDestroy(&viewer));
  (void)fclose(file);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CompareLevels(const char what[], const char options[], PC one, PC other)
{
  PetscInt       levels[2];
  Mat           *P[2];
  char           text[2][16384];
  PCFailedReason reason[2];
  PetscBool      same;

  PetscFunctionBeginUser;
  PetscCall(PCGetFailedReason(one, &reason[0]));
  PetscCall(PCGetFailedReason(other, &reason[1]));
  for (int k = 0; k < 2; k++) PetscCall(GetView(k ? other : one, text[k], sizeof(text[k])));
  PetscCall(PetscStrcmp(text[0], text[1], &same));
  if (WRONG(!same)) FAIL("%s, %s: the views differ:\n%s---\n%s", what, options, text[0], text[1]);
  if (WRONG(reason[0] != reason[1])) FAIL("%s, %s: one fails and the other does not", what, options);
  if (reason[0] || reason[1] || !same) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGetInterpolations(one, &levels[0], &P[0]));
  PetscCall(PCGetInterpolations(other, &levels[1], &P[1]));
  if (WRONG(levels[0] != levels[1])) FAIL("%s, %s: %d and %d levels", what, options, (int)levels[0], (int)levels[1]);
  for (PetscInt k = 0; k < PetscMin(levels[0], levels[1]); k++) {
    for (size_t a = 0; a < PETSC_STATIC_ARRAY_LENGTH(arrays); a++) {
      size_t bytes[2];
      char  *array[2];

      PetscCall(PCGridMGGetArray_Private(one, k, arrays[a], &bytes[0], (void **)&array[0]));
      PetscCall(PCGridMGGetArray_Private(other, k, arrays[a], &bytes[1], (void **)&array[1]));
      if (WRONG(bytes[0] != bytes[1])) FAIL("%s, %s: level %d, %s: %d and %d bytes", what, options, (int)k, arrays[a], (int)bytes[0], (int)bytes[1]);
      else {
        size_t at = 0, differ = 0;

        for (size_t b = bytes[0]; b > 0; b--) {
          if (array[0][b - 1] == array[1][b - 1]) continue;
          at = b - 1;
          differ++;
        }
        if (WRONG(differ > 0))
          FAIL("%s, %s: level %d, %s: %d of %d bytes differ, the first one is byte %d: %d and %d", what, options, (int)k, arrays[a], (int)differ, (int)bytes[0],
               (int)at, (int)array[0][at], (int)array[1][at]);
      }
      for (int l = 0; l < 2; l++) PetscCall(PetscFree(array[l]));
    }
  }
  for (int l = 0; l < 2; l++) {
    for (PetscInt k = 0; k < levels[l] - 1; k++) PetscCall(MatDestroy(&P[l][k]));
    PetscCall(PetscFree(P[l]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A singular A makes the preconditioner fail without an error */
static PetscErrorCode CreateGridPCThatMayFail(Mat A, const char options[], PC *pc)
{
  PetscOptions database;

  PetscFunctionBeginUser;
  PetscCall(PushOptions(options, NULL, &database));
  PetscCall(PCCreate(PETSC_COMM_SELF, pc));
  PetscCall(PCSetOperators(*pc, A, A));
  PetscCall(PCSetOptionsPrefix(*pc, "t_"));
  PetscCall(PCSetErrorIfFailure(*pc, PETSC_FALSE));
  PetscCall(PCSetFromOptions(*pc));
  PetscCall(PCSetUp(*pc));
  PetscCall(PopOptions(&database));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The matrix in the requested type; a compressed matrix is made from entries on a device */
static PetscErrorCode CreateThere(Mat A, Mat *B)
{
  Mat exact;
  Vec x, y;

  PetscFunctionBeginUser;
  if (!compressed) {
    PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, B));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(MatConvert(A, type, MAT_INITIAL_MATRIX, &exact));
  PetscCall(MatCreateVecs(exact, &x, &y));
  PetscCall(VecSet(x, 1.0));
  PetscCall(MatMult(exact, x, y));
  PetscCall(MatConvert(exact, MATVCRS, MAT_INITIAL_MATRIX, B));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&exact));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* by default a device has more unknowns on the coarsest level */
#define SAME "-@pc_type gridmg -@pc_gridmg_coarse_size 300"

/* A on the host and in the requested place; then the same with other values */
static PetscErrorCode TestMatrix(const char what[], Mat A, const PetscInt n[3], const char options[], PetscErrorCode (*change)(Mat, PetscInt))
{
  char all[512];
  Mat  B;
  PC   one, other;

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), SAME " %s", options));
  if (n) PetscCall(PetscSNPrintf(all, sizeof(all), SAME " -@pc_gridmg_grid %d,%d,%d %s", (int)n[0], (int)n[1], (int)n[2], options));
  PetscCall(CreateThere(A, &B));
  PetscCall(CreateGridPCThatMayFail(A, all, &one));
  PetscCall(CreateGridPCThatMayFail(B, all, &other));
  PetscCall(CompareLevels(what, options, one, other));
  for (PetscInt round = 1; round < 4 && change && !compressed; round++) {
    char text[128];

    PetscCall(PetscSNPrintf(text, sizeof(text), "%s, round %d", what, (int)round));
    PetscCall((*change)(A, round));
    PetscCall(MatCopy(A, B, SAME_NONZERO_PATTERN));
    PetscCall(PCSetUp(one));
    PetscCall(PCSetUp(other));
    PetscCall(CompareLevels(text, options, one, other));
  }
  PetscCall(PCDestroy(&one));
  PetscCall(PCDestroy(&other));
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ matrices */

static const char *const variants[] = {"-@pc_gridmg_coarse_size 3",
                                       "-@pc_gridmg_coarse_size 3 -@pc_gridmg_coarsen semi",
                                       "-@pc_gridmg_coarse_size 10 -@pc_gridmg_coarsen full -@pc_gridmg_bits 16",
                                       "-@pc_gridmg_coarse_size 5 -@pc_gridmg_bits 32 -@pc_gridmg_precision double",
                                       "-@pc_gridmg_coarse_size 3 -@pc_gridmg_precision double -@pc_gridmg_coarsen semi",
                                       "-@pc_gridmg_coarse_size 8 -@pc_gridmg_bits 16 -@pc_gridmg_precision double",
                                       "-@pc_gridmg_levels 2 -@pc_gridmg_bits 32"};

static PetscErrorCode Scale(Mat A, PetscInt round)
{
  static const PetscReal factor[] = {1, 3, -1, (PetscReal)1e-7};

  PetscFunctionBeginUser;
  PetscCall(MatScale(A, (PetscScalar)factor[round % 4]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Widely different scales, so entries must be read again */
static PetscErrorCode ScaleFar(Mat A, PetscInt round)
{
  PetscFunctionBeginUser;
  PetscCall(MatScale(A, (PetscScalar)(round % 2 ? 1e200 : 1e-220)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestRandomProblems(PetscInt times)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < times; k++) {
    GridProblem p = RandomGrid(k);
    char        name[64];
    Mat         A;

    if (k % 8 == 6) p.before = 3;
    for (int d = 0; d < 3; d++) p.n[d] = 1 + (PetscInt)((k % 10 == 9 ? 30 : 9) * TestRandom((uint64_t)k, (uint64_t)d, 11));
    PetscCall(PetscSNPrintf(name, sizeof(name), "random %d, %d x %d x %d", (int)k, (int)p.n[0], (int)p.n[1], (int)p.n[2]));
    PetscCall(CreateGridMatrix(&p, 0, &A));
    PetscCall(TestMatrix(name, A, p.n, variants[k % (PetscInt)PETSC_STATIC_ARRAY_LENGTH(variants)], k % 2 ? Scale : NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const GridProblem larger[] =
  {{.name = "reservoir", .n = {41, 30, 17}, .faces = FACES_JUMPS, .sigma = (PetscReal)1e-3, .strength = {1, 1, 30}},
   {.name = "reservoir and wells", .n = {41, 30, 17}, .faces = FACES_JUMPS, .sigma = (PetscReal)1e-3, .after = 5},
   {.name = "wells before the cells", .n = {33, 32, 9}, .faces = FACES_DECADES, .sigma = 1, .before = 4},
   {.name = "inactive cells, faults, wells", .n = {25, 31, 20}, .faces = FACES_RANDOM, .sigma = 50, .holes = 4, .faults = 300, .after = 3},
   {.name = "wind", .n = {30, 29, 14}, .faces = FACES_RANDOM, .sigma = 1, .wind = 5, .after = 2, .holes = 9, .faults = 40},
   {.name = "plane", .n = {130, 77, 1}, .faces = FACES_JUMPS, .sigma = 1, .faults = 20},
   {.name = "line", .n = {1, 1, 3000}, .faces = FACES_RANDOM, .sigma = 1, .after = 1},
   {.name = "Neumann", .n = {20, 20, 20}, .faces = FACES_LAYERS, .strength = {100, 1, 1}}};

static PetscErrorCode TestLarger(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(larger); k++) {
    const GridProblem *p = &larger[k];
    Mat                A;

    PetscCall(CreateGridMatrix(p, 0, &A));
    for (int v = 0; v < 3; v++) PetscCall(TestMatrix(p->name, A, p->n, v ? variants[v] : "", v == 1 ? Scale : NULL));
    /* the grid is found, too */
    if (p->n[0] >= 4 && p->n[1] >= 4 && p->n[2] >= 4) PetscCall(TestMatrix(p->name, A, NULL, "-@pc_gridmg_cycle v", NULL));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ unusual rows */

/* The same matrix with entries in any order, some split into two parts, explicit zeros, and no zero diagonal entries */
static PetscErrorCode CreateShuffled(Mat A, Mat *B)
{
  PetscInt     m, nz = 0, *i, *j;
  PetscScalar *a;
  MatInfo      info;

  PetscFunctionBeginUser;
  PetscCall(MatGetSize(A, &m, NULL));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(PetscMalloc3(m + 1, &i, (PetscInt)(3 * info.nz_used) + m, &j, (PetscInt)(3 * info.nz_used) + m, &a));
  i[0] = 0;
  for (PetscInt row = 0; row < m; row++) {
    const PetscInt    *column;
    const PetscScalar *value;
    PetscInt           n;

    PetscCall(MatGetRow(A, row, &n, &column, &value));
    for (PetscInt e = 0; e < n; e++) {
      if (column[e] == row && value[e] == (PetscScalar)0.) continue;
      j[nz]   = column[e];
      a[nz++] = value[e];
      if ((row + e) % 7 == 0) { /* two parts */
        j[nz]     = column[e];
        a[nz]     = a[nz - 1] * (PetscReal)0.25;
        a[nz - 1] = a[nz - 1] - a[nz];
        nz++;
      }
    }
    if (row % 5 == 0) {
      j[nz]   = (row * 7) % m;
      a[nz++] = 0.;
    }
    PetscCall(MatRestoreRow(A, row, &n, &column, &value));
    i[row + 1] = nz;
    for (PetscInt e = nz - 1; e > i[row]; e--) {
      const PetscInt    other = i[row] + (PetscInt)(TestRandom((uint64_t)row, (uint64_t)e, 8) * (double)(e - i[row] + 1)), column_ = j[other];
      const PetscScalar value_ = a[other];

      j[other] = j[e];
      a[other] = a[e];
      j[e]     = column_;
      a[e]     = value_;
    }
  }
  {
    Mat C;

    PetscCall(MatCreateSeqAIJWithArrays(PETSC_COMM_SELF, m, m, i, j, a, &C));
    PetscCall(MatDuplicate(C, MAT_COPY_VALUES, B));
    PetscCall(MatDestroy(&C));
  }
  PetscCall(PetscFree3(i, j, a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestUnusual(void)
{
  static const GridProblem p = {.n = {12, 9, 7}, .faces = FACES_RANDOM, .sigma = 1, .holes = 6, .after = 2, .faults = 5};
  static const GridProblem q = {.n = {12, 9, 7}, .faces = FACES_RANDOM, .holes = 3};
  Mat                      A, B;

  PetscFunctionBeginUser;
  for (int k = 0; k < 2; k++) {
    const GridProblem *problem = k ? &q : &p;

    PetscCall(CreateGridMatrix(problem, 0, &A));
    PetscCall(CreateShuffled(A, &B));
    for (int v = 0; v < 4; v++) PetscCall(TestMatrix(k ? "shuffled rows, cells without entries" : "shuffled rows", B, problem->n, variants[v], NULL));
    PetscCall(MatDestroy(&B));

    /* a few entries of the wrong sign, of faces and of wells */
    for (PetscInt f = 0; f < 6; f++) {
      const PetscInt c = 37 * f + 20;

      PetscCall(MatSetValue(A, c, c + 1, 5., ADD_VALUES));
      if (f % 2) PetscCall(MatSetValue(A, c + 1, c, 5., ADD_VALUES));
      PetscCall(MatSetValue(A, c, c, 7., ADD_VALUES));
    }
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    for (int v = 0; v < 3; v++) PetscCall(TestMatrix("wrong signs", A, problem->n, variants[v], Scale));
    PetscCall(MatDestroy(&A));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ numbers */

static PetscErrorCode TestNumbers(void)
{
  static const PetscReal   scales[] = {(PetscReal)1e-300, (PetscReal)1e-270, (PetscReal)1e-30, (PetscReal)1e30, (PetscReal)1e270, (PetscReal)1e300};
  static const GridProblem p        = {.n = {11, 8, 9}, .faces = FACES_DECADES, .sigma = (PetscReal)1e-3, .after = 2};
  Mat                      A;

  PetscFunctionBeginUser;
  for (size_t s = 0; s < PETSC_STATIC_ARRAY_LENGTH(scales) && sizeof(PetscReal) == 8; s++) {
    char name[64];

    PetscCall(CreateGridMatrix(&p, 0, &A));
    PetscCall(MatScale(A, (PetscScalar)scales[s]));
    PetscCall(PetscSNPrintf(name, sizeof(name), "times %g", (double)scales[s]));
    PetscCall(TestMatrix(name, A, p.n, variants[s % 4], NULL));
    PetscCall(MatDestroy(&A));
  }
  if (sizeof(PetscReal) == 8) {
    PetscCall(CreateGridMatrix(&p, 0, &A));
    PetscCall(TestMatrix("scales far from one another", A, p.n, variants[0], ScaleFar));
    PetscCall(MatDestroy(&A));
  }

  /* no numbers: in rows of cells, of wells, and in several */
  for (PetscInt k = 0; k < 6; k++) {
    const GridProblem q = {.n = {11, 8, 9}, .faces = FACES_RANDOM, .sigma = 1, .after = k % 2 ? 2 : 0, .before = k % 3 == 2 ? 3 : 0};
    const PetscInt    n = GridRows(&q), rows[] = {100 + k, n - 1, 0, 7 * k, 500, n / 2};
    const PetscReal   zero = 0, infinity = 1 / zero, values[] = {infinity, -infinity, infinity - infinity};
    char              name[64];

    PetscCall(CreateGridMatrix(&q, 0, &A));
    for (PetscInt r = 0; r <= k % 3; r++) PetscCall(MatSetValue(A, rows[(k + r) % 6], rows[(k + r) % 6], (PetscScalar)values[(k + r) % 3], INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PetscSNPrintf(name, sizeof(name), "no number %d", (int)k));
    PetscCall(TestMatrix(name, A, q.n, "", NULL));
    PetscCall(MatDestroy(&A));
  }

  /* negative diagonals */
  PetscCall(CreateGridMatrix(&p, 0, &A));
  for (PetscInt k = 0; k < 3; k++) PetscCall(MatSetValue(A, 200 + 77 * k, 200 + 77 * k, -1e3, INSERT_VALUES));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestMatrix("negative diagonals", A, p.n, "", NULL));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscInt times = 40;
  char     name[64];

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscStrncpy(name, type, sizeof(name)));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-there_mat_type", name, sizeof(name), NULL));
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-times", &times, NULL));
  type = name;
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-compressed", &compressed, NULL));
  PetscCall(TestRandomProblems(times));
  PetscCall(TestLarger());
  PetscCall(TestUnusual());
  PetscCall(TestNumbers());
  return TestEnd(2000, "all is right\n");
}

/*TEST

  # The host, twice
  test:
    output_file: output/right.out

  test:
    suffix: cuda
    requires: cuda
    output_file: output/right.out
    args: -there_mat_type aijcusparse

  # Rows that MATVCRS makes on the device
  test:
    suffix: vcrs
    requires: cuda
    output_file: output/right.out
    args: -there_mat_type aijcusparse -compressed -times 30 -test_least 1000

TEST*/
