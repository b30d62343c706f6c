/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The formulas of the Helmholtz problem, for the host and for kernels: generated velocities, rows of the matrix, the
   source. operator.c explains the formulas. Complex numbers are pairs of real numbers.
*/

#include <tutorials/common/gridbox.h>
#include <math.h>

#define HELMHOLTZ_WATER 1500.0 /* m/s, the slowest of the generated media */

typedef struct {
  PetscReal re, im;
} HelmholtzNumber;

/* Parameters of the formulas */
typedef struct {
  int             dim, corners, points;
  int             model, stencil; /* of HelmholtzModel and HelmholtzStencil */
  PetscInt        n[3], layer;
  PetscReal       h, omegah, reflection, velocity, length[3];
  HelmholtzNumber factor;                   /* of k^2 */
  PetscInt        cell[3];                  /* of the source */
  PetscReal       fraction[3], sourcescale; /* place of the source in the cell */
} HelmholtzForm;

/*
   The matrix of a cell: entry (a, b) depends on the directions in which vertices a and b differ, the bits of a ^ b.
   face[d] is the matrix of the cell's faces in direction d.
*/
typedef struct {
  HelmholtzNumber entry[8], face[3][8];
} HelmholtzCell;

/* ------------------------------------------------------------ complex numbers */

FORMULA HelmholtzNumber HelmholtzMake(PetscReal re, PetscReal im)
{
  HelmholtzNumber z;

  z.re = re;
  z.im = im;
  return z;
}

