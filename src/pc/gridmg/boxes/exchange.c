/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Exchanges between the boxes of several processes in the memory of the kernels: numbers for remote cells or for whole
   levels, and sums over processes. Both interpolations use these exchanges. On devices the host does not wait, if the
   transport permits.
*/

#include <lithe/private/gridmg/parts.h>
#include "boxes.h"

static inline PetscMemType MemoryOf(const PC_GridMG *mg)
{
  return mg->place.kernels == mg->place.host ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
}

/* The host has a single transport */
static inline LitheTransport TransportOf(const PC_GridMG *mg)
{
  return mg->place.kernels == mg->place.host ? LITHE_TRANSPORT_AUTO : mg->opt.transport;
}

/* The numbers for all leaves, of 4, 8 or 16 bytes each, from arrays x. The numbers are valid until the next exchange */
PetscErrorCode PCGridMGReceive_Private(PC_GridMG *mg, GridMGExchange *e, size_t bytes, const void *x, const void **numbers)
{
  LitheHalo *halo = &e->halo[bytes == 16 ? 2 : bytes / 8];

  PetscFunctionBegin;
  PetscCall(LitheHaloUpdate(e->sf, TransportOf(mg), MemoryOf(mg), bytes, halo, NULL));
  PetscCall(LitheHaloBegin(*halo, x));
  PetscCall(LitheHaloEnd(*halo, numbers));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   All remote cells of x receive one word, or one number, from their processes: from arrays `words`, one entry per cell
*/
PetscErrorCode PCGridMGRemote_Private(PC_GridMG *mg, GridMGExchange *e, GridMGWord word, const void *words, void *x)
{
  const size_t bytes = (size_t)e->n * sizeof(PetscInt);
  const void  *received;
  void        *index;

  PetscFunctionBegin;
  if (e->placed != mg->place.kernels) {
    PetscCall(PCGridMGReserve_Private(mg, &e->index, bytes, &index));
    PetscCall((*mg->place.kernels->memory.put)(bytes, e->at, index));
    e->placed = mg->place.kernels;
  }
  PetscCall(PCGridMGReceive_Private(mg, e, GridMGWordBytes(word), words, &received));
  PetscCall((*mg->place.kernels->vectors.place)(word, e->n, (const PetscInt *)e->index.memory, received, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes ownership of remote, the process and the place of each leaf, and of at: NULL, or the n cells that receive */
PetscErrorCode PCGridMGExchangeCreate_Private(PC_GridMG *mg, PetscInt cells, PetscInt n, PetscInt *at, PetscSFNode *remote, GridMGExchange *e)
{
  PetscFunctionBegin;
  e->n  = n;
  e->at = at;
  PetscCall(PetscSFCreate(mg->domain.team.comm, &e->sf));
  PetscCall(PetscSFSetGraph(e->sf, cells, n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(e->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGExchangeFree_Private(GridMGExchange *e)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(LitheHaloDestroy(&e->halo[k]));
  PetscCall(PetscSFDestroy(&e->sf));
  PetscCall(PetscFree(e->at));
  PetscCall(PCGridMGBlockFree_Private(&e->index));
  PetscCall(PetscMemzero(e, sizeof(*e)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over processes of factor times numbers, where levels are */
PetscErrorCode PCGridMGSum_Private(PC_GridMG *mg, int n, double factor, double sums[])
{
  void *there;

  PetscFunctionBegin;
  if (!mg->place.kernels->vectors.scalesum) {
    double mine[GRIDMG_SUMS];

    for (int k = 0; k < n; k++) mine[k] = factor * sums[k];
    PetscCallMPI(MPIU_Allreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, mg->domain.team.comm));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(PCGridMGReserve_Private(mg, &mg->domain.reduction.there, GRIDMG_SUMS * sizeof(PetscScalar), &there));
  if (!mg->domain.reduction.reduce)
    PetscCall(LitheReduceCreate(mg->domain.team.comm, LITHE_TRANSPORT_AUTO, MemoryOf(mg), GRIDMG_SUMS, &mg->domain.reduction.reduce));
  PetscCall((*mg->place.kernels->vectors.scalesum)(PETSC_FALSE, n, factor, sums, (PetscScalar *)there));
  PetscCall(LitheReduceSum(mg->domain.reduction.reduce, n, (PetscScalar *)there));
  PetscCall((*mg->place.kernels->vectors.scalesum)(PETSC_TRUE, n, 1., sums, (PetscScalar *)there));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGSumsFree_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(LitheReduceDestroy(&mg->domain.reduction.reduce));
  PetscCall(PCGridMGBlockFree_Private(&mg->domain.reduction.there));
  PetscFunctionReturn(PETSC_SUCCESS);
}
