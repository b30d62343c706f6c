/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   LithePool: windows, cut from chunks of memory that processes map once. lithepool.h

   All processes place a window of the same bytes in the same list of windows. Places therefore need no messages.
*/

#include <lithe/private/lithepool.h>

#define LITHE_POOL_ALIGN 256

/* The name of a process's chunk, for the other processes */
typedef struct {
  LithePoolHandle handle;
  int             code; /* of the error, if there is no chunk */
} LithePoolAddress;

struct _n_LithePoolChunk {
  size_t            bytes;
  void            **memory;  /* [size] of each process; NULL: not mapped */
  LithePoolAddress *address; /* [size] */
  LitheWindow       windows; /* in order of offset */
  LithePoolChunk   *next;
};

struct _n_LithePool {
  MPI_Comm            comm, given; /* the pool's own one, because the pool may be destroyed while the given one is being freed */
  PetscMPIInt         size, rank;
  const LithePoolOps *ops;
  LithePoolChunk     *chunks;
};

/* ------------------------------------------------------------ chunks */

/* Nobody frees memory that is still mapped elsewhere. After an error the rest is freed */
static PetscErrorCode LithePoolFreeChunk_Private(LithePool pool, LithePoolChunk *c)
{
  int code = 0;

  PetscFunctionBegin;
  for (PetscMPIInt r = 0; r < pool->size; r++) {
    if (r != pool->rank && c->memory[r]) code = PetscMax(code, (*pool->ops->unmap)(c->memory[r], c->bytes));
  }
  PetscCallMPI(MPI_Barrier(pool->comm));
  if (c->memory[pool->rank]) code = PetscMax(code, (*pool->ops->destroy)(c->memory[pool->rank]));
  PetscCall(PetscFree2(c->memory, c->address));
  PetscCall(PetscFree(c));
  PetscCheck(!code, PETSC_COMM_SELF, PETSC_ERR_LIB, "Memory mapped by other processes is not freed: error %d", code);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* One more chunk, unless a process has an error */
static PetscErrorCode LithePoolGrow_Private(LithePool pool, size_t bytes, int *code)
{
  const size_t     page = pool->ops->page;
  LithePoolChunk  *c;
  LithePoolAddress own;

  PetscFunctionBegin;
  PetscCall(PetscNew(&c));
  PetscCall(PetscCalloc2(pool->size, &c->memory, pool->size, &c->address));
  PetscCall(PetscMemzero(&own, sizeof(own)));
  c->bytes = (PetscMax(bytes, pool->ops->chunk) + page - 1) / page * page;
  own.code = (*pool->ops->create)(c->bytes, &c->memory[pool->rank], pool->size > 1 ? &own.handle : NULL);
  PetscCallMPI(MPI_Allgather(&own, (PetscMPIInt)sizeof(own), MPI_BYTE, c->address, (PetscMPIInt)sizeof(own), MPI_BYTE, pool->comm));
  for (PetscMPIInt r = 0; r < pool->size; r++) *code = PetscMax(*code, c->address[r].code);
  if (*code) {
    PetscCall(LithePoolFreeChunk_Private(pool, c));
    PetscFunctionReturn(PETSC_SUCCESS);
  }
  c->next      = pool->chunks;
  pool->chunks = c;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePoolCreate(MPI_Comm comm, const LithePoolOps *ops, LithePool *pool)
{
  PetscFunctionBegin;
  PetscCall(PetscNew(pool));
  PetscCallMPI(MPI_Comm_dup(comm, &(*pool)->comm));
  PetscCallMPI(MPI_Comm_size(comm, &(*pool)->size));
  PetscCallMPI(MPI_Comm_rank(comm, &(*pool)->rank));
  (*pool)->given = comm;
  (*pool)->ops   = ops;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePoolDestroy(LithePool *pool)
{
  PetscFunctionBegin;
  if (!*pool) PetscFunctionReturn(PETSC_SUCCESS);
  for (LithePoolChunk *c = (*pool)->chunks, *next; c; c = next) {
    next = c->next;
    PetscCall(LithePoolFreeChunk_Private(*pool, c));
  }
  PetscCallMPI(MPI_Comm_free(&(*pool)->comm));
  PetscCall(PetscFree(*pool));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* ------------------------------------------------------------ windows */

/* Places a window in the first gap of a chunk that is large enough, if any */
static void LithePoolPlace_Private(LithePoolChunk *c, LitheWindow w)
{
  LitheWindow *link  = &c->windows;
  size_t       begin = 0;

  while (*link && (*link)->offset - begin < w->bytes) {
    begin = (*link)->offset + (*link)->bytes;
    link  = &(*link)->next;
  }
  if (!*link && c->bytes - begin < w->bytes) return;
  w->chunk  = c;
  w->offset = begin;
  w->next   = *link;
  *link     = w;
}

/* Clears the own memory, and maps the memory of processes that is not yet mapped */
static PetscErrorCode LithePoolOpen_Private(LithePool pool, LitheWindow w, PetscInt n, const PetscMPIInt rank[], int *code)
{
  LithePoolChunk *c = w->chunk;

  PetscFunctionBegin;
  *code = (*pool->ops->clear)((char *)c->memory[pool->rank] + w->offset, w->bytes);
  for (PetscInt k = 0; k < n && !*code; k++) {
    const PetscMPIInt r = rank ? rank[k] : (PetscMPIInt)k;

    if (c->memory[r]) continue;
    *code = (*pool->ops->map)(&c->address[r].handle, c->bytes, &c->memory[r]);
    if (*code) c->memory[r] = NULL;
    PetscCall(PetscInfo(NULL, "Memory of process %d is mapped, %zu bytes: error %d\n", r, c->bytes, *code));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePoolTake(LithePool pool, PetscInt n, const PetscMPIInt rank[], size_t bytes, LitheWindow *window, int *code)
{
  PetscInt64  most = (PetscInt64)((PetscMax(bytes, 1) + LITHE_POOL_ALIGN - 1) / LITHE_POOL_ALIGN * LITHE_POOL_ALIGN);
  LitheWindow w;

  PetscFunctionBegin;
  *window = NULL;
  *code   = 0;
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, &most, 1, MPIU_INT64, MPI_MAX, pool->comm));
  PetscCall(PetscNew(&w));
  w->comm  = pool->given;
  w->pool  = pool;
  w->bytes = (size_t)most;
  for (LithePoolChunk *c = pool->chunks; c && !w->chunk; c = c->next) LithePoolPlace_Private(c, w);
  if (!w->chunk) {
    PetscCall(LithePoolGrow_Private(pool, w->bytes, code));
    if (*code) {
      PetscCall(PetscFree(w));
      PetscFunctionReturn(PETSC_SUCCESS);
    }
    LithePoolPlace_Private(pool->chunks, w);
  }
  PetscCall(LithePoolOpen_Private(pool, w, n, rank, code));
  /* another process writes to this memory only after the zeros */
  PetscCallMPI(MPIU_Allreduce(MPI_IN_PLACE, code, 1, MPI_INT, MPI_MAX, pool->comm));
  if (*code) PetscCall(LithePoolGiveBack(&w));
  *window = w;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LithePoolGiveBack(LitheWindow *window)
{
  LitheWindow      w = *window, *place;
  LithePool        pool;
  LithePoolChunk **link;

  PetscFunctionBegin;
  *window = NULL;
  if (!w) PetscFunctionReturn(PETSC_SUCCESS);
  pool = w->pool;
  for (place = &w->chunk->windows; *place != w; place = &(*place)->next)
    ;
  *place = w->next;
  if (w->chunk->windows || w->chunk->bytes <= pool->ops->chunk) PetscCallMPI(MPI_Barrier(pool->comm)); /* the next window may have the same place */
  else {
    /* made for one large window, and not kept for others */
    for (link = &pool->chunks; *link && *link != w->chunk; link = &(*link)->next)
      ;
    if (*link) *link = w->chunk->next;
    PetscCall(LithePoolFreeChunk_Private(pool, w->chunk));
  }
  PetscCall(PetscFree(w));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode LitheWindowGetMemory(LitheWindow w, PetscMPIInt rank, void **memory)
{
  PetscFunctionBegin;
  *memory = (char *)w->chunk->memory[rank] + w->offset;
  PetscFunctionReturn(PETSC_SUCCESS);
}
