/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The C interface of cuda/common/halo.cu: entries are copied to several arrays at once, also of other devices, and waited for */

#include <lithe/private/lithehalo.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>

/* An array that gets entries: its entry tolist[i], or to + i, becomes x[fromlist[i]], or x[from + i]. All on the device */
typedef struct {
  void               *array[2]; /* of an even and of an odd exchange */
  const PetscInt     *fromlist, *tolist;
  PetscInt            from, to;
  PetscInt            count;
  PetscInt            nblocks; /* of threads; at least one if there is a flag */
  unsigned long long *flag;    /* gets the number of the exchange once all entries are there, where the pack counts; may be NULL */
  unsigned int       *done;    /* blocks that are, zero between launches */
} LitheHaloTarget;

typedef struct {
  PetscInt            ntargets;
  unsigned long long *sent;         /* on the device: targets that have got all entries, of all exchanges until now; NULL: nobody counts them */
  PetscInt            blockentries; /* entries of a block of threads */
  size_t              unit;         /* bytes of an entry: 4, 8 or 16 */
  LitheHaloTarget    *target;       /* [ntargets], on the host */
} LitheHaloPack;

/*
   Lists of the targets are on the host, NULL where they are ranges; those of the pack are on the device. aside:
   something else runs meanwhile, which is to have most of the device.
   counts: there are flags, or somebody asks for what has been sent. src/halo/device.c
*/
PETSC_INTERN PetscErrorCode LitheHaloPackCreate(size_t unit, PetscBool aside, PetscBool counts, PetscInt n, const LitheHaloTarget[], LitheHaloPack *);
PETSC_INTERN PetscErrorCode LitheHaloPackDestroy(LitheHaloPack *);

  /* blockentries is a multiple of the first; the second: entries that a thread loads before it stores one */
  #define LITHE_HALO_THREADS 256
  #define LITHE_HALO_AHEAD   4
  /* Beside a product there are about so many blocks, for which so many multiprocessors have room */
  #define LITHE_HALO_BLOCKS          12
  #define LITHE_HALO_MULTIPROCESSORS 4

  /* In place of a neighbour's number: what this process itself sends */
  #define LITHE_HALO_ITSELF 0xfffffffeu

/* The neighbour whose wait exceeded the time limit, from 1; 0: none. In memory of the host that the device sees */
typedef struct {
  volatile unsigned int       neighbour;
  volatile unsigned long long exchange;
} LitheHaloFailure;

/* The time limit of waiting for another process; the last three are for the host, which makes an error of a failure */
typedef struct {
  unsigned long long limit;  /* nanoseconds */
  unsigned int      *failed; /* on the device: nothing is waited for any more */
  LitheHaloFailure  *failure;
  const PetscMPIInt *rank;     /* of each neighbour; NULL: they are all processes, in their order */
  const char        *what;     /* a process should have sent, before a number */
  PetscBool          reported; /* there was an error */
} LitheHaloTimeout;

/* Flags of this process, which neighbours write to */
typedef struct {
  PetscInt            n;
  unsigned long long *flag; /* [n] */
  LitheHaloTimeout    timeout;
} LitheHaloFlags;

/* The end of an exchange, as kernels want it: cuda/common/halo.cuh */
struct LitheHaloEpoch {
  LitheHaloFlags            wait;
  unsigned long long        exchange; /* its number, from 1 on; 0: it is over */
  const unsigned long long *sent;     /* of this process: is to be nsent at least; NULL: that is known */
  unsigned long long        nsent;
};

  /* As many as there are devices on a node, and more */
  #define LITHE_REDUCE_PROCESSES 32

/* Sums over processes: where each of them takes numbers from the others, [2][size][stride] words of 16 bytes */
typedef struct {
  int              size, rank;
  PetscBool        owndevice; /* no other process has this device */
  PetscInt         stride;
  void            *inbox[LITHE_REDUCE_PROCESSES];
  LitheHaloTimeout timeout;
} LitheReducePeers;

/* One sum, as kernels want it: cuda/common/reduce.cuh */
struct LitheReduceEpoch {
  LitheReducePeers   peers;  /* size 1: there is nothing to send */
  unsigned long long number; /* of this sum, from 1 on */
};

/*
   LitheHaloEnd() within a kernel of the caller's, which calls LitheHaloBlockWait() of cuda/common/halo.cuh with this epoch: that saves a
   launch. Each process launches such a kernel in PETSc's stream, also a process that gets nothing. Where the transport cannot do
   that, this function is LitheHaloEnd(), the epoch has no number, and no such kernel is needed
*/
PETSC_INTERN PetscErrorCode LitheHaloReceive(LitheHalo, LitheHaloEpoch *epoch, const void **ghost);

/*
   Between LitheHaloBegin() and LitheHaloEnd(): the stream of the exchange, or NULL. What is launched there runs concurrently with PETSc's
   stream, and is done for what PETSc's stream gets after LitheHaloEnd(). What is launched after LitheHaloWait() finds the ghosts.
*/
PETSC_INTERN PetscErrorCode LitheHaloGetStream(LitheHalo, cudaStream_t *stream);
PETSC_INTERN PetscErrorCode LitheHaloWait(LitheHalo, const void **ghost);

PETSC_INTERN PetscErrorCode LitheCUDAHaloPack(const LitheHaloPack *, const void *dx, unsigned long long exchange, cudaStream_t);
PETSC_INTERN PetscErrorCode LitheCUDAHaloWait(const LitheHaloEpoch *, cudaStream_t);

/* da[i] = its sum over all processes, in their order */
PETSC_INTERN PetscErrorCode LitheCUDAReduce(const LitheReduceEpoch *, PetscInt n, PetscReal *da, cudaStream_t);
/* da[i] = sum of dall[r n + i] over r < size, in their order */
PETSC_INTERN PetscErrorCode LitheCUDAReduceGathered(int size, PetscInt n, const PetscReal *dall, PetscReal *da, cudaStream_t);
#endif
