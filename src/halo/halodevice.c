/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* What the transports of a device share: which devices there are, what all processes agree on, and lists of entries on a device */

#include "haloimpl.h"
#include "halonccl.h"
#include <petscdevice_cuda.h>
#include <stdlib.h>

/* ------------------------------------------------------------ facts of a communicator */

static PetscMPIInt     LitheHaloFactsKey  = MPI_KEYVAL_INVALID;
static LitheHaloFacts *LitheHaloFactsList = NULL;

static int MPIAPI LitheHaloFactsDelete_Private(PETSC_UNUSED MPI_Comm comm, PETSC_UNUSED PetscMPIInt key, void *value, PETSC_UNUSED void *unused)
{
  LitheHaloFacts *facts = (LitheHaloFacts *)value, **link = &LitheHaloFactsList;

  PetscFunctionBegin;
  while (*link != facts) link = &(*link)->next;
  *link = facts->next;
  PetscCallReturnMPI(LitheHaloNCCLDestroy_Private(facts->nccl));
  if (facts->stream && cudaStreamDestroy(facts->stream) != cudaSuccess) PetscFunctionReturn(MPI_ERR_OTHER);
  PetscCallReturnMPI(PetscFree(facts));
  PetscFunctionReturn(MPI_SUCCESS);
}

