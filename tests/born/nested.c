/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN within MATNEST, MATCOMPOSITE, MatCreateNormal() and KSPs: products that add, scales.\n\
  -test_vec_type TYPE : of the vectors\n\n";

#define _POSIX_C_SOURCE 200809L
#include "borntest.h"
#include <tests/refused.h>
#include <dirent.h>
#include <petscksp.h>
#include <unistd.h>

#define PRODUCTS 3 /* J x, J^T y, J^T J x */

static char type[64] = VECSTANDARD;

/* Four shots of unlike numbers of receivers. exact: fields and background in double precision */
static PetscErrorCode Create(PetscBool exact, PetscReal lowpass, DM *da, Vec *v, Mat *J)
{
  const PetscReal    h[2] = {1, 1};
  const BornTestCase c    = {.n          = {28, 30, 1},
                             .width      = 6,
                             .steps      = 66,
                             .every      = 3,
                             .field      = exact ? MATBORN_FIELD_DOUBLE : MATBORN_FIELD_FLOAT,
                             .background = exact ? MATBORN_BACKGROUND_CHECKPOINT : MATBORN_BACKGROUND_KEEP,
                             .parameter  = lowpass > 0 ? MATBORN_PARAMETER_VELOCITY : MATBORN_PARAMETER_REFLECTIVITY,
                             .lowpass    = lowpass};

  PetscFunctionBeginUser;
  PetscCall(BornTestSharedDM(PETSC_COMM_WORLD, c.n, type, da));
  PetscCall(BornTestVelocity(*da, v));
  PetscCall(BornTestCreate(*da, *v, h, 0.2, &c, J));
  PetscCall(BornTestWavelet(*J, 0.14, 6, 0.2, 60));
  for (int s = 0; s < 4; s++) {
    const PetscReal source[2] = {10 + (PetscReal)s, 12}, receivers[8] = {8, 8, 14.5, 8, 14, 20.25, 19, 9};

    PetscCall(MatBornAddShot(*J, source, 2 + s % 3, receivers));
  }
  PetscCall(MatSetFromOptions(*J));
  PetscCall(MatSetUp(*J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers from -1/2 to 1/2, by the places of a vector; other ones for each seed. Groups and processes change nothing */
static PetscErrorCode Random(Vec x, PetscInt seed, PetscReal shift)
{
  PetscInt     begin, end;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArrayWrite(x, &a));
  for (PetscInt i = begin; i < end; i++) {
    const PetscReal r = PetscSinReal((PetscReal)(i + 1) * (PetscReal)(12.9898 + 0.37 * (double)seed)) * 437;

    a[i - begin] = r - PetscFloorReal(r) - (PetscReal)0.5 + shift;
  }
  PetscCall(VecRestoreArrayWrite(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* a and b are equal within a part of the largest number of a; limit 0: the same bits */
static PetscErrorCode TestNear(const char name[], Vec a, Vec b, PetscReal limit)
{
  PetscReal largest, difference;
  PetscBool same;
  Vec       c;

  PetscFunctionBeginUser;
  PetscCall(VecEqual(a, b, &same));
  PetscCall(VecDuplicate(a, &c));
  PetscCall(VecWAXPY(c, -1, a, b));
  PetscCall(VecNorm(a, NORM_INFINITY, &largest));
  PetscCall(VecNorm(c, NORM_INFINITY, &difference));
  PetscCall(VecDestroy(&c));
  if (WRONG(!(largest > 0) || !(limit > 0 ? difference <= limit * largest : same)))
    FAIL("%s: a difference of %g of the largest number", name, (double)(difference / largest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The three products, without scales of the matrix */
static PetscErrorCode Apply(Mat J, Vec x, Vec y, Vec out[PRODUCTS])
{
  Mat N;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(J, &out[1], &out[0]));
  PetscCall(VecDuplicate(out[1], &out[2]));
  PetscCall(MatMult(J, x, out[0]));
  PetscCall(MatMultTranspose(J, y, out[1]));
  PetscCall(MatBornGetNormal(J, &N));
  PetscCall(MatMult(N, x, out[2]));
  PetscCall(MatDestroy(&N));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A is scale diag(left) J diag(right), by products of J; left or right may be NULL */
static PetscErrorCode TestScaled(const char name[], Mat A, Mat J, PetscScalar scale, Vec left, Vec right, PetscBool exact, PetscReal limit)
{
  Vec         x, y, w, d, g, out[PRODUCTS];
  PetscScalar dots[2];
  PetscReal   norm, ynorm, square, apart;
  char        what[96];

  PetscFunctionBeginUser;
  BornTestLimits(exact ? MATBORN_FIELD_DOUBLE : MATBORN_FIELD_FLOAT, exact ? MATBORN_BACKGROUND_CHECKPOINT : MATBORN_BACKGROUND_KEEP, &square, &apart);
  PetscCall(MatCreateVecs(J, &x, &y));
  PetscCall(VecDuplicate(x, &w));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecDuplicate(y, &d));
  PetscCall(Random(x, 1, 0));
  PetscCall(Random(y, 2, 0));
  PetscCall(Apply(A, x, y, out));
  /* J x */
  PetscCall(VecCopy(x, w));
  if (right) PetscCall(VecPointwiseMult(w, w, right));
  PetscCall(MatMult(J, w, d));
  if (left) PetscCall(VecPointwiseMult(d, d, left));
  PetscCall(VecScale(d, scale));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, product", name));
  PetscCall(TestNear(what, d, out[0], limit));
  /* <A x, y> and <x, A^T y> */
  PetscCall(VecDot(out[0], y, &dots[0]));
  PetscCall(VecDot(x, out[1], &dots[1]));
  PetscCall(VecNorm(out[0], NORM_2, &norm));
  PetscCall(VecNorm(y, NORM_2, &ynorm));
  if (WRONG(!(PetscAbsScalar(dots[0] - dots[1]) <= apart * norm * ynorm)))
    FAIL("%s: <A x, y> - <x, A^T y> = %g of |A x| |y|", name, (double)(PetscAbsScalar(dots[0] - dots[1]) / (norm * ynorm)));
  /* J^T y */
  if (left) PetscCall(VecPointwiseMult(d, y, left));
  else PetscCall(VecCopy(y, d));
  PetscCall(MatMultTranspose(J, d, g));
  if (right) PetscCall(VecPointwiseMult(g, g, right));
  PetscCall(VecScale(g, scale));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, transpose", name));
  PetscCall(TestNear(what, g, out[1], limit));
  /* N is A^T A to the last bit */
  PetscCall(MatMultTranspose(A, out[0], g));
  PetscCall(PetscSNPrintf(what, sizeof(what), "%s, normal operator", name));
  PetscCall(TestNear(what, g, out[2], 0));
  for (int k = 0; k < PRODUCTS; k++) PetscCall(VecDestroy(&out[k]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&w));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&g));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products that add, in place and not, have the bits of a product and a sum */
static PetscErrorCode TestAdd(Mat J)
{
  PetscErrorCode (*const mult[3])(Mat, Vec, Vec)     = {MatMult, MatMultTranspose, MatMultHermitianTranspose};
  PetscErrorCode (*const add[3])(Mat, Vec, Vec, Vec) = {MatMultAdd, MatMultTransposeAdd, MatMultHermitianTransposeAdd};

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    Vec x, y, z, want, in, out;

    PetscCall(MatCreateVecs(J, &in, &out));
    x = k ? out : in;
    y = k ? in : out;
    PetscCall(VecDuplicate(y, &z));
    PetscCall(VecDuplicate(y, &want));
    PetscCall(Random(x, 3, 0));
    PetscCall(Random(y, 4, 0));
    PetscCall((*mult[k])(J, x, want));
    PetscCall(VecAXPY(want, 1, y));
    PetscCall((*add[k])(J, x, y, z));
    PetscCall(TestNear("add", want, z, 0));
    PetscCall((*add[k])(J, x, y, y));
    PetscCall(TestNear("add in place", want, y, 0));
    PetscCall(VecDestroy(&in));
    PetscCall(VecDestroy(&out));
    PetscCall(VecDestroy(&z));
    PetscCall(VecDestroy(&want));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Scales one after the other, copies, new velocities and settings */
static PetscErrorCode TestScales(PetscBool exact, PetscReal lowpass)
{
  const PetscReal limit = exact ? TEST_EPS(4500) : (PetscReal)2e-5;
  DM              da[2];
  Vec             v[2], left, right, twice, x, y, light[2];
  Mat             J, A, C;
  MatInfo         plain, info;
  PetscInt        m, n;
  PetscReal       more[2];

  PetscFunctionBeginUser;
  PetscCall(Create(exact, lowpass, &da[0], &v[0], &J));
  PetscCall(Create(exact, lowpass, &da[1], &v[1], &A));
  PetscCall(MatCreateVecs(J, &right, &left));
  PetscCall(VecDuplicate(right, &twice));
  PetscCall(Random(left, 5, 1));
  PetscCall(Random(right, 6, 2));
  PetscCall(MatBornGetIllumination(J, &light[0]));
  PetscCall(MatGetInfo(A, MAT_LOCAL, &plain));
  PetscCall(MatScale(A, -3));
  PetscCall(TestScaled("a factor", A, J, -3, NULL, NULL, exact, limit));
  PetscCall(MatDiagonalScale(A, left, NULL));
  PetscCall(TestScaled("rows", A, J, -3, left, NULL, exact, limit));
  PetscCall(MatDiagonalScale(A, NULL, right));
  PetscCall(TestScaled("rows and columns", A, J, -3, left, right, exact, limit));
  PetscCall(TestAdd(A));

  /* what the matrix keeps: two vectors of rows; one of columns, and two with the product of all factors of columns */
  PetscCall(MatGetInfo(A, MAT_LOCAL, &info));
  PetscCall(MatGetLocalSize(A, &m, &n));
  more[0] = (PetscReal)(info.memory - plain.memory);
  more[1] = (PetscReal)sizeof(PetscReal) * (PetscReal)(2 * m);
  if (WRONG(!(more[0] >= more[1] + (PetscReal)sizeof(PetscReal) * (PetscReal)n)))
    FAIL("scales need %g bytes, of which MatGetInfo() tells %g", (double)more[1], (double)more[0]);

  /* illumination */
  PetscCall(MatBornGetIllumination(A, &light[1]));
  PetscCall(VecPointwiseMult(twice, right, right));
  PetscCall(VecPointwiseMult(light[0], light[0], twice));
  PetscCall(VecScale(light[0], 9));
  PetscCall(TestNear("illumination", light[0], light[1], limit));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&light[k]));

  /* data are those of the velocity */
  PetscCall(MatCreateVecs(J, NULL, &x));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(MatBornModel(J, x));
  PetscCall(MatBornModel(A, y));
  PetscCall(TestNear("data", x, y, 0));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));

  /* copies */
  PetscCall(MatDuplicate(A, MAT_COPY_VALUES, &C));
  PetscCall(TestScaled("a copy", C, J, -3, left, right, exact, limit));
  PetscCall(MatDestroy(&C));
  PetscCall(MatDuplicate(A, MAT_DO_NOT_COPY_VALUES, &C));
  PetscCall(MatBornSetVelocity(C, v[0]));
  PetscCall(TestScaled("a copy without values", C, J, 1, NULL, NULL, exact, limit));
  PetscCall(MatDestroy(&C));

  /* once more, then another velocity, another setting, and an assembly */
  PetscCall(MatScale(A, -0.5));
  PetscCall(MatDiagonalScale(A, left, right));
  PetscCall(VecPointwiseMult(left, left, left));
  PetscCall(VecPointwiseMult(right, right, right));
  PetscCall(TestScaled("scaled twice", A, J, 1.5, left, right, exact, limit));
  for (int k = 0; k < 2; k++) PetscCall(VecScale(v[k], 0.9));
  PetscCall(TestScaled("a new velocity", A, J, 1.5, left, right, exact, limit));
  PetscCall(MatBornSetVelocity(A, v[0]));
  PetscCall(MatBornSetOrder(A, 4));
  PetscCall(MatBornSetOrder(J, 4));
  PetscCall(MatBornSetParameter(A, MATBORN_PARAMETER_SLOWNESS2));
  PetscCall(MatBornSetParameter(J, MATBORN_PARAMETER_SLOWNESS2));
  PetscCall(TestScaled("other settings", A, J, 1.5, left, right, exact, limit));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(TestScaled("assembly", A, J, 1.5, left, right, exact, limit));
  if (size > 1) {
    PetscCall(TestSetOptions(A, "-mat_born_group_size %d", size));
    PetscCall(TestScaled("groups", A, J, 1.5, left, right, exact, limit));
  }
  PetscCall(TestSetOptions(A, "-mat_born_group_size 1 -mat_born_batch 2"));
  PetscCall(TestScaled("shots together", A, J, 1.5, left, right, exact, limit));

  TEST_REFUSED("shift", MatShift(A, 1), "no diagonal", "MatBornGetNormal");
  TEST_REFUSED("axpy", MatAXPY(A, 1, J, SAME_NONZERO_PATTERN), "MatCreateComposite");
  TEST_REFUSED("copy", MatCopy(J, A, SAME_NONZERO_PATTERN), "MatDuplicate");
  TEST_REFUSED("left", MatDiagonalScale(A, right, NULL), "samples", "MatCreateVecs");
  TEST_REFUSED("right", MatDiagonalScale(A, NULL, left), "nodes", "MatCreateVecs");
  PetscCall(TestScaled("after what was refused", A, J, 1.5, left, right, exact, limit));
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(VecDestroy(&twice));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&A));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&v[k]));
    PetscCall(DMDestroy(&da[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Kept journals of one scale are not taken for another one */
static PetscErrorCode TestJournals(void)
{
  DM             da;
  Vec            v, left, x, y, want[PRODUCTS], got[PRODUCTS];
  Mat            J;
  char           folder[PETSC_MAX_PATH_LEN], path[PETSC_MAX_PATH_LEN];
  DIR           *dir;
  struct dirent *file;

  PetscFunctionBeginUser;
  PetscCall(PetscStrncpy(folder, "bornXXXXXX", sizeof(folder)));
  if (!rank) PetscCall(PetscMkdtemp(folder));
  PetscCallMPI(MPI_Bcast(folder, (PetscMPIInt)sizeof(folder), MPI_CHAR, 0, PETSC_COMM_WORLD));
  PetscCall(PetscSNPrintf(path, sizeof(path), "%s/j", folder));
  PetscCall(Create(PETSC_FALSE, 0, &da, &v, &J));
  PetscCall(MatCreateVecs(J, &x, &left));
  PetscCall(VecDuplicate(left, &y));
  PetscCall(Random(x, 1, 0));
  PetscCall(Random(y, 2, 0));
  PetscCall(Random(left, 5, 1));
  for (int k = 0; k < 4; k++) {
    if (k == 1) PetscCall(MatDiagonalScale(J, left, NULL));
    if (k == 2) PetscCall(MatDiagonalScale(J, left, x));
    if (k == 3) PetscCall(MatScale(J, 2));
    PetscCall(TestSetOptions(J, "-mat_born_journal"));
    PetscCall(Apply(J, x, y, want));
    PetscCall(TestSetOptions(J, "-mat_born_journal %s -mat_born_journal_keep", path));
    for (int again = 0; again < 2; again++) {
      PetscCall(Apply(J, x, y, got));
      for (int p = 0; p < PRODUCTS; p++) {
        PetscCall(TestNear("journals", want[p], got[p], 0));
        PetscCall(VecDestroy(&got[p]));
      }
    }
    for (int p = 0; p < PRODUCTS; p++) PetscCall(VecDestroy(&want[p]));
  }
  PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
  dir = rank ? NULL : opendir(folder);
  while (dir && (file = readdir(dir))) {
    PetscCall(PetscSNPrintf(path, sizeof(path), "%s/%s", folder, file->d_name));
    if (file->d_name[0] != '.') (void)unlink(path);
  }
  if (dir) (void)closedir(dir);
  if (!rank && WRONG(rmdir(folder))) FAIL("%s is not empty", folder);
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(VecDestroy(&v));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The least of |J x - d|^2 + |alpha x|^2 by [J; alpha I]: the gradient is 0, by products of J alone */
static PetscErrorCode TestNest(Mat J, KSPType solver)
{
  const PetscScalar alpha = 0.7;
  Mat               blocks[2], A;
  Vec               x, d, e, b, part[2], g;
  PetscReal         norm, left;
  PetscInt          n, N;
  KSP               ksp;
  PC                pc;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(x, &g));
  PetscCall(VecGetLocalSize(x, &n));
  PetscCall(VecGetSize(x, &N));
  blocks[0] = J;
  PetscCall(MatCreateConstantDiagonal(PETSC_COMM_WORLD, n, n, N, N, alpha, &blocks[1]));
  PetscCall(MatCreateNest(PETSC_COMM_WORLD, 2, NULL, 1, NULL, blocks, &A));
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscCall(Random(d, 7, 0));
  PetscCall(VecDuplicate(x, &part[1]));
  part[0] = d;
  PetscCall(VecCreateNest(PETSC_COMM_WORLD, 2, NULL, part, &b));
  PetscCall(VecDestroy(&part[1]));
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
  PetscCall(KSPSetType(ksp, solver));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPGetPC(ksp, &pc));
  PetscCall(PCSetType(pc, PCNONE));
  PetscCall(KSPSetTolerances(ksp, 1e-12, PETSC_CURRENT, PETSC_CURRENT, 40));
  PetscCall(KSPSolve(ksp, b, x));
  PetscCall(MatMultTranspose(J, d, g));
  PetscCall(VecNorm(g, NORM_2, &norm));
  PetscCall(VecDuplicate(d, &e));
  PetscCall(MatMult(J, x, e));
  PetscCall(VecAYPX(e, -1, d));
  PetscCall(MatMultTranspose(J, e, g));
  PetscCall(VecAXPY(g, -alpha * alpha, x));
  PetscCall(VecNorm(g, NORM_2, &left));
  if (WRONG(!(norm > 0) || !(left <= TEST_EPS(4.5e7) * norm))) FAIL("%s with MATNEST leaves a gradient of %g of the first", solver, (double)(left / norm));
  PetscCall(KSPDestroy(&ksp));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&blocks[1]));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&e));
  PetscCall(VecDestroy(&g));
  PetscCall(VecDestroy(&b));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums and products of matrices, MatCreateNormal() and the virtual transpose, by products of the parts */
