/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/* Shared by the tests of MatSBPSATGetTraction(): grids, a manufactured solution, and the norm of a face */

#include <tests/sbpmg/sbpmgtest.h>

/* The domain is a stretched or a curved quadrilateral. mu = 2 + sin x, u = sin(pi x + 1/2) cos(pi y) */
typedef enum {
  STRETCHED,
  CURVED,
  SHAPES
} Shape;
static const char *const shapes[] = {"stretched", "curved"};

typedef enum {
  EXACT,       /* MatSBPSATSetTensor() */
  COORDINATES, /* metrics by differences */
  FLY,         /* the same in every product */
  KINDS
} Kind;
static const char *const kinds[] = {"exact", "differences", "fly"};

/* A map of a reference coordinate r or s at a node, with the derivatives by r and by s */
typedef struct {
  PetscReal x, xr, xs, y, yr, ys;
} Map;

typedef enum {
  X,
  Y,
  MU,
  RR,
  SS,
  RS,
  JACOBIAN,
  SOLUTION,
  SOURCE,
  TRACTION /* and the face */
} Field;

/* A has four Dirichlet faces, N none */
typedef struct {
  DM       da;
  Mat      A, N;
  Vec      b, w;        /* work */
  PetscInt n[2], order; /* n + 1 nodes */
  Shape    shape;
  Kind     kind;
} Case;

static inline Map MapOf(Shape shape, PetscReal r, PetscReal s)
{
  const PetscReal x = r + (r * r - 1) / 4, y = s + (PetscReal)0.15 * s * (s * s - 1), bend = (PetscReal)1.5 * s, wave = 1 + 2 * r;
  Map             m = {x, 1 + r / 2, 0, y, 0, (PetscReal)0.85 + (PetscReal)0.45 * s * s};

  if (shape == CURVED) {
    m.x += (PetscReal)0.2 * PetscCosReal(bend);
    m.xs -= (PetscReal)0.3 * PetscSinReal(bend);
    m.y += (PetscReal)0.15 * PetscSinReal(wave);
    m.yr += (PetscReal)0.3 * PetscCosReal(wave);
  }
  return m;
}

static inline PetscReal Evaluate(Shape shape, int field, PetscReal r, PetscReal s)
{
  const Map       m = MapOf(shape, r, s);
  const PetscReal J = m.xr * m.ys - m.xs * m.yr, mu = 2 + PetscSinReal(m.x), a = (PetscReal)PETSC_PI * m.x + (PetscReal)0.5, b = (PetscReal)PETSC_PI * m.y;
  const PetscReal u = PetscSinReal(a) * PetscCosReal(b), ux = (PetscReal)PETSC_PI * PetscCosReal(a) * PetscCosReal(b),
                  uy = -(PetscReal)PETSC_PI * PetscSinReal(a) * PetscSinReal(b);

  switch (field) {
  case X:
    return m.x;
  case Y:
    return m.y;
  case MU:
    return mu;
  case RR:
    return mu * (m.xs * m.xs + m.ys * m.ys) / J;
  case SS:
    return mu * (m.xr * m.xr + m.yr * m.yr) / J;
  case RS:
    return -mu * (m.xr * m.xs + m.yr * m.ys) / J;
  case JACOBIAN:
    return J;
  case SOLUTION:
    return u;
  case SOURCE:
    return 2 * (PetscReal)(PETSC_PI * PETSC_PI) * mu * u - PetscCosReal(m.x) * ux;
  case TRACTION + MATSBPSAT_LEFT:
    return -mu * (m.ys * ux - m.xs * uy) / PetscSqrtReal(m.xs * m.xs + m.ys * m.ys);
  case TRACTION + MATSBPSAT_RIGHT:
    return mu * (m.ys * ux - m.xs * uy) / PetscSqrtReal(m.xs * m.xs + m.ys * m.ys);
  case TRACTION + MATSBPSAT_BOTTOM:
    return -mu * (m.xr * uy - m.yr * ux) / PetscSqrtReal(m.xr * m.xr + m.yr * m.yr);
  default:
    return mu * (m.xr * uy - m.yr * ux) / PetscSqrtReal(m.xr * m.xr + m.yr * m.yr);
  }
}

