/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   Shared by the transports of a device: the end of an exchange in a kernel or in a stream of the caller, and lists of
   entries on a device.
*/

#include "haloimpl.h"
#include <petscdevice_cuda.h>

/* ------------------------------------------------------------ an exchange in a kernel of the caller */

PetscErrorCode LitheHaloReceive(LitheHalo halo, LitheHaloEpoch *epoch, const void **ghost)
{
  PetscFunctionBegin;
  PetscCheck(halo->begun, halo->comm, PETSC_ERR_ORDER, "LitheHaloReceive() called without LitheHaloBegin()");
  halo->begun = PETSC_FALSE;
  PetscCall(PetscMemzero(epoch, sizeof(*epoch)));
  if (halo->ops->receive) PetscCall((*halo->ops->receive)(halo, epoch, ghost));
  if (!epoch->exchange) PetscCall((*halo->ops->end)(halo, ghost));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloGetStream(LitheHalo halo, cudaStream_t *stream)
{
  void *own = NULL;

  PetscFunctionBegin;
  PetscCheck(halo->begun, halo->comm, PETSC_ERR_ORDER, "LitheHaloGetStream() called without LitheHaloBegin()");
  if (halo->ops->stream) PetscCall((*halo->ops->stream)(halo, &own));
  *stream = (cudaStream_t)own;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloWait(LitheHalo halo, const void **ghost)
{
  PetscFunctionBegin;
  PetscCheck(halo->begun && halo->ops->wait, halo->comm, PETSC_ERR_ORDER, "LitheHaloWait() called without a stream from LitheHaloGetStream()");
  halo->begun = PETSC_FALSE; /* after an error no caller ends this exchange */
  PetscCall((*halo->ops->wait)(halo, ghost));
  halo->begun = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lists on a device */

/* A range needs no list: its first number is enough. Each entry of the list is `parts` entries of the device */
static size_t LitheHaloListBytes_Private(PetscInt n, PetscInt parts, const PetscInt list[])
{
  return list && !LitheHaloIsRange_Private(n, list) ? (size_t)n * (size_t)parts * sizeof(*list) : 0;
}

/* Copies a list to its place in memory of the host, and returns the same place on the device; NULL for a range */
static const PetscInt *LitheHaloPutList_Private(PetscInt n, PetscInt parts, const PetscInt list[], char *host, const char *device, size_t *used,
                                                PetscInt *first)
{
  const size_t bytes = LitheHaloListBytes_Private(n, parts, list);
  PetscInt    *all   = (PetscInt *)(host + *used);

  *first *= parts;
  if (list && n) *first = bytes ? 0 : list[0] * parts;
  if (!bytes) return NULL;
  for (PetscInt k = 0; k < n * parts; k++) all[k] = list[k / parts] * parts + k % parts;
  *used += bytes;
  return (const PetscInt *)(device + *used - bytes);
}

/*
   Entries per block. A pack without a concurrent kernel has at most the blocks of a whole device, if the work suffices.
   A block with fewer entries than its threads take at once is no faster. Concurrently with a product a pack has few
   blocks: on each multiprocessor, kernels with large blocks would wait for every pack block.
*/
static PetscInt LitheHaloPackEntries_Private(PetscBool aside, PetscInt64 entries)
{
  const PetscInt64 perblock = (entries / (aside ? LITHE_HALO_BLOCKS : 512) + LITHE_HALO_THREADS) / LITHE_HALO_THREADS * LITHE_HALO_THREADS;

  return (PetscInt)PetscMin(PetscMax(perblock, LITHE_HALO_AHEAD * LITHE_HALO_THREADS), 16 * LITHE_HALO_THREADS * (aside ? LITHE_HALO_AHEAD : 1));
}

PetscErrorCode LitheHaloPackCreate(size_t unit, PetscBool aside, PetscBool counts, PetscInt n, const LitheHaloTarget target[], LitheHaloPack *pack)
{
  const PetscInt parts = unit > 16 ? (PetscInt)(unit / 16) : 1; /* a kernel copies at most 16 bytes at once */
  const size_t   count = sizeof(*pack->sent);
  size_t         used = counts ? (size_t)(1 + n) * count : 0, bytes = used;
  PetscInt64     entries = 0;
  char          *host, *memory = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &pack->target));
  PetscCall(PetscArraycpy(pack->target, target, n));
  pack->unit     = unit / (size_t)parts;
  pack->ntargets = n;
  for (PetscInt k = 0; k < n; k++) {
    pack->target[k].count *= parts;
    entries += pack->target[k].count;
    bytes += LitheHaloListBytes_Private(target[k].count, parts, target[k].fromlist) + LitheHaloListBytes_Private(target[k].count, parts, target[k].tolist);
  }
  pack->blockentries = LitheHaloPackEntries_Private(aside, entries);
  PetscCall(PetscCalloc1(bytes, &host));
  if (bytes) PetscCallCUDA(cudaMalloc((void **)&memory, bytes));
  pack->memory = memory;
  pack->sent   = counts ? (unsigned long long *)memory : NULL;
  for (PetscInt k = 0; k < n; k++) {
    LitheHaloTarget *t = &pack->target[k];

    t->nblocks = (t->count + pack->blockentries - 1) / pack->blockentries;
    if (t->flag) t->nblocks = PetscMax(t->nblocks, 1);
    t->done     = counts ? (unsigned int *)(memory + (size_t)(1 + k) * count) : NULL;
    t->fromlist = LitheHaloPutList_Private(target[k].count, parts, target[k].fromlist, host, memory, &used, &t->from);
    t->tolist   = LitheHaloPutList_Private(target[k].count, parts, target[k].tolist, host, memory, &used, &t->to);
  }
  if (bytes) PetscCallCUDA(cudaMemcpy(memory, host, bytes, cudaMemcpyHostToDevice));
  PetscCall(PetscFree(host));
  /* Streams without an implicit wait for the default stream will use the memory */
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloPackDestroy(LitheHaloPack *pack)
{
  PetscFunctionBegin;
  PetscCallCUDA(cudaFree(pack->memory));
  PetscCall(PetscFree(pack->target));
  PetscCall(PetscMemzero(pack, sizeof(*pack)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
