/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Arrays of a PCSBPMG: how much memory they have, and white noise in them */

#include "sbpmgimpl.h"

size_t SBPMGSize_Private(SBPPrecision precision)
{
  return precision == SBP_SINGLE ? sizeof(float) : precision == SBP_DOUBLE ? sizeof(double)
                                                                           : sizeof(PetscScalar);
}

static size_t OwnedBytes(const SBPGrid *grid, SBPPrecision precision)
{
  return (size_t)grid->pitch * (size_t)grid->own.count[1] * SBPMGSize_Private(precision);
}

/* Owned arrays, zeroed */
PetscErrorCode PCSBPMGOwned_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->alloc)(OwnedBytes(grid, precision), x));
  mg->bytes += OwnedBytes(grid, precision);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Large enough for ghosted arrays and for coefficients */
PetscErrorCode PCSBPMGGhosts_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  const size_t bytes = (size_t)PetscMax(grid->ghostpitch, grid->coefficientpitch) * (size_t)grid->ghosted.count[1] * SBPMGSize_Private(precision);

  PetscFunctionBegin;
  PetscCall((*mg->kernels->alloc)(bytes, x));
  mg->bytes += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline void Set(SBPPrecision precision, void *x, size_t k, double value)
{
  if (precision == SBP_SINGLE) ((float *)x)[k] = (float)value;
  else ((double *)x)[k] = value;
}

/* Between -1 and 1, by a hash of a node's indices */
static double Noise(PetscInt i, PetscInt j)
{
  unsigned int h = (unsigned int)i * 2654435761u ^ (unsigned int)j * 2246822519u;

  h ^= h >> 15;
  h *= 2246822519u;
  h ^= h >> 13;
  h *= 3266489917u;
  h ^= h >> 16;
  return (double)h / 2147483648. - 1.;
}

#define NOISE_ROWS 64

/*
   The same white noise on any number of processes: it has a period of NOISE_ROWS rows, so that a device gets few of them
   from the host and copies the rest
*/
PetscErrorCode PCSBPMGNoise_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void *x)
{
  const SBPBox *own  = &grid->own;
  PetscInt      rows = PetscMin((PetscInt)NOISE_ROWS, own->count[1]);
  const size_t  row  = (size_t)grid->pitch * SBPMGSize_Private(precision);
  char         *host;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1((size_t)rows * row, &host));
  for (PetscInt j = 0; j < rows; j++) {
    for (PetscInt i = 0; i < own->count[0]; i++) Set(precision, host, (size_t)j * (size_t)grid->pitch + (size_t)i, Noise(own->start[0] + i, (own->start[1] + j) % NOISE_ROWS));
  }
  PetscCall((*mg->kernels->put)((size_t)rows * row, host, x));
  PetscCall(PetscFree(host));
  while (rows < own->count[1]) {
    const PetscInt more = PetscMin(rows, own->count[1] - rows);
    SBPGrid        part = *grid;

    part.own.count[1] = more;
    PetscCall((*mg->kernels->copy)(&part, precision, 0, x, &part, precision, 0, (char *)x + (size_t)rows * row));
    rows += more;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
