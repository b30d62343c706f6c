/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN: all backgrounds, kinds of numbers and intervals: transposes, against checkpoints, the normal operator, illumination.\n\
  -test_vec_type cuda : on a device; the same is then done on the host, and compared\n\n";

#include "borntest.h"

#define DEVICE_SINGLE 2e-5 /* relative to the largest number: rounding of sums differs over some hundred steps */
#define DEVICE_DOUBLE 1e-12

typedef struct {
  const char       *name;
  MatBornBackground background;
  PetscInt          bits;
  PetscReal         near; /* relative difference to the recomputed background, in single and in double precision */
} Way;

static const Way ways[] = {
  {"checkpoint", MATBORN_BACKGROUND_CHECKPOINT, 16, 0}, {"keep 32", MATBORN_BACKGROUND_KEEP, 32, 2e-7},
  {"keep 16", MATBORN_BACKGROUND_KEEP, 16, 1e-4},       {"keep 8", MATBORN_BACKGROUND_KEEP, 8, 2e-2},
  {"ring", MATBORN_BACKGROUND_RING, 16, 1e-4},          {"random", MATBORN_BACKGROUND_RANDOM, 16, 0} /* another wavefield */
};

static const BornTestCase cases[] = {{{40, 33, 1}, 6, 90, 2, 8, 1, 32, MATBORN_FIELD_FLOAT, PETSC_FALSE, PETSC_TRUE},
                                     {{40, 33, 1}, 6, 90, 1, 4, 3, 32, MATBORN_FIELD_DOUBLE, PETSC_TRUE, PETSC_TRUE},
                                     {{35, 30, 1}, 6, 60, 3, 12, 2, 16, MATBORN_FIELD_FLOAT, PETSC_TRUE, PETSC_FALSE},
                                     {{26, 22, 24}, 5, 60, 1, 8, 2, 32, MATBORN_FIELD_FLOAT, PETSC_FALSE, PETSC_TRUE},
                                     {{23, 21, 20}, 5, 48, 2, 2, 1, 16, MATBORN_FIELD_FLOAT, PETSC_TRUE, PETSC_FALSE},
                                     {{21, 18, 19}, 4, 48, 1, 12, 1, 32, MATBORN_FIELD_FLOAT, PETSC_FALSE, PETSC_FALSE},
                                     {{22, 18, 19}, 5, 48, 3, 4, 2, 32, MATBORN_FIELD_FLOAT, PETSC_TRUE, PETSC_TRUE},
                                     {{22, 18, 19}, 5, 48, 1, 8, 1, 32, MATBORN_FIELD_DOUBLE, PETSC_TRUE, PETSC_FALSE}};

