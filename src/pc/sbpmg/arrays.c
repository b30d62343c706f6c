/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Arrays of a PCSBPMG. The arrays of all levels are parts of one allocation. On a device an allocation can cost more
   than its use in a set-up, and freeing waits for all kernels.
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

/* The memory that AllocateLevel(), SetUpDiagonal(), RoundOperator(), PCSBPMGGalerkin_Private() and
   PCSBPMGBoxFill_Private() will request on a level */
static size_t LevelBytes(const PC_SBPMG *mg, PetscInt k)
{
  const SBPMGLevel *l     = &mg->level[k];
  const SBPGrid    *grid  = k ? &l->grid : &l->op[mg->precision].grid;
  const size_t      owned = ALIGNED(OwnedBytes(l->box.planned ? &l->box.op.grid : grid, mg->precision)), ownedexact = ALIGNED(OwnedBytes(grid, mg->exact));
  const size_t      ghosts = ALIGNED(GhostedBytes(grid, mg->precision)), ghostsexact = ALIGNED(GhostedBytes(grid, mg->exact));
  const PetscBool   two      = (PetscBool)(mg->precision != mg->exact);
  const PetscBool   coarsest = (PetscBool)(k == mg->n - 1), galerkin = (PetscBool)(k && mg->opt.coarse == PCSBPMG_COARSE_GALERKIN);
  size_t            bytes = 3 * owned;

  if (!coarsest) bytes += (mg->opt.smoother == PCSBPMG_SMOOTHER_RICHARDSON ? 1 : 2) * owned;
  if (PCSBPMGHasVectors_Private(mg, k)) bytes += 2 * ownedexact;
  if (PCSBPMGHasResidual_Private(mg, k)) bytes += ownedexact;
  if (PCSBPMGHasDirection_Private(mg, k)) bytes += owned;
  if (galerkin) {
    if (PCSBPMGKeepsExact_Private(mg, l)) bytes += SBP_COEFFICIENTS * ghostsexact;
    if (two) bytes += SBP_COEFFICIENTS * ghosts;
  } else if (two) bytes += (PCSBPMGIsShifted(mg) ? 4 : 3) * ghosts;
  if (k == 0 && PCSBPMGIsShifted(mg)) bytes += ghostsexact;
  if (l->box.planned) bytes += (size_t)(k ? SBP_COEFFICIENTS : (PCSBPMGIsShifted(mg) ? 4 : 3)) * ALIGNED(GhostedBytes(&l->box.op.grid, mg->precision));
  return bytes;
}

/* The arrays of full multigrid on a level: a right-hand side and an iterate, which on the finest level can be the
   application's */
PetscBool PCSBPMGHasVectors_Private(const PC_SBPMG *mg, PetscInt k)
{
  return (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL && !(k == 0 && PCSBPMGIsInPlace(mg)));
}

/*
   Whether a level has an array for a residual, which is missing if residuals are made directly in the precision of the
   cycle
*/
PetscBool PCSBPMGHasResidual_Private(const PC_SBPMG *mg, PetscInt k)
{
  return (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL && k < mg->n - 1 && mg->exact != mg->precision && !PCSBPMGRoundsResidual_Private(mg, k));
}

/* Vectors for the measurement of the cycle's spectrum */
PetscBool PCSBPMGHasDirection_Private(const PC_SBPMG *mg, PetscInt k)
{
  return (PetscBool)(mg->opt.cycle == PCSBPMG_CYCLE_FULL && k < mg->n - 1 && PCSBPMGMeasuresCycle_Private(mg, k));
}

