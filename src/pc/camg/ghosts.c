/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Numbers of other processes, in the set-up and in the cycle of a PCCAMG */

#include "camgimpl.h"

PetscErrorCode PCCAMGColumnsCopy_Private(const CAMGColumns *from, CAMGColumns *to)
{
  PetscFunctionBegin;
  *to = *from;
  PetscCall(PetscMalloc1(from->n, &to->id));
  PetscCall(PetscArraycpy(to->id, from->id, from->n));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode CreateSF_Private(MPI_Comm comm, PetscInt own, PetscInt n, const PetscInt id[], PetscSF *sf)
{
  PetscLayout layout;

  PetscFunctionBegin;
  PetscCall(PetscLayoutCreateFromSizes(comm, own, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(comm, sf));
  PetscCall(PetscSFSetGraphLayout(*sf, layout, n, NULL, PETSC_OWN_POINTER, id));
  PetscCall(PetscSFSetUp(*sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Ownership of columns->id goes to g. Collective. One process: there is nothing to exchange */
PetscErrorCode PCCAMGGhostsCreate_Private(MPI_Comm comm, CAMGColumns *columns, CAMGGhosts *g)
{
  PetscMPIInt size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  *g          = (CAMGGhosts){.comm = comm, .columns = *columns};
  columns->id = NULL;
  if (size > 1) PetscCall(CreateSF_Private(comm, g->columns.own, g->columns.n, g->columns.id, &g->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* What is left belongs to one process */
PetscErrorCode PCCAMGGhostsFree_Private(CAMGGhosts *g)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&g->sf));
  PetscCall(PetscFree(g->columns.id));
  *g = (CAMGGhosts){.comm = PETSC_COMM_SELF};
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGGhostsCopy_Private(const CAMGGhosts *from, CAMGGhosts *to)
{
  PetscFunctionBegin;
  *to = *from;
  PetscCall(PetscObjectReference((PetscObject)to->sf));
  PetscCall(PCCAMGColumnsCopy_Private(&from->columns, &to->columns));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x has own numbers and ghosts, of `bytes` bytes */
PetscErrorCode PCCAMGGhostsGet_Private(const CAMGGhosts *g, const LitheMemoryOps *memory, size_t bytes, void *x)
{
  const PetscMemType where = memory == &LitheHostMemory ? PETSC_MEMTYPE_HOST : PETSC_MEMTYPE_CUDA;
  void              *ghosts;
  MPI_Datatype       type;

  PetscFunctionBegin;
  if (!g->sf) PetscFunctionReturn(PETSC_SUCCESS);
  ghosts = (char *)x + (size_t)g->columns.own * bytes;
  PetscCallMPI(MPI_Type_contiguous((int)bytes, MPI_BYTE, &type));
  PetscCallMPI(MPI_Type_commit(&type));
  PetscCall(PetscSFBcastWithMemTypeBegin(g->sf, type, where, x, where, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(g->sf, type, x, ghosts, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&type));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Sums over all processes */
PetscErrorCode PCCAMGGhostsSum_Private(const CAMGGhosts *g, int n, PetscInt64 a[])
{
  PetscFunctionBegin;
  if (g->sf) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, a, n, MPIU_INT64, MPI_SUM, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   The exchange of a cycle, for nodes of a block of numbers. That of an earlier set-up stays if it has the same star
   forest
*/
PetscErrorCode PCCAMGHaloCreate_Private(const PC_CAMG *mg, const CAMGGhosts *g, PetscInt block, CAMGHalo *h)
{
  const PetscInt own = g->columns.own * block, n = g->columns.n * block;
  PetscInt      *id;
  PetscSF        sf = g->sf;

  PetscFunctionBegin;
  if (block > 1) {
    PetscCall(PetscMalloc1(n, &id));
    for (PetscInt k = 0; k < n; k++) id[k] = g->columns.id[k / block] * block + k % block;
    PetscCall(CreateSF_Private(g->comm, own, n, id, &sf));
    PetscCall(PetscFree(id));
  }
  PetscCall(LitheHaloUpdate(sf, LITHE_TRANSPORT_AUTO, mg->device ? PETSC_MEMTYPE_CUDA : PETSC_MEMTYPE_HOST, PCCAMGNumberBytes_Private(mg), &h->halo, NULL));
  h->own  = own;
  h->n    = n;
  h->used = PETSC_TRUE;
  if (block > 1) PetscCall(PetscSFDestroy(&sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Numbers of other processes, for a product that reads x */
PetscErrorCode PCCAMGHaloGet_Private(const PC_CAMG *mg, const CAMGHalo *h, void *x)
{
  const size_t bytes = PCCAMGNumberBytes_Private(mg);
  const void  *ghost;

  PetscFunctionBegin;
  if (!h->halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloBegin(h->halo, x));
  PetscCall(LitheHaloEnd(h->halo, &ghost));
  PetscCall((*mg->kernels->memory->copy)((size_t)h->n * bytes, ghost, (char *)x + (size_t)h->own * bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGHaloFree_Private(CAMGHalo *h)
{
  PetscFunctionBegin;
  PetscCall(LitheHaloDestroy(&h->halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* An exchange before a set-up, which may make it its own */
PetscErrorCode PCCAMGHaloOffer_Private(const CAMGHalo *last, CAMGHalo *h)
{
  PetscFunctionBegin;
  *h = (CAMGHalo){.halo = last->halo};
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exchanges of all levels; stale: only those that the last set-up has not made its own */
PetscErrorCode PCCAMGHalosFree_Private(PC_CAMG *mg, PetscBool stale)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < CAMG_LEVELS_MAX; k++) {
    for (int h = 0; h < 2; h++) {
      if (!stale || !mg->level[k].halo[h].used) PetscCall(PCCAMGHaloFree_Private(&mg->level[k].halo[h]));
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
