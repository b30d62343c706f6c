/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* The context of a PCGRIDMG: its memory, its failure, and its reset */

#include "gridmgimpl.h"
#include <stdarg.h>

#define GRIDMG_ALIGN    64
#define GRIDMG_ROUNDING 16   /* a smaller row sum, in roundings, counts as 0 */
#define GRIDMG_NULL     1e-8 /* the same if the null space contains the constants */

/* The set-up has failed: KSP ends with KSP_DIVERGED_PC_FAILED, and SNES and TS may cut their steps */
PetscErrorCode PCGridMGFail_Private(PC pc, const char format[], ...)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  va_list    arguments;

  PetscFunctionBegin;
  va_start(arguments, format);
  PetscCall(PetscVSNPrintf(mg->report.failed, sizeof(mg->report.failed), format, NULL, arguments));
  va_end(arguments);
  /* several processes raise the error when all know of the failure: PCGridMGAgree_Private() */
  PetscCheck(!pc->erroriffailure || PCGridMGIsShared(mg), PetscObjectComm((PetscObject)pc), PETSC_ERR_NOT_CONVERGED, "-pc_type gridmg: %s", mg->report.failed);
  PetscCall(PetscInfo(pc, "%s\n", mg->report.failed));
  PetscCall(PCSetFailedReason(pc, PC_FACTOR_OTHER));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* rounding: a row sum below this part of the diagonal, or of the sum of moduli of a stencil, counts as 0 */
PetscErrorCode PCGridMGGetRounding_Private(PC pc, double *rounding)
{
  PetscBool    constant = PETSC_FALSE;
  MatNullSpace null;

  PetscFunctionBegin;
  *rounding = GRIDMG_ROUNDING * (double)PETSC_MACHINE_EPSILON;
  PetscCall(MatGetNullSpace(pc->pmat, &null));
  if (null) PetscCall(MatNullSpaceGetVecs(null, &constant, NULL, NULL));
  if (constant) *rounding = PetscMax(*rounding, GRIDMG_NULL);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Zeroed host memory of at least `bytes` bytes; the former content is lost */
PetscErrorCode PCGridMGBlockGet_Private(GridMGBlock *block, size_t bytes, void **memory)
{
  PetscFunctionBegin;
  if (block->bytes < bytes || block->kernels) {
    PetscCall(PCGridMGBlockFree_Private(block));
    PetscCall(PetscMalloc1(bytes, (char **)&block->memory));
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

/* How many numbers the arrays of a level have */
size_t PCGridMGFacesNumbers_Private(const GridMGGrid *grid, PetscBool symmetric)
{
  size_t arrays = 1;

  for (int d = 0; d < 3; d++) arrays += grid->n[d] > 1 ? (symmetric ? 1 : 2) : 0;
  return arrays * (size_t)grid->cells + (size_t)grid->wells;
}

/* The arrays of a level, not zeroed: sigma and up, and down if the matrix may be nonsymmetric */
PetscErrorCode PCGridMGFacesCreate_Private(PC_GridMG *mg, const GridMGGrid *grid, PetscBool symmetric, GridMGFaces *f)
{
  double *memory;

  PetscFunctionBegin;
  PetscCall(PetscMemzero(f, sizeof(*f)));
  f->grid      = *grid;
  f->symmetric = symmetric;
  PetscCall(PCGridMGArenaTake_Private(mg, PCGridMGFacesNumbers_Private(grid, symmetric) * sizeof(double), (void **)&memory));
  f->sigma = memory;
  memory += grid->cells + grid->wells;
  for (int side = 0; side < (symmetric ? 1 : 2); side++) {
    for (int d = 0; d < 3; d++) {
      if (grid->n[d] < 2) continue;
      f->down[d] = memory;
      if (!side) f->up[d] = memory;
      memory += grid->cells;
    }
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Each level of cells has its share of the domain */
void PCGridMGLevelsStart_Private(PC_GridMG *mg)
{
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) mg->aggregation.level[k].share = &mg->domain.share[k];
}

/* Exact entries, and scaled copies of the rows */
PetscErrorCode PCGridMGFreeScratch_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) {
    GridMGLevel *l = &mg->aggregation.level[k];

    for (int b = 0; b < 2; b++) PetscCall(PCGridMGBlockFree_Private(&l->exact.list[b]));
    PetscCall(PCGridMGBlockFree_Private(&mg->stencils.level[k].block));
    PetscCall(PCGridMGBlockFree_Private(&mg->stencils.level[k].share.entries));
    PetscCall(PetscMemzero(&mg->stencils.level[k].f, sizeof(mg->stencils.level[k].f)));
    PetscCall(PetscMemzero(&l->exact.faces, sizeof(l->exact.faces)));
    l->exact.alive = NULL;
  }
  for (int b = 0; b < GRIDMG_ARENA_BLOCKS; b++) PetscCall(PCGridMGBlockFree_Private(&mg->memory.arena.block[b]));
  mg->memory.arena.current = 0;
  mg->memory.arena.taken   = 0;
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.dense));
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.work));
  PetscCall(MatDestroy(&mg->scaling.matrix));
  PetscCall(PetscFree(mg->aggregation.edges.edge));
  mg->aggregation.edges.n = mg->aggregation.edges.max = 0;
  PetscCall(PetscFree(mg->aggregation.additions.addition));
  mg->aggregation.additions.n = mg->aggregation.additions.max = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
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