/* PETSc frees its communicators when Lithe is no longer loaded */
static PetscErrorCode LitheHaloFactsFinalize_Private(void)
{
  PetscFunctionBegin;
  while (LitheHaloFactsList) PetscCallMPI(MPI_Comm_delete_attr(LitheHaloFactsList->comm, LitheHaloFactsKey));
  PetscCallMPI(MPI_Comm_free_keyval(&LitheHaloFactsKey));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static int LitheHaloCompareDevices(const void *a, const void *b)
{
  return memcmp(a, b, sizeof(cudaUUID_t));
}

/* Does no device serve two processes? Collective */
static PetscErrorCode LitheHaloOwnDevices_Private(MPI_Comm comm, PetscMPIInt size, PetscBool *own)
{
  struct cudaDeviceProp properties;
  cudaUUID_t           *all;
  int                   device;

  PetscFunctionBegin;
  PetscCallCUDA(cudaGetDevice(&device));
  PetscCallCUDA(cudaGetDeviceProperties(&properties, device));
  PetscCall(PetscMalloc1(size, &all));
  PetscCallMPI(MPI_Allgather(&properties.uuid, sizeof(cudaUUID_t), MPI_BYTE, all, sizeof(cudaUUID_t), MPI_BYTE, comm));
  qsort(all, (size_t)size, sizeof(*all), LitheHaloCompareDevices);
  *own = PETSC_TRUE;
  for (PetscMPIInt k = 1; k < size; k++) {
    if (!LitheHaloCompareDevices(&all[k - 1], &all[k])) *own = PETSC_FALSE;
  }
  PetscCall(PetscFree(all));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Collective; the communicator is one of PETSc's own */
PetscErrorCode LitheHaloGetFacts_Private(MPI_Comm comm, LitheHaloFacts **facts)
{
  PetscMPIInt found, size, nodesize;
  MPI_Comm    node;

  PetscFunctionBegin;
  if (LitheHaloFactsKey == MPI_KEYVAL_INVALID) {
    PetscCallMPI(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, LitheHaloFactsDelete_Private, &LitheHaloFactsKey, NULL));
    PetscCall(PetscRegisterFinalize(LitheHaloFactsFinalize_Private));
  }
  PetscCallMPI(MPI_Comm_get_attr(comm, LitheHaloFactsKey, facts, &found));
  if (found) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(facts));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCallMPI(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
  PetscCallMPI(MPI_Comm_size(node, &nodesize));
  PetscCallMPI(MPI_Comm_free(&node));
  /* communicators of nodes are all as large as comm, or none is */
  (*facts)->onenode = (PetscBool)(nodesize == size);
  PetscCall(LitheHaloOwnDevices_Private(comm, size, &(*facts)->owndevices));
  (*facts)->comm     = comm;
  (*facts)->next     = LitheHaloFactsList;
  LitheHaloFactsList = *facts;
  PetscCallMPI(MPI_Comm_set_attr(comm, LitheHaloFactsKey, *facts));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloPrecheckIPC_Private(MPI_Comm comm, PetscMemType memory, LitheTransport asked, LitheHaloObstacle *obstacle)
{
  LitheHaloFacts *facts;

  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  if (!PetscMemTypeDevice(memory)) {
    *obstacle = LITHE_HALO_ON_HOST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheHaloGetFacts_Private(comm, &facts));
  if (!facts->onenode) *obstacle = LITHE_HALO_OTHER_NODES;
  else if (!facts->owndevices && asked == LITHE_TRANSPORT_AUTO) *obstacle = LITHE_HALO_SHARED_DEVICE; /* it works, but processes wait while others have the device */
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The largest obstacle, and one of the codes that came with it. Collective */
PetscErrorCode LitheHaloAgree_Private(MPI_Comm comm, LitheHaloObstacle *obstacle, int *code)
{
  int both = ((int)*obstacle << 20) + *code;

  PetscFunctionBegin;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &both, 1, MPI_INT, MPI_MAX, comm));
  *obstacle = (LitheHaloObstacle)(both >> 20);
  *code     = both & 0xfffff;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A stream that does not wait for PETSc's, nor PETSc's for it, whose kernels go before others */
PetscErrorCode LitheHaloStreamCreate_Private(cudaStream_t *stream)
{
  int least, greatest;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceGetStreamPriorityRange(&least, &greatest));
  PetscCallCUDA(cudaStreamCreateWithPriority(stream, cudaStreamNonBlocking, greatest));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheHaloTake(LitheHalo halo, LitheHaloTurn *turn, const void **ghost)
{
  PetscFunctionBegin;
  PetscCheck(halo->begun, halo->comm, PETSC_ERR_ORDER, "LitheHaloTake() called without LitheHaloBegin()");
  halo->begun = PETSC_FALSE;
  PetscCall(PetscMemzero(turn, sizeof(*turn)));
  if (halo->ops->take) PetscCall((*halo->ops->take)(halo, turn, ghost));
  if (!turn->exchange) PetscCall((*halo->ops->end)(halo, ghost));
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

PetscErrorCode LitheHaloAwait(LitheHalo halo, const void **ghost)
{
  PetscFunctionBegin;
  PetscCheck(halo->begun && halo->ops->await, halo->comm, PETSC_ERR_ORDER, "LitheHaloAwait() called without a stream from LitheHaloGetStream()");
  halo->begun = PETSC_FALSE; /* if there is an error nobody ends this exchange */
  PetscCall((*halo->ops->await)(halo, ghost));
  halo->begun = PETSC_TRUE;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ lists on a device */

/* Copies a list; a range needs none, and is told by its first number */
static PetscErrorCode LitheHaloUploadList_Private(PetscInt n, const PetscInt list[], const PetscInt **dlist, PetscInt *first)
{
  void *d;

  PetscFunctionBegin;
  *dlist = NULL;
  if (!list || !n) PetscFunctionReturn(PETSC_SUCCESS);
  *first = list[0];
  if (LitheHaloIsRange_Private(n, list)) PetscFunctionReturn(PETSC_SUCCESS);
  *first = 0;
  PetscCallCUDA(cudaMalloc(&d, (size_t)n * sizeof(*list)));
  PetscCallCUDA(cudaMemcpy(d, list, (size_t)n * sizeof(*list), cudaMemcpyHostToDevice));
  *dlist = (const PetscInt *)d;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Entries of a block. By itself a pack has blocks for a whole device if there is enough to do, and not many more; with fewer entries than its threads take at
   once a block is no faster. Beside a product it has few blocks: kernels whose blocks fill a multiprocessor would wait for each of those that has one of them.
*/
static PetscInt LitheHaloPackEntries_Private(PetscBool aside, PetscInt64 entries)
{
  const PetscInt64 perblock = (entries / (aside ? LITHE_HALO_BLOCKS : 512) + LITHE_HALO_THREADS) / LITHE_HALO_THREADS * LITHE_HALO_THREADS;

  return (PetscInt)PetscMin(PetscMax(perblock, LITHE_HALO_AHEAD * LITHE_HALO_THREADS), 16 * LITHE_HALO_THREADS * (aside ? LITHE_HALO_AHEAD : 1));
}

PetscErrorCode LitheHaloPackCreate(size_t unit, PetscBool aside, PetscBool counts, PetscInt n, const LitheHaloTarget target[], LitheHaloPack *pack)
{
  PetscInt64    entries = 0;
  unsigned int *done    = NULL;

  PetscFunctionBegin;
  PetscCall(PetscMalloc1(n, &pack->target));
  PetscCall(PetscArraycpy(pack->target, target, n));
  pack->unit     = unit;
  pack->ntargets = n;
  for (PetscInt k = 0; k < n; k++) entries += target[k].count;
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
    PetscCall(LitheHaloUploadList_Private(t->count, target[k].fromlist, &t->fromlist, &t->from));
    PetscCall(LitheHaloUploadList_Private(t->count, target[k].tolist, &t->tolist, &t->to));
  }
  /* Streams that do not wait for the default one will use all of that */
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
