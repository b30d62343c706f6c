/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* Rows of the pressure equation, for the host and for kernels; reservoirassemble.c explains the equation */

#include <tutorials/common/gridbox.h>
#include <tutorials/common/permeability.h>

/* Parameters of the rows. The arrays are on the host, or on a device for kernels */
typedef struct {
  double          cell[3], accumulation;
  PetscInt        wells;
  const PetscInt *well; /* columns of cells, x and y: the injector, then the producers */
  PetscBool       rate; /* the injector has a rate, so rows of its cells are long */
  const double   *index;
  const PetscInt *unknown; /* of the cells of the injector: well indices, and unknowns */
  double          sum;     /* of index */
} ReservoirForm;

/* reservoirdevice.cu: fills the rows and b, both on the device */
PETSC_INTERN PetscErrorCode ReservoirLaunchRows(const Permeability *, const ReservoirForm *, const GridBox *, const GridBoxRows *, PetscScalar b[]);

/* The first entry of the row of own cell k. A cell of the injector has all cells of the well in place of up to three */
FORMULA PetscInt64 ReservoirRowStart(const ReservoirForm *form, const GridBox *box, PetscInt64 k)
{
  const PetscInt64 x = form->well[0] - box->start[0], y = form->well[1] - box->start[1], plane = (PetscInt64)box->count[0] * box->count[1];
  const PetscInt64 first = y * box->count[0] + x, begin = GridBoxRowStart(box, 1, k);
  PetscInt64       layers;

  if (!form->rate || x < 0 || y < 0 || x >= box->count[0] || y >= box->count[1] || k <= first) return begin;
  layers = (k - first - 1) / plane + 1;
  return begin + layers * (box->n[2] - 3) + (box->start[2] == 0) + (box->start[2] + layers == box->n[2]);
}

/*
   Writes the row of own cell k at its place in j and a, columns ascending. Writes the right-hand side of the cell, too.
   perm: scalars, three per own cell and neighbour
*/
FORMULA void ReservoirMakeRow(const ReservoirForm *form, const GridBox *box, const PetscReal perm[], PetscInt64 k, PetscInt j[], PetscReal a[], PetscReal b[])
{
  const PetscInt64 begin = ReservoirRowStart(form, box, k);
  PetscInt64       end   = begin;
  double           flux[7], here[3], source = form->accumulation * RESERVOIR_INITIALP;
  PetscInt         at[3];
  int              injector;

  GridBoxPoint(box, k, at);
  injector = form->rate && at[0] == form->well[0] && at[1] == form->well[1];
  for (int d = 0; d < 3; d++) here[d] = (double)perm[GRIDBOX_PARTS * (3 * GridBoxLocal(box, at) + d)];
  /* flux[3]: the diagonal; flux[2 - d] and flux[4 + d]: the cells before and behind in direction d */
  flux[3] = form->accumulation;
  for (int d = 0; d < 3; d++) {
    double both = 0;

    for (int side = -1; side <= 1; side += 2) {
      double *f = &flux[3 + side * (1 + d)];

      at[d] += side;
      *f = at[d] < 0 || at[d] >= box->n[d] ? 0 : Transmissibility(form->cell, d, here[d], (double)perm[GRIDBOX_PARTS * (3 * GridBoxLocal(box, at) + d)]);
      at[d] -= side;
      both += *f;
    }
    flux[3] += both;
  }
  for (PetscInt w = form->rate ? 1 : 0; w <= form->wells; w++) {
    if (form->well[2 * w] == at[0] && form->well[2 * w + 1] == at[1]) {
      const double index = WellIndex(form->cell, here[0], here[1]);

      flux[3] += index;
      source += index * (w ? RESERVOIR_PRODUCERBHP : RESERVOIR_INJECTORBHP);
    }
  }
  for (int e = 0; e < 7; e++) {
    const int d = (e < 3 ? 3 - e : e - 3) - 1, step = e < 3 ? -1 : 1;
    PetscInt  to[3] = {at[0], at[1], at[2]};

    if (e != 3) to[d] += step;
    if (e != 3 && (to[d] < 0 || to[d] >= box->n[d])) continue;
    if (injector && (e == 3 || d == 2)) continue;
    GridBoxAddReal(begin, end++, GridBoxRow(box, to), e == 3 ? flux[3] : -flux[e], j, a);
  }
  for (PetscInt m = 0; injector && m < box->n[2]; m++) {
    const PetscInt off   = m - at[2];
    double         value = (off ? 0 : form->index[m]) - form->index[at[2]] * form->index[m] / form->sum;

    if (off == 0) value += flux[3];
    else if (off == -1 || off == 1) value -= flux[3 + 3 * off];
    GridBoxAddReal(begin, end++, form->unknown[m], value, j, a);
  }
  if (injector) source += RESERVOIR_RATE * form->index[at[2]] / form->sum;
  GridBoxPutReal(b, k, source);
}
