/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* What the tests of PCGRIDMG share: M-matrices on grids, preconditioners and solvers from lines of options */

#include <lithe.h>
#include <tests/vcrs/vcrstest.h>
#include <tests/pcvcrs/pcvcrstest.h>

typedef enum {
  FACES_RANDOM,  /* between 0.1 and 2 */
  FACES_DECADES, /* over ten decades, each face by itself */
  FACES_JUMPS,   /* harmonic means of permeabilities over ten decades, constant in blocks of cells */
  FACES_ONE,     /* 1 */
  FACES_LAYERS   /* 1, and strength along another direction in each layer */
} Faces;

typedef struct {
  const char *name;
  PetscInt    n[3];
  Faces       faces;
  PetscReal   strength[3];   /* factor of faces along each direction; 0: 1 */
  PetscReal   sigma;         /* largest row sum; 0: a Neumann problem */
  PetscBool   dirichlet;     /* or twice the faces through the outside */
  PetscInt    before, after; /* wells */
  PetscInt    faults;        /* edges between cells which are not neighbours */
  PetscInt    holes;         /* a fraction 1/holes of the cells has no permeability; 0: none */
  PetscReal   wind;          /* ratio of entries of a row to the transposed entries: nonsymmetric */
} GridProblem;

/* Random problem number k; without sizes, and wells only after the cells */
static inline GridProblem RandomGrid(PetscInt k)
{
  GridProblem p = {.sigma     = k % 7 == 6 ? 0 : (k % 7 == 5 ? 40 : 1),
                   .faces     = (Faces)(k % 3),
                   .holes     = k % 3 == 2 ? 5 : 0,
                   .faults    = k % 6 == 5 ? 4 : 0,
                   .after     = k % 4 == 3 ? 2 : 0,
                   .wind      = k % 5 == 4 ? 3 : 0,
                   .dirichlet = (PetscBool)(k % 9 == 8)};

  for (int d = 0; d < 3; d++) p.strength[d] = PetscPowReal(10.0, (PetscReal)(2 * TestRandom((uint64_t)k, (uint64_t)d, 12)));
  return p;
}

static inline PetscInt GridCells(const GridProblem *p)
{
  return p->n[0] * p->n[1] * p->n[2];
}

static inline PetscInt GridRows(const GridProblem *p)
{
  return GridCells(p) + p->before + p->after;
}

static inline PetscBool IsHole(const GridProblem *p, PetscInt c)
{
  return (PetscBool)(p->holes && TestRandom((uint64_t)c, 77, 1) * (double)p->holes < 1.0);
}

static inline PetscReal PermeabilityOf(const GridProblem *p, PetscInt c)
{
  const PetscInt i = c % p->n[0] / 5, j = c / p->n[0] % p->n[1] / 3, k = c / p->n[0] / p->n[1] / 2;

  return PetscPowReal((PetscReal)10.0, (PetscReal)(10.0 * TestRandom((uint64_t)i, (uint64_t)(100 * j + k), 31) - 5.0));
}

/* The face of cell c along d, towards the next cell; round: selects other values */
static inline PetscReal FaceOf(const GridProblem *p, PetscInt c, int d, PetscInt round)
{
  const double    random = TestRandom((uint64_t)c, (uint64_t)d, (uint64_t)(1 + round));
  const PetscInt  layer  = c / (p->n[0] * p->n[1]);
  const PetscReal times  = p->strength[d] > 0 ? p->strength[d] : (PetscReal)1.0;

  switch (p->faces) {
  case FACES_RANDOM:
    return times * (PetscReal)(0.1 + 1.9 * random);
  case FACES_DECADES:
    return times * PetscPowReal((PetscReal)10.0, (PetscReal)(10.0 * random - 5.0));
  case FACES_JUMPS:
    return times * 2 / (1 / PermeabilityOf(p, c) + 1 / PermeabilityOf(p, c + (d == 0 ? 1 : (d == 1 ? p->n[0] : p->n[0] * p->n[1]))));
  case FACES_LAYERS:
    return layer / 4 % 3 == d ? p->strength[0] : (PetscReal)1.0;
  default:
    return times;
  }
}

