/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   SBPHalo: ghosts of arrays of any precision. On the host, PETSc's communication for local vectors of a DMDA brings the
   ghosts. On a device, a LitheHalo brings the entries of other processes, and a kernel scatters them.
*/

#include <lithe/private/sbp/sbpsat.h>
#include <lithe/private/lithehalo.h>
#include <petscdmda.h>
#include <petscsf.h>
#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>
  #include <petscdevice_cuda.h>
#endif

struct _n_SBPHalo {
  VecScatter     scatter; /* a PetscSF: from owned nodes to ghosted nodes */
  PetscMPIInt    size;
  PetscInt       nodes; /* own nodes */
  LitheTransport transport;
#if defined(LITHE_HAVE_CUDA)
  PetscInt      own[4], ghosted[4]; /* begin and number of nodes in each direction */
  PetscSF       sf;                 /* to the nodes of neighbours, without gaps; made on demand */
  PetscInt     *place;              /* of each neighbour's node in the ghosted array */
  LitheHalo     halo[3];            /* [precision] */
  LitheHaloPack unpack[3];
#endif
};

PetscErrorCode SBPHaloCreate(MPI_Comm comm, DM da, LitheTransport transport, SBPHalo *halo)
{
  PetscInt count[2];

  PetscFunctionBegin;
  PetscCall(PetscNew(halo));
  PetscCallMPI(MPI_Comm_size(comm, &(*halo)->size));
  PetscCall(DMDAGetScatter(da, &(*halo)->scatter, NULL));
  PetscCall(PetscObjectReference((PetscObject)(*halo)->scatter));
  PetscCall(DMDAGetCorners(da, NULL, NULL, NULL, &count[0], &count[1], NULL));
  (*halo)->nodes     = count[0] * count[1];
  (*halo)->transport = transport;
#if defined(LITHE_HAVE_CUDA)
  PetscCall(DMDAGetCorners(da, &(*halo)->own[0], &(*halo)->own[1], NULL, &(*halo)->own[2], &(*halo)->own[3], NULL));
  PetscCall(DMDAGetGhostCorners(da, &(*halo)->ghosted[0], &(*halo)->ghosted[1], NULL, &(*halo)->ghosted[2], &(*halo)->ghosted[3], NULL));
#endif
  PetscFunctionReturn(PETSC_SUCCESS);
}

static MPI_Datatype SBPHaloUnit(SBPPrecision precision)
{
  if (precision == SBP_SINGLE) return MPI_FLOAT;
  if (precision == SBP_DOUBLE) return MPI_DOUBLE;
  return MPIU_SCALAR;
}

/* ------------------------------------------------------------ on a device */

