/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/* The C interface of cuda/common/halo.cu: copies of entries to several arrays at once, also on other devices, and
   waits for entries */

#include <lithe/private/lithehalo.h>

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <cuda_runtime_api.h>

/* A target array: entry tolist[i], or to + i, becomes x[fromlist[i]], or x[from + i]. All on the device */
typedef struct {
  void               *array[2]; /* of an even and of an odd exchange */
  const PetscInt     *fromlist, *tolist;
  PetscInt            from, to;
  PetscInt            count;
  PetscInt            nblocks; /* of threads; at least one if flags exist */
  unsigned long long *flag;    /* gets the number of the exchange once all entries have arrived, if the pack counts; may
  be NULL */
  unsigned int       *done;    /* number of finished blocks, zero between launches */
} LitheHaloTarget;

typedef struct {
  PetscInt            ntargets;
  unsigned long long *sent;         /* on the device: number of targets with all entries, over all exchanges; NULL: not
  counted */
  PetscInt            blockentries; /* entries of a block of threads */
  size_t              unit;         /* bytes of an entry: 4, 8 or 16 */
  LitheHaloTarget    *target;       /* [ntargets], on the host */
  void               *memory;       /* of sent, of all counts and all lists, on the device */
} LitheHaloPack;

/*
   Lists of the targets are on the host, NULL for ranges. Lists of the pack are on the device. aside: another kernel
   runs concurrently and gets most of the device. counts: flags exist, or the number of sent targets is read.
   src/halo/device.c
*/
PETSC_INTERN PetscErrorCode LitheHaloPackCreate(size_t unit, PetscBool aside, PetscBool counts, PetscInt n, const LitheHaloTarget[], LitheHaloPack *);
PETSC_INTERN PetscErrorCode LitheHaloPackDestroy(LitheHaloPack *);

  /* blockentries is a multiple of the first number; the second: entries that a thread loads before its first store */
  #define LITHE_HALO_THREADS 256
  #define LITHE_HALO_AHEAD   4
  /* The number of blocks that run concurrently with a product, and the number of multiprocessors reserved for these
     blocks */
  #define LITHE_HALO_BLOCKS          12
  #define LITHE_HALO_MULTIPROCESSORS 4

  /* in place of a process: entries from the process to itself */
  #define LITHE_HALO_ITSELF 0xfffffffeu

/* The process, from 1, whose wait exceeded the time limit; 0: none. In host memory visible to the device */
typedef struct {
  volatile unsigned int       process;
  volatile unsigned long long exchange;
} LitheHaloFailure;

/* The time limit of waiting for another process; the last two are for the host, which makes an error of a failure */
typedef struct {
  unsigned long long limit;  /* nanoseconds */
  unsigned int      *failed; /* on the device: later waits return at once */
  LitheHaloFailure  *failure;
  const char        *what;     /* noun in the message for data of a process, before a number */
  PetscBool          reported; /* an error has been reported */
} LitheHaloTimeout;

/* Flags of this process, written by neighbours; flags of other processes have the largest number */
typedef struct {
  PetscInt            n;    /* processes; 0: no neighbours */
  unsigned long long *flag; /* [n] */
  LitheHaloTimeout    timeout;
} LitheHaloFlags;

/* The end of an exchange in the form for kernels: cuda/common/halo.cuh */
struct LitheHaloEpoch {
  LitheHaloFlags            wait;
  unsigned long long        exchange; /* number of the exchange, from 1 on; 0: the exchange is over */
  const unsigned long long *sent;     /* of this process: wait until it is at least nsent; NULL: already known */
  unsigned long long        nsent;
};

  /* At least the number of devices on a node */
  #define LITHE_REDUCE_PROCESSES 32

/* Sums over processes: inboxes for the numbers of all processes, [2][size][stride] words of 16 bytes */
typedef struct {
  int              size, rank;
  PetscBool        owndevice; /* no other process uses this device */
  PetscInt         stride;
  void            *inbox[LITHE_REDUCE_PROCESSES];
  LitheHaloTimeout timeout;
} LitheReducePeers;

/* One sum, in the form for kernels: cuda/common/reduce.cuh */
struct LitheReduceEpoch {
  LitheReducePeers   peers;  /* size 1: nothing is sent */
  unsigned long long number; /* of the sum, from 1 on */
};

/*
   LitheHaloEnd() inside a kernel of the caller, which calls LitheHaloBlockWait() of cuda/common/halo.cuh with this
   epoch, and saves a launch. Each process launches such a kernel in PETSc's stream, even a process without ghosts. If
   the transport has no epochs, this function is LitheHaloEnd(), the epoch has no number, and the kernel is not needed
*/
PETSC_INTERN PetscErrorCode LitheHaloReceive(LitheHalo, LitheHaloEpoch *epoch, const void **ghost);

/*
   Between LitheHaloBegin() and LitheHaloEnd(): the stream of the exchange, or NULL. Kernels launched in this stream run
   concurrently with PETSc's stream. They end before later kernels of PETSc's stream begin after LitheHaloEnd(). Kernels
   launched after LitheHaloWait() find the ghosts.
*/
PETSC_INTERN PetscErrorCode LitheHaloGetStream(LitheHalo, cudaStream_t *stream);
PETSC_INTERN PetscErrorCode LitheHaloWait(LitheHalo, const void **ghost);

PETSC_INTERN PetscErrorCode LitheCUDAHaloPack(const LitheHaloPack *, const void *dx, unsigned long long exchange, cudaStream_t);
PETSC_INTERN PetscErrorCode LitheCUDAHaloWait(const LitheHaloEpoch *, cudaStream_t);

/* da[i] = sum of da[i] over all processes, in order of rank */
PETSC_INTERN PetscErrorCode LitheCUDAReduce(const LitheReduceEpoch *, PetscInt n, PetscReal *da, cudaStream_t);
/* da[i] = sum of dall[r n + i] over r < size, in order of rank */
PETSC_INTERN PetscErrorCode LitheCUDAReduceGathered(int size, PetscInt n, const PetscReal *dall, PetscReal *da, cudaStream_t);
#endif
