/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

#include <lithe/private/lithehalo.h>
#include <petsc/private/petscimpl.h>

/* Entries to or from a neighbour, or between two places of this process */
typedef struct {
  PetscMPIInt     rank;
  PetscInt        count;
  const PetscInt *index; /* [count] places in x, or in ghost[] */
} LitheHaloList;         /* owner: peers.c */

/*
   The exchange relation: the neighbours, sorted by rank and without this process, the same on both sides. Sends to a
   neighbour or receives from it may be empty, but not both. Made on demand.
*/
typedef struct {
  PetscInt       n;
  PetscMPIInt   *rank;     /* [n] */
  LitheHaloList *send;     /* [n] */
  LitheHaloList *recv;     /* [n] */
  PetscInt     **target;   /* [n][send.count] places of the entries in ghost[] of the neighbour */
  PetscInt       nself;    /* entries from this process to itself */
  PetscInt      *selffrom; /* [nself] */
  PetscInt      *selfto;   /* [nself] */
  PetscInt      *storage;  /* of all lists */
  PetscInt       nsend;    /* entries sent */
  PetscInt       nrecv;    /* entries received */
} LitheHaloPeers;

/* Reasons why a transport cannot be used. Processes agree on the largest number, and on its code of CUDA or NCCL */
typedef enum {
  LITHE_HALO_POSSIBLE,
  LITHE_HALO_NO_CUDA,
  LITHE_HALO_ON_HOST,
  LITHE_HALO_SHARED_DEVICE,
  LITHE_HALO_OTHER_NODES,
  LITHE_HALO_MANY_PROCESSES,
  LITHE_HALO_NO_LIBRARY,
  LITHE_HALO_REFUSED
} LitheHaloObstacle;

/*
   A transport. create() is collective and returns the common result of all processes; with an obstacle, create() leaves
   no data behind. Three functions may be NULL. receive() ends an exchange in a kernel of the caller, and leaves the
   epoch unchanged if not possible. stream() returns the stream as a pointer, as LitheHaloGetStream(). wait() is
   LitheHaloWait().
*/
typedef struct {
  PetscErrorCode (*create)(LitheHalo, LitheHaloObstacle *, int *code);
  PetscErrorCode (*begin)(LitheHalo, const void *x);
  PetscErrorCode (*end)(LitheHalo, const void **ghost);
  PetscErrorCode (*destroy)(LitheHalo);
  PetscErrorCode (*receive)(LitheHalo, LitheHaloEpoch *, const void **ghost);
  PetscErrorCode (*stream)(LitheHalo, void **stream);
  PetscErrorCode (*wait)(LitheHalo, const void **ghost);
} LitheHaloOps;

/*
   The same for sums over processes. NULL is possible for receive(), the sum in a kernel of the caller, and check(): has
   a wait exceeded the time limit?
*/
typedef struct {
  PetscErrorCode (*create)(LitheReduce, LitheHaloObstacle *, int *code);
  PetscErrorCode (*sum)(LitheReduce, PetscInt n, PetscScalar a[]);
  PetscErrorCode (*receive)(LitheReduce, LitheReduceEpoch *);
  PetscErrorCode (*check)(LitheReduce);
  PetscErrorCode (*destroy)(LitheReduce);
} LitheReduceOps;

/* Tries one transport: create() of a halo or of a reduction */
typedef PetscErrorCode LitheTransportTryFn(void *object, LitheTransport, LitheHaloObstacle *, int *code);

struct _n_LitheHalo {
  PetscSF             sf;
  MPI_Comm            comm;
  PetscMemType        memory;
  size_t              unit;
  LitheTransport      asked;  /* may be auto */
  PetscInt            nghost; /* the length of ghost[] */
  LitheHaloPeers      peers;  /* while it is created */
  const LitheHaloOps *ops;
  void               *data; /* of the transport */
  const void         *x;    /* of the present exchange */
  PetscBool           begun;
  LitheHaloInfo       info;
  char                reason[512];
};

struct _n_LitheReduce {
  MPI_Comm              comm;
  PetscMPIInt           size, rank;
  PetscMemType          memory;
  PetscInt              most; /* scalars of a sum */
  LitheTransport        asked;
  const LitheReduceOps *ops; /* NULL: one process */
  void                 *data;
  LitheTransport        transport;
  char                  reason[512];
};

