/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/* PCGRIDMG with de Zeeuw's interpolation where the matrix is: which kernels work, the matrix as they read it, and applications on a device */

#include "gridmgimpl.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/lithecudagraph.h>
  #include <lithe/private/lithecudagridmg.h>
  #include <lithe/private/lithecudagridmgstencil.h>
  #include <petscdevice.h>

static const GridMGStencilKernels GridMGStencilDeviceKernels = {.enter     = LitheCUDAGridMGStencilEnter,
                                                                .leave     = LitheCUDAGridMGStencilLeave,
                                                                .start     = LitheCUDAGridMGStencilStart,
                                                                .colour    = LitheCUDAGridMGStencilColour,
                                                                .step      = LitheCUDAGridMGStencilStep,
                                                                .residual  = LitheCUDAGridMGStencilResidual,
                                                                .restrict_ = LitheCUDAGridMGStencilRestrict,
                                                                .prolong   = LitheCUDAGridMGStencilProlong,
                                                                .dense     = LitheCUDAGridMGStencilDense,
                                                                .read      = LitheCUDAGridMGStencilRead,
                                                                .weights   = LitheCUDAGridMGStencilWeights,
                                                                .product   = LitheCUDAGridMGStencilProduct,
                                                                .planes    = LITHE_CUDA_GRIDMG_PLANES,
                                                                .encode    = LitheCUDAGridMGStencilEncode};

PetscErrorCode PCGridMGChooseStencilKernels_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  PetscBool  is, bound = PETSC_TRUE;

  PetscFunctionBegin;
  PetscCall(PetscObjectTypeCompare((PetscObject)pc->pmat, MATSEQAIJCUSPARSE, &is));
  if (is) PetscCall(MatBoundToCPU(pc->pmat, &bound));
  PetscCall(PCGridMGDeviceReset_Private(mg));
  if (mg->device == bound) PetscCall(PCGridMGFreeAll_Private(mg)); /* it lies elsewhere now */
  mg->device         = (PetscBool)!bound;
  mg->kernels        = mg->device ? &GridMGDeviceKernels : &GridMGHostKernels;
  mg->stencilkernels = mg->device ? &GridMGStencilDeviceKernels : &GridMGStencilHostKernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGReadStencilsDevice_Private(PC pc, double rounding, PetscReal same, GridMGRead *found)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;
  GridMGCSR  rows;

  PetscFunctionBegin;
  PetscCall(MatSeqAIJCUSPARSEGetIJ(pc->pmat, PETSC_FALSE, &rows.i, &rows.j));
  PetscCall(MatSeqAIJCUSPARSEGetArrayRead(pc->pmat, &rows.a));
  PetscCall((*mg->stencilkernels->read)(&rows, rounding, (double)same, &mg->stencil[0].f, found));
  PetscCall(MatSeqAIJCUSPARSERestoreArrayRead(pc->pmat, &rows.a));
  PetscCall(MatSeqAIJCUSPARSERestoreIJ(pc->pmat, PETSC_FALSE, &rows.i, &rows.j));
  PetscFunctionReturn(PETSC_SUCCESS);
}