/* The records of applications to several columns */
PetscErrorCode PCGridMGColumnsFree_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(LitheMGForget(&mg->stencils.columns.record[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Frees the data of one set-up; all: also memory that the next set-up could use */
PetscErrorCode PCGridMGFreeApplication_Private(PC_GridMG *mg, PetscBool all)
{
  PetscFunctionBegin;
#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  if (mg->aggregation.small.kernel && all) PetscCall((*GridMGDeviceKernels.cycle.smallfree)(&mg->aggregation.small.kernel));
#endif
  PetscCall(LitheMGForget(&mg->record));
  PetscCall(PCGridMGColumnsFree_Private(mg));
  for (PetscInt k = 0; k < GRIDMG_LEVELS_MAX; k++) PetscCall(PetscMemzero(mg->aggregation.level[k].shape, sizeof(mg->aggregation.level[k].shape)));
  mg->aggregation.small.from = 0;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCReset_GridMG(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PetscCall(PCGridMGFreeScratch_Private(mg));
  PetscCall(PCGridMGFreeApplication_Private(mg, PETSC_TRUE));
  PetscCall(PCGridMGShareFree_Private(mg, 0));
  PetscCall(PCGridMGStencilShareFree_Private(mg));
  PetscCall(PetscFree2(mg->domain.whole.count, mg->domain.whole.from));
  PetscCall(PCGridMGCrossingFree_Private(mg));
  PetscCall(LitheReduceDestroy(&mg->domain.sums.reduce));
  PetscCall(PCGridMGBlockFree_Private(&mg->domain.sums.there));
  PetscCall(PetscMemzero(&mg->domain.team, sizeof(mg->domain.team)));
  PetscCall(PetscMemzero(&mg->domain.whole, sizeof(mg->domain.whole)));
  mg->place.apart = PETSC_FALSE;
  PetscCall(PCGridMGBlockFree_Private(&mg->place.moved));
  for (int b = 0; b < 2; b++) PetscCall(PCGridMGBlockFree_Private(&mg->stencils.columns.block[b]));
  PetscCall(PCGridMGBlockFree_Private(&mg->memory.pool));
  PetscCall(VecDestroy(&mg->application.x));
  PetscCall(VecDestroy(&mg->application.y));
  PetscCall(VecDestroy(&mg->scaling.left));
  PetscCall(VecDestroy(&mg->scaling.right));
  for (int k = 0; k < 2; k++) PetscCall(VecDestroy(&mg->scaling.work[k]));
  mg->scaling.how = LITHE_NEAR_NULL_CONSTANT;
  PetscCall(PetscMemzero(mg->aggregation.level, sizeof(mg->aggregation.level)));
  PCGridMGLevelsStart_Private(mg);
  PetscCall(PetscMemzero(mg->stencils.level, sizeof(mg->stencils.level)));
  mg->state.n          = 0;
  mg->state.setups     = 0;
  mg->state.linear     = PETSC_FALSE;
  mg->report.failed[0] = 0;
  mg->state.built      = PETSC_FALSE;
  PetscFunctionReturn(PETSC_SUCCESS);
}
