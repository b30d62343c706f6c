/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

static char help[] = "PCGRIDMG on several processes: the cycles of a single process for the same aggregates; boxes that overlap.\n\
  -shared_mat_type <type> - of the matrices on several processes\n\
  -transport <name>  - transport of exchanges between overlapping boxes, on devices\n\n";

#include "gridmgsplit.h"

/* ------------------------------------------------------------ the cycles of one process */

static const char *const cycles[] = {"-@pc_gridmg_coarse_size 8",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_cycle v -@pc_gridmg_coarsen semi",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_cycle k",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smooths 2 -@pc_gridmg_coarsen full",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smooths 1,2",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_smooths 0,2 -@pc_gridmg_cycle v",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_levels 2 -@pc_gridmg_smooths 2,1",
                                     "-@pc_gridmg_coarse_size 8 -@pc_gridmg_levels 3 -@pc_gridmg_cycle v"};

/* If each box has a power of two of cells, all aggregates are the same, and applications equal those of one process */
static PetscErrorCode TestSame(const GridProblem *p, PetscInt which, PetscBool slabs, const char options[], PetscInt gather)
{
  char      all[512], shared[512];
  Split     s;
  Mat       S, W, A;
  PC        one, pc;
  PetscReal difference, norm, scale;
  PetscBool same;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(p, which, PETSC_TRUE, slabs, &s));
  PetscCall(CreateGridMatrix(p, 0, &S));
  PetscCall(CreateWhole(S, &W));
  PetscCall(Distribute(W, &s, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_bits 32 -@pc_gridmg_precision double %s", options));
  PetscCall(PetscSNPrintf(shared, sizeof(shared), "-@pc_gridmg_gather_size %d %s", (int)gather, all));
  PetscCall(CreateGridPC(p, W, all, &one));
  PetscCall(CreateSharedPC(p, &s, slabs, A, shared, &pc));
  PetscCall(ApplyBoth(&s, one, pc, 3, &norm, &difference, &same));
  scale = PetscMax((PetscReal)1e-11, 1000 * PETSC_MACHINE_EPSILON) * norm;
  if (WRONG(!(difference <= scale) || !(norm > 0)))
    FAIL("%s, %d x %d x %d boxes, %s: %g differs from the cycle of one process by %g", p->name, (int)s.parts[0], (int)s.parts[1], (int)s.parts[2], shared,
         (double)norm, (double)difference);
  PetscCall(PCDestroy(&one));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Cells per box along each direction of more than one cell; multiplied by the number of boxes */
static const GridProblem sames[] = {{.name = "random", .n = {8, 8, 4}, .faces = FACES_RANDOM, .sigma = 1},
                                    {.name = "strong x", .n = {8, 4, 4}, .faces = FACES_RANDOM, .sigma = 1, .strength = {100, 1, 1}},
                                    {.name = "strong z, plane", .n = {8, 16, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 100, 1}},
                                    {.name = "cells smoothed only", .n = {8, 4, 8}, .faces = FACES_RANDOM, .sigma = 60, .holes = 5},
                                    {.name = "wells after the cells", .n = {4, 8, 8}, .faces = FACES_RANDOM, .sigma = 1, .after = 3},
                                    {.name = "wells before the cells", .n = {4, 4, 8}, .faces = FACES_RANDOM, .sigma = 20, .before = 2, .holes = 9},
                                    {.name = "faults", .n = {8, 8, 4}, .faces = FACES_RANDOM, .sigma = 1, .faults = 25},
                                    {.name = "wind", .n = {8, 4, 8}, .faces = FACES_RANDOM, .sigma = 1, .wind = 4, .after = 1, .faults = 9},
                                    {.name = "line", .n = {64, 1, 1}, .faces = FACES_RANDOM, .sigma = 1}};

static PetscErrorCode TestSames(void)
{
  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(sames); k++) {
    for (size_t c = k % 3; c < PETSC_STATIC_ARRAY_LENGTH(cycles); c += 3) {
      const PetscBool slabs = (PetscBool)(sames[k].before || (k + c) % 3 == 2 || (sames[k].n[1] == 1));
      GridProblem     p     = sames[k];
      PetscInt        parts[3];

      if (sames[k].wind > 0 && c == 2) continue; /* not symmetric */
      ChooseParts(sames[k].n, (PetscInt)c, parts);
      if (slabs) {
        for (int d = 0; d < 3; d++) parts[d] = d == (p.n[2] > 1 ? 2 : (p.n[1] > 1 ? 1 : 0)) ? size : 1;
      }
      for (int d = 0; d < 3; d++) p.n[d] *= parts[d];
      PetscCall(TestSame(&p, (PetscInt)c, slabs, cycles[c], k % 4 == 1 && c < 3 ? 0 : 64));
    }
  }
  {
    /* Pairs along x only, and boxes which begin at odd lines: the colours are those of the whole grid */
    const GridProblem odd = {.name = "odd lines", .n = {16, 5 * size, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1000, 1, 1}};

    PetscCall(TestSame(&odd, 0, PETSC_TRUE, "-@pc_gridmg_coarse_size 8 -@pc_gridmg_coarsen semi -@pc_gridmg_levels 3", 0));
    PetscCall(TestSame(&odd, 0, PETSC_FALSE, "-@pc_gridmg_coarse_size 8 -@pc_gridmg_coarsen semi -@pc_gridmg_levels 3 -@pc_gridmg_cycle v", 0));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ boxes that overlap */

/* Compares cycles with one process, up to rounding of vectors in single precision; twice, with the graphs of a device;
   and with new values */
static PetscErrorCode TestOverlap(const GridProblem *p, PetscInt which, PetscBool slabs, const char options[], PetscInt gather, PetscBool expected)
{
  char      all[512], shared[512];
  Split     s;
  Mat       S, W, A, T;
  PC        one, pc;
  PetscReal difference, norm;
  PetscBool same, does = PETSC_FALSE;

  PetscFunctionBeginUser;
  PetscCall(CreateSplit(p, which, PETSC_TRUE, slabs, &s));
  PetscCall(CreateGridMatrix(p, 0, &S));
  PetscCall(CreateWhole(S, &W));
  PetscCall(Distribute(W, &s, &A));
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_gridmg_coarse_size 8 %s", options));
  PetscCall(PetscSNPrintf(shared, sizeof(shared), "-@pc_gridmg_overlap -@pc_gridmg_gather_size %d %s", (int)gather, all));
  PetscCall(CreateSharedPC(p, &s, slabs, A, shared, &pc));
  PetscCall(Overlaps(pc, &does));
  if (WRONG(does != expected))
    FAIL("%s, %d x %d x %d boxes, %s: boxes %s", p->name, (int)s.parts[0], (int)s.parts[1], (int)s.parts[2], shared, does ? "overlap" : "do not overlap");
  for (PetscInt round = 0; round < 2; round++) {
    if (round) {
      PetscCall(MatDestroy(&W));
      PetscCall(CreateGridMatrix(p, 1, &T));
      PetscCall(CreateWhole(T, &W));
      PetscCall(FillFrom(W, &s, A));
      PetscCall(PCSetUp(pc));
      PetscCall(MatDestroy(&T));
    }
    PetscCall(CreateGridPC(p, W, all, &one));
    PetscCall(ApplyBoth(&s, one, pc, (uint64_t)(3 + round), &norm, &difference, &same));
    if (WRONG(!same)) FAIL("%s, %s: an application has other bits the second time", p->name, shared);
    /* edges between boxes without overlap are not rounded to codes */
    if (WRONG(!(difference <= (expected || size == 1 ? (PetscReal)2e-5 : (PetscReal)0.2) * norm) || !(norm > 0)))
      FAIL("%s, %d x %d x %d boxes, %s, values %d: %g differs from the cycle of one process by %g", p->name, (int)s.parts[0], (int)s.parts[1], (int)s.parts[2],
           shared, (int)round, (double)norm, (double)difference);
    PetscCall(PCDestroy(&one));
  }
  PetscCall(PCDestroy(&pc));
  PetscCall(MatDestroy(&S));
  PetscCall(MatDestroy(&W));
  PetscCall(MatDestroy(&A));
  PetscCall(DestroySplit(&s));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static const char *const visits[] = {"",
                                     "-@pc_gridmg_cycle v -@pc_gridmg_coarsen semi",
                                     "-@pc_gridmg_bits 16 -@pc_gridmg_levels 3",
                                     "-@pc_gridmg_coarsen full -@pc_gridmg_bits 16 -@pc_gridmg_cycle v",
                                     "-@pc_gridmg_coarsen semi -@pc_gridmg_graph 0",
                                     "-@pc_gridmg_cycle k -@pc_gridmg_k_levels 2"};

/* Cells per box along each direction of more than one cell; multiplied by the number of boxes */
static const GridProblem overlapping[] = {{.name = "random", .n = {8, 8, 4}, .faces = FACES_RANDOM, .sigma = 1},
                                          {.name = "strong x", .n = {8, 4, 4}, .faces = FACES_RANDOM, .sigma = 1, .strength = {100, 1, 1}},
                                          {.name = "strong y, plane", .n = {8, 16, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 100, 1}},
                                          {.name = "strong z", .n = {4, 4, 16}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 1, 100}},
                                          {.name = "cells smoothed only", .n = {8, 4, 8}, .faces = FACES_RANDOM, .sigma = 60, .holes = 5},
                                          {.name = "wind", .n = {8, 4, 8}, .faces = FACES_RANDOM, .sigma = 1, .wind = 4},
                                          {.name = "larger", .n = {16, 16, 16}, .faces = FACES_RANDOM, .sigma = 1},
                                          {.name = "line", .n = {64, 1, 1}, .faces = FACES_RANDOM, .sigma = 1}};

static PetscErrorCode TestOverlaps(void)
{
  const PetscBool several = (PetscBool)(size > 1);

  PetscFunctionBeginUser;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(overlapping); k++) {
    for (size_t v = 0; v < PETSC_STATIC_ARRAY_LENGTH(visits); v++) {
      const PetscBool slabs = (PetscBool)((k + v) % 2);
      GridProblem     p     = overlapping[k];
      PetscInt        parts[3];

      if (p.wind > 0 && v == 5) continue; /* not symmetric */
      ChooseParts(p.n, (PetscInt)v, parts);
      if (slabs) {
        for (int d = 0; d < 3; d++) parts[d] = d == (p.n[2] > 1 ? 2 : (p.n[1] > 1 ? 1 : 0)) ? size : 1;
      }
      for (int d = 0; d < 3; d++) p.n[d] *= parts[d];
      PetscCall(TestOverlap(&p, (PetscInt)v, slabs, visits[v], v % 2 ? 0 : 64, several));
    }
  }
  {
    /* Pairs along x only, boxes which begin at odd lines, and boxes of one line */
    const GridProblem odd  = {.name = "odd lines", .n = {16, 5 * size, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1000, 1, 1}};
    const GridProblem thin = {.name = "single lines", .n = {32, size, 1}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1000, 1, 1}};
    /* Cases without overlap: pairs of an odd number of planes; wells; faults */
    const GridProblem planes = {.name = "odd planes", .n = {4, 4, 7 * size}, .faces = FACES_RANDOM, .sigma = 1, .strength = {1, 1, 1000}};
    const GridProblem wells  = {.name = "wells", .n = {4, 4, 4 * size}, .faces = FACES_RANDOM, .sigma = 1, .after = 2};
    const GridProblem faults = {.name = "faults", .n = {4, 4, 8 * size}, .faces = FACES_RANDOM, .sigma = 1, .faults = 9};

    for (int d = 0; d < 2; d++) {
      PetscCall(TestOverlap(d ? &thin : &odd, 0, PETSC_TRUE, "-@pc_gridmg_coarsen semi -@pc_gridmg_levels 3", 0, several));
      PetscCall(TestOverlap(d ? &thin : &odd, 0, PETSC_TRUE, "-@pc_gridmg_coarsen semi -@pc_gridmg_levels 4 -@pc_gridmg_cycle v", 0, several));
    }
    PetscCall(TestOverlap(&planes, 0, PETSC_TRUE, "", 0, PETSC_FALSE));
    PetscCall(TestOverlap(&wells, 0, PETSC_TRUE, "", 0, PETSC_FALSE));
    PetscCall(TestOverlap(&faults, 0, PETSC_TRUE, "", 0, PETSC_FALSE));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

int main(int argc, char **argv)
{
  PetscFunctionBeginUser;
  PetscCall(TestBegin(&argc, &argv, help));
  PetscCall(TestOverlaps());
  PetscCall(TestSames());
  return TestEnd(250, "all is right\n");
}

/*TEST

  test:
    output_file: output/right.out
    nsize: {{1 2 3 4}}

  # Levels on devices; processes may share one
  test:
    suffix: cuda
    requires: cuda
    nsize: {{1 2 4}}
    timeoutfactor: 3
    output_file: output/right.out
    args: -shared_mat_type aijcusparse

  test:
    suffix: cuda_ipc
    requires: cuda
    nsize: 2
    timeoutfactor: 4
    output_file: output/right.out
    args: -shared_mat_type aijcusparse -transport ipc

  # Rows that a compressed matrix decodes on devices
  test:
    suffix: cuda_vcrs
    requires: cuda
    nsize: 2
    timeoutfactor: 3
    output_file: output/right.out
    args: -shared_mat_type vcrs -shared_mat_vec_type cuda

TEST*/
