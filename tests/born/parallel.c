/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "MATBORN on several processes: any split of the grid and any groups give the bits of a single process.\n\
  -test_vec_type TYPE : of the vectors\n\
  -test_short BOOL    : less cases\n\n";

#include "borntest.h"

static char type[64] = VECSTANDARD;

/* Between 0 and 1 */
static PetscReal Number(PetscInt64 i, uint32_t seed)
{
  uint32_t x = (uint32_t)i * 2654435761u + seed * 2246822519u;

  x = (x ^ (x >> 15)) * 2246822519u;
  x = (x ^ (x >> 13)) * 3266489917u;
  return (PetscReal)((double)(x ^ (x >> 16)) / 4294967296.);
}

/* A vector of the DMDA by the numbers of nodes: sets values(i), or compares bits with the vector of a single process */
static PetscErrorCode Nodes(DM da, Vec x, uint32_t seed, PetscReal low, PetscReal high, const PetscScalar *same, PetscInt *wrong)
{
  PetscInt     start[3], count[3], n[3], l = 0;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &n[0], &n[1], &n[2], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], &start[2], &count[0], &count[1], &count[2]));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt k = start[2]; k < start[2] + count[2]; k++) {
    for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
      for (PetscInt i = start[0]; i < start[0] + count[0]; i++, l++) {
        const PetscInt node = i + n[0] * (j + n[1] * k);

        if (!same) a[l] = low + (high - low) * Number(node, seed);
        else if (memcmp(&a[l], &same[node], sizeof(PetscScalar))) (*wrong)++;
      }
    }
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Create(MPI_Comm comm, const BornTestCase *c, DM *da, Mat *J)
{
  const PetscReal h[3] = {1, 1, 1}, dt = 0.19;
  const int       dim = c->n[2] == 1 ? 2 : 3;
  Vec             v;

  PetscFunctionBeginUser;
  PetscCall(BornTestSharedDM(comm, c->n, type, da));
  PetscCall(DMCreateGlobalVector(*da, &v));
  PetscCall(Nodes(*da, v, 1, 1.5, 2.2, NULL, NULL));
  PetscCall(BornTestCreate(*da, v, h, dt, c, J));
  PetscCall(BornTestWavelet(*J, 0.15, 6, dt, 63));
  if (!c->between) PetscCall(MatBornSetInterpolation(*J, MATBORN_INTERPOLATION_NONE));
  for (PetscInt s = 0; s < c->shots; s++) {
    PetscReal      source[3], receivers[3 * 24];
    const PetscInt many = 5 + 3 * s;

    for (int d = 0; d < dim; d++) source[d] = h[d] * ((PetscReal)(c->n[d] / 2 + s - 1) + (c->between ? (PetscReal)0.3 : 0));
    for (PetscInt r = 0; r < many; r++) {
      /* on a line through all slabs */
      for (int d = 0; d < dim; d++) receivers[dim * r + d] = h[d] * ((PetscReal)(1 + r * (c->n[d] - 4) / many) + (c->between ? (PetscReal)0.43 : 0));
    }
    PetscCall(MatBornAddShot(*J, source, many, receivers));
  }
  PetscCall(MatSetFromOptions(*J));
  PetscCall(VecDestroy(&v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define PRODUCTS 5

static const char *const Products[PRODUCTS] = {"model", "J", "J^T", "J^T J", "illumination"};

/* All products: two of data, three of images */
static PetscErrorCode Apply(DM da, Mat J, Vec out[PRODUCTS])
{
  Mat N;
  Vec x;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(J, &x, &out[0]));
  PetscCall(VecDuplicate(out[0], &out[1]));
  PetscCall(VecDuplicate(x, &out[2]));
  PetscCall(VecDuplicate(x, &out[3]));
  PetscCall(Nodes(da, x, 2, -0.5, 0.5, NULL, NULL));
  PetscCall(MatBornModel(J, out[0]));
  PetscCall(MatMult(J, x, out[1]));
  PetscCall(MatMultTranspose(J, out[1], out[2]));
  PetscCall(MatBornGetNormal(J, &N));
  PetscCall(MatMult(N, x, out[3]));
  PetscCall(MatBornGetIllumination(J, &out[4]));
  PetscCall(MatDestroy(&N));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestCase(const char name[], const BornTestCase *c)
{
  DM  alone, da;
  Mat one, J;
  Vec want[PRODUCTS], out[PRODUCTS];

  PetscFunctionBeginUser;
  /* the values of a single process, for all processes */
  if (!rank) {
    PetscCall(Create(PETSC_COMM_SELF, c, &alone, &one));
    PetscCall(Apply(alone, one, out));
  }
  for (int p = 0; p < PRODUCTS; p++) {
    PetscInt     n = 0;
    PetscReal    norm;
    PetscScalar *a;

    if (!rank) PetscCall(VecGetSize(out[p], &n));
    PetscCallMPI(MPI_Bcast(&n, 1, MPIU_INT, 0, PETSC_COMM_WORLD));
    PetscCall(VecCreateSeq(PETSC_COMM_SELF, n, &want[p]));
    if (!rank) PetscCall(VecCopy(out[p], want[p]));
    PetscCall(VecGetArray(want[p], &a));
    PetscCallMPI(MPI_Bcast(a, (PetscMPIInt)n, MPIU_SCALAR, 0, PETSC_COMM_WORLD));
    PetscCall(VecRestoreArray(want[p], &a));
    PetscCall(VecNorm(want[p], NORM_INFINITY, &norm));
    if (WRONG(!(norm > 0))) FAIL("%s: %s is zero", name, Products[p]);
    if (!rank) PetscCall(VecDestroy(&out[p]));
  }
  if (!rank) {
    PetscCall(MatDestroy(&one));
    PetscCall(DMDestroy(&alone));
  }
  for (PetscInt group = 1; group <= size; group += group == 1 && size == 4 ? 1 : PetscMax(1, size - group)) {
    PetscCall(Create(PETSC_COMM_WORLD, c, &da, &J));
    PetscCall(TestSetOptions(J, "-mat_born_group_size %" PetscInt_FMT, group));
    PetscCall(Apply(da, J, out));
    for (int p = 0; p < PRODUCTS; p++) {
      const PetscScalar *a, *b;
      PetscInt           wrong = 0, begin, end;

      PetscCall(VecGetArrayRead(want[p], &a));
      if (p < 2) {
        PetscCall(VecGetOwnershipRange(out[p], &begin, &end));
        PetscCall(VecGetArrayRead(out[p], &b));
        for (PetscInt i = begin; i < end; i++) wrong += memcmp(&a[i], &b[i - begin], sizeof(*a)) != 0;
        PetscCall(VecRestoreArrayRead(out[p], &b));
      } else PetscCall(Nodes(da, out[p], 0, 0, 0, a, &wrong));
      PetscCall(VecRestoreArrayRead(want[p], &a));
      PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &wrong, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
      if (WRONG(wrong)) FAIL("%s, groups of %d: %d numbers of %s have other bits", name, (int)group, (int)wrong, Products[p]);
      PetscCall(VecDestroy(&out[p]));
    }
    PetscCall(MatDestroy(&J));
    PetscCall(DMDestroy(&da));
  }
  for (int p = 0; p < PRODUCTS; p++) PetscCall(VecDestroy(&want[p]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  BornTestCase   plane = {.n            = {37, 41, 1},
                          .order        = 8,
                          .width        = 5,
                          .steps        = 66,
                          .every        = 2,
                          .shots        = 2,
                          .between      = PETSC_TRUE,
                          .field        = MATBORN_FIELD_DOUBLE,
                          .background   = MATBORN_BACKGROUND_KEEP,
                          .bits         = 32,
                          .interval     = 1,
                          .velocitybits = 32};
  BornTestCase   c;
  PetscBool      brief     = PETSC_FALSE;
  PetscInt       cases     = 0;
  const PetscInt orders[4] = {2, 4, 8, 12};

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetString(NULL, NULL, "-test_vec_type", type, sizeof(type), NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-test_short", &brief, NULL));
  if (brief) plane.shots = 1;
  for (int k = brief ? 2 : 0; k < (brief ? 3 : 4); k++, cases++) {
    char name[64];

    c            = plane;
    c.order      = orders[k];
    c.surface    = (PetscBool)(k % 2 == 0);
    c.between    = (PetscBool)(k != 1);
    c.parameter  = (MatBornParameter)(k % 3);
    c.field      = k % 2 ? MATBORN_FIELD_FLOAT : MATBORN_FIELD_DOUBLE;
    c.background = k > 1 ? MATBORN_BACKGROUND_CHECKPOINT : MATBORN_BACKGROUND_KEEP;
    PetscCall(PetscSNPrintf(name, sizeof(name), "2-D, order %d", (int)orders[k]));
    PetscCall(TestCase(name, &c));
  }
  for (int k = brief ? 1 : 0; k < 2; k++, cases++) {
    c         = plane;
    c.n[0]    = 18;
    c.n[1]    = 17;
    c.n[2]    = 29;
    c.steps   = 64;
    c.order   = k ? 8 : 4;
    c.surface = (PetscBool)(k > 0);
    c.field   = k ? MATBORN_FIELD_FLOAT : MATBORN_FIELD_DOUBLE;
    PetscCall(TestCase(k ? "3-D, order 8" : "3-D, order 4", &c));
  }
  c         = plane;
  c.lowpass = 0.5;
  if (!brief) PetscCall(TestCase("low-pass", &c));
  c              = plane;
  c.field        = MATBORN_FIELD_FLOAT;
  c.bits         = 16;
  c.velocitybits = 16;
  if (!brief) PetscCall(TestCase("16 bits", &c));
  c.background   = MATBORN_BACKGROUND_RANDOM;
  c.velocitybits = 32;
  PetscCall(TestCase("random", &c));
  /* the inside ends within slabs, at the ends of slabs, and within reach of the next slab */
  c.background = MATBORN_BACKGROUND_RING;
  c.interval   = 2;
  if (!brief) PetscCall(TestCase("ring", &c));
  c.field   = MATBORN_FIELD_DOUBLE;
  c.surface = PETSC_TRUE;
  c.width   = 12;
  if (!brief) PetscCall(TestCase("ring, wide sponge", &c));
  c       = plane;
  c.n[0]  = 19;
  c.n[1]  = 18;
  c.n[2]  = 40;
  c.field = MATBORN_FIELD_FLOAT;
  c.bits  = 16;
  c.width = 5;
  for (int k = 0; k < 3; k++) {
    const MatBornBackground background[3] = {MATBORN_BACKGROUND_RANDOM, MATBORN_BACKGROUND_KEEP, MATBORN_BACKGROUND_RING};
    const char *const       name[3]       = {"3-D, random", "3-D, keep", "3-D, ring"};

    if (brief && k < 2) continue;
    c.background   = background[k];
    c.between      = (PetscBool)(k > 0);
    c.velocitybits = k == 1 ? 16 : 32;
    c.surface      = (PetscBool)(k == 2);
    PetscCall(TestCase(name[k], &c));
  }
  return TestEnd((cases + (brief ? 2 : 8)) * 10, "all bits are the same\n");
}

/*TEST

  test:
    nsize: {{1 2 3 4}}
    requires: !complex double
    output_file: output/parallel.out

  test:
    suffix: cuda
    nsize: 2
    requires: cuda !complex double
    args: -test_vec_type cuda
    output_file: output/parallel.out

  test:
    suffix: cuda_3
    nsize: 3
    requires: cuda !complex double
    args: -test_vec_type cuda -test_short
    output_file: output/parallel.out

  test:
    suffix: ipc
    nsize: {{2 3 4}}
    requires: cuda !complex double
    args: -test_vec_type cuda -mat_born_transport ipc -test_short
    output_file: output/parallel.out

TEST*/
