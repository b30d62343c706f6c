/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The permeabilities of a reservoir: a correlated log-normal field with meandering channels, or the values of a file,
   interpolated on a refined grid.
*/

#include "permeability.h"

#define MEANPERM      50.0 /* mD */
#define CHANNELFACTOR 12.0 /* permeability of sand, relative to shale */
#define CHANNELKZKX   0.3

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

/* Where a refined cell lies between two cells of the file */
static void Interpolate(PetscInt i, PetscInt refine, PetscInt n, PetscInt *left, double *weight)
{
  const double x = ((double)i + .5) / (double)refine - .5;
  PetscInt     l = (PetscInt)floor(x);

  *weight = x - (double)l;
  if (l < 0) {
    l       = 0;
    *weight = 0.;
  }
  if (l >= n - 1) {
    l       = PetscMax(0, n - 2);
    *weight = n > 1 ? 1. : 0.;
  }
  *left = l;
}

/* Permeabilities in mD of the cells (0 .. nx-1, j, k) */
PetscErrorCode PermeabilityLine(const Permeability *perm, PetscInt j, PetscInt k, double kx[], double ky[], double kz[])
{
  const Problem *problem = perm->problem;
  const PetscInt nx      = perm->nx;

  PetscFunctionBegin;
  if (problem->kind == PROBLEM_RESERVOIR) {
    /* a correlated part, noise, and more in the channels */
    FieldLine(&perm->field, nx, (double)j, (double)k, perm->work);
    for (PetscInt i = 0; i < nx; i++) {
      const uint64_t cell = ((uint64_t)k * (uint64_t)perm->ny + (uint64_t)j) * (uint64_t)nx + (uint64_t)i;
      const double   z    = (perm->work[i] + .3 * HashNormal(cell, (uint64_t)problem->seed)) / sqrt(1.09);

      kx[i] = MEANPERM * exp((double)problem->logdeviation * z);
      kz[i] = (double)problem->anisotropy;
    }
    for (PetscInt c = 0; c < perm->nchannels; c++) {
      const Channel *ch = perm->channel + c;

      if (k >= ch->z0 && k < ch->z1) {
        const double y = (double)j * ch->wavenumber;
        const double x = ch->x + ch->amplitude * sin(y + ch->phase) + ch->amplitude2 * sin(2.7 * y + ch->phase2);

        for (PetscInt i = PetscMax(0, (PetscInt)ceil(x - ch->halfwidth)); i < nx && (double)i <= x + ch->halfwidth; i++) {
          if (kz[i] != CHANNELKZKX) kx[i] *= CHANNELFACTOR;
          kz[i] = CHANNELKZKX;
        }
      }
    }
    for (PetscInt i = 0; i < nx; i++) {
      kx[i] = PetscMin(PetscMax(kx[i], RESERVOIR_MINPERM), RESERVOIR_MAXPERM);
      ky[i] = kx[i];
      kz[i] *= kx[i];
    }
  } else {
    const PetscInt cx = perm->cx, cxy = perm->cx * perm->cy;
    double        *out[3] = {kx, ky, kz};

    for (int d = 0; d < 3; d++) {
      const double *v = perm->log[d];

      if (problem->refine == 1) {
        for (PetscInt i = 0; i < nx; i++) out[d][i] = exp(v[k * cxy + j * cx + i]);
      } else {
        PetscInt li, lj, lk;
        double   wi, wj, wk;

        Interpolate(j, problem->refine, perm->cy, &lj, &wj);
        Interpolate(k, problem->refine, perm->cz, &lk, &wk);
        for (PetscInt i = 0; i < nx; i++) {
          double sum = 0.;

          Interpolate(i, problem->refine, cx, &li, &wi);
          for (int corner = 0; corner < 8; corner++) {
            const double w = ((corner & 1) ? wi : 1. - wi) * ((corner & 2) ? wj : 1. - wj) * ((corner & 4) ? wk : 1. - wk);

            if (w > 0.) sum += w * v[(lk + (corner >> 2)) * cxy + (lj + ((corner >> 1) & 1)) * cx + li + (corner & 1)];
          }
          out[d][i] = exp(sum);
        }
      }
    }
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
