/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The permeabilities of a reservoir, generated or from a file, the wells, and the flow between cells.

   Units are those of the oil field: permeability in mD, pressure in bar, lengths in m, time in days.
*/

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
#define RESERVOIR_MEANPERM    50.0 /* mD, outside channels */
#define RESERVOIR_CHANNEL     12.0 /* permeability of sand, relative to shale */
#define RESERVOIR_CHANNELKZKX 0.3

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

/* ------------------------------------------------------------ permeabilities of a cell, for the host and for kernels */

/* Outside channels: a correlated part, the field, and noise */
FORMULA double PermeabilityShale(const Permeability *perm, const Problem *problem, PetscInt i, PetscInt j, PetscInt k, double field)
{
  const uint64_t cell = ((uint64_t)k * (uint64_t)perm->ny + (uint64_t)j) * (uint64_t)perm->nx + (uint64_t)i;
  const double   z    = (field + .3 * HashNormal(cell, (uint64_t)problem->seed)) / sqrt(1.09);

  return RESERVOIR_MEANPERM * exp((double)problem->logdeviation * z);
}

/* The middle of a channel in a line of cells along x */
FORMULA double ChannelMiddle(const Channel *ch, PetscInt j)
{
  const double y = (double)j * ch->wavenumber;

  return ch->x + ch->amplitude * sin(y + ch->phase) + ch->amplitude2 * sin(2.7 * y + ch->phase2);
}

/* The permeabilities of a cell of shale, or of sand in its place */
FORMULA void PermeabilityFinish(const Problem *problem, double shale, int sand, double out[3])
{
  const double k = sand ? RESERVOIR_CHANNEL * shale : shale;

  out[0] = k < RESERVOIR_MINPERM ? RESERVOIR_MINPERM : (k > RESERVOIR_MAXPERM ? RESERVOIR_MAXPERM : k);
  out[1] = out[0];
  out[2] = (sand ? RESERVOIR_CHANNELKZKX : (double)problem->anisotropy) * out[0];
}

/* Where a refined cell lies between two cells of the file */
FORMULA void PermeabilityPlace(PetscInt i, PetscInt refine, PetscInt n, PetscInt *left, double *weight)
{
  const double x = ((double)i + .5) / (double)refine - .5;

  *left   = (PetscInt)floor(x);
  *weight = x - (double)*left;
  if (*left < 0) {
    *left   = 0;
    *weight = 0.;
  }
  if (*left >= n - 1) {
    *left   = n > 1 ? n - 2 : 0;
    *weight = n > 1 ? 1. : 0.;
  }
}

/* From the file */
FORMULA void PermeabilityInterpolate(const Permeability *perm, const Problem *problem, PetscInt i, PetscInt j, PetscInt k, double out[3])
{
  const PetscInt cx = perm->cx, cxy = perm->cx * perm->cy;
  PetscInt       li, lj, lk;
  double         wi, wj, wk;

  if (problem->refine == 1) {
    for (int d = 0; d < 3; d++) out[d] = exp(perm->log[d][k * cxy + j * cx + i]);
    return;
  }
  PermeabilityPlace(i, problem->refine, perm->cx, &li, &wi);
  PermeabilityPlace(j, problem->refine, perm->cy, &lj, &wj);
  PermeabilityPlace(k, problem->refine, perm->cz, &lk, &wk);
  for (int d = 0; d < 3; d++) {
    double sum = 0.;

    for (int corner = 0; corner < 8; corner++) {
      const double w = ((corner & 1) ? wi : 1. - wi) * ((corner & 2) ? wj : 1. - wj) * ((corner & 4) ? wk : 1. - wk);

      if (w > 0.) sum += w * perm->log[d][(lk + (corner >> 2)) * cxy + (lj + ((corner >> 1) & 1)) * cx + li + (corner & 1)];
    }
    out[d] = exp(sum);
  }
}

/* Of any cell, up to rounding the values of PermeabilityLine(). For kernels: perm and problem are in one memory */
FORMULA void PermeabilityAt(const Permeability *perm, const Problem *problem, PetscInt i, PetscInt j, PetscInt k, double out[3])
{
  int sand = 0;

  if (problem->kind != PROBLEM_RESERVOIR) {
    PermeabilityInterpolate(perm, problem, i, j, k, out);
    return;
  }
  for (PetscInt c = 0; c < perm->nchannels && !sand; c++) {
    const Channel *ch = perm->channel + c;

    sand = k >= ch->z0 && k < ch->z1 && fabs((double)i - ChannelMiddle(ch, j)) <= ch->halfwidth;
  }
  PermeabilityFinish(problem, PermeabilityShale(perm, problem, i, j, k, FieldAt(&perm->field, (double)i, (double)j, (double)k)), sand, out);
}

/* ------------------------------------------------------------ flow */

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
