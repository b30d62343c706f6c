/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */
#pragma once

/*
   Memory of the processes of a communicator, mapped by each other. On a device a process takes tens of milliseconds to
   map an allocation of another process. A pool therefore allocates large chunks, maps each chunk once, and cuts windows
   from the chunks: src/halo/pool.c.

   All functions but LitheWindowGetMemory() are collective. The processes of a communicator call them in the same order,
   so windows have the same places in the chunks of all processes.
*/

#include <petscsys.h>

/* Names an allocation to other processes; a cudaIpcMemHandle_t */
typedef struct {
  char name[64];
} LithePoolHandle;

/*
   The memory of a chunk. The functions return 0, or a code of the error. create() stores NULL in *own if there is
   nothing to destroy; handle is NULL if no other process exists. clear() sets memory to zeros, and waits until the
   zeros are written
*/
typedef struct {
  size_t page, chunk; /* bytes: a chunk consists of whole pages, and has at least these bytes */
  int (*create)(size_t bytes, void **own, LithePoolHandle *handle);
  int (*destroy)(void *own);
  int (*map)(const LithePoolHandle *handle, size_t bytes, void **there);
  int (*unmap)(void *there, size_t bytes);
  int (*clear)(void *own, size_t bytes);
} LithePoolOps;

typedef struct _n_LithePool     *LithePool;
typedef struct _n_LithePoolChunk LithePoolChunk;

typedef struct _n_LitheWindow *LitheWindow;
struct _n_LitheWindow {
  MPI_Comm        comm; /* as given to LithePoolCreate() */
  LithePool       pool;
  LithePoolChunk *chunk;
  size_t          offset, bytes; /* in the chunk, the same on all processes */
  LitheWindow     next;          /* the next one in the chunk */
};                               /* owner: pool.c */

PETSC_INTERN PetscErrorCode LithePoolCreate(MPI_Comm comm, const LithePoolOps *ops, LithePool *pool);
/* Windows that are left must not be used, nor given back */
PETSC_INTERN PetscErrorCode LithePoolDestroy(LithePool *pool);
/*
   A window of the largest requested number of bytes of all processes, zeros. rank: the n processes whose memory this
   process needs; NULL: 0 to n - 1. code: 0, or an error of a process, the same on all processes; the window is then
   NULL
*/
PETSC_INTERN PetscErrorCode LithePoolTake(LithePool pool, PetscInt n, const PetscMPIInt rank[], size_t bytes, LitheWindow *window, int *code);
/* Nobody uses the window any more: each process has waited for its device */
PETSC_INTERN PetscErrorCode LithePoolGiveBack(LitheWindow *window);
/* The window's memory of a process, as an address of this process */
PETSC_INTERN PetscErrorCode LitheWindowGetMemory(LitheWindow window, PetscMPIInt rank, void **memory);