/* Component c of a vector of bs components */
static inline PetscErrorCode Fill(DM da, Shape shape, int field, PetscInt c, Vec v)
{
  PetscInt     start[2], count[2], nodes[2], bs;
  PetscScalar *a;

  PetscFunctionBeginUser;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(VecGetBlockSize(v, &bs));
  PetscCall(VecGetArray(v, &a));
  for (PetscInt j = 0; j < count[1]; j++) {
    for (PetscInt i = 0; i < count[0]; i++)
      a[(j * count[0] + i) * bs + c] = Evaluate(shape, field, -1 + 2 * (PetscReal)(start[0] + i) / (PetscReal)(nodes[0] - 1),
                                                -1 + 2 * (PetscReal)(start[1] + j) / (PetscReal)(nodes[1] - 1));
  }
  PetscCall(VecRestoreArray(v, &a));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ranges: how many nodes each process has, or NULL */
static inline PetscErrorCode CaseCreate(MPI_Comm comm, const PetscInt n[2], const PetscInt processes[2], const PetscInt *const ranges[2], PetscInt order,
                                        Shape shape, Kind kind, Case *s)
{
  const PetscBool none[4] = {PETSC_FALSE, PETSC_FALSE, PETSC_FALSE, PETSC_FALSE};
  DM              cda;
  Vec             v[4];

  PetscFunctionBeginUser;
  s->n[0]  = n[0];
  s->n[1]  = n[1];
  s->order = order;
  s->shape = shape;
  s->kind  = kind;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0] + 1, n[1] + 1, processes ? processes[0] : PETSC_DECIDE,
                         processes ? processes[1] : PETSC_DECIDE, 1, 1, ranges ? ranges[0] : NULL, ranges ? ranges[1] : NULL, &s->da));
  PetscCall(DMSetMatType(s->da, MATSBPSAT));
  if (comm != PETSC_COMM_SELF) PetscCall(DMSetFromOptions(s->da));
  PetscCall(DMSetUp(s->da));
  PetscCall(DMCreateGlobalVector(s->da, &s->b));
  PetscCall(VecDuplicate(s->b, &s->w));
  PetscCall(DMCreateMatrix(s->da, &s->A));
  PetscCall(DMCreateMatrix(s->da, &s->N));
  PetscCall(MatSBPSATSetDirichlet(s->N, none));
  if (kind != EXACT) {
    PetscCall(DMGetCoordinateDM(s->da, &cda));
    PetscCall(DMCreateGlobalVector(cda, &v[0]));
    PetscCall(Fill(s->da, shape, X, 0, v[0]));
    PetscCall(Fill(s->da, shape, Y, 1, v[0]));
    PetscCall(DMSetCoordinates(s->da, v[0]));
    PetscCall(VecDestroy(&v[0]));
  }
  for (int k = 0; k < 2; k++) {
    Mat M = k ? s->N : s->A;

    PetscCall(MatSBPSATSetOrder(M, order));
    PetscCall(VecDuplicate(s->b, &v[0]));
    PetscCall(Fill(s->da, shape, MU, 0, v[0]));
    PetscCall(MatSBPSATSetCoefficient(M, v[0]));
    PetscCall(VecDestroy(&v[0]));
    if (kind == FLY) PetscCall(MatSBPSATSetMetrics(M, MATSBPSAT_METRICS_FLY));
    if (kind != EXACT) continue;
    for (int c = 0; c < 4; c++) {
      PetscCall(VecDuplicate(s->b, &v[c]));
      PetscCall(Fill(s->da, shape, RR + c, 0, v[c]));
    }
    PetscCall(MatSBPSATSetTensor(M, v[0], v[1], v[2], v[3]));
    for (int c = 0; c < 4; c++) PetscCall(VecDestroy(&v[c]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscErrorCode CaseDestroy(Case *s)
{
  PetscFunctionBeginUser;
  PetscCall(VecDestroy(&s->b));
  PetscCall(VecDestroy(&s->w));
  PetscCall(MatDestroy(&s->A));
  PetscCall(MatDestroy(&s->N));
  PetscCall(DMDestroy(&s->da));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The integral of v t over a face, without conjugation */
static inline PetscErrorCode FaceProduct(Case *s, int face, Vec t, Vec v, PetscScalar *product)
{
  PetscFunctionBeginUser;
  PetscCall(VecSet(s->w, 0.));
  PetscCall(MatSBPSATAddBoundary(s->N, (MatSBPSATFace)face, t, s->w));
  PetscCall(VecTDot(s->w, v, product));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A vector of noise */
static inline PetscErrorCode Noise(Case *s, PetscInt seed, Vec *v)
{
  PetscFunctionBeginUser;
  PetscCall(VecDuplicate(s->b, v));
  PetscCall(FillNoise(s->da, seed, *v));
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define CASE         "order %" PetscInt_FMT ", %s, metrics %s"
#define CASE_ARGS(s) (s)->order, shapes[(s)->shape], kinds[(s)->kind]
