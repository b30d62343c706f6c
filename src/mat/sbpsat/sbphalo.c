/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* SBPHalo: ghosts of arrays of any precision, by the communication that PETSc has for the local vectors of a DMDA */

#include <lithe/private/sbpsat.h>
#include <petscdmda.h>
#include <petscsf.h>

struct _n_SBPHalo {
  VecScatter  scatter; /* a PetscSF: owned nodes to ghosted ones */
  PetscMPIInt size;
  PetscInt    nodes; /* owned by this process */
};

PetscErrorCode SBPHaloCreate(MPI_Comm comm, DM da, SBPHalo *halo)
{
  PetscInt count[2];

  PetscFunctionBegin;
  PetscCall(PetscNew(halo));
  PetscCallMPI(MPI_Comm_size(comm, &(*halo)->size));
  PetscCall(DMDAGetScatter(da, &(*halo)->scatter, NULL));
  PetscCall(PetscObjectReference((PetscObject)(*halo)->scatter));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &count[0], &count[1], NULL));
  (*halo)->nodes = count[0] * count[1];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static MPI_Datatype SBPHaloUnit(SBPPrecision precision)
{
  return precision == SBP_SINGLE ? MPI_FLOAT : precision == SBP_DOUBLE ? MPI_DOUBLE
                                                                       : MPIU_SCALAR;
}

PetscErrorCode SBPHaloBegin(SBPHalo halo, SBPPrecision precision, PetscMemType memory, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
  if (halo->size == 1 && owned == ghosted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastWithMemTypeBegin(halo->scatter, SBPHaloUnit(precision), memory, owned, memory, ghosted, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloEnd(SBPHalo halo, SBPPrecision precision, PETSC_UNUSED PetscMemType memory, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
  if (halo->size == 1 && owned == ghosted) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscSFBcastEnd(halo->scatter, SBPHaloUnit(precision), owned, ghosted, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloDestroy(SBPHalo *halo)
{
  PetscFunctionBegin;
  if (!*halo) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(VecScatterDestroy(&(*halo)->scatter));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
