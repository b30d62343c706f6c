/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   The transport nccl: entries are packed, and NCCL sends packed entries to the neighbours in a separate stream. The
   library is loaded at run time, and the few functions called are declared here: building Lithe needs no NCCL.

   Contiguous entries of x or ghost[] are sent and received without packing.
*/

#include "haloimpl.h"
#include <dlfcn.h>
#include <petscdevice_cuda.h>
#include <stdlib.h>

/* ------------------------------------------------------------ the library */

/* NCCL's interface, the same in all versions from 2.7 on: results are 0 or an error, type 0 is a byte */
typedef struct {
  char internal[128];
} LitheNCCLId;

static struct {
  int (*getuniqueid)(LitheNCCLId *);
  int (*comminitrank)(void **, int, LitheNCCLId, int);
  int (*commdestroy)(void *);
  const char *(*geterrorstring)(int);
  int (*groupstart)(void);
  int (*groupend)(void);
  int (*send)(const void *, size_t, int, int, void *, cudaStream_t);
  int (*recv)(void *, size_t, int, int, void *, cudaStream_t);
  int (*allgather)(const void *, void *, size_t, int, void *, cudaStream_t);
  PetscBool looked, there;
} nccl;

#define LITHE_NCCL_BYTE 0

#define PetscCallNCCL(...)                                                                                                                    \
  do {                                                                                                                                        \
    const int lithe_nccl_code = __VA_ARGS__;                                                                                                  \
    PetscCheck(!lithe_nccl_code, PETSC_COMM_SELF, PETSC_ERR_LIB, "NCCL error %d: %s", lithe_nccl_code, nccl.geterrorstring(lithe_nccl_code)); \
  } while (0)

const char *LitheHaloMessage_NCCL(int code)
{
  return nccl.geterrorstring(code);
}