FORMULA HelmholtzNumber HelmholtzTimes(HelmholtzNumber a, HelmholtzNumber b)
{
  return HelmholtzMake(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
}

/* sum += c a */
FORMULA void HelmholtzAdd(HelmholtzNumber *sum, PetscReal c, HelmholtzNumber a)
{
  sum->re += c * a.re;
  sum->im += c * a.im;
}

/* 1/a */
FORMULA HelmholtzNumber HelmholtzInverse(HelmholtzNumber a)
{
  const PetscReal square = a.re * a.re + a.im * a.im;

  return HelmholtzMake(a.re / square, -a.im / square);
}

/* The square root whose real part is not negative */
FORMULA HelmholtzNumber HelmholtzRoot(HelmholtzNumber a)
{
  const PetscReal modulus = (PetscReal)sqrt((double)(a.re * a.re + a.im * a.im)), half = (PetscReal)sqrt((double)((modulus + PetscAbsReal(a.re)) / 2));

  if (half == 0) return HelmholtzMake(0, 0);
  if (a.re >= 0) return HelmholtzMake(half, a.im / (2 * half));
  return HelmholtzMake(PetscAbsReal(a.im) / (2 * half), a.im < 0 ? -half : half);
}

/* ------------------------------------------------------------ velocities; x, y and z from 0 to 1, z the depth */

FORMULA double HelmholtzSmooth(double x, double y, double z)
{
  return HELMHOLTZ_WATER * (1. + z) * (1.1 + .1 * cos(2. * (double)PETSC_PI * (x + .3 * z)) * cos(2. * (double)PETSC_PI * y) * cos(3. * (double)PETSC_PI * z));
}

FORMULA double HelmholtzWedge(double x, double y, double z)
{
  const double upper = .4 - .15 * x + .05 * y, lower = .6 + .2 * x;

  if (z < upper) return 2000.;
  return z < lower ? HELMHOLTZ_WATER : 3000.;
}

/* The depth of a point before its layers were folded and thrust over one another along a fault */
FORMULA double HelmholtzUnfolded(double x, double y, double z)
{
  const double fold  = .035 * sin(2. * (double)PETSC_PI * (1.4 * x + .15 * y) + .6) + .02 * cos(2. * (double)PETSC_PI * y);
  const double fault = .18 + .42 * (1. - z) + .08 * y;

  return z + fold * (1. - .4 * z) + (x < fault ? .085 * (z > .12 ? 1. : z / .12) : 0.);
}

FORMULA double HelmholtzOverthrust(double x, double y, double z)
{
  const double layer[] = {1650., 1900., 1800., 2200., 2050., 2500., 2300., 2850., 2600., 3200., 2950., 3500., 3300., 3900.};
  const int    last    = (int)(sizeof(layer) / sizeof(layer[0])) - 1;
  const double depth   = HelmholtzUnfolded(x, y, z) * (last + 1) - .6;
  const double head    = (x - .68) * (x - .68) / .0240 + (y - .5) * (y - .5) / .06 + (z - .44) * (z - .44) / .0081;
  const double reach   = .035 + .10 * (z > .55 ? z - .55 : 0.),
               foot    = (x - .70 + .1 * (z - .5)) * (x - .70 + .1 * (z - .5)) / (reach * reach) + (y - .5) * (y - .5) / (4. * reach * reach);

  if (z < .06) return HELMHOLTZ_WATER;
  if (head < 1. || (foot < 1. && z > .44 && z < .85)) return 4480.;
  return layer[(int)(depth > last ? last : (depth > 0. ? depth : 0.))];
}

/* The generated velocity at a grid point. The layer continues the boundary values of the model */
FORMULA PetscReal HelmholtzSpeedAt(const HelmholtzForm *form, const PetscInt at[3])
{
  double x[3] = {0., 0., 0.};

  for (int d = 0; d < form->dim; d++) {
    x[d] = (double)((PetscReal)(at[d] - form->layer) * form->h / form->length[d]);
    x[d] = x[d] < 0. ? 0. : (x[d] > 1. ? 1. : x[d]);
  }
  if (form->dim == 2) {
    x[2] = x[1];
    x[1] = .5;
  }
  if (form->model == 1) return (PetscReal)HelmholtzSmooth(x[0], x[1], x[2]);
  if (form->model == 2) return (PetscReal)HelmholtzWedge(x[0], x[1], x[2]);
  if (form->model == 3) return (PetscReal)HelmholtzOverthrust(x[0], x[1], x[2]);
  return form->velocity;
}

/* ------------------------------------------------------------ rows */

FORMULA PetscReal HelmholtzMassOffDiagonal(const HelmholtzForm *form, PetscReal wave2)
{
  if (form->stencil == 2) return 0;
  if (form->stencil == 1) return (PetscReal)1. / 6;
  return (PetscReal)1. / 12 + (form->dim == 2 ? (PetscReal)5. / 6 : (PetscReal)5. / 7) * wave2 / 240;
}

/* s_d of interval i: sigma grows with the square of the depth in the layer, sigma/omega = -3 log(R)/(2 k L)
   (depth/L)^2 */
FORMULA PetscReal HelmholtzStretch(const HelmholtzForm *form, int d, PetscInt i, PetscReal wave2)
{
  const PetscReal layer = (PetscReal)form->layer, middle = (PetscReal)i + (PetscReal)0.5, high = middle - ((PetscReal)(form->n[d] - 1) - layer);
  const PetscReal depth = layer - middle > high ? layer - middle : high;

  if (depth <= 0 || !form->layer) return 0;
  return (PetscReal)1.5 * (PetscReal)log((double)form->reflection) / ((PetscReal)sqrt((double)wave2) * layer) * (depth / layer) * (depth / layer);
}

/* The cell with the given lowest vertex, with or without its faces; mean: the mean of (k h)^2 at its vertices */
FORMULA void HelmholtzSetCell(const HelmholtzForm *form, PetscReal mean, const PetscInt low[3], int faces, HelmholtzCell *cell)
{
  const PetscReal off          = HelmholtzMassOffDiagonal(form, mean);
  PetscReal       diagonals[4] = {1, 0, 0, 0}, others[4] = {1, 0, 0, 0}; /* powers of the entries of the mass matrix */
  HelmholtzNumber stiffness[3], face[3], inverse[3], S = HelmholtzMake(1, 0), mass, root = HelmholtzMake(0, 0);

  for (int q = 0; q < form->dim; q++) {
    diagonals[q + 1] = diagonals[q] * ((PetscReal)0.5 - off);
    others[q + 1]    = others[q] * off;
  }
  for (int d = 0; d < form->dim; d++) {
    const HelmholtzNumber s = HelmholtzMake(1, HelmholtzStretch(form, d, low[d], mean));

    inverse[d] = HelmholtzMake(1, 0);
    if (s.im == 0) continue;
    inverse[d] = HelmholtzInverse(s);
    S          = HelmholtzTimes(S, s);
  }
  mass = HelmholtzTimes(HelmholtzMake(form->factor.re * mean, form->factor.im * mean), S);
  if (faces) root = HelmholtzRoot(HelmholtzMake(form->factor.re * mean, form->factor.im * mean));
  for (int d = 0; d < form->dim; d++) {
    face[d]      = HelmholtzTimes(S, inverse[d]);
    stiffness[d] = HelmholtzTimes(face[d], inverse[d]);
    if (faces) face[d] = HelmholtzTimes(face[d], HelmholtzMake(-root.im, root.re));
  }
  for (int x = 0; x < form->corners; x++) {
    const int differ = (x & 1) + (x >> 1 & 1) + (x >> 2), same = form->dim - differ;

    cell->entry[x] = HelmholtzMake(0, 0);
    HelmholtzAdd(&cell->entry[x], -diagonals[same] * others[differ], mass);
    for (int d = 0; d < form->dim; d++) {
      if (x >> d & 1) HelmholtzAdd(&cell->entry[x], -diagonals[same] * others[differ - 1], stiffness[d]);
      else {
        HelmholtzAdd(&cell->entry[x], diagonals[same - 1] * others[differ], stiffness[d]);
        if (!faces) continue;
        cell->face[d][x] = HelmholtzMake(0, 0);
        HelmholtzAdd(&cell->face[d][x], diagonals[same - 1] * others[differ], face[d]);
      }
    }
  }
}

/* The part of a cell in the row of the cell's vertex a, with the cell's faces on the boundary */
FORMULA void HelmholtzAddCell(const HelmholtzForm *form, const HelmholtzCell *cell, int a, const PetscInt at[3], HelmholtzNumber stencil[])
{
  const int step[3] = {1, 3, 9};

  for (int x = 0; x < form->corners; x++) {
    HelmholtzNumber value = cell->entry[x];
    int             s     = form->points / 2;

    for (int d = 0; d < form->dim; d++) {
      if (x >> d & 1) s += a >> d & 1 ? -step[d] : step[d];
      else if (at[d] == 0 || at[d] == form->n[d] - 1) HelmholtzAdd(&value, 1, cell->face[d][x]);
    }
    HelmholtzAdd(&stencil[s], 1, value);
  }
}

/* Whether a point is vertex a of some cell, and the lowest vertex of this cell */
FORMULA int HelmholtzHasCell(const HelmholtzForm *form, int a, const PetscInt at[3], PetscInt low[3])
{
  int inside = 1;

  low[0] = low[1] = low[2] = 0;
  for (int d = 0; d < form->dim; d++) {
    low[d] = at[d] - (a >> d & 1);
    if (low[d] < 0 || low[d] >= form->n[d] - 1) inside = 0;
  }
  return inside;
}

/* ------------------------------------------------------------ the source */

/* A point source of strength 1, spread over the vertices of its cell, with the weights of the mass matrix */
FORMULA PetscReal HelmholtzSourceAt(const HelmholtzForm *form, PetscReal speed, const PetscInt at[3])
{
  const PetscReal off    = HelmholtzMassOffDiagonal(form, form->omegah / speed * (form->omegah / speed));
  PetscReal       weight = form->sourcescale;

  for (int d = 0; d < form->dim; d++) {
    PetscReal sum = 0;

    for (int v = 0; v < 2; v++) {
      const PetscInt away = at[d] - form->cell[d] - v, distance = away < 0 ? -away : away;
      PetscReal      mass = 0;

      if (distance == 0) mass = 1 - 2 * off;
      else if (distance == 1) mass = off;
      sum += (v ? form->fraction[d] : 1 - form->fraction[d]) * mass;
    }
    weight *= sum;
  }
  return weight;
}

/* ------------------------------------------------------------ the rows of a process, with all neighbours on the grid */

/*
   Writes row k of the process at its place in j and a, columns ascending. speed: complex numbers, of own points and all
   their neighbours
*/
FORMULA void HelmholtzMakeRow(const HelmholtzForm *form, const GridBox *box, const PetscReal speed[], PetscInt64 k, PetscInt j[], PetscReal a[])
{
  const PetscInt64 begin = GridBoxRowStart(box, form->stencil == 2, k);
  HelmholtzNumber  stencil[27];
  PetscInt64       end = begin;
  PetscInt         at[3];

  GridBoxPoint(box, k, at);
  for (int s = 0; s < form->points; s++) stencil[s] = HelmholtzMake(0, 0);
  for (int c = form->corners - 1; c >= 0; c--) {
    HelmholtzCell cell;
    PetscReal     mean = 0;
    PetscInt      low[3];

    if (!HelmholtzHasCell(form, c, at, low)) continue;
    for (int v = 0; v < form->corners; v++) {
      const PetscInt  vertex[3] = {low[0] + (v & 1), low[1] + (v >> 1 & 1), low[2] + (v >> 2)};
      const PetscReal ratio     = form->omegah / speed[2 * GridBoxLocal(box, vertex)];

      mean += ratio * ratio;
    }
    HelmholtzSetCell(form, mean / form->corners, low, 1, &cell);
    HelmholtzAddCell(form, &cell, c, at, stencil);
  }
  for (int s = 0; s < form->points; s++) {
    const PetscInt to[3]  = {at[0] + s % 3 - 1, at[1] + s / 3 % 3 - 1, form->dim == 3 ? at[2] + s / 9 - 1 : 0};
    const int      beside = (to[0] != at[0]) + (to[1] != at[1]) + (to[2] != at[2]) > 1;
    int            there  = form->stencil != 2 || !beside;

    for (int d = 0; d < form->dim; d++) there = there && to[d] >= 0 && to[d] < form->n[d];
    if (there) GridBoxAddEntry(begin, end++, GridBoxRow(box, to), &stencil[s].re, j, a);
  }
}