static PetscErrorCode TestComposite(Mat J, Mat K)
{
  Mat parts[2] = {J, K}, A, D;
  Vec x, y, out[2], in[2], weights;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(J, &x, &y));
  for (int k = 0; k < 2; k++) PetscCall(MatCreateVecs(J, &in[k], &out[k]));
  PetscCall(VecDuplicate(y, &weights));
  PetscCall(Random(x, 1, 0));
  PetscCall(Random(y, 2, 0));
  PetscCall(Random(weights, 8, 1));

  PetscCall(MatCreateComposite(PETSC_COMM_WORLD, 2, parts, &A));
  PetscCall(MatMult(A, x, out[0]));
  PetscCall(MatMult(J, x, out[1]));
  PetscCall(MatMultAdd(K, x, out[1], out[1]));
  PetscCall(TestNear("a sum", out[0], out[1], TEST_EPS(45)));
  PetscCall(MatMultTranspose(A, y, in[0]));
  PetscCall(MatMultTranspose(J, y, in[1]));
  PetscCall(MatMultTransposeAdd(K, y, in[1], in[1]));
  PetscCall(TestNear("a sum, transpose", in[0], in[1], TEST_EPS(45)));
  PetscCall(MatDestroy(&A));

  /* the first factor is the first matrix; MatMult() comes first, because PETSc 3.26 makes a wrong work vector for MatMultTranspose() */
  PetscCall(MatCreateDiagonal(weights, &D));
  parts[1] = D;
  PetscCall(MatCreateComposite(PETSC_COMM_WORLD, 2, parts, &A));
  PetscCall(MatCompositeSetType(A, MAT_COMPOSITE_MULTIPLICATIVE));
  PetscCall(MatMult(A, x, out[0]));
  PetscCall(MatMult(J, x, out[1]));
  PetscCall(VecPointwiseMult(out[1], out[1], weights));
  PetscCall(TestNear("a product", out[0], out[1], 0));
  PetscCall(MatMultTranspose(A, y, in[0]));
  PetscCall(VecPointwiseMult(out[1], y, weights));
  PetscCall(MatMultTranspose(J, out[1], in[1]));
  PetscCall(TestNear("a product, transpose", in[0], in[1], 0));
  PetscCall(MatDestroy(&A));
  PetscCall(MatDestroy(&D));

  PetscCall(MatCreateNormal(J, &A));
  PetscCall(MatMult(A, x, in[0]));
  PetscCall(MatMult(J, x, out[1]));
  PetscCall(MatMultTranspose(J, out[1], in[1]));
  PetscCall(TestNear("MatCreateNormal()", in[0], in[1], 0));
  PetscCall(MatDestroy(&A));
  PetscCall(MatCreateTranspose(J, &A));
  PetscCall(MatMult(A, y, in[0]));
  PetscCall(MatMultTranspose(J, y, in[1]));
  PetscCall(TestNear("MatCreateTranspose()", in[0], in[1], 0));
  PetscCall(MatMultAdd(A, y, in[0], in[0]));
  PetscCall(VecScale(in[1], 2));
  PetscCall(TestNear("MatCreateTranspose(), adding", in[0], in[1], 0));
  PetscCall(MatDestroy(&A));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&in[k]));
    PetscCall(VecDestroy(&out[k]));
  }
  PetscCall(VecDestroy(&weights));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestWithin(void)
{
  DM        da[2];
  Vec       v[2], left, right;
  Mat       J, K;
  PetscReal norm;

  PetscFunctionBeginUser;
  PetscCall(Create(PETSC_TRUE, 0, &da[0], &v[0], &J));
  PetscCall(Create(PETSC_TRUE, 0, &da[1], &v[1], &K));
  PetscCall(VecScale(v[1], 0.95));
  PetscCall(TestAdd(J));
  /* the first data have a norm of about 1 for a model of ones, and alpha I is no small part of the nest */
  PetscCall(MatCreateVecs(J, &right, &left));
  PetscCall(VecSet(right, 1));
  PetscCall(MatMult(J, right, left));
  PetscCall(VecNorm(left, NORM_2, &norm));
  for (int scaled = 0; scaled < 2; scaled++) {
    PetscCall(MatScale(J, scaled ? (PetscScalar)0.5 : (PetscScalar)(4 / norm)));
    PetscCall(TestNest(J, KSPLSQR));
    PetscCall(TestNest(J, KSPCGLS));
    PetscCall(TestComposite(J, K));
    PetscCall(Random(left, 5, 1));
    PetscCall(Random(right, 6, 1));
    PetscCall(MatDiagonalScale(J, left, right));
  }
  PetscCall(VecDestroy(&left));
  PetscCall(VecDestroy(&right));
  PetscCall(MatDestroy(&J));
  PetscCall(MatDestroy(&K));
  for (int k = 0; k < 2; k++) {
    PetscCall(VecDestroy(&v[k]));
    PetscCall(DMDestroy(&da[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PIECE(TestScales(PETSC_TRUE, 0));
  PIECE(TestScales(PETSC_FALSE, 0));
  PIECE(TestJournals());
  PIECE(TestScales(PETSC_FALSE, 0.9));
  PIECE(TestWithin());
  return TestEnd(200, "scales and sums are right\n");
}

/*TEST

  test:
    requires: !complex double
    nsize: {{1 2}}
    output_file: output/nested.out

  testset:
    requires: cuda !complex double
    args: -test_vec_type cuda
    output_file: output/nested.out
    test:
      suffix: cuda_n1_0
      args: -test_part 0,2
    test:
      suffix: cuda_n1_1
      args: -test_part 1,2
    test:
      suffix: cuda_n2_0
      nsize: 2
      args: -test_part 0,2
    test:
      suffix: cuda_n2_1
      nsize: 2
      args: -test_part 1,2

TEST*/
