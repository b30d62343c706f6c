/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The points of a process on a DMDA, and their matrix rows: where a row begins, which row a point has. For the host and
   for kernels, which make rows in any order.
*/

#include "formula.h"
#include <petscdm.h>

/* Real numbers of a PetscScalar. Kernels see arrays of scalars as arrays of real numbers */
#define GRIDBOX_PARTS ((PetscInt64)(sizeof(PetscScalar) / sizeof(PetscReal)))

typedef struct {
  PetscInt dim, n[3];                    /* of the grid */
  PetscInt start[3], count[3];           /* own points */
  PetscInt ghoststart[3], ghostcount[3]; /* own points and the neighbours of a local vector */
  PetscInt width[3][3];                  /* points of the process before, of this process, and of the process behind */
} GridBox;

/* The rows of a process, in memory of the host or of a device */
typedef struct {
  PetscBool    device;
  PetscInt    *i, *j;
  PetscScalar *a;
} GridBoxRows;

/* Of all points of da of this process, not collective. ghosted: da, or a DMDA with the same points and other neighbours */
PETSC_INTERN PetscErrorCode GridBoxGet(DM da, DM ghosted, GridBox *);
/* Whether kernels may write to the array of a vector */
PETSC_INTERN PetscErrorCode GridBoxIsOnDevice(Vec, PetscBool *);
/* Only memory, for all rows of the box with nz entries */
PETSC_INTERN PetscErrorCode GridBoxRowsCreate(const GridBox *, PetscInt64 nz, PetscBool device, GridBoxRows *);
PETSC_INTERN PetscErrorCode GridBoxRowsDestroy(GridBoxRows *);

FORMULA PetscInt64 GridBoxPoints(const GridBox *box)
{
  return (PetscInt64)box->count[0] * box->count[1] * box->count[2];
}

/* Of a local vector */
FORMULA PetscInt64 GridBoxLocals(const GridBox *box)
{
  return (PetscInt64)box->ghostcount[0] * box->ghostcount[1] * box->ghostcount[2];
}

/* Where own point k is on the grid */
FORMULA void GridBoxPoint(const GridBox *box, PetscInt64 k, PetscInt at[3])
{
  at[0] = box->start[0] + (PetscInt)(k % box->count[0]);
  at[1] = box->start[1] + (PetscInt)(k / box->count[0] % box->count[1]);
  at[2] = box->start[2] + (PetscInt)(k / box->count[0] / box->count[1]);
}

/* The number of a point in a local vector */
FORMULA PetscInt64 GridBoxLocal(const GridBox *box, const PetscInt at[3])
{
  const PetscInt64 y = at[1] - box->ghoststart[1], z = at[2] - box->ghoststart[2];

  return at[0] - box->ghoststart[0] + box->ghostcount[0] * (y + box->ghostcount[1] * z);
}

/* The row of a point, of this process or of one around it: processes come in the order of their boxes, x first */
FORMULA PetscInt GridBoxRow(const GridBox *box, const PetscInt at[3])
{
  PetscInt start[3], count[3];

  for (int d = 0; d < 3; d++) {
    const PetscInt off  = at[d] - box->start[d];
    const int      side = off < 0 ? 0 : (off < box->count[d] ? 1 : 2);

    start[d] = box->start[d] + (side == 0 ? -box->width[d][0] : (side == 1 ? 0 : box->count[d]));
    count[d] = box->width[d][side];
  }
  return (start[2] * box->n[1] + start[1] * count[2]) * box->n[0] + start[0] * count[1] * count[2] +
         ((at[2] - start[2]) * count[1] + at[1] - start[1]) * count[0] + at[0] - start[0];
}

/* The number of points before own point k that are the first, or the last, of the box in direction d */
FORMULA PetscInt64 GridBoxEndsBefore(const GridBox *box, int d, PetscInt64 k, int last)
{
  PetscInt64 stride = 1, rest;

  for (int e = 0; e < d; e++) stride *= box->count[e];
  rest = k % (stride * box->count[d]) - (last ? stride * (box->count[d] - 1) : 0);
  rest = rest < 0 ? 0 : (rest > stride ? stride : rest);
  return k / (stride * box->count[d]) * stride + rest;
}

/* The number of neighbours along direction d of point k of the box's edge, with the point itself; before: of all points
   before */
FORMULA PetscInt64 GridBoxAlong(const GridBox *box, int d, PetscInt64 k, int before)
{
  const PetscInt64 at = box->start[d] + k;

  if (d >= box->dim) return before ? k : 1;
  if (before) return 3 * k - (box->start[d] == 0 && k > 0) - (at == box->n[d] && k > 0);
  return 3 - (at == 0) - (at == box->n[d] - 1);
}

/*
   The first entry of the row of own point k, which has the number of all entries for k behind the last point. With a
   star a point has itself and two neighbours per direction, with a box 3^dim points, fewer at the boundary of the grid
*/
FORMULA PetscInt64 GridBoxRowStart(const GridBox *box, int star, PetscInt64 k)
{
  const PetscInt64 nx = box->count[0], ny = box->count[1], x = k % nx, y = k / nx % ny, z = k / nx / ny;
  PetscInt64       line, begin;

  if (star) {
    begin = (2 * box->dim + 1) * k;
    for (int d = 0; d < box->dim; d++) {
      if (box->start[d] == 0) begin -= GridBoxEndsBefore(box, d, k, 0);
      if (box->start[d] + box->count[d] == box->n[d]) begin -= GridBoxEndsBefore(box, d, k, 1);
    }
    return begin;
  }
  line  = GridBoxAlong(box, 0, nx, 1);
  begin = GridBoxAlong(box, 1, y, 1) * line;
  if (x) begin += GridBoxAlong(box, 1, y, 0) * GridBoxAlong(box, 0, x, 1);
  if (begin) begin *= GridBoxAlong(box, 2, z, 0);
  return GridBoxAlong(box, 2, z, 1) * GridBoxAlong(box, 1, ny, 1) * line + begin;
}

/*
   Adds an entry to a row that has entries begin to end-1; value: of one scalar. Columns stay ascending: rows of the
   processes around this one are in another order
*/
FORMULA void GridBoxAddEntry(PetscInt64 begin, PetscInt64 end, PetscInt column, const PetscReal value[], PetscInt j[], PetscReal a[])
{
  PetscInt64 p = end;

  for (; p > begin && j[p - 1] > column; p--) {
    j[p] = j[p - 1];
    for (int part = 0; part < GRIDBOX_PARTS; part++) a[GRIDBOX_PARTS * p + part] = a[GRIDBOX_PARTS * (p - 1) + part];
  }
  j[p] = column;
  for (int part = 0; part < GRIDBOX_PARTS; part++) a[GRIDBOX_PARTS * p + part] = value[part];
}

FORMULA void GridBoxAddReal(PetscInt64 begin, PetscInt64 end, PetscInt column, double value, PetscInt j[], PetscReal a[])
{
  const PetscReal scalar[2] = {(PetscReal)value, 0};

  GridBoxAddEntry(begin, end, column, scalar, j, a);
}

/* Scalar k of an array */
FORMULA void GridBoxPutReal(PetscReal array[], PetscInt64 k, double value)
{
  array[GRIDBOX_PARTS * k] = (PetscReal)value;
  if (GRIDBOX_PARTS > 1) array[GRIDBOX_PARTS * k + 1] = 0;
}
