/* SPDX-License-Identifier: BSD-2-Clause
   SPDX-FileCopyrightText: 2026 The Lithe developers
   This file is part of Lithe, a plugin for PETSc. */

/*
   PCGRIDMG with de Zeeuw's interpolation at the place of the matrix: the choice of kernels, and the matrix as they read
   it
*/

#include <lithe/private/gridmg/parts.h>
#include "stencil.h"
#include "../base/base.h"

#if PetscDefined(HAVE_CUDA) && defined(LITHE_HAVE_CUDA)
  #include <lithe/private/cuda/gridmg.h>
  #include <lithe/private/cuda/gridmgstencil.h>

static const GridMGStencilKernels GridMGStencilDeviceKernels = {.largest   = LitheCUDAGridMGStencilLargest,
                                                                .enter     = LitheCUDAGridMGStencilEnter,
                                                                .leave     = LitheCUDAGridMGStencilLeave,
                                                                .start     = LitheCUDAGridMGStencilStart,
                                                                .colour    = LitheCUDAGridMGStencilColour,
                                                                .step      = LitheCUDAGridMGStencilStep,
                                                                .residual  = LitheCUDAGridMGStencilResidual,
                                                                .restrict_ = LitheCUDAGridMGStencilRestrict,
                                                                .prolong   = LitheCUDAGridMGStencilProlong,
                                                                .down      = LitheCUDAGridMGStencilDown,
                                                                .up        = LitheCUDAGridMGStencilUp,
                                                                .dense     = LitheCUDAGridMGStencilDense,
                                                                .read      = LitheCUDAGridMGStencilRead,
                                                                .scale     = LitheCUDAGridMGStencilScale,
                                                                .weights   = LitheCUDAGridMGStencilWeights,
                                                                .product   = LitheCUDAGridMGStencilProduct,
                                                                .planes    = LITHE_CUDA_GRIDMG_PLANES,
                                                                .encode    = LitheCUDAGridMGStencilEncode};

PetscErrorCode PCGridMGChooseStencilKernels_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  /* with rows on the host the levels are made on the host */
  if (PCGridMGIsParallel(mg)) {
    PetscBool are = PETSC_FALSE;

    if (mg->place.cuda) PetscCall(PCGridMGRowsGetAll_Private(pc, &are));
    PCGridMGPlaceKernels_Private(mg, are);
  }
  PCGridMGPlaceLevels_Private(mg, (PetscBool)(mg->place.kernels == &GridMGDeviceKernels));
  if (!mg->place.device) PetscCall(PCGridMGRowsMatrix_Private(pc));
  mg->stencils.kernels = mg->place.device ? &GridMGStencilDeviceKernels : &GridMGStencilHostKernels;
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Codes in the order of a device, in place */
static PetscErrorCode Pack_Private(const GridMGStencilOperator *op)
{
  const size_t code  = (op->bits == 32 ? GridMGNumberBytes(op->precision) : (size_t)op->bits / 8) * GRIDMG_PARTS;
  const size_t count = GRIDMG_CODES_OF(code), points = (size_t)op->grid.points, groups = (points + count - 1) / count;
  const size_t pitch = (size_t)op->pitch, bytes = pitch * groups * count * code;
  char        *codes = (char *)op->code, *packed;

  PetscFunctionBegin;
  PetscCall(PetscCalloc1(bytes, &packed));
  for (size_t s = 0; s < points; s++) {
    for (size_t i = 0; i < pitch; i++) {
      const size_t place = (i / GRIDMG_GROUP * groups + s / count) * GRIDMG_GROUP + i % GRIDMG_GROUP;

      memcpy(packed + (place * count + s % count) * code, codes + (s * pitch + i) * code, code);
    }
  }
  memcpy(codes, packed, bytes);
  PetscCall(PetscFree(packed));
  PetscFunctionReturn(PETSC_SUCCESS);
}

/* Copies the levels of several processes from the host to the devices of the matrix, with one copy */
PetscErrorCode PCGridMGMoveStencils_Private(PC pc)
{
  PC_GridMG  *mg   = (PC_GridMG *)pc->data;
  const char *host = (const char *)mg->memory.pool.memory;
  GridMGPool  pool = {NULL, 0, 0};
  char       *there;

  PetscFunctionBegin;
  if (mg->place.device || !PCGridMGIsParallel(mg) || !mg->place.cuda) PetscFunctionReturn(PETSC_SUCCESS);
  for (PetscInt k = 0; k < mg->state.n; k++) PetscCall(Pack_Private(&mg->stencils.stencil[k].op));
  PCGridMGTakeStencils_Private(mg, &pool);
  PetscCall(PCGridMGMove_Private(mg, pool.taken, host, &there));
  mg->stencils.kernels = &GridMGStencilDeviceKernels;
  PCGridMGPoolStart_Private(&pool, there);
  PCGridMGTakeStencils_Private(mg, &pool);
  PetscFunctionReturn(PETSC_SUCCESS);
}

#else
PetscErrorCode PCGridMGMoveStencils_Private(PETSC_UNUSED PC pc)
{
  PetscFunctionBegin;
  PetscFunctionReturn(PETSC_SUCCESS);
}

PetscErrorCode PCGridMGChooseStencilKernels_Private(PC pc)
{
  PC_GridMG *mg = (PC_GridMG *)pc->data;

  PetscFunctionBegin;
  PCGridMGPlaceLevels_Private(mg, PETSC_FALSE);
  PCGridMGPlaceKernels_Private(mg, PETSC_FALSE);
  mg->stencils.kernels = &GridMGStencilHostKernels;
  PetscCall(PCGridMGRowsMatrix_Private(pc));
  PetscFunctionReturn(PETSC_SUCCESS);
}
#endif