/* Allocated size of ghost[]: whole words of 16 bytes, at least one */
static inline size_t LitheHaloGhostBytes(const struct _n_LitheHalo *halo)
{
  return (PetscMax((size_t)halo->nghost, 1) * halo->unit + 15) / 16 * 16;
}

/* peers.c */
PETSC_INTERN PetscErrorCode LitheHaloPeersCreate_Private(PetscSF, LitheHaloPeers *);
PETSC_INTERN PetscErrorCode LitheHaloPeersDestroy_Private(LitheHaloPeers *);
PETSC_INTERN PetscBool      LitheHaloIsRange_Private(PetscInt, const PetscInt[]);

/* halo.c: takes the first requested transport that is possible on all processes; reason: why earlier transports are not
   possible; taken = auto: none is possible */
PETSC_INTERN PetscErrorCode LitheTransportChoose_Private(LitheTransport asked, LitheTransportTryFn *, void *object, LitheTransport *taken, char reason[],
                                                         size_t length);
#define LITHE_TRANSPORT_NONE "The requested transport cannot be used. %s. Use auto, which takes a possible transport"

/* One file per transport */
PETSC_INTERN const LitheHaloOps   LitheHaloMPI;
PETSC_INTERN const LitheReduceOps LitheReduceMPI;

#if defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/halo.h>

PETSC_INTERN const LitheHaloOps   LitheHaloIPC;
PETSC_INTERN const LitheHaloOps   LitheHaloNCCL;
PETSC_INTERN const LitheReduceOps LitheReduceIPC;
PETSC_INTERN const LitheReduceOps LitheReduceNCCL;
PETSC_INTERN const char          *LitheHaloMessage_CUDA(int code);
PETSC_INTERN const char          *LitheHaloMessage_NCCL(int code);

/* Facts of the processes of a communicator; found once */
typedef struct _LitheHaloFacts LitheHaloFacts;
struct _LitheHaloFacts {
  PetscBool onenode;
  PetscBool owndevices;                  /* no two processes have the same */
  LithePool pool;                        /* of windows, after the first use */
  void     *nccl;                        /* the communicator of NCCL, after the first use */
  PetscErrorCode (*nccldestroy)(void *); /* destroys the communicator; set by nccl.c */
  cudaStream_t    stream;                /* of the calls of NCCL */
  MPI_Comm        comm, kept;            /* kept: a reference to comm, or MPI_COMM_NULL */
  LitheHaloFacts *next;                  /* of another communicator */
};

/* facts.c */
PETSC_INTERN PetscErrorCode LitheHaloGetFacts_Private(MPI_Comm, LitheHaloFacts **);
PETSC_INTERN PetscErrorCode LitheHaloAgree_Private(MPI_Comm, LitheHaloObstacle *, int *code);
PETSC_INTERN PetscErrorCode LitheHaloStreamCreate_Private(cudaStream_t *);
/* Whether ipc seems possible before an attempt; the same on all processes */
PETSC_INTERN PetscErrorCode LitheHaloPrecheckIPC_Private(MPI_Comm, PetscMemType, LitheTransport asked, LitheHaloObstacle *);

/* window.c: a window of the communicator's pool; the arguments of LithePoolTake(). With an obstacle it is NULL */
PETSC_INTERN PetscErrorCode LitheHaloWindow_Private(MPI_Comm, PetscInt n, const PetscMPIInt rank[], size_t bytes, LitheWindow *, LitheHaloObstacle *,
                                                    int *code);
/* timeout.c: keeps the pointers what, and failed: a word on the device, 0 */
PETSC_INTERN PetscErrorCode LitheHaloTimeoutCreate_Private(MPI_Comm, const char what[], void *failed, LitheHaloTimeout *);
/* An error if a wait for a process has exceeded the limit; once: unless already reported */
PETSC_INTERN PetscErrorCode LitheHaloTimeoutCheck_Private(LitheHaloTimeout *, PetscBool once);
PETSC_INTERN PetscErrorCode LitheHaloTimeoutDestroy_Private(LitheHaloTimeout *);
#endif