/* Once the grids of all levels are known */
PetscErrorCode PCSBPMGReserve_Private(PC_SBPMG *mg)
{
  const PetscBool written = (PetscBool)(PCSBPMGIsDirect_Private(mg, 0) && mg->opt.coarse == PCSBPMG_COARSE_GALERKIN);

  PetscFunctionBegin;
  mg->memory.reserved = ALIGNED(SBPMG_SUMS * sizeof(double));
  for (PetscInt k = 0; k < mg->n; k++) mg->memory.reserved += LevelBytes(mg, k);

  /* probing skips coefficients that couple a node with places outside the grid: these coefficients must be 0 */
  PetscCall((*mg->kernels->memory->alloc)(mg->memory.reserved, &mg->memory.block));
  if (!written) PetscCall((*mg->kernels->memory->clear)(mg->memory.reserved, mg->memory.block));
  mg->memory.sums  = (double *)mg->memory.block;
  mg->memory.taken = ALIGNED(SBPMG_SUMS * sizeof(double));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* memory is written before it is read; an unforeseen array has a separate allocation */
PetscErrorCode PCSBPMGAlloc_Private(PC_SBPMG *mg, size_t bytes, void **x)
{
  PetscFunctionBegin;
  if (mg->memory.block && ALIGNED(bytes) <= mg->memory.reserved - mg->memory.taken) {
    *x = (char *)mg->memory.block + mg->memory.taken;
    mg->memory.taken += ALIGNED(bytes);
  } else PetscCall(LitheMemoryCalloc(mg->kernels->memory, bytes, x));
  mg->memory.bytes += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An array of the common allocation stays until the levels are destroyed. *x may be NULL */
PetscErrorCode PCSBPMGFree_Private(PC_SBPMG *mg, void **x)
{
  const char *at = (const char *)*x, *begin = (const char *)mg->memory.block;

  PetscFunctionBegin;
  if (at && (!begin || at < begin || at >= begin + mg->memory.reserved)) PetscCall((*mg->kernels->memory->free)(x));
  *x = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGMemoryFree_Private(PC_SBPMG *mg)
{
  PetscFunctionBegin;
  if (mg->memory.block) PetscCall((*mg->kernels->memory->free)(&mg->memory.block));
  mg->memory.bytes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCSBPMGOwned_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGAlloc_Private(mg, OwnedBytes(grid, precision), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Large enough for ghosted arrays and for coefficients */
PetscErrorCode PCSBPMGGhosts_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall(PCSBPMGAlloc_Private(mg, GhostedBytes(grid, precision), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same for the time of a set-up */
PetscErrorCode PCSBPMGGhostsApart_Private(PC_SBPMG *mg, const SBPGrid *grid, SBPPrecision precision, void **x)
{
  PetscFunctionBegin;
  PetscCall(LitheMemoryCalloc(mg->kernels->memory, GhostedBytes(grid, precision), x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Temporary memory for Galerkin operators of all levels. Probing needs two owned arrays on each of two levels.
   Otherwise: coefficients of two levels in the highest precision, if the levels do not keep them. *work may be NULL
*/
PetscErrorCode PCSBPMGWorkCreate_Private(PC_SBPMG *mg, void **work)
{
  const SBPPrecision exact = mg->exact;
  const PetscInt     first = mg->gather.first + 1; /* the first level whose operator is computed directly, if any is */
  size_t             bytes = 0, kept = 0;

  PetscFunctionBegin;
  *work = NULL;
  for (PetscInt k = 1; k < mg->n; k++) {
    const SBPGrid *fine = k == 1 ? &mg->level[0].op[exact].grid : &mg->level[k - 1].grid;

    if (!PCSBPMGIsDirect_Private(mg, k - 1)) bytes = PetscMax(bytes, 2 * (ALIGNED(OwnedBytes(fine, exact)) + ALIGNED(OwnedBytes(&mg->level[k].grid, exact))));
    else if (!PCSBPMGKeepsExact_Private(mg, &mg->level[first]) && k < first + 2) kept += SBP_COEFFICIENTS * ALIGNED(GhostedBytes(&mg->level[k].grid, exact));
  }
  bytes = PetscMax(bytes, kept);
  if (!bytes) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall((*mg->kernels->memory->alloc)(bytes, work));
  if (!PCSBPMGIsDirect_Private(mg, 0)) PetscCall((*mg->kernels->memory->clear)(bytes, *work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The coefficients of a level in the temporary memory; the other part has the coefficients of the level above */
void PCSBPMGWorkCoefficients_Private(const PC_SBPMG *mg, void *work, PetscInt level, void *coefficient[SBP_COEFFICIENTS])
{
  const PetscInt top   = mg->gather.first + 1;
  const size_t   first = ALIGNED(GhostedBytes(&mg->level[top].grid, mg->exact)), each = ALIGNED(GhostedBytes(&mg->level[level].grid, mg->exact));

  for (int k = 0; k < SBP_COEFFICIENTS; k++) coefficient[k] = (char *)work + ((level - top) % 2 ? SBP_COEFFICIENTS * first : 0) + (size_t)k * each;
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
