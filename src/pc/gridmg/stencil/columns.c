/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCMatApply() of a PCGRIDMG with de Zeeuw's interpolation on a device: 4 or 8 columns at once. The cycle has vectors
   of several columns and the kernels for them. A sweep reads operators and weights once for all columns, and coarse
   levels cost as much as for one column.
*/

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include "../base/base.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/gridmg.h>
  #include <lithe/private/cuda/gridmgstencil.h>

/* A vector of a level; one point before and one after the vector may be read */
static void *TakeVector(PC_GridMG *mg, GridMGPool *pool, PetscInt level, int columns)
{
  const size_t point = (size_t)columns * GRIDMG_PARTS * GridMGNumberBytes(mg->found.precision);
  char        *part  = (char *)PCGridMGTake_Private(pool, ((size_t)mg->stencils.stencil[level].op.grid.cells + 2) * point);

  return part ? part + point : NULL;
}

/* The vectors of all levels, and the scales; the same sequence with and without memory */
static void TakeVectors(PC_GridMG *mg, int columns, GridMGPool *pool)
{
  void *vector[3];

  mg->stencils.columns.scale = (double *)PCGridMGTake_Private(pool, 2 * (size_t)columns * sizeof(double));
  for (PetscInt k = 0; k < mg->state.n; k++) {
    for (int v = 0; v < 3; v++) vector[v] = TakeVector(mg, pool, k, columns);
    PCGridMGSweepVectors_Private(&mg->stencils.several, k, vector[0], vector[1], vector[2]);
  }
}