static PetscErrorCode Cycle_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  if (!mg->graph) {
    PetscCall(LitheCUDAGraphBegin());
    PetscCall(PCGridMGStencilCycle_Private(mg, 0, PETSC_TRUE));
    PetscCall(LitheCUDAGraphEnd(&mg->graph));
  }
  PetscCall(LitheCUDAGraphLaunch(mg->graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Vectors of the host go through memory of the device */
PetscErrorCode PCGridMGApplyDevice_Private(PC_GridMG *mg, Vec x, Vec y)
{
  GridMGStencilLevel *l = &mg->stencil[0];
  const size_t        bytes = (size_t)l->op.grid.cells * sizeof(PetscScalar);
  const PetscScalar  *px;
  PetscScalar        *py;
  void               *from, *to;
  PetscMemType        type[2];

  PetscFunctionBegin;
  PetscCall(VecGetArrayReadAndMemType(x, &px, &type[0]));
  PetscCall(VecGetArrayWriteAndMemType(y, &py, &type[1]));
  from = (void *)px;
  to   = py;
  if (PetscMemTypeHost(type[0])) {
    PetscCall(PCGridMGReserve_Private(mg, &mg->staged[0], bytes, &from));
    PetscCall((*mg->kernels->put)(bytes, px, from));
  }
  if (PetscMemTypeHost(type[1])) PetscCall(PCGridMGReserve_Private(mg, &mg->staged[1], bytes, &to));
  PetscCall(PetscLogGpuTimeBegin());
  PetscCall((*mg->stencilkernels->enter)(&l->op, (const PetscScalar *)from, l->b, mg->scale));
  PetscCall(Cycle_Private(mg));
  PetscCall((*mg->stencilkernels->leave)(&l->op, mg->factor, mg->scale, l->x[l->cur], (PetscScalar *)to));
  PetscCall(PetscLogGpuTimeEnd());
  if (PetscMemTypeHost(type[1])) PetscCall((*mg->kernels->get)(bytes, to, py));
  PetscCall(VecRestoreArrayWriteAndMemType(y, &py));
  PetscCall(VecRestoreArrayReadAndMemType(x, &px));
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGDeviceReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  PetscCall(LitheCUDAGraphFree(&mg->graph));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#else
PetscErrorCode PCGridMGChooseStencilKernels_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  mg->kernels        = &GridMGHostKernels;
  mg->stencilkernels = &GridMGStencilHostKernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGReadStencilsDevice_Private(PC pc, double rounding, PetscReal same, GridMGRead *found)
{
  PetscFunctionBegin;
  (void)rounding, (void)same, (void)found;
  SETERRQ(PetscObjectComm((PetscObject)pc), PETSC_ERR_PLIB, "There are no devices");
}

PetscErrorCode PCGridMGApplyDevice_Private(PC_GridMG *mg, Vec x, Vec y)
{
  PetscFunctionBegin;
  (void)mg, (void)y;
  SETERRQ(PetscObjectComm((PetscObject)x), PETSC_ERR_PLIB, "There are no devices");
}

PetscErrorCode PCGridMGDeviceReset_Private(PC_GridMG *mg)
{
  PetscFunctionBegin;
  (void)mg;
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif

/* Exact entries of a level on the host, point by point: as they are there, or in a block */
PetscErrorCode PCGridMGGetStencils_Private(PC_GridMG *mg, const GridMGStencils *f, GridMGBlock *block, GridMGStencils *host)
{
  const GridMGPoints *g     = &f->grid;
  const size_t        cells = (size_t)g->cells, values = cells * GRIDMG_PARTS, points = (size_t)g->points, all = values * (points + 1);
  double             *memory, *a;

  PetscFunctionBegin;
  *host = *f;
  if (!mg->device) PetscFunctionReturn(PETSC_SUCCESS);
  PetscCall(PCGridMGBlockGet_Private(block, (all + values * points) * sizeof(double), (void **)&memory));
  PetscCall((*mg->kernels->get)(values * points * sizeof(double), f->a, memory));
  PetscCall((*mg->kernels->get)(values * sizeof(double), f->sigma, memory + values * points));
  a = memory + all;
  for (size_t i = 0; i < cells; i++) {
    for (size_t s = 0; s < points; s++) {
      for (size_t p = 0; p < GRIDMG_PARTS; p++) a[(i * points + s) * GRIDMG_PARTS + p] = f->factor * memory[(s * cells + i) * GRIDMG_PARTS + p];
    }
  }
  for (size_t k = 0; k < values; k++) memory[values * points + k] *= f->factor;
  host->factor = 1;
  host->a      = a;
  host->sigma  = memory + values * points;
  host->weight = NULL;
  PetscFunctionReturn(PETSC_SUCCESS);
}
