/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* A case of bench/gridmg: n x n x n/2 cells per process, a slab of planes, with 7 points and random coefficients */

#include <tutorials/common/gridbox.h>
#include <tutorials/common/measure.h>
#include <math.h>
#include <stdint.h>

/* grid: the cells of all processes. device: a MATVCRS whose rows are made on devices; else a MATAIJ */
PETSC_INTERN PetscErrorCode WeakCreate(const Bench *, PetscBool device, PetscInt grid[3], Mat *);
/* weakdevice.cu: fills rows on a device */
PETSC_INTERN PetscErrorCode WeakLaunchRows(const GridBox *, const GridBoxRows *);

/* A number between 0 and 1 */
FORMULA double WeakRandom(uint64_t k)
{
  k ^= k >> 33;
  k *= 0xff51afd7ed558ccdULL;
  k ^= k >> 33;
  k *= 0xc4ceb9fe1a85ec53ULL;
  k ^= k >> 33;
  return (double)(k >> 11) / 9007199254740992.;
}

/* Log-normal permeability over three decades, in layers, a tenth along z: the face behind a cell of layer k */
FORMULA double WeakFace(PetscInt64 cell, PetscInt k, int d)
{
  const double layer = WeakRandom(7777 + (uint64_t)k), here = WeakRandom((uint64_t)cell);

  return exp(3.5 * (layer - 0.5) + 3.5 * (here - 0.5)) * (d == 2 ? 0.1 : 1);
}

/* Writes the row of own cell k at its place in j and a (scalars), columns ascending */
FORMULA void WeakMakeRow(const GridBox *box, PetscInt64 k, PetscInt j[], PetscReal a[])
{
  const PetscInt64 stride[3] = {1, box->n[0], (PetscInt64)box->n[0] * box->n[1]}, begin = GridBoxRowStart(box, 1, k);
  PetscInt64       cell, end                                                            = begin;
  double           face[7];
  PetscInt         at[3];

  GridBoxPoint(box, k, at);
  cell    = at[0] + stride[1] * at[1] + stride[2] * at[2];
  face[3] = 1e-4;
  for (int e = 0; e < 7; e++) {
    const int d = e < 3 ? 2 - e : e - 4, before = e < 3;

    if (e == 3) continue;
    face[e] = 0;
    if (at[d] != (before ? 0 : box->n[d] - 1)) face[e] = WeakFace(before ? cell - stride[d] : cell, before && d == 2 ? at[2] - 1 : at[2], d);
    face[3] += face[e];
  }
  for (int e = 0; e < 7; e++) {
    const int        d      = e < 3 ? 2 - e : e - 4;
    const PetscInt64 column = e == 3 ? cell : (e < 3 ? cell - stride[d] : cell + stride[d]);

    if (face[e] > 0) GridBoxAddReal(begin, end++, (PetscInt)column, e == 3 ? face[3] : -face[e], j, a);
  }
}