static inline PetscErrorCode AddEdge(const GridProblem *p, Mat A, PetscInt i, PetscInt j, PetscReal t)
{
  const PetscReal other = p->wind > 0 ? t * ((PetscReal)1.0 + p->wind * (PetscReal)TestRandom((uint64_t)i, (uint64_t)j, 9)) : t;

  PetscFunctionBeginUser;
  PetscCall(MatSetValue(A, i, j, -t, ADD_VALUES));
  PetscCall(MatSetValue(A, i, i, t, ADD_VALUES));
  PetscCall(MatSetValue(A, j, i, -other, ADD_VALUES));
  PetscCall(MatSetValue(A, j, j, other, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode FillGrid(const GridProblem *p, PetscInt round, Mat A)
{
  const PetscInt cells = GridCells(p), wells = p->before + p->after, first = p->before;

  PetscFunctionBeginUser;
  for (PetscInt c = 0; c < cells; c++) {
    const PetscInt  at[3] = {c % p->n[0], c / p->n[0] % p->n[1], c / p->n[0] / p->n[1]}, stride[3] = {1, p->n[0], p->n[0] * p->n[1]};
    const PetscReal sigma = p->sigma * (PetscReal)TestRandom((uint64_t)c, 5, (uint64_t)(1 + round));

    PetscCall(MatSetValue(A, first + c, first + c, sigma, ADD_VALUES));
    for (int d = 0; d < 3; d++) {
      if (p->dirichlet && (at[d] == 0 || at[d] == p->n[d] - 1) && p->n[d] > 1)
        PetscCall(MatSetValue(A, first + c, first + c, (PetscReal)2.0 * FaceOf(p, c, d, round), ADD_VALUES));
      if (at[d] == p->n[d] - 1 || IsHole(p, c) || IsHole(p, c + stride[d])) continue;
      PetscCall(AddEdge(p, A, first + c, first + c + stride[d], FaceOf(p, c, d, round)));
    }
    /* each well has a column of cells, and the first well shares some cells with other wells */
    for (PetscInt w = 0; w < wells; w++) {
      const PetscInt row = w < first ? w : cells + w;

      if ((at[0] == (3 * w + 1) % p->n[0] && at[1] == (2 * w) % p->n[1]) || (w == 0 && c % 11 == 3))
        PetscCall(AddEdge(p, A, first + c, row, (PetscReal)0.5 * FaceOf(p, c, 0, round + 100 + w)));
    }
  }
  for (PetscInt w = 1; w < wells; w += 2) PetscCall(AddEdge(p, A, w < first ? w : cells + w, w - 1 < first ? w - 1 : cells + w - 1, (PetscReal)0.3));
  for (PetscInt f = 0; f < p->faults; f++) {
    const PetscInt i = (PetscInt)(TestRandom((uint64_t)f, 3, 1) * (double)cells), j = (PetscInt)(TestRandom((uint64_t)f, 4, 1) * (double)cells);

    if (i != j) PetscCall(AddEdge(p, A, first + i, first + j, FaceOf(p, i, 0, round + 50)));
  }
  PetscCall(MatAssemblyBegin(A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(A, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CreateGridMatrix(const GridProblem *p, PetscInt round, Mat *A)
{
  const PetscInt n = GridRows(p);

  PetscFunctionBeginUser;
  PetscCall(MatCreate(PETSC_COMM_SELF, A));
  PetscCall(MatSetSizes(*A, n, n, n, n));
  PetscCall(MatSetType(*A, MATSEQAIJ));
  PetscCall(MatSetUp(*A));
  PetscCall(MatSetOption(*A, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  PetscCall(FillGrid(p, round, *A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A set-up PCGRIDMG with the grid set; further options with @ for its prefix */
static inline PetscErrorCode CreateGridPC(const GridProblem *p, Mat A, const char options[], PC *pc)
{
  char all[1024];

  PetscFunctionBeginUser;
  PetscCall(PetscSNPrintf(all, sizeof(all), "-@pc_type gridmg -@pc_gridmg_grid %d,%d,%d %s", (int)p->n[0], (int)p->n[1], (int)p->n[2], options));
  PetscCall(CreatePC(A, all, NULL, pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Iterations of a solve with a random right-hand side in the range of the matrix, negative if not converged; the true
   residual in multiples of the tolerance. The right-hand side is real, because a complex right-hand side couples two
   systems in one method, which takes more iterations
*/
static inline PetscErrorCode GridIterations(const GridProblem *p, Mat A, const char type[], const char options[], PetscInt *its, PetscReal *residual)
{
  PetscReal norm, rtol = PetscMax((PetscReal)1e-8, 100 * PETSC_MACHINE_EPSILON);
  KSP       ksp;
  PC        pc;
  Vec       x, b, r;

  PetscFunctionBeginUser;
  PetscCall(CreateGridPC(p, A, options, &pc));
  PetscCall(KSPCreate(PETSC_COMM_SELF, &ksp));
  PetscCall(KSPSetOperators(ksp, A, A));
  PetscCall(KSPSetPC(ksp, pc));
  PetscCall(KSPSetType(ksp, type));
  PetscCall(KSPSetTolerances(ksp, rtol, 0.0, PETSC_CURRENT, 300));
  PetscCall(PCDestroy(&pc));
  PetscCall(MatCreateVecs(A, &x, &b));
  PetscCall(VecDuplicate(b, &r));
  PetscCall(TestFillVec(x, 3));
  PetscCall(VecRealPart(x));
  PetscCall(MatMult(A, x, b));
  PetscCall(VecSet(x, 0.0));
  PetscCall(SolveIterations(ksp, b, x, its));
  PetscCall(MatMult(A, x, r));
  PetscCall(VecAXPY(r, -1.0, b));
  PetscCall(VecNorm(r, NORM_2, residual));
  PetscCall(VecNorm(b, NORM_2, &norm));
  *residual /= norm * rtol;
  PetscCall(VecDestroy(&x));
  PetscCall(VecDestroy(&b));
  PetscCall(VecDestroy(&r));
  PetscCall(KSPDestroy(&ksp));
  PetscFunctionReturn(PETSC_SUCCESS);
}
