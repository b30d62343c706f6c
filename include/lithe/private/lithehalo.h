/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   The exchange of ghosts: entries of an array that other processes need. The host does not wait if the transport
   permits. Used by the parallel matrices; src/halo.

     LitheHaloCreate(sf, ...)            once: lists, buffers, peers
     LitheHaloBegin(halo, x)             sends entries of x after earlier work of PETSc's stream
     ... kernels that need no ghosts ...
     LitheHaloEnd(halo, &ghost)          later launches find the ghosts in ghost[], valid until the next Begin

   Each function is collective on the processes of the star forest. The host never waits with the transports ipc and
   nccl. x must not change until LitheHaloEnd() has returned; later launches may change it.
*/

#include <lithemat.h>
#include <lithe/private/lithepool.h>
#include <petscsf.h>

#define LITHE_HALO_TIMEOUT 60    /* seconds: -lithe_halo_timeout */
#define LITHE_HALO_OVERLAP 32768 /* bytes: -lithe_halo_overlap */

typedef struct _n_LitheHalo *LitheHalo;

typedef struct {
  LitheTransport transport;      /* the transport in use */
  PetscMemType   memory;         /* of the arrays */
  PetscInt       from, to;       /* number of neighbours with entries from them, and to them */
  PetscInt64     received, sent; /* bytes per exchange, of this process */
  const char    *reason;         /* why not a faster transport, or NULL; lives as long as the halo */
} LitheHaloInfo;

/*
   sf: the roots are the entries of x, and the leaves the entries of ghost[]. Leaves are numbered from 0 on, or as in
   the star forest. In the second case ghost[] is as long as the largest leaf. ghost[] begins with zeros. Entries that
   are no leaves stay zero.
   memory: the place of x and ghost.
   unit: bytes per entry, 4, 8 or a multiple of 16.
   transport: the transport to use. If the transport is impossible, all processes raise a clear error.
   Exported for tests and benchmarks.
*/
PETSC_EXTERN PetscErrorCode LitheHaloCreate(PetscSF sf, LitheTransport transport, PetscMemType memory, size_t unit, LitheHalo *halo);
/* A star forest for LitheHaloCreate(): the n[r] entries of each other process r, in the order of the processes */
PETSC_INTERN PetscErrorCode LitheHaloCreateBlocks(MPI_Comm comm, const PetscInt n[], PetscSF *sf);
/*
   The same, unless *halo, which may be NULL, was created with the same arguments. A different halo is destroyed first.
   made, unless NULL: whether the halo is new; a new halo may have the address of the old one
*/
PETSC_EXTERN PetscErrorCode LitheHaloUpdate(PetscSF sf, LitheTransport transport, PetscMemType memory, size_t unit, LitheHalo *halo, PetscBool *made);
PETSC_EXTERN PetscErrorCode LitheHaloBegin(LitheHalo halo, const void *x);
PETSC_EXTERN PetscErrorCode LitheHaloEnd(LitheHalo halo, const void **ghost);
PETSC_EXTERN PetscErrorCode LitheHaloGetInfo(LitheHalo halo, LitheHaloInfo *info);
PETSC_EXTERN PetscErrorCode LitheHaloDestroy(LitheHalo *halo);

/* The end of an exchange in the form for kernels: cuda/halo.h */
typedef struct LitheHaloEpoch LitheHaloEpoch;

/*
   Sums of numbers over processes, in place. The host does not wait if the transport permits.

   LitheReduceCreate(comm, ...): once. LitheReduceSum(reduce, n, a): later launches find the sums in a[0:n], the same
   bits on all processes. LitheReduceCheck(reduce): before the host uses the sums; raises an error if a wait has
   exceeded the time limit.

   Each function but the last is collective. ipc and nccl add in order of rank, without the host. n is the same on all
   processes.
*/
typedef struct _n_LitheReduce *LitheReduce;

/*
   most: largest number of numbers in a sum. Exported for tests and benchmarks; transport auto: as
   -lithe_reduce_transport requests
*/
PETSC_EXTERN PetscErrorCode LitheReduceCreate(MPI_Comm comm, LitheTransport transport, PetscMemType memory, PetscInt most, LitheReduce *reduce);
PETSC_EXTERN PetscErrorCode LitheReduceSum(LitheReduce reduce, PetscInt n, PetscScalar a[]);
PETSC_EXTERN PetscErrorCode LitheReduceCheck(LitheReduce reduce);
/*
   The sum in a kernel of the caller, which saves a launch. In place of LitheReduceSum(), each process launches in
   PETSc's stream a kernel that sends and receives with the epoch (cuda/common/reduce.cuh). Not every transport has
   epochs; a single process has one, and sends nothing
*/
typedef struct LitheReduceEpoch LitheReduceEpoch;
PETSC_INTERN PetscErrorCode     LitheReduceOnDevice(LitheReduce reduce, PetscInt n, LitheReduceEpoch *epoch, PetscBool *possible);
/* transport: auto on a single process; reason: why no faster transport is used, or NULL */
PETSC_EXTERN PetscErrorCode LitheReduceGetTransport(LitheReduce reduce, LitheTransport *transport, const char **reason);
PETSC_EXTERN PetscErrorCode LitheReduceDestroy(LitheReduce *reduce);

/*
   Memory of a device, one per process, which all processes read. For large arrays that change hands once: the host
   waits at each fence.

     LitheWindowCreate(comm, bytes, &window)        zeros; NULL where processes cannot map each other's memory
     LitheWindowGetMemory(window, rank, &memory)    the memory of any process, as a local address (lithepool.h)
     LitheWindowFence(window)                       waits for earlier launches of all processes in PETSc's stream

   Between a write and the reads of other processes there is a fence, and another one between these reads and the next
   write. All but LitheWindowGetMemory() are collective. bytes: the largest number of all processes counts.
*/
PETSC_INTERN PetscErrorCode LitheWindowCreate(MPI_Comm comm, size_t bytes, LitheWindow *window);
PETSC_INTERN PetscErrorCode LitheWindowFence(LitheWindow window);
PETSC_INTERN PetscErrorCode LitheWindowDestroy(LitheWindow *window);
