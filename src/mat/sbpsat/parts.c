/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   SBPParts: the nodes of each process, as of a DMDA. A DMDA makes lists of all own nodes on the host, which takes longer
   than all kernels of a set-up on devices. The functions of this file take a time that does not depend on the nodes
*/

#include <lithe/private/sbp/sbpsat.h>
#include <petscdmda.h>

/* The first nodes from the numbers of nodes */
static PetscErrorCode SBPPartsBegin_Private(const PetscInt *const count[2], SBPParts *parts)
{
  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    PetscCall(PetscMalloc1(parts->n[d] + 1, &parts->begin[d]));
    parts->begin[d][0] = 0;
    for (PetscInt p = 0; p < parts->n[d]; p++) parts->begin[d][p + 1] = parts->begin[d][p] + count[d][p];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Of a DMDA of two dimensions; on one process without parts */
PetscErrorCode SBPPartsCreate(DM da, SBPParts *parts)
{
  const PetscInt *range[2];

  PetscFunctionBegin;
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  PetscCall(DMDAGetInfo(da, NULL, NULL, NULL, NULL, &parts->n[0], &parts->n[1], NULL, NULL, NULL, NULL, NULL, NULL, NULL));
  if (parts->n[0] * parts->n[1] == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCommDuplicate(PetscObjectComm((PetscObject)da), &parts->comm, NULL));
  PetscCall(DMDAGetOwnershipRanges(da, &range[0], &range[1], NULL));
  PetscCall(SBPPartsBegin_Private(range, parts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPPartsCopy(const SBPParts *from, SBPParts *to)
{
  PetscFunctionBegin;
  PetscCall(PetscMemzero(to, sizeof(*to)));
  if (!SBPPartsExist(from)) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscCommDuplicate(from->comm, &to->comm, NULL));
  for (int d = 0; d < 2; d++) {
    to->n[d] = from->n[d];
    PetscCall(PetscMalloc1(to->n[d] + 1, &to->begin[d]));
    PetscCall(PetscArraycpy(to->begin[d], from->begin[d], to->n[d] + 1));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Every second node belongs to the process that has the node on the finer grid. Without parts if a process would have
   fewer than `least` along a direction that is divided */
PetscErrorCode SBPPartsCoarsen(const SBPParts *fine, PetscInt least, SBPParts *coarse)
{
  PetscFunctionBegin;
  PetscCall(SBPPartsCopy(fine, coarse));
  for (int d = 0; d < 2 && SBPPartsExist(coarse); d++) {
    PetscBool large = PETSC_TRUE;

    for (PetscInt p = 0; p <= coarse->n[d]; p++) {
      coarse->begin[d][p] = (coarse->begin[d][p] + 1) / 2;
      if (p && coarse->n[d] > 1 && coarse->begin[d][p] - coarse->begin[d][p - 1] < least) large = PETSC_FALSE;
    }
    if (!large) PetscCall(SBPPartsDestroy(coarse));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A DMDA numbers processes along the first direction */
SBPBox SBPPartsBox(const SBPParts *parts, PetscMPIInt rank)
{
  const PetscInt p[2] = {rank % parts->n[0], rank / parts->n[0]};
  SBPBox         box;

  for (int d = 0; d < 2; d++) {
    box.start[d] = parts->begin[d][p[d]];
    box.count[d] = parts->begin[d][p[d] + 1] - box.start[d];
  }
  return box;
}

/* The own nodes and those within width, of this process */
PetscErrorCode SBPPartsGetBoxes(const SBPParts *parts, PetscInt width, SBPBox *own, SBPBox *ghosted)
{
  PetscMPIInt rank;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(parts->comm, &rank));
  *own = SBPPartsBox(parts, rank);
  for (int d = 0; d < 2; d++) {
    const PetscInt end = PetscMin(own->start[d] + own->count[d] + width, parts->begin[d][parts->n[d]]);

    ghosted->start[d] = PetscMax(own->start[d] - width, 0);
    ghosted->count[d] = end - ghosted->start[d];
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The process along direction d that has the node; near: where the search begins */
static PetscInt SBPPartsFind(const SBPParts *parts, int d, PetscInt node, PetscInt near)
{
  while (node < parts->begin[d][near]) near--;
  while (node >= parts->begin[d][near + 1]) near++;
  return near;
}

/* The process that has node (i, j), and the number of the node among the process's nodes */
void SBPPartsLocate(const SBPParts *parts, PetscInt i, PetscInt j, PetscMPIInt near, PetscMPIInt *rank, PetscInt *number)
{
  const PetscInt p = SBPPartsFind(parts, 0, i, near % parts->n[0]), q = SBPPartsFind(parts, 1, j, near / parts->n[0]);

  *rank   = (PetscMPIInt)(p + q * parts->n[0]);
  *number = (j - parts->begin[1][q]) * (parts->begin[0][p + 1] - parts->begin[0][p]) + i - parts->begin[0][p];
}

/* The number of node (i, j) in a vector of the DMDA */
PetscInt SBPPartsNumber(const SBPParts *parts, PetscInt i, PetscInt j)
{
  PetscMPIInt rank;
  PetscInt    number;
  SBPBox      box;

  SBPPartsLocate(parts, i, j, 0, &rank, &number);
  box = SBPPartsBox(parts, rank);
  return parts->begin[0][parts->n[0]] * box.start[1] + box.start[0] * box.count[1] + number;
}

/* A DMDA with these processes and nodes; its lists need a time proportional to the nodes */
PetscErrorCode SBPPartsCreateDM(const SBPParts *parts, PetscInt width, DM *da)
{
  PetscInt *range[2];

  PetscFunctionBegin;
  for (int d = 0; d < 2; d++) {
    PetscCall(PetscMalloc1(parts->n[d], &range[d]));
    for (PetscInt p = 0; p < parts->n[d]; p++) range[d][p] = parts->begin[d][p + 1] - parts->begin[d][p];
  }
  PetscCall(DMDACreate2d(parts->comm, DM_BOUNDARY_NONE, DM_BOUNDARY_NONE, DMDA_STENCIL_BOX, parts->begin[0][parts->n[0]], parts->begin[1][parts->n[1]],
                         parts->n[0], parts->n[1], 1, width, range[0], range[1], da));
  PetscCall(DMSetUp(*da));
  for (int d = 0; d < 2; d++) PetscCall(PetscFree(range[d]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPPartsDestroy(SBPParts *parts)
{
  PetscFunctionBegin;
  if (!SBPPartsExist(parts)) PetscFunctionReturn(PETSC_SUCCESS);
  for (int d = 0; d < 2; d++) PetscCall(PetscFree(parts->begin[d]));
  PetscCall(PetscCommDestroy(&parts->comm));
  PetscCall(PetscMemzero(parts, sizeof(*parts)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
