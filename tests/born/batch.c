/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: shots that are computed together give the bits of single shots.\n\
  -test_vec_type TYPE : of the vectors\n\n";

#define _POSIX_C_SOURCE 200809L
#include "borntest.h"
#include <tests/refused.h>
#include <lithe/private/born/born.h>

PETSC_EXTERN const BornKernels *BornGetKernels(PetscBool);

#define SHOTS    7
#define PRODUCTS 7

static char              type[64]           = VECSTANDARD;
static const char *const Products[PRODUCTS] = {"the model", "J", "J^T", "J^T of a few shots", "J^T of one shot", "J^T J", "the illumination"};

/* Shots of different numbers of receivers; some shots have all their points on nodes */
static PetscErrorCode Create(const BornTestCase *c, DM *da, Mat *J)
{
  const PetscReal h[3] = {1, 1, 1}, dt = 0.19;
  const int       dim = c->n[2] == 1 ? 2 : 3;
  Vec             v;
  PetscRandom     random;

  PetscFunctionBeginUser;
  PetscCall(BornTestSharedDM(PETSC_COMM_WORLD, c->n, type, da));
  PetscCall(DMCreateGlobalVector(*da, &v));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, 1.5, 2.2));
  PetscCall(VecSetRandom(v, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(BornTestCreate(*da, v, h, dt, c, J));
  PetscCall(BornTestWavelet(*J, 0.15, 6, dt, 63));
  for (PetscInt s = 0; s < SHOTS; s++) {
    PetscReal       source[3], receivers[3 * 32];
    const PetscInt  many = 1 + 5 * (s * 3 % 4);
    const PetscReal off  = s % 3 == 1 ? 0 : (PetscReal)0.43;

    for (int d = 0; d < dim; d++) source[d] = (PetscReal)(1 + (s + 2 * d) % (c->n[d] - 3)) + off / 2;
    for (PetscInt r = 0; r < many; r++) {
      for (int d = 0; d < dim; d++) receivers[dim * r + d] = (PetscReal)(1 + (r * (c->n[d] - 4) / many + d * s) % (c->n[d] - 3)) + off;
    }
    PetscCall(MatBornAddShot(*J, source, many, receivers));
  }
  PetscCall(MatSetFromOptions(*J));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random data of shots first..first+n-1, from 1e30 down to 1e-30; zeros elsewhere. Rows of a shot are on one process */
static PetscErrorCode Data(Mat J, PetscInt first, PetscInt n, Vec d)
{
  PetscInt     begin, end;
  PetscScalar *a;
  PetscRandom  random;

  PetscFunctionBeginUser;
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -1, 1));
  PetscCall(VecSetRandom(d, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(VecGetOwnershipRange(d, &begin, &end));
  PetscCall(VecGetArray(d, &a));
  for (PetscInt s = 0; s < SHOTS; s++) {
    const PetscReal factor = s >= first && s < first + n ? PetscPowReal(10, (PetscReal)(30 - 60 * s / (SHOTS - 1))) : 0;
    PetscInt        row, rows;

    PetscCall(MatBornGetShotRows(J, s, &row, &rows));
    for (PetscInt r = PetscMax(row, begin); r < PetscMin(row + rows, end); r++) a[r - begin] *= factor;
  }
  PetscCall(VecRestoreArray(d, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Products from fresh scales of whole numbers */
static PetscErrorCode Apply(Mat J, Vec out[PRODUCTS])
{
  Mat         N;
  Vec         x, d;
  PetscRandom random;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(J, &x, &d));
  for (int p = 0; p < 2; p++) PetscCall(VecDuplicate(d, &out[p]));
  for (int p = 2; p < 6; p++) PetscCall(VecDuplicate(x, &out[p]));
  PetscCall(PetscRandomCreate(PETSC_COMM_WORLD, &random));
  PetscCall(PetscRandomSetInterval(random, -0.5, 0.5));
  PetscCall(VecSetRandom(x, random));
  PetscCall(PetscRandomDestroy(&random));
  PetscCall(MatBornModel(J, out[0]));
  PetscCall(MatMult(J, x, out[1]));
  for (PetscInt k = 0; k < 3; k++) {
    PetscCall(Data(J, k ? 2 * k + 1 : 0, k == 2 ? 1 : SHOTS, d));
    PetscCall(MatMultTranspose(J, d, out[2 + k]));
  }
  PetscCall(MatBornGetNormal(J, &N));
  PetscCall(MatMult(N, x, out[5]));
  PetscCall(MatBornGetIllumination(J, &out[6]));
  PetscCall(MatDestroy(&N));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Compare(const char name[], PetscInt batch, Vec want[PRODUCTS], Vec out[PRODUCTS])
{
  PetscFunctionBeginUser;
  for (int p = 0; p < PRODUCTS; p++) {
    const PetscScalar *a, *b;
    PetscReal          norm;
    PetscInt           wrong = 0, n;

    PetscCall(VecNorm(want[p], NORM_INFINITY, &norm));
    if (WRONG(!(norm > 0) || PetscIsInfOrNanReal(norm))) FAIL("%s: %s is %g", name, Products[p], (double)norm);
    PetscCall(VecGetLocalSize(want[p], &n));
    PetscCall(VecGetArrayRead(want[p], &a));
    PetscCall(VecGetArrayRead(out[p], &b));
    for (PetscInt i = 0; i < n; i++) wrong += memcmp(&a[i], &b[i], sizeof(*a)) != 0;
    PetscCall(VecRestoreArrayRead(want[p], &a));
    PetscCall(VecRestoreArrayRead(out[p], &b));
    PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    if (WRONG(wrong)) FAIL("%s, %d shots together: %d numbers of %s have other bits", name, (int)batch, (int)wrong, Products[p]);
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Destroy(Vec out[PRODUCTS])
{
  PetscFunctionBeginUser;
  for (int p = 0; p < PRODUCTS; p++) PetscCall(VecDestroy(&out[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* How many shots MatView() says are computed together */
static PetscErrorCode Viewed(Mat J, PetscInt *shots)
{
  PetscViewer viewer;
  int         number = 1;
  char       *text   = NULL;
  size_t      n;
  FILE       *file = NULL;

  PetscFunctionBeginUser;
  if (!rank) file = open_memstream(&text, &n);
  PetscCall(PetscViewerASCIIOpenWithFILE(PETSC_COMM_WORLD, file, &viewer));
  PetscCall(MatView(J, viewer));
  PetscCall(PetscViewerDestroy(&viewer));
  if (!rank) {
    char *found;

    (void)fclose(file);
    PetscCall(PetscStrstr(text, "shots computed together: ", &found));
    if (found) (void)sscanf(found, "shots computed together: %d at most", &number);
    free(text);
  }
  PetscCallMPI(MPI_Bcast(&number, 1, MPI_INT, 0, PETSC_COMM_WORLD));
  *shots = number;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Batches that leave a remainder, and one of all shots */
static PetscErrorCode TestCase(const char name[], const BornTestCase *c)
{
  const PetscInt batches[] = {2, 3, SHOTS};
  PetscInt       shots;
  DM             da;
  Mat            J;
  Vec            want[PRODUCTS], out[PRODUCTS];

  PetscFunctionBeginUser;
  PetscCall(Create(c, &da, &J));
  PetscCall(TestSetOptions(J, "-mat_born_batch 1"));
  PetscCall(Apply(J, want));
  for (size_t b = 0; b < PETSC_STATIC_ARRAY_LENGTH(batches); b++) {
    PetscCall(TestSetOptions(J, "-mat_born_batch %" PetscInt_FMT, batches[b]));
    PetscCall(Apply(J, out));
    PetscCall(Viewed(J, &shots));
    if (WRONG(shots != (c->n[2] > 1 ? 1 : PetscMin(batches[b], (SHOTS + size - 1) / size)))) FAIL("%s: %d shots are computed together", name, (int)shots);
    PetscCall(Compare(name, batches[b], want, out));
    PetscCall(Destroy(out));
  }
  PetscCall(Destroy(want));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A NaN in the data of one shot names that shot only, and leaves nothing */
static PetscErrorCode TestNaN(const BornTestCase *c)
{
  DM        da;
  Mat       J;
  Vec       d, x, y;
  PetscInt  row, begin, end;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(Create(c, &da, &J));
  PetscCall(TestSetOptions(J, "-mat_born_batch 5"));
  PetscCall(MatCreateVecs(J, &x, &d));
  PetscCall(VecDuplicate(x, &y));
  PetscCall(Data(J, 0, SHOTS, d));
  PetscCall(MatMultTranspose(J, d, x));
  PetscCall(MatBornGetShotRows(J, 3, &row, NULL));
  PetscCall(VecGetOwnershipRange(d, &begin, &end));
  if (row >= begin && row < end) PetscCall(VecSetValue(d, row, (PetscScalar)NAN, INSERT_VALUES));
  PetscCall(VecAssemblyBegin(d));
  PetscCall(VecAssemblyEnd(d));
  TEST_REFUSED("a NaN", MatMultTranspose(J, d, y), "1 of 7 shots", "too large: 3;");
  /* MatMultTranspose() has left its vector locked */
  PetscCall(VecDestroy(&d));
  PetscCall(MatCreateVecs(J, NULL, &d));
  PetscCall(Data(J, 0, SHOTS, d));
  PetscCall(MatMultTranspose(J, d, y));
  PetscCall(VecEqual(x, y, &same));
  if (WRONG(!same)) FAIL("a NaN in the data of an earlier product is left");
  PetscCall(VecDestroy(&d));
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&y));
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestSettings(const BornTestCase *c)
{
  DM        da;
  Mat       J, K;
  PetscInt  n, groups;
  PetscBool cuda;

  PetscFunctionBeginUser;
  groups = size;
  PetscCall(PetscStrcmp(type, VECCUDA, &cuda));
  PetscCall(Create(c, &da, &J));
  PetscCall(MatSetUp(J));
  PetscCall(Viewed(J, &n));
  if (WRONG(n != (cuda ? (SHOTS + groups - 1) / groups : 1))) FAIL("by default %d shots are computed together", (int)n);
  for (PetscInt b = 1; b < 100; b += 1 + b) {
    PetscCall(TestSetOptions(J, "-mat_born_batch %" PetscInt_FMT, b));
    PetscCall(Viewed(J, &n));
    if (WRONG(n != PetscMin(b, (SHOTS + groups - 1) / groups))) FAIL("%d shots are computed together, not %d", (int)n, (int)b);
  }
  PetscCall(MatDuplicate(J, MAT_COPY_VALUES, &K));
  PetscCall(Viewed(K, &n));
  if (WRONG(n != (SHOTS + groups - 1) / groups)) FAIL("%d shots of a copy are computed together", (int)n);
  PetscCall(MatDestroy(&K));
  TEST_REFUSED("no shot", TestSetOptions(J, "-mat_born_batch 0"), "-mat_born_batch 0");
  TEST_REFUSED("less than no shot", TestSetOptions(J, "-mat_born_batch -5"), "-mat_born_batch -5");
  PetscCall(PetscOptionsSetValue(NULL, "-mat_born_batch", "2"));
  PetscCall(MatSetFromOptions(J));
  PetscCall(PetscOptionsClearValue(NULL, "-mat_born_batch"));
  PetscCall(Viewed(J, &n));
  if (WRONG(n != 2)) FAIL("the option gives %d", (int)n);
  if (size > 1) {
    PetscCall(TestSetOptions(J, "-mat_born_group_size %d", size));
    PetscCall(Viewed(J, &n));
    if (WRONG(n != 1)) FAIL("%d shots are computed together by several processes", (int)n);
  }
  PetscCall(MatDestroy(&J));
  PetscCall(DMDestroy(&da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A store of a fifth of the free memory per shot, which is never made: fewer shots than asked for, and by default at most half of
   these on a device. One shot where memory suffices for none */
static PetscErrorCode TestMemory(const BornTestCase *c)
{
  PetscBool          cuda;
  const BornKernels *k;
  size_t             room;

  PetscFunctionBeginUser;
  PetscCall(PetscStrcmp(type, VECCUDA, &cuda));
  k = BornGetKernels(cuda);
  PetscCall((*k->room)(&room));
  for (int part = 5; part > 0 && size == 1 && room; part -= 4) {
    BornTestCase large = *c;
    DM           da;
    Mat          J;
    PetscInt     n;

    large.n[0] = large.n[1] = 320;
    large.bits              = 32;
    large.steps             = (PetscInt)(room / (size_t)part / ((size_t)4 * 320 * 320));
    PetscCall(Create(&large, &da, &J));
    PetscCall(MatSetUp(J));
    PetscCall(TestSetOptions(J, "-mat_born_batch %d", SHOTS));
    PetscCall(Viewed(J, &n));
    if (WRONG(part > 1 ? n < 2 || n >= SHOTS : n != 1)) FAIL("%d shots are computed together, each with 1/%d of the memory", (int)n, part);
    PetscCall(TestSetOptions(J, "-mat_born_batch %d", PETSC_DECIDE));
    PetscCall(Viewed(J, &n));
    if (WRONG(n < 1 || n > (part > 1 ? 3 : 1))) FAIL("%d shots are computed together by default, each with 1/%d of the memory", (int)n, part);
    PetscCall(MatDestroy(&J));
    PetscCall(DMDestroy(&da));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  const BornTestCase      plane         = {.n            = {37, 31, 1},
                                           .order        = 8,
                                           .steps        = 70,
                                           .every        = 2,
                                           .width        = 5,
                                           .field        = MATBORN_FIELD_FLOAT,
                                           .background   = MATBORN_BACKGROUND_KEEP,
                                           .bits         = 16,
                                           .interval     = 1,
                                           .velocitybits = 32};
  const MatBornBackground backgrounds[] = {MATBORN_BACKGROUND_KEEP, MATBORN_BACKGROUND_RING, MATBORN_BACKGROUND_RANDOM, MATBORN_BACKGROUND_CHECKPOINT};
  const PetscInt          orders[] = {2, 4, 8, 12}, bits[] = {32, 16, 8};
  BornTestCase            c;
  char                    name[64];

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  /* each background with both fields, other orders, a free surface or not, each velocity */
  for (int k = 0; k < 16; k++) {
    c              = plane;
    c.background   = backgrounds[k % 4];
    c.field        = k / 4 % 2 ? MATBORN_FIELD_DOUBLE : MATBORN_FIELD_FLOAT;
    c.order        = orders[(k + k / 4) % 4];
    c.surface      = (PetscBool)((k + k / 8) % 2);
    c.velocitybits = k > 7 && !(k / 4 % 2) ? 16 : 32;
    c.interval     = k > 11 ? 2 : 1;
    c.bits         = bits[k / 4 % 3];
    c.checkpoints  = k > 7 ? 3 : 0;
    PetscCall(PetscSNPrintf(name, sizeof(name), "%s, %s, order %d%s", MatBornBackgrounds[c.background], MatBornFields[c.field], (int)c.order,
                            c.surface ? ", surface" : ""));
    PetscCall(TestCase(name, &c));
  }
  c         = plane;
  c.lowpass = 0.5;
  PetscCall(TestCase("low-pass", &c));
  c      = plane;
  c.n[0] = 15;
  c.n[1] = 16;
  c.n[2] = 17;
  PetscCall(TestCase("3-D", &c));
  for (int k = 0; k < 4; k++) {
    c            = plane;
    c.background = backgrounds[k];
    PetscCall(TestNaN(&c));
  }
  PetscCall(TestSettings(&plane));
  PetscCall(TestMemory(&plane));
  return TestEnd(700, "all bits are the same\n");
}

/*TEST

  test:
    nsize: {{1 3}}
    requires: !complex double
    output_file: output/batch.out

  test:
    suffix: cuda
    nsize: {{1 2}}
    requires: cuda !complex double
    args: -test_vec_type cuda
    output_file: output/batch.out

TEST*/