/*
   Vectors of the levels and kernels for several columns. Memory with a new layout is zeroed, with the gaps between
   vectors
*/
static PetscErrorCode Widen_Private(PC_GridMG *mg, const GridMGColumnsKernels *kernels)
{
  const int   which = kernels->columns < GRIDMG_COLUMNS_MAX ? 0 : 1;
  GridMGPool  pool  = {NULL, 0, 0};
  const void *before;
  char       *memory;

  PetscFunctionBegin;
  PCGridMGSweepStart_Private(&mg->stencils.several, &kernels->cycle);
  TakeVectors(mg, kernels->columns, &pool);
  before = mg->stencils.columns.block[which].memory;
  PetscCall(PCGridMGReserve_Private(mg, &mg->stencils.columns.block[which], pool.taken, (void **)&memory));
  if (memory != before || mg->stencils.columns.layout[which] != pool.layout) {
    PetscCall(PCGridMGColumnsForget_Private(mg)); /* graphs have the former places */
    PetscCall((*mg->place.kernels->memory.clear)(pool.taken, memory));
    mg->stencils.columns.layout[which] = pool.layout;
  }
  PCGridMGPoolStart_Private(&pool, memory);
  TakeVectors(mg, kernels->columns, &pool);
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* A cycle, without the last steps */
typedef struct {
  PC_GridMG *mg;
  PetscInt   without;
} Work;

static PetscErrorCode Work_Private(void *ctx)
{
  const Work *w = (const Work *)ctx;

  PetscFunctionBegin;
  PetscCall(PCGridMGStencilCycle_Private(w->mg, &w->mg->stencils.several, 0, PETSC_TRUE, w->without));
  w->mg->stencils.columns.cur = w->mg->stencils.several.cur[0];
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cycle_Private(PC_GridMG *mg, const GridMGColumnsKernels *kernels, PetscInt without)
{
  LitheMGRecord *record = &mg->stencils.columns.record[kernels->columns < GRIDMG_COLUMNS_MAX ? 0 : 1];
  Work           work   = {mg, without};

  PetscFunctionBegin;
  PetscCall(LitheMGPlay(LitheMemoryOf(mg->place.device), record, mg->opt.graph, Work_Private, &work));
  PCGridMGSweepEnded_Private(&mg->stencils.several, mg->stencils.columns.cur);
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Sweep_Private(PC_GridMG *mg, const GridMGColumnsKernels *kernels, PetscInt n, const PetscScalar x[], PetscInt ldx, PetscScalar y[],
                                    PetscInt ldy)
{
  const GridMGSweep  *w = &mg->stencils.several;
  GridMGStencilLevel *l = &mg->stencils.stencil[0];
  const PetscBool last = (PetscBool)(mg->state.n > 1 && mg->opt.smooths[1] > 0 && mg->found.smoother != PCGRIDMG_SMOOTHER_REDBLACK); /* a step ends the cycle */

  PetscFunctionBegin;
  PetscCall(Widen_Private(mg, kernels));
  PetscCall((*kernels->enter)(&l->op, n, x, ldx, w->b[0], mg->stencils.columns.scale));
  PetscCall(Cycle_Private(mg, kernels, last ? 1 : 0));
  if (last)
    PetscCall(
      (*kernels->stepleave)(&l->op, PCGridMGStencilDamping_Private(mg), w->b[0], w->x[0][w->cur[0]], n, mg->found.factor, mg->stencils.columns.scale, y, ldy));
  else PetscCall((*kernels->leave)(&l->op, n, mg->found.factor, mg->stencils.columns.scale, w->x[0][w->cur[0]], y, ldy));
  PetscCall(PetscLogGpuFlops((PetscLogDouble)n * mg->application.flops));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode ApplyAtOnce_Private(PC_GridMG *mg, PetscInt n, const PetscScalar x[], PetscInt ldx, PetscScalar y[], PetscInt ldy)
{
  const GridMGColumnsKernels *kernels;

  PetscFunctionBegin;
  PetscCall(LitheCUDAGridMGColumnsGet(n, &kernels));
  PetscCall(Sweep_Private(mg, kernels, n, x, ldx, y, ldy));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/*
   Applies up to GRIDMG_COLUMNS_MAX columns at once, and leaves a single last column to the caller. done: the number of
   columns applied. done is 0 if X or Y is on the host, or if the values exceed 32-bit indices
*/
static PetscErrorCode ApplyOnDevice_Private(PC_GridMG *mg, Mat X, Mat Y, PetscInt *done)
{
  const PetscInt64   values = (PetscInt64)mg->stencils.stencil[0].op.grid.cells * GRIDMG_COLUMNS_MAX;
  const PetscScalar *x;
  PetscScalar       *y;
  PetscInt           n, ldx, ldy;
  PetscMemType       tx, ty;

  PetscFunctionBegin;
  *done = 0;
  if (values > PETSC_INT32_MAX) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(MatGetSize(X, NULL, &n));
  PetscCall(MatDenseGetLDA(X, &ldx));
  PetscCall(MatDenseGetLDA(Y, &ldy));
  PetscCall(MatDenseGetArrayReadAndMemType(X, &x, &tx));
  PetscCall(MatDenseGetArrayWriteAndMemType(Y, &y, &ty));
  if (!PetscMemTypeHost(tx) && !PetscMemTypeHost(ty)) {
    PetscCall(PetscLogGpuTimeBegin());
    while (n - *done > 1) {
      const PetscInt now = PetscMin(n - *done, GRIDMG_COLUMNS_MAX);

      PetscCall(ApplyAtOnce_Private(mg, now, x + (size_t)*done * (size_t)ldx, ldx, y + (size_t)*done * (size_t)ldy, ldy));
      *done += now;
    }
    PetscCall(PetscLogGpuTimeEnd());
  }
  PetscCall(MatDenseRestoreArrayWriteAndMemType(Y, &y));
  PetscCall(MatDenseRestoreArrayReadAndMemType(X, &x));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCMatApply_GridMG(PC pc, Mat X, Mat Y)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscInt   n, done = 0;

  PetscFunctionBegin;
  PetscCall(MatGetSize(X, NULL, &n));
  if (!pc->failedreason && mg->state.n) PetscCall(ApplyOnDevice_Private(mg, X, Y, &done));
  for (PetscInt j = done; j < n; j++) {
    Vec x, y;

    PetscCall(MatDenseGetColumnVecRead(X, j, &x));
    PetscCall(MatDenseGetColumnVecWrite(Y, j, &y));
    PetscCall(PCApply(pc, x, y));
    PetscCall(MatDenseRestoreColumnVecWrite(Y, j, &y));
    PetscCall(MatDenseRestoreColumnVecRead(X, j, &x));
  }
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* The records of applications to several columns */
PetscErrorCode PCGridMGColumnsForget_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (int k = 0; k < 2; k++) PetscCall(LitheMGForget(&mg->stencils.columns.record[k]));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGColumnsFree_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  for (int b = 0; b < 2; b++) PetscCall(PCGridMGBlockFree_Private(&mg->stencils.columns.block[b]));
  PetscFunctionReturn(PETSC_SUCCESS);
}