static PetscErrorCode TestCreate(const BornTestCase *plain, const Way *way, VecType type, Mat *J)
{
  BornTestCase c = *plain;

  PetscFunctionBegin;
  c.background  = way->background;
  c.bits        = way->bits;
  c.checkpoints = 4;
  PetscCall(BornTestCreateBurst(&c, type, c.steps - 3, J));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* 0 at nodes of the sponge */
static PetscErrorCode TestMask(const BornTestCase *c, Vec x)
{
  PetscScalar *a;
  const int    last = c->n[2] == 1 ? 1 : 2;

  PetscFunctionBegin;
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = 0; k < c->n[2]; k++) {
    for (PetscInt j = 0; j < c->n[1]; j++) {
      for (PetscInt i = 0; i < c->n[0]; i++) {
        const PetscInt at[3] = {i, j, k};

        for (int d = 0; d <= last; d++) {
          if ((at[d] < c->width && !(c->surface && d == last)) || at[d] >= c->n[d] - c->width) a[i + c->n[0] * (j + c->n[1] * k)] = 0;
        }
      }
    }
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest difference over the largest number of a */
static PetscErrorCode TestDifference(Vec a, Vec b, PetscReal *difference)
{
  PetscReal largest;
  Vec       c, d;

  PetscFunctionBegin;
  PetscCall(VecDuplicate(a, &c));
  PetscCall(VecDuplicate(a, &d));
  PetscCall(VecCopy(a, c));
  PetscCall(VecCopy(b, d));
  PetscCall(VecNorm(c, NORM_INFINITY, &largest));
  PetscCall(VecAXPY(d, -1, c));
  PetscCall(VecNorm(d, NORM_INFINITY, difference));
  *difference = largest > 0 ? *difference / largest : PETSC_INFINITY;
  PetscCall(VecDestroy(&c));
  PetscCall(VecDestroy(&d));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* J and the transpose, with y = J x and with a random y; y keeps its numbers */
static PetscErrorCode TestDots(Mat J, const char name[], MatBornField field, MatBornBackground background, Vec x, Vec d, Vec g, Vec y)
{
  PetscReal   norm, ynorm, square, apart;
  PetscScalar a, b;

  PetscFunctionBegin;
  BornTestLimits(field, background, &square, &apart);
  PetscCall(MatMult(J, x, d));
  PetscCall(VecNorm(d, NORM_2, &norm));
  PetscCall(MatMultTranspose(J, d, g));
  PetscCall(VecDot(x, g, &a));
  if (WRONG(!(norm > 0) || !(PetscAbsScalar(a - norm * norm) <= square * norm * norm)))
    FAIL("%s: <x, J^T J x> - <Jx, Jx> = %g of that", name, (double)(PetscAbsScalar(a - norm * norm) / (norm * norm)));
  PetscCall(VecSetRandom(y, NULL));
  PetscCall(VecShift(y, -0.5));
  PetscCall(MatMultTranspose(J, y, g));
  PetscCall(VecNorm(y, NORM_2, &ynorm));
  PetscCall(VecDot(x, g, &a));
  PetscCall(VecDot(d, y, &b));
  if (WRONG(!(PetscAbsScalar(a - b) <= apart * norm * ynorm)))
    FAIL("%s: <x, J^T y> - <Jx, y> = %g of |Jx| |y|", name, (double)(PetscAbsScalar(a - b) / (norm * ynorm)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All ways of a case; device: the vector type, compared with vectors of the host */
static PetscErrorCode TestCase(const BornTestCase *c, PetscInt number, VecType type, PetscBool device)
{
  Vec             base   = NULL; /* the image with checkpoints */
  const PetscBool single = (PetscBool)(c->field == MATBORN_FIELD_FLOAT);

  PetscFunctionBegin;
  for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
    const Way *way = &ways[w];
    Mat        J, N, H;
    Vec        x, xh, d, e, g, y, yh, same;
    PetscReal  difference;
    PetscBool  equal;
    char       name[64];

    PetscCall(PetscSNPrintf(name, sizeof(name), "case %d, %s", (int)number, way->name));
    PetscCall(TestCreate(c, way, type, &J));
    PetscCall(MatCreateVecs(J, &x, &d));
    PetscCall(VecDuplicate(x, &g));
    PetscCall(VecDuplicate(x, &same));
    PetscCall(VecDuplicate(d, &y));
    PetscCall(VecDuplicate(d, &e));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, c->n[0] * c->n[1] * c->n[2], &xh));
    PetscCall(VecSetRandom(xh, NULL));
    PetscCall(VecShift(xh, -0.5));
    PetscCall(TestMask(c, xh));
    PetscCall(VecCopy(xh, x));
    PetscCall(TestDots(J, name, c->field, way->background, x, d, g, y));

    /* Against checkpoints */
    PetscCall(VecSet(y, 1));
    if (!w) {
      PetscCall(VecDuplicate(x, &base));
      PetscCall(MatMultTranspose(J, y, base));
    } else if (way->near > 0) {
      PetscCall(MatMultTranspose(J, y, g));
      PetscCall(VecCopy(base, same));
      PetscCall(VecCopy(same, xh));
      if (way->background == MATBORN_BACKGROUND_RING) PetscCall(TestMask(c, xh));
      PetscCall(VecCopy(xh, same));
      PetscCall(TestDifference(same, g, &difference));
      if (WRONG(!(difference <= way->near))) FAIL("%s: the image differs by %g from that with checkpoints", name, (double)difference);
    }

    /* N is J^T J to the last bit */
    PetscCall(MatBornGetNormal(J, &N));
    PetscCall(MatMult(J, x, d));
    PetscCall(MatMultTranspose(J, d, g));
    PetscCall(MatMult(N, x, same));
    PetscCall(VecEqual(g, same, &equal));
    PetscCall(TestDifference(g, same, &difference));
    if (WRONG(!equal)) FAIL("%s: N x differs from J^T J x by %g", name, (double)difference);
    PetscCall(MatMult(J, x, e));
    PetscCall(VecEqual(d, e, &equal));
    if (WRONG(!equal)) FAIL("%s: J x is not the same twice", name);
    PetscCall(MatDestroy(&N));

    /* The device against the host */
    if (device) {
      /* stored numbers near the middle of two codes may be rounded either way */
      const PetscReal plain = single ? DEVICE_SINGLE : DEVICE_DOUBLE, limit = PetscMax(plain, way->background == MATBORN_BACKGROUND_KEEP ? way->near : 0);
      Vec             dh, gh;

      PetscCall(TestCreate(c, way, VECSEQ, &H));
      PetscCall(MatCreateVecs(H, &gh, &dh));
      PetscCall(VecDuplicate(dh, &yh));
      PetscCall(VecCopy(x, xh));
      PetscCall(MatMult(H, xh, dh));
      PetscCall(VecCopy(d, yh));
      PetscCall(TestDifference(dh, yh, &difference));
      if (WRONG(!(difference <= limit))) FAIL("%s: J x on the device and on the host differ by %g", name, (double)difference);
      PetscCall(MatMultTranspose(H, yh, gh));
      PetscCall(VecCopy(g, xh));
      PetscCall(TestDifference(gh, xh, &difference));
      if (WRONG(!(difference <= limit))) FAIL("%s: J^T y on the device and on the host differ by %g", name, (double)difference);
      PetscCall(MatBornModel(J, d));
      PetscCall(MatBornModel(H, dh));
      PetscCall(VecCopy(d, yh));
      PetscCall(TestDifference(dh, yh, &difference));
      if (WRONG(!(difference <= limit))) FAIL("%s: data on the device and on the host differ by %g", name, (double)difference);
      PetscCall(VecDestroy(&dh));
      PetscCall(VecDestroy(&gh));
      PetscCall(VecDestroy(&yh));
      PetscCall(MatDestroy(&H));
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&xh));
    PetscCall(VecDestroy(&d));
    PetscCall(VecDestroy(&e));
    PetscCall(VecDestroy(&g));
    PetscCall(VecDestroy(&y));
    PetscCall(VecDestroy(&same));
    PetscCall(MatDestroy(&J));
  }
  PetscCall(VecDestroy(&base));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Transposes of all orders and ways, in single and in double precision, with random models on several grids */
static PetscErrorCode TestTransposes(VecType type)
{
  static const PetscInt grids[][5] = {{34, 29, 1, 6, 70}, {50, 40, 1, 8, 100}, {24, 20, 22, 4, 50}}; /* nodes, width, steps */
  static const PetscInt orders[]   = {2, 4, 8, 12};

  PetscFunctionBegin;
  for (size_t k = 0; k < 2 * PETSC_STATIC_ARRAY_LENGTH(grids); k++) {
    const PetscInt    *grid  = grids[k / 2];
    const MatBornField field = k % 2 ? MATBORN_FIELD_DOUBLE : MATBORN_FIELD_FLOAT;
    PetscRandom        random;
    PetscBool          mine = PETSC_FALSE;

    PetscCall(TestPart(&mine));
    if (!mine) continue;
    PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
    PetscCall(PetscRandomSetInterval(random, -0.5, 0.5));
    for (size_t o = 0; o < PETSC_STATIC_ARRAY_LENGTH(orders); o++) {
      for (size_t w = 0; w < PETSC_STATIC_ARRAY_LENGTH(ways); w++) {
        const BornTestCase c = {{grid[0], grid[1], grid[2]},
                                grid[3],
                                grid[4],
                                1 + (PetscInt)w % 2,
                                orders[o],
                                1 + (PetscInt)(o + w) % 2,
                                k % 2 == 0 && (o + w) % 4 == 3 ? 16 : 32,
                                field,
                                (PetscBool)(w % 2),
                                (PetscBool)(o % 2)};
        Mat                J;
        Vec                x, d, g, y;
        char               name[64];

        PetscCall(PetscSNPrintf(name, sizeof(name), "%s, grid %d, order %d, %s", MatBornFields[field], (int)k / 2, (int)orders[o], ways[w].name));
        PetscCall(TestCreate(&c, &ways[w], type, &J));
        PetscCall(MatCreateVecs(J, &x, &d));
        PetscCall(VecDuplicate(x, &g));
        PetscCall(VecDuplicate(d, &y));
        PetscCall(VecSetRandom(x, random));
        PetscCall(TestDots(J, name, field, ways[w].background, x, d, g, y));
        PetscCall(VecDestroy(&x));
        PetscCall(VecDestroy(&d));
        PetscCall(VecDestroy(&g));
        PetscCall(VecDestroy(&y));
        PetscCall(MatDestroy(&J));
      }
    }
    PetscCall(PetscRandomDestroy(&random));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  char      type[32] = VECSEQ;
  PetscBool device;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscStrcmp(type, VECCUDA, &device));
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(cases); k++) PIECE(TestCase(&cases[k], (PetscInt)k, type, device));
  PetscCall(TestTransposes(type));
  return TestEnd(500, "all backgrounds agree\n");
}

/*TEST

  test:
    requires: !complex

  testset:
    requires: cuda !complex
    args: -test_vec_type cuda
    output_file: output/backgrounds_1.out
    test:
      suffix: cuda_0
      args: -test_part 0,2
    test:
      suffix: cuda_1
      args: -test_part 1,2

TEST*/
