/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Arrays of a PCSBPMG, and white noise in them. Those of all levels are parts of one allocation: on a device an allocation can cost more
   than what is done with it in a set-up, and freeing waits for all kernels.
*/

#include "sbpmgimpl.h"

static size_t OwnedBytes(const SBPGrid *grid, SBPPrecision precision)
{
  return (size_t)grid->pitch * (size_t)grid->own.count[1] * SBPNumberBytes(precision);
}

static size_t GhostedBytes(const SBPGrid *grid, SBPPrecision precision)
{
  return (size_t)PetscMax(grid->ghostpitch, grid->coefficientpitch) * (size_t)grid->ghosted.count[1] * SBPNumberBytes(precision);
}

#define ALIGNED(bytes) (((bytes) + 255) / 256 * 256)

/* What AllocateLevel(), SetUpDiagonal(), RoundOperator() and PCSBPMGGalerkin_Private() will ask for on a level */
static size_t LevelBytes(const PC_SBPMG *mg, PetscInt k)
{
  const SBPMGLevel *l        = &mg->level[k];
  const SBPGrid    *grid     = k ? &l->grid : &l->op[mg->exact].grid;
  const size_t      owned    = ALIGNED(OwnedBytes(grid, mg->precision)), ownedexact = ALIGNED(OwnedBytes(grid, mg->exact));
  const size_t      ghosts   = ALIGNED(GhostedBytes(grid, mg->precision)), ghostsexact = ALIGNED(GhostedBytes(grid, mg->exact));
  const PetscBool   two      = (PetscBool)(mg->precision != mg->exact), full = (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL);
  const PetscBool   coarsest = (PetscBool)(k == mg->n - 1), galerkin = (PetscBool)(k && mg->opt.coarse == PCSBPMG_COARSE_GALERKIN);
  size_t            bytes    = 3 * owned;

  if (!coarsest) bytes += (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON ? 1 : 2) * owned;
  if (full) bytes += 2 * ownedexact;
  if (full && !coarsest) bytes += owned + (two ? ownedexact : 0);
  if (galerkin) {
    if (PCSBPMGKeepsExact_Private(mg, l)) bytes += SBP_COEFFICIENTS * ghostsexact;
    if (two) bytes += SBP_COEFFICIENTS * ghosts;
  } else if (two) bytes += 3 * ghosts;
  return bytes;
}

/* Once the grids of all levels are known */
PetscErrorCode PCSBPMGReserve_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  mg->reserved = 0;
  for (PetscInt k = 0; k < mg->n; k++) mg->reserved += LevelBytes(mg, k);
  mg->taken = 0;
  PetscCall((*mg->kernels->alloc)(mg->reserved, &mg->memory));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeroed; what was not foreseen has an allocation of its own */
static PetscErrorCode Take(PC_SBPMG *mg, size_t bytes, void **x)
{
  PetscFunctionBegin;
  if (mg->memory && ALIGNED(bytes) <= mg->reserved - mg->taken) {
    *x = (char *)mg->memory + mg->taken;
    mg->taken += ALIGNED(bytes);
  } else PetscCall((*mg->kernels->alloc)(bytes, x));
  mg->bytes += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x may be NULL */
PetscErrorCode PCSBPMGFree_Private(PC_SBPMG *mg, void **x)
{
  const char *at = (const char *)*x, *begin = (const char *)mg->memory;

  PetscFunctionBegin;
  if (at && (!begin || at < begin || at >= begin + mg->reserved)) PetscCall((*mg->kernels->free)(x));
  *x = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGOwned_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall(Take(mg, OwnedBytes(grid, precision), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Large enough for ghosted arrays and for coefficients */
PetscErrorCode PCSBPMGGhosts_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall(Take(mg, GhostedBytes(grid, precision), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* For a while: owned arrays of two levels, two of each */
PetscErrorCode PCSBPMGWorkCreate_Private(PC_SBPMG *mg, const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, void **work)
{
  PetscFunctionBegin;
  PetscCall((*mg->kernels->alloc)(2 * (ALIGNED(OwnedBytes(fine, precision)) + ALIGNED(OwnedBytes(coarse, precision))), work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same memory serves pairs of coarser levels */
void PCSBPMGWorkArrays_Private(void *work, const SBPGrid *fine, const SBPGrid *coarse, SBPPrecision precision, void *onfine[2], void *oncoarse[2])
{
  const size_t f = ALIGNED(OwnedBytes(fine, precision)), c = ALIGNED(OwnedBytes(coarse, precision));

  for (int k = 0; k < 2; k++) {
    onfine[k]   = (char *)work + (size_t)k * f;
    oncoarse[k] = (char *)work + 2 * f + (size_t)k * c;
  }
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
  const size_t  row  = (size_t)grid->pitch * SBPNumberBytes(precision);
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
