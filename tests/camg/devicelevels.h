/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   For tests of PCCAMG's set-up on a device: problems, and their levels, which the host makes. A program tests the
   functions of a topic on the rows of each problem, and on each level
*/

#include "devicetest.h"

/* ------------------------------------------------------------ problems */

static inline PetscReal Random(PetscInt k)
{
  return PetscSinReal((PetscReal)(k % 10007) * (PetscReal)(k % 9973 + 1)) * (PetscReal)0.5 + (PetscReal)0.5;
}

static inline PetscErrorCode ToMatrix(Mat B, CAMGMatrix *A)
{
  PetscInt n, nz = 0;

  PetscFunctionBeginUser;
  PetscCall(MatAssemblyBegin(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(B, MAT_FINAL_ASSEMBLY));
  PetscCall(MatGetSize(B, &n, NULL));
  for (PetscInt r = 0; r < n; r++) {
    PetscInt m;

    PetscCall(MatGetRow(B, r, &m, NULL, NULL));
    nz += m;
    PetscCall(MatRestoreRow(B, r, &m, NULL, NULL));
  }
  PetscCall(PCCAMGMatrixCreate_Private(n, n, nz, 1, 1, A));
  for (PetscInt r = 0; r < n; r++) {
    const PetscInt    *j;
    const PetscScalar *a;
    PetscInt           m;

    PetscCall(MatGetRow(B, r, &m, &j, &a));
    PetscCall(PetscArraycpy(A->j + A->i[r], j, m));
    PetscCall(PetscArraycpy(A->a + A->i[r], a, m));
    A->i[r + 1] = A->i[r] + m;
    PetscCall(MatRestoreRow(B, r, &m, &j, &a));
  }
  PetscCall(MatDestroy(&B));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode AddEdge(Mat B, PetscInt p, PetscInt q, PetscScalar pq, PetscScalar qp)
{
  PetscFunctionBeginUser;
  PetscCall(MatSetValue(B, p, q, -pq, ADD_VALUES));
  PetscCall(MatSetValue(B, q, p, -qp, ADD_VALUES));
  PetscCall(MatSetValue(B, p, p, PetscAbsScalar(pq), ADD_VALUES));
  PetscCall(MatSetValue(B, q, q, PetscAbsScalar(qp), ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Seven points with jumps of six decades; wind: flow along the first direction, upwind */
static inline PetscErrorCode Laplacian(PetscInt n, PetscInt nz, PetscBool jumps, PetscReal wind, CAMGMatrix *A)
{
  const PetscInt m = n * n * nz, stride[3] = {1, n, n * n}, size[3] = {n, n, nz};
  Mat            B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, m, m, 7, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt p = 0; p < m; p++) {
    for (int d = 0; d < 3; d++) {
      const PetscInt q = p + stride[d];
      PetscReal      c = 1;

      if (p / stride[d] % size[d] == size[d] - 1) continue;
      if (jumps) c = PetscPowReal(10, PetscFloorReal(6 * Random(p % n / 5 + 100 * (p / n % n / 5))));
      PetscCall(AddEdge(B, p, q, c, c + (d == 0 ? wind : 0)));
    }
    PetscCall(MatSetValue(B, p, p, 1e-3, ADD_VALUES));
  }
  PetscCall(ToMatrix(B, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Random edges, and vertices with many neighbours; phases: Hermitian entries without symmetry */
static inline PetscErrorCode Graph(PetscInt n, PetscInt hubs, PetscInt degree, PetscReal diagonal, CAMGMatrix *A)
{
  Mat B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, n, n, 24, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt h = 0; h < hubs; h++) {
    const PetscInt p = (h * 101 + 17) % n;

    for (PetscInt e = 0; e < degree; e++) {
      const PetscInt q = (PetscInt)(((PetscInt64)e * 7919 + 31 * h) % n);

      if (q != p) PetscCall(AddEdge(B, p, q, 1 + Random(e + h), 1 + Random(e + h)));
    }
  }
  for (PetscInt p = 0; p < n; p++) {
    PetscCall(MatSetValue(B, p, p, diagonal, ADD_VALUES));
    if (p % 97 == 0) continue; /* some vertices with few edges */
    for (int e = 0; e < 4; e++) {
      const PetscInt q = (PetscInt)(((PetscInt64)(Random(4 * p + e) * 1e6) * 104729 + p) % n);
      PetscScalar    c = Random(p + 3 * e) + (PetscReal)0.01, adjoint = c;

#if PetscDefined(USE_COMPLEX)
      c       = PetscCMPLX(Random(p + 3 * e), Random(p + e) - .5);
      adjoint = PetscConj(c);
#endif
      if (q != p) PetscCall(AddEdge(B, p, q, c, adjoint));
    }
  }
  PetscCall(ToMatrix(B, A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* b unknowns at a point of a grid, coupled. Near the null space: six vectors for three unknowns, else a constant for each */
static inline PetscErrorCode Blocks(PetscInt n, PetscInt b, CAMGMatrix *A, CAMGSpace *space)
{
  const PetscInt nodes = n * n * n, stride[3] = {1, n, n * n}, columns = b == 3 ? 6 : b;
  Mat            B;

  PetscFunctionBeginUser;
  PetscCall(MatCreateSeqAIJ(PETSC_COMM_SELF, b * nodes, b * nodes, 7 * b, NULL, &B));
  PetscCall(MatSetOption(B, MAT_NEW_NONZERO_ALLOCATION_ERR, PETSC_FALSE));
  for (PetscInt p = 0; p < nodes; p++) {
    for (int d = 0; d < 3; d++) {
      if (p / stride[d] % n == n - 1) continue;
      for (PetscInt c = 0; c < b; c++) {
        for (PetscInt e = 0; e < b; e++) {
          const PetscReal v = c == e ? (c == d ? 3 : 1) : (PetscReal)0.1 * (1 + Random(p + c * e));

          PetscCall(AddEdge(B, b * p + c, b * (p + stride[d]) + e, v, v));
        }
      }
    }
    for (PetscInt c = 0; c < b; c++) PetscCall(MatSetValue(B, b * p + c, b * p + c, 1e-3, ADD_VALUES));
  }
  PetscCall(ToMatrix(B, A));
  *space = (CAMGSpace){.block = b, .columns = columns, .vectors = PETSC_TRUE};
  PetscCall(PetscCalloc1(b * columns * nodes, &space->T));
  for (PetscInt p = 0; p < nodes; p++) {
    const PetscReal x[3] = {(PetscReal)(p % n), (PetscReal)(p / n % n), (PetscReal)(p / n / n)};

    for (PetscInt c = 0; c < b; c++) {
      PetscScalar *t = space->T + columns * (b * p + c);

      t[c] = 1;
      if (b != 3) continue;
      t[3 + c]           = x[(c + 1) % 3];
      t[3 + (c + 2) % 3] = -x[(c + 2) % 3];
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ levels */

/* A level, and the host's steps to the next one */
typedef struct {
  CAMGMatrix   A, D; /* the level, and its copy on the device */
  PetscBool    symmetric;
  PetscReal    threshold;
  CAMGMatrix   N, S; /* norms of blocks, if there are blocks; the symmetric part of A or N */
  CAMGGraph    g, F; /* strong entries; the filtered matrix */
  PetscInt    *agg;  /* [A.m] */
  PetscInt     aggregates;
  CAMGSpace    space, coarse;
  PetscScalar *T; /* the vectors of the space, before they became tentative ones */
  CAMGMatrix   P, R, C;
} Level;

#define TRUNCATE 4

static inline PetscErrorCode Filter(const CAMGMatrix *A, PetscReal threshold, CAMGGraph *g)
{
  PetscReal *root;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(A->m, &root));
  PetscCall(PCCAMGRoots_Private(A, root));
  PetscCall(PCCAMGFilter_Private(A, root, threshold, g));
  PetscCall(PetscFree(root));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes over A and the space */
static inline PetscErrorCode LevelCreate(const CAMGMatrix *A, const CAMGSpace *space, PetscBool symmetric, PetscReal threshold, Level *l)
{
  const CAMGMatrix *B    = space->block > 1 ? &l->N : A;
  const PetscInt    size = A->m * A->rb * space->columns;
  CAMGMatrix        H, AP;
  PetscReal        *damping;

  PetscFunctionBeginUser;
  *l = (Level){.A = *A, .space = *space, .symmetric = symmetric, .threshold = threshold};
  PetscCall(PutMatrix(A, &l->D));
  if (space->block > 1) PetscCall(PCCAMGNorms_Private(A, &l->N));
  PetscCall(PCCAMGTranspose_Private(B, &H));
  PetscCall(PCCAMGMean_Private(B, &H, &l->S));
  PetscCall(PCCAMGMatrixFree_Private(&H));
  PetscCall(Filter(symmetric ? B : &l->S, threshold, &l->g));
  PetscCall(PetscMalloc1(A->m, &l->agg));
  PetscCall(PCCAMGAggregate_Private(&l->g, l->agg, &l->aggregates));
  if (space->T) {
    PetscCall(PetscMalloc1(size, &l->T));
    PetscCall(PetscArraycpy(l->T, space->T, size));
  }
  PetscCall(PCCAMGTentative_Private(&l->space, A->m, l->agg, l->aggregates, &l->coarse));
  if (space->block == 1) PetscCall(Filter(A, threshold, &l->F));
  else l->F = (CAMGGraph){.strong = *A};
  PetscCall(PetscMalloc1(A->m * A->rb, &damping));
  PetscCall(PCCAMGDamping_Private(&l->F, (PetscReal)0.9, damping));
  PetscCall(PCCAMGSmooth_Private(&l->F, damping, &l->space, l->agg, l->aggregates, TRUNCATE, &l->P));
  PetscCall(PetscFree(damping));
  PetscCall(PCCAMGTranspose_Private(&l->P, &l->R));
  PetscCall(PCCAMGMultiply_Private(A, &l->P, &AP));
  PetscCall(PCCAMGMultiply_Private(&l->R, &AP, &l->C));
  PetscCall(PCCAMGMatrixFree_Private(&AP));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The next level stays: its matrix and space */
static inline PetscErrorCode LevelDestroy(Level *l)
{
  PetscFunctionBeginUser;
  if (l->space.block > 1) PetscCall(PCCAMGMatrixFree_Private(&l->N));
  else {
    PetscCall(PCCAMGMatrixFree_Private(&l->F.strong));
    PetscCall(PetscFree(l->F.d));
  }
  PetscCall(PCCAMGMatrixFree_Private(&l->S));
  PetscCall(PCCAMGMatrixFree_Private(&l->g.strong));
  PetscCall(PetscFree(l->g.d));
  PetscCall(PetscFree(l->agg));
  PetscCall(PetscFree(l->T));
  PetscCall(PetscFree(l->space.T));
  PetscCall(PCCAMGMatrixFree_Private(&l->P));
  PetscCall(PCCAMGMatrixFree_Private(&l->R));
  PetscCall(FreeMatrix(&l->D));
  PetscCall(PCCAMGMatrixFree_Private(&l->A));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ tests of all problems */

typedef struct {
  PetscErrorCode (*rows)(const CAMGMatrix *, PetscInt block); /* of a user, or NULL */
  PetscErrorCode (*level)(const Level *);
} Test;

/* A and the space are freed */
static inline PetscErrorCode TestProblem(const Test *test, const char *name, CAMGMatrix *A, CAMGSpace *space, PetscBool symmetric)
{
  PetscReal  threshold = (PetscReal)0.08;
  PetscInt   level     = 0;
  CAMGMatrix copy;

  PetscFunctionBeginUser;
  problem = name;
  if (test->rows) PetscCall((*test->rows)(A, space->block));
  PetscCall(PCCAMGCopy_Private(A, .5, NULL, NULL, space->block, &copy));
  PetscCall(PCCAMGMatrixFree_Private(A));
  *A = copy;
  for (; level < LEVELS && A->m > 60; level++, threshold /= 2) {
    Level l;

    if (times) PetscCall(PetscPrintf(PETSC_COMM_SELF, "%s, level %d: %d rows, %d entries\n", name, (int)level, (int)A->m, (int)A->nz));
    PetscCall(LevelCreate(A, space, symmetric, threshold, &l));
    PetscCall((*test->level)(&l));
    *A     = l.C;
    *space = l.coarse;
    PetscCall(LevelDestroy(&l));
    if (!space->T) space->block = space->columns = 1;
  }
  PetscCall(PCCAMGMatrixFree_Private(A));
  PetscCall(PetscFree(space->T));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n: points per direction */
static inline PetscErrorCode TestProblems(PetscInt n, const Test *test)
{
  const CAMGSpace one = {.block = 1, .columns = 1};
  CAMGSpace       space;
  CAMGMatrix      A;

  PetscFunctionBeginUser;
  space = one;
  PetscCall(Laplacian(n, n, PETSC_FALSE, 0, &A));
  PetscCall(TestProblem(test, "Laplacian", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Laplacian(n, n + 3, PETSC_TRUE, 0, &A));
  PetscCall(TestProblem(test, "jumps", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Laplacian(n + 2, n, PETSC_FALSE, 3, &A));
  PetscCall(TestProblem(test, "upwind", &A, &space, PETSC_FALSE));
  space = one;
  PetscCall(Graph(20000, 4, 6000, (PetscReal)0.1, &A));
  PetscCall(TestProblem(test, "hubs", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Graph(3000, 40, 700, (PetscReal)0.1, &A));
  PetscCall(TestProblem(test, "many hubs", &A, &space, PETSC_TRUE));
  space = one;
  PetscCall(Graph(9000, 0, 0, 5, &A)); /* few strong entries */
  PetscCall(TestProblem(test, "weak graph", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 20) / 2, 3, &A, &space));
  PetscCall(TestProblem(test, "blocks of 3, rigid body modes", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 20) / 2, 2, &A, &space));
  PetscCall(TestProblem(test, "blocks of 2", &A, &space, PETSC_TRUE));
  PetscCall(Blocks(PetscMin(n, 12) / 2, 5, &A, &space));
  PetscCall(TestProblem(test, "blocks of 5", &A, &space, PETSC_TRUE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* n: of -n */
static inline PetscErrorCode TestDeviceBegin(int *argc, char ***argv, const char help[], PetscInt *n)
{
  PetscFunctionBeginUser;
  PetscCall(PetscInitialize(argc, argv, NULL, help));
  *n = 24;
  PetscCall(PetscOptionsGetInt(NULL, NULL, "-n", n, NULL));
  PetscCall(PetscOptionsGetBool(NULL, NULL, "-times", &times, NULL));
  PetscCall(PetscDeviceInitialize(PETSC_DEVICE_CUDA));
  PetscFunctionReturn(PETSC_SUCCESS);
}
