/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The manufactured problem of problem.h: geometry, coefficient, solution and data, and vectors with them */

#include "sbpsatproblem.h"

/* Corners of the quadrilateral: left and right end of the bottom, left and right end of the top */
static const PetscReal corner[4][2] = {{-0.3, 0.0}, {0.5, -0.25}, {0.0, 1.0}, {1.0, 1.5}};
static const PetscReal bend         = 0.1;

/* A point of a side and its derivative; a in [-1, 1] runs along the side. Left and right bend in x, bottom and top in y */
static void ProblemSide(MatSBPSATFace side, PetscReal a, PetscReal point[2], PetscReal derivative[2])
{
  static const int ends[4][2] = {{0, 2}, {1, 3}, {0, 1}, {2, 3}};
  const PetscReal *p = corner[ends[side][0]], *q = corner[ends[side][1]];
  const PetscReal  angle = PETSC_PI * (a + 1) / 2;

  for (int c = 0; c < 2; c++) {
    point[c]      = p[c] * (1 - a) / 2 + q[c] * (1 + a) / 2;
    derivative[c] = (q[c] - p[c]) / 2;
  }
  switch (side) {
  case MATSBPSAT_LEFT:
    point[0] += bend * PetscSinReal(angle);
    derivative[0] += bend * PETSC_PI / 2 * PetscCosReal(angle);
    break;
  case MATSBPSAT_RIGHT:
    point[0] -= bend * PetscSinReal(angle);
    derivative[0] -= bend * PETSC_PI / 2 * PetscCosReal(angle);
    break;
  case MATSBPSAT_BOTTOM:
    point[1] += bend * PetscSinReal(angle);
    derivative[1] += bend * PETSC_PI / 2 * PetscCosReal(angle);
    break;
  default:
    point[1] += bend * PetscSinReal(2 * angle);
    derivative[1] += bend * PETSC_PI * PetscCosReal(2 * angle);
  }
}

/* Two opposite sides at the same parameter: what a whole line of the grid has in common */
typedef struct {
  PetscReal a, point[2][2], derivative[2][2];
} ProblemLine;

static ProblemLine ProblemLineAt(MatSBPSATFace first, MatSBPSATFace second, PetscReal a)
{
  ProblemLine line = {.a = a};

  ProblemSide(first, a, line.point[0], line.derivative[0]);
  ProblemSide(second, a, line.point[1], line.derivative[1]);
  return line;
}

static ProblemLine ProblemColumn(PetscReal r)
{
  return ProblemLineAt(MATSBPSAT_BOTTOM, MATSBPSAT_TOP, r);
}

static ProblemLine ProblemRow(PetscReal s)
{
  return ProblemLineAt(MATSBPSAT_LEFT, MATSBPSAT_RIGHT, s);
}

/* Transfinite interpolation of the four sides, where a column and a row meet */
static ProblemPoint ProblemMeet(const ProblemLine *column, const ProblemLine *row)
{
  const PetscReal  r = column->a, s = row->a;
  const PetscReal *bottom = column->point[0], *top = column->point[1], *bottomr = column->derivative[0], *topr = column->derivative[1];
  const PetscReal *left = row->point[0], *right = row->point[1], *lefts = row->derivative[0], *rights = row->derivative[1];
  PetscReal        at[2], alongr[2], alongs[2];

  for (int c = 0; c < 2; c++) {
    const PetscReal p0 = corner[0][c], p1 = corner[1][c], p2 = corner[2][c], p3 = corner[3][c];

    at[c] = ((1 - r) * left[c] + (1 + r) * right[c] + (1 - s) * bottom[c] + (1 + s) * top[c]) / 2 -
            ((1 - r) * (1 - s) * p0 + (1 + r) * (1 - s) * p1 + (1 - r) * (1 + s) * p2 + (1 + r) * (1 + s) * p3) / 4;
    alongr[c] = (right[c] - left[c] + (1 - s) * bottomr[c] + (1 + s) * topr[c]) / 2 - ((1 - s) * (p1 - p0) + (1 + s) * (p3 - p2)) / 4;
    alongs[c] = (top[c] - bottom[c] + (1 - r) * lefts[c] + (1 + r) * rights[c]) / 2 - ((1 - r) * (p2 - p0) + (1 + r) * (p3 - p1)) / 4;
  }
  return (ProblemPoint){.x = at[0], .y = at[1], .xr = alongr[0], .yr = alongr[1], .xs = alongs[0], .ys = alongs[1]};
}

ProblemPoint ProblemMap(PetscReal r, PetscReal s)
{
  const ProblemLine column = ProblemColumn(r), row = ProblemRow(s);

  return ProblemMeet(&column, &row);
}