/* Loads the library at the first call, and never unloads it */
static PetscErrorCode LitheNCCLLoad_Private(void)
{
  static const char *const name[] = {"libnccl.so.2", "libnccl.so"};
  const struct {
    void      **function;
    const char *symbol;
  } list[] = {
    {(void **)&nccl.getuniqueid, "ncclGetUniqueId"},
    {(void **)&nccl.comminitrank, "ncclCommInitRank"},
    {(void **)&nccl.commdestroy, "ncclCommDestroy"},
    {(void **)&nccl.geterrorstring, "ncclGetErrorString"},
    {(void **)&nccl.groupstart, "ncclGroupStart"},
    {(void **)&nccl.groupend, "ncclGroupEnd"},
    {(void **)&nccl.send, "ncclSend"},
    {(void **)&nccl.recv, "ncclRecv"},
    {(void **)&nccl.allgather, "ncclAllGather"},
  };
  void *library = NULL;

  PetscFunctionBegin;
  if (nccl.looked) PetscFunctionReturn(PETSC_SUCCESS);
  nccl.looked = PETSC_TRUE;
  /* Sends and receives need no NVLink multicast, and NCCL fails on machines without permission for multicast */
  (void)setenv("NCCL_NVLS_ENABLE", "0", 0);
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(name) && !library; k++) library = dlopen(name[k], RTLD_NOW | RTLD_LOCAL);
  if (!library) PetscFunctionReturn(PETSC_SUCCESS);
  nccl.there = PETSC_TRUE;
  for (size_t k = 0; k < PETSC_STATIC_ARRAY_LENGTH(list); k++) {
    *list[k].function = dlsym(library, list[k].symbol);
    if (!*list[k].function) nccl.there = PETSC_FALSE;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloNCCLDestroy_Private(void *comm)
{
  PetscFunctionBegin;
  if (comm) PetscCallNCCL(nccl.commdestroy(comm));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* NCCL's communicator of the same processes, one for all halos. code: an NCCL error, the same on all processes */
static PetscErrorCode LitheHaloNCCLConnect_Private(MPI_Comm comm, LitheHaloFacts *facts, LitheHaloObstacle *obstacle, int *code)
{
  LitheNCCLId id;
  PetscMPIInt rank, size;

  PetscFunctionBegin;
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  PetscCallMPI(MPI_Comm_size(comm, &size));
  PetscCall(PetscMemzero(&id, sizeof(id)));
  facts->nccldestroy = LitheHaloNCCLDestroy_Private;
  if (!rank) *code = nccl.getuniqueid(&id);
  PetscCallMPI(MPI_Bcast(code, 1, MPI_INT, 0, comm));
  if (!*code) {
    PetscCallMPI(MPI_Bcast(&id, (PetscMPIInt)sizeof(id), MPI_BYTE, 0, comm));
    *code = nccl.comminitrank(&facts->nccl, size, id, rank);
    if (*code) facts->nccl = NULL;
  }
  if (*code) *obstacle = LITHE_HALO_REFUSED;
  (void)cudaGetLastError();
  PetscCall(LitheHaloAgree_Private(comm, obstacle, code));
  if (*obstacle == LITHE_HALO_POSSIBLE) PetscCall(LitheHaloStreamCreate_Private(&facts->stream));
  else {
    PetscCall(LitheHaloNCCLDestroy_Private(facts->nccl));
    facts->nccl = NULL;
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ set-up */

/* Entries to or from a neighbour: in the caller's x or in ghost[] if contiguous, else in a buffer */
typedef struct {
  PetscMPIInt rank;
  PetscBool   direct;
  size_t      offset, bytes;
} LitheHaloMessage;

typedef struct {
  LitheHaloFacts   *facts;
  PetscInt          nsend, nrecv;
  LitheHaloMessage *send, *recv;
  char             *ghost, *sendbuffer, *recvbuffer;
  LitheHaloPack     pack;   /* to the buffer, and from this process to itself */
  LitheHaloPack     unpack; /* from the buffer */
  cudaEvent_t       ready, arrived;
} LitheHalo_NCCL;

/*
   Messages of one direction. A message that needs the buffer gets a place in it. Returns the number of buffered entries
*/
static PetscErrorCode LitheHaloMessages_Private(size_t unit, PetscInt n, const LitheHaloList list[], PetscInt *nmessages, LitheHaloMessage **messages,
                                                PetscInt *buffered)
{
  PetscInt used = 0;

  PetscFunctionBegin;
  *buffered = 0;
  PetscCall(PetscMalloc1(n, messages));
  for (PetscInt k = 0; k < n; k++) {
    LitheHaloMessage *m = *messages + used;

    if (!list[k].count) continue;
    m->rank   = list[k].rank;
    m->bytes  = (size_t)list[k].count * unit;
    m->direct = LitheHaloIsRange_Private(list[k].count, list[k].index);
    m->offset = unit * (size_t)(m->direct ? list[k].index[0] : *buffered);
    if (!m->direct) *buffered += list[k].count;
    used++;
  }
  *nmessages = used;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloBuffer_Private(size_t bytes, char **buffer)
{
  PetscFunctionBegin;
  bytes = PetscMax(bytes, 16);
  PetscCallCUDA(cudaMalloc((void **)buffer, bytes));
  PetscCallCUDA(cudaMemset(*buffer, 0, bytes));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The kernels before and after */
static PetscErrorCode LitheHaloPlan_Private(LitheHalo halo, LitheHalo_NCCL *data, const LitheHaloPeers *peers)
{
  LitheHaloTarget *pack, *unpack;
  PetscInt         npack = 0, nunpack = 0, entries[2] = {0, 0};

  PetscFunctionBegin;
  PetscCall(PetscCalloc2(peers->n + 1, &pack, peers->n, &unpack));
  for (PetscInt k = 0; k < peers->n; k++) {
    const LitheHaloList *send = &peers->send[k], *recv = &peers->recv[k];

    if (!LitheHaloIsRange_Private(send->count, send->index)) {
      pack[npack++] = (LitheHaloTarget){.array = {data->sendbuffer, data->sendbuffer}, .fromlist = send->index, .to = entries[0], .count = send->count};
      entries[0] += send->count;
    }
    if (!LitheHaloIsRange_Private(recv->count, recv->index)) {
      unpack[nunpack++] = (LitheHaloTarget){.array = {data->ghost, data->ghost}, .from = entries[1], .tolist = recv->index, .count = recv->count};
      entries[1] += recv->count;
    }
  }
  if (peers->nself)
    pack[npack++] = (LitheHaloTarget){.array = {data->ghost, data->ghost}, .fromlist = peers->selffrom, .tolist = peers->selfto, .count = peers->nself};
  PetscCall(LitheHaloPackCreate(halo->unit, PETSC_FALSE, PETSC_FALSE, npack, pack, &data->pack));
  PetscCall(LitheHaloPackCreate(halo->unit, PETSC_FALSE, PETSC_FALSE, nunpack, unpack, &data->unpack));
  PetscCall(PetscFree2(pack, unpack));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Connects if possible. The result is the same on all processes */
static PetscErrorCode LitheNCCLGetFacts_Private(MPI_Comm comm, PetscMemType memory, LitheHaloFacts **facts, LitheHaloObstacle *obstacle, int *code)
{
  PetscFunctionBegin;
  *obstacle = LITHE_HALO_POSSIBLE;
  *code     = 0;
  if (!PetscMemTypeDevice(memory)) {
    *obstacle = LITHE_HALO_ON_HOST;
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  PetscCall(LitheHaloGetFacts_Private(comm, facts));
  PetscCall(LitheNCCLLoad_Private());
  if (!nccl.there) *obstacle = LITHE_HALO_NO_LIBRARY;
  else if (!(*facts)->owndevices) *obstacle = LITHE_HALO_SHARED_DEVICE;
  PetscCall(LitheHaloAgree_Private(comm, obstacle, code));
  if (*obstacle == LITHE_HALO_POSSIBLE && !(*facts)->nccl) PetscCall(LitheHaloNCCLConnect_Private(comm, *facts, obstacle, code));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloCreate_NCCL(LitheHalo halo, LitheHaloObstacle *obstacle, int *code)
{
  const LitheHaloPeers *peers = &halo->peers;
  LitheHaloFacts       *facts = NULL;
  LitheHalo_NCCL       *data;
  PetscInt              entries[2];

  PetscFunctionBegin;
  PetscCall(LitheNCCLGetFacts_Private(halo->comm, halo->memory, &facts, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&data));
  halo->data  = data;
  data->facts = facts;
  PetscCall(LitheHaloMessages_Private(halo->unit, peers->n, peers->send, &data->nsend, &data->send, &entries[0]));
  PetscCall(LitheHaloMessages_Private(halo->unit, peers->n, peers->recv, &data->nrecv, &data->recv, &entries[1]));
  PetscCall(LitheHaloBuffer_Private(LitheHaloGhostBytes(halo), &data->ghost));
  PetscCall(LitheHaloBuffer_Private((size_t)entries[0] * halo->unit, &data->sendbuffer));
  PetscCall(LitheHaloBuffer_Private((size_t)entries[1] * halo->unit, &data->recvbuffer));
  PetscCall(LitheHaloPlan_Private(halo, data, peers));
  PetscCallCUDA(cudaEventCreateWithFlags(&data->ready, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&data->arrived, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ an exchange */

static PetscErrorCode LitheHaloBegin_NCCL(LitheHalo halo, const void *x)
{
  LitheHalo_NCCL *data   = (LitheHalo_NCCL *)halo->data;
  void           *comm   = data->facts->nccl;
  cudaStream_t    inside = data->facts->stream, stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCall(LitheCUDAHaloPack(&data->pack, x, 0, stream));
  if (!data->nsend && !data->nrecv) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCallCUDA(cudaEventRecord(data->ready, stream));
  PetscCallCUDA(cudaStreamWaitEvent(inside, data->ready, 0));
  PetscCallNCCL(nccl.groupstart());
  for (PetscInt k = 0; k < data->nsend; k++) {
    const LitheHaloMessage *m = &data->send[k];

    PetscCallNCCL(nccl.send((m->direct ? (const char *)x : data->sendbuffer) + m->offset, m->bytes, LITHE_NCCL_BYTE, m->rank, comm, inside));
  }
  for (PetscInt k = 0; k < data->nrecv; k++) {
    const LitheHaloMessage *m = &data->recv[k];

    PetscCallNCCL(nccl.recv((m->direct ? data->ghost : data->recvbuffer) + m->offset, m->bytes, LITHE_NCCL_BYTE, m->rank, comm, inside));
  }
  PetscCallNCCL(nccl.groupend());
  PetscCallCUDA(cudaEventRecord(data->arrived, inside));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloEnd_NCCL(LitheHalo halo, const void **ghost)
{
  LitheHalo_NCCL *data = (LitheHalo_NCCL *)halo->data;
  cudaStream_t    stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  if (data->nsend || data->nrecv) PetscCallCUDA(cudaStreamWaitEvent(stream, data->arrived, 0));
  PetscCall(LitheCUDAHaloPack(&data->unpack, data->recvbuffer, 0, stream));
  *ghost = data->ghost;
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheHaloDestroy_NCCL(LitheHalo halo)
{
  LitheHalo_NCCL *data = (LitheHalo_NCCL *)halo->data;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCall(LitheHaloPackDestroy(&data->pack));
  PetscCall(LitheHaloPackDestroy(&data->unpack));
  PetscCallCUDA(cudaFree(data->ghost));
  PetscCallCUDA(cudaFree(data->sendbuffer));
  PetscCallCUDA(cudaFree(data->recvbuffer));
  PetscCallCUDA(cudaEventDestroy(data->ready));
  PetscCallCUDA(cudaEventDestroy(data->arrived));
  PetscCall(PetscFree(data->send));
  PetscCall(PetscFree(data->recv));
  PetscCall(PetscFree(halo->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const LitheHaloOps LitheHaloNCCL = {.create = LitheHaloCreate_NCCL, .begin = LitheHaloBegin_NCCL, .end = LitheHaloEnd_NCCL, .destroy = LitheHaloDestroy_NCCL};

/* ------------------------------------------------------------ sums over processes */

/*
   All numbers go to all processes, and each process adds in the same order. The order of NCCL's own sums depends on
   version and machine
*/
typedef struct {
  LitheHaloFacts *facts;
  PetscReal      *all;
  cudaEvent_t     ready, arrived;
} LitheReduce_NCCL;

static PetscErrorCode LitheReduceCreate_NCCL(LitheReduce reduce, LitheHaloObstacle *obstacle, int *code)
{
  LitheHaloFacts   *facts = NULL;
  LitheReduce_NCCL *data;

  PetscFunctionBegin;
  PetscCall(LitheNCCLGetFacts_Private(reduce->comm, reduce->memory, &facts, obstacle, code));
  if (*obstacle != LITHE_HALO_POSSIBLE) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PetscNew(&data));
  reduce->data = data;
  data->facts  = facts;
  PetscCallCUDA(cudaMalloc((void **)&data->all, (size_t)reduce->size * (size_t)reduce->most * sizeof(PetscScalar)));
  PetscCallCUDA(cudaEventCreateWithFlags(&data->ready, cudaEventDisableTiming));
  PetscCallCUDA(cudaEventCreateWithFlags(&data->arrived, cudaEventDisableTiming));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceSum_NCCL(LitheReduce reduce, PetscInt n, PetscScalar a[])
{
  LitheReduce_NCCL *data   = (LitheReduce_NCCL *)reduce->data;
  cudaStream_t      inside = data->facts->stream, stream;

  PetscFunctionBegin;
  PetscCall(PetscGetCurrentCUDAStream(&stream));
  PetscCallCUDA(cudaEventRecord(data->ready, stream));
  PetscCallCUDA(cudaStreamWaitEvent(inside, data->ready, 0));
  PetscCallNCCL(nccl.allgather(a, data->all, (size_t)n * sizeof(*a), LITHE_NCCL_BYTE, data->facts->nccl, inside));
  PetscCallCUDA(cudaEventRecord(data->arrived, inside));
  PetscCallCUDA(cudaStreamWaitEvent(stream, data->arrived, 0));
  PetscCall(LitheCUDAReduceGathered(reduce->size, n * (PetscInt)(sizeof(PetscScalar) / sizeof(PetscReal)), data->all, (PetscReal *)a, stream));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode LitheReduceDestroy_NCCL(LitheReduce reduce)
{
  LitheReduce_NCCL *data = (LitheReduce_NCCL *)reduce->data;

  PetscFunctionBegin;
  PetscCallCUDA(cudaDeviceSynchronize());
  PetscCallCUDA(cudaFree(data->all));
  PetscCallCUDA(cudaEventDestroy(data->ready));
  PetscCallCUDA(cudaEventDestroy(data->arrived));
  PetscCall(PetscFree(reduce->data));
  PetscFunctionReturn(PETSC_SUCCESS);
}

const LitheReduceOps LitheReduceNCCL = {LitheReduceCreate_NCCL, LitheReduceSum_NCCL, NULL, NULL, LitheReduceDestroy_NCCL};
