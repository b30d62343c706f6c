/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Test matrices of PCCAMG: meshes, fluxes, graphs, blocks */

#include <petscksp.h>
#include <tests/vcrs/vcrstest.h>

typedef enum {
  CAMG_FLUXES,    /* 7 points, coefficient 1 */
  CAMG_JUMPS,     /* six decades, by boxes */
  CAMG_STRETCHED, /* couplings 1e4 along z */
  CAMG_WELLS,     /* jumps, and two rows that couple columns of cells */
  CAMG_ELEMENTS,  /* linear tetrahedra, points moved at random */
  CAMG_UNITS,     /* the same, unknowns in units from 1e-2 to 1e2 */
  CAMG_INACTIVE,  /* a third of the rows is that of the identity, or empty */
  CAMG_PARTS,     /* two grids without a coupling */
  CAMG_NEUMANN,   /* singular */
  CAMG_HUBS,      /* a graph with hubs */
  CAMG_ELASTIC,   /* linear tetrahedra, three displacements */
  CAMG_UPWIND,    /* convection along a vortex */
  CAMG_CHAIN,     /* a Markov chain */
  CAMG_KINDS
} CAMGKind;

static const char *const CAMGKindNames[] = {"fluxes", "jumps",   "stretched", "wells",   "elements", "units", "inactive",
                                            "parts",  "neumann", "hubs",      "elastic", "upwind",   "chain"};

static PetscReal CAMGRandom(PetscInt k, PetscInt stream)
{
  return (PetscReal)TestRandom((uint64_t)k, (uint64_t)stream, 11); /* from -1 to 1 */
}

static PetscBool CAMGIsSymmetric(CAMGKind kind)
{
  return (PetscBool)(kind != CAMG_UPWIND && kind != CAMG_CHAIN);
}

/* A point of the grid of n^3 points */
static PetscInt CAMGPoint(PetscInt n, PetscInt i, PetscInt j, PetscInt k)
{
  return i + n * (j + n * k);
}

static PetscReal CAMGCoefficient(CAMGKind kind, PetscInt n, PetscInt i, PetscInt j, PetscInt k)
{
  const PetscInt box = 4 * i / n + 5 * (4 * j / n) + 25 * (4 * k / n);

  return kind == CAMG_JUMPS || kind == CAMG_WELLS ? PetscPowReal(10, 3 * CAMGRandom(box, 1)) : 1;
}