/* The basin: half of its width, its depth, and how soft its edge is */
static const PetscReal halfwidth = 0.025, depth = 0.05, edge = 0.015;
static const PetscReal inside = 20, outside = 36;

static PetscReal ProblemBasin(PetscReal x, PetscReal y)
{
  const PetscReal c = halfwidth / depth;

  return (x * x + c * c * y * y - halfwidth * halfwidth) / edge;
}

PetscReal ProblemMu(PetscReal x, PetscReal y)
{
  return inside + (outside - inside) / 2 * (1 + PetscTanhReal(ProblemBasin(x, y)));
}

PetscReal ProblemSolution(PetscReal x, PetscReal y)
{
  return PetscSinReal(PETSC_PI * x) * PetscCosReal(PETSC_PI * y);
}

static void ProblemGradient(PetscReal x, PetscReal y, PetscReal *ux, PetscReal *uy)
{
  *ux = PETSC_PI * PetscCosReal(PETSC_PI * x) * PetscCosReal(PETSC_PI * y);
  *uy = -PETSC_PI * PetscSinReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y);
}

PetscReal ProblemSource(PetscReal x, PetscReal y)
{
  const PetscReal c = halfwidth / depth, sech = 1 / PetscCoshReal(ProblemBasin(x, y)), slope = (outside - inside) * sech * sech / edge;
  PetscReal       ux, uy;

  ProblemGradient(x, y, &ux, &uy);
  return 2 * PETSC_PI * PETSC_PI * ProblemMu(x, y) * ProblemSolution(x, y) - slope * (x * ux + c * c * y * uy);
}

PetscReal ProblemTraction(MatSBPSATFace face, const ProblemPoint *p)
{
  const PetscReal sign = face == MATSBPSAT_RIGHT || face == MATSBPSAT_TOP ? 1 : -1;
  PetscReal       ux, uy, nx, ny;

  /* The outward normal, as long as the face is stretched */
  if (face == MATSBPSAT_LEFT || face == MATSBPSAT_RIGHT) {
    nx = sign * p->ys;
    ny = -sign * p->xs;
  } else {
    nx = -sign * p->yr;
    ny = sign * p->xr;
  }
  ProblemGradient(p->x, p->y, &ux, &uy);
  return ProblemMu(p->x, p->y) * (nx * ux + ny * uy) / PetscSqrtReal(nx * nx + ny * ny);
}

