/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The memory of a PCGRIDMG: an arena for exact entries, a pool for codes and vectors of all levels, and scratch */

#include "base.h"
#include <lithe/private/lithememory.h>

#define GRIDMG_ALIGN 64

/* Zeroed host memory of at least `bytes` bytes; the former content is lost */
PetscErrorCode PCGridMGBlockGet_Private(GridMGBlock *block, size_t bytes, void **memory)
{
  PetscFunctionBegin;
  if (block->bytes < bytes || block->kernels) {
    PetscCall(PCGridMGBlockFree_Private(block));
    PetscCall(LitheAllocateLarge(bytes, &block->memory));
    block->bytes = bytes;
  }
  if (bytes) PetscCall(PetscMemzero(block->memory, bytes));
  *memory = block->memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Returns all parts of the arena. The first block then has at least `bytes` bytes, plus room for alignment */
PetscErrorCode PCGridMGArenaStart_Private(PC_GridMG *mg, size_t bytes)
{
  void *memory;

  PetscFunctionBegin;
  /* the levels of the last set-up may have been elsewhere */
  for (int b = 1; b < GRIDMG_ARENA_BLOCKS; b++) {
    if (mg->memory.arena.block[b].kernels != mg->place.kernels) PetscCall(PCGridMGBlockFree_Private(&mg->memory.arena.block[b]));
  }
  PetscCall(PCGridMGReserve_Private(mg, &mg->memory.arena.block[0], bytes + 4 * GRIDMG_ALIGN, &memory));
  mg->memory.arena.current = 0;
  mg->memory.arena.taken   = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory of the arena, not zeroed. A new block is larger than asked for: the number of blocks stays small */
PetscErrorCode PCGridMGArenaTake_Private(PC_GridMG *mg, size_t bytes, void **memory)
{
  GridMGArena *arena = &mg->memory.arena;

  PetscFunctionBegin;
  bytes = (bytes + GRIDMG_ALIGN - 1) / GRIDMG_ALIGN * GRIDMG_ALIGN;
  while (arena->block[arena->current].bytes - arena->taken < bytes) {
    PetscCheck(arena->current < GRIDMG_ARENA_BLOCKS - 1, PETSC_COMM_SELF, PETSC_ERR_PLIB, "The levels of a PCGRIDMG need more than %d blocks of memory",
               GRIDMG_ARENA_BLOCKS);
    arena->current++;
    arena->taken = 0;
    if (arena->block[arena->current].bytes < bytes)
      PetscCall(PCGridMGReserve_Private(mg, &arena->block[arena->current], PetscMax(2 * bytes, arena->block[0].bytes / 8), memory));
  }
  *memory = (char *)arena->block[arena->current].memory + arena->taken;
  arena->taken += bytes;
  PetscFunctionReturn(PETSC_SUCCESS);
}

GridMGArenaMark PCGridMGArenaGetMark_Private(const PC_GridMG *mg)
{
  return (GridMGArenaMark){mg->memory.arena.current, mg->memory.arena.taken};
}

/* Returns all parts taken after the mark */
void PCGridMGArenaGiveBack_Private(PC_GridMG *mg, const GridMGArenaMark *mark)
{
  mg->memory.arena.current = mark->current;
  mg->memory.arena.taken   = mark->taken;
}

void *PCGridMGTake_Private(GridMGPool *pool, size_t bytes)
{
  char *part = pool->memory ? pool->memory + pool->taken + GRIDMG_ALIGN : NULL;

  pool->layout = 31 * pool->layout + bytes;
  pool->taken += (bytes + GRIDMG_ALIGN - 1) / GRIDMG_ALIGN * GRIDMG_ALIGN + 2 * GRIDMG_ALIGN;
  return part;
}

/*
   Memory for all counted parts, zeroed: a new allocation, or the existing one. With keep, the content of the existing
   memory stays if all parts have the same places as before, with zeros around each part. No part has been taken yet.
*/
PetscErrorCode PCGridMGPoolGet_Private(PC_GridMG *mg, GridMGPool *pool, PetscBool keep)
{
  PetscFunctionBegin;
  if (mg->memory.pool.bytes < pool->taken || mg->memory.pool.kernels != mg->place.kernels) {
    PetscCall(PCGridMGBlockFree_Private(&mg->memory.pool));
    PetscCall((*mg->place.kernels->memory.alloc)(pool->taken, &mg->memory.pool.memory));
    mg->memory.pool.kernels = mg->place.kernels;
    mg->memory.pool.bytes   = pool->taken;
  } else {
    mg->memory.kept = (PetscBool)(keep && mg->memory.layout == pool->layout);
    if (!mg->memory.kept) PetscCall((*mg->place.kernels->memory.clear)(pool->taken, mg->memory.pool.memory));
  }
  mg->memory.layout = keep ? pool->layout : 0;
  pool->memory      = (char *)mg->memory.pool.memory;
  pool->taken       = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Takes the parts of a pool again, from this memory */
void PCGridMGPoolStart_Private(GridMGPool *pool, char *memory)
{
  pool->memory = memory;
  pool->taken  = 0;
}

/* Adds a number to the hash of the places */
void PCGridMGPoolHash_Private(GridMGPool *pool, size_t number)
{
  pool->layout = 31 * pool->layout + number;
}

/* Before a set-up */
void PCGridMGKeepStart_Private(PC_GridMG *mg)
{
  mg->memory.kept = PETSC_FALSE;
}

/* Scratch where the kernels work, not zeroed; host: zeroed host memory. The next call may return the same memory */
PetscErrorCode PCGridMGGetWork_Private(PC_GridMG *mg, PetscBool host, size_t bytes, void **work)
{
  PetscFunctionBegin;
  if (host) PetscCall(PCGridMGBlockGet_Private(&mg->memory.work, bytes, work));
  else PetscCall(PCGridMGReserve_Private(mg, &mg->memory.work, bytes, work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeroed host memory for a dense matrix, or for entries that the host reads again */
PetscErrorCode PCGridMGGetDense_Private(PC_GridMG *mg, size_t bytes, void **dense)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGBlockGet_Private(&mg->memory.dense, bytes, dense));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries, and scratch */
PetscErrorCode PCGridMGMemoryFreeScratch_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (int b = 0; b < GRIDMG_ARENA_BLOCKS; b++) PetscCall(PCGridMGBlockFree_Private(&mg->memory.arena.block[b]));
  mg->memory.arena.current = 0;
  mg->memory.arena.taken   = 0;
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.dense));
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.work));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGMemoryReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.pool));
  PetscFunctionReturn(PETSC_SUCCESS);
}
