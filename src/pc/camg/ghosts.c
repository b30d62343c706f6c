/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* Numbers of other processes during the set-up of a PCCAMG */

#include "camgimpl.h"

/* global [n]: numbers of the ghosts, in ascending order; own numbers of the processes follow one another */
PetscErrorCode PCCAMGGhostsCreate_Private(MPI_Comm comm, PetscInt own, PetscInt n, const PetscInt global[], CAMGGhosts *g)
{
  PetscLayout layout;

  PetscFunctionBegin;
  g->comm = comm;
  g->own  = own;
  g->n    = n;
  PetscCall(PetscLayoutCreateFromSizes(comm, own, PETSC_DECIDE, 1, &layout));
  PetscCall(PetscSFCreate(comm, &g->sf));
  PetscCall(PetscSFSetGraphLayout(g->sf, layout, n, NULL, PETSC_OWN_POINTER, global));
  PetscCall(PetscSFSetUp(g->sf));
  PetscCall(PetscLayoutDestroy(&layout));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGGhostsFree_Private(CAMGGhosts *g)
{
  PetscFunctionBegin;
  PetscCall(PetscSFDestroy(&g->sf));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* x has own and remote numbers, each of `unit` items of a type */
PetscErrorCode PCCAMGGhostsGet_Private(const CAMGGhosts *g, PetscInt unit, MPI_Datatype type, void *x)
{
  MPI_Datatype all;
  MPI_Aint     low, extent;
  PetscMPIInt  items;
  void        *ghosts;

  PetscFunctionBegin;
  if (!g) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscMPIIntCast(unit, &items));
  PetscCallMPI(MPI_Type_contiguous(items, type, &all));
  PetscCallMPI(MPI_Type_commit(&all));
  PetscCallMPI(MPI_Type_get_extent(all, &low, &extent));
  ghosts = (char *)x + (size_t)g->own * (size_t)extent;
  PetscCall(PetscSFBcastBegin(g->sf, all, x, ghosts, MPI_REPLACE));
  PetscCall(PetscSFBcastEnd(g->sf, all, x, ghosts, MPI_REPLACE));
  PetscCallMPI(MPI_Type_free(&all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCCAMGGhostsSum_Private(const CAMGGhosts *g, double *sum)
{
  PetscFunctionBegin;
  if (g) PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, sum, 1, MPI_DOUBLE, MPI_SUM, g->comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}