PetscErrorCode ProblemCreateDM(MPI_Comm comm, const PetscInt n[2], DM *da)
{
  DM           cda;
  Vec          coordinates;
  DMDACoor2d **c;
  PetscInt     start[2], count[2];

  PetscFunctionBegin;
  PetscCall(DMDACreate2d(comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, n[0] + 1, n[1] + 1, PETSC_DECIDE, PETSC_DECIDE, 1, 1, NULL, NULL, da));
  PetscCall(DMSetMatType(*da, MATSBPSAT));
  PetscCall(DMSetFromOptions(*da));
  PetscCall(DMSetUp(*da));
  PetscCall(DMDASetUniformCoordinates(*da, -1, 1, -1, 1, 0, 0));
  PetscCall(DMGetCoordinateDM(*da, &cda));
  PetscCall(DMGetCoordinates(*da, &coordinates));
  PetscCall(DMDAGetCorners(*da, &start[0], &start[1], NULL, &count[0], &count[1], NULL));
  PetscCall(DMDAVecGetArray(cda, coordinates, &c));
  for (PetscInt j = start[1]; j < start[1] + count[1]; j++) {
    for (PetscInt i = start[0]; i < start[0] + count[0]; i++) {
      const ProblemPoint p = ProblemMap(-1 + 2 * (PetscReal)i / n[0], -1 + 2 * (PetscReal)j / n[1]);

      c[j][i].x = p.x;
      c[j][i].y = p.y;
    }
  }
  PetscCall(DMDAVecRestoreArray(cda, coordinates, &c));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What a vector is filled with */
typedef enum {
  FIELD_MU,
  FIELD_SOLUTION,
  FIELD_SOURCE,
  FIELD_RR,
  FIELD_SS,
  FIELD_RS,
  FIELD_JACOBIAN,
  FIELD_TRACTION /* and a face */
} ProblemField;

static PetscReal ProblemEvaluate(ProblemField field, MatSBPSATFace face, const ProblemLine *column, const ProblemLine *row)
{
  const ProblemPoint p        = ProblemMeet(column, row);
  const PetscReal    jacobian = p.xr * p.ys - p.xs * p.yr, mu = ProblemMu(p.x, p.y);

  switch (field) {
  case FIELD_MU:
    return mu;
  case FIELD_SOLUTION:
    return ProblemSolution(p.x, p.y);
  case FIELD_SOURCE:
    return ProblemSource(p.x, p.y);
  case FIELD_RR:
    return mu * (p.xs * p.xs + p.ys * p.ys) / jacobian;
  case FIELD_SS:
    return mu * (p.xr * p.xr + p.yr * p.yr) / jacobian;
  case FIELD_RS:
    return -mu * (p.xr * p.xs + p.yr * p.ys) / jacobian;
  case FIELD_JACOBIAN:
    return jacobian;
  default:
    return ProblemTraction(face, &p);
  }
}

/* All nodes; of data of a face those of the face, the others are left */
static PetscErrorCode ProblemFill(DM da, ProblemField field, PetscBool onface, MatSBPSATFace face, Vec v)
{
  const int     along = face == MATSBPSAT_LEFT || face == MATSBPSAT_RIGHT ? 0 : 1; /* the direction that a face ends */
  const int     upper = face == MATSBPSAT_RIGHT || face == MATSBPSAT_TOP;
  ProblemLine  *column;
  PetscScalar **array;
  PetscInt      start[2], end[2], nodes[2];

  PetscFunctionBegin;
  PetscCall(DMDAGetInfo(da, NULL, &nodes[0], &nodes[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  PetscCall(DMDAGetCorners(da, &start[0], &start[1], NULL, &end[0], &end[1], NULL));
  for (int d = 0; d < 2; d++) end[d] += start[d];
  if (onface && upper) start[along] = PetscMax(start[along], nodes[along] - 1);
  else if (onface) end[along] = PetscMin(end[along], 1);
  PetscCall(PetscMalloc1(PetscMax(end[0] - start[0], 0), &column));
  for (PetscInt i = start[0]; i < end[0]; i++) column[i - start[0]] = ProblemColumn(-1 + 2 * (PetscReal)i / (nodes[0] - 1));
  PetscCall(DMDAVecGetArray(da, v, &array));
  for (PetscInt j = start[1]; j < end[1]; j++) {
    const ProblemLine row = ProblemRow(-1 + 2 * (PetscReal)j / (nodes[1] - 1));

    for (PetscInt i = start[0]; i < end[0]; i++) array[j][i] = ProblemEvaluate(field, face, &column[i - start[0]], &row);
  }
  PetscCall(DMDAVecRestoreArray(da, v, &array));
  PetscCall(PetscFree(column));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemSetOperator(DM da, PetscBool exact, Mat A)
{
  const PetscBool dirichlet[4] = {PETSC_TRUE, PETSC_TRUE, PETSC_FALSE, PETSC_FALSE};
  Vec             mu, tensor[4];

  PetscFunctionBegin;
  PetscCall(MatSBPSATSetDirichlet(A, dirichlet));
  PetscCall(DMCreateGlobalVector(da, &mu));
  PetscCall(ProblemFill(da, FIELD_MU, PETSC_FALSE, MATSBPSAT_LEFT, mu));
  PetscCall(MatSBPSATSetCoefficient(A, mu));
  PetscCall(VecDestroy(&mu));
  if (exact) {
    for (int k = 0; k < 4; k++) {
      PetscCall(DMCreateGlobalVector(da, &tensor[k]));
      PetscCall(ProblemFill(da, (ProblemField)(FIELD_RR + k), PETSC_FALSE, MATSBPSAT_LEFT, tensor[k]));
    }
    PetscCall(MatSBPSATSetTensor(A, tensor[0], tensor[1], tensor[2], tensor[3]));
    for (int k = 0; k < 4; k++) PetscCall(VecDestroy(&tensor[k]));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemAddRightSide(DM da, Mat A, Vec b)
{
  Vec       data;
  PetscBool dirichlet[4];

  PetscFunctionBegin;
  PetscCall(MatSBPSATGetDirichlet(A, dirichlet));
  PetscCall(DMGetGlobalVector(da, &data));
  PetscCall(ProblemFill(da, FIELD_SOURCE, PETSC_FALSE, MATSBPSAT_LEFT, data));
  PetscCall(MatSBPSATAddSource(A, data, b));
  for (int f = 0; f < 4; f++) {
    PetscCall(ProblemFill(da, dirichlet[f] ? FIELD_SOLUTION : FIELD_TRACTION, PETSC_TRUE, (MatSBPSATFace)f, data));
    PetscCall(MatSBPSATAddBoundary(A, (MatSBPSATFace)f, data, b));
  }
  PetscCall(DMRestoreGlobalVector(da, &data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode ProblemGetSolution(DM da, Vec u)
{
  PetscFunctionBegin;
  PetscCall(ProblemFill(da, FIELD_SOLUTION, PETSC_FALSE, MATSBPSAT_LEFT, u));
  PetscFunctionReturn(PETSC_SUCCESS);
}
