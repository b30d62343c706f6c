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

#define GRIDMG_TOGETHER 256 /* own cells that are sent as one entry */

static inline PetscMemType MemoryOf(const PC_GridMG *mg)
{
  return mg->place.kernels == mg->place.host ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
}

/* The host has a single transport */
static inline LitheTransport TransportOf(const PC_GridMG *mg)
{
  return mg->place.kernels == mg->place.host ? LITHE_TRANSPORT_AUTO : mg->opt.transport;
}

/* The numbers for all leaves, 4, 8 or 16 bytes per cell, from arrays x. The numbers are valid until the next call */
static PetscErrorCode Receive_Private(PC_GridMG *mg, GridMGExchange *e, size_t bytes, const void *x, const void **numbers)
{
  LitheHalo *halo = &e->halo[bytes == 16 ? 2 : bytes / 8];

  PetscFunctionBegin;
  PetscCall(LitheHaloUpdate(e->sf, TransportOf(mg), MemoryOf(mg), bytes * (size_t)e->together, halo, NULL));
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
    PetscCall(PCGridMGReserve_Private(mg, &e->block, bytes, &index));
    PetscCall((*mg->place.kernels->memory.put)(bytes, e->at, index));
    e->placed = mg->place.kernels;
  }
  PetscCall(Receive_Private(mg, e, GridMGWordBytes(word), words, &received));
  PetscCall((*mg->place.kernels->vectors.place)(word, e->n, (const PetscInt *)e->block.memory, received, x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes ownership of remote, the process and the place of each leaf, and of at, the n cells that receive */
PetscErrorCode PCGridMGExchangeCreate_Private(PC_GridMG *mg, PetscInt cells, PetscInt n, PetscInt *at, PetscSFNode *remote, GridMGExchange *e)
{
  PetscFunctionBegin;
  e->n        = n;
  e->at       = at;
  e->together = 1;
  PetscCall(PetscSFCreate(mg->domain.team.comm, &e->sf));
  PetscCall(PetscSFSetGraph(e->sf, cells, n, NULL, PETSC_OWN_POINTER, remote, PETSC_OWN_POINTER));
  PetscCall(PetscSFSetUp(e->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static inline PetscInt BlocksOf(PetscInt cells)
{
  return (cells + GRIDMG_TOGETHER - 1) / GRIDMG_TOGETHER;
}

/* Leaves are blocks of cells: the set-up of a star forest takes time per leaf */
static PetscErrorCode CreateBlocks_Private(const PC_GridMG *mg, GridMGExchange *e, PetscInt *const start[3], const PetscInt parts[3])
{
  PetscInt *blocks, first[3], n[3];

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(mg->domain.team.size, &blocks));
  for (PetscMPIInt r = 0; r < mg->domain.team.size; r++) blocks[r] = BlocksOf(PCGridMGBoxIn(start, parts, r, first, n));
  PetscCall(LitheHaloCreateBlocks(mg->domain.team.comm, blocks, &e->sf));
  PetscCall(PetscFree(blocks));
  e->together = GRIDMG_TOGETHER;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Puts the own cells of all processes together as the whole grid on each process. A cell has 4, 8 or 16 bytes. start
   and parts tell how the grid is divided. x is an array of a grid of size[] cells. Its own cells begin at at[].
   Collective
*/
PetscErrorCode PCGridMGCollect_Private(PC_GridMG *mg, GridMGExchange *e, PetscInt *const start[3], const PetscInt parts[3], size_t bytes,
                                       const PetscInt size[3], const PetscInt at[3], const void *x, void *whole)
{
  static const PetscInt zero[3] = {0, 0, 0};
  const PetscInt        all[3] = {start[0][parts[0]], start[1][parts[1]], start[2][parts[2]]}, own = mg->domain.team.rank;
  PetscInt              first[3], n[3], blocks = BlocksOf(PCGridMGBoxIn(start, parts, own, first, n));
  const void           *received;
  void                 *block;
  GridMGBox             box;

  PetscFunctionBegin;
  if (!e->sf) PetscCall(CreateBlocks_Private(mg, e, start, parts));
  PetscCall(PCGridMGReserve_Private(mg, &e->block, (size_t)(blocks * GRIDMG_TOGETHER) * bytes, &block));
  box = PCGridMGBoxOf(n, size, at, n, zero);
  PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &box, x, block));
  box = PCGridMGBoxOf(n, n, zero, all, first);
  PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &box, block, whole));
  PetscCall(Receive_Private(mg, e, bytes, block, &received));
  for (PetscInt r = 0; r < mg->domain.team.size; r++) {
    if (r == own) continue;
    blocks = BlocksOf(PCGridMGBoxIn(start, parts, r, first, n));
    box    = PCGridMGBoxOf(n, n, zero, all, first);
    PetscCall((*mg->place.kernels->vectors.copybox)(bytes, &box, received, whole));
    received = (const char *)received + (size_t)(blocks * GRIDMG_TOGETHER) * bytes;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGExchangeFree_Private(GridMGExchange *e)
{
  PetscFunctionBegin;
  for (int k = 0; k < 3; k++) PetscCall(LitheHaloDestroy(&e->halo[k]));
  PetscCall(PetscSFDestroy(&e->sf));
  PetscCall(PetscFree(e->at));
  PetscCall(PCGridMGBlockFree_Private(&e->block));
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
