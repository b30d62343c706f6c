/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   SBPParts: the nodes of each process, as of a DMDA. A DMDA makes lists of all own nodes on the host, which takes
   longer than all kernels of a set-up on devices.

   SBPHalo: ghosts of arrays of any precision. The own nodes are copied. The nodes of neighbours come by a PetscSF on
   the host, and by a LitheHalo on a device, after which a kernel scatters them. Lists have these nodes only: the
   time of a set-up does not depend on the number of own nodes
*/

#include <lithe/private/sbp/sbpsat.h>
#include <lithe/private/lithehalo.h>
#include <petscdmda.h>
#include <petscsf.h>
#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>
  #include <petscdevice_cuda.h>
#endif

/* ------------------------------------------------------------ the nodes of each process */

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

/* ------------------------------------------------------------ the nodes of neighbours */

struct _n_SBPHalo {
  PetscInt       nodes;        /* room of the array that is sent from */
  SBPBox         own, ghosted; /* of this process */
  MPI_Comm       comm;         /* referenced */
  LitheTransport transport;    /* of arrays on a device */
  PetscInt       n;            /* nodes of neighbours */
  PetscInt      *place;        /* [n] of each of them in the ghosted array */
  PetscSFNode   *remote;       /* [n] */
  PetscSF        scatter;      /* on the host: into the ghosted array; made on demand */
#if defined(LITHE_HAVE_CUDA)
  PetscSF       sf;      /* on a device: without gaps; made on demand */
  LitheHalo     halo[3]; /* [precision] */
  LitheHaloPack unpack[3];
#endif
};

