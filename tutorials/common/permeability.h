/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The permeabilities of a reservoir, generated or from a file, the wells, and the flow between cells.

   Units are those of the oil field: permeability in mD, pressure in bar, lengths in m, time in days.
*/

#include "formula.h"
#include "problemsimpl.h"

#define RESERVOIR_DARCY       0.00852702 /* mD m bar / cP in m^3/day */
#define RESERVOIR_VISCOSITY   1.0        /* cP */
#define RESERVOIR_WELLRADIUS  0.1        /* m */
#define RESERVOIR_INJECTORBHP 450.0      /* bar */
#define RESERVOIR_PRODUCERBHP 150.0      /* bar */
#define RESERVOIR_INITIALP    300.0      /* bar */
#define RESERVOIR_RATE        500.0      /* m^3/day, of the injector */
#define RESERVOIR_COMPRESS    1.e-4      /* 1/bar */
#define RESERVOIR_POROSITY    0.2
#define RESERVOIR_MINPERM     1.e-3 /* of generated permeabilities */
#define RESERVOIR_MAXPERM     2.e4

/* A meandering sand body */
typedef struct {
  double   x, amplitude, wavenumber, phase, amplitude2, phase2, halfwidth;
  PetscInt z0, z1;
} Channel;

typedef struct {
  const Problem *problem;
  PetscInt       nx, ny, nz; /* cells, refined */
  double         cell[3];    /* size of a cell in m */

  /* RESERVOIR */
  Field    field;
  PetscInt nchannels;
  Channel *channel;
  double  *work;

  /* SPE10: cells of the file, x fastest; logarithms */
  PetscInt cx, cy, cz;
  double  *log[3];
} Permeability;

PETSC_INTERN PetscErrorCode PermeabilityCreate(MPI_Comm, const Problem *, Permeability *);
PETSC_INTERN PetscErrorCode PermeabilityDestroy(Permeability *);
/* In mD, of the cells (0 .. nx-1, j, k): kx, ky, kz */
PETSC_INTERN PetscErrorCode PermeabilityLine(const Permeability *, PetscInt j, PetscInt k, double kx[], double ky[], double kz[]);
/* Columns of cells with a vertical well: well 0 is the injector in the middle, problem->wells producers follow */
PETSC_INTERN PetscErrorCode PermeabilityWells(const Permeability *, PetscInt well[][2]);

/* permeabilityread.c: cx, cy, cz and log[] from a file */
PETSC_INTERN PetscErrorCode PermeabilityRead(Permeability *, const char path[]);

/* m^3/day/bar between two neighbours in direction d, with permeabilities a and b in direction d: two-point flux,
   harmonic mean */
FORMULA double Transmissibility(const double cell[3], int d, double a, double b)
{
  const double shape = cell[(d + 1) % 3] * cell[(d + 2) % 3] / cell[d];

  return RESERVOIR_DARCY / RESERVOIR_VISCOSITY * shape * (2. * a * b / (a + b));
}

/* m^3/day/bar which a cell stores in a time step of "days" */
FORMULA double Accumulation(const double cell[3], double days)
{
  return RESERVOIR_POROSITY * RESERVOIR_COMPRESS * cell[0] * cell[1] * cell[2] / days;
}

/* Peaceman's well index of a vertical well in one cell, in m^3/day/bar */
FORMULA double WellIndex(const double cell[3], double kx, double ky)
{
  const double a = sqrt(ky / kx), b = sqrt(kx / ky);
  const double re = .28 * sqrt(a * cell[0] * cell[0] + b * cell[1] * cell[1]) / (sqrt(a) + sqrt(b));

  return RESERVOIR_DARCY * 2. * PETSC_PI * sqrt(kx * ky) * cell[2] / (RESERVOIR_VISCOSITY * log(re / RESERVOIR_WELLRADIUS));
}
