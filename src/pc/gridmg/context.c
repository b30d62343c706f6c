/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCGRIDMG: its memory, its failure, and its reset */

#include "gridmgimpl.h"
#include <stdarg.h>

/* There is no preconditioner: KSP ends with KSP_DIVERGED_PC_FAILED, and SNES and TS may cut their steps */
PetscErrorCode PCGridMGFail_Private(PC pc, const char format[], ...)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  va_list    arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(mg->failed, sizeof(mg->failed), format, NULL, arguments));
  va_end(arguments);
  PetscCheck(!pc->erroriffailure, PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "-pc_type gridmg: %s", mg->failed);
  PetscCall(PetscInfo(pc, "%s\n", mg->failed));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode FreeBlock_Private(GridMGBlock *block)
{
  PetscFunctionBegin;
  if (block->kernels && block->memory) PetscCall((*block->kernels->free)(&block->memory));
  else PetscCall(PetscFree(block->memory));
  PetscCall(PetscMemzero(block, sizeof(*block)));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Memory of the host of at least so many bytes, zeroed; what was there is lost */
PetscErrorCode PCGridMGBlockGet_Private(GridMGBlock *block, size_t bytes, void **memory)
{
  PetscFunctionBegin;
  if (block->bytes < bytes) {
    PetscCall(FreeBlock_Private(block));
    PetscCall(PetscMalloc1(bytes, (char **)&block->memory));
    block->bytes = bytes;
  }
  if (bytes) PetscCall(PetscMemzero(block->memory, bytes));
  *memory = block->memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* The same where the kernels work, but not zeroed */
PetscErrorCode PCGridMGReserve_Private(PC_GridMG *mg, GridMGBlock *block, size_t bytes, void **memory)
{
  PetscFunctionBegin;
  if (block->bytes < bytes || block->kernels != mg->kernels) {
    PetscCall(FreeBlock_Private(block));
    if (bytes) PetscCall((*mg->kernels->alloc)(bytes, &block->memory));
    block->kernels = mg->kernels;
    block->bytes   = bytes;
  }
  *memory = block->memory;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Exact entries */
PetscErrorCode PCGridMGFreeScratch_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) {
    GridMGLevel *l = &mg->level[k];

    for (int b = 0; b < 2; b++) {
      PetscCall(FreeBlock_Private(&l->block[b]));
      PetscCall(FreeBlock_Private(&l->half[b]));
      PetscCall(FreeBlock_Private(&l->list[b]));
    }
    PetscCall(FreeBlock_Private(&l->mark));
    PetscCall(FreeBlock_Private(&mg->stencil[k].block));
    PetscCall(PetscMemzero(&mg->stencil[k].f, sizeof(mg->stencil[k].f)));
    PetscCall(PetscMemzero(&l->faces, sizeof(l->faces)));
  }
  PetscCall(FreeBlock_Private(&mg->dense));
  PetscCall(FreeBlock_Private(&mg->work));
  PetscCall(PetscFree(mg->edges.edge));
  mg->edges.n = mg->edges.max = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

#define GRIDMG_ALIGN 64

void *PCGridMGTake_Private(GridMGPool *pool, size_t bytes)
{
  char *part = pool->memory ? pool->memory + pool->taken + GRIDMG_ALIGN : NULL;

  pool->taken += (bytes + GRIDMG_ALIGN - 1) / GRIDMG_ALIGN * GRIDMG_ALIGN + 2 * GRIDMG_ALIGN;
  return part;
}

/* Memory for all that has been counted, zeroed: one allocation, or the one that is there. Nothing has been taken from it */
PetscErrorCode PCGridMGPoolGet_Private(PC_GridMG *mg, GridMGPool *pool)
{
  PetscFunctionBegin;
  if (mg->pool.bytes < pool->taken) {
    if (mg->pool.memory) PetscCall((*mg->kernels->free)(&mg->pool.memory));
    mg->pool.bytes = 0;
    PetscCall((*mg->kernels->alloc)(pool->taken, &mg->pool.memory));
    mg->pool.bytes = pool->taken;
  } else PetscCall((*mg->kernels->clear)(pool->taken, mg->pool.memory));
  pool->memory = (char *)mg->pool.memory;
  pool->taken  = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* All memory */
PetscErrorCode PCGridMGFreeAll_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(PCGridMGFreeScratch_Private(mg));
  for (int b = 0; b < 2; b++) PetscCall(FreeBlock_Private(&mg->staged[b]));
  PetscCall(PCGridMGDeviceReset_Private(mg));
  if (mg->pool.memory) PetscCall((*mg->kernels->free)(&mg->pool.memory));
  mg->pool.bytes = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_GridMG(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGFreeAll_Private(mg));
  PetscCall(PetscMemzero(mg->level, sizeof(mg->level)));
  PetscCall(PetscMemzero(mg->stencil, sizeof(mg->stencil)));
  mg->n         = 0;
  mg->setups    = 0;
  mg->failed[0] = 0;
  mg->built     = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
