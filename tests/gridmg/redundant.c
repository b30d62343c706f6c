/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG on several processes: the order of all rows on each device, and matrices that devices cannot share.\n\
  -shared_mat_type <type> - of the matrices on several processes\n\
  -redundant <bool>  - each process has all rows of such matrices: on devices by default, on hosts by the option\n\
  -transport <name>  - transport of exchanges, on devices\n\n";

#include "gridmgsplit.h"
#include <lithe/private/gridmg/redundant.h>

/* ------------------------------------------------------------ the order of rows */

static PetscErrorCode TestRow(const GridProblem *p, const Split *s, const GridMGMap *map, Mat S, PetscInt r, PetscInt place[])
{
  const PetscInt    *column;
  const PetscScalar *value;
  PetscInt           n, i[2] = {0, 0}, length, own, *j, *row, *outside, *got;
  PetscScalar       *a, *b, *values;
  GridMGCSR          rows;
  GridMGMapOutside   o = {0};

  PetscFunctionBeginUser;
  PetscCall(MatGetRow(S, s->natural[r], &n, &column, &value));
  PetscCall(PetscMalloc7(n, &j, n, &row, n, &outside, n, &got, n, &a, n, &b, n, &values));
  for (PetscInt e = 0; e < n; e++) {
    const PetscInt there = s->row[column[e]];

    place[column[e]] = e;
    if (there >= s->begin && there < s->begin + s->n) {
      j[i[1]]   = there - s->begin;
      a[i[1]++] = value[e];
    } else {
      row[o.n]     = 0;
      outside[o.n] = there;
      b[o.n++]     = value[e];
    }
  }
  own      = i[1];
  rows.i   = i;
  rows.j   = j;
  rows.a   = a;
  o.row    = row;
  o.a      = b;
  o.column = outside;
  length   = GridMGMapLength(&rows, &o, 0);
  if (WRONG(length != n)) FAIL("%s, row %d: %d entries of %d, own %d", p->name, (int)r, (int)length, (int)n, (int)own);
  GridMGMapRow(map, s->begin, &rows, &o, 0, got, values);
  for (PetscInt e = 0; e < n; e++) {
    if (WRONG(place[got[e]] < 0 || value[place[got[e]]] != values[e] || (e > 0 && got[e - 1] >= got[e]))) {
      FAIL("%s, row %d: entry %d is in column %d", p->name, (int)r, (int)e, (int)got[e]);
      break;
    }
  }
  for (PetscInt e = 0; e < n; e++) place[column[e]] = -1;
  PetscCall(PetscFree7(j, row, outside, got, a, b, values));
  PetscCall(MatRestoreRow(S, s->natural[r], &n, &column, &value));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMap(const GridProblem *p, PetscInt which, PetscBool slabs)
{
  Split     s;
  Mat       S;
  GridMGMap map;
  PetscInt *start[3], *offset, *well, *place, wrong = 0;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(p, which, PETSC_FALSE, slabs, &s));
  PetscCall(CreateGridMatrix(p, 0, &S));
  map.size = size;
  PetscCall(PetscMalloc2(size + 1, &offset, size, &well));
  PetscCallMPI(MPI_Allgather(&s.begin, 1, MPIU_INT, offset, 1, MPIU_INT, PETSC_COMM_WORLD));
  offset[size] = s.rows;
  map.offset   = offset;
  map.well     = well;
  for (PetscMPIInt r = 0; r < size; r++) well[r] = 0; /* those of the last process are the only ones */
  for (int d = 0; d < 3; d++) {
    PetscCall(PetscMalloc1(s.parts[d] + 1, &start[d]));
    start[d][0] = 0;
    for (PetscInt q = 0; q < s.parts[d]; q++) start[d][q + 1] = start[d][q] + s.width[d][q];
    map.start[d] = start[d];
    map.parts[d] = s.parts[d];
    map.n[d]     = p->n[d];
  }
  for (PetscInt r = 0; r < s.rows; r++) {
    const PetscInt found = GridMGMapOf(&map, r);

    if (WRONG(found != s.natural[r]) && !wrong++) FAIL("%s: row %d is %d, not %d of the whole grid", p->name, (int)r, (int)s.natural[r], (int)found);
  }
  PetscCall(PetscMalloc1(s.rows, &place));
  for (PetscInt r = 0; r < s.rows; r++) place[r] = -1;
  for (PetscInt r = s.begin; r < s.begin + s.n && !wrong; r++) PetscCall(TestRow(p, &s, &map, S, r, place));
  PetscCall(PetscFree(place));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(start[d]));
  PetscCall(PetscFree2(offset, well));
  PetscCall(MatDestroy(&S));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestMaps(void)
{
  const GridProblem p[] = {{.name = "box", .n = {7, 5, 6}, .faces = FACES_RANDOM, .sigma = 1},
                           {.name = "wells", .n = {5, 4, 9}, .faces = FACES_RANDOM, .sigma = 1, .after = 3},
                           {.name = "faults", .n = {8, 9, 5}, .faces = FACES_RANDOM, .sigma = 1, .faults = 25},
                           {.name = "long rows", .n = {9, 9, 12}, .faces = FACES_RANDOM, .sigma = 1, .faults = 400},
                           {.name = "plane", .n = {13, 11, 1}, .faces = FACES_RANDOM, .sigma = 1}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(p); k++) {
    for (PetscInt which = 0; which < 3; which++) {
      for (int slabs = 0; slabs < 2; slabs++) PetscCall(TestMap(&p[k], which, (PetscBool)slabs));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Shell's sort, also of rows so long that it has several gaps */
static PetscErrorCode TestSort(void)
{
  PetscFunctionBeginUser;
  for (PetscInt n = 0; n < 400; n = n < 70 ? n + 1 : 2 * n) {
    PetscInt    j[400];
    PetscScalar a[400];

    for (PetscInt e = 0; e < n; e++) {
      j[e] = (e * 7919 + 13) % 10007;
      a[e] = (PetscReal)j[e];
    }
    GridMGMapSort(n, j, a);
    for (PetscInt e = 0; e < n; e++) {
      if (WRONG(PetscRealPart(a[e]) != (PetscReal)j[e] || (e > 0 && j[e - 1] > j[e]))) FAIL("entry %d of %d is not in order", (int)e, (int)n);
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ matrices that devices cannot share */

/* On hosts the form is asked for */
static const char *force = "";

/* The solution of one process, twice, and with new values; more: options of several processes only */
static PetscErrorCode TestSplit(const GridProblem *p, const Split *s, PetscBool slabs, const char options[], const char more[], PetscBool redundant)
{
  char      all[512], shared[512];
  Mat       S, W, A;
  PC        one, pc;
  PetscReal difference, norm;
  PetscBool is, same;

  PetscFunctionBeginUser;
  PetscCall(CreateGridMatrix(p, 0, &S));
  PetscCall(CreateWhole(S, &W));
  PetscCall(Distribute(W, s, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_coarse_size 8 %s", options));
  PetscCall(PetscSNPrintf(shared, sizeof(shared), "%s %s %s", all, more, redundant ? force : ""));
  PetscCall(CreateSharedPC(p, s, slabs, A, shared, &pc));
  for (PetscInt round = 0; round < 3; round++) {
    if (round) {
      PetscCall(MatDestroy(&S));
      PetscCall(MatDestroy(&W));
      PetscCall(CreateGridMatrix(p, round, &S));
      PetscCall(CreateWhole(S, &W));
      PetscCall(FillFrom(W, s, A));
      PetscCall(PCSetUp(pc));
    }
    PetscCall(IsRedundant(pc, &is));
    if (WRONG(is != redundant)) FAIL("%s, %s %s: %s all rows on each process", p->name, options, more, is ? "" : "not");
    PetscCall(ViewContains(pc, "on a device", &is));
    if (WRONG(redundant && !force[0] && !is)) FAIL("%s, %s: levels are not on devices", p->name, options);
    PetscCall(CreateGridPC(p, W, all, &one));
    PetscCall(ApplyBoth(s, one, pc, (uint64_t)(3 + round), &norm, &difference, &same));
    if (WRONG(!same)) FAIL("%s, %s: an application has other bits the second time", p->name, options);
    /* on the host aggregates end at boundaries of processes */
    if (WRONG(!(norm > 0) || (redundant && !(difference <= (force[0] ? 0 : (PetscReal)2e-5) * norm))))
      FAIL("%s, %s %s, values %d: %g differs from the cycle of one process by %g", p->name, options, more, (int)round, (double)norm, (double)difference);
    PetscCall(PCDestroy(&one));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestShared(const GridProblem *p, PetscInt which, PetscBool slabs, const char options[], PetscBool redundant)
{
  Split s;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(p, which, PETSC_TRUE, slabs, &s));
  PetscCall(TestSplit(p, &s, slabs, options, "", redundant));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows of processes that are no planes, with a given grid, and with the grid that the entries show; wells on both sides */
static PetscErrorCode TestAnyRows(void)
{
  const GridProblem p[] = {{.name = "any rows", .n = {7, 6, 5}, .faces = FACES_RANDOM, .sigma = 1},
                           {.name = "any rows, a well", .n = {8, 6, 5}, .faces = FACES_RANDOM, .sigma = 1, .after = 1},
                           {.name = "any rows, a well before", .n = {8, 6, 5}, .faces = FACES_RANDOM, .sigma = 1, .before = 1}};

  PetscFunctionBeginUser;
  for (int k = 0; k < 3; k++) {
    Split s = {.rows = GridRows(&p[k]), .begin = 0, .n = PETSC_DECIDE};

    PetscCall(PetscSplitOwnership(PETSC_COMM_WORLD, &s.n, &s.rows));
    PetscCallMPI(MPI_Scan(&s.n, &s.begin, 1, MPIU_INT, MPI_SUM, PETSC_COMM_WORLD));
    s.begin -= s.n;
    PetscCall(PetscMalloc2(s.rows, &s.natural, s.rows, &s.row));
    for (PetscInt r = 0; r < s.rows; r++) s.natural[r] = s.row[r] = r;
    PetscCall(TestSplit(&p[k], &s, PETSC_TRUE, "", "", PETSC_TRUE));
    PetscCall(TestSplit(&p[k], &s, PETSC_TRUE, "", "-@pc_gridmg_grid 0,0,0", PETSC_TRUE));
    PetscCall(DestroySplit(&s));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A singular matrix whose null space of constants is known, and a number that is none for a while */
static PetscErrorCode TestSingular(void)
{
  const GridProblem p = {.name = "singular, faults", .n = {6, 5, 4 * size}, .faces = FACES_RANDOM, .sigma = 0, .faults = 9};
  MatNullSpace      space[2];
  Split             s;
  Mat               S, W, A;
  PC                one, pc;
  PetscReal         difference, norm;
  PetscBool         is, same;
  PCFailedReason    reason;
  const PetscReal   zero = 0;
  char              shared[128];

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(&p, 1, PETSC_TRUE, PETSC_FALSE, &s));
  PetscCall(CreateGridMatrix(&p, 0, &S));
  PetscCall(CreateWhole(S, &W));
  PetscCall(Distribute(W, &s, &A));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_SELF, PETSC_TRUE, 0, NULL, &space[0]));
  PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space[1]));
  PetscCall(MatSetNullSpace(W, space[0]));
  PetscCall(MatSetNullSpace(A, space[1]));
  PetscCall(PetscSNPrintf(shared, sizeof(shared), "-@pc_gridmg_coarse_size 8 %s", force));
  PetscCall(CreateGridPC(&p, W, "-@pc_gridmg_coarse_size 8", &one));
  PetscCall(CreateSharedPC(&p, &s, PETSC_FALSE, A, shared, &pc));
  for (int round = 0; round < 2; round++) {
    PetscCall(IsRedundant(pc, &is));
    PetscCall(ApplyBoth(&s, one, pc, (uint64_t)(5 + round), &norm, &difference, &same));
    if (WRONG(!is || !same || !(norm > 0) || !(difference <= (force[0] ? 0 : (PetscReal)2e-5) * norm)))
      FAIL("%s, round %d: %g differs from the cycle of one process by %g", p.name, round, (double)norm, (double)difference);
    if (rank == size - 1) PetscCall(MatSetValue(A, s.begin, s.begin, zero / zero, INSERT_VALUES));
    PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
    PetscCall(PCSetUp(pc));
    PetscCall(PCGetFailedReason(pc, &reason));
    if (WRONG(reason == PC_NOERROR)) FAIL("%s: an entry that is no number passes", p.name);
    PetscCall(FillFrom(W, &s, A));
    PetscCall(PCSetUp(pc));
    if (round) PetscCall(PCReset(pc));
  }
  for (int k = 0; k < 2; k++) PetscCall(MatNullSpaceDestroy(&space[k]));
  PetscCall(PCDestroy(&one));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode TestAll(PetscBool redundant)
{
  const GridProblem random = {.name = "random", .n = {8, 8, 8 * size}, .faces = FACES_RANDOM, .sigma = 1};
  const GridProblem p[]    = {{.name = "odd planes", .n = {6, 5, 7 * size}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 1, 1000}},
                              {.name = "wells after", .n = {4, 4, 4 * size}, .faces = FACES_RANDOM, .sigma = 1, .after = 2},
                              {.name = "wells before", .n = {4, 4, 4 * size}, .faces = FACES_RANDOM, .sigma = 1, .before = 2},
                              {.name = "faults", .n = {4, 4, 8 * size}, .faces = FACES_RANDOM, .sigma = 1, .faults = 9},
                              {.name = "wind", .n = {6, 5, 7 * size}, .faces = FACES_RANDOM, .sigma = 1, .wind = 4, .strength = {1, 1, 100}}};

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(p); k++) {
    for (int slabs = p[k].before ? 1 : 0; slabs < 2; slabs++) {
      if (!(p[k].wind > 0)) PetscCall(TestShared(&p[k], (PetscInt)k, (PetscBool)slabs, "", redundant));
      PetscCall(TestShared(&p[k], (PetscInt)k, (PetscBool)slabs, "-@pc_gridmg_cycle v -@pc_gridmg_precision double -@pc_gridmg_bits 16", redundant));
    }
  }
  PetscCall(TestShared(&random, 0, PETSC_TRUE, "-@pc_gridmg_smooths 2", redundant));
  if (redundant) PetscCall(TestAnyRows());
  if (redundant) PetscCall(TestSingular());
  PetscCall(TestShared(&random, 1, PETSC_FALSE, "-@pc_gridmg_precision double", redundant));
  PetscCall(TestShared(&random, 1, PETSC_FALSE, "", PETSC_FALSE));
  PetscCall(TestShared(&random, 1, PETSC_FALSE, "-@pc_gridmg_smooths 2 -@pc_gridmg_overlap 0", PETSC_FALSE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscBool device, redundant = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-redundant", &redundant, NULL));
  PetscCall(PetscOptionsHasName(NULL, "shared_", "-mat_type", &device));
  if (!device) force = "-@pc_gridmg_redundant";
  PetscCall(TestSort());
  PetscCall(TestMaps());
  PetscCall(TestAll((PetscBool)(redundant && size > 1)));
  return TestEnd(400, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3 4}}
    args: -redundant

  # Levels on devices; processes may share one
  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2 4}}
    timeoutfactor: 3
    output_file: output/right.out
    args: -redundant -shared_mat_type aijcusparse

  # Rows that a compressed matrix decodes on devices
  test:
    suffix: cuda_vcrs
    requires: cuda
    nsize: 2
    timeoutfactor: 3
    output_file: output/right.out
    args: -redundant -shared_mat_type vcrs -shared_mat_vec_type cuda -transport mpi

TEST*/
