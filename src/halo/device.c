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

/*
   Copies a list to the device, with `parts` entries of the device for each entry. A range needs no list: its first
   number is enough
*/
static PetscErrorCode LitheHaloUploadList_Private(PetscInt n, PetscInt parts, const PetscInt list[], const PetscInt **dlist, PetscInt *first)
{
  const size_t bytes = (size_t)n * (size_t)parts * sizeof(*list);
  PetscInt    *all;
  void        *d;

  PetscFunctionBegin;
  *dlist = NULL;
  *first *= parts;
  if (!list || !n) PetscFunctionReturn(PETSC_SUCCESS);
  *first = list[0] * parts;
  if (LitheHaloIsRange_Private(n, list)) PetscFunctionReturn(PETSC_SUCCESS);
  *first = 0;
  PetscCall(PetscMalloc1(n * parts, &all));
  for (PetscInt k = 0; k < n * parts; k++) all[k] = list[k / parts] * parts + k % parts;
  PetscCallCUDA(cudaMalloc(&d, bytes));
  PetscCallCUDA(cudaMemcpy(d, all, bytes, cudaMemcpyHostToDevice));
  PetscCall(PetscFree(all));
  *dlist = (const PetscInt *)d;
  PetscFunctionReturn(PETSC_SUCCESS);
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
  const PetscInt parts   = unit > 16 ? (PetscInt)(unit / 16) : 1; /* a kernel copies at most 16 bytes at once */
  PetscInt64     entries = 0;
  unsigned int  *done    = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &pack->target));
  PetscCall(PetscArraycpy(pack->target, target, n));
  pack->unit     = unit / (size_t)parts;
  pack->ntargets = n;
  for (PetscInt k = 0; k < n; k++) {
    pack->target[k].count *= parts;
    entries += pack->target[k].count;
  }
  pack->blockentries = LitheHaloPackEntries_Private(aside, entries);
  pack->sent         = NULL;
  if (counts) {
    const size_t bytes = sizeof(*pack->sent) + (size_t)n * sizeof(*done);

    PetscCallCUDA(cudaMalloc((void **)&pack->sent, bytes));
    PetscCallCUDA(cudaMemset(pack->sent, 0, bytes));
    done = (unsigned int *)(pack->sent + 1);
  }
  for (PetscInt k = 0; k < n; k++) {
    LitheHaloTarget *t = &pack->target[k];

    t->nblocks = (t->count + pack->blockentries - 1) / pack->blockentries;
    if (t->flag) t->nblocks = PetscMax(t->nblocks, 1);
    t->done = PetscSafePointerPlusOffset(done, k);
    PetscCall(LitheHaloUploadList_Private(target[k].count, parts, target[k].fromlist, &t->fromlist, &t->from));
    PetscCall(LitheHaloUploadList_Private(target[k].count, parts, target[k].tolist, &t->tolist, &t->to));
  }
  /* Streams without an implicit wait for the default stream will use the memory */
  PetscCallCUDA(cudaStreamSynchronize(cudaStreamLegacy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloPackDestroy(LitheHaloPack *pack)
{
  PetscFunctionBegin;
  if (pack->sent) PetscCallCUDA(cudaFree(pack->sent));
  for (PetscInt k = 0; k < pack->ntargets; k++) {
    PetscCallCUDA(cudaFree((void *)pack->target[k].fromlist));
    PetscCallCUDA(cudaFree((void *)pack->target[k].tolist));
  }
  PetscCall(PetscFree(pack->target));
  PetscCall(PetscMemzero(pack, sizeof(*pack)));
  PetscFunctionReturn(PETSC_SUCCESS);
}