/*
   Ghosts are the nodes of ghosted that are not own. Arrays of ghosted have rows pitch apart. The array that is sent
   from has room for `nodes` nodes. If nodes are sent from arrays of boxes, box and pitches have an entry per process.
   Otherwise box and pitches are NULL
*/
static PetscErrorCode SBPHaloCreate_Private(const SBPParts *parts, SBPBox own, SBPBox ghosted, PetscInt pitch, PetscInt64 nodes, const SBPBox box[],
                                            const PetscInt pitches[], LitheTransport transport, SBPHalo *newhalo)
{
  PetscMPIInt me;
  SBPHalo     halo;

  PetscFunctionBegin;
  PetscCall(PetscNew(&halo));
  PetscCall(PetscCommDuplicate(parts->comm, &halo->comm, NULL));
  PetscCallMPI(MPI_Comm_rank(halo->comm, &me));
  halo->own       = own;
  halo->ghosted   = ghosted;
  halo->transport = transport;
  PetscCall(PetscIntCast(nodes, &halo->nodes));
  PetscCall(PetscIntCast((PetscInt64)ghosted.count[0] * ghosted.count[1] - (PetscInt64)own.count[0] * own.count[1], &halo->n));
  PetscCall(PetscMalloc2(halo->n, &halo->place, halo->n, &halo->remote));
  halo->n = 0;
  for (PetscInt j = ghosted.start[1]; j < ghosted.start[1] + ghosted.count[1]; j++) {
    const PetscBool row = (PetscBool)(j >= own.start[1] && j < own.start[1] + own.count[1]); /* of own nodes */

    for (PetscInt i = ghosted.start[0]; i < ghosted.start[0] + ghosted.count[0]; i++) {
      PetscMPIInt rank;
      PetscInt    number;

      if (row && i == own.start[0]) i += own.count[0];
      if (i == ghosted.start[0] + ghosted.count[0]) break;
      SBPPartsLocate(parts, i, j, me, &rank, &number);
      if (box) number = (j - box[rank].start[1]) * pitches[rank] + i - box[rank].start[0];
      halo->place[halo->n]    = (j - ghosted.start[1]) * pitch + i - ghosted.start[0];
      halo->remote[halo->n++] = (PetscSFNode){.rank = rank, .index = number};
    }
  }
  *newhalo = halo;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloCreate(const SBPParts *parts, const SBPGrid *grid, LitheTransport transport, SBPHalo *halo)
{
  const PetscInt64 nodes = (PetscInt64)grid->own.count[0] * grid->own.count[1];

  PetscFunctionBegin;
  PetscCall(SBPHaloCreate_Private(parts, grid->own, grid->ghosted, grid->ghosted.count[0], nodes, NULL, NULL, transport, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloCreateWithin(const SBPParts *parts, const SBPBox box[], const PetscInt pitch[], LitheTransport transport, SBPHalo *halo)
{
  PetscMPIInt me;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(parts->comm, &me));
  PetscCall(SBPHaloCreate_Private(parts, SBPPartsBox(parts, me), box[me], pitch[me], (PetscInt64)pitch[me] * box[me].count[1], box, pitch, transport, halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective; places: of the nodes, or NULL: without gaps */
static PetscErrorCode SBPHaloCreateSF_Private(SBPHalo halo, const PetscInt *places, PetscSF *sf)
{
  PetscFunctionBegin;
  PetscCall(PetscSFCreate(halo->comm, sf));
  PetscCall(PetscSFSetGraph(*sf, halo->nodes, halo->n, (PetscInt *)places, PETSC_COPY_VALUES, halo->remote, PETSC_COPY_VALUES));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static MPI_Datatype SBPHaloUnit(SBPPrecision precision)
{
  if (precision == SBP_SINGLE) return MPI_FLOAT;
  if (precision == SBP_DOUBLE) return MPI_DOUBLE;
  return MPIU_SCALAR;
}

/*
   A box without strips at its ends, width[d][0] before and width[d][1] after, and these strips: below, above, left,
   right; the first two over the whole width. Returns the number of strips that have nodes. The whole box is a strip if
   nothing else is left
*/
int SBPBoxSplit(const SBPBox *box, const PetscInt width[2][2], SBPBox *inner, SBPBox strip[4])
{
  int n = 0;

  for (int d = 0; d < 2; d++) {
    inner->start[d] = box->start[d] + width[d][0];
    inner->count[d] = box->count[d] - width[d][0] - width[d][1];
  }
  if (inner->count[0] <= 0 || inner->count[1] <= 0) {
    inner->count[0] = inner->count[1] = 0;
    strip[0]                          = *box;
    return 1;
  }
  for (int side = 0; side < 4; side++) {
    const int d = side < 2 ? 1 : 0, after = side % 2;
    SBPBox    part = *box;

    if (d == 0) {
      part.start[1] = inner->start[1];
      part.count[1] = inner->count[1];
    }
    if (after) part.start[d] = inner->start[d] + inner->count[d];
    part.count[d] = width[d][after];
    if (part.count[0] > 0 && part.count[1] > 0) strip[n++] = part;
  }
  return n;
}

/* The own nodes to be copied: all, or those within rim of other processes. Returns the number of boxes */
static int SBPHaloParts(SBPHalo halo, PetscInt rim, SBPBox part[4])
{
  const SBPBox *own = &halo->own, *ghosted = &halo->ghosted;
  PetscInt      width[2][2];
  SBPBox        inner;

  part[0] = *own;
  if (rim < 0) return 1;
  for (int d = 0; d < 2; d++) {
    width[d][0] = ghosted->start[d] < own->start[d] ? rim : 0;
    width[d][1] = ghosted->start[d] + ghosted->count[d] > own->start[d] + own->count[d] ? rim : 0;
  }
  return SBPBoxSplit(own, width, &inner, part);
}

/* The place of a node in an owned and in a ghosted array */
static inline size_t SBPHaloOwned(SBPHalo halo, const SBPBox *box)
{
  return (size_t)(box->start[1] - halo->own.start[1]) * (size_t)halo->own.count[0] + (size_t)(box->start[0] - halo->own.start[0]);
}

static inline size_t SBPHaloGhosted(SBPHalo halo, const SBPBox *box)
{
  return (size_t)(box->start[1] - halo->ghosted.start[1]) * (size_t)halo->ghosted.count[0] + (size_t)(box->start[0] - halo->ghosted.start[0]);
}

/* ------------------------------------------------------------ on the host */

static PetscErrorCode SBPHaloBeginHost_Private(SBPHalo halo, SBPPrecision precision, PetscInt rim, const void *owned, void *ghosted)
{
  const size_t bytes = SBPNumberBytes(precision);
  SBPBox       part[4];
  const int    n = owned == ghosted ? 0 : SBPHaloParts(halo, rim, part);

  PetscFunctionBegin;
  if (!halo->scatter) PetscCall(SBPHaloCreateSF_Private(halo, halo->place, &halo->scatter));
  PetscCall(PetscSFBcastWithMemTypeBegin(halo->scatter, SBPHaloUnit(precision), PETSC_MEMTYPE_HOST, owned, PETSC_MEMTYPE_HOST, ghosted, MPI_REPLACE));
  for (int k = 0; k < n; k++) {
    const char *from = (const char *)owned + SBPHaloOwned(halo, &part[k]) * bytes;
    char       *to   = (char *)ghosted + SBPHaloGhosted(halo, &part[k]) * bytes;

    for (size_t j = 0; j < (size_t)part[k].count[1]; j++)
      PetscCall(PetscMemcpy(to + j * (size_t)halo->ghosted.count[0] * bytes, from + j * (size_t)halo->own.count[0] * bytes, (size_t)part[k].count[0] * bytes));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ on a device */

#if defined(LITHE_HAVE_CUDA)
/* The first time; collective */
static PetscErrorCode SBPHaloSetUpDevice_Private(SBPHalo halo, SBPPrecision precision)
{
  const size_t    bytes  = SBPNumberBytes(precision);
  LitheHaloTarget target = {.from = 0};

  PetscFunctionBegin;
  if (halo->halo[precision]) PetscFunctionReturn(PETSC_SUCCESS);
  if (!halo->sf) PetscCall(SBPHaloCreateSF_Private(halo, NULL, &halo->sf));
  PetscCall(LitheHaloCreate(halo->sf, halo->transport, PETSC_MEMTYPE_DEVICE, bytes, &halo->halo[precision]));
  target.count  = halo->n;
  target.tolist = halo->place;
  PetscCall(LitheHaloPackCreate(bytes, PETSC_FALSE, PETSC_FALSE, target.count ? 1 : 0, &target, &halo->unpack[precision]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Starts the exchange of ghosts, and copies own nodes */
static PetscErrorCode SBPHaloBeginDevice_Private(SBPHalo halo, SBPPrecision precision, PetscInt rim, const void *owned, void *ghosted)
{
  const size_t bytes = SBPNumberBytes(precision);
  SBPBox       part[4];
  const int    n = owned == ghosted ? 0 : SBPHaloParts(halo, rim, part);
  cudaStream_t stream;

  PetscFunctionBegin;
  PetscCall(SBPHaloSetUpDevice_Private(halo, precision));
  PetscCall(LitheHaloBegin(halo->halo[precision], owned));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (int k = 0; k < n; k++) {
    if (!halo->nodes) continue;
    PetscCallCUDA(cudaMemcpy2DAsync((char *)ghosted + SBPHaloGhosted(halo, &part[k]) * bytes, (size_t)halo->ghosted.count[0] * bytes,
                                    (const char *)owned + SBPHaloOwned(halo, &part[k]) * bytes, (size_t)halo->own.count[0] * bytes,
                                    (size_t)part[k].count[0] * bytes, (size_t)part[k].count[1], cudaMemcpyDeviceToDevice, stream));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode SBPHaloEndDevice_Private(SBPHalo halo, SBPPrecision precision, void *ghosted)
{
  LitheHaloPack *unpack = &halo->unpack[precision];
  const void    *ghost;
  cudaStream_t   stream;

  PetscFunctionBegin;
  PetscCall(LitheHaloEnd(halo->halo[precision], &ghost));
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  for (PetscInt k = 0; k < unpack->ntargets; k++) unpack->target[k].array[0] = ghosted;
  PetscCall(LitheCUDAHaloPack(unpack, ghost, 0, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* ------------------------------------------------------------ anywhere */

/* rim: only own nodes within this distance of other processes are copied; -1: all */
PetscErrorCode SBPHaloBegin(SBPHalo halo, SBPPrecision precision, PETSC_UNUSED PetscMemType memory, PetscInt rim, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
#if defined(LITHE_HAVE_CUDA)
  if (PetscMemTypeDevice(memory)) {
    PetscCall(SBPHaloBeginDevice_Private(halo, precision, rim, owned, ghosted));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
#endif
  PetscCall(SBPHaloBeginHost_Private(halo, precision, rim, owned, ghosted));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode SBPHaloEnd(SBPHalo halo, SBPPrecision precision, PETSC_UNUSED PetscMemType memory, const void *owned, void *ghosted)
{
  PetscFunctionBegin;
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
#endif
  PetscCall(PetscSFDestroy(&(*halo)->scatter));
  PetscCall(PetscFree2((*halo)->place, (*halo)->remote));
  PetscCall(PetscCommDestroy(&(*halo)->comm));
  PetscCall(PetscFree(*halo));
  PetscFunctionReturn(PETSC_SUCCESS);
}
