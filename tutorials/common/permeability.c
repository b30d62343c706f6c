/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The permeabilities of a reservoir: a correlated log-normal field with meandering channels, or the values of a file,
   interpolated on a refined grid.
*/

#include "permeability.h"

static PetscErrorCode PermeabilityChannels(Permeability *perm)
{
  const Problem *problem = perm->problem;
  const PetscInt groups  = PetscMax(1, perm->nz / 8);
  PetscRandom    random;
  double         u[8];

  PetscFunctionBegin;
  perm->nchannels = groups * problem->channels;
  PetscCall(PetscMalloc1(perm->nchannels, &perm->channel));
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)problem->seed + 7919));
  PetscCall(PetscRandomSeed(random));
  for (PetscInt c = 0; c < perm->nchannels; c++) {
    Channel *ch = perm->channel + c;

    for (int l = 0; l < 8; l++) PetscCall(RandomUniform(random, &u[l]));
    ch->x          = u[0] * (double)perm->nx;
    ch->amplitude  = (.05 + .15 * u[1]) * (double)perm->nx;
    ch->wavenumber = 2. * PETSC_PI * (1. + 2. * u[2]) / (double)perm->ny;
    ch->phase      = 2. * PETSC_PI * u[3];
    ch->amplitude2 = .3 * ch->amplitude;
    ch->phase2     = 2. * PETSC_PI * u[4];
    ch->halfwidth  = (.02 + .03 * u[5]) * (double)perm->nx;
    ch->z0         = (PetscInt)(u[6] * (double)perm->nz);
    ch->z1         = ch->z0 + 2 + (PetscInt)(5. * u[7]);
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PermeabilityCreate(MPI_Comm comm, const Problem *problem, Permeability *perm)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(perm, sizeof(*perm)));
  perm->problem = problem;
  if (problem->kind == PROBLEM_RESERVOIR) {
    perm->nx = problem->nx;
    perm->ny = problem->ny;
    perm->nz = problem->nz;
    PetscCall(FieldSetUp(&perm->field, problem->correlation, problem->seed));
    PetscCall(PermeabilityChannels(perm));
    PetscCall(PetscMalloc1(perm->nx, &perm->work));
  } else {
    PetscMPIInt rank;
    PetscInt    sizes[3], count;

    PetscCallMPI(MPI_Comm_rank(comm, &rank));
    if (!rank) PetscCall(PermeabilityRead(perm, problem->permeability));
    sizes[0] = perm->cx;
    sizes[1] = perm->cy;
    sizes[2] = perm->cz;
    PetscCallMPI(MPI_Bcast(sizes, 3, MPIU_INT, 0, comm));
    perm->cx = sizes[0];
    perm->cy = sizes[1];
    perm->cz = sizes[2];
    count    = perm->cx * perm->cy * perm->cz;
    for (int d = 0; d < 3; d++) {
      if (rank) PetscCall(PetscMalloc1(count, &perm->log[d]));
      PetscCallMPI(MPI_Bcast(perm->log[d], (PetscMPIInt)count, MPI_DOUBLE, 0, comm));
    }
    perm->nx = perm->cx * problem->refine;
    perm->ny = perm->cy * problem->refine;
    perm->nz = perm->cz * problem->refine;
  }
  for (int d = 0; d < 3; d++) perm->cell[d] = (double)problem->cell[d] / (double)problem->refine;
  /* the least radius of Peaceman for any permeabilities: at the radius of the well the formula has a pole */
  PetscCheck(.28 * perm->cell[0] * perm->cell[1] > RESERVOIR_WELLRADIUS * hypot(perm->cell[0], perm->cell[1]), comm, PETSC_ERR_ARG_OUTOFRANGE,
             "Cells of %g x %g m are too small for wells with a radius of %g m: give larger ones with -cell, or a smaller -refine", perm->cell[0],
             perm->cell[1], RESERVOIR_WELLRADIUS);
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PermeabilityDestroy(Permeability *perm)
{
  PetscFunctionBegin;
  PetscCall(PetscFree(perm->channel));
  PetscCall(PetscFree(perm->work));
  for (int d = 0; d < 3; d++) PetscCall(PetscFree(perm->log[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PermeabilityLine(const Permeability *perm, PetscInt j, PetscInt k, double kx[], double ky[], double kz[])
{
  const Problem *problem = perm->problem;
  const PetscInt nx      = perm->nx;

  PetscFunctionBegin;
  if (problem->kind == PROBLEM_RESERVOIR) {
    FieldLine(&perm->field, nx, (double)j, (double)k, perm->work);
    for (PetscInt i = 0; i < nx; i++) {
      kx[i] = PermeabilityShale(perm, problem, i, j, k, perm->work[i]);
      ky[i] = 0.; /* 1: sand */
    }
    for (PetscInt c = 0; c < perm->nchannels; c++) {
      const Channel *ch = perm->channel + c;

      if (k >= ch->z0 && k < ch->z1) {
        const double x = ChannelMiddle(ch, j);

        for (PetscInt i = PetscMax(0, (PetscInt)ceil(x - ch->halfwidth)); i < nx && (double)i <= x + ch->halfwidth; i++) ky[i] = 1.;
      }
    }
  }
  for (PetscInt i = 0; i < nx; i++) {
    double out[3];

    if (problem->kind == PROBLEM_RESERVOIR) PermeabilityFinish(problem, kx[i], ky[i] > 0., out);
    else PermeabilityInterpolate(perm, problem, i, j, k, out);
    kx[i] = out[0];
    ky[i] = out[1];
    kz[i] = out[2];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PermeabilityWells(const Permeability *perm, PetscInt well[][2])
{
  PetscRandom random;
  double      u = 0.;

  PetscFunctionBegin;
  well[0][0] = perm->nx / 2;
  well[0][1] = perm->ny / 2;
  PetscCall(PetscRandomCreate(PETSC_COMM_SELF, &random));
  PetscCall(PetscRandomSetType(random, PETSCRANDER48));
  PetscCall(PetscRandomSetSeed(random, (unsigned long)perm->problem->seed + 104729));
  PetscCall(PetscRandomSeed(random));
  for (PetscInt w = 1; w <= perm->problem->wells; w++) {
    if (w <= 4) { /* a five-spot first */
      well[w][0] = w % 2 ? 0 : perm->nx - 1;
      well[w][1] = w <= 2 ? 0 : perm->ny - 1;
    } else {
      PetscCall(RandomUniform(random, &u));
      well[w][0] = PetscMin(perm->nx - 1, (PetscInt)(u * (double)perm->nx));
      PetscCall(RandomUniform(random, &u));
      well[w][1] = PetscMin(perm->ny - 1, (PetscInt)(u * (double)perm->ny));
    }
  }
  PetscCall(PetscRandomDestroy(&random));
  PetscFunctionReturn(PETSC_SUCCESS);
}