#if defined(LITHE_HAVE_CUDA)
/* The communication for nodes of neighbours; a box copy brings the own nodes */
static PetscErrorCode SBPHaloCreateForeign_Private(SBPHalo halo)
{
  MPI_Comm           comm = PetscObjectComm((PetscObject)halo->scatter);
  PetscMPIInt        rank;
  PetscInt           nroots, nleaves, n = 0;
  const PetscInt    *leaf;
  const PetscSFNode *remote;
  PetscSFNode       *foreign;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCall(PetscSFGetGraph(halo->scatter, &nroots, &nleaves, &leaf, &remote));
  PetscCall(PetscMalloc1(nleaves, &foreign));
  PetscCall(PetscMalloc1(nleaves, &halo->place));
  for (PetscInt k = 0; k < nleaves; k++) {
    if (remote[k].rank == rank) continue;
    halo->place[n] = leaf ? leaf[k] : k;
    foreign[n++]   = remote[k];
  }
  PetscCall(PetscSFCreate(comm, &halo->sf));
  PetscCall(PetscSFSetGraph(halo->sf, nroots, n, NULL, PETSC_COPY_VALUES, foreign, PETSC_COPY_VALUES));
  PetscCall(PetscFree(foreign));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The first time; collective */
static PetscErrorCode SBPHaloSetUpDevice_Private(SBPHalo halo, SBPPrecision precision)
{
  const size_t    bytes  = SBPNumberBytes(precision);
  LitheHaloTarget target = {.from = 0};

  PetscFunctionBegin;
  if (halo->size == 1 || halo->halo[precision]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!halo->sf) PetscCall(SBPHaloCreateForeign_Private(halo));
  PetscCall(LitheHaloCreate(halo->sf, halo->transport, PETSC_MEMTYPE_DEVICE, bytes, &halo->halo[precision]));
  PetscCall(PetscSFGetGraph(halo->sf, NULL, &target.count, NULL, NULL));
  target.tolist = halo->place;
  PetscCall(LitheHaloPackCreate(bytes, PETSC_FALSE, PETSC_FALSE, target.count ? 1 : 0, &target, &halo->unpack[precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the exchange of ghosts, and copies the own nodes */
static PetscErrorCode SBPHaloBeginDevice_Private(SBPHalo halo, SBPPrecision precision, const void *owned, void *ghosted)
{
  const size_t bytes = SBPNumberBytes(precision), width = (size_t)halo->own[2] * bytes, pitch = (size_t)halo->ghosted[2] * bytes;
  char        *to = (char *)ghosted + (size_t)(halo->own[1] - halo->ghosted[1]) * pitch + (size_t)(halo->own[0] - halo->ghosted[0]) * bytes;
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(SBPHaloSetUpDevice_Private(halo, precision));
  if (halo->size > 1) PetscCall(LitheHaloBegin(halo->halo[precision], owned));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (halo->nodes) PetscCallCUDA(cudaMemcpy2DAsync(to, pitch, owned, width, width, (size_t)halo->own[3], cudaMemcpyDeviceToDevice, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPHaloEndDevice_Private(SBPHalo halo, SBPPrecision precision, void *ghosted)
{
  LitheHaloPack *unpack = &halo->unpack[precision];
  const void    *ghost;
  cudaStream_t   stream;

  PetscFunctionBegin;
  if (halo->size == 1) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(LitheHaloEnd(halo->halo[precision], &ghost));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (PetscInt k = 0; k < unpack->ntargets; k++) unpack->target[k].array[0] = ghosted;
  PetscCall(LitheCUDAHaloPack(unpack, ghost, 0, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ anywhere */

PetscErrorCode SBPHaloBegin(SBPHalo halo, SBPPrecision precision, PetscMemType memory, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
  if (halo->size == 1 && owned == ghosted) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(memory)) {
    PetscCall(SBPHaloBeginDevice_Private(halo, precision, owned, ghosted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscSFBcastWithMemTypeBegin(halo->scatter, SBPHaloUnit(precision), memory, owned, memory, ghosted, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloEnd(SBPHalo halo, SBPPrecision precision, PETSC_UNUSED PetscMemType memory, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
  if (halo->size == 1 && owned == ghosted) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(memory)) {
    PetscCall(SBPHaloEndDevice_Private(halo, precision, ghosted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(PetscSFBcastEnd(halo->scatter, SBPHaloUnit(precision), owned, ghosted, MPI_REPLACE));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloDestroy(SBPHalo *halo)
{
  PetscFunctionBegin;
  if (!*halo) PetscFunctionReturn(PETSC_SUCCESS);
#if defined(LITHE_HAVE_CUDA)
  for (int p = 0; p < 3; p++) {
    if ((*halo)->halo[p]) PetscCall(LitheHaloPackDestroy(&(*halo)->unpack[p]));
    PetscCall(LitheHaloDestroy(&(*halo)->halo[p]));
  }
  PetscCall(PetscSFDestroy(&(*halo)->sf));
  PetscCall(PetscFree((*halo)->place));
#endif
  PetscCall(VecScatterDestroy(&(*halo)->scatter));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