/* Fluxes between cells, and to values 0 outside */
static PetscErrorCode CAMGFluxes(CAMGKind kind, PetscInt n, Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k < n; k++) {
    for (PetscInt j = 0; j < n; j++) {
      for (PetscInt i = 0; i < n; i++) {
        const PetscInt  row = CAMGPoint(n, i, j, k);
        const PetscBool off = (PetscBool)(kind == CAMG_INACTIVE && CAMGRandom(row, 2) > .3);

        if (off) {
          if (row % 2) PetscCall(MatSetValue(A, row, row, 1, ADD_VALUES));
          continue;
        }
        for (int f = 0; f < 6; f++) {
          const PetscInt  d = f / 2, s = f % 2 ? 1 : -1, ii = i + (d == 0) * s, jj = j + (d == 1) * s, kk = k + (d == 2) * s;
          const PetscBool in = (PetscBool)(ii >= 0 && jj >= 0 && kk >= 0 && ii < n && jj < n && kk < n);
          const PetscInt  to = in ? CAMGPoint(n, ii, jj, kk) : -1;
          const PetscReal x = (2 * i + 1) / (PetscReal)n - 1, y = (2 * j + 1) / (PetscReal)n - 1, wind = d == 2 ? (PetscReal)0.3 : (d ? x : -y);
          PetscReal       t = CAMGCoefficient(kind, n, i, j, k);

          if (in) t = 2 * t * CAMGCoefficient(kind, n, ii, jj, kk) / (t + CAMGCoefficient(kind, n, ii, jj, kk));
          if (kind == CAMG_STRETCHED && d == 2) t *= 10000;
          if (kind == CAMG_UPWIND) t += 20 * PetscMax(0, -s * wind);
          if (!in && kind == CAMG_NEUMANN) continue;
          if (kind == CAMG_PARTS && in && (k == n / 2) != (kk == n / 2) && PetscMin(k, kk) < n / 2) continue;
          if (in && kind == CAMG_INACTIVE && CAMGRandom(to, 2) > .3) continue;
          PetscCall(MatSetValue(A, row, row, t, ADD_VALUES));
          if (in) PetscCall(MatSetValue(A, row, to, -t, ADD_VALUES));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Rows after all cells: unknowns that couple columns of cells */
static PetscErrorCode CAMGWells(PetscInt n, Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt w = 0; w < 2; w++) {
    const PetscInt row = n * n * n + w;

    for (PetscInt k = 0; k < n; k++) {
      const PetscInt cell = CAMGPoint(n, (w + 1) * n / 3, (w + 1) * n / 3, k);

      PetscCall(MatSetValue(A, cell, cell, 3, ADD_VALUES));
      PetscCall(MatSetValue(A, row, row, 3, ADD_VALUES));
      PetscCall(MatSetValue(A, row, cell, -3, ADD_VALUES));
      PetscCall(MatSetValue(A, cell, row, -3, ADD_VALUES));
    }
    PetscCall(MatSetValue(A, row, row, 1, ADD_VALUES));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static void CAMGPlace(PetscInt n, PetscInt point, PetscReal x[3])
{
  const PetscInt at[3] = {point % n, point / n % n, point / n / n};

  for (int d = 0; d < 3; d++) x[d] = at[d] + (at[d] > 0 && at[d] < n - 1 ? CAMGRandom(3 * point + d, 3) / 5 : 0);
}

/* Gradients of the linear functions of a tetrahedron, and its volume */
static PetscReal CAMGGradients(PetscInt n, const PetscInt point[4], PetscReal g[4][3])
{
  PetscReal x[4][3], e[3][3], det;

  for (int v = 0; v < 4; v++) CAMGPlace(n, point[v], x[v]);
  for (int v = 0; v < 3; v++) {
    for (int d = 0; d < 3; d++) e[v][d] = x[v + 1][d] - x[0][d];
  }
  for (int v = 0; v < 3; v++) {
    const PetscReal *a = e[(v + 1) % 3], *b = e[(v + 2) % 3];

    for (int d = 0; d < 3; d++) g[v + 1][d] = a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3];
  }
  det = e[0][0] * g[1][0] + e[0][1] * g[1][1] + e[0][2] * g[1][2];
  for (int d = 0; d < 3; d++) {
    for (int v = 1; v < 4; v++) g[v][d] /= det;
    g[0][d] = -(g[1][d] + g[2][d] + g[3][d]);
  }
  return PetscAbsReal(det) / 6;
}

/* The entries of a tetrahedron: of the Laplacian, or of elasticity */
static PetscErrorCode CAMGTetrahedron(PetscInt n, PetscInt components, const PetscInt point[4], Mat A)
{
  const PetscReal lambda = (PetscReal)0.577, mu = (PetscReal)0.385;
  PetscReal       g[4][3];
  const PetscReal volume = CAMGGradients(n, point, g);

  PetscFunctionBeginUser;
  for (int a = 0; a < 4; a++) {
    for (int b = 0; b < 4; b++) {
      const PetscReal dot = g[a][0] * g[b][0] + g[a][1] * g[b][1] + g[a][2] * g[b][2];

      for (PetscInt c = 0; c < components; c++) {
        for (PetscInt d = 0; d < components; d++) {
          const PetscReal v = components == 1 ? dot : lambda * g[a][c] * g[b][d] + mu * g[a][d] * g[b][c] + (c == d ? mu * dot : 0);

          PetscCall(MatSetValue(A, components * point[a] + c, components * point[b] + d, volume * v, ADD_VALUES));
        }
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each cube is six tetrahedra; the plane k = 0 is fixed by large diagonal entries */
static PetscErrorCode CAMGElements(PetscInt n, PetscInt components, Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt k = 0; k + 1 < n; k++) {
    for (PetscInt j = 0; j + 1 < n; j++) {
      for (PetscInt i = 0; i + 1 < n; i++) {
        for (int t = 0; t < 6; t++) {
          const int first = t / 2, second = (first + 1 + t % 2) % 3;
          int       at[3] = {0, 0, 0};
          PetscInt  point[4];

          point[0]   = CAMGPoint(n, i, j, k);
          at[first]  = 1;
          point[1]   = CAMGPoint(n, i + at[0], j + at[1], k + at[2]);
          at[second] = 1;
          point[2]   = CAMGPoint(n, i + at[0], j + at[1], k + at[2]);
          point[3]   = CAMGPoint(n, i + 1, j + 1, k + 1);
          PetscCall(CAMGTetrahedron(n, components, point, A));
        }
      }
    }
  }
  for (PetscInt r = 0; r < components * n * n; r++) PetscCall(MatSetValue(A, r, r, 100, ADD_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vertex takes a few earlier ones, most often those that others have taken */
static PetscErrorCode CAMGHubs(PetscInt n, Mat A)
{
  PetscInt *taken, size = 0;

  PetscFunctionBeginUser;
  PetscCall(PetscMalloc1(8 * n, &taken));
  for (PetscInt v = 1; v < n; v++) {
    for (PetscInt e = 0; e < PetscMin(v, 4); e++) {
      const PetscReal u = (1 + CAMGRandom(4 * v + e, 4)) / 2, w = PetscPowReal(10, CAMGRandom(4 * v + e, 5));
      const PetscInt  to = size && e != 3 ? taken[PetscMin((PetscInt)(u * size), size - 1)] : PetscMin((PetscInt)(u * v), v - 1);

      if (to == v) continue;
      PetscCall(MatSetValue(A, v, v, w, ADD_VALUES));
      PetscCall(MatSetValue(A, to, to, w, ADD_VALUES));
      PetscCall(MatSetValue(A, v, to, -w, ADD_VALUES));
      PetscCall(MatSetValue(A, to, v, -w, ADD_VALUES));
      taken[size++] = v;
      taken[size++] = to;
    }
  }
  for (PetscInt v = 0; v < n; v += 500) PetscCall(MatSetValue(A, v, v, 1, ADD_VALUES));
  PetscCall(PetscFree(taken));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* I - 0.9999 Q of two queues */
static PetscErrorCode CAMGChain(PetscInt n, Mat A)
{
  PetscFunctionBeginUser;
  for (PetscInt i = 0; i < n; i++) {
    for (PetscInt j = 0; j < n; j++) {
      const PetscInt row      = i * n + j,
                     to[5]    = {i + 1 < n ? row + n : -1, i ? row - n : -1, j + 1 < n ? row + 1 : -1, j ? row - 1 : -1, i && j ? row - n - 1 : -1};
      const PetscReal rate[5] = {1, 1.2, .7, .9, .3};
      PetscReal       w[5], sum = 0;

      for (int e = 0; e < 5; e++) {
        w[e] = to[e] < 0 ? 0 : rate[e] * (1 + CAMGRandom(5 * row + e, 6) / 2);
        sum += w[e];
      }
      PetscCall(MatSetValue(A, row, row, 1, ADD_VALUES));
      for (int e = 0; e < 5; e++) {
        if (to[e] >= 0) PetscCall(MatSetValue(A, row, to[e], -(PetscReal)0.9999 * w[e] / sum, ADD_VALUES));
      }
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CAMGRigid(PetscInt n, Mat A)
{
  Vec          x;
  MatNullSpace space;
  PetscScalar *a;
  PetscInt     begin, end;

  PetscFunctionBeginUser;
  PetscCall(MatCreateVecs(A, &x, NULL));
  PetscCall(VecSetBlockSize(x, 3));
  PetscCall(VecGetOwnershipRange(x, &begin, &end));
  PetscCall(VecGetArray(x, &a));
  for (PetscInt p = begin / 3; p < end / 3; p++) {
    PetscReal at[3];

    CAMGPlace(n, p, at);
    for (int d = 0; d < 3; d++) a[3 * p - begin + d] = at[d];
  }
  PetscCall(VecRestoreArray(x, &a));
  PetscCall(MatNullSpaceCreateRigidBody(x, &space));
  PetscCall(MatSetNearNullSpace(A, space));
  PetscCall(MatNullSpaceDestroy(&space));
  PetscCall(VecDestroy(&x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* About n^3 unknowns of a component; process 0 has all entries at first */
static PetscErrorCode CAMGCreate(CAMGKind kind, PetscInt n, Mat *A)
{
  const PetscInt components = kind == CAMG_ELASTIC ? 3 : 1;
  PetscInt       rows       = components * n * n * n, begin, end;
  PetscMPIInt    rank;

  PetscFunctionBeginUser;
  PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
  if (kind == CAMG_WELLS) rows += 2;
  if (kind == CAMG_CHAIN) rows = 3600;
  PetscCall(MatCreate(PETSC_COMM_WORLD, A));
  PetscCall(MatSetSizes(*A, PETSC_DECIDE, PETSC_DECIDE, rows, rows));
  PetscCall(MatSetBlockSize(*A, components));
  PetscCall(MatSetType(*A, MATAIJ));
  PetscCall(MatSetUp(*A));
  if (rank) rows = 0;
  else if (kind == CAMG_ELEMENTS || kind == CAMG_UNITS || kind == CAMG_ELASTIC) PetscCall(CAMGElements(n, components, *A));
  else if (kind == CAMG_HUBS) PetscCall(CAMGHubs(rows, *A));
  else if (kind == CAMG_CHAIN) PetscCall(CAMGChain(60, *A));
  else PetscCall(CAMGFluxes(kind, n, *A));
  if (kind == CAMG_WELLS && !rank) PetscCall(CAMGWells(n, *A));
  PetscCall(MatAssemblyBegin(*A, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(*A, MAT_FINAL_ASSEMBLY));
  if (kind == CAMG_UNITS) {
    Vec          d;
    PetscScalar *a;

    PetscCall(MatCreateVecs(*A, &d, NULL));
    PetscCall(VecGetOwnershipRange(d, &begin, &end));
    PetscCall(VecGetArray(d, &a));
    for (PetscInt r = begin; r < end; r++) a[r - begin] = PetscPowReal(10, 2 * CAMGRandom(r, 7));
    PetscCall(VecRestoreArray(d, &a));
    PetscCall(MatDiagonalScale(*A, d, d));
    PetscCall(VecDestroy(&d));
  }
  if (kind == CAMG_ELASTIC) PetscCall(CAMGRigid(n, *A));
  if (kind == CAMG_NEUMANN) {
    MatNullSpace space;

    PetscCall(MatNullSpaceCreate(PETSC_COMM_WORLD, PETSC_TRUE, 0, NULL, &space));
    PetscCall(MatSetNullSpace(*A, space));
    PetscCall(MatNullSpaceDestroy(&space));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
