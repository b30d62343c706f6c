/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

#pragma once

/*
   Formulas of the problem of sbpsatproblem.h, for loops of the host and for kernels: geometry, coefficient, solution
   and data. Reference coordinates (r, s) run over [-1, 1]^2.
*/

#include "formula.h"
#include <lithemat.h>
#include <petscmath.h>

typedef struct {
  PetscReal x, y;           /* the point */
  PetscReal xr, yr, xs, ys; /* derivatives of the point along r and s */
} ProblemPoint;

/* Corners of the quadrilateral: left and right end of the bottom, left and right end of the top */
FORMULA PetscReal ProblemCorner(int k, int coordinate)
{
  const PetscReal x[4] = {(PetscReal)-0.3, (PetscReal)0.5, 0, 1}, y[4] = {0, (PetscReal)-0.25, 1, (PetscReal)1.5};

  return coordinate ? y[k] : x[k];
}

#define PROBLEM_BEND ((PetscReal)0.1) /* of the sides */

/* A point of a side and its derivative; a in [-1, 1] runs along the side. Left and right bend in x, bottom and top
   in y */
FORMULA void ProblemSide(MatSBPSATFace side, PetscReal a, PetscReal point[2], PetscReal derivative[2])
{
  const int       from  = side == MATSBPSAT_RIGHT ? 1 : (side == MATSBPSAT_TOP ? 2 : 0);
  const int       to    = side == MATSBPSAT_LEFT ? 2 : (side == MATSBPSAT_BOTTOM ? 1 : 3);
  const PetscReal angle = PETSC_PI * (a + 1) / 2, bend = PROBLEM_BEND;

  for (int c = 0; c < 2; c++) {
    const PetscReal p = ProblemCorner(from, c), q = ProblemCorner(to, c);

    point[c]      = p * (1 - a) / 2 + q * (1 + a) / 2;
    derivative[c] = (q - p) / 2;
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

/* Two opposite sides at the same parameter, shared by a whole line of the grid */
typedef struct {
  PetscReal a, point[2][2], derivative[2][2];
} ProblemLine;

FORMULA ProblemLine ProblemLineAt(MatSBPSATFace first, MatSBPSATFace second, PetscReal a)
{
  ProblemLine line;

  line.a = a;
  ProblemSide(first, a, line.point[0], line.derivative[0]);
  ProblemSide(second, a, line.point[1], line.derivative[1]);
  return line;
}

FORMULA ProblemLine ProblemColumn(PetscReal r)
{
  return ProblemLineAt(MATSBPSAT_BOTTOM, MATSBPSAT_TOP, r);
}

FORMULA ProblemLine ProblemRow(PetscReal s)
{
  return ProblemLineAt(MATSBPSAT_LEFT, MATSBPSAT_RIGHT, s);
}

/* Transfinite interpolation of the four sides, where a column and a row meet */
FORMULA ProblemPoint ProblemMeet(const ProblemLine *column, const ProblemLine *row)
{
  const PetscReal  r = column->a, s = row->a;
  const PetscReal *bottom = column->point[0], *top = column->point[1], *bottomr = column->derivative[0], *topr = column->derivative[1];
  const PetscReal *left = row->point[0], *right = row->point[1], *lefts = row->derivative[0], *rights = row->derivative[1];
  PetscReal        at[2], alongr[2], alongs[2];
  ProblemPoint     point;

  for (int c = 0; c < 2; c++) {
    const PetscReal p0 = ProblemCorner(0, c), p1 = ProblemCorner(1, c), p2 = ProblemCorner(2, c), p3 = ProblemCorner(3, c);

    at[c] = ((1 - r) * left[c] + (1 + r) * right[c] + (1 - s) * bottom[c] + (1 + s) * top[c]) / 2 -
            ((1 - r) * (1 - s) * p0 + (1 + r) * (1 - s) * p1 + (1 - r) * (1 + s) * p2 + (1 + r) * (1 + s) * p3) / 4;
    alongr[c] = (right[c] - left[c] + (1 - s) * bottomr[c] + (1 + s) * topr[c]) / 2 - ((1 - s) * (p1 - p0) + (1 + s) * (p3 - p2)) / 4;
    alongs[c] = (top[c] - bottom[c] + (1 - r) * lefts[c] + (1 + r) * rights[c]) / 2 - ((1 - r) * (p2 - p0) + (1 + r) * (p3 - p1)) / 4;
  }
  point.x  = at[0];
  point.y  = at[1];
  point.xr = alongr[0];
  point.yr = alongr[1];
  point.xs = alongs[0];
  point.ys = alongs[1];
  return point;
}

/* The basin: half width, depth, and softness of the edge */
#define PROBLEM_HALFWIDTH ((PetscReal)0.025)
#define PROBLEM_DEPTH     ((PetscReal)0.05)
#define PROBLEM_EDGE      ((PetscReal)0.015)
/* mu in the basin and around the basin */
#define PROBLEM_INSIDE  ((PetscReal)20)
#define PROBLEM_OUTSIDE ((PetscReal)36)

FORMULA PetscReal ProblemBasin(PetscReal x, PetscReal y)
{
  const PetscReal c = PROBLEM_HALFWIDTH / PROBLEM_DEPTH;

  return (x * x + c * c * y * y - PROBLEM_HALFWIDTH * PROBLEM_HALFWIDTH) / PROBLEM_EDGE;
}

FORMULA PetscReal ProblemMu(PetscReal x, PetscReal y)
{
  return PROBLEM_INSIDE + (PROBLEM_OUTSIDE - PROBLEM_INSIDE) / 2 * (1 + PetscTanhReal(ProblemBasin(x, y)));
}

FORMULA PetscReal ProblemSolution(PetscReal x, PetscReal y)
{
  return PetscSinReal(PETSC_PI * x) * PetscCosReal(PETSC_PI * y);
}

FORMULA void ProblemGradient(PetscReal x, PetscReal y, PetscReal *ux, PetscReal *uy)
{
  *ux = PETSC_PI * PetscCosReal(PETSC_PI * x) * PetscCosReal(PETSC_PI * y);
  *uy = -PETSC_PI * PetscSinReal(PETSC_PI * x) * PetscSinReal(PETSC_PI * y);
}

FORMULA PetscReal ProblemSource(PetscReal x, PetscReal y)
{
  const PetscReal c = PROBLEM_HALFWIDTH / PROBLEM_DEPTH, sech = 1 / PetscCoshReal(ProblemBasin(x, y)),
                  slope = (PROBLEM_OUTSIDE - PROBLEM_INSIDE) * sech * sech / PROBLEM_EDGE;
  PetscReal ux, uy;

  ProblemGradient(x, y, &ux, &uy);
  return 2 * PETSC_PI * PETSC_PI * ProblemMu(x, y) * ProblemSolution(x, y) - slope * (x * ux + c * c * y * uy);
}

FORMULA PetscReal ProblemTraction(MatSBPSATFace face, const ProblemPoint *p)
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

/* ------------------------------------------------------------ vectors */

/* Which field fills a vector */
typedef enum {
  FIELD_MU,
  FIELD_SOLUTION,
  FIELD_SOURCE,
  FIELD_RR,
  FIELD_SS,
  FIELD_RS,
  FIELD_JACOBIAN,
  FIELD_X,
  FIELD_Y,
  FIELD_TRACTION /* and a face */
} ProblemField;

FORMULA PetscReal ProblemEvaluate(ProblemField field, MatSBPSATFace face, const ProblemLine *column, const ProblemLine *row)
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
  case FIELD_X:
    return p.x;
  case FIELD_Y:
    return p.y;
  default:
    return ProblemTraction(face, &p);
  }
}

/* The nodes to fill, in an array which begins at node "own" */
typedef struct {
  PetscInt start[2], end[2]; /* which */
  PetscInt own[2];
  PetscInt nodes[2]; /* of the whole grid */
  PetscInt pitch;    /* of the array: nodes from row to row, */
  PetscInt step;     /* and numbers from node to node */
} ProblemNodes;

/* A column or row of the grid */
FORMULA PetscReal ProblemReference(const ProblemNodes *n, int direction, PetscInt k)
{
  return -1 + 2 * (PetscReal)k / (PetscReal)(n->nodes[direction] - 1);
}

/* sbpsatproblemdevice.cu: a is on the device */
#if defined(LITHE_HAVE_CUDA)
PETSC_INTERN PetscErrorCode ProblemFillDevice(ProblemField, MatSBPSATFace, const ProblemNodes *, PetscScalar *a);
#endif
